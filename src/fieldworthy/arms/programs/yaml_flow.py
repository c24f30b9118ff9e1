"""YAML's flow style: [a, b], {a: b}, plain and quoted scalars, each value with its line. JSON is part of it.

Source: YAML 1.2.2 (yaml.org/spec/1.2.2), chapters 7 and 10.3.
"""

from __future__ import annotations

import bisect
import json
import re
from typing import NamedTuple, TypeAlias

Plain: TypeAlias = "bool | int | float | str | list[Node] | dict[str, Node] | None"

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
FLOAT = re.compile(_NUMBER)
BLANK = re.compile(r"(?:\s|#[^\n]*)*")
DEEPEST = 40
_NUMBERS = re.compile(rf"\[ *{_NUMBER}(?: *, *{_NUMBER})* *\]")
_PAIR = rf"[A-Za-z_]\w*: +{_NUMBER}"
_PAIRS = re.compile(rf"\{{ *{_PAIR}(?: *, *{_PAIR})* *\}}")
"""Lists and mappings of numbers in one line: most of a long message, so they are not read letter by letter."""
_IN_FLOW = re.compile(r"(?:[^,\]}:]|:(?!\s|$))*")
_IN_BLOCK = re.compile(r"[^\n]*")


class Node(NamedTuple):
    """A value and the line it begins in."""

    value: Plain
    line: int


class YamlError(Exception):
    """What is wrong, and the line."""

    def __init__(self, line: int, what: str, valid: str = "") -> None:
        super().__init__(what)
        self.line = line
        self.what = what
        self.valid = valid


def flow_value(text: str, line: int) -> Node:
    """A value in flow style or a scalar."""
    if FLOAT.fullmatch(text):
        return Node(number_of(text), line)
    if _NUMBERS.fullmatch(text):
        return Node([Node(number_of(word.strip()), line) for word in text[1:-1].split(",")], line)
    if _PAIRS.fullmatch(text):
        pairs = [pair.partition(":") for pair in text[1:-1].split(",")]
        members = {key.strip(): Node(number_of(word.strip()), line) for key, _, word in pairs}
        if len(members) == len(pairs):
            return Node(members, line)
    return Flow(text, line).whole()


class Flow:
    """Flow style: [a, b], {a: b} and scalars, over any number of lines."""

    def __init__(self, text: str, line: int) -> None:
        self.text = text
        self.first = line
        self.at = 0
        self.breaks = [found.start() for found in re.finditer("\n", text)]

    @property
    def line(self) -> int:
        """The line that is read now."""
        return self.first + bisect.bisect_left(self.breaks, self.at)

    def whole(self, text: bool = False) -> Node:
        """The value that the whole text is; with `text`, plain scalars stay words."""
        node = self._value(0, False, text)
        self._skip()
        if self.at < len(self.text):
            raise YamlError(self.line, f"{self.text[self.at :][:20]!r} is left over")
        return node

    def _skip(self) -> None:
        found = BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _value(self, depth: int, inside: bool, text: bool = False) -> Node:
        self._skip()
        line = self.line
        if depth > DEEPEST:
            raise YamlError(line, "too deeply nested")
        letter = self.text[self.at : self.at + 1]
        if letter == "[":
            return Node(self._items(depth), line)
        if letter == "{":
            return Node(self._members(depth), line)
        if letter in ("'", '"'):
            return Node(self._quoted(letter), line)
        if letter and letter in "&*!|>%@`":
            raise YamlError(line, f"{self.text[self.at :][:20]!r}: anchors, tags and block strings are not read")
        found = (_IN_FLOW if inside else _IN_BLOCK).match(self.text, self.at)
        word = found.group().strip() if found else ""
        self.at = found.end() if found else self.at
        return Node(word if text else scalar(word), line)

    def _items(self, depth: int) -> list[Node]:
        opened = self.line
        self.at += 1
        items: list[Node] = []
        while not self._ends("]", opened):
            items.append(self._value(depth + 1, True))
            self._comma("]", opened)
        return items

    def _members(self, depth: int) -> dict[str, Node]:
        opened = self.line
        self.at += 1
        members: dict[str, Node] = {}
        while not self._ends("}", opened):
            line = self.line
            key = str(self._value(depth + 1, True, text=True).value)
            self._skip()
            if self.text[self.at : self.at + 1] != ":":
                raise YamlError(line, f"{key!r} without ': value'", "{name: value, ...}")
            self.at += 1
            if key in members:
                raise YamlError(line, f"{key!r} is there twice (first in line {members[key].line})")
            members[key] = self._value(depth + 1, True)
            self._comma("}", opened)
        return members

    def _ends(self, closer: str, opened: int) -> bool:
        self._skip()
        if self.at >= len(self.text):
            raise YamlError(opened, f"a bracket is opened and never closed with {closer!r}")
        if self.text[self.at] == closer:
            self.at += 1
            return True
        return False

    def _comma(self, closer: str, opened: int) -> None:
        self._skip()
        if self.at >= len(self.text):
            raise YamlError(opened, f"a bracket is opened and never closed with {closer!r}")
        if self.text[self.at] == ",":
            self.at += 1
        elif self.text[self.at] != closer:
            told = f"{self.text[self.at :][:20]!r} where ',' or {closer!r} belongs (bracket opened in line {opened})"
            raise YamlError(self.line, told)

    def _quoted(self, quote: str) -> str:
        pattern = r'"(?:[^"\\]|\\.)*"' if quote == '"' else r"'(?:[^']|'')*'"
        found = re.compile(pattern).match(self.text, self.at)
        if found is None:
            raise YamlError(self.line, f"a string without its closing {quote}")
        self.at = found.end()
        if quote == "'":
            return found.group()[1:-1].replace("''", "'")
        try:
            return str(json.loads(found.group()))
        except ValueError:
            raise YamlError(self.line, f"{found.group()[:30]} is no string") from None


def scalar(word: str) -> Plain:
    """A plain scalar by the core schema of YAML."""
    if FLOAT.fullmatch(word):
        return number_of(word)
    if word in ("", "null", "~", "Null", "NULL"):
        return None
    if word in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return word.lower() == "true"
    if word.lower() in (".nan", "nan", "-nan", "infinity", "-infinity", ".inf", "-.inf", "+.inf", "inf", "-inf"):
        return float(word.lower().replace(".", ""))
    return word


def number_of(word: str) -> int | float:
    """A word that FLOAT matches, as a whole number where it is one."""
    return int(word) if len(word) <= 19 and word.lstrip("+-").isdigit() else float(word)
