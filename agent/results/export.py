"""A whole kept result as a file to download: CSV, JSON lines, XLSX or Parquet, chunk by chunk.

In: a `KeptResult`, a format, an order and filters as for a page. Out: bytes as they are produced, with memory bounded
by one batch. Formats that need seeking are first written to a temporary file in the result's private folder. A result
that cannot be exported is refused before the first byte.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Literal

from agent.results.delimited import csv_chunks, json_chunks
from agent.results.pages import Filter, Sort, count_rows, selection
from agent.results.parquet import BATCH_ROWS as PARQUET_ROWS
from agent.results.parquet import check_installed, parquet_chunks
from agent.results.store import KeptResult
from agent.results.workbook import check_size, xlsx_chunks

Format = Literal["csv", "jsonl", "xlsx", "parquet"]

MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}


def export(
    result: KeptResult,
    file_format: Format,
    *,
    sort: Sequence[Sort] = (),
    filters: Sequence[Filter] = (),
    bom: bool = False,
    guard_formulas: bool = False,
) -> Generator[bytes]:
    """Start an export; `bom` and `guard_formulas` are for CSV. Blocks, and so do its chunks: iterate them in a thread.
    Empty ones mean that the work is still in progress. Closing them stops it and removes the temporary file.

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

    def chunks() -> Generator[bytes]:
        with closing(rows):  # type: ignore[type-var]
            if file_format == "csv":
                yield from csv_chunks(names, rows, bom=bom, guard_formulas=guard_formulas)
            elif file_format == "jsonl":
                yield from json_chunks(names, rows)
            elif file_format == "xlsx":
                yield from xlsx_chunks(names, rows, truncated=result.truncated, folder=result.folder)
            else:
                yield from parquet_chunks(result.columns, rows, folder=result.folder)

    return chunks()
