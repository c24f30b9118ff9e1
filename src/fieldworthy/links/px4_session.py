"""What sessions with a PX4 have in common, in lockstep or on a board: the newest actuators, and what they command."""

from __future__ import annotations

from fieldworthy.links.airframe import Airframe
from fieldworthy.links.mavlink import Reader
from fieldworthy.links.mavlink_messages import CONTROL_COUNT, MODE_ARMED, HilActuatorControls
from fieldworthy.links.px4_senses import Px4Senses

_NOTHING = (0.0,) * CONTROL_COUNT


class Px4Session:
    """One PX4 that flies one vehicle; `exchange` is the subclass's own."""

    def __init__(self, senses: Px4Senses, airframe: Airframe, patience_s: float) -> None:
        self._senses, self._airframe, self._patience_s = senses, airframe, patience_s
        self._reader = Reader()
        self._newest: HilActuatorControls | None = None
        self.sensors = 0
        """HIL_SENSOR messages sent."""
        self.answers = 0
        """HIL_ACTUATOR_CONTROLS that have come."""

    @property
    def ready(self) -> bool:
        """Whether the autopilot flies the vehicle: it has commanded."""
        return self._newest is not None

    @property
    def armed(self) -> bool:
        """What the newest command says."""
        return self._newest is not None and bool(self._newest.mode & MODE_ARMED)

    def _command(self) -> list[float]:
        """The newest command; nothing turns before the first."""
        return self._airframe.command(self._newest.controls if self._newest is not None else _NOTHING)
