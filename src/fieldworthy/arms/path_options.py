"""What a path is chosen by, and what is raised where there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fieldworthy.core.errors import FieldworthyError

LINE_M = 1e-3
LINE_RAD = math.radians(0.5)
"""How far the tool may leave the straight way between waypoints in a larger step, for it to count as continuous."""


class NoPath(FieldworthyError):
    """No continuous path: says at which waypoint the longest one ends, and why."""

    def __init__(self, waypoint: int, why: str) -> None:
        self.waypoint = waypoint
        self.why = why
        super().__init__(f"no continuous path: {why}")


@dataclass(frozen=True)
class PathOptions:
    """What a path is chosen by."""

    singularity_weight: float = 1e-3
    """Cost of a step of the tool beside that of the joints: weight times (step / sine of the wrist's middle angle)^2,
    the step in shares of the arm's reach plus radians. So it grows with the path as joint travel does, and a way keeps
    off the singularity where that costs little; at 1e-3 a sine of 0.03 weighs as much as the joints' own travel."""
    spin_step_rad: float | None = None
    """Where the tool may turn about its own z axis (drills, mills, nozzles): the step in which it is tried; None
    where it may not."""
    margin_m: float = 0.0
    """Least clearance to itself and to obstacles; only looked at where `avoid` is set."""
    avoid: bool = True
    """Postures with less clearance than the margin are not used, if the arm has shapes."""
    obstacles: tuple[Any, ...] = ()
    """Shapes in the base frame (arms/obstacles.py)."""
