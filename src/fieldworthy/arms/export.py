"""A planned motion as a robot program, and as a trajectory over time."""

from __future__ import annotations

import numpy as np

from fieldworthy.arms.chain import Arm, Array, as_matrix
from fieldworthy.arms.interpolate import arc_through
from fieldworthy.arms.joint_csv import JointSet, PositionUnit
from fieldworthy.arms.motion import Motion
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs.joint_trajectory import Trajectory
from fieldworthy.arms.timing import resample
from fieldworthy.arms.waypoints import WaypointSet
from fieldworthy.core.errors import FieldworthyError

BLEND = 0.25
"""Share of the shorter neighbouring way over which a controller may round a waypoint that is no stop."""
_MOST_BLEND_M = 0.005
_ON_ARC_M = 1e-7
"""How near to a circle the points between three waypoints lie that came from an arc."""


def program_of(motion: Motion) -> Program:
    """The user's waypoints as moves: joints to the first posture, so that the planned branch is taken, then lines.

    Waypoints where the arm does not stand get a blend, or a controller would stop at each. Joint moves are given as
    joints. Points that were put in between are the controller's own work and left out.
    """
    given, arm = motion.given, motion.arm
    flange_from_tool = as_matrix(np.array(arm.tool))
    frame = as_matrix(motion.waypoints.base_from_workpiece)
    workpiece_from_base = np.linalg.inv(motion.waypoints.base_from_workpiece)
    place = motion.path.base_from_tool[given, :3, 3]
    ways = np.linalg.norm(np.diff(place, axis=0), axis=1)
    standing = {int(given[0]), int(given[-1]), *motion.stops}
    moves = []
    arcs = _arcs(motion)
    for index, row in enumerate(given):
        if index in arcs:
            continue  # the way of the arc that ends at the next waypoint
        label, dwell = motion.waypoints.names[row], float(motion.waypoints.dwell_s[row])
        if index == 0 or motion.waypoints.move[row] == "joint":
            joints = tuple(motion.path.q[row].tolist())
            moves.append(Move("joint", joints=joints, flange_from_tool=flange_from_tool, dwell_s=dwell, label=label))
            continue
        speed = float(motion.waypoints.speed_m_s[row])
        pose = as_matrix(workpiece_from_base @ motion.path.base_from_tool[row])
        via = (
            as_matrix(workpiece_from_base @ motion.path.base_from_tool[given[index - 1]]) if index - 1 in arcs else None
        )
        blend = 0.0 if int(row) in standing else min(BLEND * float(ways[index - 1 : index + 1].min()), _MOST_BLEND_M)
        moves.append(
            Move(
                "linear" if via is None else "circular",
                pose=pose,
                via=via,
                base_from_frame=frame,
                flange_from_tool=flange_from_tool,
                speed_m_s=speed if np.isfinite(speed) else motion.feed_m_s,
                blend_m=blend,
                dwell_s=dwell,
                label=label,
            )
        )
    return Program(motion.waypoints.name, tuple(moves), joint_names=tuple(joint.name for joint in arm.joints))


def _arcs(motion: Motion) -> set[int]:
    """The user's waypoints that are the middle of an arc: both ways beside them are bent, and on one circle."""
    given, place = motion.given, motion.path.base_from_tool[:, :3, 3]
    found: set[int] = set()
    for index in range(1, len(given) - 1):
        first, middle, last = (int(row) for row in given[index - 1 : index + 2])
        if index - 1 in found or "joint" in (motion.waypoints.move[middle], motion.waypoints.move[last]):
            continue
        between = [*range(first + 1, middle), *range(middle + 1, last)]
        arc = arc_through(place[first], place[middle], place[last])
        if arc is None or middle == first + 1 or last == middle + 1:
            continue
        out = place[between] - arc.centre_m
        off = np.hypot(np.linalg.norm(out - np.outer(out @ arc.axis, arc.axis), axis=1) - arc.radius_m, out @ arc.axis)
        chord = np.linalg.norm(np.cross(place[between] - place[first], _unit(place[middle] - place[first])), axis=1)
        if off.max() < _ON_ARC_M and chord.max() > 10.0 * off.max() + _ON_ARC_M:
            found.add(index)
    return found


def _unit(v: Array) -> Array:
    return v / max(float(np.linalg.norm(v)), 1e-300)


def trajectory_of_motion(motion: Motion, rate_hz: float) -> Trajectory:
    """The timed motion at a controller's rate, with joint speeds and accelerations."""
    t, q, speed, acceleration = resample(motion.timing, rate_hz)
    names = tuple(joint.name for joint in motion.arm.joints)
    return Trajectory(names, t, q, speed, acceleration)


def joint_set_of(motion: Motion, rate_hz: float) -> JointSet:
    """The timed motion as joint positions over time."""
    t, q, _, _ = resample(motion.timing, rate_hz)
    joints = motion.arm.joints
    kinds: tuple[PositionUnit, ...] = tuple("m" if joint.kind == "prismatic" else "rad" for joint in joints)
    return JointSet(t, q, tuple(joint.name for joint in joints), kinds, motion.waypoints.name)


def waypoints_as_program(waypoints: WaypointSet, arm: Arm | None = None) -> Program:
    """A waypoint set as it is, without a plan: lines and joint moves to poses in its workpiece."""
    frame = as_matrix(waypoints.base_from_workpiece)
    tool = None if waypoints.flange_from_tool is None else as_matrix(waypoints.flange_from_tool)
    moves = [
        Move(
            waypoints.move[row],
            pose=as_matrix(waypoints.workpiece_from_tool[row]),
            base_from_frame=frame,
            flange_from_tool=tool,
            speed_m_s=None if np.isnan(waypoints.speed_m_s[row]) else float(waypoints.speed_m_s[row]),
            dwell_s=float(waypoints.dwell_s[row]),
            label=waypoints.names[row],
        )
        for row in range(len(waypoints))
    ]
    names = () if arm is None else tuple(joint.name for joint in arm.joints)
    return Program(waypoints.name, tuple(moves), waypoints.source, names)


def trajectory_of_joints(joints: JointSet) -> Program:
    """Joint positions over time as a program of joint moves that are due at their times."""
    first = float(joints.t_s[0])
    moves = tuple(
        Move("joint", joints=tuple(q.tolist()), time_s=float(t) - first)
        for t, q in zip(joints.t_s, joints.q, strict=True)
    )
    return Program(joints.name, moves, joints.source, joints.names)


def joint_set_of_trajectory(program: Program) -> JointSet:
    """A program of joint moves that are due at their times, as joint positions over time.

    Raises: FieldworthyError where a move has no joints or no time.
    """
    if any(move.joints is None or move.time_s is None for move in program.moves):
        raise FieldworthyError(f"{program.source or program.name}: a move has no joints or no time; valid: both")
    t = np.array([move.time_s for move in program.moves], float)
    q = np.array([move.joints for move in program.moves], float)
    names = program.joint_names or tuple(f"j{index + 1}" for index in range(q.shape[1]))
    return JointSet(t, q, names, name=program.name, source=program.source)
