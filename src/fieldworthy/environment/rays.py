"""Where a ray meets a closed-form shape: laws on scalars, one for each primitive.

Frames: north, east and up [m] (up, because shapes are given by heights); a ray is origin + distance * direction.
Every law returns the distance to the nearest point met at a positive distance, or `MISS` where there is none. Cylinders
and spheres are solid: a ray that starts inside one does not meet it.
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, logical_and, logical_or, maximum, minimum, select, sqrt
from fieldworthy.core.lanes import abs as magnitude

MISS = float("inf")


@dataclass
class Ray:
    """Origin [m] and unit direction of a ray in north, east, up, with the reciprocals that every law needs."""

    north_m: Scalar
    east_m: Scalar
    up_m: Scalar
    d_north: Scalar
    d_east: Scalar
    d_up: Scalar
    per_d_up: Scalar
    d_flat_square: Scalar
    per_d_flat_square: Scalar


def ray(north_m: Scalar, east_m: Scalar, up_m: Scalar, d_north: Scalar, d_east: Scalar, d_up: Scalar) -> Ray:
    """A ray with its reciprocals; a level ray gets the slope 1e-9 instead of a division by zero, a vertical one leans
    1e-6 to the north."""
    slope = select(magnitude(d_up) < 1e-9, 1e-9, d_up)
    vertical = d_north * d_north + d_east * d_east < 1e-12
    d_north, d_east = select(vertical, 1e-6, d_north), select(vertical, 0.0, d_east)
    flat = d_north * d_north + d_east * d_east
    return Ray(north_m, east_m, up_m, d_north, d_east, d_up, 1.0 / slope, flat, 1.0 / flat)


def to_sea(ray: Ray) -> Scalar:
    """Distance to still water (up = 0).   Equation: t = -o_up / d_up."""
    distance = -ray.up_m * ray.per_d_up
    return select(distance > 0.0, distance, MISS)


def to_cylinder(
    ray: Ray, north_m: Scalar, east_m: Scalar, radius_m: Scalar, bottom_up_m: Scalar, top_up_m: Scalar
) -> Scalar:
    """Distance to an upright cylinder with flat ends.

    Equation: the ray is inside the infinite cylinder between the roots of a quadratic and between the two end planes
        in another interval; the nearest common distance is the hit.      Source: slab method, Kay and Kajiya 1986
    """
    north, east = north_m - ray.north_m, east_m - ray.east_m
    towards = north * ray.d_north + east * ray.d_east
    # The miss distance, not the difference of two large squares: in 32 bits that keeps 1e-5 m at 100 m.
    across = north * ray.d_east - east * ray.d_north
    discriminant = radius_m * radius_m * ray.d_flat_square - across * across
    root = sqrt(maximum(discriminant, 0.0))
    at_bottom = (bottom_up_m - ray.up_m) * ray.per_d_up
    at_top = (top_up_m - ray.up_m) * ray.per_d_up
    enter = maximum((towards - root) * ray.per_d_flat_square, minimum(at_bottom, at_top))
    leave = minimum((towards + root) * ray.per_d_flat_square, maximum(at_bottom, at_top))
    return select(_all(discriminant > 0.0, enter <= leave, enter > 0.0), enter, MISS)


def to_sphere(ray: Ray, north_m: Scalar, east_m: Scalar, up_m: Scalar, radius_m: Scalar) -> Scalar:
    """Distance to a sphere.   Equation: nearest root of |o + t d - c|^2 = r^2 with |d| = 1, from the miss distance."""
    north, east, up = north_m - ray.north_m, east_m - ray.east_m, up_m - ray.up_m
    towards = north * ray.d_north + east * ray.d_east + up * ray.d_up
    off_n, off_e, off_u = north - towards * ray.d_north, east - towards * ray.d_east, up - towards * ray.d_up
    discriminant = radius_m * radius_m - (off_n * off_n + off_e * off_e + off_u * off_u)
    distance = towards - sqrt(maximum(discriminant, 0.0))
    return select(_all(discriminant > 0.0, distance > 0.0), distance, MISS)


def to_wall(
    ray: Ray,
    a_north_m: Scalar,
    a_east_m: Scalar,
    b_north_m: Scalar,
    b_east_m: Scalar,
    bottom_up_m: Scalar,
    top_up_m: Scalar,
) -> Scalar:
    """Distance to an upright rectangle over the segment from a to b.

    Equation: o + t d = a + s (b - a) in the plane, solved by Cramer's rule; hit where 0 <= s <= 1 and the height fits.
    """
    along_n, along_e = b_north_m - a_north_m, b_east_m - a_east_m
    north, east = a_north_m - ray.north_m, a_east_m - ray.east_m
    determinant = ray.d_north * along_e - ray.d_east * along_n
    inverse = 1.0 / select(magnitude(determinant) < 1e-12, 1e-12, determinant)
    distance = (north * along_e - east * along_n) * inverse
    share = (north * ray.d_east - east * ray.d_north) * inverse
    up = ray.up_m + distance * ray.d_up
    hit = _all(distance > 0.0, share >= 0.0, share <= 1.0, up >= bottom_up_m, up <= top_up_m)
    return select(hit, distance, MISS)


def to_cap(
    ray: Ray,
    a_north_m: Scalar,
    a_east_m: Scalar,
    b_north_m: Scalar,
    b_east_m: Scalar,
    c_north_m: Scalar,
    c_east_m: Scalar,
    up_m: Scalar,
) -> Scalar:
    """Distance to a level triangle at height `up_m`.

    Equation: t = (up - o_up) / d_up; inside where the three edge products have one sign.
    """
    distance = (up_m - ray.up_m) * ray.per_d_up
    north, east = ray.north_m + distance * ray.d_north, ray.east_m + distance * ray.d_east
    ab = (b_north_m - a_north_m) * (east - a_east_m) - (b_east_m - a_east_m) * (north - a_north_m)
    bc = (c_north_m - b_north_m) * (east - b_east_m) - (c_east_m - b_east_m) * (north - b_north_m)
    ca = (a_north_m - c_north_m) * (east - c_east_m) - (a_east_m - c_east_m) * (north - c_north_m)
    least, most = minimum(ab, minimum(bc, ca)), maximum(ab, maximum(bc, ca))
    return select(_all(distance > 0.0, logical_or(least >= 0.0, most <= 0.0)), distance, MISS)


def _all(first: Scalar, *others: Scalar) -> Scalar:
    for other in others:
        first = logical_and(first, other)
    return first
