"""Bounds on the size of a statement (its text, its tokens and its tree), so that reading it is always quick.

In: the text, the tokens before the parser sees them, or the tree. Out: None, or the reason for a refusal. The bounds
leave room for what people and programs write (IN lists of 5,000 values, 2,000 columns, a UNION of 500 branches). Within
them, parse, guard, references and facts together take about a second of processor time at worst, and stay within
`HEADROOM`.

sqlglot's parser tries an alternative and backtracks when it fails. Nested constructs that fail late make this
exponential (`date(date(date(…`, joins without ON). `BudgetedParser` counts the tokens it backtracks over and stops at a
limit. Apart from backtracking, the parser is linear in the number of tokens.

The parser and the generator recurse, so their depth limit must not depend on the caller: `with_headroom` calls a
function in the calling thread when enough stack frames are left, and otherwise in a new thread, whose stack is empty.
The verdict is then the same from a script, a test runner or the deepest node of a graph.
"""

from __future__ import annotations

import functools
import math
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import groupby
from typing import ParamSpec, TypeVar

from sqlglot import exp, parser
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import ErrorLevel
from sqlglot.tokenizer_core import Token, TokenType

from eval.errors import Text2SQLError

MAX_CHARACTERS = 100_000
MAX_TOKENS = 12_000
MAX_DEPTH = 27
"""Parentheses, brackets and CASE expressions open at once, with the NOT, +, - and INTERVAL before them."""
MAX_LEVELS = 180
"""Levels of the tree; a chain of binary operators or of set operations counts as one level."""
MAX_JOINS = 100
"""Joins (including commas) in one FROM. SQLite itself accepts 64 tables, MySQL 61."""
MAX_CTES = 100

MAX_GROUPINGS = 1_000
"""Groupings of one GROUP BY. PostgreSQL plans CUBE of 12 columns, 4,096 groupings, for seconds without a break."""

_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})
_PREFIXES = frozenset({TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE, TokenType.INTERVAL})


_CHAINS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.DPipe)
"""Operators that sqlglot reads and writes in a loop, however long a chain of one operator is."""


def text_error(sql: str) -> str | None:
    """The reason why a text is not even tokenized."""
    if not isinstance(sql, str) or not sql.strip():
        return "empty"
    if len(sql) > MAX_CHARACTERS:
        return f"too long: {len(sql):,} characters, at most {MAX_CHARACTERS:,} are read"
    if "\0" in sql:
        return "holds a NUL character"
    try:
        sql.encode("utf-8")
    except UnicodeEncodeError:
        return "is not valid Unicode text (a lone surrogate)"
    return None


def token_error(tokens: list[Token]) -> str | None:
    """The reason why tokens are not parsed: none, several statements, too many, or too deeply nested."""
    statements = sum(written for written, _ in groupby(t.token_type != TokenType.SEMICOLON for t in tokens))
    if statements == 0:
        return "empty"
    if statements > 1:
        return f"several statements ({statements}); exactly one is allowed"
    if len(tokens) > MAX_TOKENS:
        return f"too long: {len(tokens):,} tokens, at most {MAX_TOKENS:,} are read"
    deepest = _depth(tokens)
    if deepest > MAX_DEPTH:
        return f"nested too deeply: {deepest} levels, at most {MAX_DEPTH} are read"
    if _postfix_run(tokens) > MAX_DEPTH:
        return f"nested too deeply: more than {MAX_DEPTH} subscripts in a row"
    return None


def _postfix_run(tokens: list[Token]) -> int:
    """The longest run of `][`; the parser takes time quadratic in its length."""
    longest = run = 0
    before = TokenType.SEMICOLON
    for token in tokens:
        if token.token_type == TokenType.L_BRACKET:
            run = run + 1 if before == TokenType.R_BRACKET else 1
            longest = max(longest, run)
        elif token.token_type in (TokenType.COMMA, TokenType.SELECT):
            run = 0
        before = token.token_type
    return longest


def _depth(tokens: list[Token]) -> int:
    """The constructs that the parser holds open at once; a prefix before an opening stays open as long as that does."""
    deepest, depth, run = 0, 0, 0
    opened: list[int] = []
    for token in tokens:
        kind = token.token_type
        if kind in _PREFIXES:
            run += 1
        elif kind in _OPENING:
            opened.append(run + 1)
            depth, run = depth + run + 1, 0
        else:
            if kind in _CLOSING and opened:
                depth -= opened.pop()
            if kind != TokenType.EXISTS:
                run = 0
        deepest = max(deepest, depth + run)
    return deepest


def _chained(node: exp.Expr, child: exp.Expr) -> bool:
    if isinstance(node, exp.Connector | exp.SetOperation):
        return isinstance(child, exp.Connector if isinstance(node, exp.Connector) else exp.SetOperation)
    return type(node) is type(child) and isinstance(node, _CHAINS)


def tree_error(tree: exp.Expression) -> str | None:
    """The reason why a tree is refused: too many levels, too many joins in one FROM, or too many CTEs."""
    joins: Counter[int] = Counter()
    ctes = 0
    stack: list[tuple[exp.Expr, int, int]] = [(tree, 0, 0)]
    while stack:
        node, level, select = stack.pop()
        if level > MAX_LEVELS:
            return f"nested too deeply: more than {MAX_LEVELS} levels of syntax"
        if isinstance(node, exp.Select):
            select = id(node)
        elif isinstance(node, exp.Join | exp.Lateral):
            joins[select] += 1
        elif isinstance(node, exp.CTE):
            ctes += 1
        elif isinstance(node, exp.Group) and _groupings(node) > MAX_GROUPINGS:
            return f"groups in more than {MAX_GROUPINGS:,} ways; CUBE of n columns makes 2 to the power of n"
        for child in node.iter_expressions():
            chained = child is node.args.get("this") and _chained(node, child)
            stack.append((child, level if chained else level + 1, select))
    most = max(joins.values(), default=0)
    if most > MAX_JOINS:
        return f"too many tables: {most:,} joins in one FROM, at most {MAX_JOINS} are read"
    if ctes > MAX_CTES:
        return f"too many common table expressions: {ctes:,}, at most {MAX_CTES} are read"
    return None


def _groupings(node: exp.Expr) -> int:
    """The number of groupings that ROLLUP, CUBE and GROUPING SETS make together; their product, side by side."""
    if isinstance(node, exp.Cube):
        return int(2 ** min(len(node.expressions), 30))
    if isinstance(node, exp.Rollup):
        return len(node.expressions) + 1
    if isinstance(node, exp.GroupingSets):
        return sum(_groupings(part) for part in node.expressions)
    if not isinstance(node, exp.Group):
        return 1
    made = math.prod(_groupings(part) for part in node.expressions)
    columns = len(node.expressions)  # of WITH CUBE and WITH ROLLUP, which follow them
    return made * (2 ** min(columns, 30) if node.args.get("cube") else columns + 1 if node.args.get("rollup") else 1)


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


HEADROOM = 900
"""Frames that the deepest query within the bounds of `eval.sql.parser` needs, with a margin."""

_P = ParamSpec("_P")
_R = TypeVar("_R")


def with_headroom(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Call a function with at least `HEADROOM` free frames, as far as the recursion limit allows."""

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if _has_headroom():
            return function(*args, **kwargs)
        with ThreadPoolExecutor(1, "eval.sql") as empty:
            return empty.submit(function, *args, **kwargs).result()

    return call


def _has_headroom() -> bool:
    frame = sys._getframe()
    for _ in range(max(sys.getrecursionlimit() - HEADROOM, 0)):
        if frame.f_back is None:
            return True
        frame = frame.f_back
    return False
