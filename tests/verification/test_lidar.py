"""The LiDAR: every point lies where something is, every ray leaves at its own time, noise is what it is said to be.

Points are reckoned independently: P = O + r d with O and d from rotation matrices at the true pose of the ray's time
(sweep_bench.beams), so the surfaces of the shapes are the known answers.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sweep_bench import COARSE, FINE_S, at_rest, beams, fly, under_way

from fieldworthy.environment.shapes import Box, Cylinder, Polygon, Polyline, Sphere
from fieldworthy.sensors.scan_pattern import firing_pattern, restricted, uniform_pattern

VLP16 = firing_pattern(10.0, (-15, 1, -13, 3, -11, 5, -9, 7, -7, 9, -5, 11, -3, 13, -1, 15), 55.296e-6, 2.304e-6)
LEVEL = uniform_pattern(10.0, 0.0, 0.0, 0.0, 0.2)
"""1,800 level rays."""
ALOFT_M = 40.0
"""So high above the water, a ray aimed at a wall nearby gets there (test_water.py has those that meet the sea)."""


def pillar(north: float, east: float, radius: float = 1.0, **more: float) -> Cylinder:
    return Cylinder(north_m=north, east_m=east, radius_m=radius, top_up_m=100.0, bottom_up_m=-30.0, **more)


def room(half: float) -> tuple[Polyline, ...]:
    """Four high walls around the origin: every ray comes back to a boat aloft."""
    ring = ((half, -half), (half, half), (-half, half), (-half, -half), (half, -half))
    return (Polyline(points_ne_m=ring, top_up_m=1e3, bottom_up_m=-1e3),)


def points(sweep, pose_at, lane=0, **numbers):
    """Points (n, 3) north, east, up and fire times (n,) of the rays that returned."""
    origin, direction = beams(sweep, pose_at, lane, **numbers)
    hit = sweep.range_m[lane] < 99.0
    found = origin[hit] + sweep.range_m[lane][hit][:, None] * direction[hit]
    return found * [1.0, 1.0, -1.0], sweep.time_s[hit]


def bearing_of_nearest(sweep, lane=0):
    """Azimuth in the sensor's axes of the middle of what was hit [deg]."""
    hit = (sweep.range_m[lane] < 99.0).any(axis=1)
    azimuth = sweep.azimuth_rad.mean(axis=1)[hit]
    return math.degrees(math.atan2(np.sin(azimuth).mean(), np.cos(azimuth).mean()))


# --- known answers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "heading_deg", "yaw_deg", "seen_deg"),
    [
        ((30.0, 0.0), 0.0, 0.0, 0.0),  # nose north, pillar north: ahead
        ((0.0, 30.0), 0.0, 0.0, 90.0),  # nose north, pillar east: to starboard
        ((0.0, -30.0), 0.0, 0.0, -90.0),
        ((0.0, 30.0), 90.0, 0.0, 0.0),  # nose east, pillar east: ahead
        ((30.0, 0.0), 90.0, 0.0, -90.0),  # nose east, pillar north: to port
        ((30.0, 0.0), 0.0, 40.0, -40.0),  # sensor turned to starboard on its mount: what is ahead moves to port
        ((30.0, 0.0), 20.0, 40.0, -60.0),
    ],
)
def test_azimuth_is_clockwise_from_the_bow(place, heading_deg, yaw_deg, seen_deg):
    sweep = fly(
        [(pillar(*place),)], at_rest(heading_rad=math.radians(heading_deg)), LEVEL, yaw_rad=math.radians(yaw_deg)
    )
    assert bearing_of_nearest(sweep) == pytest.approx(seen_deg, abs=0.2)
    assert sweep.range_m.min() == pytest.approx(29.0, abs=1e-4)


def test_elevation_is_up_positive():
    # A balloon above the masthead is met by rays that look up, and by no other.
    balloon = Sphere(north_m=30.0, east_m=0.0, up_m=2.0 + 30.0 * math.tan(math.radians(5.0)), radius_m=0.5)
    hit = (fly([(balloon,)], at_rest()).range_m[0] < 99.0).any(axis=0)
    assert np.degrees(COARSE.elevation_rad) == pytest.approx([-15.0, -5.0, 5.0, 15.0])
    assert hit.tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("tilt", "bearing_deg"),
    [
        ({"pitch_rad": math.radians(10.0)}, 0.0),  # bow up: the level ray ahead climbs
        ({"pitch_rad": math.radians(-10.0)}, 180.0),  # bow down: the one astern does
        ({"roll_rad": math.radians(10.0)}, -90.0),  # starboard down: the one to port does
        ({"roll_rad": math.radians(-10.0)}, 90.0),
    ],
)
@pytest.mark.parametrize("tilted", ["hull", "mount"])
def test_a_tilted_head_sees_what_is_high_on_the_side_that_rose(tilt, bearing_deg, tilted):
    # A ring of balloons at 10 degrees of elevation.
    high = 2.0 + 30.0 * math.tan(math.radians(10.0))
    ring = tuple(
        Sphere(north_m=30.0 * math.cos(a), east_m=30.0 * math.sin(a), up_m=high, radius_m=1.0)
        for a in np.radians([0.0, 90.0, 180.0, 270.0])
    )
    # Turned about the sensor: no arm, the boat's origin lifted instead.
    if tilted == "hull":
        sweep = fly([ring], at_rest(up_m=2.0, **tilt), LEVEL, up_m=0.0)
    else:
        sweep = fly([ring], at_rest(), LEVEL, **tilt)
    off = (bearing_of_nearest(sweep) - bearing_deg + 180.0) % 360.0 - 180.0
    assert off == pytest.approx(0.0, abs=0.3)


def test_the_mount_is_an_arm_that_turns_with_the_hull():
    pose = at_rest(heading_rad=math.pi / 2, north_m=5.0, east_m=7.0)
    # Heading east, 2 m forward is 2 m east, 1 m right is 1 m south.
    sweep = fly([(pillar(5.0 - 1.0 + 20.0, 7.0 + 2.0),)], pose, LEVEL, forward_m=2.0, right_m=1.0)
    assert sweep.range_m.min() == pytest.approx(19.0, abs=1e-6)
    assert bearing_of_nearest(sweep) == pytest.approx(-90.0, abs=0.2)


# --- every point on a surface, every ray at its own time -------------------------------------------------------------

MOVING = under_way(
    start={"north_m": 3.0, "east_m": -2.0, "up_m": ALOFT_M, "roll_rad": 0.1, "pitch_rad": -0.05, "heading_rad": 0.7},
    rate={"north_m": 6.0, "east_m": 3.0, "up_m": 0.5, "roll_rad": -0.3, "pitch_rad": 0.2, "heading_rad": 0.6},
)
MOUNT = {"forward_m": 0.5, "right_m": -0.3, "up_m": 2.0, "roll_rad": 0.02, "pitch_rad": -0.03, "yaw_rad": 0.05}


@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.parametrize("pattern", [COARSE, VLP16], ids=["uniform", "firing"])
def test_points_lie_on_the_surfaces_while_boat_and_obstacles_move(pattern, precision):
    still, passing = pillar(25.0, 10.0, 2.0), pillar(-12.0, 9.0, 1.5, vel_north_m_s=4.0, vel_east_m_s=-7.0)
    sweep = fly([(still, passing)], MOVING, pattern, precision=precision, number=14, dt_s=FINE_S, **MOUNT)
    found, fired_s = points(sweep, MOVING, **MOUNT)
    t_s = 1.3 + fired_s
    to_still = np.hypot(found[:, 0] - 25.0, found[:, 1] - 10.0) - 2.0
    to_passing = np.hypot(found[:, 0] + 12.0 - 4.0 * t_s, found[:, 1] - 9.0 + 7.0 * t_s) - 1.5
    on_still = np.abs(to_still) < np.abs(to_passing)
    assert on_still.sum() > 20
    assert (~on_still).sum() > 20
    # 64 bits: angles within a firing are interpolated, not rotated: 1e-9 m. 32 bits: rounding of the angle at 30 m.
    limit_m = 1e-8 if precision == "f64" else 5e-5
    assert np.abs(np.where(on_still, to_still, to_passing)).max() < limit_m


def test_every_surface_of_every_shape_is_met_where_it_is():
    box = Box(north_m=20.0, east_m=0.0, length_m=4.0, width_m=2.0, heading_rad=0.3, top_up_m=9.0, bottom_up_m=7.0)
    flat = Polygon(
        points_ne_m=((-10.0, -5.0), (-10.0, 5.0), (-20.0, 8.0), (-20.0, -8.0)), top_up_m=8.5, bottom_up_m=7.0
    )
    ball = Sphere(north_m=0.0, east_m=15.0, up_m=8.5, radius_m=2.0)
    low = Cylinder(north_m=0.0, east_m=-10.0, radius_m=3.0, top_up_m=8.8, bottom_up_m=7.0)
    grid = uniform_pattern(10.0, -15.0, 15.0, 2.0, 1.0)
    pose = at_rest(up_m=8.0)  # above the water, which would hide their lower halves
    found, _ = points(fly([(box, flat, ball, low)], pose, grid), pose)
    north, east, up = found.T
    c, s = math.cos(0.3), math.sin(0.3)
    ahead, right = np.abs((north - 20.0) * c + east * s), np.abs(east * c - (north - 20.0) * s)
    inside_box = np.maximum(np.maximum(ahead - 2.0, right - 1.0), up - 9.0)
    side = (8.0 - 5.0) / 10.0
    inside_flat = np.maximum.reduce(
        [north + 10.0, -20.0 - north, (np.abs(east) - 5.0 - side * (-10.0 - north)) / math.hypot(1.0, side), up - 8.5]
    )
    to_ball = np.sqrt(north**2 + (east - 15.0) ** 2 + (up - 8.5) ** 2) - 2.0
    to_low = np.maximum(np.hypot(north, east + 10.0) - 3.0, up - 8.8)
    surfaces = np.abs(np.stack([inside_box, inside_flat, to_ball, to_low]))
    assert surfaces.min(axis=0).max() < 1e-9
    met = np.bincount(surfaces.argmin(axis=0), minlength=4)
    assert (met > 10).all()
    # Tops are seen too: points of the flat's deck and of the cylinder's end.
    assert (np.abs(up - 8.5)[surfaces.argmin(axis=0) == 1] < 1e-9).sum() > 5
    assert (np.abs(up - 8.8)[surfaces.argmin(axis=0) == 3] < 1e-9).sum() > 3


def test_a_moving_boat_skews_the_picture_by_its_own_way():
    # Towards a wall at 5 m/s: the ray ahead leaves half a sweep after the start.
    wall = (Polyline(points_ne_m=((50.0, -200.0), (50.0, 200.0)), top_up_m=9.0, bottom_up_m=-9.0),)
    pose = under_way({}, {"north_m": 5.0})
    ahead = 900
    assert LEVEL.columns == 1800
    assert fly([wall], pose, LEVEL).range_m[0, ahead, 0] == pytest.approx(50.0 - 5.0 * 0.05, abs=1e-9)
    # Undistorted: all rays from the pose at the sweep's end.
    frozen = fly([wall], pose, LEVEL, distorted=False)
    assert frozen.range_m[0, ahead, 0] == pytest.approx(50.0 - 5.0 * 0.1, abs=1e-9)
    early, late = 900 - 300, 900 + 300  # 60 degrees either side of the bow
    assert frozen.range_m[0, early, 0] == pytest.approx(frozen.range_m[0, late, 0], abs=1e-9)
    skewed = fly([wall], pose, LEVEL).range_m[0]
    between_s = 600 / 1800 * 0.1
    assert skewed[early, 0] - skewed[late, 0] == pytest.approx(5.0 * between_s / math.cos(math.radians(60.0)), abs=1e-9)


def test_turning_shifts_bearings_by_the_turn_during_the_sweep():
    pose = under_way({}, {"heading_rad": 0.5})
    sweep = fly([(pillar(30.0, 0.0),)], pose, LEVEL)
    # At t the pillar bears -0.5 t from the bow while the head points at 2 pi t / T - pi; they meet at this time:
    meeting_s = math.pi / (2.0 * math.pi / 0.1 + 0.5)
    assert bearing_of_nearest(sweep) == pytest.approx(math.degrees(-0.5 * meeting_s), abs=0.15)


@pytest.mark.parametrize("distorted", [True, False])
def test_a_moving_obstacle_is_met_where_it_is_at_the_rays_time(distorted):
    mover = pillar(40.0, 0.0, 1.0, vel_north_m_s=-10.0)
    sweep = fly([(mover,)], at_rest(), LEVEL, number=21, distorted=distorted)
    fired_s = 2.0 + (0.05 if distorted else 0.1)
    assert sweep.range_m[0, 900, 0] == pytest.approx(39.0 - 10.0 * fired_s, abs=1e-9)


def test_a_seen_top_is_at_the_height_it_has_while_the_boat_heaves():
    deck = Polygon(
        points_ne_m=((-300.0, -300.0), (-300.0, 300.0), (300.0, 300.0), (300.0, -300.0)),
        top_up_m=0.5,
        bottom_up_m=-2.0,
    )
    pose = under_way({"up_m": 1.3}, {"up_m": -2.0, "roll_rad": 0.4})
    found, _ = points(fly([(deck,)], pose, dt_s=FINE_S), pose)
    assert len(found) > 500
    assert found[:, 2] == pytest.approx(np.full(len(found), 0.5), abs=1e-9)


# --- limits of the range and rays without a return -------------------------------------------------------------------


def test_rays_without_a_return_read_the_limit_or_infinity():
    scene = [(pillar(150.0, 0.0, 40.0), pillar(0.0, 60.0))]
    far = fly(scene, at_rest(), LEVEL, range_max_m=80.0)
    omitted = fly(scene, at_rest(), LEVEL, range_max_m=80.0, no_hit="omit")
    hit = omitted.range_m < math.inf
    assert 0 < hit.sum() < 50  # the near one only: the far one begins at 110 m
    assert (far.range_m[~hit] == 80.0).all()
    assert (far.range_m[hit] == omitted.range_m[hit]).all()


def test_a_surface_just_inside_the_limit_returns_and_just_outside_does_not():
    scene = [(pillar(51.0, 0.0),)]  # surface at 50 m
    assert fly(scene, at_rest(), LEVEL, range_max_m=50.001, no_hit="omit").range_m.min() == pytest.approx(50.0)
    assert fly(scene, at_rest(), LEVEL, range_max_m=49.999, no_hit="omit").range_m.min() == math.inf


def test_measured_ranges_below_the_minimum_are_discarded():
    scene = [(pillar(1.8, 0.0),)]  # surface at 0.8 m
    assert fly(scene, at_rest(), LEVEL, range_min_m=0.81, no_hit="omit").range_m[0, 900, 0] == math.inf
    # No point at all, whatever silence reads: something was there.
    assert fly(scene, at_rest(), LEVEL, range_min_m=0.81).range_m[0, 900, 0] == math.inf
    assert fly(scene, at_rest(), LEVEL, range_min_m=0.79).range_m[0, 900, 0] == pytest.approx(0.8)
    # The measured range counts, not the true one: at the limit noise discards one half.
    sweep = fly([room(20.0)] * 4, at_rest(), LEVEL, range_min_m=20.0, noise_m=0.5, no_hit="omit")
    ahead = sweep.range_m[:, 890:911, 0]
    assert 0.25 < np.isinf(ahead).mean() < 0.75


def test_the_sea_returns_at_height_over_sine_of_depression():
    sweep = fly([()], at_rest(up_m=0.5), sea_returns=True, up_m=2.0)
    downward = np.array(COARSE.elevation_rad) < 0.0
    expected = 2.5 / np.sin(-np.array(COARSE.elevation_rad)[downward])
    assert sweep.range_m[0][:, downward] == pytest.approx(np.broadcast_to(expected, (360, 2)))
    assert (sweep.range_m[0][:, ~downward] == 100.0).all()
    assert (fly([()], at_rest(up_m=0.5)).range_m == 100.0).all()


def test_a_level_wall_hides_the_sea_behind_it():
    wall = (Polyline(points_ne_m=((5.0, -50.0), (5.0, 50.0)), top_up_m=9.0, bottom_up_m=-9.0),)
    sweep = fly([wall], at_rest(), sea_returns=True)
    lowest = sweep.range_m[0, 180, 0]
    assert lowest == pytest.approx(min(5.0 / math.cos(math.radians(15.0)), 2.0 / math.sin(math.radians(15.0))))


def test_restricted_sectors_read_the_same_bits_as_the_full_sweep():
    scene = [(pillar(20.0, 4.0), pillar(15.0, -9.0, 2.0, vel_north_m_s=2.0))] * 2
    for pattern in (COARSE, VLP16):
        part = restricted(pattern, (math.radians(-35.0), math.radians(40.0)))
        assert part.columns < 0.25 * pattern.columns
        settings = {"noise_m": 0.05, "dropout": 0.2, "precision": "f32", "number": 7}
        full, some = fly(scene, MOVING, pattern, **settings), fly(scene, MOVING, part, **settings)
        same = full.range_m[:, part.first : part.first + part.columns]
        assert np.array_equal(same, some.range_m)
        assert (some.range_m < 99.0).any()


def test_a_sweep_that_has_one_firing_less_leaves_the_last_column_empty():
    # 1808.45 firings a turn: some sweeps have 1,808, some 1,809.
    last = [
        fly([room(20.0)], at_rest(), replace(VLP16, first=1800, columns=9), number=n).range_m[0, -1, 0]
        for n in range(8)
    ]
    empty = np.isinf(last)
    assert 0 < empty.sum() < 8


# --- noise -----------------------------------------------------------------------------------------------------------

SIGMA = 0.05


def errors(number=1, seed=1, trials=(0, 1, 2), precision="f64"):
    """Range errors over sigma, (trials, columns, channels), of rays that all return."""
    grid = uniform_pattern(10.0, -15.0, 15.0, 10.0, 0.5)
    scene = [room(20.0)] * len(trials)
    settings = {"number": number, "seed": seed, "trials": trials, "precision": precision}
    pose = at_rest(up_m=ALOFT_M)
    true = fly(scene, pose, grid, **settings).range_m
    assert (true < 99.0).all()
    return (fly(scene, pose, grid, noise_m=SIGMA, **settings).range_m - true) / SIGMA


def test_range_noise_is_normal_with_the_given_deviation():
    e = np.concatenate([errors(number=n).ravel() for n in (1, 2)])
    n = len(e)
    assert n == 2 * 3 * 720 * 4
    # Standard errors of the first four moments of a normal sample; 4 of them is one failure in 16,000.
    assert abs(e.mean()) < 4.0 / math.sqrt(n)
    assert abs(e.std() - 1.0) < 4.0 / math.sqrt(2 * n)
    assert abs((e**3).mean()) < 4.0 * math.sqrt(15.0 / n)
    assert abs((e**4).mean() - 3.0) < 4.0 * math.sqrt(96.0 / n)
    # Shares within 1 and 2 deviations.
    for width, share in ((1.0, 0.682689), (2.0, 0.954500)):
        assert abs((np.abs(e) < width).mean() - share) < 4.0 * math.sqrt(share * (1.0 - share) / n)


def test_range_noise_is_independent_of_ray_channel_sweep_and_trial():
    e, after = errors(number=1), errors(number=2)
    pairs = {
        "neighbouring columns": (e[:, 1:], e[:, :-1]),
        "neighbouring channels": (e[..., 1:], e[..., :-1]),
        "every second channel": (e[..., 2:], e[..., :-2]),
        "next sweep": (e, after),
        "next trial": (e[1:], e[:-1]),
        "another seed": (e, errors(seed=2)),
    }
    for name, (a, b) in pairs.items():
        assert abs((a * b).mean()) < 4.0 / math.sqrt(a.size), name


def test_the_same_seed_sweep_and_trial_give_the_same_noise():
    e = errors()
    assert np.array_equal(e, errors())
    assert np.array_equal(errors(trials=(2, 0, 1)), e[[2, 0, 1]])
    # 32 and 64 bits draw the same numbers: they differ by rounding at 20 m only.
    assert np.abs(errors(precision="f32") - e).max() < 2e-4


def test_noise_may_differ_from_trial_to_trial():
    scene = [room(20.0)] * 3
    pose = at_rest(up_m=ALOFT_M)
    noisy = fly(scene, pose, noise_m=np.array([0.0, 0.05, 0.2]))
    spread = (noisy.range_m - fly(scene, pose).range_m).std(axis=(1, 2))
    assert spread == pytest.approx([0.0, 0.05, 0.2], rel=0.1, abs=1e-12)


def test_rays_that_met_nothing_carry_no_noise():
    assert (fly([()], at_rest(), noise_m=0.5).range_m == 100.0).all()


@pytest.mark.parametrize("probability", [0.05, 0.5, 1.0])
def test_returns_drop_out_as_often_as_said_and_independently(probability):
    sweep = fly([room(20.0)] * 3, at_rest(up_m=ALOFT_M), dropout=probability, no_hit="omit")
    lost = np.isinf(sweep.range_m)
    n = lost.size
    deviation = math.sqrt(probability * (1.0 - probability) / n)
    assert abs(lost.mean() - probability) <= 4.0 * deviation
    centred = lost - probability
    for a, b in ((centred[:, 1:], centred[:, :-1]), (centred[..., 1:], centred[..., :-1]), (centred[1:], centred[:-1])):
        assert abs((a * b).mean()) <= 4.0 * probability * (1.0 - probability) / math.sqrt(a.size) + 1e-12


def test_dropping_out_does_not_depend_on_the_noise():
    scene = [room(20.0)] * 3
    pose = at_rest(up_m=ALOFT_M)
    sweep = fly(scene, pose, dropout=0.5, noise_m=SIGMA, no_hit="omit")
    kept = sweep.range_m < math.inf
    e = (sweep.range_m - fly(scene, pose, no_hit="omit").range_m)[kept] / SIGMA
    assert abs(e.mean()) < 4.0 / math.sqrt(kept.sum())
    assert abs(e.std() - 1.0) < 4.0 / math.sqrt(2 * kept.sum())
