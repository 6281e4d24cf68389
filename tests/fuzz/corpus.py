"""Small valid inputs of every kind, made on the spot."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq

import uqf
from log_tables import STEPS
from pomdp_texts import BODY, HEAD, MAZE, TIGER
from random_policies import KINDS
from uqf.paper import Cell, Store

TABLES = {
    "steps": pa.table(STEPS),
    "episodes": pa.table(
        {"actions": [[0, 1], [1]], "observations": [["a", "b"], ["a"]], "rewards": [[0.5, 1.0], [2.0]]}
    ),
    "codes": pa.table(
        {"episode": [0, 0, 1], "action": [0, 1, 2], "observation": [1, 0, 1], "reward": [0, 1, 2]}
    ),
}

WORLDS = [
    TIGER,
    MAZE,
    HEAD + BODY,
    HEAD + "T: * uniform\nO: * identity\nR: 0 : 0 : 0 : 0 1\nR: 1 : 1 1 2 3 4\n",
    HEAD + "start include: 0\n" + BODY + "R: * : *\n1 2\n3 4\n",
]

SETTINGS = [
    '[columns]\nepisode = "run"\nobservation = ["temp", "state"]\nreward = "-cost"\nobserved = "before"\n',
    '[columns]\naction = "do"\naction_bins = 5\ntime = "when"\nallowed = "may"\nbehavior_prob = "p"\n',
]

RULES = ["temp,state,action\n>= 80,,a\n< 20,on,7\n,,0\n", "seen;action\nhot;1\n81.5;a\n;0\n"]

STRINGS = ["3 2\n3 0 1 0\n0\n1 1\n", "2 4\n4 0 1 2 3\n2 3 3\n"]


def fill(folder: Path) -> None:
    """Writes a valid file of every kind into a folder, and some that are none."""
    names = uqf.Codebook.named(("left", "right", "stay"), ("wall",))
    for kind, make in KINDS.items():
        settings = {"rank": 3, "discount": 0.9, "grid": [1, {"a": None}]}
        uqf.save(make(), folder / f"{kind}.safetensors", codebook=names, settings=settings)
    numbers = np.random.default_rng(0).normal(size=(60, 2))
    book = uqf.Codebook(max_codes=4).fit({"x": numbers[:, 0], "y": ["a", "b", None] * 20, "z": numbers[:, 1]})
    cells = uqf.TablePolicy(np.full((3 * book.n_codes + 1, 3), 1 / 3), book.n_codes)
    uqf.save(cells, folder / "cells.safetensors", codebook=book.with_actions(("left", "right", "stay")))
    measured = {
        "episode": [0, 0, 1, 1],
        "action": [0.1, 0.5, 0.9, 0.4],
        "observation": [0, 1, 1, 0],
        "reward": [0, 1, 2, 0],
    }
    cut = uqf.read_log(pa.table(measured), columns=uqf.LogColumns(action_bins=3))
    cut.to_parquet(folder / "cut.parquet")
    uqf.save(uqf.TablePolicy(np.full((7, 3), 1 / 3), 2), folder / "cut.safetensors", codebook=cut.codebook)
    tiger = uqf.rollout(uqf.make("tiger"), episodes=30, horizon=5)
    tiger.to_parquet(folder / "tiger.parquet")
    for name, table in TABLES.items():
        pq.write_table(table, folder / f"{name}.parquet")
        pa.feather.write_feather(table, folder / f"{name}.arrow", compression="uncompressed")
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, table.to_pylist())))
        if name != "episodes":
            pa.csv.write_csv(table, folder / f"{name}.csv")
    uqf.read_log(folder / "steps.csv").to_parquet(folder / "named.parquet")
    for index, (roles, table) in enumerate(zip(SETTINGS, RULES, strict=True)):
        (folder / f"{index}.toml").write_text(roles)
        (folder / f"{index}.rule").write_text(table)
    for index, text in enumerate(STRINGS):
        (folder / f"{index}.strings").write_text(text)
    for index, text in enumerate(WORLDS):
        (folder / f"{index}.pomdp").write_text(text)
    cells = [Cell("trial", "a", {"world": "w", "episodes": n}, 0) for n in range(3)]
    Store(folder, "trial").run(cells, lambda cell: {"return": 1.0, "frames": ["é\n"]})


def fill_strange(folder: Path) -> None:
    """Adds what the command line may be pointed to: names that are markup, pipes, devices, links, folders."""
    table = uqf.TablePolicy(np.full((7, 3), 1 / 3), 2)
    uqf.save(table, folder / "tiger.safetensors", settings={"discount": 0.9, "[/x]": "\x1b[2J"})
    (folder / "[").mkdir()
    for name in ("[/x].csv", "\x1b[2J.csv", "a b.csv"):
        (folder / name).write_bytes((folder / "steps.csv").read_bytes())
    (folder / "twice.csv").write_text("episode,action,observation,reward,reward\n0,0,0,1,1\n")
    (folder / "[red].pomdp").write_text(TIGER)
    (folder / "huge.pomdp").write_text(HEAD.replace("states: 2", "states: 16000") + BODY)
    os.mkfifo(folder / "pipe.csv")
    os.mkfifo(folder / "pipe.safetensors")
    os.symlink("/dev/zero", folder / "zero.safetensors")
    os.symlink("/dev/zero", folder / "zero.pomdp")
    os.symlink("nowhere", folder / "dangling.csv")
    (folder / "empty.csv").touch()
    (folder / "folder.csv").mkdir()
