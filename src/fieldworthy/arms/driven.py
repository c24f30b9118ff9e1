"""A timed motion as it is driven, between its points too: how far the tool leaves its lines, limits, clearance.

A motion goes through its points on a smooth curve. At the points it is exact; between them the tool is somewhere near
the straight line, and nobody knows how near without looking.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.collision import clearance, clearance_between
from fieldworthy.arms.kinematics import fk
from fieldworthy.arms.path_options import LINE_M, LINE_RAD, PathOptions
from fieldworthy.arms.path_words import Label
from fieldworthy.arms.timing import Timing

_SHARES = np.array([0.2, 0.4, 0.6, 0.8])
"""Where each segment is looked at, as shares of its time."""


@dataclass(frozen=True)
class Driven:
    """Measured on the driven curve, a row a segment between neighbouring points."""

    line_error_m: Array
    """(n - 1,) how far the tool leaves the straight line between the two points; 0 for joint moves."""
    line_error_rad: Array
    """(n - 1,) how far its rotation leaves the straight turn."""
    outside_rad: Array
    """(n - 1,) how far a joint is outside its limits between two points that are within."""
    clearance_m: Array | None
    """(n - 1,) least clearance, at the ends and between; joint moves all along; None where the arm has no shapes."""
    nearest: tuple[tuple[str, str], ...]
    """(n - 1,) what is nearest there."""

    @property
    def least_clearance_m(self) -> float | None:
        """Of the whole motion; None where there is no pair of shapes to try, or the arm stands at its only point."""
        if self.clearance_m is None or not len(self.clearance_m):
            return None
        least = float(self.clearance_m.min())
        return least if math.isfinite(least) else None


def _samples(timing: Timing) -> Array:
    """(n - 1, 4, dof) postures between the points. A dwell at a point is left out: nothing moves in it."""
    leave = timing.t_s[:-1]
    if timing.track is not None:
        moving = np.diff(timing.track.t_s) > 0.0
        rate_starts = timing.track.t_s[:-1][moving & (timing.track.ds > 0.0)]
        segments = timing.track.segment[moving & (timing.track.ds > 0.0)]
        first = np.full(len(leave), np.nan)
        first[segments[::-1]] = rate_starts[::-1]
        leave = np.where(np.isnan(first), leave, np.fmax(leave, first))
    times = leave[:, None] + _SHARES * (timing.t_s[1:] - leave)[:, None]
    return timing.sample(times.ravel())[0].reshape(len(leave), len(_SHARES), -1)


def _off_segment(points: Array, end: Array) -> Array:
    """(n,) largest distance of points (n, k, 3) from segments that go from the origin to `end` (n, 3)."""
    long = np.maximum((end * end).sum(axis=1), 1e-300)
    share = np.clip((points * end[:, None]).sum(axis=2) / long[:, None], 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - share[:, :, None] * end[:, None], axis=2).max(axis=1))


def _turn_vectors(turns: Array) -> Array:
    """(..., 3) vee of the antisymmetric part: the rotation vector to third order, and all that small turns need."""
    return 0.5 * np.stack(
        [
            turns[..., 2, 1] - turns[..., 1, 2],
            turns[..., 0, 2] - turns[..., 2, 0],
            turns[..., 1, 0] - turns[..., 0, 1],
        ],
        axis=-1,
    )


def _departures(arm: Arm, timing: Timing, between: Array, joint_moves: Sequence[int]) -> tuple[Array, Array, Array]:
    """(line errors [m], line errors [rad], outside limits [rad or m]) of each segment."""
    count = len(between)
    ends = fk(arm, timing.q)
    seen = fk(arm, between.reshape(-1, between.shape[2])).reshape(count, -1, 4, 4)
    first = ends[:-1]
    off = _off_segment(seen[:, :, :3, 3] - first[:, None, :3, 3], ends[1:, :3, 3] - first[:, :3, 3])
    back = np.swapaxes(first[:, :3, :3], 1, 2)
    turn = _off_segment(_turn_vectors(back[:, None] @ seen[:, :, :3, :3]), _turn_vectors(back @ ends[1:, :3, :3]))
    outside = np.maximum(arm.lower - between, between - arm.upper).max(axis=(1, 2))
    rows = np.array(list(joint_moves), int) - 1
    off[rows] = turn[rows] = 0.0
    return off, turn, np.maximum(outside, 0.0)


def too_wide(arm: Arm, timing: Timing, joint_moves: Sequence[int]) -> Any:
    """Segments in which the curve leaves its line, or a joint its limits."""
    off, turn, outside = _departures(arm, timing, _samples(timing), joint_moves)
    return np.nonzero((off > LINE_M) | (turn > LINE_RAD) | (outside > 1e-6))[0]


def driven(arm: Arm, timing: Timing, joint_moves: Sequence[int], options: PathOptions) -> Driven:
    """Measure the driven motion; joint moves are looked at all along (`clearance_between`)."""
    if len(timing.q) < 2:
        return Driven(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0) if arm.capsules else None, ())
    between = _samples(timing)
    off, turn, outside = _departures(arm, timing, between, joint_moves)
    if not arm.capsules:
        return Driven(off, turn, outside, None, (("", ""),) * len(off))
    count = len(between)
    whole = np.concatenate([timing.q[:-1, None], between, timing.q[1:, None]], axis=1)
    found = clearance(arm, whole.reshape(-1, whole.shape[2]), options.obstacles, options.margin_m)
    distance = found.distance_m.reshape(count, -1)
    at = distance.argmin(axis=1)
    least = distance[np.arange(count), at]
    names = found.pairs
    pairs = [names[k * whole.shape[1] + int(j)] for k, j in enumerate(at)]
    for row in joint_moves:
        swept_one = clearance_between(
            arm, timing.q[row - 1], timing.q[row], options.obstacles, options.margin_m, horizon_m=options.margin_m + 0.1
        )
        if swept_one.at.distance_m[0] < least[row - 1]:
            least[row - 1], pairs[row - 1] = swept_one.at.distance_m[0], swept_one.at.pairs[0]
    return Driven(off, turn, outside, least, tuple(pairs))


def swept(found: Driven, joint_moves: Sequence[int], label: Label, margin_m: float) -> Iterator[tuple[str, int]]:
    """(sentence, waypoint) of segments that go through something, and of joint moves that come too near to it."""
    if found.clearance_m is None:
        return
    moves = set(joint_moves)
    for row in (np.nonzero(found.clearance_m < margin_m)[0] + 1).tolist():
        distance, pair = found.clearance_m[row - 1], " and ".join(found.nearest[row - 1])
        if row in moves:
            what = f"the joint move from {label(row - 1)} to {label(row)}"
            yield f"{what} comes within {distance * 1e3:.1f} mm ({pair}): put a waypoint in between", row
        elif distance <= 0.0:
            yield f"between {label(row - 1)} and {label(row)} the arm goes through something ({pair})", row


def departures(found: Driven, label: Label) -> list[str]:
    """Sentences on what is left of departures from lines and limits."""
    notes = []
    wide = np.nonzero((found.line_error_m > LINE_M) | (found.line_error_rad > LINE_RAD))[0]
    if len(wide):
        worst = int(wide[found.line_error_m[wide].argmax()])
        notes.append(
            f"the tool leaves its line in {len(wide)} segments, most after {label(worst)}: by "
            f"{found.line_error_m[worst] * 1e3:.2g} mm and {math.degrees(found.line_error_rad[worst]):.2g} deg"
        )
    if len(found.outside_rad) and found.outside_rad.max() > 1e-6:
        worst = int(found.outside_rad.argmax())
        over = math.degrees(found.outside_rad[worst])
        notes.append(f"after {label(worst)} a joint goes {over:.2g} deg beyond its limit between two points")
    return notes
