"""Charts over time of an arm's motion: the joints against their limits, singularities, clearance, and errors of "
"solvers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.singularity import Singularities
from fieldworthy.trials.arm.measure import REACHED_M, REACHED_RAD, Measured
from fieldworthy.trials.arm.words import pair
from fieldworthy.trials.report import page
from fieldworthy.trials.report.text import esc, short
from fieldworthy.trials.report.time_chart import Line, time_chart

SOLVER_CSS = {name: f"part-{k}" for k, name in enumerate(
    ("exact", "dls", "pinv", "ccd", "fabrik", "dls-seed", "ccd-seed", "fabrik-seed", "pinv-seed"))}  # fmt: skip
_ZERO = ((0.0, ""),)
"""A level at 0, so that the axis begins there."""
_PAIRS = 5
"""Nearest pairs that get a colour; the rest share one."""


_Chart: TypeAlias = tuple[
    str, str, Callable[[Measured], Array], float, float, tuple[float, str], dict[float, str], str
]  # fmt: skip
"""Axis label, heading, values of a play, least and most that is drawn, a level, marks of the axis, caption."""


def css_of(solver: str) -> str:
    """Colour and dashes of a solver, the same in every chart."""
    return SOLVER_CSS.get(solver, "part-4")


def legend(items: Sequence[tuple[str, str]]) -> str:
    """Names with their lines: (class, name)."""
    keys = "".join(
        f'<span class="nb arm-key"><svg class="arm-swatch" viewBox="0 0 24 8" width="24" height="8" aria-hidden="true">'
        f'<path class="line key-line {css}" d="M1 4h22"/></svg>{esc(name)}</span> '
        for css, name in items
    )
    return f'<p class="arm-legend">{keys}</p>'


def joint_legend(arm: Arm) -> str:
    """The joints with their lines."""
    return legend([(f"part-{k % 8}", joint.name) for k, joint in enumerate(arm.joints)])


def joint_figures(arm: Arm, t_s: Array, q: Array, speed: Array, acceleration: Array) -> list[str]:
    """Positions, positions between limits, speeds and accelerations as shares of limits; (n,) and (n, dof)."""
    turning = np.array([joint.kind == "revolute" for joint in arm.joints])
    names = [f"part-{k % 8}" for k in range(arm.dof)]

    def lines(values: Array) -> list[Line]:
        return [Line(t_s, values[:, k], names[k]) for k in range(arm.dof)]

    middle, half = 0.5 * (arm.lower + arm.upper), np.maximum(0.5 * (arm.upper - arm.lower), 1e-9)
    shown = np.where(turning, np.degrees(q), 1e3 * q)
    unit = "[deg]" if turning.all() else "[mm]" if not turning.any() else "[deg or mm]"
    ends = [(100.0, "upper limit"), (-100.0, "lower limit")]
    figures = [
        page.figure(time_chart(f"position {unit}", lines(shown)), heading="Joint positions"),
        page.figure(
            time_chart("share of range [%]", lines(100.0 * (q - middle) / half), ends),
            "0 is the middle of a joint's range, ±100\u202f% its limits.",
            "Joint positions between their limits",
        ),
    ]  # fmt: skip
    for values, limit, what in ((speed, arm.speed, "speed"), (acceleration, arm.acceleration, "acceleration")):
        if not np.isfinite(limit).any():
            continue
        unknown = [joint.name for joint, top in zip(arm.joints, limit, strict=True) if not math.isfinite(top)]
        caption = f"No limit is known for {esc(', '.join(unknown))}." if unknown else ""
        peak = float(values.max())
        # A limit far above all that happens would press the lines flat.
        levels = [(100.0, "limit")] if peak > 0.3 else []
        caption += (
            ""
            if levels
            else f"The limit, 100\u202f%, lies far above: at most {short(round(100 * peak, 1))}\u202f% is used."
        )
        chart = time_chart("share of limit [%]", lines(100.0 * values), levels, floor=0.0)
        figures.append(page.figure(chart, caption, f"Joint {what}s against their limits"))
    return figures


def posture_figures(
    t_s: Array, singular: Singularities, manipulability: Array, clearance_m: Array | None,
    nearest: Sequence[tuple[str, str]],
) -> list[str]:  # fmt: skip
    """Distance to singularities, manipulability, clearance with the nearest pair."""
    kinds = {"wrist (sine)": singular.wrist, "elbow (sine)": singular.elbow, "shoulder (m)": singular.shoulder_m}
    known = [(name, values) for name, values in kinds.items() if not np.isnan(values).all()]
    figures = []
    if known:
        lines = [Line(t_s, values, f"part-{k}", name) for k, (name, values) in enumerate(known)]
        chart = time_chart("0 is singular", lines, _ZERO, floor=0.0)
        caption = (
            "Sine of the middle wrist angle, sine of the bend of the elbow, and distance of the wrist from the first "
            "axis: "
            "at 0 the arm loses a direction, and joints must turn fast for a slow tool."
        )
        figures.append(page.figure(chart, caption, "Distance to singularities"))
    else:
        chart = time_chart("smallest gain", [Line(t_s, singular.least_gain, "part-0")], _ZERO, floor=0.0)
        caption = "Smallest singular value of the Jacobian, lengths in units of the reach: 0 is singular."
        figures.append(page.figure(chart, caption, "Distance to singularities"))
    chart = time_chart("manipulability", [Line(t_s, manipulability, "part-0")], _ZERO, floor=0.0)
    told = (
        "Yoshikawa's measure: the volume of tool motions that joint rates of length one make; small near singularities."
    )
    figures.append(page.figure(chart, told, "Manipulability"))
    if clearance_m is not None:
        figures.append(_clearance(t_s, clearance_m, nearest))
    return figures


def feed_figure(t_s: Array, place: Array, asked_m_s: Sequence[float]) -> str:
    """Speed of the tool's point, (n, 3) at times (n,), with the feeds that were asked for."""
    steps = np.linalg.norm(np.diff(place, axis=0), axis=1) / np.maximum(np.diff(t_s), 1e-9)
    feeds = sorted(set(asked_m_s))
    levels = [(1e3 * feed, "asked" if len(feeds) == 1 else "") for feed in feeds[:4]]
    chart = time_chart("tool speed [mm/s]", [Line(t_s[1:], 1e3 * steps, "part-0")], levels or _ZERO, floor=0.0)
    return page.figure(chart, "How fast the tool's point goes.", "Tool speed")


def _clearance(t_s: Array, clearance_m: Array, nearest: Sequence[tuple[str, str]]) -> str:
    names = np.array([pair(f"{a} and {b}") for a, b in nearest])
    kinds, counts = np.unique(names, return_counts=True)
    first = [str(name) for name in kinds[np.argsort(-counts)][:_PAIRS]]
    lines = []
    for k, name in enumerate([*first, *(["other pairs"] if len(kinds) > _PAIRS else [])]):
        own = names == name if name in first else ~np.isin(names, first)
        own = own | np.append(False, own[:-1])  # up to the next pair's first sample, so that the line has no gaps
        lines.append(Line(t_s, np.where(own, 1e3 * clearance_m, np.nan), f"part-{k}", ""))
    keys = legend(
        [(f"part-{k}", name) for k, name in enumerate([*first, *(["other pairs"] if len(kinds) > _PAIRS else [])])]
    )
    touching = clearance_m.min() < 0.02
    levels = [(0.0, "contact")] if touching else _ZERO
    chart = time_chart("clearance [mm]", lines, levels, floor=None if touching else 0.0)
    told = "Least distance between two links, or a link and an obstacle; the colour is the pair."
    return page.figure(keys + chart, told, "Clearance with its nearest pair")


def solver_figures(measured: Sequence[Measured]) -> list[str]:
    """Errors, speeds and accelerations of each play over the time of the motion, logarithmic."""
    deg = math.degrees(REACHED_RAD)
    wanted: list[_Chart] = [
        ("position error", "Position error", lambda f: f.played.position_error_m, 1e-9, 1e2,
         (REACHED_M, "1 mm: reached"), {1e-9: "1 nm", 1e-6: "1 µm", 1e-3: "1 mm", 1.0: "1 m"},
         "Distance of the tool from its target."),
        ("orientation error", "Orientation error", lambda f: np.degrees(f.played.orientation_error_rad), 1e-7, 1e3,
         (deg, "0.1°: reached"), {1e-7: "10⁻⁷°", 1e-5: "10⁻⁵°", 1e-3: "10⁻³°", 0.1: "0.1°", 10.0: "10°"},
         "Angle between the tool and its target."),
        ("share of limit", "Fastest joint", lambda f: f.speed_ratio.max(axis=1), 1e-4, 1e2, (1.0, "limit"),
         {1e-4: "10⁻⁴", 1e-3: "0.001", 1e-2: "0.01", 1e-1: "0.1", 1.0: "1", 10.0: "10"},
         "Largest joint speed as a share of its limit."),
        ("share of limit", "Largest acceleration", lambda f: f.acceleration_ratio.max(axis=1), 1e-3, 1e4,
         (1.0, "limit"), {1e-3: "0.001", 1e-2: "0.01", 1e-1: "0.1", 1.0: "1", 1e1: "10", 1e2: "100", 1e3: "1000"},
         "The target has no ramps, so corners and stops are jolts here; a planned path does without them."),
    ]  # fmt: skip
    figures = []
    for label, heading, values_of, low, high, level, marks, caption in wanted:
        lines = []
        for figure in reversed(measured):  # the first one lies on top
            span = slice(figure.played.began, figure.played.ended + 1)
            t_s = figure.played.t_s[span] - figure.played.t_s[figure.played.began]
            lines.append((t_s, values_of(figure)[span], css_of(figure.played.solver)))
        if max(float(values.max()) for _, values, _ in lines) <= low:
            caption += f" All stay below {marks[low].strip()}."
        figures.append(page.figure(log_chart(label, lines, low, high, marks, [level]), caption, heading))
    return figures


def after_figure(measured: Sequence[Measured]) -> str:
    """How far the joints still go from frame to frame after the motion has ended."""
    lines: list[tuple[Array, Array, str]] = []
    for figure in reversed(measured):
        played = figure.played
        q = played.q[played.ended :]
        if len(q) < 3:
            continue
        step = np.degrees(np.abs(np.diff(q, axis=0)).max(axis=1))
        lines.append((np.arange(1.0, len(q)) * played.dt_s, step, css_of(played.solver)))
    if not lines:
        return ""
    marks = {1e-8: "10⁻⁸°", 1e-6: "10⁻⁶°", 1e-4: "10⁻⁴°", 1e-2: "0.01°", 1.0: "1°"}
    chart = log_chart("step of a joint", lines, 1e-8, 1e2, marks, [])
    caption = (
        "Largest step of any joint from frame to frame, from the arrival of the target on; the lowest line is at rest."
    )
    return page.figure(chart, caption, "After arrival")


def log_chart(
    label: str, lines: Sequence[tuple[Array, Array, str]], low: float, high: float, marks: dict[float, str],
    levels: Sequence[tuple[float, str]],
) -> str:  # fmt: skip
    """Lines (times, values, class) on a logarithmic axis; what is below `low` lies at it."""
    drawn = [Line(t, np.log10(np.clip(values, low, high)), css) for t, values, css in lines]
    top = max([float(line.values.max()) for line in drawn] + [math.log10(value) for value, _ in levels])
    least = min(float(line.values.min()) for line in drawn)
    below = [value for value in marks if math.log10(value) <= least + 1e-9]
    first = max(below) if below else low
    names = {math.log10(v): name for v, name in marks.items() if v >= first and math.log10(v) <= top + 0.5}
    return time_chart(label, drawn, [(math.log10(v), name) for v, name in levels], names=names)


def swatch(css: str) -> str:
    """A short line in a table's cell."""
    return (
        f'<svg class="arm-swatch" viewBox="0 0 24 8" width="24" height="8" aria-hidden="true">'
        f'<path class="line key-line {css}" d="M1 4h22"/></svg>'
    )
