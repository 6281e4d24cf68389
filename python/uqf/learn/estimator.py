"""UQF: the learner that users meet."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from uqf.errors import NotFittedError
from uqf.learn.belief_automata import belief_automata
from uqf.learn.clones import CloneLearner, FittedClones
from uqf.learn.contexts import ContextLearner
from uqf.learn.diagnostics import memory_spectrum, of_beliefs, of_contexts, of_spectral
from uqf.learn.gain import Baseline, policy_gain
from uqf.learn.incremental import Incremental
from uqf.learn.progress import Progress
from uqf.learn.shards import source_of
from uqf.learn.spectral_memory import FittedSpectral, SpectralLearner
from uqf.learn.state import Basis, Target
from uqf.model_file import save
from uqf.model_header import Origin
from uqf.policies import AutomatonPolicy, SumPolicy
from uqf.trajectories import Trajectories

FloatArray = NDArray[np.float64]
History = Sequence[tuple[int, int]]

MEMORIES = ("beliefs", "contexts", "spectral")


class UQF(Incremental, BaseEstimator):  # type: ignore[misc]
    """Learns from episodes what every action is worth after any history, and acts on it.

    Called with data only, it chooses everything else from them; `diagnostics_` tells what it chose.

    Parameters
    ----------
    rank : int, optional
        Size of a spectral state (every direction above rounding by default). Giving it chooses memory="spectral".
    discount : float in [0, 1]
        Of the returns that the policy shall maximise.
    memory : "beliefs", "contexts" or "spectral", optional
        What the policy remembers of an episode. "beliefs": over the states of cloned hidden Markov models, with
        advantages by two linear regressions; the best on every task of ours from a fixed log, and the default.
        "contexts": the last `depth` symbols; the fastest, and what policy iteration steps on. "spectral": the
        state of an automaton learned in two passes, the paper's way; chosen when `rank`, `projection`,
        target="reward" or occurrences="start" is given.
    target : "return" or "reward" (spectral)
        What a history is worth: the discounted return from there on, learned directly, or the reward it ends
        with, summed over all futures by one linear solve (the paper's way).
    occurrences : "anywhere" or "start" (spectral)
        Whether prefixes are counted at every step or only from the first one (the paper's way).
    max_prefix, max_suffix, n_prefixes, n_suffixes, projection, prefix_dim, suffix_dim (spectral)
        The words that index the Hankel matrix and how it is compressed; see `Basis`.
    offset : float (spectral)
        Added to every return. It never changes which action is best, but may condition the state better.
    window : int, optional (spectral)
        Act on the last so many symbols only; None remembers the whole episode.
    temperature : float, optional
        0 acts greedily, more acts by chance: softmax(q_values / temperature). By default spectral policies are
        greedy, the others act at a temperature in proportion to the noise of their values.
    on_divergence : "refuse", "horizon", "shrink" or "lower-rank" (spectral)
        What to do if the sum over futures diverges (target "reward" only).
    behavior : (AutomatonPolicy, epsilon), optional (spectral)
        The ε-greedy policy that collected the data, for dividing by its probabilities as the paper does. By
        default the data are taken to come from a policy that does not look at the history.
    learning_discount : float, optional (beliefs, contexts)
        Discount of the learned advantages; chosen from the data by default.
    states, models, iterations : int (beliefs)
        Hidden states of a model, number of models, passes of their training.
    depth : int (contexts)
        Longest context.
    forgetting : float in (0, 1] (spectral)
        What the weight of all older data is multiplied by at every `partial_fit`.

    Attributes
    ----------
    policy_, diagnostics_, singular_values_, n_features_in_
    wfa_, value_wfa_ : automata behind the policy (not with contexts). Spectral: B of rewards (equal to A for
        target "return") and A of values. Beliefs: the likeliest model's probability of a history, and that
        times the value of what follows under the logged behaviour.
    """

    policy_: Any

    def __init__(
        self,
        rank: int | None = None,
        discount: float = 0.99,
        *,
        memory: str | None = None,
        target: str = "return",
        occurrences: str = "anywhere",
        max_prefix: int = 3,
        max_suffix: int = 3,
        n_prefixes: int | None = None,
        n_suffixes: int | None = None,
        projection: str | None = None,
        prefix_dim: int = 200,
        suffix_dim: int = 200,
        offset: float = 0.0,
        window: int | None = None,
        temperature: float | None = None,
        on_divergence: str = "horizon",
        behavior: tuple[AutomatonPolicy, float] | None = None,
        learning_discount: float | None = None,
        states: int = 60,
        models: int = 4,
        iterations: int = 200,
        depth: int = 3,
        forgetting: float = 1.0,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.rank = rank
        self.discount = discount
        self.memory = memory
        self.target = target
        self.occurrences = occurrences
        self.max_prefix = max_prefix
        self.max_suffix = max_suffix
        self.n_prefixes = n_prefixes
        self.n_suffixes = n_suffixes
        self.projection = projection
        self.prefix_dim = prefix_dim
        self.suffix_dim = suffix_dim
        self.offset = offset
        self.window = window
        self.temperature = temperature
        self.on_divergence = on_divergence
        self.behavior = behavior
        self.learning_discount = learning_discount
        self.states = states
        self.models = models
        self.iterations = iterations
        self.depth = depth
        self.forgetting = forgetting
        self.seed = seed
        self.threads = threads

    @classmethod
    def paper(cls, rank: int | None = None, discount: float = 0.99, **parameters: Any) -> UQF:
        """The paper's estimator exactly: immediate rewards, words from the first step, one linear solve."""
        paper_ways = {"memory": "spectral", "target": "reward", "occurrences": "start"}
        return cls(rank, discount, **(paper_ways | parameters))

    def fit(
        self,
        data: Any,
        y: None = None,
        *,
        executor: Any = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> UQF:
        """Learns from episodes; `y` is ignored (scikit-learn passes it).

        Parameters
        ----------
        data : Trajectories; with spectral memory also `uqf.Shards` or the path of a folder of Parquet files
            Shards are read twice, a batch at a time, and never held in memory together.
        executor : concurrent.futures.Executor or distributed.Client, optional (spectral)
            Where the shards are read. The result has the same bits with any executor or none.
        progress : callable, optional
            Called now and then with a `Progress`: the stage, how far it is, the time left. (Not with contexts,
            which take no time worth telling.)
        """
        data, memory = self._check(data), self._memory()
        if memory != "spectral" and (executor or not isinstance(data, Trajectories)):
            raise ValueError(
                f'memory = "{memory}": shards and executor are for spectral memory; use '
                'UQF(memory="spectral", …), or read the data with uqf.read_log and fit without them'
            )
        if hasattr(self, "statistics_"):
            del self.statistics_
        if memory == "spectral":
            self._keep_spectral(self.spectral_learner().fit(data, executor, progress))
        elif memory == "beliefs":
            self._keep_beliefs(self.clone_learner().fit(data, self.discount, progress), data)
        else:
            self._keep_contexts(self.context_learner().fit(data), data)
        return self._finish(data, memory)

    def fit_tasks(self, tasks: Sequence[Trajectories]) -> list[UQF]:
        """Learns several tasks of one world together; returns a fitted learner for each, in the same order.

        Tasks share actions, observations and dynamics and differ in rewards and ends. They are given one belief
        state, learned from the episodes of all, and each its own rewards, values and policy: many tasks with few
        episodes each know the world as well as one with many. For memory="beliefs" only.
        """
        if len(tasks) == 0 or not all(isinstance(data, Trajectories) for data in tasks):
            kinds = sorted({type(data).__name__ for data in tasks})
            raise ValueError(
                f"tasks has {len(tasks)} entries ({', '.join(kinds)}): give a list of uqf.Trajectories, one "
                "for every task"
            )
        sizes = {(data.n_actions, data.n_observations) for data in tasks}
        if len(sizes) > 1:
            raise ValueError(
                f"tasks of {sorted(sizes)} actions and observations: all must have the same, being of one world"
            )
        for data in tasks:
            self._check(data)
        if self._memory() != "beliefs":
            raise ValueError(f'memory = "{self._memory()}": only memory="beliefs" can be shared among tasks')
        learners = []
        for fitted, data in zip(
            self.clone_learner().fit_tasks(list(tasks), self.discount), tasks, strict=True
        ):
            learner = clone(self)
            learner._keep_beliefs(fitted, data)
            learners.append(learner._finish(data, "beliefs"))
        return learners

    def step(self, data: Trajectories, base: SumPolicy | None, temperature: float) -> SumPolicy:
        """One step of policy iteration: the policy `base` (None: uniform) that collected `data`, improved.

        Advantages of every action in every context are added to the values of `base`, in units of
        `temperature` times the spread of the returns; `UQF` itself is not changed.
        """
        self._check(data)
        step = self.context_learner().step(data, temperature)
        return step if base is None else base.plus(step)

    def decision_function(self, histories: Sequence[History]) -> FloatArray:
        """Q values after each history, a list of (action, observation): shape (len(histories), n_actions)."""
        policy = self._fitted()
        return np.stack([policy.q_values(_replay(policy, history)) for history in histories])

    def predict(self, histories: Sequence[History]) -> NDArray[np.int64]:
        """The best action after each history; ties go to the first, so that predictions repeat."""
        return np.asarray(self.decision_function(histories).argmax(axis=1))

    def score(self, data: Trajectories, y: None = None) -> float:
        """What the policy gains a step at a time on these episodes, per episode; for cross-validation."""
        baseline = self.baseline_ or Baseline.of(data, self.discount)
        return policy_gain(self._fitted(), baseline, data).mean

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy as a model file with these settings; `uqf.load` reads it."""
        settings = {name: value for name, value in self.get_params().items() if name != "behavior"}
        if hasattr(self, "statistics_") or self._origin is None:
            save(self._fitted(), path, settings=settings, vocabulary=self.tally_.vocabulary)
        else:
            save(self._fitted(), path, settings=settings, data=self._origin)

    def spectral_learner(self) -> SpectralLearner:
        """The learner of memory="spectral" with these parameters."""
        basis = Basis(
            occurrences=self.occurrences,
            max_prefix=self.max_prefix,
            max_suffix=self.max_suffix,
            n_prefixes=self.n_prefixes,
            n_suffixes=self.n_suffixes,
            projection=self.projection,
            prefix_dim=self.prefix_dim,
            suffix_dim=self.suffix_dim,
            seed=self.seed,
        )
        return SpectralLearner(
            basis,
            Target(self.target, self.discount, self.offset),
            rank=self.rank,
            window=self.window,
            temperature=self.temperature or 0.0,
            on_divergence=self.on_divergence,
            behavior=self.behavior,
            threads=self.threads,
        )

    def clone_learner(self) -> CloneLearner:
        """The learner of memory="beliefs" with these parameters."""
        learner = CloneLearner(
            states=self.states,
            models=self.models,
            iterations=self.iterations,
            seed=self.seed,
            threads=self.threads,
        )
        return learner if self.learning_discount is None else learner.with_discount(self.learning_discount)

    def context_learner(self) -> ContextLearner:
        """The learner of memory="contexts" with these parameters."""
        if self.learning_discount is None:
            return ContextLearner(depth=self.depth)
        return ContextLearner(depth=self.depth, learning_discount=self.learning_discount)

    def _check(self, data: Any) -> Any:
        """The data, or the source that a path names; parameters checked as well."""
        checked = data if isinstance(data, Trajectories) else source_of(data)
        if self.target not in ("return", "reward"):
            raise ValueError(f"target = {self.target!r}: choose 'return' or 'reward'")
        if not 0.0 <= self.discount <= 1.0:
            raise ValueError(f"discount = {self.discount}: give a number in [0, 1]")
        if self.temperature is not None and not self.temperature >= 0.0:
            raise ValueError(f"temperature = {self.temperature}: give 0 (greedy), more, or None")
        return checked

    def _finish(self, data: Any, memory: str) -> UQF:
        if self.temperature is not None and memory != "spectral":
            self.policy_ = self.policy_.with_temperature(self.temperature)
        in_memory = isinstance(data, Trajectories)
        self.baseline_ = Baseline.of(data, self.discount) if in_memory else None
        self.n_features_in_ = self.policy_.n_actions * self.policy_.n_observations
        self._origin = Origin.of(data) if in_memory else None
        # A later partial_fit goes on from here, and only spectral memory has one.
        self._data = data if memory == "spectral" else None
        return self

    def _memory(self) -> str:
        if self.memory is None:
            spectral = self.rank is not None or self.projection is not None or self.behavior is not None
            spectral = spectral or self.target == "reward" or self.occurrences == "start"
            return "spectral" if spectral else "beliefs"
        if self.memory not in MEMORIES:
            raise ValueError(f"memory = {self.memory!r}: choose one of {', '.join(map(repr, MEMORIES))}")
        return self.memory

    def _keep_spectral(self, fitted: FittedSpectral) -> None:
        self.policy_, self.state_, self.tally_ = fitted.policy, fitted.state, fitted.tally
        self.wfa_, self.value_wfa_ = fitted.rewards, fitted.values
        self.singular_values_ = fitted.state.decomposition.spectrum
        self.diagnostics_ = of_spectral(fitted, self.discount)

    def _keep_beliefs(self, fitted: FittedClones, data: Trajectories) -> None:
        likeliest = fitted.models.model(int(np.argmax(fitted.models.log_likelihoods)))
        self.policy_ = fitted.policy
        self.wfa_, self.value_wfa_ = belief_automata(likeliest, data, self.discount)
        self.singular_values_ = memory_spectrum(data, self.seed)
        radius = self.wfa_.spectral_radius(self.discount)
        self.diagnostics_ = of_beliefs(fitted, data) | {"rank": self.wfa_.rank, "spectral_radius": radius}

    def _keep_contexts(self, policy: SumPolicy, data: Trajectories) -> None:
        self.policy_ = policy
        self.singular_values_ = memory_spectrum(data, self.seed)
        self.diagnostics_ = of_contexts(self.context_learner(), policy, data)

    def _fitted(self) -> Any:
        if not hasattr(self, "policy_"):
            refusal = getattr(self, "refusal_", None)
            raise NotFittedError(refusal or "this UQF is not fitted yet: call fit(data) first")
        return self.policy_


def _replay(policy: Any, history: History) -> Any:
    state = policy.initial_state()
    for action, observation in history:
        state = policy.update(state, action, observation)
    return state
