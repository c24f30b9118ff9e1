"""From measuring to hearing: latency, jitter, clock, loss, order."""

import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Bool, Float64

from fieldworthy.core.vec import Vec3
from fieldworthy.sensors.delivery import (
    DeliveryOptions,
    DeliveryParameters,
    collect,
    delivery_uniforms,
    first_mailbox,
    post,
    slots_needed,
)

DT = 1e-3


def deliver(options, p, ticks, uniforms=lambda k: (), every=10):
    """(tick heard, value, stamp) of every reading heard; the value is the tick of measuring."""
    mailbox, heard = first_mailbox(options, 0.0), []
    for tick in range(ticks):
        if tick % every == 0:
            mailbox = post(options, p, mailbox, float(tick), tick * DT, True, uniforms(tick))
        mailbox, fresh = collect(mailbox, tick * DT + 1e-9)
        if fresh:
            heard.append((tick, mailbox.newest.value, mailbox.newest.stamp_s))
    return heard, mailbox


@pytest.mark.parametrize("latency_ticks", [0, 1, 9, 10, 35, 120])
def test_every_reading_is_heard_after_its_latency_once(latency_ticks):
    options = DeliveryOptions(slots=slots_needed(latency_ticks * DT, 0.0, 10 * DT))
    heard, _ = deliver(options, DeliveryParameters(latency_s=latency_ticks * DT), 400)
    measured = range(0, 400 - latency_ticks, 10)
    assert [(tick, value) for tick, value, _ in heard] == [(m + latency_ticks, float(m)) for m in measured]
    assert [stamp for _, _, stamp in heard] == pytest.approx([m * DT for m in measured])


def test_nothing_is_heard_before_the_first():
    options = DeliveryOptions(slots=2)
    mailbox = post(options, DeliveryParameters(latency_s=0.5), first_mailbox(options, 7.0), 1.0, 0.0)
    mailbox, fresh = collect(mailbox, 0.4)
    assert not fresh
    assert (mailbox.arrived, mailbox.newest.value) == (0.0, 7.0)
    mailbox, fresh = collect(mailbox, 0.5)
    assert fresh
    assert (mailbox.arrived, mailbox.newest.value) == (1.0, 1.0)
    assert not collect(mailbox, 0.6)[1]


def test_the_clock_of_the_sensor_is_wrong_as_said():
    options = DeliveryOptions(clock=True)
    p = DeliveryParameters(clock_offset_s=0.25, clock_drift=50e-6)
    mailbox, _ = collect(post(options, p, first_mailbox(options, 0.0), 1.0, 3600.0), 3600.0)
    assert mailbox.newest.stamp_s == pytest.approx(3600.0 + 0.25 + 0.18)


def test_late_letters_never_overtake():
    rng = np.random.default_rng(1)
    options = DeliveryOptions(slots=12, jitter=True)
    heard, _ = deliver(options, DeliveryParameters(0.005, 0.02), 3000, lambda _: (float(rng.random()),))
    values = [value for _, value, _ in heard]
    assert values == sorted(values)
    assert len(set(values)) == len(values) > 100


def test_jitter_is_exponential():
    rng, options, p = np.random.default_rng(1), DeliveryOptions(jitter=True), DeliveryParameters(0.005, 0.02)
    waits = np.array(
        [post(options, p, first_mailbox(options, 0.0), 1.0, 3.0, True, (u,)).letters[0].due_s - 3.0
         for u in rng.random(2000).tolist()]
    )  # fmt: skip
    # 2000 waits: mean 25 ms, 3 standard deviations of it 1.4 ms, of a share of 1/e 0.033.
    assert waits.min() >= 0.005
    assert waits.mean() == pytest.approx(0.025, abs=1.4e-3)
    assert np.mean(waits > 0.005 + 0.02) == pytest.approx(np.exp(-1.0), abs=0.033)


def test_dropout_loses_its_share_and_leaves_the_others_alone():
    rng = np.random.default_rng(2)
    options = DeliveryOptions(slots=2, dropout=True)
    heard, _ = deliver(options, DeliveryParameters(0.003, dropout=0.3), 9000, lambda _: (float(rng.random()),))
    assert len(heard) / 900 == pytest.approx(0.7, abs=3.0 * np.sqrt(0.21 / 900))
    assert all(tick == value + 3 for tick, value, _ in heard)


def test_a_full_mailbox_loses_the_oldest():
    heard, _ = deliver(DeliveryOptions(slots=2), DeliveryParameters(latency_s=0.035), 100)
    assert [value for _, value, _ in heard] == []  # each is pushed out 20 ticks after it went in


def test_lanes_have_their_own_latency_loss_and_due():
    options = DeliveryOptions(slots=3, dropout=True, jitter=True)
    assert delivery_uniforms(options) == 2
    p = DeliveryParameters(Float64([0.0, 0.2, 0.0, 0.0]), 0.0, dropout=Float64([0.0, 0.0, 1.0, 0.0]))
    half = Float64(0.5)
    value = Vec3(Float64([1.0, 2.0, 3.0, 4.0]), 0.0, 0.0)
    mailbox = first_mailbox(options, Vec3(dr.zeros(Float64, 4), 0.0, 0.0))
    mailbox = post(options, p, mailbox, value, 1.0, Bool([True, True, True, False]), (half, half))
    mailbox, fresh = collect(mailbox, 1.1)
    assert np.asarray(fresh).tolist() == [True, False, False, False]
    mailbox, fresh = collect(mailbox, 1.2)
    assert np.asarray(fresh).tolist() == [False, True, False, False]
    assert np.asarray(mailbox.newest.value.x).tolist() == [1.0, 2.0, 0.0, 0.0]
