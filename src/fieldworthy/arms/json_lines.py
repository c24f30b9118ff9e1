"""JSON with places: on which line stands `waypoints[3].position[1]`, and which keys are written twice.

`json` gives values without positions and keeps the last of two equal keys in silence. The scanner walks text that
`json` has already accepted, so it can be short: it must find keys, not judge them.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.suggest import did_you_mean, same_quantity
from fieldworthy.core.toml_file import read_text

At: TypeAlias = tuple[str | int, ...]
"""Keys and list indices from the root, such as ("waypoints", 3, "position", 1)."""

MOST_PROBLEMS = 100
"""Of one file that are told; the rest is counted."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_PLAIN = re.compile(r"[^,\]}\s]+")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class JsonFile:
    """A parsed file: its plain data, where each value stands, and which keys stand twice."""

    name: str
    data: Any
    lines: dict[At, int]
    repeated: tuple[tuple[At, int], ...]
    """Keys that were written before in the same object, with the line of the repeat."""

    def where(self, at: At) -> str:
        """`paths.json:12 waypoints[3].position[1]`."""
        return f"{self.name}:{self.line(at)} {field_name(at)}".strip()

    def line(self, at: At) -> int:
        """Line of a value, or of the nearest one around it that is written."""
        return next((self.lines[at[:n]] for n in range(len(at), -1, -1) if at[:n] in self.lines), 1)


def field_name(at: At) -> str:
    """`waypoints[3].position[1]`."""
    text = ""
    for key in at:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def read_json(path: Path, name: str, what: str) -> JsonFile:
    """Parse a JSON file; `name` is how messages call it, `what` the kind of file that is wanted.

    Raises: ScenarioError for a file that cannot be read, is not UTF-8 or no JSON, with the line.
    """
    text = read_text(path, name, what)
    try:
        data = json.loads(text)
        lines, repeated = _Scanner(text).scan()
    except json.JSONDecodeError as error:
        shown = (text.splitlines() or [""])[min(error.lineno, len(text.splitlines()) or 1) - 1].strip()
        told = f"not valid JSON: {error.msg[:1].lower()}{error.msg[1:]} in `{shown[:80]}`"
        raise ScenarioError(Problem(f"{name}:{error.lineno}", told, "JSON, see https://www.json.org")) from None
    except RecursionError:
        raise ScenarioError(Problem(name, "lists or objects nested too deeply", "a few levels")) from None
    except ValueError:  # Python reads no whole number of more than 4300 digits
        raise ScenarioError(Problem(name, "a number of thousands of digits", "numbers that fit in 64 bits")) from None
    return JsonFile(name, data, lines, tuple(repeated))


def raise_all(problems: Sequence[Problem], name: str) -> None:
    """ScenarioError with all problems of a file (with the first hundred, and how many more)."""
    if problems:
        rest = len(problems) - MOST_PROBLEMS
        more = [Problem(name, f"{rest} more problems")] if rest > 0 else []
        raise ScenarioError([*problems[:MOST_PROBLEMS], *more])


class Checked:
    """A file whose values are checked one by one: what is wrong is told, and read as a harmless value."""

    def __init__(self, file: JsonFile) -> None:
        self.file = file
        self.problems: list[tuple[int, Problem]] = []
        """With the line of each."""
        for at, line in file.repeated:
            where = f"{file.name}:{line} {field_name(at)}"
            self.problems.append((line, Problem(where, "this key is written twice", "once")))

    def raise_all(self) -> None:
        """ScenarioError with all problems, in the order of the file."""
        raise_all([problem for _, problem in sorted(self.problems, key=lambda pair: pair[0])], self.file.name)

    def wrong(self, at: At, what: str, valid: str = "") -> None:
        """Tell one more problem."""
        self.problems.append((self.file.line(at), Problem(self.file.where(at), what, valid)))

    def keys(self, at: At, item: dict[str, Any], known: Sequence[str], needed: Sequence[str]) -> None:
        """Unknown keys, with the one that was probably meant, and missing ones."""
        for key in item:
            if key not in known:
                same = same_quantity(key, known)
                hint = f"; this quantity is given as '{same[0]}'" if same else did_you_mean(key, known)
                self.wrong((*at, key), f"unknown key{hint}", ", ".join(known))
        for key in needed:
            if key not in item:
                self.wrong(at, f"'{key}' is missing", ", ".join(needed))

    def object(self, at: At, value: Any) -> bool:
        """Whether it is an object."""
        if not isinstance(value, dict):
            self.wrong(at, kind_of(value), "an object, {...}")
        return isinstance(value, dict)

    def text(self, at: At, value: Any, empty: bool = False) -> str:
        """A text, which may be empty or not."""
        if isinstance(value, str) and (value.strip() or empty):
            return value
        self.wrong(at, kind_of(value), "a text" if empty else "a text that is not empty")
        return "-"

    def choice(self, at: At, value: Any, known: Iterable[str]) -> Any:
        """One of some names; the first of them when it is none."""
        names = list(known)
        if isinstance(value, str) and value in names:
            return value
        hint = did_you_mean(value, names) if isinstance(value, str) else ""
        self.wrong(at, f"{_shown(value)} is not known{hint}", ", ".join(names))
        return names[0]

    def flag(self, at: At, value: Any) -> bool:
        """True or false."""
        if not isinstance(value, bool):
            self.wrong(at, kind_of(value), "true or false")
        return value is True

    def number(self, at: At, value: Any, valid: str) -> float | None:
        """A finite number, or None."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong(at, kind_of(value), valid)
            return None
        if isinstance(value, int) and value.bit_length() > 64:
            self.wrong(at, f"a whole number of {value.bit_length()} bits", valid)
            return None
        if not math.isfinite(value):
            self.wrong(at, f"{value} is not finite", valid)
            return None
        return float(value)

    def positive(self, at: At, value: Any, zero: bool = False) -> float:
        """A number above zero, or from zero on."""
        valid = "a number >= 0" if zero else "a number > 0"
        number = self.number(at, value, valid)
        if number is not None and not (number > 0.0 or (zero and number == 0.0)):
            self.wrong(at, f"{number:g}", valid)
        return 1.0 if number is None else number

    def numbers(self, at: At, value: Any, count: int, meaning: str) -> list[float]:
        """The numbers of a list, or [] when something about it is wrong."""
        if not isinstance(value, list) or len(value) != count:
            self.wrong(at, kind_of(value), f"a list of {count} numbers ({meaning})")
            return []
        numbers = [self.number((*at, index), item, "a number") for index, item in enumerate(value)]
        return [] if None in numbers else [number for number in numbers if number is not None]


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def kind_of(value: Any) -> str:
    """What kind of JSON value it is, for `... ; valid: ...`."""
    if isinstance(value, list):
        return f"a list of {len(value)}"
    names: dict[type, Callable[[], str]] = {
        dict: lambda: "an object",
        type(None): lambda: "null",
        bool: lambda: str(value).lower(),
        str: lambda: f"{_shown(value)} is a text",
    }
    return names.get(type(value), lambda: f"{value!r:.60} is a number")()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[At, int] = {}
        self.repeated: list[tuple[At, int]] = []
        self.newlines = [match.start() for match in re.finditer("\n", text)]

    def scan(self) -> tuple[dict[At, int], list[tuple[At, int]]]:
        self._skip(_SPACE)
        self._value(())
        return self.lines, self.repeated

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise ValueError(f"character {self.at}: not JSON")
        self.at = match.end()
        return match.group()

    def _line(self) -> int:
        return bisect_right(self.newlines, self.at - 1) + 1

    def _value(self, path: At) -> None:
        self.lines.setdefault(path, self._line())
        first = self.text[self.at]
        if first == '"':
            self._skip(_STRING)
        elif first == "[":
            self._list(path)
        elif first == "{":
            self._object(path)
        else:
            self._skip(_PLAIN)

    def _list(self, path: At) -> None:
        self._open()
        index = 0
        while self.text[self.at] != "]":
            self._value((*path, index))
            index += 1
            self._comma()
        self.at += 1

    def _object(self, path: At) -> None:
        self._open()
        seen: set[str] = set()
        while self.text[self.at] != "}":
            line = self._line()
            key = str(json.loads(self._skip(_STRING)))
            if key in seen:
                self.repeated.append(((*path, key), line))
            seen.add(key)
            self.lines[(*path, key)] = line  # of two equal keys the last one counts, as in json
            self._skip(_SPACE)
            self.at += 1  # the colon
            self._skip(_SPACE)
            self._value((*path, key))
            self._comma()
        self.at += 1

    def _open(self) -> None:
        self.at += 1
        self._skip(_SPACE)

    def _comma(self) -> None:
        self._skip(_SPACE)
        if self.text[self.at] == ",":
            self.at += 1
            self._skip(_SPACE)
