"""From a place to a force: braking profile, limits and their precedence, and the disturbance observer's poles."""

import math

import numpy as np
import pytest
from flight_rig import GRAVITY, INERTIA, MASS, ROTORS, setpoint
from hypothesis import given
from hypothesis import strategies as st

from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.multirotor_gains import default_gains
from fieldworthy.control.position import (
    PositionOptions,
    acceleration_demand,
    approach_speed_per_m,
    first_position_state,
    next_position_state,
    position_control,
    thrust_vector,
    velocity_setpoint,
)
from fieldworthy.core.vec import Vec3, quat_identity

P = default_gains(MASS, INERTIA, ROTORS, 0.002, GRAVITY).position
ZERO = Vec3(0.0, 0.0, 0.0)


def at(pos=ZERO, vel=ZERO):
    return Estimate(pos, vel, quat_identity(), ZERO, 0.0)


def test_profile_brakes_at_the_planned_deceleration():
    """Flown exactly from afar, v dv/dd = a; near the target v = K d. Value and slope meet between."""
    gain, braking = 0.8, 2.0

    def speed(d):
        return d * approach_speed_per_m(d, gain, braking)

    for d in (5.0, 20.0, 80.0):
        slope = (speed(d + 1e-4) - speed(d - 1e-4)) / 2e-4
        assert speed(d) * slope == pytest.approx(braking, rel=1e-6)
    assert speed(1.0) == pytest.approx(0.8)
    blend = braking / gain**2
    assert speed(blend + 1e-9) == pytest.approx(speed(blend - 1e-9))
    assert (speed(blend + 1e-4) - speed(blend)) / 1e-4 == pytest.approx(gain, rel=1e-3)


def test_velocity_goes_straight_at_the_target_and_no_faster_than_allowed():
    v = velocity_setpoint(P, setpoint(north_m=300.0, east_m=400.0, up_m=100.0), at())
    assert (v.x, v.y) == pytest.approx((0.6 * P.speed_max_m_s, 0.8 * P.speed_max_m_s))
    assert v.z == pytest.approx(-P.climb_max_m_s)
    slow = velocity_setpoint(P, setpoint(north_m=-300.0, up_m=-100.0, speed_max_m_s=1.5), at())
    assert (slow.x, slow.z) == pytest.approx((-1.5, 1.5))
    above = velocity_setpoint(P, setpoint(north_m=300.0, up_m=0.0, speed_max_m_s=99.0), at())
    assert above.x == pytest.approx(P.speed_max_m_s)
    there = velocity_setpoint(P, setpoint(up_m=7.0, north_m_s=2.0, up_m_s=0.5), at(Vec3(0.0, 0.0, -7.0)))
    assert [*there] == pytest.approx([2.0, 0.0, -0.5])


def test_hover_carries_the_weight():
    force = thrust_vector(P, ZERO)
    assert [*force] == pytest.approx([0.0, 0.0, -MASS * GRAVITY], abs=1e-9)


@given(st.tuples(*(st.floats(-60.0, 60.0) for _ in range(3))))
def test_height_goes_before_sideways(a):
    """Newton's law within the limits; outside, the upward part is kept if it can be and the direction in the plane."""
    f = thrust_vector(P, Vec3(*a))
    up, flat = -f.z, math.hypot(f.x, f.y)
    wanted_up = MASS * (GRAVITY - a[2])
    assert up == pytest.approx(min(max(wanted_up, P.force_min_n), P.force_up_max_n))
    assert math.hypot(up, flat) <= P.force_max_n * (1.0 + 1e-9)
    assert math.atan2(flat, up) <= P.tilt_max_rad + 1e-9
    assert f.x * a[1] == pytest.approx(f.y * a[0], abs=1e-6)
    assert f.x * a[0] >= 0.0
    wanted_flat = MASS * math.hypot(a[0], a[1])
    if flat < wanted_flat * (1.0 - 1e-9) - 1e-9:
        limits = (up * math.tan(P.tilt_max_rad), math.sqrt(P.force_max_n**2 - up**2))
        assert flat == pytest.approx(min(limits), rel=1e-6)


def test_a_steady_push_is_learnt_with_both_poles_at_the_bandwidth():
    """d' = w^2 (v - u), u' = a + 2 w (v - u): the estimate of a step is d (1 - (1 + w t) e^-wt)."""
    options, state, vel, push = PositionOptions(), first_position_state(PositionOptions(), ZERO), 0.0, 1.5
    w, dt, found = P.disturbance_bandwidth_rad_s, 0.001, []
    for _ in range(5000):
        force = Vec3(0.3 * math.sin(vel), 0.0, -MASS * GRAVITY)
        state = next_position_state(options, P, Vec3(vel, 0.0, 0.0), state, force, dt)
        vel += dt * (force.x / MASS + push)
        found.append(state.disturbance_ned_m_s2.x)
    t = dt * np.arange(1, 5001)
    # Steps of 1 ms: w dt = 0.1 % of the push.
    assert np.abs(np.array(found) - push * (1.0 - (1.0 + w * t) * np.exp(-w * t))).max() < 0.002 * push
    assert state.disturbance_ned_m_s2.z == pytest.approx(0.0, abs=1e-12)


def test_a_limited_force_teaches_nothing():
    """Against its stop for 10 s, an integral of the velocity error would have grown to 10 s times the error."""
    options, state, vel = PositionOptions(), first_position_state(PositionOptions(), ZERO), ZERO
    far = setpoint(north_m=1e4, speed_max_m_s=0.0)
    for _ in range(5000):
        force = position_control(options, P, far, at(vel=vel), state, 0.002)
        state = next_position_state(options, P, vel, state, force, 0.002)
        vel = vel + (force / MASS + Vec3(0.0, 0.0, GRAVITY)) * 0.002
    assert max(abs(d) for d in state.disturbance_ned_m_s2) < 1e-6


def test_derivative_opposes_measured_acceleration():
    """The low-passed slope of a ramp is the ramp's slope once the filter has settled."""
    options = PositionOptions(disturbance=False, derivative=True)
    p = default_gains(MASS, INERTIA, ROTORS, 0.002, GRAVITY).position
    p.velocity_derivative_gain = 0.25
    state, dt = first_position_state(options, ZERO), 0.002
    for i in range(2000):
        vel = Vec3(3.0 * i * dt, 0.0, 0.0)
        a = acceleration_demand(options, p, vel, vel, state, dt)
        state = next_position_state(options, p, vel, state, ZERO, dt)
    assert a.x == pytest.approx(-0.25 * 3.0, rel=1e-6)
