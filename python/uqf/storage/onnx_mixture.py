"""One step of a mixture of policies as an ONNX graph: those of its parts, side by side."""

from __future__ import annotations

import numpy as np

from uqf.policies.mixture import Mixture
from uqf.policies.policy import Policy
from uqf.storage.onnx_graph import Graph, Step
from uqf.storage.onnx_steps import step_of
from uqf.types import Raw


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
    return mixture_step(policy) if isinstance(policy, Mixture) else step_of(policy)  # type: ignore[arg-type]


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
