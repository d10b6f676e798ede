"""Servers that the tests of the doors share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.server.running import Running, model_at, running, settings_for
from tests.openai_server import OpenAIServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with the demo databases and the offline engine."""
    with running(settings_for(tmp_path_factory.mktemp("server"))) as server:
        yield server


@pytest.fixture
def model_server(tmp_path: Path, endpoint: OpenAIServer, shop_file: Path) -> Iterator[Running]:
    """A server that asks a scripted endpoint about the small shop."""
    own = {"TEXT2SQL_DB_PATH": shop_file, "TEXT2SQL_RESUME_SECONDS": 0.5}
    with running(settings_for(tmp_path, **model_at(endpoint), **own)) as server:
        yield server
