"""How a trial ended, in a sentence; of a flight with what had gone wrong before."""

from __future__ import annotations

import math

import numpy as np

from fieldworthy.environment.shapes import Layout, moved
from fieldworthy.scenario.build_faults import fault_numbers
from fieldworthy.scenario.draw import StartPose
from fieldworthy.scenario.flight_schema import Fault
from fieldworthy.scenario.schema import Scenario
from fieldworthy.world import Frame, World
from fieldworthy.world.flight_watch import crash_sentence

_ACRONYMS = {"imu": "IMU", "gnss": "GNSS", "optical_flow": "optical flow"}


def reason(scenario: Scenario, world: World, frame: Frame, row: int, outcome: str, end_tick: int) -> str:
    """An outcome in a sentence. frame: where the row came to rest, at `end_tick`."""
    lane = int(np.flatnonzero(frame.row == row)[0])
    at = {name: float(values[lane]) for name, values in frame.values.items()}
    t_s = end_tick * world.timing.dt_s
    if outcome == "goal":
        return "reached the goal"
    told = _ending(world, at, row, outcome, t_s)
    if scenario.vehicle.kind != "aircraft":
        return told
    return "; ".join([told, *gone_before(scenario, int(world.trials[row]), at, t_s)])


def _ending(world: World, at: dict[str, float], row: int, outcome: str, t_s: float) -> str:
    if outcome == "collision":
        return crash_sentence(at) or _hit(world, at, row, t_s)
    if outcome == "timeout":
        return f"still {_left(world, at)} after {t_s:g} s"
    if outcome == "left area":
        height = f", {at['up_m']:.0f} m up" if world.course.up_m is not None else ""
        return f"left the area at north {at['north_m']:.0f} m, east {at['east_m']:.0f} m{height}"
    return f"a state that is not finite at {t_s:g} s: the command or a parameter is beyond what the model can follow"


def _hit(world: World, at: dict[str, float], row: int, t_s: float) -> str:
    from fieldworthy.scenario.feasible import describe, nearest_shape  # here, because shapely is slow to import

    layout: Layout = tuple(moved(shape, t_s) for shape in world.layouts[row])
    near = nearest_shape(layout, world.hull, StartPose(at["north_m"], at["east_m"], at["heading_rad"]))
    names = ("north_m_s", "east_m_s", "up_m_s") if "up_m_s" in at else ("surge_m_s", "sway_m_s")
    return f"hit {describe(near[0]) if near else 'something'} at {math.hypot(*(at[name] for name in names)):.1f} m/s"


def _left(world: World, at: dict[str, float]) -> str:
    """What was missing when the time was up."""
    course, last = world.course, len(world.course.north_m) - 1
    if course.up_m is None or course.hold is None:
        return f"{math.hypot(course.north_m[-1] - at['north_m'], course.east_m[-1] - at['east_m']):.0f} m from the goal"
    target = min(int(at["target"]), last)
    place = (course.north_m[target], course.east_m[target], course.up_m[target])
    off = math.dist(place, (at["north_m"], at["east_m"], at["up_m"]))
    name = "the goal" if target == last else f"waypoint {target + 1} of {last}"
    if off > course.radius_m[target]:
        return f"{off:.1f} m from {name}"
    return f"holding {name}, not yet for the {course.hold[target] * world.timing.dt_s:g} s asked for,"


def gone_before(scenario: Scenario, trial: int, at: dict[str, float], t_s: float) -> list[str]:
    """What had broken by then, and an empty battery."""
    found = []
    numbers = fault_numbers(scenario, np.array([trial], np.uint32))
    for fault, number in zip(scenario.faults, numbers, strict=True):
        onset, end = float(number.onset_s[0]), float(number.end_s[0])
        if onset <= t_s and onset < end:
            over = f", until {end:.1f} s" if end <= t_s else ""
            found.append(f"{_broken(fault)} at {onset:.1f} s{over}")
    if at.get("charge", 1.0) <= 0.0:
        found.append("the battery was empty")
    elif at.get("battery_dead", 0.0) > 0.5:
        warned = f"after its first warning at {at['battery_low_s']:.1f} s"
        found.append(f"the battery had given up below its cut-off voltage, {warned}")
    return found


def _broken(fault: Fault) -> str:
    """What a fault does, as something that had happened."""
    part = " ".join(_ACRONYMS.get(word, word) for word in fault.part.split("."))
    if fault.kind == "rotor-loss":
        share = "its thrust" if fault.size >= 1.0 else f"{100.0 * fault.size:.0f} % of its thrust"
        return f"rotor {part} had lost {share}"
    if fault.kind == "cell-failure":
        cells = "a battery cell" if fault.size == 1.0 else f"{fault.size:g} battery cells"
        return f"{cells} had failed"
    if fault.kind == "link-delay":
        return f"the link had slowed by {fault.size:g} s"
    words = {
        "surface-stuck": "had stuck",
        "sensor-freeze": "had frozen",
        "sensor-bias": "had taken on a bias",
        "sensor-noise": "had become noisy",
        "sensor-loss": "had gone silent",
    }
    return f"the {part} {words[fault.kind]}"
