"""Expected form: the query against those that questions worded like this one usually have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from sqlglot import exp

from eval.schema import Schema
from eval.scoring.aspects import aspects_of, projected
from eval.scoring.evidence.question_reading import Observation, Observations, Reading
from eval.scoring.expectation import Expectation, expectation
from eval.scoring.question_wording import Wording

MOST = 2.0
"""Log-odds: a label that was never seen is as unexpected as one in 7. Habits differ between those who ask."""
OUTPUT_MOST = 3.5
"""What is returned is looked at in four ways; together they count no more than this, the largest first."""
_TOLD = 1.5
"""From here on it is said, where the usual form is 4.5 times as likely as the query's."""

_NAMES = MappingProxyType(
    {
        "output": "unusual_output",
        "rank": "unusual_rank",
        "having": "unusual_having",
        "sets": "unusual_sets",
        "counts": "unusual_counts",
        "names": "unusual_names",
        "pattern": "unusual_pattern",
        "tables": "unusual_tables",
    }
)
_OUTPUT = frozenset({"unusual_output", "unusual_names", "unusual_counts", "unusual_column"})
_WORDS = MappingProxyType(
    {
        ("rank", "none"): "rank nothing",
        ("rank", "first_desc"): "take the last in an order",
        ("rank", "first_asc"): "take the first in an order",
        ("rank", "some_desc"): "take several from the end of an order",
        ("rank", "some_asc"): "take several from the start of an order",
        ("rank", "order_desc"): "order the rows downwards",
        ("rank", "order_asc"): "order the rows upwards",
        ("rank", "limit"): "cut the rows without an order",
        ("rank", "extreme"): "compare with a maximum or minimum",
        ("rank", "inner"): "rank inside a subquery",
        ("having", "yes"): "choose among groups",
        ("having", "no"): "choose no groups by size or total",
        ("sets", "none"): "take no alternatives",
        ("sets", "or"): "take either of several values",
        ("sets", "union"): "unite two results",
        ("sets", "intersect"): "intersect two results",
        ("counts", "yes"): "return a count",
        ("counts", "no"): "return no count",
        ("names", "yes"): "return a name",
        ("names", "no"): "return no name",
        ("pattern", "yes"): "match a part of a text",
        ("pattern", "no"): "match no part of a text",
        ("tables", "1"): "read one table",
        ("tables", "2"): "read two tables",
        ("tables", "3"): "read three tables",
        ("tables", "4"): "read four tables or more",
    }
)


def observe(reading: Reading, learned: Expectation | None = None) -> Observations:
    wording, usual = _usual(reading.case.question, reading.case.schema)
    if learned is not None:
        usual = learned.form(wording)
    observations = [*_form(reading.tree, usual), *_columns(reading, learned or expectation(), wording)]
    left = OUTPUT_MOST
    for seen in sorted(observations, key=lambda o: -o.value):
        if seen.name not in _OUTPUT:
            yield seen
        elif left > 0:
            yield Observation(seen.name, min(seen.value, left), seen.text)
            left -= seen.value


@lru_cache(maxsize=256)
def _usual(question: str, schema: Schema) -> tuple[Wording, Mapping[str, Mapping[str, float]]]:
    """A question's wording and the form that is expected by it; each attempt and each participant asks anew."""
    wording = Wording(question, schema)
    return wording, expectation().form(wording)


def _form(tree: exp.Expr, usual: Mapping[str, Mapping[str, float]]) -> Observations:
    written = aspects_of(tree)
    for aspect, chances in usual.items():
        likeliest = max(chances, key=lambda label: chances[label])
        label = written[aspect]
        if label != likeliest:
            value = min(MOST, chances[likeliest] - chances.get(label, -2 * MOST))
            yield Observation(_NAMES[aspect], value, _sentence(aspect, likeliest, label) if value >= _TOLD else "")


def _sentence(aspect: str, usual: str, label: str) -> str:
    habit, this = _WORDS.get((aspect, usual)), _WORDS.get((aspect, label))
    if habit is None:
        return ""
    return f"Such wording usually asks to {habit}" + (f"; this query was made to {this}." if this else ".")


def _columns(r: Reading, learned: Expectation, wording: Wording) -> Observations:
    """The returned column that the question's words suggest least."""
    least, name = 0.0, ""
    for table_name, column_name in sorted(projected(r.select, r.case.schema)):
        table = r.case.schema.table(table_name)
        column = table.column(column_name) if table is not None else None
        if table is not None and column is not None:
            chance = learned.returned(wording, table, column)
            least, name = min((least, name), (chance, column_name))
    if least < 0:
        text = f"Nothing in the question's wording suggests that what is returned uses {name}."
        yield Observation("unusual_column", min(MOST, -least), text if -least >= _TOLD else "")
