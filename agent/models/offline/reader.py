"""Reading: from linked items to a `Query`, in one pass from left to right.

In: the items of a question, the schema's vocabulary and join graph. Out: a `Draft`: the query, and notes on what stayed
open. The reader knows two places in a question: the head, which says what to show, and the restrictions after it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.knowledge.values import ValueHit, ValueIndex
from agent.models.offline import clauses
from agent.models.offline.interpretation import Clause, Condition, Expression, Function, Membership, Query
from agent.models.offline.joins import JoinGraph
from agent.models.offline.lexicon import FUNCTION_WORDS, word_set
from agent.models.offline.linking import Item
from agent.models.offline.tokens import Token
from agent.models.offline.vocabulary import ColumnWord, Vocabulary

_SHOW = word_set(
    "show list give find tell return display get provide retrieve print what which who whose where when "
                  "count compute calculate report select name state identify fetch how"
)  # fmt: skip
_PREPOSITIONS = word_set("of for from in at on by to during within among under about as")


@dataclass
class Draft:
    """A reading in the making."""

    query: Query = field(default_factory=Query)
    used: set[int] = field(default_factory=set)
    """Token positions that the reading explains."""
    doubts: dict[str, float] = field(default_factory=dict)
    """Named reasons to trust the reading less, counted; the ranking weighs them."""
    notes: list[str] = field(default_factory=list)
    """Sentences that the interpretation should say (how a relative period was taken)."""

    def doubt(self, name: str, amount: float = 1.0) -> None:
        self.doubts[name] = self.doubts.get(name, 0.0) + amount


class Reader:
    """Reads one question. Call `read` once."""

    def __init__(
        self,
        tokens: Sequence[Token],
        items: Sequence[Item],
        vocabulary: Vocabulary,
        graph: JoinGraph,
        values: ValueIndex,
        today: dt.date,
    ) -> None:
        self.tokens = tokens
        self.items = list(items)
        self.vocabulary = vocabulary
        self.graph = graph
        self.values = values
        self.today = today
        self.draft = Draft()
        self.query = self.draft.query
        self.at = 0
        self.in_head = True
        self.consumed: set[int] = set()
        self.functions: list[Function] = []
        self.counting = ""
        self.distinct = False
        self.grouping = False
        self.negated = False
        self.excepting = False
        self.either = False
        self.both = False
        self.or_next = False
        self.share = False
        self.groups: list[tuple[str, object]] = []
        self.entities: list[str] = []
        self.head_entity: str | None = None
        self.last_column: tuple[int, ColumnWord] | None = None
        self.last_clause: list[Condition] | None = None
        self.sink: list[Clause] = self.query.where
        self.sorts = [self._sort(i) for i in range(len(self.items))]
        self.named = [self._table_of(i) for i in range(len(self.items)) if self.sorts[i] == "table"]

    # -- what an item is ------------------------------------------------------------------------------------------

    def _sort(self, i: int) -> str:
        """table, column, value, measure, or the item's own kind."""
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
            return "value"
        if mention.measure and column < 0.9 and table < 0.9:
            return "measure"
        if mention.measure and table >= 0.9 and column < 0.9 and self._before_amount(i):
            return "measure"
        if table and table >= column - 0.02:
            if column >= 0.9 and table <= column + 0.02 and self._column_here(i):
                return "column"
            return "table"
        if column:
            return "column"
        return "value" if value else "word"

    def _before_amount(self, i: int) -> bool:
        """`total sales`, `how much sales`: the words ask for an amount, not for rows."""
        before = " ".join(x.lower for x in self.items[max(0, i - 2) : i])
        return any(w in before for w in ("total", "average", "sum", "much", "by", "highest", "lowest", "most"))

    def _column_here(self, i: int) -> bool:
        """Both a table and a column bear this name: does a table named nearby hold the column?"""
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

    def _table_of(self, i: int) -> str:
        """The table that a table mention names; among equals the one closest to the others."""
        mention = self.items[i].mention
        assert mention is not None
        top = mention.tables[0][1]
        equal = [t for t, s in mention.tables if s >= top - 0.04]
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
        return min(
            equal,
            key=lambda t: (
                sum(min(self.graph.distance(t.name, f), 9) for f in firm),
                t.bridge,
                t.table.kind == "view",
                len(t.words),
            ),
        ).name

    # -- the pass -------------------------------------------------------------------------------------------------

    def read(self) -> Draft:
        """Read all items, then settle what to show, group and join."""
        while self.at < len(self.items):
            i = self.at
            self.at += 1
            if i not in self.consumed:
                self._take(i)
        from agent.models.offline.settling import settle

        settle(self)
        return self.draft

    def use(self, i: int) -> None:
        """Mark an item as explained."""
        self.consumed.add(i)
        self.draft.used.update(range(self.items[i].start, self.items[i].end))

    def _take(self, i: int) -> None:
        item = self.items[i]
        sort = self.sorts[i]
        if sort == "keyword":
            self._keyword(i)
        elif sort == "table":
            self._table(i)
        elif sort == "column":
            self._column(i)
        elif sort == "measure":
            self._measure(i)
        elif sort == "value":
            clauses.value(self, i)
        elif sort == "literal":
            clauses.literal(self, i)
        elif sort == "number":
            clauses.number(self, i)
        else:
            self._word(i, item)

    def _word(self, i: int, item: Item) -> None:
        if clauses.period(self, i):
            return
        if item.lower in _SHOW or (item.kind == "sign" and item.lower in ".?!;"):
            if item.lower in ".?!;":
                self._end_clause()
            started = self.query.select or self.entities or self.functions or self.counting
            if not started or item.lower in ("show", "list", "give", "return", "display", "find", "tell", "what"):
                self.in_head = True
        if item.lower in FUNCTION_WORDS or item.kind == "sign":
            self.draft.used.update(range(item.start, item.end))

    def _end_clause(self) -> None:
        self.negated = self.or_next = False
        self.last_column = None
        self.sink = self.query.where

    def _keyword(self, i: int) -> None:
        item = self.items[i]
        keyword = item.keyword
        assert keyword is not None
        kind, argument = keyword.kind, keyword.argument
        self.use(i)
        if kind == "count":
            self.counting = "distinct" if argument == "distinct" else "rows"
            if any(c.is_keyword("group") for c in self.items[max(0, i - 1) : i]) or not self.in_head:
                self.in_head = True
        elif kind == "agg":
            self.functions.append(argument)  # type: ignore[arg-type]
        elif kind in ("sup", "sup_adj", "sup_count", "common"):
            clauses.superlative(self, i)
        elif kind in ("cmp", "cmp_adj"):
            clauses.comparison(self, i)
        elif kind == "like":
            clauses.pattern(self, i)
        elif kind == "order":
            clauses.ordering(self, i)
        elif kind == "dir":
            clauses.direction(self, argument)
        elif kind == "group":
            self.grouping = True
        elif kind == "distinct":
            self.distinct = True
        elif kind == "neg":
            self.negated = True
            self.in_head = self.in_head and not (self.query.select or self.entities)
        elif kind == "except":
            self.negated = self.excepting = True
            self.in_head = False
        elif kind == "both":
            self.both = True
        elif kind == "either":
            self.either = True
        elif kind == "or":
            self.or_next = not self.in_head or self.last_clause is not None
        elif kind == "percent":
            self.share = True
            self.counting = self.counting or "rows"
        elif kind == "also":
            if (
                item.lower
                in (
                    "along with",
                    "together with",
                    "and their",
                    "and its",
                    "with their",
                    "along with their",
                    "as well as",
                    "as well as the",
                    "as well as their",
                    "and what is",
                    "and what are",
                    "and show",
                    "and list",
                    "and give",
                    "and how many",
                )
                or "corresponding" in item.lower
            ):
                self.in_head = True
                if "how many" in item.lower:
                    self.counting = "rows"
        elif kind == "relative" and (self.query.select or self.entities):
            if item.lower in ("is", "are", "was", "were") and self.in_head and not self.entities:
                return
            self.in_head = False

    # -- mentions -------------------------------------------------------------------------------------------------

    def _table(self, i: int) -> None:
        table = self._table_of(i)
        self.use(i)
        following = self._next(i)
        if self.grouping:
            self.grouping = False
            if (
                following is not None
                and self.sorts[following] == "column"
                and self._holds(following, table)
                and following == i + 1
            ):
                self.grouping = True
                self.entity(table)
                return
            self.groups.append(("table", table))
            self.entity(table)
            return
        if self.negated and self.entities and table != self.entities[0]:
            self._absent(table)
            return
        if following == i + 1 and self.sorts[i + 1] == "column" and self._holds(i + 1, table):
            self.entity(table)
            return
        if self.functions and self.in_head:
            wants_count = self.functions == ["sum"]
            if wants_count:
                self.functions = []
                self.query.select.append(Expression("count", table=table))
                self.entity(table)
                return
        if self.counting and (self.in_head or self.share):
            self.query.select.append(
                Expression("count", table=table, distinct=self.counting == "distinct", share=self.share)
            )
            self.counting, self.share = "", False
            self.entity(table)
            return
        preceding = self._previous_word(i)
        if (
            self.in_head
            and not (self.query.select or (preceding in _PREPOSITIONS and self.entities))
            and preceding not in ("of", "in", "from", "for")
        ):
            self.head_entity = self.head_entity or table
        elif self.in_head and self.head_entity and preceding in ("and", ",", "also"):
            self.query.select.extend(Expression(column=c.key) for c in self.shown(table))
        self.entity(table)

    def entity(self, table: str) -> None:
        """Remember a table that the question names."""
        if table not in self.entities:
            self.entities.append(table)

    def _absent(self, table: str) -> None:
        """`without orders`: the conditions that follow restrict the absent rows."""
        where: list[Clause] = []
        self.query.where.append((Membership(self.entities[0], table, where, True),))  # type: ignore[arg-type]
        self.sink = where
        self.negated = False

    def _holds(self, i: int, table: str) -> bool:
        mention = self.items[i].mention
        return mention is not None and any(c.table == table and s >= 0.6 for c, s in mention.columns)

    def _column(self, i: int) -> None:
        mention = self.items[i].mention
        assert mention is not None
        if self.grouping:
            column = self.column_of(i)
            self.grouping = False
            self.use(i)
            self.groups.append(("column", column.key))
            return
        if clauses.condition_follows(self, i) and not (self.in_head and self.functions):
            column = self.column_of(i)
            self.use(i)
            self.last_column = (i, column)
            return
        column = self.column_of(i)
        self.use(i)
        if not self.in_head:
            self.last_column = (i, column)
            if self.negated:
                self.sink.append((Condition(Expression(column=column.key), "null"),))
                self.negated = False
                return
            self.draft.doubt("column_unused")
            return
        if self.counting:
            key = self.vocabulary.key_column(column.table)
            rows = key is not None and key.key == column.key
            self.query.select.append(
                Expression(
                    "count",
                    column=None if rows else column.key,
                    table=column.table,
                    distinct=not rows,
                    share=self.share,
                )
            )
            self.counting = ""
        elif self.functions:
            for function in self.functions:
                self.query.select.append(Expression(function, column=column.key))
            following = self._next(i)
            if (
                following is None
                or self.sorts[following] != "column"
                or self.items[following].lower == ""
                or self._separated_by_comma(i, following)
            ):
                self.functions = []
            else:
                self.functions = []
        else:
            self.query.select.append(Expression(column=column.key))
        if self.distinct:
            self.query.distinct = not any(e.function for e in self.query.select[-1:])
            self.distinct = False
        self.last_column = (i, column)

    def _separated_by_comma(self, i: int, j: int) -> bool:
        return any(x.lower == "," for x in self.items[i:j])

    def _measure(self, i: int) -> None:
        mention = self.items[i].mention
        assert mention is not None
        expression = clauses.measure(self, mention.measure)
        if expression is None:
            if mention.tables:
                self.sorts[i] = "table"
                self._table(i)
            elif mention.columns:
                self.sorts[i] = "column"
                self._column(i)
            return
        self.use(i)
        function: Function = self.functions[0] if self.functions else "sum"
        self.functions = []
        self.counting = ""
        self.query.select.append(Expression(function, expression.column, factor=expression.factor))
        assert expression.column is not None

    # -- choosing columns -----------------------------------------------------------------------------------------

    def _next(self, i: int) -> int | None:
        """The next mention after i, over function words."""
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

    def near_tables(self, i: int) -> dict[str, float]:
        """Tables named around an item, with what their nearness is worth."""
        near: dict[str, float] = {}
        for table in self.named:
            near[table] = 0.15
        if i > 0 and self.sorts[i - 1] == "table":
            near[self._table_of(i - 1)] = 0.4
        if i > 1 and self.items[i - 1].lower == "'s" and self.sorts[i - 2] == "table":
            near[self._table_of(i - 2)] = 0.4
        for j in range(i + 1, min(len(self.items), i + 12)):
            item = self.items[j]
            if self.sorts[j] == "table":
                if any(x.lower in ("of", "for", "from", "in") for x in self.items[i + 1 : j]) or j == i + 1:
                    table = self._table_of(j)
                    near[table] = max(near.get(table, 0.0), 0.3)
                break
            if item.is_keyword("relative", "cmp", "cmp_adj", "sup", "neg", "order"):
                break
        else:
            j = i
        if self.entities:
            near[self.entities[-1]] = max(near.get(self.entities[-1], 0.0), 0.22)
            near[self.entities[0]] = max(near.get(self.entities[0], 0.0), 0.2)
        return near

    def column_of(self, i: int, wanted: str = "") -> ColumnWord:
        """The column that a mention most likely names here; `wanted` may be `number` or `date`."""
        mention = self.items[i].mention
        assert mention is not None
        return self.best_column(mention.columns, self.near_tables(i), wanted)

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
        best = worth(ranked[0])
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
        """The columns that stand for a row of this table, looking one key further for a table without a name."""
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
        anchors = self.named

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

        return max(hits, key=worth)
