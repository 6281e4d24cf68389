"""How much of a history is worth summarising: what forests predict of held-out episodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.episodes.sums import time_within
from uqf.learn.improve.gain import Gain
from uqf.learn.memory.summaries import VIEWS, Seen, ViewName, folds
from uqf.types import Record

#: Views that are compared, the richer one last.
DEFAULTS: tuple[ViewName, ...] = ("recent", "history")


@dataclass(frozen=True)
class Choice:
    """How a view is chosen; docs/notebook.md has the evidence.

    steps : episodes of about so many steps are looked at
    targets : rewards and so many further numbers are predicted at most
    trees, leaves, smallest, features, rows : of the forests that predict; see `Forests`
    evidence, share : a richer view must predict something better by so many standard errors, and by this share of its
        variance
    """

    steps: int = 20_000
    targets: int = 12
    trees: int = 8
    leaves: int = 64
    smallest: int = 10
    features: float = 0.5
    rows: float = 0.7
    evidence: float = 4.0
    share: float = 0.01


def chosen_view(
    seen: Seen, seed: int, threads: int | None, wanted: ViewName | None = None
) -> tuple[ViewName, bool, Record]:
    """("history" if it predicts reward or next observation better than "recent", whether actions are pooled, evidence).

    With the history, actions are pooled if one forest for all of them predicts rewards of held-out episodes better than
    one for each. If a view is `wanted`, nothing else is looked at. One observation alone is not compared: even where it
    is a state, the difference of the last two makes trees see more, and no two trees alike.
    """
    if wanted is not None and not VIEWS[wanted].long:
        return wanted, False, {}
    settings = Choice()
    data = seen.data
    few = seen.part(slice(max(20, int(np.searchsorted(data.offsets[1:], settings.steps)) + 1)))
    # Views are compared by all targets, and whether actions are pooled by the reward alone.
    targets = _targets(few, settings.targets, seed)[: None if wanted is None else 1]
    fold = folds(few.data)
    chosen, best, pooled = wanted or DEFAULTS[0], np.zeros(0, np.float32), False
    evidence: Record = {}
    for name in DEFAULTS if wanted is None else (wanted,):
        view = VIEWS[name]
        bins = few.bins(view, threads)
        errors = bins.held_out_errors(targets, fold, settings, pooled=False, seed=seed)
        together = False
        if view.long and bins.n_features[1]:
            others = bins.held_out_errors(targets[:1], fold, settings, pooled=True, seed=seed)
            evidence["pooled"] = float((errors[0] - others[0]).mean(dtype=np.float64))
            if evidence["pooled"] > 0.0:
                together, errors[0] = True, others[0]
        if not len(best):
            best, pooled = errors, together
            continue
        better = best - errors
        gains = [Gain(np.add.reduceat(one, few.data.offsets[:-1], dtype=np.float64)) for one in better]
        shares = better.mean(axis=1, dtype=np.float64).tolist()
        evidence[name] = {
            "over": chosen,
            "evidence": [gain.evidence for gain in gains],
            "share": shares,
        }
        clear = zip(gains, shares, strict=True)
        if any(gain.evidence > settings.evidence and share > settings.share for gain, share in clear):
            chosen, best, pooled = name, errors, together
    return chosen, pooled, evidence


def _targets(seen: Seen, most: int, seed: int) -> NDArray[np.float32]:
    """What is predicted at every step, (targets, n_steps), of mean 0 and variance 1: the reward, changes of numbers,
    and random functions of categories.
    """
    rng = np.random.default_rng([seed, 1])
    before = np.concatenate([np.zeros((1, len(seen.sizes)), np.float32), seen.columns[:-1]])
    starts = time_within(seen.data) == 0
    before[starts] = 0.0 if seen.first is None else seen.first
    targets = [seen.data.rewards]
    for column, size in enumerate(seen.sizes.tolist()):
        values = seen.columns[:, column]
        if size == 0:
            targets.append(np.nan_to_num(values - before[:, column], posinf=0.0, neginf=0.0))
        else:
            known = np.nan_to_num(values, nan=size).astype(np.int64)
            targets += [rng.normal(size=size + 1)[known] for _ in range(min(size - 1, 2))]
    kept = [one for one in targets[: 1 + most] if one.std() > 0.0] or [np.zeros(seen.data.n_steps)]
    return np.stack([(one - one.mean()) / (one.std() or 1.0) for one in kept]).astype(np.float32)
