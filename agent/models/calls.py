"""Who wants to know that a model is being called: a tracer, where one is configured.

In: `trace_calls` with a maker of spans. Out: `call_span`, which brackets each request to an endpoint; nothing by
default. It learns the kind of call and the model's name, never what is said.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Spans = Callable[[str, str], AbstractContextManager[object]]

_spans: list[Spans] = []


def trace_calls(spans: Spans | None) -> None:
    """From now on `spans(call, model)` brackets every request; None: nothing does."""
    _spans[:] = [spans] if spans is not None else []


def call_span(call: str, model: str) -> AbstractContextManager[object]:
    return _spans[0](call, model) if _spans else nullcontext()
