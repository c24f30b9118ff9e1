"""Numbers and names as they are written in program files."""

from __future__ import annotations

import math
import re

from fieldworthy.arms.programs.findings import StatementError
from fieldworthy.core.errors import Problem, ScenarioError


def require_text(text: str, source: str) -> None:
    """Raises: ScenarioError for what is no text, such as an encoded or packed file of a controller."""
    found = re.search(r"[\x00-\x08\x0e-\x19\x1b-\x1f]", text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise ScenarioError(
            Problem(f"{source or 'program'}:{line}", f"holds the byte {ord(found[0])}: no text", "a text file")
        )


def finite(text: str, field: str = "") -> float:
    """A number written in decimal. Raises: StatementError for inf, nan, digits with underscores and other words."""
    try:
        value = math.nan if "_" in text else float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise StatementError(f"{text.strip()[:40]!r} is no finite number", "a number", field)
    return value


def fixed(value: float, decimals: int) -> str:
    """A number with a fixed count of decimals and never `-0.000`."""
    text = f"{value:.{decimals}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def shortest(value: float, decimals: int) -> str:
    """A number with at most so many decimals, without zeros at its end."""
    text = fixed(value, decimals)
    return text.rstrip("0").rstrip(".") if "." in text else text


def identifier(name: str, longest: int, fallback: str = "program") -> str:
    """A name that every controller takes: letters, digits and underscores, a letter first."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name).strip("_") or fallback
    return (plain if plain[0].isalpha() else f"p_{plain}")[:longest]
