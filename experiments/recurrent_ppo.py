"""RecurrentPPO of sb3-contrib, which learns by playing: a rival of policy iteration. ``pip install 'uqf[rivals]'``."""

from __future__ import annotations

import numpy as np
from gymnasium.spaces.utils import flatten
from numpy.typing import NDArray

from experiments.frames import Frames, Rival
from experiments.rival_settings import ENTROPY
from experiments.worlds import Trial
from uqf.episodes.checks import FloatArray
from uqf.types import Memory
from uqf.worlds.gymnasium.envs import Env, made
from uqf.worlds.gymnasium.world import GymnasiumWorld

#: Environments that play side by side.
COPIES = 8


def played(trial: Trial) -> Rival:
    """RecurrentPPO after as many episodes as the log of the trial has.

    Batches, discount and rates are those that its authors tuned for CartPole without velocities (RL Zoo), the rates
    falling with the share of the episodes that were played; the size of the network and the standardised observations
    are ours. How much being undecided is worth is that of the world in `rival_settings`, or nothing.
    """
    import torch
    from gymnasium.spaces import Discrete
    from gymnasium.wrappers import FlattenObservation, TimeLimit, TransformAction
    from sb3_contrib import RecurrentPPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    torch.set_num_threads(1)
    world, source, episodes = trial.env, trial.world.source, trial.world.episodes
    assert isinstance(world, GymnasiumWorld) and source is not None
    space, actions = world.observation_space, world.actions

    class Count(BaseCallback):  # type: ignore[misc]
        """Ends training after so many episodes."""

        ended = 0

        def _on_step(self) -> bool:
            self.ended += int(np.sum(self.locals["dones"]))
            return self.ended < episodes

        @property
        def left(self) -> float:
            return max(0.0, 1.0 - self.ended / episodes)

    def one() -> Env:
        env = FlattenObservation(TimeLimit(made(source), world.horizon))
        return TransformAction(env, lambda code: actions[int(code)], Discrete(len(actions)))

    count, copies = Count(), VecNormalize(DummyVecEnv([one] * COPIES), norm_reward=False)
    learner = RecurrentPPO(
        "MlpLstmPolicy",
        copies,
        n_steps=32,
        batch_size=256,
        n_epochs=20,
        gamma=0.98,
        gae_lambda=0.8,
        ent_coef=ENTROPY.get(trial.world.name.partition("@")[0], 0.0),
        learning_rate=lambda _: 1e-3 * count.left,
        clip_range=lambda _: 0.2 * count.left,
        policy_kwargs={
            "ortho_init": False,
            "activation_fn": torch.nn.ReLU,
            "lstm_hidden_size": 64,
            "net_arch": {"pi": [64], "vf": [64]},
        },
        seed=trial.seed,
        device="cpu",
    )
    learner.learn(episodes * world.horizon + COPIES, callback=count)
    width = len(flatten(space, space.sample()))
    memory: list[Memory] = [None]

    def choose(rows: FloatArray, starts: NDArray[np.bool_]) -> NDArray[np.int64]:
        seen = copies.normalize_obs(rows[:, :width].astype(np.float32))
        chosen, memory[0] = learner.predict(
            seen, None if starts.all() else memory[0], episode_start=starts, deterministic=True
        )
        return np.asarray(chosen, np.int64)

    return Rival(Frames(space, len(actions), 1, np.zeros(width), np.ones(width)), choose)
