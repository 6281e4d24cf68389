"""The compiled core: worlds, episodes of compiled policies, and checks on trajectories.

The package wraps what users call; come here for the contract of the raw calls. Arrays are C-contiguous and
have exactly the stated dtype. Long calls release the interpreter, hear Ctrl-C and call ``progress(done)``
about twenty times a second. Errors are `ValueError` naming the argument; a `RuntimeError` is a bug.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

__all__ = [
    "Automaton",
    "AutomatonMemory",
    "AutomatonPolicy",
    "CloneModels",
    "ContextMemory",
    "ContextPolicy",
    "FeatureMemory",
    "Features",
    "ForestPolicy",
    "HankelSettings",
    "HankelStatistics",
    "PolicyBatch",
    "Pomcp",
    "PomcpState",
    "Simulation",
    "SumMemory",
    "SumPolicy",
    "TablePolicy",
    "World",
    "action_probabilities",
    "context_keys",
    "count_pairs",
    "expected_counts",
    "most_frequent",
    "project_words",
    "read_pomdp",
    "returns",
    "rollout",
    "sum_operators",
    "take_episodes",
    "validate",
    "write_pomdp",
]

_Integers: TypeAlias = NDArray[np.int32]
_Offsets: TypeAlias = NDArray[np.int64]
_Floats: TypeAlias = NDArray[np.float64]
_Booleans: TypeAlias = NDArray[np.bool_]

#: (actions, observations, rewards, behavior_probs, offsets, terminated)
_Recorded: TypeAlias = tuple[_Integers, _Integers, _Floats, _Floats, _Offsets, _Booleans]

_Compiled: TypeAlias = (
    "TablePolicy | AutomatonPolicy | SumPolicy | ContextPolicy | ForestPolicy | Pomcp | None"
)

class _Data(Protocol):
    """What the core reads of a data set: `uqf.Trajectories`, or anything with the same arrays."""

    actions: _Integers
    observations: _Integers
    rewards: _Floats
    offsets: _Offsets
    behavior_probs: _Floats | None
    n_actions: int
    n_observations: int

# --- trajectories ----------------------------------------------------------------------------------------

def validate(data: _Data) -> None:
    """Raises ValueError naming the first episode and step that cannot be."""

def take_episodes(data: _Data, terminated: _Booleans, episodes: _Offsets) -> _Recorded:
    """The arrays of the chosen episodes, copied in the order given.

    `behavior_probs` comes back empty if the data have none.
    """

# --- worlds ----------------------------------------------------------------------------------------------

@final
class World:
    """A simulated world; stateless, shared by any number of episodes and threads."""

    @staticmethod
    def tiger() -> World:
        """Two doors, one tiger."""

    @staticmethod
    def gridworld(variant: str) -> World:
        """A grid world: "near", "mid", "far" (one map, three starts) or "hamilton"."""

    @staticmethod
    def pocman(maze: str) -> World:
        """PocMan of Silver and Veness in the "full", "mini" or "micro" maze."""

    @staticmethod
    def spocman(ghosts: str) -> World:
        """S-PocMan of Hamilton et al. with "published" or "chasing" ghosts."""

    @staticmethod
    def tabular(
        transitions: _Floats,
        observations: _Floats,
        rewards: _Floats,
        start: _Floats,
        terminal: _Booleans,
        action_names: list[str],
        observation_names: list[str],
        state_names: list[str],
    ) -> World:
        """A finite POMDP: (A, S, S), (A, S, O), (A, S) or (A, S, S) or (A, S, S, O), (S,), (S,).

        An empty list of names numbers the things instead.
        """

    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    @property
    def action_names(self) -> list[str]:
        """What each action is called."""

    @property
    def observation_names(self) -> list[str]:
        """What each observation means."""

    def model(self) -> dict[str, Any] | None:
        """The arrays of a small world by name, or None if it has too many states to write down."""

    def simulation(self, seed: int, episode: int = 0) -> Simulation:
        """Episode number `episode` of a rollout with this seed, to be stepped by hand."""

@final
class Simulation:
    """One running episode."""

    def step(self, action: int) -> tuple[int, float, bool]:
        """(observation, reward, terminated); refused once the episode has ended."""

    def choose(self, probs: _Floats) -> int:
        """An action drawn from these probabilities with the episode's own luck, as `rollout` would.

        The probabilities must sum to one; that is not checked here.
        """

    def render(self) -> str:
        """The state as text."""

# --- POMDP files -----------------------------------------------------------------------------------------

def read_pomdp(content: bytes, max_entries: int) -> dict[str, Any]:
    """The arguments of a `TabularPOMDP`, from a file's bytes; dense tables hold at most `max_entries`."""

def write_pomdp(world: World, discount: float) -> str:
    """The text of the file of a world that has arrays."""

# --- words, Hankel statistics and operators ----------------------------------------------------------------

#: A word as a sequence of symbols; the empty one is λ.
_Word: TypeAlias = Sequence[int]

#: (rows, columns, sums) of the cells that are not zero
_Cells: TypeAlias = tuple[_Offsets, _Offsets, _Floats]

def most_frequent(
    data: _Data, *, occurrences: str, max_length: int, limit: int | None = None
) -> tuple[list[list[int]], list[int]]:
    """The most frequent words with their counts, the empty word first.

    `occurrences` is "start" (words that open an episode) or "anywhere".
    """

def count_pairs(data: _Data, *, max_prefix: int, max_suffix: int, dim: int) -> NDArray[np.uint64]:
    """The yardstick of accumulation, shape (dim, dim): one counter is incremented for every pair of words.

    Nothing can be learned from it; `benches/` compares the time of learning with it.
    """

def project_words(words: Sequence[_Word], kind: str, dim: int, seed: int) -> _Floats:
    """φ of every word, shape (words, dim); `kind` is "gaussian", "rademacher", "sparse" or "hashed"."""

@final
class HankelSettings:
    """What is counted: words, targets, projection.

    Targets are (name, discount, offset). Lists of words, as (prefixes, suffixes), make exact blocks;
    ``projection = (kind, prefix_dim, suffix_dim, seed)`` makes compressed ones. Give one of the two.
    Sums are exact for terms of about `reward_size`; shards must share it.
    """

    def __new__(
        cls,
        *,
        occurrences: str,
        targets: Sequence[tuple[str, float, float]],
        words: tuple[Sequence[_Word], Sequence[_Word]] | None = None,
        max_prefix: int = 0,
        max_suffix: int = 0,
        projection: tuple[str, int, int, int] | None = None,
        reward_size: float = 1.0,
    ) -> HankelSettings: ...
    @property
    def shape(self) -> tuple[int, int]:
        """(left_dim, right_dim)"""

@final
class HankelStatistics:
    """Sums over episodes, not yet divided by their number. Merging in any grouping gives the same bits."""

    @staticmethod
    def accumulate(
        data: _Data,
        settings: HankelSettings,
        *,
        by_symbol: bool = False,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> HankelStatistics:
        """One pass over the data. `by_symbol` also keeps a block per symbol, which saves a second pass."""

    @staticmethod
    def empty(settings: HankelSettings, *, by_symbol: bool = False) -> HankelStatistics:
        """Sums over no episode at all, to merge into."""

    @staticmethod
    def from_state(state: dict[str, Any]) -> HankelStatistics:
        """The statistics that `__getstate__` described."""

    def merge(self, other: HankelStatistics) -> None:
        """Adds the sums of another shard, in place."""

    def subtract(self, other: HankelStatistics) -> None:
        """Takes the sums of a shard out again, in place."""

    def plus(self, other: HankelStatistics) -> HankelStatistics:
        """The sums of both shards; neither changes."""

    @property
    def episodes(self) -> int:
        """Number of episodes summed."""

    @property
    def steps(self) -> int:
        """Number of steps summed."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """(left_dim, right_dim, targets)"""

    @property
    def coverage(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """((known, seen) prefix occurrences, (known, seen) suffix occurrences)"""

    @property
    def symbols(self) -> list[int]:
        """Symbols for which there is a block of their own."""

    def block(self) -> _Cells:
        """The Hankel block as (rows, columns, sums) of the cells that are not zero."""

    def symbol_block(self, symbol: int) -> _Cells:
        """The block of one symbol, as `block`; KeyError if the symbol was not seen."""

    def columns(self) -> _Floats:
        """Column λ of every target, (left_dim, targets)."""

    def start(self) -> _Floats:
        """Row λ at the first step of the episodes, (right_dim,)."""

    def average(self) -> _Floats:
        """Row λ summed over every place of the episodes, (right_dim,)."""

    def __getstate__(self) -> dict[str, Any]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def sum_operators(
    data: _Data,
    settings: HankelSettings,
    left_map: _Floats,
    right_map: _Floats,
    *,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> tuple[_Offsets, _Floats]:
    """(seen symbols, operators summed over the episodes).

    The operator of a symbol is Σ (left · left_map) ⊗ (right · right_map) over its occurrences.

    The maps have shapes (left_dim, rank) and (right_dim, rank); the operators (seen, rank, rank).
    """

def expected_counts(
    data: _Data,
    start: _Floats,
    transitions: _Floats,
    observations: _Floats,
    *,
    threads: int | None = None,
) -> tuple[float, _Floats, _Floats, _Floats, _Floats]:
    """Expectation step of Baum–Welch: log-likelihood, and posterior counts in the shapes of the tables.

    The last is the sum of rewards by transition, (A, S, S).
    """

# --- automata --------------------------------------------------------------------------------------------

@final
class Automaton:
    """Operators (seen, rank, rank) by symbol (seen,); those of the other symbols are zero."""

    def __new__(cls, symbols: _Offsets, operators: _Floats, n_symbols: int) -> Automaton: ...
    def values(self, alpha: _Floats, omega: _Floats, symbols: _Offsets, offsets: _Offsets) -> _Floats:
        """α A_word ω of every word; word i is ``symbols[offsets[i]:offsets[i + 1]]``."""

    def step(self, state: _Floats, symbol: int) -> _Floats:
        """The state (a row vector) after one more symbol; unscaled."""

# --- compiled policies -----------------------------------------------------------------------------------

@final
class TablePolicy:
    """Action probabilities by last symbol.

    ``probs[symbol, action]`` has one row per symbol ``action * n_observations + observation`` and a last row
    for the start of an episode: shape (n_actions * n_observations + 1, n_actions).
    """

    def __new__(cls, probs: _Floats, n_observations: int) -> TablePolicy: ...
    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    @property
    def probs(self) -> _Floats:
        """Action probabilities by symbol, with a last row for the start; a copy."""

    def batch(self, n: int, *, seed: int = 0) -> PolicyBatch:
        """The policy acting in `n` episodes at once."""

    def initial_state(self) -> int:
        """The state before the first step: the number of symbols."""

    def action_probs(self, state: int) -> list[float]:
        """Probability of every action in a state."""

    def update(self, state: int, action: int, observation: int) -> int:
        """The state after one more step: the symbol of `action` and `observation`."""

@final
class AutomatonMemory:
    """What an automaton policy remembers of an episode."""

    @property
    def vector(self) -> _Floats:
        """The state vector, rescaled."""

@final
class AutomatonPolicy:
    """Acts on the state of an automaton; see `uqf.learn` for how its parts are learned."""

    def __new__(
        cls,
        automaton: Automaton,
        *,
        n_actions: int,
        n_observations: int,
        start: _Floats,
        anchor: _Floats,
        weights: _Floats,
        table: _Floats | None = None,
        normaliser: _Floats | None = None,
        window: int | None = None,
        temperature: float = 0.0,
        behavior: tuple[AutomatonPolicy, float] | None = None,
    ) -> AutomatonPolicy: ...
    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    @property
    def temperature(self) -> float:
        """0 acts greedily; otherwise actions are drawn from softmax(q_values / temperature)."""

    @property
    def rank(self) -> int:
        """Length of the state vector."""

    @property
    def symbols(self) -> _Offsets:
        """Symbols that have an operator, in the order of `operators`."""

    @property
    def operators(self) -> _Floats:
        """(seen symbols, rank, rank); this and the other arrays are copies."""

    @property
    def start(self) -> _Floats:
        """State of the empty history, (rank,)."""

    @property
    def anchor(self) -> _Floats:
        """State of an unknown history, (rank,)."""

    @property
    def weights(self) -> _Floats:
        """(n_actions, rank)"""

    @property
    def table(self) -> _Floats | None:
        """(seen symbols + 2, n_actions), or None."""

    @property
    def normaliser(self) -> _Floats | None:
        """What the state is scaled by, (rank,), or None."""

    @property
    def window(self) -> int | None:
        """Only the last so many symbols count; None for the whole history."""

    @property
    def has_behavior(self) -> bool:
        """Whether values are divided by the probabilities of a behaviour policy."""

    @property
    def behavior(self) -> tuple[AutomatonPolicy, float] | None:
        """(behaviour policy, epsilon) whose probabilities values are divided by, or None."""

    def batch(self, n: int, *, seed: int = 0) -> PolicyBatch:
        """The policy acting in `n` episodes at once."""

    def greedy(self) -> AutomatonPolicy:
        """The same values, acted on greedily."""

    def with_temperature(self, temperature: float) -> AutomatonPolicy:
        """The same values, acted on at another temperature."""

    def initial_state(self) -> AutomatonMemory:
        """The memory before the first step."""

    def update(self, state: AutomatonMemory, action: int, observation: int) -> AutomatonMemory:
        """The memory after one more step; `state` itself does not change."""

    def q_values(self, state: AutomatonMemory) -> _Floats:
        """Value of every action; comparable across actions at one history, not across histories."""

    def action_probs(self, state: AutomatonMemory) -> _Floats:
        """Probability of every action."""

    def action(self, state: AutomatonMemory, rng: np.random.Generator | None = None) -> int:
        """An action: drawn with `rng`, or else with the policy's own luck."""

    def states_along(self, data: _Data, *, threads: int | None = None) -> tuple[_Floats, _Offsets]:
        """What is remembered before every step: states (n_steps, rank), rows of the table (n_steps,)."""

@final
class ContextMemory:
    """The last symbols of an episode."""

    @property
    def row(self) -> int:
        """Row of the longest known context."""

@disjoint_base
class ContextPolicy:
    """q-values by the longest known context that the history ends with.

    `values` (contexts, actions); a context is a list of symbols, n_symbols standing for the start of the episode.
    The empty context must be among them.
    """

    def __new__(
        cls,
        contexts: Sequence[Sequence[int]],
        values: _Floats,
        n_observations: int,
        *,
        temperature: float = 0.0,
    ) -> Self: ...
    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    @property
    def temperature(self) -> float:
        """0 acts greedily; otherwise actions are drawn from softmax(q_values / temperature)."""

    def batch(self, n: int, *, seed: int = 0) -> PolicyBatch:
        """The policy acting in `n` episodes at once."""

    def greedy(self) -> ContextPolicy:
        """The same values, acted on greedily."""

    def with_temperature(self, temperature: float) -> ContextPolicy:
        """The same values, acted on at another temperature."""

    def initial_state(self) -> ContextMemory:
        """Memory before the first step."""

    def update(self, state: ContextMemory, action: int, observation: int) -> ContextMemory:
        """Memory after one more step; `state` itself does not change."""

    def q_values(self, state: ContextMemory) -> _Floats:
        """Value of every action."""

    def action_probs(self, state: ContextMemory) -> _Floats:
        """Probability of every action."""

    def action(self, state: ContextMemory, rng: np.random.Generator | None = None) -> int:
        """An action: drawn with `rng` (anything with `random()`), or else with the policy's own luck."""

@final
class FeatureMemory:
    """What is remembered of an episode for its features."""

@final
class Features:
    """Feature vectors of histories."""

    @staticmethod
    def automaton(policy: AutomatonPolicy) -> Features:
        """The state that an automaton policy acts on."""

    @staticmethod
    def window(length: int, one_hot: bool, n_actions: int, n_observations: int) -> Features:
        """The last `length` steps, the latest first: indicators, or numbers with -1 before the first step."""

    @property
    def n_features(self) -> int:
        """Length of a feature vector."""

    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    def along(self, data: _Data, *, threads: int | None = None) -> NDArray[np.float32]:
        """Features at every cut of every episode: (n_steps + n_episodes, n_features)."""

#: (base, weights, roots, feature, threshold, left, right, value)
_Forest: TypeAlias = tuple[float, _Floats, _Offsets, _Offsets, _Floats, _Offsets, _Offsets, _Floats]

@final
class ForestPolicy:
    """Acts on one forest per action, over features of the history.

    A forest is base + weights · x + the leaf of x in every tree. Trees are flattened one after another, children
    after their parents; a negative feature marks a leaf.
    """

    def __new__(
        cls, features: Features, forests: Sequence[_Forest], *, temperature: float = 0.0
    ) -> ForestPolicy: ...
    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    @property
    def temperature(self) -> float:
        """0 acts greedily; otherwise actions are drawn from softmax(q_values / temperature)."""

    def batch(self, n: int, *, seed: int = 0) -> PolicyBatch:
        """The policy acting in `n` episodes at once."""

    def greedy(self) -> ForestPolicy:
        """The same values, acted on greedily."""

    def with_temperature(self, temperature: float) -> ForestPolicy:
        """The same values, acted on at another temperature."""

    def initial_state(self) -> FeatureMemory:
        """Memory before the first step."""

    def update(self, state: FeatureMemory, action: int, observation: int) -> FeatureMemory:
        """Memory after one more step; `state` itself does not change."""

    def q_values(self, state: FeatureMemory) -> _Floats:
        """Value of every action."""

    def action_probs(self, state: FeatureMemory) -> _Floats:
        """Probability of every action."""

    def action(self, state: FeatureMemory, rng: np.random.Generator | None = None) -> int:
        """An action: drawn with `rng` (anything with `random()`), or else with the policy's own luck."""

    def values(self, x: NDArray[np.float32], *, threads: int | None = None) -> _Floats:
        """Values (rows, n_actions) of feature vectors (rows, n_features)."""

@final
class PolicyBatch:
    """A policy acting in many episodes at once; made by ``policy.batch(n)``.

    Every episode has luck of its own, so the actions do not depend on the number of threads. Calls from
    several threads wait for each other.
    """

    def __len__(self) -> int: ...
    def action_probs(self, *, threads: int | None = None) -> _Floats:
        """Probability of every action in every episode, (n, n_actions)."""

    def act(self, *, threads: int | None = None) -> _Offsets:
        """An action for every episode, (n,)."""

    def update(self, actions: _Offsets, observations: _Offsets, *, threads: int | None = None) -> None:
        """Takes in the action and the observation of every episode, (n,) each."""

    def reset(self, starts: _Booleans) -> None:
        """Begins the episodes marked in `starts` (n,) anew."""

@final
class CloneModels:
    """Cloned hidden Markov models trained on a data set."""

    @staticmethod
    def train(
        data: _Data,
        terminated: _Booleans,
        *,
        states: int,
        models: int,
        iterations: int,
        episodes: int,
        seed: int,
        tasks: NDArray[np.uint32] | None = None,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> CloneModels:
        """Baum-Welch from random starts; `states` are shared out among the observations."""

    @staticmethod
    def work(n_steps: int, n_episodes: int, *, models: int, iterations: int, episodes: int) -> int:
        """About how many steps `train` will read, and tell its `progress` when it is done."""

    def for_task(self, task: int) -> CloneModels:
        """The same models in another task."""

    def score(self, data: _Data, terminated: _Booleans) -> list[float]:
        """Mean log-likelihood of a step of other episodes, by model."""

    @property
    def n_features(self) -> int:
        """Entries of the feature vector: the states of all models."""

    @property
    def log_likelihoods(self) -> list[float]:
        """Mean log-likelihood of a step, by model."""

    def __len__(self) -> int: ...
    def model(self, index: int) -> dict[str, Any]:
        """The arrays of one model: start, transitions, ends, rewards, ranges of every observation's states."""

    def beliefs_along(self, data: _Data, *, threads: int | None = None) -> NDArray[np.float32]:
        """Beliefs at every cut of the data, also after the last step: (n_steps + n_episodes, n_features)."""

def context_keys(data: _Data, depth: int) -> NDArray[np.uint64]:
    """Keys of the contexts of length 1 … depth before every step: (n_steps, depth); 0 beyond the start."""

@final
class SumMemory:
    """What a sum policy remembers of an episode."""

@final
class SumPolicy:
    """softmax of a sum of values: of context tables and of weights on beliefs."""

    def __new__(
        cls,
        *,
        n_actions: int,
        n_observations: int,
        contexts: Sequence[tuple[NDArray[np.uint64], _Floats, int]],
        beliefs: Sequence[tuple[CloneModels, _Floats, _Floats]],
        temperature: float,
    ) -> SumPolicy: ...
    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    @property
    def temperature(self) -> float:
        """0 acts greedily; otherwise actions are drawn from softmax(q_values / temperature)."""

    def batch(self, n: int, *, seed: int = 0) -> PolicyBatch:
        """The policy acting in `n` episodes at once."""

    def greedy(self) -> SumPolicy:
        """The same values, acted on greedily."""

    def with_temperature(self, temperature: float) -> SumPolicy:
        """The same values, acted on at another temperature."""

    def plus(self, other: SumPolicy) -> SumPolicy:
        """The sum of both values, each in units of its own temperature; acts at temperature 1."""

    def parts(self) -> dict[str, Any]:
        """All that the policy is made of; `from_parts` makes it again."""

    @staticmethod
    def from_parts(
        *,
        n_actions: int,
        n_observations: int,
        contexts: Sequence[tuple[NDArray[np.uint64], _Floats, int]],
        beliefs: Sequence[tuple[Any, _Floats, _Floats]],
        temperature: float,
    ) -> SumPolicy:
        """The policy of such parts."""

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]: ...
    def initial_state(self) -> SumMemory:
        """Memory before the first step."""

    def update(self, state: SumMemory, action: int, observation: int) -> SumMemory:
        """Memory after one more step; `state` itself does not change."""

    def q_values(self, state: SumMemory) -> _Floats:
        """Value of every action."""

    def action_probs(self, state: SumMemory) -> _Floats:
        """Probability of every action."""

    def action(self, state: SumMemory, rng: np.random.Generator | None = None) -> int:
        """An action: drawn with `rng` (anything with `random()`), or else with the policy's own luck."""

@final
class PomcpState:
    """Belief and finished search at one step of an episode; made and read by `Pomcp`."""

    @property
    def n_particles(self) -> int:
        """Size of the particle belief; 0 once the episode should have ended in every particle."""

    @property
    def simulated_steps(self) -> int:
        """Steps simulated since the episode began."""

@disjoint_base
class Pomcp:
    """Online planning by particle filter and UCT; `uqf.baselines.POMCP` is the class to use."""

    def __new__(
        cls,
        world: World,
        *,
        simulations: int,
        particles: int,
        rollouts: str,
        exploration: float | None,
        discount: float,
        horizon: int,
        seed: int,
    ) -> Self: ...
    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    @property
    def exploration(self) -> float:
        """The constant of UCB1 in use."""

    def initial_state(self) -> PomcpState:
        """Belief and search at the start of an episode; always the same for the same seed."""

    def update(self, state: PomcpState, action: int, observation: int) -> PomcpState:
        """Belief and search after one more step; `state` is left as it was."""

    def action_probs(self, state: PomcpState) -> list[float]:
        """One on the best action; all alike if the belief was lost."""

    def action(self, state: PomcpState, rng: object = None) -> int:
        """The best action; the first if the belief was lost. Nothing is drawn from `rng`."""

    def q_values(self, state: PomcpState) -> list[float]:
        """Mean simulated return after each action; minus infinity for actions that were not tried."""

# --- episodes of compiled policies -----------------------------------------------------------------------
def rollout(
    world: World,
    policy: _Compiled,
    *,
    episodes: int,
    horizon: int,
    epsilon: float,
    seed: int,
    first: int = 0,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> _Recorded:
    """Recorded episodes: (actions, observations, rewards, behavior_probs, offsets, terminated).

    They have the luck of episodes `first`, `first` + 1, … of this seed.
    """

def returns(
    world: World,
    policy: _Compiled,
    *,
    episodes: int,
    horizon: int,
    discount: float,
    seed: int,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> tuple[_Floats, _Offsets]:
    """(discounted returns, lengths), one entry per episode."""

def action_probabilities(data: _Data, policy: _Compiled, *, threads: int | None = None) -> _Floats:
    """Probability of every action before every step of logged episodes, (n_steps, n_actions).

    The policy remembers the logged actions, not those that it would have chosen. None is the uniform policy.
    """
