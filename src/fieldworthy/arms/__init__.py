"""Robot arms: exact inverse kinematics, whole paths that do not jump, programs of real controllers, playback.

from fieldworthy import arms

arm = arms.load_arm("UR5e")
pose = arms.pose_of((0.4, 0.2, 0.3), "rpy", (3.14, 0.0, 1.57))   # base_from_tool, 4x4, metres and radians
answer = arms.solve(arm, pose)                                   # the nearest posture, or why there is none
every = arms.all_postures(arm, pose)                             # all branches and whole turns within limits
motion = arms.plan_motion(arm, arms.read_waypoints("arm-plane"))  # one continuous, timed path

Names are imported when first used: importing this costs next to nothing, and a compiler is loaded only for thousands of
poses at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fieldworthy.arms.catalogue import arm_names, load_arm, ready_posture
    from fieldworthy.arms.chain import Arm, Capsule, Joint
    from fieldworthy.arms.collision import Clearance, clearance, clearance_along
    from fieldworthy.arms.contract import check_solver
    from fieldworthy.arms.dataset import read_waypoints, write_waypoints
    from fieldworthy.arms.dh import DhRow, arm_from_dh
    from fieldworthy.arms.exact import Branches, all_postures, branches_of, solve, solve_many
    from fieldworthy.arms.export import joint_set_of, program_of, trajectory_of_motion
    from fieldworthy.arms.interpolate import lerp_pose, slerp
    from fieldworthy.arms.joint_csv import JointSet, read_joint_csv, write_joint_csv
    from fieldworthy.arms.kinematics import fk, jacobian, link_motions, manipulability
    from fieldworthy.arms.motion import Motion, MotionOptions, plan_motion
    from fieldworthy.arms.obstacle_tables import obstacles_from
    from fieldworthy.arms.obstacles import Box, ConvexMesh, HalfSpace, Rod, Sphere
    from fieldworthy.arms.orientation import matrix_of, other_from_source, pose_of, values_of
    from fieldworthy.arms.path import JointPath, NoPath, PathOptions, plan
    from fieldworthy.arms.playback import Frame, Player, PlayOptions, State
    from fieldworthy.arms.program import Move, Program
    from fieldworthy.arms.program_waypoints import waypoints_of
    from fieldworthy.arms.programs import read_program, write_program
    from fieldworthy.arms.programs.joint_trajectory import Trajectory, read_trajectory, write_trajectory
    from fieldworthy.arms.singularity import Singularities, singularities
    from fieldworthy.arms.solver import Attempt, Solver, make_solver
    from fieldworthy.arms.timing import Timing, resample, retime
    from fieldworthy.arms.urdf import read_urdf
    from fieldworthy.arms.waypoints import WaypointSet, densify, waypoint_set

_MODULES = {
    "catalogue": "arm_names load_arm ready_posture",
    "chain": "Arm Capsule Joint",
    "collision": "Clearance clearance clearance_along",
    "contract": "check_solver",
    "dataset": "read_waypoints write_waypoints",
    "dh": "DhRow arm_from_dh",
    "exact": "Branches all_postures branches_of solve solve_many",
    "interpolate": "lerp_pose slerp",
    "joint_csv": "JointSet read_joint_csv write_joint_csv",
    "kinematics": "fk jacobian link_motions manipulability",
    "motion": "Motion MotionOptions plan_motion",
    "obstacles": "Box ConvexMesh HalfSpace Rod Sphere",
    "obstacle_tables": "obstacles_from",
    "orientation": "matrix_of other_from_source pose_of values_of",
    "path": "JointPath NoPath PathOptions plan",
    "playback": "Frame Player PlayOptions State",
    "program": "Move Program",
    "export": "joint_set_of program_of trajectory_of_motion",
    "program_waypoints": "waypoints_of",
    "programs": "read_program write_program",
    "programs.joint_trajectory": "Trajectory read_trajectory write_trajectory",
    "singularity": "Singularities singularities",
    "solver": "Attempt Solver make_solver",
    "timing": "Timing resample retime",
    "urdf": "read_urdf",
    "waypoints": "WaypointSet densify waypoint_set",
}
_HOME = {name: f"fieldworthy.arms.{module}" for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "Arm", "Attempt", "Box", "Branches", "Capsule", "Clearance", "ConvexMesh", "DhRow", "Frame", "HalfSpace",
    "Joint", "JointPath", "JointSet", "Motion", "MotionOptions", "Move", "NoPath", "PathOptions", "PlayOptions",
    "Player", "Program", "Rod", "Singularities", "Solver", "Sphere", "State", "Timing", "Trajectory", "WaypointSet",
    "all_postures", "arm_from_dh", "arm_names", "branches_of", "check_solver", "clearance", "clearance_along",
    "densify", "fk", "jacobian", "joint_set_of", "lerp_pose", "link_motions", "load_arm", "make_solver",
    "manipulability", "matrix_of", "obstacles_from", "other_from_source", "plan", "plan_motion", "pose_of",
    "program_of", "read_joint_csv", "read_program", "read_trajectory", "read_urdf", "read_waypoints",
    "ready_posture", "resample", "retime", "singularities", "slerp", "solve", "solve_many", "trajectory_of_motion",
    "values_of", "waypoint_set", "waypoints_of", "write_joint_csv", "write_program", "write_trajectory",
    "write_waypoints",
]  # fmt: skip


def __dir__() -> list[str]:
    """The public names, for tab completion."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Public names are imported when first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'fieldworthy.arms' has no attribute '{name}'")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_HOME[name]), name)
    return found
