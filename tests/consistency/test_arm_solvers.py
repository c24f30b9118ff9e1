"""The solvers against each other: one pose and lanes, all of them near a solution, at rest beside the faithful way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fieldworthy.arms.catalogue import load_arm
from fieldworthy.arms.chain import Arm
from fieldworthy.arms.dls import DlsSolver
from fieldworthy.arms.kinematics import fk, jacobian
from fieldworthy.arms.least_squares import solve_many, solve_one
from fieldworthy.arms.solver import make_solver

ARMS = [load_arm("kr10-r1100"), load_arm("ur5e"), load_arm("iiwa7-r800")]


def near(arm: Arm, count: int, far: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    middle, half = (arm.lower + arm.upper) / 2.0, (arm.upper - arm.lower) / 2.0
    q = middle + 0.6 * half * rng.uniform(-1.0, 1.0, (count, arm.dof))
    return q, fk(arm, np.clip(q + rng.uniform(-far, far, q.shape), arm.lower, arm.upper))


@pytest.mark.parametrize("arm", ARMS)
def test_lanes_do_what_one_pose_does(arm: Arm) -> None:
    """The same steps in another order of rounding; twenty steps do not make 1e-7 of 1e-15 unless they part for good,
    which near-singular starts may do."""
    seeds, poses = near(arm, 60, 0.3, 0)
    many = solve_many(arm, poses, seeds, starts=1)
    same = 0
    for row, (pose, seed) in enumerate(zip(poses, seeds, strict=True)):
        one = solve_one(arm, pose, seed, starts=1)
        assert one.reached == many.ok[row]
        same += bool(np.abs(one.q - many.q[row]).max() < 1e-6)
    assert same >= 57


def test_few_and_many_rows_agree() -> None:
    """Below sixteen poses no kernel is launched."""
    arm = ARMS[0]
    seeds, poses = near(arm, 20, 0.3, 1)
    many, few = solve_many(arm, poses, seeds), solve_many(arm, poses[:5], seeds[:5])
    assert few.ok.all()
    assert many.ok.all()
    assert few.q == pytest.approx(many.q[:5], abs=1e-6)


@pytest.mark.parametrize("arm", ARMS[:2])
@pytest.mark.parametrize(
    ("name", "options"), [("dls", {}), ("dls", {"rows": 3}), ("pinv", {}), ("ccd", {}), ("fabrik", {})]
)
def test_all_find_the_same_branch_from_near_by(arm: Arm, name: str, options: dict[str, Any]) -> None:
    """Six joints, away from singularities: solutions are isolated, so the nearest one is the one all find."""
    seeds, poses = near(arm, 40, 0.03, 2)
    regular = np.linalg.svd(jacobian(arm, seeds), compute_uv=False)[:, -1] > 0.05
    assert regular.sum() >= 10
    reference = solve_many(arm, poses, seeds)
    solver = make_solver(name, **options)
    for row in np.flatnonzero(regular):
        answer = solver.solve(arm, poses[row], seeds[row])
        assert answer.reached
        assert answer.q == pytest.approx(reference.q[row], abs=1e-6)


@pytest.mark.parametrize("arm", ARMS[:2])
def test_position_first_rests_and_its_faithful_self_trembles(arm: Arm) -> None:
    """3 rows: with the wrist turned apart some goals never come to rest; taken together, all do."""

    def swing(solver: Any, q: np.ndarray, goal: np.ndarray) -> float:
        rows = []
        for _ in range(300):
            q = solver.step(arm, goal, q, 1.0 / 60.0).q
            rows.append(q)
        return float(np.ptp(np.array(rows)[-120:], axis=0).max())

    seeds, poses = near(arm, 16, 0.4, 3)
    trembling = [swing(DlsSolver(rows=3, faithful=True), q, goal) for q, goal in zip(seeds, poses, strict=True)]
    assert max(trembling) > 1e-3
    for solver in (DlsSolver(), DlsSolver(rows=3)):
        resting = [swing(solver, q, goal) for q, goal in zip(seeds, poses, strict=True)]
        assert max(resting) < 1e-9


@pytest.mark.parametrize("name", ["dls", "ccd", "fabrik"])
def test_a_moving_goal_is_followed(name: str) -> None:
    """A straight line of 10 cm in one second, switched between frames: the lag stays below a frame's way."""
    arm = ARMS[0]
    q = np.array([0.2, -1.2, 1.0, 0.4, 0.8, 0.3])
    start = fk(arm, q)
    solver = make_solver(name)
    for frame in range(1, 61):
        goal = start.copy()
        goal[:3, 3] += np.array([0.06, 0.06, -0.052]) * frame / 60.0
        answer = solver.step(arm, goal, q, 1.0 / 60.0)
        assert answer.position_error_m < 0.1 / 60.0
        q = answer.q
