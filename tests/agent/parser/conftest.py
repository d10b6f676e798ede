"""Small databases to read questions against: a library with its schema and value index, a studio and a bakery."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.knowledge.values import ValueIndex, value_index
from agent.parser import Reading, execution_probe, read
from eval.databases import Database, open_database
from eval.schema import Dialect, Schema
from tests.agent.parser import found_tables
from tests.asked import Asked, databases_to_ask
from tests.writing import sqlite_file

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "parser"
TODAY = dt.date(2024, 6, 15)


@pytest.fixture(autouse=True)
def _patient_look_ups(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a reading sees of the rows does not hang on how busy the machine is."""
    monkeypatch.setattr(execution_probe, "_LIMITS", replace(execution_probe._LIMITS, seconds=30.0))
    monkeypatch.setattr(execution_probe, "_BUDGET_MS", 30_000.0)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    script = (FIXTURES / "library.sql").read_text(encoding="utf-8")
    path = sqlite_file(tmp_path_factory.mktemp("library") / "library.sqlite", script)
    with open_database(str(path)) as database:
        yield database


@pytest.fixture(scope="session")
def schema(library: Database) -> Schema:
    return library.schema()


@pytest.fixture(scope="session")
def values(library: Database, tmp_path_factory: pytest.TempPathFactory) -> ValueIndex:
    return value_index(library, library.schema(), cache_dir=tmp_path_factory.mktemp("cache"))


@pytest.fixture
def ask(schema: Schema, values: ValueIndex) -> Callable[..., Reading]:
    """Read a question against the library, on a fixed day."""

    def _ask(question: str, dialect: Dialect = "sqlite", threshold: float | None = None) -> Reading:
        return read(question, schema, values, dialect, today=TODAY, threshold=threshold)

    return _ask


STUDIO = """
CREATE TABLE teachers (
    id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, phone TEXT, hourly_rate REAL NOT NULL);
CREATE TABLE courses (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, teacher_id INTEGER REFERENCES teachers(id), room TEXT NOT NULL,
    price REAL NOT NULL, start_date DATE NOT NULL, end_date DATE);
CREATE TABLE members (id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, city TEXT NOT NULL, email TEXT);
CREATE TABLE enrolments (
    id INTEGER PRIMARY KEY, course_id INTEGER NOT NULL REFERENCES courses(id),
    member_id INTEGER NOT NULL REFERENCES members(id), enrolled_on DATE NOT NULL);
CREATE TABLE invoices (
    id INTEGER PRIMARY KEY, member_id INTEGER NOT NULL REFERENCES members(id), amount REAL NOT NULL,
    issued_on DATE NOT NULL, paid_on DATE);
INSERT INTO teachers VALUES (1, 'Ada', '11', 30), (2, 'Bo', NULL, 40);
INSERT INTO courses VALUES
    (1, 'Clay', 1, 'North', 100, '2024-01-10', '2024-03-10'), (2, 'Dance', 1, 'South', 60, '2024-02-01', NULL),
    (3, 'Paint', NULL, 'North', 80, '2024-03-01', '2025-07-01'),
    (4, 'Glass', 2, 'South', 90, '2025-02-01', '2025-09-01');
INSERT INTO members VALUES (1, 'Max', 'Bonn', 'm@example.com'), (2, 'Nia', 'Bonn', NULL), (3, 'Oli', 'Kiel', NULL);
INSERT INTO enrolments VALUES (1, 1, 1, '2024-01-02'), (2, 2, 1, '2024-01-12'), (3, 2, 2, '2024-01-22');
INSERT INTO invoices VALUES
    (1, 1, 100, '2024-01-01', '2024-01-11'), (2, 1, 50, '2024-02-01', '2024-02-21'), (3, 2, 30, '2024-02-05', NULL);
"""

BAKERY = """
CREATE TABLE emp (emp_id INTEGER PRIMARY KEY, f_name TEXT NOT NULL, sal REAL NOT NULL);
CREATE TABLE cust (
    cust_id INTEGER PRIMARY KEY, cust_nm TEXT NOT NULL, acct_mgr_id INTEGER REFERENCES emp(emp_id));
CREATE TABLE ord_hdr (
    ord_no INTEGER PRIMARY KEY, cust_id INTEGER NOT NULL REFERENCES cust(cust_id), ord_dt DATE NOT NULL);
CREATE TABLE ord_line (
    ord_no INTEGER NOT NULL REFERENCES ord_hdr(ord_no), line_no INTEGER, qty INTEGER, unit_prc REAL,
    PRIMARY KEY (ord_no, line_no));
CREATE TABLE inv (inv_no INTEGER PRIMARY KEY, ord_no INTEGER REFERENCES ord_hdr(ord_no), amt REAL NOT NULL);
INSERT INTO emp VALUES (1, 'Eva', 10), (2, 'Fay', 40);
INSERT INTO cust VALUES (1, 'Cafe', 1), (2, 'Hotel', 2), (3, 'Bar', NULL);
INSERT INTO ord_hdr VALUES (1, 1, '2024-05-02'), (2, 1, '2024-05-20'), (3, 2, '2024-04-01');
INSERT INTO ord_line VALUES (1, 1, 2, 5), (2, 1, 1, 5), (3, 1, 9, 1);
INSERT INTO inv VALUES (1, 1, 10);
"""


@pytest.fixture(scope="session")
def trades(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with databases_to_ask(tmp_path_factory.mktemp("trades"), {"studio": STUDIO, "bakery": BAKERY}) as opened:
        yield opened


@pytest.fixture(scope="session")
def everyday(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """The databases of `fixtures/parser/everyday`, by their files' names, and those of `found_tables.txt`."""
    scripts = {path.stem: path.read_text(encoding="utf-8") for path in sorted((FIXTURES / "everyday").glob("*.sql"))}
    folder = tmp_path_factory.mktemp("everyday")
    found_tables.make(folder)
    with databases_to_ask(folder, scripts) as opened:
        yield opened
