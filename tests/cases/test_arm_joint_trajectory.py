"""ROS 2 JointTrajectory: messages as the tools print and take them, by hand-read values; refusals; round trips."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldworthy.arms.chain import IDENTITY
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs import joint_trajectory, read_program, write_program
from fieldworthy.arms.programs.findings import Findings
from fieldworthy.arms.programs.joint_trajectory import Trajectory, read_trajectory, write_trajectory
from fieldworthy.arms.programs.trajectory_json import quick_message
from fieldworthy.arms.programs.trajectory_message import read_message
from fieldworthy.arms.programs.yaml_flow import YamlError
from fieldworthy.arms.programs.yaml_subset import documents
from fieldworthy.core.errors import FieldworthyError, ScenarioError

ECHO = """\
header:
  stamp:
    sec: 1733065200
    nanosec: 120000000
  frame_id: ''
joint_names:
- shoulder_pan_joint
- shoulder_lift_joint
- elbow_joint
points:
- positions:
  - 0.0
  - -1.57
  - 1.5e-1
  velocities:
  - 0.0
  - 0.0
  - 0.0
  accelerations: []
  effort: []
  time_from_start:
    sec: 0
    nanosec: 0
- positions:
  - 0.25
  - -1.5
  - 1
  velocities:
  - 0.1
  - 0.2
  - -0.3
  accelerations: []
  effort: []
  time_from_start:
    sec: 2
    nanosec: 500000000
---
"""
PUB = """\
{
  joint_names: [shoulder_pan_joint, 'shoulder_lift_joint', "elbow_joint"],   # three of six
  points: [
    {positions: [0.0, -1.57, 0.15], velocities: [0, 0, 0], time_from_start: {sec: 0, nanosec: 0}},
    {
      positions: [
        0.25,
        -1.5,
        1
      ],
      velocities: [0.1, 0.2, -0.3],
      time_from_start: {sec: 2, nanosec: 500000000}
    }
  ]
}
"""
GOAL = """\
trajectory:
    joint_names: ['shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint']
    points:
        - positions: [0, -1.57, 0.15]
          velocities: [0, 0, 0]
          time_from_start: {secs: 0, nsecs: 0}

        -
          positions: [0.25,
            -1.5, 1]
          velocities: [0.1, 0.2, -0.3]
          time_from_start: {secs: 2, nsecs: 500000000}
"""
JSON = json.dumps(
    {
        "joint_names": ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint"],
        "points": [
            {"positions": [0, -1.57, 0.15], "velocities": [0, 0, 0], "time_from_start": {"sec": 0}},
            {"positions": [0.25, -1.5, 1], "velocities": [0.1, 0.2, -0.3],
             "time_from_start": {"sec": 2, "nanosec": 500_000_000}},
        ],
    }
)  # fmt: skip


@pytest.mark.parametrize("text", [ECHO, PUB, GOAL, JSON, json.dumps(json.loads(JSON), indent=2)])
def test_one_message_in_five_ways(text):
    trajectory = read_trajectory(text, "t.yaml")
    assert trajectory.joint_names == ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint")
    assert np.array_equal(trajectory.times_s, [0.0, 2.5])
    assert np.array_equal(trajectory.positions, [[0.0, -1.57, 0.15], [0.25, -1.5, 1.0]])
    assert trajectory.velocities is not None
    assert np.array_equal(trajectory.velocities, [[0, 0, 0], [0.1, 0.2, -0.3]])
    assert trajectory.accelerations is None
    program = joint_trajectory.read(text, "t.yaml")
    assert [move.joints for move in program.moves] == [(0.0, -1.57, 0.15), (0.25, -1.5, 1.0)]
    assert [(move.kind, move.time_s) for move in program.moves] == [("joint", 0.0), ("joint", 2.5)]
    assert program.joint_names == trajectory.joint_names
    assert "velocities are in read_trajectory" in program.notes[0]


def test_the_lines_of_points():
    assert read_trajectory(ECHO).lines == (11, 24)
    assert read_trajectory(PUB).lines == (4, 5)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("within", [False, True])
def test_json_is_read_alike_with_and_without_lines(indent, within):
    """The scanner without lines gives what the reader of every line gives, and leaves to it what is unusual."""
    whole = json.loads(JSON)
    whole["points"][0] |= {"effort": [1, 2, 3], "accelerations": []}
    whole = {"header": {"frame_id": "a"}, **whole}
    text = json.dumps({"trajectory": whole, "goal": [1]} if within else whole, indent=indent)
    quick = quick_message(text)
    assert quick is not None
    assert quick == read_message(text, Findings("t.json"))
    for unusual in (
        text.replace("-1.57", "NaN"), text.replace("-1.57", "true"), text.replace("-1.57", "1e999"), text + "1",
        text.replace('"sec": 0', '"sec": 0, "sec": 1'), text.replace('"sec": 0', '"sec": 9'),
        text.replace("0.15", '"a"'),
        text.replace('"effort"', '"effect"'), text[:-1], text.replace("elbow_joint", "shoulder_pan_joint"),
    ):  # fmt: skip
        assert unusual != text
        assert quick_message(unusual) is None


def test_joints_in_another_order():
    trajectory = read_trajectory(ECHO).for_joints(["elbow_joint", "shoulder_pan_joint"])
    assert np.array_equal(trajectory.positions, [[0.15, 0.0], [1.0, 0.25]])
    assert np.array_equal(trajectory.velocities, [[0, 0], [-0.3, 0.1]])
    program = joint_trajectory.for_joints(joint_trajectory.read(ECHO), ["elbow_joint"])
    assert [move.joints for move in program.moves] == [(0.15,), (1.0,)]
    with pytest.raises(
        FieldworthyError, match="'elbow' is not in the trajectory; valid: elbow_joint, shoulder_pan_joint; did"
    ):
        trajectory.for_joints(["elbow"])
    with pytest.raises(FieldworthyError, match="named twice"):
        trajectory.for_joints(["elbow_joint", "elbow_joint"])


def message(**changes: str) -> str:
    """A short message with some of its lines changed."""
    lines = {
        "names": "joint_names: [a, b]", "points": "points:", "first": "- positions: [0, 1]",
        "first_time": "  time_from_start: {sec: 1, nanosec: 0}", "second": "- positions: [0, 2]",
        "second_time": "  time_from_start: {sec: 2, nanosec: 0}",
    }  # fmt: skip
    assert set(changes) <= set(lines)
    return "\n".join({**lines, **changes}.values()) + "\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "t.yaml: 0 messages; valid: one JointTrajectory"),
        (ECHO + ECHO, "t.yaml:38: 2 messages; valid: one"),
        ("- 1\n", "t.yaml:1: a list of 1 where a mapping belongs"),
        (message(names="joint_names: []"), "t.yaml:1 [joint_names]: no joint names"),
        (message(names="joint_names: [a, a]"), "t.yaml:1 [joint_names[1]]: 'a' is there twice"),
        (message(names="joint_name: [a, b]"), "t.yaml:1 [joint_name]: unknown key; did you mean 'joint_names'?"),
        (message(second="- positions: [0]"), "t.yaml:5 [points[1].positions]: 1 values for 2 joints; valid: 2 numbers"),
        (message(second="- positions: [0, .nan]"), "t.yaml:5 [points[1].positions[1]]: nan is no finite number"),
        (message(second="- positions: [0, -.inf]"), "t.yaml:5 [points[1].positions[1]]: -inf is no finite number"),
        (message(second="- positions: [0, 1e999]"), "t.yaml:5 [points[1].positions[1]]: inf is no finite number"),
        (message(second="- positions: [0, x1]"), "t.yaml:5 [points[1].positions[1]]: 'x1' is no finite number"),
        (message(second="- positions: [0, true]"), "t.yaml:5 [points[1].positions[1]]: True is no finite number"),
        (message(second="- positions: 3"), "t.yaml:5 [points[1].positions]: 3 where a list belongs"),
        (message(second="- position: [0, 1]"), "[points[1].position]: unknown key; did you"),
        (message(second="- velocities: [0, 1]"), "t.yaml:5 [points[1].positions]: no values; valid: 2 numbers"),
        (message(second="- positions:\n  - 0\n  - '...'"), "[points[1].positions]: the list was cut short; valid:"),
        (message(second_time="  time_from_start: {sec: 1, nanosec: 0}"),
         "t.yaml:5 [points[1].time_from_start]: 1 s, after 1 s of points[0] in line 3; valid: times that rise"),
        (message(second_time="  time_from_start: {sec: 0, nanosec: 5}"), "5e-09 s, after 1 s of points[0] in line 3"),
        (message(second_time="  time_from_start: {sec: 2.5}"), "t.yaml:6 [points[1].time_from_start.sec]: 2.5; valid:"),
        (message(second_time="  time_from_start: {sec: -1}"), "[points[1].time_from_start.sec]: -1; valid: a whole"),
        (message(second_time="  time_from_start: {nanosec: 1000000000}"), "1000000000; valid: 0 to 999999999"),
        (message(second_time="  time_from_start: {sek: 1}"), "unknown key; did you mean 'sec'?"),
        (message(second_time="  velocities: [1, 2]"), "t.yaml:5 [points[1].time_from_start]: no time; valid: {sec: 1"),
        (message(points="points: []", first="", first_time="", second="", second_time=""), "[points]: no points"),
        (message(first="- positions: [0, 1"), "belongs (bracket opened in line 3)"),
        (message(first="\t- positions: [0, 1]"), "t.yaml:3: a tab as indentation"),
        (message(first="- positions: &a [0, 1]"), "t.yaml:3: '&a [0, 1]': anchors"),
        (message(first="- positions: [0, 1]\n  positions: [0, 1]"), "t.yaml:4: 'positions' is there twice (first in"),
        (message(first="- positions: [0 1}"), "t.yaml:3: "),
        (message(first_time=" time_from_start: {sec: 1}"), "t.yaml:4: 'time_from_start: {sec: 1}' fits to nothing"),
        ('{"joint_names": ["a"], "points": [}', "t.yaml:1: "),
        ("joint_names: 'a", "t.yaml:1: a string without its closing '"),
        ("[" * 100, "too deeply nested"),
    ],
)  # fmt: skip
def test_what_is_refused(text, told):
    with pytest.raises(ScenarioError) as caught:
        joint_trajectory.read(text, "t.yaml")
    problems = [str(problem) for problem in caught.value.problems]
    assert any(told in problem for problem in problems), problems


def test_all_problems_at_once():
    with pytest.raises(ScenarioError) as caught:
        joint_trajectory.read(message(first="- positions: [0, x]", second="- positions: [0]"), "t.yaml")
    assert len(caught.value.problems) == 2


def test_scalars_of_yaml():
    """Examples after YAML 1.2.2, chapter 10.3 (core schema) and 7.3 (quoted scalars)."""
    (node,) = documents(
        "a: null\nb: True\nc: '12'\nd: -0.5e2\ne: .5\nf: \"x # y\\n\"\ng: it's # a remark\n'h i': {j: [], k: {}}\nl:\n"
    )
    assert isinstance(node.value, dict)
    got = {key: each.value for key, each in node.value.items()}
    nested = got.pop("h i")
    assert isinstance(nested, dict)
    assert {key: each.value for key, each in nested.items()} == {"j": [], "k": {}}
    assert got == {"a": None, "b": True, "c": "12", "d": -50.0, "e": 0.5, "f": "x # y\n", "g": "it's", "l": None}
    assert documents("# nothing\n---\n\n") == []
    with pytest.raises(YamlError, match="left over"):
        documents("a: [1] 2\n")


def test_what_is_written():
    program = Program(
        "p", (Move("joint", (0.0, -1.57), time_s=0.0), Move("joint", (0.1, -1.5), time_s=1.0000000004)), "", ("a", "b")
    )
    assert joint_trajectory.write(program) == (
        'joint_names: ["a", "b"]\npoints:\n'
        "- positions: [0.0, -1.57]\n  time_from_start: {sec: 0, nanosec: 0}\n"
        "- positions: [0.1, -1.5]\n  time_from_start: {sec: 1, nanosec: 0}\n"
    )
    assert json.loads(joint_trajectory.write(program, "json")) == {
        "joint_names": ["a", "b"],
        "points": [
            {"positions": [0.0, -1.57], "time_from_start": {"sec": 0, "nanosec": 0}},
            {"positions": [0.1, -1.5], "time_from_start": {"sec": 1, "nanosec": 0}},
        ],
    }
    with pytest.raises(FieldworthyError, match="'yaml', 'json'"):
        joint_trajectory.write(program, "xml")


@pytest.mark.parametrize(
    ("moves", "told"),
    [
        ((), "[points]: the program has no moves"),
        ((Move("linear", pose=IDENTITY, time_s=1.0),), "[move 1]: goes to a pose; valid: joint positions"),
        ((Move("joint", (0.0,)),), "[move 1]: has no due time"),
        ((Move("joint", (0.0,), time_s=1.0), Move("joint", (0.0,), time_s=1.0)), "[move 2]: is due at 1 s, not after"),
        ((Move("joint", (0.0,), time_s=1.0), Move("joint", (0.0, 1.0), time_s=2.0)), "[move 2]: 2 joint positions"),
        ((Move("joint", (math.inf,), time_s=1.0),), "[move 1]: a number that is not finite"),
    ],
)
def test_what_cannot_be_written(moves, told):
    with pytest.raises(ScenarioError) as caught:
        joint_trajectory.write(Program("p", moves))
    assert told in str(caught.value)


@settings(deadline=None, max_examples=40)
@given(st.data(), st.integers(1, 7), st.integers(1, 6), st.booleans(), st.sampled_from(["yaml", "json"]))
def test_round_trips_keep_every_bit(data, dof, count, rates, form):
    numbers = st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=dof, max_size=dof),
        min_size=count, max_size=count,
    )  # fmt: skip
    steps = data.draw(st.lists(st.integers(1, 10**10), min_size=count, max_size=count))
    times = np.cumsum(steps) / 1e9
    names = tuple(data.draw(st.lists(st.text(max_size=8), min_size=dof, max_size=dof, unique=True)))
    extra = [np.array(data.draw(numbers)) if rates else None for _ in range(2)]
    first = Trajectory(names, times, np.array(data.draw(numbers)), *extra)
    second = read_trajectory(write_trajectory(first, form))
    assert second.joint_names == names
    assert np.array_equal(second.times_s, times)
    assert np.array_equal(second.positions, first.positions)
    for a, b in ((first.velocities, second.velocities), (first.accelerations, second.accelerations)):
        assert (a is None) == (b is None)
        assert a is None or np.array_equal(a, b)


@pytest.mark.parametrize("name", ["t.yaml", "t.yml", "t.json"])
def test_round_trip_through_a_file(tmp_path: Path, name):
    program = joint_trajectory.read(ECHO)
    write_program(program, tmp_path / name)
    again = read_program(tmp_path / name)
    assert [(move.joints, move.time_s) for move in again.moves] == [
        (move.joints, move.time_s) for move in program.moves
    ]
    assert again.joint_names == program.joint_names
    assert name != "t.json" or json.loads((tmp_path / name).read_text())
