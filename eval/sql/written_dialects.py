"""The dialects that are written and checked here and run elsewhere, read as faithfully as the others (`dialects`).

No engine of these runs in the tests: what is allowed follows their documentation. Units of time (`DATEADD(DAY, 1, d)`)
are words of the grammar, not columns: `named_units` says so in the tree.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp, parser
from sqlglot.dialects.dialect import Dialect as SqlglotDialect

from eval.language.lexicon import word_set
from eval.schema import Dialect
from eval.sql.faithful import AGGREGATES, ARRAY, AS_WRITTEN, SPECIAL_FORMS, faithful_form, without

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
    return faithful_form(SqlglotDialect.get_or_raise(dialect).__class__, **_CHANGES.get(dialect, {}))()
