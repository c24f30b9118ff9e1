"""`fieldworthy check` of an arm's task: what it names is there, waypoints are in reach, a whole path exists."""

from __future__ import annotations

from typing import Any

import click


def checked_task(name: str, settings: tuple[str, ...], as_json: bool) -> dict[str, Any]:
    """Check one task and say so, unless the answer will be JSON."""
    from fieldworthy.cli.show import stderr
    from fieldworthy.core.errors import FieldworthyError

    answer: dict[str, Any] = {
        "scenario": name,
        "sound": False,
        "errors": [],
        "checked": [],
        "notes": [],
        "warnings": [],
    }
    try:
        with stderr().status(f"{name}: planning the whole path …"):
            _check(name, settings, answer)
    except FieldworthyError as error:
        answer["errors"] += str(error).splitlines()
    answer["sound"] = not answer["errors"]
    if as_json:
        return answer
    for line in answer["errors"]:
        click.echo(f"error: {line}", err=True)
    if answer["sound"]:
        click.echo(f"{name}: sound")
    for line in answer["checked"]:
        click.echo(f"  {line}")
    for kind in ("warning", "note"):
        for line in answer[f"{kind}s"]:
            click.echo(f"  {kind}: {line}")
    return answer


def _check(name: str, settings: tuple[str, ...], answer: dict[str, Any]) -> None:
    from fieldworthy.arms.solver import make_solver
    from fieldworthy.arms.waypoints import WaypointSet
    from fieldworthy.scenario.arm_task import arm_scene, load_arm_task
    from fieldworthy.trials.report.text import plural

    task = load_arm_task(name, settings)
    scene = arm_scene(task)
    arm, motion = scene.arm, scene.motion
    shapes = f"{len(arm.capsules)} shapes" if arm.capsules else "no shapes, so clearance is not known"
    answer["checked"].append(
        f"arm {arm.title or arm.name}: {arm.dof} joints, {shapes}; {plural(len(scene.obstacles), 'obstacle')}"
    )
    answer["notes"] += motion.notes
    if isinstance(motion, WaypointSet):
        solver = make_solver(task.solver.name, **task.solver.options)
        answer["checked"].append(f"{motion.given.sum()} waypoints of {motion.name}, solver {solver.name}")
        _check_waypoints(scene, answer)
    else:
        _check_joints(scene, answer)


def _check_waypoints(scene: Any, answer: dict[str, Any]) -> None:
    """Each waypoint by itself, then all in one path."""
    from fieldworthy.arms.exact import solve
    from fieldworthy.arms.path import NoPath
    from fieldworthy.trials.arm.plan_figures import impossible, plan_figures
    from fieldworthy.trials.arm.play import planned
    from fieldworthy.trials.arm.sentences import plan_lines, sentence

    motion, goals = scene.motion, scene.motion.base_from_tool
    missed = 0
    for index in range(len(motion)):
        attempt = solve(scene.arm, goals[index], scene.start)
        if not attempt.reached:
            missed += 1
            if missed <= 10:
                answer["errors"].append(
                    f"waypoint {index}{_named(motion.names[index])}: cannot be reached: {attempt.why}"
                )
    if missed:
        if missed > 10:
            answer["errors"].append(f"{missed - 10} more waypoints cannot be reached")
        return
    answer["checked"].append("every waypoint can be reached by itself")
    found = planned(scene)
    if isinstance(found, NoPath):
        answer["errors"].append(f"no continuous path: {sentence(impossible(found).why)}")
    elif found is not None:
        figures = plan_figures(scene, found).summary
        answer["checked"] += [line.strip() for line in plan_lines({"no_path": None, "plan": figures})]
        answer["plan"] = figures
        if figures.get("least_clearance_m", 1.0) <= 0.0:
            answer["warnings"].append("the planned path touches something: path.avoid = true goes around where it can")


def _check_joints(scene: Any, answer: dict[str, Any]) -> None:
    """Limits of position and speed of joints that are given over time."""
    import math

    from fieldworthy.trials.arm.measure import outside_limits, peak, sample_rates

    motion = scene.motion.for_arm(scene.arm)
    answer["checked"].append(
        f"{len(motion)} samples of {motion.dof} joints over {motion.t_s[-1] - motion.t_s[0]:.2f} s"
    )
    for joint, far in outside_limits(scene.arm, motion.q).items():
        kind = next(one.kind for one in scene.arm.joints if one.name == joint)
        told = f"{math.degrees(far):.3g} deg" if kind == "revolute" else f"{far:.3g} m"
        answer["errors"].append(f"joint {joint} leaves its limits by {told}")
    speed, acceleration = sample_rates(motion)
    for values, limit, what in (
        (speed, scene.arm.speed, "speed"), (acceleration, scene.arm.acceleration, "acceleration")
    ):  # fmt: skip
        share = peak(values / limit, limit)
        if share is not None:
            kind = "errors" if share > 1.0 + 1e-6 else "checked"
            answer[kind].append(f"peak {what} {share:.2f} of the limit")


def _named(name: str) -> str:
    return f" ({name})" if name else ""
