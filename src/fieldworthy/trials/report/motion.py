"""Where moving obstacles go during a trial, and the names of the scenario's own obstacles on a chart."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from fieldworthy.environment.shapes import Shape, is_moving, moved
from fieldworthy.trials.report import svg
from fieldworthy.trials.report.data import RunData, Trial
from fieldworthy.trials.report.look import OURS, Look
from fieldworthy.trials.report.mapping import Bounds, MapFrame, bounds_of_shape

MOST_NAMES = 5


def motion_paths(frame: MapFrame, shapes: Iterable[Shape], duration_s: float) -> str:
    """Dashed ways of moving shapes over `duration_s`, each with an arrow where it leaves the map or ends."""
    return "".join(f'<path class="{css}" d="{data}"/>' for css, data in motion_data(frame, shapes, duration_s))


def motion_data(frame: MapFrame, shapes: Iterable[Shape], duration_s: float) -> list[tuple[str, str]]:
    """Classes and path data of the ways, and of their arrow heads; nothing where no shape moves visibly."""
    lines, heads = [], []
    for shape in shapes:
        if not is_moving(shape) or not duration_s > 0.0:
            continue
        start = bounds_of_shape(shape).middle
        stop = bounds_of_shape(moved(shape, duration_s)).middle
        clipped = _inside(frame.view, start, stop)
        if clipped is None:
            continue
        start, stop = clipped
        (x, y), (stop_x, stop_y) = frame.xy(*start), frame.xy(*stop)
        dx, dy = stop_x - x, stop_y - y
        length = math.hypot(dx, dy)
        if length < 6.0:
            continue
        ux, uy = dx / length, dy / length
        lines.append(f"M{x:.1f} {y:.1f}l{dx:.1f} {dy:.1f}")
        back = [(-7.0 * ux - side * 4.0 * uy, -7.0 * uy + side * 4.0 * ux) for side in (1.0, -1.0)]
        tip_x, tip_y = x + dx, y + dy
        heads.append(
            f"M{tip_x:.1f} {tip_y:.1f}l{back[0][0]:.1f} {back[0][1]:.1f}"
            f"L{tip_x + back[1][0]:.1f} {tip_y + back[1][1]:.1f}z"
        )
    return [("moving", "".join(lines)), ("moving-tip", "".join(heads))] if lines else []


def _inside(
    view: Bounds, start: tuple[float, float], stop: tuple[float, float]
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """The part of the way from start to stop that lies inside the view; None where no part does.

    Source: Liang and Barsky, ACM TOG 3 (1984) 1
    """
    enter, leave = 0.0, 1.0
    limits = ((view.south_m, view.north_m), (view.west_m, view.east_m))
    for a, b, (low, high) in zip(start, stop, limits, strict=True):
        if a == b:
            if not low <= a <= high:
                return None
            continue
        first, last = sorted(((low - a) / (b - a), (high - a) / (b - a)))
        enter, leave = max(enter, first), min(leave, last)
    if enter >= leave:
        return None
    at = [tuple(a + share * (b - a) for a, b in zip(start, stop, strict=True)) for share in (enter, leave)]
    return (at[0][0], at[0][1]), (at[1][0], at[1][1])


def own_names(run: RunData, frame: MapFrame, look: Look, drawn: Sequence[Trial]) -> str:
    """Names of the obstacles that are not the chart's, if they are few, on the side that the tracks leave free."""
    if not look.chart:
        return ""
    places: dict[str, list[Bounds]] = defaultdict(list)
    for shape in run.shared:
        if look.css(shape) == OURS and shape.label:
            places[shape.label].append(bounds_of_shape(shape))
    alone = len(drawn)
    for label in [label for label, found in places.items() if len(found) > 1]:
        del places[label]
    for trial in drawn:
        for shape in run.layouts.get(trial.trial, ()):
            if shape.label:
                places[shape.label].append(bounds_of_shape(shape))
    named = [(label, found) for label, found in places.items() if len(found) <= max(alone, 1)]
    if len(named) > MOST_NAMES:
        return ""
    tracks = [run.tracks[t.trial] for t in drawn[:40]]
    points = np.concatenate([frame.points(t.north_m, t.east_m)[::5] for t in tracks] or [np.zeros((0, 2))])
    return "".join(_name(frame, label, found, points) for label, found in named)


def _name(
    frame: MapFrame, label: str, found: list[Bounds], tracks: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
) -> str:
    corners = np.array([frame.xy(n, e) for b in found for n, e in ((b.south_m, b.west_m), (b.north_m, b.east_m))])
    (x0, y0), (x1, y1) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    x, y = 0.5 * (x0 + x1), 0.5 * (y0 + y1)
    if not frame.view.holds(*found[0].middle):
        return ""
    to_right = True
    if len(tracks):
        nearest = tracks[np.argmin(np.hypot(tracks[:, 0] - x, tracks[:, 1] - y))]
        to_right = bool(nearest[0] < x)
    width = 6.6 * len(label) + 12.0
    if to_right and x1 + width > frame.left + frame.width:
        to_right = False
    elif not to_right and x0 - width < frame.left:
        to_right = True
    at = max(x1, x + 4.0) + 6.0 if to_right else min(x0, x - 4.0) - 6.0
    return svg.text(at, y + 4.0, label, "t own-name halo", "start" if to_right else "end")
