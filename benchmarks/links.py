"""What a step of PX4's lockstep costs us, against its limit and against pymavlink; ArduPilot: links_ardupilot.py.

    python benchmarks/links.py [--steps 8000] [--core N]

One process, no socket and no autopilot: `quad-hover` as links fly it, physics at 1 kHz, an exchange every 4 ms, its own
inertial unit, magnetometer, barometer and GNSS receiver and the truth at 200 Hz, as PX4 asks for it. A step is
Alone.move, Px4Senses.frames, Reader.feed of the answer and Airframe.command. The limit is 0.15 ms: half of what PX4
itself takes. pymavlink, where it is installed, packs the same messages from numbers that are ready and parses the same
answer; ours does the same beside it, window by window.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LIMIT_MS, WINDOWS, CONTROL_TICKS, TRUTH_HZ = 0.15, 10, 4, 200.0
AGAIN_STEPS = 250
"""After so many steps, 1 s, the vehicle is back at its start: nothing holds it level."""
LIFT = 0.629
"""Throttle that carries the x500."""


@dataclass
class Flight:
    """A vehicle that is moved, tells, hears and obeys, all of it or a part."""

    alone: Any
    senses: Any
    airframe: Any
    answers: list[bytes]
    reader: Any
    heard: Any
    anew: Callable[[], Any]
    """Senses that have told nothing yet."""

    def move(self, i: int) -> None:
        """Physics and devices of a step."""
        if i % AGAIN_STEPS == 0:
            self.alone.rewind()
            self.senses = self.anew()
        self.alone.move(self.airframe.command(self.heard.controls), CONTROL_TICKS)

    def tell(self, i: int) -> None:
        """The bytes for PX4."""
        self.senses.frames()

    def hear(self, i: int) -> None:
        """The answer."""
        (self.heard,) = self.reader.feed(self.answers[i % len(self.answers)])

    def obey(self, i: int) -> None:
        """From the answer to a command."""
        self.airframe.command(self.heard.controls)

    def whole(self, i: int) -> None:
        """A step."""
        self.move(i)
        self.senses.frames()
        (self.heard,) = self.reader.feed(self.answers[i % len(self.answers)])


def flight() -> Flight:
    """Compiled and at its start."""
    import fieldworthy as fw
    from fieldworthy.links.airframe import airframe_of
    from fieldworthy.links.mavlink import Reader, Writer
    from fieldworthy.links.px4_senses import Px4Senses
    from fieldworthy.links.vehicle import build_for, for_autopilot
    from fieldworthy.world.alone import Alone

    scenario = for_autopilot(fw.load("quad-hover"), "px4")
    alone = Alone(build_for(scenario, "px4", 0, endless=True).world)
    assert alone.world.timing.dt_s == 0.001
    assert alone.world.timing.control == CONTROL_TICKS
    alone.move(alone.command, CONTROL_TICKS)
    writer, reader = Writer(component_id=1), Reader()

    def anew() -> Px4Senses:
        senses = Px4Senses(alone, scenario)
        senses.set_truth_rate(TRUTH_HZ)
        return senses

    lifts = [(LIFT + 1e-4 * (i % 7), LIFT, LIFT, LIFT + 1e-4 * (i % 5)) for i in range(AGAIN_STEPS)]
    answers = [
        writer.hil_actuator_controls(time_us=4000 * (i + 1), controls=lift, mode=129) for i, lift in enumerate(lifts)
    ]
    (heard,) = reader.feed(answers[0])
    return Flight(alone, anew(), airframe_of("px4", scenario, alone.names), answers, reader, heard, anew)


def recorded(made: Flight) -> list[list[Any]]:
    """The messages of some steps, for both codecs."""
    from fieldworthy.links.mavlink import Reader

    reader, messages = Reader(), []
    for i in range(AGAIN_STEPS):
        made.move(i)
        messages.append(reader.feed(made.senses.frames()))
    return messages


def ours(messages: list[list[Any]], answers: list[bytes]) -> Callable[[int], None]:
    """Packs a step's messages and parses its answer."""
    from fieldworthy.links.mavlink import Reader, Writer

    writer, reader = Writer(), Reader()

    def once(i: int) -> None:
        for message in messages[i % AGAIN_STEPS]:
            writer.frame(message)
        reader.feed(answers[i % AGAIN_STEPS])

    return once


def theirs(messages: list[list[Any]], answers: list[bytes]) -> Callable[[int], None] | None:
    """The same by pymavlink; None where it is not installed."""
    os.environ["MAVLINK20"] = "1"
    try:
        from pymavlink.dialects.v20 import common
    except ImportError:
        return None
    link, parser = common.MAVLink(None), common.MAVLink(None)
    kinds = {
        "HilSensor": common.MAVLink_hil_sensor_message, "HilGps": common.MAVLink_hil_gps_message,
        "HilStateQuaternion": common.MAVLink_hil_state_quaternion_message,
    }  # fmt: skip
    calls = [[(kinds[type(message).__name__], message._asdict()) for message in step] for step in messages]

    def once(i: int) -> None:
        for kind, fields in calls[i % AGAIN_STEPS]:
            kind(**fields).pack(link)
        parser.parse_buffer(answers[i % AGAIN_STEPS])

    return once


def windows(once: Callable[[int], None], steps: int) -> list[tuple[float, float]]:
    """(wall, processor) milliseconds a call, of each window."""
    found, count = [], steps // WINDOWS
    for window in range(WINDOWS):
        wall, processor = time.perf_counter(), time.process_time()
        for i in range(window * count, (window + 1) * count):
            once(i)
        found.append(
            (1e3 * (time.perf_counter() - wall) / count, 1e3 * (time.process_time() - processor) / count),
        )
    return found


def row(name: str, found: list[tuple[float, float]], limit_ms: float | None = None) -> float:
    """Best and median by wall, median by processor time; returns the median by wall."""
    wall = statistics.median(w for w, _ in found)
    share = f"{wall / limit_ms:9.2f}" if limit_ms else ""
    best, processor = min(w for w, _ in found), statistics.median(p for _, p in found)
    print(f"  {name:<62} {best:8.4f} {wall:8.4f} {processor:8.4f}{share}")
    return wall


def px4(steps: int) -> None:
    """The tables of PX4's link."""
    from fieldworthy.core.subnormal import flushed

    with flushed():
        made = flight()
        print(f"{'PX4, ms a step':<64} {'best':>8} {'median':>8} {'by CPU':>8} {'of limit':>8}")
        row(f"whole (limit {LIMIT_MS} ms)", windows(made.whole, steps), LIMIT_MS)
        row("Alone.move: 4 ticks of physics and inertial unit, devices", windows(made.move, steps), LIMIT_MS)

        def told(i: int) -> None:  # time has to go on, or nothing is due
            made.alone.tick += CONTROL_TICKS
            made.tell(i)

        row("Px4Senses.frames, without readings that arrive", windows(told, steps), LIMIT_MS)
        row("Reader.feed of the answer", windows(made.hear, steps), LIMIT_MS)
        row("Airframe.command", windows(made.obey, steps), LIMIT_MS)
        messages = recorded(made)
        mine, other = ours(messages, made.answers), theirs(messages, made.answers)
        count = sum(len(step) for step in messages) / len(messages)
        print(f"encode {count:.2f} messages and decode one, ms a step, in turn")
        if other is None:
            row("ours", windows(mine, steps))
            print("  pymavlink: left out (not installed)")
            return
        pairs: list[tuple[list[tuple[float, float]], list[tuple[float, float]]]] = []
        for _ in range(3):
            pairs.append((windows(mine, steps // 3), windows(other, steps // 3)))
        row("ours", [window for pair in pairs for window in pair[0]])
        row("pymavlink", [window for pair in pairs for window in pair[1]])
        ratios = [(b[0] / a[0], b[1] / a[1]) for mine_, other_ in pairs for a, b in zip(mine_, other_, strict=True)]
        row("pymavlink over ours", ratios)


def pin(core: int) -> None:
    """This process on one core, and one worker thread: before anything starts threads."""
    os.environ["FIELDWORTHY_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--core", type=int, default=(os.cpu_count() or 1) - 1)
    options = parser.parse_args()
    pin(options.core)
    from fieldworthy.core.engine import engine_facts, load_engine

    facts = ", ".join(f"{name} {value}" for name, value in engine_facts(load_engine()).items())
    print(f"{platform.system()} {platform.machine()}, core {options.core} of {os.cpu_count()}; {facts}")
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} processes")
    px4(options.steps)


if __name__ == "__main__":
    main()
