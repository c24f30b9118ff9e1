"""Exact inverse kinematics: every reachable pose, every branch, every whole turn, judged by forward kinematics."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from fieldworthy.arms import closed as closed_module
from fieldworthy.arms import polish as polish_module
from fieldworthy.arms.catalogue import arm_names, load_arm
from fieldworthy.arms.chain import Arm, Joint, as_matrix
from fieldworthy.arms.closed import closed_of
from fieldworthy.arms.exact import all_postures, branches_of, solve, solve_many
from fieldworthy.arms.exact_solver import ExactSolver
from fieldworthy.arms.kinematics import fk, jacobian, link_motions, turn_about
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.straight import written

SIX = [name for name in arm_names() if load_arm(name).dof == 6]
SEVEN = [name for name in arm_names() if load_arm(name).dof == 7]


def drawn(arm, count, seed):
    """Postures anywhere within limits, joints with endless turns within one either way."""
    low, high = np.maximum(arm.lower, -2 * math.pi), np.minimum(arm.upper, 2 * math.pi)
    return np.random.default_rng(seed).uniform(low, high, (count, arm.dof))


def assert_exact(arm, pose, attempt):
    assert attempt.reached, attempt.why
    assert (arm.lower <= attempt.q).all()
    assert (attempt.q <= arm.upper).all()
    assert np.abs(fk(arm, attempt.q) - pose).max() < 1.5e-9  # of each entry; the promise is on distance and angle
    assert max(attempt.position_error_m, attempt.orientation_error_rad) <= 1e-9


@pytest.mark.parametrize("name", arm_names())
def test_every_reachable_pose_is_reached(name):
    arm = load_arm(name)
    for q in drawn(arm, 60, 1):
        pose = fk(arm, q)
        assert_exact(arm, pose, solve(arm, pose))


def singular_sets(arm):
    """Postures whose wrist is straight or nearly so, whose elbow is stretched, and whose wrist stands above axis 1."""
    form = closed_of(arm)
    middle = form.shape.joints[4]
    for off in (0.0, 1e-10, 1e-9, 1e-8, 1e-6, 1e-4):
        q = drawn(arm, 12, 2)
        q[:, middle] = off * np.where(np.arange(12) % 2, 1.0, -1.0)
        yield f"wrist off by {off:g}", q
    points = [np.array(point) for point in form.shape.points]
    elbow, tip = form.shape.joints[2], points[3] if "4 parallel" in form.shape.kind else points[5]
    axis = np.array(arm.joints[elbow].axis)
    upper, fore = (v - axis * (axis @ v) for v in (points[2] - points[1], tip - points[2]))
    straight = math.atan2(
        axis @ np.cross(fore, upper), fore @ upper
    )  # the turn that lays the forearm along the upper arm
    for off in (0.0, 1e-9, 1e-5):
        q = drawn(arm, 12, 3)
        turned = [straight + off + turn for turn in (0.0, 2 * math.pi, -2 * math.pi)]
        inside = [x for x in turned if arm.lower[elbow] <= x <= arm.upper[elbow]]
        if inside:
            q[:, elbow] = inside[0]
            yield f"elbow off by {off:g}", q
    if arm.dof == 7:
        q = drawn(arm, 12, 4)
        q[:, form.shape.joints[1]] *= 1e-7  # axes 1 and 3 in line, or nearly so
        yield "shoulder straight", q
        return
    for off in (0.0, 1e-9, 1e-6):
        yield f"wrist centre {off:g} m off axis 1", over_the_shoulder(arm, drawn(arm, 60, 19), off)[:12]


def over_the_shoulder(arm, q, off):
    """Postures of six joints, within limits, joint 2 turned so that the wrist centre is a distance from axis 1.

    Of a UR, whose centre cannot come nearer than its shoulder is wide: from the plane through axis 1 along axis 2.
    That distance is a sinusoid in joint 2, known from three of its values.
    """
    first, second = arm.joints[0], arm.joints[1]
    out = np.cross(first.axis, second.axis)
    out /= np.linalg.norm(out)
    centre = np.array([*closed_of(arm).shape.points[5], 1.0])

    def away(postures):
        at = postures.copy()
        at[:, 0] = 0.0
        return ((link_motions(arm, at)[:, 5] @ centre)[:, :3] - first.point_m) @ out

    values = []
    for angle in (0.0, 2.0 * math.pi / 3.0, 4.0 * math.pi / 3.0):
        turned = q.copy()
        turned[:, 1] = angle
        values.append(away(turned))
    level, cosine = sum(values) / 3.0, (2.0 * values[0] - values[1] - values[2]) / 3.0
    sine = (values[1] - values[2]) / math.sqrt(3.0)
    found = []
    with np.errstate(invalid="ignore"):
        side = np.arccos((off - level) / np.hypot(sine, cosine))
    for sign in (1.0, -1.0):
        turned = q.copy()
        turned[:, 1] = np.arctan2(sine, cosine) + sign * side
        turned[:, 1] -= 2.0 * math.pi * np.round(turned[:, 1] / (2.0 * math.pi))
        found.append(turned)
    found = np.concatenate(found)
    found = found[((found >= arm.lower) & (found <= arm.upper)).all(axis=1)]
    assert np.abs(away(found) - off).max(initial=0.0) < 1e-14
    return found


@pytest.mark.parametrize("name", SIX)
def test_the_shoulder_set_is_singular(name):
    """The wrist centre over axis 1: a direction is lost there, and nearly so beside it."""
    arm = load_arm(name)
    for off in (0.0, 1e-9, 1e-6):
        q = over_the_shoulder(arm, drawn(arm, 60, 19), off)
        assert len(q) >= 12
        gain = np.linalg.svd(jacobian(arm, q), compute_uv=False)[:, -1]
        assert gain.max() < 1e-14 + 20.0 * off  # a direction's share of a distance over decimetres


@pytest.mark.parametrize("name", [name for name in arm_names() if closed_of(load_arm(name))])
def test_singular_poses_are_reached(name):
    arm = load_arm(name)
    for label, postures in singular_sets(arm):
        for q in postures:
            pose = fk(arm, q)
            attempt = solve(arm, pose)
            assert attempt.reached, (label, q.tolist(), attempt.why)
            assert_exact(arm, pose, attempt)


@pytest.mark.parametrize("name", SIX)
def test_all_postures_include_the_one_that_made_the_pose(name):
    arm = load_arm(name)
    for q in drawn(arm, 25, 4):
        pose = fk(arm, q)
        found = all_postures(arm, pose)
        assert np.abs(found - q).max(axis=1).min() < 1e-6
        assert np.abs(fk(arm, found) - pose).max() < 1e-9
        assert (arm.lower <= found).all()
        assert (found <= arm.upper).all()
        apart = np.abs(found[:, None] - found[None]).max(axis=2) + 9.0 * np.eye(len(found))
        assert apart.min() > 1e-7  # each once


def test_a_ur_has_eight_branches_and_all_their_turns():
    # Universal Robots, Kufieta 2014: eight solutions of a general reachable pose; each joint of +-360 deg doubles them.
    arm = load_arm("ur5e")
    pose = fk(arm, (0.3, -1.2, 1.4, -0.7, 0.8, 0.2))
    assert len(all_postures(arm, pose, whole_turns=False)) == 8
    assert len(all_postures(arm, pose)) == 8 * 2**5


def test_nearest_means_nearest_of_all():
    arm = load_arm("kr10-r1100")
    for q, seed in zip(drawn(arm, 30, 5), drawn(arm, 30, 6), strict=True):
        pose = fk(arm, q)
        best = np.linalg.norm(all_postures(arm, pose) - seed, axis=1).min()
        assert np.linalg.norm(solve(arm, pose, seed).q - seed) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("name", ["kr10-r1100", "ur5e"])
def test_a_seed_is_kept_where_it_already_reaches(name):
    arm = load_arm(name)
    q = drawn(arm, 10, 7)
    q[:, closed_of(arm).shape.joints[4]] = 0.0  # at the singularity too: nothing turns without need
    for row in [*q, *drawn(arm, 10, 8)]:
        assert solve(arm, fk(arm, row), row).q == pytest.approx(row, abs=1e-7)


@pytest.mark.parametrize("count", [7, 5000])
@pytest.mark.parametrize("name", ["kr10-r1100", "ur5e"])
def test_many_at_once_is_the_same_as_one_by_one(name, count):
    # 7 are worked out with NumPy, 5000 by a compiled kernel.
    arm = load_arm(name)
    q = drawn(arm, count, 9)
    goals = fk(arm, q)
    near = drawn(arm, count, 16)  # not q itself: a branch half a turn away would be as near in either of two turns
    found = branches_of(arm, goals, near)
    assert found.exists.any(axis=1).all()
    rows = np.nonzero(found.exists)
    assert np.abs(fk(arm, found.q[rows]) - goals[rows[0]]).max() < 1e-9
    assert np.isnan(found.q[~found.exists]).all()
    for row in range(0, count, max(count // 7, 1)):
        alone = all_postures(arm, goals[row], near[row], whole_turns=False)
        together = found.q[row][found.exists[row]]
        assert len(alone) == len(together)
        assert np.abs(alone[:, None] - together[None]).max(axis=2).min(axis=1).max() < 1e-9
    nearest, reached = solve_many(arm, goals, q)
    assert reached.all()
    assert np.abs(nearest - q).max() < 1e-6


@pytest.mark.parametrize("name", [name for name in arm_names() if closed_of(load_arm(name))])
def test_the_kernel_and_numpy_agree(name):
    arm = load_arm(name)
    form = closed_of(arm)
    q = drawn(arm, 300, 17)
    columns = [*fk(arm, q).reshape(-1, 16).T[:12].copy(), *drawn(arm, 300, 18)[:, list(form.shape.joints)].T.copy()]
    if form.shape.held is not None:
        columns.append(q[:, form.shape.held].copy())
    compiled = np.array(closed_module._on_lanes(form._answers_within)(columns)).reshape(8, 9, -1)
    plain = np.array(written(form._answers_within, form.count, "numpy")(*columns)).reshape(8, 9, -1)
    reached = plain[:, 7] > 1e-6
    assert ((compiled[:, 7] > 1e-6) == reached).all()
    assert (compiled[:, 6][reached] == plain[:, 6][reached]).all()
    fits = reached & (plain[:, 6] > 0.5)
    apart = np.abs(compiled[:, :6] - plain[:, :6]).max(axis=1)[fits]
    # Both are right to the last digits; a wrist that is nearly singular hands some of them from one joint to another.
    assert np.median(apart) < 1e-13
    assert apart.max() < 1e-6


@pytest.mark.parametrize("name", SEVEN)
def test_seven_axes_many_at_once(name):
    arm = load_arm(name)
    goals = fk(arm, drawn(arm, 20, 10))
    q, reached = solve_many(arm, goals)
    assert reached.all()
    assert np.abs(fk(arm, q) - goals).max() < 1.5e-9


def test_a_seven_axis_arm_keeps_its_elbow_where_the_seed_has_it():
    arm = load_arm("iiwa7-r800")
    for q in drawn(arm, 10, 11):
        assert solve(arm, fk(arm, q), q).q == pytest.approx(q, abs=1e-6)


def test_a_tool_and_a_calibrated_arm_are_exact_too():
    arm = load_arm("ur5e")
    tool = np.eye(4)
    tool[:3, :3] = np.array(list(turn_about((0.6, 0.0, 0.8), 0.7))).reshape(3, 3)
    tool[:3, 3] = (0.05, -0.02, 0.2)
    # Calibration of a real arm moves axes by tenths of a degree and of millimetres, so that none are parallel any more.
    rng = np.random.default_rng(12)
    joints = []
    for joint in arm.joints:
        axis = np.array(joint.axis) + rng.normal(0.0, 2e-3, 3)
        point = np.array(joint.point_m) + rng.normal(0.0, 3e-4, 3)
        joints.append(dataclasses.replace(joint, axis=tuple(axis / np.linalg.norm(axis)), point_m=tuple(point)))
    calibrated = dataclasses.replace(arm, joints=tuple(joints)).with_tool(tool)
    assert closed_of(calibrated) is not None
    assert not closed_of(calibrated).shape.exact
    for q in drawn(calibrated, 25, 13):
        pose = fk(calibrated, q)
        assert_exact(calibrated, pose, solve(calibrated, pose))


def test_an_arm_without_a_closed_form_is_searched():
    arm = load_arm("ur5e")
    bent = dataclasses.replace(arm.joints[2], axis=(0.6, -0.8, 0.0))
    odd = dataclasses.replace(arm, joints=(*arm.joints[:2], bent, *arm.joints[3:]))
    assert closed_of(odd) is None
    for q in drawn(odd, 10, 14):
        pose = fk(odd, q)
        assert_exact(odd, pose, solve(odd, pose))
    assert len(all_postures(odd, pose)) >= 1


def test_why_a_pose_is_not_reached():
    arm = load_arm("kr10-r1100")
    far = fk(arm, arm.lower * 0.0)
    far[0, 3] += 0.5
    attempt = solve(arm, far)
    assert not attempt.reached
    assert "out of reach" in attempt.why
    assert attempt.position_error_m > 0.3
    assert (arm.lower <= attempt.q).all()
    assert (attempt.q <= arm.upper).all()
    # The same arm with a wrist that hardly bends: the pose stays within reach, and a limit is in the way.
    narrow = dataclasses.replace(arm.joints[4], lower=-0.2, upper=0.2)
    stiff = dataclasses.replace(arm, joints=(*arm.joints[:4], narrow, *arm.joints[5:]))
    attempt = solve(stiff, fk(arm, (0.2, -1.0, 1.2, 0.1, 0.9, 0.0)))
    assert not attempt.reached
    assert "every branch breaks a limit" in attempt.why


def test_what_is_no_pose_is_refused():
    arm = load_arm("ur5e")
    good = fk(arm, np.zeros(6))
    mirrored, skewed, empty = good.copy(), good.copy(), good.copy()
    mirrored[:3, 0] *= -1.0
    skewed[0, 0] += 0.01
    empty[1, 3] = math.nan
    for wrong, word in (
        (mirrored, "mirror image"), (skewed, "no rotation"), (empty, "not finite"), (np.eye(3), "shape"),
        (np.stack([good, good]), "shape"),
    ):  # fmt: skip
        with pytest.raises(FieldworthyError, match=word):
            solve(arm, wrong)
    with pytest.raises(FieldworthyError, match="seed"):
        solve(arm, good, np.zeros(5))
    with pytest.raises(FieldworthyError, match=r"pose\[1\]"):
        solve_many(arm, np.stack([good, empty]))


def test_the_solver_moves_at_the_joints_limits_and_then_stands_still():
    arm, solver = load_arm("kr10-r1100"), ExactSolver()
    q = np.radians((0.0, -90.0, 90.0, 0.0, 30.0, 0.0))
    goal = fk(arm, np.radians((60.0, -60.0, 80.0, 20.0, 40.0, 10.0)))
    seen = []
    for _ in range(200):
        attempt = solver.step(arm, goal, q, 0.01)
        assert (np.abs(attempt.q - q) <= arm.speed * 0.01 + 1e-12).all()
        q = attempt.q
        seen.append(q)
        if attempt.reached:
            break
    assert attempt.reached
    again = solver.step(arm, goal, q, 0.01)
    assert again.reached
    assert (again.q == q).all()
    # All joints on one line: each position is a multiple of the whole way.
    way = seen[-1] - seen[0]
    shares = (np.array(seen) - seen[0]) @ way / (way @ way)
    assert np.abs(np.array(seen) - seen[0] - shares[:, None] * way).max() < 1e-9


def crane():
    """Three slides and a spherical wrist of three turns."""
    axes = np.eye(3)
    slides = [Joint(f"slide {k}", tuple(axes[k]), (0.0, 0.0, 0.0), -1.0, 1.0, 1.0, kind="prismatic") for k in range(3)]
    turns = [Joint(f"turn {k}", tuple(axes[k]), (0.0, 0.0, 0.0), -2.0, 2.0, 1.0) for k in range(3)]
    return Arm("crane", (*slides, *turns), as_matrix(np.eye(4)))


def test_prismatic_joints_are_solved():
    arm = crane()
    for q in drawn(arm, 10, 15) * 0.7:
        pose = fk(arm, q)
        assert_exact(arm, pose, solve(arm, pose))


def test_what_cannot_be_polished_is_given_up(monkeypatch):
    """Three joints in a plane. A goal at full stretch is a double root: Newton's steps halve the way to it each time;
    a goal lifted off the plane has no slope at all (J^T e = 0), and must not be worked out again in all those rounds.
    """
    z = (0.0, 0.0, 1.0)
    links = tuple(Joint(f"j{i}", z, (0.5 * i, 0.0, 0.0), -3.0, 3.0, 1.0) for i in range(3))
    home = np.eye(4)
    home[0, 3] = 1.2
    arm = Arm("planar", links, as_matrix(home))
    lifted = fk(arm, np.array((0.4, 0.7, -0.2)))
    lifted[2, 3] += 0.1
    starts = np.array(((-0.15, 0.3, -0.15), (0.4, 0.7, -0.2)))
    asked = []
    plain = polish_module._error

    def counted(of, q, goal):
        asked.append(len(q))
        return plain(of, q, goal)

    monkeypatch.setattr(polish_module, "_error", counted)
    q, miss = polish_module.polished(arm, np.stack([fk(arm, np.zeros(3)), lifted]), starts)
    assert miss[0] <= 1e-12
    assert len(asked) > 8  # the double root takes its time
    assert asked.count(2) <= 6
    assert miss[1] == pytest.approx(0.1, rel=1e-12)
    assert q[1] == pytest.approx(starts[1], abs=1e-15)
    # Alone it is done with at once.
    asked.clear()
    polish_module.polished(arm, lifted, starts[1:])
    assert len(asked) <= 6
