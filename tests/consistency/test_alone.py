"""A trial moved by itself, as links do, is its row of a batch under the same commands, bit for bit."""

from __future__ import annotations

import math
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from fieldworthy.control.actuation import Actuation
from fieldworthy.core.engine import frozen, load_engine
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.host_floats import HostFloats
from fieldworthy.core.subnormal import flushed
from fieldworthy.scenario import load
from fieldworthy.scenario.build import build
from fieldworthy.world import OUTCOMES, start
from fieldworthy.world.alone import Alone
from fieldworthy.world.decide import decision_of
from fieldworthy.world.one_trial import OneTrial
from fieldworthy.world.steered import Steered
from fieldworthy.world.walk import advance, frame_of

_OUTSIDE = ["dt_s=0.002", "control.rate_hz=250", "control.commands=actuators", "control.controller=external"]


def _throttles(step: int) -> list[float]:
    """Takes off, leans, and falls in the end."""
    if step > 350:
        return [0.0] * 4
    lean = 0.01 * math.sin(0.05 * step)
    return [0.62 + lean, 0.62 - lean, 0.62 + lean, 0.62 - lean]


@pytest.mark.parametrize(
    ("name", "precision"), [("quad-gust", "f64"), ("quad-gust", "f32"), ("quad-slung-load", "f64")]
)
def test_a_trial_alone_is_its_row_of_a_batch(name: str, precision: str) -> None:
    scenario = load(name, [*_OUTSIDE, f"precision={precision}", "control.navigation=truth"])
    trials = [3, 7, 11]
    with flushed():
        world = build(scenario, trials).world
        batch, alone = start(world), Alone(build(scenario, [7]).world)
        told = [(d, n) for d, values in batch.sights.heard.items() for n in values]
        for step in range(1000):
            throttle = _throttles(step)
            if step % 97 == 0 or not alone.running:
                ours, theirs = alone.frame([*throttle, 0.0, 0.0, 0.0]), frame_of(world, batch)
                assert ours.tick == theirs.tick
                assert ours.values.keys() == theirs.values.keys()
                for key, values in ours.values.items():
                    if not key.startswith("cmd_"):  # the batch has the command of before
                        np.testing.assert_array_equal(values[0], theirs.values[key][1], err_msg=f"{key} at {step}")
                for device, key in told:
                    heard = np.asarray(batch.sights.heard[device][key])[1]
                    np.testing.assert_array_equal(alone.value(f"{device}.{key}"), heard, err_msg=f"{device}.{key}")
            if not alone.running:
                break
            batch, _ = advance(world, batch, decision_of(world, batch, Actuation(throttle=tuple(throttle))))
            alone.move([*throttle, 0.0, 0.0, 0.0], 2)
    assert OUTCOMES[int(alone.standing["outcome"])] == "collision"
    assert alone.standing["end_tick"] == np.asarray(batch.standing.end_tick)[1]
    assert alone.standing["path_m"] == np.asarray(batch.standing.path_m)[1]


def test_a_trial_alone_meets_what_stands_in_its_way() -> None:
    """Tables of shapes go through the kernel as in a batch: the clearance falls and the trial ends in contact."""
    settings = [*_OUTSIDE, "precision=f64", "control.navigation=truth"]
    scenario = load("quad-hover", settings)
    wall = load("boat-buoy").obstacles[0]
    near = msgspec.structs.replace(wall, north_m=0.0, east_m=0.0, radius_m=1.0, top_up_m=12.0)
    scenario = msgspec.structs.replace(
        scenario,
        obstacles=(near,),
        start=msgspec.structs.replace(scenario.start, north_m=-6.0, up_m=5.0, speed_m_s=0.0),
    )
    with flushed():
        world, alone = build(scenario, [0]).world, Alone(build(scenario, [0]).world)
        batch = start(world)
        while alone.running and alone.tick < 4000:
            throttle = [0.4, 0.415, 0.415, 0.4] if alone.tick < 60 else [0.52] * 4
            batch, _ = advance(world, batch, decision_of(world, batch, Actuation(throttle=tuple(throttle))))
            alone.move([*throttle, 0.0, 0.0, 0.0], 2)
            assert alone.standing["clearance_m"] == np.asarray(batch.standing.clearance_m)[0]
    assert alone.standing["clearance_m"] < 25.0


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_floats_of_the_host_reach_a_kernel(precision: str) -> None:
    """Where Dr.Jit shares NumPy's memory, and where it would copy it: what was written last is what is read."""
    import drjit as dr

    engine = load_engine(precision, "llvm")  # type: ignore[arg-type]
    copies = SimpleNamespace(
        device="llvm", dtype=engine.dtype, floats=engine.floats, Float=lambda values: engine.Float(values.tolist())
    )
    kernel = frozen(lambda given: dr.gather(engine.Float, given, engine.UInt32(2)) * 2.0)
    for made, shared in ((engine, True), (copies, False)):
        floats = HostFloats(made, 3)  # type: ignore[arg-type]
        assert floats.shared is shared
        for value in (5.0, 0.0, -7.5):
            assert np.asarray(kernel(floats.holding([1.0, 2.0, value]))).tolist() == [2.0 * value]


@pytest.mark.parametrize("kind", [Alone, Steered])
def test_nothing_has_been_heard_at_the_start_and_then_what_has_arrived(kind: type[Alone] | type[Steered]) -> None:
    """The receiver delivers a tenth of a second late or more: not at the first tick, and later as `value` says."""
    scenario = load("quad-hover", [*_OUTSIDE, "precision=f64", "control.navigation=truth"])
    with flushed():
        one = kind(build(scenario, [7]).world)
        assert isinstance(one, OneTrial)
        assert (one.heard(), one.tick, one.t_s) == ({}, 0, 0.0)
        one.move([0.0] * len(one.names), 2)
        assert "imu" in one.heard()
        assert "gnss" not in one.heard()
        while one.t_s < 1.5:
            one.move([0.0] * len(one.names), 2)
        assert one.heard()["gnss"]["north_m"] == one.value("gnss.north_m")
        one.rewind()
        assert (one.heard(), one.tick) == ({}, 0)


def test_several_trials_are_refused() -> None:
    scenario = load("quad-hover", [*_OUTSIDE, "precision=f64"])
    with pytest.raises(FieldworthyError, match="one trial"):
        Alone(build(scenario, [0, 1]).world)
