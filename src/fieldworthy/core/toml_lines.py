"""Line numbers for TOML: which line holds `sensors.lidar.noise_m`?

`tomllib` gives values without positions, and an error without a line is half an error. This scanner walks text that
`tomllib` has already accepted, so it can be short: it must find keys, not judge them.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

Path = tuple[str | int, ...]
"""Keys and list indices from the root, such as ("obstacles", 0, "radius_m")."""

_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]+")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")


def key_lines(text: str) -> dict[Path, int]:
    """Line (from 1) of every table, key and list element in valid TOML text."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self.array_sizes: dict[Path, int] = {}
        self.newlines = [match.start() for match in re.finditer("\n", text)]

    def scan(self) -> dict[Path, int]:
        table: Path = ()
        self._skip(_BLANK)
        while self.at < len(self.text):
            table = self._header() if self.text[self.at] == "[" else self._pair(table)
            self._skip(_BLANK)
        return self.lines

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise ValueError(f"line {self._line()}: not TOML")
        self.at = match.end()
        return match.group()

    def _line(self) -> int:
        return bisect_right(self.newlines, self.at - 1) + 1 if self.at else 1

    def _header(self) -> Path:
        """`[a.b]` or `[[a.b]]`; returns the table's path, with the index of the newest element in each array."""
        line = self._line()
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        keys = self._key()
        self.at += 2 if is_array else 1
        path: Path = ()
        for index, key in enumerate(keys):
            path = (*path, key)
            if is_array and index == len(keys) - 1:
                self.array_sizes[path] = self.array_sizes.get(path, 0) + 1
            self.lines.setdefault(path, line)
            if path in self.array_sizes:
                path = (*path, self.array_sizes[path] - 1)
        self.lines[path] = line  # a header says more than an earlier mention inside another header
        return path

    def _key(self) -> list[str]:
        """A dotted key, quoted parts unescaped; leaves the position after it and any spaces."""
        keys = []
        while True:
            self._skip(_SPACE)
            if self.text[self.at] in "\"'":
                keys.append(str(tomllib.loads(f"v = {self._skip(_STRING)}")["v"]))
            else:
                keys.append(self._skip(_BARE_KEY))
            self._skip(_SPACE)
            if self.at >= len(self.text) or self.text[self.at] != ".":
                return keys
            self.at += 1

    def _pair(self, table: Path) -> Path:
        """`key = value`; returns the table it stands in, which the next line shares."""
        line = self._line()
        path = table
        for key in self._key():
            path = (*path, key)
            self.lines.setdefault(path, line)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)
        return table

    def _value(self, path: Path) -> None:
        first = self.text[self.at]
        if first in "\"'":
            self._skip(_STRING)
        elif first == "[":
            self._array(path)
        elif first == "{":
            self._inline_table(path)
        else:
            self._skip(_BARE_VALUE)

    def _array(self, path: Path) -> None:
        self.at += 1
        index = 0
        self._skip(_BLANK)
        while self.text[self.at] != "]":
            self.lines[(*path, index)] = self._line()
            self._value((*path, index))
            index += 1
            self._skip_comma()
        self.at += 1

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        self._skip(_BLANK)
        while self.text[self.at] != "}":
            self._pair(path)
            self._skip_comma()
        self.at += 1

    def _skip_comma(self) -> None:
        self._skip(_BLANK)
        if self.text[self.at] == ",":
            self.at += 1
            self._skip(_BLANK)
