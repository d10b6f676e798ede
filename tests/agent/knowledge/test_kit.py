"""A kit at work: what a model is told, what the offline engine takes from it, at every door; and bad kits."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.config import Settings
from agent.knowledge.kit import read_kit
from agent.knowledge.memory.lines import BadMemory
from agent.main import app
from agent.models.quirks import forget
from agent.runner import Answer, run
from eval.databases.base import Database
from tests.openai_server import OpenAIServer, completion
from tests.pairs import FIXTURES, rows
from tests.settings import overridden

Ask = Callable[..., Coroutine[None, None, Answer]]
SQL = "SELECT COUNT(*) FROM customers"
NAMED = "How many northerners are there?"


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "memory/kit", tmp_path / "kit"))


@pytest.fixture
def endpoint() -> Iterator[OpenAIServer]:
    forget()
    with OpenAIServer() as server:
        reply = {"reasoning": "counts", "sql": SQL, "accept": True, "relevance": 0.9, "plan_type": "single"}
        server.otherwise = completion({**reply, "confidence": 0.9, "tasks": [{"id": "t", "description": NAMED}]})
        yield server
    forget()


@pytest.fixture
def ask(shop: Database, config: Settings, endpoint: OpenAIServer) -> Ask:
    async def asked(**overrides: object) -> Answer:
        there = config.changed(model={"base_url": endpoint.url, "name": "m"})
        return await run(NAMED, database=shop, settings=overridden(there, **overrides))

    return asked


async def test_a_model_is_told_all_of_it(kit: Path, endpoint: OpenAIServer, ask: Ask) -> None:
    await ask(kit=str(kit))

    written, reviewed = (
        next(r for r in endpoint.requests if word in r.prompt)
        for word in ("Write one read-only", "You check your own work")
    )
    rules, data = written.prompt.split("what is missing", 1)
    assert rules.index("One SELECT") < rules.index("Totals leave out orders")
    assert all(text in data for text in ("paid orders: 3", "northerners: cities.country", "live in Porto?"))
    assert "Totals leave out orders" in reviewed.prompt
    assert "summar" not in "".join(r.prompt.lower() for r in endpoint.requests)  # its strategy


async def test_masked_a_model_gets_neither_instructions_nor_notes(kit: Path, endpoint: OpenAIServer, ask: Ask) -> None:
    await ask(kit=str(kit), privacy="masked")

    sent = "".join(r.prompt for r in endpoint.requests)
    assert "northerners: cities.country = …" in sent
    assert "Totals leave out" not in sent
    assert "paid orders" not in sent
    assert "Porto" not in sent


async def test_what_the_user_set_wins_over_the_kit(kit: Path, endpoint: OpenAIServer, ask: Ask) -> None:
    await ask(kit=str(kit), strategy="zero-shot/no-summary")

    assert len(endpoint.requests) == 1


async def test_notes_that_cannot_be_had_are_left_out_and_logged(
    tmp_path: Path, endpoint: OpenAIServer, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    kit = tmp_path / "kit"
    kit.mkdir()
    (kit / "analysis.py").write_text("open('/etc/passwd')")
    with caplog.at_level(logging.WARNING):
        answer = await ask(kit=str(kit), strategy="stage-0")

    assert answer.sql == SQL
    assert "analysis.py gave no notes" in caplog.text


@pytest.mark.parametrize(("folder", "files", "reason"), rows("memory/bad_kits.jsonl"))
async def test_a_bad_kit_is_a_clear_error(
    folder: str, files: dict[str, str], reason: str, tmp_path: Path, shop: Database, config: Settings
) -> None:
    for name, text in files.items():
        (tmp_path / "kit").mkdir(exist_ok=True)
        (tmp_path / "kit" / name.replace("_", ".")).write_bytes(text.encode(errors="surrogateescape"))

    changed = overridden(config, kit=str(tmp_path / folder))
    answer = await run(NAMED, database=shop, model="offline", settings=changed)

    assert (answer.status, answer.error_kind) == ("error", "settings")
    assert reason in answer.reason


def test_a_kit_is_named_by_its_content_and_not_by_its_evidence(kit: Path, tmp_path: Path) -> None:
    first = read_kit(kit).digest
    (kit / "EVIDENCE.md").write_text("It was better.")
    other = Path(shutil.copytree(FIXTURES / "memory/kit", tmp_path / "other"))
    (other / "instructions.md").write_text("Otherwise.")

    assert read_kit(kit).digest == first == "".join(c for c in first if c in "0123456789abcdef")
    assert read_kit(other).digest != first
    with pytest.raises(BadMemory):
        read_kit(tmp_path / "nowhere")


def test_the_command_line_takes_a_kit(alone: None, kit: Path, shop_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXT2SQL_KIT", "")  # so that what the command sets is forgotten afterwards
    words = ["--kit", str(kit), "--db", str(shop_file), "--json", NAMED]
    done = CliRunner().invoke(app, words)

    assert json.loads(done.stdout)["rows"] == [[1]]
