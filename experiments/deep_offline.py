"""Deep learners of others on the same logs: DiscreteCQL and behaviour cloning of d3rlpy, on stacked frames.

They see observations as they come: numbers standardised by the log, categories one-hot, the last frames side by side,
each with the action before it. ``pip install 'uqf[rivals]'``.

``python -m experiments.deep_offline CartPole-v1 7000 frames=1,alpha=0.1 frames=4`` tries settings on the log of a seed.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from experiments.frames import Frames, Rival
from experiments.rival_settings import Setting
from experiments.worlds import Trial, world
from uqf.types import Record
from uqf.worlds.gymnasium.copies import Played
from uqf.worlds.gymnasium.world import GymnasiumWorld

if TYPE_CHECKING:
    import d3rlpy

#: Units in each of the two layers of the networks of d3rlpy.
HIDDEN = 128

#: Gradient steps of behaviour cloning.
CLONING_STEPS = 1000


@dataclass(frozen=True)
class RawLog:
    """The episodes of `Trial.data` with observations as they came."""

    env: GymnasiumWorld
    seed: int
    played: list[Played]

    @classmethod
    def of(cls, trial: Trial) -> RawLog:
        assert isinstance(trial.env, GymnasiumWorld)
        played = trial.env.episodes(trial.behavior, range(trial.world.episodes), seed=trial.seed, keep=True)
        return cls(trial.env, trial.seed, sorted(played, key=lambda one: one.number))

    def frames(self, setting: Setting) -> Frames:
        seen = [one for episode in self.played for one in (episode.first, *episode.observations)]
        return Frames.of(self.env.observation_space, self.env.n_actions, seen, setting)

    def dataset(self, frames: Frames, setting: Setting) -> d3rlpy.dataset.MDPDataset:
        """As d3rlpy takes it, with rewards shifted and scaled."""
        rewards = np.concatenate([one.rewards for one in self.played])
        ends = np.cumsum([len(one.actions) for one in self.played]) - 1
        terminals, timeouts = np.zeros((2, len(rewards)), np.float32)
        terminals[ends] = [one.terminated for one in self.played]
        timeouts[ends] = [not one.terminated for one in self.played]
        rows = [frames.episode([one.first, *one.observations], one.actions) for one in self.played]
        return _drawn_at_once(
            np.concatenate(rows).astype(np.float32),
            np.concatenate([one.actions for one in self.played]),
            (setting.scale * (rewards + setting.shift)).astype(np.float32),
            terminals,
            timeouts,
            action_size=frames.n_actions,
        )


def _drawn_at_once(
    rows: NDArray[np.float32],
    actions: NDArray[np.int64],
    rewards: NDArray[np.float32],
    terminals: NDArray[np.float32],
    timeouts: NDArray[np.float32],
    action_size: int,
) -> d3rlpy.dataset.MDPDataset:
    """A dataset whose batches are those of d3rlpy, from the same random numbers, without a loop over transitions."""
    import d3rlpy

    # Where an episode was cut, what came after the last action is unknown.
    places = np.flatnonzero(timeouts == 0)
    one, chosen = np.ones((len(rows), 1), np.float32), actions[:, None].astype(np.float32)

    def batch(size: int) -> d3rlpy.dataset.TransitionMiniBatch:
        now = places[np.random.randint(len(places), size=size)]  # noqa: NPY002  (as d3rlpy draws)
        ended = terminals[now, None]
        then = np.minimum(now + 1, len(rows) - 1)
        return d3rlpy.dataset.TransitionMiniBatch(
            observations=rows[now],
            actions=chosen[now],
            rewards=rewards[now, None],
            next_observations=rows[then] * (1 - ended),
            next_actions=chosen[then] * (1 - ended),
            terminals=ended,
            intervals=one[now],
            transitions=(),
        )

    data = d3rlpy.dataset.MDPDataset(rows, actions, rewards, terminals, timeouts, action_size=action_size)
    data.sample_transition_batch = batch
    return data


def learned(log: RawLog, setting: Setting, *, cloning: bool = False) -> Rival:
    """What d3rlpy learns from a log: DiscreteCQL, or behaviour cloning."""
    import d3rlpy
    import structlog
    import torch

    torch.set_num_threads(1)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    d3rlpy.seed(log.seed)
    common: Record = {
        "batch_size": setting.batch,
        "learning_rate": setting.rate,
        "encoder_factory": d3rlpy.models.VectorEncoderFactory([HIDDEN] * 2),
    }
    if cloning:
        config, steps = d3rlpy.algos.DiscreteBCConfig(**common), CLONING_STEPS
    else:
        config, steps = (
            d3rlpy.algos.DiscreteCQLConfig(
                gamma=setting.discount, alpha=setting.alpha, target_update_interval=setting.target, **common
            ),
            setting.steps,
        )
    frames, learner = log.frames(setting), config.create(device=False)
    learner.fit(
        log.dataset(frames, setting),
        n_steps=steps,
        n_steps_per_epoch=steps,
        show_progress=False,
        logger_adapter=d3rlpy.logging.NoopAdapterFactory(),
    )
    return Rival(frames, lambda rows, starts: learner.predict(rows.astype(np.float32)))


def _tried(name: str, seed: str, *settings: str) -> None:
    """Prints what DiscreteCQL earns with each of some settings."""
    trial = Trial(world(name), int(seed))
    log = RawLog.of(trial)
    for text in settings:
        begin = time.process_time()
        pairs = (pair.split("=") for pair in text.split(","))
        rival = learned(log, Setting(**{key: json.loads(value) for key, value in pairs}))
        seconds = time.process_time() - begin
        print(f"{name}\t{seed}\t{text}\t{rival.score_in(trial):.4g}\t{seconds:.1f} CPU s", flush=True)


if __name__ == "__main__":
    _tried(*sys.argv[1:])
