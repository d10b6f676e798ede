"""Which form a finished answer takes on standard output: text, one JSON object, or the SQL alone.

In: an `Answer` of any status. Out: results on standard output, a failure's one line on standard error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from agent.cli.console import one_line
from agent.cli.exits import BY_KIND

if TYPE_CHECKING:
    from rich.console import Console

    from agent.runner import Answer

FIELDS = (
    "question", "status", "sql", "columns", "rows", "truncated", "score", "dimensions", "answer", "abstained",
    "attempts", "plan", "seconds", "tokens", "model",
)  # fmt: skip
"""The contract's fields of the object that `--json` prints, in its order; always there, before the answer's others."""
_WITHOUT_A_RESULT = {*BY_KIND, "busy", "state"}
"""Kinds of failure whose message needs no addition."""


@dataclass(frozen=True, slots=True)
class Output:
    results: Console
    messages: Console
    as_json: bool = False
    explain: bool = False
    sql_only: bool = False
    max_rows: int | None = None

    def show(self, answer: Answer) -> None:
        """Print the answer in the form asked for."""
        if self.as_json:
            from eval.jsonl import encode, output

            if self.max_rows is not None and len(answer.rows) > self.max_rows:
                answer = answer.model_copy(update={"rows": answer.rows[: self.max_rows], "truncated": True})
            fields = answer.model_dump(mode="json", exclude={"attempts": {"__all__": {"data"}}})
            line = encode({name: fields.pop(name) for name in FIELDS} | fields)
            stream = output()
            stream.write(f"{line}\n")
            stream.flush()
        elif answer.error_kind in _WITHOUT_A_RESULT:
            self.complain(answer.reason)
            if guess := next((attempt.guess for attempt in answer.attempts if attempt.guess), ""):
                self.complain(f"Without the model (--model offline), the built-in engine would run: {guess}")
        elif self.sql_only:
            from agent.cli.report import show_explanation, show_sql

            if answer.status in ("success", "doubtful"):
                show_sql(self.results, answer.sql)
            else:
                self.complain(answer.answer or answer.reason)
            if self.explain:
                show_explanation(self.messages, answer)
        else:
            from agent.cli.report import SHOWN_ROWS, show_answer

            rows = SHOWN_ROWS if self.max_rows is None else self.max_rows
            show_answer(self.results, answer, rows=rows, explain=self.explain)

    def complain(self, message: str) -> None:
        """One line on standard error."""
        self.messages.print(Text(one_line(message, 1_000), style="red"), soft_wrap=True)
