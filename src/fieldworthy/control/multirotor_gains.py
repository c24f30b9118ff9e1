"""Gains of the multirotor autopilot from the numbers of the vehicle, on the host: a composed vehicle flies untuned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from fieldworthy.control.allocation import RotorGeometry, rotor_shares
from fieldworthy.control.attitude import AttitudeParameters
from fieldworthy.control.multirotor import MultirotorParameters
from fieldworthy.control.position import PositionParameters
from fieldworthy.core.constants import STANDARD_GRAVITY_M_S2
from fieldworthy.core.vec import Vec3


class RotorWithLag(RotorGeometry, Protocol):
    """A rotor of which also the lag is known."""

    lag_up_s: Any
    lag_down_s: Any


def default_gains(
    mass_kg: float,
    inertia_kg_m2: Vec3,
    rotors: Sequence[RotorWithLag],
    period_s: float,
    gravity_m_s2: float = STANDARD_GRAVITY_M_S2,
    speed_max_m_s: float = 12.0,
    climb_max_m_s: float = 4.0,
    descent_max_m_s: float = 2.5,
    tilt_max_rad: float = math.radians(35.0),
    softness: float = 1.0,
    yaw_share: float = 1.0,
    load_kg: float = 0.0,
) -> MultirotorParameters:
    """Everything `multirotor_control` needs, from mass, inertia and rotors.

    softness: above 1 slows every loop.
    yaw_share: of the yaw moment that the rotors have in hover, how much is used.
    load_kg: share of the mass that hangs on a cable.

    Equation: a loop with a lag tau inside, P on the rate and P on the angle, tau s^3 + s^2 + K_r s + K_r K_a, is given
        the poles -w, -w (3/4 +- i sqrt(7)/4) with w = 1/(2.5 tau): K_r = 2.5 w^2 tau = 0.4/tau, K_a = w/2.5 = 0.16/tau.
        The same rule with tau = 1/K_a gives velocity and position. tau is the rotors' lag plus 1.5 control periods.
    Source: pole placement, damping 0.75; own choice of the ratios of integral gains and of the vertical loops.
    Limits: rotors with about equal lag; floats (not lane arrays); yaw is slower as rotors turn the body weakly.
    Verified by: tests/verification/test_multirotor_control.py
    """
    lag = max(0.5 * (float(rotor.lag_up_s) + float(rotor.lag_down_s)) for rotor in rotors)
    tau = softness * (lag + 1.5 * period_s)
    rate_gain, tilt_gain = 0.4 / tau, 0.16 / tau
    velocity_gain, position_gain = 0.4 * tilt_gain, 0.16 * tilt_gain
    yaw_rate_gain, yaw_gain = 0.5 * rate_gain, 0.5 * tilt_gain

    shares = rotor_shares(rotors)
    weight = mass_kg * gravity_m_s2
    # The thrust at which the first rotor reaches its limit, and what is kept back for roll, pitch and yaw.
    strength = min(share.thrust_max_n / share.per_thrust for share in shares)
    least = max(share.thrust_min_n / share.per_thrust for share in shares)
    hovering = [weight * share.per_thrust for share in shares]
    rooms = [min(t - s.thrust_min_n, s.thrust_max_n - t) for t, s in zip(hovering, shares, strict=True)]
    yaw_max = min(room / max(abs(s.per_yaw_1_m), 1e-9) for room, s in zip(rooms, shares, strict=True))
    return MultirotorParameters(
        attitude=AttitudeParameters(
            inertia_kg_m2=inertia_kg_m2,
            tilt_gain_1_s=tilt_gain,
            yaw_gain_1_s=yaw_gain,
            rate_gain_1_s=Vec3(rate_gain, rate_gain, yaw_rate_gain),
            rate_integral_gain_1_s2=Vec3(0.5 * rate_gain, 0.5 * rate_gain, 0.25 * yaw_rate_gain),
            rate_derivative_gain=Vec3(0.0, 0.0, 0.0),
            derivative_filter_s=0.2 * tau,
            rate_max_rad_s=Vec3(3.5, 3.5, 1.5),
        ),
        position=PositionParameters(
            mass_kg=mass_kg,
            gravity_m_s2=gravity_m_s2,
            position_gain_1_s=position_gain,
            position_gain_up_1_s=1.2 * position_gain,
            velocity_gain_1_s=velocity_gain,
            velocity_gain_up_1_s=1.5 * velocity_gain,
            disturbance_bandwidth_rad_s=0.5 * velocity_gain,
            disturbance_max_m_s2=0.8 * gravity_m_s2,
            velocity_derivative_gain=0.0,
            derivative_filter_s=0.5 / tilt_gain,
            speed_max_m_s=speed_max_m_s,
            climb_max_m_s=climb_max_m_s,
            descent_max_m_s=descent_max_m_s,
            braking_m_s2=0.4 * gravity_m_s2 * math.tan(tilt_max_rad),
            braking_up_m_s2=0.2 * gravity_m_s2,
            tilt_max_rad=tilt_max_rad,
            force_min_n=max(0.15 * weight, 1.2 * least),
            force_up_max_n=max(0.8 * strength, min(0.95 * strength, 1.1 * weight)),
            force_max_n=0.95 * strength,
        ),
        shares=shares,
        yaw_max_n_m=yaw_share * yaw_max,
        load_kg=load_kg,
    )
