"""What the devices of a flying robot have said, sample by sample, while a trial is flown again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fieldworthy.world import State
from fieldworthy.world.one_trial import ARRIVED_FROM_S

Said = dict[str, dict[str, float]]
"""Numbers of one reading by device, then by name, `stamp_s` among them."""


def heard(state: State) -> Said:
    """Each device's newest reading that has arrived, of the first lane; without devices that have not been heard."""
    said = {
        device: {name: float(np.asarray(value).reshape(-1)[0]) for name, value in values.items()}
        for device, values in state.sights.heard.items()
    }
    # Before anything arrives a stamp lies before all time, but for the inertial unit: it has nothing at tick 0.
    return {device: values for device, values in said.items() if values["stamp_s"] >= ARRIVED_FROM_S and state.tick > 0}


def columns(said: list[Said]) -> dict[str, dict[str, NDArray[np.float64]]]:
    """By device and name, each (samples,); NaN before the first reading was heard."""
    names: dict[str, dict[str, None]] = {}
    for sample in said:
        for device, values in sample.items():
            names.setdefault(device, {}).update(dict.fromkeys(values))
    return {
        device: {name: np.array([sample.get(device, {}).get(name, np.nan) for sample in said]) for name in known}
        for device, known in names.items()
    }
