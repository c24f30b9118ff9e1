"""The navigation filter on motions that have a closed form: circles and hover, with biases, latency, outages, NaN."""

import math
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest

from fieldworthy.control.complementary import (
    FilterOptions,
    FilterParameters,
    correct_airspeed,
    correct_baro,
    correct_gnss,
    correct_mag,
    first,
    level_attitude,
    predict,
)
from fieldworthy.core.random import normals, stream_key
from fieldworthy.core.vec import (
    Quat,
    Vec3,
    euler_zyx_from_quat,
    norm,
    quat_from_euler_zyx,
    rotate_inverse,
)

G = 9.80665
UP = Vec3(0.0, 0.0, 1.0)
DECLINATION = math.radians(3.0)
FIELD = Vec3(0.45 * math.cos(DECLINATION), 0.45 * math.sin(DECLINATION), 0.9)
DT = 0.02
ALWAYS = 1e9


@dataclass
class Case:
    """Level turns of a vehicle that keeps a fixed tilt, and what is wrong with its sensors and its start."""

    radius_m: float = 0.0
    turn_rad_s: float = 0.0
    roll_rad: float = 0.0
    pitch_rad: float = 0.0
    start_off_m: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    start_off_rad: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    gyro_bias_rad_s: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    down_bias_m_s2: float = 0.0
    barometer_zero_m: float = 0.0
    barometer_zero_s: float = 60.0
    latency_s: float = 0.0
    gnss_until_s: float = ALWAYS
    gnss_again_s: float = ALWAYS
    gnss_noise_m: float = 0.0
    airspeed_m_s: float = 0.0
    duration_s: float = 40.0


BAD = {
    "gyro_bias_rad_s": Vec3(0.010, -0.008, 0.006),
    "down_bias_m_s2": 0.1,
    "start_off_m": Vec3(2.0, -3.0, 1.0),
    "start_off_rad": Vec3(0.10, -0.08, 0.3),
    "duration_s": 60.0,
}
COORDINATED = {"radius_m": 20.0 / 0.3, "turn_rad_s": 0.3, "roll_rad": math.atan(20.0 * 0.3 / G), "airspeed_m_s": 20.0}
CASES = {
    "perfect": Case(20.0, 0.4, 0.2, -0.1, duration_s=20.0),
    "hover, bad": Case(**BAD),
    "8 m/s, bad": Case(20.0, 0.4, **BAD),
    "15 m/s banked, bad": Case(60.0, 0.25, 0.3, 0.1, **BAD),
    "late fixes": Case(20.0, 0.4, latency_s=0.2, duration_s=25.0),
    "circle without GNSS": Case(20.0, 0.4, gnss_until_s=0.0, duration_s=20.0),
    "coordinated without GNSS": Case(**COORDINATED, gnss_until_s=0.0, duration_s=20.0),
    "hover without GNSS": Case(gyro_bias_rad_s=Vec3(0.004, 0.0, 0.0), gnss_until_s=20.0),
    "regained": Case(start_off_m=Vec3(40.0, 0.0, 0.0), gnss_until_s=0.0, gnss_again_s=4.9, duration_s=5.0),
    "barometer zero": Case(barometer_zero_m=5.0, barometer_zero_s=8.0),
    "noisy fixes": Case(gnss_noise_m=1.0, duration_s=80.0),
}


class Motion:
    """Position, velocity, acceleration, attitude, rate and specific force of the cases: exact."""

    def __init__(self, c):
        self.c = c

    def pos(self, t):
        r, w = self.c.radius_m, self.c.turn_rad_s
        return Vec3(r * math.sin(w * t), -(r * math.cos(w * t)), w * 0.0 - 30.0)

    def vel(self, t):
        w = self.c.turn_rad_s
        v = self.c.radius_m * w
        return Vec3(v * math.cos(w * t), v * math.sin(w * t), w * 0.0)

    def quat(self, t):
        return quat_from_euler_zyx(self.c.roll_rad, self.c.pitch_rad, self.c.turn_rad_s * t)

    def rate(self, t):
        return rotate_inverse(self.quat(t), Vec3(0.0, 0.0, self.c.turn_rad_s))

    def force(self, t):
        w = self.c.turn_rad_s
        a = self.c.radius_m * w * w
        return rotate_inverse(self.quat(t), Vec3(-(a * math.sin(w * t)), a * math.cos(w * t), -G))


@dataclass
class Flown:
    """Errors over time, arrays (steps,), and the last state and truth."""

    north_m: np.ndarray
    horizontal_m: np.ndarray
    tilt_deg: np.ndarray
    heading_deg: np.ndarray
    state: object
    last: tuple


def masked(fresh, v):
    """What has not come is NaN: the filter must not look at it."""
    return v if fresh else Vec3(math.nan, math.nan, math.nan)


@cache
def flown(name, options=FilterOptions()):  # noqa: B008 (frozen)
    """One case: the filter at 50 Hz, GNSS at 5 Hz, barometer and compass at 25 Hz, airspeed at 10 Hz."""
    c = CASES[name]
    motion, key, off = Motion(c), stream_key(5, "fixes"), c.start_off_rad
    p = FilterParameters(G, 0.2, 0.04, 0.04, barometer_zero_s=c.barometer_zero_s)
    quat = quat_from_euler_zyx(c.roll_rad + off.x, c.pitch_rad + off.y, off.z)
    state = first(motion.pos(0.0) + c.start_off_m, motion.vel(0.0), quat, c.airspeed_m_s)
    log = []
    for i in range(1, round(c.duration_s / DT) + 1):
        now, middle = i * DT, (i - 0.5) * DT
        # The filter's bias is vertical, whatever the tilt: so is the one put in.
        force = motion.force(middle) - rotate_inverse(motion.quat(middle), Vec3(0.0, 0.0, c.down_bias_m_s2))
        state = predict(options, p, state, motion.rate(middle) + c.gyro_bias_rad_s, force, DT)
        fresh = i % 10 == 0 and (now < c.gnss_until_s or now > c.gnss_again_s)
        n = normals(key, 0, i, 6) if c.gnss_noise_m and fresh else (0.0,) * 6
        pos = motion.pos(now - c.latency_s) + Vec3(*n[:3]) * c.gnss_noise_m
        vel = motion.vel(now - c.latency_s) + Vec3(*n[3:]) * (0.1 * c.gnss_noise_m)
        state = correct_gnss(options, p, state, masked(fresh, pos), masked(fresh, vel), c.latency_s, fresh)
        fresh, true_quat = i % 2 == 0, motion.quat(now)
        if options.barometer:
            height = c.barometer_zero_m - motion.pos(now).z
            state = correct_baro(p, state, height if fresh else math.nan, fresh)
        state = correct_mag(p, state, masked(fresh, rotate_inverse(true_quat, FIELD)), DECLINATION, fresh)
        if options.airspeed:
            state = correct_airspeed(p, state, c.airspeed_m_s if i % 5 == 0 else math.nan, i % 5 == 0)
        off_m = state.pos_ned_m - motion.pos(now)
        lean = norm(rotate_inverse(state.quat_ned_from_frd, UP) - rotate_inverse(true_quat, UP))
        turned = euler_zyx_from_quat(state.quat_ned_from_frd)[2] - euler_zyx_from_quat(true_quat)[2]
        turned = math.remainder(turned, 2.0 * math.pi)
        log.append((off_m.x, math.hypot(off_m.x, off_m.y), math.degrees(lean), math.degrees(turned)))
    end = c.duration_s
    return Flown(*np.array(log).T, state, ([*motion.pos(end)], [*motion.vel(end)], [*motion.rate(end)]))


def test_without_errors_it_follows_the_truth():
    got = flown("perfect")
    pos, vel, rate = got.last
    assert got.tilt_deg.max() < 0.03
    assert np.abs(got.heading_deg).max() < 0.03
    assert np.allclose([*got.state.pos_ned_m], pos, atol=0.01)
    assert np.allclose([*got.state.vel_ned_m_s], vel, atol=0.01)
    assert np.allclose([*got.state.rate_frd_rad_s], rate, atol=1e-3)


@pytest.mark.parametrize("name", ["hover, bad", "8 m/s, bad", "15 m/s banked, bad"])
@pytest.mark.parametrize("options", [FilterOptions(), FilterOptions(barometer=False)], ids=["baro", "gnss height"])
def test_biases_and_a_wrong_start_are_forgotten(name, options):
    got, case = flown(name, options), CASES[name]
    assert got.tilt_deg[0] > 5.0
    assert got.tilt_deg[-1] < 0.2
    assert abs(got.heading_deg[-1]) < 0.3
    assert np.allclose([*got.state.gyro_bias_frd_rad_s], [*case.gyro_bias_rad_s], atol=1e-3)
    assert got.state.down_bias_m_s2 == pytest.approx(case.down_bias_m_s2, abs=0.01)
    assert np.allclose([*got.state.pos_ned_m], got.last[0], atol=0.06)
    assert np.allclose([*got.state.vel_ned_m_s], got.last[1], atol=0.05)


def test_tilt_error_falls_with_the_placed_poles():
    """Hover, 2 deg off, position loop off: dv' = g e - 2 w dv, e' = -b - 2 w^2/g dv, b' = w^3/g dv."""
    w, period = 0.5, 0.02
    p = FilterParameters(G, gnss_period_s=period, position_bandwidth_rad_s=0.0, tilt_bandwidth_rad_s=w)
    still, zero = Vec3(0.0, 0.0, -30.0), Vec3(0.0, 0.0, 0.0)
    state = first(still, zero, quat_from_euler_zyx(math.radians(-2.0), 0.0, 0.0))
    a = np.array([[-2.0 * w, G, 0.0], [-2.0 * w * w / G, 0.0, -1.0], [w**3 / G, 0.0, 0.0]])
    values, vectors = np.linalg.eig(a)
    mode = np.linalg.solve(vectors, np.array([0.0, math.radians(2.0), 0.0]))
    # Butterworth: (s + w)(s^2 + w s + w^2).
    assert sorted(values.real) == pytest.approx([-w, -w / 2, -w / 2], rel=1e-6)
    options, worst = FilterOptions(), 0.0
    for i in range(1, 501):
        state = predict(options, p, state, zero, Vec3(0.0, 0.0, -G), period)
        state = correct_gnss(options, p, state, still, zero, 0.0, True)
        exact = (vectors @ (mode * np.exp(values * i * period))).real[1]
        worst = max(worst, abs(-euler_zyx_from_quat(state.quat_ned_from_frd)[0] - exact))
    # Steps of 20 ms against the exact exponential: of order w T = 1 % of 2 deg.
    assert math.degrees(worst) < 0.03


def test_latency_is_made_up_for():
    """At 8 m/s a fix 0.2 s old is 1.6 m behind; brought up to now it is a few centimetres off."""
    assert flown("late fixes").horizontal_m[750:].max() < 0.05


def test_acceleration_does_not_pass_for_tilt():
    """3.2 m/s^2 sideways tilts a gravity-levelled attitude towards atan(a/g) = 18 deg, here at 0.04/s for 20 s."""
    assert flown("8 m/s, bad").tilt_deg[-1] < 0.2
    assert flown("circle without GNSS").tilt_deg[-1] > 1.0


def test_airspeed_keeps_a_turning_airplane_level_without_gnss():
    """In a coordinated turn the force lies along the body's z: only the turn at airspeed tells it from level flight."""
    name = "coordinated without GNSS"
    assert flown(name, FilterOptions(airspeed=True)).tilt_deg.max() < 0.5
    assert flown(name, FilterOptions(airspeed=True)).state.airspeed_m_s == pytest.approx(20.0)
    # With ground speed for airspeed nothing is added to the expected force: it levels out of the bank.
    assert flown(name).tilt_deg[-1] > 2.0


def test_gravity_levels_during_an_outage():
    got = flown("hover without GNSS")
    assert got.tilt_deg[1000:].max() < 0.3
    assert got.state.gyro_bias_frd_rad_s.x == pytest.approx(0.004, abs=5e-4)


def test_the_first_fix_after_an_outage_is_taken_as_it_is():
    got = flown("regained")
    assert got.north_m[-20] == pytest.approx(40.0, abs=0.5)
    assert got.north_m[-1] == pytest.approx(0.0, abs=1e-6)
    assert got.tilt_deg[-1] < 0.05


def test_barometer_zero_follows_gnss_height():
    got = flown("barometer zero")
    assert got.state.barometer_zero_m == pytest.approx(5.0, abs=0.1)
    assert got.state.pos_ned_m.z == pytest.approx(-30.0, abs=0.1)


def test_noise_of_fixes_is_averaged():
    """1 m and 0.1 m/s rms at 5 Hz: a tracker of bandwidth w leaves about sqrt(w T) = 0.4 of it."""
    got = flown("noisy fixes")
    assert 0.1 < np.std(got.north_m[1000:]) < 0.6
    assert 0.05 < np.sqrt(np.mean(np.square(got.tilt_deg[1000:]))) < 0.8


@pytest.mark.parametrize("angles", [(0.2, -0.3, 2.5), (-1.0, 0.4, -3.0), (0.0, 0.0, 0.0)])
def test_level_attitude(angles):
    quat = quat_from_euler_zyx(*angles)
    force = rotate_inverse(quat, Vec3(0.0, 0.0, -G))
    assert euler_zyx_from_quat(level_attitude(force, angles[2])) == pytest.approx(angles, abs=1e-12)


def test_the_compass_leaves_tilt_alone():
    state = first(Vec3(0.0, 0.0, -30.0), Vec3(0.0, 0.0, 0.0), Quat(1.0, 0.0, 0.0, 0.0))
    p = FilterParameters(G, 0.2, magnetometer_period_s=0.02, heading_bandwidth_rad_s=0.3)
    moved = correct_mag(p, state, rotate_inverse(quat_from_euler_zyx(0.0, 0.0, 1.0), FIELD), DECLINATION, True)
    roll, pitch, yaw = euler_zyx_from_quat(moved.quat_ned_from_frd)
    assert (roll, pitch) == pytest.approx((0.0, 0.0), abs=1e-12)
    # 2 zeta w T with zeta = 1, of an error of 1 rad.
    assert yaw == pytest.approx(0.012, rel=1e-9)
