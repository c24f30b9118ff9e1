"""A controller of our own: steer into the widest gap ahead, as near to the target's bearing as the gap allows.

What a scenario names as "gap_steering:GapSteering". The algorithm, after the follow-the-gap method (Sezer and Gokasan
2012), kept small:

1. Fold the sweep into sectors of 3 degrees, counted from the bow; a sector's range is the least in it.
2. A sector is open if nothing in it is nearer than `reach_m`.
3. Take the widest run of open sectors; narrow it on either side by the angle that half the boat and a margin take up
   at `reach_m`.
4. Steer to the direction in the rest that is nearest to the target. Nothing left: go slowly and turn to the widest
   run all the same, or hard to starboard where no sector is open.

Limits: it has no memory, so two gaps of the same width make it waver; it does not know how deep a gap is beyond
`reach_m`.
"""

import numpy as np

import fieldworthy as fw


class GapParameters(fw.Parameters):
    """Numbers of the rule: what [control.parameters] may say."""

    cruise_speed_m_s: float = 4.0
    slow_speed_m_s: float = 1.5
    reach_m: float = 18.0
    half_width_m: float = 3.0
    gain_1_s: float = 1.2
    turn_rate_deg_s: float = 30.0


SECTOR_DEG = 3.0
SECTORS = 60
MIDDLE_RAD = np.radians((np.arange(SECTORS) - SECTORS / 2 + 0.5) * SECTOR_DEG)  # starboard positive


class GapSteering:
    """Looks 90 degrees to either side."""

    reads_deg = (-90.0, 90.0)
    arrays = "numpy"
    Parameters = GapParameters

    def command(self, readings, parameters):
        """Speed and turn rate of all trials at once; every array has one entry a trial."""
        p = parameters
        open_sector = nearest_by_sector(readings.scan) > p.reach_m  # (trials, sectors)
        first, last = widest_run(open_sector)

        north, east = readings.target_north_m - readings.north_m, readings.target_east_m - readings.east_m
        to_target = wrapped(np.arctan2(east, north) - readings.heading_rad)

        narrowing = np.arcsin(min(p.half_width_m / p.reach_m, 1.0))
        half_sector = np.radians(SECTOR_DEG) / 2
        # The outermost sectors border on what is not looked at, not on an obstacle: no narrowing there.
        low = MIDDLE_RAD[first] - half_sector + np.where(first > 0, narrowing, 0.0)
        high = MIDDLE_RAD[last] + half_sector - np.where(last < SECTORS - 1, narrowing, 0.0)
        fits = low <= high
        middle = (low + high) / 2
        aim = np.where(fits, np.clip(to_target, low, high), middle)
        aim = np.where(open_sector.any(axis=1), aim, np.pi / 2)

        limit = np.radians(p.turn_rate_deg_s)
        turn = np.clip(p.gain_1_s * aim, -limit, limit)
        speed = np.where(fits & open_sector.any(axis=1), p.cruise_speed_m_s, p.slow_speed_m_s)
        off_course = np.abs(aim - to_target) > half_sector
        return fw.Command(surge_m_s=speed, yaw_rate_rad_s=turn, mode=off_course.astype(int))


def nearest_by_sector(scan):
    """Least range in every sector, (trials, sectors); bearings are from the bow, however the LiDAR is mounted."""
    nearest = scan.range_m.min(axis=2)  # over the channels of a column
    sector = np.floor(np.degrees(scan.bearing_rad[:, 0]) / SECTOR_DEG + SECTORS / 2).astype(int)
    found = np.full((len(nearest), SECTORS), np.inf)
    for number in range(SECTORS):
        inside = sector == number
        if inside.any():
            found[:, number] = nearest[:, inside].min(axis=1)
    return found


def widest_run(is_open):
    """First and last sector of the widest run of open ones in each row; the first run of that width."""
    rows = len(is_open)
    length, best, end = np.zeros(rows, int), np.zeros(rows, int), np.zeros(rows, int)
    for number in range(is_open.shape[1]):
        length = np.where(is_open[:, number], length + 1, 0)
        end = np.where(length > best, number, end)
        best = np.maximum(best, length)
    return np.maximum(end - best + 1, 0), end


def wrapped(angle_rad):
    """The angle in [-pi, pi)."""
    return np.mod(angle_rad + np.pi, 2 * np.pi) - np.pi
