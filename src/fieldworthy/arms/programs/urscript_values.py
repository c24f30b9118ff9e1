"""Values and expressions of URScript: numbers, lists, poses p[x, y, z, rx, ry, rz], and the functions on them.

Units: metres, radians and rotation vectors, as the language has them.
Source: Universal Robots, The URScript Programming Language: poses, pose_trans, pose_add, pose_inv, rpy2rotvec.
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
from fieldworthy.arms.orientation import matrix_of, pose_of, values_of
from fieldworthy.arms.programs.expressions import Expressions, Token, Unknown, arithmetic, literal, number, told
from fieldworthy.arms.programs.findings import StatementError
from fieldworthy.arms.programs.frames import placed


@dataclass(frozen=True, repr=False)
class Pose:
    """Position [m] and rotation vector [rad]."""

    numbers: tuple[float, ...]
    parts: tuple[Pose, Pose] | None = None
    """The frame and the pose in it, of a pose_trans."""

    @property
    def matrix(self) -> Array:
        """As a homogeneous matrix."""
        return pose_of(self.numbers[:3], "ur_rotvec", self.numbers[3:])

    def __repr__(self) -> str:
        return "a pose"


@dataclass(frozen=True, repr=False)
class Inverse:
    """The joints of get_inverse_kin: the pose that is meant and the posture near which."""

    pose: Pose
    near: tuple[float, ...] | None

    def __repr__(self) -> str:
        return "the joints of get_inverse_kin"


Value: TypeAlias = "bool | int | float | str | list[Value] | Pose | Inverse | Unknown"

TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<string>"[^"]*"|'[^']*')
    | (?P<name>[A-Za-z_]\w*)
    | (?P<op>==|!=|<=|>=|<<|>>|[-+*/%=<>()\[\],.:&|^])
    )""",
    re.VERBOSE | re.ASCII,
)


class Reader(Expressions):
    """Reads one expression after the other from the tokens of a statement."""

    OR, XOR, AND, NOT, UNEQUAL = "or", "xor", "and", "not", "!="

    def __init__(self, tokens: list[Token], look_up: Callable[[str], Value]) -> None:
        super().__init__(tokens)
        self.look_up = look_up

    def product(self) -> Value:
        """Equation: * / % over signs and indices."""
        left = self._signed()
        while word := self.accept(*_PRODUCTS):
            left = arithmetic(left, self._signed(), _PRODUCTS[word])
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
            return literal(word)
        if kind == "string":
            return word[1:-1]
        if word == "(":
            value: Value = self.expression()
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
        self.at -= 1
        self.refuse("where a value belongs")

    def _items(self) -> list[Value]:
        return self.items("]", self.expression)

    def arguments(self) -> tuple[list[Value], dict[str, Value]]:
        """The values between parentheses, by place and by name."""
        self.take("(")
        values: list[Value] = []
        named: dict[str, Value] = {}

        def argument() -> None:
            if self.peek()[0] == "name" and self.peek(1)[1] == "=":
                name = self.take()[1]
                self.take()
                if name in named:
                    raise StatementError(f"{name} is given twice", "each argument once")
                named[name] = self.expression()
            elif named:
                raise StatementError("a value without a name after one with a name", "values first, then names")
            else:
                values.append(self.expression())

        self.items(")", argument)
        return values, named


def numbers(value: Value, count: int, what: str) -> tuple[float, ...]:
    """A list of that many numbers. Raises: StatementError for anything else."""
    if not isinstance(value, list) or len(value) != count:
        raise StatementError(f"{what} is {told(value)}", f"a list of {count} numbers")
    return tuple(float(number(each)) for each in value)


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
            raise StatementError(f"get_inverse_kin of {told(goal)}", "a pose p[x, y, z, rx, ry, rz]")
        given = None if near is None or isinstance(near, Unknown) else numbers(near, 6, "qnear")
        return Inverse(goal, given)
    unknown = next((value for value in values if isinstance(value, Unknown)), None)
    if name in _NUMBERS or name in _POSES or name in ("rpy2rotvec", "rotvec2rpy"):
        if unknown is not None:
            return unknown
        if named:
            raise StatementError(f"{name}() has no argument {next(iter(named))}")
    try:
        if name in _NUMBERS:
            return _NUMBERS[name](*(number(value) for value in values))
        if name in _POSES:
            wrong = next((value for value in values if not isinstance(value, Pose)), None)
            if wrong is not None:
                raise StatementError(f"{name}() of {told(wrong)}", "poses p[x, y, z, rx, ry, rz]")
            return _POSES[name](*values)
    except (TypeError, ValueError, ArithmeticError):
        raise StatementError(f"{name}() of {', '.join(told(value) for value in values) or 'nothing'}") from None
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
    return pose_of_matrix(placed(a.matrix[:3, :3] @ b.matrix[:3, :3], a.matrix[:3, 3] + b.matrix[:3, 3]))


_PRODUCTS: dict[str, Callable[[float, float], float]] = {"*": operator.mul, "/": operator.truediv, "%": math.fmod}
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
        raise StatementError(f"element {at} of {told(value)}", "an index from 0 on")
    return items[at]
