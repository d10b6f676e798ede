"""What was done with a file, in words for people: a line for each column, notes for the whole.

In: a decision or a reading. Out: texts; names and cells in them are as untrusted as the file.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.sources.tabular import dates
from agent.sources.tabular.columns import Decision
from agent.sources.tabular.plan import ColumnFound, ColumnPlan, Reading, Row, TableReading
from eval.language.inflection import counted

_ORDERS = {"dmy": "day first (3/2/2026 is 3 February)", "mdy": "month first (2/3/2026 is 3 February)"}
_COLON = {"h": ("hours and minutes", " of hours"), "min": ("minutes and seconds", " of minutes")}
_LISTED = 5


def line(decision: Decision, filled: int, wrong: int, missing: int, folded: int, *, fills: bool = False) -> str:
    """How a column was read: `£ → number, 3,000 of 3,000`."""
    plan = decision.plan
    kind: str = "yes or no" if plan.kind == "truth" else plan.kind or "text"
    if plan.kind in ("as it is", "left out"):
        return kind
    number, date, measure = decision.number, decision.date, decision.measure
    if date and date.clock:
        kind = "date and time"
    parts = [f"{plan.unit} → {kind}" if plan.unit and number else kind]
    if measure and measure.units:
        parts[0] = f"{measure.units} → {kind} in {plan.unit}"
    elif measure:
        written, of = _COLON[measure.unit] if measure.colon else (plan.unit, "")
        parts[0] = f"{written} → {kind}{of}"
    if decision.clock:
        parts[0] = "text, times of day"
    parts += [f"{decision.tick} is yes and a blank cell no"] if decision.tick else []
    parts += ["day numbers of a spreadsheet"] if date and dates.SERIAL in date.forms else []
    parts += ["decimal comma"] if number and number.decimal == "," and number.shows_mark else []
    parts += ["k is 1,000"] if number and number.scaled else []
    parts += [_ORDERS[date.order]] if date and date.order else []
    parts += ["time zone left out"] if date and date.zones else []
    if plan.kind != "text":
        parts.append(f"{filled - wrong:,} of {filled:,}")
    extra = [f"{counted(missing, 'cell')} such as N/A read as missing"] if missing else []
    extra += [f"{counted(wrong, 'cell')} {'does' if wrong == 1 else 'do'} not fit"] if wrong else []
    extra += [f"{counted(folded, 'cell')} spelled like the others"] if folded else []
    extra += ["blank cells have the value above them"] if fills else []
    extra += [decision.doubt] if decision.doubt else []
    return "; ".join([", ".join(parts), *extra])


def comment(plan: ColumnPlan, column: str) -> str | None:
    """What a column's comment in the database says: its header where the name differs, and its unit."""
    parts = [plan.header] if plan.header and plan.header != column else []
    parts += [f"in {plan.unit}"] if plan.kind == "number" and plan.unit else []
    return ", ".join(parts)[:200] or None


def renamed(pairs: Sequence[str]) -> list[str]:
    return [f"columns renamed: {', '.join(pairs[:10])}{', …' if len(pairs) > 10 else ''}"] if pairs else []


def doubt(column: ColumnFound, *, sure: bool) -> str | None:
    """What is told again with each answer that computes with the column."""
    wrong = column.filled - column.read
    if wrong > 0.02 * column.filled:  # fewer are told at the import only
        return f"{wrong:,} of {column.filled:,} cells do not fit and count for nothing"
    return None if sure else column.doubt


def called_totals(rows: Sequence[Row]) -> list[str]:
    verb = "is called a total and is" if len(rows) == 1 else "are called totals and are"
    return [f"{_rows(rows)} {verb} counted like other rows"] if rows else []


def notes(reading: Reading) -> list[str]:
    """What a user should know, each with its table; nothing of columns whose cells say what they mean."""
    told = []
    for table in reading.tables:
        told += [f"{table.plan.table}: {note}" for note in table_notes(table)]
        told += [
            f"{table.plan.table}: {of.name}: {of.line}{f' ({_rows(of.misfits)})' if of.misfits else ''}"
            for of in table.found.columns
            if of.name and (of.changed or of.doubt)
        ]
    return told


def table_notes(table: TableReading) -> list[str]:
    found, plan = table.found, table.plan
    told = list(found.notes)
    if found.parts:
        column = found.columns[-1].name
        told.append(f"{len(found.parts)} of the same columns read as one table; {column} says from which a row is")
    elif plan.forms == "apart":
        told.append("has the same columns as another table, and is read apart from it")
    if found.left_out_count:
        count = counted(found.left_out_count, "row")
        what = "sums up or explains" if found.left_out_count == 1 else "sum up or explain"
        told.append(f"{count} left out that {what} others: {_rows(found.left_out)}")
    if found.repeats:
        done = "left out" if plan.repeats == "leave out" else "counted each time"
        verb = "repeats" if found.repeats == 1 else "repeat"
        told.append(f"{counted(found.repeats, 'row')} {verb} an earlier one; {done}")
    told += [f"{key} of its values occur more than once, though it looks like a key" for key in found.repeated_keys]
    return told


def _rows(rows: Sequence[Row]) -> str:
    shown = ", ".join(f"row {r.row:,} {r.text!r}" for r in rows[:_LISTED])
    return f"{shown}{', …' if len(rows) > _LISTED else ''}"
