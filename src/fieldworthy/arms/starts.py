"""Where numeric solvers begin anew: random postures of an arm, drawn once, picked by the goal and by what was tried.

Verified by: tests/verification/test_arm_dls.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.kinematics import fk
from fieldworthy.core.random import Stream

_LIBRARY = 512
_AT_ONCE = 512
_AWAY = 0.8
"""Weight of the distance from postures already seen against the distance from the goal."""


class Starts:
    """Random postures within the limits with their poses, of which the one nearest to a goal is the next start.

    Equation: least |p - p_goal|^2/l^2 + |R - R_goal|^2/2 - 0.8 min over seen (sum of 1 - cos of joint differences)
    Seen are the earlier starts and the seen they came to: what lies near them would lead there again.
    """

    def __init__(self, arm: Arm, draw: int, length_m: float) -> None:
        low, high = arm.lower, arm.upper
        unit = Stream(draw, "arms.starts").uniform(0, 0, _LIBRARY * arm.dof).reshape(_LIBRARY, arm.dof)
        self.q: Array = low + (high - low) * unit
        # Which start is picked needs no more than 32 bits, and those take half the time.
        self._weights = np.sqrt((0.5, 0.5, 0.5, 1.0 / (length_m * length_m)) * 3).astype(np.float32)
        self._poses = fk(arm, self.q)[:, :3].reshape(_LIBRARY, 12).astype(np.float32) * self._weights
        self._squares = (self._poses**2).sum(axis=1)
        self._turning = np.array([joint.kind == "revolute" for joint in arm.joints])
        self._directions = self._on_circles(self.q).T.copy()

    def _on_circles(self, q: Array) -> Any:
        angle = q[..., self._turning].astype(np.float32)
        return np.concatenate([np.cos(angle), np.sin(angle)], axis=-1)

    def pick(self, goals: Any, seen: Any = ()) -> Array:
        """Starts (n, dof) for goals (n, 12), away from postures seen (k, n, dof)."""
        found = np.empty((len(goals), self.q.shape[1]))
        for first in range(0, len(goals), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            score = (goals[part].astype(np.float32) * (-2.0 * self._weights)) @ self._poses.T
            score += self._squares
            near: Any = None
            for posture in seen:
                likeness = self._on_circles(posture[part]) @ self._directions
                near = likeness if near is None else np.maximum(near, likeness, out=near)
            if near is not None:
                score += np.float32(_AWAY) * near
            found[part] = self.q[np.argmin(score, axis=1)]
        return found
