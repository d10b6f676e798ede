"""Log lines, Prometheus metrics and OpenTelemetry traces, none of which shows user data.

In: finished requests (`requests`), the events of runs (`runs.RunTelemetry`), log records of every library (`logs`).
Out: JSON lines on standard error, `/metrics`, and spans where OpenTelemetry is configured. None of the three holds row
values, tokens or keys; SQL is in them only with TEXT2SQL_LOG_SQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent.runtime.tracing import start_tracing, stop_tracing
from agent.server.telemetry.logs import configure_logging
from agent.server.telemetry.runs import RunTelemetry

__all__ = ["RunTelemetry", "configure_logging", "observed"]


@asynccontextmanager
async def observed(*, show_sql: bool) -> AsyncIterator[None]:
    """Trace for the lifetime of the app, if tracing is configured."""
    RunTelemetry.show_sql = show_sql
    start_tracing(show_sql=show_sql)
    try:
        yield
    finally:
        await asyncio.to_thread(stop_tracing)
