"""Retiming of joint paths (arms/timing.py): closed forms, limits on dense samples, optimality, feed, stops, bad input.

"Interval" below is an interval of pace: at least 512 between two stops when there are few stops.
Long because one subject, the motion along one path, is held against many closed forms.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from fieldworthy.arms.timing import Timing, resample, retime
from fieldworthy.core.errors import FieldworthyError, ScenarioError

INTERVALS = 512


def trapezoid_s(way: float, v: float, a: float) -> float:
    """Rest to rest with speed v and acceleration a: 2 sqrt(way/a) as long as the peak stays below v."""
    return 2.0 * np.sqrt(way / a) if way * a <= v * v else way / v + v / a


def loss_s(way: float, v: float, a: float, intervals: int) -> float:
    """Most that straight lines of x = speed^2 over each interval can lose at the two kinks of the optimal profile.

    A kink where x bends by 2a lies at most a ds/2 above its chord, a triangle of area a ds^2/4, and dt = ds / sqrt(x)
    turns this into a ds^2 / (8 v^3). The peak of a triangle bends by 4a and counts as two. A tenth for higher orders.
    """
    peak = min(v, np.sqrt(way * a))
    return 1.1 * a * (way / intervals) ** 2 / (4.0 * peak**3)


def smooth_path(seed: int, n: int, dof: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A sum of six sines for each joint, and limits."""
    rng = np.random.default_rng(seed)
    s = np.linspace(0.0, 1.0, n)[:, None]
    q = np.zeros((n, dof))
    for k in range(1, 7):
        q += rng.normal(size=dof) / k * np.sin(np.pi * k * s + rng.uniform(0.0, 6.0, dof))
    return q, rng.uniform(1.0, 3.0, dof), rng.uniform(2.0, 9.0, dof)


def zigzag(n: int = 300) -> np.ndarray:
    """Straight runs of 50 steps with sharp turns between them."""
    sign = np.where((np.arange(n) // 50) % 2 == 0, 1.0, -1.0)
    return np.cumsum(np.stack([0.01 * sign, np.full(n, 0.002), np.full(n, 0.001)], axis=1), axis=0)


def used(timing: Timing, v: np.ndarray, a: np.ndarray, count: int = 20001) -> np.ndarray:
    """The largest share of a limit in use, at even times, (count,)."""
    _, speed, acceleration = timing.sample(np.linspace(0.0, timing.duration_s, count))
    return np.maximum((np.abs(speed) / v).max(axis=1), (np.abs(acceleration) / a).max(axis=1))


@pytest.mark.parametrize(("way", "v", "a"), [(1.0, 10.0, 2.0), (1.0, 0.5, 0.7), (-3.0, 0.33, 0.7), (1e-4, 2.0, 5.0)])
@pytest.mark.parametrize("n", [2, 3, 17, 700])
def test_one_joint_rest_to_rest_takes_the_triangle_or_trapezoid_time(way: float, v: float, a: float, n: int) -> None:
    timing = retime(np.linspace(0.0, way, n)[:, None], [v], [a])
    excess = timing.duration_s - trapezoid_s(abs(way), v, a)
    assert -1e-12 <= excess <= loss_s(abs(way), v, a, max(INTERVALS, n - 1))


@pytest.mark.parametrize("n", [1001, 2001, 4001])
def test_straight_line_converges_with_the_square_of_the_waypoints(n: int) -> None:
    """The bound of `loss_s` falls with n squared, and something is lost: the order is not better either."""
    worst = 0.0
    for v in np.linspace(0.3, 0.5, 7):
        excess = retime(np.linspace(0.0, 1.0, n)[:, None], [v], [0.7]).duration_s - trapezoid_s(1.0, v, 0.7)
        assert -1e-12 <= excess <= loss_s(1.0, v, 0.7, n - 1)
        worst = max(worst, excess / loss_s(1.0, v, 0.7, n - 1))
    assert worst > 0.3


def test_joints_in_proportion_go_as_the_slowest_one() -> None:
    """q = (s, -2s, s/2): the speeds allow 1, 0.4 and 3 along s, the accelerations 2, 4 and 1."""
    s = np.linspace(0.0, 1.0, 20)[:, None]
    timing = retime(s * [1.0, -2.0, 0.5], [1.0, 0.8, 1.5], [2.0, 8.0, 0.5])
    excess = timing.duration_s - trapezoid_s(1.0, 0.4, 1.0)
    assert -1e-12 <= excess <= loss_s(1.0, 0.4, 1.0, INTERVALS)
    assert set(timing.bound_by[8:11]) == {"speed"}
    assert set(timing.bound_joint[8:11]) == {1}
    assert (timing.bound_joint[0], timing.bound_by[0]) == (2, "acceleration")


def test_circle_of_two_joints_takes_its_closed_form_time() -> None:
    """Two joints on a circle of radius r, each limited to A, speeds free.

    Where a joint turns round, the other cannot help: v = sqrt(A r). From there that joint leaves with all its
    acceleration, r (1 - cos) = A t^2 / 2, until at 45 degrees the other one takes over braking; that one needs at most
    0.66 A meanwhile (differentiate y = sqrt(r^2 - x^2) twice). So a quarter takes 2 sqrt(2 r (1 - sqrt(1/2)) / A).
    """
    r, a, steps = 0.7, 2.0, 1200
    turn = np.linspace(0.0, 6.0 * np.pi, 3 * steps + 1)
    timing = retime(r * np.stack([np.cos(turn), np.sin(turn)], axis=1), [np.inf, np.inf], [a, a])
    quarter = 2.0 * np.sqrt(2.0 * r * (1.0 - np.sqrt(0.5)) / a)
    at = timing.t_s[steps + np.arange(5) * steps // 4]
    # A constant d2s/dt2 in each interval loses a share of the order of the angle turned in it, pi/600.
    assert np.diff(at) == pytest.approx(quarter, rel=np.pi / 600.0)
    assert (np.diff(at) >= quarter * (1.0 - 1e-5)).all()
    speed = np.linalg.norm(timing.velocity[steps + np.arange(5) * steps // 4], axis=1)
    assert speed == pytest.approx(np.sqrt(a * r), rel=1e-4)
    fastest = np.sqrt(2.0) * a * 0.5 * quarter
    assert np.linalg.norm(timing.velocity[steps + steps // 8]) == pytest.approx(fastest, rel=np.pi / 600.0)


@pytest.mark.parametrize(("way", "v", "a"), [(1.0, 10.0, 5.0), (1.0, 2.0, 5.0), (0.02, 1.0, 9.0)])
def test_a_joint_that_turns_round_takes_twice_the_time_of_one_way(way: float, v: float, a: float) -> None:
    """There and back through three waypoints: the joint is at rest at the far one, whatever the curve's pace there.

    At the turn the path's own inertia vanishes (q' = 0), the case that breaks careless schemes.
    """
    timing = retime([[0.0], [way], [0.0]], [v], [a])
    # The slope q' falls to zero within 256 intervals, so a constant d2s/dt2 leaves some 1/256 of a limit unused.
    assert timing.duration_s == pytest.approx(2.0 * trapezoid_s(way, v, a), rel=1.0 / 256.0)
    assert timing.duration_s >= 2.0 * trapezoid_s(way, v, a) * (1.0 - 1e-9)
    assert timing.velocity[1, 0] == pytest.approx(0.0, abs=1e-9)
    assert used(timing, np.array([v]), np.array([a])).max() <= 1.0 + 1e-9


CASES: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    **{
        f"smooth {n} x {dof}": (*smooth_path(seed, n, dof), {})
        for seed, n, dof in ((1, 1000, 6), (2, 200, 7), (3, 9, 2))
    },
    "zigzag": (zigzag(), np.array([2.0, 2.0, 3.0]), np.array([5.0, 5.0, 6.0]), {}),
    "random points": (np.random.default_rng(4).normal(size=(40, 6)), np.full(6, 2.0), np.full(6, 5.0), {}),
    "noise": (
        np.linspace(0.0, 1.0, 300)[:, None] + 1e-5 * np.random.default_rng(5).normal(size=(300, 3)),
        np.full(3, 2.0),
        np.full(3, 5.0),
        {},
    ),
    "almost equal neighbours": (
        np.sort(np.r_[np.linspace(0.0, 1.0, 100), 0.5 + 3e-9, 0.2 + 2e-9])[:, None] * [1.0, 2.0],
        np.full(2, 2.0),
        np.full(2, 5.0),
        {},
    ),
    "stops and dwells": (zigzag(), np.full(3, 2.0), np.full(3, 5.0), {"stops": range(0, 300, 3), "dwell_s": 0.1}),
    "long approach": (np.r_[[[-2.0, 1.0, 0.0]], zigzag(100)], np.full(3, 2.0), np.full(3, 5.0), {}),
    "some limits infinite": (zigzag(), np.array([np.inf, 2.0, 3.0]), np.array([5.0, np.inf, np.inf]), {}),
    "no acceleration limit": (zigzag(), np.full(3, 2.0), np.full(3, np.inf), {}),
}


@pytest.mark.parametrize("name", CASES)
def test_no_sample_exceeds_a_limit(name: str) -> None:
    q, v, a, options = CASES[name]
    timing = retime(q, v, a, **options)
    assert used(timing, v, a, 100_001).max() <= 1.0 + 1e-6
    assert max(timing.speed_ratio.max(), timing.acceleration_ratio.max()) <= 1.0 + 1e-6
    assert timing.stretch == 1.0
    assert (np.diff(timing.t_s) > 0.0).all()
    at, speed, acceleration = timing.sample(timing.t_s)
    assert at == pytest.approx(q, abs=1e-9)
    assert speed == pytest.approx(timing.velocity, abs=1e-9)
    assert acceleration == pytest.approx(timing.acceleration, abs=1e-6)
    assert np.abs(timing.velocity[[0, -1]]).max() == 0.0


@pytest.mark.parametrize("name", ["smooth 1000 x 6", "smooth 200 x 7", "zigzag", "random points"])
def test_speed_and_acceleration_are_the_derivatives_of_the_position(name: str) -> None:
    """A central difference over 2h is off by at most h times the largest acceleration, also where that jumps."""
    q, v, a, options = CASES[name]
    timing = retime(q, v, a, **options)
    h = 1e-5
    t = np.linspace(h, timing.duration_s - h, 5000)
    (before, v_before, _), (_, speed, acceleration), (after, v_after, _) = (timing.sample(t + d) for d in (-h, 0.0, h))
    assert (np.abs((after - before) / (2.0 * h) - speed) <= h * a * 1.01 + 1e-9).all()
    # The acceleration has jumps at the ends of intervals, some within h of a sample.
    off = np.abs((v_after - v_before) / (2.0 * h) - acceleration) / a
    assert np.quantile(off, 0.9) < 1e-2


@pytest.mark.parametrize("name", ["smooth 1000 x 6", "smooth 200 x 7"])
def test_a_limit_is_active_almost_always(name: str) -> None:
    """Time-optimal means bang-bang. d2s/dt2 is constant in an interval, so the share used falls off to first order."""
    q, v, a, _ = CASES[name]
    share = used(retime(q, v, a), v, a)
    assert np.median(share) > 0.995
    assert np.quantile(share, 0.05) > 0.95


def test_bent_segments_get_more_intervals() -> None:
    """At sharp turns the curve's bend changes sign from waypoint to waypoint, too fast for one interval a segment.

    With one, a tenth of the time would be spent below 0.55 of every limit.
    """
    v, a = np.array([2.0, 2.0, 3.0]), np.array([5.0, 5.0, 6.0])
    assert np.quantile(used(retime(zigzag(1000), v, a), v, a), 0.1) > 0.8


@pytest.mark.parametrize("seed", range(4))
def test_wild_scales_keep_the_limits(seed: int) -> None:
    """Steps from 1e-8 to 1 of the same path lose digits; the stretch of the times makes up for them."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        n = int(rng.integers(3, 40))
        step = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-8.0, 0.0, (n, 1))
        q = np.cumsum(step, axis=0) * 10.0 ** rng.uniform(-3.0, 5.0)
        v, a = 10.0 ** rng.uniform(-2.0, 3.0, 3), 10.0 ** rng.uniform(-3.0, 4.0, 3)
        timing = retime(q, v, a)
        assert 1.0 <= timing.stretch < 1.0 + 1e-6
        assert (np.diff(timing.t_s) > 0.0).all()
        assert used(timing, v, a, 5001).max() <= 1.0 + 1e-6


def test_finer_waypoints_of_the_same_curve_converge_to_first_order() -> None:
    q, v, a = smooth_path(6, 4001, 3)
    times = [retime(q[::k], v, a).duration_s for k in (4, 2, 1)]
    # First order halves the change each time; the curve itself has converged to far less.
    assert 0.0 < times[1] - times[2] < 0.75 * (times[0] - times[1])
    assert times[0] - times[2] < 2e-3 * times[2]


def test_scaling_laws() -> None:
    """k times the speeds with k^2 times the accelerations: 1/k of the time. Another unit of a joint: the same time."""
    q, v, a = smooth_path(8, 300, 4)
    time_s = retime(q, v, a).duration_s
    assert retime(q, 3.0 * v, 9.0 * a).duration_s == pytest.approx(time_s / 3.0, rel=1e-9)
    unit = np.array([1.0, 180.0 / np.pi, 1e-3, 1e3])
    assert retime(q * unit, v * unit, a * unit).duration_s == pytest.approx(time_s, rel=1e-9)
    # Backwards the optimum is the same, but the intervals' slack falls elsewhere: first order again.
    assert retime(q[::-1], v, a).duration_s == pytest.approx(time_s, rel=2e-3)


def test_infinite_acceleration_loses_a_start_and_a_stop_of_one_interval() -> None:
    """The first and last interval take twice the time of the others."""
    timing = retime([[0.0], [3.0]], [1.5], [np.inf])
    assert timing.duration_s == pytest.approx(2.0 * (1.0 + 2.0 / INTERVALS), rel=1e-12)


def test_feed_is_a_speed_limit_of_the_tool() -> None:
    """A lever of 0.5 m at a feed of 0.2 m/s: a trapezoid with 0.4 rad/s."""
    q = np.linspace(0.0, 1.0, 401)[:, None]
    timing = retime(q, [3.0], [2.0], tool_step_m=np.full(400, 0.5 / 400), feed_m_s=0.2)
    excess = timing.duration_s - trapezoid_s(1.0, 0.4, 2.0)
    assert -1e-12 <= excess <= loss_s(1.0, 0.4, 2.0, 400)
    assert timing.reached_feed_m_s is not None
    assert timing.reached_feed_m_s.max() <= 0.2 * (1.0 + 1e-9)
    assert timing.reached_feed_m_s[200] == pytest.approx(0.2, rel=1e-9)
    assert (timing.bound_joint[200], timing.bound_by[200]) == (-1, "feed")
    slow = timing.slowed
    # Only speeding up and braking are slower: 0.04 rad at both ends, 16 segments each.
    assert {piece.segment for piece in slow} == {*range(16), *range(384, 400)}
    assert {(piece.joint, piece.limit) for piece in slow} == {(0, "acceleration")}


def test_feed_of_each_segment() -> None:
    q = np.linspace(0.0, 1.0, 301)[:, None]
    feed = np.full(300, np.inf)
    feed[100:200] = 0.1
    timing = retime(q, [1.0], [20.0], tool_step_m=np.full(300, 1.0 / 300), feed_m_s=feed)
    assert timing.reached_feed_m_s is not None
    assert timing.reached_feed_m_s[100:200] == pytest.approx(0.1, rel=1e-9)
    assert timing.reached_feed_m_s[[60, 240]] == pytest.approx(1.0, rel=1e-9)
    assert timing.slowed == ()


def test_what_slows_the_tool_is_named() -> None:
    """q = (s, 2s): the second joint's 1 rad/s allows half of the 1 m/s asked."""
    s = np.linspace(0.0, 2.0, 201)[:, None]
    timing = retime(s * [1.0, 2.0], [10.0, 1.0], [50.0, 50.0], tool_step_m=np.full(200, 0.01), feed_m_s=1.0)
    middle = next(piece for piece in timing.slowed if piece.segment == 100)
    assert (middle.asked_m_s, middle.joint, middle.limit) == (1.0, 1, "speed")
    assert middle.reached_m_s == pytest.approx(0.5, rel=1e-9)


def test_turning_the_tool_in_place_has_no_feed() -> None:
    q = np.array([[0.0], [1.0], [2.0]])
    timing = retime(q, [1.0], [4.0], tool_step_m=[0.0, 0.0], feed_m_s=0.01)
    assert timing.duration_s == pytest.approx(trapezoid_s(2.0, 1.0, 4.0), rel=1e-4)
    assert timing.slowed == ()


def test_stops_are_at_rest_and_cost_what_separate_moves_cost() -> None:
    q = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [0.0, 2.0]])
    timing = retime(q, [1.0, 1.0], [2.0, 2.0], stops=[1, 2], dwell_s=[0.25, 0.0, 0.5, 0.0])
    assert np.abs(timing.velocity).max() == 0.0
    assert timing.chord_deviation.max() == 0.0
    one, two = trapezoid_s(1.0, 1.0, 2.0), trapezoid_s(2.0, 1.0, 2.0)
    assert timing.t_s == pytest.approx([0.0, 0.25 + one, 0.25 + one + two, 0.75 + 2.0 * one + two], abs=1e-4)
    there, speed, acceleration = timing.sample(timing.t_s[2] + np.linspace(0.0, 0.49, 5))
    assert there == pytest.approx(np.tile(q[2], (5, 1)), abs=1e-12)
    assert np.abs(speed).max() == np.abs(acceleration).max() == 0.0


def test_a_dwell_makes_a_stop() -> None:
    timing = retime(np.linspace(0.0, 1.0, 5)[:, None], [1.0], [2.0], dwell_s=[0.0, 0.0, 0.3, 0.0, 0.0])
    assert timing.velocity[2, 0] == 0.0
    assert timing.duration_s == pytest.approx(2.0 * trapezoid_s(0.5, 1.0, 2.0) + 0.3, abs=1e-4)


def test_repeated_waypoints_stand_still_together() -> None:
    q = np.array([[0.0], [1.0], [1.0], [2.0]])
    still = retime(q, [1.0], [2.0], tool_step_m=[0.5, 0.0, 0.5], feed_m_s=5.0)
    assert still.t_s[2] - still.t_s[1] == pytest.approx(1e-3)
    assert np.abs(still.velocity).max() == 0.0
    assert (still.bound_joint[1], still.bound_by[1]) == (-1, "rest")
    assert {piece.segment for piece in still.slowed} == {0, 2}
    waiting = retime(q, [1.0], [2.0], dwell_s=0.7)
    assert waiting.t_s[2] - waiting.t_s[1] == pytest.approx(0.7)


def test_trivial_paths() -> None:
    one = retime([[1.0, 2.0]], [1.0, 1.0], [1.0, 1.0])
    assert (one.duration_s, one.t_s.tolist(), one.stretch, one.slowed) == (0.0, [0.0], 1.0, ())
    q, speed, _ = one.sample([0.0, 5.0])
    assert q.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert np.abs(speed).max() == 0.0
    assert [part.shape for part in resample(one, 100.0)] == [(1,), (1, 2), (1, 2), (1, 2)]
    same = retime(np.ones((4, 2)), [1.0, 1.0], [1.0, 1.0])
    assert (np.diff(same.t_s) > 0.0).all()
    assert np.abs(same.velocity).max() == 0.0


def test_sample_rests_outside_and_takes_a_single_time() -> None:
    timing = retime([[0.0], [1.0]], [1.0], [2.0])
    q, speed, acceleration = timing.sample([-1.0, timing.duration_s + 1.0])
    assert q[:, 0].tolist() == [0.0, 1.0]
    assert np.abs(speed).max() == np.abs(acceleration).max() == 0.0
    middle = timing.sample(0.5 * timing.duration_s)
    assert [part.shape for part in middle] == [(1,), (1,), (1,)]
    assert middle[0][0] == pytest.approx(0.5)
    with pytest.raises(FieldworthyError, match="not a number"):
        timing.sample(np.nan)


def test_resample_has_even_steps_and_the_end() -> None:
    timing = retime([[0.0], [1.0]], [0.4], [2.0])  # 2.7 s
    t, q, speed, _ = resample(timing, 125.0)
    assert t[-1] == timing.duration_s
    assert t[:-1] == pytest.approx(np.arange(len(t) - 1) / 125.0, abs=1e-12)
    assert 0.0 < t[-1] - t[-2] <= 1.0 / 125.0 + 1e-9
    assert (q[0, 0], q[-1, 0], speed[-1, 0]) == (0.0, 1.0, pytest.approx(0.0, abs=1e-12))
    with pytest.raises(FieldworthyError, match="rate_hz"):
        resample(timing, 0.0)


def test_peak_jerk_is_the_jump_over_the_period() -> None:
    """A triangle's acceleration jumps from 0 to a at its ends and from a to -a in the middle."""
    timing = retime([[0.0], [1.0]], [10.0], [2.0])
    assert timing.peak_jerk(0.01) == pytest.approx([4.0 / 0.01], rel=1e-9)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"q": [[0.0, 0.0], [np.nan, 1.0], [1.0, np.inf]]},
            r"waypoint 1, joint 0: is nan(.|\n)*waypoint 2, joint 1: is inf",
        ),
        ({"q": [0.0, 1.0]}, "has shape"),
        ({"q": np.zeros((0, 2))}, "has shape"),
        ({"q": [["a", "b"]]}, "no array of numbers"),
        ({"speed": [1.0]}, r"speed: has shape \(1,\)"),
        ({"speed": [1.0, 0.0]}, "speed, joint 1: is 0"),
        ({"acceleration": [-1.0, np.nan]}, r"acceleration, joint 0: is -1(.|\n)*acceleration, joint 1: is nan"),
        ({"speed": [1.0, np.inf], "acceleration": [1.0, np.inf]}, "waypoints 1 to 2, joint 1: moves without any limit"),
        ({"tool_step_m": [0.1]}, "tool_step_m: has shape"),
        ({"tool_step_m": [0.1, -0.1]}, "tool_step_m, segment 1: is -0.1"),
        (
            {"q": [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]], "tool_step_m": [0.1, 0.1]},
            "segment 0: is 0.1 while no joint moves",
        ),
        ({"feed_m_s": 0.1}, "tool_step_m: is missing beside feed_m_s"),
        ({"feed_m_s": 0.0, "tool_step_m": [0.1, 0.1]}, "feed_m_s: is not positive"),
        ({"feed_m_s": [0.1], "tool_step_m": [0.1, 0.1]}, "feed_m_s: has shape"),
        ({"stops": [3]}, "stops: names waypoint 3"),
        ({"stops": [-1]}, "stops: names waypoint -1"),
        ({"dwell_s": -1.0}, "dwell_s: is negative"),
        ({"dwell_s": [0.0, 0.0]}, "dwell_s: has shape"),
        ({"dwell_s": [0.0, 0.0, 1.0]}, "repeat the waypoint"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], says: str) -> None:
    good = {"q": [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], "speed": [1.0, 1.0], "acceleration": [2.0, 2.0]}
    arguments = {**good, **change}
    with pytest.raises(ScenarioError, match=says):
        retime(arguments.pop("q"), arguments.pop("speed"), arguments.pop("acceleration"), **arguments)


def test_importing_brings_no_scipy() -> None:
    code = "import sys, fieldworthy.arms.timing; print(sorted({'scipy', 'drjit', 'mitsuba'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.strip() == "[]"
