"""Parameters of an autopilot: set by name, and seen confirmed. Those of the start one after the other, others any time.

Source: MAVLink guide, "Parameter Protocol"; PX4, mavlink_parameters.cpp (another type than the parameter's is refused);
ArduPilot, GCS_Param.cpp (goes by its own type, says nothing to an unknown name).
Limits: numbers of up to 32 bits. What was told after the start is not told again to an autopilot that starts again.
Verified by: tests/verification/test_ground_station.py
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any

from fieldworthy.links.asking import MOST_ASKED, Asking, Now
from fieldworthy.links.autopilot_modes import AUTOPILOT_NAMES
from fieldworthy.links.partner import Partner

REAL32 = 9
"""MAV_PARAM_TYPE; those below are whole numbers, odd ones without a sign."""
_BITS = {1: 8, 2: 8, 3: 16, 4: 16}
"""Of whole numbers; others have 32 here."""


def wire_value(value: float, kind: int, *, bytewise: bool) -> float:
    """PARAM_SET's float: PX4 keeps the 32 bits of an integer in it, ArduPilot its value."""
    if bytewise and kind < REAL32:
        return float(struct.unpack("<f", struct.pack("<I" if kind % 2 else "<i", int(value)))[0])
    return float(value)


def plain_value(sent: float, kind: int, *, bytewise: bool) -> float:
    """The number that PARAM_VALUE's float means."""
    if bytewise and kind < REAL32:
        return float(struct.unpack("<I" if kind % 2 else "<i", struct.pack("<f", sent))[0])
    return sent


def misfit(value: float, kind: int, *, bytewise: bool) -> str:
    """What a parameter of this MAV_PARAM_TYPE takes instead of `value`; empty where it takes it."""
    if not math.isfinite(value):
        return "a finite number"
    if kind >= REAL32:
        try:
            struct.pack("<f", value)
        except OverflowError:
            return "a number of 32 bits, within 3.4e38 of 0"
        return ""
    if value != int(value):
        return "whole numbers"
    bits = _BITS.get(kind, 32)
    low, high = (0, 2**bits - 1) if kind % 2 else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not low <= value <= high:
        return f"{low} to {high}"
    # As the bits of a float some are a signalling NaN, which processors make another NaN of.
    if plain_value(wire_value(value, kind, bytewise=bytewise), kind, bytewise=bytewise) != value:
        return "a number whose bits are no signalling NaN"
    return ""


class _Wish:
    """A value that is not confirmed yet."""

    def __init__(self, value: float, *, needed: bool) -> None:
        try:
            self.value = float(value)
        except OverflowError:  # a whole number beyond all floats
            self.value = math.inf
        self.needed = needed
        """For the start, which fails without it."""
        self.asking = Asking()


class Parameters:
    """What is to be set, and how far that is."""

    def __init__(self, partner: Partner, at_start: Mapping[str, float]) -> None:
        self._partner, self._at_start = partner, dict(at_start)
        self._bytewise = partner.autopilot == "px4"
        self._wishes: dict[str, _Wish] = {}
        self.problem = ""
        """Why the start, or a value told later, cannot be had."""
        self.notes: list[str] = []
        """What was told later and was never confirmed."""
        self.forget()

    def forget(self) -> None:
        """The autopilot has started again: the start's are set again, and what is still open is asked anew."""
        self._types: dict[str, int] = {}
        later = {name: wish.value for name, wish in self._wishes.items() if not wish.needed}
        self._wishes = {name: _Wish(value, needed=True) for name, value in self._at_start.items()}
        self._wishes |= {name: _Wish(value, needed=False) for name, value in later.items()}

    def set(self, name: str, value: float, now: Now) -> None:
        """Ask for it at once, or with the first heartbeat. The last word on a name counts."""
        if name in self._at_start:
            self._at_start[name] = value
        self._wishes.pop(name, None)
        self._wishes[name] = _Wish(value, needed=False)
        self._urge(name, now)

    def urge(self, now: Now) -> None:
        """Ask (again) for what was told after the start, where it is time."""
        for name in [name for name, wish in self._wishes.items() if not wish.needed]:
            self._urge(name, now)

    def started(self, now: Now) -> bool:
        """Whether all of the start's are confirmed; asks for the first that is not."""
        needed = next((name for name, wish in self._wishes.items() if wish.needed), None)
        if needed is not None:
            self._urge(needed, now)
        return needed is None

    def heard(self, message: Any) -> None:
        """Take a PARAM_VALUE."""
        name, kind = message.param_id, message.param_type
        wish = self._wishes.get(name)
        if wish is None:
            return
        first = name not in self._types
        self._types[name] = kind
        if self._refused(name, kind):
            return
        has = plain_value(message.param_value, kind, bytewise=self._bytewise)
        if math.isclose(has, wish.value, rel_tol=1e-6, abs_tol=1e-9):
            del self._wishes[name]
        elif first and (wish.needed or self._bytewise):
            wish.asking.answered()  # the type was asked for, and is known
        elif wish.needed and wish.asking.times >= MOST_ASKED:
            self.problem = f"the parameter {name} stays at {has:g} and does not become {wish.value:g}"

    def _urge(self, name: str, now: Now) -> None:
        wish, kind = self._wishes[name], self._types.get(name)
        if not self._partner.system or self._refused(name, REAL32 if kind is None else kind):
            return
        if wish.asking.in_vain(now):
            self._give_up(name)
        elif wish.asking.due(now):
            key = name.encode()
            if kind is None and (wish.needed or self._bytewise):
                self._partner.tell("param_request_read", key, -1)
                return
            kind = REAL32 if kind is None else kind
            self._partner.tell("param_set", key, wire_value(wish.value, kind, bytewise=self._bytewise), kind)

    def _refused(self, name: str, kind: int) -> bool:
        value = self._wishes[name].value
        takes = misfit(value, kind, bytewise=self._bytewise)
        if takes:
            self.problem = f"the parameter {name} takes {takes}, and {value:g} was given"
            del self._wishes[name]
        return bool(takes)

    def _give_up(self, name: str) -> None:
        wish = self._wishes.pop(name)
        autopilot = AUTOPILOT_NAMES[self._partner.autopilot]
        if wish.needed:
            does = "does not take a value for" if name in self._types else "does not know"
            self.problem = f"{autopilot} {does} the parameter {name}"
        else:
            self.notes.append(f"{autopilot} has not confirmed the parameter {name} as {wish.value:g}")
