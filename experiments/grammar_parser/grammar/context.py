"""What productions may look at: the lattice, the schema's words, the graph of joins, the stored values.

Here a column is chosen among those of the same name (by match, by what stands beside it, by distance over foreign
keys), and the columns that an adjective, a measure or a period may be about.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agent.knowledge.values import ValueHit, ValueIndex
from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.joins import JoinGraph
from eval.language.lexicon import Measure, measures, word_set
from experiments.grammar_parser.grammar.state import State, Step
from experiments.grammar_parser.lexicon.loader import computed
from experiments.grammar_parser.link.items import Item, Lattice
from experiments.grammar_parser.plan.algebra import Aggregate, Arithmetic, Column, Expression, tables_of

_OWNERS = word_set("of for from in 's by")
_NOT_SUMMED = word_set(
    "price rating score rate age percent percentage ratio temperature latitude longitude elevation height weight speed "
    "rank ranking grade gpa level discount year quarter month week day weekday hour id code average size"
)

SAYS_KEY = word_set("id ids code codes key keys number numbers no num identifier identifiers ssn")
_UNLIKELY = word_set("birth born birthday death die update modify end due register registration join added debut final")
_STOCK = word_set("stock reorder hand minimum maximum level available")


@dataclass
class Context:
    """One question against one schema."""

    lattice: Lattice
    vocabulary: Vocabulary
    graph: JoinGraph
    values: ValueIndex
    today: dt.date
    weights: dict[str, float] = field(default_factory=dict)

    @cached_property
    def mentioned(self) -> list[tuple[int, int, str, float]]:
        """The tables that the question may name: (start, end, table, score)."""
        found: list[tuple[int, int, str, float]] = []
        for items in self.lattice.at:
            for item in items:
                if item.kind == "table":
                    found.extend((item.start, item.end, t, s) for t, s in item.tables[:3] if s >= 0.55)
        return found

    @cached_property
    def declared(self) -> bool:
        """Whether the schema declares foreign keys, so that inferred ones are a second choice."""
        return any(not fk.inferred for t in self.vocabulary.tables.values() for fk in t.table.foreign_keys)

    @cached_property
    def named(self) -> dict[str, float]:
        best: dict[str, float] = {}
        for _, _, table, score in self.mentioned:
            best[table] = max(best.get(table, 0.0), score)
        return best

    @cached_property
    def valued(self) -> dict[str, float]:
        """The tables that stored values of the question belong to."""
        best: dict[str, float] = {}
        for items in self.lattice.at:
            for item in items:
                if item.kind == "value":
                    for hit in item.values[:6]:
                        best[hit.table] = max(best.get(hit.table, 0.0), hit.score / len(item.values[:6]))
        return best

    def columns(self, item: Item, state: State, most: int = 2, numeric: bool = False) -> list[tuple[ColumnWord, float]]:
        """The likeliest columns of an item in this state, the best first; the scores are comparable."""
        scored = [
            (c, s + self._fits(c, item, state) - (0.5 if numeric and not _countable(c) else 0.0))
            for c, s in item.columns
            if not (c.role == "id" and self._names_rows(item))
        ]
        scored.sort(key=lambda p: -p[1])
        return [p for p in scored[:most] if p[1] > scored[0][1] - 0.35]

    def _names_rows(self, item: Item) -> bool:
        """Whether the words name the rows of a table, and no key that refers to them: `customers`."""
        rows = any(start == item.start and end == item.end and s >= 0.9 for start, end, _, s in self.mentioned)
        return rows and not set(item.text.split()) & SAYS_KEY

    def _fits(self, column: ColumnWord, item: Item, state: State) -> float:
        gain = 0.0
        near = self.owners(item)
        if near:
            gain += 0.3 if column.table in near else -0.15
        if column.table in self.named:
            gain += 0.2 * self.named[column.table]
        elif column.table in self.valued:
            gain += 0.15 * self.valued[column.table]
        anchor = state.focus or state.head
        if anchor:
            gain -= 0.08 * min(self.graph.distance(anchor, column.table), 4.0)
        elif self.named:
            gain -= 0.05 * min(min(self.graph.distance(t, column.table) for t in list(self.named)[:4]), 4.0)
        if column.role == "id" and not set(item.text.split()) & SAYS_KEY:
            gain -= 0.2 if column.foreign else 0.3
        if (
            item.text in ("name", "names")
            and column in self.vocabulary.name_columns(column.table)
            and (not near or column.table in near)
        ):
            gain += 0.2
        if column.foreign and column.role != "id":
            gain -= 0.02
        return gain

    def owners(self, item: Item) -> set[str]:
        """The tables that the words beside a column name as its owner."""
        words = self.lattice.words
        found: set[str] = set()
        at = item.end
        while at + 1 < len(words) and words[at] in ("and", ",", "or"):
            after = at + 2 if words[at + 1] in ("and", "the", "their") and at + 2 < len(words) else at + 1
            ends = (
                [x.end for x in self.lattice.at[after] if x.kind == "column" and x.score > 0.6]
                if after < len(words)
                else []
            )
            if not ends:
                break
            at = max(ends)
        if at < len(words) and words[at] in _OWNERS:
            at += 1
            while at < len(words) and words[at] in (
                "the",
                "all",
                "each",
                "every",
                "a",
                "an",
                "these",
                "those",
                "their",
                "different",
                "any",
                "our",
            ):
                at += 1
            found = {t for start, _, t, s in self.mentioned if start == at and s >= 0.7}
        if not found:
            before = item.start - 1
            if before >= 0 and words[before] == "'s":
                before -= 1
            found = {t for _, end, t, s in self.mentioned if end == before + 1 and s >= 0.85}
        return found

    # -- what an adjective, a measure or a period is about -------------------------------------------------------------

    def by_concept(self, item: Item, tables: Sequence[str]) -> list[tuple[ColumnWord, int, float]]:
        """The columns that an adjective may be about, with its direction: those of these tables first."""
        found: list[tuple[ColumnWord, int, float]] = []
        near = list(dict.fromkeys(tables)) or list(self.named) or list(self.vocabulary.tables)[:40]
        for table, columns in self.vocabulary.by_table.items():
            gap = min((self.graph.distance(table, t) for t in near[:4]), default=0.0)
            if gap > 2:
                continue
            for column in columns:
                if column.foreign or column.primary or column.role in ("name", "flag"):
                    continue
                if not (column.numeric or column.role in ("date", "year", "number")):
                    continue
                for rank, (words, sign) in enumerate(item.concept):
                    fit = _about(column, words)
                    if fit:
                        found.append((column, sign, fit - 0.05 * rank - 0.3 * gap))
        found.sort(key=lambda p: -p[2])
        return found[:3]

    def measure(self, name: str, tables: Sequence[str]) -> list[tuple[Expression, float]]:
        """The expressions that a business measure may stand for."""
        known: Measure = measures()[name]
        near = list(dict.fromkeys(tables)) or list(self.named) or []
        found: list[tuple[Expression, float]] = []

        def gap(table: str) -> float:
            return min((self.graph.distance(table, t) for t in near[:4]), default=0.0)

        for rank, words in enumerate(known.columns):
            for column in self.vocabulary.columns.values():
                if column.role == "number" and not column.foreign and column.words == words and gap(column.table) < 9:
                    dated = any(x.role in ("date", "year") for x in self.vocabulary.by_table[column.table])
                    found.append((Column(*column.key), 0.9 + 0.08 * dated - 0.03 * rank - 0.1 * gap(column.table)))
        for table, columns in self.vocabulary.by_table.items():
            price = next(
                (c for w in known.prices for c in columns if c.role == "number" and c.words[-len(w) :] == w), None
            )
            count = next(
                (c for w in known.quantities for c in columns if c.role == "number" and c.words[-len(w) :] == w), None
            )
            if price is not None and count is not None and price is not count and gap(table) < 9:
                product = Arithmetic("*", Column(*price.key), Column(*count.key))
                dated = any(x.role == "date" for x in columns) or bool(self.vocabulary.tables[table].table.foreign_keys)
                found.append(
                    (product, (0.72 if dated else 0.6) - 0.3 * bool(_STOCK & set(count.words)) - 0.1 * gap(table))
                )
        found.sort(key=lambda p: -p[1])
        return found[:2]

    def made_of_two(self, name: str, tables: Sequence[str]) -> list[tuple[Arithmetic, float]]:
        """A measure made of two columns of one table, such as a margin."""
        known = computed()[name]
        near = list(dict.fromkeys(tables)) or list(self.named)
        found = []
        for table, columns in self.vocabulary.by_table.items():
            gap = min((self.graph.distance(table, t) for t in near[:4]), default=0.0)
            left, right = (_first_named(columns, names) for names in (known.left, known.right))
            if left is not None and right is not None and left is not right and gap < 9:
                found.append((Arithmetic(known.sign, Column(*left.key), Column(*right.key)), 0.9 - 0.1 * gap))  # type: ignore[arg-type]
        found.sort(key=lambda p: -p[1])
        return found[:2]

    def anchors(self, state: State) -> list[str]:
        """The tables that what was said so far is about, those of its figures first."""
        shown = [
            t for e in (*state.show, state.column) if e is not None and not hasattr(e, "table") for t in tables_of(e)
        ]
        tables = [*shown, state.focus, state.head, *state.tables]
        return [t for t in dict.fromkeys(tables) if t]

    def dates(self, tables: Sequence[str], year_only: bool) -> list[tuple[ColumnWord, float]]:
        """The date columns that a period may be about: of these tables, or near them."""
        found: list[tuple[ColumnWord, float]] = []
        near = list(dict.fromkeys(tables)) or list(self.named) or list(self.vocabulary.tables)[:40]
        for table, columns in self.vocabulary.by_table.items():
            gap = min((self.graph.distance(table, t) for t in near[:4]), default=0.0)
            if gap > 3:
                continue
            place = 0
            for column in columns:
                if column.role not in ("date", "year") and not ("year" in column.words and column.numeric):
                    continue
                if column.role != "date" and not year_only:
                    continue
                score = 0.8 - 0.25 * gap - 0.04 * place
                if _UNLIKELY & set(column.words):
                    score -= 0.3
                if self.vocabulary.tables[table].table.foreign_keys:
                    score += 0.05
                if set(column.words) & set(self.lattice.words):
                    score += 0.1
                found.append((column, score))
                place += 1
        found.sort(key=lambda p: -p[1])
        return found[:2]

    def flag(self, column: ColumnWord) -> tuple[str | int, str | int] | None:
        """The stored values of a yes-or-no column for yes and for no; None where it is no such column."""
        known = {v.lower(): v for v in self.values.values(*column.key)}
        if known and len(known) <= 3:
            for yes, no in _FLAG_VALUES:
                if yes in known and set(known) <= {yes, no, ""}:
                    stored = column.numeric
                    return (
                        int(known[yes]) if stored and yes.isdecimal() else known[yes],
                        int(no)
                        if stored and no.isdecimal()
                        else known.get(no, no.upper() if known[yes].isupper() else no),
                    )
        if not known and column.role == "flag":
            return (1, 0)
        return None

    def daily(self, column: ColumnWord) -> bool:
        """Whether each row of the table is a day of its own."""
        table = self.vocabulary.by_table[column.table]
        return (
            not any(x.primary for x in table) and sum(x.role == "date" for x in table) == 1 and " " not in column.form
        )

    def summed(self, column: ColumnWord) -> bool:
        """Whether a column's numbers are added up rather than averaged."""
        return column.role == "number" and not set(column.words) & _NOT_SUMMED

    def amounts(self, table: str) -> list[ColumnWord]:
        """The numbers of a table that are more than keys."""
        return [c for c in self.vocabulary.by_table[table] if c.role == "number" and not (c.foreign or c.primary)]

    def amounts_named(self, home: str, nouns: frozenset[str]) -> list[ColumnWord]:
        """The numbers of a table and of those beside it that one of these nouns names."""
        near = [home, *(e.other(home) for e in self.graph.edges(home))]
        return [x for t in dict.fromkeys(near) for x in self.amounts(t) if nouns & set(x.words)]

    def plausible(self, table: str, number: float | int | None) -> list[tuple[ColumnWord, float]]:
        """The numbers of a table that a bare number may be about: those whose values lie around it first."""
        found = []
        for place, column in enumerate(self.amounts(table)):
            facts = self.values.facts(*column.key)
            fit = -0.05 * place
            if (
                number is not None
                and isinstance(facts.least, (int, float))
                and isinstance(facts.greatest, (int, float))
            ):
                fit += 0.2 if facts.least <= number <= facts.greatest else -0.6
            found.append((column, fit))
        return sorted(found, key=lambda p: -p[1])

    def category(self, column: ColumnWord) -> bool:
        """Whether a column's values repeat, so that each stands for a kind of rows."""
        if column.primary or column.role in ("date", "number", "id"):
            return False
        if column in self.vocabulary.name_columns(column.table) and self.vocabulary.key_column(column.table):
            return False
        known = self.values.values(*column.key)
        rows = self.vocabulary.tables[column.table].table.row_count
        return bool(known) and rows is not None and len(known) * 2 <= rows

    def hits(self, item: Item, state: State, most: int = 3) -> list[tuple[ValueHit, float]]:
        """The stored values that an item may mean in this state."""
        scored: list[tuple[ValueHit, float]] = []
        per_column: dict[tuple[str, str], int] = {}
        for hit in item.values:
            column = self.vocabulary.columns.get((hit.table, hit.column))
            if column is None:
                continue
            score = hit.score
            if hit.table in self.named:
                score += 0.15 * self.named[hit.table]
            anchor = state.focus or state.head
            if anchor:
                score -= 0.07 * min(self.graph.distance(anchor, hit.table), 5.0)
            if state.last is not None and state.last.key == column.key:
                score += 0.4
            if self._said(column, item):
                score += 0.3
            if column.foreign:
                score -= 0.05
            per_column[column.key] = per_column.get(column.key, 0) + 1
            scored.append((hit, score))
        scored.sort(key=lambda p: -p[1])
        return [p for p in scored[:most] if p[1] > scored[0][1] - 0.3]

    def _said(self, column: ColumnWord, item: Item) -> bool:
        """Whether the column is named right before or behind the value."""
        for start in range(max(0, item.start - 3), min(len(self.lattice.at), item.end + 2)):
            for other in self.lattice.at[start]:
                apart = other.end <= item.start or other.start >= item.end
                near = abs(other.end - item.start) <= 2 or abs(other.start - item.end) <= 1
                if apart and near and any(c.key == column.key and s >= 0.6 for c, s in other.columns):
                    return True
        return False

    def guided(self, gain: float, step: Step, before: State) -> float:
        """What a production is worth to the beam: its own gain and what was learned of it in this place."""
        w = self.weights
        if not w:
            return gain
        words, name = self.lattice.words, step.production
        last = before.trail
        while last is not None and last.production == "function word":
            last = last.before
        near = words[step.start - 1] if step.start else "^"
        after = words[step.end] if step.end < len(words) else "$"
        return (
            gain * w.get("prior", 1.0)
            + w.get(f"p {name}", 0.0)
            + w.get(f"p {last.production if last is not None else '^'} > {name}", 0.0)
            + w.get(f"w {near} > {name}", 0.0)
            + w.get(f"a {name} < {after}", 0.0)
        )

    def counted(self, table: str) -> Aggregate:
        return Aggregate("count", table=table)


_FLAG_VALUES = (("1", "0"), ("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"))


def _first_named(columns: Sequence[ColumnWord], names: Sequence[tuple[str, ...]]) -> ColumnWord | None:
    """The first number whose name is, or ends in, one of these words."""
    numbers = [c for c in columns if c.role == "number"]
    for words in names:
        for column in numbers:
            if column.words == words or column.words[-len(words) :] == words:
                return column
    return None


def _countable(column: ColumnWord) -> bool:
    return column.role in ("number", "year") or column.numeric


_UNIT_WORDS = word_set(
    "foot meter metre km kilometer mile cm mm kg g gram pound lb lbs inch second minute hour day year million billion "
    "thousand usd eur dollar euro percent m ft sqm m2 in"
)


def _about(column: ColumnWord, words: tuple[str, ...]) -> float:
    """How well a column's name says a property."""
    if column.words == words:
        return 1.0
    rest = tuple(w for w in column.words if w not in _UNIT_WORDS and w not in column.owner)
    if rest == words:
        return 0.9
    if words == ("date",) and column.role == "date":
        return 0.8
    if words == ("year",) and column.role == "year":
        return 0.8
    if column.words[-len(words) :] == words or column.words[: len(words)] == words:
        return 0.75
    if len(words) > 1 and set(words) <= set(column.words):
        return 0.7
    return 0.0
