"""The one parse. In: text and a dialect. Out: a `ParsedQuery`, in every case.

Bounds (`eval.sql.bounds`) are checked on the text and on its tokens before the parser sees them, and on the tree after
it, so that neither a huge nor a deeply nested statement costs time or stack.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from eval.schema import Dialect
from eval.sql.bounds import text_error, token_error, tree_error
from eval.sql.dialects import QUOTE, faithful, render
from eval.sql.stack import with_headroom
from eval.sql.types import ParsedQuery

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@with_headroom
def parse(sql: str, dialect: Dialect) -> ParsedQuery:
    """Parse a text as one statement. Never raises: what stands in the way is the result's `error`."""
    error = text_error(sql)
    if error:
        return ParsedQuery(sql, dialect, None, error)
    language = faithful(dialect)
    try:
        tokens = language.tokenize(sql)
    except TokenError as problem:
        return ParsedQuery(sql, dialect, None, f"cannot be read: {_one_line(str(problem))}")
    except Exception as problem:  # noqa: BLE001 - hostile text must not crash the caller, whatever the tokenizer does
        return ParsedQuery(sql, dialect, None, f"cannot be read: {type(problem).__name__}")
    error = token_error(tokens) or (_comment_error(tokens, sql) if dialect == "mysql" else None)
    if error:
        return ParsedQuery(sql, dialect, None, error)
    tokens = [token for token in tokens if token.token_type != TokenType.SEMICOLON]
    try:
        trees = language.parser().parse(tokens, sql)
    except ParseError as problem:
        return ParsedQuery(sql, dialect, None, _syntax_error(problem))
    except RecursionError:
        return ParsedQuery(sql, dialect, None, "nested too deeply")
    except Exception as problem:  # noqa: BLE001 - see above
        return ParsedQuery(sql, dialect, None, f"syntax error ({type(problem).__name__})")
    if len(trees) != 1 or not isinstance(trees[0], exp.Expression):
        return ParsedQuery(sql, dialect, None, "no statement" if not trees else "several statements")
    error = tree_error(trees[0])
    if error:
        return ParsedQuery(sql, dialect, None, error)
    if dialect == "sqlite" and ("`" in sql or "[" in sql):
        _mark_quotes(trees[0], sql)
    return ParsedQuery(sql, dialect, trees[0])


def _mark_quotes(tree: exp.Expression, sql: str) -> None:
    """Note how names were quoted; the tree itself keeps only that they were."""
    for name in tree.find_all(exp.Identifier):
        start = name.meta.get("start")
        if name.args.get("quoted") and isinstance(start, int) and sql[start] in "`[":
            name.meta[QUOTE] = sql[start]


def parsed_from_tree(tree: exp.Expression, dialect: Dialect) -> ParsedQuery:
    """Wrap a tree that our own code built, so that guard, references and facts read it without a parse."""
    return ParsedQuery(render(tree, dialect), dialect, tree)


_BLOCK_OR_HASH = re.compile(r"/\*.*?\*/|#[^\n]*|--[ \t\r\x0b\x0c][^\n]*|--(?=\n|$)", re.DOTALL)


def _comment_error(tokens: list[Token], sql: str) -> str | None:
    """MySQL runs the text of `/*! … */` and MariaDB of `/*M! … */`; neither reads `--x` as a comment."""
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
