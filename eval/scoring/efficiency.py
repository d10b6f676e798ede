"""Efficiency: what the query costs for what it returns.

`1 - scans - time - waste`, at least 0; a cartesian join or a query that did not run gives 0.2:

- scans, at most 0.3: full scans of tables of 10,000 rows or more in the engine's plan, each 0.1, where the query has
  a condition that an index could serve;
- time, at most 0.5: 0.25 for each tenfold by which the statement took longer than 50 ms plus 2 µs for each row of the
  tables it reads (a full scan of SQLite reads some 10 million rows a second, one core);
- waste, at most 0.2: `SELECT *` over a join 0.1, DISTINCT over a GROUP BY of the same query 0.1.
"""

from __future__ import annotations

import math

from eval.scoring.types import Case

FREE_MS = 50.0
MS_PER_ROW = 0.002
LARGE_TABLE = 10_000


def efficiency(case: Case) -> tuple[float, str]:
    """The dimension (0..1) and why it is not 1."""
    if case.facts.cartesian:
        return 0.2, "A cartesian join multiplies the rows."
    if case.result is None or not case.result.ok:
        return 0.2, "The query did not run."
    tables = [t for name in case.references.tables if (t := case.schema.table(name)) is not None]
    scanned = sum(t.row_count or 0 for t in tables)
    allowed = FREE_MS + MS_PER_ROW * scanned
    late = math.log10(case.result.execution_time_ms / allowed) if case.result.execution_time_ms > allowed else 0.0
    time_cost = min(0.5, 0.25 * late)
    scan_cost = min(0.3, 0.1 * _large_scans(case)) if case.facts.literals else 0.0
    waste = 0.1 * (case.facts.projects_star and case.facts.joins > 0) + 0.1 * (
        case.facts.distinct and bool(case.facts.group_by)
    )
    notes = []
    if time_cost:
        notes.append(f"it took {case.result.execution_time_ms:.0f} ms for tables of {scanned} rows")
    if scan_cost:
        notes.append("it scans a large table")
    if waste:
        notes.append("it computes more than it needs")
    value = max(0.0, 1.0 - time_cost - scan_cost - waste)
    return value, f"Less than ideal: {', '.join(notes)}." if notes else ""


def _large_scans(case: Case) -> int:
    """Full scans of large tables in the engine's plan (`SCAN orders`, `Seq Scan on orders`)."""
    large = {t.name.casefold() for t in case.schema.tables if (t.row_count or 0) >= LARGE_TABLE}
    if not large:
        return 0
    scans = 0
    for line in case.plan_lines:
        words = line.casefold().replace('"', " ").split()
        if "scan" in words and "index" not in words and large.intersection(words):
            scans += 1
    return scans
