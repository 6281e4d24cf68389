"""What actions and observations are called."""

from __future__ import annotations

from dataclasses import dataclass

from uqf.coding.codebook import Codebook
from uqf.episodes.trajectories import Trajectories

#: Longer names are cut; pages list them whole.
MAX_LETTERS = 120

#: Words, and whether they are a name.
Phrase = list[tuple[str, bool]]


def cut(name: str, most: int = MAX_LETTERS) -> str:
    """At most so many letters of a name."""
    return name if len(name) <= most else name[: most - 1] + "…"


def text(phrase: Phrase) -> str:
    """In plain words, names in quotes and cut."""
    return "".join(f"“{cut(words)}”" if named else words for words, named in phrase)


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
        return f"action {name}" if self.codebook.n_actions is None else name

    def observation(self, code: int) -> str:
        """Such as "vibration high", or "observation 3"; a code beyond all stands for nothing seen yet."""
        if not 0 <= code < self.n_observations:
            return "the start"
        named = self.codebook.n_codes is not None
        return self.codebook.describe(code) if named else f"observation {code}"
