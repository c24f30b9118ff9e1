"""The autopilot of a vehicle that hovers on rotors: position, attitude, rates and allocation in one step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fieldworthy.control.allocation import RotorShare, allocate
from fieldworthy.control.attitude import (
    AttitudeOptions,
    AttitudeParameters,
    AttitudeState,
    attitude_from_thrust,
    first_attitude_state,
    moment_demand,
    next_attitude_state,
    rate_setpoint,
)
from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.ground import GroundState, allowed_thrust_n, first_ground, flies_free, next_ground
from fieldworthy.control.position import (
    PositionOptions,
    PositionParameters,
    PositionState,
    first_position_state,
    next_position_state,
    position_control,
)
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.core.lanes import Scalar, clip, select
from fieldworthy.core.struct import where
from fieldworthy.core.vec import Quat, Vec3, dot, rotate


@dataclass(frozen=True)
class MultirotorOptions:
    """Which terms the loops have."""

    attitude: AttitudeOptions = field(default_factory=AttitudeOptions)
    position: PositionOptions = field(default_factory=PositionOptions)


@dataclass
class MultirotorParameters:
    """Gains and limits of every loop, and the layout; `multirotor_gains.default_gains` makes them of a vehicle."""

    attitude: AttitudeParameters
    position: PositionParameters
    shares: tuple[RotorShare, ...]
    yaw_max_n_m: Scalar = 1.0e6
    """Greatest moment about the shaft asked of the rotors: beyond it the nose gives way, to the wind for one."""
    load_kg: Scalar = 0.0
    """Of `position.mass_kg`, what lies on the ground by itself before the take-off."""


@dataclass
class MultirotorControlState:
    """What the loops remember."""

    attitude: AttitudeState
    position: PositionState
    ground: GroundState


@dataclass
class MultirotorReport:
    """What the autopilot wanted, for logs, metrics and surfaces that help the rotors."""

    saturation_margin: Scalar
    """Of the demand: see `allocation.Allocated`."""
    thrust_n: Scalar
    """Collective thrust asked."""
    moment_frd_n_m: Vec3
    """Moment asked."""
    quat_setpoint: Quat


def first_multirotor_state(
    options: MultirotorOptions, estimate: Estimate, lifted: Scalar = 1.0
) -> MultirotorControlState:
    """Nothing integrated; filters settled at the present motion; in the air (1.0) or standing on the ground (0.0)."""
    return MultirotorControlState(
        first_attitude_state(options.attitude, estimate.rate_frd_rad_s),
        first_position_state(options.position, estimate.vel_ned_m_s),
        first_ground(estimate.pos_ned_m.x * 0.0 + lifted),
    )


def multirotor_control(
    options: MultirotorOptions,
    p: MultirotorParameters,
    setpoint: Setpoint,
    estimate: Estimate,
    state: MultirotorControlState,
    dt_s: Scalar,
) -> tuple[tuple[Scalar, ...], MultirotorControlState, MultirotorReport]:
    """Thrust demand of each rotor [N], the memory after this step, and a report. Call it every dt.

    Equation: force -> attitude -> turn rate -> moment, thrust = force along the body's -z as it is now, allocation;
        standing on the ground no moment, thrust by `ground.next_ground`, and nothing is integrated
    Source: cascade of Mellinger and Kumar (ICRA 2011) and Lee, Leok, McClamroch (CDC 2010), there the projection of the
        force; attitude after Brescianini and others (2013).
    Frames: world NED, body FRD.      Shapes: scalars.
    Limits: no inverted flight.
    Verified by: tests/verification/test_multirotor_control.py
    """
    force = position_control(options.position, p.position, setpoint, estimate, state.position, dt_s)
    quat_set = attitude_from_thrust(force, setpoint.heading_rad)
    up = rotate(estimate.quat_ned_from_frd, Vec3(0.0, 0.0, -1.0))
    wanted = clip(dot(force, up), p.position.force_min_n, p.position.force_max_n)
    ground = state.ground
    lifted = ground.lifted > 0.5
    thrust = allowed_thrust_n(ground, wanted, (p.position.mass_kg - p.load_kg) * p.position.gravity_m_s2)

    rate = estimate.rate_frd_rad_s
    rate_set = rate_setpoint(p.attitude, estimate.quat_ned_from_frd, quat_set)
    demand = moment_demand(options.attitude, p.attitude, rate_set, rate, state.attitude, dt_s) * ground.lifted
    moment = Vec3(demand.x, demand.y, clip(demand.z, -p.yaw_max_n_m, p.yaw_max_n_m))
    got = allocate(p.shares, thrust, moment)
    attitude = next_attitude_state(
        options.attitude, p.attitude, rate_set, rate, state.attitude, got.moment_frd_n_m - demand, dt_s
    )
    position = next_position_state(
        options.position, p.position, estimate.vel_ned_m_s, state.position, up * got.thrust_n, dt_s
    )
    fresh = first_multirotor_state(options, estimate)
    margin = select(flies_free(ground), got.saturation_margin, 0.5)
    ground = next_ground(ground, setpoint, estimate, dt_s)
    kept = where(lifted, MultirotorControlState(attitude, position, ground), replace(fresh, ground=ground))
    return got.rotor_thrust_n, kept, MultirotorReport(margin, thrust, moment, quat_set)
