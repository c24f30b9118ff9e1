"""A quantity over time, a line a trial or a line a part. Values in, SVG text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fieldworthy.trials.report import svg
from fieldworthy.trials.report.mapping import TOLERANCE
from fieldworthy.trials.report.simplify import simplify
from fieldworthy.trials.report.text import grouped, short

Array = NDArray[np.float64]

COLUMNS = 400
"""A line of more samples than twice this shows the least and the greatest of each column of the page."""


@dataclass(frozen=True)
class Line:
    """One line; NaN breaks it."""

    t_s: Array
    values: Array
    css: str
    name: str = ""
    """In a legend."""
    trial: int | None = None
    """By which it is chosen with the map's tracks."""


@dataclass(frozen=True)
class Span:
    """A stretch of time with a shade behind the lines; it may reach past the end of the chart."""

    start_s: float
    end_s: float
    css: str


def time_chart(
    label: str,
    lines: Sequence[Line],
    levels: Sequence[tuple[float, str]] = (),
    floor: float | None = None,
    names: dict[float, str] | None = None,
    spans: Sequence[Span] = (),
) -> str:
    """The lines over time. levels: marked values with their names.      names: ticks of the upright axis."""
    width, height, left, right, bottom, top = 500.0, 250.0, 62.0, 486.0, 200.0, 12.0
    legend = [line for line in lines if line.name]
    top += 20.0 if legend else 0.0
    end = max((float(line.t_s[-1]) for line in lines if len(line.t_s)), default=1.0)
    x = svg.Scale(0.0, max(end, 1e-3), left, right)
    shown = [v for line in lines for v in _ends(line.values)] + [value for value, _ in levels]
    if names:
        shown += list(names)
    y = svg.Scale(*svg.padded(shown, 0.08, floor), bottom, top)
    marks = names or {value: _mark(value) for value in svg.ticks(y.low, y.high, 5)}
    parts = [
        svg.rect(x(span.start_s), top, x(min(span.end_s, x.high)) - x(span.start_s), bottom - top, span.css)
        for span in spans
        if span.start_s < min(span.end_s, x.high)
    ]
    parts += svg.axis_y(y, left, right, label, marks)
    parts += svg.axis_x(x, bottom, top, "time [s]")
    parts += [svg.line(left, y(value), right, y(value), "level") for value, _ in levels]
    drawn, owners = [], []
    for line in lines:
        for part in _parts(line):
            drawn.append(np.column_stack([_placed(x, part[0]), _placed(y, part[1])]))
            owners.append(line)
    for points, line in zip(simplify(drawn, TOLERANCE), owners, strict=True):
        chosen = "" if line.trial is None else f' data-trial="{line.trial}"'
        parts.append(f'<path class="line {line.css}"{chosen} d="{svg.path_data(points)}"/>')
    parts += [svg.text(right - 4, y(value) - 5, name, "t strong halo", "end") for value, name in levels if name]
    at = left
    for line in legend:
        parts.append(f'<path class="line key-line {line.css}" d="M{at:.0f} 14h22"/>')
        parts.append(svg.text(at + 28, 18, line.name, "t"))
        at += 46.0 + 6.6 * len(line.name)
    return svg.drawing(width, height, f"{label} over time", parts, "chart pickable")


HEADINGS = {-180.0: "S", -90.0: "W", 0.0: "N", 90.0: "E", 180.0: "S"}
"""Ticks of an axis for `wrapped_deg`."""


def wrapped_deg(values_deg: Array) -> Array:
    """Headings within 180 degrees of north, with a break where the line would cross the whole chart."""
    wrapped: Array = (values_deg + 180.0) % 360.0 - 180.0
    jumps = np.abs(np.diff(wrapped, prepend=wrapped[:1])) > 180.0
    return np.where(jumps, np.nan, wrapped)


def _mark(value: float) -> str:
    return grouped(value) if abs(value) >= 1e4 else short(value)


def _ends(values: Array) -> list[float]:
    finite = values[np.isfinite(values)]
    return [float(finite.min()), float(finite.max())] if len(finite) else []


def _placed(scale: svg.Scale, values: Array) -> Array:
    return scale.start + (values - scale.low) / (scale.high - scale.low) * (scale.end - scale.start)


def _parts(line: Line) -> list[tuple[Array, Array]]:
    """The unbroken parts of a line, thinned to what a page can show."""
    finite = np.isfinite(line.values)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], finite, [False]]).astype(np.int8)))
    found = []
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        t_s, values = line.t_s[first:last], line.values[first:last]
        found.append(_thinned(t_s, values) if last - first > 2 * COLUMNS else (t_s, values))
    return found


def _thinned(t_s: Array, values: Array) -> tuple[Array, Array]:
    """First, last, least and greatest sample of each of COLUMNS runs, in their order: no peak is lost."""
    edges = np.linspace(0, len(values), COLUMNS + 1).astype(int)
    keep = {0, len(values) - 1}
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        part = values[first:last]
        keep |= {first + int(part.argmin()), first + int(part.argmax())}
    places = np.array(sorted(keep))
    return t_s[places], values[places]
