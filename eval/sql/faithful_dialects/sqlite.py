"""SQLite: names keep the quotes that they were written in, and joins their order."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.generators.sqlite import SQLiteGenerator
from sqlglot.parsers.sqlite import SQLiteParser

from eval.sql.faithful import (
    AS_WRITTEN,
    QUOTE,
    FaithfulGenerator,
    FaithfulParser,
    path_as_written,
    sqlite_cast,
    without,
)


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
