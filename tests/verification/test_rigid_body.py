"""Euler's equations against closed forms and conservation laws."""

import math
from functools import partial

import numpy as np
import pytest

from fieldworthy.core.integrate import euler, rk4, semi_implicit_euler
from fieldworthy.core.rigid_body import (
    VELOCITY_FIELDS,
    RigidBodyState,
    exponential_step,
    normalised_step,
    rigid_body_rates,
    turn,
)
from fieldworthy.core.vec import (
    Mat3,
    Quat,
    Vec3,
    cross,
    dot,
    mat3_apply,
    mat3_diagonal,
    mat3_from_quat,
    norm,
    quat_conjugate,
    quat_from_rotation_vector,
    quat_identity,
    quat_multiply,
    rotate,
    rotate_inverse,
)

ZERO = Vec3(0.0, 0.0, 0.0)
ASYMMETRIC = Vec3(0.02, 0.03, 0.045)
TUMBLE = Vec3(1.0, 4.0, 2.0)
START = quat_from_rotation_vector(Vec3(0.3, -0.8, 1.1))
KEEPERS = {"normalised": normalised_step, "exponential": exponential_step}


def at_rest(rate=ZERO, quat=None):
    return RigidBodyState(ZERO, quat or quat_identity(), ZERO, rate)


def fly(keep, step, state, dt_s, steps, inertia=ASYMMETRIC, moment=ZERO, force=ZERO):
    def rate(s):
        return rigid_body_rates(s, force, moment, 2.0, inertia)

    for _ in range(steps):
        state = keep(step, rate, state, dt_s)
    return state


def angle_between(a, b):
    """Angle of the rotation from a to b [rad]."""
    d = quat_multiply(quat_conjugate(a), b)
    return 2.0 * math.asin(min(1.0, math.sqrt(d.x**2 + d.y**2 + d.z**2)))


def energy(state, inertia=ASYMMETRIC):
    w = state.rate_frd_rad_s
    return 0.5 * (inertia.x * w.x**2 + inertia.y * w.y**2 + inertia.z * w.z**2)


def momentum_ned(state, inertia=ASYMMETRIC):
    return rotate(state.quat_ned_from_frd, mat3_apply(mat3_diagonal(inertia), state.rate_frd_rad_s))


def test_a_thrown_body_flies_a_parabola():
    """RK4 is exact for it: p = v t + g t^2 / 2 (down positive)."""
    start = RigidBodyState(Vec3(1.0, 2.0, -3.0), quat_identity(), Vec3(4.0, 0.0, -10.0), ZERO)
    end = fly(normalised_step, rk4, start, 0.1, 20, force=Vec3(0.0, 0.0, 2.0 * 9.81))
    assert list(end.pos_ned_m) == pytest.approx([9.0, 2.0, -3.0 - 20.0 + 0.5 * 9.81 * 4.0], abs=1e-12)
    assert list(end.vel_ned_m_s) == pytest.approx([4.0, 0.0, -10.0 + 9.81 * 2.0], abs=1e-12)


def test_a_moment_turns_about_its_own_axis():
    """Positive roll moment: right wing down. Positive yaw moment: nose from north to east. Angle M t^2 / (2 I)."""
    rolled = fly(exponential_step, rk4, at_rest(), 0.05, 20, moment=Vec3(0.02, 0.0, 0.0))
    assert rolled.rate_frd_rad_s.x == pytest.approx(1.0, abs=1e-14)
    assert list(rotate(rolled.quat_ned_from_frd, Vec3(0.0, 1.0, 0.0))) == pytest.approx(
        [0.0, math.cos(0.5), math.sin(0.5)], abs=1e-13
    )
    yawed = fly(exponential_step, rk4, at_rest(), 0.05, 20, moment=Vec3(0.0, 0.0, 0.045))
    assert list(rotate(yawed.quat_ned_from_frd, Vec3(1.0, 0.0, 0.0))) == pytest.approx(
        [math.cos(0.5), math.sin(0.5), 0.0], abs=1e-13
    )


@pytest.mark.parametrize("step", [euler, partial(semi_implicit_euler, velocity_fields=VELOCITY_FIELDS), rk4])
def test_exponential_map_is_exact_at_a_constant_rate(step):
    """A sphere turns at a constant rate for ever: q = q0 exp(w t), with any integrator and any step."""
    sphere = Vec3(0.02, 0.02, 0.02)
    end = fly(exponential_step, step, at_rest(TUMBLE, START), 0.1, 50, inertia=sphere)
    assert angle_between(end.quat_ned_from_frd, turn(START, TUMBLE, 5.0)) < 1e-13


def test_normalised_euler_turns_by_twice_the_arctangent():
    """One step multiplies by 1 + (0, w) dt/2, which is a turn by 2 atan(|w| dt/2): short by (w dt)^3 / 12."""
    sphere = Vec3(0.02, 0.02, 0.02)
    dt, steps = 0.02, 50
    end = fly(normalised_step, euler, at_rest(TUMBLE, START), dt, steps, inertia=sphere)
    angle = 2.0 * math.atan(norm(TUMBLE) * dt / 2.0) * steps
    expected = quat_multiply(START, quat_from_rotation_vector(TUMBLE * (angle / norm(TUMBLE))))
    assert angle_between(end.quat_ned_from_frd, expected) < 1e-13
    assert angle_between(end.quat_ned_from_frd, turn(START, TUMBLE, 1.0)) > 1e-3


def symmetric_top(t_s, quat, rate, inertia):
    """Attitude and rate of a torque-free body with equal x and y inertias, any time.

    Equation: q(t) = exp(L t / I_t) q0 exp(z w_z (1 - I_a/I_t) t), L the angular momentum in the world frame.
    Source: Goldstein, Classical Mechanics, 3rd ed., section 5.6
    """
    momentum = rotate(quat, mat3_apply(mat3_diagonal(inertia), rate))
    spin = rate.z * (1.0 - inertia.z / inertia.x)
    about_itself = quat_from_rotation_vector(Vec3(0.0, 0.0, spin * t_s))
    precession = quat_from_rotation_vector(momentum * (t_s / inertia.x))
    return quat_multiply(quat_multiply(precession, quat), about_itself), rotate_inverse(about_itself, rate)


@pytest.mark.parametrize("keep", KEEPERS)
@pytest.mark.parametrize("axial", [0.012, 0.05])
def test_symmetric_top_precesses_as_the_closed_form(keep, axial):
    inertia = Vec3(0.03, 0.03, axial)
    rate = Vec3(0.8, -0.5, 5.0)
    end = fly(KEEPERS[keep], rk4, at_rest(rate, START), 0.005, 600, inertia=inertia)
    quat, omega = symmetric_top(3.0, START, rate, inertia)
    assert list(end.rate_frd_rad_s) == pytest.approx(list(omega), abs=1e-8)
    assert angle_between(end.quat_ned_from_frd, quat) < 2e-8


@pytest.mark.parametrize("keep", KEEPERS)
@pytest.mark.parametrize(("step", "order"), [(euler, 1), (rk4, 4)])
def test_order_of_the_attitude(keep, step, order):
    inertia = Vec3(0.03, 0.03, 0.05)
    rate = Vec3(1.5, -1.0, 3.0)
    counts = [64, 128, 256] if order == 4 else [400, 800, 1600]
    exact, _ = symmetric_top(1.0, START, rate, inertia)
    errors = [
        angle_between(
            fly(KEEPERS[keep], step, at_rest(rate, START), 1.0 / n, n, inertia=inertia).quat_ned_from_frd, exact
        )
        for n in counts
    ]
    slope = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert slope == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize("keep", KEEPERS)
def test_free_tumbling_keeps_energy_and_momentum_to_the_order_of_rk4(keep):
    """Drift falls by 16 (global error, order 4) to 32 (one order more, as for oscillations) when dt is halved."""
    start = at_rest(TUMBLE, START)
    drifts = []
    for dt in (0.04, 0.02, 0.01):
        end = fly(KEEPERS[keep], rk4, start, dt, round(4.0 / dt))
        energy_drift = abs(energy(end) / energy(start) - 1.0)
        momentum_drift = norm(momentum_ned(end) - momentum_ned(start)) / norm(momentum_ned(start))
        drifts.append((energy_drift, momentum_drift))
    for (energy_1, momentum_1), (energy_2, momentum_2) in zip(drifts, drifts[1:], strict=False):
        assert 14.0 < energy_1 / energy_2 < 40.0
        assert 14.0 < momentum_1 / momentum_2 < 40.0
    assert max(drifts[-1]) < 1e-6


def complete_elliptic_k(k2):
    """K by the arithmetic-geometric mean: pi / (2 agm(1, sqrt(1 - k^2)))."""
    a, b = 1.0, math.sqrt(1.0 - k2)
    for _ in range(8):
        a, b = (a + b) / 2.0, math.sqrt(a * b)
    return math.pi / (2.0 * a)


def test_asymmetric_body_returns_after_its_polhode_period():
    """Poinsot: the rates are Jacobi elliptic functions of period 4 K(k) / p.

    Source: Landau and Lifshitz, Mechanics, section 37, for L^2 > 2 E I_2 (around the axis of the largest inertia)
    """
    i1, i2, i3 = ASYMMETRIC
    rate = Vec3(1.0, 1.5, 4.0)
    twice_energy = i1 * rate.x**2 + i2 * rate.y**2 + i3 * rate.z**2
    momentum2 = (i1 * rate.x) ** 2 + (i2 * rate.y) ** 2 + (i3 * rate.z) ** 2
    assert momentum2 > twice_energy * i2
    p = math.sqrt((i3 - i2) * (momentum2 - twice_energy * i1) / (i1 * i2 * i3))
    k2 = (i2 - i1) * (twice_energy * i3 - momentum2) / ((i3 - i2) * (momentum2 - twice_energy * i1))
    period = 4.0 * complete_elliptic_k(k2) / p
    end = fly(normalised_step, rk4, at_rest(rate), period / 1000, 1000)
    assert list(end.rate_frd_rad_s) == pytest.approx(list(rate), abs=1e-8)
    half = fly(normalised_step, rk4, at_rest(rate), period / 1000, 500)
    assert list(half.rate_frd_rad_s) == pytest.approx([-rate.x, -rate.y, rate.z], abs=1e-8)


def test_spin_about_the_middle_axis_grows_at_the_textbook_rate():
    """Small disturbances grow as cosh(s t), s = w sqrt((I2 - I1)(I3 - I2) / (I1 I3))."""
    i1, i2, i3 = ASYMMETRIC
    w, disturbance, t = 5.0, 1e-9, 1.0
    s = w * math.sqrt((i2 - i1) * (i3 - i2) / (i1 * i3))
    end = fly(normalised_step, rk4, at_rest(Vec3(disturbance, w, 0.0)), 0.002, 500)
    assert end.rate_frd_rad_s.x == pytest.approx(disturbance * math.cosh(s * t), rel=1e-6)


def test_full_inertia_matrix_is_the_same_body_in_turned_axes():
    """Turn the body axes by q_b: inertia becomes R I R^T, the motion in the world stays."""
    body_turn = quat_from_rotation_vector(Vec3(0.4, 0.9, -0.2))  # new axes from principal axes
    r = np.array(list(mat3_from_quat(body_turn))).reshape(3, 3)
    inertia = Mat3(*(r @ np.diag(list(ASYMMETRIC)) @ r.T).ravel().tolist())
    moment = Vec3(0.03, -0.01, 0.02)
    principal = fly(normalised_step, rk4, at_rest(TUMBLE, START), 0.01, 100, moment=moment)
    turned_start = at_rest(rotate(body_turn, TUMBLE), quat_multiply(START, quat_conjugate(body_turn)))
    turned = fly(normalised_step, rk4, turned_start, 0.01, 100, inertia, rotate(body_turn, moment))
    back = quat_multiply(turned.quat_ned_from_frd, body_turn)
    assert angle_between(back, principal.quat_ned_from_frd) < 1e-12
    assert list(rotate_inverse(body_turn, turned.rate_frd_rad_s)) == pytest.approx(
        list(principal.rate_frd_rad_s), abs=1e-11
    )


def test_power_of_force_and_moment_is_the_change_of_energy():
    """d/dt (m v^2 / 2 + w I w / 2) = F v + M w for any state: the gyroscopic term does no work."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        v, w, f, m = (Vec3(*map(float, rng.normal(size=3))) for _ in range(4))
        state = RigidBodyState(ZERO, START, v, w)
        rates = rigid_body_rates(state, f, m, 2.0, ASYMMETRIC)
        i_alpha = mat3_apply(mat3_diagonal(ASYMMETRIC), rates.rate_frd_rad_s)
        power = 2.0 * dot(v, rates.vel_ned_m_s) + dot(w, i_alpha)
        assert power == pytest.approx(dot(f, v) + dot(m, w), abs=1e-12)
        assert list(i_alpha + cross(w, mat3_apply(mat3_diagonal(ASYMMETRIC), w))) == pytest.approx(list(m), abs=1e-14)


@pytest.mark.parametrize("keep", KEEPERS)
def test_every_quaternion_of_a_larger_state_is_kept(keep):
    """A vehicle with a gimbal: two attitudes and a lag in one tree."""
    state = {"body": at_rest(TUMBLE, START), "gimbal": (Quat(1.0, 0.0, 0.0, 0.0), 0.5)}

    def rate(s):
        gimbal, lag = s["gimbal"]
        spin = quat_multiply(gimbal, Quat(0.0, 0.0, 0.0, 2.0)) * 0.5
        return {"body": rigid_body_rates(s["body"], ZERO, ZERO, 2.0, ASYMMETRIC), "gimbal": (spin, -lag)}

    for _ in range(100):
        state = KEEPERS[keep](rk4, rate, state, 0.01)
    for quat in (state["body"].quat_ned_from_frd, state["gimbal"][0]):
        assert sum(c * c for c in quat) == pytest.approx(1.0, abs=1e-13)
    assert angle_between(state["gimbal"][0], turn(quat_identity(), Vec3(0.0, 0.0, 2.0), 1.0)) < 1e-8
    assert state["gimbal"][1] == pytest.approx(0.5 * math.exp(-1.0), abs=1e-9)
    alone = fly(KEEPERS[keep], rk4, at_rest(TUMBLE, START), 0.01, 100)
    assert state["body"] == alone
