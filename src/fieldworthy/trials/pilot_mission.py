"""A scenario's way as the mission of an autopilot.

Limits: the mission ends in a loiter at the goal; there is no landing.
Verified by: tests/verification/test_pilot.py
"""

from __future__ import annotations

import math

from fieldworthy.links.mission import MissionItem
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.pilot_parameters import REACHED_SHARE, vehicle_of

TAKEOFF_UP_M, TAKEOFF_AHEAD_M = 40.0, 300.0
"""Where a plane's take-off leads to: straight ahead, high enough to turn."""


def _takeoff(scenario: Scenario, up_m: float) -> MissionItem:
    start = scenario.start
    if vehicle_of(scenario) != "plane":
        return MissionItem("takeoff", start.north_m, start.east_m, up_m)
    heading = math.radians(start.heading_deg)
    north, east = TAKEOFF_AHEAD_M * math.cos(heading), TAKEOFF_AHEAD_M * math.sin(heading)
    return MissionItem("takeoff", start.north_m + north, start.east_m + east, min(up_m, TAKEOFF_UP_M))


def mission_of(scenario: Scenario) -> list[MissionItem]:
    """The scenario's way as a mission: take off, the waypoints in their order, and stay at the goal."""
    targets = (*scenario.waypoints, scenario.goal)
    flies = scenario.vehicle.kind != "boat"
    items = []
    if flies:
        items.append(_takeoff(scenario, targets[0].up_m or 10.0))
    for target in targets:
        items.append(
            MissionItem(
                "waypoint", target.north_m, target.east_m, (target.up_m or 0.0) if flies else 0.0,
                acceptance_radius_m=REACHED_SHARE * target.radius_m,
                hold_s=(target.hold_s or 0.0) if target is not scenario.goal else 0.0, speed_m_s=target.speed_m_s,
            )
        )  # fmt: skip
    goal = scenario.goal
    items.append(MissionItem("loiter", goal.north_m, goal.east_m, (goal.up_m or 0.0) if flies else 0.0))
    return items
