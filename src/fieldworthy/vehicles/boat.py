"""A boat moved by a velocity command: two controllers that turn speed errors into force and moment, and drag.

Frames: position and heading in NED (heading clockwise from north); surge, sway and yaw rate over ground in body FRD.
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.constants import SEA_LEVEL_DENSITY_KG_M3
from fieldworthy.core.integrate import add_compensated, rk4_slope
from fieldworthy.core.lanes import Scalar, clip, cos, sin, sqrt
from fieldworthy.core.lanes import abs as magnitude
from fieldworthy.core.struct import add_scaled, map_leaves
from fieldworthy.core.track import Pose
from fieldworthy.core.vec import Vec3, quat_from_euler_zyx
from fieldworthy.environment.sea import Sea, ride
from fieldworthy.vehicles.vehicle import Clock, Vehicle


@dataclass
class BoatState:
    """Everything needed to resume: pose, velocities over ground, and the integrals of the two speed controllers."""

    north_m: Scalar
    east_m: Scalar
    heading_rad: Scalar
    surge_m_s: Scalar
    sway_m_s: Scalar
    yaw_rate_rad_s: Scalar
    surge_error_m: Scalar
    """Time integral of the surge error."""
    yaw_error_rad: Scalar
    """Time integral of the yaw rate error."""


@dataclass
class BoatMotion:
    """The state as it is stepped: with what its sums have not yet taken up, see `integrate.add_compensated`."""

    state: BoatState
    rest: BoatState


@dataclass
class BoatCommand:
    """What a controller asks for: speed ahead THROUGH THE WATER (in a current not the surge of the state, which is over
    ground), and turn to starboard."""

    surge_m_s: Scalar
    yaw_rate_rad_s: Scalar


@dataclass
class BoatParameters:
    """Numbers of one boat; catalogue files give each with its source. Every field may differ from trial to trial."""

    mass_kg: Scalar
    yaw_inertia_kg_m2: Scalar
    length_m: Scalar
    beam_m: Scalar
    surge_gain_n_s_m: Scalar
    """K_v: force per surge error."""
    surge_integral_gain_n_m: Scalar
    """Force per integrated surge error; 0 gives the paper's proportional law."""
    surge_force_max_n: Scalar
    surge_force_min_n: Scalar
    """Most negative force: going astern."""
    yaw_gain_n_m_s_rad: Scalar
    """K_omega: moment per yaw rate error."""
    yaw_integral_gain_n_m_rad: Scalar
    yaw_moment_max_n_m: Scalar
    surge_drag_n_s_m: Scalar
    surge_drag_n_s2_m2: Scalar
    sway_drag_n_s_m: Scalar
    sway_drag_n_s2_m2: Scalar
    yaw_drag_n_m_s_rad: Scalar
    yaw_drag_n_m_s2_rad2: Scalar
    speed_max_m_s: Scalar
    """Limit on the surge command."""
    yaw_rate_max_rad_s: Scalar
    """Limit on the yaw rate command."""
    wind_front_area_m2: Scalar
    wind_side_area_m2: Scalar
    wind_surge_coefficient: Scalar
    wind_sway_coefficient: Scalar
    wind_yaw_coefficient: Scalar


def boat_rates(state: BoatState, command: BoatCommand, sea: Sea, p: BoatParameters) -> BoatState:
    """Time derivatives of the state, field by field.

    Equation: m (u' - v r) = F_u + D_u + W_u,   m (v' + u r) = D_v + W_v,   I r' = M + D_r + W_r
        F_u = clip(K_v (u_cmd - u_w) + K_vi integral, F_min, F_max),  M = clip(K_w (r_cmd - r) + K_wi integral, ±M_max)
        D = -(d1 + d2 |w|) w on the velocity through the water w.
        The integrals grow by error + (limited - asked)/K: at a limit they stop (back-calculation).
    Source: Newton-Euler for a planar body; force and torque from a velocity command as the LiDAR boat paper does with
        its rigid body (seed A); drag form of Fossen (2021) section 6.4; wind load of Fossen section 10.1.
    Frames: body FRD, world NED.      Shapes: scalars.
    Limits: no added mass, no coupling of sway and yaw drag, propulsion acts at the centre of mass and at once.
    Verified by: tests/verification/test_boat.py
    """
    c, s = cos(state.heading_rad), sin(state.heading_rad)
    u, v, r = state.surge_m_s, state.sway_m_s, state.yaw_rate_rad_s
    u_water = u - (sea.current_north_m_s * c + sea.current_east_m_s * s)
    v_water = v - (sea.current_east_m_s * c - sea.current_north_m_s * s)

    surge_error = clip(command.surge_m_s, -p.speed_max_m_s, p.speed_max_m_s) - u_water
    yaw_error = clip(command.yaw_rate_rad_s, -p.yaw_rate_max_rad_s, p.yaw_rate_max_rad_s) - r
    force = p.surge_gain_n_s_m * surge_error + p.surge_integral_gain_n_m * state.surge_error_m
    moment = p.yaw_gain_n_m_s_rad * yaw_error + p.yaw_integral_gain_n_m_rad * state.yaw_error_rad
    force_limited = clip(force, p.surge_force_min_n, p.surge_force_max_n)
    moment_limited = clip(moment, -p.yaw_moment_max_n_m, p.yaw_moment_max_n_m)

    wind_surge, wind_sway, wind_yaw = wind_load(state, sea, p)
    x = force_limited - (p.surge_drag_n_s_m + p.surge_drag_n_s2_m2 * magnitude(u_water)) * u_water + wind_surge
    y = -(p.sway_drag_n_s_m + p.sway_drag_n_s2_m2 * magnitude(v_water)) * v_water + wind_sway
    n = moment_limited - (p.yaw_drag_n_m_s_rad + p.yaw_drag_n_m_s2_rad2 * magnitude(r)) * r + wind_yaw

    return BoatState(
        north_m=u * c - v * s,
        east_m=u * s + v * c,
        heading_rad=r,
        surge_m_s=x / p.mass_kg + v * r,
        sway_m_s=y / p.mass_kg - u * r,
        yaw_rate_rad_s=n / p.yaw_inertia_kg_m2,
        # Saturated controllers stop integrating (back-calculation with unit gain): no wind-up.
        surge_error_m=surge_error + (force_limited - force) / p.surge_gain_n_s_m,
        yaw_error_rad=yaw_error + (moment_limited - moment) / p.yaw_gain_n_m_s_rad,
    )


def wind_load(state: BoatState, sea: Sea, p: BoatParameters) -> tuple[Scalar, Scalar, Scalar]:
    """Surge and sway force [N] and yaw moment [N m] of the wind on the part above water.

    Equation: X = rho/2 C_x A_f |w| w_u,  Y = rho/2 C_y A_s |w| w_v,  N = rho/2 C_n A_s L |w| w_v with the
        air's velocity past the hull (w_u, w_v) in body axes.
    Source: Fossen (2021) section 10.1, coefficients constant instead of tabulated over the wind angle.
    """
    c, s = cos(state.heading_rad), sin(state.heading_rad)
    u = sea.wind_north_m_s * c + sea.wind_east_m_s * s - state.surge_m_s
    v = sea.wind_east_m_s * c - sea.wind_north_m_s * s - state.sway_m_s
    pressure = 0.5 * SEA_LEVEL_DENSITY_KG_M3 * sqrt(u * u + v * v + 1e-12)
    surge = pressure * p.wind_surge_coefficient * p.wind_front_area_m2 * u
    sway = pressure * p.wind_sway_coefficient * p.wind_side_area_m2 * v
    yaw = pressure * p.wind_yaw_coefficient * p.wind_side_area_m2 * p.length_m * v
    return surge, sway, yaw


def first_motion(start: BoatState, sea: Sea, p: BoatParameters, clock: Clock) -> BoatMotion:
    """Nothing is left over at the start."""
    return BoatMotion(start, map_leaves(lambda leaf: leaf * 0.0, start))


def boat_step(motion: BoatMotion, command: BoatCommand, sea: Sea, p: BoatParameters, clock: Clock) -> BoatMotion:
    """One tick by RK4, summed without loss."""
    slope = rk4_slope(lambda s: boat_rates(s, command, sea, p), motion.state, clock.dt_s)
    return BoatMotion(*add_compensated(motion.state, motion.rest, clock.dt_s, slope))


def boat_pose(state: BoatState, sea: Sea, t_s: Scalar, p: BoatParameters) -> Pose:
    """Position and attitude, with the heave, roll and pitch that the waves give the hull (`environment.sea.ride`)."""
    tilt = ride(sea.waves, state.north_m, state.east_m, state.heading_rad, t_s, p.length_m, p.beam_m)
    still = state.north_m * 0.0
    return Pose(
        Vec3(state.north_m, state.east_m, still - tilt.heave_up_m),
        quat_from_euler_zyx(still + tilt.roll_rad, still + tilt.pitch_rad, state.heading_rad),
    )


def earlier_pose(motion: BoatMotion, sea: Sea, t_s: Scalar, p: BoatParameters) -> Pose:
    """Where the boat was at t_s <= 0, had it come along with the rates of its start and no command."""
    rates = boat_rates(motion.state, BoatCommand(0.0, 0.0), sea, p)
    return boat_pose(add_scaled(motion.state, t_s, rates), sea, t_s, p)


def boat_speed_m_s(state: BoatState) -> Scalar:
    """Speed over ground."""
    return sqrt(state.surge_m_s * state.surge_m_s + state.sway_m_s * state.sway_m_s)


def observe_boat(state: BoatState) -> dict[str, Scalar]:
    """All of the state but the integrals of its own controllers."""
    names = ("north_m", "east_m", "heading_rad", "surge_m_s", "sway_m_s", "yaw_rate_rad_s")
    return {name: getattr(state, name) for name in names}


BOAT = Vehicle(
    kind="boat",
    command=BoatCommand,
    step=boat_step,
    pose=lambda motion, sea, t_s, p: boat_pose(motion.state, sea, t_s, p),
    earlier=earlier_pose,
    speed_m_s=lambda motion: boat_speed_m_s(motion.state),
    observe=lambda motion: observe_boat(motion.state),
    read=lambda motion: observe_boat(motion.state),
    first=first_motion,
)
