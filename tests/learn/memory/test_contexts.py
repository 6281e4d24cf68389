"""Contexts: what is known of the last few symbols, as a tree."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies import trajectories
from uqf.episodes.sums import cut_before
from uqf.learn.memory.contexts import ContextTree
from words import first_symbol


def words_at_cuts(data, depth):
    """The last symbols at every cut, the start counting as one, in the order of time; and whether a step follows."""
    words, followed = [], []
    for episode in data:
        steps = (episode.actions * data.n_observations + episode.observations).tolist()
        symbols = (first_symbol(data, episode), *steps)
        words += [symbols[max(0, cut + 1 - depth) : cut + 1] for cut in range(len(symbols))]
        followed += [True] * (len(symbols) - 1) + [False]
    return words, followed


def words_of(tree):
    """Every context in the order of time, by node."""
    words = [()]
    for parent, symbol in zip(tree.parents.tolist(), tree.symbols.tolist(), strict=True):
        words.append((symbol, *words[parent]))
    return words


@given(trajectories(), st.integers(1, 4), st.integers(1, 3))
def test_the_tree_holds_the_contexts_that_occur_often_enough_before_a_step(data, depth, min_count):
    tree = ContextTree.of(data, depth, min_count=min_count)
    found, followed = words_at_cuts(data, depth)
    counts = Counter(
        word[len(word) - length :]
        for word, step in zip(found, followed, strict=True)
        if step
        for length in range(len(word) + 1)
    )
    words = words_of(tree)
    assert len(set(words)) == len(words) == len(tree)
    assert set(words) == {word for word, count in counts.items() if len(word) < 2 or count >= min_count}
    assert tree.lengths.tolist() == [len(word) for word in words]


@given(trajectories(), st.integers(1, 4), st.integers(1, 3))
def test_every_cut_is_in_its_longest_known_context(data, depth, min_count):
    tree = ContextTree.of(data, depth, min_count=min_count)
    words = words_of(tree)
    for word, node in zip(words_at_cuts(data, depth)[0], tree.at_cuts.tolist(), strict=True):
        known = [word[cut:] for cut in range(len(word) + 1) if word[cut:] in words]
        assert words[node] == known[0]


@given(trajectories(), st.integers(1, 4))
def test_levels_are_the_contexts_of_one_length_before_every_step_that_has_one(data, depth):
    tree = ContextTree.of(data, depth)
    words, nodes = words_of(tree), tree.at_cuts[cut_before(data)]
    for length, (steps, here) in enumerate(tree.levels(data)):
        assert steps.tolist() == np.flatnonzero(tree.lengths[nodes] >= length).tolist()
        for step, node in zip(steps, here, strict=True):
            whole = words[nodes[step]]
            assert words[node] == whole[len(whole) - length :]
