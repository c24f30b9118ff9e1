"""Plan the path of a robot program on a KR 10 with a table below it, and export it for other controllers.

You learn: a program is read into moves, moves become waypoints, and `plan_motion` chooses one continuous joint path
over all branches of all of them: exact at every point, within the limits of speed and acceleration, clear of
obstacles. What it had to give up it says. The motion goes out as a program that begins in the planned branch, or as
joints over time.
"""

import dataclasses
import tempfile
from pathlib import Path

import numpy as np

from fieldworthy import arms
from fieldworthy.arms.programs.joint_trajectory import write_trajectory

PROGRAM = """\
DEF deburr()
  $BASE = {X 600, Y 0, Z 20, A 0, B 0, C 0}
  $TOOL = {X 0, Y 0, Z 100, A 0, B 0, C 0}
  $VEL.CP = 0.15
  PTP {A1 0, A2 -90, A3 90, A4 0, A5 90, A6 0}
  PTP {X -100, Y -150, Z 60, A 0, B 0, C 180}
  LIN {X -100, Y -150, Z 10, A 0, B 0, C 180}
  LIN {X -100, Y 150, Z 10, A 0, B 0, C 180}
  LIN {X 100, Y 150, Z 10, A 0, B 30, C 180}
  LIN {X 100, Y -150, Z 10, A 0, B 30, C 180}
  $OUT[1] = FALSE
  WAIT SEC 0.5
  $VEL.CP = 2.0
  LIN {X 100, Y -150, Z 200, A 0, B 0, C 180}
END
"""
TABLE = arms.Box("table", centre_m=(0.65, 0.0, -0.025), size_m=(0.7, 0.8, 0.05))
CLAMP = arms.Sphere("clamp", centre_m=(0.7, 0.15, 0.03), radius_m=0.04)
MARGIN_M = 0.01

# The catalogue's arm, and the tool as a capsule on link 6: 100 mm long, in base coordinates at the zero posture.
arm = arms.load_arm("kr10-r1100")
flange = np.array(arm.flange)
tip_m = flange[:3, 3] + 0.09 * flange[:3, 2]
tool = arms.Capsule(6, tuple(flange[:3, 3].tolist()), tuple(tip_m.tolist()), 0.01, "tool")
arm = dataclasses.replace(arm, capsules=(*arm.capsules, tool))


def planned(*obstacles):
    """The motion of the waypoints past obstacles."""
    path = arms.PathOptions(margin_m=MARGIN_M, obstacles=obstacles)
    return arms.plan_motion(arm, waypoints, options=arms.MotionOptions(path=path))


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "deburr.src").write_text(PROGRAM)
    waypoints = arms.waypoints_of(arms.read_program(folder / "deburr.src"), arm)
    motion = planned(TABLE)
    arms.write_program(arms.program_of(motion), folder / "deburr.script")
    (folder / "deburr.yaml").write_text(write_trajectory(arms.trajectory_of_motion(motion, rate_hz=125.0)))
    script, trajectory = (arms.read_program(folder / file) for file in ("deburr.script", "deburr.yaml"))

print("read, but not into the waypoints:", *(note.rpartition("/")[2] for note in waypoints.notes), sep="\n  ")
path = motion.path
print(f"{len(waypoints)} waypoints, {len(path.q)} points, {motion.timing.duration_s:.2f} s; what was given up:")
print(*(f"  {note}" for note in motion.notes), sep="\n")
assert any("singularity" in note for note in motion.notes)  # the wrist is almost straight on the second line
assert any("corners" in note for note in motion.notes)  # no smooth path goes through a corner
assert any("feed is slower" in note for note in motion.notes)  # 2 m/s within 190 mm is more than the joints can do

# Exact: forward kinematics at every point of the path against the pose asked for.
worst = np.abs(arms.fk(motion.arm, path.q) - motion.waypoints.base_from_tool).max()
print(f"worst element of a pose: {worst:.0e}")
assert worst < 1e-9
# Within limits and clear of everything, between the points too: every millisecond.
_, q, speed, acceleration = arms.resample(motion.timing, rate_hz=1000.0)
assert ((q >= arm.lower) & (q <= arm.upper)).all()
assert (np.abs(speed) <= arm.speed * (1.0 + 1e-9)).all()
assert (np.abs(acceleration) <= arm.acceleration * (1.0 + 1e-9)).all()
space = arms.clearance(motion.arm, q, (TABLE,))
closest = space.distance_m.argmin()
print(f"closest: {space.distance_m[closest] * 1e3:.0f} mm, {' and '.join(space.pairs[closest])}")
assert space.distance_m.min() > MARGIN_M

# What was exported says the same again: the script's targets, to the digits it has; the trajectory's joints, exactly.
targets = arms.waypoints_of(script, arm).base_from_tool
off = np.abs(targets - waypoints.base_from_tool).max()
print(f"URScript: {len(script.moves)} moves, targets {off:.0e} off; JointTrajectory: {len(trajectory.moves)} points")
assert off < 1e-6
t_s = np.array([move.time_s for move in trajectory.moves])
assert np.abs(np.array([move.joints for move in trajectory.moves]) - motion.timing.sample(t_s)[0]).max() < 1e-6

# With a clamp on the workpiece there is no way, and the answer says where it ends and why.
refusal = ""
try:
    planned(TABLE, CLAMP)
except arms.NoPath as error:
    refusal = str(error)
print(refusal)
assert "from waypoint 3 to waypoint 4" in refusal
