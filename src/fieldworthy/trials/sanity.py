"""Figures by which a person sees at a glance whether a flying vehicle was composed as meant, and what looks odd."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from fieldworthy.core.constants import SEA_LEVEL_DENSITY_KG_M3, STANDARD_GRAVITY_M_S2
from fieldworthy.environment.atmosphere import isa
from fieldworthy.scenario import Scenario
from fieldworthy.scenario.aircraft_sense import LIFTS, PUSHES
from fieldworthy.vehicles.aircraft import AircraftParameters, AircraftShape
from fieldworthy.vehicles.compose import EffectSwitches, Parts, compose
from fieldworthy.vehicles.motor import throttle_for_speed

VOLTAGE_SHARE = 0.2
"""How far the battery's voltage may be from the motors' nominal one before it looks odd."""
GYRATION = (0.2, 1.2)
"""Radius of gyration over arm length that frames with rotors at the ends of arms have; outside it looks odd."""

Figures = dict[str, float | None]


@dataclass
class Sanity:
    """The vehicle as its file and `[vehicle.set]` have it: nothing that a trial draws, motors at nominal voltage."""

    figures: Figures = field(default_factory=dict)
    """Plain numbers by name; None where a vehicle has none (the hover throttle of an airplane)."""
    lines: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def flight_sanity(scenario: Scenario) -> Sanity:
    """The figures of a scenario's vehicle; all empty for a boat.

    Verified by: tests/cases/test_flight_sanity.py
    """
    found = Sanity()
    if scenario.vehicle.kind != "aircraft":
        return found
    shape, p = _composed(scenario)
    _thrust(found, scenario, shape, p)
    _voltage(found, p)
    _gyration(found, scenario, p)
    return found


def _composed(scenario: Scenario) -> tuple[AircraftShape, AircraftParameters]:
    wanted = {name: getattr(scenario.effects, name) for name in scenario.effects.__struct_fields__}
    battery = dict(scenario.battery.values) if scenario.battery is not None else {}
    values: dict[str, Any] = dict(scenario.vehicle.values)
    return compose(values, EffectSwitches(**wanted, gear=True), Parts(battery), scenario.dt_s)


def _thrust(found: Sanity, scenario: Scenario, shape: AircraftShape, p: AircraftParameters) -> None:
    """Static thrust, of what lifts, or of what pushes where nothing lifts; and the throttle that hovers."""
    lifters = [i for i, rotor in enumerate(p.rotors) if rotor.axis_frd.z < -LIFTS]
    rotors = lifters or [i for i, rotor in enumerate(p.rotors) if rotor.axis_frd.x > PUSHES]
    load_kg = scenario.load.mass_kg if scenario.load is not None else 0.0
    weight = (float(p.mass_kg) + load_kg) * STANDARD_GRAVITY_M_S2
    air = scenario.air
    here = isa(air.elevation_m, air.temperature_offset_k, air.sea_level_pressure_pa)
    thin = float(here.density_kg_m3) / SEA_LEVEL_DENSITY_KG_M3
    shares = [-p.rotors[i].axis_frd.z if lifters else p.rotors[i].axis_frd.x for i in rotors]
    lift = sum(p.rotors[i].thrust_coefficient_n_s2 * share for i, share in zip(rotors, shares, strict=True))
    most = sum(
        p.rotors[i].thrust_coefficient_n_s2 * p.rotors[i].speed_max_rad_s ** 2 * share
        for i, share in zip(rotors, shares, strict=True)
    )
    hover = None
    if lifters:
        speed = math.sqrt(weight / (thin * lift))
        hover = max(float(throttle_for_speed(shape.motor, p.motors[i], p.rotors[i], speed)) for i in lifters)
    ratio, thinner = float(most / weight), float(thin * most / weight)
    found.figures |= {
        "thrust_over_weight_sea_level": ratio,
        "thrust_over_weight": thinner,
        "hover_throttle": hover,
    }
    what = "thrust" if lifters else "thrust at rest"
    whole = "weight with load" if load_kg else "weight"
    found.lines.append(
        f"{what} over {whole}: {ratio:.2f} at sea level in standard air, {thinner:.2f} in this scenario's air at "
        f"{air.elevation_m:g} m, at nominal voltage"
    )
    if hover is not None:
        found.lines.append(f"hover throttle: {hover:.2f} in this scenario's air, at nominal voltage")


def _voltage(found: Sanity, p: AircraftParameters) -> None:
    nominal = [float(motor.nominal_voltage_v) for motor in p.motors]
    found.figures |= {"battery_full_v": None, "battery_empty_v": None, "motor_nominal_voltage_v": None}
    if not nominal:
        return
    if p.battery is None:
        found.figures["motor_nominal_voltage_v"] = nominal[0]
        return
    cell = [float(volts) for volts in p.battery.open_circuit_v]
    cells = float(p.battery.cells)
    # A pack is empty for its vehicle where it gives up, and that is before its last charge has gone.
    full, empty = cells * cell[-1], cells * max(cell[0], float(p.battery.cut_off_v))
    # Of unequal motors the one that fits least.
    volts = max(nominal, key=lambda v: max(abs(full / v - 1.0), abs(empty / v - 1.0)))
    off = [full / volts - 1.0, empty / volts - 1.0]
    found.figures |= {"battery_full_v": full, "battery_empty_v": empty, "motor_nominal_voltage_v": volts}
    told = (
        f"{full:.1f} V full, {empty:.1f} V at its cut-off; nominal of the motors {volts:.1f} V "
        f"({100.0 * off[0]:+.0f} %, {100.0 * off[1]:+.0f} %)"
    )
    found.lines.append(f"battery: {told}")
    if max(map(abs, off)) > VOLTAGE_SHARE:
        found.warnings.append(
            f"battery and motors differ by more than {100.0 * VOLTAGE_SHARE:.0f} %: {told}; full speed and thrust "
            "follow the voltage; check 'battery' and 'motor_nominal_voltage_v'"
        )


def _gyration(found: Sanity, scenario: Scenario, p: AircraftParameters) -> None:
    """Radii of gyration against the longest arm of a rotor that lifts."""
    names = ("roll", "pitch", "yaw")
    values: dict[str, Any] = dict(scenario.vehicle.values)
    inertia = [float(values[f"inertia_{axis}_kg_m2"]) for axis in ("xx", "yy", "zz")]
    radii = [math.sqrt(moment / float(p.mass_kg)) for moment in inertia]
    arms = [math.hypot(r.pos_frd_m.x, r.pos_frd_m.y) for r in p.rotors if r.axis_frd.z < -LIFTS]
    arm = max(arms, default=0.0)
    found.figures |= {f"gyration_{name}_m": radius for name, radius in zip(names, radii, strict=True)}
    found.figures["arm_m"] = arm or None
    told = ", ".join(f"{radius:.3f} m in {name}" for name, radius in zip(names, radii, strict=True))
    if not arm:
        found.lines.append(f"radius of gyration: {told}")
        return
    shares = [radius / arm for radius in radii]
    found.lines.append(
        f"radius of gyration: {told}; over the arm of {arm:.3f} m: {', '.join(f'{share:.2f}' for share in shares)}"
    )
    for name, axis, share in zip(names, ("xx", "yy", "zz"), shares, strict=True):
        if not GYRATION[0] <= share <= GYRATION[1]:
            found.warnings.append(
                f"the radius of gyration in {name} is {share:.2f} of the arm of {arm:.3f} m; usual: {GYRATION[0]:g} to "
                f"{GYRATION[1]:g}; check 'inertia_{axis}_kg_m2', 'mass_kg' and 'rotor_position_m'"
            )
