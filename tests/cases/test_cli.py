"""The command line as a person uses it: answers, files, exit codes, and what it says when something is wrong."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fieldworthy.cli import main as cli_main
from fieldworthy.scenario import built_in_names, load

Done = subprocess.CompletedProcess[str]


def run(*arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> Done:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "fieldworthy.cli.main", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        check=False,
    )


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A small campaign, and what --json printed of it."""
    folder = tmp_path_factory.mktemp("runs") / "field"
    done = run("run", "boat-field", "--trials", "6", "--seed", "3", "--out", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_json_says_what_the_run_folder_says(campaign: tuple[Path, dict[str, Any]]) -> None:
    folder, answer = campaign
    with (folder / "trials.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    won = [row for row in rows if row["outcome"] == "goal"]
    assert (answer["scenario"], answer["trials"], answer["seed"]) == ("boat-field", 6, 3)
    assert answer["success"]["rate"] == pytest.approx(len(won) / 6, abs=1e-6)
    low, high = answer["success"]["ci95"]
    assert 0.0 <= low <= answer["success"]["rate"] <= high <= 1.0
    assert answer["collisions"] == sum(row["outcome"] == "collision" for row in rows)
    assert answer["time_s"]["mean"] == pytest.approx(np.mean([float(row["time_s"]) for row in won]), abs=1e-3)
    assert answer["clearance_m"]["min"] == pytest.approx(min(float(row["clearance_m"]) for row in rows), abs=1e-3)
    assert answer["sim_s"] == pytest.approx(sum(float(row["time_s"]) for row in rows), abs=1e-2)
    assert answer["wall_s"] > 0.0
    assert Path(answer["report"]).read_text(encoding="utf-8").startswith("<!")
    assert json.loads((folder / "run.json").read_text(encoding="utf-8"))["seed"] == 3


def test_tracks_end_where_and_when_the_table_says(campaign: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = campaign
    tracks = np.load(folder / "trajectories.npz")
    with (folder / "trials.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row, length in enumerate(tracks["length"]):
        last = tracks["t_s"][length - 1]
        assert 0.0 <= last - float(rows[row]["time_s"]) < 0.1 + 1e-9
        assert np.isfinite(tracks["north_m"][row, :length]).all()
        assert np.isnan(tracks["north_m"][row, length:]).all()
        if rows[row]["outcome"] == "goal":
            assert np.hypot(tracks["north_m"][row, length - 1] - 100.0, tracks["east_m"][row, length - 1]) <= 5.0


def test_a_trial_flies_again_bit_for_bit_and_is_recorded(campaign: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    folder, _ = campaign
    done = run("replay", str(folder), "--trial", "4", "--record", "--out", str(tmp_path / "rec"), "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["agrees"]
    assert answer["differences"] == []
    mcap, table = (Path(path) for path in answer["recordings"])
    assert mcap.stat().st_size > 100_000
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    tracks = np.load(folder / "trajectories.npz")
    length = int(tracks["length"][4])
    assert len(rows) == length == answer["samples"]
    for name in ("north_m", "east_m", "clearance_m"):
        assert np.array_equal(np.float32([row[name] for row in rows]), tracks[name][4, :length])
    # The last row is where the trial came to rest, at its own time.
    assert float(rows[-1]["t_s"]) == pytest.approx(answer["time_s"], abs=1e-9)


def test_a_changed_track_is_noticed(campaign: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    folder, _ = campaign
    forged = tmp_path / "forged"
    forged.mkdir()
    for path in folder.iterdir():
        (forged / path.name).write_bytes(path.read_bytes())
    with np.load(folder / "trajectories.npz") as file:
        tracks = {name: file[name].copy() for name in file.files}
    tracks["east_m"][2, 40] = np.nextafter(tracks["east_m"][2, 40], np.float32(9.0))
    np.savez(forged / "trajectories.npz", **tracks)
    done = run("replay", str(forged), "--trial", "2")
    assert done.returncode == 1
    assert "differs: east_m differs from t = 4 s on" in done.stdout


@pytest.mark.slow
def test_a_sweep_flies_every_combination(tmp_path: Path) -> None:
    done = run(
        "sweep", "boat-buoy", "--trials", "3", "--out", str(tmp_path / "s"), "--json",
        "--set", "sensors.lidar.no_hit=omit",
        "--vary", "sensors.lidar.noise_m=0,0.1", "--vary", "control.parameters.compare=mean_range,points",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert [point["values"] for point in answer["points"]] == [
        {"sensors.lidar.noise_m": noise, "control.parameters.compare": word}
        for noise in (0, 0.1)
        for word in ("mean_range", "points")
    ]
    assert (tmp_path / "s" / "report.html").stat().st_size > 1000
    assert (tmp_path / "s" / "point-003" / "report.html").exists()


def test_help_and_list_do_not_wait_for_the_compiler() -> None:
    script = (
        "import sys; from fieldworthy.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "slow = {'drjit', 'mitsuba', 'numpy', 'shapely', 'rich'} & set(sys.modules)\n"
        "assert not slow, slow"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "sweep" in done.stdout


@pytest.mark.slow
def test_the_new_scenario_is_sound_and_flies(tmp_path: Path) -> None:
    assert run("new", "mine.toml", cwd=tmp_path).returncode == 0
    assert load(tmp_path / "mine.toml").name == "mine"
    done = run("check", "mine.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = run("new", "mine.toml", cwd=tmp_path)
    assert again.returncode == 2
    assert "is there already" in again.stderr


@pytest.mark.slow
def test_built_in_scenarios_are_sound() -> None:
    runner = CliRunner()
    result = runner.invoke(cli_main.cli, ["check", *built_in_names()])
    assert result.exit_code == 0, result.output
    assert result.output.count(": sound") == len(built_in_names())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["rum"], "did you mean 'run'"),
        (["run", "boat-bouy"], "did you mean 'boat-buoy'"),
        (["run", "missing.toml"], "missing.toml"),
        (["run", "boat-buoy", "--trials", "0"], "x>=1"),
        (["run", "boat-buoy", "--set", "sensors.lidar.noise_m=-1"], "too small"),
        (["run", "boat-buoy", "--set", "sensors.lidar.noise_m=nan"], "finite"),
        (["run", "boat-buoy", "--set", "goal.radius_m=wide"], "radius_m"),
        (["run", "boat-buoy", "--set", "control.controller=sektor"], "did you mean 'sector'"),
        (
            [
                "run",
                "boat-buoy",
                *[x for k in ("north", "east") for x in ("--set", f"obstacles.0.spread_{k}_m=0")],
                "--set",
                "start.north_m=50",
                "--set",
                "start.spread_east_m=0",
            ],
            "starts inside or touching buoy",
        ),
        (["run", "boat-channel", "--set", "obstacles.0.width_m=0.9"], "wider than the channel"),
        (["run", "boat-channel", "--set", "obstacles.0.width_m=1.8", "--set", "obstacles.0.spread_width_m=0"], "wide"),
        (["run", "boat-field-35", "--set", "scatter.0.gap_m=30"], "no room for all shapes"),
        (["sweep", "boat-buoy"], "--vary"),
        (["sweep", "boat-buoy", "--vary", "noise"], "PATH=VALUE"),
        (["sweep", "boat-buoy", "--vary", "sensors.lidar.nose_m=1,2"], "did you mean 'noise_m'"),
        (["replay", "nowhere", "--trial", "0"], "no run folder"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments: list[str], sentence: str, tmp_path: Path) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir()), "something half-written was left"


def test_a_trial_that_is_not_there(campaign: tuple[Path, dict[str, Any]]) -> None:
    done = run("replay", str(campaign[0]), "--trial", "99")
    assert done.returncode == 2
    assert "6 trials finished, numbered 0 to 5" in done.stderr


def test_an_out_folder_in_use_is_refused_before_anything_is_flown(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("keep")
    done = run("run", "boat-buoy", "--out", str(tmp_path / "taken"))
    assert done.returncode == 2
    assert "is there already" in done.stderr
    assert (tmp_path / "taken" / "mine.txt").read_text() == "keep"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits and signals")
def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    program = f"{sys.executable} -m fieldworthy.cli.main"
    command = f"ulimit -f 8; exec {program} run boat-buoy --trials 2 --out {tmp_path / 'r'}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2, done.stderr
    assert f"cannot write {tmp_path / 'r'}" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits and signals")
def test_ctrl_c_keeps_the_finished_trials(tmp_path: Path) -> None:
    scenario = tmp_path / "long.toml"
    # Starts spread along the course: some trials are done at once, others take minutes.
    scenario.write_text(
        'schema = 1\nname = "long"\ntrials = 200\nduration_s = 5000.0\n[vehicle]\nmodel = "boat-5m"\n'
        "[start]\nspread_north_m = 9000.0\n[goal]\nnorth_m = 9500.0\neast_m = 0.0\nradius_m = 300.0\n"
        '[control]\ncontroller = "straight"\n',
        encoding="utf-8",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "fieldworthy.cli.main", "run", str(scenario), "--out", str(tmp_path / "run"), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    # Progress comes every few seconds: interrupt when it says that some trials, but not all, have finished.
    for line in process.stderr:
        told = re.search(r"(\d+) of 200 trials", line)
        if told and int(told.group(1)) > 0:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    answer = json.loads(out)
    assert 0 < answer["finished"] < 200
    assert f"{answer['finished']} of 200 trials had finished and are kept" in err
    assert "not a fair sample" in err
    facts = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert facts["interrupted"]
    assert len((tmp_path / "run" / "trials.csv").read_text().splitlines()) == answer["finished"] + 1


def test_a_controller_that_fails_ends_the_run_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "breaks.py").write_text(
        "import fieldworthy as fw\n"
        "class Breaks:\n"
        "    reads_deg = None\n"
        "    def command(self, readings, parameters):\n"
        "        if readings.t_s > 1.0: raise ValueError('lost the plot')\n"
        "        return fw.Command(1.0, 0.0)\n"
    )
    (tmp_path / "s.toml").write_text(
        'schema = 1\nname = "s"\ntrials = 2\n[vehicle]\nmodel = "boat-5m"\n[goal]\nnorth_m = 50.0\neast_m = 0.0\n'
        '[control]\ncontroller = "breaks:Breaks"\n'
    )
    done = run("run", "s.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "breaks:Breaks" in done.stderr
    assert "lost the plot" in done.stderr
    assert "breaks.py" in done.stderr, "the place in the user's file is named"


def test_without_a_usable_llvm_the_remedy_is_named(tmp_path: Path) -> None:
    done = run("run", "boat-buoy", cwd=tmp_path, env={"DRJIT_LIBLLVM_PATH": str(tmp_path / "libLLVM.so")})
    assert done.returncode == 2
    assert "no such file" in done.stderr
    assert "version 19 or newer" in done.stderr
    doctor = run("doctor", env={"DRJIT_LIBLLVM_PATH": str(tmp_path / "libLLVM.so")})
    assert doctor.returncode == 2
    assert "version 19 or newer" in doctor.stderr


def test_an_unknown_device_is_refused() -> None:
    done = run("doctor", env={"FIELDWORTHY_DEVICE": "tpu"})
    assert done.returncode == 2
    assert "valid: llvm, cuda" in done.stderr
