"""The contract between a world and whoever steers in it: one method on a batch of readings.

A controller is a class with

    reads_deg = (-35.0, 35.0)      # azimuths of the LiDAR that it looks at; None: no LiDAR
    arrays = "numpy"               # or "lanes": Dr.Jit arrays, the method is compiled
    Parameters = MyParameters      # optional subclass of fieldworthy.Parameters: what [control.parameters] may say
    memory = {"timer_s": 0.0}      # optional: numbers kept per trial from call to call, with their first values

    def __init__(self, parameters: MyParameters) -> None: ...   # optional: to derive `reads_deg` from parameters

    def command(self, readings: Readings, parameters: MyParameters) -> Command: ...

Every array has one entry a trial. Trials that have ended stay in the batch until it is thinned, their answers ignored.
So its length shrinks during a run: keep what must last in `memory`, which follows its trial.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import msgspec

from fieldworthy.core.lanes import Scalar
from fieldworthy.sensors.scan import Scan, ScanArrays
from fieldworthy.sensors.sensor import Delivered


class Parameters(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Base of a controller's own parameters: fields with types and defaults, checked like the rest of the scenario.

    Numbers may be swept and may differ per trial; then the method gets arrays in their place.
    """


@dataclass
class Readings:
    """What a controller knows at its tick. Arrays (trials,) unless said otherwise; NED, headings clockwise from north.

    Position, heading and speeds are the true ones (navigation is taken as perfect in this tier).
    """

    t_s: Any
    """Time since the start of the trial, one number."""
    period_s: Any
    """Time to the next call, one number."""
    trial: Any
    """Number of each trial in the campaign."""
    north_m: Any
    east_m: Any
    heading_rad: Any
    """Not wrapped: it counts turns."""
    surge_m_s: Any
    sway_m_s: Any
    yaw_rate_rad_s: Any
    target_north_m: Any
    """The waypoint or goal to go to."""
    target_east_m: Any
    scan: Scan | ScanArrays | None
    """The newest LiDAR sweep delivered, or None for a controller that reads none."""
    sensors: dict[str, Delivered] = field(default_factory=dict)
    """Newest readings of the user's own sensors, by name; NumPy controllers only. None has come before its latency."""
    memory: dict[str, Any] = field(default_factory=dict)


@dataclass
class Command:
    """What a controller asks for. Arrays (trials,) or plain numbers."""

    surge_m_s: Scalar
    yaw_rate_rad_s: Scalar
    """Positive to starboard."""
    mode: Any = 0
    """A small whole number for plots: 0 on course, anything else of your own."""
    memory: dict[str, Any] = field(default_factory=dict)
    """New values of what the controller keeps; names left out keep their values."""


class Controller(Protocol):
    """What a world needs of a controller; a class needs not inherit from it."""

    reads_deg: ClassVar[tuple[float, float] | None]
    arrays: ClassVar[Literal["numpy", "lanes"]]

    def command(self, readings: Readings, parameters: Any) -> Command:
        """The command for the time until the next call."""
        ...
