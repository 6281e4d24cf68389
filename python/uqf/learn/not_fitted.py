"""The error of a learner that is used before `fit`."""

from __future__ import annotations

import sklearn.exceptions

from uqf.errors import UQFError


class NotFittedError(UQFError, sklearn.exceptions.NotFittedError):  # type: ignore[misc]
    """A learner was used before `fit`; also scikit-learn's own error, for those who catch that.

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
        return cls(f"this {type(learner).__name__} is not fitted yet: call fit(data) first")
