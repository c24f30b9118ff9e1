"""Fly a controller of your own on a quadrotor: twice round a mast, looking at it.

You learn: what flies takes a place, a velocity and a heading (`FlightCommand`) and holds them by its own autopilot, so
a controller is guidance only (circle_flight.py). It knows what the autopilot believes (`FlightReadings`); the tracks
also have the truth, and the difference is what the sensors cost.
"""

from pathlib import Path

import numpy as np

import fieldworthy as fw

result = fw.fly(fw.load(Path(__file__).with_name("circle-flight.toml")))

tracks, circling = result.tracks, result.tracks["mode"] == 1  # (trials, samples)
away_m = np.hypot(tracks["north_m"] - 20.0, tracks["east_m"])
believed_m = np.hypot(tracks["believed_north_m"] - 20.0, tracks["believed_east_m"])
truly = np.abs(away_m[circling] - 10.0)
by_belief = np.abs(believed_m[circling] - 10.0)
to_mast = np.arctan2(-tracks["east_m"], 20.0 - tracks["north_m"])
aside_deg = np.degrees(np.abs(np.angle(np.exp(1j * (tracks["heading_rad"] - to_mast)))[circling]))

print(f"{(result.outcome == 'goal').sum()} of {len(result.trial)} came back")
print(f"off the circle: {truly.mean():.2f} m on average, at most {truly.max():.2f} m")
print(f"as the autopilot believed: {by_belief.mean():.2f} m, at most {by_belief.max():.2f} m")
print(f"nose off the mast: {aside_deg.mean():.1f} deg on average; least clearance {result.clearance_m.min():.1f} m")

assert result.success_rate >= 0.9
# The loops hold the circle to some decimetres in turbulence; the receiver's wandering comes on top.
assert by_belief.mean() < 0.6
assert truly.mean() < 1.5
