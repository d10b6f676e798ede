"""Batch commands over files of statements: `python -m eval.batch check`, `run`, `compare` and `audit`.

In: JSON lines on standard input or in a file. Out: one JSON line for each, in the same order (`eval.jsonl` has the
protocol). The database is `DIR/{db}.sqlite`, or `--databases` is a URL that contains `{db}`.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from eval.engines import listed
from eval.jsonl import LineError, Record, text_field
from eval.parallel import File, Jobs, On, Out, Quiet, answer_file

if TYPE_CHECKING:
    from eval.collection import Collection
    from eval.metrics.modes import Mode
    from eval.schema import Dialect, Schema
    from eval.sql import References

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

_PLACE = "Folder of DB.sqlite files, or a URL with {db} in it."


@app.callback()
def _commands() -> None:
    """Work on files of SQL: JSON lines in, JSON lines out.

    Examples:

      python -m eval.batch check --dialect sqlite --databases databases/ statements.jsonl

      python -m eval.batch run --databases 'postgresql://reader@host/{db}' < statements.jsonl > rows.jsonl
    """


@app.command()
def check(
    dialect: Annotated[str, typer.Option(metavar="D", help=f"{listed()}.")],
    file: File = None,
    databases: Annotated[str | None, typer.Option(metavar="DIR|URL", help=_PLACE)] = None,
    jobs: Jobs = 1,
    on: On = None,
    out: Out = None,
    quiet: Quiet = False,
) -> None:
    """Say of each line {id, sql, db?} whether the statement may run and which of its names do not exist:
    {id, allowed, reason, sql, phantoms{tables, columns, functions, ambiguous}}. Nothing is executed; `sql` is what
    would be sent, null when refused. Without a database only functions are looked up.

    Example: echo '{"id": 1, "sql": "SELECT 1"}' | python -m eval.batch check --dialect sqlite
    """
    from eval.engines import dialect_named

    try:
        named = dialect_named(dialect)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--dialect") from None
    answer_file(functools.partial(_checked, named, databases), file, jobs, on, out, quiet)


@app.command()
def run(
    databases: Annotated[str, typer.Option(metavar="DIR|URL", help=_PLACE)],
    file: File = None,
    jobs: Jobs = 1,
    on: On = None,
    out: Out = None,
    quiet: Quiet = False,
) -> None:
    """Run the statement of each line {id, db, sql} read-only, if the guard lets it:
    {id, status, columns, rows, truncated, error, execution_time_ms}. A refused statement has the status `refused` and
    the reason as its error; it is not sent.

    Example: echo '{"id": 1, "db": "shop", "sql": "SELECT 1"}' | python -m eval.batch run --databases databases/
    """
    answer_file(functools.partial(_ran, databases), file, jobs, on, out, quiet)


@app.command()
def compare(
    databases: Annotated[str, typer.Option(metavar="DIR|URL", help=_PLACE)],
    file: File = None,
    test_suites: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of test suites: DB/ or DB.tar.xz with SQLite files.")
    ] = None,
    ves: Annotated[bool, typer.Option("--ves", help="Time both queries as well; use one job.")] = False,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            metavar="M", help="Also as an official program measures it; repeatable. docs/metrics.md has them."
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option(min=1, max=1_000, metavar="N", help="Timed runs for bird-ves, bird-r-ves.")
    ] = 100,
    jobs: Jobs = 1,
    on: On = None,
    out: Out = None,
    quiet: Quiet = False,
) -> None:
    """Measure the answer of each line {id, db, gold_sql, sql} against its gold:
    {id, va, em, ex, bird_ex, ts, gold_error, error}. `ex` and `bird_ex` are null when gold fails, `ts` also without a
    test suite. With --ves, `ves` is EX times gold's time over the answer's. With --mode, `modes` has a figure for each.

    Example: python -m eval.batch compare --databases databases/ --test-suites suites/ answers.jsonl
    """
    from eval.metrics.modes import MODES

    if unknown := [name for name in mode or () if name not in MODES]:
        raise typer.BadParameter(f"{unknown[0]!r} is none of {', '.join(MODES)}", param_hint="--mode")
    chosen = tuple(name for name in MODES if name in (mode or ()))
    answer_file(functools.partial(_compared, databases, test_suites, ves, chosen, runs), file, jobs, on, out, quiet)


@app.command()
def audit(
    databases: Annotated[str, typer.Option(metavar="DIR|URL", help=_PLACE)],
    file: File = None,
    jobs: Jobs = 1,
    on: On = None,
    out: Out = None,
    quiet: Quiet = False,
) -> None:
    """Hold the query of each line {id, db, question, evidence?, gold_sql} (or `sql`) against its question: {id,
    contradicted, proofs, probability}. A proof is a sentence on one conflict that a reader can check; `probability` is
    that of a right query, as the gate sees it without a model. For a benchmark's own queries, before anybody is
    measured by them.

    Example: python -m eval.batch audit --databases databases/ questions.jsonl | jq 'select(.contradicted)'
    """
    answer_file(functools.partial(_audited, databases), file, jobs, on, out, quiet)


@contextlib.contextmanager
def _line_errors() -> Iterator[None]:
    """A database that cannot be opened or read fails its own line only."""
    from eval.databases import DatabaseError

    try:
        yield
    except DatabaseError as error:
        raise LineError(str(error)) from None


@_line_errors()
def _checked(dialect: Dialect, databases: str | None, record: Record) -> Record:
    from eval.sql import check as guard
    from eval.sql import parse, resolve

    parsed = parse(_sql(record), dialect)
    schema = _schema(databases, text_field(record, "db")) if databases is not None else None
    verdict = guard(parsed, schema)
    return {
        "allowed": verdict.allowed,
        "reason": verdict.reason,
        "sql": verdict.statement.sql if verdict.statement else None,
        "phantoms": phantom_lists(resolve(parsed, schema)),
    }


def phantom_lists(references: References) -> Record:
    """The phantoms by kind, each `{name, nearest}`."""
    kinds = {"tables": "table", "columns": "column", "functions": "function", "ambiguous": "ambiguous"}
    return {
        key: [{"name": p.name, "nearest": list(p.nearest)} for p in references.phantoms if p.kind == kind]
        for key, kind in kinds.items()
    }


@_line_errors()
def _ran(databases: str, record: Record) -> Record:
    from eval.databases.values import json_rows
    from eval.sql import check as guard
    from eval.sql import parse

    sql = _sql(record)
    database = _collection(databases).database(text_field(record, "db"))
    known = database.schema() if database.dialect in ("postgres", "clickhouse") else None
    verdict = guard(parse(sql, database.dialect), known)
    if verdict.statement is None:
        return _result("refused", error=verdict.reason)
    done = database.execute(verdict.statement)
    return _result(
        done.status,
        columns=list(done.columns),
        rows=json_rows(done.rows),
        truncated=done.truncated,
        error=done.error,
        execution_time_ms=round(done.execution_time_ms, 3),
    )


@_line_errors()
def _compared(
    databases: str, suites: str | None, ves: bool, modes: tuple[Mode, ...], runs: int, record: Record
) -> Record:
    from dataclasses import asdict
    from pathlib import Path

    from eval.metrics.items import compare_items
    from eval.metrics.modes import official_figures
    from eval.metrics.suites import suite_databases, suite_files
    from eval.tasks.cache_folder import cache_folder

    name, gold_sql = text_field(record, "db"), text_field(record, "gold_sql")
    files = suite_files(Path(suites), name, cache_folder()) if suites is not None else ()
    database = _collection(databases).database(name)
    sql = _sql(record)
    measured = asdict(compare_items(gold_sql, sql, database, suite=suite_databases(files), timed=ves))
    if not ves:
        del measured["ves"]
    if modes:
        suite = functools.partial(suite_databases, files)
        measured["modes"] = official_figures(modes, gold_sql, sql, database, suite=suite, runs=runs)
    return measured


@_line_errors()
def _audited(databases: str, record: Record) -> Record:
    from eval.examination import Query, examine
    from eval.scoring import score

    sql = record.get("gold_sql", record.get("sql"))
    if not isinstance(sql, str):
        raise LineError("'gold_sql' is missing or not a text")
    name = text_field(record, "db")
    evidence = record.get("evidence")
    taught = evidence.lower() if isinstance(evidence, str) else ""
    query = Query(text_field(record, "question"), sql, taught=taught)
    scored = score(examine(query, _collection(databases).database(name), schema=_schema(databases, name)))
    return {
        "contradicted": bool(scored.conflicts),
        "proofs": list(scored.conflicts),
        "probability": None if scored.probability is None else round(scored.probability, 4),
    }


def _result(status: str, **known: object) -> Record:
    empty: Record = {"columns": [], "rows": [], "truncated": False, "error": None, "execution_time_ms": 0.0}
    return {"status": status, **empty, **known}


def _sql(record: Record) -> str:
    """The statement of a record; an empty one is left for the guard to refuse. Raises LineError when there is none."""
    sql = record.get("sql")
    if not isinstance(sql, str):
        raise LineError("'sql' is missing or not a text")
    return sql


@functools.lru_cache(maxsize=256)
def _schema(databases: str, name: str) -> Schema:
    """The structure of a database, read once by each process."""
    return _collection(databases).database(name).schema()


@functools.cache
def _collection(databases: str) -> Collection:
    """This process's open databases."""
    from eval.collection import Collection

    return Collection(databases)


def main() -> None:
    """Entry point of `python -m eval.batch`."""
    from eval import batch  # by its name: processes elsewhere import its functions, and there is no `__main__` there

    batch.app(prog_name="python -m eval.batch")


if __name__ == "__main__":
    main()
