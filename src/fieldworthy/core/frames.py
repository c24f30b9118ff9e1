"""Between the package's frames (world NED, body FRD) and other people's. Nothing else in the package converts axes.

NED north east down · ENU east north up (ROS, charts) · FRD forward right down · FLU forward left up (ROS) ·
Unity: left-handed, x right (east), y up, z forward (north).
Vectors and quaternions work on any engine; longitude and latitude need 64 bits.
Verified by: tests/verification/test_frames.py, by known answers (nose east, right wing down)
"""

from __future__ import annotations

import math

from fieldworthy.core.lanes import Scalar, cos, floor, sin, sqrt
from fieldworthy.core.vec import Quat, Vec3

_SQRT_HALF = math.sqrt(0.5)

WGS84_SEMI_MAJOR_AXIS_M = 6378137.0
WGS84_FLATTENING = 1.0 / 298.257223563
_E2 = WGS84_FLATTENING * (2.0 - WGS84_FLATTENING)


def enu_from_ned(v_ned: Vec3) -> Vec3:
    """East, north, up from north, east, down."""
    return Vec3(v_ned.y, v_ned.x, -v_ned.z)


def ned_from_enu(v_enu: Vec3) -> Vec3:
    """North, east, down from east, north, up."""
    return Vec3(v_enu.y, v_enu.x, -v_enu.z)


def flu_from_frd(v_frd: Vec3) -> Vec3:
    """Forward, left, up from forward, right, down."""
    return Vec3(v_frd.x, -v_frd.y, -v_frd.z)


def frd_from_flu(v_flu: Vec3) -> Vec3:
    """Forward, right, down from forward, left, up."""
    return Vec3(v_flu.x, -v_flu.y, -v_flu.z)


def quat_enu_from_flu(quat_ned_from_frd: Quat) -> Quat:
    """The same attitude between ENU and FLU. A level nose to the north is a quarter turn about up there."""
    w, x, y, z = quat_ned_from_frd
    return Quat((w + z) * _SQRT_HALF, (x + y) * _SQRT_HALF, (x - y) * _SQRT_HALF, (w - z) * _SQRT_HALF)


def quat_ned_from_frd(quat_enu_from_flu: Quat) -> Quat:
    """The same attitude between NED and FRD."""
    w, x, y, z = quat_enu_from_flu
    return Quat((w + z) * _SQRT_HALF, (x + y) * _SQRT_HALF, (x - y) * _SQRT_HALF, (w - z) * _SQRT_HALF)


def unity_from_ned(v_ned: Vec3) -> Vec3:
    """Unity's right (east), up, forward (north) from north, east, down."""
    return Vec3(v_ned.y, -v_ned.z, v_ned.x)


def ned_from_unity(v_unity: Vec3) -> Vec3:
    """North, east, down from Unity's x, y, z."""
    return Vec3(v_unity.z, v_unity.x, -v_unity.y)


def unity_from_frd(v_frd: Vec3) -> Vec3:
    """Unity's right, up, forward of a body from forward, right, down."""
    return unity_from_ned(v_frd)


def frd_from_unity(v_unity: Vec3) -> Vec3:
    """Forward, right, down from Unity's right, up, forward of a body."""
    return ned_from_unity(v_unity)


def quat_unity_from_ned(quat_ned_from_frd: Quat) -> Quat:
    """Unity's rotation of an object whose z axis is its nose and y axis its top.

    Axes map with determinant -1, so an axis of rotation (a pseudovector) changes sign on top of the mapping.
    """
    w, x, y, z = quat_ned_from_frd
    return Quat(w, -y, z, -x)


def quat_ned_from_unity(quat_unity: Quat) -> Quat:
    """quat_ned_from_frd of a Unity object."""
    w, x, y, z = quat_unity
    return Quat(w, -z, -x, y)


def unity_from_flu(v_flu: Vec3) -> Vec3:
    """Unity's right, up, forward from forward, left, up (ROS; the base of an arm)."""
    return Vec3(-v_flu.y, v_flu.z, v_flu.x)


def flu_from_unity(v_unity: Vec3) -> Vec3:
    """Forward, left, up from Unity's right, up, forward."""
    return Vec3(v_unity.z, -v_unity.x, v_unity.y)


def meridian_radius_m(lat_deg: Scalar) -> Scalar:
    """Radius of curvature north-south on WGS 84 [m].

    Equation: a (1 - e^2) / (1 - e^2 sin^2 lat)^(3/2)
    """
    s = sin(lat_deg * (math.pi / 180.0))
    q = 1.0 - _E2 * s * s
    return WGS84_SEMI_MAJOR_AXIS_M * (1.0 - _E2) / (q * sqrt(q))


def prime_vertical_radius_m(lat_deg: Scalar) -> Scalar:
    """Radius of curvature east-west on WGS 84 [m].

    Equation: a / sqrt(1 - e^2 sin^2 lat)
    """
    s = sin(lat_deg * (math.pi / 180.0))
    return WGS84_SEMI_MAJOR_AXIS_M / sqrt(1.0 - _E2 * s * s)


def ne_from_lonlat(lon_deg: Scalar, lat_deg: Scalar, ref_lon_deg: Scalar, ref_lat_deg: Scalar) -> tuple[Scalar, Scalar]:
    """(north, east) [m] of a point of the ellipsoid, in the plane that touches WGS 84 at the reference.

    Equation: the ECEF difference to the reference in the reference's east and north; near it that is the meridian
    radius times dlat and the prime-vertical radius times cos(lat) times dlon.
    Source: NIMA TR8350.2 (WGS 84)
    Limits: heights are on the ellipsoid and the drop of the surface below the plane is left out (2 m at 5 km).
    Scale is true to 1e-6 within 9 km; not at the poles. Needs 64 bits.
    """
    lat, ref_lat = lat_deg * (math.pi / 180.0), ref_lat_deg * (math.pi / 180.0)
    turn_deg = lon_deg - ref_lon_deg
    dlon = (turn_deg - 360.0 * floor(turn_deg / 360.0 + 0.5)) * (math.pi / 180.0)
    n, n_ref = prime_vertical_radius_m(lat_deg), prime_vertical_radius_m(ref_lat_deg)
    from_axis, from_axis_ref = n * cos(lat), n_ref * cos(ref_lat)
    above_equator, above_equator_ref = n * (1.0 - _E2) * sin(lat), n_ref * (1.0 - _E2) * sin(ref_lat)
    outward = from_axis * cos(dlon) - from_axis_ref
    return (above_equator - above_equator_ref) * cos(ref_lat) - outward * sin(ref_lat), from_axis * sin(dlon)


def lonlat_from_ne(north_m: Scalar, east_m: Scalar, ref_lon_deg: Scalar, ref_lat_deg: Scalar) -> tuple[Scalar, Scalar]:
    """(longitude in [-180, 180), latitude) [deg] of a point of the plane: the inverse of `ne_from_lonlat`.

    Equation: repeated correction by the radii at the reference; the error shrinks by about (distance / 6400 km)
    tan(latitude) each time, so eight are to rounding within 100 km below 70 deg.
    """
    m_per_deg_lat = meridian_radius_m(ref_lat_deg) * (math.pi / 180.0)
    cos_ref = cos(ref_lat_deg * (math.pi / 180.0))
    m_per_deg_lon = prime_vertical_radius_m(ref_lat_deg) * cos_ref * (math.pi / 180.0)
    lon_deg, lat_deg = ref_lon_deg, ref_lat_deg
    for _ in range(8):
        north_now, east_now = ne_from_lonlat(lon_deg, lat_deg, ref_lon_deg, ref_lat_deg)
        lat_deg = lat_deg + (north_m - north_now) / m_per_deg_lat
        lon_deg = lon_deg + (east_m - east_now) / m_per_deg_lon
    return lon_deg - 360.0 * floor((lon_deg + 180.0) / 360.0), lat_deg
