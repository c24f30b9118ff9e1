"""The planned whole path as a controller would drive it: sampled over time, with its figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.collision import clearance
from fieldworthy.arms.kinematics import fk, manipulability
from fieldworthy.arms.motion import Motion
from fieldworthy.arms.path import NoPath
from fieldworthy.arms.singularity import Singularities, singularities
from fieldworthy.arms.timing import resample
from fieldworthy.scenario.arm_task import ArmScene

MOST_SAMPLES = 4000


@dataclass(frozen=True)
class PlanFigures:
    """A planned motion over time, k rows."""

    motion: Motion
    t_s: Array
    q: Array
    speed_ratio: Array
    """(k, dof) over the limit; 0 where none is known."""
    acceleration_ratio: Array
    tool: Array
    """(k, 4, 4) base_from_tool."""
    line_error_m: Array
    """(k,) how far the tool is from its straight lines; NaN in joint moves."""
    manipulability: Array
    singular: Singularities
    clearance_m: Array | None
    nearest: tuple[tuple[str, str], ...]
    waypoint_t_s: Array
    """(n,) when the user's waypoints are passed."""
    notes: tuple[str, ...]
    """What had to be given up, waypoints by their own numbers."""
    summary: dict[str, Any]


@dataclass(frozen=True)
class Impossible:
    """There is no continuous path."""

    waypoint: int
    """The user's waypoint at which the longest way ends, or the last one before that place."""
    why: str
    """In a sentence, waypoints by their own numbers."""


def impossible(error: NoPath) -> Impossible:
    """The planner's reason."""
    return Impossible(error.waypoint, error.why)


def plan_figures(scene: ArmScene, motion: Motion) -> PlanFigures:
    """All figures of a planned motion."""
    arm, timing = motion.arm, motion.timing
    rate = min(scene.task.play.rate_hz, MOST_SAMPLES / max(timing.duration_s, 1e-3))
    t, q, speed, acceleration = resample(timing, rate)
    tool = fk(arm, q).reshape(-1, 4, 4)
    space = clearance(arm, q, scene.obstacles) if arm.capsules else None
    figures = PlanFigures(
        motion, t, q, np.abs(speed) / arm.speed, np.abs(acceleration) / arm.acceleration, tool,
        _off_the_line(motion, t, tool), manipulability(arm, q), singularities(arm, q),
        None if space is None else space.distance_m, () if space is None else space.pairs,
        timing.t_s[motion.given], motion.notes, {},
    )  # fmt: skip
    figures.summary.update(_summary(figures))
    return figures


def _off_the_line(motion: Motion, t_s: Array, tool: Array) -> Array:
    """(k,) distance of the tool from the segment that it is on."""
    points = motion.path.base_from_tool[:, :3, 3]
    if len(points) == 1:
        return np.asarray(np.linalg.norm(tool[:, :3, 3] - points[0], axis=1))
    segment = np.clip(np.searchsorted(motion.timing.t_s, t_s, side="right") - 1, 0, len(points) - 2)
    start, way = points[segment], np.diff(points, axis=0)[segment]
    offset = tool[:, :3, 3] - start
    share = np.clip((offset * way).sum(axis=1) / np.maximum((way**2).sum(axis=1), 1e-300), 0.0, 1.0)
    off = np.linalg.norm(offset - share[:, None] * way, axis=1)
    joint = np.array([move == "joint" for move in motion.waypoints.move])[segment + 1]
    return np.where(joint, np.nan, off)


def _summary(figures: PlanFigures) -> dict[str, Any]:
    motion, arm = figures.motion, figures.motion.arm
    path, timing = motion.path, motion.timing
    step = path.step_rad
    at = int(step.argmax()) if len(step) else 0
    turns = np.diff(path.q, axis=0)
    found: dict[str, Any] = {
        "duration_s": timing.duration_s,
        "waypoints": len(motion.given),
        "points": len(path.q),
        "worst_position_error_m": float(path.position_error_m.max()),
        "worst_orientation_error_deg": float(np.degrees(path.orientation_error_rad.max())),
        "largest_line_error_m": _most(figures.line_error_m),
        "largest_step_deg": float(np.degrees(step[at])) if len(step) else 0.0,
        "largest_step_joint": arm.joints[int(np.abs(turns[at]).argmax())].name if len(step) else None,
        "stops": len(motion.stops),
        "peak_speed_ratio": float(timing.speed_ratio.max()) if np.isfinite(arm.speed).any() else None,
        "peak_acceleration_ratio": (
            float(timing.acceleration_ratio.max()) if np.isfinite(arm.acceleration).any() else None
        ),
        "joint_travel_rad": float(np.abs(turns).sum()),
        "least_wrist_sine": _least(figures.singular.wrist),
        "least_manipulability": float(figures.manipulability.min()),
        "compromises": list(figures.notes),
    }
    if figures.clearance_m is not None and np.isfinite(figures.clearance_m).any():
        row = int(figures.clearance_m.argmin())
        found |= {"least_clearance_m": float(figures.clearance_m[row]), "nearest": " and ".join(figures.nearest[row])}
    return found


def _least(values: Array) -> float | None:
    return None if np.isnan(values).all() else float(np.nanmin(values))


def _most(values: Array) -> float | None:
    return None if np.isnan(values).all() else float(np.nanmax(values))
