"""`fieldworthy arm path`: the continuous, timed joint path of a program or waypoint set."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldworthy.cli.arm_input import other_makers, read_motion, read_obstacles
from fieldworthy.cli.arm_options import arm_and_tool, convention_options, joints, pose, shown_joints

if TYPE_CHECKING:
    from fieldworthy.arms.motion import Motion

WRITES = (
    "CSV of joints (.csv), ROS 2 JointTrajectory (.yaml, .json), KRL (.src), URScript (.script), RAPID (.mod), "
    "FANUC (.ls)"
)


def _options(function: Any) -> Any:
    for option in reversed(convention_options):
        function = option(function)
    return function


@click.command("path")
@click.argument("program")
@click.option("--robot", required=True, metavar="ARM", help="Catalogue name, URDF or TOML file.")
@_options
@click.option("--base", metavar="POSE", help="base_from_frame of programs that leave their frame to the controller.")
@click.option(
    "--frame",
    "frames",
    multiple=True,
    metavar="NAME=POSE",
    help="A user frame that FANUC or RAPID programs only name (UF number, wobj); may be given again.",
)
@click.option("--start", metavar="JOINTS", help="Posture in degrees from which the arm comes; default: any.")
@click.option(
    "--feed",
    type=click.FloatRange(min=0.0, min_open=True),
    default=0.1,
    show_default=True,
    metavar="M/S",
    help="Tool speed where the program names none.",
)
@click.option(
    "--free-axis",
    type=click.FloatRange(0.0, 180.0, min_open=True),
    metavar="DEG",
    help="The tool may turn about its own z axis; tried in these steps, then smoothly.",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0.0),
    default=5.0,
    show_default=True,
    metavar="MM",
    help="Least distance to itself and to obstacles.",
)
@click.option("--ignore-collisions", is_flag=True, help="Tell of collisions and do not plan around them.")
@click.option("--obstacles", type=click.Path(path_type=Path), metavar="TOML", help="File with [[obstacles]] tables.")
@click.option(
    "--rate",
    type=click.FloatRange(1.0, 10000.0),
    default=125.0,
    show_default=True,
    metavar="HZ",
    help="Of the joint positions that are written.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help=f"Write the result: {WRITES}.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def path(
    program: str, robot: str, convention: str, millimetres: bool, tool: str | None, base: str | None,
    frames: tuple[str, ...], start: str | None, feed: float, free_axis: float | None, margin: float,
    ignore_collisions: bool, obstacles: Path | None, rate: float, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """A continuous joint path for PROGRAM, chosen over all branches of all waypoints, timed within limits.

    PROGRAM is a robot program (KRL, URScript, RAPID, FANUC LS, G-code, APT, CSV of poses), a waypoint set (JSON) or
    a built-in set such as arm-plane. Exit code 1 when no path exists: the sentence says at which waypoint and why.
    """
    from fieldworthy.arms.motion import MotionOptions, plan_motion
    from fieldworthy.arms.path import NoPath, PathOptions

    arm = arm_and_tool(robot, tool, convention, millimetres)
    options = MotionOptions(
        feed_m_s=feed,
        path=PathOptions(
            spin_step_rad=None if free_axis is None else math.radians(free_axis),
            margin_m=margin * 1e-3,
            avoid=not ignore_collisions,
            obstacles=read_obstacles(obstacles),
        ),
    )
    places = {"--base": base} if base is not None else {}
    places |= dict(_named(text) for text in frames)
    known = {name: pose(text, name, convention, millimetres) for name, text in places.items()}
    waypoints = read_motion(program, arm, known)
    if tool is not None:
        from dataclasses import replace

        import numpy as np

        waypoints = replace(waypoints, flange_from_tool=np.array(arm.tool))
    for note in (*waypoints.notes, *other_makers(arm, program, waypoints.joints is not None, out)):
        click.echo(f"note: {note}", err=True)
    begin = None if start is None else joints(start, "--start", arm)
    if out is not None:
        check_writable(out)
    try:
        motion = plan_motion(arm, waypoints, start=begin, options=options)
    except NoPath as error:
        if as_json:
            click.echo(json.dumps({"arm": arm.name, "path": None, "waypoint": error.waypoint, "why": error.why}))
        else:
            click.echo(f"{arm.name}: {error}")
        sys.exit(1)
    if out is not None:
        write_motion(motion, out, rate)
    _show(motion, out, as_json)


_SUFFIXES = {".csv", ".yaml", ".yml", ".json", ".src", ".script", ".mod", ".ls"}


def _named(text: str) -> tuple[str, str]:
    """Name and pose of a --frame option."""
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise click.BadParameter(f'--frame {text}: no name; valid: NAME=POSE, such as 1="0.5 0 0.2 0 0 0"')
    return name.strip(), value


def check_writable(out: Path) -> None:
    """Refuse an ending that nothing is written with, or a folder that is not there, before any work.

    Raises: FieldworthyError
    """
    from fieldworthy.core.errors import FieldworthyError

    if out.suffix.lower() not in _SUFFIXES:
        raise FieldworthyError(f"--out {out}: nothing is written with this ending; valid: {WRITES}")
    if not out.parent.is_dir():
        raise FieldworthyError(f"--out {out}: there is no folder {out.parent}; valid: a folder that exists")


def write_motion(motion: Motion, out: Path, rate_hz: float) -> None:
    """Write a motion: joints over time, or a program that takes the planned branch."""
    from fieldworthy.arms.export import joint_set_of, program_of, trajectory_of_motion
    from fieldworthy.arms.joint_csv import write_joint_csv
    from fieldworthy.arms.programs import write_program
    from fieldworthy.arms.programs.joint_trajectory import write_trajectory
    from fieldworthy.core.whole_file import write_whole_text

    suffix = out.suffix.lower()
    if suffix == ".csv":
        write_joint_csv(out, joint_set_of(motion, rate_hz))
    elif suffix in (".yaml", ".yml", ".json"):
        form: Any = "json" if suffix == ".json" else "yaml"
        write_whole_text(out, write_trajectory(trajectory_of_motion(motion, rate_hz), form))
    else:
        write_program(program_of(motion), out)


def _show(motion: Motion, out: Path | None, as_json: bool) -> None:
    import numpy as np

    found, timing = motion.path, motion.timing
    steps = found.step_rad if len(found.step_rad) else np.zeros(1)
    figures: dict[str, Any] = {
        "arm": motion.arm.name,
        "path": motion.waypoints.name,
        "waypoints": len(motion.given),
        "points": len(found.q),
        "duration_s": timing.duration_s,
        "worst_error_m": float(found.position_error_m.max()),
        "worst_error_rad": float(found.orientation_error_rad.max()),
        "largest_step_deg": math.degrees(float(steps.max())),
        "peak_speed_ratio": float(timing.speed_ratio.max()),
        "peak_acceleration_ratio": float(timing.acceleration_ratio.max()),
        "line_error_m": float(motion.driven.line_error_m.max(initial=0.0)),
        "line_error_deg": math.degrees(float(motion.driven.line_error_rad.max(initial=0.0))),
        "least_clearance_m": motion.driven.least_clearance_m,
        "stops": len(motion.stops),
        "notes": list(motion.notes),
        "first_deg": shown_joints(motion.arm, found.q[0]),
        "last_deg": shown_joints(motion.arm, found.q[-1]),
        "written": None if out is None else str(out),
    }
    if as_json:
        click.echo(json.dumps(figures))
        return
    clear = figures["least_clearance_m"]
    click.echo(
        f"{motion.arm.name} drives {figures['waypoints']} waypoints of {figures['path']} in {timing.duration_s:.2f} s, "
        f"{len(motion.stops)} stops on the way"
    )
    worst = f"{figures['worst_error_m']:.1e} m and {figures['worst_error_rad']:.1e} rad"
    lines = [
        ("exact to", f"{worst} at {len(found.q)} points"),
        ("off the lines by", f"{figures['line_error_m'] * 1e3:.2g} mm and {figures['line_error_deg']:.2g} deg at most"),
        ("largest joint step", f"{figures['largest_step_deg']:.2f} deg between points"),
        ("joint speed", f"{100 * figures['peak_speed_ratio']:.0f} % of the limit at most"),
        ("joint acceleration", f"{100 * figures['peak_acceleration_ratio']:.0f} % of the limit at most"),
        ("clearance", "no shapes to try" if clear is None else f"{clear * 1e3:.0f} mm at least"),
        ("first posture", " ".join(f"{value:.2f}" for value in figures["first_deg"])),
    ]
    for label, text in lines:
        click.echo(f"  {label:<19} {text}")
    for note in motion.notes:
        click.echo(f"  note: {note}")
    if out is not None:
        click.echo(f"written: {out}")
