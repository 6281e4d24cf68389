"""What the policy remembers."""

from __future__ import annotations

from dataclasses import dataclass

from uqf.learn.memory.summaries import VIEWS
from uqf.page.figures import Axis, Drawing, Panel
from uqf.policies.policy import BeliefPolicy, SummaryPolicy
from uqf.reports.hidden_states import HiddenStates
from uqf.reports.study import Study


@dataclass(frozen=True)
class Memory:
    """What a policy remembers: hidden states of a belief policy, the spectrum of a spectral learner."""

    kind: str
    """Of policy, and for forests on summaries how far they look back: "now", "recent" or "history"."""
    hidden_states: HiddenStates | None
    spectrum: list[float]
    """Singular values in parts of the largest, or correlations of the past with the future."""
    spectrum_is: str | None
    """"singular values", "correlations" or None."""

    @classmethod
    def of(cls, study: Study) -> Memory:
        """Of the policy that is judged; spectra are those of the learner."""
        policy, learner = study.policy, study.learner
        values, what = getattr(learner, "singular_values_", None), "singular values"
        if values is None:
            values, what = study.diagnostics.get("correlations"), "correlations"
        spectrum = [] if values is None else [float(value) for value in values]
        if spectrum and what == "singular values":
            spectrum = [value / (spectrum[0] or 1.0) for value in spectrum]
        states = HiddenStates.of(study) if isinstance(policy, BeliefPolicy) else None
        kind = type(policy).__name__
        if isinstance(policy, SummaryPolicy):
            parts = policy.parts()
            kind = next(
                name
                for name, view in VIEWS.items()
                if (view.steps, view.long) == (parts["steps"], parts["long"])
            )
        return cls(kind, states, spectrum, what if spectrum else None)

    @property
    def spectrum_figure(self) -> Drawing:
        """How it falls."""
        values, singular = self.spectrum, self.spectrum_is == "singular values"
        low = max(min([value for value in values if value > 0], default=1e-3), 1e-6)
        logarithmic = singular and low < 0.2
        x = Axis(1, max(len(values), 2), 64, 806)
        y = Axis(low if logarithmic else 0.0, max(1.0, max(values)), 220, 34, logarithmic=logarithmic)
        title = "part of the largest singular value" if singular else "correlation"
        panel = Panel(title, x, y, "number of the direction", "")
        panel.line([(k + 1.0, value, 0.0) for k, value in enumerate(values)], "first", title)
        return Drawing([panel], 820, 270, "spectrum", "Spectrum of the memory, falling")
