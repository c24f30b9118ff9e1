"""A trial flown alone is its row of a batch, bit for bit: on 1 or 2 threads, across compaction and batches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import drjit as dr
import numpy as np
import pytest
from small_scenarios import ROUGH, scenario, scenarios

from fieldworthy.trials import campaign
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.folder import write_run, write_whole
from fieldworthy.trials.replay import replay
from fieldworthy.trials.result import Result

TRIALS = 6
NAMES = ("rough", "rough, 64 bit", "firing")


@pytest.fixture(scope="module", name="flown")
def flown_batches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    folder = tmp_path_factory.mktemp("scenarios")
    return {name: fly(case) for name, case in scenarios(folder).items()}


@pytest.fixture
def threads() -> Iterator[None]:
    before = dr.thread_count()
    yield
    dr.set_thread_count(before)


def assert_same_row(alone: Result, row: int, batch: Result, place: int) -> None:
    """Everything that a result says of a trial, to the last bit."""
    length = int(batch.length[place])
    assert alone.length[row] == length
    assert alone.trial[row] == batch.trial[place]
    for name in ("outcome", "time_s", "clearance_m", "path_m", "redrawn"):
        # NaN equals NaN: a trial without obstacles has no clearance.
        np.testing.assert_array_equal(getattr(alone, name)[row], getattr(batch, name)[place], err_msg=name)
    assert alone.why[row] == batch.why[place]
    assert alone.layouts[row] == batch.layouts[place]
    for name, values in batch.tracks.items():
        now, then = alone.tracks[name][row, :length], values[place, :length]
        assert now.tobytes() == then.tobytes(), f"{name} differs first at sample {np.argmax(now != then)}"
    for name, values in batch.parameters.items():
        assert alone.parameters[name][row] == values[place]


def test_the_scenarios_put_everything_to_the_test(flown: dict[str, Result]) -> None:
    # Ends at different times (so that lanes were compacted), in different ways, having avoided, in waves.
    assert set(flown) == set(NAMES)
    for result in flown.values():
        assert len(result.trial) == TRIALS
        assert len(set(result.length.tolist())) > 2
        assert (result.tracks["mode"] != 0).any()
        for values in result.tracks.values():
            assert all(np.isfinite(values[i, :n]).all() for i, n in enumerate(result.length))
    assert (flown["rough"].tracks["roll_rad"][:, 5] != 0.0).all()
    outcomes = set(np.concatenate([result.outcome for result in flown.values()]).tolist())
    assert {"goal", "collision"} <= outcomes


@pytest.mark.parametrize("name", NAMES)
def test_alone_is_batch(flown: dict[str, Result], name: str) -> None:
    batch = flown[name]
    for trial in {int(np.argmax(batch.length)), int(np.argmin(batch.length))}:
        alone = fly(batch.scenario, [trial])
        assert_same_row(alone, 0, batch, trial)


@pytest.mark.parametrize("count", [1, 2])
def test_on_any_number_of_threads(flown: dict[str, Result], threads: None, count: int) -> None:
    dr.set_thread_count(count)
    batch = flown["rough"]
    again = fly(batch.scenario)
    for trial in range(TRIALS):
        assert_same_row(again, trial, batch, trial)


def test_in_any_order_and_company(flown: dict[str, Result]) -> None:
    batch = flown["rough"]
    some = fly(batch.scenario, [4, 1, 3])
    assert some.trial.tolist() == [4, 1, 3]
    for row, trial in enumerate(some.trial):
        assert_same_row(some, row, batch, int(trial))


def test_across_batches(flown: dict[str, Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "BATCH", 4)
    batch = flown["rough"]
    pieces = fly(batch.scenario)
    assert pieces.trial.tolist() == list(range(TRIALS))
    for trial in range(TRIALS):
        assert_same_row(pieces, trial, batch, trial)


@pytest.mark.parametrize("share", [0.0, 2.0])
def test_compaction_changes_nothing(flown: dict[str, Result], monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    # Never compacted, and at every tick.
    monkeypatch.setattr(campaign, "THIN_BELOW", share)
    for name in ("rough", "firing"):
        batch = flown[name]
        again = fly(batch.scenario)
        for trial in range(TRIALS):
            assert_same_row(again, trial, batch, trial)


def test_a_replayed_trial_agrees_with_the_folder_of_its_campaign(flown: dict[str, Result], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    write_whole(folder, lambda part: write_run(part, flown["rough"], "a test"))
    again = replay(folder, 2)
    assert again.agrees, again.differences
    assert again.result.outcome[0] == flown["rough"].outcome[2]
    # And it does not agree with a track that is one bit off.
    with np.load(folder / "trajectories.npz") as file:
        tracks = {name: file[name].copy() for name in file.files}
    tracks["east_m"][2, 7] = np.nextafter(tracks["east_m"][2, 7], np.float32(1e9))
    np.savez(folder / "trajectories.npz", **tracks)
    (difference,) = replay(folder, 2).differences
    assert difference.startswith("east_m differs from t = 0.7 s on")


def test_another_seed_flies_other_trials(flown: dict[str, Result], tmp_path: Path) -> None:
    other = fly(scenario(tmp_path, ROUGH, overrides=("seed=6",)), [0])
    batch = flown["rough"]
    assert not np.array_equal(other.tracks["north_m"][0, :20], batch.tracks["north_m"][0, :20])
    assert other.layouts[0] != batch.layouts[0]
