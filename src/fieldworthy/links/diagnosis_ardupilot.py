"""What may be wrong with an ArduPilot that has come, gate by gate.

Source: ArduPilot, libraries/SITL/SIM_JSON.cpp; seen with master of 2025-07-21.
Limits: ArduPilot's parameters are not read: what depends on one is said as a condition.
Verified by: tests/verification/test_link_diagnosis.py
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.links.diagnosis import Finding
from fieldworthy.links.lost import Loss

LOOP_SHARE = 1.8
"""ArduCopter arms from so many physics steps a loop on."""

COPTER_LOOP_HZ = 400.0
"""SCHED_LOOP_RATE of ArduCopter as it comes."""

SLEWED = 1200
"""Frames after which frame_rate has gone from its first value to any other: 1 Hz a frame."""

MANY_LOST = 0.01
"""Share of frames that are lost on one machine only when somebody else answers too."""


@dataclass(frozen=True)
class ArdupilotFacts:
    """Of one session."""

    rate_hz: float
    """Of our replies."""
    copter: bool
    frames: int = 0
    """Servo packets with a new count."""
    first_count: int = 0
    last_count: int = 0
    strangers: int = 0
    """Datagrams that are no servo packets."""
    stranger: str = ""
    """Why the newest of them is none."""
    repeated: int = 0
    repeats_in_a_row: int = 0
    """At the end."""
    lost_frames: int = 0
    restarts: int = 0
    frame_rate_hz: int = 0
    """What the newest packet says."""
    boots: bool = False
    """Whether its outputs have not been set until the end."""
    t_s: float = 0.0
    wall_s: float = 0.0
    loss: Loss | None = None


def datagram_finding(strangers: int, stranger: str, came: bool) -> Finding:
    """What has come to the port and is no servo packet. came: servo packets have come as well."""
    if not strangers:
        return Finding("datagrams", True, "nothing but servo packets has come")
    beside = " beside ArduPilot's" if came else " and no servo packet"
    return Finding(
        "datagrams", False, f"{strangers} datagrams have come{beside} that are none: {stranger}; end whoever sends them"
    )


def ardupilot_findings(facts: ArdupilotFacts) -> list[Finding]:
    """In the order of the gates; what lies behind a closed one is left out."""
    found = [datagram_finding(facts.strangers, facts.stranger, True)]
    replies = _replies(facts)
    found.append(replies)
    if replies.ok is False:
        return found
    return [*found, _restarts(facts), _losses(facts), _frame_rate(facts), *_arming(facts)]


def _replies(facts: ArdupilotFacts) -> Finding:
    """Whether frame_count goes on."""
    name, last = "replies", facts.last_count
    if facts.loss is Loss.REPEATING and last == 0:
        return Finding(
            name, False, f"frame_count stays at 0, {facts.repeats_in_a_row + 1} times now: ArduPilot has rejected our "
            "first line (its console then names a key) or does not get it (a firewall, a container); look at its "
            "console and start it anew"
        )  # fmt: skip
    if facts.loss is Loss.REPEATING:
        return Finding(
            name, False, f"frame_count stays at {last} ({facts.repeats_in_a_row + 1} times): ArduPilot does not take "
            "our replies any more: they do not arrive, or it cannot read them (its console then names a key), or a "
            "second simulator answers; end the other one, or start ArduPilot anew"
        )  # fmt: skip
    if facts.loss is Loss.SILENT:
        return Finding(
            name, False, f"ArduPilot fell silent after {facts.frames} frames ({facts.t_s:.1f} s): it has ended or "
            "hangs; its console says why, and a new one must be started"
        )  # fmt: skip
    if facts.frames < 2:
        return Finding(name, False, f"{facts.frames} frames are too few to judge; give --for more seconds")
    speed = f", {facts.t_s / facts.wall_s:.1f} times real time" if facts.wall_s > 0.0 else ""
    boots = "; it has not set its outputs yet" if facts.boots else ""
    return Finding(name, True, f"ArduPilot took each for {facts.t_s:.1f} s{speed}{boots}")


def _restarts(facts: ArdupilotFacts) -> Finding:
    if facts.restarts:
        return Finding(
            "restarts", False, f"frame_count fell {facts.restarts} times: ArduPilot was started again while we looked, "
            "or two of the same number send to this port; give each its own -I"
        )  # fmt: skip
    if facts.first_count > 0:
        return Finding(
            "restarts", None, f"ArduPilot was at frame {facts.first_count} when we met: it has flown with another "
            "simulator before and keeps its time and its estimate of where it is; start it anew for a clean flight"
        )  # fmt: skip
    return Finding("restarts", True, "ArduPilot was new when we met, and was not started again")


def _losses(facts: ArdupilotFacts) -> Finding:
    lost, repeated = facts.lost_frames, facts.repeated
    if lost > MANY_LOST * facts.frames:
        return Finding(
            "packets", False, f"{lost} frames of {facts.frames + lost} never came here: packets are lost on the way, "
            "or a second simulator answers ArduPilot too; end it, or link over a wire"
        )  # fmt: skip
    if lost or repeated:
        return Finding(
            "packets", None, f"{lost} frames were lost and {repeated} came again, of {facts.frames}: few enough"
        )
    return Finding("packets", True, "none lost, none twice")


def _frame_rate(facts: ArdupilotFacts) -> Finding:
    said, ours = facts.frame_rate_hz, facts.rate_hz
    if facts.frames < SLEWED or abs(said - ours) <= 2.0:
        return Finding("frame rate", True, f"we reply at {ours:g} Hz of simulated time; ArduPilot speaks of {said} Hz")
    return Finding(
        "frame rate", None, f"ArduPilot speaks of {said} Hz and we reply at {ours:g} Hz: a hint only, it goes by our "
        f"time stamps; SIM_RATE_HZ = {ours:g} makes them the same"
    )  # fmt: skip


def _arming(facts: ArdupilotFacts) -> list[Finding]:
    """ArduCopter's "Gyro 0 rate 400Hz < loop ratex1.8 720Hz"."""
    if not facts.copter:
        return []
    loop = facts.rate_hz / LOOP_SHARE
    if loop >= COPTER_LOOP_HZ:
        return [Finding("arming rate", True, f"{facts.rate_hz:g} Hz are enough for SCHED_LOOP_RATE up to {loop:.0f}")]
    return [
        Finding(
            "arming rate", None, f"at {facts.rate_hz:g} Hz ArduCopter arms only with SCHED_LOOP_RATE up to {loop:.0f} "
            f"('Gyro 0 rate … < loop ratex1.8'), and it comes with {COPTER_LOOP_HZ:g}: set it, or give --rate 800"
        )
    ]  # fmt: skip
