"""The functions of scalars that laws are written with, on any of the engines.

A scalar is a Python float (or int, bool, NumPy scalar), a Dr.Jit array (with or without derivatives), a CasADi
expression, or a term of a law that is being written out as Python (`core/straight.py`). The engine is chosen by the
type of the arguments; the others are never imported from here unless one of their scalars arrived, so they are loaded
already.

Rules that keep a law valid on all four:
- no `if` on a scalar: `select`; no `and`, `or`, `not` on a condition: `logical_and`, `logical_or`, `logical_not`.
- a Python float mixes with every engine; a NumPy scalar times a Dr.Jit array makes a NumPy array and leaves the
  engine without a word. Those arrays are refused here.

Outside a function's domain the float engine answers as the compiled ones do (sqrt(-1) is NaN, log(0) is -inf):
a lane with a bad value ends with an event, it does not raise in the middle of a law.
"""

from __future__ import annotations

import math
import sys
from typing import Any, TypeAlias

Scalar: TypeAlias = Any
"""A number of any engine: float, Dr.Jit array, CasADi SX."""

_FLOAT = "float"
_DRJIT = "drjit"
_CASADI = "casadi"
_STRAIGHT = "fieldworthy.core.straight"
_engine_of_type: dict[type, str] = {float: _FLOAT, int: _FLOAT, bool: _FLOAT}


def _classify(kind: type) -> str:
    package = kind.__module__.partition(".")[0]
    if package in (_DRJIT, _CASADI):
        return package
    if kind.__module__ == _STRAIGHT:
        return _STRAIGHT
    if package == "numpy" and kind.__name__ != "ndarray":
        return _FLOAT
    if issubclass(kind, float | int):
        return _FLOAT
    raise TypeError(
        f"a scalar is a float, a Dr.Jit array or a CasADi SX, not {kind.__module__}.{kind.__qualname__} "
        "(a NumPy scalar times a Dr.Jit array makes a NumPy array: use a Python float)"
    )


def engine_name(*values: Scalar) -> str:
    """'float', 'drjit' or 'casadi': the engine that an expression of these scalars belongs to."""
    found = _FLOAT
    for value in values:
        kind = type(value)
        name = _engine_of_type.get(kind)
        if name is None:
            name = _engine_of_type[kind] = _classify(kind)
        if name != _FLOAT:
            found = name
    return found


def _module(*values: Scalar) -> Any:
    """The module of the engine, or None for plain floats."""
    name = engine_name(*values)
    return None if name == _FLOAT else sys.modules[name]


def sqrt(x: Scalar) -> Scalar:
    """Square root; NaN below zero."""
    engine = _module(x)
    if engine is None:
        return math.sqrt(x) if x >= 0.0 else math.nan
    return engine.sqrt(x)


def sin(x: Scalar) -> Scalar:
    """Sine of an angle [rad]."""
    engine = _module(x)
    if engine is None:
        return math.sin(x) if math.isfinite(x) else math.nan
    return engine.sin(x)


def cos(x: Scalar) -> Scalar:
    """Cosine of an angle [rad]."""
    engine = _module(x)
    if engine is None:
        return math.cos(x) if math.isfinite(x) else math.nan
    return engine.cos(x)


def sin_cos(x: Scalar) -> tuple[Scalar, Scalar]:
    """Sine and cosine of one angle [rad], for less than both apart."""
    if engine_name(x) == _DRJIT:
        pair: tuple[Scalar, Scalar] = sys.modules[_DRJIT].sincos(x)
        return pair
    return sin(x), cos(x)


def tan(x: Scalar) -> Scalar:
    """Tangent of an angle [rad]."""
    engine = _module(x)
    if engine is None:
        return math.tan(x) if math.isfinite(x) else math.nan
    return engine.tan(x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Angle of the point (x, y) [rad], in [-pi, pi]."""
    engine = _module(y, x)
    if engine is None:
        return math.atan2(y, x)
    return engine.atan2(y, x)


def exp(x: Scalar) -> Scalar:
    """Exponential; infinity on overflow."""
    engine = _module(x)
    if engine is None:
        try:
            return math.exp(x)
        except OverflowError:
            return math.inf
    return engine.exp(x)


def log(x: Scalar) -> Scalar:
    """Natural logarithm; -infinity at zero, NaN below."""
    engine = _module(x)
    if engine is None:
        if x > 0.0:
            return math.log(x)
        return -math.inf if x == 0.0 else math.nan
    return engine.log(x)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two scalars; NaN if either is."""
    engine = _module(a, b)
    if engine is None:
        return b if b < a or b != b else a
    return engine.fmin(a, b) if engine.__name__ == _CASADI else engine.minimum(a, b)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two scalars; NaN if either is."""
    engine = _module(a, b)
    if engine is None:
        return b if b > a or b != b else a
    return engine.fmax(a, b) if engine.__name__ == _CASADI else engine.maximum(a, b)


def clip(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """x limited to [low, high]; where low > high the answer is high."""
    return minimum(maximum(x, low), high)


def select(condition: Scalar, if_true: Scalar, if_false: Scalar) -> Scalar:
    """`if_true` where the condition holds, `if_false` elsewhere. Both are computed: keep both finite for gradients.

    Two plain numbers make 32-bit lanes in Dr.Jit, whatever the engine's precision: choose between lanes where a number
    is not exact in 32 bits.
    """
    engine = _module(condition, if_true, if_false)
    if engine is None:
        return if_true if condition else if_false
    if engine.__name__ == _CASADI:
        return engine.if_else(condition, if_true, if_false)
    return engine.select(condition, if_true, if_false)


def abs(x: Scalar) -> Scalar:
    """Absolute value."""
    engine = _module(x)
    if engine is None:
        return math.fabs(x)
    return engine.fabs(x) if engine.__name__ == _CASADI else engine.abs(x)


def floor(x: Scalar) -> Scalar:
    """Largest whole number not above x, as a floating-point scalar."""
    engine = _module(x)
    if engine is None:
        return float(math.floor(x)) if math.isfinite(x) else x
    return engine.floor(x)


def logical_and(a: Scalar, b: Scalar) -> Scalar:
    """Both conditions hold."""
    engine = _module(a, b)
    if engine is None:
        return bool(a) and bool(b)
    return engine.logic_and(a, b) if engine.__name__ == _CASADI else a & b


def logical_or(a: Scalar, b: Scalar) -> Scalar:
    """At least one condition holds."""
    engine = _module(a, b)
    if engine is None:
        return bool(a) or bool(b)
    return engine.logic_or(a, b) if engine.__name__ == _CASADI else a | b


def logical_not(a: Scalar) -> Scalar:
    """The condition does not hold."""
    engine = _module(a)
    if engine is None:
        return not a
    return engine.logic_not(a) if engine.__name__ == _CASADI else ~a


def is_finite(x: Scalar) -> Scalar:
    """The value is neither NaN nor infinite."""
    engine = _module(x)
    if engine is None:
        return math.isfinite(x)
    if engine.__name__ == _CASADI:
        return engine.fabs(x) <= sys.float_info.max
    return engine.isfinite(x)
