"""What this machine tells of ports and processes: who holds a port, which autopilots run.

Source: proc(5), /proc/net/tcp, /proc/PID/fd, cmdline and environ.
Limits: Linux; other people's processes hide what they have open and with what environment they were started.
Verified by: tests/verification/test_link_diagnosis.py
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fieldworthy.links.airframe import AutopilotKind
from fieldworthy.links.ports import LOOPBACK

PROC = Path("/proc")
_LISTENS = "0A"
_PROGRAMS: dict[AutopilotKind, tuple[str, ...]] = {
    "px4": ("px4",), "ardupilot": ("arducopter", "arduplane", "ardurover", "ardusub"),
}  # fmt: skip
_MOST_SHOWN = 120


@dataclass(frozen=True)
class Process:
    """A program that runs."""

    pid: int
    command: str
    instance: int = 0
    """Of an autopilot: its number."""
    model: str = ""
    """PX4_SIM_MODEL or ArduPilot's --model; empty where it cannot be seen."""


def holder_of(protocol: str, port: int, proc: Path = PROC) -> Process | None:
    """Who listens on a port of this machine, "tcp" or "udp"; None where it cannot be seen."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(protocol, port, proc)}
    if not sockets:
        return None
    for folder in _processes(proc):
        with contextlib.suppress(OSError):
            for link in (folder / "fd").iterdir():
                with contextlib.suppress(OSError):
                    if str(link.readlink()) in sockets:
                        return Process(int(folder.name), _command(_words(folder / "cmdline")))
    return None


def autopilots(kind: AutopilotKind, proc: Path = PROC) -> list[Process] | None:
    """The autopilots of a kind that run here; None where processes cannot be seen."""
    if not (proc / "self").exists():
        return None
    found = []
    for folder in _processes(proc):
        words = _words(folder / "cmdline")
        if not words or Path(words[0]).name not in _PROGRAMS[kind]:
            continue
        if kind == "px4":
            model = dict(word.partition("=")[::2] for word in _words(folder / "environ")).get("PX4_SIM_MODEL", "")
            number = _value(words, "-i")
        else:
            model, number = _value(words, "--model", "-M"), _value(words, "-I", "--instance")
        instance = int(number) if number.isdecimal() else 0
        found.append(Process(int(folder.name), _command(words), instance, model))
    return sorted(found, key=lambda process: process.pid)


def connected(port: int, wait_s: float = 0.5) -> socket.socket | None:
    """A connection to a TCP port of this machine, if something listens there."""
    with contextlib.suppress(OSError):
        return socket.create_connection((LOOPBACK, port), wait_s)
    return None


def _inodes(protocol: str, port: int, proc: Path) -> Iterator[str]:
    """Of the sockets that listen on the port, at any address."""
    for name in (protocol, f"{protocol}6"):
        with contextlib.suppress(OSError):
            for line in (proc / "net" / name).read_text().splitlines()[1:]:
                fields = line.split()
                local, state, inode = fields[1], fields[3], fields[9]
                if int(local.rpartition(":")[2], 16) == port and (protocol == "udp" or state == _LISTENS):
                    yield inode


def _processes(proc: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return [folder for folder in proc.iterdir() if folder.name.isdecimal()]
    return []


def _words(file: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return [os.fsdecode(word) for word in file.read_bytes().split(b"\0") if word]
    return []


def _command(words: Sequence[str]) -> str:
    line = " ".join(" ".join(words).split()) or "(no command line)"
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}…"


def _value(words: Sequence[str], *names: str) -> str:
    """What follows an option: `-i 3`, `-i3`, `--model JSON`, `--model=JSON`; empty without."""
    for at, word in enumerate(words):
        for name in names:
            if word == name:
                return words[at + 1] if at + 1 < len(words) else ""
            if word.startswith(f"{name}=") or (not name.startswith("--") and word.startswith(name)):
                return word[len(name) :].lstrip("=")
    return ""
