"""Looks for what is wrong between us and an autopilot: checks our own side, waits, flies a little and watches.

The sessions are those of `fieldworthy link`, with somebody who counts between them and the socket.
Limits: a PX4 that was looked at must be started anew: it does not connect a second time.
Verified by: tests/verification/test_link_diagnosis.py

Long because the looks at both autopilots go through the same steps and differ in their sessions only.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.subnormal import flushed
from fieldworthy.links import diagnosis_px4
from fieldworthy.links.airframe import Airframe, AutopilotKind, airframe_of
from fieldworthy.links.ardupilot import ArdupilotLink, ArdupilotServer
from fieldworthy.links.ardupilot_json import ServoFrame, is_no_command, why_not_servos
from fieldworthy.links.ardupilot_senses import BoatSenses, FlightSenses
from fieldworthy.links.diagnosis import Finding, nobody_finding, port_finding, serial0_finding
from fieldworthy.links.diagnosis_ardupilot import ArdupilotFacts, ardupilot_findings, datagram_finding
from fieldworthy.links.diagnosis_machine import autopilots, connected, holder_of
from fieldworthy.links.diagnosis_px4 import Px4Facts, px4_findings
from fieldworthy.links.diagnosis_said import Listener, said_findings
from fieldworthy.links.diagnosis_senses import (
    ardupilot_senses_findings,
    complaints_ardupilot,
    px4_senses_findings,
    tally_px4,
)
from fieldworthy.links.host import ready
from fieldworthy.links.lockstep import Log, fly
from fieldworthy.links.lost import LinkLost, Loss
from fieldworthy.links.mavlink import Reader
from fieldworthy.links.mavlink_messages import FLAG_LOCKSTEP, CommandLong, Heartbeat, HilActuatorControls
from fieldworthy.links.pace import Pace
from fieldworthy.links.ports import LOOPBACK
from fieldworthy.links.px4 import Px4Link
from fieldworthy.links.px4_senses import Px4Senses
from fieldworthy.links.px4_server import Px4Server
from fieldworthy.links.start_lines import start_lines
from fieldworthy.links.vehicle import for_autopilot, rate_of
from fieldworthy.scenario.schema import Scenario
from fieldworthy.world.one_trial import OneTrial

ENOUGH_S: dict[AutopilotKind, float] = {"px4": 20.0, "ardupilot": 10.0}
"""Simulated time that is flown when all is well."""

PATIENCE_S = 3.0
"""Wall time that an autopilot may be silent here."""

AGAIN_S = 5.0
"""Wall time in which somebody who has closed the connection may come again."""

MOST_RESTARTS = 3
PROBES, PROBE_S = 100, 0.03
"""Messages that are sent after PX4 fell silent, and the wall time in which each may be answered."""

LAST_WORDS_S = 0.3
"""Wall time that is waited for PX4's messages in the end."""

TCP_PORT, TCP_STEP = 5760, 10
"""ArduPilot's SERIAL0, and from one instance to the next."""


@dataclass(frozen=True)
class Request:
    """What is to be looked at."""

    kind: AutopilotKind
    scenario: Scenario
    host: str = LOOPBACK
    instance: int = 0
    port: int | None = None
    for_s: float = 30.0
    """Wall time until the last look."""
    rate_hz: float | None = None
    """Exchanges a second; None: the usual."""


def diagnose(
    request: Request, tell: Callable[[str], None] = lambda line: None, stopped: Callable[[], bool] = lambda: False
) -> Iterator[Finding]:
    """The findings, each as soon as it is known. tell: gets sentences on what goes on. stopped: whether to end now.

    Raises: FieldworthyError for a vehicle that the autopilot cannot fly, ScenarioError for a rate that it cannot have.
    """
    look = _Px4Look(request, tell, stopped) if request.kind == "px4" else _ArdupilotLook(request, tell, stopped)
    try:
        yield from look.findings()
    finally:
        look.close()


class _Look:
    """What both kinds have in common."""

    def __init__(self, request: Request, tell: Callable[[str], None], stopped: Callable[[], bool]) -> None:
        self.request, self.tell, self.stopped = request, tell, stopped
        self.rate_hz = request.rate_hz or rate_of(request.kind, request.scenario)
        self.scenario = for_autopilot(request.scenario, request.kind, self.rate_hz)
        self.vehicle: OneTrial = ready(self.scenario, request.kind, 0, endless=True)
        self.airframe: Airframe = airframe_of(request.kind, self.scenario, self.vehicle.names)
        self.enough_s = ENOUGH_S[request.kind]
        self.server: Any = None
        self.serial0: socket.socket | None = None

    def findings(self) -> Iterator[Finding]:
        """Ours first, then the port, then whoever comes to it."""
        yield from self.own()
        refused, protocol = "", "TCP" if self.request.kind == "px4" else "UDP"
        try:
            self.server = self.listen()
        except FieldworthyError as error:
            refused = str(error)
            number = int(refused.split(": ")[0].rpartition(":")[2]) if "taken" in refused else 0
            yield port_finding("", refused, holder_of(protocol.lower(), number) if number else None)
            return
        self.address = f"{protocol} {self.server.host}:{self.server.port}"
        yield port_finding(self.address, "", None)
        self.deadline = time.monotonic() + self.request.for_s
        lines = start_lines(self.request.kind, self.scenario, self.address, self.request.instance, self.rate_hz)
        self.start = next((line.strip() for line in lines if line.startswith("  ")), "")
        self.tell(f"waiting {self.request.for_s:g} s for {self.request.kind} on {self.address}; started for example by")
        self.tell(f"  {self.start}")
        yield from self.visit()

    def own(self) -> Iterator[Finding]:
        """Of our own side."""
        raise NotImplementedError

    def listen(self) -> Any:
        """The server.

        Raises: FieldworthyError where the port cannot be had.
        """
        raise NotImplementedError

    def visit(self) -> Iterator[Finding]:
        """Of whoever comes."""
        raise NotImplementedError

    def over(self) -> bool:
        """Whether the time is up or somebody wants to stop."""
        return self.stopped() or time.monotonic() >= self.deadline

    def nobody(self, serial0: bool = False) -> Finding:
        """Nobody has come."""
        r = self.request
        running = autopilots(r.kind)
        return nobody_finding(r.kind, r.instance, self.address, r.for_s, self.start, running, serial0)

    def ended(self) -> Iterator[Finding]:
        """Whether the vehicle's flight was over before the look was."""
        if not self.vehicle.running:
            sentence = (
                f"over at {self.vehicle.t_s:.1f} s: the scenario starts in the air, and nobody flies it here; for "
                "a longer look take a scenario that starts at rest, such as quad-x500"
            )
            yield Finding("flight", None, sentence)

    def close(self) -> None:
        """Let go of everything."""
        if self.server is not None:
            self.server.close()
        if self.serial0 is not None:
            self.serial0.close()


class _Px4Tap:
    """Px4Link's socket, seen through by somebody who counts."""

    def __init__(self, stream: socket.socket, senses: Px4Senses) -> None:
        self._stream, self._senses, self._reader = stream, senses, Reader()
        self._sent_us: set[int] = set()
        self.answers = self.foreign = self.foreign_us = self.heartbeats = self.commands = self.received = 0
        self.lockstep: bool | None = None
        self.newest_us = -1
        """Of the newest answer."""

    def settimeout(self, wait_s: float) -> None:
        self._stream.settimeout(wait_s)

    def sendall(self, data: bytes) -> None:
        self._sent_us.add(self._senses.time_us)
        self._stream.sendall(data)

    def recv(self, size: int) -> bytes:
        data = self._stream.recv(size)
        self.received += len(data)
        for message in self._reader.feed(data):
            if isinstance(message, HilActuatorControls):
                self.answers += 1
                self.lockstep = bool(message.flags & FLAG_LOCKSTEP)
                self.newest_us = message.time_usec
                if message.time_usec not in self._sent_us:
                    self.foreign, self.foreign_us = self.foreign + 1, message.time_usec - self._senses.time_us
            elif isinstance(message, Heartbeat):
                self.heartbeats += 1
            elif isinstance(message, CommandLong):
                self.commands += 1
        return data

    def close(self) -> None:
        self._stream.close()


class _Px4Look(_Look):
    def own(self) -> Iterator[Finding]:
        plane = self.scenario.vehicle.values.get("autopilot") == "fixed-wing"
        referenced = self.scenario.reference is not None
        yield from px4_senses_findings(tally_px4(self.vehicle, self.scenario), plane=plane, referenced=referenced)

    def listen(self) -> Px4Server:
        return Px4Server(self.request.host, self.request.instance, self.request.port)

    def visit(self) -> Iterator[Finding]:
        facts, early, until = None, 0, self.deadline
        listener = Listener(self.request.instance)
        try:
            while not self.stopped() and time.monotonic() < until:
                stream = self.server.accept(0.2)
                if stream is None:
                    continue
                peer = "{}:{}".format(*self.server.peer)
                if facts is None:
                    yield Finding("connection", True, f"{peer} has come to {self.address}")
                self.tell(f"{peer} has come; watching it for up to {self.enough_s:g} s of simulated time")
                facts = replace(self._session(stream, listener), closed_early=early)
                if facts.loss is not Loss.CLOSED or facts.answers:
                    break
                early, until = early + 1, min(self.deadline, time.monotonic() + AGAIN_S)
            if self.stopped():
                return
            if facts is None:
                yield self.nobody()
                return
            yield from px4_findings(facts)
            yield from self.ended()
            if facts.answers:
                yield from said_findings(listener.heard, facts.t_s, listener.port, listener.why_not)
        finally:
            listener.close()

    def _session(self, stream: socket.socket, listener: Listener) -> Px4Facts:
        vehicle = self.vehicle
        vehicle.rewind()
        senses = Px4Senses(vehicle, self.scenario)
        tap: Any = _Px4Tap(stream, senses)
        link = Px4Link(tap, senses, self.airframe, PATIENCE_S, self.stopped)
        loss, probed, probed_answers, before, began = None, 0, 0, 0, time.perf_counter()
        first = [0.0, began]
        """Simulated and wall time of the first answer."""

        def over() -> bool:
            if not link.ready:
                first[:] = vehicle.t_s, time.perf_counter()
            enough = vehicle.t_s - first[0] >= self.enough_s
            return enough or self.over() or (not link.ready and link.sensors >= diagnosis_px4.MANY_SENSORS)

        try:
            fly(vehicle, link, Pace(None), Log(every=0), over, listener.poll)
        except LinkLost as error:
            loss = error.loss
            if loss is Loss.SILENT:
                self.tell("PX4 is silent; measuring how many of our messages it answers")
                before = tap.answers
                probed, probed_answers, loss = self._probe(tap, senses, listener)
        wall_s, until = time.perf_counter() - first[1], time.monotonic() + LAST_WORDS_S
        while link.ready and time.monotonic() < until and not self.stopped():
            listener.poll(vehicle.t_s)
            time.sleep(0.02)
        link.close()
        return Px4Facts(
            rate_hz=self.rate_hz, sensors=link.sensors + probed, freewheeled=link.freewheeled, answers=tap.answers,
            foreign=tap.foreign, foreign_us=tap.foreign_us, heartbeats=tap.heartbeats, commands=tap.commands,
            received_bytes=tap.received, lockstep=tap.lockstep, probed=probed, probed_answers=probed_answers,
            probed_others=tap.answers - before - probed_answers if probed else 0,
            t_s=vehicle.t_s, wall_s=wall_s, loss=loss,
        )  # fmt: skip

    @flushed()
    def _probe(self, tap: Any, senses: Px4Senses, listener: Listener) -> tuple[int, int, Loss]:
        """Go on without waiting for each answer, as in a freewheel: (messages sent, answered, what it has come to)."""
        vehicle, answered = self.vehicle, 0
        for sent in range(PROBES):
            if self.stopped():
                return sent, answered, Loss.SILENT
            vehicle.move(vehicle.command, vehicle.world.timing.control)
            until = time.perf_counter() + PROBE_S
            try:
                tap.settimeout(PATIENCE_S)
                tap.sendall(senses.frames())
                while tap.newest_us != senses.time_us and (left := until - time.perf_counter()) > 0.0:
                    tap.settimeout(left)
                    try:
                        if not tap.recv(4096):
                            return sent + 1, answered, Loss.CLOSED
                    except (TimeoutError, BlockingIOError):
                        break
            except OSError:
                return sent + 1, answered, Loss.CLOSED
            answered += tap.newest_us == senses.time_us
            listener.poll(vehicle.t_s)
        return PROBES, answered, Loss.SILENT


class _ArdupilotTap:
    """ArdupilotServer's socket, seen through by somebody who keeps what is no servo packet."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner, self.stranger = inner, ""

    def recvfrom(self, size: int) -> tuple[bytes, Any]:
        data, peer = self._inner.recvfrom(size)
        self.stranger = why_not_servos(data) or self.stranger
        return data, peer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _ArdupilotLook(_Look):
    def own(self) -> Iterator[Finding]:
        timing = self.vehicle.world.timing
        complaints = complaints_ardupilot(self.vehicle, self.scenario)
        yield from ardupilot_senses_findings(complaints, timing.control * timing.dt_s)

    def listen(self) -> ArdupilotServer:
        server: Any = ArdupilotServer(self.request.host, self.request.instance, self.request.port)
        self.tap = server.socket = _ArdupilotTap(server.socket)
        return server  # type: ignore[no-any-return]

    def visit(self) -> Iterator[Finding]:
        frame, look = None, 0.5 * (time.monotonic() + self.deadline)
        while frame is None and not self.over():
            frame = self.server.newest(0.2)
            if frame is None and self.serial0 is None and time.monotonic() > look and not self.server.strangers:
                look = time.monotonic() + 1.0
                self.serial0 = connected(TCP_PORT + TCP_STEP * self.request.instance)
                if self.serial0 is not None:
                    self.tell("connected as a ground station, for which ArduPilot may be waiting")
        if self.stopped():
            return
        if frame is None:
            if self.server.strangers:
                yield datagram_finding(self.server.strangers, self.tap.stranger, False)
            yield self.nobody(self.serial0 is not None)
            return
        if self.serial0 is not None:
            yield serial0_finding(self.request.instance)
        peer = "{}:{}".format(*self.server.peer)
        yield Finding("connection", True, f"{peer} has come to {self.address}")
        self.tell(f"{peer} has come; watching it for up to {self.enough_s:g} s of simulated time")
        facts = self._session(frame)
        if not self.stopped():
            yield from ardupilot_findings(facts)
            yield from self.ended()

    def _session(self, first: ServoFrame) -> ArdupilotFacts:
        vehicle, counters, began, restarts = self.vehicle, [], time.perf_counter(), 0
        boat, came = self.scenario.vehicle.kind == "boat", first.frame_count
        loss = None
        while True:
            vehicle.rewind()
            senses = BoatSenses(vehicle) if boat else FlightSenses(vehicle, self.scenario)
            link = ArdupilotLink(self.server, senses, self.airframe, first, 2.0 * PATIENCE_S, self.stopped)
            counters.append(link.frames)
            try:
                fly(vehicle, link, Pace(None), Log(every=0), lambda: self.over() or vehicle.t_s >= self.enough_s)
            except LinkLost as error:
                loss = error.loss
                if loss is Loss.RESTARTED and restarts < MOST_RESTARTS:
                    self.tell("ArduPilot was started again")
                    restarts, first, loss = restarts + 1, link.frame, None
                    continue
            break
        return ArdupilotFacts(
            rate_hz=self.rate_hz, copter=self.scenario.vehicle.values.get("autopilot") == "multirotor",
            frames=sum(counter.new for counter in counters), first_count=came,
            last_count=link.frame.frame_count, strangers=self.server.strangers,
            stranger=self.tap.stranger, repeated=sum(counter.repeated for counter in counters),
            repeats_in_a_row=link.frames.repeated_in_a_row, lost_frames=sum(counter.lost for counter in counters),
            restarts=restarts, frame_rate_hz=link.frame.frame_rate_hz, boots=is_no_command(link.frame),
            t_s=vehicle.t_s, wall_s=time.perf_counter() - began, loss=loss,
        )  # fmt: skip
