"""Learning by playing: what is returned, that it is good where the answer is known, that it goes on, anywhere."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from experiments.deep_sea import DeepSea

import uqf
from uqf.evaluate import Score
from uqf.playing.lineages import Steps
from uqf.playing.play import prepared


@pytest.fixture(scope="module")
def tiger():
    env = uqf.make("tiger", horizon=10)
    return env, uqf.play(env, episodes=300, seed=3)


def test_every_episode_is_counted_kept_and_has_exact_probabilities(tiger):
    env, played = tiger
    assert len(played.data) == sum(one.episodes for one in played.rounds) == 300
    kinds = ["random", "random", "random, repeating 0.8", "random, repeating 0.96"]
    assert [one.kind for one in played.rounds[:4]] == kinds
    assert played.data.behavior_probs is not None and (played.data.behavior_probs > 0).all()
    opening = played.rounds[0].episodes
    np.testing.assert_array_equal(played.data[:opening].behavior_probs, 1 / env.n_actions)
    returns = played.data.returns(played.discount)
    assert played.rounds[0].mean == pytest.approx(returns[:opening].mean())
    assert played.rounds[0].mean < played.scores[played.chosen].mean


def test_the_choice_is_explained_by_what_it_earned_in_fresh_episodes(tiger):
    _, played = tiger
    assert played.why.startswith(
        f"In fresh episodes {played.chosen} earned {played.scores[played.chosen].mean:.4g}"
    )
    judged = [one for one in played.rounds if one.kind.startswith("judged: ")]
    assert {one.kind.removeprefix("judged: ") for one in judged} == played.scores.keys()
    assert sum(one.episodes for one in judged) == sum(len(one.returns) for one in played.scores.values())
    frame = played.to_frame()
    assert len(frame) == len(played.rounds) and {"kind", "mean", "stderr", "episodes"} <= set(frame.columns)


def test_the_same_seed_gives_the_same_bits_on_any_executor(tiger):
    env, played = tiger
    with ThreadPoolExecutor(2) as pool:
        again = uqf.play(env, episodes=300, seed=3, executor=pool)
    np.testing.assert_array_equal(again.data.actions, played.data.actions)
    assert again.why == played.why
    assert [one.mean for one in again.rounds] == [one.mean for one in played.rounds]
    other = uqf.play(env, episodes=300, seed=4)
    assert not np.array_equal(other.data.actions[:100], played.data.actions[:100])


def test_it_goes_on_with_what_was_played_and_the_old_policy_is_a_finalist(tiger):
    env, played = tiger
    more = uqf.play(env, episodes=100, seed=3, resume=played)
    assert len(more.data) == 400 and more.rounds[: len(played.rounds)] == played.rounds
    np.testing.assert_array_equal(more.data.actions[: played.data.n_steps], played.data.actions)
    assert "as before" in more.scores
    from_log = uqf.play(env, episodes=100, seed=3, resume=played.data)
    assert 395 <= len(from_log.data) <= 400 and "as before" not in from_log.scores


def test_without_time_the_opening_is_judged_at_once():
    played = uqf.play(uqf.make("tiger", horizon=5), episodes=100, seconds=0, seed=0)
    assert len(played.data) <= 100 and played.scores


def test_all_random_play_shows_whether_the_last_observation_is_a_state():
    """Its third part alone took hallway for a world without memory on one seed of four."""
    played = uqf.play(uqf.make("gridworld-far"), episodes=400, seconds=0, seed=0)
    opening = played.data[: sum(one.episodes for one in played.rounds if one.kind.startswith("random"))]
    tests = {
        len(data): uqf.markov_test(data, seed=0).verdict for data in (opening, opening[: len(opening) // 3])
    }
    assert len(set(tests.values())) == 2
    assert played.why.endswith(tests[len(opening)])


def test_drawn_plans_find_what_chance_never_sees():
    """A reward at the end of one path of 2^10: random play finds it once in a thousand episodes."""
    env = uqf.GymnasiumWorld(lambda: DeepSea(10), horizon=10, discount=0.99, seed=0)
    played = uqf.play(env, episodes=60, seed=0)
    assert uqf.estimate_return(env, played.policy, episodes=5, discount=1.0, seed=1).mean == pytest.approx(
        0.99
    )


def test_a_world_with_numbers_is_played_and_the_policy_has_its_codes(tmp_path):
    env = uqf.GymnasiumWorld("CartPole-v1", horizon=60, discount=0.99, seed=0)
    played = uqf.play(env, episodes=60, seed=0)
    chance = uqf.estimate_return(env, None, episodes=50, discount=1.0, seed=1).mean
    earned = uqf.estimate_return(played.env, played.policy, episodes=50, discount=1.0, seed=1).mean
    assert earned > 1.5 * chance
    played.save(tmp_path / "policy.safetensors")
    played.data.to_parquet(tmp_path / "played.parquet")
    more = uqf.play(env, episodes=10, seconds=0, seed=0, resume=uqf.read_log(tmp_path / "played.parquet"))
    assert len(more.data) > len(played.data)
    agent = uqf.Agent(tmp_path / "policy.safetensors")
    agent.reset(np.zeros(4))
    assert agent.act() in (0, 1)


def lineage(*means, error=1.0, learns=True):
    """One that earned this, round by round."""
    one = Steps("steps", uqf.ContextQ(0.9), None, None)
    one.learns = learns
    for mean in means:
        one.keep(None, Score(mean + error * np.array([1.0, -1.0]), np.ones(2, int)))
    return one


def test_a_fit_plays_one_round_unless_it_leads_at_the_end_and_the_last_rounds_are_the_leaders():
    race = prepared(uqf.make("tiger", horizon=5), 100)
    fit, steps, new = lineage(10.0, learns=False), lineage(5.0, 6.0), lineage()
    end = round(race.settings.closing * 100)
    assert race.turns([fit, steps], end + 1) == [steps]
    assert race.turns([fit, steps], end) == [fit]
    assert race.turns([lineage(5.0, learns=False), steps], end) == [steps]
    assert race.turns([fit], 90) == [fit], "nobody else is left"
    assert race.turns([fit, steps, new], end) == [steps, new], "who is new is seen first"


@pytest.mark.parametrize(
    ("curve", "rounds", "behind"),
    [
        ([-100.0, -50.0], 3, False),  # two more rounds as good as the last one would do
        ([-100.0, -50.0], 0.5, True),
        ([-100.0, -50.0], 0, True),
        ([-50.0], 3, False),  # nobody knows how fast it learns
        ([-50.0, -50.0, -50.0], 3, True),
        ([-50.0, 30.0, -50.0], 3, True),  # it is as good as its best round, and falls
        ([-50.0, 50.0, -50.0], 3, False),
        ([48.0, 48.0], 3, False),  # within two standard errors
    ],
)
def test_who_would_reach_the_leader_in_the_rounds_that_are_left_is_not_given_up(curve, rounds, behind):
    leader = lineage(50.0, learns=False)
    assert lineage(*curve).behind(leader, 2.0, rounds) is behind
    assert lineage(-50.0, learns=False).behind(leader, 2.0, rounds)
    assert not leader.behind(leader, 2.0, rounds)


@pytest.mark.slow
def test_contexts_overtake_a_fit_that_is_ahead_at_first():
    """They begin at -170, a fit of the opening earns about 0."""
    env = uqf.make("pocman")
    played = uqf.play(env, episodes=5_000, seed=0)
    assert uqf.estimate_return(env, played.policy, episodes=1_000, seed=1).mean > 30.0


@pytest.mark.slow
def test_playing_tiger_is_no_worse_than_a_fit_of_a_random_log():
    """2,000 episodes, where a fit of the opening alone listens for ever."""
    env, earned = uqf.make("tiger"), []
    for seed in range(8101, 8104):
        played = uqf.play(env, episodes=2_000, seed=seed)
        earned.append(uqf.estimate_return(env, played.policy, episodes=20_000, seed=1).mean)
    assert min(earned) > 10.0


def test_ctrl_c_keeps_the_episodes_to_go_on_from(monkeypatch):
    def press(*arguments):
        raise KeyboardInterrupt

    env = uqf.make("tiger", horizon=5)
    with monkeypatch.context() as patched:
        patched.setattr("uqf.playing.race.judged", press)
        with pytest.raises(uqf.Stopped) as stopped:
            uqf.play(env, episodes=100, seed=0)
    more = uqf.play(env, episodes=20, seed=0, resume=stopped.value.data)
    assert len(more.data) == 110
