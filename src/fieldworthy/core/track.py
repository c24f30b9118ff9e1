"""The poses of a vehicle at the last physics ticks, so that a sensor can ask where it was at any time between them.

Frames: north, east, up [m]; roll, pitch and heading [rad] as FRD Euler angles Z-Y-X. Heading is not wrapped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fieldworthy.core.lanes import Scalar


@dataclass
class Pose:
    """One pose of a floating body."""

    north_m: Scalar
    east_m: Scalar
    up_m: Scalar
    roll_rad: Scalar
    pitch_rad: Scalar
    heading_rad: Scalar


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
    for name in Pose.__dataclass_fields__:
        dr.scatter(getattr(track.poses, name), getattr(pose, name), index, active)


def pose_at(track: Track, lane: Any, first_tick: Any, ticks_later: Any, uint_type: Any) -> Pose:
    """The pose `ticks_later` (a real number >= 0) after `first_tick`, by linear interpolation.

    Limits: between two physics ticks the true path bends by acceleration * dt^2 / 8, 0.1 mm at 2 m/s^2 and 20 ms.
    """
    import drjit as dr

    # The last pose must be reached by share 1 of the interval before it, never by a slot that is not yet written.
    whole = dr.minimum(uint_type(ticks_later), track.slots - 2)
    before = ((first_tick + whole) % track.slots) * track.lanes + lane
    after = ((first_tick + whole + 1) % track.slots) * track.lanes + lane
    values = {}
    for name in Pose.__dataclass_fields__:
        array = getattr(track.poses, name)
        float_type = type(array)
        share = float_type(ticks_later) - float_type(whole)
        low, high = dr.gather(float_type, array, before), dr.gather(float_type, array, after)
        values[name] = low + share * (high - low)
    return Pose(**values)
