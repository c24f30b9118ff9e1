"""FANUC .ls: a welding program by known answers, the J2/J3 sum, frames and tools by number, refusals, writing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from arm_programs import line_of, problems_of

from fieldworthy.arms.chain import Matrix, as_matrix
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs import fanuc_ls
from fieldworthy.core.errors import FieldworthyError, ScenarioError

HEAD = "/PROG  {name}\n/ATTR\nOWNER\t\t= MNEDITOR;\nDEFAULT_GROUP\t= 1,*,*,*,*;\n/APPL\n/MN\n"

SEAM = (
    HEAD.format(name="SEAM_01")
    + """   1:  !Seam on the left side ;
   2:  UFRAME_NUM=2 ;
   3:  UTOOL_NUM=1 ;
   4:J P[1:home] 50% FINE    ;
   5:J P[2] 100% CNT50 ACC80    ;
   6:L P[3] 250mm/sec FINE    ;
   7:  DO[1:torch]=ON ;
   8:  WAIT    .50(sec) ;
   9:C P[4]
    :  P[5] 120cm/min CNT100    ;
  10:L P[2] 2000mm/sec CR20    ;
  11:  CALL CLEAN_TORCH    ;
/POS
P[1:"home"]{
   GP1:
\tUF : 2, UT : 1,\t
\tJ1=    10.000 deg,\tJ2=    30.000 deg,\tJ3=   -20.000 deg,
\tJ4=     0.000 deg,\tJ5=   -90.000 deg,\tJ6=     -.500 deg
};
P[2]{
   GP1:
\tUF : 2, UT : 1,\t\tCONFIG : 'N U T, 0, 0, 0',
\tX =   100.000  mm,\tY =     0.000  mm,\tZ =   150.000  mm,
\tW =   180.000 deg,\tP =     0.000 deg,\tR =     0.000 deg
};
P[3]{
   GP1:
\tUF : 2, UT : 1,\t\tCONFIG : 'N U T, 0, 0, 0',
\tX =   100.000  mm,\tY =     0.000  mm,\tZ =     0.000  mm,
\tW =   180.000 deg,\tP =     0.000 deg,\tR =    90.000 deg
};
P[4]{
   GP1:
\tUF : 2, UT : 1,\t\tCONFIG : 'F U T, 0, 1, 0',
\tX =    70.711  mm,\tY =    70.711  mm,\tZ =     0.000  mm,
\tW =   180.000 deg,\tP =     0.000 deg,\tR =    90.000 deg
};
P[5]{
   GP1:
\tUF : 2, UT : 1,\t\tCONFIG : 'F U T, 0, 1, 0',
\tX =     0.000  mm,\tY =   100.000  mm,\tZ =     0.000  mm,
\tW =     0.000 deg,\tP =    90.000 deg,\tR =     0.000 deg
};
/END
"""
)


def frame(x_m: float, y_m: float, z_m: float, yaw_deg: float = 0.0) -> Matrix:
    c, s = math.cos(math.radians(yaw_deg)), math.sin(math.radians(yaw_deg))
    return as_matrix(np.array([[c, -s, 0.0, x_m], [s, c, 0.0, y_m], [0.0, 0.0, 1.0, z_m], [0.0, 0.0, 0.0, 1.0]]))


FRAMES = {2: frame(1.0, 0.2, -0.1, 90.0)}


def read(text: str, **options: Any) -> Program:
    return fanuc_ls.read(text, "seam.ls", **options)


def position(n: int, x_mm: str = "100.0", uf: str = "0", ut: str = "0", **other: str) -> str:
    values = {"Y": "0", "Z": "0", "W": "0", "P": "0", "R": "0"} | other
    fields = ", ".join(
        f"{key} = {value} {'mm' if key in 'XYZ' else 'deg'}" for key, value in {"X": x_mm, **values}.items()
    )
    return f"P[{n}]{{\n GP1:\n UF : {uf}, UT : {ut}, CONFIG : 'N U T, 0, 0, 0',\n {fields}\n}};\n"


def small(*instructions: str, positions: str | None = None) -> str:
    body = "".join(f"{n:4d}:{text} ;\n" for n, text in enumerate(instructions, 1))
    entries = position(1) + position(2, "300.0") if positions is None else positions
    return HEAD.format(name="SMALL") + body + "/POS\n" + entries + "/END\n"


def problems(text: str, **options: Any) -> list[str]:
    return problems_of(read, text, **options)


def test_a_seam_by_known_answers() -> None:
    tool = frame(0.0, 0.0, 0.35)
    program = read(SEAM, frames=FRAMES, tools={1: tool}, base_from_world=frame(0.0, 0.0, 0.45))
    assert program.name == "SEAM_01"
    assert [move.kind for move in program.moves] == ["joint", "joint", "linear", "circular", "linear"]
    assert [move.line for move in program.moves] == [10, 11, 12, 15, 17]
    assert [move.label for move in program.moves] == ["home", "P[2]", "P[3]", "P[5]", "P[2]"]
    assert [move.joint_speed for move in program.moves] == [0.5, 1.0, None, None, None]
    # 120 cm/min are 20 mm/s.
    assert [move.speed_m_s for move in program.moves[2:]] == pytest.approx([0.25, 0.02, 2.0], rel=1e-12)
    # CNT100 is taken for 50 mm unless told otherwise; CR says its distance.
    assert [move.blend_m for move in program.moves] == pytest.approx([0.0, 0.025, 0.0, 0.05, 0.02], abs=1e-12)
    assert [move.dwell_s for move in program.moves] == [0.0, 0.0, 0.5, 0.0, 0.0]
    assert [move.posture for move in program.moves] == ["", *["N U T, 0, 0, 0"] * 2, "F U T, 0, 1, 0", "N U T, 0, 0, 0"]
    assert {move.flange_from_tool for move in program.moves} == {tool}
    # The frame turned by 90 deg about z, 1.0 and 0.2 m away, on a world 0.45 m above the base.
    tip = np.array(program.moves[1].base_from_frame) @ np.array(program.moves[1].pose)
    assert tip[:3, 3] == pytest.approx([1.0, 0.2 + 0.1, 0.45 - 0.1 + 0.15], abs=1e-12)
    # W 180 about X looks down; with R 90 about the fixed Z the tool's x is the frame's y.
    turn = np.array(program.moves[2].pose)[:3, :3]
    assert turn == pytest.approx(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]), abs=1e-12)
    # P 90 about Y: z of the tool along x of the frame, x of the tool down.
    turn = np.array(program.moves[3].pose)[:3, :3]
    assert turn == pytest.approx(np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), abs=1e-12)
    assert np.array(program.moves[3].via)[:3, 3] == pytest.approx([0.070711, 0.070711, 0.0], abs=1e-12)
    assert any("CNT" in note for note in program.notes)
    assert any("seam.ls:13:" in note and "DO[1:torch]=ON" in note for note in program.notes)
    assert any("CLEAN_TORCH" in note and "another file" in note for note in program.notes)


def forearm(joints: tuple[float, ...]) -> np.ndarray:
    """Direction of the forearm of an arm drawn as ROS-Industrial draws FANUC's: J2 about +y, J3 about -y."""
    pitch = joints[1] - joints[2]
    return np.array([math.cos(pitch), 0.0, -math.sin(pitch)])


def test_moving_j2_alone_keeps_the_forearms_angle_to_the_ground() -> None:
    def joints(j2: float, j3: float, coupled: bool) -> tuple[float, ...]:
        row = ", ".join(f"J{n}= {value} deg" for n, value in enumerate((0.0, j2, j3, 0.0, 0.0, 0.0), 1))
        text = small("J P[1] 10% FINE", positions=f"P[1]{{\n GP1:\n UF : 0, UT : 0,\n {row}\n}};\n")
        found = read(text, coupled=coupled).moves[0].joints
        assert found is not None
        return found

    for j2 in (-40.0, 0.0, 35.0):
        assert forearm(joints(j2, -15.0, True)) == pytest.approx(forearm(joints(0.0, -15.0, True)), abs=1e-12)
        # The pendant's J3 is the angle above the horizontal.
        assert math.degrees(math.asin(forearm(joints(j2, -15.0, True))[2])) == pytest.approx(-15.0)
    assert joints(30.0, -20.0, True) == pytest.approx(np.radians([0, 30, 10, 0, 0, 0]))
    assert joints(30.0, -20.0, False) == pytest.approx(np.radians([0, 30, -20, 0, 0, 0]))


def test_frames_and_tools_by_number() -> None:
    found = problems(SEAM)
    assert all("UF 2" in problem and "frames={2: matrix}" in problem for problem in found)
    assert [line_of(problem) for problem in found] == ["11"]  # once for the frame, not for each position
    program = read(SEAM, frames=FRAMES)
    assert {move.flange_from_tool for move in program.moves} == {None}
    assert any("UT 1" in note for note in program.notes)
    assert any("base_from_world" in note for note in program.notes)
    follow = small("UFRAME_NUM=3", "UTOOL_NUM=4", "L P[1] 100mm/sec FINE", positions=position(1, uf="F", ut="F"))
    move = read(follow, frames={3: frame(0.5, 0, 0)}, tools={4: frame(0, 0, 0.1)}).moves[0]
    assert np.array(move.base_from_frame)[0, 3] == 0.5
    assert move.flange_from_tool == frame(0, 0, 0.1)
    unset = small("L P[1] 100mm/sec FINE", positions=position(1, uf="F"))
    assert "UFRAME_NUM" in problems(unset)[0]
    other = small("UFRAME_NUM=1", "L P[1] 100mm/sec FINE")
    assert any("while UFRAME_NUM is 1" in note for note in read(other).notes)


def test_loops_with_numbers_are_unrolled_and_a_jump_back_at_the_end_is_told() -> None:
    first, second = "L P[1] 100mm/sec FINE", "L P[2] 100mm/sec FINE"
    inner = ("FOR R[2]=2 DOWNTO 1", first, "ENDFOR")
    text = small("LBL[1]", "FOR R[1]=1 TO 3", *inner, second, "ENDFOR", "JMP LBL[1]")
    program = read(text)
    assert [move.label for move in program.moves] == ["P[1]", "P[1]", "P[2]"] * 3
    assert any("repeats from line 7" in note for note in program.notes)
    never = small("FOR R[1]=2 TO 1", "L P[1] 9mm/sec FINE", "ENDFOR", "L P[2] 9mm/sec FINE")
    assert [move.label for move in read(never).moves] == ["P[2]"]
    assert len(read(small("L P[1] 9mm/sec FINE", "END", "L P[2] 9mm/sec FINE")).moves) == 1


def test_a_condition_without_motion_is_a_note() -> None:
    program = read(small("L P[1] 100mm/sec FINE", "IF (DI[1]=ON) THEN", "DO[2]=ON", "ENDIF", "L P[2] 100mm/sec FINE"))
    assert len(program.moves) == 2


def test_times_of_motions() -> None:
    moves = read(small("L P[1] 100mm/sec FINE", "L P[2] 4.0sec FINE", "L P[1] 500msec FINE", "J P[2] 2sec FINE")).moves
    # 200 mm in 4 s and in 0.5 s.
    assert [move.speed_m_s for move in moves[:3]] == pytest.approx([0.1, 0.05, 0.4])
    assert moves[3].joint_speed is None


@pytest.mark.parametrize(
    ("instruction", "said"),
    [
        ("L PR[1] 100mm/sec FINE", "PR[n]"),
        ("L P[9] 100mm/sec FINE", "P[9] is not in /POS"),
        ("L P[2] 100mm/sec FINE Offset,PR[1]", "offset"),
        ("L P[2] 100mm/sec FINE Tool_Offset,PR[1]", "offset"),
        ("L P[2] 100mm/sec FINE INC", "incremental"),
        ("L P[2] 100mm/sec FINE Skip,LBL[1]", "signal"),
        ("L P[2] R[1]mm/sec FINE", "no speed"),
        ("L P[2] 50% FINE", "% for J"),
        ("J P[2] 100mm/sec FINE", "% for J"),
        ("J P[2] 150% FINE", "100%"),
        ("J P[2] 0% FINE", "more than 0"),
        ("L P[2] 100mm/sec", "how the motion ends"),
        ("L P[2] 100mm/sec CNT R[1]", "how the motion ends"),
        ("L P[2] 100mm/sec CNT120", "CNT120"),
        ("L P[2] 1..5mm/sec FINE", "speed"),
        ("C P[1] 100mm/sec FINE", "no position"),
        ("A P[1] 100mm/sec FINE", "J, L or C"),
        ("OFFSET CONDITION PR[1]", "offset"),
        ("IF R[1]=1,JMP LBL[2]", "jump"),
        ("UFRAME_NUM=R[1]", "plain number"),
        ("WAIT -1.0(sec)", "WAIT"),
        ("WAIT x(sec)", "WAIT"),
        ("FOR R[1]=1 TO R[2]", "plain numbers"),
        ("FOR R[1]=1 TO 2", "ENDFOR"),
    ],
)
def test_what_is_refused_names_its_line(instruction: str, said: str) -> None:
    found = problems(small("L P[1] 100mm/sec FINE", instruction))
    assert len(found) == 1
    assert found[0].startswith("seam.ls:8 [")
    assert said in found[0]
    assert "valid:" in found[0]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (position(1, "nan"), "[P[1].X]"),
        (position(1, "inf"), "[P[1].X]"),
        (position(1, "********"), "[P[1].X]"),
        (position(1, Z="abc"), "[P[1].Z]"),
        (position(1).replace("R = 0 deg", ""), "lacks R"),
        (position(1).replace("X = 100.0 mm", "X = 100.0 in"), "[P[1].X]: is in 'in'"),
        (position(1).replace("GP1", "GP2"), "group 1"),
        (position(1) + position(1), "twice"),
        (position(1, uf="R2"), "[P[1].UF]"),
        (position(1, ut="x"), "[P[1].UT]"),
        ("P[1]{\n GP1:\n UF : 0, UT : 0,\n J1= 0 deg, J3= 0 deg\n};\n", "without a gap"),
        ("P[1]{\n GP1:\n UF : 0, UT : 0,\n J1= nan deg\n};\n", "[P[1].J1]"),
    ],
)
def test_positions_that_are_wrong_name_their_field(entry: str, said: str) -> None:
    found = problems(small("DO[1]=ON", positions=position(2) + entry))
    assert any(said in problem and problem.startswith("seam.ls:") for problem in found)


def test_all_problems_of_a_file_at_once() -> None:
    found = problems(
        small("L PR[1] 9mm/sec FINE", "L P[1] FINE", "JMP LBL[1]", "L P[1] 9mm/sec FINE", positions=position(2, "nan"))
    )
    assert [line_of(problem) for problem in found] == ["12", "7", "8", "9", "10"]


def test_files_that_are_no_program_and_wrong_options() -> None:
    assert "/MN" in problems("G1 X0 Y0\n")[0]
    assert "no motion" in problems(small("DO[1]=ON"))[0]
    assert (
        "semicolon"
        in problems(HEAD.format(name="A") + "   1:L P[1] 100mm/sec FINE\n/POS\n" + position(1) + "/END\n")[0]
    )
    for options in ({"frames": {2: np.zeros((4, 4))}}, {"tools": {1: np.ones((3, 3))}}, {"cnt_full_m": math.nan}):
        with pytest.raises(FieldworthyError, match="valid"):
            read(SEAM, **options)


def test_doubts_about_units() -> None:
    assert any(
        "from the robot's base" in n for n in read(small("L P[1] 9mm/sec FINE", positions=position(1, "25000.0"))).notes
    )


def test_a_written_program_is_read_again() -> None:
    world_from_frame, tool = frame(0.8, -0.3, 0.2, 30.0), frame(0.0, 0.01, 0.35, 45.0)
    a, b, c = (
        as_matrix(np.array(frame(x, y, 0.05, yaw)))
        for x, y, yaw in ((0.1, 0.0, 10.0), (0.2, 0.1, 20.0), (0.3, 0.0, 0.0))
    )
    moves = (
        Move("joint", joints=(0.1, -0.5, 0.7, 1.0, -1.2, 3.0), flange_from_tool=tool, joint_speed=0.25),
        Move("joint", pose=a, base_from_frame=world_from_frame, flange_from_tool=tool, joint_speed=1.0, blend_m=0.025),
        Move("linear", pose=b, flange_from_tool=tool, speed_m_s=0.1234, dwell_s=1.25, posture="F D B, 0, -1, 0"),
        Move("circular", pose=c, via=b, base_from_frame=world_from_frame, flange_from_tool=tool, speed_m_s=0.05),
        Move("linear", pose=a),
    )
    text = fanuc_ls.write(Program("round trip", moves))
    assert text.startswith("/PROG  ROUND_TRIP\n")
    assert "! UF1 XYZ 800.000 -300.000 200.000" in text
    assert "! UF1 WPR 0.0000 0.0000 30.0000" in text
    back = read(text, frames={1: world_from_frame}, tools={1: tool}).moves
    assert len(back) == len(moves)
    for old, new in zip(moves, back, strict=True):
        assert (new.kind, new.flange_from_tool) == (old.kind, old.flange_from_tool)
        # Files hold six digits after the point: 1e-9 m and 2e-8 rad.
        for one, other in ((old.joints, new.joints), (old.pose, new.pose), (old.via, new.via)):
            assert (one is None) == (other is None)
            if one is not None and other is not None:
                assert np.array(other) == pytest.approx(np.array(one), abs=2e-8)
        assert np.array(new.base_from_frame) == pytest.approx(np.array(old.base_from_frame), abs=1e-12)
        assert new.joint_speed == old.joint_speed
        assert new.speed_m_s == (None if old.speed_m_s is None else pytest.approx(old.speed_m_s, rel=1e-12))
        assert new.blend_m == pytest.approx(old.blend_m, abs=1e-12)
        assert new.dwell_s == old.dwell_s
    assert back[2].posture == "F D B, 0, -1, 0"
    # The pendant shows J3 less J2: 0.7 - (-0.5) rad.
    assert f"J3= {math.degrees(1.2):.6f} deg" in text


def test_what_cannot_be_written() -> None:
    no_via = Move("circular", pose=frame(1.0, 0.0, 0.0))
    for move, said in ((no_via, "without a point on the way"), (Move("joint", (math.nan,) * 6), "not finite")):
        with pytest.raises(ScenarioError, match=said):
            fanuc_ls.write(Program("p", (move,)))
    with pytest.raises(FieldworthyError, match="joint positions"):
        fanuc_ls.write(Program("p", (Move("joint", joints=(0.0,) * 10),)))
    many = tuple(Move("linear", pose=frame(1, 0, 0), base_from_frame=frame(n, 0, 0)) for n in range(1, 12))
    with pytest.raises(FieldworthyError, match="nine"):
        fanuc_ls.write(Program("p", many))
    assert "left out" in fanuc_ls.write(Program("p", (Move("joint", joints=(0.0,) * 6, time_s=1.0),)))
