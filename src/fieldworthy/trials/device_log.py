"""What the devices of a flying robot have said, taken from its state while a trial is flown again."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.vec import Vec3
from fieldworthy.world import State, World

_AXES = {"ned": ("north", "east", "down"), "frd": ("forward", "right", "down")}


def heard(world: World, state: State) -> dict[str, dict[str, float]]:
    """By device: its newest reading that has arrived, of the first lane; without devices that have not been heard."""
    flight = world.vehicle_shape().tree(state.vehicle)
    found = {}
    for name, device in flight.devices.items():
        newest = device.mailbox.newest
        if _number(device.mailbox.arrived) < 0.5:
            continue
        found[name] = {"stamp_s": _number(newest.stamp_s), **_plain(newest.value)}
    return found


def columns(said: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, NDArray[np.float64]]]:
    """By device and value, each (samples,); NaN before the first reading was heard."""
    names: dict[str, dict[str, None]] = {}
    for sample in said:
        for device, values in sample.items():
            names.setdefault(device, {}).update(dict.fromkeys(values))
    return {
        device: {key: np.array([sample.get(device, {}).get(key, np.nan) for sample in said]) for key in keys}
        for device, keys in names.items()
    }


def _plain(reading: Any) -> dict[str, float]:
    """A reading's numbers by name: `pos_ned_m` becomes `pos_north_m`, `pos_east_m`, `pos_down_m`."""
    found = {}
    for field in fields(reading):
        value = getattr(reading, field.name)
        if not isinstance(value, Vec3):
            found[field.name] = _number(value)
            continue
        stem, frame = next((s, f) for f in _AXES for s, sep, _ in [field.name.partition(f"_{f}_")] if sep)
        unit = field.name.removeprefix(f"{stem}_{frame}_")
        for axis, part in zip(_AXES[frame], value, strict=True):
            found[f"{stem}_{axis}_{unit}"] = _number(part)
    return found


def _number(lanes: Any) -> float:
    return float(np.asarray(lanes).reshape(-1)[0])
