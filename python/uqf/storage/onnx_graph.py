"""ONNX graphs written as expressions: every node is named by its number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from uqf.types import AnyArray, Raw

#: Version of the operators; runtimes of 2021 and later know it.
OPSET = 15

#: Version of the file format that goes with it.
FORMAT = 8


class Graph:
    """Nodes and constants so far; a value is the name of a tensor."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def constant(self, value: ArrayLike, dtype: DTypeLike | None = None) -> str:
        name = f"constant_{len(self._constants)}"
        array = np.array(value, dtype, order="C")
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def __call__(self, operator: str, *inputs: str, **attributes: Raw) -> str:
        name = f"value_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def integer(self, value: int) -> str:
        return self.constant(value, np.int64)

    def row(self, table: ArrayLike, place: str, dtype: DTypeLike | None = None) -> str:
        """Row `place`, a scalar, of a fixed table."""
        return self("Gather", self.constant(table, dtype), place, axis=0)

    def part(self, vector: str, begin: int, end: int) -> str:
        """Places `begin` up to `end` of a vector."""
        return self("Slice", vector, self.constant([begin]), self.constant([end]))

    def scalar(self, vector: str, place: int = 0) -> str:
        return self("Gather", vector, self.integer(place), axis=0)

    def vector(self, scalar: str) -> str:
        return self("Unsqueeze", scalar, self.constant([0]))

    def total(self, vector: str) -> str:
        """The sum of a vector, a scalar."""
        return self("ReduceSum", vector, keepdims=0)

    def cast(self, value: str, dtype: DTypeLike) -> str:
        return self("Cast", value, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def model(
        self,
        inputs: dict[str, tuple[DTypeLike, list[int]]],
        outputs: dict[str, tuple[str, DTypeLike, list[int]]],
    ) -> ModelProto:
        """The finished model: `inputs` are type and shape, `outputs` the value, type and shape, by name."""
        for name, (value, _, _) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [value], [name]))

        def described(name: str, dtype: DTypeLike, shape: list[int]) -> ValueInfoProto:
            return helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
            )

        graph = helper.make_graph(
            self._nodes,
            "policy",
            [described(name, *kind) for name, kind in inputs.items()],
            [described(name, dtype, shape) for name, (_, dtype, shape) in outputs.items()],
            self._constants,
        )
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=FORMAT, producer_name="uqf")


@dataclass(frozen=True)
class Step:
    """How a policy begins, goes on and values its actions; the state is one vector of numbers.

    `update` is given (graph, state, action, observation, symbol), scalars but for the state. The action n_actions means
    that the observation is the one before the first action. With `n_columns` the observation is a row of as many raw
    columns, and the symbol says nothing.
    """

    start: AnyArray
    update: Callable[[Graph, str, str, str, str], str]
    values: Callable[[Graph, str], str]
    n_columns: int | None = None
