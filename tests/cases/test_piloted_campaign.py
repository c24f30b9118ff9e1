"""Campaigns that an autopilot flies, from the command to the run folder and back, with a small autopilot of our own.

The autopilot is tests/autopilots/flying_px4.py, started as the user's PX4 is; where real ones are not, and they are not
where tests usually run, this is the whole way. Instances are 40 and up: real autopilots on this machine use the first.

Long because every way in which a campaign goes wrong has its test here, on one stage.
"""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastcrc")
pytest.importorskip("pymavlink")

import fieldworthy
from fieldworthy.cli.main import main
from fieldworthy.links import ground_station
from fieldworthy.links.ground_station import Phase
from fieldworthy.scenario import Scenario, load
from fieldworthy.scenario.build import build
from fieldworthy.trials import piloted
from fieldworthy.trials.pilot import WARM_UP_S, Pilot
from fieldworthy.trials.piloted import fly_piloted
from fieldworthy.trials.replay import replay
from fieldworthy.trials.result import Result
from fieldworthy.trials.save import save

pytestmark = pytest.mark.skipif(os.name == "nt", reason="autopilots have no programs for Windows")

AUTOPILOT = Path(__file__).parents[1] / "autopilots" / "flying_px4.py"
GROUND_S = 3.0
SHORT = [
    "waypoints=[{north_m=0.0,east_m=0.0,up_m=3.0,radius_m=2.0},{north_m=5.0,east_m=0.0,up_m=3.0,radius_m=2.0}]",
    "goal={north_m=0.0,east_m=3.0,up_m=4.0,radius_m=2.0,hold_s=1.0}",
]
"""Up, 5 m along, and back: 6 s of flight."""
LOITERS = [SHORT[0], "goal={north_m=0.0,east_m=3.0,up_m=4.0,radius_m=2.0,hold_s=100.0}"]
"""The same, and stay there."""

Make = Callable[..., Path]


@pytest.fixture
def px4(tmp_path: Path) -> Make:
    """Makes the user's own PX4: the bin and etc of a build."""
    return lambda **wishes: build_of(tmp_path / "px4", **wishes)


def build_of(folder: Path, only: str = "true", **wishes: object) -> Path:
    """A build whose program misbehaves as `wishes` say where the shell's `only` holds; $n counts its starts."""
    (folder / "bin").mkdir(parents=True)
    (folder / "etc" / "init.d-posix" / "airframes").mkdir(parents=True)
    (folder / "etc" / "init.d-posix" / "rcS").write_text("# a start script")
    (folder / "etc" / "init.d-posix" / "airframes" / "10016_none_iris").write_text("# an airframe")
    set_them = "".join(f'export FLYING_PX4_{name}="{value}"; ' for name, value in wishes.items())
    program = folder / "bin" / "px4"
    program.write_text(
        f"#!/bin/sh\necho $$ >> '{folder}/started'\nn=$(grep -nx $$ '{folder}/started' | tail -1 | cut -d: -f1)\n"
        f"if {only}; then {set_them or ':'}\nfi\n"
        f"export PYTHONPATH='{Path(fieldworthy.__file__).parents[1]}'\nexec '{sys.executable}' '{AUTOPILOT}' \"$@\"\n"
    )
    program.chmod(0o755)
    return program


def started(program: Path) -> list[int]:
    """Process numbers of all starts."""
    file = program.parents[1] / "started"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def still_there(pids: list[int], session: int | None = None) -> list[str]:
    """Command lines of those processes, of their watchdogs, and of a session's, that have not ended."""
    found = []
    shown = subprocess.run(["ps", "-ww", "-eo", "pid=,sess=,stat=,args="], capture_output=True, text=True, check=True)
    for line in shown.stdout.splitlines():
        pid, of, state, words = line.split(None, 3)
        watches = "fieldworthy-watchdog" in words and words.split()[-1] in map(str, pids)
        if (int(pid) in pids or watches or of == str(session)) and not state.startswith("Z"):
            found.append(line)
    return found


def left_behind(pids: list[int], session: int | None = None) -> list[str]:
    """The same once they have had a moment to end: helpers of multiprocessing end after their parent."""
    until = time.monotonic() + 5.0
    while (found := still_there(pids, session)) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def command(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """The command line in this process: (exit code, stdout, stderr)."""
    code = 0
    try:
        main([str(word) for word in words])
    except SystemExit as stop:
        code = int(stop.code or 0)
    return code, *capsys.readouterr()


def flown(program: Path, instance: int, scenario: list[str], trials: Any = 1, **options: Any) -> Result:
    """A campaign in this process."""
    jobs, logs = options.pop("jobs", 1), options.pop("logs", None)
    options.setdefault("warm_up_s", GROUND_S)
    pilot = Pilot("px4", program, first_instance=instance, **options)
    return fly_piloted(load("quad-mission", scenario), pilot, trials, jobs=jobs, logs=logs)


def short() -> Scenario:
    return load("quad-mission", SHORT)


# ------------------------------------------------------------------------------------------- one that goes well


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of two trials, as a person flies them."""
    folder = tmp_path_factory.mktemp("campaign")
    program = build_of(folder / "px4")
    settings = [word for setting in SHORT for word in ("--set", setting)]
    pilot = ["--pilot", "px4", "--binary", str(program), "--jobs", "1", "--instance", "40", "--param", "MPC_Z=2.5"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(WARM_UP_S, "px4", GROUND_S)  # type: ignore[arg-type]
        main(["run", "quad-mission", *pilot, *settings, "--trials", "2", "--out", str(folder / "run"), "--json"])
    assert len(started(program)) == 2
    assert left_behind(started(program)) == []
    return folder / "run"


def test_every_trial_reaches_the_goal_and_the_run_folder_is_whole(campaign: Path) -> None:
    assert {path.relative_to(campaign).as_posix() for path in campaign.rglob("*") if path.is_file()} >= {
        "scenario.toml", "run.json", "summary.json", "trials.csv", "trajectories.npz", "layouts.json", "report.html",
        "commands.npz", "autopilot.json", "autopilot/trial-0.log", "autopilot/trial-1.log",
    }  # fmt: skip
    assert list(campaign.parent.glob(".*")) == []
    with (campaign / "trials.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["trial"], row["outcome"]) for row in rows] == [("0", "goal"), ("1", "goal")]
    # 3 m up, 5 m along at 5 m/s at most and 5.9 m back: seconds, and after the time on the ground.
    for row in rows:
        assert GROUND_S + 2.0 < float(row["time_s"]) < GROUND_S + 15.0
        assert float(row["path_m"]) > 3.0 - 0.23 + 5.0 - 2.0
    assert "flying_px4, instance 40, airframe none_iris" in (campaign / "autopilot" / "trial-1.log").read_text()


def test_the_run_folder_says_who_flew(campaign: Path) -> None:
    facts = json.loads((campaign / "run.json").read_text())
    pilot = facts["pilot"]
    assert (pilot["kind"], pilot["parameters"], pilot["ground_s"]) == ("px4", {"MPC_Z": 2.5}, GROUND_S)
    assert pilot["binary"].endswith("/px4/bin/px4")
    assert re.fullmatch("[0-9a-f]{64}", pilot["sha256"])
    said = json.loads((campaign / "autopilot.json").read_text())
    assert said["pilot"] == pilot
    for trial in ("0", "1"):
        (words,) = said["trials"][trial]["texts"]
        assert (words["text"], words["severity"]) == ("Armed by external command", 6)
        assert words["t_s"] == pytest.approx(GROUND_S, abs=0.5)  # not before the time on the ground is over
        assert said["trials"][trial]["outcome"] == "goal"
    # One command an exchange, at 250 Hz, from the start to the end.
    with np.load(campaign / "commands.npz") as commands, np.load(campaign / "trajectories.npz") as tracks:
        for row, trial in enumerate((0, 1)):
            given = commands[f"trial_{trial}"]
            last_s = tracks["t_s"][tracks["length"][row] - 1]
            assert len(given) == pytest.approx(250.0 * last_s, abs=11)  # samples are 40 ms apart
            assert (given[: round(GROUND_S * 250), :4] == 0.0).all()
            assert 0.5 < given[-1, :4].mean() < 0.8  # hovers at sqrt(m g / 4 k_f) = 0.67 of the greatest speed


def test_the_report_names_the_autopilot(campaign: Path) -> None:
    page = (campaign / "report.html").read_text(encoding="utf-8")
    assert "px4" in page
    assert "MPC_Z" in page


def test_what_is_drawn_does_not_depend_on_who_flies(campaign: Path) -> None:
    with (campaign / "trials.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    drawn = build(short(), [0, 1]).drawn
    assert drawn.keys() == {"vehicle.mass_kg", "air.wind_speed_m_s"}
    for name, values in drawn.items():
        assert [float(row[name]) for row in rows] == pytest.approx(values, rel=1e-8)  # nine digits are written
        assert values[0] != values[1]


def test_a_trial_flies_again_bit_for_bit(campaign: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for trial in (0, 1):
        code, out, err = command(capsys, "replay", campaign, "--trial", trial)
        assert (code, err) == (0, "")
        assert "goal after" in out
        assert re.search(r"every bit of \d+ samples agrees", out)
    pytest.importorskip("mcap")
    code, out, _ = command(capsys, "replay", campaign, "--trial", 1, "--record", "--out", tmp_path, "--json")
    answer = json.loads(out)
    assert (code, answer["agrees"], answer["outcome"]) == (0, True, "goal")
    with (tmp_path / "trial-1.csv").open(encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    with np.load(campaign / "trajectories.npz") as tracks:
        assert len(lines) - 1 == answer["samples"] == tracks["length"][1]


def test_another_command_is_seen(campaign: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is compared is not empty: one throttle a hair higher for 4 ms, and the bits differ from there on."""
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(campaign, copy)
    with np.load(copy / "commands.npz") as file:
        commands = dict(file)
    commands["trial_0"][round((GROUND_S + 2.0) * 250), 2] += 1e-6
    np.savez_compressed(copy / "commands.npz", **commands)
    code, out, _ = command(capsys, "replay", copy, "--trial", 0)
    assert code == 1
    assert "up_m differs from t = 5.0" in out
    (copy / "commands.npz").unlink()
    code, _, err = command(capsys, "replay", copy, "--trial", 0)
    assert code == 2
    assert "commands.npz and autopilot.json do not have trial 0 whole" in err


# ------------------------------------------------------------------------------------------- trials that do not


def test_a_lost_rotor_crashes_it_so_long_after_the_start_of_the_mission(px4: Make) -> None:
    """At 5 s: that many after the time on the ground. Three rotors cannot hold a quad level."""
    faults = "faults=[{kind='rotor-loss',part=1,at_s=5.0}]"
    result = flown(px4(), 41, [*LOITERS, faults], [4])
    assert result.outcome.tolist() == ["collision"]
    assert "rotor 1 had lost its thrust at 8.0 s" in result.why[0]
    tilt = np.hypot(result.tracks["roll_rad"][0], result.tracks["pitch_rad"][0])
    lost = round((GROUND_S + 5.0) * 25.0)
    assert np.max(tilt[:lost]) < 0.7  # what the autopilot leans by itself
    assert np.nanmax(tilt[lost : lost + 25]) > 1.0
    assert GROUND_S + 5.0 < result.time_s[0] < GROUND_S + 9.0
    assert result.trial.tolist() == [4]
    alone = build(load("quad-mission", LOITERS), [4]).drawn
    assert {name: values[0] for name, values in result.parameters.items()} == {k: v[0] for k, v in alone.items()}


def test_denied_arming_is_told_in_the_autopilots_own_words(px4: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ground_station.DEADLINES_S, Phase.ARM, 1.0)  # type: ignore[attr-defined]
    result = flown(px4(DENIES="Preflight Fail: Compass Sensor 0 missing"), 42, SHORT, [1])
    assert result.outcome.tolist() == ["gave up"]
    assert "arming" in result.why[0]
    assert "MAV_RESULT_TEMPORARILY_REJECTED" in result.why[0]
    assert "'Preflight Fail: Compass Sensor 0 missing'" in result.why[0]
    assert result.texts[0][0][1:] == (4, "Preflight Fail: Compass Sensor 0 missing")
    assert result.time_s[0] == pytest.approx(len(result.commands[0]) / 250.0)
    assert result.time_s[0] > GROUND_S + 1.0
    assert (result.tracks["up_m"][0] < 0.3).all()
    assert result.summary()["outcomes"]["gave up"] == 1


def test_a_refused_mission_is_told_and_saved(px4: Make, tmp_path: Path) -> None:
    result = flown(px4(REFUSES_MISSION=1), 43, SHORT)
    assert result.outcome.tolist() == ["gave up"]
    assert "uploading the mission: the mission is refused with MAV_MISSION_INVALID_PARAM2" in result.why[0]
    assert "'Mission rejected: first waypoint too far'" in result.why[0]
    folder = save(result, tmp_path / "run")
    assert replay(folder, 0).agrees
    assert replay(folder, 0).result.outcome.tolist() == ["gave up"]
    assert "first waypoint too far" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_disarming_in_the_air_is_a_crash(px4: Make) -> None:
    result = flown(px4(DISARMS_AT_S=3.0), 44, LOITERS)
    assert result.outcome.tolist() == ["collision"]
    assert GROUND_S + 3.0 < result.time_s[0] < GROUND_S + 5.0  # from 4 m: 0.9 s


@pytest.mark.slow
def test_one_that_dies_in_the_air_is_lost_and_the_others_fly_on(px4: Make, tmp_path: Path) -> None:
    program = px4(only="[ $n -eq 1 ]", EXITS_AT_S=2.0)
    result = flown(program, 45, SHORT, 2, logs=tmp_path / "logs")
    assert (result.outcome.tolist(), result.stopped_by) == (["link lost", "goal"], "")
    assert "link lost at " in result.why[0]
    assert "PX4" in result.why[0]
    # Where it ends is where it was lost: 2 s after arming, and just so many commands have been given.
    assert result.time_s[0] == pytest.approx(len(result.commands[0]) / 250.0)
    assert result.time_s[0] == pytest.approx(GROUND_S + 2.0, abs=0.3)
    assert f"{result.time_s[0]:.3f} s" in result.why[0]
    assert result.t_s[result.length[0] - 1] == pytest.approx(result.time_s[0], abs=0.04)
    assert result.tracks["up_m"][0, result.length[0] - 1] > 1.0
    assert "a segmentation fault, say" in (tmp_path / "logs" / "trial-0.log").read_text()
    folder = save(result, tmp_path / "run")
    for trial in (0, 1):
        again = replay(folder, trial)
        assert again.differences == ()
        assert again.result.outcome[0] == result.outcome[trial]
        assert again.result.time_s[0] == result.time_s[trial]
    assert json.loads((folder / "summary.json").read_text())["outcomes"]["link lost"] == 1
    assert left_behind(started(program)) == []


@pytest.mark.slow
def test_one_that_falls_silent_is_lost(px4: Make) -> None:
    program = px4(SILENT_AT_S=1.0)
    result = flown(program, 46, SHORT, patience_s=0.5)
    assert result.outcome.tolist() == ["link lost"]
    assert "has not answered" in result.why[0]
    assert left_behind(started(program)) == []


# ------------------------------------------------------------------------------------------- what cannot begin


def piloted_run(program: Path, instance: int, out: Path, *more: str) -> list[str]:
    return ["run", "quad-mission", "--pilot", "px4", "--binary", str(program), "--instance", str(instance),
            "--jobs", "1", "--trials", "2", "--out", str(out), *more]  # fmt: skip


def test_one_that_never_comes_stops_the_run(
    px4: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(piloted, "ARRIVES_S", 1.0)
    program = px4(NEVER_COMES=1)
    code, _, err = command(capsys, *piloted_run(program, 47, tmp_path / "out" / "run"))
    assert code == 2
    assert "PX4 has not come to TCP 127.0.0.1:4607 in 1 s" in err
    assert "Waiting for simulator to accept connection" in err
    assert "0 of 2 trials had finished" in err
    assert len(started(program)) == 1
    assert left_behind(started(program)) == []
    assert not (tmp_path / "out").exists()


def test_one_that_ends_at_once_stops_the_run(px4: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = command(capsys, *piloted_run(px4(SAYS="Error: no airframe"), 48, tmp_path / "out" / "run"))
    assert code == 2
    assert "PX4 ended with exit status 1" in err
    assert "Error: no airframe" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_one_that_starts_no_more_leaves_what_was_flown(
    px4: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    settings = [word for setting in SHORT for word in ("--set", setting)]
    program = px4(only="[ $n -eq 2 ]", SAYS="Error: the disk is full")
    code, _, err = command(capsys, *piloted_run(program, 49, tmp_path / "run", *settings))
    assert code == 2
    assert "Error: the disk is full" in err
    assert "1 of 2 trials had finished and are kept" in err
    assert json.loads((tmp_path / "run" / "run.json").read_text())["finished"] == 1
    assert replay(tmp_path / "run", 0).agrees


def test_a_port_that_is_taken_is_named(px4: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 4560 + 50))
        other.listen()
        program = px4()
        code, _, err = command(capsys, *piloted_run(program, 50, tmp_path / "out" / "run"))
    assert code == 2
    assert "TCP 127.0.0.1:4610: taken by another program" in err
    assert "another --instance" in err
    assert not (tmp_path / "out").exists()
    assert started(program) == []


def test_wrong_programs_and_options_are_refused(px4: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program, out = px4(), tmp_path / "out" / "run"
    (tmp_path / "copter").write_bytes(b"\x7fELF ArduCopter V4.7")
    (tmp_path / "copter").chmod(0o755)
    loose = tmp_path / "loose" / "bin" / "px4"  # without etc beside bin
    loose.parent.mkdir(parents=True)
    loose.write_text(program.read_text())
    loose.chmod(0o755)
    for words, sentence in (
        (("--pilot", "px4", "--binary", tmp_path / "nothing"), "nothing is not there; valid: a PX4"),
        (("--pilot", "px4", "--binary", tmp_path), "is a folder; valid: a PX4"),
        (("--pilot", "px4", "--binary", sys.executable), "is some other program, and PX4 was asked for"),
        (("--pilot", "px4", "--binary", tmp_path / "copter"), "is ArduCopter, and PX4 was asked for"),
        (("--pilot", "px4", "--binary", loose), "valid: the px4 in the bin folder of a build"),
        (("--pilot", "px4"), "--pilot px4 needs the autopilot's program; valid: --binary"),
        (("--binary", program), "--binary goes with --pilot"),
        (("--jobs", "2"), "--jobs goes with --pilot"),
        (("--instance", "3"), "--instance goes with --pilot"),
        (("--param", "A=1"), "--param goes with --pilot"),
        (("--pilot", "px4", "--binary", program, "--param", "A"), "not a parameter; valid: NAME=NUMBER"),
        (("--pilot", "px4", "--binary", program, "--airframe", "none"), "'none' does not use the simulator link"),
        (("--pilot", "vim", "--binary", program), "'vim' is not one of"),
    ):
        code, printed, err = command(capsys, "run", "quad-mission", "--out", out, *words)
        assert (code, printed) == (2, ""), words
        assert sentence in " ".join(err.replace("│", " ").split()), words
        assert "Traceback" not in err
        assert not (tmp_path / "out").exists()
    assert started(program) == []


def test_a_boat_is_not_px4s(px4: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ("--pilot", "px4", "--binary", px4(), "--airframe", "none_iris", "--instance", "51", "--jobs", "1")
    code, _, err = command(capsys, "run", "boat-buoy", *words, "--trials", "1", "--out", tmp_path / "out" / "run")
    assert code == 2
    assert "boats sail with ArduPilot Rover here" in err
    assert not (tmp_path / "out").exists()


# ------------------------------------------------------------------------------------------- Ctrl-C, side by side


class Running:
    """The command in a process and a session of its own."""

    def __init__(self, words: list[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fieldworthy.cli.main", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(Path(fieldworthy.__file__).parents[1])},
        )  # fmt: skip

    def until(self, so: Callable[[], bool], limit_s: float = 60.0) -> None:
        until = time.monotonic() + limit_s
        while not so():
            assert time.monotonic() < until, "it did not come to that"
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.02)

    def interrupt(self) -> tuple[int, str]:
        """Ctrl-C, which a terminal gives to all of its group: (exit code, stderr)."""
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            _, err = self.process.communicate(timeout=12.0)  # an autopilot may be silent for 20 s
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise
        return self.process.returncode, err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("jobs", "then"), [(1, {"NEVER_COMES": 1}), (1, {"SILENT_AT_S": 1.0}), (2, {"SILENT_AT_S": 1.0})]
)
def test_ctrl_c_keeps_what_has_finished_and_leaves_nobody_behind(
    px4: Make, tmp_path: Path, jobs: int, then: dict[str, Any]
) -> None:
    program = px4(only="[ $n -ge 2 ]", **then)
    settings = [word for setting in SHORT for word in ("--set", setting)]
    words = piloted_run(program, 52, tmp_path / "run", "--jobs", str(jobs), "--trials", "4", *settings)
    run = Running(words)
    run.until(lambda: len(started(program)) > jobs)  # one has flown, and another has taken its place
    time.sleep(0.7)
    code, err = run.interrupt()
    assert code == 130, err
    assert "stopped by Ctrl-C: 1 of 4 trials had finished and are kept" in err
    assert "Traceback" not in err
    facts = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (facts["finished"], facts["stopped_by"]) == (1, "Ctrl-C")
    with np.load(tmp_path / "run" / "commands.npz") as commands:
        (kept,) = commands.files
    assert replay(tmp_path / "run", int(kept.removeprefix("trial_"))).agrees
    assert left_behind(started(program), run.process.pid) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["px4", "run"]


@pytest.mark.slow
def test_ctrl_c_before_anything_has_finished_leaves_no_folder(px4: Make, tmp_path: Path) -> None:
    program = px4(NEVER_COMES=1)
    run = Running(piloted_run(program, 53, tmp_path / "run", "--jobs", "2"))
    run.until(lambda: len(started(program)) >= 1)
    time.sleep(0.5)
    code, err = run.interrupt()
    assert code == 130, err
    assert "stopped by Ctrl-C: 0 of 2 trials had finished" in err
    assert "Traceback" not in err
    assert left_behind(started(program), run.process.pid) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["px4"]


@pytest.mark.slow
def test_ctrl_c_while_the_processes_of_the_trials_begin(px4: Make, tmp_path: Path) -> None:
    """They import for a second, and must not end by themselves in it."""
    program = px4()
    run = Running(piloted_run(program, 54, tmp_path / "run", "--jobs", "2"))
    run.until(lambda: len(still_there([], run.process.pid)) >= 3)  # ours, the resource tracker, and the first of them
    code, err = run.interrupt()
    assert code == 130, err
    assert "stopped by Ctrl-C: 0 of 2 trials had finished" in err
    assert "Traceback" not in err
    assert left_behind(started(program), run.process.pid) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["px4"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds the process by Linux's ps")
def test_a_trials_process_that_is_killed_stops_the_run(px4: Make, tmp_path: Path) -> None:
    """As by a machine that runs out of memory: a sentence, and its autopilot goes with it."""
    program = px4(SILENT_AT_S=1.0)
    run = Running(piloted_run(program, 58, tmp_path / "run", "--jobs", "2"))
    run.until(lambda: len(started(program)) == 2)
    workers = [line for line in still_there([], run.process.pid) if "spawn_main" in line]
    os.kill(int(workers[0].split()[0]), signal.SIGKILL)
    _, err = run.process.communicate(timeout=30.0)
    assert run.process.returncode == 2, err
    assert "its process has been ended from outside: 0 of 2 trials had finished" in err
    assert "Traceback" not in err
    assert left_behind(started(program), run.process.pid) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["px4"]


@pytest.mark.slow
def test_trials_side_by_side_are_those_one_after_the_other(px4: Make) -> None:
    """The autopilot answers its ground station before each step, so time on the wall does not matter to it."""
    program = px4()
    apart, beside = flown(program, 55, SHORT, 3), flown(program, 56, SHORT, 3, jobs=2)
    assert beside.trial.tolist() == apart.trial.tolist() == [0, 1, 2]
    assert beside.outcome.tolist() == apart.outcome.tolist() == ["goal"] * 3
    for name, values in apart.parameters.items():
        np.testing.assert_array_equal(beside.parameters[name], values)
    assert beside.time_s == pytest.approx(apart.time_s, abs=0.5)
    assert len(set(started(program))) == 6
    assert left_behind(started(program)) == []
