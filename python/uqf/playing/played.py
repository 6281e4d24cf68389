"""What learning by playing gives back."""
from __future__ import annotations
from dataclasses import dataclass, field
from uqf.episodes.trajectories import Trajectories
from uqf.iteration import Round
from uqf.policies.policy import CompiledPolicy
from uqf.worlds.world import World

@dataclass(frozen=True)
class Played:
    policy: CompiledPolicy
    rounds: list[Round]
    data: Trajectories = field(repr=False)
    why: str
    env: World = field(repr=False)
