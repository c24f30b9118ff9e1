"""A ground station that never waits: it brings a mission to PX4 or ArduPilot, arms, starts it and follows it.

`poll` is called between two lockstep steps; it reads what has come, answers, and moves at most one phase on. Time is
simulated time, which runs at any pace against the wall: a question is asked again after a simulated second, but not
before a tenth of a real one, for the answer needs the time of the other process's threads.

Source: MAVLink guide, "Heartbeat/Connection Protocol", and the sources of each part, in its own file.
Limits: one vehicle a link. Real time enters where an answer is late, so the tick at which an autopilot hears something
may differ from run to run.
Verified by: tests/verification/test_ground_station.py
"""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fieldworthy.core.errors import require_extra
from fieldworthy.core.subnormal import kept
from fieldworthy.links.asking import WALL_FLOOR_S, Now
from fieldworthy.links.autopilot_modes import Autopilot, Vehicle, check_names, other_than_named
from fieldworthy.links.autopilot_parameters import Parameters
from fieldworthy.links.heard import SILENCE_S, Heard
from fieldworthy.links.mavlink_sockets import Channel, Link
from fieldworthy.links.mission import Geodetic, MissionItem, check_mission, wire_items
from fieldworthy.links.mission_start import Start
from fieldworthy.links.mission_upload import Upload
from fieldworthy.links.mission_watch import MissionWatch
from fieldworthy.links.partner import Partner

_MOST_RESTARTS = 2


class Phase(enum.Enum):
    """What the ground station is doing."""

    HEARTBEAT = "waiting for a heartbeat"
    PARAMETERS = "setting the parameters"
    ESTIMATE = "waiting for the position estimate"
    UPLOAD = "uploading the mission"
    ARM = "arming"
    FLIGHT = "taking off / flying the mission"
    DONE = "done"
    FAILED = "failed"


DEADLINES_S: Mapping[Phase, float] = {
    Phase.HEARTBEAT: 60.0, Phase.PARAMETERS: 60.0, Phase.ESTIMATE: 120.0, Phase.UPLOAD: 30.0, Phase.ARM: 60.0,
    Phase.FLIGHT: 1800.0,
}  # fmt: skip
"""Simulated seconds a phase may last."""


class GroundStation:
    """See the module. Never raises for what an autopilot does: `phase` becomes FAILED, and `problem` says why."""

    def __init__(
        self, link: Link, autopilot: Autopilot, vehicle: Vehicle, mission: Sequence[MissionItem], *, geodetic: Geodetic,
        parameters: Mapping[str, float] | None = None, deadlines_s: Mapping[Phase, float] | None = None,
        arm_after_s: float = 0.0, clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`parameters` are set and confirmed before arming; those that an autopilot reads at its start only go to
        `px4_command` or `ardupilot_command`. `deadlines_s` replaces single values of DEADLINES_S. Nothing is
        armed before `arm_after_s` of simulated time.

        Raises: ScenarioError for a mission that this vehicle cannot fly, MissingExtraError without pymavlink.
        """
        check_names(autopilot, vehicle)
        check_mission(vehicle, mission)
        dialect = "ardupilotmega" if autopilot == "ardupilot" else "common"
        m = require_extra(f"pymavlink.dialects.v20.{dialect}", "link", "a mission for an autopilot")
        self.autopilot, self.vehicle, self.mission = autopilot, vehicle, tuple(mission)
        self._clock, self._now = clock, Now(0.0, clock())
        self._arm_after_s = arm_after_s
        self._deadlines_s = {**DEADLINES_S, **(deadlines_s or {})}
        wire = wire_items(self.mission, autopilot, vehicle, geodetic)
        self._heard = Heard(m, autopilot, vehicle, wire, self._now)
        self._replies: dict[int, Callable[[Any], None]] = {
            m.MAVLINK_MSG_ID_HEARTBEAT: self._on_heartbeat,
            m.MAVLINK_MSG_ID_SYSTEM_TIME: self._on_system_time,
            m.MAVLINK_MSG_ID_PARAM_VALUE: self._on_param_value,
            m.MAVLINK_MSG_ID_MISSION_REQUEST: self._on_upload,
            m.MAVLINK_MSG_ID_MISSION_REQUEST_INT: self._on_upload,
            m.MAVLINK_MSG_ID_MISSION_ACK: self._on_upload,
        }
        self._channel = Channel(link, m, self._heard.handlers.keys() | self._replies.keys())
        self._partner = Partner(self._channel, m, autopilot)
        self._parameters = Parameters(self._partner, parameters or {})
        self._start = Start(m, self._partner, self._heard, vehicle)
        self._flight = MissionWatch(self.mission, vehicle, geodetic, self._heard, self._start.mission_mode)
        self._upload = Upload(m, self._partner, wire)
        self._run: dict[Phase, Callable[[], None]] = {
            Phase.HEARTBEAT: self._await_heartbeat,
            Phase.PARAMETERS: self._set_parameters,
            Phase.ESTIMATE: self._await_estimate,
            Phase.UPLOAD: self._offer_mission,
            Phase.ARM: self._arm,
            Phase.FLIGHT: self._follow,
        }
        self.phase = Phase.HEARTBEAT
        self.problem = ""
        """Why it failed: what, and the autopilot's own last words."""
        self.restarts = 0
        self._since = self._now

    # ------------------------------------------------------------------------------------------------ the outside

    @kept()
    def poll(self, t_s: float) -> None:
        """Take what has come and go on. `t_s` is the simulated time, and never runs back."""
        self._now = self._heard.now = Now(t_s, self._clock())
        for message in self._channel.receive():
            self._take(message)
        self._partner.keep_alive(self._now)
        self._parameters.urge(self._now)
        self._tell_of_parameters()
        step = self._run.get(self.phase)
        if step is None:
            return
        step()
        if self.phase in self._run:
            self._watch()

    @kept()
    def set_parameter(self, name: str, value: float) -> None:
        """Set a parameter now, in any phase; before the first heartbeat: with it.

        It is asked for again each simulated second until the autopilot confirms it, five times at most; `texts` has a
        note where it never does. PX4 is asked for the type first, where that is not known from before. A value that is
        no number or that does not fit the parameter's type is a failure, and after the end a note.
        """
        self._parameters.set(name, value, Now(self._now.t_s, self._clock()))
        self._tell_of_parameters()

    def close(self) -> None:
        """Hang up."""
        self._channel.link.close()

    @property
    def finished(self) -> bool:
        """Whether it is done or has failed. `poll` goes on to keep the link alive and the state fresh."""
        return self.phase not in self._run

    @property
    def armed(self) -> bool:
        """By the last heartbeat."""
        return self._heard.armed

    @property
    def mode(self) -> str:
        """In the autopilot's own word, such as AUTO.MISSION or GUIDED; empty before the first heartbeat."""
        return self._heard.mode

    @property
    def current(self) -> int | None:
        """The item of `mission` that is being flown."""
        return self._heard.current

    @property
    def reached(self) -> int | None:
        """The last item of `mission` that was reached, by the autopilot's word."""
        return self._heard.reached

    @property
    def in_air(self) -> bool | None:
        """What the autopilot believes (EXTENDED_SYS_STATE); None before it has said so."""
        return self._heard.in_air

    @property
    def texts(self) -> list[tuple[float, int, str]]:
        """(t_s, severity, text) of every STATUSTEXT, and of notes of our own, which begin with "ground station:".

        A lower severity is graver, 4 is a warning.
        """
        return self._heard.texts

    # ------------------------------------------------------------------------------------------------ what is heard

    def _take(self, message: Any) -> None:
        if not self._partner.sent(message):
            return
        number = message.get_msgId()
        for take in (self._heard.handlers.get(number), self._replies.get(number)):
            if take is not None:
                take(message)

    def _on_heartbeat(self, message: Any) -> None:
        other = other_than_named(self.autopilot, self.vehicle, message.autopilot, message.type)
        if other and self.phase is Phase.HEARTBEAT:
            self._fail(other)

    def _on_system_time(self, message: Any) -> None:
        if not self._heard.clock_ran_back:
            return
        self.restarts += 1
        if self.finished:
            return
        if self.phase is Phase.FLIGHT or self.armed:
            self._fail("the autopilot has started again in flight")
        elif self.restarts > _MOST_RESTARTS:
            self._fail(f"the autopilot has started again {self.restarts} times")
        else:
            for part in (self._partner, self._heard, self._parameters, self._start, self._flight):
                part.forget()
            self._enter(Phase.HEARTBEAT)

    def _on_param_value(self, message: Any) -> None:
        self._parameters.heard(message)
        self._tell_of_parameters()

    def _on_upload(self, message: Any) -> None:
        if self.phase is not Phase.UPLOAD:
            return
        self._upload.heard(message, self._now)
        if self._upload.problem:
            self._fail(self._upload.problem)
        elif self._upload.accepted:
            self._start.begin()
            self._enter(Phase.ARM)

    # ------------------------------------------------------------------------------------------------ the phases

    def _await_heartbeat(self) -> None:
        if self._partner.system:
            self._enter(Phase.PARAMETERS)

    def _set_parameters(self) -> None:
        if self._parameters.started(self._now):
            self._enter(Phase.ESTIMATE)
        self._tell_of_parameters()

    def _await_estimate(self) -> None:
        """A position is known. Other checks before arming may still be on: then arming is asked again, and says why.

        ArduPilot's bit for "ready to arm" in SYS_STATUS is for its present mode, and STABILIZE needs no position.
        """
        if self._heard.has_position and (self._heard.has_home or self.autopilot != "px4"):
            self._upload.forget()
            self._enter(Phase.UPLOAD)

    def _offer_mission(self) -> None:
        self._upload.offer(self._now)

    def _arm(self) -> None:
        if self._now.t_s < self._arm_after_s:
            self._since = self._now
        elif self._start.started(self._now):
            self._enter(Phase.FLIGHT)

    def _follow(self) -> None:
        if self._flight.done(self._now):
            self._enter(Phase.DONE)
        elif self._flight.problem:
            self._fail(self._flight.problem)

    def _watch(self) -> None:
        """Fail where a phase lasts too long or the autopilot has fallen silent."""
        limit_s = self._deadlines_s[self.phase]
        lasted_s, lasted_wall_s = self._now.t_s - self._since.t_s, self._now.wall_s - self._since.wall_s
        if lasted_s > limit_s and lasted_wall_s > min(WALL_FLOOR_S, limit_s):
            self._fail(f"not over after {limit_s:g} s of simulated time{self._so_far()}")
        elif self.phase is not Phase.HEARTBEAT and self._heard.silent():
            self._fail(f"no heartbeat for {SILENCE_S:g} s of simulated time: the autopilot has ended or hangs")

    # ------------------------------------------------------------------------------------------------ the sentences

    def _so_far(self) -> str:
        if self.phase is Phase.HEARTBEAT:
            valid = "an autopilot whose MAVLink port this is, with the instance that was named"
            return f": nothing was heard; valid: {valid}"
        if self.phase is Phase.ARM:
            return self._start.so_far()
        return self._flight.so_far() if self.phase is Phase.FLIGHT else ""

    def _tell_of_parameters(self) -> None:
        """What has gone wrong with them: notes, and a problem that ends it all, unless it has ended."""
        parameters = self._parameters
        problem, notes = parameters.problem, parameters.notes
        parameters.problem, parameters.notes = "", []
        if problem and self.finished:
            notes = [*notes, problem]
        elif problem:
            self._fail(problem)
        for note in notes:
            self._heard.note(note)

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self._since = self._now
        self._heard.following = phase is Phase.FLIGHT

    def _fail(self, what: str) -> None:
        words = self._heard.last_words()
        said = f"the autopilot's last words: {words}" if words else "the autopilot has said nothing"
        self.problem = f"{self.phase.value}: {what}; {said}"
        self._enter(Phase.FAILED)
