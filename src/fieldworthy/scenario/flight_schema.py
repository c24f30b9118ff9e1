"""The tables of a scenario that only what flies has: air, effects, devices, slung load, faults.

Frames: north and east [m] from the reference point, heights up-positive above the ground, which is level at height 0.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, field

from fieldworthy.core.constants import SEA_LEVEL_PRESSURE_PA
from fieldworthy.scenario.quantities import Fraction, NonNegative, Positive
from fieldworthy.scenario.strict import Strict


class Gust(Strict, frozen=True, kw_only=True):
    """A gust that comes as half a cosine, stays, and goes again; the way the extra air goes."""

    start_s: NonNegative
    rise_s: Positive = 1.0
    """Time to full strength, and to nothing at the end."""
    hold_s: NonNegative = 0.0
    north_m_s: float = 0.0
    east_m_s: float = 0.0
    up_m_s: float = 0.0


class Turbulence(Strict, frozen=True, kw_only=True):
    """Random gusts with a spectrum of the flying qualities specifications."""

    model: Literal["dryden", "von-karman"] = "dryden"
    specification: Literal["mil-f-8785c", "mil-hdbk-1797"] = "mil-f-8785c"
    wind_20ft_m_s: NonNegative | None = None
    """Wind at 20 ft, which scales the gusts below 1,000 ft; None: the mean wind of [air] there."""
    high_sigma_m_s: NonNegative = 1.5
    """Standard deviation above 2,000 ft."""


class Air(Strict, frozen=True, kw_only=True):
    """Standard atmosphere and wind."""

    file_only: ClassVar[tuple[str, ...]] = ("wind_speed_kt",)
    elevation_m: Annotated[float, Meta(ge=-500.0, le=9000.0)] = 0.0
    """Height of the ground above sea level."""
    temperature_offset_k: Annotated[float, Meta(ge=-80.0, le=60.0)] = 0.0
    sea_level_pressure_pa: Annotated[float, Meta(ge=80000.0, le=110000.0)] = SEA_LEVEL_PRESSURE_PA
    wind_speed_m_s: NonNegative = 0.0
    """At `reference_height_m`."""
    wind_from_deg: float = 0.0
    shear: Literal["none", "log", "power"] = "none"
    reference_height_m: Positive = 6.096
    roughness_m: Positive = 0.0457
    exponent: NonNegative = 1.0 / 7.0
    gusts: tuple[Gust, ...] = ()
    turbulence: Turbulence | None = None
    grid: str | None = None
    """NetCDF or CSV file of wind, relative to the scenario file's folder."""
    roof_up_m: Positive | None = None
    """Height of a level roof that rotors feel; nothing strikes it."""
    wall_north_m: float | None = None
    """Place of an upright wall square to north that rotors feel; nothing strikes it."""


class Effects(Strict, frozen=True, kw_only=True):
    """Which effects are computed; each costs time (docs/flight-models.md says how much)."""

    rotor_drag: bool = True
    flapping: bool = False
    inflow: bool = True
    ground_effect: bool = True
    ceiling_effect: bool = False
    wall_effect: bool = False
    gyroscopic: bool = True
    vibration: bool = False
    """Forces at rotor and blade-pass frequency on the IMU."""
    battery: bool = True
    """Without it the motors have their nominal voltage for ever."""
    battery_heat: bool = False
    propwash: bool = True


class Device(Strict, frozen=True, kw_only=True):
    """A sensor from the catalogue, and its values after the scenario's `set` was applied."""

    model: str
    values: dict[str, Any] = field(default_factory=dict, name="set")


class Catapult(Strict, frozen=True, kw_only=True):
    """A rail that an airplane starts from: it is held there at rest until its autopilot wants to fly."""

    up_m: Positive = 1.5
    """Height of the plane at rest."""
    pitch_deg: Annotated[float, Meta(ge=0.0, le=60.0)] = 12.0
    """Of the rail, and so of the plane on it."""
    speed_m_s: Positive | None = None
    """Over ground, at which the plane leaves the rail; None: its cruise airspeed."""
    accel_m_s2: Positive = 50.0
    """Along the rail, thrust and weight included."""
    throttle: Annotated[float, Meta(gt=0.0, le=1.0)] = 0.5
    """The plane is let go when its autopilot has commanded this or more for 0.3 s on end."""


class Load(Strict, frozen=True, kw_only=True):
    """A load slung below the vehicle on a cable."""

    mass_kg: Positive
    cable_length_m: Positive
    stiffness_n_m: Positive = 2000.0
    damping_n_s_m: NonNegative = 10.0
    drag_area_m2: NonNegative = 0.01
    forward_m: float = 0.0
    right_m: float = 0.0
    down_m: float = 0.05
    """Hook, from the vehicle's centre of mass."""


class Tether(Strict, frozen=True, kw_only=True):
    """A cable from the vehicle to a fixed point."""

    cable_length_m: Positive
    stiffness_n_m: Positive = 2000.0
    damping_n_s_m: NonNegative = 10.0
    north_m: float = 0.0
    east_m: float = 0.0
    up_m: float = 0.0
    """The fixed point."""
    forward_m: float = 0.0
    right_m: float = 0.0
    down_m: float = 0.05
    """Hook, from the vehicle's centre of mass."""


class Fault(Strict, frozen=True, kw_only=True):
    """Something that breaks during a trial."""

    kind: Literal[
        "rotor-loss",
        "surface-stuck",
        "sensor-freeze",
        "sensor-bias",
        "sensor-noise",
        "sensor-loss",
        "cell-failure",
        "link-delay",
    ]
    part: str = ""
    """Number of the rotor, "0" being the first; or name of the surface or the sensor. "imu.gyro" and
    "imu.accelerometer" are parts of the inertial unit; "imu" is its gyroscopes for bias and noise, all for a freeze."""
    at_s: NonNegative = 0.0
    """When, from the start of a trial."""
    spread_s: NonNegative = 0.0
    """Added to `at_s`: a time drawn per trial between 0 and this."""
    until_s: Positive | None = None
    """None: to the end."""
    probability: Fraction = 1.0
    """Share of trials in which it happens."""
    size: float = 1.0
    """rotor-loss: share of thrust lost. surface-stuck: deflection, -1 to 1. sensor-bias: in the sensor's unit.
    sensor-noise: standard deviation in the sensor's unit. cell-failure: cells. link-delay: seconds."""
