"""What the models of a run leave out, in sentences for the person who reads its report."""

from __future__ import annotations

from collections.abc import Callable

from fieldworthy.trials.report.flight_limits import Scenario, flight_limits_for, table


def _always(_: Scenario) -> bool:
    return True


def _waves(scenario: Scenario) -> bool:
    return float(table(scenario, "sea", "waves").get("height_m", 0.0) or 0.0) > 0.0


def _calm(scenario: Scenario) -> bool:
    return not _waves(scenario)


def _still(scenario: Scenario) -> bool:
    sea, drawn = table(scenario, "sea"), table(scenario, "randomize")
    speeds = [float(sea.get(key, 0.0) or 0.0) for key in ("current_speed_m_s", "wind_speed_m_s")]
    return not any(speeds) and not any(key.startswith("sea.") for key in drawn)


def _moved_by_sea(scenario: Scenario) -> bool:
    return not _still(scenario)


def _sea_returns(scenario: Scenario) -> bool:
    return bool(table(scenario, "sensors", "lidar").get("sea_returns"))


def _no_sea_returns(scenario: Scenario) -> bool:
    return not _sea_returns(scenario)


def _no_motion_distortion(scenario: Scenario) -> bool:
    return table(scenario, "sensors", "lidar").get("motion_distortion") is False


def _chart(scenario: Scenario) -> bool:
    return bool(scenario.get("obstacles_geojson"))


LIMITS: tuple[tuple[Callable[[Scenario], bool], str], ...] = (
    (
        _always,
        "The intervals count only what the scenario varies: start, obstacles, drawn parameters and sensor noise. A "
        "narrow interval does not say that the models are right.",
    ),
    (
        _always,
        "The boat is a rigid body that follows a velocity command through limited force and moment, with linear and "
        "quadratic drag. Added mass, planing trim, propeller, rudder, engine lag and shallow-water effects are not "
        "modelled.",
    ),
    (_always, "The controller is told its true position, heading and speed: no GNSS or compass error."),
    (
        _waves,
        "Waves move the hull only kinematically (heave, roll and pitch follow a sum of regular waves): they neither "
        "push the boat nor slow it down, and they do not hide obstacles from the LiDAR.",
    ),
    (_calm, "The water is flat: no waves in this scenario, so the LiDAR never rolls, pitches or heaves with the sea."),
    (_moved_by_sea, "Current and wind are steady and the same everywhere: no gusts, no shear, no lee of obstacles."),
    (_still, "There is no current and no wind in this scenario."),
    (
        _always,
        "The LiDAR measures the geometric distance with Gaussian noise, and loses returns independently of each other. "
        "Reflectivity, beam width, multipath, rain, fog and spray are not modelled.",
    ),
    (_sea_returns, "Returns from the sea come from a flat plane that reflects at every angle; real water rarely does."),
    (
        _no_sea_returns,
        "The sea surface returns nothing to the LiDAR in this scenario (sea_returns = false): no clutter.",
    ),
    (
        _no_motion_distortion,
        "All rays of a sweep leave from one pose: motion distortion is switched off in this scenario.",
    ),
    (
        _always,
        "Obstacles are rigid with vertical sides or spheres; moving ones keep a straight course and do not react to "
        "the boat.",
    ),
    (
        _always,
        "A collision is any contact of the hull's outline with an obstacle, at any speed; it ends the trial. Damage, "
        "grounding and mooring lines are not modelled.",
    ),
    (
        _chart,
        "Heights and sizes of charted objects that the chart does not give come from the scenario's [geojson] table; "
        "what the chart does not show (moored boats, traffic, floating debris) is not there.",
    ),
)


def limits_for(scenario: Scenario) -> list[str]:
    """The sentences that hold for this scenario (a resolved scenario file as a dictionary)."""
    if "air" in scenario:
        return flight_limits_for(scenario)
    return [sentence for holds, sentence in LIMITS if holds(scenario)]
