"""Damped least squares: all joints at once, scaled together where a speed limit is met.

Equation: dq = J^T (J J^T + lambda^2 1)^-1 e; six rows (pose), or three (position) by Cramer's rule.
Source: Wampler, "Manipulator inverse kinematic solutions based on vector formulations and damped least-squares
methods", IEEE Trans. Systems, Man and Cybernetics 16(1), 1986; Nakamura & Hanafusa, "Inverse kinematic solutions with
singularity robustness for robot manipulator control", J. Dynamic Systems, Measurement and Control 108(3), 1986
Six rows: damped by the error (least_squares.py), or by a constant lambda. Three rows: the position first, the
orientation in what motion it leaves (Source: Nakamura, Hanafusa & Yoshikawa, "Task-priority based redundancy control
of robot manipulators", IJRR 6(2), 1987), damped near singularities. Faithful: three rows, and the wrist's turn after
arrival. lambda = 0 is another solver: pinv.py.
Verified by: tests/verification/test_arm_dls.py, tests/consistency/test_arm_solvers.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.dls_laws import jacobian_law, position_step_law
from fieldworthy.arms.iterate import REST, clipped, frame_attempt, from_starts, rooms, shortened, window
from fieldworthy.arms.kit import Kit, goal_numbers, kit, posture
from fieldworthy.arms.least_squares import descend, solve_one
from fieldworthy.arms.solver import Attempt
from fieldworthy.arms.solver_options import check_blend, check_options
from fieldworthy.arms.sweep_laws import wrist_law
from fieldworthy.core.errors import FieldworthyError

_GAIN = 1e-6
_LAMBDA = 0.05
"""Largest damping of three rows, as a share of the length that counts as a radian; the constant of the faithful way."""


@dataclass(frozen=True)
class DlsSolver:
    """Damped least squares with joint and speed limits."""

    rows: int = 6
    """6: the whole pose at once; 3: the position first."""
    damping: float | None = None
    """A constant lambda above 0 [rad for six rows, m for three]; None adapts it."""
    iterations: int = 12
    """Steps a frame."""
    tolerance_m: float | None = None
    """None: 1e-9 m, and 2.5 mm where faithful."""
    tolerance_rad: float | None = None
    """None: 1e-9 rad, and 0.5 deg where faithful."""
    max_deg_s: float = math.inf
    """The solver's own limit; the arm's, where lower, counts too unless faithful with a limit of its own."""
    orientation_blend: float = 0.35
    """Share of the remaining turn that the wrist makes in a frame; of the faithful way only."""
    faithful: bool = False
    starts: int = 8
    name: str = field(default="dls", init=False)

    def __post_init__(self) -> None:
        if self.rows not in (3, 6):
            raise FieldworthyError(f"dls: rows {self.rows}; valid: 3 (position first) or 6 (whole pose)")
        if self.faithful and self.rows != 3:
            raise FieldworthyError("dls: faithful with 6 rows; valid: rows=3, the wrist is turned apart")
        check_options(
            self,
            counts=("iterations", "starts"),
            positive=("damping", "tolerance_m", "tolerance_rad", "max_deg_s"),
            unset=("damping", "tolerance_m", "tolerance_rad"),
        )
        check_blend(self)

    @property
    def tolerance(self) -> tuple[float, float]:
        """(position [m], orientation [rad]) within which a pose is reached."""
        return tolerance_of(self.tolerance_m, self.tolerance_rad, self.faithful)

    def solve(self, arm: Arm, base_from_tool: Array, seed: Array) -> Attempt:
        """Joint positions for a pose (4, 4) from `seed` (dof,), and from other starts where that does not arrive."""
        if self.rows == 6:
            return solve_one(arm, base_from_tool, seed, self.starts, *self.tolerance, damping=self.damping)
        k, goal, first = kit(arm), goal_numbers(base_from_tool), posture(arm, seed)
        starts = 1 if self.faithful else self.starts
        best, used = from_starts(k, goal, k.inside(first), starts, self.tolerance, self._until_idle)
        return k.attempt(goal, k.wound(best, first), used, self.tolerance)

    def step(self, arm: Arm, base_from_tool: Array, q: Array, dt_s: float) -> Attempt:
        """One frame towards a pose: the whole step is scaled to the speed limits, and none is made after arrival."""
        k, goal = kit(arm), goal_numbers(base_from_tool)
        before = clipped(k, posture(arm, q, "q"))
        room = rooms(k, dt_s, self.max_deg_s, own=not self.faithful or math.isinf(self.max_deg_s))
        if self.faithful:
            after, used = self._towards(k, goal, before, k.lower, k.upper)
            return frame_attempt(k, goal, before, shortened(before, after, room), room, used, self.tolerance)
        distance, angle = k.errors(*before, *goal)
        if distance <= REST and angle <= REST:
            return k.attempt(goal, before, 0, self.tolerance)
        aim, used = self._towards(k, goal, before, k.lower, k.upper)
        enough = k.cost(distance, angle) * (1.0 - _GAIN)
        after = shortened(before, aim, room)
        for _ in range(8):
            if k.cost(*k.errors(*after, *goal)) <= enough:
                return frame_attempt(k, goal, before, after, room, used, self.tolerance)
            after = [(a + b) * 0.5 for a, b in zip(before, after, strict=True)]
        # The straight way in joint space rises at first: descend within the frame's own bounds.
        after, more = descend(k, goal, before, *window(k, before, room), self.iterations, self._constant)
        if k.cost(*k.errors(*after, *goal)) > enough:
            after = before
        return frame_attempt(k, goal, before, after, room, used + more, self.tolerance)

    @property
    def _constant(self) -> float | None:
        return self.damping if self.rows == 6 else None

    def _until_idle(self, k: Kit, goal: Sequence[float], q: list[float]) -> tuple[list[float], int]:
        used = 0
        for _ in range(20):
            before = k.cost(*k.errors(*q, *goal))
            q, more = self._towards(k, goal, q, k.lower, k.upper)
            used += more
            distance, angle = k.errors(*q, *goal)
            arrived = distance <= self.tolerance[0] and angle <= self.tolerance[1]
            if arrived or (k.cost(distance, angle) > 0.99 * before and not self.faithful):
                break
        return q, used

    def _towards(
        self, k: Kit, goal: Sequence[float], q: list[float], lower: Sequence[float], upper: Sequence[float]
    ) -> tuple[list[float], int]:
        """(where some steps lead within the limits, how many they were)."""
        if self.rows == 6:
            return descend(k, goal, q, lower, upper, self.iterations, self.damping)
        if self.faithful:
            return self._position_then_wrist(k, goal, q)
        cost = k.cost(*k.errors(*q, *goal))
        for _ in range(self.iterations):
            move = _priority(k, goal, q, self.damping)
            for _ in range(6):
                there = [min(max(a + b, lo), hi) for a, b, lo, hi in zip(q, move, lower, upper, strict=True)]
                lowered = k.cost(*k.errors(*there, *goal))
                if lowered < cost:
                    break
                move = [0.5 * b for b in move]
            else:
                return descend(k, goal, q, lower, upper, self.iterations)
            q, cost = there, lowered
        return q, self.iterations

    def _position_then_wrist(self, k: Kit, goal: Sequence[float], q: list[float]) -> tuple[list[float], int]:
        step = k.law(position_step_law, k.dof + 13)
        damping = _LAMBDA if self.damping is None else self.damping
        used = 0
        while k.errors(*q, *goal)[0] > self.tolerance[0]:
            if used == self.iterations:
                return q, used
            q = clipped(k, [a + b for a, b in zip(q, step(*q, *goal, damping * damping + 1e-12), strict=True)])
            used += 1
        return wrist_turned(k, goal, q, self.orientation_blend), used


def tolerance_of(tolerance_m: float | None, tolerance_rad: float | None, faithful: bool) -> tuple[float, float]:
    """(position [m], orientation [rad]) within which a pose is reached; the usual ones in the place of None."""
    usual = (0.0025, math.radians(0.5)) if faithful else (1e-9, 1e-9)
    return usual[0] if tolerance_m is None else tolerance_m, usual[1] if tolerance_rad is None else tolerance_rad


def wrist_turned(k: Kit, goal: Sequence[float], q: Sequence[float], blend: float) -> list[float]:
    """The posture after the wrist has turned its share of the way that is left."""
    return list(k.law(wrist_law, 3 * k.dof + 13)(*q, *k.lower, *k.upper, *goal, blend))


def rows_of(k: Kit, goal: Sequence[float], q: Sequence[float]) -> tuple[Array, Array, Array, Array]:
    """(J_v (3, dof), J_w (3, dof), offset (3,) [m], turn (3,) [rad]) of a posture and a goal, base frame."""
    values = np.array(k.law(jacobian_law, k.dof + 12)(*q, *goal))
    jv, jw = values[: 3 * k.dof].reshape(3, -1), values[3 * k.dof : 6 * k.dof].reshape(3, -1)
    return jv, jw, values[-6:-3], values[-3:]


def _priority(k: Kit, goal: Sequence[float], q: Sequence[float], damping: float | None) -> list[float]:
    """Position by J_v, then the orientation by the motion J_v leaves free.

    Equation: dq = A e_v + (J_w N)^+ (e_w - J_w A e_v), A = J_v^T (J_v J_v^T + lambda^2)^-1, N = 1 - J_v^+ J_v
    lambda^2 = lambda_0^2 (1 - w / w_0)^2 below a manipulability w_0 of w = det(J_v J_v^T)^(1/2), else 0.
    """
    jv, jw, offset, turn = rows_of(k, goal, q)
    square = jv @ jv.T
    if damping is None:
        scale = k.length_m
        ratio = math.sqrt(max(float(np.linalg.det(square)), 0.0)) / (0.05 * scale**3)
        damping = _LAMBDA * scale * max(1.0 - ratio, 0.0)
    inverse = jv.T @ np.linalg.inv(square + (damping * damping + 1e-12) * np.eye(3))
    first = inverse @ offset
    free = jw @ (np.eye(k.dof) - np.linalg.pinv(jv, rcond=1e-9) @ jv)
    second = np.linalg.lstsq(free, turn - jw @ first, rcond=1e-2)[0]
    found: list[float] = (first + second).tolist()
    return found
