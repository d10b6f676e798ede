"""ClickHouse: calls with parameters, types and comparisons as written; UNION says that it means DISTINCT."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.clickhouse import ClickHouse
from sqlglot.generators.clickhouse import ClickHouseGenerator
from sqlglot.parsers.clickhouse import ClickHouseParser

from eval.sql.faithful import (
    AS_WRITTEN,
    SPECIAL_FORMS,
    TYPED_LITERAL,
    FaithfulGenerator,
    FaithfulParser,
    path_as_written,
    when_written,
    without,
)


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

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            if expression.meta.get(TYPED_LITERAL):
                return f"{self.sql(expression, 'to')} {self.sql(expression, 'this')}"
            return ClickHouseGenerator.cast_sql(self, expression, safe_prefix=safe_prefix)
