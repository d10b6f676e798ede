"""One question, answered by whoever surely can: the built-in engine, then a model with short repairs, then samples.

In: the request for one query. Out: the distinct queries with the chosen one first, as `agent.candidates.generation`
gives them. The engine costs milliseconds, a model seconds: what the engine surely reads is the answer at once. Else the
model writes. A query that fails is mended by rules (`agent.statements.mending`); that one, and one that compares with
what is not stored, goes back to the model with what is wrong (`wrong_with`), at most `REPAIRS` times. Only where no
result stands out are more queries sampled. How likely a result is right was learned from what small models really
answered (`agent.candidates.live`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from sqlglot import exp

from agent.candidates.choice import Ran
from agent.candidates.examination import as_read_once, examined
from agent.candidates.generation import Written, engine_reading
from agent.candidates.live import Answer, Estimate, estimates, evidence_of
from agent.events import StepEvent, StepInfo
from agent.knowledge.linking import shortest_way, ties
from agent.knowledge.memory.glossary import stem_phrase
from agent.knowledge.privacy import Privacy, privacy_of, scrubbed, words_known
from agent.knowledge.schema_context import one_line, quoted_if_needed
from agent.knowledge.values import EMPTY, ValueIndex, value_index
from agent.models.protocol import ModelError, SqlReply, SqlRequest, Usage
from agent.parser.units import NOTE, sql_in_whole_units
from agent.runtime.attempts import in_ten
from agent.runtime.context import RunContext
from agent.statements.mending import mended
from agent.statements.spelling import in_any_case
from eval.databases.types import DatabaseError
from eval.engines import ENGINES
from eval.examination import Query
from eval.language.words import singular_words
from eval.schema import Schema, Table
from eval.scoring import observed
from eval.scoring.correctness import coefficients, contradicting
from eval.scoring.evidence import pitfalls
from eval.scoring.evidence.question_reading import Reading
from eval.scoring.types import Case
from eval.sql.traversal import every
from eval.sql.types import Phantom
from eval.threads import in_turn

log = logging.getLogger(__name__)

ENGINE_ALONE = 0.90
"""Confidence from which the engine's reading is the answer, where nothing is proved against it."""
REPAIRS = 2
SAMPLES = 2
"""Further queries where nothing stands undisputed."""
UNDISPUTED = 0.60
"""Probability from which a model's query is not sampled again."""
TIME_LEFT = 1 / 3
"""Share of the run's time that has to be left for a sample to be begun."""
NAMED = 3
"""Phantoms, values, bare names: of each kind at most so many are told."""
TELLING = 0.5
"""Log-odds that evidence takes from a query before it is told."""
RESEMBLING = 4
"""Stored texts that are named for one that is not stored."""


@dataclass(slots=True)
class Said:
    """A reply, with what came of its query."""

    reply: SqlReply
    case: Case | None
    """None where it could not be examined."""
    ran: Ran | None
    mended: bool
    """Rules made it of one that did not run."""
    superseded: bool = False
    """It was sent back, and votes for nothing."""


@dataclass(slots=True)
class Seats:
    """Who has said what so far."""

    request: SqlRequest
    question: str
    context: RunContext
    said: list[Said] = field(default_factory=list)
    unread: tuple[str, ...] = ()
    """Words of the question that the engine finds nowhere in the database."""
    exchange: tuple[tuple[str, str], ...] = ()
    """The model's queries that were not right, each with what is wrong with it."""
    began: float = field(default_factory=time.monotonic)

    async def take(self, reply: SqlReply, *, mended: bool = False) -> Said:
        """Run and judge a reply's query, and remember both."""
        if reply.sql and not reply.by_engine:
            whole = await in_turn(sql_in_whole_units, reply.sql, self.context.database.dialect, self.question)
            if whole:
                reply = _changed(reply, whole, NOTE)
        case: Case | None = None
        if reply.sql:
            try:
                query = Query(self.question, reply.sql, reasoning=reply.reasoning)
                case = await examined(query, self.context, reply.confidence if reply.by_engine else None)
            except DatabaseError:
                pass
            except Exception:  # it fails again, and is told so, where it is shown as an attempt
                log.exception("A candidate failed inside")
        ran = await in_turn(evidence_of, case) if case is not None and case.ran else None
        self.said.append(Said(reply, case, ran, mended))
        return self.said[-1]

    async def ask(self, variant: int = 0) -> Said:
        """The model's next query: the repaired one where there was an exchange, or a sample; beside one that did not
        run, what rules make of it. Time is left to answer without it where anything else was said. Raises ModelError,
        TimeoutError."""
        request = replace(self.request, variant=variant, exchange=() if variant else self.exchange)
        async with asyncio.timeout(self.context.seconds_left * (1 - TIME_LEFT if self.said else 1)):
            reply = await self.context.model.write_sql(request)
        self.context.spend(reply.usage)
        one = await self.take(reply)
        if one.case is not None and one.ran is None:
            made = await in_turn(mended, reply.sql, self.context.database, limits=self.context.statement_limits())
            if made.changes and not made.problem:
                await self.take(_changed(reply, made.sql, *made.changes), mended=True)
        return one

    async def undisputed(self) -> bool:
        best = await in_turn(self.estimates)
        return bool(best) and best[0].probability >= UNDISPUTED

    def tell(self, who: str, reply: SqlReply, observation: str, *, ok: bool = True) -> None:
        """What is known so far, for whoever watches: it is no answer yet."""
        info = StepInfo(
            task_id=self.request.task.id,
            attempt=self.request.attempt,
            number=len(self.said),
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
                one.ran,
                one.reply.by_engine,
                one.superseded,
                one.reply.confidence if one.reply.by_engine else None,
                len(self.unread),
                one.mended,
                sum(one.reply.logprobs) if one.reply.logprobs else None,
            )
            for place, one in enumerate(self.said)
            if one.ran is not None
        ]
        return estimates(answers)


async def cascaded(request: SqlRequest, question: str, context: RunContext) -> tuple[Written, ...]:
    """The chosen query first, then the others. Raises ModelError or TimeoutError where the model failed and the engine
    reads nothing."""
    seats = Seats(request, question, context)
    engine = await engine_reading(request, context, unsure=True) if context.strategy.engine else None
    if engine is not None and engine.refused:
        return (Written(engine),)  # it asks for no rows: no model may make some up
    seats.unread = engine.not_understood if engine is not None else ()
    if engine is not None and engine.sql:
        one = await seats.take(engine)
        stands = not context.execute or (one.ran is not None and not one.ran.contradicted)
        alone = stands and (engine.confidence or 0.0) >= ENGINE_ALONE
        if alone and context.execute:
            assert one.case is not None
            _, missing = await as_read_once(question, one.case, context)
            alone = not any(part.open for part in missing)  # another date may be meant than the one that it took
        if alone:
            return (Written(engine),)
        seats.tell("engine", engine, f"{in_ten(engine.confidence or 0.0)} such readings are right; the model is asked.")
    try:
        if not context.execute:
            return (Written(await _compiled(seats)),)
        await repaired(seats)
        for number in range(1, SAMPLES + 1):
            enough = context.seconds_left > TIME_LEFT * context.limits.run_seconds
            if not enough or await seats.undisputed():
                break
            one = await seats.ask(number)
            seats.tell("sample", one.reply, "Another query, since the results so far differ or are doubtful.")
    except (ModelError, TimeoutError) as error:
        if not seats.said:
            raise
        if isinstance(error, ModelError):
            context.spend_failed(error)
        if all(one.reply.by_engine for one in seats.said):
            why = str(error) or "it took too long"
            warning = f"The model wrote no query; the built-in engine answers without it. {why}"
            context.spend(Usage(warnings=(warning,)))
    return _chosen_first(seats, await in_turn(seats.estimates))


def _changed(reply: SqlReply, sql: str, *why: str) -> SqlReply:
    """The reply with another query, and why."""
    return replace(reply, sql=sql, reasoning="\n".join(filter(None, (reply.reasoning, *why))))


async def repaired(seats: Seats) -> None:
    """The model's query, sent back to it while something is wrong with it."""
    context, request = seats.context, seats.request
    privacy = privacy_of(context.model)
    values = await in_turn(value_index, context.database, request.schema) if privacy == "full" else EMPTY
    for repairs in range(REPAIRS + 1):
        one = await seats.ask()
        if one.case is None or repairs == REPAIRS or (one.ran is None and await seats.undisputed()):
            break
        wrong = await in_turn(wrong_with, one.case, values, privacy)
        if not wrong or one.reply.sql in {sql for sql, _ in seats.exchange}:
            break
        seats.tell("repair", one.reply, wrong, ok=False)
        one.superseded = True
        seats.exchange = (*seats.exchange, (one.reply.sql, wrong))


async def _compiled(seats: Seats) -> SqlReply:
    """Where no statement may be run: the model's last query, as written or mended by rules, that the database's
    compiler takes; where it takes none, the engine's reading, though it is unsure. Texts are compared in any case where
    nothing says how they are stored."""
    context, request = seats.context, seats.request
    found: SqlReply | None = None
    for repairs in range(REPAIRS + 1):
        async with asyncio.timeout(context.seconds_left):
            reply = await context.model.write_sql(replace(request, exchange=seats.exchange))
        context.spend(reply.usage)
        if not reply.sql:
            break
        made = await in_turn(mended, reply.sql, context.database, run=False)
        if not made.problem:
            sql = made.sql if context.database.holds_rows else await in_turn(in_any_case, made.sql, request.schema)
            found = _changed(reply, sql, *made.changes)
        case = await examined(Query(seats.question, reply.sql if made.problem else made.sql), context)
        wrong = wrong_with(case, EMPTY, privacy_of(context.model))
        if made.problem and not wrong:
            wrong = f"The database refused it: {made.problem}."
        if not wrong or repairs == REPAIRS or reply.sql in {sql for sql, _ in seats.exchange}:
            break
        seats.tell("repair", reply, wrong, ok=False)
        seats.exchange = (*seats.exchange, (reply.sql, wrong))
    return found or next((one.reply for one in seats.said if one.reply.by_engine), reply)


def _chosen_first(seats: Seats, found: Sequence[Estimate]) -> tuple[Written, ...]:
    """The best query of the likeliest result, then one for each other, then the rest. A model's query is as sure as its
    result is likely."""
    written: dict[str, Written] = {}
    for estimate in found:
        reply = seats.said[estimate.place].reply
        if not reply.by_engine:
            written_down = stem_phrase(reply.sql)
            left = tuple(word for word in seats.unread if stem_phrase(word) not in written_down)
            reply = replace(reply, confidence=estimate.probability, not_understood=left)
        written.setdefault(reply.sql, Written(reply, estimate.agreeing, estimate.probability))
    for one in seats.said:
        if one.reply.sql or not written:
            written.setdefault(one.reply.sql, Written(one.reply))
    return tuple(written.values())


def wrong_with(case: Case, values: ValueIndex, privacy: Privacy) -> str:
    """What is wrong with a query, in one short text with which a small model can put it right; empty where nothing is.

    One reason, the first that applies: a name lacks its quotes, it does not parse, may not run, names what is not
    there, fails, compares with what is not stored, is contradicted by its own form, the question or the data. A small
    model that reads "no such column" writes the column again, so it is told which table has it and how to join that
    table; of a text that is stored nowhere, which stored texts resemble it."""
    # Columns with blanks, hyphens and the like in their names
    names = (c.name for t in case.schema.tables for c in t.columns if not c.name.replace("_", "a").isalnum())
    quoted, text = ENGINES[case.schema.dialect].quoted, case.parsed.text
    odd = [] if case.ran else [name for name in dict.fromkeys(names) if name in text and quoted(name) not in text]
    if odd:
        return f"Put these names in double quotes: {', '.join(odd[:NAMED])}."
    if case.parsed.tree is None:
        return f"This is not one valid statement: {one_line(case.parsed.error or 'it is empty', 200)}."
    if not case.verdict.allowed:
        return f"Only one SELECT may be written: {one_line(case.verdict.reason or 'this does more than read', 200)}."
    if phantoms := case.references.phantoms[:NAMED]:
        used = [t.name for t in case.tables_read]
        return " ".join(_phantom(one, case.schema, used) for one in phantoms)
    if case.result is not None and not case.result.ok:
        error = case.result.error or case.result.status
        if privacy != "full":
            error = scrubbed(error, words_known(case.schema, case.question, case.parsed.text))
        return f"The database refused it: {one_line(error, 200)}."
    missing = [c for c in case.stored if c.found in ("nowhere", "elsewhere", "otherwise")][:NAMED]
    lines = [_not_stored(c.value, c.table, c.column, case, values) for c in missing] if privacy == "full" else []
    return " ".join(filter(None, lines)) or _contradicted(case, privacy)


def _phantom(phantom: Phantom, schema: Schema, used: list[str]) -> str:
    """A name that is not there, with where it is."""
    if phantom.kind == "ambiguous":
        return f"{phantom.name} is in several tables ({', '.join(phantom.nearest)}): write the table before it."
    qualifier, _, name = phantom.name.rpartition(".")
    holders = [t for t in schema.tables if any(c.name.casefold() == name.casefold() for c in t.columns)]
    if phantom.kind == "column" and holders:
        told = [f"{quoted_if_needed(t.name, schema.dialect)}{_way_to(t, used, schema)}" for t in holders[:NAMED]]
        where = f" in {qualifier}" if qualifier else ""
        return f"There is no column {name}{where}; {name} is a column of {' or '.join(told)}."
    near = f"; there are {', '.join(phantom.nearest)}" if phantom.nearest else ""
    tables = f"; the tables are {', '.join(t.name for t in schema.tables[:30])}" if phantom.kind == "table" else ""
    return f"There is no {phantom.kind} {phantom.name}{near or tables}."


def _way_to(table: Table, used: list[str], schema: Schema) -> str:
    """` (join it by a.x = b.y, b.z = c.w)`: the shortest way from a table of the query; empty where there is none."""
    links = [
        " AND ".join(f"{own}.{a} = {key.ref_table}.{b}" for a, b in zip(key.columns, key.ref_columns, strict=False))
        for _, own, key in shortest_way(table.name, used, ties(schema))
    ]
    return f" (join it by {', '.join(links)})" if links else ""


def _contradicted(case: Case, privacy: Privacy) -> str:
    """What the evidence holds most against the query, with the keys where it is about joins; empty where it is little.
    To a model that may see no row, only what the query's form shows: those sentences hold names of the structure."""
    reading, weights = Reading(case), coefficients().weights
    of_form = chain(pitfalls.observe_joins(reading), pitfalls.observe(reading))
    seen = observed(case) if privacy == "full" else of_form
    against = {o.text: weights.get(o.name, -1.0) for o in contradicting(seen) if o.text}
    worst = min(against, key=lambda text: against[text], default="")
    if not worst or against[worst] > -TELLING:
        return _idle_table(case, pitfalls.only_joined(reading))
    tables = case.tables_read
    ways = [f"{t.name}{way}" for t in tables[1:] if (way := _way_to(t, [tables[0].name], case.schema))]
    return f"{worst} There are {'; '.join(ways)}." if ways and ("join" in worst or case.multiplied) else worst


def _idle_table(case: Case, idle: Sequence[str]) -> str:
    """Of a table that is joined for nothing and repeats the rows of the others."""
    assert case.parsed.tree is not None
    used, said = {t.name for t in case.tables_read}, set(singular_words(case.question))
    sources = {t.alias_or_name.casefold(): case.schema.table(t.name) for t in every(case.parsed.tree, exp.Table)}
    for table in map(sources.get, idle):
        repeats = table is not None and any(key.ref_table in used for key in table.foreign_keys)
        if table is not None and repeats and said.isdisjoint(singular_words(table.name)):
            return (
                f"{table.name} is joined and nothing of it is used, so each row counts once for each of its rows. "
                f"Leave {table.name} out, unless the question needs it."
            )
    return ""


def _not_stored(value: str, table: str, column: str, case: Case, values: ValueIndex) -> str:
    """A text that its column does not hold, with the stored ones that resemble it; empty where nothing is known."""
    plain = value.strip("%").strip()
    hits = values.find(plain, fuzzy=True) if plain else ()
    own = [h for h in hits if (h.table, h.column) == (table, column)]
    read = {t.name for t in case.tables_read}
    there = own or [h for h in hits if h.table in read] or list(hits)
    told = list(dict.fromkeys(f"{h.table}.{h.column} = '{one_line(h.value, 60)}'" for h in there))[:RESEMBLING]
    if told:
        return f"{column} holds no '{plain}'; stored are {', '.join(told)}."
    return ""
