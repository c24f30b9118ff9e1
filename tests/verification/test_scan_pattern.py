"""Which rays a sweep has and when they are fired, beside the paper's formula and the VLP-16's timing tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldworthy.sensors.scan_pattern import firing_pattern, first_firing, restricted, uniform_pattern

FIRING_S, LASER_S = 55.296e-6, 2.304e-6
"""VLP-16 User Manual 63-9243."""
ELEVATION_DEG = (-15.0, 1.0, -13.0, 3.0, -11.0, 5.0, -9.0, 7.0, -7.0, 9.0, -5.0, 11.0, -3.0, 13.0, -1.0, 15.0)
VLP16 = firing_pattern(10.0, ELEVATION_DEG, FIRING_S, LASER_S)


def test_the_papers_grid_has_28800_rays():
    grid = uniform_pattern(10.0, -15.0, 15.0, 2.0, 0.2)
    assert (grid.channels, grid.columns, grid.rays) == (16, 1800, 28_800)
    assert np.degrees(grid.elevation_rad) == pytest.approx(np.arange(-15.0, 15.1, 2.0))
    assert grid.period_s == 0.1
    assert grid.firing_period_s * grid.columns == pytest.approx(0.1)
    assert set(grid.laser_delay_s) == {0.0}


@pytest.mark.parametrize(
    ("numbers", "rays"),
    [
        ((10.0, -15.0, 15.0, 1.0, 0.4), 31 * 900),
        ((5.0, 0.0, 0.0, 0.0, 1.0), 360),
        ((20.0, -10.0, 20.0, 10.0, 90.0), 16),
    ],
)
def test_rays_of_other_grids(numbers, rays):
    assert uniform_pattern(*numbers).rays == rays


def test_the_vlp16_fires_at_its_published_rate():
    # 600 rpm: 1,808.4 firings a turn, 0.1991 deg apart; 289,352 points a second (the sheet rounds to 300,000).
    sweeps = [first_firing(VLP16, n) for n in range(2000)]
    counts = np.array([count for _, count in sweeps])
    assert set(counts.tolist()) == {1808, 1809}
    assert counts.sum() * 16 / (2000 * 0.1) == pytest.approx(289_352, abs=1.0)
    assert math.degrees(VLP16.spin_rad_s * FIRING_S) == pytest.approx(0.1991, abs=5e-5)
    assert VLP16.firings == 1809
    # Sixteen lasers 2.304 us apart: the last one 34.56 us after the first, in which the head turns 0.124 degrees.
    assert VLP16.laser_delay_s[-1] == pytest.approx(34.56e-6)
    assert math.degrees(VLP16.spin_rad_s * VLP16.laser_delay_s[-1]) == pytest.approx(0.124, abs=5e-4)


def test_firings_go_on_from_sweep_to_sweep_without_a_gap():
    times = []
    for number in range(40):
        shift, count = first_firing(VLP16, number)
        assert 0.0 <= shift < FIRING_S
        times.append(number * 0.1 + shift + np.arange(count) * FIRING_S)
    gaps = np.diff(np.concatenate(times))
    assert gaps == pytest.approx(np.full(len(gaps), FIRING_S), abs=1e-9)


def test_an_hour_of_sweeps_keeps_its_phase():
    shift, _ = first_firing(VLP16, 36_000)
    firings = math.ceil(3600.0e9 / 55_296)
    assert shift == pytest.approx((firings * 55_296 - 3600.0e9) * 1e-9, abs=1e-9)


@given(low=st.floats(-179.0, 170.0), width=st.floats(1.0, 300.0), sweep=st.integers(0, 100_000))
@pytest.mark.parametrize("pattern", [VLP16, uniform_pattern(10.0, -15.0, 15.0, 2.0, 0.2)], ids=["firing", "uniform"])
def test_a_restricted_sweep_has_every_ray_of_its_sector(pattern, low, width, sweep):
    high = min(low + width, 180.0)
    part = restricted(pattern, (math.radians(low), math.radians(high)))
    shift, count = first_firing(pattern, sweep)
    azimuth_deg = np.degrees(
        2.0
        * math.pi
        / 0.1
        * (shift + np.arange(count)[:, None] * pattern.firing_period_s + np.array(pattern.laser_delay_s))
        - math.pi
    )
    wanted = np.flatnonzero(((azimuth_deg >= low) & (azimuth_deg <= high)).any(axis=1))
    if len(wanted):
        assert part.first <= wanted[0]
        assert wanted[-1] < part.first + part.columns
    assert part.first >= 0
    assert part.first + part.columns <= pattern.firings
    # And few more: a column or three at either end.
    assert part.columns * 360.0 / pattern.firings <= high - low + 5 * 0.2


def test_the_seam_is_astern():
    grid = uniform_pattern(10.0, 0.0, 0.0, 0.0, 1.0)
    azimuth = grid.spin_rad_s * np.arange(grid.columns) * grid.firing_period_s - math.pi
    assert math.degrees(azimuth[0]) == pytest.approx(-180.0)
    assert math.degrees(azimuth[180]) == pytest.approx(0.0, abs=1e-9)
