"""Rates of a state: `no-show rate by doctor` as the share of the appointments that are no-shows.

The state is a stored value, a yes-or-no column, or a date that is set when it happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.knowledge.vocabulary import ColumnWord, TableWord
from agent.parser.flags import is_flag
from agent.parser.stored_states import holds_state
from agent.parser.wording.rules import ASKED, UNIT, Known, Wording, rule
from eval.language.inflection import lemma

_STATES = 40
"""A column may hold states if it has at most this many distinct texts."""
_SHARED, _TAIL = 4, 7
"""Letters that two forms of a word share at least, and the longest ending that may follow them."""


@rule(
    rf"^{ASKED}(?:my )?(?:overall |average )?"
    r"(?P<state>[a-z]+(?:[- ][a-z]+)?)[- ](?:rate|ratio|percentage)s?"
    r"(?P<rest>(?: (?:of|for|by|per|in|for each|of each|during|since|last|this|on) .+)?)[?.! ]*$"
)
def rate(match: re.Match[str], known: Known) -> Wording | None:
    """`percentage of … that are …`, where exactly one table has such a state."""
    state, rest = match["state"].lower(), match["rest"]
    columns = known.vocabulary.columns.values()
    if any(c.words[-1] == "rate" and set(c.words[:-1]) & set(state.split()) for c in columns):
        return None
    holders = dict(_holders(state, known))
    named = [t for t in holders if re.search(rf"\b{t.words[-1]}", rest, re.IGNORECASE)]
    if named:
        holders = {named[0]: holders[named[0]]}
    if len(holders) != 1:
        return None
    ((table, value),) = holders.items()
    rest = re.sub(rf"^ (?:of|for|in) (?:the |our |all )?(?:\w+ )?{table.words[-1]}\w*", "", rest, flags=re.IGNORECASE)
    rest = re.sub(r"^ (?:by|per|of each) ", " for each ", rest, flags=re.IGNORECASE)
    return Wording(f"percentage of {table.plural} that are {value}{rest}")


@rule(
    rf"^{ASKED}(?:share|percentage|percent|proportion) of (?:the |our |all )?"
    r"(?P<state>[a-z]+(?:-[a-z]+)?) (?P<rows>[a-z]+s) (?:by|per|for each|for every|in each|of each) (?P<g>.+)$",
    rf"^{ASKED}(?:share|percentage|percent|proportion) of (?:the |our |all )?(?P<rows>[a-z]+s) "
    r"(?:(?:that|which) )?(?:is|are|was|were|got|has been|have been) (?P<state>[a-z]+(?:-[a-z]+)?) "
    r"(?:by|per|for each|for every|in each|of each|each|every) (?P<g>.+)$",
)
def share_in_state(match: re.Match[str], known: Known) -> Wording | None:
    """`share of cancelled orders by month` as `percentage of orders that are cancelled for each month`; by anything
    else than time, the share of all cancelled orders may be meant."""
    state, table = match["state"].lower(), known.table(match["rows"])
    if table is None or not holds_state(state, table.name, known.vocabulary, known.values):
        return None
    rows, group = table.plural, match["g"]
    doubt = f"the share is of the {rows} of each {group}; ask which part of all {state} {rows} it has if that is meant"
    return Wording(
        f"percentage of {rows} that are {state} for each {group}", doubt="" if re.match(UNIT, group) else doubt
    )


def _holders(state: str, known: Known) -> Iterator[tuple[TableWord, str]]:
    """Tables with the word for the state in them."""
    for name, columns in known.vocabulary.by_table.items():
        if word := next(filter(None, (_state_in(state, column, known) for column in columns)), ""):
            yield known.vocabulary.tables[name], word


def _state_in(state: str, column: ColumnWord, known: Known) -> str:
    if column.primary or column.foreign:
        return ""
    named = " ".join(w for w in column.words if w not in ("is", "has", "date", "time", "at", "on", "number"))
    if is_flag(known.values, column) or (column.role == "date" and column.column.nullable):
        return named if _kin(state, named) else ""
    stored = known.values.values(*column.key) if column.role == "text" else ()
    return next((v for v in stored if len(stored) <= _STATES and _kin(state, v)), "")


def _kin(word: str, stored: str) -> bool:
    """Whether two words are forms of one: `cancellation` and `cancelled`, `no-show` and `No Show`."""
    one, other = (re.sub(r"[\W_]+", "", w.lower()) for w in (word, stored))
    if lemma(one) == lemma(other):
        return bool(one)
    shared = next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    ends = (one[shared:], other[shared:])
    return shared >= _SHARED and len(ends[0]) <= _TAIL and ends[1] in ("", "d", "ed", "led", "ted", "t", "ied", "ful")
