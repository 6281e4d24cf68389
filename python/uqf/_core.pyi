"""The compiled core: worlds, episodes of compiled policies, and checks on trajectories.

The package wraps what users call; come here for the contract of the raw calls. Arrays are C-contiguous and
have exactly the stated dtype. Long calls release the interpreter, hear Ctrl-C and call ``progress(done)``
about twenty times a second. Errors are `ValueError` naming the argument; a `RuntimeError` is a bug.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from uqf.types import Record

__version__: str

_Integers: TypeAlias = NDArray[np.int32]
_Offsets: TypeAlias = NDArray[np.int64]
_Floats: TypeAlias = NDArray[np.float64]
_Singles: TypeAlias = NDArray[np.float32]
_Booleans: TypeAlias = NDArray[np.bool_]
_Tasks: TypeAlias = NDArray[np.uint32] | None
_Progress: TypeAlias = Callable[[int], object] | None

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
    # And, where there are any, `columns` (n_steps, d) and `first_columns` (n_episodes, d), float32.

# --- trajectories ----------------------------------------------------------------------------------------

def validate(data: _Data) -> None:
    """Raises ValueError naming the first episode and step that cannot be."""

def episode_priorities(data: _Data, seed: int) -> NDArray[np.uint64]:
    """A random number of every episode, (n_episodes,), which depends on its content and on the seed.

    It does not depend on where the episode lies. Copies of an episode have different numbers.
    """

def discounted_sums(
    rows: _Floats | _Singles, offsets: _Offsets, factor: float | _Floats, *, forward: bool = False
) -> None:
    """In place, within every episode: rows[t] += factor · rows[t + 1], or rows[t − 1] with `forward`.

    `factor` may differ by step, (n_steps,).
    """

def temporal_differences(
    rows: _Singles,
    offsets: _Offsets,
    rewards: _Singles,
    following: _Singles,
    ratios: _Singles,
    factors: _Singles,
) -> _Floats:
    """Σ x_t [z_t, R_t]ᵀ, (width, width + 1), of rows x (n_steps + n_episodes, width) at every cut.

    z and R are sums of ratio · (x_t − following · x_{t+1}) and of ratio · reward that go on by `factors` within an
    episode, all (n_steps,).
    """

# --- worlds ----------------------------------------------------------------------------------------------

@final
class World:
    @staticmethod
    def named(name: str, variant: str) -> World:
        """A world and its variant.

        "tiger"; "gridworld": "near", "mid", "far" (one map, three starts) or "hamilton"; "pocman" of Silver and Veness:
        "full", "mini" or "micro"; "spocman" of Hamilton et al.: "published" or "chasing" ghosts.
        """

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
    ) -> World: ...

    n_actions: Final[int]
    n_observations: Final[int]
    shows_first: Final[bool]
    action_names: Final[list[str]]
    observation_names: Final[list[str]]
    def model(self) -> Record | None: ...
    def simulation(self, seed: int, episode: int = 0) -> Simulation: ...

@final
class Simulation:
    first: Final[int | None]
    def step(self, action: int) -> tuple[int, float, bool]: ...
    def choose(self, probs: _Floats) -> int: ...
    def render(self) -> str: ...

# --- words, Hankel statistics and operators ----------------------------------------------------------------

#: A word as a sequence of symbols; the empty one is λ.
_Word: TypeAlias = Sequence[int]

def most_frequent(
    data: _Data, *, occurrences: str, max_length: int, limit: int | None = None
) -> tuple[list[list[int]], list[int]]:
    """The most frequent words with their counts, the empty word first.

    `occurrences` is "start" (words that open an episode) or "anywhere".
    """

def project_words(words: Sequence[_Word], kind: str, dim: int, seed: int) -> _Floats:
    """φ of every word, shape (words, dim); `kind` is "gaussian", "rademacher", "sparse" or "hashed"."""

def hankel_sums(
    data: _Data, counting: object, *, by_symbol: bool = False, threads: int | None = None
) -> Record:
    """The fields of a `uqf.learn.spectral.sums.HankelSums`: one pass by a `uqf.learn.spectral.basis.Counting`."""

def sum_operators(
    data: _Data,
    counting: object,
    left_map: _Floats,
    right_map: _Floats,
    *,
    threads: int | None = None,
) -> tuple[_Offsets, _Floats]:
    """(seen symbols, operators summed over the episodes).

    The operator of a symbol is Σ (left · left_map) ⊗ (right · right_map) over its occurrences.

    The maps have shapes (left_dim, rank) and (right_dim, rank); the operators (seen, rank, rank).
    """

def hidden_models(
    data: _Data,
    judges: _Data,
    growth: object,
    *,
    numbers: tuple[int, int],
    noisy: bool,
    seed: int,
    threads: int | None = None,
    progress: _Progress = None,
) -> list[Record]:
    """Hidden Markov models in which a state may show any observation; `growth` is a `uqf.learn.memory.hidden.Growth`.

    They are grown or, if that makes held-out episodes clearly likelier or `noisy` asks for it, have one state an
    observation, which the sensor may take for another. Each has start (S,); transitions (A, S, S), the probability of
    the next state and of going on; ends (S,); emissions (O, S), ones for what never occurred; rewards (A, S) and
    likelihoods (n_episodes,), of the episodes of `judges`.
    """

def point_plan(
    transitions: _Singles,
    emissions: _Singles,
    rewards: _Singles,
    starts: _Singles,
    discount: float,
    settings: object,
    *,
    seed: int,
) -> tuple[_Singles, float]:
    """(vectors (A, V, S), value of the start): an action is worth its largest product with the belief.

    `settings` has the attributes of `uqf.learn.plan.points.PointSettings`.
    """

# --- compiled policies -----------------------------------------------------------------------------------

def softmax(values: _Floats, temperature: float, supported: _Booleans | None = None) -> _Floats:
    """Probabilities along the last axis of values (rows, n_actions), by the rule of all policies."""

@final
class PolicyState: ...

@disjoint_base
class CompiledPolicy:
    n_actions: Final[int]
    n_observations: Final[int]
    temperature: Final[float]
    supported: Final[_Booleans | None]
    supported_after: Final[_Offsets | None]
    supported_then: Final[_Booleans | None]
    column_sizes: Final[_Offsets | None]
    def initial_state(self, first: int | _Singles | None = None) -> PolicyState: ...
    def update(self, state: PolicyState, action: int, observation: int | _Singles) -> PolicyState: ...
    def q_values(self, state: PolicyState) -> _Floats: ...
    def action_probs(self, state: PolicyState) -> _Floats: ...
    def action(self, state: PolicyState, rng: _Random | None = None) -> int: ...
    def with_temperature(self, temperature: float) -> Self: ...
    def with_support(
        self, supported: _Booleans | None, after: _Offsets | None = None, then: _Booleans | None = None
    ) -> Self: ...
    def greedy(self) -> Self: ...
    def batch(self, n: int, *, seed: int = 0) -> PolicyBatch: ...
    def probs_along(self, data: _Data, *, threads: int | None = None) -> _Floats: ...
    def q_values_along(self, data: _Data, *, threads: int | None = None) -> _Floats: ...
    def __reduce__(self) -> tuple[object, ...]: ...

@final
class TablePolicy(CompiledPolicy):
    def __new__(
        cls,
        probs: _Floats,
        n_observations: int,
        *,
        temperature: float = 1.0,
        supported: _Booleans | None = None,
        supported_after: _Offsets | None = None,
        supported_then: _Booleans | None = None,
    ) -> TablePolicy: ...
    probs: Final[_Floats]  # action probabilities by symbol, with a last row for the start
    def parts(self) -> Record: ...

@final
class ObservationPolicy(CompiledPolicy):
    def __new__(
        cls,
        values: _Floats,
        *,
        temperature: float = 0.0,
        supported: _Booleans | None = None,
        supported_after: _Offsets | None = None,
        supported_then: _Booleans | None = None,
    ) -> ObservationPolicy: ...
    values: Final[_Floats]  # (n_observations + 1, n_actions)
    def parts(self) -> Record: ...

@final
class AutomatonPolicy(CompiledPolicy):
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
        propensities: _Floats | None = None,
        normaliser: _Floats | None = None,
        window: int | None = None,
        temperature: float = 0.0,
        supported: _Booleans | None = None,
        supported_after: _Offsets | None = None,
        supported_then: _Booleans | None = None,
        behavior: tuple[AutomatonPolicy, float] | None = None,
    ) -> AutomatonPolicy: ...
    rank: Final[int]
    weights: Final[_Floats]  # (n_actions, rank)
    operators: Final[_Floats]
    def vector(self, state: PolicyState) -> _Floats: ...
    def states_along(self, data: _Data, *, threads: int | None = None) -> _Floats: ...
    def parts(self) -> Record: ...

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
    def __new__(
        cls,
        *,
        parents: _Offsets,
        symbols: _Offsets,
        values: _Floats,
        n_observations: int,
        temperature: float = 0.0,
        supported: _Booleans | None = None,
        supported_after: _Offsets | None = None,
        supported_then: _Booleans | None = None,
    ) -> ContextPolicy: ...
    values: Final[_Floats]  # (nodes, n_actions)
    def plus(self, other: ContextPolicy) -> ContextPolicy: ...
    def parts(self) -> Record: ...

@final
class CloneLayout:
    """How many states the models of a data set have and how they are shared out, and what its rewards look like.

    About `states` states, shared out among the observations by their frequency. `tasks` numbers the task of every
    episode from 0: each has rewards and ends of its own. In noisy models a state may show anything.
    """

    def __new__(
        cls, data: _Data, *, states: int, tasks: _Tasks = None, noisy: bool = False
    ) -> CloneLayout: ...
    noisy: Final[bool]  # whether a state may show anything
    n_states: Final[int]
    ranges: Final[_Offsets]  # first and last + 1 of the clones of every observation: (n_observations, 2)
    kinds: Final[_Offsets]  # which transition matrix every action has, (n_actions,)
    #: (observations, actions) that are too rare to be learned about alone and share clones or transitions.
    shared: Final[tuple[int, int]]
    def started(
        self,
        data: _Data,
        labels: NDArray[np.uint32],
        *,
        first: int,
        seed: int,
        tasks: _Tasks = None,
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
        tasks: _Tasks = None,
        threads: int | None = None,
        progress: _Progress = None,
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

    n_features: Final[int]  # entries of the feature vector: the states of all models
    noisy: Final[bool]  # whether a state may show anything
    def __len__(self) -> int: ...
    def score(self, data: _Data, *, tasks: _Tasks = None) -> list[float]:
        """Mean log-likelihood of a step of these episodes, by model."""

    def iterated(self, data: _Data) -> CloneModels:
        """Models after one plain iteration of Baum and Welch on these episodes."""

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
    def __new__(
        cls,
        *,
        states: _Offsets,
        starts: _Singles,
        transitions: _Singles,
        ranges: _Offsets,
        kinds: _Offsets,
        weights: _Floats,
        bias: _Floats,
        shown: _Singles | None = None,
        opens: bool = False,
        temperature: float = 0.0,
        supported: _Booleans | None = None,
        supported_after: _Offsets | None = None,
        supported_then: _Booleans | None = None,
    ) -> BeliefPolicy: ...
    weights: Final[_Floats]  # (features, vectors, n_actions)
    def beliefs_along(self, data: _Data, *, threads: int | None = None) -> _Singles: ...
    def parts(self) -> Record: ...

def filter_states(
    operators: _Singles,
    reach: float,
    places: _Integers,
    offsets: _Offsets,
    starts: _Singles,
    *,
    backward: bool = False,
    threads: int | None = None,
) -> _Singles:
    """[1, x] at every cut of episodes, (n_steps + n_episodes, 1 + rank).

    x' = [1, x] · operators[symbol], shortened to a root mean square of `reach` where it is longer.

    operators : (symbols, 1 + rank, rank)
    places : (n_steps,), the symbol of every step, −1 for one that changes nothing
    starts : (n_episodes, rank), the states before the first steps; with `backward` those after the last steps, and
        states run from there back
    """

@final
class FilterPolicy(CompiledPolicy):
    def __new__(
        cls,
        *,
        symbols: _Offsets,
        operators: _Singles,
        n_observations: int,
        start: _Singles,
        reach: float,
        weights: _Floats,
        temperature: float = 0.0,
        supported: _Booleans | None = None,
        supported_after: _Offsets | None = None,
        supported_then: _Booleans | None = None,
    ) -> FilterPolicy: ...
    rank: Final[int]
    operators: Final[_Singles]
    def parts(self) -> Record: ...

@final
class ForestPolicy(CompiledPolicy):
    def __new__(
        cls,
        *,
        automaton: AutomatonPolicy | None = None,
        length: int,
        n_actions: int,
        n_observations: int,
        base: _Floats,
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
        supported_after: _Offsets | None = None,
        supported_then: _Booleans | None = None,
    ) -> ForestPolicy: ...
    def features_along(self, data: _Data, *, threads: int | None = None) -> _Singles: ...
    def values(self, x: _Singles, *, threads: int | None = None) -> _Floats: ...
    def parts(self) -> Record: ...

# --- summaries of raw columns, and forests on them ---------------------------------------------------------

def summaries_along(seen: object, view: object, *, threads: int | None = None) -> tuple[_Singles, _Singles]:
    """Summaries at every cut of episodes: about the history (cuts, n), about every action (cuts, n_actions, m).

    `seen` and `view` have the attributes of `uqf.learn.memory.summaries.Seen` and `View`.
    """

@final
class SummaryBins:
    """Summaries at every cut of episodes, as the bins that trees are grown on; arguments as of `summaries_along`."""

    def __new__(cls, seen: object, view: object, *, threads: int | None = None) -> SummaryBins: ...
    @property
    def n_features(self) -> tuple[int, int]:
        """Numbers about the history, and about every action."""

    def held_out_errors(
        self, targets: _Singles, fold: NDArray[np.uint8], settings: object, *, pooled: bool, seed: int
    ) -> _Singles:
        """Squared errors (targets, n_steps) of targets of mean 0, (targets, n_steps).

        Of every fold (0 or 1 for every step) and action, or of all actions if they are pooled, a forest predicts the
        steps of the other fold.
        """

    def fitted(
        self,
        rewards: _Singles,
        going: _Booleans,
        fold: NDArray[np.uint8],
        returns: _Singles,
        span: tuple[float, float],
        settings: object,
        *,
        discount: float,
        seed: int,
        progress: _Progress = None,
    ) -> Record:
        """The forests of all actions as arguments of a `SummaryPolicy`, `changes` of the targets, and `mean_value`.

        Arrays have an entry for every step. `going` is False where the world ended the episode; values are kept within
        `span`. `settings` has the attributes of `uqf.learn.improve.forests.Forests`. Progress counts trees and sweeps.
        """

@final
class SummaryPolicy(CompiledPolicy):
    """Acts on one forest per action, or on one for all, over summaries of columns and of what the action brought."""

    def __new__(
        cls,
        *,
        base: _Floats,
        trees: _Offsets,
        nodes: _Offsets,
        roots: _Offsets,
        feature: _Offsets,
        threshold: _Floats,
        left: _Offsets,
        right: _Offsets,
        value: _Floats,
        sizes: _Offsets,
        touched: _Offsets,
        expected: _Singles,
        steps: int,
        long: bool,
        codes: _Singles,
        temperature: float = 0.0,
        supported: _Booleans | None = None,
        supported_after: _Offsets | None = None,
        supported_then: _Booleans | None = None,
    ) -> SummaryPolicy: ...
    def vector(self, state: PolicyState) -> _Singles:
        """The summaries in a memory, as they are kept."""

    def parts(self) -> Record:
        """The arguments that make this policy again."""

# --- search ------------------------------------------------------------------------------------------------

@disjoint_base
class Pomcp(CompiledPolicy):
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
    exploration: Final[float]

@final
class PolicyBatch:
    def __len__(self) -> int: ...
    def action_probs(self, *, threads: int | None = None) -> _Floats: ...
    def q_values(self, *, threads: int | None = None) -> _Floats: ...
    def act(self, *, threads: int | None = None) -> _Offsets: ...
    def update(
        self, actions: _Offsets, observations: _Offsets | _Singles, *, threads: int | None = None
    ) -> None: ...
    def reset(self, starts: _Booleans, first: _Offsets | _Singles | None = None) -> None: ...

# --- playing ---------------------------------------------------------------------------------------------

def rollout(
    world: World,
    policy: CompiledPolicy | None,
    schedule: Record,
    *,
    threads: int | None = None,
    progress: _Progress = None,
) -> _Recorded:
    """Episodes of a policy (None: uniform), recorded with the probability of every action taken.

    A schedule has episodes, first (the number of the first), horizon, epsilon and seed; `World.schedule` makes it.
    """
