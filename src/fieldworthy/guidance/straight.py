"""Go straight for the target and look at nothing: the control group of every avoidance."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from fieldworthy.control.controller import Command, Parameters, Readings
from fieldworthy.core.lanes import Scalar, atan2, clip
from fieldworthy.core.units import wrap_pi

Positive = Annotated[float, Meta(gt=0)]
NonNegative = Annotated[float, Meta(ge=0)]


class StraightParameters(Parameters):
    """Numbers of the rule."""

    cruise_speed_m_s: Positive = 5.0
    course_gain_1_s: NonNegative = 0.8
    course_rate_max_deg_s: NonNegative = 15.0


def turn_to_target(readings: Readings, gain_1_s: Scalar, rate_max_deg_s: Scalar) -> Scalar:
    """Turn rate [rad/s, starboard positive] towards the target.

    Equation: r = clip(k wrap(bearing - heading), ±r_max)      Shapes: scalars
    """
    bearing = atan2(readings.target_east_m - readings.east_m, readings.target_north_m - readings.north_m)
    limit = math.pi / 180.0 * rate_max_deg_s
    return clip(gain_1_s * wrap_pi(bearing - readings.heading_rad), -limit, limit)


class Straight:
    """The rule as a controller."""

    reads_deg: ClassVar[None] = None
    arrays: ClassVar[Literal["lanes"]] = "lanes"
    Parameters = StraightParameters

    def command(self, readings: Readings, parameters: Any) -> Command:
        """Cruise towards the target."""
        turn = turn_to_target(readings, parameters.course_gain_1_s, parameters.course_rate_max_deg_s)
        return Command(parameters.cruise_speed_m_s, turn)
