"""What breaks in a flight's scenario: in words near the top of its page, and as spans in the charts over time."""

from __future__ import annotations

from typing import Any

from fieldworthy.trials.report.data import RunData
from fieldworthy.trials.report.text import esc, short
from fieldworthy.trials.report.time_chart import Span

_ACRONYMS = {"imu": "IMU", "gnss": "GNSS", "rangefinder": "range finder", "optical_flow": "optical flow camera",
             "gyro": "gyroscopes", "accelerometer": "accelerometers"}  # fmt: skip
_UNITS = {"imu": "rad/s", "imu.gyro": "rad/s", "imu.accelerometer": "m/s²", "gnss": "m", "barometer": "Pa",
          "magnetometer": "T", "airspeed": "m/s", "rangefinder": "m",
          "optical_flow": "rad", "odometry": "m"}  # fmt: skip
"""Of what a bias or noise of a device is given in."""


def fault_section(run: RunData) -> str:
    """The faults as a list; empty where nothing breaks."""
    told = [fault_sentence(fault) for fault in _faults(run)]
    if not told:
        return ""
    items = "".join(f"<li>{esc(sentence)}</li>" for sentence in told)
    return f'<section class="about"><h3>What breaks in this scenario</h3><ul class="limits">{items}</ul></section>'


def fault_spans(run: RunData) -> list[Span]:
    """While a fault may begin (paler, where its time is drawn for each trial), and while it lasts once it has."""
    found = []
    for fault in _faults(run):
        first = _number(fault, "at_s")
        last, end = first + _number(fault, "spread_s"), fault.get("until_s")
        until = float(end) if isinstance(end, (int, float)) else float("inf")
        if min(last, until) > first:
            found.append(Span(first, min(last, until), "fault may"))
        if until > last:
            found.append(Span(last, until, "fault"))
    return found


def fault_sentence(fault: dict[str, Any]) -> str:
    """What a fault does, when, and how often."""
    first, spread, until = _number(fault, "at_s"), _number(fault, "spread_s"), fault.get("until_s")
    lasts = "for good" if until is None else f"until {short(float(until))} s"
    if spread:
        when = f"at a time between {short(first)} and {short(first + spread)} s that each trial draws, {lasts}"
    else:
        when = f"at {short(first)} s, {lasts}" if until is None else f"from {short(first)} s {lasts}"
    chance = _number(fault, "probability", 1.0)
    share = "in all trials" if chance >= 1.0 else f"in {short(100.0 * chance)} % of trials, drawn by chance"
    return f"{_what(fault)} {when}, {share}."


def _what(fault: dict[str, Any]) -> str:
    kind, part, size = str(fault.get("kind")), str(fault.get("part", "")), _number(fault, "size", 1.0)
    device = " ".join(_ACRONYMS.get(word, word) for word in part.split("."))
    measured = f"{short(size)} {_UNITS.get(part, '')}".strip()
    if kind == "rotor-loss":
        return f"Rotor {part} loses " + ("its thrust" if size >= 1.0 else f"{short(100.0 * size)} % of its thrust")
    if kind == "cell-failure":
        return "A battery cell fails" if size == 1.0 else f"{short(size)} battery cells fail"
    sentences = {
        "surface-stuck": f"The {device} sticks at {short(size)} of its largest deflection",
        "sensor-freeze": f"The readings of the {device} freeze",
        "sensor-bias": f"The readings of the {device} are off by {measured}",
        "sensor-noise": f"The readings of the {device} get more noise, of standard deviation {measured},",
        "sensor-loss": f"The readings of the {device} cease",
        "link-delay": f"The link from controller to autopilot slows by {short(size)} s",
    }
    return sentences.get(kind, f"{kind} {part}".strip())


def _faults(run: RunData) -> list[dict[str, Any]]:
    faults = run.scenario.get("faults")
    return [fault for fault in faults if isinstance(fault, dict)] if isinstance(faults, list) else []


def _number(fault: dict[str, Any], key: str, default: float = 0.0) -> float:
    value = fault.get(key, default)
    return float(value) if isinstance(value, (int, float)) else default
