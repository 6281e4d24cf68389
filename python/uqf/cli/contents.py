"""What a log and a policy file hold, in figures. Nothing here learns or evaluates, so it is quickly loaded."""

from __future__ import annotations

import math

import numpy as np

from uqf.coding.codebook import Codebook
from uqf.episodes.propensities import propensities
from uqf.episodes.trajectories import Trajectories
from uqf.learn.choose.markov_test import markov_test
from uqf.reports.log import FEW_OCCURRENCES
from uqf.storage.policy_header import PolicyHeader
from uqf.types import Record


def data_report(data: Trajectories, discount: float = 1.0) -> Record:
    """Figures that describe a data set."""
    returns = data.returns(discount)
    # Squares of returns may be beyond floating point.
    scale = float(np.abs(returns).max()) or 1.0
    probs = propensities(data)
    counts = np.unique(data.symbols, return_counts=True)[1]
    return {
        "episodes": len(data),
        "steps": data.n_steps,
        "actions": data.n_actions,
        "observations": data.n_observations,
        "names": _names(data.codebook or Codebook.named()),
        "shortest episode": int(data.lengths.min()),
        "mean length": float(data.lengths.mean()),
        "longest episode": int(data.lengths.max()),
        "ended by the world": float(data.terminated.mean()),
        "smallest reward": float(data.rewards.min()),
        "largest reward": float(data.rewards.max()),
        "discount": discount,
        "mean return": float(returns.mean()),
        "standard error": float(scale * (returns / scale).std() / math.sqrt(len(data))),
        "propensities": "estimated from the last symbol" if data.behavior_probs is None else "logged",
        "smallest propensity": float(probs.min()),
        "mean propensity": float(probs.mean()),
        "symbols seen": len(counts),
        "symbols seen rarely": int((counts < FEW_OCCURRENCES).sum()),
        "steps without reward": float((data.rewards == 0).mean()),
        "last observation": markov_test(data).verdict,
    }


def _names(codebook: Codebook) -> str:
    """Which of the two have names; a code more stands for observations that the log does not contain."""
    parts = []
    if codebook.action_names is not None:
        parts.append(f"{len(codebook.action_names)} actions")
    elif codebook.action_bins is not None:
        cells = codebook.action_bins.shape is None
        column = codebook.action_bins.parts[0].column
        parts.append(
            f"{codebook.n_actions} " + (f"cells of the action {column}" if cells else "arrays of actions")
        )
    if codebook.observation_names is not None:
        parts.append(f"{len(codebook.observation_names)} observations and one code for unknown ones")
    elif codebook.columns_:
        ignored = codebook.ignored_columns
        without = f", of which {', '.join(ignored)} hold nothing to learn and are ignored" if ignored else ""
        parts.append(f"{codebook.n_codes} cells of {', '.join(codebook.columns_)}{without}")
    return ", ".join(parts) or "none, only numbers"


def policy_report(header: PolicyHeader) -> Record:
    """What a policy file says about itself."""
    book = header.codebook or Codebook.named()
    actions = [book.describe_action(code) for code in range(min(book.n_actions or 0, 10))]
    described = [book.describe(code) for code in range(min(book.n_codes or 0, 10))]
    plain = {name: part for name, part in header.parts.items() if not isinstance(part, dict)}
    return {
        "kind": header.kind,
        "actions": header.n_actions,
        "observations": header.n_observations,
        **{name: part for name, part in plain.items() if name not in ("n_actions", "n_observations")},
        "action names": ("; " if book.action_bins else ", ").join(actions) or None,
        "observation codes": "; ".join(described) or None,
        "settings": {name: one for name, one in header.settings.items() if name != "profile"},
        "data fingerprint": header.data_fingerprint,
        "written by uqf": header.package_version,
        "format": header.format,
    }
