"""What `fieldworthy link` does: one autopilot after another, until somebody has had enough."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
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


def serve(given: dict[str, Any]) -> int:
    """One autopilot after another; the exit code."""
    from fieldworthy.links.host import Host, check
    from fieldworthy.links.start_lines import start_lines
    from fieldworthy.links.vehicle import for_autopilot, rate_of
    from fieldworthy.scenario import load
    from fieldworthy.trials.interrupt import stop_wanted
    from fieldworthy.trials.pilot_faults import unheard

    _make_room(given)
    line = _line(given)
    kind, paced = given["autopilot"], given["realtime"] or line is not None
    notes: list[str] = []
    loaded = load(given["scenario"], overrides(None, given["seed"], given["settings"]), notes=notes)
    rate_hz = given["rate"] or rate_of(kind, loaded)
    scenario = for_autopilot(loaded, kind, rate_hz)
    speed = 1.0 if paced else None if math.isinf(given["speed"]) else given["speed"]
    check(kind, scenario, skid=given["skid"])
    host = Host(kind, given["host"], given["instance"], given["port"], line)
    notes += [f"{sentence}; campaigns (run --pilot) tell it of some" for sentence in unheard(loaded, kind)]
    if line is None:
        notes += start_lines(kind, scenario, host.address, given["instance"], rate_hz, given["skid"])
    _tell(notes)
    trial = given["trial"]
    with stop_wanted() as stopped:
        try:
            while not stopped():
                flown = _one(host, scenario, trial, speed, given, stopped)
                if flown is None:
                    break
                _report(flown, scenario, trial, given)
                if kind == "px4" and line is None and not given["once"]:
                    _tell(["PX4 does not come back by itself: start it anew for the next flight"])
                trial += given["trial_step"]
                if given["once"]:
                    return _code(flown, stopped())
        finally:
            host.close()
    return 130 if given["once"] else 0


def _code(flown: Flown, stopped: bool) -> int:
    """The exit code of one flight."""
    from fieldworthy.links.lost import Loss

    if flown.lost is not None:
        return 2 if flown.lost.loss is Loss.OURS else 3
    return 130 if stopped else 0


def _make_room(given: dict[str, Any]) -> None:
    """What recordings need: no flight should find out that there can be none."""
    from fieldworthy.core.errors import FieldworthyError, require_extra

    out: Path | None = given["out"]
    if given["record"]:
        require_extra("mcap", "log", "--record")
    if out is None:
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FieldworthyError(f"--out {out}: cannot be made ({error.strerror}); valid: a folder") from error


def _line(given: dict[str, Any]) -> Any:
    """The line to a board, or None for a port."""
    serial, udp = given["serial"], given["udp"]
    if serial is None and udp is None:
        return None
    from fieldworthy.links.px4_board import SerialLine, UdpLine

    return SerialLine(serial) if serial is not None else UdpLine(udp)


def _one(
    host: Host, scenario: Scenario, trial: int, speed: float | None, given: dict[str, Any], stopped: Any
) -> Flown | None:
    """One flight; None when somebody stopped the waiting."""
    from fieldworthy.links.host import Options, flight, ready
    from fieldworthy.links.lockstep import Log

    vehicle = ready(scenario, given["autopilot"], trial, endless=True)
    every = max(1, round(1.0 / (RECORD_HZ * scenario.dt_s))) if given["record"] else 0
    log = Log(every=every, with_devices=given["record"])
    options = Options(given["patience"], _pulses(given["rc"]), given["json_version"], given["skid"])
    _tell([f"waiting on {host.address}"])
    peer, stranger, told = "", "", False
    while not peer:
        peer = host.wait(0.2)
        if stopped():
            return None
        if host.stranger != stranger:
            stranger = host.stranger
            _tell([f"not taken: {stranger}"] if stranger else [])
        if host.still_flying and not told:
            told = True
            _tell([f"ArduPilot at {host.still_flying} still flies the vehicle of before: start it anew"])
    _tell([f"{peer} has come: flight {trial}"])
    last = [time.monotonic(), 0.0]
    for_s = given["for_s"]

    def over() -> bool:
        return bool(stopped()) or (for_s is not None and vehicle.t_s >= for_s)

    def beside(link: Any, t_s: float) -> None:
        now = time.monotonic()
        if now - last[0] >= STATUS_EVERY_S:
            speed_now = (t_s - last[1]) / (now - last[0])
            _tell([_status(vehicle, link, t_s, speed_now) + _deaf(host)])
            last[:] = now, t_s

    realtime = bool(given["realtime"] or given["serial"] or given["udp"])
    return flight(
        host, vehicle, scenario, log, speed=speed, realtime=realtime, options=options, stopped=over, beside=beside
    )


def _status(vehicle: Any, link: Any, t_s: float, speed: float) -> str:
    state = "" if link.ready else ", not commanding yet"
    where = ", ".join(f"{axis} {vehicle.value(f'{axis}_m'):.1f} m" for axis in ("north", "east", "up"))
    return f"t = {t_s:.1f} s ({speed:.1f} x): {where}{state}"


def _deaf(host: Host) -> str:
    """Where what the LiDAR sees does not arrive."""
    companion = host.companion
    if companion is None or companion.connected:
        return ""
    return f"; nobody hears the LiDAR at {companion.address} (SERIAL1)"


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
        "lateness": None if flown.lateness is None else {**vars(flown.lateness), "kept": flown.lateness.kept},
        "recordings": [str(path) for path in files],
    }
    if given["as_json"]:
        click.echo(json.dumps(facts))
        return
    kept = "" if given["record"] else " (not recorded: --record does)"
    click.echo(f"flight {trial}: {why}; {t_s:.1f} s in {flown.wall_s:.1f} s{kept}")
    if flown.lateness is not None and (given["realtime"] or given["serial"] or given["udp"]):
        click.echo(f"real time: {flown.lateness.sentence()}")
    for path in files:
        click.echo(f"recording: {path}")


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
