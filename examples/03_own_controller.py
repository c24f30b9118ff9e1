"""Fly a controller of your own and compare it with going straight.

You learn: a controller is a class with one method on a batch of readings (gap_steering.py), a scenario names it (gap-
steering.toml), and the same trials flown without it are the control group: obstacles that nobody has to avoid prove
nothing.
"""

from pathlib import Path

import fieldworthy as fw

scenario = fw.load(Path(__file__).with_name("gap-steering.toml"))
gaps = fw.fly(scenario)
straight = fw.fly(fw.set_value(fw.set_value(scenario, "control.parameters", {}), "control.controller", "straight"))

for name, result in (("gap steering", gaps), ("straight", straight)):
    summary = result.summary()
    print(f"{name:12s}  {summary['success']['count']:2d} of {summary['trials']} reached the goal,", end="  ")
    print(f"{summary['collisions']} collisions, mean time {summary['time_s']['mean']} s")

# The same seed gives the same obstacles to both.
assert gaps.layouts == straight.layouts
assert gaps.success_rate >= 0.8
assert gaps.success_rate > straight.success_rate + 0.2
