"""Thrust, torque, drag and the momentum of spinning rotors against closed forms and conservation laws."""

import math
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest
from drjit.llvm.ad import Float, Float64

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.core.integrate import rk4
from fieldworthy.core.rigid_body import RigidBodyState, normalised_step, rigid_body_rates
from fieldworthy.core.struct import leaves, map_leaves
from fieldworthy.core.vec import Mat3, Quat, Vec3, cross, mat3_apply, normalize, rotate
from fieldworthy.vehicles.motor import speed_rate
from fieldworthy.vehicles.rotor import (
    RotorOptions,
    RotorParameters,
    gyroscopic_moment,
    rotor_power_w,
    rotor_spin_reaction,
    rotor_thrust_n,
    rotor_wrench,
)
from fieldworthy.vehicles.rotor_proximity import RotorSurroundings
from fieldworthy.vehicles.rotor_set import rotors_wrench, spin_reaction, weighted_sum

UP = Vec3(0.0, 0.0, -1.0)
STILL = Vec3(0.0, 0.0, 0.0)
HOVER_RAD_S = 6432.0 * math.tau / 60.0
ARM_M = 0.2


def rotor(x=0.0, y=0.0, spin=1.0, **changes):
    numbers = {
        "pos_frd_m": Vec3(x, y, 0.0), "axis_frd": UP, "spin": spin, "thrust_coefficient_n_s2": 1.08116e-5,
        "torque_ratio_m": 0.016, "radius_m": 0.127, "speed_max_rad_s": 1000.0,
        "drag_coefficient_n_s2_m": 1e-4, "axial_inertia_kg_m2": 5e-5,
    }  # fmt: skip
    return RotorParameters(**{**numbers, **changes})


def quad(**changes):
    """Front right, rear left (turning left seen from above: +1 about the upward shaft), front left, rear right."""
    a = ARM_M
    corners = [(a, a, 1.0), (-a, -a, 1.0), (a, -a, -1.0), (-a, a, -1.0)]
    return [rotor(x, y, spin, **changes) for x, y, spin in corners]


def odd_rotors():
    """Six unlike rotors with tilted shafts, one of them a pusher, none sharing anything."""
    rng = np.random.default_rng(3)
    found = []
    for i in range(6):
        pos, lean = rng.uniform(-0.4, 0.4, 3), rng.uniform(-0.3, 0.3, 2)
        axis = Vec3(1.0, 0.0, 0.0) if i == 5 else normalize(Vec3(*(float(v) for v in lean), -1.0))
        found.append(
            rotor(
                spin=1.0 if i % 2 else -1.0,
                pos_frd_m=Vec3(*(float(v) for v in pos)),
                axis_frd=axis,
                thrust_coefficient_n_s2=1e-5 * (1.0 + 0.1 * i),
                inflow_coefficient_n_s2_m=1e-4 + 1e-5 * i,
                flapping_gain=0.3,
                flapping_cross_gain=0.05,
                flapping_hub_arm_m=0.01,
                effectiveness=1.0 - 0.1 * i,
                axial_inertia_kg_m2=4e-5 + 1e-5 * i,
                drag_coefficient_n_s2_m=1e-4 + 1e-5 * i,
            )
        )
    return found


def test_four_rotors_at_6432_rpm_carry_two_kilograms():
    """Thrust coefficient from weight and speed: 2 kg 9.81 m/s2 / (4 (673.6 rad/s)^2) = 1.08116e-5 N s2."""
    wrench = rotors_wrench(RotorOptions(drag=True), quad(), [HOVER_RAD_S] * 4, STILL, STILL, 1.225)
    # The coefficient is given to six digits.
    assert wrench.force_frd_n.z == pytest.approx(-2.0 * 9.81, rel=5e-6)
    assert list(wrench.moment_frd_n_m) == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


def test_moments_have_the_signs_of_a_quadrotor():
    def moment(faster):
        speeds = [700.0 if i in faster else 600.0 for i in range(4)]
        return rotors_wrench(RotorOptions(), quad(), speeds, STILL, STILL, 1.225).moment_frd_n_m

    assert moment({0, 2}).y > 0.0, "front rotors faster: nose up"
    assert moment({1, 2}).x > 0.0, "left rotors faster: right wing down"
    assert moment({0, 1}).z > 0.0, "rotors that turn left seen from above push the nose right"
    assert moment({0, 2}).y == pytest.approx(ARM_M * 2.0 * 1.08116e-5 * (700.0**2 - 600.0**2), rel=1e-12)
    assert moment({0, 1}).z == pytest.approx(0.016 * 2.0 * 1.08116e-5 * (700.0**2 - 600.0**2), rel=1e-12)


def test_thrust_torque_and_power_scale_with_density_and_effectiveness():
    p, options, velocity = rotor(0.1, 0.2), RotorOptions(drag=True), Vec3(5.0, 1.0, 2.0)

    def wrench(density, effectiveness):
        worn = replace(p, effectiveness=effectiveness)
        return np.array(leaves(rotor_wrench(options, worn, 600.0, velocity, STILL, density)))

    assert 2.0 * wrench(0.6125, 1.0) == pytest.approx(wrench(1.225, 1.0), rel=1e-12)
    assert wrench(1.225, 0.5) == pytest.approx(wrench(0.6125, 1.0), rel=1e-12)
    assert np.abs(wrench(1.225, 0.0)).max() == 0.0


def test_power_is_torque_times_speed():
    p = rotor()
    assert rotor_thrust_n(p, HOVER_RAD_S, 1.225) == pytest.approx(0.5 * 9.81, rel=5e-6)
    wrench = rotor_wrench(RotorOptions(), p, 650.0, STILL, STILL, 1.1)
    assert rotor_power_w(p, 650.0, 1.1) == pytest.approx(abs(wrench.moment_frd_n_m.z) * 650.0, rel=1e-12)


def test_rotor_drag_slows_a_quadrotor_exponentially():
    """m v' = -4 k_d w v: after 10 s at hover speed v = v0 exp(-4 k_d w t/m)."""
    options, rotors = RotorOptions(drag=True), quad()

    def rate(v):
        return rotors_wrench(options, rotors, [HOVER_RAD_S] * 4, Vec3(v, 0.0, 0.0), STILL, 1.225).force_frd_n.x / 2.0

    v = 10.0
    for _ in range(100):
        v = rk4(rate, v, 0.1)
    # RK4 with h/tau = 0.0135: error about (h/tau)^5/120 a step.
    assert v == pytest.approx(10.0 * math.exp(-4.0 * 1e-4 * HOVER_RAD_S * 10.0 / 2.0), rel=1e-8)
    climbing = rotors_wrench(options, rotors, [HOVER_RAD_S] * 4, Vec3(0.0, 0.0, -8.0), STILL, 1.225)
    still = rotors_wrench(options, rotors, [HOVER_RAD_S] * 4, STILL, STILL, 1.225)
    assert leaves(climbing) == leaves(still), "drag acts across the shaft only"


def test_drag_at_the_hub_damps_turning():
    """Yaw rate r, hubs at distance d: M = -4 k_d w d^2 r."""
    options = RotorOptions(drag=True, drag_at_hub=True)
    rate = Vec3(0.0, 0.0, 2.0)
    moment = rotors_wrench(options, quad(), [HOVER_RAD_S] * 4, STILL, rate, 1.225).moment_frd_n_m
    d_sq = 2.0 * ARM_M**2
    assert moment.z == pytest.approx(-4.0 * 1e-4 * HOVER_RAD_S * d_sq * 2.0, rel=1e-12)
    lumped = rotors_wrench(RotorOptions(drag=True), quad(), [HOVER_RAD_S] * 4, STILL, rate, 1.225)
    assert abs(lumped.moment_frd_n_m.z) < 1e-12


@dataclass
class Spun:
    body: RigidBodyState
    speeds: tuple


def test_angular_momentum_is_conserved():
    """No air: rotors spin up, brake and precess with a tumbling body; momentum of body plus rotors stays, in NED."""
    inertia = Mat3(0.0143, -0.001, 0.0005, -0.001, 0.0143, 0.0, 0.0005, 0.0, 0.026)
    rotors = [
        replace(p, effectiveness=0.0, axial_inertia_kg_m2=3e-4, lag_up_s=0.02 * (i + 1), lag_down_s=0.05)
        for i, p in enumerate(odd_rotors())
    ]
    commanded = [900.0, 200.0, 500.0, 0.0, 700.0, 300.0]
    options = RotorOptions(gyroscopic=True)

    def rate(s):
        dots = tuple(speed_rate(p, w, c) for p, w, c in zip(rotors, s.speeds, commanded, strict=True))
        wrench = rotors_wrench(options, rotors, s.speeds, STILL, s.body.rate_frd_rad_s, 1.225)
        moment = wrench.moment_frd_n_m + spin_reaction(rotors, dots)
        return Spun(rigid_body_rates(s.body, STILL, moment, 2.0, inertia), dots)

    def momentum(s):
        total = mat3_apply(inertia, s.body.rate_frd_rad_s)
        for p, w in zip(rotors, s.speeds, strict=True):
            total = total + p.axis_frd * (p.spin * p.axial_inertia_kg_m2 * w)
        return np.array(list(rotate(s.body.quat_ned_from_frd, total)))

    body = RigidBodyState(STILL, Quat(1.0, 0.0, 0.0, 0.0), STILL, Vec3(3.0, -1.0, 2.0))
    s = Spun(body, (0.0, 600.0, 100.0, 400.0, 300.0, 300.0))
    before, rate_before = momentum(s), np.array(list(body.rate_frd_rad_s))
    for _ in range(1000):
        s = normalised_step(rk4, rate, s, 0.0005)
    assert np.linalg.norm(np.array(list(s.body.rate_frd_rad_s)) - rate_before) > 1.0, "rotors must have moved the body"
    # RK4 at 0.5 ms with rates of 10 rad/s and lags of 20 ms: (h/tau)^5 a step, under 1e-8 in all.
    assert np.abs(momentum(s) - before).max() < 1e-7 * np.abs(before).max()


def test_a_spinning_rotor_precesses_to_the_right_side():
    """Spun about +z (down), a body that pitches nose up feels a moment that rolls it: M = -W x h = -(q h) x."""
    moment = gyroscopic_moment(Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0), 500.0, 1e-4)
    assert list(moment) == pytest.approx([-0.05, 0.0, 0.0], abs=1e-15)


def test_a_body_turns_against_its_rotor():
    """From rest, a motor that brings I_r to w leaves the body at -I_r w/I_z."""
    p = rotor(spin=-1.0, axial_inertia_kg_m2=2e-4)
    down = rotor_spin_reaction(p, 1000.0)
    assert list(down) == pytest.approx([0.0, 0.0, -0.2], abs=1e-15)


EFFECTS = [
    RotorOptions(), RotorOptions(drag=True), RotorOptions(drag=True, gyroscopic=True),
    RotorOptions(drag=True, drag_at_hub=True, flapping=True, inflow=True),
    RotorOptions(True, True, True, True, True, True, True, True),
]  # fmt: skip
NEAR = RotorSurroundings(0.2, 0.3, 0.25, Vec3(0.6, 0.8, 0.0))


@pytest.mark.parametrize("options", EFFECTS)
@pytest.mark.parametrize("rotors", [quad(), odd_rotors()], ids=["quad", "odd"])
def test_set_is_the_sum_of_rotors(options, rotors):
    velocity, rate = Vec3(6.0, -2.0, 1.0), Vec3(0.5, -1.5, 2.0)
    speeds = [500.0 + 40.0 * i for i in range(len(rotors))]
    near = [NEAR] * len(rotors)
    expected = np.zeros(6)
    for p, w in zip(rotors, speeds, strict=True):
        hub = velocity + cross(rate, p.pos_frd_m) if options.hub_motion else velocity
        expected += leaves(rotor_wrench(options, p, w, hub, rate, 1.1, NEAR))
    got = leaves(rotors_wrench(options, rotors, speeds, velocity, rate, 1.1, near))
    assert got == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("options", EFFECTS)
def test_engines_agree(options):
    """The same on floats, Dr.Jit lanes and CasADi, at rest and at zero rotor speed too."""
    rng = np.random.default_rng(5)
    inputs = rng.uniform(-1.0, 1.0, (13, 64))
    inputs[:, 0] = 0.0

    def law(x):
        speeds = [500.0 * (v + v * v) * v for v in x[:6]]
        velocity, rate = Vec3(9.0 * x[6], 9.0 * x[7], 9.0 * x[8]), Vec3(*x[9:12])
        near = [RotorSurroundings(0.2 + x[12] * x[12], 0.3, 0.1, Vec3(1.0, 0.0, 0.0))] * 6
        return leaves(rotors_wrench(options, odd_rotors(), speeds, velocity, rate, 1.225, near))

    expected = as_floats(law, inputs)
    assert np.isfinite(expected).all()
    assert as_lanes(law, inputs, Float64) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert as_lanes(law, inputs, Float) == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert as_symbols(law, inputs) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    x = ca.SX.sym("x", 13)
    outputs = ca.vertcat(*law([x[i] for i in range(13)]))
    slopes = ca.Function("g", [x], [ca.jacobian(outputs, x)])(inputs[:, 0])
    assert np.isfinite(np.array(slopes)).all(), "gradients at rest are finite"


def operations(options):
    """How many arithmetic operations the wrench of the reference quadrotor takes."""
    x = ca.SX.sym("x", 10)
    parts = [x[i] for i in range(10)]
    near = [RotorSurroundings(parts[6], 5.0, 5.0)] * 4
    wrench = rotors_wrench(options, quad(), parts[:4], Vec3(*parts[3:6]), Vec3(*parts[7:10]), 1.225, near)
    f = ca.Function("f", [x], [ca.vertcat(*leaves(wrench))])
    moves = (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_PARAMETER)
    return sum(f.instruction_id(k) not in moves for k in range(f.n_instructions()))


def test_effects_that_are_off_cost_nothing():
    """By hand: 4 squares, thrust and three moments 3 sums and a product each, drag 3 sums, 3 products: 26 and signs."""
    assert operations(RotorOptions(drag=True)) <= 32
    assert operations(RotorOptions()) < operations(RotorOptions(drag=True))
    for name in ("flapping", "inflow", "ground_effect", "ceiling_effect", "gyroscopic"):
        assert operations(RotorOptions(drag=True, **{name: True})) > operations(RotorOptions(drag=True))


def test_weighted_sum_is_a_dot_product():
    values = [2.0, 3.0, 5.0]
    assert weighted_sum([0.5, -0.5, 0.5], values) == 2.0
    assert weighted_sum([-0.5, -0.5, 0.5], values) == 0.0
    assert weighted_sum([1.0, 2.0, 0.0], values) == 8.0
    assert weighted_sum([0.0, 0.0, 0.0], values) == 0.0


def test_parameters_may_be_lanes():
    """Every number of a rotor as an array of lanes gives what the plain numbers give."""
    options, velocity, rate = EFFECTS[-1], Vec3(3.0, -1.0, 0.5), Vec3(0.4, 0.3, -0.2)
    rotors, speeds = odd_rotors(), [600.0] * 6
    for chosen in (options, RotorOptions(drag=True, gyroscopic=True)):
        expected = leaves(rotors_wrench(chosen, rotors, speeds, velocity, rate, 1.1, [NEAR] * 6))
        lanes = map_leaves(lambda v: Float64([v, v]), rotors)
        got = leaves(rotors_wrench(chosen, lanes, speeds, velocity, rate, Float64(1.1), [NEAR] * 6))
        assert np.array([np.asarray(v)[1] for v in got]) == pytest.approx(np.array(expected), rel=1e-11, abs=1e-11)
