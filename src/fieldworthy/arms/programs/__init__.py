"""Robot programs as files: which format, and where its reader is. A reader is imported when it is first used."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from fieldworthy.arms.program import Program
from fieldworthy.core.errors import FieldworthyError, Problem, ScenarioError
from fieldworthy.core.whole_file import write_whole_text


@dataclass(frozen=True)
class Format:
    """One way to write a robot program."""

    module: str
    """Module with `read(text, source) -> Program` and, where `can_write`, `write(program) -> str`."""
    suffixes: tuple[str, ...]
    """Endings of such files, in lower case."""
    can_write: bool
    title: str


_HERE = "fieldworthy.arms.programs"

FORMATS: dict[str, Format] = {
    "krl": Format(f"{_HERE}.krl", (".src", ".dat"), True, "KUKA KRL"),
    "urscript": Format(f"{_HERE}.urscript", (".script", ".urscript"), True, "Universal Robots URScript"),
    "rapid": Format(f"{_HERE}.rapid", (".mod", ".prg", ".modx"), True, "ABB RAPID"),
    "fanuc_ls": Format(f"{_HERE}.fanuc_ls", (".ls",), True, "FANUC TP listing"),
    "gcode": Format(f"{_HERE}.gcode", (".nc", ".ngc", ".gcode", ".tap"), False, "G-code"),
    "apt": Format(f"{_HERE}.apt", (".apt", ".cls", ".aptsource", ".cl"), False, "APT cutter locations"),
    "joint_trajectory": Format(
        f"{_HERE}.joint_trajectory", (".yaml", ".yml", ".json"), True, "ROS 2 trajectory_msgs/JointTrajectory"
    ),
    "poses_csv": Format(f"{_HERE}.poses_csv", (".csv",), True, "CSV of poses, X Y Z W P R a row"),
}
"""Name of each format -> where it is read and what its files are called."""

_LOOKS = {
    "fanuc_ls": r"(?m)^/PROG\b",
    "rapid": r"(?im)^\s*MODULE\s+\w+[\s\S]*^\s*(?:PROC|PERS|CONST|VAR)\b",
    "krl": r"(?im)^\s*(?:GLOBAL\s+)?DEF\s+\w+\s*\([^)\n]*\)\s*(?:;.*)?$",
    "urscript": r"(?m)^\s*(?:movej|movel|movep|movec|servoj)\s*\(",
    "joint_trajectory": r"(?m)[\"']?joint_names[\"']?\s*:",
    "apt": r"(?m)^\s*(?:GOTO\s*/|PARTNO\b)",
    "gcode": r"(?im)^\s*(?:N\d+\s*)?G0*[0-3]\b",
}

LARGEST_FILE_BYTES = 200_000_000


def format_of(path: str | Path) -> str:
    """The name of a file's format by its ending.

    Raises: FieldworthyError for an ending that no format has.
    """
    suffix = Path(path).suffix.lower()
    for name, form in FORMATS.items():
        if suffix in form.suffixes:
            return name
    known = ", ".join(end for form in FORMATS.values() for end in form.suffixes)
    raise FieldworthyError(
        f"{path}: no robot program is known by the ending {suffix or '(none)'!r}; valid: {known}, "
        f"or name the format: {', '.join(FORMATS)}"
    )


def format_of_text(text: str) -> str | None:
    """The name of the format that a text looks like, by the words that only that language has, or None."""
    for name, pattern in _LOOKS.items():
        if re.search(pattern, text):
            return name
    return None


def read_program(path: str | Path, format: str | None = None, **options: Any) -> Program:
    """Read a robot program; the format by the file's ending, or by its words, where none is named.

    A KRL program is read with the .dat beside it. `options` go to the format's reader, for example
    convention="kuka_abc" to that of poses_csv.
    Raises: FieldworthyError for a file that cannot be read, ScenarioError for everything in it that is wrong.
    """
    place = Path(path)
    if format:
        name = _named(format)
    elif place.is_file() and not any(place.suffix.lower() in form.suffixes for form in FORMATS.values()):
        name = format_of_text(read_text(place)) or format_of(place)
    else:
        name = format_of(place)
    if name == "krl":
        place, options = _with_data(place, options)
    return _call(name, "read", read_text(place), str(place), **options)  # type: ignore[no-any-return]


def write_program(program: Program, path: str | Path, format: str | None = None, **options: Any) -> None:
    """Write a robot program; the format by the file's ending where none is named. The file appears when it is complete.

    Raises: FieldworthyError for formats that are only read, ScenarioError for moves that the format cannot say.
    """
    place = Path(path)
    name = _named(format) if format else format_of(place)
    form = FORMATS[name]
    if not form.can_write:
        writers = ", ".join(each for each, one in FORMATS.items() if one.can_write)
        raise FieldworthyError(f"{place}: {form.title} is read only; valid: {writers}")
    if name == "joint_trajectory" and place.suffix.lower() == ".json":
        options.setdefault("form", "json")
    write_whole_text(place, _call(name, "write", program, **options))


def read_text(path: Path) -> str:
    """The text of a program, with lines that end in a line feed and nowhere else.

    Controllers write UTF-8 or, mostly in comments, the Windows code page 1252. Form feeds and the line separators of
    Unicode become spaces: an editor does not count lines by them, and half a comment must not become a statement.

    Raises: FieldworthyError for a missing, too large or binary file.
    """
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise FieldworthyError(f"{path}: larger than {LARGEST_FILE_BYTES // 1_000_000} MB; valid: a robot program")
        raw = path.read_bytes()
    except OSError as error:
        raise FieldworthyError(f"{path}: cannot be read: {error.strerror or error}") from None
    if b"\0" in raw:
        raise FieldworthyError(f"{path}: not a text file; valid: the program as text, as the controller exports it")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    return re.sub("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", re.sub("\r\n?", "\n", text))


def _call(name: str, what: str, *arguments: Any, **options: Any) -> Any:
    form = FORMATS[name]
    module: ModuleType = importlib.import_module(form.module)
    try:
        return getattr(module, what)(*arguments, **options)
    except TypeError as error:
        # An option of another format is the caller's mistake; a TypeError from deeper down is ours and stays.
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            raise FieldworthyError(f"{form.title}: {error}; valid: the options of {form.module}.{what}") from None
        raise


def _named(name: str) -> str:
    if name not in FORMATS:
        raise FieldworthyError(f"format {name!r} is not known; valid: {', '.join(FORMATS)}")
    return name


def _with_data(place: Path, options: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    """The .src of a KRL program, and the texts of its .dat and the controller's $config.dat if beside it."""
    if place.suffix.lower() == ".dat":
        source = _beside(place, f"{place.stem}.src")
        if source is None:
            what = "holds positions and no motion, and there is no .src of the same name beside it"
            raise ScenarioError(Problem(str(place), what, "the .src of the program"))
        place = source
    if "data" not in options:
        found = (_beside(place, "$config.dat"), _beside(place, f"{place.stem}.dat"))
        options = {**options, "data": tuple((read_text(each), str(each)) for each in found if each is not None)}
    return place, options


def _beside(place: Path, name: str) -> Path | None:
    """The file of that name in the same folder, whatever its case."""
    if not place.parent.is_dir():
        return None
    for each in sorted(place.parent.iterdir()):
        if each.name.lower() == name.lower() and each.is_file():
            return each
    return None
