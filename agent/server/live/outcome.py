"""What a run comes to, gathered from its events: its status, its SQL, the answer to keep.

In: the events of a run, one by one. Out: what is sent of each (few rows), and at the end the fields of the run's
record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent.events import AnswerEvent, ErrorEvent, Event, QueryResultEvent
from agent.server.live.encoding import few_rows
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
    _rows: dict[tuple[str, int], list[Any]] = field(default_factory=dict)

    def heard(self, event: Event) -> Event:
        """Take in an event; returns it as it is to be sent."""
        if isinstance(event, QueryResultEvent):
            data = {**event.data, "data": few_rows(event.data.get("data") or [])}
            self._rows[str(data.get("task_id")), int(data.get("attempt") or 0)] = data["data"]
            return QueryResultEvent(data=data)
        if isinstance(event, AnswerEvent):
            data = {**event.data, "rows": few_rows(event.data.get("rows") or [])}
            self._answered(data)
            return AnswerEvent(data=data)
        if isinstance(event, ErrorEvent) and self.status == "running":
            self.status = "error"
            self.answer = self.answer or {
                "status": "error",
                "answer": event.data.message,
                "reason": event.data.message,
                "error_kind": event.data.kind,
            }
        return event

    def _answered(self, data: dict[str, Any]) -> None:
        attempts = [
            {**a, "data": self._rows.get((str(a.get("task_id")), int(a.get("attempt") or 0)), [])}
            for a in data.get("attempts") or []
        ]
        self.answer = {k: v for k, v in data.items() if k != "final_answer"} | {"attempts": attempts}
        self.status = data.get("status", "success")
        self.score = data.get("score")
        self.sql = data.get("sql") or ""
        self.model = data.get("model") or ""
