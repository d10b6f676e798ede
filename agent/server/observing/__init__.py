"""Seeing what the server does without seeing anybody's data: log lines, Prometheus figures, OpenTelemetry traces.

In: finished requests (`requests`), the events of runs (`runs.RunWatch`), log records of every library (`logs`). Out:
JSON lines on standard error, `/metrics`, and spans where OpenTelemetry is configured. No row value, no token and no key
leaves by any of the three; SQL only where TEXT2SQL_LOG_SQL says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from agent.server.observing.logs import configure_logging
from agent.server.observing.runs import RunWatch
from agent.server.observing.tracing import start_tracing, stop_tracing

if TYPE_CHECKING:
    from agent.config import Settings

__all__ = ["RunWatch", "configure_logging", "observed"]


@asynccontextmanager
async def observed(settings: Settings) -> AsyncIterator[None]:
    """Trace, where that is configured, as long as the app lives."""
    RunWatch.show_sql = settings.log_sql
    start_tracing(show_sql=settings.log_sql)
    try:
        yield
    finally:
        await asyncio.to_thread(stop_tracing)
