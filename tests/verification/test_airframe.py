"""Which output of an autopilot turns which rotor and moves which surface: known answers, worked out by hand.

Motors: ArduPilot, AP_MotorsMatrix.cpp (`setup_quad_matrix`, `setup_hexa_matrix`: angle clockwise from the nose, sense
seen from above); PX4, ROMFS/px4fmu_common/init.d-posix/airframes 10016 and 1030. Pulses: ArduPilot's "high pulse" of
aileron, elevator and rudder rolls right, lifts the nose and turns it right.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.vec import Vec3
from fieldworthy.links.airframe import Airframe, AutopilotKind, airframe_of
from fieldworthy.scenario import load
from fieldworthy.scenario.schema import Scenario
from fieldworthy.vehicles.aerodynamics import AeroOptions, Surfaces, aero_parameters, aero_wrench

BOTH: tuple[AutopilotKind, ...] = ("ardupilot", "px4")
WINGS = ("throttle_0", "aileron", "elevator", "rudder")


def rotors(count: int) -> list[str]:
    return [f"throttle_{i}" for i in range(count)]


def with_values(scenario: Scenario, **values: Any) -> Scenario:
    vehicle = msgspec.structs.replace(scenario.vehicle, values={**scenario.vehicle.values, **values})
    return msgspec.structs.replace(scenario, vehicle=vehicle)


def turned_by(airframe: Airframe, motors: int) -> list[int]:
    """The rotor that each motor turns, seen by giving that motor alone half of its range."""
    found = []
    for motor in range(motors):
        pulses = [1000] * 16
        pulses[motor] = 1500
        command = airframe.command_of_pulses(pulses)
        (rotor,) = (i for i, value in enumerate(command) if value)
        assert command[rotor] == pytest.approx(0.5)
        values = [0.0] * 16
        values[motor] = 0.5
        assert airframe.command(values) == pytest.approx(command)
        found.append(rotor)
    return found


FRONT_RIGHT, REAR_LEFT = (0.174, 0.174, -0.06), (-0.174, -0.174, -0.06)
FRONT_LEFT, REAR_RIGHT = (0.174, -0.174, -0.06), (-0.174, 0.174, -0.06)
CCW, CW = 1, -1


@pytest.mark.parametrize("kind", BOTH)
def test_quad_x_turns_the_rotors_of_the_x500_in_their_order(kind: AutopilotKind) -> None:
    """Both number front right, rear left, front left, rear right, as the x500's file does."""
    airframe = airframe_of(kind, load("quad-hover"), [*rotors(4), *WINGS[1:]])
    assert airframe.title == "quad x"
    assert turned_by(airframe, 4) == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", BOTH)
def test_a_file_with_its_rotors_in_another_order_flies_too(kind: AutopilotKind) -> None:
    """Clockwise from the rear left: rear left, front left, front right, rear right."""
    other = with_values(
        load("quad-hover"),
        rotor_position_m=[REAR_LEFT, FRONT_LEFT, FRONT_RIGHT, REAR_RIGHT],
        rotor_spin=[CCW, CW, CCW, CW],
    )
    airframe = airframe_of(kind, other, rotors(4))
    assert turned_by(airframe, 4) == [2, 0, 1, 3]


@pytest.mark.parametrize("kind", BOTH)
def test_quad_plus(kind: AutopilotKind) -> None:
    """ArduPilot's + frame: right and left anticlockwise, front and rear clockwise."""
    front, right, rear, left = (0.2, 0.0, 0.0), (0.0, 0.2, 0.0), (-0.2, 0.0, 0.0), (0.0, -0.2, 0.0)
    plus = with_values(load("quad-hover"), rotor_position_m=[front, right, rear, left], rotor_spin=[CW, CCW, CW, CCW])
    airframe = airframe_of(kind, plus, rotors(4))
    assert airframe.title == "quad +"
    assert turned_by(airframe, 4) == [1, 3, 0, 2]


@pytest.mark.parametrize("kind", BOTH)
def test_hexa_x(kind: AutopilotKind) -> None:
    """ArduPilot's: 1 right cw, 2 left ccw, 3 front left cw, 4 rear right ccw, 5 front right ccw, 6 rear left cw.

    The hexa-f550 lists front left, left, rear left, rear right, right, front right.
    """
    hexa = load("quad-hover", ["vehicle.model=hexa-f550"])
    airframe = airframe_of(kind, hexa, rotors(6))
    assert airframe.title == "hexa x"
    assert turned_by(airframe, 6) == [4, 1, 0, 3, 5, 2]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("places", "spins"),
    [
        ([FRONT_RIGHT, REAR_LEFT, FRONT_LEFT, REAR_RIGHT], [CW, CW, CCW, CCW]),
        ([FRONT_RIGHT, REAR_LEFT, FRONT_LEFT, REAR_RIGHT], [CCW, CW, CCW, CW]),
        ([FRONT_RIGHT, REAR_LEFT, FRONT_LEFT], [CCW, CCW, CW]),
        ([(0.2, 0.07, 0.0), REAR_LEFT, FRONT_LEFT, REAR_RIGHT], [CCW, CCW, CW, CW]),
    ],
    ids=["turning the other way", "turning by sides", "three", "25 deg off"],
)
def test_rotors_that_no_frame_fits_are_refused(kind: AutopilotKind, places: list[Any], spins: list[int]) -> None:
    odd = with_values(load("quad-hover"), rotor_position_m=places, rotor_spin=spins)
    with pytest.raises(FieldworthyError, match=rf"no frame of {kind} fits rotors at .*valid: quad x \(4 motors\), "):
        airframe_of(kind, odd, rotors(len(places)))


@pytest.mark.parametrize("kind", BOTH)
def test_a_vehicle_that_is_neither_multirotor_nor_plane_is_refused(kind: AutopilotKind) -> None:
    with pytest.raises(FieldworthyError, match="valid: a multirotor, a plane"):
        airframe_of(kind, load("vtol-transition"), ["throttle_0"])


def test_px4_has_no_boats() -> None:
    with pytest.raises(FieldworthyError, match="valid: fieldworthy link ardupilot"):
        airframe_of("px4", load("boat-buoy"), ["surge_m_s", "yaw_rate_rad_s"])


@pytest.mark.parametrize(
    ("places", "spins", "frame"),
    [
        ([FRONT_RIGHT, REAR_LEFT, FRONT_LEFT, REAR_RIGHT], [CCW, CCW, CW, CW], (1, 1)),
        ([(0.2, 0.0, 0.0), (0.0, 0.2, 0.0), (-0.2, 0.0, 0.0), (0.0, -0.2, 0.0)], [CW, CCW, CW, CCW], (1, 0)),
    ],
)
def test_ardupilot_is_told_its_frame(places: list[Any], spins: list[int], frame: tuple[int, int]) -> None:
    """AP_Motors_Class.h: MOTOR_FRAME_QUAD 1, MOTOR_FRAME_HEXA 2; MOTOR_FRAME_TYPE_PLUS 0, MOTOR_FRAME_TYPE_X 1."""
    quad = with_values(load("quad-hover"), rotor_position_m=places, rotor_spin=spins)
    told = airframe_of("ardupilot", quad, rotors(4))
    assert (told.parameters["FRAME_CLASS"], told.parameters["FRAME_TYPE"]) == frame
    hexa = airframe_of("ardupilot", load("quad-hover", ["vehicle.model=hexa-f550"]), rotors(6))
    assert (hexa.parameters["FRAME_CLASS"], hexa.parameters["FRAME_TYPE"]) == (2, 1)


def test_px4_has_a_model_for_quad_x_and_planes_only() -> None:
    """10016_none_iris and 1030_gazebo-classic_plane of its posix airframes; there is no hexarotor for this link."""
    quad, hexa = load("quad-hover"), load("quad-hover", ["vehicle.model=hexa-f550"])
    assert airframe_of("px4", quad, rotors(4)).px4_model == "none_iris"
    assert airframe_of("px4", load("plane-circuit"), WINGS).px4_model == "gazebo-classic_plane"
    assert airframe_of("px4", hexa, rotors(6)).px4_model == ""
    assert airframe_of("ardupilot", quad, rotors(4)).px4_model == ""


@pytest.mark.parametrize(
    ("value", "motor", "surface"),
    [
        (math.nan, 0.0, 0.0),  # PX4: no output
        (math.inf, 1.0, 1.0),
        (-math.inf, 0.0, -1.0),
        (1e30, 1.0, 1.0),
        (-0.5, 0.0, -0.5),
        (0.0, 0.0, 0.0),
        (1.0, 1.0, 1.0),
    ],
)
def test_outputs_are_held_to_their_range(value: float, motor: float, surface: float) -> None:
    plane = airframe_of("px4", load("plane-circuit"), WINGS)
    throttle, aileron, elevator, rudder = plane.command([value] * 16)
    assert throttle == motor
    assert aileron == 0.0  # the left one and the right one against each other
    assert (elevator, rudder) == (-surface, -surface)
    quad = airframe_of("px4", load("quad-hover"), rotors(4))
    assert quad.command([value, 0.5, value, value] + [0.0] * 12) == [motor, 0.5, motor, motor]


def test_px4_disarmed_is_zero() -> None:
    """All of its 16 outputs are 0 then."""
    for scenario, names in (("quad-hover", rotors(4)), ("plane-circuit", list(WINGS))):
        assert airframe_of("px4", load(scenario), names).command([0.0] * 16) == [0.0] * 4


def test_motors_have_the_whole_range_and_stand_without_pulse() -> None:
    airframe = airframe_of("ardupilot", load("quad-hover"), rotors(4))
    assert airframe.command_of_pulses((1000, 1250, 2000, 0) + (0,) * 12) == [0.0, 0.25, 1.0, 0.0]
    assert airframe.command_of_pulses((900, 2100, 1999, 1001) + (0,) * 12) == pytest.approx([0.0, 1.0, 0.999, 0.001])


def moments(command: list[float]) -> Vec3:
    """What the aerosonde's surfaces do at 25 m/s in level flight: roll right, nose up, nose right are positive."""
    p, ahead, still = aero_parameters(load("plane-circuit").vehicle.values), Vec3(25.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)
    moved = Surfaces(*(0.2 * part for part in command[1:]))
    with_, without = (aero_wrench(AeroOptions(), p, ahead, still, s, 1.225) for s in (moved, Surfaces(0.0, 0.0, 0.0)))
    return with_.moment_frd_n_m - without.moment_frd_n_m


@pytest.mark.parametrize(
    ("kind", "channel", "high", "neutral", "axis"),
    [
        ("ardupilot", 0, 1700, 1500, "x"),
        ("ardupilot", 1, 1700, 1500, "y"),
        ("ardupilot", 3, 1700, 1500, "z"),
        ("px4", 6, 0.5, 0.0, "x"),
        ("px4", 7, 0.5, 0.0, "y"),
        ("px4", 2, 0.5, 0.0, "z"),
    ],
)
def test_surfaces_turn_the_plane_the_way_the_autopilot_means(
    kind: AutopilotKind, channel: int, high: float, neutral: float, axis: str
) -> None:
    """By the moment that comes out of the aerodynamics, so that two wrong signs are not a right one by accident."""
    airframe = airframe_of(kind, load("plane-circuit"), WINGS)
    values: list[Any] = [neutral] * 16
    values[channel] = high
    command = airframe.command(values) if kind == "px4" else airframe.command_of_pulses(values)
    command[0] = 0.0
    about = moments(command)
    wanted = getattr(about, axis)
    assert wanted > 0.0
    assert wanted > 3.0 * max(abs(getattr(about, other)) for other in "xyz" if other != axis)


def test_ardupilot_plane_by_hand() -> None:
    """Surfaces between 1100 and 1900 us (SERVOn_MIN and _MAX as they come): 1700 is half of the way from the middle."""
    airframe = airframe_of("ardupilot", load("plane-circuit"), WINGS)
    assert airframe.command_of_pulses((1700, 1500, 1900, 1500)) == pytest.approx([1.0, 0.5, 0.0, 0.0])
    assert airframe.command_of_pulses((1500, 1700, 1000, 1500)) == pytest.approx([0.0, 0.0, -0.5, 0.0])
    assert airframe.command_of_pulses((1500, 1500, 0, 1300)) == pytest.approx([0.0, 0.0, 0.0, 0.5])
    assert airframe.command_of_pulses((2000, 1000, 2000, 900)) == pytest.approx([1.0, 1.0, 1.0, 1.0])
    assert airframe.command_of_pulses((0,) * 16) == [0.0] * 4


def test_px4_plane_by_hand() -> None:
    """Airframe 1030: [4] throttle, [5] left aileron (TRQ_R -0.5), [6] right one (+0.5), [7] elevator, [2] rudder."""
    airframe = airframe_of("px4", load("plane-circuit"), WINGS)

    def command(**outputs: float) -> list[float]:
        return airframe.command([outputs.get(f"o{i}", 0.0) for i in range(16)])

    assert command(o4=0.6) == pytest.approx([0.6, 0.0, 0.0, 0.0])
    assert command(o5=-0.4, o6=0.4) == pytest.approx([0.0, 0.4, 0.0, 0.0])  # roll right by 0.4 on both
    assert command(o5=1.0) == pytest.approx([0.0, -0.5, 0.0, 0.0])
    assert command(o7=0.3) == pytest.approx([0.0, 0.0, -0.3, 0.0])  # nose up: trailing edge up
    assert command(o2=0.3) == pytest.approx([0.0, 0.0, 0.0, -0.3])  # nose right: trailing edge right
    assert command(o0=1.0, o1=1.0, o3=1.0, o8=1.0) == [0.0] * 4


def test_rover_by_hand() -> None:
    """SERVO3 is the throttle, SERVO1 the steering: the middle is rest, high is ahead and to starboard."""
    scenario = load("boat-buoy")
    fast, turn = (float(scenario.vehicle.values[name]) for name in ("speed_max_m_s", "yaw_rate_max_rad_s"))
    airframe = airframe_of("ardupilot", scenario, ("surge_m_s", "yaw_rate_rad_s"))
    assert airframe.title == "rover"

    def command(steering: int, throttle: int) -> list[float]:
        return airframe.command_of_pulses((steering, 0, throttle, 0) + (0,) * 12)

    assert command(1500, 1500) == pytest.approx([0.0, 0.0])
    assert command(1500, 2000) == pytest.approx([fast, 0.0])
    assert command(1500, 1000) == pytest.approx([-fast, 0.0])
    assert command(2000, 1500) == pytest.approx([0.0, turn])
    assert command(1000, 1500) == pytest.approx([0.0, -turn])
    assert command(0, 0) == [0.0, 0.0]
    assert 0.0 < command(1500, 1600)[0] < fast
    swapped = airframe_of("ardupilot", scenario, ("yaw_rate_rad_s", "surge_m_s"))
    assert swapped.command_of_pulses((1500, 0, 2000)) == pytest.approx([0.0, fast])
    assert math.isfinite(fast)


def test_skid_by_hand() -> None:
    """SERVO1 is the left throttle (73), SERVO3 the right one (74): both ahead is ahead, left one to starboard."""
    scenario = load("boat-buoy")
    fast, turn = (float(scenario.vehicle.values[name]) for name in ("speed_max_m_s", "yaw_rate_max_rad_s"))
    airframe = airframe_of("ardupilot", scenario, ("surge_m_s", "yaw_rate_rad_s"), skid=True)
    assert airframe.title == "rover skid"
    assert (airframe.parameters["SERVO1_FUNCTION"], airframe.parameters["SERVO3_FUNCTION"]) == (73, 74)

    def command(left: int, right: int) -> list[float]:
        return airframe.command_of_pulses((left, 0, right, 0) + (0,) * 12)

    assert command(1500, 1500) == pytest.approx([0.0, 0.0])
    assert command(2000, 2000) == pytest.approx([fast, 0.0])
    assert command(1000, 1000) == pytest.approx([-fast, 0.0])
    assert command(2000, 1000) == pytest.approx([0.0, turn])
    assert command(1500, 2000) == pytest.approx([0.5 * fast, -0.5 * turn])
    assert command(0, 0) == [0.0, 0.0]


def test_skid_is_for_boats() -> None:
    with pytest.raises(FieldworthyError, match="skid steering is for boats, and quad-hover has none"):
        airframe_of("ardupilot", load("quad-hover"), rotors(4), skid=True)
