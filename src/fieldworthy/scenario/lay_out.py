"""Start and layout of every trial: drawn until they can be sailed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.environment.shapes import Layout
from fieldworthy.scenario import extent
from fieldworthy.scenario.draw import StartPose, draw_layout, draw_start, fixed_shapes, varies
from fieldworthy.scenario.extent import Box2
from fieldworthy.scenario.load import map_layout
from fieldworthy.scenario.scene_mesh import mesh_walls
from fieldworthy.scenario.schema import Scenario
from fieldworthy.vehicles.hull import Hull
from fieldworthy.world.course import Course

ATTEMPTS = 50
"""Layouts drawn for one trial before giving up."""

AREA_MARGIN_M = 50.0
"""Water around everything where the scenario names no area."""


def draw_trials(
    scenario: Scenario, trials: NDArray[np.uint32], boat_hull: Hull, course: Course
) -> tuple[tuple[Layout, ...], list[StartPose], NDArray[np.int64]]:
    charted = _charted(scenario)
    fixed = fixed_shapes(scenario)
    always_same = not scenario.scatter and not any(varies(obstacle) for obstacle in scenario.obstacles)
    shared: Layout | None = None
    layouts, starts, redrawn = [], [], []
    for trial in trials:
        reason = ""
        for attempt in range(ATTEMPTS):
            start = draw_start(scenario, int(trial), attempt)
            layout = shared if always_same else None
            if layout is None:
                layout = draw_layout(scenario, fixed, charted, start, int(trial), attempt)
                shared = layout
            if layout is None:
                reason = "no room for all shapes of [[scatter]] with its gap_m and clear_*_m"
                continue
            reason = _unsailable(layout, boat_hull, start, course)
            if not reason:
                break
        else:
            raise ScenarioError(
                Problem(
                    scenario.source_path or scenario.name,
                    f"trial {trial}: {ATTEMPTS} layouts were drawn and none can be sailed; the last one: {reason}",
                    "free water at the start and a way to the goal wider than the hull; fewer or smaller obstacles, "
                    "another start, or more room",
                )
            )
        layouts.append(layout)
        starts.append(start)
        redrawn.append(attempt)
    return tuple(layouts), starts, np.asarray(redrawn)


def _charted(scenario: Scenario) -> Layout:
    """What files bring: the shapes of the map, and the walls of triangle files."""
    chart = map_layout(scenario)
    return (*(chart.shapes if chart else ()), *mesh_walls(scenario))


def _unsailable(layout: Layout, boat_hull: Hull, start: StartPose, course: Course) -> str:
    (low_n, high_n), (low_e, high_e) = course.area_north_m, course.area_east_m
    places = [("start", start.north_m, start.east_m)]
    names = [f"waypoint {i}" for i in range(len(course.north_m) - 1)] + ["goal"]
    places += list(zip(names, course.north_m, course.east_m, strict=True))
    for name, north, east in places:
        if not (low_n <= north <= high_n and low_e <= east <= high_e):
            return f"the {name} at north {north:.1f} m, east {east:.1f} m is outside [area]"
    if boat_hull.flies:
        return ""  # over or between: what flies finds its way or does not
    from fieldworthy.scenario.feasible import blocked_start, no_way  # here, because shapely is slow to import

    stuck = blocked_start(layout, boat_hull, start)
    return stuck or no_way(layout, boat_hull, (course.area_north_m, course.area_east_m), places)


def bounds(scenario: Scenario) -> Box2:
    """The area of a scenario that names none: everything that a trial can have, and water around it."""
    return extent.bounds(scenario, _charted(scenario), AREA_MARGIN_M)
