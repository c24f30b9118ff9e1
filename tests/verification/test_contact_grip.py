"""Feet that hold: no creep under a side force, Coulomb's law when they slide, never more than mu N."""

import math

import casadi as ca
import numpy as np
import pytest
from drjit.llvm.ad import Float64
from standing import MASS_KG, REST_Z_M, G, Gripping, body, gear, grip, tilted

from fieldworthy.core.integrate import rk4
from fieldworthy.core.struct import leaves
from fieldworthy.core.vec import Vec3, norm
from fieldworthy.vehicles.contact_grip import GRIP_TIME_S, Grip, gripping_force, no_grips


def gripping(points, state):
    return Gripping(state, no_grips(points))


def test_it_holds_against_half_of_its_friction_without_creeping():
    points = gear()
    side = 0.5 * points[0].friction * MASS_KG * G
    start = grip(points, gripping(points, body()), 0.8, side)
    end = grip(points, start, 0.2, side)
    assert norm(end.body.pos_ned_m - start.body.pos_ned_m) < 1e-3 / 300.0, "under 1 mm a minute"
    assert sum(g.north for g in end.grips) / 4.0 == pytest.approx(0.5, rel=1e-2)


def test_dragged_slowly_it_takes_hold_as_dahl_says():
    """1 - exp(-x / x_0) over the distance x (Dahl 1976), x_0 = v_s tau; here 0.3 mm at a hundredth of v_s."""
    point = gear()[0]
    speed = 0.01 * point.slip_speed_m_s
    seconds = 3e-4 / speed
    held = Grip(0.0, 0.0)
    for _ in range(100):
        held = rk4(lambda g: gripping_force(point, g, 0.004, Vec3(0.0, speed, 0.0))[1], held, seconds / 100)
    assert held.east == pytest.approx(1.0 - math.exp(-3e-4 / (point.slip_speed_m_s * GRIP_TIME_S)), rel=1e-6)
    assert held.north == 0.0


def test_more_than_its_friction_accelerates_it_by_the_rest():
    points = gear(friction=0.3)
    start = grip(points, gripping(points, body()), 0.3, 1.5 * 0.3 * MASS_KG * G)
    end = grip(points, start, 0.3, 1.5 * 0.3 * MASS_KG * G)
    gained = end.body.vel_ned_m_s.x - start.body.vel_ned_m_s.x
    assert gained == pytest.approx(0.5 * 0.3 * G * 0.3, rel=0.02)


def test_a_slide_ends_after_v_squared_over_two_mu_g():
    points = gear(friction=0.3)
    end = grip(points, gripping(points, body(vel=(1.5, 0.0, 0.0))), 0.8)
    assert end.body.pos_ned_m.x == pytest.approx(1.5**2 / (2.0 * 0.3 * G), rel=0.01)
    assert norm(end.body.vel_ned_m_s) < 1e-3


def test_it_settles_after_a_crooked_landing():
    points = gear()
    end = grip(points, gripping(points, body(-0.25, tilted(), (0.3, 0.1, 0.8))), 1.0)
    assert end.body.pos_ned_m.z == pytest.approx(REST_Z_M, abs=1e-4)
    assert norm(end.body.vel_ned_m_s) < 1e-4


def test_friction_never_exceeds_mu_n_and_is_coulombs_when_sliding():
    point = gear()[0]
    random = np.random.default_rng(3)
    for _ in range(200):
        angle, length, speed = random.uniform(0.0, 7.0), random.uniform(0.0, 1.0), 10.0 ** random.uniform(-4.0, 1.5)
        held = Grip(length * math.cos(angle), length * math.sin(angle))
        heading = random.uniform(0.0, 7.0)
        velocity = Vec3(speed * math.cos(heading), speed * math.sin(heading), 0.0)
        force, _ = gripping_force(point, held, 0.004, velocity)
        limit = -point.friction * force.z
        assert math.hypot(force.x, force.y) <= limit * (1.0 + 1e-9)
        if speed > point.slip_speed_m_s:
            assert force.x == pytest.approx(-limit * math.cos(heading), abs=1e-9)
            assert force.y == pytest.approx(-limit * math.sin(heading), abs=1e-9)


def test_in_the_air_the_foot_lets_go():
    force, rate = gripping_force(gear()[0], Grip(0.8, -0.4), -0.01, Vec3(1.0, 2.0, 0.0))
    assert force == Vec3(0.0, 0.0, 0.0)
    assert rate.north < 0.0 < rate.east


def test_engines_agree():
    point = gear()[0]
    inputs = np.random.default_rng(8).uniform(-1.0, 1.0, size=(6, 128))
    inputs[4, ::2] *= 0.02  # half of the feet below the slip speed

    def law(x):
        return gripping_force(point, Grip(0.7 * x[0], 0.7 * x[1]), 0.01 * x[2], Vec3(x[4], 0.02 * x[3], 0.1 * x[5]))

    floats = np.array([leaves(law([float(v) for v in column])) for column in inputs.T]).T
    lanes = np.array([np.broadcast_to(np.asarray(v), 128) for v in leaves(law([Float64(row) for row in inputs]))])
    x = ca.SX.sym("x", 6)
    symbols = np.array(ca.Function("f", [x], [ca.vertcat(*leaves(law([x[i] for i in range(6)])))])(inputs))
    assert lanes == pytest.approx(floats, rel=1e-10, abs=1e-10)
    assert symbols == pytest.approx(floats, rel=1e-10, abs=1e-10)
