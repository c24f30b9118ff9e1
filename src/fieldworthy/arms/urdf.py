"""Read an arm from a URDF file: the chain of joints from a base link to a tip link, limits, and shapes for collision.

What the format says, and what becomes of it:
- a URDF draws each joint in the frame of its parent link; here all is moved to the base link's frame, zero posture;
- `continuous` joints get limits of two turns each way, as no more is told; no speed, or 0, is unknown (infinite);
- joints off the chain (the fingers of a gripper) are held at 0, or at the nearest limit; their links move with it;
- collision shapes become capsules that contain them; meshes are read from STL files that lie beside the URDF or in a
  package folder above it. A mesh that is not there, or is no STL, is noted and left out;
- pairs of links whose capsules already overlap at the zero posture (or the nearest posture within limits) are taken to
  touch by construction (`Arm.near`), and noted.
Source: the URDF specification of ROS, wiki.ros.org/urdf/XML
Verified by: tests/cases/test_arm_urdf.py
"""

# Long because the errors of a format that people write by hand stand beside what is read.

from __future__ import annotations

import itertools
import math
import warnings
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from xml.parsers import expat

import numpy as np

from fieldworthy.arms.chain import Arm, Array, Capsule, Joint, as_matrix
from fieldworthy.arms.dh import tidy, triple, unit_axis
from fieldworthy.arms.kinematics import link_motions
from fieldworthy.arms.mesh_capsule import capsule_about, solid_capsule
from fieldworthy.arms.orientation import pose_of
from fieldworthy.arms.separation import segment_segment
from fieldworthy.arms.stl import read_stl
from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.core.toml_file import read_text

LONGEST_M = 20.0
"""A chain whose joints are farther apart than this in all was written in millimetres."""
_MOST_RAD = 50.0
"""Limits beyond this were written in degrees; beyond _NO_LIMIT they mean "none"."""
_NO_LIMIT = 1e3
_TURNS = 4.0 * math.pi
_MOVING = ("revolute", "continuous", "prismatic")
_KINDS = (*_MOVING, "fixed", "floating", "planar")


@dataclass(frozen=True)
class _Joint:
    """A joint as the file has it."""

    element: ET.Element
    name: str
    kind: str
    parent: str
    child: str
    parent_from_joint: Array
    axis: Array
    lower: float
    upper: float
    speed: float
    mimic: str


@dataclass
class _File:
    """A parsed file and what was found wrong with it."""

    shown: str
    folder: Path | None
    root: ET.Element
    lines: dict[ET.Element, int]
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def where(self, element: ET.Element, name: str = "") -> str:
        place = f"{self.shown}:{self.lines[element]}"
        return f"{place} [{name}]" if name else place

    def wrong(self, element: ET.Element, name: str, what: str, valid: str) -> None:
        self.problems.append(Problem(self.where(element, name), what, valid))

    def numbers(self, element: ET.Element | None, key: str, default: Array, name: str) -> Array:
        """An attribute of several numbers, such as xyz."""
        text = element.get(key) if element is not None else None
        if element is None or text is None:
            return default
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            values = np.array([])
        if values.shape != default.shape or not np.isfinite(values).all():
            count = f"{len(default)} finite numbers" if len(default) > 1 else "a finite number"
            self.wrong(element, name, f'{element.tag} {key}="{text}"', count)
            return default
        return values

    def number(self, element: ET.Element | None, key: str, default: float, name: str) -> float:
        return float(self.numbers(element, key, np.array([default]), name)[0])

    def origin(self, element: ET.Element, name: str) -> Array:
        """parent_from_child of an <origin>, (4, 4)."""
        found = element.find("origin")
        xyz, rpy = (self.numbers(found, key, np.zeros(3), name) for key in ("xyz", "rpy"))
        return tidy(pose_of(xyz, "rpy", rpy))


def read_urdf(
    path_or_text: str | Path, base: str | None = None, tip: str | None = None, notes: list[str] | None = None
) -> Arm:
    """The arm between two links of a URDF file, or of its text (which starts with '<').

    base: the link whose frame is the arm's base; None: the one link without a parent.
    tip: the link whose frame is the flange; None: the one link at the end of moving joints.
    notes: receives sentences about what was left out or assumed; without it they are warnings.
    Raises: ScenarioError with file and line of everything that is wrong.
    """
    file = _parsed(path_or_text)
    links = {str(link.get("name")): link for link in file.root.findall("link")}
    joints = _joints(file, links)
    _raise(file)
    children: dict[str, list[_Joint]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    into = {joint.child: joint for joint in joints}
    base = _base(file, links, into, base)
    tip = _tip(file, links, into, children, base, tip)
    chain = _chain(file, into, base, tip)
    moving = [joint for joint in chain if joint.kind != "fixed"]
    _check_chain(file, chain, moving)
    _raise(file)
    frames, numbers = _walk(base, children, moving)
    arm_joints = []
    for joint in moving:
        frame = frames[joint.child]
        kind: Literal["revolute", "prismatic"] = "prismatic" if joint.kind == "prismatic" else "revolute"
        axis = unit_axis(tidy(frame[:3, :3] @ (joint.axis / np.linalg.norm(joint.axis))))
        arm_joints.append(
            Joint(joint.name, axis, triple(frame[:3, 3]), joint.lower, joint.upper, joint.speed, kind=kind)
        )
    capsules = tuple(
        capsule for name in frames for capsule in _capsules(file, name, links[name], frames[name], numbers[name])
    )
    _raise(file)
    name = str(file.root.get("name") or Path(file.shown).stem)
    arm = Arm(name, tuple(arm_joints), as_matrix(tidy(frames[tip])), capsules=capsules, title=name)
    arm = _with_near(file, arm)
    for note in file.notes:
        if notes is None:
            warnings.warn(note, stacklevel=2)
        else:
            notes.append(note)
    return arm


def _raise(file: _File) -> None:
    if file.problems:
        raise ScenarioError(file.problems)


def _parsed(path_or_text: str | Path) -> _File:
    """The tree with the line of every element."""
    text, shown, folder = str(path_or_text), "urdf", None
    if not text.lstrip().startswith("<"):
        path = Path(path_or_text)
        shown, folder = str(path_or_text), path.resolve().parent
        text = read_text(path, shown, "a URDF file")
    parser, builder = expat.ParserCreate(), ET.TreeBuilder()
    lines: dict[ET.Element, int] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise ScenarioError(Problem(f"{shown}:{error.lineno}", f"not valid XML: {reason}", "a URDF file")) from None
    file = _File(shown, folder, builder.close(), lines)
    if file.root.tag != "robot":
        raise ScenarioError(Problem(file.where(file.root), f"<{file.root.tag}> instead of <robot>", "a URDF file"))
    for element in file.root.iter():
        macro = element.tag.startswith("xacro:") or any(s in v for v in element.attrib.values() for s in ("${", "$("))
        if macro:
            what = f"<{element.tag}> is written with xacro macros"
            valid = "plain URDF: run xacro first (xacro robot.urdf.xacro > robot.urdf)"
            raise ScenarioError(Problem(file.where(element), what, valid))
    return file


def _joints(file: _File, links: dict[str, ET.Element]) -> list[_Joint]:
    seen: dict[str, set[str]] = {"link": set(), "joint": set()}
    for element in file.root:
        name = element.get("name")
        if element.tag in seen:
            if not name or name in seen[element.tag]:
                what = f"{element.tag} '{name}' twice" if name else f"{element.tag} without a name"
                file.wrong(element, "", what, "a name of its own for every link and joint")
            seen[element.tag].add(str(name))
    found, parents = [], dict[str, str]()
    for element in file.root.findall("joint"):
        joint = _joint(file, element, links)
        if joint.child in parents:
            what = f"link '{joint.child}' is the child of two joints, {parents[joint.child]} and {joint.name}"
            file.wrong(element, joint.name, what, "one joint above each link (a tree)")
        parents[joint.child] = joint.name
        found.append(joint)
    return found


def _joint(file: _File, element: ET.Element, links: dict[str, ET.Element]) -> _Joint:
    name, kind = str(element.get("name")), str(element.get("type"))
    if kind not in _KINDS:
        file.wrong(element, name, f"type '{kind}'{did_you_mean(kind, _KINDS)}", ", ".join(_KINDS))
    ends = []
    for tag in ("parent", "child"):
        end = element.find(tag)
        link = str(end.get("link")) if end is not None else ""
        if link not in links:
            what = f"{tag} link '{link}' is not in the file{did_you_mean(link, links)}" if link else f"no <{tag}>"
            file.wrong(element if end is None else end, name, what, f'<{tag} link="..."/> with the name of a link')
        ends.append(link)
    axis = file.numbers(element.find("axis"), "xyz", np.array([1.0, 0.0, 0.0]), name)
    length = math.hypot(*axis)
    if kind in _MOVING and not 1e-6 < length < 1e6:
        file.wrong(element, name, f"axis of length {length:g}", "a direction, such as 0 0 1")
        axis = np.array([1.0, 0.0, 0.0])
    limit = element.find("limit")
    lower, upper, speed = (file.number(limit, key, 0.0, name) for key in ("lower", "upper", "velocity"))
    if kind in ("revolute", "prismatic") and limit is None:
        file.wrong(element, name, f"a {kind} joint without <limit>", '<limit lower="" upper="" velocity="" effort=""/>')
    if limit is not None and lower > upper:
        file.wrong(limit, name, f"limits {lower:g} to {upper:g}", "lower <= upper")
    if kind == "revolute" and limit is not None and _MOST_RAD < max(abs(lower), abs(upper)) < _NO_LIMIT:
        file.wrong(limit, name, f"limits {lower:g} to {upper:g} look like degrees", "radians")
    if kind == "continuous" or (kind == "revolute" and max(abs(lower), abs(upper)) >= _NO_LIMIT):
        lower, upper = -_TURNS, _TURNS
    mimic = element.find("mimic")
    return _Joint(
        element, name, kind, ends[0], ends[1], file.origin(element, name), axis, lower, upper,
        speed if speed > 0.0 else math.inf, str(mimic.get("joint")) if mimic is not None else "",
    )  # fmt: skip


def _known_link(file: _File, links: dict[str, ET.Element], name: str, what: str) -> str:
    if name not in links:
        hint = did_you_mean(name, links)
        raise ScenarioError(Problem(file.shown, f"no link '{name}' to be the {what}{hint}", ", ".join(links)))
    return name


def _base(file: _File, links: dict[str, ET.Element], into: dict[str, _Joint], base: str | None) -> str:
    if base is not None:
        return _known_link(file, links, base, "base")
    roots = [name for name in links if name not in into]
    if len(roots) != 1:
        what = f"{len(roots)} links have no parent" + (f": {', '.join(roots)}" if roots else "")
        raise ScenarioError(Problem(file.shown, what, "base = the name of a link"))
    return roots[0]


def _tip(
    file: _File, links: dict[str, ET.Element], into: dict[str, _Joint], children: dict[str, list[_Joint]],
    base: str, tip: str | None,
) -> str:  # fmt: skip
    if tip is not None:
        return _known_link(file, links, tip, "tip")
    # Frames fixed to the base (REP-199's `base`) are no tips: nothing moves them.
    tips = [
        name for name in links
        if name not in children and any(joint.kind in _MOVING for joint in _above(into, base, name))
    ]  # fmt: skip
    if len(tips) != 1:
        what = f"{len(tips)} links could be the tip: {', '.join(tips)}" if tips else f"no joint moves beyond '{base}'"
        raise ScenarioError(Problem(file.shown, what, "tip = the name of one of them" if tips else "a moving joint"))
    return tips[0]


def _above(into: dict[str, _Joint], base: str, link: str) -> list[_Joint]:
    """Joints from the base down to a link; empty where the link is not below the base."""
    chain: list[_Joint] = []
    while link != base:
        joint = into.get(link)
        if joint is None or joint in chain:
            return []
        chain.append(joint)
        link = joint.parent
    return chain[::-1]


def _chain(file: _File, into: dict[str, _Joint], base: str, tip: str) -> list[_Joint]:
    chain = _above(into, base, tip)
    if not chain:
        what = f"no chain of joints leads from '{base}' to '{tip}'"
        raise ScenarioError(Problem(file.shown, what, "a tip below the base"))
    return chain


def _check_chain(file: _File, chain: list[_Joint], moving: list[_Joint]) -> None:
    for joint in moving:
        if joint.kind not in _MOVING:
            file.wrong(joint.element, joint.name, f"a {joint.kind} joint in the arm", "revolute, continuous, prismatic")
        if joint.mimic:
            what = f"joint follows '{joint.mimic}' (mimic), so it is no joint of a serial arm"
            file.wrong(joint.element, joint.name, what, "a chain without mimic joints: choose another tip")
    if not moving:
        file.problems.append(Problem(file.shown, "no joint of the chain moves", "a chain with a moving joint"))
    lengths = [float(np.linalg.norm(joint.parent_from_joint[:3, 3])) for joint in chain]
    if sum(lengths) > LONGEST_M:
        longest = chain[int(np.argmax(lengths))]
        what = f"joints are {sum(lengths):g} m apart in all, {longest.name} alone {max(lengths):g} m: millimetres?"
        origin = longest.element.find("origin")
        element = origin if origin is not None else longest.element
        file.wrong(element, longest.name, what, f"metres, less than {LONGEST_M:g} in all")


def _walk(
    base: str, children: dict[str, list[_Joint]], moving: list[_Joint]
) -> tuple[dict[str, Array], dict[str, int]]:
    """For all links below the base: base_from_link at the zero posture, and the arm's link that each moves with."""
    index = {joint.name: number for number, joint in enumerate(moving, 1)}
    frames, numbers, todo = {base: np.eye(4)}, {base: 0}, [base]
    while todo:
        link = todo.pop()
        for joint in children.get(link, ()):
            frame = frames[link] @ joint.parent_from_joint
            if joint.name not in index and joint.kind in _MOVING:
                frame = frame @ _held(joint)
            frames[joint.child] = frame
            numbers[joint.child] = index.get(joint.name, numbers[link])
            todo.append(joint.child)
    return frames, numbers


def _held(joint: _Joint) -> Array:
    """What a joint off the chain does to its link, held at 0 or the nearest limit."""
    position = min(max(0.0, joint.lower), joint.upper)
    unit = joint.axis / np.linalg.norm(joint.axis)
    if joint.kind == "prismatic":
        return pose_of(unit * position, "rpy", np.zeros(3))
    return pose_of(np.zeros(3), "ur_rotvec", unit * position)


def _capsules(file: _File, name: str, link: ET.Element, base_from_link: Array, number: int) -> list[Capsule]:
    found: list[Capsule] = []
    for collision in link.findall("collision"):
        geometry = collision.find("geometry")
        shape = next(iter(geometry), None) if geometry is not None else None
        if shape is None:
            file.wrong(collision, name, "a collision without a shape", "<geometry> with box, cylinder, sphere or mesh")
            continue
        ends = _shape(file, name, shape)
        if ends is not None:
            frame = base_from_link @ file.origin(collision, name)
            a, b = (frame[:3, :3] @ end + frame[:3, 3] for end in ends[:2])
            found.append(Capsule(number, triple(a), triple(b), ends[2], name))
    return [capsule for capsule in found if not any(_inside(capsule, other) for other in found)]


def _shape(file: _File, name: str, shape: ET.Element) -> tuple[Array, Array, float] | None:
    """A capsule about a shape, in the shape's frame."""
    if shape.tag == "mesh":
        return _mesh(file, name, shape)
    if shape.tag == "sphere":
        sizes = file.numbers(shape, "radius", np.zeros(1), name)
        axis, half, radius = 2, 0.0, float(sizes[0])
    elif shape.tag == "cylinder":
        sizes = np.array([file.number(shape, key, 0.0, name) for key in ("radius", "length")])
        axis, (half, radius) = 2, solid_capsule(float(sizes[1]) / 2.0, float(sizes[0]))
    elif shape.tag == "box":
        sizes = file.numbers(shape, "size", np.zeros(3), name)
        axis = int(np.argmax(sizes))
        half, radius = solid_capsule(float(sizes[axis]) / 2.0, float(np.linalg.norm(np.delete(sizes, axis))) / 2.0)
    else:
        file.wrong(shape, name, f"shape <{shape.tag}>", "box, cylinder, sphere, mesh")
        return None
    if not (sizes > 0.0).all():
        file.wrong(shape, name, f"{shape.tag} of size {' '.join(f'{x:g}' for x in sizes)}", "sizes above 0, in metres")
        return None
    end = half * np.eye(3)[axis]
    return -end, end, radius


def _mesh(file: _File, name: str, shape: ET.Element) -> tuple[Array, Array, float] | None:
    given = str(shape.get("filename"))
    path = mesh_path(given, file.folder)
    if path is None or path.suffix.lower() != ".stl":
        reason = "is not there" if path is None else "is no STL file"
        file.notes.append(f"{file.where(shape, name)}: mesh '{given}' {reason}; the link has no shape for collision")
        return None
    try:
        points = read_stl(path).reshape(-1, 3) * file.numbers(shape, "scale", np.ones(3), name)
    except ScenarioError as error:
        what = error.problems[0].what
        file.notes.append(f"{file.where(shape, name)}: mesh '{given}': {what}; the link has no shape for collision")
        return None
    size = float(np.ptp(points, axis=0).max())
    if size > LONGEST_M:
        file.wrong(shape, name, f"a mesh {size:g} m long: millimetres?", 'scale="0.001 0.001 0.001"')
        return None
    return capsule_about(points)


def mesh_path(filename: str, folder: Path | None) -> Path | None:
    """The file that a mesh's name means, beside the URDF (in `folder`) or in a package above it; None: not there."""
    if folder is None:
        return None
    scheme, _, rest = filename.rpartition("://")
    candidates = [folder / rest]
    if scheme == "package":
        package, _, inside = rest.partition("/")
        for parent in (folder, *folder.parents):
            candidates.append(parent / rest)
            if parent.name == package:
                candidates.append(parent / inside)
    return next((path for path in candidates if path.is_file()), None)


def _inside(capsule: Capsule, other: Capsule) -> bool:
    """Whether a capsule lies within another one (the balls that some files put at the ends of their cylinders)."""
    if (
        other is capsule
        or other.radius_m < capsule.radius_m
        or (other.radius_m, other.a_m) == (capsule.radius_m, capsule.a_m)
    ):
        return False
    ends = np.array([capsule.a_m, capsule.b_m])
    far = segment_segment(ends, ends, np.array(other.a_m), np.array(other.b_m)).distance_m.max()
    return bool(far + capsule.radius_m <= other.radius_m + 1e-9)


def _with_near(file: _File, arm: Arm) -> Arm:
    """The arm with the pairs that overlap where it stands."""
    motions = link_motions(arm, np.clip(np.zeros((1, arm.dof)), arm.lower, arm.upper))[0]
    placed = [
        (c.link, *(motions[c.link] @ (*end, 1.0) for end in (c.a_m, c.b_m)), c.radius_m) for c in arm.capsules
    ]  # fmt: skip
    near = set()
    for (i, a0, a1, ra), (j, b0, b1, rb) in itertools.combinations(placed, 2):
        if abs(i - j) > 1 and segment_segment(a0[:3], a1[:3], b0[:3], b1[:3]).distance_m <= ra + rb:
            near.add((min(i, j), max(i, j)))
    if near:
        pairs = ", ".join(f"{i} and {j}" for i, j in sorted(near))
        file.notes.append(f"{file.shown}: capsules of links {pairs} overlap at rest; taken to touch by construction")
    return replace(arm, near=tuple(sorted(near)))
