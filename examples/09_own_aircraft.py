"""Compose an aircraft of your own from a catalogue file, and see in which wind it still holds its place.

You learn: a vehicle is a file of values, each with its source; a copy with other values beside the scenario is another
vehicle. Gains of the autopilot follow from mass, inertia and rotors, so it flies untuned. Wind is a number to sweep.
"""

import re
import tempfile
from importlib import resources
from pathlib import Path

import numpy as np

import fieldworthy as fw


def changed(text, **values):
    """A catalogue file's text with other values."""
    for name, value in values.items():
        line = f'{name} = {{ value = {value}, source = "own: weighed and measured" }}'
        text, count = re.subn(rf"(?m)^{name} = .*$", line, text)
        assert count == 1, name
    return text


ORIGINAL = resources.files("fieldworthy.catalog") / "aircraft" / "x500.toml"
# The reference quadrotor with a camera below: heavier, slower to turn, with more drag.
VALUES = {
    "mass_kg": 2.6,
    "inertia_xx_kg_m2": 0.021,
    "inertia_yy_kg_m2": 0.021,
    "inertia_zz_kg_m2": 0.031,
    "drag_area_m2": 0.07,
}
SCENARIO = """
schema = 1
name = "own-aircraft"
duration_s = 60.0
dt_s = 0.002
[vehicle]
model = "camera-quad.toml"
[start]
up_m = 20.0
[goal]
north_m = 0.0
east_m = 0.0
up_m = 20.0
radius_m = 2.5
hold_s = 15.0
[area]
north_m = [-100.0, 100.0]
east_m = [-100.0, 100.0]
[air]
wind_speed_m_s = 4.0
wind_from_deg = 45.0
shear = "log"
[air.turbulence]
model = "von-karman"
"""

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "camera-quad.toml").write_text(changed(ORIGINAL.read_text(), **VALUES))
    (folder / "own-aircraft.toml").write_text(SCENARIO)
    scenario = fw.load(folder / "own-aircraft.toml")
    rates = {}
    print("wind at 20 ft [m/s]   held its place   least margin of the rotors   energy [Wh]")
    for wind_m_s in (4.0, 8.0, 16.0):
        result = fw.fly(fw.set_value(scenario, "air.wind_speed_m_s", wind_m_s), trials=10)
        rates[wind_m_s] = result.success_rate
        wh = result.tracks["energy_j"][np.arange(10), result.length - 1].mean() / 3600.0
        least = np.nanmin(result.tracks["margin_least"])
        print(f"{wind_m_s:20.0f}   {result.success_rate:14.0%}   {least:26.2f}   {wh:11.2f}")

assert scenario.vehicle.values["mass_kg"] == 2.6
assert rates[4.0] >= 0.9
assert rates[16.0] < rates[4.0]
