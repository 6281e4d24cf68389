"""Folders of Parquet files: the same results as in memory, with little memory."""

import weakref

import numpy as np
import pyarrow.parquet as pq
import pytest

import uqf
from log_tables import as_steps
from logged import changed
from shard_sources import HASHED, LISTED
from uqf.reading.parquet_shards import ParquetShard


@pytest.mark.parametrize("settings", [HASHED, LISTED])
def test_a_folder_gives_what_memory_gives(data, folder, settings):
    from_folder, from_memory = uqf.UQF(**settings).fit(folder), uqf.UQF(**settings).fit(data)
    for name in ("alpha", "operators", "omega"):
        np.testing.assert_allclose(
            getattr(from_folder.wfa_, name), getattr(from_memory.wfa_, name), rtol=1e-10, atol=1e-12
        )
    assert from_folder.diagnostics_["steps"] == data.n_steps
    assert from_folder.diagnostics_["covered_prefixes"] == from_memory.diagnostics_["covered_prefixes"]
    small = uqf.Shards(folder, batch_steps=100)
    np.testing.assert_allclose(
        uqf.UQF(**settings).fit(small).wfa_.operators, from_memory.wfa_.operators, rtol=1e-10, atol=1e-12
    )
    assert from_folder.score(data) == pytest.approx(from_memory.score(data), rel=1e-6)


def test_files_with_names_are_read_in_the_codes_of_a_given_codebook(data, tmp_path):
    """As `read_log` does: yesterday's model wants today's logs in its own codes."""
    names = uqf.Codebook.named(("listen", "left", "right"), ("growl left", "growl right"))
    named = changed(data, n_observations=3, codebook=names)
    named.to_parquet(tmp_path / "1.parquet")
    other = uqf.Codebook.named(("right", "listen", "left"), ("growl right", "growl left"))
    shards = uqf.Shards(tmp_path, codebook=other)
    whole = uqf.read_log(tmp_path, codebook=other)
    assert shards.codebook == whole.codebook == other
    assert (shards.n_actions, shards.n_observations) == (whole.n_actions, whole.n_observations)
    (part,) = shards[0].batches()
    np.testing.assert_array_equal(part.actions, whole.actions)
    np.testing.assert_array_equal(part.observations, whole.observations)
    assert (part.actions != data.actions).any() and part.codebook == other
    half = uqf.Shards(tmp_path, codebook=uqf.Codebook.named(None, other.observation_names))
    with pytest.raises(uqf.FileFormatError):
        next(half[0].batches())


def test_logs_of_others_are_converted_first(data, tmp_path):
    named = np.array(["left", "right", "listen"])[data.actions]
    pq.write_table(as_steps(data, action=named), tmp_path / "steps.parquet")
    with pytest.raises(uqf.FileFormatError):
        uqf.Shards(tmp_path)
    uqf.convert(tmp_path / "steps.parquet", tmp_path / "shards", episodes_per_file=100)
    shards = uqf.Shards(tmp_path / "shards", batch_steps=150)
    assert shards.codebook.action_names == ("left", "listen", "right") and len(shards) == 5
    assert shards.reward_size == np.abs(data.rewards).max()
    whole = uqf.read_log(tmp_path / "steps.parquet")
    assert uqf.concatenate([batch for shard in shards for batch in shard.batches()]) == whole
    np.testing.assert_allclose(
        uqf.UQF(**HASHED).fit(shards).wfa_.operators,
        uqf.UQF(**HASHED).fit(whole).wfa_.operators,
        rtol=1e-10,
        atol=1e-12,
    )


def test_only_a_few_batches_are_held(folder, monkeypatch):
    alive, most = set(), []
    honest = ParquetShard.batches

    def watched(shard):
        for batch in honest(shard):
            mark = object()
            alive.add(id(mark))
            weakref.finalize(batch.actions, alive.discard, id(mark))
            most.append(len(alive))
            yield batch
            del batch

    monkeypatch.setattr(ParquetShard, "batches", watched)
    uqf.UQF(**HASHED).fit(uqf.Shards(folder, batch_steps=60))
    assert len(most) >= 2 * 60
    assert max(most) <= 3


def test_files_that_do_not_fit_together_are_refused(data, tmp_path):
    data.to_parquet(tmp_path / "1.parquet")
    unlogged = changed(data, behavior_probs=None)
    unlogged.to_parquet(tmp_path / "0.parquet")
    with pytest.raises(uqf.FileFormatError):
        uqf.Shards(tmp_path)
    uqf.rollout(uqf.make("gridworld-near"), episodes=5).to_parquet(tmp_path / "0.parquet")
    with pytest.raises(uqf.FileFormatError):
        uqf.Shards(tmp_path)
