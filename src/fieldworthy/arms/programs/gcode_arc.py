"""Arcs of G-code: from start, end, and a centre or a radius, to points on arcs of at most half a turn.

Frames: the workpiece's; lengths in metres.
Source: NIST RS274/NGC Interpreter, version 3, Kramer, Proctor & Messina, NISTIR 6556, 2000 (planes, arcs, R); LinuxCNC
documentation, G-codes (tolerance between the radii of an arc, P turns).
Verified by: tests/cases/test_arm_programs_gcode.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.programs.findings import StatementError

PLANES = {"G17": (0, 1, 2), "G18": (2, 0, 1), "G19": (1, 2, 0)}
"""First and second axis of the plane and its normal; right-handed, so ZX and not XZ."""
HELIX_STEP = math.radians(30.0)
FULL = 2.0 * math.pi
MOST_TURNS = 1000


@dataclass(frozen=True)
class Arc:
    """What is in force for an arc."""

    plane: str
    counterclockwise: bool
    unit_m: float
    absolute_centre: bool
    """I, J, K are the centre itself (G90.1) and not its way from the start."""

    def points(self, start: Array, end: Array, values: Mapping[str, float]) -> list[Array]:
        """Point on the way and end of each of the arcs that make up one, in turn. `values` are the words of the block.

        Equation: centre + cos(a) spoke + sin(a) normal x spoke, and along the normal in proportion to a.
        Raises: StatementError for an arc that is none.
        """
        first, second, along = PLANES[self.plane]
        normal = np.zeros(3)
        normal[along] = 1.0 if self.counterclockwise else -1.0
        flat = np.array([first, second])
        centre = start.copy()
        if "R" in values:
            centre[flat] = self.centre_by_radius(start[flat], end[flat], values["R"] * self.unit_m)
        else:
            centre[flat] = self.centre_by_offset(start, flat, values)
        spoke = start - centre
        last = end - centre
        last[along] = 0.0
        radius, radius_end = float(np.linalg.norm(spoke)), float(np.linalg.norm(last))
        if radius < 1e-9:
            raise StatementError("the centre of the arc is its start", "I, J, K away from the start")
        if abs(radius - radius_end) > 0.5e-3 or abs(radius - radius_end) > max(0.005e-3, 0.001 * radius):
            raise StatementError(
                f"the arc starts {radius * 1e3:.5g} and ends {radius_end * 1e3:.5g} mm from its centre", "equal radii"
            )
        sweep = math.atan2(float(np.cross(spoke, last) @ normal), float(spoke @ last)) % FULL
        # An end at the start is a full turn, and so is one that rounding put just behind it.
        if sweep < 1e-9 or FULL - sweep < 1e-9:
            sweep = FULL
        turns = values.get("P", 1.0)
        if not 1.0 <= turns <= MOST_TURNS or turns != int(turns):
            raise StatementError(f"P is {turns:g}", f"a whole number of turns, 1 to {MOST_TURNS}")
        sweep += FULL * (turns - 1.0)
        rise = float(end[along] - start[along])
        step = math.pi if abs(rise) < 1e-9 else HELIX_STEP
        count = max(1, math.ceil(sweep / step - 1e-9))
        across = np.cross(normal, spoke)
        points: list[Array] = []
        for n in range(1, 2 * count + 1):
            share = n / (2 * count)
            scale = 1.0 + (radius_end / radius - 1.0) * share
            point = centre + scale * (math.cos(share * sweep) * spoke + math.sin(share * sweep) * across)
            point[along] = start[along] + share * rise
            points.append(point)
        points[-1] = end
        return points

    def centre_by_offset(self, start: Array, flat: Array, values: Mapping[str, float]) -> Array:
        given = ["IJK"[index] in values for index in flat]
        wrong = [letter for index, letter in enumerate("IJK") if letter in values and index not in flat]
        words = " and ".join("IJK"[index] for index in flat)
        if wrong or not any(given):
            raise StatementError(f"an arc in {self.plane} with {' '.join(wrong) or 'no centre'}", f"R, or {words}")
        offset = np.array([values.get("IJK"[index], 0.0) * self.unit_m for index in flat])
        if self.absolute_centre:
            if not all(given):
                raise StatementError("an absolute centre (G90.1) with one of its two words", "both words")
            return offset
        centre: Array = start[flat] + offset
        return centre

    def centre_by_radius(self, start: Array, end: Array, radius: float) -> Array:
        """R > 0 is the arc of at most half a turn, R < 0 the longer one."""
        chord = end - start
        length = float(np.linalg.norm(chord))
        if length < 1e-9:
            raise StatementError("an arc by R that ends where it starts", "I, J, K for a full circle")
        if length > 2.0 * abs(radius) * 1.001 + 1e-9:
            raise StatementError(
                f"R is {radius * 1e3:.5g} mm and the chord {length * 1e3:.5g} mm", "R >= half the chord"
            )
        height = math.sqrt(max(radius * radius - length * length / 4.0, 0.0))
        left = np.array([-chord[1], chord[0]]) / length
        # Seen against the normal, the centre of a short counterclockwise arc is to the left of its chord.
        side = (1.0 if self.counterclockwise else -1.0) * (1.0 if radius > 0.0 else -1.0)
        centre: Array = start + chord / 2.0 + side * height * left
        return centre
