"""The table of engines: what the rest of the project needs to know of an engine by name, in one place.

In: a dialect, a URL scheme or a spelling. Out: the `Engine`. A new engine is one entry here, one file in
`eval.databases`, one dialect in `eval.sql` and one template of dialect notes in `prompts`. A leaf module: it opens and
imports nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from eval.schema import ALL_DIALECTS, Dialect


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine, by the dialect that it speaks."""

    dialect: Dialect
    title: str
    """Its name for people and for language models."""
    schemes: tuple[str, ...] = ()
    """The schemes of its URLs; the first one is written in URLs that are shown."""
    example: str = ""
    """A URL as its user would write it."""
    opened_by: str = ""
    """`module:class` of its `Database`, imported when a database is opened; empty for a dialect that is written and
    checked here, and never executed."""
    spellings: tuple[str, ...] = ()
    """Other names of the dialect."""
    folder_schemes: tuple[str, ...] = ()
    """Schemes of URLs that name a data folder of this machine, opened inside this process."""
    port: int | None = None
    """Its server's default port; None for an engine that opens files."""
    default_database: str | None = None
    """The database of a URL that names none; None where a URL must name one."""
    options: frozenset[str] = frozenset()
    """Options that a URL may have."""
    strangers_options: frozenset[str] = frozenset()
    """Those among them that a user of a server may set, because they name no file of the server."""
    bare_namespace: str | None = None
    """The namespace (schema) of names without a qualifier; None if names are never qualified, empty if none is
    fixed."""
    quote: Literal['"', "`", "["] = '"'
    """The character before a quoted name."""

    @property
    def executes(self) -> bool:
        """Whether its databases are opened here; else its SQL is written and checked, not executed."""
        return bool(self.opened_by)

    @property
    def is_file(self) -> bool:
        return self.executes and self.port is None

    def quoted(self, name: str) -> str:
        """A name in its quotes (backticks in MySQL, brackets in SQL Server); closing quotes inside are doubled."""
        end = "]" if self.quote == "[" else self.quote
        return self.quote + name.replace(end, end * 2) + end


ENGINES: dict[Dialect, Engine] = {
    engine.dialect: engine
    for engine in (
        Engine(
            dialect="sqlite",
            title="SQLite",
            schemes=("sqlite", "sqlite3"),
            example="sqlite:///path",
            opened_by="eval.databases.sqlite:SQLiteDatabase",
            spellings=("sqlite3",),
        ),
        Engine(
            dialect="duckdb",
            title="DuckDB",
            schemes=("duckdb",),
            example="duckdb:///path",
            opened_by="eval.databases.duckdb:DuckDBDatabase",
            bare_namespace="main",
        ),
        Engine(
            dialect="postgres",
            title="PostgreSQL",
            schemes=("postgresql", "postgres"),
            example="postgresql://user@host/database",
            opened_by="eval.databases.postgres:PostgresDatabase",
            spellings=("postgresql", "pg"),
            port=5432,
            options=frozenset({"host", "sslmode", "sslrootcert", "sslcert", "sslkey", "gssencmode", "channel_binding"}),
            strangers_options=frozenset({"sslmode", "channel_binding"}),
            bare_namespace="public",
        ),
        Engine(
            dialect="mysql",
            title="MySQL or MariaDB",
            schemes=("mysql", "mariadb"),
            example="mysql://user@host/database",
            opened_by="eval.databases.mysql:MySQLDatabase",
            spellings=("mariadb",),
            port=3306,
            options=frozenset({"unix_socket", "ssl_ca", "ssl_cert", "ssl_key"}),
            quote="`",
        ),
        Engine(
            dialect="spark",
            title="Apache Spark",
            schemes=("spark", "sc"),
            example="spark://user@host:15002/database",
            opened_by="eval.databases.spark:SparkDatabase",
            spellings=("sparksql", "sail"),
            port=15002,
            default_database="default",
            options=frozenset({"use_ssl", "user_id", "token", "session_id", "x-databricks-cluster-id"}),
            strangers_options=frozenset({"use_ssl", "user_id", "token", "x-databricks-cluster-id"}),
            quote="`",
        ),
        Engine(
            dialect="clickhouse",
            title="ClickHouse",
            schemes=("clickhouse", "clickhouses"),
            example="clickhouse://user@host/database",
            opened_by="eval.databases.clickhouse:ClickHouseDatabase",
            spellings=("chdb",),
            folder_schemes=("chdb",),
            port=8123,
            default_database="default",
            options=frozenset({"secure", "ca_cert", "client_cert", "client_cert_key"}),
            strangers_options=frozenset({"secure"}),
        ),
        Engine(dialect="snowflake", title="Snowflake", bare_namespace="public"),
        Engine(dialect="bigquery", title="BigQuery", bare_namespace="", quote="`"),
        Engine(dialect="redshift", title="Amazon Redshift", bare_namespace="public"),
        Engine(dialect="databricks", title="Databricks SQL", bare_namespace="default", quote="`"),
        Engine(dialect="trino", title="Trino", spellings=("presto", "athena", "starburst"), bare_namespace="default"),
        Engine(
            dialect="tsql",
            title="SQL Server",
            spellings=("sqlserver", "mssql", "transactsql", "fabric"),
            bare_namespace="dbo",
            quote="[",
        ),
        Engine(dialect="oracle", title="Oracle Database", bare_namespace=""),
    )
}
"""Every engine, in the order of `ALL_DIALECTS`."""

BY_SCHEME: dict[str, Engine] = {
    scheme: engine for engine in ENGINES.values() for scheme in (*engine.schemes, *engine.folder_schemes)
}

SERVERS: tuple[Engine, ...] = tuple(engine for engine in ENGINES.values() if engine.executes and not engine.is_file)

_BY_NAME: dict[str, Dialect] = {
    name: engine.dialect for engine in ENGINES.values() for name in (engine.dialect, *engine.spellings)
}


NOT_EXECUTED = "Written for {title} and checked against the given structure; not executed."
"""What is said of SQL for which there is no engine here."""


def dialect_named(name: str) -> Dialect:
    """The canonical dialect for a name such as `postgresql` or `MariaDB`; ValueError if there is none."""
    dialect = _BY_NAME.get(re.sub(r"[\s_-]", "", name.lower()))
    if dialect is None:
        raise ValueError(f"unknown SQL dialect {name!r}; known: {', '.join(ALL_DIALECTS)}")
    return dialect


def listed(names: tuple[str, ...] = ALL_DIALECTS) -> str:
    """Names as a phrase: `sqlite, duckdb, postgres or mysql`."""
    return f"{', '.join(names[:-1])} or {names[-1]}"
