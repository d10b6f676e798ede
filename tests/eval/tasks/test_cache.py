"""Building on first use: once, whole or not at all, wherever the user can write."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from eval.databases.types import DatabaseError
from eval.tasks import cache_folder, demo_named, demo_path
from eval.tasks.cache_folder import kept_file
from eval.tasks.load import Progress
from tests import commands
from tests.pairs import rows

BUILDER = """
import sys, time; from pathlib import Path; from eval.tasks.cache_folder import kept_file
def build(path):
    {}
print(kept_file(Path(sys.argv[1]), build).read_text())
"""


def _write_whole(path: Path) -> None:
    path.write_text("whole")


def test_a_second_call_finds_the_first_file_which_is_named_after_its_content(tmp_path: Path) -> None:
    steps: list[Progress] = []
    first = demo_path("shop", tmp_path, steps.append)
    built = len(steps)
    made = first.stat().st_mtime_ns
    assert demo_path("shop", tmp_path, steps.append) == first
    assert (built, len(steps), first.stat().st_mtime_ns) == (8, 8, made)
    assert first.read_bytes().startswith(b"SQLite format 3\0")
    assert first.name == f"shop-{demo_named('shop').checksum[:12]}.sqlite"


@pytest.mark.parametrize(("platform", "environment", "expected"), rows("tasks/cache_folders.jsonl"))
def test_the_platform_names_the_folder(
    platform: str, environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TEXT2SQL_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**environment, "HOME": "/users/ada"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder.cache_folder() == Path(expected)


def test_a_folder_that_cannot_be_written_is_replaced_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "a file, not a folder"
    blocked.write_text("")
    monkeypatch.setattr(cache_folder.tempfile, "gettempdir", lambda: str(tmp_path))
    steps: list[Progress] = []
    path = demo_path("shop", blocked, steps.append)
    assert path.is_relative_to(tmp_path)
    assert path.parent.stat().st_mode & 0o077 == 0
    note = steps[0]
    assert note.is_note
    assert note.message.startswith(f"cannot write to the cache folder: File exists {blocked}")
    assert str(path.parent) in note.message


def test_when_nothing_can_be_written_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr(cache_folder.tempfile, "gettempdir", lambda: str(blocked))
    with pytest.raises(DatabaseError, match="set TEXT2SQL_CACHE_DIR to a folder you can write to"):
        demo_path("shop", blocked)


def test_a_failed_build_leaves_no_file(tmp_path: Path) -> None:
    def fail(path: Path) -> None:
        path.write_text("half")
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        kept_file(tmp_path / "demo.sqlite", fail)
    assert [path.name for path in tmp_path.iterdir()] == ["demo.sqlite.lock"]


def test_a_killed_build_is_done_again_and_swept_up(tmp_path: Path) -> None:
    script = BUILDER.format("path.write_text('half'); print('begun', flush=True); time.sleep(60)")
    target = tmp_path / "demo.sqlite"
    with commands.Process("-c", script, target, stdout=subprocess.PIPE) as builder:
        assert builder.stdout.readline() == "begun\n"
        builder.kill()
    assert list(tmp_path.glob("*.tmp"))
    assert not target.exists()
    kept_file(target, _write_whole)
    assert target.read_text() == "whole"
    assert list(tmp_path.glob("*.tmp")) == []


def test_processes_that_start_at_once_build_once(tmp_path: Path) -> None:
    script = BUILDER.format("print('built', flush=True); time.sleep(0.5); path.write_text('whole')")
    command = ("-c", script, tmp_path / "demo.sqlite")
    builders = [commands.Process(*command, stdout=subprocess.PIPE) for _ in range(4)]
    output = sorted(builder.communicate(timeout=60)[0] for builder in builders)
    assert output == ["built\nwhole\n", "whole\n", "whole\n", "whole\n"]


def _run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TEXT2SQL_CACHE_DIR": str(folder), "COLUMNS": "200", "NO_COLOR": "1"}
    return commands.run("-m", "eval.tasks", *arguments, env=environment)


def test_the_command_loads_into_a_file_of_ones_own(tmp_path: Path) -> None:
    target = tmp_path / "mine.sqlite"
    done = _run("build", "shop", "--url", str(target), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "Small shop: 8 tables loaded\n")
    with closing(sqlite3.connect(target)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM orders").fetchone() == (3600,)
    again = _run("build", "shop", "--url", str(target), folder=tmp_path)
    assert again.returncode == 1
    assert "exists already; load the demo into an empty database" in again.stderr


def test_the_command_says_when_a_server_does_not_answer(tmp_path: Path) -> None:
    done = _run("build", "shop", "--url", "postgresql://ada:geheim@127.0.0.1:1/none", folder=tmp_path)
    assert done.returncode == 1
    assert "PostgreSQL refused" in done.stderr
    assert "geheim" not in done.stderr
