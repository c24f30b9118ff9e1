"""Checks of what moves and where it begins: speeds that the kernels allow for, small steps, starts off the goal."""

from __future__ import annotations

import math
from typing import Any

from msgspec import inspect

from fieldworthy.core.toml_lines import Path
from fieldworthy.scenario.check import Report, number_problem
from fieldworthy.scenario.resolve import table

START_SPEEDS = 2.0
"""Fastest start, in limits of the boat's own speed: a boat may be towed or surf, not be shot out of a gun."""

STABLE = 2.5
"""Rate times step that RK4 follows: its limit on the real axis is 2.785 (Hairer and Wanner)."""

STEP_BEAMS = 0.5
"""Farthest that an obstacle may move in one step, in beams: contact is looked for at every step, not between them."""


def check_motion(data: dict[str, Any], report: Report) -> None:
    """Report obstacles too fast, starts too fast, and a start that is in the goal."""
    boat = table(data, "vehicle", "set")
    obstacles = data.get("obstacles")
    for index, item in enumerate(obstacles if isinstance(obstacles, list) else ()):
        if isinstance(item, dict):
            _check_obstacle(
                item, ("obstacles", index), number(boat.get("beam_m")), number(data.get("dt_s", 0.02)), report
            )
            _check_polygon(item, ("obstacles", index), report)
    _check_step(boat, number(data.get("dt_s", 0.02)), report)
    speed, fastest = number(table(data, "start").get("speed_m_s")), number(boat.get("speed_max_m_s"))
    if speed is not None and fastest is not None and speed > START_SPEEDS * fastest:
        what = f"speed_m_s = {speed:g} is more than {START_SPEEDS:g} times the boat's speed_max_m_s = {fastest:g}"
        report.add(("start", "speed_m_s"), what, f"at most {START_SPEEDS * fastest:g}")
    if not report.found:  # a place that is wrong by itself has been put somewhere for the time being
        _check_goal(data, report)


def _check_obstacle(item: dict[str, Any], path: Path, beam: float | None, dt: float | None, report: Report) -> None:
    names = [name for name in ("vel_north_m_s", "vel_east_m_s") if number(item.get(name))]
    if not names:
        return
    from fieldworthy.sensors.candidates import FASTEST_M_S  # here, because most scenarios have nothing that moves

    speed = math.hypot(*(number(item[name]) or 0.0 for name in names))
    if speed > FASTEST_M_S:
        what = f"an obstacle at {speed:g} m/s: the LiDAR's search for what is near allows for {FASTEST_M_S:g} m/s"
        report.add((*path, names[0]), what, f"at most {FASTEST_M_S:g} m/s")
    elif beam is not None and dt is not None and beam > 0 and speed * dt > STEP_BEAMS * beam:
        what = f"an obstacle at {speed:g} m/s moves {speed * dt:g} m in a step of dt_s = {dt:g}, and so past a hull"
        valid = (
            f"at most half the beam a step: {STEP_BEAMS * beam / dt:g} m/s, or dt_s <= {STEP_BEAMS * beam / speed:g}"
        )
        report.add((*path, names[0]), what, valid)


def _check_step(boat: dict[str, Any], dt: float | None, report: Report) -> None:
    """The step must follow the boat's quickest motion, and must not carry it past what it could touch."""
    v = {name: number(value) for name, value in boat.items()}
    if dt is None or dt <= 0 or report.found:
        return
    surge = (v["surge_gain_n_s_m"] or 0.0) + (v["surge_drag_n_s_m"] or 0.0)
    surge += 2.0 * (v["surge_drag_n_s2_m2"] or 0.0) * (v["speed_max_m_s"] or 0.0)
    yaw = (v["yaw_gain_n_m_s_rad"] or 0.0) + (v["yaw_drag_n_m_s_rad"] or 0.0)
    yaw += 2.0 * (v["yaw_drag_n_m_s2_rad2"] or 0.0) * (v["yaw_rate_max_rad_s"] or 0.0)
    for what, rate in (("surge", surge / (v["mass_kg"] or 1.0)), ("yaw", yaw / (v["yaw_inertia_kg_m2"] or 1.0))):
        if rate * dt > STABLE:
            told = f"dt_s = {dt:g} is too long for this boat: its {what} settles at {rate:g} 1/s, and RK4 runs away"
            report.add(("dt_s",), told, f"dt_s <= {STABLE / rate:.3g}")
    speed, beam = v["speed_max_m_s"], v["beam_m"]
    if speed and beam and speed * dt > STEP_BEAMS * beam:
        told = f"at speed_max_m_s = {speed:g} the boat moves {speed * dt:g} m in dt_s = {dt:g}, past what it meets"
        report.add(("dt_s",), told, f"dt_s <= {STEP_BEAMS * beam / speed:.3g}")


def _check_polygon(item: dict[str, Any], path: Path, report: Report) -> None:
    points = item.get("points_ne_m")
    if item.get("kind") != "polygon" or not isinstance(points, list) or len(points) < 3:
        return
    pairs = [[number(c) for c in point] for point in points if isinstance(point, list) and len(point) == 2]
    if len(pairs) < len(points) or any(c is None for pair in pairs for c in pair):
        return  # reported by the type check
    import shapely  # here, because it is slow to import and rarely needed

    try:
        polygon = shapely.Polygon(pairs)
        reason = "" if polygon.is_valid else str(shapely.is_valid_reason(polygon))
    except (ValueError, shapely.errors.GEOSException) as error:
        reason = str(error)
    if reason:
        what = f"points_ne_m is not the outline of one area ({reason[:1].lower()}{reason[1:]})"
        report.add((*path, "points_ne_m"), what, "corners in order around it, edges that do not cross or touch")


def _check_goal(data: dict[str, Any], report: Report) -> None:
    """With waypoints the goal counts only after them, so that a round trip may end where it began."""
    start, goal = table(data, "start"), table(data, "goal")
    radius = number(goal.get("radius_m", 5.0))
    if data.get("waypoints") or radius is None or radius <= 0:
        return
    gaps = []
    for axis in ("north", "east"):
        here, there = number(start.get(f"{axis}_m", 0.0)), number(goal.get(f"{axis}_m"))
        spread = number(start.get(f"spread_{axis}_m", 0.0))
        if here is None or there is None or spread is None:
            return
        gaps.append(max(abs(there - here) - spread, 0.0))
    if math.hypot(*gaps) <= radius:
        spreads = any(number(start.get(f"spread_{axis}_m")) for axis in ("north", "east"))
        what = f"the start{', with its spread,' if spreads else ''} lies within radius_m = {radius:g} of the goal"
        report.add(("goal", "radius_m"), what, "a goal that no trial begins in")


def number(value: Any) -> float | None:
    """The value as a float; None where it is no finite number, which the type check reports."""
    return None if number_problem(value, inspect.FloatType()) else float(value)
