"""One LiDAR sweep as controllers see it, in lanes and in NumPy.

Frames: azimuth clockwise from the sensor's forward, elevation up. A ray without a return reads `range_max_m`
(no_hit "max") or infinity (no_hit "omit").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import Engine
from fieldworthy.core.units import wrap_pi
from fieldworthy.sensors.scan_pattern import ScanPattern, azimuth_rad


@dataclass
class Scan:
    """A sweep in lanes: one array a channel, each (trials * columns), the columns of a trial side by side."""

    range_m: tuple[Any, ...]
    index: Any
    """UInt32 (trials * columns): 0, 1, …"""
    firing_shift_s: Any
    """First firing after the sweep's start, one number."""
    start_s: Any
    """Time of the sweep's start, one number."""
    pattern: ScanPattern

    def azimuth_rad(self, channel: int) -> Any:
        """Azimuth of every ray of a channel, in the lanes of `range_m`."""
        float_type = type(self.range_m[0])
        pattern = self.pattern
        firing = pattern.first + self.index % pattern.columns
        return azimuth_rad(pattern, float_type(firing), self.firing_shift_s + pattern.laser_delay_s[channel])

    def bearing_rad(self, channel: int) -> Any:
        """Azimuth of every ray of a channel in the vehicle's axes: from the bow, to starboard positive.

        Limits: for a mount without roll and pitch; a mount that is off its nominal yaw is not known of here.
        """
        azimuth = self.azimuth_rad(channel)
        return wrap_pi(azimuth + self.pattern.yaw_rad) if self.pattern.yaw_rad else azimuth

    def reduce(self, operation: Any, values: Any) -> Any:
        """One value a trial from one value a column: operation is dr.ReduceOp.Min, Max or Add."""
        import drjit as dr

        return dr.block_reduce(operation, values, self.pattern.columns)

    def fold(self, initial: tuple[Any, ...], visit: Callable[[int, Any, tuple[Any, ...]], tuple[Any, ...]]) -> Any:
        """Run values = visit(channel, range_m, values) over the channels of every column."""
        values = initial
        for channel, range_m in enumerate(self.range_m):
            values = visit(channel, range_m, values)
        return values


@dataclass(frozen=True)
class ScanArrays:
    """A sweep in NumPy."""

    range_m: NDArray[Any]
    """(trials, columns, channels)"""
    azimuth_rad: NDArray[Any]
    """(columns, channels), in the sensor's axes."""
    elevation_rad: NDArray[Any]
    """(channels,)"""
    time_s: NDArray[Any]
    """(columns, channels): when each ray was fired, from the sweep's start."""
    start_s: float
    yaw_rad: float = 0.0
    """Nominal yaw of the mount."""

    @property
    def bearing_rad(self) -> NDArray[Any]:
        """(columns, channels): azimuths in the vehicle's axes, from the bow, to starboard positive."""
        if not self.yaw_rad:
            return self.azimuth_rad
        return np.remainder(self.azimuth_rad + self.yaw_rad + math.pi, 2.0 * math.pi) - math.pi


def to_numpy(scan: Scan) -> ScanArrays:
    """The sweep as NumPy arrays."""
    pattern = scan.pattern
    ranges = np.stack([np.asarray(channel) for channel in scan.range_m], axis=-1)
    firing = pattern.first + np.arange(pattern.columns)
    later_s = float(np.asarray(scan.firing_shift_s)[0]) + np.asarray(pattern.laser_delay_s)[None, :]
    return ScanArrays(
        range_m=ranges.reshape(-1, pattern.columns, pattern.channels),
        azimuth_rad=azimuth_rad(pattern, firing[:, None].astype(np.float64), later_s),
        elevation_rad=np.asarray(pattern.elevation_rad),
        time_s=firing[:, None] * pattern.firing_period_s + later_s,
        start_s=float(np.asarray(scan.start_s)[0]),
        yaw_rad=pattern.yaw_rad,
    )


def thinned(engine: Engine, scan: Scan, lanes: NDArray[np.intp]) -> Scan:
    """The sweep of the given lanes only."""
    import drjit as dr

    columns = scan.pattern.columns
    rays = engine.integers(lanes[:, None] * columns + np.arange(columns)[None, :])
    ranges = tuple(dr.gather(type(channel), channel, rays) for channel in scan.range_m)
    dr.eval(ranges)
    return replace(scan, range_m=ranges, index=engine.indices(len(lanes) * columns))
