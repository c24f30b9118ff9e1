"""The trials that deserve a look: an order from bad to good, and small maps of the first few."""

from __future__ import annotations

import math

import numpy as np

from fieldworthy.environment.shapes import moved
from fieldworthy.trials.report import svg
from fieldworthy.trials.report.data import RunData, Trial, hull_outline
from fieldworthy.trials.report.mapping import (
    TOLERANCE,
    Bounds,
    fit,
    map_axes,
    north_arrow,
    obstacle_paths,
    scale_bar,
)
from fieldworthy.trials.report.overview import hull_data, is_chart, is_turned
from fieldworthy.trials.report.places import targets
from fieldworthy.trials.report.simplify import simplify
from fieldworthy.trials.report.style import outcome_css
from fieldworthy.trials.report.text import esc, number, with_unit

_RANK = {"collision": 0, "non-finite": 1, "left area": 2, "timeout": 2}


def worst_first(trials: list[Trial]) -> list[Trial]:
    """Collisions, other failures, then smallest clearance, then slowest."""

    def badness(trial: Trial) -> tuple[int, float, float, int]:
        clearance = trial.clearance_m if math.isfinite(trial.clearance_m) else math.inf
        slow = -trial.time_s if math.isfinite(trial.time_s) else 0.0
        return _RANK.get(trial.outcome, 3 if trial.succeeded else 2), round(clearance, 2), slow, trial.trial

    return sorted(trials, key=badness)


def draw_panel(run: RunData, trial: Trial, whole: Bounds, width: float = 330.0) -> str:
    """One trial over its own obstacles, with the hull where it came closest to one."""
    track = run.tracks[trial.trial]
    at = track.closest
    hull, _ = hull_outline(run)
    hull_m = float(np.ptp(hull[:, 0]))
    turned = is_turned(run, whole)
    longest = whole.height_m if turned else max(whole.width_m, whole.height_m)
    north, east = float(track.north_m[at]), float(track.east_m[at])
    # A hull of a few units says nothing about how it passed: then the panel is a window around the place.
    window = (width - 46.0) / longest * hull_m < 18.0
    least = float(track.clearance_m[at])
    reach = hull_m + 1.2 * least if 0.0 < least < 60.0 * hull_m else 0.0
    view = Bounds(north, north, east, east).grown(max(3.6 * hull_m, reach)) if window else whole
    frame = fit(view, 38.0, 4.0, width - 42.0, 200.0, turned, 200.0)
    shapes = [moved(shape, float(track.t_s[at])) for shape in (*run.shared, *run.layouts.get(trial.trial, ()))]
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
        obstacle_paths(frame, shapes),
        *targets(run, frame),
        f'<path class="track {css}" d="{svg.path_data(points)}"/>',
        f'<g class="{css}"><path class="hull" d="{hull_data(frame, north, east, track.heading_rad[at], hull)}"/>'
        f'<circle class="whisker" cx="{x:.1f}" cy="{y:.1f}" r="{ring:.1f}" stroke-dasharray="2 3"/></g>',
        "</g>",
        *scale_bar(frame, width - 44.0, height - 6.0, 70.0),
        north_arrow(width - 24.0 - 6.0 * turned, height - 12.0, turned),
    ]
    label = f"Trial {trial.trial}, {trial.outcome}"
    told = f"{esc(trial.why)}" if trial.why else esc(trial.outcome)
    head = f'<h3><span class="key {css}"></span>Trial {trial.trial}: {esc(trial.outcome)}</h3>'
    facts = f"{with_unit(trial.time_s, 's')}, least clearance {with_unit(trial.clearance_m, 'm', 2)}"
    nearest = f" at {number(float(track.t_s[at]))}\u202fs"
    return (
        f"<figure>{head}{svg.drawing(width, height, label, parts)}"
        f'<figcaption>{told}<span class="sub">{facts}{nearest if shapes else ""}</span></figcaption></figure>'
    )
