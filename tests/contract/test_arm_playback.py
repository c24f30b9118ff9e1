"""What the player promises: states, time, the target's path, calls of the solver, events, and harm done by others.

Long because it is one contract.

The arm of most tests is a table of three slides: its joints are the tool's coordinates, so every answer is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fieldworthy.arms.chain import IDENTITY, Arm, Array, Joint
from fieldworthy.arms.joint_csv import JointSet
from fieldworthy.arms.playback import Frame, Player, PlayOptions, State, read_motion
from fieldworthy.arms.solver import Attempt
from fieldworthy.arms.waypoints import WaypointSet, waypoint_set
from fieldworthy.core.errors import FieldworthyError

STOPPED, PLAYING, PAUSED, COMPLETED = State.STOPPED, State.PLAYING, State.PAUSED, State.COMPLETED
TABLE = Arm(
    "table",
    tuple(
        Joint(name, axis, (0.0, 0.0, 0.0), -10.0, 10.0, 0.5, kind="prismatic")
        for name, axis in (("x", (1.0, 0.0, 0.0)), ("y", (0.0, 1.0, 0.0)), ("z", (0.0, 0.0, 1.0)))
    ),
    IDENTITY,
)


class Slides:
    """Inverse kinematics of the table: exact, or as far as the joints' speed allows. Counts its calls."""

    def __init__(self, name: str = "slides") -> None:
        self.name = name
        self.times_s: list[float] = []
        self.seeds: list[Array] = []

    def solve(self, arm: Arm, base_from_tool: Array, seed: Array) -> Attempt:
        return Attempt(base_from_tool[:3, 3] - np.array(arm.tool)[:3, 3], True, 0.0, 0.0, 1)

    def step(self, arm: Arm, base_from_tool: Array, q: Array, dt_s: float) -> Attempt:
        self.times_s.append(dt_s)
        self.seeds.append(q)
        wanted = self.solve(arm, base_from_tool, q).q
        moved = q + np.clip(wanted - q, -arm.speed * dt_s, arm.speed * dt_s)
        left_m = float(np.linalg.norm(wanted - moved))
        return Attempt(moved, left_m < 1e-12, left_m, 0.0, 3, "" if left_m < 1e-12 else "too far for one frame")


def points(*places: tuple[float, float, float], **others: Any) -> WaypointSet:
    poses = np.tile(np.eye(4), (len(places), 1, 1))
    poses[:, :3, 3] = places
    return waypoint_set("points", poses, speed_m_s=0.1, **others)


CORNER = ((0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.2, 0.1, 0.0))
"""At 0.1 m/s: 2 s and 1 s."""


def corner(solver: Slides | None = None, **options: Any) -> Player:
    return Player(TABLE, points(*CORNER), solver or Slides(), options=PlayOptions(**options))


def joints() -> Player:
    t_s = np.array([1.0, 2.0, 4.0])
    return Player(TABLE, JointSet(t_s, np.array([[0.0, 0, 0], [1, 0, 0], [1, 2, 0]]), ("x", "y", "z"), ("m",) * 3))


def in_state(make: Callable[[], Player], state: State) -> Player:
    player = make()
    if state is not STOPPED:
        player.play()
        player.step(0.5)
    if state is PAUSED:
        player.pause()
    if state is COMPLETED:
        player.step(99.0)
    assert player.state is state
    return player


# ---------------------------------------------------------------------------------------------------------- states

TRANSITIONS: list[tuple[str, Callable[[Player], Any], dict[State, State]]] = [
    ("play", lambda p: p.play(), dict.fromkeys(State, PLAYING)),
    ("pause", lambda p: p.pause(), {STOPPED: STOPPED, PLAYING: PAUSED, PAUSED: PAUSED, COMPLETED: COMPLETED}),
    ("stop", lambda p: p.stop(), dict.fromkeys(State, STOPPED)),
    ("seek", lambda p: p.seek(0.7), {STOPPED: PAUSED, PLAYING: PLAYING, PAUSED: PAUSED, COMPLETED: PAUSED}),
    ("step", lambda p: p.step(0.1), {STOPPED: STOPPED, PLAYING: PLAYING, PAUSED: PAUSED, COMPLETED: COMPLETED}),
    ("last step", lambda p: p.step(99.0), {STOPPED: STOPPED, PLAYING: COMPLETED, PAUSED: PAUSED, COMPLETED: COMPLETED}),
    ("load", lambda p: p.load(p.motion), dict.fromkeys(State, STOPPED)),
]


@pytest.mark.parametrize("make", [corner, joints])
@pytest.mark.parametrize("before", list(State))
@pytest.mark.parametrize(("name", "call", "after"), TRANSITIONS, ids=[row[0] for row in TRANSITIONS])
def test_the_table_of_states(
    make: Callable[[], Player], before: State, name: str, call: Callable[[Player], Any], after: dict[State, State]
) -> None:
    player = in_state(make, before)
    heard: list[tuple[State, State]] = []
    player.on_state(lambda old, new: heard.append((old, new)))
    call(player)
    assert player.state is after[before]
    assert heard == ([] if before is after[before] else [(before, after[before])])
    assert player.frame.state is player.state


@pytest.mark.parametrize("before", list(State))
def test_goto_drives_from_every_state_and_pauses_there(before: State) -> None:
    player = in_state(corner, before)
    player.goto(1)
    assert player.state is PLAYING
    player.step(99.0)
    assert player.state is PAUSED
    assert player.t_s == 2.0


def test_time_stands_still_unless_it_plays() -> None:
    for state in (STOPPED, PAUSED, COMPLETED):
        player = in_state(corner, state)
        before = player.t_s
        player.step(0.25)
        assert player.t_s == before


def test_completed_begins_again_and_paused_goes_on() -> None:
    player = in_state(corner, COMPLETED)
    assert player.t_s == player.duration_s == 3.0
    player.play()
    assert player.t_s == 0.0
    player.step(0.5)
    player.pause()
    player.play()
    assert player.t_s == 0.5


def test_stop_puts_the_joints_back() -> None:
    player = Player(TABLE, points(*CORNER), Slides(), q=(0.5, 0.5, 0.5))
    player.play()
    player.step(1.0)
    assert (player.frame.q != 0.5).any()
    player.stop()
    assert player.frame.q.tolist() == [0.5, 0.5, 0.5]
    assert player.t_s == 0.0


# ---------------------------------------------------------------------------------------------------------- joints


def test_joints_are_played_from_their_first_time_on() -> None:
    player = joints()
    assert (player.mode, player.duration_s) == ("joints", 3.0)
    assert player.waypoint_times_s.tolist() == [0.0, 1.0, 3.0]
    player.play()
    frame = player.step(0.5)
    assert frame.q.tolist() == [0.5, 0.0, 0.0]
    assert frame.reached[:3, 3].tolist() == [0.5, 0.0, 0.0]
    assert frame.target is None
    assert (frame.solver, frame.iterations, frame.position_error_m) == ("", 0, 0.0)
    assert player.step(1.5).q.tolist() == [1.0, 1.0, 0.0]
    assert player.step(5.0).q.tolist() == [1.0, 2.0, 0.0]
    player.seek(0.25)
    assert player.frame.q.tolist() == [0.25, 0.0, 0.0]
    with pytest.raises(FieldworthyError, match="seek to a time"):
        player.goto(1)


# ----------------------------------------------------------------------------------------------------------- poses


def test_the_target_goes_straight_at_the_speed_of_the_set() -> None:
    player = corner()
    player.play()
    for step in range(1, 31):
        frame = player.step(0.1)
        way = 0.01 * step
        assert frame.target is not None
        assert frame.target[:3, 3] == pytest.approx((min(way, 0.2), max(way - 0.2, 0.0), 0.0), abs=1e-15)
        assert frame.q == pytest.approx(frame.target[:3, 3], abs=1e-15)
        assert frame.index == (1 if player.t_s <= 2.0 else 2)
        assert (frame.solver, frame.position_error_m) == ("slides", pytest.approx(0.0, abs=1e-15))


def test_time_of_a_segment() -> None:
    """Way over speed, or turn over rate if that is longer, or the same for all; dwells come on top."""
    places = points(*CORNER, dwell_s=np.array([0.5, 0.0, 1.0]))
    places.speed_m_s[2] = math.nan
    player = Player(TABLE, places, Slides(), options=PlayOptions(feed_m_s=0.05))
    assert player.waypoint_times_s == pytest.approx((0.0, 2.5, 4.5))
    assert player.duration_s == pytest.approx(5.5)
    player = Player(TABLE, places, Slides(), options=PlayOptions(seconds_per_segment=0.25))
    assert player.waypoint_times_s == pytest.approx((0.0, 0.75, 1.0))
    turned = points((0.0, 0.0, 0.0), (0.1, 0.0, 0.0))
    turned.workpiece_from_tool[1, :3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    player = Player(TABLE, turned, Slides(), options=PlayOptions(turn_rad_s=0.5))
    assert player.duration_s == pytest.approx(math.pi)  # a quarter turn at 0.5 rad/s
    player.play()
    player.step(math.pi / 2)
    target = player.frame.target
    assert target is not None
    assert target[:3, 0] == pytest.approx((math.sqrt(0.5), math.sqrt(0.5), 0.0))
    assert player.frame.orientation_error_rad == pytest.approx(math.pi / 4)  # slides cannot turn


def test_a_dwell_stands_at_its_waypoint() -> None:
    player = Player(TABLE, points(*CORNER, dwell_s=np.array([0.0, 1.0, 0.0])), Slides())
    player.play()
    rows = ((0.0, 0.0, 0.0, 0), (1.9, 0.19, 0.0, 1), (2.5, 0.2, 0.0, 1), (3.0, 0.2, 0.0, 1), (3.5, 0.2, 0.05, 2))
    for t_s, x_m, y_m, index in rows:
        player.seek(t_s)
        frame = player.frame
        assert frame.target is not None
        assert frame.target[:3, 3] == pytest.approx((x_m, y_m, 0.0))
        assert frame.index == index


def test_an_arm_that_is_too_slow_lags_and_catches_up() -> None:
    """The target runs 2 m at 1 m/s, the slides at 0.5: 0.5 m behind after 1 s, and there 2 s after the end."""
    fast = points((0.0, 0.0, 0.0), (2.0, 0.0, 0.0))
    fast.speed_m_s[:] = 1.0
    player = Player(TABLE, fast, Slides())
    player.play()
    for _ in range(10):
        frame = player.step(0.1)
    assert frame.position_error_m == pytest.approx(0.5)
    assert frame.why == "too far for one frame"
    for _ in range(10):
        player.step(0.1)
    assert player.state is COMPLETED
    assert player.frame.position_error_m == pytest.approx(1.0)
    for _ in range(21):
        frame = player.step(0.1)
    assert frame.position_error_m < 1e-12
    assert (player.state, frame.why) == (COMPLETED, "")


def test_twice_the_speed_is_the_same_motion_in_half_the_steps() -> None:
    """Also for the arm's own limits: the solver is given the time that passes for the motion."""
    slow, fast, solver = corner(), corner(), Slides()
    fast.solver = solver
    fast.speed = 2.0
    slow.play()
    fast.play()
    for _ in range(8):
        slow.step(0.2)
        assert slow.step(0.2).q == pytest.approx(fast.step(0.2).q, abs=1e-15)
    assert solver.times_s[0] == pytest.approx(0.4)
    for factor in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(FieldworthyError, match="valid: a number > 0"):
            fast.speed = factor


def test_loop_begins_again_with_the_time_that_is_left() -> None:
    player = corner()
    player.loop = True
    player.play()
    player.step(2.9)
    player.step(0.3)
    assert player.state is PLAYING
    assert player.t_s == pytest.approx(0.2)
    player.loop = False
    player.step(99.0)
    assert player.state is COMPLETED


def test_a_single_waypoint_is_complete_at_once() -> None:
    player = Player(TABLE, points((0.1, 0.0, 0.0)), Slides())
    player.loop = True
    player.play()
    assert player.step(0.1).index == 0
    assert player.state is COMPLETED


def test_seek_is_clamped_and_the_arm_follows() -> None:
    solver = Slides()
    player = corner(solver)
    player.seek(99.0)
    assert (player.t_s, player.state) == (3.0, PAUSED)
    assert player.frame.q.tolist() == [0.0, 0.0, 0.0]
    for _ in range(5):
        player.step(0.1)
    assert player.frame.q == pytest.approx(CORNER[2])
    player.seek(-1.0)
    assert player.t_s == 0.0
    with pytest.raises(FieldworthyError, match="seek to nan"):
        player.seek(math.nan)


def test_goto_is_a_straight_way_from_where_the_tool_is() -> None:
    player = in_state(corner, COMPLETED)
    player.step(1.0)  # the arm has caught up
    assert player.frame.q == pytest.approx((0.2, 0.1, 0.0))
    player.goto(0)
    way = math.hypot(0.2, 0.1)
    for step in range(1, 5):
        frame = player.step(0.5)
        assert frame.target is not None
        done = min(0.05 * step / way, 1.0)
        assert frame.target[:3, 3] == pytest.approx((0.2 - 0.2 * done, 0.1 - 0.1 * done, 0.0), abs=1e-15)
        assert frame.index == 0
    player.step(0.5)
    assert player.state is PAUSED
    assert player.frame.q == pytest.approx((0.0, 0.0, 0.0), abs=1e-15)
    player.play()
    assert player.step(1.0).q == pytest.approx((0.1, 0.0, 0.0))
    for index in (-1, 3):
        with pytest.raises(FieldworthyError, match="valid: 0 to 2"):
            player.goto(index)


def test_a_drive_may_be_paused_and_left() -> None:
    player = corner()
    player.goto(2)
    player.step(0.5)
    player.pause()
    held = player.frame.q
    assert (player.step(1.0).q == held).all()
    player.play()
    player.step(99.0)
    assert (player.state, player.t_s) == (PAUSED, 3.0)
    player.goto(0)
    player.seek(2.5)
    frame = player.step(0.0)
    assert frame.target is not None
    assert frame.target[:3, 3] == pytest.approx((0.2, 0.05, 0.0))
    player.goto(0)
    player.stop()
    assert player.t_s == 0.0


def test_a_slow_arm_arrives_after_a_drive_that_was_paused() -> None:
    far = points((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    far.speed_m_s[:] = 10.0
    player = Player(TABLE, far, Slides())
    player.goto(1)
    player.step(0.01)
    player.pause()
    player.play()
    player.step(0.1)
    assert player.state is PAUSED
    assert player.frame.position_error_m > 0.9
    for _ in range(20):
        player.step(0.1)
    assert player.frame.q == pytest.approx((1.0, 0.0, 0.0))


def test_the_tool_of_the_set_is_put_on_the_arm() -> None:
    tool = np.eye(4)
    tool[2, 3] = 0.1
    player = Player(TABLE, points(*CORNER, flange_from_tool=tool), Slides())
    player.play()
    frame = player.step(1.0)
    assert frame.q == pytest.approx((0.1, 0.0, -0.1))
    assert frame.reached[:3, 3] == pytest.approx((0.1, 0.0, 0.0))


# ----------------------------------------------------------------------------------------------------- standing still


def test_the_solver_is_called_no_more_once_it_has_arrived() -> None:
    solver = Slides()
    player = corner(solver)
    player.play()
    for _ in range(6):
        player.step(0.5)
    assert player.state is COMPLETED
    calls, held = len(solver.times_s), player.frame.q
    for _ in range(10):
        frame = player.step(0.5)
    assert len(solver.times_s) == calls
    assert (frame.q == held).all()
    assert frame.iterations == 0


def test_a_solver_that_has_not_arrived_goes_on() -> None:
    """Slides of 0.5 m/s that are called 10 times a second and have 1 m to go: 20 calls, and then none."""
    solver = Slides()
    player = Player(TABLE, points((1.0, 0.0, 0.0)), solver)
    player.play()
    for _ in range(40):
        player.step(0.1)
    assert 20 <= len(solver.times_s) <= 21  # the last part of a step may be left by rounding
    assert player.frame.q == pytest.approx((1.0, 0.0, 0.0))


def test_a_dwell_stands_still_too() -> None:
    solver = Slides()
    player = Player(TABLE, points(*CORNER, dwell_s=np.array([0.0, 5.0, 0.0])), solver)
    player.play()
    player.step(1.0)
    player.step(1.0)
    calls = len(solver.times_s)
    for _ in range(4):
        player.step(1.0)
    assert len(solver.times_s) == calls
    player.step(1.5)
    assert len(solver.times_s) == calls + 1


def test_keep_solving_never_stops() -> None:
    solver = Slides()
    player = corner(solver, hold="keep_solving")
    player.play()
    for _ in range(20):
        player.step(0.5)
    assert player.state is COMPLETED
    assert len(solver.times_s) == 20


def test_pause_holds_the_joints_at_once() -> None:
    solver = Slides()
    player = Player(TABLE, points((1.0, 0.0, 0.0), (2.0, 0.0, 0.0)), solver)
    player.play()
    held = player.step(0.1).q
    player.pause()
    assert (player.step(1.0).q == held).all()
    assert len(solver.times_s) == 1


def test_another_solver_takes_over_the_joints_of_now() -> None:
    first, second = Slides("first"), Slides("second")
    player = corner(first)
    player.play()
    player.step(0.5)
    held = player.frame.q
    player.solver = second
    frame = player.step(0.5)
    assert (second.seeds[0] == held).all()
    assert (frame.solver, frame.iterations, len(first.times_s)) == ("second", 3, 1)
    assert player.state is PLAYING
    with pytest.raises(FieldworthyError, match="no such solver"):
        player.solver = "exakt"


# -------------------------------------------------------------------------------------------------------------- events


def test_listeners_hear_every_frame_and_change_until_they_leave() -> None:
    player = corner()
    first: list[Frame] = []
    second: list[Frame] = []
    changes: list[tuple[State, State]] = []
    leave = player.on_frame(first.append)
    player.on_frame(second.append)
    leave_states = player.on_state(lambda old, new: changes.append((old, new)))
    player.play()
    frame = player.step(0.1)
    assert first == [frame]
    leave()
    leave()
    player.step(0.1)
    player.stop()
    assert (len(first), len(second)) == (1, 3)
    assert changes == [(STOPPED, PLAYING), (PLAYING, STOPPED)]
    leave_states()
    player.play()
    assert len(changes) == 2


def test_a_frame_stays_as_it_was() -> None:
    player = corner()
    player.play()
    frame = player.step(0.1)
    kept = frame.q.copy()
    player.step(0.1)
    assert (frame.q == kept).all()
    frame.q[:] = 77.0
    assert (player.step(0.1).q < 1.0).all()


def test_a_listener_that_raises_harms_nobody() -> None:
    player = corner()
    heard: list[float] = []

    def harmful(frame: Frame) -> None:
        raise ValueError("harm")

    leave = player.on_frame(harmful)
    player.on_frame(lambda frame: heard.append(frame.t_s))
    player.play()
    with pytest.raises(ValueError, match="harm"):
        player.step(0.5)
    assert heard == [0.5]
    assert (player.t_s, player.state, player.frame.t_s) == (0.5, PLAYING, 0.5)
    second = player.on_frame(harmful)
    with pytest.raises(ExceptionGroup) as caught:
        player.step(0.5)
    assert len(caught.value.exceptions) == 2
    leave()
    second()
    player.step(0.5)
    assert heard == [0.5, 1.0, 1.5]


def test_a_listener_may_call_the_player_and_all_hear_it_in_order() -> None:
    player = corner()
    heard: list[str] = []
    player.on_state(lambda old, new: player.play() if new is COMPLETED else None)
    player.on_state(lambda old, new: heard.append(new.value))
    player.on_frame(lambda frame: heard.append(f"{frame.t_s:g}"))
    player.play()
    player.step(99.0)
    assert heard == ["Playing", "Completed", "3", "Playing"]
    assert (player.state, player.t_s) == (PLAYING, 0.0)


def test_a_listener_cannot_step() -> None:
    player = corner()
    player.on_frame(lambda frame: player.step(0.1))
    player.play()
    with pytest.raises(FieldworthyError, match="called by a listener"):
        player.step(0.5)
    assert player.t_s == 0.5


# ------------------------------------------------------------------------------------------------------- harm by others


class Broken(Slides):
    """Answers what is no posture, or raises."""

    def __init__(self, q: Any) -> None:
        super().__init__("broken")
        self.q = q

    def step(self, arm: Arm, base_from_tool: Array, q: Array, dt_s: float) -> Attempt:
        q[:] = 5.0  # its own copy
        if self.q is None:
            raise RuntimeError("lost")
        return Attempt(np.array(self.q), True, 0.0, 0.0, 1)


@pytest.mark.parametrize("answer", [[math.nan, 0.0, 0.0], [0.0, 0.0], None])
def test_a_broken_solver_leaves_the_player_as_it_was(answer: Any) -> None:
    player = in_state(corner, PLAYING)
    before = player.frame
    player.solver = Broken(answer)
    with pytest.raises(RuntimeError if answer is None else FieldworthyError, match=r"lost|broken: joints"):
        player.step(0.5)
    assert (player.t_s, player.state, player.frame) == (0.5, PLAYING, before)
    player.solver = Slides()
    assert player.step(0.5).q == pytest.approx((0.1, 0.0, 0.0))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(FieldworthyError, match="waypoints need a solver"):
        Player(TABLE, points(*CORNER))
    with pytest.raises(FieldworthyError, match="valid: the 3 of table"):
        Player(TABLE, JointSet(np.array([0.0]), np.array([[1.0]]), ("j1",)))
    with pytest.raises(FieldworthyError, match="q"):
        Player(TABLE, points(*CORNER), Slides(), q=(1.0, 2.0))
    with pytest.raises(FieldworthyError, match=r"valid: \(3,\)"):
        Player(TABLE, points(*CORNER), Slides(), q=np.zeros((2, 3)))
    for options in ({"feed_m_s": 0.0}, {"turn_rad_s": math.nan}, {"seconds_per_segment": -1.0}, {"hold": "stil"}):
        with pytest.raises(FieldworthyError, match="valid"):
            PlayOptions(**options)  # type: ignore[arg-type]
    for dt_s in (-0.1, math.nan, math.inf):
        with pytest.raises(FieldworthyError, match="step of"):
            corner().step(dt_s)


def test_another_motion_goes_on_from_the_joints_of_now() -> None:
    player = joints()
    player.play()
    player.step(1.0)
    with pytest.raises(FieldworthyError, match="need a solver"):
        player.load(points(*CORNER))
    assert (player.mode, player.state, player.t_s) == ("joints", PLAYING, 1.0)
    player.solver = Slides()
    player.load(points(*CORNER))
    assert (player.mode, player.state, player.t_s) == ("poses", STOPPED, 0.0)
    assert player.frame.q.tolist() == [1.0, 0.0, 0.0]


def test_the_sets_of_the_package_are_motions() -> None:
    assert isinstance(read_motion("arm-joints"), JointSet)
    for name in ("arm-plane", "arm-cylinder", "arm-frames"):
        assert isinstance(read_motion(name), WaypointSet)
