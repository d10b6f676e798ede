"""A small firm whose pay is called by a word that its database does not know, and verified questions to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.config import Settings
from tests.agent.conftest import endpoint
from tests.jsonl import write_lines
from tests.openai_server import OpenAIServer
from tests.writing import sqlite_file
from text2sql_lab.session import Options, Session

__all__ = ["endpoint"]

NAMES = ("Ada", "Ben", "Cem", "Dov", "Eva", "Fay", "Gus", "Hal", "Ida", "Jon", "Kay", "Leo", "Mia", "Zoe")


def verified(shuffled: int = 0) -> list[dict[str, Any]]:
    """Three questions to each person: two that fail for want of a word, and one that does not."""
    lines = []
    for name in NAMES:
        for kind, question, column in (
            ("a", f"What is the wergild of {name}?", "pay"),
            ("b", f"Show the wergild of {name}", "pay"),
            ("c", f"What is the city of {name}?", "city"),
        ):
            gold = f"SELECT {column} FROM people WHERE name = '{name}'"
            lines.append({"id": f"{name}-{kind}", "db": "firm", "question": question, "gold_sql": gold})
    golds = [line["gold_sql"] for line in lines]
    return [line | {"gold_sql": golds[(n + shuffled) % len(golds)]} for n, line in enumerate(lines)]


def candidates(folder: Path, kits: list[dict[str, str]], called: str = "kit") -> tuple[str, ...]:
    """The kits as folders, for the evolver that proposes what is there."""
    places = [folder / f"{called} {number}" for number in range(len(kits))]
    for place, files in zip(places, kits, strict=True):
        place.mkdir()
        for name, text in files.items():
            (place / name).write_text(text)
    return tuple(map(str, places))


def means(term: str, column: str) -> dict[str, str]:
    return {"glossary.yaml": f"terms:\n  - term: {term}\n    means: people.{column}\n"}


@pytest.fixture(scope="session")
def firm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    rows = ", ".join(str((name, 1_000 + n, f"Town {n}")) for n, name in enumerate(NAMES))
    script = "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, pay INTEGER, city TEXT);"
    sqlite_file(folder / "firm.sqlite", script + f"INSERT INTO people (name, pay, city) VALUES {rows}")
    write_lines(folder / "verified.jsonl", verified())
    return folder


@pytest.fixture
def config(tmp_path: Path) -> Settings:
    kept = {"OPENAI_API_KEY": None, "OPENAI_BASE_URL": None, "TEXT2SQL_CACHE_DIR": str(tmp_path / "cache")}
    return Settings(_env_file=None, **kept)


Tuned = Callable[..., Any]


@pytest.fixture
def session(firm: Path, config: Settings, tmp_path: Path) -> Tuned:
    """A session on the firm's questions, in `out`."""

    def opened(out: str = "out", *, settings: Settings = config, **options: Any) -> Session:
        given = {"questions": str(firm / "verified.jsonl"), "databases": str(firm), "model": "offline", "jobs": 1}
        values: dict[str, Any] = {**given, **options}
        return Session(tmp_path / out, Options(**values), settings)

    return opened


@pytest.fixture
def there(endpoint: OpenAIServer, config: Settings) -> Settings:
    return config.changed(
        model={"base_url": endpoint.url, "name": "m", "price_input": 1.0, "price_output": 2.0},
        judging={"strategy": "stage-0/no-short"},
    )


@pytest.fixture
def reflective(session: Tuned, there: Settings, few: str) -> Tuned:
    """A session in which a model writes the kits."""

    def opened(out: str = "out", **options: Any) -> Session:
        return session(out, **{"settings": there, "model": "", "questions": few, "evolver": "reflective", **options})

    return opened


@pytest.fixture
def few(tmp_path: Path, firm: Path) -> str:
    """Questions of one form only, so that few calls tell the kits apart."""
    lines = [line for line in (firm / "verified.jsonl").read_text().splitlines() if '"What is' in line]
    (tmp_path / "few.jsonl").write_text("\n".join(lines))
    return str(tmp_path / "few.jsonl")
