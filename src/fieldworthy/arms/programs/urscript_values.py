"""Values and expressions of URScript: numbers, lists, poses p[x, y, z, rx, ry, rz], and the functions on them.

What only the controller has (joint positions, inputs, results of other functions) is an `Unknown` that goes through
expressions and says what it stands for.
Units: metres, radians and rotation vectors, as the language has them.
Source: Universal Robots, The URScript Programming Language: poses, pose_trans, pose_add, pose_inv, rpy2rotvec.
Long because the grammar and the functions of the language belong together.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.orientation import matrix_of, values_of
from fieldworthy.arms.programs.reading import MOST_DIGITS, Malformed, Tokens, Unknown


@dataclass(frozen=True)
class Pose:
    """Position [m] and rotation vector [rad]."""

    numbers: tuple[float, ...]
    parts: tuple[Pose, Pose] | None = None
    """The frame and the pose in it, of a pose_trans."""

    @property
    def matrix(self) -> Array:
        """As a homogeneous matrix."""
        matrix = np.eye(4)
        matrix[:3, :3] = matrix_of("ur_rotvec", self.numbers[3:])
        matrix[:3, 3] = self.numbers[:3]
        return matrix


@dataclass(frozen=True)
class Inverse:
    """The joints of get_inverse_kin: the pose that is meant and the posture near which."""

    pose: Pose
    near: tuple[float, ...] | None


Value: TypeAlias = "bool | int | float | str | list[Value] | Pose | Inverse | Unknown"

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<string>"[^"]*"|'[^']*')
    | (?P<name>[A-Za-z_]\w*)
    | (?P<op>==|!=|<=|>=|<<|>>|[-+*/%=<>()\[\],.:&|^])
    )""",
    re.VERBOSE | re.ASCII,
)


def tokens_of(text: str) -> list[tuple[str, str]]:
    """(kind, text) of each token. Raises Malformed at a character that URScript does not have."""
    tokens: list[tuple[str, str]] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise Malformed(f"{text[at:].strip()[:20]!r} is no URScript")
        kind = found.lastgroup or ""
        tokens.append((kind, found.group(kind)))
        at = found.end()
    return tokens


class Reader(Tokens):
    """Reads one expression after the other from the tokens of a statement."""

    def __init__(self, tokens: list[tuple[str, str]], look_up: Callable[[str], Value]) -> None:
        super().__init__(tokens)
        self.look_up = look_up

    def expression(self) -> Value:
        """Equation: or over and over comparisons over + - over * / over signs and indices."""
        left = self._conjunction()
        while self.accept("or", "xor"):
            right = self._conjunction()
            left = left or right if isinstance(left, bool) and isinstance(right, bool) else Unknown("a condition")
        return left

    def _conjunction(self) -> Value:
        left = self._comparison()
        while self.accept("and"):
            right = self._comparison()
            left = left and right if isinstance(left, bool) and isinstance(right, bool) else Unknown("a condition")
        return left

    def _comparison(self) -> Value:
        if self.accept("not"):
            value = self._comparison()
            return not value if isinstance(value, bool) else Unknown("a condition")
        left = self._sum()
        word = self.accept("==", "!=", "<=", ">=", "<", ">")
        if not word:
            return left
        right = self._sum()
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return Unknown("a condition")
        if word in ("==", "!="):
            return (left == right) == (word == "==")
        a, b = number(left), number(right)
        return {"<=": a <= b, ">=": a >= b, "<": a < b, ">": a > b}[word]

    def _sum(self) -> Value:
        left = self._product()
        while word := self.accept("+", "-"):
            left = _arithmetic(word, left, self._product())
        return left

    def _product(self) -> Value:
        left = self._signed()
        while word := self.accept("*", "/", "%"):
            left = _arithmetic(word, left, self._signed())
        return left

    def _signed(self) -> Value:
        if self.accept("-"):
            value = self._signed()
            return value if isinstance(value, Unknown) else -number(value)
        if self.accept("+"):
            return self._signed()
        value = self._primary()
        while self.peek()[1] in ("[", "."):
            if self.accept("."):
                value = Unknown(f".{self.take()[1]}")
                if self.peek()[1] == "(":
                    self.arguments()
                continue
            self.take()
            value = _item(value, self.expression())
            self.take("]")
        return value

    def _primary(self) -> Value:
        kind, word = self.take()
        if kind == "number":
            return finite(word)
        if kind == "string":
            return word[1:-1]
        if word == "(":
            value = self.expression()
            self.take(")")
            return value
        if word == "[":
            return self._items()
        if kind == "name":
            if word in ("True", "False"):
                return word == "True"
            if word == "p" and self.peek()[1] == "[":
                self.take()
                return _pose(self._items())
            if self.peek()[1] == "(":
                return call(word, *self.arguments())
            return self.look_up(word)
        raise Malformed(f"{word or 'the end of the line'!r} where a value belongs")

    def _items(self) -> list[Value]:
        values: list[Value] = []
        while not self.accept("]"):
            values.append(self.expression())
            if not self.accept(",") and self.peek()[1] != "]":
                raise Malformed(f"{self.peek()[1] or 'the end of the line'!r} where ',' or ']' belongs")
        return values

    def arguments(self) -> tuple[list[Value], dict[str, Value]]:
        """The values between parentheses, by place and by name."""
        self.take("(")
        values: list[Value] = []
        named: dict[str, Value] = {}
        while not self.accept(")"):
            if self.peek()[0] == "name" and self.peek(1)[1] == "=":
                name = self.take()[1]
                self.take()
                if name in named:
                    raise Malformed(f"{name} is given twice")
                named[name] = self.expression()
            else:
                if named:
                    raise Malformed("a value without a name after one with a name")
                values.append(self.expression())
            if not self.accept(",") and self.peek()[1] != ")":
                raise Malformed(f"{self.peek()[1] or 'the end of the line'!r} where ',' or ')' belongs")
        return values, named


def finite(word: str) -> int | float:
    """An integer or a float as it is written."""
    if word.isdigit() and len(word) <= MOST_DIGITS:
        return int(word)
    value = float(word)
    if not math.isfinite(value):
        raise Malformed(f"{word} is not finite", "a number")
    return value


def number(value: Value) -> int | float:
    """The value as a number. Raises Malformed for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Malformed(f"{told(value)} where a number belongs", "a number")
    if abs(value) > 1e18 or not math.isfinite(value):
        raise Malformed("a number that is not finite, or past all measure", "a number")
    return value


def numbers(value: Value, count: int, what: str) -> tuple[float, ...]:
    """A list of that many numbers. Raises Malformed for anything else."""
    if not isinstance(value, list) or len(value) != count:
        raise Malformed(f"{what} is {told(value)}", f"a list of {count} numbers")
    return tuple(float(number(each)) for each in value)


def told(value: Value) -> str:
    """A value in the words of an error."""
    if isinstance(value, Unknown):
        return f"{value.name} (not known here)"
    if isinstance(value, Pose):
        return "a pose"
    if isinstance(value, Inverse):
        return "the joints of get_inverse_kin"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return repr(value)


def pose_of_matrix(matrix: Any, parts: tuple[Pose, Pose] | None = None) -> Pose:
    """The pose p[...] of a homogeneous matrix."""
    return Pose((*matrix[:3, 3].tolist(), *values_of("ur_rotvec", matrix[:3, :3]).tolist()), parts)


def call(name: str, values: list[Value], named: dict[str, Value]) -> Value:
    """What a function returns; Unknown for functions of the controller."""
    if name in ("get_inverse_kin", "get_inverse_kin_has_solution") and values:
        near = named.get("qnear", values[1] if len(values) > 1 else None)
        goal = values[0]
        if name.endswith("solution") or isinstance(goal, Unknown):
            return goal if isinstance(goal, Unknown) else Unknown(f"{name}()")
        if not isinstance(goal, Pose):
            raise Malformed(f"get_inverse_kin of {told(goal)}", "a pose p[x, y, z, rx, ry, rz]")
        given = None if near is None or isinstance(near, Unknown) else numbers(near, 6, "qnear")
        return Inverse(goal, given)
    unknown = next((value for value in values if isinstance(value, Unknown)), None)
    if name in _NUMBERS or name in _POSES or name in ("rpy2rotvec", "rotvec2rpy"):
        if unknown is not None:
            return unknown
        if named:
            raise Malformed(f"{name}() has no argument {next(iter(named))}")
    try:
        if name in _NUMBERS:
            return _NUMBERS[name](*(number(value) for value in values))
        if name in _POSES:
            wrong = next((value for value in values if not isinstance(value, Pose)), None)
            if wrong is not None:
                raise Malformed(f"{name}() of {told(wrong)}", "poses p[x, y, z, rx, ry, rz]")
            return _POSES[name](*values)
    except (TypeError, ValueError, ArithmeticError):
        raise Malformed(f"{name}() of {', '.join(told(value) for value in values) or 'nothing'}") from None
    if name in ("rpy2rotvec", "rotvec2rpy"):
        given = numbers(values[0] if len(values) == 1 else list(values), 3, f"the argument of {name}()")
        here, there = ("rpy", "ur_rotvec") if name == "rpy2rotvec" else ("ur_rotvec", "rpy")
        turned: list[Value] = list(values_of(there, matrix_of(here, given)).tolist())
        return turned
    return Unknown(f"{name}()")


def _transformed(frame: Pose, pose: Pose) -> Pose:
    return pose_of_matrix(frame.matrix @ pose.matrix, (frame, pose))


def _added(a: Pose, b: Pose) -> Pose:
    """Positions added, rotations one after the other, as pose_add does."""
    matrix = np.eye(4)
    matrix[:3, :3] = a.matrix[:3, :3] @ b.matrix[:3, :3]
    matrix[:3, 3] = a.matrix[:3, 3] + b.matrix[:3, 3]
    return pose_of_matrix(matrix)


_NUMBERS: dict[str, Callable[..., float]] = {
    "d2r": math.radians, "r2d": math.degrees, "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin,
    "acos": math.acos, "atan": math.atan, "atan2": math.atan2, "sqrt": math.sqrt, "pow": math.pow, "floor": math.floor,
    "ceil": math.ceil, "abs": abs,
}  # fmt: skip
_POSES: dict[str, Callable[..., Pose]] = {
    "pose_trans": _transformed,
    "pose_add": _added,
    "pose_inv": lambda pose: pose_of_matrix(np.linalg.inv(pose.matrix)),
}


def _pose(items: list[Value]) -> Pose | Unknown:
    unknown = next((item for item in items if isinstance(item, Unknown)), None)
    return unknown if unknown is not None else Pose(numbers(items, 6, "a pose p[...]"))


def _item(value: Value, index: Value) -> Value:
    if isinstance(value, Unknown) or isinstance(index, Unknown):
        return value if isinstance(value, Unknown) else index
    items = list(value.numbers) if isinstance(value, Pose) else value
    at = number(index)
    if not isinstance(items, list) or not isinstance(at, int) or not 0 <= at < len(items):
        raise Malformed(f"element {at} of {told(value)}", "an index from 0 on")
    return items[at]


def _arithmetic(word: str, left: Value, right: Value) -> Value:
    for value in (left, right):
        if isinstance(value, Unknown):
            return value
    a, b = number(left), number(right)
    if word in "/%" and b == 0:
        raise Malformed("division by zero")
    how: dict[str, Callable[[float, float], float]] = {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": math.fmod,
    }  # fmt: skip
    return how[word](a, b)
