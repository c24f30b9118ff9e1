"""docs/run-folder.md names what a flight leaves: every track, column, topic, and key of the summary."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from flights import SCENARIO

from fieldworthy.scenario import load
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.metric import METRICS
from fieldworthy.trials.record.csv_file import columns
from fieldworthy.trials.record.messages import Messages
from fieldworthy.trials.record.streams import topics
from fieldworthy.trials.recorder import record
from fieldworthy.trials.save import save

DOCS = Path(__file__).parents[2] / "docs"
MORE = """
[load]
mass_kg = 0.2
cable_length_m = 1.0
[sensors.rangefinder]
model = "tfmini-s"
[sensors.optical_flow]
model = "pmw3901"
[sensors.odometry]
model = "t265"
[reference]
lon_deg = 8.0
lat_deg = 48.0
"""
ROWS_OF = {"cmd_": "cmd_north_m", "believed_": "believed_north_m", "rotor_": "rotor_0_rad_s", "throttle_": "throttle_0"}
"""Names that the page has as `first`, …"""


@pytest.fixture(scope="module", name="page")
def text_of_the_page() -> str:
    return (DOCS / "run-folder.md").read_text(encoding="utf-8")


def test_every_track_and_column_of_a_flight_is_explained(page: str, tmp_path: Path) -> None:
    (tmp_path / "hop.toml").write_text(SCENARIO.replace("duration_s = 8.0", "duration_s = 0.5") + MORE)
    scenario = load(tmp_path / "hop.toml")
    recording = record(scenario, 0, {})
    tracks = fly(scenario, trials=1).tracks
    for name in {*tracks, *columns(recording)}:
        if "." in name:
            continue
        told = next((row for start, row in ROWS_OF.items() if name.startswith(start)), name)
        told = re.sub(r"quat_ned_from_frd_[xyz]", "quat_ned_from_frd_w", told)
        assert f"`{told}`" in page, name
    flight = recording.flight
    assert flight is not None
    assert {"imu", "gnss", "barometer", "magnetometer", "rangefinder", "optical_flow", "odometry"} <= set(
        flight.devices
    )
    pytest.importorskip("rosbags")
    for topic in topics(recording, Messages()):
        kind = topic.kind.rpartition("/")[2]
        row = next((line for line in page.splitlines() if f"`{topic.name}`" in line and line.startswith("|")), "")
        assert kind in row, topic.name


def test_every_key_of_a_flights_summary_is_explained(page: str, tmp_path: Path) -> None:
    (tmp_path / "hop.toml").write_text(SCENARIO.replace("duration_s = 8.0", "duration_s = 0.5"))
    run = save(fly(load(tmp_path / "hop.toml")), tmp_path / "run", "a test")
    for name in ("summary.json", "run.json"):
        for key in json.loads((run / name).read_text()):
            assert f"`{key}`" in page, f"{key} of {name}"
    flight = (DOCS / "flight.md").read_text(encoding="utf-8")
    for name in METRICS:
        assert f"`{name}`" in flight
