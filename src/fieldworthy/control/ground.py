"""Leaving the ground and standing on it again: when the rotors' loops may work, and how much thrust there is before."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.core.lanes import Scalar, clip, logical_and, logical_not, logical_or, maximum, select
from fieldworthy.core.lanes import abs as magnitude

SPOOL_S = 1.0
"""From idle to `LIFTING` of the weight, and back."""
LIFTING = 0.9
"""Share of the weight from which on the loops work: the feet are light, and still hold."""
ABOVE_M = 0.2
"""A target so far above asks for a take-off: less is within the error of a height."""
BELOW_M = 0.5
"""A target so far below asks for a descent, or `DESCENT_M_S`."""
DESCENT_M_S = 0.3
STILL_M_S = 0.2
"""Climb or descent below this is none; sideways twice as much, for sliding feet and errors of the belief."""
RESTING_S = 0.4
"""Without motion for so long although a descent is asked for: something holds it up."""


@dataclass
class GroundState:
    """Whether the vehicle flies by its rotors, and how far it is from or to that."""

    lifted: Scalar
    """1.0: the loops work; 0.0: it stands."""
    spool: Scalar
    """Share 0..1 of the way up from idle; below 1 it bounds the thrust."""
    resting_s: Scalar
    """For how long it has seemed to stand, while it flies."""


def first_ground(lifted: Scalar) -> GroundState:
    """In the air (1.0) or standing with rotors at idle (0.0)."""
    return GroundState(lifted, lifted, lifted * 0.0)


def flies_free(state: GroundState) -> Scalar:
    """Mask: in the air, nothing held back."""
    return logical_and(state.lifted > 0.5, state.spool >= 1.0)


def allowed_thrust_n(state: GroundState, wanted_n: Scalar, weight_n: Scalar) -> Scalar:
    """Thrust to give: what the loops want in the air, the ramp on the ground, the lesser of both in between."""
    ramp = weight_n * LIFTING * state.spool
    bounded = select(state.lifted > 0.5, clip(wanted_n, 0.0, ramp), ramp)
    return select(flies_free(state), wanted_n, bounded)


def next_ground(state: GroundState, setpoint: Setpoint, estimate: Estimate, dt_s: Scalar) -> GroundState:
    """The state a period later.

    Rule: standing, thrust rises to `LIFTING` of the weight within `SPOOL_S` as long as a target above is asked for, and
        falls otherwise; then the loops begin anew. Flying, thrust falls in the same way once a descent is asked for and
        for `RESTING_S` there is no motion, and it stands when nothing is left. Held up by nothing it would sink at
        once, and have its thrust back.
    Source: own rule; spool-up and landing detection are usual in multirotor autopilots.
    Shapes: scalars; every lane by itself.
    Limits: by belief alone: a height that freezes while a descent is asked for may look like the ground.
    Verified by: tests/verification/test_ground.py
    """
    up = -estimate.pos_ned_m.z
    up_wanted = logical_or(setpoint.up_m - up > ABOVE_M, setpoint.up_m_s > 0.1)
    down_wanted = logical_or(setpoint.up_m - up < -BELOW_M, setpoint.up_m_s < -DESCENT_M_S)
    vel = estimate.vel_ned_m_s
    sideways = maximum(magnitude(vel.x), magnitude(vel.y))
    still = logical_and(magnitude(vel.z) < STILL_M_S, sideways < 2.0 * STILL_M_S)
    flying = state.lifted > 0.5
    resting_s = select(logical_and(flying, logical_and(down_wanted, still)), state.resting_s + dt_s, 0.0)
    rises = select(flying, select(resting_s > RESTING_S, -1.0, 4.0), select(up_wanted, 1.0, -1.0))
    spool = clip(state.spool + rises * (dt_s / SPOOL_S), 0.0, 1.0)
    takes_off = logical_and(logical_not(flying), spool >= 1.0)
    landed = logical_and(flying, spool <= 0.0)
    return GroundState(select(landed, 0.0, select(takes_off, 1.0, state.lifted)), spool, resting_s)
