"""The measurement of what fits cost."""

import uqf
from experiments import scale, scale_sums


def test_the_measurement_of_costs_runs(tmp_path):
    written = scale.write_shards(uqf.make("gridworld-near"), tmp_path, 5000, shard_steps=2000)
    cost = scale.fit_cost("steps", 5000, tmp_path, 1, {"rank": 4})
    assert cost.steps == written >= 5000
    assert f"{written:,}" in scale.table([cost])
    assert scale.peak_megabytes() > 10
    (day,) = scale_sums.days("tiger", 50, 2)
    assert day["symbols"] == 6
    assert scale_sums.parcels("tiger", 50, 100, 2)["first pass MB"] > 0
