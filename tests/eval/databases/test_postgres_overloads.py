"""What a user named like a function or an operator of PostgreSQL does not run with a statement that is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from eval.databases import Database, open_database
from eval.statement import ReadStatement
from tests.pairs import FIXTURES, sections

psycopg = pytest.importorskip("psycopg")

SETUP = (FIXTURES / "databases/overloads.sql").read_text(encoding="utf-8")

SHAPES = sections("guard/out_of_reach.txt")["postgres: shapes of calls that an overload could take"][0]
NEVER = ["SELECT p.secret FROM people AS p", "SELECT secret FROM people", "SELECT p.anything FROM people AS p"]
"""A function called like a column: there is no such column."""


@pytest.fixture(scope="module")
def overloaded(postgres_url: str) -> Iterator[tuple[Database, Any]]:
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute("CREATE SCHEMA own; SET search_path = own")
        owner.execute(SETUP)
        name = owner.info.dbname
        owner.execute(f"ALTER DATABASE {name} SET search_path = own, public".encode())
        reader = f"reader_{name}"
        owner.execute(f"CREATE ROLE {reader} LOGIN PASSWORD 'r'; GRANT USAGE ON SCHEMA own TO {reader}".encode())
        owner.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA own TO {reader}".encode())
        url = urlsplit(postgres_url)._replace(netloc=f"{reader}:r@127.0.0.1:{owner.info.port}").geturl()
        with open_database(url) as database:
            yield database, owner
        owner.execute(f"ALTER DATABASE {name} RESET search_path".encode())
        owner.execute(f"DROP SCHEMA own CASCADE; DROP OWNED BY {reader}; DROP ROLE {reader}".encode())


@pytest.mark.parametrize("sql", SHAPES)
def test_the_engines_own_function_runs_and_no_overload(sql: str, overloaded: tuple[Database, Any]) -> None:
    database, owner = overloaded
    with pytest.raises(psycopg.Error, match="an overload ran"):
        owner.execute(sql.encode())
    result = database.execute(ReadStatement(sql, "postgres"))
    assert result.ok, result.error
    assert "an overload ran" not in str(database.plan_lines(ReadStatement(sql, "postgres")))


@pytest.mark.parametrize("sql", NEVER)
def test_a_function_cannot_be_called_like_a_column(sql: str, overloaded: tuple[Database, Any]) -> None:
    result = overloaded[0].execute(ReadStatement(sql, "postgres"))
    assert result.status == "error"
    assert "does not exist" in str(result.error)


def test_names_are_found_as_before(overloaded: tuple[Database, Any]) -> None:
    database = overloaded[0]
    assert {t.name for t in database.schema().tables} >= {"people", "Mixed"}
    assert database.execute(ReadStatement("SELECT PEOPLE.NAME FROM People ORDER BY 1", "postgres")).rows[0] == ("Ada",)
    assert database.execute(ReadStatement("SELECT p.name FROM own.people AS p ORDER BY 1", "postgres")).ok
    assert 'relation "nothing" does not exist' in str(
        database.execute(ReadStatement("SELECT 1 FROM nothing", "postgres")).error
    )
