"""Ages from dates of birth, where no column holds an age.

In: a question's text and the vocabulary. Out: the text with the date of birth in place of the age, and a `Shape` that
turns the date back into completed years; and the date of birth that an age in a comparison (`under 18`) is about.
"""

from __future__ import annotations

import datetime as dt
import re

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.date_arithmetic import before, days_later
from agent.parser.interpretation import Condition, Expression, Operator, Query
from agent.parser.question import LinkedQuestion
from eval.language.inflection import lemma
from eval.language.lexicon import word_set

_BORN = word_set("birth birthday birthdate born dob")
_HOW_OLD = re.compile(r"^how old (?:is|are|was|were) (?P<who>.+)$", re.IGNORECASE)
_AGE = re.compile(r"\bages?\b(?! (?:group|range|bracket|rating|limit|categor))", re.IGNORECASE)
_OLDEST = 130
_PEOPLE = word_set("woman man girl boy female male people person everyone everybody anyone anybody")
_MEANT = 0.75
"""The affinity from which on a word names a table, by its name or by a synonym."""


def birth_columns(vocabulary: Vocabulary, *tables: str) -> list[ColumnWord]:
    """The dates of birth, of all tables or of these."""
    return [
        c
        for t in tables or tuple(vocabulary.by_table)
        for c in vocabulary.by_table.get(t, ())
        if c.role == "date" and _BORN & set(c.words)
    ]


def with_birth_date(text: str, vocabulary: Vocabulary) -> tuple[str, bool]:
    """The text, with the date of birth for an age that is asked for, and whether it was exchanged."""
    old = _HOW_OLD.match(text)
    if old is not None:
        text = f"age of {old['who']}"
    columns = birth_columns(vocabulary)
    if not columns or not _AGE.search(text) or any("age" in c.words for c in vocabulary.columns.values()):
        return text, False
    return _AGE.sub(" ".join(columns[0].words), text), True


_STAGES = {
    "adult": "at least 18", "grown-up": "at least 18", "grownup": "at least 18", "minor": "less than 18",
    "underage": "less than 18", "teenager": "between 13 and 19", "teenage": "between 13 and 19",
    "pensioner": "at least 65",
}  # fmt: skip
_STAGE = re.compile(rf"\b(?P<stage>{'|'.join(_STAGES)})s?\b(?: (?P<who>[a-z]+s)\b)?", re.IGNORECASE)


_PASSED = re.compile(
    r"\b(?P<who>[a-z]+) (?P<side>over|under|above|below) (?P<n>[1-9]\d?)(?=$|[,.?!;]| (?:and|or|but|who|that|which|"
    r"come|do|does|did|have|has|is|are|was|were|in|from|with|live|work|there)\b)(?! (?:and|or) (?:\d|over|under))",
    re.IGNORECASE,
)


def with_ages(text: str, vocabulary: Vocabulary, values: ValueIndex) -> tuple[str, str]:
    """`adult students` as `students whose age is at least 18`, where their table holds an age; and a note."""
    text = _PASSED.sub(lambda match: _passed(match, vocabulary), text)
    match = _STAGE.search(text)
    stage = match["stage"].lower() if match else ""
    if match is None or stage in vocabulary.holders or values.find(stage):
        return text, ""
    aged_tables = [name for name in vocabulary.by_table if _has_ages(vocabulary, name)]
    who = vocabulary.table_named(match["who"]) if match["who"] else None
    if who is None and len(aged_tables) == 1:
        who = vocabulary.tables[aged_tables[0]]
        rest = f" {match['who']}" if match["who"] else ""
    else:
        rest = ""
    if who is None or who.name not in aged_tables:
        return text, ""
    age = _STAGES[stage]
    meant = f"{who.plural} whose age is {age}{rest}"
    before = re.sub(r"\b(?:the|all|still|an?) $", "", text[: match.start()], flags=re.IGNORECASE)
    return f"{before}{meant}{text[match.end() :]}", f"“{stage}” is taken as an age of {age} years"


def _has_ages(vocabulary: Vocabulary, table: str) -> bool:
    columns = vocabulary.by_table[table]
    return bool(birth_columns(vocabulary, table)) or any(c.words == ("age",) and c.numeric for c in columns)


def _passed(match: re.Match[str], vocabulary: Vocabulary) -> str:
    """`drivers over 40` as `drivers whose age is over 40`."""
    word = lemma(match["who"].lower())
    people = word in _PEOPLE and not any(word in t.words for t in vocabulary.tables.values())
    if people and sum(_has_ages(vocabulary, name) for name in vocabulary.by_table) == 1:
        return f"{match['who']} whose age is {match['side']} {match['n']}"
    known = [t for t in vocabulary.tables.values() if vocabulary.affinities(word).get(t.words[-1], 0.0) >= _MEANT]
    if not known or not all(_has_ages(vocabulary, t.name) for t in known):
        return match[0]
    return f"{match['who']} whose age is {match['side']} {match['n']}"


def aged(query: Query, vocabulary: Vocabulary, today: dt.date) -> bool:
    """Turn the dates of birth shown into ages, in place; False when none is shown."""
    born = {c.key for c in birth_columns(vocabulary)}
    turned = {"min": "max", "max": "min"}

    def age(e: Expression) -> Expression:
        if e.column not in born or e.function == "count":
            return e
        function = turned.get(e.function, e.function)
        return Expression(function, e.column, until=today)  # type: ignore[arg-type]

    before = [*query.select, *query.group]
    query.select, query.group = [age(e) for e in query.select], [age(e) for e in query.group]
    query.order = [(age(e), down != (e.function in turned)) if e.function else (e, down) for e, down in query.order]
    return [*query.select, *query.group] != before


def of_age(column: ColumnWord, operator: Operator, years: int | float, today: dt.date) -> Condition | None:
    """The condition on a date of birth that an age gives; the operator compares the dates: `<` is older."""
    if not isinstance(years, int) or not 0 < years < _OLDEST or not _BORN & set(column.words):
        return None
    return Condition(Expression(column=column.key), operator, (before(today, years, "year"),))


def between_ages(column: ColumnWord, low: int, high: int, today: dt.date) -> Condition:
    """The condition on a date of birth that `between 20 and 30 years old` gives, both ends included."""
    first, last = (days_later(before(today, years, "year"), 1) for years in (high + 1, low))
    return Condition(Expression(column=column.key), "between", (first, last), half_open=True)


def born_here(q: LinkedQuestion, tables: list[str]) -> ColumnWord | None:
    """The date of birth of the first of these tables, if it is the only one."""
    columns = birth_columns(q.vocabulary, *tables[:1]) if tables else []
    return columns[0] if len(columns) == 1 else None
