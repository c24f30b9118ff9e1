"""The map of a report: a chart's kinds, what is not on the chart, and what single trials have of their own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import run_folders
from report_page import checked

from fieldworthy.trials.report import write_report
from fieldworthy.trials.report.data import read_run


def test_harbour_keeps_north_up(tmp_path: Path) -> None:
    """368 features with long shores: land colours, waypoints in order, small file."""
    path = write_report(run_folders.harbour_run(tmp_path / "run"))
    page = checked(path)
    assert len(json.loads((tmp_path / "run" / "layouts.json").read_text())["shared"]) == 368
    assert '<g id="map" class="chartmap few">' in page
    assert ">7</text>" in page
    assert "rotate(90)" not in page
    assert path.stat().st_size < 400_000


def test_chart_shows_kinds_and_what_is_not_on_it(tmp_path: Path) -> None:
    """Kinds are classes with a legend; own obstacles are named, moving ones have an arrow, deep ones are pale."""
    folder = run_folders.harbour_run(tmp_path / "run")
    layouts = json.loads((folder / "layouts.json").read_text())
    place = {"north_m": 500.0, "east_m": 60.0}
    ferry = {"kind": "cylinder", **place, "radius_m": 2.0, "top_up_m": 2.0, "bottom_up_m": -1.0, "label": "ferry"}
    layouts["shared"] += [
        ferry | {"vel_north_m_s": 1.0},
        ferry | {"north_m": 700.0, "top_up_m": -2.0, "bottom_up_m": -9.0, "label": "obstruction"},
        ferry | {"north_m": 900.0, "radius_m": 0.5, "label": "buoy: No. 4"},
    ]
    (folder / "layouts.json").write_text(json.dumps(layouts))
    text = (folder / "scenario.toml").read_text().replace("beam_m = 2.0", "beam_m = 2.0\ndraft_m = 0.4")
    (folder / "scenario.toml").write_text(
        text + '\n[[obstacles]]\nkind = "cylinder"\nlabel = "ferry"\nnorth_m = 500.0\neast_m = 60.0\n'
    )
    page = checked(write_report(folder))
    drawing = page.partition('<g id="map"')[2].partition("</svg>")[0]
    for css in ("obstacle shore", "obstacle deep", "wall quay", "wall pontoon", "obstacle pile", "obstacle ours"):
        assert drawing.count(f'<path class="{css}" d="M') == 1, css
    for text in (">ferry</text>", ">buoy</text>", ">not on the chart</text>", ">obstruction above or below the hull</"):
        assert text in drawing
    assert 'class="moving-tip"' in drawing
    assert re.search(r'"obstacle buoy" d="M[\d. ]+a3\.00 3\.00', drawing)
    assert "A dashed arrow is the way" in page


def test_what_all_trials_share_is_not_drawn_as_one_trials_own(tmp_path: Path) -> None:
    """A trial that hits a shared wall does not get the wall painted as an obstacle of its own."""
    folder = run_folders.buoy_run(tmp_path / "run", 40)
    layouts = json.loads((folder / "layouts.json").read_text())
    run = read_run(folder)
    hit = next(t.trial for t in run.trials if t.outcome == "collision")
    end = run.tracks[hit]
    wall = layouts["trials"][0][0] | {"north_m": float(end.north_m[-1]), "east_m": float(end.east_m[-1])}
    layouts["shared"] = [wall | {"radius_m": 0.01}]
    struck = re.compile(r'<g class="struck">(.*?)</g>')
    before = struck.search(checked(write_report(folder)))
    (folder / "layouts.json").write_text(json.dumps(layouts))
    after = struck.search(checked(write_report(folder)))
    assert before is not None
    assert after is not None
    assert after[1].count("M") == before[1].count("M") - 1
