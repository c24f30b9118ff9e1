"""The top of a campaign's page: the answer in a sentence, and the key figures."""

from __future__ import annotations

import math
from collections import Counter

from fieldworthy.trials.report import page
from fieldworthy.trials.report.data import OUTCOMES, RunData
from fieldworthy.trials.report.style import outcome_css
from fieldworthy.trials.report.text import (
    esc,
    number_range,
    percent,
    percent_range,
    short,
    success_sentence,
    with_unit,
)
from fieldworthy.trials.report.words import words_of
from fieldworthy.trials.statistics import spread, wilson_interval


def answer(run: RunData) -> str:
    """What came of the campaign, in two sentences."""
    counts = Counter(trial.outcome for trial in run.trials)
    words = {
        "collision": words_of(run).collided,
        "timeout": "ran out of time",
        "left area": "left the area",
        "non-finite": "became non-finite",
    }
    failed = [f"{counts[o]} {words.get(o, esc(o))}" for o in order(counts) if o != "goal" and counts[o]]
    then = [", ".join(failed).capitalize() if failed else "No trial failed"]
    sentence = esc(success_sentence(run.successes, len(run.trials)))
    sentence = sentence.replace("(", '<span class="nb">(').replace(")", ")</span>")
    times = spread([t.time_s for t in run.trials if t.succeeded])
    crashes = Counter(trial.crash for trial in run.trials if trial.crash)
    if crashes:
        kinds = ", ".join(f"{count} {esc(word)}" for word, count in crashes.most_common())
        then[0] = then[0].replace("crashed", f"crashed ({kinds})", 1)
    if times:
        then.append(f"those that arrived took {with_unit(times.mean, 's')} on average")
    return f'<p class="answer">{sentence}.</p><p class="then">{"; ".join(then)}.</p>'


def order(counts: Counter[str]) -> list[str]:
    """All outcomes, known ones first."""
    return [*OUTCOMES, *sorted(set(counts) - set(OUTCOMES))]


def key_figures(run: RunData) -> list[tuple[str, str]]:
    """Tiles: success, collisions, time, clearance, and real time; of a flight how precise and how costly it was."""
    n, words = len(run.trials), words_of(run)
    low, high = wilson_interval(run.successes, n)
    hits = sum(t.outcome == "collision" for t in run.trials)
    hit_low, hit_high = wilson_interval(hits, n)
    items = [
        (percent(run.successes / n), page.tile_text("reached the goal", f"95\u202f%: {percent_range(low, high)}")),
        (
            str(hits),
            page.tile_text(
                words.collision if hits == 1 else words.collisions,
                f"95\u202f%: {percent_range(hit_low, hit_high)} of trials",
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
    items += _flight_tiles(run)
    passes = (
        None
        if run.flies and not run.has_shapes
        else spread([t.clearance_m for t in run.trials if t.outcome != "collision"])
    )
    if passes:
        items.append(
            (
                with_unit(passes.least, "m", 2),
                page.tile_text("smallest clearance", f"without {words.collision}; mean {with_unit(passes.mean, 'm')}"),
            )
        )
    if run.flies:
        return items
    wall, sim = run.run.get("wall_s"), run.run.get("sim_s")
    if isinstance(wall, (int, float)) and isinstance(sim, (int, float)) and wall > 0:
        items.append(
            (
                f"{short(float(f'{sim / wall:.2g}'))}×",
                page.tile_text("real time", f"{with_unit(wall, 's')} of computing"),
            )
        )
    return items


def _flight_tiles(run: RunData) -> list[tuple[str, str]]:
    if not run.flies:
        return []
    error, energy, charge = (
        spread([t.metrics.get(name, math.nan) for t in run.trials])
        for name in ("tracking_rms_m", "energy_wh", "charge_least")
    )
    items = []
    if error:
        told = page.tile_text("tracking error, RMS", f"mean; {number_range(error.least, error.greatest, 'm', 2)}")
        items.append((with_unit(error.mean, "m", 2), told))
    if energy:
        spent = number_range(energy.least, energy.greatest, "Wh", 2)
        left = f"mean; least charge {percent(charge.least)}" if charge else f"mean; {spent}"
        items.append((with_unit(energy.mean, "Wh", 2), page.tile_text("energy of a trial", left)))
    return items


def outcome_key(outcome: str) -> str:
    """An outcome with its colour."""
    return f'<span class="nb"><span class="key {outcome_css(outcome)}"></span>{esc(outcome)}</span>'
