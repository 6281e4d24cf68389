"""What a policy on summaries keeps of a history, and one step of it, as an ONNX graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqf._reference_summaries import (
    COUNT_DECAYS,
    MAX_ACTIONS,
    MAX_ALL_PAIRS,
    MAX_COUNTED,
    MAX_MIRRORED,
    MAX_PAIRS,
    MAX_VALUES,
    MEAN_DECAYS,
    MIRROR_STEPS,
    PAIR_DECAYS,
    relations,
    within,
)
from uqf.storage.onnx_graph import Graph

#: The parts of a state or of a step, vectors and matrices by name.
Parts = dict[str, str]


@dataclass(frozen=True)
class Layout:
    """What is kept of columns of these sizes, and how it is updated."""

    sizes: Sequence[int]
    touched: NDArray[np.int64]
    expected: NDArray[np.float32]
    steps: int
    long: bool

    @property
    def n_actions(self) -> int:
        return len(self.touched)

    @cached_property
    def is_number(self) -> NDArray[np.bool_]:
        """Of every column."""
        return np.asarray(np.array(self.sizes) == 0)

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """Columns that are numbers."""
        return np.flatnonzero(self.is_number)

    @cached_property
    def counted(self) -> list[int]:
        """Columns whose values are counted."""
        return within(self.sizes, MAX_VALUES, MAX_COUNTED)

    @cached_property
    def paired(self) -> list[int]:
        """Places in `counted` of columns that are counted with the action before."""
        cells = [self.n_actions * self.sizes[column] for column in self.counted]
        return within(cells, MAX_PAIRS, MAX_ALL_PAIRS)

    @cached_property
    def relations(self) -> list[tuple[int, int]]:
        """(looked up in, looked up), places in `counted`."""
        return relations([self.sizes[column] for column in self.counted])

    @cached_property
    def mirrored(self) -> list[int]:
        """Columns whose past is kept, each mirrored in the changes of the others."""
        return self.counted[:MAX_MIRRORED] if len(self.counted) > 1 else []

    @property
    def has_own(self) -> bool:
        """Whether anything is kept of each action."""
        return self.long and self.n_actions <= MAX_ACTIONS

    @cached_property
    def blank(self) -> dict[str, NDArray[np.float32]]:
        """The parts of a state before anything was seen, by name."""
        nothing, actions = np.where(self.is_number, 0.0, -1.0), self.n_actions
        parts = {
            "time": np.zeros(1),
            "last": np.tile(nothing, self.steps),
            "actions": np.full(self.steps, -1.0),
        }
        if self.long:
            parts["first"] = nothing
            if len(self.numbers):
                parts["means"] = np.zeros((len(MEAN_DECAYS), len(self.numbers)))
            for place, column in enumerate(self.counted):
                size = self.sizes[column]
                parts[f"counts {place}"] = np.zeros((len(COUNT_DECAYS), size))
                parts |= {f"seen {place}": np.full(size, -1.0), f"done {place}": np.full(size, -1.0)}
            for place in self.paired:
                cells = actions * self.sizes[self.counted[place]]
                parts[f"pairs {place}"] = np.zeros((len(PAIR_DECAYS), cells))
            if self.relations:
                parts["recalled"] = np.full(3 * len(self.relations), -1.0)
            if self.mirrored:
                parts["changed"] = np.zeros(len(self.mirrored))
            for column in self.mirrored:
                parts[f"past {column}"] = np.append(-1.0, np.zeros(MIRROR_STEPS - 1))
        if self.has_own:
            parts |= {"tries": np.zeros((len(PAIR_DECAYS), actions)), "when": np.full(actions, -1.0)}
            parts |= {"sums": np.zeros(actions), "brought": np.full(actions, -1.0)}
        return {name: part.astype(np.float32) for name, part in parts.items()}

    def split(self, graph: Graph, state: str) -> Parts:
        """A state by its parts."""
        parts, begin = {}, 0
        for name, part in self.blank.items():
            cut = graph.part(state, begin, begin + part.size)
            parts[name] = graph("Reshape", cut, graph.constant(part.shape)) if part.ndim > 1 else cut
            begin += part.size
        return parts

    def joined(self, graph: Graph, parts: Parts) -> str:
        """The state of all parts."""
        return graph("Concat", *(flat(graph, parts[name]) for name in self.blank), axis=0)

    def stepped(self, graph: Graph, before: Parts, action: str, row: str) -> Parts:
        """The parts after an action and a row of columns; the action n_actions begins an episode, and is none."""
        begins = graph("Equal", action, graph.integer(self.n_actions))
        action = graph.cast(action, np.float32)
        width, after = len(self.sizes), dict(before)
        row = self.known(graph, row, graph.part(before["last"], 0, width))
        later = graph("Add", before["time"], float32(graph, 1.0))
        after["time"] = graph("Where", begins, float32(graph, [0.0]), later)
        # Numbers before the first are like the first.
        like_first = graph("Where", graph.constant(self.is_number), row, float32(graph, -1.0))
        pushed = graph("Concat", row, graph.part(before["last"], 0, (self.steps - 1) * width), axis=0)
        begun = graph("Concat", row, *[like_first] * (self.steps - 1), axis=0)
        after["last"] = graph("Where", begins, begun, pushed)
        newest = graph("Where", begins, float32(graph, -1.0), action)
        kept = graph.part(before["actions"], 0, self.steps - 1)
        after["actions"] = graph("Concat", graph.vector(newest), kept, axis=0)
        if self.long:
            after["first"] = graph("Where", begins, row, before["first"])
            self._average(graph, after, begins, row)
            for place, column in enumerate(self.counted):
                present = _hits(graph, self.sizes[column], graph.scalar(before["last"], column))
                after[f"done {place}"] = graph("Where", present, action, before[f"done {place}"])
            self._pair(graph, after, action, row)
            self._count(graph, after, row)
            self._keep(graph, after, before["last"], begins, row)
        if self.has_own:
            self._credit(graph, after, action, row)
        return after

    def known(self, graph: Graph, row: str, last: str) -> str:
        """A row as a state has it: −1 for a category that is missing or unknown, the last for a missing number."""
        missing = graph("Or", graph("IsNaN", row), graph("IsInf", row))
        number = graph("Where", missing, last, row)
        inside = graph(
            "And",
            graph("GreaterOrEqual", row, float32(graph, 0.0)),
            graph("Less", row, float32(graph, self.sizes)),
        )
        category = graph("Where", inside, graph("Floor", row), float32(graph, -1.0))
        return graph("Where", graph.constant(self.is_number), number, category)

    def _average(self, graph: Graph, after: Parts, begins: str, row: str) -> None:
        if not len(self.numbers):
            return
        value = graph("Gather", row, graph.constant(self.numbers), axis=0)
        decays = np.array(MEAN_DECAYS, np.float32)[:, None]
        kept = graph("Mul", after["means"], graph.constant(decays))
        moved = graph("Add", kept, graph("Mul", value, graph.constant(np.float32(1.0) - decays)))
        after["means"] = graph("Where", begins, value, moved)

    def _pair(self, graph: Graph, after: Parts, action: str, row: str) -> None:
        for place in self.paired:
            size = self.sizes[self.counted[place]]
            value = graph.scalar(row, self.counted[place])
            pair = graph("Add", graph("Mul", action, float32(graph, size)), value)
            # An unknown value belongs to no cell.
            known = graph("GreaterOrEqual", value, float32(graph, 0.0))
            cell = graph("Where", known, pair, float32(graph, -1.0))
            came = _hits(graph, self.n_actions * size, cell)
            after[f"pairs {place}"] = _counted(graph, after[f"pairs {place}"], PAIR_DECAYS, came)

    def _count(self, graph: Graph, after: Parts, row: str) -> None:
        """Looks the present values up, then counts them."""
        values = [graph.scalar(row, column) for column in self.counted]
        none = float32(graph, -1.0)
        recalled = []
        for i, j in self.relations:
            place = graph.cast(graph("Max", values[j], float32(graph, 0.0)), np.int64)
            often = graph("Gather", graph("Gather", after[f"counts {i}"], graph.integer(0)), place)
            if i != j:
                same = graph("Equal", values[i], values[j])
                often = graph("Add", often, graph.cast(same, np.float32))
            seen = graph("Gather", after[f"seen {i}"], place)
            ago = graph("Sub", graph.scalar(after["time"]), seen)
            ago = graph("Where", graph("Less", seen, float32(graph, 0.0)), none, ago)
            done = graph("Gather", after[f"done {i}"], place)
            known = graph("GreaterOrEqual", values[j], float32(graph, 0.0))
            recalled += [graph.vector(graph("Where", known, one, none)) for one in (often, ago, done)]
        if recalled:
            after["recalled"] = graph("Concat", *recalled, axis=0)
        for number, column in enumerate(self.counted):
            came = _hits(graph, self.sizes[column], values[number])
            after[f"counts {number}"] = _counted(graph, after[f"counts {number}"], COUNT_DECAYS, came)
            after[f"seen {number}"] = graph("Where", came, after["time"], after[f"seen {number}"])

    def _keep(self, graph: Graph, after: Parts, before: str, begins: str, row: str) -> None:
        """Writes the present values into the past, and when they changed."""
        place = graph("Mod", after["time"], float32(graph, MIRROR_STEPS), fmod=1)
        now, changed = _hits(graph, MIRROR_STEPS, place), []
        for number, column in enumerate(self.mirrored):
            value = graph.scalar(row, column)
            same = graph("Or", begins, graph("Equal", value, graph.scalar(before, column)))
            when = graph.part(after["changed"], number, number + 1)
            changed.append(graph("Where", same, when, after["time"]))
            after[f"past {column}"] = graph("Where", now, value, after[f"past {column}"])
        if changed:
            after["changed"] = graph("Concat", *changed, axis=0)

    def _credit(self, graph: Graph, after: Parts, action: str, row: str) -> None:
        """What the action brought in the column that it touches."""
        taken = _hits(graph, self.n_actions, action)
        after["tries"] = _counted(graph, after["tries"], PAIR_DECAYS, taken)
        after["when"] = graph("Where", taken, after["time"], after["when"])
        came = graph("Gather", row, graph.constant(self.touched), axis=0)
        gained = graph("Where", taken, came, float32(graph, 0.0))
        after["sums"] = graph("Add", after["sums"], gained)
        after["brought"] = graph("Where", taken, came, after["brought"])


def float32(graph: Graph, value: ArrayLike) -> str:
    """A constant in the precision of the memory."""
    return graph.constant(value, np.float32)


def flat(graph: Graph, part: str) -> str:
    """A part as a vector."""
    return graph("Reshape", part, graph.constant([-1]))


def _hits(graph: Graph, size: int, value: str) -> str:
    """Which of 0, 1, … is the value, (size,)."""
    return graph("Equal", float32(graph, np.arange(size)), value)


def _counted(graph: Graph, counts: str, decays: Sequence[float], hits: str) -> str:
    """Decayed counts (decays, n) after one more event."""
    kept = graph("Mul", counts, float32(graph, np.array(decays)[:, None]))
    return graph("Add", kept, graph.cast(hits, np.float32))
