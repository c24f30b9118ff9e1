"""What readers of program files share: problems with their line, finite numbers, poses, doubts about units."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence

import numpy as np

from fieldworthy.arms.chain import Array, Matrix, Triple, as_matrix, is_rigid
from fieldworthy.arms.program import Move
from fieldworthy.core.errors import FieldworthyError, Problem, ScenarioError

M_PER_MM = 0.001
M_PER_INCH = 0.0254

FAR_M = 20.0
"""No arm reaches this far from its base, also on a long track: a target beyond it is probably in the wrong unit."""
CLOSE_M = 0.020
"""All targets of a program within this distance of each other: probably metres read as millimetres."""


class StatementError(Exception):
    """One statement cannot be read; the reader adds it to its problems and goes on with the next one."""

    def __init__(self, what: str, valid: str = "") -> None:
        super().__init__(what)
        self.what, self.valid = what, valid


class Findings:
    """The problems and notes of one file, gathered while it is read."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: dict[Problem, None] = {}
        """In the order they were met, each once."""
        self.notes: dict[str, None] = {}

    def problem(self, line: int, what: str, valid: str = "") -> None:
        """Remember a problem; the same one of the same line (in a loop) once. Line 0 is the file as a whole."""
        self.problems[Problem(f"{self.source}:{line}" if line else self.source, what, valid)] = None

    def failure(self, line: int, error: StatementError | FieldworthyError) -> None:
        """Remember what a statement raised."""
        if isinstance(error, StatementError):
            self.problem(line, error.what, error.valid)
        else:
            self.problem(line, str(error))

    def note(self, line: int, text: str) -> None:
        """Remember a sentence about a statement; the same one of the same line once."""
        self.notes[f"{self.source}:{line}: {text}" if line else f"{self.source}: {text}"] = None

    def raise_if_any(self) -> None:
        """Raises: ScenarioError with all problems gathered so far."""
        if self.problems:
            raise ScenarioError(self.problems)


def require_text(text: str, source: str) -> None:
    """Raises: ScenarioError for what is no text, such as an encoded or packed file of a controller."""
    found = re.search(r"[\x00-\x08\x0e-\x19\x1b-\x1f]", text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise ScenarioError(Problem(f"{source}:{line}", f"holds the byte {ord(found[0])}: no text", "a text file"))


def finite(text: str, field: str) -> float:
    """A number of the file. Raises: StatementError when it is none, not a number or infinite."""
    try:
        value = float(text)
    except ValueError:
        raise StatementError(f"{field} is {text.strip()!r}", "a finite number") from None
    if not math.isfinite(value):
        raise StatementError(f"{field} is {text.strip()!r}", "a finite number")
    return value


def rigid(value: Matrix | Array, name: str) -> Matrix:
    """A frame given as an option. Raises: FieldworthyError when it is no rotation and offset."""
    matrix = np.asarray(value, np.float64)
    if not is_rigid(matrix):
        raise FieldworthyError(f"{name} is no rigid motion; valid: a 4x4 matrix of a rotation and an offset in metres")
    return as_matrix(matrix)


def pose(turn: Array, position_m: Sequence[float] | Array) -> Matrix:
    """Four rows of a rotation (3, 3) and a position (3,) [m]."""
    matrix = np.eye(4)
    matrix[:3, :3] = turn
    matrix[:3, 3] = position_m
    return as_matrix(matrix)


def tool_along(z_axis: Triple | Array, x_before: Array | None = None) -> Array:
    """Rotation frame_from_tool, (3, 3), with the tool's z along an axis of the frame; the turn about z is chosen.

    Equation: x is `x_before`, or the frame's x, less its part along z. Where that leaves nothing, the frame's y.
    """
    z = np.asarray(z_axis, np.float64)
    z = z / np.linalg.norm(z)
    for wish in ((np.array([1.0, 0.0, 0.0]) if x_before is None else x_before), np.array([0.0, 1.0, 0.0])):
        x = wish - (wish @ z) * z
        if np.linalg.norm(x) > 1e-6:
            break
    x = x / np.linalg.norm(x)
    return np.column_stack((x, np.cross(z, x), z))


def add_dwell(moves: list[Move], seconds: float, line: int, findings: Findings) -> None:
    """A wait, at the target of the last move; one before the first move has no place and becomes a note."""
    if moves:
        moves[-1] = dataclasses.replace(moves[-1], dwell_s=moves[-1].dwell_s + seconds)
    elif seconds > 0.0:
        findings.note(line, f"a wait of {seconds:g} s before the first move is left out")


def speed_for(moves: Sequence[Move], move: Move, seconds: float) -> float | None:
    """Speed [m/s] at which a linear or circular move takes a time; None where its start or its length is not known.

    Equation: length over time; of an arc r times the angle at its centre, by the circle through start, `via` and
    target.
    """
    if not moves or move.kind == "joint" or move.pose is None or moves[-1].pose is None or seconds <= 0.0:
        return None
    if moves[-1].base_from_frame != move.base_from_frame or moves[-1].flange_from_tool != move.flange_from_tool:
        return None
    start, end = np.array(moves[-1].pose)[:3, 3], np.array(move.pose)[:3, 3]
    length = float(np.linalg.norm(end - start))
    if move.kind == "circular" and move.via is not None:
        via = np.array(move.via)[:3, 3]
        to_start, to_end = start - via, end - via
        # The angle at `via` stands over the rest of the circle; the arc is what is left of the full turn.
        sine, cosine = float(np.linalg.norm(np.cross(to_start, to_end))), float(to_start @ to_end)
        if sine > 1e-9 * float(np.linalg.norm(to_start) * np.linalg.norm(to_end)):
            angle = math.atan2(sine, cosine)
            length = length / (2.0 * math.sin(angle)) * (2.0 * math.pi - 2.0 * angle)
    return length / seconds if length > 0.0 else None


def doubt_units(moves: Sequence[Move], findings: Findings) -> None:
    """Notes on targets of a size that no arm has: the unit of the file is probably another one."""
    posed = [move for move in moves if move.pose is not None]
    positions = [np.array(move.base_from_frame) @ np.array(move.pose)[:, 3] for move in posed]
    for move, at in zip(posed, positions, strict=True):
        distance_m = float(np.linalg.norm(at[:3]))
        if distance_m > FAR_M:
            findings.note(move.line, f"the target is {distance_m:.4g} m from the base; is the unit of length right?")
            break
    if len(positions) > 1:
        spread_m = float(np.ptp(np.array(positions)[:, :3], axis=0).max())
        if 0.0 < spread_m <= CLOSE_M:
            findings.note(
                0, f"all targets lie within {spread_m * 1000.0:.3g} mm of each other; is the unit of length right?"
            )
