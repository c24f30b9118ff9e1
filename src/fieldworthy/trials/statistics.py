"""Intervals for counted and measured results of trials.

A campaign of n trials is a sample; what it says about the next trial is an interval. Everything here works on plain
Python floats, has no dependency, and names its source.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Confidence interval of a proportion from `successes` of `n` trials, as (low, high) fractions in [0, 1].

    Equation: centre (p + z^2/2n) / (1 + z^2/n), half width z sqrt(p(1-p)/n + z^2/4n^2) / (1 + z^2/n), p = successes/n
    Source: Wilson, J. Am. Stat. Assoc. 22 (1927) 209; recommended for small n by Brown, Cai and DasGupta,
        Statistical Science 16 (2001) 101. No continuity correction.
    Limits: independent trials with one common probability. For n = 0 nothing is known: (0, 1).
    Verified by: tests/cases/test_trial_statistics.py::test_wilson_interval_agrees_with_newcombe_1998
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes is {successes}; valid: 0 to n = {n}")
    z = normal_quantile(confidence)
    if n == 0:
        return 0.0, 1.0
    p = successes / n
    shrink = 1.0 + z * z / n
    centre = (p + z * z / (2.0 * n)) / shrink
    half = z * math.sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n)) / shrink
    # The ends are exact by definition; rounding must not leave 1e-17 below zero or an interval that misses 1.
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return low, high


def normal_quantile(confidence: float) -> float:
    """z with P(|Z| < z) = confidence for the standard normal (1.96 for 0.95)."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence is {confidence}; valid: between 0 and 1, for example 0.95")
    return NormalDist().inv_cdf(0.5 + 0.5 * confidence)


def student_quantile(confidence: float, degrees: int) -> float:
    """t with P(|T| < t) = confidence for Student's t with `degrees` >= 1 degrees of freedom.

    Source: closed forms for 1 and 2 degrees; Abramowitz and Stegun 26.7.5 (expansion about the normal) from 3 on.
    Limits: the expansion is within 0.2 % at 3 degrees and 0.01 % from 6 degrees on, for confidence 0.95.
    """
    if degrees < 1:
        raise ValueError(f"degrees is {degrees}; valid: 1 or more")
    x = normal_quantile(confidence)
    if degrees == 1:
        return math.tan(0.5 * math.pi * confidence)
    if degrees == 2:
        return confidence * math.sqrt(2.0 / (1.0 - confidence * confidence))
    g1 = (x**3 + x) / 4.0
    g2 = (5.0 * x**5 + 16.0 * x**3 + 3.0 * x) / 96.0
    g3 = (3.0 * x**7 + 19.0 * x**5 + 17.0 * x**3 - 15.0 * x) / 384.0
    g4 = (79.0 * x**9 + 776.0 * x**7 + 1482.0 * x**5 - 1920.0 * x**3 - 945.0 * x) / 92160.0
    return x + g1 / degrees + g2 / degrees**2 + g3 / degrees**3 + g4 / degrees**4


@dataclass(frozen=True)
class Spread:
    """How a measured quantity is spread over trials (same unit as the sample)."""

    n: int
    mean: float
    least: float
    greatest: float
    median: float
    mean_low: float
    """Lower end of the 95 % interval of the mean; NaN for a single value."""
    mean_high: float


def spread(values: Sequence[float], confidence: float = 0.95) -> Spread | None:
    """Spread of the finite values of a sample, or None where there is none.

    Equation: mean +/- t s / sqrt(n), s with n - 1     Source: Student, Biometrika 6 (1908) 1
    Limits: the interval of the mean assumes a sample that is not strongly skewed.
    """
    kept = sorted(float(v) for v in values if math.isfinite(v))
    n = len(kept)
    if n == 0:
        return None
    mean = math.fsum(kept) / n
    middle = 0.5 * (kept[(n - 1) // 2] + kept[n // 2])
    half = math.nan
    if n > 1:
        variance = math.fsum((v - mean) ** 2 for v in kept) / (n - 1)
        half = student_quantile(confidence, n - 1) * math.sqrt(variance / n)
    return Spread(n, mean, kept[0], kept[-1], middle, mean - half, mean + half)


@dataclass(frozen=True)
class SuccessBin:
    """Trials whose parameter lies in one bin, and how many of them succeeded."""

    low: float
    high: float
    centre: float
    """Mean of the parameter over the trials of the bin."""
    n: int
    successes: int


def success_bins(
    values: Sequence[float], succeeded: Sequence[bool], most: int = 8, least_n: int = 10
) -> list[SuccessBin]:
    """Bins of nearly equal count over a parameter: at most `most`, each with at least `least_n` trials if it can be."""
    pairs = sorted((float(v), bool(s)) for v, s in zip(values, succeeded, strict=True) if math.isfinite(v))
    if not pairs:
        return []
    count = max(1, min(most, len(pairs) // least_n))
    edges = [round(i * len(pairs) / count) for i in range(count + 1)]
    bins = []
    for first, last in zip(edges[:-1], edges[1:], strict=True):
        part = pairs[first:last]
        centre = math.fsum(v for v, _ in part) / len(part)
        bins.append(SuccessBin(part[0][0], part[-1][0], centre, len(part), sum(s for _, s in part)))
    return bins
