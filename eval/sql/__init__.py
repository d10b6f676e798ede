"""One parse of a query, the read-only guard, scope-aware references, and the facts of a query's form.

`parse` → `ParsedQuery`, which `check` (may it run?), `resolve` (do its names exist?) and `facts` (what form has it?)
read. `render` writes a tree as SQL; `parsed_from_tree` brings a tree that our own code built to the same checks.
"""

from __future__ import annotations

from eval.sql.dialects import render
from eval.sql.facts import facts, orders_rows
from eval.sql.guard import check
from eval.sql.parsing import parse, parsed_from_tree
from eval.sql.references import resolve
from eval.sql.types import (
    Constant,
    ParsedQuery,
    Phantom,
    PhantomKind,
    QueryFacts,
    ReadStatement,
    References,
    Verdict,
)

__all__ = [
    "Constant",
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
    "parse",
    "parsed_from_tree",
    "render",
    "resolve",
]
