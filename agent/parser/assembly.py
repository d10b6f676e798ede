"""Assembly: what a rule found joins the clauses read so far.

In: a reading, a `Finding`. Out: the reading with its clauses, doubts and what waits for the next words. While words are
read, the state of a reading is changed nowhere else.
"""

from __future__ import annotations

from agent.parser.interpretation import OPPOSITE, Clause, Condition, Membership
from agent.parser.question import LinkedQuestion
from agent.parser.state import Finding, ReadingState


def join(q: LinkedQuestion, r: ReadingState, finding: Finding) -> None:
    for i in finding.used:
        r.use(i)
    for i in finding.unused:
        r.draft.used.difference_update(range(q.items[i].start, q.items[i].end))
    for table in finding.entities:
        r.entity(table)
    if finding.hidden:
        r.query.select = [e for e in r.query.select if e not in finding.hidden]
    r.query.select.extend(finding.shown)
    if finding.once is not None:
        r.query.distinct = finding.once
    r.sink.extend(finding.clauses)
    if finding.absent:
        r.absent(finding.absent)
    r.groups.extend(finding.groups)
    for condition in finding.conditions:
        _add(q, r, condition)
    if finding.alternatives and (not finding.conditions or (r.sink and r.sink[-1][-1] == finding.conditions[-1])):
        r.sink[-1] = (*r.sink[-1], *finding.alternatives)
    if finding.reordered:
        r.query.order = []
    r.query.order.extend(finding.order)
    if finding.limit is not None:
        r.query.limit = finding.limit or None
    if finding.offset is not None:
        r.query.offset = finding.offset
    _join_notes(r, finding)
    for name, value in finding.changes.items():
        setattr(r, name, value)


def _join_notes(r: ReadingState, finding: Finding) -> None:
    for doubt in finding.doubts:
        r.draft.doubt(doubt)
    for doubt in finding.small_doubts:
        r.draft.doubt(doubt, 0.5)
    for doubt in finding.settled:
        r.draft.doubts.pop(doubt, None)
    r.draft.rivals.extend(finding.rivals)
    r.draft.notes.extend(finding.notes)
    r.draft.assumed.extend(finding.assumed)
    r.draft.any_year = r.draft.any_year or finding.any_year


def _add(q: LinkedQuestion, r: ReadingState, condition: Condition) -> None:
    """Add a condition; it is joined to the last one by OR if the words say so."""
    if r.denied_column and condition.left.column != r.denied_column:
        r.sink, r.denied_column = r.query.where, None
    if r.negated and not r.denied_column and _absent_value(q, r, condition):
        return
    if r.negated and r.denied_column:
        r.negated = False
    if r.negated:
        negated = OPPOSITE.get(condition.operator)
        if negated is not None:
            condition = Condition(condition.left, negated, condition.values, condition.against, condition.half_open)
        if not r.excepting:
            r.negated = False
    if condition.left.function:
        r.query.having.append(condition)
        return
    previous = r.sink[-1] if r.sink else None
    last = previous[-1] if previous else None
    same = isinstance(last, Condition) and last.left == condition.left and last.operator == condition.operator
    equal = condition.operator in ("=", "like") or (isinstance(last, Condition) and _apart(last, condition))
    if previous is not None and (r.or_next or (same and equal and not r.both and not r.query.intersect)):
        r.sink[-1] = (*previous, condition)
        if not r.or_next:
            r.draft.doubt("and_read_as_or")
    elif previous is not None and same and equal and r.both:
        r.sink.append((condition,))
        r.draft.doubt("both_same_column")
    else:
        r.sink.append((condition,))
    r.or_next = False
    r.in_head = r.in_head and not (r.query.select or r.entities)


def _absent_value(q: LinkedQuestion, r: ReadingState, condition: Condition) -> bool:
    """`customers who never bought tea`: when the entity has many such rows, none of them may have the value."""
    column, entity = condition.left.column, r.main_entity
    if condition.left.function or condition.operator not in ("=", "like") or condition.against is not None:
        return False
    if column is None or r.sink is not r.query.where or r.counting or entity in ("", column[0]):
        return False
    if not q.many_of(entity, column[0]):
        return False
    where: list[Clause] = [(condition,)]
    r.query.where.append((Membership(entity, column[0], where, True),))  # type: ignore[arg-type]
    r.sink = where
    r.denied_column = column
    if not r.excepting:
        r.negated = False
    r.in_head = r.in_head and not (r.query.select or r.entities)
    return True


def _apart(one: Condition, other: Condition) -> bool:
    """Whether two periods have no day in common: `in 2024 and 2025` is either year."""
    return (
        one.half_open and other.half_open and (one.values[1] <= other.values[0] or other.values[1] <= one.values[0])  # type: ignore[operator]
    )
