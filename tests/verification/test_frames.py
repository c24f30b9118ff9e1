"""Frames by known answers: which way a nose, a wing and a mast point. Round trips come second."""

import math

import pytest

from fieldworthy.core import frames
from fieldworthy.core.vec import Quat, Vec3, quat_from_euler_zyx, quat_from_rotation_vector, rotate

NORTH_ENU, EAST_ENU, UP_ENU = Vec3(0.0, 1.0, 0.0), Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0)
NORTH_UNITY, EAST_UNITY, UP_UNITY = Vec3(0.0, 0.0, 1.0), Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0)
FORWARD_FLU, LEFT_FLU, UP_FLU = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)
FORWARD_UNITY, RIGHT_UNITY, TOP_UNITY = Vec3(0.0, 0.0, 1.0), Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0)
QUARTER = math.pi / 2


def minus(v):
    return Vec3(-v.x, -v.y, -v.z)


# roll, pitch, yaw (NED from FRD); where the nose, the right wing and the top of the vehicle point: n, e, u and signs
POSES = {
    "level, nose north": ((0.0, 0.0, 0.0), ("north", "east", "up")),
    "nose east": ((0.0, 0.0, QUARTER), ("east", "south", "up")),
    "nose west": ((0.0, 0.0, -QUARTER), ("west", "north", "up")),
    "right wing down": ((QUARTER, 0.0, 0.0), ("north", "down", "east")),
    "nose up": ((0.0, QUARTER, 0.0), ("up", "east", "south")),
    "nose east, left wing down": ((-QUARTER, 0.0, QUARTER), ("east", "up", "north")),
}


def directions(north, east, up):
    return {
        "north": north,
        "east": east,
        "up": up,
        "south": minus(north),
        "west": minus(east),
        "down": minus(up),
    }


def assert_close(a, b, tolerance=1e-14):
    assert list(a) == pytest.approx(list(b), abs=tolerance)


def test_vectors_of_the_world():
    """5 m north, 3 m east, 2 m up."""
    ned = Vec3(5.0, 3.0, -2.0)
    assert frames.enu_from_ned(ned) == Vec3(3.0, 5.0, 2.0)
    assert frames.unity_from_ned(ned) == Vec3(3.0, 2.0, 5.0)
    assert frames.ned_from_enu(Vec3(3.0, 5.0, 2.0)) == ned
    assert frames.ned_from_unity(Vec3(3.0, 2.0, 5.0)) == ned


def test_vectors_of_the_body():
    """A lamp 2 m forward, 1 m to the right, 4 m up the mast."""
    frd = Vec3(2.0, 1.0, -4.0)
    assert frames.flu_from_frd(frd) == Vec3(2.0, -1.0, 4.0)
    assert frames.unity_from_frd(frd) == Vec3(1.0, 4.0, 2.0)
    assert frames.frd_from_flu(Vec3(2.0, -1.0, 4.0)) == frd
    assert frames.frd_from_unity(Vec3(1.0, 4.0, 2.0)) == frd


@pytest.mark.parametrize("pose", POSES)
def test_poses_in_enu(pose):
    angles, (nose, right, top) = POSES[pose]
    q = frames.quat_enu_from_flu(quat_from_euler_zyx(*angles))
    world = directions(NORTH_ENU, EAST_ENU, UP_ENU)
    assert_close(rotate(q, FORWARD_FLU), world[nose])
    assert_close(rotate(q, minus(LEFT_FLU)), world[right])
    assert_close(rotate(q, UP_FLU), world[top])


@pytest.mark.parametrize("pose", POSES)
def test_poses_in_unity(pose):
    """Unity turns vectors by the same formula on its own components (left-handed axes, left-handed turns)."""
    angles, (nose, right, top) = POSES[pose]
    q = frames.quat_unity_from_ned(quat_from_euler_zyx(*angles))
    world = directions(NORTH_UNITY, EAST_UNITY, UP_UNITY)
    assert_close(rotate(q, FORWARD_UNITY), world[nose])
    assert_close(rotate(q, RIGHT_UNITY), world[right])
    assert_close(rotate(q, TOP_UNITY), world[top])


def test_documented_quaternions():
    """ROS REP 103: yaw zero is east. Unity: Quaternion.Euler(0, 90, 0) = (0, 0.7071, 0, 0.7071) x y z w faces +x."""
    half = math.sqrt(0.5)
    level_north = quat_from_euler_zyx(0.0, 0.0, 0.0)
    east = quat_from_euler_zyx(0.0, 0.0, QUARTER)
    assert_close(frames.quat_enu_from_flu(level_north), Quat(half, 0.0, 0.0, half))
    assert_close(frames.quat_enu_from_flu(east), Quat(1.0, 0.0, 0.0, 0.0))
    assert_close(frames.quat_unity_from_ned(east), Quat(half, 0.0, half, 0.0))


def test_rotating_then_converting_is_converting_then_rotating():
    q = quat_from_rotation_vector(Vec3(0.7, -1.1, 0.4))
    v = Vec3(0.3, -2.0, 1.5)
    in_ned = rotate(q, v)
    assert_close(rotate(frames.quat_enu_from_flu(q), frames.flu_from_frd(v)), frames.enu_from_ned(in_ned))
    assert_close(rotate(frames.quat_unity_from_ned(q), frames.unity_from_frd(v)), frames.unity_from_ned(in_ned))
    assert_close(frames.quat_ned_from_frd(frames.quat_enu_from_flu(q)), q)
    assert_close(frames.quat_ned_from_unity(frames.quat_unity_from_ned(q)), q)


# Length of one degree of latitude and of longitude on WGS 84 [km]: Wikipedia, "Longitude", section "Length of a degree"
DEGREES = [
    (0.0, 110.574, 111.320),
    (15.0, 110.649, 107.551),
    (30.0, 110.852, 96.486),
    (45.0, 111.132, 78.847),
    (60.0, 111.412, 55.800),
    (75.0, 111.618, 28.902),
]


@pytest.mark.parametrize(("lat_deg", "latitude_km", "longitude_km"), DEGREES)
def test_length_of_a_degree(lat_deg, latitude_km, longitude_km):
    """By a hundredth of a degree, over which the tangent plane and the surface agree to 1e-8."""
    north, _ = frames.ne_from_lonlat(10.0, lat_deg + 0.005, 10.0, lat_deg)
    south, _ = frames.ne_from_lonlat(10.0, lat_deg - 0.005, 10.0, lat_deg)
    _, east = frames.ne_from_lonlat(10.01, lat_deg, 10.0, lat_deg)
    assert (north - south) / 10.0 == pytest.approx(latitude_km, abs=0.6e-3)
    assert east / 10.0 == pytest.approx(longitude_km, abs=0.6e-3)


def test_length_of_a_degree_at_the_equator_to_the_decimetre():
    """2 pi a / 360 = 111 319.491 m; a (1 - e^2) pi / 180 = 110 574.276 m."""
    assert frames.ne_from_lonlat(0.01, 0.0, 0.0, 0.0)[1] * 100.0 == pytest.approx(111_319.491, abs=1e-2)
    assert frames.ne_from_lonlat(0.0, 0.01, 0.0, 0.0)[0] * 100.0 == pytest.approx(110_574.276, abs=1e-2)


def test_polar_and_equatorial_radii_of_curvature():
    """Both radii at the pole are a^2/b = 6 399 593.6258 m; at the equator M = b^2/a = 6 335 439.3273 m (TR8350.2)."""
    assert frames.meridian_radius_m(90.0) == pytest.approx(6_399_593.6258, abs=1e-3)
    assert frames.prime_vertical_radius_m(-90.0) == pytest.approx(6_399_593.6258, abs=1e-3)
    assert frames.meridian_radius_m(0.0) == pytest.approx(6_335_439.3273, abs=1e-3)
    assert frames.prime_vertical_radius_m(0.0) == 6_378_137.0


def test_a_parallel_bends_towards_the_pole_in_the_plane():
    """A point due east on the same parallel lies north of the east axis by e^2 tan(lat) / (2 N)."""
    north, east = frames.ne_from_lonlat(-122.3, 47.26, -122.44, 47.26)
    expected = east**2 * math.tan(math.radians(47.26)) / (2.0 * frames.prime_vertical_radius_m(47.26))
    assert 10_000.0 < east < 11_000.0
    assert north == pytest.approx(expected, rel=1e-5)
    south, _ = frames.ne_from_lonlat(-122.3, -47.26, -122.44, -47.26)
    assert south == pytest.approx(-north, rel=1e-12)


@pytest.mark.parametrize("reference", [(-122.44, 47.26), (0.0, 0.0), (179.99, -45.0), (10.0, 69.0)])
@pytest.mark.parametrize("offset", [(0.0, 0.0), (800.0, -300.0), (-5000.0, 4000.0), (60_000.0, 50_000.0)])
def test_the_inverse_comes_back(reference, offset):
    lon, lat = frames.lonlat_from_ne(*offset, *reference)
    assert -180.0 <= lon < 180.0
    assert frames.ne_from_lonlat(lon, lat, *reference) == pytest.approx(offset, abs=1e-6)
    again = frames.lonlat_from_ne(*frames.ne_from_lonlat(lon, lat, *reference), *reference)
    assert again == pytest.approx((lon, lat), abs=1e-10)


def test_across_the_date_line():
    """0.02 deg of longitude at the equator is 2226.39 m either way."""
    assert frames.ne_from_lonlat(-179.99, 0.0, 179.99, 0.0) == pytest.approx((0.0, 2226.39), abs=0.01)
    assert frames.ne_from_lonlat(179.99, 0.0, -179.99, 0.0) == pytest.approx((0.0, -2226.39), abs=0.01)
