"""One source, four engines: boat, sea, rays, clearance and the sector rule as floats, lanes and symbols."""

import math

import numpy as np
import pytest
from drjit.llvm.ad import Float, Float64

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.environment import rays
from fieldworthy.environment.clearance import hull_to_disc, hull_to_segment
from fieldworthy.environment.sea import Sea, WaveComponent, elevation_up_m, ride
from fieldworthy.guidance.sector import SectorMemory, SectorParameters, SectorView, sector_law
from fieldworthy.vehicles.boat import BoatCommand, BoatParameters, BoatState, boat_pose, boat_rates
from fieldworthy.vehicles.hull import hull, hull_distance

LANES = 256
INPUTS = np.random.default_rng(21).uniform(-1.5, 1.5, size=(12, LANES))
BOAT = hull(
    [(2.5, 0.0), (1.8, 0.7), (0.6, 1.0), (-2.5, 1.0), (-2.5, -1.0), (0.6, -1.0), (1.8, -0.7)], 0.35, 2.2, "boat"
)
PARAMETERS = BoatParameters(
    mass_kg=900.0, yaw_inertia_kg_m2=1406.0, length_m=5.0, beam_m=2.0, surge_gain_n_s_m=1500.0,
    surge_integral_gain_n_m=300.0, surge_force_max_n=2500.0, surge_force_min_n=-1000.0, yaw_gain_n_m_s_rad=4000.0,
    yaw_integral_gain_n_m_rad=2000.0, yaw_moment_max_n_m=2500.0, surge_drag_n_s_m=40.0, surge_drag_n_s2_m2=34.0,
    sway_drag_n_s_m=800.0, sway_drag_n_s2_m2=900.0, yaw_drag_n_m_s_rad=900.0, yaw_drag_n_m_s2_rad2=500.0,
    speed_max_m_s=6.5, yaw_rate_max_rad_s=0.6, wind_front_area_m2=2.0, wind_side_area_m2=3.5,
    wind_surge_coefficient=0.7, wind_sway_coefficient=0.9, wind_yaw_coefficient=0.05,
)  # fmt: skip


def waves_of(x):
    return (
        WaveComponent(0.3, 0.4 * x[0], 0.3, 1.9, x[1]),
        WaveComponent(0.1, 3.0, 2.0 * x[2], 5.8, 2.0),
    )


def beam_of(x):
    """A unit direction from bearing and elevation."""
    bearing, elevation = 2.0 * x[0], 0.5 * x[1]
    from fieldworthy.core.lanes import cos, sin

    level = cos(elevation)
    return rays.ray(x[2], x[3], x[4] + 3.0, level * cos(bearing), level * sin(bearing), sin(elevation))


def rule(**changes):
    def law(x):
        view = SectorView(12.0 + 9.0 * x[0], 30.0 + x[1], 30.0 + x[2], 100.0 + 20.0 * x[3], 100.0 + 20.0 * x[4])
        speed, turn, _, memory = sector_law(view, x[5], SectorMemory(x[6], x[7]), 0.1, SectorParameters(**changes))
        return speed, turn, memory

    return law


def seen(distance):
    """A distance that can be compared: misses, which are infinite, read -1."""
    from fieldworthy.core.lanes import select

    return select(distance < 1e9, distance, -1.0)


def pose_of(x):
    return boat_pose(BoatState(x[4], x[5], 2.0 * x[6], *x[:5]), Sea(0.0, 0.0, 0.0, 0.0, waves_of(x)), 3.0, PARAMETERS)


LAWS = {
    "boat": lambda x: boat_rates(
        BoatState(*x[:4], 3.0 * x[4], *x[5:8]),
        BoatCommand(5.0 * x[8], x[9]),
        Sea(x[10], 0.4, 6.0 * x[11], -3.0),
        PARAMETERS,
    ),
    "ride": lambda x: ride(waves_of(x), 10.0 * x[3], x[4], x[5], 3.0 + x[6], 5.0, 2.0),
    "surface": lambda x: elevation_up_m(waves_of(x), 10.0 * x[3], x[4], 3.0 + x[6]),
    "cylinder": lambda x: seen(rays.to_cylinder(beam_of(x), 6.0 * x[5], 6.0 * x[6], 4.0 + x[7], -2.0, 3.5)),
    "sphere": lambda x: seen(rays.to_sphere(beam_of(x), 6.0 * x[5], 6.0 * x[6], x[7], 5.0 + x[8])),
    "wall": lambda x: seen(rays.to_wall(beam_of(x), 6.0 * x[5], 6.0 * x[6], 6.0 * x[7], 6.0 * x[8], -1.0, 9.0)),
    "cap": lambda x: seen(
        rays.to_cap(beam_of(x), 9.0 * x[5], 9.0 * x[6], 9.0 * x[7], 9.0 * x[8], 9.0 * x[9], 9.0 * x[10], x[11])
    ),
    "sea": lambda x: seen(rays.to_sea(beam_of(x))),
    "hull to disc": lambda x: hull_to_disc(BOAT.outline, 4.0 * x[0], 4.0 * x[1], 1.6 + x[2]),
    "hull to segment": lambda x: hull_to_segment(BOAT.outline, 4.0 * x[0], 4.0 * x[1], 4.0 * x[2], 4.0 * x[3]),
    "hull to sphere": lambda x: hull_distance(BOAT, "sphere", (9.0 * x[0], 9.0 * x[1], x[2], 1.7 + x[3]), pose_of(x)),
    "pose": pose_of,
    "sector by mean range": rule(),
    "sector by points": rule(compare="points"),
    "sector, starboard first": rule(starboard_first=True),
}


@pytest.mark.parametrize("name", LAWS)
def test_engines_agree(name):
    law = LAWS[name]
    expected = as_floats(law, INPUTS)
    assert expected.shape[1] == LANES
    assert np.isfinite(expected).all()
    assert len(np.unique(expected)) > 5, "inputs that take one branch only test nothing"
    assert as_symbols(law, INPUTS) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    # Dr.Jit's 64-bit sine and cosine are good to a few units in the last place of an intermediate result.
    assert as_lanes(law, INPUTS, Float64) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert as_lanes(law, INPUTS, Float) == pytest.approx(expected, rel=1e-4, abs=2e-4)


def test_misses_are_infinite_on_every_engine():
    away = [0.0, 0.0, 0.0, 0.0, 0.0]
    miss = rays.to_cylinder(beam_of(away), -5.0, 0.0, 1.0, -1.0, 9.0)
    assert miss == math.inf
    lanes = rays.to_cylinder(beam_of([Float(v) for v in away]), -5.0, 0.0, 1.0, -1.0, 9.0)
    assert np.isinf(np.asarray(lanes)).all()
