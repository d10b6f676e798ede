"""What a written table shows besides its columns: what its amounts are of, and which rows repeat.

In: a written table, and how its columns were read. Out: by column of amounts its unit or the column that names it row
by row, and the words for money in and out that it may be asked for by (`agent.knowledge.semantics.described`), as signs
or a column of debit and credit tell; how many rows repeat an earlier one, whether a key shows that they are no rows of
their own, and the keys that have a value twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from duckdb import DuckDBPyConnection

from agent.knowledge.semantics.described import RECEIVED, SPENT
from agent.sources.tabular.columns import Decision
from agent.sources.tabular.notation import CURRENCIES, CURRENCY_OF, KNOWN
from agent.sources.tabular.sql import literal, name
from eval.language.lexicon import word_set

_AMOUNT = re.compile(r"(?i)(?<![a-z])(amount|value|sum|transaction|betrag|montant|importe|importo|bedrag)(?![a-z])")
_QUANTITY = re.compile(
    r"(?i)(?<![a-z])(qty|quantity|units|pieces|pcs|menge|stück|anzahl|antal|cantidad|quantité)(?![a-z])"
)
"""What moves in and out beside money, where a column says which way."""
_NO_FLOW = re.compile(r"(?i)(?<![a-z])(balance|saldo|change|difference|diff|variance|profit|margin|return)(?![a-z])")
_GOES_OUT = word_set(
    "debit dr d db out outgoing outflow expense withdrawal paid payment soll s débit débito addebito uscita af"
)
_COMES_IN = word_set(
    "credit cr c in incoming inflow income deposit received receipt haben h crédit crédito accredito bij"
)
"""What a column beside amounts without a sign says of them."""


def units(
    engine: DuckDBPyConnection, table: str, decisions: Sequence[Decision], names: Sequence[str]
) -> dict[str, tuple[str | None, str | None]]:
    """(unit, name of the column that names it) by column of numbers; one of the two is None."""
    known: dict[str, tuple[str | None, str | None]] = {}
    for i, (decision, column) in enumerate(zip(decisions, names, strict=True)):
        if not column or decision.plan.kind != "text":
            continue
        cell = name(column)
        rows = engine.execute(f"SELECT DISTINCT {cell} FROM {name(table)} WHERE {cell} <> '' LIMIT 20").fetchall()
        written = [str(value) for (value,) in rows]
        if not written or not all(text.casefold() in CURRENCY_OF or text.casefold() in KNOWN for text in written):
            continue
        named = {CURRENCY_OF.get(text.casefold(), text) for text in written}
        fact = (next(iter(named)), None) if len(named) == 1 else (None, column)
        known |= {names[at]: fact for at in _beside(i, decisions, names)}
    return known


def _beside(at: int, decisions: Sequence[Decision], names: Sequence[str]) -> list[int]:
    """The columns of amounts that end where the column of units stands, or else the one behind it."""

    def counts(i: int) -> bool:
        return 0 <= i < len(names) and bool(names[i]) and decisions[i].number is not None and not decisions[i].plan.unit

    if not counts(at - 1):
        return [at + 1] if counts(at + 1) else []
    before = takewhile(lambda i: counts(i) and decisions[i].type == "DOUBLE", range(at - 2, -1, -1))
    return [at - 1, *before]


def flows(
    engine: DuckDBPyConnection, table: str, decisions: Sequence[Decision], names: Sequence[str]
) -> dict[str, tuple[str, str | None]]:
    """By column, the words with commas between them, and the column and its value that say that money went out, where
    the sign does not."""
    amounts = [
        column
        for d, column in zip(decisions, names, strict=True)
        if (column and d.number and not _NO_FLOW.search(column))
        and (d.plan.unit in CURRENCIES or _AMOUNT.search(column.replace("_", " ")))
    ]
    texts = [c for d, c in zip(decisions, names, strict=True) if c and d.plan.kind == "text"]
    both = []
    if amounts:
        counts = ", ".join(
            f"count(*) FILTER ({value} < 0), count(*) FILTER ({value} > 0), count({value})"
            for value in map(name, amounts)
        )
        [row] = engine.execute(f"SELECT {counts} FROM {name(table)}").fetchall()
        signs = zip(amounts, row[::3], row[1::3], row[2::3], strict=True)
        # with fewer negative ones they are corrections
        both = [c for c, out, into, every in signs if every and out >= 0.3 * every and into >= max(1, 0.03 * every)]
    amounts = amounts or [c for d, c in zip(decisions, names, strict=True) if c and d.number and _QUANTITY.search(c)]
    said = _direction(engine, table, texts) if len(amounts) == 1 and not both else None
    if len(both) != 1 and not said:
        return {}
    words = ", ".join(map(literal, (*SPENT, *RECEIVED)))
    held = {
        str(word)
        for column in texts
        for [word] in engine.execute(
            f"SELECT DISTINCT lower({name(column)}) AS v FROM {name(table)} WHERE v IN ({words})"
        ).fetchall()
    }
    taken = held | {column.casefold() for column in names}
    free = [word for word in (*SPENT, *RECEIVED) if word not in taken]
    return dict.fromkeys(both or amounts, (",".join(free), said))


def _direction(engine: DuckDBPyConnection, table: str, texts: Sequence[str]) -> str | None:
    """The column that says which way money went, and what it says of money out; None without one such column."""
    found = []
    for column in texts:
        cell = name(column)
        rows = engine.execute(f"SELECT DISTINCT {cell} FROM {name(table)} WHERE {cell} <> '' LIMIT 3").fetchall()
        said = [str(value) for (value,) in rows]
        out = [value for value in said if value.casefold().rstrip(".") in _GOES_OUT]
        into = [value for value in said if value.casefold().rstrip(".") in _COMES_IN]
        found += [f"{column}|{out[0]}"] if len(said) == 2 and out and into else []
    return found[0] if len(found) == 1 else None


_KEY = re.compile(r"(?i)(^|[\W_])(id|key|code|number|no|nr)$|(?-i:[a-z]Id)$|^id")
_CODE = r"[^ ]*[0-9][^ ]*"
"""The values of a first column that is a key whatever it is called: `T-17`, `1042`."""


class Repeats:
    def __init__(
        self, engine: DuckDBPyConnection, table: str, decisions: Sequence[Decision], names: Sequence[str]
    ) -> None:
        """`names`: of the columns, empty for those that were left out."""
        self._engine, self._table = engine, name(table)
        self._decisions, self._names = decisions, names
        [self.rows] = self._row("count(*)")
        self.count = 0
        self._keys = self._counted_keys()
        if (self.rows, self.rows) not in self._keys.values():
            [(different,)] = engine.execute(f"SELECT count(DISTINCT hash(t)) FROM {self._table} AS t").fetchall()
            self.count = self.rows - int(different)
        self._left = self.count
        """Of those that repeat, how many the table still has."""

    def drop(self) -> None:
        if not self._left:
            return
        self._engine.execute(
            f"DELETE FROM {self._table} WHERE rowid NOT IN (SELECT min(rowid) FROM {self._table} AS t GROUP BY hash(t))"
        )
        self.rows -= self._left
        self._left = 0
        self._keys = self._counted_keys()

    def of_key(self) -> bool:
        """Whether a key has each of its values once when the rows that repeat are gone: by its name, or the first
        column by its values."""
        once = self.rows, self.rows - self.count
        if once[1] < 5 or self.count > 0.2 * self.rows:  # a key of few rows is not believed, nor one that often repeats
            return False
        first = self._names[0]
        if once in self._keys.values() or not first or not _may_be_key(self._decisions[0]):
            return once in self._keys.values()
        codes = f"count() FILTER (regexp_full_match({name(first)}::VARCHAR, {literal(_CODE)}))"
        return self._row(f"{codes}, count(DISTINCT {name(first)})") == once

    def keys(self) -> tuple[str, ...]:
        """Columns whose name and nearly all values say that they are a key, with how many of its values repeat."""
        repeated = []
        for column, (filled, different) in self._keys.items():
            more = filled - different - self._left
            if more > 0 and different >= 0.9 * (filled - self._left):
                repeated.append(f"{column}: {more:,}")
        return tuple(repeated)

    def _counted_keys(self) -> dict[str, tuple[int, ...]]:
        """(filled cells, different values) of the columns that are keys by their names."""
        counts = {}
        for decision, column in zip(self._decisions, self._names, strict=True):
            if not column or not _may_be_key(decision) or not _KEY.search(decision.plan.header):
                continue
            cell = name(column)
            different = f"count(DISTINCT {cell})"
            if decision.type == "BIGINT":  # a bit for each value is by far faster where numbers lie close
                least, most = self._row(f"min({cell}), max({cell})")
                if least is not None and most - least < 8 * self.rows:
                    different = f"bit_count(bitstring_agg({cell}, {least}, {most}))"
            counts[column] = self._row(f"count({cell}), {different}")
        return counts

    def _row(self, shown: str) -> tuple[int, ...]:
        return self._engine.execute(f"SELECT {shown} FROM {self._table}").fetchall()[0]


def _may_be_key(decision: Decision) -> bool:
    return decision.type not in ("DOUBLE", "BOOLEAN") and decision.date is None
