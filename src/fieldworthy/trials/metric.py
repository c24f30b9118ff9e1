"""The numbers that every flight is judged by: what each is called, how it is shown, and what it means."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """How a number is shown and what it means."""

    label: str
    unit: str
    digits: int
    meaning: str


METRICS: dict[str, Metric] = {
    "tracking_rms_m": Metric(
        "tracking error, RMS",
        "m",
        2,
        "distance from the leg to the target (or the leg before, where that is nearer), or from a target that is to be "
        "held once the approach to it has ended",
    ),
    "tracking_max_m": Metric("tracking error, greatest", "m", 2, "the same distance at its greatest"),
    "overshoot_m": Metric(
        "overshoot", "m", 2, "farthest beyond a target that is to be held, along its leg; the worst of them"
    ),
    "overshoot_percent": Metric("overshoot of the leg", "%", 1, "the same as a share of its leg; the worst of them"),
    "settling_s": Metric(
        "settling time",
        "s",
        2,
        "from the change of target until the vehicle stays within its radius, or 5 % of the leg where that is more; "
        "the slowest of them",
    ),
    "energy_wh": Metric("energy", "Wh", 2, "taken from the supply"),
    "charge_least": Metric("least charge", "", 3, "state of charge of the battery, 1 is full"),
    "voltage_least_v": Metric("lowest voltage", "V", 2, "of the whole pack under load"),
    "margin_least": Metric(
        "least margin",
        "",
        2,
        "room that the autopilot's demands left below the actuators' limits, as a share of their range (0.5: mid "
        "range; below 0: more was asked than they can give)",
    ),
    "tilt_max_deg": Metric("largest tilt", "deg", 1, "angle between the body's down axis and the vertical"),
    "speed_max_m_s": Metric("top speed", "m/s", 1, "over ground, in three dimensions"),
    "estimate_position_rms_m": Metric(
        "estimated position off, RMS",
        "m",
        2,
        "distance between the position that the autopilot believed and the true one",
    ),
    "estimate_tilt_rms_deg": Metric(
        "estimated tilt off, RMS",
        "deg",
        2,
        "angle between the vertical that the autopilot believed and the true one, whatever the heading",
    ),
    "estimate_heading_rms_deg": Metric(
        "estimated heading off, RMS",
        "deg",
        2,
        "turn about the vertical between the attitude that the autopilot believed and the true one",
    ),
    "swing_max_deg": Metric(
        "largest swing of the load", "deg", 1, "angle between the vertical and the way to the load"
    ),
}
"""By their names in summary.json and trials.csv; `trials.flight_metrics` works them out."""
