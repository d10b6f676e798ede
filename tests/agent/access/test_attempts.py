"""No statement tells a person more than a copy of the database would that holds only what the person may see."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.access import PersonalDatabase, access_of
from agent.access.database import PROVEN
from agent.config import DatabaseSettings
from eval.databases import Database, open_database
from eval.databases.types import DatabaseError
from eval.schema import Column, Dialect, Schema, Table
from eval.sql import check, parse
from tests.agent.access.conftest import SECRETS, Urls

FIXTURES = Path(__file__).parents[2] / "fixtures" / "access"


def attempts(file: str) -> list[str]:
    return [
        text
        for block in (FIXTURES / file).read_text().split("\n\n")
        if (text := "\n".join(line for line in block.splitlines() if not line.startswith("--")).strip())
    ]


ATTEMPTS = attempts("attempts.sql")
OWN_ATTEMPTS = {dialect: attempts(f"attempts_{dialect}.sql") for dialect in ("clickhouse", "spark")}
"""Attempts with forms that only one dialect has."""

LEAKED_BY_SAIL = "SELECT * FROM (WITH payroll AS (SELECT 1 AS id) SELECT id FROM payroll) AS one, payroll"
"""Sail lets the outer query see the subquery's CTE; for a person it is a table that they may not see."""


def outcome(database: Database, sql: str) -> tuple[Any, str]:
    """What a person sees of a statement: its status with its rows, and everything as one text."""
    verdict = check(parse(sql, database.dialect), database.schema())
    if verdict.statement is None:
        return "refused", verdict.reason or ""
    done = database.execute(verdict.statement)
    return (done.status, sorted(map(repr, done.rows))), f"{done.columns} {done.rows} {done.error}".lower()


@pytest.fixture(scope="module")
def databases(company: Urls, policies: str) -> Iterator[tuple[Database, Database]]:
    """What Anna sees of the company, and her copy."""
    access = access_of(DatabaseSettings(TEXT2SQL_POLICIES=policies))
    with open_database(company[0]) as everything, open_database(company[1]) as copy:
        yield PersonalDatabase(everything, access.person("anna"), access), copy


@pytest.fixture(scope="module")
def copied(databases: tuple[Database, Database]) -> dict[str, Any]:
    return {sql: outcome(databases[1], sql)[0] for sql in ATTEMPTS}


@pytest.mark.parametrize("sql", ATTEMPTS)
def test_an_attempt_ends_as_on_a_copy_that_holds_only_what_is_visible(
    sql: str, databases: tuple[Database, Database], copied: dict[str, Any]
) -> None:
    result, text = outcome(databases[0], sql)
    if databases[0].dialect == "spark" and sql == LEAKED_BY_SAIL:
        assert result in (("error", []), copied[sql]), text
    else:
        assert result == copied[sql], text
    assert not any(secret in text for secret in SECRETS)


def test_attempts_in_forms_of_the_dialect_end_alike_too(databases: tuple[Database, Database]) -> None:
    view, copy = databases
    own = OWN_ATTEMPTS.get(view.dialect, [])
    different = {}
    for sql in own:
        result, text = outcome(view, sql)
        assert not any(secret in text for secret in SECRETS), sql
        if result != (expected := outcome(copy, sql)[0]):
            different[sql] = (result, expected, text)
    assert not different


def test_a_sample_is_not_drawn_from_hidden_rows(databases: tuple[Database, Database]) -> None:
    view = databases[0]
    if view.dialect not in ("postgres", "duckdb"):
        pytest.skip("has no TABLESAMPLE, or none that the guard allows")
    drawn = "SELECT COUNT(*) FROM {} TABLESAMPLE SYSTEM (100)"
    (status, rows), text = outcome(view, drawn.format("staff"))
    assert (status, rows) == ("error", [])
    assert "no sample of staff that is visible" in text
    assert outcome(view, drawn.format("goods"))[0] == ("success", ["(5,)"])


@pytest.mark.parametrize("column", ["rowid", "_rowid_", "ctid", "xmin", "_part", "_table", "salary"])
def test_columns_of_the_engine_itself_tell_nothing(column: str, databases: tuple[Database, Database]) -> None:
    (status, rows), text = outcome(databases[0], f"SELECT {column} FROM staff")
    assert status == "error" or set(rows) == {"(None,)"}, text


def test_the_schema_shows_neither_hidden_names_nor_the_number_of_all_rows(databases: tuple[Database, Database]) -> None:
    schema = databases[0].schema()
    assert {t.name for t in schema.tables} == {"staff", "sales", "goods"}
    staff = schema.table("staff")
    assert [c.name for c in staff.columns] == ["id", "name", "region", "email", "boss_id"]
    assert staff.row_count is None
    assert not any("payroll" in json.dumps(t.foreign_keys, default=str) for t in schema.tables)


def test_others_see_other_rows_and_strangers_nothing(company: Urls, policies: str) -> None:
    access = access_of(DatabaseSettings(TEXT2SQL_POLICIES=policies))
    with open_database(company[0]) as everything:
        ben = PersonalDatabase(everything, access.person("ben"), access)
        eve = PersonalDatabase(everything, access.person("eve"), access)
        assert outcome(ben, "SELECT name FROM staff")[0] == ("success", ["('Sentinel-Dora',)", "('Sentinel-Egon',)"])
        assert not eve.schema().tables
        assert "no table staff that is visible to you" in outcome(eve, "SELECT name FROM staff")[1]
        assert len({everything.url, ben.url, eve.url}) == 3


# --- engines on which no policy was ever attacked are closed to people with restrictions ---


@pytest.mark.parametrize("dialect", sorted(PROVEN))
def test_an_unproven_engine_is_closed(dialect: Dialect, policies: str, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema(dialect, (Table("staff", (Column("name"), Column("salary"))),))
    told = {"dialect": dialect, "name": "company", "holds_rows": True, "executes": True, "url": f"{dialect}:///x"}
    inner: Any = SimpleNamespace(**told, schema=lambda ttl=0.0: schema)
    access = access_of(DatabaseSettings(_env_file=None, TEXT2SQL_POLICIES=policies))
    monkeypatch.setattr("agent.access.database.PROVEN", PROVEN - {dialect})
    with pytest.raises(DatabaseError, match="Policies are not enforced on"):
        PersonalDatabase(inner, access.person("anna"), access).schema()
