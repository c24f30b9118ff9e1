"""The reactive avoidance of the LiDAR boat paper: look ahead, turn to the freer side, go back to the course.

Source: "Unity-Ros2 기반 무인보트 충돌 회피 시뮬레이터 개발" (a collision avoidance simulator for an
uncrewed boat), section 3.3; called seed A in this package.
Rule: of the points within ±beta of the bow take the least range r_front. Below the safe distance compare the left
(azimuth < 0) and the right half by mean range, or by how many points they hold, and turn to the freer one for a time,
turning before moving; with a preference for starboard if COLREGs are to be honoured. When nothing is ahead any more,
return to the course.
Known trouble, shown and not mended: it forgets what left the sector, turns back into it, and oscillates in narrows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from fieldworthy.control.controller import Command, Parameters, Readings
from fieldworthy.core.lanes import Scalar, logical_and, logical_not, logical_or, select
from fieldworthy.guidance.straight import NonNegative, Positive, turn_to_target
from fieldworthy.sensors.scan import Scan


class SectorParameters(Parameters):
    """Numbers of the rule; angles in degrees as in scenario files."""

    safe_distance_m: Positive = 12.0
    """r_front below this starts avoiding."""
    half_angle_deg: Annotated[float, Meta(gt=0, le=180)] = 35.0
    """beta: half width of the sector looked at."""
    cruise_speed_m_s: Positive = 5.0
    avoid_speed_m_s: NonNegative = 3.0
    """Speed while turning: the turn has priority."""
    turn_rate_deg_s: NonNegative = 25.0
    turn_time_s: NonNegative = 1.0
    """A turn once begun is held this long before sides are compared again."""
    course_gain_1_s: NonNegative = 0.8
    """Turn rate per heading error on the way back to the course."""
    course_rate_max_deg_s: NonNegative = 15.0
    compare: Literal["mean_range", "points"] = "mean_range"
    starboard_first: bool = False
    """COLREGs preference: to starboard unless port is freer by `starboard_margin`."""
    starboard_margin: NonNegative = 0.2
    ignore_below_m: float = -1000.0
    """Points lower than this above the water (by elevation and range, deck taken as level) are taken as sea and left
    out; set 0.3 or so where `sea_returns` is on. With no_hit "max" that leaves out downward rays without a return too.
    """
    sensor_up_m: float = 2.0
    """Height of the LiDAR above the water that `ignore_below_m` reckons with."""


@dataclass
class SectorView:
    """What the rule looks at: least range ahead [m], mean range [m] and number of points on either side."""

    front_m: Scalar
    left_mean_m: Scalar
    right_mean_m: Scalar
    left_points: Scalar
    right_points: Scalar


@dataclass
class SectorMemory:
    """A turn in progress: time left [s] and side (+1 starboard, -1 port)."""

    timer_s: Scalar
    side: Scalar


def sector_law(
    view: SectorView, back_rad_s: Scalar, memory: SectorMemory, period_s: Scalar, p: SectorParameters
) -> tuple[Scalar, Scalar, Scalar, SectorMemory]:
    """Speed [m/s], turn rate [rad/s, starboard positive], whether avoiding, and the new memory. Scalars.

    back_rad_s: turn rate that leads back to the course when nothing is ahead.
    Source: seed A, section 3.3. The tie (both sides the same) goes to starboard.
    """
    blocked = view.front_m < p.safe_distance_m
    # Turns are counted in whole periods; half a period of tolerance keeps 32-bit sums from adding one.
    turning = memory.timer_s > 0.5 * period_s
    if p.compare == "mean_range":
        left, right = view.left_mean_m, view.right_mean_m
    else:
        left, right = -view.left_points, -view.right_points
    if p.starboard_first:
        better = left - right
        to_port = better > p.starboard_margin * select(right < 0.0, -right, right)
    else:
        to_port = left > right
    deciding = logical_and(blocked, logical_not(turning))
    side = select(deciding, select(to_port, -1.0, 1.0), memory.side)
    timer = select(deciding, p.turn_time_s, memory.timer_s)
    avoiding = logical_or(deciding, turning)
    speed = select(avoiding, p.avoid_speed_m_s, p.cruise_speed_m_s)
    turn = select(avoiding, side * (math.pi / 180.0 * p.turn_rate_deg_s), back_rad_s)
    return speed, turn, avoiding, SectorMemory(select(avoiding, timer - period_s, 0.0), side)


class Sector:
    """The rule as a controller."""

    arrays: ClassVar[Literal["lanes"]] = "lanes"
    Parameters = SectorParameters
    memory: ClassVar[dict[str, float]] = {"timer_s": 0.0, "side": 1.0}

    def __init__(self, parameters: SectorParameters) -> None:
        self.reads_deg = (-parameters.half_angle_deg, parameters.half_angle_deg)

    def command(self, readings: Readings, parameters: SectorParameters) -> Command:
        """See `sector_law`."""
        assert isinstance(readings.scan, Scan)
        view = look(readings.scan, parameters)
        back = turn_to_target(readings, parameters.course_gain_1_s, parameters.course_rate_max_deg_s)
        memory = SectorMemory(readings.memory["timer_s"], readings.memory["side"])
        speed, turn, avoiding, memory = sector_law(view, back, memory, readings.period_s, parameters)
        mode = select(avoiding, select(memory.side > 0.0, 1.0, 2.0), 0.0)
        return Command(speed, turn, mode, {"timer_s": memory.timer_s, "side": memory.side})


def look(scan: Scan, p: SectorParameters) -> SectorView:
    """Least and mean ranges of the sector; a side without points is the freest there is: its mean range is infinite."""
    import drjit as dr

    float_type = type(scan.range_m[0])
    half = math.pi / 180.0 * p.half_angle_deg
    zero, far = float_type(0.0), float_type(math.inf)

    def visit(channel: int, range_m: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
        least, left, right, left_n, right_n = values
        azimuth = scan.bearing_rad(channel)
        sine = math.sin(scan.pattern.elevation_rad[channel])
        real = (range_m < math.inf) & (dr.abs(azimuth) <= half)
        if sine < 0.0:
            real &= p.sensor_up_m + range_m * sine >= p.ignore_below_m
        on_left, on_right = real & (azimuth < 0.0), real & (azimuth > 0.0)
        return (
            select(real, dr.minimum(least, range_m), least),
            left + select(on_left, range_m, 0.0),
            right + select(on_right, range_m, 0.0),
            left_n + select(on_left, 1.0, 0.0),
            right_n + select(on_right, 1.0, 0.0),
        )

    partial = scan.fold((far, zero, zero, zero, zero), visit)
    # Evaluated together: five reductions of an unevaluated walk would walk five times.
    dr.eval(partial)
    least, left, right, left_n, right_n = partial
    left_n, right_n = scan.reduce(dr.ReduceOp.Add, left_n), scan.reduce(dr.ReduceOp.Add, right_n)
    left, right = scan.reduce(dr.ReduceOp.Add, left), scan.reduce(dr.ReduceOp.Add, right)
    return SectorView(
        front_m=scan.reduce(dr.ReduceOp.Min, least),
        left_mean_m=select(left_n > 0.0, left / left_n, far),
        right_mean_m=select(right_n > 0.0, right / right_n, far),
        left_points=left_n,
        right_points=right_n,
    )
