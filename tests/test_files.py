"""Files appear whole or not at all."""

import multiprocessing
import os
import subprocess
import sys

import numpy as np

import uqf

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
