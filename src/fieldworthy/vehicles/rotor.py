"""One rotor: thrust, reaction torque, rotor drag, flapping, inflow, nearby surfaces and gyroscopic moment."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar
from fieldworthy.core.vec import Vec3, cross, dot
from fieldworthy.core.wrench import Wrench
from fieldworthy.vehicles.rotor_flapping import disc_tilt_speed
from fieldworthy.vehicles.rotor_proximity import (
    REFERENCE_DENSITY_KG_M3,
    RotorSurroundings,
    ceiling_gain,
    ground_gain,
    induced_velocity_per_speed_m,
    wall_flow_m_s,
)


@dataclass(frozen=True)
class RotorOptions:
    """Which effects are computed beside thrust and reaction torque; one that is off costs nothing."""

    drag: bool = False
    """Force against the motion across the shaft."""
    drag_at_hub: bool = False
    """True: the drag acts at the hub, on the hub's motion, so it damps turning too. False: at the centre of mass."""
    flapping: bool = False
    inflow: bool = False
    """Thrust falls with speed along the shaft."""
    ground_effect: bool = False
    ceiling_effect: bool = False
    wall_effect: bool = False
    """Needs `drag` or `flapping` to be felt."""
    gyroscopic: bool = False
    vibration: bool = False

    @property
    def hub_motion(self) -> bool:
        """Whether anything depends on how the hub itself moves through the air."""
        return self.flapping or self.inflow or self.ground_effect or (self.drag and self.drag_at_hub)

    @property
    def proximity(self) -> bool:
        """Whether the rotor needs to know its surroundings."""
        return self.ground_effect or self.ceiling_effect or self.wall_effect


@dataclass
class RotorParameters:
    """Numbers of one rotor with its motor; coefficients are those at 1.225 kg/m3 and scale with density."""

    pos_frd_m: Vec3
    """Hub, from the centre of mass."""
    axis_frd: Vec3
    """Unit vector along the shaft, in the direction of thrust."""
    spin: Scalar
    """+1.0 or -1.0: sense of rotation about `axis_frd`, right-handed."""
    thrust_coefficient_n_s2: Scalar
    """k_f: thrust over squared speed."""
    torque_ratio_m: Scalar
    """kappa: reaction torque over thrust."""
    radius_m: Scalar
    speed_max_rad_s: Scalar
    speed_min_rad_s: Scalar = 0.0
    lag_up_s: Scalar = 0.03
    lag_down_s: Scalar = 0.03
    drag_coefficient_n_s2_m: Scalar = 0.0
    """k_d: force across the shaft over speed of rotation times velocity. With `flapping` on: without its part."""
    inflow_coefficient_n_s2_m: Scalar = 0.0
    """k_i: thrust lost over speed of rotation times velocity along the thrust."""
    flapping_gain: Scalar = 0.0
    """A1: backward tilt of the disc per advance ratio [rad]."""
    flapping_cross_gain: Scalar = 0.0
    """A2: sideways tilt of the disc per advance ratio [rad]."""
    flapping_hub_arm_m: Scalar = 0.0
    """Moment of a tilted disc on the hub over thrust and tilt: stiffness of blade root and hinge offset."""
    lock_number: Scalar = 5.0
    """Aerodynamic over inertial moments of a blade."""
    blades: Scalar = 2.0
    axial_inertia_kg_m2: Scalar = 0.0
    """Propeller and motor bell about the shaft."""
    imbalance_kg_m: Scalar = 0.0
    """Mass times distance of its centre from the shaft."""
    blade_pass_ratio: Scalar = 0.0
    """Amplitude of the thrust ripple at blade passing, over thrust."""
    effectiveness: Scalar = 1.0
    """1 sound, 0 lost: scales all that the air does."""


def rotor_wrench(
    options: RotorOptions,
    p: RotorParameters,
    speed_rad_s: Scalar,
    air_velocity_frd_m_s: Vec3,
    rate_frd_rad_s: Vec3,
    density_kg_m3: Scalar,
    surroundings: RotorSurroundings | None = None,
) -> Wrench:
    """Force and moment of one rotor on the body, about the centre of mass.

    Equation: T = (k_f w - k_i v_a) w G,   F = T a - k_d w v + T d
        M = r x F - s kappa k_f w^2 a + h T a x d + I s w a x W
        v_a, v: velocity of the hub through the air along and across the shaft a; d: tilt of the disc; G: gain near
        ground and ceiling; W: turn rate; all coefficients times rho/1.225 and times effectiveness.
    Source: Mahony, Kumar, Corke (2012), IEEE RAM 19(3) (thrust, drag, flapping); Svacha, Mohta, Kumar (2017), ICUAS
        (inflow term); Euler's equations for a gyrostat (last term); ground and ceiling in `rotor_proximity`.
    Frames: body FRD; `air_velocity_frd_m_s` is that of the hub (of the vehicle without `options.hub_motion`).
    Shapes: scalars.
    Limits: quasi-steady, low advance ratio, no vortex ring state, no interference between rotors; speed >= 0. Inflow
        and proximity leave the torque as it is. The reaction to spin acceleration is `rotor_spin_reaction`.
    Verified by: tests/verification/test_rotor.py, tests/verification/test_rotor_effects.py
    """
    a, w, velocity = p.axis_frd, speed_rad_s, air_velocity_frd_m_s
    scale = p.effectiveness * (density_kg_m3 / REFERENCE_DENSITY_KG_M3)
    free = p.thrust_coefficient_n_s2 * scale * w
    per_speed = thrust_per_speed_n_s(options, p, w, velocity, density_kg_m3, surroundings)
    across_shaft = across(velocity, a)
    if options.wall_effect and surroundings is not None:
        induced = w * induced_velocity_per_speed_m(p.thrust_coefficient_n_s2, p.radius_m)
        flow = wall_flow_m_s(surroundings.wall_m, p.radius_m, induced)
        across_shaft = across(velocity - surroundings.wall_direction_frd * flow, a)
    thrust = per_speed * w
    force = a * thrust
    moment = cross(p.pos_frd_m, a) * thrust - a * (p.spin * p.torque_ratio_m * (free * w))
    if options.drag:
        drag = across_shaft * (-(p.drag_coefficient_n_s2_m * scale) * w)
        force = force + drag
        if options.drag_at_hub:
            moment = moment + cross(p.pos_frd_m, drag)
    if options.flapping:
        tilt_speed = disc_tilt_speed(
            across_shaft, across(rate_frd_rad_s, a), a, p.spin, p.radius_m,
            p.flapping_gain, p.flapping_cross_gain, p.lock_number,
        )  # fmt: skip
        sideways = tilt_speed * per_speed
        force = force + sideways
        moment = moment + cross(p.pos_frd_m, sideways) + cross(a, sideways) * p.flapping_hub_arm_m
    if options.gyroscopic:
        moment = moment + gyroscopic_moment(rate_frd_rad_s, a, p.spin * w, p.axial_inertia_kg_m2)
    return Wrench(force, moment)


def thrust_per_speed_n_s(
    options: RotorOptions,
    p: RotorParameters,
    speed_rad_s: Scalar,
    air_velocity_frd_m_s: Vec3,
    density_kg_m3: Scalar,
    surroundings: RotorSurroundings | None = None,
) -> Scalar:
    """Thrust along the shaft over speed of rotation: what pushes the vehicle, and what blows behind the disc [N s].

    Equation: T / w = (k_f w - k_i v_a) G rho/rho_0, as in `rotor_wrench`
    Source: see `rotor_wrench`.
    Frames: body FRD; the velocity is that of the hub.      Shapes: scalars.
    Limits: those of `rotor_wrench`.
    Verified by: tests/verification/test_rotor.py, tests/verification/test_rotor_effects.py
    """
    a = p.axis_frd
    scale = p.effectiveness * (density_kg_m3 / REFERENCE_DENSITY_KG_M3)
    per_speed = p.thrust_coefficient_n_s2 * scale * speed_rad_s
    if options.inflow:
        per_speed = per_speed - p.inflow_coefficient_n_s2_m * scale * along(air_velocity_frd_m_s, a)
    if surroundings is None:
        return per_speed
    if options.ground_effect:
        induced = speed_rad_s * induced_velocity_per_speed_m(p.thrust_coefficient_n_s2, p.radius_m)
        sideways = across(air_velocity_frd_m_s, a)
        gain = ground_gain(surroundings.height_m, p.radius_m, induced, dot(sideways, sideways))
        per_speed = per_speed * gain
    if options.ceiling_effect:
        per_speed = per_speed * ceiling_gain(surroundings.ceiling_m, p.radius_m)
    return per_speed


def hub_velocity_frd_m_s(
    options: RotorOptions, p: RotorParameters, air_velocity_frd_m_s: Vec3, rate_frd_rad_s: Vec3
) -> Vec3:
    """Velocity of the hub through the air where an effect depends on it, of the centre of mass where none does."""
    if not options.hub_motion:
        return air_velocity_frd_m_s
    velocity: Vec3 = air_velocity_frd_m_s + cross(rate_frd_rad_s, p.pos_frd_m)
    return velocity


def gyroscopic_moment(rate_frd_rad_s: Vec3, axis_frd: Vec3, spin_rad_s: Scalar, axial_inertia_kg_m2: Scalar) -> Vec3:
    """Moment of a spinning rotor on the body that it is bolted to, FRD [N m].

    Equation: M = -W x (I w a)      Source: Euler's equations for a gyrostat.
    Frames: body FRD; `spin_rad_s` is signed about `axis_frd`.      Shapes: scalars.
    Limits: the reaction to spin acceleration is `rotor_spin_reaction`; the rotor's inertia across its shaft belongs to
        the body's.
    Verified by: tests/verification/test_rotor.py::test_angular_momentum_is_conserved
    """
    moment: Vec3 = cross(axis_frd, rate_frd_rad_s) * (axial_inertia_kg_m2 * spin_rad_s)
    return moment


def rotor_spin_reaction(p: RotorParameters, speed_dot_rad_s2: Scalar) -> Vec3:
    """Moment on the body while the motor speeds its rotor up, FRD [N m].

    Equation: M = -I w' s a      Source: Newton's third law on the motor's torque.
    Frames: body FRD.      Shapes: scalars.      Limits: stiff shaft.
    Verified by: tests/verification/test_rotor.py::test_angular_momentum_is_conserved
    """
    moment: Vec3 = p.axis_frd * (-(p.axial_inertia_kg_m2 * p.spin) * speed_dot_rad_s2)
    return moment


def rotor_thrust_n(p: RotorParameters, speed_rad_s: Scalar, density_kg_m3: Scalar) -> Scalar:
    """Thrust in hover: for vibration, wash and disc loading.

    Equation: T = k_f w^2 rho/rho_0      Source: blade element theory (Leishman 2006, chapter 3).      Shapes: scalars.
    Limits: still air, far from surfaces; the wrench has the rest.
    Verified by: tests/verification/test_rotor.py
    """
    scale = p.effectiveness * (density_kg_m3 / REFERENCE_DENSITY_KG_M3)
    return p.thrust_coefficient_n_s2 * scale * speed_rad_s * speed_rad_s


def rotor_power_w(p: RotorParameters, speed_rad_s: Scalar, density_kg_m3: Scalar) -> Scalar:
    """Mechanical power that the air takes from the shaft.

    Equation: P = kappa k_f w^3 rho/rho_0      Source: torque times speed.      Shapes: scalars.
    Limits: the torque of hover at this speed, whatever the flight; no spin acceleration.
    Verified by: tests/verification/test_rotor.py
    """
    return p.torque_ratio_m * rotor_thrust_n(p, speed_rad_s, density_kg_m3) * speed_rad_s


def along(v: Vec3, axis: Vec3) -> Scalar:
    """Component of v along a unit axis."""
    return dot(v, axis)


def across(v: Vec3, axis: Vec3) -> Vec3:
    """Part of v across a unit axis; an axis that is known to be one of the body's own costs nothing."""
    known = [isinstance(c, float | int) and c * c == 1.0 for c in axis]
    if any(known):
        kept = [0.0 if here else component for here, component in zip(known, v, strict=True)]
        return Vec3(*kept)
    part: Vec3 = axis * along(v, axis)
    return v - part
