"""What a campaign with a real autopilot makes of a scenario: its mission, its times, its parameters, its faults."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from fieldworthy.core.errors import FieldworthyError, ScenarioError
from fieldworthy.scenario import Scenario, load
from fieldworthy.trials.pilot import Pilot
from fieldworthy.trials.pilot_delay import delayed
from fieldworthy.trials.pilot_faults import refuse_unheard, switches
from fieldworthy.trials.pilot_mission import mission_of
from fieldworthy.trials.pilot_parameters import usual_parameters, vehicle_of
from fieldworthy.trials.piloted import piloted


def _faulty(*faults: str, name: str = "quad-mission") -> Scenario:
    return load(name, [f"faults=[{', '.join(faults)}]"])


def test_the_mission_is_the_scenarios_way() -> None:
    scenario = load("quad-mission")
    takeoff, *way, loiter = mission_of(scenario)
    assert (takeoff.kind, takeoff.up_m) == ("takeoff", 10.0)
    assert [(item.north_m, item.east_m, item.up_m) for item in way] == [
        (0.0, 0.0, 10.0), (40.0, 0.0, 10.0), (40.0, 40.0, 20.0), (0.0, 40.0, 15.0), (0.0, 0.0, 10.0),
    ]  # fmt: skip
    # Done within half of our radius, so that the world sees it done too.
    assert [item.acceptance_radius_m for item in way] == [1.5, 2.0, 2.0, 2.0, 2.0]
    assert [item.speed_m_s for item in way] == [None, 5.0, 5.0, 5.0, 5.0]
    assert (loiter.kind, loiter.north_m, loiter.up_m) == ("loiter", 0.0, 10.0)


def test_a_boat_does_not_take_off() -> None:
    scenario = load("rover-boat")
    assert vehicle_of(scenario) == "rover"
    assert [item.kind for item in mission_of(scenario)] == ["waypoint", "loiter"]


def test_all_times_wait_for_the_autopilot() -> None:
    scenario = load(
        "quad-gust",
        [
            'faults=[{kind="rotor-loss", part="1", at_s=20}, {kind="sensor-loss", part="gnss", at_s=5, until_s=9}]',
            "start={}",
        ],
    )
    later = delayed(scenario, 12.0)
    assert later.duration_s == scenario.duration_s + 12.0
    assert [(fault.at_s, fault.until_s) for fault in later.faults] == [(32.0, None), (17.0, 21.0)]
    assert [gust.start_s for gust in later.air.gusts] == [gust.start_s + 12.0 for gust in scenario.air.gusts]


def test_what_starts_in_the_air_cannot_boot() -> None:
    with pytest.raises(FieldworthyError, match=r"boots at rest.*start from the ground"):
        piloted(load("quad-gust"), Pilot("px4", Path("px4")))
    with pytest.raises(FieldworthyError, match=r"\[start.catapult\]"):
        piloted(load("plane-circuit"), Pilot("px4", Path("px4")))


def test_the_users_parameters_come_last() -> None:
    scenario = load("rover-boat")
    assert usual_parameters("ardupilot", scenario)["OA_TYPE"] == 1
    assert Pilot("ardupilot", Path("ardurover"), {"OA_TYPE": 2}).told(scenario)["OA_TYPE"] == 2


def test_a_lost_receiver_is_told_to_ardupilot_and_not_to_px4() -> None:
    scenario = _faulty('{kind="sensor-loss", part="gnss", at_s=20.0, until_s=30.0}')
    told = switches(scenario, "ardupilot", 0)
    assert [(switch.t_s, switch.parameters["SIM_GPS1_ENABLE"]) for switch in told] == [(20.0, 0), (30.0, 1)]
    assert switches(scenario, "px4", 0) == []


def test_an_outage_of_the_receiver_is_told_too() -> None:
    scenario = load("quad-mission", ["sensors.gnss.outage_start_s=15.0", "sensors.gnss.outage_end_s=25.0"])
    assert [switch.t_s for switch in switches(scenario, "ardupilot", 0)] == [15.0, 25.0]


def test_switches_follow_the_trials_own_draw() -> None:
    scenario = _faulty('{kind="sensor-freeze", part="barometer", at_s=20.0, spread_s=10.0, probability=0.5}')
    drawn = [[switch.t_s for switch in switches(scenario, "ardupilot", trial)] for trial in range(40)]
    struck = [times[0] for times in drawn if times]
    assert 10 <= len(struck) <= 30
    assert all(20.0 <= t_s <= 30.0 for t_s in struck)
    assert len(set(struck)) > 5


@pytest.mark.parametrize(
    "fault",
    [
        '{kind="sensor-freeze", part="magnetometer", at_s=5.0}',
        '{kind="sensor-bias", part="gnss", at_s=5.0, size=10.0}',
        '{kind="sensor-noise", part="magnetometer", at_s=5.0, size=1e-6}',
    ],
)
def test_what_cannot_reach_ardupilot_is_refused(fault: str) -> None:
    scenario = _faulty(fault)
    with pytest.raises(ScenarioError, match="does not reach ArduPilot"):
        piloted(scenario, Pilot("ardupilot", Path("arducopter")))
    refuse_unheard(scenario, "px4")


def test_faults_of_devices_that_ardupilot_hears_stay() -> None:
    refuse_unheard(_faulty('{kind="sensor-bias", part="imu.gyro", at_s=5.0, size=0.1}'), "ardupilot")
    refuse_unheard(_faulty('{kind="rotor-loss", part="1", at_s=5.0}'), "ardupilot")


def test_provenance_is_all_it_takes(tmp_path: Path) -> None:
    binary, defaults = tmp_path / "arducopter", tmp_path / "copter.parm"
    binary.write_bytes(b"x")
    defaults.write_text("FRAME_CLASS 1\n")
    facts = Pilot("ardupilot", binary, {"WPNAV_SPEED": 500}, (defaults,)).facts(load("quad-mission"))
    assert facts["parameters"]["WPNAV_SPEED"] == 500
    assert facts["defaults"][str(defaults)] is not None
    assert facts["rate_hz"] == 800.0
    msgspec.json.encode(facts)
