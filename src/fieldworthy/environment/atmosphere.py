"""The international standard atmosphere, up to 20 km."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.constants import SEA_LEVEL_PRESSURE_PA, SEA_LEVEL_TEMPERATURE_K, STANDARD_GRAVITY_M_S2
from fieldworthy.core.lanes import Scalar, exp, log, maximum, minimum, sqrt

GAS_CONSTANT_J_KG_K = 287.05287
"""Of dry air."""
HEAT_RATIO = 1.4
LAPSE_RATE_K_M = 0.0065
TROPOPAUSE_M = 11000.0
LOWEST_M, HIGHEST_M = -2000.0, 20000.0
"""Outside of these altitudes the law answers for the nearest of them."""

_EXPONENT = STANDARD_GRAVITY_M_S2 / (GAS_CONSTANT_J_KG_K * LAPSE_RATE_K_M)
_TROPOPAUSE_TEMPERATURE_K = SEA_LEVEL_TEMPERATURE_K - LAPSE_RATE_K_M * TROPOPAUSE_M
_TROPOPAUSE_RATIO = (_TROPOPAUSE_TEMPERATURE_K / SEA_LEVEL_TEMPERATURE_K) ** _EXPONENT


@dataclass(slots=True)
class AirState:
    """Still air at one place."""

    density_kg_m3: Scalar
    pressure_pa: Scalar
    temperature_k: Scalar
    sound_speed_m_s: Scalar


def isa(
    altitude_m: Scalar,
    temperature_offset_k: Scalar = 0.0,
    sea_level_pressure_pa: Scalar = SEA_LEVEL_PRESSURE_PA,
) -> AirState:
    """Density, pressure, temperature and speed of sound at an altitude above sea level.

    Equation: T = T0 + dT - 6.5 K/km h up to 11 km, constant above; dp/dh = -rho g with p = rho R T, so
        p = p0 (1 - L h / (T0 + dT))^(g/RL) below and p = p11 exp(-g (h - 11 km) / (R T11)) above; a = sqrt(1.4 R T).
    Source: ISO 2533:1975 (the same numbers as ICAO Doc 7488 and the U.S. Standard Atmosphere 1976 up to 20 km).
    Frames: none; altitude is geopotential and positive up.      Shapes: scalars.
    Limits: -2 to 20 km, clamped outside. Geometric altitude is larger by 0.03 % at 2 km and 0.3 % at 20 km. Dry air.
        The offset warms the whole column, so pressure aloft rises with it (ISA+15 is 0.7 % at 1500 m).
    Verified by: tests/verification/test_air.py
    """
    h = minimum(maximum(altitude_m, LOWEST_M), HIGHEST_M)
    low, high = minimum(h, TROPOPAUSE_M), maximum(h - TROPOPAUSE_M, 0.0)
    ground_k = SEA_LEVEL_TEMPERATURE_K + temperature_offset_k
    temperature = ground_k - LAPSE_RATE_K_M * low
    fall = _EXPONENT * log(temperature / ground_k)
    fall = fall - STANDARD_GRAVITY_M_S2 / GAS_CONSTANT_J_KG_K * high / temperature
    pressure = sea_level_pressure_pa * exp(fall)
    specific_energy = GAS_CONSTANT_J_KG_K * temperature
    return AirState(pressure / specific_energy, pressure, temperature, sqrt(HEAT_RATIO * specific_energy))


def pressure_altitude_m(pressure_pa: Scalar) -> Scalar:
    """The altitude at which the standard atmosphere has this pressure: what an altimeter set to 1013.25 hPa shows.

    Equation: the inverse of `isa` with no offset.      Source: ISO 2533:1975
    Limits: pressures from 5,475 Pa (20 km) up; a pressure of zero answers a large finite height.
    Verified by: tests/verification/test_air.py
    """
    ratio = maximum(pressure_pa * (1.0 / SEA_LEVEL_PRESSURE_PA), 1e-12)
    below = exp(log(maximum(ratio, _TROPOPAUSE_RATIO)) * (1.0 / _EXPONENT))
    above = log(minimum(ratio * (1.0 / _TROPOPAUSE_RATIO), 1.0))
    scale_height_m = GAS_CONSTANT_J_KG_K * _TROPOPAUSE_TEMPERATURE_K / STANDARD_GRAVITY_M_S2
    return SEA_LEVEL_TEMPERATURE_K / LAPSE_RATE_K_M * (1.0 - below) - scale_height_m * above
