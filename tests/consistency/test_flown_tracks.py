"""What the kernels flew, once more by other means: the boat step by step in floats, clearances with shapely."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from small_scenarios import ROUGH, scenario

from fieldworthy.core.integrate import rk4
from fieldworthy.core.struct import map_leaves
from fieldworthy.environment.sea import ride
from fieldworthy.environment.shapes import Box, Cylinder, Polygon, Sphere, moved
from fieldworthy.scenario.build import build
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.result import Result
from fieldworthy.vehicles.boat import BoatCommand, boat_rates


@pytest.fixture(scope="module", name="flown")
def flown_in_64_bits(tmp_path_factory: pytest.TempPathFactory) -> Result:
    # Nearly blind, and a large obstacle that crosses the course about when the boat is there: some must collide.
    blind = (
        "precision=f64",
        "control.parameters.half_angle_deg=1.5",
        "obstacles.0.radius_m=2.0",
        "obstacles.0.vel_east_m_s=4.3",
    )
    case = scenario(tmp_path_factory.mktemp("flown"), ROUGH, overrides=blind)
    return fly(case)


def test_a_track_is_the_boat_law_in_floats_step_by_step(flown: Result) -> None:
    row = int(np.argmax(flown.length))
    world = build(flown.scenario, [int(flown.trial[row])]).world

    def plain(tree: object) -> object:
        return map_leaves(lambda leaf: float(np.asarray(leaf).ravel()[0]), tree)

    parameters, sea, state = plain(world.vehicle_parameters), plain(world.medium), plain(world.start)
    track = {name: values[row] for name, values in flown.tracks.items()}
    for sample in range(int(flown.length[row]) - 1):
        t_s = 0.1 * sample
        for name in ("north_m", "east_m", "heading_rad", "surge_m_s", "sway_m_s", "yaw_rate_rad_s"):
            assert track[name][sample] == pytest.approx(getattr(state, name), abs=1e-8), (name, t_s)
        tilt = ride(
            sea.waves, state.north_m, state.east_m, state.heading_rad, t_s, parameters.length_m, parameters.beam_m
        )
        assert track["up_m"][sample] == pytest.approx(tilt.heave_up_m, abs=1e-8)
        assert track["roll_rad"][sample] == pytest.approx(tilt.roll_rad, abs=1e-8)
        assert track["pitch_rad"][sample] == pytest.approx(tilt.pitch_rad, abs=1e-8)
        command = BoatCommand(float(track["cmd_surge_m_s"][sample]), float(track["cmd_yaw_rate_rad_s"][sample]))
        for _ in range(5):
            state = rk4(lambda s, command=command: boat_rates(s, command, sea, parameters), state, 0.02)


def outline(shape: object, keel_up_m: float, mast_up_m: float) -> object:
    """What a hull between two heights can touch, (north, east) as (x, y)."""
    match shape:
        case Sphere():
            off = max(keel_up_m - shape.up_m, shape.up_m - mast_up_m, 0.0)
            if off >= shape.radius_m:
                return shapely.Point()
            return shapely.Point(shape.north_m, shape.east_m).buffer(math.sqrt(shape.radius_m**2 - off**2), 128)
        case Cylinder():
            return shapely.Point(shape.north_m, shape.east_m).buffer(shape.radius_m, 128)
        case Box():
            box = shapely.box(-shape.length_m / 2, -shape.width_m / 2, shape.length_m / 2, shape.width_m / 2)
            turned = shapely.affinity.rotate(box, shape.heading_rad, origin=(0, 0), use_radians=True)
            return shapely.affinity.translate(turned, shape.north_m, shape.east_m)
        case Polygon():
            return shapely.Polygon(shape.points_ne_m)
        case _:
            return shapely.LineString(shape.points_ne_m)


def test_clearances_and_contacts_are_those_that_shapely_finds(flown: Result) -> None:
    hull = build(flown.scenario, 1).world.hull
    collided = 0
    for row in range(len(flown.trial)):
        track = {name: values[row, : flown.length[row]] for name, values in flown.tracks.items()}
        least, before = 25.0, 25.0
        for i in range(1, int(flown.length[row])):
            t_s = min(0.1 * i, float(flown.time_s[row]))
            place, turn = complex(track["north_m"][i], track["east_m"][i]), complex(0.0, track["heading_rad"][i])
            corners = [place + complex(*corner) * np.exp(turn) for corner in hull.outline]
            boat = shapely.Polygon([(c.real, c.imag) for c in corners])
            shapes = [outline(moved(shape, t_s), -hull.draft_m, hull.air_draft_m) for shape in flown.layouts[row]]
            now = min(boat.distance(shape) for shape in shapes if not shape.is_empty)
            least = min(least, now)
            # Not more than at any sample; less by no more than boat and obstacle come closer between two samples.
            assert track["clearance_m"][i] <= least + 2e-3
            assert track["clearance_m"][i] >= min(least, before) - 0.1 * (6.5 + 4.5 + 0.6 * 2.7)
            before = now
        assert (flown.outcome[row] == "collision") == (now < 2e-3), flown.why[row]
        collided += flown.outcome[row] == "collision"
        step = np.hypot(np.diff(track["north_m"]), np.diff(track["east_m"]))
        assert flown.path_m[row] == pytest.approx(step.sum(), rel=0.01)
        if flown.outcome[row] == "goal":
            gone = math.hypot(45.0 - track["north_m"][-1], track["east_m"][-1])
            assert 4.0 - 0.15 < gone <= 4.0
    assert 0 < collided < len(flown.trial)
