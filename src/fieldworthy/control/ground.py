"""Leaving the ground and standing on it again: when the rotors' loops may work, and how much thrust there is before."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.core.lanes import Scalar, clip, logical_and, logical_not, logical_or, select
from fieldworthy.core.vec import dot

SPOOL_S = 1.0
"""From idle to `LIFTING` of the weight, and back."""
LIFTING = 0.9
"""Share of the weight from which on the loops work: the feet are light, and still hold."""
ABOVE_M = 0.2
"""A target so far above asks for a take-off: less is within the error of a height."""
STILL_M_S = 0.4
RESTING_S = 0.5
"""Held up for so long without thrust and motion: by the ground."""


@dataclass
class GroundState:
    """Whether the vehicle flies by its rotors, and how far it is from or to that."""

    lifted: Scalar
    """1.0: the loops work; 0.0: it stands."""
    spool: Scalar
    """Share 0..1 of the way up from idle, while it stands."""
    resting_s: Scalar
    """For how long it has seemed to stand, while it flies."""


def first_ground(lifted: Scalar) -> GroundState:
    """In the air (1.0) or standing with rotors at idle (0.0)."""
    return GroundState(lifted, lifted, lifted * 0.0)


def next_ground(
    state: GroundState, setpoint: Setpoint, estimate: Estimate, idling: Scalar, dt_s: Scalar
) -> GroundState:
    """The state a period later; `idling`: the loops ask for their least thrust.

    Rule: standing, thrust rises to `LIFTING` of the weight within `SPOOL_S` as long as a target above is asked for, and
        falls otherwise; then the loops begin anew. Flying, it stands once the loops have asked for their least thrust
        for `RESTING_S` without any motion, and nothing above is asked for.
    Source: own rule; spool-up and landing detection as in ArduPilot's and PX4's multirotor autopilots.
    Shapes: scalars; every lane by itself.
    Limits: by thrust and belief alone. In a wind that carries a winged vehicle at rest over ground it would be fooled.
    Verified by: tests/verification/test_ground.py
    """
    up_wanted = logical_or(setpoint.up_m + estimate.pos_ned_m.z > ABOVE_M, setpoint.up_m_s > 0.1)
    step = dt_s / SPOOL_S
    spool = clip(state.spool + select(up_wanted, 1.0, -1.0) * step, 0.0, 1.0)
    flying = state.lifted > 0.5
    vel = estimate.vel_ned_m_s
    still = dot(vel, vel) < STILL_M_S * STILL_M_S
    rests = logical_and(logical_and(idling, still), logical_not(up_wanted))
    resting_s = select(logical_and(flying, rests), state.resting_s + dt_s, 0.0)
    landed = resting_s > RESTING_S
    takes_off = logical_and(logical_not(flying), spool >= 1.0)
    lifted = select(landed, 0.0, select(takes_off, 1.0, state.lifted))
    return GroundState(lifted, select(landed, 0.0, select(flying, 1.0, spool)), resting_s)
