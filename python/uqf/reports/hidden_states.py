"""Hidden states of a belief policy: what each looks like, what the policy does there, where it leads."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.sums import cut_before, episodes_within, returns_to_go
from uqf.policies.policy import BeliefPolicy, shown_by_states
from uqf.reports.names import Names
from uqf.reports.study import Study
from uqf.types import Record

#: States that are listed, and states that each leads to.
MAX_STATES, MAX_NEXT = 16, 3

#: Steps by which it is measured how states are used.
USED_STEPS = 20_000

#: Of what a state may show, what it shows this often is named.
OFTEN = 0.25


@dataclass(frozen=True)
class State:
    """A hidden state."""

    name: str
    looks: list[str]
    """What is observed there, the most probable first."""
    share: float
    """Of the time that the policy believes to be there, on held-out episodes."""
    action: str
    """What the policy mostly does there."""
    action_share: float
    to_come: float
    """Discounted rewards that the log still had to come there, above their mean over all steps."""
    leads_to: list[tuple[str, float]]
    """(name of the next state, probability) as the policy acts, the most probable first."""


@dataclass(frozen=True)
class HiddenStates:
    """The states of one model, those that are believed in most often first."""

    states: list[State]
    covered: float
    """Share of the time in which the policy believes to be in one of them."""
    of_model: int
    """Number of states of the model."""
    models: int

    @classmethod
    def of(cls, study: Study) -> HiddenStates:
        """Of the first of the policy's models."""
        policy = study.policy
        assert isinstance(policy, BeliefPolicy), "other policies have no hidden states"
        data = study.held_out[: episodes_within(study.held_out, USED_STEPS)]
        beliefs = policy.beliefs_along(data)[cut_before(data), 1:]
        parts = policy.parts()
        model = Model.first_of(parts)
        size = model.shown.shape[1]
        own = beliefs[:, :size].astype(np.float64)
        shares = own.mean(axis=0)
        listed = np.argsort(-shares, kind="stable")[:MAX_STATES]
        listed = listed[shares[listed] > 1e-3]
        to_come = returns_to_go(data, study.baseline.discount)
        weights = own / np.maximum(own.sum(axis=0), 1e-12)
        acts = weights.T @ study.probs[: data.n_steps]
        above = weights.T @ to_come - to_come.mean()
        ahead = np.einsum("sa,ast->st", acts, model.transitions)[np.ix_(listed, listed)]
        names = study.names
        states = [
            State(
                ascii_uppercase[number],
                model.looks(int(state), names),
                float(shares[state]),
                names.action(int(acts[state].argmax())),
                float(acts[state].max()),
                float(above[state]),
                [
                    (ascii_uppercase[end], float(ahead[number, end]))
                    for end in np.argsort(-ahead[number], kind="stable")[:MAX_NEXT]
                ],
            )
            for number, state in enumerate(listed)
        ]
        return cls(states, float(shares[listed].sum()), size, len(parts["states"]))


@dataclass(frozen=True)
class Model:
    """A hidden Markov model."""

    transitions: NDArray[np.float32]
    """(n_actions, size, size)"""
    shown: NDArray[np.float32]
    """(n_observations, size): probability that a state shows an observation; all 1 if it was never seen."""

    @classmethod
    def first_of(cls, parts: Record) -> Model:
        """Of the models of a belief policy, whose parts lie one after the other."""
        kinds, size = parts["kinds"], int(parts["states"][0])
        count = int(kinds.max()) + 1
        flat = parts["transitions"][: count * size * size]
        return cls(flat.reshape(count, size, size)[kinds], shown_by_states(parts)[0])

    def looks(self, state: int, names: Names) -> list[str]:
        """What is observed in a state."""
        known = (self.shown < 1.0).any(axis=1)
        shows = np.where(known, self.shown[:, state], 0.0)
        if not shows.any():
            return ["anything"]
        often = np.flatnonzero(shows >= min(OFTEN, shows.max()))
        return [names.observation(int(code)) for code in often[np.argsort(-shows[often], kind="stable")]]
