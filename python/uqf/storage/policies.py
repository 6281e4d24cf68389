"""Policies as files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import numpy as np

from uqf._core import __version__
from uqf.coding.codebook import Codebook
from uqf.episodes.checks import instance
from uqf.episodes.trajectories import Trajectories
from uqf.errors import kind_of
from uqf.learn.plan.plan_policy import PlanPolicy
from uqf.policies.mixture import Mixture
from uqf.policies.policy import (
    AutomatonPolicy,
    BeliefPolicy,
    CompiledPolicy,
    ContextPolicy,
    FilterPolicy,
    ForestPolicy,
    ObservationPolicy,
    SummaryPolicy,
    TablePolicy,
)
from uqf.storage.policy_header import FORMAT, Origin, PolicyHeader
from uqf.storage.tensors import Arrays, Header, naming_damage, read_tensors, write_tensors
from uqf.types import Raw, Record

#: Key of our header in the metadata of the safetensors file.
KEY = "uqf"

#: Limits that keep a hostile file from filling the memory.
MAX_BYTES = 2**32
MAX_SYMBOLS = 2**24
MAX_NESTING = 100

Storable = CompiledPolicy | Mixture | PlanPolicy
"""Policies that files are made of."""

#: Kinds of policies by the name that stands in a file, and what makes one from its `parts()`.
KINDS: dict[str, tuple[type, Callable[..., Storable]]] = {
    "automaton": (AutomatonPolicy, AutomatonPolicy),
    "belief": (BeliefPolicy, BeliefPolicy),
    "context": (ContextPolicy, ContextPolicy),
    "filter": (FilterPolicy, FilterPolicy),
    "forest": (ForestPolicy, ForestPolicy),
    "observation": (ObservationPolicy, ObservationPolicy),
    "mixture": (Mixture, Mixture),
    "plan": (PlanPolicy, PlanPolicy.from_parts),
    "summary": (SummaryPolicy, SummaryPolicy),
    "table": (TablePolicy, TablePolicy),
}


def save(
    policy: Storable,
    path: str | os.PathLike[str],
    *,
    codebook: Codebook | None = None,
    settings: Mapping[str, Raw] | None = None,
    data: Trajectories | Origin | None = None,
) -> None:
    """Writes a policy; the file appears whole or not at all.

    Parameters
    ----------
    policy : a policy of this package
        Those in Python must have `parts()`.
    path : path
        Of a `.safetensors` file.
    codebook : Codebook, optional
        What the codes of actions and observations mean; that of `data` or of a mixture by default.
    settings : mapping, optional
        How the policy was learned: numbers, strings, lists and mappings, as JSON knows them.
    data : Trajectories or Origin, optional
        The data it was learned from, of which the fingerprint is kept and nothing else.

    Raises
    ------
    TypeError
        If the policy is of a kind that no file holds.
    ValueError
        If the suffix of the path belongs to another kind of file, or the codebook to another policy.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=50, seed=0)
    >>> uqf.save(uqf.ContextQ(0.95).fit(data).policy_, "tiger.safetensors", settings={"discount": 0.95})
    >>> uqf.inspect_policy("tiger.safetensors").settings
    {'discount': 0.95}
    """
    kind, scalars, tensors = _taken_apart(policy)
    if data is not None:
        instance("data", data, (Trajectories, Origin), "the uqf.Trajectories that it learned from")
    if settings is not None:
        instance("settings", settings, Mapping, "a dictionary")
    if codebook is not None:
        instance("codebook", codebook, Codebook, "a uqf.Codebook")
    origin = Origin.of(data) if isinstance(data, Trajectories) else data
    book = codebook or (origin and origin.codebook) or with_codebook(policy)[1]
    header = PolicyHeader(
        kind=kind,
        n_actions=policy.n_actions,
        n_observations=policy.n_observations,
        parts=scalars,
        codebook=book,
        settings=dict(settings or {}),
        data_fingerprint=None if origin is None else origin.fingerprint,
        package_version=__version__,
    )
    _check(header)
    content = {name: getattr(header, name) for name in PolicyHeader.__dataclass_fields__}
    content["codebook"] = None if book is None else book.to_dict()
    write_tensors(path, KEY, content, tensors)


def load(path: str | os.PathLike[str]) -> Storable:
    """The policy of a file that `save` wrote; `inspect_policy` shows the rest of what it holds.

    Nothing in the file is executed, and it takes no more memory than a few times its size.

    Parameters
    ----------
    path : path
        Of the file.

    Returns
    -------
    Policy
        Of the kind that was saved, with the same bits.

    Raises
    ------
    FileFormatError
        If the file is cut short, damaged, hostile or from a newer version.

    Examples
    --------
    >>> import numpy as np, uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=50, seed=0)
    >>> learner = uqf.ContextQ(0.95).fit(data)
    >>> learner.save("tiger.safetensors")
    >>> policy = uqf.load("tiger.safetensors")
    >>> np.array_equal(policy.q_values(policy.initial_state()), learner.decision_function([[]])[0])
    True
    """
    return _opened(path)[0]


def inspect_policy(path: str | os.PathLike[str]) -> PolicyHeader:
    """The header of a policy file, checked as `load` checks it.

    Parameters
    ----------
    path : path
        Of the file.

    Returns
    -------
    PolicyHeader
        Kind, sizes, names, settings and fingerprint of the data.

    Raises
    ------
    FileFormatError
        As `load`.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=50, seed=0)
    >>> uqf.ContextQ(0.95, depth=2).fit(data).save("tiger.safetensors")
    >>> uqf.inspect_policy("tiger.safetensors").settings["depth"]
    2
    """
    return _read(path)[0]


def with_codebook(policy: Raw) -> tuple[Raw, Codebook | None]:
    """(a policy, what its codes mean if that is known), given a policy, a fitted learner, or the path of a file."""
    if isinstance(policy, (str, os.PathLike)):
        opened, header = _opened(policy)
        return opened, header.codebook
    origin = getattr(policy, "origin_", None)
    if isinstance(origin, Origin):
        return policy.policy_, origin.codebook
    book = getattr(policy, "codebook", None)
    return policy, book if isinstance(book, Codebook) else None


def _taken_apart(policy: Storable) -> tuple[str, Record, Arrays]:
    """(kind, parts that are no arrays, arrays); the parts of a policy within are named "outer.inner"."""
    kinds = [name for name, (kind, _) in KINDS.items() if isinstance(policy, kind)]
    if not kinds or not hasattr(policy, "parts"):
        raise TypeError(f"policy is {kind_of(policy)}: of these kinds files are made: {', '.join(KINDS)}")
    scalars: Record = {}
    arrays: Arrays = {}
    for name, part in policy.parts().items():
        within, epsilon = part if isinstance(part, tuple) else (part, None)
        if hasattr(within, "parts"):
            kind, inner, inner_arrays = _taken_apart(within)
            scalars[name] = {"kind": kind, "epsilon": epsilon, "parts": inner}
            arrays |= {f"{name}.{key}": array for key, array in inner_arrays.items()}
        elif isinstance(part, np.ndarray):
            arrays[name] = part
        else:
            scalars[name] = part
    return kinds[0], scalars, arrays


def _put_together(
    header: PolicyHeader, kind: str, scalars: Record, arrays: Arrays, depth: int = 0
) -> Storable:
    if depth > MAX_NESTING:
        raise ValueError(f"policies within policies, more than {MAX_NESTING} deep")
    for name in ("n_actions", "n_observations"):
        # Policies take memory for their alphabet, and only that of the header was checked.
        if scalars.get(name, getattr(header, name)) != getattr(header, name):
            raise ValueError(f"{name} = {scalars[name]!r}, {getattr(header, name)} in the header")
    parts: Record = {name: array for name, array in arrays.items() if "." not in name}
    for name, part in scalars.items():
        if isinstance(part, dict):
            within = {
                key.removeprefix(f"{name}."): arrays[key] for key in arrays if key.startswith(f"{name}.")
            }
            policy = _put_together(header, part["kind"], part["parts"], within, depth + 1)
            part = policy if part["epsilon"] is None else (policy, part["epsilon"])
        elif isinstance(part, int) and part < 0:
            raise ValueError(f"{name} = {part} is negative: it counts something")
        parts[name] = part
    return KINDS[kind][1](**parts)


def _opened(path: str | os.PathLike[str]) -> tuple[Storable, PolicyHeader]:
    """A policy and its header of one reading: between two the file might become another."""
    header, tensors = _read(path)
    with naming_damage(path, "policy"):
        policy = _put_together(header, header.kind, header.parts, tensors)
        if (policy.n_actions, policy.n_observations) != (header.n_actions, header.n_observations):
            raise ValueError(
                f"the header says {header.n_actions} actions, {header.n_observations} observations"
            )
    return policy, header


def _read(path: str | os.PathLike[str]) -> tuple[PolicyHeader, Arrays]:
    content, tensors = read_tensors(path, KEY, "policy", FORMAT, MAX_BYTES)
    with naming_damage(path, "policy"):
        header = _header(content)
        _check(header)
        return header, tensors


def _header(content: Header) -> PolicyHeader:
    fields = {name: content[name] for name in PolicyHeader.__dataclass_fields__}
    if fields["codebook"] is not None:
        fields["codebook"] = Codebook.from_dict(fields["codebook"])
    return PolicyHeader(**fields)


def _check(header: PolicyHeader) -> None:
    """Raises ValueError for anything that no policy of this package says of itself."""
    if header.kind not in KINDS:
        raise ValueError(f"kind {header.kind!r} is not one of {', '.join(KINDS)}")
    if not isinstance(header.settings, dict) or not isinstance(header.parts, dict):
        raise ValueError("settings or parts are no mapping")
    discount = header.settings.get("discount")
    if discount is not None and not (isinstance(discount, (int, float)) and 0.0 <= discount <= 1.0):
        raise ValueError(f"settings: discount = {discount!r} is no number in [0, 1]")
    if not isinstance(header.data_fingerprint, str | None) or not isinstance(header.package_version, str):
        raise ValueError("data_fingerprint or package_version is no text")
    for name in ("n_actions", "n_observations"):
        size = getattr(header, name)
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ValueError(f"{name} = {size!r} is no positive number")
    symbols = header.n_actions * header.n_observations
    if symbols > MAX_SYMBOLS:
        raise ValueError(f"{symbols} symbols, at most {MAX_SYMBOLS} fit a file")
    if header.codebook is not None:
        header.codebook.refuse_other_sizes(header.n_actions, header.n_observations)
