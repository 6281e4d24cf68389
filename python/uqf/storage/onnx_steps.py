"""One step of every kind of policy, and of a mixture of two, as an ONNX graph."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from uqf.policies.mixture import Mixture
from uqf.policies.policy import (
    AutomatonPolicy,
    BeliefPolicy,
    CompiledPolicy,
    ContextPolicy,
    FilterPolicy,
    ObservationPolicy,
    Policy,
    SummaryPolicy,
    TablePolicy,
    shown_by_states,
)
from uqf.storage.onnx_graph import Graph, Step
from uqf.storage.onnx_near import near_step
from uqf.storage.onnx_summaries import summary_step
from uqf.types import Integers, Raw, Record

#: Below this a number counts as 0, as in the core.
NOTHING, VANISHING = 1e-12, 1e-9


def step_of(policy: CompiledPolicy) -> Step:
    """The step of a policy, or an error that names its kind."""
    for known, make in STEPS.items():
        if isinstance(policy, known) and hasattr(policy, "parts"):
            return make(policy, policy.parts())
    kinds = ", ".join(known.__name__ for known in STEPS)
    raise TypeError(f"policy is a {type(policy).__name__}: these can be exported to ONNX: {kinds}")


def observation_step(policy: ObservationPolicy, parts: Record) -> Step:
    """The state is the row of the table."""
    first = np.array([policy.n_observations], np.int64)
    return Step(
        first,
        lambda graph, state, action, observation, symbol: graph.vector(observation),
        lambda graph, state: graph.row(parts["values"], graph.scalar(state)),
    )


def table_step(policy: TablePolicy, parts: Record) -> Step:
    """The state is the row of the table; the last stands for the start, whatever it shows."""
    start = policy.n_actions * policy.n_observations
    with np.errstate(divide="ignore"):
        values = np.log(parts["probs"])
    return Step(
        np.array([start], np.int64),
        lambda graph, state, action, observation, symbol: graph.vector(
            graph("Min", symbol, graph.integer(start))
        ),
        lambda graph, state: graph.row(values, graph.scalar(state)),
    )


def context_step(policy: ContextPolicy, parts: Record) -> Step:
    """The state are the last symbols, the latest first, each plus 1; 0 where there is none."""
    parents, symbols = (np.asarray(parts[name], np.int64) for name in ("parents", "symbols"))
    n_symbols = policy.n_actions * policy.n_observations
    opening = n_symbols + policy.n_observations
    opens = bool(((symbols >= n_symbols) & (symbols < opening)).any())
    depths = np.zeros(len(parents) + 1, np.int64)
    for place, parent in enumerate(parents.tolist()):
        depths[place + 1] = depths[parent] + 1
    depth, width = max(1, int(depths.max())), opening + 2
    start = np.zeros(depth, np.int64)
    start[0] = opening + 1

    def update(graph: Graph, state: str, action: str, observation: str, symbol: str) -> str:
        begins = graph("Equal", action, graph.integer(policy.n_actions))
        before = graph("Where", begins, graph.constant(np.zeros(depth), np.int64), state)
        longer = graph("Concat", graph.vector(graph("Add", symbol, graph.integer(1))), before, axis=0)
        pushed = graph.part(longer, 0, depth)
        return pushed if opens else graph("Where", begins, state, pushed)

    def values(graph: Graph, state: str) -> str:
        node, alive = graph.integer(0), graph.constant(True)
        keys = graph.constant(parents * width + symbols + 1)
        # Without any context there is nothing to look for.
        for place in range(depth if len(parents) else 0):
            symbol = graph("Gather", state, graph.integer(place), axis=0)
            key = graph("Add", graph("Mul", node, graph.integer(width)), symbol)
            hits = graph.cast(graph("Equal", keys, key), np.int32)
            known = graph.cast(graph("ReduceMax", hits, keepdims=0), np.bool_)
            alive = graph("And", alive, known)
            child = graph("Add", graph("ArgMax", hits, keepdims=0), graph.integer(1))
            node = graph("Where", alive, child, node)
        return graph.row(parts["values"], node)

    return Step(start, update, values)


def belief_step(policy: BeliefPolicy, parts: Record) -> Step:
    """The state are the beliefs of all models, one after the other."""
    sizes = np.asarray(parts["states"]).tolist()
    kinds = np.asarray(parts["kinds"], np.int64)
    cells = [(kinds.max() + 1) * size * size for size in sizes]
    tables = np.split(np.asarray(parts["transitions"], np.float32), np.cumsum(cells)[:-1])

    def update(graph: Graph, state: str, action: str, observation: str, symbol: str) -> str:
        begins = graph("Equal", action, graph.integer(policy.n_actions))
        kind = graph.row([*kinds, 0], action)
        beliefs, first = [], 0
        for size, table, shown in zip(sizes, tables, shown_by_states(parts), strict=True):
            belief = graph.part(state, first, first + size)
            moved = graph("MatMul", belief, graph.row(table.reshape(-1, size, size), kind))
            mask = graph.row(shown > 0.0, observation, np.float32)
            likely = graph.row(shown, observation, np.float32)
            joint = graph("Mul", graph("Where", begins, belief, moved), likely)
            total = graph.total(joint)
            known = graph("Greater", total, graph.constant(NOTHING, np.float32))
            even = graph("Div", mask, graph.total(mask))
            one = graph.constant(1.0, np.float32)
            share = graph("Div", joint, graph("Where", known, total, one))
            beliefs.append(graph("Where", known, share, even))
            first += size
        joined = graph("Concat", *beliefs, axis=0)
        return joined if parts["opens"] else graph("Where", begins, state, joined)

    def values(graph: Graph, state: str) -> str:
        features, vectors, actions = parts["weights"].shape
        slopes = graph.constant(parts["weights"].reshape(features, -1), np.float64)
        worth = graph("MatMul", graph.cast(state, np.float64), slopes)
        each = graph("Reshape", worth, graph.constant([vectors, actions]))
        best = graph("ReduceMax", each, axes=[0], keepdims=0)
        return graph("Add", best, graph.constant(parts["bias"], np.float64))

    return Step(np.asarray(parts["starts"], np.float32), update, values)


def filter_step(policy: FilterPolicy, parts: Record) -> Step:
    """The state is that of the filter; symbols that the data never showed change nothing."""
    operators = np.asarray(parts["operators"], np.float32)
    rank = operators.shape[2]
    places = _places(policy, parts["symbols"])

    def update(graph: Graph, state: str, action: str, observation: str, symbol: str) -> str:
        place = graph.row(places, symbol)
        operator = graph.row(operators, graph("Max", place, graph.integer(0)))
        with_one = graph("Concat", graph.constant([1.0], np.float32), state, axis=0)
        moved = graph("MatMul", with_one, operator)
        squares = graph("ReduceMean", graph("Mul", moved, moved), keepdims=0)
        reach = graph.constant(parts["reach"], np.float32)
        length = graph("Max", graph("Sqrt", squares), reach)
        shortened = graph("Mul", moved, graph("Div", reach, length))
        return graph("Where", graph("Less", place, graph.integer(0)), state, shortened)

    def values(graph: Graph, state: str) -> str:
        weights = np.asarray(parts["weights"], np.float64).reshape(1 + rank, -1)
        worth = graph("MatMul", graph.cast(state, np.float64), graph.constant(weights[1:]))
        return graph("Add", worth, graph.constant(weights[0]))

    return Step(np.asarray(parts["start"], np.float32), update, values)


def automaton_step(policy: AutomatonPolicy, parts: Record) -> Step:
    """The state is that of the automaton, and the row of the propensities after it."""
    for name in ("window", "behavior"):
        if parts[name] is not None:
            raise TypeError(f"policy is an AutomatonPolicy with a {name}: it cannot be exported to ONNX")
    operators = np.asarray(parts["operators"], np.float64)
    places, rank = _places(policy, parts["symbols"]), operators.shape[1]
    seen, normaliser = len(operators), parts["normaliser"]

    def rescaled(graph: Graph, state: str) -> tuple[str, str]:
        """(the state at its usual scale, whether it has one)"""
        largest = graph("ReduceMax", graph("Abs", state), keepdims=0)
        scale = largest
        if normaliser is not None:
            scale = graph.total(graph("Mul", state, graph.constant(normaliser, np.float64)))
        enough = graph("Greater", scale, graph("Mul", largest, graph.constant(VANISHING)))
        one = graph.constant(1.0)
        return graph("Div", state, graph("Where", enough, scale, one)), enough

    def update(graph: Graph, state: str, action: str, observation: str, symbol: str) -> str:
        place = graph.row(places, symbol)
        operator = graph.row(operators, graph("Max", place, graph.integer(0)))
        before = graph.part(state, 0, rank)
        anchor = graph.constant(parts["anchor"], np.float64)
        last, _ = rescaled(graph, anchor)
        again, fine_again = rescaled(graph, graph("MatMul", anchor, operator))
        moved, fine = rescaled(graph, graph("MatMul", before, operator))
        chosen = graph("Where", fine, moved, graph("Where", fine_again, again, last))
        unseen = graph("Less", place, graph.integer(0))
        row = graph("Where", unseen, graph.integer(seen), place)
        row_kept = graph.vector(graph.cast(row, np.float64))
        after = graph("Concat", graph("Where", unseen, before, chosen), row_kept, axis=0)
        begins = graph("Equal", action, graph.integer(policy.n_actions))
        return graph("Where", graph("And", begins, unseen), state, after)

    def values(graph: Graph, state: str) -> str:
        mine = graph.part(state, 0, rank)
        weights = np.asarray(parts["weights"], np.float64).reshape(-1, rank)
        worth = graph("MatMul", graph.constant(weights), mine)
        if parts["propensities"] is not None:
            row = graph.cast(graph.scalar(state, rank), np.int64)
            probs = np.asarray(parts["propensities"], np.float64).reshape(-1, policy.n_actions)
            worth = graph("Div", worth, graph.row(np.where(probs > 0.0, probs, 1.0), row))
            worth = graph("Add", worth, graph.row(np.where(probs > 0.0, 0.0, -np.inf), row))
        return worth

    return Step(np.append(_first_state(policy, parts), seen + 1.0), update, values)


def _first_state(policy: AutomatonPolicy, parts: Record) -> NDArray[np.float64]:
    """The start at its usual scale, as the core keeps it."""
    start = np.asarray(parts["start"], np.float64)
    largest = np.abs(start).max()
    scale = largest if parts["normaliser"] is None else start @ np.asarray(parts["normaliser"])
    return start / scale if scale > VANISHING * largest else start


def _places(policy: CompiledPolicy, symbols: Integers) -> NDArray[np.int64]:
    """Place of every symbol, those before the first action included, among the seen ones; −1 if unseen."""
    places = np.full((policy.n_actions + 1) * policy.n_observations, -1, np.int64)
    places[np.asarray(symbols)] = np.arange(len(symbols))
    return places


STEPS: dict[type, Callable[..., Step]] = {
    AutomatonPolicy: automaton_step,
    BeliefPolicy: belief_step,
    ContextPolicy: context_step,
    FilterPolicy: filter_step,
    ObservationPolicy: observation_step,
    SummaryPolicy: summary_step,
    TablePolicy: table_step,
}


def mixture_step(policy: Mixture) -> Step:
    """The state are the states of both, one after the other, in double precision; values are logarithms."""
    steps = [any_step(one) for one in policy.policies]
    for one, step in zip(policy.policies, steps, strict=True):
        if step.n_columns is not None:
            kind = type(one).__name__
            raise TypeError(
                f"policy is a Mixture with a {kind}: it cannot be exported to ONNX; export its parts"
            )
    ends = np.cumsum([0, *(len(step.start) for step in steps)]).tolist()

    def part(graph: Graph, state: str, place: int) -> str:
        return graph.cast(graph.part(state, ends[place], ends[place + 1]), steps[place].start.dtype)

    def update(graph: Graph, state: str, action: str, observation: str, symbol: str) -> str:
        after = [
            step.update(graph, part(graph, state, place), action, observation, symbol)
            for place, step in enumerate(steps)
        ]
        return graph("Concat", *(graph.cast(one, np.float64) for one in after), axis=0)

    def values(graph: Graph, state: str) -> str:
        shares = (policy.share, 1.0 - policy.share)
        weighted = []
        for place, (step, one, share) in enumerate(zip(steps, policy.policies, shares, strict=True)):
            worth = supported(graph, one, step.values(graph, part(graph, state, place)))
            weighted.append(graph("Mul", _probs(graph, one, worth), graph.constant(share, np.float64)))
        return graph("Log", graph("Add", *weighted))

    return Step(np.concatenate([step.start.astype(np.float64) for step in steps]), update, values)


def any_step(policy: Policy) -> Step:
    """The step of a policy or of a mixture, or an error that names its kind."""
    if isinstance(policy, Mixture):
        return mixture_step(policy)
    compiled: Raw = policy
    step = step_of(compiled)
    return step if compiled.supported_after is None else near_step(compiled, step)


def supported(graph: Graph, policy: Raw, values: str) -> str:
    """Values with −inf for actions without support in the log."""
    if policy.supported is None or not policy.supported.any():
        return values
    none = graph.constant(np.full(policy.n_actions, -np.inf))
    return graph("Where", graph.constant(policy.supported, np.bool_), values, none)


def _probs(graph: Graph, policy: Raw, values: str) -> str:
    """Probabilities of the actions; at temperature 0 the best share alike."""
    best = graph("ReduceMax", values, keepdims=1)
    if policy.temperature == 0.0:
        hits = graph.cast(graph("Equal", values, best), np.float64)
        return graph("Div", hits, graph.total(hits))
    scaled = graph("Div", graph("Sub", values, best), graph.constant(policy.temperature, np.float64))
    powers = graph("Exp", scaled)
    return graph("Div", powers, graph.total(powers))
