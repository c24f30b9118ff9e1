"""Checks of a flight: heights and ways to fly, steps short enough, devices on the clock, faults of parts that exist."""

from __future__ import annotations

from typing import Any

from fieldworthy.catalog import DEVICES, CatalogEntry
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.core.toml_lines import Path
from fieldworthy.core.vec import Vec3
from fieldworthy.scenario.aircraft_sense import sense_problems
from fieldworthy.scenario.cable_limits import check_cables
from fieldworthy.scenario.check import Report
from fieldworthy.scenario.device_limits import check_devices, check_link_delay
from fieldworthy.scenario.motion_limits import number
from fieldworthy.scenario.resolve import table, vehicle_value_problem
from fieldworthy.scenario.schema import Target
from fieldworthy.vehicles.aircraft import SURFACES
from fieldworthy.vehicles.landing_gear import landing_gear, rk4_growth

STABLE = 2.5
"""Rate times step that RK4 follows: its limit on the real axis is 2.785 (Hairer and Wanner)."""

USUAL_RADIUS_M = Target(north_m=0.0, east_m=0.0).radius_m

LOSABLE = ("gnss", "rangefinder", "optical_flow", "odometry")
"""Devices whose readings say whether there is one."""

IMU_PARTS = ("imu.gyro", "imu.accelerometer")
"""Parts of the inertial unit that may break by themselves."""

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
    _check_heights(data, values, report)
    _check_start(data, str(pilot), report)
    _check_catapult(data, values, report)
    _check_step(values, values, dt_s, ("dt_s",), report)
    _check_drawn(data, vehicle, values, dt_s, report)
    check_cables(data, values, dt_s, report)
    check_devices(data, dt_s, report)
    control = table(data, "control")
    if control.get("commands") == "actuators" and control.get("controller") == "mission":
        what = "the built-in controller 'mission' says where to be, not what each rotor does"
        report.add(("control", "commands"), what, 'commands = "setpoint", or a controller of your own (module:Class)')
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


def _check_heights(data: dict[str, Any], values: dict[str, Any], report: Report) -> None:
    """Start and targets lie above the ground and below the ceiling of the area."""
    reach, ceiling = values["reach_down_m"], number(table(data, "area").get("ceiling_m"))
    up = number(table(data, "start").get("up_m"))
    if up is not None and up < reach:
        what = f"up_m = {up:g} is lower than the vehicle's reach_down_m = {reach:g}: it would stick in the ground"
        report.add(("start", "up_m"), what, f"at least {reach:g}, or no up_m for a start from the ground")
    waypoints = data.get("waypoints")
    places: list[tuple[Path, Any]] = [(("start",), data.get("start")), (("goal",), data.get("goal"))]
    places += [(("waypoints", i), item) for i, item in enumerate(waypoints if isinstance(waypoints, list) else ())]
    for path, item in places:
        up = number(item.get("up_m")) if isinstance(item, dict) else None
        if up is None:
            continue
        radius = number(item.get("radius_m", USUAL_RADIUS_M))
        if ceiling is not None and up > ceiling:
            report.add(
                (*path, "up_m"), f"up_m = {up:g} is above ceiling_m = {ceiling:g} of the area", f"at most {ceiling:g}"
            )
        elif path != ("start",) and radius is not None and up + radius <= reach:
            what = f"up_m = {up:g} with radius_m = {radius:g} lies in the ground: it cannot be reached"
            report.add((*path, "up_m"), what, f"above the ground, such as {reach:g}")


def _check_start(data: dict[str, Any], pilot: str, report: Report) -> None:
    start = table(data, "start")
    speed = number(start.get("speed_m_s", 0.0))
    if pilot != "fixed-wing":
        return
    least = number(table(data, "vehicle", "set").get("airspeed_min_m_s"))
    if "catapult" in start:
        return
    if "up_m" not in start:
        what = "missing 'up_m': a fixed wing starts in the air here, or from a catapult"
        report.add(("start", "up_m"), what, "a height, and speed_m_s; or [start.catapult]")
    elif speed is not None and least is not None and speed < least:
        what = f"speed_m_s = {speed:g} is below the vehicle's airspeed_min_m_s = {least:g}: it would fall"
        report.add(("start", "speed_m_s"), what, f"at least {least:g}")


def _check_catapult(data: dict[str, Any], values: dict[str, Any], report: Report) -> None:
    """What starts from a catapult is an airplane that can fly at its speed, and that hangs on nothing."""
    start = table(data, "start")
    if "catapult" not in start:
        return
    path, catapult = ("start", "catapult"), table(data, "start", "catapult")
    pilot, reach = values.get("autopilot"), values["reach_down_m"]
    if pilot != "fixed-wing":
        report.add(path, f"[start.catapult] is for a fixed wing, and this vehicle is a {pilot}", "no such table")
        return
    for name in ("up_m", "speed_m_s"):
        if start.get(name):
            what = f"{name} with a catapult: the plane rests on it at the start"
            report.add(("start", name), what, f"{name} of [start.catapult], or no catapult")
    for name in ("load", "tether"):
        if name in data:
            report.add((name,), f"a catapult launches no plane on a cable ([{name}])", "one of them")
    up, speed, least = number(catapult.get("up_m")), number(catapult.get("speed_m_s")), values.get("airspeed_min_m_s")
    if up is not None and 0.0 < up < reach:
        what = f"up_m = {up:g} is lower than the vehicle's reach_down_m = {reach:g}: it would stick in the ground"
        report.add((*path, "up_m"), what, f"at least {reach:g}")
    if speed is not None and least is not None and 0.0 < speed < least:
        what = f"speed_m_s = {speed:g} is below the vehicle's airspeed_min_m_s = {least:g}: it would fall"
        report.add((*path, "speed_m_s"), what, f"at least {least:g}")


def _check_drawn(
    data: dict[str, Any], entry: CatalogEntry, values: dict[str, Any], dt_s: float, report: Report
) -> None:
    """What [randomize] draws for the vehicle makes sense at both ends."""
    if sense_problems(values):
        return  # reported where they were set
    for path, ends in table(data, "randomize").items():
        home, _, name = path.partition(".")
        if home != "vehicle" or not isinstance(values.get(name), float) or not isinstance(ends, list):
            continue
        for end in (number(end) for end in ends):
            if end is None or vehicle_value_problem(entry, name, end)[0]:
                continue  # reported as out of limits
            problems = sense_problems({**values, name: end})
            for problem in problems[:1]:
                report.add(("randomize", path), problem.what, problem.valid)
            if not problems:
                _check_step({**values, name: end}, values, dt_s, ("randomize", path), report)


def _check_step(values: dict[str, Any], nominal: dict[str, Any], dt_s: float, path: Path, report: Report) -> None:
    """The step must follow the motors, the surfaces and the landing gear, which is laid out for the nominal values."""
    lags = [values.get(name, 0.03) for name in ("rotor_lag_up_s", "rotor_lag_down_s")]
    lags += [values["surface_lag_s"]] if "surface_lag_s" in values and values.get("surface_max_rad") else []
    quickest = min((float(x) for lag in lags for x in (lag if isinstance(lag, list) else [lag])), default=1.0)
    if quickest <= 0 or dt_s > STABLE * quickest:
        told = f"dt_s = {dt_s:g} is too long for motors or surfaces that settle in {quickest:g} s: RK4 runs away"
        report.add(path, told, f"dt_s <= {STABLE * max(quickest, 0.0):.3g}")
        return
    feet = values.get("gear_position_m")
    if not feet or report.found:
        return
    numbers = {
        name: nominal[f"gear_{name}"]
        for name in ("deflection_m", "damping_ratio", "friction")
        if f"gear_{name}" in nominal
    }
    points = landing_gear(tuple(Vec3(*foot) for foot in feet), nominal["mass_kg"], _inertia(nominal), dt_s, **numbers)
    growth = rk4_growth(points, values["mass_kg"], _inertia(values), dt_s)
    if growth > 1.0 + 1e-6:
        told = f"dt_s = {dt_s:g} is too long for the landing gear: standing, the vehicle would shake itself to pieces"
        report.add(path, told, "a shorter step, or a larger gear_deflection_m")


def _inertia(values: dict[str, Any]) -> Vec3:
    return Vec3(*(values[f"inertia_{axis}_kg_m2"] for axis in ("xx", "yy", "zz")))


def _check_fault(
    fault: dict[str, Any], path: Path, data: dict[str, Any], values: dict[str, Any], report: Report
) -> None:
    kind, part, size = fault.get("kind"), fault.get("part", ""), number(fault.get("size", 1.0))
    if not isinstance(kind, str):
        return
    begins, ends = number(fault.get("at_s", 0.0)), number(fault.get("until_s"))
    if begins is not None and ends is not None and ends <= begins:
        report.add((*path, "until_s"), f"until_s = {ends:g} is not after at_s = {begins:g}", "until_s > at_s")
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
        elif size is not None and abs(size) > 1.0:
            report.add((*path, "size"), f"size = {size:g} is no share of full deflection", "-1 to 1")
    elif kind.startswith("sensor-"):
        present = [name for name in DEVICES if table(data, "sensors", name)]
        present += IMU_PARTS if "imu" in present else ()
        if part not in present:
            hint = did_you_mean(str(part), present)
            report.add(
                (*path, "part"), f"part = {part!r} is no device of this vehicle{hint}", ", ".join(present) or "none"
            )
        elif kind == "sensor-loss" and part not in LOSABLE:
            what = f"sensor-loss: {part} does not say when it has nothing to say"
            report.add((*path, "part"), what, ", ".join(LOSABLE))
        elif kind == "sensor-noise" and size is not None and size < 0.0:
            what = f"size = {size:g} is no standard deviation"
            report.add((*path, "size"), what, "0 or more, in the sensor's unit")
    elif kind == "cell-failure":
        cells = number(table(data, "battery", "set").get("cells"))
        if cells is None or not table(data, "effects").get("battery", True):
            report.add((*path, "kind"), "cell-failure: there is no battery", "effects.battery = true and a [battery]")
        elif size is not None and not 0.0 < size < cells:
            report.add((*path, "size"), f"size = {size:g} of {cells:g} cells", f"more than 0, less than {cells:g}")
    elif kind == "link-delay":
        check_link_delay(fault, path, data, report)
