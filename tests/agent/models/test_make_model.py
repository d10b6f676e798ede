"""Which model answers: by the settings, or by the name given."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agent.config import Settings
from agent.models import make_model
from agent.models.openai import OpenAIModel


def configured(monkeypatch: pytest.MonkeyPatch, **values: str) -> Settings:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TEXT2SQL_MODEL"):
        monkeypatch.delenv(name, raising=False)
    return Settings(_env_file=None, **values)  # type: ignore[call-arg,arg-type]


def test_without_key_and_address_the_built_in_engine_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_model(configured(monkeypatch)).offline


@pytest.mark.parametrize("given", [{"OPENAI_API_KEY": "sk-x"}, {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}])
def test_with_a_key_or_an_address_the_endpoint_answers(monkeypatch: pytest.MonkeyPatch, given: dict[str, str]) -> None:
    model = make_model(configured(monkeypatch, **given))
    assert (model.offline, model.name) == (False, "gpt-5")


def test_a_name_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = configured(monkeypatch, OPENAI_API_KEY="sk-x", TEXT2SQL_PRICE_INPUT="1.5")
    assert make_model(settings, "Offline").offline
    named = make_model(settings, "llama3")
    assert named.name == "llama3"
    assert isinstance(named, OpenAIModel)
    assert named._settings.price_input == 1.5


def test_making_a_model_imports_no_client_library() -> None:
    script = (
        "import sys; from agent.config import Settings; from agent.models import make_model;"
        "make_model(Settings(_env_file=None, OPENAI_API_KEY='x'), 'm');"
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'openai', 'langchain_openai', 'langchain_core'}))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
