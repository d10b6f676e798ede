"""Disambiguation: the table, column or stored value that a mention means, among all candidates for its words.

In: the items of a question with all their candidates. Out: single choices, by score, nearness in the question and
distance in the join graph. `state` builds on it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agent.knowledge.values import ValueHit, ValueIndex
from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.interpretation import ColumnKey, Query
from agent.parser.joins import JoinGraph
from agent.parser.mentions import Item
from eval.language.inflection import root
from eval.language.tokens import Token

_CLOSE = 0.3
"""Columns whose score is lower by at most this much are offered as the next best reading."""


_ALSO = 0.6
"""A word that names something else with at least this score may mean that."""
_ALMOST = 0.15
SIBLING = 0.1
"""The bonus that a column named nearby gives to the tables that contain it: columns listed together usually share a
table."""


@dataclass
class Draft:
    """A reading under construction."""

    query: Query = field(default_factory=Query)
    used: set[int] = field(default_factory=set)
    """Token positions that the reading explains."""
    doubts: dict[str, float] = field(default_factory=dict)
    """Named reasons to trust the reading less, counted; the confidence weighs them."""
    notes: list[str] = field(default_factory=list)
    """Sentences that the interpretation should include (the dates assumed for a relative period)."""

    close: dict[object, None] = field(default_factory=dict)
    """Choices with alternatives: the tables, columns and value columns chosen, in order."""

    def doubt(self, name: str, amount: float = 1.0) -> None:
        self.doubts[name] = self.doubts.get(name, 0.0) + amount


class Disambiguator:
    """The question's items, the known facts about the schema, and the parts read so far."""

    def __init__(
        self,
        tokens: Sequence[Token],
        items: Sequence[Item],
        vocabulary: Vocabulary,
        graph: JoinGraph,
        values: ValueIndex,
        today: dt.date,
        avoid: frozenset[object] = frozenset(),
    ) -> None:
        self.avoid = avoid
        self.tokens = tokens
        self.items = list(items)
        self.vocabulary = vocabulary
        self.graph = graph
        self.values = values
        self.today = today
        self.draft = Draft()
        self.query = self.draft.query
        self.entities: list[str] = []
        self.sorts = [self._sort(i) for i in range(len(self.items))]
        self.named = [self.table_of(i) for i in range(len(self.items)) if self.sorts[i] == "table"]

    def _sort(self, i: int) -> str:
        """table, column, value, measure, or the item's own kind; not the most likely kind if that one is excluded."""
        likeliest = self._likeliest_sort(i)
        mention = self.items[i].mention
        if self.items[i].kind != "mention" or mention is None:
            return likeliest
        scores = {
            "table": mention.tables[0][1] if mention.tables else 0.0,
            "column": mention.columns[0][1] if mention.columns else 0.0,
            "value": mention.value_score,
            "measure": 0.7 if mention.measure else 0.0,
        }
        taken = scores.pop(likeliest, 0.0)
        if likeliest == "measure" and scores["table"] < 0.9:
            scores["table"] = 0.0
        other = max(scores, key=lambda sort: scores[sort])
        if scores[other] < (taken if likeliest == "table" else max(_ALSO, taken - _ALMOST)):
            return likeliest
        self.draft.close["sort", i, likeliest] = None
        return other if ("sort", i, likeliest) in self.avoid else likeliest

    def _likeliest_sort(self, i: int) -> str:
        item = self.items[i]
        mention = item.mention
        if item.kind != "mention" or mention is None:
            return item.kind
        table = mention.tables[0][1] if mention.tables else 0.0
        column = mention.columns[0][1] if mention.columns else 0.0
        value = mention.value_score
        schema = max(table, column)
        named = any(t.capital or t.kind == "quoted" for t in self.tokens[item.start : item.end])
        if value and (value >= schema - 0.08 if named else value > schema + 0.02):
            if not named and table >= 0.75 and self._plural(i) and not self._named_elsewhere(i):
                return "table"
            return "word" if not named and self._dates_an_event(i) else "value"
        if mention.measure and column < 0.9 and table < 0.9:
            return "measure"
        if mention.measure and table >= 0.9 and column < 0.9 and self._before_amount(i):
            return "measure"
        plural = self.tokens[item.end - 1].lower != self.tokens[item.end - 1].lemma
        if plural and table >= 0.6 and column < 0.9:
            table = max(table, column)
        if table and table >= column - 0.02:
            if column >= 0.9 and table <= column + 0.02 and not self._refers(i) and self._column_here(i):
                return "column"
            return "table"
        if column:
            return "column"
        return "value" if value else "word"

    def _refers(self, i: int) -> bool:
        """Whether the column that item i may name is only the key of the table that it also names (`patient`)."""
        mention = self.items[i].mention
        assert mention is not None
        table, columns = mention.tables[0][0].name, [c for c, s in mention.columns if s >= 0.9]
        named = {c.name for c in self.vocabulary.name_columns(table)}
        return all(
            any(
                e.right == table
                and not named & {*e.right_columns}
                and e.left == c.table
                and e.left_columns == (c.name,)
                for e in self.graph.edges(c.table)
            )
            for c in columns
        )

    def _plural(self, i: int) -> bool:
        last = self.tokens[self.items[i].end - 1]
        return last.lower != last.lemma

    def _named_elsewhere(self, i: int) -> bool:
        """Whether another word matches the table of item i better."""
        mention = self.items[i].mention
        assert mention is not None
        own = mention.tables[0]
        others = (x.mention for k, x in enumerate(self.items) if k != i and x.mention is not None)
        return any(t is own[0] and score > own[1] for m in others for t, score in m.tables)

    def _dates_an_event(self, i: int) -> bool:
        """`reported before 1978`: followed by a date, the verb selects the date column and is not a stored state."""
        if not self.items[i].lower.endswith("ed") or i + 1 >= len(self.items):
            return False
        after = self.items[i + 1]
        if not (
            after.is_keyword("period")
            or (after.is_keyword("cmp") and after.keyword is not None and after.keyword.argument in ("after", "before"))
        ):
            return False
        said = root(self.items[i].lower)
        return any(c.role == "date" and said in {root(w) for w in c.words} for c in self.vocabulary.columns.values())

    def _before_amount(self, i: int) -> bool:
        """`total sales`, `how much sales`: the words ask for an amount, not for rows."""
        before = " ".join(x.lower for x in self.items[max(0, i - 2) : i])
        if any(w in before for w in ("total", "average", "sum", "much", "by", "highest", "lowest", "most")):
            return True
        grouped = i + 1 < len(self.items) and (self.items[i + 1].lower == "by" or self.items[i + 1].is_keyword("group"))
        return grouped and not any(x.is_keyword("count", "agg", "sup", "neg") for x in self.items[:i])

    def _column_here(self, i: int) -> bool:
        """A table and a column both have this name: whether a table named nearby contains the column."""
        mention = self.items[i].mention
        if mention is None:
            return False
        own = {t.name for t, _ in mention.tables}
        holders = {c.table for c, s in mention.columns if s >= 0.9} - own
        plural = self.items[i].lower != self.tokens[self.items[i].end - 1].lemma
        for j, other in enumerate(self.items):
            if j == i or other.mention is None or not other.mention.tables:
                continue
            if other.mention.tables[0][1] >= 0.9 and other.mention.tables[0][0].name in holders:
                return not plural or abs(j - i) <= 3
        return False

    def table_of(self, i: int) -> str:
        """The table that a table mention means; among equals, the one closest to the others."""
        mention = self.items[i].mention
        assert mention is not None
        top = mention.tables[0][1]
        equal = [t for t, s in mention.tables if s >= top - 0.04]
        equal = [t for t in equal if ("table", t.name) not in self.avoid] or equal
        if len(equal) == 1:
            return equal[0].name
        firm = [
            m.tables[0][0].name
            for j, x in enumerate(self.items)
            if j != i
            and (m := x.mention)
            and m.tables
            and (len(m.tables) == 1 or m.tables[1][1] < m.tables[0][1] - 0.04)
        ]
        self.draft.doubt("table_ambiguous")
        chosen = min(
            equal,
            key=lambda t: (
                sum(min(self.graph.distance(t.name, f), 9) for f in firm),
                t.bridge,
                t.table.kind == "view",
                len(t.words),
            ),
        ).name
        self.draft.close["table", chosen] = None
        return chosen

    def holds(self, i: int, table: str) -> bool:
        mention = self.items[i].mention
        return mention is not None and any(c.table == table and s >= 0.6 for c, s in mention.columns)

    def next_mention(self, i: int) -> int | None:
        """The next mention after i, skipping function words."""
        for j in range(i + 1, len(self.items)):
            if self.sorts[j] in ("table", "column", "value", "measure", "literal", "number"):
                return j
            if self.sorts[j] in ("keyword", "sign"):
                return None
        return None

    def _previous_word(self, i: int) -> str:
        for j in range(i - 1, -1, -1):
            lower = self.items[j].lower
            if lower not in (
                "the",
                "a",
                "an",
                "all",
                "any",
                "every",
                "each",
                "these",
                "those",
                "different",
                "distinct",
            ):
                return lower
        return ""

    def _whose(self) -> str:
        """The table that a pronoun refers to: the topic of the question."""
        shown = [e.tables[0] for e in self.query.select if e.tables]
        return shown[0] if shown else self.entities[0]

    def near_tables(self, i: int) -> dict[str, float]:
        """Tables named around an item, with the scores for their nearness."""
        near = dict.fromkeys(self.named, 0.15)
        if i > 0 and self.sorts[i - 1] == "table":
            near[self.table_of(i - 1)] = 0.4
        if i > 1 and self.items[i - 1].lower == "'s" and self.sorts[i - 2] == "table":
            near[self.table_of(i - 2)] = 0.4
        owner = self._owner_after(i)
        if owner:
            near[owner] = max(near.get(owner, 0.0), 0.3)
        for table in self._tables_of_values(i):
            near[table] = max(near.get(table, 0.0), 0.1)
        for table in self._tables_of_siblings(i):
            near[table] = near.get(table, 0.0) + SIBLING
        if self.entities and i and self.items[i - 1].lower.split()[-1] in ("their", "its", "his", "her"):
            whose = self._whose()
            near[whose] = max(near.get(whose, 0.0), 0.35)
        for e in self.query.select[-3:]:
            if e.column is not None:
                near[e.column[0]] = max(near.get(e.column[0], 0.0), 0.18)
        if self.entities:
            near[self.entities[-1]] = max(near.get(self.entities[-1], 0.0), 0.22)
            near[self.entities[0]] = max(near.get(self.entities[0], 0.0), 0.2)
        return near

    def _owner_after(self, i: int) -> str:
        """`name of the customer`: the table that the words after item i name as its owner."""
        for j in range(i + 1, min(len(self.items), i + 12)):
            if self.sorts[j] == "table":
                owned = j == i + 1 or any(x.lower in ("of", "for", "from", "in") for x in self.items[i + 1 : j])
                return self.table_of(j) if owned else ""
            if self.items[j].is_keyword("relative", "cmp", "cmp_adj", "sup", "neg", "order"):
                return ""
        return ""

    def _tables_of_values(self, i: int) -> Iterator[str]:
        """Tables in which another item names a row by its name."""
        for j, item in enumerate(self.items):
            if j != i and self.sorts[j] == "value" and item.mention is not None:
                for hit in item.mention.values[:8]:
                    named = self.vocabulary.name_columns(hit.table) if hit.table in self.vocabulary.tables else ()
                    if hit.score > 0.95 and any(c.name == hit.column for c in named):
                        yield hit.table

    def _tables_of_siblings(self, i: int) -> Iterator[str]:
        """Tables that contain the columns named next to item i."""
        for j in range(max(0, i - 4), min(len(self.items), i + 5)):
            sibling = self.items[j].mention
            if j == i or self.sorts[j] != "column" or sibling is None or sibling.columns[0][1] < 0.85:
                continue
            holders = {c.table for c, s in sibling.columns if s >= sibling.columns[0][1] - 0.02}
            if len(holders) <= 2:
                yield from holders

    def column_of(self, i: int, wanted: str = "") -> ColumnWord:
        """The column that a mention most likely means here; `wanted` may be `number` or `date`."""
        mention = self.items[i].mention
        assert mention is not None
        near = self.near_tables(i)
        if self.items[i].lower in ("id", "ids", "identifier", "identifiers", "'s id") and near:
            owner = max(near, key=lambda t: near[t])
            key = self.vocabulary.key_column(owner)
            if near[owner] >= 0.2 and key is not None:
                return key
        if self.verb_cost(i):
            prices = [c for t in near for c in self.vocabulary.by_table[t] if c.words[-1] == "price" and c.numeric]
            if prices:
                return max(prices, key=lambda c: near[c.table])
        follows = self._value_after(i)
        if follows:
            holding = [pair for pair in mention.columns if pair[0].key in follows]
            if holding:
                return self.best_column(holding, near, wanted)
        return self.best_column(mention.columns, near, wanted)

    def verb_cost(self, i: int) -> bool:
        """`products that cost more than 5`: the verb asks for the price, not for a column of costs."""
        if self.items[i].lower not in ("cost", "costs") or not i or i + 1 >= len(self.items):
            return False
        if self.items[i - 1].is_keyword("relative"):
            return True
        compared = self.items[i + 1].is_keyword("cmp", "cmp_adj") or self.sorts[i + 1] == "number"
        return self.sorts[i - 1] == "table" and compared

    def _value_after(self, i: int) -> set[ColumnKey]:
        """The columns in which the value that follows item i is stored."""
        for j in range(i + 1, min(len(self.items), i + 5)):
            mention = self.items[j].mention
            if self.sorts[j] in ("value", "literal") and mention is not None:
                return {(h.table, h.column) for h in mention.values}
            if self.sorts[j] in ("table", "column", "number", "sign"):
                return set()
        return set()

    def best_column(
        self, candidates: Sequence[tuple[ColumnWord, float]], near: dict[str, float], wanted: str = ""
    ) -> ColumnWord:
        anchors = list(dict.fromkeys([*self.named, *(e.column[0] for e in self.query.select if e.column)]))

        def worth(pair: tuple[ColumnWord, float]) -> float:
            column, score = pair
            total = score + near.get(column.table, 0.0)
            if anchors and column.table not in anchors:
                total -= 0.07 * min(min(self.graph.distance(column.table, a) for a in anchors), 4)
            if column.foreign and not column.primary:
                total -= 0.05
            if self.vocabulary.tables[column.table].table.kind == "view":
                total -= 0.15
            if self.vocabulary.tables[column.table].bridge:
                total -= 0.02
            if wanted == "number" and not column.numeric:
                total -= 0.3
            if wanted == "number" and column.role == "id":
                total -= 0.3
            if wanted == "date" and column.role not in ("date", "year"):
                total -= 0.4
            return total

        ranked = sorted(candidates, key=worth, reverse=True)
        ranked = [pair for pair in ranked if ("column", pair[0].key) not in self.avoid] or ranked
        best = worth(ranked[0])
        if len(ranked) > 1 and worth(ranked[1]) > best - _CLOSE and ranked[1][1] > ranked[0][1] - _ALMOST:
            self.draft.close["column", ranked[0][0].key] = None
        if len(ranked) > 1 and worth(ranked[1]) > best - 0.03:
            self.draft.doubt("column_ambiguous")
        if (
            ranked
            and {c.key: s for c, s in candidates}[
                ranked[0].key if isinstance(ranked[0], ColumnWord) else ranked[0][0].key
            ]
            < 0.75
        ):
            self.draft.doubt("column_partial")
        return ranked[0][0]

    def shown(self, table: str) -> tuple[ColumnWord, ...]:
        """The columns that represent a row of this table; for a table without a name, the search follows one key."""
        named = self.vocabulary.name_columns(table)
        if named:
            return named
        for edge in self.graph.edges(table):
            if edge.left == table and edge.right != table and len(edge.left_columns) == 1:
                own = self.vocabulary.columns.get((table, edge.left_columns[0]))
                if own is not None and own.primary:
                    further = self.vocabulary.name_columns(edge.right)
                    if further:
                        return further
        key = self.vocabulary.key_column(table)
        return (key,) if key else self.vocabulary.by_table[table][:1]

    def choose_value(self, hits: Sequence[ValueHit], near: dict[str, float], column: ColumnWord | None) -> ValueHit:
        """The column in which a value is meant."""
        anchors = [*self.named, *(e.column[0] for e in self.query.select if e.column)]

        def worth(hit: ValueHit) -> float:
            total = hit.score
            if column is not None and (hit.table, hit.column) == column.key:
                total += 1.0
            elif column is not None and hit.column == column.name:
                total += 0.3
            total += near.get(hit.table, 0.0)
            if anchors and hit.table not in anchors:
                total -= 0.08 * min(min(self.graph.distance(hit.table, a) for a in anchors), 4)
            word = self.vocabulary.columns.get((hit.table, hit.column))
            if word is not None:
                total += {"name": 0.06, "id": -0.05}.get(word.role, 0.0)
                total -= 0.03 if word.foreign else 0.0
            return total

        allowed = [h for h in hits if ("value", h.table, h.column) not in self.avoid] or list(hits)
        best = max(allowed, key=worth)
        if len({(h.table, h.column) for h in allowed}) > 1:
            self.draft.close["value", best.table, best.column] = None
        return best
