"""A question linked to one schema: what a rule may see before anything is read.

In: the tokens and items of a question, the schema's vocabulary and join graph, the value index. Out: a frozen
`LinkedQuestion`: for each item its sort (table, column, value, measure, keyword …) and, if it names a table, that
table. Rules receive it and cannot change it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.interpretation import Expression
from agent.parser.joins import Edge, JoinGraph
from agent.parser.mentions import Item, Mention
from agent.parser.phrases import Keyword
from eval.language.inflection import root
from eval.language.lexicon import word_set
from eval.language.tokens import Token

_ALSO = 0.6
"""A word that names something else with at least this score may mean that."""
ALMOST = 0.15
"""Scores that differ by at most this much are rivals."""
_ALMOST_WHOLE = 0.75
"""A column whose name the word leaves incomplete only by its unit or kind (`claimed` of `claimed_amount`)."""
_SAME_WORD = 0.85
"""A stored value with at least this score is the word itself, or its singular."""
_KIND_COLUMNS = 4
"""A table of kinds has at most this many columns."""
_WHEN = word_set("in on at before after since until between during last this from by date today yesterday within")
_COPULAS = word_set("is are was were be been get gets got")
_UNITS = frozenset(map(root, word_set("year quarter month week day")))
_DETERMINERS = word_set("the a an all any every each these those different distinct")


@dataclass(frozen=True)
class LinkedQuestion:
    """The words of one question and the things in one schema that they may mean."""

    tokens: Sequence[Token]
    items: Sequence[Item]
    vocabulary: Vocabulary
    graph: JoinGraph
    values: ValueIndex
    today: dt.date
    avoid: frozenset[object] = frozenset()
    """Choices that this reading must make differently."""
    sorts: tuple[str, ...] = ()
    """For each item: table, column, value, measure, or the item's own kind."""
    tables: Mapping[int, str] = field(default_factory=dict)
    """The table that each item means, if it names one."""
    choices: tuple[object, ...] = ()
    """The choices among close alternatives that gave the sorts and tables."""
    doubts: tuple[str, ...] = ()

    @property
    def named(self) -> list[str]:
        """The tables that the question names, in order."""
        return [self.tables[i] for i, sort in enumerate(self.sorts) if sort == "table"]

    def mention(self, i: int) -> Mention:
        """What item i may name; only for an item that names something."""
        mention = self.items[i].mention
        assert mention is not None
        return mention

    def keyword(self, i: int) -> Keyword:
        """The signal phrase at item i; only for an item that is one."""
        keyword = self.items[i].keyword
        assert keyword is not None
        return keyword

    def table_of(self, i: int) -> str:
        """The table that a table mention means."""
        return self.tables[i]

    def holds(self, i: int, table: str) -> bool:
        mention = self.items[i].mention
        return mention is not None and any(c.table == table and s >= 0.6 for c, s in mention.columns)

    def sort(self, i: int) -> str:
        """The sort of item i; empty where there is none."""
        return self.sorts[i] if 0 <= i < len(self.sorts) else ""

    def plural(self, i: int) -> bool:
        """Whether the last word of item i is inflected, as a plural noun is."""
        last = self.tokens[self.items[i].end - 1]
        return last.lower != last.lemma

    def next_mention(self, i: int) -> int | None:
        """The next mention after i, skipping function words."""
        for j in range(i + 1, len(self.items)):
            if self.sorts[j] in ("table", "column", "value", "measure", "literal", "number"):
                return j
            if self.sorts[j] in ("keyword", "sign"):
                return None
        return None

    def previous_word(self, i: int) -> str:
        """The word before item i, skipping determiners."""
        return next((x.lower for x in reversed(self.items[:i]) if x.lower not in _DETERMINERS), "")

    def verb_cost(self, i: int) -> bool:
        """`products that cost more than 5`: the verb asks for the price, not for a column of costs."""
        if self.items[i].lower not in ("cost", "costs") or not i or i + 1 >= len(self.items):
            return False
        if self.items[i - 1].is_keyword("relative"):
            return True
        compared = self.items[i + 1].is_keyword("cmp", "cmp_adj") or self.sorts[i + 1] == "number"
        return self.sorts[i - 1] == "table" and compared

    def naming_columns(self, table: str) -> tuple[ColumnWord, ...]:
        """The columns that represent a row of this table; for a table without a name, the search follows one key."""
        named = self.vocabulary.name_columns(table)
        if named:
            return named
        own_words = set(self.vocabulary.tables[table].words)
        edges = sorted(self.graph.edges(table), key=lambda e: e.right in self.named or _named_in(self, e, own_words))
        for edge in edges:  # `members of the chess club`: a club membership is named by its member, not by its club
            if edge.left == table and edge.right != table and len(edge.left_columns) == 1:
                own = self.vocabulary.columns.get((table, edge.left_columns[0]))
                if own is not None and own.primary:
                    further = self.vocabulary.name_columns(edge.right)
                    if further:
                        return further
        key = self.vocabulary.key_column(table)
        return (key,) if key else self.vocabulary.by_table[table][:1]

    def named_by(self, table: str) -> tuple[Expression, ...]:
        """The columns that represent a row of this table, as they are shown."""
        return tuple(Expression(column=c.key) for c in self.naming_columns(table))

    def one_row(self, table: str) -> list[Expression]:
        """What tells a row of this table from the others: its key if it has one, and the columns that represent it."""
        key = self.vocabulary.key_column(table)
        return list(dict.fromkeys([*([Expression(column=key.key)] if key else []), *self.named_by(table)]))

    def kind_of(self) -> str:
        """The table whose rows are of a kind that is named alone: `how many dogs` counts pets, where a table of species
        holds the kinds and only pets refer to it. Empty where the question names a table, or the value is a name."""
        if "table" in self.sorts:
            return ""
        columns = (x.mention for x, sort in zip(self.items, self.sorts, strict=True) if sort == "column")
        asked = {m.columns[0][0].table for m in columns if m is not None}
        for i, sort in enumerate(self.sorts):
            mention = self.items[i].mention
            tokens = self.tokens[self.items[i].start : self.items[i].end]
            if sort != "value" or mention is None or any(t.capital or t.kind == "quoted" for t in tokens):
                continue
            hits = {h.table for h in mention.values if h.score >= _SAME_WORD} - asked  # `which floor is neurology on`
            if len(hits) == 1 and (table := next(iter(hits))) in self.vocabulary.tables:
                return self._rows_of_kind(table, {h.column for h in mention.values if h.table == table})
        return ""

    def _rows_of_kind(self, table: str, columns: set[str]) -> str:
        """The only table that refers to a table of kinds, which itself refers to none."""
        own = self.vocabulary.by_table[table]
        named = {c.name for c in self.vocabulary.name_columns(table)}
        if any(c.foreign for c in own) or len(own) > _KIND_COLUMNS or not columns <= named:
            return ""
        below = self.graph.referring(table)
        return below[0] if len(below) == 1 and not self.vocabulary.tables[below[0]].bridge else ""

    def many_of(self, one: str, other: str) -> bool:
        """Whether a row of one table may have several of the other."""
        plan = self.graph.plan([one, other])
        return plan is not None and plan.multiplies(one)


def _named_in(q: LinkedQuestion, edge: Edge, words: set[str]) -> bool:
    """Whether the name of the table referred to is part of these words."""
    return edge.right in q.vocabulary.tables and set(q.vocabulary.tables[edge.right].words) <= words


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
    if likeliest == "value" and _state_of_date(q, i):
        return likeliest, None
    chosen_score = scores.pop(likeliest, 0.0)
    if likeliest == "measure" and scores["table"] < 0.9:
        scores["table"] = 0.0
    other = max(scores, key=lambda sort: scores[sort])
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
    named = any(t.capital or t.kind == "quoted" for t in q.tokens[item.start : item.end])
    if value and (value >= schema - 0.08 if named or _state_of_date(q, i) else value > schema + 0.02):
        if not named and table >= 0.75 and q.plural(i) and not _named_elsewhere(q, i):
            return "table"
        return "word" if not named and (_dates_an_event(q, i) or _done_by(q, i)) else "value"
    if mention.measure and column < 0.9 and table < 0.9:
        return "measure"
    if mention.measure and table >= 0.9 and column < 0.9 and _before_amount(q, i):
        return "measure"
    if table and column < table and _amount_of_event(q, i):
        return "column"
    if q.plural(i) and table >= 0.6 and column < 0.9:
        table = max(table, column)
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
    named = {
        m.tables[0][0].name for x in q.items if (m := x.mention) is not None and m.tables and m.tables[0][1] >= 0.9
    }
    dated = {c.table for c in q.vocabulary.columns.values() if c.role == "date"}
    return bool(named & dated) and all(c.table not in named and s < 0.9 for c, s in mention.columns)


def _state_of_date(q: LinkedQuestion, i: int) -> bool:
    """`completed orders`: a stored state of the rows, beside the date on which they reached it."""
    mention = q.items[i].mention
    if mention is None or mention.tables or not q.items[i].lower.endswith("ed") or q.tokens[0].lower == "when":
        return False
    after = q.items[i + 1] if i + 1 < len(q.items) else None
    before_rows = after is not None and after.mention is not None and bool(after.mention.tables)
    said = i > 0 and q.items[i - 1].lower in _COPULAS and (after is None or after.lower not in _WHEN)
    if not (before_rows or said):
        return False
    holders = {hit.table for hit in mention.values}
    return bool(holders) and all(c.role == "date" and c.table in holders for c, _ in mention.columns[:1])


def _amount_of_event(q: LinkedQuestion, i: int) -> bool:
    """`total claimed`: after an aggregate, a participle names the amount of the event and not its rows."""
    mention = q.items[i].mention
    participle = q.items[i].lower.endswith("ed") and i > 0 and q.items[i - 1].is_keyword("agg")
    return (
        participle
        and mention is not None
        and any(c.role == "number" and c.numeric and score >= _ALMOST_WHOLE for c, score in mention.columns[:1])
    )


def _refers(q: LinkedQuestion, i: int) -> bool:
    """Whether the column that item i may name is only the key of the table that it also names (`patient`)."""
    mention = q.mention(i)
    table, columns = mention.tables[0][0].name, [c for c, s in mention.columns if s >= 0.9]
    named = {c.name for c in q.vocabulary.name_columns(table)}
    return all(
        any(
            e.right == table and not named & {*e.right_columns} and e.left == c.table and e.left_columns == (c.name,)
            for e in q.graph.edges(c.table)
        )
        for c in columns
    )


def _named_elsewhere(q: LinkedQuestion, i: int) -> bool:
    """Whether another word matches the table of item i better."""
    mention = q.mention(i)
    own = mention.tables[0]
    others = (x.mention for k, x in enumerate(q.items) if k != i and x.mention is not None)
    return any(t is own[0] and score > own[1] for m in others for t, score in m.tables)


def _done_by(q: LinkedQuestion, i: int) -> bool:
    """`reported by the staff …`: the verb names the key to the table after it, and is not a stored state."""
    if not q.items[i].lower.endswith("ed") or i + 1 >= len(q.items) or q.items[i + 1].lower != "by":
        return False
    verb = root(q.items[i].lower)
    return any(c.foreign and verb in {root(w) for w in c.words} for c in q.vocabulary.columns.values())


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
    return any(c.role == "date" and verb in {root(w) for w in c.words} for c in q.vocabulary.columns.values())


def _before_amount(q: LinkedQuestion, i: int) -> bool:
    """`total sales`, `how much sales`: the words ask for an amount, not for rows."""
    before = " ".join(x.lower for x in q.items[max(0, i - 2) : i])
    if any(w in before for w in ("total", "average", "sum", "much", "by", "highest", "lowest", "most")):
        return True
    grouped = i + 1 < len(q.items) and (q.items[i + 1].lower == "by" or q.items[i + 1].is_keyword("group"))
    return grouped and not any(x.is_keyword("count", "agg", "sup", "neg") for x in q.items[:i])


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
    chosen = min(
        equal,
        key=lambda t: (
            sum(min(q.graph.distance(t.name, f), 9) for f in firm),
            t.bridge,
            t.table.kind == "view",
            len(t.words),
        ),
    ).name
    return chosen, True
