"""Charts of a report: histograms, intervals, curves with bands, a heat map. Values in, SVG text out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fieldworthy.trials.report import svg
from fieldworthy.trials.report.axis import value_axis
from fieldworthy.trials.report.text import percent, percent_range, plural, short
from fieldworthy.trials.statistics import SuccessBin, wilson_interval


@dataclass(frozen=True)
class Point:
    """One point of a curve with its interval; NaN where nothing is known."""

    x: float
    y: float
    low: float
    high: float
    told: str = ""


def histogram(values: Sequence[float], label: str, css: str = "goal", apart: int = 0, apart_label: str = "") -> str:
    """Counts of values in about 20 round bins; `apart` trials get a bar of their own left of the axis' zero."""
    width, height, left, bottom, top = 500.0, 250.0, 62.0, 200.0, 24.0
    finite = [v for v in values if math.isfinite(v)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    step = svg.nice_step(max(high - low, 0.02 * abs(high), 1e-3), 18)
    first, last = math.floor(low / step + 1e-9), math.floor(high / step + 1e-9) + 1
    edges = np.arange(first, last + 1) * step
    counts = np.histogram(finite, edges)[0] if finite else np.zeros(len(edges) - 1, dtype=int)
    start = left + (74.0 if apart_label else 0.0)
    x = svg.Scale(float(edges[0]), float(edges[-1]), start, width - 20.0)
    y = svg.Scale(0.0, max(int(counts.max()), apart, 1) * 1.08, bottom, top)
    parts = svg.axis_y(y, left, width - 14.0, "trials", {v: short(v) for v in _whole(svg.ticks(0.0, y.high, 5))})
    bars = []
    for edge, count in zip(edges[:-1].tolist(), counts.tolist(), strict=True):
        if count:
            hint = svg.title(f"{short(edge)} to {short(edge + step)}: {plural(count, 'trial')}")
            bar = svg.rect(x(edge) + 0.5, y(count), x(edge + step) - x(edge) - 1, bottom - y(count), f"fill {css}")
            bars.append(f"<g>{bar}{hint}</g>")
    if apart_label:
        if apart:
            parts.append(svg.rect(left + 14, y(apart), 36.0, bottom - y(apart), "fill collision"))
        parts.append(svg.text(left + 32, (y(apart) if apart else bottom) - 6, apart, "t strong", "middle"))
        parts.append(svg.text(left + 32, bottom + 16, apart_label, "t", "middle"))
        parts.append(svg.line(left, bottom, left + 62, bottom, "axis"))
    parts += svg.axis_x(x, bottom, bottom, label) + bars
    return svg.drawing(width, height, f"Histogram: {label}", parts)


def _whole(values: list[float]) -> list[float]:
    return [v for v in values if abs(v - round(v)) < 1e-9]


def success_bar(parts_by_outcome: Sequence[tuple[str, str, int]], successes: int, n: int) -> str:
    """All trials as one bar by outcome (name, class, count), with the interval of success below on the same scale."""
    width, left, right = 1086.0, 14.0, 14.0
    x = svg.Scale(0.0, float(n), left, width - right)
    parts, position = [], 0
    for name, css, count in parts_by_outcome:
        w = x(position + count) - x(position)
        hint = svg.title(f"{name}: {plural(count, 'trial')}")
        parts.append(f"<g>{svg.rect(x(position), 6, w - 1.5, 30, f'fill {css}')}{hint}</g>")
        position += count
    low, high = wilson_interval(successes, n)
    a, b, m = x(low * n), x(high * n), x(successes)
    parts.append(interval_mark(a, b, m, 52.0))
    for share in range(0, 101, 10):
        at = x(share * n / 100.0)
        anchor = "start" if share == 0 else "end" if share == 100 else "middle"
        parts += [svg.line(at, 66, at, 70, "axis"), svg.text(at, 84, f"{share}\u202f%", "t", anchor)]
    parts.append(svg.line(left, 66, width - right, 66, "axis"))
    return svg.drawing(
        width, 90.0, f"Success {percent(successes / n)}, interval {percent_range(low, high)}", parts, "chart long"
    )


def interval_mark(low: float, high: float, middle: float, y: float) -> str:
    """A horizontal interval with its middle as a circle."""
    return (
        f'<path class="whisker accent" d="M{low:.1f} {y - 6:.1f}v12m0 -6H{high:.1f}m0 -6v12"/>'
        f'<circle class="point" cx="{middle:.1f}" cy="{y:.1f}" r="4.5"/>'
    )


def parameter_chart(name: str, bins: Sequence[SuccessBin], values: Sequence[float], succeeded: Sequence[bool]) -> str:
    """Share of success over a parameter in bins with intervals; trials as ticks at the top (goal) and bottom (not)."""
    points = []
    for b in bins:
        low, high = wilson_interval(b.successes, b.n)
        told = f"{short(b.low)} to {short(b.high)}: {b.successes} of {plural(b.n, 'trial')}"
        points.append(Point(b.centre, b.successes / b.n, low, high, told))
    finite = [v for v in values if math.isfinite(v)]
    x = svg.Scale(*svg.padded(finite), 62.0, 486.0)
    y = svg.Scale(-0.08, 1.08, 200.0, 12.0)
    parts = svg.axis_y(y, 62.0, 486.0, "reached the goal", {i / 4: f"{25 * i}\u202f%" for i in range(5)})
    parts += svg.axis_x(x, 200.0, 12.0, name)
    step = max(1, len(values) // 300)
    for want, css in ((True, "goal"), (False, "collision")):
        at = y(1.055) if want else y(-0.055)
        some = [v for v, s in zip(values, succeeded, strict=True) if s is want and math.isfinite(v)][
            :: step if want else 1
        ]
        marks = "".join(f"M{x(v):.1f} {at - 3.5:.1f}v7" for v in some)
        parts.append(
            f'<path class="whisker {css}" stroke-opacity=".4" style="stroke-width:1" d="{marks}"/>' if marks else ""
        )
    for p in points:
        parts.append(_whisker(x(p.x), y(p.low), y(p.high), y(p.y), p.told))
    return svg.drawing(500.0, 250.0, f"Success over {name}", parts)


def _whisker(x: float, low: float, high: float, middle: float, told: str) -> str:
    stem = f"M{x - 4:.1f} {low:.1f}h8m-4 0V{high:.1f}m-4 0h8" if math.isfinite(low) and math.isfinite(high) else ""
    stem = f'<path class="whisker accent" d="{stem}"/>' if stem else ""
    return f'<g>{stem}<circle class="point" cx="{x:.1f}" cy="{middle:.1f}" r="4"/>{svg.title(told)}</g>'


def curve(
    points: Sequence[Point],
    x_label: str,
    y_label: str,
    share: bool = False,
    least: Sequence[Point] = (),
    floor: float | None = 0.0,
) -> str:
    """A line with its interval band over a varied value; `share`: fractions, in per cent; `least`: a second line."""
    width, height = 500.0, 270.0
    known = [p for p in points if math.isfinite(p.y)]
    x = value_axis([p.x for p in points], 66.0, width - 14.0)
    if share:
        y = svg.Scale(0.0, 1.0, 220.0, 12.0)
        parts = svg.axis_y(y, 66.0, width - 14.0, y_label, {i / 5: f"{20 * i}\u202f%" for i in range(6)})
    else:
        shown = [v for p in (*points, *least) for v in (p.y, p.low, p.high)]
        y = svg.Scale(*svg.padded(shown, 0.12, floor), 220.0, 12.0)
        parts = svg.axis_y(y, 66.0, width - 14.0, y_label)
    parts += x.drawn(220.0, 12.0, x_label)
    band = [p for p in known if math.isfinite(p.low) and math.isfinite(p.high)]
    if len(band) > 1:
        ring = [(x(p.x), y(p.high)) for p in band] + [(x(p.x), y(p.low)) for p in reversed(band)]
        parts.append(f'<path class="band" d="{svg.path_data(np.array(ring), closed=True)}"/>')
    lower = [p for p in least if math.isfinite(p.y)]
    for line, css in ((lower, "curve thin"), (known, "curve")):
        if len(line) > 1:
            parts.append(f'<path class="{css}" d="{svg.path_data(np.array([(x(p.x), y(p.y)) for p in line]))}"/>')
    parts += [_whisker(x(p.x), math.nan, math.nan, y(p.y), p.told) for p in lower]
    parts += [_whisker(x(p.x), y(p.low), y(p.high), y(p.y), p.told) for p in known]
    return svg.drawing(width, height, f"{y_label} over {x_label}", parts)


def heat_map(
    columns: Sequence[str],
    rows: Sequence[str],
    cells: dict[tuple[int, int], tuple[float, str, str]],
    x_label: str,
    y_label: str,
) -> str:
    """A grid of shares: `cells[column, row]` = (fraction, large text, small text); rows count from the bottom."""
    left, top = 76.0, 30.0
    cell_w, cell_h = min(136.0, 990.0 / max(len(columns), 1)), 54.0
    bottom = top + cell_h * len(rows)
    parts = []
    for (i, j), (fraction, large, small) in cells.items():
        x, y = left + i * cell_w, bottom - (j + 1) * cell_h
        parts.append(svg.rect(x, y, cell_w, cell_h, "plain"))
        parts.append(svg.rect(x, y, cell_w, cell_h, "heat", f' fill-opacity="{0.02 + 0.48 * fraction**2:.2f}"'))
        parts.append(svg.text(x + cell_w / 2, y + cell_h / 2 - 1, large, "t strong", "middle"))
        if cell_w > 84.0:
            parts.append(svg.text(x + cell_w / 2, y + cell_h / 2 + 15, small, "t heat-text", "middle"))
    parts += [svg.text(left + (i + 0.5) * cell_w, bottom + 17, name, "t", "middle") for i, name in enumerate(columns)]
    parts += [svg.text(left - 8, bottom - (j + 0.5) * cell_h + 4, name, "t", "end") for j, name in enumerate(rows)]
    width = left + cell_w * len(columns) + 10.0
    parts.append(svg.text(left + cell_w * len(columns) / 2, bottom + 38, x_label, "t label", "middle"))
    parts.append(svg.text(4, 16, f"{y_label} ↑" if y_label else "", "t label"))
    return svg.drawing(width, bottom + 48.0, f"{y_label} and {x_label}", parts)
