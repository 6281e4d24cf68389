"""One step of a policy on summaries as an ONNX graph; `uqf._reference_summaries` says what the summaries are."""

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
from uqf.policies.policy import SummaryPolicy
from uqf.storage.onnx_forests import forests
from uqf.storage.onnx_graph import Graph, Step
from uqf.types import Record

#: The parts of a state or of a step, vectors and matrices by name.
Parts = dict[str, str]


def summary_step(policy: SummaryPolicy, parts: Record) -> Step:
    """The state are the parts of `Layout`, one after the other; the observation is a row of raw columns."""
    sizes = np.asarray(parts["sizes"]).tolist()
    touched, expected = np.asarray(parts["touched"]), np.asarray(parts["expected"])
    layout = Layout(sizes, touched, expected, int(parts["steps"]), bool(parts["long"]))

    def update(graph: Graph, state: str, action: str, observation: str, symbol: str) -> str:
        return layout.joined(graph, layout.stepped(graph, layout.split(graph, state), action, observation))

    def values(graph: Graph, state: str) -> str:
        features = layout.features(graph, layout.split(graph, state))
        return forests(graph, parts, layout.n_actions, layout.n_shared, layout.n_own, features)

    # What an episode says that showed nothing, which counts as an observation too.
    return Step(np.concatenate([*layout.blank.values()], axis=None), update, values, len(sizes))


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
        """Size of the alphabet."""
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
        return graph("Concat", *(_flat(graph, parts[name]) for name in self.blank), axis=0)

    def stepped(self, graph: Graph, before: Parts, action: str, row: str) -> Parts:
        """The parts after an action and a row of columns; the action n_actions begins an episode, and is none."""
        begins = graph("Equal", action, graph.integer(self.n_actions))
        action = graph.cast(action, np.float32)
        width, after = len(self.sizes), dict(before)
        row = self.known(graph, row, graph.part(before["last"], 0, width))
        later = graph("Add", before["time"], _float(graph, 1.0))
        after["time"] = graph("Where", begins, _float(graph, [0.0]), later)
        # Numbers before the first are like the first.
        like_first = graph("Where", graph.constant(self.is_number), row, _float(graph, -1.0))
        pushed = graph("Concat", row, graph.part(before["last"], 0, (self.steps - 1) * width), axis=0)
        begun = graph("Concat", row, *[like_first] * (self.steps - 1), axis=0)
        after["last"] = graph("Where", begins, begun, pushed)
        newest = graph("Where", begins, _float(graph, -1.0), action)
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
            graph("GreaterOrEqual", row, _float(graph, 0.0)),
            graph("Less", row, _float(graph, self.sizes)),
        )
        category = graph("Where", inside, graph("Floor", row), _float(graph, -1.0))
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
            pair = graph("Add", graph("Mul", action, _float(graph, size)), value)
            # An unknown value belongs to no cell.
            known = graph("GreaterOrEqual", value, _float(graph, 0.0))
            cell = graph("Where", known, pair, _float(graph, -1.0))
            came = _hits(graph, self.n_actions * size, cell)
            after[f"pairs {place}"] = _counted(graph, after[f"pairs {place}"], PAIR_DECAYS, came)

    def _count(self, graph: Graph, after: Parts, row: str) -> None:
        """Looks the present values up, then counts them."""
        values = [graph.scalar(row, column) for column in self.counted]
        none = _float(graph, -1.0)
        recalled = []
        for i, j in self.relations:
            place = graph.cast(graph("Max", values[j], _float(graph, 0.0)), np.int64)
            often = graph("Gather", graph("Gather", after[f"counts {i}"], graph.integer(0)), place)
            if i != j:
                same = graph("Equal", values[i], values[j])
                often = graph("Add", often, graph.cast(same, np.float32))
            seen = graph("Gather", after[f"seen {i}"], place)
            ago = graph("Sub", graph.scalar(after["time"]), seen)
            ago = graph("Where", graph("Less", seen, _float(graph, 0.0)), none, ago)
            done = graph("Gather", after[f"done {i}"], place)
            known = graph("GreaterOrEqual", values[j], _float(graph, 0.0))
            recalled += [graph.vector(graph("Where", known, one, none)) for one in (often, ago, done)]
        if recalled:
            after["recalled"] = graph("Concat", *recalled, axis=0)
        for number, column in enumerate(self.counted):
            came = _hits(graph, self.sizes[column], values[number])
            after[f"counts {number}"] = _counted(graph, after[f"counts {number}"], COUNT_DECAYS, came)
            after[f"seen {number}"] = graph("Where", came, after["time"], after[f"seen {number}"])

    def _keep(self, graph: Graph, after: Parts, before: str, begins: str, row: str) -> None:
        """Writes the present values into the past, and when they changed."""
        place = graph("Mod", after["time"], _float(graph, MIRROR_STEPS), fmod=1)
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
        gained = graph("Where", taken, came, _float(graph, 0.0))
        after["sums"] = graph("Add", after["sums"], gained)
        after["brought"] = graph("Where", taken, came, after["brought"])

    @cached_property
    def n_shared(self) -> int:
        """Numbers about the history."""
        blank, moves = self.blank, min(self.steps - 1, 2) * len(self.numbers)
        mirrors = len(self.mirrored) * max(0, len(self.mirrored) - 1)
        derived = 2 * len(self.counted) + mirrors if self.long else 0
        return sum(blank[name].size for name in self._shared) + moves + derived

    @property
    def _shared(self) -> list[str]:
        """The parts that are features as they are; differences come after the actions."""
        names = ["last", *(["actions"] if self.steps > 1 else [])]
        if not self.long:
            return names
        names += ["first", "time", *(f"counts {place}" for place in range(len(self.counted)))]
        names += ["means", *(f"pairs {place}" for place in self.paired), "recalled"]
        return [name for name in names if name in self.blank]

    @property
    def n_own(self) -> int:
        """Numbers about each action."""
        return 9 if self.has_own else 0

    def features(self, graph: Graph, parts: Parts) -> str:
        """What trees read: about the history (n_shared,), then about every action (n_actions · n_own,)."""
        width, all_parts = len(self.sizes), []
        numbers = graph.constant(self.numbers)
        for name in self._shared:
            all_parts.append(_flat(graph, parts[name]))
            if name == "actions":
                rows = [
                    graph.part(parts["last"], ago * width, (ago + 1) * width) for ago in range(self.steps)
                ]
                last = [graph("Gather", row, numbers, axis=0) for row in rows]
                all_parts += [graph("Sub", last[ago], last[ago + 1]) for ago in range(min(self.steps - 1, 2))]
        if self.long:
            all_parts += self._ranks(graph, parts) + self._mirrors(graph, parts)
        if self.has_own:
            about = [graph("Unsqueeze", one, graph.constant([1])) for one in self._own(graph, parts)]
            all_parts.append(_flat(graph, graph("Concat", *about, axis=1)))
        return graph("Concat", *all_parts, axis=0)

    def _ranks(self, graph: Graph, parts: Parts) -> list[str]:
        """How many values of every counted column were lower and higher than the present one."""
        ranks = []
        for place, column in enumerate(self.counted):
            counts = graph("Gather", parts[f"counts {place}"], graph.integer(0), axis=0)
            value, values = graph.scalar(parts["last"], column), _float(graph, np.arange(self.sizes[column]))
            known = graph("GreaterOrEqual", value, _float(graph, 0.0))
            for side in ("Less", "Greater"):
                counted = graph("Where", graph(side, values, value), counts, _float(graph, 0.0))
                number = graph("ReduceSum", counted, keepdims=1)
                ranks.append(graph("Where", known, number, _float(graph, [-1.0])))
        return ranks

    def _mirrors(self, graph: Graph, parts: Parts) -> list[str]:
        """What columns showed as long before the last change of another as that change is ago."""
        mirrors = []
        for number, column in enumerate(self.mirrored):
            changed = graph.part(parts["changed"], number, number + 1)
            time = graph("Sub", graph("Add", changed, changed), parts["time"])
            ago = graph("Sub", parts["time"], time)
            known = graph(
                "And",
                graph("GreaterOrEqual", time, _float(graph, 0.0)),
                graph("Less", ago, _float(graph, MIRROR_STEPS)),
            )
            place = graph("Mod", graph("Max", time, _float(graph, 0.0)), _float(graph, MIRROR_STEPS), fmod=1)
            place = graph.cast(place, np.int64)
            for other in self.mirrored:
                if other != column:
                    value = graph("Gather", parts[f"past {other}"], place, axis=0)
                    mirrors.append(graph("Where", known, value, _float(graph, -1.0)))
        return mirrors

    def _own(self, graph: Graph, parts: Parts) -> list[str]:
        """Numbers of every action, each (n_actions,)."""
        tries, lately = (graph("Gather", parts["tries"], graph.integer(place), axis=0) for place in (0, 1))
        never = graph("Less", parts["when"], _float(graph, 0.0))
        none, brought = _float(graph, -1.0), parts["brought"]
        ago = graph("Where", never, none, graph("Sub", parts["time"], parts["when"]))
        sums = graph("Add", parts["sums"], _float(graph, 0.5))
        mean = graph("Div", sums, graph("Add", tries, _float(graph, 1.0)))
        present = graph("Gather", parts["last"], graph.constant(self.touched), axis=0)
        last = graph("Max", graph.scalar(parts["actions"]), _float(graph, 0.0))
        other = graph("Gather", brought, graph.cast(last, np.int64), axis=0)
        equal = graph.cast(graph("Equal", brought, other), np.float32)
        numbers = graph.constant(self.is_number[self.touched])
        like = graph("Where", numbers, graph("Sub", brought, other), equal)
        like = graph("Where", never, none, like)
        expected = _float(graph, np.zeros(self.n_actions))
        if len(self.expected):
            values = (self.expected.shape[1] - 1) // self.n_actions
            hits = graph(
                "Equal",
                graph("Unsqueeze", graph("Floor", brought), graph.constant([1])),
                _float(graph, np.arange(values)),
            )
            flat = _flat(graph, graph.cast(hits, np.float32))
            weighted = graph("MatMul", _float(graph, self.expected[:, 1:]), flat)
            expected = graph("Add", weighted, _float(graph, self.expected[:, 0]))
        number = _float(graph, np.arange(self.n_actions))
        return [number, tries, lately, ago, mean, brought, present, like, expected]


def _float(graph: Graph, value: ArrayLike) -> str:
    return graph.constant(value, np.float32)


def _flat(graph: Graph, part: str) -> str:
    return graph("Reshape", part, graph.constant([-1]))


def _hits(graph: Graph, size: int, value: str) -> str:
    """Which of 0, 1, … is the value, (size,)."""
    return graph("Equal", _float(graph, np.arange(size)), value)


def _counted(graph: Graph, counts: str, decays: Sequence[float], hits: str) -> str:
    """Decayed counts (decays, n) after one more event."""
    kept = graph("Mul", counts, _float(graph, np.array(decays)[:, None]))
    return graph("Add", kept, graph.cast(hits, np.float32))
