"""Learning curves: the same figures in the object, in its table, in its plot and in the file written meanwhile."""

import csv

import matplotlib

import uqf

matplotlib.use("Agg")


def lines_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_rounds_of_policy_iteration_are_a_table_a_plot_and_lines(tmp_path):
    lines = uqf.CsvLines(tmp_path / "rounds.csv")
    world, learner = uqf.make("tiger"), uqf.ContextQ(0.95)
    result = uqf.policy_iteration(world, learner, iterations=3, episodes=60, seed=1, progress=lines)
    means = [one.mean for one in result.rounds]
    frame = result.to_frame()
    assert frame["mean"].tolist() == means and frame["kind"][0] == "random"
    assert result.plot().lines[0].get_ydata().tolist() == means
    scored = [row for row in lines_of(tmp_path / "rounds.csv") if row["mean"]]
    assert [float(row["mean"]) for row in scored] == means
    assert [int(row["done"]) for row in scored] == [60, 120, 150, 180]


def test_candidates_of_a_fit_are_a_table_a_plot_and_lines(tmp_path):
    lines = uqf.CsvLines(tmp_path / "fit.csv")
    data = uqf.rollout(uqf.make("tiger"), episodes=120, seed=0)
    learner = uqf.fit(data, discount=0.95, seconds=0, progress=lines)
    candidates = learner.diagnostics_["chosen"]["candidates"]
    frame = learner.to_frame()
    assert frame["learner"].tolist() == list(candidates)
    gains = [one["gain"] for one in candidates.values() if one["gain"] is not None]
    assert learner.plot().lines[0].get_ydata().tolist() == gains
    assert [float(row["mean"]) for row in lines_of(tmp_path / "fit.csv") if row["mean"]] == gains
