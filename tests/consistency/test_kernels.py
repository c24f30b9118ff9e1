"""New numbers are data, not code: a second world with other numbers launches only kernels that the first one had.

Kernels are compared by their hashes, which cover every literal; whether one lay in the disk cache plays no part.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import drjit as dr
import numpy as np
import pytest
from small_scenarios import ROUGH, scenario

from fieldworthy.core.engine import KernelCounter, frozen, load_engine
from fieldworthy.scenario import Scenario
from fieldworthy.scenario.build import build
from fieldworthy.world import compact, start, step

STEPS = 6


def kernels_of(work: Callable[[], Any]) -> set[Any]:
    """Hashes of all kernels that the work launched."""
    with dr.scoped_set_flag(dr.JitFlag.KernelHistory, True):
        dr.kernel_history_clear()
        work()
        rows = [row for row in dr.kernel_history() if row["type"] == dr.KernelType.JIT]
    return {row["hash"] for row in rows}


def a_few_steps(case: Scenario) -> None:
    """Build, start, step, compact, step."""
    world = build(case, 6).world
    state = start(world)
    for _ in range(STEPS):
        state, _ = step(world, state)
    state = compact(world, state, np.array([0, 2, 3, 5]))
    for _ in range(STEPS):
        state, _ = step(world, state)


@pytest.fixture(scope="module", name="first")
def kernels_of_the_first_world(tmp_path_factory: pytest.TempPathFactory) -> set[Any]:
    case = scenario(tmp_path_factory.mktemp("first"), ROUGH)
    return kernels_of(lambda: a_few_steps(case))


OTHER_NUMBERS = {
    "seed": ("seed=1234",),
    "obstacles within one mask word": ("scatter.0.count=[6, 8]", "scatter.0.gap_m=1.5"),
    "controller": ("control.parameters.turn_rate_deg_s=21.5", "control.parameters.cruise_speed_m_s=4.25"),
    "LiDAR": ("sensors.lidar.range_max_m=71.5", "sensors.lidar.forward_m=0.71", "sensors.lidar.up_m=1.8"),
    "sea": (
        "sea.current_towards_deg=211.0",
        "sea.wind_speed_m_s=6.5",
        "sea.waves.height_m=0.77",
        "sea.waves.period_s=3.9",
    ),
    "vehicle": ("vehicle.set.yaw_inertia_kg_m2=1555.0", "vehicle.set.surge_force_max_n=2222.0"),
    "course": ("goal.north_m=47.5", "goal.radius_m=4.5", "start.heading_deg=3.0", "duration_s=37.0"),
}


def test_the_same_numbers_launch_the_same_kernels(first: set[Any], tmp_path: Path) -> None:
    assert len(first) >= 4  # masks, sweep, decision, physics
    assert kernels_of(lambda: a_few_steps(scenario(tmp_path, ROUGH))) <= first


@pytest.mark.parametrize("name", OTHER_NUMBERS)
def test_other_numbers_launch_no_other_kernel(first: set[Any], tmp_path: Path, name: str) -> None:
    other = scenario(tmp_path, ROUGH, overrides=OTHER_NUMBERS[name])
    with KernelCounter() as counter:
        a_few_steps(other)
    assert counter.launched > 4 * STEPS
    assert counter.compiled == 0
    new = kernels_of(lambda: a_few_steps(other)) - first
    assert not new, f"{len(new)} kernels of {name} are new: a number became part of the code"


def test_a_literal_would_be_seen() -> None:
    # What this file relies on: another literal is another kernel, another opaque number is not.
    engine = load_engine()
    lanes = engine.floats(np.arange(8.0))

    def kernels(number: Any) -> set[Any]:
        return kernels_of(lambda: dr.eval(lanes * number + 0.25))

    assert len(kernels(1.2345)) == 1
    assert kernels(1.2345) != kernels(2.3456)
    one, two = engine.scalar(1.2345), engine.scalar(2.3456)
    assert kernels(one) == kernels(two)


def test_more_steps_of_a_world_compile_nothing(tmp_path: Path) -> None:
    world = build(scenario(tmp_path, ROUGH), 6).world
    state = start(world)
    for _ in range(3):
        state, _ = step(world, state)
    with KernelCounter() as counter:
        for _ in range(5):
            state, _ = step(world, state)
    assert counter.compiled == 0
    assert counter.launched > 0


def test_no_garbage_is_collected_while_a_kernel_is_recorded() -> None:
    # Arrays of an old world that are freed then end the process.
    engine = load_engine("f32")
    seen = []

    def one_more(x: Any) -> Any:
        seen.append(gc.isenabled())
        return x + 1.0

    assert gc.isenabled()
    assert np.asarray(frozen(one_more)(engine.floats(np.zeros(3)))).tolist() == [1.0, 1.0, 1.0]
    assert seen == [False]
    assert gc.isenabled()
