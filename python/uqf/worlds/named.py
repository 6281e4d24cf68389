"""Worlds by name."""

from __future__ import annotations

import difflib
import re

from uqf import _core
from uqf.worlds.environments import Environment

#: By name: what the core calls it, the variant unless an option says another, and the usual horizon and discount.
_WORLDS = {
    "tiger": ("tiger", "", 20, 0.95),
    **{f"gridworld-{map}": ("gridworld", map, 100, 0.99) for map in ("near", "mid", "far", "hamilton")},
    "pocman": ("pocman", "full", 90, 0.95),
    "spocman": ("spocman", "published", 100, 0.99999),
}

#: The option that names a variant, of worlds that have one.
_OPTIONS = {"pocman": "maze", "spocman": "ghosts"}


class NamedEnvironment(Environment):
    """A world that `make` made; it pickles as its name and options."""

    def __init__(
        self, name: str, horizon: int | None, discount: float | None, options: dict[str, str]
    ) -> None:
        kind, variant, usual_horizon, usual_discount = _WORLDS[name]
        option = _OPTIONS.get(name, "")
        if unknown := options.keys() - {option}:
            known = f"it has {option}" if option else "it has none"
            raise TypeError(f"make({name!r}, …): no option {', '.join(sorted(unknown))}; {known}")
        self.options = options
        super().__init__(
            _core.World.named(kind, options.get(option, variant)),
            name=name,
            horizon=usual_horizon if horizon is None else horizon,
            discount=usual_discount if discount is None else discount,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (NamedEnvironment, (self.name, self.horizon, self.discount, self.options))


def environments() -> list[str]:
    """The names that `make` knows.

    Returns
    -------
    list of str
        In the order of the documentation.

    Examples
    --------
    >>> import uqf
    >>> "spocman" in uqf.environments()
    True
    """
    return list(_WORLDS)


def make(
    name: str, *, horizon: int | None = None, discount: float | None = None, **options: str
) -> Environment:
    """A world by name, with its usual horizon and discount unless others are given.

    Parameters
    ----------
    name : str
        One of `environments()`.
    horizon : int, optional
        Usual length of an episode.
    discount : float in [0, 1], optional
        Usual discount of returns.
    **options : str
        ``maze="full" | "mini" | "micro"`` for pocman, ``ghosts="published" | "chasing"`` for spocman.

    Returns
    -------
    Environment
        The world.

    Raises
    ------
    ValueError
        If the name or an option is unknown; the message has the nearest name.

    Examples
    --------
    >>> import uqf
    >>> env = uqf.make("gridworld-near", horizon=50)
    >>> env.n_actions, env.n_observations, env.horizon
    (4, 5, 50)
    """
    if not isinstance(name, str) or name not in _WORLDS:
        if re.fullmatch(r"(?:[\w.]+:)?(?:[\w-]+/)?[\w:.-]+-v\d+", str(name)):
            raise ValueError(f"{name!r} is a name of Gymnasium: use uqf.GymnasiumWorld({name!r})")
        near = difflib.get_close_matches(str(name), _WORLDS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"unknown environment {name!r}{hint} Known: {', '.join(_WORLDS)}")
    return NamedEnvironment(name, horizon, discount, options)
