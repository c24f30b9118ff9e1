"""What a flight meets: gust axes in a wind field, level flight in thin air, wind fields that are read once."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.rigid_body import RigidBodyState
from fieldworthy.core.vec import Vec3, quat_identity
from fieldworthy.environment import wind_grid_files
from fieldworthy.environment.air import AirOptions, AirParameters
from fieldworthy.environment.turbulence import TurbulenceOptions, TurbulenceParameters, first, gust_m_s, normals_needed
from fieldworthy.environment.wind import WindOptions, WindParameters
from fieldworthy.environment.wind_grid import GridAxis, GridShape, WindGrid
from fieldworthy.scenario import load
from fieldworthy.scenario.build import build
from fieldworthy.scenario.build_autopilot import autopilot, level_flight
from fieldworthy.vehicles.vehicle import Clock
from fieldworthy.verify.composed import vehicle
from fieldworthy.world.flight_air import air_at

STILL = Vec3(0.0, 0.0, 0.0)


def everywhere(north_m_s: float, east_m_s: float) -> tuple[GridShape, WindGrid]:
    """A wind field of one node."""
    axis = GridAxis(0.0, 1.0)
    return GridShape(1, 1, 1, 1), WindGrid(axis, axis, axis, axis, [north_m_s], [east_m_s], [0.0])


def felt(options: AirOptions, air: AirParameters) -> Vec3:
    """Wind that a vehicle hovering at 50 m meets."""
    numbers = tuple(0.1 * (i + 1) for i in range(normals_needed(options.turbulence)))
    body = RigidBodyState(Vec3(0.0, 0.0, -50.0), quat_identity(), STILL, STILL)
    state = SimpleNamespace(motion=SimpleNamespace(body=body), turbulence=first(options.turbulence, numbers))
    return air_at(SimpleNamespace(air=options), state, air, Clock(0, 0.0, 0.002, 0.002, 0)).wind_ned_m_s


def test_gusts_blow_along_the_wind_of_a_field_as_along_any_other() -> None:
    """The same air, once as a mean wind, once as a field: a hovering vehicle must feel the same."""
    turbulence, numbers = TurbulenceOptions("dryden"), TurbulenceParameters(8.0)
    mean = felt(AirOptions(WindOptions(), turbulence), AirParameters(wind=WindParameters(0.0, 9.0), turbulence=numbers))
    shape, grid = everywhere(0.0, 9.0)
    field = felt(AirOptions(None, turbulence, shape), AirParameters(turbulence=numbers, grid=grid))
    assert list(field) == pytest.approx(list(mean), rel=1e-12)
    drawn = first(turbulence, tuple(0.1 * (i + 1) for i in range(normals_needed(turbulence))))
    gust = gust_m_s(turbulence, numbers, drawn, 50.0)
    # Facing the wind, that is west: the gust's x is west, its y north.
    assert field.y - 9.0 == pytest.approx(-gust.x, abs=2e-3)
    assert field.x == pytest.approx(gust.y, abs=2e-3)


def level(*overrides: str, name: str = "quad-hover", model: str = "x500") -> object:
    shape, p = vehicle(model, inflow=False)
    return level_flight(load(name, overrides), shape, p)


def test_hover_in_thin_air_turns_faster_by_the_root_of_density() -> None:
    """ISA at 3,000 m: 0.9091 kg/m3."""
    sea, high = (level(f"air.elevation_m={up}").rotor_speed_rad_s[0] for up in (0.0, 3000.0))
    assert high / sea == pytest.approx(math.sqrt(1.225 / 0.9091), rel=2e-4)


def test_level_flight_keeps_its_attitude_at_equal_dynamic_pressure() -> None:
    """Lift and moments go with rho v^2 / 2: at 2,900 m above ground 100 m up, ISA at 3,000 m."""
    v = 25.0
    low = level(f"start.speed_m_s={v}", "air.elevation_m=-100.0", name="plane-circuit", model="aerosonde")
    faster = v * math.sqrt(1.225 / 0.9091)
    high = level(f"start.speed_m_s={faster}", "air.elevation_m=2900.0", name="plane-circuit", model="aerosonde")
    assert high.pitch_rad == pytest.approx(low.pitch_rad, abs=2e-5)
    assert high.elevator_rad == pytest.approx(low.elevator_rad, abs=2e-5)
    assert high.rotor_speed_rad_s[0] / low.rotor_speed_rad_s[0] == pytest.approx(faster / v, rel=1e-3)


def test_a_quadrotor_that_is_too_weak_for_the_mountains_is_refused_there() -> None:
    shape, p = vehicle("x500")
    most = sum(r.thrust_coefficient_n_s2 * r.speed_max_rad_s**2 for r in p.rotors)
    # Enough at the sea, with a tenth to spare; not in air of 0.74 of its density.
    load_kg = most / (1.2 * 9.80665) - 2.0
    case = (f"load={{mass_kg={load_kg}, cable_length_m=2.0}}",)
    autopilot(load("quad-hover", case), shape, p)
    with pytest.raises(ScenarioError, match="at 3000 m above the sea"):
        autopilot(load("quad-hover", (*case, "air.elevation_m=3000.0")), shape, p)


def test_a_wind_field_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [(x, y, z) for z in (0, 100) for y in (-50, 50) for x in (-50, 50)]
    lines = [f"{x},{y},{z},1.0,2.0,0.0" for x, y, z in nodes]
    (tmp_path / "wind.csv").write_text("\n".join(["x,y,z,u,v,w", *lines]) + "\n")
    calls = []
    read = wind_grid_files.read_wind_grid

    def counted(path: Path) -> object:
        calls.append(path)
        return read(path)

    monkeypatch.setattr(wind_grid_files, "read_wind_grid", counted)
    scenario = load("quad-hover", (f"air.grid={tmp_path / 'wind.csv'}",))
    calls.clear()
    world = build(scenario, 1).world
    assert len(calls) == 1
    assert np.asarray(world.medium.grid.wind_east_m_s)[0] == pytest.approx(1.0)
