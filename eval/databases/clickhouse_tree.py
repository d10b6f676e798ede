"""ClickHouse's own syntax tree of a statement, checked against the list of functions that only compute.

In: the lines of EXPLAIN AST. Out: the reason for a refusal, or None. It is the second barrier: the guard has checked
sqlglot's tree, and here the engine tells how it reads the text itself, with escapes and keywords resolved.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from eval.language.lexicon import word_set
from eval.sql.functions import functions
from eval.sql.implicit_calls import HIGHER_ORDER

_NODE = re.compile(r"^( *)(\S+)(?: (.*?))??(?: \(alias [^)]*\))?(?: \(children \d+\))?$")

_OPERATORS = word_set(
    """
    and or not xor equals notequals less greater lessorequals greaterorequals plus minus multiply divide modulo
    negate intdiv in notin globalin globalnotin like notlike ilike notilike isnull isnotnull isnotdistinctfrom
    isdistinctfrom exists cast lambda tuple array map arrayelement tupleelement if multiif between concat match
    nullin notnullin globalnullin globalnotnullin _cast casewithexpression arrayjoin sqlstandardvalues values
    quantile exactrangeselect nullsfirst
    """
)
"""Names under which the parser writes operators and keywords."""

_REFUSED_NODES = {
    "Set": "changes settings (SETTINGS)",
    "ColumnsApplyTransformer": "uses APPLY, which cannot be checked",
    "ColumnsRegexpMatcher": "uses COLUMNS(...), which cannot be checked",
    "QualifiedColumnsRegexpMatcher": "uses COLUMNS(...), which cannot be checked",
    "QueryParameter": "has a parameter placeholder",
    "DictionaryExpression": "reads a dictionary",
}
_MEMBERSHIP = word_set("in notin globalin globalnotin nullin notnullin globalnullin globalnotnullin")
_SYSTEM = frozenset({"system", "information_schema", "_temporary_and_external_tables"})


@dataclass
class _Node:
    kind: str
    name: str
    children: list[_Node] = field(default_factory=list)


def refusal_of_tree(lines: list[str], database: str) -> str | None:
    """The reason why the statement, shown as the subquery of a SELECT, may not run in this database."""
    tree = _tree(lines)
    stack = list(tree)
    while stack:
        node = stack.pop()
        if reason := _node_reason(node, database):
            return reason
        stack += node.children
    return None


def _tree(lines: list[str]) -> list[_Node]:
    """The nodes of the tree. The first line names the root, the last one the format of the answer."""
    roots: list[_Node] = []
    open_nodes: list[tuple[int, _Node]] = []
    for line in lines:
        match = _NODE.match(line)
        if match is None:
            continue
        depth = len(match[1])
        node = _Node(match[2], (match[3] or "").strip())
        while open_nodes and open_nodes[-1][0] >= depth:
            open_nodes.pop()
        (open_nodes[-1][1].children if open_nodes else roots).append(node)
        open_nodes.append((depth, node))
    return roots


def _node_reason(node: _Node, database: str) -> str | None:
    if words := _REFUSED_NODES.get(node.kind):
        return words
    if node.kind == "TableIdentifier":
        return _table_reason(node.name, database)
    if node.kind == "Identifier":
        first, dot, _ = node.name.partition(".")
        return _table_reason(node.name, database) if dot and first.lower() in _SYSTEM else None
    if node.kind == "TableExpression" and node.children and node.children[0].kind == "Function":
        called = node.children[0].name
        function = functions("clickhouse").get(called.lower())
        if (function is None or function.kind != "table") and called != "SQLStandardValues":
            return f"{called} may not be read as a table"
    if node.kind != "Function":
        return None
    name = node.name.lower()
    known = functions("clickhouse").get(name)
    if known is None and name not in _OPERATORS:
        return f"{node.name} may not be called in a query"
    arguments = node.children[0].children if node.children else []
    if name in _MEMBERSHIP and len(arguments) > 1 and arguments[1].kind == "Identifier" and "." in arguments[1].name:
        return _table_reason(arguments[1].name, database)
    named = name in HIGHER_ORDER and len(arguments) > 1 and arguments[0].kind == "Identifier"
    if named and arguments[0].name.lower() not in functions("clickhouse"):
        return f"{node.name} may not be given {arguments[0].name} where a function may stand"
    return None


def _table_reason(name: str, database: str) -> str | None:
    qualifier, dot, table = name.rpartition(".")
    if not dot or qualifier == database:
        return None
    if qualifier.lower() in _SYSTEM:
        return f"reads {table}, which tells of the engine and not of the data"
    return f"names the database {qualifier}; only tables of the opened one may be read"
