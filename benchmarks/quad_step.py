"""One RK4 step of the reference quadrotor in a batch, beside the machine's limit and beside other simulators.

    python benchmarks/quad_step.py [--limit path/to/limit_quad.c] [--peer-python path/to/python] [--quick]

Everything runs on one core, in turn, round after round. The limit is the same step in C with vector intrinsics, which
gcc compiles here; without --limit it is left out. The peers, L2F and crazyflow, run in a Python of their own:

    python3 -m venv peers
    peers/bin/pip install crazyflow==0.4.0 jax==0.10.1
    peers/bin/pip install l2f==2.0.18    # compiles for 15 minutes or more and takes 7 GB while it does

Then the cost of every option as a ratio to the plain step, and the memory of a vehicle. Figures to reach: 0.6 of the
limit, 8 times the faster peer.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

STEPS_A_CALL = 10
HERE = Path(__file__).parent


@dataclass
class Ours:
    """A case in lanes, compiled; `window` runs it."""

    state: Any
    numbers: Any
    advance: Callable[..., Any]
    lanes: int
    engine: Any

    def window(self, calls: int) -> tuple[float, float]:
        """Steps a second of all lanes together, by wall and by processor time."""
        import drjit as dr

        dr.sync_thread()
        wall, processor = time.perf_counter(), time.process_time()
        for _ in range(calls):
            self.state = self.advance(self.state, self.numbers, self.engine.counter(STEPS_A_CALL))
            dr.eval(self.state)
        dr.sync_thread()
        steps = calls * STEPS_A_CALL * self.lanes
        return steps / (time.perf_counter() - wall), steps / (time.process_time() - processor)


def ours(case: Any, precision: Any, lanes: int) -> Ours:
    """Build a case and run it twice: the first call compiles."""
    import drjit as dr
    from quad_vehicle import prepare

    from fieldworthy.core.engine import frozen, load_engine

    engine = load_engine(precision)
    state, numbers, tick = prepare(case, engine, lanes)

    def steps(state: Any, numbers: Any, count: Any) -> Any:
        _, end = dr.while_loop(
            (engine.UInt32(0), state),
            lambda i, s: i < count,
            lambda i, s: (i + 1, tick(s, numbers, i)),
            labels=("i", "s"),
        )
        return end

    made = Ours(state, numbers, frozen(steps), lanes, engine)
    for _ in range(2):
        made.window(1)
    return made


def same_motion(made: Ours, calls_so_far: int) -> float:
    """Height [m] after the 0.6 s that the C program flies before it prints its own."""
    made.window(600 // STEPS_A_CALL - calls_so_far)
    return -float(made.state["vehicle"].body.pos_ned_m.z.numpy()[0])


class Limit:
    """The C program, compiled for this processor."""

    def __init__(self, source: Path) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.program = Path(self.folder.name) / "limit_quad"
        subprocess.run(["gcc", "-O3", "-march=native", str(source), "-o", str(self.program), "-lm"], check=True)

        sizes = (r"\bN = (\d+)", r"\bSTEPS = (\d+)", r"\bREPEATS = (\d+)", r"trial < (\d+)")
        found = [re.search(pattern, source.read_text()) for pattern in sizes]
        self.steps = math.prod(int(number[1]) for number in found if number)
        """Of a whole run; what it prints itself is the best of its trials by wall time."""

    def run(self) -> tuple[float, float, float]:
        """(steps a second by wall time, the same by processor time, height [m] at the end)."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        text = subprocess.run([self.program], capture_output=True, text=True, check=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = re.match(r"limit_quad (\S+) steps/s \(z (\S+) m\)", text)
        if found is None:
            raise SystemExit(f"limit_quad.c printed {text!r}; valid: limit_quad VALUE steps/s (z HEIGHT m)")
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return float(found[1]), self.steps / processor, float(found[2])


class Peer:
    """Another simulator in a Python of its own, waiting to be asked for a window."""

    def __init__(self, python: Path, worker: str, *arguments: str) -> None:
        command = [str(python), str(HERE / "peers" / worker), *arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.name = self._answer("ready")
        """Empty where it could not start."""
        self.problem = ""
        if not self.name:
            self.problem = (self.process.communicate()[1].strip().splitlines() or ["it said nothing"])[-1]

    def _answer(self, word: str) -> str:
        """What follows that word on the next line that begins with it; libraries print lines of their own."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            first, _, rest = line.strip().partition(" ")
            if first == word:
                return rest
        return ""

    def window(self) -> tuple[float, float]:
        """Steps a second by wall and by processor time."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        steps, wall, processor = (float(word) for word in self._answer("window").split())
        return steps / wall, steps / processor

    def close(self) -> None:
        """Let it end."""
        if self.process.poll() is None:
            self.process.communicate()


def peers_of(python: Path | None) -> list[Peer]:
    """The peers that can be imported; a line for each that cannot."""
    if python is None:
        print("L2F and crazyflow: left out (no --peer-python)")
        return []
    found: list[Peer] = []
    missing: set[str] = set()
    for worker, arguments in (
        ("l2f_worker.py", ()),
        ("crazyflow_worker.py", ()),
        ("crazyflow_worker.py", ("--euler",)),
    ):
        if worker in missing:
            continue
        peer = Peer(python, worker, *arguments)
        if peer.problem:
            missing.add(worker)
            print(f"{worker.removesuffix('_worker.py')}: left out ({peer.problem})")
        else:
            found.append(peer)
    return found


def row(name: str, windows: list[tuple[float, float]]) -> None:
    """Best and median of the rounds by wall time, median by processor time."""
    wall, processor = np.array(windows).T / 1e6
    print(f"  {name:<68} {wall.max():8.2f} {np.median(wall):8.2f} {np.median(processor):8.2f}")


def ratio(name: str, ours: list[tuple[float, float]], theirs: list[tuple[float, float]]) -> None:
    """Best over best, then the median of the rounds' own ratios by wall and by processor time."""
    a, b = np.array(ours), np.array(theirs)
    wall, processor = np.median(a / b, axis=0)
    print(f"  {name:<68} {a[:, 0].max() / b[:, 0].max():8.2f} {wall:8.2f} {processor:8.2f}")


def compare(limit: Limit | None, peers: list[Peer], lanes: int, rounds: int) -> None:
    """Ours in both precisions, the limit and the peers, in turn."""
    from quad_vehicle import BASE

    single, double = ours(BASE, "f32", lanes), ours(BASE, "f64", lanes)
    if limit is not None:
        *_, theirs = limit.run()
        print(f"height after 0.6 s: ours {same_motion(single, 2):.4f} m, limit_quad.c {theirs:.4f} m")
    windows: dict[str, list[tuple[float, float]]] = {}
    names = {"ours": f"ours, float32, {lanes:,} vehicles", "double": "ours, float64"}
    for _ in range(rounds):
        windows.setdefault(names["ours"], []).append(single.window(20))
        if limit is not None:
            windows.setdefault("limit_quad.c, float32", []).append(limit.run()[:2])
        windows.setdefault(names["double"], []).append(double.window(10))
        for peer in peers:
            windows.setdefault(peer.name, []).append(peer.window())
    print(f"{'M steps/s on one core':<70} {'best':>8} {'median':>8} {'by CPU':>8}")
    for name, found in windows.items():
        row(name, found)
    print("ratios of ours, float32, to")
    for name, found in windows.items():
        if name != names["ours"]:
            ratio(name, windows[names["ours"]], found)


def costs(lanes: int, rounds: int) -> None:
    """Time of a step with each option over the time of the plain step, in turn with it."""
    from quad_vehicle import BASE, OPTIONS

    print(f"{'time of a step over the plain step, float32':<70} {'median':>8} {'by CPU':>8}")
    plain = ours(BASE, "f32", lanes)
    for case in OPTIONS:
        made = ours(case, "f32", lanes)
        pairs = np.array([(plain.window(4), made.window(4)) for _ in range(rounds)])
        wall, processor = np.median(pairs[:, 0] / pairs[:, 1], axis=0)
        print(f"  {case.name:<68} {wall:8.2f} {processor:8.2f}")


def memory(lanes: int) -> None:
    """Bytes of a vehicle: its state, and the most that is held during a call."""
    import drjit as dr
    from quad_vehicle import BASE, OPTIONS

    from fieldworthy.core.struct import leaves

    for case in (BASE, OPTIONS[-1]):
        dr.flush_malloc_cache()
        dr.detail.malloc_clear_statistics()
        made = ours(case, "f32", lanes)
        made.window(2)
        held = sum(dr.width(leaf) * 4 for leaf in leaves((made.state, made.numbers)) if dr.is_array_v(leaf)) / lanes
        peak = dr.detail.malloc_watermark(dr.JitBackend.LLVM) / lanes
        print(f"memory of a vehicle, {case.name}: {held:.0f} bytes held, {peak:.0f} at the most during a call")


def pin(core: int) -> None:
    """This process and its children on one core, and one worker thread: before anything starts threads."""
    os.environ["FIELDWORTHY_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=Path, help="limit_quad.c")
    parser.add_argument("--peer-python", type=Path, help="a Python that has l2f or crazyflow")
    parser.add_argument("--lanes", type=int, default=65_536)
    parser.add_argument("--core", type=int, default=(os.cpu_count() or 1) - 1)
    parser.add_argument("--quick", action="store_true", help="three rounds instead of seven")
    options = parser.parse_args()
    pin(options.core)
    rounds = 3 if options.quick else 7
    from fieldworthy.core.engine import engine_facts, load_engine

    facts = ", ".join(f"{name} {value}" for name, value in engine_facts(load_engine()).items())
    print(f"{platform.system()} {platform.machine()}, core {options.core} of {os.cpu_count()}; {facts}")
    print(f"load of the machine before the first round: {os.getloadavg()[0]:.1f} processes")
    limit = None
    if options.limit is None or shutil.which("gcc") is None:
        print(f"limit_quad.c: left out ({'no --limit' if options.limit is None else 'no gcc'})")
    else:
        limit = Limit(options.limit)
    peers = peers_of(options.peer_python)
    compare(limit, peers, options.lanes, rounds)
    for peer in peers:
        peer.close()
    costs(options.lanes, rounds)
    memory(options.lanes)


if __name__ == "__main__":
    sys.exit(main())
