"""Which parameter decides over success? Draw it anew for every trial and look.

You learn: a path under [randomize] is drawn uniformly per trial, and `Result.parameters` has the drawn values, one a
trial. One campaign then shows success over the whole range; a sweep would need one campaign a point.
"""

import numpy as np

import fieldworthy as fw

scenario = fw.load("boat-field")
scenario = fw.set_value(
    scenario,
    "randomize",
    {"control.parameters.safe_distance_m": [3.0, 21.0], "vehicle.mass_kg": [700.0, 1300.0]},
)
result = fw.fly(scenario, trials=160)
reached = result.outcome == "goal"

bands = {}
for path, edges in (
    ("control.parameters.safe_distance_m", np.linspace(3.0, 21.0, 5)),
    ("vehicle.mass_kg", np.linspace(700.0, 1300.0, 5)),
):
    value = result.parameters[path]
    bands[path] = [reached[(value >= low) & (value < high)].mean() for low, high in zip(edges, edges[1:], strict=False)]
    print(path)
    for low, high, share in zip(edges, edges[1:], bands[path], strict=False):
        print(f"  {low:7.1f} to {high:7.1f}   {share:4.0%}  {'#' * round(40 * share)}")

safe, mass = bands["control.parameters.safe_distance_m"], bands["vehicle.mass_kg"]
# Looking 3 to 7 m ahead is too late at 5 m/s; the mass hardly matters, for the drive makes up for it.
assert max(safe[1:]) > safe[0] + 0.1
assert max(mass) - min(mass) < max(safe) - min(safe) + 0.1
