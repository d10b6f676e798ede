"""MySQL and MariaDB: special forms only where their keywords are, hexadecimal numbers and DUAL as written."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp, parser
from sqlglot.dialects.mysql import MySQL
from sqlglot.generators.mysql import MySQLGenerator
from sqlglot.parsers.mysql import MySQLParser
from sqlglot.tokenizer_core import TokenType

from eval.sql.faithful import (
    AS_WRITTEN,
    SPECIAL_FORMS,
    FaithfulGenerator,
    FaithfulParser,
    arrow,
    hex_as_written,
    path_as_written,
    when_written,
    without,
)


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
