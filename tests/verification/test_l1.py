"""L1 guidance: a point that turns at once follows lines as the second-order system it should be, and circles."""

from dataclasses import replace
from math import cos, exp, hypot, pi, radians, sin, sqrt

import pytest

from fieldworthy.control.l1 import L1Parameters, PlaneMotion, bank_of_acceleration, l1_circle, l1_line, l1_steer
from fieldworthy.core.integrate import rk4

P = L1Parameters(period_s=10.0, damping=0.7, distance_min_m=1.0, capture_rad=radians(45.0))
V = 20.0


def point(steer, motion, duration_s, dt_s=0.02):
    """Positions of a point whose velocity turns with the acceleration that guidance asks for."""

    def rate(m):
        a = steer(m)
        speed = hypot(m.north_m_s, m.east_m_s)
        return PlaneMotion(m.north_m_s, m.east_m_s, -a * m.east_m_s / speed, a * m.north_m_s / speed)

    path = [motion]
    for _ in range(round(duration_s / dt_s)):
        motion = rk4(rate, motion, dt_s)
        path.append(motion)
    return path


@pytest.mark.parametrize("course", [0.0, 1.0, 2.5, -2.0])
def test_small_offset_from_a_line_dies_as_a_damped_oscillation_of_the_given_period(course):
    """d'' + 2 z w d' + w^2 d = 0 with w = 2 pi / T from d = 0.5 m at rest; the law is linear to (d/L1)^2 = 1e-4."""
    n, e = cos(course), sin(course)
    begin = PlaneMotion(-0.5 * e, 0.5 * n, V * n, V * e)
    path = point(lambda m: l1_line(P, m, 0.0, 0.0, 1e4 * n, 1e4 * e), begin, 12.0)
    w, z = 2.0 * pi / P.period_s, P.damping
    damped = w * sqrt(1.0 - z * z)
    for k, m in enumerate(path):
        t = 0.02 * k
        expected = 0.5 * exp(-z * w * t) * (cos(damped * t) + z * w / damped * sin(damped * t))
        assert m.east_m * n - m.north_m * e == pytest.approx(expected, abs=2e-3)
    right = [m.east_m * n - m.north_m * e for m in path]
    assert -0.04 < min(right) < -0.015, "an overshoot of exp(-pi z / sqrt(1 - z^2)) = 4.6 %"


def test_far_line_is_met_at_the_capture_angle():
    path = point(lambda m: l1_line(P, m, 0.0, 0.0, 1e4, 0.0), PlaneMotion(0.0, 500.0, V, 0.0), 12.0)
    assert path[-1].east_m_s / path[-1].north_m_s == pytest.approx(-1.0, abs=0.01)


@pytest.mark.parametrize("radius", [80.0, -80.0])
@pytest.mark.parametrize(("north", "east"), [(0.0, 0.0), (3.0, 2.0), (300.0, -100.0), (-80.0, 0.0)])
def test_circle_is_reached_from_anywhere_in_its_sense(radius, north, east):
    path = point(lambda m: l1_circle(P, m, 0.0, 0.0, radius), PlaneMotion(north, east, 0.0, V), 90.0, 0.05)
    end = path[-1]
    assert hypot(end.north_m, end.east_m) == pytest.approx(80.0, abs=0.1)
    turning = end.north_m * end.east_m_s - end.east_m * end.north_m_s
    assert turning == pytest.approx(80.0 * V * (1.0 if radius > 0.0 else -1.0), rel=1e-2)
    assert l1_circle(P, end, 0.0, 0.0, radius) == pytest.approx(V * V / radius, rel=0.01), "centripetal acceleration"


def test_a_line_without_length_is_a_circle_about_the_target():
    m = PlaneMotion(120.0, -30.0, 3.0, V)
    assert l1_steer(P, m, 5.0, 6.0, 5.0, 6.0, 80.0) == l1_circle(P, m, 5.0, 6.0, 80.0)
    assert l1_steer(P, m, 0.0, 0.0, 5.0, 6.0, 80.0) == l1_line(P, m, 0.0, 0.0, 5.0, 6.0)


def test_flying_away_asks_for_the_full_turn_to_the_nearer_side():
    full = l1_line(P, PlaneMotion(0.0, 0.0, -0.01, V), 0.0, 0.0, 1e4, 0.0)
    for east in (5.0, 0.1):
        assert l1_line(P, PlaneMotion(0.0, 0.0, -V, east), 0.0, 0.0, 1e4, 0.0) == pytest.approx(full, rel=0.05)
        assert l1_line(P, PlaneMotion(0.0, 0.0, -V, -east), 0.0, 0.0, 1e4, 0.0) == pytest.approx(-full, rel=0.05)


def test_bank_balances_the_acceleration_within_its_limit():
    assert bank_of_acceleration(9.81, 9.81, radians(60.0)) == pytest.approx(radians(45.0))
    assert bank_of_acceleration(-30.0, 9.81, radians(30.0)) == -radians(30.0)


def test_standing_still_asks_for_nothing():
    still = PlaneMotion(3.0, 4.0, 0.0, 0.0)
    assert l1_line(P, still, 0.0, 0.0, 1e3, 0.0) == pytest.approx(0.0, abs=1e-3)
    assert l1_circle(P, replace(still, north_m=0.0, east_m=0.0), 0.0, 0.0, 50.0) == pytest.approx(0.0, abs=1e-3)
