"""The outcome of a run, gathered from its events: its status, its SQL, the answer to store.

In: the events of a run, one by one. Out: what is sent of each (few rows), and at the end the fields of the run's
record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.events import AnswerEvent, ErrorEvent, Event, QueryResultEvent
from agent.server.runs.encoding import few_rows
from agent.state import QueryResult
from agent.store.records import RunStatus


@dataclass(slots=True)
class Outcome:
    """Grows with the run. `status` stays `running` until something has ended it."""

    status: RunStatus = "running"
    score: float | None = None
    sql: str = ""
    model: str = ""
    answer: dict[str, Any] | None = None
    """The finished answer with few rows a result."""

    def heard(self, event: Event) -> Event:
        """Process an event; returns it in the form to be sent."""
        if isinstance(event, QueryResultEvent):
            return QueryResultEvent(data=_with_few_rows(event.data))
        if isinstance(event, AnswerEvent):
            attempts = [_with_few_rows(attempt) for attempt in event.data.attempts]
            answer = event.data.model_copy(update={"rows": few_rows(event.data.rows), "attempts": attempts})
            self.answer = answer.model_dump()
            self.status, self.score, self.sql, self.model = answer.status, answer.score, answer.sql, answer.model
            return AnswerEvent(data=answer)
        if isinstance(event, ErrorEvent) and self.status == "running":
            self.status = "error"
            self.answer = self.answer or {
                "status": "error",
                "answer": event.data.message,
                "reason": event.data.message,
                "error_kind": event.data.kind,
            }
        return event


def _with_few_rows(result: QueryResult) -> QueryResult:
    return result.model_copy(update={"data": few_rows(result.data)})
