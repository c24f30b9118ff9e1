"""Slung load and tether: pendulum, equilibrium, slack, and conservation of momentum."""

import math

import numpy as np
import pytest
from drjit.llvm.ad import Float64

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.core.integrate import rk4
from fieldworthy.core.vec import Quat, Vec3, norm, quat_from_euler_zyx, quat_identity, quat_normalize, rotate
from fieldworthy.vehicles.contact import ContactPoint
from fieldworthy.vehicles.tether import (
    LoadParameters,
    LoadState,
    TetherParameters,
    cable_force_ned_n,
    hanging_load,
    load_forces,
    tether_wrench,
)

G = 9.80665
STILL = Vec3(0.0, 0.0, 0.0)
HOOK = Vec3(0.0, 0.0, 0.0)


def load_of(**changes):
    numbers = {"mass_kg": 0.5, "cable_length_m": 2.0, "stiffness_n_m": 2000.0, "damping_n_s_m": 5.0}
    return LoadParameters(**{**numbers, "drag_area_m2": 0.0, "attach_frd_m": HOOK, **changes})


def swing(p, state, seconds, dt_s, wind=STILL, density=1.225, ground_up_m=-1000.0):
    """States of the load below a hook that is held at the origin."""

    def rate(s):
        _, acceleration = load_forces(p, s, STILL, quat_identity(), STILL, STILL, wind, density, G, ground_up_m)
        return LoadState(s.vel_ned_m_s, acceleration)

    states = [state]
    for _ in range(round(seconds / dt_s)):
        states.append(rk4(rate, states[-1], dt_s))
    return states


def released_at(p, angle_rad):
    """On the line at an angle, stretched by its share of the weight."""
    length = p.cable_length_m + p.mass_kg * G * math.cos(angle_rad) / p.stiffness_n_m
    return LoadState(Vec3(length * math.sin(angle_rad), 0.0, length * math.cos(angle_rad)), STILL)


def period_s(states, dt_s):
    """Mean time between crossings of the vertical in one direction."""
    xs = [s.pos_ned_m.x for s in states]
    times = [dt_s * (i + a / (a - b)) for i, (a, b) in enumerate(zip(xs, xs[1:], strict=False)) if a > 0.0 >= b]
    return (times[-1] - times[0]) / (len(times) - 1)


def test_small_swings_have_the_period_of_a_pendulum():
    p = load_of(stiffness_n_m=2e4)
    states = swing(p, released_at(p, math.radians(2.0)), 6.5, 2e-3)
    # 2 pi sqrt(l/g) with the stretched length; 2 deg lengthen it by 1/16 rad^2 = 8e-5
    length = 2.0 + 0.5 * G / 2e4
    assert period_s(states, 2e-3) == pytest.approx(2.0 * math.pi * math.sqrt(length / G), rel=3e-4)


def test_wide_swings_have_the_period_of_the_elliptic_integral():
    p = load_of(stiffness_n_m=2e4)
    angle = math.radians(60.0)
    a, b = 1.0, math.cos(angle / 2.0)  # K = pi / (2 agm(1, cos(angle/2))), Gauss
    for _ in range(6):
        a, b = (a + b) / 2.0, math.sqrt(a * b)
    states = swing(p, released_at(p, angle), 7.0, 2e-3)
    assert period_s(states, 2e-3) == pytest.approx(2.0 * math.pi * math.sqrt(2.0 / G) / a, rel=1e-3)


def test_it_hangs_still_where_spring_and_weight_agree():
    p = load_of()
    start = hanging_load(p, STILL, quat_identity(), G)
    assert start.pos_ned_m.z == pytest.approx(2.0 + 0.5 * G / 2000.0)
    wrench, acceleration = load_forces(p, start, STILL, quat_identity(), STILL, STILL, STILL, 1.225, G)
    assert norm(acceleration) < 1e-9
    assert wrench.force_frd_n.z == pytest.approx(0.5 * G, rel=1e-9), "its weight on the vehicle"


def test_in_steady_wind_the_cable_leans_by_drag_over_weight():
    p = load_of(drag_area_m2=0.05, damping_n_s_m=5.0, cable_length_m=0.5)
    drag = 0.5 * 1.225 * 0.05 * 8.0**2
    lean = math.atan2(drag, 0.5 * G)
    # from where it must rest: it stays, and the tension is the resultant
    tension = math.hypot(drag, 0.5 * G)
    length = 0.5 + tension / 2000.0
    rest = LoadState(Vec3(-length * math.sin(lean), 0.0, length * math.cos(lean)), STILL)
    wrench, acceleration = load_forces(p, rest, STILL, quat_identity(), STILL, STILL, Vec3(-8.0, 0.0, 0.0), 1.225, G)
    assert norm(acceleration) < 1e-6
    assert norm(wrench.force_frd_n) == pytest.approx(tension, rel=1e-9)


def test_a_slack_cable_lets_the_load_fall():
    p = load_of()
    start = LoadState(Vec3(0.3, 0.0, 0.5), Vec3(0.0, 0.2, 0.0))
    wrench, acceleration = load_forces(p, start, STILL, quat_identity(), STILL, STILL, STILL, 1.225, G)
    assert acceleration == Vec3(0.0, 0.0, G)
    assert wrench.force_frd_n == STILL
    end = swing(p, start, 0.4, 1e-3)[-1]
    assert end.pos_ned_m.z == pytest.approx(0.5 + 0.5 * G * 0.4**2, rel=1e-12)
    assert end.pos_ned_m.y == pytest.approx(0.08, rel=1e-12)


def test_the_cable_never_pushes_and_a_load_at_the_hook_is_no_singularity():
    p = load_of(damping_n_s_m=500.0)
    assert cable_force_ned_n(p, Vec3(0.0, 0.0, 2.001), Vec3(0.0, 0.0, -5.0)) == STILL, "shortening fast"
    at_hook = cable_force_ned_n(p, STILL, Vec3(1.0, 2.0, 3.0))
    assert at_hook == STILL


def test_momentum_and_angular_momentum_of_vehicle_and_load_are_kept():
    """Without gravity and air the cable is an inner force: what the load gets, the vehicle loses, on one line."""
    p = load_of(attach_frd_m=Vec3(0.1, -0.05, 0.08))
    quat = quat_from_euler_zyx(0.3, -0.4, 1.0)
    pos, vel, rate = Vec3(3.0, -2.0, -10.0), Vec3(1.0, 0.5, -0.2), Vec3(0.5, -0.3, 0.8)
    load = LoadState(Vec3(3.8, -1.1, -8.2), Vec3(0.2, 1.0, 1.5))
    wrench, acceleration = load_forces(p, load, pos, quat, vel, rate, STILL, 0.0, 0.0)
    on_vehicle = rotate(quat, wrench.force_frd_n)
    on_load = acceleration * p.mass_kg
    assert norm(on_vehicle) > 10.0
    assert norm(on_vehicle + on_load) < 1e-9
    moment = rotate(quat, wrench.moment_frd_n_m)
    total = np.cross(list(pos), list(on_vehicle)) + list(moment) + np.cross(list(load.pos_ned_m), list(on_load))
    assert np.abs(total).max() < 1e-9


def test_the_damper_sees_the_hook_move_with_the_turning_body():
    """A load at rest, a body that turns about its centre: the hook goes away from the load at w x r."""
    p = load_of(attach_frd_m=Vec3(0.5, 0.0, 0.0), stiffness_n_m=1000.0, damping_n_s_m=10.0)
    load = LoadState(Vec3(0.5, 0.0, 2.1), STILL)
    wrench, _ = load_forces(p, load, STILL, quat_identity(), STILL, Vec3(0.0, 2.0, 0.0), STILL, 0.0, 0.0)
    # nose up at 2 rad/s lifts the hook at 1 m/s: 1000 N/m x 0.1 m + 10 N s/m x 1 m/s
    assert wrench.force_frd_n.z == pytest.approx(110.0, rel=1e-12)
    assert wrench.moment_frd_n_m.y == pytest.approx(-55.0, rel=1e-12), "pulls the nose down"


def test_a_load_on_the_ground_carries_itself():
    p = load_of(contact=ContactPoint(STILL, 1000.0, 20.0, 0.6))
    depth = 0.5 * G / 1000.0
    resting = LoadState(Vec3(0.0, 0.0, 1.0 + depth), STILL)
    wrench, acceleration = load_forces(
        p, resting, STILL, quat_identity(), STILL, STILL, STILL, 1.225, G, ground_up_m=-1.0
    )
    assert norm(acceleration) < 1e-9
    assert wrench.force_frd_n == STILL


def test_a_tether_to_the_ground_is_a_spring_to_a_fixed_point():
    p = TetherParameters(10.0, 500.0, 0.0, Vec3(0.0, 0.0, 0.1), Vec3(0.0, 0.0, 0.0))
    taut = tether_wrench(p, Vec3(0.0, 0.0, -10.3), quat_identity(), STILL, STILL)
    assert taut.force_frd_n.z == pytest.approx(500.0 * 0.2, rel=1e-9), "down, towards the anchor"
    slack = tether_wrench(p, Vec3(3.0, 0.0, -8.0), quat_identity(), STILL, STILL)
    assert slack.force_frd_n == STILL
    sideways = tether_wrench(p, Vec3(12.0, 0.0, -0.1), quat_from_euler_zyx(0.0, 0.0, 0.7), STILL, STILL)
    assert norm(sideways.force_frd_n) == pytest.approx(1000.0, rel=1e-9)
    assert math.atan2(sideways.force_frd_n.y, sideways.force_frd_n.x) == pytest.approx(math.pi - 0.7)


def test_energy_is_kept_over_slack_and_taut_without_a_damper():
    """A load without air that bounces on an undamped cable keeps its energy over slack and taut."""
    p = load_of(damping_n_s_m=0.0, stiffness_n_m=500.0)
    states = swing(p, LoadState(Vec3(0.4, 0.0, 1.5), Vec3(0.0, 0.5, 0.0)), 1.6, 5e-4)

    def energy(s):
        stretch = max(norm(s.pos_ned_m) - 2.0, 0.0)
        return 0.25 * norm(s.vel_ned_m_s) ** 2 - 0.5 * G * s.pos_ned_m.z + 250.0 * stretch**2

    assert max(norm(s.pos_ned_m) for s in states) > 2.05, "it went taut"
    assert min(norm(s.pos_ned_m) for s in states[1600:]) < 1.9, "and slack again"
    # a step across the kink of the spring loses its order: 1e-4 of the energy that moves (5 J)
    assert energy(states[-1]) == pytest.approx(energy(states[0]), abs=5e-4)


def test_engines_agree():
    p = load_of(drag_area_m2=0.02, attach_frd_m=Vec3(0.1, 0.0, 0.1), contact=ContactPoint(STILL, 1000.0, 20.0, 0.6))
    inputs = np.random.default_rng(9).uniform(-1.0, 1.0, size=(12, 128))

    def law(x):
        quat = quat_normalize(Quat(1.0, 0.3 * x[0], 0.3 * x[1], x[2]))
        load = LoadState(Vec3(x[3], x[4], 1.8 + 0.6 * x[5]), Vec3(x[6], x[7], x[8]))
        pos, vel = Vec3(0.2 * x[9], 0.1, 0.0), Vec3(x[10], x[11], x[0])
        return load_forces(p, load, pos, quat, vel, Vec3(x[1], x[2], x[3]), Vec3(3.0, 0.0, 0.0), 1.2, G, -2.0)

    floats = as_floats(law, inputs)
    slack = (np.abs(floats[:3]).sum(axis=0) == 0.0).mean()
    assert 0.1 < slack < 0.9
    assert as_lanes(law, inputs, Float64) == pytest.approx(floats, rel=1e-9, abs=1e-9)
    assert as_symbols(law, inputs) == pytest.approx(floats, rel=1e-9, abs=1e-9)
