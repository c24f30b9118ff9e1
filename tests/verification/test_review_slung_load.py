"""A slung load meets the ground: it lies on it as heavy as it is, slides to rest, and take-off lifts it."""

from __future__ import annotations

import pytest

from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.multirotor import MultirotorOptions, first_multirotor_state, multirotor_control
from fieldworthy.control.multirotor_gains import default_gains
from fieldworthy.control.setpoint import HOVER, Setpoint
from fieldworthy.core.integrate import rk4
from fieldworthy.core.vec import Vec3, quat_identity
from fieldworthy.vehicles.landing_gear import ground_contact, rk4_growth
from fieldworthy.vehicles.tether import LoadParameters, LoadState, hanging_load, load_forces
from fieldworthy.verify.composed import vehicle

G, STILL, LEVEL = 9.80665, Vec3(0.0, 0.0, 0.0), quat_identity()
MASS_KG, DT_S = 0.5, 0.002


def load_of(**changes: float) -> LoadParameters:
    contact = ground_contact(MASS_KG, DT_S)
    return LoadParameters(MASS_KG, 2.0, 2000.0, 10.0, 0.0, Vec3(0.0, 0.0, 0.05), contact, **changes)


def acceleration(p: LoadParameters, load: LoadState, up_m: float) -> Vec3:
    """Of the load, below a vehicle that stays at a height."""
    pos = Vec3(0.0, 0.0, -up_m)
    return load_forces(p, load, pos, LEVEL, STILL, STILL, STILL, 1.225, G)[1]


def later(p: LoadParameters, load: LoadState, up_m: float, seconds: float) -> LoadState:
    for _ in range(round(seconds / DT_S)):
        load = rk4(lambda s: LoadState(s.vel_ned_m_s, acceleration(p, s, up_m)), load, DT_S)
    return load


def test_under_a_standing_vehicle_it_lies_on_the_ground_and_stays() -> None:
    p = load_of()
    start = hanging_load(p, Vec3(3.0, -1.0, -0.2), LEVEL, G)
    assert (start.pos_ned_m.x, start.pos_ned_m.y) == (3.0, -1.0)
    # The static deflection of landing gear, 5 mm.
    assert start.pos_ned_m.z == pytest.approx(0.005, abs=1e-12)
    wrench, dot = load_forces(p, start, Vec3(3.0, -1.0, -0.2), LEVEL, STILL, STILL, STILL, 1.225, G)
    assert list(dot) == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert list(wrench.force_frd_n) == [0.0, 0.0, 0.0], "the cable is slack"


def test_high_up_it_hangs_as_before() -> None:
    p = load_of()
    start = hanging_load(p, Vec3(0.0, 0.0, -6.0), LEVEL, G)
    assert start.pos_ned_m.z == pytest.approx(-6.0 + 0.05 + 2.0 + MASS_KG * G / 2000.0)
    assert list(acceleration(p, start, 6.0)) == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


def test_one_that_falls_comes_to_rest_on_the_ground() -> None:
    p = load_of()
    end = later(p, LoadState(Vec3(0.5, 0.0, -1.0), Vec3(0.3, 0.0, 0.0)), 0.2, 4.0)
    assert end.pos_ned_m.z == pytest.approx(0.005, abs=1e-4)
    assert list(end.vel_ned_m_s) == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)


@pytest.mark.parametrize("dt_s", [0.0005, 0.002, 0.008])
def test_the_contact_suits_the_step(dt_s: float) -> None:
    point = ground_contact(MASS_KG, dt_s)
    assert rk4_growth((point,), MASS_KG, Vec3(1.0, 1.0, 1.0), dt_s) <= 1.0 + 1e-9


def test_before_take_off_the_rotors_do_not_lift_what_the_feet_do_not_carry() -> None:
    """Nothing holds the attitude until the loops work: the ramp must end below the weight of the vehicle alone."""
    _, p = vehicle("x500")
    gains = default_gains(2.0 + 1.0, p.inertia_kg_m2, p.rotors, DT_S, load_kg=1.0)
    here = Estimate(Vec3(0.0, 0.0, -0.2), STILL, LEVEL, STILL, 0.0)
    target = Setpoint(0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, HOVER)
    options = MultirotorOptions()
    state, most, ticks = first_multirotor_state(options, here, 0.0), 0.0, 0
    while state.ground.lifted < 0.5 and ticks < 2000:
        thrusts, state, _ = multirotor_control(options, gains, target, here, state, DT_S)
        most, ticks = max(most, sum(thrusts)), ticks + 1
    assert 0.8 * 2.0 * G < most < 2.0 * G
    assert ticks < 2000
