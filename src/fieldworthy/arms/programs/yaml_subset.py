"""A strict reader of the YAML that robot messages are written in, JSON among it, keeping the line of every value.

Block and flow lists and mappings, plain and quoted scalars, comments, several documents. Anchors, tags, multi-line
strings and tabs as indentation are refused: no message needs them.
Source: YAML 1.2.2 (yaml.org/spec/1.2.2), the parts named above.
"""

from __future__ import annotations

import bisect
import json
import re
from dataclasses import dataclass
from typing import TypeAlias

Plain: TypeAlias = "bool | int | float | str | list[Node] | dict[str, Node] | None"

_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\[\]{},#'"][^\[\]{},#]*?)\s*:(?=\s|$)""")
_IN_FLOW = re.compile(r"(?:[^,\]}:]|:(?!\s|$))*")
_IN_BLOCK = re.compile(r"[^\n]*")
_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
DEEPEST = 40


@dataclass(frozen=True)
class Node:
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


def documents(text: str) -> list[Node]:
    """The documents of a text, without empty ones. Raises YamlError."""
    text = text.replace("\r\n", "\n")
    starts = [0, *(found.end() for found in re.finditer(r"(?m)^(?:---|\.\.\.)[ \t]*(?:\n|$)", text))]
    found_nodes: list[Node] = []
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        piece = re.sub(r"(?m)^(?:---|\.\.\.)[ \t]*$", "", text[start:stop])
        if _BLANK.fullmatch(piece) is None:
            found_nodes.append(_Block(piece, text.count("\n", 0, start) + 1).document())
    return found_nodes


class _Block:
    """Block style: lists and mappings by indentation."""

    def __init__(self, text: str, first_line: int) -> None:
        self.lines: list[tuple[int, int, str]] = []
        pending: list[str] = []
        opened = depth = 0
        rows = text.split("\n")
        for line, raw in enumerate(rows, first_line):
            content = _without_comment(raw).rstrip()
            if not pending and content.strip():
                if "\t" in raw[: len(raw) - len(raw.lstrip())]:
                    raise YamlError(line, "a tab as indentation", "spaces")
                opened, depth = line, 0
            if pending or content.strip():
                pending.append(content)
                depth += _depth(content)
            if pending and (depth <= 0 or line - first_line == len(rows) - 1):
                whole = "\n".join(pending)
                self.lines.append((opened, len(whole) - len(whole.lstrip()), whole.strip()))
                pending = []
        self.at = 0

    def document(self) -> Node:
        node = self.node(self.lines[0][1], 0)
        if self.at < len(self.lines):
            line, _, content = self.lines[self.at]
            raise YamlError(line, f"{content.split(chr(10))[0][:30]!r} fits to nothing above it; is it indented right?")
        return node

    def node(self, indent: int, depth: int) -> Node:
        line, _, content = self.lines[self.at]
        if depth > DEEPEST:
            raise YamlError(line, "too deeply nested")
        if content == "-" or content.startswith("- "):
            return self._list(indent, depth)
        if content[0] not in "[{" and _KEY.match(content):
            return self._mapping(indent, depth)
        self.at += 1
        return Flow(content, line).whole()

    def _list(self, indent: int, depth: int) -> Node:
        first = self.lines[self.at][0]
        items: list[Node] = []
        while self.at < len(self.lines):
            line, now, content = self.lines[self.at]
            if now != indent or not (content == "-" or content.startswith("- ")):
                break
            rest = content[1:].lstrip(" ")
            if rest:
                self.lines[self.at] = (line, indent + len(content) - len(rest), rest)
                items.append(self.node(indent + len(content) - len(rest), depth + 1))
            else:
                self.at += 1
                items.append(self._below(line, indent, depth, "-"))
        return Node(items, first)

    def _mapping(self, indent: int, depth: int) -> Node:
        first = self.lines[self.at][0]
        members: dict[str, Node] = {}
        while self.at < len(self.lines):
            line, now, content = self.lines[self.at]
            if now != indent or content == "-" or content.startswith("- "):
                break
            found = _KEY.match(content)
            if found is None:
                raise YamlError(line, f"{content.split(chr(10))[0][:30]!r} where 'name: value' belongs")
            key = str(Flow(found.group(1), line).whole(text=True).value)
            if key in members:
                raise YamlError(line, f"{key!r} is there twice (first in line {members[key].line})")
            rest = content[found.end() :]
            self.at += 1
            if rest.strip():
                skipped = len(rest) - len(rest.lstrip())
                members[key] = Flow(rest.strip(), line + rest[:skipped].count("\n")).whole()
            else:
                members[key] = self._below(line, indent, depth, key)
        return Node(members, first)

    def _below(self, line: int, indent: int, depth: int, key: str) -> Node:
        """The block under a key or a dash; a list may stand at the indentation of its key."""
        if self.at < len(self.lines):
            _, now, content = self.lines[self.at]
            dash = content == "-" or content.startswith("- ")
            if now > indent or (now == indent and dash and key != "-"):
                return self.node(now, depth + 1)
        return Node(None, line)


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
        found = _BLANK.match(self.text, self.at)
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
    if word in ("", "null", "~", "Null", "NULL"):
        return None
    if word in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return word.lower() == "true"
    if _INT.fullmatch(word) and len(word) <= 19:
        return int(word)
    if _FLOAT.fullmatch(word):
        return float(word)
    if word.lower() in (".nan", "nan", "-nan", "infinity", "-infinity", ".inf", "-.inf", "+.inf", "inf", "-inf"):
        return float(word.lower().replace(".", ""))
    return word


def _without_comment(line: str) -> str:
    quoted = ""
    for at, letter in enumerate(line):
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "\"'" and (at == 0 or not line[at - 1].isalnum()):
            quoted = letter
        elif letter == "#" and (at == 0 or line[at - 1] in " \t"):
            return line[:at]
    return line


def _depth(text: str) -> int:
    """Brackets opened and not closed, outside of strings."""
    outside = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'', "", text)
    return sum(outside.count(c) for c in "[{") - sum(outside.count(c) for c in "]}")
