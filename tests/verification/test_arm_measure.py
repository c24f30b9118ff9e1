"""Figures of a played arm's task against closed forms: rates, reversals, errors of a solver with a known offset."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fieldworthy.arms.chain import Arm, Capsule, Joint
from fieldworthy.arms.joint_csv import JointSet
from fieldworthy.arms.kinematics import fk
from fieldworthy.arms.path import NoPath
from fieldworthy.arms.solver import Attempt, make_solver
from fieldworthy.arms.waypoints import waypoint_set
from fieldworthy.scenario.arm_task import ArmScene, arm_scene, load_arm_task
from fieldworthy.trials.arm import play as play_module
from fieldworthy.trials.arm.measure import measure, outside_limits, sample_rates
from fieldworthy.trials.arm.plan_figures import impossible, plan_figures
from fieldworthy.trials.arm.play import Played, planned, play
from fieldworthy.trials.arm.report_solvers import _rest
from fieldworthy.trials.arm.words import angle, length, pair, stillness

FLANGE = ((1.0, 0.0, 0.0, 0.5), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))


def one_joint(speed: float = 2.0, acceleration: float = 4.0) -> Arm:
    """A bar of 0.5 m that turns about z."""
    joint = Joint("j1", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), -math.pi, math.pi, speed, acceleration)
    return Arm("bar", (joint,), FLANGE)


def scene_of(arm: Arm, motion: Any, settings: tuple[str, ...] = ()) -> ArmScene:
    task = load_arm_task("arm-joints" if isinstance(motion, JointSet) else "arm-frames", settings)
    return ArmScene(task, arm, np.zeros(arm.dof), motion, ())


def played_of(arm: Arm, q: np.ndarray, dt_s: float = 0.01, settle: int = 0) -> Played:
    """What a player would have shown of joint positions (m, dof), the target on the tool."""
    reached = fk(arm, q)
    m = len(q)
    zeros = np.zeros(m)
    return Played("stand-in", np.arange(m) * dt_s, q, reached, reached, zeros, zeros, np.zeros(m, int), zeros,
                  np.array([0, m - 1 - settle]), 0, m - 1 - settle, ("",) * m)  # fmt: skip


def joint_set(t_s: Any, q: Any) -> JointSet:
    return JointSet(np.asarray(t_s, float), np.asarray(q, float).reshape(len(t_s), -1), ("j1",))


def test_the_speed_ratio_of_an_even_turn_is_its_speed_over_the_limit() -> None:
    t = np.arange(101) * 0.01
    arm = one_joint(speed=2.0)
    figures = measure(scene_of(arm, joint_set(t, 0.5 * t)), played_of(arm, 0.5 * t[:, None]))
    assert figures.speed_ratio[1:, 0] == pytest.approx(0.25, rel=1e-9)
    assert figures.summary["peak_speed_ratio"] == pytest.approx(0.25, rel=1e-9)
    assert figures.summary["joint_travel_rad"] == pytest.approx(0.5, rel=1e-9)
    assert figures.summary["reversals_per_s"] == 0.0


def test_a_joint_that_goes_to_and_fro_every_frame_is_fast_and_not_still() -> None:
    """Over two frames it would seem to stand: 0.01 rad in each frame of 0.01 s are 1 rad/s."""
    arm = one_joint(speed=2.0, acceleration=4.0)
    q = np.where(np.arange(201) % 2, 0.01, 0.0)[:, None]
    way = waypoint_set("two", fk(arm, q[[0, 1]]))
    figures = measure(scene_of(arm, way), played_of(arm, q, settle=100))
    assert figures.summary["peak_speed_ratio"] == pytest.approx(0.5, rel=1e-9)
    # Second difference: 0.02 rad / (0.01 s)^2 = 200 rad/s^2, over 4.
    assert figures.summary["peak_acceleration_ratio"] == pytest.approx(50.0, rel=1e-9)
    # 100 steps in 1 s, and each of the 99 places between two of them is a reversal.
    assert figures.summary["reversals_per_s"] == pytest.approx(99.0, rel=1e-9)
    assert figures.summary["stillness_rad"] == pytest.approx(0.01, rel=1e-9)


def test_reversals_are_counted_where_a_swing_turns_round() -> None:
    """sin(2 pi t) turns round at 0.25, 0.75, ... s: twice a period."""
    arm = one_joint()
    t = np.arange(401) * 0.01
    figures = measure(
        scene_of(arm, joint_set(t, np.sin(2 * np.pi * t))), played_of(arm, np.sin(2 * np.pi * t)[:, None])
    )
    assert figures.summary["reversals_per_s"] == pytest.approx(2.0, abs=1e-9)


def test_accelerations_of_joint_positions_do_not_depend_on_the_frame_rate() -> None:
    """q = t^2 at uneven times: the second difference of a parabola is exact, 2 rad/s^2, half of the limit."""
    arm = one_joint(speed=10.0, acceleration=4.0)
    t = np.cumsum([0.0, 0.05, 0.1, 0.05, 0.2, 0.1, 0.1, 0.2])
    motion = joint_set(t, t**2)
    speed, acceleration = sample_rates(motion)
    assert acceleration[1:-1] == pytest.approx(2.0, rel=1e-9)
    assert speed[:, 0] == pytest.approx((t[1:] ** 2 - t[:-1] ** 2) / np.diff(t), rel=1e-12)
    peaks = []
    for rate in (50.0, 400.0):
        scene = scene_of(arm, motion, (f"play.rate_hz={rate}", "play.settle_s=0.1"))
        peaks.append(measure(scene, play(scene, "joints")).summary["peak_acceleration_ratio"])
    assert peaks == pytest.approx([0.5, 0.5], rel=1e-9)


def test_an_unknown_limit_has_no_ratio() -> None:
    arm = one_joint(acceleration=math.inf)
    t = np.arange(11) * 0.01
    figures = measure(scene_of(arm, joint_set(t, t)), played_of(arm, t[:, None]))
    assert figures.summary["peak_acceleration_ratio"] is None
    assert figures.summary["peak_speed_ratio"] == pytest.approx(0.5)
    assert figures.summary["least_wrist_sine"] is None


def test_joints_beyond_their_limits_are_named_with_how_far() -> None:
    arm = one_joint()
    assert outside_limits(arm, np.array([[0.0], [math.pi + 0.25], [-1.0]])) == {"j1": pytest.approx(0.25)}
    assert outside_limits(arm, np.array([[math.pi], [-math.pi]])) == {}


class Off:
    """The exact solver, asked for a pose that is off by a known offset and turn in base coordinates."""

    name = "off"

    def __init__(self, offset_m: tuple[float, float, float], turn_rad: float) -> None:
        self.exact = make_solver("exact")
        c, s = math.cos(turn_rad), math.sin(turn_rad)
        self.turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        self.offset = np.array(offset_m)

    def _moved(self, pose: np.ndarray) -> np.ndarray:
        moved = pose.copy()
        moved[:3, :3] = self.turn @ pose[:3, :3]
        moved[:3, 3] += self.offset
        return moved

    def solve(self, arm: Arm, base_from_tool: np.ndarray, seed: np.ndarray) -> Attempt:
        return self.exact.solve(arm, self._moved(base_from_tool), seed)

    def step(self, arm: Arm, base_from_tool: np.ndarray, q: np.ndarray, dt_s: float) -> Attempt:
        return self.exact.step(arm, self._moved(base_from_tool), q, dt_s)


@pytest.mark.parametrize(
    ("offset_m", "turn_deg", "reached"),
    [
        ((0.0, 0.0, 0.0005), 0.05, 2),
        ((0.002, 0.0, 0.0), 0.0, 0),
        ((0.0, 0.0, 0.0), 1.0, 0),
        ((0.003, 0.004, 0.0), 3.0, 0),
    ],
)
def test_errors_are_those_of_a_solver_that_is_off_by_a_known_pose(
    monkeypatch: pytest.MonkeyPatch, offset_m: tuple[float, float, float], turn_deg: float, reached: int
) -> None:
    whole = arm_scene(load_arm_task("arm-frames", ["play.rate_hz=25", "play.settle_s=0.6", "motion.feed_m_s=0.4"]))
    poses = whole.motion.base_from_tool[2:4]  # type: ignore[union-attr]
    scene = replace(whole, motion=waypoint_set("two", poses))
    monkeypatch.setattr(play_module, "make_solver", lambda name, *_, **__: Off(offset_m, math.radians(turn_deg)))
    summary = measure(scene, play(scene, "exact")).summary
    assert (summary["reached"], summary["waypoints"]) == (reached, 2)
    assert summary["worst_position_error_m"] == pytest.approx(math.hypot(*offset_m), abs=1e-9)
    assert summary["mean_path_error_m"] == pytest.approx(math.hypot(*offset_m), abs=1e-9)
    assert summary["worst_orientation_error_deg"] == pytest.approx(turn_deg, abs=1e-6)
    assert summary["stillness_rad"] == pytest.approx(0.0, abs=1e-12)


def test_the_least_clearance_is_that_of_the_nearest_posture() -> None:
    """A bar along x turns by 90 degrees beside a ball on the y axis: nearest at the end, where it lies on the axis."""
    from fieldworthy.arms.obstacles import Sphere

    bar = Capsule(1, (0.0, 0.0, 0.0), (0.5, 0.0, 0.0), 0.05, "bar")
    arm = replace(one_joint(), capsules=(bar,))
    ball = Sphere("ball", (0.0, 0.9, 0.0), 0.1)
    t = np.linspace(0.0, 1.0, 101)
    scene = replace(scene_of(arm, joint_set(t, 0.5 * np.pi * t)), obstacles=(ball,))
    figures = measure(scene, played_of(arm, 0.5 * np.pi * t[:, None]))
    assert figures.clearance_m is not None
    assert int(figures.clearance_m.argmin()) == 100
    assert figures.summary["least_clearance_m"] == pytest.approx(0.9 - 0.5 - 0.1 - 0.05, abs=1e-9)
    assert figures.summary["nearest"].endswith("ball")


def test_the_plan_keeps_limits_and_stays_on_its_lines() -> None:
    scene = arm_scene(load_arm_task("arm-frames"))
    motion = planned(scene)
    assert motion is not None
    assert not isinstance(motion, NoPath)
    figures = plan_figures(scene, motion)
    assert figures.summary["peak_speed_ratio"] <= 1.0 + 1e-9
    assert figures.summary["peak_acceleration_ratio"] <= 1.0 + 1e-9
    assert figures.speed_ratio.max() <= figures.summary["peak_speed_ratio"] + 1e-9
    assert figures.summary["worst_position_error_m"] < 1e-9
    # Between points 5 mm apart a cubic leaves the line by far less than the path's own tolerance of 1 mm.
    assert figures.summary["largest_line_error_m"] < 1e-4
    # The user's waypoints are met at their times.
    q = motion.timing.sample(figures.waypoint_t_s)[0]
    goals = scene.motion.base_from_tool[:, :3, 3]  # type: ignore[union-attr]
    assert np.abs(fk(motion.arm, q)[:, :3, 3] - goals).max() < 1e-9


def test_an_impossible_path_names_the_users_waypoint() -> None:
    """Two poses within reach, the third 5 m away: no arm of 1.1 m gets there, whatever points lie between."""
    whole = arm_scene(load_arm_task("arm-frames"))
    poses = np.array(whole.motion.base_from_tool[:3])  # type: ignore[union-attr]
    poses[2, :3, 3] = (5.0, 0.0, 0.3)
    scene = replace(whole, motion=waypoint_set("far", poses, move=("linear", "linear", "joint")))
    error = planned(scene)
    assert isinstance(error, NoPath)
    assert impossible(error).waypoint == 2


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (3.4e-16, "0"), (2.5e-9, "2.50 nm"), (1.234e-4, "123 µm"), (9.9996e-4, "1.00 mm"),
                        (0.0125, "12.5 mm"), (1.5, "1.50 m"), (-0.0082, "-8.20 mm"), (None, "–")],
)  # fmt: skip
def test_lengths_have_three_digits_in_their_unit(value: float | None, text: str) -> None:
    assert length(value) == text


def test_angles_and_pairs_as_people_read_them() -> None:
    assert [angle(v) for v in (0.0, 1e-4, 0.3154, 64.26)] == ["0", "<0.001°", "0.315°", "64.3°"]
    assert pair("link 2 (link_2) and link 5 (link_5)") == "links 2 and 5"
    assert pair("link 6 (spindle) and floor") == "spindle (link 6) and floor"


@pytest.mark.parametrize(
    ("swing_rad", "told"),
    [(None, "–"), (0.0, "still"), (0.9e-9, "still"), (1.1e-9, "<0.001°"), (5e-8, "<0.001°"), (math.radians(2.0), "2°")],
)
def test_still_is_said_below_a_nanoradian_only(swing_rad: float | None, told: str) -> None:
    assert stillness(swing_rad) == told


def test_a_sentence_says_the_same_of_rest() -> None:
    assert _rest(math.degrees(0.9e-9)) == "stands still"
    assert _rest(math.degrees(5e-8)) == "goes on moving its joints over <0.001°"
