"""What the languages share while their statements are carried out in order: waits, times of moves, endless loops."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from fieldworthy.arms.program import Move
from fieldworthy.arms.programs.findings import Findings

MOST_STATEMENTS = 500_000
"""Statements carried out and turns of loops; a program with more is refused as a loop without end."""
MOST_MOVES = 200_000
DEEPEST_CALL = 50
"""Routines within each other."""


class EndlessError(Exception):
    """More statements, moves or calls than any program has."""

    def __init__(self, line: int) -> None:
        self.line = line


class Steps:
    """Counts what is carried out."""

    def __init__(self) -> None:
        self.count = 0

    def step(self, line: int, moves: int, depth: int = 0) -> None:
        """One more statement, or turn of a loop. Raises: EndlessError past all measure."""
        self.count += 1
        if self.count > MOST_STATEMENTS or moves > MOST_MOVES or depth > DEEPEST_CALL:
            raise EndlessError(line)


def endless(found: Findings, error: EndlessError) -> None:
    """The problem of a program that goes on for ever."""
    valid = f"at most {MOST_MOVES} moves, {MOST_STATEMENTS} statements and {DEEPEST_CALL} calls within each other"
    found.problem(error.line, "", "the program does not come to an end", valid)


def add_dwell(moves: list[Move], seconds: float, line: int, found: Findings) -> bool:
    """A wait, at the target of the last move; one before the first move has no place and becomes a note.

    Returns whether it has a place.
    """
    if moves:
        moves[-1] = dataclasses.replace(moves[-1], dwell_s=moves[-1].dwell_s + seconds)
        return True
    if seconds > 0.0:
        found.note(line, f"a wait of {seconds:g} s before the first move is left out")
    return False


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
