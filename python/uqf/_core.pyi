"""The compiled core: worlds, episodes of compiled policies, and checks on trajectories.

The package wraps what users call; come here for the contract of the raw calls. Arrays are C-contiguous and
have exactly the stated dtype. Long calls release the interpreter, hear Ctrl-C and call ``progress(done)``
about twenty times a second. Errors are `ValueError` naming the argument; a `RuntimeError` is a bug.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from uqf.types import Record

__all__ = [
    "Automaton",
    "AutomatonPolicy",
    "BeliefPolicy",
    "CloneLayout",
    "CloneModels",
    "CompiledPolicy",
    "ContextPolicy",
    "Features",
    "Filter",
    "FilterPolicy",
    "ForestPolicy",
    "HankelSettings",
    "HankelStatistics",
    "ObservationPolicy",
    "PolicyBatch",
    "PolicyState",
    "Pomcp",
    "Simulation",
    "TablePolicy",
    "World",
    "__version__",
    "context_tree",
    "discounted_sums",
    "episode_priorities",
    "expected_counts",
    "hidden_models",
    "most_frequent",
    "point_plan",
    "project_words",
    "read_pomdp",
    "returns",
    "rollout",
    "softmax",
    "sum_operators",
    "temporal_differences",
    "validate",
    "write_pomdp",
]

__version__: str

_Integers: TypeAlias = NDArray[np.int32]
_Offsets: TypeAlias = NDArray[np.int64]
_Floats: TypeAlias = NDArray[np.float64]
_Booleans: TypeAlias = NDArray[np.bool_]

#: (actions, observations, rewards, behavior_probs, offsets, terminated, first_observations)
_Recorded: TypeAlias = tuple[_Integers, _Integers, _Floats, _Floats, _Offsets, _Booleans, _Integers | None]

class _Random(Protocol):
    def random(self) -> float: ...

class _Data(Protocol):
    """What the core reads of a data set: `uqf.Trajectories`, or anything with the same arrays."""

    actions: _Integers
    observations: _Integers
    rewards: _Floats
    offsets: _Offsets
    behavior_probs: _Floats | None
    terminated: _Booleans
    n_actions: int
    n_observations: int
    @property
    def first_observations(self) -> _Integers | None: ...

# --- trajectories ----------------------------------------------------------------------------------------

def validate(data: _Data) -> None:
    """Raises ValueError naming the first episode and step that cannot be."""

def episode_priorities(data: _Data, seed: int) -> NDArray[np.uint64]:
    """A random number of every episode, (n_episodes,), which depends on its content and on the seed.

    It does not depend on where the episode lies. Copies of an episode have different numbers.
    """

def discounted_sums(
    rows: _Floats | NDArray[np.float32], offsets: _Offsets, factor: float | _Floats, *, forward: bool = False
) -> None:
    """In place, within every episode: rows[t] += factor · rows[t + 1], or rows[t − 1] with `forward`.

    `factor` may differ by step, (n_steps,).
    """

def temporal_differences(
    rows: NDArray[np.float32],
    offsets: _Offsets,
    rewards: NDArray[np.float32],
    following: NDArray[np.float32],
    ratios: NDArray[np.float32],
    factors: NDArray[np.float32],
) -> _Floats:
    """Σ x_t [z_t, R_t]ᵀ, (width, width + 1), of rows x (n_steps + n_episodes, width) at every cut.

    z and R are sums of ratio · (x_t − following · x_{t+1}) and of ratio · reward that go on by `factors` within an
    episode, all (n_steps,).
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
        first_observations: _Floats | None,
        action_names: list[str],
        observation_names: list[str],
        state_names: list[str],
    ) -> World:
        """A finite POMDP: (A, S, S), (A, S, O), (A, S) or (A, S, S) or (A, S, S, O), (S,), (S,), (S, O).

        An empty list of names numbers the things instead.
        """

    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    @property
    def shows_first(self) -> bool:
        """Whether episodes show an observation before their first action."""

    @property
    def action_names(self) -> list[str]:
        """What each action is called."""

    @property
    def observation_names(self) -> list[str]:
        """What each observation means."""

    def model(self) -> Record | None:
        """The arrays of a small world by name, or None if it has too many states to write down."""

    def simulation(self, seed: int, episode: int = 0) -> Simulation:
        """Episode number `episode` of a rollout with this seed, to be stepped by hand."""

@final
class Simulation:
    """One running episode."""

    @property
    def first(self) -> int | None:
        """What was shown before the first action, in worlds that show anything."""

    def step(self, action: int) -> tuple[int, float, bool]:
        """(observation, reward, terminated); refused once the episode has ended."""

    def choose(self, probs: _Floats) -> int:
        """An action drawn from these probabilities with the episode's own random stream, as `rollout` would.

        The probabilities must sum to one; that is not checked here.
        """

    def render(self) -> str:
        """The state as text."""

# --- POMDP files -----------------------------------------------------------------------------------------

def read_pomdp(content: bytes, max_entries: int) -> Record:
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

def project_words(words: Sequence[_Word], kind: str, dim: int, seed: int) -> _Floats:
    """φ of every word, shape (words, dim); `kind` is "gaussian", "rademacher", "sparse" or "hashed"."""

@final
class HankelSettings:
    """What is counted: words, target, projection.

    The target is (name, discount, offset). Lists of words, as (prefixes, suffixes), make exact blocks;
    ``projection = (kind, prefix_dim, suffix_dim, seed)`` makes compressed ones. Give one of the two.
    Sums are exact for terms of about `reward_size`; shards must share it.
    """

    def __new__(
        cls,
        *,
        occurrences: str,
        target: tuple[str, float, float],
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
    def from_state(state: Record) -> HankelStatistics:
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
    def shape(self) -> tuple[int, int]:
        """(left_dim, right_dim)"""

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

    def column(self) -> _Floats:
        """Column λ, (left_dim,)."""

    def start(self) -> _Floats:
        """Row λ at the first step of the episodes, (right_dim,)."""

    def average(self) -> _Floats:
        """Row λ summed over every place of the episodes, (right_dim,)."""

    def __getstate__(self) -> Record: ...
    def __reduce__(self) -> tuple[object, ...]: ...

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

def hidden_models(
    data: _Data,
    judges: _Data,
    *,
    numbers: tuple[int, int],
    states: int,
    first: int,
    trust: float | None,
    explore: int,
    settle: int,
    batch: int,
    overshoot: float,
    priors: tuple[float, float, float, float, float],
    held_out: float,
    patience: int,
    seed: int,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[Record]:
    """Hidden Markov models in which a state may show any observation, grown or begun at one state an observation.

    Each has start (S,), transitions (A, S, S), the probability of the next state and of going on; ends (S,), emissions
    (O, S), ones for what never occurred; rewards (A, S) and likelihoods (n_episodes,), of the episodes of `judges`.
    """

def point_plan(
    transitions: NDArray[np.float32],
    emissions: NDArray[np.float32],
    rewards: NDArray[np.float32],
    starts: NDArray[np.float32],
    discount: float,
    *,
    points: int,
    rounds: int,
    sweeps: int,
    horizon: int,
    seed: int,
) -> tuple[NDArray[np.float32], float]:
    """(vectors (A, V, S), value of the start): an action is worth its largest product with the belief."""

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

def softmax(values: _Floats, temperature: float, supported: _Booleans | None = None) -> _Floats:
    """Probabilities along the last axis of values (rows, n_actions), by the rule of all policies."""

@final
class PolicyState:
    """What a policy remembers of an episode. It never changes: `update` makes a new one."""

@disjoint_base
class CompiledPolicy:
    """A policy that is stepped without a call to Python; its kinds are the subclasses.

    `parts()` of every kind are the arguments that make the same policy again.
    """

    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_observations(self) -> int:
        """Number of observations."""

    @property
    def temperature(self) -> float:
        """0 acts greedily, ties by chance; otherwise actions are drawn from softmax(q_values / temperature)."""

    @property
    def supported(self) -> _Booleans | None:
        """Which actions the log says anything about, (n_actions,); the others have probability 0. None: all."""

    def initial_state(self, first: int | None = None) -> PolicyState:
        """The memory at the start of an episode; `first` is what it shows before the first action, if anything."""

    def update(self, state: PolicyState, action: int, observation: int) -> PolicyState:
        """The memory after one more step; `state` itself does not change."""

    def q_values(self, state: PolicyState) -> _Floats:
        """Value of every action, (n_actions,); comparable across actions at one history."""

    def action_probs(self, state: PolicyState) -> _Floats:
        """Probability of every action, (n_actions,)."""

    def action(self, state: PolicyState, rng: _Random | None = None) -> int:
        """An action: drawn with `rng` (anything with `random()`), or else with the policy's own random stream."""

    def with_temperature(self, temperature: float) -> Self:
        """The same values, acted on at another temperature."""

    def with_support(self, supported: _Booleans | None) -> Self:
        """The same values, of which only those of the marked actions, (n_actions,), count; None: all."""

    def greedy(self) -> Self:
        """The same values, acted on greedily."""

    def batch(self, n: int, *, seed: int = 0) -> PolicyBatch:
        """The policy acting in `n` episodes at once."""

    def probs_along(self, data: _Data, *, threads: int | None = None) -> _Floats:
        """Probability of every action before every step of the data: (n_steps, n_actions)."""

    def q_values_along(self, data: _Data, *, threads: int | None = None) -> _Floats:
        """Value of every action before every step of the data: (n_steps, n_actions)."""

    def __reduce__(self) -> tuple[object, ...]: ...

@final
class TablePolicy(CompiledPolicy):
    """Action probabilities by last symbol."""

    def __new__(
        cls,
        probs: _Floats,
        n_observations: int,
        *,
        temperature: float = 1.0,
        supported: _Booleans | None = None,
    ) -> TablePolicy: ...
    @property
    def probs(self) -> _Floats:
        """Action probabilities by symbol, with a last row for the start."""

    def parts(self) -> Record:
        """The arguments that make this policy again."""

@final
class ObservationPolicy(CompiledPolicy):
    """Values by last observation."""

    def __new__(
        cls, values: _Floats, *, temperature: float = 0.0, supported: _Booleans | None = None
    ) -> ObservationPolicy: ...
    @property
    def values(self) -> _Floats:
        """(n_observations + 1, n_actions)"""

    def parts(self) -> Record:
        """The arguments that make this policy again."""

@final
class AutomatonPolicy(CompiledPolicy):
    """Acts on the state αᵀA_h of an automaton, which is rescaled at every step by a positive number."""

    def __new__(
        cls,
        *,
        symbols: _Offsets,
        operators: _Floats,
        n_actions: int,
        n_observations: int,
        start: _Floats,
        anchor: _Floats,
        weights: _Floats,
        actions: _Offsets | None = None,
        propensities: _Floats | None = None,
        normaliser: _Floats | None = None,
        window: int | None = None,
        temperature: float = 0.0,
        supported: _Booleans | None = None,
        behavior: tuple[AutomatonPolicy, float] | None = None,
    ) -> AutomatonPolicy: ...
    @property
    def rank(self) -> int:
        """Entries of the state."""

    @property
    def weights(self) -> _Floats:
        """(plans, rank); one plan for every action unless `parts()` say otherwise."""

    @property
    def operators(self) -> _Floats:
        """(seen symbols, rank, rank)"""

    def vector(self, state: PolicyState) -> _Floats:
        """The state vector of a memory, rescaled: (rank,)."""

    def states_along(self, data: _Data, *, threads: int | None = None) -> _Floats:
        """State vectors at every cut of a data set, also after the last step: (n_steps + n_episodes, rank)."""

    def parts(self) -> Record:
        """The arguments that make this policy again."""

def context_tree(
    data: _Data, depth: int, min_count: int, max_nodes: int
) -> tuple[_Offsets, _Offsets, _Offsets]:
    """The contexts of up to `depth` symbols that occur before the steps of a data set.

    (parents (nodes − 1,), symbols (nodes − 1,), and the node of the longest context at every cut (n_steps +
    n_episodes,)). Node 0 is the empty context. One of two or more symbols must have occurred `min_count` times. Of
    more than `max_nodes` the commonest are kept, short ones first.
    """

@final
class ContextPolicy(CompiledPolicy):
    """Values by the longest known context that a history ends with."""

    def __new__(
        cls,
        *,
        parents: _Offsets,
        symbols: _Offsets,
        values: _Floats,
        n_observations: int,
        temperature: float = 0.0,
        supported: _Booleans | None = None,
    ) -> ContextPolicy: ...
    @property
    def values(self) -> _Floats:
        """(nodes, n_actions)"""

    def plus(self, other: ContextPolicy) -> ContextPolicy:
        """Acts at temperature 1 on the sum of both values, each in units of its own temperature.

        The contexts of both become one tree, so acting takes no longer however many policies were added.
        """

    def parts(self) -> Record:
        """The arguments that make this policy again."""

@final
class CloneLayout:
    """How many states the models of a data set have and how they are shared out, and what its rewards look like.

    About `states` states, shared out among the observations by their frequency. `tasks` numbers the task of every
    episode from 0: each has rewards and ends of its own. In noisy models a state may show anything.
    """

    def __new__(
        cls, data: _Data, *, states: int, tasks: NDArray[np.uint32] | None = None, noisy: bool = False
    ) -> CloneLayout: ...
    @property
    def noisy(self) -> bool:
        """Whether a state may show anything."""

    @property
    def n_states(self) -> int: ...
    @property
    def ranges(self) -> _Offsets:
        """First and last + 1 of the clones of every observation: (n_observations, 2)."""

    @property
    def kinds(self) -> _Offsets:
        """Which transition matrix every action has, (n_actions,)."""

    @property
    def shared(self) -> tuple[int, int]:
        """(observations, actions) that are too rare to be learned about alone and share clones or transitions."""

    def started(
        self,
        data: _Data,
        labels: NDArray[np.uint32],
        *,
        first: int,
        seed: int,
        tasks: NDArray[np.uint32] | None = None,
    ) -> CloneModels:
        """One model from every row of `labels` (models, n_steps), the clone guessed for every step of the data.

        Models are numbered from `first` on.
        """

    @staticmethod
    def work(states: int, n_steps: int, explore: int, settle: int) -> int:
        """About how many steps `CloneModels.trained` reads for one model of so many states, of data with so many."""

@final
class CloneModels:
    """Cloned hidden Markov models of one layout, as they go on and pay in one of their tasks."""

    def trained(
        self,
        data: _Data,
        *,
        explore: int,
        settle: int,
        first: int,
        seed: int,
        tasks: NDArray[np.uint32] | None = None,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> CloneModels:
        """The models after `explore` iterations on a minibatch each and `settle` iterations that average them.

        Small models are polished as well. `first` is the number of the first model; `progress` is called with the
        steps read so far.
        """

    def for_task(self, task: int) -> CloneModels:
        """The same models in another task."""

    def cut(self, first: int, last: int) -> CloneModels:
        """The models from one number up to another."""

    def plus(self, other: CloneModels) -> CloneModels:
        """These models and others of the same layout."""

    @property
    def n_features(self) -> int:
        """Entries of the feature vector: the states of all models."""

    @property
    def noisy(self) -> bool:
        """Whether a state may show anything."""

    def __len__(self) -> int: ...
    def score(self, data: _Data, *, tasks: NDArray[np.uint32] | None = None) -> list[float]:
        """Mean log-likelihood of a step of these episodes, by model."""

    def iterated(self, data: _Data) -> CloneModels:
        """Models after one plain iteration of Baum and Welch on these episodes."""

    def expected_counts(
        self, index: int, data: _Data
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Expected by one model: transitions (kinds, S, S), events (kinds, events, S), start (S,)."""

    def model(self, index: int) -> Record:
        """The arrays of one model: start, transitions, events, ends, rewards, and ranges of states.

        Event 2c + 1 is a reward up to `edges[c]` that ends the episode, 2c one that does not.
        """

    def filters(self) -> Record:
        """What a `BeliefPolicy` steps these models with: states, starts, transitions, ranges, kinds."""

    @staticmethod
    def from_state(state: Record) -> CloneModels:
        """The models of a pickle."""

@final
class BeliefPolicy(CompiledPolicy):
    """Acts on bias + weights · beliefs of several cloned hidden Markov models."""

    def __new__(
        cls,
        *,
        states: _Offsets,
        starts: NDArray[np.float32],
        transitions: NDArray[np.float32],
        ranges: _Offsets,
        kinds: _Offsets,
        weights: _Floats,
        bias: _Floats,
        shown: NDArray[np.float32] | None = None,
        opens: bool = False,
        temperature: float = 0.0,
        supported: _Booleans | None = None,
    ) -> BeliefPolicy: ...
    @property
    def weights(self) -> _Floats:
        """(features, vectors, n_actions)"""

    def beliefs_along(self, data: _Data, *, threads: int | None = None) -> NDArray[np.float32]:
        """[1, beliefs] at every cut of the data, also after the last step: (n_steps + n_episodes, 1 + features)."""

    def parts(self) -> Record:
        """The arguments that make this policy again."""

@final
class Filter:
    """x' = [1, x] · operators[symbol], shortened to a root mean square of `reach` where it is longer.

    operators : (symbols, 1 + rank, rank)
    """

    def __new__(cls, operators: NDArray[np.float32], reach: float) -> Filter: ...
    def along(
        self,
        places: _Integers,
        offsets: _Offsets,
        starts: NDArray[np.float32],
        *,
        backward: bool = False,
        threads: int | None = None,
    ) -> NDArray[np.float32]:
        """[1, state] at every cut of episodes, (n_steps + n_episodes, 1 + rank).

        places : (n_steps,), the symbol of every step, −1 for one that changes nothing
        starts : (n_episodes, rank), the states before the first steps; with `backward` those after the last steps, and
            states run from there back
        """

@final
class FilterPolicy(CompiledPolicy):
    """Acts on the state of a filter: q(h, a) = [1, state(h)] · weights[:, a]."""

    def __new__(
        cls,
        *,
        symbols: _Offsets,
        operators: NDArray[np.float32],
        n_observations: int,
        start: NDArray[np.float32],
        reach: float,
        weights: _Floats,
        temperature: float = 0.0,
        supported: _Booleans | None = None,
    ) -> FilterPolicy: ...
    @property
    def rank(self) -> int: ...
    @property
    def operators(self) -> NDArray[np.float32]:
        """(seen symbols, 1 + rank, rank)"""

    def parts(self) -> Record:
        """The arguments that make this policy again."""

@final
class Features:
    """Feature vectors of histories: the state of an automaton policy, or the last `length` steps, the latest first.

    With `one_hot` a step has one indicator per action and per observation; otherwise their numbers, −1 before the
    first step.
    """

    def __new__(
        cls,
        *,
        automaton: AutomatonPolicy | None = None,
        length: int = 0,
        one_hot: bool = False,
        n_actions: int,
        n_observations: int,
    ) -> Features: ...
    @property
    def n_features(self) -> int:
        """Entries of a vector."""

    def along(self, data: _Data, *, threads: int | None = None) -> NDArray[np.float32]:
        """Features at every cut of every episode: (n_steps + n_episodes, n_features)."""

    def parts(self) -> Record:
        """The arguments that make these features again."""

@final
class ForestPolicy(CompiledPolicy):
    """Acts on one forest per action, over features of the history: base + weights · x + the leaves that x falls into.

    The first arguments are those of `Features`.

    base, weights : (n_actions,), (n_actions, n_features)
    trees, nodes : (n_actions,), how many trees and nodes each forest has
    roots, feature, threshold, left, right, value : those of all forests, one after the other; roots and children count
        from the first node of their forest. A node goes left if x[feature] ≤ threshold; a negative feature marks a
        leaf. Children come after their parents.
    """

    def __new__(
        cls,
        *,
        automaton: AutomatonPolicy | None = None,
        length: int,
        one_hot: bool = False,
        n_actions: int,
        n_observations: int,
        base: _Floats,
        weights: _Floats,
        trees: _Offsets,
        nodes: _Offsets,
        roots: _Offsets,
        feature: _Offsets,
        threshold: _Floats,
        left: _Offsets,
        right: _Offsets,
        value: _Floats,
        temperature: float = 0.0,
        supported: _Booleans | None = None,
    ) -> ForestPolicy: ...
    def values(self, x: NDArray[np.float32], *, threads: int | None = None) -> _Floats:
        """Values (rows, n_actions) of feature vectors (rows, n_features)."""

    def parts(self) -> Record:
        """The arguments that make this policy again."""

@disjoint_base
class Pomcp(CompiledPolicy):
    """Plans at every step; `uqf.baselines.POMCP` says how."""

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
    def exploration(self) -> float:
        """The constant of UCB1 in use."""

    def n_particles(self, state: PolicyState) -> int:
        """Size of the particle belief; 0 once the episode should have ended in every particle."""

    def simulated_steps(self, state: PolicyState) -> int:
        """Steps simulated since the episode began."""

@final
class PolicyBatch:
    """A policy acting in many episodes at once; made by ``policy.batch(n)``."""

    def __len__(self) -> int: ...
    def action_probs(self, *, threads: int | None = None) -> _Floats:
        """Probability of every action in every episode: (n, n_actions)."""

    def q_values(self, *, threads: int | None = None) -> _Floats:
        """What every action is worth in every episode: (n, n_actions)."""

    def act(self, *, threads: int | None = None) -> _Offsets:
        """An action for every episode, (n,), each drawn with the random stream of its own episode."""

    def update(self, actions: _Offsets, observations: _Offsets, *, threads: int | None = None) -> None:
        """Takes in the action and the observation of every episode, (n,) each."""

    def reset(self, starts: _Booleans, first: _Offsets | None = None) -> None:
        """Begins the episodes marked in `starts` (n,) anew; `first` (n,) is what they show before an action."""

# --- playing ---------------------------------------------------------------------------------------------

def rollout(
    world: World,
    policy: CompiledPolicy | None,
    *,
    episodes: int,
    horizon: int,
    epsilon: float,
    seed: int,
    first: int = 0,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> _Recorded:
    """Episodes of a policy (None: uniform), recorded with the probability of every action taken."""

def returns(
    world: World,
    policy: CompiledPolicy | None,
    *,
    episodes: int,
    horizon: int,
    discount: float,
    seed: int,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> tuple[_Floats, _Offsets]:
    """(discounted returns, lengths), one entry per episode; nothing else is kept."""
