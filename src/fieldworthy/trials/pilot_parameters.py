"""What autopilots are told of the vehicles that they fly here: parameters by the autopilot's own names.

Source: PX4 parameter reference and airframe 1030; ArduPilot parameter lists and Tools/autotest's .parm files.
Limits: rates and attitude gains stay those of the autopilot's own airframe.
Verified by: tests/verification/test_pilot.py
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from fieldworthy.links.airframe import AutopilotKind
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.plane_tuning import plane_parameters

PilotedVehicle: TypeAlias = Literal["copter", "plane", "rover"]


def vehicle_of(scenario: Scenario) -> PilotedVehicle:
    """The vehicle as ground stations call it."""
    if scenario.vehicle.kind == "boat":
        return "rover"
    return "plane" if scenario.vehicle.values["autopilot"] == "fixed-wing" else "copter"


def usual_parameters(kind: AutopilotKind, scenario: Scenario) -> dict[str, float]:
    """The usual ones of the vehicle's kind, and a plane's by its file."""
    vehicle = vehicle_of(scenario)
    tuned = plane_parameters(kind, scenario) if vehicle == "plane" else {}
    return {**_USUAL[kind].get(vehicle, {}), **tuned}


_USUAL: dict[AutopilotKind, dict[str, dict[str, float]]] = {
    "px4": {
        "copter": {},
        # From a catapult, not a runway, and without waiting for the shove: the catapult waits for the motor. All of the
        # throttle, where airframe 1030 allows 60 per cent. A mission may end in the air.
        "plane": {"RWTO_TKOFF": 0, "FW_LAUN_DETCN_ON": 0, "FW_THR_MAX": 1.0, "MIS_TKO_LAND_REQ": 0},
    },
    "ardupilot": {
        "copter": {"FRAME_CLASS": 1, "FRAME_TYPE": 1},
        # The motor runs at once in a take-off, without waiting for a shove or a speed: the catapult waits for it.
        # Pulses of the throttle as `links.airframe` reads them; plane.parm has others, and banks to 65 deg.
        "plane": {
            "TKOFF_THR_MINACC": 0,
            "TKOFF_THR_MINSPD": 0,
            "SERVO3_MIN": 1100,
            "SERVO3_MAX": 1900,
            "ROLL_LIMIT_DEG": 45,
        },
        "rover": {
            "FRAME_CLASS": 2,
            "PRX1_TYPE": 2,
            "OA_TYPE": 1,
            "SERVO1_MIN": 1000,
            "SERVO1_MAX": 2000,
            "SERVO3_MIN": 1000,
            "SERVO3_MAX": 2000,
        },
    },
}
"""What autopilots are told of vehicles: a quad X, a plane on a catapult, a boat that looks where it goes."""
