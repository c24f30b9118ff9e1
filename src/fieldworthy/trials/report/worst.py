"""The trials to look at first: small maps, and a table with the command that flies each again."""

from __future__ import annotations

import math
import shlex
from pathlib import Path

from fieldworthy.trials.report import page
from fieldworthy.trials.report.answer import outcome_key
from fieldworthy.trials.report.data import RunData, hull_outline, replay_folder
from fieldworthy.trials.report.mapping import Bounds
from fieldworthy.trials.report.panels import draw_panel, worst_first
from fieldworthy.trials.report.text import esc, number, without_count
from fieldworthy.trials.report.words import words_of

WORST_ROWS = 10
WORST_PANELS = 6


def worst_section(run: RunData, view: Bounds, shown_as: Path) -> str:
    """Panels of the first few trials, and the table."""
    worst = worst_first(run.trials)
    words = words_of(run)
    open_air = run.flies and not run.has_shapes
    folder = shlex.quote(replay_folder(shown_as))
    rows: list[list[page.Cell]] = []
    for t in worst[:WORST_ROWS]:
        rows.append(
            [
                (str(t.trial), t.trial),
                outcome_key(t.outcome) + f'<span class="sub">{esc(without_count(t.why))}</span>',
                _figure(t.metrics.get("tracking_rms_m", math.nan) if open_air else t.clearance_m),
                (number(t.time_s), t.time_s),
                page.code(f"fieldworthy replay {folder} --trial {t.trial}"),
            ]
        )
    judged = "Tracking error, RMS [m] #" if open_air else "Clearance [m] #"
    table = page.table(["Trial #", "Outcome", judged, "Time [s] #", "Fly it again"], rows, sortable=True)
    shown = [t for t in worst if t.trial in run.tracks][:WORST_PANELS]
    panels = "".join(draw_panel(run, t, view) for t in shown)
    hull = (
        ""
        if hull_outline(run)[1]
        else f" The run does not record the {words.body}'s size: the dart shows position and heading only."
    )
    where = "where it ended" if open_air else "where it came closest to one"
    over = "" if open_air else ", each over its own obstacles"
    count = "first" if len(shown) == 1 else f"first {len(shown)}"
    drawn = (
        f'<p class="note">The {count}{over}; the {words.body} (ringed) is {where}.'
        f'{hull}</p><div class="three">{panels}</div>'
    )
    then = "the largest tracking error" if open_air else "the smallest clearance"
    return (
        "<h2>Trials to look at first</h2>"
        f'<p class="note">{words.collisions.capitalize()} first, then other failures, then {then}, then the slowest. '
        "Each command flies that trial again, alone, bit for bit.</p>" + (drawn if shown else "") + page.figure(table)
    )


def _figure(value: float) -> tuple[str, float]:
    return number(value, 2), value
