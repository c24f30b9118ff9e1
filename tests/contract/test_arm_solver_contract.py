"""The contract with a solver of inverse kinematics: the built-in ones keep it, and each way to break it is told."""

from __future__ import annotations

import dataclasses
import importlib.util
from typing import Any

import numpy as np
import pytest

from fieldworthy.arms.catalogue import load_arm
from fieldworthy.arms.contract import check_solver
from fieldworthy.arms.dls import DlsSolver
from fieldworthy.arms.kit import goal_numbers, kit
from fieldworthy.arms.solver import SOLVERS, Attempt, make_solver

ARM = load_arm("kr10-r1100")


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("arm", ["kr10-r1100", "ur5e"])
def test_built_in_solvers_keep_it(name: str, arm: str) -> None:
    if name == "exact" and importlib.util.find_spec("fieldworthy.arms.exact") is None:
        pytest.skip("the exact solver is not there")
    assert check_solver(make_solver(name), load_arm(arm)) == []


@pytest.mark.parametrize("name", ["dls", "ccd", "fabrik"])
def test_built_in_solvers_keep_it_with_seven_joints(name: str) -> None:
    assert check_solver(make_solver(name), load_arm("iiwa7-r800"), cases=2) == []


def test_position_first_keeps_it() -> None:
    assert check_solver(DlsSolver(rows=3), ARM) == []


class Good:
    """A solver of a user's own, right as far as it goes; the bad ones below each break one promise."""

    name = "own"

    def __init__(self) -> None:
        self._inner = DlsSolver()

    def solve(self, arm: Any, base_from_tool: Any, seed: Any) -> Any:
        return self._inner.solve(arm, base_from_tool, seed)

    def step(self, arm: Any, base_from_tool: Any, q: Any, dt_s: float) -> Any:
        return self._inner.step(arm, base_from_tool, q, dt_s)


class PastLimits(Good):
    def solve(self, arm: Any, base_from_tool: Any, seed: Any) -> Any:
        found = super().solve(arm, base_from_tool, seed)
        return dataclasses.replace(found, q=found.q + 2.0 * np.pi * np.eye(arm.dof)[1])


class TooFast(Good):
    def step(self, arm: Any, base_from_tool: Any, q: Any, dt_s: float) -> Any:
        return super().step(arm, base_from_tool, q, 3.0 * dt_s)


class Flatterer(Good):
    def step(self, arm: Any, base_from_tool: Any, q: Any, dt_s: float) -> Any:
        found = super().step(arm, base_from_tool, q, dt_s)
        return dataclasses.replace(found, position_error_m=0.0, orientation_error_rad=0.0)


class AlwaysThere(Good):
    def solve(self, arm: Any, base_from_tool: Any, seed: Any) -> Any:
        return dataclasses.replace(super().solve(arm, base_from_tool, seed), reached=True, why="")


class Silent(Good):
    def solve(self, arm: Any, base_from_tool: Any, seed: Any) -> Any:
        return dataclasses.replace(super().solve(arm, base_from_tool, seed), why="")


class Restless(Good):
    """Goes to and fro by a millionth of a radian about the pose, measured truly."""

    frame = 0

    def step(self, arm: Any, base_from_tool: Any, q: Any, dt_s: float) -> Any:
        found = super().step(arm, base_from_tool, q, dt_s)
        if not found.reached:
            return found
        k = kit(arm)
        self.frame += 1
        moved = found.q + 1e-6 * (-1.0) ** self.frame
        return k.attempt(goal_numbers(base_from_tool), k.inside(moved.tolist()), 1, (1e-3, 1e-3))


class Scribbler(Good):
    def step(self, arm: Any, base_from_tool: Any, q: Any, dt_s: float) -> Any:
        found = super().step(arm, base_from_tool, q, dt_s)
        q[:] = found.q
        return found


class Raises(Good):
    def solve(self, arm: Any, base_from_tool: Any, seed: Any) -> Any:
        raise ValueError("no answer")


class Shapeless(Good):
    def solve(self, arm: Any, base_from_tool: Any, seed: Any) -> Any:
        return Attempt(np.full(arm.dof, np.nan), False, 0.0, 0.0, 0, "no idea")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (PastLimits, "outside its limits"),
        (TooFast, "its speed limit"),
        (Flatterer, "forward kinematics finds"),
        (AlwaysThere, "says reached with"),
        (Silent, "`why` is ''"),
        (Restless, "still move"),
        (Scribbler, "changes the pose or the posture"),
        (Raises, "raises ValueError: no answer"),
        (Shapeless, "no Attempt with finite joint positions"),
    ],
)
def test_each_broken_promise_is_told(make: Any, words: str) -> None:
    told = check_solver(make(), ARM, cases=2)
    assert any(words in line for line in told), told


def test_a_good_solver_of_ones_own_passes() -> None:
    assert check_solver(Good(), ARM) == []
