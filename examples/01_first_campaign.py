"""Load a scenario, fly it, look at the result as NumPy arrays.

You learn: `load` reads and checks a scenario, `fly` draws its trials and flies them side by side, and a `Result` has
one row a trial. Trials are a function of the seed: the same call gives the same bits.
"""

import numpy as np

import fieldworthy as fw

scenario = fw.load("boat-field")  # a built-in name, or the path of a TOML file
result = fw.fly(scenario, trials=20)

north_m = result.tracks["north_m"]  # (trials, samples), NaN after a trial's end
last_north_m = north_m[np.arange(len(result.trial)), result.length - 1]

summary = result.summary()
print(f"{summary['title']}: {summary['success']['count']} of {summary['trials']} reached the goal")
print(f"95 % interval of the success rate: {summary['success']['ci95']}")
for trial, outcome, why, time_s, end_m in zip(
    result.trial, result.outcome, result.why, result.time_s, last_north_m, strict=True
):
    print(f"  trial {trial:2d}  {outcome:9s}  {time_s:5.1f} s  {end_m:5.1f} m north  {why}")

reached = result.outcome == "goal"
assert reached.mean() > 0.5
# The goal is a circle of 5 m around (100, 0): who reached it ended there.
assert np.all(np.abs(last_north_m[reached] - 100.0) < 5.1)
