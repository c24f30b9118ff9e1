"""Standing, taking off and landing: when the rotors' loops may work."""

from __future__ import annotations

import pytest

from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.ground import (
    LIFTING,
    RESTING_S,
    SPOOL_S,
    GroundState,
    allowed_thrust_n,
    first_ground,
    flies_free,
    next_ground,
)
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.core.vec import Vec3, quat_identity

DT = 0.01
WEIGHT = 20.0


def estimate(up_m: float = 0.2, climb_m_s: float = 0.0, north_m_s: float = 0.0) -> Estimate:
    still = Vec3(0.0, 0.0, 0.0)
    return Estimate(Vec3(0.0, 0.0, -up_m), Vec3(north_m_s, 0.0, -climb_m_s), quat_identity(), still, 0.0)


def asked(up_m: float, up_m_s: float = 0.0) -> Setpoint:
    return Setpoint(0.0, 0.0, up_m, 0.0, 0.0, up_m_s, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def after(state: GroundState, setpoint: Setpoint, belief: Estimate, duration_s: float) -> GroundState:
    for _ in range(round(duration_s / DT)):
        state = next_ground(state, setpoint, belief, DT)
    return state


def test_it_stays_until_a_target_above_is_asked_for() -> None:
    state = after(first_ground(0.0), asked(0.2), estimate(), 10.0)
    assert (state.lifted, state.spool) == (0.0, 0.0)
    assert allowed_thrust_n(state, 3.0 * WEIGHT, WEIGHT) == 0.0


def test_thrust_rises_over_the_spool_up_and_never_reaches_the_weight_before() -> None:
    state = first_ground(0.0)
    seen = []
    while state.lifted < 0.5:
        seen.append(allowed_thrust_n(state, 3.0 * WEIGHT, WEIGHT))
        state = next_ground(state, asked(5.0), estimate(), DT)
    assert len(seen) * DT == pytest.approx(SPOOL_S, abs=2.0 * DT)
    assert seen == sorted(seen)
    assert seen[-1] < LIFTING * WEIGHT < WEIGHT
    assert flies_free(state)
    assert allowed_thrust_n(state, 3.0 * WEIGHT, WEIGHT) == 3.0 * WEIGHT


def test_a_wish_taken_back_lets_the_thrust_fall() -> None:
    half = after(first_ground(0.0), asked(5.0), estimate(), 0.5 * SPOOL_S)
    assert half.spool == pytest.approx(0.5, abs=0.02)
    assert after(half, asked(0.2), estimate(), SPOOL_S).spool == 0.0


@pytest.mark.parametrize("setpoint", [asked(-1.0), asked(0.2, -0.5)], ids=["below", "descent"])
def test_held_up_by_the_ground_it_lands(setpoint: Setpoint) -> None:
    resting = after(first_ground(1.0), setpoint, estimate(), RESTING_S + 0.5 * SPOOL_S)
    assert resting.lifted == 1.0
    assert allowed_thrust_n(resting, WEIGHT, WEIGHT) < 0.6 * WEIGHT
    landed = after(resting, setpoint, estimate(), 0.6 * SPOOL_S)
    assert (landed.lifted, landed.spool) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("setpoint", "belief"),
    [
        (asked(5.0), estimate(5.0)),
        (asked(4.8), estimate(5.0)),
        (asked(0.0), estimate(5.0, climb_m_s=-1.0)),
        (asked(0.0), estimate(5.0, north_m_s=3.0)),
    ],
    ids=["hover", "a little high", "descending", "moving"],
)
def test_in_the_air_nothing_is_held_back(setpoint: Setpoint, belief: Estimate) -> None:
    assert flies_free(after(first_ground(1.0), setpoint, belief, 10.0))


def test_what_sinks_has_its_thrust_back() -> None:
    """At the top of a flight a descent begins slowly; that must not pass for the ground for longer than a moment."""
    fooled = after(first_ground(1.0), asked(0.0), estimate(5.0), RESTING_S + 0.3 * SPOOL_S)
    assert not flies_free(fooled)
    assert flies_free(after(fooled, asked(0.0), estimate(5.0, climb_m_s=-0.5), 0.2 * SPOOL_S))
