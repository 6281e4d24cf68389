"""Gymnasium, both ways: its environments and Minari's data sets as worlds and episodes, our worlds as its environments.

Importing this folder registers our worlds: ``gymnasium.make("uqf.worlds.gymnasium:uqf/Tiger-v0")`` imports it first.
"""

import gymnasium

if int(gymnasium.__version__.partition(".")[0]) < 1:
    raise ImportError(f"gymnasium {gymnasium.__version__} is too old: pip install --upgrade 'uqf[gym]'")

#: The name that Gymnasium knows, after "uqf/", and the name of `uqf.make`.
IDS = {
    "Tiger-v0": "tiger",
    "GridWorld-near-v0": "gridworld-near",
    "GridWorld-mid-v0": "gridworld-mid",
    "GridWorld-far-v0": "gridworld-far",
    "GridWorld-hamilton-v0": "gridworld-hamilton",
    "PocMan-v0": "pocman",
    "SPocMan-v0": "spocman",
}

for _identifier, _name in IDS.items():
    gymnasium.register(
        id=f"uqf/{_identifier}",
        entry_point="uqf.worlds.gymnasium.wrapped:named_env",
        kwargs={"name": _name},
    )
