"""A second opinion on a question: the offline engine's own reading of it, and the rows that it returns.

In: a question, an open database and its schema. Out: a `SecondOpinion` for `eval.scoring`, or None where the engine
reads nothing. The reading needs no model; it is unsure at times, and says how much. Never raises.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict

from eval.databases.base import Database, Limits
from eval.schema import Schema
from eval.scoring.types import SecondOpinion

log = logging.getLogger(__name__)

LIMITS = Limits(seconds=2.0, rows=5_000, bytes=8 * 1024 * 1024)
"""An opinion is worth little time: a reading that runs longer is none."""
_KEPT = 256

_known: OrderedDict[tuple[str, str, str], SecondOpinion | None] = OrderedDict()


def second_opinion(question: str, database: Database, schema: Schema) -> SecondOpinion | None:
    """Read the question and run the reading, both within bounds. Some milliseconds, and none for a question asked
    before (its retries)."""
    key = (question, database.url, schema.fingerprint)
    if key in _known:
        return _known[key]
    try:
        opinion = _read(question, database, schema)
    except Exception:  # an opinion is an extra: nothing of it may stop a question
        log.exception("The second opinion failed inside")
        return None
    _known[key] = opinion
    while len(_known) > _KEPT:
        _known.popitem(last=False)
    return opinion


async def second_opinion_async(question: str, database: Database, schema: Schema) -> SecondOpinion | None:
    """As `second_opinion`, off the event loop."""
    return await asyncio.to_thread(second_opinion, question, database, schema)


def _read(question: str, database: Database, schema: Schema) -> SecondOpinion | None:
    from agent.knowledge.values import value_index
    from agent.models.offline import read
    from eval.sql import check, facts, parse, resolve

    reading = read(question, schema, value_index(database, schema), schema.dialect, threshold=0.0)
    if not reading.sql:
        return None
    parsed = parse(reading.sql, schema.dialect)
    verdict = check(parsed)
    if verdict.statement is None or resolve(parsed, schema).phantoms:
        return None
    result = database.execute(verdict.statement, limits=LIMITS)
    if not result.ok or result.truncated:
        return None
    return SecondOpinion(reading.sql, facts(parsed, schema), result, reading.confidence)
