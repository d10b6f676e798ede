"""Money in and out in one column, as bank statements and cash books have it: what was spent are the negative amounts.

In: a schema that an import wrote. Out: a semantic model in which `spent` and `received` are metrics of such columns.
"""

from __future__ import annotations

from sqlglot import exp

from agent.knowledge.semantics.model import Dataset, Expression, Metric, SemanticModel
from eval.schema import Column, Schema, Table
from eval.sql.sources import quoted_column

SPENT = ("spent", "spend", "spending", "expenditure", "outgoings", "went out", "paid out")
RECEIVED = ("received", "income", "earned", "earn", "takings", "came in", "got in", "paid in", "take in", "took in")


def flows_of(schema: Schema) -> SemanticModel | None:
    """None where no table has exactly one such column."""
    datasets, metrics = [], []
    for table in schema.tables:
        both = [c for c in table.columns if c.values and c.values.flows]
        if len(both) == 1:
            datasets.append(Dataset(table.name, table.name, table.namespace))
            metrics += _metrics(table, both[0])
    return SemanticModel("flows", tuple(datasets), (), tuple(metrics)) if metrics else None


def _metrics(table: Table, column: Column) -> list[Metric]:
    """The metrics, by those of their words that no cell of the table is."""
    assert column.values is not None
    free = set((column.values.flows or "").split(","))
    place = quoted_column(column.name, table.name).sql("duckdb", identify=True)
    unit = column.values.unit or ""
    found = []
    other, _, out = (column.values.direction or "").partition("|")
    for words, sign, compared in ((SPENT, "-", "<"), (RECEIVED, "", ">")):
        names = [word for word in words if word in free]
        expression = Expression(f"SUM(CASE WHEN {place} {compared} 0 THEN {sign}{place} END)")
        told = f"the {'negative' if sign else 'positive'} amounts of {column.name}"
        if other:
            says = quoted_column(other, table.name)
            value = exp.Literal.string(out)
            condition = exp.EQ(this=says, expression=value) if sign else exp.NEQ(this=says, expression=value)
            expression = Expression(f"SUM(CASE WHEN {condition.sql('duckdb', identify=True)} THEN {place} END)")
            told = f"the amounts of {column.name} where {other} is {'' if sign else 'not '}{out}"
        found += [Metric(names[0], expression, tuple(names[1:]), told, unit)] if names else []
    return found
