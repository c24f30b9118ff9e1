"""A lithium battery as an equivalent circuit: voltage source, series resistance and one RC pair per cell.

The numbers are those of one cell of the series string; a cell may stand for several in parallel. Currents are those of
the string, positive on discharge; voltages without `cell` in the name are those of the whole pack.
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, maximum, minimum, select, sqrt
from fieldworthy.core.table import Knots, check_knots, interpolate, interpolate_2d, weights

CELSIUS_25_K = 298.15


@dataclass(frozen=True)
class BatteryOptions:
    """What the circuit contains; an effect that is off costs nothing."""

    soc_knots: Knots
    """States of charge of the tables' columns, rising, 0 empty to 1 full."""
    temperature_knots_k: Knots = ()
    """Temperatures of the resistance table's rows, rising; none: one row, and temperature does not matter."""
    transient: bool = True
    """The RC pair: voltage goes on falling for R1 C1 after a step of current, and recovers after it."""
    thermal: bool = False
    """The pack warms by its own losses; without it the temperature stays what it was at the start."""

    def __post_init__(self) -> None:
        check_knots(self.soc_knots, "soc_knots")
        if self.temperature_knots_k:
            check_knots(self.temperature_knots_k, "temperature_knots_k")


@dataclass
class BatteryParameters:
    """Numbers of one pack; every field may differ from lane to lane."""

    cells: Scalar
    """Cells in series."""
    capacity_c: Scalar
    """Charge of the new pack between full and empty [C]; 1 Ah = 3600 C."""
    open_circuit_v: tuple[Scalar, ...]
    """Rest voltage of a cell at `soc_knots`."""
    resistance_ohm: tuple[tuple[Scalar, ...], ...]
    """Series resistance of a cell, one row a temperature, one column a state of charge."""
    transient_resistance_ohm: Scalar
    """R1 of a cell."""
    transient_capacitance_f: Scalar
    """C1 of a cell."""
    cut_off_v: Scalar
    """Cell voltage under load at which the supply gives up."""
    low_v: Scalar
    """Cell voltage under load at which an autopilot warns."""
    heat_capacity_j_k: Scalar = 1.0
    """Of the whole pack; counts with `thermal` only."""
    cooling_w_k: Scalar = 0.0
    """Heat that the pack gives away per kelvin above the air."""
    ambient_k: Scalar = CELSIUS_25_K
    capacity_factor: Scalar = 1.0
    """Ageing: capacity over that of the new pack."""
    resistance_factor: Scalar = 1.0
    """Ageing: R0 and R1 over those of the new pack."""
    shorted_cells: Scalar = 0.0
    """Fault: cells that give no voltage and have no resistance."""
    weak_cell_factor: Scalar = 1.0
    """Fault: series resistance of one of the cells over that of the others."""


@dataclass
class BatteryState:
    """Charge, transient voltage of a cell, temperature, and what has been delivered since the start."""

    soc: Scalar
    rc_v: Scalar
    temperature_k: Scalar
    energy_j: Scalar


def first_battery(soc: Scalar = 1.0, temperature_k: Scalar = CELSIUS_25_K) -> BatteryState:
    """A pack at rest: no transient voltage, nothing delivered."""
    return BatteryState(soc, 0.0, temperature_k, 0.0)


def open_circuit_v(options: BatteryOptions, p: BatteryParameters, state: BatteryState) -> Scalar:
    """Voltage of the pack behind its series resistance: what it shows at the first instant without current [V].

    Equation: E = n (OCV(SoC) - V_1)      Source: Chen and Rincon-Mora (2006), one RC pair.
    Shapes: scalars.      Limits: cells alike but for those that are shorted; SoC outside the knots: the nearest one's.
    Verified by: tests/verification/test_battery.py
    """
    cell = interpolate(weights(options.soc_knots, state.soc), p.open_circuit_v)
    if options.transient:
        cell = cell - state.rc_v
    return cell * (p.cells - p.shorted_cells)


def series_resistance_ohm(options: BatteryOptions, p: BatteryParameters, state: BatteryState) -> Scalar:
    """Resistance of the pack to a sudden current [ohm].

    Equation: R = a R_0(T, SoC) (n - 1 + w), a the ageing factor, w the weak cell's factor
    Source: cells in series.
    Shapes: scalars.      Limits: outside the knots of charge and temperature the nearest one's.
    Verified by: tests/verification/test_battery.py::test_faults_and_ageing_scale_what_they_should
    """
    charge = weights(options.soc_knots, state.soc)
    if options.temperature_knots_k:
        cell = interpolate_2d(weights(options.temperature_knots_k, state.temperature_k), charge, p.resistance_ohm)
    else:
        cell = interpolate(charge, p.resistance_ohm[0])
    return cell * p.resistance_factor * (p.cells - p.shorted_cells - 1.0 + p.weak_cell_factor)


def terminal_v(options: BatteryOptions, p: BatteryParameters, state: BatteryState, current_a: Scalar) -> Scalar:
    """Voltage at the plug under a current [V].

    Equation: V = E - R I      Source: Chen and Rincon-Mora, IEEE Trans. Energy Conversion 21 (2006) 504, one RC pair
    Shapes: scalars.      Limits: negative currents charge without a limit on voltage.
    Verified by: tests/verification/test_battery.py
    """
    return open_circuit_v(options, p, state) - series_resistance_ohm(options, p, state) * current_a


def current_from_power(options: BatteryOptions, p: BatteryParameters, state: BatteryState, power_w: Scalar) -> Scalar:
    """Current at which the pack delivers a power, or the current of its largest power if more is asked [A].

    Equation: P = (E - R I) I, the smaller root, as I = 2 P / (E + sqrt(E^2 - 4 R P)): right also where R is 0.
        Above P_max = E^2 / 4 R (load resistance equals R) no current gives P: I = E / 2 R, and V I = P_max < P. The
        caller that hands the motors V = `terminal_v` then takes thrust from them, as the real pack does.
    Source: maximum power transfer (Jacobi 1840); the quadratic is Ohm's law.
    Limits: E > 0, the smaller root only (the larger one is a short circuit with a load in series).
    Verified by: tests/verification/test_battery.py
    """
    e = open_circuit_v(options, p, state)
    r4 = 4.0 * series_resistance_ohm(options, p, state)
    power = minimum(power_w, e * e / maximum(r4, 1e-9))
    # The floor keeps the slope of the root finite at P_max; it is 0.03 mV.
    return 2.0 * power / maximum(e + sqrt(maximum(e * e - r4 * power, 1e-9)), 1e-6)


def battery_rates(
    options: BatteryOptions, p: BatteryParameters, state: BatteryState, current_a: Scalar
) -> BatteryState:
    """Time derivatives of the state under a current.

    Equation: SoC' = -I / (f Q),  V_1' = I / C_1 - V_1 / (R_1 C_1),  E' = V I
        C_th T' = I^2 R + n V_1^2 / R_1 - h (T - T_air)
    Source: Chen and Rincon-Mora (2006), one RC pair; heat: Bernardi, Pawlikowski and Newman, J. Electrochem. Soc. 132
        (1985) 5, without the entropy term.
    Shapes: scalars.      Limits: one temperature for the pack, no self-discharge, coulombic efficiency 1; the ageing
        factors are numbers of the pack, they do not grow in flight.
    Verified by: tests/verification/test_battery.py
    """
    soc_dot = -current_a / (p.capacity_c * p.capacity_factor)
    r1 = p.transient_resistance_ohm * p.resistance_factor
    rc_dot: Scalar = 0.0
    if options.transient:
        rc_dot = (current_a - state.rc_v / r1) / p.transient_capacitance_f
    voltage = open_circuit_v(options, p, state)
    resistance = series_resistance_ohm(options, p, state)
    temperature_dot: Scalar = 0.0
    if options.thermal:
        heat = resistance * current_a * current_a
        if options.transient:
            heat = heat + (p.cells - p.shorted_cells) * state.rc_v * state.rc_v / r1
        temperature_dot = (heat - p.cooling_w_k * (state.temperature_k - p.ambient_k)) / p.heat_capacity_j_k
    return BatteryState(soc_dot, rc_dot, temperature_dot, (voltage - resistance * current_a) * current_a)


def is_low(p: BatteryParameters, voltage_v: Scalar) -> Scalar:
    """Mask: the mean cell voltage under load is below the warning level."""
    return voltage_v < p.low_v * p.cells


def is_cut_off(p: BatteryParameters, state: BatteryState, voltage_v: Scalar) -> Scalar:
    """Mask: the mean cell voltage under load is below cut-off, or nothing is left: the supply is gone."""
    empty: Scalar = select(state.soc <= 0.0, 0.0, 1.0)
    return voltage_v * empty < p.cut_off_v * p.cells
