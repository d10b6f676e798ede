"""Qualifiers: the words that describe the rows of a table, such as `pending`, `unpaid`, `not shipped` or `expired`.

In: a question's items, the vocabulary, the value index. Out: items of kind `qualifier`, each with the conditions that
its word may mean in the data (see `stored_states`). A word without a match in the data remains a word that is not
understood.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import Vocabulary
from agent.parser.interpretation import Condition, Membership
from agent.parser.mentions import Item, Qualification
from agent.parser.phrases import PARTICIPLES, participle
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding
from agent.parser.stored_states import TIMELY, StateLookup, denied
from agent.parser.word_lists import word_list
from eval.language.lexicon import FUNCTION_WORDS, word_set
from eval.language.tokens import Token

_GRADED = word_list("graded")
"""Words that are adjectives for a state rather than participles."""
_AUXILIARIES = word_set("is are was were be been being get got not never still yet already have has had")


def qualified(
    tokens: Sequence[Token], items: Sequence[Item], vocabulary: Vocabulary, values: ValueIndex, today: dt.date
) -> tuple[Item, ...]:
    """The items; words that describe a table's rows now carry the conditions that the data offers for them."""
    tables = _tables(items) or _tables_of_values(items, vocabulary)
    if not tables and items and items[0].lower == "who":  # `who left`: the tables with a column called so
        columns = (c for item in items if item.mention is not None for c, _ in item.mention.columns[:1])
        tables = dict.fromkeys((c.table for c in columns), 0)
    read: list[Item] = []
    for k, item in enumerate(items):
        qualifications: tuple[Qualification, ...] = ()
        if tables and _describes(tokens, items, k, tables):
            lookup = StateLookup(vocabulary, values, today)
            negated = any(x.is_keyword("neg") for x in items[max(0, k - 2) : k])
            qualifications = tuple(lookup.conditions(item.lower, tables, negated))
        verb = read[-1] if qualifications and read and item.lower in TIMELY else None
        if verb is not None and verb.end == item.start and participle(verb.lower):
            item = replace(item, start=read.pop().start)  # `shipped late`: the verb selects the dates to compare
        read.append(replace(item, kind="qualifier", mention=None, meanings=qualifications) if qualifications else item)
    return tuple(read)


def _tables(items: Sequence[Item]) -> dict[str, int]:
    """The tables that the question names, each with the item that names it."""
    tables: dict[str, int] = {}
    for k, item in enumerate(items):
        if item.mention is not None and not item.mention.values:
            for table, score in item.mention.tables[:2]:
                if score >= 0.75 and not participle(item.lower):
                    tables.setdefault(table.name, k)
    return tables


def _tables_of_values(items: Sequence[Item], vocabulary: Vocabulary) -> dict[str, int]:
    """Where no table is named (`dogs still alive`): the tables with the stored values, and those that refer to them."""
    tables: dict[str, int] = {}
    for k, item in enumerate(items):
        for hit in item.mention.values[:1] if item.mention is not None else ():
            tables.setdefault(hit.table, k)
            for table in vocabulary.tables.values():
                if any(key.ref_table == hit.table for key in table.table.foreign_keys):
                    tables.setdefault(table.name, k)
    return tables


def _describes(tokens: Sequence[Token], items: Sequence[Item], k: int, tables: dict[str, int]) -> bool:
    """Whether the item describes the state of a thing: `pending orders`, `orders that are not shipped`."""
    item = items[k]
    word = item.lower
    if item.end - item.start != 1 or tokens[item.start].kind != "word" or tokens[item.start].capital:
        return False
    if k == len(items) - 1 and k > 1 and items[k - 1].lower in ("we", "they") and items[k - 2].lower in ("did", "have"):
        return len(word) > 2  # `how many bids did we win`
    if _happened(items, k, tables):
        return True
    if item.kind == "mention":
        mention = item.mention
        elsewhere = word in TIMELY and mention is not None and not {h.table for h in mention.values} & set(tables)
        stored = mention is None or (mention.values and not elsewhere)
        if stored or not (participle(word) or word in _GRADED):
            return False
        assert mention is not None
        own = [(c, s) for c, s in mention.columns if c.table in tables]
        exact = max((s for c, s in own if c.role in ("flag", "number", "text")), default=0.0)
        if exact >= 0.9:
            return False
    elif item.kind != "word" or (word in FUNCTION_WORDS and word not in _GRADED | PARTICIPLES):
        return False
    after = items[k + 1] if k + 1 < len(items) else None
    if after is not None and after.mention is not None and after.mention.tables and not after.mention.values:
        return True
    before = next((x.lower.split()[-1] for x in reversed(items[:k]) if x.lower not in ("the", "a", "yet")), "")
    stated = before in _AUXILIARIES or (word in TIMELY and participle(before)) or before in ("that", "which", "who")
    return (stated or participle(word)) and not _complemented(items, k)


def _happened(items: Sequence[Item], k: int, tables: dict[str, int]) -> bool:
    """`were closed by Ida`, `did Ida close`, `closed the most tickets`: a date that not every row has says what was
    done."""
    mention = items[k].mention
    dates = mention.columns[:1] if mention is not None and not mention.values and not mention.tables else ()
    if not any(c.role == "date" and c.column.nullable and c.table in tables and s >= 0.9 for c, s in dates):
        return False
    if k == len(items) - 1 or (k == len(items) - 2 and items[-1].kind == "sign"):
        return any(x.lower in ("did", "has", "have") for x in items[:k])
    following = [x for x in items[k + 1 : k + 4] if x.lower != "the"][:2]
    doer = following[1].mention if len(following) > 1 and following[0].lower == "by" else None
    named = doer is not None and any(hit.value[:1].isupper() for hit in doer.values)  # Ida, not `by voucher`
    return named or following[0].is_keyword("sup")


def _complemented(items: Sequence[Item], k: int) -> bool:
    """`shipped by air`, `paid after the due date`: the words that follow say more than the state and are read
    separately."""
    after = items[k + 1] if k + 1 < len(items) else None
    if after is None or after.lower in (".", "?", "!", ",", ")", "and", "or", "yet", "so", "but"):
        return False
    if after.lower in TIMELY:
        return False
    if after.is_keyword("group", "order", "dir", "relative", "period"):
        return after.is_keyword("period")
    if after.lower in ("in", "during", "since", "on", "last", "this") or after.is_keyword("cmp"):
        further = items[k + 2] if k + 2 < len(items) else None
        if further is not None and further.lower in ("their", "his", "her", "its"):
            return True
        return further is None or further.is_keyword("period") or further.kind in ("number", "literal")
    return True


def qualifier(q: LinkedQuestion, c: Context, i: int) -> Finding:
    """The condition of the qualifier at item i, for the table nearest to the topic of the question."""
    meanings = q.items[i].meanings
    near = [t for t in (c.main_entity, *c.entities, *q.named) if t]
    best = min(meanings, key=lambda m: near.index(m.table) if m.table in near else len(near))
    several = len({m.condition for m in meanings if m.table == best.table}) > 1 and best.by_synonym
    holds = {
        "qualifier_open": several or (c.negated and best.also is not None),
        "qualifier_by_synonym": best.by_synonym,
    }
    condition, note, either = best.condition, best.note, best.either
    if c.negated and either is not None:
        condition, either = either, None  # neither: the end has passed
    if c.negated and isinstance(condition, Membership):
        condition = replace(condition, negated=not condition.negated)
    elif c.negated and isinstance(condition, Condition):
        condition = denied(condition)
    return Finding(
        (i,),
        (best.table,),
        clauses=(
            (condition, either) if either is not None else (condition,),
            *(((best.also,),) if best.also is not None else ()),
        ),
        doubts=tuple(name for name, doubtful in holds.items() if doubtful),
        notes=(f"{note}, and here the opposite" if c.negated else note,),
        changes={"negated": False},
    )
