"""Which tool may follow which. The table is the whole of the order: what is not in it cannot happen.

    get_schema → link_schema → extract_constraints → generate_sql → validate_sql → validate_constraints → run_sql
    run_sql → finish, where it ran; what failed, and what the model doubts, goes to repair_sql → validate_sql

A model is asked only where it has something to decide or to write. Constraints are advice, so a query that they speak
against may be run all the same.
"""

from __future__ import annotations

from typing import Literal

Tool = Literal[
    "get_schema",
    "link_schema",
    "extract_constraints",
    "generate_sql",
    "validate_sql",
    "validate_constraints",
    "run_sql",
    "repair_sql",
    "finish",
]
Edges = dict[tuple[Tool | None, bool], tuple[Tool, ...]]

EDGES: Edges = {
    (None, True): ("get_schema",),
    ("get_schema", True): ("link_schema",),
    ("link_schema", True): ("extract_constraints",),
    ("extract_constraints", True): ("generate_sql",),
    ("generate_sql", True): ("validate_sql",),
    ("repair_sql", True): ("validate_sql",),
    ("validate_sql", True): ("validate_constraints",),
    ("validate_sql", False): ("repair_sql",),
    ("validate_constraints", True): ("run_sql",),
    ("validate_constraints", False): ("repair_sql", "run_sql"),
    ("run_sql", True): ("finish", "repair_sql"),
    ("run_sql", False): ("repair_sql",),
    ("finish", True): (),
}
"""(tool, whether it succeeded) → the tools that may be next."""

WRITES: frozenset[Tool] = frozenset(("generate_sql", "repair_sql"))
"""Tools whose content is a query that the model writes."""


def following(last: Tool | None, ok: bool) -> tuple[Tool, ...]:
    return EDGES.get((last, ok), ())


def asks_model(allowed: tuple[Tool, ...]) -> bool:
    """Whether a model has something to decide or to write next."""
    return len(allowed) > 1 or bool(WRITES & set(allowed))
