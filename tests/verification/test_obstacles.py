"""The nearest return of each sector, by sweeps of a few rays whose sectors are known: 5 degrees each, the first centred
on the bow, clockwise as seen from above (MAVLink common.xml, OBSTACLE_DISTANCE)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fieldworthy.links.obstacles import SECTOR_RAD, SECTORS, sectors_m
from fieldworthy.sensors.scan import ScanArrays

RANGE_MAX_M = 50.0


def sweep(*rays: tuple[float, float], elevation_deg: float = 0.0, yaw_deg: float = 0.0, trials: int = 1) -> ScanArrays:
    """One channel; rays: (azimuth in the sensor's axes [deg], range [m])."""
    azimuth = np.radians([[ray[0]] for ray in rays])
    ranges = np.array([[ray[1]] for ray in rays])
    return ScanArrays(
        range_m=np.repeat(ranges[None], trials, axis=0), azimuth_rad=azimuth,
        elevation_rad=np.radians([elevation_deg]), time_s=np.zeros_like(azimuth), start_s=0.0,
        yaw_rad=math.radians(yaw_deg),
    )  # fmt: skip


def seen(scan: ScanArrays) -> dict[int, float]:
    """Sectors that are not free, and how near."""
    found = sectors_m(scan, RANGE_MAX_M)
    assert found.shape == (72,)
    return {i: round(float(found[i]), 9) for i in np.flatnonzero(np.isfinite(found))}


def test_a_circle_has_72_sectors() -> None:
    assert SECTORS == 72
    assert math.degrees(SECTOR_RAD) == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("azimuth_deg", "sector"),
    [(0.0, 0), (90.0, 18), (180.0, 36), (-180.0, 36), (-90.0, 54), (45.0, 9), (-45.0, 63), (2.4, 0), (-2.4, 0),
     (2.6, 1), (-2.6, 71), (177.6, 36), (-177.6, 36), (177.4, 35), (-177.4, 37)],
)  # fmt: skip
def test_a_post_lies_in_the_sector_of_its_bearing(azimuth_deg: float, sector: int) -> None:
    """Dead ahead is sector 0, to starboard 18, behind 36, to port 54; 2.5 deg from the middle the next one begins."""
    assert seen(sweep((azimuth_deg, 12.0))) == {sector: 12.0}


def test_a_post_between_sectors_is_in_both() -> None:
    """Half a degree wide across the border: its rays fall on either side."""
    assert seen(sweep((2.25, 8.0), (2.75, 8.1))) == {0: 8.0, 1: 8.1}


def test_the_nearest_of_a_sector_counts() -> None:
    assert seen(sweep((-1.0, 30.0), (0.0, 7.0), (1.0, 20.0), (91.0, 9.0), (89.0, 8.0))) == {0: 7.0, 18: 8.0}


def test_nothing_is_free_and_not_at_the_range() -> None:
    """Rays without return read the greatest range or infinity; one of 0 or NaN is no return either."""
    rays = [(0.0, RANGE_MAX_M), (20.0, math.inf), (40.0, 0.0), (60.0, math.nan), (80.0, RANGE_MAX_M + 1.0)]
    assert seen(sweep(*rays)) == {}
    assert np.isinf(sectors_m(sweep(*rays), RANGE_MAX_M)).all()


def test_just_within_the_range_is_seen() -> None:
    assert seen(sweep((0.0, 49.99))) == {0: 49.99}


def test_distances_are_level() -> None:
    """A ray 60 deg down that runs 20 m ends 10 m away, seen from above."""
    assert seen(sweep((90.0, 20.0), elevation_deg=-60.0)) == {18: 10.0}
    assert seen(sweep((90.0, 20.0), elevation_deg=60.0)) == {18: 10.0}


@pytest.mark.parametrize(("yaw_deg", "sector"), [(90.0, 18), (180.0, 36), (-30.0, 66), (45.0, 9), (200.0, 40)])
def test_a_turned_mount_sees_in_the_vehicles_axes(yaw_deg: float, sector: int) -> None:
    """What lies ahead of a sensor that looks to starboard lies to starboard."""
    assert seen(sweep((0.0, 5.0), yaw_deg=yaw_deg)) == {sector: 5.0}
    assert seen(sweep((-yaw_deg, 5.0), yaw_deg=yaw_deg)) == {0: 5.0}


def test_only_the_first_trial_counts() -> None:
    two = sweep((0.0, 5.0), trials=2)
    two.range_m[1] = 1.0
    assert seen(two) == {0: 5.0}


def test_channels_of_several_heights_are_one_picture() -> None:
    scan = ScanArrays(
        range_m=np.array([[[20.0, 10.0]]]), azimuth_rad=np.zeros((1, 2)), elevation_rad=np.radians([0.0, -30.0]),
        time_s=np.zeros((1, 2)), start_s=0.0,
    )  # fmt: skip
    assert seen(scan) == {0: round(10.0 * math.cos(math.radians(30.0)), 9)}
