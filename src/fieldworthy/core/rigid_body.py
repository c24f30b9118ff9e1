"""Six degrees of freedom: Newton's and Euler's equations, and two ways to keep an attitude a rotation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from fieldworthy.core.integrate import Rate
from fieldworthy.core.lanes import Scalar
from fieldworthy.core.struct import children, rebuild
from fieldworthy.core.vec import (
    Mat3,
    Quat,
    Vec3,
    cross,
    mat3_apply,
    mat3_solve,
    quat_conjugate,
    quat_from_rotation_vector,
    quat_multiply,
    quat_normalize,
)

State = TypeVar("State")
Step = Callable[[Rate[Any], Any, Scalar], Any]
"""An integrator: step(rate, state, dt_s), such as `integrate.rk4`."""


@dataclass(slots=True)
class RigidBodyState:
    """Position and velocity of the centre of mass in the world, attitude, and turn rate in the body."""

    pos_ned_m: Vec3
    quat_ned_from_frd: Quat
    vel_ned_m_s: Vec3
    rate_frd_rad_s: Vec3


VELOCITY_FIELDS = ("vel_ned_m_s", "rate_frd_rad_s")
"""What `integrate.semi_implicit_euler` must know about a RigidBodyState."""


def rigid_body_rates(
    state: RigidBodyState,
    force_ned_n: Vec3,
    moment_frd_n_m: Vec3,
    mass_kg: Scalar,
    inertia_kg_m2: Vec3 | Mat3,
) -> RigidBodyState:
    """Time derivatives of the state, in its own structure.

    Equation: p' = v,  q' = 1/2 q (0, w),  v' = F/m,  w' = I^-1 (M - w x (I w))
    Source: Newton's second law; Euler's equations about the centre of mass.
    Frames: force in NED with the weight in it; moment, turn rate and inertia in FRD about the centre of mass.
    `inertia_kg_m2` is a Vec3 for principal axes or a symmetric Mat3 (off-diagonal entries are minus the products).
    Limits: flat, non-rotating earth; constant mass. A spinning rotor's momentum enters through the moment.
    Verified by: tests/verification/test_rigid_body.py
    """
    omega = state.rate_frd_rad_s
    if isinstance(inertia_kg_m2, Mat3):
        gyroscopic = cross(omega, mat3_apply(inertia_kg_m2, omega))
        rate_dot = mat3_solve(inertia_kg_m2, moment_frd_n_m - gyroscopic)
    else:
        i = inertia_kg_m2
        gyroscopic = cross(omega, Vec3(i.x * omega.x, i.y * omega.y, i.z * omega.z))
        m = moment_frd_n_m - gyroscopic
        rate_dot = Vec3(m.x / i.x, m.y / i.y, m.z / i.z)
    return RigidBodyState(
        pos_ned_m=state.vel_ned_m_s,
        quat_ned_from_frd=quat_rate(state.quat_ned_from_frd, omega),
        vel_ned_m_s=force_ned_n / mass_kg,
        rate_frd_rad_s=rate_dot,
    )


def quat_rate(quat_a_from_b: Quat, rate_b_rad_s: Vec3) -> Quat:
    """Time derivative of an attitude whose frame b turns at a rate given in b.

    Equation: q' = 1/2 q (0, w)
    """
    return quat_multiply(quat_a_from_b, Quat(0.0, rate_b_rad_s.x, rate_b_rad_s.y, rate_b_rad_s.z)) * 0.5


def turn(quat_a_from_b: Quat, rate_b_rad_s: Vec3, dt_s: Scalar) -> Quat:
    """The attitude after dt at a constant turn rate given in b: exact.

    Equation: q exp(w dt)
    """
    return quat_multiply(quat_a_from_b, quat_from_rotation_vector(rate_b_rad_s * dt_s))


def normalised_step(step: Step, rate: Rate[State], state: State, dt_s: Scalar) -> State:
    """A step of any integrator, then every quaternion in the state scaled back to norm one.

    The cheaper way; the attitude error has the order of the integrator.
    """
    return _map_quats(quat_normalize, step(rate, state, dt_s))  # type: ignore[no-any-return]


def exponential_step(step: Step, rate: Rate[State], state: State, dt_s: Scalar) -> State:
    """A step of any integrator in the rotation vector of each quaternion since the start of the step.

    Equation: q = q0 exp(r),  r' = w + r x w / 2 + r x (r x w) / 12,  w = 2 q* q' (the body's rate)
    Source: Bortz 1971; Munthe-Kaas 1998 (truncated at the order that RK4 needs)
    Limits: turns well under 2 pi a step. Exact at a constant turn rate, with every integrator; unit norm by form.
    """

    def attach(local: Any) -> Any:
        return _zip_quats(
            lambda quat, rotation: quat_multiply(quat, quat_from_rotation_vector(rotation)), state, state, local
        )

    def local_rate(local: Any) -> Any:
        full = attach(local)
        rotation_rates = _zip_quats(_body_rate, state, full, rate(full))
        return _zip_quats(_rotation_vector_rate, state, local, rotation_rates)

    start = _map_quats(lambda _: Vec3(0.0, 0.0, 0.0), state)
    return attach(step(local_rate, start, dt_s))  # type: ignore[no-any-return]


def _body_rate(quat: Quat, quat_dot: Quat) -> Vec3:
    twice = quat_multiply(quat_conjugate(quat), quat_dot) * 2.0
    return Vec3(twice.x, twice.y, twice.z)


def _rotation_vector_rate(rotation: Vec3, body_rate: Vec3) -> Vec3:
    once = cross(rotation, body_rate)
    return body_rate + once * 0.5 + cross(rotation, once) * (1.0 / 12.0)


def _map_quats(fn: Callable[[Quat], Any], tree: Any) -> Any:
    """The tree with fn applied to every Quat and everything else kept."""
    if isinstance(tree, Quat):
        return fn(tree)
    nodes = children(tree)
    return tree if nodes is None else rebuild(tree, [_map_quats(fn, child) for _, child in nodes])


def _zip_quats(fn: Callable[[Any, Any], Any], pattern: Any, a: Any, b: Any) -> Any:
    """fn(part of a, part of b) wherever `pattern` has a Quat; b's value everywhere else."""
    if isinstance(pattern, Quat):
        return fn(a, b)
    nodes = children(pattern)
    if nodes is None:
        return b
    parts = zip(nodes, children(a) or [], children(b) or [], strict=True)
    return rebuild(b, [_zip_quats(fn, part, x, y) for (_, part), (_, x), (_, y) in parts])
