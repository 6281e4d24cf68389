"""What scikit-learn asks of a transformer; its own base classes take seconds to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from uqf.types import Raw, Record, TableLike

if TYPE_CHECKING:
    import sklearn.utils

    from uqf.coding.codebook import Codebook


class CodeTransformer:
    """Parameters of a codebook, and `transform` by its `encode`."""

    max_codes: int
    seed: int

    def get_params(self, deep: bool = True) -> Record:
        """Parameters of `__init__`."""
        return {"max_codes": self.max_codes, "seed": self.seed}

    def set_params(self, **given: int) -> Self:
        """Sets parameters of `__init__`."""
        if unknown := given.keys() - self.get_params().keys():
            raise ValueError(f"{sorted(unknown)}: the parameters are {', '.join(self.get_params())}")
        self.__dict__.update(given)
        return self

    def __sklearn_tags__(self) -> sklearn.utils.Tags:
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)

    # A codebook is the only one: it has `fit` and `encode`.

    def transform(self: Codebook, columns: TableLike) -> NDArray[np.int64]:  # type: ignore[misc]
        """Codes of many observations, shape (n, 1)."""
        return self.encode(columns)[:, None]

    def fit_transform(  # type: ignore[misc]
        self: Codebook, columns: TableLike, *given: Raw, **named: Raw
    ) -> NDArray[np.int64]:
        """`fit` and `transform` in one."""
        return self.fit(columns, *given, **named).transform(columns)
