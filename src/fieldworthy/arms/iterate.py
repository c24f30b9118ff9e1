"""What the sweeping solvers (CCD, FABRIK) share: frames under speed limits, the wrist's turn, restarts, coming to rest.

Two ways of working. The default one takes a sweep only where it lowers one error made of position and orientation, ends
with damped least squares, and leaves the joints alone once nothing is left to gain: it cannot oscillate. `faithful`
works as the solvers of game engines do: position first, then the wrist turns a share of the way to the orientation,
which moves the tool off again, and so on for ever.
Verified by: tests/verification/test_arm_ccd.py, tests/verification/test_arm_fabrik.py,
tests/consistency/test_arm_solvers.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.kit import Kit, goal_numbers, kit, posture, rest
from fieldworthy.arms.least_squares import descend
from fieldworthy.arms.solver import Attempt
from fieldworthy.arms.solver_options import check_blend, check_options
from fieldworthy.arms.sweep_laws import wrist_law
from fieldworthy.core.errors import FieldworthyError

REST = 1e-9
"""Nothing is moved for errors below this [m and rad]."""
_GAIN = 1e-6
"""A frame that lowers the error by a smaller share is not worth moving for."""
_ROUNDS = 20

# --------------------------------------------------------------------------------------------------------- one frame


def rooms(k: Kit, dt_s: float, max_deg_s: float, own: bool) -> list[float]:
    """How far each joint may go in one frame; `own` respects the arm's limits too. Prismatic joints know only those."""
    if not (math.isfinite(dt_s) and dt_s > 0.0):
        raise FieldworthyError(f"dt_s: {dt_s!r} s; valid: a positive number")
    most = math.radians(max_deg_s)
    return [
        dt_s * min(speed if own or not turning else math.inf, most if turning else math.inf)
        for speed, turning in zip(k.speed, k.turning, strict=True)
    ]


def window(k: Kit, q: Sequence[float], room: Sequence[float]) -> tuple[list[float], list[float]]:
    """(lower, upper) positions that a frame from q may end at."""
    lower = [max(low, x - r) for x, low, r in zip(q, k.lower, room, strict=True)]
    upper = [min(high, x + r) for x, high, r in zip(q, k.upper, room, strict=True)]
    return lower, upper


def clipped(k: Kit, q: Sequence[float]) -> list[float]:
    """q within the limits, without turns: where the joints are is not changed by naming it otherwise."""
    return [min(max(x, low), high) for x, low, high in zip(q, k.lower, k.upper, strict=True)]


def shortened(q: Sequence[float], there: Sequence[float], room: Sequence[float]) -> list[float]:
    """The way from q to there, all joints by one factor, as far as the frame allows: its direction is kept."""
    factor = min([1.0, *(r / abs(b - a) for a, b, r in zip(q, there, room, strict=True) if abs(b - a) > r)])
    return list(there) if factor == 1.0 else [a + factor * (b - a) for a, b in zip(q, there, strict=True)]


def frame_attempt(
    k: Kit, goal: Sequence[float], before: Sequence[float], q: Sequence[float], room: Sequence[float], used: int,
    tolerance: tuple[float, float],
) -> Attempt:  # fmt: skip
    """The answer of one frame; where a speed limit kept the arm from arriving, it says so."""
    found = k.attempt(goal, q, used, tolerance, why="")
    if found.reached:
        return found
    held = [j.name for j, a, b, r in zip(k.arm.joints, before, q, room, strict=True) if abs(b - a) > r * (1.0 - 1e-9)]
    if held:
        left = rest(found.position_error_m, found.orientation_error_rad)
        return k.attempt(goal, q, used, tolerance, f"on its way at the speed limit of {', '.join(held)}, {left}")
    why = k.why_not(goal, q, found.position_error_m, found.orientation_error_rad, used)
    return k.attempt(goal, q, used, tolerance, why.replace("no progress after", "not there in a frame of"))


def from_starts(
    k: Kit,
    goal: Sequence[float],
    first: list[float],
    starts: int,
    tolerance: tuple[float, float],
    search: Callable[[Kit, Sequence[float], list[float]], tuple[list[float], int]],
) -> tuple[list[float], int]:
    """(best posture, steps) of a search from `first` and, until it arrives, from other starts."""
    best, least, used = first, math.inf, 0
    seen: list[list[float]] = []
    for start in range(starts):
        q = k.starts().pick(np.array([goal]), np.array(seen)[:, None])[0].tolist() if start else first
        seen.append(q)
        q, more = search(k, goal, q)
        seen.append(q)
        used += more
        distance, angle = k.errors(*q, *goal)
        if k.cost(distance, angle) < least:
            best, least = q, k.cost(distance, angle)
        if distance <= tolerance[0] and angle <= tolerance[1]:
            break
    return best, used


# ----------------------------------------------------------------------------------------------------------- solvers


@dataclass(frozen=True)
class SweepingSolver:
    """A solver that goes through the joints one after the other. Its own part is two laws, one for each way of working.

    A law is sweep(*q, *lower, *upper, *goal, share) -> q; share shortens the turns of a sweep that does not order them.
    """

    iterations: int = 12
    """Sweeps a frame."""
    tolerance_m: float = 0.0025
    max_deg_s: float = 220.0
    """The solver's own limit; the arm's, where lower, counts too unless faithful."""
    orientation_blend: float = 0.35
    """Share of the remaining turn that the wrist makes in a frame; of the faithful way only."""
    faithful: bool = False
    tolerance_rad: float = math.radians(0.5)
    starts: int = 8
    """How many starts `solve` may take; one when faithful."""
    polish: bool = True
    """Damped least squares after the sweeps; never when faithful."""
    name: str = field(default="", init=False)
    shares: ClassVar[tuple[float, ...]] = (1.0,)
    """Shares to try, largest first, until a sweep lowers the error."""

    def __post_init__(self) -> None:
        check_options(
            self, counts=("iterations", "starts"), positive=("tolerance_m", "tolerance_rad", "max_deg_s"), unset=()
        )
        check_blend(self)

    @staticmethod
    def sweep_law(of: Kit) -> Callable[..., Any]:
        """The sweep for a whole pose."""
        raise NotImplementedError

    @staticmethod
    def position_law(of: Kit) -> Callable[..., Any]:
        """The sweep for the position alone."""
        raise NotImplementedError

    def solve(self, arm: Arm, base_from_tool: Array, seed: Array) -> Attempt:
        """Joint positions for a pose (4, 4) from `seed` (dof,), and from other starts where that does not arrive."""
        k, goal, first = kit(arm), goal_numbers(base_from_tool), posture(arm, seed)
        tolerance = (self.tolerance_m, self.tolerance_rad)
        q, used = k.inside(first), 0
        if self.faithful:
            for _ in range(_ROUNDS):
                q, more = self._ping(k, goal, q, k.lower, k.upper)
                used += more
                distance, angle = k.errors(*q, *goal)
                if distance <= tolerance[0] and angle <= tolerance[1]:
                    break
            return k.attempt(goal, k.wound(q, first), used, tolerance)
        enough = (10.0 * REST, 10.0 * REST) if self.polish else tolerance
        best, used = from_starts(k, goal, q, self.starts, enough, self._down)
        return k.attempt(goal, k.wound(best, first), used, tolerance)

    def step(self, arm: Arm, base_from_tool: Array, q: Array, dt_s: float) -> Attempt:
        """One frame towards a pose: no joint goes further than the speed limits allow, and none moves after arrival."""
        k, goal = kit(arm), goal_numbers(base_from_tool)
        before = clipped(k, posture(arm, q, "q"))
        room = rooms(k, dt_s, self.max_deg_s, own=not self.faithful)
        lower, upper = window(k, before, room)
        tolerance = (self.tolerance_m, self.tolerance_rad)
        if self.faithful:
            after, used = self._ping(k, goal, before, lower, upper)
            return frame_attempt(k, goal, before, after, room, used, tolerance)
        distance, angle = k.errors(*before, *goal)
        still = (REST, REST) if self.polish else tolerance
        if distance <= still[0] and angle <= still[1]:
            return k.attempt(goal, before, 0, tolerance)
        after, used = self._sweeps(k, goal, before, lower, upper, self.iterations)
        if self.polish:
            after, more = descend(k, goal, after, lower, upper, self.iterations)
            used += more
        if k.cost(*k.errors(*after, *goal)) > k.cost(distance, angle) * (1.0 - _GAIN):
            after = before
        return frame_attempt(k, goal, before, after, room, used, tolerance)

    def _down(self, k: Kit, goal: Sequence[float], q: list[float]) -> tuple[list[float], int]:
        """Sweeps until they arrive or are no longer worth it, then least squares."""
        used = 0
        enough = 0.5 if self.polish else 0.99
        for _ in range(_ROUNDS):
            cost = k.cost(*k.errors(*q, *goal))
            q, more = self._sweeps(k, goal, q, k.lower, k.upper, self.iterations)
            used += more
            distance, angle = k.errors(*q, *goal)
            if (distance <= self.tolerance_m and angle <= self.tolerance_rad) or k.cost(
                distance, angle
            ) > enough * cost:
                break
        if self.polish:
            q, more = descend(k, goal, q, k.lower, k.upper, 60)
            used += more
        return q, used

    def _sweeps(
        self, k: Kit, goal: Sequence[float], q: list[float], lower: Sequence[float], upper: Sequence[float], most: int
    ) -> tuple[list[float], int]:
        """Sweeps for the whole pose, each taken only where it lowers the error."""
        sweep = k.law(self.sweep_law, 3 * k.dof + 13)
        cost = k.cost(*k.errors(*q, *goal))
        for used in range(most):
            for share in self.shares:
                there = list(sweep(*q, *lower, *upper, *goal, share))
                lowered = k.cost(*k.errors(*there, *goal))
                if lowered < cost:
                    q, cost = there, lowered
                    break
            else:
                return q, used
        return q, most

    def _ping(
        self, k: Kit, goal: Sequence[float], q: list[float], lower: Sequence[float], upper: Sequence[float]
    ) -> tuple[list[float], int]:
        """Position by sweeps; once that has arrived, the wrist by a share of the remaining turn."""
        sweep = k.law(self.position_law, 3 * k.dof + 13)
        used = 0
        while k.errors(*q, *goal)[0] > self.tolerance_m:
            if used == self.iterations:
                return q, used
            q = list(sweep(*q, *lower, *upper, *goal, 1.0))
            used += 1
        return list(k.law(wrist_law, 3 * k.dof + 13)(*q, *lower, *upper, *goal, self.orientation_blend)), used
