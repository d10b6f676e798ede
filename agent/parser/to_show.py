"""What to show, listed behind the question: `open invoices: number, customer, amount`, `… with the price`.

In: a question and the vocabulary; then the draft of the part before the list. Out: the two parts, where each word of
the list is the name of something; and the draft with these columns shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.interpretation import Expression, Function
from agent.parser.mentions import Item
from agent.parser.question import LinkedQuestion
from agent.parser.schema_linking import link
from agent.parser.state import Draft
from eval.language.inflection import lemma
from eval.language.lexicon import word_set
from eval.language.tokens import tokenize

_MARK = re.compile(r"\s*[:;.?!–—(]\s*|,\s+|\s+-\s+|\s+(?=with\s)", re.ASCII)
_OPENER = re.compile(
    r"^(?:(?:please|and|i (?:want|need|would like|'d like)(?: to (?:see|have|know))?) ){0,2}"
    r"(?:(?:show|list|give|display|include|tell|say|with|plus|also|including|along with|together with|add|state)"
    r"(?: me| us)? (?:also )?)?(?:(?:the|their|its|his|her|each) )?",
    re.IGNORECASE,
)
_ADDS = re.compile(r"\b(?:with|plus|also|including|along|together|include|add)\b", re.IGNORECASE)
_CLOSING = re.compile(
    r"(?:,? (?:please|pls|too|as well|of each|for each|for both|each|for them)){0,4}\s{0,3}[).?!]{0,3}\s{0,3}\Z", re.I
)
_PARTS = re.compile(r",\s*(?:and\s+)?|\s+(?:and|&|plus|\+)\s+", re.IGNORECASE)
_IDLE = re.compile(
    r"^(?:(?:the|their|its|his|her|a|an|each|of|to see|date(?= \w+ed\b)) )+|(?:'s|’s)(?= )", re.IGNORECASE
)
_NAMES = word_set("name names title titles")
_FIGURES = word_set("number numbers count total totals amount amounts figure figures sum quantity how many much it "
                    "of")  # fmt: skip
_AGGREGATES: dict[str, Function] = {"total": "sum", "average": "avg", "avg": "avg", "mean": "avg"}
_KEYS = word_set("number no nr id code reference")
_FILLERS = _KEYS | word_set("person address details date name value")
"""Words that add nothing to the name before them: a contact person, a mail address."""
_LONGEST = 8
"""Things in a list."""
_WORDS = 5
"""Words of one of them."""
_SAME = 0.75
"""The least score of a name."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A question in two parts."""

    head: str
    parts: tuple[str, ...]
    adds: bool
    """The parts are shown beside what the head names."""
    bare: bool
    """Only a comma stands before the list."""


def listed(text: str, words: Vocabulary) -> Listed | None:
    """The question and the list behind it; None where there is none."""
    for mark in _MARK.finditer(text):
        head = text[: mark.start()].strip()
        if len(head.split()) < 2:
            continue
        rest = _CLOSING.sub("", text[mark.end() :])
        said = _OPENER.sub("", rest)
        opener = rest.removesuffix(said)
        parts = tuple(_IDLE.sub("", part.strip()).strip() for part in _PARTS.split(said))
        bare = mark[0].strip() == "," and not opener
        if not all(parts) or len(parts) > _LONGEST or (bare and len(parts) == 1 and not _figure(parts[0])):
            continue
        if not mark[0].strip() and (len(parts) < 2 or all(map(words.table_named, parts)) or any(map(_figure, parts))):
            continue  # `customers with orders and reviews`
        if all(_nameable(part, words) for part in parts):
            adds = _ADDS.search(opener) is not None or all(map(_figure, parts))
            return Listed(head, parts, adds, bare)
    return None


def _figure(part: str) -> bool:
    return set(part.lower().split()[:2]) <= _FIGURES or part.lower().startswith(("how many", "number of", "total "))


def _nameable(part: str, words: Vocabulary) -> bool:
    """Whether each word is in the name of something, or says which figure is meant."""
    said = part.lower().split()
    known = (w in _NAMES or w in _FIGURES or lemma(w) in words.holders or bool(words.affinities(w)) for w in said)
    return len(said) <= _WORDS and all(known) and not _ASKS & set(said[:1])


_ASKS = word_set("which what who where when why by per in for from not without only sorted ordered")


def show(draft: Draft, q: LinkedQuestion, asked: Listed) -> bool:
    """Show the listed columns in place of, or beside, those of the draft; False where one of them is not found."""
    query = draft.query
    if query.shape is not None or query.within or any(e.share or not (e.column or e.function) for e in query.select):
        return False
    if asked.bare and not query.group and "shown_by_default" not in draft.doubts:
        return False  # the list begins before the comma
    figures = [e for e in (*query.select, *query.ordered_by(), *(c.left for c in query.having)) if e.function]
    if figures and not query.group:
        return False
    named = [e.column[0] for e in query.group if e.column and not e.part]
    tables = [*named, *draft.entities, *(t for e in query.select for t in e.tables)]
    main = tables[0] if tables else ""
    if not main:
        return False
    found: list[Expression] = []
    for part in asked.parts:
        meant = tuple(_meant(part, q, main, figures))
        if not meant:
            return False
        found.extend(meant)
    groups = [e for e in query.select if query.group and not e.function]
    summed = any(e.function and e not in figures for e in found)
    adding = [e for e in query.select if not (summed and e.function == "count")]
    kept = adding if asked.adds else [e for e in groups if e not in query.group or _kind(e, q)]
    asked_for = [e for e in adding if e.function and "shown_by_default" not in draft.doubts]
    if "shown_by_default" in draft.doubts:  # a row without a name needs no number beside what is asked for
        kept = [e for e in kept if e.column is None or e.function or not q.vocabulary.columns[e.column].primary]
    kept = [e for e in kept if e not in found]
    shown = list(dict.fromkeys([*kept, *found, *asked_for]))
    if query.group:
        plain = [e for e in shown if not e.function and e not in query.group]
        if any(e.column is None or e.column[0] != main for e in plain):
            return False
        query.group.extend(plain)
    query.select[:] = shown
    draft.doubts.pop("shown_by_default", None)
    return True


def _kind(e: Expression, q: LinkedQuestion) -> bool:
    """A group that is no row's name: a month, a city."""
    return bool(e.part) or (e.column is not None and q.vocabulary.columns[e.column].role != "name")


def _meant(part: str, q: LinkedQuestion, main: str, figures: Sequence[Expression]) -> Iterator[Expression]:
    """What one part of the list names."""
    said = part.lower().split()
    if said[0] in _AGGREGATES and len(said) > 1 and figures:
        amounts = [e for e in _meant(" ".join(said[1:]), q, main, ()) if e.column and not e.function]
        amounts = [e for e in amounts if e.column and q.vocabulary.columns[e.column].role == "number"]
        if len(amounts) == 1 and all(f.column != amounts[0].column for f in figures):
            yield Expression(_AGGREGATES[said[0]], amounts[0].column)
            return
    if figures and _figure(part):
        yield figures[-1]
        return
    if set(said) <= _NAMES:
        yield from q.named_by(main)
        return
    items = [x for x in link(tokenize(part), q.vocabulary, q.values) if x.kind != "sign"]
    mentions = [x.mention for x in items]
    if not 1 <= len(items) <= 2 or mentions[0] is None:
        return
    table = mentions[0].tables[0][0].name if mentions[0].tables else ""
    if len(items) == 1:
        yield from _of_item(items[0], q, main)
    elif table and items[1].lower in _NAMES:
        yield from () if q.many_of(main, table) else q.named_by(table)
    elif table and items[1].lower in _KEYS and (key := q.vocabulary.key_column(table)) is not None:
        yield Expression(column=key.key)
    elif items[1].lower in _FILLERS:
        yield from _of_item(items[0], q, main)
    elif table and mentions[1] is not None:
        yield from _of_item(items[1], q, main, table)


def _of_item(item: Item, q: LinkedQuestion, main: str, table: str = "") -> Iterator[Expression]:
    assert item.mention is not None
    tables = [t for t, score in item.mention.tables if score >= _SAME]
    named = [(c, score) for c, score in item.mention.columns if score >= _SAME - 0.15 and c.table == (table or c.table)]
    columns = [(score - far, score, c) for c, score in named if (far := _distance(q, main, c)) is not None]
    worth, score, best = max(columns, key=lambda found: found[0], default=(0.0, 0.0, None))
    other = best is None or best.foreign or best.table != main or score < _SAME
    if tables and not table and other and (tables[0].name == main or not q.many_of(main, tables[0].name)):
        yield from q.named_by(tables[0].name)
        return
    if best is not None and worth > 0:
        yield Expression(column=best.key)


def _distance(q: LinkedQuestion, main: str, column: ColumnWord) -> float | None:
    """How far a column is from the rows that are listed; None where a row may have several of it."""
    if column.table == main:
        return 0.0
    if q.graph.plan([main, column.table]) is None or q.many_of(main, column.table):
        return None
    return 0.1 * q.graph.distance(main, column.table)
