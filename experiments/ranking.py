"""``python -m experiments.ranking``: how much is lost by choosing a policy from a log, where the truth is known.

Learners are fitted to half of a log. Their policies, and half-way versions of them that leave every other step to the
logged behaviour, are ordered on the other half. regret@k is what the best of all earns more than the best of the
first k, as a share of the way from what they earn on average, which is what choosing by chance loses.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import uqf
from experiments.__main__ import seeds_of
from uqf.paper.contest import mean_and_error

#: World, steps and episodes of a log.
WORLDS = {
    "tiger": (4, 2000),
    "gridworld-near": (25, 1000),
    "gridworld-mid": (25, 1000),
    "gridworld-hamilton": (25, 1000),
}

FIRST = 3


def learners(discount: float) -> dict[str, uqf.learn.learner.Learner]:
    """Good ones and weaker ones."""
    return {
        "BeliefQ": uqf.BeliefQ(discount),
        "ContextQ": uqf.ContextQ(discount),
        "SpectralQ": uqf.SpectralQ(discount),
        "TableQ": uqf.TableQ(discount),
        "UQF": uqf.UQF(discount=discount, target="return"),
    }


def regrets(order: Sequence[str], truth: dict[str, float]) -> tuple[float, float]:
    """regret@1 and regret@k of names in the order of what they seem to earn; 0 if all earn the same."""
    earned, best = [truth[name] for name in order], max(truth.values())
    by_chance = best - float(np.mean(list(truth.values())))
    if by_chance <= 0.0:
        return 0.0, 0.0
    return (best - earned[0]) / by_chance, (best - max(earned[:FIRST])) / by_chance


def trial(name: str, seed: int) -> dict[str, tuple[float, float]]:
    """Regrets of one log, by who chose."""
    (horizon, episodes), env = WORLDS[name], uqf.make(name)
    log = uqf.rollout(env, episodes=episodes, horizon=horizon, seed=seed)
    learned, held_out = log[: episodes // 2], log[episodes // 2 :]
    policies, gains = {}, {}
    for label, learner in learners(env.discount).items():
        try:
            policy = learner.fit(learned).policy_
        except uqf.UQFError:
            continue  # the data refuse this learner
        for share in (0.5, 1.0):
            policies[f"{label} {share:.0%}"] = uqf.mix(policy, learned, share) if share < 1.0 else policy
            gains[f"{label} {share:.0%}"] = share * learner.score(held_out)
    truth = {
        label: uqf.estimate_return(env, policy, episodes=5000, horizon=horizon, seed=10**6 + seed).mean
        for label, policy in policies.items()
    }
    ranking = uqf.ope.rank(policies, held_out, discount=env.discount, replicates=200)
    estimated = sorted(ranking.estimates, key=lambda label: -ranking.estimates[label].mean)
    return {
        "uqf.ope.rank": regrets(list(ranking.estimates), truth),
        "the largest estimate": regrets(estimated, truth),
        "the largest held-out gain": regrets(sorted(gains, key=lambda label: -gains[label]), truth),
    }


def main(given: Sequence[str] | None = None) -> None:
    """Prints a row for every world and way to choose."""
    parser = argparse.ArgumentParser(prog="python -m experiments.ranking", description=__doc__)
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=WORLDS)
    parser.add_argument("--seeds", type=seeds_of, default=range(3), help="how many, or first-last; default 3")
    options = parser.parse_args(given)
    for name in options.worlds:
        found = [trial(name, seed) for seed in options.seeds]
        for who in found[0]:
            shown = [
                "{:.2f} ± {:.2f}, worst {:.2f}".format(*mean_and_error(values), values.max())
                for values in np.array([one[who] for one in found]).T
            ]
            print(f"{name:20} {who:26} regret@1 {shown[0]:26} regret@{FIRST} {shown[1]}", flush=True)


if __name__ == "__main__":
    main()
