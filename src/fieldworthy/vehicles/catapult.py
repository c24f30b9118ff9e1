"""A catapult: a rail that holds a plane at rest and, once its motor runs, hurls it along its nose."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, logical_and, maximum, minimum, select
from fieldworthy.core.rigid_body import RigidBodyState
from fieldworthy.core.struct import where
from fieldworthy.core.vec import Quat, Vec3, rotate, rotate_inverse

TRIGGER_S = 0.3
"""For how long on end the throttle must be high: longer than a motor test's blip, shorter than anyone's patience."""


@dataclass
class CatapultParameters:
    """Numbers of the launch."""

    speed_m_s: Scalar
    """Over ground, at which the plane leaves the rail."""
    accel_m_s2: Scalar
    """Along the rail, thrust and weight included."""
    throttle: Scalar
    """What the autopilot must command at least to be let go."""
    trigger_ticks: Scalar
    """For how many ticks on end."""


@dataclass
class CatapultState:
    """How far the launch has come."""

    asked: Scalar
    """Ticks on end with enough throttle; from `trigger_ticks` on it stays, and the plane is let go."""
    speed_m_s: Scalar
    """Along the rail."""
    free: Scalar
    """1 once it has left the rail."""


def first_catapult() -> CatapultState:
    """Held at rest."""
    return CatapultState(0.0, 0.0, 0.0)


def catapult_step(
    p: CatapultParameters,
    state: CatapultState,
    body: RigidBodyState,
    flown: RigidBodyState,
    throttle: tuple[Scalar, ...],
    dt_s: float,
) -> tuple[RigidBodyState, CatapultState]:
    """The body after a tick, on the rail or in the air, and the launch after it.

    body: at the start of the tick. flown: after the tick if nothing held it. throttle: of each motor, as commanded.

    Equation: on the rail v' = a along the nose, attitude fixed: v^2 = 2 a s. The last tick ends at the release speed
        exactly, so its acceleration is the rest that is missing.
    Source: uniformly accelerated motion.
    Frames: world NED, body FRD.      Shapes: scalars.
    Limits: the rail takes any force and moment, and does not turn; the trigger works at the end of a tick.
    Verified by: tests/verification/test_launch.py
    """
    going, held = state.asked >= p.trigger_ticks, state.free < 0.5
    most = throttle[0]
    for other in throttle[1:]:
        most = maximum(most, other)
    zero = 0.0 * most  # of the type of the lanes, where the rest may be plain numbers
    asked = select(most >= p.throttle, state.asked + 1.0 + zero, zero)
    faster = state.speed_m_s + p.accel_m_s2 * dt_s
    speed = select(going, minimum(faster, p.speed_m_s), state.speed_m_s) + zero
    nose = rotate(body.quat_ned_from_frd, Vec3(1.0, 0.0, 0.0))
    railed = RigidBodyState(
        body.pos_ned_m + nose * (0.5 * (state.speed_m_s + speed) * dt_s),
        body.quat_ned_from_frd,
        nose * speed,
        Vec3(0.0, 0.0, 0.0),
    )
    gone = logical_and(going, faster >= p.speed_m_s)
    free = select(gone, 1.0 + zero, state.free)
    return where(held, railed, flown), CatapultState(select(going, state.asked, asked), speed, free)


def catapult_specific_force(p: CatapultParameters, state: CatapultState, quat: Quat, gravity_m_s2: Scalar) -> Vec3:
    """What an accelerometer feels on the rail [m/s^2, FRD].

    Equation: f = a e_x - R^T g, with the launch's acceleration a along the nose once let go
    Source: specific force is acceleration less gravity.
    Frames: body FRD.      Shapes: scalars.      Limits: holds until the plane is free.
    Verified by: tests/verification/test_launch.py
    """
    accel = select(state.asked >= p.trigger_ticks, p.accel_m_s2, 0.0 * p.accel_m_s2)
    return rotate_inverse(quat, Vec3(0.0, 0.0, -gravity_m_s2)) + Vec3(accel, 0.0, 0.0)
