"""What records and controllers see of a flying robot, and when it counts as crashed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from fieldworthy.control.complementary import estimate
from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.core.constants import NEVER_S
from fieldworthy.core.lanes import Scalar, logical_and, maximum, select, sqrt
from fieldworthy.core.struct import children, map_leaves
from fieldworthy.core.vec import Quat, Vec3, dot, euler_zyx_from_quat, rotate
from fieldworthy.world.flight_state import CRASHES, FlightParameters, FlightShape, FlightState

_ON_ITS_SIDE = 0.5
"""Cosine of the lean beyond which a vehicle near the ground has tipped over."""

_PRESSED_DOWN = 0.4
"""Share of its reach at which the middle of the vehicle has gone through its landing gear."""


def watched(shape: FlightShape, p: FlightParameters, state: FlightState) -> FlightState:
    """The state with its crash told, if it has just crashed.

    Rule: descent faster than `crash_speed_m_s` while the gear touches; lean beyond 60 deg where a side can touch; the
        middle pressed to under 0.4 of its reach. Without gear the ground itself breaks it.
        On the rail of a catapult nothing breaks.
    Limits: level ground; a blade that touches it upright is not seen.
    """
    body = state.motion.body
    up, sinking = -body.pos_ned_m.z, body.vel_ned_m_s.z
    upright = -rotate(body.quat_ned_from_frd, Vec3(0.0, 0.0, -1.0)).z
    touches = up <= p.reach_down_m
    hard = logical_and(touches, sinking > p.crash_speed_m_s) if shape.aircraft.gear else touches
    side = logical_and(upright < _ON_ITS_SIDE, up <= maximum(p.reach_down_m, p.reach_side_m))
    crash = select(up < _PRESSED_DOWN * p.reach_down_m, 3.0, 0.0)
    crash = select(side, 2.0, crash)
    crash = select(hard, 1.0, crash)
    if state.catapult is not None:
        crash = select(state.catapult.free > 0.5, crash, 0.0 * crash)
    speed = sqrt(dot(body.vel_ned_m_s, body.vel_ned_m_s) + 1e-12)
    return replace(state, crash=crash, impact_m_s=select(crash > 0.5, speed, 0.0))


def observe(shape: FlightShape, state: FlightState) -> dict[str, Scalar]:
    """Motion, air, actuators, supply and belief, by name."""
    body, motion = state.motion.body, state.motion
    _, _, heading = euler_zyx_from_quat(body.quat_ned_from_frd)
    found = {
        "north_m": body.pos_ned_m.x,
        "east_m": body.pos_ned_m.y,
        "north_m_s": body.vel_ned_m_s.x,
        "east_m_s": body.vel_ned_m_s.y,
        "up_m_s": -body.vel_ned_m_s.z,
        "heading_rad": heading,
        "roll_rate_rad_s": body.rate_frd_rad_s.x,
        "pitch_rate_rad_s": body.rate_frd_rad_s.y,
        "yaw_rate_rad_s": body.rate_frd_rad_s.z,
        "airspeed_m_s": state.airspeed_m_s,
        "wind_north_m_s": state.wind_ned_m_s.x,
        "wind_east_m_s": state.wind_ned_m_s.y,
        "wind_up_m_s": -state.wind_ned_m_s.z,
        "margin": state.margin,
        "margin_least": state.margin_least,
        "voltage_v": state.voltage_v,
        "current_a": state.current_a,
        "crash": state.crash,
        "impact_m_s": state.impact_m_s,
    }
    found["energy_j"] = motion.battery.energy_j if motion.battery is not None else state.energy_j
    for i, (speed, throttle) in enumerate(zip(motion.rotor_speed_rad_s, state.actuators.throttle, strict=True)):
        found[f"rotor_{i}_rad_s"], found[f"throttle_{i}"] = speed, throttle
    if state.convection_m_s is not None:
        found["convection_m_s"] = state.convection_m_s
    if motion.surfaces is not None:
        found["aileron_rad"] = motion.surfaces.aileron_rad
        found["elevator_rad"] = motion.surfaces.elevator_rad
        found["rudder_rad"] = motion.surfaces.rudder_rad
    if motion.battery is not None:
        found["charge"] = motion.battery.soc
        found["battery_low_s"] = select(state.low_s < NEVER_S, state.low_s, math.nan)
        found["battery_dead"] = state.dead
    if motion.load is not None:
        found["load_north_m"] = motion.load.pos_ned_m.x
        found["load_east_m"] = motion.load.pos_ned_m.y
        found["load_up_m"] = -motion.load.pos_ned_m.z
    if shape.estimated:
        believed = believed_of(state)
        found["believed_north_m"] = believed.pos_ned_m.x
        found["believed_east_m"] = believed.pos_ned_m.y
        found["believed_up_m"] = -believed.pos_ned_m.z
        roll, pitch, turned = euler_zyx_from_quat(believed.quat_ned_from_frd)
        found["believed_roll_rad"], found["believed_pitch_rad"], found["believed_heading_rad"] = roll, pitch, turned
    return found


def believed_of(state: FlightState) -> Estimate:
    """The motion as the autopilot believes it: the filter's, or the truth."""
    if state.filter is not None:
        return estimate(state.filter)
    body = state.motion.body
    return Estimate(body.pos_ned_m, body.vel_ned_m_s, body.quat_ned_from_frd, body.rate_frd_rad_s, state.airspeed_m_s)


def read(state: FlightState) -> dict[str, Any]:
    """What controllers see: the motion as the autopilot believes it."""
    e = believed_of(state)
    roll, pitch, heading = euler_zyx_from_quat(e.quat_ned_from_frd)
    return {
        "north_m": e.pos_ned_m.x,
        "east_m": e.pos_ned_m.y,
        "up_m": -e.pos_ned_m.z,
        "north_m_s": e.vel_ned_m_s.x,
        "east_m_s": e.vel_ned_m_s.y,
        "up_m_s": -e.vel_ned_m_s.z,
        "roll_rad": roll,
        "pitch_rad": pitch,
        "heading_rad": heading,
        "roll_rate_rad_s": e.rate_frd_rad_s.x,
        "pitch_rate_rad_s": e.rate_frd_rad_s.y,
        "yaw_rate_rad_s": e.rate_frd_rad_s.z,
        "airspeed_m_s": e.airspeed_m_s,
    }


def tell(state: FlightState) -> dict[str, dict[str, Scalar]]:
    """Newest readings that have arrived, by device; names end with the unit, x, y, z are the body's axes.

    Of the inertial unit: the mean since the last command began. NaN until something has arrived.
    """
    found: dict[str, dict[str, Scalar]] = {}
    if state.imu is not None:
        mean = map_leaves(lambda leaf: leaf / maximum(state.inertial_count, 1.0), state.inertial_sum)
        found["imu"] = {"stamp_s": state.inertial_stamp_s, **_named(mean)}
    for name, device in state.devices.items():
        mailbox = device.mailbox
        # Of two plain numbers a choice would be made in 32 bits: what is missing is NaN in the type of the lanes.
        missing = math.nan * mailbox.newest.stamp_s
        values = {"stamp_s": mailbox.newest.stamp_s, **_named(mailbox.newest.value, missing)}
        found[name] = {key: select(mailbox.arrived > 0.5, value, math.nan) for key, value in values.items()}
    return found


def _named(reading: Any, missing: Scalar = math.nan) -> dict[str, Scalar]:
    """The numbers of a reading by flat names: `pos_ned_m.x` is north_m, `field_frd_t.x` is field_x_t.

    missing: for a vector of the body's axes that the device has none of.
    """
    flat: dict[str, Scalar] = {}
    for name, value in children(reading) or []:
        if isinstance(value, Quat):
            flat.update({f"quat_{part}": getattr(value, part) for part in "wxyz"})
        elif value is None:
            stem, unit = name.split("_frd_")
            flat.update({f"{stem}_{axis}_{unit}": missing for axis in "xyz"})
        elif not isinstance(value, Vec3):
            flat[name] = value
        elif name == "pos_ned_m":
            flat.update(north_m=value.x, east_m=value.y, up_m=-value.z)
        elif name == "vel_ned_m_s":
            flat.update(north_m_s=value.x, east_m_s=value.y, up_m_s=-value.z)
        else:
            stem, unit = name.split("_frd_")
            flat.update({f"{stem}_{axis}_{unit}": part for axis, part in zip("xyz", value, strict=True)})
    return flat


def crash_sentence(at: dict[str, float]) -> str:
    """Why a flight ended in a crash, from its last sample."""
    what = CRASHES[int(at.get("crash", 0.0))]
    return f"{what} at {at['impact_m_s']:.1f} m/s" if what else ""
