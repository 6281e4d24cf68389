"""Deep learners of others on the same logs: DiscreteCQL and behaviour cloning of d3rlpy, on stacked frames.

They see observations as they come: numbers standardised by the log, categories one-hot, the last frames side by side,
each with the action before it. ``pip install 'uqf[rivals]'``.

``python -m uqf.experiments.rivals CartPole-v1 7000 frames=1,alpha=0.1 frames=4`` tries settings on the log of a seed.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from gymnasium.spaces.utils import flatten
from numpy.typing import NDArray

from uqf.data.checks import FloatArray
from uqf.experiments.contest import SCORING_SEEDS
from uqf.experiments.gymnasium_places import GymnasiumPlace, gymnasium_places
from uqf.experiments.rival_settings import ENTROPY, Setting
from uqf.types import Memory, Raw, Record
from uqf.worlds.copies import Played
from uqf.worlds.gymnasium_envs import Env, begun, made, stepped
from uqf.worlds.spaces import Space

if TYPE_CHECKING:
    import d3rlpy

#: Episodes that are played side by side.
COPIES = 32

#: Units in each of the two layers of the networks of d3rlpy.
HIDDEN = 128

#: Gradient steps of behaviour cloning.
CLONING_STEPS = 1000

Chooser = Callable[[FloatArray, NDArray[np.bool_]], NDArray[np.int64]]


@dataclass(frozen=True)
class Frames:
    """The newest observation and others of its episode, each with the action before it, as one row of numbers.

    The others are those before it, the newest first; with `from_start` the first of the episode, in order of time.
    Where what is seen is the state, `acted` may be false: the actions before are left out.
    """

    space: Space
    n_actions: int
    count: int
    mean: FloatArray
    spread: FloatArray
    from_start: bool = False
    acted: bool = True

    @classmethod
    def of(cls, space: Space, n_actions: int, seen: Sequence[Raw], setting: Setting) -> Frames:
        """Standardises the numbers of a log; what is only 0 or 1 stays as it is."""
        rows = _flat(space, seen)
        plain = np.isin(rows, (0.0, 1.0)).all(axis=0)
        spread = np.where(plain | (rows.std(axis=0) < 1e-9), 1.0, rows.std(axis=0))
        mean = np.where(plain, 0.0, rows.mean(axis=0))
        return cls(space, n_actions, setting.frames, mean, spread, setting.from_start, setting.acted)

    @property
    def width(self) -> int:
        """Numbers of one frame."""
        return len(self.mean) + self.n_actions * self.acted

    def frames(self, seen: Sequence[Raw], actions: NDArray[np.int64]) -> FloatArray:
        """(n, width): observations and the actions before them; -1 is none."""
        taken = np.eye(self.n_actions + 1)[actions][:, : self.n_actions * self.acted]
        return np.hstack([(_flat(self.space, seen) - self.mean) / self.spread, taken])

    def episode(self, seen: Sequence[Raw], actions: Sequence[int]) -> FloatArray:
        """The row before every action of an episode, whose observations begin with what `reset` shows."""
        one = self.frames(seen[: len(actions)], np.array([-1, *actions[:-1]]))
        rows = np.zeros((len(one), self.count, self.width))
        rows[:, 0] = one
        for place in range(1, min(self.count, len(one))):
            rows[place:, place] = one[place - 1] if self.from_start else one[: len(one) - place]
        return rows.reshape(len(one), -1)

    def pushed(
        self, rows: FloatArray, seen: Sequence[Raw], actions: NDArray[np.int64], step: int
    ) -> FloatArray:
        """Rows after this many steps, from the rows before the last of them."""
        newest, width = self.frames(seen, actions), self.width
        if not self.from_start:
            return np.hstack([newest, rows[:, :-width]])
        kept = rows.copy()
        if 0 < step < self.count:
            kept[:, step * width : (step + 1) * width] = rows[:, :width]
        kept[:, :width] = newest
        return kept


def _flat(space: Space, seen: Sequence[Raw]) -> FloatArray:
    return np.array([flatten(space, one) for one in seen], np.float64).reshape(len(seen), -1)


@dataclass(frozen=True)
class Rival:
    """Somebody who acts on rows of frames."""

    frames: Frames
    choose: Chooser

    def score_in(self, place: GymnasiumPlace, seed: int) -> float:
        """Mean return in the episodes that `place.score` plays."""
        returns: list[float] = []
        envs = [made(place.source) for _ in range(min(COPIES, place.played))]
        actions = place.world(seed).actions
        for first in range(0, place.played, len(envs)):
            returns += self._together(
                envs[: place.played - first], first, SCORING_SEEDS + seed, place.steps, actions
            )
        return float(np.mean(returns))

    def _together(
        self, envs: Sequence[Env], first: int, seed: int, steps: int, actions: list[Raw]
    ) -> list[float]:
        """Returns of numbered episodes, one in each environment."""
        seen = [begun(env, seed, first + place) for place, env in enumerate(envs)]
        rows = np.zeros((len(envs), self.frames.count * self.frames.width))
        rows = self.frames.pushed(rows, seen, np.full(len(envs), -1), 0)
        returns, over = np.zeros(len(envs)), np.zeros(len(envs), np.bool_)
        for step in range(steps):
            chosen = self.choose(rows, np.full(len(envs), step == 0))
            for place in np.flatnonzero(~over).tolist():
                seen[place], reward, ended, cut = stepped(envs[place], actions[chosen[place]])
                returns[place] += reward
                over[place] = ended or cut
            if over.all():
                break
            rows = self.frames.pushed(rows, seen, chosen, step + 1)
        return returns.tolist()


@dataclass(frozen=True)
class RawLog:
    """The episodes of `place.log` with observations as they came."""

    place: GymnasiumPlace
    seed: int
    played: list[Played]

    @classmethod
    def of(cls, place: GymnasiumPlace, seed: int) -> RawLog:
        """Plays them again."""
        played = place.world(seed).episodes(None, range(place.episodes), seed=seed)
        return cls(place, seed, sorted(played, key=lambda one: one.number))

    def frames(self, setting: Setting) -> Frames:
        """Standardised by this log."""
        world = self.place.world(self.seed)
        seen = [one for episode in self.played for one in (episode.first, *episode.observations)]
        return Frames.of(world.observation_space, world.n_actions, seen, setting)

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


def offline(log: RawLog, setting: Setting, *, cloning: bool = False) -> Rival:
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


def recurrent_ppo(place: GymnasiumPlace, seed: int, steps: int, entropy: float | None = None) -> Rival:
    """RecurrentPPO of sb3-contrib after so many steps in the world.

    Batches, discount and rates are those that its authors tuned for CartPole without velocities (RL Zoo); the size of
    the network and the standardised observations are ours. `entropy`, how much being undecided is worth, is
    that of the world in `rival_settings`, or nothing.
    """
    import torch
    from gymnasium.spaces import Discrete
    from gymnasium.wrappers import FlattenObservation, TimeLimit, TransformAction
    from sb3_contrib import RecurrentPPO
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    torch.set_num_threads(1)
    world = place.world(seed)
    space, actions = world.observation_space, world.actions

    def one() -> Env:
        env = FlattenObservation(TimeLimit(made(place.source), place.steps))
        return TransformAction(env, lambda code: actions[int(code)], Discrete(len(actions)))

    copies = VecNormalize(DummyVecEnv([one] * 8), norm_reward=False)
    learner = RecurrentPPO(
        "MlpLstmPolicy",
        copies,
        n_steps=32,
        batch_size=256,
        n_epochs=20,
        gamma=0.98,
        gae_lambda=0.8,
        ent_coef=ENTROPY.get(place.name, 0.0) if entropy is None else entropy,
        learning_rate=lambda left: 1e-3 * left,
        clip_range=lambda left: 0.2 * left,
        policy_kwargs={
            "ortho_init": False,
            "activation_fn": torch.nn.ReLU,
            "lstm_hidden_size": 64,
            "net_arch": {"pi": [64], "vf": [64]},
        },
        seed=seed,
        device="cpu",
    )
    learner.learn(steps)
    width = len(flatten(space, space.sample()))
    memory: list[Memory] = [None]

    def choose(rows: FloatArray, starts: NDArray[np.bool_]) -> NDArray[np.int64]:
        seen = copies.normalize_obs(rows[:, :width].astype(np.float32))
        chosen, memory[0] = learner.predict(
            seen, None if starts.all() else memory[0], episode_start=starts, deterministic=True
        )
        return np.asarray(chosen, np.int64)

    return Rival(Frames(space, len(actions), 1, np.zeros(width), np.ones(width)), choose)


def _tried(name: str, seed: str, *settings: str) -> None:
    """Prints what DiscreteCQL earns with each of some settings."""
    (place,) = [place for place in gymnasium_places() if place.name == name]
    log = RawLog.of(place, int(seed))
    for text in settings:
        begin = time.process_time()
        pairs = (pair.split("=") for pair in text.split(","))
        found = offline(log, Setting(**{name: json.loads(value) for name, value in pairs}))
        seconds = time.process_time() - begin
        print(
            f"{name}\t{seed}\t{text}\t{found.score_in(place, log.seed):.4g}\t{seconds:.1f} CPU s", flush=True
        )


if __name__ == "__main__":
    _tried(*sys.argv[1:])
