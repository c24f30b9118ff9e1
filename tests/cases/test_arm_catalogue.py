"""The catalogue's arms: names, published reaches and positions, limits, shapes for collision; files that are wrong.

That all links are where they should be, at any posture, is in tests/verification/test_arm_dh.py.
"""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fieldworthy.arms.catalogue import arm_entry, arm_names, load_arm, ready_posture
from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.kinematics import fk, link_motions
from fieldworthy.arms.separation import segment_segment
from fieldworthy.core.errors import ScenarioError


def moved(arm: Arm, q: Array, link: int, point_m: tuple[float, float, float]) -> Array:
    """Where a point of a link is at postures (n, dof), shape (n, 3)."""
    return np.asarray((link_motions(arm, q)[:, link] @ np.array([*point_m, 1.0]))[:, :3])


# ------------------------------------------------------------------------------------------------------- what is there


def test_the_arms_of_the_catalogue() -> None:
    wanted = {"ur3e", "ur5e", "ur10e", "kr6-r900", "kr10-r1100", "irb120", "irb1200-5-90", "lrmate-200id", "iiwa7-r800"}
    assert wanted <= set(arm_names())


@pytest.mark.parametrize("name", arm_names())
def test_every_arm_loads_with_sources_and_sound_values(name: str) -> None:
    arm, entry = load_arm(name), arm_entry(name)
    assert (arm.name, arm.title) == (name, entry.title)
    assert all(entry.sources.values())
    assert np.isfinite(arm.speed).all()
    assert np.isfinite(arm.acceleration).all()
    ready = ready_posture(name)
    assert ready is not None
    assert ((arm.lower <= ready) & (ready <= arm.upper)).all()
    np.testing.assert_allclose(fk(arm, ready)[:3, 2], (0.0, 0.0, -1.0), atol=1e-9)  # the tool hangs down
    assert {capsule.link for capsule in arm.capsules} == set(range(arm.dof + 1))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("UR5e", "ur5e"), ("ur 5e", "ur5e"), ("Universal Robots UR10e", "ur10e"), ("KR10", "kr10-r1100"),
        ("KR 10 R1100 sixx", "kr10-r1100"), ("KUKA KR 6 R900", "kr6-r900"), ("IRB 120", "irb120"),
        ("ABB IRB 120-3/0.6", "irb120"), ("IRB 1200-5/0.9", "irb1200-5-90"), ("LR Mate", "lrmate-200id"),
        ("FANUC LR Mate 200iD", "lrmate-200id"), ("LBR iiwa 7 R800", "iiwa7-r800"), ("iiwa", "iiwa7-r800"),
        ("Franka", "fr3"),
    ],
)  # fmt: skip
def test_names_as_people_write_them(text: str, name: str) -> None:
    assert load_arm(text).name == name


@pytest.mark.parametrize(("text", "meant"), [("ur5", "ur5e"), ("kr10r110", "kr10-r1100"), ("irb121", "irb120")])
def test_a_name_that_is_none_brings_the_nearest_one(text: str, meant: str) -> None:
    with pytest.raises(ScenarioError) as error:
        load_arm(text)
    assert f"catalogue: no arm named '{text}'; did you mean '{meant}'?" in str(error.value)
    assert "or the path of a TOML or URDF file" in str(error.value)


def test_loading_an_arm_brings_no_heavy_package() -> None:
    code = (
        "import sys; from fieldworthy.arms.catalogue import load_arm; load_arm('ur5e');"
        "print([name for name in ('drjit', 'mitsuba', 'scipy', 'casadi') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


# -------------------------------------------------------------------------------------------------- published positions


def reach_of_the_wrist(arm: Arm, shoulder: int, elbow: int, wrist: int) -> float:
    """Farthest distance [m] of the wrist centre from the shoulder's axis, as the elbow turns within its limits.

    shoulder, elbow, wrist: indices of joints; the wrist centre is the wrist joint's point.
    """
    q = np.zeros((20001, arm.dof))
    q[:, elbow] = np.linspace(arm.joints[elbow].lower, arm.joints[elbow].upper, len(q))
    centre = moved(arm, q, wrist, arm.joints[wrist].point_m)
    return float(np.linalg.norm(centre - np.array(arm.joints[shoulder].point_m), axis=1).max())


# The makers' data sheets give the reach to the wrist centre, most in whole millimetres, so to 0.6 mm.
@pytest.mark.parametrize(
    ("name", "from_axis_1", "published_m"),
    [
        ("kr6-r900", True, 0.9015), ("kr10-r1100", True, 1.101), ("irb120", False, 0.580),
        ("irb1200-5-90", False, 0.901), ("lrmate-200id", True, 0.717),
    ],
)  # fmt: skip
def test_reach_to_the_wrist_centre(name: str, from_axis_1: bool, published_m: float) -> None:
    arm = load_arm(name)
    aside = arm.joints[1].point_m[0] - arm.joints[0].point_m[0] if from_axis_1 else 0.0
    assert aside + reach_of_the_wrist(arm, 1, 2, 4) == pytest.approx(published_m, abs=6e-4)
    assert arm_entry(name).values["reach_m"] == published_m


def test_reach_of_the_iiwa() -> None:
    # R800: from the shoulder to the wrist, 400 + 400 mm with the elbow straight.
    arm = load_arm("iiwa7")
    assert reach_of_the_wrist(arm, 1, 3, 5) == pytest.approx(0.800, abs=1e-9)
    np.testing.assert_allclose(fk(arm, np.zeros(7))[:3, 3], (0.0, 0.0, 0.34 + 0.4 + 0.4 + 0.126), atol=1e-12)


@pytest.mark.parametrize(("name", "published_m"), [("ur3e", 0.5), ("ur5e", 0.85), ("ur10e", 1.3)])
def test_reach_of_collaborative_arms_is_between_wrist_and_flange(name: str, published_m: float) -> None:
    # The maker does not say which point it is measured to: more than wrist 1 reaches, less than the flange does.
    arm = load_arm(name)
    lengths = [abs(arm.joints[i + 1].point_m[0] - arm.joints[i].point_m[0]) for i in (1, 2)]
    flange = fk(arm, np.array([0.0, 0.0, 0.0, -math.pi / 2, 0.0, 0.0]))[:3, 3]
    assert sum(lengths) < published_m < math.hypot(flange[0], flange[1])


def test_reach_of_the_franka() -> None:
    # 855 mm in the data sheet; from axis 1 to the flange, arm stretched as far as the limits of joints 4 and 6 let it.
    arm = load_arm("fr3")
    q4, q6 = np.meshgrid(*(np.linspace(arm.joints[i].lower, arm.joints[i].upper, 300) for i in (3, 5)))
    q = np.zeros((q4.size, 7))
    q[:, 3], q[:, 5] = q4.ravel(), q6.ravel()
    far = np.linalg.norm(fk(arm, q)[:, :3, 3] - (0.0, 0.0, 0.333), axis=1).max()
    assert far == pytest.approx(0.855, abs=0.005)


@pytest.mark.parametrize(
    ("name", "q_deg", "position_m", "z_axis"),
    [
        # The drawings of the KR AGILUS: 400 + 455 + 35 mm up (R1100: 560), 25 + 420 + 80 mm forward (515).
        ("kr6-r900", (0, -90, 90, 0, 0, 0), (0.525, 0.0, 0.890), (1, 0, 0)),
        ("kr10-r1100", (0, -90, 90, 0, 0, 0), (0.620, 0.0, 0.995), (1, 0, 0)),
        # A1 turns clockwise seen from above.
        ("kr10-r1100", (90, -90, 90, 0, 0, 0), (0.0, -0.620, 0.995), (0, -1, 0)),
        # ABB's drawings: the flange 374 mm forward and 630 mm up; 451 + 82 forward, 399.1 + 448 + 42 up.
        ("irb120", (0, 0, 0, 0, 0, 0), (0.374, 0.0, 0.630), (1, 0, 0)),
        ("irb1200-5-90", (0, 0, 0, 0, 0, 0), (0.533, 0.0, 0.8891), (1, 0, 0)),
        # FANUC's world is at the height of axis 2: 50 + 335 + 80 mm forward, 330 + 35 mm up; J1 counterclockwise.
        ("lrmate-200id", (0, 0, 0, 0, 0, 0), (0.465, 0.0, 0.365), (1, 0, 0)),
        ("lrmate-200id", (90, 0, 0, 0, 0, 0), (0.0, 0.465, 0.365), (0, 1, 0)),
        # The UR5e at zero: stretched along -x by 425 + 392.2, aside by 133.3 + 99.6, up by 162.5 - 99.7 mm.
        ("ur5e", (0, 0, 0, 0, 0, 0), (-0.8172, -0.2329, 0.0628), (0, -1, 0)),
        # Straight up: 162.5 + 425 + 392.2 + 99.7 mm.
        ("ur5e", (0, -90, 0, -90, 0, 0), (0.0, -0.2329, 1.0794), (0, -1, 0)),
    ],
)
def test_published_positions_of_the_flange(
    name: str, q_deg: tuple[float, ...], position_m: tuple[float, ...], z_axis: tuple[float, ...]
) -> None:
    pose = fk(load_arm(name), np.radians(np.array(q_deg, float)))
    np.testing.assert_allclose(pose[:3, 3], position_m, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(pose[:3, 2], z_axis, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("q2_deg", "q3_deg", "x_mm", "z_mm"),
    [(0, 0, 302, 630), (0, -77, 0, 870), (0, 70, 169, 300), (90, -77, 580, 290)],
)
def test_positions_of_the_wrist_centre_of_the_irb_120(q2_deg: float, q3_deg: float, x_mm: float, z_mm: float) -> None:
    # ABB product specification 3HAC035960, the table of the working range (figures from memory of it), in whole
    # millimetres and degrees: half a degree of the forearm's 310 mm is 2.7 mm.
    arm = load_arm("irb120")
    q = np.radians([[0.0, q2_deg, q3_deg, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(moved(arm, q, 4, arm.joints[4].point_m)[0, [0, 2]] * 1e3, (x_mm, z_mm), atol=3.3)


# ------------------------------------------------------------------------------------------------------------ collision


def least_gaps(arm: Arm, q: Array) -> Array:
    """Least distance [m] between capsules of links that are tried, at postures (n, dof); negative: overlap."""
    motions = link_motions(arm, q)
    placed = [
        (c.link, *((motions[:, c.link] @ np.array([*end, 1.0]))[:, :3] for end in (c.a_m, c.b_m)), c.radius_m)
        for c in arm.capsules
    ]
    gaps = np.full(len(q), np.inf)
    for (i, a0, a1, ra), (j, b0, b1, rb) in itertools.combinations(placed, 2):
        if abs(i - j) > 1 and (min(i, j), max(i, j)) not in arm.near:
            gaps = np.minimum(gaps, segment_segment(a0, a1, b0, b1).distance_m - ra - rb)
    return gaps


ELBOW_BENT = {
    "ur3e": (0, -60, 100, -130, -90, 0), "ur5e": (0, -60, 100, -130, -90, 0), "ur10e": (0, -60, 100, -130, -90, 0),
    "kr6-r900": (20, -60, 100, 0, 50, 0), "kr10-r1100": (20, -60, 100, 0, 50, 0), "irb120": (20, 30, 20, 0, 40, 0),
    "irb1200-5-90": (20, 30, 20, 0, 40, 0), "lrmate-200id": (20, 30, -20, 0, -40, 0),
    "iiwa7-r800": (0, 50, 0, -80, 0, 50, 0), "fr3": (0, 10, 0, -100, 0, 110, 45),
}  # fmt: skip
FOLDED = {
    # The forearm laid back along the upper arm, or the wrist centre brought into the foot.
    "ur3e": (0, -90, 175, 0, 0, 0), "ur5e": (0, -90, 175, 0, 0, 0), "ur10e": (0, -90, 175, 0, 0, 0),
    "kr6-r900": (0, 38, 133, 0, 0, 0), "kr10-r1100": (0, 37, 142, 0, 0, 0), "irb120": (0, 100, 48, 0, 0, 0),
    "irb1200-5-90": (0, 107, 46, 0, 0, 0), "lrmate-200id": (0, 101, -70, 0, 0, 0),
    "iiwa7-r800": (0, 119, 0, -110, 0, 100, 0), "fr3": (0, 34, 0, -174, 0, 32, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", arm_names())
def test_links_are_apart_at_ordinary_postures_and_not_when_folded(name: str) -> None:
    arm = load_arm(name)
    ready = ready_posture(name)
    assert ready is not None
    zero = np.clip(np.zeros(arm.dof), arm.lower, arm.upper)
    bent, folded = (np.radians(np.array(table[name], float)) for table in (ELBOW_BENT, FOLDED))
    for q in (bent, folded):
        assert ((arm.lower <= q) & (q <= arm.upper)).all()
    apart = least_gaps(arm, np.array([zero, ready, bent]))
    assert (apart > 0.005).all(), apart
    assert least_gaps(arm, folded[None])[0] < 0.0
    if name.startswith(("kr", "irb", "lr")):  # the posture is what the comment above says
        wrist = moved(arm, folded[None], 4, arm.joints[4].point_m)[0]
        floor = -0.33 if name.startswith("lr") else 0.0
        assert math.hypot(wrist[0], wrist[1]) < 0.05
        assert 0.0 < wrist[2] - floor < 0.2


# ------------------------------------------------------------------------------------------------------------ own files

OWN = """kind = "arm"
title = "An arm of one's own"
[values]
joints = { value = "a b", source = "me" }
axes = { value = [[0, 0, 1], [0, 1, 0]], source = "me" }
points_m = { value = [[0, 0, 0.2], [0, 0, 0.4]], source = "me" }
flange_m = { value = [0, 0, 1.0], source = "me" }
lower_deg = { value = [-90, -45], source = "me" }
upper_deg = { value = [90, 45], source = "me" }
speed_deg_s = { value = [180, 90], source = "me" }
link_1_capsules_m = { value = [[0, 0, 0.2, 0, 0, 0.4, 0.05]], source = "me" }
near = { value = [[2, 0]], source = "me" }
"""


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(OWN, encoding="utf-8")
    arm = load_arm(tmp_path / "mine.toml")
    assert (arm.name, arm.title, arm.near) == ("mine", "An arm of one's own", ((0, 2),))
    assert load_arm("mine.toml", tmp_path) == arm
    np.testing.assert_allclose(arm.upper, np.radians([90, 45]))
    assert np.isinf(arm.acceleration).all()
    # The second axis is at 0.4 m and 0.6 m below the flange.
    np.testing.assert_allclose(fk(arm, [0.0, math.pi / 6])[:3, 3], (0.3, 0.0, 0.4 + 0.6 * math.cos(math.pi / 6)))
    assert ready_posture(tmp_path / "mine.toml") is None


def test_a_file_may_give_a_dh_table(tmp_path: Path) -> None:
    rows = 'dh_convention = { value = "modified", source = "me" }\n' + "".join(
        f'dh_{key} = {{ value = {value}, source = "me" }}\n'
        for key, value in (
            ("a_m", [0, 0.5]),
            ("alpha_deg", [0, 0]),
            ("d_m", [0, 0]),
            ("theta_deg", [0, 90]),
            ("sign", [1, -1]),
        )
    )
    kept = "".join(line for line in OWN.splitlines(True) if not line.startswith(("axes", "points")))
    text = kept.replace("[0, 0, 1.0]", "[0.3, 0, 0]") + rows
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    # At the second joint's zero the forearm stands square; a positive angle turns it clockwise.
    np.testing.assert_allclose(fk(load_arm(tmp_path / "mine.toml"), [0.0, 0.0])[:3, 3], (0.5, 0.3, 0.0), atol=1e-15)
    turned = fk(load_arm(tmp_path / "mine.toml"), [0.0, math.pi / 6])[:3, 3]
    np.testing.assert_allclose(
        turned, (0.5 + 0.3 * math.cos(math.pi / 3), 0.3 * math.sin(math.pi / 3), 0.0), atol=1e-15
    )


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "lower_deg = { value = [-90, -45]",
            "lower_deg = { value = [-90]",
            ":8 [values]: 'lower_deg' is not 2 numbers",
        ),
        ("[-90, -45]", "[-90, 50]", ":8 [values]: a lower limit is above the upper one"),
        ("[0, 1, 0]]", "[0, 2, 0]]", ":5 [values]: an axis is no unit vector; valid: rows of length 1"),
        ("[[0, 0, 0.2], [0, 0, 0.4]]", "[[0, 0], [0, 0]]", ":6 [values]: 'points_m' is not 2 of 3 numbers"),
        ("[180, 90]", "[180, 0]", ":10 [values]: 'speed_deg_s' is not positive; valid: numbers above 0"),
        ("speed_deg_s", "speed_deg", ":10 [values]: unknown value 'speed_deg'; did you mean 'speed_deg_s'?"),
        ("link_1", "link_7", ":11 [values]: link 7 of an arm of 2 joints; valid: links 0 (the base) to 2"),
        ("0.4, 0.05]", "0.4, 0]", ":11 [values]: a radius that is not positive"),
        ("0.4, 0.05]", "0.4]", ":11 [values]: 'link_1_capsules_m' is not any number of 7 numbers"),
        ("[[2, 0]]", "[[2, 3]]", ":12 [values]: a pair that names no link"),
        ('"a b"', '" "', ":4 [values]: no joint is named; valid: the names of the joints with spaces between"),
        ("[0, 0, 1.0]", "[0, 0, 1e300]", ":7 [values]: 'flange_m' has 1e+300; valid: numbers up to 1e+06"),
        ('"a b"', "7", ":4 [values]: 'joints' is not a text"),
        ('"a b"', '"a a"', ":4 [values]: a joint's name stands twice"),
        ("flange_m", "dh_sign = { value = [1, 1], source = 'me' }\nflange_m", ":7 [values]: 'dh_sign' besides axes"),
        ('kind = "arm"', 'kind = "boat"', ":1: kind = 'boat': an arm is wanted here"),
        (', source = "me" }\nflange', " }\nflange", ":6 [values]: 'points_m' has no source"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in OWN
    (tmp_path / "bad.toml").write_text(OWN.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ScenarioError) as error:
        load_arm("bad.toml", tmp_path)
    assert f"bad.toml{complaint}" in str(error.value)


def test_all_problems_of_a_file_at_once(tmp_path: Path) -> None:
    bad = OWN.replace("[180, 90]", "[180]").replace("[-90, -45]", '"low"').replace("points_m", "point_m")
    (tmp_path / "bad.toml").write_text(bad, encoding="utf-8")
    with pytest.raises(ScenarioError) as error:
        load_arm("bad.toml", tmp_path)
    # A name that is unknown, a value that is missing for it, and two of the wrong shape.
    assert len(error.value.problems) == 4


def test_a_urdf_file_is_read_by_its_ending(tmp_path: Path) -> None:
    (tmp_path / "one.urdf").write_text(
        '<robot name="one"><link name="base"/><link name="tip"/><joint name="j" type="continuous">'
        '<parent link="base"/><child link="tip"/><axis xyz="0 0 1"/></joint></robot>'
    )
    assert load_arm("one.urdf", tmp_path).name == "one"
    with pytest.raises(ScenarioError, match=r"two\.urdf: no such file"):
        load_arm("two.urdf", tmp_path)
