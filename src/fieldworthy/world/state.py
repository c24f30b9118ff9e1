"""The data that flows: World (what does not change), State (everything needed to resume), Frame (what comes out).

Rows are the trials of a run; lanes are the rows still flying. `State.row` says which row a lane is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import Engine
from fieldworthy.core.pack import Packing
from fieldworthy.core.track import Track
from fieldworthy.environment.mesh import MeshScene
from fieldworthy.environment.primitives import Table
from fieldworthy.environment.shapes import Layout
from fieldworthy.sensors.lidar import LidarParameters, LidarShape
from fieldworthy.sensors.scan import Scan
from fieldworthy.vehicles.hull import Hull
from fieldworthy.vehicles.vehicle import Vehicle
from fieldworthy.world.course import Course, CourseLanes, Standing
from fieldworthy.world.sense import ExtraSensor, ExtraState

CLEARANCE_HORIZON_M = 25.0
"""Clearances beyond this are not worked out and read as this."""


@dataclass(frozen=True)
class Timing:
    """Whole ticks of the physics step."""

    dt_s: float
    end: int
    """Tick at which a trial times out."""
    control: int
    """Ticks from one command to the next."""
    sweep: int
    """Ticks of one LiDAR sweep; 0 without a LiDAR."""
    latency: int
    """Ticks from the end of a sweep to its delivery."""


@dataclass
class World:
    """All that stays the same while trials run.

    Arrays in `vehicle_parameters`, `medium` and `lidar` have one number, or one a row.
    """

    engine: Engine
    trials: NDArray[np.uint32]
    """Trial number of each row."""
    timing: Timing
    course: Course
    course_lanes: CourseLanes
    hull: Hull
    """What touches things."""
    vehicle: Vehicle
    vehicle_parameters: Any
    medium: Any
    """Water and air, as the vehicle's laws take them."""
    start: Any
    """The vehicle at tick 0: NumPy arrays (rows,)."""
    readings: type
    """Dataclass that controllers read."""
    periods: tuple[int, ...]
    """Ticks between the readings of the vehicle's own slow sensors: `Vehicle.prepare` runs at these ticks."""
    layouts: tuple[Layout, ...]
    """One a row."""
    tables: tuple[Table, ...]
    lidar: LidarParameters | None
    lidar_shape: LidarShape | None
    lidar_key: tuple[Any, Any]
    """Key of the range noise, UInt32 scalars."""
    trial_lanes: Any
    """`trials` as UInt32 lanes."""
    mesh: MeshScene | None
    """All shapes at rest as a mesh that rays are cast against, or None: closed forms only."""
    extra: tuple[ExtraSensor, ...]
    """Sensors of the user's own."""
    controller_name: str
    """As the scenario calls it, for messages."""
    controller: Any
    parameters: Any
    """What the controller's method gets: its dataclass, with lanes in place of numbers for a compiled one."""
    _made: dict[Any, Any] = field(default_factory=dict)

    def kernel(self, name: str, make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        """The frozen function of that name, made when first asked for."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]  # type: ignore[no-any-return]

    def vehicle_shape(self, tree: Any = None) -> Packing:
        """How the vehicle's state lies in `State.vehicle`; settled by the first tree."""
        if "vehicle" not in self._made:
            self._made["vehicle"] = Packing.of_separate(tree)
        return self._made["vehicle"]  # type: ignore[no-any-return]

    def constants(self) -> tuple[Packing, tuple[Any, ...]]:
        """The vehicle's parameters and its medium: how they lie, and as an argument of a kernel."""
        if "constants" not in self._made:
            tree = (self.vehicle_parameters, self.medium)
            shape = Packing(tree)
            self._made["constants"] = shape, shape.flat(tree)
        return self._made["constants"]  # type: ignore[no-any-return]

    def counting(self, count: int) -> Any:
        """0, 1, … count - 1 as UInt32 lanes, made once a size."""
        if count not in self._made:
            self._made[count] = self.engine.indices(count)
        return self._made[count]


@dataclass
class Sights:
    """What can be told of a vehicle at one tick; lanes."""

    seen: dict[str, Any]
    """What records see, by the names of the run folder."""
    known: dict[str, Any]
    """What controllers see."""
    heard: dict[str, dict[str, Any]]
    """Newest readings that have arrived from the vehicle's own devices."""


@dataclass
class State:
    """Everything needed to go on from here."""

    tick: int
    row: Any
    """UInt32 (lanes): which row of the world a lane is."""
    vehicle: tuple[Any, ...]
    """See `World.vehicle_shape`."""
    sights: Sights
    command: Any
    mode: Any
    standing: Standing
    track: Track
    memory: dict[str, Any]
    scan: Scan | None
    """Newest sweep delivered."""
    waiting: tuple[tuple[int, Scan], ...]
    """Sweeps on their way: (tick of delivery, sweep)."""
    extra: dict[str, ExtraState]
    """Where each sensor of the user's own stands."""

    @property
    def lanes(self) -> int:
        """Lanes still carried."""
        import drjit as dr

        return int(dr.width(self.row))


@dataclass(frozen=True)
class Frame:
    """What one call of `advance` puts out: where every lane was when its command was given. NumPy (lanes,)."""

    tick: int
    t_s: float
    row: NDArray[np.uint32]
    values: dict[str, NDArray[Any]]
    """By the names of the run folder: north_m … clearance_m, mode, and SENSOR.NAME of the user's own sensors."""
    scan: Scan | None
    """The sweep that the command was made from."""
