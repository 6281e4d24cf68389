"""A cautious start: a new policy decides some of the steps, drawn by chance, and the rest is done as before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf.episodes.checks import FloatArray, probability
from uqf.episodes.propensities import last_symbols, shrunk_frequencies, start_symbol
from uqf.episodes.trajectories import Trajectories
from uqf.policies.batches import Batch, batch
from uqf.policies.policy import ContextPolicy, ValuePolicy, probs_along, softmax, started
from uqf.policies.rule import Rule
from uqf.types import Memory, Raw, Record


def mix(policy: Raw, other: Raw, share: float) -> Mixture:
    """Lets `policy` decide in a share of the steps, drawn by chance at every step; `other` decides the rest.

    Parameters
    ----------
    policy : a policy or a fitted learner
        Who is tried.
    other : a policy, a fitted learner, `uqf.rule(…)`, or Trajectories
        Who decides the rest. Of episodes it is their behaviour: how often every action followed every symbol.
    share : float in [0, 1]
        Of the steps that `policy` decides.

    Returns
    -------
    Mixture
        A policy like any other: evaluated, compared, saved, deployed by `uqf.Agent`, exported to ONNX if both can be.

    Raises
    ------
    ValueError
        If the share is out of range, or the two are for other numbers of actions or observations.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
    >>> learner = uqf.ContextQ(0.95).fit(data)
    >>> cautious = uqf.mix(learner, data, 0.1)
    >>> uqf.save(cautious, "cautious.safetensors")
    >>> uqf.load("cautious.safetensors").share
    0.1
    """
    first: Raw = getattr(policy, "policy_", policy)
    book = getattr(getattr(policy, "origin_", None), "codebook", None)
    if isinstance(other, Trajectories):
        other = behaviour(other)
    elif isinstance(other, Rule):
        other = other.of(book, first.n_actions, first.n_observations)
    second: Raw = getattr(other, "policy_", other)
    return Mixture(first, second, probability("share", share))


def behaviour(data: Trajectories) -> ContextPolicy:
    """How a log acted, by the last symbol: shares of actions, drawn towards the overall ones where steps are few."""
    last = last_symbols(data)
    seen, place = np.unique(last, return_inverse=True)
    counts = np.bincount(place * data.n_actions + data.actions, minlength=len(seen) * data.n_actions)
    overall = np.bincount(data.actions, minlength=data.n_actions) / data.n_steps
    table = shrunk_frequencies(counts.reshape(len(seen), -1).astype(np.float64), overall)
    begins = seen == start_symbol(data.n_actions, data.n_observations)
    root = table[begins][0] if begins.any() else overall
    with np.errstate(divide="ignore"):
        values = np.log(np.vstack([root, table[~begins]]))
    contexts = seen[~begins]
    return ContextPolicy(
        parents=np.zeros_like(contexts),
        symbols=contexts,
        values=values,
        n_observations=data.n_observations,
        temperature=1.0,
    )


class Mixture(ValuePolicy):
    """What `uqf.mix` gives: probabilities are ``share`` of one policy's and the rest of the other's."""

    def __init__(self, policy: Raw, other: Raw, share: float, temperature: float = 1.0) -> None:
        self.policies, self.share, self.temperature = (policy, other), float(share), temperature
        for name in ("n_actions", "n_observations"):
            sizes = [getattr(one, name) for one in self.policies]
            if sizes[0] != sizes[1]:
                raise ValueError(
                    f"policy has {name} = {sizes[0]} and other has {sizes[1]}: mix policies of one log"
                )
            setattr(self, name, sizes[0])

    def initial_state(self, first: int | None = None) -> Memory:
        """Those of both."""
        return tuple(started(one, first) for one in self.policies)

    def update(self, state: Memory, action: int, observation: int) -> Memory:
        """Both see what was done, whoever decided it."""
        pairs = zip(self.policies, state, strict=True)
        return tuple(one.update(memory, action, observation) for one, memory in pairs)

    def q_values(self, state: Memory) -> FloatArray:
        """Logarithms of the probabilities at temperature 1."""
        pairs = zip(self.policies, state, strict=True)
        with np.errstate(divide="ignore"):
            return np.log(self.mixed([one.action_probs(memory) for one, memory in pairs]))

    def mixed(self, probs: Sequence[ArrayLike]) -> FloatArray:
        """Of the probabilities of both."""
        one, other = (np.asarray(each, np.float64) for each in probs)
        return np.asarray(self.share * one + (1.0 - self.share) * other)

    def tempered(self, probs: FloatArray) -> FloatArray:
        """Probabilities at the temperature of the mixture."""
        with np.errstate(divide="ignore"):
            return probs if self.temperature == 1.0 else softmax(np.log(probs), self.temperature)

    def probs_along(self, data: Trajectories) -> FloatArray:
        """Before every logged step, (n_steps, n_actions)."""
        return self.tempered(self.mixed([probs_along(one, data) for one in self.policies]))

    def batch(self, n: int, seed: int = 0) -> MixtureBatch:
        """`n` parallel episodes."""
        return MixtureBatch(self, n, seed)

    def parts(self) -> Record:
        """The arguments that make this policy again."""
        policy, other = self.policies
        return {"policy": policy, "other": other, "share": self.share, "temperature": self.temperature}


class MixtureBatch:
    """A mixture in `n` episodes at once, as fast as its parts."""

    def __init__(self, mixture: Mixture, n: int, seed: int) -> None:
        self._mixture = mixture
        self._parts: list[Batch] = [batch(one, n, seed=seed) for one in mixture.policies]
        self._rngs = [np.random.default_rng([seed, episode]) for episode in range(n)]

    def __len__(self) -> int:
        return len(self._rngs)

    def action_probs(self) -> FloatArray:
        """Probability of every action in every episode: (n, n_actions)."""
        return self._mixture.tempered(self._mixture.mixed([one.action_probs() for one in self._parts]))

    def act(self) -> NDArray[np.int64]:
        """An action for every episode, (n,), each drawn with the random numbers of its own episode."""
        upto = np.cumsum(self.action_probs(), axis=1)
        drawn = np.array([rng.random() for rng in self._rngs]) * upto[:, -1]
        return np.asarray((upto <= drawn[:, None]).sum(axis=1), np.int64)

    def update(self, actions: ArrayLike, observations: ArrayLike) -> None:
        """Both see the action and the observation of every episode, (n,) each."""
        for one in self._parts:
            one.update(actions, observations)

    def reset(self, starts: ArrayLike, first: ArrayLike | None = None) -> None:
        """Begins the episodes marked anew."""
        for one in self._parts:
            one.reset(starts, first)
