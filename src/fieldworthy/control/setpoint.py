"""What guidance asks of a flying robot's autopilot: where to be, how to move, and in which way to fly."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar

HOVER, WING = 0.0, 1.0
"""Ways to fly: held up by rotors, or by wings along the line from the last waypoint to the target."""


@dataclass
class Setpoint:
    """One number each, any engine; NED, heights positive up, headings clockwise from north.

    Hovering: go to the target point with the velocity as feedforward, nose at `heading_rad`. On wings: follow the line
    from (`from_north_m`, `from_east_m`) to the target at `up_m` and `airspeed_m_s`.
    """

    north_m: Scalar
    east_m: Scalar
    up_m: Scalar
    north_m_s: Scalar
    east_m_s: Scalar
    up_m_s: Scalar
    heading_rad: Scalar
    airspeed_m_s: Scalar
    from_north_m: Scalar
    from_east_m: Scalar
    speed_max_m_s: Scalar
    """Fastest way to the target when hovering; 0: the vehicle's own limit."""
    way: Scalar
    """HOVER or WING."""
