"""PostgreSQL: JSON operators and quantified comparisons as written."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.tokenizer_core import TokenType

from eval.sql.faithful import (
    AGGREGATES,
    ARRAY,
    AS_WRITTEN,
    SPECIAL_FORMS,
    FaithfulGenerator,
    FaithfulParser,
    path_as_written,
    quantified,
    without,
)


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
