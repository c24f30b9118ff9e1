"""What the engine owes: free bodies that keep energy and momentum, published random words, 32-bit sums, derivatives."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np

from fieldworthy.core.engine import load_engine
from fieldworthy.core.integrate import add_compensated, rk4
from fieldworthy.core.lanes import Scalar
from fieldworthy.core.random import normals, philox4x32, stream_key
from fieldworthy.core.rigid_body import RigidBodyState, exponential_step, rigid_body_rates
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.vec import (
    Quat,
    Vec3,
    dot,
    norm,
    quat_conjugate,
    quat_from_rotation_vector,
    quat_identity,
    quat_multiply,
    rotate,
)
from fieldworthy.verify.check import Check

# Free bodies --------------------------------------------------------------------------------------------------------

QUADROTOR = (Vec3(0.0143, 0.0143, 0.026), Vec3(10.0, 1.0, 8.0))
BRICK = (
    Vec3(0.001894220, 0.006211019, 0.007194665) * 1.3558179619,  # slug ft2 to kg m2
    Vec3(*(math.radians(rate) for rate in (10.0, 20.0, 30.0))),
)
"""Principal inertias [kg m2] and first turn rate [rad/s]."""
TUMBLE_S, TUMBLE_STEPS = 10.0, 5000


@cache
def _tumbled(body: str) -> tuple[Vec3, Quat]:
    """Turn rate and attitude of a free body after its tumble from no rotation."""
    import drjit as dr

    inertia, turn_rate = QUADROTOR if body == "quadrotor" else BRICK
    engine, nothing = load_engine("f64"), Vec3(0.0, 0.0, 0.0)
    still = engine.floats([0.0])
    first = map_leaves(lambda leaf: still + leaf, RigidBodyState(nothing, quat_identity(), nothing, turn_rate))

    def rate(s: RigidBodyState) -> RigidBodyState:
        return rigid_body_rates(s, nothing, nothing, 1.0, inertia)

    _, end = dr.while_loop(
        (engine.integers([0]), first),
        lambda i, s: i < TUMBLE_STEPS,
        lambda i, s: (i + 1, exponential_step(rk4, rate, s, TUMBLE_S / TUMBLE_STEPS)),
        labels=("i", "s"),
    )
    last: RigidBodyState = map_leaves(lambda leaf: float(leaf[0]), end)
    return last.rate_frd_rad_s, last.quat_ned_from_frd


def _momentum(inertia: Vec3, rate: Vec3) -> Vec3:
    return Vec3(inertia.x * rate.x, inertia.y * rate.y, inertia.z * rate.z)


def _energy_ratio(body: str) -> float:
    """Rotational energy at the end of the tumble over that at its start."""
    inertia, first = QUADROTOR if body == "quadrotor" else BRICK
    last, _ = _tumbled(body)
    return float(dot(_momentum(inertia, last), last) / dot(_momentum(inertia, first), first))


def _momentum_change() -> float:
    """How far the quadrotor's angular momentum moves in the world, as a share of its length."""
    inertia, first = QUADROTOR
    last, attitude = _tumbled("quadrotor")
    kept = _momentum(inertia, first)
    return float(norm(rotate(attitude, _momentum(inertia, last)) - kept) / norm(kept))


def _attitude_error_rad() -> float:
    """Angle between the quadrotor's last attitude and exp(L t / I_t) exp(z w_z (1 - I_a / I_t) t)."""
    inertia, first = QUADROTOR
    _, attitude = _tumbled("quadrotor")
    precession = quat_from_rotation_vector(_momentum(inertia, first) * (TUMBLE_S / inertia.x))
    spin = quat_from_rotation_vector(Vec3(0.0, 0.0, first.z * (1.0 - inertia.z / inertia.x) * TUMBLE_S))
    between = quat_multiply(quat_conjugate(quat_multiply(precession, spin)), attitude)
    return 2.0 * math.asin(min(1.0, math.sqrt(between.x**2 + between.y**2 + between.z**2)))


# Random numbers, sums, derivatives ----------------------------------------------------------------------------------

# counter, key, words
PHILOX = {
    "zeros": ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    "ones": ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    "digits of pi": (
        "243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"
    ),
}  # fmt: skip


def _philox_words_equal(name: str) -> float:
    """How many of the published words come out, as integers and in lanes."""
    counter, key, answer = (tuple(int(word, 16) for word in text.split()) for text in PHILOX[name])
    integers = philox4x32(counter, key)  # type: ignore[arg-type]
    lanes = philox4x32(tuple(load_engine("f32").integers([word]) for word in counter), key)  # type: ignore[arg-type]
    rows = zip(integers, lanes, answer, strict=True)
    return float(sum((word == wanted) + (int(lane[0]) == wanted) for word, lane, wanted in rows))


NORMALS = 2**18


@cache
def _normal_moment(power: int) -> float:
    """Mean of a power of 2^18 normals drawn in 32-bit lanes."""
    lanes = load_engine("f32").indices(NORMALS // 4)
    drawn = np.concatenate([n.numpy() for n in normals(stream_key(1, "verify"), lanes, 0, 4)]).astype(float)
    return float((drawn**power).mean())


def _hour_in_32_bits_m() -> float:
    """Place after 36,000 sums of 100.4 mm from 10 km on, in 32 bits with the carry."""
    import drjit as dr

    engine = load_engine("f32")
    metre = engine.floats([10_000.0])
    _, place, _ = dr.while_loop(
        (engine.integers([0]), metre, metre * 0.0),
        lambda i, x, c: i < 36_000,
        lambda i, x, c: (i + 1, *add_compensated(x, c, 0.1, x * 0.0 + 1.004)),
        labels=("i", "x", "c"),
    )
    return float(place[0])


def _slope_by_frequency() -> float:
    """d x(2 s) / d omega of x'' = -omega^2 x at omega = 1, backwards through 50 steps of RK4."""
    import drjit as dr

    omega = load_engine("f64").floats([1.0])
    dr.enable_grad(omega)

    def rate(s: dict[str, Scalar]) -> dict[str, Scalar]:
        return {"x": s["v"], "v": -(omega * omega) * s["x"]}

    state = {"x": omega * 0.0 + 1.0, "v": omega * 0.0}
    for _ in range(50):
        state = rk4(rate, state, 0.04)
    dr.backward(state["x"])
    return float(dr.grad(omega)[0])


CONSERVED = "conservation law; error of RK4 in 5,000 steps"

CHECKS: tuple[Check, ...] = (
    Check("rigid body", "energy of a free tumble at (10, 1, 8) rad/s, 10 s at 2 ms, end over start", CONSERVED, 1.0,
          partial(_energy_ratio, "quadrotor"), 1e-9),
    Check("rigid body", "change of its angular momentum in the world, share", CONSERVED, 0.0,
          _momentum_change, 1e-9),
    Check("rigid body", "its attitude after 10 s (about 20 turns) beside the symmetric top's",
          "Goldstein, Classical Mechanics, 3rd ed., section 5.6", 0.0, _attitude_error_rad, 1e-6, "rad"),
    Check("rigid body", "energy of a brick that tumbles at (10, 20, 30) deg/s for 10 s, end over start",
          "conservation law; brick of NASA/TM-2015-218675, check case 2", 1.0, partial(_energy_ratio, "brick"), 1e-12),
    *(
        Check("Philox4x32-10", f"published words, counter and key {name}: equal as integers and in lanes",
              "Random123 1.14, tests/kat_vectors (Salmon et al., SC11)", 8.0, partial(_philox_words_equal, name), 0.0,
              "words")
        for name in PHILOX
    ),
    # Four standard deviations of the mean of the first, second and fourth power of N normals.
    Check("normal numbers", "mean of 2^18", "standard normal law", 0.0, lambda: _normal_moment(1),
          4.0 / math.sqrt(NORMALS)),
    Check("normal numbers", "variance of 2^18", "standard normal law", 1.0, lambda: _normal_moment(2),
          4.0 * math.sqrt(2.0 / NORMALS)),
    Check("normal numbers", "fourth moment of 2^18", "standard normal law", 3.0, lambda: _normal_moment(4),
          4.0 * math.sqrt(96.0 / NORMALS)),
    Check("32-bit sums", "36,000 steps of 100.4 mm from 10 km on", "10,000 + 36,000 · 0.1004; one step of the format",
          13_614.4, _hour_in_32_bits_m, 1e-3, "m"),
    Check("gradient", "∂x/∂ω of x'' = -ω² x after 50 RK4 steps to t = 2 s", "-t sin ωt; error of RK4",
          -2.0 * math.sin(2.0), _slope_by_frequency, 1e-6, "m s/rad"),
)  # fmt: skip
