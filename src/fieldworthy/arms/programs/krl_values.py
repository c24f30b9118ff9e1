"""Values and expressions of KUKA KRL: numbers, {X 1, Y 2} aggregates, the geometric operator ':', functions.

Source: KUKA System Software 8.x, Programming Instructions for System Integrators: aggregates, geometric operator,
integer arithmetic (a quotient of two INT is cut to an INT), angles in degrees.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fieldworthy.arms.chain import Array
from fieldworthy.arms.orientation import pose_of, values_of
from fieldworthy.arms.programs.expressions import Expressions, Token, Unknown, arithmetic, literal, number, told
from fieldworthy.arms.programs.findings import StatementError
from fieldworthy.arms.programs.frames import M_PER_MM

FRAME_KEYS = ("X", "Y", "Z", "A", "B", "C")

Struct: TypeAlias = "Mapping[str, Value]"
Value: TypeAlias = "bool | int | float | str | Unknown | Struct"

TOKEN = re.compile(
    r"""\s*(?:
      (?P<bits>'[BH][0-9A-Fa-f]+')
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<string>"[^"]*")
    | (?P<enum>\#[A-Za-z_$][\w$]*)
    | (?P<name>[A-Za-z_$][\w$]*)
    | (?P<op><>|<=|>=|==|[-+*/:=<>(){}\[\],.])
    )""",
    re.VERBOSE | re.ASCII,
)
"""One word, number or sign; names are compared in upper case."""


class Reader(Expressions):
    """Reads one expression after the other from the tokens of a statement."""

    OR, XOR, AND, NOT, UNEQUAL = "OR", "EXOR", "AND", "NOT", "<>"

    def __init__(
        self, tokens: list[Token], look_up: Callable[[str], Value], forget: Callable[[str, str], None]
    ) -> None:
        super().__init__(tokens)
        self.look_up = look_up
        self.forget = forget
        """Told the variable and the function where one that is not known is given a variable, which it may set."""

    def product(self) -> Value:
        """Equation: * / over : over signs."""
        left = self._geometric()
        while word := self.accept("*", "/"):
            left = arithmetic(left, self._geometric(), _times if word == "*" else _over)
        return left

    def _geometric(self) -> Value:
        left = self._signed()
        while self.accept(":"):
            left = compose(left, self._signed())
        return left

    def _signed(self) -> Value:
        if self.accept("-"):
            value = self._signed()
            return value if isinstance(value, Unknown) else -number(value)
        if self.accept("+"):
            return self._signed()
        return self._primary()

    def _primary(self) -> Value:
        kind, word = self.take()
        if kind == "number":
            return literal(word)
        if kind == "bits":
            return bits(word)
        if kind == "string":
            return word.strip('"')
        if kind == "enum":
            return word
        if word == "(":
            value: Value = self.expression()
            self.take(")")
            return value
        if word == "{":
            return self._aggregate()
        if kind == "name":
            if word in ("TRUE", "FALSE"):
                return word == "TRUE"
            if self.peek()[1] == "(":
                return self._call(word)
            return self.look_up(self.place(word))
        self.at -= 1
        self.refuse("where a value belongs")

    def place(self, word: str) -> str:
        """The full name of a variable that begins with `word`: components and indices worked out (BASE_DATA[3].X)."""
        name = word
        while True:
            if self.peek()[1] == "." and self.peek(1)[0] == "name":
                self.take()
                name += f".{self.take()[1]}"
            elif self.accept("["):
                indices = []
                while not self.accept("]"):
                    value = "" if self.peek()[1] in (",", "]") else self.expression()
                    indices.append(str(value) if isinstance(value, int) else "?" if value != "" else "")
                    self.accept(",")
                name += f"[{','.join(indices)}]"
            else:
                return name

    def _aggregate(self) -> Value:
        struct: dict[str, Value] = {}
        if self.peek()[0] == "name" and self.peek(1)[1] == ":":
            self.take()
            self.take()
        while not self.accept("}"):
            kind, key = self.take()
            if kind != "name":
                raise StatementError(
                    f"{key or 'the end of the line'!r} where a component or '}}' belongs", "{X 1, Y 2, Z 3}"
                )
            if self.accept("["):
                while not self.accept("]"):
                    self.take()
                    if self.done():
                        raise StatementError("'[' without ']'")
            if key in struct:
                raise StatementError(f"component {key} is given twice")
            struct[key] = self.expression()
            if not self.accept(",") and self.peek()[1] != "}":
                raise StatementError(
                    f"component {key} is followed by {self.peek()[1] or 'the end of the line'!r}", "',' or '}'"
                )
        return struct

    def arguments(self) -> list[Value]:
        """The values between parentheses; one that is left out is an Unknown."""
        self.take("(")
        return self.items(")", lambda: Unknown("left out") if self.peek()[1] in (",", ")") else self.expression())

    def given_away(self, start: int, function: str) -> None:
        """Forget the variables that stand alone as arguments from the token `start` on to here."""
        for at in range(start + 1, self.at - 1):
            kind, word = self.tokens[at]
            if kind == "name" and self.tokens[at - 1][1] in ("(", ",") and self.tokens[at + 1][1] in (")", ",", "["):
                self.forget(word, function)

    def _call(self, name: str) -> Value:
        start = self.at
        values = self.arguments()
        if name == "INV_POS" and len(values) == 1:
            struct = values[0]
            return struct if isinstance(struct, Unknown) else struct_of(np.linalg.inv(pose(struct)))
        known: dict[str, Callable[..., float]] = {
            "SIN": lambda x: math.sin(math.radians(x)),
            "COS": lambda x: math.cos(math.radians(x)),
            "TAN": lambda x: math.tan(math.radians(x)),
            "ACOS": lambda x: math.degrees(math.acos(x)),
            "ATAN2": lambda y, x: math.degrees(math.atan2(y, x)),
            "SQRT": math.sqrt,
            "ABS": abs,
        }
        if name not in known:
            self.given_away(start, name)
            return Unknown(f"{name}()")
        if any(isinstance(value, Unknown) for value in values):
            return Unknown(f"{name}()")
        try:
            return known[name](*(number(value) for value in values))
        except (TypeError, ValueError, OverflowError):
            raise StatementError(f"{name}() of {', '.join(str(value) for value in values) or 'nothing'}") from None


def bits(word: str) -> int:
    """A binary 'B0110' or hexadecimal 'H1F' INT, as S and T are often written."""
    try:
        return int(word[2:-1], 2 if word[1] == "B" else 16)
    except ValueError:
        raise StatementError(f"{word} is no number", "'B0110' or 'H1F'") from None


def pose(value: Value) -> Array:
    """frame_from_tool of a FRAME or POS [m]; components left out are 0. Raises: StatementError for what is none."""
    if isinstance(value, Unknown) or not isinstance(value, Mapping):
        raise StatementError(f"{told(value)} where a frame belongs", "{X.., Y.., Z.., A.., B.., C..}")
    if not any(key in value for key in FRAME_KEYS):
        raise StatementError(f"a frame without X, Y, Z, A, B or C: {told(value)}", "{X.., Y.., Z.., A.., B.., C..}")
    numbers = [number(value.get(key, 0.0)) for key in FRAME_KEYS]
    return pose_of(M_PER_MM * np.array(numbers[:3]), "kuka_abc", np.radians(numbers[3:]))


def struct_of(matrix: NDArray[np.floating]) -> dict[str, Value]:
    """X, Y, Z [mm] and A, B, C [deg] of a pose."""
    angles = np.degrees(values_of("kuka_abc", matrix[:3, :3])).tolist()
    return dict(zip(FRAME_KEYS, [*(1000.0 * matrix[:3, 3]).tolist(), *angles], strict=True))


def compose(left: Value, right: Value) -> Value:
    """left : right, the right one seen from the frame of the left one; what else the right one has (S, T) is kept."""
    for value in (left, right):
        if isinstance(value, Unknown):
            return value
    kept = {key: value for key, value in right.items() if key not in FRAME_KEYS} if isinstance(right, Mapping) else {}
    return {**struct_of(pose(left) @ pose(right)), **kept}


def _times(a: float, b: float) -> float:
    return a * b


def _over(a: float, b: float) -> float:
    return math.trunc(a / b) if isinstance(a, int) and isinstance(b, int) else a / b
