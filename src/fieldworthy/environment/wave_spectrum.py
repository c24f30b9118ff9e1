"""A sea state as a handful of regular waves: spectrum in, components out (host side, at build time)."""

from __future__ import annotations

import math

import numpy as np

from fieldworthy.core.constants import STANDARD_GRAVITY_M_S2
from fieldworthy.core.random import Stream

Array = np.ndarray


def bretschneider_components(height_m: float, period_s: float, count: int) -> tuple[Array, Array]:
    """Amplitudes [m] and frequencies [rad/s], each (count,), of equal-energy bands of a Bretschneider spectrum.

    Equation: S(w) = A/w^5 exp(-B/w^4), A = 5/16 Hs^2 wp^4, B = 5/4 wp^4; its integral from 0 to w is
        Hs^2/16 exp(-B/w^4), so the band edges and medians are closed forms and the variance is Hs^2/16 exactly.
    Source: two-parameter Pierson-Moskowitz (Bretschneider) spectrum, ITTC 1978; Fossen (2021) section 10.2.
    """
    peak = 2.0 * math.pi / period_s
    b = 1.25 * peak**4
    share = (np.arange(count) + 0.5) / count
    frequency = (-b / np.log(share)) ** 0.25
    amplitude = np.full(count, math.sqrt(2.0 * height_m**2 / 16.0 / count))
    return amplitude, frequency


def directions_rad(towards_rad: float, spread_rad: float, count: int) -> Array:
    """Direction of travel of each component, (count,): middles of equal shares of a fan `spread_rad` either side.

    Neighbouring frequencies get directions far apart, so that no side of the fan holds one half of the spectrum.
    """
    # The golden ratio gives the order only: its own values lean to one side of the fan.
    order = np.argsort(np.argsort((np.arange(count) * 0.6180339887498949) % 1.0))
    share = (order + 0.5) / count
    return towards_rad + spread_rad * (2.0 * share - 1.0)


def wave_table(
    height_m: float, period_s: float, from_rad: float, spread_rad: float, count: int, seed: int, trials: Array
) -> dict[str, Array]:
    """Fields of WaveComponent, each (count, trials): the same waves for every trial, with phases of its own.

    Deep-water dispersion k = w^2/g.
    """
    amplitude, frequency = bretschneider_components(height_m, period_s, count)
    direction = directions_rad(from_rad + math.pi, spread_rad, count)
    number = frequency**2 / STANDARD_GRAVITY_M_S2
    stream = Stream(seed, "waves")
    phase = np.stack([stream.uniform(int(trial), 0, count, 0.0, 2.0 * math.pi) for trial in trials], axis=1)
    ones = np.ones((1, len(trials)))
    return {
        "amplitude_m": amplitude[:, None] * ones,
        "wave_number_north_rad_m": (number * np.cos(direction))[:, None] * ones,
        "wave_number_east_rad_m": (number * np.sin(direction))[:, None] * ones,
        "frequency_rad_s": frequency[:, None] * ones,
        "phase_rad": phase,
    }
