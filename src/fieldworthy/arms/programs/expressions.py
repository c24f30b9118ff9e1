"""Expressions that are worked out while they are read, as KRL and URScript share them.

What cannot be known from the file (inputs, the controller's own tables, calls) is an `Unknown` that goes through
expressions and says what it stands for; statements decide what to do about it.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from fieldworthy.arms.programs.findings import StatementError
from fieldworthy.arms.programs.words import finite

MOST_DIGITS = 18
"""Of a whole number; a longer one is read as a float."""

Token = tuple[str, str]
"""Kind and text."""


@dataclass(frozen=True)
class Unknown:
    """A value that only the controller has."""

    name: str


def tokens_of(text: str, pattern: re.Pattern[str], language: str) -> list[Token]:
    """The tokens of a statement, by the named group of the pattern that they match.

    Raises: StatementError at a character that the language does not have.
    """
    tokens: list[Token] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = pattern.match(text, at)
        if found is None:
            raise StatementError(f"{text[at:].strip()[:20]!r} is no {language}")
        kind = found.lastgroup or ""
        tokens.append((kind, found.group(kind)))
        at = found.end()
    return tokens


class Tokens:
    """The tokens of one statement, taken one after the other. Its methods raise StatementError."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead: int = 0) -> Token:
        """The next token, or ("end", "")."""
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else ("end", "")

    def take(self, word: str = "") -> Token:
        """The next token, which must be `word` where one is given."""
        token = self.peek()
        if word and token[1] != word:
            self.refuse(f"where {word!r} belongs")
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
        """Raises: StatementError where something is left over."""
        if not self.done():
            raise StatementError(f"{self.peek()[1]!r} is left over")

    def refuse(self, where: str, valid: str = "") -> NoReturn:
        """Raises: StatementError about the next token."""
        raise StatementError(f"{self.peek()[1] or 'the end of the line'!r} {where}", valid)


class Expressions(Tokens):
    """Reads one expression after the other. What a language puts between + - and its values is its `product`."""

    OR: ClassVar[str]
    XOR: ClassVar[str]
    AND: ClassVar[str]
    NOT: ClassVar[str]
    UNEQUAL: ClassVar[str]

    def product(self) -> Any:
        """Factors and what binds stronger than + and -."""
        raise NotImplementedError

    def expression(self) -> Any:
        """Equation: or, xor over and over comparisons over + - over the language's products."""
        left = self._conjunction()
        while word := self.accept(self.OR, self.XOR):
            right = self._conjunction()
            left = _logical(left, right, left is True or right is True if word == self.OR else left is not right)
        return left

    def _conjunction(self) -> Any:
        left = self._comparison()
        while self.accept(self.AND):
            right = self._comparison()
            left = _logical(left, right, left is True and right is True)
        return left

    def _comparison(self) -> Any:
        if self.accept(self.NOT):
            value = self._comparison()
            return not value if isinstance(value, bool) else Unknown("a condition")
        left = self._sum()
        word = self.accept("==", self.UNEQUAL, "<=", ">=", "<", ">")
        if not word:
            return left
        right = self._sum()
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return Unknown("a condition")
        if word in ("==", self.UNEQUAL):
            return (left == right) == (word == "==")
        a, b = number(left), number(right)
        return {"<=": a <= b, ">=": a >= b, "<": a < b, ">": a > b}[word]

    def _sum(self) -> Any:
        left = self.product()
        while word := self.accept("+", "-"):
            left = arithmetic(left, self.product(), operator.add if word == "+" else operator.sub)
        return left

    def items(self, closer: str, item: Callable[[], Any]) -> list[Any]:
        """What stands between commas up to a closing bracket, which is taken."""
        values = []
        while not self.accept(closer):
            if self.done():
                self.refuse(f"where {closer!r} belongs")
            values.append(item())
            if not self.accept(",") and self.peek()[1] != closer:
                self.refuse(f"where ',' or {closer!r} belongs")
        return values


def _logical(left: Any, right: Any, result: bool) -> bool | Unknown:
    return result if isinstance(left, bool) and isinstance(right, bool) else Unknown("a condition")


def literal(word: str) -> int | float:
    """A whole number or one with a point, as it is written. Raises: StatementError where it is not finite."""
    return int(word) if word.isdigit() and len(word) <= MOST_DIGITS else finite(word)


def number(value: Any) -> int | float:
    """The value as a number. Raises: StatementError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise StatementError(f"{told(value)} where a number belongs", "a number")
    if abs(value) > 1e18 or not math.isfinite(value):
        raise StatementError("a number that is not finite, or past all measure", "a number")
    return value


def arithmetic(left: Any, right: Any, how: Callable[[float, float], float]) -> Any:
    """An operator on two numbers; Unknown where one of them is. Raises: StatementError for what is no number."""
    for value in (left, right):
        if isinstance(value, Unknown):
            return value
    try:
        return how(number(left), number(right))
    except (ZeroDivisionError, ValueError):
        raise StatementError("division by zero", "another divisor") from None


def told(value: Any) -> str:
    """A value in the words of an error."""
    if isinstance(value, Unknown):
        return f"{value.name} (not known here)"
    if isinstance(value, Mapping):
        return "{" + ", ".join(value) + "}"
    return f"a list of {len(value)}" if isinstance(value, list) else repr(value)
