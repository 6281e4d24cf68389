"""Policies of every kind with random parts."""

import numpy as np
from hypothesis import strategies as st

import uqf
from mazes import random_world
from uqf.learn.plan.plan_policy import PlanPolicy
from uqf.policies.policy import ForestPolicy


class InPython:
    """A policy seen as a user's own: only what the protocol demands."""

    def __init__(self, policy):
        self.initial_state, self.update, self.action_probs = (
            policy.initial_state,
            policy.update,
            policy.action_probs,
        )


def random_table(n_actions, n_observations, seed=0, softness=1.0):
    probs = np.random.default_rng(seed).dirichlet(
        np.full(n_actions, softness), n_actions * n_observations + 1
    )
    return uqf.TablePolicy(probs, n_observations)


def random_observations(n_actions, n_observations, seed=0, temperature=0.5):
    values = np.random.default_rng(seed).normal(size=(n_observations + 1, n_actions))
    return uqf.ObservationPolicy(values, temperature=temperature)


def softened(env, share, seed=1):
    """A deterministic rule of the last symbol in `share` of the steps, else uniform."""
    rule = np.random.default_rng(seed).integers(env.n_actions, size=env.n_symbols + 1)
    return uqf.TablePolicy(
        (1 - share) / env.n_actions + share * np.eye(env.n_actions)[rule], env.n_observations
    )


def random_automaton(n_actions, n_observations, seed=0, rank=3, seen=None, **options):
    rng = np.random.default_rng(seed)
    n_symbols = n_actions * n_observations
    symbols = np.arange(n_symbols) if seen is None else rng.permutation(n_symbols)[:seen]
    if options.pop("propensities", False):
        options["propensities"] = rng.dirichlet(np.ones(n_actions), len(symbols) + 2)
    if options.pop("normaliser", False):
        options["normaliser"] = rng.normal(size=rank)
    return uqf.AutomatonPolicy(
        symbols=symbols,
        operators=rng.normal(size=(len(symbols), rank, rank)),
        n_actions=n_actions,
        n_observations=n_observations,
        start=rng.normal(size=rank),
        anchor=rng.normal(size=rank),
        weights=rng.normal(size=(n_actions, rank)),
        **({"temperature": 0.7} | options),
    )


def random_beliefs(n_actions, n_observations, seed=0, models=2, temperature=0.5):
    """Values on the beliefs of models to which some observations tell nothing and some actions are alike.

    Those of odd seeds are noisy: a state may show anything. An action has one to three vectors, by the seed.
    """
    rng = np.random.default_rng(seed)
    kinds = np.unique(
        np.random.default_rng([seed, 1]).integers(n_actions, size=n_actions), return_inverse=True
    )[1]
    n_kinds = kinds.max() + 1
    parts = {"states": [], "starts": [], "transitions": [], "ranges": []}
    for _ in range(models):
        clones = rng.integers(0, 3, n_observations) + (np.arange(n_observations) == 0)
        ends = np.cumsum(clones)
        states = int(ends[-1])
        parts["states"].append(states)
        parts["starts"].append(rng.dirichlet(np.ones(states)))
        parts["transitions"].append(0.9 * rng.dirichlet(np.ones(states), (n_kinds, states)).ravel())
        shown = np.stack([ends - clones, ends], axis=1)
        shown[clones == 0] = 0, states
        parts["ranges"].append(shown)
    features = sum(parts["states"])
    shown = None
    if seed % 2:
        drawn = [rng.dirichlet(np.ones(n_observations), size).T.ravel() for size in parts["states"]]
        shown = np.concatenate(drawn).astype(np.float32)
        parts["ranges"] = [np.tile([0, size], (n_observations, 1)) for size in parts["states"]]
    return uqf.BeliefPolicy(
        shown=shown,
        states=np.array(parts["states"]),
        starts=np.concatenate(parts["starts"]).astype(np.float32),
        transitions=np.concatenate(parts["transitions"]).astype(np.float32),
        kinds=kinds,
        ranges=np.stack(parts["ranges"]),
        weights=rng.normal(size=(features, 1 + seed % 3, n_actions)),
        bias=rng.normal(size=n_actions),
        temperature=temperature,
    )


def random_contexts(n_actions, n_observations, seed=0, contexts=8, temperature=0.5):
    """A tree of at most so many contexts, the empty one not counted."""
    rng = np.random.default_rng(seed)
    edges = []
    for _ in range(contexts):
        edge = (int(rng.integers(len(edges) + 1)), int(rng.integers(n_actions * n_observations + 1)))
        if edge not in edges:
            edges.append(edge)
    parents, symbols = np.array(edges, np.int64).reshape(-1, 2).T
    return uqf.ContextPolicy(
        parents=np.ascontiguousarray(parents),
        symbols=np.ascontiguousarray(symbols),
        values=rng.normal(size=(len(edges) + 1, n_actions)),
        n_observations=n_observations,
        temperature=temperature,
    )


def random_filter(n_actions, n_observations, seed=0, rank=3, seen=None, temperature=0.5):
    """A filter that knows `seen` symbols, or all of them."""
    rng = np.random.default_rng(seed)
    n_symbols = n_actions * n_observations
    symbols = rng.permutation(n_symbols)[:seen]
    return uqf.FilterPolicy(
        symbols=symbols,
        operators=rng.normal(size=(len(symbols), 1 + rank, rank)).astype(np.float32),
        n_observations=n_observations,
        start=rng.normal(size=rank).astype(np.float32),
        reach=2.0,
        weights=rng.normal(size=(1 + rank, n_actions)),
        temperature=temperature,
    )


def random_forest(n_actions, n_observations, seed=0, length=2, automaton=None, temperature=0.5):
    """Two trees of one split for every action."""
    rng = np.random.default_rng(seed)
    width = length * (n_actions + n_observations)
    features = width if automaton is None else automaton.rank
    return ForestPolicy(
        automaton=automaton,
        length=length if automaton is None else 0,
        n_actions=n_actions,
        n_observations=n_observations,
        base=rng.normal(size=n_actions),
        trees=np.full(n_actions, 2),
        nodes=np.full(n_actions, 6),
        roots=np.tile([0, 3], n_actions),
        feature=np.where(
            np.tile([1, 0, 0, 1, 0, 0], n_actions), rng.integers(features, size=6 * n_actions), -1
        ),
        threshold=rng.normal(size=6 * n_actions),
        left=np.tile([1, 0, 0, 4, 0, 0], n_actions),
        right=np.tile([2, 0, 0, 5, 0, 0], n_actions),
        value=rng.normal(size=6 * n_actions),
        temperature=temperature,
    )


def random_summaries(n_actions, n_observations, seed=0, steps=2, long=True, temperature=0.5):
    """Two trees of one split for every action, over summaries of two columns that codes stand for."""
    rng = np.random.default_rng(seed)
    plain = random_forest(n_actions, n_observations, seed, length=2).parts()
    names = ("base", "trees", "nodes", "roots", "threshold", "left", "right", "value")
    codes = np.stack([np.arange(n_observations), rng.normal(size=n_observations)], axis=1)
    return uqf.SummaryPolicy(
        sizes=np.array([n_observations, 0]),
        touched=np.arange(n_actions) % 2,
        expected=np.zeros((0, 0), np.float32),
        steps=steps,
        long=long,
        codes=codes.astype(np.float32),
        # The last two observations.
        feature=np.where(plain["feature"] < 0, -1, rng.integers(2 * steps, size=6 * n_actions)),
        temperature=temperature,
        **{name: plain[name] for name in names},
    )


def random_plan(n_actions, n_observations, seed=0, stages=None, lookahead=False, temperature=0.5):
    """Plans in a world where everything is possible; with `stages` some for every number of steps left."""
    plans = n_actions * (stages or 1)
    return PlanPolicy(
        random_world(seed, 3, n_actions, n_observations),
        np.random.default_rng(seed).normal(size=(plans, 3)),
        np.arange(plans) % n_actions,
        stages=None if stages is None else 1 + np.arange(plans) // n_actions,
        lookahead=lookahead,
        temperature=temperature,
    )


#: One policy of every kind for 3 actions and 2 observations, by name.
KINDS = {
    "table": lambda: random_table(3, 2),
    "observation": lambda: random_observations(3, 2),
    "context": lambda: random_contexts(3, 2),
    "belief": lambda: random_beliefs(3, 2),
    "belief of some vectors": lambda: random_beliefs(3, 2, seed=2, models=1),
    "filter": lambda: random_filter(3, 2, seen=4),
    "automaton": lambda: random_automaton(3, 2, seen=4, propensities=True, window=3),
    "automaton with a normaliser": lambda: random_automaton(3, 2, normaliser=True),
    "automaton with behaviour": lambda: random_automaton(
        3, 2, behavior=(random_automaton(3, 2, seed=1, behavior=(random_automaton(3, 2, seed=2), 0.5)), 0.25)
    ),
    "forest on a window": lambda: random_forest(3, 2),
    "forest on an automaton": lambda: random_forest(3, 2, automaton=random_automaton(3, 2, seed=1)),
    "summaries": lambda: random_summaries(3, 2),
    "plan": lambda: random_plan(3, 2),
    "plan with lookahead": lambda: random_plan(3, 2, lookahead=True),
    "staged plan": lambda: random_plan(3, 2, stages=4),
    "staged plan with lookahead": lambda: random_plan(3, 2, stages=4, lookahead=True),
}


@st.composite
def policies(draw):
    """Compiled policies with random parts and sizes, perhaps with actions that lack support, always or at times."""
    policy = draw(_policies())
    marks = st.lists(st.booleans(), min_size=policy.n_actions, max_size=policy.n_actions)
    supported = draw(st.none() | marks.map(lambda marks: np.array(marks, np.bool_)))
    after = np.array(sorted(draw(st.sets(st.integers(0, policy.n_observations)))), np.int64)
    if len(after) == 0 or (supported is not None and not supported.any()):
        return policy.with_support(supported)
    then = np.array([draw(marks) for _ in after])
    # One action at least that is supported at all.
    then[:, 0 if supported is None else supported.argmax()] = True
    return policy.with_support(supported, after, then)


@st.composite
def _policies(draw):
    n_actions, n_observations = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    sizes = (n_actions, n_observations, draw(st.integers(0, 2**32 - 1)))
    temperature = draw(st.sampled_from([0.0, 0.5]))
    kind = draw(
        st.sampled_from(
            ["table", "context", "belief", "filter", "automaton", "window forest", "forest", "summaries"]
        )
    )
    if kind == "table":
        return random_table(*sizes)
    if kind == "context":
        return random_contexts(*sizes, contexts=draw(st.integers(0, 9)), temperature=temperature)
    if kind == "belief":
        return random_beliefs(*sizes, models=draw(st.integers(1, 2)), temperature=temperature)
    if kind == "filter":
        seen = draw(st.integers(1, n_actions * n_observations))
        return random_filter(*sizes, rank=draw(st.integers(1, 20)), seen=seen, temperature=temperature)
    if kind == "summaries":
        return random_summaries(*sizes, draw(st.integers(1, 3)), draw(st.booleans()), temperature)
    if kind == "window forest":
        return random_forest(*sizes, length=draw(st.integers(1, 3)), temperature=temperature)
    automaton = random_automaton(
        *sizes,
        rank=draw(st.integers(1, 4)),
        seen=draw(st.integers(1, n_actions * n_observations)),
        propensities=draw(st.booleans()),
        normaliser=draw(st.booleans()),
        window=draw(st.none() | st.integers(1, 3)),
        temperature=temperature,
    )
    return (
        automaton
        if kind == "automaton"
        else random_forest(*sizes, automaton=automaton, temperature=temperature)
    )


def some_episodes(policy, steps=40):
    """Two episodes of any actions and observations, with a place for every step in `probs_along`."""
    rng = np.random.default_rng(0)
    return uqf.Trajectories(
        rng.integers(policy.n_actions, size=steps),
        rng.integers(policy.n_observations, size=steps),
        np.zeros(steps),
        [0, steps // 3, steps],
        n_actions=policy.n_actions,
        n_observations=policy.n_observations,
    )


def behaviour(policy):
    """Action probabilities along fixed episodes: equal for equal policies."""
    return uqf.policies.policy.probs_along(policy, some_episodes(policy))
