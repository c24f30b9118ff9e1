"""What ArduPilot is told at one tick, of what flies and of boats.

Frames: world NED from the scenario's reference point, body FRD.
Verified by: tests/consistency/test_links.py
"""

from __future__ import annotations

import math
from typing import Any

from fieldworthy.core.constants import SEA_LEVEL_DENSITY_KG_M3, STANDARD_GRAVITY_M_S2
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.vec import Quat, Vec3, quat_conjugate, quat_from_euler_zyx, quat_multiply, rotate_inverse
from fieldworthy.environment.atmosphere import isa
from fieldworthy.links.ardupilot_json import Battery, Extras, JsonVersion, encode_state, fields_of
from fieldworthy.scenario.schema import Scenario
from fieldworthy.world.one_trial import OneTrial


def stamp_s(t_s: float) -> float:
    """Time as ArduPilot is told it: whole microseconds, and a ten-millionth more.

    ArduPilot adds the difference of two stamps to a clock of whole microseconds and drops the rest. Differences of
    plain times lie as often a hair below the microsecond as above, and its clock would fall behind ours: 4e-5 of the
    time at 800 Hz, 4e-4 at 1200 Hz.
    """
    return round(t_s * 1e6) * (1e-6 * (1.0 + 1e-7))


def check_ardupilot(scenario: Scenario) -> None:
    """Whether ArduPilot can be told of a vehicle of this scenario.

    Raises: FieldworthyError for what flies without inertial unit; a boat's is made from its motion.
    """
    if scenario.vehicle.kind != "boat" and scenario.sensors.imu is None:
        raise FieldworthyError(
            f"{scenario.name} has no inertial unit, and ArduPilot needs one; valid: a table [sensors.imu]"
        )


class FlightSenses:
    """Replies of what flies: its inertial unit as it reads, its true motion, and devices that are asked for.

    Equation: `airspeed` = true airspeed = calibrated airspeed * sqrt(sea-level density / density of the air).
    Source: SIM_JSON.cpp takes `airspeed` for its pitot tube's speed as it comes, and AP_HAL_SITL/sitl_airspeed.cpp
        divides that by EAS2TAS, which gives the calibrated speed again: read in 4.5 (commit 7dc5da1247 of 2022-05, with
        a density of its own for 25 degC, 1.7 % low), in 4.6 and master from 2024-04 (b4ebae5e1b, standard atmosphere)
        to 2025-12. So it is the same in all of `JsonVersion`.
    Limits: master with pull request 33713 (July 2026) no longer divides: its airspeed reads too high there by the root
        of the density ratio, 2.4 % at 488 m.
    Verified by: tests/consistency/test_links.py
    """

    def __init__(self, vehicle: OneTrial, scenario: Scenario, version: JsonVersion = "4.5") -> None:
        check_ardupilot(scenario)
        where = vehicle.place
        self._vehicle, self._version, self._known = vehicle, version, fields_of(version)
        self._elevation_m = scenario.air.elevation_m
        self._imu = [
            where[f"imu.{of.format(axis)}"] for of in ("rate_{}_rad_s", "specific_force_{}_m_s2") for axis in "xyz"
        ]
        names = ("north_m", "east_m", "up_m", "north_m_s", "east_m_s", "up_m_s", "roll_rad", "pitch_rad", "heading_rad")
        self._motion = [where[name] for name in names]
        self._finder, self._pitot = "rangefinder.stamp_s" in where, "airspeed.stamp_s" in where
        self._told = self._finder or self._pitot or "battery" in self._known

    def line(self) -> bytes:
        """The reply at the vehicle's tick.

        Raises: FieldworthyError where a number is not finite.
        """
        vehicle = self._vehicle
        numbers = vehicle.numbers
        p, q, r, fx, fy, fz = [numbers[i] for i in self._imu]
        north, east, up, north_s, east_s, up_s, roll, pitch, yaw = [numbers[i] for i in self._motion]
        return encode_state(
            time_s=stamp_s(vehicle.t_s), rate_frd_rad_s=(p, q, r), specific_force_frd_m_s2=(fx, fy, fz),
            pos_ned_m=(north, east, -up), vel_ned_m_s=(north_s, east_s, -up_s),
            quat_ned_from_frd=quat_from_euler_zyx(roll, pitch, yaw),
            extras=self._extras() if self._told else None, version=self._version,
        )  # fmt: skip

    def _extras(self) -> Extras:
        value = self._vehicle.value
        told: dict[str, Any] = {}
        if self._finder and not math.isnan(value("rangefinder.stamp_s")):
            told["rng_m"] = (value("rangefinder.range_m"),)
        if self._pitot and not math.isnan(value("airspeed.stamp_s")):
            density = isa(self._elevation_m + value("up_m")).density_kg_m3
            calibrated = value("airspeed.airspeed_m_s")
            told["airspeed_m_s"] = calibrated * math.sqrt(SEA_LEVEL_DENSITY_KG_M3 / density)
        if "battery" in self._known:
            told["battery"] = Battery(value("voltage_v"), value("current_a"))
        if "wind_ned_m_s" in self._known:
            told["wind_ned_m_s"] = (value("wind_north_m_s"), value("wind_east_m_s"), -value("wind_up_m_s"))
        return Extras(**told)


class BoatSenses:
    """Replies of a boat, which has no inertial unit in the catalogue: a perfect one, made from its motion.

    Equation: gyro = rotation from the attitude before over dt; specific force = R^T ((v - v before)/dt - g): what
        integrates back to the motion.
    Source: strapdown equations, rectangular rule.
    Frames: world NED, body FRD.
    Limits: no noise, no bias, no lever arm; means over a step, the forces half a step behind the rates; speed in the
        first step counts as there before, so that what starts moving feels no blow. `line` is called once a step.
    Verified by: tests/verification/test_boat_senses.py
    """

    def __init__(self, vehicle: OneTrial) -> None:
        self._vehicle = vehicle
        self._before = self._motion()
        self._speed: Vec3 | None = None

    def line(self) -> bytes:
        """The reply at the vehicle's tick."""
        vehicle = self._vehicle
        dt_s = vehicle.world.timing.control * vehicle.world.timing.dt_s
        (was, turned), (place, quat) = self._before, self._motion()
        self._before = place, quat
        speed = Vec3(*((b - a) / dt_s for a, b in zip(was, place, strict=True)))
        before = speed if self._speed is None else self._speed
        self._speed = speed
        change = quat_multiply(quat_conjugate(turned), quat)
        sign = math.copysign(2.0 / dt_s, change.w)
        gained = Vec3(*((b - a) / dt_s for a, b in zip(before, speed, strict=True)))
        force = rotate_inverse(quat, gained - Vec3(0.0, 0.0, STANDARD_GRAVITY_M_S2))
        return encode_state(
            time_s=stamp_s(vehicle.t_s), rate_frd_rad_s=(sign * change.x, sign * change.y, sign * change.z),
            specific_force_frd_m_s2=force, pos_ned_m=place, vel_ned_m_s=speed, quat_ned_from_frd=quat,
        )  # fmt: skip

    def _motion(self) -> tuple[Vec3, Quat]:
        value = self._vehicle.value
        place = Vec3(value("north_m"), value("east_m"), -value("up_m"))
        return place, quat_from_euler_zyx(value("roll_rad"), value("pitch_rad"), value("heading_rad"))
