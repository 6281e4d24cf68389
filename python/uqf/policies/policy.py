"""What a policy is, and what all policies in Python share."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf import _core
from uqf._core import AutomatonPolicy as AutomatonPolicy
from uqf._core import BeliefPolicy as BeliefPolicy
from uqf._core import CompiledPolicy as CompiledPolicy
from uqf._core import ContextPolicy as ContextPolicy
from uqf._core import FilterPolicy as FilterPolicy
from uqf._core import ForestPolicy as ForestPolicy
from uqf._core import ObservationPolicy as ObservationPolicy
from uqf._core import SummaryPolicy as SummaryPolicy
from uqf._core import TablePolicy as TablePolicy
from uqf.episodes.checks import instance, number
from uqf.episodes.columns import columns_of
from uqf.episodes.trajectories import Trajectories
from uqf.errors import kind_of
from uqf.policies.masks import given_allowed
from uqf.types import Memory, Raw, Record

FloatArray = NDArray[np.float64]

#: Numbers that are held at once.
MAX_CELLS = 2_000_000


@runtime_checkable
class Policy(Protocol):
    """A rule for choosing actions, separate from its memory (`state`) of one episode.

    A policy must offer `initial_state` and `update`, and either `action_probs` (preferred: the probability of
    every action is then recorded in rollouts) or `action`, which is taken to be deterministic. Those of this
    package also have `q_values`, `temperature`, `with_temperature`, `greedy`, `n_actions` and `n_observations`.

    A policy whose attribute `column_sizes`, (d,), is there and not None looks at raw columns rather than at codes:
    wherever others are given the code of an observation (`observation` of `update`, `first` of `initial_state`) it is
    given the columns, a float32 array (d,): numbers as they are, categories by code, NaN where a value is missing; see
    `uqf.episodes.columns.columns_of`. Its batches take (n, d) instead of (n,), its `probs_along` and `q_values_along`,
    if it has them, read `columns_of(data)`. Trap: in worlds whose observations are codes d is 1, and `update` and
    `initial_state` are then also given the code itself, a plain integer.

    Examples
    --------
    A policy for Tiger that opens the other door when it heard the tiger twice more on one side:

    >>> import uqf
    >>> class Counting:
    ...     def initial_state(self):
    ...         return 0
    ...     def update(self, state, action, observation):
    ...         return 0 if action else state + (1 if observation else -1)
    ...     def action(self, state, rng=None):
    ...         return {2: 1, -2: 2}.get(state, 0)
    >>> isinstance(Counting(), uqf.Policy)
    True
    >>> uqf.estimate_return(uqf.make("tiger"), Counting(), episodes=200, seed=0).mean > 0
    True
    """

    def initial_state(self) -> Memory:
        """Memory at the start of an episode.

        With a parameter `first` (None by default) it sees the observation that some worlds show before the first
        action, as the `reset` of Gymnasium does; without, it does not see it.
        """

    def update(self, state: Memory, action: int, observation: int) -> Memory:
        """Memory after one more step; must not change `state` in place."""


class ValuePolicy:
    """A policy in Python that says what actions are worth; subclasses add `initial_state`, `update`, `q_values`.

    `parts()` of a subclass are the arguments that make it again; with them it can be saved.
    """

    n_actions: int
    n_observations: int
    #: 0 acts greedily, ties by chance; otherwise actions are drawn from softmax(q_values / temperature).
    temperature: float = 0.0
    #: Which actions the log says anything about, (n_actions,); the others have probability 0. None: all.
    supported: NDArray[np.bool_] | None = None

    def q_values(self, state: Memory) -> FloatArray:
        """What each action is worth, (n_actions,), after this memory."""
        raise TypeError(f"{type(self).__name__} does not say what actions are worth: give it q_values()")

    def action_probs(self, state: Memory) -> FloatArray:
        """Probability of every action, (n_actions,)."""
        return softmax(self.q_values(state), self.temperature, self.supported)

    def action(self, state: Memory, rng: np.random.Generator | None = None) -> int:
        """An action: drawn with `rng`, or the most probable (the first of several) without."""
        probs = self.action_probs(state)
        if rng is not None:
            instance("rng", rng, np.random.Generator, "one of numpy.random.default_rng()")
        return int(probs.argmax() if rng is None else rng.choice(len(probs), p=probs))

    def with_temperature(self, temperature: float) -> Self:
        """The same values, acted on at another temperature."""
        other = copy.copy(self)
        other.temperature = checked_temperature(temperature)
        return other

    def with_support(self, supported: ArrayLike | None) -> Self:
        """The same values, of which only those of the marked actions, (n_actions,), count; None: all."""
        other = copy.copy(self)
        other.supported = checked_support(supported, self.n_actions)
        return other

    def greedy(self) -> Self:
        return self.with_temperature(0.0)

    def __repr__(self) -> str:
        acts = "greedy" if self.temperature == 0.0 else f"temperature {self.temperature:.4g}"
        return f"{type(self).__name__}({self.n_actions} actions, {self.n_observations} observations, {acts})"


def checked_temperature(temperature: float) -> float:
    """A temperature, or an error that shows it."""
    if not 0.0 <= number("temperature", temperature) < np.inf:
        raise ValueError(f"temperature = {temperature}: give 0 (greedy) or a positive number")
    return float(temperature)


def checked_support(supported: ArrayLike | None, n_actions: int) -> NDArray[np.bool_] | None:
    """A mask of actions, or an error that shows its shape."""
    if supported is None:
        return None
    try:
        mask = np.array(supported, np.bool_)
    except ValueError as error:
        raise ValueError(f"supported is no list of booleans: {error}") from None
    if mask.shape != (n_actions,):
        raise ValueError(f"supported has shape {mask.shape}: there are {n_actions} actions")
    return mask


def softmax(
    values: ArrayLike, temperature: float = 1.0, supported: NDArray[np.bool_] | None = None
) -> FloatArray:
    """Probabilities along the last axis; at temperature 0 the best share alike.

    Actions that are not `supported`, and those of value −inf, have probability 0. Values that are no numbers decide
    nothing: with a NaN the finite ones share alike; with +inf, or without any finite value, the supported actions do,
    or all of them if none is supported.
    """
    given = np.asarray(values, np.float64)
    rows = given.reshape(-1, given.shape[-1])
    return _core.softmax(rows, temperature, supported).reshape(given.shape)


def shown_by_states(parts: Record) -> list[NDArray[np.float32]]:
    """What the states of every model of a `BeliefPolicy` show, from its `parts()`: (n_observations, states) each.

    Probabilities. Clones show one observation, or some rare ones; of what was never seen nothing is known, and it is 1
    in all states.
    """
    sizes, ranges = np.asarray(parts["states"]), np.asarray(parts["ranges"])
    if len(parts["shown"]):
        each = np.split(np.asarray(parts["shown"], np.float32), np.cumsum(sizes * ranges.shape[1])[:-1])
        return [shown.reshape(-1, size) for shown, size in zip(each, sizes, strict=True)]
    return [
        ((np.arange(size) >= pairs[:, :1]) & (np.arange(size) < pairs[:, 1:])).astype(np.float32)
        for size, pairs in zip(sizes, ranges, strict=True)
    ]


def checked_probs(probs: ArrayLike, n_actions: int) -> FloatArray:
    """Probabilities that a policy returned, or an error that shows them."""
    array = np.ascontiguousarray(probs, np.float64)
    if array.shape != (n_actions,):
        raise ValueError(f"policy.action_probs returned shape {array.shape}: there are {n_actions} actions")
    if not np.all(array >= 0.0) or not abs(array.sum() - 1.0) <= 1e-6:
        raise ValueError(f"policy.action_probs returned {array.tolist()}: not a probability distribution")
    normalised: FloatArray = array / array.sum()
    return normalised


def checked_action(action: object, n_actions: int) -> int:
    """An action that a policy returned, or an error that shows it."""
    if not isinstance(action, (int, np.integer)) or isinstance(action, bool):
        raise TypeError(f"policy.action returned {action!r}: give an integer action")
    if not 0 <= action < n_actions:
        raise ValueError(f"policy.action returned {action}: choose 0 to {n_actions - 1}")
    return int(action)


def chooser(policy: Policy, n_actions: int) -> Callable[[Memory, np.random.Generator], FloatArray]:
    """How this policy gives its action probabilities: ``choose(state, rng)``, checked at every call."""
    for method in ("initial_state", "update"):
        if not callable(getattr(policy, method, None)):
            raise TypeError(f"policy is {kind_of(policy)} without {method}(); see uqf.Policy")
    probs_of, action_of = getattr(policy, "action_probs", None), getattr(policy, "action", None)
    if callable(probs_of):
        return lambda state, rng: checked_probs(probs_of(state), n_actions)
    if callable(action_of):
        one_hot = np.eye(n_actions)
        return lambda state, rng: one_hot[checked_action(action_of(state, rng), n_actions)]
    raise TypeError(f"policy is {kind_of(policy)} without action_probs() or action(); see uqf.Policy")


def logged_probs(policy: Policy | None, data: Trajectories) -> FloatArray:
    """π(a | h) of every logged action, (n_steps,)."""
    return np.concatenate(
        [probs_along(policy, part)[np.arange(part.n_steps), part.actions] for part in in_parts(data)]
    )


def in_parts(data: Trajectories) -> Iterator[Trajectories]:
    """The episodes, some at a time: numbers of all actions may not fit into memory."""
    episodes = max(1, len(data) * MAX_CELLS // (data.n_steps * data.n_actions))
    return (data[first : first + episodes] for first in range(0, len(data), episodes))


def started(policy: Policy, first: Raw = None) -> Memory:
    """The memory of a policy at the start of an episode that showed `first`, or nothing, before the first action."""
    if first is None:
        return policy.initial_state()
    begin: Callable[..., Memory] = policy.initial_state
    if isinstance(policy, CompiledPolicy) or "first" in inspect.signature(begin).parameters:
        return begin(first=first)
    return begin()


def remembered(policy: Policy, history: Iterable[tuple[int, int]]) -> Memory:
    """The memory of a policy after a history, a list of (action, observation)."""
    state = policy.initial_state()
    for step in history if isinstance(history, Iterable) else [history]:
        if not isinstance(step, Sequence | np.ndarray) or len(step) != 2:
            raise TypeError(f"histories: {step!r} is no pair of action and observation")
        state = policy.update(state, *step)
    return state


def probs_along(policy: Policy | None, data: Trajectories) -> FloatArray:
    """π(a | h) of every action before every logged step, shape (n_steps, n_actions); 0 for what was not allowed.

    The policy remembers what was logged, not what it would have done. Policies in Python are called once a
    step; compiled ones are replayed in the core. None is the uniform policy. See `given_allowed` for masks.
    """
    if policy is None:
        return given_allowed(np.full((data.n_steps, data.n_actions), 1.0 / data.n_actions), data.allowed)
    own = getattr(policy, "probs_along", None)
    if callable(own):
        probs = own(data)
    else:
        choose, rng = chooser(policy, data.n_actions), np.random.default_rng(0)
        probs = np.stack([choose(memory, rng) for memory in memories_along(policy, data)])
    return given_allowed(probs, data.allowed, _values_along(policy, data), getattr(policy, "supported", None))


def _values_along(policy: Policy, data: Trajectories) -> Callable[[], FloatArray] | None:
    """What gives the worth of every action before every logged step, if the policy says it."""
    own, values_of = (getattr(policy, name, None) for name in ("q_values_along", "q_values"))
    if callable(own):
        return lambda: own(data)
    if not callable(values_of):
        return None
    return lambda: np.stack([values_of(memory) for memory in memories_along(policy, data)])


def memories_along(policy: Policy, data: Trajectories) -> Iterator[Memory]:
    """The memory of a policy before every logged step."""
    seen: Sequence[Raw] = data.observations.tolist()
    first: Sequence[Raw] = (
        [None] * len(data) if data.first_observations is None else data.first_observations.tolist()
    )
    if wants_columns(policy):
        columns, shown, _ = columns_of(data)
        seen, first = list(columns), first if shown is None else list(shown)
    actions = data.actions.tolist()
    for begin, end, opening in zip(data.offsets[:-1], data.offsets[1:], first, strict=True):
        memory = started(policy, opening)
        for step in range(begin, end):
            yield memory
            if step + 1 < end:
                memory = policy.update(memory, actions[step], seen[step])


def wants_columns(policy: object) -> bool:
    """Whether a policy looks at raw columns rather than at codes."""
    return getattr(policy, "column_sizes", None) is not None
