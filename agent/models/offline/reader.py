"""Reading: from linked items to a `Query`, in one pass from left to right.

In: the items of a question, the schema's vocabulary and join graph. Out: a `Draft`: the query, and notes on what stayed
open. The reader knows two places in a question: the head, which says what to show, and the restrictions after it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from agent.knowledge.values import ValueIndex
from agent.models.offline import comparisons, conditions, measuring, sorting, stored, superlatives, timing
from agent.models.offline.choosing import Chooser, Draft
from agent.models.offline.interpretation import Clause, Condition, Expression, Function, Membership
from agent.models.offline.joins import JoinGraph
from agent.models.offline.lexicon import FUNCTION_WORDS, word_set
from agent.models.offline.linking import Item
from agent.models.offline.tokens import Token
from agent.models.offline.vocabulary import ColumnWord, Vocabulary

_SHOW = word_set(
    "show list give find tell return display get provide retrieve print what which who whose where when "
                  "count compute calculate report select name state identify fetch how"
)  # fmt: skip
_EVERYTHING = word_set("information info details detail everything data attributes columns fields records record rows")
_EARNING = word_set("spent spend spends spending sold sell sells earned earn earns made generated brought paid pay")
_TOGETHER = ("and their", "and its", "with their", "along with their", "together with their", "as well as their",
             "along with", "together with", "as well as", "with its", "along with its")  # fmt: skip
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
            self._keyword(i)
        elif sort == "table":
            self._table(i)
        elif sort == "column":
            self._column(i)
        elif sort == "measure":
            self._measure(i)
        elif sort == "value":
            stored.value(self, i)
        elif sort == "literal":
            stored.literal(self, i)
        elif sort == "number":
            comparisons.number(self, i)
        else:
            self._word(i, item)

    def _word(self, i: int, item: Item) -> None:
        if timing.period(self, i):
            return
        if item.lower == "by" and self._groups_by(i):
            self.grouping = True
        if timing.calendar_group(self, i):
            return
        if item.lower in _EVERYTHING and self.in_head and not self.query.select:
            self.star = self._whole_rows(i)
        if item.lower in _SHOW or (item.kind == "sign" and item.lower in ".?!;"):
            if item.lower in ".?!;":
                self._end_clause()
            started = self.query.select or self.entities or self.functions or self.counting
            if not started or item.lower in ("show", "list", "give", "return", "display", "find", "tell", "what"):
                self.in_head = True
        if item.lower in FUNCTION_WORDS or item.kind == "sign":
            self.draft.used.update(range(item.start, item.end))

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
        if (before.endswith("ed") and "group" not in before) or any(
            x.lower in ("any", "all") for x in self.items[i + 1 : i + 2]
        ):
            return False
        if following is None or self.sorts[following] not in ("column", "table"):
            return timing.calendar_word(self, i + 1) != "" and bool(
                self.functions or self.counting or self.query.select
            )
        asked = self.functions or self.counting or self.query.aggregates() or "group" in self.items[i - 1].lower
        return bool(asked) and following <= i + 3

    def _compared(self, i: int) -> bool:
        """`albums by artist "X"`: the name after `by` is a condition, not a group."""
        return conditions.condition_follows(self, i) or self.next_mention(i) == i + 1

    def _whole_rows(self, i: int) -> bool:
        """`all information about students`: whole rows are asked for."""
        before = self.items[i - 1].lower if i else ""
        after = self.items[i + 1].lower if i + 1 < len(self.items) else ""
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
        self.sink = self.query.where

    def _keyword(self, i: int) -> None:
        item = self.items[i]
        keyword = item.keyword
        assert keyword is not None
        kind, argument = keyword.kind, keyword.argument
        self.use(i)
        if kind == "period":
            if not timing.period(self, i):
                self.draft.doubt("period_open")
            return
        if kind == "stock":
            conditions.stock(self, argument == "out")
            return
        if kind == "count":
            following = self.next_mention(i)
            if self.functions and following is not None and self.sorts[following] == "column":
                column = self.column_of(following, "number")
                if column.numeric and column.role == "number":
                    return
            if "total number" in item.lower and following is not None and self.sorts[following] == "column":
                column = self.column_of(following, "number")
                if column.numeric and column.role == "number" and following <= i + 2:
                    self.functions.append("sum")
                    return
            self.counting = "distinct" if argument == "distinct" else "rows"
            if any(c.is_keyword("group") for c in self.items[max(0, i - 1) : i]) or not self.in_head:
                self.in_head = True
        elif kind == "agg":
            following = self.next_mention(i)
            extreme = argument in ("max", "min") and not self.in_head and (self.query.select or self.entities)
            if extreme and following is not None and self.sorts[following] == "column":
                superlatives.extreme_column(self, i, following, argument == "max")
                return
            self.functions.append(argument)  # type: ignore[arg-type]
        elif kind in ("sup", "sup_adj", "sup_count", "common", "selling"):
            superlatives.superlative(self, i)
        elif kind in ("cmp", "cmp_adj"):
            comparisons.comparison(self, i)
        elif kind == "like":
            stored.pattern(self, i)
        elif kind == "order":
            sorting.ordering(self, i)
        elif kind == "dir":
            sorting.direction(self, argument)
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
            following = self.next_mention(i)
            if following is not None and self.sorts[following] == "table":
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
                if not self.query.select and self.head_entity is not None and not self.functions and not self.counting:
                    self.query.select.extend(Expression(column=c.key) for c in self.shown(self.head_entity))
                self.in_head = True
                if "how many" in item.lower:
                    self.counting = "rows"
        elif kind == "relative" and (self.query.select or self.entities):
            if item.lower in ("is", "are", "was", "were") and self.in_head and not self.entities:
                return
            self.in_head = False
            if item.lower not in ("is", "are", "was", "were", "named", "called", "but", "if"):
                self.last_column = None

    # -- mentions -------------------------------------------------------------------------------------------------

    def _table(self, i: int) -> None:
        table = self.table_of(i)
        self.use(i)
        following = self.next_mention(i)
        if self.grouping:
            self.grouping = False
            if (
                following is not None
                and self.sorts[following] == "column"
                and self.holds(following, table)
                and following == i + 1
            ):
                self.grouping = True
                self.entity(table)
                return
            self.groups.append(("table", table))
            self.entity(table)
            return
        if self.negated and self.main_entity not in ("", table):
            self._absent(table)
            return
        if following == i + 1 and self.sorts[i + 1] == "column" and self.holds(i + 1, table):
            self.entity(table)
            return
        if self.functions and self.in_head:
            wants_count = self.functions == ["sum"]
            if wants_count:
                self.functions = []
                amount = measuring.money_column(self, table)
                if amount is not None:
                    self.query.select.append(Expression("sum", amount.key))
                    self.entity(table)
                    return
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

    def _column(self, i: int) -> None:
        mention = self.items[i].mention
        assert mention is not None
        if self.grouping:
            column = self.column_of(i)
            self.grouping = False
            self.use(i)
            if conditions.is_flag(self, column) and self._holds_table_next(i):
                self.grouping = True
                conditions.flag(self, column)
                return
            if self._only_prefix(i, column):
                self.grouping = True
                return
            self.groups.append(("column", Expression(column=column.key)))
            return
        if conditions.condition_follows(self, i) and not (self.in_head and self.functions and self._close_function(i)):
            self.use(i)
            if mention.text.lower() in ("year", "years", "date", "dates", "the year", "time") and timing.dated(self, i):
                return
            self.last_column = (i, self.column_of(i))
            return
        if self.in_head and self._only_context(i):
            self.use(i)
            self.draft.doubt("column_context")
            return
        if i + 1 < len(self.items) and self.sorts[i + 1] == "column" and self._verb_of(i):
            self.use(i)
            return
        if self.in_head and self._names_of_column(i):
            self.use(i)
            return
        column = self.column_of(i)
        self.use(i)
        if self._only_prefix(i, column) or self._only_ties(i, column):
            return
        if not self.in_head:
            self.last_column = (i, column)
            if self.negated and self.main_entity not in ("", column.table) and self._many(column.table):
                self._absent(column.table)
                return
            if self.negated or conditions.is_flag(self, column) or self._happened(i, column):
                conditions.flag(self, column)
                return
            self.draft.doubt("column_unused")
            return
        if mention.opposite and not conditions.is_flag(self, column):
            self.draft.used.difference_update(range(self.items[i].start, self.items[i].end))
            return
        self.negated = self.negated != mention.opposite
        if self.in_head and conditions.is_flag(self, column) and self._says_which(i):
            conditions.flag(self, column)
            return
        follows_entity = self._previous_word(i) in ("and", "and the", "and their", ",") and self.head_entity
        if follows_entity and not self.query.select and not self.counting and not self.functions:
            self.query.select.extend(Expression(column=c.key) for c in self.shown(self.head_entity or ""))
        whole = self._whole_name(i, column)
        if whole and not self.counting and not self.functions:
            self.query.select.extend(Expression(column=c.key) for c in whole)
            self.last_column = (i, whole[0])
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
        elif self.functions or self._shares_function(i, column):
            for function in self.functions or self.last_functions:
                self.query.select.append(Expression(function, column=column.key))
            self.last_functions = self.functions or self.last_functions
            self.functions = []
        else:
            self.query.select.append(Expression(column=column.key))
        if self.distinct:
            self.query.distinct = not any(e.function for e in self.query.select[-1:])
            self.distinct = False
        self.last_column = (i, column)

    def _holds_table_next(self, i: int) -> bool:
        return i + 1 < len(self.items) and self.sorts[i + 1] == "table"

    def _says_which(self, i: int) -> bool:
        """A yes-or-no column that describes the entity: `current customers`, `customers receive the newsletter`."""
        if self._holds_table_next(i):
            return True
        before = self._previous_word(i)
        return bool(self.query.aggregates() or self.entities) and before not in (
            "and",
            ",",
            "by",
            "show",
            "list",
            "the",
        )

    def _only_prefix(self, i: int, column: ColumnWord) -> bool:
        """`ticket topic`: the first word found only a key, and names whose topic is meant."""
        mention = self.items[i].mention
        assert mention is not None
        return (
            column.role == "id"
            and mention.columns[0][1] < 0.9
            and i + 1 < len(self.items)
            and self.sorts[i + 1] == "column"
            and self.holds(i + 1, column.table)
        )

    def _verb_of(self, i: int) -> bool:
        """`studying major 50`: the verb names the same column as the noun after it."""
        own, following = self.items[i].mention, self.items[i + 1].mention
        assert own is not None
        return (
            self.items[i].lower.endswith(("ing", "ed"))
            and following is not None
            and own.columns[0][0].key in {c.key for c, _ in following.columns[:2]}
        )

    def _names_of_column(self, i: int) -> bool:
        """`names of the states` where states are a column: the column itself is what to show."""
        if self.items[i].lower not in ("name", "names") or i + 2 >= len(self.items) or self.items[i + 1].lower != "of":
            return False
        j = i + 2
        while j < len(self.items) and (
            self.items[j].lower in ("the", "all", "different", "any") or self.items[j].is_keyword("distinct")
        ):
            j += 1
        if j >= len(self.items) or self.sorts[j] != "column":
            return False
        mention = self.items[j].mention
        assert mention is not None
        column, score = mention.columns[0]
        return score >= 0.9 and not column.numeric and column.role in ("text", "name") and not mention.tables

    def _only_ties(self, i: int, column: ColumnWord) -> bool:
        """`which employee supports …`: the verb resembles a key that points to the entity; it says how to join."""
        mention = self.items[i].mention
        assert mention is not None
        said = self.tokens[self.items[i].end - 1].lower
        return (
            self.head_entity is not None
            and not self.query.select
            and not self.counting
            and not self.functions
            and column.role == "id"
            and column.foreign
            and mention.columns[0][1] < 0.9
            and said not in ("id", "ids", "code", "codes", "number", "numbers")
            and any(
                e.right == self.head_entity and e.left_columns == (column.name,) for e in self.graph.edges(column.table)
            )
        )

    def _many(self, table: str) -> bool:
        """Whether the entity may have several rows of this table."""
        plan = self.graph.plan([self.main_entity, table])
        return plan is not None and plan.multiplies(self.main_entity)

    def _happened(self, i: int, column: ColumnWord) -> bool:
        """`have been discontinued`, with nothing to compare: the date is filled."""
        return column.role == "date" and self.items[i].lower.endswith("ed")

    def _shares_function(self, i: int, column: ColumnWord) -> bool:
        """`average price and score`: the second number is averaged too."""
        if not self.last_functions or not column.numeric or column.role != "number" or self.last_column is None:
            return False
        between = self.items[self.last_column[0] + 1 : i]
        return 1 <= len(between) <= 2 and all(x.lower in ("and", ",", "the") for x in between)

    def _close_function(self, i: int) -> bool:
        """Whether the aggregate asked for stands directly before this column."""
        for j in range(i - 1, max(-1, i - 4), -1):
            if self.items[j].is_keyword("agg"):
                return True
            if self.items[j].lower not in FUNCTION_WORDS and not self.items[j].is_keyword("and", "distinct", "count"):
                return False
        return False

    def _only_context(self, i: int) -> bool:
        """`names of the customers` where `customers` is at best a key column: it says whose names, not what to show."""
        mention = self.items[i].mention
        assert mention is not None
        if not self.query.select or self.counting or self.functions or self.grouping:
            return False
        if self._previous_word(i) not in ("of", "for", "from", "in"):
            return False
        column, score = mention.columns[0]
        last = self.query.select[-1]
        if (
            self._previous_word(i) == "of"
            and i >= 2
            and self.sorts[i - 2 if self.items[i - 1].lower == "of" else i - 3] == "column"
            and last.column is not None
            and last.column[0] == column.table
            and self.vocabulary.columns[last.column].role != "name"
            and column.key in {c.key for c in self.shown(column.table)}
        ):
            return True
        plural = self.tokens[self.items[i].end - 1].lower != self.tokens[self.items[i].end - 1].lemma
        return score < 0.9 and (column.role == "id" or plural)

    def _whole_name(self, i: int, column: ColumnWord) -> tuple[ColumnWord, ...]:
        """For a bare `name`: both name columns of a person, or what stands for the name where none is called so."""
        mention = self.items[i].mention
        assert mention is not None
        if self.items[i].lower not in ("name", "names", "title", "titles"):
            return ()
        near = self.near_tables(i)
        owner = max(near, key=lambda t: near[t]) if near else ""
        if owner and near[owner] >= 0.3 and column.table != owner:
            held = [c for c, s in mention.columns if c.table == owner and s >= 0.55]
            if held:
                return (held[0],)
            if self.vocabulary.name_columns(owner) or self.shown(owner)[0].table != owner:
                return self.shown(owner)
        if "first" in column.words or "last" in column.words:
            named = self.vocabulary.name_columns(column.table)
            return named if len(named) == 2 else ()
        return ()

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
                self._column(i)
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
