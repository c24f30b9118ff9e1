"""What may be wrong with a PX4 that has connected, gate by gate.

Source: PX4, SimulatorMavlink.cpp; seen with main of 2025-08-18.
Limits: what is measured is this session's; a fault of PX4's parameters is named by its sign, not read from PX4.
Verified by: tests/verification/test_link_diagnosis.py
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.links.diagnosis import Finding
from fieldworthy.links.lost import Loss
from fieldworthy.links.px4 import WALK_S

MANY_SENSORS = 2500
"""Without an answer to so many HIL_SENSOR messages, 10 s, PX4 is silent: it took 15 to 38 at walking pace."""

NONE, ALL = 0.02, 0.98
"""Shares of answers that are taken for none and all: some go by while the machine is busy."""


@dataclass(frozen=True)
class Px4Facts:
    """Of one session."""

    rate_hz: float
    """Of our HIL_SENSOR."""
    sensors: int = 0
    """HIL_SENSOR messages sent."""
    freewheeled: int = 0
    """Of these, before the first answer."""
    answers: int = 0
    foreign: int = 0
    """Answers with a time stamp that we have never sent."""
    foreign_us: int = 0
    """How far the newest of these is ahead of our clock."""
    heartbeats: int = 0
    commands: int = 0
    """COMMAND_LONG, with which PX4 opens."""
    received_bytes: int = 0
    lockstep: bool | None = None
    """What the newest answer's flags say."""
    probed: int = 0
    """HIL_SENSOR messages sent after it fell silent, each with a moment to answer."""
    probed_answers: int = 0
    """Of these, answered with their own time stamp."""
    probed_others: int = 0
    """Answers with other time stamps that came meanwhile."""
    t_s: float = 0.0
    """Simulated time flown in lockstep."""
    wall_s: float = 0.0
    loss: Loss | None = None
    closed_early: int = 0
    """Connections before this one that were closed before they answered anything."""


def px4_findings(facts: Px4Facts) -> list[Finding]:
    """In the order of the gates; what lies behind a closed one is left out."""
    found = [_hello(facts)]
    if found[-1].ok is False:
        return found
    found.append(_answers(facts))
    if not facts.answers:
        return found
    found.append(_lockstep(facts))
    clock = _clock(facts)
    found.append(clock)
    if clock.ok is not False:
        found.append(_rate(facts))
    return found


def _hello(facts: Px4Facts) -> Finding:
    """Whether it is PX4 that has connected."""
    if facts.loss is Loss.CLOSED and not facts.answers:
        often = f" ({facts.closed_early + 1} times)" if facts.closed_early else ""
        return Finding(
            "greeting", False, f"whoever connected has closed the connection{often} after {facts.sensors} HIL_SENSOR "
            "messages: PX4 has ended (its console says why) or it is another program; end it and start PX4 anew, "
            "since it never connects a second time"
        )  # fmt: skip
    if facts.answers or facts.heartbeats or facts.commands:
        return Finding(
            "greeting", True, f"it speaks MAVLink: {facts.heartbeats} HEARTBEAT, {facts.commands} COMMAND_LONG"
        )
    if facts.received_bytes:
        return Finding(
            "greeting", False, f"the {facts.received_bytes} bytes that have come are no message of PX4's simulator "
            "API: another program has connected; end it"
        )  # fmt: skip
    return Finding(
        "greeting", False, "whoever connected has said nothing, and PX4 opens with COMMAND_LONG and HEARTBEAT: another "
        "program has connected, or PX4 hangs; end it and start PX4 anew"
    )  # fmt: skip


def _answers(facts: Px4Facts) -> Finding:
    """The freewheel: PX4 answers from when its start script has started the modules."""
    if facts.answers:
        return Finding("answers", True, f"the first came after {facts.freewheeled} HIL_SENSOR messages")
    if facts.sensors < MANY_SENSORS:
        return Finding(
            "answers", False, f"none to {facts.sensors} HIL_SENSOR messages in {facts.sensors * WALK_S:.1f} s, which "
            "is too few to judge: PX4 may still be starting; give --for more seconds"
        )  # fmt: skip
    return Finding(
        "answers", False, f"PX4 is connected but has sent no HIL_ACTUATOR_CONTROLS after {facts.sensors} HIL_SENSOR "
        "messages: its start script did not end (its console says where), no airframe was chosen "
        "(PX4_SIM_MODEL=none_iris), it is not built for lockstep, or it has flown with another simulator and waits for "
        "its old time to come again; end PX4 and start it anew"
    )  # fmt: skip


def _lockstep(facts: Px4Facts) -> Finding:
    if facts.lockstep is False:
        return Finding(
            "lockstep", False, "its HIL_ACTUATOR_CONTROLS lack bit 0 of flags: this PX4 is built without lockstep and "
            "runs by the wall clock; build px4_sitl_default (ENABLE_LOCKSTEP_SCHEDULER yes), not px4_sitl_nolockstep"
        )  # fmt: skip
    return Finding("lockstep", True, "PX4 waits for each HIL_SENSOR (bit 0 of flags)")


def _clock(facts: Px4Facts) -> Finding:
    if facts.foreign:
        way = "ahead of" if facts.foreign_us > 0 else "behind"
        return Finding(
            "clock", False, f"{facts.foreign} of {facts.answers} answers bear times that we never sent, "
            f"{abs(facts.foreign_us) / 1e6:.3f} s {way} ours: PX4 has flown with another simulator before, or a second "
            "one speaks to it; its clock never goes back, so end PX4 and start it anew for each session"
        )  # fmt: skip
    if facts.probed and facts.probed_others > ALL * facts.probed and not facts.probed_answers:
        return Finding(
            "clock", False, f"PX4 goes on answering, but {facts.probed} HIL_SENSOR messages got answers with older "
            "time stamps only: its clock is not ours (it has flown with another simulator, or a second one speaks "
            "to it); end PX4 and start it anew for each session"
        )  # fmt: skip
    return Finding("clock", True, "every answer bears a time stamp of ours")


def _rate(facts: Px4Facts) -> Finding:
    name, rate = "one to one", facts.rate_hz
    if facts.loss is None:
        speed = f", {facts.t_s / facts.wall_s:.1f} times real time" if facts.wall_s > 0.0 else ""
        return Finding(name, True, f"each HIL_SENSOR at {rate:g} Hz was answered for {facts.t_s:.1f} s{speed}")
    if facts.loss is Loss.CLOSED:
        return Finding(
            name, False, f"PX4 closed the connection after {facts.answers} answers: it has ended or was killed; its "
            "console says why, and a new one must be started"
        )  # fmt: skip
    share = facts.probed_answers / facts.probed if facts.probed else 0.0
    if share <= NONE:
        return Finding(
            name, False, f"PX4 fell silent after {facts.answers} answers, {facts.t_s:.1f} s, and has answered none of "
            f"{facts.probed} HIL_SENSOR messages since: one of its modules waits for another (a stopped driver or "
            "estimator); its console says which; start it anew"
        )  # fmt: skip
    if share >= ALL:
        return Finding(
            name, None, f"PX4 paused once after {facts.answers} answers and then answered each again: it, or this "
            "machine, was busy; look at its console when this comes back"
        )  # fmt: skip
    return Finding(
        name, False, f"PX4 answers only {100 * share:.0f} % of {facts.probed} HIL_SENSOR messages at {rate:g} Hz, and "
        f"a simulator in lockstep hangs: set IMU_GYRO_RATEMAX = IMU_INTEG_RATE = {rate:g} and start PX4 anew, or give "
        "--rate 250 or less"
    )  # fmt: skip
