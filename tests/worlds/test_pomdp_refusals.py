"""What no world can be read from is refused in words, before it costs memory or time."""

from __future__ import annotations

import pytest

from pomdp_texts import BODY, HEAD, refusal
from uqf.worlds.pomdp_file import parsed


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("", (1, 1), "no `states:`"),
        ("# only a comment\n", (2, 1), "no `states:`"),
        (HEAD.replace("discount: 0.9\n", "") + BODY, (5, 1), "no `discount:`"),
        (HEAD.replace("observations: 2\n", "") + BODY, (5, 1), "no `observations:`"),
        (HEAD.replace("0.9", "1.5"), (1, 11), "not in [0, 1]"),
        (HEAD.replace("reward", "profit"), (2, 9), "`reward` or `cost`"),
        (HEAD.replace("states: 2", "states: 0"), (3, 9), "at least 1"),
        (HEAD.replace("states: 2", "states: a b a"), (3, 13), "twice"),
        (HEAD.replace("states: 2", "states: a reset"), (3, 11), "section"),
        (HEAD.replace("states: 2", "states: 2\nstates: 2"), (4, 1), "second time"),
        (HEAD.replace("observations: 2", "observations: 2 3"), (5, 17), "many-dimensional"),
        (HEAD.replace("observations: 2", "observations: (0,0) (0,1)"), (5, 15), "dialects"),
        (HEAD.replace("values: reward", "costs: 3"), (2, 1), "unknown section `costs`"),
        (HEAD.replace("states: 2", "states: a b\ncosts: c"), (4, 1), "unknown section `costs`"),
        (HEAD + BODY + "  E: 0 identity", (8, 3), "unknown section `E`"),
        (HEAD + BODY + "discount: 0.5", (8, 1), "before the first T, O or R"),
        (HEAD + "T: up identity", (6, 4), "no action `up`"),
        (HEAD + "T: 2 identity", (6, 4), "count from 0 to 1"),
        (HEAD + "T: 0 : 1.0 : 1 1", (6, 8), "no state `1.0`"),
        (HEAD + "T: 0 : 0 : 0 1.5", (6, 14), "not a probability"),
        (HEAD + "T: 0 : 0 0.5 -0.5", (6, 14), "not a probability"),
        (HEAD + "T: 0 : 0 0.5\nO: * uniform", (6, 10), "1 probabilities from here on; 2"),
        (HEAD + "T: 0 : 0\n0.5 0.5\n0.5", (8, 1), "too many"),
        (HEAD + "T: 0 : 0 identity", (6, 10), "square matrix"),
        (HEAD + "T: 0 : 0 : 0 uniform", (6, 14), "not for one entry"),
        (HEAD + "T: 0 : 0 : 0", (6, 13), "the end of the file"),
        (HEAD + "T: 0 : 0 : 0 0.5x", (6, 14), "not a number"),
        (HEAD + "R: 0 : 0 : 0 : 0 1e999", (6, 18), "finite"),
        (HEAD + "R: 0 : 0 1 2 3\nT: * identity", (6, 10), "3 rewards from here on; 1 or 2 or 4"),
        (HEAD + "R: 0 : 0 : 0 : 0 : 0 1", (6, 18), "a reward"),
        (HEAD + "start: 3\n", (6, 8), "no state `3`"),
        (HEAD + "start: 0.5\n", (6, 8), "no state `0.5`"),
        (HEAD + "start: 0.5 0.25 0.25\n", (6, 17), "too many"),
        (HEAD + "start: 0 start: 1\n", (6, 10), "second time"),
        (HEAD + "start exclude: *\n", (6, 7), "no state is left"),
        (HEAD.replace("states: 2", "states: a b") + "start: a b\n", (6, 10), "start include"),
    ],
)
def test_a_refusal_names_the_place_and_the_reason(text: str, place: tuple[int, int], reason: str) -> None:
    message = refusal(text)
    assert message.startswith(f"line {place[0]}, column {place[1]}: "), message
    assert reason in message


@pytest.mark.parametrize(
    "sizes",
    [
        (10**6, 10**6, 10**6),
        (10**19, 1, 1),
        (1, 10**30, 1),
        (1, 1, 2**40),
        (100_000, 1, 1),
    ],
)
def test_absurd_sizes_are_refused_before_memory_is_taken(sizes: tuple[int, int, int]) -> None:
    states, actions, observations = sizes
    head = (
        f"discount: 1\nvalues: reward\nstates: {states}\nactions: {actions}\nobservations: {observations}\n"
    )
    message = refusal(head + "T: * uniform\nO: * uniform\n")
    assert "max_entries" in message or "more than" in message


def test_rewards_count_towards_the_limit_and_the_limit_can_be_raised() -> None:
    text = (
        "discount: 1 values: reward states: 30 actions: 2 observations: 40\n" + BODY + "R: 0 : 0 : 0 : 0 1\n"
    )
    assert parsed(text, max_entries=76_200).rewards.shape == (2, 30, 30, 40)


def test_a_short_file_cannot_demand_endless_work() -> None:
    head = "discount: 1 values: reward states: 200 actions: 10 observations: 1\n"
    with pytest.raises(ValueError):
        parsed(head + "T: * uniform\n" * 100_000, max_entries=1_000_000)
    stars = "discount: 1 values: reward states: 1000000 actions: 1 observations: 1 start include: "
    assert "max_entries" in refusal(stars + "* " * 10**6)
