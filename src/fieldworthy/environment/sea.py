"""The sea and the air above it as a boat feels them at one place: current, wind and a sum of waves.

Frames: NED; horizontal vectors are (north, east). Wave elevation is up positive.
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, cos, select, sin
from fieldworthy.core.lanes import abs as magnitude


@dataclass
class WaveComponent:
    """One regular deep-water wave: elevation = amplitude cos(k·x - omega t + phase), k pointing where it travels."""

    amplitude_m: Scalar
    wave_number_north_rad_m: Scalar
    wave_number_east_rad_m: Scalar
    frequency_rad_s: Scalar
    phase_rad: Scalar


@dataclass
class Sea:
    """Current (where the water goes), wind (where the air goes) and wave components, each a scalar."""

    current_north_m_s: Scalar
    current_east_m_s: Scalar
    wind_north_m_s: Scalar
    wind_east_m_s: Scalar
    waves: tuple[WaveComponent, ...] = ()


@dataclass
class Ride:
    """How waves lift and tilt a hull: heave up [m], roll (starboard down) and pitch (bow up) [rad]."""

    heave_up_m: Scalar
    roll_rad: Scalar
    pitch_rad: Scalar


def elevation_up_m(waves: tuple[WaveComponent, ...], north_m: Scalar, east_m: Scalar, t_s: Scalar) -> Scalar:
    """Height of the water surface above still water [m].

    Equation: z = sum a cos(k_n n + k_e e - w t + p)      Source: linear (Airy) wave theory, deep water
    Limits: small steepness; no breaking, no second-order drift.
    """
    total: Scalar = 0.0
    for wave in waves:
        total = total + wave.amplitude_m * cos(_phase(wave, north_m, east_m, t_s))
    return total


def ride(
    waves: tuple[WaveComponent, ...],
    north_m: Scalar,
    east_m: Scalar,
    heading_rad: Scalar,
    t_s: Scalar,
    length_m: Scalar,
    beam_m: Scalar,
) -> Ride:
    """Heave, roll and pitch of a light hull that follows the water averaged over its waterplane.

    Equation: least-squares plane through the surface under a length x beam rectangle; for one component with
        body wave numbers k_f, k_r and q = k_f L/2, s = k_r B/2 the average elevation is a sinc(q) sinc(s) cos(phase)
        and the slopes are -a k_f J(q) sinc(s) sin(phase) forward and -a k_r sinc(q) J(s) sin(phase) to starboard,
        J(x) = 3 (sin x - x cos x) / x^3.
    Source: hydrostatic (Froude-Krylov) force and moment of a box barge balanced by its stiffness,
        Faltinsen, Sea Loads on Ships and Offshore Structures (1990), chapter 3.
    Frames: pitch is positive bow up, roll positive starboard down (FRD angles).
    Limits: no hull inertia or damping: valid while waves are slower than the hull's own heave, roll and pitch periods.
    Verified by: tests/verification/test_sea.py
    """
    c, s = cos(heading_rad), sin(heading_rad)
    heave: Scalar = 0.0
    roll: Scalar = 0.0
    pitch: Scalar = 0.0
    for wave in waves:
        k_forward = wave.wave_number_north_rad_m * c + wave.wave_number_east_rad_m * s
        k_right = wave.wave_number_east_rad_m * c - wave.wave_number_north_rad_m * s
        along, across = 0.5 * length_m * k_forward, 0.5 * beam_m * k_right
        phase = _phase(wave, north_m, east_m, t_s)
        surface, slope = wave.amplitude_m * cos(phase), -wave.amplitude_m * sin(phase)
        heave = heave + surface * _sinc(along) * _sinc(across)
        pitch = pitch + slope * k_forward * _slope_factor(along) * _sinc(across)
        roll = roll - slope * k_right * _sinc(along) * _slope_factor(across)
    return Ride(heave_up_m=heave, roll_rad=roll, pitch_rad=pitch)


def _phase(wave: WaveComponent, north_m: Scalar, east_m: Scalar, t_s: Scalar) -> Scalar:
    return (
        wave.wave_number_north_rad_m * north_m
        + wave.wave_number_east_rad_m * east_m
        - wave.frequency_rad_s * t_s
        + wave.phase_rad
    )


def _sinc(x: Scalar) -> Scalar:
    small = magnitude(x) < 1e-2
    safe = select(small, 1.0, x)
    return select(small, 1.0 - x * x / 6.0, sin(safe) / safe)


def _slope_factor(x: Scalar) -> Scalar:
    # The closed form cancels in 32 bits below about 0.3; the series is exact to 1e-8 there.
    small = magnitude(x) < 0.3
    safe = select(small, 1.0, x)
    square = x * x
    series = 1.0 - square * (1.0 / 10.0 - square * (1.0 / 280.0 - square / 15120.0))
    return select(small, series, 3.0 * (sin(safe) - safe * cos(safe)) / (safe * safe * safe))
