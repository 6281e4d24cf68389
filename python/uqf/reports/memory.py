"""Part 4 of the report: what the policy remembers."""

from __future__ import annotations

from dataclasses import dataclass

from uqf.page.figures import Axis, Panel, drawing, table
from uqf.page.graph import Edge, Node, graph
from uqf.page.parts import card, figure, percent, signed
from uqf.policies.policy import BeliefPolicy
from uqf.printable import escape
from uqf.reports.hidden_states import POLICY, HiddenStates
from uqf.reports.study import Study

#: What policies of each kind remember.
KINDS = {
    "ObservationPolicy": "The policy looks at the last observation only, which is a state here.",
    "TablePolicy": "The policy looks at the last action and observation only.",
    "ContextPolicy": "The policy looks at the last few actions and observations, and at nothing before.",
    "AutomatonPolicy": "The policy keeps a vector that every action and observation moves by a matrix of its own.",
    "FilterPolicy": "The policy keeps a vector that predicts what comes next, and moves it at every step.",
    "BeliefPolicy": "The policy keeps beliefs: how probable it is to be in each of some hidden states.",
}

#: Where directions beyond are mostly noise.
SPECTRUM = {
    "singular values": "How fast the singular values fall says how much there is to remember.",
    "correlations": "How well each direction of the past predicts the future, from 1 (perfectly) to 0 (not at all).",
}


@dataclass(frozen=True)
class Memory:
    """What a policy remembers: hidden states of a belief policy, the spectrum of a spectral learner."""

    kind: str
    hidden_states: HiddenStates | None
    spectrum: list[float]
    spectrum_is: str | None

    @classmethod
    def of(cls, study: Study) -> Memory:
        """Of the policy that is judged; spectra are those of the learner."""
        learner, kind = study.learner, type(study.policy).__name__
        values, what = getattr(learner, "singular_values_", None), "singular values"
        if values is None:
            values, what = getattr(learner, "diagnostics_", {}).get("correlations"), "correlations"
        spectrum = [] if values is None else [float(value) for value in values]
        states = HiddenStates.of(study) if isinstance(study.policy, BeliefPolicy) else None
        return cls(kind, states, spectrum, what if spectrum else None)

    def section(self) -> str:
        """Markup of this part."""
        words = f"<p>{escape(KINDS.get(self.kind, f'The policy is a {self.kind}.'))}</p>"
        return (
            words
            + (self._graph() if self.hidden_states else "")
            + (self._spectrum() if self.spectrum else "")
        )

    def _graph(self) -> str:
        found = self.hidden_states
        assert found is not None
        states, mean = found.states, found.mean_to_come
        # Clones of one observation side by side.
        order = sorted(range(len(states)), key=lambda number: (states[number].looks, number))
        place = {number: position for position, number in enumerate(order)}
        reach = max((abs(one.to_come - mean) for one in states), default=0.0) or 1.0
        nodes = [
            Node(
                one.name,
                one.looks,
                f"{one.action} {percent(one.action_share)}",
                one.share,
                (one.to_come - mean) / reach,
                f"{one.name}: {one.looks}; {percent(one.share)} of the time; {one.action} "
                f"{percent(one.action_share)}; rewards to come {signed(one.to_come - mean)} against the mean",
            )
            for one in (states[number] for number in order)
        ]
        layers = {
            layer: [Edge(place[one.start], place[one.end], one.share) for one in transitions]
            for layer, transitions in found.transitions.items()
        }
        buttons = "".join(
            f'<button class="choice" aria-pressed="{"true" if layer == POLICY else "false"}" '
            f'data-layer="{escape(layer)}">{escape(layer)}</button>'
            for layer in layers
        )
        drawn = graph(nodes, layers, "hidden-states", "Hidden states and where they lead")
        which = f"the likeliest of {found.models} models" if found.models > 1 else "the model"
        lines = [
            (
                f"{one.name}: {one.looks}",
                [
                    percent(one.share),
                    f"{escape(one.action)} <small>{percent(one.action_share)}</small>",
                    signed(one.to_come - mean),
                    _leads(found, number),
                ],
                False,
            )
            for number, one in enumerate(states)
        ]
        heads = ["state and what is seen there", "of the time", "the policy", "rewards to come", "leads to"]
        return (
            f"<p>The same observation can mean different things: each circle is a hidden state of {which}. Larger "
            f"ones are believed in more often; the {len(states)} shown of {found.of_model} cover "
            f"{percent(found.covered)} of the time. <span class='tone good'>Blue</span> states have more reward to "
            "come than the average, <span class='tone bad'>orange</span> ones less. Arrows show where they lead; a "
            "ring means that it stays. Choose an action to see where that one leads.</p>"
            + card(
                f'<div class="graph-card"><div class="controls" role="group" aria-label="transitions under">{buttons}'
                f'</div><div class="scroll">{drawn}</div></div>',
                f"<details><summary>The same as a table</summary>{table(heads, lines)}"
                "<p><small>Rewards to come are those of the log, against its mean of "
                f"{figure(mean)}.</small></p></details>",
            )
        )

    def _spectrum(self) -> str:
        largest = self.spectrum[0] or 1.0
        shares = [
            value / largest if self.spectrum_is == "singular values" else value for value in self.spectrum
        ]
        low = max(min([share for share in shares if share > 0], default=1e-3), 1e-6)
        logarithmic = self.spectrum_is == "singular values" and low < 0.2
        x = Axis(1, max(len(shares), 2), 64, 806)
        y = Axis(low if logarithmic else 0.0, max(1.0, max(shares)), 220, 34, logarithmic=logarithmic)
        title = (
            "part of the largest singular value" if self.spectrum_is == "singular values" else "correlation"
        )
        panel = Panel(title, x, y, "number of the direction", "")
        points = [(k + 1.0, max(share, low) if logarithmic else share, 0.0) for k, share in enumerate(shares)]
        panel.line(points, "first", title)
        drawn = drawing([panel], 820, 270, "spectrum", "Spectrum of the memory, falling")
        return (
            f"<p>{SPECTRUM[self.spectrum_is or '']} Directions beyond the bend are mostly noise.</p>"
            + card(drawn)
        )


def _leads(found: HiddenStates, number: int) -> str:
    """Where a state leads as the policy acts."""
    transitions = sorted(
        (one for one in found.transitions[POLICY] if one.start == number), key=lambda one: -one.share
    )
    return (
        ", ".join(
            f"{found.states[one.end].name} <small>{percent(one.share)}</small>" for one in transitions[:3]
        )
        or "—"
    )
