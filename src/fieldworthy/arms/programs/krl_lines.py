"""A KRL file as statements: lines without comments, routines, and where blocks end."""

from __future__ import annotations

from fieldworthy.arms.programs.expressions import Token, tokens_of
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.krl_values import TOKEN

OPENERS = {"FOR": "ENDFOR", "IF": "ENDIF", "LOOP": "ENDLOOP", "WHILE": "ENDWHILE", "REPEAT": "UNTIL",
           "SWITCH": "ENDSWITCH", "SPLINE": "ENDSPLINE", "PTP_SPLINE": "ENDSPLINE"}  # fmt: skip
"""The words that open a block, and those that close it."""
CLOSERS = (*OPENERS.values(), "ELSE", "CASE", "DEFAULT")
SILENT = ("CONTINUE", "INI", "IMPORT", "EXT", "EXTFCT", "STRUC", "ENUM", "SIGNAL")
"""Statements without effect on where the robot goes, and without interest."""

Line = tuple[int, list[Token]]
"""A statement and its line."""


def lines_of(text: str, found: Findings) -> list[Line]:
    """The statements with their line numbers, without comments, FOLD lines and & attributes."""
    lines: list[Line] = []
    for at, raw in enumerate(text.splitlines(), 1):
        if raw.lstrip().startswith("&"):
            continue
        parts = raw.split('"')
        # Only the even parts are outside of strings, so a ';' counts there.
        for i in range(0, len(parts), 2):
            if ";" in parts[i]:
                parts = [*parts[:i], parts[i].split(";")[0]]
                break
        try:
            tokens = tokens_of('"'.join(parts), TOKEN, "KRL")
        except StatementError as error:
            found.failure(at, raw.split()[0].upper(), error)
            continue
        if tokens:
            lines.append((at, [(kind, word if kind == "string" else word.upper()) for kind, word in tokens]))
    return lines


def routines_of(lines: list[Line], found: Findings) -> dict[str, list[Line]]:
    """Statements of each DEF ... END of the file."""
    routines: dict[str, list[Line]] = {}
    now: list[Line] | None = None
    opened = 0
    for line, tokens in lines:
        words = [word for _, word in tokens]
        if words[0] == "GLOBAL" and len(words) > 1 and words[1] in ("DEF", "DEFFCT"):
            words = words[1:]
        if words[0] in ("DEF", "DEFFCT"):
            if now is not None:
                found.problem(opened, "DEF", "has no END", "END before the next DEF")
            name = words[1] if words[0] == "DEF" and len(words) > 1 else words[2] if len(words) > 2 else ""
            if name in routines:
                found.problem(line, "DEF", f"{name} is there twice")
            now, opened = [], line
            routines[name] = now
        elif words[0] in ("END", "ENDFCT"):
            if now is None:
                found.problem(line, "END", "has no DEF")
            now = None
        elif now is not None:
            now.append((line, tokens))
        elif words[0] not in SILENT and words[0] not in ("DEFDAT", "ENDDAT", "DECL", "GLOBAL"):
            found.problem(line, words[0], "stands outside of a routine", "DEF name() ... END around it")
    if now is not None:
        found.problem(opened, "DEF", "has no END", "a complete file")
    if not routines:
        found.problem(0, "", "no routine in this file", "DEF name() ... END")
    return routines


def end_of(lines: list[Line], at: int) -> int | None:
    """Index of the statement that closes the block opened at `at`."""
    waiting: list[str] = []
    for index in range(at, len(lines)):
        word = lines[index][1][0][1]
        if word in OPENERS:
            waiting.append(OPENERS[word])
        elif waiting and word == waiting[-1]:
            waiting.pop()
            if not waiting:
                return index
    return None


def else_of(inside: list[Line]) -> int:
    """Index of the ELSE of an IF in its inside, or its length."""
    depth = 0
    for index, (_, tokens) in enumerate(inside):
        word = tokens[0][1]
        if word in OPENERS:
            depth += 1
        elif word in OPENERS.values():
            depth -= 1
        elif word == "ELSE" and depth == 0:
            return index
    return len(inside)
