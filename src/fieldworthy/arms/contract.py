"""What a solver of one's own must keep to, tried on an arm: `check_solver(solver, arm)` lists what it breaks."""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.kinematics import fk
from fieldworthy.arms.kit import goal_numbers, kit
from fieldworthy.arms.solver import Attempt

_DT_S = 1.0 / 60.0
_FRAMES = 300
_LOOSE = (0.01, 0.05)
"""Errors [m, rad] beyond which no tolerance makes a pose reached."""


def check_solver(solver: Any, arm: Arm, cases: int = 3) -> list[str]:
    """Complaints, one sentence each, each kind once; empty where the solver keeps the contract on `cases` poses.

    Tried: limits of position and speed, errors as forward kinematics finds them, a reason where a pose was not reached,
    inputs left as they were, joints at rest after arrival, a pose out of reach.
    """
    found: dict[str, str] = {}
    library = kit(arm).starts(draw=1).q
    goals = [fk(arm, row) for row in library[:cases]]
    beyond = goals[0].copy()
    beyond[:3, 3] += 10.0 * kit(arm).reach_m
    middle = (arm.lower + arm.upper) / 2.0
    for goal, near, seed in zip([*goals, beyond], library, library[cases + 1 :], strict=False):
        try:
            _solve(solver, arm, goal, seed, found)
            # From near by, so that a solver which only goes downhill arrives too.
            _frames(solver, arm, goal, near + 0.15 * (middle - near), found)
        except Exception as error:
            found["raises"] = f"raises {type(error).__name__}: {error}; valid: an Attempt for every pose that is one"
    return list(found.values())


def _solve(solver: Any, arm: Arm, goal: Array, seed: Array, found: dict[str, str]) -> None:
    pose, start = goal.copy(), seed.copy()
    answer = solver.solve(arm, pose, start)
    _answer("solve", answer, arm, goal, found)
    _inputs("solve", pose, goal, start, seed, found)


def _frames(solver: Any, arm: Arm, goal: Array, seed: Array, found: dict[str, str]) -> None:
    """Frames until arrival, one second to settle and one to be watched."""
    q, arrived, watched = seed, 0, []
    for _ in range(_FRAMES + 120):
        pose, start = goal.copy(), q.copy()
        answer = solver.step(arm, pose, start, _DT_S)
        if not _answer("step", answer, arm, goal, found):
            return
        _inputs("step", pose, goal, start, q, found)
        ratio = np.abs(answer.q - q) / (arm.speed * _DT_S)
        if ratio.max() > 1.0 + 1e-9:
            name = arm.joints[int(ratio.argmax())].name
            found["speed"] = f"step: joint {name} moves at {ratio.max():.3g} times its speed limit; valid: up to 1"
        q = np.array(answer.q)
        arrived += 1 if arrived or answer.reached else 0
        if arrived > 60:
            watched.append(q)
        if arrived > 120:
            break
    if watched and np.ptp(np.array(watched), axis=0).max() > 1e-9:
        swing = np.ptp(np.array(watched), axis=0).max()
        found["rest"] = (
            f"step: joints still move by {swing:.2g} rad (or m) a second after arrival; valid: at rest to 1e-9"
        )


def _inputs(call: str, pose: Array, goal: Array, start: Array, seed: Array, found: dict[str, str]) -> None:
    if not (np.array_equal(pose, goal) and np.array_equal(start, seed)):
        found["inputs"] = f"{call}: changes the pose or the posture it was given; valid: an array of its own"


def _answer(call: str, answer: Any, arm: Arm, goal: Array, found: dict[str, str]) -> bool:
    """Whether the answer is one at all; what is wrong with it goes to `found`."""
    q = np.asarray(getattr(answer, "q", None))
    if not isinstance(answer, Attempt) or q.shape != (arm.dof,) or q.dtype.kind != "f" or not np.isfinite(q).all():
        found["answer"] = f"{call}: no Attempt with finite joint positions; valid: q of shape ({arm.dof},)"
        return False
    outside = np.maximum(arm.lower - q, q - arm.upper)
    if outside.max() > 1e-12:
        name = arm.joints[int(outside.argmax())].name
        found["limits"] = f"{call}: joint {name} is {outside.max():.3g} outside its limits; valid: always within"
    distance, angle = kit(arm).errors(*q.tolist(), *goal_numbers(goal))
    told = (answer.position_error_m, answer.orientation_error_rad)
    if not (abs(told[0] - distance) < 1e-8 and abs(told[1] - angle) < 1e-6):
        found["errors"] = (
            f"{call}: tells errors of {told[0]:.3g} m and {told[1]:.3g} rad where forward kinematics finds "
            f"{distance:.3g} m and {angle:.3g} rad; valid: what kinematics.fk gives"
        )
    if answer.reached and (distance > _LOOSE[0] or angle > _LOOSE[1]):
        found["reached"] = (
            f"{call}: says reached with {distance:.3g} m and {angle:.3g} rad left; valid: within tolerance"
        )
    if answer.reached != (answer.why == ""):
        found["why"] = f"{call}: `why` is {answer.why!r} where reached is {answer.reached}; valid: a reason, or reached"
    return True
