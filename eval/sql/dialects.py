"""The dialects as this project reads and writes them: sqlglot's dialects, changed to round-trip faithfully.

sqlglot is built to translate: it turns `IFNULL` into `COALESCE` and `CAST(x AS DATE)` into `DATE(x)`, and it rewrites
JSON paths. Here, the SQL generated from a tree must mean exactly what the original statement meant, for the same
engine. These subclasses therefore keep the name of a function call, the type and the literal as they were written. Only
operators, the special forms of the grammar (`CAST`, `EXTRACT(… FROM …)`) and the five basic aggregates become typed
nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from sqlglot import exp, generator, parser
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
from sqlglot.tokenizer_core import Token, TokenType

from eval.schema import Dialect
from eval.sql.parse_budget import BudgetedParser
from eval.sql.stack import with_headroom

WRITTEN_TYPE = "written_type"
"""Key in a `DataType`'s meta that holds the type as written."""

WRITTEN_PREFIX = "written_prefix"
"""Key in a `HexString`'s meta, set when it was written `0x…`: MySQL reads that as a number in a numeric context."""

QUOTE = "quote"
"""Key in an `Identifier`'s meta: its opening quote character, when that was not a double quote."""

TYPED_LITERAL = "typed_literal"
"""Key in a `Cast`'s meta, set when the cast was written as a typed literal: `DATE '2024-02-29'`."""

_SQLITE_TYPE = re.compile(r"[A-Za-z_][\w ]*(\([\d ,+-]+\))?")
_SAFE_TYPE = re.compile(r"""[\w\s(),.\[\]"']+""")


def _aggregate(name: str, node: type[exp.Expression]) -> Callable[[list[Any]], exp.Expression]:
    """A call with one argument becomes the typed aggregate; with any other number it stays a plain call for the checks
    to judge."""

    def build(args: list[Any]) -> exp.Expression:
        if len(args) == 1:
            return node(this=args[0])
        return exp.Anonymous(this=name, expressions=args)

    return build


_AGGREGATES: dict[str, Callable[..., Any]] = {
    "COUNT": _aggregate("COUNT", exp.Count),
    "SUM": _aggregate("SUM", exp.Sum),
    "AVG": _aggregate("AVG", exp.Avg),
    "MIN": _aggregate("MIN", exp.Min),
    "MAX": _aggregate("MAX", exp.Max),
}


def _when_written(name: str, keywords: frozenset[str]) -> Callable[[Any], Any]:
    """Use sqlglot's parser for a special form only when one of its keywords appears inside the parentheses."""
    special: Callable[[Any], Any] = {
        **parser.Parser.FUNCTION_PARSERS,
        "GROUP_CONCAT": lambda self: self._parse_group_concat(),
    }[name]

    def parse(self: Any) -> Any:
        depth, at = 0, self._index
        while at < len(self._tokens):
            token: Token = self._tokens[at]
            if token.token_type == TokenType.L_PAREN:
                depth += 1
            elif token.token_type == TokenType.R_PAREN:
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and token.token_type != TokenType.STRING and token.text.upper() in keywords:
                return special(self)
            at += 1
        written = self._tokens[self._index - 2]
        return self.expression(exp.Anonymous(this=written.text, expressions=self._parse_function_args(True)))

    return parse


def _sqlite_cast(self: Any) -> exp.Expression:
    """SQLite accepts any words as a type (`UNSIGNED BIG INT`); they determine the affinity, so they are kept."""
    this = self._parse_disjunction()
    if not self._match(TokenType.ALIAS):
        self.raise_error("Expected AS after CAST")
    words: list[str] = []
    depth = 0
    while self._curr and (depth or self._curr.token_type != TokenType.R_PAREN):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(self._curr.token_type, 0)
        words.append(self._curr.text)
        self._advance()
    text = _type_text(words)
    if not _SQLITE_TYPE.fullmatch(text):
        self.raise_error("Expected a type name")
    kind = exp.DataType(this=exp.DType.USERDEFINED, kind=text)
    kind.meta[WRITTEN_TYPE] = text
    cast: exp.Expression = self.expression(exp.Cast(this=this, to=kind))
    return cast


def _hex_as_written(self: Any, token: Token) -> exp.Expression:
    node: exp.Expression = self.expression(exp.HexString(this=token.text), token)
    if self.sql[token.start : token.start + 2].lower() == "0x":
        node.meta[WRITTEN_PREFIX] = True
    return node


def _quantified(node: type[exp.Expression]) -> Callable[[Any], exp.Expression]:
    """`= ALL (array)`. When the operand is a subquery, sqlglot makes the node itself."""

    def parse(self: Any) -> exp.Expression:
        inner = self._parse_select() or self._parse_disjunction()
        return node(this=exp.Paren(this=inner))

    return parse


_CAST = parser.Parser.FUNCTION_PARSERS["CAST"]
_ARRAY: dict[str, Callable[..., Any]] = {"ARRAY": lambda args: exp.Array(expressions=args)}
_EXTRACT = parser.Parser.FUNCTION_PARSERS["EXTRACT"]
_TRIM = _when_written("TRIM", frozenset({"LEADING", "TRAILING", "BOTH", "FROM"}))
_SUBSTRING = _when_written("SUBSTRING", frozenset({"FROM", "FOR"}))
_POSITION = _when_written("POSITION", frozenset({"IN"}))
_OVERLAY = _when_written("OVERLAY", frozenset({"PLACING"}))


class _FaithfulParser(BudgetedParser):
    """The changes shared by all parsers; each dialect mixes it in before sqlglot's own parser."""

    def _warn_unsupported(self) -> None:
        """Emit no warning: the guard refuses what sqlglot could read only as a bare command."""

    def _parse_types(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        start = self._index
        parsed = super()._parse_types(*args, **kwargs)
        if isinstance(parsed, exp.DataType) and self._index > start:
            tokens = self._tokens[start : self._index]
            suffix = tokens[0].text.upper() in self.dialect.tokenizer_class.NUMERIC_LITERALS  # Spark's `1L`
            if not suffix and all(t.token_type not in (TokenType.STRING, TokenType.IDENTIFIER) for t in tokens):
                parsed.meta[WRITTEN_TYPE] = _type_text([t.text for t in tokens])
        return parsed

    def _parse_type(self, parse_interval: bool = True, fallback_to_identifier: bool = False) -> exp.Expr | None:
        literal = self._curr.token_type in self.TYPE_TOKENS and self._next.token_type == TokenType.STRING
        parsed = super()._parse_type(parse_interval, fallback_to_identifier)
        if literal and isinstance(parsed, exp.Cast) and isinstance(parsed.this, exp.Literal):
            parsed.meta[TYPED_LITERAL] = True
        return parsed


def _type_text(words: list[str]) -> str:
    text = " ".join(words)
    return re.sub(r"\s*([(\[\]),.])\s*", lambda m: {",": ", ", ")": ") "}.get(m[1], m[1]), text).strip()


def _arrow(operator: str) -> Callable[[Any, Any], str]:
    return lambda self, node: self.binary(node, operator)


class _FaithfulGenerator(generator.Generator):
    """Writes SQL as it was read. Function names keep their original case."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"normalize_functions": False, "comments": False, **options})

    def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
        if expression.meta.get(TYPED_LITERAL):
            return f"{self.sql(expression, 'to')} {self.sql(expression, 'this')}"
        return generator.Generator.cast_sql(self, expression, safe_prefix=safe_prefix)

    def withingroup_sql(self, expression: exp.WithinGroup) -> str:
        return generator.Generator.withingroup_sql(self, expression)

    def ignorenulls_sql(self, expression: exp.IgnoreNulls) -> str:
        return generator.Generator.ignorenulls_sql(self, expression)

    def hexstring_sql(self, expression: exp.HexString, binary_function_repr: str | None = None) -> str:
        if expression.meta.get(WRITTEN_PREFIX):
            return f"0x{expression.name}"
        return super().hexstring_sql(expression, binary_function_repr)

    def datatype_sql(self, expression: exp.DataType) -> str:
        written = expression.meta.get(WRITTEN_TYPE)
        if expression.this != exp.DType.CHARACTER_SET and isinstance(written, str) and _SAFE_TYPE.fullmatch(written):
            return written
        return super().datatype_sql(expression)


def _clock(name: str) -> Callable[[Any, Any], str]:
    return lambda self, node: f"{name}({self.sql(node, 'this')})" if node.args.get("this") else name


_AS_WRITTEN: dict[type[exp.Expr], Callable[..., str]] = {
    exp.JSONExtract: _arrow("->"),
    exp.JSONExtractScalar: _arrow("->>"),
    exp.CurrentDate: _clock("CURRENT_DATE"),
    exp.CurrentTime: _clock("CURRENT_TIME"),
    exp.CurrentTimestamp: _clock("CURRENT_TIMESTAMP"),
    exp.Localtime: _clock("LOCALTIME"),
    exp.Localtimestamp: _clock("LOCALTIMESTAMP"),
}


def _without(table: dict[Any, Any], *keys: Any) -> dict[Any, Any]:
    return {k: v for k, v in table.items() if k not in keys}


def _path_as_written(_: SqlglotDialect, path: exp.Expr | None) -> exp.Expr | None:
    """A JSON path stays the string that was written."""
    return path


class FaithfulSQLite(SQLite):
    to_json_path = _path_as_written

    class Parser(_FaithfulParser, SQLiteParser):
        FUNCTIONS: ClassVar = _AGGREGATES
        FUNCTION_PARSERS: ClassVar = {"CAST": _sqlite_cast}
        NO_PAREN_FUNCTION_PARSERS: ClassVar = _without(SQLiteParser.NO_PAREN_FUNCTION_PARSERS, "IF", "ANY")
        ADD_JOIN_ON_TRUE = False
        JOINS_HAVE_EQUAL_PRECEDENCE = False  # a comma would become CROSS JOIN, which forbids SQLite to reorder

    class Generator(_FaithfulGenerator, SQLiteGenerator):
        def identifier_sql(self, expression: exp.Identifier) -> str:
            """ "x" may be a string in SQLite; `x` and [x] never are. So a name keeps its original quote characters."""
            if expression.meta.get(QUOTE) in ("`", "["):
                return "`" + expression.name.replace("`", "``") + "`"
            return super().identifier_sql(expression)

        SUPPORTS_TABLE_ALIAS_COLUMNS = True
        EXCEPT_INTERSECT_SUPPORT_ALL_CLAUSE = True
        TRANSFORMS: ClassVar = {**_without(SQLiteGenerator.TRANSFORMS, exp.Select), **_AS_WRITTEN}


class FaithfulDuckDB(DuckDB):
    to_json_path = _path_as_written

    class Parser(_FaithfulParser, DuckDBParser):
        FUNCTIONS: ClassVar = _AGGREGATES | _ARRAY
        FUNCTION_PARSERS: ClassVar = {
            "CAST": _CAST,
            "TRY_CAST": parser.Parser.FUNCTION_PARSERS["TRY_CAST"],
            "EXTRACT": _EXTRACT,
            "TRIM": _TRIM,
            "SUBSTRING": _SUBSTRING,
            "POSITION": _POSITION,
            "OVERLAY": _OVERLAY,
            "ALL": _quantified(exp.All),
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar = _without(DuckDBParser.NO_PAREN_FUNCTION_PARSERS, "IF")

    class Generator(_FaithfulGenerator, DuckDBGenerator):
        MULTI_ARG_DISTINCT = True
        TRANSFORMS: ClassVar = {**DuckDBGenerator.TRANSFORMS, **_AS_WRITTEN}


class FaithfulPostgres(Postgres):
    to_json_path = _path_as_written

    class Parser(_FaithfulParser, PostgresParser):
        FUNCTIONS: ClassVar = _AGGREGATES | _ARRAY
        FUNCTION_PARSERS: ClassVar = {
            "CAST": _CAST,
            "EXTRACT": _EXTRACT,
            "TRIM": _TRIM,
            "SUBSTRING": _SUBSTRING,
            "POSITION": _POSITION,
            "OVERLAY": _OVERLAY,
            "ALL": _quantified(exp.All),
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar = _without(PostgresParser.NO_PAREN_FUNCTION_PARSERS, "IF")
        JSON_OPERATORS: ClassVar = {
            **PostgresParser.JSON_OPERATORS,
            TokenType.ARROW: lambda self, this, path: self.expression(exp.JSONExtract(this=this, expression=path)),
            TokenType.DARROW: lambda self, this, path: self.expression(
                exp.JSONExtractScalar(this=this, expression=path)
            ),
        }

    class Generator(_FaithfulGenerator, PostgresGenerator):
        MULTI_ARG_DISTINCT = True
        TRANSFORMS: ClassVar = {**PostgresGenerator.TRANSFORMS, **_AS_WRITTEN}


class FaithfulMySQL(MySQL):
    to_json_path = _path_as_written

    class Parser(_FaithfulParser, MySQLParser):
        FUNCTIONS: ClassVar = _AGGREGATES
        FUNCTION_PARSERS: ClassVar = {
            "CAST": _CAST,
            "CONVERT": parser.Parser.FUNCTION_PARSERS["CONVERT"],
            "EXTRACT": _EXTRACT,
            "TRIM": _TRIM,
            "SUBSTRING": _SUBSTRING,
            "SUBSTR": _SUBSTRING,
            "POSITION": _POSITION,
            "GROUP_CONCAT": _when_written("GROUP_CONCAT", frozenset({"SEPARATOR"})),
            "CHAR": _when_written("CHAR", frozenset({"USING"})),
            "JSON_TABLE": parser.Parser.FUNCTION_PARSERS["JSON_TABLE"],
            "MATCH": parser.Parser.FUNCTION_PARSERS["MATCH"],
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar = _without(MySQLParser.NO_PAREN_FUNCTION_PARSERS, "IF")

        PRIMARY_PARSERS: ClassVar = {**MySQLParser.PRIMARY_PARSERS, TokenType.HEX_STRING: _hex_as_written}

    class Generator(_FaithfulGenerator, MySQLGenerator):
        TRANSFORMS: ClassVar = {**MySQLGenerator.TRANSFORMS, **_AS_WRITTEN, exp.RegexpLike: _arrow("REGEXP")}

        def table_sql(self, expression: exp.Table, sep: str = " AS ") -> str:
            if isinstance(expression.this, exp.Identifier) and expression.name.upper() == "DUAL" and not expression.db:
                return "DUAL"
            return super().table_sql(expression, sep)


class FaithfulSpark(Spark):
    to_json_path = _path_as_written

    class Parser(_FaithfulParser, SparkParser):
        FUNCTIONS: ClassVar = _AGGREGATES
        FUNCTION_PARSERS: ClassVar = {
            "CAST": _CAST,
            "TRY_CAST": parser.Parser.FUNCTION_PARSERS["TRY_CAST"],
            "EXTRACT": _EXTRACT,
            "TRIM": _TRIM,
            "SUBSTRING": _SUBSTRING,
            "SUBSTR": _SUBSTRING,
            "POSITION": _POSITION,
            "OVERLAY": _OVERLAY,
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar = _without(SparkParser.NO_PAREN_FUNCTION_PARSERS, "IF")

    class Generator(_FaithfulGenerator, SparkGenerator):
        TRANSFORMS: ClassVar = {**SparkGenerator.TRANSFORMS, **_AS_WRITTEN}


class FaithfulClickHouse(ClickHouse):
    to_json_path = _path_as_written
    SET_OP_DISTINCT_BY_DEFAULT = {exp.Union: True, exp.Except: True, exp.Intersect: True}  # noqa: RUF012
    """The session makes UNION mean UNION DISTINCT; what is sent says so, since a profile may keep us from that."""

    class Parser(_FaithfulParser, ClickHouseParser):
        FUNCTIONS: ClassVar = _AGGREGATES
        FUNCTION_PARSERS: ClassVar = {
            "CAST": _CAST,
            "EXTRACT": _when_written("EXTRACT", frozenset({"FROM"})),
            "TRIM": _TRIM,
            "SUBSTRING": _SUBSTRING,
            "POSITION": _POSITION,
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar = _without(ClickHouseParser.NO_PAREN_FUNCTION_PARSERS, "IF")

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

    class Generator(_FaithfulGenerator, ClickHouseGenerator):
        TRANSFORMS: ClassVar = {**ClickHouseGenerator.TRANSFORMS, **_AS_WRITTEN}

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
            if isinstance(written, str) and _SAFE_TYPE.fullmatch(written):
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
}


@cache
def faithful(dialect: Dialect) -> SqlglotDialect:
    """The faithful sqlglot dialect. Raises KeyError for a name that is not in `eval.schema.Dialect`."""
    return _CLASSES[dialect]()


@with_headroom
def render(tree: exp.Expr, dialect: Dialect, pretty: bool = False) -> str:
    """Write a tree as SQL text, without comments. Raises RecursionError for a tree that is too deep to write."""
    return faithful(dialect).generate(tree, copy=True, pretty=pretty)
