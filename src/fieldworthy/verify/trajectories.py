"""What programs and paths of arms owe: orientations of controllers, arcs, times of closed forms, the cheapest way."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from fieldworthy.arms.catalogue import load_arm
from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.interpolate import arc_poses, arc_through, slerp
from fieldworthy.arms.kinematics import fk
from fieldworthy.arms.orientation import matrix_of, other_from_source, pose_of, values_of
from fieldworthy.arms.path import NoPath, PathOptions, plan
from fieldworthy.arms.path_search import cheapest
from fieldworthy.arms.programs import gcode
from fieldworthy.arms.spline import spline_through
from fieldworthy.arms.timing import Timing, retime
from fieldworthy.verify.check import Check

TURN = 2.0 * math.pi
RADIUS, ACCELERATION, QUARTER_STEPS = 0.7, 2.0, 600
SPEED, WAY = 0.5, 1.0

# Orientations as controllers write them -------------------------------------------------------------------------------

CYCLE = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""x goes to y, y to z, z to x."""


def _off_fixed_angles(convention: str, order: int) -> float:
    """Largest entry, and angle read back, off the matrix of Craig's turns about the fixed x, y and z."""
    g, b, a = 0.3, -0.7, 1.9
    (ca, sa), (cb, sb), (cg, sg) = ((math.cos(x), math.sin(x)) for x in (a, b, g))
    matrix = np.array([
        [ca * cb, ca * sb * sg - sa * cg, ca * sb * cg + sa * sg],
        [sa * cb, sa * sb * sg + ca * cg, sa * sb * cg - ca * sg],
        [-sb, cb * sg, cb * cg],
    ])  # fmt: skip
    values = (g, b, a)[::order]
    read = np.abs(values_of(convention, matrix) - values).max()
    return float(max(read, np.abs(matrix_of(convention, values) - matrix).max()))


def _quaternion_entry() -> float:
    """z of the tool's x axis, the other entries on their places."""
    matrix = matrix_of("abb_quat", (0.707107, 0.0, 0.707107, 0.0))
    placed = np.abs(matrix - [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [matrix[2, 0], 0.0, 0.0]]).max() < 2e-6
    return float(matrix[2, 0]) if placed else math.nan


def _turned_in_unity_deg() -> float:
    """About Unity's y axis, of a turn by 90 deg to the left."""
    seen = other_from_source("unity", pose_of((0.0, 0.0, 0.0), "rpy", (0.0, 0.0, 0.25 * TURN)))
    return math.degrees(math.atan2(seen[0, 2], seen[2, 2]))


# Between poses --------------------------------------------------------------------------------------------------------


def _about_z(angle_rad: float) -> Array:
    return matrix_of("rpy", (0.0, 0.0, angle_rad))


def _half_way_deg() -> float:
    """Of a turn by 350 deg about an axis that is none of the frame's."""
    tilt = matrix_of("rpy", (0.4, -0.8, 2.0))
    half = tilt.T @ slerp(tilt, tilt @ _about_z(math.radians(350.0)), 0.5)
    return float(np.degrees(values_of("ur_rotvec", half)[2]))


def _radius_m() -> float:
    """Of the circle through the corners of a tilted triangle with sides of 13, 14 and 15 m."""
    corners = np.array(((0.0, 0.0, 0.0), (14.0, 0.0, 0.0), (5.0, 12.0, 0.0))) @ matrix_of("rpy", (0.4, -0.8, 2.0)).T
    arc = arc_through(*corners)
    return math.nan if arc is None else arc.radius_m


@cache
def _third_of_an_arc() -> Array:
    """Of a half circle of 1 m about z, on which the tool turns by 90 deg about x: the pose after a third."""
    first = pose_of((1.0, 0.0, 0.0), "rpy", (0.0, 0.0, 0.0))
    last = pose_of((-1.0, 0.0, 0.0), "rpy", (0.25 * TURN, 0.0, 0.0))
    arc = arc_through(first[:3, 3], (0.0, 1.0, 0.0), last[:3, 3])
    assert arc is not None
    return arc_poses(first, last, arc, 1.0 / 3.0)


def _length_of_a_long_arc_mm() -> float:
    """Of an arc written with a negative radius, in the pieces it is read as; negative where it runs clockwise."""
    start, *pieces = gcode.read("G21 G90 G17\nG0 X10 Y0 Z0\nG2 X0 Y10 R-10 F100\n", "arc.nc").moves
    length_m, here = 0.0, np.array(start.pose)[:3, 3]
    for piece in pieces:
        after = np.array(piece.pose)[:3, 3]
        arc = arc_through(here, np.array(piece.via)[:3, 3], after)
        length_m += math.nan if arc is None else arc.radius_m * arc.end_rad * arc.axis[2]
        here = after
    return 1000.0 * length_m


def _spline_order() -> float:
    """Of the error on a sine away from the ends, as the steps are halved."""

    def error(count: int) -> float:
        s = np.linspace(0.0, 3.0, count)
        corners = np.isin(np.arange(count), (0, count - 1))
        inner = np.flatnonzero((s[:-1] > 1.0) & (s[1:] < 2.0))
        half = 0.5 * np.diff(s)[inner]
        found = spline_through(np.sin(s)[:, None], np.diff(s), corners).at(inner, half)[0][:, 0]
        return float(np.abs(found - np.sin(s[inner] + half)).max())

    return math.log2(error(61) / error(121))


# Times ----------------------------------------------------------------------------------------------------------------


def _rest_to_rest_s(speed: float) -> float:
    return retime([[0.0], [WAY]], [speed], [ACCELERATION]).duration_s


@cache
def _circle() -> Timing:
    """One and a half turns of two joints on a circle, each with its own limit of acceleration and none of speed."""
    turn = np.linspace(0.0, 1.5 * TURN, 6 * QUARTER_STEPS + 1)
    circle = RADIUS * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return retime(circle, [np.inf, np.inf], [ACCELERATION, ACCELERATION])


def _pace_at_the_top() -> float:
    """Half a turn after the start, where the first joint turns round."""
    return math.hypot(*_circle().velocity[2 * QUARTER_STEPS])


def _quarter_s() -> float:
    return float(_circle().t_s[3 * QUARTER_STEPS] - _circle().t_s[2 * QUARTER_STEPS])


@cache
def _fed() -> Timing:
    """A lever of 0.5 m that turns by 1 rad at a feed of 0.2 m/s."""
    steps = np.full(400, 0.5 * WAY / 400)
    return retime(np.linspace(0.0, WAY, 401)[:, None], [3.0], [ACCELERATION], tool_step_m=steps, feed_m_s=0.2)


def _fastest_feed_m_s() -> float:
    reached = _fed().reached_feed_m_s
    return math.nan if reached is None else float(reached.max())


@cache
def _most_used() -> tuple[float, float]:
    """(share of the speed limits, of the acceleration limits) that a path of six joints uses, of 20,001 samples."""
    draw = np.random.Generator(np.random.Philox(key=1))
    s = np.linspace(0.0, 1.0, 300)[:, None]
    q = sum(draw.normal(size=6) / k * np.sin(math.pi * k * s + draw.uniform(0.0, 6.0, 6)) for k in range(1, 7))
    speed, acceleration = draw.uniform(1.0, 3.0, 6), draw.uniform(2.0, 9.0, 6)
    timing = retime(q, speed, acceleration)
    _, moving, pushed = timing.sample(np.linspace(0.0, timing.duration_s, 20001))
    return float((np.abs(moving) / speed).max()), float((np.abs(pushed) / acceleration).max())


# Whole paths ----------------------------------------------------------------------------------------------------------


def _planned(arm: Arm, poses: Array, start: Any = None) -> Array:
    """Postures (n, dof); NaN where there is no path."""
    try:
        return plan(arm, poses, start=start, options=PathOptions(avoid=False)).q
    except NoPath:
        return np.full((len(poses), arm.dof), math.nan)


@cache
def _through_the_wrist() -> Array:
    """Postures of a KR10 on a line of 240 mm straight down, in the middle of which its wrist is stretched."""
    arm, q = load_arm("KR10 R1100"), (0.2, -1.2, 1.5, 0.3, 0.0, 0.4)
    # Too little room for another branch of the arm: there its wrist would be bent.
    near = [replace(joint, lower=x - 0.4, upper=x + 0.4) for joint, x in zip(arm.joints[:3], q[:3], strict=True)]
    poses = np.repeat(fk(arm, q)[None], 101, axis=0)
    poses[:, 2, 3] += np.linspace(0.12, -0.12, 101)
    path = _planned(replace(arm, joints=(*near, *arm.joints[3:])), poses, q)
    return path if path[0, 4] * path[-1, 4] < 0.0 else path * math.nan


def _idle_joints_rad() -> float:
    """Largest way of A1, A4 and A6, which need not move."""
    return float(np.ptp(_through_the_wrist()[:, (0, 3, 5)], axis=0).max())


def _largest_balance_rad() -> float:
    """By how much the middle wrist joint fails to undo what arm and elbow turn the tool by."""
    return float(np.ptp(_through_the_wrist()[:, (1, 2, 4)].sum(axis=1)))


def _last_joint_deg() -> float:
    """Way of A6 where the tool turns on the spot by 400 deg about its own axis."""
    arm = load_arm("KR10 R1100")
    spins = np.zeros((81, 4, 4))
    spins[:, 3, 3] = 1.0
    spins[:, :3, :3] = matrix_of("rpy", np.linspace((0.0, 0.0, 0.0), (0.0, 0.0, math.radians(400.0)), 81))
    q = _planned(arm, fk(arm, (0.0, -1.2, 1.6, 0.0, 0.6, 0.0)) @ spins)
    return math.degrees(abs(q[-1, 5] - q[0, 5]))


def _over_the_least() -> float:
    """Cost of the ways found over the least of all 1,024, of 20 draws the one that is farthest from 1."""
    draw, ratios = np.random.Generator(np.random.Philox(key=2)), []
    wide, turning = np.full(2, 50.0), np.array([True, True])
    for _ in range(20):
        q = draw.uniform(-math.pi, math.pi, (5, 4, 2))
        way = cheapest(q, np.ones((5, 4), bool), np.zeros((5, 4)), -wide, wide, turning, np.full((4, 2), 9.0), None)
        apart = (np.diff([q[range(5), c] for c in itertools.product(range(4), repeat=5)], axis=1) + math.pi) % TURN
        least = ((apart - math.pi) ** 2).sum(axis=(1, 2)).min()
        ratios.append(float((np.diff(way.q, axis=0) ** 2).sum() / least))
    return max(ratios, key=lambda ratio: abs(ratio - 1.0))


QUARTER_S = 2.0 * math.sqrt(2.0 * RADIUS * (1.0 - math.sqrt(0.5)) / ACCELERATION)

CHECKS: tuple[Check, ...] = (
    Check("arm orientation", "KUKA A, B, C off the written-out matrix, there and back",
          "Craig, Introduction to Robotics, 2005, eq. 2.64: fixed X-Y-Z is moving Z-Y-X", 0.0,
          partial(_off_fixed_angles, "kuka_abc", -1), 1e-14),
    Check("arm orientation", "FANUC W, P, R off the same", "Craig, eq. 2.64", 0.0,
          partial(_off_fixed_angles, "fanuc_wpr", 1), 1e-14),
    Check("arm orientation", "ABB quaternion 0.707107, 0, 0.707107, 0: z of the tool's x axis",
          "worked example of orient, ABB RAPID reference", -1.0, _quaternion_entry, 2e-6),
    Check("arm orientation", "length of the UR rotation vector that takes x to y, y to z, z to x", "a third of a turn",
          120.0, lambda: math.degrees(np.linalg.norm(values_of("ur_rotvec", CYCLE))), 1e-12, "deg"),
    Check("arm orientation", "a turn of 90 deg to the left, about Unity's y", "left-handed axes, y up", -90.0,
          _turned_in_unity_deg, 1e-12, "deg"),
    Check("slerp", "half way of a turn from 0 to 350 deg", "the shorter way: 10 deg back", -5.0, _half_way_deg, 1e-11,
          "deg"),
    Check("arc", "radius through the corners of a tilted triangle of 13, 14 and 15 m", "a b c / 4 A, A = 84 m²", 8.125,
          _radius_m, 1e-12, "m"),
    Check("arc", "place after a third of a half circle of 1 m", "sin 60°", math.sqrt(0.75),
          lambda: float(_third_of_an_arc()[1, 3]), 1e-13, "m"),
    Check("arc", "turn of the tool there, of 90 deg", "a constant rate (Shoemake, SIGGRAPH 1985)", 30.0,
          lambda: float(np.degrees(values_of("rpy", _third_of_an_arc()[:3, :3])[0])), 1e-12, "deg"),
    Check("G-code", "length of the arc G2 X0 Y10 R-10 from (10, 0), negative: clockwise",
          "three quarters of a circle: NIST RS274/NGC, a negative radius is the long way", -15.0 * math.pi,
          _length_of_a_long_arc_mm, 1e-9, "mm"),
    Check("joint spline", "order on a sine, away from the ends", "de Boor, A Practical Guide to Splines, ch. IV", 4.0,
          _spline_order, 0.2),
    Check("arm timing", "one joint, 1 rad at 0.5 rad/s and 2 rad/s²", "trapezoid: d / v + v / a",
          WAY / SPEED + SPEED / ACCELERATION, partial(_rest_to_rest_s, SPEED), 1e-4, "s"),
    Check("arm timing", "the same without a limit of speed", "triangle: 2 √(d / a)",
          2.0 * math.sqrt(WAY / ACCELERATION), partial(_rest_to_rest_s, math.inf), 1e-4, "s"),
    Check("arm timing", "pace on a circle of two joints, where one turns round", "v² / r = a",
          math.sqrt(RADIUS * ACCELERATION), _pace_at_the_top, 1e-3, "rad/s"),
    # A constant d2s/dt2 in each interval loses a share of the order of the angle that is turned in it.
    Check("arm timing", "a quarter of that circle", "r (1 - cos 45°) = a t² / 2, twice", QUARTER_S, _quarter_s,
          QUARTER_S * 0.25 * TURN / QUARTER_STEPS, "s"),
    Check("arm timing", "largest speed over its limit, six joints", "the fastest motion uses its limits and keeps them",
          1.0, lambda: _most_used()[0], 1e-6),
    Check("arm timing", "largest acceleration over its limit", "the same", 1.0, lambda: _most_used()[1], 1e-6),
    Check("arm timing", "fastest tool of a lever, feed 0.2 m/s", "the programmed feed", 0.2, _fastest_feed_m_s, 1e-9,
          "m/s"),
    Check("arm timing", "time of that lever, 1 rad at 0.5 m", "trapezoid with 0.4 rad/s",
          WAY / 0.4 + 0.4 / ACCELERATION, lambda: _fed().duration_s, 1e-3, "s"),
    Check("arm path", "straight down through the wrist singularity, KR10: way of A1, A4 and A6",
          "all motion is in the plane of the arm", 0.0, _idle_joints_rad, 1e-6, "rad"),
    Check("arm path", "and change of A2 + A3 + A5", "the tool does not turn", 0.0, _largest_balance_rad, 1e-8, "rad"),
    Check("arm path", "way of A6 for 400 deg of the tool about its own axis",
          "the last axis alone, from a start that leaves room", 400.0, _last_joint_deg, 1e-6, "deg"),
    Check("arm path", "cost of ways over the least of all, 4 postures at each of 5 points",
          "brute force; Bellman's principle", 1.0, _over_the_least, 1e-12),
)  # fmt: skip
