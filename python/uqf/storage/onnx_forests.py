"""Decision trees as an ONNX graph of plain lookups, which every runtime knows, in double precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqf.storage.onnx_graph import Graph
from uqf.types import Record


def forests(graph: Graph, parts: Record, n_actions: int, n_shared: int, n_own: int, features: str) -> str:
    """Values of all actions: every tree is walked one level at a time, all of them at once."""
    base = graph.constant(parts["base"], np.float64)
    trees, nodes = np.asarray(parts["trees"]), np.asarray(parts["nodes"])
    if not trees.sum():
        return graph.constant(np.broadcast_to(parts["base"], n_actions), np.float64)
    first = np.cumsum(nodes) - nodes
    start = np.repeat(first, nodes)
    feature = np.asarray(parts["feature"], np.int64)
    leaf, places = feature < 0, np.arange(len(feature))
    # Leaves lead to themselves.
    left, right = (np.where(leaf, places, start + parts[name]) for name in ("left", "right"))
    x = graph.cast(features, np.float64)
    table = {
        "feature": graph.constant(np.where(leaf, 0, feature)),
        "threshold": graph.constant(np.asarray(parts["threshold"], np.float64)),
        "left": graph.constant(left),
        "right": graph.constant(right),
    }
    roots = np.repeat(first, trees) + np.asarray(parts["roots"])
    depth = _depth(roots, left, right)
    # What an action reads of its own stands after that of the actions before it; a forest for all reads each in turn.
    pooled = len(nodes) == 1
    own = np.arange(n_actions)[:, None] * n_own if pooled else np.repeat(np.arange(len(nodes)) * n_own, trees)
    node = graph.constant(np.tile(roots, (n_actions, 1)) if pooled else roots)
    for _ in range(depth):
        feature_of, threshold, lower, upper = (graph("Gather", one, node) for one in table.values())
        is_own = graph("GreaterOrEqual", feature_of, graph.integer(n_shared))
        place = graph("Where", is_own, graph("Add", feature_of, graph.constant(own)), feature_of)
        goes_left = graph("LessOrEqual", graph("Gather", x, place), threshold)
        node = graph("Where", goes_left, lower, upper)
    value = graph("Gather", graph.constant(np.asarray(parts["value"], np.float64)), node)
    members = np.ones(len(roots)) if pooled else np.repeat(np.eye(len(trees)), trees, axis=0)
    return graph("Add", base, graph("MatMul", value, graph.constant(members)))


def _depth(roots: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]) -> int:
    """Steps after which every walk has come to a leaf."""
    depth, nodes = 0, np.unique(roots)
    while True:
        below = np.unique(np.concatenate([left[nodes], right[nodes]]))
        if np.array_equal(below, nodes):
            return depth
        depth, nodes = depth + 1, below
