"""Linking: the values and the names that the question says against the constants and the names of the query.

`observe_literals`: quoted texts, numbers and years, and where the query's texts are stored. `observe_names`: the tables
and columns of the query against the words of the question.
"""

from __future__ import annotations

import datetime as dt
import re

from sqlglot import exp

from eval.language.numbers import NUMBER_WORDS
from eval.language.words import akin, meets, name_words
from eval.schema import Schema, kept_with_schema
from eval.scoring.evidence.question_reading import Observation, Observations, Reading, shown
from eval.scoring.types import Place
from eval.sql.types import Constant

_SMALL = {0.0, 1.0}
"""Numbers that queries use for their own reasons."""
_UNITS = (0.01, 60, 100, 1_000, 3_600, 60_000, 1_000_000, 3_600_000)
"""What a number is multiplied by to be in a smaller unit: percent, cents, seconds, grams, milliseconds."""
_YEARS = (1800, 2199)
_DATE = re.compile(r"(\d{4})(?:$|%|-\d{2}|(?:0[1-9]|1[0-2])(?:[0-3]\d)?$)")
_DIGITS = re.compile(r"\d+")
_LAST_DAY = 31
_AGE = re.compile(r"\b(?:older|younger|age|aged|years? old)\b", re.IGNORECASE)
_EXAMPLE = re.compile(r"\b(?:like|form|format|such as|e\.g\.)\s+(?:of\s+)?['\"“]?(\d{4})\b")
"""A year that only shows how a date is to be written."""


_STORED: dict[Place, tuple[str, str]] = {
    "otherwise": ("value_stored_otherwise", "{column} holds {value} in other capitals only."),
    "padded": ("value_stored_padded", "{column} holds {value} only with spaces around it."),
    "elsewhere": ("value_stored_elsewhere", "{value} is not in {column} but in another column."),
}


def observe_literals(reading: Reading) -> Observations:
    yield from _question_side(reading)
    yield from _query_side(reading)
    yield from _stored(reading)


def _question_side(r: Reading) -> Observations:
    facts, intent = r.case.facts, r.intent
    constants = [c.value.casefold() for c in r.constants]
    text = " ".join((*constants, r.case.taught))  # what is taught may explain a name or a number (`A16: in 1996`)
    missing = [q for q in intent.quoted if q.casefold() not in text]
    if missing:
        text = f"The question quotes {shown(missing[0])}, which the query does not look for."
        yield Observation("quoted_missing", 1, text)
    elif intent.quoted:
        yield Observation("quoted_matched", 1, "What the question quotes is in the query.")
    years = _years(r)
    examples = {n for example in _EXAMPLE.findall(r.question) if (n := _number(example)) is not None}
    kept = {facts.limit, len(r.rows)}  # `the 50 states`, of which there are 50
    numbers = {n for n in intent.numbers if n not in _SMALL | kept and n not in years | examples}
    known = {n for n in map(_number, constants) if n is not None} | _limits(r)
    names = [c for _, c in r.case.references.columns]
    known |= {float(n) for c in names for n in _DIGITS.findall(c)}
    known |= {float(NUMBER_WORDS[w]) for c in names for w in name_words(c) if w in NUMBER_WORDS}
    written = f"{r.case.parsed.text.casefold()} {r.case.taught}" if years else text
    days = _LAST_DAY if any(_year_of(c) for c in r.constants) else 0
    # The ages that the dates of a query stand for today, where the question is about age
    today = dt.date.today().year
    ages = (
        {float(today - year) for c in r.constants if (year := _year_of(c)) and year <= today}
        if compares_ages(r)
        else set()
    )
    absent = [n for n in numbers if n > days and not _meets(n, known | ages) and _digits(n) not in written]
    unbounded = [y for y in years if not any(str(y + step) in written for step in (0, 1, -1))]
    if unbounded:
        yield Observation("year_missing", 1, f"The question names {unbounded[0]}, which the query does not look at.")
    elif absent:
        yield Observation("number_missing", 1, f"The question names {_digits(absent[0])}, which is not in the query.")
    elif numbers:
        yield Observation("number_matched", 1, "The numbers of the question are in the query.")


def _limits(r: Reading) -> set[float]:
    """The numbers of rows that the query keeps at any level."""
    kept = (limit.expression for select in r.selects if (limit := select.args.get("limit")) is not None)
    return {n for number in kept if isinstance(number, exp.Literal) and (n := _number(number.name)) is not None}


def _meets(number: float, known: set[float]) -> bool:
    """Whether a constant is the number, the next one (`more than 5` is `>= 6`), or the number in another unit."""
    return any(abs(number - k) <= 1 or any(abs(number * unit - k) < 1e-9 * unit for unit in _UNITS) for k in known)


def _years(r: Reading) -> frozenset[int]:
    example = set(_EXAMPLE.findall(r.question))
    return frozenset(
        int(n) for n in r.intent.numbers if n.is_integer() and _YEARS[0] <= n <= _YEARS[1] and f"{n:.0f}" not in example
    )


def compares_ages(r: Reading) -> bool:
    """Whether the question is about age (`older than 60`) and the query compares dates: the older, the smaller."""
    return _AGE.search(r.question) is not None and any(_year_of(c) or "year" in c.value for c in r.constants)


def _year_of(constant: Constant) -> int | None:
    """The year of a constant that is written as a date, a month or a year."""
    match = _DATE.match(constant.value)
    year = int(match[1]) if match is not None else None
    return year if year is not None and _YEARS[0] <= year <= _YEARS[1] else None


def _query_side(r: Reading) -> Observations:
    texts = [c for c in r.constants if c.is_string and c.value.strip("% ") and _year_of(c) is None]
    equalities = [c for c in texts if c.table and c.column and c.operator in ("=", "in", "<>")]
    against = [c for c in equalities if _number(c.value) is None and r.holds_numbers(c.table or "", c.column or "")]
    if against:
        text = f"{shown(against[0].value)} is compared with {against[0].column}, which holds numbers."
        yield Observation("text_against_number", 1, text)
    if any(c.operator == "like" and not r.intent.quoted for c in texts):
        yield Observation("pattern_unquoted", 1)


def _stored(r: Reading) -> Observations:
    first = {s.found: s for s in reversed(r.case.stored)}
    for place, (name, sentence) in _STORED.items():
        if place in first:
            text = sentence.format(column=first[place].column, value=shown(first[place].value))
            yield Observation(name, 1, text)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _digits(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else f"{number:g}"


_FEW_TABLES = 2
"""A query that reads more is not an answer from an unrelated table."""


def observe_names(reading: Reading) -> Observations:
    yield from _used_without_need(reading)
    yield from _named_but_unused(reading)
    yield from _coverage(reading)


def _used_without_need(r: Reading) -> Observations:
    if not r.tables:
        return
    if r.linked_tables.isdisjoint(r.tables) and not r.linked_columns:
        if len(r.tables) > _FEW_TABLES or not _names_another(r):
            return  # a question in business words names nothing of the schema: that says nothing of the query
        yield Observation("nothing_linked", 1, "No table or column of the query has a link to the question's words.")
    columns = [c for c in r.case.references.columns if not _key_column(r, *c)]
    loose_columns = [c for c in columns if c not in r.linked_columns and not _by_value(r, c)]
    if columns and loose_columns:
        yield Observation("columns_unlinked", len(loose_columns) / len(columns))


def _names_another(r: Reading) -> bool:
    """Whether the question names a table or a column that the query does not use."""
    used = set(r.tables)
    return any(
        meets(table.name, r.words) or any(_is_named(c.name, r.words) for c in table.columns)
        for table in r.case.schema.tables
        if table.name not in used
    )


def _key_column(r: Reading, table: str, column: str) -> bool:
    known = r.case.schema.table(table)
    if known is None:
        return False
    keys = (known.primary_key, *(key.columns for key in known.foreign_keys))
    return any(column.casefold() in {c.casefold() for c in key} for key in keys)


def _by_value(r: Reading, column: tuple[str, str]) -> bool:
    """A column that the question reaches through a value of it rather than its name."""
    return any((c.table, c.column) == column and c.value.casefold().strip("% ") in r.question for c in r.constants)


def _is_named(table: str, words: frozenset[str]) -> bool:
    parts = name_words(table)
    return bool(parts) and all(p in words for p in parts)


def _named_but_unused(r: Reading) -> Observations:
    used = set(r.tables)
    named = next((t.name for t in r.case.schema.tables if t.name not in used and _is_named(t.name, r.words)), None)
    if named is not None:
        if used and not r.linked_tables and not r.linked_columns:
            text = f"The question names {named}; the query reads other tables, which nothing in the question names."
            yield Observation("other_table_named", 1, text)
        else:
            yield Observation("named_table_unused", 1, f"The question names {named}, which the query does not use.")
    used_columns = {c.casefold() for _, c in r.case.references.columns}
    inside, outside = None, None
    for table, column, parts in _column_words(r.case.schema):
        if not parts <= r.words or parts <= r.used_names or column.casefold() in used_columns:
            continue
        if table in used:
            inside = inside or column
        else:
            outside = outside or column
    if inside and not r.case.facts.projects_star:
        yield Observation("named_column_unused", 1, f"The question names {inside}, which the query does not use.")
    elif outside:
        yield Observation("named_column_elsewhere", 1, f"The question names {outside}, a column of another table.")


@kept_with_schema
def _column_words(schema: Schema) -> tuple[tuple[str, str, frozenset[str]], ...]:
    """Table, column and the words of its name, for columns that have any."""
    every_column = ((t.name, c.name, frozenset(name_words(c.name))) for t in schema.tables for c in t.columns)
    return tuple(named for named in every_column if named[2])


@kept_with_schema
def words_of(schema: Schema) -> frozenset[str]:
    """All words of the schema's names."""
    names = [t.name for t in schema.tables] + [c.name for t in schema.tables for c in t.columns]
    return frozenset(w for name in names for w in name_words(name))


@kept_with_schema
def names_of(schema: Schema) -> frozenset[str]:
    """Those of at least three letters."""
    return frozenset(w for w in words_of(schema) if len(w) > 2)


def _coverage(r: Reading) -> Observations:
    """The share of the question's data words that the query says something with."""
    if not r.words:
        return
    names = r.used_names | {w for value in r.text_values for w in name_words(value)}
    left = [w for w in r.words if w not in names and not any(akin(w, n) for n in names)]
    if left:
        yield Observation("words_unused", len(left) / len(r.words))
        yield Observation("words_unused_count", min(len(left), 6) / 3)
        known = names_of(r.case.schema)
        said = r.case.question.casefold()
        ignored = sorted((w for w in left if w in known), key=lambda w: (said.find(w), w))
        if ignored:
            text = f"The database has a name for “{ignored[0]}”, which the query does not use."
            yield Observation("known_word_unused", min(len(ignored), 3), text)
