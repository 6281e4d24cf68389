"""From a messy maintenance log to a policy: the log is written here, by a machine whose wear nobody sees.

Every row has the sensors, then the decision, then its cost: what was seen is seen before the action. Rows are shuffled,
some are repeated, names are in any case, numbers have decimal commas, times have a zone, and nobody logged how probable
a decision was. Run it with the number of runs to log: ``python examples/maintenance_log.py 300``.
"""

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

import uqf

SHIFTS, WORST = 40, 4
COSTS = {"run": 0.0, "service": 6.0, "replace": 25.0}
BREAKDOWN = 60.0

Row = tuple[dict[str, object], str, float]


class Machine:
    """Wear grows while the machine runs, makes it shake and ends in a breakdown; service takes some of it away."""

    def __init__(self, seed: int) -> None:
        self.rng, self.wear = np.random.default_rng(seed), 0

    def sensors(self) -> dict[str, object]:
        """Vibration says something about the wear, temperature follows the load, which is logged."""
        load = str(self.rng.choice(["eco", "full"]))
        vibration = 1.0 + 0.5 * self.wear + self.rng.normal(0.0, 0.7)
        temperature = 60.0 + 10.0 * (load == "full") + self.rng.normal(0.0, 3.0)
        return {"vibration": round(vibration, 2), "temperature": round(temperature, 1), "load": load}

    def step(self, action: str) -> float:
        """The cost of a shift."""
        if action != "run":
            self.wear = 0 if action == "replace" else max(0, self.wear - int(self.rng.integers(1, 3)))
            return COSTS[action]
        if self.rng.random() < (0.0, 0.01, 0.03, 0.10, 0.35)[self.wear]:
            self.wear = 0
            return BREAKDOWN
        self.wear = min(WORST, self.wear + int(self.rng.random() < 0.3))
        return 0.0


def run(seed: int, decide: Callable[[Machine, dict[str, object]], str]) -> list[Row]:
    """A run of some shifts: (sensors, decision, cost) of each."""
    machine, rows = Machine(seed), []
    for _ in range(SHIFTS):
        seen = machine.sensors()
        action = decide(machine, seen)
        rows.append((seen, action, machine.step(action)))
    return rows


def old_rule(machine: Machine, seen: dict[str, object]) -> str:
    """What the crew does: service when it shakes, and now and then something else."""
    if machine.rng.random() < 0.2:
        return str(machine.rng.choice(["run", "service", "replace"], p=[0.4, 0.4, 0.2]))
    return "service" if float(str(seen["vibration"])) > 2.2 else "run"


def knows_the_wear(machine: Machine, seen: dict[str, object]) -> str:
    """A rule that sees what nobody sees."""
    return "service" if machine.wear >= 2 else "run"


def write_log(path: Path, runs: int, seed: int) -> None:
    """The log as it comes."""
    rng, lines = np.random.default_rng(seed), []
    begin = datetime(2024, 1, 1, 6, tzinfo=UTC)
    for number in range(runs):
        for shift, (seen, action, cost) in enumerate(run(100_000 * seed + number, old_rule)):
            time = begin + timedelta(hours=8 * (number * SHIFTS + shift))
            spelled = rng.choice(
                [action, action.upper(), action.title(), f" {action}"], p=[0.7, 0.1, 0.15, 0.05]
            )
            numbers = [f"{seen[name]}".replace(".", ",") for name in ("vibration", "temperature")]
            lines.append(
                f"m-{number};{time.isoformat()};{';'.join(numbers)};{seen['load']};{spelled};{cost}".replace(
                    ".0", ",0"
                )
            )
    lines += [lines[place] for place in rng.integers(len(lines), size=len(lines) // 50)]
    rng.shuffle(lines)
    path.write_text("\n".join(["Run;Shift start;vibration;temperature;load;Decision;Cost", *lines]) + "\n")


def earned(decide: Callable[[Machine, dict[str, object]], str], runs: int = 2000) -> tuple[float, float]:
    """Mean cost of a run, negative, and its standard error, on runs that no log has."""
    returns = np.array([-sum(cost for _, _, cost in run(10**9 + number, decide)) for number in range(runs)])
    return float(returns.mean()), float(returns.std() / np.sqrt(runs))


def acting(policy: object) -> Callable[[Machine, dict[str, object]], str]:
    """A policy in the place of the crew: it is shown the sensors, and says what to do."""
    agent, before = uqf.Agent(policy), list[Machine]()

    def decide(machine: Machine, seen: dict[str, object]) -> str:
        if before and before[0] is machine:
            agent.observe(seen)
        else:
            agent.reset(seen)
            before[:] = [machine]
        return str(agent.act())

    return decide


COLUMNS = uqf.LogColumns(
    episode="Run",
    time="Shift start",
    action="Decision",
    observation=["vibration", "temperature", "load"],
    reward="-Cost",
    observed="before",
)

if __name__ == "__main__":
    log = Path("maintenance.csv")
    write_log(log, int(sys.argv[1]) if len(sys.argv) > 1 else 300, seed=0)
    data = uqf.read_log(log, columns=COLUMNS, clean=True)
    learner = uqf.fit(data, discount=0.99)
    print(learner.diagnostics_["chosen"]["why"])
    for name, decide in {
        "the old rule": old_rule,
        "the policy": acting(learner),
        "a rule that sees the wear": knows_the_wear,
    }.items():
        mean, error = earned(decide)
        print(f"{name}: mean return of a run {mean:.1f} ± {error:.1f}")
