"""Landing gear: points of the body that stand, bounce and slide on flat ground."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, maximum, select, sqrt
from fieldworthy.core.vec import Quat, Vec3, cross, mat3_apply, mat3_from_quat, mat3_transpose
from fieldworthy.core.wrench import Wrench


@dataclass
class ContactPoint:
    """A foot: where it is on the body, and how it meets the ground."""

    pos_frd_m: Vec3
    """From the centre of mass to the unloaded foot."""
    stiffness_n_m: Scalar
    damping_n_s_m: Scalar
    friction: Scalar
    """Coulomb's coefficient mu."""
    slip_speed_m_s: Scalar = 0.02
    """Speed at which friction has reached 71 % of mu N; `landing_gear.landing_gear` chooses it for a step."""


def contact_wrench(
    points: tuple[ContactPoint, ...],
    pos_ned_m: Vec3,
    quat_ned_from_frd: Quat,
    vel_ned_m_s: Vec3,
    rate_frd_rad_s: Vec3,
    ground_up_m: Scalar,
) -> Wrench:
    """What level ground does to the body that stands on it, about the centre of mass.

    Equation: see `ground_force`, at each point with velocity v + w x r
    Frames: result in FRD, pose and velocity in NED; `ground_up_m` positive up.      Shapes: scalars.
    Limits: level ground; feet do not deform sideways, so a steady side force makes the body creep (`ground_force`).
    Verified by: tests/verification/test_contact.py
    """
    ned_from_frd = mat3_from_quat(quat_ned_from_frd)
    rate = mat3_apply(ned_from_frd, rate_frd_rad_s)
    force, moment = Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)
    for point in points:
        arm = mat3_apply(ned_from_frd, point.pos_frd_m)
        push = ground_force(point, pos_ned_m.z + arm.z + ground_up_m, vel_ned_m_s + cross(rate, arm))
        force, moment = force + push, moment + cross(arm, push)
    frd_from_ned = mat3_transpose(ned_from_frd)
    return Wrench(mat3_apply(frd_from_ned, force), mat3_apply(frd_from_ned, moment))


def ground_force(point: ContactPoint, depth_m: Scalar, vel_ned_m_s: Vec3) -> Vec3:
    """Force of level ground on one point at a depth below its surface, NED [N].

    Equation: N = max(0, k d + c d') where d > 0, else 0;  F = -mu N v_t / sqrt(v_t^2 + v_s^2)
    Source: Kelvin-Voigt foot that does not pull; Coulomb friction made smooth near rest: survey of Marques, Flores,
        Claro and Lankarani, Nonlinear Dynamics 86 (2016) 1407.
    Frames: NED.      Shapes: scalars.
    Limits: a point that is held by friction alone creeps at v_s f / sqrt(1 - f^2), f the share of mu N that is needed;
        where nothing pushes sideways it does not creep. The damper acts at once at touch-down (N jumps to c d').
    Verified by: tests/verification/test_contact.py
    """
    normal = normal_n(point, depth_m, vel_ned_m_s.z)
    vx, vy, vs = vel_ned_m_s.x, vel_ned_m_s.y, point.slip_speed_m_s
    drag = point.friction * normal / sqrt(vx * vx + vy * vy + vs * vs)
    return Vec3(-drag * vx, -drag * vy, -normal)


def normal_n(point: ContactPoint, depth_m: Scalar, sink_m_s: Scalar) -> Scalar:
    """Push of the ground, upwards [N].

    Equation: N = max(0, k d + c d') where d > 0, else 0
    """
    loaded = maximum(point.stiffness_n_m * depth_m + point.damping_n_s_m * sink_m_s, 0.0)
    return select(depth_m > 0.0, loaded, 0.0)
