"""Checks of cables: the step must follow a load on its cable and a tether, also with what [randomize] draws."""

from __future__ import annotations

import cmath
from itertools import product
from typing import Any

from fieldworthy.scenario.check import Report
from fieldworthy.scenario.flight_schema import Tether
from fieldworthy.scenario.motion_limits import number
from fieldworthy.scenario.resolve import table
from fieldworthy.vehicles.landing_gear import ground_contact

_USUAL = Tether(cable_length_m=1.0)
_REMEDY = "a shorter step, a heavier load, a softer cable or less damping"
_REMEDY_DRAWN = "a shorter step, or a narrower interval: heavier, softer or less damping"


def check_cables(data: dict[str, Any], values: dict[str, Any], dt_s: float, report: Report) -> None:
    """A load on a stiff cable swings up and down faster than anything else: RK4 must follow.

    So it must at every corner of what is drawn for the cable, the load and the vehicle's mass.
    """
    for home, thing in (("load", "this load on its cable"), ("tether", "the tether")):
        cable = table(data, home)
        nominal = {
            f"{home}.stiffness_n_m": number(cable.get("stiffness_n_m", _USUAL.stiffness_n_m)),
            f"{home}.damping_n_s_m": number(cable.get("damping_n_s_m", _USUAL.damping_n_s_m)),
            "vehicle.mass_kg": number(values.get("mass_kg")),
        }
        if home == "load":
            nominal["load.mass_kg"] = number(cable.get("mass_kg"))
        given = {name: value for name, value in nominal.items() if value is not None}
        if not cable or len(given) < len(nominal) or not _possible(given):
            continue
        what = f"dt_s = {dt_s:g} is too long for {thing}"
        if _runs_away(home, given, given, dt_s):
            key = "stiffness_n_m" if "stiffness_n_m" in cable else "mass_kg" if home == "load" else "cable_length_m"
            report.add((home, key), f"{what}: it would shake itself to pieces", _REMEDY)
            continue
        for name, drawn in _bad_draws(home, given, _ends(data, given), dt_s):
            found = f"{what} with {drawn}, which may be drawn: it would shake itself to pieces"
            report.add(("randomize", name), found, _REMEDY_DRAWN)


def _ends(data: dict[str, Any], given: dict[str, float]) -> dict[str, tuple[float, ...]]:
    """Both ends of what is drawn, by its name; intervals that are wrong are reported elsewhere."""
    found: dict[str, tuple[float, ...]] = {}
    for name, interval in table(data, "randomize").items():
        pair = [number(end) for end in interval] if isinstance(interval, list) else []
        ends = tuple(end for end in pair if end is not None)
        if name in given and len(ends) == 2 and all(_possible({name: end}) for end in ends):
            found[name] = ends
    return found


def _bad_draws(
    home: str, given: dict[str, float], ends: dict[str, tuple[float, ...]], dt_s: float
) -> list[tuple[str, str]]:
    """(name, numbers) of draws that run away by themselves; where none does, of the first corner that does."""
    alone = [
        (name, f"{name} = {end:g}")
        for name, pair in ends.items()
        for end in sorted(set(pair))
        if _runs_away(home, {**given, name: end}, given, dt_s)
    ]
    if alone:
        return list(dict(alone).items())
    for corner in product(*ends.values()):
        drawn = dict(zip(ends, corner, strict=True))
        if _runs_away(home, {**given, **drawn}, given, dt_s):
            return [(next(iter(drawn)), " and ".join(f"{name} = {end:g}" for name, end in drawn.items()))]
    return []


def _possible(numbers: dict[str, float]) -> bool:
    """Whether masses are above 0 and nothing is below; the rest is reported elsewhere."""
    return all(value > 0.0 if name.endswith("_kg") else value >= 0.0 for name, value in numbers.items())


def _runs_away(home: str, numbers: dict[str, float], nominal: dict[str, float], dt_s: float) -> bool:
    """Whether RK4 multiplies the cable's motion. The ground under a load is laid out for its nominal mass."""
    stiffness, damping = numbers[f"{home}.stiffness_n_m"], numbers[f"{home}.damping_n_s_m"]
    # Both ends move: the lighter one counts most. A load that is lifted has the ground under it as well.
    inverse, floor = 1.0 / numbers["vehicle.mass_kg"], (0.0, 0.0)
    if home == "load":
        light = numbers["load.mass_kg"]
        foot = ground_contact(nominal["load.mass_kg"], dt_s)
        inverse += 1.0 / light
        floor = float(foot.damping_n_s_m) / light, float(foot.stiffness_n_m) / light
    return _growth(damping * inverse + floor[0], stiffness * inverse + floor[1], dt_s) > 1.0 + 1e-6


def _growth(damping_1_s: float, stiffness_1_s2: float, dt_s: float) -> float:
    """Largest factor by which RK4 multiplies x'' = -b x' - c x in a step."""
    root = cmath.sqrt(damping_1_s * damping_1_s - 4.0 * stiffness_1_s2)
    factors = []
    for z in (0.5 * dt_s * (sign * root - damping_1_s) for sign in (1.0, -1.0)):
        factors.append(abs(1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0)))))
    return max(factors)
