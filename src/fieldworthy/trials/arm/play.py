"""Play a task frame by frame with a solver, and plan its whole path beside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.collision import clearance
from fieldworthy.arms.exact import all_postures
from fieldworthy.arms.joint_csv import JointSet
from fieldworthy.arms.motion import Motion, MotionOptions, plan_motion
from fieldworthy.arms.path import NoPath, PathOptions
from fieldworthy.arms.playback import Frame, Player, PlayOptions, State
from fieldworthy.arms.solver import SEED_SOLVERS, Attempt, Solver, make_solver
from fieldworthy.arms.waypoints import WaypointSet
from fieldworthy.scenario.arm_task import ArmScene

_APPROACH_S = 20.0
"""Longest time that the arm gets to come to the first waypoint."""
_WATCHED = 50
"""Frames between two words on progress."""


@dataclass(frozen=True)
class Played:
    """What a player showed, a row a frame."""

    solver: str
    """Its name; "joints" where joint positions were played."""
    t_s: Array
    """(m,) from the first frame; the motion itself begins at `began`, its end is at `ended`."""
    q: Array
    """(m, dof)."""
    target: Array
    """(m, 4, 4) base_from_tool; NaN where joints are played."""
    reached: Array
    """(m, 4, 4)."""
    position_error_m: Array
    orientation_error_rad: Array
    iterations: Array
    solve_s: Array
    """(m,) wall time of the solver in each frame; 0 where it was not called."""
    arrival: Array
    """(n,) frame at which the target was at each waypoint."""
    began: int
    ended: int
    why: tuple[str, ...]
    """(m,) the solver's reason in frames that it did not reach."""

    @property
    def dt_s(self) -> float:
        """Time between frames."""
        return float(self.t_s[1] - self.t_s[0])


class _Timed:
    """A solver with a watch."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self.name = solver.name
        self.seconds = 0.0

    def solve(self, arm: Arm, base_from_tool: Array, seed: Array) -> Attempt:
        return self.solver.solve(arm, base_from_tool, seed)

    def step(self, arm: Arm, base_from_tool: Array, q: Array, dt_s: float) -> Attempt:
        began = time.perf_counter()
        attempt = self.solver.step(arm, base_from_tool, q, dt_s)
        self.seconds = time.perf_counter() - began
        return attempt

    def taken(self) -> float:
        """Wall time of the newest call, once."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


def play(
    scene: ArmScene, solver: str, progress: Callable[[float], None] | None = None, first: Array | None = None
) -> Played:
    """Follow the motion, then stand for `settle_s`; progress gets the share that is done.

    first: posture (dof,) at the first waypoint, which decides the branch: all solvers of a comparison begin alike. The
    one nearest to the task's start where it is left out; an arm that has none drives there with the solver first.
    Raises: FieldworthyError of a solver that is none or whose options do not fit.
    """
    task = scene.task
    dt = 1.0 / task.play.rate_hz
    # The first simulator's solvers are shown with what it saw: they tremble as long as they are asked.
    hold = "keep_solving" if solver in SEED_SOLVERS else task.play.hold
    options = PlayOptions(feed_m_s=task.motion.feed_m_s, hold=hold)
    frames: list[Frame] = []
    seconds: list[float] = [0.0]
    timed: _Timed | None = None
    if isinstance(scene.motion, JointSet):
        player, name = Player(scene.arm, scene.motion, options=options), "joints"
        frames.append(player.frame)
    else:
        given = task.solver.options if solver == task.solver.name else {}
        timed = _Timed(make_solver(solver, str(Path(task.source_path).parent), **given))
        player, name = Player(scene.arm, scene.motion, timed, _first_posture(scene, first), options), solver
        frames.append(player.frame)
        player.goto(0)
        while len(frames) * dt < _APPROACH_S:
            frames.append(player.step(dt))
            seconds.append(timed.taken())
            if progress is not None and len(frames) % _WATCHED == 0:
                progress(0.0)
            if player.state is not State.PLAYING and (not frames[-1].why or _stands(frames)):
                break
    began = len(frames) - 1
    first_t = frames[-1].t_s
    player.play()
    whole = max(player.duration_s, dt)
    while player.state is State.PLAYING:
        frames.append(player.step(dt))
        seconds.append(timed.taken() if timed else 0.0)
        if progress is not None and len(frames) % _WATCHED == 0:
            progress(min(player.t_s / whole, 1.0))
    ended = len(frames) - 1
    for _ in range(round(task.play.settle_s / dt)):
        frames.append(player.step(dt))
        seconds.append(timed.taken() if timed else 0.0)
        if progress is not None and len(frames) % _WATCHED == 0:
            progress(1.0)
    times = player.waypoint_times_s
    if isinstance(scene.motion, WaypointSet):
        times = times[scene.motion.given]  # points of an arc are the way and no waypoints
    arrival = np.clip(began + np.ceil((times - first_t) / dt - 1e-6).astype(int), began, ended)
    nothing = np.full((4, 4), np.nan)
    return Played(
        name,
        np.arange(len(frames), dtype=float) * dt,
        np.array([frame.q for frame in frames]),
        np.array([nothing if frame.target is None else frame.target for frame in frames]),
        np.array([frame.reached for frame in frames]),
        np.array([frame.position_error_m for frame in frames]),
        np.array([frame.orientation_error_rad for frame in frames]),
        np.array([frame.iterations for frame in frames]),
        np.array(seconds),
        arrival,
        began,
        ended,
        tuple(frame.why for frame in frames),
    )


def _first_posture(scene: ArmScene, first: Array | None) -> Array:
    """At the first waypoint if that can be, else the task's start."""
    if first is not None or not isinstance(scene.motion, WaypointSet):
        return scene.start if first is None else first
    found = all_postures(scene.arm, scene.motion.base_from_tool[0], scene.start, whole_turns=False)
    found = found[np.argsort(np.abs(found - scene.start).max(axis=1), kind="stable")]
    if not len(found) or not scene.arm.capsules:
        return np.asarray(found[0]) if len(found) else scene.start
    clear = clearance(scene.arm, found, scene.obstacles).distance_m > 0.0
    return np.asarray(found[int(np.argmax(clear))])


def _stands(frames: list[Frame]) -> bool:
    """A solver that has not moved the arm for half a second will not arrive."""
    recent = frames[-50:]
    return len(recent) == 50 and bool(np.abs(recent[0].q - recent[-1].q).max() < 1e-9)


def planned(scene: ArmScene) -> Motion | NoPath | None:
    """The whole path of a waypoint set, or why there is none; None where joints are played."""
    if not isinstance(scene.motion, WaypointSet):
        return None
    try:
        return plan_motion(scene.arm, scene.motion, start=scene.start, options=motion_options(scene))
    except NoPath as error:
        return error


def motion_options(scene: ArmScene) -> MotionOptions:
    """What the task says of planning."""
    given = scene.task.path
    spin: Any = None if given.spin_step_deg is None else float(np.radians(given.spin_step_deg))
    path = PathOptions(spin_step_rad=spin, margin_m=given.margin_m, avoid=given.avoid, obstacles=scene.obstacles)
    return MotionOptions(scene.task.motion.feed_m_s, given.step_m, float(np.radians(given.step_deg)), path)
