"""What a log looks like, what was learned from it, what to expect and what to worry about."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from uqf import ope
from uqf.data.codebook import Codebook
from uqf.data.concatenate import concatenate
from uqf.data.fingerprint import fingerprint
from uqf.data.propensities import propensities
from uqf.data.trajectories import Trajectories
from uqf.learn.learner import Learner
from uqf.learn.markov_test import markov_test
from uqf.storage.policies import PolicyHeader

Report = dict[str, Any]

#: A symbol needs about this many occurrences before its operator is more than noise.
FEW_OCCURRENCES = 10


def data_report(data: Trajectories, discount: float = 1.0) -> Report:
    """Figures that describe a data set."""
    returns = data.returns(discount)
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
        "standard error": float(returns.std() / math.sqrt(len(data))),
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
    if codebook.observation_names is not None:
        parts.append(f"{len(codebook.observation_names)} observations and one code for unknown ones")
    elif codebook.columns_:
        ignored = codebook.ignored_columns
        without = f", of which {', '.join(ignored)} tell nothing and are ignored" if ignored else ""
        parts.append(f"{codebook.n_codes} cells of {', '.join(codebook.columns_)}{without}")
    return ", ".join(parts) or "none, only numbers"


def policy_report(header: PolicyHeader) -> Report:
    """What a policy file says about itself."""
    book = header.codebook or Codebook.named()
    described = [book.describe(code) for code in range(min(book.n_codes or 0, 10))]
    plain = {name: part for name, part in header.parts.items() if not isinstance(part, dict)}
    return {
        "kind": header.kind,
        "actions": header.n_actions,
        "observations": header.n_observations,
        **{name: part for name, part in plain.items() if name not in ("n_actions", "n_observations")},
        "action names": book.action_names and ", ".join(book.action_names[:10]),
        "observation codes": "; ".join(described) or None,
        "settings": header.settings,
        "data fingerprint": header.data_fingerprint,
        "written by uqf": header.package_version,
        "format": header.format,
    }


def judged(policy: Any, header: PolicyHeader, data: Trajectories, **options: Any) -> ope.Estimate:
    """What a policy from a file would earn by a log, which may be the one that it learned from."""
    estimate = ope.evaluate(policy, data, **options)
    return estimate.of_taught() if fingerprint(data) == header.data_fingerprint else estimate


def estimate_report(estimate: ope.Estimate) -> Report:
    """Figures and verdict of an off-policy estimate; there is no figure for a return that is not known."""
    told = estimate.guess is None
    low, high = estimate.interval
    return {
        "expected return": estimate.text(),
        "known": estimate.known,
        "learned from this log": estimate.taught or None,
        "condition": estimate.condition or None,
        "mean": estimate.mean if told else None,
        "from": low if told else None,
        "to": high if told else None,
        "confidence": estimate.level if told else None,
        "guess": estimate.guess,
        "method": estimate.method,
        "effective episodes": estimate.effective_sample_size,
        "logged episodes": estimate.episodes,
        "verdict": estimate.verdict,
    }


def worries(
    data: Trajectories, figures: Report, estimate: ope.Estimate, diagnostics: dict[str, Any]
) -> list[str]:
    """What a careful reader would ask about, most serious first; `figures` are those of `data_report`."""
    found = []
    if not estimate.sufficient:
        found.append(
            f"The expected return is {estimate.text()}: {estimate.lack} Try the policy on a small share of the "
            "traffic first."
        )
    if figures["smallest reward"] == figures["largest reward"]:
        found.append("Every reward is the same: there is nothing to learn from.")
    unused = data.n_actions - len(np.unique(data.actions))
    if unused:
        found.append(f"{unused} of {data.n_actions} actions never occur: nothing is known about them.")
    if data.behavior_probs is None:
        found.append(
            "The log has no propensities (column behavior_prob). They were estimated from the last symbol: "
            f"{figures['smallest propensity']:.2g} at least, {figures['mean propensity']:.2g} on average. If the "
            "behaviour looked further back, the estimate and all that rests on it are wrong."
        )
    if figures["symbols seen rarely"] > 0.5 * figures["symbols seen"]:
        found.append(
            f"{figures['symbols seen rarely']} of {figures['symbols seen']} symbols occur fewer than "
            f"{FEW_OCCURRENCES} times: group rare observations."
        )
    if not data.terminated.any() and data.lengths.min() < data.lengths.max():
        found.append(
            "No episode is marked as ended by the world, though lengths differ: is `terminated` missing?"
        )
    return found + [str(note) for note in diagnostics.get("notes", [])]


def fit_report(learner: Learner, discount: float, seed: int) -> Report:
    """What `uqf.fit` made of the data, and what to expect of it.

    The estimate is of the chosen learner's policy as it was before the held-out episodes taught it too. They taught
    that policy nothing, but they chose the learner: with few episodes the estimate is a little too high.
    """
    trial, unseen = learner.trial_, learner.trial_.held_out
    data = concatenate([trial.taught, unseen])
    estimate = ope.evaluate(trial.policy, unseen, discount=discount, seed=seed)
    told, chosen = learner.diagnostics_, learner.diagnostics_["chosen"]
    figures = data_report(data, discount)
    if told["episodes"] > len(data):
        figures = {"all episodes": told["episodes"], "all steps": told["steps"]} | figures
    return {
        "data": figures,
        "chosen": {name: value for name, value in told.items() if _is_plain(value)},
        "candidates": {
            "why": chosen["why"],
            **{name: _judged(found) for name, found in chosen["candidates"].items()},
        },
        "expect": estimate_report(estimate) | {"logged return": float(unseen.returns(discount).mean())},
        "worry": worries(data, figures, estimate, learner.diagnostics_),
    }


def _judged(found: dict[str, Any]) -> str:
    """One of the candidates in a line."""
    if "problem" in found:
        return f"refused: {found['problem']}"
    if "won" in found:
        return (
            f"its plans earn {found['difference']:.4g} more an episode in models of other episodes, and win in "
            f"{found['won']} of {found['models']}"
        )
    return f"{found['gain']:.4g} ± {found['stderr']:.2g} better than the log, changing one step of an episode at a time"


def _is_plain(value: Any) -> bool:
    """Whether a value can be shown in a table and written as JSON."""
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    return isinstance(value, (str, int, float, bool)) or value is None
