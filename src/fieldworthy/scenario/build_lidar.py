"""The LiDAR of a scenario: its rays, its parameters in lanes, and the part of its turn that is cast."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from fieldworthy.core.engine import Engine
from fieldworthy.scenario.schema import Scenario
from fieldworthy.scenario.values import Values
from fieldworthy.sensors.lidar import LidarParameters, LidarShape
from fieldworthy.sensors.scan_pattern import ScanPattern, firing_pattern, restricted, uniform_pattern
from fieldworthy.world.state import Timing


def scan_pattern(scenario: Scenario) -> ScanPattern:
    """All rays of the scenario's LiDAR."""
    lidar = scenario.sensors.lidar
    assert lidar is not None
    if lidar.pattern == "uniform":
        return uniform_pattern(
            lidar.rate_hz, lidar.elevation_min_deg, lidar.elevation_max_deg, lidar.elevation_step_deg,
            lidar.azimuth_step_deg,
        )  # fmt: skip
    return firing_pattern(lidar.rate_hz, lidar.laser_elevation_deg, lidar.firing_period_s, lidar.laser_spacing_s)


def build_lidar(
    engine: Engine, scenario: Scenario, values: Values, timing: Timing, controller: Any, full_sweep: bool | None
) -> tuple[LidarParameters | None, LidarShape | None]:
    config = scenario.sensors.lidar
    if config is None:
        return None, None
    everything = config.full_sweep if full_sweep is None else full_sweep
    if controller.reads_deg is None and not everything:
        return None, None
    pattern = replace(scan_pattern(scenario), yaw_rad=math.radians(config.yaw_deg))
    if not everything:
        # What is read is meant in the vehicle's axes; a LiDAR turned on its mount sees it elsewhere.
        low, high = (math.radians(angle - config.yaw_deg) for angle in controller.reads_deg)
        if -math.pi <= low and high <= math.pi and not config.roll_deg and not config.pitch_deg:
            pattern = restricted(pattern, (low, high))
    parameters = LidarParameters(
        **{
            name: values.lanes(engine, f"sensors.lidar.{name}", getattr(config, name))
            for name in ("noise_m", "dropout", "range_min_m", "range_max_m", "forward_m", "right_m", "up_m")
        },
        **{
            f"{name}_rad": engine.floats(
                np.radians(values.numbers(f"sensors.lidar.{name}_deg", getattr(config, f"{name}_deg")))
            )
            for name in ("roll", "pitch", "yaw")
        },
    )
    shape = LidarShape(
        pattern=pattern,
        ticks=timing.sweep,
        dt_s=timing.dt_s,
        no_hit=config.no_hit,
        sea_returns=config.sea_returns,
        drops=bool(np.any(values.numbers("sensors.lidar.dropout", config.dropout))),
        distorted=config.motion_distortion,
    )
    return parameters, shape
