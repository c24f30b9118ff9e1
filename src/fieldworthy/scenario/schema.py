"""The scenario as strict structs: what `load` returns and what every later stage reads.

Files are TOML; `load` brings them into this form (knots to m/s, longitude and latitude to north and east, catalogue
values filled in), so that later stages meet one spelling of everything. All structs are frozen and forbid
unknown keys. Angles are in degrees here, as in the file (`_deg`); `build` turns them into radians.

Frames: north and east [m] from the reference point; heights up-positive above still water; headings clockwise
from north; sensor mounts in the vehicle's forward, right and up directions.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from fieldworthy.scenario.flight_schema import Air, Catapult, Device, Effects, Fault, Load, Tether
from fieldworthy.scenario.obstacles import Obstacle, Scatter
from fieldworthy.scenario.quantities import (
    ElevationDeg,
    Fraction,
    Interval,
    LatitudeDeg,
    LongitudeDeg,
    NonNegative,
    Positive,
)
from fieldworthy.scenario.strict import HIDDEN, Strict

VehicleValue = float | tuple[Any, ...] | str
"""A number, a list (of numbers, or of points), or a word from a vehicle's catalogue file."""


POSITION_KEYS = ("lon_deg", "lat_deg")
"""Other spelling of (north_m, east_m) that files may use; `load` converts it."""


class Vehicle(Strict, frozen=True, kw_only=True):
    """The vehicle: a catalogue file, and its values after the scenario's `[vehicle.set]` was applied."""

    model: str = "boat-5m"
    """Catalogue name, or path of a catalogue file relative to the scenario file."""
    values: dict[str, VehicleValue] = msgspec.field(default_factory=dict, name="set")
    """Complete values by their names in the catalogue file; written as `[vehicle.set]` in files."""
    kind: Annotated[str, Meta(extra=HIDDEN)] = "boat"
    """Of the catalogue file: "boat" or "aircraft". Never in files."""


class Start(Strict, frozen=True, kw_only=True):
    """Where a trial starts; `spread_*` is a uniform +/- per trial."""

    file_only: ClassVar[tuple[str, ...]] = POSITION_KEYS
    north_m: float = 0.0
    east_m: float = 0.0
    up_m: float | None = None
    """Height of what flies, its rotors turning as in level flight; None: it stands on the ground, rotors at rest."""
    heading_deg: float = 0.0
    speed_m_s: NonNegative = 0.0
    """Over ground; of what flies through the air."""
    charge: Fraction | None = None
    """State of charge of its battery; None: full."""
    catapult: Catapult | None = None
    """An airplane starts from it, at rest; None: in the air."""
    spread_north_m: NonNegative = 0.0
    spread_east_m: NonNegative = 0.0
    spread_heading_deg: Annotated[float, Meta(ge=0, le=180)] = 0.0


class Target(Strict, frozen=True, kw_only=True):
    """The goal or a waypoint: reached within `radius_m`. What stands below `radius_m` is for what flies."""

    file_only: ClassVar[tuple[str, ...]] = POSITION_KEYS
    north_m: float
    east_m: float
    radius_m: Positive = 5.0
    up_m: float | None = None
    hold_s: NonNegative | None = None
    """Time to stay within the radius; None: to touch it is enough."""
    speed_m_s: NonNegative | None = None
    """On the way to it; None: the vehicle's own."""
    heading_deg: float | None = None
    """Of the nose when hovering; None: along the way."""
    way: Literal["hover", "wing"] | None = None
    """How to fly to it; None: as the vehicle does."""


class Area(Strict, frozen=True, kw_only=True):
    """The rectangle that the vehicle may not leave."""

    north_m: Interval
    east_m: Interval
    ceiling_m: Positive | None = None
    """Greatest height of what flies; None: none."""


class Reference(Strict, frozen=True, kw_only=True):
    """The point on WGS 84 where north = east = 0."""

    lon_deg: LongitudeDeg
    lat_deg: LatitudeDeg
    year: Annotated[float, Meta(ge=2015.0, le=2030.0)] | None = None
    """For the Earth's magnetic field by the world model (needs the extra `sensors`); None: a field like Europe's."""


class Waves(Strict, frozen=True, kw_only=True):
    """A sea state: significant height, peak period, mean direction that waves come from."""

    height_m: NonNegative = 0.3
    period_s: Positive = 4.0
    from_deg: float = 180.0
    components: Annotated[int, Meta(ge=1)] = 8
    """At most `size_limits.MOST_WAVES`."""
    spread_deg: Annotated[float, Meta(ge=0, le=180)] = 30.0
    """Directional spread; 0 is long-crested."""


class Sea(Strict, frozen=True, kw_only=True):
    """Steady current and wind, and waves if any. Files may give speeds as `_m_s` or `_kt`."""

    file_only: ClassVar[tuple[str, ...]] = ("current_speed_kt", "wind_speed_kt")
    current_speed_m_s: NonNegative = 0.0
    current_towards_deg: float = 0.0
    wind_speed_m_s: NonNegative = 0.0
    wind_from_deg: float = 0.0
    waves: Waves | None = None


class LidarConfig(Strict, frozen=True, kw_only=True):
    """A scanning LiDAR, complete: the catalogue entry's values with the scenario's own on top.

    Keys of the other pattern stay at their neutral values (0, empty) and are not written to files.
    """

    model: str = "vlp16-uniform"
    pattern: Literal["uniform", "firing"]
    rate_hz: Positive
    range_min_m: NonNegative
    range_max_m: Positive
    noise_m: NonNegative
    """Standard deviation of the range [m]."""
    latency_s: NonNegative = 0.0
    dropout: Fraction = 0.0
    """Probability that a return is lost."""
    no_hit: Literal["max", "omit"] = "max"
    sea_returns: bool = False
    rays: Literal["shapes", "mesh"] = "shapes"
    """Rays meet shapes in closed form, or the shapes at rest as one mesh: for triangle files, and faster where
    thousands of walls are within range; only where all trials have the same layout."""
    full_sweep: bool = False
    """Cast all rays even where the controller reads a sector only."""
    motion_distortion: bool = True
    """Every ray from the pose at its own time; otherwise all from the pose at the sweep's end."""
    forward_m: float = 0.0
    right_m: float = 0.0
    up_m: float = 2.0
    roll_deg: float = 0.0
    pitch_deg: float = 0.0
    yaw_deg: float = 0.0
    # pattern "uniform"
    elevation_min_deg: ElevationDeg = 0.0
    elevation_max_deg: ElevationDeg = 0.0
    elevation_step_deg: NonNegative = 0.0
    azimuth_step_deg: Annotated[float, Meta(ge=0, le=360)] = 0.0
    # pattern "firing"
    laser_elevation_deg: tuple[ElevationDeg, ...] = ()
    """Elevation of each laser in its firing order."""
    firing_period_s: NonNegative = 0.0
    """Time from one firing of all lasers to the next."""
    laser_spacing_s: NonNegative = 0.0
    """Time between two lasers of one firing."""


class ExtraSensor(Strict, frozen=True, kw_only=True):
    """A sensor of the user's own: a class in one file, see `sensors.sensor`."""

    sensor: Annotated[str, Meta(min_length=3)]
    """`module:Class`, found next to the scenario file or on sys.path."""
    rate_hz: Positive = 10.0
    latency_s: NonNegative = 0.0
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)


class Sensors(Strict, frozen=True, kw_only=True):
    """What the vehicle senses with. What flies has devices of the catalogue, its own where the scenario names none."""

    lidar: LidarConfig | None = None
    """None: no LiDAR, for what flies."""
    imu: Device | None = None
    gnss: Device | None = None
    barometer: Device | None = None
    magnetometer: Device | None = None
    airspeed: Device | None = None
    rangefinder: Device | None = None
    optical_flow: Device | None = None
    odometry: Device | None = None
    extra: dict[str, ExtraSensor] = msgspec.field(default_factory=dict)
    """Sensors of the user's own, by the name that controllers and tracks use."""


class Control(Strict, frozen=True, kw_only=True):
    """The controller, its rate, and parameters that its own struct checks (`check_parameters`)."""

    controller: str = "sector"
    """Built-in name, or `module:Class` found next to the scenario file or on sys.path."""
    rate_hz: Positive = 10.0
    navigation: Literal["truth", "estimate"] | None = None
    """What the autopilot of what flies goes by; None: its estimate from the sensors."""
    commands: Literal["setpoint", "actuators"] | None = None
    """What the controller of what flies gives: where to be, to the built-in autopilot (None: so), or throttles and
    surfaces themselves."""
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)


class KindDefaults(Strict, frozen=True, kw_only=True):
    """Sizes of one kind of map feature where the map does not say; None leaves the built-in value."""

    radius_m: Positive | None = None
    width_m: NonNegative | None = None
    """Width of lines; 0 is a thin wall."""
    top_up_m: float | None = None
    bottom_up_m: float | None = None


class GeojsonOptions(Strict, frozen=True, kw_only=True):
    """How to read `obstacles_geojson`."""

    kind_property: str = "kind"
    simplify_m: NonNegative = 0.0
    """Greatest displacement allowed when dropping vertices; 0 keeps all. 0.05 is below a LiDAR's noise."""
    kinds: dict[str, KindDefaults] = msgspec.field(default_factory=dict)


class Scenario(Strict, frozen=True, kw_only=True, eq=False):
    """One complete scenario. Two scenarios are equal if their contents are, wherever they were read."""

    schema: Literal[1]
    name: Annotated[str, Meta(min_length=1)]
    title: str = ""
    description: str = ""
    trials: Annotated[int, Meta(ge=1, le=1_000_000)] = 10
    seed: Annotated[int, Meta(ge=0)] = 1
    duration_s: Positive = 120.0
    dt_s: Positive = 0.02
    precision: Literal["f32", "f64"] = "f32"
    obstacles_geojson: str | None = None
    """Path relative to the scenario file's folder."""
    scene_mesh: tuple[Annotated[str, Meta(min_length=1)], ...] = ()
    """PLY or OBJ files of triangles, relative like the map; x east, y north, z up [m] from the origin. Files may give
    one text. Needs sensors.lidar.rays = "mesh"."""
    vehicle: Vehicle
    start: Start = Start()
    goal: Target
    waypoints: tuple[Target, ...] = ()
    area: Area | None = None
    """None: the bounding box of everything + 50 m, which `build` works out."""
    reference: Reference | None = None
    """Set whenever the file gives one, uses longitude and latitude, or reads a GeoJSON."""
    sea: Sea = Sea()
    """For boats."""
    air: Air = Air()
    """For what flies; so are the next five."""
    effects: Effects = Effects()
    load: Load | None = None
    tether: Tether | None = None
    battery: Device | None = None
    faults: tuple[Fault, ...] = ()
    sensors: Sensors
    control: Control = Control()
    obstacles: tuple[Obstacle, ...] = ()
    scatter: tuple[Scatter, ...] = ()
    randomize: dict[str, Interval] = msgspec.field(default_factory=dict)
    """Path (below vehicle, sea, sensors or control.parameters) to [low, high]: drawn uniformly per trial."""
    geojson: GeojsonOptions = GeojsonOptions()
    source_path: Annotated[str, Meta(extra=HIDDEN)] = ""
    """File that the scenario was read from (absolute). Relative paths in the scenario start at its folder, which is the
    `folder` of `load` where one was given. Never in files."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return all(
            getattr(self, name) == getattr(other, name) for name in self.__struct_fields__ if name != "source_path"
        )

    __hash__ = None  # type: ignore[assignment]  # holds dictionaries
