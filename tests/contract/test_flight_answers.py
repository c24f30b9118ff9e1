"""What a controller of a flight may answer: a short FlightCommand, or an Actuation with a throttle for every rotor."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import fieldworthy as fw
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.trials.contract import check_scenario

HOP = """
schema = 1
name = "hop"
trials = 3
duration_s = 1.0
[vehicle]
model = "x500"
[start]
up_m = 3.0
spread_heading_deg = 90.0
[goal]
north_m = 0.0
east_m = 0.0
up_m = 5.0
radius_m = 0.5
hold_s = 10.0
[area]
north_m = [-50.0, 50.0]
east_m = [-50.0, 50.0]
[control]
controller = "own:Own"
navigation = "truth"
"""

OWN = """
import numpy as np
import fieldworthy as fw


class Own:
    reads_deg = None
    arrays = "ARRAYS"

    def command(self, readings, parameters):
        up = readings.up_m * 0.0 + 5.0
        return ANSWER
"""

ORDER = "throttle=(rotor 0, rotor 1, rotor 2, rotor 3)), in the order of rotor_position_m"


def scenario(folder: Path, answer: str, arrays: str = "numpy", actuators: bool = True) -> fw.Scenario:
    module = f"own_{len(list(folder.glob('own_*.py')))}"  # a module is read once
    (folder / f"{module}.py").write_text(OWN.replace("ANSWER", answer).replace("ARRAYS", arrays))
    commands = 'commands = "actuators"\n' if actuators else ""
    (folder / "hop.toml").write_text(HOP.replace("own:Own", f"{module}:Own") + commands)
    return fw.load(folder / "hop.toml")


@pytest.mark.parametrize("arrays", ["numpy", "lanes"])
@pytest.mark.parametrize(
    ("throttle", "what"),
    [
        ("(0.5, 0.5, 0.5)", "has 3 throttles, and this vehicle needs 4 throttles"),
        ("(0.5,)", "has 1 throttle, and"),
        ("[0.5] * 5", "has 5 throttles, and"),
        ("0.5", "has throttle = one float, and"),
        ("up", "has "),  # lanes, or an array of trials
    ],
)
def test_throttles_that_are_not_one_a_rotor(tmp_path: Path, arrays: str, throttle: str, what: str) -> None:
    case = scenario(tmp_path, f"fw.Actuation(throttle={throttle})", arrays)
    told = fw.fly(case).stopped_by
    assert f"the controller's Actuation {what}" in told
    assert ORDER in told


@pytest.mark.parametrize("arrays", ["numpy", "lanes"])
def test_another_answer_in_the_place_of_an_actuation(tmp_path: Path, arrays: str) -> None:
    case = scenario(tmp_path, "fw.FlightCommand(north_m=0.0, east_m=0.0, up_m=up)", arrays)
    told = fw.fly(case).stopped_by
    assert "answered FlightCommand; with commands = 'actuators' it needs 4 throttles" in told
    assert ORDER in told


def test_throttles_as_a_list_or_an_array_fly_alike(tmp_path: Path) -> None:
    results = []
    for throttle in ("(0.6, 0.6, 0.6, 0.6)", "[0.6] * 4", "np.full((4, len(up)), 0.6)"):
        results.append(fw.fly(scenario(tmp_path, f"fw.Actuation({throttle})")).tracks["up_m"])
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


@pytest.mark.slow
def test_check_tells_once_of_actuators_beyond_their_limits(tmp_path: Path) -> None:
    beyond = "fw.Actuation((1.5, 0.6, -0.2, 0.6), elevator=0.3, rudder=-2.0)"
    told = [line for line in check_scenario(scenario(tmp_path, beyond)) if "asks for" in line]
    assert len(told) == 1
    assert all(text in told[0] for text in ("throttle_0 from ", " to 1.5", "throttle_2 from -0.2", "rudder from -2"))
    assert "elevator" not in told[0]
    assert "throttle_1" not in told[0]
    sound = check_scenario(scenario(tmp_path, "fw.Actuation((0.0, 1.0, 0.6, 0.6), elevator=-1.0, rudder=1.0)"))
    assert not [line for line in sound if "asks for" in line]


def test_a_flight_command_needs_a_place_only(tmp_path: Path) -> None:
    """The short form is the long one with zeros, which hover with the nose north."""
    zeros = ", ".join(f"{f.name}=0.0" for f in fields(Setpoint) if f.name not in ("north_m", "east_m", "up_m"))
    place = "north_m=0.0, east_m=0.0, up_m=up"
    long = fw.fly(scenario(tmp_path, f"fw.FlightCommand({place}, {zeros})", actuators=False)).tracks
    for arrays in ("numpy", "lanes"):
        short = fw.fly(scenario(tmp_path, f"fw.FlightCommand({place})", arrays, actuators=False)).tracks
        assert np.array_equal(short["up_m"], long["up_m"])
        assert np.array_equal(short["heading_rad"], long["heading_rad"])
    assert long["up_m"][:, -1].min() > 3.1
    with pytest.raises(TypeError, match="up_m"):
        fw.FlightCommand(north_m=0.0, east_m=0.0)  # type: ignore[call-arg]
