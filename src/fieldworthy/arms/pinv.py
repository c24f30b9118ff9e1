"""The bare pseudo-inverse: the step of damped least squares (dls.py) without any damping.

Equation: dq = J^+ e; six rows (pose), or three (position). Exact far from singularities, useless near them, and it
says so. Three rows take the orientation as the damped ones do: in what motion the position leaves, without damping
(dls.py has the source), or, faithful, by the wrist's turn after arrival.
Source: Whitney, "Resolved motion rate control of manipulators and human prostheses", IEEE Trans. Man-Machine Systems
10(2), 1969
Verified by: tests/verification/test_arm_dls.py, tests/consistency/test_arm_solvers.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.dls import rows_of, tolerance_of, wrist_turned
from fieldworthy.arms.dls_laws import newton_law, position_step_law
from fieldworthy.arms.iterate import REST, clipped, frame_attempt, rooms, shortened
from fieldworthy.arms.kit import Kit, goal_numbers, kit, posture
from fieldworthy.arms.solver import Attempt
from fieldworthy.arms.solver_options import check_blend, check_options
from fieldworthy.core.errors import FieldworthyError

_WILD = 2.0 * math.pi
"""A single step of more than this [rad or m] is a diverging one."""
_ROUNDS = 20
"""How often `solve` goes from the position to the wrist and back; of the faithful way only."""
_NONE = 1e-13
"""Singular values below this share of the largest are rounding errors of zero."""


@dataclass(frozen=True)
class PseudoInverseSolver:
    """lambda = 0: the least motion that the linear model asks for, whatever its size."""

    rows: int = 6
    """6: the whole pose at once; 3: the position first."""
    iterations: int = 40
    """Steps of `solve`; where faithful, steps that the position may take before the wrist's turn."""
    tolerance_m: float | None = None
    """None: 1e-9 m, and 2.5 mm where faithful."""
    tolerance_rad: float | None = None
    """None: 1e-9 rad, and 0.5 deg where faithful."""
    max_deg_s: float = math.inf
    """The solver's own limit; the arm's, where lower, counts too unless faithful with a limit of its own."""
    orientation_blend: float = 0.35
    """Share of the remaining turn that the wrist makes in a frame; of the faithful way only."""
    faithful: bool = False
    name: str = field(default="pinv", init=False)

    def __post_init__(self) -> None:
        if self.rows not in (3, 6):
            raise FieldworthyError(f"pinv: rows {self.rows}; valid: 3 (position first) or 6 (whole pose)")
        if self.faithful and self.rows != 3:
            raise FieldworthyError("pinv: faithful with 6 rows; valid: rows=3, the wrist is turned apart")
        check_options(
            self,
            counts=("iterations",),
            positive=("tolerance_m", "tolerance_rad", "max_deg_s"),
            unset=("tolerance_m", "tolerance_rad"),
        )
        check_blend(self)

    @property
    def tolerance(self) -> tuple[float, float]:
        """(position [m], orientation [rad]) within which a pose is reached."""
        return tolerance_of(self.tolerance_m, self.tolerance_rad, self.faithful)

    def solve(self, arm: Arm, base_from_tool: Array, seed: Array) -> Attempt:
        """Newton's method from `seed` (dof,), one start; the best posture met, and whether the steps diverged."""
        k, goal, first = kit(arm), goal_numbers(base_from_tool), posture(arm, seed)
        if not self.faithful:
            q, used, widest = self._newton(k, goal, k.inside(first), self.iterations)
            return self._answer(k, goal, k.wound(q, first), used, widest)
        q, used, widest = k.inside(first), 0, 0.0
        for _ in range(_ROUNDS):
            q, more, size = self._position_then_wrist(k, goal, q)
            used, widest = used + more, max(widest, size)
            distance, angle = k.errors(*q, *goal)
            if (distance <= self.tolerance[0] and angle <= self.tolerance[1]) or math.isinf(size):
                break
        return self._answer(k, goal, k.wound(q, first), used, widest)

    def step(self, arm: Arm, base_from_tool: Array, q: Array, dt_s: float) -> Attempt:
        """One frame: towards where Newton's method leads, all joints scaled together to the speed limits."""
        k, goal = kit(arm), goal_numbers(base_from_tool)
        before = clipped(k, posture(arm, q, "q"))
        room = rooms(k, dt_s, self.max_deg_s, own=not self.faithful or math.isinf(self.max_deg_s))
        if self.faithful:
            there, used, widest = self._position_then_wrist(k, goal, before)
        else:
            distance, angle = k.errors(*before, *goal)
            if distance <= REST and angle <= REST:
                return k.attempt(goal, before, 0, self.tolerance)
            move = self._step(k, goal, before)
            there, used, widest = clipped(k, [a + b for a, b in zip(before, move, strict=True)]), 1, _widest(move)
        after = shortened(before, there, room)
        if widest > _WILD:
            return self._answer(k, goal, after, used, widest)
        return frame_attempt(k, goal, before, after, room, used, self.tolerance)

    def _answer(self, k: Kit, goal: Sequence[float], q: Sequence[float], used: int, widest: float) -> Attempt:
        found = k.attempt(goal, q, used, self.tolerance)
        if found.reached or widest <= _WILD or found.why.startswith("out of reach"):
            return found
        size = "beyond all numbers" if math.isinf(widest) else f"of {widest:.3g} rad"
        return k.attempt(
            goal, q, used, self.tolerance, f"the pseudo-inverse diverged near a singularity: a step {size}"
        )

    def _newton(self, k: Kit, goal: Sequence[float], q: list[float], most: int) -> tuple[list[float], int, float]:
        """(best posture met, steps, largest part of a step)."""
        best, least, widest = q, k.cost(*k.errors(*q, *goal)), 0.0
        for used in range(most):
            distance, angle = k.errors(*q, *goal)
            if k.cost(distance, angle) <= least:
                best, least = q, k.cost(distance, angle)
            if distance <= self.tolerance[0] and angle <= self.tolerance[1]:
                return q, used, widest
            move = self._step(k, goal, q)
            widest = max(widest, _widest(move))
            if math.isinf(widest):
                return best, used + 1, widest
            q = k.inside([a + b for a, b in zip(q, move, strict=True)])
        return best, most, widest

    def _step(self, k: Kit, goal: Sequence[float], q: Sequence[float]) -> list[float]:
        return _whole_step(k, goal, q) if self.rows == 6 else _priority_step(k, goal, q)

    def _position_then_wrist(self, k: Kit, goal: Sequence[float], q: list[float]) -> tuple[list[float], int, float]:
        """(posture, steps, largest part of a step): the position, and once it is there the wrist's share."""
        used, widest = 0, 0.0
        while k.errors(*q, *goal)[0] > self.tolerance[0]:
            if used == self.iterations:
                return q, used, widest
            move = _position_step(k, goal, q)
            widest = max(widest, _widest(move))
            used += 1
            if math.isinf(widest):
                return q, used, widest
            q = clipped(k, [a + b for a, b in zip(q, move, strict=True)])
        return wrist_turned(k, goal, q, self.orientation_blend), used, widest


def _widest(move: Sequence[float]) -> float:
    return max(map(abs, move))


def _finite(move: Sequence[float]) -> list[float]:
    return list(move) if all(map(math.isfinite, move)) else [math.inf] * len(move)


def _whole_step(k: Kit, goal: Sequence[float], q: Sequence[float]) -> list[float]:
    """The pseudo-inverse's step of six rows; infinite where it does not exist."""
    try:
        return _finite(k.law(newton_law, k.dof + 12)(*q, *goal))
    except ZeroDivisionError:
        return [math.inf] * k.dof


def _position_step(k: Kit, goal: Sequence[float], q: Sequence[float]) -> list[float]:
    """The pseudo-inverse's step of three rows; infinite where it does not exist."""
    try:
        return _finite(k.law(position_step_law, k.dof + 13)(*q, *goal, 0.0))
    except ZeroDivisionError:
        return [math.inf] * k.dof


def _priority_step(k: Kit, goal: Sequence[float], q: Sequence[float]) -> list[float]:
    """Equation: dq = J_v^+ e_v + (J_w N)^+ (e_w - J_w J_v^+ e_v), N = 1 - J_v^+ J_v; infinite beyond all numbers."""
    jv, jw, offset, turn = rows_of(k, goal, q)
    inverse = np.linalg.pinv(jv, rcond=_NONE)
    first = inverse @ offset
    free = jw @ (np.eye(k.dof) - inverse @ jv)
    return _finite((first + np.linalg.pinv(free, rcond=_NONE) @ (turn - jw @ first)).tolist())
