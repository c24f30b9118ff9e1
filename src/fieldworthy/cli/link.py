"""`fieldworthy link`: a vehicle for a real autopilot to fly."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from fieldworthy.cli.run import overrides

if TYPE_CHECKING:
    from fieldworthy.links.host import Flown, Host
    from fieldworthy.scenario import Scenario

RECORD_HZ = 50.0
"""Samples a second of a recording."""

STATUS_EVERY_S = 2.0
"""Wall time between two lines on where the vehicle is."""


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
@click.option("--seed", type=click.IntRange(min=0), metavar="S", help="Seed of everything random.")
@click.option("--set", "settings", multiple=True, metavar="PATH=VALUE", help="Override one value of the scenario.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a flight.")
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> None:
    """Let PX4 or ArduPilot fly the vehicle of SCENARIO (such as quad-x500, plane or rover-boat): physics and sensors
    here, the autopilot in its own process, in lockstep.

    Says what to start on the other side, and serves one autopilot after another until Ctrl-C.
    """
    if given["instances"] > 1:
        sys.exit(_several(given["instances"], given["instance"], ctx))
    sys.exit(_serve(given))


def _several(count: int, first: int, ctx: click.Context) -> int:
    """A process each: they share nothing, and one that is lost leaves the others alone."""
    if ctx.params["port"] is not None:
        raise click.UsageError("--port and --instances do not go together; valid: --instance, ports follow from it")
    own = _without(sys.argv[1:], ("--instances", "--instance"))
    command = [sys.executable, "-m", "fieldworthy.cli.main", *own, "--instance"]
    # Groups of their own: Ctrl-C reaches each of them once, through us, whoever sent it and to whom.
    apart: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}
    children: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        for child in children if os.name == "posix" else ():
            child.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for i in range(count):
            children.append(subprocess.Popen([*command, str(first + i)], **apart))
        codes = [child.wait() for child in children]
        return max(code if code >= 0 else 128 - code for code in codes)
    finally:
        for child in children:
            if child.poll() is None:
                child.terminate()
        for number, handler in before.items():
            signal.signal(number, handler)


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


def _serve(given: dict[str, Any]) -> int:
    """One autopilot after another; the exit code."""
    from fieldworthy.links.host import Host
    from fieldworthy.links.vehicle import for_autopilot, rate_of
    from fieldworthy.scenario import load
    from fieldworthy.trials.interrupt import stop_wanted

    _make_room(given)
    line = _line(given)
    kind, paced = given["autopilot"], given["realtime"] or line is not None
    notes: list[str] = []
    loaded = load(given["scenario"], overrides(None, given["seed"], given["settings"]), notes=notes)
    rate_hz = given["rate"] or rate_of(kind, loaded)
    scenario = for_autopilot(loaded, kind, rate_hz)
    speed = 1.0 if paced else None if math.isinf(given["speed"]) else given["speed"]
    host = Host(kind, given["host"], given["instance"], given["port"], line)
    start = [] if line is not None else _how_to_start(kind, scenario, host, given["instance"], rate_hz)
    _tell([*notes, *start])
    trial, code = given["trial"], 0
    with stop_wanted() as stopped:
        try:
            while not stopped():
                flown = _one(host, scenario, trial, speed, given, stopped)
                if flown is None:
                    break
                _report(flown, scenario, trial, given)
                trial, code = trial + 1, 3 if flown.lost is not None else 0
                if given["once"]:
                    return code
        finally:
            host.close()
    return 130 if given["once"] else 0


def _make_room(given: dict[str, Any]) -> None:
    """The folder of the recordings: no flight should find out that there can be none."""
    from fieldworthy.core.errors import FieldworthyError

    out: Path | None = given["out"]
    if out is None:
        return
    if not given["record"]:
        raise click.UsageError("--out goes with --record")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FieldworthyError(f"--out {out}: cannot be made ({error.strerror}); valid: a folder") from error


def _line(given: dict[str, Any]) -> Any:
    """The line to a board, or None for a port."""
    serial, udp = given["serial"], given["udp"]
    if serial is None and udp is None:
        return None
    if given["autopilot"] != "px4" or (serial is not None and udp is not None):
        raise click.UsageError("--serial and --udp are for one PX4 board; valid: link px4 with one of them")
    from fieldworthy.links.px4_board import SerialLine, UdpLine

    return SerialLine(serial) if serial is not None else UdpLine(udp)


def _one(
    host: Host, scenario: Scenario, trial: int, speed: float | None, given: dict[str, Any], stopped: Any
) -> Flown | None:
    """One flight; None when somebody stopped the waiting."""
    from fieldworthy.links.host import Options, flight, ready
    from fieldworthy.links.lockstep import Log

    alone = ready(scenario, given["autopilot"], trial, endless=True)
    every = max(1, round(1.0 / (RECORD_HZ * scenario.dt_s))) if given["record"] else 0
    log = Log(every=every, with_devices=given["record"])
    options = Options(given["patience"], _pulses(given["rc"]), given["json_version"])
    _tell([f"waiting on {host.address}"])
    peer, stranger = "", ""
    while not peer:
        peer = host.wait(0.2)
        if stopped():
            return None
        if host.stranger != stranger:
            stranger = host.stranger
            _tell([f"not an autopilot: {stranger}"])
    _tell([f"{peer} has come: flight {trial}"])
    last = [time.monotonic(), 0.0]
    for_s = given["for_s"]

    def over() -> bool:
        return bool(stopped()) or (for_s is not None and alone.t_s >= for_s)

    def beside(link: Any, t_s: float) -> None:
        now = time.monotonic()
        if now - last[0] >= STATUS_EVERY_S:
            _tell([_status(alone, link, t_s, (t_s - last[1]) / (now - last[0]))])
            last[:] = now, t_s

    return flight(host, alone, scenario, log, speed=speed, options=options, stopped=over, beside=beside)


def _status(alone: Any, link: Any, t_s: float, speed: float) -> str:
    state = "" if link.ready else ", not commanding yet"
    where = f"north {alone.value('north_m'):.1f} m, east {alone.value('east_m'):.1f} m, up {alone.value('up_m'):.1f} m"
    return f"t = {t_s:.1f} s ({speed:.1f} x): {where}{state}"


def _report(flown: Flown, scenario: Scenario, trial: int, given: dict[str, Any]) -> None:
    """What came of a flight; its files first, so that nothing that follows can lose them."""
    from fieldworthy.trials.linked import ending, write_flight

    outcome, why = ending(flown, scenario)
    files = write_flight(flown, scenario, trial, given["out"]) if given["record"] and flown.log.frames else ()
    t_s = flown.vehicle.t_s
    facts = {
        "trial": trial,
        "outcome": outcome,
        "why": why,
        "time_s": t_s,
        "wall_s": round(flown.wall_s, 3),
        "speed": round(t_s / flown.wall_s, 2) if flown.wall_s else None,
        "lateness": None if flown.lateness is None else vars(flown.lateness),
        "recordings": [str(path) for path in files],
    }
    if given["as_json"]:
        click.echo(json.dumps(facts))
        return
    click.echo(f"flight {trial}: {why}; {t_s:.1f} s in {flown.wall_s:.1f} s")
    if flown.lateness is not None and (given["realtime"] or given["serial"] or given["udp"]):
        click.echo(f"real time: {flown.lateness.sentence()}")
    for path in files:
        click.echo(f"recording: {path}")


def _how_to_start(kind: str, scenario: Scenario, host: Host, instance: int, rate_hz: float) -> list[str]:
    from fieldworthy.links.start_lines import start_lines

    return start_lines(kind, scenario, host.address, instance, rate_hz)


def _pulses(text: str | None) -> tuple[float, ...]:
    if text is None:
        return ()
    try:
        pulses = tuple(float(part) for part in text.split(","))
    except ValueError:
        pulses = ()
    if not 1 <= len(pulses) <= 18 or not all(0.0 < pulse < 3000.0 for pulse in pulses):
        raise click.BadParameter(f"--rc {text}: not 1 to 18 pulses in us; valid: such as 1500,1500,1000,1500")
    return pulses


def _tell(lines: list[str]) -> None:
    for line in lines:
        click.echo(line, err=True)
