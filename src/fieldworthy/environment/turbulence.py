"""Continuous turbulence along the flight path: Dryden and von Karman, by MIL-F-8785C and by MIL-HDBK-1797.

The field of gusts is frozen and passes the vehicle at the convection speed. Gust axes: x into the oncoming air (level),
y to its right, z down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, exp, log, maximum, sqrt
from fieldworthy.core.vec import Vec3
from fieldworthy.environment.turbulence_filters import (
    Modes,
    State,
    first_modes,
    relaxation,
    step_double_lag,
    step_lag,
    step_modes,
    von_karman_modes,
)
from fieldworthy.environment.turbulence_scales import Model, Scales, Severity, Specification, eddy_time_s, scales

CALM_CONVECTION_M_S = 1.0
"""Gusts pass at least this fast: the specifications divide by the airspeed, which a hovering vehicle has not."""

_ROOT_3 = math.sqrt(3.0)


@dataclass(frozen=True)
class TurbulenceOptions:
    """Which turbulence there is; named in the results of a run."""

    model: Model = "none"
    specification: Specification = "mil-f-8785c"
    rates: bool = False
    """Also the rotation of the air over the wing span."""
    severity: Severity = "given"
    """Above 2,000 ft: the given sigma, or the exceedance curves of MIL-F-8785C."""


@dataclass
class TurbulenceParameters:
    """Strength of the turbulence; each may differ from trial to trial."""

    wind_20ft_m_s: Scalar = 0.0
    """W20: 15, 30 and 45 kt (7.7, 15.4, 23.2 m/s) are light, moderate and severe."""
    high_sigma_m_s: Scalar = 0.0
    """Root mean square above 2,000 ft, where the severity is "given"."""


@dataclass
class TurbulenceState:
    """Forming filters of the three axes, and of the rates; pure numbers, empty for what is off."""

    u: State = ()
    v: State = ()
    w: State = ()
    p: State = ()
    slopes: State = ()
    """Band-limited changes of v and w along x."""


def normals_needed(options: TurbulenceOptions) -> int:
    """How many normal numbers `first` and `step` take."""
    velocities = {"none": 0, "dryden": 5, "von-karman": 8}[options.model]
    return velocities + (1 if options.rates and velocities else 0)


def convection_m_s(airspeed_m_s: Scalar, mean_wind_m_s: Scalar) -> Scalar:
    """How fast gusts pass: airspeed, or the mean wind in hover, whichever is faster, and at least 1 m/s.

    Source: the specifications know the airspeed only (Taylor's frozen field). A hovering vehicle that holds its place
        has the mean wind for airspeed; one that drifts with the wind still meets eddies that the wind carries.
    Limits: chosen, not published: the larger of both is continuous and never zero.
    """
    return maximum(maximum(airspeed_m_s, mean_wind_m_s), CALM_CONVECTION_M_S)


def turbulence_scales(options: TurbulenceOptions, p: TurbulenceParameters, height_m: Scalar) -> Scales:
    """Strengths and lengths at a height above ground."""
    return scales(options.model, options.specification, options.severity, height_m, p.wind_20ft_m_s, p.high_sigma_m_s)


def first(options: TurbulenceOptions, normals: State) -> TurbulenceState:
    """A state as if the turbulence had always blown: the same at every height and speed, as it holds pure numbers.

    Limits: q and r start from zero and are stationary after a few 4 b / (pi V), a fraction of a second.
    """
    if options.model == "none":
        return TurbulenceState()
    n = normals
    slopes = (0.0 * n[0], 0.0 * n[0]) if options.rates else ()
    if options.model == "dryden":
        return TurbulenceState((n[0],), _first_double(n[1:3]), _first_double(n[3:5]), n[5:6], slopes)
    along, across = von_karman_modes(lateral=False), von_karman_modes(lateral=True)
    return TurbulenceState(
        first_modes(along, n[0:2]), first_modes(across, n[2:5]), first_modes(across, n[5:8]), n[8:9], slopes
    )


def step(
    options: TurbulenceOptions,
    p: TurbulenceParameters,
    state: TurbulenceState,
    height_m: Scalar,
    convection_m_s: Scalar,
    wing_span_m: Scalar,
    dt_s: Scalar,
    normals: State,
) -> TurbulenceState:
    """The filters one tick later.

    Equation: spectra, one-sided in w [rad/s], T = L/V (along), L/V or 2L/V (across):
        Dryden      S_u = s^2 2T/pi / (1 + T^2 w^2),  S_v, S_w = s^2 T/pi (1 + 3 T^2 w^2) / (1 + T^2 w^2)^2
        von Karman  S_u = s^2 2T/pi / (1 + (1.339 T w)^2)^(5/6),
                    S_v, S_w = s^2 T/pi (1 + 8/3 (1.339 T w)^2) / (1 + (1.339 T w)^2)^(11/6)
        rates       S_p = s_w^2 0.8 (pi L_w/4b)^(1/3) / (V L_w) / (1 + (4 b w/(pi V))^2),
                    S_q = (w/V)^2 S_w / (1 + (4 b w/(pi V))^2),  S_r = (w/V)^2 S_v / (1 + (3 b w/(pi V))^2)
    Source: MIL-F-8785C section 3.7.2; MIL-HDBK-1797 appendix A.
    Shapes: scalars; `normals` are `normals_needed(options)` independent standard normal scalars.
    Limits: velocities and p are exact at any dt. q and r have the right variance while dt is short against L/V, also
        where dt is not short against b/V; their slow part is then too strong by (dt V pi / 4b)^2 / 12 in power.
    Verified by: tests/verification/test_turbulence.py
    """
    if options.model == "none":
        return state
    s = turbulence_scales(options, p, height_m)
    spec = options.specification
    rate_u = dt_s / eddy_time_s(spec, s.length_u_m, convection_m_s, lateral=False)
    rate_v = dt_s / eddy_time_s(spec, s.length_v_m, convection_m_s, lateral=True)
    rate_w = dt_s / eddy_time_s(spec, s.length_w_m, convection_m_s, lateral=True)
    n = normals
    if options.model == "dryden":
        u: State = (step_lag(state.u[0], rate_u, n[0]),)
        v, w = step_double_lag(state.v, rate_v, n[1:3]), step_double_lag(state.w, rate_w, n[3:5])
    else:
        across = von_karman_modes(lateral=True)
        u = step_modes(von_karman_modes(lateral=False), state.u, rate_u, n[0:2])
        v, w = step_modes(across, state.v, rate_v, n[2:5]), step_modes(across, state.w, rate_w, n[5:8])
    moved = TurbulenceState(u, v, w)
    if not options.rates:
        return moved
    # The wing averages what is shorter than itself: pi V / 4b for roll and pitch, pi V / 3b for yaw.
    passed = 0.25 * math.pi * dt_s * convection_m_s / maximum(wing_span_m, 1e-3)
    moved.p = (step_lag(state.p[0], passed, n[-1]),)
    moved.slopes = (
        _washout(state.slopes[0], _across(options, v) - _across(options, state.v), passed * (4.0 / 3.0)),
        _washout(state.slopes[1], _across(options, w) - _across(options, state.w), passed),
    )
    return moved


def gust_m_s(options: TurbulenceOptions, p: TurbulenceParameters, state: TurbulenceState, height_m: Scalar) -> Vec3:
    """Velocity of the gust along the gust axes (u into the oncoming air, v to the right, w down)."""
    if options.model == "none":
        return Vec3(0.0, 0.0, 0.0)
    s = turbulence_scales(options, p, height_m)
    along = state.u[0] if options.model == "dryden" else _output(von_karman_modes(lateral=False), state.u)
    return Vec3(
        s.sigma_u_m_s * along,
        s.sigma_v_m_s * _across(options, state.v),
        s.sigma_w_m_s * _across(options, state.w),
    )


def gust_rate_rad_s(
    options: TurbulenceOptions,
    p: TurbulenceParameters,
    state: TurbulenceState,
    height_m: Scalar,
    wing_span_m: Scalar,
) -> Vec3:
    """Rotation of the air around the vehicle, about the gust axes; subtract it from the body's rate.

    Equation: p = dw/dy, q = -dw/dx, r = dv/dx of air that turns as a solid body.
    Source: Etkin, Dynamics of Atmospheric Flight (1972), chapter 13. The specifications leave the signs open.
    Frames: gust axes, as `gust_m_s`.      Shapes: scalars.      Limits: a span well below the eddies' length.
    Verified by: tests/verification/test_turbulence.py
    """
    if options.model == "none" or not options.rates:
        return Vec3(0.0, 0.0, 0.0)
    s = turbulence_scales(options, p, height_m)
    span = maximum(wing_span_m, 1e-3)
    # By MIL-HDBK-1797 L_w is half, and its spectrum of p is that of MIL-F-8785C with 2 L_w for L_w.
    length = s.length_w_m * (2.0 if options.specification == "mil-hdbk-1797" else 1.0)
    ratio = 0.25 * math.pi * length / span
    variance = 0.1 * math.pi * math.pi * _cube_root(ratio) / (length * span)
    return Vec3(
        s.sigma_w_m_s * sqrt(variance) * state.p[0],
        s.sigma_w_m_s * (-0.25 * math.pi) / span * state.slopes[1],
        s.sigma_v_m_s * (math.pi / 3.0) / span * state.slopes[0],
    )


def gust_axes(air_velocity_ned_m_s: Vec3, mean_wind_ned_m_s: Vec3) -> tuple[Scalar, Scalar]:
    """North and east of the unit vector x of the gust axes: level, the way the vehicle moves through the mean air.

    `air_velocity_ned_m_s` is the vehicle's velocity less the mean wind, without turbulence. Below 1 m/s it is filled up
    with a vector into the wind (in still air: north), so that the axes of a hovering vehicle do not spin.
    Source: MIL-F-8785C section 3.7.2.4 takes the relative mean wind below 1,000 ft; here at all heights, as above
        2,000 ft the strengths are isotropic.
    """
    north, east = air_velocity_ned_m_s.x, air_velocity_ned_m_s.y
    speed = sqrt(north * north + east * east + 1e-12)
    missing = maximum(CALM_CONVECTION_M_S - speed, 0.0)
    wind_north, wind_east = mean_wind_ned_m_s.x, mean_wind_ned_m_s.y
    # The 1 mm/s to the north only decides in calm air.
    into_north, into_east = 1e-3 - wind_north, -wind_east
    into = missing / sqrt(into_north * into_north + into_east * into_east + 1e-12)
    north, east = north + into * into_north, east + into * into_east
    length = sqrt(north * north + east * east + 1e-12)
    return north / length, east / length


def gust_ned(gust: Vec3, axes: tuple[Scalar, Scalar]) -> Vec3:
    """A vector along the gust axes (`gust_m_s`, `gust_rate_rad_s`) in NED."""
    c, s = axes
    return Vec3(gust.x * c - gust.y * s, gust.x * s + gust.y * c, gust.z)


def _first_double(n: State) -> State:
    """A stationary pair of `step_double_lag`."""
    return n[0], 0.5 * n[0] + 0.5 * n[1]


def _across(options: TurbulenceOptions, state: State) -> Scalar:
    """The lateral or vertical gust in units of sigma."""
    if options.model == "von-karman":
        return _output(von_karman_modes(lateral=True), state)
    # (1 + sqrt3 T s) / (1 + T s)^2 as a sum of both lags, whose variance is 2.
    return math.sqrt(0.5) * (_ROOT_3 * state[0] + (1.0 - _ROOT_3) * state[1])


def _output(modes: Modes, state: State) -> Scalar:
    total: Scalar = modes.weights[0] * state[0]
    for weight, x in zip(modes.weights[1:], state[1:], strict=True):
        total = total + weight * x
    return total


def _washout(slope: Scalar, change: Scalar, steps: Scalar) -> Scalar:
    """T s / (1 + T s) on a signal that changed by `change` over dt, steps = dt / T.

    Equation: e exp(-a) + sqrt((1 - exp(-2 a)) / 2 a) change, which has the variance of the continuous filter when the
        changes are independent, as those of turbulence are over a time far below L/V.
    """
    fallen = relaxation(steps)
    gain = sqrt(maximum(fallen * (2.0 - fallen), 1e-30) / maximum(2.0 * steps, 1e-30))
    return slope - fallen * slope + gain * change


def _cube_root(x: Scalar) -> Scalar:
    return exp(log(x) * (1.0 / 3.0))
