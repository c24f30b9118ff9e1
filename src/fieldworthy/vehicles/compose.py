"""From the values of a vehicle's catalogue file to its shape and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from fieldworthy.core.lanes import Scalar
from fieldworthy.core.vec import Mat3, Vec3
from fieldworthy.vehicles.aero_table import AeroTableOptions, AeroTables, aero_tables
from fieldworthy.vehicles.aerodynamics import AeroOptions, AeroParameters, aero_parameters
from fieldworthy.vehicles.aircraft import SURFACES, AircraftParameters, AircraftShape
from fieldworthy.vehicles.battery import BatteryOptions, BatteryParameters
from fieldworthy.vehicles.body_drag import BodyDragParameters
from fieldworthy.vehicles.contact import ContactPoint
from fieldworthy.vehicles.landing_gear import landing_gear
from fieldworthy.vehicles.motor import MotorOptions, MotorParameters
from fieldworthy.vehicles.propwash import PropwashParameters
from fieldworthy.vehicles.rotor import RotorOptions, RotorParameters
from fieldworthy.vehicles.tether import LoadParameters, TetherParameters

Values = Mapping[str, Any]
"""Values by their names in the catalogue file: numbers (or one lane array for all lanes), lists, words."""


@dataclass(frozen=True)
class EffectSwitches:
    """Which effects are wanted; one without numbers in the file changes nothing.

    No defaults: those of a scenario are `flight_schema.Effects`, and who composes by hand says what is wanted.
    """

    rotor_drag: bool
    flapping: bool
    inflow: bool
    ground_effect: bool
    ceiling_effect: bool
    wall_effect: bool
    gyroscopic: bool
    vibration: bool
    battery: bool
    battery_heat: bool
    propwash: bool
    gear: bool


@dataclass
class Parts:
    """What a vehicle carries beside what its own file says."""

    battery: Values = field(default_factory=dict)
    """Values of the battery's catalogue file; empty: none."""
    load: LoadParameters | None = None
    tether: TetherParameters | None = None
    roof_up_m: Scalar | None = None
    wall_north_m: Scalar | None = None


def field_names(kind: type, prefix: str, skipped: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Names in a catalogue file of the numbers of a parameter class."""
    return tuple(prefix + f.name for f in fields(kind) if f.name not in skipped)


ROTOR_VALUES = field_names(RotorParameters, "rotor_", ("pos_frd_m", "axis_frd", "spin", "effectiveness"))
MOTOR_VALUES = field_names(MotorParameters, "motor_")


def compose(
    values: Values, effects: EffectSwitches, parts: Parts, dt_s: float, nominal: Values | None = None
) -> tuple[AircraftShape, AircraftParameters]:
    """Shape and parameters of a vehicle.

    values: as a checked catalogue file has them (`scenario.aircraft_values`); single numbers may be lanes.
    dt_s: the physics step, which the landing gear's friction must suit.
    nominal: the same values as plain numbers, where some of `values` are lanes: the gear is laid out for these.
    """
    positions = values["rotor_position_m"]
    count = len(positions)
    rotors = tuple(_rotor(values, i, count) for i in range(count))
    motors = tuple(_filled(MotorParameters, "motor_", values, i, count) for i in range(count))
    areas = values["drag_area_m2"]
    same = not isinstance(areas, list | tuple)
    drag = BodyDragParameters(Vec3(areas, areas, areas) if same else Vec3(*areas))
    aero_options, aero = _aero(values)
    washes = tuple((int(rotor), SURFACES[int(surface)]) for rotor, surface in values.get("wash_pairs", ()))
    battery_options, battery = _battery(parts.battery, effects) if effects.battery and parts.battery else (None, None)
    gear = _gear(nominal or values, dt_s) if effects.gear else ()
    shape = AircraftShape(
        rotor=RotorOptions(
            drag=effects.rotor_drag and _has(values, "rotor_drag_coefficient_n_s2_m"),
            flapping=effects.flapping and _has(values, "rotor_flapping_gain"),
            inflow=effects.inflow and _has(values, "rotor_inflow_coefficient_n_s2_m"),
            ground_effect=effects.ground_effect,
            ceiling_effect=effects.ceiling_effect,
            wall_effect=effects.wall_effect,
            gyroscopic=effects.gyroscopic and _has(values, "rotor_axial_inertia_kg_m2"),
            vibration=effects.vibration
            and (_has(values, "rotor_imbalance_kg_m") or _has(values, "rotor_blade_pass_ratio")),
        ),
        motor=MotorOptions(values.get("motor_curve", "speed"), voltage=battery is not None),
        same_drag_all_round=same,
        aero=aero_options,
        washes=washes if effects.propwash else (),
        battery=battery_options,
        load=parts.load is not None,
        tether=parts.tether is not None,
        gear=bool(gear),
    )
    p = AircraftParameters(
        mass_kg=values["mass_kg"],
        inertia_kg_m2=_inertia(values),
        rotors=rotors,
        motors=motors,
        drag=drag,
        aero=aero,
        washes=tuple(_filled(PropwashParameters, "wash_", values, i, len(washes)) for i in range(len(washes)))
        if effects.propwash
        else (),
        surface_max_rad=Vec3(
            *(values.get(f"surface_{name}_max_rad", values.get("surface_max_rad", 0.0)) for name in SURFACES)
        ),
        surface_lag_s=values.get("surface_lag_s", 0.05),
        battery=battery,
        avionics_power_w=values.get("avionics_power_w", 0.0),
        gear=gear,
        load=parts.load,
        tether=parts.tether,
    )
    if parts.roof_up_m is not None:
        p.roof_up_m = parts.roof_up_m
    if parts.wall_north_m is not None:
        p.wall_north_m = parts.wall_north_m
    return shape, p


def _has(values: Values, name: str) -> bool:
    """Whether the file gives a number that is not plainly nothing."""
    value = values.get(name, 0.0)
    if isinstance(value, list | tuple):
        return any(_is_something(item) for item in value)
    return _is_something(value)


def _is_something(value: Any) -> bool:
    return not (isinstance(value, int | float) and value == 0.0)


def _rotor(values: Values, i: int, count: int) -> RotorParameters:
    axes = values.get("rotor_axis")
    rotor: RotorParameters = _filled(
        RotorParameters, "rotor_", values, i, count,
        pos_frd_m=Vec3(*map(float, values["rotor_position_m"][i])),
        axis_frd=Vec3(*map(float, axes[i])) if axes is not None else Vec3(0.0, 0.0, -1.0),
        spin=float(values["rotor_spin"][i]),
    )  # fmt: skip
    return rotor


def _filled(kind: Any, prefix: str, values: Values, i: int, count: int, **given: Any) -> Any:
    """A parameter class from values named with the prefix; a list has one entry for each of `count`."""
    found = dict(given)
    for f in fields(kind):
        name = prefix + f.name
        if f.name not in found and name in values:
            value = values[name]
            found[f.name] = value[i] if isinstance(value, list | tuple) and len(value) == count else value
    missing = [
        prefix + f.name
        for f in fields(kind)
        if f.name not in found and f.default is MISSING and f.default_factory is MISSING
    ]
    if missing:
        raise KeyError(f"values missing: {', '.join(missing)}")
    return kind(**found)


def _inertia(values: Values) -> Vec3 | Mat3:
    xx, yy, zz = (values[f"inertia_{axis}_kg_m2"] for axis in ("xx", "yy", "zz"))
    if not _has(values, "inertia_xz_kg_m2"):
        return Vec3(xx, yy, zz)
    xz = -values["inertia_xz_kg_m2"]
    return Mat3(xx, 0.0, xz, 0.0, yy, 0.0, xz, 0.0, zz)


def _aero(values: Values) -> tuple[AeroOptions | AeroTableOptions | None, AeroParameters | AeroTables | None]:
    if "aero_table_alpha_deg" in values:
        return aero_tables(values)
    if "aero_area_m2" in values:
        return AeroOptions(), aero_parameters(values)
    return None, None


def _battery(values: Values, effects: EffectSwitches) -> tuple[BatteryOptions, BatteryParameters]:
    given = {f.name: values[f.name] for f in fields(BatteryParameters) if f.name in values}
    given["open_circuit_v"] = tuple(values["open_circuit_v"])
    given["resistance_ohm"] = tuple(tuple(row) for row in values["resistance_ohm"])
    options = BatteryOptions(
        soc_knots=tuple(values["soc_knots"]),
        temperature_knots_k=tuple(values.get("temperature_knots_k", BatteryOptions.temperature_knots_k)),
        thermal=effects.battery_heat,
    )
    return options, BatteryParameters(**given)


def _gear(values: Values, dt_s: float) -> tuple[ContactPoint, ...]:
    feet = values.get("gear_position_m")
    if not feet:
        return ()
    numbers = {
        name: float(values[f"gear_{name}"])
        for name in ("deflection_m", "damping_ratio", "friction")
        if f"gear_{name}" in values
    }
    return landing_gear(
        tuple(Vec3(*map(float, foot)) for foot in feet),
        float(values["mass_kg"]),
        Vec3(*(float(values[f"inertia_{axis}_kg_m2"]) for axis in ("xx", "yy", "zz"))),
        dt_s,
        **numbers,
    )
