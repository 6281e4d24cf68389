"""What actions and observations are called."""

from __future__ import annotations

from dataclasses import dataclass

from uqf.data.trajectories import Trajectories
from uqf.data.vocabulary import Vocabulary

#: Longer names are cut: they come from logs, and a page has only so much room.
MAX_LETTERS = 60


@dataclass(frozen=True)
class Names:
    """Of all codes of a log; numbers where the log has no names."""

    vocabulary: Vocabulary
    n_observations: int

    @classmethod
    def of(cls, data: Trajectories) -> Names:
        """Those of a log."""
        return cls(data.vocabulary or Vocabulary(), data.n_observations)

    def action(self, code: int) -> str:
        """Such as "lubricate", or "action 3"."""
        name = self.vocabulary.decode_action(code)
        return _short(name) if isinstance(name, str) else f"action {name}"

    def observation(self, code: int) -> str:
        """Such as "vibration high", or "observation 3"; a code beyond all stands for nothing seen yet."""
        if not 0 <= code < self.n_observations:
            return "the start"
        name = self.vocabulary.decode_observation(code)
        return _short(name) if isinstance(name, str) else f"observation {name}"


def _short(name: str) -> str:
    return name if len(name) <= MAX_LETTERS else name[: MAX_LETTERS - 1] + "…"
