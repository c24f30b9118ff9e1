"""The data of a flying robot in a world: vehicle, devices, filter, autopilot and what breaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from fieldworthy.control.autopilot import AutopilotOptions, AutopilotParameters
from fieldworthy.control.complementary import FilterOptions, FilterParameters, FilterState
from fieldworthy.core.lanes import Scalar
from fieldworthy.core.vec import Vec3
from fieldworthy.environment.air import AirOptions
from fieldworthy.environment.turbulence import TurbulenceState
from fieldworthy.sensors.delivery import DeliveryOptions, DeliveryParameters, Mailbox
from fieldworthy.sensors.imu import ImuMemory, ImuOptions, ImuParameters, ImuReading
from fieldworthy.sensors.sensor_faults import SensorFaultOptions
from fieldworthy.vehicles.aircraft import Actuators, AircraftParameters, AircraftShape, AircraftState
from fieldworthy.vehicles.catapult import CatapultParameters, CatapultState

FaultKind = Literal["rotor-loss", "surface-stuck", "cell-failure", "link-delay", "sensor"]


@dataclass(frozen=True)
class FaultShape:
    """One thing that may break."""

    kind: FaultKind
    part: str = ""
    """Number of the rotor, name of the surface or of the device."""
    sensor: SensorFaultOptions | None = None
    commands: int = 0
    """link-delay: by how many commands."""


@dataclass
class FaultNumbers:
    """When it breaks, a lane each; a lane in which it never does has an onset beyond all time."""

    onset_s: Scalar
    end_s: Scalar
    size: Scalar


@dataclass(frozen=True)
class DeviceShape:
    """One slow device."""

    name: str
    options: Any
    delivery: DeliveryOptions


@dataclass
class DeviceNumbers:
    """Its numbers."""

    parameters: Any
    delivery: DeliveryParameters
    key: tuple[Any, Any]
    """Of its random numbers."""


@dataclass
class DeviceState:
    """Where it stands."""

    memory: Any
    mailbox: Mailbox
    held: dict[str, Any]
    """What each of its faults holds on to, by the fault's number."""


@dataclass(frozen=True)
class FlightShape:
    """What there is, the same in all lanes."""

    aircraft: AircraftShape
    air: AirOptions
    autopilot: AutopilotOptions | None
    """None: commands are the actuators themselves."""
    estimated: bool
    """The autopilot goes by its filter, not by the truth."""
    imu: ImuOptions | None = None
    filter: FilterOptions = field(default_factory=FilterOptions)
    devices: tuple[DeviceShape, ...] = ()
    faults: tuple[FaultShape, ...] = ()
    command_ticks: int = 1
    """Ticks from one command to the next."""
    compensated: bool = True
    """Sums without loss, for 32-bit numbers."""
    rotors: int = 0
    """How many the vehicle has."""
    imu_delay: int = 0
    """Ticks from a sample of the inertial unit to its being heard."""
    imu_drops: bool = False
    """Whether samples of it are lost."""
    span_m: float = 0.0
    """Wing span that turbulence is averaged over; 0 without wings."""
    catapult: bool = False
    """It starts on the rail of a catapult."""


@dataclass
class FlightParameters:
    """Numbers, each for all lanes or one a lane."""

    aircraft: AircraftParameters
    autopilot: AutopilotParameters | None
    filter: FilterParameters | None
    imu: ImuParameters | None
    imu_link: DeliveryParameters
    imu_key: tuple[Any, Any]
    turbulence_key: tuple[Any, Any]
    devices: dict[str, DeviceNumbers]
    faults: tuple[FaultNumbers, ...]
    fault_key: tuple[Any, Any]
    origin_altitude_m: Scalar
    """Of the world's origin above sea level, which every autopilot knows of its home."""
    declination_rad: Scalar
    reach_down_m: Scalar
    """From the centre of mass to the lowest part."""
    reach_side_m: Scalar
    crash_speed_m_s: Scalar
    """Descent on to the ground that breaks it."""
    catapult: CatapultParameters | None = None
    """As `FlightShape.catapult`."""


@dataclass
class FlightStart:
    """What a scenario says of the start, NumPy or lanes."""

    north_m: Scalar
    east_m: Scalar
    up_m: Scalar
    heading_rad: Scalar
    airspeed_m_s: Scalar
    pitch_rad: Scalar
    flying: Scalar
    """1: rotors turn as given; 0: at rest."""
    rotor_speed_rad_s: tuple[Scalar, ...]
    elevator_rad: Scalar
    charge: Scalar


@dataclass
class FlightState:
    """Everything needed to go on."""

    motion: AircraftState
    rest: AircraftState | None
    """What the sums of the motion have not yet taken up."""
    actuators: Actuators
    """What was commanded last, surfaces as they obeyed."""
    autopilot: Any
    turbulence: TurbulenceState | None
    convection_m_s: Scalar | None
    """How fast turbulence passes; None without."""
    imu: ImuMemory | None
    imu_line: tuple[ImuReading, ...]
    """Samples on their way, the newest first."""
    inertial: ImuReading
    """The newest sample that was heard."""
    inertial_sum: ImuReading
    """Of the samples since the last command began."""
    inertial_count: Scalar
    inertial_stamp_s: Scalar
    """When the newest one was taken, by the unit's clock."""
    imu_held: dict[str, ImuReading]
    filter: FilterState | None
    origin_ned_m: Vec3
    """First fix less the place where it was taken for granted: the filter takes its first fix for where it stands."""
    origin_set: Scalar
    """1 after the first fix."""
    devices: dict[str, DeviceState]
    phase_rad: tuple[Scalar, ...]
    """Angle of each rotor, for its vibration; empty without."""
    delayed: tuple[Any, ...]
    """Commands of before, the newest first, for links that delay."""
    margin: Scalar
    """Of the autopilot's demands now."""
    margin_least: Scalar
    voltage_v: Scalar
    current_a: Scalar
    energy_j: Scalar | None
    """Taken from the supply since the start; None: the battery counts it."""
    low_s: Scalar
    """When the battery warned first; NEVER_S: it has not."""
    dead: Scalar
    """1 once the battery has given up: no motor turns from then on."""
    crash: Scalar
    """A place in CRASHES."""
    impact_m_s: Scalar
    wind_ned_m_s: Vec3
    airspeed_m_s: Scalar
    catapult: CatapultState | None = None
    """As `FlightShape.catapult`."""


CRASHES = ("", "hit the ground too fast", "hit the ground on its side", "came to lie on the ground without its gear")
