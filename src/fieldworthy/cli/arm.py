"""`fieldworthy arm`: one pose, one program, one arm at a time. Whole tasks are played with `fieldworthy run`."""

from __future__ import annotations

import click

from fieldworthy.cli.arm_convert import convert
from fieldworthy.cli.arm_new import new
from fieldworthy.cli.arm_path import path
from fieldworthy.cli.arm_show import show
from fieldworthy.cli.arm_solve import solve


@click.group("arm")
def command() -> None:
    """Robot arms: solve a pose, plan the path of a program, convert programs, show an arm.

    Arms are those of `fieldworthy list arms`, or URDF and TOML files. Tasks such as arm-plane are played with
    `fieldworthy run arm-plane`.
    """


for part in (solve, path, convert, show, new):
    command.add_command(part)
