"""A boat's made-up inertial unit against closed forms: what it reads integrates back to the motion it was made from.

The strapdown integration below is this file's own: rotation vectors and Rodrigues' formula, midpoint attitudes.
"""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fieldworthy.links.airframe import airframe_of
from fieldworthy.links.ardupilot import ArdupilotLink, ArdupilotServer
from fieldworthy.links.ardupilot_senses import BoatSenses
from fieldworthy.links.fake_ardupilot import FakeArdupilot
from fieldworthy.links.host import ready
from fieldworthy.links.lockstep import Log, fly
from fieldworthy.links.pace import Pace
from fieldworthy.links.vehicle import for_autopilot
from fieldworthy.scenario import load

G = 9.80665


class Sails:
    """A boat on a given course: names to functions of time."""

    def __init__(self, dt_s: float, **motion: Any) -> None:
        self.world = SimpleNamespace(timing=SimpleNamespace(control=2, dt_s=dt_s / 2.0))
        self.dt_s, self.step, self.motion = dt_s, 0, motion

    @property
    def t_s(self) -> float:
        return self.step * self.dt_s

    def value(self, name: str) -> float:
        return float(self.motion[name](self.t_s)) if name in self.motion else 0.0


LIVELY = {
    # A circle of 20 m that is driven faster and faster, on waves: 0.4 m of heave in 4 s, 8 deg of roll, 4 deg of pitch.
    "north_m": lambda t: 20.0 * math.sin(0.1 * t + 0.004 * t * t),
    "east_m": lambda t: 20.0 - 20.0 * math.cos(0.1 * t + 0.004 * t * t),
    "up_m": lambda t: 0.4 * math.sin(1.57 * t),
    "heading_rad": lambda t: 0.1 * t + 0.004 * t * t,
    "roll_rad": lambda t: 0.14 * math.sin(1.9 * t),
    "pitch_rad": lambda t: 0.07 * math.sin(1.3 * t + 0.5),
}


def rotation(roll: float, pitch: float, yaw: float) -> Any:
    """NED from FRD: three turns, one after the other."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
    about_z = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    about_y = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    return about_z @ about_y @ about_x


def turn(vector: Any) -> Any:
    """Rodrigues' formula."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross


def attitude(motion: dict[str, Any], t_s: float) -> Any:
    return rotation(*(motion[name](t_s) for name in ("roll_rad", "pitch_rad", "heading_rad")))


def place(motion: dict[str, Any], t_s: float) -> Any:
    return np.array([motion["north_m"](t_s), motion["east_m"](t_s), -motion["up_m"](t_s)])


def speed(motion: dict[str, Any], t_s: float) -> Any:
    return (place(motion, t_s + 1e-5) - place(motion, t_s - 1e-5)) / 2e-5


def carried_off(dt_s: float, seconds: float) -> tuple[float, float, float]:
    """How far attitude [rad], speed [m/s] and place [m] are off after dead reckoning on the readings, at the worst."""
    boat = Sails(dt_s, **LIVELY)
    senses = BoatSenses(boat)
    turned, at, fast = attitude(LIVELY, 0.0), place(LIVELY, 0.0), speed(LIVELY, 0.0)
    worst = [0.0, 0.0, 0.0]
    for step in range(1, round(seconds / dt_s) + 1):
        boat.step = step
        told = json.loads(senses.line())
        rate, force = np.array(told["imu"]["gyro"]), np.array(told["imu"]["accel_body"])
        midway = turned @ turn(0.5 * dt_s * rate)
        turned = turned @ turn(dt_s * rate)
        before = fast
        fast = fast + dt_s * (midway @ force + np.array([0.0, 0.0, G]))
        at = at + 0.5 * dt_s * (before + fast)
        off = attitude(LIVELY, boat.t_s).T @ turned
        angle = math.acos(min(max((float(np.trace(off)) - 1.0) / 2.0, -1.0), 1.0))
        errors = (angle, np.linalg.norm(fast - speed(LIVELY, boat.t_s)), np.linalg.norm(at - place(LIVELY, boat.t_s)))
        worst = [max(a, float(b)) for a, b in zip(worst, errors, strict=True)]
    return worst[0], worst[1], worst[2]


def test_dead_reckoning_on_the_readings_comes_back_to_the_motion() -> None:
    """Rate: a chord for an arc is (angle of a step)^2 / 24 of it less, 1e-6 of the 3.6 rad at 0.5 rad/s and 100 Hz.

    Force: of first order in dt. The speed is the mean of a step, so what is told of the acceleration is a step old: up
    to 2 m/s2 for 0.01 s; and the first reading has none, 0.3 m/s2 for 0.01 s, over 20 s.
    """
    coarse, fine = carried_off(0.02, 20.0), carried_off(0.01, 20.0)
    assert fine[0] < 1e-5
    assert fine[1] < 0.03
    assert fine[2] < 0.12
    for worse, better in zip(coarse[1:], fine[1:], strict=True):
        assert 1.7 < worse / better < 2.3  # first order


def test_what_is_told_of_the_motion_is_the_motion() -> None:
    boat = Sails(0.01, **LIVELY)
    senses = BoatSenses(boat)
    for step in range(1, 2001):
        boat.step = step
        told = json.loads(senses.line())
        assert told["timestamp"] == pytest.approx(boat.t_s, rel=2e-7)
        np.testing.assert_allclose(told["position"], place(LIVELY, boat.t_s), atol=1e-8)
        # The mean over a step is the speed at its middle, but for a''' dt^2 / 24.
        np.testing.assert_allclose(told["velocity"], speed(LIVELY, boat.t_s - 0.005), atol=1e-4)
        np.testing.assert_allclose(rotation(*told["attitude"]), attitude(LIVELY, boat.t_s), atol=1e-8)


def test_a_boat_at_rest_is_held_up_against_gravity() -> None:
    boat = Sails(0.01)
    senses = BoatSenses(boat)
    for boat.step in range(5):
        imu = json.loads(senses.line())["imu"]
        assert imu["gyro"] == [0, 0, 0]
        assert imu["accel_body"] == pytest.approx([0.0, 0.0, -G], abs=1e-12)


def test_a_boat_that_heels_feels_it_to_port() -> None:
    """Starboard side down by 30 deg: what holds it up has half of g towards port in its own axes."""
    boat = Sails(0.01, roll_rad=lambda t: math.pi / 6.0)
    senses = BoatSenses(boat)
    for boat.step in (1, 2):
        imu = json.loads(senses.line())["imu"]
        assert imu["accel_body"] == pytest.approx([0.0, -0.5 * G, -math.sqrt(0.75) * G], abs=1e-8)


@pytest.mark.parametrize(
    ("motion", "rate", "force"),
    [
        ({"north_m": lambda t: 0.5 * 0.8 * t * t}, (0.0, 0.0, 0.0), (0.8, 0.0, -G)),
        ({"up_m": lambda t: 0.5 * 0.8 * t * t}, (0.0, 0.0, 0.0), (0.0, 0.0, -G - 0.8)),
        ({"heading_rad": lambda t: 0.3 * t}, (0.0, 0.0, 0.3), (0.0, 0.0, -G)),
        ({"heading_rad": lambda t: 3.14 + 0.3 * t}, (0.0, 0.0, 0.3), (0.0, 0.0, -G)),
        ({"heading_rad": lambda t: math.remainder(3.137 + 0.3 * t, math.tau)}, (0.0, 0.0, 0.3), (0.0, 0.0, -G)),
        ({"pitch_rad": lambda t: 0.2 * t - 0.004}, (0.0, 0.2, 0.0), (0.0, 0.0, -G)),
    ],
    ids=["ahead", "up", "to starboard", "past south", "past south, wrapped", "bow up"],
)
def test_known_readings(motion: dict[str, Any], rate: tuple[float, ...], force: tuple[float, ...]) -> None:
    """A chord for an arc is 4e-7 of the rate less; the bow is level at 0.02 s."""
    boat = Sails(0.01, **motion)
    senses = BoatSenses(boat)
    for boat.step in (1, 2):
        imu = json.loads(senses.line())["imu"]
    assert imu["gyro"] == pytest.approx(rate, abs=1e-6)
    assert imu["accel_body"] == pytest.approx(force, abs=1e-6)


def test_a_boat_sails_under_the_strict_fake() -> None:
    """Throttle and steering high: ahead, and to starboard. No complaint of the fake in 5 s from a start at rest."""
    scenario = for_autopilot(load("boat-buoy"), "ardupilot")
    vehicle = ready(scenario, "ardupilot", 0, endless=True)
    heading = vehicle.value("heading_rad")
    server = ArdupilotServer(port=0)
    with FakeArdupilot(server.port, lambda *_: (1600, 0, 1800), boot_frames=30, vehicle="rover", rate_hz=100) as fake:
        frame = server.newest(10.0)
        assert frame is not None
        airframe = airframe_of("ardupilot", scenario, vehicle.names)
        link = ArdupilotLink(server, BoatSenses(vehicle), airframe, frame)
        fly(vehicle, link, Pace(None), Log(every=0), stopped=lambda: vehicle.t_s >= 5.0)
    server.close()
    assert fake.complaints == []
    assert fake.accepted == vehicle.tick == 500
    assert fake.clock_s == pytest.approx(5.0, abs=1e-9)
    assert vehicle.value("heading_rad") - heading > 0.1
    assert fake.state["velocity"][0] > 1.0
