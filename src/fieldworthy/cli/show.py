"""What a run shows while it works and when it is done. Progress goes to stderr, results to stdout."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from fieldworthy.trials.campaign import Progress

STYLE = {"goal": "green", "collision": "red", "timeout": "yellow", "left area": "yellow", "non-finite": "magenta",
         "link lost": "magenta", "gave up": "yellow"}  # fmt: skip

QUIET_EVERY_S = 5.0
"""Time between two progress lines where there is no terminal."""


def stderr() -> Console:
    """Where progress goes."""
    return Console(stderr=True, highlight=False)


def stdout() -> Console:
    """Where results go; wide enough when piped that no row is cut."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 140, soft_wrap=True)


def percent(share: float | None) -> str:
    """A share as a percentage."""
    return "–" if share is None else f"{100 * share:.1f} %"


def number(value: float | None, unit: str, digits: int = 1) -> str:
    """A figure with its unit, or a dash where it is not defined."""
    return "–" if value is None else f"{value:.{digits}f} {unit}"


@contextmanager
def watching(label: str, quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """A callback for `fly` that draws a live line of counts with a bar and the time left.

    Without a terminal a plain line comes every few seconds; with `quiet` nothing does.
    """
    console, began, last = stderr(), time.monotonic(), [time.monotonic()]
    if quiet:
        yield lambda _: None
        return
    if not console.is_terminal:

        def plain(step: Progress) -> None:
            if time.monotonic() - last[0] >= QUIET_EVERY_S:
                last[0] = time.monotonic()
                print(f"{label}: {_line(step)}, {_left(step, began)}", file=sys.stderr, flush=True)

        yield plain
        return
    with Live(_starting(label), console=console, refresh_per_second=8, transient=True) as live:
        yield lambda step: live.update(_picture(label, step, began))


def _starting(label: str) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_row(f"[bold]{label}[/]", "drawing layouts, compiling kernels (about 2 s, first run only) …")
    return grid


def _picture(label: str, step: Progress, began: float) -> Table:
    grid = Table.grid(padding=(0, 2))
    counts = "  ".join(f"[{STYLE[name]}]{name} {n}[/]" for name, n in step.outcomes.items() if n)
    bar = ProgressBar(total=1.0, completed=step.share, width=30)
    grid.add_row(f"[bold]{label}[/]", bar, f"{step.finished} of {step.trials} trials", counts, _left(step, began))
    return grid


def _line(step: Progress) -> str:
    counts = ", ".join(f"{name} {n}" for name, n in step.outcomes.items() if n)
    return f"{step.finished} of {step.trials} trials" + (f" ({counts})" if counts else "")


def _left(step: Progress, began: float) -> str:
    spent = time.monotonic() - began
    if step.share < 0.02:
        return ""
    return f"about {spent * (1.0 - step.share) / step.share:.0f} s left at most"


FIGURES = ("trials", "success", "95 % interval", "collisions", "other", "mean time", "min clearance", "mean clearance",
           "speed")  # fmt: skip
"""Columns of every table of campaigns."""

FLIGHT_FIGURES = ("trials", "success", "95 % interval", "crashes", "other", "mean time", "tracking RMS", "overshoot",
                  "energy", "least margin", "speed")  # fmt: skip
"""Columns where everything that was flown flies: all but clearances, which are of no use over open ground."""

WIDE_ONLY = ("mean clearance", "least margin", "speed")
"""Columns that a terminal narrower than WIDE characters goes without, so that nothing is cut."""
WIDE = 116


def columns_for(summaries: list[dict[str, Any]]) -> tuple[str, ...]:
    """The columns for campaigns of one kind of vehicle, or of several."""
    return FLIGHT_FIGURES if summaries and all(s["vehicle"] == "aircraft" for s in summaries) else FIGURES


def add_figures(table: Table, width: int, columns: tuple[str, ...] = FIGURES) -> tuple[str, ...]:
    """Add the columns that have room in a terminal of this width; returns their names."""
    wide = width >= WIDE
    names = tuple(name for name in columns if wide or name not in WIDE_ONLY)
    for name in names:
        head = name if wide else "\n".join(name.rsplit(" ", 1))
        table.add_column(head, justify="right", no_wrap=name != "other", overflow="fold")
    return names


def figures(summary: dict[str, Any]) -> dict[str, str]:
    """A campaign's cells by the names of FIGURES, or of a flight's by those of FLIGHT_FIGURES as well."""
    s, interval = summary, summary["success"]["ci95"]
    cells = {
        "trials": str(s["finished"]) if s["finished"] == s["trials"] else f"{s['finished']} of {s['trials']}",
        "success": percent(s["success"]["rate"]),
        "95 % interval": "–" if interval is None else f"{100 * interval[0]:.0f} to {100 * interval[1]:.0f} %",
        "collisions": str(s["collisions"]),
        "other": other_outcomes(s),
        "mean time": number(s["time_s"]["mean"], "s"),
        "min clearance": number(s["clearance_m"]["min"], "m", 2),
        "mean clearance": number(s["clearance_m"]["mean"], "m", 2),
        "speed": f"{s['sim_s'] / s['wall_s'] if s['wall_s'] else 0.0:.0f}x",
    }
    if s["vehicle"] == "aircraft":
        cells |= {
            "crashes": cells["collisions"],
            "tracking RMS": number(_metric(s, "tracking_rms_m"), "m", 2),
            "overshoot": number(_metric(s, "overshoot_percent"), "%"),
            "energy": number(_metric(s, "energy_wh"), "Wh", 2),
            "least margin": number(_metric(s, "margin_least", "min"), "", 2).strip(),
        }
    return cells


def _metric(summary: dict[str, Any], name: str, which: str = "mean") -> float | None:
    """A flight's figure; None where no trial has finished."""
    value: float | None = summary["metrics"].get(name, {}).get(which)
    return value


def other_outcomes(summary: dict[str, Any]) -> str:
    """Trials that neither reached the goal nor collided, by outcome: `5 timeout, 1 non-finite`; `0` without any."""
    outcomes = {name: n for name, n in summary["outcomes"].items() if n and name not in ("goal", "collision")}
    return ", ".join(f"{n} {name}" for name, n in outcomes.items()) or "0"


def notes_to_stderr(notes: Iterable[str]) -> None:
    """Sentences that are no result and no error."""
    for note in notes:
        print(f"note: {note}", file=sys.stderr, flush=True)


def stop_sentence(stopped_by: str, kept: str, unfair: bool) -> str:
    """Why a run ended early, and what that does to its figures."""
    warning = (
        "; the first trials to end are not a fair sample: the missing ones may be those that take long, so success may "
        "look better or worse than it is"
    )
    return f"stopped by {stopped_by}: {kept}{warning if unfair else ''}"


def summary_table(columns: dict[str, list[str]], summaries: list[dict[str, Any]], width: int) -> Table:
    """Campaigns as rows: the given columns, which may fold, then their figures."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="left" if name == "scenario" else "right", overflow="fold")
    names = add_figures(table, width, columns_for(summaries))
    for row, summary in enumerate(summaries):
        cells = figures(summary)
        table.add_row(*(values[row] for values in columns.values()), *(cells[name] for name in names))
    return table
