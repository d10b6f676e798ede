"""All evidence of a case, in a fixed order, and how far it may be trusted on this question, query and schema.

`familiarity`, 0..1, says how far habits count, and `clarity`, 0..1, how far comparisons of the question's words with
the query do. Each is a product of ramps over measured sizes. A ramp is 1 up to what is usual where the habits were
learned (Spider's training questions: the last tenth begins near the ramp's start) and 0 from its end on. So a habit of
one benchmark says nothing about a long business question or a query of many steps.

A new kind of evidence is a function in a file beside this one and a line in `KINDS`.

`advice` gives the guards: what a question's words say about the form of its query, in sentences. They are the same
evidence, sorted by what it guards; nothing is weighed there and no query is rewritten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from eval.scoring.evidence import form, linking, pitfalls, results
from eval.scoring.evidence.question_reading import Observation, Observations, Reading
from eval.scoring.intent import supposes
from eval.scoring.types import Case, kind_of, marked, sign
from eval.sql.traversal import every, unchanging

KINDS: tuple[Callable[[Reading], Observations], ...] = (
    form.observe,
    form.observe_logic,
    pitfalls.observe,
    linking.observe_literals,
    results.observe_shape,
    form.observe_projection,
    linking.observe_names,
    pitfalls.observe_joins,
    results.observe_agreement,
)


def unscaled(reading: Reading) -> tuple[Observation, ...]:
    """What every kind of evidence sees, before familiarity scales it; empty for a query that does not parse."""
    if reading.case.parsed.tree is None:
        return ()
    with unchanging(reading.tree):
        return tuple(o for kind in KINDS for o in kind(reading))


def observations(reading: Reading, plain: tuple[Observation, ...] | None = None) -> tuple[Observation, ...]:
    """The same, each value scaled by how far it reaches (`familiarity`). `plain` is what `unscaled` has returned."""
    if reading.case.parsed.tree is None:
        return ()
    with unchanging(reading.tree):
        familiar, clear = familiarity(reading), clarity(reading)
        seen = list(unscaled(reading) if plain is None else plain)
        if familiar:
            seen.append(Observation("familiar", 1.0))
        supposed = supposes(reading.case.question)
        scaled = ((o, reach(o.name, familiar, clear, supposed=supposed)) for o in seen)
        return tuple(replace(o, value=o.value * scale) for o, scale in scaled if scale > 0)


_WORDS = (20, 40)
"""Words of the question."""
_CLAUSES = (8, 16)
"""SELECTs, joins, conditions and sort keys of the query."""
_CALLS = (1, 6)
"""Functions, operators, windows and CTEs of the query, plain aggregates aside."""
_COLUMNS = (60, 200)
"""Columns of the schema."""
_UNFINISHED = 0.6
"""Factor for a question without a full stop or question mark: typed keywords rather than a sentence."""
_CLEAR_WORDS = (25, 50)
_CLEAR_CLAUSES = (12, 30)
_PLAIN = (exp.AggFunc, exp.Connector, exp.Predicate)
_WORDED, _VALUED = marked("worded"), marked("valued")


def familiarity(reading: Reading) -> float:
    """How much question, query and schema resemble those that habits were learned from."""
    case = reading.case
    calls = every(reading.tree, exp.Func, exp.Window, exp.CTE, exp.Binary)
    value = _ramp(len(case.question.split()), _WORDS)
    value *= _ramp(_clauses(reading), _CLAUSES) * _ramp(sum(not isinstance(c, _PLAIN) for c in calls), _CALLS)
    value *= _ramp(sum(len(t.columns) for t in case.schema.tables), _COLUMNS)
    return value if case.question.rstrip().endswith((".", "?")) else value * _UNFINISHED


def clarity(reading: Reading) -> float:
    """How far the words of the question can be compared with the query: not in a paragraph, not in a report's SQL, not
    where the question supposes something."""
    if supposes(reading.case.question):
        return 0.0
    return _ramp(len(reading.case.question.split()), _CLEAR_WORDS) * _ramp(_clauses(reading), _CLEAR_CLAUSES)


def reach(name: str, familiar: float, clear: float, *, supposed: bool = False) -> float:
    """By how much an observation counts, 0..1; `supposed`: the question supposes something.

    Habits, confirmations and an independent reading that differs count by familiarity; a contradiction that rests on
    the question's words counts by clarity; agreement, and a conflict with data or types, counts everywhere.
    """
    kind = kind_of(name)
    if kind == "contradiction":
        return 0.0 if supposed and name in _VALUED else clear if name in _WORDED else 1.0
    return 1.0 if kind == "agreement" and sign(name) > 0 else familiar


def _ramp(value: float, ends: tuple[float, float]) -> float:
    start, end = ends
    return min(1.0, max(0.0, (end - value) / (end - start)))


def _clauses(reading: Reading) -> int:
    return len(every(reading.tree, exp.Select, exp.Join, exp.Predicate, exp.Ordered))


_GUARDED = {
    "projection contract": "columns_fewer_than_listed columns_more_than_listed",
    "order and limit": "limit_differs limit_missing order_missing",
    "id columns": "key_returned",
    "minimal projection": "star_unasked",
    "intent": """
        count_missing aggregate_missing superlative_missing rank_direction_wrong group_missing order_direction_wrong
        distinct_missing negation_missing comparison_missing comparison_direction
    """,
    "literals": """
        quoted_missing number_missing text_against_number
        value_stored_otherwise value_stored_padded value_stored_elsewhere
    """,
}
GUARDS = {guard: tuple(names.split()) for guard, names in _GUARDED.items()}
"""Guard → the observations of `eval.scoring.evidence` that it is made of."""


@dataclass(frozen=True, slots=True)
class Advice:
    guard: str
    observation: str
    text: str


def advice(case: Case) -> tuple[Advice, ...]:
    """What the guards say against a query, in the order of `GUARDS`; empty where they are content, or where the query
    does not parse. The query need not have run."""
    texts = {o.name: o.text for o in observations(Reading(case))}
    return tuple(
        Advice(guard, name, text) for guard, names in GUARDS.items() for name in names if (text := texts.get(name))
    )
