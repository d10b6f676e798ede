"""Results kept for paging and export, and edited SQL that runs under the same guard and limits.

In: a database and a statement. Out: pages as JSON values, files as chunks of bytes, or a `ResultError` for the user.
"""

from agent.results.edited import SqlOutcome, check_sql, run_sql
from agent.results.export import MEDIA_TYPES, Format, export
from agent.results.pages import Filter, Sort
from agent.results.result_errors import BadRequest, ExtraMissing, ResultError, ResultGone, StatementFailed
from agent.results.store import KeptResult, ResultStore

__all__ = [
    "MEDIA_TYPES",
    "BadRequest",
    "ExtraMissing",
    "Filter",
    "Format",
    "KeptResult",
    "ResultError",
    "ResultGone",
    "ResultStore",
    "Sort",
    "SqlOutcome",
    "StatementFailed",
    "check_sql",
    "export",
    "run_sql",
]
