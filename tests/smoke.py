"""What a freshly installed wheel must do: `make wheel-check` runs this without cargo, tests or sources at hand."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import uqf

assert shutil.which("cargo") is None, "cargo is on the PATH: this would not show what users without it see"
assert "site-packages" in uqf.__file__, f"not the installed package: {uqf.__file__}"

env = uqf.make("tiger")
data = uqf.rollout(env, episodes=500, seed=0)
learner = uqf.fit(data, discount=env.discount)
random, learned = (uqf.estimate_return(env, policy, episodes=500).mean for policy in (None, learner.policy_))
assert learned > random, (learned, random)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "tiger.safetensors"
    learner.save(path)
    policy = uqf.load(path)
    assert policy.action(policy.initial_state()) in range(3)
    table = Path(folder) / "log.csv"
    table.write_text("episode,action,observation,reward\n0,wait,quiet,1\n0,repair,loud,-5\n")
    assert uqf.read_log(table).n_steps == 2
    command = [str(Path(sys.executable).with_name("uqf")), "evaluate", str(path), "--env", "tiger"]
    assert subprocess.run(command, capture_output=True, check=True).stdout

print(f"uqf {uqf.__version__}: return {learned:.1f}, by chance {random:.1f}")
