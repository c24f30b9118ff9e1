"""Checks of how much there is to compute: what takes hours, or is not the same alone and in a batch, is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.timing import ticks_from_rate, ticks_from_seconds
from fieldworthy.core.toml_lines import Path
from fieldworthy.scenario.check import Report
from fieldworthy.scenario.motion_limits import number
from fieldworthy.scenario.resolve import table
from fieldworthy.scenario.schema import Control
from fieldworthy.sensors.scan_pattern import MOST_CHANNELS, MOST_COLUMNS

MOST_TICKS = 2**31 - 1
"""Time is counted in whole steps of 32 bits."""

MOST_WAVES = 64
"""The kernels sum all waves at every step, and compile every one of them."""

MOST_SCATTERED = 2000
"""Every shape of a random field is tried against all that lie already, for every trial."""


def check_sizes(data: dict[str, Any], report: Report) -> None:
    """Report scanners, seas and random fields that are too large."""
    lidar = table(data, "sensors", "lidar")
    _check_channels(lidar, report)
    _check_columns(lidar, report)
    waves = table(data, "sea", "waves").get("components")
    if type(waves) is int and waves > MOST_WAVES:
        what = f"components = {waves}: every wave is summed at every step and compiled into the kernels"
        report.add(("sea", "waves", "components"), what, f"1 to {MOST_WAVES}")
    fields = data.get("scatter")
    for index, item in enumerate(fields if isinstance(fields, list) else ()):
        count = item.get("count") if isinstance(item, dict) else None
        if isinstance(count, list) and len(count) == 2 and type(count[1]) is int and count[1] > MOST_SCATTERED:
            what = f"count = {count[1]}: every shape is tried against all others, in every trial"
            report.add(("scatter", index, "count"), what, f"at most {MOST_SCATTERED}")
        elif isinstance(item, dict) and isinstance(count, list):
            _check_room(item, count, ("scatter", index, "count"), report)


def _check_room(field: dict[str, Any], count: list[Any], path: Path, report: Report) -> None:
    """Circles of half the gap around every shape may not overlap, so that the rectangle and its rim must hold them."""
    spans = [field.get("north_m"), field.get("east_m"), field.get("radius_m", [0.5, 1.5]), count]
    ends = [number(end) for span in spans if isinstance(span, list | tuple) and len(span) == 2 for end in span]
    found = [end for end in (*ends, number(field.get("gap_m", 8.0))) if end is not None]
    if len(found) != 2 * len(spans) + 1:
        return  # reported by the type check
    south, north, west, east, radius, _, _, most, gap = found
    around = max(radius, 0.0) + max(gap, 0.0) / 2
    need, room = most * math.pi * around * around, (north - south + 2 * around) * (east - west + 2 * around)
    if most > 1 and need > room:
        what = f"no room for all shapes: {most:g} with gap_m = {gap:g} need {need:.0f} m2, and there are {room:.0f}"
        report.add(path, what, "fewer shapes, a smaller gap_m, or a larger rectangle")


def _check_channels(lidar: dict[str, Any], report: Report) -> None:
    key, channels = "laser_elevation_deg", float(len(lidar.get("laser_elevation_deg") or ()))
    if lidar.get("pattern") == "uniform":
        key = "elevation_step_deg"
        low, high, step = (number(lidar.get(f"elevation_{name}_deg")) for name in ("min", "max", "step"))
        channels = 1.0 + (high - low) / step if step and step > 0 and low is not None and high is not None else 1.0
    if channels > MOST_CHANNELS + 0.5:
        what = f"{key} makes {channels:.6g} channels: the kernels are compiled with every one of them"
        report.add(("sensors", "lidar", key), what, f"at most {MOST_CHANNELS} channels")


def _check_columns(lidar: dict[str, Any], report: Report) -> None:
    key, turn = "azimuth_step_deg", 360.0
    if lidar.get("pattern") == "firing":
        rate = number(lidar.get("rate_hz"))
        key, turn = "firing_period_s", 1.0 / rate if rate and rate > 1e-300 else math.nan
    step = number(lidar.get(key))
    if step and step > 0 and turn / step > MOST_COLUMNS + 0.5:
        what = (
            f"{key} = {step:g} makes {turn / step:.6g} columns a turn: sums over so many are not the same to the last "
            "bit alone and in a batch"
        )
        report.add(
            ("sensors", "lidar", key), what, f"at most {MOST_COLUMNS} columns, {turn / MOST_COLUMNS:.6g} and more"
        )


def check_times(data: dict[str, Any], report: Report) -> None:
    """Report durations and periods that are no whole number of steps, or too many, or longer than the trial."""
    dt_s = number(data.get("dt_s", 0.02))
    if dt_s is None or dt_s <= 0:
        return
    control, lidar = table(data, "control"), table(data, "sensors", "lidar")
    duration = _ticks(ticks_from_seconds, data.get("duration_s", 120.0), dt_s, ("duration_s",), report)
    asked = _ticks(ticks_from_rate, control.get("rate_hz", Control().rate_hz), dt_s, ("control", "rate_hz"), report)
    if duration == 0:
        report.add(("duration_s",), f"duration_s is shorter than a step of dt_s = {dt_s:g}", f"at least {dt_s:g}")
        return
    if asked is not None and duration is not None and asked > duration:
        what = f"one command lasts {asked * dt_s:g} s, longer than the whole trial of {duration * dt_s:g} s"
        report.add(("control", "rate_hz"), what, f"at least {1.0 / (duration * dt_s):g}, or a longer duration_s")
    heard: list[tuple[Path, Any]] = [(("sensors", "lidar"), lidar)]
    heard += [(("sensors", "extra", name), item) for name, item in table(data, "sensors", "extra").items()]
    for place, sensor in heard:
        if isinstance(sensor, dict):
            _ticks(ticks_from_rate, sensor.get("rate_hz", 10.0), dt_s, (*place, "rate_hz"), report)
            late = _ticks(ticks_from_seconds, sensor.get("latency_s"), dt_s, (*place, "latency_s"), report)
            if late is not None and duration is not None and late > duration:
                what = f"latency_s = {late * dt_s:g}: nothing is heard before the trial ends at {duration * dt_s:g} s"
                report.add((*place, "latency_s"), what, "less than duration_s")


def _ticks(
    count: Callable[[float, float, str], int], value: Any, dt_s: float, path: Path, report: Report
) -> int | None:
    """How many steps a duration or a period is; None where that is reported here or elsewhere."""
    amount = number(value)
    if amount is None or amount <= 0:
        return None
    steps = amount / dt_s if count is ticks_from_seconds else 1.0 / max(amount * dt_s, 1e-300)
    if steps > MOST_TICKS:
        if path in report.places.lines or path in report.places.options:
            what = f"{path[-1]} = {amount:g} makes {steps:.3g} steps of dt_s = {dt_s:g}, more than can be counted"
            report.add(path, what, f"at most {MOST_TICKS} steps: {MOST_TICKS * dt_s:.6g} s")
        else:
            what = f"dt_s = {dt_s:g} makes {steps:.3g} steps of {path[-1]} = {amount:g}, more than can be counted"
            report.add(("dt_s",), what, f"at most {MOST_TICKS} steps")
        return None
    try:
        return count(amount, dt_s, str(path[-1]))
    except ScenarioError as error:
        where = path if path in report.places.lines or path in report.places.options else ("dt_s",)
        for problem in error.problems:
            report.add(where, f"{path[-1]}: {problem.what}", problem.valid)
        return None
