"""The figures of a flight against motions whose figures are known in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fieldworthy.trials.flight_metrics import (
    Place,
    crash_words,
    flight_metrics,
    heading_error_deg,
    tilt_error_deg,
    tracking_error_m,
    trial_metrics,
)

DT_S = 0.02
LEG_M = 10.0
T_S = np.arange(0.0, 30.0, DT_S)


def track_of(**own: Any) -> dict[str, np.ndarray[Any, Any]]:
    """A track at rest at the origin, level, headed for the first target, with some channels of its own."""
    names = ("north_m", "east_m", "up_m", "north_m_s", "east_m_s", "up_m_s", "roll_rad", "pitch_rad", "heading_rad",
             "energy_j", "margin_least", "target", "crash")  # fmt: skip
    count = len(next(iter(own.values()))) if own else len(T_S)
    return {**{name: np.zeros(count) for name in names}, **own}


def place(north_m: float = LEG_M, radius_m: float = 0.1, hold_s: float = 5.0, **other: float) -> Place:
    return Place(north_m, other.get("east_m", 0.0), other.get("up_m", 0.0), radius_m, hold_s)


@pytest.mark.parametrize("damping", [0.3, 0.5, 0.7])
def test_overshoot_of_a_second_order_step(damping: float) -> None:
    """Ogata, Modern Control Engineering, 5-21: the greatest overshoot is exp(-pi zeta / sqrt(1 - zeta^2))."""
    pole = 2.0 * math.sqrt(1.0 - damping**2)
    swing = np.cos(pole * T_S) + damping / math.sqrt(1.0 - damping**2) * np.sin(pole * T_S)
    north = LEG_M * (1.0 - np.exp(-2.0 * damping * T_S) * swing)
    found = trial_metrics(T_S, track_of(north_m=north), [place()])
    share = math.exp(-math.pi * damping / math.sqrt(1.0 - damping**2))
    # Between two samples the top is flat to second order: (wn dt)^2 / 8 of it can be missed, and that is under 3e-4.
    assert found["overshoot_percent"] == pytest.approx(100.0 * share, rel=3e-4)
    assert found["overshoot_m"] == pytest.approx(LEG_M * share, rel=3e-4)


@pytest.mark.parametrize(("radius_m", "share"), [(0.1, 0.05), (2.0, 0.2)])
def test_settling_of_a_first_order_step(radius_m: float, share: float) -> None:
    """1 - exp(-t/tau) is within a share s of its end from tau ln(1/s) on: 5 % of the leg, or the radius if larger."""
    tau_s = 1.7
    north = LEG_M * (1.0 - np.exp(-T_S / tau_s))
    found = trial_metrics(T_S, track_of(north_m=north), [place(radius_m=radius_m)])
    assert found["overshoot_m"] == 0.0
    exact = tau_s * math.log(1.0 / share)
    assert exact <= found["settling_s"] <= exact + DT_S


def test_settling_is_counted_from_the_change_of_target_and_the_slowest_leg_counts() -> None:
    """Two legs, with time constants of 1 s and 2 s."""
    change = 500
    first = LEG_M * (1.0 - np.exp(-T_S[:change] / 1.0))
    second = LEG_M * (1.0 - np.exp(-(T_S[change:] - T_S[change]) / 2.0))
    target = (np.arange(len(T_S)) >= change).astype(float)
    track = track_of(
        north_m=np.concatenate([first, np.full(len(T_S) - change, LEG_M)]),
        east_m=np.concatenate([np.zeros(change), second]),
        target=target,
    )
    found = trial_metrics(T_S, track, [place(), place(east_m=LEG_M)])
    exact = 2.0 * math.log(20.0)
    assert exact <= found["settling_s"] <= exact + DT_S


def test_who_leaves_again_has_not_settled() -> None:
    north = np.where(T_S < 20.0, LEG_M, 0.0)
    assert math.isnan(trial_metrics(T_S, track_of(north_m=north), [place()])["settling_s"])


def test_targets_that_are_only_touched_have_no_overshoot() -> None:
    found = trial_metrics(T_S, track_of(north_m=0.4 * T_S), [place(hold_s=0.0)])
    assert math.isnan(found["overshoot_m"])
    assert math.isnan(found["settling_s"])


def test_tracking_error_beside_the_leg_and_around_a_held_target() -> None:
    """3 m to the side of the leg is 3 m; a circle of 0.5 m around a held target is 0.5 m."""
    aside = track_of(north_m=np.minimum(0.5 * T_S, 9.0), east_m=np.full(len(T_S), 3.0))
    aside["east_m"][0] = 0.0  # where it began
    error = tracking_error_m(aside, [place()])
    assert error[1:] == pytest.approx(3.0)
    circle = track_of(north_m=LEG_M + 0.5 * np.cos(T_S), east_m=0.5 * np.sin(T_S))
    circle["north_m"][0], circle["east_m"][0] = 0.0, 0.0
    error = tracking_error_m(circle, [place(radius_m=1.0)])
    # The first sample in reach still approaches: its distance has not been seen to stop falling.
    assert error[2:] == pytest.approx(0.5)
    found = trial_metrics(T_S, circle, [place(radius_m=1.0)])
    assert found["tracking_max_m"] == pytest.approx(0.5)
    assert found["tracking_rms_m"] == pytest.approx(0.5, rel=1e-3)


def test_who_turns_within_the_radius_of_a_waypoint_is_on_course() -> None:
    """Along the first leg to 2 m before its end, where the target changes; then straight on: still on that leg."""
    north = np.minimum(0.5 * T_S, LEG_M)
    track = track_of(north_m=north, target=(north > LEG_M - 2.0).astype(float))
    assert tracking_error_m(track, [place(hold_s=0.0, radius_m=2.0), place(east_m=LEG_M)]) == pytest.approx(0.0)


def test_height_counts() -> None:
    """4 m too low on a level leg; a climb that is asked for is no error."""
    up = np.full(len(T_S), 6.0)
    up[0] = 10.0
    low = track_of(up_m=up, north_m=np.minimum(0.4 * T_S, 9.0))
    assert tracking_error_m(low, [place(up_m=10.0)])[1:] == pytest.approx(4.0)
    climb = track_of(up_m=np.minimum(T_S, 10.0))
    assert tracking_error_m(climb, [place(north_m=0.0, up_m=10.0)]) == pytest.approx(0.0)


@pytest.mark.parametrize("heading_rad", [0.0, 1.0, 3.1, -3.1])
def test_a_roll_that_is_off_is_tilt_and_a_heading_that_is_off_is_heading(heading_rad: float) -> None:
    """2 deg about the forward axis of a level vehicle are 2 deg of tilt whatever the heading, and none of heading."""
    one = np.ones(3)
    rolled = {f"{b}{name}": value * one for b in ("", "believed_") for name, value in
              (("roll_rad", 0.2), ("pitch_rad", 0.0), ("heading_rad", heading_rad))}  # fmt: skip
    rolled["believed_roll_rad"] = rolled["roll_rad"] + math.radians(2.0)
    assert tilt_error_deg(rolled) == pytest.approx(2.0, rel=1e-9)
    assert heading_error_deg(rolled) == pytest.approx(0.0, abs=1e-9)
    # Roll and pitch are right, so that the vertical is, whatever they are; headings either side of south are near.
    turned = {f"{b}{name}": value * one for b in ("", "believed_") for name, value in
              (("roll_rad", 0.4), ("pitch_rad", 1.2), ("heading_rad", heading_rad))}  # fmt: skip
    turned["believed_heading_rad"] = heading_rad - math.radians(5.0) * one
    assert heading_error_deg(turned) == pytest.approx(5.0, rel=1e-9)
    assert tilt_error_deg(turned) == pytest.approx(0.0, abs=1e-9)


def test_tilt_is_the_angle_between_the_two_verticals() -> None:
    """Against the vertical in body axes, (-sin p, cos p sin r, cos p cos r), of attitudes with nothing in common."""
    angles = {"roll_rad": 0.3, "pitch_rad": -0.2, "heading_rad": 2.0}
    believed = {"roll_rad": -0.1, "pitch_rad": 0.4, "heading_rad": -1.0}
    track = {name: np.array([value]) for name, value in angles.items()}
    track |= {f"believed_{name}": np.array([value]) for name, value in believed.items()}

    def down(a: dict[str, float]) -> np.ndarray[Any, Any]:
        r, p = a["roll_rad"], a["pitch_rad"]
        return np.array([-math.sin(p), math.cos(p) * math.sin(r), math.cos(p) * math.cos(r)])

    exact = math.degrees(math.acos(float(down(angles) @ down(believed))))
    assert tilt_error_deg(track)[0] == pytest.approx(exact, rel=1e-9)


def test_sums_and_extremes_of_a_flight() -> None:
    """Energy 7,200 J are 2 Wh; a 3-4-12 velocity is 13 m/s; pitch 60 and roll 60 deg lean acos(1/4)."""
    one = np.ones(4)
    track = track_of(
        north_m=0.0 * one, energy_j=np.array([0.0, 3600.0, 7200.0, np.nan]), north_m_s=3.0 * one, east_m_s=-4.0 * one,
        up_m_s=12.0 * one, roll_rad=math.radians(60.0) * one, pitch_rad=math.radians(60.0) * one,
        margin_least=np.array([0.5, 0.3, 0.1, 0.1]), charge=np.array([1.0, 0.9, 0.8, 0.7]),
        voltage_v=np.array([0.0, 16.0, 15.0, 15.5]), believed_north_m=3.0 * one, believed_east_m=4.0 * one,
        believed_up_m=0.0 * one, believed_roll_rad=math.radians(60.0) * one,
        believed_pitch_rad=math.radians(60.0) * one, believed_heading_rad=0.0 * one, load_north_m=1.0 * one,
        load_east_m=0.0 * one, load_up_m=-1.0 * one,
    )  # fmt: skip
    found = trial_metrics(T_S[:4], track, [place()])
    assert found["energy_wh"] == pytest.approx(2.0)
    assert found["speed_max_m_s"] == pytest.approx(13.0)
    assert found["tilt_max_deg"] == pytest.approx(math.degrees(math.acos(0.25)))
    assert found["margin_least"] == 0.1
    assert found["charge_least"] == 0.7
    assert found["voltage_least_v"] == 15.0
    assert found["estimate_position_rms_m"] == pytest.approx(5.0)
    assert found["estimate_tilt_rms_deg"] == pytest.approx(0.0, abs=1e-9)
    assert found["estimate_heading_rms_deg"] == pytest.approx(0.0, abs=1e-9)
    assert found["swing_max_deg"] == pytest.approx(45.0)


def test_what_is_not_there_has_no_figure_and_samples_past_the_end_do_not_count() -> None:
    track = {name: np.stack([values, values]) for name, values in track_of().items()}
    track["energy_j"][:, 100:] = 3600.0
    track["north_m"][1, 50:] = 1e6
    found = flight_metrics(T_S, np.array([len(T_S), 50]), track, [place()])
    assert "charge_least" not in found
    assert "estimate_position_rms_m" not in found
    assert found["energy_wh"].tolist() == [1.0, 0.0]
    assert found["tracking_max_m"].tolist() == [0.0, 0.0]


def test_crashes_have_a_word() -> None:
    tracks = {"crash": np.array([[0.0, 2.0], [0.0, 0.0], [0.0, 1.0], [3.0, 0.0]])}
    outcome = np.array(["collision", "collision", "goal", "collision"])
    assert crash_words(outcome, np.array([2, 2, 2, 1]), tracks).tolist() == [
        "tip-over", "obstacle", "", "belly-landing",
    ]  # fmt: skip
