"""One wrong thing in a scenario file, one exact complaint: where, what, and what would be valid."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_texts import BOAT, GOAL, HEAD, folder_with_boat, loads, only_problem, problems_of  # noqa: F401

BAD: dict[str, tuple[str, str, str, str]] = {
    # name: (text after the head, where, what, valid)
    "unknown key": (GOAL + "[sensors.lidar]\nnose_m = 0.1\n", "case.toml:8 [sensors.lidar]",
                    "unknown key 'nose_m'; did you mean 'noise_m'?", "noise_m"),
    "unknown key, inline": (GOAL + "[sensors]\nlidar = { nose_m = 0.1 }\n", "case.toml:8 [sensors.lidar]",
                            "unknown key 'nose_m'", "noise_m"),
    "unknown key, dotted": ("sensors.lidar.nose_m = 0.1\n" + GOAL, "case.toml:4 [sensors.lidar]",
                            "unknown key 'nose_m'", "noise_m"),
    "unknown key, array": (GOAL + '[[obstacles]]\nkind = "sphere"\nradius_m = 1\n[[obstacles]]\nkind = "sphere"\n'
                           "radius_m = 1\nspread_est_m = 1\n", "case.toml:13 [obstacles.1]", "'spread_east_m'", "up_m"),
    "unknown table": (GOAL + "[seas]\n", "case.toml:7", "unknown key 'seas'; did you mean 'sea'?",
                      "sea, schema, name, title"),
    "hidden key": ('source_path = "x"\n' + GOAL, "case.toml:4", "unknown key 'source_path'", "schema, name"),
    "wrong type": (GOAL + "[control]\nrate_hz = \"fast\"\n", "case.toml:8 [control]", "rate_hz = 'fast' is a text",
                   "a finite number > 0"),
    "true is no number": (GOAL + "[control]\nrate_hz = true\n", "case.toml:8 [control]", "rate_hz = true is true or",
                          "a finite number > 0"),
    "fraction for a count": ("trials = 2.5\n" + GOAL, "case.toml:4", "trials = 2.5 is a number with a fraction",
                             "a whole number >= 1"),
    "huge seed": (f"seed = {2**70}\n" + GOAL, "case.toml:4", "does not fit in 64 bits", "a whole number >= 0"),
    "value for a table": ("sea = 3\n" + GOAL, "case.toml:4", "sea = 3 is a whole number", "a table with current_speed"),
    "table for a list": (GOAL + "[obstacles]\n", "case.toml:7", "obstacles = {} is a table", "a list, each element"),
    "wrong unit": ("[start]\nspeed_kt = 3\n" + GOAL, "case.toml:5 [start]", "is given as 'speed_m_s'", "speed_m_s"),
    "wrong unit of two": (GOAL + "[sea]\nwind_speed_kmh = 3\n", "case.toml:8 [sea]",
                          "'wind_speed_m_s' or 'wind_speed_kt'", "wind_speed_kt"),
    "missing unit": (GOAL + "[sensors.lidar]\nnoise = 3\n", "case.toml:8", "is given as 'noise_m'", "noise_m"),
    "both units": (GOAL + "[sea]\nwind_speed_kt = 3\nwind_speed_m_s = 1\n", "case.toml:8 [sea]",
                   "both wind_speed_kt and wind_speed_m_s", "one of wind_speed_m_s, wind_speed_kt"),
    "negative knots": (GOAL + "[sea]\nwind_speed_kt = -3\n", "case.toml:8 [sea]", "wind_speed_kt = -3", ">= 0"),
    "negative sigma": (GOAL + "[sensors.lidar]\nnoise_m = -0.1\n", "case.toml:8 [sensors.lidar]",
                       "noise_m = -0.1 is too small", "a finite number >= 0"),
    "negative range": (GOAL + "[sensors.lidar]\nrange_max_m = -1\n", "case.toml:8", "range_max_m = -1", "> 0"),
    "negative rate": (GOAL + "[sensors.lidar]\nrate_hz = -10.0\n", "case.toml:8", "rate_hz = -10.0", "> 0"),
    "negative mass": ("vehicle.set.mass_kg = -5\n" + GOAL, "case.toml:4 [vehicle.set]", "mass_kg = -5", "> 0"),
    "below a catalogue limit": ("vehicle.set.surge_drag_n_s_m = -5\n" + GOAL, "case.toml:4 [vehicle.set]",
                                "surge_drag_n_s_m = -5", "a finite number >= 0"),
    "range order": (GOAL + "[sensors.lidar]\nrange_min_m = 200\n", "case.toml:8 [sensors.lidar]",
                    "range_min_m = 200 is not below range_max_m = 100", "range_min_m < range_max_m"),
    "probability": (GOAL + "[sensors.lidar]\ndropout = 1.5\n", "case.toml:8", "dropout = 1.5 is too large", "<= 1"),
    "choice": (GOAL + '[sensors.lidar]\nno_hit = "omitt"\n', "case.toml:8", "did you mean 'omit'?", "'max' or 'omit'"),
    "nan": (GOAL + "[start]\nnorth_m = nan\n", "case.toml:8 [start]", "north_m = nan is not a finite", "finite"),
    "infinite in 32 bits": (GOAL + "[start]\nnorth_m = -1e40\n", "case.toml:8", "north_m = -1e+40 is beyond 1e+30",
                            "finite"),
    "inf": (GOAL + "[start]\nnorth_m = -inf\n", "case.toml:8 [start]", "north_m = -inf is not a finite", "finite"),
    "nan in free parameters": (GOAL + "[control.parameters]\na = [1.0, nan]\n", "case.toml:8 [control.parameters]",
                               "a[1] = nan", "finite"),
    "points where every ray is one": (GOAL + '[control.parameters]\ncompare = "points"\n',
                                      "case.toml:8 [control.parameters]", 'compare = "points" counts returns',
                                      'sensors.lidar.no_hit = "omit", or compare = "mean_range"'),
    "interval order": (GOAL + "[area]\nnorth_m = [5, 1]\neast_m = [0, 1]\n", "case.toml:8 [area]",
                       "north_m = [5, 1]: the interval is in the wrong order", "low <= high"),
    "interval of three": (GOAL + "[area]\nnorth_m = [5, 6, 7]\neast_m = [0, 1]\n", "case.toml:8 [area]",
                          "is a list of 3", "a list of 2, each a finite number"),
    "empty area": (GOAL + "[area]\nnorth_m = [5, 5]\neast_m = [0, 1]\n", "case.toml:8 [area]", "encloses nothing",
                   "low < high"),
    "empty list": (GOAL + '[[obstacles]]\nkind = "polygon"\npoints_ne_m = []\n', "case.toml:9 [obstacles.0]",
                   "points_ne_m: the list is empty", "a list of at least 3"),
    "short polygon": (GOAL + '[[obstacles]]\nkind = "polygon"\npoints_ne_m = [[0, 0], [1, 1]]\n', "case.toml:9",
                      "2 in the list are too few", "at least 3"),
    "no kinds": (GOAL + "[[scatter]]\ncount = 1\nnorth_m = [0, 1]\neast_m = [0, 1]\nkinds = []\n",
                 "case.toml:11 [scatter.0]", "kinds: the list is empty", "'cylinder'"),
    "no kind": (GOAL + "[[obstacles]]\nradius_m = 1\n", "case.toml:7 [obstacles.0]", "missing 'kind'", "'channel'"),
    "wrong kind": (GOAL + '[[obstacles]]\nkind = "cilinder"\n', "case.toml:8 [obstacles.0]",
                   "unknown kind 'cilinder'; did you mean 'cylinder'?", "'box'"),
    "top below bottom": (GOAL + '[[obstacles]]\nkind = "cylinder"\nradius_m = 1\ntop_up_m = -2\n', "case.toml:10",
                         "top_up_m = -2 is not above bottom_up_m = -1", "bottom < top"),
    "rate and dt": (GOAL + "[control]\nrate_hz = 15\n", "case.toml:8 [control]", "rate_hz: 15 Hz does not divide",
                    "12.5 or 16.6666667"),
    "duration and dt": ("duration_s = 1.01\n" + GOAL, "case.toml:4", "duration_s: 1.01 s is not a whole", "1 or 1.02"),
    "azimuth step": (GOAL + "[sensors.lidar]\nazimuth_step_deg = 0.7\n", "case.toml:8",
                     "azimuth_step_deg = 0.7 does not divide 360", "next 0.699"),
    "elevation order": (GOAL + "[sensors.lidar]\nelevation_min_deg = 20\n", "case.toml:8",
                        "elevation_min_deg = 20 is above elevation_max_deg = 15", "min <= max"),
    "zero step": (GOAL + "[sensors.lidar]\nazimuth_step_deg = 0\n", "case.toml:8", "azimuth_step_deg = 0", "> 0"),
    "other pattern's key": (GOAL + "[sensors.lidar]\nfiring_period_s = 1e-4\n", "case.toml:8",
                            "belongs to pattern = 'firing'", "azimuth_step_deg"),
    "pattern without values": (GOAL + '[sensors.lidar]\npattern = "firing"\n', "case.toml:8",
                               "needs laser_elevation_deg, firing_period_s", "model that has them"),
    "no lasers": (GOAL + '[sensors.lidar]\nmodel = "vlp16"\nlaser_elevation_deg = []\n', "case.toml:9",
                  "the list is empty", "at least one elevation"),
    "lasers overrun": (GOAL + '[sensors.lidar]\nmodel = "vlp16"\nfiring_period_s = 3e-5\n', "case.toml:9",
                       "16 lasers 2.304e-06 s apart", "at least 3.456e-05"),
    "metres and degrees": ("[start]\nnorth_m = 1\nlon_deg = 3\nlat_deg = 4\n" + GOAL, "case.toml:6 [start]",
                           "both lon_deg and lat_deg and north_m are given", "north_m and east_m, or lon_deg"),
    "half a position": ("[start]\nlon_deg = 3\n" + GOAL, "case.toml:5 [start]", "lon_deg without lat_deg", "lat_deg"),
    "impossible latitude": ("[start]\nlon_deg = 3\nlat_deg = 91\n" + GOAL, "case.toml:6 [start]",
                            "lat_deg = 91 is too large", "<= 90"),
    "no reference": ("[start]\nlon_deg = 3\nlat_deg = 4\n" + GOAL, "case.toml:5 [start]", "need a reference point",
                     "[reference]"),
    "no goal": ("", "case.toml", "missing 'goal'", "a table with north_m"),
    "half a goal": ("[goal]\nnorth_m = 1\n", "case.toml:4 [goal]", "missing 'east_m'", "or lon_deg and lat_deg"),
    "half a waypoint": (GOAL + "[[waypoints]]\nnorth_m = 1\n", "case.toml:7 [waypoints.0]", "'east_m'", "lon_deg"),
    "unknown vehicle value": ("vehicle.set.mas_kg = 3\n" + GOAL, "case.toml:4 [vehicle.set]",
                              "unknown key 'mas_kg'; did you mean 'mass_kg'?", "mass_kg, "),
    "list for a number": ("vehicle.set.mass_kg = [1]\n" + GOAL, "case.toml:4", "mass_kg = [1] is a list", "> 0"),
    "number for a list": ("vehicle.set.outline_m = 1\n" + GOAL, "case.toml:4", "is not a list", "a list such as"),
    "numbers for points": ("vehicle.set.outline_m = [1, 2, 3]\n" + GOAL, "case.toml:4 [vehicle.set]",
                           "outline_m = [1, 2, 3] is not a list of [forward, right] points", "[[1.0, 0.0]"),
    "two points": ("vehicle.set.outline_m = [[1, 2], [3, 4]]\n" + GOAL, "case.toml:4 [vehicle.set]",
                   "is not a list of [forward, right] points", "a list such as"),
    "length and outline": ("vehicle.set.length_m = 2.1\n" + GOAL, "case.toml:4 [vehicle.set]",
                           "length_m = 2.1, but outline_m extends over 2 m", "set both"),
    "outline and beam": ("vehicle.set.outline_m = [[1, 0], [-1, 2], [-1, -2]]\n" + GOAL, "case.toml:4 [vehicle.set]",
                         "beam_m = 2, but outline_m extends over 4 m", "set both"),
    "randomize the length": (GOAL + '[randomize]\n"vehicle.length_m" = [2.0, 3.0]\n', "case.toml:8 [randomize]",
                             "length_m = 3, but outline_m extends over 2 m", "set both"),
    "duration beyond counting": ("duration_s = 1e9\n" + GOAL, "case.toml:4", "duration_s = 1e+09 makes 5e+10 steps",
                                 "at most 2147483647 steps: 4.29497e+07 s"),
    "rate beyond counting": (GOAL + "[sensors.lidar]\nrate_hz = 1e-12\n", "case.toml:8", "more than can be counted",
                             "at most 2147483647 steps"),
    "command longer than the trial": ("duration_s = 1.0\n" + GOAL + "[control]\nrate_hz = 0.5\n", "case.toml:9",
                                      "one command lasts 2 s, longer than the whole trial of 1 s", "at least 1,"),
    "heard after the trial": ("duration_s = 1.0\n" + GOAL + "[sensors.lidar]\nlatency_s = 2\n", "case.toml:9",
                              "nothing is heard before the trial ends", "less than duration_s"),
    "channels": (GOAL + "[sensors.lidar]\nelevation_step_deg = 0.2\n", "case.toml:8",
                 "elevation_step_deg makes 151 channels: the kernels are compiled with every one", "at most 128"),
    "lasers": (GOAL + f'[sensors.lidar]\nmodel = "vlp16"\nlaser_elevation_deg = {[0.0] * 129}\n'
               "laser_spacing_s = 1e-9\n", "case.toml:9", "makes 129 channels", "at most 128 channels"),
    "columns": (GOAL + "[sensors.lidar]\nazimuth_step_deg = 0.01\n", "case.toml:8",
                "makes 36000 columns a turn: sums over so many are not the same", "at most 20000 columns, 0.018"),
    "firings": (GOAL + '[sensors.lidar]\nmodel = "vlp16"\nlaser_spacing_s = 1e-8\nfiring_period_s = 2e-6\n',
                "case.toml:10", "makes 50000 columns a turn", "at most 20000 columns, 5e-06"),
    "waves": (GOAL + "[sea.waves]\ncomponents = 65\n", "case.toml:8", "summed at every step", "1 to 64"),
    "scatter": (GOAL + "[[scatter]]\ncount = [1, 2001]\nnorth_m = [0, 1]\neast_m = [0, 1]\n", "case.toml:8",
                "count = 2001: every shape is tried against all others", "at most 2000"),
    "scatter without room": (GOAL + "[[scatter]]\ncount = 900\nnorth_m = [0, 50]\neast_m = [0, 50]\n", "case.toml:8",
                             "no room for all shapes: 900 with gap_m = 8 need 57256 m2", "fewer shapes"),
    "bow-tie": (GOAL + '[[obstacles]]\nkind = "polygon"\npoints_ne_m = [[0, 0], [1, 1], [1, 0], [0, 1]]\n',
                "case.toml:9 [obstacles.0]", "not the outline of one area (self-intersection", "do not cross"),
    "flat polygon": (GOAL + '[[obstacles]]\nkind = "polygon"\npoints_ne_m = [[0, 0], [1, 1], [2, 2]]\n',
                     "case.toml:9 [obstacles.0]", "not the outline of one area", "do not cross"),
    "fast obstacle": (GOAL + '[[obstacles]]\nkind = "sphere"\nradius_m = 1\nvel_north_m_s = 30\nvel_east_m_s = -30\n',
                      "case.toml:10 [obstacles.0]", "an obstacle at 42.4264 m/s", "at most 40 m/s"),
    "tunnelling": ("dt_s = 0.1\n" + GOAL + '[[obstacles]]\nkind = "sphere"\nradius_m = 1\nvel_east_m_s = -30\n',
                   "case.toml:11 [obstacles.0]", "moves 3 m in a step of dt_s = 0.1", "half the beam a step: 10 m/s"),
    "fast start": ("[start]\nspeed_m_s = 14\n" + GOAL, "case.toml:5 [start]",
                   "speed_m_s = 14 is more than 2 times the boat's speed_max_m_s = 6.5", "at most 13"),
    "start in the goal": ("start.spread_north_m = 98\nstart.east_m = 3\n" + GOAL, "case.toml:6 [goal]",
                          "the start, with its spread, lies within radius_m = 5 of the goal", "no trial begins in"),
    "huge whole number": (f"seed = 0x{'f' * 5000}\n" + GOAL, "case.toml:4", "seed is a whole number of 20000", "64"),
    "number of 5000 digits": (f"seed = {'1' * 5000}\n" + GOAL, "case.toml", "thousands of digits", "64 bits"),
    "lidar name": (GOAL + '[sensors.lidar]\nmodel = "vlp61"\n', "case.toml:8 [sensors.lidar]",
                   "no lidar named 'vlp61'; did you mean 'vlp16'?", "vlp16, vlp16-uniform"),
    "randomize path": (GOAL + '[randomize]\n"vehicle.mas_kg" = [1, 2]\n', "case.toml:8 [randomize]",
                       "did you mean 'vehicle.mass_kg'?", "more: docs/scenario-file.md"),
    "randomize a list": (GOAL + '[randomize]\n"vehicle.outline_m" = [1, 2]\n', "case.toml:8",
                         "unknown key 'vehicle.outline_m'", "vehicle.mass_kg"),
    "randomize a rate": (GOAL + '[randomize]\n"sensors.lidar.rate_hz" = [1, 2]\n', "case.toml:8",
                         "the same for all trials", "sensors.lidar.noise_m"),
    "randomize waves": (GOAL + '[randomize]\n"sea.waves.height_m" = [1, 2]\n', "case.toml:8",
                        "the sea state is the same for all trials", "sea.current_speed_m_s"),
    "randomize a parameter nobody wrote": (GOAL + '[randomize]\n"control.parameters.x" = [1, 2]\n', "case.toml:8",
                                           "unknown key 'control.parameters.x'", "vehicle.mass_kg"),
    "randomize order": (GOAL + '[randomize]\n"vehicle.mass_kg" = [2, 1]\n', "case.toml:8", "wrong order", "<= high"),
    "randomize nan": (GOAL + '[randomize]\n"vehicle.mass_kg" = [1, nan]\n', "case.toml:8", "nan", "a finite number"),
    "randomize below a limit": (GOAL + '[randomize]\n"sensors.lidar.noise_m" = [-0.1, 0.1]\n', "case.toml:8",
                                "-0.1 is too small for 'sensors.lidar.noise_m'", ">= 0"),
    "randomize mass to zero": (GOAL + '[randomize]\n"vehicle.mass_kg" = [0, 1]\n', "case.toml:8", "0 is too", "> 0"),
    "missing map": ('obstacles_geojson = "no.geojson"\n' + GOAL, "no.geojson", "no such file", "a GeoJSON file"),
    "map sizes": (GOAL + "[geojson.kinds.pile]\nradius_m = 0\n", "case.toml:8 [geojson.kinds.pile]", "radius_m = 0",
                  "> 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_with_its_place(folder: Path, name: str) -> None:
    text, where, what, valid = BAD[name]
    problem = only_problem(folder, HEAD + text)
    assert problem.where.endswith(where) or f"{where} " in problem.where, str(problem)
    assert what in problem.what, str(problem)
    assert valid in problem.valid, str(problem)


def test_points_may_be_compared_where_rays_without_a_return_are_left_out(folder: Path) -> None:
    points, omit = '[control.parameters]\ncompare = "points"\n', '[sensors.lidar]\nno_hit = "omit"\n'
    loads(folder, HEAD + GOAL + points + omit)
    loads(folder, HEAD + GOAL + points.replace("points", "mean_range"))
    # Another controller means something else by the word.
    loads(folder, HEAD + GOAL + '[control]\ncontroller = "mine:Mine"\n' + points)
    for text, override in ((points, "sensors.lidar.no_hit=max"), ("", "control.parameters.compare=points")):
        problem = only_problem(folder, HEAD + GOAL + text, override)
        assert "both sides always tie" in problem.what


def test_a_missing_schema_is_asked_for(folder: Path) -> None:
    problem = only_problem(folder, 'name = "x"\nvehicle.model = "boat.toml"\n' + GOAL)
    assert (problem.what, problem.valid) == ("missing 'schema'", "schema = 1")
    assert "schema = 2" in only_problem(folder, HEAD.replace("= 1", "= 2") + GOAL).what


def test_dt_that_fits_no_period_is_blamed_once_a_period(folder: Path) -> None:
    problems = problems_of(folder, HEAD + "dt_s = 0.03\n" + GOAL + "[control]\nrate_hz = 10.0\n")
    assert [problem.where.rpartition("case.toml")[2] for problem in problems] == [":4", ":9 [control]"]


def test_all_problems_come_at_once_in_the_order_of_the_file(folder: Path) -> None:
    text = HEAD + "speling = 1\n[goal]\nnorth_m = nan\neast_m = 0\n[sea]\nwind_speed_kt = -1\n[randomize]\nx = [2, 1]\n"
    lines = [problem.where.partition("case.toml:")[2].split()[0] for problem in problems_of(folder, text)]
    assert lines == ["4", "6", "9", "11", "11"]


def test_a_step_too_small_to_count_is_blamed_for_every_period_that_differs(folder: Path) -> None:
    problems = problems_of(folder, HEAD + "dt_s = 1e-300\n" + GOAL)
    assert len(problems) == 2, problems  # duration_s; the two rates are the same
    assert all("case.toml:4" in problem.where and "more than can be counted" in problem.what for problem in problems)


def test_a_start_may_be_in_the_goal_of_a_round_trip(folder: Path) -> None:
    way = "[[waypoints]]\nnorth_m = 50\neast_m = 0\n"
    loads(folder, HEAD + GOAL.replace("100.0", "0.0") + way)
    assert "the start lies within" in only_problem(folder, HEAD + GOAL.replace("100.0", "0.0")).what


def test_a_boat_that_lacks_values_is_told_all_of_them(folder: Path) -> None:
    lines = [line for line in BOAT.splitlines() if not line.startswith(("beam_m", "yaw_gain", "draft_m", "outline"))]
    (folder / "boat.toml").write_text("\n".join([*lines, 'keel_m = { value = 1.0, source = "test" }']))
    lacks, unknown = problems_of(folder, HEAD + GOAL)
    assert "case.toml:3 [vehicle]" in lacks.where
    assert lacks.what == "boat 'boat' lacks beam_m, yaw_gain_n_m_s_rad, outline_m, draft_m"
    assert "wind_yaw_coefficient" in lacks.valid
    assert "unknown value 'keel_m'" in unknown.what


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("mass_kg", '"heavy"', "mass_kg = 'heavy' is not a number"),
        ("mass_kg", "[1.0]", "mass_kg = [1.0] is not a number"),
        ("outline_m", "[1.0, 2.0, 3.0]", "is no outline"),
        ("outline_m", "7.0", "is no outline"),
        ("mass_kg", f"0x{'f' * 300}", "whole number of 1200 bits"),
        ("mass_kg", f"0x{'f' * 100}", "a finite number"),
    ],
)
def test_a_boat_with_values_of_another_form_is_refused(folder: Path, name: str, value: str, what: str) -> None:
    lines = [line for line in BOAT.splitlines() if not line.startswith(name)]
    (folder / "boat.toml").write_text("\n".join([*lines, f'{name} = {{ value = {value}, source = "test" }}']))
    assert what in str(only_problem(folder, HEAD + GOAL))


def test_numbers_beyond_measure_on_the_command_line_are_refused(folder: Path) -> None:
    for value in ("1" * 5000, f"0x{'f' * 5000}", "1" * 400):
        assert "seed = " in only_problem(folder, HEAD + GOAL, f"seed={value}").what
    assert "names a path" in only_problem(folder, HEAD + GOAL, f"{'1' * 5000}.{'[' * 50}=3").what
