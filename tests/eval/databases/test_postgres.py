"""PostgreSQL on a real server: values, stopping, what a superuser's connection cannot do, and no overload runs."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from eval.databases import Database, Limits, open_database
from eval.databases.statement_run import abandoned
from eval.statement import ReadStatement
from tests.pairs import FIXTURES, sections
from tests.waiting import becomes

psycopg = pytest.importorskip("psycopg")


@pytest.fixture(scope="module")
def outside(postgres_url: str) -> Iterator[Any]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP FUNCTION IF EXISTS run_any; DROP TYPE IF EXISTS mood CASCADE")
        connection.execute((FIXTURES / "databases/setup_postgres.sql").read_text(encoding="utf-8"))
        yield connection


@pytest.fixture(scope="module")
def database(postgres_url: str, outside: Any) -> Iterator[Database]:
    with open_database(postgres_url) as opened:
        yield opened


def read(sql: str) -> ReadStatement:
    return ReadStatement(sql, "postgres")


def busy(outside: Any) -> int:
    sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    return int(outside.execute(sql + " AND state = 'active'").fetchone()[0])


def test_an_error_is_a_result_with_the_engines_words_and_no_rows(database: Database) -> None:
    assert database.execute(read("SELECT '100%d'")).rows == (("100%d",),)
    assert database.execute(read("SELECT nope FROM many")).error == 'column "nope" does not exist (at character 8)'
    late = database.execute(read("SELECT 1 / (n - 5000) FROM many"))
    assert (late.status, late.error, late.rows) == ("error", "division by zero", ())
    lifted = database.execute(read("SELECT set_config('statement_timeout', '0', false), pg_sleep(30)"))
    assert "set_config may not be used" in (lifted.error or "")


@pytest.mark.parametrize("sql", sections("guard/out_of_reach.txt")["postgres"][0])
def test_a_superusers_connection_reaches_nothing_outside(database: Database, outside: Any, sql: str) -> None:
    result = database.execute(read(sql))
    assert result.status == "error"
    assert result.rows == ()
    assert outside.execute("SELECT count(*) FROM people").fetchone() == (2,)


def test_a_superusers_connection_works_as_a_reader_and_a_dead_one_is_replaced(database: Database, outside: Any) -> None:
    asked = "SELECT current_user, current_setting('is_superuser'), current_setting('transaction_read_only')"
    assert database.execute(read(asked)).rows == (("pg_read_all_data", "off", "on"),)
    assert database.execute(read("SELECT 1")).ok
    ours = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'text2sql'"
    outside.execute(f"SELECT pg_terminate_backend(pid) {ours}")
    assert becomes(lambda: outside.execute(f"SELECT count(*) {ours}").fetchone() == (0,))
    assert database.execute(read("SELECT 1")).rows == ((1,),)


def test_a_role_that_may_only_read(postgres_url: str, outside: Any) -> None:
    """The recipe of docs/databases.md."""
    role = f"reader_{uuid.uuid4().hex[:8]}"
    outside.execute(
        f"CREATE ROLE {role} LOGIN PASSWORD 'p@ss word' NOSUPERUSER; GRANT USAGE ON SCHEMA public TO {role};"
        f"GRANT SELECT ON people, many TO {role}"
    )
    try:
        parts = urlsplit(postgres_url)
        netloc = f"{role}:p%40ss%20word@{parts.hostname}:{parts.port or 5432}"
        with open_database(parts._replace(netloc=netloc).geturl()) as reader:
            assert {t.name for t in reader.schema().tables} == {"people", "many"}
            assert reader.execute(read("SELECT current_user::text")).rows == ((role,),)
            assert "permission denied" in (reader.execute(read('SELECT * FROM "Mixed Case"')).error or "")
            assert reader.execute(read("SELECT pg_sleep(9)"), limits=Limits(seconds=0.2)).status == "timeout"
            assert "p@ss" not in repr(reader._target) + reader.url
    finally:
        outside.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_statement_that_ignores_interrupts_does_not_hold_its_caller(database: Database, outside: Any) -> None:
    """One call of translate() looks at no interrupt: the connection is given up, and the server ends it later."""
    before = abandoned.count
    started = time.monotonic()
    result = database.execute(
        read("SELECT length(translate(repeat('x', 16000), repeat('y', 16000), 'z'))"), limits=Limits(seconds=0.3)
    )
    assert time.monotonic() - started < 0.3 + 1.0
    assert result.status == "timeout" or result.rows == ((16_000,),)  # a fast machine may be done
    assert database.execute(read("SELECT 1")).rows == ((1,),)
    assert abandoned.count - before <= 1
    assert becomes(lambda: busy(outside) == 0, 60)


SHAPES = sections("guard/out_of_reach.txt")["postgres: shapes of calls that an overload could take"][0]
NEVER = ["SELECT p.secret FROM people AS p", "SELECT secret FROM people", "SELECT p.anything FROM people AS p"]
"""A function called like a column: there is no such column."""


@pytest.fixture(scope="module")
def overloaded(postgres_url: str) -> Iterator[tuple[Database, Any]]:
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute("CREATE SCHEMA own; SET search_path = own")
        owner.execute((FIXTURES / "databases/overloads.sql").read_text(encoding="utf-8"))
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
