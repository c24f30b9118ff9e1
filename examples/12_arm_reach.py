"""Ask an arm whether it can hold its tool somewhere: every posture that does, why there is none, and 100,000 poses.

You learn: a pose is a 4x4 matrix base_from_tool in metres and radians. `solve` gives the posture nearest to where the
arm is, `all_postures` all of them, and where there is none the answer says why: out of reach is another matter than a
joint limit. `branches_of` and `solve_many` take a whole cell of poses at once.
"""

import time

import numpy as np

from fieldworthy import arms

ur5e, kr10 = arms.load_arm("UR5e"), arms.load_arm("kr10-r1100")
DOWN = ("rpy", np.radians([180.0, 0.0, 0.0]))  # the tool's z looks down

# One pose, all postures. Joints of the UR5e turn twice round, so each of eight branches comes in many whole turns.
pose = arms.pose_of([0.4, 0.2, 0.3], *DOWN)
branches = arms.all_postures(ur5e, pose, whole_turns=False)
postures = arms.all_postures(ur5e, pose)
miss = np.abs(arms.fk(ur5e, postures) - pose).max()
print(f"{ur5e.title}: {len(branches)} branches, {len(postures)} postures with whole turns, each exact to {miss:.0e}")
assert len(branches) == 8
assert len(postures) > len(branches)
assert miss < 1e-9
assert ((postures >= ur5e.lower) & (postures <= ur5e.upper)).all()

# The nearest one to a posture is what a controller would take next; its own posture is nearest to itself.
here = postures[7]
answer = arms.solve(ur5e, pose, here)
assert answer.reached
assert np.abs(answer.q - here).max() < 1e-9

# How close each branch brings the arm to itself: signed distances between the capsules around its links.
space = arms.clearance(ur5e, branches)
for q, gap_m, pair in zip(branches, space.distance_m, space.pairs, strict=True):
    print("  ", *(f"{x:7.1f}" for x in np.degrees(q)), f"  {gap_m * 1e3:4.0f} mm between {' and '.join(pair)}")
assert not space.in_collision.any()

# Where there is no posture, the answer says why.
for name, position_m, turn in (
    ("too far", [1.5, 0.0, 0.3], DOWN),
    ("near, but not that way round", [-0.5, 0.0, 0.2], ("rpy", np.zeros(3))),
):
    refused = arms.solve(kr10, arms.pose_of(position_m, *turn))
    print(f"{kr10.name}, {name}: {refused.why}")
    assert not refused.reached
    assert len(arms.all_postures(kr10, arms.pose_of(position_m, *turn))) == 0
    assert ("out of reach" in refused.why) == (name == "too far")

# 100,000 poses in a box before the arm, the tool pointing down: which have a posture, and how many branches.
rng = np.random.default_rng(12)
positions_m = rng.uniform([0.2, -0.8, 0.0], [1.2, 0.8, 0.8], (100_000, 3))
poses = np.tile(arms.pose_of([0.0, 0.0, 0.0], *DOWN), (len(positions_m), 1, 1))
poses[:, :3, 3] = positions_m
arms.branches_of(kr10, poses)  # the first call of so many loads a compiler
began = time.perf_counter()
found = arms.branches_of(kr10, poses)
took_s = time.perf_counter() - began
count = found.exists.sum(axis=1)
print(f"{len(poses):,} poses in {took_s:.2f} s, all branches: {(count > 0).mean():.1%} can be held", end="; ")
print("branches a pose:", ", ".join(f"{n}: {(count == n).mean():.0%}" for n in np.unique(count)))

# Every answer is exact, and none beyond the wrist's reach (the flange hangs 80 mm below the wrist): it must not be.
row, branch = np.nonzero(found.exists)
worst = np.abs(arms.fk(kr10, found.q[row, branch]) - poses[row]).max()
wrist_m = positions_m + np.array([0.0, 0.0, 0.08])
from_axis_2_m = np.hypot(np.hypot(wrist_m[:, 0], wrist_m[:, 1]) - 0.025, wrist_m[:, 2] - 0.4)
reach_m = 0.56 + np.hypot(0.515, 0.035)  # upper arm and forearm of the data sheet
print(f"{len(row):,} postures, the worst is {worst:.0e} off; {(from_axis_2_m > reach_m).mean():.1%} are out of reach")
assert worst < 1e-9
assert not found.exists[from_axis_2_m > reach_m].any()
assert 0.5 < (count > 0).mean() < 1.0

# The nearest of them to the arm's ready posture, for those that have one.
ready = arms.ready_posture("kr10-r1100")
q, reached = arms.solve_many(kr10, poses[count > 0], ready)
assert reached.all()
near = np.nanmin(((found.q[count > 0] - ready) ** 2).sum(axis=2), axis=1)
assert (((q - ready) ** 2).sum(axis=1) <= near + 1e-9).all()
