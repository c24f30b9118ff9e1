"""Landing gear that holds its place: friction with a memory, so that a standing vehicle does not creep in wind."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, maximum, select, sqrt
from fieldworthy.core.vec import Quat, Vec3, cross, mat3_apply, mat3_from_quat, mat3_transpose
from fieldworthy.core.wrench import Wrench
from fieldworthy.vehicles.contact import ContactPoint, normal_n

GRIP_TIME_S = 0.02
"""How long a foot takes to take hold: dragged slowly it has 63 % of its friction after v_s times this, under 1 mm."""


@dataclass
class Grip:
    """How a foot strains at the ground, as a share of the friction it can have: length 0 to 1, world axes."""

    north: Scalar
    east: Scalar


def no_grips(points: tuple[ContactPoint, ...]) -> tuple[Grip, ...]:
    """Feet that have not touched the ground."""
    return tuple(Grip(0.0, 0.0) for _ in points)


def gripping_wrench(
    points: tuple[ContactPoint, ...],
    grips: tuple[Grip, ...],
    pos_ned_m: Vec3,
    quat_ned_from_frd: Quat,
    vel_ned_m_s: Vec3,
    rate_frd_rad_s: Vec3,
    ground_up_m: Scalar,
) -> tuple[Wrench, tuple[Grip, ...]]:
    """What level ground does to a body that stands on gripping feet, and the time derivatives of their grips.

    Equation: see `gripping_force`, at each point with velocity v + w x r
    Frames: wrench in FRD about the centre of mass, pose and velocity in NED.      Shapes: scalars.
    Limits: level ground.      Verified by: tests/verification/test_contact_grip.py
    """
    ned_from_frd = mat3_from_quat(quat_ned_from_frd)
    rate = mat3_apply(ned_from_frd, rate_frd_rad_s)
    force, moment = Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)
    rates = []
    for point, grip in zip(points, grips, strict=True):
        arm = mat3_apply(ned_from_frd, point.pos_frd_m)
        depth = pos_ned_m.z + arm.z + ground_up_m
        push, grip_rate = gripping_force(point, grip, depth, vel_ned_m_s + cross(rate, arm))
        force, moment = force + push, moment + cross(arm, push)
        rates.append(grip_rate)
    frd_from_ned = mat3_transpose(ned_from_frd)
    return Wrench(mat3_apply(frd_from_ned, force), mat3_apply(frd_from_ned, moment)), tuple(rates)


def gripping_force(point: ContactPoint, grip: Grip, depth_m: Scalar, vel_ned_m_s: Vec3) -> tuple[Vec3, Grip]:
    """Force of level ground on one foot, NED [N], and the time derivative of its grip.

    Equation: F = -mu N (e (1 - |u|) + u),  e' = (u - |u| e) / tau,  u = v_t / max(|v_t|, v_s),  tau = GRIP_TIME_S
        Sliding (|v_t| >= v_s): F = -mu N v_t/|v_t|, Coulomb's law. At rest: F = -mu N e with e' = 0: any force up to
        mu N is held without motion. Between: a spring mu N / (v_s tau) beside a damper mu N / v_s. |F| <= mu N always.
    Source: bristle friction of Dahl, AIAA Journal 14 (1976) 1675, with damping as Canudas de Wit, Olsson, Astrom and
        Lischinsky, IEEE Trans. Automatic Control 40 (1995) 419; here scaled by the load, both limited at v_s.
    Frames: NED.      Shapes: scalars.
    Limits: no stiction peak; under a side force that shakes, the foot ratchets, as Dahl's model does.
    Verified by: tests/verification/test_contact_grip.py
    """
    vx, vy = vel_ned_m_s.x, vel_ned_m_s.y
    # A floor of 1e-18 under the root: the slope of a length at zero is not defined.
    speed = sqrt(vx * vx + vy * vy + 1e-18)
    scale = 1.0 / maximum(speed, point.slip_speed_m_s)
    north, east, slip = vx * scale, vy * scale, speed * scale
    normal = normal_n(point, depth_m, vel_ned_m_s.z)
    friction = point.friction * normal
    force = Vec3(
        -friction * (grip.north * (1.0 - slip) + north), -friction * (grip.east * (1.0 - slip) + east), -normal
    )
    on_ground = depth_m > 0.0  # in the air the foot lets go
    return force, Grip(
        select(on_ground, north - slip * grip.north, -grip.north) * (1.0 / GRIP_TIME_S),
        select(on_ground, east - slip * grip.east, -grip.east) * (1.0 / GRIP_TIME_S),
    )
