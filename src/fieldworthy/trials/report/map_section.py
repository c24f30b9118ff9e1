"""The part of a campaign's page with the large map: chooser, drawing, and a caption that says what is drawn."""

from __future__ import annotations

from fieldworthy.environment.shapes import is_moving
from fieldworthy.trials.report import page
from fieldworthy.trials.report.data import RunData, hull_outline
from fieldworthy.trials.report.mapping import Bounds
from fieldworthy.trials.report.overview import MOST_TRACKS, Overview, chooser
from fieldworthy.trials.report.places import area_bounds
from fieldworthy.trials.report.text import plural
from fieldworthy.trials.report.words import words_of


def map_section(run: RunData, overview: Overview, view: Bounds) -> str:
    """Chooser, map, and what a reader must know to read it."""
    words = words_of(run)
    total, drawn = len(run.trials), len(overview.drawn)
    failed = sum(not t.succeeded for t in run.trials)
    said = []
    if drawn < total:
        kept = f"all {plural(failed, 'failure')}" if failed <= MOST_TRACKS else f"{MOST_TRACKS} of {failed} failures"
        said.append(f"{drawn} of {total} tracks are drawn: {kept} and an even choice of the rest.")
    if overview.ghosts:
        hit = ", those that were hit in full" if any(t.outcome == "collision" for t in run.trials) else ""
        said.append(f"Obstacles differ from trial to trial and are shown faintly all together{hit}.")
    elif overview.own_layouts:
        said.append(
            "Every trial has its own obstacles, too many to show together"
            + ("; those that were hit are here." if any(t.outcome == "collision" for t in run.trials) else ".")
        )
    said.append(
        "Choose a trial, or click on a track, to see it alone over its own obstacles."
        if overview.own_layouts
        else "Choose a trial, or click on a track, to see it alone."
    )
    if any(t.outcome == "collision" for t in run.trials):
        said.append(
            f"A cross marks a {words.collision}"
            + (f", with the {words.body}'s outline in true size." if hull_outline(run)[1] else ".")
        )
    area = area_bounds(run)
    if area is not None and not (area.south_m < view.south_m and area.north_m > view.north_m
                                 and area.west_m < view.west_m and area.east_m > view.east_m):  # fmt: skip
        said.append(f"Dashed: the area that the {words.vehicle} may not leave.")
    shapes = (*run.shared, *(shape for layout in run.layouts.values() for shape in layout))
    if any(is_moving(shape) for shape in shapes):
        said.append("A dashed arrow is the way of a moving obstacle, drawn where it is at the start, during the trial.")
    return "<h2>Tracks</h2>" + page.figure(chooser(overview) + overview.drawing, " ".join(said))
