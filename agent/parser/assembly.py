"""Assembly: what a rule found joins the clauses read so far.

In: a reading, a `Finding`. Out: the reading with its clauses, doubts and what waits for the next words.
"""

from __future__ import annotations

from agent.parser.conditions import add
from agent.parser.question import LinkedQuestion
from agent.parser.state import Finding, ReadingState


def join(q: LinkedQuestion, r: ReadingState, finding: Finding) -> None:
    """Add a finding to the reading."""
    for i in finding.used:
        r.use(i)
    for table in finding.entities:
        r.entity(table)
    r.query.select.extend(finding.shown)
    r.sink.extend(finding.clauses)
    if finding.absent:
        r.absent(finding.absent)
    r.groups.extend(finding.groups)
    for condition in finding.conditions:
        add(q, r, condition)
    r.query.order.extend(finding.order)
    if finding.limit is not None:
        r.query.limit = finding.limit
    if finding.offset is not None:
        r.query.offset = finding.offset
    for doubt in finding.doubts:
        r.draft.doubt(doubt)
    r.draft.rivals.extend(finding.rivals)
    for name, value in finding.changes.items():
        setattr(r, name, value)
