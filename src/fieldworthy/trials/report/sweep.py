"""The report of a sweep: success, time and clearance over one varied value, or a heat map over two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fieldworthy.trials.metric import METRICS
from fieldworthy.trials.report import page
from fieldworthy.trials.report.about import about
from fieldworthy.trials.report.data import Trial, read_trials
from fieldworthy.trials.report.files import damaged, read_json
from fieldworthy.trials.report.sweep_curves import SweepPoint, curves, heat, open_air, value_text
from fieldworthy.trials.report.text import (
    DASH,
    esc,
    joined,
    number,
    percent,
    percent_range,
    plural,
)
from fieldworthy.trials.statistics import spread, wilson_interval


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
        body += curves(next(iter(vary)), known) if len(vary) == 1 else []
        body += heat(vary, known) if len(vary) == 2 else []
        body.append("<h2>Points</h2>" + page.figure(_table(list(vary), points), "Click a heading to sort."))
    provenance = {k: v for k, v in sweep.items() if k not in ("vary", "points", "scenario", "title", "description")}
    varied = [(esc(key), ", ".join(esc(value_text(v)) for v in values)) for key, values in vary.items()]
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
        where = f"{lasts[0]} = {joined([value_text(p.values[names[0]]) for p in points])}"
    elif len(points) > 1:
        where = plural(len(points), "point")
    else:
        where = ", ".join(f"{last} = {value_text(points[0].values[n])}" for n, last in zip(names, lasts, strict=True))
    return f"{where} ({'each ' * (len(points) > 1)}{_interval(points[0])})"


def _interval(point: SweepPoint) -> str:
    return f"95\u202f%: {percent_range(*wilson_interval(point.successes, point.n))}"


TABLE = ("tracking_rms_m", "energy_wh", "margin_least")
"""Figures of flights that have a column: two means and a least."""


def _table(names: list[str], points: list[SweepPoint]) -> str:
    known = [p for p in points if p.n]
    flown, bare = any(p.flies for p in known), bool(known) and open_air(known)
    rows: list[list[page.Cell]] = []
    for p in points:
        row: list[page.Cell] = []
        for name in names:
            value = p.values[name]
            row.append((esc(value_text(value)), float(value)) if isinstance(value, (int, float)) else esc(value))
        low_high = percent_range(*wilson_interval(p.successes, p.n)) if p.n else DASH
        time, clearance = p.time_s, p.clearance_m
        row += [
            (percent(p.rate) if p.n else DASH, p.rate),
            low_high,
            (str(p.n), p.n),
            (str(p.collisions), p.collisions),
            (number(time.mean), time.mean) if time else DASH,
            *([] if bare else [(number(clearance.least, 2), clearance.least) if clearance else DASH]),
            *(_figures(p) if flown else ()),
            f'<a class="nb" href="{esc(quote(p.run))}/report.html">{esc(p.run)}</a>',
        ]
        rows.append(row)
    columns = [f"{esc(name).replace('.', '.<wbr>')} #" for name in names]
    columns += [
        "Success #",
        "95\u202f% interval #",
        "Trials #",
        "Crashes #" if flown else "Collisions #",
        "Mean time [s] #",
        *([] if bare else ["Least clearance [m] #"]),
        *(["Tracking RMS [m] #", "Energy [Wh] #", "Least margin #"] if flown else []),
        "Report",
    ]
    return page.table(columns, rows, sortable=True)


def _figures(point: SweepPoint) -> list[page.Cell]:
    cells: list[page.Cell] = []
    for name in TABLE:
        s = point.metrics.get(name)
        value = math.nan if s is None else s.least if name == "margin_least" else s.mean
        cells.append((number(value, METRICS[name].digits), value))
    return cells
