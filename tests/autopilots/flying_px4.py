#!/usr/bin/env python3
"""A small autopilot that tests start in the place of PX4: `flying_px4.py -i INSTANCE -d ETC`.

To a simulator on TCP 4560 + instance and a ground station on UDP 14580 + instance it behaves like PX4, as far as our
side asks: lockstep, mission upload, arming, AUTO.MISSION. It flies a quad x by the truth that it is told and by the
gyro: position, velocity, attitude, rate, one loop inside the other. Each message of the ground station is answered
before the step is, so a flight does not depend on how fast the machine is. Parameters are only kept.

Environment: FLYING_PX4_DENIES=TEXT (arming, with this text), _REFUSES_MISSION=1, _SAYS=TEXT (and ends at once),
_NEVER_COMES=1, _EXITS_AT_S=T, _SILENT_AT_S=T, _DISARMS_AT_S=T (simulated time since arming).
Source: PX4, SimulatorMavlink.cpp, px4_custom_mode.h; MAVLink guide, "Mission Protocol".
Long because a script that is started as a program is one file.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import sys
import time
from typing import Any

from pymavlink.dialects.v20 import common as m

from fieldworthy.links.mavlink import Reader, Writer
from fieldworthy.links.mavlink_messages import HilSensor, HilStateQuaternion

EARTH_M = 6_371_000.0
GRAVITY = 9.80665
ARM_M, TORQUE_RATIO_M, THRUST_N_S2, SPEED_MAX_RAD_S = 0.174, 0.016, 1.08e-5, 1000.0
INERTIA_KG_M2, MASS_KG = (0.0143, 0.0143, 0.026), 2.0
MOTORS = ((1, 1, 1), (-1, -1, 1), (1, -1, -1), (-1, 1, -1))
"""Signs of (forward, right, spin) of PX4's quad x."""
TILT_MAX_RAD = math.radians(35.0)
USUAL_SPEED_M_S, CLIMB_M_S, RADIUS_M = 5.0, 3.0, 2.0
FREEWHEEL = 15
MISSION_MODE, HOLD_MODE = 4 << 16 | 4 << 24, 4 << 16 | 3 << 24
ARMED, ENABLED = 128, 1

Vector = tuple[float, float, float]


def wish(name: str) -> str:
    return os.environ.get(f"FLYING_PX4_{name}", "")


def wished_s(name: str) -> float:
    return float(wish(name) or "inf")


def cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def clip(value: float, most: float) -> float:
    return min(max(value, -most), most)


class Loops:
    """From where to go to what the motors do."""

    def __init__(self) -> None:
        self.integral = [0.0, 0.0, 0.0]

    def motors(
        self, error_ned_m: Vector, speed_m_s: float, vel_ned: Vector, quat: Any, gyro: Vector, dt_s: float
    ) -> list[float]:
        """Throttles. quat: NED from FRD."""
        n, e, d = error_ned_m
        far = math.hypot(n, e)
        along = min(far, speed_m_s) / far if far > 1e-9 else 0.0
        wanted = (along * n, along * e, clip(1.2 * d, CLIMB_M_S))
        force = [0.0, 0.0, 0.0]
        for i in range(3):
            off = clip(wanted[i] - vel_ned[i], 3.0)
            self.integral[i] = clip(self.integral[i] + 0.5 * off * dt_s, 4.0)
            force[i] = 2.5 * off + self.integral[i]
        up = max(GRAVITY - force[2], 3.0)
        level = math.hypot(force[0], force[1])
        shrink = min(1.0, up * math.tan(TILT_MAX_RAD) / level) if level > 1e-9 else 1.0
        # The way that the rotors push, from NED into the body by the transposed matrix of the quaternion.
        x, y, z = shrink * force[0], shrink * force[1], -up
        w, i, j, k = quat
        push = (
            (1 - 2 * (j * j + k * k)) * x + 2 * (i * j + k * w) * y + 2 * (i * k - j * w) * z,
            2 * (i * j - k * w) * x + (1 - 2 * (i * i + k * k)) * y + 2 * (j * k + i * w) * z,
            2 * (i * k + j * w) * x + 2 * (j * k - i * w) * y + (1 - 2 * (i * i + j * j)) * z,
        )
        size = math.sqrt(sum(part * part for part in push))
        turn = cross((0.0, 0.0, -1.0), (push[0] / size, push[1] / size, push[2] / size))
        heading = math.atan2(2 * (w * k + i * j), 1 - 2 * (j * j + k * k))
        rates = (clip(6.0 * turn[0], 4.0), clip(6.0 * turn[1], 4.0), clip(-1.5 * heading, 1.0))
        gains = (18.0, 18.0, 6.0)
        roll, pitch, yaw = (INERTIA_KG_M2[i] * gains[i] * (rates[i] - gyro[i]) for i in range(3))
        lift = MASS_KG * max(-push[2], 2.0)
        found = []
        for forward, right, spin in MOTORS:
            thrust = lift - right * roll / ARM_M + forward * pitch / ARM_M + spin * clip(yaw, 0.1) / TORQUE_RATIO_M
            found.append(min(max(math.sqrt(max(thrust, 0.0) / 4.0 / THRUST_N_S2) / SPEED_MAX_RAD_S, 0.05), 1.0))
        return found


class Mission:
    """Items as they were uploaded, and which one is flown."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.current, self.speed_m_s, self.since_s = 0, USUAL_SPEED_M_S, None
        self.done = False

    def target(self, autopilot: Autopilot) -> Vector:
        """Of the item that is flown: (latitude [deg], longitude [deg], height above home [m])."""
        item = self.items[self.current]
        while item.command == m.MAV_CMD_DO_CHANGE_SPEED:
            self.speed_m_s = item.param2
            self.current += 1
            item = self.items[self.current]
        north, east, down = autopilot.error_m((item.x * 1e-7, item.y * 1e-7, item.z))
        radius = (item.param2 if item.command == m.MAV_CMD_NAV_WAYPOINT else 0.0) or RADIUS_M
        if math.hypot(north, east, down) < radius and item.command != m.MAV_CMD_NAV_LOITER_UNLIM:
            hold_s = item.param1 if item.command == m.MAV_CMD_NAV_WAYPOINT else 0.0
            self.since_s = autopilot.t_s if self.since_s is None else self.since_s
            if autopilot.t_s - self.since_s >= hold_s:
                self.since_s = None
                autopilot.ground.send(m.MAVLink_mission_item_reached_message(self.current))
                if self.current + 1 < len(self.items):
                    self.current += 1
                    return self.target(autopilot)
        self.done = item.command == m.MAV_CMD_NAV_LOITER_UNLIM
        return item.x * 1e-7, item.y * 1e-7, item.z


class Ground:
    """What it says to a ground station and hears from it."""

    def __init__(self, instance: int) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 14580 + instance))
        self._socket.setblocking(False)
        self._partner = ("127.0.0.1", 14540 + instance) if instance < 10 else None
        self._mav = m.MAVLink(None, srcSystem=instance + 1, srcComponent=1)
        self._next_s = 0.0
        self._count = 0
        self._coming: list[Any] = []
        self.parameters = {
            name.removeprefix("PX4_PARAM_"): float(value)
            for name, value in os.environ.items()
            if name.startswith("PX4_PARAM_")
        }
        """Those that it was started with: it knows no others."""

    def send(self, message: Any) -> None:
        data = message.pack(self._mav)
        if self._partner is not None:
            with contextlib.suppress(OSError):
                self._socket.sendto(data, self._partner)

    def text(self, words: str, severity: int) -> None:
        self.send(m.MAVLink_statustext_message(severity, words.encode()[:50]))

    def listen(self, autopilot: Autopilot) -> None:
        while True:
            try:
                data, self._partner = self._socket.recvfrom(65536)
            except OSError:
                return
            for message in self._mav.parse_buffer(bytearray(data)) or []:
                self._obey(autopilot, message)

    def tell(self, autopilot: Autopilot) -> None:
        """All streams, five times a second."""
        now = autopilot.t_s
        if now < self._next_s:
            return
        self._next_s = now + 0.2
        boot_ms, (lat, lon, alt) = round(now * 1e3), autopilot.place
        at = round(lat * 1e7), round(lon * 1e7)
        home = autopilot.home
        base = ENABLED | (ARMED if autopilot.armed else 0)
        self.send(m.MAVLink_heartbeat_message(m.MAV_TYPE_QUADROTOR, 12, base, autopilot.mode, 4, 3))
        self.send(m.MAVLink_system_time_message(0, boot_ms))
        self.send(m.MAVLink_extended_sys_state_message(0, 2 if alt - home[2] > 0.3 else 1))
        flags = 16 if now > 2.0 else 0
        self.send(m.MAVLink_estimator_status_message(round(now * 1e6), flags, *[0.0] * 8))
        above_mm = round(1e3 * (alt - home[2]))
        self.send(m.MAVLink_global_position_int_message(boot_ms, *at, round(alt * 1e3), above_mm, 0, 0, 0, 65535))
        if now > 2.0:
            lat0, lon0 = round(home[0] * 1e7), round(home[1] * 1e7)
            q = [1.0, 0.0, 0.0, 0.0]
            self.send(m.MAVLink_home_position_message(lat0, lon0, round(home[2] * 1e3), 0, 0, 0, q, 0, 0, 0))
        mission = autopilot.mission
        if mission.items:
            state = 5 if mission.done else 3
            self.send(m.MAVLink_mission_current_message(mission.current, len(mission.items), state))

    def _obey(self, autopilot: Autopilot, message: Any) -> None:
        kind = message.get_type()
        if kind == "COMMAND_LONG":
            self.send(m.MAVLink_command_ack_message(message.command, autopilot.command(message)))
        elif kind in ("PARAM_REQUEST_READ", "PARAM_SET") and message.param_id in self.parameters:
            if kind == "PARAM_SET":
                self.parameters[message.param_id] = message.param_value
            value, key = self.parameters[message.param_id], message.param_id.encode()
            self.send(m.MAVLink_param_value_message(key, value, m.MAV_PARAM_TYPE_REAL32, len(self.parameters), 0))
        elif kind == "MISSION_COUNT":
            self._count, self._coming = message.count, []
            self._ask()
        elif kind == "MISSION_ITEM_INT" and message.seq == len(self._coming):
            self._coming.append(message)
            self._ask()

    def _ask(self) -> None:
        if wish("REFUSES_MISSION"):
            self.text("Mission rejected: first waypoint too far", 3)
            self.send(m.MAVLink_mission_ack_message(255, 190, m.MAV_MISSION_INVALID_PARAM2))
        elif len(self._coming) < self._count:
            self.send(m.MAVLink_mission_request_int_message(255, 190, len(self._coming)))
        else:
            autopilot.mission.items = self._coming
            self.send(m.MAVLink_mission_ack_message(255, 190, m.MAV_MISSION_ACCEPTED))


class Autopilot:
    """One step an answer."""

    def __init__(self, instance: int) -> None:
        self.ground, self.mission, self._loops = Ground(instance), Mission(), Loops()
        self.t_s, self.armed, self.mode, self._armed_s = 0.0, False, HOLD_MODE, math.inf
        self.place = self.home = (0.0, 0.0, 0.0)
        self._truth: HilStateQuaternion | None = None

    def see(self, truth: HilStateQuaternion) -> None:
        self._truth = truth
        self.place = truth.lat * 1e-7, truth.lon * 1e-7, truth.alt * 1e-3
        if not self.armed:
            self.home = self.place

    def step(self, sensor: HilSensor) -> list[float]:
        """Motors; empty while disarmed."""
        dt_s, self.t_s = sensor.time_usec * 1e-6 - self.t_s, sensor.time_usec * 1e-6
        self.ground.listen(self)
        self.ground.tell(self)
        flown_s = self.t_s - self._armed_s
        if flown_s >= wished_s("EXITS_AT_S"):
            print("PX4 Exiting: a segmentation fault, say", flush=True)
            sys.exit(7)
        if flown_s >= wished_s("DISARMS_AT_S"):
            self.armed = False
        if not self.armed or self._truth is None or self.mode != MISSION_MODE:
            return []
        truth = self._truth
        error = self.error_m(self.mission.target(self))
        velocity = truth.vx * 0.01, truth.vy * 0.01, truth.vz * 0.01
        gyro = sensor.xgyro, sensor.ygyro, sensor.zgyro
        return self._loops.motors(error, self.mission.speed_m_s, velocity, truth.attitude_quaternion, gyro, dt_s)

    def silent(self) -> bool:
        return self.t_s - self._armed_s >= wished_s("SILENT_AT_S")

    def error_m(self, target: Vector) -> Vector:
        """From here to the target, NED."""
        lat, lon, up = target
        north = math.radians(lat - self.place[0]) * EARTH_M
        east = math.radians(lon - self.place[1]) * EARTH_M * math.cos(math.radians(lat))
        return north, east, self.place[2] - self.home[2] - up

    def command(self, message: Any) -> int:
        """Obey, and say how that went."""
        if message.command == m.MAV_CMD_DO_SET_MODE:
            self.mode = int(message.param2) << 16 | int(message.param3) << 24
        elif message.command == m.MAV_CMD_COMPONENT_ARM_DISARM:
            if wish("DENIES"):
                self.ground.text(wish("DENIES"), 4)
                return int(m.MAV_RESULT_TEMPORARILY_REJECTED)
            self.armed, self._armed_s = True, self.t_s
            self.ground.text("Armed by external command", 6)
        elif message.command != m.MAV_CMD_SET_MESSAGE_INTERVAL:
            return int(m.MAV_RESULT_UNSUPPORTED)
        return int(m.MAV_RESULT_ACCEPTED)


def connected(port: int) -> socket.socket:
    while True:
        stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if stream.connect_ex(("127.0.0.1", port)) == 0 and stream.getsockname() != stream.getpeername():
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return stream
        stream.close()
        time.sleep(0.002)


if __name__ == "__main__":
    number = int(sys.argv[sys.argv.index("-i") + 1])
    print(f"flying_px4, instance {number}, airframe {os.environ['PX4_SIM_MODEL']}", flush=True)
    if wish("SAYS"):
        print(wish("SAYS"), flush=True)
        sys.exit(1)
    while wish("NEVER_COMES"):
        print("Waiting for simulator to accept connection", flush=True)
        time.sleep(60.0)
    autopilot, reader, writer = Autopilot(number), Reader(), Writer(number + 1, 1)
    simulator = connected(4560 + number)
    simulator.sendall(writer.command_long(command=511, params=(115.0, 4000.0)))
    simulator.sendall(writer.heartbeat(vehicle_type=2, autopilot=12))
    heard = 0
    while data := simulator.recv(65536):
        for message in reader.feed(data):
            if isinstance(message, HilStateQuaternion):
                autopilot.see(message)
            elif isinstance(message, HilSensor):
                heard += 1
                motors = autopilot.step(message)
                if heard > FREEWHEEL and not autopilot.silent():
                    mode = ENABLED | (ARMED if autopilot.armed else 0)
                    frame = writer.hil_actuator_controls(time_us=message.time_usec, controls=motors, mode=mode)
                    simulator.sendall(frame)
    while True:  # like PX4, whose simulator has closed the socket: it neither quits nor connects again
        time.sleep(60.0)
