"""G-code: a program of a mill by known answers, arcs by their circle, modal state, units, and what is refused."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from arm_programs import line_of, problems_of

from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs import gcode
from fieldworthy.core.errors import FieldworthyError

PLATE = """%
O1001 (PLATE WITH A SLOT)
N10 G21 G90 G17 G40 G49 G80 G94
N20 T1 M6
N30 G54
N40 S8000 M3
N50 G0 X-20. Y0. Z25.
N60 G0 Z2.
N70 G1 Z-1.5 F300
N80 G1 X40. F1200
N90 G3 X50. Y10. I0. J10. ; quarter turn about (40, 10)
N100 G1 Y30.
N110 G2 X60 Y40 R10
N120 G4 P1.5
N130 G0 Z25
N140 M5
N150 M30
%
"""


def read(text: str, **options: Any) -> Program:
    return gcode.read(text, "part.nc", **options)


def at_mm(move: Move) -> tuple[float, ...]:
    return tuple(np.round(np.array(move.pose)[:3, 3] * 1000.0, 9))


def via_mm(move: Move) -> np.ndarray:
    return np.array(move.via)[:3, 3] * 1000.0


def problems(text: str, **options: Any) -> list[str]:
    return problems_of(read, text, **options)


def test_a_plate_by_known_answers() -> None:
    program = read(PLATE)
    assert program.name == "part"
    assert [move.kind for move in program.moves] == ["linear"] * 4 + ["circular", "linear", "circular", "linear"]
    assert [at_mm(move) for move in program.moves] == [
        (-20, 0, 25), (-20, 0, 2), (-20, 0, -1.5), (40, 0, -1.5),
        (50, 10, -1.5), (50, 30, -1.5), (60, 40, -1.5), (60, 40, 25),
    ]  # fmt: skip
    # 300 mm/min are 5 mm/s, 1200 mm/min are 20 mm/s; a rapid has no speed of its own.
    assert [move.speed_m_s for move in program.moves[2:-1]] == pytest.approx([0.005, *[0.02] * 4], rel=1e-12)
    assert {program.moves[n].speed_m_s for n in (0, 1, -1)} == {None}
    assert [move.label for move in program.moves] == "G0 G0 G1 G1 G3 G1 G2 G0".split()
    assert [move.dwell_s for move in program.moves] == [0, 0, 0, 0, 0, 0, 1.5, 0]
    assert [move.line for move in program.moves] == [7, 8, 9, 10, 11, 12, 13, 15]
    # Half way round the quarter about (40, 10), r = 10, from below to the right: at -45 deg.
    half = 10.0 * math.sqrt(0.5)
    assert via_mm(program.moves[4]) == pytest.approx([40 + half, 10 - half, -1.5], abs=1e-9)
    # Clockwise from (50, 30) to (60, 40) with R10: about (60, 30), through 135 deg.
    assert via_mm(program.moves[6]) == pytest.approx([60 - half, 30 + half, -1.5], abs=1e-9)
    for word in ("T1 M6", "S8000 M3", "M5", "O1001"):
        assert any(word in note for note in program.notes), word


def test_the_tool_points_down_and_its_x_is_the_frames_x() -> None:
    turn = np.array(read(PLATE).moves[0].pose)[:3, :3]
    assert turn == pytest.approx(np.diag([1.0, -1.0, -1.0]), abs=1e-12)
    # A horizontal spindle along the frame's x: x has no part left across it, so the tool's x is the frame's y.
    turn = np.array(read(PLATE, frame_from_tool_axis=(2.0, 0.0, 0.0)).moves[0].pose)[:3, :3]
    assert turn == pytest.approx(np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), abs=1e-12)


def test_the_workpiece_is_where_it_is_put() -> None:
    base_from_frame = np.array(
        [[0.0, -1.0, 0.0, 0.8], [1.0, 0.0, 0.0, 0.1], [0.0, 0.0, 1.0, 0.3], [0.0, 0.0, 0.0, 1.0]]
    )
    program = read(PLATE, base_from_frame=base_from_frame)
    tip = np.array(program.moves[3].base_from_frame) @ np.array(program.moves[3].pose) @ np.array([0.0, 0.0, 0.0, 1.0])
    assert tip[:3] == pytest.approx([0.8, 0.1 + 0.040, 0.3 - 0.0015], abs=1e-12)


@pytest.mark.parametrize(
    ("plane", "arc", "through_mm"),
    [
        # NIST RS274: counterclockwise seen from the positive end of the axis across the plane; r = 10, a quarter from
        # (10, 0) to (0, 10) in the plane's own two axes, which are x y, z x and y z.
        ("G17", "G0 X10 Y0 Z0\nG3 X0 Y10 I-10 J0 F100", (1, 1, 0)),
        ("G18", "G0 X0 Y0 Z10\nG3 X10 Z0 K-10 I0 F100", (1, 0, 1)),
        ("G19", "G0 X0 Y10 Z0\nG3 Y0 Z10 J-10 K0 F100", (0, 1, 1)),
        # The same ends clockwise go the long way round, through the opposite side.
        ("G17", "G0 X10 Y0 Z0\nG2 X0 Y10 R-10 F100", None),
    ],
)
def test_arcs_lie_on_their_circle(plane: str, arc: str, through_mm: tuple[int, int, int] | None) -> None:
    moves = read(f"{plane}\n{arc}\n").moves[1:]
    if through_mm is None:
        # R < 0 is the longer arc: three quarters about (0, 0), first below the x axis, then left of the y axis.
        assert len(moves) == 2
        for move in moves:
            for point in (via_mm(move), np.array(at_mm(move))):
                assert math.hypot(point[0], point[1]) == pytest.approx(10.0, abs=1e-9)
        assert via_mm(moves[0])[1] < 0.0
        assert via_mm(moves[1])[0] < 0.0
        return
    assert len(moves) == 1
    assert via_mm(moves[0]) == pytest.approx(np.array(through_mm) * 10.0 * math.sqrt(0.5), abs=1e-9)


def test_a_full_circle_is_two_halves() -> None:
    first, second = read("G0 X10 Y0 Z5\nG2 I-10 J0 F600\n").moves[1:]
    assert via_mm(first) == pytest.approx([0, -10, 5], abs=1e-9)
    assert at_mm(first) == pytest.approx([-10, 0, 5], abs=1e-9)
    assert via_mm(second) == pytest.approx([0, 10, 5], abs=1e-9)
    assert at_mm(second) == (10, 0, 5)


def circle(a: np.ndarray, b: np.ndarray, c: np.ndarray, n: int) -> np.ndarray:
    """Points of the arc from a through b to c, by the plane and the centre that three points make."""
    ab, ac = b - a, c - a
    normal = np.cross(ab, ac)
    centre = a + (np.cross(normal, ab) * (ac @ ac) + np.cross(ac, normal) * (ab @ ab)) / (2.0 * normal @ normal)
    u = a - centre
    v = np.cross(normal / np.linalg.norm(normal), u)
    end = math.atan2((c - centre) @ v, (c - centre) @ u) % (2.0 * math.pi)
    angle = np.linspace(0.0, end, n)[:, None]
    return centre + np.cos(angle) * u + np.sin(angle) * v


def test_a_helix_stays_on_the_helix() -> None:
    # r = 20 mm, two turns (P2) down by 6 mm: pitch 3 mm.
    program = read("G0 X20 Y0 Z0\nG3 X20 Y0 Z-6 I-20 J0 P2 F600\n")
    moves = program.moves[1:]
    assert len(moves) == 24
    assert at_mm(moves[-1]) == (20, 0, -6)
    start, turned = np.array([20.0, 0.0, 0.0]), 0.0
    for move in moves:
        points = circle(start, via_mm(move), np.array(at_mm(move)), 9)
        angle = np.unwrap(np.concatenate(([turned], np.arctan2(points[1:, 1], points[1:, 0]))))
        assert np.hypot(points[:, 0], points[:, 1]) == pytest.approx(20.0, abs=3.0 * 0.0003)
        assert points[:, 2] == pytest.approx(-3.0 * angle / (2.0 * math.pi), abs=3.0 * 0.0003)
        start, turned = np.array(at_mm(move)), angle[-1]
    assert turned == pytest.approx(4.0 * math.pi, abs=1e-9)


def test_inches_increments_and_modal_words() -> None:
    moves = read("G20 G90\nG1 X1 Y1 Z1 F60\nG91 X.5\nY-.5 Z0.25\nG90 G21 X0\n").moves
    assert [at_mm(move) for move in moves] == [
        (25.4, 25.4, 25.4), (38.1, 25.4, 25.4), (38.1, 12.7, 31.75), (0, 12.7, 31.75),
    ]  # fmt: skip
    assert moves[0].speed_m_s == pytest.approx(0.0254, rel=1e-12)  # 60 in/min


def test_absolute_centres() -> None:
    moves = read("G90.1\nG0 X10 Y5 Z0\nG3 X0 Y15 I0 J5 F100\n").moves
    assert via_mm(moves[1]) == pytest.approx([10 * math.sqrt(0.5), 5 + 10 * math.sqrt(0.5), 0], abs=1e-9)


def test_nothing_moves_before_all_axes_are_known() -> None:
    program = read("G0 Z50\nG0 X1 Y2\nG1 Z0 F100\n")
    assert [at_mm(move) for move in program.moves] == [(1, 2, 50), (1, 2, 0)]
    assert any("part.nc:1:" in note and "X, Y" in note for note in program.notes)
    assert at_mm(read("G91 G1 X1 F100\n", start_mm=(5, 6, 7)).moves[0]) == (6, 6, 7)
    assert "incremental" in problems("G91\nG1 X1 F100\n")[0]


def test_a_reference_point_makes_its_axes_unknown() -> None:
    program = read("G0 X1 Y2 Z3\nG91 G28 Z0\nG90\nG0 X5\nG0 Z9\n")
    assert [at_mm(move) for move in program.moves] == [(1, 2, 3), (5, 2, 9)]


def test_a_head_turns_the_tool_about_its_tip() -> None:
    text = "G43.4 H1\nG0 X1 Y2 Z3 B90\nG1 X4 C90 F100\n"
    assert "rotary='head'" in problems(text)[0]
    first, second = read(text, rotary="head").moves
    # B = 90 deg about y takes the tool's z from -z to -x; C = 90 deg about z takes that on to -y.
    assert np.array(first.pose)[:3, 2] == pytest.approx([-1, 0, 0], abs=1e-12)
    assert np.array(second.pose)[:3, 2] == pytest.approx([0, -1, 0], abs=1e-12)
    assert at_mm(second) == (4, 2, 3)


def test_work_offsets_need_their_frames_when_there_are_two() -> None:
    text = "G54\nG0 X1 Y1 Z1\nG55\nG0 X1 Y1 Z1\n"
    assert "part.nc:3" in problems(text)[0]
    shifted = np.eye(4)
    shifted[0, 3] = 0.5
    moves = read(text, frames={"G55": shifted}).moves
    assert [np.array(move.base_from_frame)[0, 3] for move in moves] == [0.0, 0.5]


def test_the_tool_stays_where_it_is_when_the_work_offset_changes() -> None:
    """An axis that the new offset's first block leaves out does not move; nor does G91 start anywhere else."""
    turned = np.array([[0.0, -1.0, 0.0, 0.5], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.02], [0.0, 0.0, 0.0, 1.0]])
    start, moved, step = read("G54\nG0 X10 Y20 Z60\nG55\nG0 Z50\nG91\nG0 Y1\n", frames={"G55": turned}).moves
    in_base = [np.array(move.base_from_frame) @ np.array(move.pose) for move in (start, moved, step)]
    assert 1000 * in_base[1][:3, 3] == pytest.approx([10.0, 20.0, 70.0])
    # Y of the offset that is turned by a quarter is -X of the base.
    assert 1000 * in_base[2][:3, 3] == pytest.approx([9.0, 20.0, 70.0])


def test_the_time_of_a_dwell() -> None:
    text = "G0 X1 Y1 Z1\nG4 P500\n"
    assert read(text).moves[0].dwell_s == 500.0
    assert any("dwell_unit" in note for note in read(text).notes)
    assert read(text, dwell_unit="ms").moves[0].dwell_s == 0.5
    assert read("G0 X1 Y1 Z1\nG4 X2\n", dwell_unit="ms").moves[0].dwell_s == 2.0


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("G81 X1 Y1 Z-5 R2", "canned cycle"),
        ("G41 D1", "compensation"),
        ("G5.1 X1 Y1 I1 J1", "spline"),
        ("G92 X0 Y0", "coordinates"),
        ("G95", "feed"),
        ("M98 P100", "subprogram"),
        ("#1=5", "parameters"),
        ("G1 X[1+2]", "parameters"),
        ("O100 sub", "O-words"),
        ("G1 Xnan", "no word"),
        ("G1 X" + "9" * 400, "finite"),
        ("G1 X1 X2", "twice"),
        ("G1 G2 X1", "one motion"),
        ("G1 X1 F0", "positive"),
        ("G4", "G4"),
        ("G4 P-1", "G4"),
        ("G123 X1", "not known"),
        ("G2 X5 Y5", "no centre"),
        ("G2 X5 Y5 K1", "with K"),
        ("G2 X50 Y0 R10", "chord"),
        ("G2 X0 Y0 R10", "full circle"),
        ("G2 X5 Y5 I1 J0", "from its centre"),
        ("G2 I0 J0", "centre of the arc"),
        ("G2 X5 Y5 I5 J0 P0.5", "turns"),
        ("G2 X5 Y5 I5 J0 P99999999", "turns"),
        ("G1 X1 (open", "comment"),
        ("G1 U1 X2", "U, V, W"),
        ("W-2", "U, V, W"),
        ("hello", "no word"),
    ],
)
def test_what_is_refused_names_its_line(block: str, said: str) -> None:
    found = problems(f"G0 X0 Y0 Z0\nG1 Z1 F100\n{block}\n")
    assert len(found) == 1
    assert re.match(r"part\.nc:3( \[\w+\])?: ", found[0])
    assert said in found[0]
    assert "valid:" in found[0]


def test_all_problems_at_once() -> None:
    found = problems("G0 X0 Y0 Z0\nG81 X1\nG1 Xx\nG41\n")
    assert [line_of(problem) for problem in found] == ["2", "3", "4"]


def test_files_without_motion_and_wrong_options() -> None:
    assert "no motion" in problems("(nothing)\n")[0]
    for options in (
        {"rotary": "table"},
        {"dwell_unit": "min"},
        {"frame_from_tool_axis": (0.0, 0.0, 0.0)},
        {"base_from_frame": np.zeros((4, 4))},
    ):
        with pytest.raises(FieldworthyError, match="valid"):
            read(PLATE, **options)


def test_doubts_about_units() -> None:
    assert any("from the robot's base" in note for note in read("G0 X30000 Y0 Z0\nG0 X0\n").notes)
    assert any("further than 2 mm" in note for note in read("G0 X0 Y0 Z0\nG0 X2\n").notes)
    assert not any("unit" in note for note in read(PLATE).notes)


def test_what_follows_the_end_is_not_read() -> None:
    assert len(read("G0 X1 Y1 Z1\nM30\nG0 X2\n").moves) == 1
