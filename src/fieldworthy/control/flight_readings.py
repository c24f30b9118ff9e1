"""What a controller of a flying robot knows at its tick."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fieldworthy.control.setpoint import HOVER, Setpoint
from fieldworthy.sensors.scan import Scan, ScanArrays
from fieldworthy.sensors.sensor import Delivered


@dataclass
class FlightReadings:
    """Arrays (trials,) unless said otherwise; NED, heights positive up, headings clockwise from north.

    Position, velocity and attitude are those that the autopilot flies by: the truth, or its own estimate.
    """

    t_s: Any
    """Time since the start of the trial, one number."""
    period_s: Any
    """Time to the next call, one number."""
    trial: Any
    north_m: Any
    east_m: Any
    up_m: Any
    north_m_s: Any
    east_m_s: Any
    up_m_s: Any
    roll_rad: Any
    pitch_rad: Any
    heading_rad: Any
    """In (-pi, pi]."""
    roll_rate_rad_s: Any
    """Turn rates about the body's forward, right and down."""
    pitch_rate_rad_s: Any
    yaw_rate_rad_s: Any
    airspeed_m_s: Any
    target: Any
    """Number of the waypoint being headed for, 0 first."""
    target_north_m: Any
    target_east_m: Any
    target_up_m: Any
    target_speed_m_s: Any
    """Speed on the way to it; 0: the vehicle's own limit when hovering, its cruise airspeed on wings."""
    target_heading_rad: Any
    """NaN: any."""
    target_way: Any
    """`control.setpoint.HOVER` or `WING`."""
    from_north_m: Any
    """The waypoint before, or the start."""
    from_east_m: Any
    from_up_m: Any
    scan: Scan | ScanArrays | None = None
    sensors: dict[str, Delivered] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)


@dataclass
class FlightCommand(Setpoint):
    """A setpoint as a controller gives it: arrays (trials,) or plain numbers; only the place is needed."""

    north_m_s: Any = 0.0
    east_m_s: Any = 0.0
    up_m_s: Any = 0.0
    heading_rad: Any = 0.0
    airspeed_m_s: Any = 0.0
    """0: the cruise airspeed."""
    from_north_m: Any = 0.0
    from_east_m: Any = 0.0
    speed_max_m_s: Any = 0.0
    way: Any = HOVER
    mode: Any = 0
    """A small whole number for plots."""
    memory: dict[str, Any] = field(default_factory=dict)
    """New values of what the controller keeps; names left out keep their values."""
