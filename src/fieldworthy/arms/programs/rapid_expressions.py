"""The tokens and expressions of ABB RAPID. Statements are in `rapid_syntax.py`, what they mean in `rapid_values.py`.

Source: ABB, Technical reference manual: RAPID kernel, 3HAC16585 (tokens, expressions, precedence of operators).
Verified by: tests/cases/test_arm_programs_rapid.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.rapid_tree import Argument, Expression
from fieldworthy.arms.programs.words import finite

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBERS = rf"\[[ \t]*[-+]?{_NUMBER}(?:[ \t]*,[ \t]*[-+]?{_NUMBER})*[ \t]*\]"
"""A list of plain numbers in one line: most of a file, so it is one token."""
TOKEN = re.compile(
    r"(?P<space>[ \t\r\f\v]+)|(?P<line>\n)|(?P<comment>![^\n]*)|(?P<string>\"(?:[^\"\n]|\"\")*\")"
    rf"|(?P<numbers>{_NUMBERS})|(?P<number>{_NUMBER})|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<symbol>:=|<=|>=|<>|[-+*/=<>(){}\[\],;:.\\?%|])|(?P<other>.)"
)
BLOCKS = {"ENDPROC", "ENDFOR", "ENDWHILE", "ENDIF", "ELSE", "ELSEIF", "ENDMODULE", "ERROR", "UNDO", "BACKWARD"}
"""Words that end a block."""


@dataclass(frozen=True)
class Token:
    """One word, number, text or sign, and its line."""

    kind: str
    text: str
    line: int

    @property
    def key(self) -> str:
        """Upper case for names: RAPID does not tell case apart."""
        return self.text.upper() if self.kind == "name" else self.text


def tokens_of(text: str, findings: Findings) -> Iterator[Token]:
    """The tokens of a file. A sign that RAPID does not have becomes a problem."""
    # A file saved by the controller may begin with a header between two lines of %%%.
    header = re.match(r"\s*%%%.*?%%%", text, re.DOTALL)
    line = 1
    if header:
        line += header[0].count("\n")
        text = text[header.end() :]
    for found in TOKEN.finditer(text):
        kind = found.lastgroup or "other"
        if kind == "line":
            line += 1
        elif kind == "other":
            findings.problem(line, "", f"{found[0]!r} is no part of RAPID", "plain RAPID text")
        elif kind not in ("space", "comment"):
            yield Token(kind, found[0], line)
    yield Token("end", "the end of the file", line)


class Expressions:
    """Steps over tokens and reads expressions. Its methods raise StatementError."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    @property
    def now(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    def ahead(self, n: int) -> Token:
        """A token further on."""
        return self.tokens[min(self.at + n, len(self.tokens) - 1)]

    def take(self) -> Token:
        """The next token, stepped over."""
        token = self.now
        if token.kind != "end":
            self.at += 1
        return token

    def skip(self, *keys: str) -> bool:
        """Step over the token when it is one of these."""
        if self.now.key in keys and self.now.kind != "string":
            self.take()
            return True
        return False

    def expect(self, key: str, where: str) -> None:
        """Step over a token that must be there."""
        if not self.skip(key):
            raise StatementError(f"{self.now.text!r} {where}", repr(key))

    def name(self, what: str) -> str:
        """Step over a name."""
        if self.now.kind != "name":
            raise StatementError(f"{self.now.text!r} in the place of {what}", "a name")
        return self.take().text

    def recover(self) -> None:
        """After an error: on behind the next semicolon, or before the word that ends the block."""
        while self.now.kind != "end" and self.now.key not in BLOCKS:
            if self.take().text == ";":
                return

    def arguments(self, end: str) -> tuple[Argument, ...]:
        """Arguments up to a sign, which is stepped over; optional ones follow a backslash and need no comma."""
        found: list[Argument] = []
        while not self.skip(end):
            if self.now.kind == "end" or self.now.key in BLOCKS or self.now.text == ";":
                raise StatementError(f"{self.now.text!r} before the arguments end", repr(end))
            if self.skip(","):
                continue
            if self.skip("\\"):
                name = self.name("an optional argument").lower()
                if self.skip("?"):
                    # Passed on if it is given to the procedure around it; optional parameters are not followed.
                    self.name("an optional argument")
                found.append(Argument(name, self.expression() if self.skip(":=") else None))
            else:
                found.append(Argument(None, self.expression()))
                if self.now.text not in (",", "\\", end):
                    raise StatementError(f"{self.now.text!r} after an argument", f"',' or {end!r}")
        return tuple(found)

    LEVELS = (("OR", "XOR"), ("AND",), ("=", "<>", "<", ">", "<=", ">="), ("+", "-"), ("*", "/", "DIV", "MOD"))
    """Operators from the weakest to the strongest. NOT stands before what AND and OR join."""

    def expression(self) -> Expression:
        """An expression with all its operators."""
        return self.operators(0)

    def operators(self, level: int) -> Expression:
        """An expression of operators of one level and stronger ones."""
        if level == len(self.LEVELS):
            return self.unary()
        if level == 2 and self.skip("NOT"):
            return Expression("NOT", (self.operators(level),))
        left = self.operators(level + 1)
        while self.now.key in self.LEVELS[level] and self.now.kind != "string":
            operator = self.take().key
            left = Expression(operator, (left, self.operators(level + 1)))
        return left

    def unary(self) -> Expression:
        """A value with its signs."""
        if self.skip("+"):
            return self.unary()
        if self.skip("-"):
            return Expression("negative", (self.unary(),))
        return self.primary()

    def primary(self) -> Expression:
        """A value: a number, text, list, name, call, or an expression in parentheses."""
        token = self.now
        if token.kind == "number":
            self.take()
            return Expression("number", (finite(token.text),))
        if token.kind == "numbers":
            self.take()
            return Expression("numbers", tuple(finite(part) for part in token.text[1:-1].split(",")))
        if token.kind == "string":
            self.take()
            return Expression("text", (token.text[1:-1].replace('""', '"'),))
        if self.skip("*"):
            return Expression("star")
        if self.skip("("):
            inner = self.expression()
            self.expect(")", "after an expression")
            return self.parts_of(inner)
        if self.skip("["):
            items: list[Expression] = []
            while not self.skip("]"):
                items.append(self.expression())
                if self.now.text != "]":
                    self.expect(",", "between the values of a list")
            return Expression("list", tuple(items))
        if token.kind == "name" and token.key not in BLOCKS:
            self.take()
            if self.skip("("):
                return self.parts_of(Expression("call", (token.text, self.arguments(")"))))
            return self.parts_of(Expression("name", (token.text,)))
        raise StatementError(f"{token.text!r} in the place of a value", "a number, a name or a list in [ ]")

    def parts_of(self, whole: Expression) -> Expression:
        """Components (p.trans.x) and elements (p{2}) that follow."""
        while True:
            if self.now.text == "." and self.ahead(1).kind == "name":
                self.take()
                whole = Expression("field", (whole, self.take().text.lower()))
            elif self.skip("{"):
                places = [self.expression()]
                while self.skip(","):
                    places.append(self.expression())
                self.expect("}", "after the place in an array")
                whole = Expression("index", (whole, tuple(places)))
            else:
                return whole
