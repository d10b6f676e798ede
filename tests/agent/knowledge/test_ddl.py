"""A database as CREATE TABLE statements for a model."""

from __future__ import annotations

from pathlib import Path

from agent.knowledge.model_view import ddl
from agent.knowledge.profile import compute_profile
from eval.databases import open_database
from eval.databases.base import Database
from tests.pairs import FIXTURES
from tests.writing import sqlite_file

SHOP = (FIXTURES / "schema/shop.sql").read_text(encoding="utf-8")
WHOLE = (FIXTURES / "schema/shop_told.sql").read_text(encoding="utf-8")


def opened(folder: Path) -> Database:
    return open_database(sqlite_file(folder / "shop.sqlite", SHOP))


def test_tables_keys_and_the_few_values_of_a_column_are_told(tmp_path: Path) -> None:
    database = opened(tmp_path)
    schema = database.schema()
    told = ddl(schema, compute_profile(database, schema))
    assert f"{told}\n" == WHOLE


def test_of_some_tables_only_keys_among_them_are_told(tmp_path: Path) -> None:
    told = ddl(opened(tmp_path).schema(), None, frozenset({"people", "pairs"}))
    assert "REFERENCES" not in told
    assert told.index("people") < told.index("pairs")
