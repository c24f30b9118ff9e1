"""Scenarios and catalogue files of what flies: one wrong thing, one exact complaint; overrides; files written back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scenario_texts import BOAT, loads, only_problem, problems_of

from fieldworthy.catalog import load_entry
from fieldworthy.core.errors import ScenarioError
from fieldworthy.scenario import Scenario, load, to_toml
from fieldworthy.scenario.build import build
from fieldworthy.scenario.load import built_in_names

HEAD = 'schema = 1\nname = "x"\nvehicle.model = "x500"\n'
GOAL = "[goal]\nnorth_m = 30.0\neast_m = 0.0\nup_m = 5.0\n"
PLANE = HEAD.replace("x500", "aerosonde")
IN_THE_AIR = "[start]\nup_m = 100.0\nspeed_m_s = 25.0\n"


def catalogue_text(name: str = "x500", **changes: Any) -> str:
    """A catalogue file with some values replaced; None takes one out."""
    values = {**load_entry("aircraft", name).values, **changes}
    lines = [
        f'{key} = {{ value = {_toml(value)}, source = "test" }}' for key, value in values.items() if value is not None
    ]
    return "\n".join(['kind = "aircraft"', 'title = "for tests"', "[values]", *lines, ""])


def _toml(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


@pytest.fixture(name="folder")
def folder_of_flights(tmp_path: Path) -> Path:
    return tmp_path


# Catalogue files -----------------------------------------------------------------------------------------------------

DOWN = [0.0, 0.0, -1.0]
BAD_VEHICLES: dict[str, tuple[dict[str, Any], str, str]] = {
    # name: (changes, what, valid)
    "autopilot": ({"autopilot": "multirotr"}, "autopilot = 'multirotr'; did you mean 'multirotor'?",
                  "multirotor, fixed-wing, vtol"),
    "no mass": ({"mass_kg": None}, "aircraft 'bad' lacks mass_kg", "mass_kg = { value = ..., source"),
    "no thrust, no autopilot": ({"rotor_thrust_coefficient_n_s2": None, "autopilot": None},
                                "lacks autopilot, rotor_thrust_coefficient_n_s2", "autopilot = {"),
    "unknown value": ({"rotor_radius_mm": 127.0}, "unknown value 'rotor_radius_mm'; did you mean 'rotor_radius_m'?",
                      "docs/vehicles.md"),
    "spin": ({"rotor_spin": [1, 1, -1, 0.5]}, "rotor_spin = [1, 1, -1, 0.5]", "a list of 4, each 1 or -1"),
    "spins too few": ({"rotor_spin": [1, 1, -1]}, "rotor_spin = [1, 1, -1]", "a list of 4 numbers"),
    "axis": ({"rotor_axis": [DOWN, DOWN, [0.0, 0.0, -2.0], DOWN]}, "rotor_axis of rotor 2 has the length 2",
             "unit vectors"),
    "axes too few": ({"rotor_axis": [DOWN, DOWN]}, "rotor_axis and rotor_position_m differ in length", "4 axes"),
    "flat points": ({"rotor_position_m": [[0.1, 0.1], [0.2, 0.2]]}, "rotor_position_m = [[0.1, 0.1], [0.2, 0.2]]",
                    "a list of lists of 3 numbers"),
    "inertia": ({"inertia_zz_kg_m2": 0.1}, "inertias 0.0143, 0.0143, 0.1 kg m2 belong to no body",
                "none above the sum of the others"),
    "product of inertia": ({"inertia_xz_kg_m2": 0.05}, "inertia_xz_kg_m2 = 0.05 belongs to no body",
                           "less than sqrt(xx zz) = 0.0193"),
    "mass": ({"mass_kg": -2.0}, "mass_kg = -2", "a number > 0"),
    "text": ({"mass_kg": "heavy"}, "mass_kg = 'heavy' is not a number", "a finite number"),
    "number for a word": ({"imu": 42.0}, "imu = 42.0 is not a name", "a text"),
    "unknown imu": ({"imu": "icm-42688p"}, "imu = 'icm-42688p': none of this name; did you mean 'icm-42688-p'?",
                    "bmi088"),
    "unknown battery": ({"battery": "lipo-9s"}, "battery = 'lipo-9s': none of this name", "lipo-4s-5000mah"),
    "motor curve": ({"motor_curve": "thrust-liner"}, "motor_curve = 'thrust-liner'; did you mean 'thrust-linear'?",
                    "speed, thrust-linear, polynomial, dc-motor"),
    "no wings": ({"autopilot": "fixed-wing"}, "lacks cruise_airspeed_m_s, airspeed_min_m_s", "cruise_airspeed_m_s = {"),
    "outline": ({"outline_m": [[1.0, 0.0], [0.0, 1.0]]}, "outline_m is no outline", "3 or more [forward, right]"),
    "drag areas": ({"drag_area_m2": [0.1, 0.2]}, "drag_area_m2 = [0.1, 0.2]", "[forward, right, down]"),
    "speeds of rotors": ({"rotor_speed_min_rad_s": 1200.0}, "rotor_speed_min_rad_s = 1200 is not below",
                         "less than rotor_speed_max_rad_s"),
    "nothing lifts": ({"rotor_axis": [[1.0, 0.0, 0.0]] * 4}, "autopilot = 'multirotor', but no rotor lifts",
                      "rotor_axis = [0, 0, -1]"),
    "no thrust": ({"rotor_thrust_coefficient_n_s2": 0.0}, "rotor_thrust_coefficient_n_s2 = 0", "a number > 0"),
    "no efficiency": ({"motor_efficiency": 0.0}, "motor_efficiency = 0", "a number > 0"),
    "gear of a rotor": ({"gear_position_m": [[0.1, 0.1]]}, "gear_position_m = [[0.1, 0.1]]", "lists of 3 numbers"),
    "gear without spring": ({"gear_deflection_m": 0.0}, "gear_deflection_m = 0", "a number > 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_VEHICLES)
def test_a_bad_vehicle_is_refused_in_a_sentence(folder: Path, name: str) -> None:
    changes, what, valid = BAD_VEHICLES[name]
    (folder / "bad.toml").write_text(catalogue_text(**changes))
    problem = only_problem(folder, HEAD.replace("x500", "bad.toml") + GOAL)
    assert "case.toml:3 [vehicle]" in problem.where
    assert what in problem.what, str(problem)
    assert valid in problem.valid, str(problem)


BAD_PLANES: dict[str, tuple[dict[str, Any], str, str]] = {
    "wash of no rotor": ({"wash_pairs": [[3, 1], [0, 2]]}, "wash_pairs: rotor 3 of [3, 1]", "0 to 0"),
    "wash of no surface": ({"wash_pairs": [[0, 1], [0, 3]]}, "wash_pairs: surface 3 of [0, 3]",
                           "0 aileron, 1 elevator, 2 rudder"),
    "table": ({"aero_table_alpha_deg": [-180, 0, 180], "aero_table_beta_deg": [-90, 90],
               "aero_table_cl": [[0, 0], [1, 1]]},
              "aero_table_cl: 2 entries where the axis has 3", "a list of 3"),
    "table without an axis": ({"aero_table_alpha_deg": [-180, 0, 180]}, "aero_table_beta_deg is missing", "axes"),
    "propeller's wash": ({"wash_inner_m": 0.5}, "wash_inner_m is not below wash_outer_m", "the near edge first"),
    "speeds": ({"airspeed_min_m_s": 30.0}, "airspeed_min_m_s = 30, cruise_airspeed_m_s = 25, airspeed_max_m_s = 35",
               "rising"),
    "nothing pushes": ({"rotor_axis": [[0.0, 0.0, -1.0]]}, "no rotor pushes forward", "rotor_axis = [1, 0, 0]"),
    "coefficient missing": ({"aero_cm_alpha": None}, "lacks aero_cm_alpha", "aero_cm_alpha = {"),
    "elevator without effect": ({"aero_cm_elevator": 0.0}, "aero_cm_elevator = 0", "not 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_PLANES)
def test_a_bad_airplane_is_refused_in_a_sentence(folder: Path, name: str) -> None:
    changes, what, valid = BAD_PLANES[name]
    (folder / "bad.toml").write_text(catalogue_text("aerosonde", **changes))
    problem = only_problem(folder, PLANE.replace("aerosonde", "bad.toml") + IN_THE_AIR + GOAL)
    assert "case.toml:3 [vehicle]" in problem.where
    assert what in problem.what, str(problem)
    assert valid in problem.valid, str(problem)


def test_all_that_is_wrong_with_a_vehicle_is_said_at_once(folder: Path) -> None:
    (folder / "bad.toml").write_text(catalogue_text(autopilot="bird", mass_kg=-1.0, imu="none"))
    found = problems_of(folder, HEAD.replace("x500", "bad.toml") + GOAL)
    assert [problem.what.split(" = ")[0] for problem in found] == [
        "aircraft 'bad': autopilot", "aircraft 'bad': imu", "aircraft 'bad': mass_kg"
    ]  # fmt: skip


def test_an_estimate_without_sensors_is_refused(folder: Path) -> None:
    (folder / "blind.toml").write_text(catalogue_text(gnss=None, magnetometer=None))
    text = HEAD.replace("x500", "blind.toml") + GOAL
    problem = only_problem(folder, text)
    assert problem.what == "the autopilot's estimate needs gnss, magnetometer, which this vehicle has not"
    assert 'navigation = "truth"' in problem.valid
    loads(folder, text + '[control]\nnavigation = "truth"\n')
    loads(folder, text + '[sensors.gnss]\nmodel = "neo-m8n"\n[sensors.magnetometer]\nmodel = "rm3100"\n')


# Scenarios -----------------------------------------------------------------------------------------------------------

FAULT = "[[faults]]\n"
BAD: dict[str, tuple[str, str, str, str]] = {
    # name: (text after the head, where, what, valid)
    "no height": (GOAL.replace("up_m = 5.0\n", ""), "case.toml:4 [goal]", "missing 'up_m', the height of the target",
                  "up_m = metres above the ground"),
    "no height of a waypoint": (GOAL + "[[waypoints]]\nnorth_m = 1\neast_m = 1\n", "case.toml:8 [waypoints.0]",
                                "missing 'up_m'", "up_m = metres"),
    "on wings": (GOAL + 'way = "wing"\n', "case.toml:8 [goal]",
                 "way = 'wing', but this vehicle's autopilot is 'multirotor'",
                 "hover"),
    "no way": (GOAL + 'way = "swim"\n', "case.toml:8 [goal]", "'swim'", "'hover' or 'wing'"),
    "goal in the ground": (GOAL.replace("5.0", "-9.0"), "case.toml:7 [goal]", "up_m = -9 with radius_m = 5",
                           "above the ground"),
    "goal above the ceiling": (GOAL + "[area]\nnorth_m = [-50, 50]\neast_m = [-50, 50]\nceiling_m = 4\n",
                               "case.toml:7 [goal]", "up_m = 5 is above ceiling_m = 4", "at most 4"),
    "start in the ground": ("[start]\nup_m = 0.1\n" + GOAL, "case.toml:5 [start]",
                            "up_m = 0.1 is lower than the vehicle's reach_down_m = 0.24", "no up_m"),
    "start above the ceiling": ("[start]\nup_m = 60\n" + GOAL + "[area]\nnorth_m = [-50, 50]\neast_m = [-50, 50]\n"
                                "ceiling_m = 50\n", "case.toml:5 [start]", "up_m = 60 is above ceiling_m = 50",
                                "at most 50"),
    "motors and dt": (GOAL + "[vehicle.set]\nrotor_lag_up_s = 0.0005\n", "case.toml",
                      "dt_s = 0.002 is too long for motors",
                      "dt_s <= 0.00125"),
    "gear and dt": (GOAL + "[vehicle.set]\ngear_deflection_m = 0.00001\n", "case.toml",
                    "dt_s = 0.002 is too long for the landing gear", "a larger gear_deflection_m"),
    "device and dt": (GOAL + "[sensors.gnss.set]\nrate_hz = 7.0\n", "case.toml:9 [sensors.gnss.set]",
                      "rate_hz: 7 Hz does not divide", "or"),
    "control and dt": (GOAL + "[control]\nrate_hz = 70.0\n", "case.toml:9 [control]", "rate_hz: 70 Hz does not divide",
                       "or"),
    "imu value": (GOAL + "[sensors.imu.set]\ngyro_noise_deg_s = 0.1\n", "case.toml:9 [sensors.imu.set]",
                  "unknown key 'gyro_noise_deg_s'", "gyro_noise_density_deg_s_rthz"),
    "imu model": (GOAL + '[sensors.imu]\nmodel = "mpu6000"\n', "case.toml:9 [sensors.imu]",
                  "no imu named 'mpu6000'; did you mean 'mpu-6000'?", "vn-100"),
    "negative noise": (GOAL + "[sensors.gnss.set]\nhorizontal_sigma_m = -1.0\n", "case.toml:9 [sensors.gnss.set]",
                       "horizontal_sigma_m = -1", ">= 0"),
    "rotor fault": (GOAL + FAULT + 'kind = "rotor-loss"\npart = 4\n', "case.toml:10 [faults.0]",
                    "part = '4' is no rotor",
                    "a number from 0 to 3"),
    "half a rotor too much": (GOAL + FAULT + 'kind = "rotor-loss"\npart = 0\nsize = 1.5\n', "case.toml:11 [faults.0]",
                              "size = 1.5 is no share of the thrust", "at most 1"),
    "surface fault": (GOAL + FAULT + 'kind = "surface-stuck"\npart = "rudder"\n', "case.toml:9 [faults.0]",
                      "surface-stuck: this vehicle has no surfaces", "another kind"),
    "fault of no device": (GOAL + FAULT + 'kind = "sensor-bias"\npart = "airspeed"\n', "case.toml:10 [faults.0]",
                           "part = 'airspeed' is no device of this vehicle", "imu, gnss, barometer, magnetometer"),
    "fault of a misspelt device": (GOAL + FAULT + 'kind = "sensor-bias"\npart = "barometr"\n',
                                   "case.toml:10 [faults.0]",
                                   "did you mean 'barometer'?", "imu, gnss"),
    "loss that nobody notices": (GOAL + FAULT + 'kind = "sensor-loss"\npart = "barometer"\n', "case.toml:10 [faults.0]",
                                 "barometer does not say when it has nothing to say", "gnss, rangefinder, optical_"),
    "fault kind": (GOAL + FAULT + 'kind = "rotor-los"\npart = 0\n', "case.toml:9 [faults.0]",
                   "did you mean 'rotor-loss'?",
                   "'cell-failure'"),
    "cells without battery": (GOAL + FAULT + 'kind = "cell-failure"\n[effects]\nbattery = false\n',
                              "case.toml:9 [faults.0]", "cell-failure: there is no battery", "effects.battery = true"),
    "more cells than there are": (GOAL + FAULT + 'kind = "cell-failure"\nsize = 4\n', "case.toml:10 [faults.0]",
                                  "size = 4 of 4 cells", "less than 4"),
    "link without delay": (GOAL + FAULT + 'kind = "link-delay"\nsize = 0\n', "case.toml:10 [faults.0]",
                           "size = 0 s is no delay", "seconds > 0"),
    "fault over before it begins": (GOAL + FAULT + 'kind = "rotor-loss"\npart = 1\nat_s = 5.0\nuntil_s = 3.0\n',
                                    "case.toml:12 [faults.0]", "until_s = 3 is not after at_s = 5", "until_s > at_s"),
    "probability": (GOAL + FAULT + 'kind = "rotor-loss"\npart = 1\nprobability = 2\n', "case.toml:11 [faults.0]",
                    "probability = 2 is too large", "<= 1"),
    "sea of what flies": (GOAL + "[sea]\nwind_speed_m_s = 3\n", "case.toml:8",
                          "[sea] is for boats, and this vehicle is what flies",
                          "no such table"),
    "wind in km/h": (GOAL + "[air]\nwind_speed_kmh = 3\n", "case.toml:9 [air]", "'wind_speed_m_s' or 'wind_speed_kt'",
                     "wind_speed_kt"),
    "turbulence": (GOAL + '[air.turbulence]\nmodel = "drydn"\n', "case.toml:9 [air.turbulence]",
                   "did you mean 'dryden'?",
                   "'von-karman'"),
    "gust": (GOAL + "[[air.gusts]]\nstart_s = 1\nnorth_ms = 3\n", "case.toml:10 [air.gusts.0]", "'north_m_s'",
             "rise_s"),
    "effect": (GOAL + "[effects]\nflaping = true\n", "case.toml:9 [effects]", "did you mean 'flapping'?", "propwash"),
    "load": (GOAL + "[load]\nmass_kg = 0\ncable_length_m = 1\n", "case.toml:9 [load]", "mass_kg = 0", "> 0"),
    "load and dt": (GOAL + "[load]\nmass_kg = 0.001\ncable_length_m = 1\nstiffness_n_m = 5000.0\n",
                    "case.toml:11 [load]",
                    "dt_s = 0.002 is too long for this load on its cable", "a heavier load, a softer cable"),
    "randomize a list": (GOAL + '[randomize]\n"vehicle.rotor_position_m" = [1, 2]\n', "case.toml:9 [randomize]",
                         "unknown key 'vehicle.rotor_position_m'", "vehicle.mass_kg"),
    "randomize a misspelt path": (GOAL + '[randomize]\n"vehicle.mas_kg" = [1, 2]\n', "case.toml:9 [randomize]",
                                  "did you mean 'vehicle.mass_kg'?", "docs/scenario-file.md"),
    "randomize a sea": (GOAL + '[randomize]\n"sea.wind_speed_m_s" = [1, 2]\n', "case.toml:9 [randomize]",
                        "unknown key 'sea.wind_speed_m_s'", "air.wind_speed_m_s"),
    "randomize a rate": (GOAL + '[randomize]\n"sensors.gnss.rate_hz" = [1, 2]\n', "case.toml:9 [randomize]",
                         "unknown key 'sensors.gnss.rate_hz'", "sensors.gnss"),
    "randomize below a limit": (GOAL + '[randomize]\n"sensors.gnss.horizontal_sigma_m" = [-1, 2]\n',
                                "case.toml:9 [randomize]", "-1 is too small for 'sensors.gnss.horizontal_sigma_m'",
                                ">= 0"),
    "randomize mass to nothing": (GOAL + '[randomize]\n"vehicle.mass_kg" = [0, 2]\n', "case.toml:9 [randomize]",
                                  "0 is too small for 'vehicle.mass_kg'", "> 0"),
    "charge": ("[start]\ncharge = 80\n" + GOAL, "case.toml:5 [start]", "charge = 80 is too large", "<= 1"),
    "navigation": (GOAL + '[control]\nnavigation = "gps"\n', "case.toml:9 [control]", "'gps'", "'estimate' or 'truth'"),
    "vehicle value": (GOAL + "[vehicle.set]\nmas_kg = 3\n", "case.toml:9 [vehicle.set]", "did you mean 'mass_kg'?",
                      "mass_kg"),
    "word of the vehicle": (GOAL + '[vehicle.set]\nautopilot = "bird"\n', "case.toml:9 [vehicle.set]",
                            "autopilot = 'bird'",
                            "multirotor, fixed-wing, vtol"),
    "wings set": (IN_THE_AIR + GOAL + '[vehicle.set]\nautopilot = "fixed-wing"\n', "case.toml:12 [vehicle.set]",
                  "autopilot = 'fixed-wing', but this vehicle has no cruise_airspeed_m_s", "another model"),
    "inertia drawn": (GOAL + '[randomize]\n"vehicle.inertia_zz_kg_m2" = [0.02, 0.2]\n', "case.toml:9 [randomize]",
                      "inertias 0.0143, 0.0143, 0.2 kg m2 belong to no body", "none above the sum"),
    "lag drawn": (GOAL + '[randomize]\n"vehicle.rotor_lag_up_s" = [0.0005, 0.03]\n', "case.toml:9 [randomize]",
                  "dt_s = 0.002 is too long for motors", "dt_s <= 0.00125"),
    "inertia set": (GOAL + "[vehicle.set]\ninertia_zz_kg_m2 = 0.2\n", "case.toml:9 [vehicle.set]",
                    "belong to no body", "none above the sum"),
    "list of the wrong length": (GOAL + "[vehicle.set]\nrotor_lag_up_s = [0.03, 0.03]\n", "case.toml:9 [vehicle.set]",
                                 "rotor_lag_up_s = [0.03, 0.03] has another form", "a list of 4 numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_flight_is_refused_with_its_place(folder: Path, name: str) -> None:
    text, where, what, valid = BAD[name]
    problem = only_problem(folder, HEAD + text)
    assert problem.where.endswith(where) or f"{where} " in problem.where, str(problem)
    assert what in problem.what, str(problem)
    assert valid in problem.valid, str(problem)
    assert "\n" not in str(problem)


BAD_FLIGHTS_OF_PLANES: dict[str, tuple[str, str, str, str]] = {
    "on the ground": (GOAL, "case.toml", "missing 'up_m': a fixed wing starts in the air here",
                      "a height, and speed_m_s"),
    "too slow": ("[start]\nup_m = 100\nspeed_m_s = 9\n" + GOAL, "case.toml:6 [start]",
                 "speed_m_s = 9 is below the vehicle's airspeed_min_m_s = 17: it would fall", "at least 17"),
    "hovering": (IN_THE_AIR + GOAL + 'way = "hover"\n', "case.toml:11 [goal]",
                 "way = 'hover', but this vehicle's autopilot is 'fixed-wing'", "wing"),
    "staying": (IN_THE_AIR + GOAL + "hold_s = 3\n", "case.toml:11 [goal]", "a fixed wing cannot stay at a place",
                "no hold_s"),
    "misspelt surface": (IN_THE_AIR + GOAL + FAULT + 'kind = "surface-stuck"\npart = "elevatr"\n',
                         "case.toml:13 [faults.0]", "did you mean 'elevator'?", "aileron, elevator, rudder"),
    "deflection": (IN_THE_AIR + GOAL + FAULT + 'kind = "surface-stuck"\npart = "rudder"\nsize = 3.0\n',
                   "case.toml:14 [faults.0]", "size = 3 is no share of full deflection", "-1 to 1"),
    "surfaces and dt": (IN_THE_AIR + GOAL + "[vehicle.set]\nsurface_lag_s = 0.0005\n", "case.toml",
                        "too long for motors or surfaces", "dt_s <= 0.00125"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_FLIGHTS_OF_PLANES)
def test_a_bad_flight_of_an_airplane_is_refused(folder: Path, name: str) -> None:
    text, where, what, valid = BAD_FLIGHTS_OF_PLANES[name]
    problem = only_problem(folder, PLANE + text)
    assert problem.where.endswith(where) or f"{where} " in problem.where, str(problem)
    assert what in problem.what, str(problem)
    assert valid in problem.valid, str(problem)


BOAT_HEAD = 'schema = 1\nname = "x"\nvehicle.model = "boat.toml"\n'
BOAT_GOAL = "[goal]\nnorth_m = 100.0\neast_m = 0.0\n"
OF_WHAT_FLIES = {
    "air": (BOAT_GOAL + "[air]\nwind_speed_m_s = 3.0\n", "case.toml:7",
            "[air] is for what flies, and this vehicle is a boat"),
    "effects": (BOAT_GOAL + "[effects]\nflapping = true\n", "case.toml:7", "[effects] is for what flies"),
    "battery": (BOAT_GOAL + '[battery]\nmodel = "lipo-4s-5000mah"\n', "case.toml:7", "[battery] is for what flies"),
    "faults": (BOAT_GOAL + '[[faults]]\nkind = "rotor-loss"\n', "case.toml:7", "[faults] is for what flies"),
    "imu": (BOAT_GOAL + '[sensors.imu]\nmodel = "bmi088"\n', "case.toml:7 [sensors", "[sensors.imu] is for what flies"),
    "height": (BOAT_GOAL + "up_m = 3.0\n", "case.toml:7 [goal]", "up_m of a target is for what flies"),
    "start": ("[start]\nup_m = 3.0\n" + BOAT_GOAL, "case.toml:5 [start]", "up_m is for what flies"),
    "navigation": (BOAT_GOAL + '[control]\nnavigation = "truth"\n', "case.toml:8 [control]",
                   "navigation is for what flies"),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_WHAT_FLIES)
def test_tables_of_what_flies_are_refused_in_a_boat_s_scenario(folder: Path, name: str) -> None:
    (folder / "boat.toml").write_text(BOAT)
    text, where, what = OF_WHAT_FLIES[name]
    problem = only_problem(folder, BOAT_HEAD + text)
    assert where in problem.where, str(problem)
    assert what in problem.what, str(problem)


def build_problem(folder: Path, text: str, *overrides: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        build(loads(folder, text, *overrides), 1)
    (problem,) = caught.value.problems
    return str(problem)


def test_a_load_that_is_too_heavy_is_refused(folder: Path) -> None:
    """Four rotors at 1000 rad/s lift 4 x 10.8 N; 3.5 kg of load and 2 kg of vehicle weigh 53.9 N."""
    text = build_problem(folder, HEAD + GOAL + "[load]\nmass_kg = 3.5\ncable_length_m = 1.0\n")
    assert "the rotors lift 43.2 N at most, and it weighs 53.9 N with its load" in text
    assert "valid: at least 59.3 N: a lighter load, more or faster rotors" in text


def test_a_wind_field_that_is_not_there_is_refused(folder: Path) -> None:
    assert "no such file; valid: a NetCDF (.nc) or CSV (.csv) file" in build_problem(
        folder, HEAD + GOAL + '[air]\ngrid = "wind.nc"\n'
    )


# Overrides -----------------------------------------------------------------------------------------------------------


def test_values_of_vehicle_devices_and_battery_are_overridden_by_their_short_paths(folder: Path) -> None:
    case = loads(
        folder, HEAD + GOAL, "vehicle.mass_kg=2.4", "sensors.imu.gyro_noise_density_deg_s_rthz=0.01",
        "battery.capacity_c=9000", "sensors.gnss.dropout=0.1", "air.wind_speed_kt=10", "effects.flapping=true",
        "goal.hold_s=3", "vehicle.rotor_lag_up_s=[0.03, 0.03, 0.04, 0.03]",
    )  # fmt: skip
    assert case.vehicle.values["mass_kg"] == 2.4
    assert case.vehicle.values["rotor_lag_up_s"] == (0.03, 0.03, 0.04, 0.03)
    assert case.sensors.imu is not None
    assert case.sensors.imu.values["gyro_noise_density_deg_s_rthz"] == 0.01
    assert case.battery is not None
    assert case.battery.values["capacity_c"] == 9000.0
    assert case.sensors.gnss is not None
    assert case.sensors.gnss.values["dropout"] == 0.1
    assert case.air.wind_speed_m_s == pytest.approx(5.1444, abs=1e-3)
    assert case.effects.flapping
    # What was not named stays the catalogue's.
    assert case.vehicle.values["inertia_xx_kg_m2"] == 0.0143
    assert case.sensors.imu.values["accelerometer_noise_density_ug_rthz"] == 70.0


def test_what_is_overridden_is_what_flies(folder: Path) -> None:
    """Through to the parameters of the kernels: mass, battery, noise, wind, lag of one rotor."""
    import numpy as np

    case = loads(
        folder, HEAD + GOAL, "vehicle.mass_kg=2.4", "battery.capacity_c=9000", "air.wind_speed_m_s=7",
        "air.wind_from_deg=90", "sensors.imu.gyro_noise_density_deg_s_rthz=0.01", "precision=f64",
        "vehicle.rotor_lag_up_s=[0.03, 0.03, 0.04, 0.03]",
    )  # fmt: skip
    world = build(case, 2).world
    p, air = world.vehicle_parameters, world.medium
    one = lambda value: float(np.asarray(value).ravel()[0])  # noqa: E731
    assert one(p.aircraft.mass_kg) == 2.4
    assert one(p.aircraft.battery.capacity_c) == 9000.0
    assert one(p.aircraft.rotors[2].lag_up_s) == 0.04
    assert one(p.aircraft.rotors[1].lag_up_s) == 0.03
    assert one(air.wind.east_m_s) == pytest.approx(-7.0)
    assert one(air.wind.north_m_s) == pytest.approx(0.0, abs=1e-12)
    assert one(p.imu.gyro.noise_density_q_rthz) == pytest.approx(np.radians(0.01))


def test_another_model_brings_its_own_values_and_keeps_what_a_person_has_set(folder: Path) -> None:
    text = HEAD + GOAL + "[sensors.imu.set]\ngyro_noise_density_deg_s_rthz = 0.02\n[vehicle.set]\nmass_kg = 2.2\n"
    case = loads(folder, text, "sensors.imu.model=bmi088", "vehicle.model=hexa-f550", "sensors.gnss.model=zed-f9p-rtk",
                 "battery.model=lipo-4s-5000mah")  # fmt: skip
    hexa, bmi = load_entry("aircraft", "hexa-f550").values, load_entry("imu", "bmi088").values
    assert case.vehicle.values["mass_kg"] == 2.2
    assert len(case.vehicle.values["rotor_position_m"]) == 6  # type: ignore[arg-type]
    assert case.vehicle.values["inertia_zz_kg_m2"] == hexa["inertia_zz_kg_m2"]
    assert case.sensors.imu is not None
    assert case.sensors.imu.values["gyro_noise_density_deg_s_rthz"] == 0.02
    assert case.sensors.imu.values["gyro_range_deg_s"] == bmi["gyro_range_deg_s"]
    assert case.sensors.gnss is not None
    assert case.sensors.gnss.values["fixed_sigma_m"] == load_entry("gnss", "zed-f9p-rtk").values["fixed_sigma_m"]


def test_a_complete_file_may_be_given_another_vehicle(folder: Path) -> None:
    """What `to_toml` wrote out in full does not stick to the old model."""
    complete = to_toml(loads(folder, HEAD + GOAL, "vehicle.mass_kg=2.4"))
    case = loads(folder, complete, "vehicle.model=hexa-f550", "sensors.imu.model=mpu-6000")
    hexa = load_entry("aircraft", "hexa-f550").values
    assert case.vehicle.values["mass_kg"] == 2.4
    assert case.vehicle.values["reach_down_m"] == hexa["reach_down_m"]
    assert case.sensors.imu is not None
    mpu = load_entry("imu", "mpu-6000").values
    assert {name: case.sensors.imu.values.get(name) for name in mpu} == mpu


@pytest.mark.parametrize(
    ("override", "what"),
    [
        ("vehicle.mas_kg=2", "did you mean 'mass_kg'?"),
        ("vehicle.mass_kg=-2", "mass_kg = -2"),
        ("sensors.imu.gyro_noise=1", "unknown key 'gyro_noise'"),
        ("sensors.gps.latency_s=1", "unknown key 'gps'"),
        ("battery.model=lipo", "no battery named 'lipo'"),
        ("vehicle.model=x5000", "no vehicle named 'x5000'; did you mean 'x500'?"),
        ("vehicle.rotor_spin=[1,1]", "rotor_spin"),
        ("air.turbulence.model=none", "'none'"),
    ],
)
def test_bad_overrides_are_refused_by_their_own_words(folder: Path, override: str, what: str) -> None:
    problem = only_problem(folder, HEAD + GOAL, override)
    assert f"--set {override}" in problem.where
    assert what in problem.what, str(problem)


# Files written back --------------------------------------------------------------------------------------------------


def round_trip(case: Scenario, folder: Path) -> Scenario:
    (folder / "again.toml").write_text(to_toml(case))
    return load(folder / "again.toml")


@pytest.mark.parametrize("name", [name for name in built_in_names() if not name.startswith("boat")])
def test_built_in_flights_survive_being_written_and_read(folder: Path, name: str) -> None:
    case = load(name)
    assert round_trip(case, folder) == case


def test_a_flight_with_everything_survives_being_written_and_read(folder: Path) -> None:
    text = (
        HEAD + GOAL
        + 'hold_s = 3.0\nspeed_m_s = 2.0\nheading_deg = 30.0\nway = "hover"\n'
        "[start]\nup_m = 3.0\ncharge = 0.8\nspread_heading_deg = 20.0\n"
        "[air]\nwind_speed_kt = 8.0\nwind_from_deg = 20.0\nshear = \"power\"\nroof_up_m = 20.0\n"
        '[air.turbulence]\nmodel = "von-karman"\nspecification = "mil-hdbk-1797"\n'
        "[[air.gusts]]\nstart_s = 2.0\nup_m_s = 1.0\n"
        "[effects]\nflapping = true\nceiling_effect = true\nbattery_heat = true\n"
        "[load]\nmass_kg = 0.3\ncable_length_m = 1.2\n"
        "[vehicle.set]\nmass_kg = 2.1\n[battery.set]\ncapacity_c = 9000.0\n"
        "[sensors.rangefinder]\nmodel = \"tfmini-s\"\n[sensors.gnss.set]\ndropout = 0.1\n"
        '[sensors.optical_flow]\nmodel = "pmw3901"\n[sensors.odometry]\nmodel = "t265"\n'
        "[sensors.odometry.set]\npos_frd_m = [0.1, 0.0, 0.05]\n"
        '[[faults]]\nkind = "rotor-loss"\npart = 1\nat_s = 4.0\nprobability = 0.5\nsize = 0.3\n'
        '[[faults]]\nkind = "sensor-freeze"\npart = "rangefinder"\nuntil_s = 9.0\n'
        '[randomize]\n"vehicle.mass_kg" = [1.9, 2.3]\n"load.mass_kg" = [0.1, 0.4]\n'
        '"sensors.gnss.latency_s" = [0.1, 0.2]\n'
    )  # fmt: skip
    case = loads(folder, text)
    again = round_trip(case, folder)
    assert again == case
    assert round_trip(again, folder) == case
    assert case.faults[0].part == "1"
    assert "[sea]" not in to_toml(case)
