"""What docs/iteration.md proves: the bound on what a choice can lose, when steps converge, why Algorithm 3 does not."""

import numpy as np
import pytest
from scipy.stats import binom

import uqf
from uqf.baselines import MemorylessQ
from uqf.evaluate import Score
from uqf.playing.game import Game
from uqf.playing.lineages import Finalist
from uqf.playing.race import judged, ordered
from uqf.reading.progress import Reporter


def bandit(*chances):
    """One step, nothing to see: action k earns 1 with probability chances[k], by way of a hidden state."""
    arms = len(chances)
    states = np.array(np.meshgrid(*[[0.0, 1.0]] * arms)).reshape(arms, -1)
    start = np.prod([np.where(row > 0, c, 1 - c) for row, c in zip(states, chances, strict=True)], axis=0)
    size = states.shape[1]
    stays, nothing = np.tile(np.eye(size), (arms, 1, 1)), np.ones((arms, size, 1))
    return uqf.TabularPOMDP(stays, nothing, states, start, 1.0, horizon=1)


def always(action, arms):
    return uqf.TablePolicy(np.tile(np.eye(arms)[action], (arms + 1, 1)), 1)


@pytest.mark.parametrize(("chances", "left"), [((0.5, 0.4, 0.3), 90), ((0.5, 0.5, 0.1, 0.45), 200)])
def test_a_choice_loses_more_than_its_bound_no_more_often_than_stated(chances, left):
    env, arms, seeds, doubt = bandit(*chances), len(chances), 400, 0.2
    finalists = {str(arm): Finalist(always(arm, arms)) for arm in range(arms)}
    first = left // 2 // arms
    bound = 2.0 * np.sqrt(np.log(4 * arms / doubt) / (2 * first))
    lost = []
    for seed in range(seeds):
        name, scores = judged(Game(env, 1.0, left, seed, Reporter(None)), finalists)
        lost.append(max(chances) - chances[int(name)])
        assert sorted(scores[name].returns)[-1] <= 1.0 and len(scores[name].returns) > first
    assert np.mean(np.array(lost) > bound) <= doubt
    assert np.mean(lost) < max(chances) - np.mean(chances), "better than a finalist by chance"


def test_a_finalist_of_all_episodes_goes_before_others_that_are_not_clearly_ahead():
    """And who is clearly ahead goes before it."""
    scores = {
        "early": Score(np.array([1.0, 3.0]), np.ones(2, int)),
        "all": Score(np.array([0.5, 2.5]), np.ones(2, int)),
    }
    policy = always(0, 2)
    finalists = {"early": Finalist(policy), "all": Finalist(policy, of_all=True)}
    assert ordered(["early", "all"], finalists, scores) == ["all", "early"]
    assert ordered(["early", "all"], dict.fromkeys(finalists, Finalist(policy)), scores) == ["early", "all"]
    scores["early"] = Score(np.array([2.9, 3.0]), np.ones(2, int))
    assert ordered(["early", "all"], finalists, scores) == ["early", "all"]


@pytest.mark.parametrize(("chances", "left"), [((0.5, 0.4, 0.3), 90), ((0.5, 0.5, 0.1, 0.45), 200)])
def test_a_finalist_of_all_episodes_costs_no_more_than_a_standard_error_beside(chances, left):
    """docs/iteration.md: 2c + s, where s is the largest standard error of a difference that a first stage can have."""
    env, arms, seeds, doubt = bandit(*chances), len(chances), 400, 0.2
    finalists = {str(arm): Finalist(always(arm, arms), of_all=arm == 1) for arm in range(arms)}
    first = left // 2 // arms
    bound = 2.0 * np.sqrt(np.log(4 * arms / doubt) / (2 * first)) + np.sqrt(2 * 0.25 / (first - 1))
    lost = []
    for seed in range(seeds):
        name, _ = judged(Game(env, 1.0, left, seed, Reporter(None)), finalists)
        lost.append(max(chances) - chances[int(name)])
    assert np.mean(np.array(lost) > bound) <= doubt
    assert np.mean(lost) < max(chances) - np.mean(chances), "better than a finalist by chance"


def test_luck_in_few_episodes_is_not_taken():
    """The one who was given up may have the highest mean of all in the end; the better of the two others is taken."""
    env, finalists = bandit(0.5, 0.5, 0.5), {str(arm): Finalist(always(arm, 3)) for arm in range(3)}
    seen = False
    for seed in range(60):
        name, scores = judged(Game(env, 1.0, 60, seed, Reporter(None)), finalists)
        counts = {one: len(score.returns) for one, score in scores.items()}
        assert counts[name] == max(counts.values()) and sorted(counts.values())[0] == 10
        seen |= scores[name].mean < max(score.mean for score in scores.values())
    assert seen, "no seed tests anything"


def optimal(transitions, rewards, discount):
    value = np.zeros(rewards.shape[0])
    for _ in range(5_000):
        value = (rewards + discount * np.einsum("sat,t->sa", transitions, value)).max(axis=1)
    return value


def advantage(policy, transitions, rewards, discount):
    """(value (s,), advantage (s, a)) of a policy, exactly."""
    moves = np.einsum("sa,sat->st", policy, transitions)
    value = np.linalg.solve(np.eye(len(moves)) - discount * moves, (policy * rewards).sum(axis=1))
    return value, rewards + discount * np.einsum("sat,t->sa", transitions, value) - value[:, np.newaxis]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("first", "last"), [(1.0, 1.0), (3.0, 0.05)])
def test_sums_of_advantages_never_get_worse_and_reach_the_optimum_at_the_stated_rate(seed, first, last):
    rng, (size, actions, discount, rounds) = np.random.default_rng(seed), (5, 3, 0.8, 60)
    transitions = rng.dirichlet(np.full(size, 0.5), (size, actions))
    rewards = rng.uniform(size=(size, actions))
    best, width = optimal(transitions, rewards, discount), 1.0 / (1.0 - discount)
    values, before = np.zeros((size, actions)), np.full(size, -np.inf)
    for turn in range(rounds):
        policy = np.exp(values - values.max(axis=1, keepdims=True))
        policy /= policy.sum(axis=1, keepdims=True)
        value, gain = advantage(policy, transitions, rewards, discount)
        assert (value >= before - 1e-10).all()
        if turn:
            rate = (first * np.log(actions) + width) / ((1.0 - discount) * turn)
            assert (best - value).max() <= rate
        before, temperature = value, first * (last / first) ** (turn / (rounds - 1))
        values += gain / temperature
    assert (best - value).max() < 0.2 * (best - optimal(transitions, -rewards, discount)).max()


def chance_of_the_wrong_arm(rounds, episodes, good=0.5, sure=0.4):
    """Of Algorithm 3 in a bandit of two arms, exactly: a Markov chain on which arm is greedy; None before the first."""
    wrong, epsilon = None, 1.0
    tried = np.arange(episodes + 1)
    for _ in range(rounds):
        # Taken again: only one was tried, or the mean of the risky arm is on its side of the sure one.
        below = np.array([binom.cdf(np.ceil(sure * k) - 1, k, good) if k else 1.0 for k in tried])
        below[-1] = 0.0  # the sure arm was never tried
        from_right, from_wrong = (
            float(binom.pmf(tried, episodes, share) @ below) for share in (1.0 - epsilon / 2.0, epsilon / 2.0)
        )
        wrong = from_right if wrong is None else (1.0 - wrong) * from_right + wrong * from_wrong
        epsilon /= 2.0
    return wrong


def test_algorithm_3_as_printed_stops_trying_and_may_stay_with_the_wrong_arm_for_ever():
    """Rounds forget each other and ε is halved: all of them together try the other arm a finite number of times."""
    episodes = 12
    exact = {rounds: chance_of_the_wrong_arm(rounds, episodes) for rounds in (8, 32, 64)}
    assert exact[64] > 0.05 and abs(exact[64] - exact[32]) < 1e-6, "more rounds change nothing"
    env, seeds, wrong = bandit(0.5, 1.0), 300, 0
    # The second arm earns 0.4 for certain: rewards of the world, scaled.
    env = uqf.TabularPOMDP(
        env.transitions, env.observations, env.rewards * [[1.0], [0.4]], env.start, 1.0, horizon=1
    )
    for seed in range(seeds):
        found = uqf.policy_iteration(
            env, MemorylessQ(k=0), iterations=8, episodes=episodes, seed=seed, method="paper"
        )
        wrong += int(np.argmax(found.policy.action_probs(found.policy.initial_state()))) == 1
    error = np.sqrt(exact[8] * (1.0 - exact[8]) / seeds)
    assert abs(wrong / seeds - exact[8]) < 4 * error
