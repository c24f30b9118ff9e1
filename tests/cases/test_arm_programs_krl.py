"""KUKA KRL: programs as people write them read into moves by hand-worked answers, what is refused, and round trips."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from arm_programs import assert_same, problems_of
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldworthy.arms.chain import as_matrix
from fieldworthy.arms.orientation import pose_of
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs import krl, read_program, running, write_program
from fieldworthy.core.errors import FieldworthyError, ScenarioError

MILLING = """\
&ACCESS RVP
&REL 1
&PARAM EDITMASK = *
DEF Face_Mill ( )
DECL INT pass, n   ; counters
DECL REAL depth
;FOLD INI
  ;FOLD BASISTECH INI
    GLOBAL INTERRUPT DECL 3 WHEN $STOPMESS==TRUE DO IR_STOPM ( )
    INTERRUPT ON 3
    BAS (#INITMOV,0 )
  ;ENDFOLD (BASISTECH INI)
;ENDFOLD (INI)
$BASE = {FRAME: X 0.000,Y -1000.000,Z 0.000,A 90.000,B 0.000,C 0.000}
$TOOL = {FRAME: X 100.0,Y 0.0,Z 200.0,A 0.0,B 90.0,C 0.0}
BAS(#VEL_PTP,40)
$APO.CDIS = 2.5
PTP {A1 90,A2 -45,A3 120.5,A4 0,A5 -30,A6 6.3771}
$VEL.CP=0.25
LIN {X 10,Y 20,Z 50,A 0,B 0,C 180} C_DIS   ; above
$vel.cp = 0.02
depth = 5
FOR pass = 1 TO 2
  lin {Z 50 - pass*depth}
  LIN_REL {X 100.5}
  LIN {X 10, Y 20 + 10*pass}
ENDFOR
CIRC {X 20,Y 50},{X 30,Y 40} C_DIS
WAIT SEC 0.5
WAIT FOR $IN[4]
$OUT[5]=TRUE
LIN_REL {Z -100} #TOOL
IF $IN[7] THEN
  $OUT[8]=FALSE
ENDIF
END
"""
TURNED = math.pi / 2


def degrees(*values: float) -> list[float]:
    return [math.radians(value) for value in values]


def wrap(*lines: str) -> str:
    return "\n".join(["DEF t ( )", *lines, "END", ""])


def read(*lines: str, **options) -> Program:
    return krl.read(wrap(*lines), "t.src", **options)


def problems(text: str, **options) -> list[str]:
    return problems_of(krl.read, text, "t.src", **options)


def test_a_milling_program():
    program = krl.read(MILLING, "mill.src")
    assert program.name == "Face_Mill"
    assert program.source == "mill.src"
    kinds = [move.kind for move in program.moves]
    assert kinds == ["joint", *["linear"] * 7, "circular", "linear"]
    first, above = program.moves[:2]
    assert first.joints == pytest.approx(degrees(90, -45, 120.5, 0, -30, 6.3771))
    assert (first.joint_speed, first.speed_m_s, first.blend_m, first.line) == (0.4, None, 0.0, 18)
    # $BASE: a quarter turn about z at (0, -1, 0); $TOOL: z of the tool along x of the flange.
    base = np.array([[0, -1, 0, 0], [1, 0, 0, -1], [0, 0, 1, 0], [0, 0, 0, 1]])
    tool = np.array([[0, 0, 1, 0.1], [0, 1, 0, 0], [-1, 0, 0, 0.2], [0, 0, 0, 1]])
    for move in program.moves:
        assert np.array(move.base_from_frame) == pytest.approx(base, abs=1e-15)
        assert np.array(move.flange_from_tool) == pytest.approx(tool, abs=1e-15)
    # C 180: half a turn about x.
    assert np.array(above.pose) == pytest.approx(
        np.array([[1, 0, 0, 0.01], [0, -1, 0, 0.02], [0, 0, -1, 0.05], [0, 0, 0, 1]]), abs=1e-15
    )
    assert (above.speed_m_s, above.joint_speed, above.blend_m) == (0.25, None, 0.0025)
    assert program.moves[2].speed_m_s == 0.02
    # What a target leaves out stays: the FOR writes Z, then X relative, then X and Y.
    positions = 1000 * np.array([np.array(move.pose)[:3, 3] for move in program.moves[1:]])
    expected = [
        (10, 20, 50),
        (10, 20, 45), (110.5, 20, 45), (10, 30, 45),
        (10, 30, 40), (110.5, 30, 40), (10, 40, 40),
        (30, 40, 40),
        (30, 40, 140),  # 100 against the tool's z, which points down
    ]  # fmt: skip
    assert positions == pytest.approx(np.array(expected), abs=1e-9)
    arc = program.moves[8]
    assert 1000 * np.array(arc.via)[:3, 3] == pytest.approx([20, 50, 40])
    assert np.array(arc.via)[:3, :3] == pytest.approx(np.diag([1.0, -1.0, -1.0]), abs=1e-15)
    assert (arc.dwell_s, arc.blend_m) == (0.5, 0.0025)
    notes = " ".join(program.notes)
    for told in ("mill.src:9: GLOBAL", "mill.src:30: WAIT FOR", "mill.src:31: $OUT[5] is set", "mill.src:33: IF block"):
        assert told in notes


def test_positions_of_the_dat_file(tmp_path: Path):
    (tmp_path / "Job.src").write_text(
        "DEF Job()\nPDAT_ACT=PPDAT1\nFDAT_ACT=FP1\nBAS(#PTP_PARAMS,30)\nPTP XP1 C_PTP\nLIN XP2\nPTP XHOME\nPTP HOME2\n"
        "LIN $POS_ACT\nSLIN XP3 WITH $VEL=SVEL_CP(0.5, ,LCPDAT1), $TOOL=STOOL2(FP3), $BASE=SBASE(FP3.BASE_NO), "
        "$IPO_MODE=SIPO_MODE(FP3.IPO_FRAME), $APO=SAPO(LCPDAT1) C_Spl\nLIN XP2:shift\nEND\n",
        "latin-1",
    )
    (tmp_path / "job.DAT").write_text(
        "&ACCESS RVP\nDEFDAT  JOB PUBLIC\n;FOLD EXTERNAL DECLARATIONS;%{PE}%MKUKATPBASIS\n"
        "EXT  BAS (BAS_COMMAND  :IN,REAL  :IN )\nDECL LDAT LCPDAT1={VEL 2.0,ACC 100.0,APO_DIST 12.5,APO_FAC 50.0}\n"
        'DECL FDAT FP1={TOOL_NO 1,BASE_NO 0,IPO_FRAME #BASE,POINT2[] " ",TQ_STATE FALSE}\n'
        'DECL FDAT FP3={TOOL_NO 2,BASE_NO 4,IPO_FRAME #BASE,POINT2[] " "}\n'
        "DECL PDAT PPDAT1={VEL 100.000,ACC 100.000,APO_DIST 100.000,GEAR_JERK 50.0000,EXAX_IGN 0}\n"
        "DECL E6AXIS XP1={A1 0.0,A2 -90.0,A3 90.0,A4 0.0,A5 1.0E1,A6 0.0,E1 0.0,E2 0.0,E3 0.0,E4 0.0,E5 0.0,E6 0.0}\n"
        "DECL E6POS XP2={X 500.0,Y -250.5,Z 800.0,A 0.0,B 90.0,C 0.0,S 'B110',T 35,E1 0.0}\n"
        "DECL GLOBAL POS XP3={X 1,Y 2,Z 30,A 0,B 0,C 0,S 6,T 50}\nFRAME shift={X 0,Y 0,Z 100,A 0,B 0,C 0}\nENDDAT\n"
    )
    for name in ("Job.src", "job.DAT"):
        program = read_program(tmp_path / name)
    first, second, third, last = program.moves
    assert first.joints == pytest.approx(degrees(0, -90, 90, 0, 10, 0))
    assert first.joint_speed == 0.3
    assert (first.label, second.label, third.label) == ("XP1", "XP2", "XP3")
    assert np.array(second.pose)[:3, 3] == pytest.approx([0.5, -0.2505, 0.8])
    assert second.posture == "S 6,T 35"
    assert (third.speed_m_s, third.kind, third.blend_m) == (0.5, "linear", 0.0125)
    # The frame operator: 100 mm along the z of XP2, which B 90 has turned to x.
    assert np.array(last.pose)[:3, 3] == pytest.approx([0.6, -0.2505, 0.8])
    notes = " ".join(program.notes)
    assert "$TOOL is TOOL_DATA[1], which only the controller has" in notes
    assert "$BASE is BASE_DATA[4], which only the controller has" in notes
    assert "PTP XHOME is left out" in notes


def test_config_dat_gives_bases_and_tools(tmp_path: Path):
    (tmp_path / "$config.dat").write_text(
        "DEFDAT $CONFIG\nDECL FRAME BASE_DATA[32]\nBASE_DATA[3]={X 100.0,Y 0.0,Z 0.0,A 0.0,B 0.0,C 0.0}\n"
        "DECL E6AXIS XHOME={A1 0,A2 -90,A3 90,A4 0,A5 0,A6 0}\nENDDAT\n"
    )
    (tmp_path / "a.src").write_text("DEF a()\n$BASE=BASE_DATA[3]\nPTP XHOME\nLIN {X 1,Y 2,Z 300,A 0,B 0,C 0}\nEND\n")
    home, there = read_program(tmp_path / "a.src").moves
    assert home.joints == pytest.approx(degrees(0, -90, 90, 0, 0, 0))
    assert there.base_from_frame[0][3] == pytest.approx(0.1)
    with pytest.raises(ScenarioError, match=r"no \.src of the same name"):
        read_program(tmp_path / "$config.dat")


def test_arithmetic_is_that_of_krl():
    """INT over INT is cut, REAL is not, an INT variable rounds, sines take degrees, ':' goes before '*'."""
    program = read(
        "DECL INT i, k", "DECL REAL r", "DECL E6POS p", "i = 7/2", "r = 7", "k = 2.6",
        "p = {X 1,Y 2,Z 300,A 0,B 0,C 0}",
        "p.x = i", "p.Y = r/2", "p.z = 100*SIN(30)+k", "LIN p", "p.B = -(90)", "LIN p:{X 10}",
    )  # fmt: skip
    assert 1000 * np.array(program.moves[0].pose)[:3, 3] == pytest.approx([3, 3.5, 53])
    assert 1000 * np.array(program.moves[1].pose)[:3, 3] == pytest.approx([3, 3.5, 63])  # B -90 turns x to z


def test_whole_structures_and_their_components():
    """$VEL and $APO set as a whole and in part: the later one counts. EXOR is one of two and not both."""
    program = read(
        "$VEL={CP 0.2,ORI1 200}", "$APO.CDIS=5", "LIN {X 1,Y 2,Z 300,A 0,B 0,C 0} C_DIS",
        "$APO={CDIS 10,CPTP 3}", "$VEL.CP=0.3", "LIN {X 2} C_DIS", "IF TRUE EXOR TRUE THEN", "LIN {X 1000}", "ENDIF",
    )  # fmt: skip
    assert [(move.speed_m_s, move.blend_m) for move in program.moves] == [(0.2, 0.005), (0.3, 0.01)]
    assert "[$VEL]: $VEL.CP is 0; valid: more than 0 m/s" in problems(wrap("$VEL={CP 0,ORI1 200}"))[0]


def test_a_function_that_moves_is_not_lost_in_an_expression():
    text = "DEF a()\nINT i\ni=pick()\nEND\nDEFFCT INT pick()\nLIN {X 0,Y 0,Z 500,A 0,B 0,C 0}\nRETURN (1)\nENDFCT\n"
    assert problems(text)[0].startswith("t.src:3 [I]: PICK() moves the arm within another statement")
    assert "[IF]: PICK() moves" in problems(text.replace("i=pick()", "IF pick()==1 THEN\nENDIF"))[0]


def test_a_partial_target_goes_with_the_frame():
    """Where $BASE and $TOOL change, what is left out keeps the tool's mount where it is."""
    program = read(
        "$TOOL={X 0,Y 0,Z 100,A 0,B 0,C 0}", "$BASE={X 100,Y 0,Z 0,A 0,B 0,C 0}", "LIN {X 500,Y 0,Z 400,A 0,B 0,C 0}",
        "$BASE={X 0,Y 0,Z 50,A 90,B 0,C 0}", "$TOOL={X 0,Y 0,Z 150,A 0,B 0,C 0}", "LIN {Y 0}", "LIN_REL {Z 1}",
    )  # fmt: skip
    # In the base: x 600, z 400, flange at z 300, tool at 450. In the new base, turned by 90: x 0, y -600, z 400.
    pose = np.array(program.moves[1].pose)
    assert 1000 * pose[:3, 3] == pytest.approx([0, 0, 400], abs=1e-9)
    assert pose[:3, :3] == pytest.approx(np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]), abs=1e-12)
    assert 1000 * np.array(program.moves[2].pose)[:3, 3] == pytest.approx([0, 0, 401], abs=1e-9)


def test_external_axes_and_relative_axes():
    program = read(
        "PTP {A1 1,A2 2,A3 3,A4 4,A5 5,A6 6,E1 0}", "PTP {A2 -2,E1 90}", "PTP_REL {A1 10,E1 -30}", "PTP_REL {A6 -1}"
    )
    expected = [(1, 2, 3, 4, 5, 6, 0), (1, -2, 3, 4, 5, 6, 90), (11, -2, 3, 4, 5, 6, 60), (11, -2, 3, 4, 5, 5, 60)]
    for move, row in zip(program.moves, expected, strict=True):
        assert move.joints == pytest.approx(degrees(*row))
    track = read("PTP {A1 0,A2 0,A3 0,A4 0,A5 0,A6 0,E1 1500}", external="m")
    assert track.moves[0].joints == pytest.approx((0, 0, 0, 0, 0, 0, 1.5))
    assert any("E1 to E1 are read as millimetres" in note for note in track.notes)
    with pytest.raises(FieldworthyError, match="'rad', 'm'"):
        read("", external="mm")


def test_routines_and_loops():
    text = (
        "DEF main()\nINT i\nLIN {X 0,Y 0,Z 500,A 0,B 0,C 0}\nsub()\nFOR i=3 TO 1 STEP -1\nIF i==2 THEN\nsub()\nELSE\n"
        "LIN_REL {Y 10*i}\nENDIF\nENDFOR\nLOOP\nLIN_REL {Z 1}\nIF i<5 THEN\nEXIT\nENDIF\nLIN_REL {Z 100}\nENDLOOP\n"
        "gripper(1)\nEND\nDEF sub()\nLIN_REL {X 1}\nRETURN\nLIN_REL {X 1000}\nEND\n"
    )
    program = krl.read(text, "t.src")
    at = [tuple(np.round(1000 * np.array(move.pose)[:3, 3], 6).tolist()) for move in program.moves]
    assert at == [(0, 0, 500), (1, 0, 500), (1, 30, 500), (2, 30, 500), (2, 40, 500), (2, 40, 501)]
    notes = " ".join(program.notes)
    assert "LOOP goes round for ever" in notes
    assert "GRIPPER() is not in this file" in notes


def test_what_the_controller_decides_is_a_note_where_nothing_moves():
    """The shape of programs for sensor interfaces and of waits for the cell."""
    program = read(
        "DECL INT ret, CONTID", 'ret = RSI_CREATE("a.rsi",CONTID,TRUE)', "IF (ret <> RSIOK) THEN", "HALT", "ENDIF",
        "WHILE NOT $IN[3]", "WAIT SEC 0.1", "count = count + 1", "ENDWHILE", "IF $IN[1] THEN", "log()", "ENDIF",
        "PTP {A1 0, A2 -90, A3 90, A4 0, A5 90, A6 0}", "END", "DEF log()", "$OUT[1]=TRUE", "log()",
    )  # fmt: skip
    assert program.moves[0].joints == pytest.approx(degrees(0, -90, 90, 0, 90, 0))
    notes = " ".join(program.notes)
    for told in ("t.src:3: RET = RSI_CREATE()", "t.src:4: IF block", "t.src:7: WHILE block", "t.src:11: IF block"):
        assert told in notes


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["LIN P7"], "t.src:2 [LIN]: target P7 has no value here; valid: a position declared"),
        (["LIN {X 1,Y 2,Z 3,A 4,B 5}"], "t.src:2 [LIN]: C left out, and the pose before it is not known"),
        (["PTP {A1 1}"], "t.src:2 [PTP]: A2, A3, A4, A5, A6 left out, and the axes before it are not known"),
        (["LIN_REL {X 5}"], "t.src:2 [LIN_REL]: a relative move, and the pose before it is not known"),
        (["LIN {A1 0,A2 0,A3 0,A4 0,A5 0,A6 0}"], "t.src:2 [LIN]: a linear move to axis positions"),
        (["LIN {X 1,Y 2,Z 3,A 4,B 5,Q 6}"], "t.src:2 [LIN]: target has a component Q; valid: X Y Z A B C S T"),
        (["LIN {X 1,Y 2,Y 3}"], "t.src:2 [LIN]: component Y is given twice"),
        (["LIN {X 1,Y 2,Z 3,A 4,B 5,C 6"], "t.src:2 [LIN]: component C is followed by 'the end of the line'"),
        (["LIN {X 1 Y 2}"], "t.src:2 [LIN]: component X is followed by 'Y'; valid: ',' or '}'"),
        (["LIN {X ,Y 2}"], "t.src:2 [LIN]: ',' where a value belongs"),
        (["LIN {X 1e999,Y 0,Z 0,A 0,B 0,C 0}"], "t.src:2 [LIN]: '1E999' is no finite number"),
        (["LIN {X NAN,Y 0,Z 0,A 0,B 0,C 0}"], "t.src:2 [LIN]: NAN (not known here) where a number"),
        (["PTP HOME Vel=100% DEFAULT"], "t.src:2 [PTP]: '% DEFAULT' is no KRL"),
        (["$VEL.CP=0"], "t.src:2 [$VEL]: $VEL.CP is 0; valid: more than 0 m/s"),
        (["BAS(#VEL_PTP,200)"], "t.src:2 [BAS]: BAS(#VEL_PTP) is 200; valid: more than 0 and at most 100 percent"),
        (["$APO.CDIS=-1"], "t.src:2 [$APO]: $APO.CDIS is -1; valid: 0 or more"),
        (["$BASE={A1 3}"], "t.src:2 [$BASE]: a frame without X, Y, Z, A, B or C"),
        (["CIRC {X 1,Y 2,Z 3,A 0,B 0,C 0}"], "t.src:2 [CIRC]: 'the end of the line' where ',' belongs"),
        (["CIRC {X 1,Y 2,Z 3,A 0,B 0,C 0},{X 2},CA 360"], "t.src:2 [CIRC]: a circular angle CA is not read"),
        (["WHILE $IN[1]", "LIN {X 1}", "ENDWHILE"], "t.src:2 [WHILE]: depends on what only the controller knows"),
        (["IF $IN[1] THEN", "BAS(#TOOL,1)", "ENDIF"], "and holds BAS in line 3"),
        (["SWITCH mode", "CASE 1", "PTP XP1", "ENDSWITCH"], "t.src:2 [SWITCH]: depends on"),
        (["FOR i=1 TO n", "LIN_REL {X 1}", "ENDFOR"], "t.src:2 [FOR]: depends on"),
        (["FOR i=1 TO 3 STEP 0", "ENDFOR"], "t.src:2 [FOR]: STEP 0"),
        (["FOR i=1 TO 3"], "t.src:2 [FOR]: has no ENDFOR"),
        (["ENDLOOP"], "t.src:2 [ENDLOOP]: belongs to nothing"),
        (["SPLINE", "SPL XP1", "ENDSPLINE"], "t.src:2 [SPLINE]: spline blocks are not read"),
        (["GOTO there"], "t.src:2 [GOTO]: jumps are not read"),
        (["x = 1/0"], "t.src:2 [X]: division by zero"),
        (["LIN {X 1,Y 2,Z 3,A 0,B 0,C 0}", "LIN_REL {A 5}"], "t.src:3 [LIN_REL]: a relative move that turns"),
        (["LIN {X 1,Y 2,Z 3,A 0,B 0,C 0}", "$BASE=BASE_DATA[1]", "LIN {X 5}"], "t.src:4 [LIN]: Y, Z, A, B, C left out"),
        (["XP1={X 1,Y 2,Z 3,A 0,B 0,C 0}", "n = get(XP1)", "LIN XP1"], "t.src:4 [LIN]: target XP1 after GET() has"),
        (["P[2]={X 1,Y 2,Z 3,A 0,B 0,C 0}", "teach(1, P[])", "LIN P[2]"], "t.src:4 [LIN]: target P after TEACH() has"),
        (["FOR i=1 TO 100000000", "k = i", "ENDFOR"], "does not come to an end"),
    ],
)  # fmt: skip
def test_what_is_refused(lines, told, monkeypatch):
    monkeypatch.setattr(running, "MOST_STATEMENTS", 5000)
    assert any(told in problem for problem in problems(wrap(*lines))), problems(wrap(*lines))


def test_broken_files():
    assert problems("") == ["t.src: no routine in this file; valid: DEF name() ... END"]
    assert "t.src:1 [DEF]: has no END; valid: a complete file" in problems("DEF a()\nPTP XP1\n")
    assert "t.src:1 [PTP]: stands outside of a routine; valid: DEF name() ... END around it" in problems("PTP XP1\n")
    # All problems at once, each once though the loop meets it three times.
    many = problems(wrap("FOR i=1 TO 3", "LIN P1", "ENDFOR", "PTP P2"))
    assert [each.split(":")[1] for each in many] == ["3 [LIN]", "5 [PTP]"]
    told = problems(wrap("LIN XP1"), data=[("DEFDAT t\nDECL E6POS XP1={X 1,,}\nENDDAT\n", "t.dat")])
    assert told[0].startswith("t.dat:2 [DECL]: ")


def test_numbers_and_nesting_past_all_measure():
    assert "no finite number" in problems(wrap("x = " + "9" * 400 + " + 1", "LIN {X x}"))[0]
    assert "nested too deeply" in problems(wrap("x = " + "(" * 5000))[0]
    assert "nested too deeply" in problems(wrap(*["LOOP"] * 2000, *["ENDLOOP"] * 2000))[0]
    assert "does not come to an end" in problems("DEF a()\nb()\nEND\nDEF b()\na()\nEND\n")[0]


def test_doubts_about_units_are_notes():
    far = read("LIN {X 25000,Y 0,Z 0,A 0,B 0,C 0}")
    assert "t.src:2: a target is 25 m from the robot's base" in far.notes[0]
    metres = read("LIN {X 0.5,Y 0,Z 0.4,A 0,B 0,C 0}", "LIN {X 0.6}")
    assert "is it written in metres or inches?" in metres.notes[0]
    radians = read("PTP {A1 0,A2 -1.5708,A3 1.5708,A4 0,A5 0.3,A6 0}")
    assert "angles look like radians" in radians.notes[0]
    assert read("PTP {A1 0,A2 -1.5,A3 1.5,A4 0,A5 0.3,A6 0}").notes == ()


def test_a_written_program_is_krl():
    """What a KR C4 needs: DEF, initialisation, frames, speeds, targets in braces, END."""
    pose = as_matrix(pose_of((0.5, 0.0, 0.4), "kuka_abc", (0.0, math.pi / 2, 0.0)))
    program = Program(
        "weld 2", (Move("joint", (0.0, -TURNED, TURNED, 0.0, 0.1, 0.0), joint_speed=0.5),
                   Move("linear", pose=pose, speed_m_s=0.008, blend_m=0.0015, posture="S 2,T 35", dwell_s=1.5)),
    )  # fmt: skip
    lines = krl.write(program).splitlines()
    assert lines[2] == "DEF weld_2 ( )"
    assert lines[-1] == "END"
    body = [line for line in lines if not line.startswith((";", "&")) and line][1:-1]
    assert body == [
        "BAS (#INITMOV,0)",
        "$BASE = {X 0.0000,Y 0.0000,Z 0.0000,A 0.00000,B 0.00000,C 0.00000}",
        "BAS (#VEL_PTP,50)",
        "PTP {A1 0.00000,A2 -90.00000,A3 90.00000,A4 0.00000,A5 5.72958,A6 0.00000}",
        "$VEL.CP = 0.008",
        "$APO.CDIS = 1.5",
        "LIN {X 500.0000,Y 0.0000,Z 400.0000,A 0.00000,B 90.00000,C 0.00000,S 2,T 35} C_DIS",
        "WAIT SEC 1.5",
    ]


@pytest.mark.parametrize(
    ("moves", "told"),
    [
        ([Move("linear", (0.0,) * 6)], "move 1]: a linear move to joint positions"),
        ([Move("joint", (0.0,) * 3)], "move 1]: 3 joint positions; valid: A1 to A6"),
        ([Move("joint", (math.nan,) * 6)], "move 1]: a number that is not finite"),
        ([Move("circular", pose=as_matrix(np.eye(4)))], "move 1]: a circular move without a point on the way"),
        ([Move("joint")], "move 1]: no target"),
        ([Move("joint", (0.0,) * 6, flange_from_tool=as_matrix(np.eye(4))), Move("joint", (0.0,) * 6)],
         "move 2]: leaves the tool to the controller"),
    ],
)  # fmt: skip
def test_what_cannot_be_written(moves, told):
    with pytest.raises(ScenarioError) as caught:
        krl.write(Program("p", tuple(moves)))
    assert told in str(caught.value)


def test_round_trip_of_the_milling_program(tmp_path: Path):
    program = krl.read(MILLING)
    write_program(program, tmp_path / "again.src")
    assert_same(program, read_program(tmp_path / "again.src"), 1e-7, 1e-6)
    assert list(tmp_path.iterdir()) == [tmp_path / "again.src"]


lengths = st.floats(-3.0, 3.0)
angles = st.floats(-math.pi, math.pi)


@st.composite
def poses(draw):
    return as_matrix(pose_of([draw(lengths) for _ in range(3)], "rpy", [draw(angles) for _ in range(3)]))


@st.composite
def programs(draw):
    moves = []
    frame, tool = draw(poses()), draw(poses())
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["joint", "linear", "circular"]))
        by_axes = kind == "joint" and draw(st.booleans())
        moves.append(
            Move(
                kind,
                tuple(draw(angles) for _ in range(6)) if by_axes else None,
                None if by_axes else draw(poses()),
                draw(poses()) if kind == "circular" else None,
                frame, tool,
                draw(st.floats(1e-3, 2.0)) if kind != "joint" else None,
                draw(st.floats(0.01, 1.0)) if kind == "joint" else None,
                blend_m=draw(st.sampled_from([0.0, 0.001, 0.0255])),
                dwell_s=draw(st.sampled_from([0.0, 0.25])),
            )
        )  # fmt: skip
    return Program("p", tuple(moves))


@settings(deadline=None, max_examples=40)
@given(programs())
def test_round_trips(program):
    """Half of the last digit written is 0.05 um and 0.000005 deg; three angles add up."""
    assert_same(program, krl.read(krl.write(program)), 1e-7, 3e-7)
