"""Progress messages for streaming clients: one sentence for each event that adds information.

In: an event of a run. Out: a sentence, or None. Names and messages in it come from the task's own data.
"""

from __future__ import annotations

from agent.events import Event

MAX_SENTENCE = 400
_STEPS = {
    "schema_analyzer": "Reading the schema",
    "query_generator": "Writing SQL",
    "executor_eval": "Checking the SQL",
}


def sentence(event: Event) -> str | None:
    """The progress message for an event, in one line."""
    if event.event == "node" and event.status == "running" and event.node in _STEPS:
        again = f" (attempt {event.attempt})" if event.attempt and event.attempt > 1 else ""
        return f"{_STEPS[event.node]}{again}."
    if event.event == "retry":
        return " ".join(event.data.feedback.split())[:MAX_SENTENCE]
    if event.event == "revision":
        return " ".join(event.data.reasoning.split())[:MAX_SENTENCE]
    return None
