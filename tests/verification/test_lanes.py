"""The scalar functions answer alike on every engine, inside and outside their domain."""

import math
import subprocess
import sys

import casadi as ca
import numpy as np
import pytest
from drjit.llvm.ad import Float, Float64

from fieldworthy.core import lanes

ONE_ARGUMENT = {
    "sqrt": (lanes.sqrt, math.sqrt, [0.25, 2.0, 1e6]),
    "sin": (lanes.sin, math.sin, [-2.0, 0.0, 0.7, 3.0]),
    "cos": (lanes.cos, math.cos, [-2.0, 0.0, 0.7, 3.0]),
    "tan": (lanes.tan, math.tan, [-1.2, 0.0, 0.7]),
    "exp": (lanes.exp, math.exp, [-3.0, 0.0, 2.5]),
    "log": (lanes.log, math.log, [1e-3, 1.0, 40.0]),
    "abs": (lanes.abs, math.fabs, [-2.5, 0.0, 3.0]),
    "floor": (lanes.floor, math.floor, [-1.5, -1.0, 0.0, 2.9]),
}
TWO_ARGUMENTS = {
    "atan2": (lanes.atan2, math.atan2, [(0.0, -1.0), (1.0, 1.0), (-2.0, 0.5), (-1.0, -1.0), (1.0, 0.0)]),
    "minimum": (lanes.minimum, min, [(1.0, 2.0), (2.0, 1.0), (-1.0, -1.0)]),
    "maximum": (lanes.maximum, max, [(1.0, 2.0), (2.0, 1.0), (-1.0, -1.0)]),
}


def symbolic(fn, *arguments):
    """fn through a CasADi function of symbols."""
    symbols = [ca.SX.sym(f"x{i}") for i in range(len(arguments))]
    return float(ca.Function("f", symbols, [fn(*symbols)])(*arguments))


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_one_argument_on_every_engine(name):
    fn, expected, points = ONE_ARGUMENT[name]
    for x in points:
        want = expected(x)
        assert fn(x) == want
        assert fn(np.float64(x)) == want
        assert fn(Float64(x))[0] == pytest.approx(want, rel=1e-14, abs=1e-15)
        assert fn(Float(x))[0] == pytest.approx(want, rel=1e-6, abs=1e-7)
        assert symbolic(fn, x) == pytest.approx(want, rel=1e-15, abs=1e-15)


@pytest.mark.parametrize("name", TWO_ARGUMENTS)
def test_two_arguments_on_every_engine(name):
    fn, expected, points = TWO_ARGUMENTS[name]
    for a, b in points:
        want = expected(a, b)
        assert fn(a, b) == want
        assert fn(Float64(a), b)[0] == pytest.approx(want, rel=1e-14)
        assert fn(a, Float(b))[0] == pytest.approx(want, rel=1e-6)
        assert symbolic(fn, a, b) == pytest.approx(want, rel=1e-15)


@pytest.mark.parametrize(("x", "want"), [(-3.0, -1.0), (0.25, 0.25), (9.0, 2.0)])
def test_clip(x, want):
    def fn(v):
        return lanes.clip(v, -1.0, 2.0)

    assert fn(x) == want
    assert fn(Float64(x))[0] == want
    assert symbolic(fn, x) == want


@pytest.mark.parametrize(("x", "want"), [(-3.0, 10.0), (3.0, 20.0), (0.5, 20.0)])
def test_select_and_conditions(x, want):
    def fn(v):
        outside = lanes.logical_or(v < -1.0, v > 1.0)
        inside = lanes.logical_not(outside)
        return lanes.select(lanes.logical_and(outside, v < 0.0), 10.0, lanes.select(inside, 20.0, 20.0 + 0.0 * v))

    assert fn(x) == want
    assert fn(Float64(x))[0] == want
    assert symbolic(fn, x) == want


@pytest.mark.parametrize(("x", "finite"), [(1.0, True), (math.nan, False), (math.inf, False), (-math.inf, False)])
def test_is_finite(x, finite):
    assert lanes.is_finite(x) is finite
    assert bool(lanes.is_finite(Float64(x))[0]) is finite
    assert bool(symbolic(lanes.is_finite, x)) is finite


def test_outside_the_domain_floats_answer_as_lanes_do():
    for fn, x in [(lanes.sqrt, -1.0), (lanes.log, -1.0), (lanes.sin, math.inf), (lanes.cos, math.nan)]:
        assert math.isnan(fn(x))
        assert math.isnan(fn(Float64(x))[0])
    assert lanes.log(0.0) == -math.inf == lanes.log(Float64(0.0))[0]
    assert lanes.exp(1e4) == math.inf == lanes.exp(Float64(1e4))[0]


def test_numpy_arrays_are_refused_with_the_reason():
    with pytest.raises(TypeError, match="NumPy scalar times a Dr"):
        lanes.sqrt(np.float64(2.0) * Float([1.0, 2.0]))
    with pytest.raises(TypeError, match="a scalar is a float"):
        lanes.sin("1")


def test_core_loads_no_engine():
    names = "vec lanes struct integrate rigid_body random timing units frames errors".split()
    code = (
        "import sys;"
        + "".join(f"import fieldworthy.core.{name};" for name in names)
        + "print([m for m in ('drjit', 'casadi', 'numpy', 'mitsuba') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_minimum_and_maximum_of_nan_are_nan_on_floats_and_in_lanes() -> None:
    for a, b in ((5.0, math.nan), (math.nan, 5.0)):
        for function in (lanes.minimum, lanes.maximum):
            assert math.isnan(function(a, b))
            assert math.isnan(function(Float64(a), Float64(b))[0])
