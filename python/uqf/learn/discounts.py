"""Learning discounts: what may be learned with, where a task has a discount of its own."""

from __future__ import annotations

from uqf.data.checks import probability

#: Candidates where none is given, each cut to the discount of the task.
CANDIDATES = (0.85, 0.95, 0.99)


def learning_discounts(discount: float, given: float | None) -> list[float]:
    """The one that was given, or the candidates in increasing order.

    A learning discount above that of the task would count rewards for more than they are worth, and is refused.
    """
    task = probability("discount", discount)
    if given is None:
        return sorted({min(candidate, task) for candidate in CANDIDATES})
    if probability("learning_discount", given) > task:
        raise ValueError(
            f"learning_discount = {given}: above discount = {task:g}, which rewards are worth; give that or less"
        )
    return [float(given)]
