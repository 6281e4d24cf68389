"""One step of a policy on summaries as an ONNX graph; `uqf._reference_summaries` says what the summaries are."""

from __future__ import annotations

import numpy as np

from uqf._reference_summaries import MIRROR_STEPS, summaries
from uqf.policies.policy import SummaryPolicy
from uqf.storage.onnx_forests import forests
from uqf.storage.onnx_graph import Graph, Step
from uqf.storage.onnx_memory import Layout, Parts, flat, float32
from uqf.types import Record


def summary_step(policy: SummaryPolicy, parts: Record) -> Step:
    """The state are the parts of `Layout`, one after the other; the observation is a row of raw columns."""
    sizes = np.asarray(parts["sizes"]).tolist()
    touched, expected = np.asarray(parts["touched"]), np.asarray(parts["expected"])
    steps, long = int(parts["steps"]), bool(parts["long"])
    layout = Layout(sizes, touched, expected, steps, long)
    shared, own = summaries(None, [], sizes, touched.tolist(), expected, recent=steps, long=long)

    def update(graph: Graph, state: str, action: str, observation: str, symbol: str) -> str:
        return layout.joined(graph, layout.stepped(graph, layout.split(graph, state), action, observation))

    def values(graph: Graph, state: str) -> str:
        x = features(layout, graph, layout.split(graph, state))
        return forests(graph, parts, layout.n_actions, len(shared), own.shape[1], x)

    # What an episode says that showed nothing, which counts as an observation too.
    return Step(np.concatenate([*layout.blank.values()], axis=None), update, values, len(sizes))


def features(layout: Layout, graph: Graph, parts: Parts) -> str:
    """What trees read: about the history (n_shared,), then about every action (n_actions · n_own,)."""
    width, all_parts = len(layout.sizes), []
    numbers = graph.constant(layout.numbers)
    for name in _copied(layout):
        all_parts.append(flat(graph, parts[name]))
        if name == "actions":
            rows = [graph.part(parts["last"], ago * width, (ago + 1) * width) for ago in range(layout.steps)]
            last = [graph("Gather", row, numbers, axis=0) for row in rows]
            all_parts += [graph("Sub", last[ago], last[ago + 1]) for ago in range(min(layout.steps - 1, 2))]
    if layout.long:
        all_parts += _ranks(layout, graph, parts) + _mirrors(layout, graph, parts)
    if layout.has_own:
        about = [graph("Unsqueeze", one, graph.constant([1])) for one in _own(layout, graph, parts)]
        all_parts.append(flat(graph, graph("Concat", *about, axis=1)))
    return graph("Concat", *all_parts, axis=0)


def _copied(layout: Layout) -> list[str]:
    """The parts that are features as they are; differences come after the actions."""
    names = ["last", *(["actions"] if layout.steps > 1 else [])]
    if not layout.long:
        return names
    names += ["first", "time", *(f"counts {place}" for place in range(len(layout.counted)))]
    names += ["means", *(f"pairs {place}" for place in layout.paired), "recalled"]
    return [name for name in names if name in layout.blank]


def _ranks(layout: Layout, graph: Graph, parts: Parts) -> list[str]:
    """How many values of every counted column were lower and higher than the present one."""
    ranks = []
    for place, column in enumerate(layout.counted):
        counts = graph("Gather", parts[f"counts {place}"], graph.integer(0), axis=0)
        value, values = graph.scalar(parts["last"], column), float32(graph, np.arange(layout.sizes[column]))
        known = graph("GreaterOrEqual", value, float32(graph, 0.0))
        for side in ("Less", "Greater"):
            counted = graph("Where", graph(side, values, value), counts, float32(graph, 0.0))
            number = graph("ReduceSum", counted, keepdims=1)
            ranks.append(graph("Where", known, number, float32(graph, [-1.0])))
    return ranks


def _mirrors(layout: Layout, graph: Graph, parts: Parts) -> list[str]:
    """What columns showed as long before the last change of another as that change is ago."""
    mirrors = []
    for number, column in enumerate(layout.mirrored):
        changed = graph.part(parts["changed"], number, number + 1)
        time = graph("Sub", graph("Add", changed, changed), parts["time"])
        ago = graph("Sub", parts["time"], time)
        known = graph(
            "And",
            graph("GreaterOrEqual", time, float32(graph, 0.0)),
            graph("Less", ago, float32(graph, MIRROR_STEPS)),
        )
        place = graph("Mod", graph("Max", time, float32(graph, 0.0)), float32(graph, MIRROR_STEPS), fmod=1)
        place = graph.cast(place, np.int64)
        for other in layout.mirrored:
            if other != column:
                value = graph("Gather", parts[f"past {other}"], place, axis=0)
                mirrors.append(graph("Where", known, value, float32(graph, -1.0)))
    return mirrors


def _own(layout: Layout, graph: Graph, parts: Parts) -> list[str]:
    """Numbers of every action, each (n_actions,)."""
    tries, lately = (graph("Gather", parts["tries"], graph.integer(place), axis=0) for place in (0, 1))
    never = graph("Less", parts["when"], float32(graph, 0.0))
    none, brought = float32(graph, -1.0), parts["brought"]
    ago = graph("Where", never, none, graph("Sub", parts["time"], parts["when"]))
    sums = graph("Add", parts["sums"], float32(graph, 0.5))
    mean = graph("Div", sums, graph("Add", tries, float32(graph, 1.0)))
    present = graph("Gather", parts["last"], graph.constant(layout.touched), axis=0)
    last = graph("Max", graph.scalar(parts["actions"]), float32(graph, 0.0))
    other = graph("Gather", brought, graph.cast(last, np.int64), axis=0)
    equal = graph.cast(graph("Equal", brought, other), np.float32)
    numbers = graph.constant(layout.is_number[layout.touched])
    like = graph("Where", numbers, graph("Sub", brought, other), equal)
    like = graph("Where", never, none, like)
    expected = float32(graph, np.zeros(layout.n_actions))
    if len(layout.expected):
        values = (layout.expected.shape[1] - 1) // layout.n_actions
        hits = graph(
            "Equal",
            graph("Unsqueeze", graph("Floor", brought), graph.constant([1])),
            float32(graph, np.arange(values)),
        )
        x = flat(graph, graph.cast(hits, np.float32))
        weighted = graph("MatMul", float32(graph, layout.expected[:, 1:]), x)
        expected = graph("Add", weighted, float32(graph, layout.expected[:, 0]))
    number = float32(graph, np.arange(layout.n_actions))
    return [number, tries, lately, ago, mean, brought, present, like, expected]
