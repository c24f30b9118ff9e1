"""The trials that deserve a look: an order from bad to good, and small maps of the first few."""

from __future__ import annotations

import math

import numpy as np

from fieldworthy.environment.shapes import moved
from fieldworthy.trials.report import svg
from fieldworthy.trials.report.data import RunData, Trial, hull_outline
from fieldworthy.trials.report.furniture import map_axes, north_arrow, scale_bar
from fieldworthy.trials.report.look import is_chart, look_of
from fieldworthy.trials.report.mapping import TOLERANCE, Bounds, MapFrame, fit, obstacle_paths
from fieldworthy.trials.report.motion import motion_paths
from fieldworthy.trials.report.overview import figures_of, hull_data
from fieldworthy.trials.report.places import targets
from fieldworthy.trials.report.simplify import simplify
from fieldworthy.trials.report.style import outcome_css
from fieldworthy.trials.report.text import esc, number, without_count
from fieldworthy.trials.report.view import is_turned

_RANK = {"collision": 0, "non-finite": 1, "left area": 2, "timeout": 2}


def worst_first(trials: list[Trial]) -> list[Trial]:
    """Collisions, other failures, then smallest clearance, then slowest; flights that kept clear by tracking error."""

    def badness(trial: Trial) -> tuple[int, float, float, float, int]:
        clearance = trial.clearance_m if math.isfinite(trial.clearance_m) else math.inf
        error = trial.metrics.get("tracking_rms_m", 0.0)
        slow = -trial.time_s if math.isfinite(trial.time_s) else 0.0
        return _RANK.get(trial.outcome, 3 if trial.succeeded else 2), round(clearance, 2), -error, slow, trial.trial

    return sorted(trials, key=badness)


def draw_panel(run: RunData, trial: Trial, whole: Bounds, width: float = 330.0) -> str:
    """One trial over its own obstacles, with the hull where it came closest to one."""
    track = run.tracks[trial.trial]
    open_air = run.flies and not run.has_shapes
    at = len(track.t_s) - 1 if open_air else track.closest
    hull, _ = hull_outline(run)
    hull_m = float(np.ptp(hull[:, 0]))
    turned = is_turned(run, whole)
    longest = whole.height_m if turned else max(whole.width_m, whole.height_m)
    north, east = float(track.north_m[at]), float(track.east_m[at])
    # A hull of a few units says nothing about how it passed: then the panel is a window around the place.
    window = (width - 46.0) / longest * hull_m < 18.0 and not open_air
    least = float(track.clearance_m[at])
    reach = hull_m + 1.2 * least if 0.0 < least < 60.0 * hull_m else 0.0
    view = Bounds(north, north, east, east).grown(max(5.5 * hull_m, reach)) if window else whole
    frame = fit(view, 38.0, 4.0, width - 42.0, 200.0, turned, 200.0)
    look = look_of(run)
    own = run.layouts.get(trial.trial, ())
    shared_then, own_then = ([moved(shape, float(track.t_s[at])) for shape in group] for group in (run.shared, own))
    css = outcome_css(trial.outcome)
    points = simplify([frame.points(track.north_m, track.east_m)], TOLERANCE)[0]
    x, y = frame.xy(north, east)
    height = frame.top + frame.height + 40.0
    clip = f"clip-panel-{trial.trial}"
    ring = max(10.0, 0.75 * hull_m * frame.scale)
    parts = [
        *map_axes(frame, 5, labels=False),
        f'<clipPath id="{clip}"><rect x="{frame.left:.1f}" y="{frame.top:.1f}" width="{frame.width:.1f}" '
        f'height="{frame.height:.1f}"/></clipPath>',
        f'<g clip-path="url(#{clip})" class="few{" chartmap" if is_chart(run) else ""}">',
        obstacle_paths(frame, shared_then, look.css),
        obstacle_paths(frame, own_then, look.own_css),
        motion_paths(frame, (*run.shared, *own), trial.time_s),
        *targets(run, frame)[0],
        f'<path class="track {css}" d="{svg.path_data(points)}"/>',
        f'<g class="{css}"><path class="hull" d="{hull_data(frame, north, east, track.heading_rad[at], hull)}"/>'
        f'<circle class="whisker" cx="{x:.1f}" cy="{y:.1f}" r="{ring:.1f}" stroke-dasharray="2 3"/></g>',
        "</g>",
        *(_locator(run, trial, whole, frame) if window else ()),
        *scale_bar(frame, width - 44.0, height - 6.0, 70.0),
        north_arrow(width - 24.0 - 6.0 * turned, height - 12.0, turned),
    ]
    label = f"Trial {trial.trial}, {trial.outcome}"
    told = esc(without_count(trial.why)) if trial.why else esc(trial.outcome)
    head = f'<h3><span class="key {css}"></span>Trial {trial.trial}: {esc(trial.outcome)}</h3>'
    facts = ", ".join(figures_of(run, trial))
    facts += f" at {number(float(track.t_s[at]))}\u202fs" if shared_then or own_then else ""
    return (
        f"<figure>{head}{svg.drawing(width, height, label, parts)}"
        f'<figcaption>{told}<span class="sub">{facts}</span></figcaption></figure>'
    )


def _locator(run: RunData, trial: Trial, whole: Bounds, frame: MapFrame, side: float = 58.0) -> list[str]:
    """A small drawing of the whole track in the corner, with the window as a rectangle."""
    track = run.tracks[trial.trial]
    span_x, span_y = (whole.height_m, whole.width_m) if frame.turned else (whole.width_m, whole.height_m)
    scale = side / max(span_x, span_y)
    left = frame.left + frame.width - span_x * scale - 5.0
    small = MapFrame(whole, left, frame.top + 5.0, scale, frame.turned)
    (x0, y0), (x1, y1) = (small.xy(*corner) for corner in ((frame.view.south_m, frame.view.west_m),
                                                             (frame.view.north_m, frame.view.east_m)))  # fmt: skip
    x, y, w, h = min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)
    wide, high = max(w, 4.0), max(h, 4.0)
    window_x, window_w = _within(x + 0.5 * (w - wide), wide, small.left, small.width)
    window_y, window_h = _within(y + 0.5 * (h - high), high, small.top, small.height)
    points = simplify([small.points(track.north_m, track.east_m)], TOLERANCE)[0]
    return [
        svg.rect(small.left, small.top, small.width, small.height, "inset"),
        f'<path class="inset-track {outcome_css(trial.outcome)}" d="{svg.path_data(points)}"/>',
        svg.rect(window_x, window_y, window_w, window_h, "inset-window"),
    ]


def _within(start: float, size: float, low: float, room: float) -> tuple[float, float]:
    """Start and size of the part of an interval that lies in [low, low + room]."""
    first, last = max(start, low), min(start + size, low + room)
    return first, max(last - first, 0.0)
