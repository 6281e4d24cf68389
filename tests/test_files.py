"""Files appear whole or not at all."""

import multiprocessing
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqf
from uqf.files import whole_file
from uqf.storage.policies import with_codebook

#: Saves a policy of about a megabyte where files may have only 10 kB, as on a full disk.
LIMITED = """
import resource, signal, sys
import numpy as np
import uqf
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
uqf.save(uqf.TablePolicy(np.full((2 * 30_000 + 1, 2), 0.5), 30_000), sys.argv[1])
"""


def test_a_full_disk_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "policy.safetensors"
    uqf.save(uqf.TablePolicy(np.full((7, 2), 0.5), 3), path)
    content = path.read_bytes()
    run = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True)
    assert "OSError" in run.stderr
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == [path.name], "nothing half-written is left behind"


def _save_many(path, probability):
    probs = np.tile([probability, 1.0 - probability], (2 * 500 + 1, 1))
    for _ in range(30):
        uqf.save(uqf.TablePolicy(probs, 500), path)


def test_two_processes_saving_to_one_path_never_mix(tmp_path):
    path = tmp_path / "policy"
    _save_many(path, 0.5)
    spawn = multiprocessing.get_context("fork")
    writers = [spawn.Process(target=_save_many, args=(path, p)) for p in (0.25, 0.75)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert np.unique(uqf.load(path).probs[:, 0]).size == 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert uqf.load(path).probs[0, 0] in (0.25, 0.75)
    assert os.listdir(tmp_path) == ["policy"]


def _save_in_turns(path):
    for number in range(100):
        probs = np.tile([number % 2, 1 - number % 2], (5, 1)).astype(float)
        names = ("left", "right") if number % 2 else ("right", "left")
        uqf.save(uqf.TablePolicy(probs, 2), path, codebook=uqf.Codebook.named(names, ("wall",)))


def test_a_policy_and_its_names_are_of_one_writing(tmp_path):
    """They were read one after the other: in between another process may have written others."""
    path = tmp_path / "policy"
    _save_in_turns(path)
    writer = multiprocessing.get_context("fork").Process(target=_save_in_turns, args=(path,))
    writer.start()
    while writer.is_alive():
        policy, book = with_codebook(path)
        assert book.decode_action(policy.action(policy.initial_state())) == "left"
    writer.join()
    assert writer.exitcode == 0


#: Begins to save a file of this name, and is killed while it does.
KILLED = """
import os, signal, sys
from uqf.files import whole_file
from uqf.storage.policies import with_codebook
with whole_file(sys.argv[1]) as file:
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def save(path, probability=0.5):
    uqf.save(uqf.TablePolicy(np.tile([probability, 1 - probability], (7, 1)), 3), path)


@given(
    st.text(st.sampled_from("a.[]*?{}\\ \x1bé-"), min_size=1, max_size=9).filter(lambda name: name.strip("."))
)
@settings(max_examples=5)
def test_what_a_killed_process_left_is_removed_by_the_next_save(tmp_path_factory, name):
    folder = tmp_path_factory.mktemp("killed")
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", KILLED, folder / name])
        assert run.returncode == -signal.SIGKILL
    bystanders = [f".{name}.backup", f".{name}x.0123456789abcdef", f"{name}.0123456789abcdef"]
    for bystander in bystanders:
        (folder / bystander).touch()
    assert len(os.listdir(folder)) == 4, "one remains of each, and the second removed the first"
    save(folder / name)
    assert sorted(os.listdir(folder)) == sorted([name, *bystanders])


def test_a_file_that_another_process_is_writing_is_left_alone(tmp_path):
    path = tmp_path / "policy"
    with whole_file(path) as file:
        file.write(b"mine")
        save(path)
        assert len(os.listdir(tmp_path)) == 2
    assert path.read_bytes() == b"mine"
    assert os.listdir(tmp_path) == ["policy"]


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "policy"
    for link in (tmp_path / "link", tmp_path / "link to link"):
        link.symlink_to("real/policy" if link.name == "link" else "link")
        save(link, 0.25)
        assert link.is_symlink() and uqf.load(real).probs[0, 0] == 0.25
        save(real, 0.75)
        assert uqf.load(link).probs[0, 0] == 0.75
    assert os.listdir(real.parent) == ["policy"]


def test_the_mode_of_an_older_file_stays(tmp_path):
    path = tmp_path / "policy"
    save(path)
    path.chmod(0o600)
    save(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_devices_are_written_to_not_replaced():
    save("/dev/null")
    assert not os.path.isfile("/dev/null")


#: Reads what never ends, or never begins; whoever waits for it is killed by the test's time.
ENDLESS = """
import sys, uqf
for path in sys.argv[1:]:
    for read in (uqf.load, uqf.inspect_policy, uqf.load_pomdp, uqf.read_log, uqf.Shards):
        try:
            read(path)
        except uqf.FileFormatError as error:
            assert path in str(error), error
"""


def test_devices_pipes_and_folders_are_refused_by_every_door(tmp_path):
    paths = ["/dev/zero", tmp_path]
    for suffix in ("csv", "jsonl", "parquet", "arrow", "pomdp", "safetensors"):
        (tmp_path / f"zero.{suffix}").symlink_to("/dev/zero")
        os.mkfifo(tmp_path / f"pipe.{suffix}")
        paths += [tmp_path / f"zero.{suffix}", tmp_path / f"pipe.{suffix}"]
    run = subprocess.run(
        [sys.executable, "-c", ENDLESS, *map(str, paths)], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr[-2000:]


@pytest.mark.skipif(not os.path.isdir("/sys/kernel"), reason="needs a folder in which nobody may write")
def test_a_folder_that_cannot_be_written_to_is_an_error_about_the_file_that_was_named():
    with (
        pytest.raises(OSError, match=r"'/sys/kernel/policy\.safetensors'$"),
        whole_file("/sys/kernel/policy.safetensors"),
    ):
        pass
