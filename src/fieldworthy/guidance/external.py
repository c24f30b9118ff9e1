"""The controller of a scenario that is steered from outside: by an autopilot over a link, say."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from fieldworthy.control.controller import Command, Readings
from fieldworthy.core.errors import FieldworthyError


class External:
    """Stands in for whoever steers; a world with it is moved by `advance` or `Alone`, never by `step`."""

    reads_deg: ClassVar[tuple[float, float]] = (-180.0, 180.0)
    arrays: ClassVar[Literal["numpy"]] = "numpy"

    def command(self, readings: Readings, parameters: Any) -> Command:
        """Nobody is there to answer.

        Raises: FieldworthyError, always.
        """
        raise FieldworthyError(
            "controller 'external' waits for commands from outside; valid: `fieldworthy link`, `fieldworthy run "
            "--pilot`, or another controller"
        )
