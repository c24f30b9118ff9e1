"""Motor lag, throttle curves, supply voltage and electrical power against closed forms."""

import math
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from drjit.llvm.ad import Float64

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.core.integrate import rk4
from fieldworthy.core.vec import Vec3
from fieldworthy.vehicles.motor import (
    MotorOptions,
    MotorParameters,
    commanded_speed_rad_s,
    electrical_power_w,
    speed_rate,
    throttle_for_speed,
)
from fieldworthy.vehicles.rotor import RotorParameters, rotor_power_w

ROTOR = RotorParameters(
    pos_frd_m=Vec3(0.2, 0.2, 0.0), axis_frd=Vec3(0.0, 0.0, -1.0), spin=1.0, thrust_coefficient_n_s2=1.08116e-5,
    torque_ratio_m=0.016, radius_m=0.127, speed_max_rad_s=1000.0, lag_up_s=0.03, lag_down_s=0.06,
)  # fmt: skip
MOTOR = MotorParameters(14.8, 0.75, 1.4, -0.4, 0.0, speed_constant_rad_s_v=96.3, resistance_ohm=0.1, idle_current_a=0.5)
CURVES = [MotorOptions(curve) for curve in ("speed", "thrust-linear", "polynomial", "dc-motor")]


@pytest.mark.parametrize(("start", "command", "lag_s"), [(200.0, 700.0, 0.03), (700.0, 200.0, 0.06)])
def test_step_is_exponential_with_its_own_lag_each_way(start, command, lag_s):
    w = start
    for _ in range(50):
        w = rk4(lambda w: speed_rate(ROTOR, w, command), w, 0.001)
    # RK4 at h/tau = 1/30: (h/tau)^5/120 a step, 2e-10 each.
    assert w == pytest.approx(command + (start - command) * math.exp(-0.05 / lag_s), rel=1e-7)


def test_equal_lags_need_no_choice():
    lane = ca.SX.sym("w")
    equal = replace(ROTOR, lag_down_s=0.03)
    assert (
        ca.Function("f", [lane], [speed_rate(equal, lane, 700.0)]).n_instructions()
        < ca.Function("f", [lane], [speed_rate(ROTOR, lane, 700.0)]).n_instructions()
    )
    assert speed_rate(equal, 600.0, 700.0) == pytest.approx(100.0 / 0.03)


def test_curves_do_what_their_names_say():
    def at(curve, u):
        return commanded_speed_rad_s(MotorOptions(curve), MOTOR, ROTOR, u, 14.8)

    assert at("speed", 0.25) == 250.0
    assert at("thrust-linear", 0.25) == pytest.approx(500.0)
    assert at("polynomial", 0.5) == pytest.approx((0.7 - 0.1) * 1000.0)
    for options in CURVES:
        assert at(options.curve, 0.0) == 0.0
        assert at(options.curve, -3.0) == 0.0
        assert at(options.curve, 7.0) == at(options.curve, 1.0)
    idling = replace(ROTOR, speed_min_rad_s=150.0)
    for options in CURVES:
        assert commanded_speed_rad_s(options, MOTOR, idling, 0.01, 14.8) == 150.0
        assert commanded_speed_rad_s(options, MOTOR, idling, 0.0, 14.8) == 0.0, "a motor without throttle stands"


@pytest.mark.parametrize("options", CURVES)
def test_throttle_for_speed_is_the_inverse(options):
    for speed in (50.0, 300.0, 673.6, 880.0):
        throttle = throttle_for_speed(options, MOTOR, ROTOR, speed)
        assert 0.0 < throttle < 1.0
        assert commanded_speed_rad_s(options, MOTOR, ROTOR, throttle, 14.8) == pytest.approx(speed, rel=1e-9)


def test_a_flat_battery_lowers_thrust_with_the_square_of_the_voltage():
    options = MotorOptions("speed", voltage=True)
    full = commanded_speed_rad_s(options, MOTOR, ROTOR, 0.7, 14.8)
    low = commanded_speed_rad_s(options, MOTOR, ROTOR, 0.7, 0.8 * 14.8)
    assert (low / full) ** 2 == pytest.approx(0.64, rel=1e-12)
    assert commanded_speed_rad_s(MotorOptions("speed"), MOTOR, ROTOR, 0.7, 5.0) == full, "not felt when off"


def test_dc_motor_balances_volts_and_energy():
    """Free rotor: w = K_v V. Loaded: terminal volts are back EMF plus R I; power in = shaft + R I^2 + idle loss."""
    options = MotorOptions("dc-motor", voltage=True)
    free = replace(MOTOR, idle_current_a=0.0)
    no_air = replace(ROTOR, effectiveness=0.0, speed_max_rad_s=5000.0)
    assert commanded_speed_rad_s(options, free, no_air, 1.0, 14.8) == pytest.approx(96.3 * 14.8, rel=1e-12)

    w = commanded_speed_rad_s(options, MOTOR, ROTOR, 0.6, 14.8)
    torque = 0.016 * 1.08116e-5 * w * w
    current = torque * 96.3 + 0.5
    assert w / 96.3 + 0.1 * current == pytest.approx(0.6 * 14.8, rel=1e-12)
    power = electrical_power_w(options, MOTOR, ROTOR, w)
    losses = 0.1 * current**2 + 0.5 * w / 96.3
    assert power == pytest.approx(rotor_power_w(ROTOR, w, 1.225) + losses, rel=1e-12)
    assert power == pytest.approx(0.6 * 14.8 * current, rel=1e-12)


def test_constant_efficiency_and_rest():
    assert electrical_power_w(MotorOptions(), MOTOR, ROTOR, 700.0) == pytest.approx(
        0.016 * 1.08116e-5 * 700.0**3 / 0.75, rel=1e-12
    )
    for options in CURVES:
        assert electrical_power_w(options, MOTOR, ROTOR, 0.0) == 0.0


@pytest.mark.parametrize("options", [*CURVES, MotorOptions("dc-motor", True), MotorOptions("polynomial", True)])
def test_engines_agree(options):
    rng = np.random.default_rng(11)
    inputs = rng.uniform(0.0, 1.0, (3, 64))
    inputs[:2, 0] = 0.0

    def law(x):
        command = commanded_speed_rad_s(options, MOTOR, ROTOR, x[0], 10.0 + 6.0 * x[2])
        speed = 1000.0 * x[1]
        throttle = throttle_for_speed(options, MOTOR, ROTOR, speed)
        return [command, speed_rate(ROTOR, speed, command), electrical_power_w(options, MOTOR, ROTOR, speed), throttle]

    expected = as_floats(law, inputs)
    assert np.isfinite(expected).all()
    assert as_lanes(law, inputs, Float64) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert as_symbols(law, inputs) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    x = ca.SX.sym("x", 3)
    outputs = ca.vertcat(*law([x[0], x[1], x[2]]))
    slopes = np.array(ca.Function("g", [x], [ca.jacobian(outputs, x)])([0.0, 0.0, 0.5]))
    assert np.isfinite(slopes).all(), "gradients at rest are finite"
