"""How far learned distributions over strings stay below the truth: `python benches/strings_accuracy.py`, a minute.

Prints the table of docs/strings.md: nats per string that the mean log probability of 4,000 test strings falls short of
that of the automaton which made them.
"""

import numpy as np

import uqf
from uqf.strings import StringModel
from uqf.strings.hankel import STATISTICS

#: (states, symbols, training strings)
CASES = [(5, 4, 2_000), (5, 4, 20_000), (10, 8, 20_000), (20, 5, 20_000)]


def random_automaton(states: int, symbols: int) -> uqf.WFA:
    """Few of the steps of a state are likely, and a string ends about every seventh step."""
    rng = np.random.default_rng(states)
    steps = rng.dirichlet(np.full(symbols * states, 0.1), states).reshape(states, symbols, states)
    end = 0.15 * rng.uniform(0.5, 1.5, states)
    start = rng.dirichlet(np.ones(states))
    return uqf.WFA(start, (steps * (1.0 - end)[:, None, None]).transpose(1, 0, 2), end)


def main() -> None:
    columns = [*STATISTICS, "trigrams alone"]
    print(f"| states, symbols, strings | {' | '.join(columns)} |")
    print("|" + "---|" * (len(columns) + 1))
    for states, symbols, count in CASES:
        true = StringModel(random_automaton(states, symbols))
        train, test = true.sample(count, seed=0), true.sample(4_000, seed=1)
        best = true.log_probabilities(test).mean()
        learners = [uqf.SpectralStrings(statistics=statistics).fit(train) for statistics in STATISTICS]
        trigrams = StringModel(learners[0].wfa_, ngrams=learners[0].model_.ngrams, smoothing=1.0)
        scores = [learner.score(test) for learner in learners] + [trigrams.log_probabilities(test).mean()]
        cells = " | ".join(f"{best - score:.3f}" for score in scores)
        print(f"| {states}, {symbols}, {count:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
