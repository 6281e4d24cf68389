"""Rivals see the same episodes as we do; the libraries themselves are an extra that these tests do without."""

import gymnasium
import numpy as np
import pytest
from experiments.deep_offline import RawLog
from experiments.frames import Frames, Rival
from experiments.methods import METHODS
from experiments.rival_settings import SETTINGS, Setting
from experiments.worlds import GYMNASIUM, POPGYM, Trial, registered, world
from gymnasium import spaces

import uqf
from experiments import deep_offline


def test_rows_hold_the_last_frames_with_the_actions_before_them():
    space = spaces.Tuple([spaces.Discrete(3), spaces.Box(-9.0, 9.0, (1,))])
    rng = np.random.default_rng(0)
    seen = [(int(rng.integers(3)), rng.normal(5.0, 2.0, 1).astype(np.float32)) for _ in range(7)]
    actions = rng.integers(2, size=6).tolist()
    frames = Frames.of(space, 2, seen, Setting(3))
    rows = frames.episode(seen, actions)
    assert rows.shape == (6, 3 * frames.width) == (6, 18)
    numbers = np.array([one[1][0] for one in seen])
    np.testing.assert_allclose(rows[:, 3], ((numbers - numbers.mean()) / numbers.std())[:6], rtol=1e-6)
    assert (rows[:, :3] == np.eye(3)[[one[0] for one in seen[:6]]]).all(), (
        "categories are one-hot as they are"
    )
    assert (rows[0, 4:] == 0).all() and (rows[1:, 4:6] == np.eye(2)[actions[:5]]).all()
    assert (rows[1:, 6:12] == rows[:-1, :6]).all() and (rows[2:, 12:] == rows[:-2, :6]).all()
    _is_what_is_seen_in_play(frames, seen, actions)


def _is_what_is_seen_in_play(frames, seen, actions):
    """One step after another gives the rows of the whole episode."""
    rows, online = frames.episode(seen, actions), np.zeros((1, frames.count * frames.width))
    for step, before in enumerate([-1, *actions[:-1]]):
        online = frames.pushed(online, [seen[step]], np.array([before]), step)
        np.testing.assert_array_equal(online[0], rows[step])


@pytest.mark.parametrize("count", [1, 3, 9])
def test_rows_from_the_start_hold_every_frame_in_its_own_place(count):
    seen, actions = [2, 0, 1, 1, 0, 2, 1], [0, 1, 1, 0, 0, 1]
    frames = Frames.of(spaces.Discrete(3), 2, seen, Setting(count, from_start=True))
    rows = frames.episode(seen, actions).reshape(6, count, frames.width)
    assert (rows[:, 0, :3] == np.eye(3)[seen[:6]]).all(), "the newest comes first"
    for step, row in enumerate(rows):
        for place in range(1, count):
            past = place <= step
            assert (row[place] == rows[place - 1, 0]).all() if past else not row[place].any()
    _is_what_is_seen_in_play(frames, seen, actions)


@pytest.mark.parametrize("name", ["FrozenLake-v1@40", "CartPole-positions@30", "persistent-CartPole-v1@30"])
def test_the_raw_log_is_the_log_and_scores_are_of_the_same_episodes(name):
    trial = Trial(world(name), 3)
    log, data = RawLog.of(trial), trial.data
    assert [action for one in log.played for action in one.actions] == data.actions.tolist()
    seen = [one for episode in log.played for one in episode.observations]
    assert trial.env.encode(seen).tolist() == data.observations.tolist()
    frames = log.frames(Setting(2))
    always = Rival(frames, lambda rows, starts: np.ones(len(rows), np.int64))
    same = uqf.TablePolicy(np.eye(data.n_actions)[[1] * (data.n_symbols + 1)], data.n_observations)
    assert always.score_in(trial) == pytest.approx(trial.score(same))


def test_without_the_actions_before_rows_hold_observations_alone():
    seen, actions = [2, 0, 1, 1], [0, 1, 1]
    frames = Frames.of(spaces.Discrete(3), 2, seen, Setting(2, acted=False))
    rows = frames.episode(seen, actions)
    assert (rows[:, :3] == np.eye(3)[seen[:3]]).all() and (rows[1:, 3:] == rows[:-1, :3]).all()
    _is_what_is_seen_in_play(frames, seen, actions)


def test_batches_are_those_that_d3rlpy_draws():
    d3rlpy = pytest.importorskip("d3rlpy")
    log = RawLog.of(Trial(world("CartPole-positions@30"), 3))
    setting = Setting(2, scale=0.5, shift=1.0)
    data = log.dataset(log.frames(setting), setting)
    d3rlpy.seed(7)
    ours = data.sample_transition_batch(500)
    d3rlpy.seed(7)
    theirs = d3rlpy.dataset.MDPDataset.sample_transition_batch(data, 500)
    assert ours.terminals.any() and (ours.rewards == 1.0).all()
    for name in ("observations", "actions", "rewards", "next_observations", "next_actions", "terminals"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_array_equal(ours.intervals, theirs.intervals)


def test_every_world_has_a_setting_and_older_versions_are_found():
    assert {*GYMNASIUM, *POPGYM} == SETTINGS.keys()
    assert registered("Taxi-v99") in gymnasium.registry and registered("Taxi-v99").startswith("Taxi-v")
    assert registered("Nothing-v0") == "Nothing-v0"


def test_rivals_are_tried_in_worlds_of_gymnasium_with_the_settings_of_the_world(monkeypatch):
    """With a rival in place of d3rlpy's, which only turns up where the extra is installed."""
    learned = []

    def stand_in(log, setting, *, cloning):
        learned.append((setting, cloning))
        return Rival(log.frames(setting), lambda rows, starts: np.zeros(len(rows), np.int64))

    monkeypatch.setattr(deep_offline, "learned", stand_in)
    trial = Trial(world("FrozenLake-v1@40"), 0)
    scores = [METHODS[name].learn(trial).score_in(trial) for name in ("DiscreteCQL", "behaviour cloning")]
    assert learned == [(SETTINGS["FrozenLake-v1"], False), (SETTINGS["FrozenLake-v1"], True)]
    assert scores[0] == scores[1] >= 0.0
    assert not METHODS["DiscreteCQL"].suits(world("tiger"))
