"""Damped least squares: its linear steps against NumPy's algebra, success on reachable poses, singular goals, limits.

Poses are measured by matrix exponentials of the screws, written here apart from the package's forward kinematics.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fieldworthy.arms.catalogue import load_arm
from fieldworthy.arms.ccd import CcdSolver
from fieldworthy.arms.chain import IDENTITY, Arm, Joint
from fieldworthy.arms.dls import DlsSolver
from fieldworthy.arms.dls_laws import newton_law, position_step_law
from fieldworthy.arms.fabrik import FabrikSolver
from fieldworthy.arms.kinematics import fk, jacobian
from fieldworthy.arms.kit import goal_numbers, kit, solve_symmetric
from fieldworthy.arms.least_squares import solve_many, solve_one
from fieldworthy.arms.pinv import PseudoInverseSolver
from fieldworthy.arms.solver import SEED_SOLVERS, make_solver
from fieldworthy.core.errors import FieldworthyError

KR10 = load_arm("kr10-r1100")
UR5E = load_arm("ur5e")


def pose_by_exponentials(arm: Arm, q: np.ndarray) -> np.ndarray:
    """Source: Lynch & Park, Modern Robotics, 2017, eq. 3.88 and 4.14."""
    found = np.eye(4)
    for joint, angle in zip(arm.joints, q, strict=True):
        w, o = np.array(joint.axis), np.array(joint.point_m)
        motion = np.eye(4)
        if joint.kind == "prismatic":
            motion[:3, 3] = w * angle
        else:
            cross = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
            motion[:3, :3] = np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross
            motion[:3, 3] = o - motion[:3, :3] @ o
        found = found @ motion
    return found @ np.array(arm.home)


def off(arm: Arm, q: np.ndarray, goal: np.ndarray) -> tuple[float, float]:
    """(distance [m], angle [rad]) from a goal."""
    pose = pose_by_exponentials(arm, q)
    turn = goal[:3, :3] @ pose[:3, :3].T
    skew = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2.0
    return float(np.linalg.norm(goal[:3, 3] - pose[:3, 3])), math.atan2(
        np.linalg.norm(skew), (np.trace(turn) - 1.0) / 2.0
    )


def random_poses(arm: Arm, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(poses, starts): poses of uniform joints within the limits, starts independent of them."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(arm.lower, arm.upper, (count, arm.dof))
    return fk(arm, q), rng.uniform(arm.lower, arm.upper, (count, arm.dof))


def gantry() -> Arm:
    """Three slides and a wrist whose axes meet: the slides must be at the wrist's place, whatever the wrist does."""
    axes = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    slides = [Joint(f"s{i}", axis, (0.0, 0.0, 0.0), -1.0, 1.0, 1.0, kind="prismatic") for i, axis in enumerate(axes)]
    turns = [Joint(f"r{i}", axes[j], (0.0, 0.0, 0.0), -3.0, 3.0, 3.0) for i, j in enumerate((2, 1, 2))]
    return Arm("gantry", (*slides, *turns), IDENTITY)


# ------------------------------------------------------------------------------------------------------ linear steps


def test_symmetric_solve_is_numpys() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 6, 7):
        half = rng.normal(size=(size, size))
        matrix, right, added = half @ half.T, rng.normal(size=size), rng.uniform(0.1, 1.0, size)
        rows = [matrix[i, : i + 1].tolist() for i in range(size)]
        expected = np.linalg.solve(matrix + np.diag(added), right)
        assert solve_symmetric(rows, added.tolist(), right.tolist()) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("arm", [KR10, UR5E, load_arm("iiwa7-r800")])
def test_three_rows_are_the_damped_formula(arm: Arm) -> None:
    poses, starts = random_poses(arm, 5, 1)
    step = kit(arm).law(position_step_law, arm.dof + 13)
    for goal, q in zip(poses, starts, strict=True):
        j = jacobian(arm, q)[:3]
        expected = j.T @ np.linalg.solve(j @ j.T + 0.04 * np.eye(3), goal[:3, 3] - fk(arm, q)[:3, 3])
        assert step(*q.tolist(), *goal_numbers(goal), 0.04) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("arm", [KR10, load_arm("iiwa7-r800")])
def test_the_bare_step_is_numpys_pseudo_inverse(arm: Arm) -> None:
    step = kit(arm).law(newton_law, arm.dof + 12)
    rng = np.random.default_rng(2)
    for _ in range(5):
        q = rng.uniform(arm.lower, arm.upper)
        twist = rng.normal(size=6) * 1e-6
        goal = fk(arm, q)
        w = twist[3:]
        spin = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        goal[:3, :3] = (np.eye(3) + spin + spin @ spin / 2.0) @ goal[:3, :3]
        goal[:3, 3] += twist[:3]
        if arm.dof > 6:
            # The least motion does not depend on how rows are weighted as long as the pose can be met.
            assert np.linalg.matrix_rank(jacobian(arm, q)) == 6
        expected = np.linalg.pinv(jacobian(arm, q)) @ twist
        # Series of the rotation to the second order, and the square of J's condition in normal equations.
        assert step(*q.tolist(), *goal_numbers(goal)) == pytest.approx(expected, rel=1e-5, abs=1e-11)


def test_damping_bounds_the_step_at_a_singularity() -> None:
    """Law: |dq| <= |e| / (2 lambda), the largest of s / (s^2 + lambda^2), at every posture."""
    step = kit(UR5E).law(position_step_law, UR5E.dof + 13)
    stretched = [0.3, -1.0, 0.0, 0.2, 0.7, 0.1]
    goal = fk(UR5E, np.array(stretched))
    goal[:3, 3] *= 1.1
    error = float(np.linalg.norm(goal[:3, 3] - fk(UR5E, np.array(stretched))[:3, 3]))
    for damping in (0.02, 0.1, 0.5):
        size = np.linalg.norm(step(*stretched, *goal_numbers(goal), damping * damping))
        assert size <= error / (2.0 * damping) * (1.0 + 1e-12)


# ----------------------------------------------------------------------------------------------------------- success


@pytest.mark.parametrize("arm", [KR10, UR5E])
def test_reachable_poses_are_reached_within_the_limits(arm: Arm) -> None:
    """8 starts at 1e-9: 99.95 to 100 % over 10,000 poses when written; 2 failures of 500 would be bad luck already."""
    poses, starts = random_poses(arm, 500, 3)
    found = solve_many(arm, poses, starts)
    assert found.ok.sum() >= 498
    assert (found.q >= arm.lower).all()
    assert (found.q <= arm.upper).all()
    for q, goal in list(zip(found.q[found.ok], poses[found.ok], strict=True))[::10]:
        distance, angle = off(arm, q, goal)
        assert distance < 2e-9
        assert angle < 2e-9


@pytest.mark.parametrize("arm", [KR10, UR5E])
def test_one_pose_after_the_other(arm: Arm) -> None:
    poses, starts = random_poses(arm, 60, 4)
    answers = [solve_one(arm, pose, start) for pose, start in zip(poses, starts, strict=True)]
    assert sum(answer.reached for answer in answers) >= 59
    for answer, pose in zip(answers, poses, strict=True):
        distance, angle = off(arm, answer.q, pose)
        assert answer.position_error_m == pytest.approx(distance, abs=1e-12)
        assert answer.orientation_error_rad == pytest.approx(angle, abs=1e-12)
        assert (answer.why == "") == answer.reached


def test_singular_goals_are_double_roots_and_converge_all_the_same() -> None:
    """Wrist straight (KR10), elbow stretched, wrist folded (UR5e): the pose comes within 1e-9, joints need not."""
    rng = np.random.default_rng(5)
    for arm, joint, value in ((KR10, 4, 0.0), (UR5E, 2, 0.0), (UR5E, 4, 0.0)):
        q = rng.uniform(arm.lower, arm.upper, (40, arm.dof)) * 0.6
        q[:, joint] = value
        assert np.linalg.svd(jacobian(arm, q), compute_uv=False)[:, -1].max() < 1e-9
        found = solve_many(arm, fk(arm, q), rng.uniform(arm.lower, arm.upper, q.shape))
        assert found.ok.all()


def test_seven_joints() -> None:
    arm = load_arm("iiwa7-r800")
    poses, starts = random_poses(arm, 100, 6)
    assert solve_many(arm, poses, starts).ok.sum() >= 99


def test_slides_have_a_known_answer() -> None:
    """The wrist's axes meet at the tool, so the slides are at the goal's position."""
    arm = gantry()
    rng = np.random.default_rng(7)
    goal = fk(arm, rng.uniform(-0.9, 0.9, 6))
    for answer in (solve_one(arm, goal, np.zeros(6)), DlsSolver(rows=3).solve(arm, goal, np.full(6, 0.1))):
        assert answer.reached
        assert answer.q[:3] == pytest.approx(goal[:3, 3], abs=2e-9)


def test_fewer_joints_meet_what_they_can() -> None:
    """Three joints cannot turn the tool at will: the answer is a point where the weighted error has no slope."""
    joints = tuple(Joint(f"j{i}", axis, (0.0, 0.0, 0.3 * i), -3.0, 3.0, 1.0) for i, axis in enumerate(
        [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.0)]))  # fmt: skip
    arm = Arm("three", joints, ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 1.0), (0.0, 0.0, 0.0, 1.0)))
    reachable = fk(arm, np.array([0.4, 0.5, -0.8]))
    assert solve_one(arm, reachable, np.zeros(3)).reached
    goal = reachable.copy()
    goal[:3, :3] = goal[:3, :3] @ np.array([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6], [0.0, 0.6, 0.8]])
    answer = solve_one(arm, goal, np.array([0.1, 0.2, -0.2]))
    assert not answer.reached
    assert "left" in answer.why

    def cost(q: np.ndarray) -> float:
        distance, angle = off(arm, q, goal)
        return (distance / kit(arm).length_m) ** 2 + angle**2

    at = cost(answer.q)
    for index in range(3):
        for sign in (-1.0, 1.0):
            assert cost(answer.q + sign * 1e-4 * np.eye(3)[index]) > at


def test_a_call_is_a_function_of_its_arguments() -> None:
    poses, starts = random_poses(KR10, 40, 8)
    first, second = solve_many(KR10, poses, starts), solve_many(KR10, poses, starts)
    assert np.array_equal(first.q, second.q)
    a, b = (solve_one(KR10, poses[0], starts[0]) for _ in range(2))
    assert np.array_equal(a.q, b.q)


# ---------------------------------------------------------------------------------------------------- limits, reasons


def test_answers_are_wound_towards_the_seed() -> None:
    """Joint 6 spans nearly two turns: both windings are answers, and the nearer one is given."""
    q = np.array([0.2, -1.2, 1.0, 0.4, 0.8, math.radians(300.0)])
    goal = fk(KR10, q)
    near, far = q + 0.01, q + 0.01
    far[5] -= 2.0 * math.pi
    assert solve_one(KR10, goal, near).q == pytest.approx(q, abs=1e-7)
    q[5] -= 2.0 * math.pi
    assert solve_one(KR10, goal, far).q == pytest.approx(q, abs=1e-7)


def test_out_of_reach_says_how_far() -> None:
    goal = fk(KR10, np.array([0.0, -1.5, 1.5, 0.0, 0.5, 0.0]))
    goal[:3, 3] = (3.0, 0.0, 0.4)
    answer = solve_one(KR10, goal, np.zeros(6))
    assert not answer.reached
    assert answer.why.startswith("out of reach: target is 3.000 m from the shoulder, reach is 1.")
    assert np.isfinite(answer.q).all()


def test_a_limit_in_the_way_is_named() -> None:
    """A goal that differs from a posture at a limit only by that joint going past it."""
    narrow = Arm("narrow", tuple(
        Joint(j.name, j.axis, j.point_m, -0.5, 0.5, j.speed) for j in KR10.joints), KR10.flange)  # fmt: skip
    q = np.array([0.1, 0.2, -0.1, 0.3, 0.4, 0.8])
    answer = solve_one(narrow, fk(KR10, q), np.zeros(6))
    assert not answer.reached
    assert answer.why.startswith("stuck at a limit of joint A6") or "limits of joints" in answer.why
    assert (np.abs(answer.q) <= 0.5).all()


def test_the_pseudo_inverse_diverges_honestly() -> None:
    """Seen from a stretched arm a goal nearer the base needs a motion that the linear model does not have."""
    stretched = np.array([0.3, -1.0, 0.0, 0.2, 0.7, 0.1])
    goal = fk(UR5E, stretched)
    goal[:3, 3] *= 0.98
    told = set()
    for elbow in (0.0, 1e-9, 1e-6):
        seed = stretched.copy()
        seed[2] = elbow
        answer = PseudoInverseSolver(iterations=4).solve(UR5E, goal, seed)
        assert np.isfinite(answer.q).all()
        assert not answer.reached
        told.add(answer.why.split(":")[0])
        frame = PseudoInverseSolver().step(UR5E, goal, seed, 0.01)
        assert np.isfinite(frame.q).all()
        assert (np.abs(frame.q - seed) <= UR5E.speed * 0.01 * (1.0 + 1e-9)).all()
        assert DlsSolver().solve(UR5E, goal, seed).reached
    assert told == {"the pseudo-inverse diverged near a singularity"}


def test_a_frame_keeps_the_direction_of_the_whole_step() -> None:
    """Where a speed limit is met every joint is scaled by the same factor, and the fastest one is at its limit."""
    q = np.array([0.2, -1.2, 1.0, 0.4, 0.8, 0.3])
    goal = fk(KR10, q + np.array([0.05, -0.3, 0.2, 0.1, -0.15, 0.4]))
    whole = PseudoInverseSolver().step(KR10, goal, q, 100.0).q - q
    frame = PseudoInverseSolver().step(KR10, goal, q, 0.01).q - q
    ratio = frame / whole
    assert ratio == pytest.approx(np.full(6, ratio[0]), rel=1e-9)
    assert (np.abs(frame) / (KR10.speed * 0.01)).max() == pytest.approx(1.0, rel=1e-12)


def test_options_and_inputs_that_are_none() -> None:
    for make, words in (
        (lambda: DlsSolver(rows=4), "rows 4"),
        (lambda: DlsSolver(faithful=True), "rows=3"),
        (lambda: DlsSolver(damping=-1.0), "damping"),
        (lambda: PseudoInverseSolver(iterations=0), "iterations"),
        (lambda: DlsSolver().solve(KR10, np.eye(3), np.zeros(6)), "shape"),
        (lambda: DlsSolver().solve(KR10, np.eye(4) * 2.0, np.zeros(6)), "rotation"),
        (lambda: DlsSolver().solve(KR10, np.full((4, 4), np.nan), np.zeros(6)), "finite"),
        (lambda: DlsSolver().solve(KR10, np.eye(4), np.zeros(5)), "6 joints"),
        (lambda: DlsSolver().step(KR10, np.eye(4), np.zeros(6), 0.0), "dt_s"),
        (lambda: solve_many(KR10, np.eye(4)[None], np.zeros((2, 6))), "one row a pose"),
    ):
        with pytest.raises(FieldworthyError, match=words):
            make()


@pytest.mark.parametrize("make", [DlsSolver, PseudoInverseSolver, CcdSolver, FabrikSolver])
@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("iterations", (0, -3, 1.5, math.nan, None, "12", True)),
        ("tolerance_m", (0.0, -1e-9, math.nan, math.inf, "1", False)),
        ("tolerance_rad", (0.0, -1e-9, math.nan, math.inf, "1")),
        ("max_deg_s", (0.0, -1.0, math.nan, "fast", None)),
    ],
)
def test_numbers_that_are_none_are_told_in_one_sentence(make: Any, option: str, values: tuple[Any, ...]) -> None:
    for value in values:
        with pytest.raises(FieldworthyError, match=rf"^[a-z]+: {option} .*; valid: [^;]*$"):
            make(**{option: value})


def test_no_damping_is_the_pseudo_inverses() -> None:
    """0 must not be taken for None; it is another solver."""
    for damping in (0.0, -0.1, math.nan, math.inf, "0.1"):
        for rows in (3, 6):
            with pytest.raises(FieldworthyError, match=r"^dls: damping .*; valid: a number above 0 or None$"):
                DlsSolver(rows=rows, damping=damping)  # type: ignore[arg-type]
    assert DlsSolver(damping=1e-3).damping == 1e-3
    for make in (DlsSolver, PseudoInverseSolver):
        assert make(tolerance_m=1e-4).tolerance == (1e-4, 1e-9)
        assert make(rows=3, faithful=True).tolerance == (0.0025, math.radians(0.5))


# ------------------------------------------------------------------------------------- three rows without any damping


@pytest.mark.parametrize("arm", [KR10, UR5E, load_arm("iiwa7-r800")])
def test_three_bare_rows_are_numpys_pseudo_inverse(arm: Arm) -> None:
    """A faithful frame whose position is off makes the least motion of the point; one step does not arrive to 1e-12."""
    rng = np.random.default_rng(11)
    solver = PseudoInverseSolver(rows=3, faithful=True, iterations=1, tolerance_m=1e-12)
    for _ in range(5):
        middle, half = (arm.lower + arm.upper) / 2.0, (arm.upper - arm.lower) / 2.0
        q = middle + 0.5 * half * rng.uniform(-1.0, 1.0, arm.dof)
        goal = fk(arm, q)
        goal[:3, 3] += 0.005 * np.array([0.6, 0.0, -0.8])
        expected = np.linalg.pinv(jacobian(arm, q)[:3]) @ (0.005 * np.array([0.6, 0.0, -0.8]))
        # 60 s a frame: no speed limit is met. 1e-9: the normal equations square the condition.
        assert solver.step(arm, goal, q, 60.0).q - q == pytest.approx(expected, abs=1e-9)


def test_three_bare_rows_take_the_orientation_as_the_damped_ones_do() -> None:
    """Faithful: the wrist's share of 0.35. Not so: position first and the rest in what is left; away from
    singularities of six joints both rows together have one solution, which Newton's full step has too."""
    q = np.array([0.2, -1.2, 1.0, 0.4, 0.8, 0.3])
    turned = fk(KR10, q + np.eye(6)[5])
    moved = PseudoInverseSolver(rows=3, faithful=True).step(KR10, turned, q, 60.0).q - q
    assert moved[5] == pytest.approx(0.35, abs=1e-12)
    goal = fk(KR10, q + 0.01 * np.array([1.0, -2.0, 1.0, 3.0, -2.0, 1.0]))
    whole = PseudoInverseSolver().step(KR10, goal, q, 60.0).q
    assert PseudoInverseSolver(rows=3).step(KR10, goal, q, 60.0).q == pytest.approx(whole, abs=1e-9)
    answer = PseudoInverseSolver(rows=3).solve(KR10, goal, q)
    assert answer.reached
    assert max(off(KR10, answer.q, goal)) < 2e-9


def test_three_bare_rows_diverge_honestly() -> None:
    """Two links of 0.5 m in line, the goal nearer the base: no motion of the joints shortens a straight arm. Of the
    UR5e, whose tool has the wrist's motion too, only what is left for the orientation is singular."""
    joints = tuple(Joint(f"j{i}", axis, point, -3.0, 3.0, 1.0) for i, (axis, point) in enumerate(
        [((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)), ((0.0, 1.0, 0.0), (0.0, 0.0, 0.0)), ((0.0, 1.0, 0.0), (0.5, 0.0, 0.0))]
    ))  # fmt: skip
    arm = Arm("two links", joints, ((1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), IDENTITY[3]))
    near = np.eye(4)
    near[0, 3] = 0.9
    straight = np.array([0.3, -1.0, 0.0, 0.2, 0.7, 0.1])
    goal = fk(UR5E, straight)
    goal[:3, 3] *= 0.98
    cases = [(arm, near, np.array([0.0, 0.0, elbow]), True) for elbow in (0.0, 1e-9)]
    cases += [(UR5E, goal, straight + elbow * np.eye(6)[2], False) for elbow in (1e-9, 1e-6)]
    for where, pose, seed, faithful in cases:
        solver = PseudoInverseSolver(rows=3, faithful=faithful, iterations=1)
        answer, frame = solver.solve(where, pose, seed), solver.step(where, pose, seed, 0.01)
        for told in (answer, frame):
            assert np.isfinite(told.q).all()
            assert told.why.startswith("the pseudo-inverse diverged near a singularity")
        assert (np.abs(frame.q - seed) <= where.speed * 0.01 * (1.0 + 1e-9)).all()


def test_the_seeds_pseudo_inverse_is_there_by_name() -> None:
    assert "pinv-seed" in SEED_SOLVERS
    for name, kind in (("pinv-seed", PseudoInverseSolver), ("dls-seed", DlsSolver)):
        solver: Any = make_solver(name)
        assert isinstance(solver, kind)
        assert (solver.rows, solver.faithful) == (3, True)
    with pytest.raises(FieldworthyError, match="rows 4"):
        PseudoInverseSolver(rows=4)
    with pytest.raises(FieldworthyError, match="rows=3"):
        PseudoInverseSolver(faithful=True)
