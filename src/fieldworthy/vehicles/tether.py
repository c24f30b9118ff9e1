"""Cables that pull and never push: a load slung below the vehicle, and a tether to the ground."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, maximum, minimum, select, sqrt
from fieldworthy.core.vec import Quat, Vec3, cross, dot, rotate, rotate_inverse
from fieldworthy.core.wrench import Wrench, wrench_at
from fieldworthy.vehicles.contact import ContactPoint, ground_force


@dataclass
class LoadParameters:
    """A point mass on a cable without mass."""

    mass_kg: Scalar
    cable_length_m: Scalar
    """Unloaded."""
    stiffness_n_m: Scalar
    damping_n_s_m: Scalar
    drag_area_m2: Scalar
    """Drag coefficient times area."""
    attach_frd_m: Vec3
    """Hook, from the vehicle's centre of mass."""
    contact: ContactPoint | None = None
    """How the load meets the ground (its position on the body is not used); None: it passes through."""


@dataclass
class LoadState:
    """Where the load is and how it moves."""

    pos_ned_m: Vec3
    vel_ned_m_s: Vec3


@dataclass
class TetherParameters:
    """A cable without mass from the vehicle to a fixed point."""

    cable_length_m: Scalar
    stiffness_n_m: Scalar
    damping_n_s_m: Scalar
    attach_frd_m: Vec3
    anchor_ned_m: Vec3


def cable_force_ned_n(p: LoadParameters | TetherParameters, span_ned_m: Vec3, span_rate_ned_m_s: Vec3) -> Vec3:
    """Pull of the cable on its near end, towards the far end; the far end feels the opposite.

    Equation: T = max(0, k (l - L) + c l') where l > L, else 0;  F = T s / l for the span s from near to far end
    Source: Kelvin-Voigt cable that goes slack.
    Frames: NED.      Shapes: scalars.
    Limits: straight and without mass, drag or bending; the damper acts at once when the cable snaps taut. Waves along
        the cable and its sag are left out. For RK4: dt under 2.7 sqrt(m/k) with m the lighter end.
    Verified by: tests/verification/test_tether.py
    """
    squared = dot(span_ned_m, span_ned_m)
    length = sqrt(maximum(squared, 1e-12))  # never zero: the slack cable of a load at the hook has no direction
    direction = span_ned_m / length
    stretch = length - p.cable_length_m
    pull = maximum(p.stiffness_n_m * stretch + p.damping_n_s_m * dot(direction, span_rate_ned_m_s), 0.0)
    force: Vec3 = direction * select(stretch > 0.0, pull, 0.0)
    return force


def load_forces(
    p: LoadParameters,
    load: LoadState,
    pos_ned_m: Vec3,
    quat_ned_from_frd: Quat,
    vel_ned_m_s: Vec3,
    rate_frd_rad_s: Vec3,
    wind_ned_m_s: Vec3,
    density_kg_m3: Scalar,
    gravity_m_s2: Scalar,
    ground_up_m: Scalar = 0.0,
) -> tuple[Wrench, Vec3]:
    """The cable's pull on the vehicle, about its centre of mass in FRD, and the load's acceleration in NED.

    Equation: m a = m g - T - rho/2 C_D A |v_a| v_a (+ ground force), T from `cable_force_ned_n`
    Source: Newton's laws.
    Frames: wrench FRD, everything else NED.      Shapes: scalars.
    Limits: point mass; no rotor wash on the load.
    Verified by: tests/verification/test_tether.py
    """
    hook, hook_vel = _hook(p.attach_frd_m, pos_ned_m, quat_ned_from_frd, vel_ned_m_s, rate_frd_rad_s)
    pull = cable_force_ned_n(p, load.pos_ned_m - hook, load.vel_ned_m_s - hook_vel)
    through_air = load.vel_ned_m_s - wind_ned_m_s
    # A floor of 1e-12 under the root: the slope of a length at zero is not defined.
    speed = sqrt(dot(through_air, through_air) + 1e-12)
    force = -pull - through_air * (0.5 * density_kg_m3 * p.drag_area_m2 * speed)
    if p.contact is not None:
        force = force + ground_force(p.contact, load.pos_ned_m.z + ground_up_m, load.vel_ned_m_s)
    acceleration = force / p.mass_kg + Vec3(0.0, 0.0, gravity_m_s2)
    return wrench_at(rotate_inverse(quat_ned_from_frd, pull), p.attach_frd_m), acceleration


def tether_wrench(
    p: TetherParameters, pos_ned_m: Vec3, quat_ned_from_frd: Quat, vel_ned_m_s: Vec3, rate_frd_rad_s: Vec3
) -> Wrench:
    """The pull of a tether to a fixed point, about the centre of mass in FRD.

    Equation: `cable_force_ned_n` with a far end at rest      Source: Newton's third law.
    Frames: wrench FRD, everything else NED.      Shapes: scalars.      Limits: those of `cable_force_ned_n`.
    Verified by: tests/verification/test_tether.py
    """
    hook, hook_vel = _hook(p.attach_frd_m, pos_ned_m, quat_ned_from_frd, vel_ned_m_s, rate_frd_rad_s)
    pull = cable_force_ned_n(p, p.anchor_ned_m - hook, -hook_vel)
    return wrench_at(rotate_inverse(quat_ned_from_frd, pull), p.attach_frd_m)


def hanging_load(p: LoadParameters, pos_ned_m: Vec3, quat_ned_from_frd: Quat, gravity_m_s2: Scalar) -> LoadState:
    """The load at rest below a vehicle at rest: on a cable stretched by its weight, or on the ground, the cable slack.

    Equation: down = min(hook + L + m g / k, m g / k_ground)      Source: static deflection.
    Frames: NED.      Shapes: scalars.
    Limits: level ground at height 0, none without `LoadParameters.contact`; a load of which ground and cable carry a
        part each sinks a little at first.
    Verified by: tests/verification/test_tether.py, tests/verification/test_review_slung_load.py
    """
    hook = pos_ned_m + rotate(quat_ned_from_frd, p.attach_frd_m)
    weight = p.mass_kg * gravity_m_s2
    down = hook.z + p.cable_length_m + weight / p.stiffness_n_m
    if p.contact is not None:
        down = minimum(down, weight / p.contact.stiffness_n_m)
    return LoadState(Vec3(hook.x, hook.y, down), Vec3(0.0, 0.0, 0.0))


def _hook(
    attach_frd_m: Vec3, pos_ned_m: Vec3, quat_ned_from_frd: Quat, vel_ned_m_s: Vec3, rate_frd_rad_s: Vec3
) -> tuple[Vec3, Vec3]:
    """Position and velocity of a point of the body, NED."""
    arm = rotate(quat_ned_from_frd, attach_frd_m)
    return pos_ned_m + arm, vel_ned_m_s + rotate(quat_ned_from_frd, cross(rate_frd_rad_s, attach_frd_m))
