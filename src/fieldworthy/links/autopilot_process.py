"""Start the user's own PX4 or ArduPilot for one trial, and end it together with everything that it has started.

Each trial gets a new process in a new folder: no parameters, missions or logs of the trial before.

Source: PX4, platforms/posix/src/px4/common/main.cpp (`px4 -i N -d ETC`) and ROMFS/px4fmu_common/init.d-posix/rcS
(PX4_SIM_MODEL, PX4_SYS_AUTOSTART, PX4_PARAM_name); ArduPilot, libraries/AP_HAL_SITL/SITL_cmdline.cpp.
Limits: Linux and macOS. ArduPilot ignores SIGTERM while it waits for its simulator, and PX4 spins when its simulator
has closed the socket, so SIGKILL is the rule and not the exception. A shell of one line sees to it when this program is
killed, by the end of a pipe (a `preexec_fn` with PR_SET_PDEATHSIG is not safe among threads, fires when the starting
thread ends, and macOS has none); the folder in the temporary folder stays behind then.
Verified by: tests/verification/test_autopilot_process.py
Long because the checks of a program stand beside the commands they guard and the process that runs them.
"""

from __future__ import annotations

import contextlib
import difflib
import mmap
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal

from fieldworthy.core.errors import FieldworthyError

_TAIL_BYTES = 16384
_LOG = "autopilot.log"
_DEAD_S = 5.0
"""Long after a SIGKILL; only a disk that does not answer keeps a process longer."""
_CONTROL = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|[\x00-\x08\x0b-\x1f\x7f]")
"""Colours and other escape sequences of terminals, and control characters but tab and newline."""
_WATCHDOG = 'read -r done_ || kill -s KILL -- "-$1"'
"""Kills the group $1 unless it gets a line before its input ends, and its input ends when we do."""
_MARKS = {
    "PX4": b"etc/init.d-posix/rcS",
    "ArduCopter": b"ArduCopter V",
    "ArduPlane": b"ArduPlane V",
    "ArduRover": b"ArduRover V",
    "ArduSub": b"ArduSub V",
}
"""Text that the programs hold and the others do not."""
_PROGRAMS = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""How programs for Linux and macOS begin; a script that starts one is not looked into."""
_VEHICLES = {"copter": "ArduCopter", "plane": "ArduPlane", "rover": "ArduRover", "sub": "ArduSub"}


class AutopilotProcessError(FieldworthyError):
    """The autopilot cannot be started, or has ended by itself."""


@dataclass(frozen=True)
class AutopilotCommand:
    """What to start, ready for `AutopilotProcess`."""

    name: str
    """PX4, ArduCopter, ArduPlane, ArduRover or ArduSub: for messages."""
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    """All of it; nothing is added when the process starts."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Text files by name that are written into the working folder before the start."""


def px4_command(
    binary: Path | str,
    instance: int = 0,
    *,
    model: str | int = "none_iris",
    speed_factor: float | None = None,
    parameters: Mapping[str, float] | None = None,
) -> AutopilotCommand:
    """PX4 in lockstep with a simulator on TCP 4560 + instance.

    `model` is the name or number of an airframe in the build's etc/init.d-posix/airframes that uses this link.
    `speed_factor` stretches PX4's time limits for partners that live in real time; a ground station in simulated time
    needs none. `parameters` are set before any module starts, which some need. The user's own PX4_* variables are not
    handed on, so that a trial is the same on every machine.
    """
    program = _program(binary, "PX4", "build/px4_sitl_default/bin/px4")
    etc = program.parent.parent / "etc"
    if not (etc / "init.d-posix" / "rcS").is_file():
        raise AutopilotProcessError(
            f"{program}: {etc}/init.d-posix/rcS is not there, which PX4 reads at its start; valid: the px4 in the bin "
            "folder of a build, with etc beside bin (`make px4_sitl_default`)"
        )
    _refuse_model(model, etc / "init.d-posix" / "airframes")
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PX4_") and name not in ("replay", "replay_mode")
    }
    environment["PX4_SYS_AUTOSTART" if isinstance(model, int) else "PX4_SIM_MODEL"] = str(model)
    if speed_factor is not None:
        environment["PX4_SIM_SPEED_FACTOR"] = f"{speed_factor:g}"
    for name, value in (parameters or {}).items():
        environment[f"PX4_PARAM_{name}"] = f"{value:.9g}"
    return AutopilotCommand("PX4", (str(program), "-i", str(instance), "-d", str(etc)), environment)


def ardupilot_command(
    binary: Path | str,
    instance: int = 0,
    *,
    vehicle: Literal["copter", "plane", "rover", "sub"],
    home: tuple[float, float, float, float],
    defaults: Sequence[Path | str] = (),
    parameters: Mapping[str, float] | None = None,
    speedup: float = 1000.0,
    rate_hz: int | None = None,
) -> AutopilotCommand:
    """ArduPilot with `--model JSON`, its simulator on UDP 9002 + 10 * instance and a ground station on TCP 5760 + 10 *.

    `home` is latitude and longitude [deg], altitude [m above mean sea level] and heading [deg]. `parameters` are
    defaults after those of the files `defaults` (a .parm file a vehicle, in ArduPilot's Tools/autotest/default_params),
    in force from the start. `speedup` is the most ArduPilot lets the time run; the simulator sets the pace below it.
    `rate_hz` is SIM_RATE_HZ (ArduPilot's own: 1200).
    """
    name = _VEHICLES.get(vehicle)
    if name is None:
        raise AutopilotProcessError(f"vehicle: {vehicle!r} is not known; valid: {', '.join(_VEHICLES)}")
    program = _program(binary, name, f"build/sitl/bin/{name.lower()}")
    files = {}
    paths = [str(Path(path).expanduser().resolve()) for path in defaults]
    for path in paths:
        if not Path(path).is_file() or "," in path:
            raise AutopilotProcessError(f"defaults: {path} is no file; valid: .parm files, no comma in the name")
    if parameters:
        files["trial.parm"] = "".join(f"{key} {value:.9g}\n" for key, value in parameters.items())
        paths.append("trial.parm")
    arguments = [str(program), "--model", "JSON", "--home", ",".join(f"{number:.10g}" for number in home)]
    arguments += ["-I", str(instance), "--speedup", f"{speedup:g}", "--serial0", "tcp:0", "--sim-address", "127.0.0.1"]
    if rate_hz is not None:
        arguments += ["--rate", str(rate_hz)]
    if paths:
        arguments += ["--defaults", ",".join(paths)]
    return AutopilotCommand(name, tuple(arguments), dict(os.environ), files)


class AutopilotProcess:
    """One running autopilot: `with AutopilotProcess(command) as autopilot: …`."""

    def __init__(
        self,
        command: AutopilotCommand,
        *,
        log_to: Path | None = None,
        patience_s: float = 0.3,
        settle_s: float = 0.1,
    ) -> None:
        """Where the log goes in the end (None: nowhere), how long SIGTERM may take, how soon an end is "at once"."""
        self.command = command
        self.log_to = log_to
        self.patience_s = patience_s
        self.settle_s = settle_s
        self.folder: Path | None = None
        """The working folder, while it lasts: from `start` to `stop`."""
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None
        self._ended = False
        self._tail = b""

    def __enter__(self) -> AutopilotProcess:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def pid(self) -> int | None:
        """Of the process, which is its group too; None where none was started."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start in a new folder and look for `settle_s` whether it stays.

        Raises: AutopilotProcessError where it cannot start or ends at once, with its last words.
        """
        _refuse_windows()
        if self._process is not None:
            raise AutopilotProcessError(f"{self.command.name} was started already; valid: a new AutopilotProcess")
        try:
            self.folder = Path(tempfile.mkdtemp(prefix=f"fieldworthy-{self.command.name.lower()}-")).resolve()
            if self.command.name == "PX4" and re.search(r"\s", str(self.folder)):
                raise AutopilotProcessError(
                    f"{self.folder}: PX4's start scripts break at the space in this path; valid: TMPDIR without spaces"
                )
            for name, text in self.command.files.items():
                (self.folder / name).write_text(text, encoding="utf-8")
            with (self.folder / _LOG).open("wb") as log:
                self._process = subprocess.Popen(
                    self.command.arguments,
                    cwd=self.folder,
                    env=dict(self.command.environment),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            self._watchdog = subprocess.Popen(
                ["/bin/sh", "-c", _WATCHDOG, "fieldworthy-watchdog", str(self._process.pid)],
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # a Ctrl-C in the terminal must not end it before us
            )
            self._wait(self.settle_s)
            self.check()
        except OSError as error:
            self.stop()
            raise AutopilotProcessError(
                f"{self.command.arguments[0]} cannot be started: {error.strerror or error}; valid: a "
                f"{self.command.name} that was built for this machine"
            ) from error
        except BaseException:
            self.stop()
            raise

    def poll(self) -> int | None:
        """Exit status once it has ended (negative: minus the signal), else None. Ends what it has left behind."""
        if self._process is None:
            return None
        status = self._process.poll()
        if status is not None:
            self._end_group()
        return status

    def check(self) -> None:
        """Raise AutopilotProcessError, with the last words, if it has ended by itself. Cheap: call it while waiting."""
        status = self.poll()
        if status is None:
            return
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with exit status {status}"
        words = self.last_words(8)
        raise AutopilotProcessError(
            f"{self.command.name} {how}; " + (f"its last words:\n{words}" if words else "it has said nothing")
        )

    def last_words(self, lines: int = 10) -> str:
        """The end of the log, without colours and empty lines. Also after `stop`."""
        text = _CONTROL.sub(b"", self._read_tail().replace(b"\r", b"\n")).decode("utf-8", "replace")
        return "\n".join([line.rstrip() for line in text.splitlines() if line.strip()][-lines:])

    def stop(self) -> None:
        """End it and all that it has started, keep the log where it was asked for, remove the folder. Twice is fine."""
        try:
            if self._process is not None and self._process.poll() is None and self.patience_s > 0.0:
                _signal_group(self._process.pid, signal.SIGTERM)
                self._wait(self.patience_s)
        finally:
            self._end_group()
            self._clear_up()

    def _wait(self, limit_s: float) -> None:
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(limit_s)

    def _end_group(self) -> None:
        """SIGKILL for the whole group, once, then call off the watchdog: the number may be another's later."""
        if self._process is not None and not self._ended:
            self._ended = True
            _signal_group(self._process.pid, signal.SIGKILL)
            self._wait(_DEAD_S)
        watchdog, self._watchdog = self._watchdog, None
        if watchdog is not None:
            with contextlib.suppress(OSError):
                watchdog.communicate(b"\n")

    def _clear_up(self) -> None:
        if self.folder is None:
            return
        self._tail = self._read_tail()
        log, folder, self.folder = self.folder / _LOG, self.folder, None
        try:
            if self.log_to is not None and log.exists():
                self.log_to.parent.mkdir(parents=True, exist_ok=True)
                beside = self.log_to.with_name(self.log_to.name + ".part")
                shutil.copyfile(log, beside)
                beside.replace(self.log_to)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _read_tail(self) -> bytes:
        if self.folder is None:
            return self._tail
        try:
            with (self.folder / _LOG).open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
                return log.read()
        except FileNotFoundError:
            return b""


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
        os.killpg(group, number)


def _refuse_windows() -> None:
    if os.name == "nt":
        raise AutopilotProcessError(
            "PX4 and ArduPilot have no programs for Windows itself; valid: run Fieldworthy and the autopilot inside WSL"
        )


def _program(binary: Path | str, name: str, usual: str) -> Path:
    """The file to run, or a sentence on why it is not the autopilot that was named."""
    _refuse_windows()
    path = Path(binary).expanduser().absolute()
    wanted = f"a {name} that was built for this machine, such as {usual}"
    if path.is_dir():
        raise AutopilotProcessError(f"{path} is a folder; valid: {wanted}")
    if not path.is_file():
        raise AutopilotProcessError(f"{path} is not there; valid: {wanted}")
    if not os.access(path, os.X_OK):
        raise AutopilotProcessError(f"{path} is not executable; valid: {wanted} (`chmod +x` if it is the right one)")
    begins, found = _marks_in(path)
    if name not in found and (found or begins in _PROGRAMS):
        what = f"is {found[0]}" if found else "is some other program"
        raise AutopilotProcessError(f"{path} {what}, and {name} was asked for; valid: {wanted}")
    return path


def _marks_in(path: Path) -> tuple[bytes, list[str]]:
    """The first four bytes, and the autopilots whose mark is in the file."""
    with path.open("rb") as file:
        begins = file.read(4)
        if not begins:
            return begins, []
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return begins, [name for name, mark in _MARKS.items() if content.find(mark) >= 0]


def _refuse_model(model: str | int, folder: Path) -> None:
    """Refuse an airframe that the build has not, or that would start PX4's own simulator or wait for another."""
    numbered = [entry.name.partition("_") for entry in sorted(folder.glob("[0-9]*_*")) if "." not in entry.name]
    named = {(number if isinstance(model, int) else name): name for number, _, name in numbered}
    usable = [key for key, name in named.items() if not name.startswith(("gz_", "sihsim_", "jmavsim_"))]
    if str(model) in usable:
        return
    if str(model) in named or str(model) in ("none", "shell", "0"):
        what = "does not use the simulator link of TCP 4560"
    else:
        what = f"is no airframe of {folder}"
    close = difflib.get_close_matches(str(model), usable, 4, 0.5) or usable[:8]
    raise AutopilotProcessError(f"model: {model!r} {what}; valid: {', '.join(close) or 'none in this build'}, …")
