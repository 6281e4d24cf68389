"""The error of a learner that is used before `fit`."""

from __future__ import annotations

import sys
from functools import cache

from uqf.errors import UQFError


class NotFittedError(UQFError, ValueError, AttributeError):
    """A learner was used before `fit`; where scikit-learn is loaded also its own error, for those who catch that.

    Examples
    --------
    >>> import uqf
    >>> try:
    ...     uqf.ContextQ().predict([[]])
    ... except uqf.NotFittedError:
    ...     print("fit first")
    fit first
    """

    @classmethod
    def of(cls, learner: object) -> NotFittedError:
        """The error of this learner, with the way out."""
        kind = _of_both() if "sklearn.exceptions" in sys.modules else cls
        return kind(f"this {type(learner).__name__} is not fitted yet: call fit(data) first")

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return NotFittedError, self.args


@cache
def _of_both() -> type[NotFittedError]:
    """Importing scikit-learn takes a second: nobody catches its error who has not."""
    from sklearn.exceptions import NotFittedError as Theirs

    return type("NotFittedError", (NotFittedError, Theirs), {})
