"""Actions that are not always allowed, or that the log says nothing about: what a policy does given that."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.episodes.propensities import last_observations
from uqf.episodes.trajectories import Trajectories
from uqf.types import Floats


def given_allowed(
    probs: Floats,
    allowed: NDArray[np.bool_] | None,
    values: Callable[[], Floats] | None = None,
    supported: NDArray[np.bool_] | None = None,
) -> Floats:
    """Probabilities (n, n_actions) given that the action is allowed, (n, n_actions) too; None allows all.

    Where a policy wants none of the allowed actions, those of most worth share alike: `values`, called only then, gives
    what every action is worth, (n, n_actions), and actions that are not `supported`, (n_actions,), come last. All
    allowed actions share alike if nothing is known of what they are worth.
    """
    if allowed is None:
        return probs
    kept = np.where(allowed, probs, 0.0)
    lost = np.flatnonzero(kept.sum(axis=1) == 0.0)
    if len(lost):
        kept[lost] = _best(allowed[lost], None if values is None else values()[lost], supported)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def _best(allowed: NDArray[np.bool_], values: Floats | None, supported: NDArray[np.bool_] | None) -> Floats:
    usual = allowed if supported is None else allowed & supported
    usual = np.where(usual.any(axis=1, keepdims=True), usual, allowed)
    if values is None:
        return usual.astype(np.float64)
    worth = np.where(usual, values, -np.inf)
    known = np.isfinite(worth).any(axis=1, keepdims=True)
    return np.where(known, _core.softmax(worth, 0.0, None), usual)


def supported_along(policy: _core.CompiledPolicy, data: Trajectories) -> NDArray[np.bool_]:
    """Which actions have support before every logged step, overall and after the last observation, by its code."""
    supported = np.ones((data.n_steps, policy.n_actions), np.bool_)
    if policy.supported is not None:
        supported &= policy.supported
    codes, then = policy.supported_after, policy.supported_then
    if codes is not None and then is not None:
        last = last_observations(data)
        place = np.minimum(np.searchsorted(codes, last), len(codes) - 1)
        known = codes[place] == last
        supported[known] &= then[place[known]]
    return supported


def uniform(allowed: NDArray[np.bool_]) -> Floats:
    """Equal probabilities of the allowed actions, (n, n_actions)."""
    return np.asarray(allowed / allowed.sum(axis=1, keepdims=True))


def checked_masks(name: str, given: object, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Masks of actions, (n, n_actions) or one for all, or an error that shows them; one action at least is allowed."""
    try:
        mask = np.asarray(given)
    except ValueError as error:
        raise ValueError(f"{name} is no list of booleans: {error}") from None
    if mask.dtype.kind not in "biu" or mask.shape not in (shape, shape[1:]):
        raise ValueError(
            f"{name} has shape {mask.shape} and dtype {mask.dtype}: give booleans, {shape[1:]} or {shape}"
        )
    allowed = np.broadcast_to(mask.astype(np.bool_), shape)
    if not allowed.any(axis=1).all():
        raise ValueError(f"{name}: at least one action must be allowed")
    return allowed
