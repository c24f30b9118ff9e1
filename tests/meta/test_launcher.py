"""The launcher ./fw, with a shell script in the place of Python: what it decides to do, offline and in seconds."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="./fw is for systems with sh")

TOOLS = "sh cat cksum cut date find grep mkdir mv readlink rm rmdir sed tail wc ln"

PRETENDER = r"""#!/bin/sh
# Stands in for Python: notes what it is asked, and does the little that the launcher looks at.
note() { echo "$*" >>"$NOTES"; }
case $1 in
-c)
    case $2 in
    *'(3, 11)'*) if [ -n "${TOO_OLD:-}" ]; then echo "old 3.9"; else echo "good $PRETENDER"; fi ;;
    *os.setsid*) shift 2; exec "$@" ;;
    *find_spec*)
        case $2 in *"('${WAY:-ensurepip}')"*) exit 0 ;; *) exit 1 ;; esac ;;
    *urllib*) note index; exit 1 ;;
    *'import fieldworthy'*) note check ;;
    *-venv*) echo python3.11-venv ;;
    esac ;;
-m)
    case $2 in
    venv|virtualenv)
        note "$2"
        for folder; do :; done
        mkdir -p "$folder/bin" && ln -sf "$PRETENDER" "$folder/bin/python" && : >"$folder/bin/fieldworthy" ;;
    pip)
        case $* in
        *--version*) ;;
        *)
            note "pip $*"
            [ -z "${PIP_SECONDS:-}" ] || { sleep "$PIP_SECONDS"; note slow pip ended; }
            exit "${PIP_EXIT:-0}" ;;
        esac ;;
    pytest) shift 2; echo "pytest in $(pwd -P):"; for word; do echo "[$word]"; done ;;
    esac ;;
*/fieldworthy)
    shift
    echo "fieldworthy:"
    for word; do echo "[$word]"; done
    exit "${COMMAND_EXIT:-0}" ;;
esac
"""


@dataclass
class Checkout:
    """A copy of the launcher in a folder of its own, and the notes of what it asked of Python."""

    root: Path
    environment: dict[str, str]

    def notes(self) -> list[str]:
        """What was asked since the last look."""
        path = Path(self.environment["NOTES"])
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def verbs(self) -> list[str]:
        """The first words of the notes."""
        return [line.split()[0] for line in self.notes()]

    def start(
        self, *words: str, program: Path | None = None, cwd: Path | None = None, **extra: str
    ) -> subprocess.Popen:
        return subprocess.Popen(
            [program or self.root / "fw", *words],
            cwd=cwd or self.root.parent,
            env={**self.environment, **extra},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(
        self, *words: str, program: Path | None = None, cwd: Path | None = None, **extra: str
    ) -> tuple[int, str, str]:
        process = self.start(*words, program=program, cwd=cwd, **extra)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root = tmp_path / "a folder" / "fieldworthy"
    root.mkdir(parents=True)
    shutil.copy(ROOT / "fw", root / "fw")
    (root / "pyproject.toml").write_text("[project]\nname = 'fieldworthy'\n")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS.split():
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    impatient = tools / "sleep"  # the launcher looks every half second; the tests need not wait so long
    impatient.write_text(f"#!/bin/sh\ncase $1 in 0.*) set -- 0.02 ;; esac\nexec '{shutil.which('sleep')}' $1\n")
    impatient.chmod(0o755)
    pretender = tools / "python3"
    pretender.write_text(PRETENDER)
    pretender.chmod(0o755)
    environment = {
        "PATH": str(tools),
        "HOME": str(tmp_path),
        "PRETENDER": str(pretender),
        "NOTES": str(tmp_path / "notes"),
    }
    return Checkout(root, environment)


def test_first_call_sets_up_and_later_calls_do_not(checkout: Checkout) -> None:
    code, out, err = checkout.run("run", "two words", "")
    assert (code, out) == (0, "fieldworthy:\n[run]\n[two words]\n[]\n")
    assert checkout.verbs() == ["venv", "pip", "check"]
    assert "first use" in err
    assert "packages" in err
    code, out, err = checkout.run("doctor", COMMAND_EXIT="3")
    assert (code, err) == (3, "")
    assert checkout.notes() == []
    assert not (checkout.root / ".fw/lock").exists()


def test_a_changed_pyproject_installs_again_in_the_same_environment(checkout: Checkout) -> None:
    checkout.run("test")
    assert ".[log,link,dev]" in checkout.notes()[1]
    (checkout.root / "pyproject.toml").write_text("[project]\nname = 'fieldworthy'\nversion = '2'\n")
    checkout.run("list")
    pip, check = checkout.notes()
    assert ".[log,link,dev]" in pip, "what `./fw test` needs stays installed"
    assert check == "check"


def test_a_failed_update_keeps_the_environment_and_is_tried_again(checkout: Checkout) -> None:
    checkout.run("list")
    (checkout.root / "pyproject.toml").write_text("[project]\nname = 'changed'\n")
    assert checkout.run("list", PIP_EXIT="1")[0] == 2
    checkout.notes()
    assert checkout.run("list")[0] == 0
    assert checkout.verbs() == ["pip", "check"]


def test_test_adds_the_development_extra_once_and_runs_in_the_checkout(checkout: Checkout) -> None:
    checkout.run("list")
    assert ".[log,link]" in checkout.notes()[1]
    code, out, _ = checkout.run("test", "-k", "a or b")
    assert (code, out) == (0, f"pytest in {checkout.root.resolve()}:\n[-k]\n[a or b]\n")
    assert checkout.verbs() == ["pip", "check"]
    checkout.run("test")
    checkout.run("list")
    assert checkout.notes() == []


def interrupt_in_pip(checkout: Checkout, number: int) -> tuple[int, str]:
    """Start a call, send it a signal while pip runs; exit code and what it said."""
    process = checkout.start("list", PIP_SECONDS="1")
    notes = Path(checkout.environment["NOTES"])
    deadline = time.monotonic() + 20
    while not (notes.exists() and "pip" in notes.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=20)
    return process.returncode, err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_set_up_is_made_anew(checkout: Checkout, number: int) -> None:
    code, err = interrupt_in_pip(checkout, number)
    assert code == 128 + number
    assert "interrupted" in err
    assert not (checkout.root / ".fw/lock").exists()
    assert not (checkout.root / ".fw/stamp").exists()
    assert checkout.verbs() == ["venv", "pip"]
    assert checkout.run("list")[0] == 0
    assert checkout.verbs() == ["venv", "pip", "check"], "and nothing of the first call went on"


@pytest.mark.slow
def test_a_killed_set_up_is_made_anew_when_its_pip_has_ended(checkout: Checkout) -> None:
    assert interrupt_in_pip(checkout, signal.SIGKILL)[0] == -signal.SIGKILL
    assert checkout.run("list")[0] == 0
    assert checkout.verbs() == ["venv", "pip", "slow", "venv", "pip", "check"]


def test_a_killed_update_leaves_nothing_to_trust(checkout: Checkout) -> None:
    checkout.run("list")
    (checkout.root / "pyproject.toml").write_text("[project]\nname = 'changed'\n")
    checkout.notes()
    interrupt_in_pip(checkout, signal.SIGTERM)
    assert checkout.verbs() == ["pip"]
    checkout.run("list")
    assert checkout.verbs() == ["venv", "pip", "check"]


def test_calls_at_the_same_time_set_up_once(checkout: Checkout) -> None:
    processes = [checkout.start("list", PIP_SECONDS="1") for _ in range(3)]
    for process in processes:
        out, _ = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, "fieldworthy:\n[list]\n")
    assert checkout.verbs() == ["venv", "pip", "slow", "check"]


def test_the_lock_of_a_dead_process_is_taken_over(checkout: Checkout) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    lock = checkout.root / ".fw/lock"
    lock.mkdir(parents=True)
    (lock / "owner").write_text(f"{gone.pid}\n")
    (lock / "alive").touch()
    assert checkout.run("list")[0] == 0


def test_another_python_makes_another_environment(checkout: Checkout, tmp_path: Path) -> None:
    checkout.run("list")
    checkout.notes()
    other = tmp_path / "other python"
    shutil.copy(checkout.environment["PRETENDER"], other)
    assert checkout.run("list", FIELDWORTHY_PYTHON=str(other), PRETENDER=str(other))[0] == 0
    assert checkout.notes()[0] == "venv"
    assert checkout.run("list")[0] == 0
    assert checkout.notes() == [], "without the variable the environment at hand is used"


def test_a_moved_checkout_is_set_up_again(checkout: Checkout) -> None:
    checkout.run("list")
    checkout.notes()
    moved = Checkout(checkout.root.rename(checkout.root.with_name("moved")), checkout.environment)
    assert moved.run("list")[0] == 0
    assert moved.notes()[0] == "venv"


def test_an_old_python_is_refused_with_what_was_found(checkout: Checkout) -> None:
    code, out, err = checkout.run("list", TOO_OLD="1")
    assert (code, out) == (2, "")
    assert "Python 3.11 or newer" in err
    assert "python3 is 3.9" in err
    assert "FIELDWORTHY_PYTHON" in err
    assert not (checkout.root / ".fw").exists() or not (checkout.root / ".fw/lock").exists()


def test_a_wrong_fieldworthy_python_is_refused(checkout: Checkout) -> None:
    code, _, err = checkout.run("list", FIELDWORTHY_PYTHON="no-such-python")
    assert code == 2
    assert "FIELDWORTHY_PYTHON=no-such-python" in err


@pytest.mark.parametrize("way", ["pip", "virtualenv"])
def test_without_ensurepip_it_finds_another_way(checkout: Checkout, way: str) -> None:
    assert checkout.run("list", WAY=way)[0] == 0
    notes = checkout.notes()
    assert notes[0] == {"pip": "venv", "virtualenv": "virtualenv"}[way]
    assert notes[-1] == "check"


def test_without_any_way_it_names_the_one_command(checkout: Checkout) -> None:
    apt = Path(checkout.environment["PATH"]) / "apt-get"
    apt.write_text("#!/bin/sh\n")
    apt.chmod(0o755)
    code, _, err = checkout.run("list", WAY="none")
    assert code == 2
    assert err.rstrip().endswith("sudo apt install python3.11-venv")
    apt.unlink()
    code, _, err = checkout.run("list", WAY="none")
    assert code == 2
    assert "virtualenv" in err


def test_links_to_the_launcher_work_from_anywhere(checkout: Checkout, tmp_path: Path) -> None:
    checkout.run("list")
    absolute, relative = tmp_path / "absolute", tmp_path / "relative"
    absolute.symlink_to(checkout.root / "fw")
    relative.symlink_to("a folder/fieldworthy/fw")
    chain = tmp_path / "chain"
    chain.symlink_to("relative")
    for program in (absolute, relative, chain):
        assert checkout.run("list", program=program, cwd=Path("/"))[:2] == (0, "fieldworthy:\n[list]\n")


def test_alone_it_helps_and_makes_nothing(checkout: Checkout) -> None:
    code, out, _ = checkout.run()
    assert code == 0
    assert "demo" in out
    assert not (checkout.root / ".fw").exists()
    checkout.run("list")
    assert checkout.run()[1].endswith("fieldworthy:\n[--help]\n")


def test_a_checkout_that_cannot_be_written_to_is_named(checkout: Checkout) -> None:
    (checkout.root / ".fw").write_text("in the way")
    code, _, err = checkout.run("list")
    assert code == 2
    assert str(checkout.root / ".fw") in err
