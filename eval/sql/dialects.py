"""The dialects as this project reads and writes them: sqlglot's dialects, changed to round-trip faithfully.

What they share, and why, is in `faithful`; what one has otherwise is in `_FORMS`. Each is made when it is first used:
sqlglot takes 10 to 40 ms for one. No engine of `WRITTEN_DIALECTS` runs in the tests: what is allowed there follows
their documentation. Their units of time (`DATEADD(DAY, 1, d)`) are words of the grammar, not columns: `named_units`
says so in the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import new_class
from typing import Any

from sqlglot import exp, generator, parser
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.tokenizer_core import TokenType

from eval.language.lexicon import word_set
from eval.schema import Dialect
from eval.sql.bounds import with_headroom
from eval.sql.faithful import (
    AGGREGATES,
    ARRAY,
    AS_WRITTEN,
    QUOTE,
    SPECIAL_FORMS,
    FaithfulGenerator,
    FaithfulParser,
    arrow,
    hex_as_written,
    quantified,
    sqlite_cast,
    when_written,
    without,
)


class _SQLiteParser(FaithfulParser):
    ADD_JOIN_ON_TRUE = False
    JOINS_HAVE_EQUAL_PRECEDENCE = False  # a comma would become CROSS JOIN, which forbids SQLite to reorder


class _SQLiteGenerator(FaithfulGenerator):
    SUPPORTS_TABLE_ALIAS_COLUMNS = True
    EXCEPT_INTERSECT_SUPPORT_ALL_CLAUSE = True

    def identifier_sql(self, expression: exp.Identifier) -> str:
        """ "x" may be a string in SQLite; `x` and [x] never are. So a name keeps its original quote characters."""
        if expression.meta.get(QUOTE) in ("`", "["):
            return "`" + expression.name.replace("`", "``") + "`"
        return super().identifier_sql(expression)


class _DuckDBParser(FaithfulParser):
    LIMIT_IN_PERCENT = True


class _SeveralInDistinct(FaithfulGenerator):
    MULTI_ARG_DISTINCT = True


class _MySQLGenerator(FaithfulGenerator):
    def table_sql(self, expression: exp.Table, sep: str = " AS ") -> str:
        if isinstance(expression.this, exp.Identifier) and expression.name.upper() == "DUAL" and not expression.db:
            return "DUAL"
        return super().table_sql(expression, sep)


class _ClickHouseParser(FaithfulParser):
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


class _ClickHouseGenerator(FaithfulGenerator):
    CAST_OF_DIALECT = True

    def eq_sql(self, expression: exp.EQ) -> str:
        return self.binary(expression, "=")

    def neq_sql(self, expression: exp.NEQ) -> str:
        return self.binary(expression, "<>")

    def set_operation(self, expression: exp.SetOperation) -> str:
        written = super().set_operation(expression)
        name = expression.key.upper()
        return written if written.startswith(f"{name} ALL") else written.replace(name, f"{name} DISTINCT", 1)


@dataclass(frozen=True)
class _Form:
    """What a dialect has otherwise than the others."""

    functions: dict[str, Any] = field(default_factory=lambda: AGGREGATES)
    forms: dict[str, Any] = field(default_factory=lambda: SPECIAL_FORMS)
    as_written: dict[type[exp.Expr], Any] = field(default_factory=lambda: AS_WRITTEN)
    parser: type[FaithfulParser] = FaithfulParser
    generator: type[FaithfulGenerator] = FaithfulGenerator
    changed_tables: dict[str, Any] = field(default_factory=dict)
    """Entries of tables of the parser."""
    plain_words: tuple[str, ...] = ("IF",)
    """Words that begin no special form without parentheses: `IF(a, b, c)` is a plain call in every dialect."""
    untransformed: tuple[type[exp.Expr], ...] = ()
    """What is written without sqlglot's changes."""
    attributes: dict[str, Any] = field(default_factory=dict)
    """Of the dialect itself."""


def _operator(node: type[exp.Expr]) -> Callable[[Any, Any, Any], exp.Expr]:
    return lambda self, this, path: self.expression(node(this=this, expression=path))


_ARRAYS = AGGREGATES | ARRAY
_FORMS: dict[Dialect, _Form] = {
    "sqlite": _Form(
        forms={"CAST": sqlite_cast},
        parser=_SQLiteParser,
        generator=_SQLiteGenerator,
        plain_words=("IF", "ANY"),
        untransformed=(exp.Select,),
    ),
    "duckdb": _Form(
        functions=_ARRAYS,
        forms={**SPECIAL_FORMS, "ALL": quantified(exp.All)},
        parser=_DuckDBParser,
        generator=_SeveralInDistinct,
    ),
    "postgres": _Form(
        functions=_ARRAYS,
        forms={**without(SPECIAL_FORMS, "TRY_CAST"), "ALL": quantified(exp.All)},
        generator=_SeveralInDistinct,
        changed_tables={
            "JSON_OPERATORS": {
                TokenType.ARROW: _operator(exp.JSONExtract),
                TokenType.DARROW: _operator(exp.JSONExtractScalar),
            }
        },
    ),
    "mysql": _Form(
        forms={
            **without(SPECIAL_FORMS, "TRY_CAST", "OVERLAY"),
            "SUBSTR": SPECIAL_FORMS["SUBSTRING"],
            "GROUP_CONCAT": when_written("GROUP_CONCAT", frozenset({"SEPARATOR"})),
            "CHAR": when_written("CHAR", frozenset({"USING"})),
            **{name: parser.Parser.FUNCTION_PARSERS[name] for name in ("CONVERT", "JSON_TABLE", "MATCH")},
        },
        as_written={**AS_WRITTEN, exp.RegexpLike: arrow("REGEXP")},
        generator=_MySQLGenerator,
        changed_tables={"PRIMARY_PARSERS": {TokenType.HEX_STRING: hex_as_written}},
    ),
    "spark": _Form(forms={**SPECIAL_FORMS, "SUBSTR": SPECIAL_FORMS["SUBSTRING"]}),
    "clickhouse": _Form(
        forms={
            **without(SPECIAL_FORMS, "TRY_CAST", "OVERLAY"),
            "EXTRACT": when_written("EXTRACT", frozenset({"FROM"})),
        },
        parser=_ClickHouseParser,
        generator=_ClickHouseGenerator,
        # the session makes UNION mean UNION DISTINCT; what is sent says so, since a profile may keep us from that
        attributes={"SET_OP_DISTINCT_BY_DEFAULT": dict.fromkeys((exp.Union, exp.Except, exp.Intersect), True)},
    ),
    "snowflake": _Form(),
    "bigquery": _Form(forms={**SPECIAL_FORMS, "SAFE_CAST": parser.Parser.FUNCTION_PARSERS["SAFE_CAST"]}),
    "redshift": _Form(functions=_ARRAYS),
    "databricks": _Form(),
    "trino": _Form(functions=_ARRAYS),
    "tsql": _Form(
        forms=without(SPECIAL_FORMS, "EXTRACT", "POSITION", "OVERLAY"), as_written=without(AS_WRITTEN, exp.CurrentDate)
    ),
    "oracle": _Form(
        forms=without(SPECIAL_FORMS, "POSITION", "OVERLAY", "SUBSTRING"),
        as_written=without(AS_WRITTEN, exp.CurrentTimestamp),
    ),
}


@cache
def faithful(dialect: Dialect) -> SqlglotDialect:
    """The faithful sqlglot dialect. Raises KeyError for a name that is not in `eval.schema.Dialect`."""
    form = _FORMS[dialect]
    base = SqlglotDialect.get_or_raise(dialect).__class__
    reads: type[parser.Parser] = base.parser_class
    writes: type[generator.Generator] = base.generator_class
    reading: dict[str, Any] = {
        "FUNCTIONS": form.functions,
        "FUNCTION_PARSERS": form.forms,
        "NO_PAREN_FUNCTION_PARSERS": without(reads.NO_PAREN_FUNCTION_PARSERS, *form.plain_words),
        **{name: {**getattr(reads, name), **entries} for name, entries in form.changed_tables.items()},
    }
    writing = {"TRANSFORMS": {**without(writes.TRANSFORMS, *form.untransformed), **form.as_written}}
    attributes = {
        "to_json_path": lambda _, path: path,  # a JSON path stays the string that was written
        "Parser": new_class("Parser", (form.parser, reads), exec_body=lambda body: body.update(reading)),
        "Generator": new_class("Generator", (form.generator, writes), exec_body=lambda body: body.update(writing)),
        **form.attributes,
    }
    made: SqlglotDialect = new_class(f"Faithful{base.__name__}", (base,), exec_body=lambda b: b.update(attributes))()
    return made


@with_headroom
def render(tree: exp.Expr, dialect: Dialect, pretty: bool = False) -> str:
    """Write a tree as SQL text, without comments. Raises RecursionError for a tree that is too deep to write."""
    return faithful(dialect).generate(tree, copy=True, pretty=pretty)


_UNITS = word_set(
    """
    year years yy yyyy quarter quarters qq q month months mm m week weeks wk ww isoweek iso_week isoyear day days dd d
    dayofyear dy y weekday dw dow doy dayofweek hour hours hh minute minutes mi n second seconds ss s
    millisecond milliseconds ms microsecond microseconds mcs nanosecond ns decade century epoch date time
    """
)
_TAKES_UNIT = ("date", "time", "add", "diff", "trunc", "part", "last_day", "extract", "slice", "bucket")


def named_units(tree: exp.Expression) -> None:
    """Make the units among the arguments of date functions words instead of columns. Changes the tree."""
    for call in list(tree.find_all(exp.Anonymous)):
        if any(part in call.name.lower() for part in _TAKES_UNIT):
            for argument in list(call.expressions):
                name = argument.this if isinstance(argument, exp.Column) and not argument.args.get("table") else None
                bare = isinstance(name, exp.Identifier) and not name.args.get("quoted")
                if bare and argument.name.lower() in _UNITS:
                    argument.replace(exp.Var(this=argument.name))
