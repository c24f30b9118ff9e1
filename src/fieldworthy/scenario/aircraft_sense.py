"""What values of a flying robot contradict physics or one another: of its catalogue file, and after [vehicle.set]."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from fieldworthy.catalog import DEVICES, names
from fieldworthy.control.autopilot import KINDS
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.vehicles.aero_table import aero_tables
from fieldworthy.vehicles.aircraft import SURFACES
from fieldworthy.vehicles.motor import Curve

POSITIVE = (
    "mass_kg", "reach_up_m", "reach_down_m", "rotor_thrust_coefficient_n_s2", "rotor_radius_m", "rotor_speed_max_rad_s",
    "rotor_lag_up_s", "rotor_lag_down_s", "motor_nominal_voltage_v", "motor_efficiency", "motor_speed_constant_rad_s_v",
    "gear_deflection_m", "surface_lag_s", "aero_area_m2", "aero_span_m", "aero_chord_m", "aero_oswald", "wash_radius_m",
    "aero_cl_alpha", "airspeed_min_m_s", "speed_max_m_s", "climb_max_m_s", "descent_max_m_s", "autopilot_softness",
)  # fmt: skip
"""Values that something is divided by, or that nothing works without."""

NOT_NEGATIVE = (
    "crash_speed_m_s", "drag_area_m2", "avionics_power_w", "rotor_torque_ratio_m", "rotor_speed_min_rad_s",
    "rotor_axial_inertia_kg_m2", "rotor_drag_coefficient_n_s2_m", "rotor_inflow_coefficient_n_s2_m", "gear_friction",
    "gear_damping_ratio", "surface_max_rad", *(f"surface_{name}_max_rad" for name in SURFACES), "aero_cd0",
)  # fmt: skip

LIFTS, PUSHES = 0.5, 0.5
"""Least share of a rotor's axis that points up, or ahead, for the autopilot to count on it."""


WEAK = 0.03
"""Least share of the greatest singular value that counts as control: an x layout has 0.7 or more, a hexarotor too."""

_MOMENTS = ("thrust", "roll", "pitch", "yaw")


@dataclass(frozen=True)
class Nonsense:
    """Something that cannot be."""

    names: tuple[str, ...]
    """The values that it is about."""
    what: str
    valid: str


def sense_problems(values: dict[str, Any]) -> list[Nonsense]:
    """What contradicts physics or itself in values of the right form."""
    found: list[Nonsense] = []
    for check in (_words, _signs, _rotors, _inertia, _wings, _tables):
        check(values, lambda what, valid, *about: found.append(Nonsense(about, what, valid)))
    return found


_Add = Callable[..., None]


def _words(values: dict[str, Any], add: _Add) -> None:
    for name, known in (("autopilot", KINDS), ("motor_curve", get_args(Curve))):
        word = values.get(name, known[0])
        if word not in known:
            add(f"{name} = '{word}'{did_you_mean(word, known)}", ", ".join(known), name)
    for kind in ("battery", *DEVICES):
        model = values.get(kind)
        if model is not None and "/" not in model and not model.endswith(".toml") and model not in names(kind):
            hint = did_you_mean(model, names(kind))
            add(f"{kind} = '{model}': none of this name{hint}", ", ".join(names(kind)), kind)


def _signs(values: dict[str, Any], add: _Add) -> None:
    for name in (*POSITIVE, *NOT_NEGATIVE):
        numbers = values.get(name)
        for number in numbers if isinstance(numbers, list) else () if numbers is None else (numbers,):
            if number < 0 or (number == 0 and name in POSITIVE):
                add(f"{name} = {number:g}", f"a number {'>' if name in POSITIVE else '>='} 0", name)
                break


def _rotors(values: dict[str, Any], add: _Add) -> None:
    count = len(values["rotor_position_m"])
    spins = values["rotor_spin"]
    if not isinstance(spins, list) or any(spin not in (-1, 1) for spin in spins):
        add(f"rotor_spin = {spins!r}", f"a list of {count}, each 1 or -1", "rotor_spin")
    axes = values.get("rotor_axis", [[0.0, 0.0, -1.0]] * count)
    for i, axis in enumerate(axes):
        if abs(math.hypot(*axis) - 1.0) > 1e-6:
            add(f"rotor_axis of rotor {i} has the length {math.hypot(*axis):g}", "unit vectors", "rotor_axis")
    if len(axes) != count:
        add("rotor_axis and rotor_position_m differ in length", f"{count} axes", "rotor_axis", "rotor_position_m")
    slowest, fastest = (_each(values.get(f"rotor_speed_{end}_rad_s", 0.0), count) for end in ("min", "max"))
    for low, high in zip(slowest, fastest, strict=True):
        if 0.0 < high <= low:
            about = ("rotor_speed_min_rad_s", "rotor_speed_max_rad_s")
            add(f"{about[0]} = {low:g} is not below {about[1]} = {high:g}", f"less than {about[1]}", *about)
            break
    if len(axes) != count or not isinstance(spins, list) or len(spins) != count:
        return
    pilot, about = values["autopilot"], ("rotor_axis", "autopilot")
    if pilot in ("multirotor", "vtol") and not any(axis[2] < -LIFTS for axis in axes):
        add(f"autopilot = '{pilot}', but no rotor lifts", "rotor_axis = [0, 0, -1] for rotors that lift", *about)
    elif pilot in ("multirotor", "vtol"):
        _control(values, axes, add)
    if pilot in ("fixed-wing", "vtol") and not any(axis[0] > PUSHES for axis in axes):
        add(f"autopilot = '{pilot}', but no rotor pushes forward", "rotor_axis = [1, 0, 0] for those that do", *about)


def _control(values: dict[str, Any], axes: list[list[float]], add: _Add) -> None:
    """Lifting rotors make thrust and all three moments, each without the others.

    Equation: B has a row for thrust, roll and pitch over the mean arm, yaw over the mean torque ratio, and a column for
        each lifting rotor; a direction u with |u' B| under WEAK of the greatest singular value is out of reach.
    """
    lifting = [i for i, axis in enumerate(axes) if axis[2] < -LIFTS]
    place, axis = (np.array([rows[i] for i in lifting], float) for rows in (values["rotor_position_m"], axes))
    ratio = np.array([_each(values["rotor_torque_ratio_m"], len(axes))[i] for i in lifting], float)
    spin = np.array([values["rotor_spin"][i] for i in lifting], float)
    moment = np.cross(place, axis) - (spin * ratio)[:, None] * axis
    arm, kappa = float(np.mean(np.hypot(place[:, 0], place[:, 1]))), float(np.mean(ratio))
    scale = np.array([1.0, arm or 1.0, arm or 1.0, kappa or arm or 1.0])
    effect = np.column_stack([-axis[:, 2], moment]).T / scale[:, None]
    left, size, _ = np.linalg.svd(effect)
    size = np.concatenate([size, np.zeros(max(0, 4 - len(size)))])  # under four rotors leave directions without any
    weak = size < WEAK * size[0]
    if not weak.any():
        return
    never = np.linalg.norm(effect, axis=1) < WEAK * size[0]
    tied = ~never & (np.linalg.norm(left[:, weak], axis=1) > 0.3)
    said = [f"no {name}" for name, gone in zip(_MOMENTS, never, strict=True) if gone]
    together = [name for name, other in zip(_MOMENTS, tied, strict=True) if other]
    if len(together) > 1:
        said.append(f"no {together[-1]} without {' or '.join(together[:-1])}")
    valid = ["at least 4 rotors that lift"] if len(lifting) < 4 else []
    if never[1] or never[2] or (tied[1] and tied[2] and not tied[3]):
        valid.append("rotors on all sides of the centre of mass")
    if (never[3] or tied[3]) and len(lifting) >= 4:
        valid.append("rotors that spin both ways, neighbours opposite" + (", with a torque" if not kappa else ""))
    about = "rotor_spin", "rotor_position_m", "rotor_torque_ratio_m", "rotor_axis", "autopilot"
    add(f"rotor_spin and rotor_position_m: these rotors can make {', and '.join(said)}", "; ".join(valid), *about)


def _inertia(values: dict[str, Any], add: _Add) -> None:
    about = tuple(f"inertia_{axis}_kg_m2" for axis in ("xx", "yy", "zz"))
    xx, yy, zz = (values[name] for name in about)
    if min(xx, yy, zz) <= 0 or xx + yy < zz or yy + zz < xx or zz + xx < yy:
        what = f"inertias {xx:g}, {yy:g}, {zz:g} kg m2 belong to no body"
        add(what, "numbers > 0, none above the sum of the others", *about)
        return
    xz = values.get("inertia_xz_kg_m2", 0.0)
    if xz * xz >= xx * zz:
        what = f"inertia_xz_kg_m2 = {xz:g} belongs to no body"
        add(what, f"less than sqrt(xx zz) = {math.sqrt(xx * zz):.3g}", "inertia_xz_kg_m2", *about)


def _wings(values: dict[str, Any], add: _Add) -> None:
    if "aero_area_m2" not in values:
        return
    for name in ("aero_cm_elevator", "aero_cell_aileron", "aero_cn_rudder"):
        if values.get(name, 1.0) == 0 and values["autopilot"] != "multirotor":
            add(f"{name} = 0: the autopilot steers with this surface", "a number that is not 0", name)
    about = ("airspeed_min_m_s", "cruise_airspeed_m_s", "airspeed_max_m_s")
    low, cruise, high = (values[name] for name in about)
    if not low < cruise < high:
        told = ", ".join(f"{name} = {values[name]:g}" for name in about)
        add(told, "rising, the least first", *about)
    count = len(values["rotor_position_m"])
    for pair in values.get("wash_pairs", ()):
        rotor, surface = pair
        if rotor not in range(count):
            add(f"wash_pairs: rotor {rotor:g} of {pair!r}", f"0 to {count - 1}", "wash_pairs")
        if surface not in range(len(SURFACES)):
            surfaces = ", ".join(f"{i} {name}" for i, name in enumerate(SURFACES))
            add(f"wash_pairs: surface {surface:g} of {pair!r}", surfaces, "wash_pairs")
    widths = values.get("wash_inner_m"), values.get("wash_outer_m")
    if "wash_pairs" in values and None not in widths:
        inner, outer = (_each(width, len(values["wash_pairs"])) for width in widths)
        if any(a >= b for a, b in zip(inner, outer, strict=True)):
            add("wash_inner_m is not below wash_outer_m", "the near edge first", "wash_inner_m", "wash_outer_m")


def _tables(values: dict[str, Any], add: _Add) -> None:
    tables = tuple(name for name in values if name.startswith("aero_table_"))
    if not tables:
        return
    try:
        aero_tables(values)
    except KeyError as error:
        add(f"aero_table_…: {error.args[0]} is missing", "axes, and aero_area_m2, aero_span_m, aero_chord_m", *tables)
    except (ValueError, TypeError) as error:
        what, _, valid = str(error).partition("; valid: ")
        add(what, valid or "lists of numbers", *tables)


def _each(value: Any, count: int) -> list[float]:
    return value if isinstance(value, list) else [value] * count
