"""Projection: the role of a column named in the question. It is shown, counted, summed, restricted, grouped by, or only
gives the owner of other columns.

In: a reading at a mention of a column. Out: its query's projection, or a condition, group or context.
"""

from __future__ import annotations

from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser import conditions, time_conditions
from agent.parser.interpretation import Expression, Function
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding, Findings
from agent.parser.stored_states import ANSWERS, is_flag, says
from agent.parser.time_conditions import TIME_WORDS
from agent.parser.word_lists import word_list
from eval.language.inflection import lemma
from eval.language.lexicon import FUNCTION_WORDS, word_set

_CALENDAR = ("year", "years", "date", "dates", "the year", "time")


def column(q: LinkedQuestion, c: Context, i: int) -> Findings:
    """Decide the role of the column named at item i."""
    mention = q.mention(i)
    if c.grouping:
        column = c.column_of(i)
        if is_flag(q.values, column) and q.sort(i + 1) == "table":
            yield replace(conditions.flag(q, column, c.negated), used=(i,))
        elif _only_prefix(q, i, column):
            yield Finding((i,))
        else:
            yield Finding((i,), groups=(("column", Expression(column=column.key)),), changes={"grouping": False})
        return
    finding = (conditions.superior(q, c, i) if c.in_head else None) or conditions.refers_to_named(q, i)
    if finding is not None:
        yield finding
        return
    if conditions.condition_follows(q, c.in_head, i) and not (c.in_head and c.functions and _close_function(q, i)):
        only_calendar = mention.text.lower() in _CALENDAR and time_conditions.dated(q, c, i)
        yield Finding((i,), changes={} if only_calendar else {"last_column": (i, c.column_of(i))})
        return
    if (nothing_new := _nothing_new(q, c, i)) is not None:
        yield nothing_new
        return
    added = bool(c.functions) and set(c.functions) <= {"avg", "sum"} and not c.counting
    column = c.column_of(i, "number" if added else "")
    yield Finding((i,))
    if _only_prefix(q, i, column) or _only_ties(q, c, i, column):
        return
    if c.in_head and not c.functions and column.role == "date" and (_names_event(q, i) or conditions.deed(q, i)):
        yield _rows_of_event(c, i, column)
    elif c.in_head and not mention.opposite and _qualifies_next(q, i, column):
        yield conditions.flag(q, column, c.negated)
    elif listed := _listed_with(q, c, i, column):
        names = () if c.query.select else q.named_by(c.head_entity or c.entities[0])
        yield Finding(
            shown=(*names, *(Expression(column=n.key) for n in listed)), changes={"last_column": (i, listed[0])}
        )
    elif not c.in_head:
        yield _restricted(q, c, i, column, mention.opposite)
    else:
        yield from _in_head(q, c, i, column, mention.opposite)


def _in_head(q: LinkedQuestion, c: Context, i: int, column: ColumnWord, opposite: bool) -> Findings:
    """A column named in the head is shown, unless its words say something about the rows."""
    plain = not (c.counting or c.functions)
    # `Which trip started from …`: the verb resembles a column (`start_date`), but the question asks for the trip
    said = q.items[i].lower.endswith("ed") and q.words[0] != "when" and i > 0
    named = said and (q.sorts[i - 1] in ("table", "column", "value") or q.word(i - 1) in ("was", "were", "been"))
    only_verb = named and q.mention(i).columns[0][1] < 0.9 and (c.entities or c.query.select)
    if plain and (only_verb or (c.query.select and not _coordinated(q, i))):
        yield Finding(doubts=("column_context",))
        return
    flagged = is_flag(q.values, column)
    if opposite and not flagged:
        yield Finding(unused=(i,))
        return
    yield Finding(changes={"negated": c.negated != opposite})
    if flagged and _says_which(q, c, i):
        yield conditions.flag(q, column, c.negated)
    else:
        yield from _shown(q, c, i, column, plain)


_DOERS = ("we", "they", "you", "i", "he", "she")


def _names_event(q: LinkedQuestion, i: int) -> bool:
    """`bookings`, `stays booked`: the words name what happened, and the column when it did."""
    item = q.items[i]
    last = q.tokens[item.end - 1]
    if q.words[0] == "when" or {q.tokens[p].lemma for p in range(item.start, item.end)} & TIME_WORDS:
        return False
    if q.word(i - 1) in _DOERS:  # `how many people did we hire`
        return True
    if last.lower.endswith("ed"):
        ranked = q.is_keyword(i + 1, "sup", "sup_adj", "order")
        return q.sort(i - 1) == "table" and not ranked
    return q.plural(i)


def _rows_of_event(c: Context, i: int, column: ColumnWord) -> Finding:
    named = Finding(entities=(column.table,), changes={"last_column": (i, column)})
    if c.counting:
        count = Expression("count", table=column.table)
        return replace(named, shown=(count,), changes={**named.changes, "counting": ""})
    if c.query.select:
        return named
    return replace(named, changes={**named.changes, "head_entity": c.head_entity or column.table})


def _nothing_new(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """What the mention is for if another row, a verb or the adjacent column uses it up; None if it says something of
    its own."""
    if c.in_head and (other := conditions.referred(q, c, i)) is not None:
        return other
    if c.in_head and _only_context(q, c, i):
        return Finding((i,), doubts=("column_context",))
    # `studying major 50`: the verb names the same column as the noun after it
    same = {c.key for c, _ in q.mention(i + 1).columns[:2]} if q.sort(i + 1) == "column" else set()
    verb = q.items[i].lower.endswith(("ing", "ed")) and q.mention(i).columns[0][0].key in same
    return Finding((i,)) if verb or (c.in_head and _names_of_column(q, i)) else None


def _listed_with(q: LinkedQuestion, c: Context, i: int, column: ColumnWord) -> tuple[ColumnWord, ...]:
    """`products with category names`: the name of another row, which each row refers to, is listed beside the row."""
    at = next((k for k in range(i - 1, max(-1, i - 4), -1) if q.sorts[k] != "table" and q.items[k].lower != "the"), 0)
    entity = c.head_entity or (c.entities[0] if c.entities else "")
    if q.items[at].lower not in ("with", "with their", "with the", "with its") or c.negated or not entity:
        return ()
    named: tuple[ColumnWord, ...] = (column,) if column.role == "name" else ()
    if q.sorts[i - 1] == "table" and q.items[i].lower in ("name", "names"):
        named = q.naming_columns(q.table_of(i - 1))
    return () if any(n.table == entity or q.many_of(entity, n.table) for n in named) else named


def _restricted(q: LinkedQuestion, c: Context, i: int, column: ColumnWord, opposite: bool) -> Finding:
    """A column named after the head restricts the rows, or waits for the value it is compared with."""
    named = Finding(changes={"last_column": (i, column)})
    if c.negated and c.main_entity not in ("", column.table) and q.many_of(c.main_entity, column.table):
        return replace(named, absent=column.table)
    flagged = is_flag(q.values, column)
    if c.negated and not flagged and q.elsewhere(i):
        return Finding(unused=(i,))
    if c.negated or flagged or _happened(q, i, column):
        said = [k for k in range(i + 1, min(i + 4, len(q.items))) if flagged and q.items[k].lower in (*_YES, *_NO)]
        denied = any(q.items[k].lower in _NO for k in said)
        flag = conditions.flag(q, column, (c.negated != (opposite and flagged)) != denied)
        return replace(flag, used=tuple(said), changes={**named.changes, **flag.changes})
    return replace(named, doubts=("column_unused",))


_YES, _NO = ("yes", "true", "y"), ("no", "false", "n")


def _shown(q: LinkedQuestion, c: Context, i: int, column: ColumnWord, plain: bool) -> Findings:
    """Show the column, count it, or sum it."""
    follows_entity = q.previous_word(i) in ("and", "and the", "and their", ",") and c.head_entity
    if follows_entity and not c.query.select and plain:
        yield Finding(shown=q.named_by(c.head_entity or ""))
    whole = _whole_name(q, c, i, column)
    if whole and plain:
        shown = tuple(Expression(column=n.key) for n in whole)
        yield Finding(shown=shown, changes={"last_column": (i, whole[0])})
        return
    named = Finding(changes={"last_column": (i, column)})
    if c.counting:
        named = replace(named, changes={**named.changes, "counting": ""})
        if _amount_counted(q, c, column):
            beside = any(e.column and not e.function and e.column[0] == column.table for e in c.query.select)
            amount = Expression("" if beside and not c.groups else "sum", column=column.key)
            yield replace(named, shown=(amount,))
            return
        # `how many would come again` where a column says yes or no: those that say yes
        known = {v.lower() for v in q.values.values(*column.key)}
        answers = is_flag(q.values, column) or (len(known) <= ANSWERS and known & {*_YES, *_NO})
        rows_meant = c.counting == "rows" and not c.share and not c.distinct and answers
        agreed = says(q.values, column, wanted=True) if rows_meant else None
        if agreed is not None:
            yield replace(named, shown=(Expression("count", table=column.table),), conditions=(agreed,))
            return
        # the rows of the column's table (`how many customers registered`), or the distinct values of the column
        key = q.vocabulary.key_column(column.table)
        rows = _happened(q, i, column) or (key is not None and key.key == column.key)
        counted = Expression("count", table=column.table, distinct=not rows, share=c.share)
        shown = (counted if rows else replace(counted, column=column.key),)
    elif functions := c.functions or _shared_functions(q, c, i, column):
        named = replace(named, changes={**named.changes, "functions": []})
        shown = tuple(Expression(function, column=column.key) for function in functions)
    else:
        shown = (Expression(column=column.key),)
    if c.distinct:
        named = replace(named, once=not shown[-1].function, changes={**named.changes, "distinct": False})
    yield replace(named, shown=shown)


_OPENERS = word_list("openers")
_PREPOSITIONS = word_set("of for from in by on at to within under among across over throughout")


def _coordinated(q: LinkedQuestion, i: int) -> bool:
    """Whether the column at item i is coordinated with what is shown (`name and city`), not part of it (`name of the
    city`)."""
    for k in range(i - 1, -1, -1):
        x = q.items[k]
        if x.lower in _OPENERS or x.is_keyword("distinct"):
            continue
        return not (x.lower in _PREPOSITIONS and q.sort(k - 1) in ("column",))
    return True


def _amount_counted(q: LinkedQuestion, c: Context, column: ColumnWord) -> bool:
    """`how many seats` when a column holds that number: it is shown or summed, and its values are not counted; `how
    many units in all`, when the quantities are figures stored as text."""
    if c.counting != "rows" or c.share or c.distinct or column.foreign:
        return False
    if column.numeric and column.role == "number" and not _numbers_things(q, column):
        return True
    return "quantity" in column.words and column.figures is not None


def _numbers_things(q: LinkedQuestion, column: ColumnWord) -> bool:
    """`candidate` with 1001 to 1950: one thing each, called in the singular, by numbers of one length."""
    last = column.name.lower().rsplit("_", 1)[-1]
    if len(column.words) != 1 or lemma(last) != last:
        return False
    facts = q.values.facts(*column.key)
    least, greatest = facts.least, facts.greatest
    if not (isinstance(least, int) and isinstance(greatest, int)):
        return False
    return least >= _CODES and len(str(least)) == len(str(greatest))


_CODES = 100
"""The least number that is one of a thing and no quantity."""


def _qualifies_next(q: LinkedQuestion, i: int, column: ColumnWord) -> bool:
    """`current subscriptions`, `completed orders`: a yes-or-no column, or the date of a state, directly before what it
    describes."""
    flagged = is_flag(q.values, column)
    if q.sort(i + 1) == "table":
        return q.table_of(i + 1) == column.table and (flagged or _happened(q, i, column))
    beside = q.sort(i + 1) == "column" and q.holds(i + 1, column.table)
    return flagged and beside and q.previous_word(i) not in ("and", ",")


def _says_which(q: LinkedQuestion, c: Context, i: int) -> bool:
    """A yes-or-no column that describes the entity: `current customers`, `customers receive the newsletter`."""
    if q.sort(i + 1) == "table":
        return True
    before = q.previous_word(i)
    return bool(c.query.aggregates() or c.entities) and before not in ("and", ",", "by", "show", "list", "the")


def _only_prefix(q: LinkedQuestion, i: int, column: ColumnWord) -> bool:
    """`ticket topic`: the first word matched only a key, and names the entity whose topic is meant."""
    beside = q.sort(i + 1) == "column" and q.holds(i + 1, column.table)
    return column.role == "id" and q.mention(i).columns[0][1] < 0.9 and beside


def _names_of_column(q: LinkedQuestion, i: int) -> bool:
    """`names of the states` when states are a column: the column itself is shown."""
    if q.items[i].lower not in ("name", "names") or i + 2 >= len(q.items) or q.items[i + 1].lower != "of":
        return False
    j = i + 2
    while j < len(q.items) and (
        q.items[j].lower in ("the", "all", "different", "any") or q.items[j].is_keyword("distinct")
    ):
        j += 1
    if j >= len(q.items) or q.sorts[j] != "column":
        return False
    mention = q.mention(j)
    column, score = mention.columns[0]
    return score >= 0.9 and not column.numeric and column.role in ("text", "name") and not mention.tables


_KEYS = word_set("id ids code codes number numbers")


def _only_ties(q: LinkedQuestion, c: Context, i: int, column: ColumnWord) -> bool:
    """`which employee supports …`: the verb resembles a key that points to the entity; it determines the join."""
    if c.head_entity is None or c.negated or c.query.select or c.counting or c.functions:
        return False
    last_word = q.tokens[q.items[i].end - 1].lower
    if column.role != "id" or not column.foreign or q.mention(i).columns[0][1] >= 0.9 or last_word in _KEYS:
        return False
    return any(e.right == c.head_entity and e.left_columns == (column.name,) for e in q.graph.edges(column.table))


def _happened(q: LinkedQuestion, i: int, column: ColumnWord) -> bool:
    """`have been discontinued`, `signed up`, with no comparison: the date is set."""
    verb = q.items[i].lower.removesuffix(" up").removesuffix(" in").removesuffix(" out")
    return column.role == "date" and verb.endswith("ed")


def _shared_functions(q: LinkedQuestion, c: Context, i: int, column: ColumnWord) -> list[Function]:
    """`average price and score`: the second number is averaged too."""
    if not column.numeric or column.role != "number" or c.last_column is None:
        return []
    at, before = c.last_column
    between = q.items[at + 1 : i]
    if not 1 <= len(between) <= 2 or any(x.lower not in ("and", ",", "the") for x in between):
        return []
    return [e.function for e in c.query.select if e.function and e.column == before.key]


def _close_function(q: LinkedQuestion, i: int) -> bool:
    """Whether the requested aggregate comes directly before this column."""
    for j in range(i - 1, max(-1, i - 4), -1):
        if q.items[j].is_keyword("agg"):
            return True
        if q.items[j].lower not in FUNCTION_WORDS and not q.items[j].is_keyword("and", "distinct", "count"):
            return False
    return False


def _only_context(q: LinkedQuestion, c: Context, i: int) -> bool:
    """`names of the customers` when `customers` is at best a key column: it gives the owner, not the projection."""
    before = q.previous_word(i)
    if not c.query.select or c.counting or c.functions or c.grouping or before not in ("of", "for", "from", "in"):
        return False
    column, score = q.mention(i).columns[0]
    last = c.query.select[-1].column
    if before == "of" and i >= 2 and q.sorts[i - 2 if q.items[i - 1].lower == "of" else i - 3] == "column":
        own = last is not None and last[0] == column.table and q.vocabulary.columns[last].role != "name"
        if own and column.key in {c.key for c in q.naming_columns(column.table)}:
            return True
    return score < 0.9 and (column.role == "id" or q.plural(i))


def _whole_name(q: LinkedQuestion, c: Context, i: int, column: ColumnWord) -> tuple[ColumnWord, ...]:
    """For a bare `name`: both name columns of a person, or the column used as a name if none is called so."""
    mention = q.mention(i)
    if q.items[i].lower not in ("name", "names", "title", "titles"):
        return ()
    near = c.near_tables(i)
    owner = max(near, key=lambda t: near[t]) if near else ""
    if owner and near[owner] >= 0.3 and column.table != owner:
        own = [c for c, s in mention.columns if c.table == owner and s >= 0.55]
        if own:
            return (own[0],)
        if q.vocabulary.name_columns(owner) or q.naming_columns(owner)[0].table != owner:
            return q.naming_columns(owner)
    if "first" in column.words or "last" in column.words:
        named = q.vocabulary.name_columns(column.table)
        return named if len(named) == 2 else ()
    return ()
