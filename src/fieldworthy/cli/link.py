"""`fieldworthy link`: a vehicle for a real autopilot to fly."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import click
from click.core import ParameterSource


class Speed(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A number, or max."""

    name = "speed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Simulated over wall time; infinity for max."""
        if value == "max":
            return math.inf
        try:
            speed = float(value)
        except ValueError:
            speed = 0.0
        if not 0.0 < speed < 1e6:
            self.fail(f"{value!r} is no speed; valid: max, or simulated over wall time such as 1 or 5", param, ctx)
        return speed


@click.command("link")
@click.argument("autopilot", type=click.Choice(["px4", "ardupilot"]))
@click.argument("scenario")
@click.option(
    "--speed", type=Speed(), default="1", show_default=True, metavar="1|5|max", help="Simulated over wall time."
)
@click.option("--realtime", is_flag=True, help="Paced by the wall clock, each tick's lateness counted and reported.")
@click.option("--serial", metavar="PORT[:BAUD]", help="A PX4 board in HITL mode on a serial line, in real time.")
@click.option("--udp", metavar="HOST:PORT", help="A PX4 board in HITL mode over UDP, in real time.")
@click.option("--instances", type=click.IntRange(1, 99), default=1, metavar="N", help="Serve N autopilots at once.")
@click.option("--instance", type=click.IntRange(0, 99), default=0, metavar="I", help="Number of the (first) autopilot.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0: every one.")
@click.option("--port", type=click.IntRange(1, 65535), metavar="P", help="Port in place of the autopilot's usual one.")
@click.option(
    "--rate",
    type=click.FloatRange(min=1.0, max=4000.0),
    metavar="HZ",
    help="Exchanges a second; default 250 for PX4, 800 for ArduPilot, 100 for boats.",
)
@click.option("--skid", is_flag=True, help="A boat is steered by left and right throttle (SERVO1, SERVO3).")
@click.option("--rc", metavar="US,US,…", help="Pulses of a remote control that nobody moves, for PX4.")
@click.option(
    "--json-version",
    type=click.Choice(["4.5", "2025-07", "2025-11"]),
    default="4.5",
    show_default=True,
    help="Of ArduPilot's JSON interface: what it may be told.",
)
@click.option(
    "--patience",
    type=click.FloatRange(min=0.1),
    default=10.0,
    show_default=True,
    metavar="S",
    help="Wall time that the autopilot may be silent.",
)
@click.option("--record", is_flag=True, help="Write each flight as MCAP and CSV: truth, readings, actuators.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder for recordings.")
@click.option("--once", is_flag=True, help="End with the first flight; exit code 3 when the autopilot was lost.")
@click.option("--for", "for_s", type=click.FloatRange(min=0.0), metavar="S", help="End a flight after S simulated s.")
@click.option("--trial", type=click.IntRange(min=0), default=0, metavar="K", help="Trial of the first flight.")
@click.option("--trial-step", type=click.IntRange(min=1), default=1, hidden=True)
@click.option("--seed", type=click.IntRange(min=0), metavar="S", help="Seed of everything random.")
@click.option("--set", "settings", multiple=True, metavar="PATH=VALUE", help="Override one value of the scenario.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a flight.")
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> None:
    """Let PX4 or ArduPilot fly the vehicle of SCENARIO (such as quad-x500, plane or rover-boat): physics and sensors
    here, the autopilot in its own process, in lockstep.

    Says what to start on the other side, and serves one autopilot after another until Ctrl-C.
    """
    _refuse_idle(ctx)
    if given["instances"] > 1:
        sys.exit(_several(given["instances"], ctx.params))
    from fieldworthy.cli.link_service import serve

    sys.exit(serve(given))


def _refuse_idle(ctx: click.Context) -> None:
    """Options that would do nothing beside the others."""
    said = {name for name in ctx.params if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT}
    px4, board = ctx.params["autopilot"] == "px4", said & {"serial", "udp"}
    idle = [
        ("rc", not px4, "is for PX4; ArduPilot takes a remote control by UDP 5501 or MAVLink"),
        ("json_version", px4, "is for ArduPilot"),
        ("serial", not px4, "is for a PX4 board"),
        ("udp", not px4, "is for a PX4 board"),
        ("udp", "serial" in said, "and --serial are two lines to one board: give one of them"),
        ("speed", bool(board) or "realtime" in said, "does not go with real time, which is speed 1"),
        ("host", bool(board), "is for autopilots that come to a port"),
        ("port", bool(board), "is for autopilots that come to a port"),
        ("instances", bool(board), "is for autopilots that come to a port"),
        (
            "port",
            ctx.params["instances"] > 1,
            "and --instances do not go together: ports follow from --instance",
        ),
        ("out", "record" not in said, "goes with --record"),
    ]
    for name, refused, why in idle:
        if name in said and refused:
            raise click.UsageError(f"--{name.replace('_', '-')} {why}")


def _several(count: int, given: dict[str, Any]) -> int:
    """A process each: they share nothing, and one that is lost leaves the others alone."""
    own = _without(sys.argv[1:], ("--instances", "--instance", "--trial", "--out"))
    command = [sys.executable, "-m", "fieldworthy.cli.main", *own, "--trial-step", str(count)]
    # Groups of their own: Ctrl-C reaches each of them once, through us, whoever sent it and to whom.
    apart: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}
    children: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        for child in children if os.name == "posix" else ():
            child.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for i in range(count):
            number = given["instance"] + i
            mine = ["--instance", str(number), "--trial", str(given["trial"] + i)]
            if given["record"]:
                mine += ["--out", str(_folder(given) / f"instance-{number}")]
            children.append(subprocess.Popen([*command, *mine], **apart))
        codes = [child.wait() for child in children]
        return max(code if code >= 0 else 128 - code for code in codes)
    finally:
        for child in children:
            if child.poll() is None:
                child.terminate()
        for number, handler in before.items():
            signal.signal(number, handler)


def _folder(given: dict[str, Any]) -> Path:
    """Where the recordings of all instances go; settled once."""
    if given["out"] is None:
        from fieldworthy.trials.folder import default_folder

        given["out"] = default_folder(f"{Path(given['scenario']).stem}-link")
    return given["out"]  # type: ignore[no-any-return]


def _without(arguments: list[str], names: tuple[str, ...]) -> list[str]:
    """The arguments without these options and their values."""
    kept, skip = [], False
    for word in arguments:
        if skip:
            skip = False
        elif word in names:
            skip = True
        elif not word.startswith(tuple(f"{name}=" for name in names)):
            kept.append(word)
    return kept
