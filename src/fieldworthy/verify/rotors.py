"""Rotors and motors against published numbers and closed forms."""

from __future__ import annotations

import math

from fieldworthy.core.integrate import rk4
from fieldworthy.core.rigid_body import RigidBodyState, normalised_step, rigid_body_rates
from fieldworthy.core.vec import Quat, Vec3, dot, rotate
from fieldworthy.vehicles.motor import MotorOptions, MotorParameters, commanded_speed_rad_s, speed_rate
from fieldworthy.vehicles.rotor import RotorOptions, RotorParameters, rotor_power_w, rotor_spin_reaction, rotor_wrench
from fieldworthy.vehicles.rotor_flapping import disc_tilt_speed
from fieldworthy.vehicles.rotor_proximity import ceiling_gain, ground_gain, induced_velocity_per_speed_m
from fieldworthy.vehicles.rotor_set import rotors_wrench
from fieldworthy.vehicles.rotor_vibration import vibration_force
from fieldworthy.verify.check import Check

STILL = Vec3(0.0, 0.0, 0.0)
HOVER_RAD_S = 6432.0 * 2.0 * math.pi / 60.0
"""Hover speed that the flight-simulation document gives for its 2 kg quadrotor."""
RADIUS_M = 0.127


def _rotor(x: float = 0.2, y: float = 0.2, spin: float = 1.0) -> RotorParameters:
    return RotorParameters(
        pos_frd_m=Vec3(x, y, 0.0),
        axis_frd=Vec3(0.0, 0.0, -1.0),
        spin=spin,
        thrust_coefficient_n_s2=1.08116e-5,
        torque_ratio_m=0.016,
        radius_m=RADIUS_M,
        speed_max_rad_s=1000.0,
        lag_up_s=0.03,
        lag_down_s=0.03,
        drag_coefficient_n_s2_m=1e-4,
        axial_inertia_kg_m2=6e-5,
        imbalance_kg_m=1e-6,
        blade_pass_ratio=0.02,
    )


def _quad() -> list[RotorParameters]:
    return [_rotor(), _rotor(-0.2, -0.2), _rotor(0.2, -0.2, -1.0), _rotor(-0.2, 0.2, -1.0)]


def _hover_lift_kg() -> float:
    wrench = rotors_wrench(RotorOptions(drag=True), _quad(), [HOVER_RAD_S] * 4, STILL, STILL, 1.225)
    return float(-wrench.force_frd_n.z / 9.81)


def _speed_after_lag() -> float:
    rotor, w = _rotor(), 0.0
    for _ in range(30):
        w = rk4(lambda speed: speed_rate(rotor, speed, 1000.0), w, 0.001)
    return w


def _momentum_drift() -> float:
    """Largest change of a tumbling body's angular momentum while its rotor spins up, as a share of it."""
    rotor, inertia = _rotor(), Vec3(0.0143, 0.0143, 0.026)
    rotor.effectiveness, rotor.axial_inertia_kg_m2 = 0.0, 1e-3
    options = RotorOptions(gyroscopic=True)

    def rate(s: tuple[RigidBodyState, float]) -> tuple[RigidBodyState, float]:
        body, w = s
        w_dot = speed_rate(rotor, w, 900.0)
        moment = rotor_wrench(options, rotor, w, STILL, body.rate_frd_rad_s, 1.225).moment_frd_n_m
        moment = moment + rotor_spin_reaction(rotor, w_dot)
        return rigid_body_rates(body, STILL, moment, 2.0, inertia), w_dot

    def momentum(s: tuple[RigidBodyState, float]) -> Vec3:
        r, h = s[0].rate_frd_rad_s, rotor.axial_inertia_kg_m2 * rotor.spin * s[1]
        total = Vec3(inertia.x * r.x, inertia.y * r.y, inertia.z * r.z) + rotor.axis_frd * h
        return rotate(s[0].quat_ned_from_frd, total)

    s = (RigidBodyState(STILL, Quat(1.0, 0.0, 0.0, 0.0), STILL, Vec3(3.0, -2.0, 1.0)), 100.0)
    start = momentum(s)
    for _ in range(300):
        s = normalised_step(rk4, rate, s, 0.0005)
    change = momentum(s) - start
    return math.sqrt(dot(change, change) / dot(start, start))


def _drag_slope() -> float:
    """Deceleration of the quadrotor per speed [1/s]."""
    wrench = rotors_wrench(RotorOptions(drag=True), _quad(), [HOVER_RAD_S] * 4, Vec3(5.0, 0.0, 0.0), STILL, 1.225)
    return float(-wrench.force_frd_n.x / 2.0 / 5.0)


def _sagged_thrust() -> float:
    motor, options = MotorParameters(nominal_voltage_v=14.8), MotorOptions("speed", voltage=True)
    speeds = [commanded_speed_rad_s(options, motor, _rotor(), 0.7, volts) for volts in (0.9 * 14.8, 14.8)]
    thrusts = [rotor_wrench(RotorOptions(), _rotor(), w, STILL, STILL, 1.225).force_frd_n.z for w in speeds]
    return float(thrusts[0] / thrusts[1])


def _vibration_hz(axis: str) -> float:
    """Frequency of a force component in hover, from its zero crossings over one second."""
    options, rotor, n = RotorOptions(vibration=True), _rotor(), 4000
    forces = [
        getattr(vibration_force(options, rotor, 0.1 + HOVER_RAD_S * k / n, HOVER_RAD_S, 4.905), axis) for k in range(n)
    ]
    rises = [k - a / (b - a) for k, (a, b) in enumerate(zip(forces, forces[1:], strict=False)) if a < 0.0 <= b]
    return float((len(rises) - 1) * n / (rises[-1] - rises[0]))


def _disc_lag_rad() -> float:
    """Forward lag of the disc of a nose-up pitching rotor at 1 rad/s, 100 rad/s, Lock number 8."""
    tilt = disc_tilt_speed(STILL, Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, -1.0), 1.0, RADIUS_M, 0.0, 0.0, 8.0)
    return float(tilt.x / 100.0)


CHECKS: tuple[Check, ...] = (
    Check(
        "rotor", "mass that four rotors carry at 6,432 rpm", "reference quadrotor of the flight-simulation document",
        2.0, _hover_lift_kg, 2e-5, "kg",
    ),
    Check(
        "rotor", "power of one hovering rotor, kappa T w", "torque times speed: 0.016 m, 4.905 N, 673.56 rad/s",
        52.861, lambda: rotor_power_w(_rotor(), HOVER_RAD_S, 1.225), 0.002, "W",
    ),
    Check(
        "rotor", "induced velocity of 4.905 N through a 10 inch disc", "momentum theory, sqrt(T/(2 rho A))",
        6.2858, lambda: HOVER_RAD_S * induced_velocity_per_speed_m(1.08116e-5, RADIUS_M), 2e-4, "m/s",
    ),
    Check(
        "rotor", "drag slows the quadrotor by 4 k_d w/m", "Mahony, Kumar, Corke (2012); 4 1e-4 673.56/2",
        0.134712, _drag_slope, 1e-6, "1/s",
    ),
    Check(
        "rotor", "angular momentum of body and rotor, torque-free: relative change", "conservation law",
        0.0, _momentum_drift, 1e-8,
    ),
    Check(
        "rotor", "disc lags a pitching shaft by 16 q/(gamma w)", "hinged blade, Leishman (2006) chapter 4",
        0.02, _disc_lag_rad, 1e-12, "rad",
    ),
    Check(
        "ground effect", "thrust gain at z/R = 1, same power", "Cheeseman and Bennett (1955), ARC R&M 3021",
        16.0 / 15.0, lambda: ground_gain(RADIUS_M, RADIUS_M, 6.3, 0.0), 1e-9,
    ),
    Check(
        "ground effect", "thrust gain at z/R = 1 and V = v_i", "Cheeseman and Bennett (1955), ARC R&M 3021",
        32.0 / 31.0, lambda: ground_gain(RADIUS_M, RADIUS_M, 6.3, 6.3 * 6.3), 1e-9,
    ),
    Check(
        "ceiling effect", "thrust gain where gamma = 2 (d/R = 1/8), same power: 2^(2/3)",
        "Hsiao and Chirarattananon (2019); gamma = 2 solves momentum balance at d/R = 1/8",
        1.5874011, lambda: ceiling_gain(RADIUS_M / 8.0, RADIUS_M), 1e-6,
    ),
    Check(
        "motor", "share of a step after one lag of 30 ms", "1 - 1/e",
        0.6321206, lambda: _speed_after_lag() / 1000.0, 1e-6,
    ),
    Check("motor", "thrust at 90 % of the voltage over full", "square of the voltage", 0.81, _sagged_thrust, 1e-9),
    Check(
        "vibration", "imbalance at hover", "6,432 rpm / 60", 107.2, lambda: _vibration_hz("x"), 0.01, "Hz",
    ),
    Check(
        "vibration", "blade pass at hover, two blades", "2 x 6,432 rpm / 60",
        214.4, lambda: _vibration_hz("z"), 0.01, "Hz",
    ),
)  # fmt: skip
"""What `fieldworthy verify` shows of rotors and motors."""
