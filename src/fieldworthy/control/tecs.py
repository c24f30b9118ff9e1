"""Height and airspeed of an airplane held together: throttle makes energy, pitch shares it out."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, clip, maximum, minimum


@dataclass
class TecsParameters:
    """Numbers of the energy controller; `control.fixed_wing_gains` works them out from the airplane."""

    height_time_s: Scalar
    """Time constant with which a height error is asked to go."""
    speed_time_s: Scalar
    """The same for an airspeed error."""
    climb_max_m_s: Scalar
    """Fastest climb asked for."""
    sink_max_m_s: Scalar
    """Fastest descent asked for, positive."""
    power_max_m2_s3: Scalar
    """Specific energy rate at full throttle at cruise airspeed: (thrust - drag) V / m."""
    power_min_m2_s3: Scalar
    """The same at idle; negative."""
    throttle_trim: Scalar
    """Throttle of level cruise."""
    throttle_gain: Scalar
    """Share of an energy rate error that the throttle answers at once, above the feedforward."""
    throttle_integral_1_s: Scalar
    pitch_gain: Scalar
    """Share of a balance rate error that the pitch answers at once, above the feedforward."""
    pitch_integral_1_s: Scalar
    pitch_min_rad: Scalar
    pitch_max_rad: Scalar
    airspeed_min_m_s: Scalar
    """Below this, speed comes before height."""
    airspeed_max_m_s: Scalar
    turn_power_m2_s3: Scalar
    """Specific energy rate that induced drag takes in level cruise; a bank multiplies it by 1/cos^2."""
    rate_filter_s: Scalar
    """Time constant of the filter that differentiates the airspeed."""


@dataclass
class TecsState:
    """Filtered airspeed and the two integrals."""

    airspeed_m_s: Scalar
    throttle_integral: Scalar
    """Share of full throttle."""
    pitch_integral_rad: Scalar


@dataclass
class TecsAnswer:
    """What is asked of the engine and of the pitch loop."""

    throttle: Scalar
    """0..1"""
    pitch_rad: Scalar


def first_tecs(airspeed_m_s: Scalar) -> TecsState:
    """A start at this airspeed, nothing integrated."""
    return TecsState(airspeed_m_s, airspeed_m_s * 0.0, airspeed_m_s * 0.0)


def tecs_control(
    p: TecsParameters,
    height_error_m: Scalar,
    climb_wanted_m_s: Scalar,
    airspeed_wanted_m_s: Scalar,
    climb_m_s: Scalar,
    airspeed_m_s: Scalar,
    pitch_trim_rad: Scalar,
    bank_cos: Scalar,
    gravity_m_s2: Scalar,
    state: TecsState,
    dt_s: Scalar,
) -> tuple[TecsAnswer, TecsState]:
    """Throttle and pitch for a height error, a climb rate fed forward and an airspeed.

    Equation: rates wanted: h'_c = clip(h'_ff + e_h / tau_h, -sink, climb),  V'_c = (V_c - V) / tau_V, limited to what
            the engine leaves: V V'_c within 0.6 of the power range, g h'_c within the rest.
        total   E' = g h' + V V'   -> throttle = trim + (E'_c + k (E'_c - E') + turn)/range + integral
        balance B' = g h' - V V'   -> pitch = trim + (g h'_c + k (B'_c - B')) / (g V) + integral
        turn = D_i V/m (1/cos^2 bank - 1).  Integrals stand still while their answer is at a limit and they push on.
        As the airspeed sinks below its minimum the height's part of the pitch fades out, the speed's doubles, and the
        throttle opens.
    Source: A. A. Lambregts, Vertical Flight Path and Speed Control Autopilot Design Using Total Energy Principles,
        AIAA 83-2239 (1983). The speed's priority below the least airspeed follows common autopilot practice.
    Frames: heights positive up.      Shapes: scalars.
    Limits: V' comes from the airspeed by a filtered difference, so a gust passes for an acceleration; climb angles for
        which sin and the angle are alike.
    Verified by: tests/verification/test_tecs.py
    """
    g = gravity_m_s2
    v = maximum(airspeed_m_s, 0.5 * p.airspeed_min_m_s)
    slow = clip((p.airspeed_min_m_s - airspeed_m_s) / (0.15 * p.airspeed_min_m_s), 0.0, 1.0)
    v_wanted = clip(airspeed_wanted_m_s, p.airspeed_min_m_s, p.airspeed_max_m_s)

    # Half a time constant of lag is exact enough at any dt up to the filter's own time.
    v_dot = (airspeed_m_s - state.airspeed_m_s) / (p.rate_filter_s + 0.5 * dt_s)
    filtered = state.airspeed_m_s + dt_s * v_dot

    climb_c = clip(climb_wanted_m_s + height_error_m / p.height_time_s, -p.sink_max_m_s, p.climb_max_m_s)
    kinetic_c = clip((v_wanted - airspeed_m_s) / p.speed_time_s * v, 0.6 * p.power_min_m2_s3, 0.6 * p.power_max_m2_s3)
    # Speed comes first: the climb gets what it leaves of the power.
    potential_c = clip(g * climb_c, p.power_min_m2_s3 - kinetic_c, p.power_max_m2_s3 - kinetic_c)
    potential, kinetic = g * climb_m_s, v * v_dot

    span = p.power_max_m2_s3 - p.power_min_m2_s3
    secant = 1.0 / maximum(bank_cos * bank_cos, 0.1)
    total_c = potential_c + kinetic_c
    total_error = total_c - (potential + kinetic)
    throttle_free = (
        p.throttle_trim
        + (total_c + p.throttle_gain * total_error + p.turn_power_m2_s3 * (secant - 1.0)) / span
        + state.throttle_integral
    )
    throttle = clip(throttle_free, 0.0, 1.0)
    throttle_step = dt_s * p.throttle_integral_1_s * total_error / span
    throttle_integral = _held_at_limit(state.throttle_integral, throttle_step, throttle_free, 0.0, 1.0)

    height_weight, speed_weight = 1.0 - slow, 1.0 + slow
    balance_error = height_weight * (potential_c - potential) - speed_weight * (kinetic_c - kinetic)
    path_c = height_weight * potential_c - slow * kinetic_c
    pitch_free = pitch_trim_rad + (path_c + p.pitch_gain * balance_error) / (g * v) + state.pitch_integral_rad
    pitch = clip(pitch_free, p.pitch_min_rad, p.pitch_max_rad)
    pitch_step = dt_s * p.pitch_integral_1_s * balance_error / (g * v)
    pitch_integral = _held_at_limit(state.pitch_integral_rad, pitch_step, pitch_free, p.pitch_min_rad, p.pitch_max_rad)
    return (
        TecsAnswer(throttle + (1.0 - throttle) * slow, pitch),
        TecsState(filtered, clip(throttle_integral, -1.0, 1.0), clip(pitch_integral, -0.5, 0.5)),
    )


def _held_at_limit(integral: Scalar, step: Scalar, answer: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """The integral after a step, without what would push an answer further beyond its limit."""
    room_up, room_down = maximum(high - answer, 0.0), minimum(low - answer, 0.0)
    return integral + clip(step, room_down, room_up)
