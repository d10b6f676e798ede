"""Coverage: the content words of a question that the reading leaves out.

In: the question's tokens and items, and the draft read from them. Out: the words that are explained neither by a part
of the query nor by a list of words without a meaning of their own. A reading with such a word never has high
confidence.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.parser.interpretation import ColumnKey, Expression, Membership, Query
from agent.parser.joins import JoinPlan
from agent.parser.periods import WEEKDAYS
from agent.parser.persons import birth_columns
from agent.parser.question import Item, LinkedQuestion
from agent.parser.state import Draft
from agent.parser.stored_states import SAME_EVENT
from agent.parser.word_lists import participle, word_list
from eval.language.inflection import root
from eval.language.lexicon import FUNCTION_WORDS, word_set

_SILENT_KEYWORDS = ("and", "or", "relative", "also", "group", "distinct")

RELATIONAL = word_list("relational")
"""Verbs that only link a thing to its description: followed by a value, column or table, they add no meaning."""
_REACH = 5
_STRANDED = word_set("in from to at with for on by . ?")
_ASKING = word_set("what whom how why")
"""Words that ask for the verb's object, which the reading then lacks (`and what do they teach?`)."""
_NAMED = word_set("table column value")


def not_understood(q: LinkedQuestion, draft: Draft) -> tuple[str, ...]:
    """Content words that the reading does not explain, in order."""
    unread = []
    for k, item in enumerate(q.items):
        if _means_something(q.items, k) or _since_when(q, draft, k):
            unread.append(q.tokens[item.start].text)
            continue
        positions = range(item.start, item.end)
        if item.kind == "sign" or any(p in draft.used for p in positions):
            continue
        words = [q.tokens[p].text for p in positions if q.tokens[p].lower not in FUNCTION_WORDS]
        if words and not item.is_keyword(*_SILENT_KEYWORDS):
            unread.append(" ".join(words))
    return tuple(dict.fromkeys(unread))


_VAGUE = word_set("available existing former")
_DESCRIBING = word_set("full current new complete used")
"""Words that say which rows are meant, but for the set phrases of `_SET_PHRASES`."""
_SET_PHRASES = {
    "full": word_set("name names list details information info address title titles time date"),
    "complete": word_set("name names list details information info address"),
    "used": word_set("by for in with at on to the most least often more"),
}
_PARTICLES = word_set("out off up over on in back away down")
_BE = word_set("is are was were be been still not yet")
_FIGURES = word_set("value values number numbers state result results set")
"""Words that are a figure of what stands before them: `stock value`."""
_BEFORE_USED = word_set("is are was were be been most ever never often get gets has have had")


def _means_something(items: Sequence[Item], k: int) -> bool:
    """Whether a word that mostly carries no meaning does here: `full classes`, `the same city`, `members by club` (not
    `staff members`), and `new customers`, unless a period says since when."""
    item = items[k]
    if item.kind != "word":
        return False
    before, after = items[k - 1] if k else None, items[k + 1] if k + 1 < len(items) else None
    described = after is not None and after.mention is not None and bool(after.mention.tables)
    if item.lower in _DESCRIBING:
        next_word = after.lower if after is not None else ""
        phrase = set(next_word.split()[:1]) & _SET_PHRASES.get(item.lower, frozenset())
        using = item.lower == "used" and before is not None and before.lower.split()[-1] in _BEFORE_USED
        using = using and not (described and before is not None and before.lower.split()[-1] == "most")
        dated = any(x.is_keyword("period") or x.kind == "number" or x.lower in ("by", "since") for x in items)
        return not (phrase or using or (item.lower == "new" and described and dated))
    if item.lower in _VAGUE:
        return described
    if item.lower in _PARTICLES:
        return after is None and before is not None and before.lower.split()[-1] in _BE
    if item.lower in _FIGURES:
        return after is None and before is not None and before.mention is not None and bool(before.mention.tables)
    if item.lower in ("member", "members"):
        return before is None or before.mention is None
    return item.lower == "same" and (after is None or after.lower not in ("as", "time"))


def _since_when(q: LinkedQuestion, draft: Draft, k: int) -> bool:
    """`revenue from new customers in 2025`: the period is about the revenue, so nothing says who is new."""
    after = q.items[k + 1].mention if k + 1 < len(q.items) else None
    if q.items[k].lower != "new" or after is None or not after.tables:
        return False
    compared = [c.left.column for c in draft.query.conditions() if c.left.column]
    if {c.key for c in birth_columns(q.vocabulary)}.intersection(compared):
        return True  # nobody is new by birth
    dated = {key[0] for key in compared if q.vocabulary.columns[key].role in ("date", "year")}
    return bool(dated) and not dated & {table.name for table, _ in after.tables}


def unaccounted(
    unread: Sequence[str], q: LinkedQuestion, draft: Draft, plans: Sequence[JoinPlan]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words that the query leaves out, and those of them that are relational verbs whose complement was read."""
    left_out = [w for w in unread if not (_explained_by_join(w, q, plans) or _explained(w, q, draft))]
    verbs = (w for w in left_out if w.lower() in RELATIONAL and w.lower() not in _DESCRIBING)
    tied = [word for word in verbs if _complemented(word, q, draft)]
    missing = [word for word in left_out if word not in tied]
    joined = {table for plan in plans for table in plan.tables}
    missing += [word for word in _without_effect(q, draft, joined) if word not in missing]
    return tuple(missing), tuple(tied)


_LIVING = word_set("live lives lived living reside resides residing come comes came originate originates hail hails")
_HAVE = word_set("sell offer carry stock own employ run keep serve")


def _explained(word: str, q: LinkedQuestion, draft: Draft) -> bool:
    """Whether a verb says no more than a condition or the rows themselves do."""
    at, verb = _position(word, q), word.lower()
    # `reported before 1978`: a date column that is compared is called like the verb
    compared = (q.vocabulary.columns[c.left.column] for c in draft.query.conditions() if c.left.column is not None)
    verbs = {root(verb), *map(root, SAME_EVENT.get(verb, ()))}
    dated = participle(verb) and any(c.role == "date" and verbs & set(map(root, c.words)) for c in compared)
    placed = verb in _LIVING and q.word(at + 1) in ("in", "from") and q.sort(at + 2) == "value"  # `live in Brazil`
    # `how many products do we sell`: those that there are; not what was sold, of which `did we sell` speaks
    ends = q.word(at + 1) in ("", ".", "?")
    had = verb in _HAVE and ends and q.word(at - 2) == "do" and q.word(at - 1) in ("we", "you", "they")
    return dated or placed or had


def _position(word: str, q: LinkedQuestion) -> int:
    return next((k for k, x in enumerate(q.items) if x.lower == word.lower()), len(q.items))


def _complemented(word: str, q: LinkedQuestion, draft: Draft) -> bool:
    """Whether the verb is followed by something that was read, or preceded by its object (`the city they live in`). A
    thing that was named, or a word that stands for it, comes before it."""
    at = _position(word, q)
    subject = q.last_word(at - 1) in _SUBJECTS
    if not subject and not any(sort in (*_NAMED, "measure", "literal") for sort in q.sorts[:at]):
        return False
    after = q.items[at + 2 : at + 3]
    stranded = at + 1 >= len(q.items) or q.items[at + 1].lower in _STRANDED
    if stranded and q.word(at - 1) in ("still", "yet", "already"):
        return False  # `are still going`: a state of the rows
    on_days = any(_day(x) for x in q.items[at + 2 : at + 4])
    if stranded and not on_days and not (after and after[0].kind in ("mention", "literal", "number")):
        things = [k for k, sort in enumerate(q.sorts[:at]) if sort in _NAMED]
        return bool(things) and at > 2 and not any(x.lower in _ASKING for x in q.items[things[-1] + 1 : at])
    for k in range(at + 1, min(len(q.items), at + 1 + _REACH)):
        item = q.items[k]
        if item.lower in (".", "?", "!", ";"):
            return False
        named = item.kind in ("mention", "number", "literal") or item.is_keyword("period", "sup", "sup_adj", "cmp")
        if named or _day(item):
            return bool(draft.used & set(range(item.start, item.end)))
    return False


_SUBJECTS = word_set("who that which we they i you he she it people are is was were been do does did have has")


def _day(item: Item) -> bool:
    return item.lower.removesuffix("s") in (*WEEKDAYS, "weekend", "weekday")


def _without_effect(q: LinkedQuestion, draft: Draft, joined: set[str]) -> list[str]:
    """Stored values, and words that resemble a table or a column, that were read but do not appear in the query."""
    tables, columns = names_in(draft.query)
    named = {name for _, name in columns}
    unused = []
    for k, item in enumerate(q.items):
        mention = item.mention
        if mention is None or not draft.used & set(range(item.start, item.end)):
            continue
        linking = root(item.lower) in _LINKING
        faint = q.sorts[k] == "column" and not (mention.tables or linking) and mention.columns[0][1] < _FAINT
        faint = faint and not any(c.foreign for c, _ in mention.columns)  # the row that it refers to stands for it
        held = {h.column for h in mention.values} if q.sorts[k] == "value" else {c.name for c, _ in mention.columns}
        if q.sorts[k] == "table" and mention.tables[0][1] < _FAINT:
            meant = {t.name for t, _ in mention.tables} | {c.table for c, _ in mention.columns}
            unused += [item.lower] * (not meant & (tables | joined))
        # `employees with a manager`, where the manager is no table but another employee
        before = [t.lower for t in q.tokens[max(0, item.start - 2) : item.start]]
        had = before[-1:] in (["a"], ["an"]) and before[0] in ("with", "have", "has", "having")
        had = had and q.sorts[k] == "column" and mention.columns[0][0].foreign
        if not named & held and (faint or q.sorts[k] == "value" or had or _tells_what_became(q, k)):
            unused.append(item.lower)
    return unused


def _tells_what_became(q: LinkedQuestion, k: int) -> bool:
    """`flights were delayed`, `closed the most`: a column that says what became of the rows, behind `be`, or as a date
    that is missing where it has not happened yet."""
    if q.sorts[k] != "column" or not participle(q.items[k].lower):
        return False
    column = q.mention(k).columns[0][0]
    open_ended = column.role == "date" and column.column.nullable
    return q.previous_word(k) in _BE or (open_ended and bool(q.values.facts(*column.key).nulls))


_FAINT = 0.9
"""A word that names a column with a lower score may mean something else."""


def names_without_effect(q: LinkedQuestion, plans: Sequence[JoinPlan], query: Query) -> int:
    """The number of column and table names that were read but do not appear in the query."""
    tables, columns = names_in(query)
    for plan in plans:
        tables.update(plan.tables)
    unused = 0
    for k, item in enumerate(q.items):
        mention = item.mention
        if mention is None or q.sorts[k] not in ("table", "column") or mention.values or mention.measure:
            continue
        used_columns = {c.name for c, _ in mention.columns} & {name for _, name in columns}
        if not used_columns and not any(t.name in tables for t, _ in mention.tables):
            unused += not any(c.table in tables and c.role in ("id", "name") for c, _ in mention.columns)
    return unused


def names_in(query: Query) -> tuple[set[str], set[ColumnKey]]:
    """The tables and columns of a query and of its subqueries."""
    tables: set[str] = set(query.tables)
    columns: set[ColumnKey] = set()
    expressions = [*query.select, *query.group, *query.within, *query.ordered_by()]
    parts = [*(part for clause in (*query.where, *query.base) for part in clause), *query.having]
    subqueries = [query.intersect]
    while parts:
        part = parts.pop()
        if isinstance(part, Membership):
            tables.update((part.of, part.table))
            parts.extend(inner for clause in part.where for inner in clause)
        else:
            expressions.extend((part.left, *(value for value in part.values if isinstance(value, Expression))))
            subqueries.append(part.against)
    for e in expressions:
        tables.update(e.tables)
        columns.update(c for c in (e.column, e.factor) if c is not None)
    for subquery in filter(None, subqueries):
        inner_tables, inner_columns = names_in(subquery)
        tables |= inner_tables
        columns |= inner_columns
    return tables, columns


AGENTIVE = RELATIONAL | word_list("agentive")
"""Verbs that say no more than that one thing belongs to another: a join between the two explains them."""
_LINKING = frozenset(map(root, (*AGENTIVE, "part", "born", "day")))
"""Words that tie things together, or say of what kind they are, by their roots."""


def _tables_named(q: LinkedQuestion, start: int, end: int) -> set[str]:
    """Tables that the words from `start` to `end` name, directly or through a stored value."""
    tables: set[str] = set()
    for k, item in enumerate(q.items):
        if start <= item.start and item.end <= end and item.mention is not None:
            if q.sorts[k] == "table":
                tables.add(q.table_of(k))
            elif q.sorts[k] == "value":
                tables.update(h.table for h in item.mention.values[:4])
    return tables


def _explained_by_join(word: str, q: LinkedQuestion, plans: Sequence[JoinPlan]) -> bool:
    """Whether the join explains a verb between two entities linked by foreign keys, directly or over one bridge
    table."""
    lower = word.lower()
    at = next((k for k, t in enumerate(q.tokens) if t.text == word), len(q.tokens))
    if not plans or not plans[-1].steps:
        return False
    plan = plans[-1]
    # `enrolled`, where the join goes through enrolments: a table or a key of the join is called like the verb
    keys = [(e.left, c) for _, e in plan.steps for c in e.left_columns]
    named = [q.vocabulary.tables[t] for t in plan.tables] + [q.vocabulary.columns[k] for k in keys]
    if lower not in AGENTIVE and not any(root(lower) == root(w) for x in named for w in x.words):
        return False
    sides = [_tables_named(q, 0, at), _tables_named(q, at + 1, len(q.tokens))]
    unnamed = set(plan.tables) - sides[0] - sides[1]
    bridges = all(q.vocabulary.tables[t].bridge for t in unnamed)
    before, after = (side & set(plan.tables) for side in sides)
    return bool(before and after) and before != after and len(unnamed) <= 1 and bridges
