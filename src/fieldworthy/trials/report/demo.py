"""The demo's report: campaigns beside a published table, with the intervals that the table does not give."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from fieldworthy.trials.report import page, svg
from fieldworthy.trials.report.charts import interval_mark
from fieldworthy.trials.report.data import RunData, read_run
from fieldworthy.trials.report.furniture import map_axes, north_arrow, scale_bar
from fieldworthy.trials.report.limits import limits_for
from fieldworthy.trials.report.look import is_chart
from fieldworthy.trials.report.mapping import fit
from fieldworthy.trials.report.notices import notices
from fieldworthy.trials.report.overview import drawn_trials, legend, map_content
from fieldworthy.trials.report.text import (
    DASH,
    esc,
    in_words,
    joined,
    number_range,
    percent,
    percent_range,
    plural,
    with_unit,
)
from fieldworthy.trials.report.view import is_turned, view_of
from fieldworthy.trials.statistics import spread, wilson_interval


@dataclass(frozen=True)
class DemoRow:
    """One campaign, and what the paper says about the same scenario (None where it says nothing)."""

    run: Path
    label: str
    """Short name in the table, such as "A"."""
    paper_success: tuple[float, float] | None = None
    """Least and greatest share that the paper gives, as fractions; equal for a single figure."""
    paper_time_s: tuple[float, float] | None = None
    paper_trials: int = 10
    note: str = ""


def write_demo_report(folder: Path, rows: Sequence[DemoRow]) -> Path:
    """Write report.html into `folder` from the run folders that the rows name, and return its path."""
    folder = Path(folder)
    runs = [read_run(Path(row.run)) for row in rows]
    return page.write_page(folder / "report.html", _page(folder, list(zip(rows, runs, strict=True))))


def _page(folder: Path, pairs: list[tuple[DemoRow, RunData]]) -> str:
    finished = [(row, run) for row, run in pairs if run.trials]
    total = sum(len(run.trials) for _, run in finished)
    body = [
        page.header(
            "Fieldworthy demo",
            "A boat that avoids obstacles with LiDAR, beside the published table",
            "The paper's reactive rule in its three kinds of water: hull, speed and channel width are ours, since the "
            "paper gives none, and its scenario B, 35 obstacles in its text, is flown with 35 and with five.",
        )
    ]
    for row, run in pairs:
        body += [f"<h3>{esc(_name(row))}</h3>{notice}" for notice in notices(run)]
    if finished:
        wall = sum(float(run.run.get("wall_s") or 0.0) for _, run in finished)
        body.append(f'<p class="answer">{_answer(finished)}</p>')
        body.append(f'<p class="then">{plural(total, "trial")}, {with_unit(wall, "s")} of computing.</p>')
        body.append(page.figure(_table(folder, pairs)))
        body.append(_comparison_section(finished))
        css = "three" if len(finished) == 3 else "pair"
        figures = "".join(_map_figure(folder, i, *pair, css == "pair") for i, pair in enumerate(finished))
        body.append(f'<h2>Tracks</h2><div class="{css}">{figures}</div>')
    body.append("<h2>How this was made</h2>")
    for row, run in pairs:
        body.append(
            f"<details><summary>{esc(_named(row, run))}</summary>{page.figure(page.provenance(run.run))}</details>"
        )
    sentences = dict.fromkeys(sentence for _, run in pairs for sentence in limits_for(run.scenario))
    widths = [high - low for low, high in (wilson_interval(run.successes, len(run.trials)) for _, run in finished)]
    own = (
        f"The widest of our intervals spans {round(100 * max(widths, default=1.0))} points, and the paper's figures "
        "rest on few trials too: a difference smaller than that says little. Run more trials."
    )
    body.append(f'<h2>Limits</h2><ul class="limits">{"".join(f"<li>{esc(s)}</li>" for s in (own, *sentences))}</ul>')
    body.append(page.footer(pairs[0][1].run if pairs else {}))
    return page.document("Fieldworthy demo", body)


def _name(row: DemoRow) -> str:
    """A label that can stand in a list: "B, 35" as "B (35)"."""
    head, _, tail = row.label.partition(", ")
    return f"{head} ({tail})" if tail else head


def _named(row: DemoRow, run: RunData) -> str:
    return f"{_name(row)} · {run.title}"


def _answer(pairs: list[tuple[DemoRow, RunData]]) -> str:
    """Who reached the goal, best first, scenarios of the same result together."""
    groups: dict[tuple[int, int], list[str]] = {}
    for row, run in sorted(pairs, key=lambda pair: -pair[1].successes / len(pair[1].trials)):
        groups.setdefault((run.successes, len(run.trials)), []).append(_name(row))
    sizes = {n for _, n in groups}
    parts: list[str] = []
    for (wins, n), names in groups.items():
        everyone = f"all {in_words(n)}" if n > 1 else "the only one"
        count = (
            everyone if wins == n else in_words(wins) + (f" of {in_words(n)}" if len(sizes) > 1 or not parts else "")
        )
        noun = "" if parts or (wins == n == 1) else " trials"
        parts.append(f"{count}{noun}{'' if parts else ' reached the goal'} in {joined(names)}")
    told = joined(parts)
    told = told[0].upper() + told[1:] + "."
    agree = [_name(row) for row, run in pairs if row.paper_success and _overlaps(row, run)]
    apart = [_name(row) for row, run in pairs if row.paper_success and not _overlaps(row, run)]
    if agree and not apart:
        told += " So few trials cannot tell ours from the paper's."
    elif agree:
        told += f" So few trials cannot tell ours from the paper's in {joined(agree)}; in {joined(apart)} they differ."
    elif apart:
        told += " The paper's success lies outside our 95\u202f% interval everywhere."
    return esc(told)


def _overlaps(row: DemoRow, run: RunData) -> bool:
    """Whether the paper's range and our interval share a value."""
    low, high = wilson_interval(run.successes, len(run.trials))
    return row.paper_success is not None and row.paper_success[0] <= high and low <= row.paper_success[1]


def _table(folder: Path, pairs: list[tuple[DemoRow, RunData]]) -> str:
    rows: list[list[page.Cell]] = []
    for row, run in pairs:
        n = len(run.trials)
        times = spread([t.time_s for t in run.trials if t.succeeded])
        hits = sum(t.outcome == "collision" for t in run.trials)
        paper = percent_range(*row.paper_success, 0) if row.paper_success else DASH
        paper_time = number_range(*row.paper_time_s, "s", 0) if row.paper_time_s else DASH
        interval = percent_range(*wilson_interval(run.successes, n), 0) if n else ""
        rows.append(
            [
                f'<a href="{_link(folder, run)}">{esc(_named(row, run))}</a>{_note(row, run)}',
                paper + f'<span class="sub">{plural(row.paper_trials, "trial")}</span>' if row.paper_success else DASH,
                f'{percent(run.successes / n, 0) if n else DASH}<span class="sub">{interval}</span>',
                paper_time,
                with_unit(times.mean, "s")
                + f'<span class="sub">{number_range(times.least, times.greatest, "s")}</span>'
                if times
                else DASH,
                f'{hits}<span class="sub">of {plural(n, "trial")}</span>',
            ]
        )
    columns = [
        "Scenario",
        "Paper: success #",
        "Ours, 95\u202f% #",
        "Paper: time #",
        "Ours, range #",
        "Our collisions #",
    ]
    return page.table(columns, rows)


def _link(folder: Path, run: RunData) -> str:
    return esc(quote(Path(os.path.relpath(run.folder / "report.html", folder)).as_posix()))


def _comparison_section(pairs: list[tuple[DemoRow, RunData]]) -> str:
    success, time = [], []
    for row, run in pairs:
        n = len(run.trials)
        implied = None
        if row.paper_success:
            low, high = (round(share * row.paper_trials) for share in row.paper_success)
            implied = wilson_interval(low, row.paper_trials)[0], wilson_interval(high, row.paper_trials)[1]
        success.append(
            _Line(_name(row), row.paper_success, implied, run.successes / n, wilson_interval(run.successes, n))
        )
        times = spread([t.time_s for t in run.trials if t.succeeded])
        if times:
            time.append(_Line(_name(row), row.paper_time_s, None, times.mean, (times.least, times.greatest)))
        elif row.paper_time_s:
            time.append(_Line(_name(row), row.paper_time_s, None, math.nan, (math.nan, math.nan)))
    figures = page.figure(
        _dot_plot(success, "reached the goal", share=True),
        "Circle and bar: ours with the 95\u202f% Wilson interval. Grey: the paper's range; dotted: the "
        "interval that its number of trials implies.",
        "Success",
    )
    if time:
        caption = "Circle and bar: our mean with the shortest and longest time. Grey: the paper's figure."
        figures += page.figure(_dot_plot(time, "time to the goal [s]"), caption, "Time to the goal")
    return f'<h2>Beside the paper</h2><div class="pair">{figures}</div>'


def _note(row: DemoRow, run: RunData) -> str:
    """The row's note, unless the title says it already."""
    known = set(run.title.lower().split())
    told = "" if set(row.note.lower().split()) <= known else f'<span class="sub">{esc(row.note)}</span>'
    return f'<span class="room"></span>{told}'


@dataclass(frozen=True)
class _Line:
    """One row of a dot plot."""

    name: str
    paper: tuple[float, float] | None
    implied: tuple[float, float] | None
    value: float
    interval: tuple[float, float]


def _dot_plot(lines: list[_Line], label: str, share: bool = False) -> str:
    width, left, step = 500.0, 92.0, 46.0
    bottom = 10.0 + step * len(lines)
    shown = [v for item in lines for v in (item.value, *item.interval, *(item.paper or ()))]
    x = svg.Scale(*((0.0, 1.0) if share else svg.padded(shown, 0.1, floor=0.0)), left, width - 20.0)
    marks = [i / 5 for i in range(6)] if share else svg.ticks(x.low, x.high)
    parts = [svg.line(x(v), 8.0, x(v), bottom, "grid") for v in marks]
    for i, item in enumerate(lines):
        y = 10.0 + step * (i + 0.5)
        parts.append(svg.text(left - 14, y + 4, item.name, "t strong", "end"))
        if item.implied:
            parts.append(
                f'<path class="paper-implied" d="M{x(item.implied[0]):.1f} {y - 9:.1f}H{x(item.implied[1]):.1f}"/>'
            )
        if item.paper:
            a, b = x(item.paper[0]), x(item.paper[1])
            parts.append(svg.rect(a - 2, y - 15, b - a + 4, 12, "paper"))
        if math.isnan(item.value):
            continue
        a, b, m = x(item.interval[0]), x(item.interval[1]), x(item.value)
        parts.append(interval_mark(a, b, m, y + 6.0))
    names = [f"{round(100 * v)}\u202f%" if share else f"{v:g}" for v in marks]
    parts.append(svg.line(left, bottom, width - 20.0, bottom, "axis"))
    parts += [svg.text(x(v), bottom + 16, name, "t", "middle") for v, name in zip(marks, names, strict=True)]
    parts.append(svg.text(0.5 * (left + width - 20.0), bottom + 36, label, "t label", "middle"))
    return svg.drawing(width, bottom + 44.0, label, parts)


def _map_figure(folder: Path, index: int, row: DemoRow, run: RunData, wide: bool) -> str:
    """A map as wide as its card: upright beside two others, lying along the course beside one."""
    view = view_of(run)
    turned = wide and is_turned(run, view)
    width, most, least = (500.0, 420.0, 280.0) if wide else (336.0, 440.0, 440.0)
    frame = fit(view, 40.0, 6.0, width - 46.0, most, turned, least)
    height = frame.top + frame.height + 62.0
    css = f"few{' chartmap' if is_chart(run) else ''}"
    drawn = drawn_trials(run)
    parts = [
        *map_axes(frame, 6, labels=False),
        f'<g class="{css}">',
        *map_content(run, frame, drawn, f"clip-{index}", ghosts=any(run.layouts.values())),
        "</g>",
        *legend(run.trials, frame.left, height - 8.0),
        *scale_bar(frame, width - 50.0, height - 10.0, 80.0),
        north_arrow(width - 24.0 - 6.0 * turned, height - 14.0, turned),
    ]
    drawing = svg.drawing(width, height, f"Map of {_name(row)}", parts)
    link = f'<a href="{_link(folder, run)}">full report</a>'
    return page.figure(drawing, f"{plural(len(drawn), 'track')}; {link}.", esc(_named(row, run)))
