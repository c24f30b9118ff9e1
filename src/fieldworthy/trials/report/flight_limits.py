"""What the models of a flight leave out, in sentences for the person who reads its report.

They follow the Limits of the laws' own docstrings; a sentence is shown where the scenario uses the law.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Scenario = dict[str, Any]


def table(scenario: Scenario, *keys: str) -> Scenario:
    """A table of a scenario by its path; empty where there is none."""
    node: Any = scenario
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}


def _always(_: Scenario) -> bool:
    return True


def _effect(name: str) -> Callable[[Scenario], bool]:
    return lambda scenario: bool(table(scenario, "effects").get(name))


def _winged(scenario: Scenario) -> bool:
    return any(str(name).startswith("aero_") for name in table(scenario, "vehicle", "set"))


def _turbulent(scenario: Scenario) -> bool:
    return bool(table(scenario, "air", "turbulence"))


def _outside(scenario: Scenario) -> bool:
    return table(scenario, "control").get("controller") == "external"


def _by_truth(scenario: Scenario) -> bool:
    return table(scenario, "control").get("navigation") == "truth" and not _outside(scenario)


def _by_estimate(scenario: Scenario) -> bool:
    return not _by_truth(scenario) and not _outside(scenario)


def _reads(scenario: Scenario, device: str) -> bool:
    return not _by_truth(scenario) and bool(table(scenario, "sensors", device))


def _without(holds: Callable[[Scenario], bool]) -> Callable[[Scenario], bool]:
    return lambda scenario: not holds(scenario)


def _near_things(scenario: Scenario) -> bool:
    return any(scenario.get(key) for key in ("obstacles", "scatter", "obstacles_geojson", "scene_mesh"))


def _windy(scenario: Scenario) -> bool:
    air = table(scenario, "air")
    return bool(air.get("wind_speed_m_s") or air.get("gusts") or air.get("grid"))


LIMITS: tuple[tuple[Callable[[Scenario], bool], str], ...] = (
    (
        _always,
        "The intervals count only what the scenario varies: start, obstacles, drawn parameters, turbulence, faults and "
        "sensor noise. A narrow interval does not say that the models are right.",
    ),
    (
        _always,
        "The vehicle is one rigid body. Its rotors are quasi-steady at low advance ratio: no vortex ring state in fast "
        "descents, no interference between rotors, torque as in hover; frames and shafts do not bend.",
    ),
    (
        _always,
        "Motors follow their command with a first-order lag; their controllers have no current limit, and the energy "
        "that rotors store is left out of the electrical power.",
    ),
    (
        _always,
        "Body drag is that of bluff bodies at high Reynolds number, without a moment and without lift of the body.",
    ),
    (
        _effect("ground_effect"),
        "Ground effect is that of one level rotor alone (Cheeseman and Bennett 1955), held below half a radius; it "
        "changes thrust, not power.",
    ),
    (
        _effect("wall_effect"),
        "The effect of walls has the reported direction, but no measurement has confirmed a published law for it.",
    ),
    (
        _winged,
        "Wings have no unsteady effects (dynamic stall, rate of the angle of attack), no Mach or Reynolds number, and "
        "a stalled wing does not autorotate.",
    ),
    (
        _effect("battery"),
        "The battery is one voltage source, one series resistance and one RC pair per cell at one temperature: no "
        "self-discharge, and ageing does not grow in flight. Below its cut-off voltage motors stop for good.",
    ),
    (
        _without(_effect("battery")),
        "There is no battery in this scenario (effects.battery = false): motors have their nominal voltage for ever.",
    ),
    (
        lambda scenario: bool(table(scenario, "load")),
        "The load is a point mass on a straight cable without mass, drag or bending; rotor wash does not reach it.",
    ),
    (
        lambda scenario: bool(table(scenario, "tether")),
        "The tether is a straight cable without mass, drag, sag or waves along it; it goes slack.",
    ),
    (
        _windy,
        "The mean wind does not turn with height, a gust reaches the whole vehicle at once, and nothing on the ground "
        "shelters from the wind.",
    ),
    (_without(lambda s: _windy(s) or _turbulent(s)), "The air is at rest in this scenario."),
    (
        _turbulent,
        "Turbulence is frozen: gusts pass at the larger of airspeed and mean wind, at least 1 m/s, which is our "
        "choice where the specification knows airspeed only. Below 10 ft it is that of 10 ft.",
    ),
    (
        _outside,
        "A real autopilot flew these trials in lockstep: estimator, controllers and failsafes are its own program's. "
        "It reads its ground station in wall time: a campaign flown again differs a little, recorded commands do not.",
    ),
    (
        _by_truth,
        'The autopilot goes by the true motion in this scenario (control.navigation = "truth"): no error of any sensor '
        "reaches it.",
    ),
    (
        _by_estimate,
        "The estimate is that of a complementary filter over a flat Earth; levelling takes the mean acceleration for "
        "zero. At the start it knows place, velocity and heading, and is levelled by what its own inertial sensors "
        "read at rest, also where the vehicle starts in the air.",
    ),
    (
        lambda s: _reads(s, "gnss"),
        "GNSS errors are random and independent in north, east and height; there are no satellites that hide or "
        "reflect.",
    ),
    (
        lambda s: _reads(s, "magnetometer"),
        "The Earth's field is the same all over the scenario, and steel nearby does not bend it.",
    ),
    (
        lambda s: bool(table(s, "sensors", "rangefinder")),
        "The range finder sees flat ground through a thin beam; obstacles are not in its way.",
    ),
    (
        lambda s: bool(table(s, "sensors", "optical_flow")),
        "The optical flow camera sees level ground of the same texture everywhere; obstacles and the vehicle's shadow "
        "are not in its way.",
    ),
    (
        lambda s: bool(table(s, "sensors", "odometry")),
        "Odometry errs by noise and a random walk; it closes no loops, and sees the same everywhere.",
    ),
    (
        lambda s: bool(table(s, "sensors", "lidar")),
        "The LiDAR measures the geometric distance with Gaussian noise, and loses returns independently of each other. "
        "Reflectivity, beam width, multipath, rain and fog are not modelled.",
    ),
    (
        _always,
        "The ground is level and at height 0. A vehicle crashes when its gear touches faster than its catalogue file "
        "allows, when it lies on its side or when it sinks through its gear; blades that touch are not seen.",
    ),
    (
        _near_things,
        "Obstacles are rigid and do not disturb the air; a crash is any contact of the outline, swept over the height "
        "of the vehicle, at any speed.",
    ),
)


def flight_limits_for(scenario: Scenario) -> list[str]:
    """The sentences that hold for this scenario (a resolved scenario file as a dictionary)."""
    return [sentence for holds, sentence in LIMITS if holds(scenario)]
