"""Checks of the moves of a program: doubts about its units when it is read, numbers when it is written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from fieldworthy.arms.program import Move
from fieldworthy.arms.programs.findings import Findings

FAR_M = 20.0
"""No arm reaches this far from its base, also on a long track: a target beyond it is probably in the wrong unit."""
NEAR_M = 0.020
"""All targets of a program within this distance of the origin of their frame: probably metres read as millimetres."""


def check_units(found: Findings, moves: Sequence[Move], unit: Literal["m", "mm"]) -> None:
    """Notes on targets of a size that no arm has. `unit` is what the format is written in."""
    posed = [move for move in moves if move.pose is not None]
    if not posed:
        return
    in_frame = np.array([move.pose for move in posed])[:, :, 3]
    in_base = np.einsum("nij,nj->ni", np.array([move.base_from_frame for move in posed]), in_frame)
    reaches_m = np.linalg.norm(in_base[:, :3], axis=1)
    far = int(np.argmax(reaches_m))
    if reaches_m[far] > FAR_M:
        doubt = "is it written in millimetres?" if unit == "m" else "is the unit of length right?"
        found.note(posed[far].line, f"a target is {reaches_m[far]:.4g} m from the robot's base; {doubt}")
    near_mm = 1e3 * float(np.linalg.norm(in_frame[:, :3], axis=1).max())
    if unit == "mm" and len(posed) > 1 and 0.0 < near_mm <= 1e3 * NEAR_M:
        told = f"no target is further than {near_mm:.3g} mm from the origin of its frame"
        found.note(0, f"{told}; is it written in metres or inches?")


def check_degrees(found: Findings, angles_deg: Iterable[tuple[int, float]]) -> None:
    """Add a note where angles that should be degrees are radians beyond doubt; they come with their lines.

    That is: none is larger than a turn in radians, and at least two are pi/2, pi or 3 pi/2 to four decimals.
    """
    given = list(angles_deg)
    if not given or max(abs(angle) for _, angle in given) > 2.0 * math.pi + 1e-3:
        return
    quarters = [line for line, angle in given if any(abs(abs(angle) - k * math.pi / 2.0) < 5e-5 for k in (1, 2, 3))]
    if len(quarters) >= 2:
        found.note(quarters[0], "angles look like radians; this format is in degrees")


def check_finite(found: Findings, moves: Sequence[Move]) -> None:
    """Add a problem for every move with a number that is not finite, before it is written."""
    for at, move in enumerate(moves, 1):
        single = (move.speed_m_s, move.joint_speed, move.joint_speed_rad_s, move.blend_m, move.dwell_s, move.time_s)
        matrices = (move.pose, move.via, move.base_from_frame, move.flange_from_tool)
        numbers = [*(move.joints or ()), *(x for x in single if x is not None)]
        numbers += [x for matrix in matrices if matrix is not None for row in matrix for x in row]
        if not all(map(math.isfinite, numbers)):
            found.problem(move.line, f"move {at}", "a number that is not finite", "numbers")
