"""Reading: from linked items to a `Query`, in one pass from left to right.

In: the items of a question, the schema's vocabulary and join graph. Out: a `Draft`: the query, and notes on what stayed
open. The reader knows two places in a question: the head, which says what to show, and the restrictions after it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from agent.knowledge.values import ValueIndex
from agent.models.offline import (
    conditions,
    figures,
    measuring,
    projecting,
    signals,
    sorting,
    stored,
    timing,
)
from agent.models.offline.choosing import Chooser, Draft
from agent.models.offline.interpretation import Clause, ColumnKey, Condition, Expression, Function, Membership
from agent.models.offline.joins import JoinGraph
from agent.models.offline.lexicon import FUNCTION_WORDS, word_set
from agent.models.offline.mentions import Item
from agent.models.offline.tokens import Token
from agent.models.offline.vocabulary import ColumnWord, Vocabulary

_SHOW = word_set(
    "show list give find tell return display get provide retrieve print present sort what which who whose where when "
                  "count compute calculate report select name state identify fetch how"
)  # fmt: skip
_EVERYTHING = word_set("information info details detail everything data attributes columns fields records record rows")
_EARNING = word_set("spent spend spends spending sold sell sells earned earn earns made generated brought paid pay")
_TOGETHER = ("and their", "and its", "with their", "along with their", "together with their", "as well as their",
             "along with", "together with", "as well as", "with its", "along with its")  # fmt: skip
_DONE = word_set("written made taught won driven given drawn built flown led held run sung taken chosen")
"""Verbs after which `by` names who did it."""
_PREPOSITIONS = word_set("of for from in at on by to during within among under about as")


class Reader(Chooser):
    """Reads one question. Call `read` once."""

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
        super().__init__(tokens, items, vocabulary, graph, values, today, avoid)
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
        self.head_entity: str | None = None
        self.last_column: tuple[int, ColumnWord] | None = None
        self.last_clause: list[Condition] | None = None
        self.value_column: tuple[int, ColumnWord] | None = None
        self.star = False
        self.waiting_direction = ""
        self.ranked_by = False
        self.last_functions: list[Function] = []
        self.verb_measure: Expression | None = None
        self.sink: list[Clause] = self.query.where
        self.denied_column: ColumnKey | None = None
        self.empty_too = False
        self.figure_ranked = False

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

    @property
    def main_entity(self) -> str:
        """The table whose rows the question is about; empty while unknown."""
        shown = [e.tables[0] for e in self.query.select if e.tables]
        return self.entities[0] if self.entities else (shown[0] if shown else "")

    def use(self, i: int) -> None:
        """Mark an item as explained."""
        self.consumed.add(i)
        self.draft.used.update(range(self.items[i].start, self.items[i].end))

    def _take(self, i: int) -> None:
        item = self.items[i]
        sort = self.sorts[i]
        if sort == "keyword":
            signals.signal(self, i)
        elif sort == "table":
            self._table(i)
        elif sort == "column":
            projecting.column(self, i)
        elif sort == "measure":
            self._measure(i)
        elif sort == "value":
            stored.value(self, i)
        elif sort == "literal":
            stored.literal(self, i)
        elif sort == "number":
            figures.number(self, i)
        else:
            self._word(i, item)

    def _word(self, i: int, item: Item) -> None:
        if timing.period(self, i):
            return
        if item.lower == "by" and sorting.basis(self, i):
            pass
        elif item.lower == "by" and self._sorts_by(i):
            sorting.order_terms(self, i, "asc")
        elif item.lower == "by" and self._groups_by(i):
            self.grouping = True
        if timing.calendar_group(self, i):
            return
        if item.lower in _EVERYTHING and self.in_head and not self.query.select:
            self.star = self._whole_rows(i)
        if item.lower in _SHOW or (item.kind == "sign" and item.lower in ".?!;"):
            if item.lower in ".?!;" and i + 1 < len(self.items):
                self._end_clause()
            started = self.query.select or self.entities or self.functions or self.counting
            if not started or item.lower in ("show", "list", "give", "return", "display", "find", "tell", "what"):
                self.in_head = True
        if item.lower in FUNCTION_WORDS or item.kind == "sign":
            self.draft.used.update(range(item.start, item.end))

    def _sorts_by(self, i: int) -> bool:
        """`products by price descending`, `the first 5 products by price`: rows are put in order, not in groups."""
        following = self.next_mention(i)
        ranked = any(x.is_keyword("sup", "sup_adj", "sup_count", "common", "selling") for x in self.items)
        cut = self.query.limit is not None and not self.query.order and not ranked
        plain = not (self.functions or self.counting or self.query.aggregates())
        return (
            plain
            and following is not None
            and self.sorts[following] == "column"
            and (cut or any(x.is_keyword("dir") for x in self.items[following + 1 : following + 3]))
        )

    def _groups_by(self, i: int) -> bool:
        """`sales by region`: an aggregate or count was asked for, and a column or table follows."""
        following = self.next_mention(i)
        if self.query.order or self.negated:
            return False
        if (
            following == i + 1
            and self.sorts[following] in ("column", "table")
            and i
            and self.sorts[i - 1] == "table"
            and not self.query.select
            and not self.functions
        ) and (following + 1 >= len(self.items) or not self._compared(following)):
            return True
        before = self.items[i - 1].lower if i else ""
        if (
            (before.endswith("ed") and "group" not in before)
            or before in _DONE
            or any(x.lower in ("any", "all") for x in self.items[i + 1 : i + 2])
        ):
            return False
        if following is None or self.sorts[following] not in ("column", "table"):
            return timing.calendar_word(self, i + 1) != "" and bool(
                self.functions or self.counting or self.query.select
            )
        if following + 1 < len(self.items) and (
            self.sorts[following + 1] in ("value", "literal") or self.items[following + 1].lower in ("called", "named")
        ):
            return False
        asked = self.functions or self.counting or self.query.aggregates() or "group" in self.items[i - 1].lower
        return bool(asked) and following <= i + 3

    def _compared(self, i: int) -> bool:
        """`albums by artist "X"`: the name after `by` is a condition, not a group."""
        return conditions.condition_follows(self, i) or self.next_mention(i) == i + 1

    def _whole_rows(self, i: int) -> bool:
        """`all information about students`, `all student records`: whole rows are asked for."""
        before = self.items[i - 1].lower if i else ""
        after = self.items[i + 1].lower if i + 1 < len(self.items) else ""
        if i > 1 and self.items[i].lower in ("records", "rows", "entries") and self.sorts[i - 1] == "table":
            return self.items[i - 2].lower in ("all", "every", "the", "full", "complete")
        return before in (
            "all",
            "the",
            "full",
            "complete",
            "every",
            "show",
            "list",
            "find",
            "give",
            "what",
            "any",
        ) and (after in ("about", "of", "for", "on", "regarding", "from", "concerning", "related", "in"))

    def _end_clause(self) -> None:
        if self.negated and not self.excepting:
            self.draft.doubt("negation_open")
        if self.grouping:
            self.draft.doubt("group_open")
        self.grouping = False
        self.negated = self.or_next = False
        self.last_column = None
        self.sink, self.denied_column = self.query.where, None

    # -- mentions -------------------------------------------------------------------------------------------------

    def _table(self, i: int) -> None:
        table = self.table_of(i)
        self.use(i)
        following = self.next_mention(i)
        if self.grouping:
            self.grouping = False
            if following == i + 1 and (
                self._owned(following, table) or (self.sorts[following] == "column" and self.holds(following, table))
            ):
                self.grouping = True
                self.entity(table)
                return
            self.groups.append(("table", table))
            self.entity(table)
            return
        if self.negated and self._even_without(i):
            self.empty_too, self.negated = True, False
            self.entity(table)
            return
        if self.negated and self.main_entity not in ("", table) and not self._beside_value(i, table):
            self._absent(table)
            return
        if following == i + 1 and self.sorts[i + 1] == "column" and self.holds(i + 1, table):
            if self.in_head and not self.query.select and self.verb_cost(i + 1):
                self.head_entity = self.head_entity or table
            self.entity(table)
            return
        if self.functions and self.in_head:
            amount = measuring.money_column(self, table) if len(self.functions) == 1 else None
            if amount is not None:
                self.query.select.append(Expression(self.functions.pop(), amount.key))
                self.entity(table)
                return
            if self.functions == ["sum"]:
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
        elif self.in_head and self.head_entity and (preceding in ("and", ",", "also") or preceding in _TOGETHER):
            self.query.select.extend(Expression(column=c.key) for c in self.shown(table))
        self.entity(table)

    def _owned(self, i: int, table: str) -> bool:
        """`per product category`: the table at item i is what rows of the one before it refer to."""
        if self.sorts[i] != "table":
            return False
        return any(e.left == table for e in self.graph.between(table, self.table_of(i)))

    def _beside_value(self, i: int, table: str) -> bool:
        """`not the Psychology department`, `not in department "X"`: a value says which rows of the table are denied."""
        for k in (i - 1, i + 1, i + 2):
            if 0 <= k < len(self.items) and self.sorts[k] in ("value", "literal"):
                mention = self.items[k].mention
                return mention is not None and (k < i or any(h.table == table for h in mention.values))
        return False

    def _even_without(self, i: int) -> bool:
        """`customers and their orders, including customers with no orders`: absence adds rows, it does not restrict."""
        for k in range(i - 1, max(-1, i - 8), -1):
            if self.items[k].lower in ("including", "even", "plus"):
                return self.items[k - 1].lower != "not" if k else False
            if self.items[k].lower in (".", ";", "?", "!"):
                return False
        return False

    def entity(self, table: str) -> None:
        """Remember a table that the question names; inside `without …` it only tells what is absent."""
        if table not in self.entities and self.sink is self.query.where:
            self.entities.append(table)

    def _absent(self, table: str) -> None:
        """`without orders`: the conditions that follow restrict the absent rows."""
        where: list[Clause] = []
        self.query.where.append((Membership(self.main_entity, table, where, True),))  # type: ignore[arg-type]
        self.sink = where
        self.negated = False

    def many(self, table: str) -> bool:
        """Whether the entity may have several rows of this table."""
        return self.many_of(self.main_entity, table)

    def many_of(self, one: str, other: str) -> bool:
        """Whether a row of one table may have several of the other."""
        plan = self.graph.plan([one, other])
        return plan is not None and plan.multiplies(one)

    def _measure(self, i: int) -> None:
        mention = self.items[i].mention
        assert mention is not None
        expression = measuring.measure(self, mention.measure)
        if expression is None:
            if mention.tables:
                self.sorts[i] = "table"
                self._table(i)
            elif mention.columns:
                self.sorts[i] = "column"
                projecting.column(self, i)
            return
        self.use(i)
        if self.in_head and not self.functions and self.items[i].lower in _EARNING:
            self.verb_measure = expression
            return
        function: Function = self.functions[0] if self.functions else "sum"
        self.functions = []
        self.counting = ""
        self.query.select.append(Expression(function, expression.column, factor=expression.factor))
        assert expression.column is not None
