"""The sort of each item of a question: whether it names a table, a column, a stored value or a measure.

In: the items that schema linking found. Out: a `LinkedQuestion`; a close choice is noted, so that it may be made
otherwise.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import TableWord, Vocabulary
from agent.parser.joins import JoinGraph, columns_of_own_rows
from agent.parser.question import ALMOST, Item, LinkedQuestion
from eval.language.inflection import root
from eval.language.lexicon import word_set
from eval.language.tokens import Token

_ALSO = 0.6
"""A word that names something else with at least this score may mean that."""
_ALMOST_WHOLE = 0.75
"""A column whose name the word leaves incomplete only by its unit or kind (`claimed` of `claimed_amount`)."""
_WHEN = word_set("in on at before after since until between during last this from by date today yesterday within")
_COPULAS = word_set("is are was were be been get gets got")
_UNITS = frozenset(map(root, word_set("year quarter month week day")))


def linked_question(
    tokens: Sequence[Token],
    items: Sequence[Item],
    vocabulary: Vocabulary,
    graph: JoinGraph,
    values: ValueIndex,
    today: dt.date,
    avoid: frozenset[object],
) -> LinkedQuestion:
    """Decide for each item what it names: a table, a column, a stored value or a measure, and which table."""
    q = LinkedQuestion(tokens, items, vocabulary, graph, values, today, avoid)
    units = {i for i in range(len(items)) if _calendar_unit(q, i)}
    items = [replace(x, kind="word", mention=None) if i in units else x for i, x in enumerate(items)]
    q = replace(q, items=items)
    choices: list[object] = []
    sorts = []
    for i in range(len(items)):
        sort, likeliest = _sort(q, i)
        sorts.append(sort)
        if likeliest:
            choices.append(likeliest)
    tables: dict[int, str] = {}
    doubts = []
    for i, item in enumerate(items):
        if item.mention is None or not item.mention.tables:
            continue
        tables[i], ambiguous = _table(q, i)
        if ambiguous and sorts[i] == "table":
            doubts.append("table_ambiguous")
            choices.append(("table", tables[i]))
    if any(item.mention is not None and item.mention.guessed for item in items):
        doubts.append("similar_word")
        if not {"column", "measure"} & set(sorts):
            doubts.append("only_similar_words")
    return replace(q, sorts=tuple(sorts), tables=tables, choices=tuple(choices), doubts=tuple(doubts))


def _sort(q: LinkedQuestion, i: int) -> tuple[str, object | None]:
    """What item i names, and the choice if it was close; not the likeliest if that one is excluded."""
    likeliest = _likeliest_sort(q, i)
    mention = q.items[i].mention
    if q.items[i].kind != "mention" or mention is None:
        return likeliest, None
    scores = {
        "table": mention.tables[0][1] if mention.tables else 0.0,
        "column": mention.columns[0][1] if mention.columns else 0.0,
        "value": mention.value_score,
        "measure": 0.7 if mention.measure else 0.0,
    }
    if (likeliest == "value" and _state_of_date(q, i)) or (likeliest == "column" and _called_after_it(q, i)):
        return likeliest, None
    chosen_score = scores.pop(likeliest, 0.0)
    if likeliest == "measure" and scores["table"] < 0.9:
        scores["table"] = 0.0
    other = max(scores, key=lambda sort: scores[sort])
    if (likeliest, other) == ("table", "column") and scores[other] >= _ALMOST_WHOLE and _refers(q, i):
        return likeliest, None
    if scores[other] < (chosen_score if likeliest == "table" else max(_ALSO, chosen_score - ALMOST)):
        return likeliest, None
    choice = ("sort", i, likeliest)
    return (other if choice in q.avoid else likeliest), choice


def _likeliest_sort(q: LinkedQuestion, i: int) -> str:
    item = q.items[i]
    mention = item.mention
    if item.kind != "mention" or mention is None:
        return item.kind
    table = mention.tables[0][1] if mention.tables else 0.0
    column = mention.columns[0][1] if mention.columns else 0.0
    value = mention.value_score
    schema = max(table, column)
    # `sales per salesperson`: whom the key of a sale is called after (`salesperson_id`), not a job of that name
    called_after = (q.tokens[item.end - 1].lemma, "id")
    role = q.last_word(i - 1) in _EACH and any(c.foreign and c.words == called_after for c, _ in mention.columns)
    if value and column and (role or _refers_to_own_rows(q, i)):
        return "column"
    if value > 0.9 and column and table < 0.9:
        # `active projects`: a stored state of the rows named next, rather than a flag of other rows (`is_active`)
        after = q.items[i + 1].mention if i + 1 < len(q.items) else None
        rows = after.tables[0][0].name if after is not None and after.tables and after.tables[0][1] >= _SURELY else ""
        stored = rows and any(hit.table == rows and hit.score > _SURELY for hit in mention.values)
        if stored and all(c.table != rows for c, _ in mention.columns):
            return "value"
    named = any(t.capital or t.kind == "quoted" for t in q.tokens[item.start : item.end])
    if value and (value >= schema - 0.08 if named or _state_of_date(q, i) else value > schema + 0.02):
        # whether another word matches the table of item i better
        own = mention.tables[0] if mention.tables else None
        others = (x.mention for k, x in enumerate(q.items) if k != i and x.mention is not None)
        better = own is not None and any(t is own[0] and score > own[1] for m in others for t, score in m.tables)
        if not named and table >= 0.75 and q.plural(i) and not better:
            return "table"
        # `reported by the staff …`: the verb names the key to the table after it, and is not a stored state
        verb = root(item.lower) if item.lower.endswith("ed") and q.word(i + 1) == "by" else ""
        done_by = verb and any(c.foreign and verb in map(root, c.words) for c in q.vocabulary.columns.values())
        return "word" if not named and (done_by or _dates_an_event(q, i)) else "value"
    if mention.measure and column < 0.9 and table < 0.9:
        return "measure"
    if mention.measure and table >= 0.9 and column < 0.9 and _before_amount(q, i):
        return "measure"
    # `total claimed`: after an aggregate, a participle names the amount of the event and not its rows
    done = item.lower.endswith("ed") and q.is_keyword(i - 1, "agg")
    amount = done and any(c.is_figure and score >= _ALMOST_WHOLE for c, score in mention.columns[:1])
    if table and column < table and amount:
        return "column"
    if q.plural(i) and table >= 0.6 and column < 0.9:
        table = max(table, column)
    if table and column >= 0.9 and _figure_here(q, i):
        return "column"
    if table and table >= column - 0.02:
        if column >= 0.9 and table <= column + 0.02 and not _refers(q, i) and _column_here(q, i):
            return "column"
        return "table"
    if column:
        return "column"
    return "value" if value else "word"


def _calendar_unit(q: LinkedQuestion, i: int) -> bool:
    """`how many clients signed up each year`: a year of the client's dates, not the `model_year` of a table that is not
    named."""
    mention = q.items[i].mention
    if mention is None or mention.tables or mention.values or root(q.items[i].lower) not in _UNITS:
        return False
    named = _firmly_named(q)
    for k, x in enumerate(q.items):
        if k != i and x.mention is not None and not x.mention.tables:
            holders = {c.table for c, score in x.mention.columns if score >= _ALSO}
            named |= holders if len(holders) == 1 else set()
    dated = {c.table for c in q.vocabulary.columns.values() if c.role == "date"}
    return bool(named & dated) and all(
        c.table not in named and (s < 0.9 or len(c.words) > 1) for c, s in mention.columns
    )


def _state_of_date(q: LinkedQuestion, i: int) -> bool:
    """`completed orders`: a stored state of the rows, beside the date on which they reached it."""
    mention = q.items[i].mention
    if mention is None or mention.tables or not q.items[i].lower.endswith("ed") or q.words[0] == "when":
        return False
    after = q.items[i + 1] if i + 1 < len(q.items) else None
    before_rows = after is not None and after.mention is not None and bool(after.mention.tables)
    holders = {hit.table for hit in mention.values}
    said = q.word(i - 1) in _COPULAS
    dates = {c.table for c, _ in mention.columns[:1] if c.role == "date"}
    if said and dates and not dates & (rows := _firmly_named(q)) and holders & rows:
        return True  # `departures were cancelled in May`: only bookings have that date
    if not (before_rows or (said and (after is None or after.lower not in _WHEN))):
        return False
    return bool(holders) and all(c.role == "date" and c.table in holders for c, _ in mention.columns[:1])


_SURELY = 0.9
_POSSESSIVE = ("'s", "their", "his", "her", "whose", "without", "no", "per")


def _refers_to_own_rows(q: LinkedQuestion, i: int) -> bool:
    """`without a manager`, `Ada's manager`: the rows that a column refers to, although a job is called so, too."""
    word, before, earlier = q.word(i), q.last_word(i - 1), q.last_word(i - 2)
    had = before in ("a", "an") and earlier in ("with", "without", "has", "have")
    if not had and before not in _POSSESSIVE and not (before == "the" and earlier == "is"):
        return False
    return any(column.words[0] == word for column in columns_of_own_rows(q.vocabulary))


_EACH = ("per", "each", "every", "by", "which", "what")


def _refers(q: LinkedQuestion, i: int) -> bool:
    """Whether the column that item i may name is only the key of the table that it also names (`patient`)."""
    mention = q.mention(i)
    table, best = mention.tables[0][0].name, mention.columns[0][1]
    columns = [c for c, s in mention.columns if s >= min(0.9, best)]
    named = {c.name for c in q.vocabulary.name_columns(table)}
    return all(
        any(
            e.right == table and not named & {*e.right_columns} and e.left == c.table and e.left_columns == (c.name,)
            for e in q.graph.edges(c.table)
        )
        for c in columns
    )


def _dates_an_event(q: LinkedQuestion, i: int) -> bool:
    """`reported before 1978`: followed by a date, the verb selects the date column and is not a stored state."""
    if not q.items[i].lower.endswith("ed") or i + 1 >= len(q.items):
        return False
    after = q.items[i + 1]
    if not (
        after.is_keyword("period")
        or (after.is_keyword("cmp") and after.keyword is not None and after.keyword.argument in ("after", "before"))
    ):
        return False
    verb = root(q.items[i].lower)
    mention, rows = q.mention(i), _firmly_named(q)
    stored = {hit.table for hit in mention.values if hit.score > _SURELY} & rows
    dated = {c.table for c in q.vocabulary.columns.values() if c.role == "date" and verb in {root(w) for w in c.words}}
    return bool(dated) and (not stored or bool(dated & rows))  # `departures cancelled in May`: bookings have that date


def _firmly_named(q: LinkedQuestion) -> set[str]:
    """The tables that words of the question name."""
    mentions = (x.mention for x in q.items if x.mention is not None)
    return {m.tables[0][0].name for m in mentions if m.tables and m.tables[0][1] >= _SURELY}


def _before_amount(q: LinkedQuestion, i: int) -> bool:
    """`total sales`, `how much sales`: the words ask for an amount, not for rows."""
    before = " ".join(x.lower for x in q.items[max(0, i - 2) : i])
    if q.is_keyword(i - 1, "count"):  # `top sellers by number of sales`
        return False
    if any(w in before for w in ("total", "average", "sum", "much", "by", "highest", "lowest", "most")):
        return True
    grouped = i + 1 < len(q.items) and (q.items[i + 1].lower == "by" or q.items[i + 1].is_keyword("group"))
    return grouped and not any(x.is_keyword("count", "agg", "sup", "neg") for x in q.items[:i])


def _figure_here(q: LinkedQuestion, i: int) -> bool:
    """`the biggest tip`, in a table of tips with a figure called so: after a superlative or an aggregate, in the
    singular; `budget by quarter`: the figure that a table is called after."""
    mention, before = q.mention(i), q.items[i - 1] if i else None
    column, score = mention.columns[0]
    if score < 0.9 or not column.is_figure or q.plural(i):
        return False
    return _called_after_it(q, i) or (before is not None and before.is_keyword("sup", "sup_adj", "agg"))


def _called_after_it(q: LinkedQuestion, i: int) -> bool:
    """Whether the table is called after the figure that item i names: `budget_2026`, `visitors`. `How many visitors`
    may be how many rows."""
    mention = q.mention(i)
    if any(x.is_keyword("count") for x in q.items[:i]):
        return False
    column, table = mention.columns[0][0], mention.tables[0][0] if mention.tables else None
    return table is not None and column.is_figure and (column.table, column.words) == (table.name, table.words)


def _column_here(q: LinkedQuestion, i: int) -> bool:
    """A table and a column both have this name: whether a table named nearby contains the column."""
    mention = q.items[i].mention
    if mention is None:
        return False
    own = {t.name for t, _ in mention.tables}
    holders = {c.table for c, s in mention.columns if s >= 0.9} - own
    plural = q.items[i].lower != q.tokens[q.items[i].end - 1].lemma
    for j, other in enumerate(q.items):
        if j == i or other.mention is None or not other.mention.tables:
            continue
        if other.mention.tables[0][1] >= 0.9 and other.mention.tables[0][0].name in holders:
            return not plural or abs(j - i) <= 3
    return False


def _table(q: LinkedQuestion, i: int) -> tuple[str, bool]:
    """The table that item i means, and whether others fit equally well: among equals, the one closest to the others."""
    mention = q.mention(i)
    top = mention.tables[0][1]
    equal = [t for t, s in mention.tables if s >= top - 0.04]
    equal = [t for t in equal if ("table", t.name) not in q.avoid] or equal
    if len(equal) == 1:
        return equal[0].name, False
    firm = [
        m.tables[0][0].name
        for j, x in enumerate(q.items)
        if j != i and (m := x.mention) and m.tables and (len(m.tables) == 1 or m.tables[1][1] < m.tables[0][1] - 0.04)
    ]

    def rank(t: TableWord) -> tuple[float, bool, bool, int]:
        away = sum(min(q.graph.distance(t.name, f), 9) for f in firm)
        return away, t.bridge, t.table.kind == "view", len(t.words)

    return min(equal, key=rank).name, True
