"""Worlds by name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

from uqf import _core
from uqf.worlds.environments import Environment


def _gridworld(variant: str) -> Callable[[], _core.World]:
    return lambda: _core.World.gridworld(variant)


def _pocman(maze: str = "full") -> _core.World:
    return _core.World.pocman(maze)


def _spocman(ghosts: str = "published") -> _core.World:
    return _core.World.spocman(ghosts)


_WORLDS: dict[str, tuple[Callable[..., _core.World], int, float]] = {
    "tiger": (_core.World.tiger, 20, 0.95),
    "gridworld-near": (_gridworld("near"), 100, 0.99),
    "gridworld-mid": (_gridworld("mid"), 100, 0.99),
    "gridworld-far": (_gridworld("far"), 100, 0.99),
    "gridworld-hamilton": (_gridworld("hamilton"), 100, 0.99),
    "pocman": (_pocman, 90, 0.95),
    "spocman": (_spocman, 100, 0.99999),
}


class NamedEnvironment(Environment):
    """A world that `make` made; it pickles as its name and options."""

    def __init__(
        self, name: str, horizon: int | None, discount: float | None, options: dict[str, str]
    ) -> None:
        build, usual_horizon, usual_discount = _WORLDS[name]
        try:
            world = build(**options)
        except TypeError as error:
            raise TypeError(f"make({name!r}, …): {error}") from None
        self.options = options
        super().__init__(
            world,
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
