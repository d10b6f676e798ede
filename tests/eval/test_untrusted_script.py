"""An untrusted script can read its folder and print, and nothing else: as root and as an ordinary user."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from eval import confinement, untrusted_script
from eval.confinement import ConfinementUnavailable
from eval.untrusted_script import ScriptFailed, run_script
from tests.pairs import rows
from tests.writing import sqlite_file

ATTEMPTS = dict(rows("hostile_scripts.jsonl"))
"""Each must raise. `VICTIM`, `PORT`, `SOCKET` and `PARENT` name a file outside the script's folder, a TCP server, a
Unix socket and the process that started the script; `libc.syscall` returns -1 for a refused call."""
USING_UP = dict(rows("exhausting_scripts.jsonl"))
NOBODY = 65534
USERS = ["as started", "ordinary user"]


@pytest.fixture(autouse=True, params=["seal alone", "bubblewrap"])
def layer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Without the outer layer, and with it where it works."""
    if request.param == "seal alone":
        monkeypatch.setattr(untrusted_script, "_outer_layer", lambda _: ())
    elif not untrusted_script._outer_layer(sys.executable):
        pytest.skip("bubblewrap is not installed, or may not make namespaces here")
    return str(request.param)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not below pytest's own folder, which another user may not enter."""
    with tempfile.TemporaryDirectory() as made:
        yield _filled(Path(made))


def _filled(made: Path) -> Path:
    sqlite_file(made / "database.sqlite", "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
    try:
        run_script("", made)
    except ConfinementUnavailable as error:
        pytest.skip(str(error))
    return made


@pytest.fixture
def as_user(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Drop root's identity in the script's process, for the second of USERS."""
    if request.param == USERS[0]:
        return
    if os.geteuid() != 0:
        pytest.skip("the tests run as an ordinary user already")
    system = Path("/usr/bin/python3")
    version = (
        subprocess.run([system, "-V"], capture_output=True, text=True, check=False).stdout if system.exists() else ""
    )
    if not version.startswith("Python 3.1") or version.startswith("Python 3.10"):
        pytest.skip("there is no Python that another user may start")
    folder.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(system))
    if request.getfixturevalue("layer") == "bubblewrap":  # in its namespaces there is no other user to change to
        started = partial(subprocess.Popen, user=NOBODY, group=NOBODY, extra_groups=[])
        monkeypatch.setattr(untrusted_script.subprocess, "Popen", started)
        entered = subprocess.run([system, "-I", "-c", untrusted_script._START.replace("sealed()", "1")], user=NOBODY)
        if entered.returncode:
            pytest.skip("another user may not read this checkout")
        return
    left = f"import os; os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY}); sealed()"
    monkeypatch.setattr(untrusted_script, "_START", untrusted_script._START.replace("sealed()", left))


@pytest.mark.parametrize("as_user", USERS, indirect=True)
@pytest.mark.usefixtures("as_user")
def test_a_script_reads_the_copy_and_prints(folder: Path) -> None:
    script = (
        "import os, sqlite3\nopened = sqlite3.connect('file:database.sqlite?mode=ro', uri=True)\n"
        "found = opened.execute('SELECT a FROM t')\n"
        "print(found.fetchall(), os.listdir(), sorted(os.environ), os.getuid())"
    )

    done = run_script(script, folder)

    assert done.startswith("[(1,), (2,)] ['database.sqlite'] ['LC_CTYPE']")


@pytest.mark.parametrize("as_user", USERS, indirect=True)
@pytest.mark.usefixtures("as_user")
def test_no_hostile_script_gets_out(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("secret")
    victim.chmod(0o666)
    before = (folder / "database.sqlite").read_bytes()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "socket"))
        local.listen()
        names = {
            "VICTIM": str(victim),
            "SOCKET": str(tmp_path / "socket"),
            "PORT": server.getsockname()[1],
            "PARENT": os.getpid(),
        }
        script = (
            f"names, attempts = {names!r}, {ATTEMPTS!r}\nescaped = []\nfor name, code in attempts.items():\n"
            "    try:\n        exec(code, dict(names))\n        escaped.append(name)\n"
            "    except BaseException:\n        pass\nimport json; print(json.dumps(escaped))"
        )
        escaped = json.loads(run_script(script, folder, seconds=60))

    assert len(ATTEMPTS) + len(USING_UP) >= 40
    assert escaped == []
    assert victim.read_text() == "secret"
    assert (folder / "database.sqlite").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["database.sqlite"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["socket", "victim.txt"]


@pytest.mark.parametrize("script", USING_UP.values(), ids=USING_UP)
def test_a_script_that_uses_up_something_is_ended(folder: Path, script: str) -> None:
    with pytest.raises(ScriptFailed):
        run_script(script, folder, seconds=1.5)


def test_the_outer_layer_holds_alone(layer: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if layer == "seal alone":
        pytest.skip("this is about the outer layer")
    unsealed = "import eval.untrusted_script as u; u.seal = lambda _: None; u.sealed()"
    monkeypatch.setattr(untrusted_script, "_START", untrusted_script._START.replace("sealed()", unsealed))
    (tmp_path / "victim.txt").write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        attempts = {
            "read a file": f"open({str(tmp_path / 'victim.txt')!r})",
            "read the users": "open('/etc/passwd')",
            "reach the network": f"import socket; socket.create_connection(('127.0.0.1', {port}), 1)",
            "signal another process": f"import os; os.kill({os.getpid()}, 0)",
            "change the database": "open('database.sqlite', 'r+b')",
            "make a file": "open('new.txt', 'x')",
        }
        script = (
            f"escaped = []\nfor name, code in {attempts!r}.items():\n"
            "    try:\n        exec(code)\n        escaped.append(name)\n    except OSError:\n        pass\n"
            "print(escaped)"
        )
        assert run_script(script, folder) == "[]\n"


def test_without_landlock_the_script_is_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = untrusted_script._START.replace(
        "sealed()", "import eval.confinement as c; c._RESTRICT_SELF = 9999; sealed()"
    )
    monkeypatch.setattr(untrusted_script, "_START", start)

    with pytest.raises(ConfinementUnavailable, match="does not confine untrusted code"):
        run_script("print('ran')", folder)


def test_on_another_system_the_script_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement.sys, "platform", "darwin")

    with pytest.raises(ConfinementUnavailable, match="darwin"):
        confinement.seal([])


def test_a_scripts_own_exit_code_is_not_taken_for_a_missing_wall(folder: Path) -> None:
    with pytest.raises(ScriptFailed, match=rf"exit code {untrusted_script._UNAVAILABLE}"):
        run_script(f"raise SystemExit({untrusted_script._UNAVAILABLE})", folder)
