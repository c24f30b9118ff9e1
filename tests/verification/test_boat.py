"""The boat: steady states that balance, closed forms of coasting, free bodies that go straight, limits that hold."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldworthy.core.constants import SEA_LEVEL_DENSITY_KG_M3
from fieldworthy.core.integrate import rk4
from fieldworthy.environment.sea import Sea
from fieldworthy.vehicles.boat import BoatCommand, BoatParameters, BoatState, boat_rates

CALM = Sea(0.0, 0.0, 0.0, 0.0)
REST = BoatState(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
IDLE = BoatCommand(0.0, 0.0)

# A free body: no drag, no wind area, controllers too weak to matter unless a test strengthens them.
FREE = BoatParameters(
    mass_kg=800.0, yaw_inertia_kg_m2=1100.0, length_m=5.0, beam_m=2.0,
    surge_gain_n_s_m=1e-30, surge_integral_gain_n_m=0.0, surge_force_max_n=1e9, surge_force_min_n=-1e9,
    yaw_gain_n_m_s_rad=1e-30, yaw_integral_gain_n_m_rad=0.0, yaw_moment_max_n_m=1e9,
    surge_drag_n_s_m=0.0, surge_drag_n_s2_m2=0.0, sway_drag_n_s_m=0.0, sway_drag_n_s2_m2=0.0,
    yaw_drag_n_m_s_rad=0.0, yaw_drag_n_m_s2_rad2=0.0, speed_max_m_s=1e9, yaw_rate_max_rad_s=1e9,
    wind_front_area_m2=0.0, wind_side_area_m2=0.0, wind_surge_coefficient=0.0, wind_sway_coefficient=0.0,
    wind_yaw_coefficient=0.0,
)  # fmt: skip
FULL = replace(
    FREE, surge_gain_n_s_m=1500.0, surge_force_max_n=2500.0, surge_force_min_n=-1000.0, yaw_gain_n_m_s_rad=4000.0,
    yaw_moment_max_n_m=2500.0, surge_drag_n_s_m=40.0, surge_drag_n_s2_m2=34.0, sway_drag_n_s_m=800.0,
    sway_drag_n_s2_m2=900.0, yaw_drag_n_m_s_rad=900.0, yaw_drag_n_m_s2_rad2=500.0, speed_max_m_s=6.5,
    yaw_rate_max_rad_s=0.6, wind_front_area_m2=2.0, wind_side_area_m2=3.5, wind_surge_coefficient=0.7,
    wind_sway_coefficient=0.9, wind_yaw_coefficient=0.05,
)  # fmt: skip
CALM_AIR = replace(FULL, wind_front_area_m2=0.0, wind_side_area_m2=0.0)
"""Air that does not resist: a moving boat makes its own wind."""


def sail(state, command, sea, parameters, duration_s, dt_s=0.02):
    """Every state from the start on."""
    states = [state]
    for _ in range(round(duration_s / dt_s)):
        states.append(rk4(lambda s: boat_rates(s, command, sea, parameters), states[-1], dt_s))
    return states


def velocity_ne(state):
    c, s = math.cos(state.heading_rad), math.sin(state.heading_rad)
    return state.surge_m_s * c - state.sway_m_s * s, state.surge_m_s * s + state.sway_m_s * c


# --- steady states ---------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(
    command=st.floats(0.5, 6.0),
    linear=st.floats(0.0, 200.0),
    quadratic=st.floats(1.0, 100.0),
    gain=st.floats(300, 3000),
)
def test_terminal_speed_is_where_thrust_equals_drag(command, linear, quadratic, gain):
    p = replace(FREE, surge_gain_n_s_m=gain, surge_drag_n_s_m=linear, surge_drag_n_s2_m2=quadratic)
    # K (c - u) = d1 u + d2 u^2
    root = (-(gain + linear) + math.sqrt((gain + linear) ** 2 + 4.0 * quadratic * gain * command)) / (2.0 * quadratic)
    end = sail(REST, BoatCommand(command, 0.0), CALM, p, 40.0, 0.2)[-1]
    assert end.surge_m_s == pytest.approx(root, rel=1e-6)
    assert (end.sway_m_s, end.heading_rad, end.east_m) == (0.0, 0.0, 0.0)


def test_full_thrust_ends_at_the_root_of_the_drag_parabola():
    p = replace(CALM_AIR, speed_max_m_s=1e9)
    end = sail(REST, BoatCommand(50.0, 0.0), CALM, p, 60.0)[-1]
    assert 40.0 * end.surge_m_s + 34.0 * end.surge_m_s**2 == pytest.approx(2500.0, rel=1e-6)


def test_integral_action_removes_the_steady_error():
    p = replace(CALM_AIR, surge_integral_gain_n_m=300.0, yaw_integral_gain_n_m_rad=2000.0)
    end = sail(REST, BoatCommand(3.0, 0.2), CALM, p, 60.0)[-1]
    assert end.surge_m_s == pytest.approx(3.0, abs=1e-6)
    assert end.yaw_rate_rad_s == pytest.approx(0.2, abs=1e-6)


def test_commands_are_limited():
    p = replace(
        CALM_AIR,
        surge_integral_gain_n_m=300.0,
        yaw_integral_gain_n_m_rad=2000.0,
        surge_force_max_n=1e5,
        yaw_moment_max_n_m=1e5,
    )
    ahead = sail(REST, BoatCommand(50.0, 9.0), CALM, p, 120.0, 0.1)[-1]
    assert (ahead.surge_m_s, ahead.yaw_rate_rad_s) == pytest.approx((6.5, 0.6), abs=1e-4)
    p = replace(p, surge_force_min_n=-1e5)
    astern = sail(REST, BoatCommand(-50.0, -9.0), CALM, p, 120.0, 0.1)[-1]
    assert (astern.surge_m_s, astern.yaw_rate_rad_s) == pytest.approx((-6.5, -0.6), abs=1e-4)


def test_steady_turn_balances_the_centripetal_force():
    # In a steady turn nothing accelerates in body axes, so m u r is the drag of the drift: m u r = -D(v).
    p = replace(CALM_AIR, surge_integral_gain_n_m=300.0, yaw_integral_gain_n_m_rad=2000.0)
    end = sail(REST, BoatCommand(4.0, 0.4), CALM, p, 60.0)[-1]
    u, v, r = end.surge_m_s, end.sway_m_s, end.yaw_rate_rad_s
    assert v < 0.0  # turning to starboard the boat slides out to port
    assert 800.0 * u * r == pytest.approx(-(800.0 + 900.0 * abs(v)) * v, rel=1e-6)
    # And its centre of mass runs a circle of radius speed / r.
    states = sail(end, BoatCommand(4.0, 0.4), CALM, p, 2.0 * math.pi / r, 2.0 * math.pi / r / 800)
    width = max(s.north_m for s in states) - min(s.north_m for s in states)
    assert width == pytest.approx(2.0 * math.hypot(u, v) / r, rel=1e-4)


# --- closed forms in time --------------------------------------------------------------------------------------------


def test_speed_comes_up_exponentially_with_linear_drag():
    p = replace(FREE, surge_gain_n_s_m=1500.0, surge_drag_n_s_m=300.0)
    rate, final = (1500.0 + 300.0) / 800.0, 1500.0 * 2.0 / (1500.0 + 300.0)
    for i, state in enumerate(sail(REST, BoatCommand(2.0, 0.0), CALM, p, 3.0)):
        t_s = i * 0.02
        way = final * (t_s - (1.0 - math.exp(-rate * t_s)) / rate)
        assert state.surge_m_s == pytest.approx(final * (1.0 - math.exp(-rate * t_s)), abs=1e-7)
        assert state.north_m == pytest.approx(way, abs=1e-7)


def test_yaw_rate_comes_up_exponentially_with_linear_drag():
    p = replace(FREE, yaw_gain_n_m_s_rad=4000.0, yaw_drag_n_m_s_rad=1000.0)
    rate, final = 5000.0 / 1100.0, 4000.0 * 0.3 / 5000.0
    end = sail(REST, BoatCommand(0.0, 0.3), CALM, p, 0.5)[-1]
    assert end.yaw_rate_rad_s == pytest.approx(final * (1.0 - math.exp(-rate * 0.5)), abs=1e-6)
    assert end.heading_rad == pytest.approx(final * (0.5 - (1.0 - math.exp(-rate * 0.5)) / rate), abs=1e-6)


@pytest.mark.parametrize(
    ("field", "drag", "inertia"),
    [
        ("surge_m_s", "surge_drag_n_s2_m2", 800.0),
        ("sway_m_s", "sway_drag_n_s2_m2", 800.0),
        ("yaw_rate_rad_s", "yaw_drag_n_m_s2_rad2", 1100.0),
    ],
)
@pytest.mark.parametrize("v0", [3.0, -3.0])
def test_coasting_against_quadratic_drag_decays_as_one_over_time(field, drag, inertia, v0):
    # v' = -(d/m) |v| v has v = v0 / (1 + d |v0| t / m)
    p = replace(FREE, **{drag: 200.0})
    end = sail(replace(REST, **{field: v0}), IDLE, CALM, p, 10.0)[-1]
    assert getattr(end, field) == pytest.approx(v0 / (1.0 + 200.0 / inertia * abs(v0) * 10.0), rel=1e-7)


# --- the free body: Coriolis terms -----------------------------------------------------------------------------------


@settings(max_examples=25)
@given(u=st.floats(-6, 6), v=st.floats(-3, 3), r=st.floats(-1.5, 1.5), heading=st.floats(-math.pi, math.pi))
def test_a_free_body_goes_straight_while_it_spins(u, v, r, heading):
    start = replace(REST, surge_m_s=u, sway_m_s=v, yaw_rate_rad_s=r, heading_rad=heading)
    end = sail(start, IDLE, CALM, FREE, 4.0)[-1]
    north, east = velocity_ne(start)
    assert (end.north_m, end.east_m) == pytest.approx((4.0 * north, 4.0 * east), abs=1e-5)
    assert velocity_ne(end) == pytest.approx((north, east), abs=1e-6)
    assert end.heading_rad == pytest.approx(heading + 4.0 * r)
    # Kinetic energy stays, to the fourth-order error of the step.
    assert end.surge_m_s**2 + end.sway_m_s**2 == pytest.approx(u**2 + v**2, abs=1e-6)


def test_forward_means_north_at_heading_zero_and_east_at_ninety_degrees():
    north = boat_rates(replace(REST, surge_m_s=2.0, sway_m_s=1.0), IDLE, CALM, FREE)
    assert (north.north_m, north.east_m) == (2.0, 1.0)
    east = boat_rates(replace(REST, surge_m_s=2.0, sway_m_s=1.0, heading_rad=math.pi / 2), IDLE, CALM, FREE)
    assert (east.north_m, east.east_m) == pytest.approx((-1.0, 2.0))


# --- current and wind ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("heading", [0.0, 0.9, -2.0])
def test_an_idle_boat_drifts_with_the_current(heading):
    sea = Sea(0.6, -0.8, 0.0, 0.0)
    p = CALM_AIR
    end = sail(replace(REST, heading_rad=heading), IDLE, sea, p, 200.0, 0.1)[-1]
    assert velocity_ne(end) == pytest.approx((0.6, -0.8), abs=1e-4)
    assert end.heading_rad == pytest.approx(heading)


def test_a_current_carries_the_whole_track():
    # The same manoeuvre in a frame that moves with the water: tracks differ by current * time.
    p = replace(CALM_AIR, surge_integral_gain_n_m=300.0)
    command = BoatCommand(4.0, 0.3)
    moving = replace(REST, surge_m_s=1.0, sway_m_s=-0.5)  # at rest in water that moves with (1, -0.5)
    still, carried = (
        sail(REST, command, CALM, p, 10.0)[-1],
        sail(moving, command, Sea(1.0, -0.5, 0.0, 0.0), p, 10.0)[-1],
    )
    assert carried.north_m - still.north_m == pytest.approx(10.0, abs=1e-4)
    assert carried.east_m - still.east_m == pytest.approx(-5.0, abs=1e-4)
    assert carried.heading_rad == pytest.approx(still.heading_rad)


def test_wind_drift_is_where_the_wind_force_equals_the_drag():
    # Wind from the beam onto a hull that does not weathervane.
    p = replace(FULL, wind_yaw_coefficient=0.0)
    end = sail(REST, IDLE, Sea(0.0, 0.0, 0.0, 10.0), p, 60.0)[-1]
    drift = end.sway_m_s
    assert 0.1 < drift < 1.0
    force = 0.5 * 1.225 * 0.9 * 3.5 * (10.0 - drift) ** 2
    assert force == pytest.approx(800.0 * drift + 900.0 * drift**2, rel=1e-6)
    assert SEA_LEVEL_DENSITY_KG_M3 == 1.225  # ISA sea level


def test_wind_pushes_where_it_blows_and_turns_by_its_coefficient():
    blow = boat_rates(REST, IDLE, Sea(0.0, 0.0, 0.0, 8.0), FULL)  # from port, towards east
    assert blow.sway_m_s > 0.0
    assert blow.yaw_rate_rad_s > 0.0
    assert blow.surge_m_s == 0.0
    following = boat_rates(REST, IDLE, Sea(0.0, 0.0, 8.0, 0.0), FULL)
    assert following.surge_m_s == pytest.approx(0.5 * 1.225 * 0.7 * 2.0 * 64.0 / 800.0)
    assert following.sway_m_s == 0.0
    # Air that moves with the boat does not push.
    with_it = boat_rates(replace(REST, surge_m_s=8.0), IDLE, Sea(8.0, 0.0, 8.0, 0.0), FULL)
    assert with_it.surge_m_s == pytest.approx(0.0, abs=1e-9)


# --- limits and wind-up ----------------------------------------------------------------------------------------------


@given(
    u=st.floats(-8, 8), r=st.floats(-2, 2), command=st.floats(-50, 50), turn=st.floats(-9, 9), stored=st.floats(-50, 50)
)
def test_force_and_moment_keep_their_limits(u, r, command, turn, stored):
    p = replace(
        FREE, surge_gain_n_s_m=1500.0, surge_integral_gain_n_m=300.0, yaw_gain_n_m_s_rad=4000.0,
        yaw_integral_gain_n_m_rad=2000.0, surge_force_max_n=2500.0, surge_force_min_n=-1000.0,
        yaw_moment_max_n_m=2500.0,
    )  # fmt: skip
    state = replace(REST, surge_m_s=u, yaw_rate_rad_s=r, surge_error_m=stored, yaw_error_rad=stored)
    rates = boat_rates(state, BoatCommand(command, turn), CALM, p)
    assert -1000.0 - 1e-6 <= 800.0 * rates.surge_m_s <= 2500.0 + 1e-6
    assert abs(1100.0 * rates.yaw_rate_rad_s) <= 2500.0 + 1e-6


def overshoot(hold_s):
    """How far below the new speed the boat falls after full thrust against a headwind for a time."""
    p = replace(CALM_AIR, surge_integral_gain_n_m=300.0, surge_force_max_n=900.0)
    wound = sail(REST, BoatCommand(6.5, 0.0), CALM, p, hold_s, 0.1)[-1]
    assert wound.surge_m_s < 6.0  # thrust does not suffice: saturated all along
    after = sail(wound, BoatCommand(3.0, 0.0), CALM, p, 30.0, 0.1)
    return max(0.0, 3.0 - min(s.surge_m_s for s in after)), max(s.surge_m_s for s in after[80:]) - 3.0


def test_long_saturation_does_not_wind_the_controller_up():
    # Without anti-windup the stored error grows with the time held, and so does what follows.
    (under_short, over_short), (under_long, over_long) = overshoot(40.0), overshoot(300.0)
    assert under_long == pytest.approx(under_short, abs=1e-3)
    assert over_long == pytest.approx(over_short, abs=1e-3)
    assert over_long < 0.35


def test_the_stored_error_is_worth_no_more_than_the_limit():
    p = replace(
        CALM_AIR,
        surge_integral_gain_n_m=300.0,
        surge_force_max_n=900.0,
        yaw_integral_gain_n_m_rad=2000.0,
        yaw_moment_max_n_m=200.0,
    )
    end = sail(REST, BoatCommand(6.5, 0.6), CALM, p, 300.0, 0.1)[-1]
    assert 300.0 * end.surge_error_m <= 900.0 * (1 + 1e-6)
    assert 2000.0 * end.yaw_error_rad <= 200.0 * (1 + 1e-6)


# --- symmetry and order ----------------------------------------------------------------------------------------------


@given(
    state=st.tuples(*[st.floats(-3, 3)] * 8),
    command=st.tuples(st.floats(-8, 8), st.floats(-2, 2)),
    sea=st.tuples(*[st.floats(-5, 5)] * 4),
)
def test_port_and_starboard_are_mirror_images(state, command, sea):
    def mirrored(s):
        return BoatState(
            s.north_m,
            -s.east_m,
            -s.heading_rad,
            s.surge_m_s,
            -s.sway_m_s,
            -s.yaw_rate_rad_s,
            s.surge_error_m,
            -s.yaw_error_rad,
        )

    p = replace(CALM_AIR, surge_integral_gain_n_m=300.0, yaw_integral_gain_n_m_rad=2000.0)
    here = boat_rates(BoatState(*state), BoatCommand(*command), Sea(*sea), p)
    there = boat_rates(
        mirrored(BoatState(*state)), BoatCommand(command[0], -command[1]), Sea(sea[0], -sea[1], sea[2], -sea[3]), p
    )
    a, b = mirrored(here), there
    assert [getattr(a, f) for f in vars(a)] == pytest.approx([getattr(b, f) for f in vars(b)], rel=1e-12, abs=1e-12)


def test_the_step_is_of_fourth_order():
    # Unsaturated, speeds of one sign: the right-hand side is smooth there.
    p = replace(
        CALM_AIR,
        surge_integral_gain_n_m=300.0,
        yaw_integral_gain_n_m_rad=2000.0,
        surge_force_max_n=1e9,
        yaw_moment_max_n_m=1e9,
    )
    start = replace(REST, surge_m_s=2.0, sway_m_s=-0.5, yaw_rate_rad_s=0.1)
    command, sea = BoatCommand(5.0, 0.5), Sea(0.2, -0.3, 3.0, 4.0)

    def end(steps):
        last = sail(start, command, sea, p, 2.0, 2.0 / steps)[-1]
        return np.array(
            [last.north_m, last.east_m, last.heading_rad, last.surge_m_s, last.sway_m_s, last.yaw_rate_rad_s]
        )

    steps, exact = np.array([40, 80, 160]), end(2560)
    error = [np.abs(end(int(n)) - exact).max() for n in steps]
    order = -np.polyfit(np.log(steps), np.log(error), 1)[0]
    assert order == pytest.approx(4.0, abs=0.2)
