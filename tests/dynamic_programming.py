"""Exact finite-horizon values of small worlds, for comparison with simulation."""

import numpy as np

import uqf


def _backups(pomdp: uqf.TabularPOMDP) -> tuple[np.ndarray, np.ndarray]:
    """Expected reward (A, S) and the transitions (A, S, S) that go on; entering a terminal state stops."""
    expected = np.einsum(
        "ast,ato,asto->as", pomdp.transitions, pomdp.observations, pomdp.rewards_by_outcome(), optimize=True
    )
    return expected, pomdp.transitions * ~pomdp.terminal


def random_value(pomdp: uqf.TabularPOMDP, horizon: int, discount: float) -> float:
    """Expected discounted return of the uniform policy."""
    expected, going_on = _backups(pomdp)
    value = np.zeros(pomdp.n_states)
    for _ in range(horizon):
        value = (expected + discount * going_on @ value).mean(0)
    return float(pomdp.start @ value)


def observable_optimum(pomdp: uqf.TabularPOMDP, horizon: int, discount: float) -> float:
    """Best expected discounted return of a policy that sees the state."""
    expected, going_on = _backups(pomdp)
    value = np.zeros(pomdp.n_states)
    for _ in range(horizon):
        value = (expected + discount * going_on @ value).max(0)
    return float(pomdp.start @ value)
