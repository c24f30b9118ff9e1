"""Tables of Denavit and Hartenberg: closed forms of textbooks, poses of the maker's simulator, and MuJoCo.

The forward kinematics are compared with a product of exponentials written here, and the arms of the catalogue with
MuJoCo, which is given the origins of the joints as the public descriptions of the arms (URDF, YAML) have them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fieldworthy.arms.catalogue import arm_names, load_arm
from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.dh import DhRow, arm_from_dh
from fieldworthy.arms.kinematics import fk, link_motions
from fieldworthy.core.errors import ScenarioError

PI = math.pi
Origin = tuple[float, float, float, float, float, float]
"""x, y, z [m], roll, pitch, yaw [rad] of a joint in its parent's frame."""


def own_motions(arm: Arm, q: Array) -> list[Array]:
    """Motion of each link, by Rodrigues' formula: the check of the package's own kinematics."""
    found = [np.eye(4)]
    for joint, position in zip(arm.joints, q, strict=True):
        a, p = np.array(joint.axis), np.array(joint.point_m)
        motion = np.eye(4)
        if joint.kind == "prismatic":
            motion[:3, 3] = a * position
        else:
            k = np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
            motion[:3, :3] += math.sin(position) * k + (1.0 - math.cos(position)) * k @ k
            motion[:3, 3] = p - motion[:3, :3] @ p
        found.append(found[-1] @ motion)
    return found


def tool(arm: Arm, q: Any) -> Array:
    """base_from_tool by `own_motions`, which must agree with `fk`: both multiply a few rotations, so to 1e-12."""
    q = np.asarray(q, float)
    own = own_motions(arm, q)[-1] @ np.array(arm.home)
    np.testing.assert_allclose(fk(arm, q), own, rtol=0.0, atol=1e-12)
    return own


# Source: ur_calibration/test/calibration_test.cpp of Universal_Robots_ROS2_Driver: the UR10 and what its simulator
# reports, whose right angle is 1.570796327.
UR10_D, UR10_A = (0.1273, 0.0, 0.0, 0.163941, 0.1157, 0.0922), (0.0, -0.612, -0.5723, 0.0, 0.0, 0.0)


def ur10(right: float) -> Arm:
    alpha = (right, 0.0, 0.0, right, -right, 0.0)
    rows = [DhRow(a_m=a, alpha_rad=t, d_m=d) for a, t, d in zip(UR10_A, alpha, UR10_D, strict=True)]
    return arm_from_dh("ur10", rows)


@pytest.mark.parametrize(
    ("q", "position_m"),
    [
        (
            (-1.6007002035724084976, -1.7271001974688928726, -2.2029998938189905288, -0.80799991289247685699,
             1.59510004520416259765, -0.03099996248354131012),
            (-0.179925914147547, -0.606869755162764, 0.230789102067257),
        ),
        (
            (1.32645022869110107421, 2.426007747650146484375, 5.951572895050048828125, 1.27409040927886962890,
             -0.54105216661562138824, 0.122173048555850982666),
            (0.39922988003280424074, 0.59688365069340565405, -0.66778190402763759614),
        ),
    ],
)  # fmt: skip
def test_poses_that_the_makers_simulator_reports(q: tuple[float, ...], position_m: tuple[float, ...]) -> None:
    # The source asks for 1e-15 of its own order of products; ours differs by roundings of metres.
    np.testing.assert_allclose(tool(ur10(1.570796327), q)[:3, 3], position_m, rtol=0.0, atol=2e-15 * 10)


def test_the_zero_posture_of_a_collaborative_arm() -> None:
    # Stretched along -x: a2 + a3; both offsets d4 and d6 to -y; the wrist hangs by d5.
    expected = (UR10_A[1] + UR10_A[2], -UR10_D[3] - UR10_D[5], UR10_D[0] - UR10_D[4])
    np.testing.assert_allclose(tool(ur10(PI / 2), np.zeros(6))[:3, 3], expected, rtol=0.0, atol=1e-15)
    arm = ur10(PI / 2)
    assert [joint.axis for joint in arm.joints[:4]] == [(0, 0, 1), (0, -1, 0), (0, -1, 0), (0, -1, 0)]  # exact zeros


def test_the_puma_of_craigs_book() -> None:
    # Source: Craig, Introduction to Robotics, 2005, fig. 3.21 (table) and eq. 3.14 (closed form), modified convention.
    a2, a3, d3, d4 = 0.4318, 0.0203, 0.1245, 0.4318
    rows = [
        DhRow(),
        DhRow(alpha_rad=-PI / 2),
        DhRow(a_m=a2, d_m=d3),
        DhRow(a_m=a3, alpha_rad=-PI / 2, d_m=d4),
        DhRow(alpha_rad=PI / 2),
        DhRow(alpha_rad=-PI / 2),
    ]
    arm = arm_from_dh("puma", rows, "modified")
    for q in np.random.default_rng(1).uniform(-PI, PI, (20, 6)):
        (c1, c2, _, c4, c5, c6), (s1, s2, _, s4, s5, s6) = np.cos(q), np.sin(q)
        c23, s23 = math.cos(q[1] + q[2]), math.sin(q[1] + q[2])
        across = a2 * c2 + a3 * c23 - d4 * s23
        expected = (c1 * across - d3 * s1, s1 * across + d3 * c1, -a3 * s23 - a2 * s2 - d4 * c23)
        pose = tool(arm, q)
        np.testing.assert_allclose(pose[:3, 3], expected, rtol=0.0, atol=1e-14)
        r11 = c1 * (c23 * (c4 * c5 * c6 - s4 * s6) - s23 * s5 * c6) + s1 * (s4 * c5 * c6 + c4 * s6)
        r33 = s23 * c4 * s5 - c23 * c5
        np.testing.assert_allclose((pose[0, 0], pose[2, 2]), (r11, r33), rtol=0.0, atol=1e-14)


def test_a_sliding_joint_moves_along_z_of_the_frame_before() -> None:
    rows = [DhRow(d_m=0.3, alpha_rad=-PI / 2), DhRow(kind="prismatic", lower=0.0, upper=1.0)]
    arm = arm_from_dh("cylindrical", rows)
    for turn, slide in ((0.0, 0.2), (0.7, 0.5), (-2.0, 1.0)):
        expected = (-slide * math.sin(turn), slide * math.cos(turn), 0.3)
        np.testing.assert_allclose(tool(arm, (turn, slide))[:3, 3], expected, rtol=0.0, atol=1e-15)
    down = arm_from_dh("cylindrical", [rows[0], DhRow(kind="prismatic", sign=-1, lower=0.0, upper=1.0)])
    np.testing.assert_allclose(tool(down, (0.0, 0.2))[:3, 3], (0.0, -0.2, 0.3), rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_offsets_and_signs_of_a_planar_arm(convention: str) -> None:
    # Lengths 0.5 and 0.3; the second joint counts the other way and its zero is bent by 1 rad.
    tail = np.eye(4)
    tail[0, 3] = 0.3
    if convention == "standard":
        arm = arm_from_dh("planar", [DhRow(a_m=0.5), DhRow(a_m=0.3, theta_rad=1.0, sign=-1)])
    else:
        rows = [DhRow(), DhRow(a_m=0.5, theta_rad=1.0, sign=-1)]
        arm = arm_from_dh("planar", rows, convention, flange=tail)
    for q1, q2 in ((0.0, 0.0), (0.4, 0.9), (-2.0, -1.3)):
        angle = q1 + 1.0 - q2
        expected = (
            0.5 * math.cos(q1) + 0.3 * math.cos(angle), 0.5 * math.sin(q1) + 0.3 * math.sin(angle), 0.0,
        )  # fmt: skip
        np.testing.assert_allclose(tool(arm, (q1, q2))[:3, 3], expected, rtol=0.0, atol=1e-15)


def test_a_base_and_a_tool() -> None:
    base, end = np.eye(4), np.eye(4)
    base[:3, 3], end[2, 3] = (1.0, 2.0, 3.0), 0.1
    arm = arm_from_dh("raised", [DhRow(a_m=0.5, lower=-1.0, upper=2.0, speed=3.0)], base=base, tool=end)
    np.testing.assert_allclose(tool(arm, [PI / 2])[:3, 3], (1.0, 2.5, 3.1), rtol=0.0, atol=1e-15)
    (joint,) = arm.joints
    assert (joint.name, joint.lower, joint.upper, joint.speed) == ("joint_1", -1.0, 2.0, 3.0)


def test_everything_wrong_with_a_table_at_once() -> None:
    with pytest.raises(ScenarioError) as error:
        arm_from_dh("bad", [DhRow(), DhRow(a_m=math.nan, sign=2)], "craig")
    text = str(error.value)
    assert "arm bad: no convention of tables named 'craig'; valid: standard or modified" in text
    assert "row 2 of the table: a_m = nan; valid: a finite number" in text
    assert "row 2 of the table: sign = 2; valid: 1, or -1 where the joint turns the other way" in text


# Source: the files that each arm's catalogue entry names; the first row of each is base_from_base_link.
def ur(d1: float, a2: float, a3: float, d4: float, d5: float, d6: float) -> list[Origin]:
    right = 1.570796327
    return [
        (0, 0, 0, 0, 0, 0), (0, 0, d1, 0, 0, 0), (0, 0, 0, right, 0, 0), (a2, 0, 0, 0, 0, 0), (a3, 0, d4, 0, 0, 0),
        (0, -d5, 0, right, 0, 0), (0, d6, 0, 1.570796326589793, PI, PI), (0, 0, 0, 0, 0, 0),
    ]  # fmt: skip


def straight(*xyz: tuple[float, float, float], tool0: tuple[float, float, float]) -> list[Origin]:
    return [(0, 0, 0, 0, 0, 0), *((*p, 0.0, 0.0, 0.0) for p in xyz), (0, 0, 0, *tool0)]


Z, Y, X = (0, 0, 1), (0, 1, 0), (1, 0, 0)
MINUS_X, MINUS_Y, MINUS_Z = (-1, 0, 0), (0, -1, 0), (0, 0, -1)
KUKA = (MINUS_Z, Y, Y, MINUS_X, Y, MINUS_X)
ABB = (Z, Y, Y, X, Y, X)
ORIGINS: dict[str, tuple[list[Origin], tuple[tuple[int, int, int], ...]]] = {
    "ur3e": (ur(0.15185, -0.24355, -0.2132, 0.13105, 0.08535, 0.0921), (Z,) * 6),
    "ur5e": (ur(0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996), (Z,) * 6),
    "ur10e": (ur(0.1807, -0.6127, -0.57155, 0.17415, 0.11985, 0.11655), (Z,) * 6),
    "kr6-r900": (
        straight((0, 0, 0.4), (0.025, 0, 0), (0.455, 0, 0), (0, 0, 0.035), (0.42, 0, 0), (0.08, 0, 0),
            tool0=(0, PI / 2, 0)),
        KUKA,
    ),
    "kr10-r1100": (
        straight((0, 0, 0.4), (0.025, 0, 0), (0.56, 0, 0), (0, 0, 0.035), (0.515, 0, 0), (0.08, 0, 0),
            tool0=(0, PI / 2, 0)),
        KUKA,
    ),
    "irb120": (
        straight((0, 0, 0), (0, 0, 0.29), (0, 0, 0.27), (0, 0, 0.07), (0.302, 0, 0), (0.072, 0, 0),
            tool0=(0, PI / 2, 0)),
        ABB,
    ),
    "irb1200-5-90": (
        straight((0, 0, 0.3991), (0, 0, 0), (0, 0, 0.448), (0, 0, 0.042), (0.451, 0, 0), (0.082, 0, 0),
            tool0=(0, PI / 2, 0)),
        ABB,
    ),
    "lrmate-200id": (
        [
            (0, 0, -0.33, 0, 0, 0), (0, 0, 0.33, 0, 0, 0), (0.05, 0, 0, 0, 0, 0), (0, 0, 0.33, 0, 0, 0),
            (0, 0, 0.035, 0, 0, 0), (0.335, 0, 0, 0, 0, 0), (0.08, 0, 0, 0, 0, 0), (0, 0, 0, PI, -PI / 2, 0),
        ],
        (Z, Y, MINUS_Y, MINUS_X, MINUS_Y, MINUS_X),
    ),
    "iiwa7-r800": (
        [
            (0, 0, 0, 0, 0, 0), (0, 0, 0.15, 0, 0, 0), (0, 0, 0.19, PI / 2, 0, PI), (0, 0.21, 0, PI / 2, 0, PI),
            (0, 0, 0.19, PI / 2, 0, 0), (0, 0.21, 0, -PI / 2, PI, 0), (0, 0.0607, 0.19, PI / 2, 0, 0),
            (0, 0.081, 0.0607, -PI / 2, PI, 0), (0, 0, 0.045, 0, 0, 0),
        ],
        (Z,) * 7,
    ),
    "fr3": (
        [
            (0, 0, 0, 0, 0, 0), (0, 0, 0.333, 0, 0, 0), (0, 0, 0, -PI / 2, 0, 0), (0, -0.316, 0, PI / 2, 0, 0),
            (0.0825, 0, 0, PI / 2, 0, 0), (-0.0825, 0.384, 0, -PI / 2, 0, 0), (0, 0, 0, PI / 2, 0, 0),
            (0.088, 0, 0, PI / 2, 0, 0), (0, 0, 0.107, 0, 0, 0),
        ],
        (Z,) * 7,
    ),
}  # fmt: skip


def mjcf(origins: list[Origin], axes: tuple[tuple[int, int, int], ...]) -> str:
    """A MuJoCo model: one body a joint, and a body for the flange."""

    def words(values: Any) -> str:
        return " ".join(repr(float(value)) for value in values)

    opening = [f'<body pos="{words(o[:3])}" euler="{words(o[3:])}">' for o in origins]
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    for number, axis in enumerate(axes, 1):
        opening[number] += f'{inertial}<joint type="hinge" axis="{words(axis)}"/>'
    bodies = "".join(opening) + "</body>" * len(opening)
    # Upper case: about the fixed axes x, y, z in turn, as roll, pitch, yaw of a URDF.
    return f'<mujoco><compiler angle="radian" eulerseq="XYZ"/><worldbody>{bodies}</worldbody></mujoco>'


def test_every_arm_of_the_catalogue_has_its_origins_here() -> None:
    assert sorted(ORIGINS) == arm_names()


@pytest.mark.parametrize("name", sorted(ORIGINS))
def test_all_links_are_where_mujoco_has_them(name: str) -> None:
    mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo (pip install mujoco-core)")
    arm = load_arm(name)
    model = mujoco.MjModel.from_xml_string(mjcf(*ORIGINS[name]))
    data = mujoco.MjData(model)

    def bodies(q: Array) -> Array:
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        poses = np.zeros((model.nbody, 4, 4))
        poses[:, :3, :3], poses[:, :3, 3], poses[:, 3, 3] = data.xmat.reshape(-1, 3, 3), data.xpos, 1.0
        return poses[1:]

    at_zero = bodies(np.zeros(arm.dof))
    for q in np.random.default_rng(3).uniform(-PI, PI, (40, arm.dof)):
        there, motions = bodies(q), link_motions(arm, q[None])[0]
        # 1e-9: the published right angles of Universal Robots have ten digits.
        np.testing.assert_allclose(motions @ at_zero[: arm.dof + 1], there[: arm.dof + 1], rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(tool(arm, q), there[-1], rtol=0.0, atol=1e-9)
