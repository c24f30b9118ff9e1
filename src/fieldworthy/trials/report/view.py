"""Which part of the world a map shows."""

from __future__ import annotations

from functools import reduce

from fieldworthy.trials.report.data import RunData
from fieldworthy.trials.report.look import is_chart
from fieldworthy.trials.report.mapping import Bounds, bounds_of_points, bounds_of_shape
from fieldworthy.trials.report.places import area_bounds, point_of, waypoints

CHART_ASPECT = 1014.0 / 760.0
"""Width over height of the plot rectangle of a large map."""


def is_turned(run: RunData, view: Bounds) -> bool:
    """Whether the map is drawn with north to the right, because the course runs that way."""
    return not is_chart(run) and view.height_m > 1.15 * view.width_m


def view_of(run: RunData) -> Bounds:
    """What the map shows: all tracks, start, goal and waypoints, and the obstacles around them."""
    north, east = [], []
    for track in run.tracks.values():
        north += [float(track.north_m.min()), float(track.north_m.max())]
        east += [float(track.east_m.min()), float(track.east_m.max())]
    for place in (run.table("start"), run.table("goal"), *waypoints(run)):
        point = point_of(place)
        if point is not None:
            # Flights go to points in open air: the whole of their radius belongs to the picture.
            radius = float(place.get("radius_m", 0.0)) if run.flies else 0.0
            north += [point[0] - radius, point[0] + radius]
            east += [point[1] - radius, point[1] + radius]
    inner = bounds_of_points(north or [0.0], east or [0.0])
    largest = max(inner.height_m, inner.width_m, 10.0)
    area = area_bounds(run)
    near_area = area is not None and area.common(inner.grown((0.45 if is_chart(run) else 0.2) * largest)) == area
    if is_chart(run) and run.shared:
        chart = reduce(Bounds.joined, map(bounds_of_shape, run.shared))
        must = inner.joined(area) if area and near_area else inner
        return chart_view(must, chart, 0.02 if must is not inner else 0.13)
    view = inner.grown(0.07 * largest)
    reach = inner.grown(0.5 * largest)
    per_trial = [shape for layout in list(run.layouts.values())[:50] for shape in layout]
    for shape in (*run.shared, *per_trial):
        part = bounds_of_shape(shape).common(reach)
        if part is not None:
            view = view.joined(part.grown(0.02 * largest))
    return view.joined(area.grown(0.02 * largest)) if area and near_area else view


def chart_view(inner: Bounds, chart: Bounds, margin: float = 0.13, aspect: float = CHART_ASPECT) -> Bounds:
    """Context around what must be seen (`inner`), in the page's proportions as far as the chart reaches.

    `margin` is a share of the larger extent of `inner`.
    """
    largest = max(inner.height_m, inner.width_m, 10.0)
    must = inner.grown(min(margin, 0.05) * largest)
    reach = must.joined(chart)
    view = inner.grown(margin * largest).common(reach) or must
    south, north = _widened(view.south_m, view.north_m, view.width_m / aspect, reach.south_m, reach.north_m)
    west, east = _widened(view.west_m, view.east_m, (north - south) * aspect, reach.west_m, reach.east_m)
    return Bounds(south, north, west, east)


def _widened(low: float, high: float, wanted: float, least: float, most: float) -> tuple[float, float]:
    """An interval grown to a length, evenly where there is room, and never past its limits."""
    extra = max(0.0, min(wanted, most - least) - (high - low))
    start = min(max(low - 0.5 * extra, least), most - (high - low) - extra)
    return start, start + (high - low) + extra
