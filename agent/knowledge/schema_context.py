"""Renders a database's structure as text for a model (`schema_context`), with names quoted as SQL needs them, and
estimates the length of texts in tokens.

In: a `Schema`. Out: one block per table, with comments sanitised and shortened. To meet a budget, comments are dropped
first, then types, then columns (of wide tables first), then all non-key columns, then whole tables. The text always
states what was left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from eval.engines import ENGINES
from eval.schema import FOLDS_UPPER, Column, Dialect, ForeignKey, Schema, Table

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
_PLAIN_ANY_CASE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

RESERVED = frozenset(
    """
    add all alter analyse analyze and any array as asc asymmetric attach between both by call cascade case cast change
    character check collate column condition constraint convert create cross cube cume_dist current_catalog
    current_date current_role current_schema current_time current_timestamp current_user database databases declare
    default deferrable delayed delete dense_rank desc describe detach distinct distinctrow div drop each else elseif
    empty end escape except exists explain false fetch first_value for force foreign freeze from full fulltext function
    generated glob grant group grouping groups having if ignore ilike in index initially inner insert int integer
    intersect interval into is isnull iterate join key keys kill lag last_value lateral lead leading leave left like
    limit linear lines load localtime localtimestamp lock loop match mod natural not notnull nth_value ntile null
    numeric of offset on only option optimize or order outer outfile over overlaps partition percent_rank pivot placing
    primary procedure purge qualify range rank read real recursive references regexp release rename repeat replace
    require restrict return returning revoke right rlike row row_number rows schema schemas select separator
    session_user set show similar smallint some spatial sql ssl starting summarize symmetric system table tablesample
    terminated then
    to trailing transaction trigger true undo union unique unlock unpivot unsigned update usage use user using values
    variadic varying verbose view when where while window with within without write xor year_month zerofill
    """.split()  # noqa: SIM905 (a wall of words reads better than a wall of quotes)
)
"""Words that at least one engine refuses or misreads as a bare name. Unnecessary quoting is harmless."""


def quoted_if_needed(name: str, dialect: Dialect) -> str:
    """`name` as SQL text that means exactly this name. PostgreSQL folds bare names to lower case, so capitals are
    quoted there."""
    plain = _PLAIN if dialect == "postgres" else _PLAIN_ANY_CASE
    one_case = dialect not in FOLDS_UPPER or name in (name.lower(), name.upper())
    if plain.match(name) and one_case and name.lower() not in RESERVED:
        return name
    return ENGINES[dialect].quoted(name)


PREVIEW_ROWS = 20
"""Maximum rows of a result that a model sees."""
COMMENT_LENGTH = 120
NAME_LENGTH = 200
TYPE_LENGTH = 60
DEFAULT_BUDGET = 24_000
"""Default budget in tokens: enough for about 2,500 columns."""
BREAK = "\n\n---\n\n"
"""Between the structure and what is told of it for one question; no name or comment spans lines, so none holds it."""
WHOLE = 1_000_000_000
"""A budget that leaves nothing out."""

_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a model's tokenizer makes of `text`, without using a tokenizer.

    A run of ASCII letters and digits counts one token for each 4 characters begun, another visible ASCII character
    one, any other character one; a line break counts one and other white space nothing.
    """
    runs = 0
    lettered = 0
    for word in _ASCII_WORD.finditer(text):
        length = word.end() - word.start()
        lettered += length
        runs += (length + 3) // 4
    rest = len(text) - lettered - text.count(" ") - text.count("\t")
    return runs + rest


def within_budget(texts: Iterable[str], tokens: int, separator: int = 1) -> list[str]:
    """The first texts that fit into `tokens` together, each with `separator` tokens between it and the next."""
    kept: list[str] = []
    for text in texts:
        tokens -= estimate_tokens(text) + separator
        if tokens < 0:
            break
        kept.append(text)
    return kept


def one_line(text: str, longest: int) -> str:
    """`text` on one line: control, format and line-separating characters become spaces; cut with `…` at `longest`."""
    text = text[: longest * 4]
    if not text.isprintable():
        text = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in text)
    return text if len(text) <= longest else text[: max(longest - 1, 0)] + "…"


@dataclass(frozen=True, slots=True)
class Detail:
    """The level of detail. Each step of `_STEPS` shows less than the one before."""

    comments: bool = True
    types: bool = True
    columns: int | None = None
    """Maximum columns of one table besides its keys; None: all."""


FULL = Detail()
_STEPS = (
    FULL,
    Detail(comments=False),
    Detail(comments=False, types=False),
    Detail(comments=False, types=False, columns=60),
    Detail(comments=False, types=False, columns=20),
    Detail(comments=False, types=False, columns=8),
    Detail(comments=False, types=False, columns=0),
)


def schema_context(schema: Schema, *, budget_tokens: int | None = None) -> str:
    """The structure of a database as text, at most `budget_tokens` long by `estimate_tokens` (default 24,000).

    `Table: customers (1,200 rows)`, then one line per column: `  city_id INTEGER -> cities.id nullable`. Views
    say `View:`, keys that were only inferred `~>` in place of `->`, keys over several columns have their own line. The
    same schema always gives the same text, so that a provider's prompt cache can reuse it.
    """
    budget = DEFAULT_BUDGET if budget_tokens is None else max(budget_tokens, 0)
    blocks: list[str] = []
    for detail in _STEPS:
        described = (_block(table, schema.dialect, detail) for table in schema.tables)
        blocks = within_budget(described, budget, separator=2)  # of a wide schema, only what fits is written
        if len(blocks) == len(schema.tables):
            return "\n\n".join(blocks)
    # The first blocks of so many tables, with a note on the rest
    tables = len(schema.tables)
    note = "({} more tables not shown)"
    kept = within_budget(blocks, budget - estimate_tokens(note) - 4, separator=2)
    if len(kept) < tables:
        kept.append(note.format(f"{tables - len(kept):,}"))
    return "\n\n".join(kept)


def _block(table: Table, dialect: Dialect, detail: Detail) -> str:
    lines = [table_heading(table, dialect, detail)]
    single = single_column_keys(table)
    keys = {name.casefold() for key in table.foreign_keys for name in key.columns}
    left = detail.columns
    hidden = 0
    for column in table.columns:
        if left is not None and not column.primary_key and column.name.casefold() not in keys:
            if left == 0:
                hidden += 1
                continue
            left -= 1
        lines.append(column_line(column, table, single.get(column.name.casefold()), dialect, detail))
    if hidden:
        lines.append(f"  ({hidden:,} more columns)")
    lines.extend(key_line(key, dialect) for key in table.foreign_keys if len(key.columns) > 1)
    return "\n".join(lines)


def single_column_keys(table: Table) -> dict[str, ForeignKey]:
    """The foreign keys of one column, by the column's folded name."""
    return {key.columns[0].casefold(): key for key in reversed(table.foreign_keys) if len(key.columns) == 1}


def key_line(key: ForeignKey, dialect: Dialect) -> str:
    """The line of a foreign key over several columns."""
    return f"  FK ({', '.join(shown_name(c, dialect) for c in key.columns)}) {key_target(key, dialect)}"


def qualified_name(table: Table, dialect: Dialect) -> str:
    """The table's name behind its namespace, if it has one."""
    name = shown_name(table.name, dialect)
    return f"{shown_name(table.namespace, dialect)}.{name}" if table.namespace else name


def table_heading(table: Table, dialect: Dialect, detail: Detail = FULL) -> str:
    """The first line of a table's block."""
    heading = f"{'View' if table.kind == 'view' else 'Table'}: {qualified_name(table, dialect)}"
    if table.row_count is not None:
        about = "about " if table.row_count_estimated else ""
        heading += f" ({about}{table.row_count:,} {'row' if table.row_count == 1 else 'rows'})"
    return heading + _comment(table.comment, detail)


def column_line(column: Column, table: Table, key: ForeignKey | None, dialect: Dialect, detail: Detail = FULL) -> str:
    """A column's line; `key`: the single-column foreign key that it forms."""
    facts: list[str] = []
    if detail.types and column.type:
        facts.append(one_line(column.type, TYPE_LENGTH))
    if column.primary_key:
        facts.append("PK")
    if key is not None:
        facts.append(key_target(key, dialect))
    if detail.types and column.nullable and not column.primary_key and table.kind == "table":
        facts.append("nullable")
    return f"  {' '.join((shown_name(column.name, dialect), *facts))}{_comment(column.comment, detail)}"


def key_target(key: ForeignKey, dialect: Dialect) -> str:
    arrow = "~>" if key.inferred else "->"
    table = shown_name(key.ref_table, dialect)
    if len(key.ref_columns) == 1:
        return f"{arrow} {table}.{shown_name(key.ref_columns[0], dialect)}"
    return f"{arrow} {table}({', '.join(shown_name(c, dialect) for c in key.ref_columns)})"


def _comment(comment: str | None, detail: Detail) -> str:
    if not detail.comments or not comment or not comment.strip():
        return ""
    return f" -- {one_line(comment.strip(), COMMENT_LENGTH)}"


@lru_cache(maxsize=16_384)
def shown_name(name: str, dialect: Dialect) -> str:
    """A name, quoted for SQL if needed, on one line, shortened."""
    return one_line(quoted_if_needed(name, dialect), NAME_LENGTH)
