"""Extract the comments of a CREATE TABLE statement as SQLite stores it: the author's notes on the table and its
columns.

In: the statement's text. Out: the table's comment and one for each column that has one. A comment belongs to the column
on whose line it stands or begins; a comment on a line of its own belongs to the column below. A comment before the
column list, or on the line where the list begins, belongs to the table. Nothing here raises: a text that is not such a
statement yields no comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 500
"""Characters kept of a comment."""
_LONGEST_DDL = 200_000

_TOKEN = re.compile(
    r"--(?P<line>[^\n]*)|/\*(?P<block>.*?)(?:\*/|\Z)|(?P<name>\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]|[^\W\d]\w*)"
    r"|'(?:[^']|'')*'|(?P<sign>[(),\n])|.",
    re.DOTALL,
)
_NO_COLUMN = frozenset(("constraint", "primary", "unique", "check", "foreign"))


def ddl_comments(sql: str) -> tuple[str | None, dict[str, str]]:
    """The table's comment, and comments by column name, as spelled in the statement."""
    if len(sql) > _LONGEST_DDL or ("--" not in sql and "/*" not in sql):
        return None, {}
    comments: dict[str, list[str]] = {}
    for owner, text in _owned(sql):
        comments.setdefault(owner, []).append(text)
    joined = {owner: " ".join(texts)[:LONGEST] for owner, texts in comments.items()}
    return joined.pop("", None), joined


def _owned(sql: str) -> Iterator[tuple[str, str]]:
    """Comments with the column that each belongs to; the table's comment has an empty name."""
    depth, current, alone, starting = 0, "", False, True
    above: list[str] = []
    for token in _TOKEN.finditer(sql):
        written = token["line"] if token["line"] is not None else token["block"]
        sign, name = token["sign"], token["name"]
        if written is not None:
            text = " ".join(written.split())
            if text and depth and alone:  # on a line of its own: for the column below
                above.append(text)
            elif text:
                yield current, text
        elif sign == "\n":
            alone = True
        elif not token[0].isspace():
            alone = False
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            if not depth:
                return
        elif sign == "," and depth == 1:
            starting = True
        elif name is not None and depth == 1 and starting:
            starting, current = False, _bare(name)
            if name.lower() in _NO_COLUMN:
                return
            yield from ((current, text) for text in above)
            above.clear()


def _bare(name: str) -> str:
    if name[0] == "[":
        return name[1:-1]
    return name[1:-1].replace(name[0] * 2, name[0]) if name[0] in '"`' else name
