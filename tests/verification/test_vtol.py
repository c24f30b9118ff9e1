"""The quadplane's change between rotors and wings: every way through the phases, then a whole flight."""

from dataclasses import replace
from math import radians

import numpy as np
import pytest
from airplane_rig import GAINS, INERTIA, LIFT_ROTORS, MASS, PlaneCommand, fly, start, wing_setpoint
from drjit.llvm.ad import Float64

from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.multirotor import MultirotorOptions
from fieldworthy.control.multirotor_gains import default_gains
from fieldworthy.control.setpoint import HOVER, WING
from fieldworthy.control.vtol import (
    CRUISING,
    HOVERING,
    SLOWING_DOWN,
    SPEEDING_UP,
    VtolParameters,
    first_vtol,
    next_vtol,
    rotor_setpoint,
    surface_share,
)
from fieldworthy.control.vtol_autopilot import VtolAutopilotParameters, first_vtol_autopilot, vtol_control
from fieldworthy.core.lanes import logical_and, select
from fieldworthy.core.vec import Vec3, quat_from_yaw

DT = 0.01
P = VtolParameters(
    blend_airspeed_m_s=14.0, wing_airspeed_m_s=19.0, hover_airspeed_m_s=8.0, pusher_throttle=1.0, speed_up_limit_s=15.0,
    slow_down_limit_s=12.0, fade_s=1.0, aligned_rad=0.3,
)  # fmt: skip
ON_WINGS = wing_setpoint(up_m=50.0)
HOVERED = replace(ON_WINGS, way=HOVER, heading_rad=1.0)


def at(airspeed, heading=0.0):
    still = Vec3(0.0, 0.0, 0.0)
    return Estimate(Vec3(3.0, 4.0, -50.0), Vec3(airspeed, 1.0, 0.0), quat_from_yaw(heading), still, airspeed)


def walk(*steps, dt=0.1):
    """(setpoint, airspeed, seconds) one after the other; the states at the end of each."""
    state, ends = first_vtol(), []
    for setpoint, airspeed, seconds in steps:
        for _ in range(round(seconds / dt)):
            state = next_vtol(P, setpoint, at(airspeed), state, dt)
        ends.append(state)
    return ends


def test_a_flight_goes_through_the_phases_in_order():
    ends = walk(
        (HOVERED, 0.0, 1.0), (ON_WINGS, 5.0, 3.0), (ON_WINGS, 16.5, 3.0), (ON_WINGS, 20.0, 3.0), (HOVERED, 20.0, 3.0),
        (HOVERED, 7.0, 1.0),
    )  # fmt: skip
    assert [s.phase for s in ends] == [HOVERING, SPEEDING_UP, SPEEDING_UP, CRUISING, SLOWING_DOWN, HOVERING]
    assert [s.rotor_share for s in ends] == pytest.approx([1.0, 1.0, 0.5, 0.0, 1.0, 1.0])


def test_share_changes_no_faster_than_the_fade():
    ends = walk((ON_WINGS, 5.0, 1.0), (ON_WINGS, 25.0, 0.3), (ON_WINGS, 25.0, 0.3), (HOVERED, 25.0, 0.2))
    assert [s.rotor_share for s in ends] == pytest.approx([1.0, 0.7, 0.4, 0.6])


def test_speeding_up_that_takes_too_long_is_given_up_until_hovering_is_asked_for():
    given_up, hovering, still, again = walk(
        (ON_WINGS, 12.0, 15.5), (ON_WINGS, 5.0, 1.0), (ON_WINGS, 5.0, 60.0), (HOVERED, 0.0, 0.1)
    )
    assert given_up.phase == SLOWING_DOWN
    assert (hovering.phase, still.phase) == (HOVERING, HOVERING)
    assert (given_up.refused, still.refused, again.refused) == (1.0, 1.0, 0.0)
    assert rotor_setpoint(ON_WINGS, at(5.0), still).north_m == ON_WINGS.north_m, "the rest of the leg is hovered"
    assert next_vtol(P, ON_WINGS, at(0.0), again, 0.1).phase == SPEEDING_UP


def test_slowing_down_ends_after_its_time():
    ends = walk((ON_WINGS, 20.0, 2.0), (HOVERED, 15.0, 11.0), (HOVERED, 15.0, 2.0))
    assert [s.phase for s in ends] == [CRUISING, SLOWING_DOWN, HOVERING]


def test_rotors_come_back_when_the_wings_are_too_slow():
    ends = walk((ON_WINGS, 20.0, 2.0), (ON_WINGS, 13.0, 2.0))
    assert ends[-1].phase == SPEEDING_UP
    assert ends[-1].rotor_share == pytest.approx(1.0)


def test_change_of_mind_turns_back():
    ends = walk((ON_WINGS, 10.0, 2.0), (HOVERED, 10.0, 0.1), (ON_WINGS, 10.0, 0.1))
    assert [s.phase for s in ends] == [SPEEDING_UP, SLOWING_DOWN, SPEEDING_UP]


def test_pusher_waits_for_the_nose():
    state = next_vtol(P, ON_WINGS, at(0.0, heading=1.0), first_vtol(), 0.1)
    assert state.phase == HOVERING
    asked = rotor_setpoint(ON_WINGS, at(0.0, heading=1.0), state)
    assert (asked.north_m, asked.east_m, asked.north_m_s, asked.heading_rad) == (3.0, 4.0, 0.0, 0.0)
    assert next_vtol(P, ON_WINGS, at(0.0, heading=0.2), state, 0.1).phase == SPEEDING_UP


def test_rotors_ask_for_no_sideways_force_between_the_ways():
    state = walk((ON_WINGS, 5.0, 1.0))[0]
    asked = rotor_setpoint(ON_WINGS, at(5.0), state)
    assert (asked.north_m, asked.east_m, asked.north_m_s, asked.east_m_s) == (3.0, 4.0, 5.0, 1.0)
    assert (asked.up_m, asked.heading_rad, asked.way) == (50.0, 0.0, HOVER)


def test_surfaces_have_no_share_in_hover_and_all_of_it_from_the_blend_on():
    hover, speeding = walk((HOVERED, 20.0, 0.1), (ON_WINGS, 14.0, 0.1))
    assert surface_share(P, hover, 20.0) == 0.0
    assert [surface_share(P, speeding, v) for v in (0.0, 7.0, 10.5, 14.0, 30.0)] == [0.0, 0.0, 0.5, 1.0, 1.0]


def test_whole_flight_keeps_its_height_and_changes_both_ways():
    """Hover at 50 m, 40 s on wings to the north, hover again; in still air and in 5 m/s of crosswind, nose to it.

    The rotors alone could not hold this tail across such a wind: 4 x 0.02 m x 27 N of yaw against 2.8 N m.
    """
    options = MultirotorOptions()
    hover = default_gains(MASS, INERTIA, LIFT_ROTORS, DT, speed_max_m_s=6.0, tilt_max_rad=radians(20.0))
    change = replace(P, slow_down_limit_s=30.0)
    p = VtolAutopilotParameters(hover, GAINS, change)
    wind = Vec3(0.0, Float64([0.0, 5.0, -5.0]), 0.0)
    to_the_wind = Float64([0.0, -radians(90.0), radians(90.0)])

    def autopilot(t, estimate, memory):
        on_wings = logical_and(t > 5.0, t < 45.0)
        setpoint = replace(
            ON_WINGS,
            north_m=select(on_wings, 3000.0, select(t < 5.0, 0.0, 1200.0)),
            way=select(on_wings, WING, HOVER),
            heading_rad=to_the_wind,
        )
        command, memory, _ = vtol_control(options, p, setpoint, estimate, memory, DT)
        s = command.surfaces
        plane = PlaneCommand(s.aileron, s.elevator, s.rudder, command.pusher_throttle, command.rotor_thrust_n)
        return plane, memory, (memory.change.phase, memory.change.rotor_share)

    begin = start(airspeed=0.0, up=50.0, rotors=4)
    r = fly(
        autopilot, lambda e: first_vtol_autopilot(options, e), begin, 120.0, wind=wind, lanes=3,
        extra=("phase", "share"),
    )  # fmt: skip
    t = r["t"][:, 0]
    for lane in range(3):
        order = r["phase"][:, lane][np.concatenate([[True], np.diff(r["phase"][:, lane]) != 0])]
        assert order.tolist() == [HOVERING, SPEEDING_UP, CRUISING, SLOWING_DOWN, HOVERING], f"lane {lane}"
    # The lift that goes as the nose rises to brake has to be learnt by the rotors.
    assert np.abs(r["up"] - 50.0).max() < 7.0
    cruise = (t > 35.0) & (t < 45.0)
    assert r["airspeed"][cruise] == pytest.approx(25.0, abs=0.5)
    assert r["e"][cruise] == pytest.approx(0.0, abs=1.0)
    assert r["share"][cruise].max() == 0.0
    assert r["throttle"][t > 50.0].max() == 0.0
    assert np.abs(r["n"][-1] - 1200.0).max() < 1.0
    assert np.abs(r["e"][-1]).max() < 1.0
    assert np.abs(r["roll"]).max() < 50.0
