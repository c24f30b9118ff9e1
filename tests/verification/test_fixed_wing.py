"""The airplane's autopilot on the Aerosonde: steady flights are what mechanics says, with gains nobody tuned."""

from dataclasses import replace

import drjit as dr
import numpy as np
import pytest
from airplane_rig import AERO, DENSITY, GAINS, GRAVITY, MASS, NUMBERS, PlaneCommand, fly, start, wing_setpoint
from drjit.llvm.ad import Float64

from fieldworthy.control.fixed_wing import first_fixed_wing, fixed_wing_control
from fieldworthy.control.fixed_wing_gains import fixed_wing_gains
from fieldworthy.core.lanes import select
from fieldworthy.core.vec import Vec3

DT = 0.01


def wings(setpoint_of, parameters=GAINS):
    def autopilot(t, estimate, memory):
        surfaces, throttle, memory = fixed_wing_control(parameters, setpoint_of(t), estimate, memory, DT)
        return PlaneCommand(surfaces.aileron, surfaces.elevator, surfaces.rudder, throttle), memory, ()

    return autopilot


def flown(setpoint_of, duration_s, begin=None, parameters=GAINS, **options):
    return fly(wings(setpoint_of, parameters), first_fixed_wing, begin or start(), duration_s, **options)


def test_level_flight_is_the_trim_that_the_equations_of_equilibrium_give():
    r = flown(lambda t: wing_setpoint(), 40.0)
    # Lift plus the thrust's share carries the weight and the pitching moment is zero: two equations by iteration.
    qs = 0.5 * DENSITY * 25.0**2 * AERO.area_m2
    alpha = elevator = drag = 0.0
    for _ in range(50):
        elevator = -(AERO.cm0 + AERO.cm_alpha * alpha) / AERO.cm_elevator
        cl = AERO.cl0 + AERO.cl_alpha * alpha
        induced = cl * cl * AERO.area_m2 / (np.pi * AERO.oswald * AERO.span_m**2)
        drag = qs * (AERO.cd0 + AERO.cd_alpha * alpha + induced + AERO.cd_elevator * elevator)
        lift = MASS * GRAVITY - drag * np.tan(alpha)
        alpha = (lift / qs - AERO.cl0 - AERO.cl_elevator * elevator) / AERO.cl_alpha
    assert r["alpha"][-1] == pytest.approx(np.degrees(alpha), abs=0.02)
    assert r["pitch"][-1] == pytest.approx(r["alpha"][-1], abs=0.02)
    assert r["elevator"][-1] * np.radians(25.0) == pytest.approx(elevator, abs=1e-3)
    assert r["throttle"][-1] * 60.0 == pytest.approx(drag / np.cos(alpha), rel=0.01)
    assert r["up"][-1] == pytest.approx(100.0, abs=0.1)
    assert r["airspeed"][-1] == pytest.approx(25.0, abs=0.05)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_circle_is_flown_at_its_radius_with_the_bank_of_a_coordinated_turn(side):
    p = replace(GAINS, circle_radius_m=side * 120.0)
    circle = wing_setpoint(north_m=0.0, east_m=side * 120.0, from_east_m=side * 120.0)
    r = flown(lambda t: circle, 60.0, parameters=p)
    late = r["t"][:, 0] > 40.0
    radius = np.hypot(r["n"], r["e"] - side * 120.0)[late]
    bank = np.degrees(np.arctan(25.0**2 / (GRAVITY * 120.0)))
    assert radius == pytest.approx(120.0, abs=2.0)
    assert side * r["roll"][late] == pytest.approx(bank, abs=1.0)
    assert np.abs(r["beta"][late]).max() < 1.0
    # East of the start the centre, clockwise: northwards first, that is positive yaw rate for a positive radius.
    assert side * np.diff(np.unwrap(np.radians(r["yaw"][late, 0]))).sum() > 0.0
    assert r["up"][late] == pytest.approx(100.0, abs=0.5)


def test_in_crosswind_the_track_stays_on_the_line_and_the_nose_stands_off_by_the_wind_triangle():
    wind = Vec3(0.0, 8.0, 0.0)
    r = flown(lambda t: wing_setpoint(), 60.0, start(wind=wind), wind=wind)
    assert r["e"][-1] == pytest.approx(0.0, abs=0.1)
    assert r["yaw"][-1] == pytest.approx(-np.degrees(np.arcsin(8.0 / 25.0)), abs=0.2)
    assert r["vn"][-1] == pytest.approx(np.sqrt(25.0**2 - 8.0**2), abs=0.1)
    assert r["beta"][-1] == pytest.approx(0.0, abs=0.1)


def test_climb_keeps_its_rate_and_speed_and_ends_at_the_height():
    r = flown(lambda t: wing_setpoint(up_m=select(t < 5.0, 100.0, 160.0)), 60.0)
    t = r["t"][:, 0]
    steady = (t > 9.0) & (t < 14.0)
    assert -r["vd"][steady] == pytest.approx(GAINS.tecs.climb_max_m_s, rel=0.03)
    assert np.abs(r["airspeed"] - 25.0).max() < 1.5
    assert r["up"].max() < 160.5
    assert r["up"][-1] == pytest.approx(160.0, abs=0.3)


def test_change_of_airspeed_costs_little_height():
    r = flown(lambda t: wing_setpoint(airspeed_m_s=select(t < 20.0, 20.0, 30.0)), 60.0)
    t = r["t"][:, 0]
    assert r["airspeed"][t < 20.0][-1] == pytest.approx(20.0, abs=0.5)
    assert r["airspeed"][-1] == pytest.approx(30.0, abs=0.5)
    assert np.abs(r["up"] - 100.0).max() < 1.5


def test_a_line_off_to_the_side_is_met_without_much_overshoot():
    r = flown(lambda t: wing_setpoint(east_m=200.0, from_east_m=200.0), 60.0)
    assert r["e"].max() < 206.0
    assert r["e"][-1] == pytest.approx(200.0, abs=0.3)
    assert np.abs(r["roll"]).max() < np.degrees(NUMBERS.bank_max_rad) + 5.0
    assert np.abs(r["up"] - 100.0).max() < 2.0


def test_sign_conventions_of_surfaces_do_not_matter():
    """The same airplane with its deflections counted the other way flies the same path with the other deflections."""
    names = [name for name in vars(AERO) if name.endswith(("_aileron", "_elevator", "_rudder"))]
    mirrored = replace(AERO, **{name: -getattr(AERO, name) for name in names})
    side = wing_setpoint(east_m=50.0, from_east_m=50.0, up_m=110.0)
    a = flown(lambda t: side, 10.0)
    b = flown(lambda t: side, 10.0, parameters=fixed_wing_gains(mirrored, NUMBERS), aero=mirrored)
    assert b["e"] == pytest.approx(a["e"], abs=1e-9)
    assert b["up"] == pytest.approx(a["up"], abs=1e-9)
    assert b["elevator"] == pytest.approx(-a["elevator"], abs=1e-9)
    assert np.abs(a["elevator"]).max() > 0.1


def test_an_airplane_whose_coefficients_are_20_percent_off_still_flies():
    """Gains of the nominal airplane, 64 airplanes whose every coefficient differs: a circle in wind, then a climb."""
    lanes, rng = 64, np.random.default_rng(5)
    factors = {name: Float64(rng.uniform(0.8, 1.2, lanes)) for name in vars(AERO)}
    fixed = ("area_m2", "span_m", "chord_m", "stall_alpha_rad", "stall_sharpness")
    others = replace(AERO, **{n: getattr(AERO, n) * f for n, f in factors.items() if n not in fixed})
    wind = Vec3(0.0, 5.0, 0.0)
    circle = wing_setpoint(north_m=0.0, east_m=130.0, from_east_m=130.0)
    r = flown(
        lambda t: replace(circle, up_m=select(t < 30.0, 100.0, 120.0)), 60.0, start(wind=wind), aero=others, wind=wind,
        lanes=lanes,
    )  # fmt: skip
    late = r["t"][:, 0] > 50.0
    assert np.hypot(r["n"], r["e"] - 130.0)[late] == pytest.approx(GAINS.circle_radius_m, abs=8.0)
    assert r["up"][late] == pytest.approx(120.0, abs=1.5)
    assert r["airspeed"][late] == pytest.approx(25.0, abs=1.0)
    assert np.ptp(r["alpha"][-1]) > 0.3, "the airplanes do not differ"


def test_at_rest_nothing_is_undefined_and_gradients_are_finite():
    from fieldworthy.control.flight_estimate import Estimate
    from fieldworthy.core.struct import leaves
    from fieldworthy.core.vec import Quat

    zero = Float64(0.0)
    dr.enable_grad(zero)
    still = Vec3(zero, zero, zero)
    estimate = Estimate(still, still, Quat(1.0, zero, zero, zero), still, zero)
    surfaces, throttle, state = fixed_wing_control(GAINS, wing_setpoint(), estimate, first_fixed_wing(estimate), DT)
    values = [Float64(value) for value in (*leaves(surfaces), throttle, *leaves(state))]
    assert all(np.isfinite(np.asarray(value)).all() for value in values)
    dr.backward(sum(values[1:], values[0]))
    assert np.isfinite(np.asarray(dr.grad(zero))).all()
