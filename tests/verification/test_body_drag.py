"""Body drag: fall against the closed form, direction, and the size of its trace."""

import math

import casadi as ca
import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float64

from fieldworthy.core.integrate import rk4
from fieldworthy.core.vec import Vec3, cross, dot
from fieldworthy.vehicles.body_drag import BodyDragParameters, body_drag, isotropic_drag

SAME = BodyDragParameters(Vec3(0.05, 0.05, 0.05))
LONG = BodyDragParameters(Vec3(0.01, 0.04, 0.09))


def test_coasting_slows_as_the_closed_form():
    # m dv/dt = -c v^2 has v = v0/(1 + c v0 t/m).
    c = 0.5 * 1.225 * 0.05
    v = Vec3(12.0, -9.0, 20.0)
    for _ in range(400):
        v = rk4(lambda v: isotropic_drag(0.05, v, 1.225) * 0.5, v, 0.01)
    expected = 25.0 / (1.0 + c * 25.0 * 4.0 / 2.0)
    assert math.sqrt(dot(v, v)) == pytest.approx(expected, rel=1e-9)
    assert (v.x / v.z, v.y / v.z) == pytest.approx((0.6, -0.45), rel=1e-12)


def test_equal_areas_are_isotropic():
    for v in (Vec3(3.0, -4.0, 12.0), Vec3(0.0, 0.1, 0.0)):
        force = body_drag(SAME, v, 1.225)
        assert list(force) == pytest.approx(list(isotropic_drag(0.05, v, 1.225)), rel=1e-14)
        assert list(cross(force, v)) == pytest.approx([0.0, 0.0, 0.0], abs=1e-15)


@pytest.mark.parametrize(("axis", "area"), [("x", 0.01), ("y", 0.04), ("z", 0.09)])
def test_along_an_axis_it_is_the_definition(axis, area):
    v = Vec3(0.0, 0.0, 0.0)
    setattr(v, axis, -10.0)
    # 1/2 1.2 kg/m3 100 m2/s2 = 60 Pa
    assert getattr(body_drag(LONG, v, 1.2), axis) == pytest.approx(60.0 * area, rel=1e-12)


def test_drag_never_drives():
    rng = np.random.default_rng(4)
    for row in rng.normal(0.0, 10.0, (200, 3)):
        v = Vec3(*(float(x) for x in row))
        assert dot(body_drag(LONG, v, 1.2), v) < 0.0


def test_at_rest_there_is_no_force_and_a_finite_gradient():
    v = Vec3(*(Float64([0.0]) for _ in range(3)))
    dr.enable_grad(v.x)
    force = body_drag(LONG, v, 1.225)
    dr.backward(force.x + force.y + force.z)
    assert np.asarray(force.x).item() == 0.0
    assert np.isfinite(np.asarray(dr.grad(v.x))).all()
    assert list(isotropic_drag(0.05, Vec3(0.0, 0.0, 0.0), 1.225)) == [0.0, 0.0, 0.0]


def test_engines_agree():
    rows = np.random.default_rng(5).normal(0.0, 8.0, (3, 50))
    expected = np.array([list(body_drag(LONG, Vec3(*map(float, c)), 1.1)) for c in rows.T]).T
    lanes = body_drag(LONG, Vec3(*(Float64(r) for r in rows)), 1.1)
    assert np.array([np.asarray(f) for f in lanes]) == pytest.approx(expected, rel=1e-13)
    x = ca.SX.sym("x", 3)
    law = ca.Function("law", [x], [ca.vertcat(*body_drag(LONG, Vec3(x[0], x[1], x[2]), 1.1))])
    assert np.array(law(rows)) == pytest.approx(expected, rel=1e-13)


def test_the_trace_is_as_lean_as_the_hand_written_program():
    # limit_quad.c: 3 squares, 2 sums, guard, root, 1 product with a constant, 3 products: 11 operations.
    x = ca.SX.sym("x", 3)
    law = ca.Function("law", [x], [ca.vertcat(*isotropic_drag(0.05, Vec3(x[0], x[1], x[2]), 1.225))])
    assert law.n_instructions() - 8 <= 11, "three inputs, three outputs and two constants are instructions too"
