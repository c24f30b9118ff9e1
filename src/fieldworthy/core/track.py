"""The poses of a vehicle at the last physics ticks, so that a sensor can ask where it was at any time between them.

Frames: position NED [m]; attitude quaternion NED from FRD, w x y z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fieldworthy.core.lanes import Scalar, select
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.vec import Quat, Vec3, quat_normalize


@dataclass
class Pose:
    """Where a body is and how it lies."""

    pos_ned_m: Vec3
    quat_ned_from_frd: Quat


@dataclass
class Track:
    """A ring of `slots` poses a lane: the pose of tick n lies in slot n mod slots, lanes side by side."""

    poses: Pose
    """Arrays of length slots * lanes."""
    lanes: Any
    """UInt32 scalar."""
    slots: int


def write_pose(track: Track, pose: Pose, tick: Any, lane: Any, active: Any) -> None:
    """Store the poses of all lanes at `tick` (UInt32) in place; lanes that are not active keep what they had."""
    import drjit as dr

    index = (tick % track.slots) * track.lanes + lane
    map_leaves(lambda ring, value: dr.scatter(ring, value, index, active), track.poses, pose)


def pose_of_tick(track: Track, tick: Any, lane: Any) -> Pose:
    """The pose of a tick (UInt32) that the ring still holds."""
    import drjit as dr

    index = (tick % track.slots) * track.lanes + lane
    return map_leaves(lambda ring: dr.gather(type(ring), ring, index), track.poses)


def pose_at(track: Track, lane: Any, first_tick: Any, ticks_later: Any, uint_type: Any) -> Pose:
    """The pose `ticks_later` (a real number >= 0) after `first_tick`, between the two ticks around it.

    Equation: position linear; attitude by normalised linear interpolation of the nearer pair of quaternions.
    Limits: between two ticks the true path bends by acceleration * dt^2 / 8, 0.1 mm at 2 m/s^2 and 20 ms; the turn is
        off its even rate by (rate * dt)^3 / 70 or so, 1e-8 rad for a boat, 1e-5 rad at 20 rad/s and 4 ms.
    """
    # The last pose must be reached by share 1 of the interval before it, never by a slot that is not yet written.
    import drjit as dr

    whole = dr.minimum(uint_type(ticks_later), track.slots - 2)
    before = pose_of_tick(track, first_tick + whole, lane)
    after = pose_of_tick(track, first_tick + whole + 1, lane)
    float_type = type(before.pos_ned_m.x)
    share = float_type(ticks_later) - float_type(whole)
    return between(before, after, share)


def between(before: Pose, after: Pose, share: Scalar) -> Pose:
    """The pose a share (0 to 1) of the way; see `pose_at`. Scalars of any engine."""
    p, q = before.quat_ned_from_frd, after.quat_ned_from_frd
    # q and -q are the same attitude; the nearer one gives the short way.
    same = p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z >= 0.0
    sign = select(same, 1.0, -1.0)
    mixed = Quat(
        p.w + (q.w * sign - p.w) * share,
        p.x + (q.x * sign - p.x) * share,
        p.y + (q.y * sign - p.y) * share,
        p.z + (q.z * sign - p.z) * share,
    )
    return Pose(before.pos_ned_m + (after.pos_ned_m - before.pos_ned_m) * share, quat_normalize(mixed))
