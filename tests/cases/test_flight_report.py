"""The page of a flight: what it says of a known run folder, and that it speaks of nothing that floats."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from flights import LOST, SCENARIO
from report_page import checked

from fieldworthy.scenario import load
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.report import write_report
from fieldworthy.trials.report.flight_limits import flight_limits_for
from fieldworthy.trials.report.time_chart import COLUMNS, Line, time_chart, wrapped_deg
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
                    "Position estimate", "Rotor speeds", "Trials to look at first"):  # fmt: skip
        assert heading in text
    # Each trial is a line in every chart over time, and can be chosen there.
    charts = re.findall(r'<svg class="chart pickable".*?</svg>', page, re.S)
    over_time = [chart for chart in charts if "data-trial" in chart]
    assert len(over_time) == 12
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
    assert "no error of any sensor" in calm
    assert "Wings" not in told
    assert "Wings" in " ".join(flight_limits_for({**windy, "vehicle": {"set": {"aero_area_m2": 0.5}}}))
    assert not re.search(AFLOAT, told + calm, re.I)


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
