"""What a frame of ArduPilot's JSON interface costs us, and how fast a whole lockstep goes with the real one.

    python benchmarks/links_ardupilot.py [--frames 8000] [--seconds 40]

Our share: one process, no socket and no autopilot; `quad-hover` as links fly it, 800 Hz, each frame read, counted,
turned into a command, flown for a tick and answered. The limit is 0.08 ms: what a scalar Python peer took, half of what
ArduCopter itself takes. Whole: against the binary that FIELDWORTHY_ARDUCOPTER names, FIELDWORTHY_ARDUCOPTER_PARM being
its .parm file (Tools/autotest/default_params/copter.parm), on the ground.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import struct
import time
from collections.abc import Callable
from typing import Any

import fieldworthy as fw
from fieldworthy.core.subnormal import flushed
from fieldworthy.links.airframe import airframe_of
from fieldworthy.links.ardupilot import ArdupilotLink, ArdupilotServer
from fieldworthy.links.ardupilot_json import FrameCounter, decode_servos, is_no_command
from fieldworthy.links.ardupilot_senses import FlightSenses
from fieldworthy.links.autopilot_process import AutopilotProcess, ardupilot_command
from fieldworthy.links.lockstep import Log, fly
from fieldworthy.links.pace import Pace
from fieldworthy.links.vehicle import build_for, for_autopilot
from fieldworthy.world.alone import Alone

LIMIT_MS, RATE_HZ, WINDOWS = 0.08, 800, 8
HOVER_US = 1629
"""Throttle 0.629: carries the x500."""
INSTANCE = 7


def vehicle() -> tuple[Alone, Any]:
    """quad-hover's as an autopilot has it, and its scenario."""
    scenario = for_autopilot(fw.load("quad-hover"), "ardupilot")
    alone = Alone(build_for(scenario, "ardupilot", 0, endless=True).world)
    alone.move(alone.command, 1)
    return alone, scenario


def milliseconds(once: Callable[[int], None], frames: int) -> tuple[float, float]:
    """Of one call: the best and the median of some windows."""
    windows = []
    for window in range(WINDOWS):
        began = time.perf_counter()
        for i in range(window * frames // WINDOWS, (window + 1) * frames // WINDOWS):
            once(i)
        windows.append((time.perf_counter() - began) / (frames // WINDOWS) * 1e3)
    return min(windows), statistics.median(windows)


def our_share(frames: int) -> None:
    """The table of the parts, and of the whole frame."""
    alone, scenario = vehicle()
    senses, airframe = FlightSenses(alone, scenario), airframe_of("ardupilot", scenario, alone.names)
    pulses = (*(HOVER_US,) * 4, *(0,) * 12)
    datagrams = [struct.pack("<HHI16H", 18458, RATE_HZ, i, *pulses) for i in range(frames)]
    frame = decode_servos(datagrams[0])
    assert frame is not None
    command, counter = airframe.command_of_pulses(pulses), FrameCounter()
    with flushed():
        rows = [
            ("a tick of the vehicle (Alone.move)", milliseconds(lambda i: alone.move(command, 1), frames)),
            ("its line (FlightSenses.line)", milliseconds(lambda i: use(senses.line()), frames)),
            ("reading a frame (decode_servos)", milliseconds(lambda i: use(decode_servos(datagrams[i])), frames)),
            ("boot or command (is_no_command)", milliseconds(lambda i: use(is_no_command(frame)), frames)),
            ("counting it (FrameCounter.see)", milliseconds(lambda i: use(counter.see(frame)), frames)),
            ("pulses to a command", milliseconds(lambda i: use(airframe.command_of_pulses(frame.pwm_us)), frames)),
        ]
        alone, scenario = vehicle()
        senses, counter = FlightSenses(alone, scenario), FrameCounter()

        def whole(i: int) -> None:
            came = decode_servos(datagrams[i])
            assert came is not None
            counter.see(came)
            assert not is_no_command(came)
            alone.move(airframe.command_of_pulses(came.pwm_us), 1)
            senses.line()

        rows.append(("all of it, in turn", milliseconds(whole, frames)))
    print(f"{'our share of a frame':<40}{'best':>9}{'median':>9}  ms")
    for name, (best, median) in rows:
        print(f"{name:<40}{best:9.4f}{median:9.4f}")
    best, median = rows[-1][1]
    kept = ["missed", "kept"]
    print(f"limit {LIMIT_MS} ms: {kept[best <= LIMIT_MS]} by the best window, {kept[median <= LIMIT_MS]} by the median")


def use(value: Any) -> None:
    """So that every part has the same call around it."""


def whole_lockstep(binary: str, parm: str, seconds: float) -> None:
    """Simulated over wall time with the real ArduCopter, and how the processor time divides."""
    alone, scenario = vehicle()
    server = ArdupilotServer(instance=INSTANCE)
    command = ardupilot_command(
        binary, INSTANCE, vehicle="copter", home=(47.397742, 8.545594, 488.0, 0.0), rate_hz=RATE_HZ,
        defaults=[parm] if parm else [], parameters={"FRAME_CLASS": 1.0, "FRAME_TYPE": 1.0},
    )  # fmt: skip
    with AutopilotProcess(command) as autopilot:
        first = server.newest(10.0)
        if first is None:
            raise SystemExit(f"ArduCopter has sent nothing; its last words:\n{autopilot.last_words()}")
        airframe = airframe_of("ardupilot", scenario, alone.names)
        link = ArdupilotLink(server, FlightSenses(alone, scenario), airframe, first)
        fly(alone, link, Pace(None), Log(every=0), stopped=lambda: alone.t_s >= 10.0)  # boot
        link = ArdupilotLink(server, FlightSenses(alone, scenario), airframe, link.frame)
        begun_s, ticks, wall, ours = alone.t_s, alone.tick, time.perf_counter(), time.process_time()
        fly(alone, link, Pace(None), Log(every=0), stopped=lambda: alone.t_s >= begun_s + seconds)
        wall, ours, frames = time.perf_counter() - wall, time.process_time() - ours, alone.tick - ticks
    server.close()
    speed, each_ms = (alone.t_s - begun_s) / wall, wall / frames * 1e3
    print(f"whole lockstep, ArduCopter on the ground {speed:6.1f} x real time, {each_ms:.3f} ms a frame")
    print(f"of it our processor time {ours / frames * 1e3:14.3f} ms a frame, sockets included")
    print(f"frames lost {link.frames.lost}, asked for again {link.frames.repeated}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=8000)
    parser.add_argument("--seconds", type=float, default=40.0)
    options = parser.parse_args()
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    our_share(options.frames)
    binary = os.environ.get("FIELDWORTHY_ARDUCOPTER")
    if binary:
        whole_lockstep(binary, os.environ.get("FIELDWORTHY_ARDUCOPTER_PARM", ""), options.seconds)
    else:
        print("whole lockstep: not measured; FIELDWORTHY_ARDUCOPTER names no arducopter")


if __name__ == "__main__":
    main()
