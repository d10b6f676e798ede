"""A question linked to one schema: what a rule may see before anything is read.

In: the tokens of a question, the candidates that the linker has for each span, the signal phrases; the schema's
vocabulary and join graph, the value index. Out: `Item`s, which cover the question from left to right: of overlapping
candidates, those of the cover with the highest score; and a frozen `LinkedQuestion`: for each item its sort (table,
column, value, measure, keyword …) and, if it names a table, that table. Rules receive it and cannot change it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from agent.knowledge.values import ValueHit, ValueIndex
from agent.knowledge.vocabulary import ColumnWord, TableWord, Vocabulary
from agent.parser.interpretation import ColumnKey, Condition, Expression, Membership
from agent.parser.joins import Edge, JoinGraph
from agent.parser.word_lists import Keyword
from eval.language.lexicon import FUNCTION_WORDS, word_set
from eval.language.tokens import Token


@dataclass(frozen=True, slots=True)
class Mention:
    """Words `start` to `end` (exclusive) and the things they may name, best first."""

    start: int
    end: int
    tables: tuple[tuple[TableWord, float], ...] = ()
    columns: tuple[tuple[ColumnWord, float], ...] = ()
    values: tuple[ValueHit, ...] = ()
    text: str = ""
    measure: str = ""
    """The business measure that the words name (`revenue`), or empty."""
    opposite: bool = False
    """The word negates the name (`inactive` for a column `active`)."""
    guessed: bool = False
    """The words may only mean something similar to the name."""

    @property
    def schema_score(self) -> float:
        return max((s for _, s in (*self.tables, *self.columns)), default=0.0)

    @property
    def stored_in(self) -> set[ColumnKey]:
        """The columns that hold the values."""
        return {(v.table, v.column) for v in self.values}

    @property
    def value_score(self) -> float:
        return max((v.score for v in self.values), default=0.0)


@dataclass(frozen=True, slots=True)
class Qualification:
    """A possible meaning of a qualifier such as `pending` in the data."""

    table: str
    """The table whose rows it describes."""
    condition: Condition | Membership
    note: str
    """The mapping in words, for the user."""
    by_synonym: bool = False
    """The data uses another word for the state."""
    also: Condition | None = None
    """A second condition, which must hold too."""
    either: Condition | None = None
    """What may hold in place of the condition."""


@dataclass(frozen=True, slots=True)
class Item:
    """One span of the question."""

    start: int
    end: int
    kind: str
    """`mention`, `keyword`, `number`, `literal` (quoted), `word`, `sign`, `qualifier`."""
    lower: str
    mention: Mention | None = None
    keyword: Keyword | None = None
    number: float | int | None = None
    meanings: tuple[Qualification, ...] = ()
    """The possible meanings of a qualifier."""

    def is_keyword(self, *kinds: str) -> bool:
        return self.keyword is not None and self.keyword.kind in kinds

    def naming(
        self,
        *,
        tables: tuple[tuple[TableWord, float], ...] = (),
        columns: tuple[tuple[ColumnWord, float], ...] = (),
        values: tuple[ValueHit, ...] = (),
        text: str = "",
        opposite: bool = False,
        guessed: bool = False,
    ) -> Item:
        """The item as a mention of these things."""
        text = text or self.lower
        mention = Mention(self.start, self.end, tables, columns, values, text, opposite=opposite, guessed=guessed)
        return replace(self, kind="mention", mention=mention)


@dataclass
class Span:
    """Candidates for one span, while they are collected."""

    tables: dict[str, tuple[TableWord, float]] = field(default_factory=dict)
    columns: dict[tuple[str, str], tuple[ColumnWord, float]] = field(default_factory=dict)
    values: tuple[ValueHit, ...] = ()
    measure: str = ""
    matched: int = 0
    """Content words covered."""
    complete: bool = False
    """All words of some name are matched."""

    def offer(self, candidate: TableWord | ColumnWord, score: float) -> None:
        """Add a table or a column, unless it is known with a score that is not lower."""
        if isinstance(candidate, TableWord):
            if score > self.tables.get(candidate.name, (candidate, 0.0))[1]:
                self.tables[candidate.name] = (candidate, score)
        elif score > self.columns.get(candidate.key, (candidate, 0.0))[1]:
            self.columns[candidate.key] = (candidate, score)


def covered(tokens: Sequence[Token], spans: dict[tuple[int, int], Span], signals: Sequence[Keyword]) -> list[Item]:
    """The items of the cover with the highest score, found by dynamic programming from the right."""
    size = len(tokens)
    starting: dict[int, list[tuple[int, float, Span | Keyword | None]]] = {}
    for (start, end), span in spans.items():
        starting.setdefault(start, []).append((end, _worth(tokens, start, end, span), span))
    for signal in signals:
        length = signal.end - signal.start
        worth = 0.55 + 1.0 * (length - 1)
        if signal.kind == "period":
            worth += 1.5
        if signal.kind in ("relative", "and", "or", "also"):
            worth = 0.3 * length
        elif signal.kind in ("sup_adj", "cmp_adj"):
            worth += 0.4
        elif signal.kind in ("order", "dir") and length == 1:
            worth = 0.5
        starting.setdefault(signal.start, []).append((signal.end, worth, signal))
    best: list[tuple[float, int, Span | Keyword | None]] = [(0.0, size, None)] * (size + 1)
    for start in range(size - 1, -1, -1):
        best[start] = (best[start + 1][0], start + 1, None)
        for end, worth, what in starting.get(start, ()):
            total = worth + best[end][0]
            if total > best[start][0]:
                best[start] = (total, end, what)
    items = []
    at = 0
    while at < size:
        _, end, what = best[at]
        items.append(_item(tokens, at, end, what))
        at = end
    return items


def _worth(tokens: Sequence[Token], start: int, end: int, span: Span) -> float:
    schema = max((s for _, s in (*span.tables.values(), *span.columns.values())), default=0.0)
    if span.measure:
        schema = max(schema, 0.9)
    words = span.matched
    gaps = (end - start) - words
    single = words == 1 and tokens[start].lower in FUNCTION_WORDS
    worth = 0.0
    if schema:
        worth = schema * words + 0.15 * (words - 1) + 0.1 * gaps
        if words > 1 and span.complete:
            worth += 1.0
        before = tokens[start - 1] if start else None
        after = tokens[end].lower if end < len(tokens) else "."
        closing = (
            before is not None and before.is_word and before.lower not in FUNCTION_WORDS and after in FUNCTION_WORDS
        )
        if single and not (closing and span.complete):
            worth = 0.45 * schema if tokens[start].lower not in ("name", "names", "number") else 0.62
    if span.values:
        score = max(v.score for v in span.values)
        named = any(t.capital or t.kind == "quoted" for t in tokens[start:end])
        value = score * words + 0.4 * (words - 1) + (0.35 if named else -0.2)
        worth = max(worth, value)
    return worth


def _item(tokens: Sequence[Token], start: int, end: int, what: Span | Keyword | None) -> Item:
    text = " ".join(t.text for t in tokens[start:end])
    lower = " ".join(t.lower for t in tokens[start:end])
    if isinstance(what, Keyword):
        return Item(start, end, "keyword", lower, keyword=what)
    if what is not None:
        return Item(start, end, "mention", lower, mention=_mention(start, end, what, text))
    if tokens[start].kind == "quoted":
        return Item(start, end, "literal", lower, mention=Mention(start, end, text=text))
    if tokens[start].number is not None:
        return Item(start, end, "number", lower, number=tokens[start].number)
    return Item(start, end, "word" if tokens[start].kind == "word" else "sign", lower)


def _mention(start: int, end: int, span: Span, text: str) -> Mention:
    tables = sorted(span.tables.values(), key=lambda p: -p[1])
    columns = sorted(span.columns.values(), key=lambda p: -p[1])
    best_table = tables[0][1] if tables else 0.0
    best_column = columns[0][1] if columns else 0.0
    return Mention(
        start,
        end,
        tuple(p for p in tables if p[1] >= best_table - 0.25 and p[1] >= 0.5),
        tuple(p for p in columns if p[1] >= best_column - 0.3 and p[1] >= 0.45),
        span.values,
        text,
        span.measure,
    )


ALMOST = 0.15
"""Scores that differ by at most this much are rivals."""
_SAME_WORD = 0.85
"""A stored value with at least this score is the word itself, or its singular."""
_THE_NAME = 0.95
"""A stored value with a higher score is the name itself."""
_KIND_COLUMNS = 4
"""A table of kinds has at most this many columns."""
_OWN = word_set("their its his her our own same")
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

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All tokens in small letters."""
        return tuple(token.lower for token in self.tokens)

    def begins(self, *words: str) -> bool:
        return self.words[: len(words)] == words

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The tables that the question names, in order."""
        return tuple(self.tables[i] for i, sort in enumerate(self.sorts) if sort == "table")

    @cached_property
    def rows_named(self) -> tuple[tuple[int, str], ...]:
        """The items that name a row by its name, each with the tables in which they do."""
        found: dict[tuple[int, str], None] = {}
        for i, item in enumerate(self.items):
            if self.sorts[i] == "value" and item.mention is not None:
                for hit in item.mention.values[:8]:
                    known = hit.score > _THE_NAME and hit.table in self.vocabulary.tables
                    named = self.vocabulary.name_columns(hit.table) if known else ()
                    if any(c.name == hit.column for c in named):
                        found[i, hit.table] = None
        return tuple(found)

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

    def plain_column(self, e: Expression | None) -> ColumnWord | None:
        """The column of an expression that is no aggregate; None for any other."""
        plain = e is not None and e.column is not None and not e.function
        return self.vocabulary.columns.get(e.column) if plain else None  # type: ignore[union-attr, arg-type]

    def word(self, i: int) -> str:
        """Item i in small letters; empty where there is none."""
        return self.items[i].lower if 0 <= i < len(self.items) else ""

    def last_word(self, i: int) -> str:
        """The last word of item i; empty where there is none."""
        return (self.word(i).split() or [""])[-1]

    def is_keyword(self, i: int, *kinds: str) -> bool:
        """Whether item i is a signal phrase of one of these kinds."""
        return 0 <= i < len(self.items) and self.items[i].is_keyword(*kinds)

    def tokens_of(self, i: int) -> Sequence[Token]:
        return self.tokens[self.items[i].start : self.items[i].end]

    def table_of(self, i: int) -> str:
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
        own_words, tables = set(self.vocabulary.tables[table].words), self.vocabulary.tables

        def named_here(edge: Edge) -> bool:
            return edge.right in self.named or own_words.issuperset(tables[edge.right].words)

        # `members of the chess club`: a club membership is named by its member, not by its club
        for edge in sorted(self.graph.edges(table), key=named_here):
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
            written = any(t.capital or t.kind == "quoted" for t in self.tokens_of(i))
            if sort != "value" or mention is None or written:
                continue
            hits = {h.table for h in mention.values if h.score >= _SAME_WORD} - asked  # `which floor is neurology on`
            if self.sort(i + 1) == "column" and self.mention(i + 1).columns[0][0].is_figure:
                continue  # `staff budget` is a figure of the rows, and not the rows
            if len(hits) == 1 and (table := next(iter(hits))) in self.vocabulary.tables:
                # the only table that refers to a table of kinds, which itself refers to none
                own = self.vocabulary.by_table[table]
                named = {c.name for c in self.vocabulary.name_columns(table)}
                by_name = named.issuperset(h.column for h in mention.values if h.table == table)
                is_kinds = by_name and len(own) <= _KIND_COLUMNS and not any(c.foreign for c in own)
                below = self.graph.referring(table) if is_kinds else []
                return below[0] if len(below) == 1 and not self.vocabulary.tables[below[0]].bridge else ""
        return ""

    def elsewhere(self, at: int) -> bool:
        """Whether item `at` stands in `outside their own city` or `not in the same city`: two places that differ, and
        none that is empty."""
        before = self.items[max(0, at - 4) : at]
        denied = next((k for k in reversed(range(len(before))) if before[k].is_keyword("neg")), None)
        if denied is None:
            return False
        owned = any(item.lower in _OWN for item in before[denied + 1 :])
        return "outside" in before[denied].lower or (owned and before[denied].lower.endswith((" in", " from")))

    def many_of(self, one: str, other: str) -> bool:
        """Whether a row of one table may have several of the other."""
        plan = self.graph.plan([one, other])
        return plan is not None and plan.multiplies(one)
