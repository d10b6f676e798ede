"""The only parser entry point. In: text and a dialect. Out: always a `ParsedQuery`.

The bounds (`eval.sql.bounds`) are checked three times: on the text, on its tokens before the parser sees them, and on
the finished tree. The parser itself works within a budget (`eval.sql.bounds`). No text can therefore cost much
time or stack. Everything that comes from outside is parsed here: statements, and also types and texts that are only
compared.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from eval.errors import Text2SQLError
from eval.schema import WRITTEN_DIALECTS, Dialect
from eval.sql.bounds import ParseBudgetExceeded, budgeted_parser, text_error, token_error, tree_error, with_headroom
from eval.sql.dialects import QUOTE, faithful, named_units, render
from eval.sql.types import ParsedQuery

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class _Unreadable(Text2SQLError):
    """The reason why a text has no tree."""


@with_headroom
def parse(sql: str, dialect: Dialect) -> ParsedQuery:
    """Parse a text as one statement. Never raises: a text that cannot be parsed carries the reason in `error`."""
    try:
        tree = _statement(sql, dialect, faithful(dialect))
    except _Unreadable as problem:
        return ParsedQuery(sql, dialect, None, str(problem))
    if dialect == "sqlite" and ("`" in sql or "[" in sql):
        # Record how names were quoted; the tree records only that they were
        for name in tree.find_all(exp.Identifier):
            start = name.meta.get("start")
            if name.args.get("quoted") and isinstance(start, int) and sql[start] in "`[":
                name.meta[QUOTE] = sql[start]
    if dialect in WRITTEN_DIALECTS:
        named_units(tree)
    return ParsedQuery(sql, dialect, tree)


@with_headroom
def parse_normalized(sql: str, dialect: Dialect) -> exp.Expression | None:
    """Parse a statement with sqlglot's own dialect, which has one spelling for each function and type, to compare
    texts. None when the text is not exactly one statement. Never run this tree: it may mean something else."""
    try:
        return _statement(sql, dialect, SqlglotDialect.get_or_raise(dialect))
    except _Unreadable:
        return None


@with_headroom
def parse_type(text: str, dialect: Dialect) -> exp.DataType | None:
    """The data type at the start of a text (`INTEGER PRIMARY KEY`), as sqlglot's own dialect reads it; None when the
    text does not start with a type."""
    try:
        tree = _tree(text, dialect, SqlglotDialect.get_or_raise(dialect), exp.DataType)
    except _Unreadable:
        return None
    return tree if isinstance(tree, exp.DataType) and tree.find(exp.Func, exp.Query) is None else None


def _statement(sql: str, dialect: Dialect, language: SqlglotDialect) -> exp.Expression:
    tree = _tree(sql, dialect, language, None)
    error = tree_error(tree)
    if error:
        raise _Unreadable(error)
    if _NOT.search(sql):
        # `NOT LIKE` as NOT of LIKE, which sqlglot has in one node in most dialects. `IS NOT NULL` stays: of
        # PostgreSQL's rows it says something else than NOT of `IS NULL`.
        for node in [node for node in tree.find_all(exp.Like, exp.ILike) if node.args.get("negate")]:
            node.set("negate", None)
            whole = node.parent if isinstance(node.parent, exp.Escape) else node
            whole.replace(exp.Not(this=whole.copy()))
    return tree


_NOT = re.compile(r"\bnot\b", re.IGNORECASE)


def _tree(sql: str, dialect: Dialect, language: SqlglotDialect, kind: type[exp.Expression] | None) -> exp.Expression:
    """Parse within the bounds. Raises `_Unreadable` for anything but exactly one statement (or one `kind`)."""
    tokens = _tokens(sql, dialect, language)
    parser = budgeted_parser(language, None if kind is None else ErrorLevel.IGNORE)
    try:
        trees = parser.parse(tokens, sql) if kind is None else parser.parse_into(kind, tokens, sql)
    except ParseError as problem:
        raise _Unreadable(_syntax_error(problem)) from None
    except ParseBudgetExceeded as problem:
        raise _Unreadable(str(problem)) from None
    except RecursionError:
        raise _Unreadable("nested too deeply") from None
    except Exception as problem:  # noqa: BLE001 - hostile text must not crash the caller, whatever the parser does
        raise _Unreadable(f"syntax error ({type(problem).__name__})") from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Expression):
        raise _Unreadable("no statement" if not trees else "several statements")
    return trees[0]


def _tokens(sql: str, dialect: Dialect, language: SqlglotDialect) -> list[Token]:
    error = text_error(sql)
    if error:
        raise _Unreadable(error)
    try:
        tokens = language.tokenize(sql)
    except TokenError as problem:
        raise _Unreadable(f"cannot be read: {_one_line(str(problem))}") from None
    except Exception as problem:  # noqa: BLE001 - see `_tree`
        raise _Unreadable(f"cannot be read: {type(problem).__name__}") from None
    error = token_error(tokens) or (_comment_error(tokens, sql) if dialect == "mysql" else None)
    if error:
        raise _Unreadable(error)
    return [token for token in tokens if token.token_type != TokenType.SEMICOLON]


def parsed_from_tree(tree: exp.Expression, dialect: Dialect) -> ParsedQuery:
    """Wrap a tree that our own code built, so that guard, references and facts read it without a parse."""
    return ParsedQuery(render(tree, dialect), dialect, tree, generated=True)


_BLOCK_OR_HASH = re.compile(r"/\*.*?\*/|#[^\n]*|--[ \t\r\x0b\x0c][^\n]*|--(?=\n|$)", re.DOTALL)


def _comment_error(tokens: list[Token], sql: str) -> str | None:
    """MySQL runs the text of `/*! … */` and MariaDB that of `/*M! … */`; neither reads `--x` as a comment."""
    end = 0
    for start, stop in [*((t.start, t.end) for t in tokens), (len(sql), len(sql))]:
        gap = sql[end:start]
        end = stop + 1
        if "/*!" in gap or "/*M!" in gap or "/*m!" in gap:
            return "holds a comment whose text MySQL executes (/*! ... */)"
        if "--" in gap and "--" in _BLOCK_OR_HASH.sub(" ", gap):
            return "holds `--` without a space after it, which MySQL does not read as a comment"
    return None


def _syntax_error(problem: ParseError) -> str:
    if not problem.errors:
        return f"syntax error: {_one_line(str(problem))}"
    first = problem.errors[0]
    near = first.get("highlight") or ""
    text = f"syntax error at line {first.get('line')}, column {first.get('col')}"
    if near:
        text += f", near {near[:60]!r}"
    description = _one_line(str(first.get("description") or ""))
    return f"{text}: {description}" if description else text


def _one_line(text: str) -> str:
    return " ".join(_ANSI.sub("", text).split())[:300]
