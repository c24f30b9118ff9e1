"""Candidate masks never lose a hit: the same sweep with every primitive tried reads the same bits.

This is an identity, not a tolerance: a mask may only be too wide. Scenes are random and unkind: hundreds of walls,
shapes around, over and beside the boat, hulls on their ear, fast boats and obstacles, slow and coarse scanners. All of
it aloft, because water ends rays and a mask that loses what a ray would have met beyond goes unnoticed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from sweep_bench import fly, under_way

from fieldworthy.environment.shapes import Box, Cylinder, Polygon, Polyline, Sphere
from fieldworthy.sensors.scan_pattern import firing_pattern, restricted, uniform_pattern

SCENES = 24
GRID = uniform_pattern(10.0, -15.0, 15.0, 15.0, 0.5)
"""3 x 720 rays in 26 bins."""
ALOFT_M = 120.0
"""How far above the water boats and shapes are: rays 45 degrees down still meet what is 95 m away."""


def between(bottom_m, top_m):
    """Heights of a shape above and below the waterline of a boat that is aloft."""
    return {"bottom_up_m": ALOFT_M + bottom_m, "top_up_m": ALOFT_M + top_m}


def random_shapes(rng, count, spread_m=70.0, moving=False, aloft_m=ALOFT_M):
    shapes = []
    for _ in range(count):
        # Squares of uniform numbers crowd the boat: shapes close by, some of them around it.
        distance, bearing = spread_m * rng.uniform() ** 2, rng.uniform(-math.pi, math.pi)
        north, east = distance * math.cos(bearing), distance * math.sin(bearing)
        size = 10.0 ** rng.uniform(-0.5, 1.3)
        top, bottom = aloft_m + rng.uniform(0.5, 6.0), aloft_m + rng.uniform(-5.0, 0.4)
        velocity = {"vel_north_m_s": rng.uniform(-15, 15), "vel_east_m_s": rng.uniform(-15, 15)} if moving else {}
        heights = {"top_up_m": top, "bottom_up_m": bottom}
        match rng.integers(5):
            case 0:
                shapes.append(Cylinder(north_m=north, east_m=east, radius_m=size, **heights, **velocity))
            case 1:
                up = aloft_m + rng.uniform(-1.0, 6.0)
                shapes.append(Sphere(north_m=north, east_m=east, up_m=up, radius_m=size / 2, **velocity))
            case 2:
                turn, width = rng.uniform(0, math.pi), size * rng.uniform(0.02, 1.0)
                shapes.append(
                    Box(
                        north_m=north,
                        east_m=east,
                        length_m=size,
                        width_m=width,
                        heading_rad=turn,
                        **heights,
                        **velocity,
                    )
                )
            case 3:
                angles = np.sort(rng.uniform(0, 2 * math.pi, 5))
                ring = tuple((north + size * math.cos(a), east + size * math.sin(a)) for a in angles)
                shapes.append(Polygon(points_ne_m=ring, **heights, **velocity))
            case _:
                line = np.cumsum(rng.uniform(-size, size, (4, 2)), axis=0) + np.array([north, east])
                shapes.append(Polyline(points_ne_m=tuple(map(tuple, line.tolist())), **heights, **velocity))
    return tuple(shapes)


def piles(rng, count, near_m=3.0, radius_m=0.12):
    """Thin ones: each lies within a degree or two of direction."""
    distance, bearing = rng.uniform(near_m, 95.0, count), rng.uniform(-math.pi, math.pi, count)
    return tuple(
        Cylinder(north_m=d * math.cos(b), east_m=d * math.sin(b), radius_m=radius_m, **between(-30.0, 30.0))
        for d, b in zip(distance, bearing, strict=True)
    )


def random_motion(rng, tilt_deg=30.0, speed_m_s=8.0, yaw_rate_rad_s=0.8, aloft_m=ALOFT_M):
    tilt = math.radians(tilt_deg)

    def draw(low, high):
        return rng.uniform(low, high, SCENES)

    return under_way(
        start={
            "up_m": aloft_m + draw(-0.5, 0.5), "roll_rad": draw(-tilt, tilt), "pitch_rad": draw(-tilt, tilt),
            "heading_rad": draw(-math.pi, math.pi),
        },
        rate={
            "north_m": draw(-speed_m_s, speed_m_s), "east_m": draw(-speed_m_s, speed_m_s), "up_m": draw(-1.0, 1.0),
            "roll_rad": draw(-0.5, 0.5), "pitch_rad": draw(-0.5, 0.5),
            "heading_rad": draw(-yaw_rate_rad_s, yaw_rate_rad_s),
        },
    )  # fmt: skip


def agree(layouts, pose_at, pattern=GRID, **settings):
    settings = {"precision": "f32", "no_hit": "omit", "number": 5} | settings
    culled = fly(layouts, pose_at, pattern, **settings).range_m
    tried = fly(layouts, pose_at, pattern, brute=True, **settings).range_m
    assert np.isfinite(tried).mean() > 0.01, "a scene that nothing is seen of tests nothing"
    lost = np.argwhere(culled != tried)
    assert not len(lost), f"{len(lost)} readings of {tried.size} differ, first (lane, column, channel) {lost[0]}"


@pytest.mark.parametrize("tilt_deg", [2.0, 30.0])
def test_in_random_scenes(tilt_deg):
    rng = np.random.default_rng(11)
    layouts = [random_shapes(rng, 12) + random_shapes(rng, 3, moving=True) for _ in range(SCENES)]
    agree(layouts, random_motion(rng, tilt_deg))


@pytest.mark.parametrize("sea_returns", [False, True])
def test_afloat(sea_returns):
    rng = np.random.default_rng(19)
    layouts = [random_shapes(rng, 12, aloft_m=0) + random_shapes(rng, 3, moving=True, aloft_m=0) for _ in range(SCENES)]
    agree(layouts, random_motion(rng, 10.0, aloft_m=0.0), sea_returns=sea_returns)


def test_among_thin_piles():
    rng = np.random.default_rng(18)
    agree([piles(rng, 90) for _ in range(SCENES)], random_motion(rng))


def test_among_hundreds_of_walls():
    rng = np.random.default_rng(12)
    lines = []
    for _ in range(SCENES):
        steps = rng.normal(0.0, 4.0, (300, 2))
        lines.append(
            (Polyline(points_ne_m=tuple(map(tuple, np.cumsum(steps, axis=0).tolist())), **between(-1.0, 3.0)),)
        )
    agree(lines, random_motion(rng))


def test_with_shapes_around_over_and_beside_the_boat():
    rng = np.random.default_rng(13)
    layouts = []
    for _ in range(SCENES):
        a, b, gap = rng.uniform(-math.pi, math.pi), rng.uniform(-math.pi, math.pi), rng.uniform(0.05, 2.0)
        around = Box(north_m=0, east_m=0, length_m=150, width_m=90, heading_rad=a, **between(-3.0, 1.0))
        bridge = Cylinder(north_m=0, east_m=0, radius_m=40.0, **between(7.0, 9.0))
        radius = rng.uniform(20.0, 300.0)
        beside = (radius + gap) * np.array([math.cos(b), math.sin(b)])
        tank = Cylinder(north_m=beside[0], east_m=beside[1], radius_m=radius, **between(-1.0, 4.0))
        far = 400.0 * np.array([math.cos(a), math.sin(a)])
        past = np.array([gap, 0.0])
        quay = Polyline(points_ne_m=(tuple(past - far), tuple(past + far)), **between(-4.0, 2.5))
        layouts.append((around, bridge, tank, quay))
    agree(layouts, random_motion(rng))


def test_at_the_edge_of_the_range():
    rng = np.random.default_rng(14)
    layouts = []
    for _ in range(SCENES):
        distance = rng.uniform(38.0, 42.0, 8)
        bearing = rng.uniform(-math.pi, math.pi, 8)
        layouts.append(
            tuple(
                Cylinder(north_m=d * math.cos(b), east_m=d * math.sin(b), radius_m=1.0, **between(-1.0, 5.0))
                for d, b in zip(distance, bearing, strict=True)
            )
        )
    agree(layouts, random_motion(rng, 5.0), range_max_m=40.0)


def test_with_a_slow_and_coarse_scanner_on_a_fast_boat():
    # A bin of 28 columns sweeps 56 degrees in 0.16 s, in which a boat and an obstacle move metres.
    rng = np.random.default_rng(15)
    slow = uniform_pattern(1.0, -15.0, 15.0, 15.0, 2.0)
    layouts = [random_shapes(rng, 12) + random_shapes(rng, 3, moving=True) for _ in range(SCENES)]
    agree(layouts, random_motion(rng, 10.0, speed_m_s=14.0, yaw_rate_rad_s=1.5), slow)
    # And one that spins, with its obstacles far away, where a turn moves a ray by metres.
    layouts = [piles(rng, 120, near_m=75.0, radius_m=0.4) for _ in range(SCENES)]
    turn = np.where(np.arange(SCENES) % 2, 1.9, -1.9)
    agree(layouts, under_way({"up_m": ALOFT_M}, {"heading_rad": turn}), slow)


def test_without_motion_distortion():
    # All rays at the sweep's end, and the obstacles too: buoys that crossed a bearing during the sweep.
    rng = np.random.default_rng(16)

    def buoy():
        distance, bearing = rng.uniform(4.0, 30.0), rng.uniform(-math.pi, math.pi)
        place = {"north_m": distance * math.cos(bearing), "east_m": distance * math.sin(bearing)}
        speed, course = rng.uniform(10.0, 30.0), rng.uniform(-math.pi, math.pi)
        # Reckoned back from where it is at the sweep's end, t = 0.5 s.
        velocity = {"vel_north_m_s": speed * math.cos(course), "vel_east_m_s": speed * math.sin(course)}
        place["north_m"] -= 0.5 * velocity["vel_north_m_s"]
        place["east_m"] -= 0.5 * velocity["vel_east_m_s"]
        return Cylinder(**place, **velocity, radius_m=0.3, **between(-6.0, 6.0))

    agree([tuple(buoy() for _ in range(20)) for _ in range(SCENES)], random_motion(rng), distorted=False)


def test_with_a_firing_scanner_and_a_tilted_mount():
    rng = np.random.default_rng(17)
    device = firing_pattern(10.0, (-15.0, 15.0, 1.0), 100e-6, 20e-6)
    mount = {
        name: rng.uniform(-0.5, 0.5, SCENES) for name in ("roll_rad", "pitch_rad", "yaw_rad", "forward_m", "right_m")
    }
    layouts = [random_shapes(rng, 10) + random_shapes(rng, 3, moving=True) for _ in range(SCENES)]
    agree(layouts, random_motion(rng), restricted(device, (-0.7, 0.7)), **mount)
