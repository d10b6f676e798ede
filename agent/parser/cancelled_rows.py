"""Cancelled rows: revenue that also counts cancelled, void or refunded rows says so.

In: a draft, the question, the value index. Out: a note in the draft, where a status of the rows summed has such a value
and the question names none.
"""

from __future__ import annotations

from agent.parser.question import LinkedQuestion
from agent.parser.state import Draft
from eval.language.lexicon import word_set

_STATUS = word_set("status state")
_UNDONE = word_set("cancelled canceled void voided refunded returned rejected failed declined")
_FEW = 30
"""A status has at most this many values."""


def note_cancelled(draft: Draft, q: LinkedQuestion) -> None:
    """Add the note to the draft."""
    query = draft.query
    if not any(item.mention is not None and item.mention.measure for item in q.items):
        return
    summed = {t for e in query.select if e.function == "sum" for t in e.tables}
    parents = {e.right for t in summed for e in q.graph.edges(t) if e.left == t}
    for table in (*sorted(summed), *sorted(parents - summed)):
        for column in q.vocabulary.by_table[table]:
            if column.words[-1] not in _STATUS or any(c.left.column == column.key for c in query.conditions()):
                continue
            stored = q.values.values(*column.key)
            undone = [v for v in stored if v.lower() in _UNDONE] if len(stored) <= _FEW else []
            if undone:
                rows = q.vocabulary.tables[table].plural
                draft.notes.append(f"{' and '.join(undone)} {rows} are counted, too")
                return
