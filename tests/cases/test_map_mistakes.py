"""Mistakes in a map that is valid GeoJSON: features far away, kinds that nothing knows, and who is told of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fieldworthy.cli import main as cli_main
from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.scenario.geojson import read_geojson
from fieldworthy.scenario.schema import KindDefaults

HERE = (10.0, 45.0)


def point(lon: float, lat: float, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": {"type": "Point", "coordinates": [lon, lat]}}


def write(folder: Path, *features: dict[str, Any]) -> Path:
    path = folder / "map.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def problems(path: Path, reference: tuple[float, float] | None) -> list[Problem]:
    with pytest.raises(ScenarioError) as caught:
        read_geojson(path, reference)
    return caught.value.problems


PILES = [point(10.0 + 0.001 * i, 45.0, kind="pile") for i in range(5)]


@pytest.mark.parametrize("reference", [HERE, None])
def test_a_swapped_feature_is_named_with_its_place(tmp_path: Path, reference: tuple[float, float] | None) -> None:
    """Also where the swap has moved the map's own centre away from every feature."""
    path = write(tmp_path, *PILES, point(45.0, 10.0, kind="buoy", name="No. 4"))
    (problem,) = problems(path, reference)
    assert problem.where == f"{path} feature 5"
    assert problem.what.startswith("buoy: No. 4: [45, 10] is ")
    assert "longitude and latitude are swapped" in problem.what
    assert "within 20 km" in problem.valid


def test_far_is_more_than_20_km(tmp_path: Path) -> None:
    # A degree of latitude at 45 degrees is 111.13 km: 0.179 degrees are 19.9 km, 0.181 are 20.1 km.
    assert len(read_geojson(write(tmp_path, *PILES, point(10.0, 45.179, kind="pile")), HERE).shapes) == 6
    (problem,) = problems(write(tmp_path, *PILES, point(10.0, 45.181, kind="pile")), HERE)
    assert "[10, 45.181] is 20 km from the reference point [10, 45]" in problem.what
    assert "may be swapped" in problem.what


def test_a_map_wider_than_40_km_has_no_good_centre(tmp_path: Path) -> None:
    assert problems(write(tmp_path, point(10.0, 45.0, kind="pile"), point(10.0, 45.5, kind="pile")), None)


def test_unknown_kinds_are_noted(tmp_path: Path) -> None:
    path = write(tmp_path, *PILES, *[point(10.0, 45.0, kind="breakwatr")] * 2, point(10.0, 45.0, kind="bouy"))
    kinds = {"breakwater": KindDefaults(radius_m=2.0)}
    several, one = read_geojson(path, HERE, kinds).notes
    assert several.startswith("2 features of unknown kind 'breakwatr' use the default sizes")
    assert "did you mean 'breakwater'?; known: shore, wall, " in several
    assert one.startswith("1 feature of unknown kind 'bouy' uses the default sizes; did you mean 'buoy'?")
    assert len(read_geojson(path, HERE, {**kinds, "breakwatr": KindDefaults(), "bouy": KindDefaults()}).notes) == 0


def test_a_kind_property_that_no_feature_has_is_noted(tmp_path: Path) -> None:
    (note,) = read_geojson(write(tmp_path, *PILES), HERE, kind_property="seamark:type").notes
    assert note.startswith("no feature has a text in the property 'seamark:type': all use the default sizes")


SCENARIO = """schema = 1
name = "m"
trials = 2
duration_s = 2.0
obstacles_geojson = "map.geojson"
[vehicle]
model = "boat-5m"
[start]
spread_east_m = 1.0
[goal]
north_m = 100.0
east_m = 0.0
[control]
controller = "straight"
[reference]
lon_deg = 10.0
lat_deg = 45.0
"""


def test_notes_reach_check_run_and_report(tmp_path: Path) -> None:
    write(tmp_path, point(10.001, 45.0, kind="breakwatr"))
    scenario = tmp_path / "m.toml"
    scenario.write_text(SCENARIO)
    sentence = "1 feature of unknown kind 'breakwatr' uses the default sizes"
    checked = CliRunner().invoke(cli_main.cli, ["check", str(scenario)])
    assert checked.exit_code == 0, checked.output
    assert f"\n  note: {sentence}" in checked.stdout
    flown = CliRunner().invoke(cli_main.cli, ["run", str(scenario), "--out", str(tmp_path / "r"), "--json"])
    assert flown.exit_code == 0, flown.output
    assert flown.stderr.count(f"note: {sentence}") == 1
    json.loads(flown.stdout)
    (note,) = json.loads((tmp_path / "r" / "run.json").read_text(encoding="utf-8"))["notes"]
    assert note.startswith(sentence)
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert page.count("unknown kind &#x27;breakwatr&#x27;") == 1
    swept = CliRunner().invoke(
        cli_main.cli, ["sweep", str(scenario), "--vary", "seed=1,2", "--out", str(tmp_path / "s"), "--json"]
    )
    assert swept.exit_code == 0, swept.output
    assert swept.stderr.count(f"note: {sentence}") == 1


def test_a_far_feature_is_told_on_loading(tmp_path: Path) -> None:
    write(tmp_path, *PILES, point(45.0, 10.0, kind="pile"))
    scenario = tmp_path / "m.toml"
    scenario.write_text(SCENARIO)
    done = CliRunner().invoke(cli_main.cli, ["check", str(scenario)])
    assert done.exit_code == 2
    assert "feature 5: pile: [45, 10] is " in done.stderr
