"""Names of actions and observations, and the codes that stand for them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

Name = str | int

#: How an observation that never occurred in the logs is shown.
UNKNOWN = "(unknown)"


@dataclass(frozen=True)
class Vocabulary:
    """Names of actions and observations; None where the logs have numbers.

    One observation code more than there are names, the last, stands for everything that the logs do not
    contain: a policy meets it as a symbol that it never saw, and keeps its state. There is no such action,
    since a policy chooses from those it knows.

    Parameters
    ----------
    actions, observations : tuples of str, optional
        Action i is called ``actions[i]``, observation i ``observations[i]``.

    Raises
    ------
    ValueError
        If a name is listed twice.

    Examples
    --------
    >>> import uqf
    >>> names = uqf.Vocabulary(("wait", "repair"), ("quiet", "loud"))
    >>> names.encode_action("repair"), names.decode_observation(0)
    (1, 'quiet')
    >>> names.encode_observation("smoking")  # never seen
    2
    """

    actions: tuple[str, ...] | None = None
    observations: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for role, names in (("actions", self.actions), ("observations", self.observations)):
            if names is None:
                continue
            if len(names) == 0 or not all(isinstance(name, str) for name in names):
                raise ValueError(f"{role}: give at least one name, all of them strings")
            if len(set(names)) != len(names):
                twice = Counter(names).most_common(1)[0][0]
                raise ValueError(f"{role}: {twice!r} is listed twice")

    @property
    def n_actions(self) -> int | None:
        """Number of actions, if they have names."""
        return None if self.actions is None else len(self.actions)

    @property
    def n_observations(self) -> int | None:
        """Number of observation codes, if they have names: one more than names."""
        return None if self.observations is None else len(self.observations) + 1

    def encode_action(self, action: Name) -> int:
        """Code of an action; numbers stand for themselves."""
        if not isinstance(action, str):
            return int(action)
        if self.actions is None or action not in self.actions:
            known = "only numbers" if self.actions is None else ", ".join(self.actions[:20])
            raise ValueError(f"action {action!r} does not occur in the logs, which know {known}")
        return self.actions.index(action)

    def encode_observation(self, observation: Name) -> int:
        """Code of an observation; the last code for a name that the logs do not contain."""
        if not isinstance(observation, str):
            return int(observation)
        if self.observations is None:
            raise ValueError(f"observation {observation!r} is a name, but the logs have numbers")
        return self._places.get(observation, len(self.observations))

    def decode_action(self, code: int) -> Name:
        """Name of an action, or its code if actions have no names."""
        return int(code) if self.actions is None else self.actions[code]

    def decode_observation(self, code: int) -> Name:
        """Name of an observation, or its code if observations have no names."""
        if self.observations is None:
            return int(code)
        return UNKNOWN if code == len(self.observations) else self.observations[code]

    @cached_property
    def _places(self) -> dict[str, int]:
        """Code by name: there may be many names, and acting encodes one at every step."""
        return {name: place for place, name in enumerate(self.observations or ())}
