"""Motor and speed controller: from throttle and supply voltage to the speed of a rotor, and the power that takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fieldworthy.core.lanes import Scalar, clip, maximum, select, sqrt
from fieldworthy.vehicles.rotor import RotorParameters, rotor_power_w
from fieldworthy.vehicles.rotor_proximity import REFERENCE_DENSITY_KG_M3

Curve = Literal["speed", "thrust-linear", "polynomial", "dc-motor"]
"""What a throttle from 0 to 1 sets: the speed; the squared speed, so thrust; a polynomial of the speed; or the voltage
at a brushless motor under the rotor's load."""


@dataclass(frozen=True)
class MotorOptions:
    """How throttle becomes speed, and whether a sagging battery is felt."""

    curve: Curve = "speed"
    voltage: bool = False
    """Full speed follows the supply voltage."""


@dataclass
class MotorParameters:
    """Numbers of one motor with its speed controller."""

    nominal_voltage_v: Scalar
    """At which the rotor's `speed_max_rad_s` holds."""
    efficiency: Scalar = 0.75
    """Shaft power over electrical power, controller included; for all curves but "dc-motor"."""
    curve_1: Scalar = 1.0
    curve_2: Scalar = 0.0
    curve_3: Scalar = 0.0
    """Polynomial: speed over full speed is c1 u + c2 u^2 + c3 u^3."""
    speed_constant_rad_s_v: Scalar = 96.3
    """K_v in SI: 920 rpm/V is 96.3 rad/(s V). "dc-motor" only, as the next two."""
    resistance_ohm: Scalar = 0.1
    """Winding, controller and leads."""
    idle_current_a: Scalar = 0.0


def commanded_speed_rad_s(
    options: MotorOptions, p: MotorParameters, rotor: RotorParameters, throttle: Scalar, voltage_v: Scalar
) -> Scalar:
    """The speed that a rotor settles at.

    Equation: speed: w = u w_max;   thrust-linear: w = sqrt(u) w_max;   polynomial: w = (c1 u + c2 u^2 + c3 u^3) w_max,
        each times V/V_nominal with `options.voltage`;   dc-motor: w/K_v + R K_v kappa k_f w^2 = u V - R I_0.
        Above throttle 0, where the motor stands, it is kept between the rotor's least and greatest speed (the greatest
        moves with the voltage).
    Source: speed controllers' usual curves; "dc-motor": steady state of the three-constant motor model (Drela 2007,
        "First-order DC electric motor model", MIT) with the load of the rotor at 1.225 kg/m3.
    Shapes: scalars; throttle from 0 to 1, held there outside.
    Limits: steady state; the way there is `speed_rate`. No current limit of the controller.
    Verified by: tests/verification/test_motor.py
    """
    u = clip(throttle, 0.0, 1.0)
    if options.curve == "dc-motor":
        volts = voltage_v if options.voltage else p.nominal_voltage_v
        speed = _loaded_speed_rad_s(p, rotor, u * volts)
        return _turning(u, speed, rotor, rotor.speed_max_rad_s)
    full = rotor.speed_max_rad_s
    if options.voltage:
        full = full * (voltage_v / p.nominal_voltage_v)
    if options.curve == "speed":
        return _turning(u, u * full, rotor, full)
    if options.curve == "thrust-linear":
        # The root of u; the small number keeps value and slope finite at zero throttle.
        return _turning(u, u / sqrt(maximum(u, 1e-6)) * full, rotor, full)
    return _turning(u, (p.curve_1 + (p.curve_2 + p.curve_3 * u) * u) * u * full, rotor, full)


def _turning(throttle: Scalar, speed_rad_s: Scalar, rotor: RotorParameters, full_rad_s: Scalar) -> Scalar:
    """Kept between the least and the greatest speed; at no throttle the motor stands still."""
    kept = clip(speed_rad_s, rotor.speed_min_rad_s, full_rad_s)
    least = rotor.speed_min_rad_s
    if isinstance(least, int | float) and least == 0.0:
        return kept
    return select(throttle > 0.0, kept, 0.0 * kept)


def _loaded_speed_rad_s(p: MotorParameters, rotor: RotorParameters, volts: Scalar) -> Scalar:
    """Root of a w^2 + b w = c, written so that it stays exact as the resistance goes to nothing."""
    b = 1.0 / p.speed_constant_rad_s_v
    torque_coefficient = rotor.torque_ratio_m * rotor.thrust_coefficient_n_s2 * rotor.effectiveness
    a = p.resistance_ohm * p.speed_constant_rad_s_v * torque_coefficient
    c = maximum(volts - p.resistance_ohm * p.idle_current_a, 0.0)
    return 2.0 * c / (b + sqrt(b * b + 4.0 * a * c))


def throttle_for_speed(
    options: MotorOptions, p: MotorParameters, rotor: RotorParameters, speed_rad_s: Scalar
) -> Scalar:
    """The throttle that settles at a speed with the nominal voltage: what a flight controller sends.

    Equation: inverse of `commanded_speed_rad_s`; of the polynomial by six Newton steps from u = w/w_max.
    Source: as `commanded_speed_rad_s`.      Shapes: scalars.
    Limits: the polynomial must rise throughout; speeds outside the rotor's range give throttles of 0 or 1.
    Verified by: tests/verification/test_motor.py
    """
    x = speed_rad_s / rotor.speed_max_rad_s
    if options.curve == "speed":
        return clip(x, 0.0, 1.0)
    if options.curve == "thrust-linear":
        return clip(x * x, 0.0, 1.0)
    if options.curve == "dc-motor":
        torque = rotor.torque_ratio_m * rotor.thrust_coefficient_n_s2 * rotor.effectiveness * speed_rad_s * speed_rad_s
        current = torque * p.speed_constant_rad_s_v + p.idle_current_a
        volts = speed_rad_s / p.speed_constant_rad_s_v + p.resistance_ohm * current
        return clip(volts / p.nominal_voltage_v, 0.0, 1.0)
    u = clip(x, 0.0, 1.0)
    for _ in range(6):
        value = (p.curve_1 + (p.curve_2 + p.curve_3 * u) * u) * u - x
        slope = p.curve_1 + (2.0 * p.curve_2 + 3.0 * p.curve_3 * u) * u
        u = clip(u - value / maximum(slope, 0.05), 0.0, 1.0)
    return u


def speed_rate(rotor: RotorParameters, speed_rad_s: Scalar, commanded_rad_s: Scalar) -> Scalar:
    """Acceleration of a rotor towards the commanded speed [rad/s2].

    Equation: w' = (w_c - w)/tau, tau = tau_up where w_c > w, else tau_down
    Source: first-order lag, the usual fit of bench steps; motors brake more slowly than they accelerate (Furrer et al.
        2016, RotorS).      Shapes: scalars.
    Limits: linear; no current limit. The slope of the rate jumps at w = w_c where the lags differ; the rate does not.
    Verified by: tests/verification/test_motor.py
    """
    up, down = rotor.lag_up_s, rotor.lag_down_s
    error = commanded_rad_s - speed_rad_s
    if up is down or (isinstance(up, float) and isinstance(down, float) and up == down):
        return error * (1.0 / up)
    # Select between lanes: a choice between two plain numbers would be made in 32 bits.
    return select(error > 0.0, error * (1.0 / up), error * (1.0 / down))


def electrical_power_w(
    options: MotorOptions,
    p: MotorParameters,
    rotor: RotorParameters,
    speed_rad_s: Scalar,
    density_kg_m3: Scalar = REFERENCE_DENSITY_KG_M3,
) -> Scalar:
    """Power that one motor draws from the battery.

    Equation: P = kappa k_f w^3 (rho/rho_0)/eta;   dc-motor: P = V_m I with I = Q K_v + I_0,  V_m = w/K_v + R I
    Source: torque times speed; the motor model of `commanded_speed_rad_s`.      Shapes: scalars.
    Limits: steady speed (the kinetic energy of the rotor is left out); constant efficiency but for "dc-motor". Idle
        current flows only while the rotor turns.
    Verified by: tests/verification/test_motor.py
    """
    shaft = rotor_power_w(rotor, speed_rad_s, density_kg_m3)
    if options.curve != "dc-motor":
        return shaft / p.efficiency
    torque = shaft / maximum(speed_rad_s, 1.0)
    turning = clip(speed_rad_s, 0.0, 1.0)
    current = torque * p.speed_constant_rad_s_v + p.idle_current_a * turning
    return (speed_rad_s / p.speed_constant_rad_s_v + p.resistance_ohm * current) * current
