"""An hour of cruise in 32 bits beside 64: far from the origin, steps below a position's last digit still count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fieldworthy as fw
from fieldworthy.core.integrate import add_compensated
from fieldworthy.trials.campaign import fly

SCENARIO = """
schema = 1
name = "hour"
duration_s = 3600.0
[vehicle]
model = "boat-5m"
[start]
north_m = -9000.0
spread_heading_deg = 30.0
[goal]
north_m = 15000.0
east_m = 5000.0
[sea]
current_speed_m_s = 0.37
current_towards_deg = 70.0
[control]
controller = "straight"
rate_hz = 1.0
[control.parameters]
cruise_speed_m_s = 3.3
"""


@pytest.mark.slow
def test_an_hour_in_32_bits_ends_where_64_bits_say(tmp_path: Path) -> None:
    (tmp_path / "hour.toml").write_text(SCENARIO, encoding="utf-8")
    ends = {}
    for precision in ("f32", "f64"):
        result = fly(fw.load(tmp_path / "hour.toml", [f"precision={precision}"]), 4)
        assert set(result.outcome) == {"timeout"}
        last = result.length[0] - 1
        ends[precision] = np.stack([result.tracks[name][:, last] for name in ("north_m", "east_m")])
    way = np.hypot(*(ends["f64"] - np.array([[-9000.0], [0.0]])))
    assert (way > 12_000.0).all()
    # 180,000 steps; the last digit of the positions is 1 mm at the start and 0.5 mm at the end.
    assert np.abs(ends["f32"] - ends["f64"]).max() < 0.005  # plain sums: 9 m


def test_what_is_lost_in_a_sum_is_carried_to_the_next() -> None:
    position, carry, step = np.float32(10_000.0), np.float32(0.0), np.float32(1e-4)
    plain = position
    for _ in range(10_000):
        plain = np.float32(plain + step)
        position, carry = (np.float32(x) for x in _sum(position, carry, step))
    assert plain == np.float32(10_000.0), "below half of the last digit, a plain sum stands still"
    assert float(position) + float(carry) == pytest.approx(10_001.0, abs=1e-3)


def _sum(position: np.float32, carry: np.float32, step: np.float32) -> tuple[np.float32, np.float32]:
    new, rest = add_compensated((position,), (carry,), np.float32(1.0), (step,))
    return new[0], rest[0]
