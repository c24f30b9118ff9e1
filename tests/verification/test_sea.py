"""Waves: the energy of the sea state, deep-water dispersion, published period ratios, and how a hull rides them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldworthy.environment.sea import WaveComponent, elevation_up_m, ride
from fieldworthy.environment.wave_spectrum import bretschneider_components, directions_rad, wave_table

HULL = {"length_m": 5.0, "beam_m": 2.0}


def regular(length_m, towards_deg=0.0, amplitude_m=0.1, phase_rad=0.0):
    """A regular wave by its length and where it travels; deep water: omega^2 = g k."""
    k, towards = 2.0 * math.pi / length_m, math.radians(towards_deg)
    return WaveComponent(amplitude_m, k * math.cos(towards), k * math.sin(towards), math.sqrt(9.80665 * k), phase_rad)


def sea_state(trials=1, count=8, height_m=0.5, period_s=4.0, spread_rad=0.5, seed=3, from_rad=math.pi):
    table = wave_table(height_m, period_s, from_rad, spread_rad, count, seed, np.arange(trials))
    return table, [
        tuple(WaveComponent(**{name: float(rows[i, t]) for name, rows in table.items()}) for i in range(count))
        for t in range(trials)
    ]


# --- spectrum --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("height_m", [0.2, 1.5])
@pytest.mark.parametrize("count", [1, 8])
def test_variance_over_phases_is_that_of_the_significant_height(height_m, count):
    # The variance of the surface at one place and time, over trials: Hs^2 / 16.
    table, _ = sea_state(trials=1500, count=count, height_m=height_m)
    waves = tuple(WaveComponent(**{name: rows[i] for name, rows in table.items()}) for i in range(count))
    surface = sum(w.amplitude_m * np.cos(w.phase_rad - 1.7 * w.frequency_rad_s) for w in waves)
    expected = height_m**2 / 16.0
    # The variance of a variance of n samples is about 2/n: 4 deviations.
    assert surface.var() == pytest.approx(expected, rel=4.0 * math.sqrt(2.0 / 1500))
    assert abs(surface.mean()) < 4.0 * math.sqrt(expected / 1500)


def test_variance_over_a_long_time_is_that_of_the_significant_height():
    _, (waves,) = sea_state(count=8, height_m=0.5)
    t_s = np.arange(0.0, 4000.0, 0.5)  # a thousand periods
    surface = np.array([elevation_up_m(waves, 3.0, -2.0, float(t)) for t in t_s])
    assert surface.var() == pytest.approx(0.5**2 / 16.0, rel=0.02)
    assert 4.0 * surface.std() == pytest.approx(0.5, rel=0.01)


def test_mean_periods_are_those_published_for_the_spectrum():
    # ITTC two-parameter spectrum: T1 = 0.772 Tp (mean), Tz = 0.710 Tp (zero crossing); Fossen (2021) section 10.2.
    amplitude, frequency = bretschneider_components(2.0, 8.0, 100_000)
    energy = amplitude**2 / 2.0
    m0, m1, m2 = ((energy * frequency**n).sum() for n in range(3))
    assert m0 == pytest.approx(2.0**2 / 16.0, rel=1e-12)
    assert 2.0 * math.pi * m0 / m1 / 8.0 == pytest.approx(0.772, abs=1e-3)
    # The second moment's tail converges slowly: half of its last per cent needs many components.
    assert 2.0 * math.pi * math.sqrt(m0 / m2) / 8.0 == pytest.approx(0.710, abs=3e-3)


def test_mean_period_converges_with_the_number_of_components():
    error = []
    for count in (4, 16, 64, 256):
        _, frequency = bretschneider_components(2.0, 8.0, count)
        error.append(abs(2.0 * math.pi / frequency.mean() / 8.0 - 0.7718))
    assert all(finer < coarser for coarser, finer in zip(error, error[1:], strict=False))
    assert error[-1] < 2e-3


def test_energy_peaks_at_the_peak_period():
    _, frequency = bretschneider_components(1.0, 5.0, 200_000)
    density, edges = np.histogram(frequency, bins=60, range=(0.5, 3.0))
    peak = edges[density.argmax()] + (edges[1] - edges[0]) / 2
    assert peak == pytest.approx(2.0 * math.pi / 5.0, abs=0.045)


@pytest.mark.parametrize("count", [2, 3, 8, 21])
def test_directions_fill_the_fan_evenly_around_the_mean(count):
    fan = directions_rad(1.0, 0.6, count)
    assert fan.mean() == pytest.approx(1.0, abs=1e-12)
    assert np.sort(fan) == pytest.approx(1.0 + 0.6 * (2.0 * (np.arange(count) + 0.5) / count - 1.0), abs=1e-12)
    assert directions_rad(1.0, 0.0, count) == pytest.approx(np.ones(count))


def test_waves_come_from_where_they_are_said_to():
    table, _ = sea_state(from_rad=math.radians(90.0), spread_rad=0.0)  # from the east: travelling west
    assert (table["wave_number_east_rad_m"] < 0.0).all()
    assert np.abs(table["wave_number_north_rad_m"]).max() < 1e-12


def test_phases_belong_to_the_seed_and_the_trial():
    one, _ = sea_state(trials=5)
    again = wave_table(0.5, 4.0, math.pi, 0.5, 8, 3, np.array([4, 0]))
    assert np.array_equal(again["phase_rad"], one["phase_rad"][:, [4, 0]])
    assert not np.array_equal(sea_state(seed=4)[0]["phase_rad"], sea_state(seed=3)[0]["phase_rad"])


# --- propagation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("component", [0, 3, 7])
def test_crests_travel_at_the_deep_water_phase_speed(component):
    # c = g T / 2 pi: the surface at one place is that at another, the travel time later.
    _, (waves,) = sea_state()
    wave = waves[component]
    towards = np.array([wave.wave_number_north_rad_m, wave.wave_number_east_rad_m])
    towards = towards / np.linalg.norm(towards)
    speed = 9.80665 * (2.0 * math.pi / wave.frequency_rad_s) / (2.0 * math.pi)
    for distance_m in (1.0, 17.0):
        north, east = distance_m * towards
        for t_s in np.linspace(0.0, 9.0, 13):
            here = elevation_up_m((wave,), 0.0, 0.0, float(t_s))
            there = elevation_up_m((wave,), float(north), float(east), float(t_s) + distance_m / speed)
            assert there == pytest.approx(here, abs=1e-9)


# --- riding ----------------------------------------------------------------------------------------------------------


def test_a_hull_rides_long_waves_like_a_cork():
    wave = (regular(2000.0, 30.0, amplitude_m=2.0, phase_rad=0.8),)
    for north, heading in ((0.0, 0.0), (300.0, 1.0), (700.0, -2.5)):
        tilt = ride(wave, north, 50.0, heading, 7.0, **HULL)
        assert tilt.heave_up_m == pytest.approx(elevation_up_m(wave, north, 50.0, 7.0), abs=1e-4)
        ahead = np.array([math.cos(heading), math.sin(heading)])
        right = np.array([-math.sin(heading), math.cos(heading)])

        def slope(direction, north=north):
            step = 0.5 * direction
            high = elevation_up_m(wave, north + step[0], 50.0 + step[1], 7.0)
            return high - elevation_up_m(wave, north - step[0], 50.0 - step[1], 7.0)

        assert tilt.pitch_rad == pytest.approx(slope(ahead), abs=1e-6)
        assert tilt.roll_rad == pytest.approx(-slope(right), abs=1e-6)


def test_the_bow_rises_on_the_slope_towards_a_crest_ahead():
    # Crest at north = 25 m: a boat at the origin that heads north looks up at it.
    wave = (regular(100.0, phase_rad=-2.0 * math.pi * 25.0 / 100.0),)
    assert elevation_up_m(wave, 25.0, 0.0, 0.0) == pytest.approx(0.1)
    assert ride(wave, 0.0, 0.0, 0.0, 0.0, **HULL).pitch_rad > 0.005
    assert ride(wave, 0.0, 0.0, math.pi, 0.0, **HULL).pitch_rad < -0.005
    # Heading east, the crest is to port: port side up is starboard down, positive roll.
    assert ride(wave, 0.0, 0.0, math.pi / 2, 0.0, **HULL).roll_rad > 0.005
    # Heading west it is to starboard: starboard up, negative roll.
    assert ride(wave, 0.0, 0.0, -math.pi / 2, 0.0, **HULL).roll_rad < -0.005
    # On the crest itself the hull is level.
    level = ride(wave, 25.0, 0.0, 0.3, 0.0, **HULL)
    assert (level.roll_rad, level.pitch_rad) == pytest.approx((0.0, 0.0), abs=1e-9)


@given(phase=st.floats(0.0, 6.28), heading=st.floats(-3.14, 3.14))
def test_ripples_do_not_move_the_hull(phase, heading):
    tilt = ride((regular(0.05, 37.0, 0.1, phase),), 1.0, 2.0, heading, 3.0, **HULL)
    assert abs(tilt.heave_up_m) < 0.002
    assert abs(tilt.pitch_rad) < 0.01
    assert abs(tilt.roll_rad) < 0.02


def least_squares_plane(waves, north, east, heading, t_s):
    """Mean height and slopes of the surface under the waterplane by Gauss quadrature, without closed forms."""
    x, wx = np.polynomial.legendre.leggauss(60)
    c, s = math.cos(heading), math.sin(heading)
    f, r = np.meshgrid(x * HULL["length_m"] / 2, x * HULL["beam_m"] / 2, indexing="ij")
    weight = np.outer(wx, wx) / 4.0
    n, e = north + c * f - s * r, east + s * f + c * r
    height = sum(
        w.amplitude_m
        * np.cos(w.wave_number_north_rad_m * n + w.wave_number_east_rad_m * e - w.frequency_rad_s * t_s + w.phase_rad)
        for w in waves
    )
    mean = (weight * height).sum()
    return (
        mean,
        (weight * height * f).sum() / (weight * f * f).sum(),
        (weight * height * r).sum() / (weight * r * r).sum(),
    )


@given(
    length=st.floats(0.8, 200.0), towards=st.floats(-180, 180), heading=st.floats(-3.14, 3.14), t=st.floats(0, 50),
    phase=st.floats(0, 6.28),
)  # fmt: skip
def test_riding_is_the_least_squares_plane_under_the_hull(length, towards, heading, t, phase):
    waves = (regular(length, towards, 0.3, phase), regular(3.0 * length, towards + 40.0, 0.2, 1.0))
    tilt = ride(waves, 11.0, -7.0, heading, t, **HULL)
    mean, ahead, right = least_squares_plane(waves, 11.0, -7.0, heading, t)
    assert tilt.heave_up_m == pytest.approx(mean, abs=1e-7)
    assert tilt.pitch_rad == pytest.approx(ahead, abs=1e-7)
    assert tilt.roll_rad == pytest.approx(-right, abs=1e-7)


def test_no_waves_no_motion():
    tilt = ride((), 1.0, 2.0, 3.0, 4.0, **HULL)
    assert (tilt.heave_up_m, tilt.roll_rad, tilt.pitch_rad) == (0.0, 0.0, 0.0)
