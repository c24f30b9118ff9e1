"""The pieces of a report: line simplification, map geometry, ticks, sentences, limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldworthy.environment.shapes import Box, Cylinder, Polygon, Polyline
from fieldworthy.trials.report.axis import value_axis
from fieldworthy.trials.report.limits import limits_for
from fieldworthy.trials.report.mapping import Bounds, MapFrame, obstacle_data
from fieldworthy.trials.report.overview import hull_data
from fieldworthy.trials.report.simplify import simplify
from fieldworthy.trials.report.struck import outline_distance_m
from fieldworthy.trials.report.svg import nice_step, path_data, ticks
from fieldworthy.trials.report.text import group_reasons, number, success_sentence
from fieldworthy.trials.report.view import chart_view


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=40), min_size=1, max_size=5
    )
)
def test_simplified_lines_stay_within_tolerance(lines: list[list[tuple[int, int]]]) -> None:
    """Every dropped point lies within the tolerance of what remains; ends stay; no line mixes with another."""
    arrays = [np.array(line, dtype=float) for line in lines]
    for before, after in zip(arrays, simplify(arrays, 2.0), strict=True):
        assert (after[0] == before[0]).all()
        assert (after[-1] == before[-1]).all()
        wall = Polyline(
            points_ne_m=tuple(map(tuple, after.tolist())) * (2 if len(after) == 1 else 1), top_up_m=1, bottom_up_m=0
        )
        assert max(outline_distance_m(wall, *point) for point in before.tolist()) <= 2.0 + 1e-9


def test_simplification_keeps_corners_and_drops_the_rest() -> None:
    """An L of 200 points is three points."""
    leg = np.arange(100.0)
    line = np.concatenate((np.column_stack((leg, 0 * leg)), np.column_stack((0 * leg + 99, leg + 1))))
    assert simplify([line], 0.1)[0].tolist() == [[0, 0], [99, 0], [99, 100]]


def test_map_directions() -> None:
    """North is up and east right; turned, north is right and east down; a metre is the same length both ways."""
    view = Bounds(0, 100, 0, 50)
    upright, turned = MapFrame(view, 10, 20, 2.0), MapFrame(view, 10, 20, 2.0, turned=True)
    assert upright.xy(100, 0) == (10, 20)
    assert upright.xy(0, 50) == (110, 220)
    assert turned.xy(0, 0) == (10, 20)
    assert turned.xy(100, 50) == (210, 120)
    assert (turned.width, turned.height) == (200, 100)


def test_hull_points_where_it_heads() -> None:
    """A bow 3 m forward, heading east, is drawn 3 m to the right; a starboard point then is south, below."""
    frame = MapFrame(Bounds(-10, 10, -10, 10), 0, 0, 10.0)
    hull = np.array([[3.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    assert hull_data(frame, 0.0, 0.0, np.pi / 2, hull) == path_data(
        np.array([[130, 100], [100, 110], [90, 90]]) * [1.0, 1.0], True
    )


def test_far_shapes_are_left_out_and_holes_wind_the_other_way() -> None:
    """Solids outside the view have no path; a rim and its hole have opposite directions, whatever the file's order."""
    frame = MapFrame(Bounds(0, 10, 0, 10), 0, 0, 10.0)
    far = Cylinder(north_m=50, east_m=0, radius_m=1, top_up_m=1, bottom_up_m=0)
    assert obstacle_data(frame, [far], lambda _: "") == []
    rim, hole = ((0, 0), (10, 0), (10, 10), (0, 10)), ((4, 4), (6, 4), (6, 6), (4, 6))
    areas = []
    for ring in (rim, rim[::-1]):
        polygon = Polygon(points_ne_m=ring, holes_ne_m=(hole,), top_up_m=1, bottom_up_m=0)
        [(css, solid)] = obstacle_data(frame, [polygon], lambda _: "shore")
        assert css == "obstacle shore"
        areas += [_signed_area(part) for part in solid.split("M")[1:]]
    assert [np.sign(a) for a in areas] == [-1, 1, -1, 1]
    assert sorted(map(abs, areas)) == pytest.approx([400, 400, 10000, 10000])


def _signed_area(data: str) -> float:
    first, steps = data.rstrip("z").split("l")
    points = np.cumsum(np.array([float(v) for v in f"{first} {steps}".split()]).reshape(-1, 2), axis=0)
    x, y = points.T
    return float(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def test_distance_to_outlines() -> None:
    """Known distances to a circle, a rotated box and a polygon, from outside and inside."""
    assert outline_distance_m(
        Cylinder(north_m=0, east_m=0, radius_m=2, top_up_m=1, bottom_up_m=0), 3, 4
    ) == pytest.approx(3)
    box = Box(north_m=0, east_m=0, length_m=4, width_m=2, heading_rad=np.pi / 2, top_up_m=1, bottom_up_m=0)
    assert outline_distance_m(box, 3, 0) == pytest.approx(2)
    assert outline_distance_m(box, 0, 0) == pytest.approx(1)


def test_ticks_are_round_and_inside() -> None:
    """A few examples, and a span of nothing."""
    assert nice_step(100, 5) == 20
    assert ticks(-0.03, 1.02, 6) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert nice_step(0, 5) == 1.0


def test_the_answer_reads_as_a_sentence() -> None:
    """The headline of the issue's example, one trial, and no plural slip."""
    plain = success_sentence(187, 200).replace("\u202f", " ")
    assert plain == "187 of 200 trials reached the goal: 93.5 % (95 % confidence interval 89.2–96.2 %)"
    assert success_sentence(0, 1).startswith("The only trial did not reach the goal")
    assert number(-0.04) == "0.0"
    assert number(-1.25, 2) == "−1.25"


def test_reasons_that_differ_in_numbers_only_are_one_reason() -> None:
    """Most frequent first; ranges where numbers differ; numbers inside words are names."""
    reasons = group_reasons(
        [
            (3, "no way out"),
            (1, "hit pile p7 at 12.5 s"),
            (2, "hit pile p7 at 9.25 s"),
            (4, "drift -2 m"),
            (5, "drift 3 m"),
        ]
    )
    assert [(r.sentence, r.trials) for r in reasons] == [
        ("hit pile p7 at 9.25–12.5 s", (1, 2)),
        ("drift -2 to 3 m", (4, 5)),
        ("no way out", (3,)),
    ]


def test_many_collisions_are_few_reasons() -> None:
    """Place and form of what was hit are left out; a name with a number is a name; speeds become a range."""
    reasons = group_reasons(
        [
            (0, "hit buoy (cylinder at north 64.1 m, east -9.6 m) at 4.1 m/s"),
            (1, "hit buoy (box at north 12.0 m, east 3.0 m) at 3.2 m/s"),
            (2, "hit pontoon (polygon of 4 points) at 1.5 m/s"),
            (3, "hit cylinder at north 1.0 m, east 2.0 m at 1.0 m/s"),
            (4, "hit cylinder at north -3.0 m, east 2.5 m at 2.0 m/s"),
            (5, "hit pile: No. 7 (cylinder at north 1.0 m, east 2.0 m) at 1.0 m/s"),
            (6, "hit pile: No. 8 (cylinder at north 1.0 m, east 2.0 m) at 1.0 m/s"),
        ]
    )
    assert [r.sentence for r in reasons] == [
        "hit buoy at 3.2–4.1 m/s",
        "hit cylinder at 1.0–2.0 m/s",
        "hit pontoon at 1.5 m/s",
        "hit pile: No. 7 at 1.0 m/s",
        "hit pile: No. 8 at 1.0 m/s",
    ]


def test_a_chart_fills_the_page_within_its_limits() -> None:
    """A tall course gets context at its sides, as far as the chart goes and no farther."""
    course = Bounds(0, 1000, 0, 100)
    wide = chart_view(course, Bounds(-500, 1500, -5000, 5000), 0.1, aspect=1.25)
    assert (wide.south_m, wide.north_m, wide.width_m) == (-100, 1100, 1500)
    narrow = chart_view(course, Bounds(-20, 1010, -300, 150), 0.1, aspect=1.25)
    assert narrow == Bounds(-50, 1050, -300, 150)


def test_values_over_decades_stand_on_a_logarithmic_axis() -> None:
    """Equal ratios are equally far apart, 0 stands before them; a narrow span stays linear."""
    axis = value_axis([0.0, 0.1, 1.0, 10.0], 0.0, 100.0)
    assert axis.log
    assert axis(10.0) - axis(1.0) == pytest.approx(axis(1.0) - axis(0.1))
    assert 0.0 < axis(0.0) < axis(0.1)
    assert not value_axis([8.0, 15.0, 20.0], 0.0, 100.0).log
    assert not value_axis([-1.0, 0.1, 1.0, 100.0], 0.0, 100.0).log


def test_limits_follow_the_scenario() -> None:
    """Waves, sea returns and charts change what is said; the calm sentence and the wave sentence exclude each other."""
    calm = " ".join(limits_for({}))
    rough = " ".join(limits_for({"sea": {"waves": {"height_m": 0.3}}, "sensors": {"lidar": {"sea_returns": True}}}))
    assert "The water is flat" in calm
    assert "only kinematically" not in calm
    assert "only kinematically" in rough
    assert "The water is flat" not in rough
    assert "flat plane that reflects" in rough
    assert "chart" in " ".join(limits_for({"obstacles_geojson": "h.geojson"}))
    assert "no current and no wind" not in " ".join(limits_for({"randomize": {"sea.current_speed_m_s": [0, 1]}}))
