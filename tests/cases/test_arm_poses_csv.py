"""Tables of poses, and the choice of a format by a file's name: hand-worked answers, refusals, round trips."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldworthy.arms.chain import as_matrix
from fieldworthy.arms.orientation import CONVENTIONS, pose_of
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs import FORMATS, format_of, format_of_text, poses_csv, read_program, write_program
from fieldworthy.core.errors import FieldworthyError, ScenarioError

# As RoboDK writes them: millimetres, degrees, a number behind each row.
XYZWPR = """\
-529.4597, 399.4473, 646.0984, 90.0, 90.0, 90.0, 0
-528.9159, 399.3836, 646.1006, 90.0, 0.0, 90.0, 1
"""


def read(text: str, **options) -> Program:
    return poses_csv.read(text, "path/to/t.csv", **options)


def test_a_table_of_robodk():
    program = read(XYZWPR)
    assert program.name == "t"
    first, second = program.moves
    assert (first.kind, first.line, second.line) == ("linear", 1, 2)
    # Fixed axes: W 90 takes y to z, P 90 takes that to x, R 90 takes that to y. In the end only P has turned: Ry(90).
    assert np.array(first.pose) == pytest.approx(
        np.array([[0, 0, 1, -0.5294597], [0, 1, 0, 0.3994473], [-1, 0, 0, 0.6460984], [0, 0, 0, 1]]), abs=1e-12
    )
    # W 90, then R 90 about the fixed Z: x -> y, y -> z, z -> x.
    assert np.array(second.pose)[:3, :3] == pytest.approx(np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]), abs=1e-12)
    assert program.notes == ()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("500,0,400,90,0,90\n", {"convention": "kuka_abc"}),
        ("X;Y;Z;RX;RY;RZ\n0,5;0;0,4;1,2091995761561452;1,2091995761561452;1,2091995761561452\n",
         {"convention": "ur_rotvec", "length": "m", "angle": "rad"}),
        ("# made by hand\n\nx [mm]\ty\tz\tq1\tq2\tq3\tq4\n500\t0\t400\t.5\t.5\t.5\t.5\n", {"convention": "abb_quat"}),
        ("500 0 4e2 0.5 0.5 0.5 0.5 17\n", {"convention": "quat_xyzw"}),
        ("name, of, no, known, column, here\n500, 0, 400, 90, 90, 0\n", {"convention": "euler_xyz"}),
    ],
)  # fmt: skip
def test_one_pose_in_other_words(text, options):
    """The cycle x -> y -> z -> x at (0.5, 0, 0.4)."""
    (move,) = read(text, **options).moves
    expected = np.array([[0, 0, 1, 0.5], [1, 0, 0, 0], [0, 1, 0, 0.4], [0, 0, 0, 1]])
    assert np.array(move.pose) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "t.csv: no poses; valid: rows of X, Y, Z, W, P, R"),
        ("X,Y,Z,W,P,R\n", "t.csv: no poses"),
        (
            "X,Y,Z,R,P,W\n1,2,3,4,5,6\n",
            "t.csv:1 [names]: X, Y, Z and then R, P, W; valid: RZ, RY, RX",
        ),
        ("1,2,3,4,5\n", "t.csv:1 [row]: 5 values in the row; valid: X, Y, Z, W, P, R"),
        ("1,2,3,4,5,6,7,8\n", "t.csv:1 [row]: 8 values in the row"),
        ("1,2,3,4,5,6\n1,2,nan,4,5,6\n", "t.csv:2 [Z]: 'nan' is no finite number"),
        ("1,2,3,4,inf,6\n", "t.csv:1 [P]: 'inf' is no finite number"),
        ("1,2,3,4,,6\n", "t.csv:1 [P]: '' is no finite number"),
        ("1,2,3,4,5,6\n1,2,3,x,5,6\n", "t.csv:2 [W]: 'x' is no finite number"),
        ("1_0,2,3,4,5,6\n", "t.csv:1 [X]: '1_0' is no finite number"),
    ],
)
def test_what_is_refused(text, told):
    with pytest.raises(ScenarioError) as caught:
        read(text)
    assert told in str(caught.value)


def test_quaternions_and_options_that_are_refused():
    with pytest.raises(ScenarioError, match=r"t.csv:1 \[Q1,Q2,Q3,Q4\]: .* length 2; valid: 1"):
        read("1,2,3,1,1,1,1\n", convention="abb_quat")
    for options, told in (
        ({"convention": "wpr"}, "'wpr'; valid: euler_zyx"),
        ({"length": "cm"}, "'cm'; valid: mm, m"),
        ({"angle": "grad"}, "'grad'; valid: deg, rad"),
        ({"kind": "circular"}, "'circular'; valid: 'linear', 'joint'"),
    ):
        with pytest.raises(FieldworthyError) as caught:
            read(XYZWPR, **options)
        assert told in str(caught.value)


def test_doubts_about_units_are_notes():
    assert "in metres or inches?" in read("0.5,0,0.4,0,90,0\n0.6,0,0.4,0,90,0\n").notes[0]
    assert "in millimetres?" in read("500,0,400,0,90,0\n", length="m").notes[0]
    assert "look like radians" in read("500,0,400,3.14159,0,1.5708\n500,0,400,3.14159,0,0.2\n").notes[0]


def test_writing_composes_the_frame():
    frame = as_matrix(pose_of((1.0, 0.0, 0.0), "rpy", (0.0, 0.0, math.pi / 2)))
    target = as_matrix(pose_of((0.1, 0.0, 0.2), "rpy", (0.0, 0.0, 0.0)))
    text = poses_csv.write(Program("p", (Move("linear", pose=target, base_from_frame=frame),)))
    assert text.splitlines() == [
        "X_mm, Y_mm, Z_mm, W_deg, P_deg, R_deg",
        "1000.000000000, 100.000000000, 200.000000000, 0.000000000, 0.000000000, 90.000000000",
    ]
    for move, told in (
        (Move("joint", (0.0,) * 6), "move 1]: goes to joint positions; valid: poses"),
        (Move("circular", pose=target, via=target), "move 1]: is circular"),
        (Move("linear", pose=((math.nan,) * 4,) * 4), "move 1]: a number that is not finite"),
    ):
        with pytest.raises(ScenarioError) as caught:
            poses_csv.write(Program("p", (move,)))
        assert told in str(caught.value)


numbers = st.floats(-2.0, 2.0)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.lists(numbers, min_size=6, max_size=6), min_size=1, max_size=5),
    st.sampled_from(sorted(CONVENTIONS)),
    st.sampled_from(["mm", "m"]),
    st.sampled_from(["deg", "rad"]),
)
def test_round_trips(rows, convention, length, angle):
    poses = [pose_of(row[:3], "rpy", row[3:]) for row in rows]
    program = Program("p", tuple(Move("linear", pose=as_matrix(pose)) for pose in poses))
    options = {"convention": convention, "length": length, "angle": angle}
    again = read(poses_csv.write(program, **options), **options)
    for pose, move in zip(poses, again.moves, strict=True):
        assert np.array(move.pose) == pytest.approx(pose, abs=4e-9)


def test_formats_by_name(tmp_path: Path):
    for name, form in FORMATS.items():
        for suffix in form.suffixes:
            assert format_of(f"some.where/A{suffix.upper()}") == name
    with pytest.raises(FieldworthyError, match=r"known by the ending '.xyz'; valid: .src"):
        format_of("a.xyz")
    place = tmp_path / "points.txt"
    place.write_bytes(b"\xef\xbb\xbf" + XYZWPR.replace("\n", "\r\n").encode())
    assert len(read_program(place, "poses_csv").moves) == 2
    assert read_program(place, "poses_csv", convention="kuka_abc").moves[0].pose is not None
    write_program(read_program(place, "poses_csv"), tmp_path / "again.csv")
    assert len(read_program(tmp_path / "again.csv").moves) == 2


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("/PROG  WELD\n/ATTR\n/MN\n/POS\n/END\n", "fanuc_ls"),
        ("MODULE Main\n  PROC main()\n    MoveJ p1, v100, fine, tool0;\n  ENDPROC\nENDMODULE\n", "rapid"),
        ("&ACCESS RVP\ndef job()\nPTP {A1 0,A2 0,A3 0,A4 0,A5 0,A6 0}\nend\n", "krl"),
        ("def job():\n  movej([0, 0, 0, 0, 0, 0])\nend\n", "urscript"),
        ('{"joint_names": ["a"], "points": []}', "joint_trajectory"),
        ("PARTNO PLATE\nGOTO/1,2,3\n", "apt"),
        ("%\nN10 G01 X1 Y2\n", "gcode"),
        ("hello\n", None),
    ],
)
def test_formats_by_content(text, name):
    assert format_of_text(text) == name


def test_a_file_of_another_name_is_read_by_its_words(tmp_path: Path):
    (tmp_path / "job.txt").write_text("movej([0, 0, 0, 0, 0, 0.5])\n")
    assert read_program(tmp_path / "job.txt").moves[0].joints == (0, 0, 0, 0, 0, 0.5)
    (tmp_path / "job2.txt").write_text("hello\n")
    with pytest.raises(FieldworthyError, match="no robot program is known by the ending"):
        read_program(tmp_path / "job2.txt")


def test_lines_end_where_an_editor_ends_them(tmp_path: Path):
    """Byte 0x85 is an ellipsis on Windows and a line separator in Latin-1; a form feed parts pages, not lines."""
    place = tmp_path / "job.src"
    place.write_bytes(
        b"DEF job()\r\n; moved \x85 LIN {X 1}\r\n; \xfcber\x0cLIN {X 2}\r\n"
        b"PTP {A1 0,A2 0,A3 0,A4 0,A5 0,A6 9}\r\nEND\r\n"
    )
    (move,) = read_program(place).moves
    assert move.line == 4
    place = tmp_path / "t.yaml"
    text = "---\njoint_names: [a]\npoints:\n- positions: [1]\n  time_from_start: {sec: 1}\n---\n"
    place.write_bytes(text.replace("\n", "\r\n").encode())
    assert [(move.joints, move.line) for move in read_program(place).moves] == [((1.0,), 4)]


def test_files_that_cannot_be_read_or_written(tmp_path: Path):
    (tmp_path / "binary.csv").write_bytes(b"1,2\0,3")
    program = Program("p", ())
    for call, told in (
        (lambda: read_program(tmp_path / "none.csv"), "none.csv: cannot be read: No such file"),
        (lambda: read_program(tmp_path / "none.src"), "none.src: cannot be read: No such file"),
        (lambda: read_program(tmp_path), "no robot program is known by the ending"),
        (lambda: read_program(tmp_path, "krl"), "cannot be read"),
        (lambda: read_program(tmp_path / "binary.csv"), "binary.csv: not a text file"),
        (lambda: read_program(tmp_path / "a.csv", "excel"), "format 'excel' is not known; valid: krl, urscript"),
        (lambda: write_program(program, tmp_path / "a.nc"), "G-code is read only; valid: krl, urscript"),
        (lambda: write_program(program, tmp_path / "no" / "a.csv"), "a.csv: cannot be written: No such file"),
    ):
        with pytest.raises(FieldworthyError) as caught:
            call()
        assert told in str(caught.value)
    (tmp_path / "a.csv").write_text(XYZWPR)
    with pytest.raises(FieldworthyError, match="unexpected keyword argument 'colour'"):
        read_program(tmp_path / "a.csv", colour="red")


def test_a_row_of_names_says_convention_and_units():
    quaternions = read("x_mm,y_mm,z_mm,qw,qx,qy,qz\n400,100,300,0,1,0,0\n")
    assert np.array(quaternions.moves[0].pose)[:3, :3] == pytest.approx(np.diag((1.0, -1.0, -1.0)), abs=1e-12)
    kuka = read("x_m;y_m;z_m;a_deg;b_deg;c_deg\n0.4;0.1;0.3;90;0;0\n")
    # A turns about z: the tool's x goes along y. FANUC's W of 90 would turn about x.
    assert np.array(kuka.moves[0].pose)[:3, 0] == pytest.approx((0.0, 1.0, 0.0), abs=1e-12)
    assert np.array(kuka.moves[0].pose)[:3, 3] == pytest.approx((0.4, 0.1, 0.3), abs=1e-12)
    with pytest.raises(ScenarioError, match="may be euler_xyz or ur_rotvec"):
        read("X,Y,Z,RX,RY,RZ\n1,2,3,4,5,6\n")
    with pytest.raises(ScenarioError, match="then A, B, C; valid: W, P, R"):
        read("X,Y,Z,A,B,C\n1,2,3,4,5,6\n", convention="fanuc_wpr")
    with pytest.raises(ScenarioError, match="length in m; valid: mm"):
        read("X_m,Y_m,Z_m,A,B,C\n1,2,3,4,5,6\n", length="mm")
