"""Reports: what they say about known run folders, that they need nothing but themselves, and what bad folders get."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import run_folders
from report_page import checked

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.trials.report import write_report
from fieldworthy.trials.report.data import hull_outline, read_run
from fieldworthy.trials.report.overview import MOST_TRACKS, drawn_trials
from fieldworthy.trials.report.panels import worst_first

FILES = ("scenario.toml", "run.json", "summary.json", "trials.csv", "trajectories.npz", "layouts.json")


@pytest.fixture(scope="module")
def buoy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scenario A, 40 trials."""
    return run_folders.buoy_run(tmp_path_factory.mktemp("a") / "run", 40)


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scenario B, 60 trials of 35 obstacles, with a randomised parameter; shown as interrupted."""
    return run_folders.field_run(tmp_path_factory.mktemp("b") / "run", 60, interrupted=True)


@pytest.fixture(scope="module")
def channel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scenario C, 10 trials between two shared walls."""
    return run_folders.channel_run(tmp_path_factory.mktemp("c") / "run", 10)


@pytest.fixture
def copy(channel: Path, tmp_path: Path) -> Path:
    """A run folder that a test may damage."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for name in FILES:
        (folder / name).write_bytes((channel / name).read_bytes())
    return folder


def test_campaign_page_says_what_the_folder_says(buoy: Path) -> None:
    """Headline, map with all tracks, worst trials with commands, provenance, scenario and limits."""
    summary = json.loads((buoy / "summary.json").read_text())
    wins, hits = summary["success"]["count"], summary["collisions"]
    assert hits > 0
    page = checked(write_report(buoy))
    assert f"{wins} of 40 trials reached the goal" in page
    assert page.count('<path class="track goal" data-trial') == wins
    assert page.count('<path class="track collision" data-trial') == hits
    worst = next(t for t in worst_first(read_run(buoy).trials))
    assert worst.outcome == "collision"
    assert f"--trial {worst.trial}</code>" in page
    for text in (
        "9f" * 32,
        "Dr.Jit 1.5.0",
        "commit <code>abc1234",
        "123\u202f456\u202f789",
        "controller = &quot;sector&quot;",
        "Limits",
    ):
        assert text in page
    assert "interrupted" not in page
    assert "nothing to report" not in page


def test_interrupted_run_and_parameters_are_shown(field: Path) -> None:
    """The notice at the top names both counts; the randomised parameter has a chart; hits show their obstacle."""
    page = checked(write_report(field))
    assert "This run was interrupted:</strong> 60 of 110 trials" in page
    assert "Success over sensors.lidar.noise_m" in page
    assert '<g class="struck"><path class="obstacle" d="M' in page
    data = json.loads(page.partition('id="trials">')[2].partition("</script>")[0])
    assert len(data) == 60
    assert all(css == "obstacle" and path.count("M") > 20 for item in data.values() for css, path in item["paths"])


def test_shared_walls_and_no_collision(channel: Path) -> None:
    """Walls are drawn; no collision column is made up."""
    page = checked(write_report(channel))
    assert '<path class="wall"' in page
    assert ">collided</text>" not in page
    assert "No trial failed" in page


def test_answer_stands_before_a_long_description(copy: Path) -> None:
    """Answer, tiles, first paragraph; the rest is folded away, one paragraph each."""
    words = "All of this line is long enough to be the widest of them all, by far and for ever."
    told = "\n".join(("First of all,", words, words * 5, "Speed: 3 m/s.", "", "Last words."))
    text = (copy / "scenario.toml").read_text()
    text = re.sub(r'description = ".*"', lambda _: f'description = """{told}"""', text)
    (copy / "scenario.toml").write_text(text)
    page = checked(write_report(copy))
    order = [
        page.index(text) for text in ('class="answer"', 'class="tiles"', "<p>First of all, All", "<summary>More about")
    ]
    assert order == sorted(order)
    assert "<p>Speed: 3 m/s.</p><p>Last words.</p></details>" in page


def test_sensors_of_ones_own_and_files_do_not_disturb(copy: Path) -> None:
    """Tracks named SENSOR.VALUE of any type are left alone; several files and who stopped the run are told."""
    before = checked(write_report(copy))
    with np.load(copy / "trajectories.npz") as archive:
        arrays = dict(archive)
    shape = arrays["north_m"].shape
    arrays |= {"sonar.depth_m": np.full(shape, np.nan, np.float32), "sonar.seen": np.zeros((*shape, 3), dtype=bool)}
    np.savez(copy / "trajectories.npz", **arrays)
    assert checked(write_report(copy)) == before
    run = json.loads((copy / "run.json").read_text())
    run |= {"files_sha256": {"a.geojson": "a" * 64, "b.stl": "b" * 64}, "stopped_by": "Ctrl-C", "interrupted": True}
    (copy / "run.json").write_text(json.dumps(run))
    page = checked(write_report(copy))
    assert "2 files read, SHA-256" in page
    assert f'b.stl<span class="sub"><code>{"b" * 64}' in page
    assert "interrupted by Ctrl-C:" in page


@pytest.mark.slow
def test_thousand_trials_are_quick_and_small(tmp_path: Path) -> None:
    """1,000 trials with 35 obstacles each: under 1.5 s and 3 MB; failures are drawn before successes."""
    folder = run_folders.field_run(tmp_path / "run", 1000)
    write_report(folder)
    start = time.process_time()
    path = write_report(folder)
    assert time.process_time() - start < 1.5
    assert path.stat().st_size < 3_000_000
    page = checked(path)
    run = read_run(folder)
    drawn = drawn_trials(run)
    failed = sum(not t.succeeded for t in run.trials)
    assert len(drawn) == MOST_TRACKS
    assert sum(not t.succeeded for t in drawn) == min(failed, MOST_TRACKS)
    assert f"{MOST_TRACKS} of 1000 tracks are drawn" in page
    assert "matplotlib" not in sys.modules


def test_text_from_files_is_escaped(copy: Path) -> None:
    """Markup in a title, reason, parameter name, provenance or scenario stays text, in HTML and in script data."""
    evil = "</script><script>alert(1)</script><b onx='\"'>&"
    for name in ("summary.json", "run.json"):
        content = json.loads((copy / name).read_text())
        content |= {"title": evil, "command": evil, "cpu": evil, evil: evil}
        (copy / name).write_text(json.dumps(content))
    rows = (copy / "trials.csv").read_text().splitlines()
    quoted = '"' + evil.replace('"', '""') + '"'
    rows = [
        rows[0] + "," + quoted,
        *(re.sub(r"reached the goal[^,]*", lambda _: quoted, row) + f",{i}" for i, row in enumerate(rows[1:])),
    ]
    (copy / "trials.csv").write_text("\n".join(rows) + "\n")
    text = (copy / "scenario.toml").read_text()
    (copy / "scenario.toml").write_text(
        text.replace('description = "', "description = '" + evil.replace("'", "") + "' # \"")
    )
    page = checked(write_report(copy))
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "<b onx" not in page


def test_no_finished_trial_is_a_page(copy: Path) -> None:
    """A run stopped before its first trial ended says so, and keeps its provenance."""
    (copy / "trials.csv").write_text((copy / "trials.csv").read_text().splitlines()[0] + "\n")
    (copy / "layouts.json").write_text('{"shared": [], "trials": []}')
    (copy / "trajectories.npz").unlink()
    page = checked(write_report(copy))
    assert "No trial finished" in page
    assert "How this was made" in page


def test_unknown_values_are_dashes(copy: Path) -> None:
    """No obstacle (clearance empty), an unknown outcome, and a trial without samples do not stop the page."""
    lines = (copy / "trials.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines]
    for row in rows[1:]:
        row[4] = ""
    rows[1][1:4] = ["beached", "ran aground", ""]
    rows[2][1:4] = ["non-finite", "the yaw rate became NaN", ""]
    (copy / "trials.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    with np.load(copy / "trajectories.npz") as archive:
        arrays = dict(archive)
    arrays["length"][0] = 0
    arrays["north_m"][1, 5:] = np.nan
    arrays["clearance_m"][:] = np.inf
    np.savez(copy / "trajectories.npz", **arrays)
    page = checked(write_report(copy))
    assert "beached" in page
    assert 'class="track nonfinite" data-trial="1"' in page
    assert 'data-trial="0"' not in page


def test_hull_comes_from_the_scenario(channel: Path, copy: Path) -> None:
    """Outline, then length and beam, then a dart that is said to be one."""
    outline, known = hull_outline(read_run(channel))
    assert known
    assert np.ptp(outline, axis=0) == pytest.approx((run_folders.HULL_M, 2.0))
    text = (copy / "scenario.toml").read_text()
    (copy / "scenario.toml").write_text(
        text.replace("length_m = 5.0\nbeam_m = 2.0", "outline_m = [[3, 0], [-1, 1], [-1, -1]]")
    )
    assert hull_outline(read_run(copy))[0].tolist() == [[3, 0], [-1, 1], [-1, -1]]
    (copy / "scenario.toml").write_text(text.replace("length_m = 5.0\nbeam_m = 2.0", ""))
    assert "does not record the hull" in checked(write_report(copy))


def test_replay_commands_can_be_pasted(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative to the current folder, and quoted where a shell needs it."""
    spaced = copy.rename(copy.parent / "my run")
    monkeypatch.chdir(spaced.parent)
    assert "fieldworthy replay &#x27;my run&#x27; --trial" in checked(write_report(Path("my run")))
    assert "fieldworthy replay runs/final --trial" in checked(write_report(spaced, shown_as=Path("runs/final")))


@pytest.mark.parametrize("name", FILES)
def test_missing_and_damaged_files_are_named(copy: Path, name: str) -> None:
    """One sentence with the file's path; an earlier report stays as it was."""
    (copy / "report.html").write_text("earlier")
    (copy / name).write_bytes(b"\x93garbage {")
    with pytest.raises(FieldworthyError, match=name):
        write_report(copy)
    (copy / name).unlink()
    with pytest.raises(FieldworthyError, match=rf"{name}.*missing"):
        write_report(copy)
    assert (copy / "report.html").read_text() == "earlier"
    assert not list(copy.glob(".*"))


def test_files_that_disagree_are_refused(copy: Path) -> None:
    """Wrong columns, wrong number of layouts, an unknown shape, arrays of other shapes."""
    good = {name: (copy / name).read_bytes() for name in FILES}
    text = good["trials.csv"].decode()
    cases = {
        "clearance_m is missing": ("trials.csv", text.replace("clearance_m", "clear").encode()),
        "line 2": ("trials.csv", text.replace(",goal,", ",goal,extra,", 1).encode()),
        "could not convert": ("trials.csv", re.sub(r",2\d\.\d\d,", ",soon,", text).encode()),
        "2 layouts for 10 trials": ("layouts.json", b'{"shared": [], "trials": [[], []]}'),
        "kind 'cone'; valid: cylinder": ("layouts.json", b'{"shared": [{"kind": "cone"}], "trials": []}'),
    }
    for what, (name, content) in cases.items():
        (copy / name).write_bytes(content)
        with pytest.raises(FieldworthyError, match=what):
            write_report(copy)
        (copy / name).write_bytes(good[name])
    np.savez(
        copy / "trajectories.npz",
        **{k: np.zeros((2, 2)) for k in ("t_s", "length", "trial", "north_m", "east_m", "heading_rad", "clearance_m")},
    )
    with pytest.raises(FieldworthyError, match="one row a trial"):
        write_report(copy)
    with pytest.raises(FieldworthyError, match="no such folder"):
        write_report(copy / "nowhere")
