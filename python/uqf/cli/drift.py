"""Whether a new log looks like the one that taught a policy."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from uqf.coding.codebook import Codebook
from uqf.coding.raw_columns import OTHER
from uqf.episodes.profile import EVIDENCE, moved, profile, shifted
from uqf.episodes.trajectories import Trajectories
from uqf.errors import FileFormatError
from uqf.logs.rows import is_text
from uqf.logs.source import Log
from uqf.page.parts import figure
from uqf.reports.names import Names
from uqf.storage.policy_header import PolicyHeader

#: Codes that are listed for each role.
MAX_LISTED = 10


def unseen_values(log: Log, codebook: Codebook | None) -> list[str]:
    """Names that never occurred in the log that taught, with counts."""
    found = []
    for name, names in log.layout.known_names(codebook).items():
        values = log.prepared.values(name, may_miss=True)
        if not is_text(values.type) or OTHER in names:
            continue
        unseen = values.filter(pc.invert(pc.is_in(values, value_set=pa.array([*names, None], pa.string()))))
        if len(unseen):
            role = "action" if name == log.layout.names["action"] else "observation"
            listed = sorted(unseen.value_counts().to_pylist(), key=lambda one: -one["counts"])[:MAX_LISTED]
            shown = ", ".join(f"{one['values']!r} {one['counts']:,} times" for one in listed)
            found.append(
                f"{role} {name!r}: {len(unseen):,} of {len(values):,} rows hold what never occurred: {shown}"
            )
    return found


def movements(header: PolicyHeader, data: Trajectories) -> list[str]:
    """Shares of actions and observations, rewards and lengths that differ clearly, with counts."""
    old, new = header.settings.get("profile"), profile(data)
    if not isinstance(old, dict):
        return ["the policy file does not say what its log looked like: fit it again"]
    names, lines = Names.of(data), []
    try:
        for role, called in (("action", names.action), ("observation", names.observation)):
            for code, before, now, evidence in moved(old, new, f"{role}s")[:MAX_LISTED]:
                name = called(code).removeprefix(f"{role} ")  # codes without names
                lines.append(
                    f"{role} {name}: {now:.1%} of the steps ({round(now * data.n_steps):,}) instead of {before:.1%} "
                    f"({evidence:+.0f} standard errors)"
                )
        for kind, what in (("reward", "mean reward of a step"), ("length", "mean length of an episode")):
            evidence = shifted(old, new, kind)
            if abs(evidence) > EVIDENCE:
                lines.append(
                    f"{what}: {figure(new[kind][0])} instead of {figure(old[kind][0])} "
                    f"({evidence:+.0f} standard errors)"
                )
    except (TypeError, ValueError, KeyError, IndexError, ZeroDivisionError, OverflowError) as error:
        raise FileFormatError(f"the profile in the policy file is damaged: {error}") from None
    same = (
        f"nothing: it looks like the log of {old.get('episodes', 0):,} episodes that the policy learned from"
    )
    return lines or [same]
