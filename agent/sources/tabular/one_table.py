"""One staged table, from the decision on its columns to the table that is written.

In: a staged table and the plan that was followed before. Out: the table in the engine, and its reading: the plan and
what came of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from duckdb import DuckDBPyConnection

from agent.sources.source_errors import SourceRefused
from agent.sources.tabular import amounts, repeats, words
from agent.sources.tabular.columns import MARKS_IN_TEXT, Decision, decided, is_missing, may_fold, trimmed, without_unit
from agent.sources.tabular.extra_rows import LeftOut
from agent.sources.tabular.names import column_name, unique_name
from agent.sources.tabular.plan import MOST_SHOWN, ColumnFound, ColumnPlan, TableFound, TablePlan, TableReading
from agent.sources.tabular.sql import BLANKS, literal, name
from agent.sources.tabular.stage import Staged, filled
from eval.databases.duckdb import AS_WRITTEN, as_read
from eval.schema import Values

_TELLING = r"(^|[^0-9])(1[3-9]|2[0-9]|3[01])([^0-9]|$)|[.,][0-9]{1,2}([^0-9]|$)|[.,][0-9]{4}|^0[.,]"
"""Cells that could tell how the others are to be read: with a day above 12, or decimals that are no thousands."""
_FILLED = "of_group"
"""The staged column with the filled cells."""


@dataclass(frozen=True, slots=True)
class TextChanges:
    table: str | None = None
    """Of cells (`v`) and what they become (`kept`); None where all stay."""
    missing: int = 0
    folded: int = 0


class OneTable:
    def __init__(self, engine: DuckDBPyConnection, staged: Staged, before: TablePlan) -> None:
        self._engine, self._staged, self._before = engine, staged, before
        self._table = before.table
        self._raw = staged.raw
        self._cells = staged.cells
        self._filled: list[int] = []
        self._where = "true"
        self._texts: dict[int, TextChanges] = {}
        self._fills = False

    def done(self, left_out: LeftOut) -> TableReading:
        """`left_out`: the rows that are none of the table."""
        self._where = left_out.condition
        self._filled = filled(self._engine, self._raw, self._cells, self._where)
        self._fill_groups()
        samples = self._samples()
        decisions, names, odd = self._written(samples)
        plan = self._before.model_copy(update={"columns": tuple(d.plan for d in decisions)})
        repeated = repeats.Repeats(self._engine, self._table, decisions, names)
        if repeated.count and plan.repeats is None:
            plan = plan.model_copy(update={"repeats": "leave out" if repeated.of_key() else "keep"})
        if plan.repeats == "leave out":
            repeated.drop()
        found = [
            self._found(i, decision, column, odd.get(i, {}), samples[i])
            for i, (decision, column) in enumerate(zip(decisions, names, strict=True))
        ]
        beside = amounts.units(self._engine, self._table, decisions, names)
        both_ways = amounts.flows(self._engine, self._table, decisions, names)
        heads = list(zip(self._staged.headers, names, strict=True))
        often = Counter(head.casefold() for head, _ in heads)
        twins = {name: f"several columns are headed {h!r}" for h, name in heads if h and often[h.casefold()] > 1}
        kept: dict[str, tuple[str, Values]] = {}
        for i, (of, decision) in enumerate(zip(found, decisions, strict=True)):
            unit, unit_column = beside.get(of.name, (None, None))
            doubt = words.doubt(of, sure=decision.sure) or twins.get(of.name)
            flow = both_ways.get(of.name, (None, None))
            values = Values(decision.plan.unit or unit, unit_column, doubt, self._letters(i), *flow)
            tells_part = bool(self._staged.parts) and i == len(self._cells) - 1
            if of.name and (of.changed or tells_part or any(astuple(values))):
                kept[of.name] = f"c{i}", values
        if kept:
            self._keep_as_written(kept)
        renamed = [f"{head!r} is {column}" for head, column in heads if head and column not in ("", head)]
        result = TableFound(
            rows=repeated.rows,
            columns=tuple(found),
            left_out=left_out.rows,
            left_out_count=left_out.count,
            repeats=repeated.count,
            repeated_keys=repeated.keys(),
            notes=(*self._staged.notes, *words.renamed(renamed), *words.called_totals(left_out.kept)),
            parts=tuple(part.label for part in self._staged.parts),
        )
        return TableReading(plan=plan, found=result)

    def _keep_as_written(self, columns: Mapping[str, tuple[str, Values]]) -> None:
        """Keep the cells of changed columns as they were, in all rows of the file, and a view that shows them; the
        column `row` counts as a spreadsheet does. `columns`: by name in the table, the staged column and what is told
        again with each answer that depends on it."""
        place = name(AS_WRITTEN, self._table)
        of_file = {column: of for column, of in columns.items() if column.casefold() != "row"}
        shown = [f"{self._staged.row_sql()} AS row", *(f"{c} AS {name(column)}" for column, (c, _) in of_file.items())]
        self._engine.execute(f"CREATE SCHEMA IF NOT EXISTS {name(AS_WRITTEN)}")
        self._engine.execute(f"CREATE TABLE {place} AS SELECT {', '.join(shown)} FROM {self._raw}")
        for column, (_, values) in of_file.items():
            if any(astuple(values)):
                told = literal(as_read(values))
                self._engine.execute(f"COMMENT ON COLUMN {name(AS_WRITTEN, self._table, column)} IS {told}")
        self._engine.execute(f"CREATE VIEW {name(f'{self._table}_{AS_WRITTEN}')} AS SELECT * FROM {place}")

    def _letters(self, i: int) -> str | None:
        """Why the letters of a column may be others."""
        other = self._staged.other_encoding
        if not other or self._staged.types[i] != "VARCHAR":
            return None
        odd = f"SELECT 1 FROM {self._raw} WHERE NOT regexp_full_match({self._cells[i]}, '[\\x00-\\x7f]*') LIMIT 1"
        return f"the file is no UTF-8; its letters could be those of {other}" if self._all(odd) else None

    def _written(
        self, samples: Sequence[dict[str, int]]
    ) -> tuple[list[Decision], list[str], dict[int, dict[str, int]]]:
        """Decide by a sample and write the table; where cells do not fit, decide again with those, until they change
        nothing more. Returns the decisions, the columns' names, and the cells that do not fit."""
        plans, cells = self._plans(), [dict(sample) for sample in samples]
        decisions = self._decided(plans, cells)
        for _ in range(4):
            names = self._names(decisions)
            self._write(decisions, names)
            # The cells that their column's reading leaves out, missing marks among them
            typed = [i for i, d in enumerate(decisions) if d.plan.kind not in ("text", "as it is", "left out")]
            counts = ", ".join(f"count({name(names[i])})" for i in typed)
            [read] = self._all(f"SELECT {counts} FROM {name(self._table)}") if typed else [()]
            odd = {
                i: self._cells_where(i, f"{decisions[i].sql(self._cells[i])} IS NULL")
                for i, count in zip(typed, read, strict=True)
                if count < self._filled[i]
            }
            for i, decision in enumerate(decisions):
                share = min(1.0, max(1, sum(samples[i].values())) / max(1, self._staged.rows))  # as if of the sample
                of = dict(odd.get(i, {}))
                if (decision.number and decision.number.either) or (decision.date and decision.date.either):
                    of |= self._cells_where(i, f"regexp_matches({self._cells[i]}, {literal(_TELLING)})")
                cells[i] |= {v: max(1, round(n * share)) for v, n in of.items() if v not in cells[i]}
            again = self._decided(plans, cells)
            if again == decisions:
                break
            decisions = again
        return decisions, names, odd

    def _decided(self, plans: Sequence[ColumnPlan], cells: Sequence[Mapping[str, int]]) -> list[Decision]:
        gaps = [filled < max(self._filled) for filled in self._filled]
        decisions = decided(plans, cells, gaps, semicolons=self._staged.semicolons)
        if self._staged.parts and any(d.date for d in decisions[:-1]) and not plans[-1].decided:
            decisions[-1] = Decision(plans[-1].model_copy(update={"kind": "text"}))  # each row has a date of its own
        return decisions

    def _names(self, decisions: Sequence[Decision]) -> list[str]:
        """The columns' names; empty for those that are left out."""
        used: set[str] = set()
        bare = [without_unit(d.plan.header, d.plan.unit if d.number else None) for d in decisions]
        heads = [
            b if b and bare.count(b) == 1 else head for b, head in zip(bare, self._staged.headers, strict=True)
        ]  # the unit is in the comment, and beside the figures of an answer
        return [
            "" if decision.plan.kind == "left out" else unique_name(column_name(head, f"column_{i}"), used)
            for i, (head, decision) in enumerate(zip(heads, decisions, strict=True), 1)
        ]

    def _all(self, sql: str) -> list[tuple[Any, ...]]:
        return self._engine.execute(sql).fetchall()

    def _samples(self) -> list[dict[str, int]]:
        """The cells of some rows, with how often each occurs; none of columns that have a type."""
        rows = max(200, min(2_000, 200_000 // max(1, len(self._cells))))
        source, where = self._raw, self._where
        if self._staged.rows > rows:
            half = rows // 2
            part = self._staged.rows // half  # a row of each so many, the same each time
            places = f"SELECT (i * {part} + hash(i) % {part})::BIGINT FROM range({half}) AS parts(i)"
            self._engine.execute(
                f"CREATE OR REPLACE TEMP TABLE sampled AS (SELECT * FROM {self._raw} WHERE {where} LIMIT {half}) "
                f"UNION ALL (SELECT * FROM {self._raw} WHERE rowid IN ({places}))"
            )
            source, where = "sampled", "true"
        return [
            self._counted(cell, source, where) if kind == "VARCHAR" else {}
            for cell, kind in zip(self._cells, self._staged.types, strict=True)
        ]

    def _counted(self, cell: str, source: str, where: str, limit: str = "") -> dict[str, int]:
        """Cells without blanks around them, with how often each occurs."""
        sql = f"SELECT {cell} AS v, count(*) FROM {source} WHERE v <> '' AND {where} GROUP BY v ORDER BY min(rowid)"
        counts: Counter[str] = Counter()
        for value, count in self._all(sql + limit):
            counts[str(value).strip(BLANKS)] += count
        return dict(counts)

    def _fill_groups(self) -> None:
        """Give blank cells of the first column the value above them, where groups are written once."""
        if len(self._cells) < 2 or self._staged.types[0] != "VARCHAR" or self._filled[0] == self._filled[1]:
            return
        plan, column = self._plans()[0], self._cells[0]
        rows = max(self._filled)
        proposed = self._filled[1] == rows and are_groups(self._engine, self._raw, column, self._where)
        self._fills = plan.fill if plan.decided and plan.fill is not None else proposed
        if self._fills:
            self._engine.execute(f"ALTER TABLE {self._raw} ADD COLUMN {_FILLED} VARCHAR")
            self._engine.execute(
                f"UPDATE {self._raw} SET {_FILLED} = filled.v FROM (SELECT rowid AS place, {value_above(column)} AS v "
                f"FROM {self._raw} WHERE {self._where}) AS filled WHERE {self._raw}.rowid = filled.place"
            )
            self._cells[0] = _FILLED
            self._filled[0] = rows

    def _plans(self) -> list[ColumnPlan]:
        earlier: dict[str, list[ColumnPlan]] = {}
        for plan in self._before.columns:
            earlier.setdefault(plan.header, []).append(plan)
        plans = []
        for i, (head, kind) in enumerate(zip(self._staged.headers, self._staged.types, strict=True)):
            matching = earlier.get(head) or []
            plan = matching.pop(0) if matching else ColumnPlan(header=head[:10_000])
            if plan.kind in (None, "as it is") and kind != "VARCHAR":
                plan = plan.model_copy(update={"kind": "as it is"})
            elif not head and not self._filled[i]:
                plan = plan.model_copy(update={"kind": "left out"})
            plans.append(plan if plan.decided else plan.model_copy(update={"fill": (i == 0 and self._fills) or None}))
        return plans

    def _cells_where(self, i: int, condition: str) -> dict[str, int]:
        return self._counted(self._cells[i], self._raw, f"{self._where} AND {condition}", " LIMIT 5000")

    def _text(self, i: int, decision: Decision) -> TextChanges | None:
        """The changes to a column of text: blanks around cells, marks for no value, and categories that differ in case
        and blanks alone. None for other columns."""
        if decision.plan.kind != "text" or self._staged.types[i] != "VARCHAR":
            return None
        if i in self._texts:
            return self._texts[i]
        # Only different cells are looked at, so a column of few categories costs little however long it is
        raw, cell = self._raw, self._cells[i]
        [(different,)] = self._all(f"SELECT approx_count_distinct({cell}) FROM {raw}")
        fold = may_fold(decision.plan) and different <= 50_000  # a column of more holds no categories
        marks = ", ".join(map(literal, sorted(MARKS_IN_TEXT)))
        ends = " OR ".join(f"{end} < '!' OR {end} > '~'" for end in (cell, f"{cell}[-1]"))  # by far the fastest to see
        blanks = f"({ends}) AND regexp_matches({cell}, {literal(rf'^[{BLANKS}]|[{BLANKS}]$')})"
        longest = max(len(mark.encode()) for mark in MARKS_IN_TEXT)
        marked = f"strlen({cell}) <= {longest} AND {cell} IN ({marks})"
        some = "" if fold else f" AND ({blanks} OR {marked})"
        table = f"changed_{cell}"
        key = "lower(regexp_replace(s, '\\s+', ' ', 'g'))" if fold else "s"
        self._engine.execute(
            f"CREATE OR REPLACE TEMP TABLE {table} AS WITH spelled AS (SELECT {cell} AS v, {trimmed(cell)} AS s, "
            f"count(*) AS n, min(rowid) AS r FROM {raw} WHERE {self._where} AND {cell} <> ''{some} GROUP BY v), "
            f"keyed AS (SELECT *, s = '' OR s IN ({marks}) AS missing, {key} AS k, "
            "sum(n) OVER (PARTITION BY s) AS same FROM spelled), best AS (SELECT *, first_value(s) OVER (PARTITION BY "
            "k ORDER BY same DESC, s = upper(s), s = lower(s), r) AS spelling FROM keyed) SELECT v, s, n, missing, "
            "CASE WHEN NOT missing THEN spelling END AS kept FROM best WHERE missing OR v <> spelling"
        )
        [(cells, missing, folded)] = self._all(
            "SELECT count(*), coalesce(sum(n) FILTER (missing AND s <> ''), 0), "
            f"coalesce(sum(n) FILTER (NOT missing AND s <> kept), 0) FROM {table}"
        )
        self._texts[i] = TextChanges(table if cells else None, int(missing), int(folded))
        return self._texts[i]

    def _write(self, decisions: Sequence[Decision], names: Sequence[str]) -> None:
        shown, joins = [], []
        for i, (decision, column) in enumerate(zip(decisions, names, strict=True)):
            if not column:
                continue
            cell = f"{self._raw}.{self._cells[i]}"
            text = self._text(i, decision)
            value = decision.sql(cell)
            if text and text.table:
                joins.append(f"LEFT JOIN {text.table} ON {text.table}.v = {cell}")
                value = f"CASE WHEN {text.table}.v IS NULL THEN {value} ELSE {decision.sql(f'{text.table}.kept')} END"
            shown.append(f"{value} AS {name(column)}")
        if not shown:
            raise SourceRefused("the file contains no rows")
        order = f" ORDER BY {self._raw}.rowid" if joins else ""
        where = self._where.replace("rowid", f"{self._raw}.rowid", 1)
        self._engine.execute(
            f"CREATE OR REPLACE TABLE {name(self._table)} AS SELECT {', '.join(shown)} FROM {self._raw} "
            f"{' '.join(joins)} WHERE {where}{order}"
        )
        for decision, column in zip(decisions, names, strict=True):
            if column and (comment := words.comment(decision.plan, column)):
                self._engine.execute(f"COMMENT ON COLUMN {name(self._table, column)} IS {literal(comment)}")

    def _found(
        self, i: int, decision: Decision, column: str, odd: Mapping[str, int], sample: Iterable[str]
    ) -> ColumnFound:
        kind, text = decision.plan.kind, self._text(i, decision) or TextChanges()
        if kind in ("as it is", "left out"):
            type_ = self._staged.types[i]
            return ColumnFound(name=column, type=type_, line=words.line(decision, 0, 0, 0, 0), filled=0, read=0)
        misfits = {v: n for v, n in odd.items() if not is_missing(v)}
        wrong, blank = sum(misfits.values()), odd.get("", 0)
        missing = text.missing + sum(odd.values()) - wrong - blank
        filled = self._filled[i] - missing - blank
        fills = bool(i == 0 and self._fills)
        if decision.number is not None:  # whether the table holds what was written, in the engine's own form
            plain = decision.number.plain
        else:
            plain = decision.date is not None and decision.date.forms == ("ymd",) and not decision.date.zones
        changed = wrong or missing or text.table or fills or decision.doubt or decision.clock
        rows: list[tuple[Any, ...]] = []
        if misfits:
            cell, listed = trimmed(self._cells[i]), ", ".join(map(literal, list(misfits)[:200]))
            shown = f"SELECT rowid, {cell} FROM {self._raw} WHERE {cell} IN ({listed})"
            rows = self._all(f"{shown} ORDER BY rowid LIMIT {MOST_SHOWN}")
        return ColumnFound(
            name=column,
            type=decision.type,
            line=words.line(decision, filled, wrong, missing, text.folded, fills=fills),
            filled=filled,
            read=filled - wrong,
            missing=missing,
            misfits=tuple(self._staged.told(at, str(value)) for at, value in rows),
            folded=text.folded,
            doubt=decision.doubt,
            examples=tuple(v[:100] for v in list(sample)[:3]),
            changed=bool(changed) or (kind != "text" and not plain),
        )


def are_groups(engine: DuckDBPyConnection, raw: str, column: str, where: str) -> bool:
    """Whether the column begins with a value and every value is written once."""
    cell = trimmed(column)
    [(rows, filled, first, different)] = engine.execute(
        f"SELECT count(*), count(nullif({cell}, '')), first({cell} ORDER BY rowid), count(DISTINCT nullif({cell}, '')) "
        f"FROM {raw} WHERE {where}"
    ).fetchall()
    return bool(first) and 2 <= filled <= 0.75 * rows and different == filled


def value_above(column: str) -> str:
    """The expression for a cell's value, or where it is blank that of the nearest cell above it."""
    return f"last_value(nullif({trimmed(column)}, '') IGNORE NULLS) OVER (ORDER BY rowid)"
