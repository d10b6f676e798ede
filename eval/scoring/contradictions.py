"""Contradictions: conflicts between question and query that a reader can check, each with its proof.

In: a question read against its query (`Reading`), and what was observed of it. Out: `Proof`s. Each check says nothing
where it cannot tell; what one proves is a veto whatever a judge thinks. A new check is a function and a line in
`CHECKS`; the measured harm of each is in docs/measurements.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from eval.language.inflection import light_stem
from eval.language.lexicon import word_set
from eval.language.numbers import NUMBER_WORDS
from eval.language.words import akin, name_words, question_words
from eval.scoring.evidence.question_reading import Observation, Reading
from eval.scoring.evidence.schema_linking import words_of
from eval.scoring.types import StoredConstant
from eval.sql.traversal import every
from eval.sql.types import Constant


@dataclass(frozen=True, slots=True)
class Proof:
    """A conflict: where it is in the query, and a sentence for the user that names both sides."""

    check: str
    place: str
    """The part of the query, as written; empty where something is missing."""
    sentence: str


Proofs = Iterator[Proof]

_OBSERVED = word_set(
    """
    bound_direction rank_direction_wrong order_direction_wrong order_reversed number_missing quoted_missing
    limit_differs aggregate_of_text aggregate_missing count_missing date_missing bound_missing year_missing
    """
)
"""Observations that prove a conflict by themselves."""
_YEAR = re.compile(r"(1[89]\d\d|20\d\d)(?=$|-\d\d)")
_DATE_KEY = re.compile(r"(?:1[89]|20)\d\d(?:[01]\d(?:[0-3]\d)?)?$")
"""A year, a month or a day written as one number."""
_WRITTEN_DATE = re.compile(r"\d[-/]\d")
_NAMED_YEAR = re.compile(r"(?<![\w.,$-])(1[89]\d\d|20\d\d)(?![\w.,]\d|\w)")
_RELATIVE = re.compile(
    r"\b(?:previous|prior|before|after|earlier|later|since|until|age|aged|old|older|younger|compared|change|growth|"
    r"grew|year over year|following|next|last|season|fiscal|between)\b"
)
_SOME_EXTREME = re.compile(
    r"\b(?:[^\W\d_]{2,}est|most|least|top|bottom|best|worst|first|last|max\w*|min\w*|one|single|an?|favou?rite|more"
    r"|less|fewer|leading|rank\w*|peak|record|recent|next|latter|few|some|any|sample|example|preview|main|biggest"
    r"|extreme\w*|predominant\w*|lead\w*|better|[^\W\d_]{3,}er)\b"
)
_TYPICAL = re.compile(
    r"\b(?:averages?|avg|means?|typical\w*|usual\w*|on average|per|rate\w*|rating\w*|scor\w+|median\w*|normal\w*"
    r"|expected|better|worse|best|worst)\b"
)
_CAP = 100
"""Rows from which a LIMIT only protects the reader."""
_SHORT = 3
"""Letters up to which a stored text may be a code of what the question says."""
_AGGREGATES: Mapping[str, tuple[type[exp.Expr], ...]] = {
    "average": (exp.Avg, exp.Div),
    "total": (exp.Sum, exp.Count, exp.Add, exp.Mul),
}


def contradictions(reading: Reading, seen: Sequence[Observation]) -> tuple[Proof, ...]:
    """Everything that is proved against a query; `seen` is what was observed of it, before it is scaled."""
    proving = _OBSERVED | {"comparison_direction"} if _compares_number(reading) else _OBSERVED
    if _WRITTEN_DATE.search(reading.question):
        proving = proving - {"number_missing"}
    if reading.tree.args.get("with_") or reading.case.facts.window_functions:
        proving = proving - {"rank_direction_wrong", "order_direction_wrong", "order_reversed"}
    observed = (Proof(o.name, "", o.text) for o in seen if o.name in proving and o.text)
    return (*observed, *(proof for check in CHECKS for proof in check(reading)))


def _compares_number(r: Reading) -> bool:
    """Two columns compared may be turned round: who is older was born before."""
    return any(c.operator in ("<", "<=", ">", ">=") and _is_number(c.value) for c in r.constants)


def limit_unasked(r: Reading) -> Proofs:
    """A LIMIT that cuts rows, where the question names neither its number nor an extreme."""
    limit = r.case.facts.limit
    if limit is None or limit >= _CAP or len(r.rows) != limit or _one_row(r):
        return
    if limit in r.intent.numbers or r.intent.top is not None or _spelled(limit, r):
        return
    ordered = bool(r.case.facts.order_by)
    if ordered and (r.intent.superlative or r.intent.singular):
        return
    if limit == 1 and _SOME_EXTREME.search(r.question) and (ordered or r.intent.singular):
        return
    yield Proof("limit_unasked", f"LIMIT {limit}", f"The query keeps {limit} rows; the question asks for no such cut.")


def _one_row(r: Reading) -> bool:
    facts = r.case.facts
    return bool(facts.output_aggregates) and not facts.group_by


def _spelled(number: float, r: Reading) -> bool:
    return any(
        word in r.all_words or light_stem(word) in r.all_words for word, n in NUMBER_WORDS.items() if n == number
    )


def value_foreign(r: Reading) -> Proofs:
    """A text that the question does not say, where every word of the question has its part in the query already, or
    where the question names something else that is nowhere in the query."""
    compared = [c for c in r.constants if c.is_string and c.operator in ("=", "in") and c.column]
    unsaid = [c for c in compared if not _said(c, r) and not _YEAR.match(c.value)]
    left = unsaid and _left_over(r)
    foreign = [c for c in unsaid if not left or len(c.value.strip()) > _SHORT]
    if not foreign:
        return
    named = _names_left(r)
    said = {(c.table, c.column) for c in compared if c.operator == "=" and c not in unsaid}
    twice = any((c.table, c.column) in said for c in foreign)
    if not (named or twice) and left and not any(len(question_words(c.value)) > 1 for c in foreign):
        return
    words = f"; it names {named[0]}" if named else ""
    first = foreign[0]
    sentence = f"The query looks for “{first.value[:40]}” in {first.column}, which the question does not say{words}."
    yield Proof("value_foreign", f"{first.column} = '{first.value}'", sentence)


def _said(constant: Constant, r: Reading) -> bool:
    """Whether any word of a value is in the question, in part at least."""
    value = constant.value.casefold().strip("% ")
    if value in r.question:
        return True
    words = [w for w in question_words(value) if len(w) > 1]
    if len(words) > 1 and "".join(w[0] for w in words) in r.all_words:
        return True  # UK, USA
    return not words or any(
        akin(w, q) or (w[:3] == q[:3] and abs(len(w) - len(q)) < 3) for w in words for q in r.all_words if len(q) > 1
    )


def _left_over(r: Reading) -> list[str]:
    """The question's words that name data and have no part in the query or in any name of the schema."""
    known = r.used_words | words_of(r.case.schema)
    return [w for w in r.words if not any(akin(w, k) for k in known)]


def _names_left(r: Reading) -> list[str]:
    """Capitalised or quoted words of the question that have no part in the query."""
    known = r.used_words
    text = " ".join(c.value.casefold() for c in r.constants)
    named = [*r.intent.quoted, *r.intent.proper]
    return [
        n
        for n in named
        if n.casefold() not in text and not any(akin(w, k) for w in question_words(n) for k in known)
    ]  # fmt: skip


def value_named(r: Reading) -> Proofs:
    """A text that the question names, that a column of the query's tables stores, and that the query has nowhere."""
    known = r.used_words
    grouped = _grouped_columns(r)
    for found in r.case.named:
        if found.column in grouped:
            continue  # a row of each value answers for all of them
        words = question_words(found.value)
        if any(akin(w, k) for w in words for k in known) or not _a_value(found, r) or _beside_used(found.value, r):
            continue
        other = next((c for c in r.constants if c.column == found.column and c.is_string), None)
        place = f"{found.column} = '{other.value}'" if other else ""
        sentence = f"The question names “{found.value[:40]}”, which {found.table}.{found.column} holds; the query"
        yield Proof("value_named", place, f"{sentence} looks for {f'“{other.value[:40]}”' if other else 'it nowhere'}.")
        return


def _grouped_columns(r: Reading) -> frozenset[str]:
    groups = [s.args["group"] for s in every(r.tree, exp.Select) if s.args.get("group")]
    return frozenset(c.name for g in groups for c in every(g, exp.Column))


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
    names, which may be any word."""
    plain = found.value.isalpha() and found.value.islower()
    if plain and not _qualifies(found.value, r) and all(c.column != found.column for c in r.constants):
        return False
    written = found.value in r.case.question
    return written or " " in found.value or not {"name", "titl"} & set(name_words(found.column))


def _beside_used(value: str, r: Reading) -> bool:
    """`Ann Smith`, and the query looks for Smith: one name in two columns."""
    folded = value.casefold()
    used = [c.value.casefold() for c in r.constants if c.is_string]
    return any(f"{folded} {u}" in r.question or f"{u} {folded}" in r.question for u in used)


def number_foreign(r: Reading) -> Proofs:
    """A number that is compared and that the question does not name, while it names another that the query lacks, or
    while all of its words have their part in the query."""
    named = set(r.intent.numbers)
    spelled = {float(n) for w, n in NUMBER_WORDS.items() if light_stem(w) in r.all_words}
    foreign = [c for c in r.constants if _compared_number(c) and not _near(float(c.value), named | spelled)]
    if not foreign:
        return
    used = {float(c.value) for c in r.constants if _is_number(c.value)}
    lacking = [n for n in named | spelled if n > 1 and not _near(n, used) and f"{n:g}" not in r.case.parsed.text]
    if lacking or not _left_over(r):
        number = foreign[0].value
        sentence = f"The query compares with {number}, which the question does not name."
        yield Proof("number_foreign", number, sentence)


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d+(?:\.\d+)?", text))


def _compared_number(c: Constant) -> bool:
    return (
        c.operator is not None
        and not c.is_string
        and not _DATE_KEY.match(c.value)
        and _is_number(c.value)
        and abs(float(c.value)) > 1
    )


def _near(number: float, known: set[float]) -> bool:
    scales = (1, 100, 60, 1_000, 3_600, 60_000, 1_000_000)
    return any(abs(number - k) <= 1 or any(abs(number - k * s) < 1e-6 or abs(number * s - k) < 1e-6 for s in scales)
               for k in known)  # fmt: skip


def year_foreign(r: Reading) -> Proofs:
    """A year that is compared and that the question, which names years, does not name. The first day of the year after
    may end a period, the last day of the year before may begin one."""
    named = {int(y) for y in _NAMED_YEAR.findall(r.question)}
    if not named or (_RELATIVE.search(r.question.replace("between", "")) and len(named) == 1 and _computes(r)):
        return
    for c in r.constants:
        found = _YEAR.match(c.value)
        if found is None or c.operator is None:
            continue
        year = int(found[1])
        inside = min(named) <= year <= max(named)
        ends = year - 1 in named and (c.operator == "<" or (c.operator in ("<=", "between") and c.value[4:6] == "-0"))
        begins = year + 1 in named and c.operator == ">"
        after = c.operator in (">=", ">") and year - 1 in named and re.search(r"\b(?:after|later|since)\b", r.question)
        until = c.operator in ("<=", "<") and year + 1 in named and re.search(r"\b(?:before|until|prior)\b", r.question)
        if not (inside or ends or begins or after or until):
            sentence = f"The query looks at {c.value}; the question names {', '.join(map(str, sorted(named)))}."
            yield Proof("year_foreign", c.value, sentence)
            return


_WITHIN = re.compile(r"\b(?:in|during|of|year) (?:the year )?(?:1[89]|20)\d\d\b(?! (?:or|and|to|through|until|onward))")
_ONWARD = re.compile(r"\b(?:since|after|before|until|later|earlier|onwards?|from|prior|by)\b")


def period_open(r: Reading) -> Proofs:
    """`In 2023`, and the query bounds the date on one side only."""
    named = {int(y) for y in _NAMED_YEAR.findall(r.question)}
    if len(named) != 1 or not _WITHIN.search(r.question) or _ONWARD.search(r.question):
        return
    year = named.pop()
    dated = [c for c in r.constants if (m := _YEAR.match(c.value)) and int(m[1]) in (year - 1, year, year + 1)]
    sides = {(c.operator or "?")[0] for c in dated}
    if sides in ({">"}, {"<"}):
        yield Proof("period_open", dated[0].value, f"The question names {year}; the query bounds it on one side only.")


def _computes(r: Reading) -> bool:
    return bool(r.case.facts.window_functions) or bool(every(r.tree, exp.Case))


def aggregate_differs(r: Reading) -> Proofs:
    """An average asked and none computed, a total asked and an average or an extreme returned; or the other way."""
    intent, facts = r.intent, r.case.facts
    returned = set(facts.output_aggregates or facts.aggregates)
    yield from _two_aggregates(r)
    columns = {w for _, c in r.case.references.columns for w in name_words(c)}
    if intent.average and returned & {"sum", "max", "min"} and not every(r.tree, *_AGGREGATES["average"]):
        if not columns & {"averag", "average", "avg", "mean"}:
            yield _aggregate(returned & {"sum", "max", "min"}, "the average")
    elif intent.total and returned & {"avg", "max", "min"} and not every(r.tree, *_AGGREGATES["total"]):
        if not (intent.average or intent.superlative or intent.maximum or intent.minimum or "how much" in r.question):
            yield _aggregate(returned & {"avg", "max", "min"}, "the total")
    elif "avg" in returned and _another_figure(r) and not _TYPICAL.search(r.question):
        yield _aggregate({"avg"}, "another figure")
    elif returned & {"min", "max"} and not (facts.subqueries or facts.window_functions):
        wrong = _wrong_extreme(r, returned)
        if wrong is not None:
            yield wrong


def _another_figure(r: Reading) -> bool:
    """Whether the question names a figure that is no average. `Tips by day` names none; `the windiest month` ranks
    groups, by whatever figure."""
    intent = r.intent
    if intent.total or intent.maximum or intent.minimum:
        return True
    return intent.superlative and not (r.case.facts.group_by or r.case.facts.order_by)


def _two_aggregates(r: Reading) -> Proofs:
    """What is returned is aggregated in one way and ordered by another; or something equals a total or an average."""
    order = r.select.args.get("order") if r.select is not None else None
    shown = {(type(a), a.this) for e in r.output for a in every(e, exp.Avg, exp.Sum, exp.Max, exp.Min)}
    for ordered in every(order, exp.Avg, exp.Sum, exp.Max, exp.Min) if order is not None else ():
        others = [kind for kind, cell in shown if cell == ordered.this and kind is not type(ordered)]
        if others and (type(ordered), ordered.this) not in shown:
            name = others[0].__name__.upper()
            sentence = f"The query returns {name} of what it orders by {ordered.sql_name()}."
            yield Proof("aggregate_differs", ordered.sql(), sentence)
            return
    for equal in every(r.tree, exp.EQ):
        inner = equal.expression.unnest() if isinstance(equal.expression, exp.Subquery) else None
        figure = inner.expressions[0] if isinstance(inner, exp.Select) and len(inner.expressions) == 1 else None
        if isinstance(figure, exp.Avg | exp.Sum) and not (r.intent.average or r.intent.total):
            yield _aggregate({figure.sql_name()}, "no such figure")
            return


_EXTREME = re.compile(
    r"\b(?:[^\W\d_]{2,}est|most|least|top|bottom|first|last|max\w*|min\w*|peak|record|recent|extreme\w*|when|range|span"
    r"|between|from|ever|until|since|more|less|only|all|never|always)\b"
)


def _wrong_extreme(r: Reading, returned: set[str]) -> Proof | None:
    intent = r.intent
    if not _EXTREME.search(r.question):
        return _aggregate(returned & {"min", "max"}, "no extreme")
    if (intent.maximum or "highest" in r.question) and not (intent.minimum or intent.least) and "max" not in returned:
        return None if r.case.facts.order_by else _aggregate({"min"}, "the highest")
    if (intent.minimum or "lowest" in r.question) and not (intent.maximum or intent.most) and "min" not in returned:
        return None if r.case.facts.order_by else _aggregate({"max"}, "the lowest")
    return None


def _aggregate(found: set[str], asked: str) -> Proof:
    name = min(found).upper()
    return Proof("aggregate_differs", name, f"The question asks for {asked}; the query computes {name}.")


def figure_missing(r: Reading) -> Proofs:
    """A number, an average or a total of each group asked, and groups returned with no figure."""
    intent, facts = r.intent, r.case.facts
    asked = intent.average or intent.total or intent.count
    grouped = facts.group_by and not (facts.having or facts.limit or facts.subqueries or facts.order_by)
    if (
        asked
        and grouped
        and not facts.output_aggregates
        and not facts.window_functions
        and "group_concat" not in facts.aggregates
    ):
        yield Proof("figure_missing", "", "The question asks for a figure of each group; the query returns none.")


_ITEMS = re.compile(r",(?: and)? | and | as well as | along with | together with ")
_OPENING = re.compile(
    r"^\W*(?:please )?(?:what (?:is|are|was|were)|show|list|give|find|return|get|tell|display|i (?:want|need))\b"
    r"(?: me| us)?"
)


def column_missing(r: Reading) -> Proofs:
    """A thing of the question's opening list that is a column of the query's tables and is not returned."""
    opening = _OPENING.match(r.question)
    if opening is None or r.case.facts.projects_star or r.select is None or not r.output:
        return
    items = [i for i in _ITEMS.split(_list_of(r.question[opening.end() :])) if i.strip()]
    if len(items) < 2 or len(r.output) >= len(items) or len(items) > 8:
        return
    returned = frozenset(w for e in r.select.expressions for n in _names_in(e) for w in name_words(n))
    columns = [c.name for t in r.case.tables_read for c in t.columns]
    for item in items:
        words = frozenset(question_words(item)[-3:])
        named = [
            c for c in columns if words and set(name_words(c)) & words and set(name_words(c)) - {"id", "name"} <= words
        ]
        if named and not any(akin(w, k) for w in words for k in returned):
            yield Proof(
                "column_missing", "", f"The question asks for “{item.strip()}”, which the query does not return."
            )
            return


_LIST_ENDS = re.compile(
    r"\b(?:of|for|where|who|that|which|with|whose|from|in|ordered|sorted|by|at|on|have|has)\b|[.?;:(]"
)


def _list_of(text: str) -> str:
    found = _LIST_ENDS.search(text)
    return text[: found.start()] if found else text


def _names_in(expression: exp.Expr) -> list[str]:
    return [*(c.name for c in every(expression, exp.Column)), *([expression.alias] if expression.alias else [])]


def order_falls(r: Reading) -> Proofs:
    """Names in falling order, where the question asks for an order of names and for no falling one."""
    intent, facts = r.intent, r.case.facts
    if not intent.order or facts.limit is not None or len(facts.order_by) != 1 or facts.order_by[0][1] != "desc":
        return
    if intent.descending is None and not _SOME_EXTREME.search(r.question) and "alphabetic" in r.question:
        yield Proof(
            "order_falls", f"{facts.order_by[0][0]} DESC", "The rows are in the reverse of the order asked for."
        )


CHECKS: tuple[Callable[[Reading], Proofs], ...] = (
    limit_unasked,
    value_foreign,
    value_named,
    number_foreign,
    year_foreign,
    period_open,
    figure_missing,
    aggregate_differs,
    column_missing,
    order_falls,
)
"""The checks that are more than an observation."""
