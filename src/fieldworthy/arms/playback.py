"""A player of motions: joints over time (forward kinematics) or waypoints followed by a solver (inverse kinematics).

State machine. A call that the table leaves open changes nothing:

    call       Stopped    Playing                      Paused    Completed
    play()     Playing    -                            Playing   Playing, from the start
    pause()    -          Paused                       -         -
    stop()     -          Stopped                      Stopped   Stopped
    seek(t)    Paused     -                            Paused    Paused
    goto(i)    Playing, from every state (poses only)
    step(dt)   -          Completed at the end, if     -         -
                          not `loop`; Paused after goto
    load(x)    Stopped, from every state

Time. `step(dt_s)` is one frame: `speed` times dt_s of the motion's own time pass, for the target and for the arm's
speed limits alike, so a faster look shows the same motion. `seek` and `stop` make a frame too.
Standing still. Once the target stands still and the last attempt reached it, the solver is called no more and the
joints hold (`hold="keep_solving"` goes on calling it: a solver that corrects place and rotation in turn is then seen to
tremble). `pause` holds the joints where they are at once, reached or not.
Listeners get every change of state and every frame, in the order in which they happened, also when a listener itself
calls the player (all but `step`). Before they are called the player has finished the step. When one raises, the others
are still called, then the exception goes on to the caller; the player stays usable. A player is for one thread.
Long because the states, the time and the listeners of one player are one promise.
Verified by: tests/contract/test_arm_playback.py
"""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.dataset import builtin_sets, read_waypoints
from fieldworthy.arms.interpolate import lerp_pose, pose_distance
from fieldworthy.arms.joint_csv import JointSet, read_joint_csv
from fieldworthy.arms.kinematics import fk
from fieldworthy.arms.posture import postures
from fieldworthy.arms.solver import Attempt, Solver, make_solver
from fieldworthy.arms.waypoints import WaypointSet
from fieldworthy.core.errors import FieldworthyError


class State(Enum):
    """What the player does."""

    STOPPED = "Stopped"
    PLAYING = "Playing"
    PAUSED = "Paused"
    COMPLETED = "Completed"


@dataclass(frozen=True)
class PlayOptions:
    """How waypoints are driven: the target goes straight from one to the next, also where the set says joint."""

    feed_m_s: float = 0.1
    """Speed of the target where the set names none."""
    turn_rad_s: float = 1.0
    """Most that the target turns a second; a segment takes the longer of the times for its way and its turn."""
    seconds_per_segment: float | None = None
    """Every segment takes this long, whatever its speed."""
    hold: Literal["still", "keep_solving"] = "still"

    def __post_init__(self) -> None:
        for name in ("feed_m_s", "turn_rad_s", "seconds_per_segment"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < math.inf:
                raise FieldworthyError(f"{name} {value}; valid: a number > 0")
        if self.hold not in ("still", "keep_solving"):
            raise FieldworthyError(f"hold '{self.hold}'; valid: still, keep_solving")


@dataclass(frozen=True, eq=False)
class Frame:
    """What a viewer needs of one instant."""

    t_s: float
    """Time of the motion from its start; on the way of a `goto` that of the waypoint it goes to."""
    q: Array
    """Joint positions, shape (dof,)."""
    target: Array | None
    """base_from_tool where the tool should be, (4, 4); None when joints are played."""
    reached: Array
    """base_from_tool where the tool is, (4, 4), by forward kinematics."""
    position_error_m: float
    """Between the two; 0 when joints are played."""
    orientation_error_rad: float
    solver: str
    """Its name; "" when joints are played."""
    iterations: int
    """That the solver took in this frame; 0 when it was not called."""
    why: str
    """The solver's reason for not reaching the target; "" where it did."""
    state: State
    index: int
    """Of the waypoint or sample that the motion heads for, or stands at."""


@dataclass(frozen=True)
class _Drive:
    """A straight way to a waypoint, outside of the set's own path."""

    index: int
    start: Array
    seconds: float


class Player:
    """Plays a JointSet or a WaypointSet on an arm.

    q: where the joints start, shape (dof,); the arm's zero posture, brought within limits, where it is left out. Of a
    JointSet its first sample. A set that names a tool puts it on the arm.
    solver: for waypoints; a name of `solver.SOLVERS` or anything with its `step`. It may be changed at any time: the
    joints stay.
    Raises: FieldworthyError for joints that do not fit the arm, waypoints without a solver, options that are none.
    """

    def __init__(
        self,
        arm: Arm,
        motion: JointSet | WaypointSet,
        solver: Solver | str | None = None,
        q: ArrayLike | None = None,
        options: PlayOptions | None = None,
    ) -> None:
        self.options = options or PlayOptions()
        self.loop = False
        """Whether the motion begins again at its end, at once: the target jumps, and an arm has to follow."""
        self._bare_arm = arm
        self._speed = 1.0
        self._solver: Solver | None = make_solver(solver) if isinstance(solver, str) else solver
        self._frame_listeners: dict[object, Callable[[Frame], Any]] = {}
        self._state_listeners: dict[object, Callable[[State, State], Any]] = {}
        self._events: deque[Callable[[], list[Callable[[], Any]]]] = deque()
        self._telling = False
        self._state = State.STOPPED
        self._arm: Arm
        self._motion: JointSet | WaypointSet
        self._targets: Array
        self._arrive_s: Array
        self._leave_s: Array
        self._start_q: Array
        self._q: Array
        self._frame: Frame
        self._drive: _Drive | None
        self._attempt: Attempt | None
        self._solved: Array | None
        """The target of that attempt."""
        self._take(motion, self._posture(q))

    # What may be asked.

    @property
    def arm(self) -> Arm:
        """The arm that moves, with the motion's tool if it names one."""
        return self._arm

    @property
    def motion(self) -> JointSet | WaypointSet:
        """What is played."""
        return self._motion

    @property
    def mode(self) -> Literal["joints", "poses"]:
        """joints: forward kinematics of a JointSet; poses: a solver follows a WaypointSet."""
        return "joints" if isinstance(self._motion, JointSet) else "poses"

    @property
    def state(self) -> State:
        """What the player does now."""
        return self._state

    @property
    def frame(self) -> Frame:
        """The newest frame."""
        return self._frame

    @property
    def t_s(self) -> float:
        """Time of the motion, 0 to `duration_s`."""
        return self._t_s

    @property
    def duration_s(self) -> float:
        """How long the motion takes at speed 1, dwells included."""
        return float(self._leave_s[-1])

    @property
    def waypoint_times_s(self) -> Array:
        """When the target arrives at each waypoint (or sample), shape (n,)."""
        return np.array(self._arrive_s)

    @property
    def speed(self) -> float:
        """How many seconds of the motion pass in a second of `step`."""
        return self._speed

    @speed.setter
    def speed(self, factor: float) -> None:
        if not 0.0 < factor < math.inf:
            raise FieldworthyError(f"speed {factor}; valid: a number > 0")
        self._speed = float(factor)

    @property
    def solver(self) -> Solver | None:
        """What follows the target; None where joints are played and none was given."""
        return self._solver

    @solver.setter
    def solver(self, solver: Solver | str) -> None:
        self._solver = make_solver(solver) if isinstance(solver, str) else solver

    def on_frame(self, listener: Callable[[Frame], Any]) -> Callable[[], None]:
        """Call `listener(frame)` for every frame; returns a function that ends it (harmless when called twice)."""
        key = object()
        self._frame_listeners[key] = listener
        return lambda: _forget(self._frame_listeners, key)

    def on_state(self, listener: Callable[[State, State], Any]) -> Callable[[], None]:
        """Call `listener(old, new)` for every change of state; returns a function that ends it."""
        key = object()
        self._state_listeners[key] = listener
        return lambda: _forget(self._state_listeners, key)

    # What may be done.

    def play(self) -> None:
        """Go on, or from the start when the motion is complete."""
        if self._state is State.COMPLETED:
            self._t_s = 0.0
        self._still = False
        self._become(State.PLAYING)
        self._tell()

    def pause(self) -> None:
        """Hold the joints where they are."""
        if self._state is State.PLAYING:
            self._still = True
            self._become(State.PAUSED)
            self._tell()

    def stop(self) -> None:
        """Back to the start at once, joints too."""
        self._rewind(self._start_q)
        self._become(State.STOPPED)
        self._show(self._q, None)
        self._tell()

    def seek(self, t_s: float) -> None:
        """Go to a time, which is clamped to the motion's; joints jump there, a solver's arm has to follow the target.

        Raises: FieldworthyError for a time that is not finite.
        """
        if not math.isfinite(t_s):
            raise FieldworthyError(f"seek to {t_s}; valid: 0 to {self.duration_s:g} s")
        self._t_s = min(max(float(t_s), 0.0), self.duration_s)
        self._drive, self._still = None, False
        if isinstance(self._motion, JointSet):
            self._q = self._motion.at(self._motion.t_s[0] + self._t_s)
        if self._state is not State.PLAYING:
            self._become(State.PAUSED)
        self._show(self._q, None)
        self._tell()

    def goto(self, index: int) -> None:
        """Drive straight from where the tool is to a waypoint, then pause there; `play` goes on from it.

        Raises: FieldworthyError for an index that is none, or when joints are played (use `seek`).
        """
        motion = self._motion
        if isinstance(motion, JointSet):
            raise FieldworthyError("goto: joints are played; valid: waypoints, or seek to a time")
        if not 0 <= index < len(motion):
            raise FieldworthyError(f"goto: waypoint {index}; valid: 0 to {len(motion) - 1}")
        start = self._frame.reached
        seconds = self._seconds(start, self._targets[index], float(motion.speed_m_s[index]))
        self._drive, self._driven_s, self._still = _Drive(index, start, seconds), 0.0, False
        self._t_s = float(self._arrive_s[index])
        self._become(State.PLAYING)
        self._tell()

    def load(self, motion: JointSet | WaypointSet, q: ArrayLike | None = None) -> None:
        """Play something else; waypoints start from the joints of now where q is left out."""
        self._take(motion, self._q if q is None else self._posture(q))
        self._become(State.STOPPED)
        self._show(self._q, None)
        self._tell()

    def step(self, dt_s: float) -> Frame:
        """One frame: dt_s seconds (0 or more) pass. Returns the frame, which listeners have got too.

        Raises: FieldworthyError for a time that is none, for a solver's answer that is none, and when a listener calls
        it. Whatever the solver raises goes on to the caller, and the player is as it was before the step.
        """
        if not 0.0 <= dt_s < math.inf:
            raise FieldworthyError(f"step of {dt_s} s; valid: a number >= 0")
        if self._telling:
            raise FieldworthyError("step: called by a listener of the player; valid: outside of them")
        passed = dt_s * self._speed
        t_s, driven_s, after = self._t_s, self._driven_s, self._state
        if self._state is State.PLAYING:
            if self._drive is not None:
                driven_s += passed
                after = State.PAUSED if driven_s >= self._drive.seconds else State.PLAYING
            else:
                t_s, after = self._later(passed)
        q, attempt = self._moved(t_s, driven_s, passed)
        # Nothing above changed the player, so whatever a solver raises leaves it as it was.
        self._t_s, self._driven_s = t_s, driven_s
        if self._drive is not None and after is State.PAUSED and self._state is State.PLAYING:
            self._drive = None
        self._q = q
        self._become(after)
        self._show(q, attempt)
        self._tell()
        return self._frame

    # How it works.

    def _posture(self, q: ArrayLike | None) -> Array | None:
        if q is None:
            return None
        start = postures(self._bare_arm, q)
        if start.ndim != 1:
            raise FieldworthyError(f"q: shape {start.shape}; valid: ({self._bare_arm.dof},)")
        return start

    def _take(self, motion: JointSet | WaypointSet, q: Array | None) -> None:
        """Everything that belongs to a motion; raises before anything has changed."""
        bare = self._bare_arm
        if isinstance(motion, JointSet):
            motion = motion.for_arm(bare)
            arm, q = bare, motion.q[0]
            arrive = leave = motion.t_s - motion.t_s[0]
            targets = np.zeros((0, 4, 4))
        else:
            if self._solver is None:
                raise FieldworthyError("waypoints need a solver; valid: Player(arm, waypoints, solver='exact')")
            arm = bare if motion.flange_from_tool is None else bare.with_tool(motion.flange_from_tool)
            q = np.clip(np.zeros(arm.dof), arm.lower, arm.upper) if q is None else q
            targets = motion.base_from_tool
            arrive, leave = self._schedule(motion, targets)
        self._arm, self._motion, self._targets = arm, motion, targets
        self._arrive_s, self._leave_s = arrive, leave
        self._start_q = np.array(q, float)
        self._rewind(self._start_q)
        self._show(self._q, None, tell=False)

    def _schedule(self, motion: WaypointSet, targets: Array) -> tuple[Array, Array]:
        """When the target arrives at each waypoint and when it leaves, shapes (n,) [s]."""
        arrive, leave = [0.0], [float(motion.dwell_s[0])]
        for index in range(1, len(motion)):
            seconds = self._seconds(targets[index - 1], targets[index], float(motion.speed_m_s[index]))
            arrive.append(leave[-1] + seconds)
            leave.append(arrive[-1] + float(motion.dwell_s[index]))
        return np.array(arrive), np.array(leave)

    def _seconds(self, start: Array, end: Array, speed_m_s: float) -> float:
        options = self.options
        if options.seconds_per_segment is not None:
            return options.seconds_per_segment
        apart, angle = pose_distance(start, end)
        return max(
            float(apart) / (options.feed_m_s if math.isnan(speed_m_s) else speed_m_s), float(angle) / options.turn_rad_s
        )

    def _rewind(self, q: Array) -> None:
        self._t_s, self._driven_s = 0.0, 0.0
        self._drive, self._attempt, self._solved = None, None, None
        self._q = q.copy()
        self._still = True

    def _later(self, passed_s: float) -> tuple[float, State]:
        """(time, state) after some time of playing."""
        t_s, end = self._t_s + passed_s, self.duration_s
        if t_s < end:
            return t_s, State.PLAYING
        if self.loop and end > 0.0:
            return t_s % end, State.PLAYING
        return end, State.COMPLETED

    def _moved(self, t_s: float, driven_s: float, passed_s: float) -> tuple[Array, Attempt | None]:
        """Joints after a step, and the solver's attempt where it was called."""
        if isinstance(self._motion, JointSet):
            moving = self._state is State.PLAYING
            return (self._motion.at(self._motion.t_s[0] + t_s) if moving else self._q), None
        keep = self.options.hold == "keep_solving"
        if self._state is State.STOPPED or (self._state is State.PAUSED and self._still):
            return self._q, None
        target = self._target(t_s, driven_s, self._drive)
        has_reached = self._attempt is not None and self._attempt.reached
        if has_reached and not keep and self._solved is not None and np.array_equal(target, self._solved):
            return self._q, None
        assert self._solver is not None
        attempt: Any = self._solver.step(self._arm, target, self._q.copy(), passed_s)
        if not isinstance(attempt, Attempt):
            what = f"step answered a {type(attempt).__name__}"
            raise FieldworthyError(f"solver {self._solver.name}: {what}; valid: an Attempt (arms/solver.py)")
        q = np.array(attempt.q, float)
        if q.shape != (self._arm.dof,) or not np.isfinite(q).all():
            raise FieldworthyError(f"solver {self._solver.name}: joints {q}; valid: {self._arm.dof} finite numbers")
        self._attempt, self._solved = attempt, target
        return q, attempt

    def _target(self, t_s: float, driven_s: float, drive: _Drive | None) -> Array:
        """base_from_tool where the tool should be, (4, 4)."""
        if drive is not None:
            share = min(driven_s / drive.seconds, 1.0) if drive.seconds > 0.0 else 1.0
            return lerp_pose(drive.start, self._targets[drive.index], share)
        index = self._index(t_s)
        before = float(self._leave_s[index - 1]) if index else 0.0
        if index == 0 or t_s >= self._arrive_s[index]:
            return np.array(self._targets[index])
        share = (t_s - before) / (float(self._arrive_s[index]) - before)
        return lerp_pose(self._targets[index - 1], self._targets[index], max(share, 0.0))

    def _index(self, t_s: float) -> int:
        """Of the waypoint that the target heads for or stands at."""
        return min(int(np.searchsorted(self._leave_s, t_s, side="left")), len(self._leave_s) - 1)

    def _become(self, state: State) -> None:
        old, self._state = self._state, state
        if old is not state:
            self._frame = dataclasses.replace(self._frame, state=state)
            self._events.append(lambda: [_bound(f, old, state) for f in self._state_listeners.values()])

    def _show(self, q: Array, attempt: Attempt | None, tell: bool = True) -> None:
        """Make the frame of now."""
        reached = fk(self._arm, q)
        target, apart, angle, name = None, 0.0, 0.0, ""
        index = self._index(self._t_s)
        if isinstance(self._motion, WaypointSet):
            target = self._target(self._t_s, self._driven_s, self._drive)
            apart, angle = (float(error) for error in pose_distance(reached, target))
            name = "" if self._solver is None else self._solver.name
            index = index if self._drive is None else self._drive.index
        iterations = 0 if attempt is None else attempt.iterations
        why = "" if self._attempt is None or self._attempt.reached else self._attempt.why
        frame = Frame(self._t_s, q.copy(), target, reached, apart, angle, name, iterations, why, self._state, index)
        self._frame = frame
        if tell:
            self._events.append(lambda: [_bound(f, frame) for f in self._frame_listeners.values()])

    def _tell(self) -> None:
        """Call the listeners of all events, in order; those of calls that listeners make come after."""
        if self._telling:
            return
        self._telling = True
        raised: list[Exception] = []
        try:
            while self._events:
                for call in self._events.popleft()():
                    try:
                        call()
                    except Exception as error:
                        raised.append(error)
        finally:
            self._telling = False
            self._events.clear()
        if len(raised) == 1:
            raise raised[0]
        if raised:
            raise ExceptionGroup("listeners of the player", raised)


def _bound(listener: Callable[..., Any], *values: Any) -> Callable[[], Any]:
    return lambda: listener(*values)


def _forget(listeners: dict[object, Any], key: object) -> None:
    listeners.pop(key, None)


def read_motion(path_or_name: str | Path) -> JointSet | WaypointSet:
    """A waypoint file (.json) or joints (.csv), or a built-in set of either kind by its name.

    Raises: ScenarioError with everything that is wrong in the file.
    """
    is_csv = str(path_or_name).lower().endswith((".csv", ".txt")) or path_or_name in builtin_sets(".csv")
    return read_joint_csv(path_or_name) if is_csv else read_waypoints(path_or_name)
