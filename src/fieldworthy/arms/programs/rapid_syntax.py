"""The grammar of ABB RAPID, as far as programs of motion use it: text to statements. What they mean is in `rapid.py`.

Source: ABB, Technical reference manual: RAPID kernel, 3HAC16585 (tokens, data, statements, precedence of operators).
Verified by: tests/cases/test_arm_programs_rapid.py
Long because a grammar is one thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fieldworthy.arms.programs.text_lines import Findings, StatementError, finite

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBERS = rf"\[[ \t]*[-+]?{_NUMBER}(?:[ \t]*,[ \t]*[-+]?{_NUMBER})*[ \t]*\]"
"""A list of plain numbers in one line: most of a file, so it is one token."""
TOKEN = re.compile(
    r"(?P<space>[ \t\r\f\v]+)|(?P<line>\n)|(?P<comment>![^\n]*)|(?P<string>\"(?:[^\"\n]|\"\")*\")"
    rf"|(?P<numbers>{_NUMBERS})|(?P<number>{_NUMBER})|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<symbol>:=|<=|>=|<>|[-+*/=<>(){}\[\],;:.\\?%|])|(?P<other>.)"
)
BLOCKS = {"ENDPROC", "ENDFOR", "ENDWHILE", "ENDIF", "ELSE", "ELSEIF", "ENDMODULE", "ERROR", "UNDO", "BACKWARD"}
SKIPPED = {"FUNC": "ENDFUNC", "TRAP": "ENDTRAP", "RECORD": "ENDRECORD"}


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


@dataclass(frozen=True)
class Expression:
    """`op` is number, numbers, text, name, list, field, index, call, star, or an operator on what is in `parts`."""

    op: str
    parts: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Argument:
    """One argument; `name` is set for optional ones (\\WObj:=w), which have no value when they are switches."""

    name: str | None
    value: Expression | None


@dataclass(frozen=True)
class Declare:
    """VAR, CONST or PERS."""

    line: int
    type: str
    name: str
    sizes: tuple[Expression, ...]
    value: Expression | None


@dataclass(frozen=True)
class Assign:
    """target := value;"""

    line: int
    target: Expression
    value: Expression


@dataclass(frozen=True)
class Call:
    """An instruction or a procedure."""

    line: int
    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class If:
    """Branches in order; the condition of ELSE is None."""

    line: int
    branches: tuple[tuple[Expression | None, tuple[Statement, ...]], ...]


@dataclass(frozen=True)
class For:
    """FOR name FROM first TO last STEP step DO."""

    line: int
    name: str
    first: Expression
    last: Expression
    step: Expression | None
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class While:
    """WHILE condition DO."""

    line: int
    condition: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Refused:
    """A statement that is understood well enough to say that it is not followed."""

    line: int
    what: str
    valid: str


Statement: TypeAlias = Declare | Assign | Call | If | For | While | Refused


@dataclass
class Procedure:
    """A PROC with its required parameters (type, name)."""

    name: str
    line: int
    parameters: list[tuple[str, str]] = field(default_factory=list)
    body: tuple[Statement, ...] = ()


@dataclass
class Module:
    """What a file holds: data in the order of the file, and procedures by upper-case name."""

    name: str = ""
    data: list[Declare] = field(default_factory=list)
    procedures: dict[str, Procedure] = field(default_factory=dict)


def parse(text: str, findings: Findings) -> Module:
    """The module of a text. Statements that cannot be parsed become problems of `findings`; the rest is still read."""
    return _Parser(list(_tokens(text, findings)), findings).module()


def _tokens(text: str, findings: Findings) -> Iterator[Token]:
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
            findings.problem(line, f"{found[0]!r} is no part of RAPID", "plain RAPID text")
        elif kind not in ("space", "comment"):
            yield Token(kind, found[0], line)
    yield Token("end", "the end of the file", line)


class _Parser:
    def __init__(self, tokens: list[Token], findings: Findings) -> None:
        self.tokens, self.findings, self.at = tokens, findings, 0

    # Steps over tokens.

    @property
    def now(self) -> Token:
        return self.tokens[self.at]

    def ahead(self, n: int) -> Token:
        return self.tokens[min(self.at + n, len(self.tokens) - 1)]

    def take(self) -> Token:
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
        if not self.skip(key):
            raise StatementError(f"{self.now.text!r} {where}", repr(key))

    def name(self, what: str) -> str:
        if self.now.kind != "name":
            raise StatementError(f"{self.now.text!r} in the place of {what}", "a name")
        return self.take().text

    def recover(self) -> None:
        """After an error: on behind the next semicolon, or before the word that ends the block."""
        while self.now.kind != "end" and self.now.key not in BLOCKS:
            if self.take().text == ";":
                return

    # Declarations.

    def module(self) -> Module:
        module = Module()
        if self.skip("MODULE"):
            # Programs that are written by other programs have names such as 1_T_ROB1, which are two tokens.
            line = self.now.line
            while self.now.kind in ("name", "number") and self.now.line == line:
                module.name += self.take().text
            if self.skip("("):
                while self.now.kind != "end" and not self.skip(")"):
                    self.take()
        elif not any(token.key in ("PROC", "MODULE") for token in self.tokens):
            module.procedures["MAIN"] = Procedure("main", self.now.line, body=self.block())
            return module
        while self.now.kind != "end" and not self.skip("ENDMODULE"):
            self.entry(module)
        return module

    def entry(self, module: Module) -> None:
        start = self.at
        line = self.now.line
        try:
            while self.now.key in ("LOCAL", "TASK"):
                self.take()
            if self.now.key in SKIPPED:
                kind, end = self.now.text, SKIPPED[self.now.key]
                while self.now.kind != "end" and not self.skip(end):
                    self.take()
                self.findings.note(line, f"{kind.upper()} is left out")
            elif self.skip("PROC"):
                procedure = Procedure(self.name("a procedure's name"), line)
                procedure.parameters = self.parameters()
                procedure.body = self.block()
                while self.now.kind != "end" and not self.skip("ENDPROC"):
                    self.take()
                module.procedures[procedure.name.upper()] = procedure
            elif self.now.key in ("VAR", "CONST", "PERS"):
                module.data.append(self.declaration())
            elif not self.skip(";"):
                raise StatementError(f"{self.now.text!r} outside of a PROC", "data, PROC, FUNC or TRAP")
        except StatementError as error:
            self.findings.failure(self.now.line if self.at == start else line, error)
            if self.at == start:
                self.take()
            self.recover()

    def parameters(self) -> list[tuple[str, str]]:
        found = []
        self.expect("(", "after the name of a PROC")
        while not self.skip(")"):
            if self.now.kind == "end":
                raise StatementError("the parameters do not end", "')'")
            if self.skip("\\", "|"):
                while self.now.text not in (",", ")", "|") and self.now.kind != "end":
                    self.take()
            elif not self.skip(",", "VAR", "PERS", "INOUT"):
                found.append((self.name("a type").lower(), self.name("a parameter's name")))
                if self.skip("{"):
                    while self.now.kind != "end" and not self.skip("}"):
                        self.take()
        return found

    def declaration(self) -> Declare:
        line = self.take().line
        type_name = self.name("a type").lower()
        name = self.name("a name of data")
        sizes: list[Expression] = []
        if self.skip("{"):
            sizes.append(self.expression())
            while self.skip(","):
                sizes.append(self.expression())
            self.expect("}", "after the size of an array")
        value = self.expression() if self.skip(":=") else None
        self.expect(";", f"after the data {name}")
        return Declare(line, type_name, name, tuple(sizes), value)

    # Statements.

    def block(self) -> tuple[Statement, ...]:
        """Statements up to a word that ends a block, which is left."""
        found: list[Statement] = []
        while self.now.kind != "end" and self.now.key not in BLOCKS:
            line, start = self.now.line, self.at
            try:
                statement = self.statement()
                if statement is not None:
                    found.append(statement)
            except StatementError as error:
                self.findings.failure(line, error)
                if self.at == start:
                    self.take()
                self.recover()
        return tuple(found)

    def statement(self) -> Statement | None:
        token, line = self.now, self.now.line
        key = token.key
        if self.skip(";"):
            return None
        if key in ("LOCAL", "TASK"):
            self.take()
            return self.statement()
        if key in ("VAR", "CONST", "PERS"):
            return self.declaration()
        if key == "IF":
            return self.condition()
        if key == "FOR":
            return self.loop()
        if key == "WHILE":
            self.take()
            condition = self.expression()
            self.expect("DO", "after the condition of WHILE")
            return While(line, condition, self.closed("ENDWHILE"))
        if key == "TEST":
            while self.now.kind != "end" and not self.skip("ENDTEST"):
                self.take()
            return Refused(line, "TEST is not followed", "statements in the order they are carried out")
        if key == "GOTO":
            self.recover()
            return Refused(line, "GOTO is not followed", "statements in the order they are carried out")
        if token.text == "%":
            self.recover()
            return Refused(line, "a procedure called by a text is not followed", "a call by name")
        if token.kind != "name":
            raise StatementError(f"{token.text!r} begins no statement", "an instruction, := or a keyword")
        if self.ahead(1).text == ":":
            self.take()
            self.take()
            return None
        if self.ahead(1).text in (":=", ".", "{"):
            target = self.primary()
            self.expect(":=", "after the data that is set")
            value = self.expression()
            self.expect(";", "after a value")
            return Assign(line, target, value)
        name = self.take().text
        arguments = self.arguments(";")
        return Call(line, name, arguments)

    def closed(self, word: str) -> tuple[Statement, ...]:
        line = self.now.line
        body = self.block()
        if not self.skip(word):
            self.findings.problem(line, f"{word} is missing before {self.now.text!r}", word)
        return body

    def condition(self) -> Statement:
        line = self.take().line
        condition = self.expression()
        if not self.skip("THEN"):
            only = self.statement()
            return If(line, ((condition, () if only is None else (only,)),))
        branches: list[tuple[Expression | None, tuple[Statement, ...]]] = [(condition, self.block())]
        while self.skip("ELSEIF"):
            condition = self.expression()
            self.expect("THEN", "after the condition of ELSEIF")
            branches.append((condition, self.block()))
        if self.skip("ELSE"):
            branches.append((None, self.block()))
        if not self.skip("ENDIF"):
            self.findings.problem(line, f"ENDIF is missing before {self.now.text!r}", "ENDIF")
        return If(line, tuple(branches))

    def loop(self) -> Statement:
        line = self.take().line
        name = self.name("the variable of FOR")
        self.expect("FROM", "after the variable of FOR")
        first = self.expression()
        self.expect("TO", "after the first value of FOR")
        last = self.expression()
        step = self.expression() if self.skip("STEP") else None
        self.expect("DO", "after the last value of FOR")
        return For(line, name, first, last, step, self.closed("ENDFOR"))

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

    # Expressions, from the weakest operator to the strongest.

    def expression(self) -> Expression:
        return self.operators(0)

    LEVELS = (("OR", "XOR"), ("AND",), ("=", "<>", "<", ">", "<=", ">="), ("+", "-"), ("*", "/", "DIV", "MOD"))

    def operators(self, level: int) -> Expression:
        if level == len(self.LEVELS):
            return self.unary()
        left = self.operators(level + 1)
        while self.now.key in self.LEVELS[level] and self.now.kind != "string":
            operator = self.take().key
            left = Expression(operator, (left, self.operators(level + 1)))
        return left

    def unary(self) -> Expression:
        if self.skip("+"):
            return self.unary()
        if self.skip("-"):
            return Expression("negative", (self.unary(),))
        if self.skip("NOT"):
            return Expression("NOT", (self.unary(),))
        return self.primary()

    def primary(self) -> Expression:
        token = self.now
        if token.kind == "number":
            self.take()
            return Expression("number", (finite(token.text, "a number"),))
        if token.kind == "numbers":
            self.take()
            return Expression("numbers", tuple(finite(part, "a number") for part in token.text[1:-1].split(",")))
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
