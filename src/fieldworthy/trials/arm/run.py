"""A whole run of an arm's task: the path planned, each solver played and measured; Ctrl-C keeps what has finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldworthy.arms.motion import Motion
from fieldworthy.arms.path import NoPath
from fieldworthy.arms.solver import SEED_SOLVERS, SOLVERS, make_solver
from fieldworthy.arms.waypoints import WaypointSet
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.scenario.arm_task import ArmScene
from fieldworthy.trials.arm.measure import Measured, measure
from fieldworthy.trials.arm.plan_figures import Impossible, PlanFigures, impossible, plan_figures
from fieldworthy.trials.arm.play import planned, play
from fieldworthy.trials.interrupt import stop_wanted

ALL = (*SOLVERS, *SEED_SOLVERS)
"""What `--solver all` plays."""

Progress = Callable[[str, int, int, float], None]
"""Called with what is being done, its number from 0, how many there are, and its share done."""


@dataclass(frozen=True)
class ArmResult:
    """What came of a task."""

    scene: ArmScene
    asked: tuple[str, ...]
    """Solvers that were to be played; `joints` where joint positions are."""
    measured: tuple[Measured, ...]
    """Of those that have finished, in that order."""
    plan: PlanFigures | Impossible | None
    """None where joint positions are played, or it was not come to."""
    wall_s: float
    stopped_by: str = ""

    def summary(self) -> dict[str, Any]:
        """Everything in plain data: what summary.json and --json hold."""
        scene, plan = self.scene, self.plan
        return {
            "task": scene.task.name,
            "title": scene.task.title,
            "arm": scene.task.arm.model,
            "motion": "waypoints" if isinstance(scene.motion, WaypointSet) else "joints",
            "plan": plan.summary if isinstance(plan, PlanFigures) else None,
            "no_path": {"waypoint": plan.waypoint, "why": plan.why} if isinstance(plan, Impossible) else None,
            "solvers": [figures.summary for figures in self.measured],
            "asked": list(self.asked),
            "stopped_by": self.stopped_by or None,
            "wall_s": round(self.wall_s, 3),
        }


class _Stopped(Exception):
    """Ctrl-C was pressed."""


def run_task(scene: ArmScene, solvers: Sequence[str], progress: Progress | None = None) -> ArmResult:
    """Plan the whole path, then play the motion with each of the solvers (none where joint positions are played).

    Raises: FieldworthyError of a solver that is none, before anything is played.
    """
    began = time.perf_counter()
    if isinstance(scene.motion, WaypointSet):
        asked = tuple(solvers)
        for name in asked:
            options = scene.task.solver.options if name == scene.task.solver.name else {}
            make_solver(name, str(Path(scene.task.source_path).parent), **options)
    else:
        if solvers:
            raise FieldworthyError("joint positions are played without a solver; valid: leave the solver out")
        asked = ("joints",)
    plan: PlanFigures | Impossible | None = None
    measured: list[Measured] = []
    stopped_by = ""
    try:
        with stop_wanted() as stop:
            if progress is not None:
                progress("planning", 0, len(asked), 0.0)
            found = planned(scene)
            if isinstance(found, NoPath):
                plan = impossible(found)
            elif found is not None:
                plan = plan_figures(scene, found)
            first = found.path.q[0] if isinstance(found, Motion) else None
            for index, name in enumerate(asked):

                def step(share: float, name: str = name, index: int = index) -> None:
                    if progress is not None:
                        progress(name, index, len(asked), share)
                    if stop():
                        raise _Stopped

                step(0.0)
                measured.append(measure(scene, play(scene, name, step, first)))
    except (_Stopped, KeyboardInterrupt):
        stopped_by = "Ctrl-C"
    return ArmResult(scene, asked, tuple(measured), plan, time.perf_counter() - began, stopped_by)
