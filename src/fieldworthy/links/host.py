"""Where an autopilot is waited for, and one flight with it, of either kind."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from fieldworthy.core.engine import worker_threads
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.subnormal import flushed
from fieldworthy.links.airframe import Airframe, AutopilotKind, airframe_of
from fieldworthy.links.ardupilot import ArdupilotLink, ArdupilotServer
from fieldworthy.links.ardupilot_json import JsonVersion, ServoFrame
from fieldworthy.links.ardupilot_senses import BoatSenses, FlightSenses, check_ardupilot
from fieldworthy.links.companion import Companion
from fieldworthy.links.lockstep import Autopilot, Log, fly
from fieldworthy.links.lost import LinkLost, Loss
from fieldworthy.links.pace import Lateness, Pace, undisturbed
from fieldworthy.links.ports import LOOPBACK
from fieldworthy.links.px4 import Px4Link
from fieldworthy.links.px4_board import Board, Line, Px4BoardLink
from fieldworthy.links.px4_senses import Px4Senses, check_px4
from fieldworthy.links.px4_server import Px4Server
from fieldworthy.links.vehicle import build_for
from fieldworthy.scenario.schema import Scenario
from fieldworthy.world.alone import Alone
from fieldworthy.world.one_trial import OneTrial
from fieldworthy.world.steered import Steered


@dataclass(frozen=True)
class Options:
    """What a session is told besides its scenario."""

    patience_s: float = 10.0
    """Wall time that the autopilot may be silent."""
    rc_us: Sequence[float] = ()
    """Pulses of a remote control that nobody moves, for PX4."""
    version: JsonVersion = "4.5"
    """Of ArduPilot's JSON interface."""
    skid: bool = False
    """A boat is steered by its left and right throttle."""


class Host:
    """One port and whoever comes to it, one after the other.

    Raises: FieldworthyError where the port is taken.
    """

    def __init__(
        self,
        kind: AutopilotKind,
        host: str = LOOPBACK,
        instance: int = 0,
        port: int | None = None,
        line: Line | None = None,
    ) -> None:
        """line: to a PX4 board, in place of a port."""
        self.kind, self.instance = kind, instance
        self._board = Board(line) if line is not None else None
        self._px4 = Px4Server(host, instance, port) if kind == "px4" and line is None else None
        self._ardupilot = ArdupilotServer(host, instance, port) if kind == "ardupilot" else None
        self.companion: Companion | None = None
        """Of the last flight: tells ArduPilot what a LiDAR sees."""
        self._client: socket.socket | None = None
        self._first: ServoFrame | None = None

    @property
    def address(self) -> str:
        """Where it listens."""
        if self._board is not None:
            return self._board.line.name
        if self._px4 is not None:
            return f"TCP {self._px4.host}:{self._px4.port}"
        assert self._ardupilot is not None
        return f"UDP {self._ardupilot.host}:{self._ardupilot.port}"

    @property
    def port(self) -> int:
        """The port that it listens on; 0 with a line to a board."""
        server = self._px4 or self._ardupilot
        return server.port if server is not None else 0

    @property
    def stranger(self) -> str:
        """What has come to the port that is no autopilot, or a second one; empty if nothing."""
        if self._ardupilot is not None:
            return self._ardupilot.stranger or self._ardupilot.second
        return self._px4.stranger if self._px4 is not None else ""

    @property
    def still_flying(self) -> str:
        """Address of an ArduPilot that calls on although its session is over; empty if none does.

        It still flies the vehicle of before, so it is not taken: it must be started anew.
        """
        return self._ardupilot.still_flying if self._ardupilot is not None else ""

    @property
    def peer_host(self) -> str:
        """The host of the autopilot that came last, in numbers; this machine where none has."""
        server = self._px4 or self._ardupilot
        return str(server.peer[0]) if server is not None and server.peer is not None else LOOPBACK

    def wait(self, wait_s: float) -> str:
        """The address of the autopilot that is there after at most this time; empty if nobody is."""
        if self._board is not None:
            return self._board.line.name if self._board.wait(wait_s) else ""
        if self._px4 is not None:
            self._client = self._client or self._px4.accept(wait_s)
            return "{}:{}".format(*self._px4.peer) if self._client is not None else ""
        assert self._ardupilot is not None
        self._first = self._first or self._ardupilot.newest(wait_s)
        return "{}:{}".format(*self._ardupilot.peer) if self._first is not None else ""

    def session(self, vehicle: OneTrial, scenario: Scenario, options: Options, stopped: Callable[[], bool]) -> Any:
        """The session with the autopilot that `wait` has found."""
        airframe = airframe_of(self.kind, scenario, vehicle.names, options.skid)
        if self._board is not None:
            senses = Px4Senses(vehicle, scenario, options.rc_us)
            return Px4BoardLink(self._board.line, senses, airframe, options.patience_s)
        if self._px4 is not None and self._client is not None:
            senses = Px4Senses(vehicle, scenario, options.rc_us)
            return Px4Link(self._client, senses, airframe, options.patience_s, stopped)
        if self._ardupilot is not None and self._first is not None:
            boat = scenario.vehicle.kind == "boat"
            line = BoatSenses(vehicle) if boat else FlightSenses(vehicle, scenario, options.version)
            return ArdupilotLink(self._ardupilot, line, airframe, self._first, options.patience_s, stopped)
        raise FieldworthyError("no autopilot has come; valid: wait() first")

    def leave(self, link: Any = None) -> None:
        """The session is over.

        An ArduPilot that was started again waits with its first frame; another one that is still there flies the
        vehicle of before, and is not taken for the next.
        """
        if self._client is not None:
            self._client.close()
        self._client, self._first = None, None
        if isinstance(link, ArdupilotLink):
            if link.restarted:
                self._first = link.frame
            elif self._ardupilot is not None:
                self._ardupilot.part()

    def close(self) -> None:
        """Listen no more."""
        self.leave()
        if self._board is not None:
            self._board.line.close()
        for server in (self._px4, self._ardupilot):
            if server is not None:
                server.close()


@dataclass
class Flown:
    """A flight that is over."""

    vehicle: OneTrial
    log: Log
    lateness: Lateness | None
    """None: as fast as it went."""
    lost: LinkLost | None
    """Why it ended before its time: the autopilot is no longer there, or our side could not go on (`Loss.OURS`);
    None: the trial ended, or somebody stopped it."""
    wall_s: float


def check(kind: AutopilotKind, scenario: Scenario, *, skid: bool = False) -> Airframe:
    """Whether the autopilot can fly the scenario's vehicle at all: what can be told before anybody waits for it.

    Returns: how it is wired, without the numbers of a command. skid: see `Options`.
    Raises: FieldworthyError where no frame fits, an inertial unit is missing, or PX4's clock cannot follow.
    """
    airframe = airframe_of(kind, scenario, (), skid)
    (check_px4 if kind == "px4" else check_ardupilot)(scenario)
    return airframe


def ready(scenario: Scenario, kind: AutopilotKind, trial: int, *, endless: bool = False) -> OneTrial:
    """The vehicle of a trial at its start, compiled, so that no autopilot has to wait for that.

    Raises: FieldworthyError as `check`.
    """
    check(kind, scenario)
    with flushed():
        world = build_for(scenario, kind, trial, endless=endless).world
        vehicle: OneTrial = Alone(world) if world.lidar is None and not world.extra else Steered(world)
        for _ in range(2):
            vehicle.move(vehicle.command, world.timing.control)
        vehicle.rewind()
    airframe_of(kind, scenario, vehicle.names)
    return vehicle


def flight(
    host: Host,
    vehicle: OneTrial,
    scenario: Scenario,
    log: Log,
    *,
    speed: float | None = None,
    realtime: bool = False,
    options: Options | None = None,
    stopped: Callable[[], bool] = lambda: False,
    beside: Callable[[Autopilot, float], None] | None = None,
) -> Flown:
    """Fly with the autopilot that the host has found until the trial ends, the autopilot is lost or somebody stops it.

    realtime: before all ordinary programs, where the system allows it.
    beside: called after every step with the session and the simulated time [s].
    Raises: FieldworthyError before anything is flown. What fails later is in `Flown.lost`.
    """
    pace, began, lost = Pace(speed), time.perf_counter(), None
    try:
        link = host.session(vehicle, scenario, options or Options(), stopped)
    except FieldworthyError:
        host.leave()
        raise
    companion = host.companion = companion_of(host, vehicle, scenario)

    def every_step(t_s: float) -> None:
        if companion is not None and isinstance(vehicle, Steered):
            companion.tell(t_s, vehicle.sweep())
        if beside is not None:
            beside(link, t_s)

    alone = worker_threads(1) if isinstance(vehicle, Alone) else nullcontext()
    with alone, undisturbed(first=realtime) if speed is not None else nullcontext():
        try:
            fly(vehicle, link, pace, log, stopped, every_step)
        except LinkLost as error:
            lost = error
        except FieldworthyError as error:
            lost = LinkLost(Loss.OURS, f"our side: {error}")
        finally:
            host.leave(link)
            if companion is not None:
                companion.close()
    if lost is not None:
        log.keep(vehicle, vehicle.command)
    return Flown(vehicle, log, pace.lateness() if speed is not None else None, lost, time.perf_counter() - began)


def companion_of(host: Host, vehicle: OneTrial, scenario: Scenario) -> Companion | None:
    """Whoever tells ArduPilot what the LiDAR sees, at the machine where ArduPilot is."""
    lidar = scenario.sensors.lidar
    if lidar is None or host.kind != "ardupilot" or not isinstance(vehicle, Steered):
        return None
    return Companion(host.instance, (lidar.range_min_m, lidar.range_max_m), host=host.peer_host)
