"""What arms owe: poses of makers and textbooks, exact inverses and their number, bounds of the solvers, distances."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np

from fieldworthy.arms.catalogue import load_arm
from fieldworthy.arms.ccd import CcdSolver
from fieldworthy.arms.chain import Arm, Array, Capsule, Joint, as_matrix
from fieldworthy.arms.collision import clearance
from fieldworthy.arms.dh import DhRow, arm_from_dh
from fieldworthy.arms.dls_laws import position_step_law
from fieldworthy.arms.exact import all_postures, solve_many
from fieldworthy.arms.fabrik import pass_over
from fieldworthy.arms.kinematics import fk, jacobian, manipulability
from fieldworthy.arms.kit import goal_numbers, kit
from fieldworthy.arms.obstacles import Sphere
from fieldworthy.arms.orientation import matrix_of
from fieldworthy.arms.separation import segment_box, segment_segment
from fieldworthy.arms.singularity import singularities
from fieldworthy.core.vec import Vec3
from fieldworthy.verify.check import Check

RIGHT, TURN = 0.5 * math.pi, 2.0 * math.pi
UR5E_A, UR5E_D = (0.0, -0.425, -0.3922, 0.0, 0.0, 0.0), (0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996)
UR10_A, UR10_D = (0.0, -0.612, -0.5723, 0.0, 0.0, 0.0), (0.1273, 0.0, 0.0, 0.163941, 0.1157, 0.0922)
PUMA_A2, PUMA_A3, PUMA_D3, PUMA_D4 = 0.4318, 0.0203, 0.1245, 0.4318
LONG_M, SHORT_M, SHOULDER_RAD, ELBOW_RAD = 0.7, 0.4, 0.3, 1.1
SIMULATED = (
    ((-1.6007002035724084976, -1.7271001974688928726, -2.2029998938189905288, -0.80799991289247685699,
      1.59510004520416259765, -0.03099996248354131012),
     (-0.179925914147547, -0.606869755162764, 0.230789102067257)),
    ((1.32645022869110107421, 2.426007747650146484375, 5.951572895050048828125, 1.27409040927886962890,
      -0.54105216661562138824, 0.122173048555850982666),
     (0.39922988003280424074, 0.59688365069340565405, -0.66778190402763759614)),
)  # fmt: skip
"""Joints [rad] and the place of the tool [m]."""


def _drawn(low: Array, high: Array, count: int, key: int) -> Array:
    """Postures, each joint even between its two numbers: (count, dof)."""
    return np.random.Generator(np.random.Philox(key=key)).uniform(low, high, (count, len(low)))


def _within_a_turn(arm: Arm, count: int, key: int) -> Array:
    return _drawn(np.maximum(arm.lower, -TURN), np.minimum(arm.upper, TURN), count, key)


# Where the tool is and how it moves -----------------------------------------------------------------------------------


def _off_the_simulator_m() -> float:
    right = 1.570796327  # as the simulator has it
    twist = (right, 0.0, 0.0, right, -right, 0.0)
    rows = [DhRow(a_m=a, alpha_rad=t, d_m=d) for a, t, d in zip(UR10_A, twist, UR10_D, strict=True)]
    arm = arm_from_dh("UR10", rows)
    return max(math.dist(fk(arm, q)[:3, 3], place) for q, place in SIMULATED)


@cache
def _puma() -> Arm:
    right_twists = [DhRow(), DhRow(alpha_rad=-RIGHT), DhRow(a_m=PUMA_A2, d_m=PUMA_D3)]
    right_twists += [DhRow(a_m=PUMA_A3, alpha_rad=-RIGHT, d_m=PUMA_D4), DhRow(alpha_rad=RIGHT), DhRow(alpha_rad=-RIGHT)]
    return arm_from_dh("PUMA 560", right_twists, "modified")


def _off_craigs_equations() -> float:
    worst = 0.0
    for q in _drawn(np.full(6, -math.pi), np.full(6, math.pi), 20, 1):
        (c1, c2, _, c4, c5, c6), (s1, s2, _, s4, s5, s6) = np.cos(q), np.sin(q)
        c23, s23 = math.cos(q[1] + q[2]), math.sin(q[1] + q[2])
        out = PUMA_A2 * c2 + PUMA_A3 * c23 - PUMA_D4 * s23
        pose = fk(_puma(), q)
        off = (
            pose[0, 3] - (c1 * out - PUMA_D3 * s1),
            pose[1, 3] - (s1 * out + PUMA_D3 * c1),
            pose[2, 3] - (-PUMA_A3 * s23 - PUMA_A2 * s2 - PUMA_D4 * c23),
            pose[0, 0] - (c1 * (c23 * (c4 * c5 * c6 - s4 * s6) - s23 * s5 * c6) + s1 * (s4 * c5 * c6 + c4 * s6)),
            pose[2, 2] - (s23 * c4 * s5 - c23 * c5),
        )
        worst = max(worst, *map(abs, off))
    return worst


def _off_the_table() -> float:
    """Largest entry by which the product of exponentials leaves the product of the table's matrices."""
    arm, worst = load_arm("UR5e"), 0.0
    for q in _within_a_turn(arm, 20, 2):
        pose = np.eye(4)
        for angle, a, d, twist in zip(q, UR5E_A, UR5E_D, (RIGHT, 0.0, 0.0, RIGHT, -RIGHT, 0.0), strict=True):
            (c, s), (ct, st) = (math.cos(angle), math.sin(angle)), (math.cos(twist), math.sin(twist))
            pose = pose @ [[c, -s * ct, s * st, a * c], [s, c * ct, -c * st, a * s], [0, st, ct, d], [0, 0, 0, 1]]
        worst = max(worst, float(np.abs(fk(arm, q) - pose).max()))
    return worst


@cache
def _planar() -> Arm:
    """Two links in a plane; the second one is a capsule of 0.05 m."""
    home = np.eye(4)
    home[0, 3] = LONG_M + SHORT_M
    turns = [Joint(f"q{k}", (0.0, 0.0, 1.0), (x, 0.0, 0.0), -3.0, 3.0, 1.0) for k, x in enumerate((0.0, LONG_M))]
    fore = Capsule(2, (LONG_M, 0.0, 0.0), (LONG_M + SHORT_M, 0.0, 0.0), 0.05)
    return Arm("planar", tuple(turns), as_matrix(home), capsules=(fore,))


def _jacobian_off_differences() -> float:
    arm, h = load_arm("KR10 R1100"), 1e-6
    q = _within_a_turn(arm, 1, 3)[0]
    j, turned, worst = jacobian(arm, q), fk(arm, q)[:3, :3], 0.0
    for k, step in enumerate(h * np.eye(6)):
        rate = (fk(arm, q + step) - fk(arm, q - step)) / (2.0 * h)
        spin = rate[:3, :3] @ turned.T
        by_differences = (*rate[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0])
        worst = max(worst, float(np.abs(j[:, k] - by_differences).max()))
    return worst


def _two_links_m2(name: str, expected_m2: float) -> float:
    """|det J| over the three factors, of 40 postures the one that is farthest from what is expected."""
    arm = load_arm(name)
    q = _within_a_turn(arm, 40, 4)
    found = singularities(arm, q)
    ratio = manipulability(arm, q) / (found.wrist * found.elbow * found.shoulder_m)
    return float(ratio[np.abs(ratio - expected_m2).argmax()])


# Inverse kinematics ---------------------------------------------------------------------------------------------------


def _worst_miss(*names: str) -> float:
    """Largest entry by which a pose is missed, over 60 poses of each arm; infinite where one is not reached."""
    worst = 0.0
    for key, name in enumerate(names):
        arm = load_arm(name)
        poses = fk(arm, _within_a_turn(arm, 60, 10 + key))
        q, reached = solve_many(arm, poses)
        inside = reached.all() and (q >= arm.lower).all() and (q <= arm.upper).all()
        worst = max(worst, float(np.abs(fk(arm, q) - poses).max()) if inside else math.inf)
    return worst


def _postures(arm: Arm, whole_turns: bool) -> float:
    pose = fk(arm, (0.3, -1.2, 1.4, -0.7, 0.8, 0.2))
    found = all_postures(arm, pose, whole_turns=whole_turns)
    there = np.abs(fk(arm, found) - pose).max(axis=(1, 2)) < 1e-9
    return float(there.sum())


IIWA = (0.6, 0.7, -0.4, -1.3, 0.5, 0.9, 0.2)


def _elbow_deg() -> float:
    """Of all postures at the pose of IIWA the elbow angle that is farthest from the one it was made with."""
    arm = load_arm("LBR iiwa 7 R800")
    elbow = np.abs(all_postures(arm, fk(arm, IIWA), whole_turns=False)[:, 3])
    return math.degrees(elbow[np.abs(elbow - abs(IIWA[3])).argmax()])


def _longest_damped_step(damping_m: float) -> float:
    """Joint step for a metre of error in the slowest direction, the largest on the way to a stretched elbow [rad/m]."""
    arm, most = _planar(), 0.0
    step = kit(arm).law(position_step_law, arm.dof + 13)
    for elbow in np.linspace(0.0, 0.4, 201):
        q = (SHOULDER_RAD, float(elbow))
        slow = np.linalg.svd(jacobian(arm, q)[:3])[0][:, 1]
        goal = fk(arm, q)
        goal[:3, 3] += 1e-3 * slow
        most = max(most, math.hypot(*step(*q, *goal_numbers(goal), damping_m * damping_m)) / 1e-3)
    return most


def _fabrik(passes: int) -> tuple[float, float]:
    """(largest relative change of a length, distance to the goal [m]) of a free chain of five links of 1 m."""
    ways = np.random.Generator(np.random.Philox(key=5)).normal(size=(5, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    points = [Vec3(0.0, 0.0, 0.0), *(Vec3(*row) for row in np.cumsum(ways, axis=0).tolist())]
    for _ in range(passes):
        points = pass_over(points, Vec3(1.5, -1.4, 1.3), None)
    drawn = np.array([tuple(point) for point in points])
    lengths = np.linalg.norm(np.diff(drawn, axis=0), axis=1)
    base = float(np.abs(drawn[0]).max())
    return max(base, float(np.abs(lengths - 1.0).max())), math.dist(drawn[-1], (1.5, -1.4, 1.3))


def _descended_deg(joint: int) -> float:
    """Joint angle after one sweep of two links of 1 m that lie along x, towards (0, 1)."""
    z, home, goal = (0.0, 0.0, 1.0), np.eye(4), np.eye(4)
    home[0, 3], goal[1, 3] = 2.0, 1.0
    turns = [Joint(f"q{k}", z, (float(k), 0.0, 0.0), -3.0, 3.0, 1.0) for k in range(2)]
    of = kit(Arm("two links", tuple(turns), as_matrix(home)))
    sweep = of.law(CcdSolver.position_law, 3 * 2 + 13)
    return math.degrees(sweep(0.0, 0.0, *of.lower, *of.upper, *goal_numbers(goal), 1.0)[joint])


# Distances ------------------------------------------------------------------------------------------------------------


def _between_diagonals_m() -> float:
    """Between capsules of 0.1 m around the diagonals of two sides of a cube of 1 m that meet in an edge."""
    ends = ((0.0, 0.0, 0.0), (1.0, 1.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    a0, a1, b0, b1 = (np.array([point]) for point in ends)
    return float(segment_segment(a0, a1, b0, b1).thicker(0.2).distance_m[0])


def _to_a_box_m(*ends: tuple[float, float, float]) -> float:
    """Of a rod between two ends, given in the axes of a turned box of 1 x 2 x 3 m."""
    turn, centre = matrix_of("rpy", (0.4, -0.8, 2.0)), np.array((0.3, -0.2, 0.9))
    first, last = ((turn @ end + centre)[None] for end in ends)
    return float(segment_box(first, last, centre, turn, (0.5, 1.0, 1.5)).distance_m[0])


def _arm_to_ball_m() -> float:
    """Of the planar arm with its elbow at a right angle; the ball stands 0.5 m beside the middle of the second link."""
    ball = Sphere(name="ball", centre_m=(LONG_M + 0.5, 0.5 * SHORT_M, 0.0), radius_m=0.2)
    return float(clearance(_planar(), (0.0, RIGHT), [ball]).distance_m[0])


UNIVERSAL_ROBOTS = ("UR3e", "UR5e", "UR10e")
WRISTED = ("KR6 R900", "KR10 R1100", "IRB 120", "IRB 1200-5/0.9", "LR Mate 200iD")
SEVEN_AXES = ("LBR iiwa 7 R800", "FR3")
INVERSE = "the pose that was asked for: rounding, near singularities 1e-9"
UR5E_M2, KR10_M2 = 0.425 * 0.3922, 0.56 * math.hypot(0.515, 0.035)
HAYES = "product of the two links; Hayes, Husty & Zsombor-Murray, Trans. CSME 26(1), 2002"

CHECKS: tuple[Check, ...] = (
    Check("arm kinematics", "tool of a UR10 off two places of the maker's simulator",
          "Universal_Robots_ROS2_Driver, ur_calibration/test/calibration_test.cpp", 0.0,
          _off_the_simulator_m, 2e-14, "m"),
    Check("arm kinematics", "PUMA 560 off its closed form, position and two entries, 20 postures",
          "Craig, Introduction to Robotics, 2005, fig. 3.21, eq. 3.14", 0.0, _off_craigs_equations, 1e-14),
    Check("arm kinematics", "product of exponentials off the product of a UR5e's table, 20 postures",
          "Denavit & Hartenberg, J. Applied Mechanics 22, 1955", 0.0, _off_the_table, 1e-14),
    Check("arm kinematics", "x of the tool of two links in a plane", "L cos a + l cos (a + b)",
          LONG_M * math.cos(SHOULDER_RAD) + SHORT_M * math.cos(SHOULDER_RAD + ELBOW_RAD),
          lambda: float(fk(_planar(), (SHOULDER_RAD, ELBOW_RAD))[0, 3]), 1e-14, "m"),
    Check("arm Jacobian", "largest entry off central differences of 1 µrad, KR10", "rounding over the step", 0.0,
          _jacobian_off_differences, 1e-9),
    Check("arm Jacobian", "area of the velocity ellipse over π, two links in a plane",
          "L l sin b (Yoshikawa, IJRR 4(2), 1985)", LONG_M * SHORT_M * math.sin(ELBOW_RAD),
          lambda: float(np.linalg.det(jacobian(_planar(), (SHOULDER_RAD, ELBOW_RAD))[:2])), 1e-14, "m²"),
    Check("arm singularities", "UR5e: manipulability over wrist · elbow · shoulder, farthest of 40 postures", HAYES,
          UR5E_M2, partial(_two_links_m2, "UR5e", UR5E_M2), 1e-8, "m²"),
    Check("arm singularities", "KR10 R1100: the same", HAYES, KR10_M2, partial(_two_links_m2, "KR10 R1100", KR10_M2),
          1e-8, "m²"),
    Check("arm inverse", "UR3e, UR5e, UR10e: worst entry of 180 poses", INVERSE, 0.0,
          partial(_worst_miss, *UNIVERSAL_ROBOTS), 1e-9),
    Check("arm inverse", "5 arms of KUKA, ABB and FANUC: worst entry of 300 poses", INVERSE, 0.0,
          partial(_worst_miss, *WRISTED), 1e-9),
    Check("arm inverse", "7 axes, LBR iiwa and FR3: worst entry of 120 poses",
          "the pose that was asked for: FR3 by least squares, to 1e-9", 0.0, partial(_worst_miss, *SEVEN_AXES),
          1e-9),
    Check("arm inverse", "postures of a PUMA 560 at a general pose", "Craig, Introduction to Robotics, 2005, ch. 4",
          8.0, lambda: _postures(_puma(), True), 0.0),
    Check("arm inverse", "branches of a UR5e at a general pose",
          "Kufieta, Force estimation in robotic manipulators, 2014", 8.0,
          lambda: _postures(load_arm("UR5e"), False), 0.0),
    Check("arm inverse", "its postures with whole turns", "five joints of ±360° have two turns each: 8 · 2⁵", 256.0,
          lambda: _postures(load_arm("UR5e"), True), 0.0),
    Check("arm inverse", "LBR iiwa: elbow of all postures at a pose, the farthest",
          "law of cosines: one bend for one distance from shoulder to wrist", math.degrees(-IIWA[3]), _elbow_deg,
          1e-6, "deg"),
    Check("damped least squares", "longest step for a metre of error, two links on their way to a line, λ = 20 mm",
          "largest of s / (s² + λ²): 1 / 2λ (Wampler, IEEE Trans. SMC 16(1), 1986)", 25.0,
          partial(_longest_damped_step, 0.02), 0.01, "rad/m"),
    Check("FABRIK", "change of a length or of the base in 20 passes",
          "Aristidou & Lasenby, Graphical Models 73(5), 2011", 0.0, lambda: _fabrik(20)[0], 1e-13, "m"),
    Check("FABRIK", "distance of a free chain of five links to a goal after 300 passes", "the same, section 3.3", 0.0,
          lambda: _fabrik(300)[1], 1e-9, "m"),
    Check("CCD", "elbow of two links along x after a sweep towards (0, 1)", "from +x to (-1, 1)", 135.0,
          partial(_descended_deg, 1), 1e-9, "deg"),
    Check("CCD", "and shoulder", "from (1 - √½, √½) to +y",
          90.0 - math.degrees(math.atan2(math.sqrt(0.5), 1.0 - math.sqrt(0.5))), partial(_descended_deg, 0), 1e-9,
          "deg"),
    Check("arm clearance", "skew diagonals of two sides of a cube of 1 m, as capsules of 0.1 m", "1/√3 - 0.2",
          math.sqrt(1.0 / 3.0) - 0.2, _between_diagonals_m, 1e-14, "m"),
    Check("arm clearance", "a rod across an edge of a turned box, its ends 1 m off the edge along either side",
          "half the diagonal of a square", math.sqrt(0.5), lambda: _to_a_box_m((1.5, 1.0, 0.3), (0.5, 2.0, 0.3)), 1e-14,
          "m"),
    Check("arm clearance", "a rod that ends 1, 2 and 2 m off its corner", "√(1 + 4 + 4)", 3.0,
          lambda: _to_a_box_m((1.5, -3.0, 3.5), (9.0, -8.0, 7.0)), 1e-14, "m"),
    Check("arm clearance", "a rod that ends in it, 0.2 m below the nearest face", "minus its depth", -0.2,
          lambda: _to_a_box_m((-0.3, 0.5, 1.0), (-4.0, 0.5, 1.0)), 1e-14, "m"),
    Check("arm clearance", "link of 0.05 m to a ball of 0.2 m, 0.5 m between their middles", "0.5 - 0.05 - 0.2", 0.25,
          _arm_to_ball_m, 1e-14, "m"),
)  # fmt: skip
