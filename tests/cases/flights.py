"""Small flights for tests of results, pages and recordings: a quadrotor that takes off and may lose a rotor."""

from __future__ import annotations

SCENARIO = """
schema = 1
name = "hop"
title = "Up to 3 m and stay"
trials = 3
seed = 4
duration_s = 8.0
dt_s = 0.002
[vehicle]
model = "x500"
[start]
spread_heading_deg = 180.0
[air]
wind_speed_m_s = 3.0
wind_from_deg = 270.0
shear = "log"
[air.turbulence]
model = "von-karman"
specification = "mil-hdbk-1797"
[goal]
north_m = 0.0
east_m = 0.0
up_m = 3.0
radius_m = 1.5
hold_s = 3.0
[area]
north_m = [-50.0, 50.0]
east_m = [-50.0, 50.0]
"""

LOST = """
[[faults]]
kind = "rotor-loss"
part = "1"
at_s = 4.0
"""
"""Before the goal has been held for long enough."""
