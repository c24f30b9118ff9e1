"""White noise in, turbulence of unit strength out: the forming filters of Dryden and von Karman, exact at any step.

A filter is a linear system x' = A x + b n in the dimensionless time t/T. Over a step its state is a Gaussian with mean
exp(A dt/T) x and covariance P - exp(A dt/T) P exp(A dt/T)', with P the covariance of the stationary state; both are
closed forms here. No bilinear transform, no Euler step: the spectrum and the variance do not depend on dt. The states
are scaled to unit variance and carry neither strength nor length, so both may change while the vehicle climbs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from fieldworthy.core.lanes import Scalar, exp, maximum, select, sqrt

State = tuple[Scalar, ...]
Polynomial = tuple[float, ...]
"""Coefficients in rising order."""

_TINY = 1e-30
"""Keeps the square roots' slopes finite when a step is so short that nothing happens."""


def relaxation(x: Scalar) -> Scalar:
    """1 - exp(-x), with all of its digits for small x >= 0 also in 32 bits."""
    series = x * (
        1.0 - x / 2.0 * (1.0 - x / 3.0 * (1.0 - x / 4.0 * (1.0 - x / 5.0 * (1.0 - x / 6.0 * (1.0 - x / 7.0)))))
    )
    return select(x < 0.05, series, 1.0 - exp(-x))


def step_lag(x: Scalar, steps: Scalar, normal: Scalar) -> Scalar:
    """First-order filter 1 / (1 + T s): its unit-variance state after `steps` = dt / T.

    Equation: x exp(-a) + sqrt(1 - exp(-2 a)) n      Source: Uhlenbeck and Ornstein, Phys. Rev. 36 (1930) 823
    Shapes: scalars.      Limits: exact at any step; `steps` of 0 and more.
    Verified by: tests/verification/test_turbulence.py
    """
    fallen = relaxation(steps)
    return x - fallen * x + sqrt(maximum(fallen * (2.0 - fallen), _TINY)) * normal


def step_double_lag(state: State, steps: Scalar, normals: State) -> State:
    """Two equal lags in series, 1 / (1 + T s) and 1 / (1 + T s)^2; stationary covariance ((1, 1/2), (1/2, 1/2)).

    Equation: exp(A a) = e^-a ((1, 0), (a, 1)); the covariance of the step is P(1, 2a), P(2, 2a)/2, P(3, 2a)/2 with the
        regularised lower incomplete gamma function P(n, x) = 1 - e^-x (1 + ... + x^(n-1)/(n-1)!), which is summed from
        its small end so that nothing cancels.
    Source: Van Loan, IEEE Trans. Autom. Control 23 (1978) 395, worked out for this system.
    Shapes: scalars.      Limits: exact at any step; `steps` of 0 and more.
    Verified by: tests/verification/test_turbulence.py
    """
    first, second = state
    stay = exp(-steps)
    x = 2.0 * steps
    kept = stay * stay
    square = 0.5 * x * x
    tail = 1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0 * (1.0 + x / 7.0 * (1.0 + x / 8.0 * (1.0 + x / 9.0)))))
    p3 = select(x < 0.1, kept * square * x / 3.0 * tail, 1.0 - kept * (1.0 + x + square))
    p2 = p3 + kept * square
    p1 = p2 + kept * x
    l11 = sqrt(maximum(p1, _TINY))
    l21 = 0.5 * p2 / l11
    l22 = sqrt(maximum(0.5 * p3 - l21 * l21, _TINY))
    # relaxation keeps the digits that 1 - stay loses when a slow eddy meets a fast clock.
    fallen = relaxation(steps)
    return (
        first - fallen * first + l11 * normals[0],
        second - fallen * second + steps * stay * first + l21 * normals[0] + l22 * normals[1],
    )


@dataclass(frozen=True)
class Modes:
    """A filter with distinct real poles in parallel form: unit-variance lags that share one white noise."""

    rates: tuple[float, ...]
    """Poles, as decay rates in units of 1/T."""
    weights: tuple[float, ...]
    """Output = sum of weight times state."""

    def correlation(self, i: int, j: int) -> float:
        """Of two states at rest: 2 sqrt(r_i r_j) / (r_i + r_j)."""
        return 2.0 * math.sqrt(self.rates[i] * self.rates[j]) / (self.rates[i] + self.rates[j])


def step_modes(modes: Modes, state: State, steps: Scalar, normals: State) -> State:
    """Lags that share one noise, after `steps` = dt / T.

    Equation: x_i e^(-r_i a) plus noise of covariance c_ij (1 - e^(-(r_i + r_j) a)), by its Cholesky factor.
    Source: Van Loan (1978) for distinct real poles.
    Shapes: scalars.      Limits: exact at any step, but for a millionth of the variance (`_correlated`).
    Verified by: tests/verification/test_turbulence.py
    """
    fallen = [relaxation(rate * steps) for rate in modes.rates]
    return tuple(
        x - fall * x + noise for x, fall, noise in zip(state, fallen, _correlated(modes, fallen, normals), strict=True)
    )


def first_modes(modes: Modes, normals: State) -> State:
    """A stationary state: the step of infinite length."""
    return tuple(_correlated(modes, [1.0] * len(modes.rates), normals))


def _correlated(modes: Modes, fallen: list[Scalar], normals: State) -> list[Scalar]:
    """Noise of covariance c_ij (1 - (1 - fallen_i)(1 - fallen_j)) from independent normal numbers.

    Over a short step the lags hear nearly the same noise, and what is left of the later pivots is lost to rounding in
    32 bits. They are held above a millionth of the variance, which nobody can measure in the output.
    """
    rows: list[list[Scalar]] = []
    for i, fall_i in enumerate(fallen):
        row: list[Scalar] = []
        for j in range(i + 1):
            whole = modes.correlation(i, j) * (fall_i + fallen[j] - fall_i * fallen[j])
            rest = whole
            for a, b in zip(row, rows[j] if j < i else row, strict=False):
                rest = rest - a * b
            row.append(sqrt(maximum(rest, 1e-6 * whole + _TINY)) if i == j else rest / rows[j][j])
        rows.append(row)
    noise = []
    for row in rows:
        total: Scalar = row[0] * normals[0]
        for factor, normal in zip(row[1:], normals[1:], strict=False):
            total = total + factor * normal
        noise.append(total)
    return noise


@cache
def von_karman_modes(*, lateral: bool) -> Modes:
    """The rational approximations of the von Karman spectra, in parallel form and in units of sigma.

    Equation: along  sqrt(2T/pi) (1 + 0.25 z) / (1 + 1.357 z + 0.1987 z^2), z = T s, T = L/V;
        across  sqrt(T/pi) (1 + 2.7478 z + 0.3398 z^2) / (1 + 2.9958 z + 1.9754 z^2 + 0.1539 z^3), T = L/V or 2L/V.
    Source: Ly and Chan, "Time-domain computation of aircraft gust covariance matrices", AIAA 80-1615 (1980); the
        filters that Aerospace Blockset documents.
    Limits: within 5 % of the spectrum up to w T = 15, low above (no rational filter falls as w^(-5/3)), so that their
        root mean square is 98.4 % (along) and 98.1 % (across) of sigma.
    Verified by: tests/verification/test_turbulence.py
    """
    numerator: Polynomial = (1.0, 2.7478, 0.3398) if lateral else (1.0, 0.25)
    denominator: Polynomial = (1.0, 2.9958, 1.9754, 0.1539) if lateral else (1.0, 1.357, 0.1987)
    starts: Polynomial = (-0.45, -1.25, -11.0) if lateral else (-0.8, -6.0)
    gain_squared = 1.0 if lateral else 2.0
    poles = [_root(denominator, start) for start in starts]
    # Variance of a lag of rate r under white noise whose one-sided density is 1/pi a rad/s: 1 / (2 r).
    weights = [
        math.sqrt(gain_squared / (-2.0 * pole)) * _value(numerator, pole) / _value(_slope(denominator), pole)
        for pole in poles
    ]
    return Modes(tuple(-pole for pole in poles), tuple(weights))


def _value(polynomial: Polynomial, x: float) -> float:
    return sum(c * x**power for power, c in enumerate(polynomial))


def _slope(polynomial: Polynomial) -> Polynomial:
    return tuple(power * c for power, c in enumerate(polynomial))[1:]


def _root(polynomial: Polynomial, start: float) -> float:
    """The root near a start, by Newton's method."""
    x = start
    for _ in range(30):
        x -= _value(polynomial, x) / _value(_slope(polynomial), x)
    return x
