"""POMCP: online planning with a perfect simulator (Silver and Veness, 2010)."""

from __future__ import annotations

from functools import partial
from typing import Literal, Self

from uqf import _core
from uqf.errors import kind_of
from uqf.types import Record
from uqf.worlds.environments import Environment


class POMCP(_core.Pomcp):
    """Plans at every step by simulating the environment: particles for the belief, UCT for the search.

    It learns nothing from data and is given the true simulator: a reference for learners, not a rival on equal
    terms. `uqf.rollout` and `uqf.estimate_return` play its episodes in parallel; every episode's search has
    its own random numbers, so results have the same bits with any number of threads.

    Parameters
    ----------
    env : Environment
        The simulator to plan with; also says how long an episode is (planning does not look beyond its end).
    simulations : int
        Simulated episodes per real step.
    rollouts : "legal", "preferred" or "uniform"
        How simulations go on beyond the search tree: any legal action, an action that a sensible player
        prefers (worlds without such advice: any legal one), or any action at all.
    exploration : float, optional
        Constant of UCB1; by default the range of the environment's rewards. Where random play is ruinous, as
        in Tiger, that is too little for "legal" rollouts: take "preferred" ones, or a larger constant.
    particles : int, optional
        Size of the belief; as many as simulations by default.
    discount : float, optional
        The environment's own by default. Steps whose weight is below 0.01 are not simulated.
    seed : int
        Of the search; `rollout` mixes it with its own seed and the number of the episode.

    Notes
    -----
    Step by step: ``state = planner.initial_state()``, ``planner.action(state)``, ``planner.q_values(state)``,
    ``state = planner.update(state, action, observation)``. A state is immutable and holds a finished search:
    `update` is the expensive call. In a `rollout` the recorded behaviour probabilities are those *given* the
    search (one without epsilon), not over its random numbers.

    When no particle explains what was seen, perturbed ones are tried, then those that come nearest are kept;
    if the episode should have ended in every particle, actions are uniform from there on.

    Examples
    --------
    >>> import uqf
    >>> env = uqf.make("tiger")
    >>> planner = uqf.baselines.POMCP(env, simulations=64, seed=0)
    >>> planner.q_values(planner.initial_state()).shape
    (3,)
    """

    def __new__(
        cls,
        env: Environment,
        *,
        simulations: int = 1024,
        rollouts: Literal["legal", "preferred", "uniform"] = "legal",
        exploration: float | None = None,
        particles: int | None = None,
        discount: float | None = None,
        seed: int = 0,
    ) -> Self:
        if not isinstance(env, Environment):
            raise TypeError(f"env is {kind_of(env)}: give uqf.make(…), uqf.load_pomdp(…) or a TabularPOMDP")
        parameters: Record = {
            "simulations": simulations,
            "rollouts": rollouts,
            "exploration": exploration,
            "particles": simulations if particles is None else particles,
            "discount": env.discount if discount is None else discount,
            "seed": seed,
        }
        planner = super().__new__(cls, env.world, horizon=env.horizon, **parameters)
        planner.env, planner.parameters = env, parameters
        return planner

    env: Environment
    parameters: Record

    def with_temperature(self, temperature: float) -> Self:
        """Itself for 0; a search acts greedily."""
        if temperature != 0.0:
            raise ValueError(f"temperature = {temperature}: a search acts greedily, give 0")
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), **self.parameters), (self.env,)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items() if value is not None)
        return f"POMCP({self.env.name}, {given})"
