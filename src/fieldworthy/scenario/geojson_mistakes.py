"""Mistakes that a map can hold and still be valid GeoJSON: features far from all others, kinds that nothing knows."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

from fieldworthy.core.errors import Problem
from fieldworthy.core.frames import ne_from_lonlat
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.scenario.geojson_file import LonLat, MapFile, centre_lonlat
from fieldworthy.scenario.geojson_sizes import BUILT_IN
from fieldworthy.scenario.schema import KindDefaults

FAR_M = 20_000.0
"""Beyond this the tangent plane stretches distances by more than 5e-6 and a wrong reference is the likelier cause."""


def far_features(found: MapFile, labels: Sequence[str], reference: LonLat | None) -> list[Problem]:
    """A problem for every feature that reaches farther than FAR_M from the reference, with its place.

    Without a reference the centre of the map is meant. One feature on the wrong side of the world moves that centre
    away from all others, so the features named then are the ones far from where most are.
    """
    zero, name = (centre_lonlat(found), "the map's centre") if reference is None else (reference, "the reference point")
    far = _beyond(found, zero)
    if far and reference is None:
        middle = _middle(found)
        odd = _beyond(found, middle)
        if odd:
            far, zero, name = odd, middle, "the other features, around"
    return [_problem(found, index, labels[index], place, zero, name) for index, place in far.items()]


def _problem(found: MapFile, index: int, label: str, place: LonLat, zero: LonLat, name: str) -> Problem:
    swapped = _distance_m((place[1], place[0]), zero) <= FAR_M if abs(place[0]) <= 90 else False
    hint = "longitude and latitude are swapped" if swapped else (
        "longitude and latitude may be swapped, [reference] may be wrong, or the map has to be cut"
    )  # fmt: skip
    return Problem(
        f"{found.path} feature {index}",
        f"{label}: [{place[0]:.10g}, {place[1]:.10g}] is {_distance_m(place, zero) / 1000:.0f} km from {name} "
        f"[{zero[0]:.10g}, {zero[1]:.10g}] ({hint})",
        f"[longitude, latitude] within {FAR_M / 1000:g} km",
    )


def _beyond(found: MapFile, zero: LonLat) -> dict[int, LonLat]:
    """The farthest point of each feature that reaches beyond FAR_M."""
    farthest: dict[int, LonLat] = {}
    for part in found.parts:
        points = [point for ring in part.rings_lonlat_deg for point in ring]
        if part.feature in farthest:
            points.append(farthest[part.feature])
        farthest[part.feature] = max(points, key=lambda point: _distance_m(point, zero))
    return {index: point for index, point in farthest.items() if _distance_m(point, zero) > FAR_M}


def _distance_m(point: LonLat, zero: LonLat) -> float:
    north, east = ne_from_lonlat(point[0], point[1], zero[0], zero[1])
    return math.hypot(float(north), float(east))


def _middle(found: MapFile) -> LonLat:
    """Where most features are: an actual longitude and latitude, each the median of the parts' first points."""
    first = [part.rings_lonlat_deg[0][0] for part in found.parts]
    lons = [lon for lon, _ in first]
    if max(lons) - min(lons) > 180.0:  # across the 180th meridian
        lons = [lon + 360.0 if lon < 0 else lon for lon in lons]
    lon = statistics.median_low(lons)
    return (lon - 360.0 if lon > 180.0 else lon), statistics.median_low(lat for _, lat in first)


def unknown_kinds(kind_names: Sequence[str], kinds: Mapping[str, KindDefaults], kind_property: str) -> list[str]:
    """Sentences about features whose sizes are the default ones because nothing knows their kind."""
    if all(kind == "default" for kind in kind_names):
        return [
            f"no feature has a text in the property '{kind_property}': all use the default sizes; "
            "[geojson] kind_property names the one that says what a feature is"
        ]
    known = [name for name in dict.fromkeys([*BUILT_IN, *kinds]) if name != "default"]
    unknown = Counter(kind for kind in kind_names if kind not in known and kind != "default")
    return [
        f"{count} feature{'s' if count > 1 else ''} of unknown kind '{kind}' use{'' if count > 1 else 's'} the default "
        f"sizes{did_you_mean(kind, known)}; known: {', '.join(known)}"
        for kind, count in unknown.items()
    ]
