"""The results of a run as one table in CSV, for spreadsheets.

In: results. Out: text with a line for each answer. Texts come from participants and databases, so one that a
spreadsheet would read as a formula gets an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from eval.assessment import TaskResult
from eval.scoring import DIMENSIONS

_FORMULA = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")


def results_csv(results: Iterable[TaskResult]) -> str:
    rows = [_row(result) for result in results]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["participant"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _row(r: TaskResult) -> Mapping[str, Any]:
    judged, answer = r.judgement, r.answer
    row = {
        "participant": r.participant,
        "task_id": r.task_id,
        "database": r.database,
        "dialect": r.dialect,
        "difficulty": r.difficulty,
        "tags": ", ".join(r.tags),
        "question": r.question,
        "sql": answer.sql,
        "va": judged.va,
        "em": judged.em,
        "ex": judged.ex,
        "bird_ex": judged.bird_ex,
        "ts": judged.ts,
        "ves": judged.ves,
        "overall": judged.overall,
        **{name: judged.dimensions[name] for name in DIMENSIONS},
        "failure": answer.failure,
        "error": judged.error or answer.error,
        "gold_error": judged.gold_error,
        "category": judged.category,
        "seconds": round(answer.seconds, 3),
        "execution_time_ms": judged.answer_ms,
        "confidence": answer.confidence,
        "tokens": answer.tokens,
        "cost": answer.cost,
    }
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: object) -> object:
    """A value that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA) else value
