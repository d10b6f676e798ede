"""A limit on the work of one parse, so that no text can keep the parser busy.

sqlglot's parser tries an alternative and backtracks when it fails. Nested constructs that fail late make this
exponential (`date(date(date(…`, joins without ON). `BudgetedParser` counts the tokens it backtracks over and stops at a
limit. Apart from backtracking, the parser is linear in the number of tokens.
"""

from __future__ import annotations

from functools import cache

from sqlglot import parser
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import ErrorLevel

from eval.errors import Text2SQLError

REREAD_TOKENS = 4_000
"""Tokens that a parse may read again, in addition to reading each token once. 7,700 gold queries needed at most 89."""


class ParseBudgetExceeded(Text2SQLError):
    """The parser backtracked over too many tokens. Not a `ParseError`, because the parser catches that itself and goes
    on."""

    def __init__(self) -> None:
        super().__init__("nested in a way that takes too long to read")


class BudgetedParser(parser.Parser):
    """Mixed in before a dialect's parser; raises `ParseBudgetExceeded`."""

    def reset(self) -> None:
        super().reset()
        self._reread = 0

    def _retreat(self, index: int) -> None:
        if index < self._index:
            self._reread += self._index - index
            if self._reread > REREAD_TOKENS + self._tokens_size:
                raise ParseBudgetExceeded
        super()._retreat(index)


@cache
def _budgeted_class(parser_class: type[parser.Parser]) -> type[parser.Parser]:
    if issubclass(parser_class, BudgetedParser):
        return parser_class
    return type(f"Budgeted{parser_class.__name__}", (BudgetedParser, parser_class), {})


def budgeted_parser(dialect: SqlglotDialect, error_level: ErrorLevel | None = None) -> parser.Parser:
    return _budgeted_class(dialect.parser_class)(error_level=error_level, dialect=dialect)
