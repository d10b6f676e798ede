"""How data files were read, shown before the answer, and changed by the person at the terminal.

In: a `Reading`. Out: a short table on standard error, and the plans that the person changed. Where nobody is there to
ask, or with `--yes`, the table is shown and the plan is taken as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from agent.cli.console import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from agent.sources.tabular.plan import Reading, TablePlan

_MOST = 60
"""Columns of a table that are listed."""
_HELP = "Enter takes it; 3 number, 3 text, 3 date dmy, 3 leave out change column 3; save keeps the plan beside the file"
_OTHER = {
    "together": ("forms", "apart", "reads sheets as tables of their own"),
    "apart": ("forms", "together", "reads them as one table"),
    "rows": ("periods", "columns", "leaves periods side by side"),
    "columns": ("periods", "rows", "reads periods side by side as rows"),
}
"""What a person may type instead of what a plan says, and what of the plan it changes."""
_CHOICES: dict[str, dict[str, str | None]] = {
    "text": {"kind": "text"},
    "number": {"kind": "number"},
    "number .": {"kind": "number", "decimal": "."},
    "number ,": {"kind": "number", "decimal": ","},
    "date": {"kind": "date"},
    "date dmy": {"kind": "date", "order": "dmy"},
    "date mdy": {"kind": "date", "order": "mdy"},
    "yes/no": {"kind": "truth"},
    "leave out": {"kind": "left out"},
}


class ImportReview:
    """Called with each reading; one question is asked for each."""

    def __init__(self, console: Console, path: Path, *, quiet: bool, ask: Callable[[str], str] | None) -> None:
        """`ask` shows a prompt and returns what was typed; None where nobody is asked."""
        self._console, self._path, self._quiet, self._ask = console, path, quiet, ask

    def __call__(self, reading: Reading) -> Sequence[TablePlan]:
        if not self._quiet:
            self._show(reading)
        if self._ask is None:
            return ()
        chosen = dict.fromkeys(way for t in reading.tables for way in (t.plan.forms, t.plan.periods) if way)
        others = "".join(f"; {word} {does}" for way in chosen for _, word, does in (_OTHER[way],))
        while said := self._ask(f"  {_HELP}{others}\n  > ").strip().lower():
            if said == "save":
                from agent.sources.files import save_plan

                save_plan(self._path, reading)
                self._console.print(f"  saved as {one_line(self._path.name)}.plan.json", style="dim")
            elif changed := edited(reading, said):
                return changed
            else:
                self._console.print("  not understood", style="yellow")
        return ()

    def _show(self, reading: Reading) -> None:
        from agent.sources.tabular.words import table_notes

        number = 0
        for table in reading.tables:
            self._console.print(f"· {one_line(table.plan.table)}: {table.found.rows:,} rows", style="dim")
            lines = Table(box=None, padding=(0, 1), show_header=False)
            pairs = zip(table.plan.columns, table.found.columns, strict=True)
            for column, of in islice(pairs, _MOST):
                number += 1
                misfit = f" (row {of.misfits[0].row:,}: {of.misfits[0].text!r})" if of.misfits else ""
                name, read = one_line(column.header or of.name, 40), one_line(f"{of.line}{misfit}")
                if self._console.is_terminal:
                    lines.add_row(str(number), escape(name), escape(read))
                else:
                    self._console.print(f"·   {name}: {read}")
            if self._console.is_terminal:
                self._console.print(lines)
            for note in table_notes(table):
                self._console.print(f"· {one_line(note, 400)}", style="yellow")


def edited(reading: Reading, said: str) -> tuple[TablePlan, ...]:
    """The plans with the change that was typed (`3 date dmy`, `apart`, `columns`); nothing where it is none."""
    plans = [table.plan for table in reading.tables]
    if (of := next((of for of, word, _ in _OTHER.values() if word == said), None)) is not None:
        other = [getattr(plan, of) not in (None, said) for plan in plans]
        changed = [p.model_copy(update={of: said}) if o else p for p, o in zip(plans, other, strict=True)]
        return tuple(changed) if any(other) else ()
    number, _, choice = said.partition(" ")
    if not number.isdecimal() or choice.strip() not in _CHOICES:
        return ()
    left, found = int(number) - 1, False
    for place, plan in enumerate(plans):
        columns = list(plan.columns)
        if 0 <= left < len(columns):
            changes = {"decimal": None, "order": None, "unit": None, "decided": True} | _CHOICES[choice.strip()]
            columns[left] = columns[left].model_copy(update=changes)
            found = True
        left -= len(columns)
        plans[place] = plan.model_copy(update={"columns": tuple(columns)})
    return tuple(plans) if found else ()


def asked_at_terminal(*, yes: bool) -> Callable[[str], str] | None:
    """What asks the person; None where there is none, or who said yes beforehand."""
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None

    def typed(prompt: str) -> str:
        sys.stderr.write(prompt)
        sys.stderr.flush()
        return sys.stdin.readline()

    return typed
