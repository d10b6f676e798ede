"""A database as CREATE TABLE statements for a model."""

from __future__ import annotations

from pathlib import Path

from agent.knowledge.model_view import ddl
from agent.knowledge.profile import compute_profile
from eval.databases import open_database
from eval.databases.base import Database
from tests.writing import sqlite_file

SHOP = """
CREATE TABLE towns (code TEXT PRIMARY KEY, name TEXT);
CREATE TABLE people (id INTEGER PRIMARY KEY, town TEXT REFERENCES towns(code), "Sub-Kind" TEXT, joined TEXT,
                     left_at TEXT, note TEXT, active INTEGER);
CREATE TABLE pairs (a INTEGER, b INTEGER, PRIMARY KEY (a, b));
INSERT INTO towns VALUES ('LYS', 'Lyon'), ('OPO', 'Porto');
INSERT INTO people VALUES
  (1, 'LYS', 'A', '2024-01-05', NULL, 'a text that is far too long to tell anything about what the others hold', 1),
  (2, 'OPO', 'it''s', '2024-02-11', NULL, NULL, 0);
"""
WHOLE = """CREATE TABLE towns (
  code TEXT PRIMARY KEY, -- 'LYS', 'OPO'
  name TEXT -- 'Lyon', 'Porto'
);
CREATE TABLE people (
  id INTEGER PRIMARY KEY,
  town TEXT REFERENCES towns(code),
  "Sub-Kind" TEXT, -- 'A', 'it''s'
  joined TEXT, -- e.g. '2024-01-05'
  left_at TEXT, -- always NULL
  note TEXT,
  active INTEGER -- 0, 1
);
CREATE TABLE pairs (
  a INTEGER,
  b INTEGER,
  PRIMARY KEY (a, b)
);"""


def opened(folder: Path) -> Database:
    return open_database(sqlite_file(folder / "shop.sqlite", SHOP))


def test_tables_keys_and_the_few_values_of_a_column_are_told(tmp_path: Path) -> None:
    database = opened(tmp_path)
    schema = database.schema()
    told = ddl(schema, compute_profile(database, schema))
    assert told == WHOLE


def test_without_a_profile_no_value_is_told(tmp_path: Path) -> None:
    told = ddl(opened(tmp_path).schema())
    assert "'" not in told
    assert '"Sub-Kind" TEXT' in told


def test_of_some_tables_only_keys_among_them_are_told(tmp_path: Path) -> None:
    told = ddl(opened(tmp_path).schema(), None, frozenset({"people", "pairs"}))
    assert "REFERENCES" not in told
    assert told.index("people") < told.index("pairs")
