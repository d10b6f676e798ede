"""Vetoes: what forbids the gate whatever the sum. Only the contract's; everything else weighs.

In: a `Case`. Out: sentences, empty when nothing forbids.
"""

from __future__ import annotations

from eval.scoring.types import Case
from eval.sql.types import Phantom


def vetoes(case: Case) -> tuple[str, ...]:
    if not case.parsed.text.strip():
        return ("There is no SQL.",)
    if case.parsed.tree is None:
        return (f"The SQL does not parse: {case.parsed.error or 'not one statement'}.",)
    reasons = []
    if not case.verdict.allowed:
        reasons.append(f"The statement may not run: {case.verdict.reason or 'it does more than read'}.")
    reasons.extend(_phantom(p) for p in case.references.phantoms)
    if case.result is not None and not case.result.ok:
        reasons.append(f"The database could not run it: {case.result.error or case.result.status}.")
    elif case.result is None and case.verdict.allowed and not case.references.phantoms:
        reasons.append("The statement was not executed.")
    if case.facts.from_tables == 0 and not case.references.tables:
        reasons.append("The query reads no table, though the question asks about data.")
    if case.multiplied:
        reasons.append("Two sources are combined without a condition between them (a cartesian join).")
    return (*reasons, *case.departures)


def _phantom(phantom: Phantom) -> str:
    if phantom.kind == "ambiguous":
        tables = ", ".join(phantom.nearest)
        return f"The name {phantom.name} is ambiguous" + (f": {tables} have it." if tables else ".")
    nearest = f"; nearest: {', '.join(phantom.nearest)}" if phantom.nearest else ""
    return f"There is no {phantom.kind} {phantom.name}{nearest}."
