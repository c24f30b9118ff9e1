"""What a LiDAR sees around a vehicle in the form that ArduPilot's avoidance takes: the nearest return of each sector.

Source: MAVLink OBSTACLE_DISTANCE (common.xml): up to 72 sectors clockwise from the bow.
Limits: seen from above. A ray without return is free up to the LiDAR's range. ArduPilot's own store has 8 sectors of
45 degrees, of 3 heights, into which it sorts these.
Verified by: tests/verification/test_obstacles.py
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fieldworthy.sensors.scan import ScanArrays

SECTORS = 72
SECTOR_RAD = 2.0 * math.pi / SECTORS


def sectors_m(scan: ScanArrays, range_max_m: float) -> NDArray[np.float64]:
    """Level distance to the nearest return in each sector, sector 0 being centred on the bow; infinite where free."""
    ranges = scan.range_m[0].astype(np.float64)
    level = ranges * np.cos(scan.elevation_rad)[None, :]
    hit = np.isfinite(ranges) & (ranges < range_max_m * (1.0 - 1e-6)) & (ranges > 0.0)
    sector = np.floor(scan.bearing_rad / SECTOR_RAD + 0.5).astype(np.int64) % SECTORS
    nearest = np.full(SECTORS, np.inf)
    np.minimum.at(nearest, sector[hit], level[hit])
    return nearest
