"""Efficiency: what the query costs for what it returns.

`1 - scans - time - waste`, at least 0; a cartesian join or a query that did not run gives 0.2:

- scans, at most 0.3: 0.1 for each full scan of a table of 10,000 rows or more in the engine's plan, where the query
  has a condition that an index could serve (`eval.examination.query_plan`);
- time, at most 0.5: 0.25 for each tenfold by which the statement took longer than 50 ms plus 2 µs for each row of the
  tables it reads (a full scan of SQLite reads some 10 million rows a second, one core);
- waste, at most 0.2: `SELECT *` over a join 0.1, DISTINCT over a GROUP BY of the same query 0.1.
"""

from __future__ import annotations

import math

from eval.scoring.types import Case

FREE_MS = 50.0
MS_PER_ROW = 0.002


def efficiency(case: Case) -> tuple[float, str]:
    """The dimension (0..1) and why it is not 1."""
    if case.multiplied:
        return 0.2, "A cartesian join multiplies the rows."
    if case.result is None or not case.ran:
        return 0.2, "The query did not run."
    scanned = sum(t.row_count or 0 for t in case.tables_read)
    allowed = FREE_MS + MS_PER_ROW * scanned
    late = math.log10(case.result.execution_time_ms / allowed) if case.result.execution_time_ms > allowed else 0.0
    time_cost = min(0.5, 0.25 * late)
    scan_cost = min(0.3, 0.1 * len(case.full_scans))
    waste = 0.1 * (case.facts.projects_star and case.facts.joins > 0) + 0.1 * (
        case.facts.distinct and bool(case.facts.group_by)
    )
    notes = []
    if time_cost:
        notes.append(f"it took {case.result.execution_time_ms:.0f} ms for tables of {scanned} rows")
    if scan_cost:
        names = ", ".join(dict.fromkeys(scan.table for scan in case.full_scans))
        notes.append(f"it reads all rows of {names}")
    if waste:
        notes.append("it computes more than it needs")
    value = max(0.0, 1.0 - time_cost - scan_cost - waste)
    return value, f"Less than ideal: {', '.join(notes)}." if notes else ""
