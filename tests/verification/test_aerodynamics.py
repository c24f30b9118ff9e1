"""Aerodynamics of a whole aircraft: published forces, derivatives and trim, stall, symmetry, edges."""

import dataclasses
import math

import casadi as ca
import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float, Float64

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.core.rigid_body import RigidBodyState, rigid_body_rates
from fieldworthy.core.vec import Quat, Vec3, dot, rotate_inverse
from fieldworthy.vehicles.aerodynamics import (
    AeroOptions,
    AeroParameters,
    Surfaces,
    Wash,
    aero_parameters,
    aero_wrench,
    air_flow,
    attached_share,
)
from fieldworthy.verify.aerodynamics import (
    CHECKS,
    COURSE_DENSITY_KG_M3,
    TRIM_VELOCITY_FRD_M_S,
    aerosonde,
    aerosonde_inertia_kg_m2,
    aerosonde_values,
)

STILL = Vec3(0.0, 0.0, 0.0)
NEUTRAL = Surfaces(0.0, 0.0, 0.0)
COURSE = aerosonde(cd0=0.0)


def wrench(velocity, rate=STILL, surfaces=NEUTRAL, p=COURSE, density=COURSE_DENSITY_KG_M3, **more):
    return aero_wrench(AeroOptions(), p, velocity, rate, surfaces, density, **more)


def air(speed, alpha, beta=0.0):
    return Vec3(
        speed * math.cos(alpha) * math.cos(beta), speed * math.sin(beta), speed * math.sin(alpha) * math.cos(beta)
    )


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.model}: {check.law}")
def test_table_of_checks(check):
    assert check.holds(check.got())


# Beard and McLain, mavsim_public, launch_files/chap04/chap4_check.py: attitude, air velocity, turn rate, surfaces,
# (thrust, torque) of the propeller; force and moment of everything together.
BANKED = Quat(9.38688796e-01, 2.47421558e-01, 6.56821468e-02, 2.30936730e-01)
TURNING = Vec3(4.98772167e-03, 1.68736005e-01, 1.71797313e-01)
PUBLISHED = {
    "level": (
        Quat(1.0, 0.0, 0.0, 0.0), Vec3(25.0, 0.0, 0.0), STILL, Surfaces(0.0, -0.2, 0.005),
        (-12.43072534597213, -0.49879620097737787),
        (-12.109717001006562, 0.20707328125000002, 63.44373750624077),
        (0.5063701133123779, 8.75643373378125, -0.21774997963125006),
    ),
    "turning": (
        BANKED, Vec3(25.0, 0.0, 0.0), TURNING, Surfaces(0.01788999, -0.15705144, 0.01084654),
        (37.7794805541605, 1.8098467397878482),
        (36.99938467421735, 54.13991070468528, 46.97294443218653),
        (1.6030203500067555, 5.982053219886495, -1.1805441645292776),
    ),
    "slipping": (
        BANKED, air(27.39323489287441, 0.05259649205640062, 0.022801214339060967), TURNING,
        Surfaces(0.01788999, -0.15705144, 0.01084654), (31.31315544701058, 1.58778287798956),
        (36.22803068339798, 48.44092504137796, -39.39246596662818),
        (0.10867448074086083, 0.1249623335264915, -0.09481002421995177),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_forces_and_moments(name):
    attitude, velocity, rate, surfaces, (thrust, torque), force, moment = PUBLISHED[name]
    got = wrench(velocity, rate, surfaces)
    weight = rotate_inverse(attitude, Vec3(0.0, 0.0, 11.0 * 9.81))
    total = got.force_frd_n + weight + Vec3(thrust, 0.0, 0.0)
    turn = got.moment_frd_n_m - Vec3(torque, 0.0, 0.0)
    # The book takes the whole dynamic pressure for lift, drag and pitch; here it is the part in the plane of symmetry,
    # smaller by sin^2(beta) = 5.2e-4: of 143 N of lift and 1.3 N m that balance each other in pitch.
    slip = math.sin(air_flow(velocity, 1.0).beta_rad) ** 2
    plane_force, plane_moment = 2e-6 + 143.0 * slip, 1e-7 + 1.3 * slip
    assert total.y == pytest.approx(force[1], abs=2e-6)  # the attitude is given to nine digits
    assert (turn.x, turn.z) == pytest.approx((moment[0], moment[2]), abs=1e-6)
    assert (total.x, total.z) == pytest.approx((force[0], force[2]), abs=plane_force)
    assert turn.y == pytest.approx(moment[1], abs=plane_moment)


def test_published_linear_model():
    # mavsim_public, launch_files/chap05/chap5_check.py: rows of the Jacobian of the accelerations in the given trim.
    # The propeller's share is in its first row only: dT/dV = -2.3521983 N s/m, from the same file, over 11 kg.
    x, d = ca.SX.sym("x", 6), ca.SX.sym("d", 3)
    velocity, rate = Vec3(x[0], x[1], x[2]), Vec3(x[3], x[4], x[5])
    w = wrench(velocity, rate, Surfaces(d[0], d[1], d[2]))
    state = RigidBodyState(STILL, Quat(1.0, 0.0, 0.0, 0.0), velocity, rate)
    turning = rigid_body_rates(state, STILL, w.moment_frd_n_m, 11.0, aerosonde_inertia_kg_m2()).rate_frd_rad_s
    linear = w.force_frd_n / 11.0 - Vec3(
        rate.y * velocity.z - rate.z * velocity.y,
        rate.z * velocity.x - rate.x * velocity.z,
        rate.x * velocity.y - rate.y * velocity.x,
    )
    accelerations = ca.vertcat(*linear, *turning)
    jacobians = ca.Function("j", [x, d], [ca.jacobian(accelerations, x), ca.jacobian(accelerations, d)])
    a, b = (np.array(m) for m in jacobians([*TRIM_VELOCITY_FRD_M_S, 0, 0, 0], [0.001836, -0.124778, -0.000303]))
    u, v, w_, p, q, r = range(6)
    # Made with one-sided differences of 0.01 m/s and 0.01 rad/s: 1e-3 of an entry, and in the first row, where lift
    # turns into thrust with the square of w (2 q S C_La/(m V^2) = 0.36 1/(m s)), half of 0.01 times that.
    assert a[v][[v, p, r]] == pytest.approx([-0.776772629, 1.249755, -24.968743], rel=1e-3)
    assert a[p][[v, p, r]] == pytest.approx([-3.86671935, -22.6288510, 10.9050409], rel=1e-3)
    assert a[r][[v, p, r]] == pytest.approx([0.783077145, -0.115091678, -1.22765475], rel=1e-3)
    assert a[w_][[u, w_, q]] == pytest.approx([-0.560642055, -4.46393561, 24.3710502], rel=1e-3)
    assert a[q][[u, w_, q]] == pytest.approx([0.199935388, -3.99297865, -5.29473836], rel=1e-3)
    share = -2.3521983 / 11.0 / 25.0
    pull = np.array([share * TRIM_VELOCITY_FRD_M_S.x, share * TRIM_VELOCITY_FRD_M_S.z, 0.0])
    assert a[u][[u, w_, q]] + pull == pytest.approx([-0.206766579, 0.500390258, -1.21983882], rel=1e-3, abs=1.8e-3)
    assert b[[v, p, r], 0] == pytest.approx([1.48617191, 130.883681, 5.01173513], rel=1e-6)
    assert b[[v, p, r], 2] == pytest.approx([3.76496884, -1.79637441, -24.8813419], rel=1e-6)
    assert b[[u, w_, q], 1] == pytest.approx([-0.138400158, -2.58618345, -36.1123904], rel=1e-6)


@pytest.mark.parametrize("alpha", [-2.9, -0.6, -0.4, 0.0, 0.3, 0.46, 0.48, 1.0, 3.1])
def test_stall_blend_is_the_books(alpha):
    # Equation 4.10 as printed, before it was multiplied out.
    m, a0 = 50.0, 0.47
    first, second = math.exp(-m * (alpha - a0)), math.exp(m * (alpha + a0))
    sigma = (1.0 + first + second) / ((1.0 + first) * (1.0 + second))
    assert 1.0 - attached_share(alpha, a0, m) == pytest.approx(sigma, abs=1e-12)


def coefficients(alpha, p):
    """Lift and drag coefficients, from the force and the direction of the flow."""
    v = air(20.0, alpha)
    f = wrench(v, p=p, density=1.0).force_frd_n
    q_area = 0.5 * 400.0 * p.area_m2
    return (f.x * v.z - f.z * v.x) / 20.0 / q_area, -(f.x * v.x + f.z * v.z) / 20.0 / q_area


def test_broadside_is_a_plate_and_backwards_is_symmetric():
    p = aerosonde()
    # 1e-8: at rest the air comes from ahead at 1 um/s (`air_flow`), which turns 20 m/s by 5e-8 rad.
    assert coefficients(math.pi / 2, p) == pytest.approx((0.0, p.cn_plate + p.cd0), abs=1e-8)
    assert coefficients(-math.pi / 2, p) == pytest.approx((0.0, p.cn_plate + p.cd0), abs=1e-8)
    assert coefficients(math.pi, p) == pytest.approx((0.0, p.cd0), abs=1e-8)
    # Newton's plate: force along the normal, so lift = drag at 45 degrees, each C_N sin^2(45 deg) cos(45 deg).
    lift, drag = coefficients(math.pi / 4, p)
    assert lift == pytest.approx(2.0 * 0.5 * math.sqrt(0.5), rel=1e-4)
    assert drag - p.cd0 == pytest.approx(lift, rel=1e-4)


def test_broadside_the_nose_turns_into_the_wind():
    p = aerosonde()
    q_area_chord = 0.5 * 400.0 * p.area_m2 * p.chord_m
    for alpha, expected in ((math.pi / 2, p.cm_plate), (-math.pi / 2, -p.cm_plate)):
        moment = wrench(air(20.0, alpha), p=p, density=1.0).moment_frd_n_m.y
        assert moment / q_area_chord == pytest.approx(expected, abs=1e-9)


def test_flaps_add_lift_drag_and_pitch():
    p, v = dataclasses.replace(aerosonde(), cl_flap=0.8, cm_flap=-0.1, cd_flap=0.05), Vec3(20.0, 0.0, 0.0)
    out, in_ = (wrench(v, p=p, surfaces=Surfaces(0.0, 0.0, 0.0, flap), density=1.0) for flap in (0.5, 0.0))
    # 200 Pa on 0.55 m2 is 110 N.
    assert list(out.force_frd_n - in_.force_frd_n) == pytest.approx([-110 * 0.025, 0.0, -110 * 0.4], abs=1e-4)
    assert out.moment_frd_n_m.y - in_.moment_frd_n_m.y == pytest.approx(-110 * 0.05 * 0.18994, abs=1e-6)


def test_every_angle_is_finite_continuous_and_dissipates():
    p = aerosonde()
    for beta in (-1.5, -0.4, 0.0, 0.8, 1.57):
        angles = np.linspace(-math.pi, math.pi, 1441)
        rows = []
        for alpha in angles:
            v = air(20.0, float(alpha), beta)
            w = wrench(v, p=p)
            assert dot(w.force_frd_n, v) < 0.0
            rows.append([*w.force_frd_n, *w.moment_frd_n_m])
        rows = np.array(rows)
        assert np.isfinite(rows).all()
        # The steepest place is the stall: lift coefficient 2.9 to 0.4 in 4/M = 0.08 rad.
        steepest = 4.0 * 0.5 * COURSE_DENSITY_KG_M3 * 400.0 * 0.55 * 50.0 / 4.0
        assert np.abs(np.diff(rows, axis=0)).max() < steepest * (angles[1] - angles[0])
        assert rows[0] == pytest.approx(rows[-1], abs=1e-4)


def test_mirror_image():
    velocity, rate, surfaces = Vec3(18.0, 3.0, 2.0), Vec3(0.5, 0.2, -0.3), Surfaces(0.1, -0.05, 0.2, 0.1)
    p = dataclasses.replace(aerosonde(), cl_flap=0.8, cm_flap=-0.1, cd_flap=0.05)
    right = wrench(velocity, rate, surfaces, p)
    left = wrench(Vec3(18.0, -3.0, 2.0), Vec3(-0.5, 0.2, 0.3), Surfaces(-0.1, -0.05, -0.2, 0.1), p)
    f, m = right.force_frd_n, right.moment_frd_n_m
    assert list(left.force_frd_n) == pytest.approx([f.x, -f.y, f.z], rel=1e-12)
    assert list(left.moment_frd_n_m) == pytest.approx([-m.x, m.y, -m.z], rel=1e-12)


def test_weathercock_and_surfaces_turn_the_right_way():
    assert wrench(Vec3(20.0, 2.0, 0.0)).moment_frd_n_m.z > 0.0, "air from the right turns the nose right"
    assert wrench(Vec3(20.0, 2.0, 0.0)).moment_frd_n_m.x < 0.0, "and lifts the right wing"
    assert wrench(Vec3(20.0, 0.0, 0.0), surfaces=Surfaces(0.1, 0.0, 0.0)).moment_frd_n_m.x > 0.0
    level = wrench(Vec3(20.0, 0.0, 0.0)).moment_frd_n_m.y
    assert wrench(Vec3(20.0, 0.0, 0.0), surfaces=Surfaces(0.0, -0.1, 0.0)).moment_frd_n_m.y > level
    # Flying backwards the elevator works the other way.
    back = wrench(Vec3(-20.0, 0.0, 0.0)).moment_frd_n_m.y
    assert wrench(Vec3(-20.0, 0.0, 0.0), surfaces=Surfaces(0.0, -0.1, 0.0)).moment_frd_n_m.y < back


def test_forces_grow_with_density_and_with_speed_squared():
    one, four = wrench(air(10.0, 0.1, 0.05)), wrench(air(20.0, 0.1, 0.05), density=COURSE_DENSITY_KG_M3 / 4.0)
    assert list(four.force_frd_n) == pytest.approx(list(one.force_frd_n), rel=1e-6)
    assert list(four.moment_frd_n_m) == pytest.approx(list(one.moment_frd_n_m), rel=1e-6)


def test_turn_rates_act_as_local_angles_of_attack():
    # Roll damping grows with speed, not with its square: q b/(2V).
    slow, fast = (wrench(Vec3(v, 0.0, 0.0), Vec3(1.0, 0.0, 0.0)).moment_frd_n_m.x for v in (10.0, 20.0))
    assert fast / slow == pytest.approx(2.0, rel=1e-6)


def test_wash_at_rest_gives_control_without_airspeed():
    q = 120.0
    surfaces = Surfaces(0.1, -0.2, 0.05)
    got = wrench(STILL, surfaces=surfaces, wash=Wash(q, q, q))
    # The same pressure by airspeed: what the surfaces add there.
    v = Vec3(math.sqrt(2.0 * q / COURSE_DENSITY_KG_M3), 0.0, 0.0)
    moving, straight = wrench(v, surfaces=surfaces), wrench(v)
    assert list(got.moment_frd_n_m) == pytest.approx(list(moving.moment_frd_n_m - straight.moment_frd_n_m), rel=1e-5)
    assert list(got.force_frd_n) == pytest.approx(list(moving.force_frd_n - straight.force_frd_n), rel=1e-5)
    # Falling backwards through the air does not turn the slipstream around.
    fall = wrench(Vec3(-0.01, 0.0, 0.01), surfaces=surfaces, wash=Wash(q, q, q))
    assert list(fall.force_frd_n) == pytest.approx(list(got.force_frd_n), abs=0.01)


def test_rest_has_no_force_and_finite_gradients():
    still = wrench(STILL, surfaces=Surfaces(0.3, -0.3, 0.3))
    assert [*still.force_frd_n, *still.moment_frd_n_m] == pytest.approx([0.0] * 6, abs=1e-9)
    for scalar in (Float, Float64):
        places = [
            [0.0, -20.0, 0.0, 0.0, 1e-6, 0.0],
            [0.0, 0.0, 0.0, 20.0, 0.0, -20.0],
            [0.0, 0.0, -20.0, 0.0, 0.0, 0.0],
        ]
        v = Vec3(*(scalar(row) for row in places))
        dr.enable_grad(v.x, v.y, v.z)
        w = wrench(v, Vec3(0.1, 0.1, 0.1), Surfaces(0.1, 0.1, 0.1))
        f, m = w.force_frd_n, w.moment_frd_n_m
        dr.backward(f.x + f.y + f.z + m.x + m.y + m.z)
        for component in v:
            assert np.isfinite(np.asarray(dr.grad(component))).all()


def test_symbolic_gradients_are_finite_at_rest_and_backwards():
    x = ca.SX.sym("x", 3)
    w = wrench(Vec3(x[0], x[1], x[2]), p=dataclasses.replace(aerosonde(), stall_sharpness=400.0))
    jacobian = ca.Function("j", [x], [ca.jacobian(ca.vertcat(*w.force_frd_n, *w.moment_frd_n_m), x)])
    for place in ([0.0, 0.0, 0.0], [-20.0, 0.0, 0.0], [0.0, 20.0, 0.0], [0.0, 0.0, -20.0]):
        assert np.isfinite(np.array(jacobian(place))).all()


def test_an_effect_that_is_off_traces_nothing():
    x = ca.SX.sym("x", 3)
    v = Vec3(x[0], x[1], x[2])

    def size(options):
        w = aero_wrench(options, aerosonde(), v, STILL, NEUTRAL, 1.225)
        return ca.Function("law", [x], [ca.vertcat(*w.force_frd_n, *w.moment_frd_n_m)]).n_instructions()

    full, attached = size(AeroOptions()), size(AeroOptions(stall=False))
    plain = size(AeroOptions(stall=False, induced_drag=False))
    assert plain < attached < full
    names = {f.name for f in dataclasses.fields(AeroParameters)}
    assert {name.removeprefix("aero_") for name in aerosonde_values() if name.startswith("aero_")} <= names


def test_missing_catalogue_values_are_named():
    values = {name: value for name, value in aerosonde_values().items() if name != "aero_cl_q"}
    with pytest.raises(KeyError, match="aero_cl_q"):
        aero_parameters(values)


INPUTS = np.random.default_rng(7).uniform(-1.0, 1.0, size=(9, 200))
FLAPPED = dataclasses.replace(aerosonde(), cl_flap=0.8, cm_flap=-0.1, cd_flap=0.05)


def law(x):
    w = wrench(
        Vec3(25.0 * x[0], 9.0 * x[1], 25.0 * x[2]), Vec3(x[3], x[4], x[5]), Surfaces(*x[6:9], 0.2), FLAPPED, 1.1,
        wash=Wash(20.0, 30.0, 40.0),
    )  # fmt: skip
    return [*w.force_frd_n, *w.moment_frd_n_m]


def test_engines_agree():
    expected = as_floats(law, INPUTS)
    assert np.isfinite(expected).all()
    assert as_lanes(law, INPUTS, Float64) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    # The stall multiplies the error of the angle (a few 1e-7 rad) by M = 50 and by the lift at 25 m/s.
    assert as_lanes(law, INPUTS, Float) == pytest.approx(expected, rel=1e-4, abs=2e-2)
    assert as_symbols(law, INPUTS) == pytest.approx(expected, rel=1e-10, abs=1e-10)
