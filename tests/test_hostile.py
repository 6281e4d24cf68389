"""Files made to exhaust: each is refused before it costs memory or time."""

import subprocess
import sys


def test_text_that_nests_or_repeats_without_end_is_refused(tmp_path):
    hostile = {
        "deep.jsonl": b"[" * 1_000_000,
        "deeper.jsonl": b'{"a":' * 1_000_000,
        "quote.csv": b'episode,action,observation,reward\n0,0,0,"' + b"x" * 1_000_000,
        "wide.csv": b",".join(b"c%d" % column for column in range(10_000)) + b"\n",
        "zeros.csv": bytes(1_000_000),
        "zeros.jsonl": bytes(1_000_000),
    }
    for name, content in hostile.items():
        (tmp_path / name).write_bytes(content)
    # In a process of its own: a stack that overflows cannot be caught.
    code = """
import sys, uqf
for path in sys.argv[1:]:
    try:
        uqf.read_log(path)
    except uqf.FileFormatError:
        print("refused", flush=True)
"""
    paths = [tmp_path / name for name in hostile]
    run = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, timeout=200)
    assert run.stdout.split() == ["refused"] * len(hostile), f"status {run.returncode}: {run.stderr[-500:]}"
