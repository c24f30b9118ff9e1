"""Three equal sensing axes: what a gyroscope and an accelerometer have in common.

`q` in a name stands for the unit of what is measured: rad/s for a gyroscope, m/s^2 for an accelerometer.
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, clip, floor, tan
from fieldworthy.core.vec import Vec3
from fieldworthy.sensors.noise_process import flicker_first, flicker_step, vec, walk_sigma, white_sigma

_AXES = 3


@dataclass(frozen=True)
class TriadOptions:
    """Which effects are computed; one that is off costs nothing."""

    noise: bool = True
    walk: bool = False
    instability_taus_s: tuple[float, ...] = ()
    """Correlation times of the bias instability's processes, `noise_process.DECADES_S`; empty: none."""
    turn_on: bool = False
    scale: bool = False
    misalignment: bool = False
    temperature: bool = False
    low_pass: bool = False
    saturation: bool = False
    quantisation: bool = False


@dataclass
class TriadParameters:
    """Numbers of one triad, in data sheet densities."""

    noise_density_q_rthz: Scalar = 0.0
    walk_q_rts: Scalar = 0.0
    """Rate random walk K, per square root of a second."""
    instability_q: Scalar = 0.0
    """Bias instability B: the Allan deviation's floor over 0.664."""
    turn_on_sigma_q: Scalar = 0.0
    """Standard deviation of the constant bias from one start to the next."""
    scale_sigma: Scalar = 0.0
    misalignment_sigma_rad: Scalar = 0.0
    temperature_q_k: Scalar = 0.0
    """Bias per kelvin away from 25 deg C, on all three axes."""
    bandwidth_hz: Scalar = 100.0
    range_q: Scalar = 1e9
    resolution_q: Scalar = 1e-9


@dataclass
class TriadMemory:
    """What lasts from sample to sample; None where the effect is off."""

    walk: Vec3 | None
    flicker: tuple[tuple[Scalar, ...], ...] | None
    """A row an axis."""
    turn_on: Vec3 | None
    scale: Vec3 | None
    misalignment: tuple[Scalar, ...] | None
    """Off-diagonal terms: xy, xz, yx, yz, zx, zy."""
    filter_a: Vec3 | None
    filter_b: Vec3 | None


def triad_normals(options: TriadOptions) -> int:
    """Normal numbers that `read_triad` takes."""
    return _AXES * (options.noise + options.walk + len(options.instability_taus_s))


def first_triad_normals(options: TriadOptions) -> int:
    """Normal numbers that `first_triad` takes."""
    flicker = len(options.instability_taus_s)
    return _AXES * (flicker + options.turn_on + options.scale + 2 * options.misalignment)


def first_triad(
    options: TriadOptions, p: TriadParameters, dt_s: float, normals: tuple[Scalar, ...], rest: Vec3
) -> TriadMemory:
    """Memory at switch-on: constant errors drawn, bias instability stationary, low-pass settled on `rest`."""
    left = list(normals)

    def three(sigma: Scalar) -> Vec3:
        drawn, left[:3] = vec(tuple(left[:3])), []
        scaled: Vec3 = drawn * sigma
        return scaled

    turn_on = three(p.turn_on_sigma_q) if options.turn_on else None
    scale = three(p.scale_sigma) if options.scale else None
    misalignment = None
    if options.misalignment:
        misalignment = (*three(p.misalignment_sigma_rad), *three(p.misalignment_sigma_rad))
    flicker, count = None, len(options.instability_taus_s)
    if count:
        flicker = tuple(
            flicker_first(tuple(left[axis * count : (axis + 1) * count]), p.instability_q) for axis in range(_AXES)
        )
    filter_a = filter_b = None
    if options.low_pass:
        b0, _, _, a2 = low_pass_coefficients(p.bandwidth_hz, dt_s)
        filter_a, filter_b = rest * (1.0 - b0), rest * (b0 - a2)
    zero = Vec3(0.0, 0.0, 0.0)
    return TriadMemory(zero if options.walk else None, flicker, turn_on, scale, misalignment, filter_a, filter_b)


def read_triad(
    options: TriadOptions,
    p: TriadParameters,
    dt_s: float,
    true: Vec3,
    warm_k: Scalar,
    memory: TriadMemory,
    normals: tuple[Scalar, ...],
) -> tuple[Vec3, TriadMemory]:
    """One sample of three axes, every `dt_s`.

    Equation: y = Q(clip(F((I + M)(I + S) x + b_on + b_walk + b_flicker + c (T - 25 C) + n))), F a second-order
        low-pass, Q rounding to the resolution.
    Source: Kalibr's noise model (Furgale, Rehder, Siegwart 2013) for n and the walk; IEEE Std 952-1997 for the terms.
    Frames: `true` in the sensor's axes.      Shapes: scalars.
    Limits: white noise passes the low-pass, so its density is right below the bandwidth; saturation after it.
    Verified by: tests/verification/test_imu.py
    """
    at, y = 0, true
    if options.scale and memory.scale is not None:
        y = Vec3(y.x + memory.scale.x * y.x, y.y + memory.scale.y * y.y, y.z + memory.scale.z * y.z)
    if options.misalignment and memory.misalignment is not None:
        xy, xz, yx, yz, zx, zy = memory.misalignment
        y = Vec3(y.x + xy * y.y + xz * y.z, y.y + yx * y.x + yz * y.z, y.z + zx * y.x + zy * y.y)
    if options.turn_on and memory.turn_on is not None:
        y = y + memory.turn_on
    if options.temperature:
        warm = p.temperature_q_k * warm_k
        y = y + Vec3(warm, warm, warm)
    walk, flicker = memory.walk, memory.flicker
    if options.noise:
        y = y + vec(normals, at) * white_sigma(p.noise_density_q_rthz, dt_s)
        at += _AXES
    if options.walk and walk is not None:
        walk = walk + vec(normals, at) * walk_sigma(p.walk_q_rts, dt_s)
        y = y + walk
        at += _AXES
    count = len(options.instability_taus_s)
    if count and flicker is not None:
        taus = options.instability_taus_s
        flicker = tuple(
            flicker_step(row, normals[at + axis * count : at + (axis + 1) * count], p.instability_q, taus, dt_s)
            for axis, row in enumerate(flicker)
        )
        y = y + Vec3(*(sum(row[1:], row[0]) for row in flicker))
    filter_a, filter_b = memory.filter_a, memory.filter_b
    if options.low_pass and filter_a is not None and filter_b is not None:
        b0, b1, a1, a2 = low_pass_coefficients(p.bandwidth_hz, dt_s)
        x, y = y, filter_a + y * b0
        filter_a = filter_b + x * b1 - y * a1
        filter_b = x * b0 - y * a2
    if options.saturation:
        y = Vec3(*(clip(value, -p.range_q, p.range_q) for value in y))
    if options.quantisation:
        y = Vec3(*(quantised(value, p.resolution_q) for value in y))
    return y, TriadMemory(walk, flicker, memory.turn_on, memory.scale, memory.misalignment, filter_a, filter_b)


def low_pass_coefficients(bandwidth_hz: Scalar, dt_s: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """(b0, b1, a1, a2) of a second-order Butterworth low-pass, b2 = b0: -3 dB exactly at the bandwidth, 1 at rest.

    Equation: bilinear transform of w^2/(s^2 + sqrt(2) w s + w^2), prewarped: k = tan(pi f dt).
    Source: Oppenheim, Schafer, Discrete-Time Signal Processing, section 7.2.
    Limits: bandwidth below half the sample rate.      Verified by: tests/verification/test_imu.py
    """
    k = tan(3.141592653589793 * bandwidth_hz * dt_s)
    k2 = k * k
    scale = 1.0 / (1.0 + 1.4142135623730951 * k + k2)
    b0 = k2 * scale
    return b0, 2.0 * b0, 2.0 * (k2 - 1.0) * scale, (1.0 - 1.4142135623730951 * k + k2) * scale


def quantised(value: Scalar, resolution: Scalar) -> Scalar:
    """The nearest whole multiple of the resolution (halves upward)."""
    return floor(value / resolution + 0.5) * resolution
