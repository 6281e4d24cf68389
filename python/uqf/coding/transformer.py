"""What scikit-learn expects of a transformer, without its base classes, which take seconds to import."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from uqf.types import Record

if TYPE_CHECKING:
    import sklearn.utils


class Transformer:
    """Parameters of `__init__` are kept under their names; what was fitted is `coding_`."""

    _PARAMETERS: ClassVar[tuple[str, ...]]

    def get_params(self, deep: bool = True) -> Record:
        """Parameters of `__init__`."""
        return {name: getattr(self, name) for name in self._PARAMETERS}

    def set_params(self, **given: int) -> Self:
        """Sets parameters of `__init__`."""
        for name, value in given.items():
            if name not in self.get_params():
                raise ValueError(f"{name}: the parameters are {', '.join(self.get_params())}")
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coding_")

    def __sklearn_tags__(self) -> sklearn.utils.Tags:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        tags = InputTags(one_d_array=True, categorical=True, string=True, dict=True, allow_nan=True)
        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=tags,
        )
