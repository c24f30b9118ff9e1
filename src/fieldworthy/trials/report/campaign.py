"""The report of one campaign: answer first, then the map, the distributions, the worst trials, and how it was made."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from pathlib import Path

from fieldworthy.trials.report import charts, page
from fieldworthy.trials.report.about import about
from fieldworthy.trials.report.data import OUTCOMES, RunData, Trial, hull_outline, read_run, replay_folder
from fieldworthy.trials.report.limits import limits_for
from fieldworthy.trials.report.map_section import map_section
from fieldworthy.trials.report.mapping import Bounds
from fieldworthy.trials.report.notices import notices
from fieldworthy.trials.report.overview import draw_overview
from fieldworthy.trials.report.panels import draw_panel, worst_first
from fieldworthy.trials.report.style import outcome_css
from fieldworthy.trials.report.text import (
    Reason,
    esc,
    group_reasons,
    listed,
    number,
    number_range,
    percent,
    percent_range,
    short,
    success_sentence,
    with_unit,
    without_count,
)
from fieldworthy.trials.report.view import view_of
from fieldworthy.trials.statistics import spread, success_bins, wilson_interval

WORST_ROWS = 10
MOST_REASONS = 6
WORST_PANELS = 6
MOST_PARAMETER_CHARTS = 8


def write_report(run_folder: Path, shown_as: Path | None = None) -> Path:
    """Write report.html into a run folder from the folder's own files, and return its path.

    `shown_as` is the folder that the replay commands name, for a folder that will be renamed once it is complete.
    """
    run = read_run(Path(run_folder))
    return page.write_page(run.folder / "report.html", campaign_page(run, Path(shown_as or run_folder)))


def campaign_page(run: RunData, shown_as: Path) -> str:
    """The whole page; its replay commands name the folder `shown_as`."""
    body = [page.header(f"Fieldworthy campaign · {run.name}", run.title)]
    body += notices(run)
    if run.trials:
        body += [_answer(run), page.tiles(key_figures(run)), about(str(run.scenario.get("description", "")))]
        view = view_of(run)
        overview = draw_overview(run, view) if run.tracks else None
        if overview:
            body.append(map_section(run, overview, view))
        body += [
            _outcome_section(run),
            _distribution_section(run),
            _worst_section(run, view, shown_as),
            _parameter_section(run),
        ]
        if overview:
            body.append(f'<script type="application/json" id="trials">{overview.script_data}</script>')
    body += [*made_section(run), page.footer(run.run)]
    return page.document(f"{run.title}: Fieldworthy report", body)


def _answer(run: RunData) -> str:
    counts = Counter(trial.outcome for trial in run.trials)
    words = {
        "collision": "collided",
        "timeout": "ran out of time",
        "left area": "left the area",
        "non-finite": "became non-finite",
    }
    failed = [f"{counts[o]} {words.get(o, esc(o))}" for o in _order(counts) if o != "goal" and counts[o]]
    then = [", ".join(failed).capitalize() if failed else "No trial failed"]
    sentence = esc(success_sentence(run.successes, len(run.trials)))
    sentence = sentence.replace("(", '<span class="nb">(').replace(")", ")</span>")
    times = spread([t.time_s for t in run.trials if t.succeeded])
    if times:
        then.append(f"those that arrived took {with_unit(times.mean, 's')} on average")
    return f'<p class="answer">{sentence}.</p><p class="then">{"; ".join(then)}.</p>'


def _order(counts: Counter[str]) -> list[str]:
    return [*OUTCOMES, *sorted(set(counts) - set(OUTCOMES))]


def key_figures(run: RunData) -> list[tuple[str, str]]:
    """Tiles: success, collisions, time, clearance, path."""
    n = len(run.trials)
    low, high = wilson_interval(run.successes, n)
    hits = sum(t.outcome == "collision" for t in run.trials)
    hit_low, hit_high = wilson_interval(hits, n)
    items = [
        (percent(run.successes / n), page.tile_text("reached the goal", f"95\u202f%: {percent_range(low, high)}")),
        (
            str(hits),
            page.tile_text(
                "collision" if hits == 1 else "collisions", f"95\u202f%: {percent_range(hit_low, hit_high)} of trials"
            ),
        ),
    ]
    times = spread([t.time_s for t in run.trials if t.succeeded])
    if times:
        items.append(
            (
                with_unit(times.mean, "s"),
                page.tile_text("mean time to the goal", number_range(times.least, times.greatest, "s")),
            )
        )
    passes = spread([t.clearance_m for t in run.trials if t.outcome != "collision"])
    if passes:
        items.append(
            (
                with_unit(passes.least, "m", 2),
                page.tile_text("smallest clearance", f"without collision; mean {with_unit(passes.mean, 'm')}"),
            )
        )
    wall, sim = run.run.get("wall_s"), run.run.get("sim_s")
    if isinstance(wall, (int, float)) and isinstance(sim, (int, float)) and wall > 0:
        items.append(
            (
                f"{short(float(f'{sim / wall:.2g}'))}×",
                page.tile_text("real time", f"{with_unit(wall, 's')} of computing"),
            )
        )
    return items


def _outcome_section(run: RunData) -> str:
    counts = Counter(t.outcome for t in run.trials)
    n = len(run.trials)
    rows = []
    for outcome in _order(counts):
        reasons = group_reasons((t.trial, t.why) for t in run.trials if t.outcome == outcome)
        if len(reasons) > MOST_REASONS:
            rest = sorted(trial for reason in reasons[MOST_REASONS - 1 :] for trial in reason.trials)
            others = f"other reasons ({len(reasons) - MOST_REASONS + 1})"
            reasons = [*reasons[: MOST_REASONS - 1], Reason(others, tuple(rest))]
        for i, reason in enumerate(reasons):
            name = _outcome_key(outcome) if i == 0 else ""
            share = percent(counts[outcome] / n) if i == 0 else ""
            rows.append([name, share, str(len(reason.trials)), esc(reason.sentence), esc(listed(reason.trials, 8))])
    bar = charts.success_bar([(o, outcome_css(o), counts[o]) for o in _order(counts) if counts[o]], run.successes, n)
    caption = "Above: all trials by outcome. Below: share that reached the goal with its 95\u202f% Wilson interval."
    return (
        "<h2>Outcomes</h2>"
        + page.figure(bar, caption)
        + page.figure(page.table(["Outcome", "Share #", "Trials #", "Why", "Trial numbers"], rows))
    )


def _outcome_key(outcome: str) -> str:
    return f'<span class="nb"><span class="key {outcome_css(outcome)}"></span>{esc(outcome)}</span>'


def _distribution_section(run: RunData) -> str:
    hits = sum(t.outcome == "collision" for t in run.trials)
    passes = [t.clearance_m for t in run.trials if t.outcome != "collision" and math.isfinite(t.clearance_m)]
    times = [t.time_s for t in run.trials if t.succeeded and math.isfinite(t.time_s)]
    figures = []
    if passes:
        chart = charts.histogram(
            passes, "least clearance of a trial [m]", apart=hits, apart_label="collided" if hits else ""
        )
        figures.append(
            page.figure(
                chart,
                "Least distance between hull and any obstacle"
                + ("; collisions stand apart at the left." if hits else "."),
                "Clearance",
            )
        )
    if times:
        figures.append(
            page.figure(charts.histogram(times, "time to the goal [s]"), "Trials that reached the goal.", "Time")
        )
    if not figures:
        return ""
    note = (
        ""
        if passes
        else '<p class="note">No clearance is known: there was nothing to keep clear of, or every trial collided.</p>'
    )
    return "<h2>How close, how long</h2>" + note + f'<div class="pair">{"".join(figures)}</div>'


def _worst_section(run: RunData, view: Bounds, shown_as: Path) -> str:
    worst = worst_first(run.trials)
    folder = shlex.quote(replay_folder(shown_as))
    rows: list[list[page.Cell]] = []
    for t in worst[:WORST_ROWS]:
        rows.append(
            [
                (str(t.trial), t.trial),
                _outcome_key(t.outcome) + f'<span class="sub">{esc(without_count(t.why))}</span>',
                (number(t.clearance_m, 2), t.clearance_m),
                (number(t.time_s), t.time_s),
                page.code(f"fieldworthy replay {folder} --trial {t.trial}"),
            ]
        )
    table = page.table(["Trial #", "Outcome", "Clearance [m] #", "Time [s] #", "Fly it again"], rows, sortable=True)
    shown = [t for t in worst if t.trial in run.tracks][:WORST_PANELS]
    panels = "".join(draw_panel(run, t, view) for t in shown)
    hull = (
        ""
        if hull_outline(run)[1]
        else " The run does not record the hull's size: the dart shows position and heading only."
    )
    count = "first" if len(shown) == 1 else f"first {len(shown)}"
    drawn = (
        f'<p class="note">The {count}, each over its own obstacles; the hull (ringed) is where it came closest to one.'
        f'{hull}</p><div class="three">{panels}</div>'
    )
    return (
        "<h2>Trials to look at first</h2>"
        '<p class="note">Collisions, then other failures, then the smallest clearance, then the slowest. Each command '
        "flies that trial again, alone, bit for bit.</p>" + (drawn if shown else "") + page.figure(table)
    )


def _parameter_section(run: RunData) -> str:
    columns: list[tuple[str, list[float]]] = [
        (name, [t.parameters[name] for t in run.trials]) for name in run.parameter_names
    ]
    for label, values in (
        ("start north [m]", [t.start_north_m for t in run.trials]),
        ("start east [m]", [t.start_east_m for t in run.trials]),
        ("start heading [deg]", [t.start_heading_deg for t in run.trials]),
    ):
        finite = [v for v in values if math.isfinite(v)]
        if finite and max(finite) - min(finite) > 1e-6:
            columns.append((label, values))
    figures = [_parameter_figure(name, values, run.trials) for name, values in columns[:MOST_PARAMETER_CHARTS]]
    figures = [figure for figure in figures if figure]
    if not figures or len(run.trials) < 2:
        return ""
    return (
        "<h2>What success depends on</h2>"
        '<p class="note">Trials in bins of equal count over each quantity that differs from trial to trial. Circle: '
        "share that reached the goal; bar: 95\u202f% Wilson interval; ticks: single trials (top: goal, bottom: not). "
        "Other quantities vary at the same time.</p>"
        f'<div class="pair">{"".join(figures)}</div>'
    )


def _parameter_figure(name: str, values: list[float], trials: list[Trial]) -> str:
    succeeded = [t.succeeded for t in trials]
    bins = success_bins(values, succeeded)
    return page.figure(charts.parameter_chart(name, bins, values, succeeded)) if len(bins) > 1 else ""


def made_section(run: RunData) -> list[str]:
    """Provenance, scenario and limits."""
    return [
        "<h2>How this was made</h2>",
        page.figure(page.provenance(run.run)),
        "<details><summary>The scenario as it was run (scenario.toml)</summary>"
        f"<pre>{esc(run.scenario_text)}</pre></details>",
        "<h2>Limits</h2>",
        f'<ul class="limits">{"".join(f"<li>{esc(sentence)}</li>" for sentence in limits_for(run.scenario))}</ul>',
    ]
