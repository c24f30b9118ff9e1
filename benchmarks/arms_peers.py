"""Other people's inverse kinematics, in a Python of their own: arms.py starts it and asks for window after window.

    arms_peers.py FOLDER

Says "ready" and what could be imported. FOLDER holds ARM.npz: axes and points of the joints and the pose of the tool at
the zero posture, limits, poses, seeds, paths. For every line of JSON on stdin, one line "answer" and JSON: microseconds
of each call, or of a pose; postures go to FOLDER/answer.npz, where arms.py judges them.
EAIK, ur-analytic-ik and py-opw-kinematics neither filter by limits (but `reach` of the last) nor add whole turns.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = {
    "EAIK": ("eaik", "eaik.IK_HP"),
    "ur-analytic-ik": ("ur-analytic-ik", "ur_analytic_ik"),
    "py-opw-kinematics": ("py-opw-kinematics", "py_opw_kinematics"),
    "roboticstoolbox ik_LM": ("roboticstoolbox-python", "roboticstoolbox"),
}
"""Distribution and module of each peer."""
OPW_KR10 = {"a1": 0.025, "a2": -0.035, "b": 0.0, "c1": 0.4, "c2": 0.56, "c3": 0.515, "c4": 0.08}
"""Lengths of the KR 10 R1100 [m] as this peer wants them; checked against the given pose of the tool."""
IN_LIMITS = "EAIK, then limits and whole turns in NumPy"
FULL = 2.0 * np.pi
RESIDUAL = 1e-13
"""Half the squared error at which the toolbox stops: about 4e-7 m and rad."""


class Case:
    """An arm with its poses, and the peers that know it."""

    def __init__(self, file: Path, modules: dict[str, Any]) -> None:
        self.data = dict(np.load(file))
        self.lower, self.upper = self.data["lower"], self.data["upper"]
        self.middle = 0.5 * (self.lower + self.upper)
        self.poses: Any = self.data["poses"]
        self.seeds: Any = self.data["seeds"]
        self.all: dict[str, Callable[[Any], Any]] = {}
        """Every branch of one pose, as `goals` has them."""
        self.nearest: dict[str, Callable[[Any, Any], Any]] = {}
        self.batch: dict[str, Callable[[Any], Any]] = {}
        home, axes, points = self.data["home"], self.data["axes"], self.data["points"]
        self.turn: Any = np.eye(4)
        """EAIK's tool has the base's directions at the zero posture: tool_from_its."""
        self.turn[:3, :3] = home[:3, :3].T
        if "EAIK" in modules:
            # Offsets from axis to axis, the last one to the tool.
            between = np.diff(np.vstack([np.zeros(3), points, home[:3, 3]]), axis=0)
            robot = modules["EAIK"].HPRobot(axes, between)
            self.eaik = robot
            self.all["EAIK"] = lambda pose: robot.IK(pose).Q
            self.all[IN_LIMITS] = lambda pose: self.within(reached(robot.IK(pose)), self.middle)
            self.batch["EAIK"] = lambda poses: robot.IK_batched(poses, 1)
        if "ur-analytic-ik" in modules and file.stem == "ur5e":
            ur = modules["ur-analytic-ik"].ur5e
            self.all["ur-analytic-ik"] = ur.inverse_kinematics
            self.nearest["ur-analytic-ik"] = lambda pose, q: ur.inverse_kinematics_closest(pose, *q)[0]
        if "py-opw-kinematics" in modules and file.stem == "kr10-r1100":
            from scipy.spatial.transform import RigidTransform

            opw = modules["py-opw-kinematics"]
            flips = (True, False, False, True, False, True)
            model = opw.KinematicModel(**OPW_KR10, offsets=(0.0, -np.pi / 2, 0.0, 0.0, 0.0, 0.0), flip_axes=flips)
            arm = opw.Robot(model, degrees=False)
            if np.abs(arm.forward((0.0,) * 6).as_matrix() - home).max() > 1e-9:
                raise SystemExit("py-opw-kinematics: its KR 10 R1100 is not the catalogue's")
            self.rigid = RigidTransform.from_matrix
            limits = list(zip(self.lower.tolist(), self.upper.tolist(), strict=True))
            self.all["py-opw-kinematics"] = arm.inverse
            self.nearest["py-opw-kinematics"] = lambda pose, q: arm.inverse(pose, current_joints=tuple(q))[0]
            self.batch["py-opw-kinematics"] = lambda poses: arm.reach(poses, joint_limits=limits)
            self.opw = arm
        if "roboticstoolbox ik_LM" in modules:
            toolbox = modules["roboticstoolbox ik_LM"]
            chain, before = [], np.eye(4)
            for axis, point, low, high in zip(axes, points, self.lower, self.upper, strict=True):
                here = np.eye(4)
                here[:3, :3], here[:3, 3] = onto(axis), point
                chain += [toolbox.ET.SE3(np.linalg.inv(before) @ here), toolbox.ET.Rz(qlim=[low, high])]
                before = here
            ets = toolbox.ETS([*chain, toolbox.ET.SE3(np.linalg.inv(before) @ home)])
            self.nearest["roboticstoolbox ik_LM"] = lambda pose, q: ets.ik_LM(pose, q0=q, slimit=100, tol=RESIDUAL).q
            self.follow_lm = lambda pose, q: ets.ik_LM(pose, q0=q, slimit=1, tol=RESIDUAL).q

    def goals(self, peer: str, poses: Any) -> list[Any]:
        """Poses as a peer takes them, made before the clock runs."""
        if peer.startswith("EAIK"):
            return list(np.ascontiguousarray(poses @ self.turn))
        if peer == "py-opw-kinematics":
            return [self.rigid(pose) for pose in poses]
        return list(poses)

    def within(self, found: Any, q: Any) -> Any:
        """Those of the postures (n, 6) that are within limits in the whole turns nearest to q."""
        found = found + np.round((q - found) / FULL) * FULL
        found += FULL * (found < self.lower - 1e-10) - FULL * (found > self.upper + 1e-10)
        return found[((found >= self.lower - 1e-10) & (found <= self.upper + 1e-10)).all(axis=1)]


def reached(answer: Any) -> Any:
    """EAIK's postures (n, 6) that put the tool at the pose, without those that only come near."""
    return np.array(answer.Q)[~np.array(answer.is_LS)].reshape(-1, 6)


def onto(axis: Any) -> Any:
    """A rotation whose third column is a unit vector."""
    other = np.eye(3)[np.argmin(np.abs(axis))]
    x = np.cross(other, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def each(function: Callable[..., Any], *arguments: list[Any]) -> tuple[list[float], list[Any]]:
    """(microseconds, answer) of a call for every row."""
    spent, answers = [], []
    for row in zip(*arguments, strict=True):
        start = time.perf_counter()
        answer = function(*row)
        spent.append((time.perf_counter() - start) * 1e6)
        answers.append(answer)
    return spent, answers


def one_each(folder: Path, case: Case, peer: str, count: int, nearest: bool) -> dict[str, Any]:
    """A window of single calls."""
    goals = case.goals(peer, case.poses[:count])
    if not nearest:
        spent, answers = each(case.all[peer], goals)
        return {"us": spent, "branches": sum(len(answer) for answer in answers) / count}
    spent, answers = each(case.nearest[peer], goals, list(case.seeds[:count]))
    np.savez(folder / "answer.npz", q=np.array(answers))
    return {"us": spent}


def batch(case: Case, peer: str, count: int) -> dict[str, Any]:
    """A window of one call for many poses, microseconds a pose."""
    poses = case.poses[np.arange(count) % len(case.poses)]
    if peer == "EAIK":
        goals: Any = case.goals(peer, poses)
    else:
        goals = case.rigid(poses)
    start = time.perf_counter()
    case.batch[peer](goals)
    return {"us": (time.perf_counter() - start) / count * 1e6}


def follow(folder: Path, case: Case, peer: str, path: str) -> dict[str, Any]:
    """A path from its given start, waypoint by waypoint; microseconds of all."""
    poses, q = case.data[path], case.data[path + "_start"]
    start = time.perf_counter()
    if peer == "py-opw-kinematics":
        rows = case.opw.batch_inverse(case.rigid(poses), current_joints=tuple(q))
    elif peer == "EAIK":
        rows = follow_nearest(case, case.goals(peer, poses), q)
    else:
        rows = []
        for pose in poses:
            q = case.follow_lm(pose, q)
            rows.append(q)
    spent = (time.perf_counter() - start) * 1e6
    np.savez(folder / "answer.npz", q=np.array(rows))
    return {"us": spent}


def follow_nearest(case: Case, goals: list[Any], q: Any) -> list[Any]:
    """EAIK's branches, each in the whole turn nearest to the last posture, and of those in limits the nearest."""
    rows = []
    for goal in goals:
        found = case.within(np.array(case.eaik.IK(goal).Q), q)
        if len(found):
            q = found[np.argmin(np.abs(found - q).max(axis=1))]
        rows.append(q)
    return rows


def starts(case: Case, path: str) -> dict[str, Any]:
    """From every posture in limits at the first waypoint, the nearest followed: largest step of each [rad].

    Waypoints on a wrist singularity are passed over, since EAIK shares the free angle between two joints as it likes;
    the step across counts as that many equal ones. The least of all is what nobody who stays in one branch can do
    without.
    """
    solved = [reached(case.eaik.IK(goal)) for goal in case.goals("EAIK", case.data[path])]
    turns = np.stack(np.meshgrid(*[[-1, 0, 1]] * 6, indexing="ij"), axis=-1).reshape(-1, 6) * FULL
    q = (solved[0][:, None] + turns).reshape(-1, 6)
    q = q[((q >= case.lower) & (q <= case.upper)).all(axis=1)]
    worst, passed = np.zeros(len(q)), 1
    for rows in solved[1:]:
        if not len(rows) or np.abs(np.sin(rows[:, 4])).min() < 1e-6:
            passed += 1
            continue
        found = rows + np.round((q[:, None] - rows) / FULL) * FULL
        found += FULL * (found < case.lower) - FULL * (found > case.upper)
        fits = ((found >= case.lower) & (found <= case.upper)).all(axis=2)
        step = np.where(fits, np.abs(found - q[:, None]).max(axis=2), np.inf)
        best = step.argmin(axis=1)
        least = step[np.arange(len(q)), best]
        worst = np.maximum(worst, least / passed)
        q = np.where(np.isfinite(least)[:, None], found[np.arange(len(q)), best], q)
        passed = 1
    finite = np.sort(worst[np.isfinite(worst)])
    steps = [float(finite[0]), float(np.median(finite)), float(finite[-1])] if len(finite) else [None] * 3
    return {"starts": len(worst), "continuous": int((worst < 0.5).sum()), "steps_rad": steps}


def main() -> None:
    """Answer until stdin ends."""
    folder = Path(sys.argv[1])
    modules, said = {}, {}
    for name, (distribution, module) in PACKAGES.items():
        try:
            modules[name] = import_module(module)
            said[name] = version(distribution)
        except ImportError as problem:
            said[name] = f"left out ({problem})"
    cases = {file.stem: Case(file, modules) for file in sorted(folder.glob("*.npz"))}
    peers = {
        arm: {"all": list(case.all), "nearest": list(case.nearest), "batch": list(case.batch)}
        for arm, case in cases.items()
    }
    print("ready", json.dumps({"versions": said, "peers": peers}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        case, peer = cases[asked["arm"]], asked.get("peer", "")
        if asked["job"] == "batch":
            answer = batch(case, peer, asked["count"])
        elif asked["job"] == "follow":
            answer = follow(folder, case, peer, asked["path"])
        elif asked["job"] == "starts":
            answer = starts(case, asked["path"])
        else:
            answer = one_each(folder, case, peer, asked["count"], asked["job"] == "nearest")
        print("answer", json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
