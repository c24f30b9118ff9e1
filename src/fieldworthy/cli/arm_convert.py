"""`fieldworthy arm convert`: from one way of writing motions to another, without planning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command("convert")
@click.argument("source")
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--robot", metavar="ARM", help="Needed where joint targets become poses.")
@click.option("--from", "from_format", metavar="FORMAT", help="Of SOURCE, where its ending does not say.")
@click.option("--to", "to_format", metavar="FORMAT", help="Of TARGET, where its ending does not say.")
def convert(source: str, target: Path, robot: str | None, from_format: str | None, to_format: str | None) -> None:
    """Read SOURCE and write TARGET: programs, waypoint sets (JSON) and joints over time (CSV, JointTrajectory).

    Between programs moves stay what they are. SOURCE may be a built-in set such as arm-plane.
    """
    from fieldworthy.arms.catalogue import load_arm
    from fieldworthy.arms.dataset import builtin_sets, read_waypoints, write_waypoints
    from fieldworthy.arms.export import joint_set_of_trajectory, trajectory_of_joints, waypoints_as_program
    from fieldworthy.arms.joint_csv import JointSet, write_joint_csv
    from fieldworthy.arms.program_waypoints import waypoints_of
    from fieldworthy.arms.programs import read_program, write_program
    from fieldworthy.arms.waypoints import WaypointSet
    from fieldworthy.cli.arm_input import has_joints, is_trajectory
    from fieldworthy.core.errors import FieldworthyError

    arm = None if robot is None else load_arm(robot)
    place = Path(source)
    is_set = source in builtin_sets() or (
        place.suffix.lower() == ".json" and from_format is None and not is_trajectory(place)
    )
    found: Any
    if is_set:
        found = read_waypoints(source)
    elif source in builtin_sets(".csv") or (place.suffix == ".csv" and from_format is None and has_joints(place)):
        from fieldworthy.arms.joint_csv import read_joint_csv

        found = read_joint_csv(source)
    else:
        found = read_program(place, from_format)
    for note in found.notes:
        click.echo(f"note: {note}", err=True)
    suffix = target.suffix.lower()
    if isinstance(found, JointSet):
        if suffix == ".csv":
            write_joint_csv(target, found)
        else:
            write_program(trajectory_of_joints(found), target, to_format)
    elif suffix == ".csv" and to_format is None and not isinstance(found, WaypointSet) and _timed(found):
        write_joint_csv(target, joint_set_of_trajectory(found))
    elif suffix == ".json" and to_format is None and not (isinstance(found, WaypointSet) or _timed(found)):
        if arm is None and any(move.joints is not None for move in found.moves):
            raise FieldworthyError(f"{source}: targets in joints become poses by an arm; valid: --robot ARM")
        write_waypoints(target, waypoints_of(found, arm))
    elif isinstance(found, WaypointSet):
        if suffix == ".json":
            write_waypoints(target, found)
        else:
            write_program(waypoints_as_program(found, arm), target, to_format)
    else:
        write_program(found, target, to_format)
    if suffix == ".csv" and not isinstance(found, JointSet) and not _timed(found):
        click.echo("note: a table of poses has no speeds, dwells, names or kinds of move: they are left out", err=True)
    click.echo(f"written: {target}")


def _timed(program: Any) -> bool:
    moves = getattr(program, "moves", ())
    return bool(moves) and all(move.joints is not None and move.time_s is not None for move in moves)
