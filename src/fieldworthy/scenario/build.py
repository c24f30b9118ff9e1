"""From a scenario to a World: catalogue numbers into lanes, layouts drawn and checked, controller loaded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import Engine, load_engine
from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.random import stream_key
from fieldworthy.core.timing import ticks_from_rate, ticks_from_seconds
from fieldworthy.environment.primitives import build_tables
from fieldworthy.scenario.build_boat import build_boat
from fieldworthy.scenario.build_flight import build_flight
from fieldworthy.scenario.build_lidar import build_lidar
from fieldworthy.scenario.draw import StartPose
from fieldworthy.scenario.lay_out import bounds, draw_trials
from fieldworthy.scenario.mover import vehicle_hull
from fieldworthy.scenario.plug_in import load_controller, load_sensor
from fieldworthy.scenario.scene_mesh import ray_mesh
from fieldworthy.scenario.schema import Scenario
from fieldworthy.scenario.values import Values
from fieldworthy.world.course import Course, CourseLanes
from fieldworthy.world.sense import ExtraSensor
from fieldworthy.world.state import Timing, World

FARTHEST_F32_M = 16384.0
"""Below this 32-bit positions have steps of a millimetre or less."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Built:
    """A world, and what drawing its trials took."""

    world: World
    redrawn: NDArray[np.int64]
    """Layouts thrown away for each row because they could not be sailed."""
    drawn: dict[str, Array]
    """Values of randomised parameters, one a row."""


def build(scenario: Scenario, trials: int | Sequence[int] | None = None, *, full_sweep: bool | None = None) -> Built:
    """A world that flies the given trials (numbers, or how many; by default as many as the scenario says).

    full_sweep: cast every ray whatever the controller reads; None: as the scenario says.
    Raises: ScenarioError for layouts that cannot be sailed and controllers that cannot be loaded.
    """
    count = scenario.trials if trials is None else trials
    numbers = np.asarray(range(count) if isinstance(count, int) else count, dtype=np.uint32)
    if len(numbers) == 0:
        raise ScenarioError(Problem("trials", "no trial to fly", "a number of trials > 0"))
    engine = load_engine(scenario.precision)
    values = Values(scenario, numbers)
    outline = vehicle_hull(scenario)
    controller, parameters = load_controller(scenario)
    course = _course(scenario)
    layouts, starts, redrawn = draw_trials(scenario, numbers, outline, course)
    timing = _timing(scenario)
    lidar, shape = build_lidar(engine, scenario, values, timing, controller, full_sweep)
    make = build_boat if scenario.vehicle.kind == "boat" else build_flight
    mover = make(engine, scenario, values, numbers, starts)
    world = World(
        engine=engine,
        trials=numbers,
        timing=timing,
        course=course,
        course_lanes=_course_lanes(engine, course, mover.start_up_m, starts),
        hull=outline,
        vehicle=mover.vehicle,
        vehicle_parameters=mover.parameters,
        medium=mover.medium,
        start=mover.start,
        readings=mover.readings,
        periods=mover.periods,
        layouts=layouts,
        tables=build_tables(engine, layouts),
        lidar=lidar,
        lidar_shape=shape,
        lidar_key=tuple(engine.counter(word) for word in stream_key(scenario.seed, "lidar")),
        trial_lanes=engine.integers(numbers),
        mesh=ray_mesh(engine, scenario, layouts[0]) if lidar is not None else None,
        extra=tuple(_extra_sensor(scenario, name, values) for name in scenario.sensors.extra),
        controller_name=scenario.control.controller,
        controller=controller,
        parameters=_controller_parameters(engine, controller, parameters, values),
    )
    values.refuse_unread()
    return Built(world, redrawn, values.drawn)


def _course(scenario: Scenario) -> Course:
    targets = (*scenario.waypoints, scenario.goal)
    if scenario.area is not None:
        north, east = scenario.area.north_m, scenario.area.east_m
    else:
        north, east = bounds(scenario)
    farthest = max(map(abs, (*north, *east)))
    if scenario.precision == "f32" and farthest > FARTHEST_F32_M:
        raise ScenarioError(
            Problem(
                scenario.source_path or scenario.name,
                f'the area reaches {farthest:.0f} m from the origin, where precision = "f32" has steps of '
                f"{float(np.spacing(np.float32(farthest))) * 1000:.1f} mm",
                f'coordinates within {FARTHEST_F32_M:.0f} m, or precision = "f64"',
            )
        )
    flies = scenario.vehicle.kind != "boat"
    usual = 1.0 if scenario.vehicle.values.get("autopilot") == "fixed-wing" else 0.0
    return Course(
        north_m=tuple(t.north_m for t in targets),
        east_m=tuple(t.east_m for t in targets),
        radius_m=tuple(t.radius_m for t in targets),
        area_north_m=north,
        area_east_m=east,
        up_m=tuple(t.up_m or 0.0 for t in targets) if flies else None,
        ceiling_m=(scenario.area.ceiling_m if scenario.area else None) or 1.0e9,
        hold=tuple(ticks_from_seconds(t.hold_s or 0.0, scenario.dt_s, "hold_s") for t in targets) if flies else None,
        wishes={
            "target_speed_m_s": tuple(t.speed_m_s or 0.0 for t in targets),
            "target_heading_rad": tuple(
                math.nan if t.heading_deg is None else math.radians(t.heading_deg) for t in targets
            ),
            "target_way": tuple({"hover": 0.0, "wing": 1.0, None: usual}[t.way] for t in targets),
        }
        if flies
        else {},
    )


def _course_lanes(
    engine: Engine, course: Course, start_up_m: NDArray[np.float64] | None, starts: list[StartPose]
) -> CourseLanes:
    flies = course.up_m is not None
    return CourseLanes(
        north_m=engine.floats(course.north_m),
        east_m=engine.floats(course.east_m),
        radius_m=engine.floats(course.radius_m),
        count=engine.counter(len(course.north_m)),
        area=tuple(engine.scalar(x) for x in (*course.area_north_m, *course.area_east_m)),
        up_m=engine.floats(course.up_m) if flies else None,
        ceiling_m=engine.scalar(course.ceiling_m) if flies else None,
        hold=engine.integers(course.hold) if flies else None,
        wishes={name: engine.floats(numbers) for name, numbers in course.wishes.items()},
        start_north_m=engine.floats([s.north_m for s in starts]) if flies else None,
        start_east_m=engine.floats([s.east_m for s in starts]) if flies else None,
        start_up_m=engine.floats(start_up_m) if flies else None,
    )


def _timing(scenario: Scenario) -> Timing:
    dt = scenario.dt_s
    lidar = scenario.sensors.lidar
    return Timing(
        dt_s=dt,
        end=math.ceil(scenario.duration_s / dt - 1e-9),
        control=ticks_from_rate(scenario.control.rate_hz, dt, "control.rate_hz"),
        sweep=ticks_from_rate(lidar.rate_hz, dt, "sensors.lidar.rate_hz") if lidar else 0,
        latency=ticks_from_seconds(lidar.latency_s, dt, "sensors.lidar.latency_s") if lidar else 0,
    )


def _extra_sensor(scenario: Scenario, name: str, values: Values) -> ExtraSensor:
    config = scenario.sensors.extra[name]
    sensor, parameters = load_sensor(scenario, name)
    dt = scenario.dt_s
    return ExtraSensor(
        name=name,
        sensor=sensor,
        parameters=_named(parameters, f"sensors.extra.{name}.parameters", values),
        period=ticks_from_rate(config.rate_hz, dt, f"sensors.extra.{name}.rate_hz"),
        latency=ticks_from_seconds(config.latency_s, dt, f"sensors.extra.{name}.latency_s"),
        seed=scenario.seed,
    )


def _controller_parameters(engine: Engine, controller: Any, parameters: Any, values: Values) -> Any:
    """What the controller's method gets: numbers as lanes for a compiled one."""
    named = _named(parameters, "control.parameters", values)
    if named is not None and controller.arrays == "lanes":
        for name, value in vars(named).items():
            if isinstance(value, float | np.ndarray):
                setattr(named, name, engine.floats(value))
    return named


def _named(parameters: Any, path: str, values: Values) -> Any:
    """A plug-in's parameters by name, with arrays (rows,) where they differ per trial; None where it has none."""
    if parameters is None:
        return None
    found = {name: values.numbers(f"{path}.{name}", getattr(parameters, name)) for name in parameters.__struct_fields__}
    # Not the parameters' own class: its fields are numbers, these may be one number a trial.
    return make_dataclass(type(parameters).__name__, [(name, object) for name in found])(**found)
