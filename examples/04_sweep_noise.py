"""How much range noise does the avoidance rule stand?

You learn: `set_value` gives a scenario with one value changed (and checked), so a sweep is a loop. Every point flies
the same trials: the same obstacles and starts, only the noise differs. `fieldworthy sweep` does this with a report.

The answer surprises: the rule looks at the least of thousands of ranges, and the least of many noisy numbers is too
small. So noise makes the boat see things earlier and avoid more; in this scenario that does not cost success.
"""

import numpy as np

import fieldworthy as fw

scenario = fw.load("boat-field")
avoiding = {}
print("noise [m]   success   95 % interval   mean time [s]   share of time avoiding")
for noise_m in (0.0, 0.05, 0.5, 4.0):
    result = fw.fly(fw.set_value(scenario, "sensors.lidar.noise_m", noise_m), trials=24)
    summary = result.summary()
    low, high = summary["success"]["ci95"]
    flown = np.arange(len(result.t_s)) < result.length[:, None]
    avoiding[noise_m] = float((result.tracks["mode"] > 0)[flown].mean())
    print(
        f"{noise_m:9.2f}   {summary['success']['rate']:7.2f}   {low:.2f} to {high:.2f}    "
        f"{summary['time_s']['mean']:13.1f}   {avoiding[noise_m]:.2f}"
    )

# The noise of a real LiDAR changes nothing that matters; one of metres makes the boat shy.
assert abs(avoiding[0.05] - avoiding[0.0]) < 0.1
assert avoiding[4.0] > avoiding[0.0]
