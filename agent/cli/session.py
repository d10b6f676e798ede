"""One question after another against one database: opens it once, runs each question, shows its steps.

In: what the command line said. Out: an `Answer` for every question, a failure included; nothing raises but
KeyboardInterrupt. Heavy imports happen here, while the first step is on the screen.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from agent.cli.console import one_line
from agent.cli.shared import direct_logs
from agent.cli.steps import Steps

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from rich.console import Console

    from agent.config import Settings
    from agent.conversations import Conversation
    from agent.runner import Answer
    from agent.sources.tabular.plan import Reading, TablePlan
    from eval.databases.base import Database

NO_MODEL = (
    "No model is configured, so the built-in offline engine answers. "
    "To use a model, set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, or fetch one: text2sql model get."
)
LOCAL = "The model {} on this machine answers; --model offline selects the built-in engine."
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


@dataclass(slots=True)
class Asker:
    """The settings shared by all questions. `ask` may be called many times, from one thread."""

    progress: Console
    target: str | None = None
    """A preset, a path or a URL; None means what the settings say."""
    model: str | None = None
    timeout: float | None = None
    """Seconds for one question; None means the value in the settings."""
    max_rows: int | None = None
    execute: bool = True
    quiet: bool = False
    verbose: bool = False
    strategy: str | None = None
    """The strategy; None means the one in the settings."""
    yes: bool = False
    """Whether data files are read as proposed, without asking."""
    dialect: str | None = None
    """The dialect to write where nothing can be executed; None means the one in the settings."""
    database: Database | None = None
    config: Settings | None = None
    thread: str | None = None
    """The conversation that the questions belong to; None: each stands for itself."""
    may_ask: bool = False
    """Whether somebody is there to answer a question asked back in a conversation."""
    _introduced: bool = False
    _threads: BaseCheckpointSaver[Any] | None = None

    @property
    def executes(self) -> bool:
        """Whether the SQL is run."""
        return self.execute and (self.database is None or self.database.executes)

    def ask(self, question: str) -> Answer:
        """Run one question. Raises KeyboardInterrupt when it is stopped; its SQL and model calls are stopped too."""
        try:
            with Steps(self.progress, quiet=self.quiet, execute=self.executes) as steps:
                if self.database is None:
                    # Leave out what a start would do for nothing: collecting garbage amid imports that all stay (an
                    # eighth of the time), and loading httpx's own command line, which httpx is prepared to miss (a
                    # twentieth)
                    gc.disable()
                    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
                    steps.start()
                    if failure := self._opened(question, steps):
                        return failure
                    steps.execute = self.executes
                    self._introduce(steps)
                if self.config:
                    steps.threshold = self.config.judging.score_threshold
                with asyncio.Runner() as loop:
                    return loop.run(self._run(question, steps))
        finally:
            gc.enable()

    def open(self, target: str | None) -> Answer | None:
        """Change to another database; the failure when that cannot be done, and then nothing has changed."""
        with Steps(self.progress, quiet=self.quiet) as steps:
            before, self.target = self.target, target
            failure = self._opened("", steps)
            if failure:
                self.target = before
            return failure

    def _opened(self, question: str, steps: Steps) -> Answer | None:
        """Read the settings and open the database."""
        from pydantic import ValidationError

        from agent.config import settings, settings_problem
        from eval.databases.types import DatabaseError

        direct_logs(self.verbose)
        try:
            config = settings()
        except ValidationError as error:
            return failed(question, "settings", settings_problem(error))
        judging: dict[str, str] = {}
        limits: dict[str, float] = {}
        if self.strategy is not None:
            from agent.strategies import strategy

            try:
                judging["strategy"] = strategy(self.strategy).name
            except ValueError as error:
                return failed(question, "settings", str(error))
        if self.timeout is not None:
            limits["run_seconds"] = self.timeout
        if self.max_rows is not None and self.max_rows > config.limits.max_rows:
            limits["max_rows"] = self.max_rows
        chosen = {} if self.dialect is None else {"dialect": self.dialect}
        self.config = config.changed(judging=judging, limits=limits, database=chosen)

        from agent.runtime.catalogue import resolve_database

        try:
            self.database = resolve_database(
                self.target, self.config.database, steps.working_on, steps.note, review=self._review(steps)
            )
        except DatabaseError as error:
            return failed(question, "database", str(error))
        return None

    def _review(self, steps: Steps) -> ImportReview:
        """Shows how data files were read; the display of the steps rests meanwhile."""

        def ask(prompt: str) -> str:
            steps.rest()
            return asking(prompt) if asking else ""

        asking = asked_at_terminal(yes=self.yes or self.quiet)
        target = self.target or (self.config and (self.config.database.url or self.config.database.path)) or ""
        return ImportReview(self.progress, Path(target), quiet=self.quiet, ask=ask if asking else None)

    def _introduce(self, steps: Steps) -> None:
        """Show once which model answers if none was requested."""
        if not self._introduced and self.config and self.model is None:
            if self.config.model.offline:
                steps.note(NO_MODEL)
            elif local := self.config.model.local:
                steps.note(LOCAL.format(local.stem))
            elif not self.config.model.has_model:
                from agent.models.discovery import named

                model, note = named(self.config.model)
                self.config = self.config.model_copy(update={"model": model})
                if note:
                    steps.note(note)
        self._introduced = True

    async def _run(self, question: str, steps: Steps) -> Answer:
        from agent.events import AnswerEvent, ErrorEvent
        from agent.runner import stream

        answer: Answer | None = None
        failure = failed(question, "internal", "The run ended without an answer.")
        events = stream(
            question,
            database=self.database,
            model=self.model,
            settings=self.config,
            execute=self.execute,
            conversation=await self._conversation(),
        )
        async for event in events:
            if event.event == "node" and event.status == "done" and not gc.isenabled():
                gc.freeze()
                gc.enable()
            steps.show(event)
            if isinstance(event, AnswerEvent):
                answer = event.data
            elif isinstance(event, ErrorEvent):
                failure = failed(question, event.data.kind, event.data.message)
        return answer or failure

    async def _conversation(self) -> Conversation | None:
        """The thread as the runner takes it; it lives as long as the session."""
        if self.thread is None:
            return None
        from agent.conversations import Conversation
        from agent.conversations.checkpointer import memory_checkpointer

        if self._threads is None:
            self._threads = await asyncio.to_thread(memory_checkpointer)
        return Conversation(self.thread, self._threads, may_ask=self.may_ask)


def failed(question: str, kind: str, message: str) -> Answer:
    """The answer to a question that could not be asked."""
    from agent.runner import Answer

    return Answer(question=question, status="error", answer=message, reason=message, error_kind=kind)


class ImportReview:
    """Shows how data files were read, before the answer. Called with each reading; returns the plans that the person at
    the terminal changed. One question is asked for each reading, where somebody is there to ask."""

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
