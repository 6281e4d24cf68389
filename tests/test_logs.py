"""Logs in files and frames: round trips, streaming, and everything that can be wrong with them."""

import contextlib
import json
import subprocess
import sys
import types
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.json
import pyarrow.parquet as pq
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

import uqf
from strategies import trajectories
from uqf import _core

STEPS = {
    "episode": [7, 7, 3, 3, 3],
    "action": ["left", "right", "left", "left", "right"],
    "observation": ["wall", "door", "wall", "wall", "wall"],
    "reward": [0.0, 1.0, 0.0, -1.0, 0.5],
    "behavior_prob": [0.5, 0.5, 0.25, 0.5, 1.0],
    "terminated": [False, True, False, False, False],
}


def as_steps(data, **changes):
    """A data set as a table with one row per step."""
    episodes = np.repeat(np.arange(len(data)), data.lengths)
    ended = np.zeros(data.n_steps, bool)
    ended[data.offsets[1:] - 1] = data.terminated
    columns = {
        "episode": episodes,
        "action": data.actions,
        "observation": data.observations,
        "reward": data.rewards,
        "terminated": ended,
    }
    if data.behavior_probs is not None:
        columns["behavior_prob"] = data.behavior_probs
    return pa.table(columns | changes)


def sizes(data):
    return {"n_actions": data.n_actions, "n_observations": data.n_observations}


@given(trajectories())
def test_parquet_comes_back_bit_for_bit(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("logs") / "data.parquet"
    data.to_parquet(path)
    assert uqf.read_parquet(path) == data
    assert uqf.concatenate(list(uqf.iter_log(path, 2))) == data
    assert [len(batch) for batch in uqf.iter_log(path, 2)][:-1] == [2] * ((len(data) - 1) // 2)


@given(trajectories())
def test_one_row_per_step_gives_the_same_episodes(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("logs")
    table = as_steps(data)
    assert uqf.from_arrow(table, **sizes(data)) == data
    pq.write_table(table, folder / "steps.parquet", row_group_size=3)
    assert uqf.read_log(folder / "steps.parquet", **sizes(data)) == data
    # An episode that is cut by the end of a file goes on in the next one.
    (folder / "many").mkdir()
    for part in range(0, table.num_rows, 4):
        pq.write_table(table.slice(part, 4), folder / "many" / f"{part:05}.parquet")
    assert uqf.read_log(folder / "many", **sizes(data)) == data


@given(trajectories())
def test_text_gives_the_same_episodes(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("logs")
    rows = as_steps(data).to_pylist()
    (folder / "steps.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    lines = [",".join(rows[0])] + [",".join(str(value).lower() for value in row.values()) for row in rows]
    (folder / "steps.csv").write_text("\n".join(lines))
    episodes = [
        {
            "actions": e.actions.tolist(),
            "observations": e.observations.tolist(),
            "rewards": e.rewards.tolist(),
        }
        | ({} if e.behavior_probs is None else {"behavior_probs": e.behavior_probs.tolist()})
        | {"terminated": e.terminated}
        for e in data
    ]
    (folder / "episodes.jsonl").write_text("\n".join(map(json.dumps, episodes)))
    for name in ("steps.jsonl", "steps.csv", "episodes.jsonl"):
        assert uqf.read_log(folder / name, **sizes(data)) == data


def test_names_become_codes_and_stay_with_the_data(tmp_path):
    data = uqf.from_arrow(pa.table(STEPS))
    assert data.vocabulary == uqf.Vocabulary(("left", "right"), ("door", "wall"))
    assert data.actions.tolist() == [0, 1, 0, 0, 1]
    assert data.observations.tolist() == [1, 0, 1, 1, 1]
    assert (data.n_actions, data.n_observations) == (2, 3)
    assert data.terminated.tolist() == [True, False]
    assert data[:1].vocabulary == data[[1]].vocabulary == data.vocabulary
    data.to_parquet(tmp_path / "log.parquet")
    again = uqf.read_parquet(tmp_path / "log.parquet")
    assert again == data
    assert [batch.vocabulary for batch in uqf.iter_log(tmp_path / "log.parquet", 1)] == [data.vocabulary] * 2


def test_new_logs_can_be_read_with_the_names_of_an_old_one(tmp_path):
    names = uqf.Vocabulary(("left", "right", "stay"), ("wall",))
    data = uqf.from_arrow(pa.table(STEPS), vocabulary=names)
    assert data.observations.tolist() == [0, 1, 0, 0, 0], "door is unknown: the last code"
    assert names.encode_observation("dragon") == 1
    assert names.decode_observation(1) == "(unknown)"
    assert [names.decode_action(names.encode_action(name)) for name in names.actions] == list(names.actions)
    with pytest.raises(ValueError, match="action 'fly' does not occur in the logs, which know left, right"):
        names.encode_action("fly")
    with pytest.raises(uqf.FileFormatError, match="'right' is not in the vocabulary"):
        uqf.from_arrow(pa.table(STEPS), vocabulary=uqf.Vocabulary(("left",), ("wall",)))


def test_streaming_finds_the_same_names_as_reading_whole(tmp_path):
    pq.write_table(pa.table(STEPS), tmp_path / "log.parquet", row_group_size=2)
    whole = uqf.read_parquet(tmp_path / "log.parquet")
    assert uqf.concatenate(list(uqf.iter_log(tmp_path / "log.parquet", 1))) == whole


@given(trajectories(), st.integers(1, 5))
def test_every_format_is_read_in_batches_of_the_size_asked_for(tmp_path_factory, data, size):
    folder = tmp_path_factory.mktemp("logs")
    table = as_steps(data)
    pq.write_table(table, folder / "log.parquet")
    pa.feather.write_feather(table, folder / "log.arrow", chunksize=4)
    pa.csv.write_csv(table, folder / "log.csv")
    (folder / "log.jsonl").write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    for path in folder.iterdir():
        batches = list(uqf.iter_log(path, size, **sizes(data)))
        assert uqf.concatenate(batches) == data
        assert [len(batch) for batch in batches[:-1]] == [size] * (len(batches) - 1)
    with pytest.raises(ValueError, match="batch_episodes = 0"):
        next(uqf.iter_log(folder / "log.csv", 0))


#: Reads a log in batches and prints the steps it held and by how many bytes the process grew.
READ_IN_BATCHES = """
import resource, sys, uqf
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
list(uqf.iter_log(sys.argv[1], 200))
before = peak()
print(sum(batch.n_steps for batch in uqf.iter_log(sys.argv[2], 200)), peak() - before)
"""


def long_log(path, episodes):
    """Episodes of 100 steps."""
    steps = np.arange(100) % 3, np.arange(100) % 7, np.arange(100) % 2
    lists = {
        name: values.tolist()
        for name, values in zip(("actions", "observations", "rewards"), steps, strict=True)
    }
    rows = "".join("@,{},{},{}\n".format(*step) for step in zip(*steps, strict=True))
    table = pa.table({name: [values] * 1000 for name, values in lists.items()})
    match path.suffix:
        case ".csv":
            with path.open("w") as file:
                file.write("episode,action,observation,reward\n")
                # Ids that do not count up by one, so that every one must be remembered.
                file.writelines(rows.replace("@", f"{7 * episode}") for episode in range(episodes))
        case ".jsonl":
            path.write_text((json.dumps(lists) + "\n") * episodes)
        case ".parquet":
            with pq.ParquetWriter(path, table.schema) as writer:
                for _ in range(episodes // 1000):
                    writer.write_table(table)
        case ".arrow":
            with pa.ipc.new_file(path, table.schema) as writer:
                for _ in range(episodes // 1000):
                    writer.write_table(table)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".arrow"])
def test_memory_does_not_grow_with_the_log(tmp_path, suffix):
    paths = [tmp_path / f"{size}{suffix}" for size in ("short", "long")]
    for path, episodes in zip(paths, (1000, 20_000), strict=True):
        long_log(path, episodes)
    run = subprocess.run(
        [sys.executable, "-c", READ_IN_BATCHES, *map(str, paths)], capture_output=True, text=True, check=True
    )
    steps, growth = map(int, run.stdout.split())
    assert steps == 2_000_000
    assert growth < 0.6 * steps * 24, "the arrays of the whole log alone would take more"


def test_an_episode_that_comes_back_is_refused_across_batches_and_files(tmp_path):
    def steps(ids):
        rows = len(ids)
        return pa.table(
            {"episode": ids, "action": [0] * rows, "observation": [0] * rows, "reward": [0.0] * rows}
        )

    for ids in ([*range(50), 3], [7, 5, 9, 5], ["a", "b", "a"], ["0", "1", "0"]):
        pa.csv.write_csv(steps(ids), tmp_path / "log.csv")
        with pytest.raises(uqf.FileFormatError, match=f"row {len(ids) - 1}: episode '{ids[-1]}' comes back"):
            list(uqf.iter_log(tmp_path / "log.csv", 1))
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(steps([0, 1, 2]), folder / "0.parquet")
    pq.write_table(steps([2, 3, 1]), folder / "1.parquet")
    with pytest.raises(uqf.FileFormatError, match="row 5: episode 1 comes back"):
        list(uqf.iter_log(folder, 1))


def test_text_keeps_its_types_over_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("uqf.adapters.text.BLOCK", 64)
    head = "episode,action,observation,reward\n"
    rows = [f"{row // 3},{row % 2},name{row % 3},{row % 2 and 0.5}" for row in range(60)]
    csv = tmp_path / "log.csv"
    csv.write_text(head + "\n".join(rows))
    data = uqf.read_log(csv)
    assert data.rewards.tolist() == [0.0, 0.5] * 30, "the first block has whole numbers only"
    csv.write_text(head + "\n".join(rows) + "\n20,up,name0,0")
    with pytest.raises(uqf.FileFormatError, match="row 60 has 'up'"):
        uqf.read_log(csv)
    lines = tmp_path / "log.jsonl"
    steps = [{"episode": row // 3, "action": row % 2, "observation": 0, "reward": row} for row in range(30)]
    lines.write_text("\n".join(map(json.dumps, steps)))
    assert uqf.read_log(lines).rewards.tolist() == list(range(30))
    steps[-1]["terminated"] = True
    lines.write_text("\n".join(map(json.dumps, steps)))
    with pytest.raises(uqf.FileFormatError, match=r"from row \d+ on the columns are .*'terminated'"):
        uqf.read_log(lines)
    lines.write_text(json.dumps(steps[0]) + " " * 10_000 + "\n\n" + json.dumps(steps[1]))
    assert len(uqf.read_log(lines)) == 1, "blank lines and spaces are no rows"
    monkeypatch.setattr("uqf.adapters.text.LONGEST_LINE", 100)
    with pytest.raises(uqf.FileFormatError, match="a line is longer"):
        uqf.read_log(lines)


def test_a_file_with_names_is_read_in_the_codes_of_another_vocabulary(tmp_path):
    data = uqf.from_arrow(pa.table(STEPS))
    data.to_parquet(tmp_path / "log.parquet")
    names = uqf.Vocabulary(("stay", "right", "left"), ("window", "wall"))
    again = uqf.read_log(tmp_path / "log.parquet", vocabulary=names)
    assert again == uqf.from_arrow(pa.table(STEPS), vocabulary=names)
    assert again.actions.tolist() == [2, 1, 2, 2, 1]
    assert again.observations.tolist() == [1, 2, 1, 1, 1], "door is unknown: the last code"
    with pytest.raises(uqf.FileFormatError, match="action 'left' does not occur"):
        uqf.read_log(tmp_path / "log.parquet", vocabulary=uqf.Vocabulary(("right",), ("wall",)))
    with pytest.raises(
        uqf.FileFormatError, match="actions of the log are names, those of the vocabulary num"
    ):
        uqf.read_log(tmp_path / "log.parquet", vocabulary=uqf.Vocabulary(None, ("wall",)))


def test_the_format_may_be_said(tmp_path):
    pa.csv.write_csv(pa.table(STEPS), tmp_path / "log.txt")
    assert uqf.read_log(tmp_path / "log.txt", format="csv") == uqf.from_arrow(pa.table(STEPS))
    with pytest.raises(uqf.FileFormatError, match=r"suffix '.txt' is not one of .parquet"):
        uqf.read_log(tmp_path / "log.txt")
    with pytest.raises(uqf.FileFormatError, match="format = 'excel': choose arrow, csv"):
        uqf.read_log(tmp_path / "log.txt", format="excel")


class Frame:
    """Anything that speaks Arrow, such as a polars or pandas frame."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_frames_are_read_through_the_arrow_interface():
    assert uqf.from_arrow(Frame(pa.table(STEPS))) == uqf.from_arrow(pa.table(STEPS))
    coded = pa.table(STEPS | {"action": pa.array(STEPS["action"]).dictionary_encode()})
    assert uqf.from_arrow(coded) == uqf.from_arrow(pa.table(STEPS))
    with pytest.raises(TypeError, match="frame is a dict"):
        uqf.from_arrow(STEPS)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_frames_of_the_usual_libraries(library):
    frame = pytest.importorskip(library).DataFrame(STEPS)
    assert uqf.from_arrow(frame) == uqf.from_arrow(pa.table(STEPS))


def test_columns_may_have_other_names():
    table = pa.table(STEPS).rename_columns(["user", "item", "click", "gain", "p", "done"])
    columns = uqf.LogColumns("user", "item", "click", "gain", "p", "done")
    assert uqf.from_arrow(table, columns=columns) == uqf.from_arrow(pa.table(STEPS))
    with pytest.raises(uqf.FileFormatError, match=r"no column 'item' for the action .*\(action=…\)"):
        uqf.from_arrow(pa.table(STEPS), columns=uqf.LogColumns(action="item"))


def damaged(column, values):
    return pa.table(STEPS | {column: values})


LISTS = {"actions": [[0, 1], [1]], "observations": [[0, 0], [1]], "rewards": [[0.0, 1.0], [2.0]]}

BAD_TABLES = {
    "no rows": (pa.table(STEPS).slice(0, 0), "holds no episode"),
    "no reward": (pa.table(STEPS).drop_columns("reward"), "no column 'reward' or 'rewards'"),
    "no episode": (pa.table(STEPS).drop_columns("episode"), "numbers the episodes"),
    "rewards of strings": (damaged("reward", ["a"] * 5), "column 'reward' holds string, such as 'a'"),
    "NaN": (damaged("reward", [0.0, np.nan, 0, 0, 0]), "column 'reward', row 1: nan is no finite number"),
    "infinity": (damaged("reward", [0, 0, 0, 0, np.inf]), "column 'reward', row 4: inf is no finite"),
    "missing": (damaged("reward", [0.0, None, 0, 0, 0]), "column 'reward', row 1: the value is missing"),
    "propensity 0": (damaged("behavior_prob", [0.5, 0, 1, 1, 1]), "'behavior_prob', row 1: 0.0 is no prob"),
    "propensity 1.5": (damaged("behavior_prob", [0.5, 0.5, 1.5, 1, 1]), "row 2: 1.5 is no probability"),
    "id comes back": (damaged("episode", [7, 7, 3, 7, 7]), "row 3: episode 7 comes back after another"),
    "end in the middle": (damaged("terminated", [True] + [False] * 4), "'terminated', row 0: true before"),
    "actions of floats": (damaged("action", [0.5] * 5), "column 'action' holds double: give whole numbers"),
    "negative action": (damaged("action", [0, -1, 0, 0, 0]), "column 'action', row 1: -1 is no code"),
    "lists and numbers": (pa.table(LISTS | {"rewards": [0.0, 1.0]}), "all hold lists, or none does"),
    "unequal lists": (pa.table(LISTS | {"rewards": [[0.0, 1.0], [2.0, 3.0]]}), "'rewards', row 1: 2 entries"),
    "empty episode": (pa.table({name: [*lists, []] for name, lists in LISTS.items()}), "row 2: 0 entries"),
    "infinite in a list": (pa.table(LISTS | {"rewards": [[0.0, np.inf], [2.0]]}), "row 0, entry 1: inf"),
    "a million numbers": (damaged("observation", [0, 1, 2, 3, 999_999]), "'observation' needs 1000000 codes"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables_are_refused_by_every_reader(tmp_path, name):
    table, message = BAD_TABLES[name]
    with pytest.raises(uqf.FileFormatError, match=message):
        uqf.from_arrow(table)
    path = tmp_path / "log.parquet"
    pq.write_table(table, path)
    with pytest.raises(uqf.FileFormatError, match=message) as whole:
        uqf.read_log(path)
    assert str(path) in str(whole.value)
    with pytest.raises(uqf.FileFormatError, match=message):
        list(uqf.iter_log(path))


@pytest.mark.parametrize(
    "name", [name for name, (table, _) in BAD_TABLES.items() if "action" in table.column_names]
)
def test_bad_tables_are_refused_as_text_and_as_arrow_files(tmp_path, name):
    table, _ = BAD_TABLES[name]
    pa.csv.write_csv(table, tmp_path / "log.csv")
    (tmp_path / "log.jsonl").write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    pa.feather.write_feather(table, tmp_path / "log.arrow")
    for path in tmp_path.iterdir():
        with pytest.raises(uqf.FileFormatError, match=str(path)):
            uqf.read_log(path)


def test_rows_are_counted_from_the_beginning_of_the_log(tmp_path):
    rows = 700
    steps = {"episode": np.arange(rows) // 2, "action": [0] * rows, "observation": [0] * rows}
    for role in ("action", "reward"):
        values = {"reward": [0.0] * rows} | {role: [0] * 650 + [None] + [0] * 49}
        pq.write_table(pa.table(steps | values), tmp_path / "log.parquet")
        with pytest.raises(uqf.FileFormatError, match=f"'{role}', row 650: the value is missing"):
            list(uqf.iter_log(tmp_path / "log.parquet", 1))


def test_measurements_are_not_taken_for_names(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("episode,action,observation,reward\n0,a,b,1\n0,a,0.25,1\n")
    with pytest.raises(uqf.FileFormatError, match=r"'observation', row 1: '0\.25' is neither a whole number"):
        uqf.read_log(path)


def test_a_million_distinct_names_are_refused():
    names = [f"user-{number}" for number in range(1_000_000)]
    steps = {
        "episode": np.zeros(len(names)),
        "action": np.zeros(len(names), int),
        "reward": np.zeros(len(names)),
    }
    with pytest.raises(
        uqf.FileFormatError, match="more than 100000 distinct values: they look like identifiers"
    ):
        uqf.from_arrow(pa.table(steps | {"observation": names}))


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv", "jsonl"])
def test_an_empty_file_is_refused(tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    path.touch()
    with pytest.raises(uqf.FileFormatError, match=str(path)):
        uqf.read_log(path)


def test_a_parquet_file_cut_anywhere_is_refused(tmp_path):
    path = tmp_path / "log.parquet"
    uqf.rollout(uqf.make("tiger"), episodes=50).to_parquet(path)
    whole = path.read_bytes()
    for size in (len(whole) // 2, 5, len(whole) - 1):
        path.write_bytes(whole[:size])
        for read in (uqf.read_parquet, lambda path: list(uqf.iter_log(path))):
            with pytest.raises(uqf.FileFormatError, match=str(path)):
                read(path)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "log.parquet"
    uqf.rollout(uqf.make("tiger"), episodes=30, horizon=5).to_parquet(path)
    return path, path.read_bytes()


@given(data=st.data())
def test_a_flipped_bit_is_found_or_leaves_valid_episodes(parquet, data):
    path, content = parquet
    damaged = bytearray(content)
    damaged[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    broken = path.with_name("broken.parquet")
    broken.write_bytes(damaged)
    for read in (uqf.read_parquet, lambda path: uqf.concatenate(list(uqf.iter_log(path, 7)))):
        with contextlib.suppress(uqf.FileFormatError):
            _core.validate(read(broken))


@given(st.binary(max_size=200), st.sampled_from([".parquet", ".arrow", ".csv", ".jsonl"]))
def test_any_bytes_are_refused_or_read(tmp_path_factory, content, suffix):
    path = (tmp_path_factory.getbasetemp() / "noise").with_suffix(suffix)
    path.write_bytes(content)
    with pytest.raises(uqf.FileFormatError, match="noise"):
        uqf.read_log(path)


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        uqf.read_log(tmp_path / "log.parquet")


def test_mixed_types_in_text_are_refused(tmp_path):
    csv = tmp_path / "log.csv"
    csv.write_text("episode,action,observation,reward\n0,1,0,0.5\n0,up,0,1\n")
    with pytest.raises(
        uqf.FileFormatError, match=r"'action' mixes whole numbers and others: .*row 1 has 'up'"
    ):
        uqf.read_log(csv)
    lines = tmp_path / "log.jsonl"
    rows = [{"episode": 0, "action": action, "observation": 0, "reward": 0} for action in (1, "up")]
    lines.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(uqf.FileFormatError, match=r"log.jsonl: .*action.* changed from number to string"):
        uqf.read_log(lines)
    with pytest.raises(uqf.FileFormatError, match=r"suffix '.xlsx' is not one of .parquet"):
        uqf.read_log(tmp_path / "log.xlsx")


def minari_like(observations, observation_space):
    """The part of a MinariDataset that is read."""
    episode = types.SimpleNamespace(
        observations=observations,
        actions=np.array([1, 0]),
        rewards=np.array([0.0, 2.0]),
        terminations=np.array([False, True]),
    )
    return types.SimpleNamespace(
        action_space=spaces.Discrete(2),
        observation_space=observation_space,
        iterate_episodes=lambda: iter([episode, episode]),
    )


def test_minari_drops_the_first_observation_or_opens_with_it():
    dataset = minari_like(np.array([3, 1, 2]), spaces.Discrete(4))
    data = uqf.from_minari(dataset)
    assert data[0].history == [(1, 1), (0, 2)]
    assert data.rewards.tolist() == [0.0, 2.0] * 2
    assert data.terminated.all() and data.behavior_probs is None
    assert uqf.from_minari(dataset, include_first=True)[1].history == [(0, 3), (1, 1), (0, 2)]
    parts = {"row": np.array([0, 1, 1]), "open": np.array([1, 0, 1])}
    space = spaces.Dict(row=spaces.Discrete(2), open=spaces.Discrete(2))
    assert uqf.from_minari(minari_like(parts, space)).n_observations == 4
    with pytest.raises(uqf.FileFormatError, match="episode 0 of the Minari data set: 2 entries where 3"):
        uqf.from_minari(minari_like(np.array([3, 1]), spaces.Discrete(4)))


def test_a_real_minari_data_set(tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    buffers = [
        minari.data_collector.EpisodeBuffer(
            id=index,
            observations={"row": np.array([1, 1, 0]), "open": np.array([2, 1, 0])},
            actions=np.array([1, 0]),
            rewards=np.array([0.0, 2.0]),
            terminations=np.array([False, index == 0]),
            truncations=np.array([False, index == 1]),
        )
        for index in range(2)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # author, description, … are not given
        dataset = minari.create_dataset_from_buffers(
            "uqf/test-v0",
            buffers,
            action_space=spaces.Discrete(2),
            observation_space=spaces.Dict(row=spaces.Discrete(2), open=spaces.Discrete(3)),
            data_format="arrow",
        )
    data = uqf.from_minari(dataset)
    assert data.rewards.tolist() == [0.0, 2.0] * 2
    assert data.terminated.tolist() == [True, False]
    assert (data.n_actions, data.n_observations) == (2, 6)
    assert [action for action, _ in data[0].history] == [1, 0]
    assert data[0].history == data[1].history
