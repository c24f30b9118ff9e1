"""URScript: programs as people and PolyScope write them, by hand-worked answers; what is refused; round trips."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from arm_programs import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldworthy.arms.chain import IDENTITY, as_matrix
from fieldworthy.arms.orientation import pose_of
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs import read_program, running, urscript, write_program
from fieldworthy.core.errors import ScenarioError

QUARTER = math.pi / 2

POLYSCOPE = """\
def pick_and_place():
  set_payload(0.5, [0.0, 0.0, 0.05])
  set_tcp(p[0.0, 0.0, 0.15, 0.0, 0.0, 0.0])
  set_standard_analog_input_domain(0, 1)
  step_count_0af3 = 0.0
  thread Step_Counter_Thread_0af3():
    while (True):
      step_count_0af3 = step_count_0af3 + 1.0
      sync()
    end
  end
  run Step_Counter_Thread_0af3()
  global Above_p=p[.4, -.2, .3, 0, 3.141592653589793, 0]
  global Above_q=[0.1, -1.5, 1.6, -1.7, -1.55, 0.2]
  global Down_p=p[.4, -.2, .1, 0, 3.141592653589793, 0]
  while (True):
    $ 2 "Robot Program"
    $ 3 "MoveJ"
    $ 4 "Above" "breakAfter"
    movej(get_inverse_kin(Above_p, qnear=Above_q), a=1.3962634015954636, v=1.0471975511965976)
    $ 5 "MoveL"
    movel(Down_p, a=1.2, v=0.25, r=0.01)
    $ 6 "Set DO[0]=On"
    set_digital_out(0, True)   # close the "gripper #1"
    sleep(0.5)
    if (get_standard_digital_in(2) == True):
      textmsg("part: ", 1)
    end
    movel(pose_trans(Down_p, p[0, 0, -0.2, 0, 0, 0]), 1.2, 0.1)
  end
end
"""


def read(*lines: str) -> Program:
    return urscript.read("\n".join(lines), "t.script")


def test_a_program_of_polyscope():
    program = urscript.read(POLYSCOPE, "pick.script")
    assert program.name == "pick_and_place"
    above, down, up = program.moves
    # Half a turn about y: x and z of the tool are reversed.
    half = np.diag([-1.0, 1.0, -1.0])
    assert above.kind == "joint"
    assert np.array(above.pose)[:3, :3] == pytest.approx(half, abs=1e-15)
    assert np.array(above.pose)[:3, 3] == pytest.approx([0.4, -0.2, 0.3])
    assert (above.joint_speed_rad_s, above.speed_m_s) == (1.0471975511965976, None)
    assert above.posture == "qnear=[0.1, -1.5, 1.6, -1.7, -1.55, 0.2]"
    assert (above.label, above.line) == ("Above_p", 20)
    assert (down.kind, down.speed_m_s, down.blend_m, down.dwell_s) == ("linear", 0.25, 0.01, 0.5)
    assert np.array(down.flange_from_tool)[:3, 3] == pytest.approx([0.0, 0.0, 0.15])
    # pose_trans: 0.2 m back along the tool's z, which points down: up to 0.3.
    assert np.array(up.base_from_frame)[:3, 3] == pytest.approx([0.4, -0.2, 0.1])
    assert (np.array(up.base_from_frame) @ np.array(up.pose))[:3, 3] == pytest.approx([0.4, -0.2, 0.3])
    assert up.speed_m_s == 0.1
    notes = " ".join(program.notes)
    for told in (
        "pick.script:2: set_payload()",
        "6: thread",
        "16: while True goes round",
        "24: set_digital_out",
        "26: if",
    ):
        assert told in notes


def test_what_the_controller_decides_is_a_note_where_nothing_moves():
    program = read(
        "def log(x):", "  textmsg(x)", "end",
        "def job():", "  thread watch():", "    while True:", "      log(1)", "      sleep(0.1)", "    end", "  end",
        "  while not get_standard_digital_in(1):", "    sleep(0.1)", "  end", "  movej([0, 0, 0, 0, 0, 0.5])", "end",
    )  # fmt: skip
    assert program.name == "job"
    assert len(program.moves) == 1
    assert [note.split(" block")[0] for note in program.notes] == ["t.script:5: thread watch", "t.script:11: while"]


def test_every_motion_and_its_arguments_by_place():
    program = read(
        "movej([0, -1.57, 1.57, 0, 0.5, 0], 1.4, 1.05, 0, 0.02)",
        "movel(p[0.3, 0.1, 0.2, 0, 0, 0], 1.2, 0.25, 0, 0.005)",
        "movep(p[0.3, 0.2, 0.2, 0, 0, 0], 1.2, 0.1, 0.003)",
        "movec(p[0.35, 0.25, 0.2, 0, 0, 0], p[0.4, 0.2, 0.2, 0, 0, 0], a=1.2, v=0.05, r=0.001, mode=1)",
        "movel([0, -1.57, 1.57, 0, 0.5, 0.1], v=0.2)",
        "movej(p[0.3, 0.1, 0.2, 0, 0, 1], v=d2r(90))",
    )
    one, two, three, arc, five, six = program.moves
    assert one.joints == (0, -1.57, 1.57, 0, 0.5, 0)
    assert (one.kind, one.joint_speed_rad_s, one.blend_m) == ("joint", 1.05, 0.02)
    assert (two.kind, two.speed_m_s, two.blend_m) == ("linear", 0.25, 0.005)
    assert (three.kind, three.speed_m_s, three.blend_m) == ("linear", 0.1, 0.003)
    assert (arc.kind, arc.speed_m_s, arc.blend_m) == ("circular", 0.05, 0.001)
    assert np.array(arc.via)[:3, 3] == pytest.approx([0.35, 0.25, 0.2])
    assert np.array(arc.pose)[:3, 3] == pytest.approx([0.4, 0.2, 0.2])
    assert (five.kind, five.joints) == ("linear", (0, -1.57, 1.57, 0, 0.5, 0.1))
    assert (six.kind, six.joint_speed_rad_s) == ("joint", pytest.approx(QUARTER))
    assert any("movec with mode" in note for note in program.notes)


def test_a_stream_of_servoj_has_times():
    program = read(
        *(f"servoj([0, 0, 0, 0, 0, {0.01 * i}], t=0.008, lookahead_time=0.1, gain=300)" for i in range(3)), "sleep(1)",
        "movej([0, 0, 0, 0, 0, 1], t=2)",
    )  # fmt: skip
    assert [move.time_s for move in program.moves] == pytest.approx([0.008, 0.016, 0.024, 3.024])
    assert [move.joint_speed_rad_s for move in program.moves] == [None] * 4
    mixed = read("movej([0, 0, 0, 0, 0, 1], v=1)", "movej([0, 0, 0, 0, 0, 2], t=2)")
    assert [move.time_s for move in mixed.moves] == [None, None]
    assert "t.script:2: t is not kept" in mixed.notes[0]


def test_variables_and_functions():
    program = read(
        "h = 0.1 + 2*0.05",
        "global start = p[0.3, 0, h, 0, d2r(180), 0]",
        "start[1] = -h/2",
        "local q = [0, 0, 0, 0, 0, 0]",
        "q[5] = -start[1]",
        "def over(where, up=0):",
        "  local off = pose_add(where, p[0, 0, 0.05, 0, 0, 0])",
        "  movel(off, v=0.1)",
        "  return off",
        "  movel(where)",
        "end",
        "movej(q)",
        "over(start)",
        "i = 0",
        "while i < 3:",
        "  i = i + 1",
        "  if i == 2:",
        "    continue",
        "  elif i == 1:",
        "    start[0] = start[0] + 0.01",
        "  else:",
        "    start[0] = start[0] + 0.1",
        "  end",
        "  movel(",
        "    start,  # over three lines",
        "    v=0.2)",
        "end",
        "movel(pose_trans(pose_inv(p[0, 0, 0.5, 0, 0, 0]), p[0.1, 0.2, 0.9, 0, 0, 0]))",
        "r = rpy2rotvec([0, 0, d2r(90)])",
        "movel(p[0.1, 0.2, 0.3, r[0], r[1], r[2]])",
        "halt",
        "movel(p[9, 9, 9, 0, 0, 0])",
    )
    ends = [np.array(m.base_from_frame) @ np.array(m.pose) for m in program.moves[1:]]
    assert program.moves[0].joints == pytest.approx((0, 0, 0, 0, 0, 0.1))
    at = np.array([end[:3, 3] for end in ends])
    expected = [(0.3, -0.1, 0.25), (0.31, -0.1, 0.2), (0.41, -0.1, 0.2), (0.1, 0.2, 0.4), (0.1, 0.2, 0.3)]
    assert at == pytest.approx(np.array(expected), abs=1e-12)
    assert ends[-1][:3, :3] == pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), abs=1e-12)
    assert program.moves[2].line == 24


def test_exclusive_or():
    program = read("if True xor True:", "  movel(p[9, 0, 0, 0, 0, 0])", "end", "movej([0, 0, 0, 0, 0, 1])")
    assert [move.kind for move in program.moves] == ["joint"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["movel(P_1)"], "t.script:1 [movel]: pose is P_1 (not known here); valid: a pose p[...]"),
        (["p_now = get_actual_tcp_pose()", "movel(p_now)"], "t.script:2 [movel]: pose is get_actual_tcp_pose()"),
        (["movel(p[1, 2, 3, 0, 0])"], "t.script:1 [movel]: a pose p[...] is a list of 5; valid: a list of 6 numbers"),
        (["movej([0, 0, 0])"], "t.script:1 [movej]: q is a list of 3; valid: a list of 6 numbers"),
        (["movej([0, 0, 0, 0, 0, nan])"], "t.script:1 [movej]: nan (not known here) where a number belongs"),
        (["movej([0, 0, 0, 0, 0, 1e999])"], "t.script:1 [movej]: '1e999' is no finite number"),
        (["movej([0, 0, 0, 0, 0, 0], vel=1)"], "t.script:1 [movej]: movej() has no argument vel; valid: movej(q, a, v"),
        (["movej([0, 0, 0, 0, 0, 0], 1, 1, 0, 0, 5)"], "t.script:1 [movej]: movej() with 6 arguments"),
        (["movej([0, 0, 0, 0, 0, 0], 1, 1, v=1)"], "t.script:1 [movej]: movej() has v twice"),
        (["movej([0, 0, 0, 0, 0, 0], v=-1)"], "t.script:1 [movej]: v=-1; valid: 0 or more"),
        (["movej([0, 0, 0, 0, 0, 0], v=0)"], "t.script:1 [movej]: v=0; valid: more than 0"),
        (["movej()"], "t.script:1 [movej]: movej() without q"),
        (["movec(p[0,0,0,0,0,0])"], "t.script:1 [movec]: movec() without pose_to"),
        (["movec([0,0,0,0,0,0], p[0,0,0,0,0,0])"], "t.script:1 [movec]: pose_via is a list of joints"),
        (["servoj(p[0,0,0,0,0,0])"], "t.script:1 [servoj]: q is a pose; valid: six joint positions"),
        (["speedl([0,0,0.1,0,0,0], 0.5, 1)"], "t.script:1 [speedl]: speedl() moves the arm where"),
        (["movej([0, 0, 0,", "  0, 0, 0)"], "a bracket is opened and never closed"),
        (["movej 1"], "t.script:1 [movej]: 'movej 1' is no statement that is read"),
        (["movej([0, 0 0])"], "t.script:1 [movej]: '0' where ',' or ']' belongs"),
        (["def pick():", "  movel(p[0, 0, 0.5, 0, 0, 0])", "  return True", "end", "ok = pick()"],
         "t.script:5 [ok]: pick() moves the arm within another statement; valid: a call that stands alone"),
        (["x = 1 / 0"], "t.script:1 [x]: division by zero"),
        (["x = sqrt(-1)"], "t.script:1 [x]: sqrt() of -1"),
        (["x = pose_trans(1, 2)"], "t.script:1 [x]: pose_trans() of 1"),
        (["set_tcp([0, 0, 0, 0, 0, 0])"], "t.script:1 [set_tcp]: set_tcp of a list of 6"),
        (["sleep(-1)"], "t.script:1 [sleep]: sleep of -1 s"),
        (["if get_standard_digital_in(0):", "  movej([0,0,0,0,0,0])", "end"],
         "t.script:1 [if]: depends on what only the controller knows and holds movej in line 2"),
        (["while True:", "  if read_port_bit(3):", "    break", "  end", "  movej([0,0,0,0,0,0])", "end"],
         "t.script:2 [if]: depends on what only the controller knows and holds break in line 3"),
        (["thread t():", "  movel(p[0,0,0,0,0,0])", "end", "run t()"], "[thread t]: depends on"),
        (["def a():", "  movej([0,0,0,0,0,0])"], "t.script:1 [def]: has no end; valid: a complete file"),
        (["end"], "t.script:1 [end]: closes nothing"),
        (["else:", "end"], "t.script:1 [else]: has no if"),
        (["def a():", "end", "def b():", "end"], "it is not clear which of a, b is the program"),
        (["i = 0", "while i < 1:", "  i = i * 1", "end"], "does not come to an end"),
        (["movej([0, 0, 0, 0, 0, 0]) ?"], "'?' is no URScript"),
    ],
)  # fmt: skip
def test_what_is_refused(lines, told, monkeypatch):
    monkeypatch.setattr(running, "MOST_STATEMENTS", 5000)
    with pytest.raises(ScenarioError) as caught:
        read(*lines)
    problems = [str(problem) for problem in caught.value.problems]
    assert any(told in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = " + "9" * 400 + " + 1", "no finite number"),
        ("x = pow(9, 999)", "pow() of 9, 999"),
        ("x = " + "(" * 5000 + ")" * 5000, "nested too deeply"),
        ("while True:\n" * 3000 + "end\n" * 3000, "nested too deeply"),
        ("def a():\n  a()\nend\na()\n", "does not come to an end"),
    ],
)
def test_numbers_and_nesting_past_all_measure(text, told):
    with pytest.raises(ScenarioError) as caught:
        urscript.read(text)
    assert told in str(caught.value)


def test_doubts_about_units_are_notes():
    assert "in millimetres?" in read("movel(p[400, 0, 300, 0, 0, 0])").notes[0]
    assert "in degrees?" in read("movej([0, -90, 90, 0, 0, 0])").notes[0]
    assert read("movel(p[0.001, 0, 0, 0, 0, 0])", "movej([0, -6.2, 1, 0, 0, 0])").notes == ()
    assert "no motion" in read("def a():", "end").notes[0]


def test_a_written_program_is_urscript():
    pose = as_matrix(pose_of((0.5, 0.0, 0.4), "ur_rotvec", (0.0, QUARTER, 0.0)))
    frame = as_matrix(pose_of((1.0, 0.0, 0.0), "ur_rotvec", (0.0, 0.0, QUARTER)))
    tool = as_matrix(pose_of((0.0, 0.0, 0.1), "ur_rotvec", (0.0, 0.0, 0.0)))
    program = Program(
        "job 1",
        (
            Move("joint", (0.0, -QUARTER, QUARTER, 0.0, 0.1, 0.0), flange_from_tool=tool, joint_speed_rad_s=1.05),
            Move("linear", pose=pose, base_from_frame=frame, flange_from_tool=tool, speed_m_s=0.25, blend_m=0.01),
            Move("circular", pose=pose, via=pose, flange_from_tool=tool, dwell_s=0.5),
        ),
    )
    rotated = "p[0.5000000, 0.0000000, 0.4000000, 0.000000000, 1.570796327, 0.000000000]"
    assert urscript.write(program).splitlines() == [
        "def job_1():",
        "  set_tcp(p[0.0000000, 0.0000000, 0.1000000, 0.000000000, 0.000000000, 0.000000000])",
        "  movej([0.000000000, -1.570796327, 1.570796327, 0.000000000, 0.100000000, 0.000000000], v=1.05)",
        "  global frame_1 = p[1.0000000, 0.0000000, 0.0000000, 0.000000000, 0.000000000, 1.570796327]",
        f"  movel(pose_trans(frame_1, {rotated}), v=0.25, r=0.01)",
        f"  movec({rotated}, {rotated})",
        "  sleep(0.5)",
        "end",
    ]


@pytest.mark.parametrize(
    ("moves", "told"),
    [
        ([Move("joint", (0.0,) * 7)], "move 1]: a joint move without a target that a UR takes"),
        ([Move("circular", pose=IDENTITY)], "move 1]: a circular move without a target"),
        ([Move("joint", (0.0,) * 6, dwell_s=math.inf)], "move 1]: a number that is not finite"),
        ([Move("joint", (0.0,) * 6, time_s=1.0), Move("joint", (0.0,) * 6, time_s=1.0)], "move 2]: is due at 1 s"),
        ([Move("joint", (0.0,) * 6, flange_from_tool=IDENTITY), Move("joint", (0.0,) * 6)], "move 2]: leaves the tool"),
    ],
)
def test_what_cannot_be_written(moves, told):
    with pytest.raises(ScenarioError) as caught:
        urscript.write(Program("p", tuple(moves)))
    assert told in str(caught.value)


def test_round_trip_of_the_polyscope_program(tmp_path: Path):
    program = urscript.read(POLYSCOPE)
    write_program(program, tmp_path / "again.script")
    assert_same(program, read_program(tmp_path / "again.script"), 1e-7, 1e-8)


lengths = st.floats(-1.5, 1.5)
angles = st.floats(-math.pi, math.pi)


@st.composite
def poses(draw):
    return as_matrix(pose_of([draw(lengths) for _ in range(3)], "rpy", [draw(angles) for _ in range(3)]))


@st.composite
def programs(draw):
    moves = []
    frame, tool = draw(st.one_of(st.just(IDENTITY), poses())), draw(poses())
    timed = draw(st.booleans())
    for i in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["joint", "linear"] if timed else ["joint", "linear", "circular"]))
        by_axes = kind != "circular" and draw(st.booleans())
        speed = None if timed else draw(st.floats(1e-3, 3.0))
        moves.append(
            Move(
                kind,
                tuple(draw(angles) for _ in range(6)) if by_axes else None,
                None if by_axes else draw(poses()),
                draw(poses()) if kind == "circular" else None,
                IDENTITY if by_axes else frame, tool,
                speed if kind != "joint" else None, None, speed if kind == "joint" else None,
                blend_m=draw(st.sampled_from([0.0, 0.001, 0.0255])),
                dwell_s=draw(st.sampled_from([0.0, 0.25])),
                time_s=0.5 * (i + 1) if timed else None,
            )
        )  # fmt: skip
    return Program("p", tuple(moves))


@settings(deadline=None, max_examples=40)
@given(programs())
def test_round_trips(program):
    """Half of the last digit written is 5e-8 m and 5e-10 rad."""
    assert_same(program, urscript.read(urscript.write(program)), 1e-7, 3e-9)
