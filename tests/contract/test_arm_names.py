"""The public names of `fieldworthy.arms`: all there, imported when used, and without a compiler."""

from __future__ import annotations

import subprocess
import sys

from fieldworthy import arms
from fieldworthy.arms.orientation import CONVENTIONS
from fieldworthy.cli.arm_options import CONVENTIONS as OFFERED


def test_every_public_name_is_there():
    for name in arms.__all__:
        assert getattr(arms, name) is not None
    assert sorted(arms.__all__) == sorted(arms._HOME)
    assert dir(arms) == sorted(arms.__all__)


def test_solving_and_planning_load_no_compiler():
    code = (
        "import sys\nfrom fieldworthy import arms\narm = arms.load_arm('UR5e')\n"
        "motion = arms.plan_motion(arm, arms.read_waypoints('arm-plane'))\n"
        "arms.solve(arm, motion.path.base_from_tool[0])\n"
        "print([name for name in ('drjit', 'mitsuba', 'scipy', 'casadi') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


def test_the_command_offers_every_convention():
    assert sorted(OFFERED) == sorted(CONVENTIONS)
