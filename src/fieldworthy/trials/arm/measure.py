"""The figures of a played task: errors at waypoints, joint rates against limits, singularities, clearance,
smoothness."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.collision import clearance
from fieldworthy.arms.joint_csv import JointSet
from fieldworthy.arms.kinematics import manipulability
from fieldworthy.arms.singularity import Singularities, singularities
from fieldworthy.arms.waypoints import WaypointSet
from fieldworthy.scenario.arm_task import ArmScene
from fieldworthy.trials.arm.play import Played

REACHED_M = 1e-3
REACHED_RAD = math.radians(0.1)
"""A waypoint counts as reached within a millimetre and a tenth of a degree."""


@dataclass(frozen=True)
class Measured:
    """Figures of one play, by frame (m,), by waypoint (n,), and in all."""

    played: Played
    speed_ratio: Array
    """(m, dof) joint speed since the frame before over its limit; 0 where no limit is known."""
    acceleration_ratio: Array
    """(m, dof), by differences of three frames, or of the samples where joint positions are played (the straight lines
    between them have corners, whose acceleration would be a matter of the frame rate); 0 where no limit is known."""
    manipulability: Array
    """(m,) Yoshikawa's measure."""
    singular: Singularities
    clearance_m: Array | None
    """(m,) None where the arm has no shapes."""
    nearest: tuple[tuple[str, str], ...]
    """(m,) names of the nearest pair."""
    waypoint: dict[str, Array]
    """Per waypoint: position_error_m, orientation_error_rad, iterations, solve_us, speed_ratio, acceleration_ratio,
    wrist, clearance_m; iterations to clearance over the frames since the waypoint before."""
    summary: dict[str, Any]


def measure(scene: ArmScene, played: Played) -> Measured:
    """All figures of a play."""
    arm, dt = scene.arm, played.dt_s
    q = played.q
    step = np.diff(q, axis=0) / dt
    # Frame by frame, not over two frames: a joint that goes to and fro every frame would seem to stand.
    speed = np.zeros_like(q)
    speed[1:] = np.abs(step)
    acceleration = np.zeros_like(q)
    acceleration[1:-1] = np.abs(np.diff(step, axis=0)) / dt
    speed_ratio, acceleration_ratio = speed / arm.speed, acceleration / arm.acceleration
    peaks = (peak(speed_ratio, arm.speed), peak(acceleration_ratio, arm.acceleration))
    if isinstance(scene.motion, JointSet):
        rates, changes = sample_rates(scene.motion.for_arm(arm))
        peaks = (peak(rates / arm.speed, arm.speed), peak(changes / arm.acceleration, arm.acceleration))
        acceleration_ratio = _at_frames(scene.motion, changes / arm.acceleration, played)
    space = clearance(arm, q, scene.obstacles) if arm.capsules else None
    distance = None if space is None else space.distance_m
    singular = singularities(arm, q)
    by_waypoint = _by_waypoint(played, speed_ratio, acceleration_ratio, singular, distance)
    figures = Measured(
        played, speed_ratio, acceleration_ratio, manipulability(arm, q), singular, distance,
        () if space is None else space.pairs, by_waypoint, {},
    )  # fmt: skip
    figures.summary.update(_summary(scene, figures))
    figures.summary.update({"peak_speed_ratio": peaks[0], "peak_acceleration_ratio": peaks[1]})
    return figures


def _by_waypoint(
    played: Played, speed: Array, acceleration: Array, singular: Singularities, distance: Array | None
) -> dict[str, Array]:
    at = played.arrival
    spans = [slice(max(a, played.began), max(b, a) + 1) for a, b in zip([played.began, *at[:-1]], at, strict=True)]

    def over(values: Array, how: Any) -> Array:
        return np.array([how(values[span]) for span in spans])

    found = {
        "position_error_m": played.position_error_m[at],
        "orientation_error_rad": played.orientation_error_rad[at],
        "iterations": over(played.iterations.astype(float), np.sum),
        "solve_us": over(played.solve_s * 1e6, np.median),
        "speed_ratio": over(speed.max(axis=1), np.max),
        "acceleration_ratio": over(acceleration.max(axis=1), np.max),
        "wrist": over(singular.wrist, np.min),
    }
    if distance is not None:
        found["clearance_m"] = over(distance, np.min)
    return found


def _summary(scene: ArmScene, figures: Measured) -> dict[str, Any]:
    played = figures.played
    moving = slice(played.began, played.ended + 1)
    errors, turns = figures.waypoint["position_error_m"], figures.waypoint["orientation_error_rad"]
    reached = (errors <= REACHED_M) & (turns <= REACHED_RAD)
    step = np.diff(played.q[moving], axis=0)
    turned = step[1:] * step[:-1] < 0.0
    big = np.minimum(np.abs(step[1:]), np.abs(step[:-1])) > 1e-6
    jerk = np.diff(played.q[moving], 3, axis=0) / played.dt_s**3
    after = played.q[played.ended + round(0.5 / played.dt_s) :]
    found: dict[str, Any] = {
        "solver": played.solver,
        "waypoints": len(errors) if isinstance(scene.motion, WaypointSet) else None,
        "reached": int(reached.sum()) if isinstance(scene.motion, WaypointSet) else None,
        "worst_position_error_m": float(errors.max()),
        "worst_orientation_error_deg": float(np.degrees(turns.max())),
        "mean_path_error_m": float(played.position_error_m[moving].mean()),
        "iterations_per_frame": float(played.iterations[moving].mean()),
        "solve_us": float(np.median(played.solve_s[moving]) * 1e6),
        "peak_speed_ratio": None,
        "peak_acceleration_ratio": None,
        "reversals_per_s": float((turned & big).sum() / max(played.t_s[played.ended] - played.t_s[played.began], 1e-9)),
        "rms_jerk_rad_s3": float(np.sqrt((jerk**2).mean())) if len(jerk) else 0.0,
        "joint_travel_rad": float(np.abs(step).sum()),
        "least_manipulability": float(figures.manipulability[moving].min()),
        "least_wrist_sine": _least(figures.singular.wrist[moving]),
        "stillness_rad": float(np.ptp(after, axis=0).max()) if len(after) else None,
        "time_s": float(played.t_s[played.ended] - played.t_s[played.began]),
        "outside_limits": outside_limits(scene.arm, played.q),
    }
    if figures.clearance_m is not None and np.isfinite(figures.clearance_m).any():
        row = int(figures.clearance_m.argmin())
        found |= {"least_clearance_m": float(figures.clearance_m[row]), "nearest": " and ".join(figures.nearest[row])}
    return found


def sample_rates(motion: JointSet) -> tuple[Array, Array]:
    """(speeds between samples (n - 1, dof), accelerations at samples (n, dof)), absolute; 0 at the first and last.

    Equation: second difference over uneven times, (v_after - v_before) / (half of both spans).
    """
    span = np.diff(motion.t_s)[:, None]
    speed = np.diff(motion.q, axis=0) / span
    acceleration = np.zeros_like(motion.q)
    acceleration[1:-1] = np.abs(np.diff(speed, axis=0)) / (0.5 * (span[1:] + span[:-1]))
    return np.abs(speed), acceleration


def _at_frames(motion: JointSet, values: Array, played: Played) -> Array:
    """Values of samples (n, dof) at frames (m, dof): each frame has those of the nearest sample."""
    times = motion.t_s - motion.t_s[0]
    middles = 0.5 * (times[1:] + times[:-1])
    found = values[np.searchsorted(middles, played.t_s - played.t_s[played.began])]
    found[played.ended + 1 :] = 0.0
    return np.asarray(found)


def peak(ratio: Array, limit: Array) -> float | None:
    """The largest share (n, dof) of limits (dof,); None where no limit is known."""
    return float(ratio.max(initial=0.0)) if np.isfinite(limit).any() else None


def outside_limits(arm: Arm, q: Array) -> dict[str, float]:
    """How far each joint that leaves its limits is beyond them at most [rad or m], by name; empty where all keep
    them."""
    beyond = np.maximum(arm.lower - q, q - arm.upper).max(axis=0)
    return {joint.name: float(far) for joint, far in zip(arm.joints, beyond, strict=True) if far > 1e-9}


def _least(values: Array) -> float | None:
    return None if np.isnan(values).all() else float(np.nanmin(values))
