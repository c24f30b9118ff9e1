"""Random processes of sensors: Allan deviations against N, B and K, the same at every rate."""

import functools
import math
import pathlib
import tomllib

import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float, Float64, UInt32

from fieldworthy.catalog import load_entry
from fieldworthy.core.random import normals, stream_key
from fieldworthy.core.vec import Vec3, quat_identity
from fieldworthy.sensors import imu, noise_process
from fieldworthy.sensors.devices import imu_device
from fieldworthy.sensors.truth import SensorTruth

CATALOG = pathlib.Path(noise_process.__file__).parents[1] / "catalog"
NOISE, WALK = math.radians(0.005), math.radians(5e-5)
LANES = 128


def means(step, memory, count, per_mean, scalar, seed=5):
    """Means of `per_mean` successive samples, shape (count, LANES): the sensor runs in one kernel."""
    trial = dr.arange(UInt32, LANES)
    out = dr.zeros(scalar, count * LANES)
    key = stream_key(seed, "allan")

    def body(tick, total, memory):
        value, memory = step(memory, functools.partial(normals, key, trial, tick, scalar_type=scalar))
        total = total + value
        done = (tick + 1) % per_mean == 0
        dr.scatter(out, total / per_mean, (tick // per_mean) * LANES + trial, active=done)
        return tick + 1, dr.select(done, scalar(0.0), total), memory

    dr.while_loop((dr.zeros(UInt32, LANES), dr.zeros(scalar, LANES), memory), lambda t, *_: t < count * per_mean, body)
    return np.asarray(out, dtype=np.float64).reshape(count, LANES)


def allan_deviation(mean, m):
    """Overlapping Allan deviation over `m` means, all lanes together (Riley, NIST SP 1065, section 5.2.4)."""
    phase = np.vstack([np.zeros((1, mean.shape[1])), np.cumsum(mean, axis=0)])
    second = phase[2 * m :] - 2.0 * phase[m:-m] + phase[: -2 * m]
    return math.sqrt(np.mean(second**2) / (2.0 * m * m))


def still(scalar):
    zero = Vec3(scalar(0.0), scalar(0.0), scalar(0.0))
    hung = Vec3(scalar(0.0), scalar(0.0), scalar(-9.80665))
    return SensorTruth(0.0, zero, quat_identity(), zero, zero, zero, hung, zero, 1.225, 1e5, 288.0, 0.0, 0.0, 0.0, zero)


@functools.cache
def gyro_means(rate_hz, seconds, walk_factor=1.0):
    """Means over 1 s of the reference gyroscope of the catalogue, read as a world reads it."""
    values = dict(load_entry("imu", str(CATALOG / "imus/allan-reference.toml")).values)
    values["gyro_walk_deg_s_rts"] *= walk_factor
    options, p = imu_device(values, 1.0 / rate_hz)

    def step(walk, draw):
        memory.gyro.walk = walk
        reading, after = imu.read_imu(options, p, still(Float), memory, draw(imu.imu_normals(options)))
        return reading.rate_frd_rad_s.x, after.gyro.walk

    memory = imu.first_imu(options, p, ())
    zero = Vec3(*(dr.zeros(Float, LANES) for _ in range(3)))
    return means(step, zero, seconds, round(rate_hz), Float)


@pytest.mark.parametrize("rate_hz", [100.0, 1000.0])
@pytest.mark.parametrize("tau_s", [1, 10, 60])
def test_allan_deviation_of_noise_and_walk(rate_hz, tau_s):
    # 128 lanes of 600 s: at 60 s about 1,000 differences, so 3 standard deviations are 7 %.
    expected = math.sqrt(NOISE**2 / tau_s + WALK**2 * tau_s / 3.0)
    assert allan_deviation(gyro_means(rate_hz, 600), tau_s) == pytest.approx(expected, rel=0.02 if tau_s < 60 else 0.07)


@pytest.mark.parametrize("rate_hz", [100.0, 250.0])
def test_allan_deviation_where_the_walk_rules(rate_hz):
    found = allan_deviation(gyro_means(rate_hz, 200, walk_factor=100.0), 20)
    assert found == pytest.approx(math.sqrt(NOISE**2 / 20 + (100.0 * WALK) ** 2 * 20 / 3.0), rel=0.06)


def test_the_reference_curve_has_its_minimum_where_the_document_says():
    reference = tomllib.loads(
        "noise_deg_s_rthz = 0.005\nbias_walk_deg_s_rts = 5e-5\ncrossover_s = 173.2\nminimum_deg_h = 1.93"
    )  # shared/reference/allan.toml
    tau = math.sqrt(3.0) * NOISE / WALK
    assert tau == pytest.approx(reference["crossover_s"], abs=0.05)
    assert math.degrees(math.sqrt(2.0) * NOISE / math.sqrt(tau)) * 3600.0 == pytest.approx(
        reference["minimum_deg_h"], abs=0.005
    )
    values = load_entry("imu", str(CATALOG / "imus/allan-reference.toml")).values
    assert values["gyro_noise_density_deg_s_rthz"] == reference["noise_deg_s_rthz"]
    assert values["gyro_walk_deg_s_rts"] == reference["bias_walk_deg_s_rts"]


def test_bias_instability_is_flat_over_three_decades():
    dt, instability, taus = 0.05, 2.0, noise_process.DECADES_S

    def step(parts, draw):
        parts = noise_process.flicker_step(parts, draw(len(taus)), instability, taus, dt)
        return sum(parts[1:], parts[0]), parts

    first = normals(stream_key(9, "first"), dr.arange(UInt32, LANES), UInt32(0), len(taus), Float)
    found = means(step, noise_process.flicker_first(first, instability), 6000, 20, Float)
    floor = math.sqrt(2.0 * math.log(2.0) / math.pi) * instability  # IEEE Std 952-1997
    # Sampling: at 1000 s 128 lanes of six independent differences, 3 standard deviations of 8 %; so 5 % is asked
    # where there are enough, and of the closed form below everywhere.
    for tau_s in (1, 3, 10, 30, 100, 300):
        assert allan_deviation(found, tau_s) == pytest.approx(floor, rel=0.05)
    assert allan_deviation(found, 1000) == pytest.approx(floor, rel=0.1)


def test_the_sum_over_decades_is_flat_within_five_per_cent():
    # Allan variance of a Gauss-Markov process, IEEE Std 952-1997 eq. C.21 with 2 sigma^2 T for the correlation.
    tau = np.logspace(0.0, 3.0, 300)
    variance = 0.0
    for correlation in noise_process.DECADES_S:
        x = tau / correlation
        variance = variance + 2.0 / x * (1.0 - (3.0 - 4.0 * np.exp(-x) + np.exp(-2.0 * x)) / (2.0 * x))
    curve = noise_process.GAUSS_MARKOV_PER_INSTABILITY * np.sqrt(variance)
    assert np.abs(curve / math.sqrt(2.0 * math.log(2.0) / math.pi) - 1.0).max() < 0.05


@pytest.mark.parametrize("dt_s", [1e-3, 0.1, 3.0])
@pytest.mark.parametrize("scalar", [float, Float64, Float])
def test_gauss_markov_keeps_its_variance_at_any_step(dt_s, scalar):
    sigma, tau = 1.7, 2.0
    # Variance of the next value from the law's answers to the value alone and to the kick alone.
    decay = noise_process.gauss_markov_step(scalar(1.0), scalar(0.0), sigma, scalar(tau), dt_s)
    kick = noise_process.gauss_markov_step(scalar(0.0), scalar(1.0), sigma, scalar(tau), dt_s)
    decay, kick = (float(np.asarray(x).reshape(-1)[0]) for x in (decay, kick))
    assert decay == pytest.approx(math.exp(-dt_s / tau), rel=1e-6)
    rel = 1e-6 if scalar is Float else 1e-9
    assert kick**2 == pytest.approx(-(sigma**2) * math.expm1(-2.0 * dt_s / tau), rel=rel)


def test_uniform_numbers_of_normal_ones_are_uniform():
    key, trial = stream_key(4, "uniform"), dr.arange(UInt32, 20000)
    u = np.asarray(noise_process.uniform_of(*normals(key, trial, UInt32(1), 2, Float64)))
    edges = np.histogram(u, bins=10, range=(0.0, 1.0))[0]
    assert np.abs(edges - 2000).max() < 5.0 * math.sqrt(2000 * 0.9)
