"""Checks of the devices of what flies: rates on the clock, delays that fit into their links, what an estimate needs."""

from __future__ import annotations

from typing import Any

from fieldworthy.catalog import DEVICES
from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.timing import ticks_from_rate, ticks_from_seconds
from fieldworthy.core.toml_lines import Path
from fieldworthy.scenario.aircraft_values import same_form
from fieldworthy.scenario.check import Report
from fieldworthy.scenario.motion_limits import number
from fieldworthy.scenario.resolve import table
from fieldworthy.scenario.size_limits import MOST_TICKS
from fieldworthy.sensors.delivery import JITTERS
from fieldworthy.sensors.suite import usual_device_limits

MOST_WAITING = 64
"""Readings or commands under way at once: every one has a place of its own, compiled into the kernels."""

FINEST = 1e-9
"""Steps of a reading in the unit of their name: finer ones are lost in 32 bits, and the finest would divide by 0."""

_VECTOR = [0.0, 0.0, 0.0]
FORMS = {
    **dict.fromkeys(("pos_frd_m", "mounting_deg", "axis_frd", "hard_iron_frd_ut", "motor_frd_ut_a"), _VECTOR),
    **dict.fromkeys(("forward_coefficients", "backward_coefficients"), _VECTOR),
    "soft_iron": [_VECTOR] * 3,
}
"""Values of devices that are lists; all others are numbers."""

_ROOM = f"the kernels are compiled with a place for each of them, {MOST_WAITING} at most"


def check_devices(data: dict[str, Any], dt_s: float, report: Report) -> None:
    """Report rates off the clock, delays and resolutions that cannot be computed, and devices that are missing."""
    for name in DEVICES:
        values = table(data, "sensors", name, "set")
        if not values or not _has_form(values, name, report):
            continue
        # The inertial unit is read at every step.
        period = dt_s if name == "imu" else _period(values, name, dt_s, report)
        if period is not None:
            _check_delays(data, name, period, report)
        if name == "imu":
            _check_imu_delay(values, dt_s, report)
        for key in values:
            if "resolution" in key:
                _check_resolution(data, name, key, report)
    estimated = table(data, "control").get("navigation", "estimate") == "estimate"
    missing = [name for name in ("imu", "gnss", "barometer", "magnetometer") if not table(data, "sensors", name)]
    if estimated and missing:
        what = f"the autopilot's estimate needs {', '.join(missing)}, which this vehicle has not"
        report.add(
            ("control", "navigation"), what, 'navigation = "truth", or these in [sensors] or the vehicle\'s file'
        )


def check_link_delay(fault: dict[str, Any], path: Path, data: dict[str, Any], report: Report) -> None:
    """Report a fault "link-delay" that is none, that names a part, or that holds too many commands."""
    size, rate = number(fault.get("size", 1.0)), number(table(data, "control").get("rate_hz"))
    if fault.get("part", "") != "":
        what = f"part = {fault['part']!r}: link-delay strikes the one link from controller to autopilot"
        report.add((*path, "part"), what, "no part")
    where: Path = (*path, "size") if "size" in fault else (*path, "kind")
    if size is None:
        return
    if size <= 0.0:
        report.add(where, f"size = {size:g} s is no delay", "seconds > 0")
    elif rate is not None and rate > 0 and size * rate > MOST_WAITING + 1e-6:
        what = f"size = {size:g} s holds {size * rate:.6g} commands at control.rate_hz = {rate:g}: {_ROOM}"
        report.add(where, what, f"at most {MOST_WAITING / rate:.6g} s")


def _has_form(values: dict[str, Any], name: str, report: Report) -> bool:
    """Whether the values have the form that the laws need; what is not so comes from the device's own file."""
    found = [("lacks rate_hz", "rate_hz = readings per second")] if name != "imu" and "rate_hz" not in values else []
    for key, value in values.items():
        if key in FORMS:
            if not same_form(FORMS[key], value):
                found.append((f"{key} = {value!r} has another form", f"a list such as {FORMS[key]}"))
        elif number(value) is None and not isinstance(value, bool):
            found.append((f"{key} = {value!r} is not a number", "a finite number"))
        elif key in usual_device_limits():
            low, high = usual_device_limits()[key]
            if not low <= value <= high:
                found.append((f"{key} = {value:g} is out of range", f"{low:g} to {high:g}"))
    for what, valid in found:
        report.add(("sensors", name, "model"), f"the file of this {name}: {what}", valid)
    return not found


def _period(values: dict[str, Any], name: str, dt_s: float, report: Report) -> float | None:
    """Seconds between readings; None where that is reported."""
    rate = number(values.get("rate_hz"))
    if rate is None:
        return None
    path: Path = ("sensors", name, "set", "rate_hz")
    steps = 1.0 / max(rate * dt_s, 1e-300)
    if rate > 0 and steps > MOST_TICKS:
        what = f"rate_hz = {rate:g} makes {steps:.3g} steps of dt_s = {dt_s:g}, more than can be counted"
        report.add(path, what, f"at least {1.0 / (MOST_TICKS * dt_s):.3g}, so that a period has {MOST_TICKS} at most")
        return None
    try:
        return ticks_from_rate(rate, dt_s, f"sensors.{name}.rate_hz") * dt_s
    except ScenarioError as error:
        for problem in error.problems:
            report.add(path, f"rate_hz: {problem.what}", problem.valid)
        return None


def _check_delays(data: dict[str, Any], name: str, period_s: float, report: Report) -> None:
    """A link has a place for every reading that the slowest trial may have under way."""
    ends = {key: _ends(data, name, key) for key in ("latency_s", "jitter_s")}
    if any(path is None for path, _, _ in ends.values()):
        return  # reported as out of limits
    room_s = MOST_WAITING * period_s
    late_path, soonest, latency = ends["latency_s"]
    jitter_path, _, jitter = ends["jitter_s"]
    duration = number(data.get("duration_s", 120.0))
    assert late_path is not None
    assert jitter_path is not None
    if latency > room_s * (1.0 + 1e-9):
        what = f"latency_s = {latency:g} keeps {latency / period_s:.6g} readings under way: {_ROOM}"
        report.add(late_path, what, f"at most {room_s:.6g} s")
    elif latency + JITTERS * jitter > room_s * (1.0 + 1e-9):
        waiting = (latency + JITTERS * jitter) / period_s
        what = f"jitter_s = {jitter:g} may keep {waiting:.6g} readings under way: {_ROOM}"
        report.add(jitter_path, what, f"at most {(room_s - latency) / JITTERS:.6g} s")
    elif duration is not None and soonest > duration > 0 and _is_given(late_path, report):
        what = f"latency_s = {soonest:g}: nothing is heard before the trial ends at {duration:g} s"
        report.add(late_path, what, "less than duration_s")


def _check_imu_delay(values: dict[str, Any], dt_s: float, report: Report) -> None:
    """The inertial unit's samples wait for whole steps."""
    latency = number(values.get("latency_s"))
    if latency is None or not 0.0 <= latency <= MOST_WAITING * dt_s:
        return  # reported
    try:
        ticks_from_seconds(latency, dt_s, "sensors.imu.latency_s")
    except ScenarioError as error:
        for problem in error.problems:
            report.add(("sensors", "imu", "set", "latency_s"), f"latency_s: {problem.what}", problem.valid)


def _check_resolution(data: dict[str, Any], name: str, key: str, report: Report) -> None:
    path, _, highest = _ends(data, name, key)
    if path is not None and 0.0 < highest < FINEST:
        what = f"{key} = {highest:g} is finer than any reading in 32 bits"
        report.add(path, what, f"0 for no rounding, or at least {FINEST:g}")


def _ends(data: dict[str, Any], name: str, key: str) -> tuple[Path | None, float, float]:
    """(where it is given, lowest, highest) of a value, 0 if absent; no path where the value is reported elsewhere."""
    path: Path = ("sensors", name, "set", key)
    drawn = f"sensors.{name}.{key}"
    value = table(data, "sensors", name, "set").get(key, 0.0)
    ends = [number(value)]
    if drawn in table(data, "randomize"):
        path, given = ("randomize", drawn), table(data, "randomize")[drawn]
        ends = [number(end) for end in given] if isinstance(given, list | tuple) and len(given) == 2 else [None]
    found = [end for end in ends if end is not None and end >= 0.0]
    return (path, found[0], found[-1]) if found and len(found) == len(ends) else (None, 0.0, 0.0)


def _is_given(path: Path, report: Report) -> bool:
    return path in report.places.lines or path in report.places.options
