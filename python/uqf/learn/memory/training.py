"""How hidden Markov models are trained: settings, and the training of some models on a sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from uqf import _core
from uqf.learn.memory.sample import Sample


@dataclass(frozen=True)
class Training:
    """Settings of the training.

    states, models : hidden states of the largest models, and how many models there are in all
    fractions : the sizes that are compared are `states` divided by each of these
    max_steps, compared_steps : steps that train at most; steps on either side while sizes are compared
    compared_models : models of every size while sizes are compared
    explore, go_on : iterations on one minibatch each, of a new model and of one that goes on with more episodes
    settle, single_settle, final_settle : iterations at the end whose average is kept: while sizes are compared, where
        there is one size only, and finally (or one for every `steps_per_settling` steps, if that is more)
    min_noisy : noisy models are compared as well if there are at least so many observations, and two states for each;
        clones spend a state on every pair of a place and an observation
    groups, evidence : a larger size must be likelier by so many standard errors over groups of held-out episodes
    max_features : states of all models together, at most; regressions cost the square of it
    """

    states: int = 60
    models: int = 4
    fractions: tuple[int, ...] = (15, 4, 1)
    max_steps: int = 300_000
    compared_steps: int = 150_000
    compared_models: int = 2
    explore: int = 40
    go_on: int = 10
    settle: int = 16
    single_settle: int = 4
    final_settle: int = 20
    steps_per_settling: int = 10_000
    min_noisy: int = 5
    groups: int = 20
    evidence: float = 2.0
    max_features: int = 480

    def settling(self, steps: int) -> int:
        """Averaged iterations at the end of the training on so many steps."""
        return max(self.final_settle, steps // self.steps_per_settling)

    def n_models(self, wanted: int, states: int) -> int:
        """As many models as wanted, unless they are large."""
        return min(wanted, max(1, self.max_features // states))


@dataclass(frozen=True)
class Schedule:
    """How long models are trained on a sample; it can be pickled."""

    sample: Sample
    explore: int
    settle: int
    seed: int

    def __call__(
        self,
        task: tuple[int, _core.CloneModels],
        tick: Callable[[int], object] | None = None,
        threads: int | None = 1,
    ) -> _core.CloneModels:
        """Trains models, numbered from the first number on; `tick` is called with the steps read so far."""
        first, models = task
        return models.trained(
            self.sample.data,
            explore=self.explore,
            settle=self.settle,
            first=first,
            seed=self.seed,
            tasks=self.sample.tasks,
            threads=threads,
            progress=tick,
        )
