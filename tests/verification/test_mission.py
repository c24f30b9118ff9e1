"""The mission controller: along its legs, braking as mechanics allows, nose where it should be."""

from math import cos, hypot, inf, nan, pi, radians, sin, sqrt

import numpy as np
import pytest
from drjit.llvm.ad import Float64

from fieldworthy.control.flight_readings import FlightReadings
from fieldworthy.control.position import approach_speed_per_m
from fieldworthy.control.setpoint import HOVER, WING
from fieldworthy.guidance.mission import Mission, MissionParameters, follow_leg

PERIOD = 0.1


def readings(**values):
    base = {
        "t_s": 0.0, "period_s": PERIOD, "trial": 0, "north_m": 0.0, "east_m": 0.0, "up_m": 10.0, "north_m_s": 0.0,
        "east_m_s": 0.0, "up_m_s": 0.0, "roll_rad": 0.0, "pitch_rad": 0.0, "heading_rad": 0.0, "airspeed_m_s": 0.0,
        "roll_rate_rad_s": 0.0, "pitch_rate_rad_s": 0.0, "yaw_rate_rad_s": 0.0,
        "target": 0, "target_north_m": 100.0, "target_east_m": 0.0, "target_up_m": 10.0, "target_speed_m_s": 6.0,
        "target_heading_rad": nan, "target_way": HOVER, "from_north_m": 0.0, "from_east_m": 0.0, "from_up_m": 10.0,
        "memory": dict(Mission.memory),
    }  # fmt: skip
    return FlightReadings(**(base | values))


def command(parameters=None, **values):
    return Mission().command(readings(**values), parameters or MissionParameters())


def test_point_beside_the_leg_is_pulled_back_square_to_it():
    """Leg (0, 0, 10) to (60, 80, 10); a point 3 m to its right, half way, is sent to (30, 40) at 6 m/s along it."""
    c = command(north_m=30.0 - 0.8 * 3.0, east_m=40.0 + 0.6 * 3.0, target_north_m=60.0, target_east_m=80.0)
    assert (c.north_m, c.east_m, c.up_m) == pytest.approx((30.0, 40.0, 10.0))
    assert (c.north_m_s, c.east_m_s, c.up_m_s) == pytest.approx((3.6, 4.8, 0.0))
    assert c.way == HOVER


@pytest.mark.parametrize(("along", "expected"), [(-20.0, 0.0), (130.0, 100.0)])
def test_ends_of_the_leg_hold(along, expected):
    c = command(north_m=along)
    assert c.north_m == pytest.approx(expected)
    assert c.north_m_s == pytest.approx(0.0 if along > 0.0 else 6.0)


def test_climbing_leg_keeps_its_speed_in_space():
    c = command(north_m=30.0, up_m=50.0, target_up_m=110.0, target_speed_m_s=4.0)
    assert sqrt(c.north_m_s**2 + c.up_m_s**2) == pytest.approx(4.0)
    assert c.up_m_s == pytest.approx(c.north_m_s)


@pytest.mark.parametrize("brake", [0.7, 1.5, 3.0])
def test_braking_keeps_its_deceleration_and_ends_without_a_jump(brake):
    """A point that moves at exactly this speed: deceleration never above the limit, at the limit from far away."""
    distance, dt, speeds = 80.0, 1e-3, []
    for _ in range(60000):
        speeds.append(distance * approach_speed_per_m(distance, 0.8, brake))
        distance -= dt * speeds[-1]
    deceleration = -np.diff(speeds) / dt
    assert deceleration.max() == pytest.approx(brake, rel=2e-3)
    assert deceleration[:1000] == pytest.approx(brake, rel=2e-3)
    assert deceleration.min() >= 0.0
    assert distance == pytest.approx(0.0, abs=1e-3)


def test_leg_without_length_asks_for_its_target_at_rest():
    c = command(target_north_m=0.0, north_m=5.0)
    assert (c.north_m, c.east_m, c.north_m_s, c.east_m_s) == pytest.approx((0.0, 0.0, 0.0, 0.0))
    assert hypot(c.heading_rad, 0.0) < inf


def test_without_a_speed_the_target_itself_is_asked_for():
    c = command(target_speed_m_s=0.0, north_m=30.0)
    assert (c.north_m, c.north_m_s, c.speed_max_m_s) == (100.0, 0.0, 0.0)
    own = command(MissionParameters(speed_m_s=3.0), target_speed_m_s=0.0, north_m=30.0)
    assert (own.north_m, own.north_m_s) == pytest.approx((30.0, 3.0))


def test_wings_get_the_line_and_the_airspeed():
    c = command(target_way=WING, target_speed_m_s=22.0, from_north_m=-50.0, from_east_m=7.0, north_m=30.0)
    assert (c.way, c.airspeed_m_s, c.north_m, c.from_north_m, c.from_east_m) == (WING, 22.0, 100.0, -50.0, 7.0)
    assert (c.north_m_s, c.east_m_s, c.up_m_s) == (0.0, 0.0, 0.0)
    assert c.mode == WING


def nose(seconds, start=0.0, **values):
    """Heading asked for after a time; the vehicle itself does not turn."""
    memory, asked = dict(Mission.memory), []
    for _ in range(round(seconds / PERIOD)):
        c = command(heading_rad=start, memory=memory, **values)
        memory = c.memory
        asked.append(c.heading_rad)
    return asked


def test_nose_turns_along_the_leg_at_its_rate_and_the_short_way_round():
    course = radians(-170.0)
    asked = nose(1.0, radians(170.0), target_north_m=100.0 * cos(course), target_east_m=100.0 * sin(course))
    assert asked[0] == pytest.approx(radians(176.0)), "60 deg/s for 0.1 s"
    assert asked[1] == pytest.approx(radians(182.0) - 2.0 * pi)
    assert asked[-1] == pytest.approx(course)


def test_nose_takes_the_waypoints_heading_or_stays():
    assert nose(3.0, target_heading_rad=1.2)[-1] == pytest.approx(1.2)
    assert nose(3.0, start=0.4, target_north_m=0.0, target_up_m=50.0)[-1] == pytest.approx(0.4), (
        "straight up: no course"
    )


def test_hovering_after_wings_starts_from_the_nose_as_it_is():
    c = command(target_way=WING, heading_rad=2.0, memory={"nose_rad": 0.0, "started": 1.0}, target_heading_rad=2.0)
    assert c.memory["nose_rad"] == pytest.approx(2.0)


def test_trials_in_a_batch_are_flown_as_alone():
    """Every second lane on wings, some with headings: lanes equal floats."""
    lanes, rng = 40, np.random.default_rng(3)
    names = ("north_m", "east_m", "up_m", "target_north_m", "target_east_m", "target_up_m", "heading_rad")
    drawn = {name: rng.uniform(-3.0, 3.0, lanes) * (1.0 if name == "heading_rad" else 30.0) for name in names}
    drawn["target_way"] = np.arange(lanes) % 2.0
    drawn["target_heading_rad"] = np.where(np.arange(lanes) % 3 == 0, nan, 1.0)
    drawn["target_speed_m_s"] = np.where(np.arange(lanes) % 5 == 0, 0.0, 5.0)
    batch = command(**{name: Float64(values) for name, values in drawn.items()})
    for name in ("north_m", "east_m", "up_m", "north_m_s", "east_m_s", "up_m_s", "heading_rad", "airspeed_m_s", "way"):
        alone = [getattr(command(**{n: float(v[k]) for n, v in drawn.items()}), name) for k in range(lanes)]
        assert np.asarray(getattr(batch, name)) == pytest.approx(alone, rel=1e-12, abs=1e-12), name


def test_follow_leg_is_a_projection():
    """The answered point is on the leg, and no other point of it is nearer."""
    r = readings(north_m=20.0, east_m=-15.0, up_m=30.0, target_east_m=40.0, target_up_m=25.0)
    leg = follow_leg(r, 5.0, 0.8, 1.5)
    best = min(
        (k / 1e4 for k in range(10001)), key=lambda s: (s * 100 - 20) ** 2 + (s * 40 + 15) ** 2 + (s * 15 - 20) ** 2
    )
    assert (leg.north_m, leg.east_m, leg.up_m) == pytest.approx((100 * best, 40 * best, 10 + 15 * best), abs=0.02)


def test_a_target_on_the_ground_is_landed_on():
    """Low above it the descent is at one speed, with no height to stop at; beside it or high up it goes there first."""
    lands = command(target_up_m=0.0, target_north_m=0.0, north_m=0.5, up_m=2.0, target_speed_m_s=0.0)
    assert (lands.up_m, lands.up_m_s) == (2.0, -MissionParameters().landing_speed_m_s)
    for elsewhere in ({"up_m": 8.0}, {"north_m": 20.0}, {"target_up_m": 1.0}, {"target_way": WING}):
        c = command(**{"target_up_m": 0.0, "target_north_m": 0.0, "north_m": 0.5, "up_m": 2.0, "target_speed_m_s": 0.0}
                    | elsewhere)  # fmt: skip
        assert c.up_m_s == 0.0
        assert c.up_m == pytest.approx(elsewhere.get("target_up_m", 0.0))
