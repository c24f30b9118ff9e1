"""Which rays a scanning LiDAR fires in one sweep, and when: plain numbers, fixed while a simulation runs.

A firing is one column of rays: all lasers once. Frames: azimuth clockwise from forward seen from above (FRD, so to
starboard is positive), elevation up. Sweeps start and end astern, so that the seam is where it matters least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

MOST_CHANNELS = 128
"""Rays in a column: every one is compiled into the kernels. The largest spinning devices have 128."""

MOST_COLUMNS = 20_000
"""Columns a turn. Beyond 24,000 a controller's sums over them are cut into other blocks alone than in a batch, and
replay would not agree to the last bit."""


@dataclass(frozen=True)
class ScanPattern:
    """One sweep: `firings` columns of `len(elevation_rad)` rays."""

    kind: Literal["uniform", "firing"]
    period_s: float
    """Duration of a sweep (one turn)."""
    firings: int
    """Columns a sweep can have; devices whose firings do not fit a turn exactly have one less in some sweeps."""
    firing_period_s: float
    elevation_rad: tuple[float, ...]
    """Elevation of each laser, in firing order."""
    laser_delay_s: tuple[float, ...]
    """Time of each laser after its firing began."""
    first: int = 0
    """First column cast."""
    columns: int = 0
    """Columns cast, from `first` on."""
    yaw_rad: float = 0.0
    """Azimuth in the vehicle's axes of the head's forward, as its mount is meant to be."""

    @property
    def channels(self) -> int:
        """Rays in a column."""
        return len(self.elevation_rad)

    @property
    def rays(self) -> int:
        """Rays cast a sweep."""
        return self.columns * self.channels

    @property
    def spin_rad_s(self) -> float:
        """Rate of turn of the head."""
        return 2.0 * math.pi / self.period_s


def uniform_pattern(
    rate_hz: float,
    elevation_min_deg: float,
    elevation_max_deg: float,
    elevation_step_deg: float,
    azimuth_step_deg: float,
) -> ScanPattern:
    """A uniform grid: rows from the lowest elevation up, columns a full turn, all rays of a column at once.

    Equation: N_rays = (range_v / step_v) * (360 / step_h), where -15 to 15 deg in 16 rows has a step of 2 deg and
        both ends included: rows = round(range_v / step_v) + 1.      Source: seed A, equation (1)
    """
    rows = round((elevation_max_deg - elevation_min_deg) / elevation_step_deg) + 1 if elevation_step_deg else 1
    columns = round(360.0 / azimuth_step_deg)
    elevations = tuple(math.radians(elevation_min_deg + i * elevation_step_deg) for i in range(rows))
    period = 1.0 / rate_hz
    return ScanPattern(
        "uniform", period, columns, period / columns, elevations, (0.0,) * rows, first=0, columns=columns
    )


def firing_pattern(
    rate_hz: float, laser_elevation_deg: tuple[float, ...], firing_period_s: float, laser_spacing_s: float
) -> ScanPattern:
    """A real spinning device: lasers one after another, firings at a fixed period whatever the head does.

    Source: VLP-16 User Manual 63-9243, timing tables: t = 55.296 us * firing + 2.304 us * laser.
    """
    period = 1.0 / rate_hz
    firings = math.ceil(period / firing_period_s - 1e-9)
    delays = tuple(laser_spacing_s * i for i in range(len(laser_elevation_deg)))
    return ScanPattern(
        "firing",
        period,
        firings,
        firing_period_s,
        tuple(math.radians(e) for e in laser_elevation_deg),
        delays,
        first=0,
        columns=firings,
    )


def restricted(pattern: ScanPattern, sector_rad: tuple[float, float]) -> ScanPattern:
    """The columns that can hold rays of a sector of azimuths (low, high), -pi <= low < high <= pi.

    One column more at either end, because firings of a real device drift by up to one column from sweep to sweep.
    """
    step = pattern.spin_rad_s * pattern.firing_period_s
    low, high = ((angle + math.pi) / step for angle in sector_rad)
    first = max(0, math.floor(low) - 1)
    last = min(pattern.firings - 1, math.ceil(high) + 1)
    return replace(pattern, first=first, columns=last - first + 1)


def azimuth_rad(pattern: ScanPattern, firing: Any, later_s: Any) -> Any:
    """Azimuth of firing `firing` (a floating-point number, lanes or NumPy), `later_s` after its place in the pattern.

    Equation: a = spin t - pi, reckoned from the middle of the sweep: columns as far to port as others to starboard get
        the same angle to the last bit, so that rules which compare the sides have no favourite.
    """
    middle, step = pattern.firings // 2, pattern.spin_rad_s * pattern.firing_period_s
    offset = middle * step - math.pi
    return (firing - middle) * step + (later_s * pattern.spin_rad_s + (offset if abs(offset) > 1e-9 else 0.0))


def first_firing(pattern: ScanPattern, sweep: int) -> tuple[float, int]:
    """When the first firing of a sweep comes after the sweep's start [s], and how many firings it has.

    Counted in whole nanoseconds from time 0, so that an hour of sweeps keeps its phase.
    """
    if pattern.kind == "uniform":
        return 0.0, pattern.firings
    firing_ns, turn_ns = round(pattern.firing_period_s * 1e9), round(pattern.period_s * 1e9)
    start, end = sweep * turn_ns, (sweep + 1) * turn_ns
    number, following = -(-start // firing_ns), -(-end // firing_ns)
    return (number * firing_ns - start) * 1e-9, following - number
