"""What to start on the other side of a link, in lines to copy."""

from __future__ import annotations

import math

from fieldworthy.links.place import place_of
from fieldworthy.links.px4 import FASTEST_USUAL_HZ
from fieldworthy.scenario.schema import Scenario


def start_lines(kind: str, scenario: Scenario, address: str, instance: int, rate_hz: float) -> list[str]:
    """How the autopilot of a scenario's vehicle is started, and what it must be told."""
    host = address.rpartition(":")[0].split()[-1]
    lines = [f"{scenario.name} listens on {address}" + ("" if host.startswith("127.") else ", open to the network")]
    start = _px4(scenario, instance, rate_hz) if kind == "px4" else _ardupilot(scenario, instance, rate_hz)
    return [*lines, *start]


def _px4(scenario: Scenario, instance: int, rate_hz: float) -> list[str]:
    model = "none_iris" if scenario.vehicle.values.get("autopilot") == "multirotor" else "gazebo-classic_plane"
    lines = [
        "start PX4 in an empty folder, BUILD being its build/px4_sitl_default:",
        f"  PX4_SIM_MODEL={model} BUILD/bin/px4 -i {instance} -d BUILD/etc",
        f"ground stations find it on UDP 14550, offboard programs on UDP {14540 + instance}",
    ]
    if scenario.start.catapult is not None:
        lines.append("told by a ground station: RWTO_TKOFF 0 (a catapult, not a runway) and FW_THR_MAX 1, and")
        lines.append("MIS_TKO_LAND_REQ 0 for missions that end in the air")
    if rate_hz > FASTEST_USUAL_HZ:
        lines.append(f"at {rate_hz:g} Hz PX4 answers only with IMU_GYRO_RATEMAX = IMU_INTEG_RATE = {rate_hz:g}")
    return lines


def _ardupilot(scenario: Scenario, instance: int, rate_hz: float) -> list[str]:
    place = place_of(scenario)
    boat, plane = scenario.vehicle.kind == "boat", scenario.vehicle.values.get("autopilot") == "fixed-wing"
    binary = "ardurover" if boat else "arduplane" if plane else "arducopter"
    heading = math.fmod(scenario.start.heading_deg, 360.0)
    home = f"{place.lat_deg:.7f},{place.lon_deg:.7f},{place.elevation_m:g},{heading:g}"
    lines = [
        "start ArduPilot in an empty folder:",
        f"  {binary} --model JSON -I{instance} --home {home} --speedup 1000 --serial0 tcp:0 --defaults FILE.parm",
        f"ground stations find it on TCP 127.0.0.1:{5760 + 10 * instance}",
    ]
    if binary == "arducopter":
        lines.append("FILE.parm being Tools/autotest/default_params/copter.parm with FRAME_TYPE 1 (X)")
        if rate_hz < 720.0:
            most = int(rate_hz / 1.8 / 50.0) * 50
            lines.append(f"at {rate_hz:g} Hz ArduCopter arms only with SCHED_LOOP_RATE {most} or less")
    if plane:
        lines.append(
            "FILE.parm being Tools/autotest/default_params/plane.parm with SERVO3_MIN 1100 and SERVO3_MAX 1900"
        )
    if boat:
        lines.append("FILE.parm being Tools/autotest/default_params/rover.parm with FRAME_CLASS 2 (boat)")
    return lines
