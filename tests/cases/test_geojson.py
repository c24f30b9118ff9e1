"""Maps as obstacles: every geometry of RFC 7946, sizes by kind, repairs, and what is refused."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import shapely

from fieldworthy.core.errors import ScenarioError
from fieldworthy.environment.shapes import Cylinder, Polygon, Polyline
from fieldworthy.scenario import load, map_layout
from fieldworthy.scenario.geojson import GeoLayout, read_geojson
from fieldworthy.scenario.schema import KindDefaults

REFERENCE = (10.0, 45.0)
# WGS 84 at 45 deg north: 1 deg of latitude is 111 131.8 m, 1 deg of longitude 78 846.8 m (textbook radii).
NORTH_M_PER_DEG, EAST_M_PER_DEG = 111_131.8, 78_846.8


def lonlat(north_m: float, east_m: float) -> list[float]:
    return [REFERENCE[0] + east_m / EAST_M_PER_DEG, REFERENCE[1] + north_m / NORTH_M_PER_DEG]


def feature(form: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": {"type": form, "coordinates": coordinates}}


def square(size_m: float, north_m: float = 0.0, east_m: float = 0.0) -> list[list[float]]:
    corners = ((0, 0), (size_m, 0), (size_m, size_m), (0, size_m), (0, 0))
    return [lonlat(north_m + n, east_m + e) for n, e in corners]


def read(folder: Path, *features: Any, **options: Any) -> GeoLayout:
    path = folder / "map.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": list(features)}))
    return read_geojson(path, options.pop("reference", REFERENCE), options.pop("kinds", {}), **options)


def area_m2(shape: Polygon) -> float:
    return float(shapely.Polygon(shape.points_ne_m, shape.holes_ne_m).area)


def test_a_point_lands_where_the_radii_of_the_earth_say(tmp_path: Path) -> None:
    (pile,) = read(tmp_path, feature("Point", lonlat(300.0, -200.0), kind="pile")).shapes
    assert isinstance(pile, Cylinder)
    assert abs(pile.north_m - 300.0) < 0.02
    assert abs(pile.east_m + 200.0) < 0.02
    assert (pile.radius_m, pile.top_up_m, pile.label) == (0.3, 3.0, "pile")


def test_every_geometry_becomes_solids(tmp_path: Path) -> None:
    line = [lonlat(0, 0), lonlat(0, 10), lonlat(5, 10)]
    layout = read(
        tmp_path,
        feature("Point", lonlat(0, 0)),
        feature("MultiPoint", [lonlat(0, 0), lonlat(1, 1)]),
        feature("LineString", line, kind="wall"),
        feature("MultiLineString", [line, line], kind="wall"),
        feature("Polygon", [square(10), square(4, 3, 3)], kind="shore"),
        feature("MultiPolygon", [[square(10)], [square(5, 20, 20)]], kind="shore"),
        {
            "type": "Feature",
            "properties": None,
            "geometry": {
                "type": "GeometryCollection",
                "geometries": [
                    {"type": "Point", "coordinates": [*lonlat(0, 0), 12.5]},
                    {"type": "Polygon", "coordinates": [square(2)]},
                ],
            },
        },
    )
    kinds = [type(shape) for shape in layout.shapes]
    assert kinds == [Cylinder] * 3 + [Polyline] * 3 + [Polygon] * 3 + [Cylinder, Polygon]
    assert layout.counts == {"default": 3, "wall": 2, "shore": 2}
    with_hole = layout.shapes[6]
    assert isinstance(with_hole, Polygon)
    assert len(with_hole.points_ne_m) == 4  # the closing repeat is gone
    assert len(with_hole.holes_ne_m) == 1
    assert abs(area_m2(with_hole) - (100.0 - 16.0)) < 0.01
    assert layout.notes == ()


@pytest.mark.parametrize("wrap", ["feature", "geometry"])
def test_a_bare_feature_or_geometry_is_a_map_too(tmp_path: Path, wrap: str) -> None:
    whole = feature("Point", lonlat(1, 2), kind="buoy")
    (tmp_path / "one.geojson").write_text(json.dumps(whole if wrap == "feature" else whole["geometry"]))
    assert len(read_geojson(tmp_path / "one.geojson", REFERENCE).shapes) == 1


def test_without_a_reference_the_centre_of_the_box_is_zero(tmp_path: Path) -> None:
    layout = read(tmp_path, feature("MultiPoint", [[10.0, 45.0], [10.02, 45.01]]), reference=None)
    assert math.isclose(layout.reference_lon_deg, 10.01)
    assert math.isclose(layout.reference_lat_deg, 45.005)
    across = read(tmp_path, feature("MultiPoint", [[179.99, 0.0], [-179.98, 0.0]]), reference=None)
    assert math.isclose(across.reference_lon_deg, -179.995)
    assert all(math.hypot(s.north_m, s.east_m) < 2000 for s in across.shapes if isinstance(s, Cylinder))


def test_sizes_come_from_the_feature_then_the_scenario_then_the_table(tmp_path: Path) -> None:
    def top_and_radius(kinds: dict[str, KindDefaults], **properties: Any) -> tuple[float, float]:
        (shape,) = read(tmp_path, feature("Point", lonlat(0, 0), **properties), kinds=kinds).shapes
        assert isinstance(shape, Cylinder)
        return shape.top_up_m, shape.radius_m

    scenario = {"pile": KindDefaults(radius_m=0.4), "default": KindDefaults(top_up_m=7.0)}
    assert top_and_radius({}, kind="pile") == (3.0, 0.3)
    assert top_and_radius(scenario, kind="pile") == (3.0, 0.4)
    assert top_and_radius(scenario, kind="pile", height_m=6, radius_m="0.5") == (6.0, 0.5)
    assert top_and_radius(scenario, kind="crane") == (7.0, 0.5)
    assert top_and_radius({"crane": KindDefaults(radius_m=9.0)}, kind="crane", top_up_m=None) == (2.0, 9.0)


def test_a_line_with_a_width_is_a_filled_strip(tmp_path: Path) -> None:
    (strip,) = read(tmp_path, feature("LineString", [lonlat(0, 0), lonlat(0, 10)], kind="pontoon", width_m=3)).shapes
    assert isinstance(strip, Polygon)
    assert abs(area_m2(strip) - 30.0) < 0.01
    assert (strip.top_up_m, strip.bottom_up_m) == (0.5, -0.5)


def test_another_property_may_name_the_kind_and_names_stay(tmp_path: Path) -> None:
    layout = read(tmp_path, feature("Point", lonlat(0, 0), art="buoy", name="No. 4"), kind_property="art")
    assert layout.counts == {"buoy": 1}
    assert layout.shapes[0].label == "buoy: No. 4"


def test_an_unclosed_ring_is_closed(tmp_path: Path) -> None:
    (shape,) = read(tmp_path, feature("Polygon", [square(10)[:-1]])).shapes
    assert isinstance(shape, Polygon)
    assert abs(area_m2(shape) - 100.0) < 0.01


def test_a_self_crossing_outline_is_repaired_and_noted(tmp_path: Path) -> None:
    bow_tie = [lonlat(0, 0), lonlat(10, 10), lonlat(10, 0), lonlat(0, 10), lonlat(0, 0)]
    layout = read(tmp_path, feature("Polygon", [bow_tie], kind="shore"))
    assert len(layout.shapes) == 2
    assert abs(sum(area_m2(shape) for shape in layout.shapes if isinstance(shape, Polygon)) - 50.0) < 0.01
    assert layout.notes == ("feature 0 (shore): the outline was repaired (self-intersection)",)


def test_vertices_are_dropped_only_within_the_tolerance(tmp_path: Path) -> None:
    wavy = feature("LineString", [lonlat(0.02 * (n % 2), n) for n in range(100)], kind="wall")
    (kept,), (simpler,) = read(tmp_path, wavy).shapes, read(tmp_path, wavy, simplify_m=0.05).shapes
    assert isinstance(kept, Polyline)
    assert isinstance(simpler, Polyline)
    assert (len(kept.points_ne_m), len(simpler.points_ne_m)) == (100, 2)
    distance = shapely.LineString(kept.points_ne_m).hausdorff_distance(shapely.LineString(simpler.points_ne_m))
    assert distance <= 0.05


def test_a_feature_without_place_is_noted(tmp_path: Path) -> None:
    nowhere = {"type": "Feature", "properties": {}, "geometry": None}
    layout = read(tmp_path, nowhere, feature("Point", lonlat(0, 0), kind="pile"))
    assert layout.notes == ("feature 0 has no geometry and was left out",)


BAD_GEOMETRIES: dict[str, tuple[Any, str, str]] = {
    "unknown type": (feature("Cube", []), "unknown geometry type 'Cube'", "Point, MultiPoint"),
    "misspelt type": (feature("Polygone", []), "did you mean 'Polygon'?", "Point, MultiPoint"),
    "metres": (feature("Point", [541_000.0, 5_233_000.0]), "projected metres", "longitude -180..180"),
    "swapped": (feature("Point", [47.2, -122.4]), "latitude and longitude are swapped", "longitude -180..180"),
    "nan": (feature("Point", [math.nan, 45.0]), "is not finite", "longitude"),
    "text": (feature("Point", ["10", "45"]), "is not a position", "longitude"),
    "no list": (feature("LineString", 3), "coordinates of a line: not a list", "at least one element"),
    "empty": (feature("MultiPoint", []), "coordinates of MultiPoint: an empty list", "at least one"),
    "short line": (feature("LineString", [[10, 45], [10, 45]]), "fewer than 2 different points", "at least 2"),
    "two corners": (
        feature("Polygon", [[[10, 45], [10, 46], [10, 45]]]),
        "fewer than 3 different points",
        "at least 3",
    ),
    "no area": (feature("Polygon", [[[10, 45], [10, 45.01], [10, 45.02]]]), "encloses no area", "encloses an area"),
    "no geometry": ({"type": "Feature", "properties": {}}, "has no 'geometry'", "null"),
    "no object": (3, "is not an object", "Feature"),
    "negative radius": (feature("Point", [10, 45], radius_m=-1), "radius_m = -1 is not a number > 0", "radius_m"),
    "text height": (
        feature("Point", [10, 45], height_m="tall"),
        "height_m = 'tall' is not a finite number",
        "height_m",
    ),
    "upside down": (feature("Point", [10, 45], top_up_m=-9, bottom_up_m=-2), "is not below the top", "bottom_up_m"),
}


@pytest.mark.parametrize("name", BAD_GEOMETRIES)
def test_bad_features_are_named(tmp_path: Path, name: str) -> None:
    bad, what, valid = BAD_GEOMETRIES[name]
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path, feature("Point", lonlat(0, 0)), bad)
    (problem,) = caught.value.problems
    assert problem.where.endswith("map.geojson feature 1")
    assert what in problem.what, str(problem)
    assert valid in problem.valid, str(problem)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ('{"type": "FeatureCollection", "features": []}', "m.geojson", "the map is empty: 'features' has no element"),
        ('{"type": "FeatureCollection"}', "m.geojson", "without a list 'features'"),
        ('{"type": "FeatureCollection",\n "features": [}', "m.geojson:2", "not valid JSON"),
        ("", "m.geojson:1", "the file is empty"),
        ("[1, 2]", "m.geojson", "not GeoJSON"),
        ('{"type": "Topology"}', "m.geojson", "unknown type 'Topology'"),
        ("[" * 100_000, "m.geojson", "nested too deeply"),
        ('{"type": "Feature", "properties": {}, "geometry": null}', "m.geojson", "no feature with a geometry"),
        ('{"type": "Point", "coordinates": [1, 2], "crs": {"properties": {"name": "EPSG:3857"}}}', "m.geojson",
         "coordinate system is EPSG:3857"),
        (f'{{"type": "Point", "coordinates": [{"1" * 5000}, 2]}}', "m.geojson", "a number of thousands of digits"),
        (f'{{"type": "Point", "coordinates": [{"1" * 400}, 2]}}', "m.geojson feature 0", "beyond all measure"),
        (f'{{"type": "Feature", "properties": {{"top_up_m": {"1" * 400}}}, "geometry": {{"type": "Point", '
         '"coordinates": [1, 2]}}', "m.geojson feature 0", "is not a finite number"),
    ],
)  # fmt: skip
def test_bad_files_are_named(tmp_path: Path, text: str, where: str, what: str) -> None:
    (tmp_path / "m.geojson").write_text(text)
    with pytest.raises(ScenarioError) as caught:
        read_geojson(tmp_path / "m.geojson", (1.0, 2.0))
    (problem,) = caught.value.problems
    assert problem.where.endswith(where)
    assert what in problem.what, str(problem)
    assert problem.valid


def test_a_map_that_is_wrong_everywhere_is_said_briefly(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path, *[feature("Point", [5e5, 5e6])] * 300)
    assert len(caught.value.problems) == 9
    assert caught.value.problems[-1].what == "and 292 more features with problems"


SCENARIO = """
schema = 1
name = "x"
obstacles_geojson = "map.geojson"
vehicle.model = "boat-5m"
[start]
lon_deg = 10.0
lat_deg = 45.0
[goal]
lon_deg = 10.001
lat_deg = 45.001
"""


def test_a_scenario_places_its_map_start_and_goal_on_one_reference(tmp_path: Path) -> None:
    (tmp_path / "map.geojson").write_text(json.dumps(feature("MultiPoint", [[10.0, 45.0], [10.001, 45.001]])))
    (tmp_path / "x.toml").write_text(SCENARIO)
    scenario = load(tmp_path / "x.toml")
    layout = map_layout(scenario)
    assert layout is not None
    first, last = layout.shapes
    assert isinstance(first, Cylinder)
    assert isinstance(last, Cylinder)
    assert (scenario.start.north_m, scenario.start.east_m) == (first.north_m, first.east_m)
    assert (scenario.goal.north_m, scenario.goal.east_m) == (last.north_m, last.east_m)
    assert abs(last.north_m - first.north_m - 0.001 * NORTH_M_PER_DEG) < 0.01


def test_problems_of_the_map_come_with_those_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "map.geojson").write_text('{"type": "FeatureCollection", "features": []}')
    (tmp_path / "x.toml").write_text(SCENARIO + "radius_m = -1\n")
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path / "x.toml")
    assert [problem.what.split(":")[0] for problem in caught.value.problems] == [
        "the map is empty",
        "radius_m = -1 is too small",
    ]


def shared_harbour() -> Path:
    folder = os.environ.get("FIELDWORTHY_SHARED")
    shared = Path(folder) if folder else Path(__file__).resolve().parents[3] / "shared"
    return shared / "data" / "thea-foss-waterway.geojson"


@pytest.mark.skipif(not shared_harbour().exists(), reason="needs the harbour map: set FIELDWORTHY_SHARED")
def test_a_real_harbour_becomes_obstacles() -> None:
    layout = read_geojson(shared_harbour())
    assert sum(layout.counts.values()) == 368
    assert layout.counts["wall"] == 145
    forms = Counter(type(shape).__name__ for shape in layout.shapes)
    assert forms["Cylinder"] == 86  # the file's Points
    assert sum(forms.values()) >= 368
    # Metres a degree at 47.26 deg by the usual series: 111132.92 - 559.82 cos 2x + 1.18 cos 4x north, 111412.84 cos x
    # - 93.5 cos 3x east: 111 175 and 75 684.
    lons, lats = zip(*positions(json.loads(shared_harbour().read_text())["features"]), strict=True)
    for part, degrees, metres in ((0, max(lats) - min(lats), 111_175.0), (1, max(lons) - min(lons), 75_684.0)):
        values = [point[part] for shape in layout.shapes for point in outline(shape)]
        assert abs(max(values) - min(values) - degrees * metres) < 3.0  # strips are a metre wider than their line


def positions(node: Any) -> list[tuple[float, float]]:
    """All [longitude, latitude] pairs anywhere below."""
    if isinstance(node, dict):
        return positions(list(node.values()))
    if isinstance(node, list) and len(node) == 2 and all(isinstance(item, float) for item in node):
        return [(node[0], node[1])]
    return [pair for item in node for pair in positions(item)] if isinstance(node, list) else []


def outline(shape: Any) -> list[tuple[float, float]]:
    return list(shape.points_ne_m) if isinstance(shape, Polygon | Polyline) else [(shape.north_m, shape.east_m)]


@pytest.mark.parametrize("crs", ["null", "{}", "[]", "3", '{"properties": null}', '{"properties": {"name": null}}'])
def test_a_coordinate_system_that_says_nothing_is_the_standards(tmp_path: Path, crs: str) -> None:
    (tmp_path / "m.geojson").write_text(f'{{"type": "Point", "coordinates": [10, 45], "crs": {crs}}}')
    assert len(read_geojson(tmp_path / "m.geojson", REFERENCE).shapes) == 1
