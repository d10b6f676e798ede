"""The final report on standard output: the SQL, the rows, the answer and how sure it is, with an explanation on
request; or one JSON object; or the SQL alone.

In: an `Answer` of any status. Out: results on standard output, a failure's one line on standard error. On a terminal
the SQL is coloured and the answer's Markdown laid out; into a pipe both are written unchanged.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from agent.cli.console import one_line, printable
from agent.cli.exits import BY_KIND

if TYPE_CHECKING:
    from rich.console import Console

    from agent.runner import Answer
    from agent.state import QueryResult

FIELDS = (
    "question", "status", "sql", "columns", "rows", "truncated", "score", "dimensions", "answer", "abstained",
    "attempts", "plan", "seconds", "tokens", "model",
)  # fmt: skip
"""The contract's fields of the object that `--json` prints, in its order; always there, before the answer's others."""
_WITHOUT_A_RESULT = {*BY_KIND, "busy", "state"}
"""Kinds of failure whose message needs no addition."""
SHOWN_ROWS = 20
"""Rows of a table, unless asked otherwise."""
CELL_WIDTH = 60
"""Characters of a cell shown on a terminal."""
_NARROWEST = 8
"""A column of text is never squeezed below this, or below its content where that is shorter."""
_BAR = 20
"""Characters of a full bar."""
_SIGNS: dict[bool | None, str] = {True: "+", False: "-", None: "·"}


@dataclass(frozen=True, slots=True)
class Output:
    """The form that a finished answer takes."""

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
            if answer.status in ("success", "doubtful"):
                show_sql(self.results, answer.sql)
            else:
                self.complain(answer.answer or answer.reason)
            if self.explain:
                show_explanation(self.messages, answer)
        else:
            rows = SHOWN_ROWS if self.max_rows is None else self.max_rows
            show_answer(self.results, answer, rows=rows, explain=self.explain)

    def complain(self, message: str) -> None:
        """One line on standard error."""
        self.messages.print(Text(one_line(message, 1_000), style="red"), soft_wrap=True)


def show_answer(console: Console, answer: Answer, *, rows: int = SHOWN_ROWS, explain: bool = False) -> None:
    """Print an answer; `rows` is the most that the table shows."""
    from agent.state import headers

    if answer.read_as:
        console.print(Text(printable(f"Read as: {one_line(answer.read_as, 1_000)}"), style="dim"))
    if answer.sql:
        show_sql(console, answer.sql)
    if answer.reading:
        said = " · ".join(one_line(part.text, 1_000) for part in answer.reading)
        console.print(Text(printable(f"Shows: {said}"), style="dim"))
    for one in answer.left_out:
        console.print(Text(printable(f"Note: {one_line(one.text, 1_000)}"), style="dim"))
    if answer.columns:
        shown = answer.rows[:rows]
        console.print()
        if shown:
            console.print(rows_table(console, headers(answer.columns, answer.units), shown))
        console.print(Text(rows_shown(len(shown), len(answer.rows), answer.truncated), style="dim"))
    if answer.answer:
        text = printable(answer.answer)
        console.print()
        if console.is_terminal:
            from rich.markdown import Markdown

            console.print(Markdown(text, hyperlinks=False))
        else:
            console.print(Text(text))
    if answer.status in ("success", "doubtful"):
        console.print()
        console.print(Text(how_sure(answer), style="dim"))
    if explain:
        show_explanation(console, answer)


def show_sql(console: Console, sql: str) -> None:
    """Print a query, coloured on a terminal."""
    text = printable(sql.strip())
    if not console.is_terminal:
        console.print(Text(text))
        return
    from rich.syntax import Syntax

    console.print(Syntax(text, "sql", theme="ansi_dark", background_color="default", word_wrap=True))


def how_sure(answer: Answer) -> str:
    """How sure the answer is, in the same words as every interface."""
    return f"How sure: {answer.verdict[:1].lower()}{answer.verdict[1:]}"


def show_explanation(console: Console, answer: Answer) -> None:
    """Print the plan, each attempt with what changed, the seven dimensions, the evidence and what it cost."""
    if answer.plan:
        _heading(console, f"Plan (confidence {answer.plan.confidence:.2f})")
        for task in answer.plan.tasks:
            after = f" (after {', '.join(task.depends_on)})" if task.depends_on else ""
            _line(console, f"{task.id}: {task.description}{after}")
    _show_attempts(console, answer.attempts)
    reports = [a.eval_report for a in answer.attempts if a.eval_report and a.sql == answer.sql]
    if reports:
        last = reports[-1]
        notes = last.analysis.notes
        _heading(console, "Score")
        for name, value in last.dimensions.items():
            _line(console, f"{name:<18}{_bar(value)} {value:4.2f}  {notes.get(name, '')}")
        relevance = last.relevance
        _line(console, f"{'relevance':<18}{_bar(relevance.score)} {relevance.score:4.2f}  {relevance.reasoning}")
        if last.vetoes:
            _heading(console, "Vetoes")
            for veto in last.vetoes:
                _line(console, f"✗ {veto}")
        if evidence := last.analysis.evidence:
            _heading(console, "Evidence")
            for item in sorted(evidence, key=lambda e: -abs(e.weight)):
                _line(console, f"{_SIGNS[item.supports]} {item.text}")
    if answer.reason:
        _heading(console, "Reading")
        _line(console, answer.reason)
    if answer.not_understood:
        _line(console, f"Not understood: {', '.join(answer.not_understood)}")
    for other in answer.alternatives:
        _line(console, f"Other reading: {other}")
    _heading(console, "Spent")
    tokens = answer.tokens
    parts = [f"{answer.seconds:.2f} s", f"model {answer.model}"]
    if tokens.calls:
        parts.append(f"{tokens.calls} model calls")
        parts.append(f"{tokens.input:,} tokens in ({tokens.cached:,} cached), {tokens.output:,} out")
        parts.append("cost unknown" if tokens.cost_usd is None else f"${tokens.cost_usd:.4f}")
    _line(console, " · ".join(parts))


def _show_attempts(console: Console, attempts: list[QueryResult]) -> None:
    if not attempts:
        return
    _heading(console, "Attempts")
    before: dict[str, str] = {}
    for attempt in attempts:
        outcome = attempt.verdict or attempt.status
        why = f", tried again: {attempt.retry_category}" if attempt.retry_category else ""
        took = f", {attempt.execution_time_ms:.1f} ms" if attempt.execution_time_ms else ""
        _line(console, f"{attempt.task_id}.{attempt.attempt}: {outcome}{took}{why}")
        if attempt.error:
            _line(console, f"     {attempt.error}")
        if attempt.sql:
            earlier = before.get(attempt.task_id)
            shown = changes(earlier, attempt.sql) if earlier else Text(one_line(attempt.sql, 2_000))
            console.print(Text("     ").append_text(shown), soft_wrap=True)
        before[attempt.task_id] = attempt.sql


def changes(before: str, after: str) -> Text:
    """What changed between two queries, word by word: `[-gone-]` in red, `{+new+}` in green."""
    old, new = printable(before).split(), printable(after).split()
    text = Text()
    for tag, a1, a2, b1, b2 in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if tag == "equal":
            text.append(" ".join(old[a1:a2]) + " ")
            continue
        if a1 < a2:
            text.append(f"[-{' '.join(old[a1:a2])}-] ", style="red")
        if b1 < b2:
            text.append(f"{{+{' '.join(new[b1:b2])}+}} ", style="green")
    text.rstrip()
    return text


def _bar(value: float) -> str:
    filled = round(max(0.0, min(1.0, value)) * _BAR)
    return "█" * filled + "░" * (_BAR - filled)


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, style="bold"))


def _line(console: Console, text: str) -> None:
    console.print(Text("  " + printable(text).replace("\n", " ").rstrip()), soft_wrap=True)


# Rows as a table that fits: numbers to the right, NULL told apart from an empty text, long cells and many columns
# handled. Where the columns do not fit side by side, each row becomes a block of `name  value` lines.


def rows_table(console: Console, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> RenderableType:
    """The rows of JSON values, laid out for this console."""
    longest = CELL_WIDTH if console.is_terminal else None
    names = [_cut(_flat(name), longest) for name in columns]
    cells = [[_cell(value, longest) for value in row] for row in rows]
    numeric = [_is_numeric([row[index] for row in rows]) for index in range(len(names))]
    widths = _widths(names, cells, numeric, console.width - 3 * len(names) - 1)
    if widths is None:
        return _blocks(names, cells)
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else box.ASCII2)
    for name, is_numeric, width in zip(names, numeric, widths, strict=True):
        justify: JustifyMethod = "right" if is_numeric else "left"
        table.add_column(Text(name), justify=justify, width=width, overflow="ellipsis", no_wrap=True)
    for row in cells:
        table.add_row(*row)
    return table


def _widths(
    names: Sequence[str], cells: Sequence[Sequence[Text]], numeric: Sequence[bool], room: int
) -> list[int] | None:
    """A width for each column so that all fit into `room`: the widest columns of text give way first, and digits are
    never cut, because a shortened number reads as another. None when they cannot fit."""
    widest = [max((row[index].cell_len for row in cells), default=0) for index in range(len(names))]
    widths = [max(content, cell_len(name)) for content, name in zip(widest, names, strict=True)]
    kinds = zip(widest, widths, numeric, strict=True)
    floors = [content if is_numeric else min(width, _NARROWEST) for content, width, is_numeric in kinds]
    if sum(floors) > room:
        return None
    while sum(widths) > room:
        spare = [width - floor for width, floor in zip(widths, floors, strict=True)]
        index = max(range(len(widths)), key=lambda i: (spare[i] > 0, widths[i]))
        widths[index] -= 1
    return widths


def rows_shown(shown: int, returned: int, truncated: bool) -> str:
    """`12 rows`, `20 of 3,401 rows shown`, or `20 of more than 10,000 rows shown`."""
    noun = "row" if returned == 1 and not truncated else "rows"
    total = f"more than {returned:,}" if truncated else f"{returned:,}"
    return f"{total} {noun}" if shown == returned and not truncated else f"{shown:,} of {total} {noun} shown"


def _cell(value: Any, longest: int | None) -> Text:
    if value is None:
        return Text("NULL", style="dim italic")
    if isinstance(value, bool):
        return Text("true" if value else "false")
    if isinstance(value, float):
        exact = repr(value)
        return Text(exact if len(exact) <= 15 else f"{value:.12g}")
    if isinstance(value, int):
        return Text(str(value))
    if isinstance(value, dict) and "$blob" in value:
        return Text(f"<{value.get('size', '?')} bytes>", style="dim")
    if isinstance(value, (dict, list)):
        value = json.dumps(value, ensure_ascii=False)
    text = _cut(_flat(str(value)), longest)
    return Text(f"'{text}'" if text == "NULL" else text)


def _flat(text: str) -> str:
    return printable(text.replace("\r\n", "⏎").replace("\n", "⏎").replace("\t", "  "))


def _cut(text: str, longest: int | None) -> str:
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"


def _is_numeric(values: Sequence[Any]) -> bool:
    present = [v for v in values if v is not None]
    return bool(present) and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in present)


def _blocks(names: Sequence[str], cells: Sequence[Sequence[Text]]) -> RenderableType:
    width = max(cell_len(name) for name in names)
    text = Text()
    for number, row in enumerate(cells, 1):
        text.append(f"─ row {number} ─\n", style="dim")
        for name, cell in zip(names, row, strict=True):
            text.append(name + " " * (width - cell_len(name)), style="bold").append("  ").append_text(cell).append("\n")
    text.rstrip()
    return text
