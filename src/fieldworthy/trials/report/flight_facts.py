"""How a flight's world was made, in words: air, turbulence, navigation, devices, effects, faults."""

from __future__ import annotations

from typing import Any

from fieldworthy.catalog import DEVICES
from fieldworthy.environment.turbulence import CALM_CONVECTION_M_S
from fieldworthy.trials.report.data import RunData
from fieldworthy.trials.report.text import esc, joined, number, plural, short

_MODELS = {"dryden": "Dryden", "von-karman": "von Kármán"}
_ACRONYMS = {"imu": "IMU", "gnss": "GNSS", "optical_flow": "optical flow"}
_NAVIGATION = {
    "truth": "the truth: what sensors read reaches no loop",
    "estimate": "its own estimate, a complementary filter of what the sensors read",
}


PILOTS = {"px4": "PX4", "ardupilot": "ArduPilot"}
"""Real autopilots by their kind."""


def flight_facts(run: RunData) -> list[tuple[str, str]]:
    """Names and values (HTML) for the table of how a run was made."""
    return [
        ("Vehicle", esc(run.table("vehicle").get("model", ""))),
        ("Air", _air(run)),
        ("Turbulence", _turbulence(run)),
        ("Autopilot goes by", _autopilot(run)),
        ("Devices", _devices(run)),
        ("Effects computed", _effects(run)),
        ("Load", _load(run)),
        ("Tether", _tether(run)),
        ("Faults", _faults(run)),
    ]


def _autopilot(run: RunData) -> str:
    control = run.table("control")
    pilot = run.run.get("pilot")
    if isinstance(pilot, dict):
        waits = f"{short(pilot.get('ground_s', 0.0))}\u202fs on the ground before its mission"
        return f"{esc(PILOTS.get(str(pilot.get('kind')), ''))}, a real one in lockstep, by the devices; {waits}"
    goes_by = _NAVIGATION[str(control.get("navigation") or "estimate")]
    if control.get("commands") == "actuators":
        return f"no autopilot: the controller commands throttles and surfaces, and reads {goes_by}"
    return goes_by


def _air(run: RunData) -> str:
    air = run.table("air")
    parts = ["International Standard Atmosphere"]
    if air.get("temperature_offset_k"):
        parts[0] += f" {number(air['temperature_offset_k'])}\u202fK warmer"
    if air.get("elevation_m"):
        parts.append(f"ground {short(air['elevation_m'])}\u202fm above the sea")
    drawn = [name for name in run.table("randomize") if name.startswith("air.wind")]
    if air.get("wind_speed_m_s") or drawn:
        shear = {"log": ", logarithmic with height", "power": ", a power of height"}.get(str(air.get("shear")), "")
        speed, origin, height = (air.get(key, 0.0) for key in ("wind_speed_m_s", "wind_from_deg", "reference_height_m"))
        parts.append(
            f"mean wind {short(speed)}\u202fm/s from {short(origin)} degrees at {short(height)}\u202fm{shear}"
            + (" (drawn anew for each trial)" if drawn else "")
        )
    if air.get("gusts"):
        parts.append(plural(len(air["gusts"]), "gust"))
    if air.get("grid"):
        parts.append(f"wind field {esc(air['grid'])}")
    return "; ".join(parts)


def _turbulence(run: RunData) -> str:
    given = run.table("air", "turbulence")
    if not given:
        return "none"
    at_20ft = given.get("wind_20ft_m_s")
    wind = (
        f"wind at 20\u202fft {short(at_20ft)}\u202fm/s"
        if at_20ft is not None
        else "scaled by the mean wind at 20\u202fft"
    )
    return (
        f"{_MODELS.get(str(given.get('model')), esc(given.get('model')))}, {esc(given.get('specification')).upper()}, "
        f"{wind}; gusts pass at the larger of airspeed and mean wind, at least {short(CALM_CONVECTION_M_S)}\u202fm/s"
    )


def _devices(run: RunData) -> str:
    homes: list[tuple[str, dict[str, Any]]] = [(name, run.table("sensors", name)) for name in ("lidar", *DEVICES)]
    homes.append(("battery", run.table("battery")))
    found = [f"{_ACRONYMS.get(name, name)} {esc(item['model'])}" for name, item in homes if "model" in item]
    return ", ".join(found)


def _effects(run: RunData) -> str:
    return ", ".join(esc(name.replace("_", " ")) for name, on in run.table("effects").items() if on is True)


def _load(run: RunData) -> str:
    load = run.table("load")
    if not load:
        return ""
    return f"{short(load['mass_kg'])}\u202fkg on a cable of {short(load['cable_length_m'])}\u202fm"


def _tether(run: RunData) -> str:
    tether = run.table("tether")
    if not tether:
        return ""
    north, east, up = (f"{short(tether[name])}\u202fm" for name in ("north_m", "east_m", "up_m"))
    return f"{short(tether['cable_length_m'])}\u202fm to north {north}, east {east}, {up} up"


def _faults(run: RunData) -> str:
    faults = run.scenario.get("faults")
    told = []
    for fault in faults if isinstance(faults, list) else ():
        when = f"at {short(fault.get('at_s', 0.0))}\u202fs"
        if fault.get("spread_s"):
            when = f"between {short(fault['at_s'])} and {short(fault['at_s'] + fault['spread_s'])}\u202fs"
        chance = fault.get("probability", 1.0)
        share = f" in {short(100.0 * chance)}\u202f% of trials" if chance < 1.0 else ""
        told.append(f"{esc(fault['kind'])} {esc(fault.get('part', ''))} {when}{share}".replace("  ", " "))
    return joined(told)
