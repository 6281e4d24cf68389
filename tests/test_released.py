"""Files that released versions wrote are still read, and mean the same.

``python tests/test_released.py`` writes those of the present version, once, when it is released.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import uqf

FOLDER = Path(__file__).parent / "released"
LEARNERS = {
    "uqf": lambda: uqf.UQF(3, 0.9, max_prefix=1, max_suffix=1),
    "spectral-q": lambda: uqf.SpectralQ(0.9, rank=3, rounds=1),
    "belief-q": lambda: uqf.BeliefQ(0.9, states=4, models=1),
    "context-q": lambda: uqf.ContextQ(0.9, depth=2),
    "table-q": lambda: uqf.TableQ(0.9),
}


def log():
    return uqf.rollout(uqf.make("tiger"), episodes=60, horizon=8, seed=0)


def decisions(policy):
    """What a policy would do along some episodes."""
    return np.round(policy.probs_along(log()[:10]), 6)


@pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("*/*.safetensors")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_policy_of_a_released_version_decides_as_it_did(path):
    expected = json.loads((path.parent / "decisions.json").read_text())[path.stem]
    np.testing.assert_allclose(decisions(uqf.load(path)).ravel()[: len(expected)], expected, atol=1e-5)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/log.parquet")), ids=lambda path: path.parent.name)
def test_a_log_of_a_released_version_holds_what_it_held(path):
    assert uqf.read_log(path) == log()


if __name__ == "__main__":
    folder = FOLDER / uqf.__version__
    folder.mkdir(parents=True, exist_ok=True)
    for name, learner in LEARNERS.items():
        learner().fit(log()).save(folder / f"{name}.safetensors")
    kept = {
        name: decisions(uqf.load(folder / f"{name}.safetensors")).ravel()[:60].tolist() for name in LEARNERS
    }
    (folder / "decisions.json").write_text(json.dumps(kept))
    log().to_parquet(folder / "log.parquet")
