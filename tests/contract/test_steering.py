"""Whoever steers from outside drives the same world: readings out, command in, one step."""

from __future__ import annotations

import numpy as np
import pytest

import fieldworthy as fw


def test_a_rule_outside_flies_as_the_same_rule_inside() -> None:
    scenario = fw.load("boat-field", ["control.controller=straight", "precision=f64", "trials=4"])
    inside, outside = fw.build(scenario, 4).world, fw.build(scenario, 4).world
    there, here = fw.start(inside), fw.start(outside)
    limit = np.radians(15.0)
    for _ in range(60):
        there, expected = fw.step(inside, there)
        r = fw.readings_of(outside, here)
        error = np.arctan2(r.target_east_m - r.east_m, r.target_north_m - r.north_m) - r.heading_rad
        turn = np.clip(0.8 * np.mod(error + np.pi, 2 * np.pi) - 0.8 * np.pi, -limit, limit)
        decision = fw.decision_of(outside, here, fw.Command(surge_m_s=5.0, yaw_rate_rad_s=turn))
        here, found = fw.advance(outside, here, decision)
        for name in ("north_m", "east_m", "heading_rad"):
            assert found.values[name] == pytest.approx(expected.values[name], abs=1e-9), name
    assert np.asarray(here.sights.seen["surge_m_s"]).min() > 4.0


def test_a_broken_command_from_outside_is_told() -> None:
    world = fw.build(fw.load("boat-buoy"), 2).world
    state = fw.start(world)
    with pytest.raises(fw.FieldworthyError, match=r"valid: one number, or \(2,\)"):
        fw.decision_of(world, state, fw.Command(surge_m_s=[1.0, 2.0, 3.0], yaw_rate_rad_s=0.0))
