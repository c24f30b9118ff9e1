"""URDF files: chains and frames against MuJoCo's own reading, limits, shapes for collision, what is wrong in a file."""

from __future__ import annotations

import itertools
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldworthy.arms.chain import Arm, Array, Capsule
from fieldworthy.arms.kinematics import fk
from fieldworthy.arms.mesh_capsule import capsule_about, solid_capsule, volume
from fieldworthy.arms.stl import read_stl
from fieldworthy.arms.urdf import mesh_path, read_urdf
from fieldworthy.core.errors import FieldworthyError, ScenarioError


def joint(name: str, kind: str, parent: str, child: str, rest: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{rest}</joint>\n'


def robot(*joints: str, shapes: dict[str, str] | None = None, extra: str = "") -> str:
    """A URDF whose links are those that the joints name, with collision shapes by link."""
    words = " ".join(joints)
    links = dict.fromkeys(part.split('"')[0] for part in words.replace('mimic joint="', "").split(' link="')[1:])
    text = "".join(f'<link name="{name}">{(shapes or {}).get(name, "")}</link>\n' for name in links)
    return f'<?xml version="1.0"?>\n<robot name="made">{extra}\n{text}{"".join(joints)}</robot>\n'


LIMIT = '<limit lower="-2" upper="1.5" velocity="3" effort="1"/>'
SIMPLE = robot(
    joint("a", "revolute", "base", "one", '<origin xyz="0 0 0.2"/><axis xyz="0 0 1"/>' + LIMIT),
    joint("b", "revolute", "one", "two", '<origin xyz="0.1 0 0.3" rpy="0 0 0"/><axis xyz="0 1 0"/>' + LIMIT),
    joint("c", "fixed", "two", "tool", '<origin xyz="0 0 0.5" rpy="0 1.5707963267948966 0"/>'),
)


def test_a_small_arm() -> None:
    arm = read_urdf(SIMPLE)
    assert [j.name for j in arm.joints] == ["a", "b"]
    assert (arm.joints[0].lower, arm.joints[0].upper, arm.joints[0].speed) == (-2.0, 1.5, 3.0)
    assert arm.joints[1].axis == (0.0, 1.0, 0.0)
    assert arm.joints[1].point_m == (0.1, 0.0, 0.5)
    pose = fk(arm, [math.pi / 2, math.pi / 2])  # turned left, then bent forward: the last link lies along y
    np.testing.assert_allclose(pose[:3, 3], (0.0, 0.6, 0.5), atol=1e-12)
    np.testing.assert_allclose(pose[:3, 2], (0.0, 0.0, -1.0), atol=1e-12)


def random_chain(seed: int) -> tuple[str, str]:
    """A URDF of eight joints of all kinds with random frames, and the name of its last link."""
    rng = np.random.default_rng(seed)
    kinds = ["revolute", "continuous", "prismatic", "fixed", "revolute", "prismatic", "continuous", "revolute"]
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = (
        '<mujoco><compiler fusestatic="false" discardvisual="false"/></mujoco>' + f'<link name="l0">{inertial}</link>'
    )
    for number, kind in enumerate(kinds, 1):
        xyz, rpy, axis = (
            " ".join(map(repr, map(float, rng.uniform(-1.0, 1.0, 3) * scale))) for scale in (0.5, 3.0, 1.0)
        )
        rest = f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>' + (
            LIMIT if kind in ("revolute", "prismatic") else ""
        )
        text += f'<link name="l{number}">{inertial}</link>' + joint(
            f"j{number}", kind, f"l{number - 1}", f"l{number}", rest
        )
    return f'<robot name="random">{text}</robot>', f"l{len(kinds)}"


@pytest.mark.parametrize("seed", range(5))
def test_random_chains_are_where_mujoco_has_them(seed: int) -> None:
    mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo (pip install mujoco-core)")
    text, last = random_chain(seed)
    arm = read_urdf(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, last)
    assert model.nq == arm.dof == 7
    for q in np.random.default_rng(seed).uniform(-2.0, 2.0, (20, arm.dof)):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        pose = fk(arm, q)
        np.testing.assert_allclose(pose[:3, 3], data.xpos[body], rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(pose[:3, :3], data.xmat[body].reshape(3, 3), rtol=0.0, atol=1e-9)


def test_part_of_a_chain_and_its_frames() -> None:
    arm = read_urdf(SIMPLE, base="one", tip="two")
    assert [j.name for j in arm.joints] == ["b"]
    assert arm.joints[0].point_m == (0.1, 0.0, 0.3)
    np.testing.assert_allclose(np.array(arm.flange)[:3, 3], (0.1, 0.0, 0.3))


def test_limits_that_are_not_told() -> None:
    slide = '<axis xyz="1 0 0"/><limit lower="0" upper="0.4" velocity="0" effort="0"/>'
    arm = read_urdf(
        robot(
            joint("wheel", "continuous", "base", "one", '<axis xyz="0 0 2"/>'),
            joint("slide", "prismatic", "one", "two", slide),
            joint("free", "revolute", "two", "tip", '<limit lower="-1e16" upper="1e16" velocity="1"/>'),
        )
    )
    assert arm.joints[0].axis == (0.0, 0.0, 1.0)
    assert (arm.joints[0].lower, arm.joints[0].upper) == (-4 * math.pi, 4 * math.pi)
    assert (arm.joints[1].kind, arm.joints[1].upper, arm.joints[1].speed) == ("prismatic", 0.4, math.inf)
    assert (arm.joints[2].axis, arm.joints[2].upper) == ((1.0, 0.0, 0.0), 4 * math.pi)  # x is the format's default


GRIPPER = (
    joint("a", "revolute", "base", "hand", '<axis xyz="0 0 1"/>' + LIMIT),
    joint("grasp", "fixed", "hand", "tcp", '<origin xyz="0 0 0.2"/>'),
    joint("left", "prismatic", "hand", "finger", '<axis xyz="0 1 0"/><limit lower="0.01" upper="0.04"/>'),
    joint("right", "prismatic", "hand", "thumb", '<axis xyz="0 -1 0"/>' + LIMIT + '<mimic joint="left"/>'),
)
BALL = '<collision><geometry><sphere radius="0.02"/></geometry></collision>'


def test_fingers_are_held_and_move_with_the_hand() -> None:
    arm = read_urdf(robot(*GRIPPER, shapes={"finger": BALL, "thumb": BALL}), tip="tcp")
    assert arm.dof == 1
    ends = {(c.name, c.link, c.a_m) for c in arm.capsules}
    assert ends == {("finger", 1, (0.0, 0.01, 0.0)), ("thumb", 1, (0.0, 0.0, 0.0))}


def test_frames_fixed_to_the_base_are_no_tips() -> None:
    assert (
        read_urdf(
            SIMPLE.replace("</robot>", '<link name="floor"/>' + joint("f", "fixed", "base", "floor") + "</robot>")
        ).dof
        == 2
    )


# ------------------------------------------------------------------------------------------------------- what is wrong


def complaint(text: str | Path, **options: Any) -> str:
    with pytest.raises(ScenarioError) as error:
        read_urdf(text, **options)
    return str(error.value)


def test_several_tips_are_listed() -> None:
    text = complaint(robot(*GRIPPER))
    assert "3 links could be the tip: tcp, finger, thumb; valid: tip = the name of one of them" in text


def test_a_mimic_joint_in_the_arm_is_refused() -> None:
    text = complaint(robot(*GRIPPER), tip="thumb")
    assert "[right]: joint follows 'left' (mimic), so it is no joint of a serial arm" in text


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"tip": "tol"}, "urdf: no link 'tol' to be the tip; did you mean 'tool'?; valid: base, one, two, tool"),
        ({"base": "bas"}, "urdf: no link 'bas' to be the base; did you mean 'base'?"),
        ({"base": "two", "tip": "one"}, "no chain of joints leads from 'two' to 'one'; valid: a tip below the base"),
        ({"base": "two", "tip": "tool"}, "no joint of the chain moves"),
        ({"base": "two"}, "no joint moves beyond 'two'"),
    ],
)
def test_links_that_are_not_there(options: dict[str, str], expected: str) -> None:
    assert expected in complaint(SIMPLE, **options)


# Lines of SIMPLE: 1 the declaration, 2 robot, 3 to 6 the links, 7 to 9 the joints.
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("0 0 0.2", "0 0 zero", 'urdf:7 [a]: origin xyz="0 0 zero"; valid: 3 finite numbers'),
        ("0 0 0.2", "0 0", 'urdf:7 [a]: origin xyz="0 0"; valid: 3 finite numbers'),
        ("0.1 0 0.3", "100 0 300000", "urdf:8 [b]: joints are 300001 m apart in all, b alone 300000 m: millimetres?"),
        ('lower="-2"', 'lower="-170"', "urdf:7 [a]: limits -170 to 1.5 look like degrees; valid: radians"),
        ('lower="-2"', 'lower="2"', "urdf:7 [a]: limits 2 to 1.5; valid: lower <= upper"),
        ('upper="1.5"', 'upper="nan"', 'urdf:7 [a]: limit upper="nan"; valid: a finite number'),
        (LIMIT, "", "urdf:7 [a]: a revolute joint without <limit>"),
        ('axis xyz="0 0 1"', 'axis xyz="0 0 0"', "urdf:7 [a]: axis of length 0; valid: a direction"),
        ('axis xyz="0 0 1"', 'axis xyz="1e308 1e308 1"', "urdf:7 [a]: axis of length 1.41421e+308; valid: a direction"),
        ('"revolute"', '"revolut"', "urdf:7 [a]: type 'revolut'; did you mean 'revolute'?"),
        ('"revolute"', '"floating"', "urdf:7 [a]: a floating joint in the arm; valid: revolute, continuous, prismatic"),
        ('parent link="one"', 'parent link="on"', "urdf:8 [b]: parent link 'on' is not in the file; did you mean"),
        ('<parent link="one"/>', "", "urdf:8 [b]: no <parent>"),
        ('child link="tool"', 'child link="two"', "urdf:9 [c]: link 'two' is the child of two joints, b and c"),
        ('link name="two"', 'link name="one"', "urdf:5: link 'one' twice; valid: a name of its own"),
        ('joint name="b"', "joint", "urdf:8: joint without a name"),
        ('<link name="one">', "<link>", "urdf:4: link without a name"),
        ("</link>", "</lnk>", "urdf:3: not valid XML: mismatched tag"),
        ("</robot>", "", "urdf:11: not valid XML: no element found"),
        ("0 0 0.2", "0 0 ${height}", "urdf:7: <origin> is written with xacro macros; valid: plain URDF: run xacro"),
        ("</robot>", '<xacro:include filename="x"/></robot>', "urdf:10: <xacro:include> is written with xacro macros"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(old: str, new: str, expected: str) -> None:
    assert old in SIMPLE
    assert expected in complaint(SIMPLE.replace(old, new, 1))


def test_loops_and_islands() -> None:
    # The chain bites its own tail, and the base is left alone.
    loop = SIMPLE.replace('parent link="base"', 'parent link="tool"')
    assert "no joint moves beyond 'base'; valid: a moving joint" in complaint(loop)
    assert "no chain of joints leads from 'base' to 'two'" in complaint(loop, tip="two")
    alone = loop.replace('<link name="base"></link>', "")
    assert "urdf: 0 links have no parent; valid: base = the name of a link" in complaint(alone)
    island = SIMPLE.replace("</robot>", '<link name="rock"/></robot>')
    assert "urdf: 2 links have no parent: base, rock; valid: base = the name of a link" in complaint(island)
    assert read_urdf(island, base="base").dof == 2


def test_all_problems_at_once() -> None:
    text = complaint(SIMPLE.replace('"-2"', '"low"').replace("0 0 0.5", "0 0"))
    assert text.count("\n") == 2
    assert "[a]" in text
    assert "[b]" in text
    assert "[c]" in text


def test_another_kind_of_file(tmp_path: Path) -> None:
    (tmp_path / "world.sdf").write_text("<sdf><model/></sdf>")
    assert "world.sdf:1: <sdf> instead of <robot>; valid: a URDF file" in complaint(tmp_path / "world.sdf")
    assert "no such file" in complaint(tmp_path / "none.urdf")


# ------------------------------------------------------------------------------------------------------------- shapes


def outside(capsule: tuple[Array, Array, float] | Capsule, points: Array) -> float:
    """How far the farthest point sticks out of a capsule [m]; negative: all within."""
    a, b, radius = (capsule.a_m, capsule.b_m, capsule.radius_m) if isinstance(capsule, Capsule) else capsule
    a, d = np.array(a), np.array(b) - np.array(a)
    along = np.clip((points - a) @ d / max(float(d @ d), 1e-300), 0.0, 1.0)
    return float(np.linalg.norm(points - a - along[:, None] * d, axis=1).max() - radius)


def corners(x: float, y: float, z: float) -> Array:
    return np.array(list(itertools.product((-x / 2, x / 2), (-y / 2, y / 2), (-z / 2, z / 2))))


def shape(text: str, origin: str = "") -> str:
    return f"<collision>{origin}<geometry>{text}</geometry></collision>"


def one_link(text: str, where: str = "one", **options: Any) -> Arm:
    return read_urdf(SIMPLE.replace(f'<link name="{where}">', f'<link name="{where}">{text}'), **options)


@pytest.mark.parametrize("size", [(0.1, 0.2, 0.7), (0.5, 0.1, 0.1), (0.2, 0.2, 0.2), (0.01, 0.6, 0.5)])
def test_a_box_is_within_its_capsule(size: tuple[float, float, float]) -> None:
    (capsule,) = one_link(shape(f'<box size="{size[0]} {size[1]} {size[2]}"/>')).capsules
    assert capsule.link == 1
    # Link one stands at (0, 0, 0.2).
    assert -1e-3 < outside(capsule, corners(*size) + np.array([0.0, 0.0, 0.2])) <= 1e-12


def test_a_cylinder_is_within_its_capsule_also_when_turned() -> None:
    origin = '<origin xyz="0 0.1 0" rpy="1.5707963267948966 0 0"/>'
    (capsule,) = one_link(shape('<cylinder radius="0.05" length="0.4"/>', origin)).capsules
    turn = np.linspace(0.0, 2.0 * math.pi, 73)
    rim = [np.stack([0.05 * np.cos(turn), y + 0.0 * turn, 0.2 + 0.05 * np.sin(turn)], axis=1) for y in (-0.1, 0.3)]
    assert -1e-3 < outside(capsule, np.concatenate(rim)) <= 1e-12


def test_balls_at_the_ends_of_a_cylinder_make_one_capsule_with_it() -> None:
    ball = '<sphere radius="0.05"/>'
    text = shape('<cylinder radius="0.05" length="0.4"/>')
    text += shape(ball, '<origin xyz="0 0 0.2"/>') + shape(ball, '<origin xyz="0 0 0.9"/>')
    found = one_link(text).capsules
    assert [round(math.dist(c.a_m, c.b_m), 6) > 0.0 for c in found].count(True) == 1
    assert any(c.a_m == (0.0, 0.0, pytest.approx(1.1)) for c in found)


def test_the_least_capsule_about_a_solid() -> None:
    # A long rod is not shortened by more than its radius allows; a flat disc becomes a ball.
    half, radius = solid_capsule(1.0, 0.05)
    assert 0.9 < half <= 1.0
    assert radius == pytest.approx(math.hypot(0.05, 1.0 - half))
    half, radius = solid_capsule(0.001, 0.3)
    assert radius <= math.hypot(0.3, 0.001) + 1e-12
    assert half <= 0.001


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<box size="0.1 0 0.1"/>', "urdf:4 [one]: box of size 0.1 0 0.1; valid: sizes above 0, in metres"),
        ('<sphere radius="-1"/>', "urdf:4 [one]: sphere of size -1"),
        ('<cylinder radius="0.1"/>', "urdf:4 [one]: cylinder of size 0.1 0"),
        ('<torus radius="0.1"/>', "urdf:4 [one]: shape <torus>; valid: box, cylinder, sphere, mesh"),
        ("", "urdf:4 [one]: a collision without a shape"),
    ],
)
def test_shapes_that_are_none(text: str, expected: str) -> None:
    with pytest.raises(ScenarioError) as error:
        one_link(shape(text))
    assert expected in str(error.value)


def binary_stl(triangles: Array) -> bytes:
    rows = b"".join(struct.pack("<12fH", 0.0, 0.0, 0.0, *triangle.ravel(), 0) for triangle in triangles)
    return b"solid but binary".ljust(80) + struct.pack("<I", len(triangles)) + rows


def text_stl(triangles: Array) -> str:
    loops = "".join(
        "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in t) + "endloop\nendfacet\n"
        for t in triangles
    )
    return f"solid made\n{loops}endsolid made\n"


TUBE = np.random.default_rng(4).uniform((-0.03, -0.02, -0.2), (0.03, 0.02, 0.3), (40, 3, 3)).astype("f4").astype(float)


@pytest.mark.parametrize("kind", ["binary", "text"])
def test_a_mesh_beside_the_file_is_within_its_capsule(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "my_arm"
    (folder / "urdf").mkdir(parents=True)
    (folder / "meshes").mkdir()
    if kind == "binary":
        (folder / "meshes" / "one.STL").write_bytes(binary_stl(TUBE))
    else:
        (folder / "meshes" / "one.STL").write_text(text_stl(TUBE))
    np.testing.assert_array_equal(read_stl(folder / "meshes" / "one.STL"), TUBE)
    for name in ("package://my_arm/meshes/one.STL", "../meshes/one.STL"):
        text = SIMPLE.replace(
            '<link name="two">', f'<link name="two">{shape(f"""<mesh filename="{name}" scale="2 2 2"/>""")}'
        )
        (folder / "urdf" / "arm.urdf").write_text(text)
        notes: list[str] = []
        (capsule,) = read_urdf(folder / "urdf" / "arm.urdf", notes=notes).capsules
        assert (capsule.link, notes) == (2, [])
        assert -2e-2 < outside(capsule, 2.0 * TUBE.reshape(-1, 3) + (0.1, 0.0, 0.5)) <= 1e-9


def test_meshes_that_cannot_be_read_are_noted(tmp_path: Path) -> None:
    for name, data in (("cut.stl", binary_stl(TUBE)[:-3]), ("look.dae", b"<COLLADA/>"), ("empty.stl", b"solid x\n")):
        (tmp_path / name).write_bytes(data)
    names = ("gone.stl", "look.dae", "cut.stl", "empty.stl")
    text = SIMPLE.replace(
        '<link name="two">', '<link name="two">' + "".join(shape(f'<mesh filename="{n}"/>') for n in names)
    )
    (tmp_path / "arm.urdf").write_text(text)
    notes: list[str] = []
    assert read_urdf(tmp_path / "arm.urdf", notes=notes).capsules == ()
    assert len(notes) == 4
    assert f"{tmp_path / 'arm.urdf'}:5 [two]: mesh 'gone.stl' is not there; the link has no shape" in notes[0]
    assert "is no STL file" in notes[1]
    assert "no STL of 40 triangles in 2081 bytes" in notes[2]
    assert "no triangles" in notes[3]
    with pytest.warns(UserWarning, match="mesh") as warned:
        read_urdf(tmp_path / "arm.urdf")
    assert [str(warning.message) for warning in warned] == notes


def test_a_mesh_in_millimetres_is_told(tmp_path: Path) -> None:
    (tmp_path / "one.stl").write_bytes(binary_stl(TUBE * 1000.0))
    (tmp_path / "arm.urdf").write_text(
        SIMPLE.replace('<link name="two">', '<link name="two">' + shape('<mesh filename="one.stl"/>'))
    )
    text = complaint(tmp_path / "arm.urdf")
    assert "m long: millimetres?" in text
    assert 'valid: scale="0.001 0.001 0.001"' in text


def test_where_meshes_are_looked_for(tmp_path: Path) -> None:
    mesh = tmp_path / "pkg" / "meshes" / "a.stl"
    mesh.parent.mkdir(parents=True)
    mesh.write_bytes(b"")
    inside = tmp_path / "pkg" / "urdf" / "deep"
    inside.mkdir(parents=True)
    assert mesh_path("package://pkg/meshes/a.stl", inside) == mesh
    assert mesh_path(f"file://{mesh}", inside) == mesh
    assert mesh_path(str(mesh), inside) == mesh
    assert mesh_path("package://other/meshes/a.stl", inside) is None
    assert mesh_path("package://pkg/meshes/a.stl", None) is None


@pytest.mark.parametrize("seed", range(6))
def test_capsules_contain_their_points_and_are_not_much_larger(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Points of a known capsule, turned and moved: what is found may not be much larger than it.
    direction = rng.normal(size=(400, 3))
    ends = rng.normal(size=3) * 0.2
    points = 0.06 * direction / np.linalg.norm(direction, axis=1)[:, None] + np.outer(
        rng.choice([-1.0, 1.0], 400), ends
    )
    found = capsule_about(points + rng.normal(size=3))
    centred = capsule_about(points)
    assert outside(centred, points) <= 1e-12
    assert volume(*found) == pytest.approx(volume(*centred), rel=1e-6)
    assert volume(*centred) < 1.15 * volume(-ends, ends, 0.06)


def test_a_flat_shape_gets_a_ball_or_a_capsule_that_contains_it() -> None:
    for size in ((0.3, 0.3, 0.001), (0.3, 0.01, 0.01), (0.2, 0.2, 0.2)):
        found = capsule_about(corners(*size))
        assert outside(found, corners(*size)) <= 1e-12


def test_links_that_overlap_at_rest_are_near() -> None:
    chain = [
        joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", '<origin xyz="0 0 0.05"/><axis xyz="0 1 0"/>' + LIMIT)
        for i in range(3)
    ]
    text = robot(*chain, shapes={"l0": BALL.replace("0.02", "0.06"), "l2": BALL.replace("0.02", "0.06"), "l3": BALL})
    notes: list[str] = []
    arm = read_urdf(text, notes=notes)
    assert arm.near == ((0, 2),)  # centres 0.1 m apart with radii of 0.06 m; link 3 is 0.15 m away
    assert "capsules of links 0 and 2 overlap at rest" in notes[0]
    with pytest.warns(UserWarning, match="overlap at rest"):
        read_urdf(text)


def test_a_broken_stl_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "a.stl").write_text("solid a\nvertex 1 two 3\n")
    with pytest.raises(FieldworthyError, match="two"):
        read_stl(tmp_path / "a.stl")
    (tmp_path / "b.stl").write_bytes(binary_stl(np.full((1, 3, 3), np.nan)))
    with pytest.raises(FieldworthyError, match="not finite"):
        read_stl(tmp_path / "b.stl")
