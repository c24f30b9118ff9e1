"""`fieldworthy arm solve`: every posture that puts the tool at a pose."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any

import click

from fieldworthy.cli.arm_options import arm_and_tool, convention_options, joints, pose, shown_joints, unit_doubts

if TYPE_CHECKING:
    from fieldworthy.arms.chain import Arm, Array

_SHOWN = 24


def _options(function: Any) -> Any:
    for option in reversed(convention_options):
        function = option(function)
    return function


@click.command("solve")
@click.argument("arm")
@click.option(
    "--pose",
    "pose_text",
    required=True,
    metavar="POSE",
    help='base_from_tool: "x y z" and an orientation, e.g. "0.5 0.1 0.4 180 0 90".',
)
@_options
@click.option("--near", metavar="JOINTS", help="Posture in degrees, nearest first; default: the arm's ready one.")
@click.option(
    "--solver", metavar="NAME", help="One answer of dls, pinv, ccd or fabrik from --near; default: all, exact."
)
@click.option("--every", is_flag=True, help="Every whole turn of every branch.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def solve(
    arm: str, pose_text: str, convention: str, millimetres: bool, tool: str | None, near: str | None,
    solver: str | None, every: bool, as_json: bool,
) -> None:  # fmt: skip
    """All postures of ARM within its limits that put the tool at a pose, in every branch and whole turn.

    Exit code 1 when there is none, with the reason.
    """
    import numpy as np

    from fieldworthy.arms.catalogue import ready_posture
    from fieldworthy.arms.exact import all_postures
    from fieldworthy.arms.exact import solve as nearest
    from fieldworthy.arms.exact_branches import start_of
    from fieldworthy.arms.kinematics import fk
    from fieldworthy.arms.solver import make_solver

    found = arm_and_tool(arm, tool, convention, millimetres)
    goal = pose(pose_text, "--pose", convention, millimetres)
    for doubt in unit_doubts(found, goal, millimetres):
        click.echo(f"note: {doubt}", err=True)
    ready = None if arm.lower().endswith((".urdf", ".xml")) else ready_posture(arm)
    start = np.array(start_of(found, ready)) if near is None else joints(near, "--near", found)
    why = ""
    if solver is None:
        rows = all_postures(found, goal, start, whole_turns=every or as_json)
        rows = rows[np.argsort(np.abs(rows - start).max(axis=1), kind="stable")]
        if not len(rows):
            why = nearest(found, goal, start).why
    else:
        attempt = make_solver(solver).solve(found, goal, np.array(start_of(found, start)))
        rows, why = attempt.q[None] if attempt.reached else np.empty((0, found.dof)), attempt.why
    miss = np.linalg.norm(fk(found, rows)[:, :3, 3] - goal[:3, 3], axis=1) if len(rows) else np.zeros(0)
    if as_json:
        answers = [dict(zip(("joints", "position_error_m"), (shown_joints(found, q), float(m)), strict=True))
                   for q, m in zip(rows, miss, strict=True)]  # fmt: skip
        click.echo(json.dumps({"arm": found.name, "count": len(rows), "why": why or None, "postures": answers}))
    elif len(rows):
        _print(found, rows, every)
    if not len(rows):
        if not as_json:
            click.echo(f"{found.name}: no posture; {why}")
        sys.exit(1)


def _print(arm: Arm, rows: Array, every: bool) -> None:
    from rich.table import Table

    from fieldworthy.arms.collision import clearance
    from fieldworthy.arms.singularity import singularities
    from fieldworthy.cli.show import stdout

    shown = rows if every else rows[:_SHOWN]
    table = Table(box=None, pad_edge=False)
    table.add_column("", justify="right")
    for joint in arm.joints:
        table.add_column(joint.name, justify="right")
    table.add_column("least room to a limit", justify="right")
    table.add_column("wrist · elbow sine", justify="right")
    table.add_column("clearance", justify="right")
    space = clearance(arm, shown) if arm.capsules else None
    kinds = singularities(arm, shown)
    for index, q in enumerate(shown):
        room = shown_joints(arm, _room(arm, q))
        least = min(range(arm.dof), key=lambda k: room[k])
        touching = space is not None and bool(space.in_collision[index])
        near = math.inf if space is None else float(space.distance_m[index])
        gap = "in collision" if touching else f"{near * 1e3:.0f} mm" if math.isfinite(near) else "–"
        table.add_row(
            str(index + 1),
            *(f"{value:.3f}" for value in shown_joints(arm, q)),
            f"{arm.joints[least].name} {room[least]:.1f}",
            f"{kinds.wrist[index]:.3f} · {kinds.elbow[index]:.3f}",
            gap,
            style="dim" if touching else None,
        )
    console = stdout()
    console.print(table)
    unit = "degrees" if all(joint.kind == "revolute" for joint in arm.joints) else "degrees, metres of prismatic joints"
    more = f"; {len(rows) - len(shown)} more with --every" if len(rows) > len(shown) else ""
    click.echo(f"{arm.name}: {len(rows)} postures within limits ({unit}), the nearest first{more}")


def _room(arm: Arm, q: Array) -> Array:
    import numpy as np

    return np.asarray(np.minimum(q - arm.lower, arm.upper - q))
