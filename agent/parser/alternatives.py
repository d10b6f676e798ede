"""Suggestions for a question that the engine cannot read: similar questions that it can answer.

In: a question with its draft, and the words not understood. Out: up to three questions in plain words, each of which
the engine has verified that it can answer. Nearest first: the question without the words not understood, its best guess
in the database's own words, then questions about the columns and tables that it names.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.flags import is_flag
from agent.parser.interpretation import CALLED, Condition, Expression
from agent.parser.measures import AVERAGED
from agent.parser.question import LinkedQuestion
from agent.parser.state import Draft
from eval.language.lexicon import FUNCTION_WORDS, word_set

_OFFERED = 3
_TRIED = 12
"""The most candidates that are read: each costs a reading."""
_KINDS = 15
"""A text column with at most this many distinct values divides its rows into kinds."""
_STRANDED = FUNCTION_WORDS - word_set("all no not")
_TOTALLED = word_set("amount total price cost fee revenue value quantity hour distance weight")
"""Words of columns whose numbers people add up."""


def rephrasings(
    q: LinkedQuestion, draft: Draft, unread: tuple[str, ...], answerable: Callable[[str], bool]
) -> tuple[str, ...]:
    """Answerable questions about the things that the question names, nearest first."""
    asked = " ".join(t.text for t in q.tokens).casefold().rstrip(" ?.!")
    questions: list[str] = []
    candidates = chain(_without_unread(q, unread), _guess(q, draft), _about_names(q, draft, unread))
    for tried, question in enumerate(dict.fromkeys(candidates)):
        if tried >= _TRIED or len(questions) >= _OFFERED:
            break
        if question.casefold().rstrip("?") != asked and answerable(question):
            questions.append(question)
    return tuple(questions)


def _without_unread(q: LinkedQuestion, unread: Sequence[str]) -> Iterator[str]:
    """The question without the words not understood and the small words that only led to them."""
    missing = {w.casefold() for phrase in unread for w in phrase.split()}
    kept: list[str] = []
    for token in q.tokens:
        if token.lower in missing:
            while len(kept) > 2 and kept[-1].casefold() in _STRANDED:
                kept.pop()
        else:
            kept.append(token.text)
    while kept and (kept[-1].casefold() in _STRANDED or not kept[-1][-1:].isalnum()):
        kept.pop()
    telling = any(sort in ("value", "qualifier", "measure") for sort in q.sorts) and "table" in q.sorts
    if missing and telling and len(kept) >= 2:
        text = " ".join(kept).replace(" 's", "'s").replace(" ,", ",")
        yield text[:1].upper() + text[1:]


def _guess(q: LinkedQuestion, draft: Draft) -> Iterator[str]:
    """The best guess as a question: what is counted, added up or listed, of which rows, per what."""
    query = draft.query
    entity = next((t for t in [*draft.entities, *q.named] if t in q.vocabulary.tables), "")
    if not entity or query.shape is not None or query.intersect is not None:
        return
    rows = q.vocabulary.tables[entity].plural
    where = _conditions(q, draft, entity)
    groups = [_group(q, e) for e in query.group[-1:]] if query.group else []
    per = next((f" per {g}" for g in groups if g), "")
    figure = next((e for e in query.select if e.function), None)
    column = q.vocabulary.columns.get(figure.column) if figure is not None and figure.column else None
    if figure is not None and figure.function in CALLED and column is not None:
        kind = CALLED[figure.function]
        owned = q.vocabulary.tables[column.table].plural
        yield f"What is the {_figure(kind, column)} of {owned}{where if column.table == entity else ''}{per}?"
        yield f"What is the {_figure(kind, column)} of {owned}{per}?"
    elif where or per:
        yield f"How many {rows} {f'with{where[5:]} ' if where else ''}are there{per}?"
    if where:
        yield f"List all {rows}{where}"
        yield f"How many {rows}{where} are there?"


def _conditions(q: LinkedQuestion, draft: Draft, entity: str) -> str:
    """The stored values that the guess restricts the entity's own rows to: ` with status open`."""
    said = []
    for clause in draft.query.where:
        c = clause[0]
        if len(clause) > 1 or not isinstance(c, Condition) or c.operator != "=" or c.left.function or not c.values:
            continue
        column = q.vocabulary.columns.get(c.left.column or ("", ""))
        if column is not None and column.table == entity and isinstance(c.values[0], str):
            said.append(f"{spoken(column)} {c.values[0]}")
    return f" with {' and '.join(said)}" if said else ""


def _group(q: LinkedQuestion, e: Expression) -> str:
    if e.part:
        return e.part
    if e.column is None:
        return ""
    column = q.vocabulary.columns[e.column]
    if column.role == "date":
        return ""
    table = q.vocabulary.tables[column.table]
    return " ".join(table.words) if column.role in ("name", "id") else spoken(column)


def _about_names(q: LinkedQuestion, draft: Draft, unread: Sequence[str]) -> Iterator[str]:
    """Questions about the columns and tables that the question names, or else about the largest tables."""
    words = q.vocabulary
    columns = _columns_named(q, unread)
    tables = list(dict.fromkeys([*draft.entities, *q.named, *(c.table for c in columns)]))
    tables = [t for t in tables if not words.tables[t].bridge] or tables
    if not tables:
        rows = {t.name: t.table.row_count or 0 for t in words.tables.values() if not t.bridge}
        tables = sorted(rows, key=lambda t: -rows[t])[:3]
    for column in columns:
        yield from _about_column(q, column)
    for one in tables[:3]:
        for other in tables[:3]:
            if one != other and any(e.left == one for e in q.graph.between(one, other)):
                yield f"How many {words.tables[one].plural} are there per {' '.join(words.tables[other].words)}?"
    for table in tables[:3]:
        yield from _about_table(q, table)
    for table in tables[:3]:
        yield f"How many {words.tables[table].plural} are there?"
        yield f"List all {words.tables[table].plural}"


def _about_column(q: LinkedQuestion, column: ColumnWord) -> Iterator[str]:
    entity = q.vocabulary.tables[column.table].plural
    marks = column.words[-1] in ("active", "flag", "indicator") or is_flag(q.values, column)
    if column.is_figure and not column.foreign and not marks:
        kind = "average" if AVERAGED & set(column.words) or not _TOTALLED & set(column.words) else "total"
        yield f"What is the {_figure(kind, column)} of {entity}?"
    elif column.role == "text" and _divides(q, column):
        yield f"How many {entity} are there per {spoken(column)}?"
    elif column.role == "date":
        yield f"How many {entity} are there per year?"


def _figure(kind: str, column: ColumnWord) -> str:
    """`average price`; the total of a `total amount` is not called a total twice."""
    return f"{kind} {spoken(column).removeprefix(f'{kind} ')}"


def _about_table(q: LinkedQuestion, table: str) -> Iterator[str]:
    """The rows of a table by the first column that divides them into kinds, and the total of its first amount."""
    columns, rows = q.vocabulary.by_table[table], q.vocabulary.tables[table].plural
    kinds = [c for c in columns if c.role == "text" and _divides(q, c)]
    amounts = [c for c in columns if c.is_figure and _TOTALLED & set(c.words) and not c.foreign]
    yield from (f"How many {rows} are there per {spoken(c)}?" for c in kinds[:1])
    yield from (f"What is the {_figure('total', c)} of {rows}?" for c in amounts[:1] if not AVERAGED & set(c.words))


def _divides(q: LinkedQuestion, column: ColumnWord) -> bool:
    kinds, rows = len(q.values.values(*column.key)), q.vocabulary.tables[column.table].table.row_count or 0
    return 1 < kinds <= _KINDS and not column.foreign and kinds < rows and (2 * kinds <= rows or rows < 2 * _KINDS)


def _columns_named(q: LinkedQuestion, unread: Sequence[str]) -> list[ColumnWord]:
    """The columns that the question may refer to, by name or by a name similar to an unknown word."""
    columns: dict[tuple[str, str], ColumnWord] = {}
    by_name = {" ".join(c.words): c for c in q.vocabulary.columns.values() if c.role != "id"}
    for word in unread[:3]:
        for name in difflib.get_close_matches(word.lower(), by_name, n=1, cutoff=0.75):
            columns[by_name[name].key] = by_name[name]
    for item in q.items:
        for column, score in item.mention.columns[:1] if item.mention else ():
            if score >= 0.6:
                columns[column.key] = column
        for hit in item.mention.values[:1] if item.mention else ():
            known = q.vocabulary.columns.get((hit.table, hit.column))
            if known is not None:
                columns[known.key] = known
    return list(columns.values())[:4]


def spoken(column: ColumnWord) -> str:
    """The words of a column without those of its table, unless its last word is one of these (`new status`)."""
    own = [w for w in column.words if w not in column.owner]
    return " ".join(own if own[-1:] == [column.words[-1]] else column.words)
