"""The statements of ABB RAPID, as far as programs of motion use them: text to a tree. What they mean is in `rapid.py`.

Source: ABB, Technical reference manual: RAPID kernel, 3HAC16585 (data, statements).
Verified by: tests/cases/test_arm_programs_rapid.py
"""

from __future__ import annotations

from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.rapid_expressions import BLOCKS, Expressions, Token, tokens_of
from fieldworthy.arms.programs.rapid_tree import (
    Assign,
    Call,
    Declare,
    Expression,
    For,
    If,
    Module,
    Procedure,
    Refused,
    Statement,
    While,
)

SKIPPED = {"FUNC": "ENDFUNC", "TRAP": "ENDTRAP", "RECORD": "ENDRECORD"}


def parse(text: str, findings: Findings) -> Module:
    """The module of a text. Statements that cannot be parsed become problems of `findings`; the rest is still read."""
    return _Parser(list(tokens_of(text, findings)), findings).module()


class _Parser(Expressions):
    def __init__(self, tokens: list[Token], findings: Findings) -> None:
        super().__init__(tokens)
        self.findings = findings

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
        line, word = self.now.line, self.now.text if self.now.kind == "name" else ""
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
            self.findings.failure(self.now.line if self.at == start else line, word, error)
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
            line, start, word = self.now.line, self.at, self.now.text if self.now.kind == "name" else ""
            try:
                statement = self.statement()
                if statement is not None:
                    found.append(statement)
            except StatementError as error:
                self.findings.failure(line, word, error)
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
            self.findings.problem(line, "", f"{word} is missing before {self.now.text!r}", word)
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
            self.findings.problem(line, "IF", f"ENDIF is missing before {self.now.text!r}", "ENDIF")
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
