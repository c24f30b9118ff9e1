"""Where on Earth a link's world lies: autopilots think in latitude, longitude and height above the sea.

Frames: north and east [m] from the reference point, up-positive heights above the ground there; WGS 84, heights above
mean sea level taken as heights above the ellipsoid.
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.frames import lonlat_from_ne
from fieldworthy.scenario.schema import Scenario

USUAL_LON_DEG, USUAL_LAT_DEG = 8.545594, 47.397742
"""Of scenarios without a reference: PX4's own home, the Irchel park in Zürich."""


@dataclass(frozen=True)
class Place:
    """The point where north = east = up = 0."""

    lon_deg: float
    lat_deg: float
    elevation_m: float

    def geodetic(self, north_m: float, east_m: float, up_m: float) -> tuple[float, float, float]:
        """(latitude [deg], longitude [deg], height above the sea [m])."""
        lon, lat = lonlat_from_ne(north_m, east_m, self.lon_deg, self.lat_deg)
        return lat, lon, self.elevation_m + up_m


def place_of(scenario: Scenario) -> Place:
    """Where a scenario lies."""
    at = scenario.reference
    lon, lat = (at.lon_deg, at.lat_deg) if at is not None else (USUAL_LON_DEG, USUAL_LAT_DEG)
    return Place(lon, lat, scenario.air.elevation_m)
