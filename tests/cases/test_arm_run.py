"""`fieldworthy run` and `check` of arm tasks as a person uses them: answers, files, exit codes, what is told."""

from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from report_page import checked

from fieldworthy.cli import main as cli_main
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.scenario.arm_task import arm_scene, load_arm_task

SLOW_FRAMES = ("--set", "play.rate_hz=20", "--set", "play.settle_s=0.6")
TWO = """schema = 1
name = "two"
title = "Two points"
[arm]
model = "kr10-r1100"
[motion]
waypoints = "two.json"
feed_m_s = 0.4
[play]
rate_hz = 25.0
settle_s = 0.8
"""
TABLE_TOP = """[[obstacles]]
kind = "box"
name = "crate"
centre_m = [0.6, 0.0, 0.05]
size_m = [0.3, 0.3, 0.1]
"""


def fieldworthy(*arguments: str) -> Result:
    return CliRunner().invoke(cli_main.cli, list(arguments))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A task of two waypoints beside a box, in files of its own."""
    data = {
        "schema": 1, "name": "two", "units": {"length": "mm", "angle": "deg"}, "orientation": "kuka_abc",
        "waypoints": [{"name": name, "position": [600, y, 400], "orientation": [0, 0, 180]}
                      for name, y in (("left <b>", 100), ("right", -100))],
    }  # fmt: skip
    (tmp_path / "two.json").write_text(json.dumps(data), encoding="utf-8")
    (tmp_path / "two.toml").write_text(TWO + TABLE_TOP, encoding="utf-8")
    return tmp_path / "two.toml"


@pytest.mark.parametrize(("name", "waypoints"), [("arm-plane", 74), ("arm-cylinder", 79), ("arm-frames", 8)])
def test_a_built_in_task_runs_end_to_end(name: str, waypoints: int, tmp_path: Path) -> None:
    done = fieldworthy("run", name, *SLOW_FRAMES, "--out", str(tmp_path / "r"), "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    (row,) = answer["solvers"]
    assert (answer["task"], row["solver"], row["reached"], row["waypoints"]) == (name, "exact", waypoints, waypoints)
    assert answer["plan"]["waypoints"] == waypoints
    assert answer["plan"]["peak_speed_ratio"] <= 1.0 + 1e-9
    assert answer["no_path"] is None
    assert {path.name for path in (tmp_path / "r").iterdir()} == {
        "task.toml", "run.json", "summary.json", "waypoints.csv", "frames-exact.csv", "path.csv", "report.html"
    }  # fmt: skip
    page = checked(tmp_path / "r" / "report.html")
    assert f"Yes: the KUKA KR 10 R1100 sixx (KR AGILUS) passes all {waypoints} waypoints" in page
    assert len(page) < 2_000_000
    facts = json.loads((tmp_path / "r" / "run.json").read_text(encoding="utf-8"))
    assert facts["kind"] == "arm"
    assert facts["solvers"] == ["exact"]
    table = rows_of(tmp_path / "r" / "waypoints.csv")
    assert len(table) == waypoints
    assert max(float(line["position_error_m"]) for line in table) == pytest.approx(
        row["worst_position_error_m"], abs=1e-12
    )


def test_joint_positions_run_end_to_end(tmp_path: Path) -> None:
    done = fieldworthy("run", "arm-joints", "--set", "play.rate_hz=50", "--out", str(tmp_path / "r"), "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    (row,) = answer["solvers"]
    assert (row["solver"], row["waypoints"], row["outside_limits"], answer["plan"]) == ("joints", None, {}, None)
    frames = rows_of(tmp_path / "r" / "frames-joints.csv")
    motion = arm_scene(load_arm_task("arm-joints")).motion
    last = [float(frames[-1][f"A{k}_deg"]) for k in range(1, 7)]
    assert np.radians(last) == pytest.approx(motion.q[-1], abs=1e-9)  # type: ignore[union-attr]
    assert "Yes: the KUKA KR 10 R1100 sixx (KR AGILUS) can play these joint positions" in checked(
        tmp_path / "r" / "report.html"
    )


def test_joint_positions_that_are_too_fast_are_told(tmp_path: Path) -> None:
    """90 degrees in 0.1 s are 900 deg/s, more than A1's 300 deg/s."""
    (tmp_path / "fast.csv").write_text(
        "# angle: deg\nt_s,j1,j2,j3,j4,j5,j6\n0,0,-90,90,0,45,0\n0.1,90,-90,90,0,45,0\n0.2,0,-90,90,0,45,0\n"
    )
    motion = ("--set", f"motion.joints={tmp_path / 'fast.csv'}")
    done = fieldworthy("run", "arm-joints", *motion, "--out", str(tmp_path / "r"))
    assert done.exit_code == 0, done.output
    assert "peaks above 1" in done.stdout
    assert "cannot play these joint positions" in checked(tmp_path / "r" / "report.html")
    told = fieldworthy("check", "arm-joints", *motion).output
    assert "peak speed 3.00 of the limit" in told


def test_all_solvers_stand_side_by_side(two: Path, tmp_path: Path) -> None:
    done = fieldworthy("run", str(two), "--solver", "all", "--out", str(tmp_path / "r"))
    assert done.exit_code == 0, done.output
    names = ["exact", "dls", "pinv", "ccd", "fabrik", "dls-seed", "pinv-seed", "ccd-seed", "fabrik-seed"]
    rows = [line.split()[0] for line in done.stdout.splitlines() if line.split()[:1] and line.split()[0] in names]
    assert rows == names
    assert "whole path: 2 of 2 waypoints" in done.stdout
    page = checked(tmp_path / "r" / "report.html")
    assert "What the four -seed solvers get wrong" in page
    assert "left &lt;b&gt;" in page  # names from files are text
    assert "crate" in page
    summary = json.loads((tmp_path / "r" / "summary.json").read_text(encoding="utf-8"))
    assert [row["solver"] for row in summary["solvers"]] == names
    assert all((tmp_path / "r" / f"frames-{name}.csv").is_file() for name in names)


def test_a_run_folder_plays_again_from_its_own_files(two: Path, tmp_path: Path) -> None:
    assert fieldworthy("run", str(two), "--out", str(tmp_path / "r")).exit_code == 0
    facts = json.loads((tmp_path / "r" / "run.json").read_text(encoding="utf-8"))
    assert list(facts["files_sha256"]) == ["two.json"]
    assert (
        tomllib.loads((tmp_path / "r" / "task.toml").read_text(encoding="utf-8"))["motion"]["waypoints"]
        == "inputs/two.json"
    )
    two.unlink()
    (tmp_path / "two.json").unlink()
    again = fieldworthy("run", str(tmp_path / "r" / "task.toml"), "--out", str(tmp_path / "again"))
    assert again.exit_code == 0, again.output
    first, second = ((tmp_path / name / "path.csv").read_bytes() for name in ("r", "again"))
    assert first == second


def test_the_planned_path_ends_at_the_last_waypoint(two: Path, tmp_path: Path) -> None:
    fieldworthy("run", str(two), "--out", str(tmp_path / "r"))
    rows = rows_of(tmp_path / "r" / "path.csv")
    for row, y in ((rows[0], 0.1), (rows[-1], -0.1)):
        assert [float(row[f"tool_{axis}_m"]) for axis in "xyz"] == pytest.approx([0.6, y, 0.4], abs=1e-6)
    assert all(float(row["speed_ratio"]) <= 1.0 + 1e-6 for row in rows)


def test_a_task_out_of_reach_runs_and_says_where_it_ends(two: Path, tmp_path: Path) -> None:
    """The smallest arm of the catalogue, a UR3e, reaches 0.5 m: 0.6 m away is too far."""
    arm = ("--set", "arm.model=ur3e")
    done = fieldworthy("run", str(two), *arm, "--out", str(tmp_path / "r"), "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert answer["plan"] is None
    assert answer["no_path"]["waypoint"] == 0
    assert "left" in answer["no_path"]["why"]
    assert answer["solvers"][0]["reached"] == 0
    assert "No: the Universal Robots UR3e has no continuous path" in checked(tmp_path / "r" / "report.html")
    told = fieldworthy("check", str(two), *arm)
    assert told.exit_code == 2
    assert "error: waypoint 0 (left <b>): cannot be reached" in told.stderr


def test_a_solver_of_ones_own_is_played(two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mysolver_of_test.py").write_text(
        "from fieldworthy.arms.solver import make_solver\n\n\n"
        "class Mine:\n    name = 'mine'\n\n    def __init__(self, inner='dls'):\n"
        "        self.inner = make_solver(inner)\n\n"
        "    def solve(self, *a):\n        return self.inner.solve(*a)\n\n"
        "    def step(self, *a):\n        return self.inner.step(*a)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    own = ("--solver", "mysolver_of_test:Mine")
    done = fieldworthy(
        "run", str(two), *own, "--set", "solver.options.inner=exact", "--out", str(tmp_path / "r"), "--json"
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["solvers"][0]["reached"] == 2
    assert (tmp_path / "r" / "frames-mysolver_of_test-Mine.csv").is_file()
    wrong = fieldworthy("run", str(two), *own, "--set", "solver.options.outer=exact", "--out", str(tmp_path / "w"))
    assert isinstance(wrong.exception, FieldworthyError)
    assert "outer" in str(wrong.exception)
    assert not (tmp_path / "w").exists()


def test_ctrl_c_keeps_the_solvers_that_have_finished(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fieldworthy.trials.arm import run as run_module

    whole = run_module.play

    def play(scene: Any, name: str, progress: Any, first: Any) -> Any:
        if name == "pinv":
            raise KeyboardInterrupt
        return whole(scene, name, progress, first)

    monkeypatch.setattr(run_module, "play", play)
    done = fieldworthy("run", str(two), "--solver", "all", "--out", str(tmp_path / "r"))
    assert done.exit_code == 130
    assert "stopped by Ctrl-C: 2 of 9 solvers had finished and are kept" in done.stderr
    assert {path.name for path in (tmp_path / "r").glob("frames-*")} == {"frames-exact.csv", "frames-dls.csv"}
    assert "Stopped by Ctrl-C" in checked(tmp_path / "r" / "report.html")
    monkeypatch.setattr(run_module, "play", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    done = fieldworthy("run", str(two), "--out", str(tmp_path / "none"))
    assert done.exit_code == 130
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "arm-plane", "--trials", "3"), "--trials goes with scenarios of vehicles"),
        (("run", "arm-plane", "--seed", "3"), "--seed goes with scenarios of vehicles"),
        (("run", "arm-plane", "--pilot", "px4"), "--pilot goes with scenarios of vehicles"),
        (("run", "boat-field", "--solver", "dls"), "--solver goes with the task of an arm"),
        (("run", "arm-joints", "--solver", "dls"), "valid: leave --solver out"),
        (("run", "arm-plane", "--solver", "dsl"), "did you mean 'dls'"),
        (("run", "arm-plane", "--set", "motion.program=none.src"), "none.src"),
        (("sweep", "arm-plane", "--vary", "play.rate_hz=10,20"), "the task of an arm"),
        (("link", "px4", "arm-plane", "--once"), "the task of an arm"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_told_in_a_sentence(arguments: tuple[str, ...], told: str, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "r")) if arguments[0] != "link" else ()
    done = fieldworthy(*arguments, *out)
    assert done.exit_code != 0
    assert done.exception is not None
    assert isinstance(done.exception, FieldworthyError | SystemExit)
    assert told in f"{done.output} {done.exception}"
    assert not (tmp_path / "r").exists()


def test_replay_of_an_arms_run_says_how_to_play_it_again(two: Path, tmp_path: Path) -> None:
    fieldworthy("run", str(two), "--out", str(tmp_path / "r"))
    done = fieldworthy("replay", str(tmp_path / "r"), "--trial", "0")
    assert "which has no trials" in str(done.exception)
    assert "fieldworthy run" in str(done.exception)


def test_check_reads_everything_and_plans() -> None:
    done = fieldworthy("check", "arm-frames", "arm-joints", "--json")
    assert done.exit_code == 0, done.output
    frames, joints = json.loads(done.stdout)["scenarios"]
    assert frames["sound"]
    assert joints["sound"]
    assert "every waypoint can be reached by itself" in frames["checked"]
    assert any(line.startswith("whole path: 8 of 8 waypoints") for line in frames["checked"])


def test_list_shows_the_tasks_and_the_arms() -> None:
    listed = json.loads(fieldworthy("list", "--json").stdout)
    assert set(listed["arm tasks"]) == {"arm-cylinder", "arm-frames", "arm-joints", "arm-plane"}
    assert "kr10-r1100" in listed["arms"]


def test_help_mentions_arms() -> None:
    text = fieldworthy("run", "--help").stdout
    assert "--solver" in text
    assert "arm-plane" in text
