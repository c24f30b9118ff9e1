"""What the models of the air must meet: standard atmosphere, wind profile, gust, turbulence."""

from __future__ import annotations

import math
from dataclasses import replace

from fieldworthy.core.lanes import Scalar
from fieldworthy.core.struct import leaves
from fieldworthy.core.vec import Vec3
from fieldworthy.environment.atmosphere import isa, pressure_altitude_m
from fieldworthy.environment.turbulence import (
    TurbulenceOptions,
    TurbulenceParameters,
    TurbulenceState,
    first,
    gust_m_s,
    gust_rate_rad_s,
    normals_needed,
    step,
    turbulence_scales,
)
from fieldworthy.environment.wind import Gust, WindOptions, WindParameters, gust_share, shear_factor
from fieldworthy.verify.check import Check

Matrix = list[list[float]]

_LIGHT = TurbulenceParameters(wind_20ft_m_s=15.0 * 1852.0 / 3600.0, high_sigma_m_s=1.5)
_DRYDEN = TurbulenceOptions(model="dryden")
_VON_KARMAN = TurbulenceOptions(model="von-karman")


def response(
    options: TurbulenceOptions,
    height_m: float,
    convection_m_s: float,
    wing_span_m: float,
    dt_s: float,
    p: TurbulenceParameters = _LIGHT,
) -> tuple[Matrix, Matrix, Matrix]:
    """(F, B, C) of one tick: state' = F state + B normals and (u, v, w, p, q, r) = C state, column by column.

    The turbulence is linear in its state and its noise, so a unit of each, one at a time, tells all about it, without a
    random number.
    """
    count = normals_needed(options)
    rest = first(options, (0.0,) * count)
    size = len(leaves(rest))

    def moved(state: list[float], noise: list[float]) -> list[float]:
        now = _filled(rest, state)
        return leaves(step(options, p, now, height_m, convection_m_s, wing_span_m, dt_s, tuple(noise)))

    def seen(state: list[float]) -> list[Scalar]:
        now = _filled(rest, state)
        rate = gust_rate_rad_s(options, p, now, height_m, wing_span_m)
        return [*gust_m_s(options, p, now, height_m), *rate]

    f = _transposed([moved(unit, [0.0] * count) for unit in _units(size)])
    b = _transposed([moved([0.0] * size, unit) for unit in _units(count)])
    return f, b, _transposed([seen(unit) for unit in _units(size)])


def rms(f: Matrix, b: Matrix, c: Matrix) -> list[float]:
    """Root mean square of each output once the memory of the start is gone.

    Equation: P = B B' + F P F', summed by doubling: after n rounds 2^n ticks of noise are in P.
    """
    covariance = _product(b, _transposed(b))
    for _ in range(30):
        older = _product(_product(f, covariance), _transposed(f))
        covariance = [
            [x + y for x, y in zip(row, other, strict=True)] for row, other in zip(covariance, older, strict=True)
        ]
        f = _product(f, f)
    outputs = _product(_product(c, covariance), _transposed(c))
    return [math.sqrt(outputs[i][i]) for i in range(len(outputs))]


def _units(size: int) -> Matrix:
    return [[1.0 if i == j else 0.0 for j in range(size)] for i in range(size)]


def _transposed(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]


def _product(a: Matrix, b: Matrix) -> Matrix:
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a]


def _filled(rest: TurbulenceState, values: list[float]) -> TurbulenceState:
    """A state with these numbers in the places of the other."""
    numbers = iter(values)
    parts = {name: tuple(next(numbers) for _ in getattr(rest, name)) for name in ("u", "v", "w", "p", "slopes")}
    return replace(rest, **parts)


def _rms_of(options: TurbulenceOptions, axis: int, dt_s: float) -> float:
    return rms(*response(options, 30.0, 10.0, 0.5, dt_s))[axis]


def _kept_after(options: TurbulenceOptions, convection_m_s: float, axis: int, dt_s: float) -> float:
    """The share of a state that is still there after dt."""
    f, _, _ = response(options, 30.0, convection_m_s, 0.5, dt_s)
    return f[axis][axis]


def _gust_passed_m() -> float:
    """How far a gust of 3 m/s, 2 s up and 2 s down, carries the air: its sum over 1 ms ticks."""
    gust = Gust(1.0, 2.0, 0.0, Vec3(3.0, 0.0, 0.0))
    way: float = sum(gust_share(gust, 0.001 * (tick + 0.5)) * gust.velocity_ned_m_s.x for tick in range(6000)) * 0.001
    return way


_ISO = "ISO 2533:1975, tables"
_DOCUMENT = "flight-robot-simulation document, section 8.28.5.3"

CHECKS: tuple[Check, ...] = (
    Check("atmosphere", "density at 5 km", _ISO, 0.736116, lambda: isa(5000.0).density_kg_m3, 1e-6, "kg/m3"),
    Check("atmosphere", "pressure at 20 km", _ISO, 5474.89, lambda: isa(20000.0).pressure_pa, 0.05, "Pa"),
    Check("atmosphere", "speed of sound at 11 km", _ISO, 295.070, lambda: isa(11000.0).sound_speed_m_s, 1e-3, "m/s"),
    Check(
        "atmosphere", "pressure altitude of 226.32 hPa", _ISO, 11000.0, lambda: pressure_altitude_m(22632.0), 1.0, "m"
    ),
    Check(
        "wind", "power profile, exponent 1/7: speed at ten times the height", "closed form: 10^(1/7)", 1.38950,
        lambda: shear_factor(WindOptions(shear="power"), WindParameters(5.0, 0.0, 10.0), 100.0), 1e-5,
    ),
    Check(
        "wind", "log profile, z0 0.15 ft: equal steps for equal ratios of height", "closed form", 0.0,
        lambda: shear_factor(WindOptions(shear="log"), WindParameters(5.0, 0.0), 6.096 * 4.0)
        - 2.0 * shear_factor(WindOptions(shear="log"), WindParameters(5.0, 0.0), 6.096 * 2.0) + 1.0, 1e-12,
    ),
    Check(
        "gust", "1 - cos, 3 m/s, 2 s up, 2 s down: way of the air", "closed form: 3 m/s x 2 s", 6.0, _gust_passed_m,
        1e-4, "m",
    ),
    Check(
        "turbulence", "sigma_u at 30 m, wind 15 kt", _DOCUMENT, 1.33,
        lambda: turbulence_scales(_DRYDEN, _LIGHT, 30.0).sigma_u_m_s, 0.005, "m/s",
    ),
    Check(
        "turbulence", "L_u at 30 m", _DOCUMENT, 152.0,
        lambda: turbulence_scales(_DRYDEN, _LIGHT, 30.0).length_u_m, 0.5, "m",
    ),
    Check(
        "Dryden turbulence", "rms of w at dt 1 ms", f"{_DOCUMENT}: sigma_w", 0.77,
        lambda: _rms_of(_DRYDEN, 2, 0.001), 0.005, "m/s",
    ),
    Check(
        "Dryden turbulence", "rms of w at dt 1 s", f"{_DOCUMENT}: sigma_w", 0.77,
        lambda: _rms_of(_DRYDEN, 2, 1.0), 0.005, "m/s",
    ),
    Check(
        "Dryden turbulence", "u correlated by 1/e after 15.2 s in cruise at 10 m/s", _DOCUMENT, 1.0 / math.e,
        lambda: _kept_after(_DRYDEN, 10.0, 0, 15.2), 0.002,
    ),
    Check(
        "Dryden turbulence", "MIL-HDBK-1797 with its half lengths gives the same rms of w", "MIL-HDBK-1797", 0.0,
        lambda: _rms_of(replace(_DRYDEN, specification="mil-hdbk-1797"), 2, 0.01) - _rms_of(_DRYDEN, 2, 0.01),
        1e-12, "m/s",
    ),
    Check(
        "von Karman turbulence", "rms of u at dt 10 ms, 0.9842 of 1.3267 by the published filter",
        "Ly and Chan, AIAA 80-1615: integral of |H|^2", 1.3058, lambda: _rms_of(_VON_KARMAN, 0, 0.01), 1e-3, "m/s",
    ),
)  # fmt: skip
