"""One source, four engines: autopilot and navigation filter as floats, lanes and symbols."""

import math
import sys
from pathlib import Path

import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float, Float64

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.control import complementary as nav
from fieldworthy.control.attitude import AttitudeOptions
from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.multirotor import MultirotorOptions, first_multirotor_state, multirotor_control
from fieldworthy.control.multirotor_gains import default_gains
from fieldworthy.control.position import PositionOptions
from fieldworthy.core.vec import Vec3, quat_from_euler_zyx

sys.path.insert(0, str(Path(__file__).parents[1] / "verification"))
from flight_rig import GRAVITY, INERTIA, MASS, ROTORS, setpoint

LANES = 128
INPUTS = np.random.default_rng(8).uniform(-1.0, 1.0, size=(16, LANES))
GAINS = default_gains(MASS, INERTIA, ROTORS, 0.004, GRAVITY)
ALL_TERMS = MultirotorOptions(AttitudeOptions(True, True), PositionOptions(True, True))


def estimate_of(x):
    return Estimate(
        Vec3(9.0 * x[0], 9.0 * x[1], 3.0 * x[2]),
        Vec3(3.0 * x[3], 3.0 * x[4], x[5]),
        quat_from_euler_zyx(0.9 * x[6], 0.9 * x[7], 3.0 * x[8]),
        Vec3(x[9], x[10], x[11]),
        0.0,
    )


def autopilot(options):
    def law(x):
        start = Estimate(
            Vec3(0.0, 0.0, 0.0), Vec3(x[3], x[4], x[5]), estimate_of(x).quat_ned_from_frd, Vec3(0.0, x[9], 0.0), 0.0
        )
        state = first_multirotor_state(options, start)
        target = setpoint(
            up_m=2.0 * x[12], north_m=4.0 * x[13], heading_rad=3.0 * x[14], speed_max_m_s=2.0 + 2.5 * x[15]
        )
        _, state, _ = multirotor_control(options, GAINS, target, estimate_of(x), state, 0.004)
        return multirotor_control(options, GAINS, target, estimate_of(x), state, 0.004)

    return law


def navigation(options):
    def law(x):
        p = nav.FilterParameters(GRAVITY, 0.2)
        e = estimate_of(x)
        state = nav.first(e.pos_ned_m, e.vel_ned_m_s, e.quat_ned_from_frd, 12.0 + x[12])
        state.since_fix_s = 1.0 + x[13]
        force = Vec3(x[14], x[15], -9.0 + x[12])
        state = nav.predict(options, p, state, e.rate_frd_rad_s, force, 0.01)
        state = nav.correct_gnss(
            options, p, state, Vec3(x[12], x[13], x[14]), Vec3(x[15], x[12], x[13]), 0.1, x[14] > 0.0
        )
        state = nav.correct_baro(p, state, 2.0 * x[15], x[13] > 0.2)
        state = nav.correct_mag(p, state, Vec3(0.5 + 0.3 * x[12], 0.3 * x[13], 0.8 + 0.1 * x[11]), 0.05, x[15] > 0.0)
        state = nav.correct_airspeed(p, state, 10.0 + x[14], x[12] > 0.0)
        return state, nav.level_attitude(force, x[13])

    return law


LAWS = {
    "autopilot": autopilot(MultirotorOptions()),
    "autopilot, all terms": autopilot(ALL_TERMS),
    "filter": navigation(nav.FilterOptions()),
    "filter, airplane": navigation(nav.FilterOptions(barometer=False, airspeed=True)),
}


@pytest.mark.parametrize("name", LAWS)
def test_engines_agree(name):
    law = LAWS[name]
    expected = as_floats(law, INPUTS)
    assert np.isfinite(expected).all()
    assert as_symbols(law, INPUTS) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert as_lanes(law, INPUTS, Float64) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert as_lanes(law, INPUTS, Float) == pytest.approx(expected, rel=1e-3, abs=2e-3)


def test_gradients_are_finite_in_perfect_hover():
    """Where every error is zero, lengths are zero: their gradients must not be NaN."""
    x = [Float64(0.0) for _ in range(12)]
    for value in x:
        dr.enable_grad(value)
    e = Estimate(Vec3(*x[0:3]), Vec3(*x[3:6]), quat_from_euler_zyx(*x[6:9]), Vec3(*x[9:12]), 0.0)
    options = MultirotorOptions()
    at_rest = Estimate(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0), e.quat_ned_from_frd, Vec3(0.0, 0.0, 0.0), 0.0)
    thrusts, _, _ = multirotor_control(
        options, GAINS, setpoint(up_m=0.0), e, first_multirotor_state(options, at_rest), 0.004
    )
    dr.backward(thrusts[0])
    gradients = [float(dr.grad(value)[0]) for value in x]
    assert all(math.isfinite(g) for g in gradients)
    # The front right rotor: speeds up when the vehicle has sunk, slows when it rolls left.
    assert gradients[2] > 0.0
    assert gradients[9] != 0.0
