"""A JointTrajectory message in plain JSON, read by the standard library's scanner: ten times as fast as with lines.

Whatever is unusual or wrong is left to `trajectory_message.py`, which tells it with its line.
Verified by: tests/cases/test_arm_joint_trajectory.py
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from fieldworthy.arms.programs.trajectory_message import HEAD, LONGEST_S, POINT, TIMES, VALUES, Message

_SPACE = re.compile(r"[ \t\n\r]*")


def quick_message(text: str) -> Message | None:
    """The message of a JSON text, with the line of each point; None where anything is unusual."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        scanner = _Scanner(text)
        head = scanner.message()
        if "points" not in head:
            head = head["trajectory"]
        return _checked(head, scanner.lines)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


class _Scanner:
    """Finds the points, and the line that each begins in. Its methods raise ValueError and IndexError."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: list[int] = []
        self._decode = json.JSONDecoder(object_pairs_hook=_once).raw_decode

    def message(self) -> dict[str, Any]:
        """The whole text."""
        head = self._members()
        if self._next():
            raise ValueError("more than one value")
        return head

    def _next(self) -> str:
        """The next sign behind white space, which is not taken."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def _take(self, signs: str) -> str:
        sign = self._next()
        if not sign or sign not in signs:
            raise ValueError(sign)
        self.at += 1
        return sign

    def _value(self) -> Any:
        self._next()
        value, self.at = self._decode(self.text, self.at)
        return value

    def _members(self) -> dict[str, Any]:
        self._take("{")
        pairs: list[tuple[str, Any]] = []
        while True:
            key = self._value()
            self._take(":")
            sign = self._next()
            if key == "points" and sign == "[":
                pairs.append((key, self._points()))
            else:
                pairs.append((key, self._members() if key == "trajectory" and sign == "{" else self._value()))
            if self._take(",}") == "}":
                return _once(pairs)

    def _points(self) -> list[Any]:
        self._take("[")
        points, line, counted = [], 1, 0
        while True:
            self._next()
            line += self.text.count("\n", counted, self.at)
            counted = self.at
            self.lines.append(line)
            points.append(self._value())
            if self._take(",]") == "]":
                return points


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Members by name. Raises: ValueError for a name that is there twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name is there twice")
    return members


def _checked(head: dict[str, Any], lines: list[int]) -> Message | None:
    names = head["joint_names"]
    if not head.keys() <= set(HEAD) or not names or len(set(names)) < len(names) or set(map(type, names)) != {str}:
        return None
    values: dict[str, list[list[float]]] = {name: [] for name in VALUES}
    times: list[int] = []
    known = set(POINT)
    for point in head["points"]:
        if not point.keys() <= known or not point["positions"]:
            return None
        for name, rows in values.items():
            row = point.get(name) or []
            if row and (len(row) != len(names) or not set(map(type, row)) <= {int, float} or type(row) is not list):
                return None
            rows.append([float(x) for x in row])
            if not all(map(math.isfinite, rows[-1])):
                return None
        times.append(_time_ns(point["time_from_start"]))
    if not times or any(after <= before for before, after in zip(times, times[1:], strict=False)):
        return None
    return Message(tuple(names), lines, times, values)


def _time_ns(time: dict[str, Any]) -> int:
    parts = {TIMES[key]: value for key, value in time.items()}
    sec, nanosec = parts.get("sec", 0), parts.get("nanosec", 0)
    if type(sec) is not int or type(nanosec) is not int or not (0 <= sec <= LONGEST_S and 0 <= nanosec < 10**9):
        raise ValueError(time)
    return sec * 10**9 + nanosec
