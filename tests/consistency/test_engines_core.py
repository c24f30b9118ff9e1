"""One source, four engines: the same law gives the same numbers as floats, lanes (32 and 64 bits) and symbols."""

import math
from functools import partial

import casadi as ca
import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float, Float64

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.core import frames, lanes, units, vec
from fieldworthy.core.integrate import euler, rk4, semi_implicit_euler
from fieldworthy.core.rigid_body import (
    VELOCITY_FIELDS,
    RigidBodyState,
    exponential_step,
    normalised_step,
    rigid_body_rates,
)
from fieldworthy.core.struct import leaves
from fieldworthy.core.vec import Mat3, Quat, Vec3

LANES = 64
INERTIA = Mat3(0.03, 0.002, -0.001, 0.002, 0.04, 0.003, -0.001, 0.003, 0.06)


def rotation(x):
    return vec.quat_from_rotation_vector(Vec3(x[0], x[1], x[2]))


def body_step(keep, step, inertia, x):
    """One 20 ms step of a damped, pushed body whose numbers all depend on the inputs."""
    state = RigidBodyState(Vec3(x[0], x[1], x[2]), rotation(x), Vec3(x[3], x[4], x[5]), Vec3(x[2], x[3], x[4]))

    def rate(s):
        force = vec.rotate(s.quat_ned_from_frd, Vec3(x[0], 0.0, -19.0)) - s.vel_ned_m_s * vec.norm(s.vel_ned_m_s)
        return rigid_body_rates(s, force, s.rate_frd_rad_s * -0.01, 2.0, inertia)

    return keep(step, rate, state, 0.02)


LAWS = {
    "algebra": lambda x: (
        vec.normalize(vec.cross(Vec3(x[0], x[1], x[2]), Vec3(x[3], x[4], x[5]))),
        vec.mat3_solve(INERTIA, Vec3(x[0], x[1], x[2])),
    ),
    "exponential map": rotation,
    "exponential map near zero": lambda x: rotation([v * 1e-3 for v in x]),
    "rotate": lambda x: (vec.rotate(rotation(x), Vec3(x[3], x[4], x[5])), vec.mat3_from_quat(rotation(x))),
    "euler angles": lambda x: (
        vec.quat_from_euler_zyx(x[0], x[1], x[2]),
        vec.euler_zyx_from_quat(vec.quat_normalize(Quat(x[0], x[1], 0.3 * x[2], x[3]))),
        vec.quat_from_yaw(x[4]),
    ),
    "frames": lambda x: (
        frames.quat_enu_from_flu(rotation(x)),
        frames.quat_unity_from_ned(rotation(x)),
        frames.unity_from_ned(Vec3(x[3], x[4], x[5])),
    ),
    "wrapped angle": lambda x: units.wrap_pi(4.0 * x[0] + 1.0),
    "select": lambda x: lanes.select(
        lanes.logical_and(x[0] > 0.0, x[1] > 0.0), lanes.exp(x[2]), lanes.log(1.0 + lanes.abs(x[3]))
    ),
    "euler, normalised": partial(body_step, normalised_step, euler, Vec3(0.03, 0.04, 0.06)),
    "semi-implicit, normalised": partial(
        body_step, normalised_step, partial(semi_implicit_euler, velocity_fields=VELOCITY_FIELDS), INERTIA
    ),
    "rk4, normalised": partial(body_step, normalised_step, rk4, INERTIA),
    "rk4, exponential": partial(body_step, exponential_step, rk4, INERTIA),
}
INPUTS = np.random.default_rng(5).uniform(-1.5, 1.5, size=(6, LANES))


@pytest.mark.parametrize("name", LAWS)
def test_engines_agree(name):
    reference = as_floats(LAWS[name], INPUTS)
    assert np.isfinite(reference).all()
    np.testing.assert_allclose(as_symbols(LAWS[name], INPUTS), reference, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(as_lanes(LAWS[name], INPUTS, Float64), reference, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(as_lanes(LAWS[name], INPUTS, Float), reference, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("scalar", [Float, Float64])
@pytest.mark.parametrize("keep", [normalised_step, exponential_step])
def test_a_lane_alone_is_its_row_of_the_batch_bit_for_bit(scalar, keep):
    law = partial(body_step, keep, rk4, INERTIA)
    batch = as_lanes(law, INPUTS, scalar)
    for lane in (0, 17, LANES - 1):
        alone = leaves(law([scalar(float(row[lane])) for row in INPUTS]))
        assert [float(value[0]) for value in alone] == batch[:, lane].tolist()


def test_lon_lat_in_64_bit_lanes_equals_floats():
    lon, lat = -122.44 + INPUTS[0] * 0.02, 47.26 + INPUTS[1] * 0.02
    north, east = frames.ne_from_lonlat(Float64(lon), Float64(lat), -122.44, 47.26)
    reference = np.array([frames.ne_from_lonlat(a, b, -122.44, 47.26) for a, b in zip(lon, lat, strict=True)])
    np.testing.assert_allclose(np.stack([north.numpy(), east.numpy()], axis=1), reference, atol=1e-7)
    back = frames.lonlat_from_ne(north, east, -122.44, 47.26)
    np.testing.assert_allclose(back[0].numpy(), lon, atol=1e-11)
    np.testing.assert_allclose(back[1].numpy(), lat, atol=1e-11)


def test_gradients_of_a_step_equal_symbolic_ones():
    """Dr.Jit in reverse and CasADi's Jacobian differentiate the same source."""
    law = partial(body_step, exponential_step, rk4, INERTIA)
    symbols = [ca.SX.sym(f"x{i}") for i in range(6)]
    total = sum(leaves(law(symbols)))
    gradient = ca.Function("g", symbols, [ca.gradient(total, ca.vertcat(*symbols))])
    point = [0.4, -0.7, 1.1, 2.0, -1.0, 0.5]
    inputs = [Float64(value) for value in point]
    dr.enable_grad(inputs)
    dr.backward(sum(leaves(law(inputs))))
    got = [dr.grad(value)[0] for value in inputs]
    assert all(math.isfinite(g) for g in got)
    assert got == pytest.approx(np.array(gradient(*point)).ravel().tolist(), rel=1e-11)
