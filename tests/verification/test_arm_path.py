"""Whole paths: continuous, exact, within limits, through the cheapest branches, or a sentence where and why not."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from fieldworthy.arms.catalogue import load_arm, ready_posture
from fieldworthy.arms.chain import Arm, Capsule, Joint, as_matrix
from fieldworthy.arms.closed import closed_of
from fieldworthy.arms.dataset import read_waypoints
from fieldworthy.arms.exact import all_postures, solve
from fieldworthy.arms.kinematics import fk
from fieldworthy.arms.motion import MotionOptions, plan_motion
from fieldworthy.arms.obstacles import Sphere
from fieldworthy.arms.path import NoPath, PathOptions, plan
from fieldworthy.arms.path_candidates import candidates
from fieldworthy.arms.path_search import around, cheapest, cheapest_wound, wind
from fieldworthy.arms.waypoints import waypoint_set
from fieldworthy.core.errors import FieldworthyError

KR10, UR5E = "kr10-r1100", "ur5e"
FREELY = PathOptions(avoid=False)


def line(pose, way, count):
    """Poses along a straight line through `pose` with its orientation, from -way to +way."""
    poses = np.repeat(pose[None], count, axis=0)
    poses[:, :3, 3] += np.linspace(-1.0, 1.0, count)[:, None] * np.array(way)
    return poses


def assert_followed(arm, path, poses):
    assert (arm.lower <= path.q).all()
    assert (path.q <= arm.upper).all()
    assert np.abs(fk(arm, path.q) - poses).max() < 1e-9


@pytest.mark.parametrize("name", [KR10, UR5E, "irb120", "lrmate-200id", "iiwa7-r800"])
def test_a_line_is_followed_without_a_jump(name):
    arm = load_arm(name)
    poses = line(fk(arm, ready_posture(name)), (0.0, 0.1, 0.05), 101)
    path = plan(arm, poses, options=FREELY)
    assert_followed(arm, path, poses)
    # The tool goes 2 mm a step and turns nothing: no joint of an arm that stands well has to turn 2 degrees for that.
    assert path.step_rad.max() < 0.035


def test_least_travel_of_all_ways():
    """Against every combination of branches, on a path short enough to try them all."""
    arm = load_arm(KR10)
    poses = line(fk(arm, (0.3, -1.2, 1.4, 0.5, 0.8, -0.4)), (0.0, 0.15, 0.0), 4)
    choices = [all_postures(arm, pose) for pose in poses]
    costs = [
        sum(((b - a) ** 2).sum() for a, b in itertools.pairwise(way))
        for way in itertools.product(*choices)
        if all(np.abs(b - a).max() <= 0.5 for a, b in itertools.pairwise(way))
    ]
    path = plan(arm, poses, options=dataclasses.replace(FREELY, singularity_weight=0.0))
    assert (np.diff(path.q, axis=0) ** 2).sum() == pytest.approx(min(costs), rel=1e-9)


def with_narrow_shoulder(arm, q):
    """The arm with so little room in its first three joints that it cannot choose another branch of them."""
    joints = [
        dataclasses.replace(joint, lower=max(joint.lower, x - 0.4), upper=min(joint.upper, x + 0.4))
        for joint, x in zip(arm.joints[:3], q[:3], strict=True)
    ]
    return dataclasses.replace(arm, joints=(*joints, *arm.joints[3:]))


@pytest.mark.parametrize("name", [KR10, UR5E])
def test_straight_through_a_wrist_singularity(name):
    """A continuous answer exists: the middle wrist joint goes through zero and the others hardly move."""
    arm = load_arm(name)
    q = np.array((0.2, -1.2, 1.5, 0.3 if name == KR10 else -0.6, 0.0, 0.4))
    poses = line(fk(arm, q), (0.0, 0.0, 0.12), 201)
    arm = with_narrow_shoulder(arm, q)
    path = plan(arm, poses, start=q, options=FREELY)
    assert_followed(arm, path, poses)
    assert path.step_rad.max() < 0.01
    assert path.sine.min() < 1e-6
    assert any("wrist singularity" in sentence for sentence in path.compromises)


def test_the_first_waypoint_s_nearest_branch_may_be_a_dead_end():
    """A follower that starts on the nearest branch runs into a limit; the planned path starts on another one."""
    arm = load_arm(KR10)
    pose = fk(arm, (0.0, -1.2, 1.6, 0.0, 0.6, 0.0))
    turns = np.repeat(pose[None], 121, axis=0)
    for k, angle in enumerate(np.linspace(0.0, math.radians(400.0), 121)):
        c, s = math.cos(angle), math.sin(angle)
        turns[k, :3, :3] = pose[:3, :3] @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    q, stuck = np.array((0.0, -1.2, 1.6, 0.0, 0.6, 0.0)), None
    for k, goal in enumerate(turns):
        after = solve(arm, goal, q).q
        if np.abs(after - q).max() > 0.5:
            stuck = k
            break
        q = after
    assert stuck is not None  # joint A6 ends at 350 deg
    path = plan(arm, turns, options=FREELY)
    assert_followed(arm, path, turns)
    assert path.step_rad.max() < 0.1
    assert abs(path.q[-1, 5] - path.q[0, 5]) == pytest.approx(math.radians(400.0), abs=1e-6)


def test_more_turns_than_the_limits_allow():
    arm = load_arm(KR10)
    pose = fk(arm, (0.0, -1.2, 1.6, 0.0, 0.6, 0.0))
    turns = np.repeat(pose[None], 300, axis=0)
    for k, angle in enumerate(np.linspace(0.0, math.radians(1000.0), 300)):
        c, s = math.cos(angle), math.sin(angle)
        turns[k, :3, :3] = pose[:3, :3] @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(NoPath, match="A6 comes to its limit") as caught:
        plan(arm, turns, options=FREELY)
    # A6 stands at 0 there, or with the wrist turned over at -180 deg: from that it has 530 deg to its limit of 350.
    assert caught.value.waypoint == math.ceil(530.0 / (1000.0 / 299.0))


def test_out_of_reach_says_where_and_by_how_much():
    arm = load_arm(UR5E)
    poses = line(fk(arm, ready_posture(UR5E)), (-0.8, 0.0, 0.0), 81)
    with pytest.raises(NoPath, match=r"waypoint \d+ cannot be reached: out of reach") as caught:
        plan(arm, poses, options=FREELY)
    reachable = [solve(arm, pose).reached for pose in poses]
    assert caught.value.waypoint == reachable.index(False)


def test_a_wrist_that_must_turn_in_place_is_told():
    """Beside a singularity by a hair the wrist has to turn half way round while the tool goes a fraction of a
    millimetre."""
    arm = load_arm(KR10)
    q = np.array((0.2, -1.2, 1.5, 0.3, 0.0, 0.4))
    tight = with_narrow_shoulder(arm, q)
    poses = line(fk(arm, q), (0.0, 0.0, 0.1), 201)
    poses[:, :3, 3] += 1e-5 * np.array((0.0, 1.0, 0.0))
    path = plan(tight, poses, options=FREELY)
    assert_followed(tight, path, poses)
    assert (
        path.step_rad.max() > 1.0
    )  # a quarter turn of A4 and back of A6 before the nearest waypoint, and one after it
    assert any("while the tool hardly moves" in sentence for sentence in path.compromises)


def test_a_free_tool_axis_saves_travel():
    arm = load_arm(KR10)
    pose = fk(arm, (0.0, -1.2, 1.6, 0.3, 0.9, 0.0))
    turns = np.repeat(pose[None], 40, axis=0)
    for k, angle in enumerate(np.linspace(0.0, 2.0, 40)):
        c, s = math.cos(angle), math.sin(angle)
        turns[k, :3, :3] = pose[:3, :3] @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    held = plan(arm, turns, options=FREELY)
    free = plan(arm, turns, options=dataclasses.replace(FREELY, spin_step_rad=math.radians(10.0)))
    assert np.abs(np.diff(free.q, axis=0)).sum() < 0.1 * np.abs(np.diff(held.q, axis=0)).sum()
    # What is free is the turn about the tool's own axis and nothing else.
    reached = fk(arm, free.q)
    assert np.abs(reached[:, :3, 3] - turns[:, :3, 3]).max() < 1e-9
    assert np.abs(reached[:, :3, 2] - turns[:, :3, 2]).max() < 1e-9


def test_a_branch_in_collision_is_not_taken():
    arm = load_arm(UR5E)
    poses = line(fk(arm, ready_posture(UR5E)), (0.0, 0.05, 0.0), 41)
    open_way = plan(arm, poses, options=PathOptions(margin_m=0.005))
    elbow = fk(
        dataclasses.replace(arm, joints=arm.joints[:3], flange=as_matrix(np.eye(4)), capsules=()), open_way.q[20, :3]
    )
    # A ball where the elbow of the usual way stands: halfway between the joints that carry the upper arm and forearm.
    joint = np.array((*arm.joints[2].point_m, 1.0))
    ball = Sphere(name="ball", centre_m=tuple((elbow @ joint)[:3].tolist()), radius_m=0.05)
    other = plan(arm, poses, options=PathOptions(margin_m=0.005, obstacles=(ball,)))
    assert_followed(arm, other, poses)
    assert other.clearance_m.min() >= 0.005
    assert np.abs(other.q - open_way.q).max() > 0.5  # another branch


def test_no_way_beside_an_obstacle_at_the_tool():
    arm = load_arm(UR5E)
    poses = line(fk(arm, ready_posture(UR5E)), (0.0, 0.05, 0.0), 21)
    ball = Sphere(name="ball", centre_m=tuple(poses[10, :3, 3].tolist()), radius_m=0.04)
    with pytest.raises(NoPath, match="less clearance"):
        plan(arm, poses, options=PathOptions(margin_m=0.0, obstacles=(ball,)))


def rig():
    """One turning joint without a home: whole turns can be counted by hand."""
    return [np.array([-7.0]), np.array([7.0])], np.array([True])


def test_winding_goes_the_short_way_and_stays_within_limits():
    (low, high), turning = rig()
    angles = np.array([[3.0], [-3.1], [-2.9], [-1.0], [0.5], [2.0], [3.1], [-2.5]])  # on and on, past pi twice
    found = wind(angles, low, high, turning, np.full((7, 1), 9.0), None)
    steps = np.diff(found[:, 0])
    assert (steps > 0.0).all()
    assert steps.max() < 2.0
    assert np.abs(np.sin(0.5 * (found - angles))).max() < 1e-12  # whole turns apart and nothing else
    assert low[0] <= found.min()
    assert found.max() <= high[0]
    assert len(wind(angles, low + 4.0, high - 4.0, turning, np.full((7, 1), 9.0), None)) == 0


def test_both_searches_agree():
    """The quick search over branches and the slow one over every whole turn find ways of the same cost."""
    rng = np.random.default_rng(1)
    low, high, turning = np.full(2, -7.0), np.full(2, 7.0), np.array([True, True])
    for _ in range(20):
        q = rng.uniform(-math.pi, math.pi, (12, 3, 2))
        exists = rng.random((12, 3)) < 0.9
        exists[:, 0] = True
        arguments = (q, exists, np.zeros((12, 3)), low, high, turning, np.full((11, 2), 9.0), None)
        quick, slow = cheapest(*arguments), cheapest_wound(*arguments)
        if len(quick.q):
            cost = [(np.diff(way.q, axis=0) ** 2).sum() for way in (quick, slow)]
            assert cost[0] == pytest.approx(cost[1], rel=1e-9)
        assert len(slow.q) or not len(quick.q)


def test_the_slow_search_finds_ways_that_the_quick_one_cannot_wind():
    """Two branches: the short one winds out of its limits, the longer one does not."""
    angles = np.arange(0.0, 8.0, 0.4)
    q = np.stack([(angles + math.pi) % (2 * math.pi) - math.pi, 0.45 * angles], axis=1)[:, :, None]
    low, high, turning = np.array([-4.0]), np.array([4.0]), np.array([True])
    arguments = (q, np.ones(q.shape[:2], bool), np.zeros(q.shape[:2]), low, high, turning, np.full((19, 1), 0.5), None)
    assert len(cheapest_wound(*arguments).q) == 20
    assert cheapest_wound(*arguments).q.max() <= 4.0


def slider():
    """Three slides: the arm goes where the tool goes, so times are known."""
    axes = np.eye(3)
    joints = tuple(
        Joint(f"s{k}", tuple(axes[k]), (0.0, 0.0, 0.0), -2.0, 2.0, 0.5, 1.0, kind="prismatic") for k in range(3)
    )
    turns = tuple(Joint(f"t{k}", tuple(axes[k]), (0.0, 0.0, 0.0), -2.0, 2.0, 1.0, 2.0) for k in range(3))
    return Arm("slider", (*joints, *turns), as_matrix(np.eye(4)), capsules=(Capsule(6, (0, 0, 0), (0, 0, 0.01), 0.01),))


def test_a_motion_takes_the_time_of_its_feed():
    poses = np.repeat(np.eye(4)[None], 2, axis=0)
    poses[1, 0, 3] = 1.0
    motion = plan_motion(slider(), waypoint_set("line", poses, speed_m_s=0.25))
    # Trapezoid: 1 m at 0.25 m/s with 1 m/s^2 takes 1 / 0.25 + 0.25 / 1 s.
    assert motion.timing.duration_s == pytest.approx(4.25, rel=2e-3)
    assert motion.timing.speed_ratio.max() <= 0.5 + 1e-6


def test_a_motion_stops_at_corners_and_dwells():
    poses = np.repeat(np.eye(4)[None], 4, axis=0)
    poses[1:, 0, 3] = (0.2, 0.2, 0.4)
    poses[2:, 1, 3] = 0.2
    motion = plan_motion(slider(), waypoint_set("steps", poses, speed_m_s=0.1, dwell_s=np.array((0.0, 0.0, 0.5, 0.0))))
    rows = motion.given
    assert set(rows[1:3]) <= set(motion.stops)
    assert np.abs(motion.timing.velocity[rows]).max() < 1e-9
    assert any("stops at 1 place" in note for note in motion.notes)


@pytest.mark.parametrize("name", ["arm-plane", "arm-cylinder", "arm-frames"])
@pytest.mark.parametrize("arm_name", [KR10, UR5E])
def test_the_built_in_sets_can_be_driven(arm_name, name):
    arm = load_arm(arm_name)
    motion = plan_motion(arm, read_waypoints(name), start=ready_posture(arm_name))
    assert motion.path.position_error_m.max() < 1e-9
    assert motion.timing.speed_ratio.max() <= 1.0 + 1e-6
    assert motion.timing.acceleration_ratio.max() <= 1.0 + 1e-6
    assert motion.path.clearance_m.min() > 0.0


def test_joint_moves_may_change_the_branch():
    arm = load_arm(KR10)
    here = line(fk(arm, (0.4, -1.2, 1.5, 0.2, 0.6, 0.0)), (0.0, 0.0, 0.05), 11)
    there = line(fk(arm, (-0.4, -1.0, 1.3, -0.2, 0.6, 2.0)), (0.0, 0.0, 0.05), 11)
    poses = np.concatenate([here, there])
    with pytest.raises(NoPath, match="jump"):
        plan(arm, poses, options=FREELY)
    path = plan(arm, poses, options=FREELY, joint_moves=[11])
    assert_followed(arm, path, poses)
    assert path.compromises == ()


def test_what_is_no_path_is_refused():
    arm = load_arm(UR5E)
    for poses, word in (
        (np.zeros((0, 4, 4)), "no waypoint"),
        (np.zeros((2, 4, 4)), "no rotation"),
        (np.eye(3), "shape"),
    ):
        with pytest.raises(FieldworthyError, match=word):
            plan(arm, poses)
    with pytest.raises(FieldworthyError, match="spin_step_rad"):
        plan(arm, np.eye(4)[None], options=PathOptions(spin_step_rad=0.0))
    with pytest.raises(FieldworthyError, match="feed_m_s"):
        plan_motion(arm, waypoint_set("one", np.eye(4)[None]), options=MotionOptions(feed_m_s=0.0))


def test_groups_change_nothing_but_the_time():
    """A free tool axis in 8 steps: steps to neighbouring groups only, against steps between all candidates."""
    arm = load_arm(KR10)
    poses = line(fk(arm, (0.3, -1.2, 1.4, 0.5, 0.8, -0.4)), (0.0, 0.06, 0.0), 15)
    found = candidates(arm, poses, np.zeros(6), np.tile(np.arange(8) * (math.pi / 4), (15, 1)))
    arguments = (found.q, found.exists, np.zeros(found.exists.shape), arm.lower, arm.upper, np.full(6, True))
    steps = np.full((14, 6), 0.5)
    grouped, whole = (cheapest(*arguments, steps, None, grid) for grid in (found.grid, (1, 1)))
    assert found.grid == (8, 1)
    assert (grouped.chosen == whole.chosen).all()
    assert around(grouped.chosen, 64, found.grid).shape == (15, 24)


def test_a_seven_axis_arm_follows_a_line():
    arm = load_arm("iiwa7-r800")
    poses = line(fk(arm, ready_posture("iiwa7-r800")), (0.0, 0.2, 0.05), 200)
    path = plan(arm, poses, options=FREELY)
    assert_followed(arm, path, poses)
    assert path.step_rad.max() < 0.05


@pytest.mark.parametrize("off_m", [1e-5, 1e-4, 1e-3])
def test_what_is_driven_keeps_to_its_line_beside_a_singularity(off_m):
    """A smooth curve through a turn in place would swing the tool to and fro by hand-widths: the arm stops there."""
    q = np.array((0.2, -1.2, 1.5, 0.3, 0.0, 0.4))
    arm = load_arm(KR10)
    poses = line(fk(arm, q), (0.0, 0.0, 0.1), 41)
    poses[:, :3, 3] += off_m * np.array((0.0, 1.0, 0.0))
    motion = plan_motion(
        with_narrow_shoulder(arm, q), waypoint_set("line", poses, speed_m_s=0.1), options=MotionOptions(path=FREELY)
    )
    tool = fk(arm, motion.timing.sample(np.linspace(0.0, motion.timing.duration_s, 3000))[0])[:, :3, 3]
    along = tool - poses[0, :3, 3]
    assert np.abs(along[:, :2]).max() < 1e-3  # the line runs along z
    assert np.diff(along[:, 2]).min() > -1e-3
    assert motion.driven.line_error_m.max() < 1e-3
    assert len(motion.stops) >= 2


def test_a_turn_of_the_tool_that_begins_on_the_way_keeps_to_its_line():
    arm = load_arm(KR10)
    poses = line(fk(arm, (0.0, -1.2, 1.6, 0.3, 0.9, 0.0)), (0.0, 0.1, 0.0), 5)
    for k, angle in ((3, 0.5), (4, 1.0)):
        turn = np.array(
            [[1.0, 0.0, 0.0], [0.0, math.cos(angle), -math.sin(angle)], [0.0, math.sin(angle), math.cos(angle)]]
        )
        poses[k, :3, :3] = poses[k, :3, :3] @ turn
    motion = plan_motion(arm, waypoint_set("turn", poses, speed_m_s=0.1), options=MotionOptions(path=FREELY))
    tool = fk(arm, motion.timing.sample(np.linspace(0.0, motion.timing.duration_s, 2000))[0])[:, :3, 3]
    off = tool - poses[0, :3, 3]
    assert np.abs(off[:, [0, 2]]).max() < 1e-3  # the line runs along y


def test_a_joint_move_through_something_is_no_path():
    arm = load_arm(KR10)
    first, last = np.array((-0.8, -1.2, 1.5, 0.0, 0.6, 0.0)), np.array((0.8, -1.2, 1.5, 0.0, 0.6, 0.0))
    poses = fk(arm, np.stack([first, last]))
    halfway = fk(arm, 0.5 * (first + last))[:3, 3]
    ball = Sphere(name="ball", centre_m=tuple(halfway.tolist()), radius_m=0.05)
    moves = waypoint_set("swing", poses, move=("linear", "joint"))
    with pytest.raises(NoPath, match=r"the joint move from waypoint 0 to waypoint 1 comes within -.*ball"):
        plan_motion(arm, moves, start=first, options=MotionOptions(path=PathOptions(obstacles=(ball,))))
    told = plan_motion(arm, moves, start=first, options=MotionOptions(path=PathOptions(obstacles=(ball,), avoid=False)))
    assert told.driven.least_clearance_m < 0.0
    assert any("comes within" in note for note in told.notes)


def test_a_dwell_at_the_end_is_kept():
    poses = np.repeat(np.eye(4)[None], 2, axis=0)
    poses[1, 0, 3] = 0.5
    motion = plan_motion(slider(), waypoint_set("line", poses, speed_m_s=0.25, dwell_s=np.array((0.0, 1.5))))
    assert motion.hold_s == 1.5
    assert any("1.5 s at the end" in note for note in motion.notes)
    assert plan_motion(slider(), waypoint_set("one", poses[:1], dwell_s=np.array((2.0,)))).hold_s == 2.0


def test_straight_through_the_shoulder_singularity():
    """The wrist goes straight over axis 1, where joint 1 may stand anywhere: it keeps standing where it did."""
    arm = load_arm("irb120")
    q = np.array((0.3, -0.35, 0.2, 0.0, 0.9, 0.0))
    home = fk(arm, q)
    to_wrist = np.array(arm.home)[:3, :3].T @ (np.array(closed_of(arm).shape.points[5]) - np.array(arm.home)[:3, 3])
    wrist = home[:3, 3] + home[:3, :3] @ to_wrist
    poses = np.repeat(home[None], 41, axis=0)
    heading = wrist[:2] / np.linalg.norm(wrist[:2])
    across = np.linspace(0.1, -0.1, 41)[:, None] * heading - wrist[:2]
    poses[:, :2, 3] += across
    path = plan(arm, poses, start=np.array((-0.9, *q[1:])), options=FREELY)
    assert_followed(arm, path, poses)
    assert path.step_rad.max() < 0.1


def test_part_of_a_path_may_turn_its_tool():
    arm = load_arm(KR10)
    pose = fk(arm, (0.0, -1.2, 1.6, 0.3, 0.9, 0.0))
    poses = line(pose, (0.0, 0.1, 0.0), 31)
    free = np.zeros(31, bool)
    free[10:20] = True
    path = plan(arm, poses, options=dataclasses.replace(FREELY, spin_step_rad=math.radians(15.0)), spin_free=free)
    assert np.abs(path.spin_rad[~free]).max() == 0.0
    assert np.abs(fk(arm, path.q)[~free] - poses[~free]).max() < 1e-9


def test_rows_of_joint_moves_are_checked():
    arm = load_arm(KR10)
    poses = line(fk(arm, ready_posture(KR10)), (0.0, 0.05, 0.0), 5)
    for row in (0, 5, -1, 1.5):
        with pytest.raises(FieldworthyError, match="joint_moves"):
            plan(arm, poses, joint_moves=[row])


def test_the_elbow_of_seven_joints_moves_smoothly():
    """With little room in joint 1 the elbow has to give way: not in steps of the 33 places that are tried."""
    arm = load_arm("iiwa7-r800")
    first = dataclasses.replace(arm.joints[0], lower=-0.3, upper=0.3)
    tight = dataclasses.replace(arm, joints=(first, *arm.joints[1:]))
    poses = line(fk(arm, ready_posture("iiwa7-r800")), (0.0, 0.2, 0.0), 90)
    path = plan(tight, poses, options=FREELY)
    assert_followed(tight, path, poses)
    # The tool goes 4.5 mm a step; a place of the held joint is 0.18 rad from the next.
    assert path.step_rad.max() < 0.03
