"""A controller of our own for what flies: go round a mast, looking at it, then on to the goal.

What a scenario names as "circle_flight:CircleFlight". It gives the autopilot a place and a velocity; holding them is
the autopilot's work. On the circle the place is the nearest point of the circle. The velocity is that of a moment
later: the vehicle takes `lead_s` to follow a new velocity or heading, and without it would fly outside of the circle.

Limits: a circle at one height; it does not look for obstacles.
"""

from typing import ClassVar

import numpy as np

import fieldworthy as fw


class CircleParameters(fw.Parameters):
    """Numbers of the flight: what [control.parameters] may say."""

    centre_north_m: float = 20.0
    centre_east_m: float = 0.0
    radius_m: float = 10.0
    speed_m_s: float = 4.0
    turns: float = 2.0
    lead_s: float = 0.5


class CircleFlight:
    """To the first waypoint; from there round the centre, clockwise seen from above; then to the other targets."""

    reads_deg = None  # no LiDAR
    arrays = "numpy"
    Parameters = CircleParameters
    memory: ClassVar = {"azimuth_rad": 0.0, "turned_rad": 0.0}  # every trial has its own

    def command(self, readings, parameters):
        """Place, velocity and heading of all trials at once; every array has one entry a trial."""
        r, p = readings, parameters
        north, east = r.north_m - p.centre_north_m, r.east_m - p.centre_east_m
        azimuth = np.arctan2(east, north)
        circling = (r.target > 0) & (r.memory["turned_rad"] < 2.0 * np.pi * p.turns)
        step = np.where(circling, wrapped(azimuth - r.memory["azimuth_rad"]), 0.0)

        ahead = azimuth + np.where(circling, p.speed_m_s / p.radius_m * p.lead_s, 0.0)
        round_n, round_e = -p.speed_m_s * np.sin(ahead), p.speed_m_s * np.cos(ahead)
        place_n = p.centre_north_m + p.radius_m * np.cos(azimuth)
        place_e = p.centre_east_m + p.radius_m * np.sin(azimuth)
        return fw.FlightCommand(
            north_m=np.where(circling, place_n, r.target_north_m),
            east_m=np.where(circling, place_e, r.target_east_m),
            up_m=np.where(circling, r.from_up_m, r.target_up_m),
            north_m_s=np.where(circling, round_n, 0.0),
            east_m_s=np.where(circling, round_e, 0.0),
            heading_rad=wrapped(ahead + np.pi),  # the nose to the mast
            speed_max_m_s=r.target_speed_m_s,
            mode=np.where(circling, 1, 0),
            memory={"azimuth_rad": azimuth, "turned_rad": r.memory["turned_rad"] + step},
        )


def wrapped(angle):
    """The angle in (-pi, pi]."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi
