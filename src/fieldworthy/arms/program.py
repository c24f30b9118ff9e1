"""What a robot program says of motion, whatever controller it was written for.

A program is a list of moves in order. A target is either joint positions or the pose of the tool in a user frame (a
workpiece); the move says which frame and tool were in force. Everything is in metres, radians and seconds; the
controllers' own units and orientations are met in `arms/programs/` and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fieldworthy.arms.chain import IDENTITY, Matrix

MoveKind = Literal["joint", "linear", "circular"]


@dataclass(frozen=True)
class Move:
    """One motion to a target. Exactly one of `joints` and `pose` is set."""

    kind: MoveKind
    """joint: all joints at once, the tool goes where it goes; linear: the tool on a line; circular: on the arc
    through `via`."""
    joints: tuple[float, ...] | None = None
    """Target positions [rad], or [m] for external linear axes."""
    pose: Matrix | None = None
    """Target, frame_from_tool."""
    via: Matrix | None = None
    """Of a circular move: the pose on the way, frame_from_tool."""
    base_from_frame: Matrix = IDENTITY
    """The user frame in force (KUKA $BASE, ABB wobj, FANUC UF); the robot's base where none was named."""
    flange_from_tool: Matrix | None = None
    """The tool in force; None where the program leaves it to the controller."""
    speed_m_s: float | None = None
    """Speed of the tool on linear and circular moves; None where the program does not say."""
    joint_speed: float | None = None
    """Of joint moves: share of the largest speed, 0 to 1; None where the program does not say."""
    joint_speed_rad_s: float | None = None
    """Of joint moves of controllers that give an absolute speed (UR)."""
    blend_m: float = 0.0
    """Distance to the target at which the next move may begin; 0 stops there."""
    dwell_s: float = 0.0
    """Time to wait at the target."""
    time_s: float | None = None
    """When the target is due, counted from the start of the program, where it says so (joint trajectories)."""
    posture: str = ""
    """The controller's own words on the branch (KUKA S and T, ABB confdata, FANUC CONFIG), kept as they are."""
    label: str = ""
    """Name of the target in the program."""
    line: int = 0
    """Line of the source, 0 where there is none."""


@dataclass(frozen=True)
class Program:
    """The motions of a program, and what of it was not motion."""

    name: str
    moves: tuple[Move, ...]
    source: str = ""
    """File it was read from."""
    joint_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """One sentence for each statement that was met and is not motion (outputs, waits for signals), with its line."""
