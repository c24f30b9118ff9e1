"""What may be wrong between us and an autopilot: findings from facts, and the ones that both autopilots share.

Functions of facts to findings are pure, so that every way to fail can be told without failing; `diagnosis_gather` looks
for the facts.
Verified by: tests/verification/test_link_diagnosis.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fieldworthy.links.airframe import AutopilotKind
from fieldworthy.links.ardupilot import PORT as ARDUPILOT_PORT
from fieldworthy.links.diagnosis_machine import Process
from fieldworthy.links.px4_server import PORT as PX4_PORT


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    ok: bool | None
    """None: could not be told, or is worth knowing and no fault."""
    sentence: str
    """What, why, and what to do."""


def usual_port(kind: AutopilotKind, instance: int) -> int:
    """Where an autopilot of this instance looks for its simulator."""
    return PX4_PORT + instance if kind == "px4" else ARDUPILOT_PORT + 10 * instance


def port_finding(address: str, refused: str, holder: Process | None) -> Finding:
    """Whether we could listen. refused: why not, a sentence; empty where we listen."""
    if not refused:
        return Finding("port", True, f"we listen on {address}")
    by = f"; held by process {holder.pid}: {holder.command}" if holder is not None else ""
    return Finding("port", False, f"{refused}{by}")


_NOT_THIS_LINK = ("none", "sihsim_", "gz_")
"""Beginnings of PX4_SIM_MODEL that start another simulator; `none` only as a whole."""


def nobody_finding(
    kind: AutopilotKind,
    instance: int,
    address: str,
    waited_s: float,
    start: str,
    running: Sequence[Process] | None,
    serial0: bool = False,
) -> Finding:
    """Why nobody has come. start: the line that starts the autopilot. running: autopilots of this kind on this machine;
    None where that cannot be seen. serial0: something listens where ArduPilot's first ground station connects."""
    name = "PX4" if kind == "px4" else "ArduPilot"
    port = usual_port(kind, instance)
    came = f"no {name} has come to {address} in {waited_s:.0f} s"
    if not address.endswith(f":{port}"):
        came += f" ({name} {instance} looks for its simulator on {port} unless told otherwise)"
    ours = [process for process in running or () if process.instance == instance]
    others = [process for process in running or () if process.instance != instance]
    if ours:
        return Finding("connection", False, f"{came}; {_why_not_ours(kind, ours[0], port, start, serial0)}")
    if others:
        flag = "-i" if kind == "px4" else "-I"
        seen = ", ".join(f"{flag} {process.instance} (process {process.pid})" for process in others[:4])
        advice = f"{name} runs here as {seen}, and not as {flag} {instance}; give --instance {others[0].instance} here"
        return Finding("connection", False, f"{came}; {advice}, or start it with {flag} {instance}: {start}")
    if serial0:
        return Finding("connection", False, f"{came}; {_serial0(instance)}")
    far = (
        "in a container, in WSL or on another machine it needs --host 0.0.0.0 here and "
        + ("PX4_SIM_HOSTNAME=ADDRESS" if kind == "px4" else "--sim-address ADDRESS")
        + " there"
    )
    unseen = f"no {name} runs on this machine" if running is not None else f"is {name} running with number {instance}?"
    other = (
        "; PX4_SIM_MODEL=none, sihsim_… and gz_… start another simulator than ours"
        if kind == "px4"
        else "; only --model JSON looks for us"
    )
    return Finding("connection", False, f"{came}: {unseen}; start {start} ({far}{other})")


def _why_not_ours(kind: AutopilotKind, process: Process, port: int, start: str, serial0: bool) -> str:
    """Of an autopilot with the right number that does not come."""
    who = f"process {process.pid}"
    if kind == "px4":
        model = process.model
        if any(model == word or (word != "none" and model.startswith(word)) for word in _NOT_THIS_LINK):
            return f"PX4_SIM_MODEL={model} of {who} starts another simulator, which never looks for ours; start {start}"
        return (
            f"PX4 runs ({who}) but does not come: once a simulator has left it never connects again, so end it and "
            f"start {start}; or its PX4_SIM_HOSTNAME names another machine"
        )
    if process.model and process.model.upper() != "JSON":
        return f"--model {process.model} of {who} is ArduPilot's own simulator; start {start}"
    if serial0:
        return _serial0(process.instance)
    return (
        f"ArduPilot runs ({who}) but sends nothing to UDP {port}: its --sim-address or --sim-port-out names another "
        f"place; start {start}"
    )


def _serial0(instance: int) -> str:
    return (
        f"something listens on TCP {5760 + 10 * instance}, where ArduPilot waits for a ground station before it "
        "starts: connect one, or start ArduPilot with --serial0 tcp:0 (and --model JSON)"
    )


def serial0_finding(instance: int) -> Finding:
    """ArduPilot has come as soon as we connected as a ground station."""
    return Finding(
        "serial0", False, f"ArduPilot stood still until we connected to its TCP {5760 + 10 * instance}: it waits there "
        "for a ground station before it starts; connect one, or start it with --serial0 tcp:0"
    )  # fmt: skip
