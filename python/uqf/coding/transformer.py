"""A codebook as scikit-learn's transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from uqf.estimator import Estimator
from uqf.types import Raw, TableLike

if TYPE_CHECKING:
    from uqf.coding.codebook import Codebook


class CodeTransformer(Estimator):
    """`transform` by the codebook's `encode`."""

    # A codebook is the only one: it has `fit` and `encode`.

    def transform(self: Codebook, columns: TableLike) -> NDArray[np.int64]:  # type: ignore[misc]
        """Codes of many observations, shape (n, 1)."""
        return self.encode(columns)[:, None]

    def fit_transform(  # type: ignore[misc]
        self: Codebook, columns: TableLike, *given: Raw, **named: Raw
    ) -> NDArray[np.int64]:
        """`fit` and `transform` in one."""
        return self.fit(columns, *given, **named).transform(columns)
