"""What the values of a flying robot's catalogue file must be before anything is built from them.

Names are the parameter classes' own with a prefix: `rotor_` (`vehicles.rotor`), `motor_` (`vehicles.motor`), `aero_`
(`vehicles.aerodynamics`, `vehicles.aero_table`), `wash_` (`vehicles.propwash`). Where a vehicle has unequal rotors, a
list has one entry each.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from msgspec import inspect

from fieldworthy.catalog import DEVICES, CatalogEntry
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.core.toml_lines import Path
from fieldworthy.scenario.aircraft_sense import sense_problems
from fieldworthy.scenario.boat_values import is_outline
from fieldworthy.scenario.check import Report, number_problem
from fieldworthy.vehicles.aerodynamics import AeroParameters
from fieldworthy.vehicles.aircraft import SURFACES
from fieldworthy.vehicles.compose import MOTOR_VALUES, ROTOR_VALUES, field_names
from fieldworthy.vehicles.propwash import PropwashParameters
from fieldworthy.vehicles.rotor import RotorParameters

WORDS = ("autopilot", "motor_curve", "battery", *DEVICES)
"""Values that are names."""

LISTS = {"outline_m": 2, "rotor_position_m": 3, "rotor_axis": 3, "gear_position_m": 3, "wash_pairs": 2}
"""Values that are lists of points, and how long each point is."""

REQUIRED = (
    "mass_kg", "inertia_xx_kg_m2", "inertia_yy_kg_m2", "inertia_zz_kg_m2", "outline_m", "reach_up_m", "reach_down_m",
    "crash_speed_m_s", "drag_area_m2", "autopilot", "rotor_position_m", "rotor_spin", "motor_nominal_voltage_v",
    *(f"rotor_{f.name}" for f in fields(RotorParameters)
      if f.default is MISSING and f.name not in ("pos_frd_m", "axis_frd", "spin")),
)  # fmt: skip

AERO = field_names(AeroParameters, "aero_")
WINGS = ("cruise_airspeed_m_s", "airspeed_min_m_s", "airspeed_max_m_s", "surface_max_rad", *(
    f"aero_{f.name}" for f in fields(AeroParameters) if f.default is MISSING))  # fmt: skip
"""What a vehicle with wings needs besides."""

OPTIONAL = (
    *WORDS, *LISTS, "inertia_xz_kg_m2", "avionics_power_w", *ROTOR_VALUES, *MOTOR_VALUES, *AERO, *WINGS,
    "surface_lag_s", *(f"surface_{name}_max_rad" for name in SURFACES), *field_names(PropwashParameters, "wash_"),
    "gear_deflection_m", "gear_damping_ratio", "gear_friction", "speed_max_m_s", "climb_max_m_s", "descent_max_m_s",
    "tilt_max_deg", "bank_max_deg", "pitch_max_deg", "autopilot_softness", "blend_airspeed_m_s",
    "transition_throttle",
)  # fmt: skip
_KNOWN = tuple(dict.fromkeys((*REQUIRED, *OPTIONAL)))


def check_aircraft(entry: CatalogEntry, report: Report) -> bool:
    """Report what a flying robot's file lacks, has too much, or has in the wrong form; whether it is fit for use."""
    path: Path = ("vehicle", "model")
    problems: list[tuple[str, str]] = []
    who, values = f"aircraft '{entry.name}'", entry.values
    winged = any(name.startswith("aero_") and not name.startswith("aero_table_") for name in values)
    needed = (*REQUIRED, *(WINGS if winged or values.get("autopilot") in ("fixed-wing", "vtol") else ()))
    missing = [name for name in needed if name not in values]
    if missing:
        problems.append((f"{who} lacks {', '.join(missing)}", f'{missing[0]} = {{ value = ..., source = "..." }}'))
    for name in values:
        if name not in _KNOWN and not name.startswith("aero_table_"):
            problems.append((f"{who} has an unknown value '{name}'{did_you_mean(name, _KNOWN)}", "docs/vehicles.md"))
    if not problems:
        problems = [(f"{who}: {what}", valid) for what, valid in _form_problems(values)]
    for what, valid in problems:
        report.add(path, what, valid)
    return not problems


def _form_problems(values: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    for name, size in LISTS.items():
        if name in values and not _is_points(values[name], size):
            found.append((f"{name} = {_short(values[name])}", f"a list of lists of {size} numbers"))
    if not is_outline(values["outline_m"]):
        found.append(("outline_m is no outline", "a list of 3 or more [forward, right] points in metres"))
    if found:
        return found
    count = len(values["rotor_position_m"])
    for name, value in values.items():
        if name in LISTS or name.startswith("aero_table_"):
            continue
        if name in WORDS:
            if not isinstance(value, str):
                found.append((f"{name} = {_short(value)} is not a name", "a text"))
        elif name == "drag_area_m2" and isinstance(value, list):
            if len(value) != 3:
                found.append((f"drag_area_m2 = {_short(value)}", "a number, or [forward, right, down]"))
        elif isinstance(value, list):
            allowed = count if name.startswith(("rotor_", "motor_")) else len(values.get("wash_pairs", ()))
            if len(value) != allowed or not all(isinstance(item, int | float) for item in value):
                found.append((f"{name} = {_short(value)}", f"a number, or a list of {allowed} numbers"))
        elif isinstance(value, str):
            found.append((f"{name} = {_short(value)} is not a number", "a finite number"))
    return found or [(problem.what, problem.valid) for problem in sense_problems(values)]


def check_set(values: dict[str, Any], own: dict[str, Any], report: Report) -> None:
    """Report what the values of [vehicle.set] have made impossible of a vehicle that was fit for use."""
    missing = [name for name in WINGS if name not in values]
    if missing and values["autopilot"] in ("fixed-wing", "vtol"):
        what = f"autopilot = '{values['autopilot']}', but this vehicle has no {missing[0]}"
        report.add(("vehicle", "set", "autopilot"), what, f"another model, or all of {', '.join(missing)} in its file")
        return
    for problem in sense_problems(values):
        mine = [name for name in problem.names if name in own]
        for name in mine[:1]:
            report.add(("vehicle", "set", name), problem.what, problem.valid)


def _is_points(value: Any, size: int) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(point, list | tuple) and len(point) == size for point in value)
        and not any(number_problem(number, inspect.FloatType()) for point in value for number in point)
    )


def same_form(old: Any, new: Any) -> bool:
    """Whether a list may take the place of another: the same depth and lengths, numbers at the bottom."""
    if isinstance(old, list | tuple):
        return (
            isinstance(new, list | tuple)
            and len(new) == len(old)
            and all(same_form(a, b) for a, b in zip(old, new, strict=True))
        )
    return not number_problem(new, inspect.FloatType())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
