"""What a flight was like: one number a trial, worked out from its track and nothing else.

Frames: north, east and up [m]; arrays of one trial are (samples,), at every command and where it came to rest.
Every number is as fine as the samples: what happens between two commands is not seen, but for `margin_least`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.trials.metric import METRICS

Array = NDArray[np.float64]
Track = Mapping[str, Array]
"""One trial by the names of the run folder."""

BAND = 0.05
"""Share of a leg within which a vehicle has settled, where its radius is not larger."""


CRASHES = ("", "impact", "tip-over", "belly-landing")
"""Words for the crashes of `world.flight_state.CRASHES`, in its order."""

OBSTACLE = "obstacle"


_POSE = ("north_m", "east_m", "up_m", "roll_rad", "pitch_rad", "heading_rad")
_READ = (*_POSE, *(f"believed_{name}" for name in _POSE), "north_m_s", "east_m_s", "up_m_s", "target", "energy_j",
         "margin_least", "charge", "voltage_v", "load_north_m", "load_east_m", "load_up_m")  # fmt: skip
"""Tracks that the numbers are made from."""


@dataclass(frozen=True)
class Place:
    """A waypoint or the goal."""

    north_m: float
    east_m: float
    up_m: float
    radius_m: float
    hold_s: float
    """0: to touch its radius is enough."""


def flight_metrics(
    t_s: Array, length: NDArray[Any], tracks: Mapping[str, NDArray[Any]], places: Sequence[Place]
) -> dict[str, Array]:
    """Numbers by the names of METRICS, each (trials,); NaN where a trial has none.

    t_s: (samples,).      length: samples of each trial that are its own.      tracks: (trials, samples).
    places: the waypoints in order, the goal last.
    Verified by: tests/cases/test_flight_metrics.py
    """
    rows = []
    for row, count in enumerate(np.asarray(length).tolist()):
        own = {name: np.asarray(tracks[name][row, :count], np.float64) for name in _READ if name in tracks}
        rows.append(trial_metrics(np.asarray(t_s[:count], np.float64), own, places))
    return {name: np.array([row[name] for row in rows]) for name in METRICS if rows and name in rows[0]}


def trial_metrics(t_s: Array, track: Track, places: Sequence[Place]) -> dict[str, float]:
    """The numbers of one trial; those of a battery, a filter or a load only where there is one."""
    error = tracking_error_m(track, places)
    legs = [leg for number in range(len(places)) if (leg := _leg(t_s, track, places, number)) is not None]
    found = {
        "tracking_rms_m": _rms(error),
        "tracking_max_m": _greatest(error),
        "overshoot_m": max((over for over, _, _ in legs), default=np.nan),
        "overshoot_percent": max((100.0 * over / span for over, span, _ in legs), default=np.nan),
        # One leg that never settles leaves the trial without a settling time.
        "settling_s": float(np.max([settled for _, _, settled in legs])) if legs else np.nan,
        "energy_wh": _last(track["energy_j"]) / 3600.0,
        "margin_least": _last(track["margin_least"]),
        "tilt_max_deg": _greatest(tilt_deg(track)),
        "speed_max_m_s": _greatest(speed_m_s(track)),
    }
    if "charge" in track:
        found["charge_least"] = _least(track["charge"])
        # Nothing has been drawn, and no voltage worked out, at the first sample.
        found["voltage_least_v"] = _least(track["voltage_v"][1:])
    if "believed_north_m" in track:
        found["estimate_position_rms_m"] = _rms(position_error_m(track))
        found["estimate_tilt_rms_deg"] = _rms(tilt_error_deg(track))
        found["estimate_heading_rms_deg"] = _rms(heading_error_deg(track))
    if "load_north_m" in track:
        found["swing_max_deg"] = _greatest(swing_deg(track))
    return found


def tracking_error_m(track: Track, places: Sequence[Place]) -> Array:
    """Distance from where the vehicle is to be, at each sample.

    That is the leg, a straight line from the place before (at first: where the trial began) to the target, or the leg
    before it where that is nearer: who turns at a waypoint within its radius is not off course. Where the target is to
    be held it is the target itself once the approach has ended: within its radius, the distance to it does not fall
    for the first time.
    """
    at = _positions(track)
    points = np.array([_start(track), *((p.north_m, p.east_m, p.up_m) for p in places)])
    target = _targets(track, len(places))
    leg = _distance_m(at, points[target], points[target + 1])
    before = _distance_m(at, points[np.maximum(target, 1) - 1], points[np.maximum(target, 1)])
    error = np.minimum(leg, np.where(target > 0, before, np.inf))
    from_target = np.linalg.norm(at - points[target + 1], axis=1)
    for number, place in enumerate(places):
        ended = (from_target <= place.radius_m) & (np.diff(from_target, append=-np.inf) >= 0.0)
        there = np.flatnonzero((target == number) & ended)
        if place.hold_s > 0.0 and len(there):
            held = (target == number) & (np.arange(len(target)) >= there[0])
            error = np.where(held, from_target, error)
    return error


def _distance_m(at: Array, since: Array, to: Array) -> Array:
    """Distance of points from straight lines with two ends; all (samples, 3)."""
    leg = to - since
    square = np.sum(leg * leg, axis=1)
    along = np.divide(np.sum((at - since) * leg, axis=1), square, out=np.ones_like(square), where=square > 1e-12)
    distance: Array = np.linalg.norm(at - since - np.clip(along, 0.0, 1.0)[:, None] * leg, axis=1)
    return distance


def _leg(t_s: Array, track: Track, places: Sequence[Place], number: int) -> tuple[float, float, float] | None:
    """(overshoot [m], length [m], settling time [s]) of the way to a target; None where the target is not to be held,
    was not headed for, or lies within its own radius of the place before."""
    place = places[number]
    headed = np.flatnonzero(_targets(track, len(places)) == number)
    if place.hold_s <= 0.0 or not len(headed):
        return None
    to = np.array((place.north_m, place.east_m, place.up_m))
    before = places[number - 1]
    since = np.array((before.north_m, before.east_m, before.up_m)) if number else _start(track)
    span = float(np.linalg.norm(to - since))
    if span <= place.radius_m:
        return None
    beyond = _positions(track)[headed] - to
    over = max(0.0, _greatest(beyond @ (to - since) / span))
    inside = np.linalg.norm(beyond, axis=1) <= max(place.radius_m, BAND * span)
    outside = np.flatnonzero(~inside)
    if not len(outside):
        return over, span, 0.0
    last = int(outside[-1])
    settled = t_s[headed[last + 1]] - t_s[headed[0]] if last + 1 < len(headed) else np.nan
    return over, span, float(settled)


def tilt_deg(track: Track) -> Array:
    """Angle between the body's down axis and the vertical; for yaw, pitch, roll its cosine is cos(pitch) cos(roll)."""
    tilt: Array = np.degrees(np.arccos(np.clip(np.cos(track["pitch_rad"]) * np.cos(track["roll_rad"]), -1.0, 1.0)))
    return tilt


def speed_m_s(track: Track) -> Array:
    """Speed over ground in three dimensions."""
    speed: Array = np.sqrt(track["north_m_s"] ** 2 + track["east_m_s"] ** 2 + track["up_m_s"] ** 2)
    return speed


def position_error_m(track: Track) -> Array:
    """Distance between the believed position and the true one."""
    return np.asarray(
        np.sqrt(sum((track[f"believed_{name}"] - track[name]) ** 2 for name in ("north_m", "east_m", "up_m")))
    )


def tilt_error_deg(track: Track) -> Array:
    """Angle between the believed vertical and the true one, as the body sees them.

    Equation: 2 atan2(sqrt(x^2 + y^2), sqrt(w^2 + z^2)) of the turn q = believed * true^-1 in the world's axes, its
        swing.
    """
    w, x, y, z = _estimate_turn(track)
    tilt: Array = np.degrees(2.0 * np.arctan2(np.hypot(x, y), np.hypot(w, z)))
    return tilt


def heading_error_deg(track: Track) -> Array:
    """Size of the turn about the vertical between the believed attitude and the true one, 0 to 180.

    Equation: 2 atan2(|z|, |w|) of the turn q = believed * true^-1 in the world's axes: its twist. It is the difference
        of the headings where roll and pitch are right, and unlike that difference it is defined with the nose up too.
    """
    w, _, _, z = _estimate_turn(track)
    heading: Array = np.degrees(2.0 * np.arctan2(np.abs(z), np.abs(w)))
    return heading


def _estimate_turn(track: Track) -> tuple[Array, Array, Array, Array]:
    """w, x, y, z of the turn that takes the true attitude to the believed one, in the world's axes."""
    angles = ("roll_rad", "pitch_rad", "heading_rad")
    w, x, y, z = _quaternions(*(track[name] for name in angles)).T
    a, b, c, d = _quaternions(*(track[f"believed_{name}"] for name in angles)).T
    return (
        a * w + b * x + c * y + d * z,
        b * w - a * x - c * z + d * y,
        c * w - a * y - d * x + b * z,
        d * w - a * z - b * y + c * x,
    )


def swing_deg(track: Track) -> Array:
    """Angle at the vehicle between straight down and the way to its load."""
    side = np.hypot(track["load_north_m"] - track["north_m"], track["load_east_m"] - track["east_m"])
    swing: Array = np.degrees(np.arctan2(side, track["up_m"] - track["load_up_m"]))
    return swing


def crash_words(
    outcome: NDArray[np.str_], length: NDArray[Any], tracks: Mapping[str, NDArray[Any]]
) -> NDArray[np.str_]:
    """What each trial crashed by, in a word: one of CRASHES, or OBSTACLE; empty where it did not."""
    words = []
    for row, (end, count) in enumerate(zip(outcome.tolist(), np.asarray(length).tolist(), strict=True)):
        code = float(tracks["crash"][row, count - 1]) if count else 0.0
        word = CRASHES[int(code)] if np.isfinite(code) else ""
        words.append((word or OBSTACLE) if end == "collision" else "")
    return np.array(words, dtype=np.str_)


def _positions(track: Track) -> Array:
    return np.stack([track[name] for name in ("north_m", "east_m", "up_m")], axis=1)


def _start(track: Track) -> Array:
    return np.array([track[name][0] for name in ("north_m", "east_m", "up_m")])


def _targets(track: Track, count: int) -> NDArray[np.int64]:
    """The target headed for at each sample; the goal also where it has just been reached."""
    return np.clip(np.nan_to_num(track["target"]).astype(np.int64), 0, count - 1)


def _quaternions(roll: Array, pitch: Array, heading: Array) -> Array:
    """w, x, y, z of yaw, then pitch, then roll; (samples, 4)."""
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(0.5 * a), np.sin(0.5 * a)) for a in (roll, pitch, heading))
    w, x = cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy
    y, z = cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy
    return np.stack([w, x, y, z], axis=1)


def _finite(values: Array) -> Array:
    return values[np.isfinite(values)]


def _rms(values: Array) -> float:
    kept = _finite(values)
    return float(np.sqrt(np.mean(kept * kept))) if len(kept) else float("nan")


def _greatest(values: Array) -> float:
    kept = _finite(values)
    return float(kept.max()) if len(kept) else float("nan")


def _least(values: Array) -> float:
    kept = _finite(values)
    return float(kept.min()) if len(kept) else float("nan")


def _last(values: Array) -> float:
    kept = _finite(values)
    return float(kept[-1]) if len(kept) else float("nan")
