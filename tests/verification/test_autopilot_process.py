"""Starting and ending an autopilot, with small scripts in its place: what is left afterwards is nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fieldworthy.links import autopilot_process
from fieldworthy.links.autopilot_process import (
    AutopilotCommand,
    AutopilotProcess,
    AutopilotProcessError,
    ardupilot_command,
    px4_command,
)

SOURCE = Path(autopilot_process.__file__).parents[2]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="PX4 and ArduPilot have no programs for Windows itself")


def script(folder: Path, body: str, name: str = "autopilot") -> Path:
    """A program of a few lines of Python that starts in some 20 ms."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable} -IS\nimport os, signal, sys, time\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def command(program: Path, *arguments: str, name: str = "PX4", **files: str) -> AutopilotCommand:
    return AutopilotCommand(name, (str(program), *arguments), {**os.environ, "MARK": "here"}, files)


def soon(true: Callable[[], bool], limit_s: float = 2.0) -> bool:
    end = time.monotonic() + limit_s
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has collected yet does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.strip().startswith("Z")


SLEEPER = "print('\\x1b[32mready\\x1b[0m', flush=True)\ntime.sleep(60)"
STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SLEEPER
PARENT = (
    "pid = os.fork()\nif pid: print('child', pid, flush=True)\nelse: signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
)


def test_it_runs_in_a_fresh_folder_which_is_gone_afterwards(tmp_path: Path) -> None:
    body = "print(os.getcwd(), os.environ['MARK'], sys.argv[1:], open('a.parm').read(), sorted(os.listdir()))\n"
    program = script(tmp_path, body + "print(repr(sys.stdin.read()), flush=True)\n" + SLEEPER)
    folders = []
    for _ in range(2):
        with AutopilotProcess(command(program, "-i", "3", **{"a.parm": "X 1"})) as autopilot:
            assert autopilot.folder is not None
            folders.append(autopilot.folder)
            assert soon(lambda: "ready" in autopilot.last_words())
            assert autopilot.poll() is None
            autopilot.check()
            told = f"{autopilot.folder} here ['-i', '3'] X 1 ['a.parm', 'autopilot.log']\n''\nready"
            assert autopilot.last_words() == told
        assert autopilot.folder is None
        assert autopilot.last_words(1) == "ready"
    assert folders[0] != folders[1]
    assert not any(folder.exists() for folder in folders)


def test_the_log_is_kept_where_it_was_asked_for(tmp_path: Path) -> None:
    kept = tmp_path / "trials" / "7" / "autopilot.log"
    with AutopilotProcess(command(script(tmp_path, SLEEPER)), log_to=kept) as autopilot:
        assert soon(lambda: "ready" in autopilot.last_words())
    assert kept.read_bytes() == b"\x1b[32mready\x1b[0m\n"
    assert [path.name for path in kept.parent.iterdir()] == ["autopilot.log"]


def test_one_that_ends_at_once_is_quoted(tmp_path: Path) -> None:
    kept = tmp_path / "log"
    program = script(tmp_path, "print('\\x1b[31mERROR\\x1b[0m [init] Unknown model \\r\\n\\n')\nsys.exit(3)")
    autopilot = AutopilotProcess(command(program), log_to=kept, settle_s=5.0)
    began = time.monotonic()
    with pytest.raises(AutopilotProcessError) as caught:
        autopilot.start()
    assert time.monotonic() - began < 2.0
    assert str(caught.value) == "PX4 ended with exit status 3; its last words:\nERROR [init] Unknown model"
    assert autopilot.folder is None
    assert kept.exists()


def test_one_that_dies_later_is_noticed_with_its_signal(tmp_path: Path) -> None:
    program = script(tmp_path, "time.sleep(0.3)\nos.kill(os.getpid(), signal.SIGABRT)")
    with AutopilotProcess(command(program, name="ArduCopter"), settle_s=0.0) as autopilot:
        assert soon(lambda: autopilot.poll() is not None)
        assert autopilot.poll() == -signal.SIGABRT
        with pytest.raises(AutopilotProcessError, match="ArduCopter was ended by SIGABRT; it has said nothing"):
            autopilot.check()


def test_one_that_ignores_sigterm_is_killed_after_a_short_wait(tmp_path: Path) -> None:
    with AutopilotProcess(command(script(tmp_path, STUBBORN)), patience_s=0.2) as autopilot:
        assert soon(lambda: "ready" in autopilot.last_words())
        pid = autopilot.pid
        assert pid is not None
        began = time.monotonic()
    assert 0.2 <= time.monotonic() - began < 1.5
    assert not alive(pid)
    assert autopilot.poll() == -signal.SIGKILL
    autopilot.stop()


def test_one_that_obeys_sigterm_costs_no_wait(tmp_path: Path) -> None:
    with AutopilotProcess(command(script(tmp_path, SLEEPER)), patience_s=30.0) as autopilot:
        assert soon(lambda: "ready" in autopilot.last_words())
        began = time.monotonic()
    assert time.monotonic() - began < 5.0
    assert autopilot.poll() == -signal.SIGTERM


def child_of(autopilot: AutopilotProcess) -> int:
    assert soon(lambda: "ready" in autopilot.last_words() and "child" in autopilot.last_words())
    return int(autopilot.last_words().split("child ")[1].split()[0])


def test_its_children_end_with_it(tmp_path: Path) -> None:
    with AutopilotProcess(command(script(tmp_path, PARENT + SLEEPER))) as autopilot:
        child = child_of(autopilot)
        assert alive(child)
    assert soon(lambda: not alive(child))


def test_children_of_one_that_has_ended_end_too(tmp_path: Path) -> None:
    program = script(tmp_path, PARENT + "if pid: time.sleep(0.2); sys.exit(0)\n" + SLEEPER)
    with AutopilotProcess(command(program), settle_s=0.0) as autopilot:
        child = child_of(autopilot)
        assert soon(lambda: autopilot.poll() == 0)
        assert soon(lambda: not alive(child))


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_nothing_is_left_after_an_exception(tmp_path: Path, error: type[BaseException]) -> None:
    autopilot = AutopilotProcess(command(script(tmp_path, STUBBORN)), patience_s=0.0)

    def fly() -> None:
        with autopilot:
            assert autopilot.pid is not None
            assert alive(autopilot.pid)
            raise error

    with pytest.raises(error):
        fly()
    assert autopilot.pid is not None
    assert not alive(autopilot.pid)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_nothing_is_left_when_we_are_killed(tmp_path: Path, name: str) -> None:
    program = script(tmp_path, STUBBORN)
    ours = script(
        tmp_path,
        f"sys.path.insert(0, {str(SOURCE)!r})\n"
        "from fieldworthy.links.autopilot_process import AutopilotCommand, AutopilotProcess\n"
        f"autopilot = AutopilotProcess(AutopilotCommand('PX4', ({str(program)!r},), dict(os.environ)))\n"
        "autopilot.start()\nprint(autopilot.pid, autopilot.folder, flush=True)\ntime.sleep(60)",
        "ours",
    )
    with subprocess.Popen([sys.executable, "-S", str(ours)], stdout=subprocess.PIPE, text=True) as us:
        try:
            assert us.stdout is not None
            pid, folder = us.stdout.readline().split()
            assert alive(int(pid))
        finally:
            us.send_signal(signal.Signals[name])
    assert soon(lambda: not alive(int(pid)))
    for path in sorted(Path(folder).iterdir()):  # a folder is all that is left, with the log in it
        path.unlink()
    Path(folder).rmdir()


def test_a_program_that_cannot_run_here_is_named(tmp_path: Path) -> None:
    program = tmp_path / "px4"
    program.write_bytes(b"\x7fELF of another machine")
    program.chmod(0o755)
    with pytest.raises(AutopilotProcessError, match=r"px4 cannot be started: .*valid: a PX4 that was built for this"):
        AutopilotProcess(command(program)).start()


def build(folder: Path, content: bytes = b"#!/bin/sh\n") -> Path:
    """The parts of a PX4 build that are looked at."""
    airframes = folder / "etc" / "init.d-posix" / "airframes"
    airframes.mkdir(parents=True)
    (airframes.parent / "rcS").touch()
    for name in ("10016_none_iris", "1030_gazebo-classic_plane", "4001_gz_x500", "10040_sihsim_quadx", "1011_a.post"):
        (airframes / name).touch()
    (folder / "bin").mkdir()
    program = folder / "bin" / "px4"
    program.write_bytes(content)
    program.chmod(0o755)
    return program


def test_the_command_for_px4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments: PX4's sitl_multiple_run.sh; variables: its rcS."""
    monkeypatch.setenv("PX4_SIM_HOSTNAME", "elsewhere")
    monkeypatch.setenv("PX4_PARAM_OLD", "1")
    monkeypatch.setenv("replay", "flight.ulg")
    program = build(tmp_path)
    made = px4_command(program, 2, parameters={"IMU_INTEG_RATE": 250, "MPC_X": 0.1}, speed_factor=5)
    assert made.arguments == (str(program), "-i", "2", "-d", str(tmp_path / "etc"))
    theirs = {name: value for name, value in made.environment.items() if name.startswith(("PX4_", "replay"))}
    assert theirs == {
        "PX4_SIM_MODEL": "none_iris",
        "PX4_SIM_SPEED_FACTOR": "5",
        "PX4_PARAM_IMU_INTEG_RATE": "250",
        "PX4_PARAM_MPC_X": "0.1",
    }
    assert made.environment["PATH"] == os.environ["PATH"]
    numbered = px4_command(program, model=10016).environment
    assert numbered["PX4_SYS_AUTOSTART"] == "10016"
    assert "PX4_SIM_MODEL" not in numbered


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("none", "model: 'none' does not use the simulator link of TCP 4560; valid: .*none_iris"),
        ("gz_x500", "does not use the simulator link of TCP 4560"),
        (10040, "does not use the simulator link of TCP 4560; valid: .*10016"),
        ("nome_iris", "is no airframe of .*; valid: none_iris"),
        (99, "is no airframe"),
    ],
)
def test_an_airframe_that_would_not_come_to_us_is_refused(tmp_path: Path, model: str | int, sentence: str) -> None:
    with pytest.raises(AutopilotProcessError, match=sentence):
        px4_command(build(tmp_path), model=model)


def test_the_command_for_ardupilot(tmp_path: Path) -> None:
    """Options: ArduPilot's SITL_cmdline.cpp."""
    program = script(tmp_path, "")
    defaults = tmp_path / "copter.parm"
    defaults.touch()
    made = ardupilot_command(
        program, 1, vehicle="copter", home=(47.397742, 8.545594, 488.0, 90.0), defaults=[defaults],
        parameters={"SIM_RATE_HZ": 800, "ATC_RAT_RLL_P": 0.135}, rate_hz=800,
    )  # fmt: skip
    assert made.name == "ArduCopter"
    assert made.arguments == (
        str(program), "--model", "JSON", "--home", "47.397742,8.545594,488,90", "-I", "1", "--speedup", "1000",
        "--serial0", "tcp:0", "--sim-address", "127.0.0.1", "--rate", "800", "--defaults", f"{defaults},trial.parm",
    )  # fmt: skip
    assert made.files == {"trial.parm": "SIM_RATE_HZ 800\nATC_RAT_RLL_P 0.135\n"}
    with pytest.raises(AutopilotProcessError, match=r"no\.parm is no file"):
        ardupilot_command(program, vehicle="copter", home=(0, 0, 0, 0), defaults=[tmp_path / "no.parm"])
    with pytest.raises(AutopilotProcessError, match="valid: copter, plane, rover, sub"):
        ardupilot_command(program, vehicle="boat", home=(0, 0, 0, 0))  # type: ignore[arg-type]


def test_what_is_not_the_named_autopilot_is_refused(tmp_path: Path) -> None:
    place = (0.0, 0.0, 0.0, 0.0)
    with pytest.raises(AutopilotProcessError, match="gone is not there; valid: a PX4"):
        px4_command(tmp_path / "gone")
    with pytest.raises(AutopilotProcessError, match=r"is a folder; valid: .*build/px4_sitl_default/bin/px4"):
        px4_command(tmp_path)
    plain = tmp_path / "plain"
    plain.write_bytes(b"#!/bin/sh\n")
    plain.chmod(0o644)
    with pytest.raises(AutopilotProcessError, match="is not executable"):
        ardupilot_command(plain, vehicle="plane", home=place)
    plain.chmod(0o755)
    with pytest.raises(AutopilotProcessError, match=r"etc/init.d-posix/rcS is not there"):
        px4_command(plain)
    plane = build(tmp_path / "a", b"\x7fELF ... ArduPlane V4.6.3 ...")
    with pytest.raises(AutopilotProcessError, match="is ArduPlane, and PX4 was asked for"):
        px4_command(plane)
    with pytest.raises(AutopilotProcessError, match="is ArduPlane, and ArduCopter was asked for"):
        ardupilot_command(plane, vehicle="copter", home=place)
    assert ardupilot_command(plane, vehicle="plane", home=place).name == "ArduPlane"
    px4 = build(tmp_path / "b", b"\x7fELF ... etc/init.d-posix/rcS ...")
    assert px4_command(px4).name == "PX4"
    with pytest.raises(AutopilotProcessError, match="is PX4, and ArduRover was asked for"):
        ardupilot_command(px4, vehicle="rover", home=place)
    other = build(tmp_path / "c", b"\x7fELF ... ls ...")
    with pytest.raises(AutopilotProcessError, match="is some other program, and PX4 was asked for"):
        px4_command(other)


def test_starting_twice_is_refused(tmp_path: Path) -> None:
    with (
        AutopilotProcess(command(script(tmp_path, SLEEPER)), patience_s=0.0) as autopilot,
        pytest.raises(AutopilotProcessError, match="was started already"),
    ):
        autopilot.start()
    assert autopilot.poll() == -signal.SIGKILL
