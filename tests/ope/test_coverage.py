"""Do intervals hold the truth, and are winners winners? Repeated on ordinary worlds, on attacks and on drawn worlds."""

import os
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom

from evaluation_worlds import NINE, random_case
from uqf import ope

#: New in every run; the same again with UQF_SEED=….
SEED = int(os.environ.get("UQF_SEED", np.random.SeedSequence().entropy % 10**9))

#: Nobody should see a failure by chance more often than this.
BY_CHANCE = 0.001


@dataclass
class Tally:
    """What was claimed in repetitions, and how much of it was true."""

    told: int = 0
    covered: int = 0
    known: int = 0
    compared: int = 0
    false_winners: int = 0

    def add(self, case, seed):
        result = ope.compare(
            case.first, case.second, case.log(seed), discount=case.discount, replicates=400, seed=seed
        )
        first = result.first
        self.known += first.known
        assert first.interval[0] < first.interval[1], "no interval has no width"
        if first.answer is not ope.Answer.UNKNOWN:
            self.told += 1
            self.covered += first.interval[0] <= case.truth <= first.interval[1]
        low, high = result.interval
        if np.isfinite(low):
            self.compared += 1
            named = 0.0 if low <= 0.0 <= high else np.sign(result.difference)
            self.false_winners += named != 0.0 and named != np.sign(case.ahead)
        assert result.distinguishable <= (result.answer is ope.Answer.KNOWN)

    def __str__(self):
        return (
            f"told {self.told} ({self.known} known), covered {self.covered}, "
            f"compared {self.compared}, false winners {self.false_winners}"
        )

    @property
    def honest(self):
        """Whether the claims agree with 92 % coverage and 5 % false winners, or more and fewer."""
        return (
            binom.cdf(self.covered, self.told, 0.92) > BY_CHANCE
            and binom.sf(self.false_winners - 1, self.compared, 0.05) > BY_CHANCE
        )


def repeated(case, repetitions):
    tally = Tally()
    for seed in range(repetitions):
        tally.add(case, seed)
    print(f"{case.name}: of {repetitions} {tally}")
    return tally


@pytest.mark.parametrize("name", ["tiger", "bit shown once", "treasure"])
def test_claims_are_true_quick(name):
    tally = repeated(NINE[name](), 8)
    assert tally.honest
    assert (tally.known > 0) == (name == "tiger")


@pytest.mark.slow
@pytest.mark.parametrize("name", NINE)
def test_claims_are_true_in_nine_worlds(name):
    case = NINE[name]()
    tally = repeated(case, 100)
    if not case.fair:
        assert tally.known == 0, "what the log does not show must not be taken as known"
        return
    assert tally.honest
    if name.startswith(("gridworld", "tiger")):
        assert tally.known > 50, "the check must not be empty"
    if name.startswith("bit"):
        assert tally.known == 0 and tally.told > 30
    if name == "treasure":
        assert tally.told == 0


@pytest.mark.slow
def test_claims_are_true_in_worlds_that_are_drawn_anew():
    print(f"UQF_SEED={SEED}")
    tallies = [repeated(random_case(SEED + number), 40) for number in range(12)]
    assert all(tally.honest for tally in tallies), f"UQF_SEED={SEED}"
    told, covered, compared, false = (
        sum(getattr(tally, name) for tally in tallies)
        for name in ("told", "covered", "compared", "false_winners")
    )
    print(f"all: told {told}, covered {covered / told:.3f}, false winners {false / compared:.3f}")
    assert told > 100, f"the check must not be empty: UQF_SEED={SEED}"
    assert covered >= 0.92 * told and false <= 0.05 * compared, f"UQF_SEED={SEED}"
