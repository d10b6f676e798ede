"""Parse a query once, then check it (read-only guard), resolve its names scope by scope, and read its facts.

`parse` returns a `ParsedQuery`. Three functions read it: `check` (may it run?), `resolve` (do its names exist?) and
`facts` (what is its form?). `render` writes a tree as SQL. `parsed_from_tree` wraps a tree that our own code built, so
that it goes through the same checks.
"""

from __future__ import annotations

from eval.sql.dialects import render
from eval.sql.facts import facts, orders_rows
from eval.sql.guard import check
from eval.sql.parameters import BadParameter, Parameter, parameters, with_values
from eval.sql.parser import parse, parse_normalized, parse_type, parsed_from_tree
from eval.sql.references import resolve
from eval.sql.types import Constant, ParsedQuery, Phantom, PhantomKind, QueryFacts, References, Verdict
from eval.statement import ReadStatement

__all__ = [
    "BadParameter",
    "Constant",
    "Parameter",
    "ParsedQuery",
    "Phantom",
    "PhantomKind",
    "QueryFacts",
    "ReadStatement",
    "References",
    "Verdict",
    "check",
    "facts",
    "orders_rows",
    "parameters",
    "parse",
    "parse_normalized",
    "parse_type",
    "parsed_from_tree",
    "render",
    "resolve",
    "with_values",
]
