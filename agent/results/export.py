"""A whole kept result as a file to download: CSV, JSON lines, XLSX or Parquet, chunk by chunk.

In: a `KeptResult`, a format, an order and filters as for a page. Out: bytes as they are produced, with memory bounded
by one batch. Formats that need seeking are first written to a temporary file in the result's private folder. A result
that cannot be exported is refused before the first byte.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Literal

from agent.results.delimited import csv_chunks, json_chunks
from agent.results.pages import Filter, Sort, count_rows, selection
from agent.results.parquet import BATCH_ROWS as PARQUET_ROWS
from agent.results.parquet import check_installed, parquet_chunks
from agent.results.store import KeptResult
from agent.results.workbook import check_size, xlsx_chunks
from eval.databases import in_statement_thread

Format = Literal["csv", "jsonl", "xlsx", "parquet"]

MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}


@dataclass(frozen=True, slots=True)
class Export:
    """A file in progress. Iterate it once, synchronously or asynchronously. Leaving early stops the work and removes
    the temporary file."""

    media_type: str
    chunks: Iterator[bytes]
    """Blocking. Empty chunks mean that the work is still in progress."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The chunks, produced in threads. After a cancellation, at most one batch is finished in the background."""
        pending: asyncio.Future[bytes | None] | None = None
        try:
            while True:
                pending = asyncio.ensure_future(in_statement_thread(lambda _: next(self.chunks, None)))
                chunk = await asyncio.shield(pending)
                if chunk is None:
                    return
                if chunk:
                    yield chunk
        finally:
            if pending is None or pending.done():
                await asyncio.shield(in_statement_thread(lambda _: _close(self.chunks)))
            else:  # cancelled during a batch, which cannot be interrupted
                pending.add_done_callback(lambda done: _close(self.chunks, done))


def _close(chunks: Iterator[bytes], done: asyncio.Future[bytes | None] | None = None) -> None:
    if done is not None and not done.cancelled():
        done.exception()  # retrieve the exception; the caller is gone
    with suppress(ValueError):  # still running during shutdown: it is closed with its last reference
        chunks.close()  # type: ignore[attr-defined]


def export(
    result: KeptResult,
    file_format: Format,
    *,
    sort: Sequence[Sort] = (),
    filters: Sequence[Filter] = (),
    bom: bool = False,
    guard_formulas: bool = False,
) -> Export:
    """Start an export; `bom` and `guard_formulas` are for CSV. Blocks for a few ms: call it from a thread.

    Raises BadRequest (too many rows for XLSX, a column that does not exist), ExtraMissing, ResultGone.
    """
    names = [facts.name for facts in result.columns]
    if file_format == "xlsx":
        chosen = selection(result.columns, result.exact, sort, filters)
        with result.opened() as file:
            check_size(count_rows(file, chosen, result.row_count, counted=result.row_count)[0], len(names))
    elif file_format == "parquet":
        check_installed()
    rows = result.batches(sort, filters, PARQUET_ROWS if file_format == "parquet" else 2000)

    def chunks() -> Iterator[bytes]:
        with closing(rows):  # type: ignore[type-var]
            if file_format == "csv":
                yield from csv_chunks(names, rows, bom=bom, guard_formulas=guard_formulas)
            elif file_format == "jsonl":
                yield from json_chunks(names, rows)
            elif file_format == "xlsx":
                yield from xlsx_chunks(names, rows, truncated=result.truncated, folder=result.folder)
            else:
                yield from parquet_chunks(result.columns, rows, folder=result.folder)

    return Export(MEDIA_TYPES[file_format], chunks())
