"""APT-CL: a finishing path by known answers, tool axes, the free turn about them, units, circles, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from arm_programs import line_of, problems_of

from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs import apt
from fieldworthy.core.errors import FieldworthyError

BLADE = """$$ finishing of a blade
PARTNO BLADE
UNITS/MM
MULTAX/ON
CUTTER/ 10.0, 5.0
LOADTL/1
SPINDL/RPM, 6000, CLW
FROM/0.,0.,100.
RAPID
GOTO/ 100.0, 0.0, 50.0, 0.0, 0.0, 1.0
FEDRAT/ 600., MMPM
GOTO/ 100.0, 0.0, 10.0
GOTO/ 120.0, 5.0, 10.0, $
      0.6, 0.0, 0.8      $$ leaning over to +x
DELAY/0.5
GOTO/ 140.0, 5.0, 12.0, 0.0, 0.6, 0.8
COOLNT/OFF
GOHOME
FINI
GOTO/1,2,3
"""


def read(text: str, **options: Any) -> Program:
    return apt.read(text, "blade.cls", **options)


def at_mm(move: Move) -> tuple[float, ...]:
    return tuple(np.round(np.array(move.pose)[:3, 3] * 1000.0, 9))


def z_of(move: Move) -> np.ndarray:
    return np.array(move.pose)[:3, 2]


def problems(text: str, **options: Any) -> list[str]:
    return problems_of(read, text, **options)


def test_a_blade_by_known_answers() -> None:
    program = read(BLADE)
    assert program.name == "BLADE"
    assert [at_mm(move) for move in program.moves] == [
        (100, 0, 50), (100, 0, 10), (120, 5, 10), (140, 5, 12), (0, 0, 100),
    ]  # fmt: skip
    assert [move.kind for move in program.moves] == ["linear"] * 5
    # 600 mm/min are 10 mm/s; a RAPID is for one move.
    assert [move.speed_m_s for move in program.moves] == [None, *[pytest.approx(0.010, rel=1e-12)] * 3, None]
    assert [move.label for move in program.moves] == ["RAPID", "", "", "", "GOHOME"]
    assert [move.dwell_s for move in program.moves] == [0, 0, 0.5, 0, 0]
    assert [move.line for move in program.moves] == [10, 12, 13, 16, 18]
    # The axis goes from tip to holder; the tool's z goes into the material.
    assert z_of(program.moves[1]) == pytest.approx([0, 0, -1], abs=1e-12)
    assert z_of(program.moves[2]) == pytest.approx([-0.6, 0, -0.8], abs=1e-12)
    assert z_of(program.moves[3]) == pytest.approx([0, -0.6, -0.8], abs=1e-12)
    assert z_of(program.moves[4]) == pytest.approx([0, -0.6, -0.8], abs=1e-12)
    for word in ("CUTTER", "LOADTL", "SPINDL", "COOLNT", "FROM"):
        assert any(word in note for note in program.notes), word


def test_the_first_x_is_the_frames_x_and_leaning_turns_no_more_than_the_axis() -> None:
    moves = read(BLADE).moves
    first, _, leaning, over, _ = (np.array(move.pose)[:3, :3] for move in moves)
    assert first == pytest.approx(np.diag([1.0, -1.0, -1.0]), abs=1e-12)
    # From (0, 0, 1) to (0.6, 0, 0.8) is a turn about y alone: the tool's y stays.
    assert leaning[:, 1] == pytest.approx([0, -1, 0], abs=1e-12)
    # The smallest turn between two orientations with given z axes has the angle between the axes: trace = 1 + 2 cos.
    for a, b in ((first, leaning), (leaning, over)):
        assert np.trace(a.T @ b) == pytest.approx(1.0 + 2.0 * a[:, 2] @ b[:, 2], abs=1e-12)


def test_orientations_of_a_continuous_axis_are_continuous_through_the_pole() -> None:
    # The axis swings over the pole, where rules such as "x of the frame, projected" or Euler angles jump.
    angles = np.radians(np.linspace(-40.0, 40.0, 81))
    text = "".join(f"GOTO/{n},0,0,{0.001 * math.sin(9 * a):.12f},{math.sin(a):.12f},{math.cos(a):.12f}\n"
                   for n, a in enumerate(angles))  # fmt: skip
    turns = [np.array(move.pose)[:3, :3] for move in read(text).moves]
    for a, b in zip(turns, turns[1:], strict=False):
        step = math.acos(min(1.0, (np.trace(a.T @ b) - 1.0) / 2.0))
        assert step < math.radians(1.1)
    for turn in turns:
        assert turn.T @ turn == pytest.approx(np.eye(3), abs=1e-12)
        assert np.linalg.det(turn) == pytest.approx(1.0, abs=1e-12)


def test_a_thousand_turns_stay_orthonormal_and_a_flip_is_survived() -> None:
    ring = [(math.sin(0.7 * n) * 0.6, math.cos(0.7 * n) * 0.6, 0.8) for n in range(1000)]
    text = (
        "".join(f"GOTO/0,0,{n},{i:.9f},{j:.9f},{k}\n" for n, (i, j, k) in enumerate(ring))
        + "GOTO/0,0,0,0,0,1\nGOTO/1,0,0,0,0,-1\n"
    )
    moves = read(text).moves
    last = np.array(moves[-1].pose)[:3, :3]
    assert last.T @ last == pytest.approx(np.eye(3), abs=1e-12)
    assert last[:, 2] == pytest.approx([0, 0, 1], abs=1e-12)
    assert last[:, 0] == pytest.approx(np.array(moves[-2].pose)[:3, 0], abs=1e-12)


def test_inches_and_feed_units() -> None:
    program = read(
        "UNITS/INCHES\nFEDRAT/60\nGOTO/1,2,3\nFEDRAT/IPM,120\nGODLTA/0.5,0,-1\nFEDRAT/254,MMPM\nGOTO/0,0,0\n"
    )
    assert [at_mm(move) for move in program.moves] == [(25.4, 50.8, 76.2), (38.1, 50.8, 50.8), (0, 0, 0)]
    # 60 in/min = 1 in/s; 120 in/min = 2 in/s; 254 mm/min = 10 in/min.
    assert [move.speed_m_s for move in program.moves] == pytest.approx([0.0254, 0.0508, 0.254 / 60.0], rel=1e-12)


def test_the_workpiece_is_where_it_is_put() -> None:
    base_from_frame = np.array(
        [[-1.0, 0.0, 0.0, 1.2], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.4], [0.0, 0.0, 0.0, 1.0]]
    )
    move = read("GOTO/100,200,300\nGOTO/0,0,0\n", base_from_frame=base_from_frame).moves[0]
    assert (np.array(move.base_from_frame) @ np.array(move.pose))[:3, 3] == pytest.approx([1.1, -0.2, 0.7], abs=1e-12)


def test_a_circle_before_many_points_is_those_points() -> None:
    points = "".join(f"GOTO/{10 * math.cos(a):.6f},{10 * math.sin(a):.6f},0\n" for a in np.linspace(0.1, 1.5, 15))
    program = read(f"GOTO/10,0,0\nCIRCLE/0,0,0,0,0,1,10\n{points}")
    assert len(program.moves) == 16
    assert {move.kind for move in program.moves} == {"linear"}
    assert any("15 points" in note for note in program.notes)


def test_a_circle_before_its_end_point_needs_to_know_the_way_round() -> None:
    text = "GOTO/10,0,0\nFEDRAT/600\nCIRCLE/0,0,0,0,0,-1,10,0.002,0.5,1.0,0.0\nGOTO/0,10,0\nGOTO/0,20,0\n"
    assert problems(text)[0].startswith("blade.cls:3 [CIRCLE]: ")
    half = 10.0 * math.sqrt(0.5)
    # Clockwise seen against (0, 0, -1), from below, is counterclockwise seen from above: the quarter.
    arc = read(text, circle="clockwise").moves[1]
    assert arc.kind == "circular"
    assert np.array(arc.via)[:3, 3] * 1000.0 == pytest.approx([half, half, 0], abs=1e-9)
    assert arc.speed_m_s == pytest.approx(0.010)
    other = read(text, circle="counterclockwise").moves[1:3]
    assert [move.kind for move in other] == ["circular"] * 2
    assert np.array(other[0].via)[:3, 3][1] < 0.0
    assert at_mm(other[1]) == (0, 10, 0)


def test_a_full_circle_in_apt() -> None:
    first, second = read("GOTO/10,0,5\nCIRCLE/0,0,5,0,0,1,10\nGOTO/10,0,5\n", circle="counterclockwise").moves[1:]
    assert np.array(first.via)[:3, 3] * 1000.0 == pytest.approx([0, 10, 5], abs=1e-9)
    assert np.array(second.via)[:3, 3] * 1000.0 == pytest.approx([0, -10, 5], abs=1e-9)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("GOTO/1,2", "2 numbers"),
        ("GOTO/1,2,3,4", "4 numbers"),
        ("GOTO/1,2,nan", "[GOTO.z]"),
        ("GOTO/1,2,inf", "[GOTO.z]"),
        ("GOTO/1,,3", "[GOTO.y]"),
        ("GOTO/PT1", "1 numbers"),
        ("GOTO/1,2,3,0,0,0", "length 0"),
        ("GOTO/1,2,3,0,0,2", "length 2"),
        ("GOTO/1,2,3,0,x,1", "[GOTO.j]"),
        ("FEDRAT/0.2,MMPR", "each turn"),
        ("FEDRAT/-5", "positive"),
        ("FEDRAT/", "not understood"),
        ("UNITS/CUBITS", "not known"),
        ("CYCLE/DRILL,10,MMPM,100", "canned"),
        ("TRACUT/M1", "coordinates"),
        ("PT1=POINT/1,2,3", "geometry"),
        ("GOFWD/L1", "geometry"),
        ("LOOPST", "control flow"),
        ("CIRCLE/0,0,0,0,0,1,-5", "radius"),
        ("CIRCLE/0,0,0,0,0,1", "CIRCLE"),
        ("DELAY/-1", "DELAY"),
        ("DELAY/1,2", "DELAY"),
        ("GOHOME", "HOME"),
    ],
)
def test_what_is_refused_names_its_line(statement: str, said: str) -> None:
    found = problems(f"GOTO/0,0,0\n{statement}\nGOTO/1,1,1\n")
    assert len(found) == 1
    assert found[0].startswith("blade.cls:2 [")
    assert said in found[0]
    assert "valid:" in found[0]


def test_other_mistakes() -> None:
    assert [line_of(problem) for problem in problems("GOTO/1\nUNITS/X\nGODLTA/1,2,3\n")] == ["1", "2", "3"]
    assert "continues" in problems("GOTO/1,2,3\nGOTO/1,2, $\n")[0]
    assert "no GOTO" in problems("PARTNO NOTHING\nFINI\n")[0]
    assert "off the CIRCLE" in problems("GOTO/9,0,0\nCIRCLE/0,0,0,0,0,1,10\nGOTO/0,10,0\n", circle="clockwise")[0]
    assert "helix" in problems("GOTO/10,0,0\nCIRCLE/0,0,0,0,0,1,10\nGOTO/0,10,3\n", circle="clockwise")[0]
    with pytest.raises(FieldworthyError, match="clockwise"):
        read(BLADE, circle="left")
    with pytest.raises(FieldworthyError, match="base_from_frame"):
        read(BLADE, base_from_frame=np.ones((4, 4)))


def test_doubts_about_units() -> None:
    assert any("from the robot's base" in note for note in read("GOTO/0,0,0\nGOTO/0,0,21000\n").notes)
    assert any("further than 1.5 mm" in note for note in read("GOTO/0,0,0\nGOTO/1.5,0,0\n").notes)
