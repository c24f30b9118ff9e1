"""Standard atmosphere, mean wind, gusts, and what a vehicle samples of them."""

import math

import numpy as np
import pytest

from fieldworthy.core.vec import Vec3
from fieldworthy.environment.air import AirOptions, AirParameters, sample
from fieldworthy.environment.atmosphere import isa, pressure_altitude_m
from fieldworthy.environment.wind import (
    Gust,
    WindOptions,
    WindParameters,
    gust_share,
    shear_factor,
    wind_20ft_m_s,
    wind_ned_m_s,
)
from fieldworthy.verify.air import CHECKS

# ISO 2533:1975 / U.S. Standard Atmosphere 1976, geopotential altitude: m, K, Pa, kg/m3, m/s.
TABLE = [
    (0.0, 288.15, 101325.0, 1.2250, 340.294),
    (1000.0, 281.65, 89874.6, 1.11164, 336.434),
    (5000.0, 255.65, 54019.9, 0.736116, 320.529),
    (10000.0, 223.15, 26436.3, 0.412707, 299.463),
    (11000.0, 216.65, 22632.1, 0.363918, 295.070),
    (15000.0, 216.65, 12044.6, 0.193674, 295.070),
    (20000.0, 216.65, 5474.89, 0.0880349, 295.070),
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.model}: {check.law}")
def test_verification_table(check):
    assert check.holds(check.got())


@pytest.mark.parametrize(("altitude", "temperature", "pressure", "density", "sound"), TABLE)
def test_standard_atmosphere_is_the_published_table(altitude, temperature, pressure, density, sound):
    air = isa(altitude)
    assert air.temperature_k == pytest.approx(temperature, abs=1e-6)
    assert air.pressure_pa == pytest.approx(pressure, rel=5e-6)  # six digits printed, half a unit of the last
    assert air.density_kg_m3 == pytest.approx(density, rel=5e-6)
    assert air.sound_speed_m_s == pytest.approx(sound, abs=1e-3)
    assert pressure_altitude_m(pressure) == pytest.approx(altitude, abs=0.05)


@pytest.mark.parametrize("offset", [-20.0, 0.0, 15.0])
@pytest.mark.parametrize("altitude", [-500.0, 400.0, 9000.0, 10990.0, 12000.0, 19000.0])
def test_the_air_carries_its_own_weight_on_warm_and_cold_days(altitude, offset):
    step = 1.0
    above, here, below = (isa(altitude + d, offset, 100000.0) for d in (step, 0.0, -step))
    # Central difference: error step^2/6 p''' is below 1e-8 of the slope.
    assert (above.pressure_pa - below.pressure_pa) / (2 * step) == pytest.approx(
        -here.density_kg_m3 * 9.80665, rel=1e-7
    )


def test_warm_air_is_thin_and_low_pressure_too():
    assert isa(0.0, 15.0).density_kg_m3 == pytest.approx(1.225 * 288.15 / 303.15, rel=1e-5)
    assert isa(0.0, 0.0, 101325.0 / 2.0).density_kg_m3 == pytest.approx(1.225 / 2.0, rel=1e-5)
    assert isa(0.0).pressure_pa == pytest.approx(101325.0)


def test_outside_the_table_the_nearest_altitude_answers():
    assert isa(1e9) == isa(20000.0)
    assert isa(-1e9) == isa(-2000.0)
    assert math.isfinite(pressure_altitude_m(0.0))


def test_a_constant_wind_to_the_north_goes_north():
    wind = wind_ned_m_s(WindOptions(), WindParameters(4.0, -1.0), 50.0, 3.0)
    assert tuple(wind) == (4.0, -1.0, 0.0)


def test_log_profile_of_the_specification():
    # MIL-F-8785C: u = u20 ln(h/z0) / ln(20/z0), in feet.
    feet = 0.3048
    p = WindParameters(0.0, 10.0, reference_height_m=20.0 * feet, roughness_m=0.15 * feet)
    options = WindOptions(shear="log")
    for height in (1.0, 20.0, 400.0, 1000.0):
        expected = 10.0 * math.log(height / 0.15) / math.log(20.0 / 0.15)
        assert wind_ned_m_s(options, p, height * feet, 0.0).y == pytest.approx(expected)
    assert wind_ned_m_s(options, p, 0.0, 0.0).y == 0.0
    assert wind_20ft_m_s(options, p) == pytest.approx(10.0)


def test_power_profile_doubles_by_its_exponent_and_is_calm_on_the_ground():
    p = WindParameters(6.0, 0.0, reference_height_m=10.0, exponent=0.2)
    options = WindOptions(shear="power")
    assert shear_factor(options, p, 10.0) == pytest.approx(1.0)
    assert shear_factor(options, p, 320.0) == pytest.approx(2.0)
    assert 0.0 < shear_factor(options, p, -5.0) < 0.2


def test_gust_pulse():
    pulse = Gust(start_s=2.0, rise_s=1.5, hold_s=0.0, velocity_ned_m_s=Vec3(0.0, 6.0, -1.0))
    assert gust_share(pulse, 1.9) == 0.0
    assert gust_share(pulse, 2.75) == pytest.approx(0.5)
    assert gust_share(pulse, 3.5) == pytest.approx(1.0)
    assert gust_share(pulse, 2.5) == pytest.approx(0.25)  # (1 - cos 60 deg) / 2
    assert gust_share(pulse, 4.25) == pytest.approx(0.5)
    assert gust_share(pulse, 5.1) == 0.0
    wind = wind_ned_m_s(WindOptions(gusts=1), WindParameters(1.0, 2.0, gusts=(pulse,)), 10.0, 3.5)
    assert tuple(wind) == pytest.approx((1.0, 8.0, -1.0))
    assert tuple(wind_ned_m_s(WindOptions(), WindParameters(1.0, 2.0, gusts=(pulse,)), 10.0, 3.5)) == (1.0, 2.0, 0.0)


def test_gust_of_the_specification_stays():
    stays = Gust(0.0, 2.0, 1e9, Vec3(3.0, 0.0, 0.0))
    assert gust_share(stays, 1.0) == pytest.approx(0.5)
    assert gust_share(stays, 900.0) == pytest.approx(1.0)
    assert np.isfinite(gust_share(Gust(1.0, 0.0, 0.0, Vec3(0.0, 0.0, 0.0)), 1.0))


def test_sample_adds_wind_gusts_and_turbulence_at_the_altitude_of_the_place():
    options = AirOptions(wind=WindOptions(shear="power", gusts=1))
    p = AirParameters(
        elevation_m=900.0, wind=WindParameters(5.0, 0.0, 100.0, gusts=(Gust(0.0, 1.0, 9.0, Vec3(0.0, 2.0, 0.0)),))
    )
    air = sample(options, p, Vec3(7.0, 8.0, -100.0), 5.0, Vec3(0.5, 0.0, -0.25))
    assert tuple(air.wind_ned_m_s) == pytest.approx((5.5, 2.0, -0.25))
    assert air.density_kg_m3 == pytest.approx(1.11164, rel=1e-5)  # ISO 2533 at 1,000 m
    assert air.gravity_m_s2 == 9.80665


def test_air_that_is_off_is_passed_through():
    p = AirParameters(constant_density_kg_m3=1.2, gravity_m_s2=9.81)
    air = sample(AirOptions(standard_atmosphere=False), p, Vec3(math.nan, math.nan, math.nan), math.nan)
    assert (air.density_kg_m3, air.gravity_m_s2) == (1.2, 9.81)
    assert tuple(air.wind_ned_m_s) == (0.0, 0.0, 0.0)
