"""How messages about a scenario show a value and name its type."""

from __future__ import annotations

from typing import Any

from fieldworthy.core.toml_file import key_of
from fieldworthy.core.toml_lines import Path

_MOST_NAMES = 12
"""Of a list of valid names that a message shows."""


def some_of(names: list[str], documented: str = "") -> str:
    """The first names of a list, how many there are more, and where those stand."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    rest = f"… and {len(names) - _MOST_NAMES} more" + (f": {documented}" if documented else "")
    return f"{', '.join(names[:_MOST_NAMES])}, {rest}"


def shown(name: str, value: Any) -> str:
    """`name = value`, shortened."""
    try:
        text = str(value).lower() if isinstance(value, bool) else repr(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        text = "a whole number of thousands of digits"
    return f"{name} = {text if len(text) <= 60 else text[:57] + '...'}"


def shown_at(path: Path, value: Any) -> str:
    """The same of the last named key of a path."""
    return shown(key_of(path) or "value", value)


def a_type(value: Any) -> str:
    """What kind of value it is, with its article."""
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    names = {
        bool: "true or false",
        int: "a whole number",
        float: "a number with a fraction",
        str: "a text",
        dict: "a table",
    }
    return names.get(type(value), f"a {type(value).__name__}")
