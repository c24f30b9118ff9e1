"""Scenarios that use everything and fly in a moment: a coarse scanner, short courses."""

from __future__ import annotations

from pathlib import Path

from fieldworthy.scenario import Scenario, load

PLAIN = """
schema = 1
name = "plain"
trials = 6
seed = 5
duration_s = 25.0
[vehicle]
model = "boat-5m"
[start]
spread_east_m = 3.0
spread_heading_deg = 30.0
[goal]
north_m = 45.0
east_m = 0.0
radius_m = 4.0
[area]
north_m = [-20.0, 70.0]
east_m = [-35.0, 35.0]
[sensors.lidar]
model = "vlp16-uniform"
azimuth_step_deg = 1.0
elevation_min_deg = -4.0
elevation_max_deg = 0.0
elevation_step_deg = 4.0
noise_m = 0.05
[control]
controller = "sector"
[control.parameters]
safe_distance_m = 12.0
avoid_speed_m_s = 3.5
turn_rate_deg_s = 25.0
[[scatter]]
count = [3, 6]
kinds = ["cylinder", "box", "sphere"]
north_m = [10.0, 38.0]
east_m = [-14.0, 14.0]
radius_m = [0.5, 1.5]
top_up_m = [1.5, 3.0]
gap_m = 4.0
clear_start_m = 8.0
clear_goal_m = 6.0
"""

ROUGH = """
[sea]
current_speed_m_s = 0.3
current_towards_deg = 70.0
wind_speed_m_s = 4.0
wind_from_deg = 200.0
[sea.waves]
height_m = 0.4
period_s = 3.0
components = 3
[randomize]
"vehicle.mass_kg" = [700.0, 1200.0]
"sea.current_speed_m_s" = [0.0, 0.6]
"sensors.lidar.noise_m" = [0.0, 0.3]
"sensors.lidar.dropout" = [0.0, 0.3]
"control.parameters.safe_distance_m" = [8.0, 16.0]
[[obstacles]]
kind = "cylinder"
north_m = 25.0
east_m = -30.0
radius_m = 1.5
top_up_m = 3.0
vel_east_m_s = 3.0
spread_north_m = 5.0
[[obstacles]]
kind = "polyline"
points_ne_m = [[0.0, 18.0], [20.0, 20.0], [30.0, 17.0], [45.0, 19.0]]
top_up_m = 2.0
"""

FIRING = """
[[obstacles]]
kind = "polygon"
points_ne_m = [[20.0, -2.0], [26.0, 0.0], [24.0, 3.0]]
top_up_m = 2.0
spread_east_m = 3.0
"""


def scenario(folder: Path, *parts: str, overrides: tuple[str, ...] = ()) -> Scenario:
    path = folder / "scenario.toml"
    path.write_text("".join((PLAIN, *parts)))
    return load(path, overrides)


UNIFORM = """model = "vlp16-uniform"
azimuth_step_deg = 1.0
elevation_min_deg = -4.0
elevation_max_deg = 0.0
elevation_step_deg = 4.0
"""

DEVICE = """model = "vlp16"
laser_elevation_deg = [-9.0, 0.0]
firing_period_s = 700e-6
laser_spacing_s = 60e-6
latency_s = 0.06
sea_returns = true
no_hit = "omit"
yaw_deg = 3.0
"""

BY_POINTS = """[control.parameters]
ignore_below_m = 0.3
compare = "points"
starboard_first = true
"""


def scenarios(folder: Path) -> dict[str, Scenario]:
    """By name."""
    assert UNIFORM in PLAIN
    path = folder / "firing.toml"
    path.write_text(PLAIN.replace(UNIFORM, DEVICE).replace("[control.parameters]\n", BY_POINTS) + FIRING)
    return {
        "rough": scenario(folder, ROUGH),
        "rough, 64 bit": scenario(folder, ROUGH, overrides=("precision=f64",)),
        "firing": load(path),
    }
