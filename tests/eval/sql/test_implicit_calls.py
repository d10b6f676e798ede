"""PostgreSQL calls functions after a dot: none of these statements reaches one, and columns still work."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from eval.databases import Database, open_database
from eval.schema import DIALECTS, Column, Dialect, Schema, Table
from eval.sql import check, parse

VALUES = (
    "'x'::text",
    "1",
    "NULL::text",
    "c.name",
    "c",
    "(c)",
    "(SELECT 'x'::text)",
    "lower('x')",
    "CASE WHEN true THEN 'x' END",
    "ARRAY['x']",
    "(ARRAY['x'])[1]",
    "ROW('x')",
    "coalesce(c.name, 'x')",
    "'x' || c.name",
    "CAST(c.name AS text)",
    "EXISTS (SELECT 1)",
    "max(c.name)",
)
FIELDS = ("run_report", "public.run_report", "pg_sleep", "current_setting", "regrole", '"run_report"')
WHOLE_ROWS = (
    "SELECT c.run_report FROM customers c",
    'SELECT c."run_report" FROM customers c',
    "SELECT customers.run_report FROM customers",
    "SELECT public.customers.run_report FROM customers",
    "SELECT c.name.run_report FROM customers c",
    "SELECT 1 FROM customers c WHERE c.run_report IS NULL",
    "SELECT 1 FROM customers c GROUP BY c.run_report",
    "SELECT 1 FROM customers c GROUP BY c.id HAVING max(c.run_report) IS NULL",
    "SELECT 1 FROM customers c ORDER BY c.run_report",
    "SELECT 1 FROM customers c JOIN customers d ON c.run_report = d.name",
    "SELECT count(*) FILTER (WHERE c.run_report IS NULL) FROM customers c",
    "SELECT row_number() OVER (ORDER BY c.run_report) FROM customers c",
    "SELECT 1 FROM customers c, LATERAL (SELECT c.run_report AS x) y",
    "SELECT 1 FROM customers c, unnest(ARRAY[c.run_report]) y",
    "SELECT 1 FROM customers c, generate_series(1, c.run_report) y",
    "SELECT (SELECT c.run_report) FROM customers c",
    "SELECT x.run_report FROM (SELECT * FROM customers) x",
    "WITH x AS (SELECT * FROM customers) SELECT x.run_report FROM x",
    "WITH RECURSIVE x AS (SELECT 'x'::text AS a UNION ALL SELECT x.run_report FROM x) SELECT a FROM x",
    "SELECT x.run_report FROM unnest(ARRAY['x']) x",
    "SELECT x.run_report FROM unnest(ARRAY['x']) x(a)",
    "SELECT x.run_report FROM lower('x') x",
    "SELECT x.run_report FROM (VALUES ('x')) x",
    "SELECT x.run_report FROM json_to_recordset('[]') AS x(a text)",
    "SELECT x.run_report FROM regexp_split_to_table('x', ',') x",
    "SELECT 1 FROM missing c WHERE c.run_report IS NULL",
    "SELECT 1 FROM customers c LIMIT (SELECT c.run_report)",
    "VALUES ((SELECT c.run_report FROM customers c))",
    "SELECT 1 UNION SELECT c.run_report FROM customers c",
)
HOSTILE = (*(f"SELECT ({value}).{field} FROM customers c" for value in VALUES for field in FIELDS), *WHOLE_ROWS)
OTHER_DIALECTS: dict[Dialect, tuple[str, ...]] = {
    "duckdb": (
        *(
            f"SELECT {value}.{call} FROM customers"
            for value in (
                "'HOME'",
                "name",
                "customers.name",
                "(SELECT 'HOME')",
                "['HOME'][1]",
                "{'a': 'HOME'}.a",
                "lower(name)",
            )
            for call in ("getenv()", '"getenv"()', "read_text()", "mymacro()", "lower().getenv()")
        ),
        "SELECT list_transform(['HOME'], lambda x: x.getenv())",
        "SELECT list_filter(['HOME'], lambda x: x.getenv() = 'x')",
        "SELECT [x.getenv() for x in ['HOME']]",
        "SELECT 1 AS x, x.getenv()",
        "SELECT memory.main.mymacro(1)",
        "SELECT main.mymacro(1)",
        "SELECT list_aggregate([1], 'reservoir_quantile', 0.5)",
        "SELECT list_aggr([1], 'mymacro')",
        "SELECT array_aggr([1], lower('SUM'))",
        "SELECT array_aggregate([1], name) FROM customers",
        "SELECT aggregate([1], 'RESERVOIR_QUANTILE', 1)",
        "SELECT [1].list_aggregate('reservoir_quantile', 1)",
        "SELECT COLUMNS('name').getenv() FROM customers",
    ),
    "mysql": (
        "SELECT s.nextval",
        "SELECT `s`.`nextval`",
        "SELECT s.CURRVAL",
        "SELECT shop.s.nextval",
        "SELECT NEXT VALUE FOR s",
        "SELECT PREVIOUS VALUE FOR s",
        "SELECT sys.version_major()",
        "SELECT `sys`.`ps_thread_id`(1)",
        "SELECT customers.run_report() FROM customers",
        "SELECT CAST(1 AS mytype)",
    ),
    "sqlite": (
        "SELECT main.load_extension('x')",
        "SELECT customers.load_extension('x') FROM customers",
        "SELECT [load_extension]('x')",
        "SELECT * FROM main.pragma_table_info('customers')",
    ),
}
HARMLESS = (
    "SELECT c.name FROM customers c",
    "SELECT customers.name, public.customers.id FROM customers",
    "SELECT c.ctid IS NULL FROM customers c",
    "SELECT x.n FROM (SELECT name AS n FROM customers) x ORDER BY x.n",
    "WITH x AS (SELECT * FROM customers) SELECT x.name FROM x",
    "SELECT g.g, h.i FROM generate_series(1, 2) g, generate_series(1, 2) AS h(i)",
    "SELECT e.value FROM json_array_elements_text('[\"a\"]') e",
    "SELECT e.key, e.value FROM jsonb_each('{\"a\": 1}') e",
    "SELECT e.x, e.n FROM unnest(ARRAY['a']) WITH ORDINALITY AS e(x, n)",
    "SELECT c.*, c FROM customers c",
    "SELECT pg_catalog.lower(c.name) FROM customers c",
    "SELECT r.a FROM json_to_recordset('[{\"a\": 1}]') AS r(a int)",
)


@pytest.fixture(scope="module")
def database(postgres_url: str) -> Iterator[Database]:
    """A table, and a SECURITY DEFINER function for values and rows that reads a table which nobody else should."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE customers (id int PRIMARY KEY, name text)")
        connection.execute("INSERT INTO customers VALUES (1, 'Ann')")
        connection.execute("CREATE TABLE secrets (token text)")
        connection.execute("INSERT INTO secrets VALUES ('hush')")
        for name in ('"Initcap"', '"coalesce"'):
            connection.execute(
                f"CREATE FUNCTION {name}(text) RETURNS text LANGUAGE sql SECURITY DEFINER "
                "AS 'SELECT token FROM secrets'"
            )
        for argument in ("text", "int", "customers", "anyelement"):
            connection.execute(
                f"CREATE FUNCTION run_report({argument}) RETURNS text LANGUAGE sql SECURITY DEFINER "
                "AS 'SELECT token FROM secrets'"
            )
    opened = open_database(postgres_url)
    yield opened
    opened.close()


def test_the_engine_does_call_functions_after_a_dot(database: Database, postgres_url: str) -> None:
    import psycopg

    with psycopg.connect(postgres_url) as connection:
        for sql in (
            "SELECT ('x'::text).run_report",
            "SELECT c.run_report FROM customers c",
            "SELECT \"Initcap\"('x'::text)",
            "SELECT \"coalesce\"('x'::text)",
        ):
            assert connection.execute(sql).fetchall() == [("hush",)]


def test_no_call_after_a_dot_passes(database: Database) -> None:
    assert len(HOSTILE) > 101
    passed = [sql for sql in HOSTILE if check(parse(sql, "postgres"), database.schema()).allowed]
    assert passed == []


def test_no_call_of_a_quoted_name_passes(database: Database) -> None:
    """In quotes, the name of a built-in function may be that of a user's."""
    for dialect in DIALECTS:
        for name in ("Initcap", "coalesce", "now"):
            quoted = f'"{name}"' if dialect in ("sqlite", "postgres", "duckdb", "clickhouse") else f"`{name}`"
            verdict = check(parse(f"SELECT {quoted}('x')", dialect), database.schema())
            assert not verdict.allowed, (dialect, name)
    for sql in ("SELECT lower('x')", "SELECT COALESCE('x', 'y')", "SELECT pg_catalog.lower('x')"):
        assert check(parse(sql, "postgres"), database.schema()).allowed


def test_mysql_calls_a_stored_function_by_a_quoted_name(mysql_url: str) -> None:
    pymysql = pytest.importorskip("pymysql")
    place = urlsplit(mysql_url)
    options = {"host": place.hostname, "port": place.port or 3306, "user": place.username, "autocommit": True}
    with (
        pymysql.connect(**options, password=place.password or "", database=place.path[1:]) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("CREATE FUNCTION `now`() RETURNS INT RETURN 42")
        cursor.execute("SELECT `now`()")
        assert cursor.fetchall() == ((42,),)
    assert not check(parse("SELECT `now`()", "mysql")).allowed
    assert check(parse("SELECT now()", "mysql")).allowed


@pytest.mark.parametrize("dialect", OTHER_DIALECTS)
def test_no_call_after_a_dot_or_by_name_passes_in_other_dialects(dialect: Dialect) -> None:
    passed = [sql for sql in OTHER_DIALECTS[dialect] if check(parse(sql, dialect)).allowed]
    assert passed == []


def test_listed_aggregates_may_be_named() -> None:
    for sql in ("SELECT list_aggregate([1, 2], 'sum')", "SELECT list_aggr([1, 2], 'QUANTILE_CONT', 0.5)"):
        assert check(parse(sql, "duckdb")).allowed


def test_columns_pass_and_run(database: Database) -> None:
    for sql in HARMLESS:
        verdict = check(parse(sql, "postgres"), database.schema())
        assert verdict.statement is not None, (sql, verdict.reason)
        result = database.execute(verdict.statement)
        assert result.error is None, (sql, result.error)
        assert result.rows, sql


def test_the_reason_names_what_would_be_called() -> None:
    schema = Schema("postgres", (Table("orders", (Column("id"), Column("total")), namespace="public"),))
    reason = check(parse("SELECT o.totl FROM orders o", "postgres"), schema).reason
    assert reason == "names o.totl, which is no known column and which PostgreSQL may read as a call of totl"


def test_without_a_schema_a_column_of_a_table_is_taken_to_exist() -> None:
    assert check(parse("SELECT o.total FROM orders o", "postgres")).allowed
    assert not check(parse("SELECT (o.total).run_report FROM orders o", "postgres")).allowed
