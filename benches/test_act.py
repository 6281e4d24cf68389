"""Acting: whole episodes in the core, and one step at a time from Python."""

import numpy as np
import pytest
from experience import RANK, learner, spocman
from race import Reference, race

import uqf
from uqf.baselines import POMCP

EPISODES = 1_000


@pytest.fixture(scope="module")
def policy():
    return learner().fit(spocman(30_000)).policy_


def test_automaton_rollouts(benchmark, policy):
    """Beside the uniform policy in the same world, for as many steps: 0.5 means that the policy takes as long as the
    simulator.
    """
    world = uqf.make("spocman")
    run = {"episodes": EPISODES, "seed": 3, "threads": 1}
    mine, uniform = (uqf.estimate_return(world, played, **run).lengths.sum() for played in (policy, None))
    reference = Reference(
        "the simulator alone",
        lambda: uqf.estimate_return(world, None, **run),
        "limit",
        scale=mine / uniform,
        target=0.5,
    )
    race(
        benchmark,
        lambda: uqf.estimate_return(world, policy, **run),
        [reference],
        stage="rollouts", case=f"automaton of rank {RANK}", amount=int(mine), unit="steps",
    )  # fmt: skip


CALLS = 2_000


class NumpyPolicy:
    """The same automaton stepped by NumPy: one product, one rescaling, one product for the values."""

    def __init__(self, policy):
        parts = policy.parts()
        self.operators = dict(zip(parts["symbols"].tolist(), parts["operators"], strict=True))
        self.start, self.weights, self.n_observations = (
            parts["start"],
            parts["weights"],
            policy.n_observations,
        )

    def initial_state(self):
        return self.start

    def update(self, state, action, observation):
        state = state @ self.operators[action * self.n_observations + observation]
        return state / np.abs(state).max()

    def action(self, state):
        return int(np.argmax(self.weights @ state))


def acting(policy, steps):
    """What an agent does at every step: remember, then choose."""

    def act():
        state = policy.initial_state()
        for action, observation in steps:
            state = policy.update(state, action, observation)
            policy.action(state)

    return act


def logged_steps():
    data = spocman(30_000)
    return list(zip(data.actions[:CALLS].tolist(), data.observations[:CALLS].tolist(), strict=True))


def test_acting(benchmark, policy):
    steps = logged_steps()
    rival = Reference("NumPy", acting(NumpyPolicy(policy), steps))
    race(
        benchmark,
        acting(policy, steps),
        [rival],
        stage="acting", case=f"automaton of rank {RANK}, from Python", amount=CALLS, unit="steps", rounds=20,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["beliefs", "contexts"])
def test_acting_on_another_memory(benchmark, policy, name):
    data = spocman(10_000)
    other = (uqf.BeliefQ(threads=1) if name == "beliefs" else uqf.ContextQ()).fit(data).policy_
    steps = logged_steps()
    race(
        benchmark,
        acting(other, steps),
        [Reference(f"automaton of rank {RANK}", acting(policy, steps), "self")],
        stage="acting", case=f"{name}, from Python", amount=CALLS, unit="steps", rounds=20,
    )  # fmt: skip


def test_search(benchmark):
    """A decision of POMCP beside as many steps of the simulator alone."""
    world = uqf.make("pocman")
    planner = POMCP(world, simulations=1024)
    steps = planner.simulated_steps(planner.initial_state())
    played = uqf.rollout(world, episodes=1_000, seed=1).n_steps
    reference = Reference(
        "the simulator alone",
        lambda: uqf.rollout(world, episodes=1_000, seed=1, threads=1),
        "limit",
        scale=steps / played,
    )
    race(
        benchmark,
        planner.initial_state,
        [reference],
        stage="acting", case="POMCP, 1,024 simulations", amount=steps, unit="steps",
    )  # fmt: skip
