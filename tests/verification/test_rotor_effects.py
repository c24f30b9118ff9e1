"""Flapping, inflow, surfaces and vibration against an integrated blade, momentum balances and published numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from drjit.llvm.ad import Float, Float64

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.core.vec import Vec3, cross, dot, normalize
from fieldworthy.vehicles.rotor import RotorOptions, RotorParameters, rotor_wrench
from fieldworthy.vehicles.rotor_flapping import disc_tilt_speed
from fieldworthy.vehicles.rotor_proximity import (
    FAR_M,
    RotorSurroundings,
    ceiling_gain,
    ground_gain,
    induced_velocity_per_speed_m,
    wall_flow_m_s,
)
from fieldworthy.vehicles.rotor_set import rotors_wrench
from fieldworthy.vehicles.rotor_vibration import advance_phase_rad, shaft_frame, vibration_force
from fieldworthy.verify.rotors import CHECKS

STILL = Vec3(0.0, 0.0, 0.0)
UP = Vec3(0.0, 0.0, -1.0)
ROTOR = RotorParameters(
    pos_frd_m=Vec3(0.0, 0.0, -0.05), axis_frd=UP, spin=1.0, thrust_coefficient_n_s2=1.08116e-5, torque_ratio_m=0.016,
    radius_m=0.127, speed_max_rad_s=1000.0, drag_coefficient_n_s2_m=1e-4, inflow_coefficient_n_s2_m=1.5e-4,
    flapping_gain=0.3, flapping_cross_gain=0.05, flapping_hub_arm_m=0.02, lock_number=5.0, imbalance_kg_m=2e-6,
    blade_pass_ratio=0.02,
)  # fmt: skip
HOVER_RAD_S = 6432.0 * math.tau / 60.0


def disc_tilt_of_a_hinged_blade(spin, velocity, rate, speed, radius, lock, pitch):
    """Tilt of the disc after the transient, by integrating one rigid blade on a central hinge (vector mechanics).

    Blade direction b = e_r cos(beta) + a sin(beta) in the body, which turns at `rate`: the equation of the hinge is the
    part of b's inertial acceleration along db/dbeta, with lift rho/2 c a_l U_T (pitch U_T - U_P) along the span.
    """
    a, e1 = np.array([0.0, 0.0, -1.0]), np.array([1.0, 0.0, 0.0])
    e2 = np.cross(a, e1)
    hub = velocity / (speed * radius)

    def acceleration(psi, beta, beta_dot):
        radial = math.cos(psi) * e1 + spin * math.sin(psi) * e2
        ahead = speed * (-math.sin(psi) * e1 + spin * math.cos(psi) * e2)
        b = radial * math.cos(beta) + a * math.sin(beta)
        n = -radial * math.sin(beta) + a * math.cos(beta)
        b_dot = n * beta_dot + ahead * math.cos(beta)
        b_ddot = -b * beta_dot**2 - 2.0 * ahead * math.sin(beta) * beta_dot - radial * speed**2 * math.cos(beta)
        inertial = b_ddot + 2.0 * np.cross(rate, b_dot) + np.cross(rate, np.cross(rate, b))
        ahead_hub = hub @ ahead / speed
        flap = n @ (b_dot + np.cross(rate, b)) / speed
        rise = n @ hub
        lift = pitch * (1 / 4 + 2 * ahead_hub / 3 + ahead_hub**2 / 2)
        lift -= flap * (1 / 4 + ahead_hub / 3) + rise * (1 / 3 + ahead_hub / 2)
        return -n @ inertial + lock / 2.0 * speed**2 * lift

    per_turn, beta, beta_dot = 48, 0.0, 0.0
    h = math.tau / per_turn / speed
    tilt = np.zeros(3)
    for k in range(9 * per_turn):
        psi = k * math.tau / per_turn
        k1 = beta_dot, acceleration(psi, beta, beta_dot)
        k2 = beta_dot + h / 2 * k1[1], acceleration(psi + speed * h / 2, beta + h / 2 * k1[0], beta_dot + h / 2 * k1[1])
        k3 = beta_dot + h / 2 * k2[1], acceleration(psi + speed * h / 2, beta + h / 2 * k2[0], beta_dot + h / 2 * k2[1])
        k4 = beta_dot + h * k3[1], acceleration(psi + speed * h, beta + h * k3[0], beta_dot + h * k3[1])
        if k >= 8 * per_turn:
            radial = math.cos(psi) * e1 + spin * math.sin(psi) * e2
            # A blade that rises by beta on this side and falls on the other tips the disc the other way.
            tilt -= 2.0 * beta * radial / per_turn
        beta += h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        beta_dot += h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
    return tilt


@pytest.mark.parametrize("spin", [1.0, -1.0])
@pytest.mark.parametrize("motion", ["moving", "turning"])
def test_disc_tilts_as_an_integrated_blade_does(spin, motion):
    """Gains of a flat-inflow hinged blade: A1 = 8/3 pitch, A2 = 4/3 coning, coning = gamma pitch/8 (Leishman 2006)."""
    speed, radius, lock, pitch = 200.0, 0.5, 6.0, 0.03
    velocity = np.array([1.5, 0.8, 0.0]) if motion == "moving" else np.zeros(3)
    rate = np.array([0.3, 0.5, 0.0]) if motion == "turning" else np.zeros(3)
    expected = disc_tilt_of_a_hinged_blade(spin, velocity, rate, speed, radius, lock, pitch)
    coning = lock * pitch / 8.0
    got = disc_tilt_speed(
        Vec3(*velocity.tolist()), Vec3(*rate.tolist()), UP, spin, radius, 8.0 / 3.0 * pitch, 4.0 / 3.0 * coning, lock
    )
    got = np.array(list(got)) / speed
    assert np.linalg.norm(expected) > 1e-3
    # The law is the first order in advance ratio (0.017), turn rate over speed (0.003) and coning (0.02).
    assert got == pytest.approx(expected, abs=0.03 * np.linalg.norm(expected))


def test_flapping_pushes_back_and_damps_pitch():
    options = RotorOptions(flapping=True)
    ahead = rotor_wrench(options, ROTOR, HOVER_RAD_S, Vec3(5.0, 0.0, 0.0), STILL, 1.225)
    assert ahead.force_frd_n.x < 0.0
    assert ahead.moment_frd_n_m.y > 0.0, "a disc above the centre of mass that tips back pitches the nose up"
    nose_up = rotor_wrench(options, ROTOR, HOVER_RAD_S, STILL, Vec3(0.0, 1.0, 0.0), 1.225)
    assert nose_up.moment_frd_n_m.y < 0.0
    stopped = rotor_wrench(options, ROTOR, 0.0, Vec3(5.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), 1.225)
    assert list(stopped.force_frd_n) == [0.0, 0.0, 0.0]


def test_a_stiff_hub_leans_with_its_disc():
    """Hub in the centre of mass: the only pitch moment is thrust times hub arm times the backward tilt A1 v/(w R)."""
    p = replace(ROTOR, pos_frd_m=STILL, flapping_cross_gain=0.0)
    ahead = rotor_wrench(RotorOptions(flapping=True), p, HOVER_RAD_S, Vec3(5.0, 0.0, 0.0), STILL, 1.225)
    tilt_rad = 0.3 * 5.0 / (HOVER_RAD_S * 0.127)
    assert ahead.moment_frd_n_m.y == pytest.approx(0.02 * 4.905 * tilt_rad, rel=1e-5)


def test_sideways_flapping_of_counter_rotating_rotors_cancels():
    options = RotorOptions(flapping=True)
    pair = [replace(ROTOR, spin=s) for s in (1.0, -1.0)]
    both = rotors_wrench(options, pair, [700.0, 700.0], Vec3(6.0, 0.0, 0.0), STILL, 1.225)
    one = rotor_wrench(options, pair[0], 700.0, Vec3(6.0, 0.0, 0.0), STILL, 1.225)
    assert one.force_frd_n.y > 1e-3, "turning left seen from above, the disc tips to its advancing, right side"
    assert abs(both.force_frd_n.y) < 1e-12


def test_climb_takes_thrust_away():
    """dT/dv = -k_i w, with climb along the shaft only."""
    options = RotorOptions(inflow=True)
    still = rotor_wrench(options, ROTOR, 700.0, STILL, STILL, 1.225).force_frd_n.z
    climb = rotor_wrench(options, ROTOR, 700.0, Vec3(4.0, 0.0, -3.0), STILL, 1.225).force_frd_n.z
    assert climb - still == pytest.approx(1.5e-4 * 700.0 * 3.0, rel=1e-12)


def test_induced_velocity_of_the_reference_rotor():
    """Momentum theory: 4.905 N through a disc of 10 inches at 1.225 kg/m3, v = sqrt(4.905/(2 1.225 0.05067))."""
    v = HOVER_RAD_S * induced_velocity_per_speed_m(1.08116e-5, 0.127)
    assert v == pytest.approx(math.sqrt(4.905 / (2.0 * 1.225 * 0.0506707)), rel=1e-5)


@pytest.mark.parametrize(("z_over_r", "gain"), [(0.5, 4.0 / 3.0), (1.0, 16.0 / 15.0), (2.0, 64.0 / 63.0)])
def test_ground_effect_of_cheeseman_and_bennett(z_over_r, gain):
    assert ground_gain(z_over_r * 0.127, 0.127, 6.0, 0.0) == pytest.approx(gain, rel=1e-9)


def test_ground_effect_fades_with_speed_and_stays_finite():
    assert ground_gain(0.127, 0.127, 6.0, 36.0) == pytest.approx(1.0 / (1.0 - 1.0 / 32.0), rel=1e-9)
    assert ground_gain(0.127, 0.127, 6.0, 1e4) == pytest.approx(1.0, abs=1e-3)
    for height in (0.03, 0.0, -5.0):
        assert ground_gain(height, 0.127, 6.0, 0.0) == pytest.approx(4.0 / 3.0)
    assert ground_gain(0.1, 0.127, 0.0, 0.0) == 1.0
    assert ground_gain(FAR_M, 0.127, 6.0, 0.0) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("d_over_r", [0.15, 0.5, 1.0, 3.0])
def test_ceiling_effect_is_a_momentum_balance(d_over_r):
    """Air flows in between ceiling and disc; its suction on the ceiling holds back some of the thrust.

    Bernoulli: T = rho/2 A v_e^2. Momentum: T - S = rho A v_i v_e with S the suction that holds the air up, summed over
    rings. Solved by bisection for the wake, then compared at equal power T v_i with the free rotor.
    """
    radii = (np.arange(2000) + 0.5) / 2000
    sideways = radii / (2.0 * d_over_r)
    suction = np.sum(0.5 * sideways**2 * 2.0 * radii) / 2000
    low, high = 2.0, 200.0
    for _ in range(80):
        wake = 0.5 * (low + high)
        # In units of rho A = 1, v_i = 1.
        low, high = (wake, high) if 0.5 * wake**2 - suction < wake else (low, wake)
    thrust = 0.5 * wake**2
    power = thrust
    gain = thrust / (power * math.sqrt(2.0)) ** (2.0 / 3.0)  # free rotor: P = T^(3/2)/sqrt(2 rho A)
    assert ceiling_gain(d_over_r * 0.1, 0.1) == pytest.approx(gain, rel=1e-6)


def test_ceiling_and_wall_far_away_and_at_contact():
    assert ceiling_gain(FAR_M, 0.1) == pytest.approx(1.0, abs=1e-12)
    assert ceiling_gain(0.0, 0.1) == ceiling_gain(0.01, 0.1)
    assert wall_flow_m_s(FAR_M, 0.1, 6.0) == pytest.approx(0.0, abs=1e-12)
    assert wall_flow_m_s(0.2, 0.1, 6.0) == pytest.approx(6.0 / 64.0, rel=1e-12)
    assert wall_flow_m_s(0.0, 0.1, 6.0) == pytest.approx(6.0 / 16.0, rel=1e-12)


def test_a_wall_draws_the_rotor_near():
    wall = RotorSurroundings(wall_m=0.2, wall_direction_frd=Vec3(0.0, 1.0, 0.0))
    options = RotorOptions(drag=True, wall_effect=True)
    force = rotor_wrench(options, ROTOR, HOVER_RAD_S, STILL, STILL, 1.225, wall).force_frd_n
    assert force.y > 0.0
    assert force.x == pytest.approx(0.0, abs=1e-15)


def test_surfaces_change_thrust_but_not_torque():
    options = RotorOptions(ground_effect=True)
    near = RotorSurroundings(height_m=0.127)
    free = rotor_wrench(options, ROTOR, HOVER_RAD_S, STILL, STILL, 1.225)
    low = rotor_wrench(options, ROTOR, HOVER_RAD_S, STILL, STILL, 1.225, near)
    assert low.force_frd_n.z / free.force_frd_n.z == pytest.approx(16.0 / 15.0, rel=1e-9)
    assert low.moment_frd_n_m.z == free.moment_frd_n_m.z


def test_vibration_has_lines_at_rotor_and_blade_pass_frequency():
    """Hover of the reference quadrotor: 107.2 Hz and, with two blades, 214.4 Hz; no mean."""
    options, dt, n, phase = RotorOptions(vibration=True), 1.0 / 8000.0, 8000, 0.0
    samples = []
    for _ in range(n):
        samples.append(list(vibration_force(options, ROTOR, phase, HOVER_RAD_S, 4.905)))
        phase = advance_phase_rad(phase, HOVER_RAD_S, dt)
        assert 0.0 <= phase < math.tau
    force = np.array(samples)
    amplitude = np.abs(np.fft.rfft(force * np.hanning(n)[:, None], axis=0)) * 4.0 / n
    hertz = np.fft.rfftfreq(n, dt)
    # A Hann window over a second: the peak is within half a line (0.5 Hz) and reads at most 15 % low.
    assert hertz[amplitude[:, 0].argmax()] == pytest.approx(107.2, abs=0.5)
    assert hertz[amplitude[:, 1].argmax()] == pytest.approx(107.2, abs=0.5)
    assert hertz[amplitude[:, 2].argmax()] == pytest.approx(214.4, abs=0.5)
    assert amplitude[:, 0].max() == pytest.approx(2e-6 * HOVER_RAD_S**2, rel=0.16)
    assert amplitude[:, 2].max() == pytest.approx(0.02 * 4.905, rel=0.16)
    assert np.abs(force.mean(axis=0)).max() < 0.01 * np.abs(force).max()
    assert list(vibration_force(RotorOptions(), ROTOR, 1.0, HOVER_RAD_S, 4.905)) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("spin", [1.0, -1.0])
def test_imbalance_goes_round_with_the_rotor(spin):
    p = replace(ROTOR, spin=spin, blade_pass_ratio=0.0)
    now, later = (vibration_force(RotorOptions(vibration=True), p, phi, 600.0, 5.0) for phi in (0.4, 0.5))
    turned = cross(now, later)
    assert dot(turned, p.axis_frd) * spin > 0.0
    assert math.sqrt(dot(now, now)) == pytest.approx(2e-6 * 600.0**2, rel=1e-12)


@pytest.mark.parametrize(
    "axis", [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.3, -0.5, -0.8)]
)
def test_shaft_frame_is_right_handed(axis):
    a = normalize(Vec3(*axis))
    e1, e2 = shaft_frame(a)
    frame = np.array([list(e1), list(e2), list(a)])
    assert frame @ frame.T == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(frame) == pytest.approx(1.0, rel=1e-12)


def test_phase_stays_accurate_in_single_precision():
    """200 whole turns in 32 bits come back to where they began."""
    phase = Float(1.25)
    for _ in range(200):
        phase = advance_phase_rad(phase, Float(100.0 * math.tau), 0.01)
    # 200 roundings of at most 2.4e-7 of 7.5 rad, and the product's own.
    assert np.asarray(phase)[0] == pytest.approx(1.25, abs=2e-4)


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.law)
def test_verification_table(check):
    value = check.got()
    assert check.holds(value), f"{check.law}: {value}, expected {check.expected}"


def test_vibration_is_the_same_on_every_engine():
    inputs = np.random.default_rng(2).uniform(0.0, 1.0, (3, 64))

    def law(x):
        phase = advance_phase_rad(20.0 * x[0] - 10.0, 1000.0 * x[1], 0.001)
        tilted = replace(ROTOR, axis_frd=Vec3(0.6, 0.0, -0.8))
        return [phase, *vibration_force(RotorOptions(vibration=True), tilted, phase, 1000.0 * x[1], 9.0 * x[2])]

    expected = as_floats(law, inputs)
    assert as_lanes(law, inputs, Float64) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert as_symbols(law, inputs) == pytest.approx(expected, rel=1e-12, abs=1e-12)
