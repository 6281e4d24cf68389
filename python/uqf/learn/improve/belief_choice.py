"""What `BeliefQ` chooses on held-out episodes: the sizes of its models and the learning discount."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqf.learn.improve.advantages import TEMPERATURE, trace
from uqf.learn.improve.discounts import MIN_EPISODES, Halves, longest_as_good
from uqf.learn.memory.beliefs import BeliefMemory
from uqf.learn.memory.clones import MAX_COMPARED, CloneTrainer, Plan
from uqf.learn.memory.sample import Sample

#: Numbers on which learning discounts are compared at most, on either side.
GAIN_CELLS = 4_000_000


@dataclass(frozen=True)
class Choice:
    """What was chosen on held-out episodes, and the evidence: {} where nothing was to choose or too few episodes.

    models : how many there are, by number of states; noisy : whether their states may show anything
    likelihoods : mean log-likelihood of a step by number of states, expected of models trained on all episodes; that of
        noisy models is apart
    gains : significance of the improvement by learning discount
    """

    models: dict[int, int]
    learning_discount: float
    likelihoods: dict[int, float]
    gains: dict[float, float]
    noisy: bool = False
    noisy_likelihood: float | None = None


def choose(
    trainer: CloneTrainer, wanted: int, discounts: list[float], halves: tuple[Sample, Sample] | None = None
) -> tuple[list[Plan], list[Choice]]:
    """Models to be trained, and what was chosen for every task on the half of the episodes that did not train.

    halves : those that train and those that judge; by default of the sample of the trainer
    """
    sample, n_tasks = trainer.sample, int(trainer.sample.tasks.max()) + 1
    if min(np.bincount(sample.tasks)) < 2 * MIN_EPISODES:
        layout = next(one for one in reversed(trainer.layouts) if not one.noisy)
        plan = Plan(layout, trainer.n_models(wanted, layout), None)
        return [plan], [Choice({layout.n_states: plan.models}, discounts[-1], {}, {})] * n_tasks
    train, test = (half.first(MAX_COMPARED) for half in halves or sample.halves)
    sizes, found, begun = trainer.compare(train, test, min(2, wanted))
    likelihoods = {
        layout.n_states: one for layout, one in zip(trainer.layouts, found, strict=False) if not layout.noisy
    }
    noisy_likelihood = found[-1] if trainer.layouts[-1].noisy else None
    plans = []
    for size in sizes:
        layout = trainer.layouts[size]
        count = max(1, trainer.n_models(wanted, layout) // len(sizes))
        plans.append(Plan(layout, count, begun[size].cut(0, count)))
    counts = {plan.layout.n_states: plan.models for plan in plans}
    width = 1 + sum(begun[size].n_features for size in sizes)
    few = [half.first(GAIN_CELLS // max(width, sample.data.n_actions)) for half in (train, test)]
    choices = []
    for task in range(n_tasks):
        memory = BeliefMemory([begun[size].for_task(task) for size in sizes], sample.data.n_actions)
        taught, judges = (half.of_task(task) for half in few)
        gains: dict[float, float] = {}
        if len(discounts) > 1:
            judged = Halves(memory, taught, judges, trace(len(taught)), TEMPERATURE, trainer.threads)
            gains = judged.gains(discounts)
        chosen, noisy = max(gains, key=gains.__getitem__) if gains else discounts[-1], plans[0].layout.noisy
        if gains and noisy:
            chosen = longest_as_good(gains)
        choices.append(Choice(counts, chosen, likelihoods, gains, noisy, noisy_likelihood))
    return plans, choices
