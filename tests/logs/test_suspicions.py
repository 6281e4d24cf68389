"""What a careful reader would ask about a log that can be read, and what is done about it."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqf
from log_tables import STEPS, as_steps
from strategies import trajectories
from uqf.logs.suspicions import order_evidence, stands_for_nothing

BEFORE = uqf.LogColumns(observed="before")


def seen_before(data):
    """The same episodes in rows that show what was seen before the action; the last outcome is not in them."""
    shown = np.roll(data.observations, 1)
    shown[data.offsets[:-1]] = data.first_observations
    return as_steps(data, observation=shown).drop_columns("first_observation")


def with_first(data):
    parts = data.__getstate__() | {"first_observations": np.zeros(len(data), np.int64)}
    return uqf.Trajectories(**parts)


@given(trajectories())
def test_rows_that_show_what_was_seen_before_give_the_same_episodes_but_for_the_last_outcome(data):
    data = with_first(data)
    size = {"n_actions": data.n_actions, "n_observations": data.n_observations}
    read = uqf.read_log(seen_before(data), columns=BEFORE, **size)
    assert read.actions.tolist() == data.actions.tolist() and read.rewards.tolist() == data.rewards.tolist()
    assert read.first_observations.tolist() == data.first_observations.tolist()
    assert read.offsets.tolist() == data.offsets.tolist()
    inner = np.ones(data.n_steps, bool)
    inner[data.offsets[1:] - 1] = False
    assert read.observations[inner].tolist() == data.observations[inner].tolist()


def test_measurements_seen_before_and_lists_are_shifted_alike():
    rng = np.random.default_rng(0)
    temp, action = rng.normal(size=400), rng.integers(2, size=400)
    rows = {"episode": np.repeat(np.arange(40), 10), "action": action, "reward": (temp > 0) == action}
    table = pa.table(rows | {"observation": temp, "reward": rows["reward"].astype(float)})
    data = uqf.read_log(table, columns=BEFORE)
    book = data.codebook
    assert [book.encode_one(one) for one in temp[::10]] == data.first_observations.tolist()
    assert [book.encode_one(one) for one in temp[1:10]] == data.observations[:9].tolist()
    lists = {
        f"{name}s": [table[name].to_pylist()[first : first + 10] for first in range(0, 400, 10)]
        for name in ("action", "observation", "reward")
    }
    again = uqf.read_log(pa.table(lists), columns=BEFORE)
    assert again.observations.tolist() == data.observations.tolist()
    assert again.first_observations.tolist() == data.first_observations.tolist()


@pytest.mark.parametrize("length", [1, 2])
def test_what_pays_in_the_last_row_makes_cells_though_its_outcome_is_not_known(length):
    rng = np.random.default_rng(0)
    hint, noise, action = rng.random(800), rng.random(800), rng.integers(2, size=800)
    rows = {"episode": np.arange(800) // length, "action": action, "hint": hint, "noise": noise}
    table = pa.table(rows | {"reward": ((hint > 0.5) == action).astype(float)})
    wanted = uqf.LogColumns(observation=["hint", "noise"], observed="before")
    data = uqf.read_log(table, columns=wanted)
    assert data.codebook.ignored_columns == ("noise",) and data.n_observations <= 4
    cells = [data.codebook.encode_one({"hint": one, "noise": 0.0}) for one in (0.1, 0.4, 0.6, 0.9)]
    assert not set(cells[:2]) & set(cells[2:])


@pytest.mark.parametrize(("name", "episodes"), [("gridworld-hamilton", 60), ("pocman", 60), ("spocman", 60)])
def test_rows_show_whether_they_were_seen_before_or_after(name, episodes):
    data = with_first(uqf.rollout(uqf.make(name), episodes=episodes, seed=3))
    with pytest.warns(UserWarning, match="--observed before"):
        uqf.read_log(seen_before(data))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        uqf.read_log(as_steps(data).drop_columns("first_observation"))
        uqf.read_log(seen_before(data), columns=BEFORE)


def test_rows_that_depend_on_nothing_leave_it_open():
    rng = np.random.default_rng(1)
    evidence = [
        order_evidence(rng.integers(3, size=2000), [rng.normal(size=2000)], np.arange(0, 2001, 20))
        for _ in range(20)
    ]
    assert np.abs(evidence).max() < 4.0


def test_spellings_of_a_name_are_told_and_merged(tmp_path):
    spelled = ["run", "Run", " RUN", "stop", "run", "ｒｕｎ"]
    lines = [f"0,{action},Ö{'' if place % 2 else 'l'},1" for place, action in enumerate(spelled)]
    path = tmp_path / "log.csv"
    path.write_text(
        "\n".join(["episode,action,observation,reward", *lines, "0,stop,öl,1", "0,stop,O\u0308l,1"])
    )
    told = {one.column: one for one in uqf.log_problems(path)}
    assert told["action"].count == 3 and not told["action"].severe
    assert "'Run' is 'run'" in told["action"].example and told["action"].rows == (1, 2, 5)
    with pytest.warns(UserWarning, match="spellings"):
        assert len(uqf.read_log(path).codebook.action_names) == 5
    with pytest.warns(UserWarning, match="in another spelling"):
        data = uqf.read_log(path, clean=True)
    assert data.codebook.action_names == ("run", "stop")
    assert data.codebook.observation_names == ("Ö", "Öl")


def test_names_of_another_log_get_the_spellings_of_the_codebook(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("episode,action,observation,reward\n0,RUN,warm,1\n0,Run,Warm ,1\n0,RUN,cold,1\n")
    names = uqf.Codebook.named(("run", "stop"), ("cold", "warm"))
    with pytest.warns(UserWarning, match="in another spelling"):
        data = uqf.read_log(path, codebook=names, clean=True)
    assert data.actions.tolist() == [0, 0, 0] and data.observations.tolist() == [1, 1, 0]


def test_costs_that_are_read_as_rewards_are_named():
    table = pa.table(STEPS).rename_columns(["episode", "action", "observation", "Total Cost", "p", "over"])
    costs = table.set_column(3, "Total Cost", pa.array([1.0, 0.0, 3.0, 2.0, 0.5]))
    with pytest.warns(UserWarning, match="costs"):
        uqf.read_log(costs, columns=uqf.LogColumns(reward="Total Cost"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        uqf.read_log(costs, columns=uqf.LogColumns(reward="-Total Cost"))
        uqf.read_log(table, columns=uqf.LogColumns(reward="Total Cost"))  # some are negative already


@pytest.mark.parametrize("usual", [np.ones(1000), np.arange(1000.0), -np.ones(1000) * 0.01])
def test_outliers_are_named(usual):
    rewards = usual.copy()
    rewards[7] = 1e9
    steps = {"episode": np.zeros(1000), "action": np.zeros(1000, int), "observation": np.zeros(1000, int)}
    with pytest.warns(UserWarning, match="far from all others"):
        uqf.read_log(pa.table(steps | {"reward": rewards}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        uqf.read_log(pa.table(steps | {"reward": usual}))
        rare = np.zeros(1000)
        rare[3] = 100.0  # rewards that are seldom anything but 0
        uqf.read_log(pa.table(steps | {"reward": rare}))


@pytest.mark.parametrize(
    ("usual", "nothing", "seen"),
    [
        (np.linspace(20, 90, 100), -999.0, -999.0),
        (np.linspace(20, 90, 100), 9999.0, 9999.0),
        (np.linspace(20, 90, 100), -5.0, None),  # it may be that cold
        (np.linspace(0, 99, 100), 99.0, None),  # the largest of its neighbours
        (np.linspace(0, 1, 100), -1.0, -1.0),
        (np.arange(100.0), -1.0, None),  # whole numbers may be codes
        (np.arange(100.0) % 2, -999.0, None),  # and so may three numbers
    ],
)
def test_a_number_that_stands_for_no_value_is_seen(usual, nothing, seen):
    assert stands_for_nothing(np.append(usual, [nothing] * 2), sensor=True) == seen
    assert stands_for_nothing(np.append(usual, [nothing]), sensor=True) is None, "it comes back"
    assert nothing != -1.0 or stands_for_nothing(np.append(usual, [-1.0] * 2)) is None, "rewards may be −1"


def test_no_value_is_named_with_its_rows_and_outliers_are_sought_without_it(tmp_path):
    cells = [str(one) for one in np.linspace(20, 90, 60)]
    cells[4] = cells[9] = "-999"
    cells[7] = "1e9"
    path = tmp_path / "log.csv"
    path.write_text("episode,action,observation,reward\n" + "".join(f"0,go,{one},1\n" for one in cells))
    nothing, far = uqf.log_problems(path)
    assert (nothing.count, nothing.rows, nothing.example, nothing.severe) == (2, (4, 9), "-999", False)
    assert far.what == "numbers far from all others" and far.rows == (7,)


@given(st.permutations(range(6)))
def test_episodes_are_in_the_order_of_their_first_time(order):
    days = np.repeat(np.arange(6), 3)
    times = [
        f"2024-03-{30 + day // 3} 0{3 * (day % 3)}:{step}0:00+0{day}:00"
        for day, step in zip(days, [0, 1, 2] * 6, strict=True)
    ]
    rows = {"episode": [f"run {day}" for day in days], "action": [0, 1, 0] * 6, "observation": [1] * 18}
    table = pa.table(rows | {"reward": np.arange(18.0), "when": times})
    mixed = table.take([3 * day + step for day in order for step in (2, 0, 1)])
    read = uqf.read_log(mixed, columns=uqf.LogColumns(time="when"))
    began = sorted(range(6), key=lambda day: (30 + day // 3) * 24 + 3 * (day % 3) - day)
    assert read.rewards.tolist() == [3.0 * day + step for day in began for step in range(3)]


def test_times_are_read_as_people_write_them():
    def first(*times):
        rows = {name: values[: len(times)] for name, values in STEPS.items()} | {
            "episode": list(range(len(times)))
        }
        return uqf.read_log(pa.table(rows | {"when": times}), columns=uqf.LogColumns(time="when")).rewards[0]

    assert first("17.05.2024 12:30", "16.05.2024 12:31") == STEPS["reward"][1]
    assert first("05/17/2024 01:00 PM", "05/17/2024 12:00 PM") == STEPS["reward"][1]
