"""What a model is good for here: it is tried at its endpoint and on a database, and a strategy is recommended.

In: settings of a model and an open database. Out: a `Probe`. The questions are made from the database's names and are
such as the built-in engine reads for certain, so that its rows are the right ones; at most 13 short calls, none begun
after SECONDS. Or they are a team's verified questions, at most VERIFIED, which tell the model's prior as a writer, too.
The model sees what the privacy mode allows. An endpoint that fails is the outcome, and nothing is raised but a
DatabaseError.

The judge is tried on questions made from the structure (how many rows a table has, which values a column holds), each
with its right query and with one that answers something else; at most six calls.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from pydantic import SecretStr
from sqlglot import exp

from agent.config import ModelSettings
from agent.inspection.examples import example_questions
from agent.knowledge.memory.examples import Example, read_examples, usable
from agent.knowledge.model_view import model_view
from agent.knowledge.privacy import Privacy, private
from agent.models import OFFLINE, shared_model
from agent.models.discovery import small
from agent.models.protocol import JudgeRequest, Model, ModelError, SqlRequest
from agent.models.trial import Trial, tried
from agent.parser.second_opinion import second_opinion
from agent.state import QueryTask
from agent.strategies import CASCADE, SHORT_TOKENS
from eval.databases.base import Database
from eval.databases.types import ExecutionResult, Limits
from eval.databases.values import json_rows
from eval.examination import Query, examine_async
from eval.language.words import singular_words
from eval.metrics.comparison import same_result
from eval.schema import Schema, Table
from eval.scoring import observed
from eval.scoring.correctness import Answered, coefficients, features_of, prior_of
from eval.scoring.scorer import vetoes
from eval.sql import check, orders_rows, parse
from eval.sql.sources import quoted_column, table_source
from eval.threads import in_turn

log = logging.getLogger(__name__)

SECONDS = 180.0
"""After which nothing more is asked."""
CALL_SECONDS = 90.0
"""A small model on one core reads the description of a database for a minute, once."""
QUESTIONS = 3
VERIFIED = 40
"""Verified questions that are asked; that many tell a share to within a sixth."""
VERIFIED_SECONDS = 1_800.0
"""After which no further one is asked."""
CERTAIN = 0.8
"""The engine's confidence from which its rows count as the right ones."""
SLOW = 15.0
"""Seconds for one short query above which a strategy of several longer calls would try a user's patience."""
LEAST_CONTEXT = 6_000
"""Tokens that the prompts of `standard` and a reply may take on a database of some twenty tables."""
PAIRS = 3
APART = 0.25
"""By how much the right queries have to be marked higher, on average."""
_PAIR_LIMITS = Limits(seconds=2.0, rows=20)
_SILENT = "It does not answer; the built-in engine needs no model."
_LIMITS = Limits(seconds=5.0, rows=5_000)


@dataclass(frozen=True, slots=True)
class Probe:
    trial: Trial
    asked: int
    """Questions whose answer is known."""
    right: int
    """Of these, those whose query returned the known rows."""
    query_seconds: float | None
    """For one short query, in the middle."""
    judges: bool | None
    """Whether it marks right queries above plainly wrong ones; None where that was not tried."""
    strategy: str
    """The recommended one, or `offline` where the built-in engine serves better."""
    reason: str
    """One sentence."""
    prior: float | None = None
    """Of its queries as a writer (`TEXT2SQL_WRITER_PRIOR`), where verified questions were asked."""


@dataclass(frozen=True, slots=True)
class _Question:
    text: str
    known: ExecutionResult
    """The right rows."""
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class _Tried:
    right: bool
    seconds: float
    features: dict[str, float] | None
    """What is observed of its query; None where it wrote none, or one that something forbids."""


async def probed(
    settings: ModelSettings, database: Database, privacy: Privacy = "full", verified: Path | None = None
) -> Probe:
    """`verified`: a file of questions whose query a person holds right, asked in place of those made from the
    structure. Raises BadMemory where it cannot be read."""
    examples = read_examples(verified) if verified else ()
    if (local := settings.local) is not None:
        from agent.models.local.serving import served

        try:
            base_url, key = await served(local, settings.server_program)
        except ModelError as error:
            return Probe(Trial(False, str(error), 0.0, (), local.stem), 0, 0, None, None, OFFLINE, _SILENT)
        settings = settings.model_copy(update={"base_url": base_url, "api_key": SecretStr(key), "name": local.stem})
    until = time.monotonic() + (VERIFIED_SECONDS if verified else SECONDS)
    trial = await tried(settings)
    if not trial.ok:
        return Probe(trial, 0, 0, None, None, OFFLINE, _SILENT)
    chosen = settings.model_copy(update={"name": trial.name, "seconds": min(settings.seconds, CALL_SECONDS)})
    shared = shared_model(chosen, trial.name)
    if isinstance(shared, str):
        return Probe(trial, 0, 0, None, None, OFFLINE, "The built-in engine is no model.")
    model = private(shared, privacy)
    try:
        schema = await asyncio.to_thread(database.schema)
        questions = _verified(examples, database, schema) if verified else _plain(database, schema)
        queries = []
        async for question in questions:
            if time.monotonic() >= until:
                break
            began = time.monotonic()
            is_right, features = await _query(model, question, database, schema, privacy)
            queries.append(_Tried(is_right, time.monotonic() - began, features))
        asked, right = len(queries), sum(one.right for one in queries)
        middle = round(median(one.seconds for one in queries), 2) if queries else None
        is_small = await small(chosen)
        judges = None
        undecided = right and not any(_concerns(trial, asked, right, middle, small=is_small))
        if undecided and privacy != "schema" and time.monotonic() < until:
            judges = await _judged(model, database, schema, until)
    finally:
        await model.close()
    strategy, reason = recommended(trial, asked, right, middle, judges=judges, small=is_small)
    known = [Answered(one.features, one.right) for one in queries if one.features is not None]
    prior = prior_of(known, coefficients()) if verified and known else None
    return Probe(trial, asked, right, middle, judges, strategy, reason, prior)


def recommended(
    trial: Trial, asked: int, right: int, seconds: float | None, *, judges: bool | None, small: bool = False
) -> tuple[str, str]:
    """The strategy and the first reason for it."""
    if asked and not right:
        return OFFLINE, f"It wrote none of {asked} queries right; the built-in engine needs no model."
    for concern in _concerns(trial, asked, right, seconds, small=small):
        return CASCADE, f"{concern}: the built-in engine first, then short calls."
    if judges is False:
        return "standard/no-judge", "Its queries are right, but its judgement does not tell right ones from wrong ones."
    return "standard", "It writes right queries and is fast enough to check them."


def _concerns(trial: Trial, asked: int, right: int, seconds: float | None, *, small: bool) -> Iterator[str]:
    if right < asked:
        yield f"It wrote {right} of {asked} queries right"
    if trial.copies_example:
        yield "It copies examples from its prompt"
    if seconds is not None and seconds > SLOW:
        yield f"A short query takes {seconds:.0f} s"
    if trial.context_tokens is not None and trial.context_tokens < LEAST_CONTEXT:
        yield f"It reads only {trial.context_tokens:,} tokens at once"
    if small:
        yield "It is a small model"
    if not asked:
        yield "Nothing of this database could be tried"


async def _plain(database: Database, schema: Schema) -> AsyncIterator[_Question]:
    """A few questions that the engine reads for certain."""
    left = QUESTIONS
    for text in await in_turn(example_questions, schema):
        known = await second_opinion(text, database, schema)
        if known is not None and known.confidence >= CERTAIN and known.result is not None and known.result.rows:
            yield _Question(text, known.result)
            left -= 1
        if not left:
            return


async def _verified(examples: Sequence[Example], database: Database, schema: Schema) -> AsyncIterator[_Question]:
    """Questions whose verified query runs here, from the first on."""
    left = VERIFIED
    for example in examples:
        parsed = parse(example.sql, schema.dialect)
        statement = check(parsed, schema).statement
        if example.db not in ("", database.name) or statement is None or usable(example, schema):
            continue
        known = await database.execute_async(statement, limits=_LIMITS)
        if known.ok and not known.truncated:
            yield _Question(example.question, known, orders_rows(parsed))
            left -= 1
        if not left:
            return


async def _query(
    model: Model, question: _Question, database: Database, schema: Schema, privacy: Privacy
) -> tuple[bool, dict[str, float] | None]:
    """Whether the model's query returns the known rows, and what is observed of it."""
    view = await in_turn(
        model_view,
        question.text,
        database,
        schema,
        privacy=privacy,
        schema_tokens=SHORT_TOKENS,
        note_tokens=0,
        as_ddl=True,
    )
    task = QueryTask(id="t1", description=question.text)
    try:
        async with asyncio.timeout(CALL_SECONDS):
            request = SqlRequest(question.text, task, schema.dialect, view.text, schema, short=True)
            reply = await model.write_sql(request)
    except (ModelError, TimeoutError) as error:
        log.info("No query for %r: %s", question.text, str(error) or "too slow")
        return False, None
    case = await examine_async(Query(question.text, reply.sql), database, schema=schema, limits=_LIMITS)
    result = case.result
    if result is None or vetoes(case):
        return False, None
    case = replace(case, second_opinion=await second_opinion(question.text, database, schema))
    features = features_of(await in_turn(observed, case))
    return same_result(question.known, result, ordered=question.ordered), features


async def _judged(model: Model, database: Database, schema: Schema, until: float) -> bool | None:
    """Whether the model marks right queries above wrong ones, by APART on average; None where time runs out, or where
    there is no mark of either. A reply that cannot be used is no mark. Raises DatabaseError."""
    marks: dict[bool, list[float]] = {True: [], False: []}
    try:
        async with asyncio.timeout(max(1.0, until - time.monotonic())):
            for question, right, wrong in _pairs(schema):
                for is_right, tree in ((True, right), (False, wrong)):
                    mark = await _mark(model, database, question, tree)
                    if mark is not None:
                        marks[is_right].append(mark)
    except TimeoutError:
        return None
    means = [sum(some) / len(some) for some in marks.values() if some]
    return means[0] - means[1] >= APART if len(means) == 2 else None


async def _mark(model: Model, database: Database, question: str, tree: exp.Select) -> float | None:
    statement = check(parse(tree.sql(database.dialect), database.dialect)).statement
    if statement is None:
        return None
    result = await database.execute_async(statement, limits=_PAIR_LIMITS)
    if not result.ok:
        return None
    rows = tuple(tuple(row) for row in json_rows(result.rows))
    task = QueryTask(id="t1", description=question, sql="", depends_on=[])
    request = JudgeRequest(question, task, statement.sql, result.columns, rows, len(rows), database.dialect)
    try:
        judgement = await model.judge(request)
    except ModelError as error:
        log.warning("A trial of the judge %s failed: %s", model.name, error)
        return None
    return min(1.0, max(0.0, judgement.score))


def _pairs(schema: Schema) -> Iterator[tuple[str, exp.Select, exp.Select]]:
    """Questions, each with its right query and a wrong one."""
    tables = [t for t in schema.tables if len(t.columns) > 1 and t.row_count != 0]
    for at, table in enumerate(tables[:PAIRS]):
        other = tables[(at + 1) % len(tables)]
        name, column = _called(table.name), table.columns[-1]
        values = exp.select(quoted_column(column.name)).distinct().from_(table_source(table))
        if at % 2 == 0 or other is table:
            yield f"How many rows does {name} have?", _count(table), values
        else:
            yield f"Which different values of {_called(column.name)} does {name} have?", values, _count(other)


def _count(table: Table) -> exp.Select:
    return exp.select(exp.Count(this=exp.Star())).from_(table_source(table))


def _called(name: str) -> str:
    return " ".join(singular_words(name)) or name
