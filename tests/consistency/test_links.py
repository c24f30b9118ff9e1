"""What an autopilot is told over a link is what a batch delivers under the same commands, to the wire's last digit.

A flight through the PX4 link, with everything that it can be told, is decoded from its bytes and compared with the
middle one of three trials side by side. Scales of the wire are written out here: MAVLink common.xml (HIL_SENSOR,
HIL_GPS, DISTANCE_SENSOR, HIL_OPTICAL_FLOW, ODOMETRY), ArduPilot's JSON readme. On the wire stand the bits of a batch
because a trial alone is its row of a batch bit for bit (test_alone.py); so nothing here is approximately equal but what
the wire rounds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastcrc")

from fieldworthy.control.actuation import Actuation
from fieldworthy.control.controller import Command
from fieldworthy.core.subnormal import flushed
from fieldworthy.links.airframe import airframe_of
from fieldworthy.links.ardupilot_senses import FlightSenses
from fieldworthy.links.fake_px4 import FakePx4
from fieldworthy.links.lockstep import Log, fly
from fieldworthy.links.mavlink import FieldsUpdated, Reader
from fieldworthy.links.mavlink_messages import (
    DistanceSensor,
    HilGps,
    HilOpticalFlow,
    HilSensor,
    HilStateQuaternion,
    Odometry,
)
from fieldworthy.links.pace import Pace
from fieldworthy.links.px4 import Px4Link
from fieldworthy.links.px4_senses import EPOCH_US, Px4Senses
from fieldworthy.links.vehicle import build_for, for_autopilot
from fieldworthy.scenario import Scenario, load
from fieldworthy.scenario.build import build
from fieldworthy.world import start
from fieldworthy.world.alone import Alone
from fieldworthy.world.decide import decision_of
from fieldworthy.world.steered import Steered
from fieldworthy.world.walk import advance, frame_of

TRIALS, TRIAL = [3, 7, 11], 7
"""The one in the middle is told to the autopilot."""

FLIGHT = """
schema = 1
name = "told"
trials = 12
seed = 9
duration_s = 60.0
dt_s = 0.001
[vehicle]
model = "x500"
[reference]
lat_deg = 47.397742
lon_deg = 8.545594
[air]
elevation_m = 488.0
wind_speed_m_s = 4.0
wind_from_deg = 250.0
[air.turbulence]
model = "dryden"
[start]
up_m = 6.0
spread_heading_deg = 180.0
[goal]
north_m = 0.0
east_m = 0.0
up_m = 10.0
radius_m = 1.5
hold_s = 60.0
[area]
north_m = [-1000.0, 1000.0]
east_m = [-1000.0, 1000.0]
[sensors.gnss]
model = "neo-m8n"
[sensors.gnss.set]
rate_hz = 10.0
[sensors.magnetometer]
model = "ist8310"
[sensors.magnetometer.set]
jitter_s = 0.004
dropout = 0.2
clock_offset_s = 0.002
[sensors.rangefinder]
model = "lidar-lite-v3"
[sensors.airspeed]
model = "sdp33"
[sensors.optical_flow]
model = "px4flow"
[sensors.odometry]
model = "t265"
[sensors.odometry.set]
noise_vertical_m = 0.02
heading_noise_deg = 0.4
[randomize]
"vehicle.mass_kg" = [1.9, 2.2]
"""

LATENCY_S = {"gnss": 0.12, "magnetometer": 0.01, "optical_flow": 0.02, "odometry": 0.03}
JITTERS = ("gnss", "magnetometer", "odometry")


def throttles(t_s: float) -> tuple[float, ...]:
    """Hovers roughly, and leans this way and that."""
    lean = 0.006 * math.sin(6.0 * t_s)
    return 0.69 + lean, 0.69 - lean, 0.69 + 0.5 * lean, 0.69 - 0.5 * lean


def scenario_in(folder: Path) -> Scenario:
    (folder / "told.toml").write_text(FLIGHT)
    return load(folder / "told.toml")


class Wire:
    """A stream socket without a network, which keeps what was sent, a piece a step."""

    def __init__(self, px4: FakePx4) -> None:
        self._px4, self._coming = px4, px4.hello()
        self.sent: list[bytes] = []

    def settimeout(self, wait_s: float) -> None:
        pass

    def sendall(self, data: bytes) -> None:
        self.sent.append(data)
        pieces = self._px4.hear(data)
        assert pieces is not None
        self._coming += b"".join(piece for piece in pieces if isinstance(piece, bytes))

    def recv(self, size: int) -> bytes:
        if not self._coming:
            raise TimeoutError
        data, self._coming = self._coming[:size], self._coming[size:]
        return data


@dataclass
class Told:
    """One step: what came over the wire, and what the batch says at the same tick."""

    tick: int
    messages: list[Any]
    heard: dict[str, dict[str, float]]
    seen: dict[str, float]
    fresh: dict[str, bool] = field(default_factory=dict)
    """Whether a device's reading has arrived since the step before."""

    def message(self, kind: type[Any]) -> Any:
        """The one of this kind, or None."""
        found = [message for message in self.messages if isinstance(message, kind)]
        assert len(found) <= 1
        return found[0] if found else None


def middle(values: dict[str, Any]) -> dict[str, float]:
    return {name: float(np.asarray(value)[TRIALS.index(TRIAL)]) for name, value in values.items()}


def batch_of(scenario: Scenario, commands: Sequence[Sequence[float]]) -> Iterator[tuple[int, Any, Any]]:
    """(tick, readings of all devices, what is seen), after each command, of the trial among its neighbours."""
    world = build(scenario, TRIALS).world
    state = start(world)
    for command in commands:
        given = Actuation(*(tuple(command[:4]), *command[4:]))
        state, _ = advance(world, state, decision_of(world, state, given))
        yield state.tick, {name: middle(v) for name, v in state.sights.heard.items()}, middle(state.sights.seen)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[Told]:
    """Two seconds through the whole PX4 link, step by step."""
    scenario = for_autopilot(scenario_in(tmp_path_factory.mktemp("told")), "px4")
    px4 = FakePx4(controls=lambda t_s, sensed: throttles(t_s), freewheel=3)
    wire: Any = Wire(px4)
    log = Log(every=0, with_commands=True)
    with flushed():
        alone = Alone(build_for(scenario, "px4", TRIAL).world)
        link = Px4Link(wire, Px4Senses(alone, scenario), airframe_of("px4", scenario, alone.names))
        fly(alone, link, Pace(None), log, stopped=lambda: alone.t_s > 1.9995)
        assert link.late == 0
        assert len(log.commands) == len(wire.sent) == 500
        assert log.commands[10][:4] == pytest.approx(throttles(10 * 0.004), rel=1e-7)  # floats of 32 bits
        reader, steps, before = Reader(), [], {}
        for data, (tick, heard, seen) in zip(wire.sent, batch_of(scenario, log.commands), strict=True):
            step = Told(tick, reader.feed(data), heard, seen)
            for name, values in heard.items():
                stamp = values["stamp_s"]
                step.fresh[name] = not math.isnan(stamp) and stamp != before.get(name)
                before[name] = stamp
            steps.append(step)
    assert (reader.bad_crc, reader.garbage_bytes, reader.waiting_bytes) == (0, 0, 0)
    assert alone.running
    assert 1.0 < alone.value("up_m") < 30.0
    return steps


def f32(*values: float) -> tuple[float, ...]:
    """As the wire holds them."""
    return tuple(float(np.float32(value)) for value in values)


def axes(values: dict[str, float], form: str, letters: str = "xyz", scale: float = 1.0) -> tuple[float, ...]:
    return tuple(scale * values[form.format(letter)] for letter in letters)


def test_every_step_has_one_inertial_reading_last_of_all(told: list[Told]) -> None:
    """m/s² and rad/s as they are; PX4's clock moves by the microseconds of a step."""
    for number, step in enumerate(told):
        sensor, imu = step.message(HilSensor), step.heard["imu"]
        assert step.messages[-1] is sensor
        assert sensor.time_usec == step.tick * 1000 == (number + 1) * 4000
        assert (sensor.xacc, sensor.yacc, sensor.zacc) == f32(*axes(imu, "specific_force_{}_m_s2"))
        assert (sensor.xgyro, sensor.ygyro, sensor.zgyro) == f32(*axes(imu, "rate_{}_rad_s"))
        assert sensor.fields_updated & FieldsUpdated.IMU == FieldsUpdated.IMU


@pytest.mark.parametrize(
    ("device", "bits"),
    [("magnetometer", FieldsUpdated.MAG), ("barometer", FieldsUpdated.BARO), ("airspeed", FieldsUpdated.DIFF_PRESSURE)],
)
def test_fields_of_hil_sensor_are_announced_when_their_reading_arrives(
    told: list[Told], device: str, bits: FieldsUpdated
) -> None:
    """Gauss are 1e-4 T, hectopascals 100 Pa, 0 degC is 273.15 K; the height is that of the standard atmosphere."""
    arrived = 0
    for step in told:
        sensor, values = step.message(HilSensor), step.heard[device]
        assert sensor.fields_updated & bits == (bits if step.fresh[device] else 0), step.tick
        if not step.fresh[device]:
            continue
        arrived += 1
        if device == "magnetometer":
            assert (sensor.xmag, sensor.ymag, sensor.zmag) == f32(*axes(values, "field_{}_t", scale=1e4))
        elif device == "airspeed":
            assert (sensor.diff_pressure,) == f32(values["differential_pa"] * 0.01)
        else:
            assert (sensor.abs_pressure,) == f32(values["pressure_pa"] * 0.01)
            assert (sensor.temperature,) == f32(values["temperature_k"] - 273.15)
            height_m = 44330.77 * (1.0 - (values["pressure_pa"] / 101325.0) ** 0.1902632)  # ISO 2533
            assert sensor.pressure_alt == pytest.approx(height_m, abs=5e-3)
    assert arrived > 60


def test_fixes_of_the_receiver(told: list[Told]) -> None:
    """1e-7 deg, mm above the sea, cm of one sigma, cm/s with z down, 0.01 deg of course."""
    lat_deg, lon_deg = 47.397742, 8.545594
    a, e2 = 6378137.0, 0.00669437999014  # WGS 84
    w = math.sqrt(1.0 - e2 * math.sin(math.radians(lat_deg)) ** 2)
    per_lat, per_lon = (1.0 - e2) * a / w**3, a / w * math.cos(math.radians(lat_deg))
    for step in told:
        gps, values = step.message(HilGps), step.heard["gnss"]
        assert (gps is not None) == step.fresh["gnss"], step.tick
        if gps is None:
            continue
        assert gps.time_usec == EPOCH_US + step.tick * 1000
        # Half a unit of rounding, and what a plane differs from the Earth by within 20 m: 5e-5 m, 0.005 units.
        assert gps.lat == pytest.approx(1e7 * (lat_deg + math.degrees(values["north_m"] / per_lat)), abs=0.51)
        assert gps.lon == pytest.approx(1e7 * (lon_deg + math.degrees(values["east_m"] / per_lon)), abs=0.51)
        assert gps.alt == round(1e3 * (488.0 + values["up_m"]))
        assert (gps.vn, gps.ve, gps.vd) == tuple(
            round(100.0 * v) for v in (values["north_m_s"], values["east_m_s"], -values["up_m_s"])
        )
        assert gps.vel == round(100.0 * math.hypot(values["north_m_s"], values["east_m_s"]))
        if gps.vel > 20:
            course = math.degrees(math.atan2(values["east_m_s"], values["north_m_s"])) % 360.0
            assert gps.cog == pytest.approx(100.0 * course, abs=0.51)
        assert (gps.eph, gps.epv) == tuple(
            round(100.0 * values[f"{which}_sigma_m"]) for which in ("horizontal", "vertical")
        )
        assert (gps.fix_type, gps.satellites_visible) == (3, 12)


def test_distances(told: list[Told]) -> None:
    """Centimetres; down is orientation 25; quality 1 is no signal."""
    for step in told:
        distance, values = step.message(DistanceSensor), step.heard["rangefinder"]
        assert (distance is not None) == step.fresh["rangefinder"], step.tick
        if distance is not None:
            assert distance.current_distance == round(100.0 * values["range_m"])
            if values["valid"] == 1.0:
                assert distance.current_distance == pytest.approx(100.0 * step.seen["up_m"], abs=80.0)
            assert (distance.orientation, distance.time_boot_ms) == (25, step.tick)
            assert distance.signal_quality == (100 if values["valid"] == 1.0 else 1)


def test_optical_flow(told: list[Told]) -> None:
    """Radians about the camera's axes over the microseconds between readings; the sonar's metres; quality of 255."""
    for step in told:
        flow, values = step.message(HilOpticalFlow), step.heard["optical_flow"]
        assert (flow is not None) == step.fresh["optical_flow"], step.tick
        if flow is not None:
            assert flow.time_usec == step.tick * 1000
            assert flow.integration_time_us == 100_000  # it reads at 10 Hz
            assert (flow.integrated_x, flow.integrated_y) == f32(*axes(values, "integrated_{}_rad", "xy"))
            turned = flow.integrated_xgyro, flow.integrated_ygyro, flow.integrated_zgyro
            assert turned == f32(*axes(values, "gyro_{}_rad"))
            assert (flow.distance,) == f32(values["distance_m"])
            assert flow.quality == round(values["quality"])


def test_odometry(told: list[Told]) -> None:
    """Metres with z down, north known (frame 1); speeds along the body (12); variances on the diagonals."""
    for step in told:
        odometry, values = step.message(Odometry), step.heard["odometry"]
        assert (odometry is not None) == step.fresh["odometry"], step.tick
        if odometry is None:
            continue
        assert (odometry.frame_id, odometry.child_frame_id) == (1, 12)
        place = values["north_m"], values["east_m"], -values["up_m"]
        assert (odometry.x, odometry.y, odometry.z) == f32(*place)
        assert odometry.q == f32(*axes(values, "quat_{}", "wxyz"))
        assert (odometry.vx, odometry.vy, odometry.vz) == f32(*axes(values, "vel_{}_m_s"))
        pose, speed = np.zeros((6, 6)), np.zeros((6, 6))
        pose[np.triu_indices(6)], speed[np.triu_indices(6)] = odometry.pose_covariance, odometry.velocity_covariance
        names = ["horizontal_sigma_m"] * 2 + ["vertical_sigma_m"] + ["tilt_sigma_rad"] * 2 + ["heading_sigma_rad"]
        assert tuple(np.diag(pose)) == f32(*(values[name] ** 2 for name in names))
        assert tuple(np.diag(speed)[:3]) == f32(*[values["velocity_sigma_m_s"] ** 2] * 3)
        assert not (pose - np.diag(np.diag(pose))).any()


def test_readings_are_sent_once_and_not_before_their_latency(told: list[Told]) -> None:
    """Stamps tell when a reading was taken: sent in the first step after its latency, later only by jitter."""
    clock_offset_s = {"magnetometer": 0.002}
    for device, latency_s in LATENCY_S.items():
        arrivals = [(step.tick * 1e-3, step.heard[device]["stamp_s"]) for step in told if step.fresh[device]]
        stamps = [stamp - clock_offset_s.get(device, 0.0) for _, stamp in arrivals]
        assert stamps == sorted(set(stamps)), device
        late_s = np.array([t - stamp for (t, _), stamp in zip(arrivals, stamps, strict=True)]) - latency_s
        assert late_s.min() > -1e-9, device
        if device in JITTERS:
            assert late_s.max() > 0.004 + 1e-9, device
        else:
            assert late_s.max() < 0.004 - 1e-9, device
            period_s = float(np.diff(stamps).mean())
            # Every one of them, the first at tick 0 or a period later, that has had the time to arrive.
            assert len(stamps) == math.floor((2.0 - latency_s - stamps[0]) / period_s + 1e-9) + 1, device
    # A lossy link: of 99 readings one in five is lost, binomial with a deviation of 4.0.
    assert abs(sum(step.fresh["magnetometer"] for step in told) - 79) < 16


def test_the_truth_for_the_log(told: list[Told]) -> None:
    """As often as asked for: every 5 ms at steps of 4 ms, so four times in five steps. Quaternion, rad/s, cm/s, mm."""
    sent = 0
    for step in told:
        truth, seen = step.message(HilStateQuaternion), step.seen
        if truth is None:
            continue
        sent += 1
        assert truth.alt == round(1e3 * (488.0 + seen["up_m"]))
        assert (truth.vx, truth.vy, truth.vz) == tuple(
            round(100.0 * v) for v in (seen["north_m_s"], seen["east_m_s"], -seen["up_m_s"])
        )
        assert (truth.rollspeed, truth.pitchspeed, truth.yawspeed) == f32(
            *(seen[f"{axis}_rate_rad_s"] for axis in ("roll", "pitch", "yaw"))
        )
        w, x, y, z = truth.attitude_quaternion
        assert math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) == pytest.approx(
            math.remainder(seen["heading_rad"], 2.0 * math.pi), abs=1e-6
        )
        assert math.asin(2 * (w * y - x * z)) == pytest.approx(seen["pitch_rad"], abs=1e-6)
    assert sent == pytest.approx(2.0 * 200.0, abs=4)


@pytest.mark.slow
def test_ardupilot_is_told_the_same(tmp_path: Path) -> None:
    """Its own reply, ten digits a number, of a trial that computes no device that ArduPilot makes up itself."""
    scenario = for_autopilot(scenario_in(tmp_path), "ardupilot")
    lines, commands, clock_us, last_s = [], [], 0, 0.0
    with flushed():
        world = build_for(scenario, "ardupilot", TRIAL).world
        alone = Alone(world)
        assert "gnss.stamp_s" not in alone.place
        senses = FlightSenses(alone, scenario, "2025-11")
        for _ in range(800):
            commands.append([*throttles(alone.t_s), 0.0, 0.0, 0.0])
            alone.move(commands[-1], world.timing.control)
            lines.append(senses.line())
        for number, (line, (tick, heard, seen)) in enumerate(
            zip(lines, batch_of(scenario, commands), strict=True), start=1
        ):
            said = json.loads(line)
            assert tick == number
            # ArduPilot adds the whole microseconds of each difference: its clock is ours, and not a tick behind.
            clock_us += int((said["timestamp"] - last_s) * 1e6)
            last_s = said["timestamp"]
            assert clock_us == number * 1250
            imu = heard["imu"]
            digits: dict[str, Any] = {"rel": 1e-9, "abs": 1e-12}
            assert said["imu"]["gyro"] == pytest.approx(axes(imu, "rate_{}_rad_s"), **digits)
            assert said["imu"]["accel_body"] == pytest.approx(axes(imu, "specific_force_{}_m_s2"), **digits)
            place = seen["north_m"], seen["east_m"], -seen["up_m"]
            assert said["position"] == pytest.approx(place, **digits)
            speed = seen["north_m_s"], seen["east_m_s"], -seen["up_m_s"]
            assert said["velocity"] == pytest.approx(speed, **digits)
            roll, pitch, yaw = said["attitude"]
            assert (roll, pitch) == pytest.approx((seen["roll_rad"], seen["pitch_rad"]), abs=1e-9)
            assert math.cos(yaw - seen["heading_rad"]) == pytest.approx(1.0, abs=1e-12)
            wind = seen["wind_north_m_s"], seen["wind_east_m_s"], -seen["wind_up_m_s"]
            assert said["velocity_wind"] == pytest.approx(wind, **digits)
            assert said["battery"] == pytest.approx({"voltage": seen["voltage_v"], "current": seen["current_a"]})
            finder, pitot = heard["rangefinder"], heard["airspeed"]
            assert ("rng_1" in said) == (not math.isnan(finder["stamp_s"]))
            if "rng_1" in said:
                assert said["rng_1"] == pytest.approx(finder["range_m"], **digits)
            assert ("airspeed" in said) == (not math.isnan(pitot["stamp_s"]))
            if "airspeed" in said and pitot["airspeed_m_s"] > 0.5:
                # True over calibrated airspeed: the root of 1.225 over the density at 494 m, 1.1675 kg/m³ (ISO 2533).
                assert said["airspeed"] / pitot["airspeed_m_s"] == pytest.approx(math.sqrt(1.225 / 1.1675), abs=2e-3)


def test_steered_is_alone_and_the_batch(tmp_path: Path) -> None:
    """What moves a world with LiDAR moves one without to the same bits."""
    scenario = for_autopilot(scenario_in(tmp_path), "px4")
    with flushed():
        steered, alone = (moves(build_for(scenario, "px4", TRIAL).world) for moves in (Steered, Alone))
        assert steered.names == alone.names
        for again in range(2):
            commands = [[*throttles(0.004 * i), 0.0, 0.0, 0.0] for i in range(100)]
            for command, (tick, heard, seen) in zip(commands, batch_of(scenario, commands), strict=True):
                for vehicle in (steered, alone):
                    vehicle.move(command, 4)
                    assert vehicle.tick == tick
                assert steered.place.keys() <= alone.place.keys()
                for name in steered.place:
                    np.testing.assert_array_equal(steered.value(name), alone.value(name), err_msg=name)
                for name, value in seen.items():
                    np.testing.assert_array_equal(steered.value(name), value, err_msg=name)
                for device, values in heard.items():
                    for name, value in values.items():
                        np.testing.assert_array_equal(steered.value(f"{device}.{name}"), value, err_msg=name)
            assert (steered.t_s, steered.standing, steered.running) == (alone.t_s, alone.standing, alone.running)
            assert steered.heard() == alone.heard()
            assert steered.heard().keys() >= {"imu", "gnss", "rangefinder", "odometry"}
            ours, theirs = steered.frame(commands[-1]), alone.frame(commands[-1])
            assert (ours.tick, ours.values.keys()) == (theirs.tick, theirs.values.keys())
            for name, values in ours.values.items():
                np.testing.assert_array_equal(values, theirs.values[name], err_msg=name)
                assert values.dtype == theirs.values[name].dtype
            if not again:
                steered.rewind()
                alone.rewind()
                assert steered.tick == alone.tick == 0


def test_a_steered_boat_sees_what_its_row_of_a_batch_sees() -> None:
    scenario = for_autopilot(load("rover-boat", []), "ardupilot")
    with flushed():
        world = build(scenario, TRIALS).world
        batch, steered, sweeps = start(world), Steered(build_for(scenario, "ardupilot", TRIAL).world), 0
        first = steered.sweep()
        assert first is not None
        assert steered.sweep() is None, "told once"
        for step in range(250):
            given = [2.0 + 0.01 * step, 0.2 * math.sin(0.05 * step)]
            steered.move(given, world.timing.control)
            before = batch.scan
            batch, _ = advance(world, batch, decision_of(world, batch, Command(*given)))
            sweep = steered.sweep()
            assert (sweep is not None) == (batch.scan is not before), step
            if sweep is not None:
                sweeps += 1
                ranges = np.stack([np.asarray(channel) for channel in batch.scan.range_m], axis=-1)
                one = ranges.reshape(len(TRIALS), -1, ranges.shape[-1])[1]
                np.testing.assert_array_equal(sweep.range_m[0], one)
            theirs = frame_of(world, batch).values
            for name, values in steered.frame(given).values.items():
                if not name.startswith("cmd_"):
                    np.testing.assert_array_equal(values[0], theirs[name][1], err_msg=f"{name} at {step}")
    assert sweeps >= 20
