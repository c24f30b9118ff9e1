"""What the figures of an arm's task mean, in sentences: for the command line and the report alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fieldworthy.trials.arm.words import angle, length, over, pair, ratio
from fieldworthy.trials.report.text import plural


def plan_lines(summary: dict[str, Any]) -> list[str]:
    """The planned whole path, a line a thing; empty where joint positions are played."""
    if summary["no_path"] is not None:
        return [f"whole path: none. {sentence(summary['no_path']['why'])}"]
    plan = summary["plan"]
    if plan is None:
        return []
    joint = f" ({plan['largest_step_joint']})" if plan["largest_step_joint"] else ""
    rates = f"{ratio(plan['peak_speed_ratio'])} and acceleration {ratio(plan['peak_acceleration_ratio'])}"
    parts = [
        f"{plan['waypoints']} of {plan['waypoints']} waypoints in {plan['duration_s']:.1f} s",
        f"largest joint step {angle(plan['largest_step_deg'])}{joint}",
        plural(plan["stops"], "stop"),
        f"peak speed {rates} of the limits",
    ]  # fmt: skip
    if "least_clearance_m" in plan:
        parts.append(f"clearance {length(plan['least_clearance_m'])} ({pair(plan['nearest'])})")
    return [f"whole path: {', '.join(parts)}", *(f"  given up: {note}" for note in plan["compromises"])]


def sentence(text: str) -> str:
    """With a capital at the start and a full stop."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""


def reading_of_ratios(summary: dict[str, Any]) -> list[str]:
    """What peaks above 1 mean, where there are any."""
    rows = summary["solvers"]
    if not any(over(row["peak_speed_ratio"]) or over(row["peak_acceleration_ratio"]) for row in rows):
        return []
    if summary["motion"] == "joints":
        return ["peaks above 1: the arm cannot follow these joint positions in these times"]
    return [
        "peaks are shares of the arm's limits; above 1 the arm could not follow: the target has no ramps at starts, "
        "corners and "
        "stops" + (", while the whole path below keeps all limits" if summary["plan"] else "")
    ]


def listed(names: Sequence[str]) -> str:
    """A, B and C."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
