"""The drawings of a sweep: curves over one varied value, heat maps over two or over words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fieldworthy.trials.metric import METRICS
from fieldworthy.trials.report import charts, page
from fieldworthy.trials.report.axis import value_axis
from fieldworthy.trials.report.text import (
    DASH,
    number,
    number_range,
    plural,
    short,
    with_unit,
)
from fieldworthy.trials.report.words import AIRCRAFT, BOAT
from fieldworthy.trials.statistics import Spread, wilson_interval
from fieldworthy.world.state import CLEARANCE_HORIZON_M

DRAWN = (
    "tracking_rms_m",
    "overshoot_percent",
    "settling_s",
    "energy_wh",
    "margin_least",
    "tilt_max_deg",
    "estimate_position_rms_m",
    "estimate_tilt_rms_deg",
    "estimate_heading_rms_deg",
)
"""Figures of flights that get a curve."""


@dataclass(frozen=True)
class SweepPoint:
    """One combination of varied values and what its trials said."""

    values: dict[str, Any]
    run: str
    n: int
    successes: int
    collisions: int
    time_s: Spread | None
    """Of the trials that reached the goal."""
    clearance_m: Spread | None
    """Of all trials; collisions count as zero."""
    metrics: dict[str, Spread | None]
    """Of flights, by the names of `trials.metric.METRICS`."""

    @property
    def flies(self) -> bool:
        """Whether its trials were flights."""
        return bool(self.metrics)

    @property
    def rate(self) -> float:
        """Share of success; NaN without trials."""
        return self.successes / self.n if self.n else math.nan


def open_air(points: Sequence[SweepPoint]) -> bool:
    """Whether these are flights that never had anything within the horizon of clearances."""
    return all(p.flies and (p.clearance_m is None or p.clearance_m.least >= CLEARANCE_HORIZON_M) for p in points)


def value_text(value: object) -> str:
    """A varied value as the page prints it."""
    return short(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def curves(name: str, points: list[SweepPoint]) -> list[str]:
    """Everything over one varied value; one row of cells where the values are words."""
    numeric = all(isinstance(p.values[name], (int, float)) and not isinstance(p.values[name], bool) for p in points)
    if not numeric:
        return [_heat_of(name, points)]
    words = AIRCRAFT if points[0].flies else BOAT
    ordered = sorted(points, key=lambda p: float(p.values[name]))
    success: list[charts.Point] = []
    time: list[charts.Point] = []
    clearance: list[charts.Point] = []
    least: list[charts.Point] = []
    hits: list[charts.Point] = []
    for p in ordered:
        x = float(p.values[name])
        low, high = wilson_interval(p.successes, p.n)
        success.append(charts.Point(x, p.rate, low, high, f"{short(x)}: {p.successes} of {plural(p.n, 'trial')}"))
        ends = words.collision if p.collisions == 1 else words.collisions
        told = f"{short(x)}: {p.collisions} {ends} in {plural(p.n, 'trial')}"
        hits.append(charts.Point(x, p.collisions / p.n, *wilson_interval(p.collisions, p.n), told))
        for curve, s, unit in ((time, p.time_s, "s"), (clearance, p.clearance_m, "m")):
            if s:
                told = f"{short(x)}: mean {number(s.mean, 2)} {unit}, {number_range(s.least, s.greatest, unit, 2)}"
                curve.append(charts.Point(x, s.mean, s.mean_low, s.mean_high, told))
        if p.clearance_m:
            value = p.clearance_m.least
            least.append(charts.Point(x, value, math.nan, math.nan, f"{short(x)}: least {number(value, 2)} m"))
    axis = value_axis([p.x for p in success], 0.0, 1.0)
    scale = ""
    if axis.log:
        scale = " The values stand on a logarithmic axis" + (", with 0 set apart." if 0.0 in axis.values else ".")
    parts = [
        page.figure(
            charts.curve(success, name, "reached the goal", share=True),
            "Share of success with its 95\u202f% Wilson interval." + scale,
            "Success",
        ),
        page.figure(
            charts.curve(hits, name, words.collided, share=True),
            f"Share of trials that ended in a {words.collision} with its 95\u202f% Wilson interval.",
            words.collisions.capitalize(),
        ),
    ]
    if time:
        parts.append(
            page.figure(
                charts.curve(time, name, "time to the goal [s]"),
                "Mean of the trials that reached the goal, with the 95\u202f% interval of the mean.",
                "Time",
            )
        )
    parts += [_metric_figure(name, metric, ordered) for metric in DRAWN if any(p.metrics.get(metric) for p in ordered)]
    if clearance and not open_air(points):
        parts.append(
            page.figure(
                charts.curve(clearance, name, "least clearance [m]", least=least),
                "Solid: mean over trials with the 95\u202f% interval of the mean (a collision counts as 0). Dashed: "
                "smallest of all trials.",
                "Clearance",
            )
        )
    return ["<h2>Curves</h2>", f'<div class="pair">{"".join(parts)}</div>']


def _metric_figure(name: str, metric: str, ordered: list[SweepPoint]) -> str:
    """The mean of a flight's figure over the varied value, and the least of all trials where that is what counts."""
    what = METRICS[metric]
    mean, least = [], []
    for p in ordered:
        s, x = p.metrics.get(metric), float(p.values[name])
        if s is None:
            continue
        spread = number_range(s.least, s.greatest, what.unit, what.digits)
        told = f"{short(x)}: mean {number(s.mean, what.digits)}, {spread}"
        mean.append(charts.Point(x, s.mean, s.mean_low, s.mean_high, told))
        least.append(charts.Point(x, s.least, math.nan, math.nan, f"{short(x)}: least {number(s.least, what.digits)}"))
    unit = f" [{what.unit}]" if what.unit else ""
    judged_by_least = metric == "margin_least"
    chart = charts.curve(
        mean, name, what.label + unit, least=least if judged_by_least else (), floor=None if judged_by_least else 0.0
    )
    dashed = " Dashed: the least of all trials." if judged_by_least else ""
    heading = what.label[0].upper() + what.label[1:]
    return page.figure(chart, f"Mean over trials with the 95\u202f% interval of the mean.{dashed}", heading)


def _cell(point: SweepPoint) -> tuple[float, str, str]:
    low, high = wilson_interval(point.successes, point.n)
    return (
        point.rate,
        f"{number(100 * point.rate, 0)}\u202f%",
        f"{number(100 * low, 0)}{DASH}{number(100 * high, 0)}\u202f%",
    )


def _heat_of(name: str, points: list[SweepPoint]) -> str:
    """One row of a heat map for values that are words."""
    cells = {(i, 0): _cell(p) for i, p in enumerate(points)}
    chart = charts.heat_map([value_text(p.values[name]) for p in points], [""], cells, name, "")
    return "<h2>Success</h2>" + page.figure(chart, "Share of success; small: its 95\u202f% Wilson interval.")


def heat(vary: dict[str, list[Any]], points: list[SweepPoint]) -> list[str]:
    """Success, and how long or how precise, over two varied values."""
    (x_name, xs), (y_name, ys) = vary.items()
    place = [(xs.index(p.values[x_name]), ys.index(p.values[y_name]), p) for p in points]
    names = [value_text(v) for v in xs], [value_text(v) for v in ys]
    success = charts.heat_map(*names, {(i, j): _cell(p) for i, j, p in place}, x_name, y_name)
    gap = " A missing cell was not run." if len(place) < len(xs) * len(ys) else ""
    parts = [page.figure(success, f"Share of success; small: its 95\u202f% Wilson interval.{gap}", "Success")]
    means = [p.time_s.mean for p in points if p.time_s]
    if means:
        span = (max(means) - min(means)) or 1.0
        cells = {
            (i, j): ((p.time_s.mean - min(means)) / span, with_unit(p.time_s.mean, "s"), f"{p.successes} of {p.n}")
            for i, j, p in place
            if p.time_s
        }
        told = "Mean time of the trials that reached the goal (stronger colour: longer); small: how many did."
        parts.append(page.figure(charts.heat_map(*names, cells, x_name, y_name), told, "Time"))
    errors = {(i, j): p.metrics.get("tracking_rms_m") for i, j, p in place}
    known = {at: s for at, s in errors.items() if s is not None}
    if known:
        low = min(s.mean for s in known.values())
        span = (max(s.mean for s in known.values()) - low) or 1.0
        cells = {
            at: ((s.mean - low) / span, with_unit(s.mean, "m", 2), f"{number_range(s.least, s.greatest, 'm', 2)}")
            for at, s in known.items()
        }
        told = "Mean over trials (stronger colour: larger); small: least to greatest."
        parts.append(page.figure(charts.heat_map(*names, cells, x_name, y_name), told, "Tracking error, RMS"))
    # Two narrow maps stand side by side; wide ones keep a row each so that their numbers stay readable.
    css = "pair" if len(xs) <= 3 else "stack"
    return ["<h2>Heat maps</h2>", f'<div class="{css}">{"".join(parts)}</div>']
