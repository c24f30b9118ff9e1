"""Flights of a few seconds in which everything happens: wind, turbulence, gusts, every device, every kind of fault."""

from __future__ import annotations

from pathlib import Path

from fieldworthy.scenario import Scenario, load

CALM = """
schema = 1
name = "calm-flight"
trials = 7
seed = 5
duration_s = 8.0
dt_s = 0.002
[vehicle]
model = "x500"
[goal]
north_m = 0.0
east_m = 0.0
up_m = 3.0
radius_m = 1.5
hold_s = 60.0
[area]
north_m = [-100.0, 100.0]
east_m = [-100.0, 100.0]
"""
"""From the ground to 3 m, on its own estimate, until the time is over."""

ROUGH = """
[start]
spread_north_m = 1.0
spread_east_m = 1.0
spread_heading_deg = 180.0
[effects]
vibration = true
[air]
wind_speed_m_s = 4.0
wind_from_deg = 300.0
shear = "log"
[air.turbulence]
model = "dryden"
[[air.gusts]]
start_s = 3.0
rise_s = 1.0
east_m_s = 2.0
up_m_s = -1.0
[sensors.imu.set]
g_sensitivity_deg_s_g = 0.2
[sensors.magnetometer.set]
dropout = 0.2
jitter_s = 0.004
clock_offset_s = 0.002
[randomize]
"vehicle.mass_kg" = [1.8, 2.2]
"air.wind_speed_m_s" = [2.0, 7.0]
"sensors.imu.gyro_noise_density_deg_s_rthz" = [0.002, 0.02]
"sensors.gnss.horizontal_sigma_m" = [0.5, 3.0]
"battery.capacity_c" = [9000.0, 18000.0]
[[faults]]
kind = "rotor-loss"
part = 1
at_s = 2.5
spread_s = 3.0
probability = 0.5
[[faults]]
kind = "cell-failure"
at_s = 3.0
probability = 0.5
[[faults]]
kind = "sensor-noise"
part = "gnss"
at_s = 1.0
spread_s = 3.0
size = 1.0
probability = 0.7
[[faults]]
kind = "sensor-freeze"
part = "barometer"
at_s = 4.0
until_s = 5.0
[[faults]]
kind = "sensor-bias"
part = "imu"
at_s = 3.0
size = 0.02
[[faults]]
kind = "link-delay"
at_s = 1.0
size = 0.1
"""


def flight(folder: Path, *parts: str, overrides: tuple[str, ...] = (), name: str = "flight") -> Scenario:
    path = folder / f"{name}.toml"
    path.write_text("".join((CALM, *parts)))
    return load(path, overrides)
