"""What breaks in a flight: rotors, surfaces, cells, links, and a battery that gives up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fieldworthy.core.lanes import Scalar, logical_and, minimum, select
from fieldworthy.core.struct import where
from fieldworthy.vehicles.aircraft import Actuators, AircraftParameters, AircraftState
from fieldworthy.vehicles.battery import is_cut_off, is_low
from fieldworthy.vehicles.vehicle import Clock
from fieldworthy.world.flight_state import FlightParameters, FlightShape, FlightState


def supply_events(
    shape: FlightShape,
    craft: AircraftParameters,
    state: FlightState,
    motion: AircraftState,
    voltage: Scalar,
    clock: Clock,
) -> tuple[Scalar, Scalar]:
    """When the battery first warned, and whether it has given up."""
    if shape.aircraft.battery is None or craft.battery is None or motion.battery is None:
        return state.low_s, state.dead
    low_s = select(is_low(craft.battery, voltage), minimum(state.low_s, clock.t_s + 0.0 * voltage), state.low_s)
    gone = is_cut_off(craft.battery, motion.battery, voltage)
    return low_s, select(gone, 1.0 + 0.0 * voltage, state.dead)


def _active(p: FlightParameters, number: int, clock: Clock) -> Scalar:
    fault = p.faults[number]
    now_s = clock.t_s + 0.5 * clock.dt_s  # seconds in 32 bits must not be late by their last digit
    return logical_and(now_s >= fault.onset_s, now_s < fault.end_s)


def with_faults(shape: FlightShape, p: FlightParameters, clock: Clock) -> AircraftParameters:
    """The vehicle's numbers with lost rotors and failed cells of this moment."""
    craft = p.aircraft
    for number, fault in enumerate(shape.faults):
        size = select(_active(p, number, clock), p.faults[number].size, 0.0)
        if fault.kind == "rotor-loss":
            i = int(fault.part)
            lost = replace(craft.rotors[i], effectiveness=craft.rotors[i].effectiveness * (1.0 - size))
            craft = replace(craft, rotors=(*craft.rotors[:i], lost, *craft.rotors[i + 1 :]))
        elif fault.kind == "cell-failure" and craft.battery is not None:
            craft = replace(craft, battery=replace(craft.battery, shorted_cells=craft.battery.shorted_cells + size))
    return craft


def stuck(shape: FlightShape, p: FlightParameters, actuators: Actuators, clock: Clock) -> Actuators:
    """The actuators with the surfaces that do not obey."""
    for number, fault in enumerate(shape.faults):
        if fault.kind == "surface-stuck":
            asked = getattr(actuators, fault.part)
            actuators = replace(
                actuators, **{fault.part: select(_active(p, number, clock), p.faults[number].size, asked)}
            )
    return actuators


def through_link(shape: FlightShape, p: FlightParameters, state: FlightState, command: Any, clock: Clock) -> Any:
    """The command as it arrives over links that may delay it."""
    for number, fault in enumerate(shape.faults):
        if fault.kind == "link-delay" and fault.commands > 1:
            command = where(_active(p, number, clock), state.delayed[fault.commands - 1], command)
    return command
