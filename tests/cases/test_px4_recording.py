"""A real PX4's side of a take-off, played to our link step by step: what it said, and when, is what must come out.

The recording is of PX4 v1.17-alpha (main of 2025-08-18) at 250 Hz with another simulator, both directions byte by byte,
in records of `A` (autopilot) or `S` (simulator), a length of 16 bits, the bytes.
"""

from __future__ import annotations

import lzma
import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("fastcrc")

from fieldworthy.links import px4 as px4_module
from fieldworthy.links.airframe import Airframe, Output
from fieldworthy.links.fake_px4_rules import Rules
from fieldworthy.links.mavlink import Reader
from fieldworthy.links.mavlink_messages import (
    MODE_ARMED,
    HilActuatorControls,
    HilGps,
    HilSensor,
    HilStateQuaternion,
    Message,
)
from fieldworthy.links.px4 import Px4Link
from fieldworthy.links.px4_senses import Px4Senses
from fieldworthy.links.vehicle import build_for, for_autopilot
from fieldworthy.scenario import load
from fieldworthy.world.alone import Alone

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("FIELDWORTHY_SHARED", ROOT.parent / "shared"))
TAKEOFF = SHARED / "recordings" / "px4_takeoff_250hz.raw.xz"

needs_recording = pytest.mark.skipif(not TAKEOFF.is_file(), reason=f"no {TAKEOFF}: set FIELDWORTHY_SHARED")

AIRFRAME = Airframe("all", tuple(Output(i, str(i)) for i in range(16)), tuple(str(i) for i in range(16)))


@dataclass
class Step:
    """A HIL_SENSOR of the recorded simulator, what it sent with it, and what the autopilot said to it."""

    time_us: int
    before: list[Message] = field(default_factory=list)
    sensor: HilSensor | None = None
    answer: bytes = b""


def records() -> Iterator[tuple[str, bytes]]:
    data = lzma.decompress(TAKEOFF.read_bytes())
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<H", data, at + 1)
        yield chr(data[at]), data[at + 3 : at + 3 + length]
        at += 3 + length


@pytest.fixture(scope="module")
def steps() -> list[Step]:
    """Of the whole recording, in order; `before` holds what came since the HIL_SENSOR before."""
    reader, made = Reader(), list[Step]()
    before: list[Message] = []
    for side, piece in records():
        if side == "A":
            made[-1].answer += piece
            continue
        for message in reader.feed(piece):
            if isinstance(message, HilSensor):
                made.append(Step(message.time_usec, before, message))
                before = []
            else:
                before.append(message)
    return made


def controls_of(step: Step) -> list[HilActuatorControls]:
    return [message for message in Reader().feed(step.answer) if isinstance(message, HilActuatorControls)]


@needs_recording
def test_every_exchange_gives_what_px4_said_to_that_step(steps: list[Step], monkeypatch: pytest.MonkeyPatch) -> None:
    """Freewheel ends where the real one's did, then each exchange returns the recorded controls of its own stamp."""
    monkeypatch.setattr(px4_module, "WALK_S", 1e-3)
    ours, theirs = socket.socketpair()
    truth_hz: list[float] = []
    senses: Any = SimpleNamespace(time_us=0, period_s=0.004, frames=lambda: b"x", set_truth_rate=truth_hz.append)
    link = Px4Link(ours, senses, AIRFRAME, 5.0)
    armed_us: list[int] = []
    with ours, theirs:
        assert link.exchange() == [0.0] * 16  # at tick 0 nothing is said
        assert link.sensors == 0
        for step in steps:
            senses.time_us = step.time_us
            theirs.sendall(step.answer)  # before it is asked: so nobody has to run beside
            command = link.exchange()
            assert theirs.recv(100) == b"x"
            said = controls_of(step)
            assert len(said) <= 1
            assert link.ready == (step.time_us >= 84_000)  # read in the recording: the 21st HIL_SENSOR is the first
            assert command == (list(said[0].controls) if said else [0.0] * 16)
            if link.armed:
                armed_us.append(step.time_us)
    assert (link.sensors, link.freewheeled, link.answers, link.late) == (9000, 21, 8980, 0)
    assert truth_hz == [200.0]  # SET_MESSAGE_INTERVAL of 5000 us
    assert link.heartbeats == 1
    armed = [step.time_us for step in steps for said in controls_of(step) if said.mode & MODE_ARMED]
    assert armed_us == armed
    assert len(armed) > 1000  # it did take off


@needs_recording
def test_pieces_of_any_size_give_the_same(steps: list[Step], monkeypatch: pytest.MonkeyPatch) -> None:
    """TCP keeps no boundaries: here each piece ends within the next answer, whose rest comes when its step has."""
    monkeypatch.setattr(px4_module, "WALK_S", 1e-3)
    ours, theirs = socket.socketpair()
    senses: Any = SimpleNamespace(time_us=0, period_s=0.004, frames=lambda: b"x", set_truth_rate=lambda hz: None)
    link = Px4Link(ours, senses, AIRFRAME, 5.0)
    with ours, theirs:
        for i, (step, after) in enumerate(pairwise(steps[:2001])):
            senses.time_us = step.time_us
            theirs.sendall(step.answer[i % 30 :] + after.answer[: (i + 1) % 30])
            link.exchange()
            theirs.recv(100)
            assert link.ready == (step.time_us >= 84_000)
    assert (link.answers, link.late) == (1980, 0)


@needs_recording
def test_the_fakes_rules_have_nothing_against_the_recorded_simulator(steps: list[Step]) -> None:
    """A real PX4 armed and took off with it, so every complaint would be the fake's own mistake."""
    rules = Rules()
    for step in steps:
        for message in step.before:
            rules.beside(message)
        assert step.sensor is not None
        assert rules.sensor(step.sensor)
    assert rules.complaints == []
    assert rules.step_us == 4000


def shape(messages: list[Message]) -> list[str]:
    return [type(message).__name__ for message in messages]


@needs_recording
def test_our_messages_come_in_the_order_of_the_recorded_simulator(steps: list[Step]) -> None:
    """GPS and truth before the HIL_SENSOR of their step, which is last; all stamps are of that step."""
    scenario = for_autopilot(load("quad-hover"), "px4")
    alone = Alone(build_for(scenario, "px4", 0, endless=True).world)
    senses, reader = Px4Senses(alone, scenario), Reader()
    ours: list[Step] = []
    for _ in range(1000):
        alone.move([0.0] * len(alone.names), alone.world.timing.control)
        *before, sensor = reader.feed(senses.frames())
        assert isinstance(sensor, HilSensor)
        ours.append(Step(sensor.time_usec, before, sensor))
    order = ["HilGps", "HilStateQuaternion"]
    for sides in (steps, ours):
        kinds = {tuple(shape(step.before)) for step in sides}
        assert {kind for kinds_of_step in kinds for kind in kinds_of_step} == set(order)
        assert all(list(kind) == sorted(kind, key=order.index) for kind in kinds)
        epochs = set()
        for step in sides:
            for message in step.before:
                if isinstance(message, HilStateQuaternion):
                    assert message.time_usec == step.time_us
                elif isinstance(message, HilGps):
                    epochs.add(message.time_usec - step.time_us)
        assert len(epochs) == 1
        assert [step.time_us for step in sides] == [4000 * (i + 1) for i in range(len(sides))]
