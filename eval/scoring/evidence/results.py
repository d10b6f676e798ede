"""Results: what came back against what an answer would return, and against what others return.

`observe_shape`: the rows against those that the question asks for. `observe_agreement`: other candidates for the same
question, and a second reading of it made independently.
"""

from __future__ import annotations

import math
import re
from calendar import day_name, month_name
from collections import Counter

from sqlglot import exp

from eval.databases.types import ExecutionResult
from eval.language.inflection import light_stem
from eval.language.numbers import NUMBER_WORDS
from eval.metrics.comparison import same_result
from eval.scoring.evidence.linking import names_of
from eval.scoring.evidence.question_reading import Observation, Observations, Reading, shown
from eval.scoring.types import Case, SecondOpinion
from eval.sql.traversal import every

_LOOKED_AT = 500
"""Rows examined; a pattern in these is the pattern."""


def observe_shape(reading: Reading) -> Observations:
    if not reading.case.ran:
        return
    rows, intent, facts = reading.rows, reading.intent, reading.case.facts
    result = reading.case.result
    if result is not None and result.truncated:
        yield Observation("truncated", 1, "The result was cut at a limit.")
    if all(t.row_count == 0 for t in reading.case.tables_read):
        return  # a schema without rows: nothing could have come back
    if not rows:
        yield Observation("empty_result", 1, "The query returns no rows.")
        if intent.negation:
            yield Observation("empty_with_negation", 1)
        yield from _nothing_found(reading)
        return
    sample = rows[:_LOOKED_AT]
    yield from _nulls(sample)
    yield from _count_shape(reading)
    yield from _top_shape(reading)
    if len(rows) > 1 and not facts.group_by:
        repeated = 1 - len({_key(r) for r in sample}) / len(sample)
        if repeated > 0:
            name = "repeated_rows_joined" if facts.joins else "repeated_rows"
            text = f"{repeated:.0%} of the rows repeat others."
            yield Observation(name, 0.3 + 0.7 * repeated, text)
    biggest = max((t.row_count or 0 for t in reading.case.tables_read), default=0)
    if len(rows) == biggest > 3 and reading.constants and not facts.aggregates:
        yield Observation("nothing_filtered", 1, "The conditions leave every row of the table.")


def _nothing_found(r: Reading) -> Observations:
    """Nothing matched, and a text that is looked for is not written as the question writes it."""
    texts = [c.value.strip("% ") for c in r.constants if c.is_string and c.operator and c.value.strip("% ")]
    strange = [t for t in texts if t not in r.case.question]
    if strange:
        text = f"Nothing matches, and the question does not write {shown(strange[0])} as the query does."
        yield Observation("nothing_found_respelled", 1, text)


def _nulls(rows: tuple[tuple[object, ...], ...]) -> Observations:
    if all(cell is None for row in rows for cell in row):
        yield Observation("all_null", 1, "Every value returned is NULL.")
    elif any(all(cell is None for cell in column) for column in zip(*rows, strict=True)):
        yield Observation("null_column", 1, "One of the columns is NULL throughout.")
    elif any(cell is None for row in rows for cell in row):
        yield Observation("some_nulls", 1)


def _count_shape(r: Reading) -> Observations:
    intent, rows = r.intent, r.rows
    if intent.count_only and not intent.per_group:
        if len(rows) > 1:
            yield Observation("count_several_rows", 1, f"The question asks how many, and {len(rows)} rows come back.")
        elif rows[0] == (0,):
            yield Observation("count_zero", 1, "The count is zero.")
            yield from _nothing_found(r)
    is_ratio = any(part.expression.find(exp.AggFunc) for part in every(r.tree, exp.Div))  # `fare per passenger`
    if intent.per_group and len(rows) == 1 and not (r.case.facts.group_by or r.side_by_side or is_ratio):
        yield Observation("group_single_row", 1, "The question asks for something per group, and one row comes back.")


def _top_shape(r: Reading) -> Observations:
    intent, rows, facts = r.intent, r.rows, r.case.facts
    one_wanted = intent.superlative and intent.singular and not (intent.maximum or intent.minimum or intent.per_group)
    if one_wanted and len(rows) > 1:
        yield Observation("superlative_several_rows", 1, f"The question asks for one, and {len(rows)} rows come back.")
    if intent.top is not None and intent.top > 1 and len(rows) < intent.top:
        yield Observation("fewer_than_top", 1, f"The question asks for {intent.top}, and {len(rows)} rows come back.")
    if facts.limit is not None and facts.limit > 1 and facts.order_by and len(rows) == facts.limit:
        yield Observation("cut_at_limit", 1)


def _key(row: tuple[object, ...]) -> object:
    try:
        hash(row)
    except TypeError:
        return repr(row)
    return row


_ANYHOW = "|".join((*NUMBER_WORDS, *(name.casefold() for name in (*day_name, *month_name) if name)))
_SAID_ANYHOW = re.compile(rf"\d+$|(?:{_ANYHOW})$")
"""Stored values that questions say without looking for them: numbers, days and months."""
_INCLUDED = re.compile(r"(?:\s+[^\W\d_]+){0,2}\s+(?:counts?|too|included|as well)\b")
_LINKED = 0.3
"""Confidence from which a value that the reading found is one that the question means."""
_SHORT = 3
"""Letters of words that name nothing."""
_COMPARED = 2_000
"""Rows beyond which columns are not compared one by one."""


def observe_agreement(reading: Reading) -> Observations:
    case = reading.case
    if case.candidates_agreeing is not None:
        agreeing, total = case.candidates_agreeing
        if total > 1:
            # Others that agree, against those that do not; a half is added to each so that neither is certain.
            value = math.log((agreeing - 1 + 0.5) / (total - agreeing + 0.5))
            yield Observation("candidates", value, f"{agreeing} of {total} candidates return this result.")
    opinion = case.second_opinion
    if opinion is None or opinion.result is None or not opinion.result.ok or case.result is None or not case.ran:
        return
    if same_result(opinion.result, case.result, ordered=False):
        yield from _alike(opinion, case)
        return
    if any(s.found == "padded" for s in case.stored):
        return  # the reading looks for texts as they are stored, spaces and all: that says nothing of the query's sense
    apart = tuple(_columns_apart(opinion.result, case.result, opinion.confidence))
    if apart:
        yield from apart
        return
    text = "An independent reading of the question returns other rows."
    yield Observation("second_reading_differs", opinion.confidence, text)
    yield from _left_out(reading, opinion)
    if opinion.result.rows and not case.result.rows:
        text = "The query returns no rows where an independent reading of the question finds some."
        yield Observation("empty_beside_second_reading", opinion.confidence, text)
    # A reading is more apt to leave a condition out than to make one up, so a query with still more rows is hardly ever
    # right
    theirs, ours = opinion.result.rows, case.result.rows
    if theirs and len(ours) > len(theirs):
        text = "The query returns more rows than an independent reading of the question."
        yield Observation("more_rows_than_second_reading", 1, text)
    if len(ours) == len(theirs) == 1 and ours[0] == (0,):
        text = "The query counts none where an independent reading of the question counts some."
        yield Observation("zero_beside_second_reading", 1, text)


def _alike(opinion: SecondOpinion, case: Case) -> Observations:
    assert opinion.result is not None
    assert case.result is not None
    if case.tables_read and all(table.row_count == 0 for table in case.tables_read):
        return
    text = "An independent reading of the question returns the same rows."
    yield Observation("second_reading_agrees", 1, text)
    yield Observation("second_reading_sure", opinion.confidence)
    if not case.result.rows:
        yield Observation("second_reading_empty_too", 1, "An independent reading of the question finds no rows either.")
    elif not same_result(opinion.result, case.result, ordered=True):
        text = "An independent reading of the question returns these rows in another order."
        yield Observation("second_reading_ordered_otherwise", 1, text)


def _left_out(r: Reading, opinion: SecondOpinion) -> Observations:
    """What the reading found in the question and the database, and the query does not use."""
    if opinion.facts is None:
        return
    ours = " ".join(c.value.casefold() for c in r.constants)
    text = r.case.parsed.text.casefold()
    known = names_of(r.case.schema)
    coded = {c.table for c in r.constants if not c.is_string and c.operator == "=" and c.table}
    for constant in opinion.facts.literals:
        value = constant.value.strip("% ").casefold()
        telling = (
            constant.is_string
            and constant.operator != "like"
            and constant.table not in coded
            and len(value) > 1
            and light_stem(value) not in known
            and not _SAID_ANYHOW.match(value)
        )
        if telling and value not in text and not _covered(value, ours) and _narrows(value, r.question):
            named = shown(constant.value)
            if _denied(value, r.question):
                yield Observation("denied_value_kept", 1, f"The question leaves out {named}; the query does not.")
            elif opinion.confidence >= _LINKED:
                said = f"The question names {named}, a stored value that the query does not look for."
                yield Observation("value_missing", 1, said)
            break


def _covered(value: str, ours: str) -> bool:
    """Whether the query's texts hold the value, or its words: `mississippi` for the river."""
    words = [word for word in value.split() if len(word) > _SHORT]
    return value in ours or (len(words) > 1 and sum(word in ours for word in words) * 2 >= len(words))


def _denied(value: str, question: str) -> bool:
    """Whether the question says that a value is left out: `not cancelled`, `cancelled ones left out`."""
    said = re.escape(value)
    return bool(
        re.search(
            rf"\b(?:not|never|n't|without|except|excluding|leav\w+ out|ignor\w+)(?: [^\W\d_]+){{0,2}} {said}", question
        )
        or re.search(
            rf"{said}\w*(?: [^\W\d_]+){{0,2}},? (?:left out|excluded|not counted|do(?:es)? not count|don't count)",
            question,
        )
    )


def _narrows(value: str, question: str) -> bool:
    """Whether the question names a value, other than to say that it counts as well."""
    at = question.find(value)
    return at >= 0 and not _INCLUDED.match(question, at + len(value))


def _columns_apart(opinion: ExecutionResult, result: ExecutionResult, confidence: float) -> Observations:
    """The same columns in another order, more of them or fewer: what differs is what is shown, not which rows."""
    if not opinion.rows or not result.rows or len(opinion.rows) != len(result.rows) or len(result.rows) > _COMPARED:
        return
    theirs, ours = _bags(opinion), _bags(result)
    if all(bag in ours for bag in theirs):
        if len(theirs) == len(ours):
            text = "An independent reading returns the same columns in another order."
            yield Observation("second_reading_reordered", confidence, text)
        else:
            yield Observation("second_reading_narrower", confidence, "An independent reading returns fewer columns.")
    elif all(bag in theirs for bag in ours):
        yield Observation("second_reading_wider", confidence, "An independent reading returns these columns and more.")


def _bags(result: ExecutionResult) -> list[Counter[str]]:
    return [Counter(map(repr, column)) for column in zip(*result.rows, strict=True)]
