"""The dialects as this project reads and writes them: sqlglot's dialects, changed to round-trip faithfully.

sqlglot is built to translate: it turns `IFNULL` into `COALESCE` and `CAST(x AS DATE)` into `DATE(x)`, and it rewrites
JSON paths. Here, the SQL generated from a tree must mean exactly what the original statement meant, for the same
engine. The names of function calls, types and literals therefore stay as they were written. Only operators, the special
forms of the grammar (`CAST`, `EXTRACT(… FROM …)`) and the five basic aggregates become typed nodes.

What a dialect has otherwise than the others is in `_FORMS`. Each is made when it is first used: sqlglot takes 10 to
40 ms for one. No engine of `WRITTEN_DIALECTS` runs in the tests: what is allowed there follows their documentation.
Their units of time (`DATEADD(DAY, 1, d)`) are words of the grammar, not columns: `named_units` says so in the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import new_class
from typing import Any

from sqlglot import exp, generator, parser
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.tokenizer_core import Token, TokenType

from eval.language.lexicon import word_set
from eval.schema import Dialect
from eval.sql.bounds import BudgetedParser, with_headroom

WRITTEN_TYPE = "written_type"
"""Key in a `DataType`'s meta that holds the type as written."""

WRITTEN_PREFIX = "written_prefix"
"""Key in a `HexString`'s meta, set when it was written `0x…`: MySQL reads that as a number in a numeric context."""

QUOTE = "quote"
"""Key in an `Identifier`'s meta: its opening quote character, when that was not a double quote."""

TYPED_LITERAL = "typed_literal"
"""Key in a `Cast`'s meta, set when the cast was written as a typed literal: `DATE '2024-02-29'`."""

_SQLITE_TYPE = re.compile(r"[A-Za-z_][\w ]*(\([\d ,+-]+\))?")
SAFE_TYPE = re.compile(r"""[\w\s(),.\[\]"']+""")


def _aggregate(name: str, node: type[exp.Expression]) -> Callable[[list[Any]], exp.Expression]:
    """A call with one argument becomes the typed aggregate; with any other number it stays a plain call for the checks
    to judge."""

    def build(args: list[Any]) -> exp.Expression:
        if len(args) == 1:
            return node(this=args[0])
        return exp.Anonymous(this=name, expressions=args)

    return build


AGGREGATES: dict[str, Callable[..., Any]] = {
    "COUNT": _aggregate("COUNT", exp.Count),
    "SUM": _aggregate("SUM", exp.Sum),
    "AVG": _aggregate("AVG", exp.Avg),
    "MIN": _aggregate("MIN", exp.Min),
    "MAX": _aggregate("MAX", exp.Max),
}


def when_written(name: str, keywords: frozenset[str]) -> Callable[[Any], Any]:
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


def sqlite_cast(self: Any) -> exp.Expression:
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


def hex_as_written(self: Any, token: Token) -> exp.Expression:
    node: exp.Expression = self.expression(exp.HexString(this=token.text), token)
    if self.sql[token.start : token.start + 2].lower() == "0x":
        node.meta[WRITTEN_PREFIX] = True
    return node


def quantified(node: type[exp.Expression]) -> Callable[[Any], exp.Expression]:
    """`= ALL (array)`. When the operand is a subquery, sqlglot makes the node itself."""

    def parse(self: Any) -> exp.Expression:
        inner = self._parse_select() or self._parse_disjunction()
        return node(this=exp.Paren(this=inner))

    return parse


ARRAY: dict[str, Callable[..., Any]] = {"ARRAY": lambda args: exp.Array(expressions=args)}
SPECIAL_FORMS: dict[str, Callable[..., Any]] = {
    "CAST": parser.Parser.FUNCTION_PARSERS["CAST"],
    "TRY_CAST": parser.Parser.FUNCTION_PARSERS["TRY_CAST"],
    "EXTRACT": parser.Parser.FUNCTION_PARSERS["EXTRACT"],
    "TRIM": when_written("TRIM", frozenset({"LEADING", "TRAILING", "BOTH", "FROM"})),
    "SUBSTRING": when_written("SUBSTRING", frozenset({"FROM", "FOR"})),
    "POSITION": when_written("POSITION", frozenset({"IN"})),
    "OVERLAY": when_written("OVERLAY", frozenset({"PLACING"})),
}
"""The special forms that most servers' grammars have."""


def without(table: dict[Any, Any], *keys: Any) -> dict[Any, Any]:
    return {k: v for k, v in table.items() if k not in keys}


class FaithfulParser(BudgetedParser):
    """The changes shared by all parsers; each dialect mixes it in before sqlglot's own parser."""

    LIMIT_IN_PERCENT = False

    def _warn_unsupported(self) -> None:
        """Emit no warning: the guard refuses what sqlglot could read only as a bare command."""

    def _parse_term(self, parse_mod: bool = True) -> exp.Expr | None:
        """`LIMIT 2 - n % 2` holds a remainder, except where LIMIT may be a percentage."""
        return super()._parse_term(parse_mod or not self.LIMIT_IN_PERCENT)

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


def arrow(operator: str) -> Callable[[Any, Any], str]:
    return lambda self, node: self.binary(node, operator)


class FaithfulGenerator(generator.Generator):
    """Writes SQL as it was read. Function names keep their original case."""

    CAST_OF_DIALECT = False
    """Whether a cast is written by the dialect's own rules."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"normalize_functions": False, "comments": False, **options})

    def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
        if expression.meta.get(TYPED_LITERAL):
            return f"{self.sql(expression, 'to')} {self.sql(expression, 'this')}"
        if self.CAST_OF_DIALECT:
            return super().cast_sql(expression, safe_prefix=safe_prefix)
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
        if expression.this != exp.DType.CHARACTER_SET and isinstance(written, str) and SAFE_TYPE.fullmatch(written):
            return written
        return super().datatype_sql(expression)


def _clock(name: str) -> Callable[[Any, Any], str]:
    return lambda self, node: f"{name}({self.sql(node, 'this')})" if node.args.get("this") else name


AS_WRITTEN: dict[type[exp.Expr], Callable[..., str]] = {
    exp.JSONExtract: arrow("->"),
    exp.JSONExtractScalar: arrow("->>"),
    exp.CurrentDate: _clock("CURRENT_DATE"),
    exp.CurrentTime: _clock("CURRENT_TIME"),
    exp.CurrentTimestamp: _clock("CURRENT_TIMESTAMP"),
    exp.Localtime: _clock("LOCALTIME"),
    exp.Localtimestamp: _clock("LOCALTIMESTAMP"),
}


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
