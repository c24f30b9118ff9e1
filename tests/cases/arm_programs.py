"""What the tests of every robot language need: programs held against each other, and the problems of a text."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fieldworthy.arms.program import Move, Program
from fieldworthy.core.errors import ScenarioError


def plain(program: Program) -> tuple[Move, ...]:
    """Moves without where they stood in the file."""
    return tuple(dataclasses.replace(move, line=0, label="") for move in program.moves)


def assert_same(first: Program, second: Program, metres: float, radians: float) -> None:
    assert first.name == second.name
    assert len(first.moves) == len(second.moves)
    for a, b in zip(plain(first), plain(second), strict=True):
        for name in ("joints", "pose", "via", "base_from_frame", "flange_from_tool"):
            x, y = getattr(a, name), getattr(b, name)
            assert (x is None) == (y is None), name
            if x is not None and name == "joints":
                assert y == pytest.approx(x, abs=radians)
            elif x is not None:
                assert np.array(y)[:3, :3] == pytest.approx(np.array(x)[:3, :3], abs=2 * radians)
                assert np.array(y)[:3, 3] == pytest.approx(np.array(x)[:3, 3], abs=metres)
        for name in ("speed_m_s", "joint_speed", "joint_speed_rad_s", "blend_m", "dwell_s", "time_s"):
            x, y = getattr(a, name), getattr(b, name)
            assert (x is None) == (y is None), name
            assert x is None or y == pytest.approx(x, rel=1e-8), name
        assert (a.kind, a.posture) == (b.kind, b.posture)


def problems_of(read: Callable[..., Program], text: str, *name: str, **options: Any) -> list[str]:
    """What reading a text says is wrong with it, a line a problem."""
    with pytest.raises(ScenarioError) as caught:
        read(text, *name, **options)
    return [str(problem) for problem in caught.value.problems]


def line_of(problem: str) -> str:
    """The line number that a problem names."""
    return re.split(r"[: ]", problem)[1]
