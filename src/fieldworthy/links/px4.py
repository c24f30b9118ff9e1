"""A session with PX4 over its simulator API: TCP, lockstep by time stamps.

PX4's clock is the time stamp of the newest HIL_SENSOR. It answers each with one HIL_ACTUATOR_CONTROLS that bears this
stamp once all its work is done; then, and only then, we go on. Before its modules run it answers nothing: until the
first answer sensors are sent at a walking pace and nobody waits (freewheel).

Source: PX4, SimulatorMavlink.cpp; a recorded session with main of 2025-08-18.
Limits: PX4 neither quits nor connects again when its socket closes: it must be started anew. Above 250 Hz PX4 answers
only where IMU_GYRO_RATEMAX and IMU_INTEG_RATE say the same rate.
Verified by: tests/verification/test_px4_link.py
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

from fieldworthy.links.airframe import Airframe
from fieldworthy.links.lost import LinkLost, Loss
from fieldworthy.links.mavlink_messages import (
    LAYOUT_OF,
    SET_MESSAGE_INTERVAL,
    CommandLong,
    Heartbeat,
    HilActuatorControls,
    HilStateQuaternion,
)
from fieldworthy.links.mavlink_reader import LONGEST_FRAME
from fieldworthy.links.px4_senses import TRUTH_HZ, Px4Senses
from fieldworthy.links.px4_server import LOOK_UP_S
from fieldworthy.links.px4_session import Px4Session

WALK_S = 0.004
"""Wall time between sensors before the first answer: PX4 is still starting its modules."""

FREEWHEEL_S = 60.0
"""Wall time of sensors without any answer after which PX4 will not answer any more."""

FASTEST_USUAL_HZ = 250.0
"""Rate of HIL_SENSOR up to which PX4 answers each with its parameters as they come."""


class Px4Link(Px4Session):
    """One session with one PX4: tells it what the vehicle senses and waits for what it commands."""

    def __init__(
        self,
        stream: socket.socket,
        senses: Px4Senses,
        airframe: Airframe,
        patience_s: float = 10.0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """patience_s: wall time that an answer may take. stopped: asked while waiting whether somebody wants to end."""
        super().__init__(senses, airframe, patience_s)
        self._stream, self._stopped = stream, stopped
        self.freewheeled = 0
        """Of the `sensors`, before the first answer."""
        self.late = 0
        """Of the `answers`, for a tick that was over."""
        self.heartbeats = 0

    def exchange(self) -> list[float]:
        """Tell what is sensed at the vehicle's tick; returns the command from there on.

        Raises: LinkLost when PX4 has gone, is silent, or answers a tick that has not been yet.
        """
        time_us = self._senses.time_us
        if time_us == 0:  # PX4's clock begins with the first HIL_SENSOR, and takes no 0
            return self._command()
        self._send(self._senses.frames())
        self.sensors += 1
        if self._newest is None:
            self.freewheeled += 1
            self._receive(time_us, WALK_S)
            if self._newest is None and self.freewheeled * WALK_S > FREEWHEEL_S:
                raise LinkLost(Loss.FREEWHEEL, self._never_answered())
        elif not self._receive(time_us, self._patience_s) and not self._stopped():
            raise LinkLost(Loss.SILENT, self._fell_silent(time_us))
        return self._command()

    def close(self) -> None:
        """End the session."""
        self._stream.close()

    def _send(self, data: bytes) -> None:
        try:
            self._stream.settimeout(self._patience_s)
            self._stream.sendall(data)
        except TimeoutError:
            raise LinkLost(Loss.SILENT, f"PX4 has read nothing for {self._patience_s:g} s") from None
        except OSError as error:
            raise LinkLost(Loss.CLOSED, f"PX4 has gone ({error.strerror or error})") from None

    def _receive(self, time_us: int, wait_s: float) -> bool:
        """Take in messages until the answer for this time is there; False when it is not in time."""
        deadline = time.perf_counter() + wait_s
        doubtful = deadline - 0.5 * wait_s if self.ready else deadline
        while not self._stopped():
            left = deadline - time.perf_counter()
            self._stream.settimeout(min(max(left, 0.0), LOOK_UP_S))
            try:
                data = self._stream.recv(4096)
            except (TimeoutError, BlockingIOError):
                if left <= 0.0:  # looked once more: this process itself may have been halted
                    return False
                if deadline - left <= doubtful or not self._reader.waiting_bytes:
                    continue
                data = bytes(LONGEST_FRAME)  # what began like a frame and does not end may hide the answer behind it
            except OSError as error:
                raise LinkLost(Loss.CLOSED, f"PX4 has gone ({error.strerror or error})") from None
            if not data:
                raise LinkLost(Loss.CLOSED, "PX4 has closed the connection")
            if self._take(data, time_us):
                return True
        return False

    def _take(self, data: bytes, time_us: int) -> bool:
        answered = False
        for message in self._reader.feed(data):
            if isinstance(message, HilActuatorControls):
                self.answers += 1
                if message.time_usec > time_us:
                    raise LinkLost(Loss.CLOCK, _future(message.time_usec, time_us))
                if message.time_usec < time_us:
                    self.late += 1
                    if self._newest is not None and message.time_usec < self._newest.time_usec:
                        continue
                answered = answered or message.time_usec == time_us
                self._newest = message
            elif isinstance(message, Heartbeat):
                self.heartbeats += 1
            elif isinstance(message, CommandLong) and message.command == SET_MESSAGE_INTERVAL:
                self._set_interval(message.param1, message.param2)
        return answered

    def _set_interval(self, message_id: float, interval_us: float) -> None:
        """MAV_CMD_SET_MESSAGE_INTERVAL: 0 asks for the usual rate, -1 for none."""
        if message_id != LAYOUT_OF[HilStateQuaternion].message_id:
            return
        usual_hz = TRUTH_HZ if interval_us == 0.0 else 0.0
        self._senses.set_truth_rate(1e6 / interval_us if interval_us > 0.0 else usual_hz)

    def _never_answered(self) -> str:
        heard = f"{self.heartbeats} heartbeats have come" if self.heartbeats else "nothing else has come either"
        return (
            f"PX4 is connected but has answered none of {self.sensors} HIL_SENSOR messages in "
            f"{self.freewheeled * WALK_S:.0f} s ({heard}); valid: a PX4 whose start script ends (look at its console), "
            "built for lockstep, with PX4_SIM_MODEL=none_… (not 'none', which is its own simulator)"
        )

    def _fell_silent(self, time_us: int) -> str:
        rate = 1.0 / self._senses.period_s
        rule = (
            f"at {rate:.0f} Hz it answers each only with IMU_GYRO_RATEMAX = IMU_INTEG_RATE = {rate:.0f}"
            if rate > FASTEST_USUAL_HZ
            else "its console says which of its modules waits"
        )
        return (
            f"PX4 has not answered the HIL_SENSOR of {time_us / 1e6:.3f} s for {self._patience_s:g} s, after "
            f"{self.answers} answers to {self.sensors}: {rule}"
        )


def _future(answer_us: int, time_us: int) -> str:
    return (
        f"PX4 speaks of {answer_us / 1e6:.3f} s and we are at {time_us / 1e6:.3f} s: it has flown with another "
        "simulator before; valid: a PX4 started anew for each session, since its clock never goes back"
    )
