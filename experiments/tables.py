"""Tables as data: worlds × methods × seeds. ``python -m experiments --help`` runs them."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.worlds import GYMNASIUM, POPGYM


@dataclass(frozen=True)
class Table:
    """What is compared where."""

    about: str
    methods: tuple[str, ...]
    worlds: tuple[str, ...] = ()
    """Empty: the `.pomdp` files of the folder that is given."""
    files: tuple[str, ...] = ()
    """Beside them, of the `.pomdp` files of the folder if one is given."""


FRONT_DOOR = ("chance", "memoryless Monte Carlo", "memoryless Q-learning", "ContextQ", "uqf.fit")
SINGLE = ("ContextQ", "SpectralQ", "SummaryQ", "TableQ", "BeliefQ", "ModelQ")
GRIDS = tuple(f"gridworld-{start}@{n}" for n in (100, 800) for start in ("near", "mid", "far"))
RIVALS = ("DiscreteCQL", "behaviour cloning")

#: The worlds of docs/playing.md, cheap ones first.
PLAYED = (
    "deep-sea-10@60",
    "deep-sea-20@200",
    "FrozenLake-v1",
    "FrozenLake8x8-v1",
    "CliffWalking-v1",
    "Taxi-v4",
    "tiger@2000",
    "spocman@5000",
    "Acrobot-v1",
    "gridworld-far@2000",
    "pocman@10000",
    "CartPole-positions",
    "MountainCar-v0",
)
PLAYED_FILES = tuple(f"{name}@2000x100" for name in ("heavenhell", "tiger-grid", "shopping_2", "hallway"))

TABLES = {
    "gymnasium": Table("uqf.fit beside tables, from random logs of Gymnasium", FRONT_DOOR, tuple(GYMNASIUM)),
    "popgym": Table("the same in POPGym", FRONT_DOOR, tuple(POPGYM)),
    "pomdp": Table("the same in .pomdp files, PBVI beside", (*FRONT_DOOR, "PBVI, given the model")),
    "cues": Table(
        "what reset shows must be remembered",
        (*FRONT_DOOR, "BeliefQ"),
        ("tmaze-1", "tmaze-5", "tmaze-10", "tmaze-5@5000", "cue"),
    ),
    "summaries": Table(
        "long but simple memory, and numbers as they are",
        ("SummaryQ", "uqf.fit"),
        (
            *(*("tmaze-1", "tmaze-5", "tmaze-10", "cue"), *POPGYM, "popgym-AutoencodeEasy-v0"),
            *("CartPole-positions", "CartPole-v1"),
            *("persistent-Acrobot-v1", "persistent-MountainCar-v0"),
            *(f"popgym-{board}Easy-v0" for board in ("Battleship", "MineSweeper", "Concentration")),
            # Where it must not be chosen.
            *("tiger", "gridworld-far@100", "gridworld-far@800", "spocman"),
            *("FrozenLake8x8-v1", "Taxi-v4"),
        ),
    ),
    "unseen": Table(
        "random worlds, cues, sensors that err, drift and rare rewards: on these nothing was decided",
        ("chance", *SINGLE, "uqf.fit"),
        tuple(f"unseen-{number}" for number in range(9201, 9211)),
    ),
    "own": Table(
        "our own worlds", ("uqf.fit", "BeliefQ", "memoryless"), (*GRIDS, "tiger@5000", "spocman@500")
    ),
    "spectral": Table(
        "the spectral learners",
        ("SpectralQ", "UQF, chosen from data", "UQF, words from the first step"),
        (*GRIDS, *(f"gridworld-{start}@6400" for start in ("near", "mid", "far")), "spocman@500"),
    ),
    "iteration": Table(
        "rounds of playing and learning in our own worlds",
        ("policy_iteration, 10 rounds", "policy_iteration, 10 rounds, memoryless"),
        ("gridworld-far@2000", "spocman@5000", "spocman-chasing@5000", "pocman@10000"),
    ),
    "rivals": Table("deep learners of others on the same logs", (*RIVALS, "uqf.fit"), (*GYMNASIUM, *POPGYM)),
    "playing": Table(
        "learning by playing, beside a fit of a random log of as many episodes",
        ("uqf.play", "uqf.fit", "policy_iteration", "RecurrentPPO"),
        PLAYED,
        PLAYED_FILES,
    ),
}
