"""What `check` says of a flying vehicle: figures against closed forms, warnings where they are due, lines and JSON."""

from __future__ import annotations

import json
import math

import pytest
from click.testing import CliRunner

from fieldworthy.cli import main as cli_main
from fieldworthy.scenario import load
from fieldworthy.trials.sanity import flight_sanity


def test_figures_of_the_reference_quadrotor() -> None:
    """x500: hovers at 6,432 rpm by its document, of 1,000 rad/s at full throttle; 2 kg, square."""
    figures = flight_sanity(load("quad-hover")).figures
    hover_rad_s = 6432.0 * 2.0 * math.pi / 60.0
    # Thrust goes with the square of the speed, and the throttle of this vehicle with the speed.
    assert figures["hover_throttle"] == pytest.approx(hover_rad_s / 1000.0, rel=1e-4)
    assert figures["thrust_over_weight_sea_level"] == pytest.approx((1000.0 / hover_rad_s) ** 2, rel=1e-4)
    assert figures["arm_m"] == pytest.approx(0.174 * math.sqrt(2.0))
    assert figures["gyration_roll_m"] == pytest.approx(math.sqrt(0.0143 / 2.0))
    assert figures["battery_empty_v"] == pytest.approx(4 * 3.0)


def test_thin_air_costs_thrust() -> None:
    """Standard atmosphere (ICAO Doc 7488): density at 2,000 m is 1.0065 kg/m3, of 1.2250 at the sea."""
    low = flight_sanity(load("quad-hover")).figures
    high = flight_sanity(load("quad-hover", ["air.elevation_m=2000.0"])).figures
    share = 1.0065 / 1.2250
    assert high["thrust_over_weight_sea_level"] == low["thrust_over_weight_sea_level"]
    assert high["thrust_over_weight"] == pytest.approx(share * low["thrust_over_weight"], rel=1e-4)  # type: ignore[operator]
    assert high["hover_throttle"] == pytest.approx(low["hover_throttle"] / math.sqrt(share), rel=1e-4)  # type: ignore[operator]


def test_a_load_counts_as_weight() -> None:
    with_load = load("quad-slung-load")
    assert with_load.load is not None
    bare, heavy = flight_sanity(load("quad-hover")).figures, flight_sanity(with_load)
    share = 2.0 / (2.0 + with_load.load.mass_kg)
    ratio = bare["thrust_over_weight_sea_level"]
    assert ratio is not None
    assert heavy.figures["thrust_over_weight_sea_level"] == pytest.approx(share * ratio)
    assert heavy.lines[0].startswith("thrust over weight with load")


@pytest.mark.parametrize("name", ["quad-hover", "quad-slung-load", "plane-circuit", "vtol-transition"])
def test_vehicles_that_come_along_look_sound(name: str) -> None:
    sanity = flight_sanity(load(name))
    assert sanity.warnings == []
    assert sanity.lines


def test_a_boat_has_no_such_figures() -> None:
    sanity = flight_sanity(load("boat-buoy"))
    assert (sanity.figures, sanity.lines, sanity.warnings) == ({}, [], [])


def test_an_airplane_does_not_hover() -> None:
    figures = flight_sanity(load("plane-circuit")).figures
    assert figures["hover_throttle"] is None
    assert figures["arm_m"] is None


def test_a_pack_of_too_many_cells_is_told() -> None:
    """Six cells on motors for four."""
    sanity = flight_sanity(load("quad-hover", ["battery.model=lipo-6s-16000mah"]))
    assert len(sanity.warnings) == 1
    assert "24.6 V full" in sanity.warnings[0]
    assert "14.8 V" in sanity.warnings[0]
    assert flight_sanity(load("quad-hover", ["effects.battery=false"])).figures["battery_full_v"] is None


@pytest.mark.parametrize(("inertia", "odd"), [(0.0143, 0), (0.0047, 3), (0.19, 3)])
def test_an_inertia_that_does_not_suit_the_arms_is_told(inertia: float, odd: int) -> None:
    """0.2 and 1.2 of the 0.246 m arm are 0.00484 and 0.174 kg m2 at 2 kg."""
    settings = [f"vehicle.{name}={inertia}" for name in
                ("inertia_xx_kg_m2", "inertia_yy_kg_m2", "inertia_zz_kg_m2")]  # fmt: skip
    warnings = flight_sanity(load("quad-hover", settings)).warnings
    assert len(warnings) == odd
    assert all("inertia_" in warning for warning in warnings)


@pytest.mark.slow
def test_check_tells_them_in_lines_and_as_json() -> None:
    arguments = ["check", "quad-hover", "--set", "trials=4", "--set", "battery.model=lipo-6s-16000mah"]
    done = CliRunner().invoke(cli_main.cli, arguments)
    assert done.exit_code == 0, done.output
    assert "quad-hover: drawing 4 layouts" in done.stderr
    assert "  4 layouts drawn\n" in done.stdout
    assert "way to the goal" not in done.stdout
    assert "  hover throttle: 0.67" in done.stdout
    assert "  warning: battery and motors differ by more than 20 %" in done.stdout
    answer = json.loads(CliRunner().invoke(cli_main.cli, [*arguments, "--json"]).stdout)["scenarios"][0]
    assert answer["sound"]
    assert answer["figures"]["hover_throttle"] == pytest.approx(0.6736, abs=1e-3)
    assert len(answer["warnings"]) == 1
    wrong = CliRunner().invoke(cli_main.cli, ["check", "quad-hover", "--set", "trials=0", "--json"])
    assert wrong.exit_code == 2
    answer = json.loads(wrong.stdout)["scenarios"][0]
    assert not answer["sound"]
    assert "trials" in answer["errors"][0]
    boat = CliRunner().invoke(cli_main.cli, ["check", "boat-buoy", "--set", "trials=2"])
    assert "  2 layouts drawn, each with a way to the goal\n" in boat.stdout
