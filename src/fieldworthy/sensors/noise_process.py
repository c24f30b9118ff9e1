"""Random processes of sensors, stepped exactly: the same statistics at every sample period.

Densities are two-sided as data sheets and Kalibr use them: white noise of density N has the standard deviation
N / sqrt(dt) per sample and the Allan deviation N / sqrt(tau). Normal numbers come in from outside (`core.random`).
"""

from __future__ import annotations

import math

from fieldworthy.core.lanes import Scalar, engine_name, exp, select, sqrt
from fieldworthy.core.vec import Vec3

DECADES_S = (0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
"""Correlation times that keep a bias instability flat from 1 s to 1000 s."""

GAUSS_MARKOV_PER_INSTABILITY = 0.859
"""Standard deviation of each process of a decade over the bias instability B (see `flicker_step`)."""


def white_sigma(density: Scalar, dt_s: Scalar) -> Scalar:
    """Standard deviation of a sample of white noise.

    Equation: N / sqrt(dt)      Source: IEEE Std 952-1997, annex C.      Shapes: scalars.
    Limits: the samples cover the time without gaps; every n-th of them has sqrt(n) times the density.
    Verified by: tests/verification/test_noise_process.py
    """
    return density / sqrt(dt_s)


def walk_sigma(walk: Scalar, dt_s: Scalar) -> Scalar:
    """Standard deviation of a step of a random walk.

    Equation: K sqrt(dt)      Source: IEEE Std 952-1997, annex C.      Shapes: scalars.
    Limits: unbounded, as a walk is.      Verified by: tests/verification/test_noise_process.py
    """
    return walk * sqrt(dt_s)


def gauss_markov_step(value: Scalar, normal: Scalar, sigma: Scalar, correlation_s: Scalar, dt_s: Scalar) -> Scalar:
    """One step of a first-order Gauss-Markov process with the stationary standard deviation `sigma`.

    Equation: x' = phi x + sigma sqrt(1 - phi^2) n,   phi = exp(-dt / tau)
    Source: exact sampling of dx = -x/tau dt + sigma sqrt(2/tau) dW (Gelb 1974, section 3.8).      Shapes: scalars.
    Limits: tau > 0. The decay is added to the kick before the value: in 32 bits a decay of 1e-7 would vanish alone,
        with the kick the rounding is unbiased.
    Verified by: tests/verification/test_noise_process.py
    """
    decay, kick = gauss_markov_coefficients(correlation_s, dt_s)
    return value + ((sigma * kick) * normal - decay * value)


def gauss_markov_coefficients(correlation_s: Scalar, dt_s: Scalar) -> tuple[Scalar, Scalar]:
    """(1 - phi, sqrt(1 - phi^2)) of `gauss_markov_step`, without cancellation for short steps."""
    x = dt_s / correlation_s
    return _one_minus_exp(x), sqrt(_one_minus_exp(2.0 * x))


def _one_minus_exp(x: Scalar) -> Scalar:
    """1 - exp(-x) for x >= 0 = tanh(x/2) (1 + exp(-x)), tangent by continued fraction: below x = 1 to 3e-10."""
    if engine_name(x) == "float":
        return -math.expm1(-x)
    half = 0.5 * x
    h2 = half * half
    tanh = half * (945.0 + h2 * (105.0 + h2)) / (945.0 + h2 * (420.0 + 15.0 * h2))
    decayed = exp(-x)
    return select(x < 1.0, tanh * (1.0 + decayed), 1.0 - decayed)


def flicker_first(normals: tuple[Scalar, ...], instability: Scalar) -> tuple[Scalar, ...]:
    """Stationary first state of a bias instability: one number a decade."""
    sigma = GAUSS_MARKOV_PER_INSTABILITY * instability
    return tuple(sigma * normal for normal in normals)


def flicker_step(
    parts: tuple[Scalar, ...], normals: tuple[Scalar, ...], instability: Scalar, taus_s: tuple[float, ...], dt_s: float
) -> tuple[Scalar, ...]:
    """One step of a bias instability B as a sum of Gauss-Markov processes, one a decade of correlation time.

    Equation: b = sum x_k, each x_k of tau_k with sigma = 0.859 B; the Allan deviation of the sum is flat at
        sqrt(2 ln 2 / pi) B = 0.664 B.
    Source: IEEE Std 952-1997 annex C for the floor; the sum over decades after Keshner (1982), "1/f noise".
    Shapes: one number a decade.      Limits: flat within 5 % from ten times the shortest to a tenth of the longest
        correlation time: 1 s to 1000 s for `DECADES_S`.
    Verified by: tests/verification/test_noise_process.py
    """
    sigma = GAUSS_MARKOV_PER_INSTABILITY * instability
    return tuple(
        gauss_markov_step(part, normal, sigma, tau, dt_s)
        for part, normal, tau in zip(parts, normals, taus_s, strict=True)
    )


def uniform_of(a: Scalar, b: Scalar) -> Scalar:
    """A uniform number in (0, 1) of two independent standard normal numbers.

    Equation: exp(-(a^2 + b^2) / 2)      Source: the radius of Box and Muller (1958), backwards.
    """
    return exp(-0.5 * (a * a + b * b))


def vec(normals: tuple[Scalar, ...], at: int = 0) -> Vec3:
    """Three of the numbers as a vector."""
    return Vec3(normals[at], normals[at + 1], normals[at + 2])
