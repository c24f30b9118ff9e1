"""Read a TOML file so that every later complaint can name the file and the line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.suggest import closest
from fieldworthy.core.toml_lines import Path as KeyPath
from fieldworthy.core.toml_lines import key_lines

_MOST_BITS = 1000
"""Of a whole number; what does not fit in 64 bits is refused where its key is known, this is what no check survives."""


@dataclass
class Places:
    """Where each key of some input was written: a file's lines, or the command-line options set on top of it."""

    file: str = ""
    lines: dict[KeyPath, int] = field(default_factory=dict)
    options: dict[KeyPath, str] = field(default_factory=dict)
    """Key path to the option that set it, such as `--set trials=0`."""

    def where(self, path: KeyPath) -> str:
        """`boat.toml:12 [sensors.lidar]`, or the option that the value came from."""
        for option_path, text in self.options.items():
            if path[: len(option_path)] == option_path:
                return text
        if path not in self.lines:  # a table that only an option created
            for option_path, text in self.options.items():
                if path and option_path[: len(path)] == path:
                    return text
        line = next((self.lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.lines), None)
        place = self.file if line is None else f"{self.file}:{line}"
        table = table_of(path)
        return f"{place} [{dotted(table)}]".strip() if table else place or dotted(path)

    def line(self, path: KeyPath) -> int:
        """Line of the nearest written key, 0 for none; to sort problems as the file reads."""
        return next((self.lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.lines), 0)


@dataclass(frozen=True)
class TomlFile:
    """A parsed file: its plain data, and where each key stands."""

    path: Path
    data: dict[str, Any]
    places: Places


def dotted(path: KeyPath) -> str:
    """`obstacles.0.radius_m`, keys that need quotes quoted."""
    return ".".join(str(key) if re.fullmatch(r"[\w-]+", str(key)) else f'"{key}"' for key in path)


def table_of(path: KeyPath) -> KeyPath:
    """The table in which the last named key of a path stands."""
    names = [index for index, key in enumerate(path) if isinstance(key, str)]
    return path[: names[-1]] if names else ()


def key_of(path: KeyPath) -> str:
    """The last named key with any list indices: `north_m[1]`."""
    table = table_of(path)
    rest = path[len(table) :]
    return str(rest[0]) + "".join(f"[{index}]" for index in rest[1:]) if rest else ""


def read_text(path: Path, name: str, what: str, similar: Callable[[Path], bool] | None = None) -> str:
    """The file as text, or a ScenarioError that says why not. `what` names the kind of file that is wanted.

    similar: whether a file of the same folder may be suggested in its place; None: any.
    """
    if path.is_dir():
        raise ScenarioError([Problem(name, "this is a directory", f"the path of {what}")])
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ScenarioError(
            [Problem(name, f"no such file{_similar_file(path, similar)}", f"the path of {what}")]
        ) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ScenarioError([Problem(f"{name}:{line}", f"byte {error.start} is not UTF-8", "text in UTF-8")]) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ScenarioError([Problem(name, f"cannot be read: {reason}", f"the path of {what}")]) from None


def read_toml(path: Path, name: str, what: str, similar: Callable[[Path], bool] | None = None) -> TomlFile:
    """Parse a TOML file; `name` is how messages call it; `similar` as in `read_text`."""
    text = read_text(path, name, what, similar)
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ScenarioError([_syntax_problem(name, text, str(error))]) from None
    except ValueError:  # Python reads no whole number of more than 4300 digits
        raise ScenarioError([Problem(name, "a number of thousands of digits", "numbers that fit in 64 bits")]) from None
    places = Places(name, key_lines(text.replace("\r\n", "\n")))
    huge = [
        Problem(places.where(at), f"{key_of(at)} is a whole number of {n} bits", "64 bits") for at, n in _huge(data)
    ]
    if huge:
        raise ScenarioError(huge)
    return TomlFile(path, data, places)


def _huge(value: Any, path: KeyPath = ()) -> list[tuple[KeyPath, int]]:
    """Whole numbers that hardly a float can hold, with their bits: whoever compares or prints them would break."""
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in _huge(item, (*path, key))]
    if isinstance(value, list):
        return [found for index, item in enumerate(value) for found in _huge(item, (*path, index))]
    return [(path, value.bit_length())] if isinstance(value, int) and value.bit_length() > _MOST_BITS else []


def _syntax_problem(name: str, text: str, message: str) -> Problem:
    match = re.search(r"\s*\(at line (\d+), column (\d+)\)", message)
    line = int(match.group(1)) if match else text.rstrip().count("\n") + 1
    lines = text.splitlines()
    shown = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    reason = message[: match.start()] if match else message.replace(" (at end of document)", "")
    return Problem(
        f"{name}:{line}",
        f"not valid TOML: {reason[:1].lower()}{reason[1:]} in `{shown[:80]}`",
        "TOML, see https://toml.io",
    )


def _similar_file(path: Path, similar: Callable[[Path], bool] | None) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir() if similar is None or similar(entry)]
    except OSError:
        return f" (there is no folder '{path.parent}')"
    found = closest(path.name, names)
    return f"; did you mean '{path.parent / found}'?" if found else ""
