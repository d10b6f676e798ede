"""Mentions: spans of a question and the things that their words may name, best first.

In: the tokens, the candidates that the linker has for each span, the signal phrases. Out: `Item`s, which cover the
question from left to right: of overlapping candidates, those of the cover with the highest score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agent.knowledge.values import ValueHit
from agent.knowledge.vocabulary import ColumnWord, TableWord
from agent.parser.interpretation import ColumnKey, Condition, Membership
from agent.parser.phrases import Keyword
from eval.language.lexicon import FUNCTION_WORDS
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
