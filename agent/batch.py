"""Batch commands over files of questions: `python -m agent.batch COMMAND --databases DIR [FILE]`.

In: JSON lines `{id, db, question, ...}` on standard input or in a file. Out: one JSON line for each, same order
(`eval.jsonl` has the protocol). `DIR/{db}.sqlite` is the database, or `--databases` is a URL with `{db}` in it.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.shared import KitOption, errors_reported
from eval.jsonl import LineError, Record, Submit, text_field
from eval.parallel import File, Jobs, Lasting, On, Out, Quiet, answer_file, answer_with

if TYPE_CHECKING:
    from eval.collection import Collection
    from eval.databases.base import Database
    from eval.schema import Schema

NEUTRAL = 0.5
"""The relevance when no model judges."""

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


_Databases = Annotated[
    str, typer.Option(metavar="DIR|URL", help="Folder of DB.sqlite files, or a URL with {db} in it.")
]
_Model = Annotated[str | None, typer.Option(metavar="NAME", help="Model to use; default: the configured one.")]
_Offline = Annotated[bool, typer.Option("--offline", help="Use the built-in engine.")]


@app.callback()
def _commands() -> None:
    """Work on files of questions: JSON lines in, JSON lines out."""


@app.command()
def answer(
    databases: _Databases,
    file: File = None,
    model: _Model = None,
    offline: _Offline = False,
    strategy: Annotated[
        str | None, typer.Option(metavar="NAME", help="How questions are worked on; default: as the settings say.")
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            metavar="D", help="Write this dialect for the tables of DIR/DB.sql, or of the database; no SQL is executed."
        ),
    ] = None,
    kit: KitOption = None,  # noqa: ARG001 (its callback sets it)
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Questions under way at once.")] = 1,
    on: On = None,
    out: Out = None,
    quiet: Quiet = False,
) -> None:
    """Answer each line {id, db, question, evidence?} with {id, sql, confidence, abstained, reason, rows, answer,
    retries, seconds}; a line that cannot be answered gets {id, error}."""
    from agent.strategies import strategy as known

    try:
        name = known(strategy).name if strategy is not None else None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    chosen = _chosen(model, offline)
    if chosen == "offline" or on is not None:
        here = Lasting(functools.partial(_answering, databases, chosen, name, dialect))
        answer_file(here, file, jobs, on, out, quiet)
    answer_with(
        lambda: _one_loop(lambda record: _answered(databases, chosen, name, dialect, record), jobs), file, out, quiet
    )


@app.command()
def converse(
    databases: _Databases,
    file: File = None,
    model: _Model = None,
    offline: _Offline = False,
    kit: KitOption = None,  # noqa: ARG001 (its callback sets it)
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Conversations under way at once.")] = 1,
    on: On = None,
    out: Out = None,
    quiet: Quiet = False,
) -> None:
    """Hold the conversation of each line {id, db, turns: [question…]}: {id, turns: [{question, read_as, sql,
    confidence, abstained, answer}…]}; each turn knows the ones before it, and `read_as` is the question as it stands
    alone."""
    answer_file(functools.partial(_conversed, databases, _chosen(model, offline)), file, jobs, on, out, quiet)


@app.command()
def link(
    databases: _Databases,
    file: File = None,
    budget: Annotated[
        int | None,
        typer.Option(min=0, metavar="TOKENS", help="Tokens of the linked part; default: all of a schema of up to 60 "
                     "columns, 40 % of a larger one."),
    ] = None,
    jobs: Jobs = 1,
    on: On = None,
    out: Out = None,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """The part of the schema that each line {id, db, question} needs: {id, tables, columns, values[{text, table,
    column, value}], tokens, tokens_full}. `columns` are `table.column`."""
    answer_file(functools.partial(_linked, databases, budget), file, jobs, on, out, quiet)


def _chosen(model: str | None, offline: bool) -> str | None:
    """The model that the options and the settings choose."""
    from agent.config import settings

    if offline and model not in (None, "offline"):
        raise typer.BadParameter("--offline and --model exclude each other")
    with errors_reported():
        return "offline" if offline or (model is None and settings().model.offline) else model


def _of_lines(work: Callable[[str, Record], Record]) -> Callable[[str, Record], Record]:
    """Make a command of a function that answers one line; its docstring is the command's help."""

    def command(
        databases: _Databases, file: File = None, jobs: Jobs = 1, on: On = None, out: Out = None, quiet: Quiet = False
    ) -> None:
        answer_file(functools.partial(work, databases), file, jobs, on, out, quiet)

    app.command(work.__name__, help=work.__doc__)(command)
    return work


@_of_lines
def score(databases: str, record: Record) -> Record:
    """Score each line {id, db, question, sql, relevance?} as the gate does: {id, score, correctness, probability,
    passes, dimensions, vetoes, evidence}. `relevance` is a judge's opinion from 0 to 1, neutral (0.5) where a line has
    none; the offline engine's reading is the second opinion."""
    from dataclasses import asdict, replace

    from agent.parser.second_opinion import second_opinion
    from eval.examination import Query, examine
    from eval.scoring import final_score, passes
    from eval.scoring import score as judged

    question, sql = text_field(record, "question"), record.get("sql")
    if not isinstance(sql, str):
        raise LineError("'sql' is missing or not a text")
    database, schema = _opened(databases, text_field(record, "db"))
    relevance = record.get("relevance")
    if relevance is None:
        relevance = NEUTRAL
    elif isinstance(relevance, bool) or not isinstance(relevance, int | float) or not 0 <= relevance <= 1:
        raise LineError("'relevance' is not a number from 0 to 1")
    case = examine(Query(question, sql), database, schema=schema)
    opinion = asyncio.run(second_opinion(question, database, schema))
    scored = judged(replace(case, second_opinion=opinion, relevance=float(relevance)))
    return {
        "score": round(final_score(scored, relevance), 4),
        "correctness": round(scored.dimensions["correctness"], 4),
        "probability": None if scored.probability is None else round(scored.probability, 4),
        "passes": passes(scored, relevance),
        "dimensions": {name: round(value, 4) for name, value in scored.dimensions.items()},
        "vetoes": list(scored.vetoes),
        "evidence": [asdict(e) for e in scored.evidence],
    }


@_of_lines
def opinion(databases: str, record: Record) -> Record:
    """The offline engine's reading of each line {id, db, question}, sure or not: {id, sql, confidence}; `sql` is null
    where it reads nothing."""
    from agent.parser.second_opinion import second_opinion

    question = text_field(record, "question")
    read = asyncio.run(second_opinion(question, *_opened(databases, text_field(record, "db"))))
    return {"sql": read.sql if read else None, "confidence": round(read.confidence, 4) if read else 0.0}


@_of_lines
def select(databases: str, record: Record) -> Record:
    """Choose among the candidates of each line {id, db, question, candidates[{system, sql}]}: {id, sql, system,
    probability}, by the evidence for each and by agreement of their results. Where none can be run `sql` and `system`
    are null, and `reason` says why."""
    from agent.candidates.evaluation import selected

    question, candidates = text_field(record, "question"), record.get("candidates")
    if not isinstance(candidates, list):
        raise LineError("'candidates' is missing or not a list")
    return selected(question, candidates, *_opened(databases, text_field(record, "db")))


def _linked(databases: str, budget: int | None, record: Record) -> Record:
    from agent.inspection.schema import linked_schema

    question = text_field(record, "question")
    linked = linked_schema(question, *_opened(databases, text_field(record, "db")), budget)
    return {
        "tables": list(linked.tables),
        "columns": list(linked.columns),
        "values": [{"text": v.text, "table": v.table, "column": v.column, "value": v.value} for v in linked.values],
        "tokens": linked.tokens,
        "tokens_full": linked.tokens_full,
    }


def _conversed(databases: str, model: str | None, record: Record) -> Record:
    """One conversation, its turns in order. Raises LineError where there are no questions or no database."""
    questions = record.get("turns")
    if not isinstance(questions, list) or not questions or not all(isinstance(q, str) and q for q in questions):
        raise LineError("'turns' is missing or not a list of questions")
    database, _ = _opened(databases, text_field(record, "db"))
    return {"turns": asyncio.run(_turns(questions, database, model))}


async def _turns(questions: list[str], database: Database, model: str | None) -> list[Record]:
    from agent.conversations import Conversation
    from agent.conversations.checkpointer import memory_checkpointer
    from agent.runner import run

    thread = Conversation("batch", memory_checkpointer(), may_ask=False)
    lines: list[Record] = []
    for question in questions:
        answer = await run(question, database=database, model=model, conversation=thread)
        lines.append(
            {
                "question": question,
                "read_as": answer.read_as or question,
                "sql": answer.sql,
                "confidence": answer.confidence if answer.confidence is not None else 0.0,
                "abstained": answer.abstained,
                "answer": answer.answer,
            }
        )
    return lines


@functools.lru_cache(maxsize=256)
def _opened(databases: str, name: str) -> tuple[Database, Schema]:
    """A database and its structure, read once per process."""
    from eval.databases import DatabaseError

    try:
        database = _database(databases, name)
        return database, database.schema()
    except DatabaseError as error:
        raise LineError(str(error)) from None


@asynccontextmanager
async def _answering(
    databases: str, model: str | None, strategy: str | None, dialect: str | None
) -> AsyncIterator[Callable[[Record], Coroutine[Any, Any, Record]]]:
    """The parser computes, so batches of it use processes; a model is waited for, and its questions share one loop."""
    import agent.parser  # noqa: F401
    from agent.runner import answer_many, import_nodes

    import_nodes()
    answer_many()
    yield functools.partial(_answered, databases, model, strategy, dialect)


async def _answered(
    databases: str, model: str | None, strategy: str | None, dialect: str | None, record: Record
) -> Record:
    """One question answered. Raises LineError when there is no question or no database."""
    from agent.config import settings
    from agent.runner import run
    from eval.databases import DatabaseError

    question = text_field(record, "question")
    config = settings() if strategy is None else settings().changed(judging={"strategy": strategy})
    evidence = record.get("evidence")
    name = text_field(record, "db")
    try:
        if dialect is None and name in _collection(databases):
            database = _database(databases, name)
        else:
            database = await asyncio.to_thread(_database, databases, name, dialect)
    except DatabaseError as error:
        raise LineError(str(error)) from None
    answer = await run(
        question,
        evidence=evidence if isinstance(evidence, str) else "",
        database=database,
        model=model,
        settings=config,
    )
    if answer.status == "error" and answer.error_kind != "sql":
        return {"error": answer.reason}
    return {
        "sql": answer.sql,
        "confidence": answer.confidence if answer.confidence is not None else 0.0,
        "abstained": answer.abstained,
        "reason": answer.reason,
        "rows": answer.rows,
        "answer": answer.answer,
        "retries": sum(attempt.retry_category is not None for attempt in answer.attempts),
        "seconds": answer.seconds,
    }


def _database(databases: str, name: str, dialect: str | None = None) -> Database:
    """With a dialect, the structure alone: that of `DIR/{db}.sql`, else of the database. Raises DatabaseError."""
    from agent.config import settings
    from agent.runtime.catalogue import as_person, written_database

    if dialect is not None:
        return as_person(written_database(databases, name, dialect), settings().database)
    return as_person(_collection(databases).database(name), settings().database)


@functools.cache
def _collection(databases: str) -> Collection:
    """This process's open databases; a worker process opens them on first use."""
    from agent.cli.shared import direct_logs
    from eval.collection import Collection

    direct_logs(verbose=False)

    return Collection(databases)


@contextmanager
def _one_loop(work: Callable[[Record], Coroutine[Any, Any, Record]], jobs: int) -> Iterator[tuple[Submit, int]]:
    """Yield `jobs` and a `submit` that runs `work` on one event loop in a thread, at most `jobs` at a time."""
    loop = asyncio.new_event_loop()
    turns = asyncio.Semaphore(jobs)

    async def in_turn(record: Record) -> Record:
        async with turns:
            return await work(record)

    def submit(record: Record) -> Future[Record]:
        return asyncio.run_coroutine_threadsafe(in_turn(record), loop)

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield submit, jobs
    finally:
        asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _cancel_all() -> None:
    """Cancel all remaining tasks and wait until they have ended, including their SQL and connections."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def main() -> None:
    """Entry point of `python -m agent.batch`."""
    from agent import batch  # by its name: processes elsewhere import its functions, and there is no `__main__` there

    batch.app(prog_name="python -m agent.batch")


if __name__ == "__main__":
    main()
