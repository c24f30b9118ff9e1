"""From a scenario to a World: catalogue numbers into lanes, layouts drawn and checked, controller loaded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, make_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import Engine, load_engine
from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.random import Stream, stream_key
from fieldworthy.core.timing import ticks_from_rate, ticks_from_seconds
from fieldworthy.environment.mesh import mesh_scene
from fieldworthy.environment.primitives import build_tables
from fieldworthy.environment.sea import Sea, WaveComponent
from fieldworthy.environment.shapes import Layout, Shape
from fieldworthy.environment.wave_spectrum import wave_table
from fieldworthy.scenario.draw import StartPose, draw_layout, draw_start, fixed_shapes, varies
from fieldworthy.scenario.feasible import blocked_start, no_way
from fieldworthy.scenario.load import map_layout
from fieldworthy.scenario.plug_in import load_controller
from fieldworthy.scenario.schema import Scenario
from fieldworthy.sensors.lidar import LidarParameters, LidarShape
from fieldworthy.sensors.scan_pattern import ScanPattern, firing_pattern, restricted, uniform_pattern
from fieldworthy.vehicles.boat import BoatParameters, BoatState
from fieldworthy.vehicles.hull import Hull, hull
from fieldworthy.world.state import Course, CourseLanes, Timing, World

ATTEMPTS = 50
"""Layouts drawn for one trial before giving up."""

AREA_MARGIN_M = 50.0
"""Water around everything where the scenario names no area."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Built:
    """A world, and what drawing its trials took."""

    world: World
    redrawn: NDArray[np.int64]
    """Layouts thrown away for each row because they could not be sailed."""
    drawn: dict[str, Array]
    """Values of randomised parameters, one a row."""


def build(
    scenario: Scenario, trials: int | Sequence[int] | None = None, *, full_sweep: bool | None = None
) -> Built:
    """A world that flies the given trials (numbers, or how many; by default as many as the scenario says).

    full_sweep: cast every ray whatever the controller reads; None: as the scenario says.
    Raises: ScenarioError for layouts that cannot be sailed and controllers that cannot be loaded.
    """
    count = scenario.trials if trials is None else trials
    numbers = np.asarray(range(count) if isinstance(count, int) else count, dtype=np.uint32)
    if len(numbers) == 0:
        raise ScenarioError(Problem("trials", "no trial to fly", "a number of trials > 0"))
    engine = load_engine(scenario.precision)
    values = _Values(scenario, numbers)
    boat_hull = _hull(scenario)
    controller, parameters = load_controller(scenario)
    course = _course(scenario)
    layouts, starts, redrawn = _draw_trials(scenario, numbers, boat_hull, course)
    timing = _timing(scenario)
    lidar, shape = _lidar(engine, scenario, values, timing, controller, full_sweep)
    moving_sea = _sea(engine, scenario, values, numbers)
    world = World(
        engine=engine,
        trials=numbers,
        timing=timing,
        course=course,
        course_lanes=_course_lanes(engine, course),
        hull=boat_hull,
        boat=BoatParameters(
            **{f.name: values.lanes(engine, f"vehicle.{f.name}", scenario.vehicle.values[f.name]) for f in fields(BoatParameters)}
        ),
        sea=moving_sea,
        start=_start(scenario, starts),
        layouts=layouts,
        tables=build_tables(engine, layouts),
        lidar=lidar,
        lidar_shape=shape,
        lidar_key=tuple(engine.counter(word) for word in stream_key(scenario.seed, "lidar")),
        trial_lanes=engine.integers(numbers),
        # `load` has seen to it that all trials share one layout where rays meet a mesh.
        mesh=mesh_scene(engine, layouts[0]) if lidar is not None and scenario.sensors.lidar.rays == "mesh" else None,
        controller=controller,
        parameters=_controller_parameters(engine, controller, parameters, values),
    )
    return Built(world, redrawn, values.drawn)


class _Values:
    """Numbers of the scenario, with those under [randomize] drawn for every row."""

    def __init__(self, scenario: Scenario, trials: NDArray[np.uint32]) -> None:
        self.drawn = {
            path: np.array(
                [Stream(scenario.seed, f"randomize {path}").uniform(int(t), 0, 1, low, high)[0] for t in trials]
            )
            for path, (low, high) in scenario.randomize.items()
        }

    def numbers(self, path: str, value: Any) -> Any:
        """The drawn numbers (rows,) of a path, or the value that all rows share."""
        return self.drawn.get(path, value)

    def lanes(self, engine: Engine, path: str, value: Any) -> Any:
        """The same as lanes: one number, or one a row."""
        return engine.floats(self.numbers(path, value))


def _hull(scenario: Scenario) -> Hull:
    values: dict[str, Any] = dict(scenario.vehicle.values)
    where = f"[vehicle] outline_m of {scenario.vehicle.model}"
    return hull(values["outline_m"], values["draft_m"], values["air_draft_m"], where)


def _course(scenario: Scenario) -> Course:
    targets = (*scenario.waypoints, scenario.goal)
    if scenario.area is not None:
        north, east = scenario.area.north_m, scenario.area.east_m
    else:
        north, east = _bounds(scenario)
    return Course(
        north_m=tuple(t.north_m for t in targets),
        east_m=tuple(t.east_m for t in targets),
        radius_m=tuple(t.radius_m for t in targets),
        area_north_m=north,
        area_east_m=east,
    )


def _bounds(scenario: Scenario) -> tuple[tuple[float, float], tuple[float, float]]:
    """Bounding box of start, targets and all obstacles of trial 0, widened."""
    start = StartPose(scenario.start.north_m, scenario.start.east_m, 0.0)
    chart = map_layout(scenario)
    shapes = draw_layout(scenario, fixed_shapes(scenario), chart.shapes if chart else (), start, 0, 0) or ()
    points = [(start.north_m, start.east_m), *((t.north_m, t.east_m) for t in (*scenario.waypoints, scenario.goal))]
    for shape in shapes:
        points += shape.points_ne_m if hasattr(shape, "points_ne_m") else [(shape.north_m, shape.east_m)]
    for field in scenario.scatter:
        points += list(zip(field.north_m, field.east_m, strict=True))
    north, east = zip(*points, strict=True)
    return (
        (min(north) - AREA_MARGIN_M, max(north) + AREA_MARGIN_M),
        (min(east) - AREA_MARGIN_M, max(east) + AREA_MARGIN_M),
    )


def _course_lanes(engine: Engine, course: Course) -> CourseLanes:
    return CourseLanes(
        north_m=engine.floats(course.north_m),
        east_m=engine.floats(course.east_m),
        radius_m=engine.floats(course.radius_m),
        count=engine.counter(len(course.north_m)),
        area=tuple(engine.scalar(x) for x in (*course.area_north_m, *course.area_east_m)),  # type: ignore[arg-type]
    )


def _draw_trials(
    scenario: Scenario, trials: NDArray[np.uint32], boat_hull: Hull, course: Course
) -> tuple[tuple[Layout, ...], list[StartPose], NDArray[np.int64]]:
    chart = map_layout(scenario)
    charted: tuple[Shape, ...] = chart.shapes if chart else ()
    fixed = fixed_shapes(scenario)
    always_same = not scenario.scatter and not any(varies(obstacle) for obstacle in scenario.obstacles)
    shared: Layout | None = None
    layouts, starts, redrawn = [], [], []
    for trial in trials:
        reason = ""
        for attempt in range(ATTEMPTS):
            start = draw_start(scenario, int(trial), attempt)
            layout = shared if always_same else None
            if layout is None:
                layout = draw_layout(scenario, fixed, charted, start, int(trial), attempt)
                shared = layout
            if layout is None:
                reason = "no room for all shapes of [[scatter]] with its gap_m and clear_*_m"
                continue
            reason = _unsailable(layout, boat_hull, start, course, scenario)
            if not reason:
                break
        else:
            raise ScenarioError(
                Problem(
                    scenario.source_path or scenario.name,
                    f"trial {trial}: {ATTEMPTS} layouts were drawn and none can be sailed; the last one: {reason}",
                    "free water at the start and a way to the goal wider than the hull; fewer or smaller obstacles, "
                    "another start, or more room",
                )
            )
        layouts.append(layout)
        starts.append(start)
        redrawn.append(attempt)
    return tuple(layouts), starts, np.asarray(redrawn)


def _unsailable(layout: Layout, boat_hull: Hull, start: StartPose, course: Course, scenario: Scenario) -> str:
    (low_n, high_n), (low_e, high_e) = course.area_north_m, course.area_east_m
    places = [("start", start.north_m, start.east_m)]
    names = [f"waypoint {i}" for i in range(len(course.north_m) - 1)] + ["goal"]
    places += list(zip(names, course.north_m, course.east_m, strict=True))
    for name, north, east in places:
        if not (low_n <= north <= high_n and low_e <= east <= high_e):
            return f"the {name} at north {north:.1f} m, east {east:.1f} m is outside [area]"
    stuck = blocked_start(layout, boat_hull, start)
    return stuck or no_way(layout, boat_hull, (course.area_north_m, course.area_east_m), places)


def _timing(scenario: Scenario) -> Timing:
    dt = scenario.dt_s
    lidar = scenario.sensors.lidar
    return Timing(
        dt_s=dt,
        end=math.ceil(scenario.duration_s / dt - 1e-9),
        control=ticks_from_rate(scenario.control.rate_hz, dt, "control.rate_hz"),
        sweep=ticks_from_rate(lidar.rate_hz, dt, "sensors.lidar.rate_hz"),
        latency=ticks_from_seconds(lidar.latency_s, dt, "sensors.lidar.latency_s"),
    )


def scan_pattern(scenario: Scenario) -> ScanPattern:
    """All rays of the scenario's LiDAR."""
    lidar = scenario.sensors.lidar
    if lidar.pattern == "uniform":
        return uniform_pattern(
            lidar.rate_hz, lidar.elevation_min_deg, lidar.elevation_max_deg, lidar.elevation_step_deg,
            lidar.azimuth_step_deg,
        )  # fmt: skip
    return firing_pattern(lidar.rate_hz, lidar.laser_elevation_deg, lidar.firing_period_s, lidar.laser_spacing_s)


def _lidar(
    engine: Engine, scenario: Scenario, values: _Values, timing: Timing, controller: Any, full_sweep: bool | None
) -> tuple[LidarParameters | None, LidarShape | None]:
    config = scenario.sensors.lidar
    everything = config.full_sweep if full_sweep is None else full_sweep
    if controller.reads_deg is None and not everything:
        return None, None
    pattern = scan_pattern(scenario)
    if not everything:
        # What is read is meant in the vehicle's axes; a LiDAR turned on its mount sees it elsewhere.
        low, high = (math.radians(angle - config.yaw_deg) for angle in controller.reads_deg)
        if -math.pi <= low and high <= math.pi and not config.roll_deg and not config.pitch_deg:
            pattern = restricted(pattern, (low, high))
    parameters = LidarParameters(
        **{
            name: values.lanes(engine, f"sensors.lidar.{name}", getattr(config, name))
            for name in ("noise_m", "dropout", "range_min_m", "range_max_m", "forward_m", "right_m", "up_m")
        },
        **{
            f"{name}_rad": engine.floats(np.radians(values.numbers(f"sensors.lidar.{name}_deg", getattr(config, f"{name}_deg"))))
            for name in ("roll", "pitch", "yaw")
        },
    )
    shape = LidarShape(
        pattern=pattern,
        ticks=timing.sweep,
        dt_s=timing.dt_s,
        no_hit=config.no_hit,
        sea_returns=config.sea_returns,
        drops=bool(np.any(values.numbers("sensors.lidar.dropout", config.dropout))),
        distorted=config.motion_distortion,
    )
    return parameters, shape


def _sea(engine: Engine, scenario: Scenario, values: _Values, trials: NDArray[np.uint32]) -> Sea:
    sea = scenario.sea

    def vector(speed: str, angle: str, turn_rad: float) -> tuple[Any, Any]:
        size = np.asarray(values.numbers(f"sea.{speed}", getattr(sea, speed)))
        towards = np.radians(values.numbers(f"sea.{angle}", getattr(sea, angle))) + turn_rad
        return engine.floats(size * np.cos(towards)), engine.floats(size * np.sin(towards))

    current = vector("current_speed_m_s", "current_towards_deg", 0.0)
    wind = vector("wind_speed_m_s", "wind_from_deg", math.pi)
    waves: tuple[WaveComponent, ...] = ()
    if sea.waves is not None and sea.waves.height_m > 0.0:
        w = sea.waves
        table = wave_table(
            w.height_m, w.period_s, math.radians(w.from_deg), math.radians(w.spread_deg), w.components,
            scenario.seed, trials,
        )  # fmt: skip
        waves = tuple(
            WaveComponent(**{name: engine.floats(rows[i]) for name, rows in table.items()}) for i in range(w.components)
        )
    return Sea(*current, *wind, waves)


def _start(scenario: Scenario, starts: list[StartPose]) -> BoatState:
    zero = np.zeros(len(starts))
    return BoatState(
        north_m=np.array([s.north_m for s in starts]),
        east_m=np.array([s.east_m for s in starts]),
        heading_rad=np.array([s.heading_rad for s in starts]),
        surge_m_s=zero + scenario.start.speed_m_s,
        sway_m_s=zero,
        yaw_rate_rad_s=zero,
        surge_error_m=zero,
        yaw_error_rad=zero,
    )


def _controller_parameters(engine: Engine, controller: Any, parameters: Any, values: _Values) -> Any:
    """What the controller's method gets: numbers as lanes for a compiled one, drawn ones as arrays for NumPy."""
    if parameters is None:
        return None
    named = {
        name: values.numbers(f"control.parameters.{name}", getattr(parameters, name))
        for name in parameters.__struct_fields__
    }
    if controller.arrays == "lanes":
        named = {
            name: engine.floats(value) if isinstance(value, float | np.ndarray) else value
            for name, value in named.items()
        }
    # Not the parameters' own class: its fields are numbers, these may be one number a trial.
    return make_dataclass(type(parameters).__name__, [(name, object) for name in named])(**named)
