"""Atmosphere, wind and turbulence as floats, lanes and symbols, and their slopes at the edges."""

import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float, Float64

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.core.struct import leaves
from fieldworthy.core.vec import Vec3
from fieldworthy.environment import turbulence
from fieldworthy.environment.air import AirOptions, AirParameters, sample
from fieldworthy.environment.atmosphere import isa, pressure_altitude_m
from fieldworthy.environment.turbulence import TurbulenceOptions, TurbulenceParameters, TurbulenceState
from fieldworthy.environment.wind import Gust, WindOptions, WindParameters, wind_20ft_m_s

LANES = 128
INPUTS = np.random.default_rng(4).uniform(-1.5, 1.5, size=(20, LANES))
PULSE = Gust(1.0, 0.8, 0.5, Vec3(1.0, -2.0, 0.5))


def sampled(shear):
    def law(x):
        options = AirOptions(wind=WindOptions(shear=shear, gusts=1))
        p = AirParameters(elevation_m=200.0 * x[0], wind=WindParameters(4.0 * x[1], 3.0, 10.0, 0.1, 0.2, (PULSE,)))
        return sample(options, p, Vec3(x[2], x[3], 30.0 * x[4]), 2.0 + x[5], Vec3(x[6], x[7], 0.0))

    return law


def stirred(model, specification, severity):
    options = TurbulenceOptions(model, specification, rates=True, severity=severity)

    def law(x):
        p = TurbulenceParameters(8.0 + 3.0 * x[0], 2.0 + x[1])
        height = 400.0 + 350.0 * x[2]
        count = len(turbulence.first(options, (0.0,) * 9).v)
        state = TurbulenceState(
            tuple(x[3 : 3 + count - 1]), tuple(x[5 : 5 + count]), tuple(x[8 : 8 + count]), (x[11],), (x[3], x[4])
        )
        speed = turbulence.convection_m_s(9.0 * x[12], 4.0)
        moved = turbulence.step(options, p, state, height, speed, 1.6 + x[13], 0.05, tuple(x[11:20]))
        gust = turbulence.gust_m_s(options, p, moved, height)
        axes = turbulence.gust_axes(Vec3(x[14], x[15], 0.0), Vec3(x[16], x[17], 0.0))
        return (
            moved,
            gust,
            turbulence.gust_rate_rad_s(options, p, moved, height, 1.6 + x[13]),
            turbulence.gust_ned(gust, axes),
        )

    return law


LAWS = {
    "isa": lambda x: (isa(9000.0 + 8000.0 * x[0], 10.0 * x[1]), pressure_altitude_m(60000.0 + 39000.0 * x[2])),
    "even": sampled("none"),
    "log": sampled("log"),
    "power": sampled("power"),
    "dryden": stirred("dryden", "mil-f-8785c", "given"),
    "von karman": stirred("von-karman", "mil-hdbk-1797", "severe"),
}
SINGLE = {"isa": 1e-3, "even": 1e-4, "log": 1e-4, "power": 1e-4, "dryden": 5e-4, "von karman": 1e-2}
"""Of 32 bits: an altitude from a pressure near sea level is good to 1 mm; the last pivot of the von Karman noise over a
short step is rounding, which moves a state of size one by less than 0.01 and its variance by less than 1e-4."""


@pytest.mark.parametrize("name", LAWS)
def test_engines_agree(name):
    law = LAWS[name]
    expected = as_floats(law, INPUTS)
    assert np.isfinite(expected).all()
    assert len(np.unique(expected)) > 5
    assert as_symbols(law, INPUTS) == pytest.approx(expected, rel=1e-11, abs=1e-12)
    for scalar, tolerance in ((Float64, 1e-11), (Float, SINGLE[name])):
        assert as_lanes(law, INPUTS, scalar) == pytest.approx(expected, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("name", LAWS)
def test_slopes_are_finite_at_zero(name):
    # Opaque: a zero that is known while tracing is folded, and its slope with it.
    x = [dr.opaque(Float64, 0.0) for _ in INPUTS]
    dr.enable_grad(x)
    outputs = [Float64(value) for value in leaves(LAWS[name](x))]
    total = sum(outputs[1:], outputs[0])
    dr.backward(total)
    assert np.isfinite([dr.grad(value)[0] for value in x]).all()
    calm = WindParameters(dr.opaque(Float64, 0.0), 0.0)
    dr.enable_grad(calm.north_m_s)
    dr.backward(wind_20ft_m_s(WindOptions(shear="log"), calm))
    assert np.isfinite(dr.grad(calm.north_m_s)[0])


def test_turbulence_that_is_off_costs_nothing():
    options, p = TurbulenceOptions(), TurbulenceParameters()
    assert turbulence.normals_needed(options) == 0
    rest = turbulence.first(options, ())
    assert leaves(rest) == []
    assert turbulence.step(options, p, rest, None, None, None, None, ()) is rest
    assert tuple(turbulence.gust_m_s(options, p, rest, None)) == (0.0, 0.0, 0.0)
