"""Heights and sizes of map features, for what a map does not say.

A chart gives outlines and positions, rarely heights. The numbers below are deliberate guesses with their reasons;
a feature's own properties and `[geojson.kinds.KIND]` in the scenario come first. Heights are up-positive above still
water [m], radii and widths [m].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from fieldworthy.scenario.schema import KindDefaults


@dataclass(frozen=True)
class Sizes:
    """Everything that turns a point, line or outline into a solid."""

    radius_m: float
    """Of points, which become upright cylinders."""
    width_m: float
    """Of lines: 0 makes a thin wall, more a filled strip."""
    top_up_m: float
    bottom_up_m: float


BUILT_IN: dict[str, Sizes] = {
    # Bank and what stands on it; above a small boat's LiDAR (2 m), so that it is seen and hides what is behind.
    "shore": Sizes(radius_m=2.0, width_m=0.0, top_up_m=3.0, bottom_up_m=-5.0),
    # Quays stand 1 to 4 m above water, depending on the tide; the charted line is their face.
    "wall": Sizes(radius_m=0.5, width_m=0.0, top_up_m=3.0, bottom_up_m=-5.0),
    # Marina walkways and fingers are 1 to 3 m wide, with 0.4 to 0.6 m freeboard and as much draught.
    "pontoon": Sizes(radius_m=1.0, width_m=2.0, top_up_m=0.5, bottom_up_m=-0.5),
    # A timber or steel pile is 0.3 to 0.6 m thick and stands above the highest tide.
    "pile": Sizes(radius_m=0.3, width_m=0.0, top_up_m=3.0, bottom_up_m=-10.0),
    # A small lateral buoy: hull 1 to 1.5 m across, top mark 1.5 to 2.5 m up.
    "buoy": Sizes(radius_m=0.6, width_m=0.0, top_up_m=2.0, bottom_up_m=-1.0),
    # A post or dolphin with a mark and a light on top.
    "beacon": Sizes(radius_m=0.5, width_m=0.0, top_up_m=5.0, bottom_up_m=-10.0),
    # A charted danger, often just under water: raised to 0.5 m, so that a LiDAR has a chance; below 0 it is invisible.
    "obstruction": Sizes(radius_m=1.0, width_m=1.0, top_up_m=0.5, bottom_up_m=-5.0),
    # A deck on piles 2 to 6 m wide, solid here because a hull does not pass between the piles.
    "pier": Sizes(radius_m=0.5, width_m=4.0, top_up_m=3.0, bottom_up_m=-5.0),
    # Unknown: the size of a person standing in the water, visible from a small boat.
    "default": Sizes(radius_m=0.5, width_m=0.0, top_up_m=2.0, bottom_up_m=-2.0),
}


def sizes_of(kind: str, properties: Mapping[str, Any], kinds: Mapping[str, KindDefaults]) -> tuple[Sizes, list[str]]:
    """Sizes of one feature, and what is wrong with its own properties.

    Order: the feature, the scenario's entry for its kind, the built-in entry, the scenario's "default", the built-in
    "default". `height_m` is another name for `top_up_m`; numbers written as texts are read.
    """
    problems: list[str] = []
    chosen: dict[str, float] = {}
    fallback = kinds.get("default") if kind not in BUILT_IN else None
    built_in = BUILT_IN.get(kind, BUILT_IN["default"])
    for name in (field.name for field in fields(Sizes)):
        spellings = ("top_up_m", "height_m") if name == "top_up_m" else (name,)
        own = next(((key, properties[key]) for key in spellings if properties.get(key) not in (None, "")), None)
        if own is not None:
            number = _number(own[1])
            if number is None or (name == "radius_m" and number <= 0) or (name == "width_m" and number < 0):
                valid = {"radius_m": "a number > 0", "width_m": "a number >= 0"}.get(name, "a finite number")
                problems.append(f"{own[0]} = {own[1]!r} is not {valid}")
            else:
                chosen[name] = number
                continue
        settings = [getattr(kinds.get(kind), name, None), None if fallback is None else getattr(fallback, name)]
        chosen[name] = next((value for value in settings if value is not None), getattr(built_in, name))
    if chosen["bottom_up_m"] >= chosen["top_up_m"]:
        if properties.get("bottom_up_m") in (None, ""):
            chosen["bottom_up_m"] = chosen["top_up_m"] - 1.0  # a top below the assumed foot: the foot was the guess
        else:
            problems.append(f"bottom_up_m = {chosen['bottom_up_m']:g} is not below the top at {chosen['top_up_m']:g}")
    return Sizes(**chosen), problems


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
