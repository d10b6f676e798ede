"""Shape: the rows that came back against those that an answer would have."""

from __future__ import annotations

from sqlglot import exp

from eval.scoring.evidence.question_reading import Observation, Observations, Reading, shown
from eval.sql.traversal import every

_LOOKED_AT = 500
"""Rows examined; a pattern in these is the pattern."""


def observe(reading: Reading) -> Observations:
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
