"""Settings of the rivals: one for each world, chosen on other seeds than those that are reported."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """Of d3rlpy's learners."""

    frames: int = 1
    """Observations that are seen side by side."""
    alpha: float = 1.0
    """How conservative DiscreteCQL is."""
    rate: float = 1e-3
    steps: int = 3000
    """Gradient steps of DiscreteCQL."""
    target: int = 100
    """Gradient steps between two updates of the target network."""
    discount: float = 0.99
    scale: float = 1.0
    """Rewards are multiplied by it."""
    shift: float = 0.0
    """It is added to every reward before; where only the end of an episode is worth more, only the end counts."""
    batch: int = 64
    """Transitions of a gradient step."""
    from_start: bool = False
    """The other frames are the first of the episode, each in its own place, and not the last."""
    acted: bool = True
    """Every frame has the action before it."""


#: By world.
SETTINGS = {
    "FrozenLake-v1": Setting(alpha=0.001, rate=3e-4, steps=7500, batch=256, acted=False),
    "FrozenLake8x8-v1": Setting(alpha=0.001, rate=3e-4, steps=15000, batch=256, acted=False),
    "CliffWalking-v1": Setting(
        alpha=0.02, rate=5e-4, steps=5000, discount=0.95, scale=0.5, batch=512, acted=False
    ),
    "Taxi-v4": Setting(alpha=0.005, steps=10000, discount=0.9, scale=0.1, batch=256, acted=False),
    "Blackjack-v1": Setting(alpha=0.1),
    "CartPole-positions": Setting(4, steps=9000),
    "CartPole-v1": Setting(
        alpha=0.001, rate=1e-4, steps=4000, discount=0.98, scale=0.1, batch=512, acted=False
    ),
    "MountainCar-v0": Setting(alpha=0.1),
    "Acrobot-v1": Setting(
        alpha=0.001, rate=1e-4, steps=7500, discount=0.98, shift=1.0, batch=512, acted=False
    ),
    "popgym-RepeatFirstEasy-v0": Setting(52, alpha=0.1, discount=0.0, scale=50.0, from_start=True),
    "popgym-RepeatPreviousEasy-v0": Setting(5, alpha=0.1, discount=0.0, scale=50.0),
    "popgym-CountRecallEasy-v0": Setting(52, alpha=0.1, discount=0.0, scale=50.0),
    "popgym-HigherLowerEasy-v0": Setting(alpha=0.1, steps=2000, discount=0.0, scale=26.0),
    "popgym-MultiarmedBanditEasy-v0": Setting(16, alpha=0.1, discount=0.9, scale=100.0, batch=256),
}

#: Of RecurrentPPO by world; elsewhere it is 0, as RL Zoo has it for CartPole without velocities.
ENTROPY = {"FrozenLake-v1": 0.05}
