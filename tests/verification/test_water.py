"""Water swallows the beam: nothing under still water is seen, and the surface itself only if `sea_returns`.

Where a ray meets the water, or a wall, is reckoned from rotation matrices at the true pose of the ray's time
(sweep_bench.beams). All laws are asked of both ray paths: closed forms and mesh.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sweep_bench import FINE_S, at_rest, beams, fly, under_way

from fieldworthy.environment.shapes import Box, Cylinder, Polygon, Polyline, Sphere
from fieldworthy.sensors.scan_pattern import firing_pattern, uniform_pattern

GRID = uniform_pattern(10.0, -15.0, 15.0, 3.0, 1.0)
VLP16 = firing_pattern(10.0, (-15, 1, -13, 3, -11, 5, -9, 7, -7, 9, -5, 11, -3, 13, -1, 15), 55.296e-6, 2.304e-6)
DEVICE = replace(VLP16, columns=1808)
"""Without the last column, which not every sweep fires."""

ROLLING = under_way(
    start={"north_m": 1.0, "east_m": -2.0, "up_m": 0.3, "roll_rad": 0.15, "pitch_rad": -0.1, "heading_rad": 0.7},
    rate={"north_m": 6.0, "east_m": 3.0, "up_m": -4.0, "roll_rad": -0.6, "pitch_rad": 0.4, "heading_rad": 0.6},
)
"""Heaves by 0.4 m and rolls and pitches by 2 to 3 degrees within the sweep."""
MOUNT = {"forward_m": 0.5, "right_m": -0.3, "up_m": 2.0, "roll_rad": 0.02, "pitch_rad": -0.03, "yaw_rad": 0.05}

HALF_M = 12.0
CORNERS = ((HALF_M, -HALF_M), (HALF_M, HALF_M), (-HALF_M, HALF_M), (-HALF_M, -HALF_M), (HALF_M, -HALF_M))
BASIN = (Polyline(points_ne_m=CORNERS, top_up_m=50.0, bottom_up_m=-50.0),)
"""High walls all around, which go down far below the water."""

HEIGHTS = {"top_up_m": 1.5, "bottom_up_m": -8.0}
FLOATING = (
    Cylinder(north_m=10.0, east_m=4.0, radius_m=1.5, **HEIGHTS),
    Box(north_m=-14.0, east_m=3.0, length_m=8.0, width_m=3.0, heading_rad=0.4, **HEIGHTS),
    Polygon(points_ne_m=((6.0, -9.0), (14.0, -12.0), (9.0, -18.0)), **HEIGHTS),
    Sphere(north_m=2.0, east_m=16.0, up_m=-1.0, radius_m=3.0),
    Polyline(points_ne_m=((-30.0, -20.0), (-8.0, -14.0), (0.0, -30.0)), **HEIGHTS),
    Cylinder(north_m=12.0, east_m=14.0, radius_m=1.0, vel_north_m_s=-6.0, vel_east_m_s=5.0, **HEIGHTS),
)
"""Every kind of shape, each more below the water than above; the last one on its way."""

patterns = pytest.mark.parametrize("pattern", [GRID, DEVICE], ids=["uniform", "firing"])
paths = pytest.mark.parametrize(
    ("mesh", "exact_m"), [pytest.param(False, 1e-8, id="shapes"), pytest.param(True, 1e-4, id="mesh")]
)
"""In 64 bits; the mesh is traced in 32 bits all the same."""


def to_water_m(origin, direction):
    """Distance of every ray to still water: height over the sine of its depression, infinite where it does not sink."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(direction[..., 2] > 0.0, -origin[..., 2] / direction[..., 2], math.inf)


def to_basin_m(origin, direction):
    """Distance of every ray from inside to the nearest of the four walls."""
    with np.errstate(divide="ignore"):
        walls = [(side * HALF_M - origin[..., i]) / direction[..., i] for i in (0, 1) for side in (-1.0, 1.0)]
    return np.min(np.where(np.array(walls) > 0.0, walls, math.inf), axis=0)


@paths
@patterns
def test_no_point_lies_under_still_water(pattern, mesh, exact_m):
    sweep = fly([FLOATING], ROLLING, pattern, mesh=mesh, no_hit="omit", dt_s=FINE_S, **MOUNT)
    origin, direction = beams(sweep, ROLLING, **MOUNT)
    hit = np.isfinite(sweep.range_m[0])
    up = -(origin + np.where(hit, sweep.range_m[0], 0.0)[..., None] * direction)[..., 2][hit]
    assert up.min() > -exact_m
    assert up.min() < 0.1  # waterlines are seen
    assert hit.sum() > 0.02 * hit.size


@paths
@patterns
def test_a_ray_reads_the_wall_if_it_gets_there_above_water_and_nothing_if_not(pattern, mesh, exact_m):
    sweep = fly([BASIN], ROLLING, pattern, mesh=mesh, no_hit="omit", dt_s=FINE_S, **MOUNT)
    origin, direction = beams(sweep, ROLLING, **MOUNT)
    wall = to_basin_m(origin, direction)
    height = -(origin[..., 2] + wall * direction[..., 2])
    dry, wet = height > 2.0 * exact_m, height < -2.0 * exact_m
    assert (dry | wet).mean() > 0.999
    assert 0.1 < wet.mean() < 0.5
    assert sweep.range_m[0][dry] == pytest.approx(wall[dry], abs=exact_m)
    assert np.isinf(sweep.range_m[0][wet]).all()
    # Where silence reads the limit, swallowed rays do so too.
    limit = fly([BASIN], ROLLING, pattern, mesh=mesh, dt_s=FINE_S, **MOUNT).range_m[0]
    assert (limit[wet] == 100.0).all()
    assert np.array_equal(limit[dry], sweep.range_m[0][dry])


@paths
@patterns
def test_where_the_sea_returns_a_ray_reads_the_nearer_of_wall_and_water(pattern, mesh, exact_m):
    sweep = fly([BASIN], ROLLING, pattern, mesh=mesh, sea_returns=True, no_hit="omit", dt_s=FINE_S, **MOUNT)
    origin, direction = beams(sweep, ROLLING, **MOUNT)
    wall, water = to_basin_m(origin, direction), to_water_m(origin, direction)
    assert 0.1 < (water < wall).mean() < 0.5
    assert sweep.range_m[0] == pytest.approx(np.minimum(wall, water), abs=exact_m)


@paths
@patterns
def test_the_sea_reads_height_over_the_sine_of_depression_whatever_stands_behind(pattern, mesh, exact_m):
    """Wherever a ray meets the water before any shape above it, it reads the same bits as on the empty sea."""
    reef = Box(north_m=0.0, east_m=0.0, length_m=60.0, width_m=60.0, heading_rad=0.0, top_up_m=-0.01, bottom_up_m=-9.0)
    settings = {"no_hit": "omit", "sea_returns": True, "dt_s": FINE_S, **MOUNT}
    open_sea = fly([()], ROLLING, pattern, **settings)
    water = to_water_m(*beams(open_sea, ROLLING, **MOUNT))
    seen = water < 99.0
    assert seen.sum() > 0.2 * seen.size
    assert open_sea.range_m[0][seen] == pytest.approx(water[seen], rel=1e-7)
    assert np.array_equal(fly([(reef,)], ROLLING, pattern, mesh=mesh, **settings).range_m, open_sea.range_m)
    basin = fly([BASIN], ROLLING, pattern, mesh=mesh, **settings)
    behind = water < to_basin_m(*beams(basin, ROLLING, **MOUNT)) - exact_m
    assert behind.sum() > 0.1 * behind.size
    assert np.array_equal(basin.range_m[0][behind], open_sea.range_m[0][behind])
    silent = fly([(reef,)], ROLLING, pattern, mesh=mesh, **settings | {"sea_returns": False})
    assert np.isinf(silent.range_m).all()


@paths
@pytest.mark.parametrize("height_m", [1.5, 4.0])
def test_a_buoy_loses_the_share_of_its_rays_whose_line_meets_the_water_first(height_m, mesh, exact_m):
    """A high and deep pillar whose surface is s away: lost is what looks down by more than atan(height / s).

    s = d cos a - sqrt(R^2 - d^2 sin^2 a) at the angle a from the axis; so of 31 rows from -15 to 15 degrees, each of
    which stands for one degree, the share (15.5 - atan(height / s)) / 31 is lost, or none.
    """
    rows, radius = uniform_pattern(10.0, -15.0, 15.0, 1.0, 0.2), 1.5
    elevation = np.array(rows.elevation_rad)
    lost = {}
    for distance in (4.0, 8.0, 16.0, 32.0, 64.0):
        pillar = Cylinder(north_m=distance, east_m=0.0, radius_m=radius, top_up_m=50.0, bottom_up_m=-50.0)
        sweep = fly([(pillar,)], at_rest(), rows, mesh=mesh, no_hit="omit", up_m=height_m)
        off = sweep.azimuth_rad[:, 0]
        aimed = (np.abs(off) < 1.0) & (distance * np.abs(np.sin(off)) < 0.99 * radius)
        off, read = off[aimed], sweep.range_m[0][aimed]
        surface = distance * np.cos(off) - np.sqrt(radius**2 - (distance * np.sin(off)) ** 2)
        down = np.arctan(height_m / surface)
        # Ray for ray: what is lost, and how far the rest is.
        swallowed = -elevation[None, :] > down[:, None]
        assert np.array_equal(np.isinf(read), swallowed)
        expected = surface[:, None] / np.cos(elevation)[None, :]
        assert read[~swallowed] == pytest.approx(expected[~swallowed], abs=exact_m)
        # As a share: the closed form, to the half of a row by which whole rows differ from it.
        lost[distance] = swallowed.mean()
        share = np.maximum(math.radians(15.5) - down, 0.0) / math.radians(31.0)
        assert np.isinf(read).mean() == pytest.approx(share.mean(), abs=0.5 / len(elevation))
    assert list(lost.values()) == sorted(lost.values())  # the farther the buoy, the more of its rays are lost
    assert lost[64.0] > 0.35
