"""The receiver: antenna, error statistics, RTK states, outage, coordinates."""

import math

import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float64, UInt32

from fieldworthy.core.random import normals, stream_key
from fieldworthy.core.vec import Vec3, quat_from_euler_zyx
from fieldworthy.sensors import gnss
from fieldworthy.verify.sensors import still_truth

OFF = {"correlated": False, "white": False, "velocity_noise": False}


def read(options, p, truth, memory=None, numbers=()):
    return gnss.read_gnss(options, p, truth, memory or gnss.first_gnss(options, p, ()), numbers)


def test_the_antenna_moves_with_the_body():
    truth = still_truth(quat_from_euler_zyx(0.0, 0.0, math.pi / 2))
    truth.rate_frd_rad_s = Vec3(0.0, 0.0, 2.0)
    p = gnss.GnssParameters(pos_frd_m=Vec3(0.5, 0.0, -0.1))
    reading, _ = read(gnss.GnssOptions(0.2, lever_arm=True, **OFF), p, truth)
    # Nose east and turning clockwise: the nose moves south.
    assert tuple(reading.pos_ned_m) == pytest.approx((0.0, 0.5, -0.1), abs=1e-12)
    assert tuple(reading.vel_ned_m_s) == pytest.approx((-1.0, 0.0, 0.0), abs=1e-12)
    assert reading.fix == gnss.SINGLE


@pytest.mark.parametrize("dt_s", [0.1, 1.0])
def test_errors_have_their_size_and_stay_for_their_time(dt_s):
    options = gnss.GnssOptions(dt_s, white=False, velocity_noise=False)
    p = gnss.GnssParameters(horizontal_sigma_m=2.0, vertical_sigma_m=3.0, correlation_s=2.0)
    key, trial = stream_key(1, "gnss"), dr.arange(UInt32, 20000)
    memory = gnss.first_gnss(options, p, normals(key, trial, UInt32(0), 3, Float64))
    seen = []
    for tick in range(1, 1 + round(2.0 / dt_s)):
        drawn = normals(key, trial, UInt32(tick), gnss.gnss_normals(options), Float64)
        reading, memory = gnss.read_gnss(options, p, still_truth(), memory, drawn)
        dr.eval(memory)
        seen.append(np.array([np.asarray(x) for x in reading.pos_ned_m]))
    first, last = seen[0], seen[-1]
    # 20,000 lanes: 3 standard deviations of a sigma are 1.5 %, of a correlation 0.02.
    assert last.std(axis=1) == pytest.approx([2.0, 2.0, 3.0], rel=0.015)
    age = (len(seen) - 1) * dt_s
    for axis in range(3):
        assert np.corrcoef(first[axis], last[axis])[0, 1] == pytest.approx(math.exp(-age / 2.0), abs=0.021)


def test_rtk_converges_and_an_outage_starts_it_again():
    options = gnss.GnssOptions(1.0, rtk=True, outage=True, **OFF)
    p = gnss.GnssParameters(float_after_s=3.0, fixed_after_s=6.0, outage_start_s=10.0, outage_end_s=12.0)
    memory, fixes = gnss.first_gnss(options, p, ()), []
    for t in range(20):
        truth = still_truth()
        truth.t_s = float(t)
        reading, memory = gnss.read_gnss(options, p, truth, memory, ())
        fixes.append(reading.fix)
    assert fixes[:10] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    assert fixes[10:] == [0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
    # 1 cm and 1 ppm of 1 km.
    assert reading.horizontal_sigma_m == pytest.approx(math.hypot(0.011), rel=1e-9)


def test_coordinates_are_on_the_ellipsoid():
    lon, lat, height = gnss.geodetic(Vec3(0.0, 0.0, -30.0), 9.0, 48.0, 100.0)
    assert (lon, lat, height) == pytest.approx((9.0, 48.0, 130.0), abs=1e-9)
    # One minute of latitude at 48 deg is 1853.2 m (meridian radius 6,370.5 km, NIMA TR8350.2); 8 km away the level
    # plane is 8000^2 / 2R = 5.02 m above the ellipsoid.
    _, lat, height = gnss.geodetic(Vec3(1853.2, 0.0, 0.0), 9.0, 48.0, 0.0)
    assert (lat - 48.0) * 60.0 == pytest.approx(1.0, abs=2e-4)
    assert gnss.geodetic(Vec3(8000.0, 0.0, 0.0), 9.0, 48.0, 0.0)[2] == pytest.approx(5.02, abs=0.01)
