"""What a user named like a function or an operator of PostgreSQL does not run with a statement that is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from eval.databases import Database, open_database
from eval.statement import ReadStatement
from tests.pairs import sections

psycopg = pytest.importorskip("psycopg")

RAISES = "LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''an overload ran''; END'"
SETUP = f"""
CREATE TABLE people (id int, name varchar(20), boss int, n smallint);
CREATE TABLE "Mixed" (id int, name varchar(20));
INSERT INTO people VALUES (1, 'Ada', NULL, 1), (2, 'Bob', 1, 2);
CREATE FUNCTION upper(varchar) RETURNS text {RAISES};
CREATE FUNCTION length(varchar) RETURNS int {RAISES};
CREATE FUNCTION concat(varchar, varchar) RETURNS text {RAISES};
CREATE FUNCTION coalesce_(varchar) RETURNS text {RAISES};
CREATE FUNCTION round(smallint, int) RETURNS numeric {RAISES};
CREATE FUNCTION step(int, varchar) RETURNS int {RAISES};
CREATE FUNCTION eq(varchar, varchar) RETURNS boolean {RAISES};
CREATE FUNCTION eq(smallint, numeric) RETURNS boolean {RAISES};
CREATE FUNCTION joined(varchar, varchar) RETURNS text {RAISES};
CREATE FUNCTION secret(people) RETURNS text {RAISES};
CREATE FUNCTION anything(anyelement) RETURNS text {RAISES};
CREATE AGGREGATE max(varchar) (SFUNC = step, STYPE = int, INITCOND = '0');
CREATE AGGREGATE count(varchar) (SFUNC = step, STYPE = int, INITCOND = '0');
CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = eq);
CREATE OPERATOR <> (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = eq);
CREATE OPERATOR >= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = eq);
CREATE OPERATOR ~~ (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = eq);
CREATE OPERATOR < (LEFTARG = smallint, RIGHTARG = numeric, FUNCTION = eq);
CREATE OPERATOR || (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = joined);
"""

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
