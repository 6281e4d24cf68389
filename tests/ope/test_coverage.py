"""Do intervals hold the truth, and are winners winners? Repeated on ordinary worlds, on attacks and on drawn worlds."""

import os
from dataclasses import dataclass, fields

import numpy as np
import pytest
from scipy.stats import binom

from evaluation_worlds import ORDINARY, WORLDS, drawn_family, random_case
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
    known_covered: int = 0
    compared: int = 0
    false_winners: int = 0
    distinguished: int = 0
    falsely: int = 0

    def add(self, case, seed, return_range):
        log = case.log(seed)
        result = ope.compare(
            case.first,
            case.second,
            log,
            discount=case.discount,
            replicates=400,
            return_range=return_range,
            seed=seed,
        )
        first = result.first
        covers = first.interval[0] <= case.truth <= first.interval[1]
        assert first.interval[0] < first.interval[1], "no interval has no width"
        if first.answer is not ope.Answer.UNKNOWN:
            self.told += 1
            self.covered += covers
        if first.known:
            self.known += 1
            self.known_covered += covers
        low, high = result.interval
        wrong = bool(not low <= 0.0 <= high and np.sign(result.difference) != np.sign(case.ahead))
        self.compared += np.isfinite(low)
        self.false_winners += wrong
        self.distinguished += result.distinguishable
        self.falsely += result.distinguishable and wrong

    def __str__(self):
        return (
            f"told {self.told}, covered {self.covered}; known {self.known}, covered {self.known_covered}; "
            f"compared {self.compared}, false winners {self.false_winners}; distinguished {self.distinguished}, "
            f"falsely {self.falsely}"
        )

    def honest(self, fair):
        """Whether claims agree with 92 % coverage and 5 % false winners, or more and fewer.

        What is known must be so in any world, and what is told on a condition where the condition holds.
        """
        claims = [(self.known_covered, self.known, self.falsely, self.distinguished)]
        if fair:
            claims.append((self.covered, self.told, self.false_winners, self.compared))
        return all(
            binom.cdf(covered, told, 0.92) > BY_CHANCE and binom.sf(false - 1, compared, 0.05) > BY_CHANCE
            for covered, told, false, compared in claims
        )


def repeated(case, repetitions, return_range=None):
    tally = Tally()
    for seed in range(repetitions):
        tally.add(case, seed, return_range)
    print(f"{case.name}{'' if return_range is None else ', range given'}: of {repetitions} {tally}")
    return tally


@pytest.mark.parametrize(
    "name", ["tiger", "bit shown once", "treasure", "actions repeat", "ends that are not marked"]
)
def test_claims_are_true_quick(name):
    case = WORLDS[name]()
    tally = repeated(case, 6, case.return_range)
    assert tally.honest(case.fair)
    assert (tally.known > 0) == (name in ("tiger", "treasure"))


@pytest.mark.slow
@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("name", WORLDS)
def test_claims_are_true(name, bounded):
    case = WORLDS[name]()
    if bounded and case.return_range is None:
        pytest.skip("there are no bounds to give")
    tally = repeated(case, 40, case.return_range if bounded else None)
    assert tally.honest(case.fair)
    if not bounded:
        assert tally.known == 0, "what is too rare to be in a log cannot be known"
    if name in ORDINARY:
        assert tally.told > 20 and (tally.known > 20) == bounded, "the check must not be empty"
    if name in ("actions repeat", "actions drift", "actions drift in episodes", "bit shown once"):
        assert tally.known == 0 and (tally.told > 0) == (name != "actions repeat"), (
            "propensities that are wrong or missing make a condition"
        )
    if name in ("ends that are not marked", "recording stops after losses"):
        assert tally.told <= 3, "recording that visibly depends on what came before makes all of it unknown"
    if name == "actions repeat, and that is logged":
        assert (tally.known > 30) == bounded, "what is right is believed"


@pytest.mark.slow
def test_claims_are_true_in_worlds_that_are_drawn_anew():
    print(f"UQF_SEED={SEED}")
    cases = [random_case(SEED + number) for number in range(10)]
    cases += [drawn_family(SEED + number) for number in range(12)]
    tallies = [repeated(case, 30) for case in cases]
    tallies += [repeated(case, 30, case.return_range) for case in cases if case.return_range]
    assert all(tally.honest(True) for tally in tallies), f"UQF_SEED={SEED}"
    sums = {one.name: sum(getattr(tally, one.name) for tally in tallies) for one in fields(Tally)}
    print(f"all of {30 * len(tallies)}: {Tally(**sums)}")
    for claims, true, compared, false in (
        ("told", "covered", "compared", "false_winners"),
        ("known", "known_covered", "distinguished", "falsely"),
    ):
        assert sums[claims] > 100, f"the check must not be empty: UQF_SEED={SEED}"
        assert sums[true] >= 0.92 * sums[claims], f"UQF_SEED={SEED}"
        assert sums[false] <= max(0.05 * sums[compared], 1), f"UQF_SEED={SEED}"
