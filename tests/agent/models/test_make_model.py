"""Which model answers: by the settings, or by the name given."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.config import ModelSettings
from agent.models import make_model
from agent.models.openai import OpenAIModel
from eval.databases import Database, open_database


@pytest.fixture
def database() -> Iterator[Database]:
    with open_database(":memory:") as opened:
        yield opened


def configured(monkeypatch: pytest.MonkeyPatch, **values: str) -> ModelSettings:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TEXT2SQL_MODEL"):
        monkeypatch.delenv(name, raising=False)
    return ModelSettings(_env_file=None, **values)  # type: ignore[arg-type]


def test_without_key_and_address_the_built_in_engine_answers(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not make_model(configured(monkeypatch), database).capabilities.remote


@pytest.mark.parametrize("given", [{"OPENAI_API_KEY": "sk-x"}, {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}])
def test_with_a_key_or_an_address_the_endpoint_answers(
    database: Database, monkeypatch: pytest.MonkeyPatch, given: dict[str, str]
) -> None:
    model = make_model(configured(monkeypatch, **given), database)
    listed = "OPENAI_BASE_URL" in given  # nothing is there to say which models it has
    assert (model.capabilities.remote, model.name) == (True, "" if listed else "gpt-5")


def test_a_name_wins(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = configured(monkeypatch, OPENAI_API_KEY="sk-x", TEXT2SQL_PRICE_INPUT="1.5")
    assert not make_model(settings, database, "Offline").capabilities.remote
    named = make_model(settings, database, "llama3")
    assert named.name == "llama3"
    assert isinstance(named, OpenAIModel)
    assert named._settings.price_input == 1.5


# --- what may be in a request to a model ---
