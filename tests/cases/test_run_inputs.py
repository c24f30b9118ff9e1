"""A run folder that is moved replays from its own copies, says what has changed, and names what is damaged."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from scenario_texts import BOAT

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.scenario import load
from fieldworthy.trials import inputs
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.folder import read_run
from fieldworthy.trials.replay import replay
from fieldworthy.trials.save import save

CONTROLLER = """
import numpy as np
import fieldworthy as fw
from away_helper import SPEED

class Away:
    reads_deg = None

    def command(self, readings, parameters):
        heard = readings.sensors.get("log")
        return fw.Command(SPEED + 0.0 * readings.north_m, 0.01)

class Log:
    def read(self, truth, noise, parameters):
        return fw.Reading({"speed_m_s": truth.surge_m_s + noise.normal(0)})
"""

MAP = """{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"kind": "pile"},
"geometry": {"type": "Point", "coordinates": [10.001, 45.0]}}]}"""

SCENARIO = """
schema = 1
name = "moved"
trials = 3
duration_s = 4.0
obstacles_geojson = "../maps/harbour.geojson"
[vehicle]
model = "boats/my-boat.toml"
[start]
lon_deg = 10.0
lat_deg = 45.0
spread_east_m = 2.0
[goal]
lon_deg = 10.01
lat_deg = 45.0
[sensors.extra.log]
sensor = "away_plug:Log"
[control]
controller = "away_plug:Away"
"""


@pytest.fixture(name="run")
def run_that_was_moved(tmp_path: Path) -> Path:
    """A run with a map elsewhere, a boat and modules of one's own; all of that is gone now."""
    home = tmp_path / "home"
    (home / "boats").mkdir(parents=True)
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "harbour.geojson").write_text(MAP)
    (home / "boats" / "my-boat.toml").write_text(BOAT)
    (home / "away_plug.py").write_text(CONTROLLER)
    (home / "away_helper.py").write_text("SPEED = 2.0\n")
    (home / "unused.py").write_text("import nothing_at_all\n")
    (home / "s.toml").write_text(SCENARIO)
    save(fly(load(home / "s.toml")), tmp_path / "run", "a test")
    shutil.rmtree(home)
    shutil.rmtree(tmp_path / "maps")
    shutil.move(tmp_path / "run", tmp_path / "elsewhere")
    return tmp_path / "elsewhere"


def facts_of(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "run.json").read_text())
    return found


def test_a_moved_run_replays_from_its_own_copies(run: Path) -> None:
    kept = sorted(path.relative_to(run / "inputs").as_posix() for path in (run / "inputs").rglob("*") if path.is_file())
    assert [name for name in kept if "__pycache__" not in name] == [
        "away_helper.py", "away_plug.py", "boats/my-boat.toml", "harbour.geojson",
    ]  # fmt: skip
    facts = facts_of(run)
    assert facts["files_sha256"]["../maps/harbour.geojson"] == hashlib.sha256(MAP.encode()).hexdigest()
    assert facts["plug_ins_sha256"]["away_plug.py"] == hashlib.sha256(CONTROLLER.encode()).hexdigest()
    assert facts["shapely"] == shapely.__version__
    assert facts["geos"] == shapely.geos_version_string
    again = replay(run, 2)
    assert again.agrees, again.differences
    assert Path(again.scenario.source_path).parent == run / "inputs"


def test_a_replay_says_which_module_has_changed(run: Path) -> None:
    (run / "inputs" / "away_plug.py").write_text(CONTROLLER.replace("0.01", "0.02"))
    differences = replay(run, 1).differences
    assert "the module away_plug.py is another one than then: its checksum differs" in differences
    assert not any("my-boat" in line or "helper" in line for line in differences)


def test_a_replay_says_which_file_and_version_have_changed(run: Path) -> None:
    boat = run / "inputs" / "boats" / "my-boat.toml"
    boat.write_text(BOAT + "# heavier\n")
    place = run / "inputs" / "harbour.geojson"
    place.write_text(MAP.replace("10.001", "10.0001"))
    facts = facts_of(run) | {"geos": "1.0.0"}
    (run / "run.json").write_text(json.dumps(facts))
    differences = replay(run, 1).differences
    assert any("clearance_m differs" in line for line in differences)
    assert "the file ../maps/harbour.geojson is another one than then: its checksum differs" in differences
    assert "the file boats/my-boat.toml is another one than then: its checksum differs" in differences
    assert f"geos is {shapely.geos_version_string}, and was 1.0.0 then" in differences


def test_what_is_too_large_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MOST_BYTES", 100)
    (tmp_path / "boat.toml").write_text(BOAT)
    (tmp_path / "s.toml").write_text(
        'schema = 1\nname = "s"\ntrials = 1\nduration_s = 1.0\nvehicle.model = "boat.toml"\n'
        'control.controller = "straight"\n[goal]\nnorth_m = 50.0\neast_m = 0.0\n'
    )
    run = save(fly(load(tmp_path / "s.toml")), tmp_path / "run", "a test")
    assert not (run / "inputs").exists()
    assert facts_of(run)["inputs"] is None
    assert facts_of(run)["files_sha256"]["boat.toml"]
    assert replay(run, 0).agrees


def test_files_of_one_name_from_two_places_are_kept_apart(tmp_path: Path) -> None:
    found = inputs.Inputs(
        {"../a/m.ply": tmp_path / "a.ply", "../b/m.ply": tmp_path / "b.ply", "m.ply": tmp_path / "c"}, {}, {}
    )
    for name, path in found.files.items():
        path.write_text(name)
    copies = inputs.copy_inputs(found, tmp_path / "run")
    assert copies is not None
    assert len(set(copies.values())) == 3
    assert {(tmp_path / "run" / "inputs" / kept).read_text() for kept in copies.values()} == set(found.files)


def _without(*names: str) -> Any:
    def change(run: Path) -> None:
        with np.load(run / "trajectories.npz") as file:
            kept = {name: file[name] for name in file.files if name not in names}
        np.savez(run / "trajectories.npz", **kept)

    return change


def _cut(run: Path) -> None:
    whole = (run / "trajectories.npz").read_bytes()
    (run / "trajectories.npz").write_bytes(whole[: len(whole) // 2])


def _spoil(run: Path) -> None:
    whole = bytearray((run / "trajectories.npz").read_bytes())
    whole[200:400] = bytes(200)
    (run / "trajectories.npz").write_bytes(whole)


def _other_shape(run: Path) -> None:
    with np.load(run / "trajectories.npz") as file:
        kept = {name: file[name] for name in file.files}
    np.savez(run / "trajectories.npz", **{**kept, "north_m": kept["north_m"][:, :3]})


@pytest.mark.parametrize(
    ("damage", "file", "what"),
    [
        (_cut, "trajectories.npz", "damaged"),
        (_spoil, "trajectories.npz", "damaged"),
        (lambda run: (run / "trajectories.npz").write_bytes(b""), "trajectories.npz", "damaged"),
        (_without("length"), "trajectories.npz", "it has no length"),
        (_other_shape, "trajectories.npz", "other shapes than (trials, samples): north_m"),
        (lambda run: (run / "run.json").write_text("[]"), "run.json", "it is no object with 'scenario_folder'"),
        (lambda run: (run / "run.json").write_text("[" * 100_000), "run.json", "damaged"),
        (lambda run: (run / "run.json").write_text(f'{{"seed": {"1" * 5000}}}'), "run.json", "damaged"),
        (lambda run: (run / "run.json").unlink(), "elsewhere", "no run folder"),
    ],
)
def test_damage_is_named(run: Path, damage: Any, file: str, what: str) -> None:
    damage(run)
    with pytest.raises(FieldworthyError) as caught:
        read_run(run)
    assert file in str(caught.value)
    assert what in str(caught.value)
    assert "valid" in str(caught.value)


def test_a_track_that_an_older_run_lacks_is_a_difference(run: Path) -> None:
    _without("roll_rad", "mode")(run)
    assert replay(run, 0).differences[:2] == tuple(
        f"{name} is not in the campaign's trajectories.npz" for name in ("roll_rad", "mode")
    )
