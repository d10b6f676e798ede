"""Progress display of a running question: one line per step, with its time, as the events arrive.

In: the run's events. Out: lines on standard error. On a terminal the running step turns; elsewhere a step is a line
once it is done, and the very first line comes at once.
"""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.text import Text

from agent.cli.console import one_line, printable
from agent.runtime.attempts import passes
from agent.state import QueryResult
from eval.language.inflection import counted

_SHOWN = {
    "schema_analyzer": ("reading the schema", "read the schema"),
    "planner": ("planning", "planned"),
    "query_generator": ("writing SQL", "wrote SQL"),
    "executor_eval": ("running and checking it", "ran and checked it"),
    "summarizer": ("summing up", "summed up"),
}
"""Steps that are shown, while they run and when they are done; the others only move state."""
_CATEGORIES = {
    "execution_error": "the database refused it",
    "hallucination": "it names what is not there",
    "safety": "it is not safe to run",
    "relevance": "it does not answer the question",
    "empty_result": "no rows were returned",
    "generic": "the evidence is against it",
}
_LONG_SECONDS = 3.0


class Steps:
    """Shows the steps of one question; use as a context manager. A quiet one shows nothing."""

    def __init__(self, console: Console, *, quiet: bool = False, execute: bool = True) -> None:
        self._console = console
        self._quiet = quiet
        self._live = console.is_terminal and not console.is_dumb_terminal and not quiet
        self._status: Status | None = None
        self._since = time.monotonic()
        self._starting = False
        self._detail = ""
        self._good = True
        self._characters = 0
        self._node, self._doing, self._began = "", "", self._since
        self.execute = execute
        self.threshold = 0.70

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *_: object) -> None:
        self.rest()

    def start(self) -> None:
        """Say that the program is loading itself; that has ended when the first step has."""
        self._starting = True
        self._since = self._began = time.monotonic()
        if self._live:
            self._turn("starting")
        else:
            self._line("·", "starting", "dim")

    def rest(self) -> None:
        """Leave the screen to a question; the next step shows itself again."""
        if self._status:
            self._status.stop()
            self._status = None

    def note(self, text: str, style: str = "") -> None:
        """A line that is no step."""
        self._line("·", one_line(text, 400), style or "dim")

    def working_on(self, text: str) -> None:
        """What the running step is at, where only a terminal shows it."""
        self._began = time.monotonic()
        if self._live:
            self._turn(one_line(text))

    def show(self, event: Any) -> None:
        """Take in one event of `agent.events`."""
        match event.event:
            case "node" if event.status == "running":
                if event.node in _SHOWN:
                    self._detail, self._good = "", True
                    self._node, self._began = event.node, time.monotonic()
                    self._doing = ("starting, and " if self._starting else "") + _SHOWN[event.node][0] + _of(event)
                    if self._live:
                        self._turn(self._doing)
            case "node":
                self._done(event)
            case "schema":
                data = event.data
                self._detail = f"{counted(data.tables, 'table')}, {counted(data.columns, 'column')}"
            case "plan":
                tasks = len(event.data.tasks)
                self._detail = "one query" if tasks == 1 else counted(tasks, "query")
            case "query_result":
                self._detail, self._good = self._attempt(event.data)
            case "retry":
                data = event.data
                self._line("↻", f"trying again, {_CATEGORIES[data.category]}: {one_line(data.feedback)}", "yellow")
            case "revision":
                self._line("↻", f"revised after a look at the rows: {one_line(event.data.reasoning)}", "yellow")
            case "step":
                data = event.data
                text = f"{one_line(data.tool, 40)} · {one_line(data.sql or data.observation, 120)}".rstrip(" ·")
                self._line("·" if data.ok else "✗", text, "dim" if data.ok else "yellow")
            case "progress" if self._live and event.data.node == self._node and not self._characters:
                self._turn(f"{self._doing} · {counted(event.data.tokens, 'token')}")
            case "token" if self._live:
                self._characters += len(event.data)
                self._turn(f"summing up · {counted(self._characters, 'character')}")

    def _done(self, event: Any) -> None:
        if self._starting:  # the first step overlaps with loading the rest of the program
            self._starting = False
            self._line("✓", f"started · {_duration(time.monotonic() - self._since)}", "green")
        if event.node not in _SHOWN:
            return
        parts = [_SHOWN[event.node][1] + _of(event), self._detail, _duration((event.elapsed_ms or 0.0) / 1000)]
        parts.append(one_line(event.problem, 200))
        mark, style = ("✗", "red") if not self._good else ("!", "yellow") if event.problem else ("✓", "green")
        self._line(mark, " · ".join(p for p in parts if p), style)

    def _attempt(self, result: QueryResult) -> tuple[str, bool]:
        """The outcome of one attempt, and whether it passes."""
        if result.failure and result.failure.kind == "abstained":
            return "no query: the question was declined", False
        if result.status != "success":
            return one_line(result.error or "no query to run", 120), False
        if not self.execute:
            return "allowed, not run", True
        rows = counted(result.rows_returned, "row")
        return f"{rows} · {result.verdict}", passes(result, self.threshold)

    def _line(self, mark: str, text: str, style: str) -> None:
        if not self._quiet:
            self._console.print(Text.assemble((mark, style), " ", printable(text)), soft_wrap=not self._live)

    def _turn(self, text: str) -> None:
        if self._status is None:
            self._status = Status(_Running(text, self._began), console=self._console, spinner="dots")
            self._status.start()
        else:
            self._status.update(_Running(text, self._began))


class _Running:
    """The text of a running step, with the seconds it has taken when they are more than a few."""

    def __init__(self, text: str, since: float) -> None:
        self._text = text
        self._since = since

    def __rich__(self) -> Text:
        seconds = time.monotonic() - self._since
        return Text(self._text + (f" · {seconds:.0f} s" if seconds >= _LONG_SECONDS else ""))


def _of(event: Any) -> str:
    return f" (attempt {event.attempt})" if event.attempt and event.attempt > 1 else ""


def _duration(seconds: float) -> str:
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
