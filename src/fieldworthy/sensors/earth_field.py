"""The Earth's magnetic field from the World Magnetic Model, on the host.

`pygeomag` (MIT licence, pure Python, with the coefficients of 2010 to 2030) does the sum of harmonics; a scenario that
gives the field itself needs no library.
"""

from __future__ import annotations

import math

from fieldworthy.core.errors import Problem, ScenarioError, require_extra
from fieldworthy.core.vec import Vec3

FIRST_YEAR, LAST_YEAR = 2010.0, 2030.0

DEFAULT_FIELD_NED_T = Vec3(21.0e-6, 1.5e-6, 43.5e-6)
"""A round vector of central Europe (48 deg N, 9 deg E in 2025): 48 uT, inclination 64 deg, declination 4 deg east."""


def earth_field_ned_t(lat_deg: float, lon_deg: float, height_m: float, year: float) -> Vec3:
    """Field [T] in north, east, down at a place and a decimal year.

    Equation: gradient of a spherical harmonic potential of degree 12, coefficients linear in time over five years.
    Source: World Magnetic Model of NOAA and BGS (NCEI, WMM2010 to WMM2025).      Frames: local NED on WGS 84.
    Limits: the core's field only: rocks and the Sun add 100 to 500 nT; compass useless near the magnetic poles.
    Raises: ScenarioError for a year without coefficients, MissingExtraError without `pygeomag`.
    Verified by: tests/verification/test_earth_field.py
    """
    problems = []
    if not (FIRST_YEAR <= year < LAST_YEAR):
        problems.append(Problem("year", f"{year!r} has no magnetic model", f"{FIRST_YEAR:g} to {LAST_YEAR:g}"))
    if not (-90.0 <= lat_deg <= 90.0):
        problems.append(Problem("lat_deg", f"{lat_deg!r} is no latitude", "-90 to 90"))
    if not math.isfinite(lon_deg):
        problems.append(Problem("lon_deg", f"{lon_deg!r} is no longitude", "-180 to 180"))
    if problems:
        raise ScenarioError(problems)
    library = require_extra("pygeomag", "sensors", "the magnetic field of a place")
    epoch = 5 * int(year // 5)
    model = library.GeoMag(base_year=epoch)
    found = model.calculate(glat=lat_deg, glon=(lon_deg + 180.0) % 360.0 - 180.0, alt=height_m * 1e-3, time=year)
    return Vec3(found.x * 1e-9, found.y * 1e-9, found.z * 1e-9)


def declination_rad(field_ned_t: Vec3) -> float:
    """Angle from true north to magnetic north, positive east."""
    return math.atan2(field_ned_t.y, field_ned_t.x)


def field_ned_t(intensity_t: float, inclination_rad: float, declination: float) -> Vec3:
    """The vector of an intensity, an inclination (positive down) and a declination [rad] (positive east)."""
    level = intensity_t * math.cos(inclination_rad)
    return Vec3(level * math.cos(declination), level * math.sin(declination), intensity_t * math.sin(inclination_rad))
