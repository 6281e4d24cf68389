"""What scikit-learn asks of an estimator; its own base class takes a second and 120 MB to load."""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import sklearn.utils


class Estimator:
    """Parameters are the arguments of `__init__`, kept under their own names; scikit-learn's searches take it.

    Parameters that are estimators have parameters of their own: ``set_params(representation__rank=3)``.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # Any: whatever `__init__` takes
        """Parameters by name; with `deep` also those of parameters that are estimators."""
        own = {name: getattr(self, name) for name in _defaults(type(self))}
        inner = {
            f"{name}__{key}": part
            for name, value in own.items()
            if deep and is_estimator(value)
            for key, part in value.get_params().items()
        }
        return own | inner

    def set_params(self, **given: Any) -> Self:  # Any: whatever `__init__` takes
        known = _defaults(type(self))
        for name, value in given.items():
            first, _, rest = name.partition("__")
            if first not in known or (rest and not is_estimator(getattr(self, first))):
                raise ValueError(
                    f"{name!r} is no parameter of {type(self).__name__}: its parameters are {', '.join(known)}"
                )
            if rest:
                getattr(self, first).set_params(**{rest: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """With the parameters that are not as by default."""
        defaults, own = _defaults(type(self)), self.get_params(deep=False)
        changed = [f"{name}={value!r}" for name, value in own.items() if repr(value) != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> sklearn.utils.Tags:
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)


def _defaults(kind: type) -> dict[str, Any]:  # Any: whatever `__init__` takes
    """Parameters of `__init__` with their defaults."""
    return {name: one.default for name, one in inspect.signature(kind).parameters.items()}


def is_estimator(value: object) -> bool:
    """Whether a value, not a class, has parameters; scikit-learn's own estimators have them too."""
    return hasattr(value, "get_params") and not isinstance(value, type)


def clone(estimator: Any) -> Any:  # Any: a learner gives one of its kind
    """A new estimator with the same parameters, not fitted."""
    if hasattr(estimator, "__sklearn_clone__"):
        return estimator.__sklearn_clone__()
    given = estimator.get_params(deep=False).items()
    return type(estimator)(
        **{name: clone(one) if is_estimator(one) else deepcopy(one) for name, one in given}
    )
