"""A grammar of the queries that a schema allows: SELECT over tables and columns that exist, in a JSON object.

In: a schema and the text that a prompt shows of it. Out: GBNF, as llama.cpp's server and vLLM read it, for a reply
`{"sql": "…"}`; empty where it would be too long. A query of one table names that table's columns only; one with joins
may name those of all. Nesting, lists and literals are bounded, so no reply goes on without end. It helps a small model
to write SQL and proves nothing: what comes is guarded and judged like any other query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from os.path import commonprefix

from agent.knowledge.schema_context import BREAK, qualified_name, shown_name
from agent.models.prompts import fill
from eval.schema import Dialect, Schema

OPENING = '{"sql": "'
"""The beginning of each reply."""
MOST_CHARACTERS = 60_000
"""Of a grammar: some 18 tables."""
_DEPTH = 2
"""Of subqueries within each other."""
_WITHOUT_LIMIT: frozenset[Dialect] = frozenset({"tsql", "oracle"})
"""Dialects that take the first rows in another way."""
_JOINED = "joined"
_SHOWN_NAMES = re.compile(r'"[^"]*"|`[^`]*`|\w+')

_SHARED = r"""
root ::= "{\"sql\": \"" (query-$depth (set-operator query-$depth)?)? "\"}"
set-operator ::= " UNION " | " UNION ALL " | " INTERSECT " | " EXCEPT "
operator ::= " + " | " - " | " * " | " / "
compare ::= " = " | " <> " | " != " | " < " | " > " | " <= " | " >= "
logic ::= " AND " | " OR "
function ::= "COUNT" | "SUM" | "AVG" | "MIN" | "MAX"
alias ::= [a-zA-Z] [a-z]? [0-9]?
whole ::= "0" | [1-9] [0-9]{0,8}
number ::= "-"? whole ("." [0-9]{1,6})?
text ::= "'" ([^'"\\\x00-\x1F\x7F] | "''"){0,60} "'"
literal ::= number | text | "TRUE" | "FALSE"
literals ::= literal (", " literal){0,9}
null ::= " IS" " NOT"? " NULL"
direction ::= (" ASC" | " DESC")?
limit ::= " LIMIT " whole
"""
_SCOPE = """
col-$scope ::= $column
agg-$scope ::= "COUNT(*)" | function "(" "DISTINCT "? col-$scope (operator col-$scope)? ")"
plain-$scope ::= col-$scope (operator (col-$scope | number))?
total-$scope ::= agg-$scope (operator (agg-$scope | number))?
mixed-$scope ::= plain-$scope | total-$scope
group-$scope ::= " GROUP BY " col-$scope (", " col-$scope){0,3}
order-$scope ::= " ORDER BY " plain-$scope direction (", " plain-$scope direction){0,2}
rank-$scope ::= " ORDER BY " mixed-$scope direction (", " mixed-$scope direction){0,2}
"""
"""Of the queries that read the same tables."""
_LEVEL = """
test-$level ::= (operator (col-$scope | number))? compare (literal | col-$scope$nested) | " NOT"? negated-$level | null
negated-$level ::= " LIKE " text | " BETWEEN " literal " AND " literal | " IN (" (literals$listed) ")"
is-$level ::= "NOT "? col-$scope test-$level
some-$level ::= is-$level | "(" is-$level (" OR " is-$level){1,3} ")"
where-$level ::= " WHERE " some-$level (logic some-$level){0,4}
has-$level ::= agg-$scope compare (number$nested)
having-$level ::= " HAVING " has-$level (logic has-$level)?
rows-$level ::= " FROM " $source where-$level? order-$scope? limit?
totals-$level ::= " FROM " $source where-$level?
groups-$level ::= " FROM " $source where-$level? group-$scope having-$level? rank-$scope? limit?
"""
"""The same within so many others."""
_VALUE = """
one-$level ::= "DISTINCT "? plain-$scope rows-$level | total-$scope totals-$level | mixed-$scope groups-$level
query-$level ::= "SELECT " one-$level
"""
"""A subquery: one column."""
_ANSWER = """
many-$level ::= "*" rows-$level | "DISTINCT "? plain-$scope (", " plain-$scope){0,7} rows-$level
all-$level ::= total-$scope (", " total-$scope){0,7} totals-$level | mixed-$scope (", " mixed-$scope){0,7} groups-$level
query-$level ::= "SELECT " (many-$level | all-$level)
"""


@lru_cache(maxsize=64)
def sql_grammar(schema: Schema, shown: str) -> str:
    """The grammar of queries over the tables and columns whose names the prompt shows; empty where it shows none, where
    the dialect knows no LIMIT, or where the grammar is longer than MOST_CHARACTERS."""
    if schema.dialect in _WITHOUT_LIMIT:
        return ""
    names = set(_SHOWN_NAMES.findall(shown.partition(BREAK)[0]))
    tables = []
    for table in schema.tables:
        name = qualified_name(table, schema.dialect)
        columns = [c for column in table.columns if (c := shown_name(column.name, schema.dialect)) in names]
        if columns and names.issuperset(_SHOWN_NAMES.findall(name)):
            tables.append((name, columns))
    if not tables:
        return ""
    grammar = "\n".join(line for part in _parts(tables) for line in part.strip().splitlines()) + "\n"
    return grammar if len(grammar) <= MOST_CHARACTERS else ""


def _parts(tables: list[tuple[str, list[str]]]) -> Iterator[str]:
    scopes = [*map(str, range(len(tables))), *([_JOINED] if len(tables) > 1 else [])]
    yield fill(_SHARED, {"depth": str(_DEPTH)})
    for depth in range(_DEPTH + 1):
        yield f"query-{depth} ::= {_any(f'query-{scope}-{depth}' for scope in scopes)}"
    for scope, (name, columns) in zip(scopes, tables, strict=False):
        yield f"table-{scope} ::= {_literal(name)}\nname-{scope} ::= {_any(_branches(columns))}"
        yield from _scope(scope, f"table-{scope}", f'(table-{scope} ".")? name-{scope}')
    if len(tables) > 1:
        own = _any(f'table-{n} "." name-{n}' for n in range(len(tables)))
        bare = _any(f"name-{n}" for n in range(len(tables)))
        yield f'source ::= ({_any(f"table-{n}" for n in range(len(tables)))}) (" AS " alias)?'
        yield f'qualified ::= {own} | alias "." ({bare})'
        yield 'join ::= " LEFT"? " JOIN " source " ON " qualified " = " qualified'
        yield from _scope(_JOINED, "source join{1,4}", f"qualified | {bare}")


def _scope(scope: str, source: str, column: str) -> Iterator[str]:
    """The rules of queries that read `source` and may name `column`."""
    values = {"scope": scope, "source": source, "column": column}
    yield fill(_SCOPE, values)
    for depth in range(_DEPTH + 1):
        inner = f"query-{depth - 1}" if depth else ""
        nested, listed = (f' | "(" {inner} ")"', f" | {inner}") if depth else ("", "")
        values |= {"level": f"{scope}-{depth}", "nested": nested, "listed": listed}
        yield fill(_LEVEL, values)
        yield fill(_ANSWER if depth == _DEPTH else _VALUE, values)


def _any(alternatives: Iterable[str]) -> str:
    return " | ".join(alternatives)


def _branches(names: Iterable[str]) -> Iterator[str]:
    """The names as alternatives, those that begin alike behind what they share: servers follow each by itself."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name[:1], []).append(name)
    for group in groups.values():
        shared = commonprefix(group)  # noqa: RUF071 (names, no paths)
        rest = [name.removeprefix(shared) for name in group]
        yield _literal(shared) if len(group) == 1 else f"{_literal(shared)} ({_any(_branches(rest))})"


def _literal(text: str) -> str:
    """A terminal for a text as it stands within a JSON string."""
    within = json.dumps(text, ensure_ascii=False)[1:-1]
    return '"' + within.replace("\\", "\\\\").replace('"', '\\"') + '"'
