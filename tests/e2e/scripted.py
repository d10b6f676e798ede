"""What a scripted model says to one question: a plan, SQL for each attempt, a judgement, an answer.

In: the question's script. Out: a behaviour for `tests.openai_server`, which tells the calls apart by the form of
reply that they ask for.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.openai_server import Reply, Request, completion


@dataclass
class Script:
    sql: Sequence[str]
    """One statement for each time SQL is asked for; the last is given again."""
    answer: str
    tasks: Sequence[dict[str, Any]] = ({"id": "task_1", "description": "answer the question", "depends_on": []},)
    clarification: dict[str, Any] | None = None
    slow_from: int = 10**9
    """From this call on (0 is the first) a reply takes half a minute: a run to be watched or stopped."""
    slow_until: int = 10**9
    """From this call on replies are as quick as before."""
    released: threading.Event | None = None
    """What ends a slow reply, in place of a time."""
    standalone: str = ""
    """What a follow-up means on its own."""
    calls: int = 0
    written: int = 0
    prompts: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> Reply:
        self.prompts.append(request.prompt)
        slow = self.slow_from <= self.calls < self.slow_until
        self.calls += 1
        if slow and self.released is not None:
            return replace(self._reply(request), released=self.released)
        return replace(self._reply(request), delay=30.0 if slow else 0.0)

    def _reply(self, request: Request) -> Reply:
        if "response_format" not in request.body:
            pieces = tuple(word + " " for word in self.answer.split(" "))
            return Reply(pieces=pieces, usage={"prompt_tokens": 900, "completion_tokens": 40})
        return completion(self._object(json.dumps(request.body["response_format"])))

    def _object(self, wanted: str) -> dict[str, Any]:
        if '"tasks"' in wanted:
            kind = "single" if len(self.tasks) == 1 else "multi-sequential"
            plan = {"reasoning": "as asked", "plan_type": kind, "confidence": 0.92, "tasks": list(self.tasks)}
            asked_back = self.clarification or {"question": "", "options": []}
            if '"clarification"' in wanted:
                plan |= {"clarification": asked_back, "standalone_question": self.standalone}
            return plan | ({"tasks": []} if self.clarification else {})
        if '"sql"' in wanted:
            statement = self.sql[min(self.written, len(self.sql) - 1)]
            self.written += 1
            return {"reasoning": "Joined and counted as the question asks.", "sql": statement}
        return {"reasoning": "The rows are what the question asks for.", "score": 0.95}
