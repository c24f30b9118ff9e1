"""The page of a flight: what it says of a known run folder, and that it speaks of nothing that floats."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from flights import LOST, SCENARIO
from report_page import checked

from fieldworthy.scenario import load
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.report import write_report
from fieldworthy.trials.report.faults import fault_sentence
from fieldworthy.trials.report.flight_limits import flight_limits_for
from fieldworthy.trials.report.mapping import Bounds, MapFrame
from fieldworthy.trials.report.places import _label
from fieldworthy.trials.report.time_chart import COLUMNS, Line, Span, time_chart, wrapped_deg
from fieldworthy.trials.save import save

AFLOAT = r"\b(boats?|hulls?|water|sail\w*|sea|seas|waves?|current and|collided|steer\w*|goes aground|moor\w*)\b"
"""Words that a page of a flight has no use for."""


def seen(page: str) -> str:
    """What a reader sees of a page: without style, scripts and the scenario's own text."""
    bare = re.sub(r"<style>.*?</style>|<script.*?</script>|<pre>.*?</pre>", " ", page, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", bare))


@pytest.fixture(scope="module", name="run")
def run_of_flights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three flights of which some lose a rotor."""
    folder = tmp_path_factory.mktemp("flights")
    (folder / "hop.toml").write_text(SCENARIO + LOST + "probability = 0.5\n")
    return save(fly(load(folder / "hop.toml")), folder / "run", "fieldworthy run hop.toml")


def test_a_flights_page_says_what_happened(run: Path) -> None:
    page = checked(write_report(run))
    text = seen(page)
    failed = (run / "trials.csv").read_text().count("collision")
    assert 0 < failed < 3
    assert f"{failed} crashed" in text
    assert "rotor 1 had lost its thrust at 4.0 s" in text
    for heading in ("Figures of the flights", "Over time", "Tracking error", "Margin to saturation", "Voltage",
                    "Position estimate", "Tilt estimate", "Heading estimate", "Rotor speeds",
                    "Trials to look at first"):  # fmt: skip
        assert heading in text
    # Each trial is a line in every chart over time, and can be chosen there.
    charts = re.findall(r'<svg class="chart pickable".*?</svg>', page, re.S)
    over_time = [chart for chart in charts if "data-trial" in chart]
    assert len(over_time) == 13
    for chart in over_time:
        assert set(re.findall(r'data-trial="(\d+)"', chart)) == {"0", "1", "2"}


def test_a_flights_page_says_how_its_air_was_made(run: Path) -> None:
    """Model, specification and the rule for how fast gusts pass."""
    text = seen(checked(write_report(run)))
    assert "von Kármán, MIL-HDBK-1797" in text
    assert "gusts pass at the larger of airspeed and mean wind, at least 1 m/s" in text
    assert "mean wind 3 m/s from 270 degrees at 6.096 m, logarithmic with height" in text
    assert "rotor-loss 1 at 4 s in 50 % of trials" in text
    assert "complementary filter" in text


def test_a_flights_page_speaks_of_nothing_that_floats(run: Path) -> None:
    text = seen(checked(write_report(run)))
    found = [text[max(0, match.start() - 40) : match.end() + 20] for match in re.finditer(AFLOAT, text, re.I)]
    # What heights are measured from is the sea also in the air.
    assert [line for line in found if "above the sea" not in line] == []


def test_limits_follow_what_is_used() -> None:
    windy = {"air": {"wind_speed_m_s": 3.0, "turbulence": {"model": "dryden"}}, "effects": {"battery": True}}
    still = {"air": {"wind_speed_m_s": 0.0}, "effects": {"battery": False}, "control": {"navigation": "truth"}}
    told, calm = " ".join(flight_limits_for(windy)), " ".join(flight_limits_for(still))
    assert "Turbulence is frozen" in told
    assert "Turbulence" not in calm
    assert "at rest" in calm
    assert "RC pair" in told
    assert "no battery" in calm
    assert "complementary filter" in told
    assert "levelled by what its own inertial sensors read at rest" in told
    assert "true motion" not in told
    assert "no error of any sensor" in calm
    assert "Wings" not in told
    assert "Wings" in " ".join(flight_limits_for({**windy, "vehicle": {"set": {"aero_area_m2": 0.5}}}))
    assert not re.search(AFLOAT, told + calm, re.I)


def test_the_vehicle_stands_under_the_title(tmp_path: Path) -> None:
    """A vehicle of one's own, and what the scenario has changed of it, whatever its description says."""
    own = resources.files("fieldworthy") / "catalog" / "aircraft" / "x500.toml"
    text = own.read_text(encoding="utf-8").replace("x500: the 2 kg reference quadrotor", "Crane of the yard")
    (tmp_path / "crane.toml").write_text(text, encoding="utf-8")
    changed = SCENARIO.replace('model = "x500"', 'model = "crane.toml"\n[vehicle.set]\nmass_kg = 2.25')
    drawn = '[randomize]\n"vehicle.drag_area_m2" = [0.04, 0.07]\n'
    (tmp_path / "hop.toml").write_text(changed.replace("duration_s = 8.0", "duration_s = 0.5") + drawn)
    run = save(fly(load(tmp_path / "hop.toml")), tmp_path / "run", "a test")
    facts = json.loads((run / "run.json").read_text())["vehicle"]
    assert facts == {"model": "crane.toml", "title": "Crane of the yard", "overridden": {"mass_kg": [2.0, 2.25]}}
    page = checked(write_report(run))
    header = seen(re.search(r"<header>.*?</header>", page, re.S)[0])  # type: ignore[index]
    assert "Vehicle: crane.toml (Crane of the yard), with mass_kg = 2.25 (2 in its file)" in header
    assert "Drawn for each trial: drag_area_m2 0.04 to 0.07." in header


def test_faults_are_told_at_the_top_and_shaded_over_time(run: Path) -> None:
    page = checked(write_report(run))
    text = seen(page)
    told = "Rotor 1 loses its thrust at 4 s, for good, in 50 % of trials, drawn by chance."
    assert 0 < text.index(told) < text.index("Outcomes")
    charts = re.findall(r'<svg class="chart pickable".*?</svg>', page, re.S)
    assert all(chart.count('<rect class="fault"') == 1 for chart in charts)
    assert "paler: while it may begin" in text


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (
            {"kind": "rotor-loss", "part": "2", "at_s": 3.0, "spread_s": 2.0, "size": 0.4},
            "Rotor 2 loses 40 % of its thrust at a time between 3 and 5 s that each trial draws, for good, "
            "in all trials.",
        ),
        (
            {"kind": "sensor-bias", "part": "imu.accelerometer", "at_s": 1.0, "until_s": 4.0, "size": 0.2},
            "The readings of the IMU accelerometers are off by 0.2 m/s² from 1 s until 4 s, in all trials.",
        ),
        (
            {"kind": "cell-failure", "size": 2.0, "at_s": 0.0, "probability": 0.25},
            "2 battery cells fail at 0 s, for good, in 25 % of trials, drawn by chance.",
        ),
    ],
)
def test_a_fault_in_words(fault: dict[str, object], sentence: str) -> None:
    assert fault_sentence(fault) == sentence


def test_a_shade_lies_where_its_time_is() -> None:
    """From 2 to 4 s of 10 s on an axis from 62 to 486: 84.8 long from 146.8 on; one past the end is left out."""
    t_s = np.linspace(0.0, 10.0, 11)
    spans = [Span(2.0, 4.0, "fault may"), Span(4.0, math.inf, "fault"), Span(11.0, 12.0, "fault")]
    drawing = time_chart("value", [Line(t_s, t_s, "goal")], spans=spans)
    found = re.findall(r'<rect class="(fault[^"]*)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawing)
    assert found == [("fault may", "146.8", "84.8"), ("fault", "231.6", "254.4")]


def test_a_negative_margin_is_explained(run: Path, tmp_path: Path) -> None:
    """In a copy of the run whose trial 1 is short of thrust at 25 samples: half a second of 50 Hz."""
    shutil.copytree(run, tmp_path / "run")
    with np.load(run / "trajectories.npz") as archive:
        arrays = {name: archive[name].copy() for name in archive.files}
    arrays["margin"] = np.where(np.isnan(arrays["margin"]), np.nan, 0.2)
    arrays["margin"][1, 10:35] = -0.1
    np.savez_compressed(tmp_path / "run" / "trajectories.npz", **arrays)
    with (run / "trials.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["margin_least"] = "-0.1" if row["trial"] == "1" else "0.2"
    with (tmp_path / "run" / "trials.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    text = seen(checked(write_report(tmp_path / "run")))
    assert "The least margin is below 0 in 1 of 3 trials" in text
    assert "for 0.50 s of the trial." in text.replace("\u202f", " ")


def test_names_of_places_keep_off_the_tracks() -> None:
    """Tracks that leave the place to the east push the name aside; without them it stands there."""
    frame = MapFrame(Bounds(-50.0, 50.0, -50.0, 50.0), 0.0, 0.0, 6.0)
    x, y = frame.xy(0.0, 0.0)
    east = np.column_stack([np.arange(x, 600.0, 4.0), np.full(len(np.arange(x, 600.0, 4.0)), y)])
    nothing = np.zeros((0, 2))
    assert f'x="{x + 15.0:.1f}" y="{y + 4.0:.1f}"' in _label(frame, nothing, x, y, 10.0, "start, goal")
    place = re.search(r'x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)"', _label(frame, east, x, y, 10.0, "start, goal"))
    assert place is not None
    assert place[3] == "end" or not float(place[2]) - 12.0 < y < float(place[2]) + 4.0


def test_a_long_line_keeps_its_peaks() -> None:
    """One sample of 20,000 stands out by 10; it is still there when the line is thinned to what a page shows."""
    t_s = np.arange(20_000) * 0.02
    values = np.sin(t_s)
    values[12_345] = 10.0
    drawing = time_chart("value", [Line(t_s, values, "goal", trial=1)])
    path = re.search(r'data-trial="1" d="([^"]+)"', drawing)
    assert path is not None
    numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*", path[1])]
    heights = np.cumsum(numbers[1::2])
    top, bottom = 12.0, 200.0
    # The axis runs from -1 to 10 with a margin of 8 % at either end.
    scale = (bottom - top) / (11.0 * 1.16)
    assert heights.min() == pytest.approx(bottom - (10.0 + 1.0 + 0.88) * scale, abs=0.5)
    assert len(numbers) / 2 < 4 * COLUMNS


def test_headings_break_where_they_cross_south() -> None:
    found = wrapped_deg(np.array([170.0, 179.0, 181.0, 190.0, 350.0]))
    assert found[[0, 1, 3]].tolist() == [170.0, 179.0, -170.0]
    assert np.isnan(found[2])
