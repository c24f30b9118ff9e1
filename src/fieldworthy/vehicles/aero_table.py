"""Aerodynamics of a whole aircraft from tables: coefficients over angle of attack and sideslip, and what each
surface and each turn rate adds over the angle of attack. For wind tunnel data, vortex lattice results and stalled
flight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fieldworthy.core.lanes import Scalar
from fieldworthy.core.table import Knots, Weights, check_knots, interpolate, interpolate_2d, weights
from fieldworthy.core.units import rad_from_deg
from fieldworthy.core.vec import Vec3
from fieldworthy.core.wrench import Wrench
from fieldworthy.vehicles.aerodynamics import Surfaces, Wash, air_flow, wrench_of_loads

Row = tuple[Scalar, ...]
_NAMES = ("cl", "cd", "cm", "cy", "cell", "cn")


@dataclass(frozen=True)
class AeroTableOptions:
    """Axes of the tables."""

    alpha_rad: Knots
    """From -pi to pi for an aircraft that may tumble; beyond the ends the values of the ends hold."""
    beta_rad: Knots
    """Within -pi/2 to pi/2."""


@dataclass
class Coefficients:
    """One thing for each of the six coefficients (lift, drag, pitch, side force, roll, yaw); None: always zero."""

    cl: Any = None
    cd: Any = None
    cm: Any = None
    cy: Any = None
    cell: Any = None
    cn: Any = None


@dataclass
class AeroTables:
    """Numbers of one aircraft. Entries may be lanes; a coefficient that is None costs nothing."""

    area_m2: Scalar
    span_m: Scalar
    chord_m: Scalar
    static: Coefficients
    """Rows over alpha of entries over beta."""
    aileron: Coefficients = field(default_factory=Coefficients)
    """Per radian, over alpha; so are the next three."""
    elevator: Coefficients = field(default_factory=Coefficients)
    rudder: Coefficients = field(default_factory=Coefficients)
    flap: Coefficients = field(default_factory=Coefficients)
    roll_rate: Coefficients = field(default_factory=Coefficients)
    """Per p b/(2V), over alpha."""
    pitch_rate: Coefficients = field(default_factory=Coefficients)
    """Per q c/(2V), over alpha."""
    yaw_rate: Coefficients = field(default_factory=Coefficients)
    """Per r b/(2V), over alpha."""


_INCREMENTS = {"aileron": "aileron", "elevator": "elevator", "rudder": "rudder", "flap": "flap",
               "roll_rate": "p", "pitch_rate": "q", "yaw_rate": "r"}  # fmt: skip
"""Field of AeroTables to the ending of its names in a catalogue file."""


def aero_tables(values: Mapping[str, Any]) -> tuple[AeroTableOptions, AeroTables]:
    """Tables from a catalogue entry's values.

    `aero_table_alpha_deg` and `aero_table_beta_deg` are the axes; `aero_table_cl` and so on lists of rows (one an
    angle of attack); `aero_table_cm_elevator`, `aero_table_cell_p` and so on lists over the angle of attack. What is
    missing is zero. Raises ValueError on a list of the wrong length, KeyError without axes or dimensions.
    """
    alpha = check_knots([rad_from_deg(a) for a in values["aero_table_alpha_deg"]], "aero_table_alpha_deg")
    beta = check_knots([rad_from_deg(b) for b in values["aero_table_beta_deg"]], "aero_table_beta_deg")
    static = Coefficients()
    for name in _NAMES:
        key = f"aero_table_{name}"
        if key in values:
            rows = _sized(values[key], len(alpha), key)
            setattr(static, name, tuple(tuple(_sized(row, len(beta), key)) for row in rows))
    increments: dict[str, Coefficients] = {}
    for part, ending in _INCREMENTS.items():
        increments[part] = Coefficients()
        for name in _NAMES:
            key = f"aero_table_{name}_{ending}"
            if key in values:
                setattr(increments[part], name, tuple(_sized(values[key], len(alpha), key)))
    size = {name: values[f"aero_{name}"] for name in ("area_m2", "span_m", "chord_m")}
    return AeroTableOptions(alpha, beta), AeroTables(**size, static=static, **increments)


def _sized(entries: Any, count: int, key: str) -> Sequence[Any]:
    if not isinstance(entries, list | tuple) or len(entries) != count:
        found = f"{len(entries)} entries" if isinstance(entries, list | tuple) else repr(entries)
        raise ValueError(f"{key}: {found} where the axis has {count}; valid: a list of {count}")
    return entries


def aero_table_wrench(
    options: AeroTableOptions,
    p: AeroTables,
    air_velocity_frd_m_s: Vec3,
    rate_frd_rad_s: Vec3,
    surfaces: Surfaces,
    density_kg_m3: Scalar,
    wash: Wash | None = None,
) -> Wrench:
    """Force and moment of the air on the whole aircraft, about the centre of mass, body FRD.

    Equation: C = C(alpha, beta) + sum over surfaces C_d(alpha) d + sum over rates C_w(alpha) w (b or c)/(2V), each
        times q S (times b or c for moments); lift and drag are turned into body axes by alpha. Wash adds its
        pressure with the surface's effect at alpha = 0, for it comes along the propeller's axis.
    Source: build-up of coefficients as in Stevens, Lewis and Johnson, Aircraft Control and Simulation (2016),
        section 2.3
    Frames: body FRD; the velocity is that of the aircraft through the air.      Shapes: scalars.
    Limits: all coefficients refer to the dynamic pressure of the whole speed; effects of surfaces add up; no
        hysteresis.
    Verified by: tests/verification/test_aero_table.py
    """
    flow = air_flow(air_velocity_frd_m_s, density_kg_m3)
    rows, columns = weights(options.alpha_rad, flow.alpha_rad), weights(options.beta_rad, flow.beta_rad)
    ahead = weights(options.alpha_rad, 0.0)
    q = flow.pressure_pa
    # q c/(2V) times 1/2 rho V^2, without the division by V; likewise for p and r with the span.
    swirl = density_kg_m3 * flow.speed_m_s * 0.25
    across, along = swirl * p.span_m, swirl * p.chord_m
    increments = (
        (p.aileron, surfaces.aileron_rad, q, None if wash is None else wash.aileron_pa),
        (p.elevator, surfaces.elevator_rad, q, None if wash is None else wash.elevator_pa),
        (p.rudder, surfaces.rudder_rad, q, None if wash is None else wash.rudder_pa),
        (p.flap, surfaces.flap_rad, q, None),
        (p.roll_rate, rate_frd_rad_s.x, across, None),
        (p.pitch_rate, rate_frd_rad_s.y, along, None),
        (p.yaw_rate, rate_frd_rad_s.z, across, None),
    )
    loads = {name: _load(getattr(p.static, name), rows, columns, q) for name in _NAMES}
    blown: dict[str, Scalar] = dict.fromkeys(_NAMES, 0.0)
    for table, angle_or_rate, pressure, extra in increments:
        for name in _NAMES:
            entries = getattr(table, name)
            if entries is None:
                continue
            loads[name] = loads[name] + interpolate(rows, entries) * pressure * angle_or_rate
            if extra is not None:
                blown[name] = blown[name] + interpolate(ahead, entries) * extra * angle_or_rate
    lift, drag, pitch, side, roll, yaw = (loads[name] for name in _NAMES)
    moment = (roll + blown["cell"], pitch + blown["cm"], yaw + blown["cn"])
    wrench = wrench_of_loads(flow, p.area_m2, p.span_m, p.chord_m, (lift, drag, side + blown["cy"]), moment)
    if wash is not None:
        # The slipstream comes along the body, whatever the angle of attack of the aircraft.
        force = wrench.force_frd_n
        wrench.force_frd_n = Vec3(force.x - blown["cd"] * p.area_m2, force.y, force.z - blown["cl"] * p.area_m2)
    return wrench


def _load(table: tuple[Row, ...] | None, rows: Weights, columns: Weights, pressure_pa: Scalar) -> Scalar:
    return 0.0 if table is None else interpolate_2d(rows, columns, table) * pressure_pa
