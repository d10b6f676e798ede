"""Small databases of `fixtures/scoring`, on which queries are scored, and the questions to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from tests.pairs import FIXTURES, sections
from tests.writing import sqlite_file

QUESTIONS = sections("scoring/questions.txt")
"""By database: a mistake with the query that makes it and its repair, queries to be left alone, right ones."""


@pytest.fixture(scope="session")
def scored_file(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The file of a database, by the name of its script."""
    folder = tmp_path_factory.mktemp("scoring")

    def made(name: str) -> Path:
        path = folder / f"{name}.sqlite"
        if not path.exists():
            sqlite_file(path, (FIXTURES / "scoring" / f"{name}.sql").read_text(encoding="utf-8"))
        return path

    return made


def _database(name: str) -> Any:
    @pytest.fixture(name=name)
    def opened(scored_file: Callable[[str], Path]) -> Iterator[Database]:
        with open_database(scored_file(name)) as database:
            yield database

    return opened


shop, school, zoo, depot, yard = map(_database, ("shop", "school", "zoo", "depot", "yard"))
