"""The built-in flights reach their goals by their own estimates, and what breaks does what it must."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from fieldworthy.scenario import Scenario, load
from fieldworthy.scenario.load import set_value
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.result import Result

SECONDS = {
    "quad-hover": (10.0, 16.0),
    "quad-step": (5.0, 12.0),
    "quad-waypoints": (25.0, 50.0),
    "quad-gust": (20.0, 30.0),
    "quad-slung-load": (30.0, 60.0),
    "plane-circuit": (70.0, 100.0),
    "vtol-transition": (100.0, 160.0),
}
"""Between the length of the way at the speed asked for, with what is held, and a little over it."""
LONG = {"plane-circuit", "vtol-transition"}
"""More than a few seconds each."""


@cache
def flown(name: str, trials: int = 2, **changes: Any) -> Result:
    """A built-in scenario with values changed: dots are written as double underlines."""
    scenario = load(name)
    for path, value in changes.items():
        # Frozen for the cache.
        value = [dict(item) for item in value] if path == "faults" else value
        scenario = set_value(scenario, path.replace("__", "."), value)
    return fly(scenario, trials=trials)


def fault(kind: str, **values: Any) -> tuple[tuple[tuple[str, Any], ...], ...]:
    return (tuple({"kind": kind, **values}.items()),)


def track(result: Result, name: str, trial: int = 0) -> np.ndarray[Any, Any]:
    values = np.asarray(result.tracks[name][trial], dtype=float)
    return values[: result.length[trial]]


# The built-in ones ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in SECONDS]
)
def test_a_built_in_flight_reaches_its_goal(name: str) -> None:
    result = flown(name)
    assert list(result.outcome) == ["goal", "goal"], list(result.why)
    low, high = SECONDS[name]
    assert np.all((result.time_s > low) & (result.time_s < high)), result.time_s


@pytest.mark.parametrize("name", SECONDS)
def test_a_built_in_flight_tells_of_itself(name: str) -> None:
    scenario: Scenario = load(name)
    assert scenario.title
    assert len(scenario.description) > 100
    assert scenario.trials == 10


def test_a_take_off_keeps_its_place() -> None:
    """On the ground nothing is asked of it and nothing wound up: it rises as straight as its belief is good."""
    result = flown("quad-hover")
    for trial in range(2):
        north, east = track(result, "north_m", trial), track(result, "east_m", trial)
        rising = track(result, "up_m", trial) < 4.0
        assert np.hypot(north[rising], east[rising]).max() < 0.6
        assert track(result, "up_m", trial).max() < 6.0


def test_a_step_is_answered_without_overshoot_to_speak_of() -> None:
    result = flown("quad-step")
    for trial in range(2):
        # Closed loop in test_multirotor_control: under 2 %; the sinking or rising of a wrong mass leans on it at first.
        assert track(result, "north_m", trial).max() < 5.0 + 0.03 * 5.0
        assert np.abs(track(result, "east_m", trial)).max() < 0.01


@pytest.mark.slow
def test_a_quadplane_is_carried_by_what_should_carry_it() -> None:
    """Rotors alone in hover, wings alone in cruise, and it lands on its feet with its rotors at rest."""
    result = flown("vtol-transition")
    fast = (track(result, "airspeed_m_s") > 25.5) & (track(result, "mode") == 1)
    assert fast.any()
    assert track(result, "rotor_0_rad_s")[fast].max() < 1.0
    assert track(result, "rotor_4_rad_s")[fast].min() > 300.0
    low = (track(result, "up_m") < 20.0) & (track(result, "up_m") > 2.0)
    assert track(result, "rotor_0_rad_s")[low].min() > 200.0
    assert track(result, "rotor_4_rad_s")[low].max() < 1.0
    assert track(result, "up_m")[-1] < 0.35
    assert track(result, "rotor_0_rad_s")[-1] < 100.0


def test_a_slung_load_stops_swinging() -> None:
    """It swings at a corner and hangs straight at the end, within what gusts do."""
    result = flown("quad-slung-load")
    off = np.hypot(
        track(result, "load_north_m") - track(result, "north_m"), track(result, "load_east_m") - track(result, "east_m")
    )
    assert off.max() > 0.5
    assert off[-200:].mean() < 0.4


# By the truth, with everything, other vehicles -----------------------------------------------------------------------


@pytest.mark.parametrize("vehicle", ["x500", pytest.param("hexa-f550", marks=pytest.mark.slow)])
@pytest.mark.parametrize("navigation", ["truth", "estimate"])
def test_waypoints_by_truth_and_by_estimate(vehicle: str, navigation: str) -> None:
    result = flown("quad-waypoints", vehicle__model=vehicle, control__navigation=navigation)
    assert list(result.outcome) == ["goal", "goal"], list(result.why)


@pytest.mark.slow
def test_every_effect_at_once() -> None:
    result = flown(
        "quad-waypoints", effects__flapping=True, effects__vibration=True, effects__battery_heat=True,
        effects__wall_effect=True, effects__ceiling_effect=True, air__wall_north_m=34.0, air__roof_up_m=20.0,
    )  # fmt: skip
    assert list(result.outcome) == ["goal", "goal"], list(result.why)


def test_a_goal_on_the_ground_is_landed_on() -> None:
    result = flown(
        "quad-hover", start__up_m=6.0, goal__up_m=0.0, goal__north_m=8.0, goal__radius_m=2.5, goal__hold_s=12.0
    )
    assert list(result.outcome) == ["goal", "goal"], list(result.why)
    for trial in range(2):
        # On its feet, level, rotors at their idle speed (93.7 rad/s) or on the way to it.
        assert track(result, "up_m", trial)[-1] == pytest.approx(0.23, abs=0.005)
        assert abs(track(result, "roll_rad", trial)[-1]) < 0.02
        assert track(result, "rotor_0_rad_s", trial)[-1] < 130.0


# What breaks ---------------------------------------------------------------------------------------------------------


def test_a_quadrotor_that_loses_a_rotor_crashes_and_says_why() -> None:
    result = flown("quad-waypoints", faults=fault("rotor-loss", part="1", at_s=8.0))
    assert list(result.outcome) == ["collision", "collision"]
    for why, time_s in zip(result.why, result.time_s, strict=True):
        assert why.startswith("hit the ground ")
        assert "m/s; rotor 1 had lost its thrust at 8.0 s" in why
        # From 5 m up: the free fall takes 1 s.
        assert 8.5 < time_s < 11.0


@pytest.mark.slow
def test_a_hexacopter_that_loses_a_rotor_flies_on() -> None:
    """Five rotors of six still make any moment; the autopilot does not know, its integrals find it.

    A goal of 3 m: where it believes to be it stays within 0.8 m of, and its receiver wanders by 2 m.
    """
    lost = fault("rotor-loss", part="0", at_s=5.0)
    result = flown("quad-hover", vehicle__model="hexa-f550", faults=lost, goal__radius_m=3.0)
    assert list(result.outcome) == ["goal", "goal"], list(result.why)
    # The rotor across carries less, for nothing balances it.
    t_s, across = result.t_s[: result.length[0]], track(result, "rotor_3_rad_s")
    assert across[-1] < 0.7 * across[(t_s > 4.0) & (t_s < 5.0)].mean()


@pytest.mark.slow
def test_ten_seconds_without_gnss_are_survived() -> None:
    """It wanders off by inertial dead reckoning, and comes back with the first fix."""
    result = flown("quad-waypoints", faults=fault("sensor-loss", part="gnss", at_s=8.0, until_s=18.0))
    assert list(result.outcome) == ["goal", "goal"], list(result.why)
    t_s = result.t_s[: result.length[0]]
    off = np.hypot(
        track(result, "believed_north_m") - track(result, "north_m"),
        track(result, "believed_east_m") - track(result, "east_m"),
    )
    lost = (t_s > 15.0) & (t_s < 18.0)
    assert off[lost].max() > 2.0 * off[t_s < 8.0].max()
    assert off[t_s > 20.0].max() < 3.0


def test_a_frozen_barometer_sends_it_up() -> None:
    """Frozen before a climb: the height believed stays, and it climbs until the ceiling of the area."""
    result = flown("quad-waypoints", faults=fault("sensor-freeze", part="barometer", at_s=8.0))
    for trial, (outcome, why) in enumerate(zip(result.outcome, result.why, strict=True)):
        assert outcome == "left area"
        assert "the barometer had frozen at 8.0 s" in why
        assert track(result, "up_m", trial)[-1] > 39.0
        assert track(result, "believed_up_m", trial)[-1] < 15.0


@pytest.mark.slow
def test_a_stuck_elevator_brings_the_airplane_down() -> None:
    result = flown("plane-circuit", faults=fault("surface-stuck", part="elevator", at_s=10.0, size=0.3))
    assert list(result.outcome) == ["collision", "collision"]
    assert all("the elevator had stuck at 10.0 s" in why for why in result.why)
    # Full deflection is 0.5236 rad.
    assert track(result, "elevator_rad")[-1] == pytest.approx(0.3 * 0.5236, abs=1e-3)


def test_a_failed_cell_takes_a_fourth_of_the_voltage() -> None:
    result = flown("quad-waypoints", faults=fault("cell-failure", at_s=8.0))
    t_s, voltage = result.t_s[: result.length[0]], track(result, "voltage_v")
    before, after = voltage[(t_s > 7.5) & (t_s < 7.95)].mean(), voltage[(t_s > 8.02) & (t_s < 8.2)].mean()
    assert after == pytest.approx(0.75 * before, rel=0.03)
    assert "a battery cell had failed at 8.0 s" in result.why[0]


@pytest.mark.slow
def test_a_link_that_delays_makes_it_late() -> None:
    prompt, late = flown("quad-waypoints"), flown("quad-waypoints", faults=fault("link-delay", at_s=2.0, size=0.3))
    assert list(late.outcome) == ["goal", "goal"], list(late.why)
    assert late.time_s.mean() > prompt.time_s.mean()


@pytest.mark.slow
def test_an_empty_battery_ends_the_flight_with_a_reason() -> None:
    """12 % suffice for the course of 3.6 Wh, 5 % do not."""
    assert list(flown("quad-waypoints", start__charge=0.12).outcome) == ["goal", "goal"]
    result = flown("quad-waypoints", start__charge=0.05)
    assert list(result.outcome) == ["collision", "collision"]
    assert all("the battery had given up below its cut-off voltage" in why for why in result.why)


@pytest.mark.slow
def test_a_waypoint_that_wings_have_passed_is_done_with() -> None:
    """Spheres of 1 m that nobody meets in a crosswind: the circuit goes on all the same, and ends at its goal."""
    small = [f"waypoints.{i}.radius_m=1" for i in range(3)]
    assert fly(load("plane-circuit", small), 2).success_rate == 1.0
