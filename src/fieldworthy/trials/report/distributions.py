"""How the trials of a campaign spread: histograms."""

from __future__ import annotations

import math

from fieldworthy.trials.report import charts, page
from fieldworthy.trials.report.data import RunData
from fieldworthy.trials.report.words import words_of


def distribution_section(run: RunData) -> str:
    """Clearance and time; over open ground a flight's tracking error in the place of clearance."""
    words = words_of(run)
    open_air = run.flies and not run.has_shapes
    hits = sum(t.outcome == "collision" for t in run.trials)
    passes = (
        []
        if open_air
        else [t.clearance_m for t in run.trials if t.outcome != "collision" and math.isfinite(t.clearance_m)]
    )
    times = [t.time_s for t in run.trials if t.succeeded and math.isfinite(t.time_s)]
    figures = []
    if passes:
        chart = charts.histogram(
            passes, "least clearance of a trial [m]", apart=hits, apart_label=words.collided if hits else ""
        )
        figures.append(
            page.figure(
                chart,
                f"Least distance between {words.body} and any obstacle"
                + (f"; {words.collisions} stand apart at the left." if hits else "."),
                "Clearance",
            )
        )
    errors = [t.metrics.get("tracking_rms_m", math.nan) for t in run.trials]
    if open_air and any(map(math.isfinite, errors)):
        chart = charts.histogram(errors, "tracking error of a trial, RMS [m]")
        figures.append(page.figure(chart, "All trials, as far as each came.", "Tracking error"))
    if times:
        figures.append(
            page.figure(charts.histogram(times, "time to the goal [s]"), "Trials that reached the goal.", "Time")
        )
    if not figures:
        return ""
    note = (
        ""
        if passes or open_air
        else '<p class="note">No clearance is known: there was nothing to keep clear of, or every trial '
        f"{words.collided}.</p>"
    )
    heading = "How precise, how long" if open_air else "How close, how long"
    return f"<h2>{heading}</h2>" + note + f'<div class="pair">{"".join(figures)}</div>'
