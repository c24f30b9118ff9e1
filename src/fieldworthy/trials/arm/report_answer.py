"""The top of an arm's report: can the arm do it, how long does it take, what was given up; and the key figures."""

from __future__ import annotations

from typing import Any

from fieldworthy.trials.arm.plan_figures import Impossible, PlanFigures
from fieldworthy.trials.arm.run import ArmResult
from fieldworthy.trials.arm.sentences import listed, sentence
from fieldworthy.trials.arm.words import DASH, angle, length, over, pair, ratio
from fieldworthy.trials.report import page
from fieldworthy.trials.report.text import esc, in_words, percent, with_unit


def answer(result: ArmResult) -> str:
    """The answer in a sentence, and what belongs to it in a second one."""
    said, then = _joints(result) if result.plan is None else _waypoints(result)
    return f'<p class="answer">{esc(said)}</p><p class="then">{esc(" ".join(then))}</p>'


def _waypoints(result: ArmResult) -> tuple[str, list[str]]:
    arm, plan, n = named_arm(result), result.plan, len(result.scene.motion)
    if isinstance(plan, Impossible):
        return f"No: the {arm} has no continuous path through the {n} waypoints.", [
            sentence(plan.why),
            *_played(result),
        ]
    assert isinstance(plan, PlanFigures)
    figures = plan.summary
    touching = figures.get("least_clearance_m", 1.0) < 0.0
    seconds = f"{figures['duration_s']:.1f}\u202fs"
    told = "passes the only waypoint" if n == 1 else f"passes all {n} waypoints on one continuous path in {seconds}"
    said = f"Yes: the {arm} {told}, within its limits of speed and acceleration."
    if touching:
        said = f"Only with contact: the {arm} {told}, but its shapes touch on the way."
    given_up = [sentence(note) for note in plan.notes] or ["Nothing had to be given up."]
    return said, [*given_up, *_played(result)]


def _joints(result: ArmResult) -> tuple[str, list[str]]:
    arm = named_arm(result)
    if not result.measured:
        return f"The {arm} has not been played.", []
    row = result.measured[0].summary
    faults = [f"{name} leaves its limits" for name in row["outside_limits"]]
    for key, what in (("peak_speed_ratio", "speed"), ("peak_acceleration_ratio", "acceleration")):
        if over(row[key]):
            faults.append(f"the {what} asked for is {ratio(row[key])} times what a joint can do")
    if row.get("least_clearance_m", 1.0) <= 0.0:
        faults.append(f"{pair(row['nearest'])} touch")
    seconds = f"{row['time_s']:.1f}\u202fs"
    if faults:
        return f"No: the {arm} cannot play these joint positions in {seconds}.", [sentence(fault) for fault in faults]
    said = f"Yes: the {arm} can play these joint positions in {seconds}."
    least = f" The least clearance is {length(row['least_clearance_m'])}." if "least_clearance_m" in row else ""
    return said, [f"Every joint stays within its limits of position, speed and acceleration.{least}"]


def _played(result: ArmResult) -> list[str]:
    """Which solvers reach everything while playing, and which do not."""
    rows = [figures.summary for figures in result.measured]
    whole = [row["solver"] for row in rows if row["reached"] == row["waypoints"]]
    none = [row["solver"] for row in rows if not row["reached"]]
    some = [
        f"{row['solver']} reaches {row['reached']} of {row['waypoints']}"
        for row in rows if 0 < row["reached"] < row["waypoints"]
    ]  # fmt: skip
    parts = []
    for names, what in ((whole, "every waypoint"), (none, "none")):
        if names:
            parts.append(f"{listed(names)} reach{'es' * (len(names) == 1)} {what}")
    if some:
        parts.insert(1 if whole else 0, f"{listed(some)}")
    return [f"Played frame by frame, {'; '.join(parts)}."] if parts else []


def named_arm(result: ArmResult) -> str:
    """The arm as its maker calls it."""
    arm = result.scene.arm
    return arm.title or arm.name


def key_figures(result: ArmResult) -> list[tuple[str, str]]:
    """Tiles of the plan; of what was played where joints are, or where there is no plan."""
    plan = result.plan
    if isinstance(plan, PlanFigures):
        figures = plan.summary
        items = [
            (with_unit(figures["duration_s"], "s"), page.tile_text("whole path", _stops(figures["stops"]))),
            (
                length(plan.summary["largest_line_error_m"]),
                page.tile_text("off the straight lines, at most", _exactness(figures["worst_position_error_m"])),
            ),
            (
                angle(figures["largest_step_deg"]),
                page.tile_text("largest joint step between points", _joint(figures["largest_step_joint"])),
            ),
        ]  # fmt: skip
    elif result.measured:
        figures = result.measured[0].summary
        items = [(with_unit(figures["time_s"], "s"), page.tile_text("time of the motion"))]
        if figures["waypoints"]:
            share = f"{figures['reached']} of {figures['waypoints']}"
            items.append((share, page.tile_text("waypoints reached", f"by {figures['solver']}")))
    else:
        return []
    return items + _shared_tiles(figures)


def _joint(name: str | None) -> str:
    if name is None:
        return ""
    return esc(name if name.lower().startswith("joint") else f"joint {name}")


def _exactness(error_m: float) -> str:
    return "exact at waypoints" if error_m < 1e-10 else f"{length(error_m)} at waypoints"


def _stops(count: int) -> str:
    return f"with {in_words(count)} stop{'s' * (count != 1)}"


def _shared_tiles(figures: dict[str, Any]) -> list[tuple[str, str]]:
    speed, acceleration = figures["peak_speed_ratio"], figures["peak_acceleration_ratio"]
    told = DASH if acceleration is None else percent(acceleration, 0)
    items = [
        (
            DASH if speed is None else percent(speed, 0),
            page.tile_text("of a joint's speed limit, at most", f"acceleration: {told}"),
        )
    ]
    if "least_clearance_m" in figures:
        items.append(
            (length(figures["least_clearance_m"]), page.tile_text("least clearance", esc(pair(figures["nearest"]))))
        )
    if figures["least_wrist_sine"] is not None:
        from math import asin, degrees

        sine = figures["least_wrist_sine"]
        items.append(
            (angle(degrees(asin(min(sine, 1.0)))), page.tile_text("from the wrist singularity", f"sine {ratio(sine)}"))
        )
    return items
