"""What a fit says about itself: the contents of `UQF.diagnostics_`, by kind of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqf import _core
from uqf.learn.clones import FittedClones
from uqf.learn.contexts import ContextLearner
from uqf.learn.spectral_memory import FittedSpectral
from uqf.learn.state import Basis, Target, block_matrix
from uqf.learn.tally import Tally
from uqf.policies import SumPolicy
from uqf.trajectories import Trajectories


def of_spectral(fitted: FittedSpectral, discount: float) -> dict[str, Any]:
    """How large and how well conditioned the learned state is, and how much of the data it covers."""
    state, spectrum = fitted.state, fitted.state.decomposition.spectrum
    kept = state.decomposition.singular_values
    # Relative to the largest, whose square may overflow.
    shares = (spectrum / spectrum[0]) ** 2
    return _describe("spectral", fitted.tally, len(state.symbols)) | {
        "rank": fitted.rewards.rank,
        "numerical_rank": state.numerical_rank,
        "spectral_radius": fitted.rewards.spectral_radius(discount),
        "condition": float(kept[0] / kept[-1]),
        "covered_prefixes": state.coverage[0],
        "covered_suffixes": state.coverage[1],
        "dropped_energy": 1.0 - float(shares[: len(kept)].sum() / shares.sum()),
        "notes": fitted.notes,
    }


def of_beliefs(fitted: FittedClones, data: Trajectories) -> dict[str, Any]:
    """What was chosen on held-out episodes, with the evidence for every candidate."""
    return _describe("beliefs", data, len(np.unique(data.symbols))) | {
        "models": len(fitted.models),
        "log_likelihoods": fitted.models.log_likelihoods,
        "states": fitted.choice.states,
        "states_evidence": fitted.choice.likelihoods,
        "learning_discount": fitted.choice.learning_discount,
        "learning_discount_evidence": fitted.choice.gains,
        "temperature": fitted.policy.temperature,
        "notes": [],
    }


def of_contexts(learner: ContextLearner, policy: SumPolicy, data: Trajectories) -> dict[str, Any]:
    """The settings that a table of contexts was learned with."""
    return _describe("contexts", data, len(np.unique(data.symbols))) | {
        "depth": learner.depth,
        "learning_discount": learner.learning_discount,
        "temperature": policy.temperature,
        "notes": [],
    }


def memory_spectrum(data: Trajectories, seed: int) -> NDArray[np.float64]:
    """Singular values of a sketch of the probability Hankel matrix: how much there is to remember."""
    basis = Basis(max_prefix=2, max_suffix=2, projection="hashed", prefix_dim=64, suffix_dim=64, seed=seed)
    sums = _core.HankelStatistics.accumulate(data, basis.settings(data, [Target("probability")]))
    return np.asarray(np.linalg.svd(block_matrix(sums) / len(data), compute_uv=False))


def _describe(memory: str, data: Trajectories | Tally, seen: int) -> dict[str, Any]:
    return {
        "memory": memory,
        "episodes": len(data),
        "steps": data.n_steps,
        "seen_symbols": seen,
        "unseen_symbols": data.n_symbols - seen,
    }
