"""Strength and length of turbulence against the specifications' numbers."""

import pytest

from fieldworthy.environment.turbulence_scales import FOOT_M, eddy_time_s, exceedance_sigma_m_s, scales

KNOT_M_S = 1852.0 / 3600.0


def at(height_m, *, model="dryden", specification="mil-f-8785c", severity="given", wind=15.0 * KNOT_M_S, high=2.0):
    return scales(model, specification, severity, height_m, wind, high)


def test_worked_example_at_30_m_in_light_turbulence():
    # Flight-robot-simulation document, section 8.28.5.3 (rounded to the digits given here).
    s = at(30.0)
    assert s.sigma_u_m_s == pytest.approx(1.33, abs=0.005)
    assert s.sigma_v_m_s == s.sigma_u_m_s
    assert s.sigma_w_m_s == pytest.approx(0.77, abs=0.005)
    assert s.length_u_m == pytest.approx(152.0, abs=0.6)
    assert s.length_v_m == s.length_u_m
    assert s.length_w_m == pytest.approx(30.0)
    for convection, along, vertical in ((10.0, 15.2, 3.0), (1.0, 152.0, 30.0), (5.0, 30.0, 6.0)):
        time_u = eddy_time_s("mil-f-8785c", s.length_u_m, convection, lateral=False)
        assert time_u == pytest.approx(along, rel=0.02)
        assert eddy_time_s("mil-f-8785c", s.length_w_m, convection, lateral=True) == pytest.approx(vertical)


@pytest.mark.parametrize("model", ["dryden", "von-karman"])
@pytest.mark.parametrize("height_m", [1.0, 30.0, 200.0, 400.0, 500.0, 900.0])
def test_the_handbook_halves_the_lengths_across_and_doubles_the_times(model, height_m):
    old, new = at(height_m, model=model), at(height_m, model=model, specification="mil-hdbk-1797")
    assert new.length_u_m == old.length_u_m
    assert (new.length_v_m, new.length_w_m) == (old.length_v_m / 2.0, old.length_w_m / 2.0)
    if height_m < 1000.0 * FOOT_M:
        assert new.length_u_m == pytest.approx(2.0 * new.length_v_m)  # L_u = 2 L_v
    if 10.0 * FOOT_M < height_m < 1000.0 * FOOT_M:
        assert 2.0 * new.length_w_m == pytest.approx(height_m)  # 2 L_w = h
    times = [eddy_time_s("mil-hdbk-1797", new.length_w_m, 8.0, lateral=True), old.length_w_m / 8.0]
    assert times[0] == times[1]


def test_isotropic_at_1000_ft_where_the_low_altitude_law_ends():
    s = at(1000.0 * FOOT_M)
    assert s.sigma_u_m_s == pytest.approx(s.sigma_w_m_s)
    assert s.length_u_m == pytest.approx(1000.0 * FOOT_M)
    assert s.length_w_m == pytest.approx(1000.0 * FOOT_M)


@pytest.mark.parametrize(("model", "feet"), [("dryden", 1750.0), ("von-karman", 2500.0)])
def test_high_altitude_and_the_middle_of_the_blend(model, feet):
    high = at(700.0, model=model)
    assert [high.sigma_u_m_s, high.sigma_v_m_s, high.sigma_w_m_s] == pytest.approx([2.0] * 3)
    assert [high.length_u_m, high.length_v_m, high.length_w_m] == pytest.approx([feet * FOOT_M] * 3)
    middle = at(1500.0 * FOOT_M, model=model)
    assert middle.length_u_m == pytest.approx((1000.0 + feet) / 2.0 * FOOT_M)
    assert middle.sigma_w_m_s == pytest.approx((0.1 * 15.0 * KNOT_M_S + 2.0) / 2.0)


def test_on_the_ground_and_in_calm_air_all_is_finite():
    s = at(0.0, wind=0.0)
    assert s.sigma_u_m_s == 0.0
    assert s.length_w_m == pytest.approx(10.0 * FOOT_M)
    assert 0.0 < eddy_time_s("mil-f-8785c", s.length_w_m, 0.0, lateral=True) < 1e5


@pytest.mark.parametrize(
    ("severity", "feet", "sigma_ft_s"),
    [("light", 1750.0, 6.9), ("moderate", 7500.0, 10.1), ("severe", 25000.0, 20.0), ("light", 4e5, 0.0)],
)
def test_exceedance_curves(severity, feet, sigma_ft_s):
    # MIL-F-8785C figure 7 as read by JSBSim (FGWinds.cpp).
    assert exceedance_sigma_m_s(severity, feet * FOOT_M) == pytest.approx(sigma_ft_s * FOOT_M, abs=1e-9)
    used = at(feet * FOOT_M, severity=severity)
    if feet > 2000.0:
        assert used.sigma_v_m_s == pytest.approx(sigma_ft_s * FOOT_M, abs=1e-9)
