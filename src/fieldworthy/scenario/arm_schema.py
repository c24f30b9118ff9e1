"""An arm's task as strict structs: which arm, which motion, which solver, what it must not touch.

Files are TOML with a table [arm] in the place of [vehicle]. Lengths in metres, angles in degrees here as in the file.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from fieldworthy.scenario.quantities import NonNegative, Positive
from fieldworthy.scenario.strict import HIDDEN, Strict


class ArmTool(Strict, frozen=True, kw_only=True):
    """The tool on the flange: flange_from_tool."""

    position_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy_deg: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw about the flange's fixed axes x, y, z."""
    length_m: NonNegative | None = None
    """Of a straight tool along the flange's z axis: a capsule that counts for collisions; None has no shape."""
    radius_m: Positive = 0.02


class ArmChoice(Strict, frozen=True, kw_only=True):
    """The arm."""

    model: str = "kr10-r1100"
    """Catalogue name, or path of a catalogue file or URDF relative to the task file."""
    start_deg: list[float] | None = None
    """Posture at the start; the catalogue's ready posture where it is left out (metres for prismatic joints)."""
    tool: ArmTool | None = None
    """In the place of the motion's own tool."""


class ArmMotion(Strict, frozen=True, kw_only=True):
    """What the arm does: one of the three."""

    waypoints: str | None = None
    """Built-in set, or JSON file of waypoints."""
    joints: str | None = None
    """Built-in set, or CSV file of joint positions over time."""
    program: str | None = None
    """A robot program: KRL, RAPID, URScript, FANUC LS, G-code, APT, JointTrajectory, CSV of poses."""
    feed_m_s: Positive = 0.1
    """Tool speed where the motion names none."""


class ArmSolver(Strict, frozen=True, kw_only=True):
    """How the waypoints are followed while playing."""

    name: str = "exact"
    """exact, dls, pinv, ccd, fabrik; dls-seed, pinv-seed, ccd-seed, fabrik-seed; or module:Class."""
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    """Of the solver, such as iterations, damping, faithful."""


class ArmPlay(Strict, frozen=True, kw_only=True):
    """How the motion is played."""

    rate_hz: Annotated[float, Meta(gt=0.0, le=2000.0)] = 100.0
    """Frames a second; a solver is called once a frame."""
    settle_s: NonNegative = 2.0
    """Time after the end in which the arm should stand still."""
    hold: Literal["still", "keep_solving"] = "still"
    """keep_solving calls the solver also after it has arrived, as the seed's first version did: its trembling shows."""


class ArmPath(Strict, frozen=True, kw_only=True):
    """How the whole path is planned beside the playing."""

    margin_m: NonNegative = 0.005
    """Least distance between links, and to obstacles."""
    avoid: bool = True
    """Plan around postures with less; false only tells."""
    spin_step_deg: Annotated[float, Meta(gt=0.0, le=180.0)] | None = None
    """Steps in which the tool may turn about its own z axis; None: where the waypoints say so, in 15 degrees."""
    step_m: Positive = 0.005
    step_deg: Positive = 3.0


class ArmTask(Strict, frozen=True, kw_only=True, eq=False):
    """A task for an arm, complete."""

    schema: Literal[1] = 1
    name: str = "arm"
    title: str = ""
    description: str = ""
    arm: ArmChoice
    motion: ArmMotion
    solver: ArmSolver = ArmSolver()
    play: ArmPlay = ArmPlay()
    path: ArmPath = ArmPath()
    obstacles: list[dict[str, Any]] = msgspec.field(default_factory=list)
    """Shapes in the base frame: kind = sphere, box, capsule, half_space or mesh (docs/arms.md)."""
    source_path: Annotated[str, Meta(extra=HIDDEN)] = ""
