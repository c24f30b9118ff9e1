"""One step of an ordinary differential equation, for any tree of scalars of any engine.

`rate(state)` answers the time derivatives in the structure of the state. Inputs and commands that are held over a
step are closed over. Quaternions inside a state leave the unit sphere by the order of the method: wrap the step with
`rigid_body.normalised_step` or `rigid_body.exponential_step`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from fieldworthy.core.lanes import Scalar
from fieldworthy.core.struct import add_scaled, children, map_leaves, rebuild

State = TypeVar("State")
Rate = Callable[[State], State]


def euler(rate: Rate[State], state: State, dt_s: Scalar) -> State:
    """Explicit Euler, order 1, one evaluation.

    Limits: gains energy on every undamped oscillation; for comparison with other simulators.
    """
    return add_scaled(state, dt_s, rate(state))


def semi_implicit_euler(rate: Rate[State], state: State, dt_s: Scalar, velocity_fields: tuple[str, ...]) -> State:
    """Symplectic Euler, order 1, two evaluations: velocities first, then everything else with the new velocities.

    `velocity_fields` names the fields (or keys, or positions in a tuple as text) that move first, at any depth of the
    state: velocities, and actuator states if they are to be stepped from the old attitude, as most simulators do.
    Limits: a long-term energy bound holds only for undamped mechanics.
    """
    missing = set(velocity_fields) - _names(state)
    if missing:
        raise ValueError(f"no field named {', '.join(sorted(missing))} in the state; valid: {sorted(_names(state))}")
    moved: State = _merge(state, add_scaled(state, dt_s, rate(state)), velocity_fields, chosen=False)
    final: State = _merge(add_scaled(state, dt_s, rate(moved)), moved, velocity_fields, chosen=False)
    return final


def _names(tree: Any) -> set[str]:
    nodes = children(tree) or []
    return {name for name, _ in nodes}.union(*(_names(child) for _, child in nodes))


def _merge(rest: Any, velocities: Any, names: tuple[str, ...], *, chosen: bool) -> Any:
    """`rest` with the named fields taken from `velocities`."""
    if chosen:
        return velocities
    nodes = children(rest)
    if nodes is None:
        return rest
    pairs = zip(nodes, children(velocities) or [], strict=True)
    return rebuild(rest, [_merge(a, b, names, chosen=name in names) for (name, a), (_, b) in pairs])


def rk4(rate: Rate[State], state: State, dt_s: Scalar) -> State:
    """The classical Runge-Kutta method, order 4, four evaluations.

    Equation: y + h/6 (k1 + 2 k2 + 2 k3 + k4)      Source: Kutta 1901
    """
    return add_scaled(state, dt_s, rk4_slope(rate, state, dt_s))


def rk4_slope(rate: Rate[State], state: State, dt_s: Scalar) -> State:
    """The mean slope of an `rk4` step: (k1 + 2 k2 + 2 k3 + k4) / 6."""
    half = 0.5 * dt_s
    k1 = rate(state)
    k2 = rate(add_scaled(state, half, k1))
    k3 = rate(add_scaled(state, half, k2))
    k4 = rate(add_scaled(state, dt_s, k3))
    return map_leaves(lambda a, b, c, d: (a + 2.0 * (b + c) + d) * (1.0 / 6.0), k1, k2, k3, k4)


def add_compensated(state: State, carry: State, dt_s: Scalar, slope: State) -> tuple[State, State]:
    """state + dt * slope without losing what is too small for the state's last digit: (new state, new carry).

    In 32 bits a position 10 km from the origin has steps of 1 mm; a boat that moves 100.4 mm a tick would always be
    rounded to 100 and be 4 m short after a thousand ticks. The part lost in each sum is carried to the next.
    Equation: y = dt s + c;  new = x + y;  c = y - (new - x)      Source: Kahan, CACM 8 (1965) 40
    Verified by: tests/consistency/test_hour_of_cruise.py
    """
    increment = map_leaves(lambda c, s: dt_s * s + c, carry, slope)
    new = map_leaves(lambda x, y: x + y, state, increment)
    return new, map_leaves(lambda x, y, n: y - (n - x), state, increment, new)
