"""Laws written out as straight Python or NumPy: the same numbers as the law itself, zeros folded, each expression
once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fieldworthy.core import lanes
from fieldworthy.core.lanes import (
    atan2,
    clip,
    cos,
    exp,
    floor,
    is_finite,
    log,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    tan,
)
from fieldworthy.core.straight import Term, written
from fieldworthy.core.vec import Vec3, cross, dot, quat_from_euler_zyx, rotate


def everything(x, y, z):
    """Every function of lanes.py at least once, with shared and nested expressions."""
    a = sin(x) * cos(y) + tan(0.3 * z) - exp(-abs_(x))
    b = sqrt(x * x + y * y) / (1.0 + log(2.0 + z * z))
    c = atan2(a, b) + floor(3.0 * y) + clip(z, -0.5, 0.5) + minimum(x, y) * maximum(y, z)
    d = select(logical_and(x > 0.0, logical_or(y < z, logical_not(z >= 0.1))), a - b, -c)
    return {"first": (a, b), "second": [c, d, 0.0 * x + 1.0 * y - 1.0 * z, 2.5], "third": select(is_finite(a), a, 0.0)}


def abs_(x):
    return lanes.abs(x)


def answers(values):
    return [*values["first"], *values["second"], values["third"]]


@pytest.mark.parametrize("seed", range(20))
def test_same_numbers_as_the_law(seed):
    point = np.random.default_rng(seed).uniform(-2.0, 2.0, 3)
    expected = answers(everything(*map(float, point)))
    assert written(everything, 3)(*map(float, point)) == tuple(expected)
    many = written(everything, 3, "numpy")(*point[:, None])
    for got, want in zip(many, expected, strict=True):
        assert np.broadcast_to(got, 1)[0] == pytest.approx(want, rel=1e-15, abs=1e-15)


def test_rows_of_arrays_are_computed_apart():
    rows = np.random.default_rng(3).uniform(-2.0, 2.0, (50, 3))
    many = [np.broadcast_to(value, 50) for value in written(everything, 3, "numpy")(*rows.T)]
    for k, row in enumerate(rows):
        for got, want in zip(many, answers(everything(*map(float, row))), strict=True):
            assert got[k] == pytest.approx(want, rel=1e-14, abs=1e-14)


def test_vectors_and_quaternions_pass_through():
    def law(roll, pitch, yaw, x, y, z):
        turned = rotate(quat_from_euler_zyx(roll, pitch, yaw), Vec3(x, y, z))
        return turned, dot(turned, turned), cross(turned, Vec3(0.0, 0.0, 1.0))

    values = (0.3, -0.4, 1.2, 1.0, 2.0, 3.0)
    found = written(law, 6)(*values)
    assert found[3] == pytest.approx(14.0, rel=1e-15)  # a rotation keeps 1 + 4 + 9
    assert found[6] == 0.0  # nothing of a product with z lies along z


def operations(law, count):
    """How many arithmetic operations and calls the written code makes."""
    import dis

    return sum(
        1
        for step in dis.get_instructions(written(law, count))
        if step.opname in ("BINARY_OP", "CALL", "UNARY_NEGATIVE")
    )


def test_zeros_and_ones_cost_nothing():
    assert operations(lambda x: (x * 0.0 + 1.0 * x - 0.0) / 1.0, 1) == 0
    assert operations(lambda x, y: x * -1.0 + 0.0 * y, 2) == 1


def test_a_common_expression_is_computed_once():
    assert (
        operations(lambda x, y: (sin(x * y) + 1.0, sin(x * y) + 2.0, sin(y * x)), 2) == 4
    )  # one product, one sine, two sums


def test_out_of_domain_roots_are_nan_as_in_the_other_engines():
    assert math.isnan(written(lambda x: sqrt(x), 1)(-1.0)[0])
    assert written(lambda x: sqrt(maximum(x, 0.0)), 1)(-1.0) == (0.0,)


def test_a_law_that_branches_is_refused():
    with pytest.raises(TypeError, match="use select"):
        written(lambda x: 1.0 if x > 0.0 else 2.0, 1)


def test_constants_are_answered_as_they_are():
    assert written(lambda x: (1.5, x, -2.0, True), 1)(7.0) == (1.5, 7.0, -2.0, True)


def test_long_expressions_can_be_written():
    def law(x):
        total = x
        for k in range(2000):
            total = total * 0.999 + sin(x + 0.001 * k)
        return total

    assert written(law, 1)(0.7)[0] == pytest.approx(law(0.7), rel=1e-12)


def test_terms_of_other_types_are_still_refused():
    with pytest.raises(TypeError, match="a scalar is"):
        sin(np.zeros(3))
    assert lanes.engine_name(Term({}, ("input", 0))) == "fieldworthy.core.straight"
