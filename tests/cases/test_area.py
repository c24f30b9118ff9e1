"""The area of a scenario that names none holds whatever any trial can have, with 50 m of water around it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scenario_texts import GOAL, HEAD, folder_with_boat, loads  # noqa: F401

from fieldworthy.core.engine import load_engine
from fieldworthy.core.errors import ScenarioError
from fieldworthy.environment.primitives import build_tables
from fieldworthy.environment.shapes import Polygon
from fieldworthy.scenario.lay_out import bounds
from fieldworthy.vehicles.hull import hull


@pytest.mark.parametrize(
    ("text", "north", "east"),
    [
        ("", (0.0, 100.0), (0.0, 0.0)),
        ("[start]\nnorth_m = -3\nspread_north_m = 10\nspread_east_m = 7\n", (-13.0, 100.0), (-7.0, 7.0)),
        (
            '[[obstacles]]\nkind = "cylinder"\nradius_m = 30\neast_m = 5\nspread_east_m = 2\n',
            (-30.0, 100.0),
            (-27.0, 37.0),
        ),
        ('[[obstacles]]\nkind = "box"\nlength_m = 80\nwidth_m = 2\nheading_deg = 90\n', (-1.0, 100.0), (-40.0, 40.0)),
        (
            '[[obstacles]]\nkind = "polyline"\npoints_ne_m = [[0, 0], [9, 9]]\nnorth_m = 200\nspread_north_m = 5\n',
            (0.0, 214.0),
            (0.0, 9.0),
        ),
        (
            '[[obstacles]]\nkind = "channel"\nlength_m = 90\nwidth_m = 10\n'
            "spread_width_m = 2\nspread_amplitude_m = 3\n",
            (-1.0, 100.0),
            (-9.0, 9.0),
        ),
        (
            "[[scatter]]\ncount = 3\nnorth_m = [0, 200]\neast_m = [-20, 20]\nradius_m = [1, 4]\n",
            (-4.0, 204.0),
            (-24.0, 24.0),
        ),
    ],
)
def test_the_area_holds_every_extent_and_spread(
    folder: Path, text: str, north: tuple[float, float], east: tuple[float, float]
) -> None:
    found = bounds(loads(folder, HEAD + GOAL + text))
    expected = [(low - 50.0, high + 50.0) for low, high in (north, east)]
    assert [
        math.isclose(a, b, abs_tol=1e-9)
        for f, e in zip(found, expected, strict=True)
        for a, b in zip(f, e, strict=True)
    ] == [True] * 4, found


def test_an_outline_that_is_no_list_of_pairs_is_refused() -> None:
    for outline in ([1.0, 2.0, 3.0], [[1.0], [2.0], [3.0]], [["a", "b"]] * 3):
        with pytest.raises(ScenarioError, match="not a list of pairs"):
            hull(outline, 0.3, 2.0, "boat")  # type: ignore[arg-type]


def test_a_polygon_of_a_program_that_crosses_itself_is_refused() -> None:
    bow_tie = Polygon(points_ne_m=((0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)), top_up_m=1.0, bottom_up_m=0.0)
    with pytest.raises(ScenarioError, match="polygon at north"):
        build_tables(load_engine("f32"), [(bow_tie,)])
