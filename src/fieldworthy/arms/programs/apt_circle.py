"""The CIRCLE of an APT-CL file: which points are on it, and the arcs from its start to an end point.

Frames: the workpiece's; lengths in metres.
Source: ISO 4343 (CIRCLE); Siemens NX, Manufacturing, CLSF Manager (its clockwise axis).
Verified by: tests/cases/test_arm_programs_apt.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.programs.findings import StatementError

LEVEL_M = 1e-5
"""Points this far from a circle are on it, and those within 1 % of its radius."""


@dataclass(frozen=True, eq=False)
class Circle:
    """CIRCLE/x,y,z,i,j,k,radius, and where the tool was before it (None: not known)."""

    line: int
    centre_m: Array
    axis: Array
    """Unit vector."""
    radius_m: float
    start_m: Array | None

    def spoke(self, point_m: Array) -> Array:
        """From the axis to a point, across the axis."""
        from_centre: Array = point_m - self.centre_m
        return from_centre - (from_centre @ self.axis) * self.axis

    def off_m(self, point_m: Array) -> float:
        """How far a point is outside of the circle, 0 where it is on it."""
        off = float(np.linalg.norm(self.spoke(point_m))) - self.radius_m
        return off if abs(off) > max(0.01 * self.radius_m, LEVEL_M) else 0.0

    def arcs(self, end_m: Array, counterclockwise: bool) -> list[Array]:
        """Point on the way and end of each of the arcs, of at most half a turn, that lead to an end point.

        Equation: centre + cos(a) spoke + sin(a) axis x spoke, seen against the axis for a counterclockwise arc.
        Raises: StatementError for ends off the circle, or at another height.
        """
        if self.start_m is None:
            raise StatementError("CIRCLE starts nowhere", "a GOTO or FROM before it")
        for name, point in (("start", self.start_m), ("end", end_m)):
            off_m = self.off_m(point)
            if off_m:
                raise StatementError(f"the {name} is {off_m * 1000.0:+.4g} mm off the CIRCLE", "points on the circle")
        if abs(float((end_m - self.start_m) @ self.axis)) > LEVEL_M:
            raise StatementError("CIRCLE with an end point at another height is a helix", "the helix as points")
        axis = self.axis if counterclockwise else -self.axis
        start, end = self.spoke(self.start_m), self.spoke(end_m)
        sweep = math.atan2(float(np.cross(start, end) @ axis), float(start @ end)) % (2.0 * math.pi)
        if sweep < 1e-9 or 2.0 * math.pi - sweep < 1e-9:
            sweep = 2.0 * math.pi
        middle_m = self.start_m - start
        count = math.ceil(sweep / math.pi - 1e-9)
        across = np.cross(axis, start)
        half = sweep / (2 * count)
        points = [middle_m + math.cos(n * half) * start + math.sin(n * half) * across for n in range(1, 2 * count)]
        return [*points, end_m]
