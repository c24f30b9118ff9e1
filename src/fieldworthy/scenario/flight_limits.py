"""Checks of a flight: heights and ways to fly, steps short enough, devices on the clock, faults of parts that exist."""

from __future__ import annotations

from typing import Any

from fieldworthy.catalog import DEVICES, CatalogEntry
from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.core.timing import ticks_from_rate
from fieldworthy.core.toml_lines import Path
from fieldworthy.core.vec import Vec3
from fieldworthy.scenario.check import Report
from fieldworthy.scenario.motion_limits import number
from fieldworthy.scenario.resolve import table
from fieldworthy.vehicles.aircraft import SURFACES
from fieldworthy.vehicles.landing_gear import landing_gear, rk4_growth

STABLE = 2.5
"""Rate times step that RK4 follows: its limit on the real axis is 2.785 (Hairer and Wanner)."""

WAYS = {"multirotor": ("hover",), "fixed-wing": ("wing",), "vtol": ("hover", "wing")}
"""Autopilot to the ways that it can fly; the first one is its usual one."""


def check_flight(data: dict[str, Any], vehicle: CatalogEntry | None, report: Report) -> None:
    """Report contradictions of a flight; values that are wrong by themselves are skipped."""
    dt_s = number(data.get("dt_s"))
    if vehicle is None or dt_s is None or dt_s <= 0:
        return
    values = table(data, "vehicle", "set")
    pilot = values.get("autopilot")
    _check_targets(data, str(pilot), report)
    _check_start(data, str(pilot), report)
    _check_step(values, dt_s, report)
    _check_devices(data, dt_s, report)
    faults = data.get("faults")
    for index, fault in enumerate(faults if isinstance(faults, list) else ()):
        if isinstance(fault, dict):
            _check_fault(fault, ("faults", index), data, values, report)


def _check_targets(data: dict[str, Any], pilot: str, report: Report) -> None:
    waypoints = data.get("waypoints")
    places: list[tuple[Path, Any]] = [(("goal",), data.get("goal"))]
    places += [(("waypoints", i), item) for i, item in enumerate(waypoints if isinstance(waypoints, list) else ())]
    for path, item in places:
        if not isinstance(item, dict):
            continue
        if "up_m" not in item:
            report.add((*path, "up_m"), "missing 'up_m', the height of the target", "up_m = metres above the ground")
        way = item.get("way")
        if way in ("hover", "wing") and way not in WAYS.get(pilot, (way,)):
            report.add(
                (*path, "way"), f"way = '{way}', but this vehicle's autopilot is '{pilot}'", " or ".join(WAYS[pilot])
            )
        hold = number(item.get("hold_s"))
        if hold and pilot == "fixed-wing":
            report.add(
                (*path, "hold_s"), "hold_s: a fixed wing cannot stay at a place", "no hold_s, or a vehicle that hovers"
            )


def _check_start(data: dict[str, Any], pilot: str, report: Report) -> None:
    start = table(data, "start")
    speed = number(start.get("speed_m_s", 0.0))
    if pilot != "fixed-wing":
        return
    least = number(table(data, "vehicle", "set").get("airspeed_min_m_s"))
    if "up_m" not in start:
        report.add(("start", "up_m"), "missing 'up_m': a fixed wing starts in the air here", "a height, and speed_m_s")
    elif speed is not None and least is not None and speed < least:
        what = f"speed_m_s = {speed:g} is below the vehicle's airspeed_min_m_s = {least:g}: it would fall"
        report.add(("start", "speed_m_s"), what, f"at least {least:g}")


def _check_step(values: dict[str, Any], dt_s: float, report: Report) -> None:
    """The step must follow the motors, the surfaces and the landing gear."""
    lags = [values.get(name, 0.03) for name in ("rotor_lag_up_s", "rotor_lag_down_s")]
    lags += [values["surface_lag_s"]] if "surface_lag_s" in values and values.get("surface_max_rad") else []
    quickest = min((float(x) for lag in lags for x in (lag if isinstance(lag, list) else [lag])), default=1.0)
    if quickest <= 0 or dt_s > STABLE * quickest:
        told = f"dt_s = {dt_s:g} is too long for motors or surfaces that settle in {quickest:g} s: RK4 runs away"
        report.add(("dt_s",), told, f"dt_s <= {STABLE * max(quickest, 0.0):.3g}")
        return
    feet = values.get("gear_position_m")
    if not feet or report.found:
        return
    inertia = Vec3(*(values[f"inertia_{axis}_kg_m2"] for axis in ("xx", "yy", "zz")))
    names = ("deflection_m", "damping_ratio", "friction")
    numbers = {name: values[f"gear_{name}"] for name in names if f"gear_{name}" in values}
    points = landing_gear(tuple(Vec3(*foot) for foot in feet), values["mass_kg"], inertia, dt_s, **numbers)
    growth = rk4_growth(points, values["mass_kg"], inertia, dt_s)
    if growth > 1.0 + 1e-6:
        told = f"dt_s = {dt_s:g} is too long for the landing gear: standing, the vehicle would shake itself to pieces"
        report.add(("dt_s",), told, "a shorter step, or a larger gear_deflection_m")


def _check_devices(data: dict[str, Any], dt_s: float, report: Report) -> None:
    for name in DEVICES:
        rate = number(table(data, "sensors", name, "set").get("rate_hz"))
        if rate is None or name == "imu":
            continue  # the inertial unit is read at every step
        try:
            ticks_from_rate(rate, dt_s, f"sensors.{name}.rate_hz")
        except ScenarioError as error:
            for problem in error.problems:
                report.add(("sensors", name, "set", "rate_hz"), f"rate_hz: {problem.what}", problem.valid)
    estimated = table(data, "control").get("navigation", "estimate") == "estimate"
    missing = [name for name in ("imu", "gnss", "barometer", "magnetometer") if not table(data, "sensors", name)]
    if estimated and missing:
        what = f"the autopilot's estimate needs {', '.join(missing)}, which this vehicle has not"
        report.add(
            ("control", "navigation"), what, 'navigation = "truth", or these in [sensors] or the vehicle\'s file'
        )


def _check_fault(
    fault: dict[str, Any], path: Path, data: dict[str, Any], values: dict[str, Any], report: Report
) -> None:
    kind, part, size = fault.get("kind"), fault.get("part", ""), number(fault.get("size", 1.0))
    if not isinstance(kind, str):
        return
    if kind == "rotor-loss":
        count = len(values["rotor_position_m"])
        if part not in map(str, range(count)):
            report.add((*path, "part"), f"part = {part!r} is no rotor", f"a number from 0 to {count - 1}")
        if size is not None and not 0.0 < size <= 1.0:
            report.add((*path, "size"), f"size = {size:g} is no share of the thrust", "more than 0, at most 1")
    elif kind == "surface-stuck":
        if "surface_max_rad" not in values:
            report.add((*path, "kind"), "surface-stuck: this vehicle has no surfaces", "another kind")
        elif part not in SURFACES:
            report.add(
                (*path, "part"),
                f"part = {part!r} is no surface{did_you_mean(str(part), SURFACES)}",
                ", ".join(SURFACES),
            )
    elif kind.startswith("sensor-"):
        present = [name for name in DEVICES if table(data, "sensors", name)]
        if part not in present:
            hint = did_you_mean(str(part), present)
            report.add(
                (*path, "part"), f"part = {part!r} is no device of this vehicle{hint}", ", ".join(present) or "none"
            )
        elif kind == "sensor-loss" and part not in ("gnss", "rangefinder"):
            report.add(
                (*path, "part"), f"sensor-loss: {part} does not say when it has nothing to say", "gnss, rangefinder"
            )
    elif kind == "cell-failure":
        cells = number(table(data, "battery", "set").get("cells"))
        if cells is None or not table(data, "effects").get("battery", True):
            report.add((*path, "kind"), "cell-failure: there is no battery", "effects.battery = true and a [battery]")
        elif size is not None and not 0.0 < size < cells:
            report.add((*path, "size"), f"size = {size:g} of {cells:g} cells", f"more than 0, less than {cells:g}")
    elif kind == "link-delay" and size is not None and size <= 0.0:
        report.add((*path, "size"), f"size = {size:g} s is no delay", "seconds > 0")
