"""`python -m agent.main profile`: what a database's rows look like, as text and as JSON."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests import commands

SECTIONS = ["ddl", "tables", "columns", "keys", "values", "ranges", "formats", "patterns", "validation", "guidance"]


def profile(tmp_path: Path, *options: str, **settings: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "TEXT2SQL_CACHE_DIR": str(tmp_path), **settings}
    return commands.run("-m", "agent.main", "profile", *options, env=env)


def test_the_text_has_ten_sections_within_its_budget(tmp_path: Path) -> None:
    done = profile(tmp_path, "--db", "shop", "--budget", "1500")

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n## ") + done.stdout.startswith("## ") == 10
    assert "more lines not shown" in done.stdout
    assert "orders: 3,600 rows" in done.stdout


def test_json_has_the_sections_and_all_facts(tmp_path: Path) -> None:
    reply = json.loads(profile(tmp_path, "--db", "shop", "--json").stdout)

    assert list(reply["sections"]) == SECTIONS
    assert (reply["database"], reply["dialect"], reply["privacy"]) == ("shop", "sqlite", "full")
    assert reply["tables_profiled"] == len(reply["facts"]["tables"]) == 8


def test_the_privacy_mode_holds_for_the_command_too(tmp_path: Path) -> None:
    done = profile(tmp_path, "--db", "shop", TEXT2SQL_PRIVACY="masked")

    assert "orders.status TEXT: 5 distinct of 3,600 -- processing" in done.stdout  # as the schema itself says
    assert "'shipped'" not in done.stdout


def test_a_missing_database_is_exit_code_3(tmp_path: Path) -> None:
    done = profile(tmp_path, "--db", str(tmp_path / "gone.sqlite"))

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.strip()
