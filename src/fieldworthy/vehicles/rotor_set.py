"""All rotors of a vehicle together, with what they have in common computed once."""

from __future__ import annotations

from collections.abc import Sequence

from fieldworthy.core.lanes import Scalar
from fieldworthy.core.vec import Vec3, cross
from fieldworthy.core.wrench import Wrench, no_wrench
from fieldworthy.vehicles.rotor import (
    RotorOptions,
    RotorParameters,
    across,
    hub_velocity_frd_m_s,
    rotor_spin_reaction,
    rotor_wrench,
)
from fieldworthy.vehicles.rotor_proximity import REFERENCE_DENSITY_KG_M3, RotorSurroundings


def rotors_wrench(
    options: RotorOptions,
    rotors: Sequence[RotorParameters],
    speeds_rad_s: Sequence[Scalar],
    air_velocity_frd_m_s: Vec3,
    rate_frd_rad_s: Vec3,
    density_kg_m3: Scalar,
    surroundings: Sequence[RotorSurroundings] | None = None,
) -> Wrench:
    """Force and moment of all rotors, about the centre of mass; the sum of `rotor_wrench`.

    Equation: hub velocity v + W x r for each rotor where an effect depends on it (`RotorOptions.hub_motion`);
        otherwise sum T = sum k_f w^2 and so on, with common factors taken out of the sums.
    Source: `rotor_wrench`.
    Frames: body FRD; `air_velocity_frd_m_s` is that of the centre of mass.      Shapes: one speed a rotor.
    Limits: those of `rotor_wrench`.
    Verified by: tests/verification/test_rotor.py::test_set_is_the_sum_of_rotors
    """
    if options.hub_motion or options.proximity:
        total = no_wrench()
        for i, (p, speed) in enumerate(zip(rotors, speeds_rad_s, strict=True)):
            velocity = hub_velocity_frd_m_s(options, p, air_velocity_frd_m_s, rate_frd_rad_s)
            near = None if surroundings is None else surroundings[i]
            total = total + rotor_wrench(options, p, speed, velocity, rate_frd_rad_s, density_kg_m3, near)
        return total

    ratio = density_kg_m3 / REFERENCE_DENSITY_KG_M3
    squares = [speed * speed for speed in speeds_rad_s]
    forces: list[Vec3] = []
    moments: list[Vec3] = []
    for p in rotors:
        a, scale = p.axis_frd, p.effectiveness * p.thrust_coefficient_n_s2
        forces.append(a * scale)
        moments.append((cross(p.pos_frd_m, a) - a * (p.spin * p.torque_ratio_m)) * scale)
    force = _vector_sum(forces, squares) * ratio
    moment = _vector_sum(moments, squares) * ratio
    if options.drag:
        force = force - _drag(rotors, speeds_rad_s, air_velocity_frd_m_s) * ratio
    if options.gyroscopic:
        momentum = _vector_sum([p.axis_frd * (p.spin * p.axial_inertia_kg_m2) for p in rotors], speeds_rad_s)
        moment = moment + cross(momentum, rate_frd_rad_s)
    return Wrench(force, moment)


def spin_reaction(rotors: Sequence[RotorParameters], speed_dots_rad_s2: Sequence[Scalar]) -> Vec3:
    """Moment on the body of all motors that speed their rotors up: the sum of `rotor_spin_reaction`, FRD [N m]."""
    total = Vec3(0.0, 0.0, 0.0)
    for p, speed_dot in zip(rotors, speed_dots_rad_s2, strict=True):
        total = total + rotor_spin_reaction(p, speed_dot)
    return total


def _drag(rotors: Sequence[RotorParameters], speeds_rad_s: Sequence[Scalar], velocity_frd_m_s: Vec3) -> Vec3:
    """Sum of k_d w times the velocity across each shaft, at 1.225 kg/m3; rotors with one shaft direction share it."""
    shafts: list[Vec3] = []
    members: list[list[int]] = []
    for i, p in enumerate(rotors):
        for shaft, group in zip(shafts, members, strict=True):
            if _same(shaft, p.axis_frd):
                group.append(i)
                break
        else:
            shafts.append(p.axis_frd)
            members.append([i])
    total = Vec3(0.0, 0.0, 0.0)
    for shaft, group in zip(shafts, members, strict=True):
        weights = [rotors[i].effectiveness * rotors[i].drag_coefficient_n_s2_m for i in group]
        total = total + across(velocity_frd_m_s, shaft) * weighted_sum(weights, [speeds_rad_s[i] for i in group])
    return total


def _same(a: Vec3, b: Vec3) -> bool:
    """Both known before the run, and equal."""
    return all(x is y or (_known(x) and _known(y) and x == y) for x, y in zip(a, b, strict=True))


def _known(x: Scalar) -> bool:
    return isinstance(x, float | int)


def _vector_sum(weights: Sequence[Vec3], values: Sequence[Scalar]) -> Vec3:
    return Vec3(
        weighted_sum([v.x for v in weights], values),
        weighted_sum([v.y for v in weights], values),
        weighted_sum([v.z for v in weights], values),
    )


def weighted_sum(weights: Sequence[Scalar], values: Sequence[Scalar]) -> Scalar:
    """Sum of weight times value; weights known before the run and of one size are multiplied in once.

    The four arms of a quadrotor cost one product this way instead of four: this is the innermost loop of campaigns.
    """
    pairs = [(w, v) for w, v in zip(weights, values, strict=True) if not (_known(w) and w == 0.0)]
    if not pairs:
        return 0.0
    size = pairs[0][0]
    if not all(_known(w) and abs(abs(w) - abs(size)) <= 1e-15 * abs(size) for w, _ in pairs):
        total: Scalar = 0.0
        for w, v in pairs:
            total = total + w * v
        return total
    signed: Scalar = pairs[0][1]
    for w, v in pairs[1:]:
        signed = signed + v if w * size > 0.0 else signed - v
    return signed * size
