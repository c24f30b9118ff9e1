"""Philox against its published answers, and the numbers made from it against their distributions.

Every statistical test has a fixed seed and so a fixed answer: it cannot fail by chance.
"""

import math

import numpy as np
import pytest
from drjit.llvm.ad import Float, Float64, UInt32

from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.random import Stream, normal_pair, philox4x32, stream_key, stream_words, unit_uniform

# counter, key, words: the three lines "philox4x32 10" of tests/kat_vectors in Random123 1.14.0 (D. E. Shaw Research)
KNOWN_ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]
N = 20_000
KS_1_PERCENT = 1.63 / math.sqrt(N)
"""Kolmogorov's distance that chance exceeds once in a hundred."""


def words(text):
    return tuple(int(word, 16) for word in text.split())


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_published_answers_as_integers(counter, key, answer):
    assert philox4x32(words(counter), words(key)) == words(answer)


@pytest.mark.parametrize("make", [np.uint32, lambda w: np.array([w, 7], np.uint32), lambda w: UInt32([w, 7])])
@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_published_answers_as_arrays(make, counter, key, answer):
    counter, key = words(counter), words(key)
    for mixed in (tuple(map(make, counter)), (make(counter[0]), *counter[1:]), (*counter[:3], make(counter[3]))):
        got = philox4x32(mixed, key)
        assert tuple(int(np.ravel(word)[0]) for word in got) == words(answer)
    got = philox4x32(counter, tuple(map(make, key)))  # a key for each lane
    assert tuple(int(np.ravel(word)[0]) for word in got) == words(answer)


def test_alone_is_the_row_of_a_batch_on_every_engine():
    key = stream_key(2**64 - 1, "lidar.noise")
    trials, tick = 48_300, 12_345
    lanes = [w.numpy() for w in stream_words(key, UInt32(np.arange(trials, dtype=np.uint32)), tick, block=3)]
    arrays = stream_words(key, np.arange(trials, dtype=np.uint32), tick, block=3)
    assert all((a == b).all() for a, b in zip(lanes, arrays, strict=True))
    alone = stream_words(key, 48_213, tick, block=3)
    assert tuple(int(w[48_213]) for w in lanes) == alone
    assert tuple(w[0] for w in stream_words(key, UInt32(48_213), UInt32(tick), block=UInt32(3))) == alone


def test_host_stream_is_what_a_kernel_draws():
    stream = Stream(7, "start")
    host_uniform, host_normal = stream.uniform(5, 9, 10), stream.normal(5, 9, 10)
    drawn = [w for block in range(3) for w in stream_words(stream.key, UInt32(5), UInt32(9), block)]
    assert [unit_uniform(w, Float64)[0] for w in drawn[:10]] == host_uniform.tolist()
    assert [unit_uniform(w)[0] for w in drawn[:10]] == host_uniform.tolist()  # the same in 32 bits, to the last bit
    pairs = [normal_pair(drawn[i], drawn[i + 1], Float64) for i in range(0, 10, 2)]
    assert [n[0] for pair in pairs for n in pair] == pytest.approx(host_normal.tolist(), rel=1e-12)
    pairs = [normal_pair(drawn[i], drawn[i + 1]) for i in range(0, 10, 2)]
    assert isinstance(pairs[0][0], Float)
    assert [n[0] for pair in pairs for n in pair] == pytest.approx(host_normal.tolist(), rel=1e-4, abs=1e-6)
    plain = stream_words(stream.key, 5, 9)
    assert [unit_uniform(w) for w in plain] == host_uniform[:4].tolist()
    assert [*normal_pair(*plain[:2])] == pytest.approx(host_normal[:2].tolist(), rel=1e-14)


def test_answers_do_not_depend_on_the_order_or_number_of_calls():
    stream = Stream(1, "a")
    first = stream.normal(3, 4, 7)
    stream.uniform(3, 4, 100)
    stream.normal(0, 0, 1)
    assert (stream.normal(3, 4, 7) == first).all()
    assert (Stream(1, "a").normal(3, 4, 9)[:7] == first).all()
    assert stream.uniform(3, 4, 0).shape == stream.normal(3, 4, 0).shape == (0,)


@pytest.mark.parametrize("word", [0, 1, 511, 512, 2**31, 2**32 - 1])
def test_uniforms_stay_inside_the_open_interval_in_both_precisions(word):
    for u in (unit_uniform(word), unit_uniform(UInt32(word))[0], unit_uniform(UInt32(word), Float64)[0]):
        assert 2.0**-24 <= u <= 1.0 - 2.0**-24
    for n in (*normal_pair(word, word), *(x[0] for x in normal_pair(UInt32(word), UInt32(word)))):
        assert abs(n) < 5.8


def ks_distance(sample, cdf):
    """Largest distance between the sample's distribution and a closed form."""
    ordered = np.sort(sample)
    expected = np.array([cdf(x) for x in ordered])
    steps = np.arange(len(ordered) + 1) / len(ordered)
    return max((steps[1:] - expected).max(), (expected - steps[:-1]).max())


def test_uniform_distribution():
    u = Stream(11, "uniform").uniform(0, 0, N, low=-3.0, high=5.0)
    assert u.min() > -3.0
    assert u.max() < 5.0
    assert ks_distance(u, lambda x: (x + 3.0) / 8.0) < KS_1_PERCENT
    assert u.mean() == pytest.approx(1.0, abs=4 * 8 / math.sqrt(12 * N))
    assert u.var() == pytest.approx(64.0 / 12.0, rel=0.03)


def test_normal_distribution():
    n = Stream(12, "normal").normal(0, 0, N, mean=2.0, sigma=0.5)
    z = (n - 2.0) / 0.5
    assert ks_distance(z, lambda x: 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))) < KS_1_PERCENT
    assert z.mean() == pytest.approx(0.0, abs=4 / math.sqrt(N))
    assert z.var() == pytest.approx(1.0, abs=4 * math.sqrt(2 / N))
    assert (z**3).mean() == pytest.approx(0.0, abs=4 * math.sqrt(15 / N))
    assert (z**4).mean() == pytest.approx(3.0, abs=4 * math.sqrt(96 / N))


def test_normal_distribution_in_32_bit_lanes():
    a, b, _, _ = stream_words(stream_key(13, "normal"), UInt32(np.arange(N // 2, dtype=np.uint32)), 0)
    z = np.concatenate([x.numpy() for x in normal_pair(a, b)]).astype(float)
    assert ks_distance(z, lambda x: 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))) < KS_1_PERCENT
    pair = np.corrcoef(z[: N // 2], z[N // 2 :])[0, 1]
    assert abs(pair) < 4 / math.sqrt(N // 2)


def test_one_number_per_trial_or_per_tick_is_as_good_as_many_from_one():
    """The counter's words stand for block, tick and trial: each alone must give a uniform sample."""
    key, n = stream_key(14, "axis"), np.arange(N, dtype=np.uint32)
    for counter in [(n, 0, 0), (0, n, 0), (0, 0, n)]:
        trial, tick, block = counter
        for word in stream_words(key, trial, tick, block):
            assert ks_distance(unit_uniform(word), lambda x: x) < KS_1_PERCENT


def test_no_two_places_share_their_words():
    """64 trials x 64 ticks x 4 blocks: no two of the 64-bit halves are equal, as no two counters are."""
    trial, tick, block = (axis.ravel().astype(np.uint32) for axis in np.mgrid[0:64, 0:64, 0:4])
    a, b, _, _ = stream_words(stream_key(15, "grid"), trial, tick, block)
    assert len(np.unique((a.astype(np.uint64) << np.uint64(32)) | b)) == 64 * 64 * 4


def test_neighbours_are_independent():
    """No correlation between neighbouring streams, seeds, trials, ticks or samples (4 standard errors)."""
    base = Stream(1, "a").normal(10, 20, N)
    others = {
        "stream": Stream(1, "b").normal(10, 20, N),
        "seed": Stream(2, "a").normal(10, 20, N),
        "trial": Stream(1, "a").normal(11, 20, N),
        "tick": Stream(1, "a").normal(10, 21, N),
        "swapped": Stream(1, "a").normal(20, 10, N),
        "next sample": np.roll(base, 1),
        "next block": np.roll(base, 4),
    }
    for name, other in others.items():
        assert abs(np.corrcoef(base, other)[0, 1]) < 4 / math.sqrt(N), name
        assert abs(np.corrcoef(base**2, other**2)[0, 1]) < 4 / math.sqrt(N), name


def test_stream_keys_are_fixed_for_ever():
    """Not a law: a pin. Another hash would change every saved campaign."""
    assert stream_key(1, "lidar.noise") == (790940954, 913146913)
    assert len({stream_key(seed, name) for seed in range(100) for name in "abcde"}) == 500


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1"])
def test_bad_seeds_are_named(seed):
    with pytest.raises(ScenarioError, match="valid: a whole number from 0 to 2"):
        stream_key(seed, "a")
