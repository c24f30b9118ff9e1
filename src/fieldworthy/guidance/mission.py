"""Fly the waypoints: along the line from the last to the next, hovering or on wings, nose where the mission says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from fieldworthy.control.controller import Parameters
from fieldworthy.control.flight_readings import FlightCommand, FlightReadings
from fieldworthy.control.position import approach_speed_per_m
from fieldworthy.control.setpoint import WING
from fieldworthy.core.lanes import (
    Scalar,
    atan2,
    clip,
    is_finite,
    logical_and,
    logical_not,
    logical_or,
    minimum,
    select,
    sqrt,
)
from fieldworthy.core.units import rad_from_deg, wrap_pi

Positive = Annotated[float, Meta(gt=0)]
NonNegative = Annotated[float, Meta(ge=0)]

_COURSE_M = 0.5
"""A leg with less than this from end to end over ground has no course to point the nose along."""
_LANDING_M = 2.0
"""The final descent begins within this of the place."""


class MissionParameters(Parameters):
    """Numbers of the rule."""

    speed_m_s: NonNegative = 0.0
    """Speed along hovered legs whose waypoint names none; 0: go to the waypoint at the vehicle's own limit."""
    brake_m_s2: Positive = 1.5
    """Deceleration towards the end of a hovered leg."""
    approach_gain_1_s: Positive = 0.8
    """Speed per distance left, close to the end of a hovered leg."""
    turn_rate_deg_s: Positive = 60.0
    """Fastest turn of the nose asked for when hovering."""
    landing_speed_m_s: Positive = 0.5
    """Descent on to a target on the ground, from `landing_height_m` above it until the autopilot feels the ground."""
    landing_height_m: Positive = 3.0


@dataclass
class Leg:
    """Where a hovered leg asks to be, and how to move there."""

    north_m: Scalar
    east_m: Scalar
    up_m: Scalar
    north_m_s: Scalar
    east_m_s: Scalar
    up_m_s: Scalar


def follow_leg(readings: FlightReadings, speed_m_s: Scalar, gain_1_s: Scalar, brake_m_s2: Scalar) -> Leg:
    """The point of the leg nearest to the vehicle, and the velocity along it that stops at the target.

    Equation: s = clip((x - a) . t, 0, L);  point = a + s t;  velocity = t min(v, (L - s) `approach_speed_per_m`(L - s))
    Frames: north, east, up.      Shapes: scalars.
    Limits: a leg without length asks for its target, at rest.
    Verified by: tests/verification/test_mission.py
    """
    r = readings
    n, e, u = r.target_north_m - r.from_north_m, r.target_east_m - r.from_east_m, r.target_up_m - r.from_up_m
    length = sqrt(n * n + e * e + u * u + 1e-12)
    n, e, u = n / length, e / length, u / length
    along = (r.north_m - r.from_north_m) * n + (r.east_m - r.from_east_m) * e + (r.up_m - r.from_up_m) * u
    left = length - clip(along, 0.0, length)
    speed = minimum(speed_m_s, left * approach_speed_per_m(left, gain_1_s, brake_m_s2))
    return Leg(
        r.target_north_m - left * n,
        r.target_east_m - left * e,
        r.target_up_m - left * u,
        speed * n,
        speed * e,
        speed * u,
    )


class Mission:
    """The rule as a controller of a flying robot."""

    reads_deg: ClassVar[None] = None
    arrays: ClassVar[Literal["lanes"]] = "lanes"
    Parameters = MissionParameters
    memory: ClassVar[dict[str, float]] = {"nose_rad": 0.0, "started": 0.0}

    def command(self, readings: FlightReadings, parameters: Any) -> FlightCommand:
        """Hovering: along the leg, or straight to the target where no speed is given. On wings: the line and height.

        A target at height 0 is landed on. The nose turns to the waypoint's heading, else along the leg, else stays;
        `mode` is the way to fly.
        """
        r, p = readings, parameters
        wing = r.target_way == WING
        speed = select(r.target_speed_m_s > 0.0, r.target_speed_m_s, p.speed_m_s)
        leg = follow_leg(r, speed, p.approach_gain_1_s, p.brake_m_s2)
        straight = logical_or(wing, speed <= 0.0)
        lands = logical_and(self._lands(r, p), logical_not(wing))
        nose = self._nose(r, p)
        return FlightCommand(
            north_m=select(straight, r.target_north_m, leg.north_m),
            east_m=select(straight, r.target_east_m, leg.east_m),
            up_m=select(lands, r.up_m, select(straight, r.target_up_m, leg.up_m)),
            north_m_s=select(straight, 0.0, leg.north_m_s),
            east_m_s=select(straight, 0.0, leg.east_m_s),
            up_m_s=select(lands, -p.landing_speed_m_s, select(straight, 0.0, leg.up_m_s)),
            heading_rad=nose,
            airspeed_m_s=select(wing, r.target_speed_m_s, 0.0),
            from_north_m=r.from_north_m,
            from_east_m=r.from_east_m,
            speed_max_m_s=select(wing, 0.0, speed),
            way=r.target_way,
            mode=r.target_way,
            memory={"nose_rad": nose, "started": r.north_m * 0.0 + 1.0},
        )

    @staticmethod
    def _lands(r: FlightReadings, p: Any) -> Scalar:
        """Whether it is above a target on the ground, low enough to feel its way down."""
        north, east = r.target_north_m - r.north_m, r.target_east_m - r.east_m
        above = north * north + east * east < _LANDING_M * _LANDING_M
        return logical_and(logical_and(r.target_up_m <= 0.0, r.up_m < p.landing_height_m), above)

    @staticmethod
    def _nose(r: FlightReadings, p: Any) -> Scalar:
        """Heading asked for: slewed at no more than the given rate from the last one asked for."""
        north, east = r.target_north_m - r.from_north_m, r.target_east_m - r.from_east_m
        # On wings the nose goes where it goes; hovering starts from there.
        asked_before = logical_and(r.memory["started"] > 0.5, logical_not(r.target_way == WING))
        last = select(asked_before, r.memory["nose_rad"], r.heading_rad)
        has_course = north * north + east * east > _COURSE_M * _COURSE_M
        course = select(has_course, atan2(east, select(has_course, north, 1.0)), last)
        given = is_finite(r.target_heading_rad)
        wanted = select(given, select(given, r.target_heading_rad, 0.0), course)
        most = rad_from_deg(p.turn_rate_deg_s) * r.period_s
        return wrap_pi(last + clip(wrap_pi(wanted - last), -most, most))
