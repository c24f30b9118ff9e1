"""`fieldworthy`: the commands and what they have in common.

Exit codes: 0 ok; 1 something that was claimed does not hold; 2 bad input; 3 link lost; 130 interrupted.
Commands import what they need when they run, so that --help answers at once.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from fieldworthy import __version__

COMMANDS = {
    "demo": ("fieldworthy.cli.demo", "The paper's scenarios, 10 trials each, beside its figures."),
    "run": ("fieldworthy.cli.run", "Fly a campaign of trials and write its report."),
    "sweep": ("fieldworthy.cli.sweep", "Fly the campaign at every combination of some values."),
    "replay": ("fieldworthy.cli.replay", "Fly one trial of a run again, alone, and compare every bit."),
    "arm": ("fieldworthy.cli.arm", "Robot arms: solve a pose, plan a program's path, convert programs."),
    "link": ("fieldworthy.cli.link", "Let PX4 or ArduPilot fly a vehicle, in lockstep or real time."),
    "list": ("fieldworthy.cli.catalogue", "Built-in scenarios, vehicles, devices and controllers."),
    "check": ("fieldworthy.cli.check", "Validate scenarios and the controllers they name."),
    "new": ("fieldworthy.cli.new", "Write a commented scenario to start from."),
    "verify": ("fieldworthy.cli.verify", "Every model against a law or a published number."),
    "doctor": ("fieldworthy.cli.doctor", "What this machine offers; with link: what is wrong with an autopilot."),
}


class Commands(click.Group):
    """Commands by name, imported when used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        return import_module(COMMANDS[cmd_name][0]).command  # type: ignore[no-any-return]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but an unknown name gets the nearest one as a hint."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from fieldworthy.core.suggest import did_you_mean

            hint = did_you_mean(args[0], list(COMMANDS))
            raise click.UsageError(f"no command '{args[0]}'{hint}; valid: {', '.join(COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One line a command, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="fieldworthy")
def cli() -> None:
    """Tells whether a robot is ready for the field, before it goes there.

    Start with `fieldworthy demo`, then `fieldworthy run boat-field --trials 100` `fieldworthy run quad-hover` or
    `fieldworthy run arm-plane`.
    """


def _link_lost(error: Exception) -> bool:
    """Whether an autopilot has gone; commands without one have not even loaded its class."""
    links = sys.modules.get("fieldworthy.links.lost")
    return links is not None and isinstance(error, links.LinkLost)


def main(arguments: list[str] | None = None) -> Any:
    """Run a command; errors that the package raises on purpose become one sentence and exit code 2."""
    try:
        cli.main(args=arguments, prog_name="fieldworthy", standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone (head, less): nothing is wrong here.
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        from fieldworthy.core.errors import FieldworthyError

        if not isinstance(error, FieldworthyError):
            raise
        lines = str(error).splitlines() or [type(error).__name__]
        for line in lines:
            click.echo(f"error: {line}", err=True)
        sys.exit(3 if _link_lost(error) else 2)


if __name__ == "__main__":
    main()
