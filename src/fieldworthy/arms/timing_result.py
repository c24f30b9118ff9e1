"""A timed joint path: what the retiming gives back, and everything between the waypoints.

Verified by: tests/verification/test_arm_timing.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fieldworthy.arms.chain import Array
from fieldworthy.arms.spline import Indices, Spline
from fieldworthy.core.errors import FieldworthyError


@dataclass(frozen=True)
class Slowed:
    """A segment in which the tool is slower than programmed, and what holds it back."""

    segment: int
    """Between waypoints segment and segment + 1."""
    asked_m_s: float
    reached_m_s: float
    """Mean over the segment, without time at rest."""
    joint: int
    limit: Literal["speed", "acceleration"]


@dataclass(frozen=True, eq=False)
class Track:
    """The pace in N intervals of constant d2s/dt2."""

    spline: Spline
    segment: Indices
    start: Array
    """Path parameter within the segment where the interval starts."""
    ds: Array
    rate: Array
    """ds/dt where the interval starts."""
    push: Array
    """d2s/dt2."""
    t_s: Array
    """(N+1,)"""


@dataclass(frozen=True, eq=False)
class Timing:
    """Times of n waypoints of dof joints, and everything between them. SI: s, rad or m, and their rates."""

    q: Array
    t_s: Array
    """(n,), from 0, strictly increasing. At a waypoint with a dwell: the arrival."""
    velocity: Array
    """At the waypoints, (n, dof)."""
    acceleration: Array
    """At the waypoints, (n, dof): just after them, at the last one just before. It jumps where the limit changes."""
    speed_ratio: Array
    """Largest speed of each joint over its limit, (dof,); 0 where there is no limit."""
    acceleration_ratio: Array
    """Largest acceleration of each joint over its limit, (dof,); 0 where there is no limit."""
    stretch: float
    """By how much all times were stretched to keep the limits despite rounding: 1 in all but extreme inputs."""
    chord_deviation: Array
    """How far each joint leaves the straight chord between neighbouring waypoints, (n-1, dof)."""
    asked_feed_m_s: Array
    """(n-1,), infinite where none was asked."""
    reached_feed_m_s: Array | None
    """Mean tool speed in each segment without time at rest, (n-1,); None without tool lengths."""
    bound_joint: Indices
    """The joint that comes nearest to a limit in each segment, (n-1,); -1 where the feed decides or the arm rests."""
    bound_by: NDArray[np.str_]
    """"speed", "acceleration", "feed" or "rest", (n-1,)."""
    track: Track | None
    """The curve and its pace, for `sample`; None for a single waypoint."""

    @property
    def duration_s(self) -> float:
        """Time of the last waypoint."""
        return float(self.t_s[-1])

    @property
    def slowed(self) -> tuple[Slowed, ...]:
        """The segments in which a joint keeps the tool below its feed, in order."""
        if self.reached_feed_m_s is None:
            return ()
        held = np.isfinite(self.asked_feed_m_s) & (self.bound_joint >= 0) & (self.reached_feed_m_s > 0.0)
        return tuple(
            Slowed(
                int(i),
                float(self.asked_feed_m_s[i]),
                float(self.reached_feed_m_s[i]),
                int(self.bound_joint[i]),
                "speed" if self.bound_by[i] == "speed" else "acceleration",
            )
            for i in np.flatnonzero(held)
        )

    def sample(self, t_s: ArrayLike) -> tuple[Array, Array, Array]:
        """Position, speed and acceleration at times (k,) or a single one: each (k, dof) or (dof,).

        Before the start and after the end the arm rests there.
        Raises: FieldworthyError for a time that is not a number.
        """
        times = np.asarray(t_s, float)
        t = np.atleast_1d(times)
        if np.isnan(t).any():
            raise FieldworthyError("timing: a time to sample at is not a number; valid: seconds")
        track = self.track
        if track is None:
            q = np.broadcast_to(self.q[0], (len(t), self.q.shape[1])).copy()
            speed, acceleration = np.zeros_like(q), np.zeros_like(q)
        else:
            i = np.clip(np.searchsorted(track.t_s, t, side="right") - 1, 0, len(track.ds) - 1)
            tau = np.clip(t, 0.0, self.duration_s) - track.t_s[i]
            s = track.start[i] + np.clip(tau * (track.rate[i] + 0.5 * tau * track.push[i]), 0.0, track.ds[i])
            q, slope, bend = track.spline.at(track.segment[i], s)
            rate = np.maximum(track.rate[i] + tau * track.push[i], 0.0)[:, None]
            speed, acceleration = slope * rate, slope * track.push[i][:, None] + bend * rate**2
            outside = (t < 0.0) | (t > self.duration_s)
            speed[outside] = acceleration[outside] = 0.0
        return (q, speed, acceleration) if times.ndim else (q[0], speed[0], acceleration[0])

    def peak_jerk(self, period_s: float = 0.008) -> Array:
        """Largest change of each joint's acceleration from one period to the next, by the period, (dof,).

        The jerk of a time-optimal motion has no bound; this is what a controller with that period sees of it.
        """
        if not period_s > 0.0:
            raise FieldworthyError(f"timing: period_s is {period_s}; valid: > 0")
        count = int(np.ceil(self.duration_s / period_s)) + 2
        _, _, acceleration = self.sample((np.arange(count) - 0.5) * period_s)
        return np.asarray(np.abs(np.diff(acceleration, axis=0)).max(axis=0) / period_s)


def resample(timing: Timing, rate_hz: float) -> tuple[Array, Array, Array, Array]:
    """Times (k,), positions, speeds and accelerations (k, dof) at a controller's rate, from 0 to the end point.

    The end is always the last row, so the last step may be shorter than the others.
    Raises: FieldworthyError for a rate that is not positive.
    """
    if not 0.0 < rate_hz < np.inf:
        raise FieldworthyError(f"timing: rate_hz is {rate_hz}; valid: > 0")
    end = timing.duration_s
    t = np.arange(int(np.floor(end * rate_hz)) + 1) / rate_hz
    if end - t[-1] <= 1e-6 / rate_hz and len(t) > 1:
        t[-1] = end
    elif end > t[-1]:
        t = np.append(t, end)
    return (t, *timing.sample(t))
