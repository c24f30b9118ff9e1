"""From thrust and moment to the thrust of each rotor, of any layout; at saturation roll and pitch go before thrust,
thrust before yaw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.lanes import Scalar, clip, maximum, minimum, select, sqrt
from fieldworthy.core.vec import Vec3, cross


class RotorGeometry(Protocol):
    """What allocation needs to know of a rotor (`vehicles.rotor.RotorParameters` has it)."""

    pos_frd_m: Vec3
    axis_frd: Vec3
    spin: Any
    torque_ratio_m: Any
    thrust_coefficient_n_s2: Any
    speed_min_rad_s: Any
    speed_max_rad_s: Any


@dataclass
class RotorShare:
    """One rotor's part: thrust [N] per newton of collective thrust and per newton metre about each axis, and its
    range."""

    per_thrust: Scalar
    """Positive."""
    per_roll_1_m: Scalar
    per_pitch_1_m: Scalar
    per_yaw_1_m: Scalar
    thrust_min_n: Scalar
    thrust_max_n: Scalar


@dataclass
class Allocated:
    """What became of a demand."""

    rotor_thrust_n: tuple[Scalar, ...]
    thrust_n: Scalar
    moment_frd_n_m: Vec3
    """What these thrusts give, where the layout can make any moment."""
    saturation_margin: Scalar
    """Of the demand: least distance of a rotor to its nearer limit over its range; at most 0.5, negative when over."""


def rotor_shares(rotors: Sequence[RotorGeometry]) -> tuple[RotorShare, ...]:
    """The minimum-norm inverse of a rotor layout, on the host.

    Equation: B = [[-a_z], [r x a - spin kappa a]] columns by rotor;  shares = B^+ (Moore-Penrose)
    Source: Johansen and Fossen, Control allocation - a survey, Automatica 49 (2013) 1087, section 2.2.
    Frames: FRD; thrust counted along -z.      Shapes: floats, or NumPy arrays with a value a lane (then so are shares).
    Limits: side forces of tilted rotors are ignored. Two lifting rotors, say, span no roll or pitch: the shares there
        are the least-squares ones.
    Verified by: tests/verification/test_allocation.py
    """
    columns = []
    for rotor in rotors:
        axis, reaction = rotor.axis_frd, rotor.spin * rotor.torque_ratio_m
        arm = cross(rotor.pos_frd_m, axis)
        columns.append((-axis.z, arm.x - reaction * axis.x, arm.y - reaction * axis.y, arm.z - reaction * axis.z))
    entries = np.broadcast_arrays(*(np.asarray(entry, dtype=np.float64) for column in columns for entry in column))
    effect = np.stack(entries, axis=-1).reshape(*entries[0].shape, len(columns), 4).swapaxes(-1, -2)
    shares = np.linalg.pinv(effect)
    weak = [i for i in range(len(columns)) if np.any(shares[..., i, 0] <= 1e-6)]
    if weak:
        raise ScenarioError(
            Problem(
                f"rotors {', '.join(str(i + 1) for i in weak)}",
                "carry nothing of the weight in this layout",
                "rotors that lift, placed around the centre of mass; leave pushers out",
            )
        )
    return tuple(
        RotorShare(
            per_thrust=_plain(shares[..., i, 0]),
            per_roll_1_m=_plain(shares[..., i, 1]),
            per_pitch_1_m=_plain(shares[..., i, 2]),
            per_yaw_1_m=_plain(shares[..., i, 3]),
            thrust_min_n=rotor.thrust_coefficient_n_s2 * rotor.speed_min_rad_s * rotor.speed_min_rad_s,
            thrust_max_n=rotor.thrust_coefficient_n_s2 * rotor.speed_max_rad_s * rotor.speed_max_rad_s,
        )
        for i, rotor in enumerate(rotors)
    )


def _plain(entry: Any) -> Any:
    """A Python float, or the array where lanes differ."""
    return float(entry) if np.ndim(entry) == 0 else np.asarray(entry)


def allocate(shares: Sequence[RotorShare], thrust_n: Scalar, moment_frd_n_m: Vec3) -> Allocated:
    """Thrust of each rotor for a collective thrust along -z and a moment, within every rotor's range.

    Equation: f = c T + k d + y e,  d and e the shares of roll with pitch and of yaw;  the largest k <= 1 for which some
        T keeps every rotor in range, then the T nearest to the one asked, then the largest y <= 1.
        k: for all rotors i, j:  k (d_j/c_j - d_i/c_i) <= max_j/c_j - min_i/c_i
    Source: own derivation; the order of precedence as in Brescianini and D'Andrea (2020), section IV, and PX4's mixer.
    Frames: body FRD.      Shapes: scalars; rotors in the order of `shares`.
    Limits: thrust is raised without bound for roll and pitch ("air mode"): on the ground do not ask for moments.
        Roll and pitch shrink together, so that the axis of the moment is kept.
    Verified by: tests/verification/test_allocation.py
    """
    m = moment_frd_n_m
    tilt = [s.per_roll_1_m * m.x + s.per_pitch_1_m * m.y for s in shares]
    yaw = [s.per_yaw_1_m * m.z for s in shares]

    slope = [d / s.per_thrust for s, d in zip(shares, tilt, strict=True)]
    lowest = [s.thrust_min_n / s.per_thrust for s in shares]
    highest = [s.thrust_max_n / s.per_thrust for s in shares]
    k: Scalar = 1.0
    for i in range(len(shares)):
        for j in range(len(shares)):
            if i != j:
                k = minimum(k, _largest_scale(slope[j] - slope[i], highest[j] - lowest[i]))

    floor_n, ceiling_n = lowest[0] - k * slope[0], highest[0] - k * slope[0]
    for i in range(1, len(shares)):
        floor_n = maximum(floor_n, lowest[i] - k * slope[i])
        ceiling_n = minimum(ceiling_n, highest[i] - k * slope[i])
    lift = clip(thrust_n, floor_n, ceiling_n)

    before_yaw = [s.per_thrust * lift + k * d for s, d in zip(shares, tilt, strict=True)]
    y: Scalar = 1.0
    for s, f, e in zip(shares, before_yaw, yaw, strict=True):
        y = minimum(y, _largest_scale(e, s.thrust_max_n - f))
        y = minimum(y, _largest_scale(-e, f - s.thrust_min_n))

    # Rounding may leave the range by a last digit: a motor must not be asked for less than nothing.
    thrusts = tuple(
        clip(f + y * e, s.thrust_min_n, s.thrust_max_n) for s, f, e in zip(shares, before_yaw, yaw, strict=True)
    )
    margin: Scalar = 0.5
    for s, d, e in zip(shares, tilt, yaw, strict=True):
        asked = s.per_thrust * thrust_n + d + e
        room = minimum(asked - s.thrust_min_n, s.thrust_max_n - asked)
        margin = minimum(margin, room / (s.thrust_max_n - s.thrust_min_n))
    return Allocated(thrusts, lift, Vec3(k * m.x, k * m.y, y * m.z), margin)


def _largest_scale(demand: Scalar, room: Scalar) -> Scalar:
    """The largest scale, from 0 to 1, at which a demand fits its room."""
    tight = demand > room
    return select(tight, maximum(room, 0.0) / select(tight, maximum(demand, 1e-30), 1.0), 1.0)


def rotor_speed_for(thrust_n: Scalar, thrust_coefficient_n_s2: Scalar) -> Scalar:
    """Speed [rad/s] at which a rotor gives a thrust.

    Equation: W = sqrt(T / k_f)      Limits: zero for thrust below zero; air at the density that k_f holds for.
    """
    return sqrt(maximum(thrust_n, 1e-12) / thrust_coefficient_n_s2)
