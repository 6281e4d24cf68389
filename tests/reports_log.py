"""A small log of a machine that wears out unseen, with names, some of them hostile."""

import numpy as np

import uqf

#: A name that would be markup if it were not escaped, and one that would end a script.
ACTIONS = ("run", "lubricate & <b>oil</b>", "replace")
OBSERVATIONS = ("vibration low", 'vibration "high", </script><i>hot</i>')


def machine(episodes, seed, propensities=True):
    """A machine that wears out unseen: vibration tells it only roughly, replacing costs, failing costs more."""
    rng = np.random.default_rng(seed)
    parts = []
    ended = []
    for _ in range(episodes):
        wear, high, steps, failed = 0, False, [], False
        for _ in range(int(rng.integers(8, 16))):
            probs = np.array([0.5, 0.3, 0.2] if high else [0.7, 0.2, 0.1])
            action = int(rng.choice(3, p=probs))
            reward = (1.0, -0.5, -3.0)[action]
            wear = 0 if action == 2 else wear + int(rng.random() < (0.35 if action == 0 else 0.1))
            failed = wear >= 4 and bool(rng.random() < 0.5)
            high = bool(rng.random() < (0.1, 0.3, 0.6, 0.8, 0.9)[min(wear, 4)])
            steps.append((action, int(high), reward - 10.0 * failed, probs[action]))
            if failed:
                break
        ended.append(failed)
        parts.append(tuple(zip(*steps, strict=True))[: 4 if propensities else 3])
    data = uqf.Trajectories.from_episodes(parts, n_actions=3, n_observations=3, terminated=ended)
    names = uqf.Codebook.named(ACTIONS, OBSERVATIONS)
    return uqf.Trajectories(**data.__getstate__() | {"codebook": names})
