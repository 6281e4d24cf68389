"""A learned model as a world to play in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqf import _core
from uqf.episodes.checks import FloatArray
from uqf.policies.policy import shown_by_states
from uqf.worlds.environments import TabularPOMDP


def model_world(
    start: FloatArray,
    transitions: FloatArray,
    ends: FloatArray,
    rewards: FloatArray,
    shown: FloatArray,
    *,
    discount: float,
    horizon: int,
    opens: bool,
) -> TabularPOMDP:
    """A hidden Markov model as a world; one more state is the end.

    start : (S,); transitions : (A, S, S); ends, rewards : (A, S), of an action in a state; shown : (S, O), what a state
    shows when it is entered and, if the world `opens` with an observation, before the first action. Rows are
    normalised.

    Trap: where an action was never seen to lead anywhere (a row of zeros) the episode ends, and a state that is not
    known to show anything shows everything alike.
    """
    n_actions, states = ends.shape
    n_observations = shown.shape[1]
    totals = transitions.sum(axis=2, keepdims=True)
    going = np.divide(transitions, totals, out=np.zeros_like(transitions), where=totals > 0.0)
    going *= np.clip(1.0 - ends, 0.0, 1.0)[:, :, np.newaxis]
    moves = np.zeros((n_actions, states + 1, states + 1))
    moves[:, :states, :states] = going
    moves[:, :states, states] = np.maximum(1.0 - going.sum(axis=2), 0.0)
    moves[:, states, states] = 1.0
    total = shown.sum(axis=1, keepdims=True)
    looks = np.full((states + 1, n_observations), 1.0 / n_observations)
    np.divide(shown, total, out=looks[:states], where=total > 0.0)
    return TabularPOMDP(
        moves,
        np.broadcast_to(looks, (n_actions, *looks.shape)),
        np.concatenate([rewards, np.zeros((n_actions, 1))], axis=1),
        np.append(start, 0.0) / start.sum(),
        discount,
        first_observations=looks if opens else None,
        terminal=np.arange(states + 1) == states,
        horizon=horizon,
    )


def cells_of(families: Sequence[_core.CloneModels], n_observations: int) -> int:
    """Numbers that the largest of these models takes as a world."""
    largest = 1 + max(family.n_features // len(family) for family in families)
    return len(families[0].filters()["kinds"]) * largest * max(largest, n_observations)


def worlds_of(families: Sequence[_core.CloneModels], *, discount: float, horizon: int) -> list[TabularPOMDP]:
    """All models of some families as worlds to play in, which show what `reset` showed if it showed something."""
    return [
        _world_of(family, index, discount, horizon) for family in families for index in range(len(family))
    ]


def _world_of(family: _core.CloneModels, index: int, discount: float, horizon: int) -> TabularPOMDP:
    model, parts = family.model(index), family.cut(index, index + 1).filters()
    kinds = parts["kinds"]
    transitions, ends, rewards = (
        model[name].astype(np.float64)[kinds] for name in ("transitions", "ends", "rewards")
    )
    (shown,) = shown_by_states(parts)
    known = ~(shown == 1.0).all(axis=1)  # of the other observations nothing was learned
    return model_world(
        model["start"].astype(np.float64),
        transitions,
        ends,
        rewards,
        np.where(known[:, np.newaxis], shown, 0.0).T.astype(np.float64),
        discount=discount,
        horizon=horizon,
        opens=bool(parts["opens"]),
    )
