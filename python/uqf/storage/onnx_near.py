"""Support after the last observation, as part of an ONNX graph."""

from __future__ import annotations

import numpy as np

from uqf.storage.onnx_graph import Graph, Step
from uqf.types import AnyArray, Raw


def near_step(policy: Raw, step: Step) -> Step:
    """The state is followed by the last observation, after which not all actions have support."""
    codes, then = policy.supported_after, policy.supported_then
    size, kind = len(step.start), step.start.dtype

    def seen(graph: Graph, action: str, observation: str) -> str:
        if step.n_columns is None:
            return observation
        known = codes[codes < policy.n_observations]
        begins = graph("Equal", action, graph.integer(policy.n_actions))
        blank = graph("ReduceMin", graph.cast(graph("IsNaN", observation), np.int32), keepdims=0)
        start = graph("And", begins, graph.cast(blank, np.bool_))
        rows = policy.parts()["codes"][known]
        same = graph.cast(graph("Equal", graph.constant(rows), observation), np.int32)
        code = _looked_up(graph, graph("ReduceMin", same, axes=[1], keepdims=0), known, graph.integer(-1))
        return graph("Where", start, graph.integer(policy.n_observations), code)

    def update(graph: Graph, state: str, action: str, observation: str, symbol: str) -> str:
        after = step.update(graph, graph.part(state, 0, size), action, observation, symbol)
        last = graph.cast(graph.vector(seen(graph, action, observation)), kind)
        return graph("Concat", after, last, axis=0)

    def values(graph: Graph, state: str) -> str:
        last = graph.cast(graph.scalar(state, size), np.int64)
        hits = graph.cast(graph("Equal", graph.constant(codes), last), np.int32)
        lost = np.where(then, 0.0, -np.inf)
        worth = step.values(graph, graph.part(state, 0, size))
        return graph("Add", worth, _looked_up(graph, hits, lost, graph.constant(np.zeros(policy.n_actions))))

    return Step(np.append(step.start, policy.n_observations).astype(kind), update, values, step.n_columns)


def _looked_up(graph: Graph, hits: str, table: AnyArray, otherwise: str) -> str:
    """The row of the table where a list of 0 and 1 has its 1."""
    if len(table) == 0:
        return otherwise
    known = graph.cast(graph("ReduceMax", hits, keepdims=0), np.bool_)
    return graph("Where", known, graph.row(table, graph("ArgMax", hits, keepdims=0)), otherwise)
