"""From a place to the force that takes a hovering vehicle there: position, velocity, acceleration, thrust vector."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.core.lanes import Scalar, clip, maximum, minimum, select, sqrt, tan
from fieldworthy.core.vec import Vec3

_TINY = 1e-12
"""Keeps lengths and their gradients finite at zero."""


@dataclass(frozen=True)
class PositionOptions:
    """Which terms the velocity loop has besides the proportional one."""

    disturbance: bool = True
    """The integral action: what wind, a wrong mass or a weak battery does is estimated and taken off."""
    derivative: bool = False


@dataclass
class PositionParameters:
    """Gains and limits; `up` names the vertical axis, the others hold in the plane."""

    mass_kg: Scalar
    """As the autopilot believes it: the weight is carried ahead of any error."""
    gravity_m_s2: Scalar
    position_gain_1_s: Scalar
    position_gain_up_1_s: Scalar
    velocity_gain_1_s: Scalar
    velocity_gain_up_1_s: Scalar
    disturbance_bandwidth_rad_s: Scalar
    """How fast a disturbance is learnt; well below `velocity_gain_1_s`."""
    disturbance_max_m_s2: Scalar
    velocity_derivative_gain: Scalar
    """Acceleration asked against each m/s^2 measured."""
    derivative_filter_s: Scalar
    speed_max_m_s: Scalar
    climb_max_m_s: Scalar
    descent_max_m_s: Scalar
    braking_m_s2: Scalar
    """Deceleration that an approach is planned with."""
    braking_up_m_s2: Scalar
    tilt_max_rad: Scalar
    """Under pi/2."""
    force_min_n: Scalar
    """Least upward force: rotors that stand still cannot hold an attitude."""
    force_up_max_n: Scalar
    """Most upward force; what is left to `force_max_n` still goes sideways."""
    force_max_n: Scalar


@dataclass
class PositionState:
    """What the velocity loop remembers."""

    velocity_model_m_s: Vec3
    """What the velocity should be, of the force given and the disturbance known; NED."""
    disturbance_ned_m_s2: Vec3
    """Acceleration that nothing commanded: wind, wrong mass, tired battery."""
    velocity_slow_m_s: Vec3 | None
    """Low-passed velocity, for the derivative; None without one."""


def first_position_state(options: PositionOptions, vel_ned_m_s: Vec3) -> PositionState:
    """No disturbance known, the filters settled at the present velocity."""
    return PositionState(vel_ned_m_s, Vec3(0.0, 0.0, 0.0), vel_ned_m_s if options.derivative else None)


def approach_speed_per_m(distance_m: Scalar, gain_1_s: Scalar, braking_m_s2: Scalar) -> Scalar:
    """Speed towards a target over the distance to it [1/s]: proportional near it, of constant braking from afar.

    Equation: v = K d for d <= a/K^2,  v = sqrt(2 a d - (a/K)^2) beyond: value and slope meet, and v dv/dd = a
    Source: constant deceleration; the same blend is known as ArduPilot's square-root controller.
    Shapes: scalars.      Limits: for distances of 0 and more.
    Verified by: tests/verification/test_position_control.py, tests/verification/test_mission.py
    """
    blend = braking_m_s2 / (gain_1_s * gain_1_s)
    fast = sqrt(2.0 * braking_m_s2 * maximum(distance_m - 0.5 * blend, 0.5 * blend))
    return select(distance_m <= blend, gain_1_s, fast / maximum(distance_m, blend))


def velocity_setpoint(p: PositionParameters, setpoint: Setpoint, estimate: Estimate) -> Vec3:
    """Velocity towards the setpoint's point plus its own velocity, within the speed limits. NED.

    Equation: v = v_ff + (target - position) approach_speed_per_m;  the horizontal part shortened to the speed limit,
        the vertical one clipped
    Source: cascaded position control with a braking profile, as in ArduPilot's and PX4's multirotor autopilots.
    Frames: NED.      Shapes: scalars.
    Limits: with a speed limit in the setpoint that limit also holds for climb and descent.
    Verified by: tests/verification/test_position_control.py
    """
    north = setpoint.north_m - estimate.pos_ned_m.x
    east = setpoint.east_m - estimate.pos_ned_m.y
    down = -setpoint.up_m - estimate.pos_ned_m.z
    flat = approach_speed_per_m(sqrt(north * north + east * east + _TINY), p.position_gain_1_s, p.braking_m_s2)
    steep = approach_speed_per_m(maximum(down, -down), p.position_gain_up_1_s, p.braking_up_m_s2)
    v_north = setpoint.north_m_s + north * flat
    v_east = setpoint.east_m_s + east * flat
    v_down = down * steep - setpoint.up_m_s

    asked = setpoint.speed_max_m_s
    top = select(asked > 0.0, minimum(asked, p.speed_max_m_s), p.speed_max_m_s)
    shorter = minimum(1.0, top / sqrt(v_north * v_north + v_east * v_east + _TINY))
    return Vec3(
        v_north * shorter,
        v_east * shorter,
        clip(v_down, -minimum(top, p.climb_max_m_s), minimum(top, p.descent_max_m_s)),
    )


def acceleration_demand(
    options: PositionOptions,
    p: PositionParameters,
    vel_setpoint_ned_m_s: Vec3,
    vel_ned_m_s: Vec3,
    state: PositionState,
    dt_s: Scalar,
) -> Vec3:
    """Acceleration that brings the velocity to its setpoint, NED, not limited yet.

    Equation: a = K_p (v_set - v) - d - K_d v',  d the known disturbance, v' from a first-order low-pass of the velocity
    Source: PID with the integral as a disturbance observer (`next_position_state`), derivative on the measurement
        (Astrom and Hagglund 2006).
    Frames: NED.      Shapes: scalars.      Limits: those of the rotors come after, in `thrust_vector`.
    Verified by: tests/verification/test_position_control.py
    """
    error = vel_setpoint_ned_m_s - vel_ned_m_s
    a = Vec3(error.x * p.velocity_gain_1_s, error.y * p.velocity_gain_1_s, error.z * p.velocity_gain_up_1_s)
    if options.disturbance:
        a = a - state.disturbance_ned_m_s2
    if options.derivative and state.velocity_slow_m_s is not None:
        slope = (vel_ned_m_s - state.velocity_slow_m_s) / (p.derivative_filter_s + dt_s)
        a = a - slope * p.velocity_derivative_gain
    return a


def thrust_vector(p: PositionParameters, acceleration_ned_m_s2: Vec3) -> Vec3:
    """Force of the rotors for an acceleration, NED [N]: height before sideways, within tilt and strength.

    Equation: F = m (a - g e_z);  the upward part clipped first;  the horizontal part shortened to
        min(F_up tan(tilt_max), sqrt(F_max^2 - F_up^2))
    Source: Newton's second law; the order of precedence as in PX4's position control.
    Frames: NED.      Shapes: scalars.
    Limits: the force points up always: no inverted flight.
    Verified by: tests/verification/test_position_control.py
    """
    a = acceleration_ned_m_s2
    up = clip((p.gravity_m_s2 - a.z) * p.mass_kg, p.force_min_n, p.force_up_max_n)
    north, east = a.x * p.mass_kg, a.y * p.mass_kg
    spare = sqrt(maximum(p.force_max_n * p.force_max_n - up * up, _TINY))
    reach = minimum(up * tan(p.tilt_max_rad), spare)
    shorter = minimum(1.0, reach / sqrt(north * north + east * east + _TINY))
    return Vec3(north * shorter, east * shorter, -up)


def position_control(
    options: PositionOptions,
    p: PositionParameters,
    setpoint: Setpoint,
    estimate: Estimate,
    state: PositionState,
    dt_s: Scalar,
) -> Vec3:
    """The force to fly with, NED [N]. Tell `next_position_state` afterwards which force was given.

    Equation: `thrust_vector` of `acceleration_demand` of `velocity_setpoint`
    Source: see the three laws.
    Verified by: tests/verification/test_multirotor_control.py
    """
    vel_set = velocity_setpoint(p, setpoint, estimate)
    return thrust_vector(p, acceleration_demand(options, p, vel_set, estimate.vel_ned_m_s, state, dt_s))


def next_position_state(
    options: PositionOptions,
    p: PositionParameters,
    vel_ned_m_s: Vec3,
    state: PositionState,
    force_given_ned_n: Vec3,
    dt_s: Scalar,
) -> PositionState:
    """The memory after a step: what has moved the vehicle beside the force that its rotors gave.

    Equation: u' = F/m + g e_z + d + 2 w (v - u),   d' = w^2 (v - u),   |d_i| <= d_max
    Source: Luenberger observer with a constant disturbance; Chen, Yang, Guo, Li, Disturbance-observer-based control,
        IEEE Trans. Ind. Electron. 63 (2016) 1083. In the place of an integral of the velocity error: that one also
        winds up on every start and stop and overshoots after; this one sees the force given, limited or not.
    Frames: NED.      Shapes: scalars.
    Limits: the rotors' lag passes for a short disturbance, well below w.
    Verified by: tests/verification/test_position_control.py
    """
    model, known, slow = state.velocity_model_m_s, state.disturbance_ned_m_s2, state.velocity_slow_m_s
    if options.disturbance:
        w, top = p.disturbance_bandwidth_rad_s, p.disturbance_max_m_s2
        surprise = vel_ned_m_s - model
        expected = force_given_ned_n / p.mass_kg + Vec3(0.0, 0.0, p.gravity_m_s2) + known
        model = model + (expected + surprise * (2.0 * w)) * dt_s
        learnt = known + surprise * (w * w * dt_s)
        known = Vec3(clip(learnt.x, -top, top), clip(learnt.y, -top, top), clip(learnt.z, -top, top))
    if options.derivative and slow is not None:
        slow = slow + (vel_ned_m_s - slow) * (dt_s / (p.derivative_filter_s + dt_s))
    return PositionState(model, known, slow)
