"""One source, three engines: the airplane's and the quadplane's guidance and control as floats, lanes and symbols."""

import sys
from pathlib import Path

import numpy as np
import pytest
from drjit.llvm.ad import Float64

from engines import as_floats, as_lanes, as_symbols

sys.path.insert(0, str(Path(__file__).parents[1] / "verification"))
from airplane_rig import GAINS, INERTIA, LIFT_ROTORS, MASS, wing_setpoint

from fieldworthy.control.fixed_wing import FixedWingState, fixed_wing_control
from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.l1 import PlaneMotion, l1_steer
from fieldworthy.control.multirotor import MultirotorOptions
from fieldworthy.control.multirotor_gains import default_gains
from fieldworthy.control.position import approach_speed_per_m
from fieldworthy.control.tecs import TecsState, tecs_control
from fieldworthy.control.vtol import VtolParameters, VtolState, next_vtol
from fieldworthy.control.vtol_autopilot import VtolAutopilotParameters, first_vtol_autopilot, vtol_control
from fieldworthy.core.lanes import select
from fieldworthy.core.vec import Vec3, quat_from_euler_zyx

LANES = 96
INPUTS = np.random.default_rng(8).uniform(-1.0, 1.0, size=(14, LANES))
CHANGE = VtolParameters(14.0, 19.0, 8.0, 1.0, 15.0, 12.0, 1.0, 0.5)
QUADPLANE = VtolAutopilotParameters(default_gains(MASS, INERTIA, LIFT_ROTORS, 0.01), GAINS, CHANGE)


def estimate_of(x):
    return Estimate(
        Vec3(50.0 * x[0], 50.0 * x[1], -100.0 + 20.0 * x[2]),
        Vec3(20.0 + 10.0 * x[3], 10.0 * x[4], 3.0 * x[5]),
        quat_from_euler_zyx(0.8 * x[6], 0.4 * x[7], 2.0 * x[8]),
        Vec3(x[9], x[10], x[11]),
        20.0 + 15.0 * x[12],
    )


def setpoint_of(x):
    way = select(x[13] > 0.0, 1.0, 0.0)
    return wing_setpoint(north_m=300.0, east_m=40.0 * x[13], airspeed_m_s=20.0 * x[12], way=way)


def phase_of(x):
    return select(x[10] < -0.5, 0.0, select(x[10] < 0.0, 1.0, select(x[10] < 0.5, 2.0, 3.0)))


def quadplane(x):
    e = estimate_of(x)
    state = first_vtol_autopilot(MultirotorOptions(), e)
    state.change = VtolState(phase_of(x), 10.0 + 8.0 * x[11], 0.5 + 0.5 * x[9], select(x[8] > 0.8, 1.0, 0.0))
    return vtol_control(MultirotorOptions(), QUADPLANE, setpoint_of(x), e, state, 0.01)[:2]


LAWS = {
    "line": lambda x: l1_steer(
        GAINS.l1, PlaneMotion(90.0 * x[0], 90.0 * x[1], 30.0 * x[2], 30.0 * x[3]), 0.0, x[4], 200.0 * x[5], 90.0, 60.0
    ),
    "circle": lambda x: l1_steer(
        GAINS.l1, PlaneMotion(90.0 * x[0], 90.0 * x[1], 30.0 * x[2], 30.0 * x[3]), 5.0, 5.0, 5.0, 5.0, 60.0 * x[4]
    ),
    "energy": lambda x: tecs_control(
        GAINS.tecs, 50.0 * x[0], x[1], 25.0 + 10.0 * x[2], 4.0 * x[3], 25.0 + 15.0 * x[4], 0.05, 0.9 + 0.1 * x[5],
        9.81, TecsState(25.0 + 15.0 * x[6], 0.1 * x[7], 0.1 * x[8]), 0.02,
    ),
    "airplane": lambda x: fixed_wing_control(
        GAINS, setpoint_of(x), estimate_of(x), FixedWingState(TecsState(20.0, 0.0, 0.0), x[5], x[6]), 0.02
    ),
    "phases": lambda x: next_vtol(
        CHANGE, setpoint_of(x), estimate_of(x), VtolState(phase_of(x), 10.0 + 8.0 * x[11], 0.5, 0.0), 0.02
    ),
    "quadplane": quadplane,
    "braking": lambda x: approach_speed_per_m(20.0 * x[0] * x[0], 0.8, 1.0 + 0.5 * x[1]),
}  # fmt: skip


@pytest.mark.parametrize("name", LAWS)
def test_engines_agree(name):
    law = LAWS[name]
    expected = as_floats(law, INPUTS)
    assert expected.shape[1] == LANES
    assert np.isfinite(expected).all()
    assert len(np.unique(expected)) > 3, "inputs that take one branch only test nothing"
    assert as_symbols(law, INPUTS) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    # Dr.Jit's 64-bit functions are good to a few units in the last place of an intermediate result.
    assert as_lanes(law, INPUTS, Float64) == pytest.approx(expected, rel=1e-9, abs=1e-9)
