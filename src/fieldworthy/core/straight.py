"""Laws recorded once and written out as straight Python: one call without a compiler, a batch as NumPy arrays.

`written(law, count)` calls the law with recording scalars (`Term`), folds zeros and ones, keeps each common expression
once, and compiles what is left to one Python function of `count` numbers that answers a flat tuple. A law of 300
operations then costs about 10 us a call, where walking its vectors and matrices costs 150 us and a kernel's launch 30
us; and it needs no LLVM. `engine="numpy"` writes the same with NumPy's functions, for arrays of any one shape.
Long because every operation of lanes.py is here once more, beside the little that writes them out.

Limits: numbers must be finite (math.sin refuses infinity) and a division by zero raises in the "float" engine: laws
guard what they divide by, as they must for gradients too. Expressions are real numbers and conditions; no loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

from fieldworthy.core.struct import leaves

Number = float | int
_NAMES = {"sqrt", "sin", "cos", "tan", "atan2", "exp", "log", "floor", "fabs", "isfinite"}
_LONGEST = 240
"""Characters of an expression that is still written inside another one: Python's parser has a limit of nesting."""


class Term:
    """One recorded operation. Made by the functions and operators here, never by a law itself."""

    __slots__ = ("book", "key", "never_negative")

    def __init__(self, book: dict[Any, Term], key: tuple[Any, ...], never_negative: bool = False) -> None:
        self.book = book
        self.key = key
        self.never_negative = never_negative

    def __add__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return self
        if isinstance(other, Term) and other.key[0] == "neg":
            return self - other.key[1]
        return _term(self, "+", self, other, positive=_not_negative(self) and _not_negative(other))

    def __radd__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else _term(self, "+", other, self)

    def __sub__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return self
        if isinstance(other, Term) and other.key[0] == "neg":
            return self + other.key[1]
        return 0.0 if other is self else _term(self, "-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return -self if _is(other, 0.0) else _term(self, "-", other, self)

    def __mul__(self, other: Any) -> Any:
        return _product(self, other)

    def __rmul__(self, other: Any) -> Any:
        return _product(self, other)

    def __truediv__(self, other: Any) -> Any:
        return self if _is(other, 1.0) else _term(self, "/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if _is(other, 0.0) else _term(self, "/", other, self)

    def __neg__(self) -> Any:
        return self.key[1] if self.key[0] == "neg" else _term(self, "neg", self)

    def __lt__(self, other: Any) -> Any:
        return _term(self, "<", self, other)

    def __le__(self, other: Any) -> Any:
        return _term(self, "<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return _term(self, ">", self, other)

    def __ge__(self, other: Any) -> Any:
        return _term(self, ">=", self, other)

    def __and__(self, other: Any) -> Any:
        return self if other is True else False if other is False else _term(self, "and", self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        return True if other is True else self if other is False else _term(self, "or", self, other)

    __ror__ = __or__

    def __invert__(self) -> Any:
        return _term(self, "not", self)

    def __bool__(self) -> bool:
        raise TypeError("a law branches on a scalar: use select, logical_and, logical_or, logical_not")


def _is(value: Any, number: float) -> bool:
    return not isinstance(value, Term) and not isinstance(value, bool) and value == number


def _not_negative(value: Any) -> bool:
    return value.never_negative if isinstance(value, Term) else value >= 0.0


def _id(value: Any) -> Any:
    return id(value) if isinstance(value, Term) else (type(value) is bool, value, math.copysign(1.0, value))


def _term(near: Term, op: str, *arguments: Any, positive: bool = False) -> Term:
    """The operation, recorded once: the same operation on the same arguments is the same term."""
    book = near.book
    place = (op, *map(_id, arguments))
    if place not in book:
        book[place] = Term(book, (op, *arguments), positive)
    return book[place]


def _product(a: Term, b: Any) -> Any:
    if isinstance(b, Term):
        if b.key[0] == "neg":
            return -_product(a, b.key[1])
        if a.key[0] == "neg":
            return -_product(a.key[1], b)
        if id(b) < id(a):
            a, b = b, a
        return _term(a, "*", a, b, positive=a is b or (a.never_negative and b.never_negative))
    if _is(b, 0.0):
        return 0.0
    if _is(b, 1.0):
        return a
    if _is(b, -1.0):
        return -a
    return _term(a, "*", a, b)


def _near(*values: Any) -> Term:
    return next(value for value in values if isinstance(value, Term))


def sqrt(x: Term) -> Term:
    """Square root; NaN below zero."""
    return _term(x, "sqrt" if x.never_negative else "root", x, positive=True)


def sin(x: Term) -> Term:
    """Sine [rad]."""
    return _term(x, "sin", x)


def cos(x: Term) -> Term:
    """Cosine [rad]."""
    return _term(x, "cos", x)


def tan(x: Term) -> Term:
    """Tangent [rad]."""
    return _term(x, "tan", x)


def exp(x: Term) -> Term:
    """Exponential."""
    return _term(x, "exp", x, positive=True)


def log(x: Term) -> Term:
    """Natural logarithm."""
    return _term(x, "log", x)


def floor(x: Term) -> Term:
    """Largest whole number not above x."""
    return _term(x, "floor", x)


def abs(x: Term) -> Term:
    """Absolute value."""
    return x if x.never_negative else _term(x, "fabs", x, positive=True)


def isfinite(x: Term) -> Term:
    """Neither NaN nor infinite."""
    return _term(x, "isfinite", x)


def atan2(y: Any, x: Any) -> Term:
    """Angle of the point (x, y) [rad]."""
    return _term(_near(y, x), "atan2", y, x)


def minimum(a: Any, b: Any) -> Term:
    """The smaller of two."""
    return _term(_near(a, b), "min", a, b, positive=_not_negative(a) and _not_negative(b))


def maximum(a: Any, b: Any) -> Term:
    """The larger of two."""
    return _term(_near(a, b), "max", a, b, positive=_not_negative(a) or _not_negative(b))


def select(condition: Any, if_true: Any, if_false: Any) -> Any:
    """`if_true` where the condition holds."""
    if not isinstance(condition, Term):
        return if_true if condition else if_false
    if if_true is if_false:
        return if_true
    return _term(condition, "select", condition, if_true, if_false)


def written(law: Callable[..., Any], count: int, engine: Literal["float", "numpy"] = "float") -> Callable[..., Any]:
    """The law as one compiled function of `count` numbers (or arrays of one shape), answering the tuple of its leaves.

    The law takes `count` scalars and answers any tree of scalars (core/struct.py), without deciding on any of them.
    """
    book: dict[Any, Term] = {}
    inputs = [Term(book, ("input", index)) for index in range(count)]
    results = leaves(law(*inputs))
    source = _source(results, count, engine)
    space = _namespace(engine)
    exec(compile(source, f"<{getattr(law, '__name__', 'law')}, written for {engine}>", "exec"), space)
    found: Callable[..., Any] = space["law"]
    return found


def _namespace(engine: str) -> dict[str, Any]:
    if engine == "float":
        return {name: getattr(math, name) for name in _NAMES} | {"nan": math.nan, "inf": math.inf}
    import numpy as np

    space = {name: getattr(np, name) for name in _NAMES - {"atan2"}}
    space |= {"atan2": np.arctan2, "where": np.where, "least": np.minimum, "most": np.maximum}
    return space | {"nan": math.nan, "inf": math.inf}


def _source(results: Sequence[Any], count: int, engine: str) -> str:
    uses: dict[int, int] = {}
    order: list[Term] = []
    _count(results, uses, order)
    text: dict[int, str] = {}
    lines: list[str] = []
    for term in order:
        code = _code(term, text, engine)
        if term.key[0] == "input":
            text[id(term)] = f"i{term.key[1]}"
        elif uses[id(term)] > 1 or len(code) > _LONGEST:
            text[id(term)] = f"v{len(lines)}"
            lines.append(f"    v{len(lines)} = {code}")
        else:
            text[id(term)] = f"({code})"
    answers = "".join(f"{_argument(value, text)}, " for value in results)
    head = ", ".join(f"i{index}" for index in range(count))
    return "\n".join([f"def law({head}):", *lines, f"    return ({answers})"]) + "\n"


def _count(results: Sequence[Any], uses: dict[int, int], order: list[Term]) -> None:
    """How often each term is used, and all terms with arguments before what uses them."""
    waiting: list[tuple[Any, bool]] = [(value, False) for value in reversed(results)]
    while waiting:
        value, done = waiting.pop()
        if not isinstance(value, Term):
            continue
        if done:
            order.append(value)
            continue
        uses[id(value)] = uses.get(id(value), 0) + 1
        if uses[id(value)] > 1:
            continue
        waiting.append((value, True))
        if value.key[0] != "input":
            waiting.extend((argument, False) for argument in reversed(value.key[1:]))


def _argument(value: Any, text: dict[int, str]) -> str:
    if isinstance(value, Term):
        return text[id(value)]
    if isinstance(value, bool):
        return str(value)
    return f"({float(value)!r})" if value < 0.0 else repr(float(value))


def _code(term: Term, text: dict[int, str], engine: str) -> str:
    op, *arguments = term.key
    if op == "input":
        return ""
    a = [_argument(value, text) for value in arguments]
    many = engine == "numpy"
    if op in ("+", "-", "*", "/", "<", "<=", ">", ">="):
        return f"{a[0]} {op} {a[1]}"
    if op in ("and", "or"):
        return f"{a[0]} {('&' if op == 'and' else '|') if many else op} {a[1]}"
    if op == "select":
        return f"where({', '.join(a)})" if many else f"{a[1]} if {a[0]} else {a[2]}"
    if op == "min":
        return f"least({a[0]}, {a[1]})" if many else f"{a[1]} if {a[1]} < {a[0]} else {a[0]}"
    if op == "max":
        return f"most({a[0]}, {a[1]})" if many else f"{a[1]} if {a[1]} > {a[0]} else {a[0]}"
    if op == "neg":
        return f"-{a[0]}"
    if op == "not":
        return f"~{a[0]}" if many else f"not {a[0]}"
    if op == "root":
        return f"sqrt({a[0]})" if many else f"sqrt({a[0]}) if {a[0]} >= 0.0 else nan"
    return f"{op}({', '.join(a)})"
