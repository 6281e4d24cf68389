"""A world made of a compressed predictive state representation, in which a policy can be played."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqf.baselines.tpsr import CPSR, linear_values
from uqf.episodes.trajectories import Trajectories
from uqf.errors import NumericalError
from uqf.policies.batches import batch
from uqf.policies.policy import Policy, TablePolicy

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Sizes of the state to choose from. More only add noise on logs of thousands of episodes.
RANKS = (5, 10, 20)

#: Dimensions of the projected statistics, several times the largest state.
PROJECTED = 100

#: Nothing more is played once what is left, of a reward at the start, is less than this.
NEGLIGIBLE = 1e-12

#: States moved at a time, each by an operator of its own: bounds the memory.
BLOCK = 4096


def likeliest_rank(data: Trajectories, seed: int) -> int:
    """The size of the state, learned from one half of the episodes, that predicts the other half best."""
    if len(data) < 2:
        return RANKS[0]
    order = np.random.default_rng([seed, 3]).permutation(len(data))
    learned, held = (data[np.sort(half)] for half in np.array_split(order, 2))
    scores = [_cpsr(learned, rank, seed).score(held) for rank in RANKS]
    return RANKS[int(np.argmax(scores))]


def _cpsr(data: Trajectories, rank: int, seed: int) -> CPSR:
    try:
        return CPSR(rank, prefix_dim=PROJECTED, suffix_dim=PROJECTED, seed=seed).fit(data)
    except NumericalError:
        # The logs support fewer directions than asked for: take them all.
        return CPSR(None, prefix_dim=PROJECTED, suffix_dim=PROJECTED, seed=seed).fit(data)


class CPSRSimulator:
    """Draws observations as a `CPSR` predicts them; rewards and endings are linear in its state.

    The policy remembers the episodes that it plays here as it would remember real ones, whatever its
    memory is. What is wrong is the world: a state of a few numbers, learned from words of a few symbols,
    forgets. It then expects too little of policies that rely on memory and too much of bad ones. Means over five logs
    of 2000 uniform episodes: on gridworld-near 0.14 for a policy that earns 0.54 and 0.063 for one that earns
    0.031, on Tiger -14 for -7 and -296 for -288 (`LastSymbolModel`: 0.21, 0.046, -18 and -278).

    Parameters
    ----------
    rank : int
        Size of the state; fewer if the logs do not support so many.
    ridge : float
        Of the regressions of rewards and endings on the state, per step of the data.
    seed : int
        Of the projection.
    """

    def __init__(self, rank: int = RANKS[0], *, ridge: float = 1e-3, seed: int = 0) -> None:
        self.rank, self.ridge, self.seed = rank, ridge, seed

    def fit(self, data: Trajectories) -> CPSRSimulator:
        """Learns the state, what it shows next, what it pays and where it ends."""
        self.psr = psr = _cpsr(data, self.rank, self.seed).psr_
        self._operators = np.zeros((data.n_symbols, psr.rank, psr.rank))
        self._operators[psr.wfa.symbols] = psr.wfa.seen_operators
        before = psr.states(data)
        after = self._moved(before, np.asarray(data.symbols, np.int64))
        ends = np.zeros(data.n_steps)
        ends[data.offsets[1:] - 1] = data.terminated
        # An ending is told by the state after its step, since the last observation often gives it away.
        self._ends = linear_values(psr, after, data, ends, self.ridge)
        self._rewards = linear_values(psr, before, data, data.rewards, self.ridge)
        self._reward_range = float(data.rewards.min()), float(data.rewards.max())
        return self

    def returns(
        self, policy: Policy | None, episodes: int, *, horizon: int, discount: float, seed: int
    ) -> FloatArray:
        """Discounted returns of a policy (None: uniform) in this world, (episodes,).

        Rewards and endings are taken in expectation, so that only actions and observations are drawn.
        """
        n_actions, n_observations = self.psr.n_actions, self.psr.n_observations
        if policy is None:
            uniform = np.full((n_actions * n_observations + 1, n_actions), 1.0 / n_actions)
            policy = TablePolicy(uniform, n_observations)
        memories = batch(policy, episodes, n_actions=n_actions)
        rng = np.random.default_rng([seed, 4])
        states = np.tile(self.psr.state(), (episodes, 1))
        returns, alive = np.zeros(episodes), np.ones(episodes)
        for step in range(horizon):
            if discount**step * alive.max() < NEGLIGIBLE:
                break
            actions = _drawn(memories.action_probs(), rng)
            rewards = np.clip((states * self._rewards[actions]).sum(1), *self._reward_range)
            returns += discount**step * alive * rewards
            shown = self.psr.observation_probs(states)[np.arange(episodes), actions]
            observations = _drawn(shown, rng)
            states = self._moved(states, actions * n_observations + observations)
            alive *= 1.0 - np.clip((states * self._ends[actions]).sum(1), 0.0, 1.0)
            memories.update(actions, observations)
        return returns

    def _moved(self, states: FloatArray, symbols: IntArray) -> FloatArray:
        """Normalised states after one symbol each; the average state where nothing sensible is left."""
        moved = np.empty_like(states)
        for first in range(0, len(states), BLOCK):
            part = slice(first, first + BLOCK)
            moved[part] = np.einsum("nk,nkl->nl", states[part], self._operators[symbols[part]])
        totals = moved @ self.psr.wfa.omega
        sound = totals > 1e-9 * np.abs(moved).sum(1)
        scaled = moved / np.where(sound, totals, 1.0)[:, np.newaxis]
        return np.where(sound[:, np.newaxis], scaled, self.psr.anchor)


def _drawn(probs: FloatArray, rng: np.random.Generator) -> IntArray:
    """One entry per row of a table of distributions."""
    edges = probs.cumsum(1)
    drawn = rng.random((len(probs), 1)) * edges[:, -1:]
    chosen: IntArray = np.minimum((edges <= drawn).sum(1), probs.shape[1] - 1)
    return chosen
