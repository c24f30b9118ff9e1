"""Coefficient tables: what they hold comes out, equal to the derivatives they were made of; bad ones are refused."""

import copy
import math

import casadi as ca
import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float64

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.core.vec import Vec3
from fieldworthy.vehicles.aero_table import aero_table_wrench, aero_tables
from fieldworthy.vehicles.aerodynamics import AeroOptions, Surfaces, Wash, aero_wrench
from fieldworthy.verify.aerodynamics import aerosonde

STILL = Vec3(0.0, 0.0, 0.0)
ALPHA_DEG = [-180.0, -90.0, -30.0, -10.0, 0.0, 10.0, 30.0, 90.0, 180.0]
BETA_DEG = [-90.0, -20.0, 0.0, 20.0, 90.0]


def straight_values():
    """The Aerosonde's straight lines (no stall, no induced drag) as tables."""
    p = aerosonde()
    alpha, beta = np.radians(ALPHA_DEG), np.radians(BETA_DEG)
    values = {"aero_area_m2": p.area_m2, "aero_span_m": p.span_m, "aero_chord_m": p.chord_m,
              "aero_table_alpha_deg": ALPHA_DEG, "aero_table_beta_deg": BETA_DEG}  # fmt: skip
    over_alpha = {"cl": p.cl0 + p.cl_alpha * alpha, "cd": p.cd0 + 0.0 * alpha, "cm": p.cm0 + p.cm_alpha * alpha}
    for name, line in over_alpha.items():
        values[f"aero_table_{name}"] = np.repeat(line[:, None], len(beta), axis=1).tolist()
    for name in ("cy", "cell", "cn"):
        line = getattr(p, f"{name}0") + getattr(p, f"{name}_beta") * beta
        values[f"aero_table_{name}"] = np.repeat(line[None, :], len(alpha), axis=0).tolist()
    plane, across = ("cl", "cd", "cm"), ("cy", "cell", "cn")
    endings = {"elevator": plane, "q": plane, "aileron": across, "rudder": across, "p": across, "r": across}
    for ending, names in endings.items():
        for name in names:
            values[f"aero_table_{name}_{ending}"] = [getattr(p, f"{name}_{ending}")] * len(alpha)
    return values


OPTIONS, TABLES = aero_tables(straight_values())


def six(wrench):
    return [*wrench.force_frd_n, *wrench.moment_frd_n_m]


@pytest.mark.parametrize("wash", [None, Wash(30.0, 50.0, 70.0)])
def test_tables_of_straight_lines_are_the_derivatives(wash):
    # Without sideslip both laws refer to the same pressure; with it, lift, drag and pitch differ by cos^2(beta).
    rate, surfaces = Vec3(0.4, -0.3, 0.2), Surfaces(0.1, -0.2, 0.05)
    for alpha in (-0.35, 0.0, 0.05, 0.3):
        v = Vec3(22.0 * math.cos(alpha), 0.0, 22.0 * math.sin(alpha))
        expected = aero_wrench(AeroOptions(stall=False, induced_drag=False), aerosonde(), v, rate, surfaces, 1.2, wash)
        got = aero_table_wrench(OPTIONS, TABLES, v, rate, surfaces, 1.2, wash)
        assert six(got) == pytest.approx(six(expected), rel=1e-6, abs=1e-6)


def test_sideslip_reads_the_other_axis():
    v = Vec3(20.0, 20.0 * math.tan(math.radians(20.0)), 0.0)
    got = aero_table_wrench(OPTIONS, TABLES, v, STILL, Surfaces(0.0, 0.0, 0.0), 1.2)
    q_area = 0.6 * (v.x**2 + v.y**2) * 0.55
    # Aerosonde: C_Y = -0.98 beta, C_n = 0.073 beta, C_ell = -0.13 beta at a knot of 20 degrees.
    beta = math.radians(20.0)
    assert got.force_frd_n.y == pytest.approx(q_area * -0.98 * beta, rel=1e-6)
    assert got.moment_frd_n_m.z == pytest.approx(q_area * 2.8956 * 0.073 * beta, rel=1e-6)
    assert got.moment_frd_n_m.x == pytest.approx(q_area * 2.8956 * -0.13 * beta, rel=1e-6)


def test_a_stalled_table_is_followed_knot_by_knot():
    values = {"aero_area_m2": 1.0, "aero_span_m": 2.0, "aero_chord_m": 0.5,
              "aero_table_alpha_deg": [-180.0, 0.0, 15.0, 25.0, 90.0, 180.0], "aero_table_beta_deg": [-90.0, 90.0],
              "aero_table_cl": [[0.0] * 2, [0.1] * 2, [1.3] * 2, [0.7] * 2, [0.0] * 2, [0.0] * 2],
              "aero_table_cd": [[0.1] * 2, [0.02] * 2, [0.06] * 2, [0.4] * 2, [1.2] * 2, [0.1] * 2]}  # fmt: skip
    options, tables = aero_tables(values)
    for alpha_deg, lift, drag in ((15.0, 1.3, 0.06), (20.0, 1.0, 0.23), (90.0, 0.0, 1.2), (180.0, 0.0, 0.1)):
        a = math.radians(alpha_deg)
        v = Vec3(10.0 * math.cos(a), 0.0, 10.0 * math.sin(a))
        f = aero_table_wrench(options, tables, v, STILL, Surfaces(0.0, 0.0, 0.0), 2.0).force_frd_n
        assert (f.x * v.z - f.z * v.x) / 1000.0 == pytest.approx(lift, abs=1e-6)
        assert -(f.x * v.x + f.z * v.z) / 1000.0 == pytest.approx(drag, abs=1e-6)


def test_wash_uses_what_the_surface_does_in_flow_from_ahead():
    # An elevator that works only near alpha = 0, on an aircraft that falls backwards: the slipstream still comes along.
    values = {name: value for name, value in straight_values().items() if "_table_c" not in name}
    values["aero_table_cm_elevator"] = [0.0, 0.0, 0.0, 0.0, -0.5, 0.0, 0.0, 0.0, 0.0]
    options, tables = aero_tables(values)
    fall, elevator = Vec3(-3.0, 0.0, 0.5), Surfaces(0.0, 0.1, 0.0)
    assert aero_table_wrench(options, tables, fall, STILL, elevator, 1.2).moment_frd_n_m.y == 0.0
    blown = aero_table_wrench(options, tables, fall, STILL, elevator, 1.2, Wash(0.0, 100.0, 0.0))
    assert blown.moment_frd_n_m.y == pytest.approx(100.0 * 0.55 * 0.18994 * -0.05, rel=1e-9)


def test_what_is_not_in_the_file_is_zero_and_traces_nothing():
    values = {name: value for name, value in straight_values().items() if "_table_c" not in name}
    values["aero_table_cd"] = straight_values()["aero_table_cd"]
    options, tables = aero_tables(values)
    got = aero_table_wrench(options, tables, Vec3(20.0, 0.0, 0.0), Vec3(1.0, 1.0, 1.0), Surfaces(1.0, 1.0, 1.0), 1.2)
    assert six(got)[1:] == [0.0] * 5
    assert got.force_frd_n.x < 0.0
    x = ca.SX.sym("x", 3)

    def size(options, tables):
        w = aero_table_wrench(options, tables, Vec3(x[0], x[1], x[2]), STILL, Surfaces(0.1, 0.1, 0.1), 1.2)
        return ca.Function("law", [x], [ca.vertcat(*six(w))]).n_instructions()

    assert size(options, tables) < 0.5 * size(OPTIONS, TABLES)


def test_bad_tables_are_refused_with_their_name():
    for key, bad in (("aero_table_cl", [[0.0] * 5] * 3), ("aero_table_cm_elevator", [0.0]), ("aero_table_cn", 3.0)):
        values = copy.deepcopy(straight_values())
        values[key] = bad
        with pytest.raises(ValueError, match=f"{key}.*valid"):
            aero_tables(values)
    values = straight_values()
    values["aero_table_alpha_deg"] = [0.0, 10.0, 5.0]
    with pytest.raises(ValueError, match="aero_table_alpha_deg"):
        aero_tables(values)


def test_engines_agree_and_rest_is_safe():
    inputs = np.random.default_rng(8).uniform(-1.0, 1.0, size=(6, 80))

    def law(x):
        v = Vec3(25.0 * x[0], 9.0 * x[1], 25.0 * x[2])
        surfaces = Surfaces(0.1, x[4], x[5])
        return six(aero_table_wrench(OPTIONS, TABLES, v, Vec3(0.1, x[3], 0.2), surfaces, 1.1, Wash(9.0, 8.0, 7.0)))

    expected = as_floats(law, inputs)
    assert as_lanes(law, inputs, Float64) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert as_symbols(law, inputs) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    v = Vec3(Float64([0.0, 20.0]), Float64([0.0, 0.0]), Float64([0.0, 0.0]))
    dr.enable_grad(v.x, v.y, v.z)
    rest = six(aero_table_wrench(OPTIONS, TABLES, v, STILL, Surfaces(0.1, 0.1, 0.1), 1.2))
    dr.backward(sum(rest[1:], start=rest[0]))
    assert all(np.isfinite(np.asarray(dr.grad(c))).all() for c in v)
    assert np.abs(np.array([np.asarray(r)[0] for r in rest])).max() < 1e-9
