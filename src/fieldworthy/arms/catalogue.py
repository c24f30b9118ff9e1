"""Arms by name or file: the catalogue's own, a TOML file in its format, or a URDF file.

A catalogue file of kind "arm" gives kinematics in one of two ways, at the zero posture of the maker's controller:
- `axes` (a unit vector a joint), `points_m` (a point on each), `flange_m` and `flange_rpy_deg`, in the base frame;
- `dh_convention` ("standard" or "modified"), `dh_a_m`, `dh_alpha_deg`, `dh_d_m`, where needed `dh_theta_deg` and
  `dh_sign`, with `flange_m` and `flange_rpy_deg`, if given, in the last frame of the table.
Besides: `joints` (their names), `lower_deg`, `upper_deg`, `speed_deg_s`, `acceleration_deg_s2`, shapes for collision
`link_0_capsules_m` ... (rows of end, end, radius in the base frame), pairs of links `near` that touch by construction,
`ready_deg` (an ordinary posture), and for people `payload_kg`, `reach_m`, `mass_kg`. All joints are revolute.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from fieldworthy import catalog
from fieldworthy.arms.chain import Arm, Array, Capsule, Joint, as_matrix
from fieldworthy.arms.dh import CONVENTIONS, DhRow, arm_from_dh, tidy, triple, unit_axis
from fieldworthy.arms.orientation import pose_of
from fieldworthy.arms.urdf import read_urdf
from fieldworthy.catalog import CatalogEntry, load_entry
from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.core.toml_file import read_toml

ALIASES = {
    "kr6-r900": ("kr6", "kr6r900sixx", "kr6agilus"),
    "kr10-r1100": ("kr10", "kr10r1100sixx", "kr10agilus"),
    "irb120": ("irb120306", "irb1203058"),
    "irb1200-5-90": ("irb1200", "irb1200509"),
    "lrmate-200id": ("lrmate", "lrmate200id7"),
    "iiwa7-r800": ("iiwa", "iiwa7", "lbriiwa", "lbriiwa7", "lbriiwa7r800"),
    "fr3": ("franka", "frankaresearch3", "frankafr3"),
}
"""Other names of the catalogue's arms, as `_plain` leaves them."""

_MAKERS = ("universalrobots", "kuka", "abb", "fanuc")
_PER_JOINT = ("lower_deg", "upper_deg", "speed_deg_s", "acceleration_deg_s2", "ready_deg")
_DH = ("dh_convention", "dh_a_m", "dh_alpha_deg", "dh_d_m", "dh_theta_deg", "dh_sign")
_AXES = ("axes", "points_m")
_PLACE = ("flange_m", "flange_rpy_deg")
_FOR_PEOPLE = ("payload_kg", "reach_m", "mass_kg")
_KEYS = ("joints", *_PER_JOINT, *_DH, *_AXES, *_PLACE, "near", *_FOR_PEOPLE)
_LARGEST = 1e6
"""No length in metres or angle in degrees of an arm is larger; squares of what is may overflow."""
_CAPSULES = re.compile(r"link_(\d+)_capsules_m")


def arm_names() -> list[str]:
    """Names of the catalogue's arms."""
    return catalog.names("arm")


def load_arm(name_or_path: str | Path, folder: Path | None = None) -> Arm:
    """The arm of a name, or of a TOML or URDF file. Case, spaces, dashes and the maker do not count in names.

    folder: what relative paths are relative to; None: the current folder.
    Raises: ScenarioError for unknown names (with the nearest one) and for everything wrong in a file.
    """
    text = str(name_or_path)
    known = _catalogue_name(text)
    if known is None and text.lower().endswith((".urdf", ".xacro", ".xml")):
        return read_urdf((folder or Path()) / text)
    return _arm(arm_entry(text, folder), _Where(text if known is None else known, folder))


def arm_entry(name_or_path: str | Path, folder: Path | None = None) -> CatalogEntry:
    """The catalogue file of an arm with its values and sources; names as in `load_arm`."""
    text = str(name_or_path)
    known = _catalogue_name(text)
    if known is None and not catalog.is_path(text):
        plain = {_plain(name): name for name in arm_names()}
        hint = did_you_mean(_plain(text), plain)
        for short, name in plain.items():
            hint = hint.replace(f"'{short}'", f"'{name}'")
        valid = f"{', '.join(arm_names())}, or the path of a TOML or URDF file"
        raise ScenarioError(Problem("catalogue", f"no arm named '{text}'{hint}", valid))
    return load_entry("arm", text if known is None else known, folder)


def ready_posture(name_or_path: str | Path, folder: Path | None = None) -> Array | None:
    """An ordinary posture of a catalogue arm [rad], shape (dof,), elbow bent and tool down; None: its file has none."""
    degrees = arm_entry(name_or_path, folder).values.get("ready_deg")
    return None if degrees is None else np.radians(np.array(degrees, float))


def _plain(name: str) -> str:
    """Letters and digits only, without the maker."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    maker = next((maker for maker in _MAKERS if plain.startswith(maker) and plain != maker), "")
    return plain.removeprefix(maker)


def _catalogue_name(text: str) -> str | None:
    plain = _plain(text)
    for name in arm_names():
        if plain == _plain(name) or plain in ALIASES.get(name, ()):
            return name
    return None


@dataclass(frozen=True)
class _Where:
    """Finds the line of a value, once something is wrong with it."""

    name: str
    folder: Path | None

    def __call__(self, key: str) -> str:
        if catalog.is_path(self.name):
            path, shown = (self.folder or Path()) / self.name, str((self.folder or Path()) / self.name)
        else:
            path = Path(str(resources.files(catalog) / catalog.FOLDERS["arm"] / f"{self.name}.toml"))
            shown = path.name
        return read_toml(path, shown, "a catalogue file of kind 'arm'").places.where(("values", key))


class _Values:
    """The values of a file, asked for with a shape; what is missing or wrong is collected."""

    def __init__(self, entry: CatalogEntry, where: _Where) -> None:
        self.values, self.where = entry.values, where
        self.problems: list[Problem] = []

    def wrong(self, key: str, what: str, valid: str) -> None:
        self.problems.append(Problem(self.where(key), what, valid))

    def numbers(self, key: str, shape: tuple[int, ...], default: float | None = None) -> Array:
        """A value as an array; 0 in a dimension: any number."""
        if key not in self.values and default is not None:
            return np.full(shape, default)
        wanted = " of ".join("any number" if size == 0 else str(size) for size in shape)
        if key not in self.values:
            self.wrong(key, f"missing '{key}'", f"{wanted} numbers")
            return np.zeros(shape)
        try:
            found = np.array(self.values[key], float)
        except (TypeError, ValueError):
            found = np.array(None)
        fits = found.ndim == len(shape) and all(want in (0, got) for want, got in zip(shape, found.shape, strict=True))
        if not fits:
            self.wrong(key, f"'{key}' is not {wanted} numbers", f"{wanted} numbers")
            return np.zeros(shape)
        if found.size and np.abs(found).max() > _LARGEST:
            self.wrong(key, f"'{key}' has {found.flat[np.abs(found).argmax()]:g}", f"numbers up to {_LARGEST:g}")
            return np.zeros(shape)
        return found

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str):
            self.wrong(key, f"missing '{key}'" if value is None else f"'{key}' is not a text", "a text")
            return ""
        return value


def _arm(entry: CatalogEntry, where: _Where) -> Arm:
    given = _Values(entry, where)
    for key in entry.values:
        if key not in _KEYS and not _CAPSULES.fullmatch(key):
            valid = f"{', '.join(_KEYS)}, link_0_capsules_m, link_1_capsules_m, ..."
            given.wrong(key, f"unknown value '{key}'{did_you_mean(key, _KEYS)}", valid)
    names = given.text("joints").split()
    count = len(names)
    if not names:
        given.wrong("joints", "no joint is named", "the names of the joints with spaces between, from the base on")
        raise ScenarioError(given.problems)
    if len(set(names)) != count:
        given.wrong("joints", "a joint's name stands twice", "a name of its own for every joint")
    limits = _limits(given, count)
    flange = pose_of(
        given.numbers("flange_m", (3,), 0.0), "rpy", np.radians(given.numbers("flange_rpy_deg", (3,), 0.0))
    )
    by_dh = "dh_convention" in entry.values
    for key in _AXES if by_dh else _DH:
        if key in entry.values:
            given.wrong(
                key, f"'{key}' besides {'dh_convention' if by_dh else 'axes'}", "axes and points, or a DH table"
            )
    rows, axes, points = [], np.zeros((count, 3)), np.zeros((count, 3))
    if by_dh:
        rows = _dh_rows(given, names, limits)
    else:
        axes, points = given.numbers("axes", (count, 3)), given.numbers("points_m", (count, 3))
        if (np.abs(np.linalg.norm(axes, axis=1) - 1.0) > 1e-6).any() and not given.problems:
            given.wrong("axes", "an axis is no unit vector", "rows of length 1")
    capsules, near = _capsules(given, count), _near(given, count)
    if given.problems:
        raise ScenarioError(given.problems)
    if by_dh:
        found = arm_from_dh(entry.name, rows, given.text("dh_convention"), flange=flange)
    else:
        joints = [
            Joint(name, unit_axis(axis), triple(point), *limit)
            for name, axis, point, limit in zip(names, axes, points, limits, strict=True)
        ]
        found = Arm(entry.name, tuple(joints), as_matrix(tidy(flange)))
    return replace(found, capsules=capsules, near=near, title=entry.title)


def _limits(given: _Values, count: int) -> list[tuple[float, float, float, float]]:
    """(lower, upper, speed, acceleration) of each joint, radians."""
    lower, upper, speed, acceleration = (
        given.numbers(key, (count,), default)
        for key, default in zip(_PER_JOINT[:4], (None, None, None, np.inf), strict=True)
    )
    if (lower > upper).any():
        given.wrong("lower_deg", "a lower limit is above the upper one", "lower_deg <= upper_deg for every joint")
    for key, values in (("speed_deg_s", speed), ("acceleration_deg_s2", acceleration)):
        if not given.problems and not (values > 0.0).all():
            given.wrong(key, f"'{key}' is not positive", "numbers above 0")
    ready = given.numbers("ready_deg", (count,), 0.0)
    if "ready_deg" in given.values and not given.problems and ((ready < lower) | (ready > upper)).any():
        given.wrong("ready_deg", "'ready_deg' is outside the limits", "lower_deg <= ready_deg <= upper_deg")
    rows = np.radians(np.stack([lower, upper, speed, acceleration], axis=1))
    return [(float(a), float(b), float(c), float(d)) for a, b, c, d in rows]


def _dh_rows(given: _Values, names: list[str], limits: list[tuple[float, float, float, float]]) -> list[DhRow]:
    count = len(names)
    convention = given.text("dh_convention")
    if convention not in CONVENTIONS:
        hint = did_you_mean(convention, CONVENTIONS)
        given.wrong("dh_convention", f"no convention '{convention}'{hint}", " or ".join(CONVENTIONS))
    a, d = given.numbers("dh_a_m", (count,)), given.numbers("dh_d_m", (count,))
    alpha, theta = given.numbers("dh_alpha_deg", (count,)), given.numbers("dh_theta_deg", (count,), 0.0)
    sign = given.numbers("dh_sign", (count,), 1.0)
    if not np.isin(sign, (-1.0, 1.0)).all():
        given.wrong("dh_sign", "a sign that is neither 1 nor -1", "1, or -1 where the joint turns the other way")
    return [
        DhRow(
            float(a[i]),
            math.radians(alpha[i]),
            float(d[i]),
            math.radians(theta[i]),
            int(sign[i]),
            *limits[i],
            name=name,
        )
        for i, name in enumerate(names)
    ]


def _capsules(given: _Values, count: int) -> tuple[Capsule, ...]:
    found: list[Capsule] = []
    for key in given.values:
        match = _CAPSULES.fullmatch(key)
        if not match:
            continue
        link, rows = int(match[1]), given.numbers(key, (0, 7))
        if link > count:
            given.wrong(key, f"link {link} of an arm of {count} joints", f"links 0 (the base) to {count}")
        if (rows[:, 6] <= 0.0).any():
            given.wrong(key, "a radius that is not positive", "rows of end, end, radius > 0 in metres")
        found += [
            Capsule(link, triple(row[:3]), triple(row[3:6]), float(row[6]), f"link_{link}") for row in rows
        ]  # fmt: skip
    return tuple(sorted(found, key=lambda capsule: capsule.link))


def _near(given: _Values, count: int) -> tuple[tuple[int, int], ...]:
    pairs: Any = given.numbers("near", (0, 2)) if "near" in given.values else np.zeros((0, 2))
    if ((pairs < 0) | (pairs > count) | (pairs != np.round(pairs))).any():
        given.wrong("near", "a pair that names no link", f"pairs of links 0 (the base) to {count}")
    return tuple((int(min(pair)), int(max(pair))) for pair in pairs)
