"""Slipstream: momentum theory's closed forms, conservation of mass and momentum, and its edges."""

import math

import casadi as ca
import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float64

from fieldworthy.vehicles.propwash import PropwashParameters, induced_velocity_m_s, slipstream, wash_pressure_pa

RHO, RADIUS = 1.225, 0.254
AREA = math.pi * RADIUS**2


def at(distance_m, inner_m=0.0, outer_m=0.1):
    return PropwashParameters(RADIUS, distance_m, inner_m, outer_m)


@pytest.mark.parametrize(("thrust", "speed"), [(40.0, 0.0), (40.0, 18.0), (5.0, 30.0), (100.0, 3.0)])
def test_momentum_and_energy_of_the_stream(thrust, speed):
    vi = induced_velocity_m_s(thrust, RADIUS, speed, RHO)
    mass_flow = RHO * AREA * (speed + vi)
    wake = slipstream(at(1e7), thrust, speed, RHO)
    assert mass_flow * (wake.speed_m_s - speed) == pytest.approx(thrust, rel=1e-9)
    # The disc's power is what the air's kinetic energy gains.
    assert thrust * (speed + vi) == pytest.approx(0.5 * mass_flow * (wake.speed_m_s**2 - speed**2), rel=1e-9)


def test_hover_value_of_the_textbook():
    # Leishman, Principles of Helicopter Aerodynamics (2006), equation 2.15: v_h = sqrt(T/(2 rho A)).
    assert induced_velocity_m_s(40.0, RADIUS, 0.0, RHO) == pytest.approx(math.sqrt(40.0 / (2 * RHO * AREA)), rel=1e-9)


def test_far_wash_is_the_disc_loading():
    for speed in (0.0, 10.0, 25.0):
        assert wash_pressure_pa(at(1e7), 40.0, speed, RHO) == pytest.approx(40.0 / AREA, rel=1e-9)


def test_mass_is_conserved_along_the_tube():
    flow = [
        tube.speed_m_s * tube.radius_m**2
        for tube in (slipstream(at(d), 40.0, 7.0, RHO) for d in (-0.5, 0.0, 0.3, 2.0, 1e6))
    ]
    assert flow == pytest.approx([flow[0]] * 5, rel=1e-6)
    assert slipstream(at(0.0), 40.0, 7.0, RHO).radius_m == pytest.approx(RADIUS, rel=1e-12)
    assert slipstream(at(1e6), 40.0, 0.0, RHO).radius_m == pytest.approx(RADIUS / math.sqrt(2.0), rel=1e-6)


def test_far_ahead_of_the_disc_nothing_is_felt():
    assert wash_pressure_pa(at(-1e6), 40.0, 7.0, RHO) == pytest.approx(0.0, abs=1e-6)


def test_share_of_a_surface_in_the_stream():
    whole = wash_pressure_pa(at(0.0, 0.0, 0.2), 40.0, 7.0, RHO)
    assert wash_pressure_pa(at(0.0, RADIUS - 0.1, RADIUS + 0.1), 40.0, 7.0, RHO) == pytest.approx(0.5 * whole)
    assert wash_pressure_pa(at(0.0, 0.3, 0.6), 40.0, 7.0, RHO) == 0.0


@pytest.mark.parametrize("thrust", [0.0, -20.0])
@pytest.mark.parametrize("speed", [0.0, 20.0, -15.0])
def test_a_disc_that_does_not_push_washes_nothing(thrust, speed):
    assert wash_pressure_pa(at(1.0), thrust, speed, RHO) == pytest.approx(0.0, abs=1e-9)


def test_gradients_are_finite_at_rest():
    thrust, speed = Float64([0.0, 40.0]), Float64([0.0, 0.0])
    dr.enable_grad(thrust, speed)
    dr.backward(wash_pressure_pa(at(1.0), thrust, speed, RHO))
    assert np.isfinite(np.asarray(dr.grad(thrust))).all()
    assert np.isfinite(np.asarray(dr.grad(speed))).all()


def test_engines_agree():
    rows = np.random.default_rng(6).uniform([[-10.0], [-5.0]], [[90.0], [30.0]], (2, 60))
    p = at(0.8, 0.05, 0.45)
    expected = np.array([wash_pressure_pa(p, float(t), float(v), RHO) for t, v in rows.T])
    assert (expected > 0.0).any()
    assert np.asarray(wash_pressure_pa(p, Float64(rows[0]), Float64(rows[1]), RHO)) == pytest.approx(
        expected, rel=1e-12
    )
    x = ca.SX.sym("x", 2)
    law = ca.Function("law", [x], [wash_pressure_pa(p, x[0], x[1], RHO)])
    assert np.array(law(rows)).ravel() == pytest.approx(expected, rel=1e-12)
