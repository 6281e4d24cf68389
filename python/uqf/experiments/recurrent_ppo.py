"""RecurrentPPO of sb3-contrib, which learns by playing: a rival of policy iteration. ``pip install 'uqf[rivals]'``."""

from __future__ import annotations

import numpy as np
from gymnasium.spaces.utils import flatten
from numpy.typing import NDArray

from uqf.episodes.checks import FloatArray
from uqf.experiments.frames import Frames, Rival
from uqf.experiments.gymnasium_places import GymnasiumPlace
from uqf.experiments.rival_settings import ENTROPY
from uqf.types import Memory
from uqf.worlds.gymnasium.envs import Env, made


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
