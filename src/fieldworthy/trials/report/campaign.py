"""The report of one campaign: answer first, then the map, the distributions, the worst trials, and how it was made."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

from fieldworthy.trials.report import charts, page
from fieldworthy.trials.report.about import about
from fieldworthy.trials.report.answer import answer, key_figures, order, outcome_key
from fieldworthy.trials.report.data import RunData, Trial, read_run
from fieldworthy.trials.report.distributions import distribution_section
from fieldworthy.trials.report.faults import fault_section
from fieldworthy.trials.report.flight_facts import flight_facts
from fieldworthy.trials.report.flight_section import flight_sections
from fieldworthy.trials.report.limits import limits_for
from fieldworthy.trials.report.map_section import map_section
from fieldworthy.trials.report.notices import notices
from fieldworthy.trials.report.overview import draw_overview
from fieldworthy.trials.report.style import outcome_css
from fieldworthy.trials.report.text import Reason, esc, group_reasons, listed, percent
from fieldworthy.trials.report.vehicle_line import vehicle_line
from fieldworthy.trials.report.view import view_of
from fieldworthy.trials.report.worst import worst_section
from fieldworthy.trials.statistics import success_bins

MOST_REASONS = 6
MOST_PARAMETER_CHARTS = 8


def write_report(run_folder: Path, shown_as: Path | None = None) -> Path:
    """Write report.html into a run folder from the folder's own files, and return its path.

    `shown_as` is the folder that the replay commands name, for a folder that will be renamed once it is complete.
    """
    run = read_run(Path(run_folder))
    return page.write_page(run.folder / "report.html", campaign_page(run, Path(shown_as or run_folder)))


def campaign_page(run: RunData, shown_as: Path) -> str:
    """The whole page; its replay commands name the folder `shown_as`."""
    body = [page.header(f"Fieldworthy campaign · {run.name}", run.title, vehicle_line(run) if run.flies else "")]
    body += notices(run)
    if run.trials:
        body += [answer(run), page.tiles(key_figures(run))]
        body += [fault_section(run) if run.flies else "", about(str(run.scenario.get("description", "")))]
        view = view_of(run)
        overview = draw_overview(run, view) if run.tracks else None
        if overview:
            body.append(map_section(run, overview, view))
        body += [
            _outcome_section(run),
            *(flight_sections(run) if run.flies else ()),
            distribution_section(run),
            worst_section(run, view, shown_as),
            _parameter_section(run),
        ]
        if overview:
            body.append(f'<script type="application/json" id="trials">{overview.script_data}</script>')
    body += [*made_section(run), page.footer(run.run)]
    return page.document(f"{run.title}: Fieldworthy report", body)


def _outcome_section(run: RunData) -> str:
    counts = Counter(t.outcome for t in run.trials)
    n = len(run.trials)
    rows = []
    for outcome in order(counts):
        reasons = group_reasons((t.trial, t.why) for t in run.trials if t.outcome == outcome)
        if len(reasons) > MOST_REASONS:
            rest = sorted(trial for reason in reasons[MOST_REASONS - 1 :] for trial in reason.trials)
            others = f"other reasons ({len(reasons) - MOST_REASONS + 1})"
            reasons = [*reasons[: MOST_REASONS - 1], Reason(others, tuple(rest))]
        for i, reason in enumerate(reasons):
            name = outcome_key(outcome) if i == 0 else ""
            share = percent(counts[outcome] / n) if i == 0 else ""
            rows.append([name, share, str(len(reason.trials)), esc(reason.sentence), esc(listed(reason.trials, 8))])
    bar = charts.success_bar([(o, outcome_css(o), counts[o]) for o in order(counts) if counts[o]], run.successes, n)
    caption = "Above: all trials by outcome. Below: share that reached the goal with its 95\u202f% Wilson interval."
    return (
        "<h2>Outcomes</h2>"
        + page.figure(bar, caption)
        + page.figure(page.table(["Outcome", "Share #", "Trials #", "Why", "Trial numbers"], rows))
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
        page.figure(page.provenance(run.run, flight_facts(run) if run.flies else ())),
        "<details><summary>The scenario as it was run (scenario.toml)</summary>"
        f"<pre>{esc(run.scenario_text)}</pre></details>",
        "<h2>Limits</h2>",
        f'<ul class="limits">{"".join(f"<li>{esc(sentence)}</li>" for sentence in limits_for(run.scenario))}</ul>',
    ]
