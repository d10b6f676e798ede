"""The dialects that are written and checked here and run elsewhere, read as faithfully as the others (`dialects`).

No engine of these runs in the tests: what is allowed follows their documentation. Units of time (`DATEADD(DAY, 1, d)`)
are words of the grammar, not columns: `named_units` says so in the tree.
"""

from __future__ import annotations

from types import new_class
from typing import Any, ClassVar

from sqlglot import exp, parser
from sqlglot.dialects.dialect import Dialect as SqlglotDialect

from eval.language.lexicon import word_set
from eval.schema import Dialect
from eval.sql.faithful import (
    AGGREGATES,
    ARRAY,
    AS_WRITTEN,
    SPECIAL_FORMS,
    FaithfulGenerator,
    FaithfulParser,
    path_as_written,
    without,
)

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


def _faithful(
    dialect: type[SqlglotDialect],
    *,
    functions: dict[str, Any] = AGGREGATES,
    forms: dict[str, Any] = SPECIAL_FORMS,
    as_written: dict[type[exp.Expr], Any] = AS_WRITTEN,
) -> type[SqlglotDialect]:
    """The dialect with a parser and a generator that keep a statement as it was written."""

    class Parser(FaithfulParser, dialect.parser_class):  # type: ignore[misc, name-defined]
        FUNCTIONS = functions
        FUNCTION_PARSERS = forms

    class Generator(FaithfulGenerator, dialect.generator_class):  # type: ignore[misc, name-defined]
        TRANSFORMS: ClassVar = {**dialect.generator_class.TRANSFORMS, **as_written}

    attributes = {"to_json_path": path_as_written, "Parser": Parser, "Generator": Generator}
    return new_class(f"Faithful{dialect.__name__}", (dialect,), exec_body=lambda body: body.update(attributes))


_CHANGES: dict[Dialect, dict[str, Any]] = {
    "bigquery": {"forms": {**SPECIAL_FORMS, "SAFE_CAST": parser.Parser.FUNCTION_PARSERS["SAFE_CAST"]}},
    "redshift": {"functions": AGGREGATES | ARRAY},
    "trino": {"functions": AGGREGATES | ARRAY},
    "tsql": {
        "forms": without(SPECIAL_FORMS, "EXTRACT", "POSITION", "OVERLAY"),
        "as_written": without(AS_WRITTEN, exp.CurrentDate),
    },
    "oracle": {
        "forms": without(SPECIAL_FORMS, "POSITION", "OVERLAY", "SUBSTRING"),
        "as_written": without(AS_WRITTEN, exp.CurrentTimestamp),
    },
}
"""What a dialect has otherwise than the others."""


def written_dialect(dialect: Dialect) -> SqlglotDialect:
    """The faithful form of sqlglot's dialect of this name."""
    return _faithful(SqlglotDialect.get_or_raise(dialect).__class__, **_CHANGES.get(dialect, {}))()
