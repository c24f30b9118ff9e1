"""Inverse kinematics of arms: one pose, many poses, whole paths, success on every arm; beside other libraries.

    python benchmarks/arms.py [--peer-python path/to/python] [--quick]

Everything runs on one core, in turn, round after round. The peers run in a Python of their own (arms_peers.py):

    python3.11 -m venv peers
    peers/bin/pip install eaik==1.2.2 ur-analytic-ik==0.1.0.post3 py-opw-kinematics==1.3.0 roboticstoolbox-python==1.5.0

Success is judged by two forward kinematics: the library's, and a product of matrix exponentials that shares no code
with it. The last line is JSON with every number. Figures to reach: all poses in limits to 1e-9 m and rad on every arm;
all branches of one pose in 50 us, of a pose in a batch in 2 us; a path of 1,000 waypoints in 50 ms, planned clear of
itself and timed in 250 ms, with no larger step than the arm's branches force on it.
"""

# Long because the sections share the poses, the rounds and the judge.

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from arms_peers import each

HERE = Path(__file__).parent
ARMS = ("ur5e", "kr10-r1100")
PATHS = ("cylinder", "singular", "beside")
FEED_M_S = 0.25
SETS = ("wrist 0", "wrist 1e-9", "wrist 1e-7", "wrist 1e-5", "wrist 1e-3", "elbow", "shoulder")
RESULTS: dict[str, Any] = {}


def draws(purpose: int) -> np.random.Generator:
    """Random numbers for one purpose."""
    return np.random.Generator(np.random.Philox(key=purpose))


# ------------------------------------------------------------------------------------------------------ poses and paths


def turns_about(axis: Any, angle: Any) -> Any:
    """(n, 3, 3) exponentials of [axis] angle (n,): Rodrigues with matrices."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.asarray(angle)[:, None, None]
    return np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * (skew @ skew)


def exponentials(arm: Any, q: Any, upto: int | None = None, home: Any = None) -> Any:
    """base_from_tool (n, 4, 4) of postures (n, dof), as a plain product of the joints' matrix exponentials.

    upto: only the joints before it. home: what they carry; the tool if None.
    """
    found = np.broadcast_to(np.eye(4), (len(q), 4, 4))
    for joint, angle in list(zip(arm.joints, q.T, strict=True))[:upto]:
        step = np.zeros((len(q), 4, 4))
        step[:, :3, :3], step[:, 3, 3] = turns_about(joint.axis, angle), 1.0
        point = np.array(joint.point_m)
        step[:, :3, 3] = point - step[:, :3, :3] @ point
        found = found @ step
    return found @ (np.array(arm.home) if home is None else home)


def random_postures(arm: Any, count: int, purpose: int) -> Any:
    """(count, dof) anywhere within the limits."""
    return draws(purpose).uniform(arm.lower, arm.upper, (count, arm.dof))


def aligned(arm: Any, first: int, middle: int, last: int) -> float:
    """Angle of the middle joint at which the axes before and after it are parallel."""
    before, axis, after = (np.array(arm.joints[k].axis) for k in (first, middle, last))
    return float(np.arctan2(np.dot(np.cross(after, before), axis), np.dot(after, before)))


def stretched(arm: Any) -> tuple[int, float]:
    """(index of the elbow, its angle at which upper arm and forearm are one line)."""
    elbow = 2 if arm.dof == 6 else 3
    axis = np.array(arm.joints[elbow].axis)
    same = [k for k in range(arm.dof) if abs(np.dot(arm.joints[k].axis, axis)) > 0.999]
    shoulder, wrist = max(k for k in same if k < elbow), min(k for k in same if k > elbow)
    points = [np.array(arm.joints[k].point_m) for k in (shoulder, elbow, wrist)]
    upper, fore = ((b - a) - np.dot(b - a, axis) * axis for a, b in zip(points, points[1:], strict=False))
    return elbow, float(np.arctan2(np.dot(np.cross(fore, upper), axis), np.dot(fore, upper)))


def meeting(arm: Any) -> Any:
    """The point where the last two axes meet, or the nearest to both, at the zero posture."""
    (a, p), (b, r) = ((np.array(joint.axis), np.array(joint.point_m)) for joint in arm.joints[-2:])
    s, *_ = np.linalg.lstsq(np.column_stack([a, -b]), r - p, rcond=None)
    return 0.5 * (p + s[0] * a + r + s[1] * b)


def over_shoulder(arm: Any, q: Any) -> Any:
    """The postures with joint 2 turned so that the wrist centre has no way out of axis 1 in the plane of the arm.

    That way is a sinusoid in joint 2, known from three of its values. With seven axes joint 3 is put to zero.
    """
    q = q.copy()
    if arm.dof == 7:
        q[:, 2] = 0.0
    home = np.eye(4)
    home[:3, 3] = meeting(arm)
    first, second = arm.joints[0], arm.joints[1]
    out = np.cross(first.axis, second.axis)
    values = []
    for angle in (0.0, 2.0 * np.pi / 3.0, 4.0 * np.pi / 3.0):
        at = q.copy()
        at[:, 0], at[:, 1] = 0.0, angle
        values.append((exponentials(arm, at, arm.dof - 2, home)[:, :3, 3] - first.point_m) @ out)
    level = sum(values) / 3.0
    cosine = (2.0 * values[0] - values[1] - values[2]) / 3.0
    sine = (values[1] - values[2]) / np.sqrt(3.0)
    with np.errstate(invalid="ignore"):
        q[:, 1] = np.arctan2(sine, cosine) + np.arccos(-level / np.hypot(sine, cosine))
    q[:, 1] -= 2.0 * np.pi * (q[:, 1] > arm.upper[1])
    return q


def special_postures(arm: Any, name: str, count: int, purpose: int) -> Any:
    """(count, dof) postures at or beside a singularity, within limits: fewer, or none, where limits forbid it."""
    q = random_postures(arm, 20 * count, purpose)
    kind, _, size = name.partition(" ")
    if kind == "wrist":
        signs = draws(purpose + 1).choice([-1.0, 1.0], len(q))
        q[:, arm.dof - 2] = aligned(arm, arm.dof - 3, arm.dof - 2, arm.dof - 1) + float(size) * signs
    elif kind == "elbow":
        place, angle = stretched(arm)
        q[:, place] = angle
    else:
        q = over_shoulder(arm, q)
    return q[((q >= arm.lower) & (q <= arm.upper)).all(axis=1)][:count]


def path_poses(arm: Any, name: str, count: int = 1000) -> Any:
    """(count, 4, 4) waypoints.

    cylinder: a zig-zag of twenty lanes over a horizontal cylinder (radius 0.1 m, 0.3 m long, axis along x, its middle
    at x 0.65 and z 0.4 m), 45 degrees to each side of its top, the tool along the inward normal. singular: 0.3 m
    straight through a wrist singularity, which is a waypoint; of the KR 10 in the arm's own plane with the tool along
    the forearm, of the UR5e at right angles to that plane with the tool level. beside: the same 1.4 mm to the side.
    """
    found = np.zeros((count, 4, 4))
    found[:, 3, 3] = 1.0
    if name == "cylinder":
        share = np.linspace(0.0, 1.0, count)
        angle = np.radians(45.0) * (2.0 * np.abs((20.0 * share) % 2.0 - 1.0) - 1.0)
        normal = np.stack([np.zeros(count), np.sin(angle), np.cos(angle)], axis=1)
        along = np.broadcast_to((1.0, 0.0, 0.0), normal.shape)
        found[:, :3, :3] = np.stack([along, np.cross(-normal, along), -normal], axis=2)
        found[:, :3, 3] = (0.65, 0.0, 0.4) + 0.1 * normal + (0.3 * (share - 0.5))[:, None] * along
        return found
    kuka = arm.name.startswith("kr")
    middle = exponentials(
        arm, np.radians([[0.0, -70.0, 85.0, 0.0, 0.0, 20.0] if kuka else [10.0, -70.0, 85.0, -35.0, 0.0, 20.0]])
    )[0]
    along, side = (np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    if not kuka:
        along, side = middle[:3, 2], np.array([0.0, 0.0, 1.0])
    found[:, :3, :3] = middle[:3, :3]
    way = (np.arange(count) - count // 2) * (0.3 / count)
    found[:, :3, 3] = middle[:3, 3] + way[:, None] * along + (0.0014 if name == "beside" else 0.0) * side
    return found


# ---------------------------------------------------------------------------------------------------------------- judge


def miss(arm: Any, q: Any, goals: Any) -> tuple[Any, float]:
    """((n,) larger of metres and radians missed, judged by both kinematics; what the two differ by at the most)."""
    from fieldworthy.arms.kinematics import fk

    reached = (fk(arm, q), exponentials(arm, q))
    worst = np.zeros(len(q))
    for pose in reached:
        turn = np.sqrt(((pose[:, :3, :3] - goals[:, :3, :3]) ** 2).sum(axis=(1, 2)) / 8.0)
        worst = np.maximum(worst, 2.0 * np.arcsin(np.minimum(turn, 1.0)))
        worst = np.maximum(worst, np.linalg.norm(pose[:, :3, 3] - goals[:, :3, 3], axis=1))
    return worst, float(np.abs(reached[0] - reached[1]).max()) if len(q) else 0.0


def inside(arm: Any, q: Any) -> Any:
    """(n,) within limits, to the last bit."""
    return ((q >= arm.lower) & (q <= arm.upper)).all(axis=-1)


# ---------------------------------------------------------------------------------------------------------------- peers


class Peers:
    """The process with the other libraries; without one, nothing is known and nothing is asked."""

    def __init__(self, python: Path | None, folder: Path) -> None:
        self.folder = folder
        self.known: dict[str, dict[str, list[str]]] = {}
        self.process = None
        if python is None:
            print("peers: left out (no --peer-python)")
            return
        command = [str(python), str(HERE / "arms_peers.py"), str(folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        said = self._answer("ready")
        self.known = said["peers"]
        RESULTS["peers"] = said["versions"]
        print("peers: " + ", ".join(f"{name} {what}" for name, what in said["versions"].items()))

    def _answer(self, word: str) -> dict[str, Any]:
        """What follows that word on the next line that begins with it."""
        assert self.process is not None
        assert self.process.stdout is not None
        for line in self.process.stdout:
            first, _, rest = line.partition(" ")
            if first == word:
                found: dict[str, Any] = json.loads(rest)
                return found
        raise SystemExit("arms_peers.py ended; its own words stand above")

    def of(self, arm: str, job: str) -> list[str]:
        """Names of those that can do a job for an arm."""
        return self.known.get(arm, {}).get(job, [])

    def ask(self, **question: Any) -> dict[str, Any]:
        """One window."""
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return self._answer("answer")

    def postures(self) -> Any:
        """What the last window answered."""
        with np.load(self.folder / "answer.npz") as data:
            return data["q"]

    def close(self) -> None:
        """Let it end."""
        if self.process is not None:
            self.process.communicate()


# ------------------------------------------------------------------------------------------------------------- sections


def table(title: str, rows: dict[str, list[float]], unit: float = 1.0, ours: str = "ours") -> dict[str, Any]:
    """Print median and best of the rounds of each row, and the median of the rounds' own ratios to the row `ours`."""
    reference = np.array(rows[ours])
    print(f"{title:<64} {'median':>9} {'best':>9} {'/ ours':>7}")
    found = {}
    for name, values in rows.items():
        median, best = float(np.median(values)), float(np.min(values))
        ratio = float(np.median(np.array(values) / reference[: len(values)]))
        print(f"  {name:<62} {median * unit:9.2f} {best * unit:9.2f} {ratio:7.2f}")
        found[name] = {"median": median * unit, "best": best * unit, "ratio": ratio}
    return found


def timed(into: dict[str, list[float]], label: str, work: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """The answer of a call, its microseconds put down under a label."""
    start = time.perf_counter()
    answer = work(*given, **named)
    into.setdefault(label, []).append((time.perf_counter() - start) * 1e6)
    return answer


def singles(arms: dict[str, Any], cases: dict[str, Any], peers: Peers, count: int, rounds: int) -> None:
    """One pose a call."""
    from fieldworthy.arms.exact import all_postures, solve

    for name, arm in arms.items():
        goals, seeds = cases[name]["poses"][:count], cases[name]["seeds"][:count]
        every: dict[str, list[float]] = {}
        nearest: dict[str, list[float]] = {}
        tails: dict[str, float] = {}
        branches: dict[str, float] = {}
        for _ in range(rounds):
            spent, found = each(partial(all_postures, arm, whole_turns=False), goals, seeds)
            every.setdefault("ours, in limits", []).append(float(np.median(spent)))
            branches["ours, in limits"] = sum(map(len, found)) / count
            spent, _ = each(partial(all_postures, arm), goals[:200], seeds[:200])
            every.setdefault("ours, in limits and in every whole turn", []).append(float(np.median(spent)))
            for peer in peers.of(name, "all"):
                answer = peers.ask(job="all", arm=name, peer=peer, count=count)
                every.setdefault(peer, []).append(float(np.median(answer["us"])))
                branches[peer] = answer["branches"]
            spent, attempts = each(partial(solve, arm), goals, seeds)
            nearest.setdefault("ours", []).append(float(np.median(spent)))
            tails["ours"] = float(np.percentile(spent, 99))
            reached = miss(arm, np.array([attempt.q for attempt in attempts]), goals)[0] < 1e-9
            success = {"ours": float(100.0 * np.mean(reached & [attempt.reached for attempt in attempts]))}
            for peer in peers.of(name, "nearest"):
                spent = peers.ask(job="nearest", arm=name, peer=peer, count=count)["us"]
                nearest.setdefault(peer, []).append(float(np.median(spent)))
                tails[peer] = float(np.percentile(spent, 99))
                q = peers.postures()
                success[peer] = float(100.0 * np.mean((miss(arm, q, goals)[0] < 1e-6) & inside(arm, q)))
        RESULTS[f"{name} all us"] = table(f"{name}: all branches of one pose [us]", every, ours="ours, in limits")
        print("  branches found a pose: " + ", ".join(f"{peer} {mean:.2f}" for peer, mean in branches.items()))
        RESULTS[f"{name} nearest us"] = table(f"{name}: one posture of one pose, from a random one [us]", nearest)
        print(
            "  in limits and reached [%], 1e-9 ours, 1e-6 peers: "
            + ", ".join(f"{p} {s:.1f}" for p, s in success.items())
        )
        print("  99th percentile [us]: " + ", ".join(f"{p} {t:.0f}" for p, t in tails.items()))
        RESULTS[f"{name} nearest success %"] = success


def batches(arms: dict[str, Any], cases: dict[str, Any], peers: Peers, rounds: int) -> None:
    """Many poses a call, all branches."""
    from fieldworthy.arms.exact import branches_of

    for name, arm in arms.items():
        for count in (1_000, 10_000, 100_000):
            goals = cases[name]["poses"][np.arange(count) % len(cases[name]["poses"])]
            middle = 0.5 * (arm.lower + arm.upper)
            start = time.perf_counter()
            branches_of(arm, goals, middle)
            first = time.perf_counter() - start
            rows: dict[str, list[float]] = {}
            for _ in range(rounds if count < 100_000 else min(rounds, 3)):
                start = time.perf_counter()
                branches_of(arm, goals, middle)
                rows.setdefault("ours", []).append((time.perf_counter() - start) / count * 1e6)
                for peer in peers.of(name, "batch"):
                    if count == 100_000 and len(rows.get(peer, ())):
                        continue  # once is enough of seconds
                    rows.setdefault(peer, []).append(peers.ask(job="batch", arm=name, peer=peer, count=count)["us"])
            RESULTS[f"{name} batch {count} us"] = table(f"{name}: batch of {count:,}, all branches, us a pose", rows)
            RESULTS[f"{name} batch {count} first s"] = first
            print(f"  first call {first:.2f} s")


def exactness(count: int, special: int) -> None:
    """Success on every arm of the catalogue, one by one and in batches; every failure with its posture."""
    from fieldworthy.arms.catalogue import arm_names, load_arm
    from fieldworthy.arms.exact import solve, solve_many

    print("success at 1e-9 m and rad and in limits: fails, worst miss by solve | by solve_many, of how many poses")
    failed = []
    apart = 0.0
    for index, name in enumerate(arm_names()):
        arm = load_arm(name)
        told = []
        start = time.perf_counter()
        for place, kind in enumerate(("random", *SETS)):
            purpose = 1000 * (index + 1) + 10 * place
            if kind == "random":
                q = random_postures(arm, count, purpose)
            else:  # seven axes take twenty times as long
                q = special_postures(arm, kind, special if arm.dof == 6 else special // 4, purpose)
            goals, seeds = exponentials(arm, q), random_postures(arm, len(q), purpose + 5)
            if not len(q):
                told.append(f"{kind}: outside the limits")
                continue
            attempts = [solve(arm, goal, seed) for goal, seed in zip(goals, seeds, strict=True)]
            answers = {"solve": (np.array([a.q for a in attempts]), np.array([a.reached for a in attempts]))}
            if arm.dof == 6 or kind != "random":
                answers["solve_many"] = solve_many(arm, goals, seeds)
            words = []
            for way, (found, reached) in answers.items():
                worst = np.full(len(q), np.inf)
                worst[reached], differ = miss(arm, found[reached], goals[reached])
                apart = max(apart, differ)
                good = reached & (worst <= 1e-9) & inside(arm, found)
                for row in np.flatnonzero(~good):
                    postures = {"q": q[row].tolist(), "seed": seeds[row].tolist()}
                    judged = {"told": bool(reached[row]), "miss": float(worst[row])}
                    where = {"arm": name, "set": kind, "way": way, "key": purpose, "row": int(row)}
                    failed.append({**where, **postures, **judged})
                largest = float(worst[reached].max()) if reached.any() else float("nan")
                words.append(f"{int((~good).sum())} {largest:.0e}")
                RESULTS.setdefault("exact", {}).setdefault(name, {}).setdefault(kind, {})[way] = {
                    "poses": len(q), "fails": int((~good).sum()), "worst": largest,
                }  # fmt: skip
            told.append(f"{kind}: {' | '.join(words)} of {len(q):,}")
        print(f"  {name}, {time.perf_counter() - start:.0f} s\n    " + "\n    ".join(told))
    print(f"  fails in all: {len(failed)}; the two forward kinematics differ by {apart:.0e} at the most")
    for entry in failed[:20]:
        print("  FAILED", json.dumps(entry))
    RESULTS["exact fails"] = len(failed)
    RESULTS["exact failed"] = failed[:200]


def least_step(arm: Any, goals: Any) -> float:
    """The least that the largest step of a joint can be on any way through all postures in limits [rad].

    Every way from every posture in every whole turn is weighed, waypoint after waypoint. Waypoints on a wrist
    singularity are passed over, since any share of the free angle is a posture there; the step across counts as that
    many equal ones, which is the least that it can be.
    """
    from fieldworthy.arms.exact import all_postures
    from fieldworthy.arms.singularity import wrist_sine

    worst, before, passed = np.zeros(1), None, 1
    for goal in goals:
        found = all_postures(arm, goal)
        if not len(found) or np.nanmin(wrist_sine(arm, found)) < 1e-6:
            passed += 1
            continue
        if before is None:
            worst = np.zeros(len(found))
        else:
            step = np.zeros((len(before), len(found)))
            for old, new in zip(before.T, found.T, strict=True):
                np.maximum(step, np.abs(old[:, None] - new), out=step)
            worst = np.maximum(step / passed, worst[:, None]).min(axis=0)
        before, passed = found, 1
    return float(worst.min())


def verdict(step_rad: float, least_rad: float) -> str:
    """What a path's largest step is beside the least one."""
    if step_rad <= 1.01 * least_rad:
        return "LEAST"
    return "CONTINUOUS" if step_rad <= 2.0 * least_rad else "JUMPS"


def paths(arms: dict[str, Any], cases: dict[str, Any], peers: Peers, rounds: int) -> None:
    """Paths of 1,000 waypoints; `plan_motion` as a user calls it, no points put in."""
    from fieldworthy.arms import MotionOptions, plan_motion, waypoint_set
    from fieldworthy.arms.path import PathOptions, plan
    from fieldworthy.arms.timing import retime

    motion_options = MotionOptions(feed_m_s=FEED_M_S, step_m=1e3, step_rad=1e3)

    for name, arm in arms.items():
        bare = replace(arm, capsules=())
        followers = peers.of(name, "nearest") + [peer for peer in peers.of(name, "all") if peer == "EAIK"]
        followers = [peer for peer in followers if peer != "ur-analytic-ik"]
        for kind in PATHS:
            goals = cases[name][kind]
            way_m = np.linalg.norm(np.diff(goals[:, :3, 3], axis=0), axis=1)
            rows: dict[str, list[float]] = {}
            told: dict[str, str] = {}

            clock = partial(timed, rows)
            waypoints = waypoint_set(kind, goals)
            for _ in range(rounds):
                path = clock("ours: branch choice and limits", plan, bare, goals, options=PathOptions(avoid=False))
                motion = clock(
                    f"ours: plan_motion, clear of itself, feed {FEED_M_S} m/s", plan_motion, arm, waypoints,
                    options=motion_options,
                )  # fmt: skip
                safe, stops = motion.path, motion.stops
                feed = {"tool_step_m": way_m, "feed_m_s": FEED_M_S, "stops": stops}
                clock("ours: timing alone", retime, safe.q, arm.speed, arm.acceleration, **feed)
                for peer in followers:
                    rows.setdefault(peer + ", follows", []).append(
                        peers.ask(job="follow", arm=name, peer=peer, path=kind)["us"]
                    )
                    if peer in told:
                        continue
                    q = peers.postures()
                    bad = ~((miss(arm, np.nan_to_num(q), goals)[0] < 1e-6) & inside(arm, q))
                    step = float(np.abs(np.diff(q, axis=0)).max())
                    told[peer] = f"{peer} {int(bad.sum())} fails, {step:.5f}"
                    RESULTS[f"{name} {kind} {peer}"] = {"fails": int(bad.sum()), "step_rad": step}
            key = f"{name} {kind}"
            RESULTS[key + " ms"] = table(
                f"{name}, {kind}: 1,000 waypoints [ms]", rows, 1e-3, "ours: branch choice and limits"
            )
            least = least_step(arm, goals)
            RESULTS[key + " least step rad"] = least
            judged = []
            for label, chosen in (("ours", path), ("ours clear of itself", safe)):
                bad = int((~((miss(arm, chosen.q, goals)[0] <= 1e-9) & inside(arm, chosen.q))).sum())
                step = float(np.abs(np.diff(chosen.q, axis=0)).max())
                word = verdict(step, least)
                judged.append(f"{label} {bad} fails, {step:.5f} {word}")
                RESULTS[f"{key} {label}"] = {"fails": bad, "step_rad": step, "verdict": word}
            RESULTS[key + " time s"] = float(motion.timing.t_s[-1])
            RESULTS[key + " clearance m"] = float(safe.clearance_m.min())
            print(f"  fails and largest step [rad], of {least:.5f} that every way needs: "
                  + "; ".join([*judged, *told.values()]))  # fmt: skip
            if motion.notes:
                print(f"  ours says: {'; '.join(motion.notes)}")
            if "EAIK" in peers.of(name, "all"):
                ideal = peers.ask(job="starts", arm=name, path=kind)
                RESULTS[key + " starts"] = ideal
                steps = ", ".join("none" if step is None else f"{step:.5f}" for step in ideal["steps_rad"])
                print(
                    f"  the nearest of EAIK's followed from each of {ideal['starts']} postures at waypoint 0: "
                    f"{ideal['continuous']} stay continuous; largest step: least, median, most {steps}"
                )


def iterative(arms: dict[str, Any], cases: dict[str, Any], count: int) -> None:
    """The solvers that iterate: success by their own tolerance, told and measured, and time.

    count: poses of all but ccd and fabrik, which get a fifth.
    """
    from fieldworthy.arms.solver import SOLVERS, make_solver
    from fieldworthy.core.errors import FieldworthyError

    heads = f"{'reached %':>9} {'median ms':>9} {'99 % ms':>9} {'worst miss of those':>20}"
    print(f"{'solvers from a random posture':<40} {heads}")
    for name, arm in arms.items():
        for kind in SOLVERS:
            try:
                solver = make_solver(kind)
            except FieldworthyError as problem:
                print(f"  {name}, {kind}: left out ({problem})")
                continue
            share = count // 5 if kind in ("ccd", "fabrik") else count
            goals, seeds = cases[name]["poses"][:share], cases[name]["seeds"][:share]
            solver.solve(arm, goals[0], seeds[0])
            spent, attempts = each(partial(solver.solve, arm), goals, seeds)
            reached = np.array([attempt.reached for attempt in attempts])
            q = np.array([attempt.q for attempt in attempts])
            outside = int((~inside(arm, q)).sum())
            worst = float(miss(arm, q[reached], goals[reached])[0].max()) if reached.any() else float("nan")
            middle, tail = np.percentile(spent, (50, 99)) / 1e3
            percent = 100.0 * float(reached.mean())
            RESULTS[f"{name} {kind}"] = {
                "poses": share, "reached_percent": percent, "median_ms": float(middle), "p99_ms": float(tail),
                "worst": worst, "outside_limits": outside,
            }  # fmt: skip
            label = f"{name}, {kind}, {share:,} poses"
            print(f"  {label:<38} {percent:9.2f} {middle:9.3f} {tail:9.3f} {worst:20.1e}"
                  + (f"  {outside} OUTSIDE LIMITS" if outside else ""))  # fmt: skip


def imports() -> None:
    """Seconds from a fresh interpreter, less a bare one; best of five in turn."""
    first = (
        "import numpy as np\nfrom fieldworthy.arms.catalogue import load_arm\n"
        "from fieldworthy.arms.exact import solve\nfrom fieldworthy.arms.kinematics import fk\n"
        "arm = load_arm('ur5e'); solve(arm, fk(arm, 0.5 * np.ones(6)))"
    )
    code = {
        "a bare interpreter": "pass",
        "numpy": "import numpy",
        "fieldworthy.arms": "import fieldworthy.arms",
        "its catalogue, exact, path and timing": "import fieldworthy.arms.catalogue, fieldworthy.arms.exact, "
        "fieldworthy.arms.path, fieldworthy.arms.timing",
        "the same with the first answer for a UR5e": first,
    }
    spent: dict[str, list[float]] = {}
    for _ in range(5):
        for label, text in code.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", text], check=True)
            spent.setdefault(label, []).append(time.perf_counter() - start)
    bare = min(spent.pop("a bare interpreter"))
    print(f"import, less the {bare * 1e3:.0f} ms of a bare interpreter, best of five [ms]")
    for label, values in spent.items():
        RESULTS[f"import {label} ms"] = (min(values) - bare) * 1e3
        print(f"  {label:<62} {(min(values) - bare) * 1e3:9.0f}")


# ----------------------------------------------------------------------------------------------------------------- main


def prepared(arms: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Poses, seeds and paths of each arm, written down for the peers; followers start where our own path starts."""
    from fieldworthy.arms.path import PathOptions, plan

    cases = {}
    for index, (name, arm) in enumerate(arms.items()):
        case = {
            "axes": np.array([joint.axis for joint in arm.joints]),
            "points": np.array([joint.point_m for joint in arm.joints]),
            "home": np.array(arm.home),
            "lower": arm.lower,
            "upper": arm.upper,
            "poses": exponentials(arm, random_postures(arm, 10_000, 10 + index)),
            "seeds": random_postures(arm, 10_000, 20 + index),
        }
        for kind in PATHS:
            case[kind] = path_poses(arm, kind)
            chosen = plan(replace(arm, capsules=()), case[kind], options=PathOptions(avoid=False))
            case[kind + "_start"] = chosen.q[0]
        np.savez(folder / f"{name}.npz", **case)
        cases[name] = case
    return cases


def pin(core: int) -> None:
    """This process and its children on one core, and one worker thread: before anything starts threads."""
    for name in ("FIELDWORTHY_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def main() -> None:
    """Print the tables, then JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", type=Path, help="a Python that has the peers")
    parser.add_argument("--core", type=int, default=(os.cpu_count() or 1) - 1)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and poses")
    options = parser.parse_args()
    pin(options.core)
    began = time.perf_counter()
    rounds = 3 if options.quick else 5
    from fieldworthy.arms.catalogue import load_arm

    print(f"{platform.system()} {platform.machine()}, core {options.core} of {os.cpu_count()}, NumPy {np.__version__}")
    print(f"load of the machine before the first round: {os.getloadavg()[0]:.1f} processes")
    arms = {name: load_arm(name) for name in ARMS}
    with tempfile.TemporaryDirectory() as place:
        cases = prepared(arms, Path(place))
        peers = Peers(options.peer_python, Path(place))
        sections: tuple[Callable[[], None], ...] = (
            imports,
            lambda: singles(arms, cases, peers, 500 if options.quick else 2000, rounds),
            lambda: batches(arms, cases, peers, rounds),
            lambda: paths(arms, cases, peers, rounds),
            lambda: iterative(arms, cases, 500 if options.quick else 10_000),
            lambda: exactness(1000 if options.quick else 10_000, 200 if options.quick else 2000),
        )
        for section in sections:
            start = time.perf_counter()
            section()
            print(f"-- {time.perf_counter() - start:.0f} s, load {os.getloadavg()[0]:.1f}\n")
        peers.close()
    RESULTS["seconds"] = time.perf_counter() - began
    print(json.dumps(RESULTS))


if __name__ == "__main__":
    sys.exit(main())
