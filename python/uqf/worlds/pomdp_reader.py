"""The reader of `.pomdp` text: a header, then T, O and R lines, a later one writing over an earlier one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqf.types import Record
from uqf.worlds.pomdp_text import ROW_TOLERANCE, SECTIONS, Symbols, Text, numeric

#: How often tables may be written over, beyond `max_entries` entries that any file may write: a short line such as
#: ``T: * uniform`` touches every entry, so without a bound a small file could keep the reader busy for hours.
REWRITES = 16


def _distribution(start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divided by its sum as `TabularPOMDP` would: before the lines, since ``reset`` goes to the start itself."""
    total = float(np.cumsum(start)[-1])
    if not np.all(start >= 0) or abs(total - 1.0) > ROW_TOLERANCE:
        raise ValueError(f"start[all states]: the probabilities sum to {total}, not to 1")
    return start if abs(total - 1.0) <= np.finfo(float).eps * len(start) else start / total


def _start(text: Text, states: Symbols) -> NDArray[np.float64]:
    """A distribution over the states, from what follows the word ``start``."""
    count, place = states.count, text.place
    listed = text.word if text.word in ("include", "exclude") else None
    if listed:
        text.advance()
    text.colon("`start`, `start include` or `start exclude`")
    start = np.zeros(count)
    if listed:
        chosen, everything = np.zeros(count, bool), False
        while text.word and text.word not in SECTIONS:
            named = states.reference(text)
            # A second `*` changes nothing; a million of them must not cost a million fills.
            if not everything:
                chosen[named] = True
                everything = named == slice(0, count)
        start[chosen if listed == "include" else ~chosen] = 1.0
        if not start.any():
            raise text.error("no state is left to start in", place)
        start /= start.sum()
    elif text.skips("uniform"):
        start[:] = 1.0 / count
    elif numeric(text.word):
        place = text.place
        numbers = text.numbers(count, probabilities=False)
        # With one state, `start: 0` can only be its number and `start: 1` only its probability.
        if len(numbers) == 1 and (count > 1 or numbers[0] == 0.0):
            text.move(place)
            start[states.reference(text)] = 1.0
        elif len(numbers) != count:
            raise text.error(f"`start` has {len(numbers)} probabilities; there are {count} states", place)
        else:
            start = numbers
    else:
        if text.word == "*" and count > 1:
            raise text.error("`start: *` is not part of the format; write `start: uniform`")
        start[states.reference(text)] = 1.0
    if text.word and text.word not in SECTIONS:
        raise text.expected("the end of `start`; several states need `start include:`")
    return _distribution(start)


class _File:
    """The tables of a file while it is read: dense, bounded in size, and bounded in the work done on them."""

    def __init__(self, text: Text, max_entries: int) -> None:
        self.text, self.max_entries, self.written = text, max_entries, 0
        self._read_header()
        size = self._entries(2)
        self._refuse_too_large(size)
        actions, states, width = self.actions.count, self.states.count, self.observations.count
        self.law = {"T": np.zeros((actions, states, states)), "O": np.zeros((actions, states, width))}
        #: (A, S), (A, S, S) or (A, S, S, O): as narrow as the lines so far allow.
        self.rewards = np.zeros((actions, states))

    def _read_header(self) -> None:
        """Up to the first T, O or R, in any order; of two discounts or two kinds of values the later counts."""
        text = self.text
        given: dict[str, Any] = {}  # Any: a number, a word, or symbols, by the name of the section
        while text.word not in ("", "T", "O", "R"):
            section = text.word
            if section not in SECTIONS:
                raise text.unknown_section()
            if section in given and section not in ("discount", "values"):
                raise text.error(f"`{section}` is given a second time")
            text.advance()
            if section == "start":
                given[section] = text.place  # The states may be declared later: it is read at the end.
                while text.word and text.word not in SECTIONS:
                    text.advance()
                continue
            text.colon(f"`{section}`")
            place = text.place
            if section == "discount":
                given[section] = text.number()
                if not 0.0 <= given[section] <= 1.0:
                    raise text.error(f"discount {given[section]:g} is not in [0, 1]", place)
            elif section == "values":
                given[section] = text.word
                if not (text.skips("reward") or text.skips("cost")):
                    raise text.expected("`reward` or `cost`")
            else:
                given[section] = Symbols.read(section.removesuffix("s"), text)
        for section in ("states", "discount", "values", "actions", "observations"):
            if section not in given:
                raise text.error(f"no `{section}:` before this; the format demands it")
        self.discount: float = given["discount"]
        self.costs = given["values"] == "cost"
        self.states: Symbols = given["states"]
        self.actions: Symbols = given["actions"]
        self.observations: Symbols = given["observations"]
        self.start = np.full(self.states.count, 1.0 / self.states.count)
        if "start" in given:
            end = text.place
            text.move(given["start"])
            self.start = _start(text, self.states)
            text.move(end)

    def _entries(self, axes: int) -> int:
        """Of T, O and R together, where rewards have so many axes."""
        actions, states, width = self.actions.count, self.states.count, self.observations.count
        return actions * states * (states + width) + math.prod((actions, states, states, width)[:axes])

    def _refuse_too_large(self, entries: int) -> None:
        if entries > self.max_entries:
            sizes = (self.actions.count, self.states.count, self.observations.count)
            raise ValueError(
                f"max_entries = {self.max_entries}: {sizes[0]} actions, {sizes[1]} states and {sizes[2]} observations "
                f"need tables of {entries} entries; raise it if you have the memory"
            )

    def _spend(self, ranges: list[slice]) -> None:
        """Accounts for writing the entries in these ranges."""
        self.written += math.prod(one.stop - one.start for one in ranges)
        if self.written > self.max_entries + self._entries(self.rewards.ndim) * REWRITES:
            problem = f"the file writes over its tables more than {REWRITES} times; raise it"
            raise ValueError(f"max_entries = {self.max_entries}: {problem}")

    def _ranges(self, kinds: list[Symbols]) -> list[slice]:
        """The references that follow T, O or R: one, and as many more as come after colons."""
        name = self.text.word
        self.text.advance()
        self.text.colon(f"`{name}`")
        ranges = [kinds[0].reference(self.text)]
        while len(ranges) < len(kinds) and self.text.skips(":"):
            ranges.append(kinds[len(ranges)].reference(self.text))
        return ranges

    def read_probabilities(self, name: str) -> None:
        """``T: action [: state [: next]]`` or ``O: action [: next [: observation]]``, then probabilities."""
        text, table = self.text, self.law[name]
        kinds = [self.actions, self.states, self.states if name == "T" else self.observations]
        ranges = self._ranges(kinds)
        shape, place, word = table.shape[len(ranges) :], text.place, text.word
        self._spend(ranges + [slice(0, extent) for extent in shape])
        target = table[tuple(ranges)]
        if word in ("uniform", "identity", "reset"):
            if word == "uniform" and shape:
                target[...] = 1.0 / shape[-1]
            elif word == "reset" and shape and name == "T":
                target[...] = self.start
            elif word == "identity" and len(shape) == 2 and shape[0] == shape[1]:
                diagonal = np.arange(shape[0])
                target[...] = 0.0
                target[:, diagonal, diagonal] = 1.0
            else:
                problems = {
                    "uniform": "`uniform` stands for a row or a matrix, not for one entry",
                    "reset": "`reset` stands for rows of T only",
                    "identity": "`identity` stands for a whole square matrix only",
                }
                raise text.error(problems[word])
            text.advance()
            return
        most = math.prod(shape)
        numbers = text.numbers(most, probabilities=True)
        if len(numbers) == 0:
            raise text.expected("a probability, `uniform`, `identity` or `reset`")
        if len(numbers) < most:
            raise text.error(f"{len(numbers)} probabilities from here on; {most} belong here", place)
        target[...] = numbers.reshape(shape) if shape else numbers[0]

    def read_rewards(self) -> None:
        """``R: action [: state [: next state [: observation]]]``, then numbers that run over the indices not named.

        They may leave out the last indices, on which the reward then does not depend.
        """
        text = self.text
        kinds = [self.actions, self.states, self.states, self.observations]
        extents = [kind.count for kind in kinds]
        ranges = self._ranges(kinds)
        named = len(ranges)
        lengths = [math.prod(extents[named : named + running]) for running in range(5 - named)]
        place = text.place
        numbers = text.numbers(lengths[-1], probabilities=False)
        if len(numbers) == 0:
            raise text.expected("a reward")
        if len(numbers) not in lengths:
            allowed = " or ".join(map(str, lengths))
            raise text.error(f"{len(numbers)} rewards from here on; {allowed} belong here", place)
        running = named + lengths.index(len(numbers))
        shape = [extent if named <= axis < running else 1 for axis, extent in enumerate(extents)]
        values = numbers.reshape(shape)
        ranges += [slice(0, extent) for extent in extents[named:]]
        axes = self.rewards.ndim
        for axis in (2, 3):
            part = ranges[axis].stop - ranges[axis].start < extents[axis]
            if part or (shape[axis] > 1 and (values != values.take([0], axis)).any()):
                axes = max(axes, axis + 1)
        self._widen(axes, extents)
        self._spend(ranges[:axes])
        while values.ndim > axes:
            values = values[..., 0]
        self.rewards[tuple(ranges[:axes])] = values

    def _widen(self, axes: int, extents: list[int]) -> None:
        """Lets rewards depend on more, by copying what is there."""
        if axes > self.rewards.ndim:
            self._refuse_too_large(self._entries(axes))
            narrow = self.rewards[(..., *(np.newaxis,) * (axes - self.rewards.ndim))]
            self.rewards = np.broadcast_to(narrow, extents[:axes]).copy()

    def finish(self) -> Record:
        """Checks every row, by name, and forgets what rewards turned out not to depend on."""
        for name, table in self.law.items():
            sums = table.sum(-1)
            bad = np.argwhere(np.abs(sums - 1.0) > ROW_TOLERANCE)
            if len(bad):
                action, state = bad[0]
                total = float(sums[action, state])
                problem = f"the probabilities sum to {total}, not to 1"
                if total == 0.0:
                    problem = f"no line of the file gives this row of {name} a probability"
                raise ValueError(
                    f"{name}[{self.actions.label(action)}, {self.states.label(state)}]: {problem}"
                )
        rewards = self.rewards
        while rewards.ndim > 2 and all((part == part[..., :1]).all() for part in rewards):
            rewards = np.ascontiguousarray(rewards[..., 0])
        return {
            "transitions": self.law["T"],
            "observations": self.law["O"],
            "rewards": 0.0 - rewards if self.costs else rewards,
            "start": self.start,
            "discount": self.discount,
            "action_names": list(self.actions.numbers),
            "observation_names": list(self.observations.numbers),
            "state_names": list(self.states.numbers),
        }


def read(content: str, max_entries: int) -> Record:
    """The arguments of a `TabularPOMDP`; refused, before memory is taken, where its tables have more entries."""
    text = Text(content)
    file = _File(text, max_entries)
    while text.word:
        if text.word in file.law:
            file.read_probabilities(text.word)
        elif text.word == "R":
            file.read_rewards()
        elif text.word in SECTIONS:
            raise text.error(f"`{text.word}` must come before the first T, O or R")
        else:
            raise text.unknown_section()
    return file.finish()
