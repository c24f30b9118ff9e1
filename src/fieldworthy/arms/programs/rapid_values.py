"""Values of ABB RAPID: data that is declared, set and computed while a program is carried out.

Source: ABB, Technical reference manual: RAPID instructions, functions and data types, 3HAC050917 (Offs, RelTool,
OrientZYX).
Verified by: tests/cases/test_arm_programs_rapid.py
"""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.orientation import matrix_of, values_of
from fieldworthy.arms.programs.findings import StatementError
from fieldworthy.arms.programs.frames import M_PER_MM, placed
from fieldworthy.arms.programs.rapid_data import (
    PREDEFINED,
    RECORDS,
    UnknownError,
    as_values,
    nothing,
    pose_of_values,
    shaped,
)
from fieldworthy.arms.programs.rapid_tree import Argument, Assign, Declare, Expression

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
ARITHMETIC: dict[str, Callable[[Array, Array], Array]] = {
    "negative": lambda a, _: -a,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "DIV": lambda a, b: np.trunc(a / b),
    "MOD": lambda a, b: np.fmod(a, b),
}


class Values:
    """Data by lower-case name, as (type, value), in scopes from the module's to the innermost."""

    def __init__(self) -> None:
        self.scopes: list[dict[str, tuple[str, Any]]] = [{}]

    def declare(self, data: Declare) -> None:
        scope = self.scopes[-1]
        if data.value is not None:
            try:
                value = copy.deepcopy(self.value(data.value))
            except UnknownError as error:
                value = error
            except StatementError as error:
                scope[data.name.lower()] = (data.type, UnknownError(f"{data.name} could not be read"))
                raise StatementError(f"{data.name}: {error.what}", error.valid) from None
        elif data.sizes:
            value = self.empty(data.type, [int(self.number(size, "size")) for size in data.sizes])
        else:
            value = nothing(data.type)
        scope[data.name.lower()] = (data.type, value)

    def empty(self, type_name: str, sizes: list[int]) -> Any:
        if not sizes:
            return nothing(type_name)
        if not 0 < sizes[0] <= 100_000:
            raise StatementError(f"an array of {sizes[0]}", "1 to 100000 elements")
        return [self.empty(type_name, sizes[1:]) for _ in range(sizes[0])]

    def assign(self, statement: Assign) -> None:
        target = statement.target
        try:
            value = copy.deepcopy(self.value(statement.value))
        except UnknownError as error:
            value = error
        if target.op == "name":
            key = target.parts[0].lower()
            scope = next((scope for scope in reversed(self.scopes) if key in scope), self.scopes[0])
            type_name = scope[key][0] if key in scope else PREDEFINED.get(key, ("", None))[0]
            scope[key] = (type_name, value)
            return
        holder, place = self.place(target)
        holder[place] = value

    def place(self, target: Expression) -> tuple[list[Any], int]:
        """The list and the index in it that a component or an element stands for."""
        holder = self.value(target.parts[0])
        if not isinstance(holder, list):
            raise StatementError("a component or element of what has none", "a record or an array")
        if target.op == "field":
            names = list(RECORDS.get(self.type_of(target.parts[0]), {}))
            if target.parts[1] not in names or len(holder) != len(names):
                raise StatementError(f"the component {target.parts[1]!r} is not known", ", ".join(names))
            return holder, names.index(target.parts[1])
        *outer, last = [int(self.number(index, "the place in an array")) for index in target.parts[1]]
        for index in outer:
            holder = holder[self.within(index, holder)]
        return holder, self.within(last, holder)

    def within(self, index: int, holder: Any) -> int:
        if not isinstance(holder, list) or not 1 <= index <= len(holder):
            raise StatementError(
                f"element {index} of an array", f"1 to {len(holder) if isinstance(holder, list) else 0}"
            )
        return index - 1

    def type_of(self, expression: Expression) -> str:
        if expression.op == "name":
            return self.find(expression.parts[0])[0]
        if expression.op == "index":
            return self.type_of(expression.parts[0])
        if expression.op == "field":
            return RECORDS.get(self.type_of(expression.parts[0]), {}).get(expression.parts[1], "")
        if expression.op == "call":
            return {"offs": "robtarget", "reltool": "robtarget", "posemult": "pose"}.get(
                expression.parts[0].lower(), ""
            )
        return ""

    def find(self, name: str) -> tuple[str, Any]:
        key = name.lower()
        for scope in reversed(self.scopes):
            found: tuple[str, Any] | None = scope.get(key)
            if found is not None:
                return found
        if key in PREDEFINED:
            kind, value = PREDEFINED[key]
            return kind, value
        raise UnknownError(f"{name} is not in the file", "data of this module")

    # Values.

    def value(self, expression: Expression) -> Any:
        op, parts = expression.op, expression.parts
        if op in ("number", "text"):
            return parts[0]
        if op == "name":
            found = self.find(parts[0])[1]
            if isinstance(found, UnknownError):
                raise UnknownError(found.what, found.valid)
            return found
        if op == "numbers":
            return list(parts)
        if op == "list":
            return [self.value(part) for part in parts]
        if op in ("field", "index"):
            holder, place = self.place(expression)
            if isinstance(holder[place], UnknownError):
                raise UnknownError(holder[place].what, holder[place].valid)
            return holder[place]
        if op == "call":
            return self.function(parts[0], parts[1])
        if op == "star":
            raise StatementError("a target that was taught and is not written out (*)", "[[x,y,z],[q1,q2,q3,q4],...]")
        return self.operator(op, [self.value(part) for part in parts])

    def number(self, expression: Expression, what: str) -> float:
        value = self.value(expression)
        if isinstance(value, bool) or not isinstance(value, float | int):
            raise StatementError(f"{what} is no number", "a number")
        return float(value)

    def operator(self, op: str, values: list[Any]) -> Any:
        left, right = values[0], values[-1]
        if op in ("NOT", "AND", "OR", "XOR"):
            if not isinstance(left, bool) or not isinstance(right, bool):
                raise StatementError(f"{op} of what is not true or false", "TRUE, FALSE or a comparison")
            return {"NOT": not left, "AND": left and right, "OR": left or right, "XOR": left != right}[op]
        if op in ("=", "<>"):
            return (left == right) == (op == "=")
        try:
            # Loops count with plain numbers: these need no arrays.
            if type(left) is float and type(right) is float:
                if op in COMPARISONS:
                    return COMPARISONS[op](left, right)
                if op in ("+", "-", "*"):
                    return _finite({"+": left + right, "-": left - right, "*": left * right}[op])
            a, b = np.asarray(left, np.float64), np.asarray(right, np.float64)
            if op in COMPARISONS:
                return COMPARISONS[op](float(a), float(b))
            if op in ("/", "DIV", "MOD") and not b.all():
                raise StatementError("a division by 0", "another divisor")
            with np.errstate(all="ignore"):
                return _finite(ARITHMETIC[op](a, b).tolist())
        except (ValueError, TypeError):
            raise StatementError(f"{op} of values of different kinds", "numbers, or positions") from None

    def function(self, name: str, arguments: tuple[Argument, ...]) -> Any:
        key = name.lower()
        given = [argument.value for argument in arguments if argument.name is None and argument.value is not None]
        by_name = {argument.name: argument.value for argument in arguments if argument.name is not None}
        one: dict[str, Callable[[float], float]] = {
            "abs": abs, "sqrt": math.sqrt, "trunc": math.trunc, "round": lambda x: float(round(x)),
            "sin": lambda x: math.sin(math.radians(x)), "cos": lambda x: math.cos(math.radians(x)),
            "tan": lambda x: math.tan(math.radians(x)),
        }  # fmt: skip
        counts = {**dict.fromkeys(one, 1), "offs": 4, "reltool": 4, "orientzyx": 3, "posemult": 2, "pow": 2}
        if key not in counts:
            raise UnknownError(f"what {name}() gives is not in the file", "values written in the file")
        if len(given) != counts[key]:
            raise StatementError(f"{name} has {len(given)} arguments", str(counts[key]))
        if key in one:
            try:
                return float(one[key](self.number(given[0], name)))
            except ValueError:
                raise StatementError(f"{name} of a number that has none", "0 or more") from None
        if key == "pow":
            try:
                return math.pow(self.number(given[0], name), self.number(given[1], name))
            except (ValueError, OverflowError):
                raise StatementError("Pow of numbers that have no power", "a result that is a number") from None
        if key == "orientzyx":
            angles = [math.radians(self.number(part, name)) for part in given]
            return values_of("abb_quat", matrix_of("euler_zyx", angles)).tolist()
        if key == "posemult":
            first, second = (pose_of_values(self.value(part), name) for part in given)
            return as_values(first @ second)
        target = shaped(self.value(given[0]), "robtarget", f"the target of {name}")
        moved = copy.deepcopy(target)
        step = [self.number(part, f"{name} {axis}") for part, axis in zip(given[1:], "xyz", strict=True)]
        if key == "offs":
            moved[0] = [a + b for a, b in zip(target[0], step, strict=True)]
            return moved
        turned = [by_name.get(axis) for axis in ("rx", "ry", "rz")]
        turns = [0.0 if part is None else math.radians(self.number(part, "an angle of RelTool")) for part in turned]
        tip = placed(matrix_of("euler_xyz", turns), np.array(step) * M_PER_MM)
        moved[:2] = as_values(pose_of_values(target[:2], name) @ tip)
        return moved


def _finite(result: Any) -> Any:
    """A computed number or list. Raises: StatementError where it is too large to be one."""
    if not (math.isfinite(result) if type(result) is float else np.isfinite(result).all()):
        raise StatementError("a value that is too large for a number", "finite numbers")
    return result
