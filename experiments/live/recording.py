"""One question put to everybody who sits in a cascade, with all that they say. In: a question of a benchmark and a
served model. Out: a line `{id, source, db, question, gold, replies, seconds, tokens}`; a reply is its query, who wrote
it, how sure they were, and whether it was sent back."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from agent.candidates.cascade import Seats, repaired
from agent.candidates.generation import engine_reading
from agent.config import Settings
from agent.knowledge.privacy import SchemaText
from agent.models import closing, shared_model
from agent.models.protocol import Model, ModelError, SqlRequest
from agent.runtime.catalogue import resolve_database
from agent.runtime.fitting import view_of
from agent.runtime.preparation import run_context
from agent.state import QueryTask

Line = dict[str, Any]


def questions_of(bench: Path, source: str, rng: random.Random) -> list[Line]:
    """The questions of `NAME[:QUESTIONS[:DATABASES]]`, at most so many, from so many databases. Those that no query can
    answer have no gold."""
    name, count, databases = (source + "::").split(":")[:3]
    held_wrong = _held_wrong(bench / name / "gold_verdicts.jsonl")
    read = [json.loads(line) for line in (bench / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = [
        {
            "id": f"{name}:{q['id']}",
            "source": name,
            "db": q["db"],
            "question": q["question"],
            "gold": [sql for sql in (q.get("gold_sql"), *(q.get("alt_gold_sql") or [])) if sql],
            "evidence": q.get("evidence") or "",
        }
        for q in read
        if (q.get("gold_sql") or q.get("kind") == "unanswerable")
        and q.get("gold_ok", True)
        and q["id"] not in held_wrong
        and (bench / name / "databases" / f"{q['db']}.sqlite").exists()
    ]
    of = sorted({q["db"] for q in asked})
    rng.shuffle(of)
    of = of[: int(databases)] if databases else of
    rng.shuffle(asked)
    kept = [q for q in asked if q["db"] in of]
    return sorted(kept[: int(count)] if count else kept, key=lambda q: str(q["db"]))


def _held_wrong(path: Path) -> set[str]:
    """Questions whose gold two strong models do not both hold right."""
    if not path.exists():
        return set()
    verdicts = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {v["id"] for v in verdicts if v["verdict"] != "CORRECT"}


async def recorded(
    questions: Sequence[Line], bench: Path, url: str, samples: int, at_once: int = 1
) -> AsyncIterator[Line]:
    """The lines as they are done. A server on one core answers several at once no sooner than one by one."""
    settings = Settings(
        OPENAI_BASE_URL=url, TEXT2SQL_STRATEGY="cascade", TEXT2SQL_MODEL_SECONDS=600, TEXT2SQL_RUN_SECONDS=3600
    )
    model = shared_model(settings.model)
    assert not isinstance(model, str)
    left = iter(questions)
    done: asyncio.Queue[Line] = asyncio.Queue()

    async def asking() -> None:
        for asked in left:
            await done.put(await _said(asked, bench, settings, model, samples))

    async with closing(model), asyncio.TaskGroup() as tasks:
        for _ in range(at_once):
            tasks.create_task(asking())
        for _ in questions:
            yield await done.get()


async def _said(asked: Line, bench: Path, settings: Settings, model: Model, samples: int) -> Line:
    path = bench / asked["source"] / "databases" / f"{asked['db']}.sqlite"
    context = await run_context(resolve_database(str(path), settings.database), model, settings)
    schema = await context.schema()
    text = view_of({"question": asked["question"], "evidence": asked["evidence"]}, context, schema).text
    request = SqlRequest(
        asked["question"],
        QueryTask(id="task_1", description=asked["question"]),
        schema.dialect,
        SchemaText(text, "full"),
        schema,
        asked["evidence"],
        short=True,
    )
    started = time.monotonic()
    seats = Seats(request, asked["question"], context)
    try:
        await _everything_said(seats, samples)
    except (ModelError, TimeoutError) as error:
        asked = {**asked, "error": str(error)}
    replies = [
        {
            "sql": one.reply.sql,
            "by_engine": one.reply.by_engine,
            "confidence": one.reply.confidence if one.reply.by_engine else None,
            "superseded": one.superseded,
            "unread": len(seats.unread),
            "mended": one.mended,
            "logprobs": [round(p, 3) for p in one.reply.logprobs],
        }
        for one in seats.said
    ]
    used = context.usage
    return {
        **asked,
        "replies": replies,
        "seconds": round(time.monotonic() - started, 2),
        "tokens": [used.input_tokens, used.cached_tokens, used.output_tokens],
    }


async def _everything_said(seats: Seats, samples: int) -> None:
    """Ask all, whatever the ones before have said: the engine, the model with its repairs, so many samples."""
    engine = await engine_reading(seats.request, seats.context, unsure=True)
    seats.unread = engine.not_understood if engine is not None else ()
    if engine is not None and engine.sql:
        await seats.take(engine)
    await repaired(seats)
    for number in range(1, samples + 1):
        await seats.ask(number)
