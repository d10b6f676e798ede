"""`.env.example` shows every setting with its default, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.config import Settings
from tests.settings import PLACES

ROOT = Path(__file__).resolve().parents[2]
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
