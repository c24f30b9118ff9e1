"""Cyclic coordinate descent: one joint's turn against brute force, descent, speed, rest, the faithful way's faults."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from test_arm_dls import off

from fieldworthy.arms.catalogue import load_arm
from fieldworthy.arms.ccd import CcdSolver
from fieldworthy.arms.chain import Arm, Joint
from fieldworthy.arms.kinematics import fk
from fieldworthy.arms.kit import goal_numbers, kit
from fieldworthy.arms.sweep_laws import best_angle, turn_to
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.vec import Vec3

KR10 = load_arm("kr10-r1100")
UR5E = load_arm("ur5e")
FRAME_S = 1.0 / 60.0


def turned(axis: np.ndarray, angle: float, v: np.ndarray) -> np.ndarray:
    """Source: Rodrigues' formula."""
    along = axis * (axis @ v)
    return along + math.cos(angle) * (v - along) + math.sin(angle) * np.cross(axis, v)


def near_goals(arm: Arm, count: int, seed: int, far: float = 0.4) -> list[tuple[np.ndarray, np.ndarray]]:
    """(posture, pose a little away from it) with room to the limits."""
    rng = np.random.default_rng(seed)
    middle, half = (arm.lower + arm.upper) / 2.0, (arm.upper - arm.lower) / 2.0
    found = []
    for _ in range(count):
        q = middle + 0.6 * half * rng.uniform(-1.0, 1.0, arm.dof)
        found.append((q, fk(arm, np.clip(q + rng.uniform(-far, far, arm.dof), arm.lower, arm.upper))))
    return found


def played(solver: Any, arm: Arm, goal: np.ndarray, q: np.ndarray, frames: int = 360) -> tuple[np.ndarray, list[Any]]:
    """(postures frame by frame, the answers)."""
    rows, answers = [q], []
    for _ in range(frames):
        answers.append(solver.step(arm, goal, rows[-1], FRAME_S))
        rows.append(answers[-1].q)
    return np.array(rows), answers


def swing(rows: np.ndarray) -> float:
    """Largest peak-to-peak motion of a joint in the last two seconds."""
    return float(np.ptp(rows[-120:], axis=0).max())


def reversals(rows: np.ndarray) -> int:
    """How often the joint that does so most turns back in the last two seconds, after and by more than 1e-4 rad."""
    step = np.diff(rows[-121:], axis=0)
    large = np.minimum(np.abs(step[1:]), np.abs(step[:-1])) > 1e-4
    return int(((step[1:] * step[:-1] < 0.0) & large).sum(axis=0).max())


def arrived(solver: Any, arm: Arm, answer: Any, goal: np.ndarray) -> bool:
    """Within limits and tolerance by matrix exponentials; the solver's own word must say the same."""
    assert (answer.q >= arm.lower).all()
    assert (answer.q <= arm.upper).all()
    distance, angle = off(arm, answer.q, goal)
    found = distance <= solver.tolerance_m and angle <= solver.tolerance_rad
    assert answer.reached == found
    return found


# --------------------------------------------------------------------------------------------------- one joint's turn


def test_the_turn_is_the_signed_angle_on_the_axis_plane() -> None:
    """About z from (1, 0, 5) to (0, 2, -3) is +90 deg: parts along the axis do not count."""
    sine, cosine = turn_to(Vec3(0.0, 0.0, 1.0), [(Vec3(1.0, 0.0, 5.0), Vec3(0.0, 2.0, -3.0))])
    assert best_angle(sine, cosine, -3.0, 3.0, 1e-9) == pytest.approx(math.pi / 2.0, abs=1e-15)
    sine, cosine = turn_to(Vec3(0.0, 0.0, -1.0), [(Vec3(1.0, 0.0, 5.0), Vec3(0.0, 2.0, -3.0))])
    assert best_angle(sine, cosine, -3.0, 3.0, 1e-9) == pytest.approx(-math.pi / 2.0, abs=1e-15)


def test_the_turn_is_the_best_one_within_its_bounds() -> None:
    """Against 20,001 angles tried one by one: none of them brings the pairs nearer."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        pairs = [(rng.normal(size=3), rng.normal(size=3)) for _ in range(4)]
        low, high = -rng.uniform(0.0, 5.0), rng.uniform(0.0, 5.0)
        angle = best_angle(*turn_to(Vec3(*axis), [(Vec3(*c), Vec3(*d)) for c, d in pairs]), low, high, 1e-12)
        assert low <= angle <= high
        tried = np.linspace(low, high, 20001)
        # |turned c - d|^2 = const - 2 (A cos + B sin), from Rodrigues' formula.
        a = sum(c @ d - (axis @ c) * (axis @ d) for c, d in pairs)
        b = sum(axis @ np.cross(c, d) for c, d in pairs)
        least = (-2.0 * (a * np.cos(tried) + b * np.sin(tried))).min()
        own = sum(np.sum((turned(axis, angle, c) - d) ** 2) for c, d in pairs)
        none = sum(c @ c + d @ d - 2.0 * (axis @ c) * (axis @ d) for c, d in pairs)
        assert own <= none + least + 1e-9


def test_a_tool_on_the_axis_turns_nothing() -> None:
    assert (
        best_angle(*turn_to(Vec3(0.0, 0.0, 1.0), [(Vec3(0.0, 0.0, 1.0), Vec3(1.0, 1.0, 1.0))]), -1.0, 1.0, 1e-9) == 0.0
    )


# ------------------------------------------------------------------------------------------------------------- sweeps


def test_a_position_sweep_of_a_planar_arm_by_hand() -> None:
    """Two links of 1 m along x, goal (0, 1): the elbow at (1, 0) turns the tool from +x to (-1, 1), by 135 deg; the
    tool is then at (1 - sqrt(1/2), sqrt(1/2)), which the shoulder turns to the y axis.
    """
    z = (0.0, 0.0, 1.0)
    joints = (Joint("a", z, (0.0, 0.0, 0.0), -3.0, 3.0, 1.0), Joint("b", z, (1.0, 0.0, 0.0), -3.0, 3.0, 1.0))
    arm = Arm(
        "planar", joints, ((1.0, 0.0, 0.0, 2.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    )
    goal = np.eye(4)
    goal[:3, 3] = (0.0, 1.0, 0.0)
    k = kit(arm)
    sweep = k.law(CcdSolver.position_law, 3 * 2 + 13)
    half = math.sqrt(0.5)
    expected = (math.pi / 2.0 - math.atan2(half, 1.0 - half), math.radians(135.0))
    assert sweep(0.0, 0.0, *k.lower, *k.upper, *goal_numbers(goal), 1.0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("arm", [KR10, UR5E, load_arm("iiwa7-r800")])
def test_every_sweep_brings_the_pose_nearer(arm: Arm) -> None:
    """Law: each turn is the best of its joint, so 2 |offset|^2 / l^2 + |R - R_goal|^2 never rises."""
    rng = np.random.default_rng(1)
    k = kit(arm)
    sweep = k.law(CcdSolver.sweep_law, 3 * arm.dof + 13)
    for _ in range(10):
        q, goal = rng.uniform(arm.lower, arm.upper), fk(arm, rng.uniform(arm.lower, arm.upper))
        costs = []
        for _ in range(30):
            pose = fk(arm, q)
            costs.append(2.0 * np.sum((pose - goal)[:3, 3] ** 2) / k.length_m**2 + np.sum((pose - goal)[:3, :3] ** 2))
            q = np.array(sweep(*q.tolist(), *k.lower, *k.upper, *goal_numbers(goal), 1.0))
            assert (q >= arm.lower - 1e-12).all()
            assert (q <= arm.upper + 1e-12).all()
        assert all(after <= before + 1e-12 for before, after in itertools.pairwise(costs))
        assert costs[-1] < costs[0]


def test_the_wrist_turns_its_share() -> None:
    """A goal that is the same place turned by 1 rad about the last axis: one faithful frame turns 0.35 of it."""
    q = np.array([0.2, -1.2, 1.0, 0.4, 0.8, 0.3])
    there = q + np.eye(6)[5]
    for blend in (0.35, 0.1):
        solver = CcdSolver(faithful=True, orientation_blend=blend, max_deg_s=1e6)
        moved = solver.step(KR10, fk(KR10, there), q, FRAME_S).q - q
        assert moved[5] == pytest.approx(blend, abs=1e-12)


# ---------------------------------------------------------------------------------------------- success, speed, rest


def test_success_with_and_without_least_squares() -> None:
    """8 starts with least squares: 99.5 to 100 % at the solver's tolerance when written; alone 97 to 98 %."""
    for arm, (polish, least) in itertools.product((KR10, UR5E), ((True, 39), (False, 36))):
        rng = np.random.default_rng(2)
        solver = CcdSolver(polish=polish)
        reached = 0
        for _ in range(40):
            goal, seed = fk(arm, rng.uniform(arm.lower, arm.upper)), rng.uniform(arm.lower, arm.upper)
            reached += arrived(solver, arm, solver.solve(arm, goal, seed), goal)
        assert reached >= least


@pytest.mark.parametrize("faithful", [False, True])
def test_the_solvers_own_speed_limit(faithful: bool) -> None:
    """220 deg/s at 60 frames a second is 3.667 deg a frame, on an arm that could go faster; the far goal uses it up."""
    fast = dataclasses.replace(KR10, joints=tuple(dataclasses.replace(j, speed=100.0) for j in KR10.joints))
    q = np.array([0.2, -1.2, 1.0, 0.4, 0.8, 0.3])
    goal = fk(KR10, np.array([1.4, -0.7, 0.4, -0.5, 0.3, 1.0]))
    rows, _ = played(CcdSolver(faithful=faithful), fast, goal, q, 20)
    most = np.abs(np.diff(rows, axis=0)).max()
    assert most == pytest.approx(math.radians(220.0) / 60.0, rel=1e-9)


def test_the_arms_speed_limit_counts_where_it_is_lower() -> None:
    q = np.array([0.2, -1.2, 1.0, 0.4, 0.8, 0.3])
    goal = fk(UR5E, np.array([1.4, -0.7, 0.4, -0.5, 0.3, 1.0]))
    rows, answers = played(CcdSolver(), UR5E, goal, q, 10)
    assert (np.abs(np.diff(rows, axis=0)) <= UR5E.speed * FRAME_S * (1.0 + 1e-12)).all()
    assert answers[0].why.startswith("on its way at the speed limit of ")


@pytest.mark.parametrize("arm", [KR10, UR5E])
def test_at_rest_after_arrival(arm: Arm) -> None:
    for q, goal in near_goals(arm, 6, 3):
        rows, answers = played(CcdSolver(), arm, goal, q, 300)
        assert answers[-1].reached
        assert answers[-1].position_error_m < 1e-9
        assert swing(rows) < 1e-9


@pytest.mark.parametrize("arm", [KR10, UR5E])
def test_the_faithful_way_trembles(arm: Arm) -> None:
    """Position and wrist take turns for ever: of 12 goals near by at least 3 still turn a joint back ten times in two
    seconds, four seconds after the start; the default way does so at none."""
    goals = near_goals(arm, 12, 3, far=0.05)
    turned = [reversals(played(CcdSolver(faithful=True), arm, goal, q)[0]) for q, goal in goals]
    assert sum(count >= 10 for count in turned) >= 3
    assert all(reversals(played(CcdSolver(), arm, goal, q)[0]) == 0 for q, goal in goals)


def test_options_that_are_none() -> None:
    for options in ({"iterations": 0}, {"orientation_blend": 1.5}, {"tolerance_m": 0.0}, {"max_deg_s": -1.0}):
        with pytest.raises(FieldworthyError, match="valid"):
            CcdSolver(**options)  # type: ignore[arg-type]
