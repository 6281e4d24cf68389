"""Which actions a log says anything about: overall, and after an observation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqf.coding.codebook import Codebook
from uqf.episodes.checks import FloatArray
from uqf.episodes.propensities import ActionShares, start_symbol
from uqf.learn.limits import LIMITS, Limits, needed_steps
from uqf.policies.policy import CompiledPolicy

#: So many are named in a note.
NAMED = 5


@dataclass(frozen=True)
class Support:
    """What a learned policy may choose; the rule for all learners, at any temperature.

    What a model or a table makes of an action of a few steps is chance, and what it assumes of one of none is no
    evidence. After an observation an action needs as many whole steps there: where the log was too seldom for one, all
    actions keep the support that they have overall.

    taken : steps that took every action, (n_actions,); needed : so many support it
    after : observations after which some action has none, `n_observations` for the start; then : which have, there,
    (observations, actions); seen : how many observations there are
    """

    taken: FloatArray
    needed: float
    after: NDArray[np.int64]
    then: NDArray[np.bool_]
    n_observations: int

    @classmethod
    def of(cls, shares: ActionShares, n_observations: int, bounds: Limits = LIMITS) -> Support:
        """From how often every action followed every symbol."""
        symbols, actions = np.divmod(shares.choices, shares.n_actions)
        begins = symbols == start_symbol(shares.n_actions, n_observations)
        last = np.where(begins, n_observations, symbols % n_observations)
        taken, steps = shares.taken, np.bincount(last, shares.counts, n_observations + 1)
        needed = np.floor(np.minimum(bounds.steps, bounds.share * steps / shares.n_actions))
        # Few observations have enough steps, and only those get a row.
        rows = np.flatnonzero(needed > 0.0)
        place = np.full(n_observations + 1, -1)
        place[rows] = np.arange(len(rows))
        counted = place[last] >= 0
        table = np.zeros((len(rows), shares.n_actions))
        np.add.at(table, (place[last[counted]], actions[counted]), shares.counts[counted])
        then, overall = table >= needed[rows, np.newaxis], needed_steps(taken, bounds)
        then &= taken >= overall
        kept = then.any(axis=1) & (then < (taken >= overall)).any(axis=1)
        return cls(taken, overall, rows[kept], then[kept], n_observations)

    def limited(self, policy: CompiledPolicy) -> CompiledPolicy:
        """The policy, which then chooses nothing else."""
        supported = None if (self.taken >= self.needed).all() else self.taken >= self.needed
        if supported is None and len(self.after) == 0:
            return policy
        return policy.with_support(supported, *((self.after, self.then) if len(self.after) else ()))

    def notes(self, codebook: Codebook | None) -> list[str]:
        """In words, what is never chosen."""
        named, listed = str if codebook is None else codebook.action_name, []
        for few, words in (
            (self.taken == 0, "never taken in the log"),
            (
                (self.taken > 0) & (self.taken < self.needed),
                f"taken in fewer than {self.needed:.3g} steps of the log",
            ),
        ):
            if few.any():
                names = [named(code) for code in np.flatnonzero(few)[: NAMED + 1].tolist()]
                listed.append(
                    f"{few.sum()} of {len(few)} actions were {words} and are never chosen: {_joined(names)}"
                )
        if len(self.after):
            pairs = np.argwhere(~self.then & (self.taken >= self.needed))[: NAMED + 1].tolist()
            listed.append(
                f"after {len(self.after)} of {self.n_observations} observations some actions were taken in fewer than "
                f"ten steps and a tenth of an equal share, and are not chosen there: "
                f"{_joined([self._where(named(action), row, codebook) for row, action in pairs])}"
            )
        return listed

    def _where(self, action: str, row: int, codebook: Codebook | None) -> str:
        code = int(self.after[row])
        if code == self.n_observations:
            return f"{action} at the start"
        return f"{action} after {code if codebook is None else codebook.describe(code)}"


def _joined(names: list[str]) -> str:
    return ", ".join([*names[:NAMED], *(["…"] if len(names) > NAMED else [])])
