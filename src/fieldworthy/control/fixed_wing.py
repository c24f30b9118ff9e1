"""The autopilot of an airplane: line, height and airspeed in; aileron, elevator, rudder and throttle out."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.l1 import L1Parameters, PlaneMotion, bank_of_acceleration, l1_steer
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.control.tecs import TecsParameters, TecsState, first_tecs, tecs_control
from fieldworthy.core.lanes import Scalar, clip, cos, maximum, minimum, select, sin
from fieldworthy.core.vec import euler_zyx_from_quat


@dataclass
class FixedWingParameters:
    """Numbers of the autopilot; `control.fixed_wing_gains` works them out from the airplane."""

    cruise_airspeed_m_s: Scalar
    """Airspeed flown where none is asked for, and the one that effectiveness and damping below hold at."""
    gravity_m_s2: Scalar
    bank_max_rad: Scalar
    circle_radius_m: Scalar
    """Radius flown about a target that is its own starting point; positive is clockwise."""
    roll_time_s: Scalar
    """Time constant of the bank."""
    pitch_time_s: Scalar
    roll_rate_max_rad_s: Scalar
    pitch_rate_max_rad_s: Scalar
    roll_gain_1_s: Scalar
    """Angular acceleration per error of the turn rate."""
    pitch_gain_1_s: Scalar
    yaw_gain_1_s: Scalar
    roll_integral_1_s2: Scalar
    """Angular acceleration per integrated error of the turn rate."""
    pitch_integral_1_s2: Scalar
    roll_damping_1_s: Scalar
    """What the airplane itself loses of a roll rate in a second; positive."""
    pitch_damping_1_s: Scalar
    yaw_damping_1_s: Scalar
    aileron_rad_s2: Scalar
    """Roll acceleration of full positive aileron, with its sign."""
    elevator_rad_s2: Scalar
    rudder_rad_s2: Scalar
    pitch_rest_rad_s2: Scalar
    """Pitch acceleration at zero angle of attack with surfaces at rest."""
    pitch_stiffness_1_s2: Scalar
    """Pitch acceleration back per angle of attack; positive for a stable airplane."""
    zero_lift_rad: Scalar
    """Angle of attack without lift."""
    lift_rad: Scalar
    """Angle of attack above it that carries the weight in level cruise."""
    tecs: TecsParameters
    l1: L1Parameters


@dataclass
class FixedWingState:
    """Memory of the autopilot."""

    tecs: TecsState
    roll_integral_rad_s2: Scalar
    pitch_integral_rad_s2: Scalar


@dataclass
class SurfaceCommand:
    """Shares -1..1 of full deflection, in the sense in which the airplane's own coefficients count deflections."""

    aileron: Scalar
    elevator: Scalar
    rudder: Scalar


def first_fixed_wing(estimate: Estimate) -> FixedWingState:
    """A start at the present airspeed, nothing integrated."""
    zero = estimate.airspeed_m_s * 0.0
    return FixedWingState(first_tecs(estimate.airspeed_m_s), zero, zero)


def fixed_wing_control(
    p: FixedWingParameters, setpoint: Setpoint, estimate: Estimate, state: FixedWingState, dt_s: Scalar
) -> tuple[SurfaceCommand, Scalar, FixedWingState]:
    """Surfaces, throttle 0..1 and the new memory.

    Equation: `l1_steer` gives a sideways acceleration, that the bank; `tecs_control` throttle and pitch; the height's
        feedforward is the setpoint's climb rate. `attitude_surfaces` holds bank and pitch.
    Frames: NED, FRD.      Shapes: scalars.
    Limits: pitch well within 90 deg. A target closer than 1 m to its own starting point is circled.
    Verified by: tests/verification/test_fixed_wing.py
    """
    pos, vel = estimate.pos_ned_m, estimate.vel_ned_m_s
    motion = PlaneMotion(pos.x, pos.y, vel.x, vel.y)
    sideways = l1_steer(
        p.l1,
        motion,
        setpoint.from_north_m,
        setpoint.from_east_m,
        setpoint.north_m,
        setpoint.east_m,
        p.circle_radius_m,
    )
    bank = bank_of_acceleration(sideways, p.gravity_m_s2, p.bank_max_rad)

    roll, _, _ = euler_zyx_from_quat(estimate.quat_ned_from_frd)
    bank_cos = cos(roll)
    airspeed = estimate.airspeed_m_s
    wanted = select(setpoint.airspeed_m_s > 0.0, setpoint.airspeed_m_s, p.cruise_airspeed_m_s)
    flown = clip(airspeed, p.tecs.airspeed_min_m_s, p.tecs.airspeed_max_m_s)
    slowness = p.cruise_airspeed_m_s / flown
    # In a bank the wing needs 1/cos more lift, and only cos of its angle of attack is pitch: the lift's part is equal.
    trim = p.zero_lift_rad * bank_cos + p.lift_rad * slowness * slowness
    energy, tecs = tecs_control(
        p.tecs,
        setpoint.up_m + pos.z,
        setpoint.up_m_s,
        wanted,
        -vel.z,
        airspeed,
        trim,
        bank_cos,
        p.gravity_m_s2,
        state.tecs,
        dt_s,
    )
    surfaces, roll_integral, pitch_integral = attitude_surfaces(p, bank, energy.pitch_rad, estimate, state, dt_s)
    return surfaces, energy.throttle, FixedWingState(tecs, roll_integral, pitch_integral)


def attitude_surfaces(
    p: FixedWingParameters,
    bank_rad: Scalar,
    pitch_rad: Scalar,
    estimate: Estimate,
    state: FixedWingState,
    dt_s: Scalar,
) -> tuple[SurfaceCommand, Scalar, Scalar]:
    """Surfaces that lead to a bank and a pitch in a turn without sideslip, and the new roll and pitch integrals.

    Equation: Euler rates wanted: phi' = (phi_c - phi)/tau, theta' likewise, psi' = g tan(phi) / V; body rates of them:
            p_c = phi' - psi' sin(theta),  q_c = theta' cos(phi) + psi' cos(theta) sin(phi),
            r_c = psi' cos(theta) cos(phi)
        angular acceleration wanted: k (w_c - w) + D (V/V0) w_c + integral;  deflection = it / (E (V/V0)^2)
        with the airplane's damping D and full-deflection effectiveness E at cruise airspeed V0; to the pitch is added
        what the airplane's own static moment takes at the angle of attack that carries the weight.
    Source: kinematics of a coordinated turn and scaling of derivatives with airspeed: B. L. Stevens, F. L. Lewis,
        Aircraft Control and Simulation, 2nd ed. (2003), chapters 1 and 4; R. W. Beard, T. W. McLain, Small Unmanned
        Aircraft (2012), chapters 5 and 6.
    Frames: body FRD; Euler angles z, y, x.      Shapes: scalars.
    Limits: pitch well within 90 deg; no inertial coupling; the rudder knows the yaw rate, not the sideslip.
    Verified by: tests/verification/test_fixed_wing.py
    """
    roll, pitch, _ = euler_zyx_from_quat(estimate.quat_ned_from_frd)
    rate = estimate.rate_frd_rad_s
    c_roll, s_roll, c_pitch, s_pitch = cos(roll), sin(roll), cos(pitch), sin(pitch)
    speed = maximum(estimate.airspeed_m_s, 0.5 * p.tecs.airspeed_min_m_s)
    ratio = speed / p.cruise_airspeed_m_s

    # Beyond 80 degrees of bank no level turn is meant.
    turn = p.gravity_m_s2 * s_roll / (maximum(c_roll, 0.17) * speed)
    roll_dot = clip((bank_rad - roll) / p.roll_time_s, -p.roll_rate_max_rad_s, p.roll_rate_max_rad_s)
    pitch_dot = clip((pitch_rad - pitch) / p.pitch_time_s, -p.pitch_rate_max_rad_s, p.pitch_rate_max_rad_s)
    roll_rate = roll_dot - turn * s_pitch
    pitch_rate = pitch_dot * c_roll + turn * c_pitch * s_roll
    yaw_rate = turn * c_pitch * c_roll

    roll_error, pitch_error, yaw_error = roll_rate - rate.x, pitch_rate - rate.y, yaw_rate - rate.z
    roll_integral = state.roll_integral_rad_s2 + dt_s * p.roll_integral_1_s2 * roll_error
    pitch_integral = state.pitch_integral_rad_s2 + dt_s * p.pitch_integral_1_s2 * pitch_error
    roll_accel = p.roll_gain_1_s * roll_error + p.roll_damping_1_s * ratio * roll_rate
    # What the tail must hold at the angle of attack that carries the weight, times the load factor of the bank.
    slowness = p.cruise_airspeed_m_s / clip(speed, p.tecs.airspeed_min_m_s, p.tecs.airspeed_max_m_s)
    alpha = p.zero_lift_rad + p.lift_rad * slowness * slowness / maximum(c_roll, 0.5)
    held_accel = ratio * ratio * (p.pitch_stiffness_1_s2 * alpha - p.pitch_rest_rad_s2)
    pitch_accel = p.pitch_gain_1_s * pitch_error + p.pitch_damping_1_s * ratio * pitch_rate + held_accel
    yaw_accel = p.yaw_gain_1_s * yaw_error + p.yaw_damping_1_s * ratio * yaw_rate

    pressure = ratio * ratio
    aileron, roll_integral = _deflection(roll_accel, roll_integral, p.aileron_rad_s2 * pressure)
    elevator, pitch_integral = _deflection(pitch_accel, pitch_integral, p.elevator_rad_s2 * pressure)
    rudder = clip(yaw_accel / (p.rudder_rad_s2 * pressure), -1.0, 1.0)
    return SurfaceCommand(aileron, elevator, rudder), roll_integral, pitch_integral


def _deflection(accel: Scalar, integral: Scalar, full: Scalar) -> tuple[Scalar, Scalar]:
    """Share of full deflection, and the integral limited to what the surface can still give."""
    most = maximum(full, -full)
    held = clip(integral, minimum(-most - accel, 0.0), maximum(most - accel, 0.0))
    held = clip(held, -most, most)
    return clip((accel + held) / full, -1.0, 1.0), held
