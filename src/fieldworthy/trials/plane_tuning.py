"""What a real autopilot must know of the plane that it flies: its airspeeds, and how it flies level, climbs and sinks.

An engineer finds these numbers in trim flights. Here they follow from the vehicle's file, by the same level flight and
the same polar that the built-in autopilot is laid out with. The gains of the rate and attitude loops stay those of the
autopilot's airframe or parameter file.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from fieldworthy.control.fixed_wing import FixedWingParameters
from fieldworthy.links.airframe import AutopilotKind
from fieldworthy.scenario.build_autopilot import autopilot, level_flight
from fieldworthy.scenario.schema import Scenario, Start
from fieldworthy.vehicles.compose import EffectSwitches, Parts, compose
from fieldworthy.vehicles.motor import throttle_for_speed

_CLIMBS_AT = 1.2
"""A take-off's airspeed to the least one, where PX4 takes the least one itself."""

_TIMES_SINK = 2.5
"""The steepest descent to the slowest, the glide at cruise speed."""


def plane_parameters(kind: AutopilotKind, scenario: Scenario) -> dict[str, float]:
    """Parameters of PX4 or ArduPlane for the scenario's plane.

    Equation: throttle, pitch and elevator of level flight at cruise airspeed (`level_flight`); climb at most what the
        thrust leaves over (`fixed_wing_gains`); least sink D V / (m g), the glide.
    Source: PX4 parameter reference (FW_THR_TRIM, FW_T_*, FW_PSP_OFF, TRIM_PITCH); ArduPlane "TECS tuning guide".
    Limits: one motor; no loops' gains.
    Verified by: tests/verification/test_launch.py
    """
    values: dict[str, Any] = dict(scenario.vehicle.values)
    cruise = float(values["cruise_airspeed_m_s"])
    cruising = msgspec.structs.replace(scenario, start=Start(speed_m_s=cruise))
    wanted = {name: getattr(scenario.effects, name) for name in scenario.effects.__struct_fields__}
    shape, plain = compose(values, EffectSwitches(**wanted, gear=True), Parts(), scenario.dt_s)
    _, pilot = autopilot(cruising, shape, plain)
    assert isinstance(pilot.laws, FixedWingParameters)
    level, tecs = level_flight(cruising, shape, plain), pilot.laws.tecs
    throttle = float(throttle_for_speed(shape.motor, plain.motors[0], plain.rotors[0], level.rotor_speed_rad_s[0]))
    pitch_deg = math.degrees(level.pitch_rad)
    climb, sink = float(tecs.climb_max_m_s), float(-tecs.power_min_m2_s3) / float(pilot.laws.gravity_m_s2)
    least, most = float(values["airspeed_min_m_s"]), float(values["airspeed_max_m_s"])
    found = {
        "px4": {
            "FW_AIRSPD_MIN": least, "FW_AIRSPD_TRIM": cruise, "FW_AIRSPD_MAX": most,
            "FW_TKO_AIRSPD": _CLIMBS_AT * least, "FW_THR_TRIM": throttle, "FW_PSP_OFF": pitch_deg,
            "TRIM_PITCH": -level.elevator_rad / float(plain.surface_max_rad.y),  # positive lifts the nose
            "FW_T_CLMB_MAX": climb, "FW_T_SINK_MIN": sink, "FW_T_SINK_MAX": _TIMES_SINK * sink,
        },
        "ardupilot": {
            "AIRSPEED_MIN": least, "AIRSPEED_CRUISE": cruise, "AIRSPEED_MAX": most,
            "TRIM_THROTTLE": 100.0 * throttle, "PTCH_TRIM_DEG": pitch_deg,
            "TECS_CLMB_MAX": climb, "TECS_SINK_MIN": sink, "TECS_SINK_MAX": _TIMES_SINK * sink,
        },
    }  # fmt: skip
    return {name: round(value, 3) for name, value in found[kind].items()}
