"""Walk a simulation by hand, one command at a time, and look at what the LiDAR sees.

You learn: `build` makes a World (all that stays the same) from a scenario, `start` its State at tick 0, and `step`
goes to the next command: sensors, controller, physics. A Frame tells where every lane was. `fly` is this loop and
bookkeeping.
"""

import numpy as np

import fieldworthy as fw
from fieldworthy.sensors.scan import to_numpy

scenario = fw.load("boat-buoy")
world = fw.build(scenario, trials=3, full_sweep=True).world  # 3 lanes, and all 28,800 rays of each sweep
state = fw.start(world)

least_m = np.full(3, np.inf)
for _ in range(100):  # 100 commands at 10 Hz: 10 s
    state, frame = fw.step(world, state)
    scan = to_numpy(frame.scan)
    nearest_m = scan.range_m.min(axis=(1, 2))  # range_m is (lanes, columns, channels)
    least_m = np.minimum(least_m, nearest_m)
    if frame.tick % 50 == 0:
        places = ", ".join(
            f"{n:5.1f} {e:5.1f}" for n, e in zip(frame.values["north_m"], frame.values["east_m"], strict=True)
        )
        print(f"t = {frame.t_s:4.1f} s   (north, east) m: {places}   nearest return m: {np.round(nearest_m, 1)}")

lane, column, channel = np.unravel_index(scan.range_m.argmin(), scan.range_m.shape)
print(
    f"the nearest of {scan.range_m[0].size} rays in the last sweep: lane {lane}, "
    f"azimuth {np.degrees(scan.azimuth_rad[column, channel]):.1f} deg, "
    f"elevation {np.degrees(scan.elevation_rad[channel]):.0f} deg, {scan.range_m[lane, column, channel]:.2f} m"
)

assert frame.tick == 99 * world.timing.control
assert scan.range_m.shape == (3, 1800, 16)
# Every boat came upon the buoy, and none came nearer than the rule lets it.
assert np.all(least_m < 20.0)
assert np.all(least_m > 1.0)
