"""Reports of sweeps and of the demo."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import run_folders
from report_page import checked

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.trials.report import DemoRow, write_demo_report, write_sweep_report


def test_sweep_over_one_value(tmp_path: Path) -> None:
    """Curves, and a table whose links lead to the points' reports; values that are words become cells."""
    folder = run_folders.sweep_folder(tmp_path / "sweep")
    page = checked(write_sweep_report(folder))
    for text in (
        "Success runs from",
        "reached the goal over sensors.lidar.noise_m",
        "least clearance [m] over",
        'href="point-003/report.html"',
    ):
        assert text in page
    content = json.loads((folder / "sweep.json").read_text())
    content["vary"] = {"control.controller": ["sector", "vfh", "dwa", "<i>"]}
    for point, word in zip(content["points"], content["vary"]["control.controller"], strict=True):
        point["values"] = {"control.controller": word}
    content["interrupted"] = True
    content["points"] = content["points"][:3]
    (folder / "sweep.json").write_text(json.dumps(content))
    page = checked(write_sweep_report(folder))
    assert "interrupted:</strong> 3 of 4 points" in page
    assert ">vfh</text>" in page
    assert "<i>" not in page


def test_sweep_over_two_values_is_a_heat_map(tmp_path: Path) -> None:
    """Twelve cells with numbers."""
    page = checked(write_sweep_report(run_folders.sweep_folder(tmp_path / "sweep", two=True)))
    assert page.split("<h3>Time</h3>")[0].count('class="heat"') == 12


def test_damaged_sweeps_are_named(tmp_path: Path) -> None:
    """Not a sweep; a point without its value; a run outside the folder."""
    folder = tmp_path / "sweep"
    with pytest.raises(FieldworthyError, match="no such folder"):
        write_sweep_report(folder)
    folder.mkdir()
    for content in ({}, {"vary": {}, "points": []}, {"vary": {"a": [1]}, "points": [{"run": "../x", "values": {}}]}):
        (folder / "sweep.json").write_text(json.dumps(content))
        with pytest.raises(FieldworthyError, match=r"sweep\.json"):
            write_sweep_report(folder)


def test_demo_stands_beside_the_paper(tmp_path: Path) -> None:
    """Paper's figures, ours with intervals, three maps, links to the full reports."""
    buoy, channel = run_folders.buoy_run(tmp_path / "a", 40), run_folders.channel_run(tmp_path / "c", 10)
    field = run_folders.field_run(tmp_path / "b", 60, interrupted=True)
    rows = [
        DemoRow(buoy, "A", (0.9, 0.9), (22.0, 22.0), note="one <5 m> buoy"),
        DemoRow(field, "B, 35", (0.7, 0.8), (30.0, 35.0), note="Obstacles on the course"),
        DemoRow(channel, "C", (0.6, 0.7), (40.0, 40.0)),
    ]
    page = checked(write_demo_report(tmp_path, rows))
    for text in (
        "90\u202f%",
        "70–80\u202f%",
        "30–35\u202fs",
        "60–70\u202f%",
        "40\u202fs",
        "one &lt;5 m&gt; buoy",
        "Map of C",
        'B (35) · 35 obstacles on the course</a><span class="room"></span></td>',
        "All ten trials reached the goal in C,",
        "60 of 110",
    ):
        assert text in page
    link = re.search(r'href="([^"]+)">A · One buoy on the course</a>', page)
    assert link
    assert (tmp_path / link[1]).resolve() == (buoy / "report.html").resolve()
