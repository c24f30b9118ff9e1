"""Joint positions in CSV: units, separators, times and rates, what is refused and how it is told, the package's set."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from fieldworthy.arms import joint_csv
from fieldworthy.arms.chain import IDENTITY, Arm, Joint
from fieldworthy.arms.joint_csv import JointSet, read_joint_csv, write_joint_csv
from fieldworthy.core.errors import FieldworthyError, ScenarioError


def read(folder: Path, text: str, rate_hz: float | None = None) -> JointSet:
    path = folder / "joints.csv"
    path.write_bytes(text.encode("utf-8"))
    return read_joint_csv(path, rate_hz)


def complaints(folder: Path, text: str, rate_hz: float | None = None) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        read(folder, text, rate_hz)
    return [str(problem).replace(str(folder / "joints.csv"), "joints.csv") for problem in caught.value.problems]


def test_units_by_suffix_and_uneven_times(tmp_path: Path) -> None:
    found = read(tmp_path, "t_s,j1_deg,j2_rad,rail_mm\n0,0,1.5,100\n0.5,90,1.5,200\n2,-180,-0.5,0\n")
    assert found.names == ("j1", "j2", "rail")
    assert found.kinds == ("rad", "rad", "m")
    assert found.t_s.tolist() == [0.0, 0.5, 2.0]
    assert found.q == pytest.approx(np.array([[0, 1.5, 0.1], [math.pi / 2, 1.5, 0.2], [-math.pi, -0.5, 0.0]]))
    assert found.name == "joints"
    assert found.notes == ()


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    text = str(joint_csv.__doc__)
    found = read(tmp_path, text[text.index("    # angle") : text.index("- One line")])
    assert found.at(0.4)[:2] == pytest.approx(np.radians((2.5, -87.5)))


def test_semicolons_a_bom_comments_and_decimal_commas(tmp_path: Path) -> None:
    text = '\ufeff# angle: rad\r\n\r\n"time_s"; "shoulder"; elbow_deg \r\n# first\r\n0; 0,5; 90 # here\r\n1,5;1;0\r\n'
    found = read(tmp_path, text)
    assert found.names == ("shoulder", "elbow")
    assert found.t_s.tolist() == [0.0, 1.5]
    assert found.q == pytest.approx(np.array([[0.5, math.pi / 2], [1.0, 0.0]]))


def test_a_rate_in_place_of_times(tmp_path: Path) -> None:
    rows = "j1_deg\n0\n10\n20\n"
    assert read(tmp_path, rows, rate_hz=4.0).t_s.tolist() == [0.0, 0.25, 0.5]
    assert read(tmp_path, "# rate_hz: 50\n" + rows).t_s.tolist() == [0.0, 0.02, 0.04]
    (told,) = complaints(tmp_path, rows)
    assert told.startswith("joints.csv:1: no column of times; valid: a column t_s")
    (told,) = complaints(tmp_path, "t_s,j1_deg\n0,0\n", rate_hz=4.0)
    assert told.startswith("joints.csv:1 t_s: a column of times and a rate")
    for rate in (0.0, -1.0, math.inf):
        assert complaints(tmp_path, rows, rate_hz=rate)[0].endswith("valid: > 0")
    assert complaints(tmp_path, "# rate_hz: fast\n" + rows)[0].startswith("joints.csv:1 # rate_hz: 'fast'")


def test_a_column_without_a_unit_says_what_to_write(tmp_path: Path) -> None:
    told = complaints(tmp_path, "t_s,j1,j2_deg\n0,0,0\n")
    assert told == ["joints.csv:1 j1: no unit; valid: j1_deg or j1_rad, or a line `# angle: deg` above the header"]


def test_everything_wrong_is_told_at_once_with_line_and_column(tmp_path: Path) -> None:
    text = (
        "# angle: degrees\n"  # 1
        "t_s,j1,j1_deg,j2_deg_s,\n"  # 2
        "0,1,2,3,4\n"  # 3
        "0,1,2,3,4\n"  # 4
        "-1,,x,nan,inf\n"  # 5
        "2,1\n"  # 6
        "1_0,1,1,1,1\n"  # 7
    )
    told = complaints(tmp_path, text)
    expected = [
        ("joints.csv:1 # angle: 'degrees'", "deg or rad"),
        ("joints.csv:2 j1_deg: joint 'j1' has two columns", ""),
        ("joints.csv:2 j2_deg_s: neither", "j1_deg"),
        ("joints.csv:2 column 5: a column without a name", ""),
        ("joints.csv:4: time 0 s stands here a second time", "increase"),
        ("joints.csv:5: time -1 s comes after 0 s", "increase"),
        ("joints.csv:5 j1: no value", "a number"),
        ("joints.csv:5 j1_deg: 'x' is no number", ""),
        ("joints.csv:5 j2_deg_s: nan is not finite", ""),
        ("joints.csv:5: inf is not finite", ""),
        ("joints.csv:6: 2 values", "5, as in the header in line 2"),
        ("joints.csv:7 t_s: '1_0' is no number", ""),
    ]
    for start, rest in expected:
        assert any(line.startswith(start) and rest in line for line in told), f"{start} ... {rest}\n" + "\n".join(told)
    assert len(told) == len(expected), "\n".join(told)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("", "joints.csv: the file has no header"),
        ("# nothing\n\n", "joints.csv: the file has no header"),
        ("0,1,2\n1,2,3\n", "joints.csv:1: numbers in the first line"),
        ("t_s,j1_deg\n", "joints.csv:1: a header and no samples"),
        ("t_s\n0\n", "joints.csv:1: no column of a joint"),
        ("t_s,time_s,j1_deg\n0,0,0\n", "joints.csv:1 time_s: a second column of times"),
        ("t_ms,j1_deg\n0,0\n", "joints.csv:1 t_ms: neither"),
        ("t_s,j1_deg\n0,1,5\n", "joints.csv:2: 3 values"),
    ],
)
def test_files_that_are_no_joints(tmp_path: Path, text: str, start: str) -> None:
    assert complaints(tmp_path, text)[0].startswith(start)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "joints.csv"
    path.write_bytes(b"t_s,j1_deg\n0,\xff\n")
    with pytest.raises(ScenarioError, match=r"joints\.csv:2: byte 13 is not UTF-8"):
        read_joint_csv(path)
    with pytest.raises(ScenarioError, match=r"no such file.*arm-joints"):
        read_joint_csv("arm-joint")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("t_s,j1_deg,j2_deg\n0,0,-1.5708\n1,0.4,-1.2\n", True),  # a quarter turn in radians
        ("t_s,j1_deg,j2_deg\n0,1.9,-1.7\n1,2.41,3.3\n", True),
        ("t_s,j1_deg,j2_deg\n0,0,2\n1,5,6\n", False),  # whole degrees
        ("t_s,j1_deg,j2_deg\n0,0,-1.5708\n1,0.4,-90\n", False),
        ("t_s,j1_rad\n0,1.5708\n1,1.9\n", False),
        ("t_s,j1_rad\n0,0\n1,90\n", True),
    ],
)
def test_unlikely_units_are_noted(tmp_path: Path, text: str, told: bool) -> None:
    assert len(read(tmp_path, text).notes) == told


def test_positions_between_samples_are_linear_and_held_outside() -> None:
    found = JointSet(np.array([1.0, 2.0, 4.0]), np.array([[0.0], [1.0], [-3.0]]), ("j1",))
    assert found.at(1.5) == pytest.approx((0.5,))
    assert found.at([0.0, 3.0, 9.0])[:, 0] == pytest.approx((0.0, -1.0, -3.0))


def test_angles_are_taken_as_they_are_given(tmp_path: Path) -> None:
    """From 170 to -170 degrees the joint goes back through 0; to 190 it goes on."""
    back = read(tmp_path, "t_s,j1_deg\n0,170\n1,-170\n")
    on = read(tmp_path, "t_s,j1_deg\n0,170\n1,190\n")
    assert math.degrees(back.at(0.5)[0]) == pytest.approx(0.0)
    assert math.degrees(on.at(0.5)[0]) == pytest.approx(180.0)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    generator = np.random.Generator(np.random.Philox(5))
    t_s = np.cumsum(generator.uniform(0.001, 0.1, 50))
    first = JointSet(t_s, generator.normal(size=(50, 3)), ("a1", "lift", "a2"), ("rad", "m", "rad"))
    path = tmp_path / "again.csv"
    write_joint_csv(path, first, "rad")
    again = read_joint_csv(path)
    assert (again.t_s == first.t_s).all()
    assert (again.q == first.q).all()
    assert (again.names, again.kinds) == (first.names, first.kinds)
    write_joint_csv(path, first)
    again = read_joint_csv(path)
    assert np.abs(again.q - first.q).max() < 4e-15  # two roundings of numbers below 4
    assert path.read_text("utf-8").startswith("t_s,a1_deg,lift_m,a2_deg\n")
    with pytest.raises(FieldworthyError, match="joint name"):
        write_joint_csv(path, JointSet(t_s, first.q, ("a,b", "c", "d")))


@pytest.mark.parametrize(
    ("t_s", "q", "told"),
    [
        ([0.0, 0.0], [[1.0], [2.0]], "sample 1"),
        ([0.0, 1.0], [[1.0], [math.nan]], "not finite"),
        ([0.0], [[1.0], [2.0]], "shapes"),
        ([], np.zeros((0, 1)), "shapes"),
        ([0.0], [[1.0, 2.0]], "1 names of 2"),
    ],
)
def test_a_set_made_by_hand_is_checked(t_s: list[float], q: list[list[float]], told: str) -> None:
    with pytest.raises(FieldworthyError, match=told):
        JointSet(np.array(t_s), np.array(q), ("j1",))


def test_columns_find_the_joints_of_an_arm_by_name() -> None:
    joints = (
        Joint("turn", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), -3.0, 3.0, 1.0),
        Joint("rail", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 1.0, 1.0, kind="prismatic"),
    )
    arm = Arm("two", joints, IDENTITY)
    t_s, q = np.array([0.0]), np.array([[0.5, 2.0]])
    swapped = JointSet(t_s, q, ("rail", "turn"), ("m", "rad")).for_arm(arm)
    assert swapped.q.tolist() == [[2.0, 0.5]]
    assert swapped.names == ("turn", "rail")
    assert JointSet(t_s, q, ("j1", "j2"), ("rad", "m")).for_arm(arm).q.tolist() == [[0.5, 2.0]]
    with pytest.raises(FieldworthyError, match="rail of two is prismatic and given in rad"):
        JointSet(t_s, q, ("j1", "j2")).for_arm(arm)
    with pytest.raises(FieldworthyError, match="1 joints; valid: the 2 of two"):
        JointSet(t_s, np.array([[1.0]]), ("j1",)).for_arm(arm)


def test_arm_joints_is_the_motion_that_its_comments_describe() -> None:
    found = read_joint_csv("arm-joints")
    assert found.names == ("j1", "j2", "j3", "j4", "j5", "j6")
    once = (1.0 - np.cos(2.0 * math.pi * found.t_s / 8.0)) / 2.0
    twice = (1.0 - np.cos(4.0 * math.pi * found.t_s / 8.0)) / 2.0
    described = np.stack(
        [40 * once, -90 + 35 * once, 90 - 25 * once, 30 * twice, 45 + 20 * twice, 90 * once], axis=1
    )  # fmt: skip
    assert np.abs(np.degrees(found.q) - described).max() < 0.00051  # three decimals
    assert (found.t_s[0], found.t_s[-1]) == (0.0, 8.0)
    assert np.ptp(np.diff(found.t_s)) > 0.1  # uneven on purpose
    # Limits of a KR 10 R1100 (KUKA, data sheet) in degrees; its slowest axis does over 200 deg/s.
    lower, upper = (-170, -190, -120, -185, -120, -350), (170, 45, 156, 185, 120, 350)
    assert (np.degrees(found.q) > lower).all()
    assert (np.degrees(found.q) < upper).all()
    assert np.abs(np.diff(np.degrees(found.q), axis=0) / np.diff(found.t_s)[:, None]).max() < 60.0
    assert found.notes == ()
