"""One step of policy iteration with values that are linear in a memory, from the policy's own episodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqf.episodes.checks import FloatArray
from uqf.episodes.sums import advantages, cut_before, returns_to_go
from uqf.episodes.trajectories import Trajectories
from uqf.learn.memory.features import Rows


@dataclass(frozen=True)
class StepSettings:
    """Penalties are pseudo-counts of steps; `trace` is λ of the advantages."""

    value_ridge: float = 1.0
    ridge: float = 5.0
    trace: float = 0.9
    max_discount: float = 0.99


SETTINGS = StepSettings()


def advantage_step(
    rows: Rows, data: Trajectories, discount: float, settings: StepSettings = SETTINGS
) -> FloatArray:
    """Advantages of all actions, (width, n_actions), linear in `rows` (cuts, width), in units of the returns' spread.

    `data` were played by the policy that is improved, so no probabilities are divided by. The value is a ridge
    regression of the returns, the advantages one of generalised advantage estimates, action by action. `rows` begin
    with the constant, whose value alone is not penalised.
    """
    discount = min(discount, settings.max_discount)
    every = np.asarray(rows, np.float64)
    before, width = every[cut_before(data)], every.shape[1]
    returns = returns_to_go(data, discount)
    penalty = np.full(width, settings.value_ridge)
    penalty[0] = 1e-6
    value = np.linalg.solve(before.T @ before + np.diag(penalty), before.T @ returns)
    estimates = advantages(data, every @ value, discount, settings.trace)
    step = np.zeros((width, data.n_actions))
    for action in range(data.n_actions):
        taken = data.actions == action
        own = before[taken]
        gram = own.T @ own + settings.ridge * np.eye(width)
        step[:, action] = np.linalg.solve(gram, own.T @ estimates[taken])
    spread = float(returns.std())
    return step / (spread if spread > 1e-12 * float(np.abs(returns).max()) else 1.0)
