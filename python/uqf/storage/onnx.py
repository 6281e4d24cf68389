"""Policies as ONNX files, for other languages and for browsers."""

from __future__ import annotations

import json
import os

import numpy as np

from uqf.coding.codebook import Codebook
from uqf.episodes.checks import instance
from uqf.files import refuse_other_kind, whole_file
from uqf.storage.onnx_graph import Graph
from uqf.storage.onnx_steps import any_step, supported
from uqf.storage.policies import with_codebook
from uqf.types import Raw


def export_onnx(
    policy: Raw,
    path: str | os.PathLike[str],
    *,
    codebook: Codebook | None = None,
) -> None:
    """Writes one step of a policy as an ONNX model: state, action, observation → next_state, values.

    - state: the `next_state` of the step before; zeros of the same shape and type at the first
    - action, an int64 scalar: the code of the action taken, or −1 to begin an episode
    - observation, an int64 scalar: the code of what came back; with action −1, what the episode shows before its first
      action, or −1 if nothing. Of a `SummaryPolicy` the raw columns (d,) float32 instead: numbers as they are,
      categories by code, NaN where a value is missing; all NaN if nothing was shown
    - next_state: the memory after the step
    - values, float64 (n_actions,): act on the largest, or by softmax(values / temperature) where the temperature is
      not 0; −inf for actions without support in the log

    The metadata have `n_actions`, `n_observations`, `temperature` and, as JSON, the `codebook`: what codes mean, and
    the `column_sizes` where raw columns are read: 0 for a number, k for a category of k values. Policies that plan or
    search while they act, windows of automata, forests on them and mixtures with a `SummaryPolicy` are refused by name.

    Parameters
    ----------
    policy : a policy of a learner, a mixture of two, a fitted learner, or the path of a policy file
        Who acts.
    path : path
        Where to; the file appears whole or not at all.
    codebook : Codebook, optional
        What codes mean; that of the learner or the file by default.

    Raises
    ------
    TypeError
        If policies of this kind cannot be exported.
    ValueError
        If the suffix of the path belongs to another kind of file.

    Examples
    --------
    >>> import os, uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=50, seed=0)
    >>> uqf.export_onnx(uqf.ContextQ(0.95).fit(data).policy_, "tiger.onnx")
    >>> os.path.exists("tiger.onnx")
    True
    """
    refuse_other_kind(path, ".onnx")
    if codebook is not None:
        instance("codebook", codebook, Codebook, "a uqf.Codebook")
    policy, book = with_codebook(policy)
    codebook = codebook or book
    step = any_step(policy)
    graph = Graph()
    state, action, observation = "state", "action", "observation"
    begins = graph("Less", action, graph.integer(0))
    before = graph("Where", begins, graph.constant(step.start), state)
    taken = graph("Where", begins, graph.integer(policy.n_actions), action)
    if step.n_columns is None:
        seen = graph("Max", observation, graph.integer(0))
        symbol = graph("Add", graph("Mul", taken, graph.integer(policy.n_observations)), seen)
        nothing = graph("Less", observation, graph.integer(0))
        after = graph("Where", nothing, before, step.update(graph, before, taken, seen, symbol))
        shown: Raw = (np.int64, [])
    else:
        after = step.update(graph, before, taken, observation, "")
        shown = (np.float32, [step.n_columns])
    values = supported(graph, policy, step.values(graph, after))
    kind = (step.start.dtype, list(step.start.shape))
    model = graph.model(
        {state: kind, action: (np.int64, []), observation: shown},
        {
            "next_state": (after, *kind),
            "values": (values, np.float64, [policy.n_actions]),
        },
    )
    metadata = {name: str(getattr(policy, name)) for name in ("n_actions", "n_observations", "temperature")}
    if step.n_columns is not None:
        metadata["column_sizes"] = json.dumps(np.asarray(policy.column_sizes).tolist())
    if codebook is not None:
        metadata["codebook"] = json.dumps(codebook.to_dict(), ensure_ascii=False)
    for name, text in metadata.items():
        model.metadata_props.add(key=name, value=text)
    with whole_file(path) as file:
        file.write(model.SerializeToString())
