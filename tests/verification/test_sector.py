"""The paper's avoidance rule: branch by branch, beside a plain re-reading of its text, and without a favourite side.

Seed A, section 3.3: r_front = least range within +/-beta; r_front < safe distance -> avoid; the side (alpha < 0 left,
alpha > 0 right) with more room by mean range or by density of points gets the turn; starboard first if COLREGs are
to be honoured; the turn goes before speed for a time; then back to the course.
"""

from __future__ import annotations

import math
from dataclasses import replace

import drjit as dr
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldworthy.control.controller import Readings
from fieldworthy.core.engine import load_engine
from fieldworthy.guidance.sector import Sector, SectorMemory, SectorParameters, SectorView, look, sector_law
from fieldworthy.guidance.straight import Straight, StraightParameters, turn_to_target
from fieldworthy.sensors.scan import Scan, to_numpy
from fieldworthy.sensors.scan_pattern import firing_pattern, restricted, uniform_pattern

PORT, STARBOARD = -1.0, 1.0
RULE = SectorParameters(
    safe_distance_m=15.0, cruise_speed_m_s=5.0, avoid_speed_m_s=3.0, turn_rate_deg_s=20.0, turn_time_s=1.0
)
TURN = math.radians(20.0)
FRESH = SectorMemory(0.0, STARBOARD)


def view(front=10.0, left=20.0, right=30.0, left_points=100.0, right_points=100.0):
    return SectorView(front, left, right, left_points, right_points)


def rule(**changes):
    return SectorParameters(**{name: getattr(RULE, name) for name in RULE.__struct_fields__} | changes)


# --- branch by branch ------------------------------------------------------------------------------------------------


def test_nothing_within_the_safe_distance_keeps_the_course():
    for front in (15.0, 15.001, 100.0, math.inf):  # r_front below the safe distance avoids; equal does not
        speed, turn, avoiding, memory = sector_law(view(front), 0.123, FRESH, 0.1, RULE)
        assert (speed, turn, avoiding, memory.timer_s) == (5.0, 0.123, False, 0.0)


@pytest.mark.parametrize(
    ("left", "right", "side"), [(20.0, 30.0, STARBOARD), (30.0, 20.0, PORT), (25.0, 25.0, STARBOARD)]
)
def test_the_turn_goes_to_the_side_with_more_room(left, right, side):
    speed, turn, avoiding, memory = sector_law(view(14.999, left, right), 0.123, FRESH, 0.1, RULE)
    assert avoiding
    assert speed == 3.0
    assert turn == pytest.approx(side * TURN)
    assert memory.side == side


@pytest.mark.parametrize(
    ("left", "right", "side"), [(50.0, 40.0, STARBOARD), (40.0, 50.0, PORT), (40.0, 40.0, STARBOARD)]
)
def test_comparing_points_turns_to_the_emptier_side_whatever_the_ranges(left, right, side):
    for means in ((1.0, 90.0), (90.0, 1.0)):
        seen = view(10.0, *means, left_points=left, right_points=right)
        assert sector_law(seen, 0.0, FRESH, 0.1, rule(compare="points"))[3].side == side


@pytest.mark.parametrize("compare", ["mean_range", "points"])
def test_starboard_first_asks_port_for_a_margin(compare):
    colregs = rule(compare=compare, starboard_first=True, starboard_margin=0.2)

    def side(left, right):
        seen = view(10.0, left, right) if compare == "mean_range" else view(left_points=left, right_points=right)
        return sector_law(seen, 0.0, FRESH, 0.1, colregs)[3].side

    if compare == "mean_range":  # more range is more room
        assert [side(22.0, 20.0), side(23.9, 20.0), side(24.1, 20.0), side(10.0, 20.0)] == [1.0, 1.0, -1.0, 1.0]
    else:  # fewer points are more room
        assert [side(90.0, 100.0), side(81.0, 100.0), side(79.0, 100.0), side(200.0, 100.0)] == [1.0, 1.0, -1.0, 1.0]


@pytest.mark.parametrize("turn_time_s", [0.1, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("precision", [float, np.float32])
def test_a_turn_lasts_its_time_and_no_longer(turn_time_s, precision):
    held = rule(turn_time_s=turn_time_s)
    memory, ticks = FRESH, 0
    front = 10.0
    while ticks < 100:
        _, turn, avoiding, memory = sector_law(view(front, 30.0, 20.0), 0.5, memory, 0.1, held)
        # What a 32-bit lane keeps from call to call.
        memory = SectorMemory(float(precision(memory.timer_s)), memory.side)
        if not avoiding:
            break
        assert turn == pytest.approx(-TURN)
        ticks += 1
        front = 100.0  # gone from ahead after the first look: the turn goes on all the same
    assert ticks == round(turn_time_s / 0.1)
    assert (turn, memory.timer_s) == (0.5, 0.0)


def test_sides_are_not_compared_again_during_a_turn():
    _, _, _, memory = sector_law(view(10.0, 30.0, 20.0), 0.0, FRESH, 0.1, RULE)
    for _ in range(9):
        _, turn, _, memory = sector_law(view(10.0, 1.0, 99.0), 0.0, memory, 0.1, RULE)
        assert turn == pytest.approx(-TURN)
    _, turn, _, memory = sector_law(view(10.0, 1.0, 99.0), 0.0, memory, 0.1, RULE)  # its second is over
    assert turn == pytest.approx(TURN)


@given(
    front=st.floats(0.0, 30.0), left=st.floats(0.1, 90.0), right=st.floats(0.1, 90.0),
    timer=st.sampled_from([0.0, 0.5]), side=st.sampled_from([PORT, STARBOARD]), back=st.floats(-0.3, 0.3),
    compare=st.sampled_from(["mean_range", "points"]),
)  # fmt: skip
def test_a_mirrored_view_gives_a_mirrored_turn(front, left, right, timer, side, back, compare):
    if left == right:
        return
    p = rule(compare=compare)
    here = sector_law(view(front, left, right, left, right), back, SectorMemory(timer, side), 0.1, p)
    there = sector_law(view(front, right, left, right, left), -back, SectorMemory(timer, -side), 0.1, p)
    assert there[0] == here[0]
    assert there[1] == -here[1]
    assert (there[2], there[3].timer_s) == (here[2], here[3].timer_s)


# --- looking at a sweep ----------------------------------------------------------------------------------------------

GRID = uniform_pattern(10.0, -15.0, 15.0, 10.0, 1.0)
DEVICE = firing_pattern(10.0, (-15.0, 1.0, 15.0, -7.0), 700e-6, 30e-6)


def scan_of(ranges, pattern, precision="f64", shift_s=0.0):
    """A sweep with the given ranges (trials, columns, channels)."""
    engine = load_engine(precision)
    lanes = tuple(engine.floats(ranges[..., k]) for k in range(pattern.channels))
    return Scan(lanes, engine.indices(ranges[..., 0].size), engine.scalar(shift_s), engine.scalar(0.0), pattern)


def reading_of_the_paper(azimuth, elevation, ranges, p):
    """The text of section 3.3 on one cloud: loops and lists."""
    beta = math.radians(p.half_angle_deg)
    ahead, left, right = [], [], []
    for i in range(ranges.shape[0]):
        for k in range(ranges.shape[1]):
            r, a = ranges[i, k], azimuth[i, k]
            if not math.isfinite(r) or not -beta <= a <= beta:
                continue
            if p.sensor_up_m + r * math.sin(elevation[k]) < p.ignore_below_m and elevation[k] < 0.0:
                continue
            ahead.append(r)
            if a < 0.0:
                left.append(r)
            elif a > 0.0:
                right.append(r)
    return ahead, left, right


@pytest.mark.parametrize(
    "pattern", [GRID, DEVICE, restricted(GRID, (-0.65, 0.65))], ids=["uniform", "firing", "restricted"]
)
@pytest.mark.parametrize("ignore_below_m", [-1000.0, 0.3])
def test_look_beside_a_plain_reading_of_the_paper(pattern, ignore_below_m):
    rng = np.random.default_rng(4)
    ranges = rng.uniform(1.0, 60.0, (6, pattern.columns, pattern.channels))
    ranges[rng.uniform(size=ranges.shape) < 0.3] = math.inf
    ranges[4, : pattern.columns // 2] = math.inf  # nothing to port
    ranges[5] = math.inf  # nothing at all
    p = SectorParameters(half_angle_deg=35.5, ignore_below_m=ignore_below_m)
    shift_s = 2e-4 if pattern.kind == "firing" else 0.0
    scan = scan_of(ranges, pattern, shift_s=shift_s)
    seen = look(scan, p)
    poison = np.full((5, 6), np.nan)
    for row, name in enumerate(("front_m", "left_mean_m", "right_mean_m", "left_points", "right_points")):
        poison[row] = np.asarray(getattr(seen, name))
    fired_s = (pattern.first + np.arange(pattern.columns))[:, None] * pattern.firing_period_s + np.array(
        pattern.laser_delay_s
    )
    azimuth = 2.0 * math.pi * (fired_s + shift_s) / 0.1 - math.pi
    azimuth[np.abs(azimuth) < 1e-9] = 0.0
    for trial in range(6):
        ahead, left, right = reading_of_the_paper(azimuth, pattern.elevation_rad, ranges[trial], p)
        expected = [
            min(ahead, default=math.inf),
            sum(left) / len(left) if left else math.inf,
            sum(right) / len(right) if right else math.inf,
            len(left),
            len(right),
        ]
        assert poison[:, trial] == pytest.approx(expected)
    assert poison[0, 5] == math.inf


@pytest.mark.parametrize("precision", ["f32", "f64"])
@pytest.mark.parametrize("half_angle_deg", [35.0, 30.0, 20.2, 90.0, 180.0])
def test_neither_side_is_favoured(precision, half_angle_deg):
    # A mirrored cloud has exactly the mirrored view: both sides hold the same columns, the middle one is on neither.
    fine = uniform_pattern(10.0, -15.0, 15.0, 15.0, 0.2)
    columns, channels = fine.columns, fine.channels
    rng = np.random.default_rng(9)
    ranges = np.round(rng.uniform(1.0, 60.0, (1, columns, channels)) * 256) / 256  # sums are exact in 32 bits
    mirrored = ranges.copy()
    mirrored[:, 1:] = ranges[:, :0:-1]  # column i at azimuth -a goes where +a is; column 0 is dead astern
    p = SectorParameters(half_angle_deg=half_angle_deg)
    here, there = look(scan_of(ranges, fine, precision), p), look(scan_of(mirrored, fine, precision), p)
    points = [float(np.asarray(x)[0]) for x in (here.left_points, here.right_points)]
    expected = channels * math.floor(half_angle_deg / 0.2 + 1e-6)
    if half_angle_deg < 180.0:
        assert points[0] == points[1]
        assert abs(points[0] - expected) <= channels  # a column on the very edge may be in or out, on both sides
        assert np.asarray(here.left_mean_m)[0] == np.asarray(there.right_mean_m)[0]
        assert np.asarray(here.right_mean_m)[0] == np.asarray(there.left_mean_m)[0]
    assert np.asarray(here.front_m)[0] == np.asarray(there.front_m)[0]


def test_a_free_side_gets_the_turn_where_free_rays_are_left_out():
    # no_hit = "omit": an obstacle to port only leaves the starboard side without a single point.
    ranges = np.full((2, GRID.columns, GRID.channels), math.inf)
    ranges[0, 160:180] = 9.0  # to port
    ranges[1, 181:200] = 9.0  # to starboard
    seen = look(scan_of(ranges, GRID), RULE)
    zero = seen.front_m * 0.0
    _, turn, _, _ = sector_law(seen, zero, SectorMemory(zero, zero + 1.0), 0.1, RULE)
    assert np.asarray(turn) == pytest.approx([TURN, -TURN])
    _, turn, _, _ = sector_law(seen, zero, SectorMemory(zero, zero + 1.0), 0.1, rule(starboard_first=True))
    assert np.asarray(turn) == pytest.approx([TURN, -TURN])


@pytest.mark.parametrize("yaw_deg", [180.0, -90.0, 20.0])
def test_a_lidar_turned_on_its_mount_changes_nothing_that_the_rule_sees(yaw_deg):
    # What a head turned to starboard has at azimuth a, a straight one has at a + yaw.
    rng = np.random.default_rng(12)
    ranges = rng.uniform(1.0, 60.0, (4, GRID.columns, GRID.channels))
    turned = np.roll(ranges, -round(yaw_deg), axis=1)  # one column a degree
    p = SectorParameters(half_angle_deg=35.5)
    mounted = scan_of(turned, replace(GRID, yaw_rad=math.radians(yaw_deg)))
    straight, seen = look(scan_of(ranges, GRID), p), look(mounted, p)
    for name in vars(straight):
        assert np.asarray(getattr(seen, name)) == pytest.approx(np.asarray(getattr(straight, name))), name
    bearing = to_numpy(mounted).bearing_rad
    assert bearing.min() >= -math.pi - 1e-12
    assert bearing.max() < math.pi + 1e-12
    for channel in range(GRID.channels):
        lanes = np.asarray(mounted.bearing_rad(channel))[: GRID.columns]
        assert np.cos(lanes - bearing[:, channel]) == pytest.approx(np.ones(GRID.columns))


def test_numpy_and_lanes_see_the_same_angles():
    for pattern in (GRID, DEVICE):
        scan = scan_of(np.ones((2, pattern.columns, pattern.channels)), pattern, shift_s=1e-4)
        arrays = to_numpy(scan)
        for channel in range(pattern.channels):
            lanes = np.asarray(scan.azimuth_rad(channel)).reshape(2, -1)
            assert lanes == pytest.approx(np.stack([arrays.azimuth_rad[:, channel]] * 2), abs=1e-12)
        assert arrays.time_s * 2.0 * math.pi / 0.1 - math.pi == pytest.approx(arrays.azimuth_rad, abs=1e-9)


def test_the_controller_joins_the_parts():
    engine = load_engine("f64")
    ranges = np.full((3, GRID.columns, GRID.channels), 100.0)
    ranges[0, 170:180] = 9.0  # trial 0: blocked, more room to starboard
    ranges[1, 181:191] = 9.0  # trial 1: blocked, more room to port
    p = type("P", (), {name: getattr(RULE, name) for name in RULE.__struct_fields__})()
    numbers = [engine.floats(np.zeros(3)) for _ in range(3)]
    readings = Readings(
        t_s=engine.scalar(0.0), period_s=engine.scalar(0.1), trial=engine.integers(np.arange(3)),
        north_m=engine.floats(np.zeros(3)), east_m=engine.floats(np.zeros(3)), heading_rad=engine.floats(np.zeros(3)),
        surge_m_s=numbers[0], yaw_rate_rad_s=numbers[1], sway_m_s=numbers[2],
        target_north_m=engine.floats(np.full(3, 50.0)), target_east_m=engine.floats(np.full(3, 1.0)),
        scan=scan_of(ranges, GRID),
        memory={"timer_s": engine.floats(np.zeros(3)), "side": engine.floats(np.ones(3))},
    )  # fmt: skip
    answer = Sector(RULE).command(readings, p)
    dr.eval(answer)
    assert np.asarray(answer.surge_m_s) == pytest.approx([3.0, 3.0, 5.0])
    assert np.asarray(answer.yaw_rate_rad_s)[:2] == pytest.approx([TURN, -TURN])
    assert np.asarray(answer.yaw_rate_rad_s)[2] == pytest.approx(0.8 * math.atan2(1.0, 50.0))
    assert np.asarray(answer.mode) == pytest.approx([1.0, 2.0, 0.0])
    assert Sector(SectorParameters(half_angle_deg=20.0)).reads_deg == (-20.0, 20.0)


# --- going for the target --------------------------------------------------------------------------------------------


def readings_at(north, east, heading, target):
    numbers = dict.fromkeys(("t_s", "period_s", "trial", "surge_m_s", "sway_m_s", "yaw_rate_rad_s"), 0.0)
    return Readings(
        **numbers,
        north_m=north,
        east_m=east,
        heading_rad=heading,
        target_north_m=target[0],
        target_east_m=target[1],
        scan=None,
    )


@given(
    north=st.floats(-50, 50),
    east=st.floats(-50, 50),
    heading=st.floats(-20, 20),
    distance=st.floats(1, 90),
    bearing=st.floats(-3.1, 3.1),
)
def test_the_turn_goes_the_short_way_to_the_target(north, east, heading, distance, bearing):
    target = (north + distance * math.cos(bearing), east + distance * math.sin(bearing))
    turn = turn_to_target(readings_at(north, east, heading, target), 1.0, 1e6)
    assert abs(turn) <= math.pi + 1e-9
    assert complex(math.cos(heading + turn), math.sin(heading + turn)) == pytest.approx(
        complex(math.cos(bearing), math.sin(bearing)), abs=1e-9
    )


def test_the_turn_is_limited_and_positive_to_starboard():
    assert turn_to_target(readings_at(0, 0, 0, (10.0, 10.0)), 0.5, 1e6) == pytest.approx(0.5 * math.pi / 4)
    assert turn_to_target(readings_at(0, 0, 0, (-10.0, 1.0)), 5.0, 15.0) == pytest.approx(math.radians(15.0))
    assert turn_to_target(readings_at(0, 0, 0, (-10.0, -1.0)), 5.0, 15.0) == pytest.approx(-math.radians(15.0))


def test_going_straight_looks_at_nothing():
    answer = Straight().command(readings_at(0, 0, 0, (10.0, 10.0)), StraightParameters(cruise_speed_m_s=4.0))
    assert answer.surge_m_s == 4.0
    assert answer.yaw_rate_rad_s == pytest.approx(math.radians(15.0))
    assert Straight.reads_deg is None
