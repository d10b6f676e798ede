"""The prompt: one question after another, with a history and a few commands that begin with a backslash.

In: lines that a person types (or a pipe sends). Out: answers as on the command line. Ctrl-C stops the running question
and leaves the session; Ctrl-D or `\\quit` ends it. The session is a conversation: a question may refer to earlier ones,
and a truly ambiguous one leads to a clarification if a person types.
"""

from __future__ import annotations

import contextlib
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from agent.cli import exits
from agent.cli.console import printable
from agent.cli.report import Output, show_explanation, show_sql
from eval.language.inflection import counted

if TYPE_CHECKING:
    from agent.cli.session import Asker
    from agent.runner import Answer
    from eval.databases.base import Database

HISTORY_LINES = 1_000
COMMANDS = {
    "help": "this list",
    "new": "forget the conversation so far and begin another",
    "db": "show the database, or change to another: \\db enterprise, \\db sales.sqlite",
    "model": "show the model, or change to another: \\model offline",
    "schema": "the tables, or one table's columns: \\schema orders",
    "sql": "the SQL of the last answer",
    "explain": "why the last answer is as sure as it is",
    "quit": "end the session (Ctrl-D does the same)",
}


class Prompt:
    """An interactive session over one `Asker`."""

    def __init__(self, asker: Asker, output: Output) -> None:
        self._asker = asker
        self._output = output
        self._last: Answer | None = None
        self._ended = False
        self._new_thread()
        asker.may_ask = sys.stdin.isatty()

    def run(self, first: str = "") -> int:
        """Answer `first` if there is one, then read lines until the end; returns the exit code."""
        with _history(sys.stdin.isatty()):
            if sys.stdin.isatty():
                self._say("Ask a question, or type \\help. Ctrl-C stops a question, Ctrl-D ends the session.")
            if first:
                self._take(first)
            while not self._ended:
                try:
                    line = self._read()
                except EOFError:
                    break
                except KeyboardInterrupt:
                    self._say("")
                    continue
                self._take(line)
        return exits.ANSWERED

    def _read(self) -> str:
        if sys.stdin.isatty():
            return input("\n> ")
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line

    def _take(self, line: str) -> None:
        line = line.strip()
        try:
            if line.startswith("\\"):
                self._command(line[1:])
            elif line:
                answer = self._asker.ask(line)
                self._output.show(answer)
                self._last = answer
        except KeyboardInterrupt:
            self._say("Stopped. The session goes on.")

    def _command(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        rest = rest.strip()
        match [known for known in COMMANDS if name and known.startswith(name)]:  # none begins another one
            case ["help"]:
                for known, meaning in COMMANDS.items():
                    self._say(f"  \\{known:<9} {meaning}")
            case ["new"]:
                self._new_thread()
                self._say("A new conversation.")
            case ["db"]:
                if database := self._opened(rest):
                    if rest:
                        self._new_thread()  # the history of one database has no meaning in another
                    self._say(f"{database.name} ({database.dialect}), {database.url}")
            case ["model"]:
                if rest:
                    self._asker.model = rest
                configured = self._asker.config.model.answering if self._asker.config else "offline"
                self._say(f"model: {self._asker.model or configured}")
            case ["schema"]:
                self._schema(rest)
            case ["sql"] if self._last and self._last.sql:
                show_sql(self._output.results, self._last.sql)
            case ["sql"]:
                self._output.complain("There is no SQL yet.")
            case ["explain"] if self._last:
                show_explanation(self._output.results, self._last)
            case ["explain"]:
                self._output.complain("There is no answer yet.")
            case ["quit"]:
                self._ended = True
            case _:
                self._output.complain(f"There is no command \\{name}. \\help lists them.")

    def _new_thread(self) -> None:
        self._asker.thread = uuid.uuid4().hex

    def _schema(self, name: str) -> None:
        from eval.databases.types import DatabaseError

        if (database := self._opened()) is None:
            return
        try:
            schema = database.schema()
        except DatabaseError as error:
            self._output.complain(str(error))
            return
        if not name:
            for table in schema.tables:
                rows = "" if table.row_count is None else counted(table.row_count, "row")
                self._print(f"{table.name}  {counted(len(table.columns), 'column')}  {rows}".rstrip())
        elif known := schema.table(name):
            refers = {
                column: f" → {key.ref_table}.{target}" + (" (inferred)" if key.inferred else "")
                for key in known.foreign_keys
                for column, target in zip(key.columns, key.ref_columns, strict=False)
            }
            for column in known.columns:
                key = " primary key" if column.primary_key else ""
                needed = "" if column.nullable else " not null"
                self._print(f"{column.name}  {column.type}{key}{needed}{refers.get(column.name, '')}")
        else:
            self._output.complain(f"There is no table {name!r}. \\schema lists them.")

    def _opened(self, target: str = "") -> Database | None:
        """The database, opened if it is not yet or if another is named; None, with the reason said, if it cannot be."""
        if target or self._asker.database is None:
            failure = self._asker.open(target or self._asker.target)
            if failure:
                self._output.complain(failure.reason)
                return None
        return self._asker.database

    def _say(self, text: str) -> None:
        self._output.messages.print(Text(printable(text)), soft_wrap=True)

    def _print(self, text: str) -> None:
        self._output.results.print(Text(printable(text).replace("\n", " ")), soft_wrap=True)


@contextlib.contextmanager
def _history(wanted: bool) -> Iterator[None]:
    """Line editing, and the lines of earlier sessions, where the platform has readline and the file can be kept."""
    try:
        import readline
    except ImportError:
        wanted = False
    if not wanted:
        yield
        return
    from eval.tasks.cache_folder import cache_folder

    kept: Path = cache_folder() / "history"
    with contextlib.suppress(OSError):
        readline.read_history_file(kept)
    try:
        yield
    finally:
        readline.set_history_length(HISTORY_LINES)
        with contextlib.suppress(OSError):
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.touch(mode=0o600)
            readline.write_history_file(kept)
