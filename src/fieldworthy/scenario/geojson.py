"""A map as obstacles: points, lines and outlines of a GeoJSON file become solids in local north and east.

Points become upright cylinders, lines thin walls (or filled strips, where their kind has a width), polygons filled
solids with their holes. Positions are on the plane that touches WGS 84 at the reference (`core.frames`).
"""

from __future__ import annotations

import pathlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import shapely

from fieldworthy.core.errors import Problem
from fieldworthy.core.frames import ne_from_lonlat
from fieldworthy.environment.shapes import Cylinder, Polygon, Polyline, Shape
from fieldworthy.scenario.geojson_file import Part, centre_lonlat, raise_problems, read_map
from fieldworthy.scenario.geojson_mistakes import far_features, unknown_kinds
from fieldworthy.scenario.geojson_sizes import Sizes, sizes_of
from fieldworthy.scenario.schema import KindDefaults

Ring = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class GeoLayout:
    """Obstacles of a map, and how it was read."""

    shapes: tuple[Shape, ...]
    reference_lon_deg: float
    reference_lat_deg: float
    counts: dict[str, int]
    """Features by kind."""
    notes: tuple[str, ...]
    """What was repaired, left out or not known, in sentences."""


def read_geojson(
    path: pathlib.Path | str,
    reference: tuple[float, float] | None = None,
    kinds: Mapping[str, KindDefaults] | None = None,
    *,
    kind_property: str = "kind",
    simplify_m: float = 0.0,
) -> GeoLayout:
    """Read a map as obstacles.

    `reference` is the (longitude, latitude) [deg] of north = east = 0, by default the centre of the map's bounding
    box. `kinds` sets heights and sizes by the feature's `kind_property`. `simplify_m` > 0 drops vertices whose loss
    moves the outline by no more than that [m]. Raises ScenarioError with every problem of the file, features far from
    the reference among them.
    """
    found = read_map(pathlib.Path(path))
    lon, lat = reference if reference is not None else centre_lonlat(found)
    shapes: list[Shape] = []
    notes = list(found.notes)
    problems: list[Problem] = []
    sizes: list[tuple[Sizes, str]] = []
    kind_names = [_kind(properties, kind_property) for properties in found.properties]
    for index, (kind, properties) in enumerate(zip(kind_names, found.properties, strict=True)):
        chosen, wrong = sizes_of(kind, properties, kinds or {})
        sizes.append((chosen, _label(kind, properties)))
        problems.extend(
            Problem(f"{path} feature {index}", what, "height_m, top_up_m, bottom_up_m, radius_m, width_m [m]")
            for what in wrong
        )
    problems.extend(far_features(found, [label for _, label in sizes], reference))
    raise_problems(problems, pathlib.Path(path))
    for part in found.parts:
        rings = tuple(tuple(_placed(point, lon, lat) for point in ring) for ring in part.rings_lonlat_deg)
        made, note = _solids(part, rings, *sizes[part.feature], simplify_m)
        if not made:
            problems.append(Problem(f"{path} feature {part.feature}", note, "an outline that encloses an area"))
        elif note:
            notes.append(f"feature {part.feature} ({kind_names[part.feature]}): {note}")
        shapes.extend(made)
    raise_problems(problems, pathlib.Path(path))
    notes.extend(unknown_kinds(kind_names, kinds or {}, kind_property))
    return GeoLayout(tuple(shapes), lon, lat, dict(Counter(kind_names)), tuple(notes))


def _placed(point: tuple[float, float], ref_lon: float, ref_lat: float) -> tuple[float, float]:
    north, east = ne_from_lonlat(point[0], point[1], ref_lon, ref_lat)
    return float(north), float(east)


def _kind(properties: Mapping[str, Any], kind_property: str) -> str:
    value = properties.get(kind_property)
    return value if isinstance(value, str) and value else "default"


def _label(kind: str, properties: Mapping[str, Any]) -> str:
    """The kind, and the name on the map if it has one: `buoy: No. 4`."""
    name = next((properties[key] for key in ("label", "name", "objnam") if properties.get(key)), "")
    return f"{kind}: {name}" if name else kind


def _solids(
    part: Part, rings: tuple[Ring, ...], sizes: Sizes, label: str, simplify_m: float
) -> tuple[list[Shape], str]:
    """The solids of one part, and a note on what had to be repaired (the reason, where there are none)."""
    if part.form == "point":
        north, east = rings[0][0]
        cylinder = Cylinder(
            north_m=north, east_m=east, radius_m=sizes.radius_m,
            top_up_m=sizes.top_up_m, bottom_up_m=sizes.bottom_up_m, label=label,
        )  # fmt: skip
        return [cylinder], ""
    if part.form == "line" and sizes.width_m == 0.0:
        line = _simplified(shapely.LineString(rings[0]), simplify_m)
        points = _points(line.coords)
        return [Polyline(points_ne_m=points, top_up_m=sizes.top_up_m, bottom_up_m=sizes.bottom_up_m, label=label)], ""
    note = ""
    if part.form == "line":
        line = _simplified(shapely.LineString(rings[0]), simplify_m)
        outline: Any = line.buffer(sizes.width_m / 2, cap_style="flat", join_style="mitre", mitre_limit=2.0)
    else:
        outline = shapely.Polygon(rings[0], rings[1:])
        if not outline.is_valid:
            reason = str(shapely.is_valid_reason(outline)).partition("[")[0].lower()
            outline = shapely.make_valid(outline)
            note = f"the outline was repaired ({reason})"
        outline = _simplified(outline, simplify_m)
    polygons = [item for item in _polygons(outline) if item.area > 0.0]
    if not polygons:
        return [], "the outline encloses no area"
    return [_solid(item, sizes, label) for item in polygons], note


def _simplified(geometry: Any, tolerance_m: float) -> Any:
    simpler = geometry.simplify(tolerance_m, preserve_topology=True) if tolerance_m > 0.0 else geometry
    return simpler if simpler.length > 0.0 else geometry  # a closed line smaller than the tolerance keeps its points


def _polygons(geometry: Any) -> list[Any]:
    """The polygons in whatever a repair or a buffer has returned; its stray points and lines have no area."""
    if geometry.geom_type == "Polygon":
        return [] if geometry.is_empty else [geometry]
    return [item for part in getattr(geometry, "geoms", ()) for item in _polygons(part)]


def _solid(polygon: Any, sizes: Sizes, label: str) -> Polygon:
    return Polygon(
        points_ne_m=_points(polygon.exterior.coords)[:-1],
        top_up_m=sizes.top_up_m,
        bottom_up_m=sizes.bottom_up_m,
        holes_ne_m=tuple(_points(ring.coords)[:-1] for ring in polygon.interiors),
        label=label,
    )


def _points(coordinates: Any) -> Ring:
    return tuple((float(north), float(east)) for north, east in coordinates)
