"""A second opinion on a question: the offline engine's own reading of it, and the rows that it returns.

In: a question, an open database and its schema. Out: a `SecondOpinion` for `eval.scoring`, or None when the engine
reads nothing. The reading needs no model; it can be uncertain, and reports its confidence. Never raises.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict

from agent.knowledge.values import value_index
from agent.parser.engine import read
from agent.parser.execution_probe import looker
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.schema import Schema
from eval.scoring.types import SecondOpinion
from eval.sql import check, facts, parse, resolve
from eval.sql.types import ParsedQuery
from eval.statement import ReadStatement
from eval.threads import in_turn

log = logging.getLogger(__name__)

LIMITS = Limits(seconds=2.0, rows=5_000, bytes=8 * 1024 * 1024)
"""Time limit: a reading that runs longer gives no opinion."""
_KEPT = 256

_Key = tuple[str, str, str, str]
_known: OrderedDict[_Key, SecondOpinion | None] = OrderedDict()


async def second_opinion(question: str, database: Database, schema: Schema) -> SecondOpinion | None:
    """Read the question off the event loop and run the reading, both within limits. This takes a few
    milliseconds, and almost none for a question asked before (its retries) while the data is unchanged.
    Cancelling stops the statement."""
    try:
        key = (question, database.url, schema.fingerprint, await asyncio.to_thread(database.data_version))
        if key in _known:
            return _known[key]
        opinion = await _opinion(question, database, schema)
    except Exception:  # the opinion is optional: its failure must not stop a question
        log.exception("The second opinion failed inside")
        return None
    _known[key] = opinion
    while len(_known) > _KEPT:
        _known.popitem(last=False)
    return opinion


async def _opinion(question: str, database: Database, schema: Schema) -> SecondOpinion | None:
    other_result = await in_turn(_read, question, database, schema)
    if other_result is None:
        return None
    parsed, statement, confidence, unread = other_result
    result = await database.execute_async(statement, limits=LIMITS)
    if not result.ok or result.truncated:
        return None
    return SecondOpinion(parsed.text, facts(parsed, schema), result, confidence, unread)


def _read(
    question: str, database: Database, schema: Schema
) -> tuple[ParsedQuery, ReadStatement, float, tuple[str, ...]] | None:
    look = looker(database) if database.holds_rows else None
    reading = read(question, schema, value_index(database, schema), threshold=0.0, look=look)
    if not reading.sql:
        return None
    parsed = parse(reading.sql, schema.dialect)
    statement = check(parsed, schema).statement
    if statement is None or resolve(parsed, schema).phantoms:
        return None
    return parsed, statement, reading.confidence, tuple(reading.not_understood)
