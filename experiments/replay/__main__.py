"""What the retry loop is worth: the whole agent on benchmark questions, over HTTP, against recorded answers.

    python -m experiments.replay --bench DIR --recorded DIR --first SYSTEM --then A,B,C

In: a benchmark's folder (`questions.jsonl`, `databases/{db}.sqlite`) and recorded answers of other systems to it. The
first attempt at each question gets the answer of `--first`, retries get those of `--then` in turn; the judge has no
opinion. Out: how often the first attempt is right and how often the agent's final answer is (EX, `eval.metrics`), what
the retries cost, and what the gate got wrong. Nothing leaves the machine.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.usage import usage_reported

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.runner import Answer
    from eval.collection import Collection
    from eval.databases.base import Database
    from experiments.replay.recorded import Replayed

Question = dict[str, Any]
"""A line of `questions.jsonl`: `{id, db, question, gold_sql, difficulty?, gold_ok?}`."""

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def replay(
    bench: Annotated[Path, typer.Option(metavar="DIR", help="A benchmark: questions.jsonl and databases/.")],
    recorded: Annotated[
        Path, typer.Option(metavar="DIR|FILE", help="Recorded answers; in a folder, the file named like the benchmark.")
    ],
    first: Annotated[str, typer.Option(metavar="SYSTEM", help="Whose answer attempt 1 gets.")],
    then: Annotated[str, typer.Option(metavar="A,B,…", help="Whose answers the retries get, in turn.")] = "",
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Skip an answer with the text of an earlier one.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.")] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Questions under way at once.")] = 4,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write one JSON line a question.")] = None,
) -> None:
    """Measure the agent's final answers against its first attempts, replaying recorded answers.

    Example: python -m experiments.replay --bench bench/spider_dev --recorded recorded --first a --then b,c
    """
    from rich.console import Console

    from agent.config import settings
    from experiments.replay.recorded import tables

    file = recorded / f"{bench.resolve().name}.jsonl" if recorded.is_dir() else recorded
    systems = [first, *(name.strip() for name in then.split(",") if name.strip())]
    with usage_reported():
        config = settings()
        items = replay_questions(bench, file, systems, config, distinct=distinct, limit=limit, jobs=jobs)
    if out is not None:
        out.write_text("".join(json.dumps(item.line(), ensure_ascii=False) + "\n" for item in items), encoding="utf-8")
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(f"Attempts: {' → '.join(systems)}; {config.judging.max_retries} retries at most.", highlight=False)
    for table in tables(items):
        console.print(table)


def replay_questions(
    bench: Path,
    recording: Path,
    systems: Sequence[str],
    config: Settings,
    *,
    distinct: bool = False,
    limit: int | None = None,
    jobs: int = 4,
) -> list[Replayed]:
    """Run the agent on each question that the systems answered, in the benchmark's order. `config`: its settings,
    except for the model and its address.

    Raises OSError and ValueError for files that can't be read or do not fit together.
    """
    from eval.collection import Collection
    from experiments.recorded.answers import Answers, load_answers
    from experiments.recorded.server import application, running

    known = load_answers(recording, bench / "questions.jsonl", systems, distinct=distinct)
    answered = {one.id for one in known}
    questions = [q for q in bench_questions(bench / "questions.jsonl") if q["id"] in answered][:limit]
    databases = Collection(str(bench / "databases"))
    try:
        with running(application(Answers(known))) as url:
            there = {"base_url": url, "api_key": None, "name": "recorded"}
            return asyncio.run(_all(questions, databases, config.changed(model=there), jobs))
    finally:
        databases.close()


def bench_questions(path: Path) -> list[Question]:
    """The lines of a benchmark's questions. Raises OSError; ValueError naming the line that lacks something."""
    from eval.jsonl import LineError, read_line, text_field

    questions = []
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            line = read_line(number, raw)
            if line is None:
                continue
            record = line.record or {}
            try:
                for name in ("id", "db", "question", "gold_sql"):
                    text_field(record, name)
            except LineError as error:
                raise ValueError(f"{path.name}, line {number}: {line.problem or error}") from None
            questions.append(record)
    return questions


async def _all(questions: list[Question], databases: Collection, config: Settings, jobs: int) -> list[Replayed]:
    from agent.models import shared_model

    turns = asyncio.Semaphore(jobs)
    model = shared_model(config.model)

    async def one(question: Question) -> Replayed:
        async with turns:
            from agent.runner import run

            database = await asyncio.to_thread(databases.database, question["db"])
            answer = await run(question["question"], database=database, model=model, settings=config)
            replayed = await asyncio.to_thread(_judged, question, answer, database, config.judging.score_threshold)
            advance()
            return replayed

    with progress("replaying", len(questions)) as advance:
        try:
            return list(await asyncio.gather(*(one(question) for question in questions)))
        finally:
            if not isinstance(model, str):
                await model.close()


def _judged(question: Question, answer: Answer, database: Database, threshold: float) -> Replayed:
    """Compare every attempt with gold."""
    from agent.runtime.attempts import passes
    from eval.metrics.items import compare_items
    from experiments.replay.recorded import Attempt, Replayed

    gold = question["gold_sql"]
    gold_ran = compare_items(gold, gold, database).va
    known = {
        sql: compare_items(gold, sql, database).ex is True for sql in {answer.sql, *(a.sql for a in answer.attempts)}
    }
    return Replayed(
        id=question["id"],
        database=question["db"],
        difficulty=str(question.get("difficulty") or "unknown"),
        gold_ran=gold_ran,
        attempts=tuple(
            Attempt(a.sql, known[a.sql], passes(a, threshold), a.score, a.retry_category) for a in answer.attempts
        ),
        final_sql=answer.sql,
        final_right=known[answer.sql],
        status=answer.status,
        reason=answer.reason if answer.status == "error" else "",
        seconds=answer.seconds,
    )


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Yields a function to call for each finished question; shows a bar on standard error if that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (what, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)

        def advance() -> None:
            bar.advance(task)

        yield advance


def main() -> None:
    """Entry point of `python -m experiments.replay`."""
    app(prog_name="python -m experiments.replay")


if __name__ == "__main__":
    main()
