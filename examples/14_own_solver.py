"""Write an inverse kinematics solver of your own, check it against the contract, and play it beside the exact one.

You learn: a solver is a class with a name, `solve` (as far as it takes) and `step` (one frame within the joints' speed
limits). Its errors are those of forward kinematics, and it says why it did not arrive. `check_solver` lists what it
breaks; a `Player` plays it. In a task file it is solver.name = "my_module:Newton", its fields are [solver.options].
"""

from dataclasses import dataclass

import numpy as np

from fieldworthy import arms


@dataclass(frozen=True)
class Newton:
    """Damped Newton steps on the pose error: dq = J^T (J J^T + damping^2)^-1 e."""

    damping: float = 1e-3
    steps: int = 50
    name: str = "newton"

    def solve(self, arm, base_from_tool, seed):
        """From the seed, with as many steps as it takes."""
        q = np.clip(seed, arm.lower, arm.upper)
        for used in range(self.steps):
            answer = self._answer(arm, base_from_tool, q, used)
            if answer.reached:
                return answer
            move = self._move(arm, base_from_tool, q)
            q = np.clip(q + move * min(1.0, 0.5 / np.abs(move).max()), arm.lower, arm.upper)
        return self._answer(arm, base_from_tool, q, self.steps)

    def step(self, arm, base_from_tool, q, dt_s):
        """One step, all joints by the same share where one would be too fast."""
        before = self._answer(arm, base_from_tool, q, 0)
        if before.reached:
            return before  # at rest: no joint moves after arrival
        move = self._move(arm, base_from_tool, q)
        share = min(1.0, float((arm.speed * dt_s / np.maximum(np.abs(move), 1e-12)).min()))
        return self._answer(arm, base_from_tool, np.clip(q + share * move, arm.lower, arm.upper), 1)

    def _error(self, arm, base_from_tool, q):
        at = arms.fk(arm, q)
        turn = arms.values_of("ur_rotvec", base_from_tool[:3, :3] @ at[:3, :3].T)
        return np.concatenate([base_from_tool[:3, 3] - at[:3, 3], turn])

    def _move(self, arm, base_from_tool, q):
        j = arms.jacobian(arm, q)
        return j.T @ np.linalg.solve(j @ j.T + self.damping**2 * np.eye(6), self._error(arm, base_from_tool, q))

    def _answer(self, arm, base_from_tool, q, used):
        error = self._error(arm, base_from_tool, q)
        far_m, turn_rad = float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))
        reached = far_m <= 1e-6 and turn_rad <= 1e-6
        why = "" if reached else f"{far_m * 1e3:.3g} mm and {np.degrees(turn_rad):.3g} deg left after {used} steps"
        return arms.Attempt(np.array(q, float), reached, far_m, turn_rad, used, why)


class Hasty(Newton):
    """The same, but it goes the whole way in one frame."""

    def step(self, arm, base_from_tool, q, dt_s):
        return self.solve(arm, base_from_tool, q)


arm = arms.load_arm("kr10-r1100")
kept, broken = arms.check_solver(Newton(), arm), arms.check_solver(Hasty(), arm, cases=1)
print("newton breaks:", "; ".join(kept) or "nothing")
print("hasty breaks:", "; ".join(broken))
assert kept == []
assert any("speed limit" in complaint for complaint in broken)

# The same waypoints, a frame each 10 ms: the target does not wait for the solver. Both begin at the first posture of
# the planned path, and so in a branch that leads to the end: a solver of single poses does not look ahead.
waypoints = arms.read_waypoints("arm-cylinder")
plan = arms.plan_motion(arm, waypoints, start=arms.ready_posture("kr10-r1100"))
worst_m = {}
for solver in (arms.make_solver("exact"), Newton()):
    player = arms.Player(arm, waypoints, solver, plan.path.q[0])
    frames = []
    player.on_frame(frames.append)
    player.play()
    while player.state is arms.State.PLAYING:
        player.step(0.01)
    worst_m[solver.name] = max(frame.position_error_m for frame in frames)
    steps = np.mean([frame.iterations for frame in frames])
    speed = np.abs(np.diff([frame.q for frame in frames], axis=0)) / 0.01
    print(f"{solver.name:6} {len(frames)} frames, {steps:.1f} steps a frame, worst error {worst_m[solver.name]:.0e} m")
    print(f"       joints at {(speed / arm.speed).max():.0%} of their speed limit at most")
    assert (speed <= arm.speed * (1.0 + 1e-9)).all()

# One Newton step a frame stays behind by what the target's path bends in a frame; the closed form does not.
assert worst_m["exact"] < 1e-9
assert 1e-9 < worst_m["newton"] < 1e-4
