"""Two harbours: the small one that comes with the package, and a real one from a chart beside the checkout."""

from __future__ import annotations

import importlib
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fieldworthy as fw
from fieldworthy.core.engine import Engine
from fieldworthy.environment.shapes import Cylinder, Polygon, Polyline, Shape
from fieldworthy.scenario import Scenario
from fieldworthy.scenario.load import map_layout

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "src" / "fieldworthy" / "scenarios" / "harbour-small.geojson"
SHARED = Path(os.environ.get("FIELDWORTHY_SHARED", ROOT.parent / "shared"))
THEA_FOSS = SHARED / "data" / "thea-foss-waterway.geojson"
needs_chart = pytest.mark.skipif(not THEA_FOSS.is_file(), reason=f"no {THEA_FOSS}: the chart is not ours to ship")


def shapes_of(scenario: Scenario) -> dict[str, Shape]:
    layout = map_layout(scenario)
    assert layout is not None
    return {shape.label: shape for shape in layout.shapes}


def test_the_small_harbour_is_small_and_in_the_package() -> None:
    assert SMALL.stat().st_size < 15_000
    kinds = {feature["properties"]["kind"] for feature in json.loads(SMALL.read_text(encoding="utf-8"))["features"]}
    assert kinds == {"shore", "wall", "beacon", "pontoon", "pile", "buoy", "pier"}


def test_positions_of_the_small_harbour() -> None:
    """Against the lengths of a degree on WGS 84 at 55 north: 111,323.5 m of latitude, 63,994.1 m of longitude.

    Source: pi/180 a (1 - e^2) / w^3 and pi/180 a cos(lat) / w with w^2 = 1 - e^2 sin^2(lat), a = 6378137 m and
    e^2 = 0.00669438.
    """
    shapes = shapes_of(fw.load("boat-harbour"))
    features = json.loads(SMALL.read_text(encoding="utf-8"))["features"]
    lon, lat = next(f["geometry"]["coordinates"] for f in features if f["properties"].get("name") == "west head light")
    light = shapes["beacon: west head light"]
    assert isinstance(light, Cylinder)
    # Files have 7 decimals, 6 to 11 mm; a degree changes by 1 mm in 130 m from here to there.
    assert light.north_m == pytest.approx((lat - 55.0) * 111_323.5, abs=0.02)
    assert light.east_m == pytest.approx((lon - 5.0) * 63_994.1, abs=0.02)
    other = shapes["beacon: east head light"]
    assert isinstance(other, Cylinder)
    assert math.hypot(other.north_m - light.north_m, other.east_m - light.east_m) == pytest.approx(74.5, abs=0.1)


def test_the_small_harbour_can_be_entered() -> None:
    result = fw.fly(fw.load("boat-harbour"), trials=4)
    assert result.success_rate >= 0.5
    # Straight from the sea to the berths would lead over the breakwater, which ends at 134 m north, 40 m east.
    north, east = result.tracks["north_m"], result.tracks["east_m"]
    for row in np.flatnonzero(result.outcome == "goal"):
        crossing = np.flatnonzero(north[row, : result.length[row]] < 130.0)[0]
        assert 40.0 < east[row, crossing] < 110.0


def test_going_straight_hits_the_barge_or_the_harbour() -> None:
    """The control group: waypoints alone do not bring the boat past what lies in the way."""
    scenario = fw.set_value(fw.load("boat-harbour"), "control.parameters", {})
    result = fw.fly(fw.set_value(scenario, "control.controller", "straight"), trials=6)
    assert np.sum(result.outcome == "collision") >= 3


def test_the_coarse_look_at_a_whole_harbour_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep whose bins look at every primitive of the map reads the same bits as one that looks at what is near."""
    import drjit as dr

    scenario = fw.load("boat-harbour")
    # In the entrance, with a range that leaves half of the harbour out of reach.
    for path, value in (("sensors.lidar.range_max_m", 60.0), ("start.north_m", 112.0), ("start.east_m", 76.0)):
        scenario = fw.set_value(scenario, path, value)

    def ranges() -> np.ndarray[Any, Any]:
        world = fw.build(scenario, trials=2, full_sweep=True).world
        state, sweeps = fw.start(world), []
        for _ in range(200):
            state, frame = fw.step(world, state)
            if frame.tick % 125 == 0:
                sweeps.append(np.stack([np.asarray(channel) for channel in frame.scan.range_m]))
        return np.stack(sweeps)

    def everything(engine: Engine, *arguments: Any) -> Any:
        return dr.full(engine.UInt32, 0xFFFFFFFF, dr.width(arguments[-1]))  # the last one counts the words

    near = ranges()
    module = importlib.import_module("fieldworthy.world.look")
    monkeypatch.setattr(module, "around", everything)
    monkeypatch.setattr(module, "filled_parts", everything)
    assert np.array_equal(near, ranges())
    assert np.mean(near < 60.0) > 0.02  # there was something to see


@needs_chart
def test_the_chart_as_obstacles() -> None:
    scenario = fw.set_value(fw.load(ROOT / "scenarios" / "thea-foss.toml"), "obstacles_geojson", str(THEA_FOSS))
    layout = map_layout(scenario)
    assert layout is not None
    assert sum(layout.counts.values()) == 368
    light = shapes_of(scenario)["beacon: Thea Foss Waterway Light"]
    assert isinstance(light, Cylinder)
    # -122.4364426, 47.2616788 from the reference -122.4350, 47.2600 with 111.1759 and 75.6863 km a degree at 47.26.
    assert light.north_m == pytest.approx(0.0016788 * 111_175.9, abs=0.05)
    assert light.east_m == pytest.approx(-0.0014426 * 75_686.3, abs=0.05)
    under_water = [shape for shape in layout.shapes if shape.label.startswith("obstruction")]
    assert under_water
    for shape in under_water:
        assert isinstance(shape, Cylinder | Polygon | Polyline)
        assert shape.top_up_m < -float(str(scenario.vehicle.values["draft_m"]))


@needs_chart
@pytest.mark.slow
def test_the_boat_comes_up_the_thea_foss_waterway() -> None:
    scenario = fw.set_value(fw.load(ROOT / "scenarios" / "thea-foss.toml"), "obstacles_geojson", str(THEA_FOSS))
    result = fw.fly(scenario, trials=4)
    assert result.success_rate >= 0.75, result.why
    # 1.6 km at 3 m/s.
    assert 450.0 < result.time_s[result.outcome == "goal"].mean() < 600.0
    assert result.clearance_m[result.outcome == "goal"].min() > 1.0
