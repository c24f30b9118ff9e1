"""Waypoints of a tool, whatever they were read from, and points put in between.

Inside, everything is right-handed, in metres and radians.
Verified by: tests/cases/test_arm_dataset.py
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fieldworthy.arms.chain import Array, are_rigid
from fieldworthy.arms.interpolate import lerp_pose, pose_distance, subdivisions
from fieldworthy.core.errors import FieldworthyError

WaypointMove = Literal["linear", "joint"]


@dataclass(frozen=True, eq=False)
class WaypointSet:
    """Poses that a tool passes in order. The n of all shapes is the number of waypoints, 1 or more.

    Raises: FieldworthyError for poses that are no rigid motions, or lists of another length than the poses.
    """

    name: str
    workpiece_from_tool: Array
    """Shape (n, 4, 4)."""
    base_from_workpiece: Array
    """Shape (4, 4)."""
    names: tuple[str, ...]
    """Of the waypoints; "" where one has none. See `label`."""
    speed_m_s: Array
    """Of the motion that ends at the waypoint, shape (n,); NaN where nobody says."""
    dwell_s: Array
    """Time to wait at the waypoint, shape (n,)."""
    move: tuple[WaypointMove, ...]
    """How the waypoint is reached: the tool on a line, or all joints at once."""
    tool_axis_free: Array
    """Whether the tool may turn about its own z there, shape (n,) of bool."""
    given: Array
    """False for points that `densify` or an arc put in between, shape (n,) of bool."""
    flange_from_tool: Array | None = None
    """Shape (4, 4); None where the set leaves the tool to the arm."""
    joints: Array | None = None
    """(n, dof) the posture at waypoints that were given in joints, NaN at the others; None where all are poses."""
    description: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()
    """What looks wrong but is no error, and what was left out."""

    def __post_init__(self) -> None:
        n = len(self.workpiece_from_tool)
        if n == 0:
            raise FieldworthyError(f"waypoints {self.name}: none; valid: one or more")
        for label, values in (
            ("names", self.names),
            ("speed_m_s", self.speed_m_s),
            ("dwell_s", self.dwell_s),
            ("move", self.move),
            ("tool_axis_free", self.tool_axis_free),
            ("given", self.given),
        ):
            if len(values) != n:
                raise FieldworthyError(f"waypoints {self.name}: {len(values)} values of {label}; valid: {n}")
        poses = [*self.workpiece_from_tool, self.base_from_workpiece]
        poses += [] if self.flange_from_tool is None else [self.flange_from_tool]
        good = are_rigid(np.array(poses)) if all(np.shape(pose) == (4, 4) for pose in poses) else np.zeros(n + 2, bool)
        if not good.all():
            index = int(np.argmin(good))
            which = f"waypoint {index}" if index < n else ("workpiece", "tool")[index - n]
            raise FieldworthyError(f"waypoints {self.name}: {which} is no rigid motion; valid: a 4x4 pose")

    def __len__(self) -> int:
        return len(self.workpiece_from_tool)

    @property
    def base_from_tool(self) -> Array:
        """The waypoints in the robot's base, shape (n, 4, 4)."""
        return self.base_from_workpiece @ self.workpiece_from_tool

    def label(self, index: int) -> str:
        """The waypoint's name, or `#3`."""
        return self.names[index] or f"#{index}"


def waypoint_set(
    name: str,
    workpiece_from_tool: ArrayLike,
    base_from_workpiece: ArrayLike | None = None,
    speed_m_s: float = math.nan,
    **others: Any,
) -> WaypointSet:
    """A set from poses (n, 4, 4): linear, no dwell or names, the base as workpiece; `others` are fields of the set."""
    poses = np.array(workpiece_from_tool, float)
    if poses.ndim != 3 or poses.shape[1:] != (4, 4):
        raise FieldworthyError(f"waypoints {name}: poses of shape {poses.shape}; valid: (n, 4, 4)")
    n = len(poses)
    fields: dict[str, Any] = {
        "names": ("",) * n,
        "speed_m_s": np.full(n, speed_m_s),
        "dwell_s": np.zeros(n),
        "move": ("linear",) * n,
        "tool_axis_free": np.zeros(n, bool),
        "given": np.ones(n, bool),
    }
    workpiece = np.eye(4) if base_from_workpiece is None else np.array(base_from_workpiece, float)
    return WaypointSet(name, poses, workpiece, **(fields | others))


def densify(waypoints: WaypointSet, step_m: float, step_rad: float = math.inf) -> WaypointSet:
    """The same path with points put in, so that no linear motion is longer than step_m [m] or turns more than step_rad.

    Points go on the straight line (lerp and slerp) in equal parts; speed, kind and freedom of the tool's axis are those
    of the motion they stand in. `given` tells the waypoints of before from the new ones. Joint motions stay whole:
    their tool path is the arm's.
    Raises: FieldworthyError for steps that are not positive or that ask for a million points.
    """
    poses = waypoints.workpiece_from_tool
    apart, angle = pose_distance(poses[:-1], poses[1:])
    kept = [0]
    source, fraction = [0], [1.0]
    for index in range(1, len(poses)):
        parts = 1
        if waypoints.move[index] == "linear":
            parts = subdivisions(float(apart[index - 1]), float(angle[index - 1]), step_m, step_rad)
        source += [index] * parts
        fraction += [(k + 1) / parts for k in range(parts)]
        kept.append(len(source) - 1)
    at = np.array(source)
    is_kept = np.zeros(len(at), bool)
    is_kept[kept] = True
    dense = lerp_pose(poses[np.maximum(at - 1, 0)], poses[at], np.array(fraction))
    return dataclasses.replace(
        waypoints,
        workpiece_from_tool=dense,
        names=tuple(waypoints.names[i] if keep else "" for i, keep in zip(source, is_kept, strict=True)),
        speed_m_s=waypoints.speed_m_s[at],
        dwell_s=np.where(is_kept, waypoints.dwell_s[at], 0.0),
        joints=None if waypoints.joints is None else np.where(is_kept[:, None], waypoints.joints[at], np.nan),
        move=tuple(waypoints.move[i] for i in source),
        tool_axis_free=waypoints.tool_axis_free[at],
        given=waypoints.given[at] & is_kept,
    )
