"""The places that a scenario names on its map: start, waypoints, goal, area."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.trials.report import svg
from fieldworthy.trials.report.data import RunData
from fieldworthy.trials.report.mapping import Bounds, MapFrame

Points = NDArray[np.float64]
"""(n, 2) in drawing units."""

MOST_LINES = 60
"""Tracks that names keep off: enough to know where they run."""
SPACING = 4.0


def targets(run: RunData, frame: MapFrame) -> tuple[list[str], list[str]]:
    """Start with its spread, waypoints in order, goal with its radius; and their names, which go above the tracks."""
    parts: list[str] = []
    named: dict[tuple[int, int], tuple[float, list[str]]] = {}
    labels = frame.width > 420.0

    def name_at(x: float, y: float, radius: float, name: str) -> None:
        """Names of one place go side by side, beside the largest of its circles."""
        before, names = named.get((round(x), round(y)), (0.0, []))
        named[round(x), round(y)] = max(radius, before), [*names, name]

    start = run.table("start")
    point = point_of(start)
    if point is not None:
        half_n, half_e = (float(start.get(key, 0.0)) for key in ("spread_north_m", "spread_east_m"))
        x1, y1 = frame.xy(point[0] + half_n, point[1] - half_e)
        x2, y2 = frame.xy(point[0] - half_n, point[1] + half_e)
        if half_n or half_e:
            pad = 2.0
            parts.append(
                svg.rect(min(x1, x2) - pad, min(y1, y2) - pad, abs(x2 - x1) + 2 * pad, abs(y2 - y1) + 2 * pad, "spread")
            )
        x, y = frame.xy(*point)
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
        if labels:
            half = 0.5 * abs(y2 - y1 if frame.turned else x2 - x1)
            name_at(x, y, half + 2.0, "start")
    goal = (run.table("goal"), "goal", "target")
    for place, name, css in (*((w, str(i), "target way") for i, w in enumerate(waypoints(run), 1)), goal):
        point = point_of(place)
        if point is None:
            continue
        x, y = frame.xy(*point)
        radius = float(place.get("radius_m", 0.0)) * frame.scale
        parts.append(f'<circle class="{css}" cx="{x:.1f}" cy="{y:.1f}" r="{max(radius, 3.0):.1f}"/>')
        if name == "goal":
            parts.append(f'<path class="cross dot" d="M{x - 4:.1f} {y:.1f}h8m-4 -4v8" stroke="currentColor"/>')
        if labels:
            name_at(x, y, max(radius, 3.0), name)
    if not named:
        return parts, []
    lines = _track_points(run, frame)
    return parts, [_label(frame, lines, *place, radius, ", ".join(names)) for place, (radius, names) in named.items()]


def area_bounds(run: RunData) -> Bounds | None:
    """The area that a trial may not leave; None where the scenario does not give one in metres."""
    north, east = (run.table("area").get(key) for key in ("north_m", "east_m"))
    if not (isinstance(north, list) and isinstance(east, list) and len(north) == len(east) == 2):
        return None
    return Bounds(float(north[0]), float(north[1]), float(east[0]), float(east[1]))


def area_outline(run: RunData, frame: MapFrame) -> str:
    """The area that a trial may not leave, where the scenario gives one."""
    area = area_bounds(run)
    if area is None:
        return ""
    (x1, y1), (x2, y2) = frame.xy(area.south_m, area.west_m), frame.xy(area.north_m, area.east_m)
    return svg.rect(min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1), "area")


def _label(frame: MapFrame, lines: Points, x: float, y: float, radius: float, name: str) -> str:
    """A name beside a place, where the fewest tracks run through it; where that is equal, off the course's own way."""
    width, aside, slant = 6.9 * len(name), radius + 5.0, 0.75 * radius + 4.0
    beside, below = (x + aside, y + 4.0, "start"), (x, y + radius + 15.0, "middle")
    above, left = (x, y - radius - 6.0, "middle"), (x - aside, y + 4.0, "end")
    corners = [(x + sx * slant, y + dy, anchor) for dy in (-slant - 2.0, slant + 11.0)
               for sx, anchor in ((1.0, "start"), (-1.0, "end"))]  # fmt: skip
    first = [below, above, beside, left] if frame.turned else [beside, left, below, above]
    best = min((*first, *corners), key=lambda at: _crossed(frame, lines, at, width))
    return svg.text(best[0], best[1], name, "t strong halo", best[2])


def _crossed(frame: MapFrame, lines: Points, at: tuple[float, float, str], width: float) -> float:
    """How many points of tracks lie under a name; infinite where it would leave the map."""
    x = at[0] - {"start": 0.0, "middle": 0.5, "end": 1.0}[at[2]] * width
    top, bottom = at[1] - 12.0, at[1] + 4.0
    outside = (
        x < frame.left or x + width > frame.left + frame.width or top < frame.top or bottom > frame.top + frame.height
    )
    if outside:
        return float("inf")
    under = (lines[:, 0] > x - 2.0) & (lines[:, 0] < x + width + 2.0) & (lines[:, 1] > top) & (lines[:, 1] < bottom)
    return float(np.sum(under))


def _track_points(run: RunData, frame: MapFrame) -> Points:
    """Points along some tracks on the page, so near to each other that no name fits between two."""
    found = [np.zeros((0, 2))]
    for track in list(run.tracks.values())[:MOST_LINES]:
        points = frame.points(track.north_m, track.east_m)
        step = np.hypot(*np.diff(points, axis=0, prepend=points[:1]).T)
        along = np.cumsum(step)
        marks = np.arange(0.0, along[-1] + SPACING, SPACING)
        found.append(np.column_stack([np.interp(marks, along, points[:, i]) for i in range(2)]))
    return np.concatenate(found)


def waypoints(run: RunData) -> list[dict[str, Any]]:
    """The scenario's waypoints, in order."""
    found = run.scenario.get("waypoints", [])
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def point_of(place: dict[str, Any]) -> tuple[float, float] | None:
    """(north, east) [m] of a start, goal or waypoint; None where the scenario does not give it in metres."""
    north, east = place.get("north_m"), place.get("east_m")
    return (float(north), float(east)) if isinstance(north, (int, float)) and isinstance(east, (int, float)) else None
