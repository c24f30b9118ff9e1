"""What to start on the other side of a link, in lines to copy.

Source: PX4, px4-rc.mavlinksim (TCP 4560 + instance, PX4_SIM_HOSTNAME); ArduPilot, SITL_cmdline.cpp (--sim-port-out and
--sim-address behind -I, which would move the port), tried with master of 2025-12.
Limits: of boats, steering on SERVO1 and throttle on SERVO3 are read, or left and right throttle there with skid
steering. ArduPilot takes an address in numbers only. PX4's port follows from its instance.
Verified by: tests/verification/test_start_lines.py
"""

from __future__ import annotations

import math

from fieldworthy.links import ardupilot, px4_server
from fieldworthy.links.airframe import Airframe, AutopilotKind, airframe_of
from fieldworthy.links.place import place_of
from fieldworthy.links.px4 import FASTEST_USUAL_HZ
from fieldworthy.scenario.schema import Scenario

ANYWHERE = ("0.0.0.0", "::", "")
MOST_INSTANCE = 255


def start_lines(
    kind: str, scenario: Scenario, address: str, instance: int, rate_hz: float, skid: bool = False
) -> list[str]:
    """How the autopilot of a scenario's vehicle is started, and what it must be told.

    address: where we listen, as in `Host.address`. Raises: FieldworthyError for a vehicle without a frame.
    """
    host, _, port = address.split()[-1].rpartition(":")
    here = host.startswith("127.") or host in ("localhost", "::1")
    lines = [f"{scenario.name} listens on {address}" + ("" if here else ", open to the network")]
    ours = "" if here else "THIS_HOST" if host in ANYWHERE else host
    autopilot: AutopilotKind = "px4" if kind == "px4" else "ardupilot"
    start = _px4 if kind == "px4" else _ardupilot
    lines += start(scenario, airframe_of(autopilot, scenario, (), skid), ours, int(port), instance, rate_hz)
    if ours == "THIS_HOST":
        lines.append("THIS_HOST being an address of this machine, in numbers")
    return lines


def _px4(scenario: Scenario, airframe: Airframe, host: str, port: int, instance: int, rate_hz: float) -> list[str]:
    lines = ["start PX4 in an empty folder, BUILD being its build/px4_sitl_default:"]
    if port != px4_server.PORT + instance and 0 <= port - px4_server.PORT <= MOST_INSTANCE:
        instance = port - px4_server.PORT  # it knows no other way to another port
    where = f"PX4_SIM_HOSTNAME={host} " if host else ""
    lines.append(f"  {where}PX4_SIM_MODEL={airframe.px4_model or 'MODEL'} BUILD/bin/px4 -i {instance} -d BUILD/etc")
    if not airframe.px4_model:
        motors = len(airframe.outputs)
        lines.append(
            f"MODEL being an airframe of yours: PX4 has none of {airframe.title} for this link; it needs the "
            f"{motors} rotors (CA_ROTOR_COUNT {motors}) on outputs 1 to {motors} (PWM_MAIN_FUNC1 101 and on)"
        )
    if port != px4_server.PORT + instance:
        lines.append(
            f"PX4 comes to TCP {px4_server.PORT} + instance only: for {port} set simulator_tcp_port in "
            "BUILD/etc/init.d-posix/px4-rc.mavlinksim"
        )
    lines.append(f"ground stations find it on UDP 14550, offboard programs on UDP {14540 + instance}")
    if scenario.start.catapult is not None:
        lines.append("told by a ground station: RWTO_TKOFF 0 (a catapult, not a runway) and FW_THR_MAX 1, and")
        lines.append("MIS_TKO_LAND_REQ 0 for missions that end in the air")
    if rate_hz > FASTEST_USUAL_HZ:
        lines.append(f"at {rate_hz:g} Hz PX4 answers only with IMU_GYRO_RATEMAX = IMU_INTEG_RATE = {rate_hz:g}")
    return lines


def _ardupilot(
    scenario: Scenario, airframe: Airframe, host: str, port: int, instance: int, rate_hz: float
) -> list[str]:
    place = place_of(scenario)
    boat, plane = scenario.vehicle.kind == "boat", airframe.title == "plane"
    binary = "ardurover" if boat else "arduplane" if plane else "arducopter"
    heading = math.fmod(scenario.start.heading_deg, 360.0)
    home = f"{place.lat_deg:.7f},{place.lon_deg:.7f},{place.elevation_m:g},{heading:g}"
    where = f"-I{instance}"
    where += f" --sim-port-out {port}" if port != ardupilot.PORT + 10 * instance else ""
    where += f" --sim-address {host}" if host else ""
    file = "Tools/autotest/default_params/" + ("rover" if boat else "plane" if plane else "copter") + ".parm"
    told = [f"{name} {value:g}" for name, value in airframe.parameters.items()]
    if boat and scenario.sensors.lidar is not None:
        told += ["PRX1_TYPE 2", "OA_TYPE 1"]  # it hears what our LiDAR sees, and plans around it
    lines = [
        "start ArduPilot in an empty folder:",
        f"  {binary} --model JSON {where} --home {home} --speedup 1000 --serial0 tcp:0 --defaults FILE.parm",
        f"ground stations find it on TCP 127.0.0.1:{5760 + 10 * instance}",
        f"FILE.parm being {file} with {', '.join(told)}",
    ]
    if boat:
        skid = airframe.title == "rover skid"
        lines.append(
            "SERVO1 is read as the left throttle, SERVO3 as the right one"
            if skid
            else "SERVO1 is read as the steering, SERVO3 as the throttle"
        )
    if binary == "arducopter" and rate_hz < 720.0:
        most = int(rate_hz / 1.8 / 50.0) * 50
        lines.append(f"at {rate_hz:g} Hz ArduCopter arms only with SCHED_LOOP_RATE {most} or less")
    return lines
