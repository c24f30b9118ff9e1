"""Autopilots and vehicles by name, and the words that each autopilot has for its flight modes.

Source: PX4, px4_custom_mode.h (main mode in bits 16 to 23, submode above); ArduPilot, mode.h of each vehicle;
MAVLink common.xml, MAV_AUTOPILOT and MAV_TYPE.
Limits: modes that came later are told by their number.
Verified by: tests/verification/test_ground_station.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from fieldworthy.core.errors import FieldworthyError

Autopilot: TypeAlias = Literal["px4", "ardupilot"]
Vehicle: TypeAlias = Literal["copter", "plane", "rover"]

AUTOPILOT_NAMES: dict[Autopilot, str] = {"px4": "PX4", "ardupilot": "ArduPilot"}
"""As their makers write them."""
_OF_MAV_AUTOPILOT = {3: "ArduPilot", 12: "PX4"}
_VEHICLE_OF_TYPE: Mapping[int, Vehicle] = {
    **dict.fromkeys((2, 3, 4, 13, 14, 15, 29, 35), "copter"),
    **dict.fromkeys((1, 19, 20, 21, 22, 23, 24, 25), "plane"),
    **dict.fromkeys((10, 11), "rover"),
}
"""By MAV_TYPE; tail-sitters and tilt-rotors are planes, boats are rovers."""

PX4_MISSION = 4 << 16 | 4 << 24
"""`custom_mode` of AUTO.MISSION."""
COPTER_GUIDED, COPTER_AUTO, PLANE_AUTO, ROVER_AUTO = 4, 3, 10, 10
"""`custom_mode` of ArduPilot's vehicles."""

_PX4_MAIN = {
    1: "MANUAL", 2: "ALTCTL", 3: "POSCTL", 4: "AUTO", 5: "ACRO", 6: "OFFBOARD", 7: "STABILIZED", 8: "RATTITUDE",
}  # fmt: skip
_PX4_AUTO = {
    1: "READY", 2: "TAKEOFF", 3: "LOITER", 4: "MISSION", 5: "RTL", 6: "LAND", 8: "FOLLOW_TARGET", 9: "PRECLAND",
    10: "VTOL_TAKEOFF",
}  # fmt: skip
_ARDUPILOT: Mapping[Vehicle, Mapping[int, str]] = {
    "copter": {
        0: "STABILIZE", 1: "ACRO", 2: "ALT_HOLD", 3: "AUTO", 4: "GUIDED", 5: "LOITER", 6: "RTL", 7: "CIRCLE", 9: "LAND",
        11: "DRIFT", 13: "SPORT", 16: "POSHOLD", 17: "BRAKE", 18: "THROW", 20: "GUIDED_NOGPS", 21: "SMART_RTL",
        27: "AUTO_RTL",
    },
    "plane": {
        0: "MANUAL", 1: "CIRCLE", 2: "STABILIZE", 3: "TRAINING", 4: "ACRO", 5: "FBWA", 6: "FBWB", 7: "CRUISE",
        8: "AUTOTUNE", 10: "AUTO", 11: "RTL", 12: "LOITER", 13: "TAKEOFF", 15: "GUIDED", 16: "INITIALISING",
        17: "QSTABILIZE", 18: "QHOVER", 19: "QLOITER", 20: "QLAND", 21: "QRTL",
    },
    "rover": {
        0: "MANUAL", 1: "ACRO", 3: "STEERING", 4: "HOLD", 5: "LOITER", 6: "FOLLOW", 7: "SIMPLE", 8: "DOCK", 9: "CIRCLE",
        10: "AUTO", 11: "RTL", 12: "SMART_RTL", 15: "GUIDED", 16: "INITIALISING",
    },
}  # fmt: skip


def mode_name(autopilot: Autopilot, vehicle: Vehicle, custom_mode: int) -> str:
    """The autopilot's own word for the `custom_mode` of a heartbeat."""
    if autopilot == "ardupilot":
        return _ARDUPILOT[vehicle].get(custom_mode, f"mode {custom_mode}")
    main, sub = custom_mode >> 16 & 0xFF, custom_mode >> 24 & 0xFF
    name = _PX4_MAIN.get(main, f"mode {main}")
    return f"{name}.{_PX4_AUTO.get(sub, sub)}" if main == 4 else name


def check_names(autopilot: str, vehicle: str) -> None:
    """Raise: FieldworthyError for names that are not known here."""
    if autopilot not in AUTOPILOT_NAMES:
        raise FieldworthyError(f"autopilot: {autopilot!r} is not known; valid: {', '.join(AUTOPILOT_NAMES)}")
    if vehicle not in _ARDUPILOT:
        raise FieldworthyError(f"vehicle: {vehicle!r} is not known; valid: {', '.join(_ARDUPILOT)}")


def other_than_named(autopilot: Autopilot, vehicle: Vehicle, mav_autopilot: int, mav_type: int) -> str:
    """A sentence where a heartbeat comes from another kind than was named; else empty."""
    who = _OF_MAV_AUTOPILOT.get(mav_autopilot, f"autopilot {mav_autopilot}")
    if who != AUTOPILOT_NAMES[autopilot]:
        return f"{who} answers where {AUTOPILOT_NAMES[autopilot]} was named"
    flies = _VEHICLE_OF_TYPE.get(mav_type, vehicle)
    return (
        "" if flies == vehicle else f"the autopilot flies a {flies} (MAV_TYPE {mav_type}) where a {vehicle} was named"
    )
