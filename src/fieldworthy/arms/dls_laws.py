"""The linear steps of dls.py as laws: three rows by Cramer's rule, the bare pseudo-inverse, Jacobian and errors.

Verified by: tests/verification/test_arm_dls.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fieldworthy.arms.kinematics import forward_and_jacobian, pose_error
from fieldworthy.arms.kit import Kit, goal_of, solve_symmetric
from fieldworthy.core.lanes import Scalar
from fieldworthy.core.vec import Mat3, Vec3, dot, mat3_solve


def position_step_law(of: Kit) -> Callable[..., Any]:
    """step(*q, *goal, squared damping) -> dq of three rows, the 3x3 system by Cramer's rule."""

    def law(*numbers: Scalar) -> Any:
        _, position, columns = forward_and_jacobian(of.arm, numbers[: of.dof])
        offset = goal_of(numbers[of.dof : of.dof + 12])[1] - position
        velocities = [velocity for velocity, _ in columns]
        entries = []
        for row in "xyz":
            for column in "xyz":
                entry: Scalar = numbers[-1] if row == column else 0.0
                for velocity in velocities:
                    entry = entry + getattr(velocity, row) * getattr(velocity, column)
                entries.append(entry)
        weights = mat3_solve(Mat3(*entries), offset)
        return tuple(dot(velocity, weights) for velocity in velocities)

    return law


def newton_law(of: Kit) -> Callable[..., Any]:
    """step(*q, *goal) -> dq: J^T (J J^T)^-1 e, or (J^T J)^-1 J^T e below six joints; lengths over `length_m`."""

    def law(*numbers: Scalar) -> Any:
        rotation, position, columns = forward_and_jacobian(of.arm, numbers[: of.dof])
        offset, turn = pose_error(rotation, position, *goal_of(numbers[of.dof :]))
        scale = 1.0 / of.length_m
        tall = [[*(velocity * scale), *spin] for velocity, spin in columns]
        error = [*(offset * scale), *turn]

        def sum_of(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
            total: Scalar = 0.0
            for x, y in zip(a, b, strict=True):
                total = total + x * y
            return total

        if of.dof < 6:
            rows = [[sum_of(a, b) for b in tall[: i + 1]] for i, a in enumerate(tall)]
            return solve_symmetric(rows, [0.0] * of.dof, [sum_of(a, error) for a in tall])
        wide = list(zip(*tall, strict=True))
        rows = [[sum_of(a, b) for b in wide[: i + 1]] for i, a in enumerate(wide)]
        weights = solve_symmetric(rows, [0.0] * 6, error)
        return tuple(sum_of(column, weights) for column in tall)

    return law


def jacobian_law(of: Kit) -> Callable[..., Any]:
    """(velocity rows, angular rows, offset, turn) of a posture and a goal."""

    def law(*numbers: Scalar) -> Any:
        rotation, position, columns = forward_and_jacobian(of.arm, numbers[: of.dof])
        offset, turn = pose_error(rotation, position, *goal_of(numbers[of.dof :]))
        rows = [getattr(part, axis) for which in (0, 1) for axis in "xyz" for part in (c[which] for c in columns)]
        return (*rows, *Vec3(*offset), *Vec3(*turn))

    return law
