"""The air that a flying robot meets: where it is now, and its turbulence from tick to tick."""

from __future__ import annotations

from typing import Any

from fieldworthy.core.lanes import Scalar, maximum, sqrt
from fieldworthy.core.random import normals
from fieldworthy.core.vec import Vec3, dot, rotate_inverse
from fieldworthy.environment.air import AirParameters, AirSample, sample
from fieldworthy.environment.turbulence import (
    convection_m_s,
    gust_axes,
    gust_m_s,
    gust_ned,
    gust_rate_rad_s,
    normals_needed,
    step,
)
from fieldworthy.environment.wind import mean_wind_ned_m_s
from fieldworthy.environment.wind_grid import grid_wind_ned_m_s
from fieldworthy.vehicles.vehicle import Clock
from fieldworthy.world.flight_state import FlightParameters, FlightShape, FlightState


def air_at(shape: FlightShape, state: FlightState, air: AirParameters, clock: Clock) -> AirSample:
    """The air where the vehicle is, turbulence included."""
    pos = state.motion.body.pos_ned_m
    gust = None
    if state.turbulence is not None:
        mean = _mean_wind(shape, air, pos, clock.t_s)
        axes = gust_axes(state.motion.body.vel_ned_m_s - mean, mean)
        gust = gust_ned(gust_m_s(shape.air.turbulence, air.turbulence, state.turbulence, maximum(-pos.z, 0.0)), axes)
    return sample(shape.air, air, pos, clock.t_s, gust)


def air_rate(shape: FlightShape, state: FlightState, air: AirParameters, clock: Clock) -> Vec3 | None:
    """How turbulence turns the air around the wings, FRD; None without wings or turbulence."""
    if state.turbulence is None or not shape.air.turbulence.rates:
        return None
    body = state.motion.body
    mean = _mean_wind(shape, air, body.pos_ned_m, clock.t_s)
    height = maximum(-body.pos_ned_m.z, 0.0)
    rate = gust_rate_rad_s(shape.air.turbulence, air.turbulence, state.turbulence, height, shape.span_m)
    return rotate_inverse(body.quat_ned_from_frd, gust_ned(rate, gust_axes(body.vel_ned_m_s - mean, mean)))


def _mean_wind(shape: FlightShape, air: AirParameters, pos_ned_m: Vec3, t_s: Scalar) -> Vec3:
    """What carries the turbulence along: the mean wind with the wind field, without gusts."""
    wind = Vec3(0.0, 0.0, 0.0)
    if shape.air.wind is not None:
        wind = mean_wind_ned_m_s(shape.air.wind, air.wind, maximum(-pos_ned_m.z, 0.0))
    if shape.air.grid is not None and air.grid is not None:
        wind = wind + grid_wind_ned_m_s(shape.air.grid, air.grid, pos_ned_m, t_s)
    return wind


def next_turbulence(
    shape: FlightShape, state: FlightState, air: AirParameters, p: FlightParameters, clock: Clock
) -> tuple[Any, Scalar | None]:
    """The turbulence one tick later, and how fast it passed; None twice without."""
    if state.turbulence is None:
        return None, None
    options, pos = shape.air.turbulence, state.motion.body.pos_ned_m
    mean = _mean_wind(shape, air, pos, clock.t_s)
    drawn = normals(p.turbulence_key, clock.trial, clock.tick, normals_needed(options), type(pos.x))
    passing = convection_m_s(state.airspeed_m_s, sqrt(dot(mean, mean) + 1e-12))
    height = maximum(-pos.z, 0.0)
    moved = step(options, air.turbulence, state.turbulence, height, passing, shape.span_m, clock.dt_s, drawn)
    return moved, passing
