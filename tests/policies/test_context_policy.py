"""Values by the longest known context, and sums of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from random_policies import random_contexts
from strategies import trajectories
from uqf.episodes.sums import cut_before
from uqf.learn.memory.contexts import ContextTree
from uqf.policies.policy import probs_along, remembered, softmax
from words import context_words


@given(trajectories(max_episodes=20), st.integers(1, 3))
def test_the_longest_known_context_counts(data, depth):
    tree = ContextTree.of(data, depth)
    values = np.random.default_rng(0).normal(size=(len(tree), data.n_actions))
    policy = tree.policy(values, data, temperature=0.5)
    known = values[tree.at_cuts[cut_before(data)]]
    np.testing.assert_array_equal(policy.q_values_along(data), known)
    np.testing.assert_allclose(probs_along(policy, data), softmax(known, 0.5), atol=1e-12)


@given(
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=2),
    st.lists(st.integers(0, 30), min_size=2, max_size=2),
    st.lists(st.sampled_from([0.0, 0.25, 2.0]), min_size=2, max_size=2),
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=20),
)
def test_a_sum_has_the_sum_of_both_values_after_every_history(sizes, seeds, contexts, temperatures, numbers):
    one, other = (
        random_contexts(*sizes, seed, contexts=count, temperature=temperature)
        for seed, count, temperature in zip(seeds, contexts, temperatures, strict=True)
    )
    both = one.plus(other)
    assert both.temperature == 1.0
    history = [(action % sizes[0], observation % sizes[1]) for action, observation in numbers]
    for length in range(len(history) + 1):
        expected = 0.0
        for policy in (one, other):
            values = policy.q_values(remembered(policy, history[:length]))
            expected = expected + values / (policy.temperature or 1.0)
        values = both.q_values(remembered(both, history[:length]))
        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_a_sum_knows_the_contexts_of_both_and_no_others(first, second):
    one, other = random_contexts(2, 2, first), random_contexts(2, 2, second)
    assert set(context_words(one.plus(other))) == {*context_words(one), *context_words(other)}
    assert len(one.plus(one).values) == len(one.values)
