"""The report of an arm's task: answer first, then the solvers, the arm at its work, the joints over time, how it was "
"made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.waypoints import WaypointSet
from fieldworthy.trials.arm.plan_figures import PlanFigures
from fieldworthy.trials.arm.report_answer import answer, key_figures, named_arm
from fieldworthy.trials.arm.report_charts import (
    css_of,
    feed_figure,
    joint_figures,
    joint_legend,
    legend,
    posture_figures,
)
from fieldworthy.trials.arm.report_picture import close_up, picture
from fieldworthy.trials.arm.report_solvers import comparison_section, course_section, waypoint_section
from fieldworthy.trials.arm.report_view import SIDES
from fieldworthy.trials.arm.run import ArmResult
from fieldworthy.trials.arm.sentences import listed
from fieldworthy.trials.report import page
from fieldworthy.trials.report.about import about
from fieldworthy.trials.report.text import esc, in_words

LIMITS = (
    "The arm is a chain of rigid links and exact joints: no elasticity, backlash, gravity sag, calibration error or "
    "controller lag. "
    "A solver's error of nanometres is the error of the mathematics, not of a robot.",
    "Speed and acceleration limits are each joint's own and hold at once for every posture and load. Torque, and "
    "accelerations that "
    "depend on it, are not modelled; where a maker gives no acceleration limit, the catalogue says what it assumes.",
    "The planned path keeps limits of speed and acceleration, not of jerk.",
    "Clearance is between capsules around the links, and between these and the obstacles of the task. Cables, hoses, "
    "grippers and the "
    "workpiece are there only where the task names them as shapes.",
    "Links that touch by construction are not tried against each other.",
    "The time a solver takes a frame is that of this machine on this day, a median.",
    "A real controller blends corners and interpolates in its own way: duration and path differ from it.",
)


def write_report(path: Path, result: ArmResult, facts: dict[str, Any], task_text: str) -> Path:
    """Write the page of a run; `facts` is its run.json, `task_text` its task.toml."""
    return page.write_page(path, arm_page(result, facts, task_text))


def arm_page(result: ArmResult, facts: dict[str, Any], task_text: str) -> str:
    """The whole page."""
    scene, task = result.scene, result.scene.task
    lead = f"{named_arm(result)}, {scene.arm.dof} joints{_tool(result)}; {_motion(result)}"
    body = [page.header(f"Fieldworthy arm task · {task.name}", task.title or task.name, lead)]
    if result.stopped_by:
        finished = f"{len(result.measured)} of {len(result.asked)} solvers had finished"
        body.append(page.banner(f"Stopped by {esc(result.stopped_by)}: {finished}; the others are not in this report."))
    body += [answer(result), page.tiles(key_figures(result)), about(task.description)]
    if isinstance(scene.motion, WaypointSet):
        if result.measured:
            body.append(comparison_section(result.measured, isinstance(result.plan, PlanFigures)))
        body += _picture_section(result)
        if isinstance(result.plan, PlanFigures):
            body.append(_plan_section(result, result.plan))
        if result.measured:
            body.append(course_section(result.measured, task.play.hold))
            planned_t_s = result.plan.waypoint_t_s if isinstance(result.plan, PlanFigures) else None
            body.append(waypoint_section(scene.motion, result.measured, planned_t_s))
        if not isinstance(result.plan, PlanFigures) and result.measured:
            body.append(_played_section(result))
    elif result.measured:
        body += [*_picture_section(result), _played_section(result)]
    body += _made_section(facts, task_text)
    return page.document(f"{task.title or task.name}: Fieldworthy report", [*body, page.footer(facts)])


def _tool(result: ArmResult) -> str:
    far = float(np.linalg.norm(np.array(result.scene.arm.tool)[:3, 3]))
    return f" with a tool whose tip is {1e3 * far:.3g} mm from the flange" if far > 1e-6 else ", no tool"


def _motion(result: ArmResult) -> str:
    motion = result.scene.motion
    if not isinstance(motion, WaypointSet):
        return f"{len(motion)} samples of joint positions"
    feeds = _feeds(result)
    low, high = 1e3 * min(feeds), 1e3 * max(feeds)
    return (
        f"{motion.given.sum()} waypoints at {low:.3g} mm/s"
        if low == high
        else f"{motion.given.sum()} waypoints at {low:.3g} to {high:.3g} mm/s"
    )


def _feeds(result: ArmResult) -> list[float]:
    """Feeds that are asked for on lines [m/s], each once; none where joint positions are played."""
    motion = result.scene.motion
    if not isinstance(motion, WaypointSet):
        return []
    speeds = motion.speed_m_s[1:] if len(motion) > 1 else motion.speed_m_s
    asked = np.where(np.isfinite(speeds), speeds, result.scene.task.motion.feed_m_s)
    return sorted({round(float(speed), 6) for speed in asked})


def _picture_section(result: ArmResult) -> list[str]:
    """The arm at its work, and the tool's paths from three sides."""
    scene, plan = result.scene, result.plan
    is_set = isinstance(scene.motion, WaypointSet)
    waypoints: Array = (
        scene.motion.base_from_tool[:, :3, 3] if isinstance(scene.motion, WaypointSet) else np.zeros((0, 3))
    )
    if isinstance(plan, PlanFigures):
        q, t_s, tool, what = plan.q, plan.t_s, plan.tool[:, :3, 3], "along the planned path"
    elif result.measured:
        played = result.measured[0].played
        span = slice(played.began, played.ended + 1)
        q, t_s, tool = played.q[span], played.t_s[span] - played.t_s[played.began], played.reached[span, :3, 3]
        what = f"as {played.solver} played it" if is_set else "as played"
    else:
        return []
    ways = " and waypoints (circles)" if len(waypoints) else ""
    caption = (
        f"The arm {what}: shapes that count for collisions (grey), axes of its joints (dark line), later postures "
        "(pale lines), the "
        f"tool's path (blue){ways}. Axes x, y, z of the base are 0.32\u202fm long; a grid is a plane, every 0.2\u202fm."
    )
    drawn = picture(scene.arm, q, t_s, tool, waypoints, scene.obstacles, scene.start)
    parts = ["<h2>The arm at its work</h2>", page.figure(drawn, caption)]
    if len(waypoints) > 1:
        paths = []
        if isinstance(plan, PlanFigures):
            paths.append(("planned", "other", tool))
        for figures in reversed(result.measured):  # the first asked for lies on top
            span = slice(figures.played.began, figures.played.ended + 1)
            paths.append((figures.played.solver, css_of(figures.played.solver), figures.played.reached[span, :3, 3]))
        names = [(css, name) for name, css, _ in paths]
        figures_html = "".join(
            page.figure(close_up(view, paths, waypoints, k), heading=f"{view.name.capitalize()}")
            for k, view in enumerate(SIDES)
        )
        note = "Paths of the tool around the waypoints; what leaves the frame is cut off."
        parts += [f'<p class="note" style="margin-top:14px">{note}</p>', legend(names[:1] + names[:0:-1]),
                  f'<div class="three">{figures_html}</div>']  # fmt: skip
    return parts


def _plan_section(result: ArmResult, plan: PlanFigures) -> str:
    arm = plan.motion.arm
    figures = joint_figures(arm, plan.t_s, plan.q, plan.speed_ratio, plan.acceleration_ratio)
    figures += posture_figures(plan.t_s, plan.singular, plan.manipulability, plan.clearance_m, plan.nearest)
    figures.append(feed_figure(plan.t_s, plan.tool[:, :3, 3], _feeds(result)))
    count = len(plan.motion.stops)
    times = "once" if count == 1 else f"{in_words(count)} times"
    stops = f"; the arm stands {times} on the way" if count else ""
    note = (
        "All branches of the arm's postures at all waypoints were weighed together, the way of least joint travel was "
        "taken, and "
        f"times were put to it so that every joint keeps its limits of speed and acceleration{stops}."
    )
    return (
        f'<h2>The planned path over time</h2><p class="note">{note}</p>{joint_legend(arm)}'
        f'<div class="pair">{"".join(figures)}</div>'
    )


def _played_section(result: ArmResult) -> str:
    """Joints over time of what was played, where there is no plan."""
    figures, arm = result.measured[0], result.scene.arm
    played = figures.played
    span = slice(played.began, played.ended + 1)
    t_s = played.t_s[span] - played.t_s[played.began]
    shown = joint_figures(arm, t_s, played.q[span], figures.speed_ratio[span], figures.acceleration_ratio[span])
    near = figures.nearest[span] if figures.clearance_m is not None else ()
    singular = type(figures.singular)(
        *(getattr(figures.singular, name)[span] for name in ("wrist", "elbow", "shoulder_m", "least_gain"))
    )
    clear = None if figures.clearance_m is None else figures.clearance_m[span]
    shown += posture_figures(t_s, singular, figures.manipulability[span], clear, near)
    shown.append(feed_figure(t_s, played.reached[span, :3, 3], _feeds(result)))
    what = "as played" if played.solver == "joints" else f"as {esc(played.solver)} played them"
    return f'<h2>The joints over time, {what}</h2>{joint_legend(arm)}<div class="pair">{"".join(shown)}</div>'


def _made_section(facts: dict[str, Any], task_text: str) -> list[str]:
    """Provenance, the task, limits of the models."""
    known = {
        key: value
        for key, value in facts.items()
        if key not in ("kind", "asked", "solvers", "task_sha256", "task_folder")
    }
    more = [
        ("Solvers", esc(listed([name for name in facts["solvers"] if name != "joints"]))),
        ("Computing", f"{facts['wall_s']:.1f}\u202fs in all"),
        ("Task SHA-256", f"<code>{esc(facts['task_sha256'])}</code>"),
    ]
    return [
        "<h2>How this was made</h2>",
        page.figure(page.provenance(known, more)),
        f"<details><summary>The task as it was run (task.toml)</summary><pre>{esc(task_text)}</pre></details>",
        "<h2>Limits</h2>",
        f'<ul class="limits">{"".join(f"<li>{esc(limit)}</li>" for limit in LIMITS)}</ul>',
    ]
