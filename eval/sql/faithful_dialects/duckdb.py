"""DuckDB: quantified comparisons and aggregates as written."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.generators.duckdb import DuckDBGenerator
from sqlglot.parsers.duckdb import DuckDBParser

from eval.sql.faithful import (
    AGGREGATES,
    ARRAY,
    AS_WRITTEN,
    SPECIAL_FORMS,
    FaithfulGenerator,
    FaithfulParser,
    path_as_written,
    quantified,
)


class FaithfulDuckDB(DuckDB):
    to_json_path = path_as_written

    class Parser(FaithfulParser, DuckDBParser):
        LIMIT_IN_PERCENT = True
        FUNCTIONS: ClassVar = AGGREGATES | ARRAY
        FUNCTION_PARSERS: ClassVar = {**SPECIAL_FORMS, "ALL": quantified(exp.All)}

    class Generator(FaithfulGenerator, DuckDBGenerator):
        MULTI_ARG_DISTINCT = True
        TRANSFORMS: ClassVar = {**DuckDBGenerator.TRANSFORMS, **AS_WRITTEN}
