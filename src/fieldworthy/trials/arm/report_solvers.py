"""Sections on the solvers that were played: side by side, waypoint by waypoint, and what the first simulator's do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fieldworthy.arms.solver import SEED_SOLVERS
from fieldworthy.arms.waypoints import WaypointSet
from fieldworthy.trials.arm.measure import REACHED_M, REACHED_RAD, Measured
from fieldworthy.trials.arm.report_charts import after_figure, css_of, legend, solver_figures, swatch
from fieldworthy.trials.arm.sentences import listed
from fieldworthy.trials.arm.words import STILL_RAD, angle, length, over, pair, ratio, stillness
from fieldworthy.trials.report import page
from fieldworthy.trials.report.text import esc, in_words

MOST_ROWS = 300
"""Waypoints of a table in the page; waypoints.csv has all."""
OPEN_ROWS = 12
"""A table of no more rows than this is in sight."""


def comparison_section(measured: Sequence[Measured], has_plan: bool) -> str:
    """The solvers side by side, and in words."""
    rows = [figures.summary for figures in measured]
    return "".join([
        f"<h2>{'Solvers' if len(rows) > 1 else 'The solver'}, played frame by frame</h2>",
        '<p class="note">The target goes along the waypoints at its feed, without ramps, and a solver moves the '
        "joints once a frame. A waypoint counts as reached when the tool is within 1\u202fmm and 0.1° of it at the "
        "moment when the target is there.</p>",
        page.figure(_table(rows), _reading(rows, has_plan)),
    ])  # fmt: skip


def course_section(measured: Sequence[Measured], hold: str) -> str:
    """Errors and rates of the solvers over time."""
    rows = [figures.summary for figures in measured]
    body = [
        f"<h2>{'The solvers' if len(rows) > 1 else 'The solver'} over time</h2>",
        '<p class="note">Logarithmic; what lies below an axis is drawn at its lowest mark, and lines that coincide '
        "hide each other.</p>",
        legend([(css_of(row["solver"]), row["solver"]) for row in rows]),
        f'<div class="pair">{"".join(solver_figures(measured))}</div>',
        _seed_section(measured, hold),
    ]
    return "".join(body)


def _table(rows: Sequence[dict[str, Any]]) -> str:
    columns = ["Solver", "Reached #", "Worst<wbr> error #", "Mean<wbr> error #", "Worst<wbr> turn #",
               "Iterations<wbr> a frame #", "Time<wbr> a frame #", "Peak<wbr> speed #", "Peak<wbr> acceleration #",
               "Reversals<wbr> a second #",
               "Moves after<wbr> arrival #", "Least<wbr> clearance #", "Wrist<wbr> sine #"]  # fmt: skip
    cells: list[list[page.Cell]] = []
    for row in rows:
        colour = "good" if row["reached"] == row["waypoints"] else "bad"
        reached = f'<span class="{colour}"><b>{row["reached"]} of {row["waypoints"]}</b></span>'
        still, sine = row["stillness_rad"], row["least_wrist_sine"]
        after = stillness(still)
        gap = length(row.get("least_clearance_m"))
        if row.get("least_clearance_m", 1.0) <= 0.0:
            gap = f'<span class="bad">{gap}</span>'
        near = f'{gap}<span class="sub">{esc(pair(row.get("nearest", "")))}</span>'
        cells.append([
            f'<span class="nb">{swatch(css_of(row["solver"]))}{esc(row["solver"])}</span>',
            (reached, float(row["reached"])),
            (length(row["worst_position_error_m"]), row["worst_position_error_m"]),
            (length(row["mean_path_error_m"]), row["mean_path_error_m"]),
            (angle(row["worst_orientation_error_deg"]), row["worst_orientation_error_deg"]),
            (f"{row['iterations_per_frame']:.1f}", row["iterations_per_frame"]),
            (f"{row['solve_us']:.0f} µs", row["solve_us"]),
            (_share(row["peak_speed_ratio"]), row["peak_speed_ratio"] or math.nan),
            (_share(row["peak_acceleration_ratio"]), row["peak_acceleration_ratio"] or math.nan),
            (f"{row['reversals_per_s']:.1f}", row["reversals_per_s"]),
            (after, still if still is not None else math.nan),
            (near, row.get("least_clearance_m", math.nan)),
            (ratio(sine), math.nan if sine is None else sine),
        ])  # fmt: skip
    return page.table(columns, cells, sortable=len(rows) > 1)


def _share(value: float | None) -> str:
    text = ratio(value)
    return f'<span class="bad">{text}</span>' if over(value) else text


def _reading(rows: Sequence[dict[str, Any]], has_plan: bool) -> str:
    """What the table says, in plain language."""
    parts = []
    whole = [row for row in rows if row["reached"] == row["waypoints"]]
    if whole:
        names = listed([row["solver"] for row in whole])
        fast = min(whole, key=lambda row: row["solve_us"])
        worst = max(row["worst_position_error_m"] for row in whole)
        to = length(worst) if worst > 1e-10 else "rounding error"
        told = f"{names} reach{'es' * (len(whole) == 1)} every waypoint, to {to}"
        parts.append(
            told
            + (f"; {fast['solver']} needs the least time a frame ({fast['solve_us']:.0f} µs)" if len(whole) > 1 else "")
        )
    for row in rows:
        if row in whole:
            continue
        how = (
            "misses every waypoint"
            if not row["reached"]
            else f"reaches {row['reached']} of {row['waypoints']} waypoints"
        )
        parts.append(f"{row['solver']} {how}, by up to {length(row['worst_position_error_m'])} and "
                     f"{angle(row['worst_orientation_error_deg'])}")  # fmt: skip
    hits = [row for row in rows if row.get("least_clearance_m", 1.0) <= 0.0]
    if hits:
        parts.append("; ".join(f"with {row['solver']}, {pair(row['nearest'])} touch" for row in hits))
    jolts = [row for row in rows if over(row["peak_speed_ratio"]) or over(row["peak_acceleration_ratio"])]
    if jolts:
        also = " The planned path keeps all limits." if has_plan else ""
        parts.append(
            "speeds and accelerations are shares of the arm's limits, and those above 1 are more than it can do: the "
            "target "
            f"starts, turns and stops at full feed.{also}"
        )
    parts.append(
        "reversals count joints that change direction from one frame to the next: a smooth motion has few, a "
        "trembling one many"
    )
    return esc(
        " ".join(
            f"{part[:1].upper() if not _is_name(part, rows) else part[:1]}{part[1:]}{'' if part.endswith('.') else '.'}"
            for part in parts
        )
    )


def _is_name(part: str, rows: Sequence[dict[str, Any]]) -> bool:
    """Whether a sentence begins with a solver's name, which stays as it is written."""
    return any(part.startswith(row["solver"]) for row in rows)


_FAULTS = {
    "dls-seed": "moves the tool's point first, to within 2.5\u202fmm, and turns the wrist only after that; the turn "
    "takes the "
    "point off again, and the next frame begins anew (ping-pong)",
    "pinv-seed": "does the same without damping: near a singularity its step for the point has no bound, and the "
    "joints are thrown "
    "from limit to limit",
    "ccd-seed": "turns one joint after the other for the point alone and the wrist after it: each undoes a part of "
    "the other, and "
    "the joints tremble around the target",
    "fabrik-seed": "places points on a chain whose joints cannot turn that way, and takes every pass, better or "
    "worse: it goes to "
    "and fro near a target, or stalls short of it",
}


def _seed_section(measured: Sequence[Measured], hold: str) -> str:
    """What is wrong with the first simulator's solvers, with this task's own figures; and the joints after arrival."""
    seeds = [figures for figures in measured if figures.played.solver in SEED_SOLVERS]
    chart = after_figure(measured)
    if not seeds:
        return f'<div class="pair">{chart}</div>' if chart else ""
    told = []
    for figures in seeds:
        row = figures.summary
        still = row["stillness_rad"]
        after = "" if still is None else f" After arrival it {_rest(math.degrees(still))}."
        told.append(
            f"<li><b>{esc(row['solver'])}</b> {_FAULTS[row['solver']]}. Here it reaches {row['reached'] or 'none'} of "
            f"{row['waypoints']} waypoints, with {row['reversals_per_s']:.1f} reversals a second.{after}</li>"
        )
    asked = "go on being asked after arrival, as they were there" if hold == "still" else "are asked in every frame"
    lead = (
        "<p>The names that end in -seed are the solvers of the first simulator with its parameters and its faults, "
        "to compare with. "
        f"They {asked}, so that their trembling shows.</p>"
    )
    return (
        f"<h2>What the {in_words(len(seeds))} -seed solver{'s' * (len(seeds) > 1)} get wrong</h2>{lead}"
        f'<div class="pair"><figure><ul class="limits">{"".join(told)}</ul></figure>{chart}</div>'
    )


def _rest(swing_deg: float) -> str:
    if swing_deg < math.degrees(STILL_RAD):
        return "stands still"
    return f"goes on moving its joints over {angle(swing_deg)}"


def waypoint_section(motion: WaypointSet, measured: Sequence[Measured], planned_t_s: np.ndarray | None) -> str:
    """Every waypoint with each solver's figures; folded where it is long."""
    tables = []
    for k, figures in enumerate(measured):
        rows = _waypoint_rows(motion, figures, planned_t_s)
        columns = ["Waypoint #", "Name", "Planned<wbr> at #", "Played<wbr> at #", "Position<wbr> error #",
                   "Turn<wbr> error #", "Iterations<wbr> before #", "Time<wbr> a frame #", "Speed<wbr> before #",
                   "Acceleration<wbr> before #", "Clearance<wbr> before #", "Wrist<wbr> sine #"]  # fmt: skip
        if not any(motion.names):
            columns, rows = [columns[0], *columns[2:]], [[row[0], *row[2:]] for row in rows]
        if planned_t_s is None:
            at = columns.index("Planned<wbr> at #")
            columns, rows = columns[:at] + columns[at + 1 :], [row[:at] + row[at + 1 :] for row in rows]
        content = page.figure(page.table(columns, rows))
        name = figures.played.solver
        missed = _missed(figures)
        said = "all reached" if not missed else f"{missed} not reached"
        own = int(motion.given.sum())
        opened = " open" if k == 0 and len(rows) <= OPEN_ROWS else ""
        tables.append(f"<details{opened}><summary>{esc(name)}: {own} waypoints, {said}</summary>{content}</details>")
    more = f" The first {MOST_ROWS} are shown; waypoints.csv has all." if motion.given.sum() > MOST_ROWS else ""
    note = (
        "Errors are those at the moment when the target is at the waypoint; “before” is over the frames since the "
        "waypoint before: "
        "iterations in all, the median time, the largest share of a limit, the least clearance and wrist sine."
    )
    return f'<h2>Waypoint by waypoint</h2><p class="note">{note}{more}</p>{"".join(tables)}'


def _missed(figures: Measured) -> int:
    errors, turns = figures.waypoint["position_error_m"], figures.waypoint["orientation_error_rad"]
    return int(((errors > REACHED_M) | (turns > REACHED_RAD)).sum())


def _waypoint_rows(motion: WaypointSet, figures: Measured, planned_t_s: np.ndarray | None) -> list[list[page.Cell]]:
    values, played = figures.waypoint, figures.played
    times = played.t_s[played.arrival] - played.t_s[played.began]
    names = [motion.names[row] for row in np.flatnonzero(motion.given)]
    clear = values.get("clearance_m", np.full(len(names), np.nan))
    rows: list[list[page.Cell]] = []
    for k in range(min(len(names), MOST_ROWS)):
        error, turn = float(values["position_error_m"][k]), float(np.degrees(values["orientation_error_rad"][k]))
        missed = error > REACHED_M or turn > math.degrees(REACHED_RAD)
        mark = ("<span class=bad>", "</span>") if missed else ("", "")
        rows.append([
            str(k),
            f'<span class="{"nb" * (len(names[k]) < 28)}">{esc(names[k])}</span>',
            "" if planned_t_s is None else f"{planned_t_s[k]:.2f} s",
            f"{times[k]:.2f} s",
            f"{mark[0]}{length(error)}{mark[1]}",
            f"{mark[0]}{angle(turn)}{mark[1]}",
            f"{values['iterations'][k]:.0f}",
            f"{values['solve_us'][k]:.0f} µs",
            ratio(float(values["speed_ratio"][k])),
            _share(float(values["acceleration_ratio"][k])),
            length(float(clear[k])),
            "–" if math.isnan(values["wrist"][k]) else ratio(float(values["wrist"][k])),
        ])  # fmt: skip
    return rows
