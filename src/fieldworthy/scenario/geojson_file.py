"""Read a GeoJSON file (RFC 7946) into single points, lines and outlines in longitude and latitude, fully checked.

Coordinates are (longitude, latitude) [deg] on WGS 84, as RFC 7946 demands; a third number (height) is ignored.
"""

from __future__ import annotations

import json
import math
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.core.toml_file import read_text

LonLat = tuple[float, float]

_GEOMETRIES = (
    "Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection"
)  # fmt: skip
_SHOWN_PROBLEMS = 8
_VALID_LONLAT = "[longitude -180..180, latitude -90..90] in degrees (export the map as WGS 84, EPSG:4326)"


@dataclass(frozen=True)
class Part:
    """One point, line or outline (with holes) of a feature."""

    form: Literal["point", "line", "polygon"]
    rings_lonlat_deg: tuple[tuple[LonLat, ...], ...]
    """A single ring for points and lines; outline then holes for polygons, without the closing repeat."""
    feature: int
    """Index of the feature in the file, from 0."""


@dataclass
class MapFile:
    """What a GeoJSON file holds, before it is placed in metres."""

    path: pathlib.Path
    parts: list[Part] = field(default_factory=list)
    properties: list[dict[str, Any]] = field(default_factory=list)
    """One dictionary a feature."""
    notes: list[str] = field(default_factory=list)


class _Invalid(Exception):
    """What is wrong with one feature, and what would be valid."""


def read_map(path: pathlib.Path) -> MapFile:
    """Read and check a file; ScenarioError with everything wrong in it (the first few features, and how many more)."""
    document = _document(path)
    found = MapFile(path)
    problems = []
    for index, feature in enumerate(_features(document, path)):
        try:
            properties, geometry = _split_feature(feature)
            found.properties.append(properties)
            if geometry is None:
                found.notes.append(f"feature {index} has no geometry and was left out")
                continue
            found.parts.extend(Part(form, rings, index) for form, rings in _parts(geometry))
        except _Invalid as error:
            problems.append(Problem(f"{path} feature {index}", *error.args))
        except RecursionError:
            problems.append(Problem(f"{path} feature {index}", "GeometryCollections nested too deeply", "a flat one"))
    raise_problems(problems, path)
    if not found.parts:
        raise ScenarioError(
            Problem(str(path), "the map is empty: it has no feature with a geometry", "at least one feature")
        )
    return found


def raise_problems(problems: list[Problem], path: pathlib.Path) -> None:
    """Raise what was found in a map, shortened: a wrong export is wrong in every feature."""
    if len(problems) > _SHOWN_PROBLEMS:
        more = len(problems) - _SHOWN_PROBLEMS
        problems = [*problems[:_SHOWN_PROBLEMS], Problem(str(path), f"and {more} more features with problems")]
    if problems:
        raise ScenarioError(problems)


def centre_lonlat(found: MapFile) -> LonLat:
    """Centre of the bounding box (longitude, latitude) [deg], also across the 180th meridian."""
    points = [point for part in found.parts for ring in part.rings_lonlat_deg for point in ring]
    lons, lats = [point[0] for point in points], [point[1] for point in points]
    if max(lons) - min(lons) > 180.0:
        lons = [lon + 360.0 if lon < 0 else lon for lon in lons]
    lon = (min(lons) + max(lons)) / 2
    return (lon - 360.0 if lon > 180.0 else lon), (min(lats) + max(lats)) / 2


def _document(path: pathlib.Path) -> dict[str, Any]:
    text = read_text(path, str(path), "a GeoJSON file")
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        what = f"not valid JSON: {error.msg}, column {error.colno}" if text.strip() else "the file is empty"
        raise ScenarioError(Problem(f"{path}:{error.lineno}", what, "a GeoJSON FeatureCollection")) from None
    except RecursionError:
        raise ScenarioError(
            Problem(str(path), "not valid JSON: nested too deeply", "a GeoJSON FeatureCollection")
        ) from None
    except ValueError:  # Python reads no whole number of more than 4300 digits
        raise ScenarioError(Problem(str(path), "a number of thousands of digits", _VALID_LONLAT)) from None
    if not isinstance(document, dict) or "type" not in document:
        valid = "an object with type = FeatureCollection, Feature or a geometry"
        raise ScenarioError(Problem(str(path), "not GeoJSON: no object with a 'type'", valid))
    crs = document.get("crs")
    properties = crs.get("properties") if isinstance(crs, dict) else None
    name = str(properties.get("name") or "") if isinstance(properties, dict) else ""
    if name and not name.endswith(("CRS84", "4326")):
        raise ScenarioError(Problem(str(path), f"the map's coordinate system is {name}", _VALID_LONLAT))
    return document


def _features(document: dict[str, Any], path: pathlib.Path) -> list[Any]:
    kind = document["type"]
    if kind == "FeatureCollection":
        features = document.get("features")
        if not isinstance(features, list):
            raise ScenarioError(Problem(str(path), "FeatureCollection without a list 'features'", "features = [...]"))
        if not features:
            raise ScenarioError(
                Problem(str(path), "the map is empty: 'features' has no element", "at least one feature")
            )
        return features
    if kind == "Feature" or kind in _GEOMETRIES:
        return [document]
    choices = ("FeatureCollection", "Feature", *_GEOMETRIES)
    raise ScenarioError(
        Problem(str(path), f"unknown type {kind!r}{did_you_mean(str(kind), choices)}", ", ".join(choices))
    )


def _split_feature(feature: Any) -> tuple[dict[str, Any], Any]:
    """(properties, geometry) of a feature or a bare geometry."""
    if not isinstance(feature, dict):
        raise _Invalid("is not an object", 'an object with "type": "Feature"')
    if feature.get("type") != "Feature":
        return {}, feature
    if "geometry" not in feature:
        raise _Invalid("has no 'geometry'", "a geometry, or null")
    properties = feature.get("properties")
    return (properties if isinstance(properties, dict) else {}), feature["geometry"]


def _parts(geometry: Any) -> Iterator[tuple[Literal["point", "line", "polygon"], tuple[tuple[LonLat, ...], ...]]]:
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in _GEOMETRIES:
        raise _Invalid(f"unknown geometry type {kind!r}{did_you_mean(str(kind), _GEOMETRIES)}", ", ".join(_GEOMETRIES))
    if kind == "GeometryCollection":
        for item in _list(geometry.get("geometries"), "geometries"):
            yield from _parts(item)
        return
    coordinates = geometry.get("coordinates")
    single = [coordinates] if not kind.startswith("Multi") else _list(coordinates, f"coordinates of {kind}")
    for item in single:
        if kind.endswith("Point"):
            yield "point", ((_position(item),),)
        elif kind.endswith("LineString"):
            yield "line", (_line(item),)
        else:
            rings = _list(item, f"coordinates of {kind}")
            yield "polygon", tuple(_ring(ring) for ring in rings)


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise _Invalid(
            f"{what}: {'an empty list' if value == [] else 'not a list'}", "a list with at least one element"
        )
    return value


def _position(value: Any) -> LonLat:
    if not isinstance(value, list) or len(value) < 2 or any(type(item) not in (int, float) for item in value[:2]):
        raise _Invalid(f"{str(value)[:60]} is not a position", _VALID_LONLAT)
    lon, lat = value[0], value[1]
    if any(isinstance(item, float) and not math.isfinite(item) for item in (lon, lat)):
        raise _Invalid(f"the position [{lon}, {lat}] is not finite", _VALID_LONLAT)
    if any(abs(item) > 1e300 for item in (lon, lat)):
        raise _Invalid("a position whose numbers are beyond all measure", _VALID_LONLAT)
    if not (-180 <= lon <= 180 and -90 <= lat <= 90):
        swapped = -180 <= lat <= 180 and -90 <= lon <= 90
        guess = "latitude and longitude are swapped" if swapped else "projected metres, perhaps"
        raise _Invalid(f"[{lon:.10g}, {lat:.10g}] is not longitude and latitude ({guess})", _VALID_LONLAT)
    return float(lon), float(lat)


def _distinct(value: Any, what: str) -> tuple[LonLat, ...]:
    points = [_position(item) for item in _list(value, what)]
    return tuple(point for index, point in enumerate(points) if index == 0 or point != points[index - 1])


def _line(value: Any) -> tuple[LonLat, ...]:
    points = _distinct(value, "coordinates of a line")
    if len(points) < 2:
        raise _Invalid("a line with fewer than 2 different points", "at least 2 points")
    return points


def _ring(value: Any) -> tuple[LonLat, ...]:
    """A ring without its closing repeat; an unclosed one is taken as closed."""
    points = _distinct(value, "ring of a polygon")
    points = points[:-1] if len(points) > 1 and points[0] == points[-1] else points
    if len(set(points)) < 3:
        raise _Invalid(
            "a polygon with fewer than 3 different points", "at least 3 points, the first repeated at the end"
        )
    return points
