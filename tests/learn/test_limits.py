"""What a log cannot show is said, in `diagnostics_["notes"]` and on the terminal."""

import numpy as np
import pytest
from typer.testing import CliRunner

import uqf
from uqf.cli.commands import app


def log(episodes=60, length=5, actions=2, rewards=None, n_actions=2):
    rng = np.random.default_rng(0)
    steps = episodes * length
    return uqf.Trajectories(
        rng.integers(actions, size=steps),
        rng.integers(2, size=steps),
        rng.normal(size=steps) if rewards is None else rewards(steps),
        np.arange(0, steps + 1, length),
        n_actions=n_actions,
        n_observations=2,
    )


def outlier(steps):
    rewards = np.ones(steps) + 0.01 * np.random.default_rng(1).normal(size=steps)
    rewards[7] = 1e9
    return rewards


def two_outliers(steps):
    rewards = np.ones(steps)
    rewards[[7, 90]] = 1e9
    return rewards


CASES = {
    "action 0 was always taken: nothing": log(actions=1, n_actions=1),
    "action 0 was always taken": log(actions=1),
    "every reward is 3": log(rewards=lambda steps: np.full(steps, 3.0)),
    "2 episodes: fewer than 20": log(episodes=2),
    "one reward, 1 billion, outweighs": log(rewards=outlier),
    "2 rewards, such as 1 billion, outweigh": log(rewards=two_outliers),
    "every reward is 1 million": log(rewards=lambda steps: 1e6 + 1e-9 * (np.arange(steps) % 3)),
}


@pytest.mark.parametrize("words", CASES)
def test_the_notes_say_what_the_log_cannot_show(words):
    for learner in (uqf.fit(CASES[words], discount=0.9), uqf.ContextQ(0.9).fit(CASES[words])):
        assert any(words in note for note in learner.diagnostics_["notes"])
    assert not any(
        "reward" in note or "episodes" in note for note in uqf.ContextQ().fit(log()).diagnostics_["notes"]
    )


def test_equal_rewards_say_something_where_episodes_end():
    """Of a reward of 1 a step, as CartPole has it, more is earned by whoever lasts longer."""
    data = uqf.rollout(uqf.GymnasiumWorld("CartPole-v1", horizon=200), episodes=60, seed=0)
    assert not any("every reward" in note for note in uqf.ContextQ().fit(data).diagnostics_["notes"])


@pytest.mark.parametrize("words", CASES)
def test_the_terminal_says_so_and_no_gain_is_without_error(words, tmp_path):
    CASES[words].to_parquet(tmp_path / "log.parquet")
    run = CliRunner().invoke(
        app, ["fit", str(tmp_path / "log.parquet"), "--out", str(tmp_path / "p.safetensors")]
    )
    assert run.exit_code == 0, run.output
    said = " ".join(run.output.split())
    assert words in said
    assert "± 0 " not in said and "± inf" not in said and "± nan" not in said


@pytest.mark.parametrize(
    "learner", [uqf.BeliefQ, uqf.ContextQ, uqf.ModelQ, uqf.SpectralQ, uqf.SummaryQ, uqf.TableQ]
)
def test_numbers_that_learners_cannot_reckon_with_are_refused_by_name(learner):
    """Propensities of 1e-300 ended in "temperature = NaN"."""
    data = log(rewards=lambda steps: 1e12 * (-1.0) ** np.arange(steps))
    state = data.__getstate__()
    impossible = uqf.Trajectories(**state | {"behavior_probs": np.full(data.n_steps, 1e-300)})
    with pytest.raises(ValueError, match="behavior_probs: 300 steps over their probabilities are worth 1"):
        learner(0.9).fit(impossible)
    probs = np.full(data.n_steps, 0.5)
    probs[17] = 1e-5
    unlikely = uqf.Trajectories(**state | {"behavior_probs": probs})
    assert np.isfinite(learner(0.9).fit(unlikely).policy_.probs_along(data)).all()
