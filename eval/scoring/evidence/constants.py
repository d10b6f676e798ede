"""The constants of a query with the real column each is compared with.

In: the facts' constants, which name columns as written. Out: constants with table and column by their schema names.
Adds what SQLite reads as text although it is written as a name: `WHERE city = "Paris"` where no column is called Paris.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from eval.schema import Table
from eval.scoring.types import Case
from eval.sql.traversal import every
from eval.sql.types import Constant


def constants(case: Case) -> tuple[Constant, ...]:
    tree = case.parsed.tree
    if tree is None:
        return ()
    sources: dict[str, Table] = {}
    for node in every(tree, exp.Table):
        table = case.schema.table(node.name)
        if table is not None:
            sources.setdefault(node.alias_or_name.casefold(), table)
            sources.setdefault(table.name.casefold(), table)
    constants = [*case.facts.literals]
    if case.parsed.dialect == "sqlite":
        constants.extend(c for c in _quoted_names(tree, sources) if c.value not in {f.value for f in constants})
    return tuple(_placed(c, sources) for c in constants)


def _quoted_names(tree: exp.Expression, sources: dict[str, Table]) -> Iterator[Constant]:
    for node in every(tree, exp.Column):
        name = node.this
        if node.table or not isinstance(name, exp.Identifier) or not name.quoted:
            continue
        if any(t.column(name.name) for t in sources.values()) or not isinstance(node.parent, exp.Condition | exp.In):
            continue
        other = node.parent.this
        column = other if isinstance(other, exp.Column) and other is not node else None
        operator = _OPERATORS.get(type(node.parent))
        if operator is not None:
            yield Constant(
                name.name, True, (column.table or None) if column else None, column.name if column else None, operator
            )


_OPERATORS: dict[type, str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.Like: "like",
    exp.In: "in",
}


def _placed(constant: Constant, sources: dict[str, Table]) -> Constant:
    if constant.column is None:
        return constant
    if constant.table is not None:
        table = sources.get(constant.table.casefold())
        owners = [table] if table is not None and table.column(constant.column) else []
    else:
        owners = [t for t in sources.values() if t.column(constant.column)]
    if len({t.name for t in owners}) != 1:
        return constant
    column = owners[0].column(constant.column)
    assert column is not None
    return Constant(constant.value, constant.is_string, owners[0].name, column.name, constant.operator)
