"""What holds for every scenario file: it survives writing, nothing escapes the checks, keys have lines."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scenario_texts import VALUES, folder_with_boat, loads  # noqa: F401

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.toml_lines import key_lines
from fieldworthy.scenario import to_toml
from fieldworthy.scenario.build import build

finite = st.floats(-1e6, 1e6)
positive = st.floats(1e-3, 1e3)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def interval(low: float, high: float) -> st.SearchStrategy[list[float]]:
    return st.tuples(st.floats(low, high), st.floats(low, high)).map(sorted).map(list)


def table(**optional: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=optional)


placed = {"north_m": finite, "east_m": finite, "label": text, "spread_north_m": positive}
# Goals lie north of all starts, with room for the largest radius: a start in the goal is refused.
targets = st.fixed_dictionaries({"north_m": st.floats(2e3, 1e6), "east_m": finite}, optional={"radius_m": positive})
obstacles = st.one_of(
    st.fixed_dictionaries({"kind": st.just("cylinder"), "radius_m": positive}, optional=placed),
    st.fixed_dictionaries({"kind": st.just("box"), "length_m": positive, "width_m": positive}, optional=placed),
    st.fixed_dictionaries(
        {"kind": st.just("polyline"), "points_ne_m": st.lists(st.tuples(finite, finite), min_size=2, max_size=4)},
        optional=placed,
    ),
    st.fixed_dictionaries({"kind": st.just("channel"), "length_m": positive, "width_m": positive}),
)
# Room for nine shapes of the largest radius: a field that cannot hold its shapes is refused.
wide = st.tuples(st.floats(-99, -50), st.floats(50, 99)).map(list)
scatters = st.fixed_dictionaries(
    {
        "count": st.integers(0, 9),
        "north_m": wide,
        "east_m": wide,
        "gap_m": st.just(0.0),
        "radius_m": st.just([0.1, 2.0]),
    },
    optional={"top_up_m": interval(0.1, 2.0), "kinds": st.just(["box", "sphere"])},
)
scenarios = st.fixed_dictionaries(
    {"schema": st.just(1), "name": text.filter(bool), "goal": targets},
    optional={
        "description": text,
        "seed": st.integers(0, 2**63 - 1),
        "start": st.one_of(
            table(north_m=st.floats(-1e6, 0)), st.fixed_dictionaries({"lon_deg": finite, "lat_deg": finite})
        ),
        "waypoints": st.lists(targets, max_size=2),
        "sea": table(wind_speed_kt=positive, current_speed_m_s=positive, waves=table(height_m=positive)),
        "sensors": table(lidar=table(model=st.sampled_from(["vlp16", "vlp16-uniform"]), noise_m=positive)),
        "control": table(parameters=st.dictionaries(text, st.one_of(finite, text, st.lists(finite)), max_size=3)),
        "obstacles": st.lists(obstacles, max_size=3),
        "scatter": st.lists(scatters, max_size=2),
        "randomize": table(**{"sea.wind_speed_m_s": interval(0, 9), "vehicle.mass_kg": interval(1, 9)}),
        "geojson": table(kinds=st.dictionaries(text, table(radius_m=positive), max_size=2)),
    },
)
quiet = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@quiet
@given(data=scenarios)
def test_a_written_scenario_loads_equal(folder: Path, data: dict[str, Any]) -> None:
    if "lon_deg" in data.get("start", {}):
        data["start"] = {"lon_deg": data["start"]["lon_deg"] / 1e4, "lat_deg": -abs(data["start"]["lat_deg"]) / 2e4}
        data["reference"] = {"lon_deg": 0.0, "lat_deg": 0.0}
    data["vehicle"] = {"model": "boat.toml"}
    first = loads(folder, tomli_w.dumps(data))
    assert loads(folder, to_toml(first)) == first
    assert loads(folder, to_toml(first), "trials=11") != first


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)


@quiet
@given(data=scenarios, change=anything, choice=st.randoms(use_true_random=False))
def test_no_input_escapes_as_another_exception(folder: Path, data: dict[str, Any], change: Any, choice: Any) -> None:
    """Any value put anywhere into a valid file either loads or is refused with a place and a reason."""
    data = copy.deepcopy(data) | {"vehicle": {"model": "boat.toml", "set": {"mass_kg": 1.0}}}
    node: Any = data
    while True:
        key = choice.choice(list(node) if isinstance(node, dict) else range(len(node)))
        if isinstance(node[key], dict | list) and node[key] and choice.random() < 0.7:
            node = node[key]
            continue
        node[key] = change
        break
    try:
        written = tomli_w.dumps(data)
    except TypeError:
        return  # None has no spelling in TOML
    refused: list[Problem] = []
    try:
        loads(folder, written)
    except ScenarioError as error:
        refused = error.problems
    assert all(problem.where and problem.what for problem in refused)


SMALL: dict[str, Any] = {
    "schema": 1, "name": "small", "duration_s": 10.0, "dt_s": 0.02, "precision": "f32",
    "vehicle": {"model": "boat.toml", "set": VALUES},
    "start": {"north_m": 0.0, "east_m": 1.0, "heading_deg": 0.0, "speed_m_s": 1.0, "spread_east_m": 1.0},
    "goal": {"north_m": 60.0, "east_m": 0.0, "radius_m": 5.0},
    "waypoints": [{"north_m": 30.0, "east_m": 0.0}],
    "area": {"north_m": [-50.0, 150.0], "east_m": [-50.0, 50.0]},
    "sea": {"current_speed_m_s": 0.1, "wind_speed_m_s": 1.0,
            "waves": {"height_m": 0.2, "period_s": 3.0, "components": 2}},
    "sensors": {
        "lidar": {"elevation_min_deg": -10.0, "elevation_max_deg": 10.0, "elevation_step_deg": 10.0,
                  "azimuth_step_deg": 30.0, "latency_s": 0.1, "noise_m": 0.1, "dropout": 0.1, "yaw_deg": 10.0,
                  "roll_deg": 1.0, "range_min_m": 0.5, "range_max_m": 100.0, "rate_hz": 10.0, "rays": "shapes"},
    },
    "control": {"controller": "sector", "rate_hz": 10.0,
                "parameters": {"half_angle_deg": 40.0, "safe_distance_m": 10.0, "compare": "mean_range"}},
    "obstacles": [
        {"kind": "polygon", "points_ne_m": [[0, 9], [9, 9], [9, 18]], "spread_north_m": 1.0, "top_up_m": 2.0},
        {"kind": "polyline", "points_ne_m": [[0, -9], [9, -9]], "vel_east_m_s": -1.0},
        {"kind": "sphere", "radius_m": 1.0, "north_m": 20.0, "east_m": 9.0, "up_m": 0.0, "vel_north_m_s": 1.0},
        {"kind": "box", "length_m": 2.0, "width_m": 1.0, "north_m": 80.0, "heading_deg": 10.0},
        {"kind": "channel", "north_m": 400.0, "length_m": 90.0, "width_m": 60.0, "points": 5, "spread_width_m": 1.0},
    ],
    "scatter": [{"count": [1, 2], "kinds": ["box", "sphere", "cylinder"], "north_m": [20.0, 40.0],
                 "east_m": [-9.0, 9.0], "gap_m": 1.0}],
    "randomize": {"vehicle.mass_kg": [900.0, 1000.0], "control.parameters.safe_distance_m": [5.0, 9.0],
                  "sensors.lidar.roll_deg": [0.0, 3.0], "sea.wind_from_deg": [0.0, 9.0]},
}  # fmt: skip
numbers = st.sampled_from(
    [0, 0.0, -0.0, -1, -1.0, 1e-300, 5e-324, 1e-9, 0.5, 1, 3, 360.0, 400, 1e5, 2**31, 1e12, 1e300, 2**63]
)
odd = st.one_of(
    anything, numbers, st.floats(-1e3, 1e3), st.lists(numbers, max_size=3), st.lists(st.lists(numbers), max_size=4)
)


@pytest.mark.slow
@settings(quiet, max_examples=300)
@given(change=odd, choice=st.randoms(use_true_random=False), again=odd)
def test_no_input_escapes_as_another_exception_when_it_is_built(
    folder: Path, change: Any, choice: Any, again: Any
) -> None:
    """Any value put anywhere into a full scenario either makes a world or is refused in sentences."""
    data = copy.deepcopy(SMALL)
    for value in (change, again):
        node: Any = data
        while True:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = choice.choice(keys) if keys else None
            if key is not None and isinstance(node[key], dict | list) and node[key] and choice.random() < 0.9:
                node = node[key]
                continue
            break
        if key is not None:
            node[key] = value
        if choice.random() < 0.5:
            break
    try:
        written = tomli_w.dumps(data)
    except TypeError:
        return  # None has no spelling in TOML
    refused: list[Problem] = []
    try:
        build(loads(folder, written), 1)
    except ScenarioError as error:
        refused = error.problems
    assert all(problem.where and problem.what for problem in refused)


def test_the_full_scenario_itself_is_built(folder: Path) -> None:
    assert len(build(loads(folder, tomli_w.dumps(SMALL)), 1).world.layouts[0]) > 6


@quiet
@given(data=st.dictionaries(text, anything, max_size=4))
def test_every_key_of_a_file_has_its_line(data: dict[str, Any]) -> None:
    try:
        written = tomli_w.dumps(data)
    except TypeError:
        return
    lines = key_lines(written)
    rows = written.split("\n")

    def visit(node: Any, path: tuple[str | int, ...]) -> None:
        if path:
            assert 1 <= lines[path] <= len(rows)
        children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, child in children:
            visit(child, (*path, key))

    visit(data, ())


def test_lines_of_awkward_spellings() -> None:
    written = '''# top
a.b."c d" = 1  # dotted
text = """
[not.a.table]
x = 1
"""
list = [
  1, # one
  { k = "]", l = [2,
    3] },
]
[t . "u"]
'v' = { w = 1, x.y = \'\'\'q\'\'\' }
[[t.r]]
n = 1
[[t.r]]
[t.r.s]
n = 1979-05-27 07:32:00
'''
    lines = key_lines(written)
    expected = {
        ("a", "b", "c d"): 2, ("text",): 3, ("list",): 7, ("list", 0): 8, ("list", 1, "k"): 9, ("list", 1, "l", 1): 10,
        ("t", "u"): 12, ("t", "u", "v", "x", "y"): 13, ("t", "r", 0, "n"): 15, ("t", "r", 1): 16,
        ("t", "r", 1, "s", "n"): 18,
    }  # fmt: skip
    assert {path: lines.get(path) for path in expected} == expected
    assert ("x",) not in lines
