"""Whole links: how well real time is kept, and how fast a real PX4 flies with us on one core.

    python benchmarks/links_whole.py [--seconds 60] [--px4 BUILD/bin/px4]

Real time: `quad-x500` at 250 Hz, paced by the wall clock, with a board over UDP that nobody waits for, and in lockstep
with the stand-in; asked are 99.9 % of the ticks within 1 ms of their time on an idle core. Whole: the named PX4 in
lockstep with us, both held to one core (Linux), armed by nobody, logging as it comes; asked are 8 times real time.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import resource
import socket
import time
from pathlib import Path

from fieldworthy.links.autopilot_process import AutopilotProcess, px4_command
from fieldworthy.links.fake_px4 import FakePx4, armed_from
from fieldworthy.links.host import Host, flight, ready
from fieldworthy.links.lockstep import Log
from fieldworthy.links.mavlink import Writer
from fieldworthy.links.pace import Pace, undisturbed
from fieldworthy.links.px4_board import UdpLine
from fieldworthy.links.vehicle import for_autopilot
from fieldworthy.scenario import load

INSTANCE, BOARD_PORT = 9, 14999
WARM_UP_S = 10.0


def stand_in(port: int, seconds: float) -> None:
    """In a process of its own."""
    with FakePx4("127.0.0.1", port, controls=armed_from(2.0, 0.66)):
        time.sleep(seconds)


def board(port: int, seconds: float) -> None:
    """A board in a process of its own: commands at 250 Hz by its own clock, whatever it hears."""
    writer, peer, until = Writer(1, 1), None, time.monotonic() + seconds
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("127.0.0.1", port))
        line.settimeout(0.004)
        while time.monotonic() < until:
            with contextlib.suppress(TimeoutError):
                _, peer = line.recvfrom(2048)
            if peer is not None:
                line.sendto(writer.hil_actuator_controls(time_us=1, controls=[0.66] * 4, mode=129), peer)


def with_a_board(seconds: float) -> None:
    """As `--udp`: nobody waits for anybody, so that what is late is ours or the machine's."""
    scenario = for_autopilot(load("quad-x500"), "px4")
    vehicle = ready(scenario, "px4", 0, endless=True)
    other = multiprocessing.get_context("spawn").Process(target=board, args=(BOARD_PORT, seconds + 10.0))
    other.start()
    host = Host("px4", line=UdpLine(f"127.0.0.1:{BOARD_PORT}"))
    while not host.wait(1.0):
        pass
    until = time.perf_counter() + seconds
    flown = flight(
        host, vehicle, scenario, Log(0), speed=1.0, realtime=True, stopped=lambda: time.perf_counter() > until
    )
    assert flown.lateness is not None
    print(f"real time with a board over UDP, 250 Hz, {seconds:g} s: {flown.lateness.sentence()}")
    other.terminate()
    other.join()
    host.close()


def the_machine(seconds: float) -> None:
    """The same waits with nothing to do between: what this machine can keep at all."""
    pace = Pace(1.0)
    with undisturbed(first=True):
        for tick in range(round(250 * seconds)):
            pace.wait(0.004 * tick)
    print(f"the machine itself, 250 Hz, {seconds:g} s: {pace.lateness().sentence()}")


def real_time(seconds: float) -> None:
    scenario = for_autopilot(load("quad-x500"), "px4")
    vehicle, host = ready(scenario, "px4", 0, endless=True), Host("px4", port=0)
    other = multiprocessing.get_context("spawn").Process(target=stand_in, args=(host.port, seconds + 10.0))
    other.start()
    while not host.wait(1.0):
        pass
    flown = flight(host, vehicle, scenario, Log(0), speed=1.0, realtime=True, stopped=lambda: vehicle.t_s >= seconds)
    assert flown.lateness is not None
    print(f"real time, 250 Hz, {seconds:g} s: {flown.lateness.sentence()}")
    other.terminate()
    other.join()
    host.close()


def whole(binary: Path, seconds: float) -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # the processes that we start inherit it
    scenario = for_autopilot(load("quad-x500"), "px4")
    vehicle, host = ready(scenario, "px4", 0, endless=True), Host("px4", instance=INSTANCE)
    began = {"wall": 0.0, "ours": 0.0}

    def beside(link: object, t_s: float) -> None:
        if not began["wall"] and t_s >= WARM_UP_S:
            began["wall"], began["ours"] = time.perf_counter(), time.process_time()

    with AutopilotProcess(px4_command(binary, INSTANCE)) as process:
        while not host.wait(1.0):
            process.check()
        flight(host, vehicle, scenario, Log(0), stopped=lambda: vehicle.t_s >= WARM_UP_S + seconds, beside=beside)
        wall, ours = time.perf_counter() - began["wall"], time.process_time() - began["ours"]
    steps = 250.0 * (vehicle.t_s - WARM_UP_S)
    print(f"PX4 and we on one core, 250 Hz, {vehicle.t_s - WARM_UP_S:.0f} s: {seconds / wall:.1f} times real time")
    print(f"a step: {1e3 * wall / steps:.3f} ms, of which ours (with its sockets) {1e3 * ours / steps:.3f} ms")
    host.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--px4", type=Path)
    given = parser.parse_args()
    the_machine(given.seconds)
    with_a_board(given.seconds)
    real_time(given.seconds)
    if given.px4 is not None:
        whole(given.px4, given.seconds)
    print(f"most memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
