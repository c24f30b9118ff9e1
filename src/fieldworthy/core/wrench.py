"""Force and moment together: what every part of a vehicle contributes, about the centre of mass in body axes."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.vec import Vec3, cross


@dataclass(slots=True)
class Wrench:
    """A force and its moment about the centre of mass, body FRD."""

    force_frd_n: Vec3
    moment_frd_n_m: Vec3

    def __add__(self, other: Wrench) -> Wrench:
        return Wrench(self.force_frd_n + other.force_frd_n, self.moment_frd_n_m + other.moment_frd_n_m)


def no_wrench() -> Wrench:
    """Nothing pushes."""
    return Wrench(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))


def wrench_at(force_frd_n: Vec3, arm_frd_m: Vec3) -> Wrench:
    """The wrench of a force that acts at `arm_frd_m` from the centre of mass.

    Equation: M = r x F
    """
    return Wrench(force_frd_n, cross(arm_frd_m, force_frd_n))
