"""What autopilots are told of the vehicles that they fly here: parameters by the autopilot's own names.

Source: PX4 parameter reference and airframe 1030; ArduPilot parameter lists and Tools/autotest's .parm files.
Limits: rates and attitude gains stay those of the autopilot's own airframe.
Verified by: tests/verification/test_pilot.py
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from fieldworthy.links.airframe import AutopilotKind, airframe_of
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.plane_tuning import plane_parameters

REACHED_SHARE = 0.5
"""An autopilot's waypoint is done within this share of ours, so that ours is done too."""

PilotedVehicle: TypeAlias = Literal["copter", "plane", "rover"]


def vehicle_of(scenario: Scenario) -> PilotedVehicle:
    """The vehicle as ground stations call it."""
    if scenario.vehicle.kind == "boat":
        return "rover"
    return "plane" if scenario.vehicle.values["autopilot"] == "fixed-wing" else "copter"


def usual_parameters(kind: AutopilotKind, scenario: Scenario) -> dict[str, float]:
    """Those of the frame, the usual ones of the vehicle's kind, a plane's by its file, and the mission's radius."""
    vehicle = vehicle_of(scenario)
    tuned = plane_parameters(kind, scenario) if vehicle == "plane" else {}
    frame = airframe_of(kind, scenario, ()).parameters
    return {**frame, **_USUAL[kind].get(vehicle, {}), **_radius(kind, scenario), **tuned}


def _radius(kind: AutopilotKind, scenario: Scenario) -> dict[str, float]:
    """ArduPilot takes no radius from a mission's waypoints: all have the least of ours, within its own limits."""
    least_m = REACHED_SHARE * min(target.radius_m for target in (*scenario.waypoints, scenario.goal))
    if kind == "px4" or vehicle_of(scenario) == "plane":
        return {}
    if vehicle_of(scenario) == "rover":
        return {"WP_RADIUS": max(least_m, 0.5)}
    return {"WPNAV_RADIUS": 100.0 * min(max(least_m, 0.05), 10.0)}


_USUAL: dict[AutopilotKind, dict[str, dict[str, float]]] = {
    "px4": {
        # From a catapult, not a runway, and without waiting for the shove: the catapult waits for the motor. All of the
        # throttle, where airframe 1030 allows 60 per cent. A mission may end in the air.
        "plane": {"RWTO_TKOFF": 0, "FW_LAUN_DETCN_ON": 0, "FW_THR_MAX": 1.0, "MIS_TKO_LAND_REQ": 0},
    },
    "ardupilot": {
        # The motor runs at once in a take-off, without waiting for a shove or a speed: the catapult waits for it.
        # plane.parm banks to 65 deg.
        "plane": {"TKOFF_THR_MINACC": 0, "TKOFF_THR_MINSPD": 0, "ROLL_LIMIT_DEG": 45},
        "rover": {"PRX1_TYPE": 2, "OA_TYPE": 1},
    },
}
"""What autopilots are told of kinds of vehicles: a plane on a catapult, a boat that looks where it goes."""
