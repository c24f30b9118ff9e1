"""A strict reader of the YAML that robot messages are written in, JSON among it, keeping the line of every value.

Block and flow lists and mappings, plain and quoted scalars, comments, several documents. Anchors, tags, multi-line
strings and tabs as indentation are refused: no message needs them.
Source: YAML 1.2.2 (yaml.org/spec/1.2.2), the parts named above.
"""

from __future__ import annotations

import re

from fieldworthy.arms.programs.yaml_flow import BLANK, DEEPEST, FLOAT, Flow, Node, YamlError, flow_value, number_of

_SPECIAL = re.compile(r"[\[\]{}#\t]")
_WORD = re.compile(r"[A-Za-z_]\w*")
_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\[\]{},#'"][^\[\]{},#]*?)\s*:(?=\s|$)""")


def documents(text: str) -> list[Node]:
    """The documents of a text, without empty ones. Raises YamlError."""
    text = text.replace("\r\n", "\n")
    starts = [0, *(found.end() for found in re.finditer(r"(?m)^(?:---|\.\.\.)[ \t]*(?:\n|$)", text))]
    found_nodes: list[Node] = []
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        piece = re.sub(r"(?m)^(?:---|\.\.\.)[ \t]*$", "", text[start:stop])
        if BLANK.fullmatch(piece) is None:
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
            if not pending and not _SPECIAL.search(raw):
                content = raw.rstrip()
                if content:
                    self.lines.append((line, len(content) - len(content.lstrip()), content.lstrip()))
                continue
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
        return flow_value(content, line)

    def _list(self, indent: int, depth: int) -> Node:
        first = self.lines[self.at][0]
        items: list[Node] = []
        while self.at < len(self.lines):
            line, now, content = self.lines[self.at]
            if now != indent or not (content == "-" or content.startswith("- ")):
                break
            rest = content[1:].lstrip(" ")
            if FLOAT.fullmatch(rest):
                self.at += 1
                items.append(Node(number_of(rest), line))
            elif rest:
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
            key = found.group(1)
            if not _WORD.fullmatch(key):
                key = str(Flow(key, line).whole(text=True).value)
            if key in members:
                raise YamlError(line, f"{key!r} is there twice (first in line {members[key].line})")
            rest = content[found.end() :]
            self.at += 1
            if rest.strip():
                skipped = len(rest) - len(rest.lstrip())
                members[key] = flow_value(rest.strip(), line + rest[:skipped].count("\n"))
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


def _without_comment(line: str) -> str:
    if "#" not in line:
        return line
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
    if not any(c in text for c in "[]{}"):
        return 0
    outside = (
        text if '"' not in text and "'" not in text else re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'', "", text)
    )
    return sum(outside.count(c) for c in "[{") - sum(outside.count(c) for c in "]}")
