"""What actions and observations are called."""

from __future__ import annotations

from dataclasses import dataclass

from uqf.coding.codebook import Codebook
from uqf.episodes.trajectories import Trajectories

#: Longer names are cut: they come from logs, and a page has only so much room.
MAX_LETTERS = 60


@dataclass(frozen=True)
class Names:
    """Of all codes of a log; numbers where the log has no names."""

    codebook: Codebook
    n_observations: int

    @classmethod
    def of(cls, data: Trajectories) -> Names:
        """Those of a log."""
        return cls(data.codebook or Codebook.named(), data.n_observations)

    def action(self, code: int) -> str:
        """Such as "lubricate", or "action 3"."""
        name = self.codebook.action_name(code)
        return f"action {name}" if self.codebook.n_actions is None else _short(name)

    def observation(self, code: int) -> str:
        """Such as "vibration high", or "observation 3"; a code beyond all stands for nothing seen yet."""
        if not 0 <= code < self.n_observations:
            return "the start"
        named = self.codebook.n_codes is not None
        return _short(self.codebook.describe(code)) if named else f"observation {code}"


def _short(name: str) -> str:
    return name if len(name) <= MAX_LETTERS else name[: MAX_LETTERS - 1] + "…"
