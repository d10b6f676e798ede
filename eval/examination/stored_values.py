"""Bounded look-ups of values: is a text that the query compares with a column stored there, and which words of the
question does a column store, though the query looks for them nowhere?

In: a case that ran and its open database.

`stored_constants`, out: one `StoredConstant` for each text compared with `=`, `<>` or IN, at most `MOST` of them. One
statement where all are stored as written, two otherwise; built on the syntax tree and passed by the guard.

`named_values`, out: one `StoredConstant` for each such column, those of the query's tables first. Nothing is sent where
every word has its part in the query. Else the texts of small tables are read once, by one bounded statement a table,
and kept with the database until its data change.
"""

from __future__ import annotations

import re
import threading
import time
from calendar import day_name, month_name
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from sqlglot import exp

from eval.databases.base import Database
from eval.databases.types import CancelToken, DatabaseError, Limits
from eval.language.inflection import light_stem
from eval.language.words import STOPWORDS, akin, name_words, question_words
from eval.schema import Column, Schema, Table
from eval.scoring.types import Case, Place, StoredConstant
from eval.sql import check, parse, parsed_from_tree
from eval.sql.sources import quoted_column, table_source
from eval.sql.types import Constant

MOST = 6
ELSEWHERE = 12
"""Other columns of the query's tables that are looked at."""
ROWS = 100_000
"""Larger tables are not searched: a value that is not there costs a scan."""
_PLACES: tuple[Place, ...] = ("otherwise", "padded", "elsewhere")
LIMITS = Limits(seconds=1.0, rows=1)
_TEXT = ("char", "text", "clob", "string", "enum")


def holds_text(column: Column) -> bool:
    return any(kind in column.type.lower() for kind in _TEXT)


def stored_constants(case: Case, database: Database, cancel: CancelToken | None = None) -> tuple[StoredConstant, ...]:
    """Empty where a table is too large to search, and where the look-up fails or takes too long."""
    if any((t.row_count or 0) > ROWS for t in case.tables_read):
        return ()
    compared = [
        c for c in case.facts.literals if c.is_string and c.table and c.column and c.operator in ("=", "<>", "in")
    ]
    wanted = list(dict.fromkeys(compared))[:MOST]
    if not wanted:
        return ()
    exactly = _answers([_exists(case.schema, c, c.table or "", c.column or "") for c in wanted], database, cancel)
    if exactly is None:
        return ()
    missing = [c for c, is_stored in zip(wanted, exactly, strict=True) if not is_stored]
    questions = [question for constant in missing for question in _elsewhere(case, constant)]
    answers = _answers(questions, database, cancel) if missing else []
    if answers is None:
        return ()
    places = dict(zip(missing, zip(answers[::3], answers[1::3], answers[2::3], strict=True), strict=True))
    return tuple(_stored(c, places.get(c)) for c in wanted)


def _stored(constant: Constant, missing: tuple[bool, bool, bool] | None) -> StoredConstant:
    assert constant.table is not None
    assert constant.column is not None
    place: Place = "exactly"
    if missing is not None:
        place = next((other for other, there in zip(_PLACES, missing, strict=True) if there), "nowhere")
    return StoredConstant(constant.value, constant.table, constant.column, place)


def _elsewhere(case: Case, constant: Constant) -> tuple[exp.Expr, exp.Expr, exp.Expr]:
    """Is it there but for case; but for spaces around it; is it in another text column of the query's tables?"""
    table, column = constant.table or "", constant.column or ""
    others = [
        (t.name, c.name)
        for t in case.tables_read
        for c in t.columns
        if (t.name, c.name) != (table, column) and holds_text(c)
    ][:ELSEWHERE]
    condition: exp.Expr = exp.false()
    for other, name in others:
        condition = exp.or_(condition, _exists(case.schema, constant, other, name))
    folded = _exists(case.schema, constant, table, column, change=exp.Lower)
    return folded, _exists(case.schema, constant, table, column, change=exp.Trim), condition


def _exists(
    schema: Schema, constant: Constant, table: str, column: str, *, change: type[exp.Func] | None = None
) -> exp.Expr:
    source = table_source(schema.table(table) or Table(table, ()))
    cell: exp.Expr = quoted_column(column)
    value: exp.Expr = exp.Literal.string(constant.value)
    if change is not None:
        cell = change(this=cell)
        value = change(this=value) if change is exp.Lower else value
    found = exp.Where(this=exp.EQ(this=cell, expression=value))
    one = exp.Literal.number(1)
    inner = exp.Select(expressions=[one], from_=exp.From(this=source), where=found)
    inner.set("limit", exp.Limit(expression=one.copy()))
    return exp.Exists(this=inner)


def _answers(questions: list[exp.Expr], database: Database, cancel: CancelToken | None) -> list[bool] | None:
    named = [exp.Alias(this=q, alias=exp.to_identifier(f"q{i}")) for i, q in enumerate(questions)]
    tree = exp.Select(expressions=named)
    if tree.find(exp.Trim, exp.Lower) is not None:  # the guard knows a function by how it was written
        statement = check(parse(tree.sql(database.dialect), database.dialect)).statement
    else:
        statement = check(parsed_from_tree(tree, database.dialect)).statement
    result = database.execute(statement, limits=LIMITS, cancel=cancel) if statement is not None else None
    if result is None or not result.ok or not result.rows:
        return None
    return [bool(cell) for cell in result.rows[0]]


COLUMNS = 12
"""Text columns of one table that are read."""
NAMED_ROWS = 20_000
"""Larger tables are not read."""
LONGEST_TEXT = 80
"""Characters; a longer text is no value that a question names."""
TABLES = 64
"""Tables of one database whose texts are kept."""
TABLES_READ = 24
"""Tables of a database up to which those that the query does not read are looked into as well."""
PHRASES = 150
"""Runs of words that are looked for."""
SECONDS = 60.0
"""How long kept texts are trusted before the database is asked whether its data changed: a server answers that by a
statement of its own."""
NAMED_LIMITS = Limits(seconds=0.5, rows=NAMED_ROWS, bytes=8 * 1024 * 1024)
_WORD = re.compile(r"[^\W_]+(?:[-'’./&][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.?!;:]\s")
"""What follows the first sentence explains how to answer it."""
_ASIDE = re.compile(r"\([^()]*\)")
_INCLUDED = re.compile(
    r"\b(?:included|includes?|including|too|counts?|regardless|whether|like|form|format)\b", re.IGNORECASE
)
"""Words beside which a value may be named without being a condition."""
_CALENDAR = frozenset(name.casefold() for name in (*month_name, *day_name) if name)
_LONGEST = 5
"""Words of one phrase: one at least names something, and between them may be others (`Gone with the Wind`)."""
Texts = Mapping[str, Mapping[str, str]]
"""By column, its texts by what they are when case is ignored."""


@dataclass(slots=True)
class _Kept:
    """What was read of one database."""

    version: str
    checked: float
    tables: dict[tuple[str | None, str, tuple[str, ...]], Texts] = field(default_factory=dict)


_kept: WeakKeyDictionary[Database, _Kept] = WeakKeyDictionary()
_lock = threading.Lock()


def named_values(case: Case, database: Database, cancel: CancelToken | None = None) -> tuple[StoredConstant, ...]:
    """Empty where nothing is left to look for, where the tables are too large, and where they cannot be read."""
    own = case.tables_read
    others = [t for t in case.schema.tables if t not in own] if len(case.schema.tables) <= TABLES_READ else []
    tables = [t for t in (*own, *others) if (t.row_count or 0) <= NAMED_ROWS and _text_columns(t)]
    phrases = _phrases(case)[:PHRASES] if tables else ()
    if not phrases:
        return ()
    spellings = list(dict.fromkeys(s for p in phrases for s in (p.casefold(), p.casefold().removesuffix("s"))))
    kept = _trusted(database)
    return tuple(_found(tables, spellings, kept, database, cancel)) if kept is not None else ()


def _found(
    tables: list[Table], spellings: list[str], kept: _Kept, database: Database, cancel: CancelToken | None
) -> Iterator[StoredConstant]:
    """A column that stores one text only is left out: a condition on it would change nothing."""
    for table in tables:
        for column, texts in _texts(table, kept, database, cancel).items():
            value = next((texts[s] for s in spellings if s in texts), None)
            if value is not None and len(texts) > 1:
                yield StoredConstant(value, table.name, column, "exactly", len(texts))


def _trusted(database: Database) -> _Kept | None:
    """What is kept of a database whose data did not change; None where it cannot say."""
    with _lock:
        kept = _kept.get(database)
    now = time.monotonic()
    if kept is not None and now - kept.checked < SECONDS:
        return kept
    try:
        version = database.data_version()
    except DatabaseError:
        return None
    if kept is None or kept.version != version:
        kept = _Kept(version, now)
    kept.checked = now
    with _lock:
        _kept[database] = kept
    return kept


def _texts(table: Table, kept: _Kept, database: Database, cancel: CancelToken | None) -> Texts:
    """A statement that was cancelled says nothing of the table; one that failed or was too slow is not sent again."""
    columns = _text_columns(table)
    key = (table.namespace, table.name, columns)
    known = kept.tables.get(key)
    if known is not None:
        return known
    tree = exp.select(*map(quoted_column, columns), copy=False).from_(table_source(table), copy=False)
    statement = check(parsed_from_tree(tree.limit(NAMED_ROWS, copy=False), database.dialect)).statement
    result = database.execute(statement, limits=NAMED_LIMITS, cancel=cancel) if statement is not None else None
    if cancel is not None and cancel.cancelled:
        return {}
    rows = result.rows if result is not None and result.ok else ()
    cells = zip(*rows, strict=True) if rows else ()
    found: Texts = {
        column: {t.casefold(): t for t in {t for t in some if isinstance(t, str)} if len(t) <= LONGEST_TEXT}
        for column, some in zip(columns, cells, strict=False)
    }
    if len(kept.tables) < TABLES:
        kept.tables[key] = found
    return found


def _text_columns(table: Table) -> tuple[str, ...]:
    return tuple(c.name for c in table.columns if holds_text(c))[:COLUMNS]


def _phrases(case: Case) -> list[str]:
    """Runs of words of which none has a part in the query, longest first."""
    names = [*(t.name for t in case.tables_read), *(column for _, column in case.references.columns)]
    known = {w for n in names for w in name_words(n)}
    known |= {w for c in case.facts.literals for w in question_words(c.value)}
    asked = _SENTENCE_END.split(_ASIDE.sub(" ", case.question[:2_000]), maxsplit=1)[0]
    words = [] if _INCLUDED.search(asked) else _WORD.findall(asked)
    free = [_free(w, known) for w in words]
    loose = [f or w.casefold() in STOPWORDS for f, w in zip(free, words, strict=True)]
    runs = [
        " ".join(words[i : i + n])
        for n in range(_LONGEST, 0, -1)
        for i in range(len(words) - n + 1)
        if all(loose[i : i + n]) and any(free[i : i + n])
    ]
    return runs if len(runs) <= PHRASES else [r for r in runs if r != r.lower()]


def _free(word: str, known: set[str]) -> bool:
    stem = light_stem(word.casefold())
    if word[0].isdecimal() or word.casefold() in _CALENDAR:
        return False  # a date may be written in many ways
    return (
        (len(word) > 2 or word.isupper()) and word.casefold() not in STOPWORDS and not any(akin(stem, k) for k in known)
    )
