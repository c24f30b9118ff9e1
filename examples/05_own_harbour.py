"""Sail in a harbour of your own: write a GeoJSON, name it in a scenario, fly.

You learn: points, lines and polygons in longitude and latitude become buoys, walls and shore; `kind` picks heights
and sizes, a feature's own properties override them. Charts and OpenStreetMap export the same format (docs/maps.md).
"""

import json
import tempfile
from pathlib import Path

import fieldworthy as fw


def feature(kind, form, coordinates, **properties):
    """One GeoJSON feature."""
    geometry = {"type": form, "coordinates": coordinates}
    return {"type": "Feature", "properties": {"kind": kind, **properties}, "geometry": geometry}


# 0.001 degrees are 111 m of latitude and, at 55 degrees north, 64 m of longitude.
FEATURES = [
    feature("shore", "Polygon", [[[4.998, 55.0], [5.002, 55.0], [5.002, 54.9995], [4.998, 54.9995], [4.998, 55.0]]]),
    feature("wall", "LineString", [[4.9990, 55.0], [4.9990, 55.0007], [4.9997, 55.0007]], name="mole", width_m=4.0),
    feature("pontoon", "LineString", [[5.0006, 55.0], [5.0006, 55.0004]]),
    feature("buoy", "Point", [5.0002, 55.0011], name="fairway", radius_m=1.0),
]
SCENARIO = """
schema = 1
name = "own-harbour"
duration_s = 120.0
obstacles_geojson = "own-harbour.geojson"
[start]
lon_deg = 5.0002
lat_deg = 55.0016
heading_deg = 180.0
spread_heading_deg = 10.0
spread_east_m = 3.0
[goal]
lon_deg = 5.0001
lat_deg = 55.0004
radius_m = 4.0
[sensors.lidar]
noise_m = 0.05
[control.parameters]
safe_distance_m = 12.0
cruise_speed_m_s = 3.0
avoid_speed_m_s = 2.0
"""

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "own-harbour.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": FEATURES}))
    (folder / "own-harbour.toml").write_text(SCENARIO)
    scenario = fw.load(folder / "own-harbour.toml")
    result = fw.fly(scenario, trials=10)

print(f"reference: {scenario.reference.lon_deg:.4f} E, {scenario.reference.lat_deg:.5f} N")
for shape in result.layouts[0]:
    print(f"  {type(shape).__name__:9s} {shape.label:16s} top {shape.top_up_m:.1f} m")
print(f"{result.success_rate:.0%} reached the berth; least clearance {result.clearance_m.min():.1f} m")

start, goal = scenario.start, scenario.goal
# 0.0012 degrees of latitude at 55 degrees north are 133.6 m.
assert abs(start.north_m - goal.north_m - 133.6) < 0.1
assert result.success_rate >= 0.7
assert result.clearance_m.min() > 0.0
