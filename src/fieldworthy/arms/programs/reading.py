"""What the readers of robot programs share: where things went wrong, numbers, and whether the units can be right."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fieldworthy.arms.chain import Array, Matrix
from fieldworthy.arms.program import Move
from fieldworthy.core.errors import Problem, ScenarioError

MANY_MOVES = 200_000
"""Moves that a program may expand to before it is refused as a loop without end."""
FAR_M, NEAR_M = 20.0, 0.02
"""No arm reaches further than the one; no arm works only within the other of its base."""
MOST_DIGITS = 18
"""Of a whole number; a longer one is read as a float."""
MAX_PROBLEMS = 50
"""Problems told of one file; more are counted."""


class Malformed(Exception):
    """What is wrong with a statement, and what would be valid. Readers turn it into a problem with its line."""

    def __init__(self, what: str, valid: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.valid = valid


@dataclass(frozen=True)
class Unknown:
    """A value that only the controller has."""

    name: str


class Tokens:
    """The (kind, text) tokens of one statement, taken one after the other. Its methods raise Malformed."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        """The next token, or ("end", "")."""
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else ("end", "")

    def take(self, word: str = "") -> tuple[str, str]:
        """The next token, which must be `word` where one is given."""
        token = self.peek()
        if word and token[1] != word:
            raise Malformed(f"{token[1] or 'the end of the line'!r} where {word!r} belongs")
        self.at += 1
        return token

    def accept(self, *words: str) -> str:
        """The next token if it is one of these words, else ""."""
        kind, word = self.peek()
        if word in words and kind != "string":
            self.at += 1
            return word
        return ""

    def done(self) -> bool:
        """Whether all tokens are read."""
        return self.at >= len(self.tokens)

    def finish(self) -> None:
        """Raises Malformed where something is left over."""
        if not self.done():
            raise Malformed(f"{self.peek()[1]!r} is left over")


class Findings:
    """Problems and notes of one file, gathered while it is read."""

    def __init__(self, source: str) -> None:
        self.named = source
        self.source = source or "program"
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self._told: set[str] = set()

    def where(self, line: int, field: str = "") -> str:
        """`file:line [field]`."""
        place = f"{self.source}:{line}" if line else self.source
        return f"{place} [{field}]" if field else place

    def problem(self, line: int, field: str, what: str, valid: str = "") -> None:
        """One thing that is wrong. The same one is kept once, however often a loop meets it."""
        found = Problem(self.where(line, field), what, valid)
        if str(found) not in self._told:
            self._told.add(str(found))
            self.problems.append(found)

    def note(self, line: int, text: str, once: str = "") -> None:
        """One sentence on something that was met and is not motion.

        `once` names a kind of note of which only the first is kept.
        """
        sentence = f"{self.where(line)}: {text}"
        key = once or sentence
        if key not in self._told:
            self._told.add(key)
            self.notes.append(sentence)

    def stop(self) -> None:
        """Raise everything that was found wrong, if anything was."""
        if self.problems:
            rest = len(self.problems) - MAX_PROBLEMS
            more = [Problem(self.source, f"and {rest} more problems")] if rest > 0 else []
            raise ScenarioError([*self.problems[:MAX_PROBLEMS], *more])


def number_of(text: str) -> float | None:
    """A finite number written in decimal, or None. Refuses inf, nan, hexadecimal and digits with underscores."""
    word = text.strip()
    if "_" in word or not word:
        return None
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def fixed(value: float, decimals: int) -> str:
    """A number with a fixed count of decimals and never `-0.000`."""
    text = f"{value:.{decimals}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def identifier(name: str, longest: int, fallback: str = "program") -> str:
    """A name that every controller takes: letters, digits and underscores, a letter first."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name).strip("_") or fallback
    return (plain if plain[0].isalpha() else f"p_{plain}")[:longest]


def matrix_rows(pose: Array) -> Matrix:
    """A 4x4 array as hashable rows."""
    return tuple(tuple(row) for row in np.asarray(pose, float).tolist())


def refuse_not_finite(found: Findings, moves: Sequence[Move]) -> None:
    """Add a problem for every move with a number that is not finite, before it is written."""
    for at, move in enumerate(moves, 1):
        single = (move.speed_m_s, move.joint_speed, move.joint_speed_rad_s, move.blend_m, move.dwell_s, move.time_s)
        matrices = (move.pose, move.via, move.base_from_frame, move.flange_from_tool)
        numbers = [*(move.joints or ()), *(x for x in single if x is not None)]
        numbers += [x for matrix in matrices if matrix is not None for row in matrix for x in row]
        if not all(map(math.isfinite, numbers)):
            found.problem(move.line, f"move {at}", "a number that is not finite", "numbers")


def check_units(found: Findings, moves: Sequence[Move], wrong_unit: str, wrong_unit_if_small: str = "") -> None:
    """Add a note where the targets lie a thousand times too far from the robot's base, or all of them too near.

    `wrong_unit` is what too large numbers are likely in (a program in metres: "millimetres"), `wrong_unit_if_small`
    what too small ones are in; "" where they prove nothing.
    """
    reaches = [
        (move.line, math.dist((0.0, 0.0, 0.0), [row[3] for row in (np.array(move.base_from_frame) @ move.pose)[:3]]))
        for move in moves
        if move.pose is not None
    ]
    if not reaches:
        return
    line, far = max(reaches, key=lambda reach: reach[1])
    if far > FAR_M:
        told = f"; is it written in {wrong_unit}?" if wrong_unit else ""
        found.note(line, f"a target is {far:.4g} m from the robot's base{told}")
    elif wrong_unit_if_small and len(reaches) > 1 and 0.0 < far < NEAR_M:
        found.note(
            line,
            f"no target is further than {1e3 * far:.4g} mm from the robot's base; "
            f"is the program written in {wrong_unit_if_small}?",
        )


def check_degrees(found: Findings, angles_deg: Iterable[tuple[int, float]]) -> None:
    """Add a note where angles that should be degrees are radians beyond doubt.

    That is: none is larger than a turn in radians, and at least two are pi/2, pi or 3 pi/2 to four decimals.
    """
    given = list(angles_deg)
    if not given or max(abs(angle) for _, angle in given) > 2.0 * math.pi + 1e-3:
        return
    quarters = [line for line, angle in given if any(abs(abs(angle) - k * math.pi / 2.0) < 5e-5 for k in (1, 2, 3))]
    if len(quarters) >= 2:
        found.note(quarters[0], "angles look like radians; this format is in degrees")
