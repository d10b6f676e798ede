"""Projection: the columns returned against those that the question asks for."""

from __future__ import annotations

import re

from sqlglot import exp

from eval.language.words import meets, name_words
from eval.scoring.aspects import is_key_name
from eval.scoring.evidence.question_reading import Observation, Observations, Reading


def observe(reading: Reading) -> Observations:
    facts, intent = reading.case.facts, reading.intent
    if facts.projects_star:
        if not any(
            w in reading.question for w in (" all ", "everything", "details", "information", "record", "*", "about")
        ):
            yield Observation("star_unasked", 1, "The query returns every column; the question asks for certain ones.")
        return
    output = reading.output
    if not output:
        return
    plain = reading.output_columns
    unnamed = [
        c for c in plain if not (meets(c, reading.words) or meets_any(c, reading) or _names_what_is_asked(c, reading))
    ]
    if unnamed:
        text = f"The column {unnamed[0]} is returned, which the question does not name."
        yield Observation("output_unnamed", len(unnamed) / len(output), text)
    elif plain:
        yield Observation("output_named", 1, "Every column returned is named in the question.")
    keys = [c for c in plain if is_key_name(c)]
    if keys and not intent.asks_id:
        yield Observation(
            "key_returned", 1, f"The query returns {keys[0]}, though the question asks for no identifier."
        )
    names = [c for c in plain if "name" in name_words(c) or "titl" in name_words(c)]
    if intent.asks_name and plain and not names and not facts.output_aggregates:
        yield Observation("name_not_returned", 1, "The question asks for names; no name column is returned.")
    if re.search(r"\bids?\b", reading.question) and plain and not keys and not facts.output_aggregates:
        yield Observation("key_not_returned", 1, "The question asks for an identifier; none is returned.")
    filtered = {(c.table, c.column) for c in reading.constants if c.table and c.column and c.operator == "="}
    if len(plain) == 1 and reading.output_places & filtered:
        yield Observation("filtered_value_returned", 1, "The query returns the very value that it filters by.")
    twin = _text_twin(reading)
    if twin is not None:
        text = f"The query returns numbers for {twin[1]}, while {twin[0]} holds it as text."
        yield Observation("number_for_name", 1, text)
    if keys and names and not intent.asks_id:
        yield Observation("key_beside_name", 1)
    yield from _ranked_by_output(reading)
    yield from _listed(reading)
    places = [p for p in reading.asked_positions() if p is not None]
    if len(places) >= 2 and len(set(places)) == len(places):
        if places == sorted(places):
            yield Observation(
                "output_order_matched", 1, "The columns come in the order in which the question names them."
            )
        else:
            yield Observation(
                "output_order_differs", 1, "The columns come in another order than the question names them."
            )


def _names_what_is_asked(column: str, r: Reading) -> bool:
    """The name of a thing that the question speaks of: what people want who ask which, who or what."""
    if not {"name", "titl"} & set(name_words(column)):
        return False
    return any(t in r.linked_tables for t, c in r.output_places if c.casefold() == column.casefold())


def _text_twin(r: Reading) -> tuple[str, str] | None:
    """A column returned as numbers whose namesake in another table is text: a reference in place of a name."""
    if not r.rows:
        return None
    for i, expression in enumerate(r.output):
        if not isinstance(expression, exp.Column) or i >= len(r.rows[0]) or not isinstance(r.rows[0][i], int):
            continue
        for table in r.case.schema.tables:
            column = table.column(expression.name)
            if column is not None and _TEXT.search(column.type):
                return table.name, column.name
    return None


_TEXT = re.compile("char|text|string|clob", re.IGNORECASE)


def meets_any(column: str, reading: Reading) -> bool:
    """Whether any word of a column's name, even one that says little, is in the question."""
    return any(p in reading.all_words for p in name_words(column))


def _ranked_by_output(r: Reading) -> Observations:
    """A superlative question wants the thing, not the value that it is ranked by, unless it names both."""
    facts = r.case.facts
    if facts.limit is None or not facts.order_by or len(r.output) < 2 or r.select is None:
        return
    order = r.select.args.get("order")
    ranked = {e.this.sql() for e in order.expressions if isinstance(e, exp.Ordered)} if order is not None else set()
    aliases = {e.alias: e.this.sql() for e in r.select.expressions if isinstance(e, exp.Alias)}
    ranked = {aliases.get(name, name) for name in ranked}
    if any(e.sql() in ranked for e in r.output):
        yield Observation("ranking_value_returned", 1, "The query also returns the value that it ranks by.")


def listing(r: Reading) -> str:
    """The question up to its first condition: the part that lists what is wanted."""
    head = r.question
    for stop in (
        " of ",
        " for ",
        " where ",
        " who ",
        " that ",
        " which ",
        " with ",
        " whose ",
        " from ",
        " in ",
        " ordered ",
        " by ",
    ):
        at = head.find(stop, 12)
        if at > 0:
            head = head[:at]
    return head


def _listed(r: Reading) -> Observations:
    """The number of things that the question lists against the columns returned."""
    head = listing(r)
    wanted = 1 + head.count(",") + (1 if " and " in head and ", and " not in head else 0)
    if wanted >= 2:
        text = f"The question lists {wanted} things, the query returns {len(r.output)}."
        if len(r.output) < wanted:
            yield Observation("columns_fewer_than_listed", 1, text)
        elif len(r.output) > wanted:
            yield Observation("columns_more_than_listed", 1, text)
        else:
            yield Observation("columns_as_listed", 1, "The query returns as many columns as the question lists.")
