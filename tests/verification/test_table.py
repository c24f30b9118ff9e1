"""Tables: straight lines exactly, ends held, the same as NumPy's, one weight a knot."""

import casadi as ca
import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float64

from fieldworthy.core.table import check_knots, interpolate, interpolate_2d, weights

KNOTS = (-2.0, -0.5, 0.0, 0.25, 3.0)
VALUES = (4.0, -1.0, 2.5, 2.5, -7.0)
PLACES = np.linspace(-4.0, 5.0, 91)


def test_agrees_with_numpy_at_and_beyond_the_ends():
    got = [interpolate(weights(KNOTS, float(x)), VALUES) for x in PLACES]
    assert got == pytest.approx(np.interp(PLACES, KNOTS, VALUES), abs=1e-13)


def test_weights_add_up_to_one_with_two_neighbours():
    for x in PLACES:
        w = weights(KNOTS, float(x))
        assert sum(w) == pytest.approx(1.0, abs=1e-15)
        assert min(w) >= 0.0
        assert sum(value > 0.0 for value in w) <= 2


def test_two_knots_are_a_table():
    assert interpolate(weights((1.0, 3.0), 2.5), (10.0, 20.0)) == 17.5


def test_bilinear_function_is_exact_between_knots():
    columns = (-1.0, 0.0, 4.0)
    table = [[1.0 - 2.0 * x + 3.0 * y + 0.7 * x * y for y in columns] for x in KNOTS]
    for x, y in ((-1.7, 0.3), (0.1, -0.9), (2.2, 3.9), (0.25, 0.0)):
        expected = 1.0 - 2.0 * x + 3.0 * y + 0.7 * x * y
        assert interpolate_2d(weights(KNOTS, x), weights(columns, y), table) == pytest.approx(expected, abs=1e-13)


def test_error_halves_twice_with_half_the_spacing():
    # Linear interpolation is of order two: error h^2/8 times the second derivative.
    def error(count):
        knots = tuple(float(k) for k in np.linspace(0.0, np.pi, count))
        entries = np.sin(knots)
        places = np.linspace(0.0, np.pi, 1001)
        got = [interpolate(weights(knots, float(x)), [float(v) for v in entries]) for x in places]
        return np.abs(got - np.sin(places)).max()

    assert error(11) / error(21) == pytest.approx(4.0, rel=0.03)
    assert error(21) == pytest.approx((np.pi / 20) ** 2 / 8, rel=0.03)


def test_lanes_and_symbols_agree_with_floats():
    expected = np.interp(PLACES, KNOTS, VALUES)
    assert np.asarray(interpolate(weights(KNOTS, Float64(PLACES)), VALUES)) == pytest.approx(expected, abs=1e-13)
    x = ca.SX.sym("x")
    law = ca.Function("law", [x], [interpolate(weights(KNOTS, x), VALUES)])
    assert np.array(law(PLACES)).ravel() == pytest.approx(expected, abs=1e-13)


def test_gradient_is_the_slope_of_the_segment():
    x = Float64([-1.0, 1.0, 9.0])
    dr.enable_grad(x)
    dr.backward(interpolate(weights(KNOTS, x), VALUES))
    assert np.asarray(dr.grad(x)) == pytest.approx([-5.0 / 1.5, -9.5 / 2.75, 0.0], abs=1e-12)


def test_entries_may_be_lanes():
    entries = (Float64([0.0, 1.0]), Float64([2.0, 3.0]))
    assert np.asarray(interpolate(weights((0.0, 1.0), 0.5), entries)).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("bad", [[1.0], [], [0.0, 0.0], [0.0, 2.0, 1.0], [0.0, float("nan")]])
def test_axes_that_do_not_rise_are_refused(bad):
    with pytest.raises(ValueError, match=r"stall_axis.*valid"):
        check_knots(bad, "stall_axis")
    assert check_knots([0, 1], "axis") == (0.0, 1.0)
