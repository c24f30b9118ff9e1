"""The report of a sweep: success, time and clearance over one varied value, or a heat map over two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fieldworthy.trials.report import charts, page
from fieldworthy.trials.report.about import about
from fieldworthy.trials.report.axis import value_axis
from fieldworthy.trials.report.data import Trial, read_trials
from fieldworthy.trials.report.files import damaged, read_json
from fieldworthy.trials.report.text import (
    DASH,
    esc,
    joined,
    number,
    number_range,
    percent,
    percent_range,
    plural,
    short,
    with_unit,
)
from fieldworthy.trials.statistics import Spread, spread, wilson_interval


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
    def rate(self) -> float:
        """Share of success; NaN without trials."""
        return self.successes / self.n if self.n else math.nan


def write_sweep_report(sweep_folder: Path) -> Path:
    """Write report.html into a sweep folder from its files, and return its path."""
    folder = Path(sweep_folder)
    sweep = read_json(folder, "sweep.json")
    path = folder / "sweep.json"
    try:
        vary = {str(name): list(values) for name, values in sweep["vary"].items()}
        points = [_point(folder, item) for item in sweep["points"]]
        missing = [name for point in points for name in vary if name not in point.values]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise damaged(path, f"it does not hold a sweep ({error!r})") from error
    if not vary or missing:
        raise damaged(path, f"a point does not say its value of {missing[0]}" if missing else "nothing is varied in it")
    return page.write_page(folder / "report.html", _page(sweep, vary, points, folder.name))


def _point(folder: Path, item: dict[str, Any]) -> SweepPoint:
    run = str(item["run"])
    if Path(run).is_absolute() or ".." in Path(run).parts:
        raise ValueError(f"run {run!r} is not a folder inside the sweep")
    trials: list[Trial] = read_trials(folder / run)[0]
    clearances = [0.0 if t.outcome == "collision" else t.clearance_m for t in trials]
    return SweepPoint(
        dict(item["values"]),
        run,
        len(trials),
        sum(t.succeeded for t in trials),
        sum(t.outcome == "collision" for t in trials),
        spread([t.time_s for t in trials if t.succeeded]),
        spread(clearances),
        {name: spread([t.metrics[name] for t in trials]) for name in (trials[0].metrics if trials else ())},
    )


def _page(sweep: dict[str, Any], vary: dict[str, list[Any]], points: list[SweepPoint], name: str) -> str:
    scenario = str(sweep.get("scenario") or name)
    title = str(sweep.get("title") or scenario)
    known = [p for p in points if p.n]
    body = [page.header(f"Fieldworthy sweep · {scenario}", title)]
    if sweep.get("interrupted"):
        combinations = math.prod(len(values) for values in vary.values())
        by = f" by {esc(sweep['stopped_by'])}" if sweep.get("stopped_by") else ""
        body.append(
            page.banner(
                f"<strong>This sweep was interrupted{by}:</strong> {len(points)} of {combinations} points are here."
            )
        )
    if not known:
        body.append(
            page.banner("<strong>No trial finished</strong>, so there is nothing to report yet. Run the sweep again.")
        )
    else:
        body += [_answer(list(vary), known), about(str(sweep.get("description") or ""))]
        body += _curves(next(iter(vary)), known) if len(vary) == 1 else []
        body += _heat(vary, known) if len(vary) == 2 else []
        body.append("<h2>Points</h2>" + page.figure(_table(list(vary), points), "Click a heading to sort."))
    provenance = {k: v for k, v in sweep.items() if k not in ("vary", "points", "scenario", "title", "description")}
    varied = [(esc(key), ", ".join(esc(_value(v)) for v in values)) for key, values in vary.items()]
    body += [
        "<h2>How this was made</h2>",
        page.figure(page.provenance(provenance, varied)),
        "<h2>Limits</h2>",
        '<ul class="limits"><li>The bands are 95\u202f% intervals of each point by itself; with many points some miss '
        "the true value by chance.</li><li>What the models leave out stands in each point's own report.</li></ul>",
        page.footer(sweep),
    ]
    return page.document(f"{title}: Fieldworthy sweep", body)


def _answer(names: Sequence[str], points: list[SweepPoint]) -> str:
    best, worst = max(points, key=lambda p: p.rate), min(points, key=lambda p: p.rate)
    total = f"{plural(len(points), 'point')}, {plural(sum(p.n for p in points), 'trial')} in all"
    if best.rate == worst.rate:
        return f'<p class="answer">Success is {percent(best.rate)} at every point.</p><p class="then">{total}.</p>'
    apart = wilson_interval(worst.successes, worst.n)[1] < wilson_interval(best.successes, best.n)[0]
    verdict = (
        "the two intervals do not overlap"
        if apart
        else "the two intervals overlap, so more trials may change the order"
    )
    lowest, highest = (_told(names, [p for p in points if p.rate == end.rate]) for end in (worst, best))
    return (
        f'<p class="answer">Success runs from {percent(worst.rate)} to {percent(best.rate)}.</p>'
        f'<p class="then">Lowest at {esc(lowest)}, highest at {esc(highest)}; {verdict}. {total}.</p>'
    )


def _told(names: Sequence[str], points: list[SweepPoint]) -> str:
    """Where some points of the same success lie, with the interval of the first."""
    lasts = [name.rpartition(".")[2] for name in names]
    if len(names) == 1 and len(points) <= 4:
        where = f"{lasts[0]} = {joined([_value(p.values[names[0]]) for p in points])}"
    elif len(points) > 1:
        where = plural(len(points), "point")
    else:
        where = ", ".join(f"{last} = {_value(points[0].values[n])}" for n, last in zip(names, lasts, strict=True))
    return f"{where} ({'each ' * (len(points) > 1)}{_interval(points[0])})"


def _interval(point: SweepPoint) -> str:
    return f"95\u202f%: {percent_range(*wilson_interval(point.successes, point.n))}"


def _value(value: object) -> str:
    return short(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _curves(name: str, points: list[SweepPoint]) -> list[str]:
    numeric = all(isinstance(p.values[name], (int, float)) and not isinstance(p.values[name], bool) for p in points)
    if not numeric:
        return [_heat_of(name, points)]
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
        told = f"{short(x)}: {plural(p.collisions, 'collision')} in {plural(p.n, 'trial')}"
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
            charts.curve(hits, name, "collided", share=True),
            "Share of trials that ended in a collision with its 95\u202f% Wilson interval.",
            "Collisions",
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
    if clearance:
        parts.append(
            page.figure(
                charts.curve(clearance, name, "least clearance [m]", least=least),
                "Solid: mean over trials with the 95\u202f% interval of the mean (a collision counts as 0). Dashed: "
                "smallest of all trials.",
                "Clearance",
            )
        )
    return ["<h2>Curves</h2>", f'<div class="pair">{"".join(parts)}</div>']


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
    chart = charts.heat_map([_value(p.values[name]) for p in points], [""], cells, name, "")
    return "<h2>Success</h2>" + page.figure(chart, "Share of success; small: its 95\u202f% Wilson interval.")


def _heat(vary: dict[str, list[Any]], points: list[SweepPoint]) -> list[str]:
    (x_name, xs), (y_name, ys) = vary.items()
    place = [(xs.index(p.values[x_name]), ys.index(p.values[y_name]), p) for p in points]
    names = [_value(v) for v in xs], [_value(v) for v in ys]
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
    # Two narrow maps stand side by side; wide ones keep a row each so that their numbers stay readable.
    css = "pair" if len(xs) <= 3 else "stack"
    return ["<h2>Heat maps</h2>", f'<div class="{css}">{"".join(parts)}</div>']


def _table(names: list[str], points: list[SweepPoint]) -> str:
    rows: list[list[page.Cell]] = []
    for p in points:
        row: list[page.Cell] = []
        for name in names:
            value = p.values[name]
            row.append((esc(_value(value)), float(value)) if isinstance(value, (int, float)) else esc(value))
        low_high = percent_range(*wilson_interval(p.successes, p.n)) if p.n else DASH
        time, clearance = p.time_s, p.clearance_m
        row += [
            (percent(p.rate) if p.n else DASH, p.rate),
            low_high,
            (str(p.n), p.n),
            (str(p.collisions), p.collisions),
            (number(time.mean), time.mean) if time else DASH,
            (number(clearance.least, 2), clearance.least) if clearance else DASH,
            f'<a class="nb" href="{esc(quote(p.run))}/report.html">{esc(p.run)}</a>',
        ]
        rows.append(row)
    columns = [f"{esc(name).replace('.', '.<wbr>')} #" for name in names]
    columns += [
        "Success #",
        "95\u202f% interval #",
        "Trials #",
        "Collisions #",
        "Mean time [s] #",
        "Least clearance [m] #",
        "Report",
    ]
    return page.table(columns, rows, sortable=True)
