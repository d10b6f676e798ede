"""Texts: one that the query looks for and the question does not say, one that the question names and the query lacks,
and conditions that no row can meet.

In: a question read against its query. Out: sentences.
"""

from __future__ import annotations

import datetime as dt
import re
from calendar import day_name, month_name
from difflib import SequenceMatcher
from itertools import combinations

from sqlglot import exp

from eval.language.inflection import light_stem
from eval.language.lexicon import countries
from eval.language.words import STOPWORDS, akin, name_words, question_words
from eval.scoring.contradictions.numbers import NAMED_YEAR
from eval.scoring.contradictions.said import left_over, may_be_meant, names_left, said
from eval.scoring.evidence.linking import words_of
from eval.scoring.evidence.question_reading import Reading, Sentences, is_key_name
from eval.scoring.intent import supposes
from eval.scoring.types import StoredConstant
from eval.sql.traversal import every, from_items

_SHORT = 3
"""Letters up to which a stored text is as likely a word of its own."""
_UNTOLD = 5
"""Words of a question without a part in the query from which the query's texts may stand for any of them."""


def value_foreign(r: Reading) -> Sentences:
    """A text or a date that the question neither says nor may mean. One end of a range may follow from the other, and
    `year_foreign` tells what does not belong to a year that is named."""
    operators = _EQUALS if NAMED_YEAR.search(r.question) else _EQUALS | _RANGES
    compared = [c for c in r.constants if c.is_string and c.operator in operators and c.column]
    unsaid = [c for c in compared if not said(c, r) and not may_be_meant(c, r)]
    today = dt.date.today().isoformat()  # `overdue`: a date is compared with today's
    unsaid = [c for c in unsaid if c.operator not in _RANGES or not c.value.startswith(today)]
    meant = {c.column for c in compared if c not in unsaid}
    foreign = [c for c in unsaid if c.operator not in _RANGES or c.column not in meant]
    if not foreign or supposes(r.case.question) or len(left_over(r)) >= _UNTOLD:
        return
    named = names_left(r)
    words = f"; it names {named[0]}" if named else ""
    first = foreign[0]
    sentence = f"The query looks for “{first.value[:40]}” in {first.column}, which the question does not say{words}."
    yield sentence


_RANGES = frozenset({"<", "<=", ">", ">=", "between"})
_EQUALS = frozenset({"=", "in", "like"})


def never_true(r: Reading) -> Sentences:
    """One column that is to equal two values at once, or a value that it must not equal."""
    texts = frozenset(c.value for c in r.constants if c.is_string)
    for where in every(r.tree, exp.Where, exp.Having):
        tests = [t for t in _terms(where.this) if _equals_value(t, texts)]
        for one, other in combinations(tests, 2):
            both = isinstance(one, exp.EQ), isinstance(other, exp.EQ)
            same = one.expression.name.casefold() == other.expression.name.casefold()
            tables = {c.table.casefold() for c in (one.this, other.this) if isinstance(c, exp.Column)} - {""}
            same_column = one.this.name.casefold() == other.this.name.casefold() and len(tables) < 2
            if same_column and any(both) and same != all(both):
                yield f"No row can meet both {one.sql()} and {other.sql()}."
                return


def idle_condition(r: Reading) -> Sentences:
    """Parts of a query that change nothing, so that something else was meant: `food = 'cake' AND food <> 'tart'` (of
    9,685 golds none), an order of the one row that aggregates give, a key that is to be NULL where each row has one."""
    for select in every(r.tree, exp.Select):
        where = select.args.get("where")
        tests = [t for t in _terms(where.this) if isinstance(t, exp.EQ | exp.NEQ)] if where else []
        for one, other in combinations(tests, 2):
            texts = isinstance(one.expression, exp.Literal) and isinstance(other.expression, exp.Literal)
            if texts and type(one) is not type(other) and one.this == other.this and one.expression != other.expression:
                idle = one if isinstance(one, exp.NEQ) else other
                yield f"Where the other condition holds, {idle.sql()} always does."
                return
        ordered = select.args.get("order")
        figures = [one for one in select.expressions if one.find(exp.AggFunc) and not one.find(exp.Window)]
        if ordered and not select.args.get("group") and len(figures) == len(select.expressions) > 0:
            shown = {column for one in figures for column in one.find_all(exp.Column)}
            labels = {one.alias.casefold() for one in figures}  # its own figure: it changes nothing and means nothing
            by = [o for o in ordered.expressions if o.this.name.casefold() not in labels]
            if any(not o.find(exp.AggFunc) and not shown & set(o.find_all(exp.Column)) for o in by):
                yield "The query gives one row, and orders it."
                return
        joins = select.args.get("joins") or ()
        read = from_items(select)
        # a subquery may hold an outer join, after which its keys are NULL
        if not any(join.side for join in joins) and all(isinstance(one, exp.Table) for one in read):
            for test in every(where, exp.Is) if where else ():
                denied = isinstance(test.parent, exp.Not) or test.args.get("negate")
                alone = not denied and test.find_ancestor(exp.Select) is select
                if alone and isinstance(test.expression, exp.Null) and _always_there(test.this, r):
                    yield f"No row can meet {test.sql()}: each has one."
                    return


def _always_there(column: exp.Expr, r: Reading) -> bool:
    _, declared = r.stored(column) or (None, None)
    return declared is not None and (declared.primary_key or not declared.nullable)


def _terms(condition: exp.Expr) -> list[exp.Expr]:
    """What has to hold together."""
    plain = condition.unnest()
    if not isinstance(plain, exp.And):
        return [plain]
    return [term for side in (plain.this, plain.expression) for term in _terms(side)]


def _equals_value(test: exp.Expr, texts: frozenset[str]) -> bool:
    """A value; a text may be written between double quotes, as a name is."""
    if not isinstance(test, exp.EQ | exp.NEQ) or not isinstance(test.this, exp.Column):
        return False
    value = test.expression
    return isinstance(value, exp.Literal) or (isinstance(value, exp.Column) and value.name in texts)


def value_named(r: Reading) -> Sentences:
    """A text that the question names, that a column of the query's tables stores, and that the query has nowhere."""
    known = r.used_words
    groups = [s.args["group"] for s in every(r.tree, exp.Select) if s.args.get("group")]
    grouped = frozenset(c.name for g in groups for c in every(g, exp.Column))
    numbers = (c for c in r.constants if c.operator in ("=", "in") and c.value.isdecimal())
    if any(is_key_name(c.column or "") and not said(c, r) for c in numbers):
        return  # `id = 7` may be the blue one
    for found in r.case.named:
        if found.column in grouped:
            continue  # a row of each value answers for all of them
        words = question_words(found.value)
        if any(akin(w, k) for w in words for k in known) or not _a_value(found, r) or _beside_used(found.value, r):
            continue
        other = next((c for c in r.constants if c.column == found.column and c.is_string), None)
        if _stands_in(found.value, r) or _part_of_name(found.value, r) or _may_be_told_by(found.column, r):
            continue
        sentence = f"The question names “{found.value[:40]}”, which {found.table}.{found.column} holds; the query"
        yield f"{sentence} looks for {f'“{other.value[:40]}”' if other else 'it nowhere'}."
        return


def name_unused(r: Reading) -> Sentences:
    """A name inside the question that no part of the query can stand for: neither a constant that is not said, nor a
    name of the schema. Where the question writes most words large, it cannot be told."""
    names = [n for n in names_left(r) if not _of_schema(n, r) and not _written_otherwise(n, r)]
    if not names or len(r.intent.proper) > _MANY_NAMES or supposes(r.case.question) or r.case.facts.projects_star:
        return
    if any(not said(c, r) for c in r.constants) or _EXPLAINED.search(r.case.question):
        return
    yield f"The question names “{names[0][:40]}”, which has no part in the query."


def _written_otherwise(name: str, r: Reading) -> bool:
    """A month, a word of SQL, a name with an underscore, initials of a value, or a value spelled almost so."""
    folded = name.casefold()
    if "_" in name or _CALENDAR & set(question_words(name)) or folded in _SQL_WORDS:
        return True
    if re.search(rf"\b{re.escape(folded)}\b", r.case.parsed.text.casefold().replace("_", " ")):
        return True
    used = [c.value.casefold().strip("% ") for c in r.constants]
    initials = {"".join(w[0] for w in question_words(u)) for u in used}
    return folded in initials or any(SequenceMatcher(None, folded, u).ratio() > _ALMOST for u in used)


_SQL_WORDS = frozenset({"sql", "cte", "ctes", "json", "csv", "excel", "xlsx"})
_ALMOST = 0.8
_EXPLAINED = re.compile(r"[.?!;:]\s+\S|\([^)]*\)")
"""A second sentence, or an aside, may explain a name."""
_MANY_NAMES = 3
_CALENDAR = frozenset(light_stem(n.casefold()) for n in (*month_name, *day_name) if n)


def _of_schema(name: str, r: Reading) -> bool:
    words = [w for w in question_words(name) if w not in STOPWORDS]
    known = words_of(r.case.schema)
    return not words or any(len(w) < 2 or any(akin(w, k) for k in known) for w in words)


def _part_of_name(value: str, r: Reading) -> bool:
    """`Cristiano Ronaldo`, of whom no Ronaldo is in the query: somebody else's first name."""
    at = r.question.find(value.casefold())
    around = r.case.question[:at].split()[-1:], r.case.question[at + len(value) :].split()[:1] if at >= 0 else []
    beside = [w.strip(".,?!'’s") for words in around for w in words if w[:1].isupper()]
    known = r.used_words
    return any(len(w) > 1 and not any(akin(q, k) for q in question_words(w) for k in known) for w in beside[:2]) and (
        " " not in value and not r.case.question.startswith(value)
    )


def _may_be_told_by(column: str, r: Reading) -> bool:
    """Whether a text of another column, which the question does not say, may be what the name leads to: `the capital of
    Portugal` is Lisbon."""
    others = (c for c in r.constants if c.is_string and c.operator == "=" and c.column not in (None, column))
    return any(not said(c, r) for c in others)


def _stands_in(value: str, r: Reading) -> bool:
    """Whether a text of the query is short for the value: `ABW` for Aruba, `AsstProf` for assistant professor."""
    folded = value.casefold()
    used = [c.value.casefold().strip("% ") for c in r.constants if c.is_string]
    codes = (u for u in used if len(u) <= _SHORT and u not in r.question)
    return any(u[:1] == folded[:1] for u in codes) or any(folded[:4] in u for u in used if len(folded) > _SHORT)


_RELATION = re.compile(
    r"\b(?:in|of|at|for|by|with|without|from|through|to|on|via|than|where|who|whose|that|which|named|called|is|are|was|were)\b"
)
"""What a condition comes after."""


def _qualifies(value: str, r: Reading) -> bool:
    """Whether a plain word stands where conditions stand: after what they come after, or beside a name of the query's
    tables (`returned orders`). In `rain in November` it is the thing asked for."""
    at, first = r.question.find(value), _RELATION.search(r.question)
    if at < 0 or (first is not None and at > first.start()):
        return True
    beside = (*question_words(r.question[:at])[-1:], *question_words(r.question[at + len(value) :])[:1])
    names = (n for t in r.case.tables_read for n in (t.name, *(c.name for c in t.columns)))
    known = {w for n in names for w in name_words(n)}
    return any(akin(w, k) for w in beside for k in known)


def _a_value(found: StoredConstant, r: Reading) -> bool:
    """Whether the question means the value: it writes it as it is stored, in several words, or the column is none of
    names, which may be any word. What only another table holds has to be written as it is stored."""
    written = found.value in r.case.question
    capitals = written and found.value != found.value.lower() and not r.case.question.startswith(found.value)
    if r.case.schema.table(found.table) not in r.case.tables_read:
        return capitals and (" " in found.value or len(found.value) > _SHORT)
    plain = found.value.isalpha() and found.value.islower()
    if plain and not _qualifies(found.value, r) and all(c.column != found.column for c in r.constants):
        return False
    if len(found.value) <= _SHORT:
        return capitals and _qualifies(found.value.casefold(), r)
    if written or " " in found.value or not {"name", "titl"} & set(name_words(found.column)):
        return True
    small = r.case.question == r.case.question.lower()
    one_of_few = small and (found.among <= _FEW or found.value.casefold() in countries()[0])
    return one_of_few and _qualifies(found.value.casefold(), r)


_FEW = 100
"""Texts of a column up to which they are kinds of things rather than things."""


def _beside_used(value: str, r: Reading) -> bool:
    """`Ann Smith`, and the query looks for Smith: one name in two columns."""
    folded = value.casefold()
    used = [c.value.casefold() for c in r.constants if c.is_string]
    return any(f"{folded} {u}" in r.question or f"{u} {folded}" in r.question for u in used)
