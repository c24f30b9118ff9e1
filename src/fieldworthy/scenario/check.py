"""Check plain data against msgspec structs and report everything that is wrong, not only the first thing.

msgspec's own conversion stops at the first error and knows no lines; this walk collects all problems with their
place, then msgspec does the conversion. Understood: structs (also tagged unions), numbers with limits, intervals,
words, lists, pairs, dictionaries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.suggest import closest, did_you_mean, same_quantity
from fieldworthy.core.toml_file import Places, key_of
from fieldworthy.core.toml_lines import Path
from fieldworthy.scenario.wording import a_type, shown_at, some_of

T = TypeVar("T", bound=msgspec.Struct)

_LARGEST = 1e30
"""Of floating-point numbers: more would be infinite on the 32-bit engine."""


class Report:
    """Problems of one input, each with the place where the offending key was written."""

    def __init__(self, places: Places, documented: str = "docs/scenario-file.md") -> None:
        self.places = places
        self.documented = documented
        """Where all keys are listed, for messages that name some; may be empty."""
        self.found: list[tuple[int, Problem]] = []
        self.dropped: dict[str, tuple[str, Any]] = {}
        """Draws of [randomize] that gave way to an override, by path: (why, interval)."""

    def add(self, path: Path, what: str, valid: str = "") -> None:
        """Record a problem with the key at `path`."""
        problem = Problem(self.places.where(path), what, valid)
        if all(problem != other for _, other in self.found):
            self.found.append((self.places.line(path), problem))

    def extend(self, problems: list[Problem], path: Path = ()) -> None:
        """Take over problems that carry their own place."""
        self.found.extend((self.places.line(path), problem) for problem in problems)

    def raise_if_any(self) -> None:
        """Raise one ScenarioError with everything found, in the order of the file."""
        if self.found:
            raise ScenarioError([problem for _, problem in sorted(self.found, key=lambda item: item[0])])


def check_parameters(struct_type: type[T], values: Mapping[str, Any], where: str) -> T:
    """Convert a table such as `[control.parameters]` into its own struct; `where` names the table in errors."""
    report = Report(Places(where), documented="")
    plain = dict(values)
    check(plain, inspect.type_info(struct_type), (), report)
    report.raise_if_any()
    return convert(plain, struct_type, where)


def convert(data: Any, struct_type: type[T], where: str) -> T:
    """msgspec's strict conversion, its error turned into ours."""
    try:
        return msgspec.convert(data, struct_type)
    except msgspec.ValidationError as error:
        raise ScenarioError([Problem(where, str(error))]) from None


def check(value: Any, kind: inspect.Type, path: Path, report: Report) -> None:
    """Report everything in `value` that does not fit the type."""
    if isinstance(kind, inspect.Metadata):
        check(value, kind.type, path, report)
        if (kind.extra or {}).get("interval") and not _is_ordered(value):
            report.add(
                path, f"{shown_at(path, value)}: the interval is in the wrong order", "[low, high] with low <= high"
            )
    elif isinstance(kind, inspect.StructType):
        _check_struct(value, kind, path, report)
    elif isinstance(kind, inspect.UnionType):
        _check_union(value, kind, path, report)
    elif isinstance(kind, inspect.FloatType | inspect.IntType):
        wrong = number_problem(value, kind)
        if wrong:
            report.add(path, f"{shown_at(path, value)}{wrong}", describe(kind))
    elif isinstance(kind, inspect.TupleType):
        if not isinstance(value, list | tuple) or len(value) != len(kind.item_types):
            report.add(path, f"{shown_at(path, value)} is {a_type(value)}", describe(kind))
        else:
            for index, item_type in enumerate(kind.item_types):
                check(value[index], item_type, (*path, index), report)
    elif isinstance(kind, inspect.VarTupleType | inspect.ListType):
        _check_list(value, kind, path, report)
    elif isinstance(kind, inspect.DictType):
        if not isinstance(value, dict):
            report.add(path, f"{shown_at(path, value)} is {a_type(value)}", describe(kind))
        else:
            for key, item in value.items():
                check(item, kind.value_type, (*path, key), report)
    elif isinstance(kind, inspect.AnyType):
        _check_finite(value, path, report)
    else:
        _check_word(value, kind, path, report)


def number_problem(value: Any, kind: inspect.FloatType | inspect.IntType) -> str:
    """What is wrong with a number, to follow `key = value`; empty if nothing."""
    whole = isinstance(kind, inspect.IntType)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return f" is {a_type(value)}"
    if not -(2**63) <= value < 2**63 if whole else not math.isfinite(_as_float(value)):
        return " does not fit in 64 bits" if whole else " is not a finite number"
    if not whole and abs(value) > _LARGEST:
        return f" is beyond {_LARGEST:g} and does not fit in 32 bits"
    if (kind.ge is not None and value < kind.ge) or (kind.gt is not None and value <= kind.gt):
        return " is too small"
    if (kind.le is not None and value > kind.le) or (kind.lt is not None and value >= kind.lt):
        return " is too large"
    return ""


def describe(kind: inspect.Type) -> str:
    """What would be valid, in words."""
    if isinstance(kind, inspect.Metadata):
        return "[low, high] with low <= high" if (kind.extra or {}).get("interval") else describe(kind.type)
    if isinstance(kind, inspect.FloatType | inspect.IntType):
        limits = ((" > ", kind.gt), (" >= ", kind.ge), (" < ", kind.lt), (" <= ", kind.le))
        bounds = " and".join(f"{sign}{limit:g}" for sign, limit in limits if limit is not None)
        return ("a whole number" if isinstance(kind, inspect.IntType) else "a finite number") + bounds
    if isinstance(kind, inspect.TupleType):
        return f"a list of {len(kind.item_types)}, each {describe(kind.item_types[0])}"
    if isinstance(kind, inspect.VarTupleType | inspect.ListType):
        size = f"a list of at least {kind.min_length}" if kind.min_length else "a list"
        return f"{size}, each element {describe(kind.item_type)}"
    if isinstance(kind, inspect.LiteralType):
        return " or ".join(repr(value) for value in kind.values)
    if isinstance(kind, inspect.StructType):
        return f"a table with {some_of(file_keys(kind))}"
    if isinstance(kind, inspect.UnionType):
        structs = _tagged(kind)
        if len(structs) > 1:
            return _tag_needed(structs)
        return " or ".join(describe(option) for option in kind.types if not isinstance(option, inspect.NoneType))
    names: dict[type, str] = {inspect.StrType: "a text", inspect.BoolType: "true or false", inspect.DictType: "a table"}
    return names.get(type(kind), "another value")


def file_keys(kind: inspect.StructType) -> list[str]:
    """Keys that a file may use in this table: the struct's own, and other spellings that `load` converts."""
    tag = [kind.tag_field] if kind.tag_field else []
    own = [field.encode_name for field in kind.fields if not _is_hidden(field)]
    return [*tag, *own, *getattr(kind.cls, "file_only", ())]


def _check_struct(value: Any, kind: inspect.StructType, path: Path, report: Report) -> None:
    if not isinstance(value, dict):
        report.add(path, f"{shown_at(path, value)} is {a_type(value)}", describe(kind))
        return
    keys = file_keys(kind)
    own = {field.encode_name: field for field in kind.fields if not _is_hidden(field)}
    for key, item in value.items():
        if key in own:
            check(item, own[key].type, (*path, key), report)
        elif key not in keys:
            unknown_key((*path, key), keys, report)
    missing = [name for name, field in own.items() if field.required and name not in value]
    if missing:
        table = f" [{'.'.join(map(str, path))}]" if path and path not in report.places.lines else ""
        report.add(
            (*path, ""), f"missing{table} " + ", ".join(f"'{name}'" for name in missing), _needed(own, missing, keys)
        )


def unknown_key(path: Path, valid: list[str], report: Report, listed: str | None = None) -> None:
    """Report a key that nothing knows, what was probably meant, and a dozen valid ones (`listed`: where all are)."""
    key = str(path[-1])
    units = same_quantity(key, valid)
    if units and closest(key, valid):
        hint = f"; this quantity is given as {' or '.join(repr(name) for name in units)}"
    else:
        hint = did_you_mean(key, valid)
    likely = units or [name for name in valid if name == closest(key, valid)]
    ordered = [*likely, *(name for name in valid if name not in likely)]  # so that what was meant is among those shown
    report.add(path, f"unknown key '{key}'{hint}", some_of(ordered, report.documented if listed is None else listed))


def _needed(own: dict[str, inspect.Field], missing: list[str], keys: list[str]) -> str:
    if "lon_deg" in keys and "lon_deg" not in own:
        return "north_m and east_m, or lon_deg and lat_deg"
    return "; ".join(f"{name} = {describe(own[name].type)}" for name in missing)


def _check_union(value: Any, kind: inspect.UnionType, path: Path, report: Report) -> None:
    structs = _tagged(kind)
    if len(structs) > 1:
        _check_tagged(value, structs, path, report)
        return
    options = [option for option in kind.types if not isinstance(option, inspect.NoneType)]
    if value is None and len(options) < len(kind.types):
        return
    attempts = []
    for option in options:
        attempt = Report(report.places)
        check(value, option, path, attempt)
        if not attempt.found:
            return
        attempts.append(attempt)
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    chosen = attempts[0] if len(attempts) == 1 or numeric else None
    if chosen is not None:
        report.found.extend(chosen.found)
    else:
        report.add(path, f"{shown_at(path, value)} is {a_type(value)}", describe(kind))


def _tagged(kind: inspect.UnionType) -> dict[Any, inspect.StructType]:
    return {option.tag: option for option in kind.types if isinstance(option, inspect.StructType)}


def _tag_needed(structs: dict[Any, inspect.StructType]) -> str:
    kinds = ", ".join(f"'{tag}'" for tag in structs)
    return f"a table with {next(iter(structs.values())).tag_field} = one of {kinds}"


def _check_tagged(value: Any, structs: dict[Any, inspect.StructType], path: Path, report: Report) -> None:
    kinds = ", ".join(f"'{tag}'" for tag in structs)
    tag_field = str(next(iter(structs.values())).tag_field)
    if not isinstance(value, dict):
        report.add(path, f"{shown_at(path, value)} is {a_type(value)}", _tag_needed(structs))
    elif tag_field not in value:
        report.add((*path, ""), f"missing '{tag_field}'", kinds)
    elif not isinstance(value[tag_field], str) or value[tag_field] not in structs:
        hint = did_you_mean(str(value[tag_field]), [str(tag) for tag in structs])
        report.add((*path, tag_field), f"unknown {tag_field} {value[tag_field]!r}{hint}", kinds)
    else:
        rest = {key: item for key, item in value.items() if key != tag_field}
        _check_struct(rest, structs[value[tag_field]], path, report)


def _check_list(value: Any, kind: inspect.VarTupleType | inspect.ListType, path: Path, report: Report) -> None:
    if isinstance(value, dict) and len(path) == 1 and value and all(str(key).isdigit() for key in value):
        # An option such as obstacles.0.radius_m=3 made this table, because there was no list to step into.
        report.add(path, f"this scenario has no [[{path[0]}]]", f"a value of a [[{path[0]}]] that the file has")
        return
    if not isinstance(value, list | tuple):
        report.add(path, f"{shown_at(path, value)} is {a_type(value)}", describe(kind))
        return
    if len(value) < (kind.min_length or 0):
        what = "the list is empty" if not value else f"{len(value)} in the list are too few"
        report.add(path, f"{key_of(path)}: {what}", describe(kind))
    for index, item in enumerate(value):
        check(item, kind.item_type, (*path, index), report)


def _check_finite(value: Any, path: Path, report: Report) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _check_finite(item, (*path, key), report)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_finite(item, (*path, index), report)
    elif isinstance(value, int | float) and not math.isfinite(_as_float(value)):
        report.add(path, f"{shown_at(path, value)} is not a finite number", "a finite number")


def _check_word(value: Any, kind: inspect.Type, path: Path, report: Report) -> None:
    if isinstance(kind, inspect.LiteralType):
        if not any(type(value) is type(option) and value == option for option in kind.values):
            hint = did_you_mean(value, [str(option) for option in kind.values]) if isinstance(value, str) else ""
            report.add(path, f"{shown_at(path, value)} is not one of the choices{hint}", describe(kind))
    elif isinstance(kind, inspect.StrType):
        if not isinstance(value, str):
            report.add(path, f"{shown_at(path, value)} is {a_type(value)}", describe(kind))
        elif len(value) < (kind.min_length or 0):
            report.add(path, f"{key_of(path)} is empty", describe(kind))
    elif isinstance(kind, inspect.BoolType) and not isinstance(value, bool):
        report.add(path, f"{shown_at(path, value)} is {a_type(value)}", describe(kind))


def _is_hidden(field: inspect.Field) -> bool:
    return isinstance(field.type, inspect.Metadata) and bool((field.type.extra or {}).get("hidden"))


def _is_ordered(value: Any) -> bool:
    """True unless it is a pair of numbers in the wrong order (other faults are reported elsewhere)."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        return True
    if not all(isinstance(item, int | float) for item in value):
        return True
    return not value[0] > value[1]


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
