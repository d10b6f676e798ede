"""The dialects as this project reads and writes them: sqlglot's dialects, changed to round-trip faithfully.

What they share, and why, is in `faithful`; the dialects that are only written here are in `written_dialects`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from sqlglot import exp, parser
from sqlglot.dialects.clickhouse import ClickHouse
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.mysql import MySQL
from sqlglot.dialects.postgres import Postgres
from sqlglot.dialects.spark import Spark
from sqlglot.dialects.sqlite import SQLite
from sqlglot.generators.clickhouse import ClickHouseGenerator
from sqlglot.generators.duckdb import DuckDBGenerator
from sqlglot.generators.mysql import MySQLGenerator
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.generators.spark import SparkGenerator
from sqlglot.generators.sqlite import SQLiteGenerator
from sqlglot.parsers.clickhouse import ClickHouseParser
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.parsers.mysql import MySQLParser
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.parsers.spark import SparkParser
from sqlglot.parsers.sqlite import SQLiteParser
from sqlglot.tokenizer_core import TokenType

from eval.schema import Dialect
from eval.sql.faithful import (
    AGGREGATES,
    ARRAY,
    AS_WRITTEN,
    QUOTE,
    SAFE_TYPE,
    SPECIAL_FORMS,
    TYPED_LITERAL,
    WRITTEN_TYPE,
    FaithfulGenerator,
    FaithfulParser,
    arrow,
    hex_as_written,
    path_as_written,
    quantified,
    sqlite_cast,
    when_written,
    without,
)
from eval.sql.stack import with_headroom
from eval.sql.written_dialects import WRITTEN_CLASSES


class FaithfulSQLite(SQLite):
    to_json_path = path_as_written

    class Parser(FaithfulParser, SQLiteParser):
        FUNCTION_PARSERS: ClassVar = {"CAST": sqlite_cast}
        NO_PAREN_FUNCTION_PARSERS: ClassVar = without(SQLiteParser.NO_PAREN_FUNCTION_PARSERS, "ANY")
        ADD_JOIN_ON_TRUE = False
        JOINS_HAVE_EQUAL_PRECEDENCE = False  # a comma would become CROSS JOIN, which forbids SQLite to reorder

    class Generator(FaithfulGenerator, SQLiteGenerator):
        def identifier_sql(self, expression: exp.Identifier) -> str:
            """ "x" may be a string in SQLite; `x` and [x] never are. So a name keeps its original quote characters."""
            if expression.meta.get(QUOTE) in ("`", "["):
                return "`" + expression.name.replace("`", "``") + "`"
            return super().identifier_sql(expression)

        SUPPORTS_TABLE_ALIAS_COLUMNS = True
        EXCEPT_INTERSECT_SUPPORT_ALL_CLAUSE = True
        TRANSFORMS: ClassVar = {**without(SQLiteGenerator.TRANSFORMS, exp.Select), **AS_WRITTEN}


class FaithfulDuckDB(DuckDB):
    to_json_path = path_as_written

    class Parser(FaithfulParser, DuckDBParser):
        LIMIT_IN_PERCENT = True
        FUNCTIONS: ClassVar = AGGREGATES | ARRAY
        FUNCTION_PARSERS: ClassVar = {**SPECIAL_FORMS, "ALL": quantified(exp.All)}

    class Generator(FaithfulGenerator, DuckDBGenerator):
        MULTI_ARG_DISTINCT = True
        TRANSFORMS: ClassVar = {**DuckDBGenerator.TRANSFORMS, **AS_WRITTEN}


class FaithfulPostgres(Postgres):
    to_json_path = path_as_written

    class Parser(FaithfulParser, PostgresParser):
        FUNCTIONS: ClassVar = AGGREGATES | ARRAY
        FUNCTION_PARSERS: ClassVar = {**without(SPECIAL_FORMS, "TRY_CAST"), "ALL": quantified(exp.All)}
        JSON_OPERATORS: ClassVar = {
            **PostgresParser.JSON_OPERATORS,
            TokenType.ARROW: lambda self, this, path: self.expression(exp.JSONExtract(this=this, expression=path)),
            TokenType.DARROW: lambda self, this, path: self.expression(
                exp.JSONExtractScalar(this=this, expression=path)
            ),
        }

    class Generator(FaithfulGenerator, PostgresGenerator):
        MULTI_ARG_DISTINCT = True
        TRANSFORMS: ClassVar = {**PostgresGenerator.TRANSFORMS, **AS_WRITTEN}


class FaithfulMySQL(MySQL):
    to_json_path = path_as_written

    class Parser(FaithfulParser, MySQLParser):
        FUNCTION_PARSERS: ClassVar = {
            **without(SPECIAL_FORMS, "TRY_CAST", "OVERLAY"),
            "SUBSTR": SPECIAL_FORMS["SUBSTRING"],
            "CONVERT": parser.Parser.FUNCTION_PARSERS["CONVERT"],
            "GROUP_CONCAT": when_written("GROUP_CONCAT", frozenset({"SEPARATOR"})),
            "CHAR": when_written("CHAR", frozenset({"USING"})),
            "JSON_TABLE": parser.Parser.FUNCTION_PARSERS["JSON_TABLE"],
            "MATCH": parser.Parser.FUNCTION_PARSERS["MATCH"],
        }

        PRIMARY_PARSERS: ClassVar = {**MySQLParser.PRIMARY_PARSERS, TokenType.HEX_STRING: hex_as_written}

    class Generator(FaithfulGenerator, MySQLGenerator):
        TRANSFORMS: ClassVar = {**MySQLGenerator.TRANSFORMS, **AS_WRITTEN, exp.RegexpLike: arrow("REGEXP")}

        def table_sql(self, expression: exp.Table, sep: str = " AS ") -> str:
            if isinstance(expression.this, exp.Identifier) and expression.name.upper() == "DUAL" and not expression.db:
                return "DUAL"
            return super().table_sql(expression, sep)


class FaithfulSpark(Spark):
    to_json_path = path_as_written

    class Parser(FaithfulParser, SparkParser):
        FUNCTION_PARSERS: ClassVar = {**SPECIAL_FORMS, "SUBSTR": SPECIAL_FORMS["SUBSTRING"]}

    class Generator(FaithfulGenerator, SparkGenerator):
        TRANSFORMS: ClassVar = {**SparkGenerator.TRANSFORMS, **AS_WRITTEN}


class FaithfulClickHouse(ClickHouse):
    to_json_path = path_as_written
    SET_OP_DISTINCT_BY_DEFAULT = {exp.Union: True, exp.Except: True, exp.Intersect: True}  # noqa: RUF012
    """The session makes UNION mean UNION DISTINCT; what is sent says so, since a profile may keep us from that."""

    class Parser(FaithfulParser, ClickHouseParser):
        FUNCTION_PARSERS: ClassVar = {
            **without(SPECIAL_FORMS, "TRY_CAST", "OVERLAY"),
            "EXTRACT": when_written("EXTRACT", frozenset({"FROM"})),
        }

        @classmethod
        def _resolve_clickhouse_agg(cls, name: str) -> tuple[str, tuple[str, ...]]:
            """Any call may be followed by a second pair of parentheses: `quantile(0.9)(price)`."""
            return name, ()

        def _parse_function(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
            parsed = super()._parse_function(*args, **kwargs)
            call = parsed.this if isinstance(parsed, exp.Window) else parsed
            if not isinstance(call, exp.AnonymousAggFunc):
                return parsed
            plain = exp.Anonymous(this=call.this, expressions=call.expressions)
            if parsed is not None and parsed is not call:
                parsed.set("this", plain)
                return parsed
            return plain

    class Generator(FaithfulGenerator, ClickHouseGenerator):
        TRANSFORMS: ClassVar = {**ClickHouseGenerator.TRANSFORMS, **AS_WRITTEN}

        def eq_sql(self, expression: exp.EQ) -> str:
            return self.binary(expression, "=")

        def neq_sql(self, expression: exp.NEQ) -> str:
            return self.binary(expression, "<>")

        def set_operation(self, expression: exp.SetOperation) -> str:
            written = ClickHouseGenerator.set_operation(self, expression)
            name = expression.key.upper()
            return written if written.startswith(f"{name} ALL") else written.replace(name, f"{name} DISTINCT", 1)

        def datatype_sql(self, expression: exp.DataType) -> str:
            written = expression.meta.get(WRITTEN_TYPE)
            if isinstance(written, str) and SAFE_TYPE.fullmatch(written):
                return written
            return ClickHouseGenerator.datatype_sql(self, expression)

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            if expression.meta.get(TYPED_LITERAL):
                return f"{self.sql(expression, 'to')} {self.sql(expression, 'this')}"
            return ClickHouseGenerator.cast_sql(self, expression, safe_prefix=safe_prefix)


_CLASSES: dict[Dialect, type[SqlglotDialect]] = {
    "sqlite": FaithfulSQLite,
    "duckdb": FaithfulDuckDB,
    "postgres": FaithfulPostgres,
    "mysql": FaithfulMySQL,
    "spark": FaithfulSpark,
    "clickhouse": FaithfulClickHouse,
    **WRITTEN_CLASSES,
}


@cache
def faithful(dialect: Dialect) -> SqlglotDialect:
    """The faithful sqlglot dialect. Raises KeyError for a name that is not in `eval.schema.Dialect`."""
    return _CLASSES[dialect]()


@with_headroom
def render(tree: exp.Expr, dialect: Dialect, pretty: bool = False) -> str:
    """Write a tree as SQL text, without comments. Raises RecursionError for a tree that is too deep to write."""
    return faithful(dialect).generate(tree, copy=True, pretty=pretty)
