"""Words to evaluate automata on, and the contexts that a policy knows."""

import itertools


def words_up_to(n_symbols, length):
    return [word for n in range(length + 1) for word in itertools.product(range(n_symbols), repeat=n)]


def some_words(n_symbols, length, rng, count=60):
    """All words up to `length` if they are few, else a sample of them."""
    if sum(n_symbols**n for n in range(length + 1)) <= count:
        return words_up_to(n_symbols, length)
    return [()] + [tuple(rng.integers(n_symbols, size=rng.integers(1, length + 1))) for _ in range(count)]


def context_words(policy):
    """Every context of a `ContextPolicy` as a tuple of symbols in the order of time, by node."""
    parts, words = policy.parts(), [()]
    for parent, symbol in zip(parts["parents"].tolist(), parts["symbols"].tolist(), strict=True):
        words.append((symbol, *words[parent]))
    return words


def first_symbol(data, episode):
    """The symbol before the first step: of what the episode showed first, or of a start that showed nothing."""
    shown = data.n_observations if episode.first_observation is None else episode.first_observation
    return data.n_symbols + shown
