"""Parameters: the constants of a query that a person may set anew, and the query with other values in their place.

In: a parsed query. Out: its parameters in the order of the text; or a new parsed query, rewritten on the tree, which
goes through the guard like any other. A constant is a parameter where it is compared with a column, or limits the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from eval.errors import InputError
from eval.sql.parser import parsed_from_tree
from eval.sql.types import ParsedQuery

MOST = 12
"""Maximum number of parameters of one query."""
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.In, exp.Between)
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,15})?", re.ASCII)


class BadParameter(InputError):
    """A value that its parameter cannot take, or a parameter that the query does not have."""


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    """The column that the constant is compared with; `limit` for the number of rows."""
    value: str
    kind: Literal["text", "number"]


def parameters(parsed: ParsedQuery) -> tuple[Parameter, ...]:
    """The parameters of a query; none of a text that does not parse."""
    return () if parsed.tree is None else tuple(parameter for _, parameter in _constants(parsed.tree))


def with_values(parsed: ParsedQuery, values: Mapping[int, str]) -> ParsedQuery:
    """The query with other values, by the place of their parameter (0 is the first). Raises BadParameter."""
    if parsed.tree is None or not values:
        return parsed
    tree = parsed.tree.copy()
    constants = _constants(tree)
    for place, value in values.items():
        if not 0 <= place < len(constants):
            raise BadParameter(f"The query has no parameter {place}.")
        node, parameter = constants[place]
        node.replace(_constant(parameter, value))
    return parsed_from_tree(tree, parsed.dialect)


def _constants(tree: exp.Expression) -> list[tuple[exp.Expression, Parameter]]:
    """The first constants with their parameters, in the order of the text; limits come last."""
    return sorted(_walked(tree), key=lambda pair: isinstance(pair[0].parent, exp.Limit))[:MOST]


def _walked(tree: exp.Expression) -> Iterator[tuple[exp.Expression, Parameter]]:
    for literal in tree.find_all(exp.Literal, bfs=False):
        node: exp.Expression = literal.parent if isinstance(literal.parent, exp.Neg) else literal
        if (name := _name(node)) is None:
            continue
        value = f"-{literal.this}" if node is not literal else str(literal.this)
        yield node, Parameter(name, value, "text" if literal.is_string else "number")


def _name(node: exp.Expression) -> str | None:
    parent = node.parent
    if isinstance(parent, exp.Limit):
        return "limit"
    if not isinstance(parent, _COMPARISONS):
        return None
    other = parent.this if parent.this is not node else parent.args.get("expression")
    column = other.find(exp.Column) if isinstance(other, exp.Expression) else None
    return column.name if column is not None else None


def _constant(parameter: Parameter, value: str) -> exp.Expression:
    if parameter.kind == "text":
        return exp.Literal.string(value)
    text = value.strip()
    if not _NUMBER.fullmatch(text):
        raise BadParameter(f"{parameter.name} takes a number.")
    number = exp.Literal.number(text.removeprefix("-"))
    return exp.Neg(this=number) if text.startswith("-") else number
