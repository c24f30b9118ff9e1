"""A URScript file as a tree: statements with their lines, and the blocks that they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fieldworthy.arms.programs.findings import Findings


@dataclass
class Node:
    """A statement, or a block with the statements in it."""

    line: int
    text: str
    inside: list[Node] = field(default_factory=list)
    branches: list[Node] = field(default_factory=list)
    """The elif and else of an if."""

    @property
    def word(self) -> str:
        """What the statement begins with."""
        found = re.match(r"\w+", self.text)
        return found.group() if found else self.text[:1]


def statements_of(text: str, found: Findings) -> list[Node]:
    """Statements with their first line; those that go on over several lines between brackets are joined."""
    nodes: list[Node] = []
    pending, start, depth = "", 0, 0
    for line, raw in enumerate(text.splitlines(), 1):
        plain = _without_comment(raw).strip()
        if not plain or (not depth and plain.startswith("$")):
            continue
        outside = re.sub(r"\"[^\"]*\"|'[^']*'", "", plain)
        depth += sum(outside.count(c) for c in "([") - sum(outside.count(c) for c in ")]")
        pending, start = (f"{pending} {plain}", start) if pending else (plain, line)
        if depth < 0:
            found.problem(line, "", "a bracket is closed that was not opened", "'(' and '[' for each ')' and ']'")
            depth = 0
        if depth == 0:
            nodes.append(Node(start, pending))
            pending = ""
    if pending:
        found.problem(start, "", "a bracket is opened and never closed", "')' and ']' for each '(' and '['")
    return nodes


def _without_comment(line: str) -> str:
    quoted = ""
    for at, letter in enumerate(line):
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "\"'":
            quoted = letter
        elif letter == "#":
            return line[:at]
    return line


def tree_of(nodes: Sequence[Node], found: Findings) -> list[Node]:
    """Blocks put together: def, thread, while, if ... end."""
    top: list[Node] = []
    stack: list[tuple[Node, list[Node]]] = []
    into = top
    for node in nodes:
        word = node.word
        if word in ("def", "thread", "while", "if", "sec") and node.text.rstrip().endswith(":"):
            into.append(node)
            stack.append((node, into))
            into = node.inside
        elif word in ("elif", "else") and node.text.rstrip().endswith(":"):
            if not stack or stack[-1][0].word != "if":
                found.problem(node.line, word, "has no if", "if ... elif ... else ... end")
                continue
            stack[-1][0].branches.append(node)
            into = node.inside
        elif node.text == "end":
            if not stack:
                found.problem(node.line, "end", "closes nothing", "def, thread, while or if before it")
                continue
            into = stack.pop()[1]
        else:
            into.append(node)
    for node, _ in stack:
        found.problem(node.line, node.word, "has no end", "a complete file")
    return top


def name_of(node: Node) -> str:
    """The name of a def, thread or sec."""
    found = re.match(r"\w+\s+(\w+)", node.text)
    return found.group(1) if found else ""


def texts_of(nodes: Iterable[Node]) -> list[str]:
    """The text of all statements in some."""
    return [text for text, _ in flat(nodes)]


def calls_of(nodes: Iterable[Node]) -> set[str]:
    """The names that are called anywhere in some statements."""
    return set(re.findall(r"(\w+)\s*\(", " ".join(texts_of(nodes))))


def flat(nodes: Iterable[Node]) -> list[tuple[str, int]]:
    """Text and line of all statements in some."""
    found: list[tuple[str, int]] = []
    for node in nodes:
        found.append((node.text, node.line))
        found += flat([*node.inside, *node.branches])
    return found
