"""The parts of a campaign's page that only flights have: their figures, and what happened over time."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fieldworthy.trials.flight_metrics import (
    Place,
    heading_error_deg,
    position_error_m,
    speed_m_s,
    swing_deg,
    tilt_deg,
    tilt_error_deg,
    tracking_error_m,
)
from fieldworthy.trials.metric import METRICS
from fieldworthy.trials.report import page
from fieldworthy.trials.report.data import RunData
from fieldworthy.trials.report.faults import fault_spans
from fieldworthy.trials.report.flight_tracks import FlightTracks, places_of, read_flight_tracks, read_saturation_s
from fieldworthy.trials.report.overview import drawn_trials
from fieldworthy.trials.report.panels import worst_first
from fieldworthy.trials.report.style import outcome_css
from fieldworthy.trials.report.text import DASH, esc, number, number_range, plural, short
from fieldworthy.trials.report.time_chart import HEADINGS, Line, time_chart, wrapped_deg
from fieldworthy.trials.statistics import spread

Array = NDArray[np.float64]
Track = dict[str, Array]

MOST_LINES = 20
"""Trials with a line in each chart over time."""

_SURFACES = ("aileron_rad", "elevator_rad", "rudder_rad")


def flight_sections(run: RunData) -> list[str]:
    """The table of the figures, and the charts over time."""
    if not run.trials:
        return []
    parts = [_figures(run)]
    drawn = [trial.trial for trial in drawn_trials(run, MOST_LINES)]
    if drawn:
        detail = next(trial.trial for trial in worst_first(run.trials) if trial.trial in run.tracks)
        tracks = read_flight_tracks(run.folder, [*dict.fromkeys([*drawn, detail])])
        parts += [_over_time(run, drawn, tracks), _in_detail(run, detail, tracks)]
    return parts


def _figures(run: RunData) -> str:
    rows: list[list[page.Cell]] = []
    for name in run.trials[0].metrics:
        metric = METRICS[name]
        values = [trial.metrics.get(name, math.nan) for trial in run.trials]
        found = spread(values)
        unit = f" [{metric.unit}]" if metric.unit else ""
        label = metric.label[0].upper() + metric.label[1:]
        head = f'{esc(label)}{esc(unit)}<span class="sub">{esc(metric.meaning)}</span>'
        if found is None:
            rows.append([head, *[DASH] * 5, f"0 of {len(values)}"])
            continue
        low, high = (number(v, metric.digits) for v in (found.mean_low, found.mean_high))
        interval = DASH if math.isnan(found.mean_low) else f"{low} to {high}"
        cells = [number(v, metric.digits) for v in (found.least, found.median, found.greatest)]
        rows.append([head, number(found.mean, metric.digits), interval, *cells, f"{found.n} of {len(values)}"])
    columns = ["", "Mean #", "95\u202f% of the mean #", "Least #", "Median #", "Greatest #", "Trials #"]
    caption = (
        "One number a trial, over the whole trial, however it ended. The interval is Student's, of the mean: with "
        "few trials and an outlier it may reach past what is possible. The last column counts the trials that have "
        "the number."
    )
    return f"<h2>Figures of the flights</h2>{page.figure(page.table(columns, rows), caption)}{_saturated(run)}"


def _saturated(run: RunData) -> str:
    """In how many trials, and for how long, more was asked of the actuators than they can give; empty without any."""
    short_of = [trial.trial for trial in run.trials if trial.metrics.get("margin_least", 0.0) < 0.0]
    if not short_of:
        return ""
    period_s, seconds = read_saturation_s(run.folder)
    times = [seconds.get(trial, 0.0) for trial in short_of]
    seen = spread([time for time in times if time > 0.0])
    if seen is None:
        long = f"each time for less than the {short(period_s)}\u202fs between two samples"
    else:
        long = f"for {number_range(seen.least, seen.greatest, 's', 2)} of the trial"
        brief = sum(time == 0.0 for time in times)
        long += f", in {brief} of them for less than a sample of {short(period_s)}\u202fs" if brief else ""
    count = f"{len(short_of)} of {plural(len(run.trials), 'trial')}"
    return (
        f'<p class="note">The least margin is below 0 in {count}: the autopilot asked for more than the actuators can '
        f"give, {long}. Thrust or moments fell short of the demand then; the chart of the margin shows when.</p>"
    )


def _over_time(run: RunData, drawn: list[int], tracks: FlightTracks) -> str:
    """A line a trial, in the colour of its outcome."""
    places, spans = places_of(run), fault_spans(run)
    draw = partial(time_chart, spans=spans)
    outcome = {trial.trial: trial.outcome for trial in run.trials}

    def lines(law: Callable[[Track], Array]) -> list[Line]:
        found = []
        for trial in drawn:
            track = tracks.of(trial)
            values = law(track)
            found.append(Line(tracks.t_s[: len(values)], values, outcome_css(outcome[trial]), trial=trial))
        return found

    one = tracks.of(drawn[0])
    charts = [
        ("Height", "Dashed: the heights asked for.", draw("height [m]", lines(_of("up_m")), _heights(places))),
        (
            "Tracking error",
            "Distance from the legs, or from a target that is held once the approach to it has ended.",
            draw("tracking error [m]", lines(lambda t: tracking_error_m(t, places)), floor=0.0),
        ),
        ("Tilt", "", draw("tilt [deg]", lines(tilt_deg), floor=0.0)),
        (
            "Heading",
            "Where the nose points.",
            draw("heading", lines(lambda t: wrapped_deg(np.degrees(t["heading_rad"]))), names=HEADINGS),
        ),
        ("Speed", "Over ground.", draw("speed [m/s]", lines(speed_m_s), floor=0.0)),
        ("Airspeed", "", draw("airspeed [m/s]", lines(_from_second("airspeed_m_s")), floor=0.0)),
        (
            "Wind",
            "Horizontal, where the vehicle is, turbulence included.",
            draw("wind [m/s]", lines(_wind_m_s), floor=0.0),
        ),
        (
            "Margin to saturation",
            "Of what the autopilot asks for; at 0 an actuator is at its limit.",
            draw("margin", lines(_of("margin")), [(0.0, "saturated")]),
        ),
    ]
    if "charge" in one:
        charts += [
            ("Voltage", "Of the pack under load.", draw("voltage [V]", lines(_from_second("voltage_v")))),
            ("Charge", "", draw("charge [%]", lines(lambda t: 100.0 * t["charge"]))),
        ]
    if "believed_north_m" in one:
        charts += [
            (
                "Position estimate",
                "Distance between the position that the autopilot believes and the true one.",
                draw("off by [m]", lines(position_error_m), floor=0.0),
            ),
            (
                "Tilt estimate",
                "Angle between the vertical that the autopilot believes and the true one.",
                draw("off by [deg]", lines(tilt_error_deg), floor=0.0),
            ),
            (
                "Heading estimate",
                "Turn about the vertical between the attitude that the autopilot believes and the true one.",
                draw("off by [deg]", lines(heading_error_deg), floor=0.0),
            ),
        ]
    if "load_north_m" in one:
        charts.append(("Swing of the load", "", draw("swing [deg]", lines(swing_deg), floor=0.0)))
    figures = "".join(page.figure(chart, caption, name) for name, caption, chart in charts)
    some = (
        f"{len(drawn)} of {plural(len(run.trials), 'trial')}, failures first, a line each"
        if len(drawn) < len(run.trials)
        else "A line a trial"
    )
    shade = " Shaded: while a fault lasts, paler: while it may begin." if spans else ""
    return (
        f'<h2>Over time</h2><p class="note">{some}, in the colour of its outcome. The trial that is chosen at the map '
        f'stands out here too.{shade}</p><div class="pair">{figures}</div>'
    )


def _in_detail(run: RunData, trial: int, tracks: FlightTracks) -> str:
    """One trial: what has a line for each of its parts."""
    track, draw = tracks.of(trial), partial(time_chart, spans=fault_spans(run))
    t_s = tracks.t_s[: len(track["north_m"])]
    rotors = [name for name in track if name.startswith("rotor_") and name.endswith("_rad_s")]
    styles = [f"part-{i % 8}" for i in range(max(len(rotors), 8))]
    per_minute = 30.0 / math.pi
    lines = [
        Line(t_s, per_minute * track[name], styles[i], name.removesuffix("_rad_s").replace("_", " "))
        for i, name in enumerate(rotors)
    ]
    figures = [
        page.figure(draw("speed [1/min]", lines, floor=0.0), "", "Rotor speeds"),
        page.figure(
            draw(
                "height [m]",
                [
                    Line(t_s, track["up_m"], "part-0", "true"),
                    *([Line(t_s, track["believed_up_m"], "part-1", "believed")] if "believed_up_m" in track else []),
                    *([Line(t_s, track["cmd_up_m"], "part-3", "asked for")] if "cmd_up_m" in track else []),
                ],
            ),
            "",
            "Height",
        ),
    ]
    headings = [("heading_rad", "part-0", "true"), ("believed_heading_rad", "part-1", "believed"),
                ("cmd_heading_rad", "part-3", "asked for")]  # fmt: skip
    lines = [
        Line(t_s, wrapped_deg(np.degrees(track[name])), css, told) for name, css, told in headings if name in track
    ]
    figures.append(page.figure(draw("heading", lines, names=HEADINGS), "", "Heading"))
    throttles = [name for name in track if name.startswith("cmd_throttle_")]
    if throttles:
        lines = [
            Line(t_s, track[name], styles[i], name.removeprefix("cmd_").replace("_", " "))
            for i, name in enumerate(throttles)
        ]
        figures.append(page.figure(draw("throttle", lines, floor=0.0), "As commanded.", "Throttles"))
    present = [name for name in _SURFACES if name in track]
    if present:
        lines = [
            Line(t_s, np.degrees(track[name]), styles[i], name.removesuffix("_rad")) for i, name in enumerate(present)
        ]
        figures.append(page.figure(draw("deflection [deg]", lines), "", "Surfaces"))
        # 0 asks for the vehicle's own cruise, which the tracks do not say.
        asked = track.get("cmd_airspeed_m_s", np.zeros(len(t_s)))
        on_wings = (track.get("cmd_way", asked) > 0.5) & (asked > 0.0)
        asked = np.where(on_wings, asked, np.nan)
        lines = [Line(t_s[1:], track["airspeed_m_s"][1:], "part-0", "airspeed")]
        if on_wings.any():
            lines.append(Line(t_s, asked, "part-3", "asked for on wings"))
        figures.append(page.figure(draw("airspeed [m/s]", lines, floor=0.0), "", "Airspeed"))
    figures.append(
        page.figure(draw("current [A]", [Line(t_s, track["current_a"], "part-0")], floor=0.0), "", "Current")
    )
    told = next(item.outcome for item in run.trials if item.trial == trial)
    note = f"The trial to look at first ({esc(told)}), part by part."
    charts = f'<div class="pair">{"".join(figures)}</div>'
    return f'<h2>Trial {trial} in detail</h2><p class="note">{note}</p>{charts}'


def _of(name: str) -> Callable[[Track], Array]:
    return lambda track: track[name]


def _from_second(name: str) -> Callable[[Track], Array]:
    """Without the first sample, at which the quantity has not yet been worked out."""

    def law(track: Track) -> Array:
        values = track[name].copy()
        values[:1] = np.nan
        return values

    return law


def _wind_m_s(track: Track) -> Array:
    return np.hypot(track["wind_north_m_s"], track["wind_east_m_s"])


def _heights(places: list[Place]) -> list[tuple[float, str]]:
    heights = list(dict.fromkeys(place.up_m for place in places))
    return [(up_m, f"{short(up_m)}\u202fm") for up_m in heights[:6]]
