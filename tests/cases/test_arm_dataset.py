"""Waypoint files: units, conventions, axes, what is refused and how it is told; the sets of the package by their
geometry; sets made of programs and made denser.

Long because the format is one subject.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldworthy.arms import dataset
from fieldworthy.arms.chain import IDENTITY, Arm, Array, Joint, Matrix, as_matrix
from fieldworthy.arms.dataset import DATA, builtin_sets, read_waypoints, write_waypoints
from fieldworthy.arms.orientation import CONVENTIONS
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.program_waypoints import waypoints_of
from fieldworthy.arms.waypoints import WaypointSet, densify, waypoint_set
from fieldworthy.core.errors import FieldworthyError, ScenarioError

SCHEMA: dict[str, Any] = json.loads((DATA.parent / "waypoint_schema.json").read_text("utf-8"))
ROUNDING = 1e-14


def document(**changes: Any) -> dict[str, Any]:
    """A small valid file, with some keys changed or, when None, left out."""
    made: dict[str, Any] = {
        "schema": 1,
        "name": "edge",
        "units": {"length": "mm", "angle": "deg"},
        "orientation": "kuka_abc",
        "workpiece": {"position": [500, 0, 200], "orientation": [90, 0, 0]},
        "speed_m_s": 0.05,
        "waypoints": [
            {"name": "a", "position": [100, 0, 0], "orientation": [0, 0, 180]},
            {"position": [100, 50, 0], "orientation": [0, 0, 180], "speed_m_s": 0.02, "dwell_s": 1.5},
        ],
    }
    return {key: value for key, value in (made | changes).items() if value is not None}


def written(folder: Path, content: dict[str, Any] | str) -> Path:
    path = folder / "set.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), "utf-8")
    return path


def read(folder: Path, content: dict[str, Any] | str) -> WaypointSet:
    return read_waypoints(written(folder, content))


def complaints(folder: Path, content: dict[str, Any] | str) -> list[str]:
    """All problems of a file, without its folder."""
    path = written(folder, content)
    with pytest.raises(ScenarioError) as caught:
        read_waypoints(path)
    return [str(problem).replace(str(path), "set.json") for problem in caught.value.problems]


def rot(axis: str, angle_deg: float) -> Array:
    """Right-handed rotation about x, y or z, written out."""
    c, s = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    rows = {
        "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }
    return np.array(rows[axis], float)


def pose(turn: Array | None = None, place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Array:
    made = np.eye(4)
    made[:3, :3] = np.eye(3) if turn is None else turn
    made[:3, 3] = place
    return made


# ------------------------------------------------------------------------------------------------------- reading


def test_a_workpiece_turned_by_a_quarter_carries_its_waypoints(tmp_path: Path) -> None:
    """100 mm along the workpiece's x, which is the base's y: (0.5, 0.1, 0.2)."""
    found = read(tmp_path, document())
    assert found.base_from_tool[:, :3, 3] == pytest.approx(np.array([(0.5, 0.1, 0.2), (0.45, 0.1, 0.2)]), abs=1e-15)
    assert found.workpiece_from_tool[1, :3, 3] == pytest.approx((0.1, 0.05, 0.0))
    assert np.abs(found.base_from_tool[0, :3, :3] - rot("z", 90) @ rot("x", 180)).max() < ROUNDING
    assert found.names == ("a", "")
    assert (found.label(0), found.label(1)) == ("a", "#1")
    assert found.speed_m_s.tolist() == [0.05, 0.02]
    assert found.dwell_s.tolist() == [0.0, 1.5]
    assert found.move == ("linear", "linear")
    assert found.given.all()
    assert not found.tool_axis_free.any()
    assert found.flange_from_tool is None
    assert found.notes == ()


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    text = str(dataset.__doc__)
    found = read(tmp_path, text[text.index("    {") : text.index("`waypoint_schema")])
    assert found.base_from_tool[:, 0, 3] == pytest.approx((0.55, 0.65))
    assert found.tool_axis_free.tolist() == [False, True]


def test_what_may_be_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, document(workpiece=None, speed_m_s=None))
    assert (found.base_from_workpiece == np.eye(4)).all()
    assert math.isnan(found.speed_m_s[0])
    assert found.speed_m_s[1] == 0.02


def test_a_frame_may_write_its_orientation_in_its_own_way(tmp_path: Path) -> None:
    half = math.sqrt(0.5)
    tool = {"position": [0, 0, 120], "orientation": [half, 0, half, 0], "convention": "quat_wxyz"}
    found = read(tmp_path, document(tool=tool))
    assert found.flange_from_tool is not None
    assert np.abs(found.flange_from_tool - pose(rot("y", 90), (0, 0, 0.12))).max() < ROUNDING


@pytest.mark.parametrize(
    ("convention", "values"),
    [
        ("euler_zyx", [30, 40, 50]),
        ("kuka_abc", [30, 40, 50]),
        ("rpy", [50, 40, 30]),
        ("fanuc_wpr", [50, 40, 30]),
    ],
)
def test_conventions_that_differ_in_order_only(tmp_path: Path, convention: str, values: list[float]) -> None:
    """Rz(30) Ry(40) Rx(50) in four hands."""
    waypoint = {"position": [0, 0, 0], "orientation": values}
    found = read(tmp_path, document(orientation=convention, workpiece=None, waypoints=[waypoint]))
    expected = rot("z", 30) @ rot("y", 40) @ rot("x", 50)
    assert np.abs(found.base_from_tool[0, :3, :3] - expected).max() < ROUNDING


def test_euler_xyz_is_not_euler_zyx(tmp_path: Path) -> None:
    waypoint = {"position": [0, 0, 0], "orientation": [30, 40, 50]}
    found = read(tmp_path, document(orientation="euler_xyz", workpiece=None, waypoints=[waypoint]))
    expected = rot("x", 30) @ rot("y", 40) @ rot("z", 50)
    assert np.abs(found.base_from_tool[0, :3, :3] - expected).max() < ROUNDING


def test_unity_numbers_as_unity_means_them(tmp_path: Path) -> None:
    """1 right, 2 up, 3 forward is (3, -1, 2) of ROS; a yaw of +90 in Unity turns the nose from forward to the right."""
    waypoint = {"position": [1, 2, 3], "orientation": [0, 90, 0]}
    units = {"length": "m", "angle": "deg"}
    data = document(axes="unity", units=units, orientation="euler_xyz", workpiece=None, waypoints=[waypoint])
    found = read(tmp_path, data).base_from_tool[0]
    assert found[:3, 3] == pytest.approx((3, -1, 2), abs=1e-15)
    assert found[:3, :3] @ (1, 0, 0) == pytest.approx((0, -1, 0), abs=1e-15)
    assert np.linalg.det(found[:3, :3]) == pytest.approx(1.0)


def test_unity_chains_frames_before_or_after_the_change_of_axes(tmp_path: Path) -> None:
    """A point of the tool, carried through all frames in Unity's own left-handed numbers, and then renamed."""
    workpiece = {"position": [-0.2, 0.4, 0.5], "orientation": [10, 20, 30], "convention": "euler_zyx"}
    waypoint = {"position": [0.1, -0.1, 0.05], "orientation": [40, -50, 60]}
    units = {"length": "m", "angle": "deg"}
    data = document(axes="unity", units=units, orientation="euler_xyz", workpiece=workpiece, waypoints=[waypoint])
    found = read(tmp_path, data).base_from_tool[0]
    # The matrix of a turn by an angle is the same in both hands; only its sense to the eye differs.
    piece = pose(rot("z", 10) @ rot("y", 20) @ rot("x", 30), (-0.2, 0.4, 0.5))
    way = pose(rot("x", 40) @ rot("y", -50) @ rot("z", 60), (0.1, -0.1, 0.05))
    right, up, forward, one = piece @ way @ (0.01, 0.02, 0.03, 1.0)
    assert found @ (0.03, -0.01, 0.02, 1.0) == pytest.approx((forward, -right, up, one), abs=ROUNDING)


@pytest.mark.parametrize(
    ("units", "position", "orientation", "told"),
    [
        ({"length": "m", "angle": "deg"}, [550, 0, 200], [0, 0, 180], "millimetres"),
        ({"length": "mm", "angle": "deg"}, [0.004, 0, 0.002], [0, 0, 180], "metres"),
        ({"length": "mm", "angle": "rad"}, [550, 0, 200], [0, 0, 180], "degrees"),
        ({"length": "mm", "angle": "deg"}, [550, 0, 200], [0, 1.5708, 0], "radians"),
        ({"length": "mm", "angle": "rad"}, [550, 0, 200], [0, 1.5708, 0], ""),
        ({"length": "mm", "angle": "deg"}, [550, 0, 200], [0, 2, 0], ""),
        ({"length": "m", "angle": "rad"}, [0.01, 0, 0], [0, 0, 0], ""),
    ],
)
def test_unlikely_units_are_noted(
    tmp_path: Path, units: dict[str, str], position: list[float], orientation: list[float], told: str
) -> None:
    waypoint = {"position": position, "orientation": orientation}
    notes = read(tmp_path, document(units=units, workpiece=None, waypoints=[waypoint])).notes
    assert len(notes) == (1 if told else 0)
    assert all(f"{told}?" in note for note in notes)


# ------------------------------------------------------------------------------------------------------ refusing


def test_everything_wrong_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    text = """{
  "schema": 2,
  "name": "",
  "units": {"length": "cm"},
  "orientation": "kuka_abc",
  "axis": "ros",
  "workpiece": {"position": [0, 0], "orientation": [0, 0, 0]},
  "speed_m_s": 0,
  "waypoints": [
    {"name": "a", "position": [0, NaN, 0], "orientation": [0, 0, 0]},
    {"name": "a", "position": [0, "1", 0], "orientation": [0, 0, true]},
    {"position": [0, 0, 1e999], "orientation": [0, 0, 0, 1], "speed": 0.1},
    7,
    {"orientation": [0, 0, 0], "move": "liner", "dwell_s": -1,
     "tool_axis_free": 1}
  ]
}
"""
    told = complaints(tmp_path, text)
    expected = [
        ("set.json:2 schema: 2 ", "valid: 1"),
        ("set.json:3 name: ", "not empty"),
        ("set.json:4 units.length: ", "m, mm"),
        ("set.json:4 units: 'angle' is missing", ""),
        ("set.json:6 axis: unknown key", "did you mean 'axes'?"),
        ("set.json:7 workpiece.position: a list of 2", "3 numbers"),
        ("set.json:8 speed_m_s: 0", "> 0"),
        ("set.json:10 waypoints[0].position[1]: nan", "a number"),
        ("set.json:11 waypoints[1].name: 'a'", "waypoints[0]"),
        ("set.json:11 waypoints[1].position[1]: ", "a number"),
        ("set.json:11 waypoints[1].orientation[2]: true", "a number"),
        ("set.json:12 waypoints[2].position[2]: inf", "a number"),
        ("set.json:12 waypoints[2].orientation: a list of 4", "kuka_abc"),
        ("set.json:12 waypoints[2].speed: unknown key", "'speed_m_s'"),
        ("set.json:13 waypoints[3]: 7", "an object"),
        ("set.json:14 waypoints[4]: 'position' is missing", ""),
        ("set.json:14 waypoints[4].move: ", "did you mean 'linear'?"),
        ("set.json:14 waypoints[4].dwell_s: -1", ">= 0"),
        ("set.json:15 waypoints[4].tool_axis_free: 1", "true or false"),
    ]
    for start, rest in expected:
        assert any(line.startswith(start) and rest in line for line in told), f"{start} ... {rest}\n" + "\n".join(told)
    assert len(told) == len(expected), "\n".join(told)


@pytest.mark.parametrize(
    ("changes", "start", "rest"),
    [
        ({"waypoints": []}, "set.json:1 waypoints: a list of 0", "one or more"),
        ({"waypoints": None}, "set.json:1: 'waypoints' is missing", ""),
        ({"orientation": "kuka"}, "set.json:1 orientation: ", "did you mean 'kuka_abc'?"),
        ({"axes": "enu"}, "set.json:1 axes: ", "ros, unity"),
        ({"units": "mm"}, "set.json:1 units: ", "an object"),
        ({"name": 3}, "set.json:1 name: 3", "a text"),
        ({"schema": True}, "set.json:1 schema: true", "valid: 1"),
        ({"speed_m_s": 10**400}, "set.json:1 speed_m_s: a whole number of", "> 0"),
    ],
)
def test_single_mistakes_are_one_problem(tmp_path: Path, changes: dict[str, Any], start: str, rest: str) -> None:
    content = document()
    content.update(changes)
    (told,) = complaints(tmp_path, json.dumps({key: value for key, value in content.items() if value is not None}))
    assert told.startswith(start)
    assert rest in told


def test_quaternions_have_length_one(tmp_path: Path) -> None:
    three_digits = {"position": [0, 0, 0], "orientation": [0.707, 0, 0.707, 0]}
    half_as_long = {"position": [0, 0, 0], "orientation": [0.5, 0, 0, 0]}
    found = read(tmp_path, document(orientation="quat_wxyz", workpiece=None, waypoints=[three_digits]))
    assert np.abs(found.base_from_tool[0, :3, :3] - rot("y", 90)).max() < ROUNDING
    rows = [three_digits, half_as_long]
    (told,) = complaints(tmp_path, document(orientation="quat_wxyz", workpiece=None, waypoints=rows))
    assert "waypoints[1].orientation: a quaternion of length 0.5" in told


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("", "set.json:1: not valid JSON"),
        ('{"schema": 1,\n "name" "x"}', "set.json:2: not valid JSON"),
        ("[1, 2]", "set.json:1: the file holds a list of 2"),
        ("[" * 100_000, "set.json: lists or objects nested too deeply"),
        ('{"schema": ' + "1" * 5000 + "}", "set.json: a number of thousands of digits"),
    ],
)
def test_files_that_are_no_waypoints(tmp_path: Path, text: str, start: str) -> None:
    (told,) = complaints(tmp_path, text)
    assert told.startswith(start)


def test_a_key_written_twice_is_told(tmp_path: Path) -> None:
    text = json.dumps(document(), indent=1).replace('"name": "edge"', '"name": "edge",\n "name": "other"')
    (told,) = complaints(tmp_path, text)
    assert told.startswith("set.json:4 name: this key is written twice")


def test_many_problems_are_counted(tmp_path: Path) -> None:
    told = complaints(tmp_path, document(waypoints=[{"position": [0, 0, 0]}] * 500))
    assert len(told) == 101
    assert told[-1] == "set.json: 400 more problems"


def test_a_file_that_is_not_there_names_the_sets_that_are(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="arm-cylinder, arm-frames, arm-plane"):
        read_waypoints("arm-plan")


def test_a_bom_and_names_in_any_script(tmp_path: Path) -> None:
    path = tmp_path / "집.json"
    path.write_text(json.dumps(document(name="용접 1"), ensure_ascii=False), "utf-8-sig")
    assert read_waypoints(path).name == "용접 1"


def test_a_set_made_by_hand_is_checked() -> None:
    with pytest.raises(FieldworthyError, match="no rigid motion"):
        waypoint_set("mirror", [np.diag((1.0, 1.0, -1.0, 1.0))])
    with pytest.raises(FieldworthyError, match="2 values of names; valid: 1"):
        waypoint_set("names", [np.eye(4)], names=("a", "b"))
    with pytest.raises(FieldworthyError, match="one or more"):
        waypoint_set("none", np.zeros((0, 4, 4)))


# ----------------------------------------------------------------------------------------- schema and round trip


def broken(value: Any, rule: dict[str, Any], place: str = "file") -> list[str]:
    """What breaks the rules of JSON Schema 2020-12 that the schema uses; an unknown rule is a mistake of this test."""
    if "$ref" in rule:
        rule = SCHEMA["$defs"][rule["$ref"].removeprefix("#/$defs/")] | {k: v for k, v in rule.items() if k != "$ref"}
    kinds = {"object": dict, "array": list, "string": str, "number": (int, float), "boolean": bool}
    wrong = []
    for name, wanted in rule.items():
        match name:
            case "type":
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                ok = is_number if wanted == "number" else isinstance(value, kinds[wanted])
            case "const":
                ok = value == wanted
            case "enum":
                ok = value in wanted
            case "required":
                ok = all(key in value for key in wanted)
            case "additionalProperties":
                ok = wanted or set(value) <= set(rule["properties"])
            case "minItems" | "minLength":
                ok = len(value) >= wanted
            case "maxItems":
                ok = len(value) <= wanted
            case "exclusiveMinimum":
                ok = value > wanted
            case "minimum":
                ok = value >= wanted
            case "properties":
                ok = True
                wrong += [w for k, v in value.items() if k in wanted for w in broken(v, wanted[k], f"{place}.{k}")]
            case "items":
                ok = True
                wrong += [w for k, v in enumerate(value) for w in broken(v, wanted, f"{place}[{k}]")]
            case "$schema" | "$id" | "$defs" | "title" | "description" | "default":
                ok = True
            case _:
                raise AssertionError(f"{place}: {name} is not known to this test")
        if not ok:
            wrong.append(f"{place}: {name}")
            if name == "type":
                return wrong
    return wrong


@pytest.mark.parametrize("name", builtin_sets())
def test_the_sets_of_the_package_hold_the_schema(name: str) -> None:
    assert broken(json.loads((DATA / f"{name}.json").read_text("utf-8")), SCHEMA) == []


def test_the_schema_refuses_what_the_reader_refuses(tmp_path: Path) -> None:
    assert broken(document(), SCHEMA) == []
    for changes in (
        {"schema": 2},
        {"name": ""},
        {"orientation": "abc"},
        {"waypoints": []},
        {"speed_m_s": 0},
        {"no": 1},
    ):
        assert broken(document(**changes), SCHEMA), changes
        assert complaints(tmp_path, document(**changes))


def test_the_schema_knows_all_conventions() -> None:
    assert SCHEMA["$defs"]["convention"]["enum"] == list(CONVENTIONS)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """To the rounding of quaternions and back; the file holds the schema."""
    first = read_waypoints("arm-frames")
    tool = pose(rot("y", 35), (0.0, 0.01, 0.1))
    first = waypoint_set(
        "a \u00e9",
        first.workpiece_from_tool,
        first.base_from_workpiece,
        0.03,
        flange_from_tool=tool,
        description='with "quotes"',
        dwell_s=np.arange(8.0),
        move=("joint", *("linear",) * 7),
        names=("start", *("",) * 7),
        tool_axis_free=np.arange(8) % 2 == 0,
    )
    path = tmp_path / "again.json"
    write_waypoints(path, first)
    again = read_waypoints(path)
    assert broken(json.loads(path.read_text("utf-8")), SCHEMA) == []
    assert [p.name for p in tmp_path.iterdir()] == ["again.json"]
    assert np.abs(again.base_from_tool - first.base_from_tool).max() < ROUNDING
    assert again.flange_from_tool is not None
    assert np.abs(again.flange_from_tool - tool).max() < ROUNDING
    for field in ("name", "description", "names", "move"):
        assert getattr(again, field) == getattr(first, field)
    for field in ("speed_m_s", "dwell_s", "tool_axis_free"):
        assert (getattr(again, field) == getattr(first, field)).all()
    with pytest.raises(FieldworthyError, match="cannot be written"):
        write_waypoints(tmp_path / "no" / "such.json", first)


# --------------------------------------------------------------------------------------- the sets of the package


def test_arm_plane_lies_on_its_plane() -> None:
    """The plane through (0.55, 0, 0.25) whose normal leans 20 degrees from up towards x."""
    found = read_waypoints("arm-plane")
    normal = np.array((math.sin(math.radians(20)), 0.0, math.cos(math.radians(20))))
    heights = (found.base_from_tool[:, :3, 3] - (0.55, 0.0, 0.25)) @ normal
    assert heights[[0, -1]] == pytest.approx((0.05, 0.05), abs=1e-15)
    assert np.abs(heights[1:-1]).max() < 1e-15
    assert np.abs(found.base_from_tool[:, :3, 2] + normal).max() < 1e-15
    milled = found.workpiece_from_tool[1:-1, :3, 3]
    assert sorted({(round(x, 6), round(y, 6)) for x, y, _ in milled}) == [
        (round(-0.07 + 0.02 * i, 6), round(-0.08 + 0.02 * j, 6)) for i in range(8) for j in range(9)
    ]
    assert np.linalg.norm(np.diff(milled, axis=0), axis=1) == pytest.approx(np.full(71, 0.02))
    assert found.notes == ()


def test_arm_cylinder_lies_on_its_cylinder() -> None:
    """Radius 0.1 m about the line along x through (0.55, 0, 0.25); positions are written to 1e-6 m."""
    found = read_waypoints("arm-cylinder")
    from_axis = found.base_from_tool[:, :3, 3] - (0.55, 0.0, 0.25)
    from_axis[:, 0] = 0.0
    radius = np.linalg.norm(from_axis, axis=1)
    assert radius[0] == pytest.approx(0.15, abs=1e-6)
    assert radius[1:] == pytest.approx(np.full(78, 0.1), abs=1e-6)
    assert np.abs(found.base_from_tool[:, :3, 2] + from_axis / radius[:, None]).max() < 1e-5
    leaning = np.degrees(np.arctan2(-from_axis[1:, 1], from_axis[1:, 2]))
    assert np.abs(np.abs(leaning).max() - 60.0) < 1e-3
    assert np.abs(np.diff(leaning).reshape(-1)[:12] - 10.0).max() < 1e-3
    assert found.tool_axis_free[1:].all()
    assert found.flange_from_tool is not None
    assert found.flange_from_tool[:3, 3].tolist() == [0.0, 0.0, 0.05]
    assert found.notes == ()


def test_arm_frames_is_a_box_seen_from_unity() -> None:
    found = read_waypoints("arm-frames")
    corners = dict(zip(found.names, found.base_from_tool[:, :3, 3], strict=True))
    assert found.base_from_workpiece[:3, 3] == pytest.approx((0.5, 0.1, 0.35))  # forward, left, up
    for here, there, edge_m in (
        ("left lower near", "right lower near", 0.2),
        ("left lower near", "left upper near", 0.12),
        ("left lower near", "left lower far", 0.16),
    ):
        assert np.linalg.norm(corners[there] - corners[here]) == pytest.approx(edge_m, rel=1e-12)
    right = corners["right lower near"] - corners["left lower near"]
    up = corners["left upper near"] - corners["left lower near"]
    far = corners["left lower far"] - corners["left lower near"]
    # Forward, left, up is right-handed, and the workpiece is turned by 32 degrees at most: names and directions agree.
    assert np.dot(np.cross(far, -right), up) == pytest.approx(0.2 * 0.12 * 0.16, rel=1e-12)
    assert far[0] > 0.0
    assert right[1] < 0.0
    assert up[2] > 0.0
    # The tool's z points down, as far as its lean and that of the workpiece allow.
    assert (found.base_from_tool[:, 2, 2] < -0.8).all()
    assert np.linalg.det(found.base_from_tool[:, :3, :3]) == pytest.approx(np.ones(8))


# ------------------------------------------------------------------------------------------ denser, and programs


def test_points_put_in_lie_on_the_line() -> None:
    corner = [pose(), pose(rot("z", 90), (0.1, 0.0, 0.0)), pose(rot("z", 90), (0.1, 0.05, 0.0))]
    first = waypoint_set("corner", corner, names=("a", "b", "c"), dwell_s=np.array([1.0, 2.0, 3.0]))
    dense = densify(first, 0.02)
    assert dense.given.tolist() == [True, *[False] * 4, True, False, False, True]
    assert (dense.workpiece_from_tool[dense.given] == first.workpiece_from_tool).all()
    assert [name for name in dense.names if name] == ["a", "b", "c"]
    assert dense.dwell_s.tolist() == [1.0, 0, 0, 0, 0, 2.0, 0, 0, 3.0]
    assert dense.workpiece_from_tool[1, :3, 3] == pytest.approx((0.02, 0.0, 0.0))
    assert np.abs(dense.workpiece_from_tool[1, :3, :3] - rot("z", 18)).max() < ROUNDING
    turned = densify(first, math.inf, math.radians(30.0))
    assert len(turned) == 5
    assert np.abs(turned.workpiece_from_tool[1, :3, :3] - rot("z", 30)).max() < ROUNDING
    with pytest.raises(FieldworthyError, match="> 0"):
        densify(first, 0.0)


def test_joint_motions_stay_whole() -> None:
    first = waypoint_set("two", [pose(), pose(None, (1.0, 0.0, 0.0))], move=("linear", "joint"))
    assert len(densify(first, 0.01)) == 2


def at(x_m: float, y_m: float, turn: Array | None = None) -> Matrix:
    return as_matrix(pose(turn, (x_m, y_m, 0.0)))


START = Move("linear", pose=at(0.0, 0.0))


def test_a_circular_move_follows_its_circle() -> None:
    """Half of a circle of radius 0.1 m about (0.1, 0), and the turn of the tool spread evenly over it."""
    moves = (
        Move("linear", pose=at(0.0, 0.0), speed_m_s=0.1, label="P1", line=3),
        Move("circular", pose=at(0.2, 0.0, rot("z", 90)), via=at(0.1, 0.1, rot("x", 70)), speed_m_s=0.05, label="P2"),
        Move("linear", pose=at(0.3, 0.0, rot("z", 90)), dwell_s=2.0, label="P1"),
    )
    found = waypoints_of(Program("half", moves, notes=("line 9: OUT 3",)), arc_step_m=0.01, arc_step_rad=math.inf)
    on_arc = found.workpiece_from_tool[1:-1, :3, 3] - (0.1, 0.0, 0.0)
    assert np.linalg.norm(on_arc, axis=1) == pytest.approx(np.full(len(on_arc), 0.1), rel=1e-14)
    assert (on_arc[:-1, 1] > 0.0).all()
    angle = math.pi - np.unwrap(np.arctan2(on_arc[:, 1], on_arc[:, 0]))
    assert (np.diff(angle) > 0.0).all()
    assert 0.1 * np.diff(angle).max() <= 0.01
    assert len(on_arc) == 32  # two quarters of 0.157 m, each in 16 parts
    assert found.workpiece_from_tool[-2, :3, 3].tolist() == [0.2, 0.0, 0.0]
    middle = 16
    assert found.workpiece_from_tool[middle, :3, 3] == pytest.approx((0.1, 0.1, 0.0), abs=1e-15)
    assert np.abs(found.workpiece_from_tool[middle, :3, :3] - rot("z", 45)).max() < ROUNDING
    assert np.flatnonzero(found.given).tolist() == [0, 16, 32, 33]
    assert found.names[0] == "P1"
    assert found.names[32:] == ("P2", "P1 (2)")
    assert found.speed_m_s[[0, 5, 32]].tolist() == [0.1, 0.05, 0.05]
    assert math.isnan(found.speed_m_s[33])
    assert found.dwell_s[33] == 2.0
    assert found.notes == ("line 9: OUT 3",)


def test_frames_and_tools_of_a_program() -> None:
    piece = as_matrix(pose(rot("z", 90), (0.5, 0.0, 0.0)))
    tool = as_matrix(pose(None, (0.0, 0.0, 0.1)))
    moves = (
        Move("joint", pose=at(0.1, 0.0), base_from_frame=piece, flange_from_tool=tool),
        Move("linear", pose=at(0.4, 0.2), base_from_frame=IDENTITY, flange_from_tool=tool, blend_m=0.01),
    )
    found = waypoints_of(Program("frames", moves))
    assert found.base_from_tool[:, :3, 3] == pytest.approx(np.array([(0.5, 0.1, 0.0), (0.4, 0.2, 0.0)]), abs=1e-15)
    assert (found.base_from_workpiece == np.array(piece)).all()
    assert found.flange_from_tool is not None
    assert found.move == ("joint", "linear")
    assert any("blends" in note for note in found.notes)


def test_targets_in_joints_need_the_arm() -> None:
    """A table of two axes: joints are coordinates."""
    slides = tuple(
        Joint(name, axis, (0.0, 0.0, 0.0), -1.0, 1.0, 1.0, kind="prismatic")
        for name, axis in (("x", (1.0, 0.0, 0.0)), ("y", (0.0, 1.0, 0.0)))
    )
    table = Arm("table", slides, IDENTITY)
    moves = (Move("joint", joints=(0.2, 0.3)), Move("linear", pose=at(0.4, 0.3), flange_from_tool=at(0.0, 0.01)))
    found = waypoints_of(Program("mixed", moves), table)
    assert found.base_from_tool[:, :2, 3] == pytest.approx(np.array([(0.2, 0.31), (0.4, 0.3)]), abs=1e-15)
    with pytest.raises(FieldworthyError, match=r"mixed: a target in joints; valid: waypoints_of\(program, arm\)"):
        waypoints_of(Program("mixed", moves))
    with pytest.raises(FieldworthyError, match=r"m\.src:4: .*shape"):
        waypoints_of(Program("m", (Move("joint", joints=(1.0,) * 3, line=4),), "m.src"), table)


@pytest.mark.parametrize(
    ("moves", "told"),
    [
        ((), "moves nothing"),
        ((Move("circular", pose=at(1, 0), via=at(0, 1), line=7),), "p.src:7: a circular move as the first one"),
        ((START, Move("circular", pose=at(2, 0), via=at(1, 0), line=8)), "p.src:8: .*one line"),
        ((START, Move("linear", pose=at(2, 0), flange_from_tool=at(1, 0), line=9)), "p.src:9: the tool"),
    ],
)
def test_programs_that_are_no_set(moves: tuple[Move, ...], told: str) -> None:
    with pytest.raises(FieldworthyError, match=told):
        waypoints_of(Program("p", moves, "p.src"))
