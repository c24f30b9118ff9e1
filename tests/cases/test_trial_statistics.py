"""Intervals and bins against published numbers and their own definitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldworthy.trials.statistics import spread, student_quantile, success_bins, wilson_interval


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_interval_agrees_with_newcombe_1998(successes: int, n: int, low: float, high: float) -> None:
    """Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3 (score, no continuity correction)."""
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_wilson_interval_agrees_with_other_software() -> None:
    """scipy 1.17 binomtest(187, 200).proportion_ci(0.95 and 0.99, "wilson"), written down."""
    assert wilson_interval(187, 200) == pytest.approx((0.8919809207, 0.9616236454), abs=1e-9)
    assert wilson_interval(187, 200, 0.99) == pytest.approx((0.8747017720, 0.9673631592), abs=1e-9)


@given(st.integers(1, 5000), st.data())
def test_wilson_interval_inverts_the_score_test(n: int, data: st.DataObject) -> None:
    """Each end p of the interval is where |successes/n - p| is z standard errors *at p*: the interval's definition."""
    k = data.draw(st.integers(0, n))
    for p in wilson_interval(k, n):
        assert abs(k / n - p) == pytest.approx(1.959963985 * (p * (1 - p) / n) ** 0.5, abs=1e-7)


def test_wilson_interval_at_the_ends() -> None:
    """Exact zero and one; nothing known for no trials; impossible counts are refused."""
    assert wilson_interval(0, 10)[0] == 0.0
    assert wilson_interval(10, 10)[1] == 1.0
    assert wilson_interval(0, 0) == (0.0, 1.0)
    for bad in ((-1, 5), (6, 5)):
        with pytest.raises(ValueError, match="valid: 0 to n"):
            wilson_interval(*bad)
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson_interval(1, 2, confidence=95.0)


@pytest.mark.parametrize(("degrees", "t"), [(1, 12.706), (2, 4.303), (3, 3.182), (6, 2.447), (9, 2.262), (30, 2.042)])
def test_student_quantile_agrees_with_the_tables(degrees: int, t: float) -> None:
    """Two-sided 95 % points as in any table of Student's t."""
    assert student_quantile(0.95, degrees) == pytest.approx(t, rel=2e-3)


def test_spread_of_students_sleep_data() -> None:
    """Student (1908): differences of hours of sleep; mean 1.58, 95 % interval 0.70 to 2.46 (R, t.test of `sleep`)."""
    result = spread([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4, float("nan")])
    assert result is not None
    assert (result.n, result.mean, result.median, result.greatest) == pytest.approx((10, 1.58, 1.3, 4.6))
    assert (result.mean_low, result.mean_high) == pytest.approx((0.700, 2.460), abs=2e-3)
    assert spread([]) is None


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.booleans()), min_size=1, max_size=200))
def test_bins_lose_no_trial(pairs: list[tuple[float, bool]]) -> None:
    """Counts and successes of the bins add up, bins are in order, and none is thin if there is more than one."""
    bins = success_bins([v for v, _ in pairs], [s for _, s in pairs])
    assert sum(b.n for b in bins) == len(pairs)
    assert sum(b.successes for b in bins) == sum(s for _, s in pairs)
    assert all(a.high <= b.low for a, b in zip(bins, bins[1:], strict=False))
    assert len(bins) == 1 or min(b.n for b in bins) >= 10
