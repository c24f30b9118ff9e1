"""Simulated time held to a wall clock that is a number here: nothing sleeps, and nothing depends on the machine."""

from __future__ import annotations

import gc
import re

import pytest

from fieldworthy.links.pace import OVERRUN_S, SPIN_S, Lateness, Pace, undisturbed

CLOSE_S = 1e-4
"""Some thousand looks at a clock that goes on by 10 ns at each, and room to spare."""


class Wall:
    """A clock that goes on when somebody sleeps, works, or looks at it."""

    def __init__(self, look_s: float = 1e-6, oversleep_s: float = 0.0) -> None:
        self.now_s, self.look_s, self.oversleep_s = 5000.0, look_s, oversleep_s
        self.slept: list[float] = []

    def __call__(self) -> float:
        self.now_s += self.look_s
        return self.now_s

    def sleep(self, wait_s: float) -> None:
        assert wait_s > 0.0
        self.slept.append(wait_s)
        self.now_s += wait_s + self.oversleep_s


def paced(wall: Wall, speed: float | None) -> Pace:
    return Pace(speed, clock=wall, sleep=wall.sleep)


@pytest.mark.parametrize("speed", [1.0, 5.0, 0.5])
@pytest.mark.parametrize("oversleep_s", [0.0, 0.9 * SPIN_S])
def test_simulated_time_goes_at_the_speed_of_the_wall_clock(speed: float, oversleep_s: float) -> None:
    """Each tick ends when it is due, to within a look at the clock or three, even where sleeps are too long."""
    wall = Wall(oversleep_s=oversleep_s)
    pace = paced(wall, speed)
    pace.wait(0.0)
    zero_s = wall.now_s
    for tick in range(1, 2001):
        wall.now_s += 3e-4  # our own work
        pace.wait(tick * 0.004)
        due_s = zero_s + tick * 0.004 / speed
        assert -3.0 * wall.look_s <= wall.now_s - due_s <= 3.0 * wall.look_s
    lateness = pace.lateness()
    assert (lateness.ticks, lateness.overruns, lateness.slipped_s) == (2001, 0, 0.0)
    assert lateness.worst_s <= 3.0 * wall.look_s
    assert len(wall.slept) == 2000


def test_the_time_at_which_it_begins_is_due_at_once() -> None:
    """A flight that goes on from 100 s does not wait 100 s."""
    wall = Wall()
    pace = paced(wall, 1.0)
    pace.wait(100.0)
    assert wall.slept == []
    pace.wait(100.5)
    assert wall.slept == [pytest.approx(0.5 - SPIN_S, abs=5.0 * wall.look_s)]


def test_without_a_speed_nobody_waits_or_counts() -> None:
    wall = Wall()
    pace = paced(wall, None)
    for tick in range(100):
        pace.wait(tick * 1000.0)
    assert wall.slept == []
    assert wall.now_s == 5000.0
    assert pace.lateness().ticks == 0
    assert "0 ticks" in pace.lateness().sentence()


def test_a_small_lateness_is_made_up_for() -> None:
    """50 ms behind, then steps of 4 ms that cost 1 ms: 3 ms are won each, so 17 steps later it is in time, for good."""
    wall = Wall()
    pace = paced(wall, 1.0)
    pace.wait(0.0)
    zero_s = wall.now_s
    late_s = []
    for tick in range(1, 41):
        wall.now_s += 0.054 if tick == 1 else 0.001
        pace.wait(tick * 0.004)
        late_s.append(wall.now_s - zero_s - tick * 0.004)
    assert late_s[0] == pytest.approx(0.050, abs=1e-5)
    assert late_s[10] == pytest.approx(0.020, abs=1e-4)
    assert all(late < 1e-4 for late in late_s[17:])
    lateness = pace.lateness()
    assert lateness.slipped_s == 0.0
    assert lateness.overruns == sum(late > OVERRUN_S for late in late_s) == 17
    assert lateness.worst_s == pytest.approx(0.050, abs=1e-5)


def test_after_a_pause_the_clock_is_set_back_and_that_is_told() -> None:
    """2 s of nothing at 10 s: time goes on from there at its speed instead of racing after the wall."""
    wall = Wall()
    pace = paced(wall, 5.0)
    pace.wait(0.0)
    zero_s = wall.now_s
    for tick in range(1, 5001):
        if tick == 2500:
            wall.now_s += 2.0
        pace.wait(tick * 0.004)
    # What was slept of the paused tick's own 0.8 ms is not lost.
    assert wall.now_s - zero_s == pytest.approx(20.0 / 5.0 + 2.0, abs=1e-3)
    lateness = pace.lateness()
    assert lateness.slipped_s == pytest.approx(2.0, abs=1e-3)
    assert lateness.overruns == 1
    assert lateness.worst_s == pytest.approx(2.0, abs=1e-3)
    assert lateness.sentence().endswith("; 2.00 s behind the wall clock in the end")


@pytest.mark.parametrize(("late_s", "slips"), [(0.099, False), (0.101, True)])
def test_a_tenth_of_a_second_is_the_limit(late_s: float, slips: bool) -> None:
    wall = Wall(look_s=1e-8)
    pace = paced(wall, 1.0)
    pace.wait(0.0)
    wall.now_s += 0.004 + late_s
    pace.wait(0.004)
    assert (pace.lateness().slipped_s > 0.0) == slips
    wall.now_s += 0.001
    pace.wait(0.008)
    assert wall.slept == ([pytest.approx(0.003 - SPIN_S, abs=CLOSE_S)] if slips else [])


def test_a_machine_that_is_always_too_slow_slips_and_does_not_pile_up() -> None:
    """Steps of 4 ms that cost 6: the clock is set back again and again, by what is missing in the end."""
    wall = Wall(look_s=1e-8)
    pace = paced(wall, 1.0)
    pace.wait(0.0)
    for tick in range(1, 1001):
        wall.now_s += 0.006
        pace.wait(tick * 0.004)
    lateness = pace.lateness()
    behind_s = wall.now_s - 5000.0 - 4.0
    assert behind_s == pytest.approx(2.0, abs=CLOSE_S)
    assert behind_s - Pace.CATCH_UP_S - 0.002 <= lateness.slipped_s <= behind_s + CLOSE_S
    assert lateness.worst_s <= Pace.CATCH_UP_S + 0.002 + CLOSE_S


@pytest.mark.parametrize(("late_s", "overruns"), [(0.9e-3, 0), (1.1e-3, 1)])
def test_a_tick_later_than_a_millisecond_is_an_overrun(late_s: float, overruns: int) -> None:
    wall = Wall(look_s=1e-8)
    pace = paced(wall, 1.0)
    pace.wait(0.0)
    wall.now_s += 0.004 + late_s
    pace.wait(0.004)
    assert pace.lateness().overruns == overruns


def test_the_sentence_has_the_numbers() -> None:
    """One late tick of 1001: the share to two places, the quantile of what is between, the worst."""
    wall = Wall(look_s=1e-8)
    pace = paced(wall, 1.0)
    pace.wait(0.0)
    for tick in range(1, 1001):
        wall.now_s += 0.004 + (0.010 if tick == 500 else 0.0)
        if tick == 501:
            wall.now_s -= 0.010  # and made up for at once
        pace.wait(tick * 0.004)
    said = pace.lateness().sentence()
    found = re.fullmatch(
        r"kept: ([\d.]+) % of 1001 ticks within 1 ms of their time \(99.9 % wanted\); "
        r"99.9 % within ([\d.]+) ms, worst 10.0\d ms",
        said,
    )
    assert found is not None, said
    assert float(found[1]) == 99.90
    assert float(found[2]) < 10.0


def test_all_late_is_not_told_as_all_in_time() -> None:
    late = Lateness(ticks=3, overruns=3, worst_s=0.5, p999_s=0.25, slipped_s=1.25)
    assert late.sentence() == (
        "NOT kept: 0.00 % of 3 ticks within 1 ms of their time (99.9 % wanted); "
        "99.9 % within 250.00 ms, worst 500.00 ms; "
        "1.25 s behind the wall clock in the end"
    )


@pytest.mark.parametrize(
    ("ticks", "overruns", "kept", "share"),
    [
        (1000, 0, True, "100.00"),
        (1000, 1, True, "99.90"),
        (1000, 2, False, "99.80"),
        (999, 1, False, "99.89"),  # 99.8999: below what is wanted, and not rounded up to it
        (100_000, 1, True, "99.99"),  # 99.999: one is late, so it is not all of them
        (10_000_000, 1, True, "99.99"),
        (100_000, 100, True, "99.90"),
        (100_000, 101, False, "99.89"),
    ],
)
def test_the_verdict_is_that_of_99_9_percent(ticks: int, overruns: int, kept: bool, share: str) -> None:
    late = Lateness(ticks=ticks, overruns=overruns, worst_s=0.002, p999_s=0.0005, slipped_s=0.0)
    assert late.kept is kept
    assert late.sentence().startswith(f"{'kept' if kept else 'NOT kept'}: {share} % of {ticks} ticks within 1 ms")


@pytest.mark.parametrize("collecting", [True, False])
def test_the_garbage_collector_is_left_as_it_was(collecting: bool) -> None:
    before, frozen = gc.isenabled(), gc.get_freeze_count()
    try:
        gc.enable() if collecting else gc.disable()
        with undisturbed():
            assert not gc.isenabled()
        assert gc.isenabled() == collecting
        assert gc.get_freeze_count() == frozen == 0
    finally:
        gc.enable() if before else gc.disable()


def test_the_garbage_collector_comes_back_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), undisturbed():
        _ = 1 / 0
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
