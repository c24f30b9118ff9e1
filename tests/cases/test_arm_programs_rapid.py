"""RAPID: a picking program by known answers, frames, Offs and RelTool, flow that is carried out, refusals, writing."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from arm_programs import line_of, problems_of

from fieldworthy.arms.chain import IDENTITY, Matrix, as_matrix
from fieldworthy.arms.orientation import matrix_of
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs import rapid, running
from fieldworthy.core.errors import FieldworthyError, ScenarioError

PICK = """%%%
  VERSION:1
  LANGUAGE:ENGLISH
%%%
MODULE PickPart
  ! data of the cell
  PERS tooldata tGrip:=[TRUE,[[0,0,120],[0.7071068,0,0,0.7071068]],[1.5,[0,0,60],[1,0,0,0],0,0,0]];
  TASK PERS wobjdata wTable:=[FALSE,TRUE,"",[[600,-200,50],[0.7071068,0,0,0.7071068]],[[0,0,10],[1,0,0,0]]];
  CONST jointtarget jHome:=[[0,-30,30,0,90,0],[9E9,9E9,9E9,9E9,9E9,9E9]];
  CONST robtarget pPick:=[[100,50,0],[0,1,0,0],[-1,0,-2,0],[9E+09,9E+09,9E+09,9E+09,9E+09,9E+09]];
  VAR speeddata vSlow:=[75,200,5000,1000];
  CONST zonedata zWide:=[FALSE,35,50,50,5,50,5];
  LOCAL VAR num nLift:=80;

  PROC main()
    ConfL\\Off;
    MoveAbsJ jHome\\NoEOffs,vmax,fine,tGrip;
    MoveJ Offs(pPick,0,0,nLift),v1000,z50,tGrip
      \\WObj:=wTable;
    MoveL pPick,vSlow,fine,tGrip\\WObj:=wTable;
    SetDO doGrip,1; WaitTime 0.4; WaitTime\\InPos,0.1;
    MoveL RelTool(pPick,0,0,-nLift\\Rz:=90),v200\\V:=150,zWide\\Z:=12,tGrip\\WObj:=wTable;
    MoveC [[200,0,100],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],
          [[300,50,100],[0,1,0,0],[0,-1,0,1],[9E9,9E9,9E9,9E9,9E9,9E9]],
          v100,z0,tool0; ! an arc in the base
    TPWrite "done; all of it";
  ENDPROC
ENDMODULE
"""


def read(text: str, **options: Any) -> Program:
    return rapid.read(text, "pick.mod", **options)


def module(body: str, data: str = "") -> str:
    return f"MODULE M\n{data}\nPROC main()\n{body}\nENDPROC\nENDMODULE\n"


def target(x: float = 100.0, y: float = 0.0, z: float = 300.0) -> str:
    return f"[[{x},{y},{z}],[0,0,1,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]]"


def at_mm(move: Move) -> np.ndarray:
    return np.array(move.pose)[:3, 3] * 1000.0


def problems(text: str, **options: Any) -> list[str]:
    return problems_of(read, text, **options)


def test_a_pick_by_known_answers() -> None:
    program = read(PICK)
    home, above, down, up, arc = program.moves
    assert program.name == "PickPart"
    assert [move.kind for move in program.moves] == ["joint", "joint", "linear", "linear", "circular"]
    assert [move.line for move in program.moves] == [17, 18, 20, 22, 23]
    assert home.joints == pytest.approx(np.radians([0, -30, 30, 0, 90, 0]))
    assert (home.speed_m_s, home.joint_speed, home.blend_m) == (None, 1.0, 0.0)
    assert [move.speed_m_s for move in program.moves[1:]] == pytest.approx([1.0, 0.075, 0.15, 0.1], rel=1e-12)
    assert [move.blend_m for move in program.moves[1:]] == pytest.approx([0.05, 0.0, 0.012, 0.0003], rel=1e-12)
    assert down.dwell_s == pytest.approx(0.5)
    assert [move.label for move in program.moves] == ["jHome", "Offs(pPick)", "pPick", "RelTool(pPick)", ""]
    assert [move.posture for move in program.moves[1:]] == [*["[-1,0,-2,0]"] * 3, "[0,-1,0,1]"]
    assert at_mm(above) == pytest.approx([100, 50, 80])
    # q = (0, 1, 0, 0) is half a turn about x: the tool looks down, and 80 mm against its z is up.
    assert np.array(down.pose)[:3, :3] == pytest.approx(np.diag([1.0, -1.0, -1.0]), abs=1e-12)
    assert at_mm(up) == pytest.approx([100, 50, 80])
    # Rz:=90 about the tool's own z, which is -z of the table: the tool's x goes to -y of the table.
    assert np.array(up.pose)[:3, :3] == pytest.approx(
        np.array([[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]), abs=1e-7
    )
    # uframe turned by 90 deg about z at (600, -200, 50), oframe 10 mm above it: x of the table is y of the base.
    tip = np.array(down.base_from_frame) @ np.array(down.pose)
    assert tip[:3, 3] * 1000.0 == pytest.approx([600 - 50, -200 + 100, 60], abs=1e-9)
    assert np.array(down.flange_from_tool)[:3, 3] == pytest.approx([0, 0, 0.12])
    assert np.array(down.flange_from_tool)[:3, 0] == pytest.approx([0, 1, 0], abs=1e-7)
    assert (arc.base_from_frame, arc.flange_from_tool) == (IDENTITY, IDENTITY)
    assert np.array(arc.via)[:3, 3] * 1000.0 == pytest.approx([200, 0, 100])
    assert at_mm(arc) == pytest.approx([300, 50, 100])
    for word in ("ConfL", "SetDO", "TPWrite"):
        assert any(word in note for note in program.notes), word


def test_reltool_turns_about_x_then_the_new_y_then_the_new_z() -> None:
    body = (
        f"MoveL RelTool({target(0, 0, 500).replace('[0,0,1,0]', '[1,0,0,0]')},10,0,0\\Rx:=90\\Ry:=90),v100,fine,tool0;"
    )
    move = read(module(body)).moves[0]
    # x stays for Rx; then the new y is z of the frame: x goes to -(new z), which is y of the frame.
    assert np.array(move.pose)[:3, 0] == pytest.approx([0, 1, 0], abs=1e-12)
    assert at_mm(move) == pytest.approx([10, 0, 500])


def test_flow_is_carried_out() -> None:
    program = read(
        module(
            """
  FOR i FROM 1 TO 2 DO
    FOR j FROM 3 TO 1 STEP -2 DO
      MoveL Offs(p,i*100,j*10,0),v100,fine,tool0;
    ENDFOR
  ENDFOR
  p.trans.z:=p.trans.z+50;
  IF nCount>=2 AND NOT bSkip THEN
    Go rows{2},5;
  ELSEIF nCount=1 THEN
    MoveL p,v5,fine,tool0;
  ELSE
    MoveL p,v5,fine,tool0;
  ENDIF
  WHILE nCount>0 DO
    nCount:=nCount-1;
    MoveL p,v200,fine,tool0;
  ENDWHILE
  IF bSkip RETURN;
  MoveL p,v300,fine,tool0;
  EXIT;
  MoveL p,v400,fine,tool0;
ENDPROC
PROC Go(robtarget where, num lift)
  VAR pos up;
  up.z:=lift*2;
  where.trans:=where.trans+up;
  MoveJ where,v50,z10,tool0;""",
            f"VAR robtarget p:={target(0, 0, 0)};\nVAR num nCount:=2;\nVAR bool bSkip;\n"
            f"CONST robtarget rows{{2}}:=[{target(1)},{target(2, 0, 100)}];",
        )
    )
    found = [tuple(np.round(at_mm(move), 9)) for move in program.moves]
    assert found == [(100, 30, 0), (100, 10, 0), (200, 30, 0), (200, 10, 0), (2, 0, 110), *[(0, 0, 50)] * 3]
    assert [move.speed_m_s for move in program.moves[4:]] == pytest.approx([0.05, 0.2, 0.2, 0.3])


def test_not_binds_weaker_than_a_comparison() -> None:
    """RAPID kernel manual, expressions: relations before NOT, AND and OR."""
    text = module(
        f"IF NOT n=2 MoveL {target(1)},v100,fine,tool0;\nIF n=1 AND NOT n=1 MoveL {target(2)},v100,fine,tool0;\n"
        f"IF NOT (n=1) OR n=1 MoveL {target(3)},v100,fine,tool0;",
        "VAR num n:=1;",
    )
    assert [at_mm(move)[0] for move in read(text).moves] == pytest.approx([1.0, 3.0])


def test_an_endless_loop_is_read_once_and_conditions_without_motion_are_notes() -> None:
    program = read(
        module(f"WHILE TRUE DO\nIF TestDI(di1) THEN\nSet do1;\nENDIF\nMoveL {target()},v100,fine,tool0;\nENDWHILE")
    )
    assert len(program.moves) == 1
    assert any("read once" in note for note in program.notes)
    assert any("IF is not followed" in note and "TestDI" in note for note in program.notes)


def test_velset_and_times() -> None:
    far = target(500)
    moves = read(
        module(
            f"""VelSet 50,400; MoveJ {target()},vmax,fine,tool0; MoveL {target()},v500,fine,tool0;
MoveL {far},v2000,fine,tool0;
VelSet 100,7000; MoveL {target()},v100\\T:=2,fine,tool0;
MoveC {target(300, 200)},{far},v100\\T:=10,fine,tool0;"""
        )
    ).moves
    assert moves[0].joint_speed == 0.5
    # Half of 500 mm/s; half of 2000 mm/s is more than 400. 400 mm in 2 s; half a circle of 200 mm in 10 s.
    assert [move.speed_m_s for move in moves[1:]] == pytest.approx([0.25, 0.4, 0.2, math.pi * 0.2 / 10.0])


def test_tools_and_work_objects_of_other_modules() -> None:
    text = module(f"MoveL {target()},v100,fine,tGlue\\WObj:=wBox;")
    assert "frames={'wBox'" in problems(text)[0]
    shifted = as_matrix(np.array([[1.0, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]))
    program = read(text, frames={"WBOX": shifted})
    assert program.moves[0].base_from_frame == shifted
    assert program.moves[0].flange_from_tool is None
    assert any("tGlue" in note for note in program.notes)
    assert read(text, frames={"wBox": shifted}, tools={"tglue": shifted}).moves[0].flange_from_tool == shifted


def test_external_axes_are_told_once() -> None:
    track = target().replace("[9E9,", "[1250.5,")
    program = read(module(f"MoveL {track},v100,fine,tool0;\nMoveL {track},v100,fine,tool0;"))
    assert [note for note in program.notes if "eax_a" in note] == [note for note in program.notes if "external" in note]
    assert sum("external" in note for note in program.notes) == 1


def test_which_procedure() -> None:
    a, b = (f"MoveL {target(n)},v100,fine,tool0;" for n in (1, 2))
    text = f"MODULE M\nPROC a()\n{a}\nENDPROC\nPROC b()\na;\n{b}\nENDPROC\nENDMODULE"
    assert "a, b" in problems(text)[0]
    assert len(read(text, proc="B").moves) == 2
    with pytest.raises(FieldworthyError, match="a, b"):
        read(text, proc="c")
    # A piece of a program, as it is sent by mail: no MODULE, no PROC.
    assert len(read(f"MoveL {target(1)},v100,fine,tool0;\nMoveL {target(2)},v100,fine,tool0;\n").moves) == 2


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("MoveL p1,v100,fine,tool0;", "p1 is not in the file"),
        ("MoveL *,v100,fine,tool0;", "taught"),
        ("MoveL [[nan,0,0],[1,0,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v100,fine,tool0;", "nan is not in the file"),
        ("MoveL [[1E999,0,0],[1,0,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v100,fine,tool0;", "1E999"),
        ("MoveL [[0,0],[1,0,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v100,fine,tool0;", "trans is 2 values"),
        ("MoveL [[0,0,0],[1,0,0,0],[0,0,0,0]],v100,fine,tool0;", "3 values and no robtarget"),
        ("MoveL [[0,0,0],[1,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v100,fine,tool0;", "quaternion"),
        ('MoveL [["a",0,0],[1,0,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v100,fine,tool0;', "x is 'a'"),
        ("MoveAbsJ [[0,0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v100,fine,tool0;", "robax is 5 values"),
        ("MoveAbsJ [[0,0,0,0,0,9E9],[9E9,9E9,9E9,9E9,9E9,9E9]],v100,fine,tool0;", "9E9"),
        ("MoveL p,v123,fine,tool0;", "v123 is not in the file"),
        ("MoveL p,v100,z7,tool0;", "z7 is not in the file"),
        ("MoveL p,v100,fine;", "3 arguments"),
        ("MoveC p,v100,fine,tool0;", "two targets"),
        ("MoveL p,[-5,1,1,1],fine,tool0;", "speed is -5"),
        ("MoveL p,v100\\T:=0,fine,tool0;", "\\T"),
        ("MoveL p,v100,fine,[FALSE,[[0,0,0],[1,0,0,0]],[1,[0,0,1],[1,0,0,0],0,0,0]];", "robhold"),
        ('MoveL p,v100,fine,tool0\\WObj:=[TRUE,TRUE,"",[[0,0,0],[1,0,0,0]],[[0,0,0],[1,0,0,0]]];', "robhold"),
        ("MoveL CRobT(),v100,fine,tool0;", "CRobT"),
        ("MoveL p v100,fine,tool0;", "after an argument"),
        ("TriggL p,v100,t1,fine,tool0;", "not read"),
        ("SearchL di1,p,p,v100,tool0;", "not read"),
        ("PDispOn p,tool0;", "not read"),
        ("GOTO here;", "GOTO"),
        ("TEST n\nCASE 1: MoveL p,v100,fine,tool0;\nENDTEST", "TEST"),
        ('%"routine"%;', "called by a text"),
        ("IF DInput(di1)=1 MoveL p,v100,fine,tool0;", "DInput"),
        ("FOR i FROM 1 TO nParts DO\nMoveL p,v100,fine,tool0;\nENDFOR", "nParts"),
        ("FOR i FROM 1 TO 2 STEP 0 DO\nMoveL p,v100,fine,tool0;\nENDFOR", "step of 0"),
        ("WaitTime -1;", "WaitTime"),
        ("VelSet 0,100;", "VelSet"),
        ("p.trans.w:=1;", "component"),
        ("MoveL Offs(p,1,2),v100,fine,tool0;", "3 arguments"),
        ("MoveL Offs(p,1/0,2,3),v100,fine,tool0;", "division"),
        ("MoveL row{3},v100,fine,tool0;", "element 3"),
        ("main 5;", "1 arguments"),
        ("MoveL p,v100,fine,@;", "'@'"),
    ],
)
def test_what_is_refused_names_its_line(statement: str, said: str) -> None:
    data = f"VAR robtarget p:={target()}; VAR robtarget row{{2}};"
    found = problems(module(f"MoveL p,v100,fine,tool0;\n{statement}\nMoveL p,v100,fine,tool0;", data))
    assert said in found[0]
    assert re.match(r"pick\.mod:5( \[.+\])?: ", found[0])
    assert "valid:" in found[0]
    assert all(re.match(r"pick\.mod:5\b", problem) for problem in found)


def test_all_problems_of_a_file_at_once() -> None:
    lines = ("MoveL q,v100,fine,tool0;", f"MoveL {target()},v1,fine,tool0;", "WaitTime;", "GOTO a;", "MoveL q;")
    found = problems(module("\n".join(lines), "CONST robtarget bad:=[[1,2,3];"))
    assert sorted(line_of(problem) for problem in found) == ["2", "4", "5", "6", "7", "8"]


def test_files_that_are_no_program() -> None:
    assert "no procedure" in problems("MODULE A\nVAR num n;\nENDMODULE\n")[0]
    assert "moves nothing" in problems(module("SetDO a,1;"))[0]
    assert "ENDFOR" in problems(module(f"FOR i FROM 1 TO 2 DO\nMoveL {target()},v100,fine,tool0;"))[0]
    endless = f"MoveL {target()},v100,fine,tool0;\nFOR i FROM 1 TO 1E9 DO\nn:=1;\nENDFOR"
    assert "does not come to an end" in problems(module(endless))[0]
    assert "within each other" in problems(module(f"MoveL {target()},v100,fine,tool0;\nmain;"))[0]
    with pytest.raises(FieldworthyError, match="frames"):
        read(PICK, frames={"w": np.zeros((4, 4))})


def test_loops_without_an_end_and_numbers_without_a_bound_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MOST_STATEMENTS", 2000)
    move = f"MoveL {target()},v100,fine,tool0;"
    for body in ("WHILE n<1 DO\nENDWHILE", "FOR i FROM 1 TO 1E12 DO\nENDFOR", "WHILE n<1 DO\nn:=n*2;\nENDWHILE"):
        assert "does not come to an end" in problems(module(f"{move}\n{body}", "VAR num n;"))[0]
    # A turn that cannot be read is not repeated: here n never counts down.
    assert (
        len(
            problems(module(f"{move}\nWHILE n>0 DO\nn:=n-k{{1}};\nMoveL q,v100,fine,tool0;\nENDWHILE", "VAR num n:=1;"))
        )
        == 1
    )
    for value in ("1E300*1E300", "Pow(10,400)", "Pow(-1,0.5)", "Sqrt(-1)", "[1E300,0,0]*1E300"):
        assert len(problems(module(f"{move}\nn:={value};", "VAR num n;"))) == 1


def test_names_of_generated_modules_and_files_that_are_no_text() -> None:
    program = read(module(f"MoveL {target()},v100,fine,tool0;").replace("MODULE M", "MODULE 1_T_ROB1"))
    assert program.name == "1_T_ROB1"
    found = problems("MODULE M\n\x07\x00\x01")
    assert len(found) == 1
    assert found[0].startswith("pick.mod:2: ")


def test_doubts_about_units() -> None:
    assert any(
        "from the robot's base" in note for note in read(module(f"MoveL {target(22000)},v100,fine,tool0;")).notes
    )
    close = module(f"MoveL {target(0.1, z=0)},v100,fine,tool0;MoveL {target(0.9, z=0)},v100,fine,tool0;")
    assert any("further than 0.9 mm" in note for note in read(close).notes)


def frame(x_m: float, y_m: float, z_m: float, *turns_deg: float) -> Matrix:
    matrix = np.eye(4)
    matrix[:3, :3] = matrix_of("euler_zyx", np.radians(turns_deg or (0.0, 0.0, 0.0)))
    matrix[:3, 3] = x_m, y_m, z_m
    return as_matrix(matrix)


def test_a_written_program_is_read_again() -> None:
    wobj, tool = frame(0.8, -0.3, 0.2, 30.0, 5.0, -7.0), frame(0.0, 0.01, 0.35, 45.0, 0.0, 0.0)
    a, b, c = frame(0.1, 0.0, 0.05, 10.0, 80.0, 3.0), frame(0.2, 0.1, 0.05, 170.0, 0.0, 180.0), frame(0.3, 0.0, 0.05)
    moves = (
        Move("joint", joints=(0.1, -0.5, 0.7, 1.0, -1.2, 3.0), flange_from_tool=tool, joint_speed=0.25),
        Move(
            "joint",
            pose=a,
            base_from_frame=wobj,
            flange_from_tool=tool,
            speed_m_s=1.0,
            blend_m=0.05,
            posture="[-1,0,2,1]",
        ),
        Move("linear", pose=b, flange_from_tool=IDENTITY, speed_m_s=0.1234, blend_m=0.0075, dwell_s=1.25),
        Move("circular", pose=c, via=b, base_from_frame=wobj, flange_from_tool=tool, speed_m_s=0.05, blend_m=0.0003),
        Move("linear", pose=a, flange_from_tool=IDENTITY),
    )
    text = rapid.write(Program("round trip", moves))
    assert text.startswith("MODULE round_trip\n")
    back = read(text).moves
    assert len(back) == len(moves)
    for old, new in zip(moves, back, strict=True):
        assert new.kind == old.kind
        # Files hold eight digits of a quaternion and six of a degree or millimetre: a few 1e-8.
        for name in ("joints", "pose", "via", "base_from_frame", "flange_from_tool"):
            one, other = getattr(old, name), getattr(new, name)
            assert (one is None) == (other is None), name
            if one is not None:
                assert np.array(other) == pytest.approx(np.array(one), abs=5e-8), name
        assert new.joint_speed == old.joint_speed
        assert new.speed_m_s == (None if old.speed_m_s is None else pytest.approx(old.speed_m_s, rel=1e-9))
        assert new.blend_m == pytest.approx(old.blend_m, abs=1e-12)
        assert new.dwell_s == old.dwell_s
    assert back[1].posture == "[-1,0,2,1]"
    # The second writing says the same as the first.
    assert rapid.write(read(text)) == rapid.write(read(rapid.write(read(text))))


def test_what_the_pick_says_is_kept_when_it_is_written() -> None:
    before = read(PICK).moves
    after = read(rapid.write(read(PICK))).moves
    for old, new in zip(before, after, strict=True):
        assert (new.kind, new.posture, new.dwell_s) == (old.kind, old.posture, old.dwell_s)
        if old.pose is not None and new.pose is not None:
            tip_old, tip_new = (np.array(m.base_from_frame) @ np.array(m.pose) for m in (old, new))
            assert tip_new == pytest.approx(tip_old, abs=1e-7)


def test_what_cannot_be_written() -> None:
    no_via = Move("circular", pose=frame(1.0, 0.0, 0.0))
    for move, said in ((no_via, "without a point on the way"), (Move("joint", (math.nan,) * 6), "not finite")):
        with pytest.raises(ScenarioError, match=said):
            rapid.write(Program("p", (move,)))
    with pytest.raises(FieldworthyError, match="joint positions"):
        rapid.write(Program("p", (Move("joint", joints=(0.0,) * 7),)))
    text = rapid.write(Program("7 axes?", (Move("joint", joints=(0.0,) * 6, time_s=1.0, joint_speed_rad_s=1.0),)))
    assert text.startswith("MODULE p_7_axes\n")
    assert "due times" in text
    assert "rad/s" in text
    assert "in the place of tool0" in text
