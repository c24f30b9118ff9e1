"""`fieldworthy arm`: poses, paths and programs from the command line, and what is said when something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fieldworthy.arms.catalogue import arm_names, load_arm
from fieldworthy.arms.joint_csv import read_joint_csv
from fieldworthy.arms.kinematics import fk
from fieldworthy.arms.programs import read_program
from fieldworthy.cli import main as cli_main
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.scenario.arm_task import arm_scene, load_arm_task


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    """Exit code and output; errors that the package raises on purpose count as exit code 2, as `main` has it."""
    done = CliRunner().invoke(cli_main.cli, ["arm", *words])
    if isinstance(done.exception, FieldworthyError):
        return 2, str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout if done.exit_code == 0 else done.output


def test_a_pose_is_solved_in_every_branch_and_turn():
    code, text = run("solve", "UR5e", "--pose", "0.4 0.2 0.3 180 0 90", "--json")
    found = json.loads(text)
    assert code == 0
    arm = load_arm("ur5e")
    q = np.radians([posture["joints"] for posture in found["postures"]])
    assert found["count"] == len(q) >= 8
    # Roll 180, then yaw 90 about the base: x of the tool points along +y of the base, z down.
    expected = [[0.0, 1.0, 0.0, 0.4], [1.0, 0.0, 0.0, 0.2], [0.0, 0.0, -1.0, 0.3], [0.0, 0.0, 0.0, 1.0]]
    assert np.abs(fk(arm, q) - np.array(expected)).max() < 1e-9
    near = json.loads(run("solve", "UR5e", "--pose", "0.4 0.2 0.3 180 0 90", "--near",
                          ",".join(map(str, found["postures"][5]["joints"])), "--json")[1])  # fmt: skip
    assert near["postures"][0]["joints"] == pytest.approx(found["postures"][5]["joints"], abs=1e-6)


def test_conventions_units_and_tools_mean_the_same_pose():
    poses = [
        ("--pose", "0.5 0.1 0.4 0 180 0", "--convention", "rpy"),
        ("--pose", "500 100 400 0 180 0", "--convention", "kuka_abc", "--mm"),
        ("--pose", "0.5 0.1 0.4 0 3.14159265358979 0", "--convention", "ur_rotvec"),
        ("--pose", "0.5,0.1,0.4,0,0,1,0", "--convention", "abb_quat"),
        ("--pose", "0.5 0.1 0.3 0 180 0", "--tool", "0 0 0.1"),  # the tool points down
    ]
    first = [json.loads(run("solve", "KR10", *options, "--json")[1])["postures"] for options in poses]
    rows = [np.array([posture["joints"] for posture in postures]) for postures in first]
    for other in rows[1:]:  # equally near ones may change places
        assert len(other) == len(rows[0])
        assert np.abs(rows[0][:, None] - other[None]).max(axis=2).min(axis=1).max() < 1e-6


def test_a_pose_out_of_reach_says_so_and_doubts_its_unit():
    code, text = run("solve", "KR10", "--pose", "2 0 0")
    assert (code, "out of reach" in text) == (1, True)
    code, text = run("solve", "KR10", "--pose", "500 0 400 180 0 0")
    assert code == 1
    assert "given in mm?" in text


@pytest.mark.parametrize(
    ("option", "radians", "degrees"),
    [
        ("--pose", "0.5 0.1 0.4 3.14 0 1.5708", "0.5 0.1 0.4 180 0 3"),
        ("--near", "0 -1.57 1.57 0 0 0", "0 -2 3 0 0 0"),
        ("--tool", "0 0 0.1 0 0 3.14159", "0 0 0.1 0 0 1.5"),
    ],
)
def test_quarter_turns_in_radians_are_doubted(option, radians, degrees):
    words = {"--pose": "0.5 0.1 0.4 180 0 90"}
    for value, doubted in ((radians, True), (degrees, False)):
        given = [word for pair in (words | {option: value}).items() for word in pair]
        text = CliRunner().invoke(cli_main.cli, ["arm", "solve", "KR10", *given]).output
        assert (f"{option}: quarter turns in radians" in text) == doubted, text


def test_a_path_is_planned_and_written(here):
    code, text = run("path", "arm-plane", "--robot", "KR10", "--out", "plane.src", "--json")
    assert code == 0, text
    figures = json.loads(text)
    assert figures["worst_error_m"] < 1e-9
    assert figures["peak_acceleration_ratio"] <= 1.0 + 1e-6
    program = read_program("plane.src")
    # The first move puts the joints where the planned branch begins; the rest are the user's own lines.
    assert np.degrees(program.moves[0].joints) == pytest.approx(figures["first_deg"], abs=1e-4)
    assert [move.kind for move in program.moves[1:]] == ["linear"] * (figures["waypoints"] - 1)
    code, text = run("path", "plane.src", "--robot", "KR10", "--json")
    assert code == 0, text
    assert json.loads(text)["duration_s"] == pytest.approx(figures["duration_s"], rel=0.02)


@pytest.mark.parametrize("name", ["out.csv", "out.yaml", "out.json"])
def test_joints_over_time_are_written_within_limits(here, name):
    code, text = run("path", "arm-cylinder", "--robot", "UR5e", "--out", name, "--rate", "60")
    assert code == 0, text
    arm = load_arm("ur5e")
    if name.endswith(".csv"):
        found = read_joint_csv(here / name)
        t, q = found.t_s, found.q
    else:
        program = read_program(here / name)
        t, q = np.array([move.time_s for move in program.moves]), np.array([move.joints for move in program.moves])
    assert len(t) > 1000
    speed = np.abs(np.diff(q, axis=0)) / np.diff(t)[:, None]
    assert (speed <= arm.speed * (1.0 + 1e-3)).all()


@pytest.mark.parametrize("target", ["p.src", "p.script", "p.mod", "p.ls", "p.json"])
def test_waypoints_become_programs_and_come_back(here, target):
    code, text = run("convert", "arm-plane", target)
    assert code == 0, text
    code, text = run("path", target, "--robot", "KR10", "--json")
    assert code == 0, text
    figures = json.loads(text)
    assert figures["waypoints"] == 74
    direct = json.loads(run("path", "arm-plane", "--robot", "KR10", "--json")[1])
    assert figures["first_deg"] == pytest.approx(direct["first_deg"], abs=0.01)


def test_joint_trajectories_are_converted_both_ways(here):
    assert run("convert", "arm-joints", "a.yaml")[0] == 0
    assert run("convert", "a.yaml", "b.csv")[0] == 0
    first, second = read_joint_csv("arm-joints"), read_joint_csv("b.csv")
    assert second.t_s == pytest.approx(first.t_s - first.t_s[0], abs=1e-9)
    assert np.abs(second.q - first.q).max() < 1e-9


def test_no_path_names_the_users_own_waypoint():
    code, text = run("path", "arm-plane", "--robot", "UR3e")
    assert code == 1
    assert "waypoint 0 ('above start') cannot be reached" in text


def test_obstacles_and_the_free_axis_are_heard(here):
    (here / "o.toml").write_text(
        '[[obstacles]]\nkind = "sphere"\nname = "ball"\ncentre_m = [0.55, 0.0, 0.25]\nradius_m = 0.02\n', "utf-8"
    )
    code, text = run("path", "arm-plane", "--robot", "KR10", "--obstacles", "o.toml")
    assert (code, "clearance" in text) == (1, True)
    code, text = run("path", "arm-plane", "--robot", "KR10", "--obstacles", "o.toml", "--ignore-collisions")
    assert (code, "clearance falls to" in text) == (0, True)


def test_frames_that_a_program_only_names(here):
    assert run("convert", "arm-plane", "p.ls")[0] == 0
    plain = "\n".join(line for line in (here / "p.ls").read_text("utf-8").splitlines() if "! UF" not in line)
    (here / "bare.ls").write_text(plain, "utf-8")
    code, text = run("path", "bare.ls", "--robot", "KR10")
    assert code == 2
    assert text.count("whose values are not in the file") == 1  # once for the frame, not for each of 74 positions
    words = ("path", "bare.ls", "--robot", "KR10", "--convention", "fanuc_wpr", "--mm", "--json")
    code, text = run(*words, "--frame", "1=550 0 250 0 20 0")
    assert code == 0, text
    assert json.loads(text)["waypoints"] == 74
    assert "FANUC frames are numbers" in run(*words, "--frame", "a=550 0 250 0 20 0")[1]
    assert "others have frames of their own" in run(*words, "--base", "550 0 250 0 20 0")[1]


@pytest.mark.parametrize("name", arm_names())
def test_every_arm_is_shown_with_its_sources(name):
    code, text = run("show", name)
    assert code == 0
    assert "inverse kinematics:" in text
    found = json.loads(run("show", name, "--json")[1])
    assert len(found["joints"]) == load_arm(name).dof
    assert found["sources"]


def test_a_new_task_can_be_read(here):
    code, text = run("new", "mine.toml", "--robot", "UR5e")
    assert code == 0, text
    scene = arm_scene(load_arm_task("mine.toml"))
    assert (scene.arm.name, scene.task.name, len(scene.obstacles)) == ("ur5e", "mine", 1)
    assert "is there already" in run("new", "mine.toml")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("solve", "UR5", "--pose", "0 0 0"), "did you mean 'ur5e'"),
        (("solve", "UR5e", "--pose", "0 0"), "2 numbers; valid: 3 or 6"),
        (("solve", "UR5e", "--pose", "a b c"), "'a' is no number"),
        (("solve", "UR5e", "--pose", "nan 0 0"), "not finite"),
        (("solve", "UR5e", "--pose", "0 0 1 0 0 0 2", "--convention", "abb_quat"), "quaternion"),
        (("solve", "UR5e", "--pose", "0.3 0 0.5", "--near", "0 0"), "2 numbers; valid: 6"),
        (("solve", "UR5e", "--pose", "0.3 0 0.5", "--solver", "ddls"), "did you mean 'dls'"),
        (("path", "nothing.src", "--robot", "KR10"), "nothing.src"),
        (("path", "arm-plane", "--robot", "KR10", "--out", "a.xyz"), "nothing is written with this ending"),
        (("path", "arm-plane", "--robot", "KR10", "--out", "no/a.src"), "there is no folder"),
        (("path", "arm-plane", "--robot", "KR10", "--obstacles", "no.toml"), "no.toml"),
        (("convert", "arm-plane", "a.ngc"), "read only"),
        (("convert", "arm-plane", "a.xyz"), "no robot program is known by the ending"),
        (("new", "no/mine.toml"), "there is no folder"),
    ],
)
def test_mistakes_are_told_in_a_sentence(here, words, said):
    code, text = run(*words)
    assert code == 2
    assert said in text
    assert list(here.iterdir()) == []


def test_arcs_stay_arcs_when_a_planned_path_is_written(here):
    (here / "part.nc").write_text(
        "G21 G90 G17\nG0 X0 Y0 Z20\nG1 Z0 F600\nG1 X40 Y0\nG2 X70 Y-30 I0 J-30\nG1 X70 Y-60\nM30\n", "utf-8"
    )
    words = ("path", "part.nc", "--robot", "KR10", "--base", "0.55 0 0.25 0 0 0")
    for name in ("q.script", "q.src", "q.mod"):
        code, text = run(*words, "--out", name)
        assert code == 0, text
        arcs = [move for move in read_program(name).moves if move.kind == "circular"]
        assert len(arcs) == 1
        # A quarter circle of 30 mm about (40, -30): its middle lies at 30 cos 45 from there.
        middle = np.array(arcs[0].base_from_frame) @ np.array(arcs[0].via)
        start = np.array((0.55, 0.0, 0.25))
        assert middle[:3, 3] - start == pytest.approx((0.04 + 0.0212132, -0.03 + 0.0212132, 0.0), abs=1e-5)


def test_a_trajectory_is_played_and_not_planned(here):
    assert run("convert", "arm-joints", "a.yaml")[0] == 0
    code, text = run("path", "a.yaml", "--robot", "KR10")
    assert (code, "played, not planned" in text) == (2, True)


CELL = """DEF cell ( )
$BASE = {X 500,Y 0,Z 200,A 0,B 0,C 0}
$TOOL = {X 0,Y 0,Z 100,A 0,B 0,C 0}
PTP {A1 0,A2 -90,A3 90,A4 0,A5 45,A6 0}
LIN {X 0,Y 0,Z 50,A 0,B 0,C 180}
CIRC {X 50,Y 50,Z 50,A 0,B 0,C 180},{X 100,Y 0,Z 50,A 0,B 0,C 180}
WAIT SEC 1
END
"""


def test_a_target_in_joints_keeps_its_posture(here):
    (here / "cell.src").write_text(CELL, "utf-8")
    code, text = run("path", "cell.src", "--robot", "KR10", "--out", "again.src", "--json")
    assert code == 0, text
    assert json.loads(text)["first_deg"] == pytest.approx((0.0, -90.0, 90.0, 0.0, 45.0, 0.0), abs=1e-9)
    first = read_program("again.src").moves[0]
    assert np.degrees(first.joints) == pytest.approx((0.0, -90.0, 90.0, 0.0, 45.0, 0.0), abs=1e-4)


def test_joints_that_cross_to_another_makers_arm_are_told(here):
    (here / "cell.src").write_text(CELL, "utf-8")
    done = CliRunner().invoke(cli_main.cli, ["arm", "path", "cell.src", "--robot", "UR10e"])
    assert "joint targets of a KUKA program are taken as those of ur10e" in done.stderr


def test_a_task_from_a_program_with_an_arc_counts_its_own_waypoints(here):
    (here / "cell.src").write_text(CELL, "utf-8")
    (here / "c.toml").write_text(
        'schema = 1\nname = "c"\n[arm]\nmodel = "kr10-r1100"\n[motion]\nprogram = "cell.src"\n[play]\nrate_hz = 25\n',
        "utf-8",
    )
    done = CliRunner().invoke(cli_main.cli, ["run", "c.toml", "--out", "r", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["solvers"][0]["waypoints"] == found["plan"]["waypoints"] == 4
    assert (here / "r" / "report.html").stat().st_size > 10_000
