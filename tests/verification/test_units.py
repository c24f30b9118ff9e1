"""Units by their definitions."""

import math

import pytest
from drjit.llvm.ad import Float64

from fieldworthy.core.units import m_s_from_kt, rad_from_deg, wrap_pi


def test_definitions():
    """180 deg = pi; one knot is 1852 m an hour (International Hydrographic Conference 1929)."""
    assert rad_from_deg(180.0) == math.pi
    assert m_s_from_kt(3600.0) == pytest.approx(1852.0, rel=1e-15)
    assert list(rad_from_deg(Float64([90.0, -90.0]))) == [math.pi / 2, -math.pi / 2]


@pytest.mark.parametrize(
    ("angle", "wrapped"),
    [(0.0, 0.0), (3.0, 3.0), (-3.0, -3.0), (math.pi, -math.pi), (-math.pi, -math.pi), (4.0, 4.0 - 2 * math.pi)],
)
def test_wrap(angle, wrapped):
    for turns in (-3, 0, 2):
        turned = angle + 2 * math.pi * turns
        assert math.remainder(wrap_pi(turned) - wrapped, 2 * math.pi) == pytest.approx(0.0, abs=1e-14)
        assert -math.pi - 1e-14 <= wrap_pi(turned) <= math.pi + 1e-14
    assert wrap_pi(angle) == pytest.approx(wrapped, abs=1e-15)
    assert wrap_pi(Float64(angle))[0] == pytest.approx(wrapped, abs=1e-15)
