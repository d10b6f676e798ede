"""Generate other rows for a database: of the same kind, with the same keys, and with values that its queries use.

In: the original with its schema, the constants of the queries, and a seed. Out: rows by table. The way a replica
differs is drawn once per replica (`Manner`): few rows or many, many equal values or few, references spread evenly or
concentrated on some targets. Counts, ties, absences and duplicates therefore differ from the original.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eval.schema import ForeignKey, Schema, Table
from experiments.replicas.files import Original, Row

MOST_ROWS = 300
Constants = Mapping[tuple[str, str], Sequence[str]]
"""(table, column), folded → values that queries compare the column with, as written."""


@dataclass(frozen=True, slots=True)
class Manner:
    """The parameters of one replica; each is a share, 0..1, except `size`."""

    size: float
    """Rows of each table as a multiple of the original's row count."""
    asked: float
    """Values taken from the queries' constants, or adjacent to them."""
    few: float
    """Columns that hold only a few distinct values, so that groups and ties are large."""
    nulls: float
    piled: float
    """References that point to the first targets."""

    @classmethod
    def drawn(cls, dice: random.Random) -> Manner:
        return cls(
            size=dice.choice((0.2, 0.5, 1.0, 1.5, 3.0)),
            asked=dice.choice((0.1, 0.3, 0.6)),
            few=dice.choice((0.0, 0.2, 0.5)),
            nulls=dice.choice((0.0, 0.02, 0.1)),
            piled=dice.choice((0.0, 0.5, 0.9)),
        )


def invented(original: Original, schema: Schema, constants: Constants, seed: int) -> dict[str, list[Row]]:
    """Rows for every table. The same seed gives the same rows."""
    dice = random.Random(seed)
    inventor = _Inventor(original, schema, constants, Manner.drawn(dice), dice)
    for name in original.tables:
        if table := schema.table(name):
            inventor.fill(table)
    return inventor.rows


@dataclass(slots=True)
class _Inventor:
    _original: Original
    _schema: Schema
    _constants: Constants
    _manner: Manner
    _dice: random.Random
    rows: dict[str, list[Row]] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)
    """Tables whose references are being filled."""

    def fill(self, table: Table) -> None:
        """Generate rows for the table, after those of the tables it refers to; a cycle of references is cut where it
        closes."""
        if table.name in self.rows or table.name in self._open or table.name not in self._original.tables:
            return
        self._open.add(table.name)
        for key in table.foreign_keys:
            if (target := self._schema.table(key.ref_table)) is not None:
                self.fill(target)
        self._open.discard(table.name)
        self.rows[table.name] = self._invented(table)

    def _invented(self, table: Table) -> list[Row]:
        known = self._original.rows.get(table.name, [])
        size = self._manner.size * self._dice.uniform(0.6, 1.4)  # so that row ratios between tables change
        count = max(3, min(MOST_ROWS, round(len(known) * size)))
        names = [column.name for column in table.columns]
        columns = {name: self._column(table, at, count, known) for at, name in enumerate(names)}
        for key in table.foreign_keys:
            own = list(zip(*(columns[name] for name in names), strict=True))
            targets = own if key.ref_table == table.name else self.rows.get(key.ref_table, [])
            columns.update(self._references(table, key, targets, count))
        return list(zip(*(columns[name] for name in names), strict=True))

    def _column(self, table: Table, at: int, count: int, known: Sequence[Row]) -> list[object]:
        column = table.columns[at]
        values = [row[at] for row in known if at < len(row)]
        pool: list[object] = [value for value in values if value is not None] or [1]
        if (column.name,) in self._original.unique.get(table.name, ()):
            return self._different(pool, count)
        asked = self._asked(table.name, column.name, pool)
        if self._dice.random() < self._manner.few:
            pool = self._dice.sample(pool, min(3, len(pool)))
        may_be_null = column.nullable and not column.primary_key and (None in values or self._manner.nulls > 0.05)
        return [self._value(pool, asked, may_be_null) for _ in range(count)]

    def _value(self, pool: Sequence[object], asked: Sequence[object], may_be_null: bool) -> object:
        if may_be_null and self._dice.random() < self._manner.nulls:
            return None
        if asked and self._dice.random() < self._manner.asked:
            return self._dice.choice(asked)
        value = self._dice.choice(pool)
        if isinstance(value, int) and not isinstance(value, bool) and self._dice.random() < 0.2:
            return max(0, value + self._dice.randint(-3, 3)) if value >= 0 else value
        if isinstance(value, float) and self._dice.random() < 0.2:
            return round(value * self._dice.uniform(0.8, 1.2), 2)
        return value

    def _asked(self, table: str, column: str, pool: Sequence[object]) -> list[object]:
        """The constants that queries compare the column with, and the adjacent numbers, of the column's own type."""
        numeric = all(isinstance(value, int | float) for value in pool)
        values: list[object] = []
        for value in self._constants.get((table.casefold(), column.casefold()), ()):
            if not numeric:
                values.append(value)
            elif (number := _number(value)) is not None:
                values += [number, number - 1, number + 1]
        return values

    def _different(self, pool: Sequence[object], count: int) -> list[object]:
        """`count` distinct values: the original's in another order, then new ones made like them."""
        values = list(dict.fromkeys(pool))
        self._dice.shuffle(values)
        whole = [value for value in values if isinstance(value, int)]
        top = max(whole, default=0)
        while len(values) < count:
            top += self._dice.randint(1, 3)
            model = values[self._dice.randrange(len(values))]
            values.append(top if isinstance(model, int | float) else f"{model} {top}")
        return values[:count]

    def _references(self, table: Table, key: ForeignKey, rows: Sequence[Row], count: int) -> dict[str, list[object]]:
        """The referring columns, drawn row by row from the target's rows; empty when the target has none."""
        own = [column.name for name in key.columns if (column := table.column(name)) is not None]
        places = self._places(key)
        if not rows or len(own) != len(key.columns) or len(places) != len(own):
            return {}
        targets = list(dict.fromkeys(tuple(row[place] for place in places) for row in rows))
        self._dice.shuffle(targets)
        if key.columns in self._original.unique.get(table.name, ()):
            drawn = [targets[at % len(targets)] for at in range(count)]  # repeats are dropped on writing
        else:
            drawn = [self._target(targets) for _ in range(count)]
        return dict(zip(own, map(list, zip(*drawn, strict=True)), strict=True))

    def _places(self, key: ForeignKey) -> list[int]:
        """The positions of the referred columns in the target's rows."""
        target = self._schema.table(key.ref_table)
        names = [column.name.casefold() for column in target.columns] if target else []
        return [names.index(name.casefold()) for name in key.ref_columns if name.casefold() in names]

    def _target(self, targets: Sequence[Row]) -> Row:
        if self._dice.random() < self._manner.piled:
            return targets[self._dice.randrange(min(2, len(targets)))]
        return self._dice.choice(targets)


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if math.isfinite(value) else None
    return None
