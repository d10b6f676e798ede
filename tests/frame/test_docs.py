"""What the documentation says is so: its commands and examples run, its links lead somewhere, its tables are whole.

In README.md and docs/, the lines after `$` in a `console` block are commands, and a `python` block is a program. Both
run offline, in a folder that holds nothing but the shop demo as shop.sqlite, a data file, and two files of lines for
the batch commands, with no setting in the environment. `.env.example` shows every setting with its default.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from agent.config import Settings
from eval.tasks import demo_path
from tests import commands
from tests.settings import PLACES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language: str) -> list[tuple[str, str]]:
    """(where, text) of each fenced block of a language."""
    texts = []
    for page in PAGES:
        text = page.read_text()
        for match in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, match.start()) + 1
            texts.append((f"{page.name}:{line}", match[1]))
    return texts


COMMANDS = [
    pytest.param(line[2:], id=f"{where} {line[2:50]}")
    for where, text in blocks("console")
    for line in text.splitlines()
    if line.startswith("$ ")
]
PROGRAMS = [pytest.param(text, id=where) for where, text in blocks("python")]


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def ran(words: list[str], folder: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    shutil.copy(demo_path("shop", cache), folder / "shop.sqlite")
    (folder / "questions.jsonl").write_text('{"id": 1, "db": "shop", "question": "How many customers are there?"}\n')
    (folder / "exports").mkdir(exist_ok=True)
    for place in (folder, folder / "exports"):
        (place / "sales.csv").write_text("customer,amount\nAda,12.5\nBo,7\n")
    (folder / "statements.jsonl").write_text('{"id": 1, "db": "shop", "sql": "SELECT COUNT(*) FROM customers"}\n')
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TEXT2SQL_", "OPENAI_"))}
    environment = {**kept, "PYTHONPATH": str(ROOT), "TEXT2SQL_CACHE_DIR": str(cache), "PYTHONUTF8": "1"}
    return commands.run(*words, cwd=folder, env=environment)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_run(command: str, tmp_path: Path, shared_cache: Path) -> None:
    words = shlex.split(command)
    assert words[0] == "python", "commands that are shown as run begin with python"

    done = ran(words[1:], tmp_path, shared_cache)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_examples_run(program: str, tmp_path: Path, shared_cache: Path) -> None:
    done = ran(["-W", "error", "-c", program], tmp_path, shared_cache)

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())

    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert missing == []


EXAMPLE = ROOT / ".env.example"


def shown() -> dict[str, str]:
    lines = [line for line in EXAMPLE.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def test_every_setting_is_shown_and_none_is_stale() -> None:
    assert shown().keys() == PLACES.keys()


def test_the_defaults_shown_are_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in shown():
        monkeypatch.delenv(name, raising=False)

    assert Settings(_env_file=EXAMPLE) == Settings(_env_file=None)
    for name, (_, _, field) in PLACES.items():
        # Named, they would keep another endpoint from naming its model, and a small model from what suits it.
        if name in ("TEXT2SQL_MODEL", "TEXT2SQL_STRATEGY"):
            continue
        assert (shown()[name] == "") == (field.default is None), name


def test_a_real_variable_wins_over_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("TEXT2SQL_MODEL=from-the-file\nTEXT2SQL_MAX_RETRIES=1\n")
    monkeypatch.setenv("TEXT2SQL_MODEL", "from-the-environment")

    settings = Settings(_env_file=file)

    assert (settings.model.name, settings.judging.max_retries) == ("from-the-environment", 1)
