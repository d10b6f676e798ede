"""One question, answered by whoever surely can: the built-in engine, then a model with short repairs, then samples.

In: the request for one query. Out: the distinct queries with the chosen one first, as `agent.candidates.generation`
gives them. The engine costs milliseconds, a model seconds: what the engine surely reads is the answer at once. Else the
model writes. A query that fails is mended by rules (`agent.statements.mending`); that one, and one that compares with
what is not stored, goes back to the model with what is wrong, at most `REPAIRS` times (`agent.candidates.repair`). Only
where no result stands out are more queries sampled. How likely a result is right was learned from what small models
really answered (`agent.candidates.live`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field, replace

from agent.candidates.examination import examined
from agent.candidates.generation import Written, engine_reading
from agent.candidates.live import Answer, Estimate, estimates
from agent.candidates.repair import wrong_with
from agent.events import StepEvent, StepInfo
from agent.knowledge.privacy import privacy_of
from agent.knowledge.values import EMPTY, value_index
from agent.models.protocol import ModelError, SqlReply, SqlRequest, Usage
from agent.runtime.context import RunContext
from agent.runtime.verdict import in_ten
from agent.statements.mending import mended
from eval.databases.types import DatabaseError
from eval.examination import Query
from eval.scoring import score
from eval.scoring.types import Case
from eval.threads import in_turn

log = logging.getLogger(__name__)

ENGINE_ALONE = 0.80
"""Confidence from which the engine's reading is the answer, where nothing is proved against it."""
REPAIRS = 2
SAMPLES = 2
"""Further queries where nothing stands undisputed."""
UNDISPUTED = 0.60
"""Probability from which a model's query is not sampled again."""
TIME_LEFT = 1 / 3
"""Share of the run's time that has to be left for a sample to be begun."""


@dataclass(slots=True)
class Seats:
    """Who has said what so far."""

    request: SqlRequest
    question: str
    context: RunContext
    replies: list[SqlReply] = field(default_factory=list)
    cases: list[Case | None] = field(default_factory=list)
    """Beside each reply; None where it could not be examined."""
    exchange: tuple[tuple[str, str], ...] = ()
    """The model's queries that were not right, each with what is wrong with it."""
    repaired: set[int] = field(default_factory=set)
    """Places of the queries that were repaired: they failed, and vote for nothing."""
    mended: set[int] = field(default_factory=set)
    """Places of the queries that rules made of one that did not run."""
    began: float = field(default_factory=time.monotonic)

    async def take(self, reply: SqlReply) -> Case | None:
        """Run and judge a reply's query, and remember both."""
        case: Case | None = None
        if reply.sql:
            try:
                query = Query(self.question, reply.sql, reasoning=reply.reasoning)
                case = await examined(query, self.context, reply.confidence if reply.by_engine else None)
            except DatabaseError:
                pass
            except Exception:  # it fails again, and is told so, where it is shown as an attempt
                log.exception("A candidate failed inside")
        self.replies.append(reply)
        self.cases.append(case)
        return case

    async def mend(self, reply: SqlReply) -> None:
        """Take a query that did not run as rules make one of it that does, beside it."""
        made = await in_turn(mended, reply.sql, self.context.database, limits=self.context.statement_limits())
        if made.changes and not made.problem:
            self.mended.add(len(self.replies))
            reasoning = "\n".join(filter(None, (reply.reasoning, *made.changes)))
            await self.take(replace(reply, sql=made.sql, reasoning=reasoning))

    async def undisputed(self) -> bool:
        best = await in_turn(self.estimates)
        return bool(best) and best[0].probability >= UNDISPUTED

    def tell(self, who: str, reply: SqlReply, observation: str, *, ok: bool = True) -> None:
        """What is known so far, for whoever watches: it is no answer yet."""
        info = StepInfo(
            task_id=self.request.task.id,
            attempt=self.request.attempt,
            number=len(self.replies),
            tool=who,
            sql=reply.sql,
            ok=ok,
            observation=observation,
            elapsed_ms=round((time.monotonic() - self.began) * 1000, 3),
        )
        self.context.emit(StepEvent(data=info))

    def estimates(self) -> list[Estimate]:
        """The distinct results, the likeliest first."""
        answers = [
            Answer(
                place,
                case,
                reply.by_engine,
                place in self.repaired,
                reply.confidence if reply.by_engine else None,
                len(reply.not_understood),
                place in self.mended,
            )
            for place, (reply, case) in enumerate(zip(self.replies, self.cases, strict=True))
            if case is not None and case.ran
        ]
        return estimates(answers)

    async def written(self, variant: int = 0) -> SqlReply:
        """The model's next query: the repaired one where there was an exchange, or a sample. Time is left to answer
        without it where anything else was said. Raises ModelError, TimeoutError."""
        request = replace(self.request, variant=variant, exchange=() if variant else self.exchange)
        async with asyncio.timeout(self.context.seconds_left * (1 - TIME_LEFT if self.replies else 1)):
            reply = await self.context.model.write_sql(request)
        self.context.spend(reply.usage)
        return reply


async def cascaded(request: SqlRequest, question: str, context: RunContext) -> tuple[Written, ...]:
    """The chosen query first, then the others. Raises ModelError or TimeoutError where the model failed and the engine
    reads nothing."""
    seats = Seats(request, question, context)
    engine = await engine_reading(request, context, unsure=True) if context.strategy.engine else None
    if engine is not None and engine.abstained:
        return (Written(engine),)  # it asks for no rows: no model may make some up
    if engine is not None:
        case = await seats.take(engine)
        sure = (engine.confidence or 0.0) >= ENGINE_ALONE and case is not None and case.ran
        if sure and case is not None and not (await in_turn(score, case)).vetoes:
            return (Written(engine),)
        seats.tell("engine", engine, f"{in_ten(engine.confidence or 0.0)} such readings are right; the model is asked.")
    try:
        await _from_model(seats)
    except (ModelError, TimeoutError) as error:
        if engine is None and len(seats.replies) == 0:
            raise
        if isinstance(error, ModelError):
            context.spend_failed(error)
        if not any(not reply.by_engine for reply in seats.replies):
            why = str(error) or "it took too long"
            warning = f"The model wrote no query; the built-in engine answers without it. {why}"
            context.spend(Usage(warnings=(warning,)))
    return _chosen_first(seats, await in_turn(seats.estimates))


async def _from_model(seats: Seats) -> None:
    """The model's query, repaired where something is wrong with it; samples where the result is disputed."""
    await _repaired(seats)
    for number in range(1, SAMPLES + 1):
        enough = seats.context.seconds_left > TIME_LEFT * seats.context.limits.run_seconds
        if not enough or await seats.undisputed():
            break
        reply = await seats.written(number)
        case = await seats.take(reply)
        if case is not None and not case.ran:
            await seats.mend(reply)
        seats.tell("sample", reply, "Another query, since the results so far differ or are doubtful.")


async def _repaired(seats: Seats) -> None:
    context, request = seats.context, seats.request
    privacy = privacy_of(context.model)
    values = await in_turn(value_index, context.database, request.schema) if privacy == "full" else EMPTY
    for repairs in range(REPAIRS + 1):
        reply = await seats.written()
        case, place = await seats.take(reply), len(seats.replies) - 1
        if reply.abstained or case is None:
            break
        wrong = await in_turn(wrong_with, case, values, privacy)
        if not case.ran:
            await seats.mend(reply)
        if repairs == REPAIRS or (not case.ran and await seats.undisputed()):
            break
        if not wrong or reply.sql in {sql for sql, _ in seats.exchange}:
            break
        seats.tell("repair", reply, wrong, ok=False)
        seats.repaired.add(place)
        seats.exchange = (*seats.exchange, (reply.sql, wrong))


async def everything_said(seats: Seats, samples: int) -> None:
    """Ask all, whatever the ones before have said: the engine, the model with its repairs, so many samples."""
    engine = await engine_reading(seats.request, seats.context, unsure=True)
    if engine is not None and not engine.abstained:
        await seats.take(engine)
    await _repaired(seats)
    for number in range(1, samples + 1):
        reply = await seats.written(number)
        case = await seats.take(reply)
        if case is not None and not case.ran:
            await seats.mend(reply)


def _chosen_first(seats: Seats, found: list[Estimate]) -> tuple[Written, ...]:
    """The best query of the likeliest result, then one for each other, then what did not run."""
    order = [estimate.place for estimate in found]
    order += [place for place in range(len(seats.replies)) if place not in order]
    known = {estimate.place: estimate for estimate in found}
    written: list[Written] = []
    said: set[str] = set()
    for place in order:
        reply = seats.replies[place]
        if reply.sql in said or (not reply.sql and written):
            continue
        said.add(reply.sql)
        estimate = known.get(place)
        written.append(
            Written(reply, estimate.agreeing if estimate else None, estimate.probability if estimate else None)
        )
    return tuple(written)
