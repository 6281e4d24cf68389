"""Policies for partially observed systems from data, by spectral learning of unnormalised Q functions."""

from importlib import import_module

#: What to install for modules that need more than the package itself.
_EXTRAS = {"uqf.worlds.gymnasium": "gym", "uqf.storage.onnx": "onnx"}


def _places() -> dict[str, str]:
    """The module of every public name, as `__init__.pyi` lists them for type checkers.

    Each is imported when it is first used: scikit-learn and SciPy take seconds to load, and an agent that only acts
    needs neither.
    """
    with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as stub:
        lines = [line.split() for line in stub if line.startswith("from ")]
    return {name: module for _, module, _, name, *_ in lines}


_PLACES = _places()


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'uqf' has no attribute {name!r}")
    place = _PLACES[name]
    if place == "uqf":  # a folder that is public as it is
        return import_module(f"uqf.{name}")
    try:
        module = import_module(place)
    except ModuleNotFoundError as error:
        extras = [extra for start, extra in _EXTRAS.items() if place.startswith(start)]
        if not extras:
            raise
        raise ImportError(f"uqf.{name} needs {error.name}: pip install 'uqf[{extras[0]}]'") from error
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted(name for name in _PLACES if not name.startswith("_"))
