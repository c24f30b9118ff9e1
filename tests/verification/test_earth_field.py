"""The Earth's field against the test values that NOAA publishes with the World Magnetic Model."""

import math

import pytest

from fieldworthy.core.errors import MissingExtraError, ScenarioError
from fieldworthy.sensors import earth_field

# Year, height [km], latitude, longitude, X, Y, Z [nT]: WMM2020testvalues.pdf of NCEI.
PUBLISHED = (
    (2020.0, 0, 80, 0, 6570.4, -146.3, 54606.0),
    (2020.0, 100, -80, 240, 5744.9, 14799.5, -49969.4),
    (2022.5, 0, 0, 120, 39684.7, -42.2, -10809.5),
    (2022.5, 100, 80, 0, 6224.0, -44.5, 52527.0),
)
# Year, height [km], latitude, longitude, declination [deg]: WMM2025_TestValues.txt of NCEI.
DECLINATIONS = (
    (2025.0, 0, 80, 0, 1.28),
    (2025.0, 48, 80, -96, -29.91),
    (2025.5, 6, -36, -137, 20.28),
    (2027.5, 100, -80, 240, 67.93),
)


@pytest.mark.parametrize(("year", "km", "lat", "lon", "x", "y", "z"), PUBLISHED)
def test_published_vectors(year, km, lat, lon, x, y, z):
    pytest.importorskip("pygeomag")
    found = earth_field.earth_field_ned_t(lat, lon, 1e3 * km, year)
    assert tuple(1e9 * value for value in found) == pytest.approx((x, y, z), abs=0.06)  # one decimal is printed


@pytest.mark.parametrize(("year", "km", "lat", "lon", "declination_deg"), DECLINATIONS)
def test_published_declinations(year, km, lat, lon, declination_deg):
    pytest.importorskip("pygeomag")
    found = earth_field.declination_rad(earth_field.earth_field_ned_t(lat, lon, 1e3 * km, year))
    assert math.degrees(found) == pytest.approx(declination_deg, abs=0.0051)


def test_the_default_vector_is_that_of_central_europe():
    pytest.importorskip("pygeomag")
    found = earth_field.earth_field_ned_t(48.0, 9.0, 300.0, 2025.5)
    assert tuple(found) == pytest.approx(tuple(earth_field.DEFAULT_FIELD_NED_T), abs=0.5e-6)


def test_a_vector_of_angles_points_down_and_east():
    found = earth_field.field_ned_t(48e-6, math.radians(60.0), math.radians(30.0))
    assert tuple(found) == pytest.approx((24e-6 * math.sqrt(3) / 2, 12e-6, 48e-6 * math.sqrt(3) / 2))


def test_what_is_wrong_is_told_all_at_once():
    with pytest.raises(ScenarioError) as caught:
        earth_field.earth_field_ned_t(91.0, math.nan, 0.0, 2031.0)
    assert len(caught.value.problems) == 3


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pygeomag", None)
    with pytest.raises(MissingExtraError, match="sensors"):
        earth_field.earth_field_ned_t(48.0, 9.0, 0.0, 2025.0)
