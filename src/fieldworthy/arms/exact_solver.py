"""Exact inverse kinematics behind the interface of all solvers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.exact import solve
from fieldworthy.arms.exact_branches import TOLERANCE, miss_of, start_of
from fieldworthy.arms.posture import pose_numbers
from fieldworthy.arms.solver import Attempt
from fieldworthy.core.errors import FieldworthyError


@dataclass(frozen=True)
class ExactSolver:
    """The closed form as a solver: straight in joint space to the nearest posture that puts the tool at the pose."""

    name: str = "exact"

    def solve(self, arm: Arm, base_from_tool: Array, seed: Array) -> Attempt:
        """As the function `solve`."""
        return solve(arm, base_from_tool, seed)

    def step(self, arm: Arm, base_from_tool: Array, q: Array, dt_s: float) -> Attempt:
        """All joints on a straight line to the posture, so fast that the slowest is at its speed limit."""
        if not 0.0 <= dt_s < math.inf:
            raise FieldworthyError(f"dt_s {dt_s}; valid: a time of 0 or more")
        numbers, here = pose_numbers(base_from_tool), start_of(arm, q)
        miss = miss_of(arm, here, numbers)
        if max(miss) <= TOLERANCE:
            return Attempt(np.array(here), True, *miss, iterations=0)
        goal = solve(arm, base_from_tool, here)
        way = goal.q - here
        share = min(1.0, float((arm.speed * dt_s / np.maximum(np.abs(way), 1e-300)).min()))
        after = goal.q if share >= 1.0 else np.clip(here + share * way, arm.lower, arm.upper)
        miss = miss_of(arm, after.tolist(), numbers)
        reached = max(miss) <= TOLERANCE
        why = "" if reached else goal.why or "on the way at the joints' speed limits"
        return Attempt(after, reached, *miss, iterations=goal.iterations, why=why)
