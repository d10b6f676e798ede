"""What is sent means what was written, on the real engines; and every function on the lists is really theirs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from eval.schema import DIALECTS, Dialect
from eval.sql import check, parse
from eval.sql.functions import functions
from tests.conftest import chdb_client
from tests.optional import needs_sail, needs_spark
from tests.pairs import FIXTURES, cases
from tests.writing import connected


@dataclass(frozen=True)
class Engine:
    dialect: Dialect
    connection: Any

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """All rows of a statement; the driver's own error where it fails."""
        if self.dialect == "spark":
            return list(self.connection.catalogue(sql, 60))
        if self.dialect == "clickhouse":
            return list(self.connection.query(sql).result_rows)
        with contextlib.closing(self.connection.cursor()) as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def error(self, sql: str) -> str | None:
        """What the engine says against a statement, None where it runs."""
        try:
            self.rows(sql)
        except Exception as problem:  # noqa: BLE001 - each driver has its own family of errors
            return str(problem)
        return None


@contextmanager
def engine(dialect: Dialect, url: str | None = None) -> Iterator[Engine]:
    """An engine that holds the tables of the guard's corpora; `url` names the scratch database of a server."""
    opened = Engine(dialect, _connect(dialect, url))
    with contextlib.closing(opened.connection):
        for table in ("customers", "orders", "secrets"):
            _run(opened, f"DROP TABLE IF EXISTS {table}")
        for statement in (FIXTURES / "guard" / "setup_common.sql").read_text(encoding="utf-8").split(";\n"):
            if statement.strip():
                _run(opened, statement)
        yield opened


def _run(engine: Engine, statement: str) -> None:
    if engine.dialect == "spark":  # no keys, and two quotes are the end of a text and the start of the next
        engine.connection.catalogue(statement.replace("INTEGER PRIMARY KEY", "INT").replace("''", "\\'"), 60)
    elif engine.dialect == "clickhouse":
        engine.connection.command(statement.replace("INTEGER PRIMARY KEY", "Int32 NOT NULL PRIMARY KEY"))
    else:
        with contextlib.closing(engine.connection.cursor()) as cursor:
            cursor.execute(statement)


def _connect(dialect: Dialect, url: str | None) -> Any:
    if dialect == "spark":
        from tests.spark_servers import writer

        return writer(url or "")
    if dialect == "clickhouse":
        from eval.databases.clickhouse import STANDARD_SETTINGS

        client = chdb_client(url or "")
        settings = {**STANDARD_SETTINGS, "data_type_default_nullable": "1"}
        client.command("SET " + ", ".join(f"{name} = '{value}'" for name, value in settings.items()))
        return client
    return connected(url or f"{dialect}:///:memory:")


MOVING = ("random", "rand(", "uuid", "now", "current_", "clock", "date('", "localtime", "utc_", "sysdate", "curdate")

GRAMMAR = frozenset(
    {"coalesce", "nullif", "greatest", "least", "grouping", "extract", "if", "trim", "json_table", "overlay"}
    | {"position", "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "date", "row"}
    | {"percentile_cont", "percentile_disc", "grouping_id", "ifnull"}
)
"""Written like functions, but part of the grammar of some engine, so that no catalogue lists them."""

NEWER: dict[Dialect, frozenset[str]] = {
    "postgres": frozenset({"any_value", "erf"}),
    "mysql": frozenset({"any_value", "regexp_like"}),
}
"""Listed, but not in every version that is in use; the list files say which have them."""

OTHERWISE_CALLED = frozenset({"mode", "union_value"})
"""PostgreSQL's `mode` takes its argument from WITHIN GROUP; DuckDB's `union_value` lists any, and takes one."""


@pytest.fixture(scope="module", params=[pytest.param(d, marks=needs_sail if d == "spark" else ()) for d in DIALECTS])
def real(request: pytest.FixtureRequest) -> Iterator[Engine]:
    dialect: Dialect = request.param
    servers = {"postgres": "postgres_url", "mysql": "mysql_url", "spark": "sail_url", "clickhouse": "clickhouse_url"}
    url = request.getfixturevalue(servers[dialect]) if dialect in servers else None
    with engine(dialect, url) as opened:
        yield opened


def test_what_is_sent_returns_the_rows_of_what_was_written(real: Engine) -> None:
    compare_written_and_sent(real, has_every_form=real.dialect != "spark")  # Sail has a part of Spark's SQL


def compare_written_and_sent(real: Engine, *, has_every_form: bool = True) -> None:
    compared, other = 0, []
    for case in cases(f"guard/harmless_{real.dialect}.sql"):
        statement = check(parse(case.text, real.dialect)).statement
        assert statement is not None, case.name
        if any(word in case.text.lower() for word in MOVING):
            assert real.error(statement.sql) is None, case.name
            continue
        if not has_every_form and real.error(case.text) is not None:
            continue
        written, sent = real.rows(case.text), real.rows(statement.sql)
        compared += 1
        if sorted(map(repr, written)) != sorted(map(repr, sent)):
            other.append((case.name, case.text, statement.sql))
    assert other == []
    assert compared > 50


def test_every_listed_function_is_the_engine_s_own(real: Engine) -> None:
    if real.dialect == "spark":
        pytest.skip("Sail has a part of Spark's functions; the list is compared with a real Spark below")
    listed = set(functions(real.dialect)) - GRAMMAR - NEWER.get(real.dialect, frozenset())
    if real.dialect == "clickhouse":
        missing = listed - _clickhouse_names(real)
    elif real.dialect == "mysql":
        missing = {name for name in listed if not _mysql_knows(real, name)}
    else:
        missing = listed - {name for name, _, _ in _catalogue(real)}
    assert missing == set()


def test_listed_numbers_of_arguments_are_those_of_the_catalogue(real: Engine) -> None:
    if real.dialect in ("mysql", "spark", "clickhouse"):
        pytest.skip("its catalogue does not say how many arguments a function takes")
    forms: dict[str, list[tuple[int, int | None]]] = {}
    for name, fewest, most in _catalogue(real):
        forms.setdefault(name, []).append((fewest, most))
    narrower = []
    for name, function in functions(real.dialect).items():
        if name in GRAMMAR or name not in forms:
            continue
        counts = {n for fewest, most in forms[name] if most is not None for n in range(fewest, most + 1)}
        unbounded = any(most is None for _, most in forms[name])
        if (unbounded and function.most is not None) or (not unbounded and not all(map(function.accepts, counts))):
            narrower.append((name, function.form, forms[name]))
    assert [n for n in narrower if n[0] not in OTHERWISE_CALLED] == []


def _catalogue(real: Engine) -> list[tuple[str, int, int | None]]:
    """Each form of each function in the engine's own catalogue: name, fewest and most arguments."""
    if real.dialect == "sqlite":
        rows = real.rows("SELECT name, narg FROM pragma_function_list")
        forms = [(n, max(a, 0), None if a < 0 else a) for n, a in rows]
        return [*forms, ("json_each", 1, 2), ("json_tree", 1, 2)]
    if real.dialect == "duckdb":
        rows = real.rows("SELECT lower(function_name), len(parameters), varargs FROM duckdb_functions()")
        return [(n, a, None if more else a) for n, a, more in rows]
    rows = real.rows(
        "SELECT proname, pronargs - pronargdefaults, pronargs, provariadic <> 0 FROM pg_proc"
        " WHERE pronamespace = 'pg_catalog'::regnamespace"
    )
    return [(n, least - bool(more), None if more else most) for n, least, most, more in rows]


def _clickhouse_names(real: Engine) -> set[str]:
    """Functions, table functions, and aggregates with up to two of the combinators that may follow their name."""
    own = {name.lower() for (name,) in real.rows("SELECT name FROM system.functions")}
    aggregates = {name.lower() for (name,) in real.rows("SELECT name FROM system.functions WHERE is_aggregate")}
    endings = {name.lower() for (name,) in real.rows("SELECT name FROM system.aggregate_function_combinators")}
    once = {a + e for a in aggregates for e in endings}
    tables = {name.lower() for (name,) in real.rows("SELECT name FROM system.table_functions")}
    return own | tables | once | {a + e for a in once for e in endings}


def _mysql_knows(real: Engine, name: str) -> bool:
    """An unknown name is error 1305 or 1630 with any arguments; a known one runs or is told of its arguments."""
    errors = [real.error(f"SELECT {name}{arguments}") for arguments in ("()", "(1)", "(1, 1)", "(1, 1, 1)")]
    return any(error is None or not error.startswith(("(1305", "(1630")) for error in errors)


@needs_spark
@pytest.mark.slow
def test_what_is_sent_to_spark_returns_the_rows_of_what_was_written(spark_url: str) -> None:
    with engine("spark", spark_url) as real:
        compare_written_and_sent(real)


@needs_spark
@pytest.mark.slow
def test_every_listed_spark_function_is_spark_s_own(spark_url: str) -> None:
    with engine("spark", spark_url) as real:
        own = {name for (name,) in real.rows("SHOW FUNCTIONS")}
    assert set(functions("spark")) - own - GRAMMAR - {"timestampadd", "timestampdiff", "range"} == set()
