"""A small real database and a run of the whole graph over it."""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest

from agent.config import Settings
from agent.events import AnswerEvent, Event
from agent.models.failures import RetryPolicy
from agent.models.openai import OpenAIModel
from agent.models.protocol import Endpoint, Model
from agent.models.quirks import forget
from agent.runner import Answer, stream
from eval.databases import open_database
from eval.databases.base import Database
from tests.openai_server import OpenAIServer
from tests.settings import overridden
from tests.writing import sqlite_file

TABLES = """
CREATE TABLE cities (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, city_id INTEGER REFERENCES cities(id));
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id),
                     ordered_on TEXT NOT NULL, status TEXT NOT NULL, total REAL NOT NULL);
CREATE TABLE blobs (id INTEGER PRIMARY KEY, payload BLOB, amount REAL);
INSERT INTO cities VALUES (1, 'Lyon', 'France'), (2, 'Porto', 'Portugal'), (3, 'Turku', 'Finland');
INSERT INTO customers VALUES (1, 'Ana', 'ana@example.org', 2), (2, 'Bo', NULL, 1), (3, 'Chloé', 'c@example.org', 1),
                             (4, 'Dai', 'dai@example.org', 3);
INSERT INTO orders VALUES (1, 1, '2024-01-05', 'paid', 20.5), (2, 1, '2024-02-11', 'paid', 99.0),
                          (3, 2, '2024-02-12', 'cancelled', 10.0), (4, 3, '2025-03-01', 'paid', 45.25);
INSERT INTO blobs VALUES (1, x'00ff10', 9e999), (2, NULL, -9e999);
"""


@pytest.fixture(scope="session", autouse=True)
def _authorities_are_read_once() -> Iterator[None]:
    """Each client of httpx reads the certificates of all authorities, which takes 25 ms: here one reading does."""
    with pytest.MonkeyPatch.context() as patched:
        for library in (httpx, httpx2):
            create = library._transports.default.create_ssl_context
            known: dict[object, ssl.SSLContext] = {}

            def shared(*given: Any, create: Any = create, known: Any = known, **named: Any) -> ssl.SSLContext:
                key = (given, tuple(named.items()), os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
                if key not in known:
                    known[key] = create(*given, **named)
                return known[key]

            patched.setattr(library._transports.default, "create_ssl_context", shared)
        yield


@pytest.fixture
def shop_file(tmp_path: Path) -> Path:
    return sqlite_file(tmp_path / "small shop.sqlite", TABLES)


@pytest.fixture
def shop(shop_file: Path) -> Iterator[Database]:
    with open_database(shop_file) as database:
        yield database


@pytest.fixture(scope="module")
def duckdb_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"duckdb:///{tmp_path_factory.mktemp('duckdb') / 'scratch.duckdb'}"


@pytest.fixture
def config(tmp_path: Path) -> Settings:
    return Settings.model_validate({"TEXT2SQL_CACHE_DIR": str(tmp_path / "cache")})


Run = Callable[..., Coroutine[Any, Any, tuple[list[Event], Answer]]]


@pytest.fixture
def ask(shop: Database, config: Settings) -> Run:
    """Ask the small shop a question of a model; settings can be overridden by name."""

    async def asked(question: str, model: str | Model | None, **overrides: object) -> tuple[list[Event], Answer]:
        settings = overridden(config, **overrides)
        events = [e async for e in stream(question, database=shop, model=model, settings=settings)]
        answers = [e for e in events if isinstance(e, AnswerEvent)]
        assert len(answers) == 1, events
        return events, answers[0].data

    return asked


@pytest.fixture
def endpoint() -> Iterator[OpenAIServer]:
    """A server of scripted replies; models that earlier tests connected to are forgotten."""
    forget()
    with OpenAIServer() as server:
        yield server
    forget()


@pytest.fixture
async def remote(endpoint: OpenAIServer) -> AsyncIterator[OpenAIModel]:
    """A model at that server, with waits short enough for a test."""
    settings = Endpoint(model="m", base_url=endpoint.url, api_key="sk-test-123456", seconds=60.0)
    made = OpenAIModel(settings, retry=RetryPolicy(first_wait=0.01, longest_wait=0.02))
    yield made
    await made.close()
