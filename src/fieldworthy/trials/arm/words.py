"""Figures and places of an arm's task as people read them: lengths in their unit, waypoints by their own numbers."""

from __future__ import annotations

import math
import re

DASH = "–"

STILL_RAD = 1e-9
"""A joint that moves over less than this after arrival stands still; more is motion, however small."""

_PAIR = re.compile(r"link (\d+) \((.*)\)")
_UNITS = ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"))


def length(value_m: float | None) -> str:
    """A length in the unit that suits it, three digits: 2.81 mm, 42 nm; 0 below a tenth of a nanometre."""
    if value_m is None or not math.isfinite(value_m):
        return DASH
    size = abs(value_m)
    if size < 1e-10:
        return "0"
    scale, unit = next(((s, u) for s, u in _UNITS if size >= 0.9995 * s), _UNITS[-1])
    return f"{digits(value_m / scale)} {unit}"


def digits(value: float) -> str:
    """Three significant digits, without an exponent where that reads well."""
    value = float(f"{value:.3g}")
    size = abs(value)
    if size >= 1e5 or 0.0 < size < 1e-3:
        return f"{value:.2e}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(size)))}f}" if size else "0"


def angle(value_deg: float | None) -> str:
    """An angle in degrees, three digits; 0 where it is a rounding error."""
    if value_deg is None or not math.isfinite(value_deg):
        return DASH
    if abs(value_deg) < 1e-3:
        return "0" if abs(value_deg) < 1e-8 else "<0.001°"
    return f"{float(f'{value_deg:.3g}'):g}°"


def stillness(value_rad: float | None) -> str:
    """How much the joints move after arrival: `still`, or the widest swing."""
    if value_rad is None:
        return DASH
    return "still" if value_rad < STILL_RAD else angle(math.degrees(value_rad))


def ratio(value: float | None) -> str:
    """A share of a limit with two decimals; a dash where no limit is known."""
    return DASH if value is None else f"{value:.2f}" if value < 100.0 else f"{value:.0f}"


def over(share: float | None) -> bool:
    """Whether a share of a limit is beyond it, by more than rounding."""
    return share is not None and share > 1.0 + 1e-6


def pair(names: str) -> str:
    """The nearest pair without what is said twice: `link 2 (link_2) and link 5 (link_5)` becomes `links 2 and 5`."""
    parts = [_part(name) for name in names.split(" and ", 1)]
    if len(parts) == 2 and all(part.startswith("link ") for part in parts):
        return f"links {parts[0][5:]} and {parts[1][5:]}"
    return " and ".join(parts)


def _part(name: str) -> str:
    found = _PAIR.fullmatch(name)
    if not found:
        return name
    number, own = found.groups()
    return (
        f"link {number}"
        if own in (f"link_{number}", f"link{number}", f"link {number}", "")
        else f"{own} (link {number})"
    )
