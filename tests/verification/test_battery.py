"""The battery against closed forms of its circuit, conservation of energy, and the published cell it is scaled from."""

import dataclasses
import math
import tomllib
from importlib import resources

import numpy as np
import pytest
from drjit.llvm.ad import Float64

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.core.integrate import rk4
from fieldworthy.vehicles.battery import (
    BatteryOptions,
    BatteryParameters,
    BatteryState,
    battery_rates,
    current_from_power,
    first_battery,
    is_cut_off,
    is_low,
    open_circuit_v,
    series_resistance_ohm,
    terminal_v,
)

PACKS = sorted(
    item.name for item in (resources.files("fieldworthy.catalog") / "batteries").iterdir() if item.name.endswith("toml")
)
FLAT = BatteryOptions(soc_knots=(0.0, 1.0))
"""Constant voltage and resistance: every closed form of a first course on circuits holds."""


def flat(**changes):
    p = BatteryParameters(
        cells=4.0, capacity_c=18000.0, open_circuit_v=(3.8, 3.8), resistance_ohm=((0.005, 0.005),),
        transient_resistance_ohm=0.004, transient_capacitance_f=5000.0, cut_off_v=3.0, low_v=3.5,
    )  # fmt: skip
    return dataclasses.replace(p, **changes)


def pack(name):
    """Options and parameters of a catalogue file."""
    text = (resources.files("fieldworthy.catalog") / "batteries" / name).read_text()
    values = {key: item["value"] for key, item in tomllib.loads(text)["values"].items()}
    del values["mass_kg"]
    options = BatteryOptions(tuple(values.pop("soc_knots")), tuple(values.pop("temperature_knots_k", ())), thermal=True)
    rows = tuple(tuple(row) for row in values.pop("resistance_ohm"))
    return options, BatteryParameters(resistance_ohm=rows, **values)


def run(options, p, state, current_a, seconds, dt_s=0.5):
    for _ in range(round(seconds / dt_s)):
        state = rk4(lambda s: battery_rates(options, p, s, current_a), state, dt_s)
    return state


def test_a_step_of_current_answers_as_an_rc_circuit():
    p, current, seconds = flat(), 30.0, 25.0
    state = run(FLAT, p, first_battery(1.0), current, seconds)
    # R1 C1 = 20 s; source less both drops, four cells
    expected = 4.0 * (3.8 - 0.005 * current - 0.004 * current * (1.0 - math.exp(-seconds / 20.0)))
    assert terminal_v(FLAT, p, state, current) == pytest.approx(expected, rel=1e-8)
    recovered = run(FLAT, p, state, 0.0, 200.0)
    assert terminal_v(FLAT, p, recovered, 0.0) == pytest.approx(4.0 * 3.8, abs=1e-4), "ten time constants of rest"


def test_charge_is_counted():
    p = flat(capacity_factor=0.8)
    state = run(FLAT, p, first_battery(0.9), 10.0, 360.0)
    assert state.soc == pytest.approx(0.9 - 1.0 / 4.0, rel=1e-12), "1 Ah of a pack aged to 4 Ah"


def test_current_from_power_closes_the_loop():
    p, state = flat(), first_battery(0.5)
    for power in (-200.0, 0.0, 1e-6, 300.0, 2000.0):
        current = current_from_power(FLAT, p, state, power)
        assert terminal_v(FLAT, p, state, current) * current == pytest.approx(power, rel=1e-12, abs=1e-12)
    assert current_from_power(FLAT, p, state, 300.0) < 15.2 / (2.0 * 0.02), "the smaller of the two roots"


def test_more_than_the_pack_can_give_is_answered_by_its_largest_power():
    p, state = flat(), first_battery(0.5)
    # matched load: half the voltage, E^2 / 4 R with E = 15.2 V and R = 20 mohm
    for power in (2888.1, 5000.0, 1e9):
        current = current_from_power(FLAT, p, state, power)
        assert current == pytest.approx(380.0, rel=1e-5)
        assert terminal_v(FLAT, p, state, current) == pytest.approx(7.6, rel=1e-5)


def test_a_pack_without_resistance_or_voltage_gives_finite_currents():
    ideal = flat(resistance_ohm=((0.0, 0.0),))
    assert current_from_power(FLAT, ideal, first_battery(0.5), 152.0) == pytest.approx(10.0, rel=1e-9)
    dead = flat(shorted_cells=4.0)
    assert math.isfinite(current_from_power(FLAT, dead, first_battery(0.5), 100.0))


def test_energy_is_conserved():
    """Chemical energy Q OCV goes into the load, into heat, and half C V^2 into the capacitor."""
    options = dataclasses.replace(FLAT, thermal=True)
    p, current, seconds = flat(heat_capacity_j_k=450.0), 40.0, 60.0
    state = run(options, p, first_battery(1.0), current, seconds, 0.25)
    chemical = 4.0 * 3.8 * current * seconds
    stored = 4.0 * 0.5 * 5000.0 * state.rc_v**2
    heat = 450.0 * (state.temperature_k - 298.15)
    assert heat > 1000.0
    assert state.energy_j + stored + heat == pytest.approx(chemical, rel=1e-9)


def test_the_pack_cools_as_newton_says():
    options = dataclasses.replace(FLAT, thermal=True)
    p = flat(heat_capacity_j_k=450.0, cooling_w_k=0.5, ambient_k=280.0)
    state = run(options, p, first_battery(1.0, 320.0), 0.0, 900.0, 5.0)
    assert state.temperature_k == pytest.approx(280.0 + 40.0 * math.exp(-1.0), rel=1e-6), "450 / 0.5 = 900 s"


def test_faults_and_ageing_scale_what_they_should():
    state = first_battery(0.5)
    assert open_circuit_v(FLAT, flat(shorted_cells=1.0), state) == pytest.approx(3 * 3.8)
    assert series_resistance_ohm(FLAT, flat(shorted_cells=1.0), state) == pytest.approx(3 * 0.005)
    assert series_resistance_ohm(FLAT, flat(weak_cell_factor=5.0), state) == pytest.approx(8 * 0.005)
    assert series_resistance_ohm(FLAT, flat(resistance_factor=1.5), state) == pytest.approx(0.03)


def test_events():
    p = flat()
    assert not is_low(p, 14.1)
    assert is_low(p, 13.9)
    assert not is_cut_off(p, first_battery(0.5), 12.1)
    assert is_cut_off(p, first_battery(0.5), 11.9)
    assert is_cut_off(p, first_battery(0.0), 15.0), "nothing left"


@pytest.mark.parametrize("name", PACKS)
def test_catalogue_voltage_is_the_published_curve(name):
    """Knots on the published curve; between them no more than the curve's bend lets a chord leave it."""
    options, p = pack(name)
    worst = 0.0
    for soc in np.linspace(0.1, 1.0, 91):
        curve = -1.031 * math.exp(-35.0 * soc) + 3.685 + 0.2156 * soc - 0.1178 * soc**2 + 0.3201 * soc**3
        cell = open_circuit_v(options, p, first_battery(float(soc))) / p.cells
        worst = max(worst, abs(cell - curve))
    assert worst < 0.008


@pytest.mark.parametrize("name", PACKS)
def test_catalogue_packs_are_plausible(name):
    options, p = pack(name)
    voltages = [open_circuit_v(options, p, first_battery(soc)) for soc in options.soc_knots]
    assert voltages == sorted(voltages)
    cold, warm = first_battery(0.5, 263.15), first_battery(0.5, 298.15)
    assert series_resistance_ohm(options, p, cold) >= series_resistance_ohm(options, p, warm) > 0.0
    assert series_resistance_ohm(options, p, first_battery(0.0)) > 2.5 * series_resistance_ohm(options, p, warm)
    assert p.transient_resistance_ohm * p.transient_capacitance_f == pytest.approx(0.04669 * 703.6, rel=0.01)


def test_bad_knots_are_refused():
    with pytest.raises(ValueError, match="soc_knots"):
        BatteryOptions(soc_knots=(0.0, 0.5, 0.5))
    with pytest.raises(ValueError, match="temperature_knots_k"):
        BatteryOptions(soc_knots=(0.0, 1.0), temperature_knots_k=(300.0, 290.0))


def law(options, p):
    def of(x):
        state = BatteryState(0.5 + 0.6 * x[0], 0.1 * x[1], 290.0 + 40.0 * x[2], 0.0)
        power = 500.0 + 4000.0 * x[3]
        current = current_from_power(options, p, state, power)
        rates = battery_rates(options, p, state, current)
        return current, terminal_v(options, p, state, current), rates

    return of


def test_engines_agree():
    inputs = np.random.default_rng(5).uniform(-1.0, 1.0, size=(4, 128))
    of = law(*pack("lipo-4s-5000mah.toml"))
    floats = as_floats(of, inputs)
    assert np.isfinite(floats).all()
    assert as_lanes(of, inputs, Float64) == pytest.approx(floats, rel=1e-11, abs=1e-11)
    assert as_symbols(of, inputs) == pytest.approx(floats, rel=1e-11, abs=1e-11)


def test_the_slope_of_current_over_power_is_finite_everywhere():
    import drjit as dr

    options, p = pack("lipo-4s-5000mah.toml")
    power = Float64([0.0, 100.0, 5000.0, 1e5])
    dr.enable_grad(power)
    current = current_from_power(options, p, first_battery(0.5), power)
    dr.backward(current)
    slope = np.asarray(dr.grad(power))
    assert np.isfinite(slope).all()
    assert slope[0] == pytest.approx(1.0 / open_circuit_v(options, p, first_battery(0.5)), rel=1e-9)
