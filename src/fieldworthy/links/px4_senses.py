"""What PX4 is told at one tick: the devices' readings as they have arrived, and the truth for its log.

One call makes the bytes of a step: whatever PX4 stamps by its own clock first, HIL_SENSOR last, since with it that
clock moves on and PX4 goes to work.

Source: PX4, SimulatorMavlink.cpp (which groups it takes, and that a group counts only with all of its bits).
Frames: body FRD, world NED; the scenario's reference point carries them to WGS 84.
Limits: one unit of each kind. A reading is sent once, in the step in which it arrives. Receivers do not count
satellites: 12 with a fix, 0 without.
Verified by: tests/verification/test_px4_link.py, tests/cases/test_px4_recording.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.vec import quat_from_euler_zyx
from fieldworthy.environment.atmosphere import pressure_altitude_m
from fieldworthy.links.mavlink import FieldsUpdated, Writer
from fieldworthy.links.place import place_of
from fieldworthy.links.vehicle import whole_us
from fieldworthy.scenario.schema import Scenario
from fieldworthy.world.one_trial import OneTrial

EPOCH_US = 1_767_225_600_000_000
"""UTC at tick 0, 2026-01-01: the same in every run, so that runs repeat."""

TRUTH_HZ = 50.0
RC_HZ = 10.0
_SATELLITES = 12


class Px4Senses:
    """Makes the bytes of a step for one vehicle.

    Raises: FieldworthyError for a vehicle without inertial unit, or a step that is no whole number of microseconds.
    """

    def __init__(self, vehicle: OneTrial, scenario: Scenario, rc_us: Sequence[float] = ()) -> None:
        """rc_us: pulses of a remote control that nobody moves; none without."""
        where = vehicle.place
        check_px4(scenario)
        self._vehicle, self._place, self._rc_us = vehicle, place_of(scenario), rc_us
        self._range_m = _limits_m(scenario)
        self._tick_us = whole_us(vehicle.world.timing.dt_s) or 0
        self._writer = Writer()
        axes = [f"imu.{of}" for of in ("specific_force_{}_m_s2", "rate_{}_rad_s")]
        self._imu = [where[of.format(axis)] for of in axes for axis in "xyz"]
        told = {
            "magnetometer": self._magnetometer, "barometer": self._barometer, "airspeed": self._airspeed,
            "gnss": self._gnss, "rangefinder": self._rangefinder, "optical_flow": self._optical_flow,
            "odometry": self._odometry,
        }  # fmt: skip
        self._devices: list[tuple[str, int, Callable[[], bytes]]] = [
            (name, where[f"{name}.stamp_s"], tell) for name, tell in told.items() if f"{name}.stamp_s" in where
        ]
        self._stamps: dict[str, float] = {}
        self._truth_ticks, self._rc_ticks = self._ticks(TRUTH_HZ), self._ticks(RC_HZ)
        self._truth_at = self._rc_at = 0
        self._truth_before = (0.0, (0.0, 0.0, 0.0))
        self._fields = 0
        self._mag_gauss = (0.0, 0.0, 0.0)
        self._pressure_hpa = self._pressure_alt_m = self._temperature_degc = self._differential_hpa = 0.0
        self.sent: dict[str, int] = {}
        """Readings sent so far, by device."""

    @property
    def period_s(self) -> float:
        """Time from one HIL_SENSOR to the next."""
        return self._vehicle.world.timing.control * self._vehicle.world.timing.dt_s

    @property
    def time_us(self) -> int:
        """PX4's clock at the vehicle's tick."""
        return self._vehicle.tick * self._tick_us

    def set_truth_rate(self, rate_hz: float) -> None:
        """Send HIL_STATE_QUATERNION so often, as PX4 may ask for; 0: never."""
        self._truth_ticks = self._ticks(rate_hz) if rate_hz > 0.0 else 0

    def frames(self) -> bytes:
        """Everything that PX4 is told at this tick.

        Raises: WireValueError where a reading is not finite.
        """
        vehicle, stamps, before = self._vehicle, self._stamps, b""
        numbers, tick = vehicle.numbers, vehicle.tick
        self._fields = int(FieldsUpdated.IMU)
        for name, at, tell in self._devices:
            stamp = numbers[at]
            if stamp == stamp and stamp != stamps.get(name):  # NaN: nothing has arrived yet
                stamps[name] = stamp
                self.sent[name] = self.sent.get(name, 0) + 1
                before += tell()
        if self._truth_ticks and tick >= self._truth_at:
            self._truth_at = max(self._truth_at + self._truth_ticks, tick + 1)
            before += self._truth()
        if self._rc_us and tick >= self._rc_at:
            self._rc_at = max(self._rc_at + self._rc_ticks, tick + 1)
            before += self._writer.rc_channels(time_boot_ms=self.time_us // 1000, pulses_us=self._rc_us)
        ax, ay, az, gx, gy, gz = [numbers[i] for i in self._imu]
        return before + self._writer.hil_sensor(
            time_us=self.time_us, accel_frd_m_s2=(ax, ay, az), gyro_frd_rad_s=(gx, gy, gz),
            mag_frd_gauss=self._mag_gauss, abs_pressure_hpa=self._pressure_hpa,
            diff_pressure_hpa=self._differential_hpa, pressure_alt_m=self._pressure_alt_m,
            temperature_degc=self._temperature_degc, fields_updated=self._fields,
        )  # fmt: skip

    def _ticks(self, rate_hz: float) -> int:
        return max(1, round(1.0 / (rate_hz * self._vehicle.world.timing.dt_s)))

    def _magnetometer(self) -> bytes:
        value = self._vehicle.value
        x, y, z = (1e4 * value(f"magnetometer.field_{axis}_t") for axis in "xyz")
        self._mag_gauss = (x, y, z)
        self._fields |= FieldsUpdated.MAG
        return b""

    def _barometer(self) -> bytes:
        value = self._vehicle.value
        pressure_pa = value("barometer.pressure_pa")
        self._pressure_hpa, self._pressure_alt_m = 0.01 * pressure_pa, pressure_altitude_m(pressure_pa)
        self._temperature_degc = value("barometer.temperature_k") - 273.15
        self._fields |= FieldsUpdated.BARO
        return b""

    def _airspeed(self) -> bytes:
        self._differential_hpa = 0.01 * self._vehicle.value("airspeed.differential_pa")
        self._fields |= FieldsUpdated.DIFF_PRESSURE
        return b""

    def _gnss(self) -> bytes:
        value = self._vehicle.value
        fix = value("gnss.fix")
        if fix < 0.5:
            lat, lon, alt = self._place.geodetic(0.0, 0.0, 0.0)
            return self._writer.hil_gps(
                time_us=EPOCH_US + self.time_us, lat_deg=lat, lon_deg=lon, alt_m=alt, vel_ned_m_s=(0.0, 0.0, 0.0),
                eph_m=100.0, epv_m=100.0, fix_type=0, satellites=0,
            )  # fmt: skip
        lat, lon, alt = self._place.geodetic(*(value(f"gnss.{axis}_m") for axis in ("north", "east", "up")))
        north, east, up = (value(f"gnss.{axis}_m_s") for axis in ("north", "east", "up"))
        speed = math.hypot(north, east)
        return self._writer.hil_gps(
            time_us=EPOCH_US + self.time_us, lat_deg=lat, lon_deg=lon, alt_m=alt, vel_ned_m_s=(north, east, -up),
            ground_speed_m_s=speed, course_rad=math.atan2(east, north) if speed > 0.1 else math.nan,
            eph_m=value("gnss.horizontal_sigma_m"), epv_m=value("gnss.vertical_sigma_m"),
            fix_type=_FIX_TYPE[round(fix)], satellites=_SATELLITES,
        )  # fmt: skip

    def _rangefinder(self) -> bytes:
        value, least, most = self._vehicle.value, *self._range_m
        valid = value("rangefinder.valid") > 0.5
        return self._writer.distance_sensor(
            time_boot_ms=self.time_us // 1000, distance_m=value("rangefinder.range_m"), min_m=least, max_m=most,
            signal_quality=100 if valid else 1,
        )  # fmt: skip

    def _optical_flow(self) -> bytes:
        value = self._vehicle.value
        return self._writer.hil_optical_flow(
            time_us=self.time_us, integration_time_us=round(1e6 * value("optical_flow.period_s")),
            flow_rad=[value(f"optical_flow.integrated_{axis}_rad") for axis in "xy"],
            gyro_rad=[value(f"optical_flow.gyro_{axis}_rad") for axis in "xyz"],
            distance_m=value("optical_flow.distance_m"), quality=round(value("optical_flow.quality")),
        )  # fmt: skip

    def _odometry(self) -> bytes:
        value = self._vehicle.value
        if value("odometry.valid") < 0.5:
            return b""
        across, down, speed, tilt, heading = (
            value(f"odometry.{name}") ** 2
            for name in (
                "horizontal_sigma_m", "vertical_sigma_m", "velocity_sigma_m_s", "tilt_sigma_rad", "heading_sigma_rad"
            )
        )  # fmt: skip
        north, east, up = (value(f"odometry.{name}_m") for name in ("north", "east", "up"))
        return self._writer.odometry(
            time_us=self.time_us, pos_ned_m=(north, east, -up),
            quat_ned_from_frd=[value(f"odometry.quat_{part}") for part in "wxyz"],
            vel_frd_m_s=[value(f"odometry.vel_{axis}_m_s") for axis in "xyz"],
            rate_frd_rad_s=(math.nan, math.nan, math.nan),
            pose_covariance=_diagonal(across, across, down, tilt, tilt, heading),
            velocity_covariance=_diagonal(speed, speed, speed, math.nan, math.nan, math.nan),
        )  # fmt: skip

    def _truth(self) -> bytes:
        value = self._vehicle.value
        lat, lon, alt = self._place.geodetic(value("north_m"), value("east_m"), value("up_m"))
        quat = quat_from_euler_zyx(value("roll_rad"), value("pitch_rad"), value("heading_rad"))
        velocity = (value("north_m_s"), value("east_m_s"), -value("up_m_s"))
        t_s, (before_s, before) = self._vehicle.t_s, self._truth_before
        self._truth_before = t_s, velocity
        gone_s = t_s - before_s
        accel = [(v - u) / gone_s if gone_s > 0.0 else 0.0 for v, u in zip(velocity, before, strict=True)]
        return self._writer.hil_state_quaternion(
            time_us=self.time_us, quat_ned_from_frd=quat,
            rate_frd_rad_s=[value(f"{axis}_rate_rad_s") for axis in ("roll", "pitch", "yaw")], lat_deg=lat, lon_deg=lon,
            alt_m=alt, vel_ned_m_s=velocity,
            indicated_airspeed_m_s=value("airspeed_m_s"), true_airspeed_m_s=value("airspeed_m_s"),
            accel_ned_m_s2=accel,
        )  # fmt: skip


_FIX_TYPE = (0, 3, 5, 6)
"""GPS_FIX_TYPE of NO_FIX, SINGLE, RTK_FLOAT and RTK_FIXED."""


def _diagonal(*variances: float) -> list[float]:
    """The upper triangle, row by row, of a 6x6 matrix with nothing beside its diagonal."""
    return [variances[row] if row == column else 0.0 for row in range(6) for column in range(row, 6)]


def _limits_m(scenario: Scenario) -> tuple[float, float]:
    """The least and the greatest distance of the range finder."""
    finder = scenario.sensors.rangefinder
    return (finder.values["range_min_m"], finder.values["range_max_m"]) if finder is not None else (0.0, 0.0)


def check_px4(scenario: Scenario) -> None:
    """Whether PX4 can be told of a vehicle of this scenario.

    Raises: FieldworthyError for a vehicle without inertial unit, or a step that is no whole number of microseconds.
    """
    if scenario.sensors.imu is None:
        raise FieldworthyError(f"{scenario.name} has no inertial unit, and PX4 needs one; valid: a table [sensors.imu]")
    if whole_us(scenario.dt_s) is None:
        raise FieldworthyError(
            f"dt_s = {scenario.dt_s:g} of {scenario.name} is no whole number of microseconds, PX4's clock; valid: such "
            "as 0.001"
        )
