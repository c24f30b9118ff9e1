"""Where on Earth a link's world lies: autopilots think in latitude, longitude and height above the sea.

Frames: north and east [m] from the reference point, up-positive heights above the ground there; WGS 84, heights above
mean sea level taken as heights above the ellipsoid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fieldworthy.core.frames import meridian_radius_m, ne_from_lonlat, prime_vertical_radius_m
from fieldworthy.scenario.schema import Scenario

USUAL_LON_DEG, USUAL_LAT_DEG = 8.545594, 47.397742
"""Of scenarios without a reference: PX4's own home, the Irchel park in Zürich."""


_CLOSE_M = 1e-4


@dataclass(frozen=True)
class Place:
    """The point where north = east = up = 0."""

    lon_deg: float
    lat_deg: float
    elevation_m: float

    def geodetic(self, north_m: float, east_m: float, up_m: float) -> tuple[float, float, float]:
        """(latitude [deg], longitude in [-180, 180) [deg], height above the sea [m]).

        Equation: as `frames.lonlat_from_ne`, corrected until it is true to 0.1 mm: twice within some kilometres.
        """
        per_deg = math.pi / 180.0 * meridian_radius_m(self.lat_deg)
        per_deg_lon = math.pi / 180.0 * prime_vertical_radius_m(self.lat_deg) * math.cos(math.radians(self.lat_deg))
        lat, lon = self.lat_deg + north_m / per_deg, self.lon_deg + east_m / per_deg_lon
        for _ in range(8):
            north_now, east_now = ne_from_lonlat(lon, lat, self.lon_deg, self.lat_deg)
            missing_north, missing_east = north_m - north_now, east_m - east_now
            lat, lon = lat + missing_north / per_deg, lon + missing_east / per_deg_lon
            if missing_north * missing_north + missing_east * missing_east < _CLOSE_M * _CLOSE_M:
                break
        return lat, (lon + 180.0) % 360.0 - 180.0, self.elevation_m + up_m


def place_of(scenario: Scenario) -> Place:
    """Where a scenario lies."""
    at = scenario.reference
    lon, lat = (at.lon_deg, at.lat_deg) if at is not None else (USUAL_LON_DEG, USUAL_LAT_DEG)
    return Place(lon, lat, scenario.air.elevation_m)
