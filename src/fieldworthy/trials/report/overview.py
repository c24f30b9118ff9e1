"""The map of a run: all obstacles, start, goal, waypoints, area, and the tracks coloured by outcome."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldworthy.environment.shapes import Shape, moved
from fieldworthy.trials.report import svg
from fieldworthy.trials.report.data import OUTCOMES, RunData, Trial, hull_outline
from fieldworthy.trials.report.furniture import map_axes, north_arrow, scale_bar
from fieldworthy.trials.report.look import NOT_CHARTED, OURS, is_chart, kinds_by_class, look_of
from fieldworthy.trials.report.mapping import (
    TOLERANCE,
    Bounds,
    MapFrame,
    bounds_of_shape,
    fit,
    obstacle_data,
    obstacle_paths,
)
from fieldworthy.trials.report.motion import motion_data, motion_paths, own_names
from fieldworthy.trials.report.places import area_outline, targets
from fieldworthy.trials.report.simplify import simplify
from fieldworthy.trials.report.struck import nearest_shape
from fieldworthy.trials.report.style import outcome_css
from fieldworthy.trials.report.text import esc, plural, with_unit, without_count
from fieldworthy.trials.report.view import is_turned

MOST_TRACKS = 300
MOST_GHOSTS = 1500
"""Shapes of single trials drawn faintly together; more would only be grey."""


@dataclass(frozen=True)
class Overview:
    """The drawing, what it shows, and the data that its script needs."""

    drawing: str
    drawn: list[Trial]
    ghosts: bool
    own_layouts: bool
    script_data: str


def drawn_trials(run: RunData, most: int = MOST_TRACKS) -> list[Trial]:
    """Failures first, then an even choice of the successes; in painting order (failures on top)."""
    with_track = [trial for trial in run.trials if trial.trial in run.tracks]
    failed = [trial for trial in with_track if not trial.succeeded][:most]
    passed = [trial for trial in with_track if trial.succeeded]
    room = most - len(failed)
    if len(passed) > room:
        passed = [passed[int(i * len(passed) / room)] for i in range(room)]
    return passed + failed


def draw_overview(run: RunData, view: Bounds, width: float = 1086.0, most_height: float = 760.0) -> Overview:
    """The large map with its chooser's data."""
    drawn = drawn_trials(run)
    turned = is_turned(run, view)
    across, upright = (view.height_m, view.width_m) if turned else (view.width_m, view.height_m)
    width = min(width, max(560.0, 72.0 + across / max(upright, 1e-9) * most_height))
    frame = fit(view, 62.0, 8.0, width - 72.0, most_height, turned, 0.36 * width)
    own = any(run.layouts.values())
    ghosts = own and sum(len(run.layouts.get(trial.trial, ())) for trial in drawn) <= MOST_GHOSTS
    kinds = chart_legend(run, frame, frame.left, frame.top + frame.height + 82.0) if is_chart(run) else []
    legend_y = frame.top + frame.height + 54.0
    height = legend_y + (40.0 if kinds else 12.0)
    css = "chartmap" if is_chart(run) else ""
    density = " few" if len(drawn) <= 40 else " many" if sum(not t.succeeded for t in drawn) > 40 else ""
    parts = [
        *map_axes(frame),
        f'<g id="map" class="{css}{density}">',
        *map_content(run, frame, drawn, "clip-map", ghosts),
        "</g>",
        *legend(run.trials, frame.left, legend_y),
        *kinds,
        *scale_bar(frame, width - 64.0, legend_y),
        north_arrow(width - 30.0 - 6.0 * turned, legend_y - 4.0, turned),
    ]
    return Overview(
        svg.drawing(width, height, f"Map of {plural(len(drawn), 'track')}", parts, "chart map"),
        drawn,
        ghosts,
        own,
        _script_data(run, frame, drawn),
    )


def map_content(run: RunData, frame: MapFrame, drawn: list[Trial], clip: str, ghosts: bool) -> list[str]:
    """Everything inside the plot rectangle."""
    look = look_of(run)
    places, names = targets(run, frame)
    longest_s = max((float(run.tracks[t.trial].t_s[-1]) for t in drawn), default=0.0)
    parts = [
        f'<clipPath id="{clip}"><rect x="{frame.left:.1f}" y="{frame.top:.1f}" width="{frame.width:.1f}" '
        f'height="{frame.height:.1f}"/></clipPath>',
        f'<g clip-path="url(#{clip})">',
        area_outline(run, frame),
        obstacle_paths(frame, run.shared, look.css),
        motion_paths(frame, run.shared, longest_s),
    ]
    if ghosts:
        own = [run.layouts.get(t.trial, ()) for t in drawn]
        parts += ['<g class="ghost">', *(obstacle_paths(frame, layout, look.own_css) for layout in own), "</g>"]
    parts += ['<g class="struck">', obstacle_paths(frame, _struck(run, drawn), look.own_css), "</g>"]
    parts.append('<g class="own"></g>')
    parts += [*places, *_tracks(run, frame, drawn), own_names(run, frame, look, drawn), *names, "</g>"]
    return parts


def _struck(run: RunData, drawn: list[Trial]) -> list[Shape]:
    """Of the obstacles that only one trial has: those that its vehicle hit, where they were then."""
    found = []
    for trial in drawn:
        if trial.outcome == "collision" and run.layouts.get(trial.trial):
            track = run.tracks[trial.trial]
            shapes = [moved(shape, float(track.t_s[-1])) for shape in (*run.layouts[trial.trial], *run.shared)]
            shape = nearest_shape(shapes, float(track.north_m[-1]), float(track.east_m[-1]))
            # What all trials share is on the map already.
            found += [shape] if shape is not None and shape not in shapes[len(run.layouts[trial.trial]) :] else []
    return found


def _tracks(run: RunData, frame: MapFrame, drawn: list[Trial]) -> list[str]:
    lines = [frame.points(run.tracks[t.trial].north_m, run.tracks[t.trial].east_m) for t in drawn]
    hull, _ = hull_outline(run)
    parts = []
    for trial, points in zip(drawn, simplify(lines, TOLERANCE), strict=True):
        css = outcome_css(trial.outcome)
        parts.append(f'<path class="track {css}" data-trial="{trial.trial}" d="{svg.path_data(points)}"/>')
    for trial in drawn:
        if not trial.succeeded:
            parts.append(_end_mark(frame, run, trial, hull))
    return parts


def _end_mark(frame: MapFrame, run: RunData, trial: Trial, hull: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    """Where a trial failed: the hull where it is large enough to see, and a cross for collisions or a small square."""
    track = run.tracks[trial.trial]
    at = len(track.t_s) - 1
    x, y = frame.xy(float(track.north_m[at]), float(track.east_m[at]))
    outline = ""
    if np.ptp(hull[:, 0]) * frame.scale > 7.0:
        data = hull_data(frame, track.north_m[at], track.east_m[at], track.heading_rad[at], hull)
        outline = f'<path class="hull" d="{data}"/>'
    cross = (
        f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8"
        if trial.outcome == "collision"
        else f"M{x - 3:.1f} {y - 3:.1f}h6v6h-6z"
    )
    css = f"mark {outcome_css(trial.outcome)}"
    return f'<g class="{css}" data-trial="{trial.trial}">{outline}<path class="cross" d="{cross}"/></g>'


def hull_data(
    frame: MapFrame, north_m: float, east_m: float, heading_rad: float, hull: np.ndarray[Any, np.dtype[np.float64]]
) -> str:
    """Path of the hull outline at a pose."""
    heading = float(heading_rad) if math.isfinite(heading_rad) else 0.0
    c, s = math.cos(heading), math.sin(heading)
    north = float(north_m) + c * hull[:, 0] - s * hull[:, 1]
    east = float(east_m) + s * hull[:, 0] + c * hull[:, 1]
    return svg.path_data(frame.points(north, east), closed=True)


def legend(trials: list[Trial], x: float, y: float) -> list[str]:
    """Outcomes that occur, with their line style and count."""
    counts = Counter(trial.outcome for trial in trials)
    parts = []
    for outcome in (*OUTCOMES, *sorted(set(counts) - set(OUTCOMES))):
        if not counts[outcome]:
            continue
        label = f"{outcome} ({counts[outcome]})"
        parts.append(f'<path class="track key-line {outcome_css(outcome)}" d="M{x:.0f} {y - 4:.0f}h26"/>')
        if outcome == "collision":
            parts.append(f'<path class="cross collision" d="M{x + 22:.0f} {y - 8:.0f}l8 8m0 -8l-8 8"/>')
        parts.append(svg.text(x + 36, y, label, "t"))
        x += 62.0 + 6.6 * len(label)
    return parts


def chart_legend(run: RunData, frame: MapFrame, x: float, y: float) -> list[str]:
    """What the chart's colours mean, for the kinds that the view shows."""
    look = look_of(run)
    own = [shape for layout in run.layouts.values() for shape in layout]
    shown = [shape for shape in run.shared if bounds_of_shape(shape).common(frame.view)]
    kinds = kinds_by_class(look, shown)
    if own and all(css != OURS for css, _ in kinds):
        kinds.append((OURS, NOT_CHARTED))
    parts = ['<g class="chartmap">']
    for css, words in kinds:
        parts.append(_swatch(css, x, y))
        parts.append(svg.text(x + 20, y, words, "t"))
        x += 38.0 + 6.3 * len(words)
    return [*parts, "</g>"]


def _swatch(css: str, x: float, y: float) -> str:
    if css in ("buoy", "pile", "rock"):
        radius = {"buoy": 3.5, "pile": 2.2, "rock": 3.0}[css]
        return f'<circle class="obstacle {css}" cx="{x + 9:.1f}" cy="{y - 4:.1f}" r="{radius}"/>'
    return svg.rect(x + 1, y - 9, 14.0, 9.0, f"obstacle {css}")


def _script_data(run: RunData, frame: MapFrame, drawn: list[Trial]) -> str:
    content: dict[str, dict[str, Any]] = {}
    look = look_of(run)
    for trial in sorted(drawn, key=lambda t: t.trial):
        own = run.layouts.get(trial.trial, ())
        paths = [*obstacle_data(frame, own, look.own_css), *motion_data(frame, own, trial.time_s)]
        figures = " · ".join(figures_of(run, trial))
        told = f"{without_count(trial.why) or trial.outcome} · {figures}"
        content[str(trial.trial)] = {"text": told, "paths": paths} if paths else {"text": told}
    # Inside a script element only "</" and "<!--" could end or confuse it.
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def figures_of(run: RunData, trial: Trial) -> list[str]:
    """Time and clearance of a trial; over open ground a flight's tracking error in the place of clearance."""
    judged = f"least clearance {with_unit(trial.clearance_m, 'm', 2)}"
    if run.flies and not run.has_shapes:
        judged = f"tracking error {with_unit(trial.metrics.get('tracking_rms_m'), 'm', 2)} RMS"
    return [with_unit(trial.time_s, "s"), judged]


def chooser(overview: Overview) -> str:
    """The control above the map."""
    options = "".join(
        f'<option value="{t.trial}">trial {t.trial} · {esc(t.outcome)}</option>'
        for t in sorted(overview.drawn, key=lambda t: t.trial)
    )
    return (
        '<div class="pick"><label for="trial">Show one trial</label>'
        f'<select id="trial"><option value="">all tracks</option>{options}</select>'
        '<button type="button" id="before" aria-label="previous trial">←</button>'
        '<button type="button" id="after" aria-label="next trial">→</button>'
        '<output id="told" for="trial"></output></div>'
    )
